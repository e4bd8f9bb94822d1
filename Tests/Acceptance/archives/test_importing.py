"""Imports archives, good and hostile ones, and looks at what is there then with `sqlite3`."""

import datetime
import glob
import json
import os
import plistlib
import re
import shutil
import sqlite3
import stat
import subprocess
import tarfile

import pytest

import hostile_archives
import peers
import scratch
from products import tool
from scratch import copy, export, in_parallel, make, own, path, peak_of, read, run, tree, write

# Some archives have a name twice on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name")
FORMATS = ["tar", "tar.zst", "tar.gz", "zip"]


@pytest.fixture
def origin():
    return make("origin", entries=60)


def members(archive):
    with tarfile.open(archive) as file:
        return [(info.name, file.extractfile(info).read()) for info in file]


def stored(cache):
    """All columns of all entries with the bytes of the bodies, by sqlite3; the names of body files left out."""
    database = sqlite3.connect(glob.glob(os.path.join(cache, "*.db"))[0])
    database.text_factory = bytes
    database.row_factory = sqlite3.Row
    assert database.execute("PRAGMA integrity_check").fetchone()[0] == b"ok"
    entries, files = {}, set()
    for table in ["response", "blob_data", "receiver_data"]:
        for row in database.execute(f"SELECT * FROM cfurl_cache_{table}"):
            entries.setdefault(row["entry_ID"], {}).update({key: row[key] for key in row.keys()})
    for entry in entries.values():
        if entry["isDataOnFS"] > 0:
            files.add(entry["receiver_data"].decode())
            with open(os.path.join(cache, "fsCachedData", entry["receiver_data"].decode()), "rb") as file:
                entry["receiver_data"] = file.read()
    database.close()
    folder = os.path.join(cache, "fsCachedData")
    orphans = set(os.listdir(folder) if os.path.isdir(folder) else []) - files
    return entries, orphans


def source_lines_apart(one, other):
    """The two archives without the line that names the source, and the line of its digest."""
    def rest(archive):
        found = []
        for name, data in members(archive):
            if name == "urlcache-archive.json":
                data = b"\n".join(line for line in data.split(b"\n") if not line.startswith(b'"source":'))
            if name == "SHA256SUMS":
                data = b"\n".join(line for line in data.split(b"\n") if not line.endswith(b"  urlcache-archive.json"))
            found.append((name, data))
        return found
    return rest(one) == rest(other)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("options", [["--schema", "203"], ["--schema", "202"], ["--no-large-bodies"]], ids=["203", "202", "small"])
def test_round_trip(options, format):
    """A new cache has all columns and bodies of the archive, and nothing else; the same import once more changes nothing."""
    cache, new = make("made", *options), path("new")
    archive = export(cache, f"made.{format}")
    run("import", archive, "-c", new, "--create", "apple", "--schema", options[1] if len(options) == 2 else "203")
    assert stored(new) == (stored(cache)[0], set())
    assert read(export(new, "again.tar")) == read(export(cache, "first.tar"))
    assert sorted(os.listdir(new)) == ["Cache.db", "fsCachedData"]
    before = tree(new)
    run("import", archive, "-c", new)
    assert tree(new) == before


def test_round_trip_of_apple_caches(cachedb):
    """The same holds for caches as Apple systems write them; of other schemas only the line that names the source differs."""
    for folder in sorted(glob.glob(os.path.join(cachedb, "schema-*"))):
        if "schema-01" in folder:
            continue
        cache, new = copy(folder, "real"), path("new")
        shutil.rmtree(new, ignore_errors=True)
        archive = export(cache, "real.tar")
        schema = "202" if "schema-202" in folder else "203"
        run("import", archive, "-c", new, "--create", "apple", "--schema", schema)
        assert stored(new)[0] == stored(cache)[0] and not stored(new)[1], folder
        again = export(new, "again.tar")
        same = read(again) == read(archive)
        assert same if "schema-20" in folder and "201" not in folder else source_lines_apart(again, archive), folder
        run("list", "-c", new)


@pytest.mark.parametrize("version", ["202", "203"])
def test_schema(version):
    """A new cache has the schema that CFNetwork gives one, which is that of the made-up caches."""
    made, new = make(f"schema{version}", "--schema", version, entries=1), path(f"newschema{version}")
    run("import", export(made, "schema.tar"), "-c", new, "--create", "apple", "--schema", version)
    databases = [sqlite3.connect(os.path.join(cache, "Cache.db")) for cache in [made, new]]
    for sql in ["SELECT type, name, tbl_name, sql FROM sqlite_master", "PRAGMA user_version", "PRAGMA auto_vacuum",
                "PRAGMA page_size", "PRAGMA journal_mode", "SELECT * FROM sqlite_sequence"]:
        first, second = (database.execute(sql).fetchall() for database in databases)
        assert first == second, (sql, first, second)
    for database in databases:
        database.close()


def change(cache, id, time=None):
    """Stores an entry again, with another body and another time."""
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    on_disk, body = database.execute("SELECT isDataOnFS, receiver_data FROM cfurl_cache_receiver_data WHERE entry_ID = ?",
                                     (id,)).fetchone()
    if on_disk:
        os.unlink(os.path.join(cache, "fsCachedData", body))
    database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = x'00' WHERE entry_ID = ?", (id,))
    if time:
        database.execute("UPDATE cfurl_cache_response SET time_stamp = ? WHERE entry_ID = ?", (time, id))
    database.commit()
    database.close()


@pytest.fixture
def archive(origin):
    return export(origin, "archive.tar.zst")


@pytest.mark.parametrize(("rule", "older", "newer"), [("skip", False, False), ("replace", True, True), ("newer", True, False)],
                         ids=["skip", "replace", "newer"])
def test_conflicts(origin, archive, rule, older, newer):
    """Of entries that are in both the rule decides, and an entry is replaced only with confirmation."""
    whole, _ = stored(origin)
    with_file = next(id for id, entry in whole.items() if entry["isDataOnFS"])
    cache = path("cache")
    run("import", archive, "-c", cache, "--create", "apple")
    # What the cache has is older for one, newer for another, and as old for a third, which counts as newer, and a fourth is gone.
    change(cache, 5, "1999-01-01 00:00:00")
    change(cache, 6, "2040-01-01 00:00:00")
    change(cache, 7)
    run("purge", "-c", cache, str(with_file), "--yes")
    before, _ = stored(cache)
    planned = json.loads(run("import", archive, "-c", cache, "--on-conflict", rule, "-n", "--format", "json").stdout)
    assert stored(cache)[0] == before
    if older or newer:
        # What is replaced is gone, and so nothing is without a word.
        before_asking = tree(cache)
        result = run("import", archive, "-c", cache, "--on-conflict", rule, status=64)
        assert tree(cache) == before_asking
        count = "3 entries" if newer else "1 entry"
        assert result.stderr.decode() == (
            f"error: {count} in the cache would be replaced; cannot ask for confirmation: standard input is not a terminal\n"
            "hint: preview with '--dry-run', then replace with: urlcache-admin import "
            f"{archive} -c {cache} --on-conflict {rule} --yes\n"), result
    done = json.loads(run("import", archive, "-c", cache, "--on-conflict", rule, "--yes", "--format", "json").stdout)
    assert done.pop("dry_run") is False and planned.pop("dry_run") is True and done == planned, (done, planned)
    after, orphans = stored(cache)
    assert not orphans and len(after) == 60
    for id, entry in after.items():
        wanted = before[id] if (id == 5 and not older) or (id in (6, 7) and not newer) else whole[id]
        assert entry == wanted, (rule, id)
    assert done["added"]["entries"] == 1 and done["replaced"]["entries"] == older + 2 * newer
    assert done["skipped"]["entries"] == 3 - older - 2 * newer and done["unchanged"]["entries"] == 56


def test_conflicts_as_errors(archive):
    """With '--on-conflict error' an import changes nothing if a different entry is there."""
    cache = path("rule-error")
    run("import", archive, "-c", cache, "--create", "apple")
    change(cache, 5)
    run("purge", "-c", cache, "7", "--yes")
    before = tree(cache)
    result = run("import", archive, "-c", cache, "--on-conflict", "error", status=1)
    assert tree(cache) == before and b"a different entry" in result.stderr, result


def test_replaced_body_files(origin, archive):
    """The body file of an entry that is replaced is removed, and only that."""
    whole, _ = stored(origin)
    cache = path("replaced-file")
    run("import", archive, "-c", cache, "--create", "apple")
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    database.execute("UPDATE cfurl_cache_response SET time_stamp = '1999-01-01 00:00:00'")
    database.commit()
    database.close()
    run("import", archive, "-c", cache, "--on-conflict", "replace", "-y")
    assert stored(cache) == (whole, set())
    # With nothing to replace there is nothing to ask.
    run("import", archive, "-c", cache, "--on-conflict", "replace")


def test_numbers_that_are_taken(origin, archive):
    """An entry whose number belongs to another key gets another number."""
    whole, _ = stored(origin)
    cache = make("others", entries=5, seed=99)
    others, _ = stored(cache)
    run("import", archive, "-c", cache)
    after, orphans = stored(cache)
    assert not orphans and len(after) == 65 and all(after[id] == entry for id, entry in others.items())
    by_key = {entry["request_key"]: entry for entry in after.values()}
    for id, entry in whole.items():
        there = dict(by_key[entry["request_key"]])
        assert {**there, "entry_ID": id} == entry


def test_selections(origin):
    """Only selected entries are imported, and entries without their bodies are not."""
    archive = export(origin, "selections.tar")
    cache = path("selected")
    run("import", archive, "3", "5", "99", "-c", cache, "--create", "apple", status=1)
    assert sorted(stored(cache)[0]) == [3, 5]
    run("import", archive, "-c", cache, "--mime", "image/*")
    whole, _ = stored(origin)
    images = {entry["id"] for entry in json.loads(
        run("list", "-c", origin, "--mime", "image/*", "--format", "json", "--columns", "id").stdout)["entries"]}
    assert set(stored(cache)[0]) == images | {3, 5} and images
    bare = export(origin, "bare.tar", "--bodies", "none")
    before = tree(cache)
    result = run("import", bare, "-c", cache, status=3)
    assert tree(cache) == before and b"the archive was written without bodies" in result.stdout, result


def test_missing_bodies():
    """What is missing in a cache is missing in one that is made of its archive."""
    faulty = make("faulty", "--faults", "missing-bodies,undecodable,orphan-files")
    missing = sum(entry["notes"] != [] and entry["body_location"] == "missing" for entry in json.loads(
        run("list", "-c", faulty, "--format", "json", "--columns", "body-location,notes").stdout)["entries"])
    run("import", export(faulty, "faulty.tar"), "-c", path("fromfaulty"), "--create", "apple")
    again = sum(entry["body_location"] == "missing" for entry in json.loads(
        run("list", "-c", path("fromfaulty"), "--format", "json", "--columns", "body-location").stdout)["entries"])
    assert 0 < missing == again, (missing, again)


def test_rewriting():
    """`--map-host` changes hosts, and `--stamp-user-info` attaches the time of the import."""
    cache, new = make("hosts", entries=20, seed=31), path("hosts-new")
    archive = export(cache, "hosts.tar")
    old, _ = stored(cache)
    hosts = sorted({key["request_key"].decode().split("/")[2] for key in old.values()})
    words = ["import", archive, "-c", new, "--create", "apple", "--map-host", f"{hosts[0]}=mapped.example:99", "--stamp-user-info", "seeded"]
    run(*words, "-n")
    assert not os.path.exists(new)
    result = json.loads(run(*words, "--format", "json").stdout)
    found, orphans = stored(new)
    assert not orphans and found.keys() == old.keys() and result["added"]["entries"] == 20
    for id, entry in found.items():
        key = old[id]["request_key"].decode()
        host = key.split("/")[2]
        expected = key.replace(host, "mapped.example:99", 1) if host == hosts[0] else key
        assert entry["request_key"].decode() == expected
        assert next(item for item in result["entries"] if item["number"] == id)["url"].split("/")[2] == expected.split("/")[2]
        for column, place in [("response_object", 0), ("request_object", 1)]:
            values = [plistlib.loads(data[column])["Array"] for data in (old[id], entry)]
            url = values[0][place]["_CFURLString"]
            assert values[1][place]["_CFURLString"] == (url.replace(host, "mapped.example:99", 1) if host == hosts[0] else url)
            assert values[0][place + 1:] == values[1][place + 1:]
        assert (entry["hash_value"] == old[id]["hash_value"]) == (host != hosts[0])
        info = plistlib.loads(entry["user_info"])
        assert list(info) == ["seeded"] and abs((datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None) - info["seeded"]).total_seconds()) < 600
    findings = lambda cache: sorted(item["code"] for item in json.loads(subprocess.run(
        [tool, "check", "-c", cache, "--format", "json"], capture_output=True).stdout)["findings"])
    assert findings(new) == findings(cache)
    assert json.loads(run("list", "-c", new, "--age-basis", "user-info:seeded", "--newer-than", "1h", "--format", "json").stdout)["shown"] == 20
    folder = path("hosts-folder")
    run("import", archive, "-c", folder, "--create", "foundation", "--map-host", f"{hosts[0]}=mapped.example", "--stamp-user-info", "seeded")
    assert json.loads(run("list", "-c", folder, "--age-basis", "user-info:seeded", "--newer-than", "1h", "--format", "json").stdout)["shown"] == 20
    # Entries that come to have one key are a conflict.
    many = sum((["--map-host", f"{host}=one.example"] for host in hosts), [])
    keys = {key["request_key"].decode().replace(key["request_key"].decode().split("/")[2], "one.example", 1) for key in old.values()}
    run("import", archive, "-c", path("hosts-one"), "--create", "apple", *many)
    assert len(stored(path("hosts-one"))[0]) == len(keys)
    for bad in ["a", "=b", "a=", "a=b/c", "a=b=c"]:
        run("import", archive, "-c", new, "--map-host", bad, status=64)


@pytest.mark.parametrize("kind", ["apple", "foundation"])
def test_missing_parent(archive, kind):
    """The folder above a new cache must be there, whichever kind of cache it is."""
    result = run("import", archive, "-c", path("none/new"), "--create", kind, "--yes", status=73)
    assert result.stderr.decode() == (f"error: cannot create a cache at '{path('none/new')}': No such file or directory\n"
                                      "hint: give a new or empty folder with '-c'\n")


def test_refusals(origin):
    """A refused import changes nothing, and makes nothing."""
    archive = export(origin, "refusals.tar")
    cache = path("selected")
    run("import", archive, "3", "5", "-c", cache, "--create", "apple")
    before = tree(scratch.root)
    run("import", archive, "-c", cache, "--create", "apple", status=73)
    run("import", archive, "-c", path("no/where"), status=73)
    run("import", archive, "-c", scratch.root, status=65)
    run("import", archive, "-c", path("no/Cache.db"), "-n")
    run("import", path("nowhere.tar"), "-c", cache, status=66)
    run("import", archive, "-c", archive, status=64)
    run("purge", "-c", archive, "3", "--yes", status=64)
    run("import", archive, "-c", path("nowhere"), "--create", "apple", "--archive-limit", "entries=10", status=65)
    run("import", os.path.join(cache, "Cache.db"), "-c", cache, status=64)
    run("import", cache, "-c", os.path.join(cache, "Cache.db"), status=64)
    run("import", scratch.root, "-c", cache, status=65)
    run("import", archive, "-c", path("nowhere"), "--create", "apple", "-n")
    assert tree(scratch.root) == before
    for name, value in [("entries", 59), ("members", 100), ("member", 1000), ("total", 100_000), ("urls", 1_000), ("document", 100), ("list", 100)]:
        result = run("import", archive, "-c", cache, "--archive-limit", f"{name}={value}", status=65)
        assert f"exceeds the limit '{name}' of {value}".encode() in result.stderr, result
    assert tree(scratch.root) == before
    # An import of nothing creates no cache.
    run("import", archive, "-c", path("empty"), "--create", "apple", "--host", "nowhere.example")
    assert not os.path.exists(path("empty"))
    # An import that was cut short has left an empty cache.
    shutil.copytree(origin, path("empty"))
    database = sqlite3.connect(os.path.join(path("empty"), "Cache.db"))
    database.executescript("".join(f"DELETE FROM {table};" for table in
                                   ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data", "sqlite_sequence"]))
    database.close()
    shutil.rmtree(os.path.join(path("empty"), "fsCachedData"), ignore_errors=True)
    assert stored(path("empty")) == ({}, set())
    run("import", archive, "-c", path("empty"), "--create", "apple")
    assert stored(path("empty")) == stored(origin)


@pytest.fixture
def small():
    return make("small", entries=6, seed=8)


@pytest.fixture
def good(small):
    """The members of a good archive."""
    members_of_small = members(export(small, "small.tar"))
    assert members_of_small[-1][1] == hostile_archives.sums(members_of_small)[-1][1]
    return members_of_small


@peers.needed("zstd")
def test_hostile_archives(good, thorough):
    """A hostile archive is refused with one error, takes little memory, and changes nothing in the cache and outside."""
    cache = make("target", entries=6, seed=9)
    # The generator's own form of the good archive is good.
    run("import", write("good.tar", hostile_archives.tar(good)), "-c", cache, "-n")
    run("import", write("good.zip", hostile_archives.zipped(good)), "-c", cache, "-n")
    before, count = tree(cache), 0
    for name, data in hostile_archives.all(good):
        cut = re.search(r"cut off at (\d+) of", name)
        if cut and int(cut[1]) % 3 and not thorough:
            continue
        archive = write("hostile", data)
        outside = set(os.listdir("/tmp"))
        status, errors, peak = peak_of(["import", archive, "-c", cache])
        assert status == 65, (name, status, errors)
        lines = errors.decode().splitlines()
        assert lines and lines[0].startswith("error: ") and len(lines) <= 2, (name, errors)
        assert all(0x20 <= byte < 0x7F or byte == 0x0A or byte >= 0x80 for byte in errors), (name, errors)
        assert peak < 128 << 20, (name, peak)
        assert tree(cache) == before, name
        assert "outside" not in set(os.listdir("/tmp")) - outside and not os.path.exists(path("outside")), name
        count += 1
        if count % 7 == 0:
            status, errors, _ = peak_of(["list", "-c", archive])
            # What is looked at without its bodies need not be found wrong.
            assert status in (65, 66) or status == 0 and ("body" in name or "digest" in name), (name, status, errors)
    assert count > 200, count


@peers.needed("zstd")
def test_changed_bits(small, good, thorough):
    """An archive with a changed bit is refused, or has all that was in it."""
    flips, whole = 500 if thorough else 15, stored(small)[0]
    for name, data in hostile_archives.harmless(good):
        import_or_refuse(data, whole, name)
    refused = sum(in_parallel(lambda data: import_or_refuse(data, whole, "a flip"), hostile_archives.flips(good, flips)))
    assert refused > 3 * flips, refused


def import_or_refuse(data, whole, name):
    """Imports an archive that is not as it was; returns whether it is refused, as else there is all that was in it."""
    new = path(own("new"))
    status, errors, peak = peak_of(["import", write(own("other"), data), "-c", new, "--create", "apple"])
    assert status in (0, 65) and peak < 512 << 20, (name, status, errors, peak)
    if status == 0:
        assert stored(new) == (whole, set()), name
        shutil.rmtree(new)
    assert not os.path.exists(new), name
    return status == 65


@pytest.mark.parametrize("part", [3, 6, 9])
def test_salvaging(origin, part):
    """`--salvage` imports the whole entries of an archive that is cut off; without it nothing is imported."""
    data = read(export(origin, "salvage.tar"))
    whole, _ = stored(origin)
    cut = write("cut.tar", data[:len(data) * part // 10])
    new = path("salvaged")
    run("import", cut, "-c", new, "--create", "apple", status=65)
    assert not os.path.exists(new)
    run("import", cut, "-c", new, "--create", "apple", "--salvage", status=3)
    after, orphans = stored(new)
    assert not orphans and after == {id: whole[id] for id in sorted(whole)[:len(after)]} and len(after) > 10, part


def test_open_cache(archive):
    """An import works while another process has the cache open, and gives up while one holds its lock."""
    cache = make("beside", entries=5, seed=21)
    application = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    application.execute("SELECT count(*) FROM cfurl_cache_response").fetchall()
    application.execute("BEGIN IMMEDIATE")
    # To open the files in this process would drop its locks.
    files = sorted(os.listdir(os.path.join(cache, "fsCachedData")))
    run("import", archive, "-c", cache, "--wait", "100ms", status=75)
    assert sorted(os.listdir(os.path.join(cache, "fsCachedData"))) == files
    assert application.execute("SELECT count(*) FROM cfurl_cache_response").fetchone() == (5,)
    application.execute("ROLLBACK")
    run("import", archive, "-c", cache)
    assert application.execute("SELECT count(*) FROM cfurl_cache_response").fetchone() == (65,)
    application.close()
    assert len(stored(cache)[0]) == 65 and not stored(cache)[1]


@pytest.mark.parametrize("state", ["closed", "open", "without an index", "without UNIQUE", "with an entry"])
def test_empty_cache(archive, state):
    """The first entries of a cache get their indexes last, unless an app has it open, or its schema is not CFNetwork's."""
    cache = make(f"first-{state}", entries=3, seed=21)
    run("purge", "1", "2", *(["3"] if state != "with an entry" else []), "--yes", cache)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    database.execute("CREATE INDEX mine ON cfurl_cache_response(partition)")
    if state == "without an index":
        database.execute("DROP INDEX time_stamp_index")
    if state == "without UNIQUE":
        statements = database.execute("SELECT sql FROM sqlite_master WHERE tbl_name = 'cfurl_cache_response' AND sql NOT NULL").fetchall()
        for statement in ["DROP TABLE cfurl_cache_response"] + [sql.replace("TEXT UNIQUE", "TEXT") for sql, in statements]:
            database.execute(statement)
    schema, version = [sorted(database.execute(sql).fetchall()) for sql in
                       ["SELECT type, name, tbl_name, sql FROM sqlite_master", "PRAGMA schema_version"]]
    if state != "open":
        database.close()
    run("import", archive, "-c", cache)
    if state != "open":
        database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    assert sorted(database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()) == schema
    # Dropping an index raises this number.
    assert (database.execute("PRAGMA schema_version").fetchall() != version) == (state == "closed")
    database.close()
    entries, orphans = stored(cache)
    assert len(entries) == (61 if state == "with an entry" else 60) and not orphans


@pytest.mark.parametrize(("name", "words"), [
    ("backup.tar.zst", ["purge", "--mime", "image/*"]), ("backup.zip", ["purge", "--all"]), ("backup.tar", ["enforce", "--max-entries", "20"])],
    ids=["some", "all", "limit"])
def test_backup(origin, name, words):
    """What a purge and an enforce remove is in the backup, and comes back."""
    whole, _ = stored(origin)
    cache, archive = copy(origin, "backed"), path(name)
    run(*words, "-c", cache, "--backup", archive, "-n")
    assert not os.path.exists(archive) and stored(cache)[0] == whole
    run(*words, "-c", cache, "--backup", archive, "--yes")
    rest, orphans = stored(cache)
    assert len(rest) < 60 and not orphans
    assert stat.S_IMODE(os.stat(archive).st_mode) == 0o600
    result = run(*words, "-c", origin, "--backup", archive, "--yes", status=73)
    assert stored(origin)[0] == whole, result
    assert int(run("list", "-c", archive, "--count").stdout) == 60 - len(rest)
    run("import", archive, "-c", cache)
    assert stored(cache) == (whole, set()), name


def test_backup_that_fails(origin):
    """Where the backup cannot be written, nothing is removed."""
    whole, _ = stored(origin)
    result = run("purge", "-c", origin, "--all", "--yes", "--backup", path("none/x.tar"), status=73)
    assert stored(origin)[0] == whole
    subprocess.run(["sh", "-c", 'ulimit -f 100; trap "" XFSZ; exec "$@"', "sh", tool, "purge", "-c", origin, "--all", "--yes",
                    "--backup", path("full.tar")], capture_output=True)
    assert stored(origin)[0] == whole and not glob.glob(path("full*"))


def test_differences(origin):
    """`diff` reports what `sqlite3` changed, and nothing else."""
    other = copy(origin, "different")
    archives = [export(origin, "diff.tar.zst"), export(origin, "diff.zip")]
    for first, second in [(origin, other), (origin, archives[0]), (archives[0], archives[1]), (archives[1], other)]:
        assert run("diff", first, second).stdout == b""
    run("purge", "-c", other, "3", "4", "--yes")
    change(other, 5)
    change(other, 6, "2020-01-01 00:00:00")
    database = sqlite3.connect(os.path.join(other, "Cache.db"))
    key = dict(database.execute("SELECT entry_ID, request_key FROM cfurl_cache_response"))
    database.execute("UPDATE cfurl_cache_response SET time_stamp = '2020-01-01 00:00:00' WHERE entry_ID = 7")
    database.execute("UPDATE cfurl_cache_blob_data SET response_object = (SELECT response_object FROM cfurl_cache_blob_data "
                     "WHERE entry_ID = 9) WHERE entry_ID = 8")
    database.commit()
    database.close()
    whole, _ = stored(origin)
    gone = {whole[id]["request_key"].decode(): ("removed", []) for id in [3, 4]}
    expected = {**gone, key[5]: ("changed", ["body"]), key[6]: ("changed", ["body", "other"]), key[7]: ("changed", ["other"])}
    for first in [origin, archives[0]]:
        found = json.loads(run("diff", first, other, "--format", "json", status=1).stdout)
        differences = {item["key"]: (item["change"], item["differs"]) for item in found["differences"]}
        change8 = differences.pop(key[8])
        assert change8[0] == "changed" and "headers" in change8[1] and "body" not in change8[1], change8
        assert differences == expected, (differences, expected)
        assert (found["added"], found["removed"], found["changed"], found["same"]) == (0, 2, 4, 54)
    turned = json.loads(run("diff", other, origin, "--format", "json", "--by", "body", status=1).stdout)
    assert (turned["added"], turned["removed"], turned["changed"], turned["same"]) == (2, 0, 2, 56)
    assert run("diff", origin, other, "--stat", status=1).stdout == b"0 added, 2 removed, 4 changed, 54 the same\n"
    assert run("diff", origin, other, "--host", "nowhere.example").stdout == b""
    # What a program reads and writes again is the same JSON; another value, and what is no JSON, is not.
    value = {"z": [1.0, 100, "/\u00e9", {"b": None, "a": True}], "a": {"": -0.5}}
    texts = {10: (json.dumps(value), json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).replace("/", "\\/").replace("1.0", "1")),
             11: (json.dumps(value), json.dumps({**value, "c": 0})), 12: ("{a: 1}", "{a:1}")}
    for place in range(2):
        with sqlite3.connect(os.path.join(copy(origin, f"json-{place}"), "Cache.db")) as database:
            for id, bodies in texts.items():
                database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = ? WHERE entry_ID = ?", (bodies[place].encode(), id))
        database.close()
    for options, ids in [([], [10, 11, 12]), (["--json-normalise"], [11, 12])]:
        found = json.loads(run("diff", path("json-0"), path("json-1"), "--by", "body", "--format", "json", *options, status=1).stdout)
        assert sorted(item["key"] for item in found["differences"]) == sorted(key[id] for id in ids), (options, found)
    absent = run("diff", origin, other, "https://nowhere.example/", status=1)
    assert absent.stderr == b"error: no entry has the URL 'https://nowhere.example/'\n", absent
    absent = run("export", origin, "https://nowhere.example/", "-o", path("absent.har"), status=1)
    assert absent.stderr == b"error: no entry has the URL 'https://nowhere.example/'\n", absent
    run("diff", origin, path("nowhere"), status=66)
