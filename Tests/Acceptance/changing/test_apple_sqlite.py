"""With SQLite as Apple builds it, which counts no memory unless it is told to, and keeps the log and its index when a database is closed."""

import json
import os
import sqlite3
import subprocess
import sys
import time

import pytest

import scratch
import worlds
from scratch import path, run

# More than the limit of 256 MiB, with what else the program needs.
MOST_MEMORY = 350 << 20
# What an app does before it ends: how long the log that it leaves may be, and what it changes.
APP = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(f"PRAGMA journal_size_limit = {sys.argv[2]}")
for version in 1, 0:
    connection.execute(f"UPDATE cfurl_cache_response SET version = {version}")
connection.close()
"""
KEPT = {"an empty log": 0, "a log with old pages": -1}


@pytest.fixture(params=KEPT)
def closed(request, apple_sqlite):
    """A cache that an app has closed, so that nobody uses it, with the log and the index that the app's SQLite has kept."""
    cache = worlds.apple(path("cache"), worlds.entries(30, newest=int(time.time()) - 90 * 86_400))
    subprocess.run([sys.executable, "-c", APP, os.path.join(cache, "Cache.db"), str(KEPT[request.param])], check=True)
    if sys.platform != "darwin":
        assert sorted(os.listdir(cache)) == ["Cache.db", "Cache.db-shm", "Cache.db-wal", "fsCachedData"]
        assert (os.path.getsize(os.path.join(cache, "Cache.db-wal")) > 0) == (KEPT[request.param] < 0)
    return cache


def test_memory_is_limited(apple_sqlite):
    """A query that needs more memory than it may is refused; without the limit, this one takes 3 GB."""
    cache = worlds.apple(path("cache"), worlds.entries(3))
    values = ", ".join(["hex(zeroblob(500000))"] * 400)
    status, errors, peak = scratch.peak_of(["query", cache, f"SELECT {values}"])
    assert status == 64 and b"too much memory" in errors and peak < MOST_MEMORY, (status, errors[:500], peak)


@pytest.mark.parametrize("words", [["list"], ["usage"], ["check", "--full"], ["explain", "https://a.example/1"], ["recover"], ["grep", "body"]],
                         ids=lambda words: words[0])
def test_looking_changes_nothing(closed, words):
    """A command that only looks leaves the log and its index as they are, and says of nobody that he has the cache open."""
    before = scratch.tree(closed)
    result = run(words[0], "-c", closed, *words[1:], status=None)
    assert result.returncode in (0, 1) and b"in use" not in result.stdout + result.stderr, result
    assert scratch.tree(closed) == before


def test_nobody_is_said_to_use_it(closed):
    """A log and its index do not mean that a process has the cache open."""
    [found] = json.loads(run("discover", scratch.root, "--format", "json").stdout)["stores"]
    assert found["in_use"] is False and found["notes"] == [], found


@pytest.mark.parametrize("words", [
    ["purge", "--all", "--yes"], ["purge", "--older-than", "30d", "--yes", "--if-busy", "skip"], ["purge", "--all", "--yes", "--secure"],
    ["enforce", "--max-entries", "5", "--yes", "--if-busy", "skip"], ["expire", "--clear-user-info", "KEY", "--all", "--yes"], ["check", "--repair", "--yes"]],
    ids=lambda words: " ".join(words[:2]) + " secure" * (words[-1] == "--secure"))
def test_changes_are_made(closed, words):
    """A command that changes a cache does so as in any other that nobody uses, and the app's SQLite can read what is left."""
    count = len(worlds.contents(closed))
    result = run(words[0], "-c", closed, *words[1:])
    assert b"in use" not in result.stdout + result.stderr, result
    left = len(worlds.contents(closed))
    assert left == {"purge": 0, "enforce": 5}.get(words[0], count), (count, left)


def test_compacted_as_a_whole(closed):
    """A whole rewrite, which needs a cache that nobody uses, is done."""
    run("purge", "-c", closed, "--all", "--yes")
    size = os.path.getsize(os.path.join(closed, "Cache.db"))
    result = run("compact", "-c", closed, "--full")
    assert b"in use" not in result.stdout + result.stderr, result
    assert os.path.getsize(os.path.join(closed, "Cache.db")) < size


def test_nothing_is_left_in_a_kept_log(closed):
    """What `--secure` removes is in no file afterwards, not in the log that stays either."""
    result = run("purge", "-c", closed, "--all", "--yes", "--secure", "--format", "json")
    assert json.loads(result.stdout)["secure"]["in_use"] is False, result.stdout
    for name in os.listdir(closed):
        file = os.path.join(closed, name)
        if os.path.isfile(file):
            assert b"a.example" not in scratch.read(file), name
