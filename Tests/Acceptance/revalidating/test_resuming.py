"""Resumes downloads that were cut off, at an origin that answers ranges correctly, and at some that lie."""

import base64
import gzip
import hashlib
import json
import os
import plistlib
import random
import sqlite3
import subprocess
import threading

import pytest

import origin
import raw_origin
from products import maker, tool
from scratch import path

# What the URLs of the origin of the running test begin with.
base = None
# The requests: the path with the header fields, whose names are in small letters.
asked = []
# By the path: a function of the header fields of a request that returns all bytes of the answer.
answers = {}
lock = threading.Lock()


@pytest.fixture(autouse=True)
def listener():
    """Starts the origin."""
    global base
    asked.clear()
    answers.clear()
    with raw_origin.listening(answer) as place:
        base = f"http://{place}/"
        yield


def answer(head):
    line, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    fields = {name.lower(): value.strip() for name, value in (text.split(":", 1) for text in rest)}
    asked_for = line.split(" ")[1].strip("/")
    with lock:
        asked.append((asked_for, fields))
    return answers[asked_for](fields)


def reply(status, body=b"", length=True, **fields):
    lines = [f"{name.replace('_', '-')}: {value}" for name, values in fields.items() if values is not None
             for value in (values if isinstance(values, list) else [values])]
    lines += [f"Content-Length: {len(body)}"] if length else []
    return "\r\n".join([f"HTTP/1.1 {status} X", *lines, "Connection: close", "", ""]).encode() + body


def sha256(body):
    return hashlib.sha256(body).hexdigest()


def digest(name, body):
    return base64.b64encode(hashlib.new(name, body).digest()).decode()


def first_byte(fields):
    return int(fields["range"].removeprefix("bytes=").removesuffix("-"))


def honest(body, validators, **more):
    """An origin that answers a range according to RFC 9110, and with 200 if `If-Range` does not hold."""
    def answer(fields):
        current = validators.get("ETag") or validators["Last-Modified"]
        if "range" in fields and fields.get("if-range") == current:
            start = first_byte(fields)
            return reply(206, body[start:], Content_Range=f"bytes {start}-{len(body) - 1}/{len(body)}", Date=origin.LATER,
                         X_New="1", **{name.replace("-", "_"): value for name, value in {**validators, **more}.items()})
        return reply(200, body, Date=origin.LATER, Cache_Control="max-age=9",
                     **{name.replace("-", "_"): value for name, value in validators.items()})
    return answer


def run(verb, cache, *options, status=0):
    result = subprocess.run([tool, verb, "-c", cache, *options], capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
    assert status in (None, result.returncode), (verb, options, result.returncode, result.stdout[-3000:], result.stderr[-2000:])
    return result.stdout


def resume(cache, *options, status=0):
    report = json.loads(run("revalidate", cache, "--all", "--refresh", "--resume", "--format", "json", "--timeout", "30s",
                            *(options or ["--yes"]), status=status))
    return {entry["url"].removeprefix(base): entry for entry in report["entries"]}, report


def retype(cache, mime):
    """Gives all entries a media type; the caches are made with one for all."""
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    for number, blob in database.execute(f"SELECT entry_ID, response_object FROM {origin.TABLES[1]}").fetchall():
        value = plistlib.loads(blob)
        value["Array"][6] = mime
        database.execute(f"UPDATE {origin.TABLES[1]} SET response_object = ? WHERE entry_ID = ?",
                         (plistlib.dumps(value, fmt=plistlib.FMT_BINARY), number))
    database.commit()
    database.close()


class Apple:
    name = "apple"

    def make(self, name, entries, mime=None):
        folder = path(f"apple-{name}")
        origin.make_apple(maker, folder, entries)
        if mime:
            retype(folder, mime)
        return folder

    def read(self, folder):
        return {url.removeprefix(base): entry for url, entry in origin.apple_entries(folder)[0].items()}


class Foundation(Apple):
    """Made of an Apple cache; it has no place for the user info of the app."""
    name = "foundation"

    def make(self, name, entries, mime=None):
        apple, archive = super().make(name + "-apple", entries, mime), path(name + ".tar")
        run("export", apple, "-o", archive)
        folder = path(f"foundation-{name}")
        run("import", folder, archive, "--create", "foundation")
        return folder

    def read(self, folder):
        return {entry["url"].removeprefix(base): entry for entry in origin.foundation_entries(folder).values()}


STORES = pytest.mark.parametrize("store", [Apple(), Foundation()], ids=lambda store: store.name)


def entry(name, body, fields, status=200):
    return (base + name, status, {"Content-Type": "application/octet-stream", **fields}, body, {"Accept": "*/*"}, {"app": "kept"})


def state(cache):
    """The bytes of all rows and files, but not the file of the database, whose pages may differ."""
    result = {}
    for folder, _, names in os.walk(cache):
        for name in names:
            if not name.startswith("Cache.db"):
                with open(os.path.join(folder, name), "rb") as file:
                    result[name] = file.read()
    if os.path.exists(os.path.join(cache, "Cache.db")):
        database = sqlite3.connect(f"file:{cache}/Cache.db?mode=ro", uri=True)
        result["rows"] = [database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in origin.TABLES]
        database.close()
    return result


@STORES
def test_resumed(store, thorough):
    """Bodies that were cut off anywhere become those of the origin, byte by byte, and only the rest of them is sent."""
    generator, count = random.Random(9), 200 if thorough else 40
    wholes, entries = {}, []
    for number in range(count):
        # Around the size from which on bodies have files of their own, and from one byte to some that need many pieces.
        size = generator.choice([2, 3, 100, 4095, 4096, 4097, 8192, 65536, 65537, generator.randrange(2, 300_000)])
        body = generator.randbytes(size)
        cut = generator.choice([1, size - 1, generator.randrange(1, size)])
        name = f"body-{number}"
        validators = {"ETag": f'"tag-{number},x"', "Last-Modified": origin.EARLIER}
        if number % 4 == 1:
            validators.pop("ETag")
        given = [{}, {"Repr-Digest": f"sha-256=:{digest('sha256', body)}:, x=1"}, {"Digest": f"SHA-512={digest('sha512', body)},MD5={digest('md5', body)}"},
                 {"Content-Digest": f"sha-512=:{digest('sha512', body[cut:])}:"}, {"Content-MD5": digest("md5", body[cut:])},
                 {"Content-MD5": digest("md5", body)}, {"Digest": "unixsum=1, sha=" + digest("sha1", body)}][number % 7]
        fields = {**validators, "Date": origin.LATER, "Content-Length": str(size), "Age": "7"}
        status = 200
        if number % 5 == 3:
            status = 206
            fields.update({"Content-Length": str(cut), "Content-Range": f"bytes 0-{cut - 1}/{size}"})
        elif number % 5 == 4:
            fields["Content-Digest"] = f"sha-256=:{digest('sha256', body)}:"
        wholes[name] = (body, cut, validators, status)
        answers[name] = honest(body, validators, **given)
        entries.append(entry(name, body[:cut], fields, status))
    cache = store.make("resumed", entries)
    assert int(run("list", cache, "--partial", "--count")) == count
    before, old = state(cache), store.read(cache)
    asked.clear()
    # A dry run downloads the rest, and changes nothing.
    report, _ = resume(cache, "--dry-run")
    assert {item["action"] for item in report.values()} == {"complete"} and state(cache) == before
    asked.clear()
    report, document = resume(cache)
    assert len(asked) == count and len(report) == count
    for name, fields in asked:
        body, cut, validators, _ = wholes[name]
        assert (fields["range"], fields["if-range"]) == (f"bytes={cut}-", validators.get("ETag") or validators["Last-Modified"]), fields
        assert "if-none-match" not in fields and "if-modified-since" not in fields, fields
    assert document["saved_bytes"] == sum(cut for _, cut, _, _ in wholes.values()) and document["incomplete"] == count, document
    found = store.read(cache)
    assert found.keys() == wholes.keys()
    same = 0
    for name, (body, cut, validators, status) in wholes.items():
        kept = found[name]
        assert (report[name]["outcome"], report[name]["action"], report[name]["status"], report[name]["misfit"], report[name]["saved_bytes"]) == (
            "incomplete", "complete", 206, None, cut), report[name]
        same += sha256(kept["body"]) == sha256(body)
        fields = {key.lower(): value for key, value in kept["fields"].items()}
        assert (kept["status"], fields["content-length"], fields["x-new"]) == (200, str(len(body)), "1"), kept
        assert "content-range" not in fields and "age" not in fields, fields
        assert fields.get("content-digest") == (f"sha-256=:{digest('sha256', body)}:" if int(name[5:]) % 5 == 4 else None), fields
        assert "content-md5" not in fields and fields["last-modified"] == origin.EARLIER, fields
        if store.name == "apple":
            assert kept["length"] == len(body) and kept["on_disk"] == (len(body) >= 4096), kept
            for key in ["id", "hash", "policy", "time_stamp", "url", "mime", "request", "properties", "info"]:
                assert kept[key] == old[name][key], (name, key)
            assert kept["stored"] > old[name]["stored"], name
    assert same == count, same
    assert int(run("list", cache, "--partial", "--count")) == 0
    listed = json.loads(run("list", cache, "--format", "json", "--columns", "received"))["entries"]
    assert listed == [{"received": 100}] * count
    findings = json.loads(run("check", cache, "--format", "json", status=None))["findings"]
    assert not {"partial-body", "other-length"} & {finding["code"] for finding in findings}, findings
    # Complete bodies are validated as all others.
    asked.clear()
    report, _ = resume(cache)
    assert {item["status"] for item in report.values()} == {200} and all("range" not in fields for _, fields in asked)


@STORES
def test_changed(store):
    """A body that the origin has changed is replaced, and never joined, even if the origin ignores `If-Range`."""
    generator = random.Random(10)
    news, entries = {}, []
    for number in range(60):
        old, new = generator.randbytes(6_000), generator.randbytes(generator.choice([6_000, 5_000, 90_000, 10]))
        name = f"changed-{number}"
        validators = {"ETag": '"new"'}
        answers[name] = honest(new, validators)
        if number % 3 == 1:
            def ignorant(fields, new=new):
                start = min(first_byte(fields), len(new) - 1) if "range" in fields else None
                if start is None:
                    return reply(200, new, ETag='"new"')
                return reply(206, new[start:], ETag='"new"', Content_Range=f"bytes {start}-{len(new) - 1}/{len(new)}")
            answers[name] = ignorant
        elif number % 3 == 2:
            answers[name] = lambda fields, new=new: (
                reply(416, Content_Range=f"bytes */{len(new)}") if "range" in fields else reply(200, new, ETag='"new"'))
        news[name] = new
        entries.append(entry(name, old[:generator.randrange(1, 6_000)], {"ETag": '"old"', "Content-Length": "6000"}))
    cache = store.make("changed", entries)
    asked.clear()
    report, _ = resume(cache)
    assert len(asked) == 20 + 2 * 40, len(asked)
    for number, (name, kept) in enumerate(sorted(store.read(cache).items(), key=lambda item: int(item[0][8:]))):
        assert sha256(kept["body"]) == sha256(news[name]) and kept["status"] == 200, name
        misfit = [None, "validator", "not-satisfiable"][number % 3]
        assert (report[name]["outcome"], report[name]["action"], report[name]["status"], report[name]["misfit"]) == (
            "changed", "replace", 200, misfit), report[name]


@STORES
def test_weak(store):
    """A weak validator is never sent as `If-Range`: the whole body is downloaded again."""
    new = b"whole body"
    stored = {
        "weak": {"ETag": 'W/"1"'}, "bare": {"ETag": "1"}, "weak-and-date": {"ETag": 'W/"1"', "Last-Modified": origin.EARLIER, "Date": origin.LATER},
        "date-without-date": {"Last-Modified": origin.EARLIER}, "young-date": {"Last-Modified": origin.EARLIER, "Date": origin.date(59, 1_600_000_000)},
        "none": {}}
    for name, fields in stored.items():
        answers[name] = honest(new, {"ETag": 'W/"1"', **{key: value for key, value in fields.items() if key != "Date"}})
    cache = store.make("weak", [entry(name, new[:4], {**fields, "Content-Length": str(len(new))}) for name, fields in stored.items()])
    asked.clear()
    report, _ = resume(cache)
    assert sorted(name for name, _ in asked) == sorted(stored)
    assert all(not {"range", "if-range"} & fields.keys() for _, fields in asked), asked
    for name, kept in store.read(cache).items():
        assert kept["body"] == new and (report[name]["action"], report[name]["misfit"], report[name]["sent"]) == ("replace", None, []), report[name]


BODY = bytes(range(256)) * 40
CUT = 5_000
REST, LAST, SIZE = BODY[CUT:], len(BODY) - 1, len(BODY)
RIGHT = f"bytes {CUT}-{LAST}/{SIZE}"


def part(body=REST, content_range=RIGHT, tag='"1"', status=206, **more):
    return reply(status, body, **{"ETag": tag, "Content_Range": content_range, **more})


def multipart():
    body = b"--b\r\nContent-Range: " + RIGHT.encode() + b"\r\n\r\n" + REST + b"\r\n--b--\r\n"
    return body


# Answers to a range, by a name, with the reason why they are not joined; `None` if the answer is incomplete.
LIES = {
    "one-more": ("content-range", part(BODY[CUT + 1:], f"bytes {CUT + 1}-{LAST}/{SIZE}")),
    "one-less": ("content-range", part(BODY[CUT - 1:], f"bytes {CUT - 1}-{LAST}/{SIZE}")),
    "from-zero": ("content-range", part(BODY, f"bytes 0-{LAST}/{SIZE}")),
    "longer-whole": ("content-range", part(REST + b"x", f"bytes {CUT}-{SIZE}/{SIZE + 1}")),
    "shorter-whole": ("content-range", part(REST[:-1], f"bytes {CUT}-{LAST - 1}/{SIZE - 1}")),
    "unknown-whole": ("content-range", part(content_range=f"bytes {CUT}-{LAST}/*")),
    "no-range": ("content-range", part(content_range=None)),
    "two-ranges": ("content-range", part(content_range=[RIGHT, f"bytes 0-1/{SIZE}"])),
    "other-unit": ("content-range", part(content_range=RIGHT.replace("bytes", "lines"))),
    "beyond": ("content-range", part(content_range=f"bytes {CUT}-{SIZE}/{SIZE}")),
    "backwards": ("content-range", part(content_range=f"bytes {CUT}-{CUT - 1}/{SIZE}")),
    "no-number": ("content-range", part(content_range=f"bytes {CUT}-x/{SIZE}")),
    "huge-number": ("content-range", part(content_range=f"bytes {CUT}-99999999999999999999/*")),
    "early-end": ("ends-early", part(REST[:100], f"bytes {CUT}-{CUT + 99}/{SIZE}")),
    "too-many": ("length", part(REST + b"more", length=False)),
    "too-few": ("length", part(REST[:-1])),
    "none-at-all": ("length", part(b"")),
    "cut-again": (None, part(REST[:-7], length=False, Content_Length=len(REST))),
    "other-tag": ("validator", part(tag='"2"')),
    "weak-tag": ("validator", part(tag='W/"1"')),
    "no-tag": ("validator", part(tag=None)),
    "date-for-tag": ("validator", part(tag=None, Last_Modified=origin.EARLIER, Date=origin.LATER)),
    "multipart": ("multipart", part(multipart(), Content_Type="multipart/byteranges; boundary=b")),
    "multipart-alone": ("multipart", part(multipart(), None, Content_Type="Multipart/ByteRanges;boundary=b")),
    "coded-whole": ("content-encoding", part(gzip.compress(BODY)[20:], Content_Encoding="gzip")),
    "coded": ("content-encoding", part(gzip.compress(REST), Content_Encoding="gzip")),
    "repr-digest": ("digest", part(Repr_Digest=f"sha-256=:{digest('sha256', REST)}:")),
    "one-of-two": ("digest", part(Repr_Digest=f"sha-256=:{digest('sha256', BODY)}:, sha-512=:{digest('sha512', REST)}:")),
    "short-digest": ("digest", part(Repr_Digest="sha-256=:AAAA:")),
    "digest": ("digest", part(Digest=f"md5={digest('md5', REST)}")),
    "content-digest": ("digest", part(Content_Digest=f"sha-256=:{digest('sha256', BODY)}:")),
    "content-md5": ("digest", part(Content_MD5=digest("md5", b"other"))),
    "wrong-bytes": ("digest", part(bytes(len(REST)), Repr_Digest=f"sha-256=:{digest('sha256', BODY)}:")),
    "416": ("not-satisfiable", reply(416, Content_Range=f"bytes */{SIZE}")),
    "304": ("not-modified", reply(304, ETag='"1"', length=False)),
}


def lying_entries():
    return [entry(name, BODY[:CUT], {"ETag": '"1"', "Last-Modified": origin.EARLIER, "Date": origin.LATER, "Content-Length": str(SIZE)})
            for name in LIES]


@STORES
def test_lies(store):
    """An origin that lies to all requests changes nothing; one that lies about parts is asked once for the whole body."""
    cache = store.make("lies", lying_entries())
    before = state(cache)
    for name, (_, lie) in LIES.items():
        answers[name] = lambda fields, lie=lie: lie
    answered = {"304": ("unchanged", "body-not-sent")}
    for options in [["--yes"], ["--dry-run"]]:
        asked.clear()
        report, _ = resume(cache, *options, status=3)
        for name, (misfit, _) in LIES.items():
            requests = [fields for asked_for, fields in asked if asked_for == name]
            assert (report[name]["misfit"], report[name]["action"]) == (misfit, "none"), report[name]
            assert (report[name]["outcome"], report[name]["hindrance"]) == answered.get(name, ("failed", None)), report[name]
            assert len(requests) == (1 if misfit is None else 2), (name, requests)
            assert requests[0]["range"] == f"bytes={CUT}-" and requests[0]["if-range"] == '"1"', requests
            assert not any({"range", "if-range", "if-none-match"} & fields.keys() for fields in requests[1:]), requests
        assert state(cache) == before
    for name, (_, lie) in LIES.items():
        answers[name] = lambda fields, lie=lie: lie if "range" in fields else reply(200, BODY, ETag='"1"', Cache_Control="max-age=9")
    report, _ = resume(cache, status=3)
    found = store.read(cache)
    for name, (misfit, _) in LIES.items():
        if misfit is None:
            assert (report[name]["outcome"], report[name]["reason"], found[name]["body"]) == ("failed", "connection", BODY[:CUT]), report[name]
        else:
            assert (report[name]["misfit"], report[name]["action"]) == (misfit, "replace"), report[name]
            assert sha256(found[name]["body"]) == sha256(BODY), name


@STORES
def test_other_urls(store):
    """The rest of the body of another URL is never joined."""
    answers["elsewhere"] = lambda fields: part()
    answers["redirected"] = lambda fields: reply(302, Location="/elsewhere")
    cache = store.make("urls", [entry("redirected", BODY[:CUT], {"ETag": '"1"', "Content-Length": str(SIZE)})])
    before = state(cache)
    report, _ = resume(cache, status=1)
    assert (report["redirected"]["outcome"], report["redirected"]["misfit"]) == ("redirected", None) and state(cache) == before
    report, _ = resume(cache, "--follow", "--yes", status=3)
    assert report["redirected"]["action"] == "none" and report["redirected"]["misfit"] == "other-url", report
    assert state(cache) == before


@STORES
def test_json(store):
    """JSON that an app has rewritten is not resumed, because it may not be the beginning of the body."""
    sent = b'{\n  "a": [1, 2, 3],\n  "b": "x"\n}\n'
    again = json.dumps(json.loads(sent), separators=(",", ":")).encode()
    cases = {
        "json-again": (again, {}, "rewritten"), "json-cut": (sent[:9], {}, "rewritten"),
        "json-digest": (sent[:9], {"Repr-Digest": f"sha-256=:{digest('sha256', sent)}:"}, None),
        "json-again-digest": (again, {"Digest": f"SHA-256={digest('sha256', sent)}"}, "digest"),
    }
    for name, (_, more, _) in cases.items():
        answers[name] = honest(sent, {"ETag": '"1"'}, **more)
    fields = {"ETag": '"1"', "Content-Length": str(len(sent))}
    cache = store.make("json", [
        (base + name, 200, {**fields, "Content-Type": "application/json"}, body, {}, None) for name, (body, _, _) in cases.items()],
        "application/json")
    assert int(run("list", cache, "--partial", "--count")) == 0
    assert int(run("list", cache, "--where", "received < 100%", "--count")) == len(cases)
    report, _ = resume(cache)
    for name, (_, _, misfit) in cases.items():
        assert (report[name]["misfit"], report[name]["action"]) == (misfit, "replace" if misfit else "complete"), report[name]
        assert store.read(cache)[name]["body"] == sent, name


def test_words():
    """The report names completed and failed entries; '--resume' needs '--refresh'; 'show --curl' asks for the rest."""
    store = Apple()
    answers["cut"], answers["lie"] = honest(BODY, {"ETag": '"1"'}), lambda fields: LIES["other-tag"][1]
    fields = {"ETag": '"1"', "Content-Length": str(SIZE)}
    cache = store.make("words", [entry("cut", BODY[:CUT], fields), entry("lie", BODY[:CUT], fields)])
    options = ["revalidate", cache, "--all", "--refresh", "--resume"]
    text = f"""\
OUTCOME     BY      SAVES  ACTION{{gap}}  URL
incomplete  etag  4.9 KiB  {{done}}  {base}cut
failed      -           -  -{{gap}}       {base}lie (the status is 206; requested the full response, because the rest has a different strong validator, or none)

2 requested, 1 incomplete, 1 failed
Not downloaded again, because it is still valid: 4.9 KiB
{{sum}} 1 entry
"""
    shown = run(*options, "--dry-run", status=3).decode()
    assert shown == text.format(gap=" " * 8, done="would complete", sum="Would complete"), shown
    shown = run(*options, "--yes", status=3).decode()
    assert shown == text.format(gap=" " * 3, done="completed", sum="Completed"), shown
    result = subprocess.run([tool, "revalidate", "-c", cache, "--all", "--resume"], capture_output=True)
    assert result.returncode == 64 and b"'--resume' needs '--refresh'." in result.stderr, result
    curl = run("show", cache, base + "lie", "--curl", "--conditional").decode()
    assert f"--header 'Range: bytes={CUT}-'" in curl and "--header 'If-Range: \"1\"'" in curl, curl
