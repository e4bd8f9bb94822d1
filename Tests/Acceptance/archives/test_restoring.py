"""Exports caches, imports them into new ones without options, and compares both: a backup is a whole one."""

import glob
import json
import os
import plistlib
import shutil
import sqlite3
import subprocess

import pytest

import scratch
from products import tool
from scratch import make, path, run, tree

def differences(first, second):
    """What 'diff' says: how many entries differ, and how many are the same."""
    result = subprocess.run([tool, "diff", first, second, "--format", "json"], capture_output=True, stdin=subprocess.DEVNULL)
    found = json.loads(result.stdout)
    return result.returncode, len(found["differences"]), found["same"]


def round_trip(cache, ending="tar"):
    """From a cache to an archive to a new cache, without options."""
    archive, new = path(f"trip.{ending}"), path("new")
    shutil.rmtree(new, ignore_errors=True)
    run("export", "-c", cache, "-o", archive, "--force")
    result = run("import", archive, "-c", new)
    status, count, same = differences(cache, new)
    assert (status, count) == (0, 0), (cache, status, count)
    assert same == int(run("list", "-c", cache, "--count").stdout), (cache, same)
    # Once more changes nothing.
    before = tree(new)
    run("import", archive, "-c", new)
    assert tree(new) == before, cache
    return new, result.stdout.decode()


def kind(cache):
    description = json.loads(run("list", "-c", cache, "--limit", "0", "--format", "json").stdout)["cache"]
    return description["format"], description["schema_version"]


def test_apple_caches(cachedb, thorough):
    """A cache as Apple systems write it comes back as it was, whatever its schema is."""
    tried = 0
    for folder in sorted(glob.glob(os.path.join(cachedb, "*"))):
        cache = scratch.copy(folder, "real")
        if not os.path.basename(folder).startswith("schema-"):
            run("export", "-c", cache, "-o", path("none.tar"), status=65)
            continue
        for ending in ["tar", "zip"] if thorough else [["tar", "zip"][tried % 2]]:
            new, said = round_trip(cache, ending)
        schema = kind(cache)[1]
        assert kind(new) == ("apple", schema if schema in (202, 203) else 203), (folder, kind(new))
        assert f"into a new Apple cache (schema {kind(new)[1]})" in said, said
        tried += 1
    assert tried


FAULTS = ["--faults", "missing-bodies,undecodable,orphan-files"]


@pytest.mark.parametrize(("options", "expected"), [
    ([], "Apple"), (["--schema", "202"], "Apple"), (["--no-large-bodies"], "Apple"), (FAULTS, "Apple"), (["--schema", "202", *FAULTS], "Apple"),
    (["--format", "foundation"], "Foundation")], ids=["apple", "202", "small", "faults", "202 faults", "foundation"])
def test_made_up_caches(options, expected, thorough):
    """A cache that was exported and imported is the same again, whatever the kind of archive is."""
    for seed in range(1, (11 if expected == "Foundation" else 6) if thorough else 2):
        cache = scratch.copy(scratch.made_up(tuple(options), 60, seed), "cache")
        new, said = round_trip(cache, ["tar", "tar.zst", "tar.gz", "zip"][(seed + len(options)) % 4])
        if expected == "Apple":
            assert kind(new) == kind(cache) and f"60 of 60 entries into a new Apple cache (schema {kind(cache)[1]})" in said, (seed, said)
        else:
            assert kind(new) == ("foundation", None) and "60 of 60 entries into a new Foundation cache;" in said, (seed, said)


def rows(cache):
    """The rows of the three tables, without the names of body files."""
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    database.text_factory = bytes
    found = [database.execute(f"SELECT * FROM cfurl_cache_{table} ORDER BY entry_ID").fetchall() for table in ["response", "blob_data"]]
    found.append(database.execute(
        "SELECT entry_ID, isDataOnFS, CASE WHEN isDataOnFS > 0 THEN 1 ELSE receiver_data END FROM cfurl_cache_receiver_data "
        "ORDER BY entry_ID").fetchall())
    database.close()
    return found


def test_broken_entries():
    """What is broken in a cache is restored as it was: a backup is not the place for a repair."""
    cache = make("broken", entries=40, seed=9)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    for sql in ["DELETE FROM cfurl_cache_response WHERE entry_ID = 3", "DELETE FROM cfurl_cache_blob_data WHERE entry_ID = 4",
                "DELETE FROM cfurl_cache_receiver_data WHERE entry_ID = 5",
                "DELETE FROM cfurl_cache_response WHERE entry_ID = 40", "DELETE FROM cfurl_cache_blob_data WHERE entry_ID = 40",
                "UPDATE cfurl_cache_response SET request_key = NULL WHERE entry_ID IN (6, 7, 8)",
                "UPDATE cfurl_cache_response SET request_key = CAST(x'68747470733A2F2FFF' AS TEXT) WHERE entry_ID = 9",
                "UPDATE cfurl_cache_response SET partition = 'https://top.example' WHERE entry_ID = 10",
                "UPDATE cfurl_cache_response SET partition = CAST(x'FF00FF' AS TEXT) WHERE entry_ID = 11",
                "UPDATE cfurl_cache_blob_data SET response_object = NULL WHERE entry_ID = 12",
                "UPDATE cfurl_cache_blob_data SET request_object = x'00FF' WHERE entry_ID = 13",
                "UPDATE cfurl_cache_blob_data SET user_info = 'a text' WHERE entry_ID = 14",
                "UPDATE cfurl_cache_blob_data SET user_info = 17 WHERE entry_ID = 15",
                "UPDATE cfurl_cache_receiver_data SET receiver_data = NULL, isDataOnFS = 0 WHERE entry_ID = 16",
                "UPDATE cfurl_cache_receiver_data SET receiver_data = 'none', isDataOnFS = 0 WHERE entry_ID = 17",
                "UPDATE cfurl_cache_receiver_data SET receiver_data = '00000000-0000-4000-8000-000000000000', isDataOnFS = 1 "
                "WHERE entry_ID = 18",
                "UPDATE cfurl_cache_response SET storage_policy = NULL, version = 'x', hash_value = NULL WHERE entry_ID = 19"]:
        assert database.execute(sql).rowcount > 0, sql
    database.commit()
    database.close()
    new, _ = round_trip(cache)
    assert rows(new) == rows(cache)
    findings = lambda cache: sorted((item["code"], item["id"]) for item in json.loads(subprocess.run(
        [tool, "check", "-c", cache, "--format", "json"], capture_output=True).stdout)["findings"] if item["id"] != "none")
    # Body files that rows do not name any more are not in an archive.
    assert findings(new) == [item for item in findings(cache) if item[0] not in ("orphan-body-file", "young-body-file")], (findings(new), findings(cache))


def make_sources():
    return make("source", "--schema", "202", entries=30, seed=4), make("source-folder", "--format", "foundation", entries=30, seed=4)


@pytest.mark.parametrize("ending", ["tar.zst", "zip", "har", "warc.gz", "wacz"])
def test_standard_input(ending):
    """An archive can come from standard input, and leaves no temporary file."""
    cache, archive = make_sources()[0], path(f"input.{ending}")
    run("export", "-c", cache, "-o", archive)
    results = []
    for words, input in [([archive], b""), (["-"], scratch.read(archive))]:
        new = path(f"new{len(results)}")
        result = subprocess.run([tool, "import", *words, "-c", new, "--format", "json"], input=input, capture_output=True)
        results.append((result.returncode, json.loads(result.stdout)["entries"], rows(new)))
    assert results[0] == results[1] and len(results[0][1]) == 30
    assert not os.listdir(path("temporary"))
    # HARs, WARCs and WACZs hold other methods than GET, which URLCache never answers.
    others = sum(entry["action"] == "other-method" for entry in results[0][1])
    assert results[0][0] == (3 if others else 0) and (others > 0) == (ending not in ["tar.zst", "zip"]), others
    assert kind(path("new0")) == ("apple", 202 if others == 0 else 203)


@pytest.mark.parametrize("input", [b"", b"nothing of the kind"], ids=["empty", "other"])
def test_no_archive(input):
    """A standard input that is no archive is refused, and no cache is made."""
    result = subprocess.run([tool, "import", "-", "-c", path("none")], input=input, capture_output=True)
    assert result.returncode == 65 and result.stderr.startswith(b"error: 'standard input': not an archive") and not os.path.exists(path("none")), result


def test_caches_as_sources():
    """Another cache can be imported as it is, or converted."""
    cache, folder = make_sources()
    for number, (first, options, expected) in enumerate([
            (cache, [], ("apple", 202)), (os.path.join(cache, "Cache.db"), ["--create", "apple"], ("apple", 203)),
            (folder, [], ("foundation", None)), (folder, ["--create", "apple"], ("apple", 203))]):
        new, before = path(f"copy{number}"), tree(first) if os.path.isdir(first) else {}
        result = json.loads(run("import", first, "-c", new, *options, "--format", "json").stdout)
        assert result["created"] is True and result["added"]["entries"] == 30 and result["archive"]["format"] == kind(first)[0], result
        assert differences(first, new)[:2] == (0, 0) and kind(new) == expected, (first, kind(new))
        assert not os.path.isdir(first) or tree(first) == before
    # From an Apple cache a Foundation one takes what it can, and counts the rest.
    result = json.loads(run("import", cache, "-c", path("converted"), "--create", "foundation", "--format", "json", status=3).stdout)
    assert result["rejected"]["entries"] > 0 and result["added"]["entries"] + result["rejected"]["entries"] + result["skipped"]["entries"] == 30


def test_destinations():
    """Where there is no cache, one is made; but not in a folder that holds something else."""
    apple, foundation = path("to-apple.tar"), path("to-foundation.tar")
    run("export", "-c", make("to-apple", "--schema", "202", entries=9), "-o", apple)
    run("export", "-c", make("to-foundation", "--format", "foundation", entries=9), "-o", foundation)
    os.mkdir(path("empty"))
    os.mkdir(path("full"))
    open(path("full/notes.txt"), "w").close()
    os.makedirs(path("org.swift.foundation.URLCache"))
    for archive, place, found, expected in [
            (apple, "new1", "new1", ("apple", 202)), (apple, "new2/", "new2", ("apple", 202)), (apple, "new3/Cache.db", "new3", ("apple", 202)),
            (apple, "empty", "empty", ("apple", 202)), (foundation, "new4", "new4", ("foundation", None)),
            (foundation, "new5/Cache.db", "new5", ("apple", 203)),
            (foundation, "org.swift.foundation.URLCache/app", "org.swift.foundation.URLCache/app", ("foundation", None))]:
        shown = run("import", archive, "-c", path(place), "-n").stdout.decode()
        assert shown.startswith("Would import 9 of 9 entries into a new "), shown
        assert not os.path.exists(path(found)) or found == "empty" and not os.listdir(path(found))
        result = json.loads(run("import", archive, "-c", path(place), "--format", "json").stdout)
        assert result["created"] is True and result["cache"]["path"] == path(found), result["cache"]
        assert kind(path(found)) == expected == (result["cache"]["format"], result["cache"]["schema_version"]), (place, result["cache"])
        again = json.loads(run("import", archive, "-c", path(place), "--format", "json").stdout)
        assert again["created"] is False and again["unchanged"]["entries"] == 9
    before = tree(scratch.root)
    for place, status in [("full", 65), ("full/Cache.db", 66), ("full/notes.txt", 65), ("none/of/these", 73)]:
        run("import", apple, "-c", path(place), status=status)
    assert tree(scratch.root) == before


@pytest.mark.parametrize(("options", "words"), [
    ([], ["purge", "--all"]), (["--format", "foundation"], ["purge", "--all"]), ([], ["enforce", "--max-entries", "7"]),
    (["--format", "foundation"], ["enforce", "--max-entries", "7"]), (["--faults", "undecodable"], ["check", "--repair=undecodable"])],
    ids=["purge", "purge of Foundation", "enforce", "enforce of Foundation", "check"])
def test_backup(options, words):
    """The command that the note after '--backup' shows restores all that is gone."""
    cache = make("it's $HOME", *options, entries=30, seed=len(options))
    copy = scratch.copy(cache, "copy of it")
    ids = sorted(entry["id"] for entry in json.loads(run("list", "-c", cache, "--format", "json", "--columns", "id").stdout)["entries"])
    # The name of the archive is relative, and the command is run elsewhere.
    result = subprocess.run([tool, *words, "-c", os.path.basename(cache), "--backup", 'a "b".tar.zst', "--yes"],
                            capture_output=True, cwd=scratch.root)
    assert result.returncode in (0, 1 if words[0] == "check" else 0), result
    note = next(line for line in result.stderr.decode().splitlines() if "restore with: " in line)
    command = note.split("restore with: ")[1]
    assert command.startswith("urlcache-admin import '/") and tree(cache) != tree(copy), note
    subprocess.run(["sh", "-c", command.replace("urlcache-admin", f"'{tool}'", 1)], check=True, capture_output=True, cwd="/")
    assert differences(copy, cache)[:2] == (0, 0), (words, differences(copy, cache))
    back = sorted(entry["id"] for entry in json.loads(run("list", "-c", cache, "--format", "json", "--columns", "id").stdout)["entries"])
    assert back == ids
