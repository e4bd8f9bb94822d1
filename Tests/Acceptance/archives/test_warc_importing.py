"""Imports WARC and WACZ files of others, and hostile ones; warcio says what is right."""

import glob
import gzip
import hashlib
import io
import itertools
import json
import os
import re
import shutil
import uuid
import zipfile

import pytest

import hostile_waczs
import hostile_warcs
import samples
import scratch
from scratch import export, in_parallel, make, own, path, peak_of, read, run, tree, write
from web_archives import is_checked, native_bodies, records, warcio_bodies

StatusAndHeaders = pytest.importorskip("warcio.statusandheaders", reason="warcio: not here").StatusAndHeaders
WARCWriter = pytest.importorskip("warcio.warcwriter", reason="warcio: not here").WARCWriter


def imported(file, *options, status=0):
    """Imports into a new cache; returns its bodies, and what was said."""
    new = path("imported")
    shutil.rmtree(new, ignore_errors=True)
    said = run("import", file, "-c", new, "--create", "apple", "--format", "json", *options, status=status)
    # An import of nothing creates no cache.
    return dict(native_bodies(new)) if os.path.exists(new) else {}, json.loads(said.stdout)


def warcs():
    """Files as a crawler writes them: plain and packed, and one with another digest than its bytes have."""
    for packed in [False, True]:
        output = io.BytesIO()
        writer = WARCWriter(output, gzip=packed)
        writer.write_record(writer.create_warcinfo_record("crawl.warc", {"software": "crawler"}))
        for number in range(3):
            url = f"http://example.com/{number}"
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.1")
            response = writer.create_warc_record(url, "response", payload=io.BytesIO(b"body %d\n" % number * 9), http_headers=head)
            asked = StatusAndHeaders(f"GET /{number} HTTP/1.1", [("Host", "example.com")], is_http_request=True)
            writer.write_request_response_pair(writer.create_warc_record(url, "request", http_headers=asked), response)
        writer.write_record(writer.create_revisit_record("http://example.com/again", response.rec_headers["WARC-Payload-Digest"], url,
                                                         response.rec_headers["WARC-Date"]))
        data = output.getvalue()
        yield write(f"packed{packed}.warc" + ".gz" * packed, data)
        if not packed:
            yield write("changed.warc", data.replace(b"body 1", b"BODY 1", 1))


@pytest.mark.parametrize("kind", ["made", pytest.param("real", marks=samples.needed)])
def test_files_of_others(kind):
    """From a WARC file of another program all responses are imported, and a file that warcio finds wrong is refused."""
    files = list(warcs()) if kind == "made" else sorted(glob.glob(os.path.join(samples.folder("warc"), "*.warc*")))
    assert files
    for file in files:
        expected, bad = {}, False
        try:
            by_digest = {}
            for record, body in records(file):
                headers, url = record.rec_headers, record.rec_headers["WARC-Target-URI"]
                if record.rec_type == "response":
                    by_digest[headers["WARC-Payload-Digest"]] = hashlib.sha256(body).hexdigest()
                if record.rec_type in ("response", "revisit") and url.startswith("http"):
                    expected[url] = by_digest[headers["WARC-Payload-Digest"]]
        except Exception as error:
            bad = "igest" in str(error) or "newline" in str(error)
            assert bad, (file, error)
        if bad or not is_checked(file):
            before = tree(scratch.root)
            run("import", file, "-c", path("refused"), "--create", "apple", "--strict", status=65)
            assert tree(scratch.root) == before
        else:
            assert imported(file)[0] == expected, file


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_file_of_warcio(packed):
    """A file as warcio writes it, with all kinds of records, is imported as warcio reads it."""
    file = path("warcio.warc")
    with open(file, "wb") as output:
        writer = WARCWriter(output, gzip=packed)
        writer.write_record(writer.create_warcinfo_record("x.warc.gz", {"software": "warcio"}))
        expected = {}

        def respond(url, body, sent=None, fields=(), status="200 OK", kind="response", **options):
            head = StatusAndHeaders(status, [("Content-Type", "text/plain"), *fields], protocol="HTTP/1.1")
            record = writer.create_warc_record(url, kind, payload=io.BytesIO(body if sent is None else sent), http_headers=head, **options)
            writer.write_record(record)
            expected[url] = hashlib.sha256(body).hexdigest()
            return record

        large = bytes(range(256)) * 1024
        chunks = b"".join(b"%X;x=y\r\n%s\r\n" % (len(piece), piece) for piece in [b"hello ", b"chunked\r\n", b"world"]) + b"0\r\nX: y\r\n\r\n"
        first = respond("http://example.com/plain", b"hello")
        respond("http://example.com/empty", b"")
        respond("http://example.com/large", large)
        respond("http://example.com/chunked", b"hello chunked\r\nworld", chunks, [("Transfer-Encoding", "chunked")])
        respond("http://example.com/gzip", large, gzip.compress(large), [("Content-Encoding", "gzip")])
        respond("http://example.com/members", large * 2, gzip.compress(large) * 2, [("Content-Encoding", "x-gzip")])
        respond("http://example.com/behind", large, gzip.compress(large) + b"garbage", [("Content-Encoding", "gzip")])
        respond("http://example.com/both", large, b"%x\r\n%s\r\n0\r\n\r\n" % (len(gzip.compress(large)), gzip.compress(large)),
                [("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")])
        respond("http://example.com/undone", b"already", fields=[("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")])
        respond("http://example.com/repeated", b"x", fields=[("Vary", "Accept-Language"), ("X-A", "1"), ("X-A", "2"), (":status", "200")])
        respond("http://example.com/moved", b"", fields=[("Location", "/plain")], status="301 Moved Permanently")
        respond("http://example.com/r\u00e9sum\u00e9", b"x", fields=[("X-Name", "r\u00e9sum\u00e9")])
        # The same again, and what has changed since.
        respond("http://example.com/newer", b"old", warc_headers_dict={"WARC-Date": "2020-01-01T00:00:00Z"})
        respond("http://example.com/newer", b"new", warc_headers_dict={"WARC-Date": "2021-01-01T00:00:00Z"})
        respond("http://example.com/older", b"new", warc_headers_dict={"WARC-Date": "2021-01-01T00:00:00.5Z"})
        respond("http://example.com/older", b"old", warc_headers_dict={"WARC-Date": "2021-01-01T00:00:00Z"})
        expected["http://example.com/older"] = hashlib.sha256(b"new").hexdigest()
        revisit = writer.create_revisit_record(
            "http://example.com/revisit", first.rec_headers["WARC-Payload-Digest"], "http://example.com/plain",
            first.rec_headers["WARC-Date"], http_headers=StatusAndHeaders("200 OK", [("X-Again", "yes")], protocol="HTTP/1.1"))
        writer.write_record(revisit)
        expected["http://example.com/revisit"] = expected["http://example.com/plain"]
        resource = writer.create_warc_record("http://example.com/resource", "resource", payload=io.BytesIO(b"pic"), warc_content_type="image/png")
        writer.write_record(resource)
        expected["http://example.com/resource"] = hashlib.sha256(b"pic").hexdigest()
        # A request before its response, and one after it.
        for name, order in [("before", 1), ("after", -1)]:
            head = StatusAndHeaders("200 OK", [("Vary", "Accept-Language")], protocol="HTTP/1.1")
            response = writer.create_warc_record(f"http://example.com/{name}", "response", payload=io.BytesIO(b"y"), http_headers=head)
            asked = StatusAndHeaders("GET /x HTTP/1.1", [("Accept-Language", name)], is_http_request=True)
            request = writer.create_warc_record(f"http://example.com/{name}", "request", http_headers=asked,
                                                warc_headers_dict={"WARC-Concurrent-To": response.rec_headers["WARC-Record-ID"]})
            for record in [request, response][::order]:
                writer.write_record(record)
            expected[f"http://example.com/{name}"] = hashlib.sha256(b"y").hexdigest()
    for name in ["warcio.warc", "one member"]:
        if name == "one member":
            # As some programs pack it: all records in one member.
            data = read(file)
            file = write(name, gzip.compress(gzip.decompress(data) if packed else data))
        bodies, said = imported(file)
        assert bodies == {url.replace("\u00e9", "%C3%A9") if url not in bodies else url: digest for url, digest in expected.items()}, bodies
        assert said["omitted"] == [{"reason": "there is another response for the same URL", "count": 2}], said
        shown = {entry["url"]: entry for entry in json.loads(
            run("list", "-c", path("imported"), "--columns", "url,mime,stored,request-headers,response-headers",
                "--show-secrets", "--format", "json").stdout)["entries"]}
        assert ["X-Again", "yes"] in shown["http://example.com/revisit"]["response_headers"]
        assert shown["http://example.com/resource"]["mime"] == "image/png"
        assert ["X-A", "2"] in shown["http://example.com/repeated"]["response_headers"]
        assert not any(name.startswith(":") for name, _ in shown["http://example.com/repeated"]["response_headers"])
        for name in ["before", "after"]:
            assert ["Accept-Language", name] in shown[f"http://example.com/{name}"]["request_headers"], name
        assert shown["http://example.com/newer"]["stored"] == "2021-01-01T00:00:00Z"


def test_omissions():
    """A record that makes no entry is left out and counted, and the entries around it are imported."""
    good = hostile_warcs.record(WARC_Target_URI="http://example.com/good")
    expected = {"http://example.com/good": hashlib.sha256(b"hello\n").hexdigest()}
    parts = {"status 206", "in the middle of a chunk", "shorter than its Content-Length", "it was truncated", "a segment",
             "does not match the digest of its block", "does not match the digest of its payload"}
    for words, record in hostile_warcs.omitted():
        bodies, said = imported(write("omitted.warc", record + good), status=3 if words in parts else 0)
        assert bodies == expected, (words, bodies)
        assert sum(omission["count"] for omission in said["omitted"]) == (words != ""), (words, said["omitted"])
        assert words == "" or words in said["omitted"][0]["reason"], (words, said["omitted"])


def test_methods():
    """A response to another method than GET is imported only with '--any-method', and never instead of one to GET."""
    def post(name):
        return (hostile_warcs.record("request", b"POST /a HTTP/1.1\r\nHost: example.com\r\n\r\nx=y", WARC_Concurrent_To=name)
                + hostile_warcs.record(block=hostile_warcs.http(b"posted"), WARC_Record_ID=name, WARC_Date="2025-01-01T00:00:00Z"))
    posted = {"http://example.com/a": hashlib.sha256(b"posted").hexdigest()}
    file = write("post.warc", post("<urn:x:post>"))
    bodies, said = imported(file, status=3)
    assert bodies == {} and said["other_method"]["entries"] == 1, said
    assert imported(file, "--any-method")[0] == posted
    bodies, said = imported(write("both.warc", hostile_warcs.record() + post("<urn:x:post>")))
    assert bodies == {"http://example.com/a": hashlib.sha256(b"hello\n").hexdigest()}, said


def good_files():
    """A cache, and the bytes of its WARC, packed WARC and WACZ."""
    small = make("small", entries=4, seed=8)
    return small, read(export(small, "small.warc")), read(export(small, "small.warc.gz")), read(export(small, "small.wacz"))


def test_hostile_files(thorough):
    """A hostile file is refused with one error, takes little memory, and changes nothing."""
    small, ours, packed, wacz = good_files()
    run("import", write("good", hostile_waczs.pack(hostile_waczs.described(hostile_waczs.members(wacz)))), "-c", small)
    cache = make("target", entries=4, seed=9)
    before, count = tree(cache), 0
    for name, data in itertools.chain(hostile_warcs.all(ours, packed), hostile_waczs.all(wacz)):
        cut = re.search(r"cut off at (\d+) of", name)
        if cut and int(cut[1]) % 3 and not thorough:
            continue
        archive = write("hostile", data)
        status, errors, peak = peak_of(["import", archive, "-c", cache])
        assert status == 65, (name, status, errors)
        lines = errors.decode().splitlines()
        assert lines and lines[0].startswith("error: ") and len(lines) <= 2, (name, errors)
        assert all(0x20 <= byte < 0x7F or byte == 0x0A for byte in errors), (name, errors)
        assert peak < 128 << 20, (name, peak)
        assert tree(cache) == before, name
        count += 1
    assert count > (170 if thorough else 130), count


def test_misleading_and_changed_files(thorough):
    """A file with an index that leads elsewhere, or with a changed bit, is refused, or has all that was in it."""
    flips = 500 if thorough else 20
    small, ours, packed, wacz = good_files()
    good = imported(path("small.warc"))[0]
    misleading = [data for _, data in hostile_waczs.misleading(wacz)]

    def is_refused(data):
        new = path(own("imported"))
        shutil.rmtree(new, ignore_errors=True)
        status, errors, _ = peak_of(["import", write(own("flip"), data), "-c", new, "--create", "apple", "--strict"])
        assert status in (0, 65), (status, errors)
        if status == 65:
            assert not os.path.exists(new), errors
        else:
            run("diff", path("small.warc"), new)
            assert dict(native_bodies(new)) == good
        return status == 65

    assert sum(in_parallel(is_refused, misleading)) < len(misleading)
    changed = itertools.chain(hostile_warcs.flips(flips, ours, packed), hostile_waczs.flips(wacz, flips))
    refused = sum(in_parallel(is_refused, changed))
    assert refused > 2.5 * flips, refused


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "compressed"])
def test_several_warc_files(method):
    """A WACZ has all responses of its WARC files, whether or not the zip file has compressed them again."""
    parts = [read(export(make(f"part{seed}", entries=20, seed=seed), f"part{seed}.warc.gz")) for seed in (1, 2, 3)]
    files = {"pages/pages.jsonl": b"{}", **{f"archive/{number}.warc.gz": part for number, part in enumerate(parts)}}
    packed = write("parts.wacz", hostile_waczs.pack(hostile_waczs.described(files), method))
    bodies, said = imported(packed, "--any-method")
    joined, said_of_joined = imported(write("parts.warc.gz", b"".join(parts)), "--any-method")
    assert len(bodies) > 40 and bodies == joined
    del said["archive"], said_of_joined["archive"]
    assert said == said_of_joined


def test_salvaging():
    """`--salvage` imports the whole records of a file that is cut off; without it nothing is imported."""
    made = make("salvaged", entries=20, seed=5)
    data = read(export(made, "salvaged.warc.gz"))
    whole = dict(warcio_bodies(path("salvaged.warc.gz")))
    counts = []
    for tenth in range(1, 10):
        file = write("cut.warc.gz", data[:len(data) * tenth // 10])
        run("import", file, "-c", path("nowhere"), "--create", "apple", status=65)
        assert not os.path.exists(path("nowhere"))
        bodies, said = imported(file, "--salvage", status=3)
        assert bodies.items() <= whole.items() and said["damage"], tenth
        there = []
        try:
            there = [record for record, _ in records(file) if record.rec_type == "response"]
        except Exception:
            pass
        counts.append(len(bodies))
    assert counts == sorted(counts) and counts[-1] > counts[0], counts
    file = write("one.warc", hostile_warcs.record() + hostile_warcs.record(WARC_Target_URI="http://example.com/b")[:-30])
    assert list(imported(file, "--salvage", status=3)[0]) == ["http://example.com/a"]


def test_long_heads_stay_in_order():
    """Threads make the entries of a compressed file, and send a batch in parts if its heads are long."""
    urls = [f"http://example.com/{number}" for number in range(200)]
    members = []
    for number, url in enumerate(urls):
        block = f"HTTP/1.1 200 OK\r\nX-Long: {str(number) * 20_000}\r\nContent-Length: 1\r\n\r\nb"
        members.append(gzip.compress((
            f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{uuid.UUID(int=number)}>\r\nWARC-Target-URI: {url}\r\n"
            f"WARC-Date: 2025-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
            f"{block}\r\n\r\n").encode()))
    file = write("long.warc.gz", b"".join(members))
    imported(file)
    for cache in [file, path("imported")]:
        listed = run("list", cache, "--columns", "id,url", "--format", "csv").stdout.decode().splitlines()[1:]
        assert listed == [f"{number + 1},{url}" for number, url in enumerate(urls)]
