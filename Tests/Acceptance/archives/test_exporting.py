"""Exports caches, and holds each archive against its cache with `sqlite3`, `tar`, `bsdtar`, the zip module of Python, `jq` and `sha256sum`."""

import base64
import glob
import hashlib
import io
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import tarfile
import time
import zipfile

import pytest

import peers
import scratch
from heard_signals import hear_signals
from open_files import open_files
from products import tool
from scratch import copy, path, read, run

PARTS = {"response_object": "response.plist", "request_object": "request.plist", "proto_props": "proto-props.plist",
         "user_info": "user-info.plist", "body": "body"}
FORMATS = ["tar", "tar.gz", "tar.zst", "zip"]


@pytest.fixture
def cache():
    return scratch.make("made", entries=60)


def members(archive):
    """The members of an archive in their order, read by Python; zstd by its own program."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as file:
            return [(info.filename, file.read(info)) for info in file.infolist()]
    with open(archive, "rb") as file:
        data = file.read()
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        data = subprocess.run(["zstd", "-dcq", archive], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as file:
        infos = file.getmembers()
        assert all(info.isreg() and not info.issparse() and not info.pax_headers for info in infos)
        assert {(info.mtime, info.uid, info.gid, info.uname, info.gname, info.mode) for info in infos} == {
            (0, 0, 0, "", "", 0o644)}
        return [(info.name, file.extractfile(info).read()) for info in infos]


def tar_bytes(archive):
    result = subprocess.run(["zstd", "-dcq", archive] if archive.endswith("zst") else ["gzip", "-dc", archive],
                            capture_output=True, check=True)
    return result.stdout


def stored(cache):
    """All columns of all entries, by sqlite3 from a copy, with the bytes of the bodies."""
    copied = copy(cache, "copy")
    database = sqlite3.connect(sorted(glob.glob(os.path.join(copied, "*.db")))[0])
    database.text_factory = bytes
    database.row_factory = sqlite3.Row
    entries = {}
    for table in ["response", "blob_data", "receiver_data"]:
        for row in database.execute(f"SELECT * FROM cfurl_cache_{table}"):
            entries.setdefault(row["entry_ID"], {}).update({key: row[key] for key in row.keys()})
    for entry in entries.values():
        if "receiver_data" not in entry:
            continue
        entry["body"] = entry.pop("receiver_data")
        if entry.get("isDataOnFS", 0) > 0:
            try:
                with open(os.path.join(copied, "fsCachedData", entry["body"].decode()), "rb") as file:
                    entry["body"] = file.read()
            except FileNotFoundError:
                entry["body"] = None
    database.close()
    return entries


def value(column, written):
    """What the JSON of a column stands for."""
    if column in ("entry_ID", "hash_value") and isinstance(written, str):
        return int(written)
    if isinstance(written, str):
        return written.encode()
    if isinstance(written, dict):
        (kind, text), = written.items()
        return {"integer": int, "real": float.fromhex, "text_b64": base64.b64decode, "blob_b64": base64.b64decode}[kind](text)
    return written


def check(archive, cache):
    """Holds an archive against its cache, value by value."""
    entries, found = stored(cache), members(archive)
    names, contents = [name for name, _ in found], dict(found)
    assert len(contents) == len(names)
    assert names[0] == "urlcache-archive.json" and names[-2:] == ["manifest.json", "SHA256SUMS"]
    lines = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in found[:-1])
    assert contents["SHA256SUMS"].decode() == lines
    expected = []
    for number, (id, entry) in enumerate(sorted(entries.items()), 1):
        folder = f"entries/{number:010}/"
        expected.append(folder + "entry.json")
        document = json.loads(contents[folder + "entry.json"])
        row = {name: value(name, written) for name, written in document["row"].items()}
        assert row == {name: item for name, item in entry.items() if name not in PARTS}, (row, entry)
        for part, name in PARTS.items():
            if part not in entry:
                assert part not in document["members"], (part, document)
            elif entry[part] is None:
                assert document["members"][part] is None, (part, document)
            else:
                described = document["members"][part]
                assert contents[folder + name] == entry[part], (archive, folder, name)
                assert described["size"] == len(entry[part]) and described["name"] == name, described
                assert described["sha256"] == hashlib.sha256(entry[part]).hexdigest(), described
                expected.append(folder + name)
    assert names[1:-2] == expected, (names, expected)
    manifest = json.loads(contents["manifest.json"])
    bodies = sum(len(entry["body"]) for entry in entries.values() if entry.get("body"))
    assert manifest == {"complete": True, "entries": len(entries), "members": len(names) - 2, "body_bytes": bodies}, manifest
    header = json.loads(contents["urlcache-archive.json"])
    newest = max((entry["time_stamp"] for entry in entries.values() if entry.get("time_stamp")), default=None)
    assert header["created"] == (newest and newest.decode().replace(" ", "T") + "Z"), (header, newest)
    assert header["filter"] is None and header["requires"] == [] and header["version"] == {"major": 1, "minor": 0}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("faults", [False, True], ids=["whole", "faulty"])
def test_made_up_cache(faults, format):
    """An archive holds all columns and bodies of a cache, value by value."""
    options = ["--schema", "202", "--faults", "orphan-files,missing-bodies,undecodable"]
    cache = scratch.make("faulty", *options, entries=40, seed=4) if faults else scratch.make("made", entries=60)
    archive = path(f"archive.{format}")
    run("export", "-c", cache, "-o", archive)
    assert stat.S_IMODE(os.stat(archive).st_mode) == 0o600 and not os.path.exists(archive + ".partial")
    check(archive, cache)


def test_apple_caches(cachedb):
    """The same holds for caches as Apple systems write them."""
    for number, cache in enumerate(sorted(glob.glob(os.path.join(cachedb, "schema-*")))):
        archive = path(f"real{number}.tar.zst")
        run("export", "-c", cache, "-o", archive)
        check(archive, cache)


def make_odd():
    """A cache with values that no cache should have; two kinds of time that are no text have no place in `created`."""
    cache = scratch.make("odd", entries=12, seed=5)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    database.execute("ALTER TABLE cfurl_cache_response ADD COLUMN later")
    for id, column, sql in [
        (1, "time_stamp", "3.25"), (2, "time_stamp", "-1e-310"), (3, "storage_policy", "9007199254740993"), (4, "version", "x'00ff'"),
        (5, "partition", "CAST(x'ff41' AS TEXT)"), (6, "hash_value", "'text'"), (7, "later", "9e999"), (8, "later", "'a\"\\\u202e\n'"),
    ]:
        database.execute(f"UPDATE cfurl_cache_response SET {column} = {sql} WHERE entry_ID = {id}")
    database.execute("UPDATE cfurl_cache_blob_data SET user_info = 'text', proto_props = NULL WHERE entry_ID = 9")
    database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = zeroblob(5000000) WHERE entry_ID = 10")
    database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = x'' WHERE entry_ID = 11")
    database.execute("DELETE FROM cfurl_cache_receiver_data WHERE entry_ID = 12")
    database.commit()
    database.close()
    return cache


@pytest.mark.parametrize("format", FORMATS)
def test_odd_values(format):
    """Values that no cache should have are kept with their classes."""
    cache, archive = make_odd(), path(f"archive.{format}")
    run("export", "-c", cache, "-o", archive)
    assert stat.S_IMODE(os.stat(archive).st_mode) == 0o600 and not os.path.exists(archive + ".partial")
    entries, contents = stored(cache), dict(members(archive))
    for number, (id, entry) in enumerate(sorted(entries.items()), 1):
        document = json.loads(contents[f"entries/{number:010}/entry.json"])
        row = {name: value(name, written) for name, written in document["row"].items()}
        assert row == {name: item for name, item in entry.items() if name not in PARTS}, (row, entry)
    version = json.loads(contents["entries/0000000004/entry.json"])["row"]["version"]
    assert version == {"blob_b64": "AP8="}, version
    text = contents["entries/0000000008/entry.json"]
    assert b"\\u202e" in text and text.isascii()
    info = json.loads(contents["entries/0000000009/entry.json"])["members"]["user_info"]
    assert info["class"] == "text" and contents["entries/0000000009/user-info.plist"] == b"text"
    assert len(contents["entries/0000000010/body"]) == 5000000 and contents["entries/0000000011/body"] == b""
    assert "body" not in json.loads(contents["entries/0000000012/entry.json"])["members"]


@peers.needed("tar", "bsdtar", "zstd", "jq", "sha256sum")
@pytest.mark.parametrize(("format", "unpack"), [
    ("tar", ["tar", "-xf"]), ("tar.gz", ["tar", "-xzf"]), ("tar.zst", ["bsdtar", "-xf"]), ("zip", ["bsdtar", "-xf"])], ids=FORMATS)
def test_other_programs(cache, format, unpack):
    """Other programs unpack an archive, find its digests right, and read its JSON."""
    archive, folder = path(f"archive.{format}"), path("unpacked")
    run("export", "-c", cache, "-o", archive)
    os.mkdir(folder)
    subprocess.run([*unpack, archive], cwd=folder, check=True)
    subprocess.run(["sha256sum", "-c", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    files = sorted(glob.glob(os.path.join(folder, "entries/*/entry.json")))
    ids = subprocess.run(["jq", "-r", ".row.entry_ID"], input=b"".join(map(read, files)), capture_output=True, check=True).stdout.split()
    assert [int(id) for id in ids] == sorted(stored(cache))


def test_same_bytes(cache):
    """The same cache gives the same bytes at any time, in any time zone, with any level and number of threads."""
    run("export", "-c", cache, "-o", path("first.tar"))
    tar = read(path("first.tar"))
    assert run("export", "-c", cache, "-o", "-", "--archive-format", "tar", env={"TZ": "Asia/Tokyo"}).stdout == tar
    for format, level in [("tar.zst", "1"), ("tar.zst", "19"), ("tar.gz", "9")]:
        archive = path(f"level{level}.{format}")
        run("export", "-c", cache, "-o", archive, "--level", level, "--threads", "2")
        assert tar_bytes(archive) == tar
    zips = [run("export", "-c", cache, "-o", "-", "--archive-format", "zip", env={"TZ": zone}).stdout
            for zone in ["UTC", "Asia/Tokyo"]]
    assert zips[0] == zips[1]
    for words, environment in [(["--created", "2020-01-02T03:04:05Z"], {"SOURCE_DATE_EPOCH": "1"}),
                               ([], {"SOURCE_DATE_EPOCH": "1577934245"})]:
        data = run("export", "-c", cache, "-o", "-", "--archive-format", "tar", *words, env=environment).stdout
        assert b'"created":"2020-01-02T03:04:05Z"' in data


def test_selection(cache):
    """An archive of selected entries holds these, and says that they are selected; without bodies it has none."""
    some = path("some.tar")
    run("export", "-c", cache, "-o", some, "3", "5", "99", status=1)
    contents = dict(members(some))
    assert json.loads(contents["manifest.json"])["entries"] == 2
    assert json.loads(contents["urlcache-archive.json"])["filter"] == {"bodies": "all", "entries": "selected"}
    assert [json.loads(contents[f"entries/{number:010}/entry.json"])["row"]["entry_ID"] for number in [1, 2]] == ["3", "5"]
    bare = path("bare.tar")
    run("export", "-c", cache, "-o", bare, "--bodies", "none")
    assert not [name for name, _ in members(bare) if name.endswith("/body")]
    assert os.path.getsize(bare) > 1000


COLUMNS = ("id,stored,first-stored,age,status,method,size,mime,url,host,path,scheme,partition,disk,body-location,policy,etag,"
           "last-modified,cache-control,date,expires,key,request-headers,response-headers,user-info,proto-props")
LOOKS = [["list", "--format", "ndjson", "--columns", COLUMNS, "--at", "2026-01-01T00:00:00Z"],
         ["list", "--mime", "image/*", "--sort", "-size", "--limit", "5", "--format", "csv"], ["list", "--count", "--status", "4xx"],
         ["show", "3", "17", "--show-secrets"], ["body", "17"], ["show", "9", "--raw-plist", "response_object"]]


def looks(shown):
    """What commands show of a cache or an archive. The name of a body file is not in an archive."""
    found = [re.sub(rb" [0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", b"", run(*words, "-c", shown).stdout) for words in LOOKS]
    return [*found, json.loads(run("usage", "-c", shown, "--by", "mime", "--format", "json").stdout)["groups"]]


def check_looks(cache, format, others):
    """Compares what commands show of a cache and of an archive, and makes archives of the archive."""
    archive = path(f"looked.{format}")
    run("export", "-c", cache, "-o", archive)
    before = read(archive)
    for words, one, other in zip([*LOOKS, ["usage"]], looks(archive), looks(cache)):
        assert one == other, words
    for other in others:
        again = path(f"again.{other}")
        run("export", "-c", archive, "-o", again, "--force")
        assert members(again) == members(archive)
    run("purge", "-c", archive, "--all", "--yes", status=64)
    assert read(archive) == before


@pytest.mark.parametrize("format", FORMATS)
def test_looking(cache, format, thorough):
    """An archive shows what its cache shows, and is never changed."""
    # By default each kind of archive is made of another one.
    check_looks(cache, format, FORMATS if thorough else [FORMATS[(FORMATS.index(format) + 1) % 4]])


def test_looking_at_cut_archive(cache):
    """An archive that is cut off is an error."""
    data = run("export", "-c", cache, "-o", "-", "--archive-format", "tar").stdout
    run("list", "-c", scratch.write("cut.tar", data[:len(data) // 2]), status=65)


def test_looking_at_apple_caches(cachedb, thorough):
    """The same holds for caches as Apple systems write them."""
    for cache in sorted(glob.glob(os.path.join(cachedb, "schema-203-main*"))):
        for format in FORMATS if thorough else ["tar.zst"]:
            check_looks(cache, format, FORMATS if thorough else ["zip"])
            os.unlink(path(f"looked.{format}"))


def test_refusals(cache):
    """An export replaces no file unless it is told to, and never one of the cache; what is wrong with its options is an error."""
    archive = scratch.write("there.tar", b"there")
    run("export", "-c", cache, "-o", archive, status=73)
    assert read(archive) == b"there"
    run("export", "-c", cache, "-o", archive, "--force")
    assert tarfile.is_tarfile(archive)
    database = os.path.join(cache, "Cache.db")
    before = read(database)
    run("export", "-c", cache, "-o", database, "--archive-format", "tar", "--force", status=64)
    assert read(database) == before
    for words, status in [(["-o", path("x.7z")], 64), (["-o", path("x.tar"), "--level", "3"], 64),
                          (["-o", path("x.tar.zst"), "--level", "20"], 64),
                          (["-o", path("none/x.tar")], 73), (["-o", "/dev/zero"], 73)]:
        run("export", "-c", cache, *words, *(["--archive-format", "tar"] if "/dev/zero" in words else []), status=status)
    os.symlink(path("elsewhere"), path("link.tar.partial"))
    run("export", "-c", cache, "-o", path("link.tar"))
    assert not os.path.exists(path("elsewhere")) and tarfile.is_tarfile(path("link.tar"))
    assert [name for name in os.listdir(scratch.root) if name.endswith(".partial")] == ["link.tar.partial"]


def test_full_file_system(cache):
    """A full file system leaves nothing behind."""
    before = set(os.listdir(scratch.root))
    result = subprocess.run(["sh", "-c", 'ulimit -f 100; trap "" XFSZ; exec "$@"', "sh", tool, "export", "-c", cache, "-o", path("full.tar")],
                            capture_output=True)
    assert result.returncode == 74 and set(os.listdir(scratch.root)) == before, result


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal(number):
    """A signal ends an export, and leaves nothing behind."""
    many = scratch.make("many", "--no-large-bodies", entries=400, seed=5)
    before = set(os.listdir(scratch.root))
    process = subprocess.Popen([tool, "export", "-c", many, "-o", path("full.tar.zst"), "--level", "19"], preexec_fn=hear_signals)
    # Its file has no name yet.
    while not any(file.startswith(scratch.root + "/#") for file in open_files(process.pid).values()):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait() == -number and set(os.listdir(scratch.root)) == before


def test_closed_pipe(cache):
    """The reader of a pipe may have had enough."""
    with subprocess.Popen([tool, "export", "-c", cache, "-o", "-", "--archive-format", "tar"], stdout=subprocess.PIPE) as pipe:
        pipe.stdout.read(10)
        pipe.stdout.close()
        assert pipe.wait() == 0


def test_long_body():
    """A tar has no room for a body of 8 GiB: its entry is left out with a note, and all others are there."""
    cache = scratch.make("toolong", entries=20, seed=4)
    longest, other = sorted(glob.glob(os.path.join(cache, "fsCachedData", "*")))[:2]
    os.truncate(longest, 8 << 30)
    os.truncate(other, 100_000)
    # By default what a tar cannot hold stays out of every format.
    result = run("export", "-c", cache, "-o", path("toolong.zip"), status=3)
    assert b"its body is a sparse file" in result.stderr, result
    archive = path("toolong.tar")
    result = run("export", "-c", cache, "-o", archive, status=3)
    assert b"1 entry was skipped because its body is a sparse file" in result.stderr, result
    entries = [name for name, _ in members(archive) if name.endswith("/entry.json")]
    assert entries == [f"entries/{number:010}/entry.json" for number in range(1, 20)]
