"""Removes entries with `--secure`, and looks for them in the bytes of all files of the cache."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

import scratch
import worlds
from planted_entries import HOST, MARK, grep, plant, url
from products import REPOSITORY
from scratch import copy, path, run

VAULT = ["--host", HOST]


def make(name="cache", *options, entries=40):
    cache = scratch.make(name, *options, entries=entries, seed=11)
    return plant(cache)


def make_log(name):
    """A cache of a killed app, with all planted entries in a log that was never checkpointed."""
    live = make("live")
    connection = sqlite3.connect(os.path.join(live, "Cache.db"), isolation_level=None)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("UPDATE cfurl_cache_response SET storage_policy = 1 - storage_policy")
    shutil.copytree(live, path(name))
    connection.close()
    return path(name)


def make_rollback(name, mode):
    cache = make(name)
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    # A persistent journal keeps the pages as they were before this.
    connection.execute("UPDATE cfurl_cache_response SET storage_policy = 1 - storage_policy")
    connection.close()
    return cache


def rows(cache):
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    result = connection.execute("SELECT * FROM cfurl_cache_response JOIN cfurl_cache_blob_data USING (entry_ID) "
                                "JOIN cfurl_cache_receiver_data USING (entry_ID) ORDER BY entry_ID").fetchall()
    schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
    pragmas = [connection.execute(f"PRAGMA {name}").fetchone() for name in ["journal_mode", "auto_vacuum", "user_version"]]
    connection.close()
    return result, schema, pragmas


def others(cache):
    """All entries without secrets."""
    found, schema, pragmas = rows(cache)
    return [row for row in found if HOST not in (row[4] or "")], schema, pragmas


def secure(verb, cache, *options, status=0):
    words = [] if verb == "compact" else ["--yes"]
    return json.loads(run(verb, "-c", cache, "--secure", *words, "--format", "json", *options, status=status).stdout)


def recovered(cache):
    """What `recover` still finds, with header fields and user info, which an archive of it has."""
    output = run("recover", "-c", cache, "--versions", "--format", "ndjson").stdout
    run("recover", "-c", cache, "--versions", "-o", path("recovered.tar"), status=None)
    archive = scratch.read(path("recovered.tar")) if os.path.exists(path("recovered.tar")) else b""
    return [line for line in [*output.splitlines(), archive] if MARK in line]


STATES = {
    "closed": lambda name: make(name),
    "log": make_log,
    "delete": lambda name: make_rollback(name, "DELETE"),
    "persist": lambda name: make_rollback(name, "PERSIST"),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("verb", ["purge", "enforce", "apply", "compact"])
def test_nothing_is_left(state, verb):
    """After a secure removal, no file has anything of what was removed, and the other entries are as they were."""
    cache = STATES[state]("cache")
    before = others(copy(cache, "copy"))
    assert sum(grep(cache).values()) > 500
    for name, suffix in [("log", "wal"), ("persist", "journal")]:
        assert state != name or f"Cache.db-{suffix}" in grep(cache)
    options = {"purge": VAULT, "enforce": [*VAULT, "--max-age", "1min"], "compact": []}.get(verb)
    if verb == "apply":
        run("purge", "-c", cache, *VAULT, "--secure", "--plan", path("plan.json"))
        receipt = json.loads(run("apply", path("plan.json"), "--yes", "--format", "json").stdout)
    else:
        if verb == "compact":
            run("purge", "-c", cache, *VAULT, "--yes")
        receipt = secure(verb, cache, *options)
    assert grep(cache) == {} and recovered(cache) == []
    if verb != "compact":
        assert receipt["removed"]["entries"] == 120
        assert receipt["secure"]["texts"] >= 120 * 3
    result = receipt["secure"]
    assert result["complete"] and result["overwritten"] and not result["in_use"] and result["traces"] == 0, result
    assert result["files"] >= 2 and result["log_bytes"] == 0 and result["free_bytes"] == 0
    assert sorted(os.listdir(cache)) == ["Cache.db", "fsCachedData"]
    assert others(cache) == before


def test_plain_purge_leaves_traces():
    """What the other tests look for is there without `--secure`."""
    cache = make()
    run("purge", "-c", cache, *VAULT, "--yes")
    assert grep(cache) and recovered(cache)


@pytest.mark.parametrize("verb, options", [("purge", VAULT), ("enforce", ["--max-age", "900d"]), ("check", ["--repair"])])
def test_nothing_to_remove(verb, options):
    """A command that removes nothing changes nothing, and names the command that overwrites what earlier ones left."""
    cache = make()
    run("purge", "-c", cache, *VAULT, "--yes")
    run("check", "-c", cache, "--repair", "--yes", status=None)
    before = scratch.tree(cache)
    done = "nothing, because nothing {} removed; run 'compact --secure' to overwrite what earlier removals left behind\n"
    planned = run(verb, "-c", cache, *options, "--secure", "--dry-run", status=None).stdout.decode()
    assert "Would overwrite " + done.format("would be") in planned, planned
    if verb != "check":
        assert "Overwrote " + done.format("was") in run(verb, "-c", cache, *options, "--secure", "--yes").stdout.decode()
        result = secure(verb, cache, *options)["secure"]
        assert result["complete"] is None and result["overwritten"] is None and result["traces"] is None, result
    else:
        run(verb, "-c", cache, *options, "--secure", "--yes", status=None)
    assert scratch.tree(cache) == before
    assert secure("compact", cache)["secure"]["complete"] and grep(cache) == {}


def test_second_run_while_the_app_is_running_and_after():
    """What could not be overwritten while an app was running is overwritten by the same command later."""
    cache = make()
    with worlds.Holder(cache, "reading"):
        for _ in range(2):
            secure("purge", cache, *VAULT, status=3)
        assert len(os.listdir(path("state/urlcache-admin/intents"))) == 1
    planned = json.loads(run("purge", "-c", cache, *VAULT, "--secure", "-n", "--format", "json").stdout)["secure"]
    assert planned["complete"] is None
    receipt = secure("purge", cache, *VAULT)
    assert receipt["removed"]["entries"] == 0 and receipt["secure"]["complete"] and receipt["secure"]["texts"] > 0, receipt
    assert grep(cache) == {} and os.listdir(path("state/urlcache-admin/intents")) == []


def test_dry_run_and_receipt_for_people():
    cache = make()
    before = scratch.tree(cache)
    text = run("purge", "-c", cache, *VAULT, "--secure", "--dry-run").stdout.decode()
    assert "Would remove 120 of 160 entries" in text
    assert "Would overwrite removed body files, rewrite the database and its log, and search all files for traces\n" in text
    assert run("compact", "-c", cache, "--secure", "-n").stdout.decode().endswith("search all files for traces\n")
    planned = json.loads(run("purge", "-c", cache, *VAULT, "--secure", "-n", "--format", "json").stdout)["secure"]
    assert planned["complete"] is None and planned["traces"] is None
    assert scratch.tree(cache) == before
    text = run("purge", "-c", cache, *VAULT, "--secure", "--yes").stdout.decode()
    assert "Overwrote removed body files, and rewrote the database and its log\nVerified: found 0 traces of " in text, text
    assert "run 'compact'" not in text


def test_text_of_remaining_entry():
    """A text that another entry has, too, is no trace, and the receipt says so."""
    cache = make()
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    for number in (1, 2):
        connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = ? WHERE entry_ID = ?",
                           (b"See " + url(7).encode() + b" for more", number))
    connection.commit()
    connection.close()
    result = secure("purge", cache, *VAULT)["secure"]
    assert result["complete"] and result["texts_in_entries"] == 1 and result["entries_with_texts"] == 2, result
    assert set(grep(cache)) == {"Cache.db"}


@pytest.mark.parametrize("number", [5, 50])
def test_text_that_begins_in_one_value_and_ends_in_the_next(number):
    """A key that ends with "/1" is followed by a time that begins with "2", and in an index by the id 50, which is the digit "2"."""
    cache = scratch.make("cache", entries=60, seed=11)
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    for row, key in (number, "https://digits.example/items/1"), (7, "https://digits.example/items/12"):
        connection.execute("UPDATE cfurl_cache_response SET request_key = ? WHERE entry_ID = ?", (key, row))
    if number == 50:
        connection.execute("UPDATE cfurl_cache_response SET time_stamp = '1999-01-01 00:00:00' WHERE entry_ID = 50")
    # Bytes of a body with what is before them in its row.
    body = bytes(range(100, 163))
    for row, text in (number, body + b"." * 187), (7, b"\0" + body):
        connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = ? WHERE entry_ID = ?", (text, row))
    connection.commit()
    connection.close()
    result = secure("purge", cache, "--id", "7")["secure"]
    assert result["complete"] and result["texts_in_entries"] >= 2, result


def test_text_of_many_remaining_entries():
    """A text that many entries have is not looked for at each of its places, and the receipt says "at least"."""
    cache = make()
    other = make("other")
    for folder in cache, other:
        connection = sqlite3.connect(os.path.join(folder, "Cache.db"))
        connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = ? WHERE entry_ID <= 30",
                           (b"".join(b"See %s for more. " % url(number).encode() for number in (7, 8)),))
        connection.commit()
        connection.close()
    result = secure("purge", cache, *VAULT)["secure"]
    assert result["complete"] and result["texts_in_entries"] == 2 and result["entries_with_texts"] == 16, result
    text = run("purge", "-c", other, *VAULT, "--secure", "--yes").stdout.decode()
    assert "Not counted: 2 texts that are also in at least 16 entries that remain\n" in text, text


def test_frequent_trace():
    """A trace is counted up to 16 times in a file, and is then found in other files nonetheless."""
    cache = make()
    for name, count in [("a", 40), ("b", 1), ("c", 3)]:
        # The cache did not make files with such names, so nothing overwrites or removes them.
        with open(os.path.join(cache, "fsCachedData", name), "wb") as file:
            file.write(b" ".join([url(1).encode()] * count))
    result = secure("purge", cache, *VAULT, status=3)["secure"]
    places = {place["file"]: (place["traces"], place["offset"]) for place in result["places"]}
    assert places == {"fsCachedData/a": (16, 0), "fsCachedData/b": (1, 0), "fsCachedData/c": (3, 0)}, result


def test_trace_in_a_name():
    """A file that is named after a removed body file is a trace, even if it is empty."""
    cache = make()
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    (name,) = connection.execute("SELECT CAST(receiver_data AS TEXT) FROM cfurl_cache_receiver_data JOIN cfurl_cache_response "
                                 "USING (entry_ID) WHERE isDataOnFS AND request_key = ?", (url(3),)).fetchone()
    connection.close()
    scratch.write(os.path.join(cache, "fsCachedData", f"{name}.bak"), b"")
    result = secure("purge", cache, *VAULT, status=3)["secure"]
    assert result["places"] == [{"file": f"fsCachedData/{name}.bak", "traces": 1, "offset": 0}], result


def test_hard_link_is_not_overwritten():
    """A backup made of hard links keeps its body files, and the receipt names what was not overwritten."""
    cache = make()
    backup = path("backup")
    shutil.copytree(os.path.join(cache, "fsCachedData"), backup, copy_function=os.link)
    before = scratch.tree(backup)
    count = sum(MARK in scratch.read(os.path.join(backup, name)) for name in os.listdir(backup))
    result = secure("purge", cache, *VAULT, status=3)["secure"]
    assert scratch.tree(backup) == before
    assert result["linked_files"] == count and not result["complete"] and result["traces"] == 0, result
    assert grep(cache) == {}


def test_young_orphan():
    """A young orphan is kept, and may contain anything: the erasure is not complete, and says why. An old one is removed."""
    cache = make()
    worlds.write_body(cache, worlds.body_name(1), MARK)
    worlds.write_body(cache, worlds.body_name(2), MARK, age=3_600)
    result = secure("compact", cache, status=3)["secure"]
    assert result["kept_orphans"] == 1 and not result["complete"] and result["overwritten"], result
    worlds.write_body(cache, worlds.body_name(1), b"other", age=3_600)
    result = secure("compact", cache)["secure"]
    assert result["kept_orphans"] == 0 and result["complete"], result
    assert not any(os.path.exists(os.path.join(cache, "fsCachedData", worlds.body_name(number))) for number in (1, 2))


def test_trace_across_two_pieces():
    """Files are searched in pieces of 1 MiB; a text that begins in one and ends in the next is found, and found once."""
    cache = make()
    # The cache did not make a file with such a name, so nothing overwrites or removes it.
    other = os.path.join(cache, "fsCachedData", "copy.bin")
    # The first piece has 512 bytes more, so that a text can be found in one of two.
    offset = (1 << 20) + 512 - 10
    with open(other, "wb") as file:
        file.seek(offset)
        file.write(url(1).encode() + bytes(2 << 20))
    receipt = secure("purge", cache, *VAULT, status=3)["secure"]
    places = [place for place in receipt["places"] if place["file"].endswith("copy.bin")]
    assert [(place["traces"], place["offset"]) for place in places] == [(1, offset)], receipt


def test_body_files_are_overwritten():
    """A process that has a body file open finds zeros in it, so its blocks have nothing of it either."""
    cache = make()
    names = [name for name in grep(cache) if name.startswith("fsCachedData/")]
    files = [open(os.path.join(cache, name), "rb") for name in names]
    secure("purge", cache, *VAULT)
    assert len(files) == 54
    for file in files:
        assert not any(file.read())
        file.close()


@pytest.mark.parametrize("reads", [False, True])
def test_while_the_app_is_running(reads):
    """While an app is running, the receipt names the files with traces as `grep` does, and the command ends with 3."""
    cache = make()
    with worlds.Holder(cache, "reading" if reads else "idle"):
        assert secure("purge", cache, *VAULT, "--dry-run")["secure"]["in_use"]
        result = run("purge", "-c", cache, *VAULT, "--secure", "--yes", "--format", "json", status=3)
        receipt = json.loads(result.stdout)["secure"]
        assert receipt["in_use"] and not receipt["complete"] and not receipt["overwritten"]
        assert f"urlcache-admin compact --secure -c {cache}".encode() in result.stderr
        # Of what is in the files, the search looks for URLs, names and parts of bodies of the removed entries.
        urls = {name: 0 for name in [*os.listdir(cache)] if name != "fsCachedData"}
        for number in range(120):
            for name, count in grep(cache, url(number).encode()).items():
                urls[name] += count
        named = {place["file"]: place["traces"] for place in receipt["places"]}
        for name, count in urls.items():
            assert (count > 0) <= (name in named), (urls, named)
            assert named.get(name, 0) >= count, (urls, named)
        assert named.keys() <= grep(cache).keys() and receipt["traces"] == sum(named.values())
        if reads:
            # A reader keeps the log, in which all pages are as they were before.
            assert receipt["log_bytes"] == os.path.getsize(os.path.join(cache, "Cache.db-wal")) > 0
        else:
            assert receipt["log_bytes"] == os.path.getsize(os.path.join(cache, "Cache.db-wal")) == 0
            assert receipt["free_bytes"] == 0
        text = run("compact", "-c", cache, "--secure", status=3).stdout.decode()
        assert "May remain while another process has the cache open: " in text
    # The command that the hint names does the rest.
    result = secure("compact", cache)["secure"]
    assert result["complete"] and grep(cache) == {} and recovered(cache) == [], result


def test_beside_a_writer(thorough):
    """An app that stores responses meanwhile never finds the database busy, and does not wait long."""
    cache = make("live", "--no-large-bodies", entries=4_000)
    script = REPOSITORY / "Tests/Acceptance/support/insert_responses.py"
    with subprocess.Popen([sys.executable, script, os.path.join(cache, "Cache.db"), "8"],
                          stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "ready\n"
        while writer.poll() is None:
            receipt = secure("purge", cache, *VAULT, status=3)["secure"]
            assert writer.poll() is not None or receipt["in_use"], receipt
            break
        output = json.loads(writer.communicate(timeout=60)[0])
    assert output["stored"] > 10 and output["busy"] == 0 and output["longest_wait"] < (0.1 if thorough else 0.5), output
    assert secure("compact", cache)["secure"]["complete"] and grep(cache) == {}


def test_repair():
    """A repair with `--secure` overwrites the body files that no entry refers to, and what removed rows left."""
    cache = make()
    run("purge", "-c", cache, *VAULT, "--yes")
    assert grep(cache)
    receipt = json.loads(run("check", "-c", cache, "--repair", "--secure", "--yes", "--format", "json", status=None).stdout)
    assert receipt["repair"]["secure"]["complete"], receipt["repair"]["secure"]
    assert grep(cache) == {}
    run("check", "-c", cache, "--secure", status=64)


def test_setting():
    cache = make()
    scratch.write("config.toml", f'[caches.shop]\npath = "{cache}"\nsecure = true\n'.encode())
    config = ["--config", path("config.toml")]
    planned = run("purge", "-c", "shop", *config, *VAULT, "--no-secure", "-n", "--format", "json").stdout
    assert "secure" not in json.loads(planned)
    receipt = json.loads(run("purge", "-c", "shop", *config, *VAULT, "--yes", "--format", "json").stdout)
    assert receipt["secure"]["complete"] and grep(cache) == {}


def test_backup_is_noted():
    cache = make()
    result = run("purge", "-c", cache, *VAULT, "--secure", "--yes", "--backup", path("backup.tar"))
    assert b"contains the removed entries" in result.stderr and os.path.exists(path("backup.tar"))


def test_foundation():
    """Each file is overwritten under a name that Foundation ignores, and none is left."""
    cache = scratch.make("found", "--format", "foundation", entries=40)
    source = make("source")
    run("export", "-c", source, "-o", path("planted.tar"), *VAULT)
    run("import", path("planted.tar"), "-c", cache)
    kept = {name: scratch.read(os.path.join(cache, name)) for name in os.listdir(cache)
            if MARK not in scratch.read(os.path.join(cache, name))}
    planted = [name for name in os.listdir(cache) if name not in kept]
    assert len(planted) == 120
    files = [open(os.path.join(cache, name), "rb") for name in planted]
    receipt = secure("purge", cache, *VAULT)
    assert receipt["removed"]["entries"] == 120 and receipt["secure"]["complete"], receipt["secure"]
    assert grep(cache) == {} and receipt["secure"]["files"] == len(kept)
    assert {name: scratch.read(os.path.join(cache, name)) for name in os.listdir(cache)} == kept
    for file in files:
        assert not any(file.read())
        file.close()
    assert secure("compact", cache)["secure"]["files"] == len(kept)
