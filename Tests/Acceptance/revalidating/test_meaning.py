"""What a stored response means: which URL it belongs to, whether it may be used, and that all commands say the same."""

import json
import subprocess
import time

import pytest

import raw_origin
import worlds
from products import tool
from scratch import path

heads, answers, base = [], {}, None


@pytest.fixture(autouse=True)
def listener():
    """Starts an origin that notes what it is asked, and answers by path."""
    global base
    heads.clear()
    answers.clear()
    with raw_origin.listening(answer) as place:
        base = f"http://{place}"
        yield


def answer(head):
    heads.append(head)
    return answers.get(head.split(b" ")[1].decode(), b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def reply(status, body=b"", *fields):
    return b"\r\n".join([f"HTTP/1.1 {status} X".encode(), *fields, b"Content-Length: %d" % len(body), b"Connection: close", b"", body])


def run(*words, status=0):
    result = subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
    assert status is None or result.returncode == status, (words, result)
    return result


def explained(*words, status=None):
    return json.loads(run("explain", *words, "--format", "json", status=status).stdout)["entries"][0]


def asked():
    """The request lines that the origin got."""
    return [head.split(b"\r\n")[0].decode() for head in heads]


def entry(name, headers, **values):
    return worlds.Entry(f"{base}/{name}", stored=int(time.time()) - 60, headers=headers, **values)


# --- Responses that must not be used ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("platform", ["rfc9111", "apple"])
def test_no_store(platform):
    """A stored response with `no-store`, or with `must-understand` and a status that is not understood, is never used."""
    cache = worlds.apple(path("forbidden"), [
        entry("no-store", {"Cache-Control": "no-store, max-age=600", "ETag": '"1"'}),
        entry("must", {"Cache-Control": "must-understand, max-age=600"}, status=299),
        entry("both", {"Cache-Control": "must-understand, no-store, max-age=600"}),
        entry("fine", {"Cache-Control": "max-age=600", "ETag": '"1"'})])
    for name, code, section in [("no-store", "response-no-store", "RFC 9111 §5.2.2.5"), ("must", "status-not-understood", "RFC 9111 §5.2.2.3")]:
        found = explained(cache, f"{base}/{name}", "--platform", platform)
        assert not found["reusable"] and found["reasons"][0] == {"code": code, "section": section}, found
        assert not found["storable"]["may_store"]
        assert {policy["outcome"] for policy in found["policies"]} == {"load", "error"}, found["policies"]
        assert found["conditional_request"]["headers"] == {} and found["conditional_request"]["purpose"] == "replacement"
        text = run("explain", cache, f"{base}/{name}", "--platform", platform, status=None).stdout.decode()
        assert "served from the cache" not in text, text
    for name in ("both", "fine"):
        assert explained(cache, f"{base}/{name}", "--platform", platform)["reusable"], name
    hints = {hint["code"] for hint in explained(cache, f"{base}/no-store", "--platform", platform)["hints"]}
    assert ("apple-no-store-undocumented" in hints) == (platform == "apple") and "no-store-on-disk" in hints
    # Nothing is asked about it, because no answer makes it usable.
    found = json.loads(run("revalidate", cache, f"{base}/no-store", "--format", "json", status=None).stdout)
    assert found["entries"][0]["reason"] == "no-store" and heads == [], (found["entries"], heads)


def test_request_pragma():
    """RFC 9111 deprecates `Pragma`; what it does is in the RFC before it."""
    cache = worlds.apple(path("pragma"), [entry("a", {"Cache-Control": "max-age=600"})])
    found = explained(cache, f"{base}/a", "--request-header", "Pragma: no-cache")
    assert {"code": "request-pragma", "section": "RFC 7234 §5.4"} in found["reasons"]


# --- Redirected entries ----------------------------------------------------------------------------------------------------

def test_redirected():
    """All commands ask for the URL that the app asks for, not for the one that it was redirected to."""
    fields = {"Cache-Control": "max-age=1", "ETag": '"1"'}
    cache = worlds.apple(path("redirected"), [entry("asked", fields, final=f"{base}/answered")])
    answers["/asked"] = reply(302, b"", f"Location: {base}/answered".encode())
    answers["/answered"] = reply(200, b"new", b'ETag: "1"')
    for name in ("asked", "answered"):
        text = run("explain", cache, f"{base}/{name}", status=1).stdout.decode()
        assert f"GET {base}/asked\n" in text and f"GET {base}/answered" not in text, text
        run("revalidate", cache, f"{base}/{name}", status=None)
        curl = run("show", cache, f"{base}/{name}", "--curl").stdout.decode()
        assert f"{base}/asked" in curl and f"{base}/answered" not in curl, curl
    assert asked() == ["GET /asked HTTP/1.1"] * 2
    assert all(b'if-none-match: "1"' in head.lower() for head in heads)
    run("revalidate", cache, f"{base}/asked", "--follow", status=None)
    assert asked()[2:] == ["GET /asked HTTP/1.1", "GET /answered HTTP/1.1"]
    run("explain", cache, "--why-missing", f"{base}/asked", status=None)
    present = json.loads(run("explain", cache, "--why-missing", f"{base}/asked", "--format", "json", status=None).stdout)
    absent = json.loads(run("explain", cache, "--why-missing", f"{base}/answered", "--format", "json", status=None).stdout)
    assert present["present"] == [1] and absent["present"] == [], (present, absent)
    listed = json.loads(run("list", cache, "--columns", "url,request-url,response-url,key", "--format", "json").stdout)["entries"][0]
    assert listed == {"url": f"{base}/answered", "request_url": f"{base}/asked", "response_url": f"{base}/answered", "key": f"{base}/asked"}


# --- What is shown is what is sent -----------------------------------------------------------------------------------------

KINDS = {
    "tag": {"ETag": '"1"'}, "weak": {"ETag": 'W/"1"'}, "date": {"Last-Modified": "Wed, 08 Oct 2025 10:00:00 GMT"},
    "both": {"ETag": '"1"', "Last-Modified": "Wed, 08 Oct 2025 10:00:00 GMT"}, "fresh": {"ETag": '"1"', "Cache-Control": "max-age=9999"},
    "no-cache": {"ETag": '"1"', "Cache-Control": "no-cache"}, "old": {"ETag": '"1"', "Cache-Control": "max-age=1, must-revalidate"},
    "language": {"ETag": '"1"', "Vary": "Accept-Language"}, "query?a=1": {"ETag": '"1"'},
}


@pytest.mark.parametrize("kind", ["apple", "foundation"])
@pytest.mark.parametrize("platform", ["rfc9111", "apple", "foundation"])
def test_shown_is_sent(kind, platform):
    """What `explain` prints is what `revalidate` sends, on every store and platform."""
    some = [entry(name, headers, request_headers={"Accept-Language": "de"}) for name, headers in KINDS.items()]
    cache = getattr(worlds, kind)(path(kind), some)
    for each in some:
        heads.clear()
        found = explained(cache, each.url, "--platform", platform)
        run("revalidate", cache, each.url, status=None)
        sent = {}
        for line in heads[0].split(b"\r\n")[1:] if heads else ():
            if line:
                name, value = line.decode().split(": ", 1)
                sent[name.lower()] = value
        shown = {name.lower(): value for name, value in found["conditional_request"]["headers"].items()}
        assert {name: value for name, value in sent.items() if name != "host"} == shown, (each.url, heads, shown)
        text = run("explain", cache, each.url, "--platform", platform, status=None).stdout.decode()
        for name, value in found["conditional_request"]["headers"].items():
            assert f"  {name}: {value}\n" in text, text


def test_credentials_are_not_shown_as_sent():
    """A cookie that `Vary` names is shown as what `--with-credentials` sends, and not as a part of the request."""
    cache = worlds.apple(path("cookie"), [entry("a", {"ETag": '"1"', "Vary": "Cookie"}, request_headers={"Cookie": "a=b"})])
    found = explained(cache, f"{base}/a")
    assert found["conditional_request"]["headers"] == {"If-None-Match": '"1"'} and found["conditional_request"]["needs_credentials"]
    text = run("explain", cache, f"{base}/a", status=None).stdout.decode()
    assert "  Cookie: " not in text and "only with '--with-credentials', with the stored Cookie" in text, text


def test_decided_by():
    """The validator that was not sent decided nothing."""
    cache = worlds.apple(path("decided"), [entry("a", KINDS["both"])])
    answers["/a"] = b'HTTP/1.1 304 X\r\nETag: "1"\r\nConnection: close\r\n\r\n'
    for choice in ["auto", "etag", "last-modified"]:
        found = json.loads(run("revalidate", cache, "--all", "--send-validator", choice, "--format", "json", status=None).stdout)
        assert found["entries"][0]["decided_by"] == (choice if choice != "auto" else "etag"), found


# --- Answers that break clients --------------------------------------------------------------------------------------------

def test_trailers_cost_one_request():
    """An answer with trailer fields, which crashes Foundation, fails alone; all others are finished."""
    some = [entry(str(number), {"ETag": '"1"'}) for number in range(20)]
    cache = worlds.apple(path("trailers"), some)
    for number in range(20):
        answers[f"/{number}"] = b'HTTP/1.1 304 X\r\nETag: "1"\r\nConnection: close\r\n\r\n'
    answers["/7"] = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\nETag: \"2\"\r\n\r\n"
                     b"5\r\nhello\r\n0\r\nX-A: 1\r\n\r\n")
    result = run("revalidate", cache, "--all", "--refresh", "--yes", "--format", "json", status=None)
    found = {each["url"].rsplit("/", 1)[1]: each for each in json.loads(result.stdout)["entries"]}
    assert {name for name, each in found.items() if each["outcome"] == "failed"} <= {"7"}, found
    assert len(found) == 20 and sum(each["outcome"] == "unchanged" for each in found.values()) == 19, found


def test_length_of_chunked_bodies():
    """Of an answer in chunks, a `Content-Length` that contradicts the body is not stored."""
    cache = worlds.apple(path("chunks"), [entry("a", {"ETag": '"1"'})])
    answers["/a"] = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\nETag: \"2\"\r\nConnection: close\r\n\r\n"
                     b"5\r\nhello\r\n0\r\n\r\n")
    run("revalidate", cache, "--all", "--refresh", "--yes", status=None)
    shown = json.loads(run("list", cache, "--columns", "size,response-headers", "--format", "json").stdout)["entries"][0]
    names = {name.lower(): value for name, value in shown["response_headers"]}
    assert shown["size"] != 5 or names.get("content-length", "5") == "5", shown


def test_304_with_no_store():
    """A 304 that forbids storing does not refresh the entry, as a 200 does not."""
    cache = worlds.apple(path("forbidding"), [entry("a", {"ETag": '"1"'})])
    answers["/a"] = b'HTTP/1.1 304 X\r\nETag: "1"\r\nCache-Control: no-store\r\nX-New: 1\r\nConnection: close\r\n\r\n'
    found = json.loads(run("revalidate", cache, "--all", "--refresh", "--yes", "--format", "json", status=None).stdout)
    assert found["entries"][0]["hindrance"] == "not-storable", found
    shown = run("list", cache, "--columns", "response-headers", "--format", "json").stdout
    assert b"X-New" not in shown and b"no-store" not in shown


def test_empty_bodies():
    """A body is replaced by an empty one only with `--allow-empty`, and never by a 204."""
    some = [entry(name, {"ETag": '"1"'}) for name in ("empty", "none")]
    cache = worlds.apple(path("emptied"), some)
    answers["/empty"], answers["/none"] = reply(200, b"", b'ETag: "2"'), b'HTTP/1.1 204 X\r\nETag: "2"\r\nConnection: close\r\n\r\n'
    for options, hindrances, sizes in [([], ["empty-body", "not-storable"], [200, 200]), (["--allow-empty"], [None, "not-storable"], [0, 200])]:
        found = json.loads(run("revalidate", cache, "--all", "--refresh", "--yes", "--format", "json", *options, status=None).stdout)
        shown = json.loads(run("list", cache, "--columns", "url,size", "--format", "json").stdout)["entries"]
        assert sorted((each["url"].rsplit("/", 1)[1], each["size"]) for each in shown) == [("empty", sizes[0]), ("none", sizes[1])], found
        if found["entries"][1]["outcome"] == "changed":
            assert [each["hindrance"] for each in found["entries"]] == hindrances, found
        else:
            assert found["entries"][0]["hindrance"] == hindrances[0], found


def test_long_heads():
    """A head that is too long is called that."""
    cache = worlds.apple(path("long"), [entry("a", {"ETag": '"1"'})])
    answers["/a"] = b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 3_000_000 + b"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    result = run("revalidate", cache, "--all", "--format", "json", status=None)
    found = json.loads(result.stdout)["entries"][0]
    assert found["outcome"] == "failed" and "the response headers are too long" in found["message"], found


@pytest.mark.parametrize("lengths, is_error", [((5, 50), True), ((3, 5), True), ((5, 5), False)])
@pytest.mark.parametrize("options", [[], ["--refresh", "--yes"]])
def test_different_lengths(lengths, is_error, options):
    """An answer with different `Content-Length` fields is called that, and changes nothing."""
    cache = worlds.apple(path("lengths"), [entry("a", {"ETag": '"1"'}, body=b"old")])
    fields = b"".join(b"Content-Length: %d\r\n" % length for length in lengths)
    answers["/a"] = b'HTTP/1.1 200 OK\r\nETag: "2"\r\nConnection: close\r\n' + fields + b"\r\nabcde"
    found = json.loads(run("revalidate", cache, "--all", "--format", "json", *options, status=None).stdout)["entries"][0]
    if is_error:
        assert (found["outcome"], found["reason"]) == ("failed", "not-http"), found
        assert "different 'Content-Length' fields" in found["message"], found
        assert run("body", cache, f"{base}/a").stdout == b"old"
    else:
        assert found["outcome"] == "changed", found
