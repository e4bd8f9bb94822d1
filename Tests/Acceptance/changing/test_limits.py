"""Has `enforce` keep limits: what it removes is a function of the rows, the limits and the order, whoever has the cache open.

What has to be removed is computed from the rows by `limit_oracle`. A dry run, a run and its receipt say the same, a second run removes nothing, and
where a limit cannot be met nothing is removed. What the files take on disk besides depends on the app, and no entry is removed for it.
"""

import contextlib
import json
import os
import random
import re
import shutil
import sqlite3
import time

import pytest

import samples
import scratch
import worlds
from limit_oracle import Limits
from scratch import path

ORDERS = ["oldest", "largest", "stale-first"]
# How the names of the files begin that Foundation has not finished.
TEMPORARY = ".dat.nosync"


def enforce(cache, *words, status=(0, 1)):
    result = worlds.run("enforce", "-c", cache, *words, "--format", "json", status=status)
    return result, json.loads(result.stdout)


def removed(cache, *words):
    """What a run removes of a copy of a cache, where a dry run has to say the same: the ids."""
    _, planned = enforce(cache, *words, "--dry-run")
    _, done = enforce(cache, *words, "--yes", status=0)
    for part in ("removed", "entries", "orphans", "kept", "in_use_before", "in_use_after"):
        assert planned[part] == done[part], (part, planned[part], done[part])
    return [entry["id"] for entry in done["entries"]]


def size(cache):
    return sum(os.path.getsize(os.path.join(parent, name)) for parent, _, names in os.walk(cache) for name in names)


def made(name, schema, journal, count=300, seed=1):
    """A cache with bodies of many sizes, whose large bodies are in files, and free pages in between."""
    choice = random.Random(seed)
    some = worlds.entries(count, choice, sizes=(0, 30, 700, 2_000, 3_900, 9_000, 30_000))
    # Some are fresh, most are stale, and some have no lifetime, so that orders differ.
    for entry in some:
        entry.headers = choice.choice([{"Cache-Control": "max-age=60"}, {"Cache-Control": "max-age=99999999"}, {}])
    return worlds.apple(path(name), some, schema=schema, journal=journal, churn=40)


class Served:
    """The caches of the table, each made once for all cases of a process."""

    caches = {}

    @classmethod
    def copy(cls, schema, journal):
        key = schema, journal
        if key not in cls.caches:
            folder = os.path.join(os.environ[scratch.MADE_UP], f"limits-{os.getpid()}-{schema}-{journal}")
            scratch_root, scratch.root = scratch.root, os.path.dirname(folder)
            cls.caches[key] = made(os.path.basename(folder), schema, journal)
            scratch.root = scratch_root
        return shutil.copytree(cls.caches[key], path(f"copy-{time.monotonic_ns()}"))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("schema", [202, 203])
def test_table(schema, order, thorough):
    """Equal columns: WAL and rollback; nobody, an idle reader, an open transaction and an earlier writer; five limits; three orders."""
    for share in (0.95, 0.8, 0.5, 0.25, 0.05) if thorough else (0.8, 0.25):
        rows = {}
        limit = round(Limits(Served.copy(schema, "wal")).in_use() * share)
        for journal in ("wal", "delete"):
            for who in ("nobody", "idle", "reading", "earlier"):
                cache = Served.copy(schema, journal)
                if who == "earlier":
                    # An app that has left its log behind, or that wrote just now.
                    worlds.crash(cache) if journal == "wal" else os.utime(os.path.join(cache, "Cache.db"))
                words = ["--max-size", str(limit), "--order", order]
                with worlds.Holder(cache, "nobody" if who == "earlier" else who):
                    if journal == "delete" and who == "reading":
                        # Nobody can write beside an open read transaction of a rollback journal.
                        dry = enforce(cache, *words, "--dry-run")[1]
                        before = worlds.contents(cache)
                        busy = worlds.run("enforce", "-c", cache, *words, "--yes", "--wait", "0s", status=75)
                        assert worlds.contents(cache) == before, busy
                        rows[journal, who] = [entry["id"] for entry in dry["entries"]]
                    else:
                        rows[journal, who] = removed(cache, *words)
                        assert enforce(cache, *words, "--yes", status=0)[1]["entries"] == [], "a second run removes more"
        assert len({tuple(ids) for ids in rows.values()}) == 1, {key: len(ids) for key, ids in rows.items()}
        if order == "oldest":
            expected = sorted(Limits(Served.copy(schema, "wal")).removed(limit))
            assert abs(len(expected) - len(rows["wal", "nobody"])) <= 1, (len(expected), rows)


def test_beside_a_writer():
    """Beside an app that stores all the time, what is removed is what the snapshot of that run says."""
    cache = made("beside", 203, "wal", 200)
    before = {number for number in worlds.contents(cache)}
    limit = Limits(cache).in_use() // 2
    expected = set(Limits(cache).removed(limit))
    with worlds.Holder(cache, "storing") as app:
        _, done = enforce(cache, "--max-size", str(limit), "--yes", status=0)
    gone = {entry["id"] for entry in done["entries"]}
    # What the app had stored before the snapshot makes room for itself: the oldest go for it, and nothing else.
    stored_before = done["in_use_before"] - Limits(worlds.apple(path("same"), [])).in_use()
    assert expected <= gone <= before and stored_before > 0, (len(expected), len(gone))
    assert not app.report["errors"] and gone == set(sorted(before)[:len(gone)]), app.report
    left = worlds.contents(cache)
    assert not gone & left.keys() and before - gone <= left.keys()
    assert done["in_use_after"] <= limit


def test_seven_nights(thorough):
    """Beside an app, the second to the seventh night remove nothing but what is new."""
    cache = made("nights", 203, "wal", 400)
    limit = Limits(cache).in_use() * 2 // 3
    with worlds.Holder(cache, "idle"):
        for night in range(7):
            if night in (3, 5):
                with worlds.connect(cache) as connection:
                    for entry in worlds.entries(10, random.Random(night), host=f"new{night}.example", newest=int(time.time())):
                        worlds.insert(connection, cache, entry)
            expected = Limits(cache, live=True).removed(limit)
            _, done = enforce(cache, "--max-size", str(limit), "--yes", status=0)
            assert abs(len(done["entries"]) - len(expected)) <= 1, (night, len(expected), done["removed"])
            assert (night in (0, 3, 5)) == bool(done["entries"]), (night, done["removed"])


@pytest.mark.parametrize("options", [("--schema", "202"), ("--schema", "203"), ("--schema", "203", "--no-large-bodies")])
@pytest.mark.parametrize("count", [200, 1_000])
def test_shares_are_close_to_a_rewritten_database(count, options):
    """The sum of all shares differs by at most 5% from the size after a rewrite, and is what the oracle says."""
    check_share(scratch.make("cache", *options, entries=count))


@pytest.mark.parametrize("seed", range(6))
def test_shares(seed):
    """The sum of all shares is what the oracle says, for bodies of any size, long URLs, other page sizes and schemas."""
    choice = random.Random(seed)
    sizes = choice.choice([(30, 2_000, 3_000), (0, 100), (3_900, 4_000, 50), (10_000, 60_000, 5), (500, 900, 1_500, 4_500, 20)])
    some = worlds.entries(choice.choice([40, 120, 1_000]), choice, sizes=sizes, path="/" + "long" * choice.choice([1, 30, 500]))
    check_share(worlds.apple(path("cache"), some, schema=choice.choice([25, 106, 202, 203]), page_size=choice.choice([1024, 4096])), None)


@samples.needed
def test_shares_of_real_caches():
    """The same holds for caches that Apple systems wrote."""
    for name in sorted(os.listdir(samples.folder("cachedb"))):
        version = re.match(r"schema-(\d+)", name)
        if not version or int(version.group(1)) < 25:
            continue
        cache = scratch.copy(os.path.join(samples.folder("cachedb"), name), "real")
        for parent, folders, names in os.walk(cache):
            for entry in folders + names:
                os.chmod(os.path.join(parent, entry), 0o700)
        if len(worlds.tables(cache)[0]) >= 40:
            check_share(cache)


def check_share(cache, tolerance=0.05):
    in_use = json.loads(worlds.run("usage", "-c", cache, "--format", "json", status=0).stdout)["in_use_bytes"]
    oracle = Limits(cache).in_use()
    assert abs(in_use - oracle) <= 0.005 * oracle + 64, (in_use, oracle)
    if tolerance is None:
        return
    connection = worlds.connect(cache)
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    files = sum(entry.stat().st_size for entry in os.scandir(os.path.join(cache, "fsCachedData")))
    rewritten = os.path.getsize(os.path.join(cache, "Cache.db")) + files
    assert abs(in_use - rewritten) <= tolerance * rewritten, (in_use, rewritten)


def test_shared_body_files():
    """A body file that two entries name is freed with the last of them; one that a kept entry or another database names is not."""
    some = worlds.entries(40, sizes=(20_000,))
    some[1].file = some[0].file = worlds.body_name("shared by 1 and 2")
    some[39].file = some[2].file = worlds.body_name("shared by 3 and 40")
    cache = worlds.apple(path("cache"), some)
    limits = Limits(cache)
    for count in (1, 2, 3, 4, 20):
        copy = scratch.copy(cache, "copy")
        assert removed(copy, "--max-size", str(limits.between(count))) == sorted(limits.removed(limits.between(count)))
        assert worlds.contents(copy).keys() == worlds.contents(cache).keys() - set(limits.removed(limits.between(count)))
        # The file of the newest entry stays as long as that entry does.
        assert os.path.exists(os.path.join(copy, "fsCachedData", some[39].file))


def test_low_and_orphans():
    """Orphans past the grace period go before entries, young ones neither count nor go; the low mark counts once a limit is exceeded."""
    cache = worlds.apple(path("cache"), worlds.entries(60))
    entries_only = Limits(cache).in_use()
    old = worlds.write_body(cache, worlds.body_name("old"), bytes(50_000), age=86_400)
    young = worlds.write_body(cache, worlds.body_name("young"), bytes(90_000))
    limits = Limits(cache)
    assert limits.in_use() == entries_only + 50_000
    # Without the orphan the limit is met, so no entry goes, whatever the low mark.
    copy = scratch.copy(cache, "copy")
    assert removed(copy, "--max-size", str(entries_only + 10), "--low", "50%") == []
    assert not os.path.exists(old.replace(cache, copy)) and os.path.exists(young.replace(cache, copy))
    # Within the limit, neither entries nor orphans go.
    copy = scratch.copy(cache, "copy")
    assert removed(copy, "--max-size", str(entries_only + 60_000), "--low", "1%") == [] and os.path.exists(old.replace(cache, copy))
    # Exceeded by entries: down to the low mark.
    copy = scratch.copy(cache, "copy")
    limit = round(entries_only * 0.9)
    gone = removed(copy, "--max-size", str(limit), "--low", "50%")
    assert len(gone) == len(limits.removed(limit // 2)) > len(limits.removed(limit)), gone
    assert removed(copy, "--max-size", str(limit), "--low", "50%") == []


def test_what_cannot_be_met():
    """A limit that all selected entries cannot reach removes nothing, orphans included, unless told to do what is possible."""
    cache = worlds.apple(path("cache"), worlds.entries(50))
    orphan = worlds.write_body(cache, worlds.body_name("old"), age=86_400)
    before = worlds.canary(cache)
    words = ["--max-size", str(Limits(cache).in_use() // 2), "--url", "https://a.example/1"]
    for mode in ("--dry-run", "--yes"):
        result, done = enforce(cache, *words[:2], "--prefix", "https://a.example/1", mode, status=1)
        assert done["entries"] == done["orphans"] == [] and done["unmet"][0]["limit"] == "max-size" and done["limit_met"] is False, done
        assert "would remain in use" in result.stderr and worlds.changes(before, worlds.canary(cache)) == {}, result
    _, done = enforce(cache, *words[:2], "--prefix", "https://a.example/1", "--yes", "--best-effort", status=1)
    assert {entry["id"] for entry in done["entries"]} == {1, *range(10, 20)} and not os.path.exists(orphan), done


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_space_is_returned(journal):
    """Beside an app in slices, else by a rewrite: what remains is reported, never paid for with entries, and is no failure."""
    cache = worlds.apple(path("cache"), worlds.entries(400, sizes=(500, 900, 1_500)), journal=journal, churn=300)
    in_use = Limits(cache).in_use()
    limit = round(in_use * 1.1)
    assert size(cache) > limit, "nothing is free"
    held, alone = scratch.copy(cache, "held"), scratch.copy(cache, "alone")
    with worlds.Holder(held, "idle"):
        result, done = enforce(held, "--max-size", str(limit), "--yes", status=0)
        assert done["entries"] == [] and done["limit_met"] is True, done
        with contextlib.closing(worlds.connect(held)) as connection:
            assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert (size(held) > limit) == ("are in use, but the files take" in result.stderr), result
    result, done = enforce(alone, "--max-size", str(limit), "--yes", status=0)
    assert done["entries"] == [] and size(alone) <= limit and done["footprint_after"] == size(alone), (done, size(alone))
    # Within the limit, nothing is rewritten.
    before = worlds.canary(alone)
    enforce(alone, "--max-size", str(limit), "--yes", status=0)
    assert worlds.changes(before, worlds.canary(alone)) == {}


def test_half_full_pages():
    """Deleted rows leave pages half full, which is no reason to remove more; with nobody there, a rewrite makes the files small."""
    cache = worlds.apple(path("cache"), worlds.entries(600, sizes=(300,)))
    with contextlib.closing(worlds.connect(cache)) as connection:
        for table in worlds.TABLES:
            connection.execute(f"DELETE FROM {table} WHERE entry_ID % 2")
    in_use = Limits(cache).in_use()
    with worlds.Holder(scratch.copy(cache, "held"), "idle"):
        assert removed(path("held"), "--max-size", str(in_use + 4_096)) == []
    assert removed(cache, "--max-size", str(round(in_use * 1.06))) == []
    assert size(cache) <= in_use * 1.06, (size(cache), in_use)


def test_capacity():
    """The capacity is compared with all files, as an app does, and what exceeds it is said; a limit on the space in use is met."""
    cache = worlds.apple(path("cache"), worlds.entries(400, sizes=(2_000, 3_000)), churn=300)
    with worlds.Holder(cache, "reading"):
        capacity = Limits(cache, live=True).in_use() + 8_192
        usage = json.loads(worlds.run("usage", "-c", cache, "--capacity", str(capacity), "--format", "json").stdout)
        assert usage["in_use_bytes"] < capacity < usage["footprint"]["total_bytes"] == size(cache), usage
        assert worlds.run("usage", "-c", cache, "--capacity", str(capacity), "--fail-above", "100%").returncode == 1
        result, done = enforce(cache, "--capacity", str(capacity), "--yes", status=0)
        assert done["entries"] == [] and "more than the capacity, with which URLCache compares the size on disk" in result.stderr, result


def test_minimum_free():
    """The file system is read once; free pages and the log count as available already."""
    with worlds.FullDisk(path("disk"), "24m") as disk:
        cache = worlds.apple(path("cache"), worlds.entries(300, sizes=(2_000, 3_000)), churn=900)
        inside = os.path.join(disk.seen, "cache")
        shutil.copytree(cache, inside)
        room = os.statvfs(disk.seen)
        with contextlib.closing(worlds.connect(cache)) as connection:
            free = connection.execute("PRAGMA freelist_count").fetchone()[0] * 4_096
        assert free > 500_000

        def run(wanted, *words):
            result = worlds.run("enforce", "-c", os.path.join(disk.folder, "cache"), "--min-free", str(wanted), *words, "--format", "json",
                                inside=disk.inside)
            return result, json.loads(result.stdout)

        available = room.f_bavail * room.f_frsize
        assert run(available + free // 2, "--yes")[1]["entries"] == []
        assert run(available + free + 400_000, "--dry-run")[1]["removed"]["entries"] > 0
        assert run(available * 2, "--yes")[1]["limit_met"] is False


# --- Drawn limits ----------------------------------------------------------------------------------------------------------

def pytest_generate_tests(metafunc):
    if "drawn" in metafunc.fixturenames:
        metafunc.parametrize("drawn", range(200 if metafunc.config.getoption("thorough") else 16))


def make(choice, kind):
    foundation = kind == "foundation"
    count, seed = choice.choice([20, 60, 150, 400]), choice.randrange(1 << 32)
    cache = scratch.make("cache", *["--format", "foundation"] * foundation, *choice.choice([[], ["--no-large-bodies"]]), entries=count, seed=seed)
    now = time.time()
    for age in choice.choice([[], [0], [86_400], [0, 86_400]]):
        for number in range(choice.choice([1, 4])):
            name = f"{TEMPORARY}{age}{number}.0" if foundation else \
                os.path.join("fsCachedData", "%08X-0000-0000-0000-%012d" % (0xA00 + age, number))
            with open(os.path.join(cache, name), "wb") as file:
                file.write(bytes(choice.choice([10, 5_000, 200_000, 1_500_000])))
            os.utime(os.path.join(cache, name), (now - age,) * 2)
    return cache


def drawn_limits(cache, choice):
    """Options, and what they limit."""
    whole, count = in_use(cache), entries(cache)
    words, most_bytes, most_entries = [], None, None
    if choice.random() < 0.8:
        most_bytes = int(whole * choice.choice([0, 0.005, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1, 1.1]))
        words += [choice.choice(["--max-size", "--capacity"]), str(most_bytes)]
    if choice.random() < 0.3 or not words:
        most_entries = int(count * choice.choice([0, 0.2, 0.5, 0.9, 1, 2]))
        words += ["--max-entries", str(most_entries)]
    for chance, options in [(0.15, [["--max-age", "1h"], ["--max-age", "300d"], ["--max-age", "10000d"]]),
                            (0.15, [["--max-entry-size", "0"], ["--max-entry-size", "2K"], ["--max-entry-size", "1G"]]),
                            (0.2, [["--low", "1%"], ["--low", "50%"], ["--low", "90%"]]), (0.15, [["--only-if-over"]]),
                            (0.3, [["--mime", "image/*"], ["--larger-than", "2K"], ["--prefix", "https://nowhere.example"], ["--smaller-than", "3K"]])]:
        words += choice.choice(options) if choice.random() < chance else []
    return words + ["--order", choice.choice(ORDERS)], most_bytes, most_entries


def in_use(cache):
    return Limits(cache).in_use()


def entries(cache):
    return len(worlds.contents(cache))


def bytes_of(cache):
    """What must not change where nothing is removed: all bytes but those of a log's index."""
    return {name: what for name, what in worlds.canary(cache).items() if not name.endswith("-shm")}


def test_drawn(drawn):
    """A limit that is met is met by what is left; of one that cannot be met nothing is removed; and a dry run says both."""
    choice = random.Random(drawn)
    kind = choice.choice(["alone", "crashed", "idle", "foundation"])
    cache = make(choice, kind)
    if kind == "crashed":
        worlds.crash(cache)
    words, most_bytes, most_entries = drawn_limits(cache, choice)
    best = choice.random() < 0.1
    words += ["--best-effort"] * best + ["--backup", path("backup.tar")] * (choice.random() < 0.15)
    what = f"seed {drawn}, {kind}, {' '.join(words)}"
    count = entries(cache)
    with worlds.Holder(cache, "idle" if kind == "idle" else "nobody"):
        before = bytes_of(cache)
        dry, planned = enforce(cache, *words, "--dry-run")
        assert bytes_of(cache) == before, what
        real, done = enforce(cache, *words, "--yes")
        left, now = in_use(cache), entries(cache)
        if real.returncode == 1 and not best:
            assert bytes_of(cache) == before and done["blocked_by"] and "so nothing was removed" in real.stderr, (what, done)
        if now:
            # An empty folder cannot be recognized as a cache any more.
            again = [word for word in words if not word.endswith("backup.tar") and word != "--backup"]
            assert enforce(cache, *again, "--yes")[1]["entries"] == [], what
    assert dry.returncode == real.returncode, (what, dry.stderr, real.stderr)
    for part in ("removed", "entries", "orphans", "kept", "unmet", "in_use_before", "in_use_after"):
        assert planned[part] == done[part], (what, part, planned[part], done[part])
    slack = 64 + (most_bytes or 0) // 200
    is_met = (most_bytes is None or left <= most_bytes + slack) and (most_entries is None or now <= most_entries)
    assert (done["limit_met"] is not False) == (real.returncode == 0), (what, done)
    # Only a limit of space needs the space in use.
    assert (done["in_use_after"] is None) == (most_bytes is None), (what, done)
    assert most_bytes is None or abs(done["in_use_after"] - left) <= slack + left // 200, (what, done["in_use_after"], left)
    if real.returncode == 0:
        assert is_met and done["unmet"] == [], (what, left, now, most_bytes, most_entries)
        assert count - now == sum(entry["reason"] != "orphan" for entry in done["entries"]), what
    else:
        assert done["unmet"], what
