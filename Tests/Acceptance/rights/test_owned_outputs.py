"""What the program writes beside what other users have put there."""

import os
import stat
import subprocess

import pytest

import scratch
import worlds
from products import tool
from scratch import path, read, write
from worlds import run


@pytest.fixture
def cache():
    return worlds.apple(path("cache"), worlds.entries(6))


def outputs(cache):
    """The options that write a file, by the name of the file."""
    return {"out.tar": ["export", "-c", cache, "-o", path("out.tar")],
            "backup.tar": ["purge", "-c", cache, "--all", "--yes", "--backup", path("backup.tar")],
            "plan.json": ["purge", "-c", cache, "--all", "--plan", path("plan.json")],
            "m.prom": ["purge", "-c", cache, "--host", "none.example", "--yes", "--metrics-file", path("m.prom")],
            "report.html": ["report", "-c", cache, "-o", path("report.html")]}


@pytest.mark.parametrize("name", ["out.tar", "backup.tar", "plan.json", "m.prom", "report.html"])
def test_partial_file_of_user(cache, name):
    """A file `NAME.partial` of the user is left alone, and so is a link with that name."""
    write(name + ".partial", b"of the user")
    run(*outputs(cache)[name], status=0)
    assert read(path(name + ".partial")) == b"of the user" and os.path.getsize(path(name)) > 0
    assert stat.S_IMODE(os.stat(path(name)).st_mode) == (0o644 if name == "m.prom" else 0o600)
    assert sorted(n for n in os.listdir(scratch.root) if n.startswith(name)) == [name, name + ".partial"]


def test_mode_of_replaced_file(cache):
    """A file that is replaced keeps its mode."""
    write("out.tar", b"")
    os.chmod(path("out.tar"), 0o640)
    run("export", "-c", cache, "-o", path("out.tar"), "--force", status=0)
    assert stat.S_IMODE(os.stat(path("out.tar")).st_mode) == 0o640 and os.path.getsize(path("out.tar")) > 0


def test_killed(cache):
    """A killed export leaves nothing, as its file has no name before it is complete."""
    big = worlds.apple(path("big"), worlds.entries(300, sizes=(100_000,)))
    before = sorted(os.listdir(scratch.root))
    process = subprocess.Popen([tool, "export", "-c", big, "-o", path("out.tar.zst"), "--level", "19"], stderr=subprocess.DEVNULL)
    try:
        process.wait(0.3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        assert sorted(os.listdir(scratch.root)) == before


@pytest.mark.needs_root
def test_log_behind_link(cache):
    """A log is not written through the link of another user, nor, by root, to the file of another user."""
    victim = write("victim.jsonl", b"")
    worlds.give(path("state"))
    os.symlink(victim, path("log.jsonl"))
    os.chown(path("log.jsonl"), worlds.STRANGER, worlds.STRANGER, follow_symlinks=False)
    result = run("purge", "-c", cache, "--all", "--yes", "--log", path("log.jsonl"), status=73)
    assert "cannot open the log" in result.stderr and read(victim) == b"", result
    other = write("other.jsonl", b"")
    os.chown(other, worlds.STRANGER, worlds.STRANGER)
    run("purge", "-c", cache, "--all", "--yes", "--log", other, status=73)
    assert read(other) == b"" and len(worlds.contents(cache)) == 6
    os.symlink(victim, path("own.jsonl"))
    run("purge", "-c", cache, "--all", "--yes", "--log", path("own.jsonl"), status=0)
    assert b'"removed_entries":6' in read(victim).replace(b": ", b":")
