"""Makes up the disks that a power failure may leave while a cache gets entries with many body files, and with few.

An import is recorded under strace: first it writes all bodies and waits for them, then it commits, then it removes the body files that it replaced.
On each disk that a power failure may leave there is all of the archive, or nothing. By default it tries fewer moments.
"""

import os
import random
import sqlite3
import subprocess

import pytest

import strace
import worlds
from fault_trial import Bad, contents, must
from power_loss import disk_after, recorded
from products import tool
from scratch import copy, export, make, path

pytestmark = strace.needed
DATABASE = ["Cache.db", "Cache.db-wal"]


def is_body(event):
    return event[1].startswith("fsCachedData/")


def waits(event):
    return event[0] == "synchronize all" or event[0] == "synchronize" and (is_body(event) or event[1] == "fsCachedData")


def check_order(events, bodies, at_once):
    """All bodies, what waits for them, the commit, the end of what was replaced."""
    places = lambda holds: [place for place, event in enumerate(events) if holds(event)]
    written = places(lambda event: is_body(event) and event[0] in ("create", "write"))
    committed = places(lambda event: event[0] == "synchronize" and event[1] in DATABASE)
    removed = places(lambda event: is_body(event) and event[0] == "remove")
    # At the end the intent waits for what was removed.
    *waited, last = places(waits)
    assert last > max(removed), (last, removed)
    assert len({events[place][1] for place in written}) == bodies, (len(written), bodies)
    kinds = [events[place][0] for place in waited]
    # If another thread made a call meanwhile, the beginning was recorded, too.
    begun = places(lambda event: event[0] == "begin to synchronize all") or waited
    assert kinds == ["synchronize all"] if at_once else kinds == ["synchronize"] * (bodies + 1), kinds
    assert max(written) < min(begun) and max(waited) < min(committed) < min(removed), (written, waited, committed, removed)


def power_failures(origin, events, old, new, moments):
    """What is wrong with the disks that are neither old nor new."""
    bad = []
    for moment in sorted({round(step * len(events) / (moments - 1)) for step in range(moments)}):
        for number in range(3):
            disk_after(origin, events[:moment], number, random.Random(f"{moment}/{number}")).write(path("disk"))
            try:
                must(contents(path("disk")) in (old, new), "the cache is neither old nor new")
            except Bad as error:
                bad.append(f"disk {number} after {moment} of {len(events)} events: {error}")
    return bad


@pytest.mark.parametrize(("entries", "at_once", "beside"), [(200, True, False), (36, False, False), (36, False, True)],
                         ids=["many bodies", "few bodies", "beside another process"])
def test_power_failure(entries, at_once, beside, thorough):
    """After a power failure there is all of an import or nothing, and it waits for the bodies before it commits."""
    more = make("more", entries=entries)
    archive = export(more, "archive.tar")
    # A third of the archive is there, with other times.
    origin = make("origin", entries=entries // 3)
    connection = sqlite3.connect(os.path.join(origin, "Cache.db"))
    connection.execute("UPDATE cfurl_cache_response SET time_stamp = '2020-01-01 00:00:00'")
    connection.commit()
    connection.close()
    cache = copy(origin, "cache")
    words = [tool, "import", "-c", cache, archive, "--yes", "--on-conflict", "replace"]
    with worlds.Holder(cache, "idle" if beside else "nobody"):
        events = recorded(lambda *before: subprocess.run([*before, *words], capture_output=True, check=True), cache, path("trace"))
    old, new = contents(origin), contents(cache)
    assert new == contents(more) and old != new
    bodies = sum(len(entry) == 4 for entry in new.values())
    assert (bodies >= 80) if at_once else (8 < bodies < 64), bodies
    check_order(events, bodies, at_once)
    moments = 70 if thorough else 20
    assert power_failures(origin, events, old, new, moments) == []
    # An import that does not wait for the bodies fails the test.
    assert power_failures(origin, [event for event in events if not waits(event)], old, new, moments)


def test_power_failure_of_an_empty_cache(thorough):
    """The indexes of an empty cache are created while the bodies are synced, and the commit waits for both."""
    more = make("more", entries=200)
    archive = export(more, "archive.tar")
    origin = make("origin", entries=0)
    cache = copy(origin, "cache")
    words = [tool, "import", "-c", cache, archive]
    events = recorded(lambda *before: subprocess.run([*before, *words], capture_output=True, check=True), cache, path("trace"))
    old, new = contents(origin), contents(cache)
    assert new == contents(more) and old == {}
    places = lambda holds: [place for place, event in enumerate(events) if holds(event)]
    written = places(lambda event: is_body(event) and event[0] == "write")
    [ended] = places(waits)
    begun = places(lambda event: event[0] == "begin to synchronize all") or [ended]
    committed = places(lambda event: event[0] == "synchronize" and event[1] in DATABASE)
    assert max(written) < begun[0] <= ended < committed[0], (written, begun, ended, committed)
    assert power_failures(origin, events, old, new, 70 if thorough else 20) == []
    assert power_failures(origin, [event for event in events if not waits(event)], old, new, 20)


def test_calls_of_two_threads():
    """What is written while another thread synchronizes everything may be lost; what was written before is not."""
    os.makedirs(path("origin/fsCachedData"))
    os.makedirs(path("cache"))
    name = lambda file: "".join(f"\\x{byte:02x}" for byte in os.path.realpath(path("cache")).encode() + b"/" + file)
    with open(path("trace"), "w") as trace:
        trace.write(f"""\
1 openat(AT_FDCWD</>, "{name(b'a')}", O_WRONLY|O_CREAT|O_EXCL, 0600) = 5<{name(b'a')}>
1 pwrite64(5<{name(b'a')}>, "\\x31", 1, 0) = 1
2 syncfs(6<{name(b'.')}> <unfinished ...>
1 openat(AT_FDCWD</>, "{name(b'b')}", O_WRONLY|O_CREAT|O_EXCL, 0600) = 7<{name(b'b')}>
1 pwrite64(5<{name(b'a')}>, "\\x32", 1, 1 <unfinished ...>
2 <... syncfs resumed>) = 0
1 <... pwrite64 resumed>) = 1
""")
    events = recorded(lambda *before: None, path("cache"), path("trace"))
    assert [event[:2] for event in events] == [
        ("create", "a"), ("write", "a"), ("begin to synchronize all", ""), ("create", "b"), ("synchronize all", ""), ("write", "a")]
    assert disk_after(path("origin"), events, 1, random.Random(1)).files() == {"a": b"1"}
    # The second write of the file ends before the synchronization does, and still may be lost.
    events[4:] = events[5:] + events[4:5]
    assert disk_after(path("origin"), events, 1, random.Random(1)).files() == {"a": b"1"}
    assert disk_after(path("origin"), events, 0, random.Random(1)).files() == {"a": b"12", "b": b""}
