"""Progress on the standard error: on terminals, for work that takes long, and for programs on request."""

import json
import os
import shutil
import subprocess
import time

import pytest

import scratch
import terminal
from products import maker

REMOVAL = b"\r\x1b[K"
LONG = {
    "purge": ["purge", "-c", "CACHE", "--all", "--yes"],
    "enforce": ["enforce", "-c", "CACHE", "--max-entries", "10", "--yes"],
    "enforce-size": ["enforce", "-c", "CACHE", "--max-size", "1MiB", "--yes"],
    "check": ["check", "-c", "CACHE"],
    "repair": ["check", "-c", "CACHE", "--repair", "--yes"],
    "export": ["export", "-c", "CACHE", "-o", "out.tar"],
    "backup": ["purge", "-c", "CACHE", "--all", "--yes", "--backup", "backup.tar"],
    "import": ["import", "CACHE/Cache.db", "-c", "new"],
    "diff": ["diff", "CACHE", "CACHE"],
    "explain": ["explain", "-c", "CACHE", "--all", "--format", "ndjson"],
    "report": ["report", "-c", "CACHE", "-o", "report.html"],
    "compact": ["compact", "-c", "CACHE", "--full"],
}


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.chdir(scratch.root)


def words(name):
    scratch.make("cache", entries=200, seed=5)
    return [word.replace("CACHE", scratch.path("cache")) for word in LONG[name]]


@pytest.mark.parametrize("name", LONG)
def test_each_long_verb_has_progress_for_programs(name):
    result = subprocess.run([terminal.tool, *words(name), "--progress", "json"], capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode in (0, 1), result
    lines = [json.loads(line) for line in result.stderr.splitlines() if line.startswith(b"{")]
    finished = [line for line in lines if line["finished"]]
    # Each work begins and ends, one after the other.
    last = {"finished": True}
    for line in lines:
        assert last["finished"] or last["label"] == line["label"], lines
        last = line
    assert finished and last["finished"], lines
    assert all(line["schema"] == "urlcache-admin.progress/1" and line["remaining_seconds"] == 0 for line in finished)
    if name != "compact":
        known = [line for line in finished if line["unit"] == "entries" and line["total"]]
        assert known and all(line["done"] >= line["total"] for line in known), finished


@pytest.mark.parametrize("name", LONG)
def test_each_long_verb_shows_a_line_and_removes_it(name):
    seen, _ = terminal.run(*words(name), "--progress", "always", streams=["stderr"])
    assert seen.status in (0, 1), seen.written
    assert REMOVAL in seen.written and b"Database" not in seen.written
    drawn = [piece for piece in seen.written.split(REMOVAL) if piece.strip()]
    assert drawn, seen.written
    # Nothing of a line is left, and none was wrapped.
    assert not any("entries  " in row and "/s" in row or "█" in row or "░" in row for row in seen.rows), seen.rows
    assert all(len(piece.decode().split("\r\n")[0]) < 80 for piece in drawn if "░".encode() in piece)


def test_short_work_shows_nothing():
    for name in ["check", "export", "purge"]:
        seen, _ = terminal.run(*words(name), streams=["stderr"])
        assert REMOVAL not in seen.written, (name, seen.written)
        shutil.rmtree(scratch.path("cache"))


# Runs a program whose output is not read for a second, so that its work takes long.
SLOWED = 'set -o pipefail; "$@" | { sleep 1; cat >/dev/null; }'


def export_slowly(*options, **surroundings):
    cache = scratch.make("cache", entries=400)
    words = [terminal.tool, "export", "-c", cache, "-o", "-", "--archive-format", "tar", *options]
    seen, _ = terminal.run("-c", SLOWED, "bash", *words, program="bash", streams=["stderr"], columns=100, **surroundings)
    shutil.rmtree(cache)
    assert seen.status == 0, seen.written
    return seen


def large():
    return scratch.make("large", "--no-large-bodies", entries=600, seed=7)


def test_long_work_shows_a_bar_on_a_terminal_only():
    seen = export_slowly()
    assert "Exporting entries  █".encode() in seen.written, seen.written
    assert b" of 400 entries" in seen.written and b"/s" in seen.written and b" left" in seen.written
    assert len(seen.rows) == len(seen.lines)
    begin = time.monotonic()
    _, errors = terminal.run("export", "-c", large(), "-o", "out.tar.zst", "--level", "19", streams=["stdout"])
    assert b"Exporting" not in errors and REMOVAL not in errors and time.monotonic() - begin > 0.7
    assert REMOVAL not in export_slowly("--progress", "never").written
    seen = export_slowly(LC_ALL="C")
    assert b"Exporting entries  #" in seen.written or b"Exporting entries  ." in seen.written
    assert seen.written.replace("…".encode(), b"").isascii()


@pytest.mark.parametrize("columns", [60, 73, 80, 120])
def test_control_c_leaves_a_clean_line(columns):
    seen = terminal.interrupt("check", "-c", large(), "--progress", "always", until=b"%", columns=columns)
    assert seen.status == -2, seen.written
    # The terminal shows "^C" behind the line, which is removed with it.
    assert b"^C" in seen.written and seen.written.endswith(REMOVAL)
    assert seen.rows == [], seen.rows


def test_sample_has_progress():
    seen, _ = terminal.run("--entries", "200", "--seed", "1", "--progress", "always", scratch.path("made"), program=maker,
                           streams=["stderr"])
    assert seen.status == 0 and b"Making entries" in seen.written and seen.rows == []
    result = subprocess.run([maker, "--entries", "200", "--seed", "1", scratch.path("other"), "--progress", "json"], capture_output=True)
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert lines[-1]["finished"] and lines[-1]["done"] >= 200, lines
    assert os.path.exists(scratch.path("other/Cache.db"))
