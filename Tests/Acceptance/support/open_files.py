"""What a process that runs has open, on Linux."""

import contextlib
import os


def open_files(process):
    """The files that a process, by its number, has open, by their descriptors. One that is closed meanwhile is left out."""
    files = {}
    folder = f"/proc/{process}/fd"
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            files[int(name)] = os.readlink(os.path.join(folder, name))
    return files
