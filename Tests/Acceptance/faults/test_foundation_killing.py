"""Kills commands that change a Foundation cache at system calls that write, and lets these calls fail.

Each file must be there as it was or gone, and a second run must do the rest and leave nothing else; what is gone is in the backup, if one is made.
By default of each kind of system call the first, the last and one in between is tried, with `--thorough` each call.
"""

import glob
import hashlib
import os
import subprocess
import time

import pytest

import strace
from fault_trial import intents
from products import tool
from scratch import copy, make, path, run

pytestmark = strace.needed
CALLS = ["write", "fsync", "?unlink", "unlinkat"]
FAULTS = ["signal=SIGKILL", "error=EIO"]


@pytest.fixture
def origin():
    return make("origin", "--format", "foundation", "--no-large-bodies", entries=32)


def state(folder):
    """The files of a cache, by their names."""
    result = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            result[name] = hashlib.sha256(file.read()).hexdigest()
    return result


def counts(calls, store, words):
    """How often a clean run makes each system call."""
    cache = copy(store, "cache")
    return strace.counts(calls, path("trace"), lambda *before: subprocess.run([*before, tool, *words, "-c", cache], capture_output=True))


def with_fault(call, turn, fault, words, store):
    """Runs a command with a fault on a copy of the cache, of which files may be gone; returns the copy."""
    cache = copy(store, "cache")
    result = subprocess.run([*strace.fault(call, fault, turn), tool, *words, "-c", cache], capture_output=True)
    assert (result.returncode == -9) == ("SIGKILL" in fault), (call, turn, fault, result)
    assert state(cache).items() <= state(store).items(), "a file changed"
    return cache


def make_broken(origin):
    """A copy of the cache with entries that cannot be decoded, and temporary files that a process left an hour ago."""
    broken = copy(origin, "broken")
    for name in sorted(os.listdir(broken))[:5]:
        with open(os.path.join(broken, name), "wb") as file:
            file.write(b"none")
        os.utime(os.path.join(broken, name), (time.time() - 3600,) * 2)
    for number in range(3):
        file = os.path.join(broken, f".dat.nosync0.{number}")
        with open(file, "wb") as output:
            output.write(b"part")
        os.utime(file, (time.time() - 3600,) * 2)
    return broken


@pytest.mark.parametrize("words", [
    ["purge", "--prefix", "https://", "--yes"], ["enforce", "--max-entries", "12", "--yes"], ["apply", "PLAN", "--yes"],
    ["check", "--repair", "--yes"]], ids=lambda words: words[0])
def test_command_meets_fault(origin, words, thorough):
    """Whatever fault a command meets, each file is as it was or gone, and the same command once more does the rest."""
    verb, store = words[0], make_broken(origin) if words[0] == "check" else origin
    selected = run("list", "-c", origin, "--format", "urls").stdout.count(b"https://")
    run("purge", "-c", origin, "--prefix", "https://", "--plan", path("plan.json"))
    words = [path("plan.json") if word == "PLAN" else word for word in words]
    # The store has findings that no repair removes.
    end = 1 if verb == "check" else 0
    old, done = state(store), copy(store, "done")
    run(*words, "-c", done, status=end)
    new = state(done)
    removed = {"enforce": 20, "check": 8}.get(verb, selected)
    assert len(old) - len(new) == removed, (len(old), len(new))
    made = counts(CALLS, store, words)
    assert made["unlinkat"] == removed and made["fsync"] > 0, made
    for call, number in made.items():
        turns = strace.spread(range(1, number + 1), number if thorough else 3)
        # The faults of calls that are much alike take turns.
        for turn, fault in [(turn, fault) for turn in turns for place, fault in enumerate(FAULTS) if thorough or (turn + place) % 2]:
            cache = with_fault(call, turn, fault, words, store)
            before = state(cache)
            # A plan has been carried out in part where files are gone that it names.
            run(*words, "-c", cache, status=3 if verb == "apply" and before != old else end)
            assert state(cache) == new and not intents(), ("the second run did not do the rest", call, turn, fault)


def test_backup_meets_fault(origin, thorough):
    """Whatever fault a purge with a backup meets, the archive brings back what is gone."""
    old, archive = state(origin), path("backup.tar.zst")
    words = ["purge", "--prefix", "https://", "--yes", "--backup", archive]
    tried = gone = 0
    for call, number in counts([*CALLS, "?rename", "?renameat", "?renameat2"], origin, words).items():
        turns = strace.spread(range(1, number + 1), number if thorough else 3)
        for turn, fault in [(turn, fault) for turn in turns for place, fault in enumerate(FAULTS) if thorough or (turn + place) % 2]:
            for name in glob.glob(archive + "*"):
                os.unlink(name)
            cache = with_fault(call, turn, fault, words, origin)
            tried += 1
            if state(cache) != old:
                gone += 1
                run("import", "-c", cache, archive)
                assert state(cache) == old, ("not all came back", call, turn, fault)
    assert gone > (10 if thorough else 2) and tried > gone, (tried, gone)
