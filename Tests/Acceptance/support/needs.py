"""What a test needs of the machine. Each is a mark, such as `@pytest.mark.needs_strace`; what several tests share calls `require` instead."""

import functools
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

import user_manager


def succeeds(*words):
    """Whether a program is there and ends with 0."""
    return bool(shutil.which(words[0])) and subprocess.run(words, capture_output=True).returncode == 0


# By the name of the mark, in words and as a question.
NEEDS = {
    "needs_full_device": ("/dev/full", lambda: os.path.exists("/dev/full")),
    "needs_linux": ("Linux", lambda: sys.platform == "linux"),
    "needs_mounts": ("the right to mount file systems in a namespace", lambda: succeeds(
        "unshare", "-rm", "mount", "-t", "tmpfs", "none", tempfile.gettempdir())),
    "needs_proc": ("/proc", lambda: os.path.isdir("/proc/self/fd")),
    "needs_root": ("root, who can be another user and mount disks", lambda: os.geteuid() == 0 and succeeds(
        "unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--mount-proc", "true")),
    "needs_strace": ("strace", lambda: succeeds("strace", "-qq", "-o", os.devnull, "true")),
    "needs_systemd": ("systemd-analyze", lambda: bool(shutil.which("systemd-analyze"))),
    "needs_webkit": ("WebKitGTK", lambda: bool(shutil.which("xvfb-run")) and succeeds(
        "/usr/bin/python3", "-c", "import gi; gi.require_version('WebKit2', '4.1')")),
    "needs_user_systemd": ("systemd, and the rights to run one for a user", user_manager.can_run),
}


@functools.cache
def is_here(need):
    return NEEDS[need][1]()


def require(need):
    """Skips the running test if the machine does not have what it needs."""
    if not is_here(need):
        pytest.skip(f"{NEEDS[need][0]}: not here")
