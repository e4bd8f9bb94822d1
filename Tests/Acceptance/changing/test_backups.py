"""Takes back what each command has changed, from its backup, and compares dry runs with real ones."""

import json
import os
import plistlib
import re
import resource
import shlex
import signal
import sqlite3
import subprocess

import pytest

import origin
import scratch
from origin import Origin
from products import maker, tool
from scratch import digests, path

TABLES = ["response", "blob_data", "receiver_data"]


def run(*words, status=0, **options):
    result = subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL, **options)
    assert status is None or result.returncode == status, (words, result)
    return result


def change(cache, *statements):
    with sqlite3.connect(os.path.join(cache, "Cache.db")) as database:
        for statement in statements:
            assert database.execute(statement).rowcount > 0, statement
    database.close()


def rows(cache):
    """All rows of the three tables; the body in place of the name of its file, which no archive has. No other file is there."""
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    database.text_factory = bytes
    found = [database.execute(f"SELECT *, rowid FROM cfurl_cache_{table} ORDER BY entry_ID").fetchall() for table in TABLES]
    names = [column[1] for column in database.execute("PRAGMA table_info(cfurl_cache_receiver_data)")]
    database.close()
    folder, named = os.path.join(cache, "fsCachedData"), set()
    for index, row in enumerate(found[2]):
        if row[names.index(b"isDataOnFS")] > 0:
            name = row[names.index(b"receiver_data")]
            named.add(name.decode())
            file = os.path.join(folder, name.decode())
            found[2][index] = [scratch.read(file) if value == name else value for value in row]
    assert set(os.listdir(folder)) == named
    return found


def ids_in(archive):
    return [entry["id"] for entry in json.loads(run("list", "-c", archive, "--format", "json").stdout)["entries"]]


def differing(before, after):
    """The ids of entries that are not as they were."""
    old, new = ({row[0]: [tuple(row)] for row in table} for table in (before[0], after[0]))
    for table, rest in zip(before[1:], after[1:]):
        for row in table:
            old.setdefault(row[0], []).append(tuple(row))
        for row in rest:
            new.setdefault(row[0], []).append(tuple(row))
    return sorted(id for id in old if old[id] != new.get(id))


def restore(result, backup, cache, *, replacing):
    """Runs the command that the note names, as it is there."""
    note = re.search(r"note: backed up ([0-9,]+) (?:entry|entries) to '(.*)'; restore with: urlcache-admin (import .*)\n", result.stderr.decode())
    assert note and note[2] == backup, result
    words = shlex.split(note[3])
    assert words[:2] == ["import", backup] and os.path.samefile(words[3], cache), words
    assert (words[4:] == ["--on-conflict", "replace"]) == replacing and (words[4:] == []) != replacing, words
    run(*words, *(["--yes"] if replacing else []), cwd="/")
    return int(note[1].replace(",", ""))


def check_way_back(cache, words, *, replacing, status=0, changed=None):
    """A command with a backup, and what is restored from it; a dry run before it says the same and changes nothing."""
    before, files, backup = rows(cache), digests(cache), path("backup.tar.zst")
    dry = run(*words, "-n", "--backup", backup, "--format", "json", status=None)
    assert digests(cache) == files and not os.path.exists(backup), dry
    result = run(*words, "--yes", "--backup", backup, "--format", "json", status=status)
    after = rows(cache)
    lost = differing(before, after)
    assert lost and (changed is None or len(lost) == changed), lost
    # Nothing else is in it.
    assert ids_in(backup) == lost
    assert os.stat(backup).st_mode & 0o777 == 0o600
    there = scratch.read(backup)
    # What the dry run said is what happened; the sizes of files that SQLite has written since are others.
    wet, dry = json.loads(result.stdout), json.loads(dry.stdout)
    assert dry.pop("dry_run") is True and wet.pop("dry_run") is False
    for receipt in (wet, dry):
        receipt.pop("footprint_after", None)
    assert dry == wet
    assert restore(result, backup, cache, replacing=replacing) == len(lost)
    assert rows(cache) == before
    # It is never written a second time.
    files = digests(cache)
    run(*words, "--yes", "--backup", backup, status=73)
    assert digests(cache) == files and scratch.read(backup) == there


@pytest.fixture
def base():
    base = origin.start()
    # All dates are the same, so that a second answer is like the first.
    Origin.now = 1_790_000_000
    yield base
    Origin.now = None


def from_origin(base, names):
    origin.make_apple(maker, path("cache"), list(origin.stored_entries(base, names)))
    return path("cache")


NAMES = [name for name in origin.STORED if name not in ("slow", "drop", "garbage")]


def test_revalidate_refresh(base):
    """Entries that a server has confirmed, changed or completed come back as they were."""
    cache = from_origin(base, NAMES + list(origin.CUT))
    words = ["revalidate", "-c", cache, "--all", "--refresh", "--resume", "--purge-gone"]
    check_way_back(cache, words, replacing=True, status=3)


def test_revalidate_purge(base):
    """Entries that a server has no more, or others of, come back."""
    cache = from_origin(base, NAMES)
    check_way_back(cache, ["revalidate", "-c", cache, "--all", "--purge-gone", "--purge-changed"], replacing=False, status=3)


def test_revalidate_broken_entries(base):
    """A dry run does not promise to refresh what cannot be written anew."""
    cache = from_origin(base, ["etag", "large", "changed", "404", "modified", "weak"])
    change(cache, f"UPDATE cfurl_cache_response SET request_key = NULL WHERE request_key = '{base}etag'")
    change(cache, f"UPDATE cfurl_cache_response SET request_key = NULL WHERE request_key = '{base}changed'")
    with sqlite3.connect(os.path.join(cache, "Cache.db")) as database:
        (id, blob), = database.execute("SELECT entry_ID, response_object FROM cfurl_cache_blob_data JOIN cfurl_cache_response USING (entry_ID) "
                                       "WHERE request_key = ?", [base + "weak"])
        response = plistlib.loads(blob)
        response["Array"][3] = "no number"
        database.execute("UPDATE cfurl_cache_blob_data SET response_object = ? WHERE entry_ID = ?",
                         [plistlib.dumps(response, fmt=plistlib.FMT_BINARY), id])
    database.close()
    check_way_back(cache, ["revalidate", "-c", cache, "--all", "--refresh", "--purge-gone"], replacing=True, status=3, changed=3)


@pytest.mark.parametrize("schema", ["202", "203"])
def test_import(schema):
    """Entries that an import has replaced come back under their own ids, wherever the archive had them."""
    cache = scratch.make("cache", "--schema", schema, entries=60, seed=5)
    other = scratch.copy(cache, "other")
    for table in TABLES:
        change(other, f"UPDATE cfurl_cache_{table} SET entry_ID = -entry_ID",
               # Each has the id of another one, and some have ids that the cache does not have yet.
               f"UPDATE cfurl_cache_{table} SET entry_ID = (-entry_ID * 7) % 61 + CASE WHEN entry_ID % 9 = 0 THEN 100 ELSE 0 END")
    change(other, "UPDATE cfurl_cache_blob_data SET user_info = x'00' WHERE entry_ID % 3 > 0",
           "UPDATE cfurl_cache_response SET time_stamp = '2030-01-01 00:00:00' WHERE entry_ID % 5 = 0")
    check_way_back(cache, ["import", other, "-c", cache, "--on-conflict", "replace"], replacing=True)


def test_import_that_adds():
    """A backup has what an import replaced, and not what it added, which stays."""
    cache, more = scratch.make("cache", entries=30, seed=5), scratch.copy(scratch.made_up((), 30, 5), "more")
    change(cache, *[f"DELETE FROM cfurl_cache_{table} WHERE entry_ID % 4 = 0" for table in TABLES])
    folder = os.path.join(cache, "fsCachedData")
    for file in os.listdir(folder):
        # Younger files are no orphans yet.
        os.utime(os.path.join(folder, file), (1_700_000_000,) * 2)
    run("check", "-c", cache, "--repair", "--yes", status=None)
    change(more, "UPDATE cfurl_cache_blob_data SET user_info = x'00' WHERE entry_ID % 2 = 0")
    for table in TABLES:
        change(more, f"UPDATE cfurl_cache_{table} SET entry_ID = 1000 - entry_ID")
    before, backup = rows(cache), path("backup.tar")
    result = run("import", more, "-c", cache, "--on-conflict", "replace", "--yes", "--backup", backup)
    after = rows(cache)
    assert ids_in(backup) == differing(before, after)
    restore(result, backup, cache, replacing=True)
    there = rows(cache)
    for table in range(3):
        assert [row for row in there[table] if row[0] in {row[0] for row in before[0]}] == before[table]
    assert len(there[0]) == 30
    # With nothing to replace there is nothing to back up.
    run("import", more, "-c", path("new"), "--backup", path("none.tar"))
    run("import", more, "-c", cache, "--on-conflict", "skip", "--backup", path("none.tar"))
    assert not os.path.exists(path("none.tar"))


def with_user_info(count=40):
    entries = []
    for number in range(count):
        info = {"Cached Date": 700_000_000.0 + number, "other": f"{number}"} if number % 3 else {"Cached Date": 1.0} if number % 2 else None
        body = origin.LARGE_BODY if number % 5 == 0 else b"x" * number
        entries.append((f"https://a.example/{number}", 200, {"ETag": '"1"'}, body, {}, info))
    origin.make_apple(maker, path("cache"), entries)
    return path("cache")


def test_expire():
    """The dates that were cleared come back."""
    cache = with_user_info()
    words = ["expire", "-c", cache, "--all", "--clear-user-info", "Cached Date"]
    check_way_back(cache, words, replacing=True)


def test_expire_without_a_key():
    """An entry that an import could not replace is not expired with a backup, nor is any other."""
    cache = with_user_info(9)
    change(cache, "UPDATE cfurl_cache_response SET request_key = NULL WHERE entry_ID = 3")
    before, words = rows(cache), ["expire", "-c", cache, "--all", "--clear-user-info", "Cached Date", "--yes"]
    result = run(*words, "--backup", path("b.tar"), status=1)
    assert b"cannot back up 1 of the selected entries, so nothing was changed: " in result.stderr, result
    assert rows(cache) == before and not os.path.exists(path("b.tar"))
    run(*words)
    assert differing(before, rows(cache))


@pytest.mark.parametrize("schema", ["202", "203"])
def test_apply(schema):
    """What a plan removes comes back."""
    cache, plan = scratch.make("cache", "--schema", schema, entries=60, seed=9), path("plan.json")
    run("purge", "-c", cache, "--larger-than", "2K", "--plan", plan)
    words = ["apply", plan]
    before, backup = rows(cache), path("backup.zip")
    dry = run(*words, "-n", "--backup", backup, "--format", "json")
    result = run(*words, "--yes", "--backup", backup, "--format", "json")
    assert json.loads(dry.stdout)["entries"] == json.loads(result.stdout)["entries"]
    assert ids_in(backup) == differing(before, rows(cache)) != []
    restore(result, backup, cache, replacing=False)
    assert rows(cache) == before
    run(*words, "--yes", "--backup", backup, status=73)
    assert rows(cache) == before


def test_foundation(base):
    """A Foundation cache gets its files back, byte for byte, after a refresh, a removal and an import."""
    source, cache = from_origin(base, NAMES), path("org.swift.foundation.URLCache")
    run("import", source, "-c", cache, "--create", "foundation")
    contents = lambda: sorted(scratch.read(os.path.join(cache, name)) for name in os.listdir(cache))
    before = contents()
    for number, (options, replacing) in enumerate([(["--refresh"], True), (["--purge-gone", "--purge-changed"], False)]):
        backup = path(f"{number}.tar")
        result = run("revalidate", "-c", cache, "--all", *options, "--yes", "--backup", backup, status=3)
        assert contents() != before
        restore(result, backup, cache, replacing=replacing)
        assert contents() == before, options
    change(source, "UPDATE cfurl_cache_receiver_data SET receiver_data = 'other' WHERE isDataOnFS = 0 AND entry_ID % 2 = 0")
    result = run("import", source, "-c", cache, "--on-conflict", "replace", "--yes", "--backup", path("3.tar"), status=None)
    assert contents() != before
    restore(result, path("3.tar"), cache, replacing=True)
    assert contents() == before


def every_verb(base):
    """Each command that takes a backup, with a cache that it would change."""
    cache = from_origin(base, ["etag", "404", "changed"])
    change(cache, "UPDATE cfurl_cache_blob_data SET user_info = (SELECT user_info FROM cfurl_cache_blob_data WHERE user_info IS NOT NULL)")
    other, plan = scratch.copy(cache, "other"), path("plan.json")
    change(other, "UPDATE cfurl_cache_blob_data SET user_info = x'00'")
    if not os.path.exists(plan):
        run("purge", "-c", cache, "--all", "--plan", plan)
    return cache, [
        ["revalidate", "-c", cache, "--all", "--refresh"], ["revalidate", "-c", cache, "--all", "--purge-gone"],
        ["import", other, "-c", cache, "--on-conflict", "replace"], ["expire", "-c", cache, "--all", "--clear-user-info", "app"], ["apply", plan]]


def limited():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))


@pytest.mark.parametrize("words", [
    ["purge", "--host", "nowhere.example"], ["purge", "--host", "nowhere.example", "--secure"], ["enforce", "--max-entries", "1000"],
    ["check", "--repair"], ["expire", "--clear-user-info", "none", "--all"]], ids=" ".join)
def test_backup_of_nothing(words):
    """A command that removes nothing writes no backup, and says so and nothing else about it."""
    cache, file = scratch.make("nothing"), path("none.tar")
    result = run(words[0], "-c", cache, *words[1:], "--yes", "--backup", file)
    notes = [line for line in result.stderr.decode().splitlines() if "backup" in line]
    assert notes == [f"note: no entry was removed or changed, so no backup was written to '{file}'"], result
    assert not os.path.exists(file)
    dry = run(words[0], "-c", cache, *words[1:], "--dry-run", "--backup", file)
    assert b"backup" not in dry.stderr, dry


def test_backups_that_cannot_be_written(base):
    """Where the backup cannot be created, nothing is requested and nothing changed; where it does not fit, nothing is changed."""
    cache, verbs = every_verb(base)
    before, files = rows(cache), digests(cache)
    with open(path("there.tar"), "w"):
        pass
    os.symlink(path("nowhere.tar"), path("link.tar"))
    for words in verbs:
        Origin.asked.clear()
        for name, status in [("there.tar", 73), ("link.tar", 73), ("none/x.tar", 73), ("there.tar/x.tar", 73), ("x.har", 64), ("x", 64),
                             ("cache/fsCachedData/x.tar", 64)]:
            result = run(*words, "--yes", "--backup", path(name), status=status)
            assert digests(cache) == files and b"error: " in result.stderr, (words, result)
        assert not Origin.asked, words
        for name in ["there.tar", "link.tar"]:
            run(*words, "--dry-run", "--backup", path(name), status=73)
        assert os.path.getsize(path("there.tar")) == 0 and not os.path.exists(path("nowhere.tar"))
        result = run(*words, "--yes", "--backup", path("cut.tar"), status=None, preexec_fn=limited)
        assert result.returncode in (73, 74) and rows(cache) == before, (words, result)
        assert not any(name.startswith("cut.tar") for name in os.listdir(scratch.root)), os.listdir(scratch.root)
    run("revalidate", "-c", cache, "--all", "--backup", path("x.tar"), status=64)


def test_backups_that_lack_an_entry(base):
    """If an entry cannot be in the backup, nothing is changed."""
    for index in range(5):
        cache, verbs = every_verb(base)
        with open(os.path.join(cache, "fsCachedData", "00000000-0000-4000-8000-000000000000"), "wb") as file:
            file.truncate(1 << 42)
        change(cache, "UPDATE cfurl_cache_receiver_data SET isDataOnFS = 1, receiver_data = '00000000-0000-4000-8000-000000000000' "
               "WHERE entry_ID = (SELECT entry_ID FROM cfurl_cache_response WHERE request_key LIKE '%404')" if index == 1 else
               "UPDATE cfurl_cache_receiver_data SET isDataOnFS = 1, receiver_data = '00000000-0000-4000-8000-000000000000' "
               "WHERE entry_ID = (SELECT entry_ID FROM cfurl_cache_response WHERE request_key LIKE '%etag')")
        with sqlite3.connect(os.path.join(cache, "Cache.db")) as database:
            before = [database.execute(f"SELECT * FROM cfurl_cache_{table}").fetchall() for table in TABLES]
            result = run(*verbs[index], "--yes", "--backup", path("sparse.tar"), status=1)
            assert b"cannot back up 1 of the selected entries, so nothing was " in result.stderr, result
            assert [database.execute(f"SELECT * FROM cfurl_cache_{table}").fetchall() for table in TABLES] == before
        database.close()
        assert not os.path.exists(path("sparse.tar"))
        for name in ["cache", "other"]:
            subprocess.run(["rm", "-r", path(name), path("plan.json")], capture_output=True)
