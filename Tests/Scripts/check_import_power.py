"""Simulates that the power fails while a cache gets entries with many body files, and with few; then looks at the cache.

    check_import_power.py URLCACHE-ADMIN SAMPLE-CACHE [--all]

An import is recorded under strace: first come all bodies, then what waits for them, then the commit, then the end of the files
that were replaced. On each disk that a power failure may leave there is all of the archive, or nothing. Without --all it tries
fewer moments. Prints a line for each case, and figures on the standard error.
"""

import contextlib, os, random, shutil, subprocess, sys, tempfile

from fault_trial import Bad, contents, must, open_elsewhere
from power_loss import disk_after, recorded

tool, maker = sys.argv[1:3]
MOMENTS, DISKS = (70, 210) if sys.argv[3:] == ["--all"] else (30, 90)
root = tempfile.mkdtemp()
DATABASE = ["Cache.db", "Cache.db-wal"]


def path(name):
    return os.path.join(root, name)


def fresh(origin):
    shutil.rmtree(path("cache"), ignore_errors=True)
    return shutil.copytree(origin, path("cache"))


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
    assert kinds == ["synchronize all"] if at_once else kinds == ["synchronize"] * (bodies + 1), kinds
    assert max(written) < min(waited) and max(waited) < min(committed) < min(removed), (written, waited, committed, removed)


def power_failures(origin, events, old, new):
    """How many disks are neither old nor new, of all that are tried."""
    tried = bad = 0
    for moment in sorted({round(step * len(events) / (MOMENTS - 1)) for step in range(MOMENTS)}):
        for number in range(-(-DISKS // MOMENTS)):
            disk_after(origin, events[:moment], number, random.Random(f"{moment}/{number}")).write(path("disk"))
            tried += 1
            try:
                must(contents(path("disk"), path("scratch")) in (old, new), "the cache is neither old nor new")
            except Bad as error:
                bad += 1
                facts = f"disk {number} after {moment} of {len(events)} events: {error}"
    return tried, bad, bad and facts


def trial(name, entries, at_once, beside=False):
    origin, more, archive = path(f"{name}-origin"), path(f"{name}-more"), path(f"{name}.tar")
    subprocess.run([maker, "--entries", str(entries), "--seed", "3", more], check=True)
    subprocess.run([tool, "export", "-c", more, "-o", archive], check=True, capture_output=True)
    # A third of the archive is there, with other times.
    subprocess.run([maker, "--entries", str(entries // 3), "--seed", "3", origin], check=True)
    subprocess.run(["sqlite3", os.path.join(origin, "Cache.db"), "UPDATE cfurl_cache_response SET time_stamp = '2020-01-01 00:00:00'"], check=True)
    cache = fresh(origin)
    words = [tool, "import", "-c", cache, archive, "--yes", "--on-conflict", "replace"]
    with open_elsewhere(cache) if beside else contextlib.nullcontext():
        events = recorded(lambda *before: subprocess.run([*before, *words], capture_output=True, check=True), cache, path("trace"))
    old, new = contents(origin, path("scratch")), contents(cache, path("scratch"))
    assert new == contents(more, path("scratch")) and old != new
    bodies = sum(len(entry) == 4 for entry in new.values())
    assert (bodies >= 80) if at_once else (8 < bodies < 64), bodies
    check_order(events, bodies, at_once)
    tried, bad, facts = power_failures(origin, events, old, new)
    print(f"{name}: {tried} power failures: {bad} bad", file=sys.stderr, flush=True)
    assert bad == 0, facts
    # Nobody has waited for the bodies: what makes up the disks sees that.
    _, bad, _ = power_failures(origin, [event for event in events if not waits(event)], old, new)
    assert bad > 0
    print(f"{name}: ok", flush=True)


try:
    trial("many bodies", 200, True)
    trial("few bodies", 36, False)
    trial("beside another process", 36, False, beside=True)
finally:
    shutil.rmtree(root)
