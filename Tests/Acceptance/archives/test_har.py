"""Exports caches as HAR and imports HARs, and holds both against `sqlite3`, `plistlib` and `json`; haralyzer, har2warc and warcio judge what is exported.

A debug build takes seconds for each MiB of URLs. By default the limit of all URLs together is therefore set to 1 MiB, and the URLs of a long HAR have
1.5 MiB; with `--thorough` it is the built-in limit of 256 MiB, and the URLs of the long HAR have 40 MiB.
"""

import base64
import collections
import datetime
import glob
import hashlib
import json
import os
import plistlib
import re
import shutil
import sqlite3
import string
import tarfile
import urllib.parse

import pytest

import hostile_hars
import samples
import scratch
from judge_har import judge
from scratch import export, make, path, peak_of, read, run, tree, write

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
CREDENTIALS = {"authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie", "set-cookie2"}


def load(archive):
    """The log of a HAR, no name of which is there twice."""
    def once(pairs):
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)
    data = read(archive)
    assert data.isascii() and data.endswith(b"}}\n")
    return json.loads(data, object_pairs_hook=once)["log"]


def body_of(entry):
    content = entry["response"]["content"]
    if "text" not in content:
        return None
    return base64.b64decode(content["text"], validate=True) if content.get("encoding") == "base64" else content["text"].encode()


def digest_of(bodies):
    """What the checkers of all formats print."""
    lines = sorted(f"{hashlib.sha256(body).hexdigest()} {url}\n" for url, body in bodies)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def bodies_of_tar(archive):
    with tarfile.open(archive) as file:
        members = {info.name: file.extractfile(info).read() for info in file}
    for name, data in members.items():
        if name.endswith("/entry.json") and (body := members.get(name.replace("entry.json", "body"))) is not None:
            yield json.loads(data)["url"], body


def text_url(value):
    return value["_CFURLString"] if isinstance(value, dict) else value


def fields(dictionary):
    """The header fields of a property list, with those that are repeated apart."""
    packed = dictionary.get("__hhaa__")
    values = plistlib.loads(base64.b64decode(packed)) if packed else {}
    return sorted((name, value) for name, joined in dictionary.items() if name != "__hhaa__"
                  for value in values.get(name, [joined]))


def stored(cache):
    """What a cache has of each entry, by sqlite3 and plistlib."""
    copy = scratch.copy(cache, "copy")
    database = sqlite3.connect(sorted(glob.glob(os.path.join(copy, "*.db")))[0])
    database.row_factory = sqlite3.Row
    entries = {}
    for row in database.execute("SELECT * FROM cfurl_cache_response JOIN cfurl_cache_blob_data USING (entry_ID) "
                                "JOIN cfurl_cache_receiver_data USING (entry_ID)"):
        body = row["receiver_data"]
        if row["isDataOnFS"] > 0:
            name = body if isinstance(body, str) else body.decode()
            with open(os.path.join(copy, "fsCachedData", name), "rb") as file:
                body = file.read()
        response = plistlib.loads(row["response_object"])["Array"]
        request = plistlib.loads(row["request_object"])["Array"]
        # A request of an older version has its method and fields elsewhere.
        place = next(index for index, value in enumerate(request) if value in ("GET", "POST", "HEAD", "PUT"))
        entries[str(row["entry_ID"])] = {
            "url": text_url(response[0]), "stored": response[1], "status": response[3], "headers": fields(response[4]),
            "method": request[place], "request": fields(request[place + 1]) if isinstance(request[place + 1], dict) else [],
            "body": body if isinstance(body, bytes) else (body or "").encode(), "key": row["request_key"],
            "partition": row["partition"] if "partition" in row.keys() else None}
    database.close()
    return entries


def uri(url):
    """The URL with what may stand in no URI escaped."""
    return urllib.parse.quote(url, safe=string.punctuation.translate(dict.fromkeys(map(ord, '<>"{}|\\^`'))))


def kept(pairs):
    return sorted((name, value) for name, value in pairs if name.lower() not in CREDENTIALS)


def check(archive, cache):
    """Holds a HAR against its cache, value by value."""
    log, entries = load(archive), stored(cache)
    assert log["version"] == "1.2" and log["creator"]["name"] == "urlcache-admin"
    assert [page["id"] for page in log["pages"]] == ["cache"]
    assert [entry["_urlcache"]["entry_ID"] for entry in log["entries"]] == sorted(entries, key=int)
    for entry in log["entries"]:
        row = entries[entry["_urlcache"]["entry_ID"]]
        request, response = entry["request"], entry["response"]
        assert request["url"] == uri(row["url"]) and request["method"] == row["method"], (entry, row)
        assert response["status"] == row["status"], (entry, row)
        for message, expected in [(request, row["request"]), (response, row["headers"])]:
            pairs = sorted((field["name"], field["value"]) for field in message["headers"])
            assert pairs == kept(expected), (pairs, expected)
            assert message["cookies"] == [] and message["headersSize"] == message["bodySize"] == -1
        assert "postData" not in request
        query = urllib.parse.urlsplit(request["url"]).query
        assert "&".join(pair["name"] + ("=" + pair["value"] if pair["value"] else "") for pair in request["queryString"]) == "&".join(
            part for part in query.replace("=&", "&").removesuffix("=").split("&") if part), (request, query)
        assert body_of(entry) == row["body"] and response["content"]["size"] == len(row["body"]), row["url"]
        assert response["redirectURL"] == dict(row["headers"]).get("Location", ""), row
        moment = datetime.datetime.fromisoformat(entry["startedDateTime"].replace("Z", "+00:00"))
        expected = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=row["stored"])
        assert abs(moment - expected) < datetime.timedelta(milliseconds=1), (moment, expected)
        assert entry["time"] == 0 == sum(value for value in entry["timings"].values() if value > 0) and entry["cache"] == {}


def judged(archive, cache, name):
    """Has other programs judge a HAR, and compares what they and the native archive say of the bodies."""
    tar = export(cache, f"{name}.tar")
    expected = digest_of((uri(url), body) for url, body in bodies_of_tar(tar))
    found = digest_of((entry["request"]["url"], body_of(entry)) for entry in load(archive)["entries"] if body_of(entry) is not None)
    assert found == expected, (name, found, expected)
    judge(archive, path("judged.warc"))


@pytest.mark.parametrize(("options", "seed"), [(["--schema", "203"], 0), (["--schema", "202"], 1), (["--no-large-bodies"], 2)], ids=["203", "202", "small"])
def test_made_up_cache(options, seed):
    """A HAR holds all of a cache, value by value, and other programs read it."""
    cache = make("made", *options, entries=80, seed=seed)
    archive = export(cache, "made.har")
    check(archive, cache)
    judged(archive, cache, "made")


def test_faulty_cache():
    """What cannot be decoded, and what is not there, is written as far as it is known."""
    faulty = make("faulty", "--schema", "202", "--faults", "missing-bodies,undecodable", seed=4)
    archive = export(faulty, "faulty.har")
    judged(archive, faulty, "faulty")
    entries = load(archive)["entries"]
    assert len(entries) == 40 and any(body_of(entry) is None for entry in entries)
    assert any("comment" in entry for entry in entries)


def test_apple_caches(cachedb):
    """Other programs read the HARs of caches as Apple systems write them."""
    for cache in sorted(glob.glob(os.path.join(cachedb, "schema-*"))):
        judged(export(cache, "real.har", "--with-credentials"), cache, "real")


def test_many_entries(thorough):
    """The same holds for many entries. Without user information some URLs would be others than in the whole native archive."""
    many = make("many", "--no-large-bodies", entries=10_000 if thorough else 400, seed=5)
    judged(export(many, "many.har", "--with-credentials"), many, "many")


def test_conversions():
    """A HAR says the same, whatever kind of archive it is made of; what is imported is what was exported."""
    cache = make("made0", "--schema", "203", entries=40, seed=0)
    first = read(export(cache, "made0.har"))
    assert read(export(cache, "again.har")) == first
    assert run("export", "-c", cache, "-o", "-", "--archive-format", "har", env={"TZ": "Asia/Tokyo"}).stdout == first
    for format in ["tar", "zip", "tar.zst"]:
        archive = export(cache, f"between.{format}")
        assert read(export(archive, "again.har")) == first, format
    new = path("imported")
    run("import", path("made0.har"), "-c", new, "--create", "apple", "--any-method")
    old, found = stored(cache), stored(new)
    by_key = {entry["key"]: entry for entry in found.values()}
    assert len(old) == len(found) == len(by_key)
    for entry in old.values():
        other = by_key[entry["key"]]
        assert uri(entry["url"]) == other["url"], (entry, other)
        for name in ["status", "method", "body", "partition"]:
            assert entry[name] == other[name], (name, entry, other)
        assert kept(entry["headers"]) == other["headers"] and kept(entry["request"]) == other["request"], (entry, other)
        assert abs(entry["stored"] - other["stored"]) < 0.001
    # HAR to HAR changes the numbers only.
    def without_numbers(archive):
        entries = load(archive)["entries"]
        for entry in entries:
            del entry["_urlcache"]["entry_ID"]
        return entries
    assert without_numbers(export(path("made0.har"), "har.har")) == without_numbers(path("made0.har"))
    assert run("diff", "--by", "body", path("made0.har"), new).stdout == b""


def expected_of(log):
    """Which entries of a HAR a cache can have, by the rules that the documentation gives."""
    wanted, reasons = {}, collections.Counter()
    for entry in log["entries"]:
        request, response = entry["request"], entry["response"]
        status, content = response["status"], response["content"]
        if not request["url"].startswith(("http://", "https://")):
            reasons["its URL is not an HTTP URL"] += 1
        elif status == 0:
            reasons["it has no response"] += 1
        elif status < 200:
            reasons["its response is only an interim response"] += 1
        elif status == 206:
            reasons["it has only part of a body"] += 1
        elif status == 304:
            reasons["its response (304) only confirms a stored response"] += 1
        elif "text" not in content:
            reasons["it has no content"] += 1
        else:
            if request["url"] in wanted:
                reasons["another entry has the same key"] += 1
            wanted[request["url"]] = entry
    return wanted, reasons


@pytest.mark.parametrize("kind", ["made", pytest.param("real", marks=samples.needed)])
def test_hars_of_others(kind):
    """From the HAR of another program all entries are imported that a cache can have, and the others are counted by reason."""
    log = {"log": {"version": "1.2", "creator": {"name": "Firefox", "version": "1"}, "pages": [], "entries": hostile_hars.browsed()}}
    made = [write("made.har", json.dumps(log, indent=1).encode()), write("marked.har", b"\xef\xbb\xbf" + json.dumps(log).encode())]
    files = made if kind == "made" else sorted(glob.glob(os.path.join(samples.folder("har"), "*.har")))
    assert files
    for file in files:
        with open(file, encoding="utf-8-sig") as data:
            wanted, reasons = expected_of(json.load(data)["log"])
        new = path("new")
        shutil.rmtree(new, ignore_errors=True)
        status = 3 if reasons["it has only part of a body"] else 0
        result = json.loads(run("import", file, "-c", new, "--create", "apple", "--any-method", "--format", "json", status=status).stdout)
        assert result["added"]["entries"] == len(wanted), (file, result)
        assert {item["reason"]: item["count"] for item in result["omitted"]} == reasons, (file, result["omitted"], reasons)
        found = {entry["url"]: entry for entry in stored(new).values()}
        assert set(found) == set(wanted), (file, set(found) ^ set(wanted))
        for url, entry in wanted.items():
            assert found[url]["body"] == body_of(entry) and found[url]["status"] == entry["response"]["status"], url
            moment = datetime.datetime.fromisoformat(entry["startedDateTime"].replace("Z", "+00:00"))
            moment = (moment - EPOCH).total_seconds() - 978307200 + entry["time"] / 1000
            assert abs(found[url]["stored"] - moment) < 0.01, (url, found[url]["stored"], moment)


def test_odd_hars():
    """What programs write that they should not is imported, or left out and counted."""
    entries, expected, reasons = hostile_hars.odd()
    new = path("odd")
    for start, end in [(b"", b""), (b"\xef\xbb\xbf", b""), (b" \r\n\t", b"\n \n")]:
        archive = write("odd.har", start + json.dumps({"log": {"entries": entries}}).encode() + end)
        result = json.loads(run("import", archive, "-c", new, "--create", "apple", "--format", "json", status=3).stdout)
        assert {item["reason"]: item["count"] for item in result["omitted"]} == reasons, (result["omitted"], reasons)
        assert result["other_method"]["entries"] == 1, result
        found = {entry["url"]: entry for entry in stored(new).values()}
        assert set(found) == set(expected), set(found) ^ set(expected)
        for url, (status, headers, body) in expected.items():
            assert (found[url]["status"], found[url]["headers"], found[url]["body"]) == (status, headers, body), (url, found[url])
        shutil.rmtree(new)
    # All names that are not told apart by case, and the order of the members, do not matter.
    turned = json.dumps({"z": [1], "log": {"a": {"entries": [1]}, "entries": entries, "version": 7}}).encode()
    run("import", write("turned.har", turned), "-c", new, "--create", "apple", "--any-method", status=3)
    assert len(stored(new)) == len(expected) + 1
    # Only a part of a body is something that was lost.
    for status, wanted in [(206, 3), (304, 0), (200, 0)]:
        shutil.rmtree(new, ignore_errors=True)
        one = json.dumps({"log": {"entries": [hostile_hars.entry(status=status)]}}).encode()
        run("import", write("one.har", one), "-c", new, "--create", "apple", status=wanted)
    # What has wrong types is taken or left out, and counted in either case.
    items = list(hostile_hars.mistyped())
    for number, item in enumerate(items):
        if isinstance(item, dict) and isinstance(item.get("request"), dict) and isinstance(item["request"].get("url"), str):
            item["request"]["url"] += f"?{number}"
    last = hostile_hars.entry("http://last.example/")
    shutil.rmtree(new, ignore_errors=True)
    archive = write("mistyped.har", json.dumps({"log": {"entries": [*items, last]}}).encode())
    result = json.loads(run("import", archive, "-c", new, "--create", "apple", "--any-method", "--format", "json").stdout)
    omitted = sum(item["count"] for item in result["omitted"])
    assert len(items) > 200 and omitted > 50 and result["added"]["entries"] == len(items) + 1 - omitted, result
    assert b"http://last.example/" in run("list", "-c", new, "--format", "urls").stdout.splitlines()


# A debug build reads each of these for seconds.
LONG = ["a name of 60 MiB", "surrogates without end", "a number of 60 MiB", "blanks without end", "header fields without end, which are held"]


def test_hostile_hars(thorough):
    """A hostile HAR is refused with one error, takes little memory, and changes nothing."""
    cache = make("target", entries=6, seed=9)
    good = read(export(make("small", entries=6, seed=8), "small.har"))
    before, count = tree(cache), 0
    most_urls, options = (256, []) if thorough else (1, ["--archive-limit", f"urls={1 << 20}"])
    for name, pieces in hostile_hars.broken(good, most_urls, thorough):
        if name in LONG and not thorough:
            continue
        with open(path("hostile"), "wb") as file:
            for piece in pieces:
                file.write(piece)
        status, errors, peak = peak_of(["import", path("hostile"), "-c", cache, *options])
        assert status == 65, (name, status, errors)
        lines = errors.decode().splitlines()
        assert lines and lines[0].startswith("error: ") and len(lines) <= 2 and len(errors) < 1000, (name, errors)
        assert all(0x20 <= byte < 0x7F or byte == 0x0A for byte in errors), (name, errors)
        # Of one entry 64 MiB may be held; of what is passed over, nothing.
        assert peak < (400 << 20 if "held" in name else 48 << 20), (name, peak)
        if "URLs" in name:
            assert b"exceeds the limit 'urls' of" in errors and peak < (48 + 2 * most_urls) << 20, (errors, peak)
        assert tree(cache) == before, name
        count += 1
    assert count > (130 if thorough else 60), count
    # What is whole before the damage can be taken; what comes after it is never.
    cut = good[:good.rindex(b"\n{")]
    new = path("salvaged")
    run("import", write("cut.har", cut), "-c", new, "--create", "apple", "--any-method", "--salvage", status=3)
    assert len(stored(new)) == 5


def test_text_twice():
    """Of two texts of a body the last one counts, in each of the readings, and the entry after them is found."""
    def entry(number, *texts):
        # The encoding is between them: a reading that skips them together would miss it.
        members = ', "encoding": "base64"'.join(f', "text": {json.dumps(text)}' for text in texts)
        return ('{"startedDateTime": "2026-01-01T00:00:00Z", "time": 1, "request": {"method": "GET", '
                f'"url": "https://a.example/{number}", "headers": []}}, "response": {{"status": 200, "headers": [], '
                f'"content": {{"mimeType": "text/plain"{members}}}}}}}')
    file, cache = path("twice.har"), path("cache")
    entries = entry(1, "the first, which is long", "bGFzdA=="), entry(2, "x", "y" * 70_000, "enp6"), entry(3, "one")
    write(file, f'{{"log": {{"version": "1.2", "entries": [{", ".join(entries)}]}}}}'.encode())
    run("import", file, "--create", "apple", "-c", cache)
    for store in file, cache:
        assert [run("body", store, str(id)).stdout for id in (1, 2, 3)] == [b"last", b"zzz", b"one"]


def write_long_urls(file, count, size):
    """Writes a HAR of entries with URLs of a size."""
    head, _, tail = json.dumps(hostile_hars.entry()).partition("odd.example")
    with open(file, "w") as written:
        for number in range(count):
            written.write(('{"log":{"entries":[' if number == 0 else ",") + head + f"long{number}.example/" + "u" * size + tail)
        written.write("]}}")


def test_long_urls(thorough):
    """An import holds each URL once, and a list none, so that a HAR may be larger than the memory that it takes."""
    archive = path("urls.har")
    # With 4 MiB of URLs what SQLite keeps of the database in memory has grown to its end, so that only more of them show how an import grows.
    for size, counts in [(1 << 20, [40]), (256 << 10, [16, 28])] if thorough else [(64 << 10, [56, 8])]:
        peaks = {}
        for count in counts:
            write_long_urls(archive, count, size)
            for words in [["list", "-c", archive], ["import", archive, "-c", path(f"urls{count}"), "--create", "apple"]]:
                # An import of a debug build takes seconds for each MiB.
                if thorough or words[0] == "list" or count == 8:
                    status, errors, peaks[words[0], count] = peak_of(words)
                    assert status == 0, (words, status, errors)
        for verb, held, most in [("list", 0, 48 << 20), ("import", 1, 120 << 20)]:
            assert peaks[verb, counts[-1]] < most and peaks["list", counts[0]] < 48 << 20, peaks
            if len(counts) == 2 and (thorough or verb == "list"):
                fewer, more = sorted(counts)
                growth = (peaks[verb, more] - peaks[verb, fewer]) / ((more - fewer) * size)
                assert growth < held + 0.8, (verb, growth, peaks)


def test_long_body(thorough):
    """Reading and writing a HAR holds no body as a whole, so that it may be longer than the memory that they take."""
    # The programs take 28 MiB without the body.
    word, count = b"x" * 65536, 600 if thorough else 256
    head = b'{"log":{"entries":[{"startedDateTime":"2026-01-01T00:00:00Z","time":1,"_big":"'
    middle = b'","request":{"method":"GET","url":"http://long.example/","headers":[]},"response":{"status":200,"headers":[],"content":{"text":"'
    with open(path("long.har"), "wb") as file:
        for piece in [head, *[word] * count, middle, *[word] * count, b'"}}}]}}']:
            file.write(piece)
    peaks = [peak_of(["import", path("long.har"), "-c", path("long"), "--create", "apple"]),
             peak_of(["export", "-c", path("long"), "-o", path("again.har"), "--force"])]
    assert all(status == 0 and peak < 36 << 20 for status, _, peak in peaks), peaks
    (entry,) = stored(path("long")).values()
    assert entry["body"] == word * count
    assert body_of(load(path("again.har"))["entries"][0]) == word * count


def planted(cache):
    """Puts markers wherever a cache can hold a credential, and returns those that HAR could carry and all others."""
    names = iter(f"s3cr3t{number:02}q" for number in range(99))
    carried, others = [], []
    def marker(to=carried):
        to.append(next(names))
        return to[-1]
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    for id, response, request in database.execute(
            "SELECT entry_ID, response_object, request_object FROM cfurl_cache_blob_data WHERE entry_ID <= 4").fetchall():
        response, request = plistlib.loads(response), plistlib.loads(request)
        url = f"https://user:{marker()}@secret{id}.example/path?q=1"
        response["Array"][0] = {"_CFURLString": url, "_CFURLStringType": 15}
        request["Array"][1] = {"_CFURLString": url, "_CFURLStringType": 15}
        headers = response["Array"][4]
        headers.pop("__hhaa__", None)
        for name in ["Set-Cookie", "set-cookie2", "Authorization", "PROXY-AUTHORIZATION", "Cookie"]:
            headers[name] = f"a={marker()}"
        headers["Location"] = f"https://u:{marker()}@other.example/"
        headers["Link"] = f"<//{marker()}@other.example/>; rel=next, <http://x:{marker()}@b.example>"
        values = {name: [value] for name, value in headers.items()}
        values["Set-Cookie"] = [headers["Set-Cookie"], f"b={marker()}"]
        headers["Set-Cookie"] = ", ".join(values["Set-Cookie"])
        headers["__hhaa__"] = "\r\n" + base64.b64encode(plistlib.dumps(values, fmt=plistlib.FMT_BINARY)).decode()
        place = request["Array"].index("GET")
        request["Array"][place + 1] = {"Cookie": f"c={marker()}", "authorization": f"Bearer {marker()}",
                                       "Referer": f"https://me:{marker()}@from.example/"}
        request["Array"][place + 2] = f"password={marker()}".encode()
        database.execute("UPDATE cfurl_cache_blob_data SET response_object = ?, request_object = ?, user_info = ?, proto_props = ? "
                         "WHERE entry_ID = ?",
                         [plistlib.dumps(value, fmt=plistlib.FMT_BINARY) for value in
                          [response, request, {"token": marker(others)}, {"Cookie": marker(others)}]] + [id])
        database.execute("UPDATE cfurl_cache_response SET request_key = ?, partition = ? WHERE entry_ID = ?",
                         (url, f"https://p:{marker()}@top.example", id))
    database.commit()
    database.close()
    return carried, others


def readings(data):
    """The data in all forms that something could be read from."""
    yield data
    text = json.dumps(json.loads(data), ensure_ascii=False).encode()
    yield text
    yield urllib.parse.unquote_to_bytes(text)
    for word in re.findall(rb"[A-Za-z0-9+/]{8,}", text.replace(rb"\r", b"").replace(rb"\n", b"")):
        for start in range(4):
            piece = word[start:]
            yield base64.b64decode(piece[:len(piece) // 4 * 4])


def test_secrets():
    """No credential is in a HAR unless '--with-credentials' asks for it, in whatever encoding."""
    cache = make("secrets", entries=8, seed=21)
    carried, others = planted(cache)
    found = lambda archive, markers: {marker for marker in markers for form in forms[archive] if marker.encode() in form}
    forms = {}
    for name, options in [("clean.har", []), ("full.har", ["--with-credentials"])]:
        forms[name] = list(readings(read(export(cache, name, *options))))
    assert not found("clean.har", carried + others), found("clean.har", carried + others)
    # The search finds what is there.
    missing = set(carried) - found("full.har", carried)
    assert not missing and not found("full.har", others), (missing, found("full.har", others))
    # Through an archive that has everything, too.
    forms["through.har"] = list(readings(read(export(export(cache, "secrets.tar"), "through.har"))))
    assert not found("through.har", carried + others)
    # What was kept is imported.
    new = path("kept")
    run("import", path("full.har"), "-c", new, "--create", "apple")
    assert b"Bearer s3cr3t" in run("show", "-c", new, "1", "--show-secrets").stdout
