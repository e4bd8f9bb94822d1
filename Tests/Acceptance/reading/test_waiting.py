"""Lists a cache that another process has locked, and unlocks in time or not."""

import json
import os
import sqlite3
import subprocess
import sys
import time

import pytest

from products import tool
from scratch import make

# Readers cannot get past an exclusive lock of a database without a write-ahead log.
HOLD = """
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
database.execute("COMMIT")
print("let go", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def cache():
    folder = make("cache", entries=5, seed=1)
    database = sqlite3.connect(os.path.join(folder, "Cache.db"))
    assert database.execute("PRAGMA journal_mode=delete").fetchone() == ("delete",)
    database.close()
    return folder


def while_locked(cache, seconds, wait):
    """Lists while another process holds the lock; the result, and how long it took."""
    holder = subprocess.Popen([sys.executable, "-c", HOLD, os.path.join(cache, "Cache.db"), str(seconds)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"locked\n"
        start = time.monotonic()
        result = subprocess.run([tool, "list", "-c", cache, "--wait", wait, "--format", "json"], capture_output=True, timeout=120)
        return result, time.monotonic() - start
    finally:
        holder.kill()
        holder.communicate()


def test_unlocked_in_time(cache):
    """A lock that is released within the time to wait only delays the command."""
    result, took = while_locked(cache, 1, "60s")
    assert result.returncode == 0 and result.stderr.startswith(b"5 of 5 entries, "), result
    assert json.loads(result.stdout)["shown"] == 5, result
    assert took > 0.8, took


def test_locked_for_too_long(cache):
    """A lock that stays longer than the time to wait ends the command with the status of a busy cache."""
    result, took = while_locked(cache, 60, "2s")
    assert result.returncode == 75 and result.stdout == b"", result
    error = json.loads(result.stderr)
    assert (error["code"], error["kind"]) == (75, "busy"), error
    assert 1.9 < took < 60, took


def test_no_waiting(cache):
    """With '--wait 0s' the command ends at once."""
    # The best of five, as other tests may keep the machine busy.
    for _ in range(5):
        result, took = while_locked(cache, 60, "0s")
        assert result.returncode == 75, result
        if took < 1.9:
            break
    assert took < 1.9, took
