"""Kills a refreshing at system calls that write, and lets these calls fail; then looks at the cache.

Each entry is the old or the new one then, and a second run makes all new. What was written survives, as the system goes on: this shows what the end of
a process does, not what the end of the power does. By default each kind of call is tried at up to three of its turns, with `--thorough` at twelve.
"""

import os
import subprocess

import pytest

import origin
import strace
from fault_trial import intents, look
from heard_signals import hear_signals
from products import maker, tool
from scratch import copy, path, run

pytestmark = strace.needed
CALLS = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "?unlink", "unlinkat", "?rename", "?renameat", "renameat2", "?mkdir"]
# Entries that are updated, that are replaced and that are completed, all with bodies in files and in the database.
NAMES = ["etag", "large", "changed", "gzip", "weak", "rolled", "404", "none", "half-small", "half-large"]


@pytest.fixture
def apple(monkeypatch):
    """A cache of what an origin on this machine has sent. What is stored is the same in each run but for the time."""
    monkeypatch.setattr(origin.Origin, "now", 1_760_000_000)
    entries = origin.stored_entries(origin.start(), NAMES)
    origin.make_apple(maker, path("apple"), list(entries), stored=origin.Origin.now - 100_000)
    return path("apple")


def apple_state(cache):
    """What is stored, from a copy, as opening a database after a crash changes it; times differ in each run."""
    entries = origin.apple_entries(copy(cache, "copy"))[0]
    return {url: {**entry, "stored": entry["stored"] > origin.Origin.now} for url, entry in entries.items()}


def foundation_state(cache):
    """What is stored, as URLCache takes the newest file of a key; times differ in each run."""
    return {key: {**entry, "stored": entry["stored"] > origin.Origin.now}
            for key, entry in origin.foundation_entries(cache).items()}


def files_left(cache):
    """Body files that no row names, or temporary files."""
    if os.path.exists(os.path.join(cache, "Cache.db")):
        return look(cache).orphans
    return [name for name in os.listdir(cache) if name.startswith(".dat.nosync")]


def refresh(cache, *before, **options):
    words = [*before, tool, "revalidate", "-c", cache, "--all", "--refresh", "--resume", "--yes", "--timeout", "30s"]
    return subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, **options)


def check_faults(store, state, statuses, thorough):
    """Lets a refreshing of copies of a cache meet faults; `statuses` are those with which a second run may exit."""
    old, done = state(store), copy(store, "done")
    first = refresh(done)
    assert first.returncode == 1, first
    new = state(done)
    assert old != new and old.keys() == new.keys()
    seen = []
    # The calls of the program that fetches do not count.
    counts = strace.counts(CALLS, path("trace"), lambda *before: refresh(copy(store, "cache"), *before), follow=False)
    for call, number in counts.items():
        turns = range(1, number + 1)
        faults = [(turn, "signal=SIGKILL") for turn in strace.spread(turns, 8 if thorough else 2)]
        for turn, fault in [*faults, *((turn, "error=EIO") for turn in strace.spread(turns, 4 if thorough else 1))]:
            cache = copy(store, "cache")
            refresh(cache, *strace.fault(call, fault, turn, follow=False))
            after = state(cache)
            assert after.keys() == old.keys(), (call, turn, fault)
            for url, entry in after.items():
                assert entry in (old[url], new[url]), (call, turn, fault, entry)
            seen.append(after == new)
            again = refresh(cache)
            # Of two files of a key the older goes with the refreshing of the newer, and is skipped itself.
            assert again.returncode in statuses and state(cache) == new, (call, turn, fault, again)
            if again.returncode == 3:
                again = refresh(cache)
                assert again.returncode == 1, (call, turn, fault, again)
            assert not files_left(cache) and not intents(), (call, turn, fault, files_left(cache), intents())
    for turn in [1, 2, 3]:
        cache = copy(store, "cache")
        result = refresh(cache, *strace.fault("fsync", "signal=SIGTERM", turn, follow=False), preexec_fn=hear_signals)
        after = state(cache)
        # All of this is one batch, and the receipt says what became of it.
        assert result.returncode == -15 and after in (old, new), (turn, result)
        assert (b"skipped" in result.stdout) == (after == old) and b"stopped by a signal" in result.stderr, (turn, result)
    assert True in seen and seen.count(False) > (10 if thorough else 5), seen


def test_apple_cache_meets_fault(apple, thorough):
    """Whatever fault a refreshing meets, each entry of an Apple cache is old or new, and a second run makes all new."""
    check_faults(apple, apple_state, [1], thorough)


def test_foundation_cache_meets_fault(apple, thorough):
    """Whatever fault a refreshing meets, each entry of a Foundation cache is old or new, and a second run makes all new."""
    run("export", "-c", apple, "-o", path("archive.tar"))
    run("import", "--any-method", "-c", path("foundation"), "--create", "foundation", path("archive.tar"))
    check_faults(path("foundation"), foundation_state, [1, 3], thorough)
