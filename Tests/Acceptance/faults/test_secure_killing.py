"""Kills commands that remove entries with `--secure` at system calls that write, and runs them again: then nothing is left.

By default one in some calls is tried, with both kinds of journal; with `--thorough` each call.
"""

import os
import sqlite3
import subprocess

import pytest

import scratch
import strace
from fault_trial import look
from heard_signals import hear_signals
from planted_entries import HOST, grep, plant
from products import tool

pytestmark = strace.needed
CALLS = ["write", "pwrite64", "fsync", "fdatasync", "syncfs", "ftruncate", "?unlink", "unlinkat", "?rename", "renameat", "renameat2"]


def make_apple(mode):
    cache = plant(scratch.make("origin", entries=16, seed=5), count=24, removed=12)
    if mode != "wal":
        connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
        assert connection.execute(f"PRAGMA journal_mode = {mode}").fetchone() == (mode,)
        connection.close()
    return cache


def make_foundation():
    source, cache = make_apple("wal"), scratch.make("found", "--format", "foundation", entries=16)
    scratch.run("export", "-c", source, "-o", scratch.path("planted.tar"), "--host", HOST)
    scratch.run("import", scratch.path("planted.tar"), "-c", cache)
    return cache


def words(verb, cache):
    selection = {"compact": [], "purge": ["--host", HOST, "--yes"], "enforce": ["--host", HOST, "--max-age", "1min", "--yes"],
                 "check": ["--repair", "--yes"]}
    return [tool, verb, "-c", cache, "--secure", *selection[verb]]


def run(verb, cache, *before):
    return subprocess.run([*before, *words(verb, cache)], stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                          preexec_fn=hear_signals)


def kept(cache, store):
    """The entries that have no secrets."""
    if store == "foundation":
        return {name: data for name in os.listdir(cache) if b"PLANTED-" not in (data := scratch.read(os.path.join(cache, name)))
                and not name.startswith(".dat.nosync")}
    return {number: row for number, row in look(cache).rows.items() if b"PLANTED-" not in repr(row).encode()}


@pytest.mark.parametrize("store, verb", [("wal", "purge"), ("delete", "purge"), ("wal", "compact"), ("delete", "compact"),
                                         ("wal", "enforce"), ("foundation", "purge")])
def test_killed_and_run_again(store, verb, thorough):
    """Wherever the command is killed, the entries that stay are whole, and the second run leaves no trace."""
    origin = make_foundation() if store == "foundation" else make_apple(store)
    if verb == "compact":
        scratch.run("purge", "-c", origin, "--host", HOST, "--yes")
    assert grep(origin)
    rest = kept(origin, store)
    counts = strace.counts(CALLS, scratch.path("trace"), lambda *before: run(verb, scratch.copy(origin, "cache"), *before))
    points = [(call, turn) for call, count in counts.items() for turn in range(1, count + 1)]
    assert len(points) > 30, counts
    # The calls of each kind in turn, so that every stage is met.
    chosen, missed = points if thorough else points[::max(1, len(points) // 24)], []
    for call, turn in chosen:
        cache = scratch.copy(origin, "cache")
        result = run(verb, cache, *strace.fault(call, "signal=SIGKILL", turn))
        # A transaction ends after some time, so that a run may make a few calls less than the one that was counted.
        assert result.returncode in (-9, 0), (call, turn, result)
        missed += [(call, turn)] * (result.returncode == 0)
        result = run(verb, cache)
        assert result.returncode == 0, (call, turn, result)
        assert grep(cache) == {}, (call, turn, grep(cache))
        assert kept(cache, store) == rest, (call, turn)
        if store != "foundation":
            assert sorted(os.listdir(cache)) == ["Cache.db", "fsCachedData"]
    assert len(missed) <= len(chosen) // 5, (missed, counts)
