"""Runs `recover` where it finds more than it keeps in memory, and where there is no room for what it finds."""

import collections
import json
import os
import resource
import sqlite3

import pytest

import scratch
from recovery import measured, recover
from scratch import path, run

COUNT = 20_000
TABLES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]


def removed(name, where, checkpoint=False):
    """A cache of many entries from which an app removed some, as a killed process leaves it."""
    live = scratch.make(f"live-{name}", "--tiny", entries=COUNT)
    database = sqlite3.connect(os.path.join(live, "Cache.db"), isolation_level=None)
    for pragma in ["journal_mode = WAL", "wal_autocheckpoint = 0", "secure_delete = OFF"]:
        database.execute(f"PRAGMA {pragma}").fetchall()
    shown = dict(database.execute("SELECT entry_ID, request_key FROM cfurl_cache_response"))
    for table in TABLES:
        database.execute(f"DELETE FROM {table} WHERE {where}")
    if checkpoint:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    left = dict(database.execute("SELECT entry_ID, request_key FROM cfurl_cache_response"))
    cache = scratch.copy(live, name)
    database.close()
    return cache, {number: url for number, url in shown.items() if number not in left}



@pytest.mark.parametrize("where", ["entry_ID > 10", "entry_ID % 4 = 0"])
def test_each_of_many_removed_entries_is_listed_once(where):
    cache, urls = removed("removed", where)
    found = recover(cache, "--columns", "id,key,confidence")
    ids = [entry["id"] for entry in found]
    assert ids == sorted(set(ids))
    assert {entry["id"]: entry["key"] for entry in found if entry["id"] <= COUNT} == urls
    # Of the index over keys, there are remains with other keys.
    assert len(ids) - len(urls) < COUNT / 1000
    assert {entry["confidence"] for entry in found} >= {"complete"}


def test_ids_that_are_overwritten_belong_to_the_rows_with_their_url():
    """In free blocks, SQLite has overwritten the ids of rows, but not those in the index over keys."""
    cache, urls = removed("removed", "entry_ID % 4 = 0", checkpoint=True)
    found = recover(cache, "--columns", "id,key,url,confidence")
    ids = [entry["id"] for entry in found]
    assert ids == sorted(set(ids))
    keys = collections.Counter(entry["key"] for entry in found)
    assert set(keys.values()) == {1}
    assert len(set(keys) & set(urls.values())) > len(urls) / 2
    owners = {url: number for number, url in urls.items()}
    # Of some entries, no id is left; they have numbers above the others.
    assert any(owners.get(entry["key"]) == entry["id"] for entry in found)


def test_memory_does_not_grow_with_what_is_found():
    """The rows of 20,000 entries would take 40 MB."""
    amounts = []
    for entries in 1_000, COUNT:
        cache = scratch.make(f"cache-{entries}", "--tiny", entries=entries)
        result, memory = measured(cache, "--damaged", "--format", "csv", "--columns", "id,confidence,found")
        assert len(result.stdout.splitlines()) == entries + 1, result.stderr
        amounts.append(memory)
    assert amounts[1] < amounts[0] + (12 << 20), amounts


@pytest.mark.parametrize("room", [1 << 16, 1 << 21])
def test_without_room_nothing_is_listed(room):
    """A list that ends where the temporary files are full would look whole."""
    cache = scratch.make("cache", "--tiny", entries=COUNT)
    before = scratch.digests(cache)
    for options in ["--damaged"], ["--damaged", "--versions"], ["--damaged", "-o", path("found.tar")]:
        # Python itself ignores the signal that this sends.
        result = run("recover", "-c", cache, *options, status=74, restore_signals=False,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
        assert result.stdout == b""
        assert result.stderr.decode() == (
            f"error: cannot keep temporary data in '{path('temporary')}': File too large\n"
            "hint: set TMPDIR to a folder with more room: TMPDIR=FOLDER\n")
        assert not os.path.exists(path("found.tar"))
    os.makedirs(path("sqlite"))
    result = run("recover", "-c", cache, "--damaged", status=74, restore_signals=False, env={**os.environ, "SQLITE_TMPDIR": path("sqlite")},
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    assert result.stderr.decode() == (
        f"error: cannot keep temporary data in '{path('sqlite')}': File too large\n"
        "hint: set SQLITE_TMPDIR to a folder with more room: SQLITE_TMPDIR=FOLDER\n")
    error = json.loads(run("recover", "-c", cache, "--damaged", "--format", "json", status=74, restore_signals=False,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))).stderr)
    assert (error["code"], error["path"]) == (74, path("temporary")), error
    assert scratch.digests(cache) == before
