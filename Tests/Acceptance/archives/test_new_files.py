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


def partly_written(archive):
    """Waits until the archive is about to get its name."""
    for _ in range(1000):
        if os.path.exists(archive + ".partial") and os.path.getsize(archive + ".partial") > 0:
            return
        time.sleep(0.02)
    raise AssertionError("no archive is written")


@pytest.mark.parametrize(("delayed", "faults"), [("?rename,?renameat,renameat2", []), ("?link,linkat", INVALID)], ids=["renamed", "linked"])
def test_name_is_taken(cache, delayed, faults):
    """While the system gives the archive its name another file takes the name: the other file is kept, and the archive is removed."""
    archive = path("archive.tar")
    # The export of a small cache is complete long before the second is over.
    with subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", *faults, "-e", f"inject={delayed}:delay_enter=1000000",
                           tool, "export", "-c", cache, "-o", archive],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        partly_written(archive)
        time.sleep(0.3)
        write("archive.tar", b"of another program")
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 73, (process.returncode, errors)
    assert errors.startswith(f"error: cannot create '{archive}': File exists".encode()), errors
    assert read(archive) == b"of another program"
    assert not os.path.exists(archive + ".partial")


@pytest.mark.parametrize("faults", [INVALID, UNLINKED], ids=["no rename", "no link"])
def test_name_is_free(cache, faults):
    """Without another file the archive gets its name, on file systems that can rename only by replacing, too."""
    archive, whole = path("archive.tar"), export(cache, "whole.tar", "--at", "2030-01-01")
    subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", *faults, tool, "export", "-c", cache, "-o", archive], check=True,
                   stdin=subprocess.DEVNULL, capture_output=True)
    assert read(archive) == read(whole) and not os.path.exists(archive + ".partial")


def test_killed_between_names(cache):
    """A killed export left a complete archive under both names: the next one does not empty it."""
    archive, whole = path("two names.tar"), export(cache, "whole.tar", "--at", "2030-01-01")
    os.link(whole, archive)
    os.link(whole, archive + ".partial")
    before = read(whole)
    run("export", "-c", cache, "-o", archive, "--force", "--id", "1")
    assert read(whole) == before and read(archive) != before and not os.path.exists(archive + ".partial")


def test_reaches_disk(cache):
    """An archive is on the disk before it gets its name, and its name before the command ends."""
    archive, trace = path("archive.tar"), path("trace")
    subprocess.run(["strace", "-f", "-qq", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,?rename,?renameat,renameat2",
                    tool, "export", "-c", cache, "-o", archive], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    with open(trace) as file:
        calls = re.findall(r"^\d+\s+(f(?:data)?sync|rename)(?:at2?)?\((?:\d+<(.*?)>)?", file.read(), re.M)
    assert [(call, name) for call, name in calls if call == "rename" or name.startswith(scratch.root)] == [
        ("fsync", archive + ".partial"), ("rename", ""), ("fsync", scratch.root)], calls
