"""Kills imports into a Foundation cache at system calls that write, lets these calls fail, and lets the power fail; then looks at the cache.

Each entry must be there as it was or as it is to be, never none of the two, and never a part of one. By default it is killed at 15
system calls, and half of these fail in another run; with `--thorough` all calls are tried.
"""

import hashlib
import os
import random
import re
import subprocess

import pytest

import strace
from fault_trial import intents
from power_loss import disk_after, recorded
from products import tool
from scratch import copy, export, make, path

pytestmark = strace.needed
SUFFIX = ".storedcachedurlresponse"
CALLS = ["write", "fsync", "unlinkat", "renameat", "openat"]


@pytest.fixture
def archive():
    """An archive of entries, of which some are in the cache at `origin`: older, newer, and of the same second with other bytes."""
    origin = make("origin", "--format", "foundation", "--no-large-bodies", entries=8)
    more = make("more", "--format", "foundation", "--no-large-bodies", entries=14)
    archive = export(more, "archive.tar")
    for number, name in enumerate(sorted(set(os.listdir(origin)) & set(os.listdir(more)))):
        file = os.path.join(origin, name)
        seconds, rest = name.split(".", 1)
        if number % 4 < 2:
            os.rename(file, os.path.join(origin, f"{int(seconds) + (-1000 if number % 4 else 1000)}.{rest}"))
        elif number % 4 == 2:
            with open(file, "rb") as input:
                data = input.read()
            with open(file, "wb") as output:
                output.write(data.replace(b"example", b"elpmaxe"))
    return archive


def fresh():
    return copy(path("origin"), "cache")


def old_and_new(archive):
    """What is in the cache before and after the import."""
    done = fresh()
    subprocess.run(arguments(done, archive), check=True, capture_output=True)
    old, new = state(path("origin"))[0], state(done)[0]
    assert new == state(path("more"))[0] and old != new
    return old, new


def state(folder):
    """The responses by their names, and how many files there are besides."""
    result, others = {}, 0
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            if name.endswith(SUFFIX):
                result[name] = hashlib.sha256(file.read()).hexdigest()
            else:
                assert name.startswith(".dat.nosync"), name
                others += 1
    return result, others


def judge(found, old, new, *facts):
    """Whether what is there is old or new, entry by entry."""
    for name, digest in found.items():
        assert digest in (old.get(name), new.get(name)), ("a part of an entry, or another", name, facts)
    keys = lambda files: {name.split(".")[1] for name in files}
    assert keys(found) >= keys(old) and keys(found) <= keys(old) | keys(new), ("an entry is gone", facts)


def arguments(cache, archive):
    return [tool, "import", "-c", cache, archive, "--yes", "--on-conflict", "replace"]


def points(archive):
    """At which of its turns a system call writes, in a clean run."""
    trace = path("trace")
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", f"trace={','.join(CALLS)}", *arguments(fresh(), archive)],
                   capture_output=True, check=True)
    made, found = {}, []
    with open(trace) as file:
        for line in file:
            match = re.match(r"\d+\s+(\w+)\((.*)", line)
            if match:
                made[match[1]] = made.get(match[1], 0) + 1
                if match[1] != "openat" or "O_CREAT" in match[2]:
                    found.append((match[1], made[match[1]]))
    return found


def test_import_meets_fault(archive, thorough):
    """Whatever fault an import meets, each entry is old or new, and the same import once more does the rest."""
    old, new = old_and_new(archive)
    left = partly = 0
    for number, (call, turn) in enumerate(points(archive) if thorough else strace.spread(points(archive), 15)):
        for fault in ["signal=SIGKILL", "error=EIO"][:2 if thorough or number % 2 else 1]:
            cache = fresh()
            result = subprocess.run([*strace.fault(call, fault, turn), *arguments(cache, archive)], capture_output=True)
            found, others = state(cache)
            judge(found, old, new, call, turn, fault)
            partly += found not in (old, new)
            if "KILL" in fault:
                assert result.returncode == -9, result
                left += others > 0
            else:
                assert others == 0 or call == "unlinkat", (call, turn, others, result)
                # Nothing came of what failed before the first entry was in; of what cannot be noted all the same.
                assert call in ("renameat", "unlinkat", "fsync", "write") or found == old \
                    or b"run 'urlcache-admin check CACHE --repair' to remove" in result.stderr, (call, turn)
            subprocess.run(arguments(cache, archive), capture_output=True, check=True)
            assert state(cache) == (new, 0) and not intents(), ("the second run did not end what the first began", call, turn, fault)
    assert partly > (5 if thorough else 2) and left > (20 if thorough else 1), (partly, left)


def responses(disk):
    return {name: hashlib.sha256(data).hexdigest() for name, data in disk.files().items() if name.endswith(SUFFIX)}


def test_power_failure(archive, thorough):
    """After a power failure each entry is old or new, and an import that is done stays done."""
    old, new = old_and_new(archive)
    cache = fresh()
    events = recorded(lambda *before: subprocess.run([*before, *arguments(cache, archive)], capture_output=True, check=True),
                      cache, path("trace"))
    kinds = [event[0] for event in events]
    assert kinds.count("rename") == kinds.count("create") > 8 and kinds.count("synchronize") > kinds.count("create"), kinds
    mixed = 0
    for moment in range(len(events) + 1):
        for number in range(8 if thorough else 4):
            found = responses(disk_after(path("origin"), events[:moment], number, random.Random(f"{moment}/{number}")))
            judge(found, old, new, moment, number, events[moment - 1][:2])
            mixed += found not in (old, new)
    # What an import that is done says is there, is there.
    assert responses(disk_after(path("origin"), events, 1, random.Random(1))) == new and mixed > 20
