"""Exports WARC and WACZ files, which warcio reads, and imports them again."""

import glob
import hashlib
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import string
import subprocess
import time
import urllib.parse
import zipfile
import zlib

import pytest

import planted_secrets
import scratch
from heard_signals import hear_signals
from open_files import open_files
from products import tool
from scratch import export, make, path, read, run
from strace import spread
from web_archives import ArchiveIterator, har_bodies, is_checked, native_bodies, records, warcio_bodies

FORMATS = ["warc", "warc.gz", "wacz"]
MADE = {"203": ([], 40, 3), "202": (["--schema", "202"], 30, 4)}


def made(kind):
    options, entries, seed = MADE[kind]
    return make("made", *options, entries=entries, seed=seed)


def apple_caches(cachedb, most_bytes=1 << 40):
    """The caches whose database is not larger."""
    caches = sorted(glob.glob(os.path.join(cachedb, "schema-*", "")))
    return [cache for cache in caches if all(os.path.getsize(file) <= most_bytes for file in glob.glob(os.path.join(cache, "Cache.db*")))]


def check_exports(cache, *options):
    """Holds the web archives of a cache against what warcio reads, and against each other."""
    bodies = sorted((uri(url), digest) for url, digest in native_bodies(cache))
    plain, packed = export(cache, "export.warc", *options), export(cache, "export.warc.gz", *options)
    for file in [plain, packed]:
        assert is_checked(file), file
        assert warcio_bodies(file) == bodies, (cache, file)
    ids = [record.rec_headers["WARC-Record-ID"] for record, _ in records(plain)]
    assert len(set(ids)) == len(ids) >= len(bodies) + 2
    # Each record is a member of gzip, and together they are the plain file.
    data, members = read(packed), []
    while data:
        decoder = zlib.decompressobj(31)
        members.append(decoder.decompress(data) + decoder.flush())
        assert decoder.eof and members[-1].startswith(b"WARC/1.1\r\n") and members[-1].endswith(b"\r\n\r\n")
        data = decoder.unused_data
    assert len(members) == len(ids) and b"".join(members) == read(plain)
    assert read(export(cache, "again.warc.gz", *options)) == read(packed), "other bytes"
    wacz = export(cache, "export.wacz", *options)
    of_wacz(read(wacz), read(packed))
    assert read(export(cache, "again.wacz", *options)) == read(wacz), "other bytes"
    for format, file in [("warc", plain), ("warc.gz", packed), ("wacz", wacz)]:
        result = subprocess.run([tool, "export", "-c", cache, "-o", "-", "--archive-format", format, *options], capture_output=True)
        assert result.returncode == 0 and result.stdout == read(file), format


@pytest.mark.parametrize("kind", MADE)
def test_made_up_cache(kind):
    """A web archive holds all of a cache, byte for byte the same each time, and warcio reads it."""
    check_exports(made(kind))


def test_apple_caches(cachedb, thorough):
    """The same holds for caches as Apple systems write them, and these come back."""
    for cache in apple_caches(cachedb) if thorough else spread(apple_caches(cachedb, 1 << 20), 4):
        check_exports(cache, "--with-credentials")
        # A WARC has no place for partitions.
        if "partitions" not in cache:
            round_trip(cache, "warc.gz")


def of_wacz(data, warc):
    """A WACZ holds the WARC as it is, an index of its responses, and the pages."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert file.testzip() is None
        contents = {info.filename: file.read(info) for info in file.infolist()}
        assert file.getinfo("archive/data.warc.gz").compress_type == zipfile.ZIP_STORED
    assert list(contents) == ["archive/data.warc.gz", "indexes/index.cdx", "pages/pages.jsonl", "datapackage.json", "datapackage-digest.json"]
    assert contents["archive/data.warc.gz"] == warc
    package = json.loads(contents["datapackage.json"])
    assert {resource["path"]: (resource["hash"], resource["bytes"]) for resource in package["resources"]} == {
        name: ("sha256:" + hashlib.sha256(data).hexdigest(), len(data)) for name, data in list(contents.items())[:3]}
    assert json.loads(contents["datapackage-digest.json"]) == {
        "path": "datapackage.json", "hash": "sha256:" + hashlib.sha256(contents["datapackage.json"]).hexdigest()}
    lines = contents["indexes/index.cdx"].splitlines()
    assert lines == sorted(lines)
    found = set()
    for line in lines:
        key, time, rest = line.decode("ascii").split(" ", 2)
        capture = json.loads(rest)
        start, length = int(capture["offset"]), int(capture["length"])
        (record,) = ArchiveIterator(io.BytesIO(warc[start:start + length]))
        assert record.rec_headers["WARC-Target-URI"] == capture["url"] and capture["filename"] == "data.warc.gz"
        assert record.rec_headers["WARC-Payload-Digest"] == capture["digest"]
        assert re.sub("[^0-9]", "", record.rec_headers["WARC-Date"])[:14] == time
        if record.http_headers:
            assert record.http_headers.get_statuscode() == capture["status"]
        found.add(start)
    offsets, iterator = set(), ArchiveIterator(io.BytesIO(warc))
    for record in iterator:
        if record.rec_type in ("response", "resource"):
            offsets.add(iterator.get_record_offset())
    assert offsets == found and len(lines) == len(found)
    header, *pages = map(json.loads, contents["pages/pages.jsonl"].splitlines())
    assert header["format"] == "json-pages-1.0"
    assert {page["url"] for page in pages} == {
        json.loads(line.split(b" ", 2)[2])["url"] for line in lines
        if json.loads(line.split(b" ", 2)[2])["mime"] == "text/html" and json.loads(line.split(b" ", 2)[2])["status"] == "200"}
    assert all(page["id"] and page["title"] and page["ts"] for page in pages)


def test_formats_agree(thorough):
    """All formats name an entry alike: those with credentials as a whole native archive does, those that are redacted as one that is."""
    cache = make("many", "--no-large-bodies", entries=3_000 if thorough else 500, seed=6)
    if not thorough:
        # Among others those whose URLs are changed.
        database = sqlite3.connect(os.path.join(cache, "Cache.db"))
        rare = "SELECT entry_ID FROM cfurl_cache_response WHERE request_key LIKE '%:secret@%' OR request_key LIKE '%|%'"
        for table in ["blob_data", "receiver_data", "response"]:
            database.execute(f"DELETE FROM cfurl_cache_{table} WHERE entry_ID % 5 AND entry_ID NOT IN ({rare})")
        database.commit()
        database.close()
    for native, others in [([], ["--with-credentials"]), (["--redact"], ["--redact"])]:
        bodies = native_bodies(cache, *native)
        urls = [url for url, _ in bodies]
        assert any(":secret@" in url for url in urls) == (native == []) and any("%7C" in url for url in urls) and not any("|" in url for url in urls)
        for format in FORMATS:
            assert warcio_bodies(export(cache, f"many.{format}", *others)) == bodies, (format, others)
        assert sorted(har_bodies(export(cache, "many.har", *others))) == bodies, others


def uri(url):
    """The URL with what may stand in no URI escaped."""
    return urllib.parse.quote(url, safe=string.punctuation.translate(dict.fromkeys(map(ord, '<>"{}|\\^`'))))


def round_trip(cache, format):
    """What a web archive holds comes back: URLs, header fields, bodies, times."""
    new = path("new")
    shutil.rmtree(new, ignore_errors=True)
    archive = export(cache, "round." + format, "--with-credentials", "--method", "GET")
    run("import", archive, "-c", new, "--create", "apple")
    for aspect in ["headers", "body"]:
        run("diff", cache, new, "--by", aspect, "--method", "GET")
    columns = ["url", "method", "status", "size", "stored", "response-headers", "request-headers"]
    lists = [json.loads(run("list", "-c", source, "--format", "json", "--columns", ",".join(columns), "--show-secrets", "--method", "GET").stdout)
             for source in [cache, new, archive]]
    for other in lists[1:]:
        assert sorted(map(str, other["entries"])) == sorted(str(entry | {"url": uri(entry["url"])}) for entry in lists[0]["entries"]), cache
    assert warcio_bodies(export(archive, "round3.warc")) == warcio_bodies(archive)


def pytest_generate_tests(metafunc):
    if metafunc.function is test_round_trip:
        # By default each schema and each format is tried, and not each with each.
        pairs = [(kind, format) for kind in MADE for format in FORMATS]
        metafunc.parametrize(("kind", "format"), pairs if metafunc.config.getoption("thorough") else pairs[:len(FORMATS) + 1])


def test_round_trip(kind, format):
    """What a web archive holds of a made-up cache comes back."""
    round_trip(made(kind), format)


@pytest.mark.parametrize("format", FORMATS)
def test_secrets(format):
    """No credential is in a web archive unless '--with-credentials' asks for it."""
    cache = make("secrets", entries=8, seed=6)
    ids = [entry["id"] for entry in json.loads(run("list", "-c", cache, "--format", "json").stdout)["entries"]]
    for id in ids[:3]:
        planted_secrets.plant(cache, id)
    assert planted_secrets.is_in(read(export(cache, "secrets.tar.gz")))
    assert planted_secrets.is_in(read(export(cache, f"with.{format}", "--with-credentials")))
    assert not planted_secrets.is_in(read(export(cache, f"without.{format}")))
    # What was left out of an archive stays out of what is made of it.
    assert not planted_secrets.is_in(read(export(path(f"without.{format}"), "second.tar")))


@pytest.mark.parametrize("format", FORMATS)
def test_signal(format):
    """A signal ends an export soon, also where nothing is written to the file before the end, and leaves nothing behind."""
    def started(name):
        return subprocess.Popen([tool, "export", "-c", cache, "-o", path(name)], stderr=subprocess.DEVNULL, preexec_fn=hear_signals)

    def ended(process):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_utime

    cache = make("interrupted", entries=2_000)
    status, whole = ended(started(f"whole.{format}"))
    assert status == 0
    process = started(f"ended.{format}")
    # Its file has no name yet.
    while not any(file.startswith(scratch.root + "/#") for file in open_files(process.pid).values()):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    status, used = ended(process)
    assert status == -signal.SIGINT, status
    assert used < whole / 2, (used, whole)
    assert not [name for name in os.listdir(scratch.root) if name.startswith("ended")]
