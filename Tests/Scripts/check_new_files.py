"""Lets a file appear under the name of an export just before the export gets that name; the file must not be replaced.

    check_new_files.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each way in which a file system can rename, and ends at the first that is not as it should be. Needs strace.
"""

import os, subprocess, sys, time

sys.dont_write_bytecode = True
from scratch import *

# What a file system answers that cannot rename without replacing, and one that has no links either.
INVALID = ["-e", "inject=renameat2:error=EINVAL"]
UNLINKED = [*INVALID, "-e", "inject=?link,linkat:error=EPERM"]


def partly_written(archive):
    """Waits until the archive is about to get its name."""
    for _ in range(200):
        if os.path.exists(archive + ".partial") and os.path.getsize(archive + ".partial") > 0:
            return
        time.sleep(0.02)
    raise AssertionError("no archive is written")


def racing(name, delayed, *faults):
    """The system waits for a second with what gives the archive its name, and meanwhile another file takes the name."""
    archive = path(name + ".tar")
    # The export of a small cache is complete long before the second is over.
    with subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", *faults, "-e", f"inject={delayed}:delay_enter=1000000",
                           tool, "export", "-c", cache, "-o", archive],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        partly_written(archive)
        time.sleep(0.3)
        write(name + ".tar", b"of another program")
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 73, (name, process.returncode, errors)
    assert errors.startswith(f"error: cannot create '{archive}': File exists".encode()), (name, errors)
    assert read(archive) == b"of another program", name
    assert not os.path.exists(archive + ".partial"), name
    print(f"{name}: ok", flush=True)


def exporting(name, *faults):
    """Without another file the archive gets its name."""
    archive = path(name + ".tar")
    subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", *faults, tool, "export", "-c", cache, "-o", archive], check=True,
                   stdin=subprocess.DEVNULL, capture_output=True)
    assert read(archive) == read(whole) and not os.path.exists(archive + ".partial"), name
    print(f"{name}: ok", flush=True)


def killed_between_names():
    """A process that was killed left a complete archive under both names: the next one does not empty it."""
    archive = path("two names.tar")
    os.link(whole, archive)
    os.link(whole, archive + ".partial")
    before = read(whole)
    run("export", "-c", cache, "-o", archive, "--force", "--id", "1")
    assert read(whole) == before and read(archive) != before and not os.path.exists(archive + ".partial")
    print("two names: ok", flush=True)


cache = make("cache", entries=5)
whole = export(cache, "whole.tar", "--at", "2030-01-01")
racing("renamed", "?rename,?renameat,renameat2")
racing("linked", "?link,linkat", *INVALID)
exporting("no rename", *INVALID)
exporting("no link", *UNLINKED)
killed_between_names()
