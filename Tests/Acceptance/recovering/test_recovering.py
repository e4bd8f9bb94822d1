"""Runs `recover` with its options, and while an app changes the cache."""

import collections
import json
import os
import random
import sqlite3
import subprocess
import time

import pytest

import histories
import samples
import scratch
import small_pages
from products import tool
from recovery import archived, make, recover, stored
from scratch import path, run


def test_versions_are_listed_on_request_only():
    history = histories.History(path("live"), 5, schema=203, vacuum=0, journal="WAL")
    urls = [f"https://a.example/{number}" for number in range(3)]
    for url in urls + urls + urls[:1]:
        history.store(url)
    history.remove(urls[2])
    cache = history.kill(path("cache"))
    assert [entry["url"] for entry in recover(cache)] == urls[2:]
    versions = collections.Counter(entry["url"] for entry in recover(cache, "--versions"))
    assert versions == {urls[0]: 2, urls[1]: 1, urls[2]: 2}
    (entry,) = recover(cache, "--columns", "all")
    assert entry["confidence"] == ("body-missing" if history.versions[-2]["file_is_lost"] else "complete")
    assert entry["found"].startswith("log frame ") or entry["found"].startswith("database")
    assert recover(cache, "--confidence", "only-url") == []
    assert recover(cache, urls[0], status=1) == []
    assert [entry["url"] for entry in recover(cache, urls[2])] == urls[2:]
    assert [entry["url"] for entry in recover(cache, "--host", "b.example")] == []


def test_a_row_that_stays_as_it_is_belongs_to_later_versions():
    """Storing again leaves the row of the key as it is; other entries write its page meanwhile."""
    history = histories.History(path("live"), 5, schema=203, vacuum=0, journal="WAL")
    first, *others = [f"https://a.example/{number}" for number in range(5)]
    for url in [first, *others, first, others[0], first]:
        history.store(url)
    times = [version["stored"] for version in history.versions if version["url"] == first]
    history.remove(first)
    (newest,) = recover(history.kill(path("cache")), first, "--columns", "id,stored,first-stored")
    assert newest["id"] == 1
    assert histories.seconds(newest["first_stored"]) == int(times[0]) and stored(newest) == int(times[-1])


def test_an_entry_in_the_body_of_another_is_none():
    """The pages of a long body that belongs to a row are not searched for rows, whichever of them comes first."""
    inner = scratch.make("inner", "--tiny", entries=100)
    body = scratch.read(os.path.join(inner, "Cache.db"))
    outer = scratch.make("outer", "--no-large-bodies", entries=20)
    with sqlite3.connect(os.path.join(outer, "Cache.db")) as database:
        urls = {url for (url,) in database.execute("SELECT request_key FROM cfurl_cache_response")}
        database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = ? WHERE entry_ID = 7", (body,))
    assert {entry["key"] for entry in recover(outer, "--damaged", "--versions", "--columns", "key")} == urls


def test_formats_agree():
    _, cache = make(1, transactions=4)
    count = len(recover(cache))
    assert count > 3
    document = json.loads(run("recover", "-c", cache, "--format", "json").stdout)
    assert document["schema"] == "urlcache-admin.recover/1"
    assert len(document["entries"]) == document["shown"] == count
    table = run("recover", "-c", cache)
    assert len(table.stdout.splitlines()) == count + 1
    assert f"{count} entries found".encode() in table.stderr
    assert len(run("recover", "-c", cache, "--format", "csv").stdout.splitlines()) == count + 1
    assert len(run("recover", "-c", cache, "--format", "urls").stdout.splitlines()) == count
    assert len(recover(cache, "--limit", "2")) == 2


def test_a_header_as_long_as_its_page():
    """The body of a record can begin after the part of the record that is in its page."""
    origin = scratch.make("origin", entries=5)
    with sqlite3.connect(os.path.join(origin, "Cache.db")) as database:
        (response,) = database.execute("SELECT response_object FROM cfurl_cache_blob_data WHERE entry_ID = 5").fetchone()
    small_pages.write(path("small"), response)
    (entry,) = recover(path("small"), "--damaged", "--uncertain-bodies")
    assert entry["confidence"] == "body-missing", entry


@pytest.mark.parametrize("name", ["Cache.db", "Cache.db-wal", "Cache.db-journal"])
def test_a_file_that_is_one_large_hole(name):
    """A sparse file of 1 TiB ends at once, and everything before and after its hole is found."""
    history, cache = make(15, transactions=8, schema=203, journal="PERSIST" if name.endswith("journal") else "WAL")
    removed = recover(cache, "--versions")
    findings = run("audit", "-c", cache, "--json", status=None).stdout
    file = os.path.join(cache, name)
    os.truncate(file, 1 << 40)
    assert removed and recover(cache, "--versions") == removed
    assert {entry["url"] for entry in recover(cache, "--damaged")} >= set(history.now)
    remains = [[finding for finding in json.loads(text)["findings"]] for text in (findings, run("audit", "-c", cache, "--json", status=None).stdout)]
    assert remains[0] == remains[1]


def test_a_journal_with_one_page_again_and_again():
    """A journal in which each entry claims to be of another transaction, all for one page, takes no quadratic time."""
    database = path("Cache.db")
    connection = sqlite3.connect(database)
    connection.executescript("PRAGMA page_size = 512; PRAGMA journal_mode = PERSIST; CREATE TABLE cfurl_cache_response(entry_ID INTEGER "
                             "PRIMARY KEY, version INTEGER, hash_value INTEGER, storage_policy INTEGER, request_key TEXT UNIQUE, "
                             "time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP, partition TEXT)")
    connection.close()
    entry = (2).to_bytes(4, "big") + bytes(512)
    scratch.write(f"{database}-journal", bytes(512) + b"".join(entry + number.to_bytes(4, "big") for number in range(60_000)))
    assert run("recover", "-c", database, "--damaged", "--format", "ndjson", timeout=60).stdout == b""


def test_nothing_to_recover_is_no_failure():
    history = histories.History(path("live"), 1, journal="DELETE", vacuum=0)
    history.store("https://a.example/")
    assert recover(history.kill(path("cache"))) == []
    result = run("recover", path("cache"), "-o", path("found.tar"), status=1)
    assert result.stderr.decode() == (
        f"note: nothing was written to '{path('found.tar')}', because no entry was found\n"
        "note: searched the database, its log and its journal. 'purge' and 'enforce' overwrite the rows that they delete, "
        "and new entries use the space of old ones\n"
        "note: if the database is damaged, add '--damaged' to look for all entries, not only for removed ones\n")
    assert not os.path.exists(path("found.tar"))


def test_what_is_no_cache_is_refused():
    with open(path("other.db"), "wb") as file:
        file.write(random.Random(1).randbytes(100_000))
    for options in [], ["--damaged"]:
        run("recover", "-c", path("other.db"), *options, status=65)
    run("recover", "-c", path("absent"), status=66)
    _, cache = make(1, transactions=2)
    run("recover", "-c", cache, "-o", path("found.har"), status=64)
    run("recover", "-c", cache, "-o", path("found.tar"))
    run("recover", "-c", cache, "-o", path("found.tar"), status=73)
    run("recover", "-c", path("found.tar"), status=64)


def test_a_foundation_cache_has_no_removed_entries():
    scratch.make("foundation", "--format", "foundation", entries=2)
    result = run("recover", "-c", path("foundation"), status=64)
    assert b"keeps no removed entries" in result.stderr


def test_an_archive_of_recovered_entries_is_read_like_any_other():
    _, cache = make(1, transactions=5, journal="WAL")
    entries = [entry for entry, _ in archived(cache)]
    assert len(entries) > 3
    number = str(json.loads(run("list", "-c", path("found.tar"), "--format", "json").stdout)["entries"][0]["id"])
    run("show", "-c", path("found.tar"), number)
    run("explain", "-c", path("found.tar"), number, status=None)
    lost = [number for number, (_, body) in enumerate(archived(cache), start=1) if body is None]
    receipt = json.loads(run("import", path("found.tar"), "-c", path("new"), "--create", "apple", "--json", status=3).stdout)
    assert lost and [entry["number"] for entry in receipt["entries"] if entry["action"] == "lost-body"] == lost, receipt
    assert receipt["lost_body"] == {"entries": len(lost), "body_bytes": 0}, receipt
    again = json.loads(run("list", "-c", path("new"), "--format", "json").stdout)["entries"]
    assert {entry["url"] for entry in again} == {entry["url"] for entry, body in archived(cache) if body is not None}
    run("diff", path("found.tar"), path("new"), "--bodies", status=None)


@pytest.mark.parametrize("checkpoints", [False, True])
def test_a_live_writer_is_not_disturbed(checkpoints, thorough):
    """While an app stores and removes entries, `recover` reads one state or says that it could not, and the app never waits."""
    history = histories.History(path("live"), 3, schema=203, vacuum=2, journal="WAL").run(10 if thorough else 2)
    longest = 0
    for _ in range(20 if thorough else 1):
        # A pipe that nobody reads would be full before the program ends.
        with open(path("output"), "wb") as file:
            process = subprocess.Popen([tool, "recover", "-c", path("live"), "--format", "ndjson", "--versions"], stdout=file,
                                       stderr=subprocess.PIPE)
        count = 0
        while process.poll() is None:
            start = time.monotonic()
            history.transaction()
            longest = max(longest, time.monotonic() - start)
            if checkpoints:
                # It moves pages to the database, also some that are being read.
                history.database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            count += 1
            # Without a limit, the writer of a slow machine would never let it end.
            time.sleep(0.02 if count < 10 else 0.5)
        _, errors = process.communicate()
        output = scratch.read(path("output"))
        assert process.returncode == 0 or checkpoints and process.returncode == 75 and b"changed" in errors, errors
        written = {(version["url"], int(version["stored"])) for version in history.versions}
        for line in output.splitlines():
            entry = json.loads(line)
            assert entry["confidence"] == "only-url" or (entry["url"], stored(entry)) in written, entry
    assert longest < 1
    assert history.database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_check_points_to_recover():
    history, cache = make(2, schema=203, journal="DELETE")
    with open(os.path.join(cache, "Cache.db"), "r+b") as file:
        file.seek(4096 * 3)
        file.write(bytes(range(256)) * 64)
    result = run("check", "-c", cache, status=1)
    assert b"urlcache-admin recover --damaged " in result.stderr, result


@pytest.mark.parametrize("sample", samples.each(lambda name: name.startswith("schema-")), indirect=True)
def test_apple_caches(sample):
    """Each entry that is recovered from a cache as Apple systems write it has a URL, a time and a status, and is none that SQLite shows."""
    cache = scratch.copy(sample, "cache")
    shown = {entry["url"] for entry in json.loads(run("list", "-c", cache, "--format", "json").stdout)["entries"]}
    versions = recover(cache, "--versions", "--columns", "key,url,stored,status,confidence,found")
    for entry in versions:
        if entry["confidence"] == "only-url":
            assert "://" in entry["key"], entry
        else:
            assert entry["url"].startswith("http") and 100 <= entry["status"] < 600 and "2008" <= entry["stored"] < "2027", entry
    if versions:
        assert shown.isdisjoint(entry["url"] for entry in recover(cache))
