"""`explain` by WebKit's rules: what its source decides, one rule each, from just below and just above every limit."""

import http.server
import json
import subprocess
import threading

import pytest

from scratch import path, run, tool
from webkit_records import Cache

STORED = 1_795_000_000.25


def date(seconds):
    import email.utils
    return email.utils.formatdate(STORED + seconds, usegmt=True)


def at(seconds):
    import datetime
    return datetime.datetime.fromtimestamp(STORED + seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def explain(seconds, *words, **message):
    """Explains one response that was stored `seconds` ago."""
    cache = Cache(path("cache"))
    message.setdefault("fields", [])
    cache.store("http://a.example/1", time=STORED, **message)
    [line] = run("explain", cache.folder, "--all", "--at", at(seconds), "--format", "ndjson", *words, status=None).stdout.splitlines()
    return json.loads(line)


def decided(explanation, policy=None):
    """The outcome and the code of the first reason."""
    return ("cache" if explanation["reusable"] else None) or next(
        entry["outcome"] for entry in explanation["policies"] if entry["name"] == (policy or "useProtocolCachePolicy")), explanation["reasons"][0]["code"]


TAG = ("ETag", '"1"')
USE, ASK, LOAD = "cache", "conditional", "load"


@pytest.mark.parametrize("fields, limit, below, above", [
    # A lifetime: the last second counts as fresh. Without a validator, a stale entry is loaded.
    ([("Cache-Control", "max-age=600"), TAG], 600, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    ([("Cache-Control", "max-age=600")], 600, (USE, "webkit-fresh"), (LOAD, "webkit-no-validator")),
    ([("Cache-Control", "max-age=600.5"), TAG], 600.5, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    ([("Cache-Control", "max-age=600, max-age=0"), TAG], 600, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    ([("Cache-Control", "max-age=x, max-age=600"), TAG], 600, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    ([("Cache-Control", "s-maxage=0, max-age=600"), TAG], 600, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    ([("Cache-Control", 'no-cache="Set-Cookie", max-age=600'), TAG], 600, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    ([("Cache-Control", "max-age=600, must-revalidate"), ("Age", "100"), TAG], 500, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    ([("Date", date(-100)), ("Cache-Control", "max-age=600"), TAG], 500, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    ([("Date", date(100)), ("Cache-Control", "max-age=600"), TAG], 600, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    ([("Date", date(0)), ("Expires", date(300)), TAG], 300, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    # An invalid `Expires` does not end the search: 1,000 seconds since the change are 100 of lifetime.
    ([("Date", date(0)), ("Expires", "0"), ("Last-Modified", date(-1000))], 100, (USE, "webkit-fresh"), (ASK, "webkit-stale")),
    # The window behind the lifetime, which `must-revalidate` does not close.
    ([("Cache-Control", "max-age=1, must-revalidate, stale-while-revalidate=600"), TAG], 601, (USE, "webkit-while-revalidating"), (ASK, "webkit-stale")),
], ids=str)
def test_lifetimes(fields, limit, below, above):
    assert decided(explain(limit - 1, fields=fields)) == below
    subprocess.run(["rm", "-r", path("cache")], check=True)
    assert decided(explain(limit + 1, fields=fields)) == above


@pytest.mark.parametrize("status, expected", [(301, USE), (410, USE), (302, LOAD), (404, LOAD)])
def test_statuses_that_last_a_year(status, expected):
    """Without a lifetime, a 301 and a 410 are used for 365 days, and a redirect is never validated."""
    redirect = ("http://a.example/2", [("Accept", "*/*")]) if status in (301, 302) else None
    found = explain(364 * 86_400, status=status, redirect=redirect)
    assert found["platform_freshness"]["lifetime_source"] == ("permanent" if expected == USE else "none")
    assert decided(found)[0] == expected
    assert ("webkit-redirect-never-validated" in [hint["code"] for hint in found["hints"]]) == bool(redirect)
    subprocess.run(["rm", "-r", path("cache")], check=True)
    assert decided(explain(366 * 86_400, status=status, redirect=redirect, fields=[TAG]))[1] == ("webkit-redirect" if redirect else "webkit-stale")


@pytest.mark.parametrize("words, fields, message, expected", [
    (["--navigation", "back"], [("Cache-Control", "no-cache, must-revalidate"), TAG], {}, (USE, "webkit-any-age")),
    (["--policy", "returnCacheDataDontLoad"], [("Cache-Control", "no-cache"), TAG], {}, (USE, "webkit-any-age")),
    (["--navigation", "new"], [("Cache-Control", "no-cache, max-age=9"), TAG], {}, (ASK, "webkit-response-no-cache")),
    (["--navigation", "subresource"], [("Cache-Control", "max-age=9"), ("Pragma", "no-cache"), TAG], {}, (ASK, "webkit-response-no-cache")),
    (["--navigation", "reload"], [("Cache-Control", "max-age=9"), TAG], {}, (LOAD, "webkit-reload")),
    (["--policy", "reloadRevalidatingCacheData"], [("Cache-Control", "max-age=9"), TAG], {}, (ASK, "webkit-request-max-age")),
    (["--request-header", "Cache-Control: no-cache"], [("Cache-Control", "max-age=9"), TAG], {}, (ASK, "webkit-request-no-cache")),
    (["--request-header", "Pragma: no-cache"], [("Cache-Control", "max-age=9"), TAG], {}, (ASK, "webkit-request-no-cache")),
    (["--request-header", "Cache-Control: max-age=0"], [("Cache-Control", "max-age=9"), TAG], {}, (ASK, "webkit-request-max-age")),
    (["--request-header", "Cache-Control: max-age=1, min-fresh=99"], [("Cache-Control", "max-age=9"), TAG], {}, (USE, "webkit-fresh")),
    (["--request-header", "Cache-Control: max-stale"], [("Cache-Control", "max-age=1, must-revalidate"), TAG], {}, (USE, "webkit-max-stale")),
    (["--request-header", "Cache-Control: max-stale=2"], [("Cache-Control", "max-age=1"), TAG], {}, (ASK, "webkit-stale")),
    # With `max-stale`, `stale-while-revalidate` does not count.
    (["--request-header", "Cache-Control: max-stale=2"], [("Cache-Control", "max-age=1, stale-while-revalidate=99"), TAG], {}, (ASK, "webkit-stale")),
    (["--request-header", 'If-None-Match: "2"'], [("Cache-Control", "max-age=9"), TAG], {}, (ASK, "webkit-own-conditions")),
    ([], [("Cache-Control", "max-age=9"), ("Vary", "*"), TAG], {}, (LOAD, "webkit-vary-never")),
    ([], [("Cache-Control", "max-age=9"), ("Vary", "X-Who"), TAG], {"vary": [("X-Who", "a")]}, (USE, "webkit-fresh")),
    (["--request-header", "X-Who: b"], [("Cache-Control", "max-age=9"), ("Vary", "X-Who"), TAG], {"vary": [("X-Who", "a")]}, (LOAD, "webkit-vary-differs")),
    (["--request-header", "X-Who: b"], [("Cache-Control", "max-age=9"), ("Vary", "X-Who"), TAG], {"vary": [("X-Who", None)]}, (LOAD, "webkit-vary-differs")),
    (["--navigation", "back", "--request-header", "X-Who: b"], [("Vary", "X-Who"), TAG], {"vary": [("X-Who", "a")]}, (LOAD, "webkit-vary-differs")),
    (["--request-header", "Accept-Language: de"], [("Cache-Control", "max-age=9"), ("Vary", "Accept-Language"), TAG], {"vary": [("Accept-Language", None)]}, (USE, "webkit-fresh")),
    (["--request-header", "Accept-Language: de"], [("Cache-Control", "max-age=9"), ("Vary", "Accept-Language"), TAG], {"vary": [("Accept-Language", "en")]}, (LOAD, "webkit-vary-differs")),
    ([], [("Cache-Control", "max-age=999")], {"status": 302, "redirect": ("http://b.example/", []), "age_cap": 4.0}, (LOAD, "webkit-age-cap")),
    ([], [("Cache-Control", "max-age=999")], {"status": 302, "redirect": ("http://b.example/", []), "age_cap": 6.0}, (USE, "webkit-fresh")),
    # Without a redirect, there is no limit.
    ([], [("Cache-Control", "max-age=999")], {"age_cap": 4.0, "relayed": True}, (USE, "webkit-fresh")),
], ids=str)
def test_requests(words, fields, message, expected):
    found = explain(5, *words, fields=fields, **message)
    policy = {"reload": "reloadIgnoringLocalCacheData", "back": "returnCacheDataElseLoad"}.get(words[1] if words else "", words[1] if words[:1] == ["--policy"] else None)
    assert decided(found, policy) == expected
    codes = [hint["code"] for hint in found["hints"]]
    assert ("webkit-age-cap" in codes, "webkit-private-relay" in codes) == ("age_cap" in message, "relayed" in message)


def test_future_and_missing():
    """What WebKit removes instead of using it."""
    assert decided(explain(-1, fields=[("Cache-Control", "max-age=9")])) == (LOAD, "webkit-future-dated")
    cache = Cache(path("other"))
    record = cache.store("http://a.example/1", bytes(5_000), time=STORED, fields=[("Cache-Control", "max-age=9")])
    subprocess.run(["rm", record + "-blob"], check=True)
    text = run("explain", cache.folder, "--all", "--at", at(5), "--navigation", "back", status=None).stdout.decode()
    assert "downloaded again, and the entry is removed\n  because in WebKit, its body is missing" in text, text


def test_text():
    """The lifetime and the age by which WebKit decides stand beside those of RFC 9111, and the request is the one that follows."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/1", time=STORED, fields=[("Date", date(0)), ("Expires", "0"), ("Last-Modified", date(-1000)), ("Vary", "Accept-Encoding")])
    text = run("explain", cache.folder, "--all", "--at", at(50), status=1).stdout.decode()
    assert text.startswith("STALE: served from the cache\n  because in WebKit, its age is not above its lifetime\n"), text
    for line in ("WebKit's lifetime    100 s   10% of the time from Last-Modified to Date\n", "WebKit's age         50 s   max(stored - Date, Age, 0) + (now - stored)\n",
                 "full request, with Pragma: no-cache, Cache-Control: no-cache", "  i WebKit keeps one response per URL, regardless of Vary\n"):
        assert line in text, text
    reload = run("explain", cache.folder, "--all", "--at", at(50), "--navigation", "reload", status=1).stdout.decode()
    assert "  GET http://a.example/1\n  Pragma: no-cache\n  Cache-Control: no-cache\n" in reload, reload
    # RFC 9111 can be asked, too, and decides otherwise.
    assert "validated with the server" in run("explain", cache.folder, "--all", "--at", at(50), "--platform", "rfc9111", status=1).stdout.decode()


HEADS = [
    (b"HTTP/1.1 200 OK\r\nETag: 1\r\n", [], None),
    (b"HTTP/1.1 200 OK\r\n", [], "webkit-unlikely-reused"),
    (b"HTTP/1.1 200 OK\r\n", ["--navigation", "subresource"], "webkit-unlikely-reused"),
    (b"HTTP/1.1 200 OK\r\n", ["--navigation", "new"], None),
    (b"HTTP/1.1 200 OK\r\nCache-Control: no-cache, max-age=9\r\n", [], "webkit-unlikely-reused"),
    (b"HTTP/1.1 200 OK\r\nCache-Control: stale-while-revalidate=9\r\n", [], None),
    (b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n", ["--navigation", "new"], "webkit-response-no-store"),
    (b"HTTP/1.1 308 Permanent Redirect\r\nCache-Control: max-age=9\r\n", [], "webkit-status"),
    (b"HTTP/1.1 302 Found\r\nETag: 1\r\n", [], "webkit-status-without-lifetime"),
    (b"HTTP/1.1 302 Found\r\nCache-Control: max-age=9\r\n", [], None),
    (b"HTTP/1.1 500 No\r\nCache-Control: max-age=9\r\n", [], "webkit-status"),
    (b"HTTP/1.1 200 OK\r\nETag: 1\r\nContent-Length: 1001\r\n", ["--capacity", "8000"], "webkit-large-body"),
    (b"HTTP/1.1 200 OK\r\nETag: 1\r\nContent-Length: 1000\r\n", ["--capacity", "8000"], None),
    (b"HTTP/1.1 200 OK\r\nETag: 1\r\n", ["--request-header", "Cache-Control: no-store"], "webkit-request-no-store"),
]


@pytest.mark.parametrize("head, words, refusal", HEADS, ids=str)
def test_what_is_not_stored(head, words, refusal):
    cache = Cache(path("cache"))
    cache.store("http://a.example/1")
    result = subprocess.run([tool, "explain", "-c", cache.folder, "--why-missing", "http://a.example/2", "--headers-from", "-", "--format", "json", *words],
                            input=head + b"\r\n", capture_output=True)
    found = json.loads(result.stdout)
    assert [reason["code"] for reason in found["reasons"]] == ([refusal] if refusal else []) and result.returncode == (1 if refusal else 0), found


def test_navigation_is_about_webkit():
    """Elsewhere it would be ignored, and beside a policy it is not clear which of them counts."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/1")
    for words, message in ((["--policy", "1"], b"cannot be combined"), (["--platform", "rfc9111"], b"applies only to WebKit, but the platform is 'rfc9111'")):
        result = run("explain", cache.folder, "--all", "--navigation", "back", *words, status=64)
        assert message in result.stderr and not result.stdout


@pytest.mark.parametrize("tag, outcome", [('"1"', "unchanged"), ('"0"', "changed")])
def test_range(tag, outcome):
    """A part that WebKit keeps under its `Range` is complete: it is asked for again as that part, and `explain` says so."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            asked.append((self.headers.get("Range"), self.headers.get("If-None-Match"), self.headers.get("If-Range")))
            part = b"" if self.headers.get("If-None-Match") == '"1"' else b"x" * 100
            self.send_response(206 if part else 304)
            for name, value in {"ETag": '"1"', "Content-Length": str(len(part)), **({"Content-Range": "bytes 100-199/1000"} if part else {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(part)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/film"
        cache = Cache(path("cache"))
        cache.store(url, b"x" * 100, range="bytes=100-199", status=206,
                    fields=[("ETag", tag), ("Content-Range", "bytes 100-199/1000"), ("Cache-Control", "max-age=1"), ("Content-Length", "100")])
        text = run("explain", "-c", cache.folder, url, status=1).stdout.decode()
        output = json.loads(run("revalidate", "-c", cache.folder, "--all", "--format", "json", status=None).stdout)
        server.shutdown()
    assert "Range: bytes=100-199\n" in text and f"If-None-Match: {tag}\n" in text, text
    assert [entry["outcome"] for entry in output["entries"]] == [outcome], output
    assert asked == [("bytes=100-199", tag, None)]
