"""Compares what `revalidate` sends, byte by byte, with what `explain` shows."""

import json
import os
import subprocess

import pytest

import origin
import raw_origin
from products import maker, tool
from scratch import path

# Of the origin of the running test: its address, what its URLs begin with, what it was asked, and its answers by their paths.
place = base = None
heads = []
answers = {}


@pytest.fixture(autouse=True)
def listener(monkeypatch):
    """Starts an origin, and gives the user a language, which Foundation would send."""
    global place, base
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    heads.clear()
    answers.clear()
    with raw_origin.listening(answer) as place:
        base = f"http://{place}/"
        yield


def answer(head):
    heads.append(head)
    made = answers.get(head.split(b" ")[1].decode().strip("/"), b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    return made(head) if callable(made) else made


def run(verb, *arguments, status=0):
    result = subprocess.run([tool, verb, *arguments, "--format", "json"], capture_output=True, stdin=subprocess.DEVNULL,
                            timeout=120)
    assert result.returncode == status, (verb, arguments, result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return json.loads(result.stdout)


def reply(status, body=b"", **fields):
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    length = [] if status == 304 else [f"Content-Length: {len(body)}"]
    return "\r\n".join([f"HTTP/1.1 {status} X", *lines, *length, "Connection: close", "", ""]).encode() + body


def make(name, entries):
    origin.make_apple(maker, path(name), entries)
    return path(name)


TAG, DATE = {"ETag": '"1"'}, {"Last-Modified": origin.EARLIER}
BROWSER = {"Accept": "text/html", "Accept-Encoding": "gzip", "Accept-Language": "fr", "User-Agent": "App/1.0 (x; y)", "X-App": "7"}


def vary(*names):
    return {**TAG, "Vary": ", ".join(names)}


# By the path: the header fields of the response, those of the request, and the stored body.
ENTRIES = {
    "tag": (TAG, {}, b"x"),
    "weak": ({"ETag": 'W/"1"'}, {}, b"x"),
    "date": (DATE, {}, b"x"),
    "both": ({**TAG, **DATE}, {}, b"x"),
    "sent-more": (TAG, BROWSER, b"x"),
    "language": (vary("Accept-Language"), BROWSER, b"x"),
    "no-language": (vary("Accept-Language"), {"Accept": "*/*"}, b"x"),
    "agent": (vary("User-Agent"), BROWSER, b"x"),
    "no-agent": (vary("User-Agent"), {}, b"x"),
    "coding": (vary("Accept-Encoding"), BROWSER, b"x"),
    "no-coding": (vary("accept-encoding"), {}, b"x"),
    "three": (vary("Accept-Encoding", "X-App", "Accept-Language"), BROWSER, b"x"),
    "empty": (vary("X-App"), {"X-App": ""}, b"x"),
    "part": ({**TAG, "Content-Length": "9"}, BROWSER, b"x"),
    "part-date": ({"Last-Modified": origin.EARLIER, "Date": origin.LATER, "Content-Length": "9"}, {}, b"x"),
    "query?a=%C3%A9&b=/?": (TAG, {}, b"x"),
}


def fields_of(head):
    """The request line, and the fields with their names in small letters, none of them twice."""
    line, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    pairs = [text.split(":", 1) for text in rest]
    fields = {name.lower(): value.strip() for name, value in pairs}
    assert len(fields) == len(pairs), head
    return line, fields


def explained(cache):
    result = {}
    for entry in run("explain", "-c", cache, "--all", status=1)["entries"]:
        request = entry["conditional_request"]
        fields = {name.lower(): value for name, value in request["headers"].items()}
        path = entry["url"].removeprefix(base)
        result[path] = (f"{request['method']} /{path} HTTP/1.1", {"host": place, **fields})
    return result


def test_conditions():
    """`revalidate` sends exactly the requests that `explain` shows, with and without `--refresh`."""
    cache = make("conditions", [(base + name, 200, fields, body, dict(sent), None) for name, (fields, sent, body) in ENTRIES.items()])
    for options in [(), ("--refresh", "--yes"), ("--refresh", "--dry-run")]:
        shown = explained(cache)
        heads.clear()
        run("revalidate", "-c", cache, "--all", *options, status=1)
        found = {line.split(" ")[1].removeprefix("/"): (line, fields) for line, fields in map(fields_of, heads)}
        assert found == shown and len(heads) == len(shown) == len(ENTRIES), (
            options, [(path, found.get(path), shown.get(path)) for path in shown if found.get(path) != shown[path]])
    # HEAD requests have the same fields, but no ranges; entries that were stored by HEAD can be asked for by GET.
    heads.clear()
    parts = {"part", "part-date"}
    asked = run("revalidate", "-c", cache, "--all", "--http-method", "head", status=3)["entries"]
    found = {line.split(" ")[1].removeprefix("/"): (line, fields) for line, fields in map(fields_of, heads)}
    assert found == {path: (line.replace("GET", "HEAD", 1), fields) for path, (line, fields) in shown.items() if path not in parts}, found
    assert {entry["url"].removeprefix(base) for entry in asked if entry["reason"] == "incomplete-body"} == parts, asked
    result = subprocess.run([tool, "revalidate", "-c", cache, "--all", "--http-method", "head", "--refresh"], capture_output=True)
    assert result.returncode == 64 and b"'--refresh' needs bodies, which '--http-method head' does not get." in result.stderr, result
    by_head = make("by-head", [(base + "tag", 200, TAG, b"", {"method": "HEAD"}, None)])
    for options, method in [((), b"HEAD"), (("--http-method", "auto"), b"HEAD"), (("--http-method", "get"), b"GET")]:
        heads.clear()
        run("revalidate", "-c", by_head, "--all", *options, status=1)
        assert [head.split(b" ")[0] for head in heads] == [method], (options, heads)


def revalidate(cache, *options, status=0):
    return {entry["url"].removeprefix(base): entry for entry in run("revalidate", "-c", cache, *options, status=status)["entries"]}


def bodies(cache):
    return {url.removeprefix(base): entry["body"] for url, entry in origin.apple_entries(cache)[0].items()}


def test_variants():
    """An entry is only replaced by an answer that is the same variant."""
    def of_language(more):
        def answer(head):
            language = fields_of(head)[1].get("accept-language", "none")
            return reply(200, language.encode(), ETag='"2"', Cache_Control="max-age=9", **more)
        return answer

    both = {"Cookie": "a=b", "Accept-Language": "fr"}
    cases = {
        # The fields of the entry, the request, the 'Vary' of the answer, and the body afterwards.
        "none": (vary("Accept-Language"), {}, "Accept-Language", b"none"),
        "fr": (vary("Accept-Language"), BROWSER, "Accept-Language", b"fr"),
        "fr-and-coding": (vary("Accept-Language"), BROWSER, "Accept-Language, Accept-Encoding", b"fr"),
        "no-vary": (TAG, BROWSER, None, b"none"),
        "new-vary": (TAG, BROWSER, "Accept-Language", None),
        "new-vary-none": (TAG, {}, "Accept-Language", b"none"),
        "host": (vary("Host"), {"Host": "other"}, "Host", None),
        "cookie": (vary("Cookie", "Accept-Language"), both, "Cookie", None),
        "cookie-unnamed": (vary("Accept-Language"), both, "Accept-Language", None),
    }
    for name, (_, _, names, _) in cases.items():
        answers[name] = of_language({"Vary": names} if names else {})
    cache = make("variants", [(base + name, 200, fields, b"old", dict(sent), None) for name, (fields, sent, _, _) in cases.items()])
    report = revalidate(cache, "--all", "--refresh", "--yes", status=3)
    stored = bodies(cache)
    for name, (_, _, _, wanted) in cases.items():
        found = (report[name]["outcome"], report[name]["action"], report[name]["hindrance"], stored[name])
        refused = ("changed", "none", "other-variant", b"old")
        if "Cookie" in cases[name][1]:
            refused = ("needs-credentials", "none", None, b"old")
        assert found == (refused if wanted is None else ("changed", "replace", None, wanted)), (name, found)
    report = revalidate(cache, base + "cookie", base + "cookie-unnamed", "--refresh", "--yes", "--with-credentials")
    assert [entry["action"] for entry in report.values()] == ["replace", "replace"], report
    assert bodies(cache)["cookie"] == bodies(cache)["cookie-unnamed"] == b"fr"


def test_converging():
    """`--refresh` loads entries again, once, that went back to an older version, or have no validator."""
    def rolled(head):
        if b"if-modified-since" in head.lower():
            return reply(304, Last_Modified=origin.EARLIER)
        return reply(200, b"older", Last_Modified=origin.EARLIER, Cache_Control="max-age=9")

    def contradicts(head):
        return reply(304, ETag='"2"') if b"if-none-match" in head.lower() else reply(200, b"other", ETag='"2"')

    later = {"Last-Modified": origin.LATER}
    answers.update({
        "rolled": rolled, "contradicts": contradicts, "always-304": reply(304, Last_Modified=origin.EARLIER),
        "no-validator": reply(200, b"new", Cache_Control="max-age=9"), "weak-part": reply(200, b"whole", ETag='W/"1"')})
    entries = {
        "rolled": later, "contradicts": TAG, "always-304": later, "no-validator": {},
        "weak-part": {"ETag": 'W/"1"', "Content-Length": "9"}}
    cache = make("converging", [(base + name, 200, fields, b"old", {}, None) for name, fields in entries.items()])
    heads.clear()
    report = revalidate(cache, "--all", status=3)
    found = {name: (entry["outcome"], entry["reason"], entry["status"]) for name, entry in report.items()}
    assert found == {
        "rolled": ("rolled-back", None, 304), "contradicts": ("failed", "contradiction", 304), "always-304": ("rolled-back", None, 304),
        "no-validator": ("no-validator", "no-validator", None), "weak-part": ("not-asked", "incomplete-body", None)}, found
    assert len(heads) == 3, heads
    heads.clear()
    report = revalidate(cache, "--all", "--refresh", "--yes", status=3)
    found = {name: (entry["outcome"], entry["status"], entry["sent"], entry["action"], entry["hindrance"]) for name, entry in report.items()}
    assert found == {
        "rolled": ("rolled-back", 200, [], "replace", None), "contradicts": ("changed", 200, [], "replace", None),
        "always-304": ("rolled-back", 304, [], "none", "body-not-sent"), "no-validator": ("changed", 200, [], "replace", None),
        "weak-part": ("unchanged", 200, [], "replace", None)}, found
    asked = sorted(head.split(b" ")[1].decode().strip("/") for head in heads)
    assert asked == sorted([*entries, "rolled", "contradicts", "always-304"]), asked
    for line, fields in map(fields_of, heads[-3:]):
        assert fields == {"host": place}, (line, fields)
    stored = bodies(cache)
    assert stored == {"rolled": b"older", "contradicts": b"other", "always-304": b"old", "no-validator": b"new", "weak-part": b"whole"}, stored
    report = revalidate(cache, base + "rolled", base + "contradicts")
    assert [entry["outcome"] for entry in report.values()] == ["unchanged", "unchanged"], report


def test_redirects():
    """A redirect without 'Location' is a failure with its status."""
    statuses = [301, 302, 303, 305, 307, 308]
    for status in statuses:
        answers[str(status)] = reply(status, b"body")
    answers["elsewhere"] = reply(302, Location="/tag")
    cache = make("statuses", [(base + name, 200, TAG, b"x", {}, None) for name in [*map(str, statuses), "elsewhere"]])
    for options in [(), ("--follow",), ("--refresh", "--yes")]:
        report = revalidate(cache, "--all", *options, status=3)
        for status in statuses:
            entry = report[str(status)]
            assert (entry["outcome"], entry["status"], entry["reason"], entry["message"]) == (
                "failed", status, "status", f"the status is {status}"), entry
        assert report["elsewhere"]["status"] == (404 if options == ("--follow",) else 302), report["elsewhere"]


def test_most_redirects():
    """With '--follow' ten redirects are followed, and no more."""
    answers["hop0"] = reply(404)
    for number in range(1, 12):
        answers[f"hop{number}"] = reply(302, Location=f"/hop{number - 1}")
    cache = make("hops", [(base + name, 200, TAG, b"x", {}, None) for name in ["hop10", "hop11"]])
    report = revalidate(cache, "--all", "--follow", status=1)
    assert (report["hop10"]["status"], report["hop11"]["status"]) == (404, 302), report


def test_partial_content():
    """A 206 is no 304: the entry stays incomplete."""
    answers["part"] = reply(206, b"est", ETag='"1"', Content_Range="bytes 1-3/4")
    cache = make("parts", [(base + "part", 200, {**TAG, "Content-Length": "4"}, b"r", {}, None)])
    result = subprocess.run([tool, "revalidate", "-c", cache, "--all"], capture_output=True, timeout=120)
    assert (result.returncode, result.stdout.decode()) == (1, f"""\
OUTCOME     BY    SAVES  ACTION  URL
incomplete  etag      -  -       {base}part

1 requested, 1 incomplete
"""), result
    document = run("revalidate", "-c", cache, "--all", "--refresh", "--yes", status=3)
    assert (document["incomplete"], document["unchanged"], document["saved_bytes"]) == (1, 0, 0), document
    assert document["entries"][0]["hindrance"] == "partial-content", document
