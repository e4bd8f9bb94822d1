"""Archives as programs of others write them, with inputs that are made here: each is read as its standard says, or named."""

import base64
import bz2
import ctypes.util
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import subprocess
import tarfile
import time
import zipfile
import zlib

import pytest

import hostile_waczs
from hostile_warcs import http, record
from scratch import make, path, peak_of, read, run, tree, write
from web_archives import native_bodies


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def listed(archive, *options, status=0):
    result = run("list", archive, "--columns", "url,status,size,stored", "--format", "json", *options, status=status)
    return {entry["url"]: entry for entry in json.loads(result.stdout)["entries"]}, result.stderr.decode()


def imported(archive, *options, status=0, name="imported"):
    subprocess.run(["rm", "-rf", path(name)], check=True)
    result = run("import", archive, "-c", path(name), "--create", "apple", "--format", "json", *options, status=status)
    return result, json.loads(result.stdout) if result.stdout else None


def body(archive, url, *options):
    return run("body", archive, url, *options).stdout


# WARC

def test_fields_that_repeat():
    """Fields of proposals, such as `WARC-Protocol`, may repeat; of a field that is read, two values are refused."""
    good = record(block=http(b"hello"), WARC_Protocol=["h2", "tls/1.3"], WARC_Cipher_Suite="TLS_AES_128_GCM_SHA256", WARC_JSON_Metadata=["{}", "{}"])
    file = write("crawl.warc", record("warcinfo", b"software: crawler/1\r\n", Content_Type="application/warc-fields") + good)
    assert body(file, "http://example.com/a") == b"hello"
    assert listed(write("same.warc", record(WARC_Target_URI=["http://example.com/a"] * 2)))[0]
    for field, values in [("WARC_Target_URI", ["http://example.com/a", "http://example.com/b"]), ("WARC_Type", ["response", "request"]),
                          ("WARC_Date", ["2024-05-06T07:08:09Z", "2024-05-06T07:08:10Z"])]:
        refused = run("list", write("two.warc", record(**{field: values})), status=65)
        assert b"repeats a field with another value" in refused.stderr


def test_dates_of_less_precision():
    for date, stored in [("2019", "2019-01-01T00:00:00Z"), ("2019-08", "2019-08-01T00:00:00Z"), ("2019-08-15", "2019-08-15T00:00:00Z"),
                         ("2019-08-15T01:02Z", "2019-08-15T01:02:00Z"), ("2019-08-15T01:02:03.5Z", "2019-08-15T01:02:03Z")]:
        entries, _ = listed(write("date.warc", record(WARC_Date=date)))
        assert entries["http://example.com/a"]["stored"] == stored, date


def digested():
    """A file with three good responses, one whose block digest is that of its payload, and two that were changed."""
    chunked = http(b"5\r\nhello\r\n0\r\n\r\n", b"Transfer-Encoding: chunked")
    parts = {
        "good": record(block=http(b"hello"), WARC_Target_URI="http://example.com/good", WARC_Block_Digest=sha1(http(b"hello"))),
        "swapped": record(block=chunked, WARC_Target_URI="http://example.com/swapped", WARC_Payload_Digest=sha1(b"hello"),
                          WARC_Block_Digest=sha1(b"hello")),
        "payload": record(block=http(b"HELLO"), WARC_Target_URI="http://example.com/payload?token=hidden1234", WARC_Payload_Digest=sha1(b"hello")),
        "block": record(block=http(b"HELLO"), WARC_Target_URI="http://example.com/block", WARC_Block_Digest=sha1(http(b"hello")),
                        WARC_Payload_Digest=sha1(b"HELLO")),
        "both": record(block=http(b"HELLO"), WARC_Target_URI="http://example.com/both", WARC_Block_Digest=sha1(b"hello"),
                       WARC_Payload_Digest=sha1(b"hello")),
        "malformed": record(block=http(b"hello"), WARC_Target_URI="http://example.com/malformed", WARC_Payload_Digest="sha1:1"),
        "last": record(block=http(b"hello"), WARC_Target_URI="http://example.com/last"),
    }
    return parts


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_wrong_digests_cost_the_record(packed):
    """A digest of the payload in the place of that of the block is recognised; any other wrong digest costs its record, and is named."""
    parts = digested()
    members = [gzip.compress(part) if packed else part for part in parts.values()]
    file = write("digests.warc", b"".join(members))
    kept = {f"http://example.com/{name}" for name in ("good", "swapped", "last")}
    wrong = {"payload": "payload", "block": "block", "both": "payload", "malformed": "payload"}
    entries, notes = listed(file)
    assert set(entries) == kept
    places = {}
    for number, name in enumerate(parts):
        places[name] = (number + 1, sum(map(len, members[:number])))
    for name, kind in wrong.items():
        number, place = places[name]
        assert f"record {number} at byte {place} does not match the digest of its {kind}, and is left out ('http://example.com/{name}" in notes
    assert "hidden1234" not in notes
    checked = json.loads(run("check", file, "--format", "json", status=1).stdout)
    found = [finding for finding in checked["findings"] if finding["code"] == "wrong-digest"]
    assert [finding["url"].split("?")[0] for finding in found] == [f"http://example.com/{name}" for name in wrong]
    assert all(finding["severity"] == "error" and not finding["repairable"] for finding in found)

    result, said = imported(file, status=3)
    assert {url for url, _ in native_bodies(path("imported"))} == kept
    assert sum(omission["count"] for omission in said["omitted"]) == len(wrong)
    assert [damaged["number"] for damaged in said["damaged_records"]] == [places[name][0] for name in wrong]

    before = tree(path("imported"))
    refused = run("import", file, "-c", path("imported"), "--strict", status=65)
    number, place = places["payload"]
    assert f"record {number} at byte {place} does not match the digest of its payload" in refused.stderr.decode()
    assert tree(path("imported")) == before
    run("import", file, "-c", path("strict"), "--strict", status=65)
    assert not os.path.exists(path("strict"))
    intact = write("intact.warc", b"".join(part for name, part in parts.items() if name not in wrong))
    imported(intact, "--strict")


def test_structural_faults_end_the_file():
    """After a wrong length nothing is believed, so that a body cannot inject a record."""
    injected = record(WARC_Target_URI="http://example.com/injected")
    bad = record(block=http(injected + b"x" * 40), Content_Length=30, WARC_Target_URI="http://example.com/bad")
    file = write("injected.warc", record() + bad + record(WARC_Target_URI="http://example.com/after"))
    run("list", file, status=65)
    imported(file, "--salvage", status=3)
    urls = {url for url, _ in native_bodies(path("imported"))}
    assert urls and "http://example.com/injected" not in urls and "http://example.com/after" not in urls


def exchange(method, block, number=1, **changes):
    """A request and its response."""
    url = f"http://example.com/{number}"
    return (record(block=block, WARC_Record_ID=f"<urn:x:{number}>", WARC_Target_URI=url, **changes)
            + record("request", f"{method} /{number} HTTP/1.1\r\nHost: example.com\r\n\r\n".encode(), WARC_Concurrent_To=f"<urn:x:{number}>",
                     WARC_Target_URI=url, Content_Type="application/http;msgtype=request"))


def test_responses_without_bodies():
    """Redirects without the body that they announce are kept; answers to HEAD and 304 have none, and are left out for that."""
    length = b"Content-Length: 244"
    file = write("bodies.warc", exchange("GET", http(b"", b"Location: /y", length, b"Cache-Control: max-age=3600", status="301 Moved Permanently"))
                 + exchange("HEAD", http(b"", length), 2) + exchange("GET", http(b"", length, status="204 No Content"), 3)
                 + exchange("GET", http(b"", length, status="304 Not Modified"), 4) + exchange("GET", http(b"", length), 5)
                 + exchange("HEAD", http(b"", length, status="302 Found"), 6) + exchange("GET", http(b"he", length, status="302 Found"), 7)
                 + exchange("HEAD", http(b""), 8))
    entries, notes = listed(file)
    assert {url.rsplit("/", 1)[1]: entry["status"] for url, entry in entries.items()} == {"1": 301, "3": 204}
    assert "redirects that were recorded without their bodies: 1" in notes
    for reason, count in [("it answers a HEAD request", 3), ("it only confirms a stored response (status 304)", 1), ("it is shorter than its Content-Length", 2)]:
        assert re.search(rf"{count} (entry|entries) .* because {re.escape(reason)}", notes), notes
    result, said = imported(file, status=3)
    assert b"redirects that were recorded without their bodies: 1" in result.stderr
    kept = json.loads(run("check", path("imported"), "--format", "json").stdout)
    assert not [finding for finding in kept["findings"] if finding["code"] == "partial-body"], kept
    explained = json.loads(run("explain", path("imported"), "http://example.com/1", "--platform", "rfc9111", "--at", "2024-05-06T07:10:00Z",
                               "--format", "json").stdout)
    assert "incomplete" not in json.dumps(explained)


@pytest.mark.parametrize("size", [7, 200_000], ids=["short", "long"])
def test_bodies_longer_than_announced(size):
    """What follows the announced length is no part of the message, unless a digest or a coding says otherwise."""
    start, whole = b"s" * size, b"s" * size + b"\r\nEXTRA BYTES"
    length = b"Content-Length: %d" % size
    cases = {
        "cut": (start, record(block=http(whole, length))),
        "digest of the whole": (whole, record(block=http(whole, length), WARC_Payload_Digest=sha1(whole))),
        "digest of the start": (start, record(block=http(whole, length), WARC_Payload_Digest=sha1(start))),
        "decoded, with its coding": (whole, record(block=http(whole, length, b"Content-Encoding: gzip"))),
        "chunked": (whole, record(block=http(b"%x\r\n%s\r\n0\r\n\r\n" % (len(whole), whole), length, b"Transfer-Encoding: chunked"))),
        "two lengths": (whole, record(block=http(whole, length, b"Content-Length: 3"))),
        "no content": (b"", record(block=http(whole, status="204 No Content"))),
    }
    for name, (wanted, data) in cases.items():
        for file in [write("long.warc", data), write("long.warc.gz", gzip.compress(data))]:
            assert body(file, "http://example.com/a") == wanted, name
            assert listed(file)[0]["http://example.com/a"]["size"] == len(wanted), name
            imported(file)
            assert dict(native_bodies(path("imported")))["http://example.com/a"] == hashlib.sha256(wanted).hexdigest(), name
    wrong = write("wrong.warc", record(block=http(whole, length), WARC_Payload_Digest=sha1(b"other")))
    assert not listed(wrong)[0]


def test_codings():
    """A body is decoded by the coding that it has, and stored as it is if it was decoded already, or if the coding is none."""
    whole = b"hello " * 150
    bodies = {
        "gzip": (gzip.compress(whole), whole), "x-gzip": (gzip.compress(whole), whole), "gzip, gzip": (gzip.compress(gzip.compress(whole)), whole),
        "deflate": (zlib.compress(whole), whole), "GZIP": (gzip.compress(whole), whole), "identity": (whole, whole), "UTF-8": (whole, whole),
    }
    for coding, (sent, stored) in bodies.items():
        file = write("coded.warc", record(block=http(sent, b"Content-Encoding: " + coding.encode())))
        assert body(file, "http://example.com/a") == stored, coding
    # Browsers hand decoded bodies to recorders, with the coding and the coded length.
    for coding in [b"gzip", b"br", b"deflate"]:
        file = write("decoded.warc", record(block=http(whole, b"Content-Encoding: " + coding, b"Content-Length: 34")))
        assert body(file, "http://example.com/a") == whole, coding
        imported(file)
        assert dict(native_bodies(path("imported"))) == {"http://example.com/a": hashlib.sha256(whole).hexdigest()}
    empty = write("empty.warc", record(block=b"HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"))
    assert listed(empty)[0]["http://example.com/a"]["size"] == 0


def test_chains_of_revisits(thorough):
    """A revisit of a revisit has the body of the last record; one that comes back to itself has none."""
    count = 300_000 if thorough else 2_000
    first = record(block=http(b"hello"), WARC_Record_ID="<urn:x:0>", WARC_Target_URI="http://example.com/0")

    def revisit(number, other):
        return record("revisit", http(b""), WARC_Record_ID=f"<urn:x:{number}>", WARC_Refers_To=f"<urn:x:{other}>",
                      WARC_Target_URI=f"http://example.com/{number}")

    chain = b"".join(revisit(number, number - 1) for number in range(1, count))
    ring = b"".join(revisit(number, other) for number, other in [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")])
    file = write("chain.warc", chain + first + ring)
    result = run("list", file, "--columns", "url,size", "--format", "csv")
    rows = result.stdout.decode().splitlines()[1:]
    assert len(rows) == count and set(row.rsplit(",", 1)[1] for row in rows) == {"5"}
    assert b"4 entries in the archive are not shown, each because the record that it revisits is missing" in result.stderr


def test_hosts_of_requests():
    """A request that stored a `Host` field has it again after a WARC or a WACZ, and only that."""
    asked = [{"name": "Host", "value": "other.example"}, {"name": "Accept", "value": "*/*"}]
    har = write("host.har", har_of(entry("https://a.example/x", "hello", request_headers=asked)))
    imported(har, name="first")
    for ending in ["warc", "warc.gz", "wacz"]:
        run("export", "-c", path("first"), "-o", path(f"host.{ending}"), "--force")
        imported(path(f"host.{ending}"), name="second")
        shown = json.loads(run("list", path("second"), "--columns", "request-headers", "--format", "json").stdout)
        assert shown["entries"][0]["request_headers"] == [["Host", "other.example"], ["Accept", "*/*"]], ending
        run("diff", path("first"), path("second"))


# WACZ

def wacz(files, **changes):
    return hostile_waczs.pack(hostile_waczs.described(files, **changes))


def numbered(*numbers):
    return [record(block=http(b"body %d" % number), WARC_Target_URI=f"http://example.com/{number}") for number in numbers]


def packed(records):
    return b"".join(map(gzip.compress, records))


def check_bodies(file, count):
    for opened in [file, path("imported")]:
        if opened != file:
            imported(file)
        entries, _ = listed(opened)
        assert set(entries) == {f"http://example.com/{number}" for number in range(count)}
        for number in range(count):
            assert body(opened, f"http://example.com/{number}") == b"body %d" % number


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "compressed"])
def test_plain_and_compressed_warc_files(method):
    """A WACZ may have plain and compressed WARC files, in any order."""
    plain, zipped = b"".join(numbered(0, 1)), packed(numbered(2, 3))
    for order in [("1.warc", "2.warc.gz"), ("2.warc.gz", "1.warc")]:
        files = {f"archive/{name}": plain if name == "1.warc" else zipped for name in order}
        check_bodies(write("mixed.wacz", hostile_waczs.pack(hostile_waczs.described(files), method)), 4)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "compressed"])
def test_wacz_of_waczs(method):
    """A WACZ whose members are WACZ files, as a crawler's collection is downloaded."""
    inner = {"a.wacz": wacz({"archive/data.warc.gz": packed(numbered(0, 1))}), "b.wacz": wacz({"archive/data.warc": b"".join(numbered(2))})}
    outer = hostile_waczs.described(inner, profile="multi-wacz-package")
    check_bodies(write("multi.wacz", hostile_waczs.pack(outer, method)), 3)
    changed = {**outer, "a.wacz": inner["a.wacz"].replace(b"data.warc", b"DATA.warc", 1)}
    assert b"error: " in run("list", write("changed.wacz", hostile_waczs.pack(changed, method)), status=65).stderr
    unlisted = {**outer, "c.wacz": inner["a.wacz"]}
    assert b"does not list" in run("list", write("unlisted.wacz", hostile_waczs.pack(unlisted, method)), status=65).stderr
    deep = wacz({"d.wacz": hostile_waczs.pack(outer)})
    assert b"not supported" in run("list", write("deep.wacz", deep), status=65).stderr


# HAR

def entry(url="https://a.example/x", text=None, request_headers=(), headers=(), **content):
    if text is not None:
        content["text"] = text
    return {"startedDateTime": "2026-01-02T12:00:00.000Z", "time": 0, "cache": {}, "timings": {"send": 0, "wait": 0, "receive": 0},
            "request": {"method": "GET", "url": url, "httpVersion": "HTTP/1.1", "headers": list(request_headers), "queryString": [], "cookies": [],
                        "headersSize": -1, "bodySize": -1},
            "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": list(headers), "cookies": [],
                         "content": {"size": -1, "mimeType": "text/plain", **content}, "redirectURL": "", "headersSize": -1, "bodySize": -1}}


def har_of(*entries):
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries}}, ensure_ascii=False).encode()


def zip_of(files, method=zipfile.ZIP_STORED):
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return output.getvalue()


def zstd(data):
    return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout


def test_packed_hars():
    """A HAR may be compressed, in a zip file, or in UTF-16."""
    text = "smile \u263a \U0001f600 e\u0301" * 20_000
    plain = har_of(entry(text=text), entry("https://a.example/2", "second"))
    forms = {
        "a.har.gz": gzip.compress(plain), "a.har.zst": zstd(plain), "a.zhar": gzip.compress(plain), "zip.zhar": zip_of({"a.har": plain}),
        "deflated.zip": zip_of({"folder/": b"", "folder/A.HAR": plain}, zipfile.ZIP_DEFLATED),
        "le.har": b"\xff\xfe" + plain.decode().encode("utf-16-le"), "be.har": b"\xfe\xff" + plain.decode().encode("utf-16-be"),
        "mark.har": b"\xef\xbb\xbf" + plain, "le.har.gz": gzip.compress(b"\xff\xfe" + plain.decode().encode("utf-16-le")),
        "mark.zip": zip_of({"a.har": b"\xef\xbb\xbf" + plain}),
    }
    for name, data in forms.items():
        file = write(name, data)
        assert body(file, "https://a.example/x") == text.encode(), name
        imported(file)
        assert dict(native_bodies(path("imported"))) == {
            "https://a.example/x": hashlib.sha256(text.encode()).hexdigest(), "https://a.example/2": hashlib.sha256(b"second").hexdigest()}, name
    # From standard input, too.
    with open(path("zip.zhar"), "rb") as file:
        subprocess.run(["rm", "-rf", path("piped")], check=True)
        result = subprocess.run([__import__("products").tool, "import", "-", "-c", path("piped"), "--create", "apple"], stdin=file, capture_output=True)
    assert result.returncode == 0, result
    for name in ["a.har.gz", "a.har.zst", "zip.zhar"]:
        cut = run("list", write("cut", forms[name][:-20]), status=65)
        assert cut.stderr.startswith(b"error: "), name
    bomb = run("list", write("bomb.har.gz", gzip.compress(b'{"log": {' + b" " * (64 << 20))), status=65)
    assert b"limit 'ratio'" in bomb.stderr


def test_bodies_in_files():
    """`_file` names a member of the zip file or a file in the folder of the HAR, never a path and never a link."""
    secret = write("secret.txt", b"secret")
    os.makedirs(path("folder/sub"), exist_ok=True)
    for name, data in [("body.txt", b"in a file"), ("sub/deep.txt", b"deep")]:
        with open(path(f"folder/{name}"), "wb") as file:
            file.write(data)
    os.symlink(secret, path("folder/link.txt"))
    os.mkfifo(path("folder/pipe"))
    names = ["body.txt", "sub/deep.txt", "../secret.txt", secret, "link.txt", "pipe", "sub", "..", ".", "", "none.txt", "a\0b", "x" * 300]
    entries = [entry(f"https://a.example/{number}", _file=name) for number, name in enumerate(names)]
    both = entry("https://a.example/both", "inline", _file="body.txt")
    with open(path("folder/har.har"), "wb") as file:
        file.write(har_of(*entries, both))
    found, notes = listed(path("folder/har.har"))
    assert set(found) == {"https://a.example/0", "https://a.example/both"}
    assert f"{len(names) - 1} entries in the archive are not shown, each because the file with its body is missing" in notes
    assert body(path("folder/har.har"), "https://a.example/0") == b"in a file"
    assert body(path("folder/har.har"), "https://a.example/both") == b"inline"
    imported(path("folder/har.har"), status=3)
    assert dict(native_bodies(path("imported")))["https://a.example/0"] == hashlib.sha256(b"in a file").hexdigest()

    # The body of a request can be in a file, too.
    posts = [entry(f"https://a.example/{number}", "x") for number in range(4)]
    for each, data in zip(posts, [{"_file": "body.txt"}, {"_file": "../secret.txt"}, {"_file": "link.txt"}, {"_file": "body.txt", "text": "inline"}]):
        each["request"]["postData"] = {"mimeType": "text/plain", **data}
    with open(path("folder/posts.har"), "wb") as file:
        file.write(har_of(*posts))
    packed_posts = write("folder/posts.zip", zip_of({"har.har": har_of(*posts), "body.txt": b"in a file"}))
    for har in [path("folder/posts.har"), packed_posts]:
        shown = json.loads(run("show", "--prefix", "https:", "-c", har, "--json", "--show-secrets").stdout)
        bodies = {each["url"][-1]: each["request_body_base64"] for each in shown}
        assert {name: data and base64.b64decode(data) for name, data in bodies.items()} == {"0": b"in a file", "1": None, "2": None, "3": b"inline"}
    with open(path("folder/body.txt"), "wb") as file:
        file.truncate(1 << 30)
    assert b"limit 'document'" in run("list", path("folder/posts.har"), status=65).stderr

    large = os.urandom(300_000)
    packed_har = write("folder/trace.zip", zip_of({"har.har": har_of(entry(_file="1.bin"), entry("https://a.example/2", _file="none.txt"),
                                                                     entry("https://a.example/3", _file="body.txt")), "1.bin": large, "2.txt": b"other"}))
    assert set(listed(packed_har)[0]) == {"https://a.example/x"}
    assert body(packed_har, "https://a.example/x") == large
    assert b"several HAR files" in run("list", write("two.zip", zip_of({"a.har": har_of(entry(text="")), "b.har": har_of()})), status=65).stderr


def test_nothing_to_import_creates_nothing():
    """From an archive without an entry that a cache can store, no cache is created, as with a selection of nothing."""
    for options in [[], ["--create", "apple"]]:
        result = run("import", write("empty.har", har_of(entry())), "-c", path("new"), *options)
        assert not os.path.exists(path("new")) and b"no cache was created, because there is nothing to import" in result.stderr
    assert "it has no content" in result.stdout.decode()


def test_differences_that_a_har_cannot_have():
    """After a HAR, only what a HAR has no place for differs, and nothing that cannot be shown."""
    har = json.loads(har_of(*(entry(f"https://a.example/{number}", "x") for number in range(9))))
    for number, each in enumerate(har["log"]["entries"]):
        each["time"] = 1.4 * number + 0.000_31
    first = write("first.har", json.dumps(har).encode())
    run("export", "-c", first, "-o", path("second.har"), "--force", "--with-credentials")
    imported(path("second.har"), name="again")
    imported(first, name="direct")
    for pair in [(first, path("again")), (first, path("second.har")), (path("direct"), path("again"))]:
        assert run("diff", *pair, "--detail").stdout == b"", pair


# Others

def test_what_is_not_ours_is_named():
    """An archive that cannot be read is named, with what to do about it."""
    arc = b"filedesc://x.arc 0.0.0.0 20200101000000 text/plain 77\n1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n\n"
    plain = har_of(entry(text="x"))
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("other"))
    cases = {
        "x.arc": (arc, "an ARC file", "warcio recompress"), "x.arc.gz": (gzip.compress(arc), "an ARC file", "warcio recompress"),
        "x.warc.zst": (b"\x5d\x2a\x4d\x18" + b"\x10\0\0\0" + bytes(16) + zstd(b"WARC/1.1"), "a dictionary", "zstdwarccat"),
        "x.warc.lz4": (b"\x04\x22\x4d\x18" + bytes(50), "LZ4", "lz4 -d"), "x.harp": (b"onInputData(" + plain + b");", "JSONP", "remove the text"),
        "x.js": (b" callback.of ( \n" + plain + b")", "JSONP", "remove the text"), "x.zip": (zip_of({"a.txt": b"x"}), "a zip file", "unpack it"),
        "x.warc.bz2": (bz2.compress(record()), "bzip2", "bunzip2"), "x.warc.xz": (lzma.compress(record()), "xz", "xz -dk"),
        "x.gz": (gzip.compress(b"hello " * 500), "it is compressed, but contains neither", "decompress it"),
        "x.7z": (b"7z\xbc\xaf\x27\x1c" + bytes(50), "a 7z archive", "unpack it"),
    }
    for name, (data, fact, hint) in cases.items():
        file = write(name, data)
        for words in [("list", file), ("import", file, "-c", path("new"), "--create", "apple"), ("diff", file, file)]:
            said = run(*words, status=65).stderr.decode()
            assert fact in said.splitlines()[0] and "hint: " + "" in said and hint in said, (words, said)
            assert "SQLite" not in said and "libarchive" not in said, said
        assert not os.path.exists(path("new"))


def test_many_foreign_members():
    """That a zip file is not ours is known from the start of its directory."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for number in range(30_000):
            archive.writestr(zipfile.ZipInfo(f"{number:07}"), b"")
    file = write("many.zip", output.getvalue())
    began = time.monotonic()
    status, errors, peak = peak_of(["list", file])
    assert status == 65 and b"it is a zip file" in errors
    assert peak < 40 << 20 and time.monotonic() - began < 5, (peak, time.monotonic() - began)
