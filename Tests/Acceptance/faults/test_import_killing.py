"""Kills imports and backups at system calls that write, and lets these calls fail; then looks at the cache.

What was written survives, as the system goes on: this shows what the end of a process does, not what the end of the power does. By default two
moments of each kind of call are tried, with `--thorough` ten.
"""

import os
import sqlite3
import subprocess

import strace
from fault_trial import contents, intents, look
from products import tool
from scratch import copy, export, make, path, run

pytestmark = strace.needed
CALLS = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "?unlink", "unlinkat"]


def counts(calls, origin, words):
    """How often a clean run on a copy of a cache makes each system call."""
    cache = copy(origin, "cache")
    return strace.counts(calls, path("trace"), lambda *before: subprocess.run([*before, tool, *words, "-c", cache], capture_output=True, check=True))


def with_fault(call, turn, fault, words, cache):
    subprocess.run([*strace.fault(call, fault, turn), tool, *words, "-c", cache], capture_output=True, stdin=subprocess.DEVNULL)


def test_import_meets_fault(thorough):
    """Whatever fault an import meets, all of the archive is there or nothing, and the same import once more does the rest."""
    # The bodies of half of the entries are in files, and more than half of the entries go.
    origin = make("origin", entries=24)
    run("purge", "-c", origin, "--prefix", "https://", "--yes")
    # Half of the archive is new, and one of the others differs.
    archive = export(make("more", entries=16), "archive.tar.zst")
    connection = sqlite3.connect(os.path.join(origin, "Cache.db"))
    connection.execute("UPDATE cfurl_cache_response SET time_stamp = '2020-01-01 00:00:00'")
    connection.commit()
    connection.close()
    old = contents(origin)
    words = ["import", archive, "--yes", "--on-conflict", "replace"]
    done = copy(origin, "done")
    run(*words, "-c", done)
    new = contents(done)
    assert old != new and len(new) > len(old)
    seen = []
    for call, number in counts([*CALLS, "?mkdir", "openat"], origin, words).items():
        turns = range(1, number + 1)
        faults = [(turn, "signal=SIGKILL") for turn in strace.spread(turns, 10 if thorough else 3)]
        if call != "openat":
            faults += [(turn, "error=EIO") for turn in (strace.spread(turns, 5) if thorough else turns[-1:])]
        for turn, fault in faults:
            cache = copy(origin, "cache")
            with_fault(call, turn, fault, words, cache)
            after = contents(cache)
            assert after in (old, new), (call, turn, fault)
            seen.append(after == new)
            run(*words, "-c", cache)
            # The second run did the rest.
            assert contents(cache) == new, (call, turn, fault)
            assert not look(cache).orphans and not intents(), (call, turn, fault)
    assert True in seen and seen.count(False) > (20 if thorough else 8), seen


def test_import_of_many_bodies_meets_fault():
    """If the file system cannot be synced, nothing of an import of many bodies is there; if it is killed meanwhile, neither."""
    origin = make("origin", entries=24)
    archive = export(make("more", entries=200, seed=2), "archive.tar.zst")
    old = contents(origin)
    words = ["import", archive, "--yes", "--on-conflict", "replace"]
    assert counts(["syncfs"], origin, words) == {"syncfs": 1}
    for fault in ("error=EIO", "signal=SIGKILL"):
        cache = copy(origin, "cache")
        result = subprocess.run(
            [*strace.fault("syncfs", fault, 1), tool, *words, "-c", cache], capture_output=True, stdin=subprocess.DEVNULL, text=True)
        assert contents(cache) == old, fault
        if fault == "error=EIO":
            assert result.returncode == 74 and "Input/output error" in result.stderr, result
            assert not look(cache).orphans and not intents()
        run(*words, "-c", cache)
        assert len(contents(cache)) > len(old) and not look(cache).orphans and not intents(), fault


def test_backup_meets_fault(thorough):
    """Whenever a purge with a backup is killed, what it removed is in the archive."""
    origin, archive = make("origin", entries=16), path("backup.tar.zst")
    old = contents(origin)
    words = ["purge", "--prefix", "https://", "--yes", "--backup", archive]
    removed = 0
    for call, number in counts([*CALLS, "?rename", "?renameat2"], origin, words).items():
        for turn in strace.spread(range(1, number + 1), 8 if thorough else 2):
            if os.path.exists(archive):
                os.unlink(archive)
            cache = copy(origin, "cache")
            with_fault(call, turn, "signal=SIGKILL", words, cache)
            if contents(cache) != old:
                removed += 1
                run("import", "--any-method", "-c", cache, archive)
                assert contents(cache) == old, (call, turn)
    assert removed > 3
