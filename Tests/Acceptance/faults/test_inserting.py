"""Enforces limits in a loop while another process stores 200 responses a second and waits 1 s at most for the lock."""

import collections
import json
import os
import subprocess
import sys
import time

from fault_trial import length, read_database
from products import REPOSITORY, tool
from scratch import make


def insert(database, seconds, meanwhile):
    """Stores responses for some seconds, and calls `meanwhile` again and again until they are over."""
    script = REPOSITORY / "Tests/Acceptance/support/insert_responses.py"
    writer = subprocess.Popen([sys.executable, script, database, str(seconds)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "ready\n"
    while writer.poll() is None:
        meanwhile()
    assert writer.returncode == 0
    return json.loads(writer.stdout.read())


def test_enforce_beside_a_writer(thorough):
    """An app that stores responses while `enforce` works never finds the database busy, and hardly waits."""
    seconds, entries = (60, 20_000) if thorough else (3, 2_000)
    cache = make("live", "--no-large-bodies", entries=entries, seed=7)
    database = os.path.join(cache, "Cache.db")
    # What the other process takes alone is not due to us.
    alone = insert(database, seconds / 10, lambda: time.sleep(0.1))
    # A database that was closed has no log; from here on nothing but the commands may close it.
    ends, removed, most = collections.Counter(), 0, entries

    def enforce():
        nonlocal removed, most
        most = max(most - 300, 200)
        # Now fewer entries, now fewer bytes, with which free pages go too.
        limit = ["--max-entries", str(most)] if sum(ends.values()) % 2 else ["--max-size", str(length(cache) * 97 // 100)]
        result = subprocess.run([tool, "enforce", "-c", cache, *limit, "-y", "--format", "json"], capture_output=True)
        assert result.returncode in (0, 1, 3), result
        ends[result.returncode] += 1
        removed += json.loads(result.stdout)["removed"]["entries"]

    beside = insert(database, seconds, enforce)
    rows, _ = read_database(database)
    assert len(rows) == entries + beside["stored"] + alone["stored"] - removed, (len(rows), removed)
    # The machine may be busy, so a few responses count by default.
    assert removed > (100 if thorough else 0) and beside["stored"] > seconds * (20 if thorough else 3), (removed, ends, beside)
    # After a second an app gives up.
    assert beside["busy"] == 0 and beside["longest_wait"] < (0.1 if thorough else 0.9), (beside, alone)
