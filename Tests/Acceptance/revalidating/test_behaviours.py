"""Revalidates and refreshes an entry for each way in which an origin may behave, in caches of both kinds."""

import gzip
import json
import os
import re
import socket
import subprocess
import threading

import pytest

import origin
from products import maker, tool
from scratch import path, run

OLD, NEW = b"old body", b"the new body"
EARLIER, LATER, LATEST = (origin.date(now=seconds) for seconds in (1_500_000_000, 1_600_000_000, 1_700_000_000))
TAG, WEAK, MODIFIED, BOTH = {"ETag": '"1"'}, {"ETag": 'W/"1"'}, {"Last-Modified": LATER}, {"ETag": '"1"', "Last-Modified": LATER}
BROWSER = {"Accept": "*/*", "Accept-Language": "de", "Accept-Encoding": "gzip"}


def reply(status, body=b"", /, **fields):
    """An answer; a name with `_` has a `-`."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    if status != 304 and status != 204 and not any(name in fields for name in ["Content_Length", "Transfer_Encoding"]):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([f"HTTP/1.1 {status} X", *lines, "Connection: close", "", ""]).encode() + body


# By its name: what is stored besides the body, how the origin answers (once without conditions, if that is given too), the outcome
# that is reported, and the body after `--refresh --purge-gone`: None if the entry is gone.
WAYS = {
    # 304
    "304 with the tag": (TAG, [reply(304, ETag='"1"')], "unchanged", OLD),
    "304 without a tag": (TAG, [reply(304)], "unchanged", OLD),
    "304 in other letters": (TAG, [b'HTTP/1.1 304 X\r\neTAG: "1"\r\nconnection: close\r\n\r\n'], "unchanged", OLD),
    "304 after 100": (TAG, [b'HTTP/1.1 100 Continue\r\n\r\n' + reply(304, ETag='"1"')], "unchanged", OLD),
    "304 after 103": (TAG, [b'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n' + reply(304, ETag='"1"')], "unchanged", OLD),
    "200 after 103": (TAG, [b'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n' + reply(200, NEW, ETag='"2"')], "changed", NEW),
    "304 with another tag": (TAG, [reply(304, ETag='"2"'), reply(200, NEW, ETag='"2"')], "failed", NEW),
    "304 with another tag, always": (TAG, [reply(304, ETag='"2"'), reply(304, ETag='"2"')], "failed", OLD),
    "304 with a weak tag": (WEAK, [reply(304, ETag='W/"1"')], "unchanged", OLD),
    "304 with another weak tag": (WEAK, [reply(304, ETag='W/"2"'), reply(200, NEW, ETag='W/"2"')], "failed", NEW),
    "304 with the date": (MODIFIED, [reply(304, Last_Modified=LATER)], "unchanged", OLD),
    "304 without a date": (MODIFIED, [reply(304)], "unchanged", OLD),
    "304 with an older date": (MODIFIED, [reply(304, Last_Modified=EARLIER), reply(200, NEW, Last_Modified=EARLIER)], "rolled-back", NEW),
    "304 with both": (BOTH, [reply(304, ETag='"1"', Last_Modified=LATER)], "unchanged", OLD),
    "304 with the tag of both": (BOTH, [reply(304, ETag='"1"')], "unchanged", OLD),
    "304 with the date of both": (BOTH, [reply(304, Last_Modified=LATER)], "unchanged", OLD),
    "304 with other fields": (TAG, [reply(304, ETag='"1"', Content_Length="999", Content_Type="x/y", Cache_Control="max-age=9")], "unchanged", OLD),
    # 200
    "200 with the same": (TAG, [reply(200, OLD, ETag='"1"')], "unchanged", OLD),
    "200 with another tag": (TAG, [reply(200, NEW, ETag='"2"')], "changed", NEW),
    "200 without a tag": (TAG, [reply(200, NEW)], "changed", NEW),
    "200 with another weak tag": (WEAK, [reply(200, NEW, ETag='W/"2"')], "changed", NEW),
    "200 with the same weak tag": (WEAK, [reply(200, OLD, ETag='W/"1"')], "unchanged", OLD),
    "200 with a later date": (MODIFIED, [reply(200, NEW, Last_Modified=LATEST)], "changed", NEW),
    "200 with an earlier date": (MODIFIED, [reply(200, NEW, Last_Modified=EARLIER)], "rolled-back", NEW),
    "200 with the same date": (MODIFIED, [reply(200, OLD, Last_Modified=LATER)], "unchanged", OLD),
    "200 without a date": (MODIFIED, [reply(200, NEW)], "changed", NEW),
    "200 with a date that is none": (MODIFIED, [reply(200, NEW, Last_Modified="yesterday")], "changed", NEW),
    "200 with another tag and the same date": (BOTH, [reply(200, NEW, ETag='"2"', Last_Modified=LATER)], "changed", NEW),
    "200 with the same tag and a later date": (BOTH, [reply(200, OLD, ETag='"1"', Last_Modified=LATEST)], "unchanged", OLD),
    "200 with another tag and an earlier date": (BOTH, [reply(200, NEW, ETag='"0"', Last_Modified=EARLIER)], "rolled-back", NEW),
    "200 with another tag and no date": (BOTH, [reply(200, NEW, ETag='"2"')], "changed", NEW),
    "200 that is coded": (TAG, [reply(200, gzip.compress(NEW, mtime=0), ETag='"2"', Content_Encoding="gzip")], "changed", NEW),
    "200 in chunks": (TAG, [reply(200, b"3\r\nthe\r\n9\r\n new body\r\n0\r\n\r\n", ETag='"2"', Transfer_Encoding="chunked")], "changed", NEW),
    "200 without a body": (TAG, [reply(200, b"", ETag='"2"')], "changed", OLD),
    "200 with no-store": (TAG, [reply(200, NEW, ETag='"2"', Cache_Control="no-store")], "changed", OLD),
    "200 to no validator": ({}, [reply(200, NEW)], "no-validator", NEW),
    "304 to no validator": ({}, [reply(304)], "no-validator", OLD),
    "404 to no validator": ({}, [reply(404)], "no-validator", None),
    # Vary
    "304 of a variant": ({**TAG, "Vary": "Accept-Language"}, [reply(304, ETag='"1"')], "unchanged", OLD),
    "200 of a variant": ({**TAG, "Vary": "Accept-Language"}, [reply(200, NEW, ETag='"2"', Vary="Accept-Language")], "changed", NEW),
    "200 of three fields": ({**TAG, "Vary": "Accept, Accept-Language, Accept-Encoding"},
                            [reply(200, NEW, ETag='"2"', Vary="Accept, Accept-Language, Accept-Encoding")], "changed", NEW),
    "200 that varies by a field that was not sent": (TAG, [reply(200, NEW, ETag='"2"', Vary="X-Other")], "changed", NEW),
    "200 that varies by everything": (TAG, [reply(200, NEW, ETag='"2"', Vary="*")], "changed", NEW),
    # 2xx that are not all of it
    "206": (TAG, [reply(206, OLD[1:], ETag='"1"', Content_Range="bytes 1-7/8")], "failed", OLD),
    "204": (TAG, [reply(204, ETag='"2"')], "failed", OLD),
    # 3xx
    "301": (TAG, [reply(301, Location="/other")], "redirected", OLD),
    "302": (TAG, [reply(302, Location="/other")], "redirected", OLD),
    "302 without Location": (TAG, [reply(302)], "failed", OLD),
    "303": (TAG, [reply(303, Location="/other")], "redirected", OLD),
    "307": (TAG, [reply(307, Location="/other")], "redirected", OLD),
    "308": (TAG, [reply(308, Location="/other")], "redirected", OLD),
    # 4xx and 5xx
    "404": (TAG, [reply(404, b"no")], "gone", None),
    "410": (TAG, [reply(410)], "gone", None),
    "400": (TAG, [reply(400)], "failed", OLD),
    "401": (TAG, [reply(401, WWW_Authenticate='Basic realm="x"')], "failed", OLD),
    "403": (TAG, [reply(403)], "failed", OLD),
    "412": (TAG, [reply(412)], "failed", OLD),
    "429": (TAG, [reply(429, Retry_After="9")], "failed", OLD),
    "500": (TAG, [reply(500)], "failed", OLD),
    "503": (TAG, [reply(503)], "failed", OLD),
    # What is no answer
    "nothing": (TAG, [b""], "failed", OLD),
    "no HTTP": (TAG, [b"\0\xff no HTTP\r\n\r\n"], "failed", OLD),
    "200 that is cut off": (TAG, [reply(200, NEW, ETag='"2"', Content_Length="1000")], "changed", OLD),
}
# A Foundation cache contains no header fields of requests, so that the answer may be another variant.
FOUNDATION = {"200 of a variant": OLD, "200 of three fields": OLD, "200 that varies by a field that was not sent": OLD,
              "200 that varies by everything": OLD}
NAMES = list(WAYS)


class Listener:
    """Answers each way in turn, and notes what it is asked."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.base = f"http://{self.place}/"
        self.heads = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                self.answer(self.socket.accept()[0])
            except OSError:
                if self.socket.fileno() < 0:
                    return

    def answer(self, connection):
        data = b""
        while b"\r\n\r\n" not in data and (piece := connection.recv(65536)):
            data += piece
        if data:
            self.heads.append(data)
            _, answers, _, _ = WAYS[NAMES[int(data.split(b" ")[1].decode().strip("/"))]]
            is_conditional = re.search(rb"\r\n(if-none-match|if-modified-since|if-range):", data.lower())
            connection.sendall(answers[0 if is_conditional else -1])
        connection.close()


def fields_of(head):
    line, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    return line, {name.lower(): value.strip() for name, value in (text.split(":", 1) for text in rest)}


def report(base, cache, *options):
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    result = subprocess.run([tool, "revalidate", "-c", cache, "--all", "--format", "json", "--timeout", "60s", *options],
                            capture_output=True, stdin=subprocess.DEVNULL, env=environment)
    assert result.returncode in (1, 3), result
    return {int(entry["url"].removeprefix(base)): entry for entry in json.loads(result.stdout)["entries"]}


def bodies(base, cache):
    """The bodies by the numbers of the ways."""
    if os.path.exists(os.path.join(cache, "Cache.db")):
        entries = [(entry["url"], entry["body"]) for entry in origin.apple_entries(cache)[0].values()]
    else:
        entries = [(entry["url"], entry["body"]) for entry in origin.foundation_entries(cache).values()]
    return {int(url.removeprefix(base)): body for url, body in entries}


@pytest.fixture
def listener():
    """An origin that behaves in all these ways."""
    listener = Listener()
    yield listener
    listener.socket.close()


@pytest.mark.parametrize(("kind", "expected"), [("apple", {}), ("foundation", FOUNDATION)], ids=["apple", "foundation"])
def test_behaviours(kind, expected, listener):
    """For each behaviour, the report, every byte of the request and the refreshed entry are the expected ones."""
    base, fields = listener.base, {"Cache-Control": "max-age=60", "Content-Type": "text/plain", "Content-Length": str(len(OLD))}
    cache = path("apple")
    origin.make_apple(maker, cache, [
        (f"{base}{number}", 200, {**fields, **WAYS[name][0]}, OLD, dict(BROWSER), None) for number, name in enumerate(NAMES)])
    if kind == "foundation":
        run("import", cache, "-c", path("foundation"), "--create", "foundation")
        cache = path("foundation")
    asked = {}
    for entry in json.loads(run("explain", "-c", cache, "--all", "--platform", "rfc9111", "--format", "json", status=1).stdout)["entries"]:
        request = entry["conditional_request"]
        fields = {name.lower(): value for name, value in request["headers"].items()}
        number = int(entry["url"].removeprefix(base))
        asked[number] = (f"{request['method']} /{number} HTTP/1.1", {"host": listener.place, **fields})
    before = bodies(base, cache)
    outcomes = report(base, cache)
    assert bodies(base, cache) == before
    sent = {}
    for line, fields in map(fields_of, listener.heads):
        sent.setdefault(int(line.split(" ")[1][1:]), []).append((line, fields))
    report(base, cache, "--refresh", "--purge-gone", "--yes")
    after = bodies(base, cache)
    wrong = {}
    for number, name in enumerate(NAMES):
        _, _, outcome, body = WAYS[name]
        wanted = (outcome, [asked[number]] if outcome != "no-validator" else [], expected.get(name, body))
        # The networking of the system may try again if the answer is not complete.
        found = (outcomes[number]["outcome"], sent.get(number, [])[:1], after.get(number))
        if found != wanted:
            wrong[name] = (found, wanted, outcomes[number])
    assert not wrong
