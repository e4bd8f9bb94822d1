"""Watches how an export gets its name: another file that gets the name just before must not be replaced, and both the export and its
name must reach the disk."""

import os
import re
import subprocess
import time

import pytest

import scratch
import strace
from products import tool
from scratch import export, make, path, read, run, write

pytestmark = strace.needed
# What a file system answers that cannot rename without replacing, and one that has no links either.
INVALID = ["-e", "inject=renameat2:error=EINVAL"]
UNLINKED = [*INVALID, "-e", "inject=?link,linkat:error=EPERM"]


@pytest.fixture
def cache():
    return make("cache", entries=5)


def test_name_is_taken(cache):
    """While the system gives the archive its name another file takes the name: the other file is kept, and the archive is removed."""
    archive = path("archive.tar")
    # The export of a small cache is complete long before the second is over.
    with subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=?link,linkat:delay_enter=3000000",
                           tool, "export", "-c", cache, "-o", archive],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(1.5)
        assert process.poll() is None and not os.path.exists(archive)
        write("archive.tar", b"of another program")
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 73, (process.returncode, errors)
    assert errors.startswith(f"error: cannot create '{archive}': File exists".encode()), errors
    assert read(archive) == b"of another program"
    assert [name for name in os.listdir(scratch.root) if name.startswith("archive")] == ["archive.tar"]


def without_unnamed_files(cache, archive, faults):
    """The words of an export on a file system that has no files without a name: the call that would open one fails."""
    trace = path("calls")
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", "trace=openat", tool, "export", "-c", cache, "-o", path("first.tar")], check=True,
                   stdin=subprocess.DEVNULL, capture_output=True)
    with open(trace) as file:
        lines = file.read().splitlines()
    [number] = [number for number, line in enumerate(lines, 1) if "O_TMPFILE" in line]
    return ["strace", "-f", "-qq", "-o", "/dev/null", *faults, "-e", f"inject=openat:error=EOPNOTSUPP:when={number}",
            tool, "export", "-c", cache, "-o", archive]


@pytest.mark.parametrize("faults", [[], INVALID, UNLINKED], ids=["plain", "no rename", "no link"])
def test_name_is_free(cache, faults):
    """Without another file the archive gets its name, on file systems that can rename only by replacing, or have only files with names, too."""
    archive, whole = path("archive.tar"), export(cache, "whole.tar", "--at", "2030-01-01")
    subprocess.run(without_unnamed_files(cache, archive, faults), check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert read(archive) == read(whole)
    assert [name for name in os.listdir(scratch.root) if name.startswith("archive")] == ["archive.tar"]


def test_reaches_disk(cache):
    """An archive is on the disk before it gets its name, and its name before the command ends."""
    archive, trace = path("archive.tar"), path("trace")
    subprocess.run(["strace", "-f", "-qq", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,?link,linkat",
                    tool, "export", "-c", cache, "-o", archive], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    with open(trace) as file:
        calls = re.findall(r"^\d+\s+(f(?:data)?sync|link)(?:at)?\((?:\d+<(.*?)>)?", file.read(), re.M)
    calls = [(call, name) for call, name in calls if call == "link" or name.startswith(scratch.root)]
    assert [call for call, _ in calls] == ["fsync", "link", "fsync"] and calls[2][1] == scratch.root, calls
