"""Has `enforce` keep limits of made-up caches that can be met, and that cannot.

The caches have orphans, old ones and young ones, logs that a killed writer left, writers that stay, and free pages; some are Foundation caches.
What the files take up and how many entries there are is measured here, not by the program. Nothing may be removed where a limit is not met, what
is reported as met has to be met on disk, and a dry run has to say what the real run does.
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time

import scratch
from products import tool
from scratch import path

# How the names of the files begin that Foundation has not finished.
TEMPORARY = ".dat.nosync"
WRITER = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
if sys.argv[2] != "idle":
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("UPDATE cfurl_cache_blob_data SET request_object = zeroblob(length(request_object))")
else:
    connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
if sys.argv[2] == "left": os._exit(0)
print("ready", flush=True)
sys.stdin.read()
"""


def files(cache):
    """All files of a cache, with their lengths."""
    return {os.path.relpath(os.path.join(parent, name), cache): os.path.getsize(os.path.join(parent, name))
            for parent, _, names in os.walk(cache) for name in names}


def is_foundation(cache):
    return not os.path.exists(os.path.join(cache, "Cache.db"))


def length(cache):
    """What counts against the capacity."""
    return sum(size for name, size in files(cache).items() if not name.startswith(TEMPORARY))


def entries(cache):
    """The number of entries, without touching the log."""
    if is_foundation(cache):
        return sum(not name.startswith(TEMPORARY) for name in files(cache))
    copy = path("count")
    os.mkdir(copy)
    for name in ("Cache.db", "Cache.db-wal"):
        if os.path.exists(os.path.join(cache, name)):
            shutil.copy(os.path.join(cache, name), copy)
    connection = sqlite3.connect(os.path.join(copy, "Cache.db"))
    count = connection.execute("SELECT count(*) FROM cfurl_cache_response").fetchone()[0]
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    shutil.rmtree(copy)
    return count


def make(choice, kind):
    """Makes a cache; returns the process that keeps it open, if one does."""
    foundation = kind == "foundation"
    count, seed = choice.choice([20, 60, 150, 400]), choice.randrange(1 << 32)
    cache = scratch.make("cache", *["--format", "foundation"] * foundation, *choice.choice([[], ["--no-large-bodies"]]), entries=count, seed=seed)
    now = time.time()
    ages = choice.choice([[], [0], [86_400], [0, 86_400], [0, 86_400]])
    for age in ages:
        for number in range(choice.choice([1, 4])):
            name = f"{TEMPORARY}{age}{number}.0" if foundation else \
                os.path.join("fsCachedData", "%08X-0000-0000-0000-%012d" % (0xA00 + age, number))
            with open(os.path.join(cache, name), "wb") as file:
                file.write(bytes(choice.choice([10, 5_000, 200_000, 1_500_000])))
            os.utime(os.path.join(cache, name), (now - age,) * 2)
    if foundation:
        return None
    database = os.path.join(cache, "Cache.db")
    if choice.random() < 0.3:
        connection = sqlite3.connect(database, isolation_level=None)
        for table in ("cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"):
            connection.execute(f"DELETE FROM {table} WHERE entry_ID % 3 = 0 AND entry_ID NOT IN "
                               "(SELECT entry_ID FROM cfurl_cache_receiver_data WHERE isDataOnFS)")
        connection.close()
    if kind == "alone":
        return None
    process = subprocess.Popen([sys.executable, "-c", WRITER, database, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if kind == "left":
        process.communicate()
        return None
    assert process.stdout.readline() == b"ready\n"
    return process


def state(cache):
    """What must not change where nothing is removed: all bytes but those of a log's index."""
    result = {}
    for name, size in files(cache).items():
        with open(os.path.join(cache, name), "rb") as file:
            result[name] = file.read()
    return {name: data for name, data in result.items() if not name.endswith("-shm")}


def enforce(cache, words):
    result = subprocess.run([tool, "enforce", "-c", cache, *words, "--format", "json"], capture_output=True,
                            stdin=subprocess.DEVNULL, timeout=120)
    assert result.returncode in (0, 1), (words, result)
    # No private copy stays.
    assert os.listdir(path("temporary")) == [], os.listdir(path("temporary"))
    return result, json.loads(result.stdout)


def limits(cache, choice):
    """Options, and what they limit, by the files as they are."""
    whole, count = length(cache), entries(cache)
    words, most_bytes, most_entries = [], None, None
    if choice.random() < 0.8:
        most_bytes = int(whole * choice.choice([0, 0.005, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1, 1.1]))
        words += [choice.choice(["--max-size", "--capacity"]), str(most_bytes)]
    if choice.random() < 0.3 or not words:
        most_entries = int(count * choice.choice([0, 0.2, 0.5, 0.9, 1, 2]))
        words += ["--max-entries", str(most_entries)]
    if choice.random() < 0.15:
        words += ["--max-age", choice.choice(["1h", "300d", "10000d"])]
    if choice.random() < 0.15:
        words += ["--max-entry-size", choice.choice(["0", "2K", "1G"])]
    if choice.random() < 0.2:
        words += ["--low", choice.choice(["1%", "50%", "90%"])]
    if choice.random() < 0.15:
        words += ["--only-if-over"]
    if choice.random() < 0.3:
        words += choice.choice([["--mime", "image/*"], ["--larger-than", "2K"], ["--prefix", "https://nowhere.example"],
                                ["--smaller-than", "3K"]])
    words += ["--order", choice.choice(["oldest", "largest", "stale-first"])]
    return words, most_bytes, most_entries


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(200 if metafunc.config.getoption("thorough") else 10))


def kind_of(choice):
    return choice.choice(["alone", "alone", "left", "idle", "logging", "foundation", "foundation"])


def test_seeds():
    """The seeds that are tried by default have each kind of cache."""
    assert {kind_of(random.Random(seed)) for seed in range(16)} == {"alone", "left", "idle", "logging", "foundation"}


def test_enforce(seed):
    """A limit that is met is met on disk; of one that cannot be met nothing is removed; and a dry run says both."""
    choice = random.Random(seed)
    kind, cache = kind_of(choice), path("cache")
    process = make(choice, kind)
    words, most_bytes, most_entries = limits(cache, choice)
    best = choice.random() < 0.1
    words += ["--best-effort"] * best
    if choice.random() < 0.15:
        words += ["--backup", path("backup.tar")]
    what = f"seed {seed}, {kind}, {' '.join(words)}"
    before, count = state(cache), entries(cache)
    dry, planned = enforce(cache, words + ["--dry-run"])
    assert state(cache) == before, what
    real, done = enforce(cache, words + ["--yes"])
    left, now = length(cache), entries(cache)
    assert dry.returncode == real.returncode, (what, dry.stderr, real.stderr)
    for part in ("removed", "entries", "orphans"):
        assert planned[part] == done[part] or best, (what, part, planned[part], done[part])
    is_met = (most_bytes is None or left <= most_bytes) and (most_entries is None or now <= most_entries)
    # `null` where it was not asked for a size.
    assert (done["limit_met"] is not False) == (real.returncode == 0), what
    if real.returncode == 0:
        assert is_met, (what, left, now, most_bytes, most_entries)
        assert planned["unmet"] == done["unmet"] == [] and planned["limit_met"] is not False, what
        assert count - now == sum(entry["reason"] != "orphan" for entry in done["entries"]), what
        gone = before.keys() - files(cache).keys()
        assert all(any(orphan["name"] in name for name in gone) for orphan in done["orphans"]), what
        if any(entry["reason"] in ("over-size",) for entry in done["entries"]) and not is_foundation(cache):
            # Entries are removed for their size only once all that no entry refers to is gone, unless it is young.
            old = [name for name in files(cache) if "0000-0000-0000-" in name and name.split("/")[-1].startswith("00015")]
            assert not old, (what, old)
    else:
        # What age or number would have removed makes the log of another process longer than the size allows.
        is_log = process and b"keeps" in real.stderr and done["unmet"][0]["limit"] == "max-size"
        assert not is_met or is_log, (what, left, now, most_bytes, most_entries, real.stderr, done["removed"], done["unmet"], done["kept"], planned["removed"])
        assert done["unmet"], what
        if not best:
            after = state(cache)
            assert after == before, (what, before.keys() ^ after.keys(), real.stderr)
            assert planned["unmet"] == done["unmet"] and done["blocked_by"], (what, done)
            assert b"so nothing was removed" in real.stderr and b"so nothing would be removed" in dry.stderr, what
    if process:
        process.communicate(timeout=60)
    # What is left over is no more than a copy that was emptied could be: it was not refused for nothing.
    if real.returncode == 1 and not best and kind in ("alone", "left") and most_bytes is not None:
        words = [word for word in words if not word.endswith("backup.tar") and word != "--backup"]
        _, most = enforce(cache, words + ["--yes", "--best-effort"])
        assert length(cache) > most_bytes or most_entries is not None and entries(cache) > most_entries, (what, "it could")
