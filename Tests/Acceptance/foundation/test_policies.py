"""Asks Foundation's own URLSession for stored entries, under each request policy, and compares with what `explain` predicts."""

import base64
import email.utils
import http.server
import json
import os
import shutil
import subprocess
import threading
import time

import pytest

from products import tool
from scratch import path

POLICIES = ["useProtocolCachePolicy", "reloadIgnoringLocalCacheData", "reloadIgnoringCacheData",
            "reloadIgnoringLocalAndRemoteCacheData", "returnCacheDataElseLoad", "returnCacheDataDontLoad",
            "reloadRevalidatingCacheData"]
STORED, LOADED = b"stored", b"loaded"


def date(later):
    return email.utils.formatdate(time.time() + later, usegmt=True)


# What is stored, by the name that the URL ends with: the status and the header fields.
ENTRIES = {
    "fresh": (200, {"Cache-Control": "max-age=3600", "ETag": '"a"'}),
    "fresh-public": (200, {"Cache-Control": "public, max-age=3600", "Date": date(0)}),
    "fresh-old-date": (200, {"Cache-Control": "max-age=3600", "Date": date(-90000)}),
    "fresh-age": (200, {"Cache-Control": "max-age=3600", "Age": "90000"}),
    "fresh-private": (200, {"Cache-Control": 'private, max-age="3600"'}),
    "fresh-plus": (200, {"Cache-Control": "max-age=+3600"}),
    "fresh-last": (200, {"Cache-Control": "max-age=0, max-age=3600"}),
    "fresh-404": (404, {"Cache-Control": "max-age=3600"}),
    "fresh-301": (410, {"Cache-Control": "max-age=3600"}),
    "stale": (200, {"Cache-Control": "max-age=1", "ETag": '"a"', "Last-Modified": date(-90000)}),
    "stale-zero": (200, {"Cache-Control": "MAX-AGE=0"}),
    "stale-must-revalidate": (200, {"Cache-Control": "max-age=1, must-revalidate", "ETag": '"a"'}),
    "stale-while-revalidate": (200, {"Cache-Control": "max-age=1, stale-while-revalidate=3600", "ETag": '"a"'}),
    "no-lifetime": (200, {"ETag": '"a"'}),
    "bare": (200, {}),
    "heuristic": (200, {"Date": date(0), "Last-Modified": date(-90000)}),
    "expires": (200, {"Date": date(0), "Expires": date(3600)}),
    "expired": (200, {"Date": date(-90), "Expires": date(-60)}),
    "expires-shared": (200, {"Cache-Control": "s-maxage=1", "Expires": date(-60)}),
    "no-cache": (200, {"Cache-Control": "no-cache, max-age=3600", "ETag": '"a"'}),
    "no-cache-field": (200, {"Cache-Control": 'no-cache="x", max-age=3600'}),
    "no-store": (200, {"Cache-Control": "no-store, max-age=3600"}),
    "invalid": (200, {"Cache-Control": "max-age=1h"}),
    "pragma": (200, {"Pragma": "no-cache"}),
    "vary": (200, {"Cache-Control": "max-age=3600", "Vary": "Accept"}),
    "status-500": (500, {"Cache-Control": "max-age=3600"}),
    "status-308": (308, {"Cache-Control": "max-age=3600"}),
    "challenge": (200, {"Cache-Control": "max-age=3600", "WWW-Authenticate": "Basic"}),
}
NAMES = [*ENTRIES, "missing"]


class Origin(http.server.BaseHTTPRequestHandler):
    """Answers each request, and notes it."""

    asked = {}

    def do_GET(self):
        Origin.asked[self.path] = dict(self.headers.items())
        self.send_response(200)
        self.send_header("Content-Length", str(len(LOADED)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(LOADED)

    do_HEAD = do_POST = do_GET

    def log_message(self, *arguments):
        pass


def run(*arguments, status=(0,), **options):
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    environment["SWIFT_BACKTRACE"] = "enable=no"
    result = subprocess.run(arguments, capture_output=True, timeout=120, env=environment, **options)
    assert result.returncode in status, (arguments, result.returncode, result.stderr[-2000:])
    return result.stdout


def explained(folder, *options):
    document = json.loads(run(tool, "explain", "-c", folder, "--all", *options, "--format", "json", status=(0, 1, 3)))
    assert document["platform"] == "foundation", document["platform"]
    return {entry["url"].rsplit("/", 1)[1]: entry for entry in document["entries"]}


def load(stock, folder, requests):
    Origin.asked.clear()
    output = run(stock, "load", folder, input=json.dumps(requests).encode())
    return [json.loads(line) for line in output.splitlines()]


def compare(stock, folder, said, base, requests, outcome):
    """Compares each answer with what was said of its entry."""
    answers = load(stock, folder, requests)
    # A folder that was emptied is no cache any more.
    lines = run(tool, "list", "-c", folder, "--format", "ndjson", status=(0, 65)).splitlines()
    left = {json.loads(line)["url"].rsplit("/", 1)[1] for line in lines}
    outcomes = set()
    for request, answer in zip(requests, answers, strict=True):
        name = request["url"].removeprefix(base)
        wanted = outcome(said.get(name))
        outcomes.add(wanted)
        fact = (name, request, wanted, answer, Origin.asked.get("/" + name))
        assert "error" not in answer, fact
        was_asked = "/" + name in Origin.asked
        assert was_asked == (wanted == "load"), fact
        if request.get("method") != "HEAD":
            assert base64.b64decode(answer["body"]) == (LOADED if was_asked else STORED), fact
        if was_asked:
            conditions = [key for key in Origin.asked["/" + name] if key.lower().startswith("if-") or key == "Range"]
            assert not conditions, fact
        # What is refused is removed, and what is used stays.
        if name in said:
            assert (name in left) == (wanted == "cache"), fact
    return outcomes


@pytest.fixture(scope="module")
def base():
    """What the URLs of the origin begin with."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def stored(base, stock_url_cache, tmp_path_factory):
    """A folder that Foundation has stored all entries in, and where a lifetime of a second has passed."""
    folder = str(tmp_path_factory.mktemp("stored") / "cache")
    items = [{"url": base + name, "status": status, "headers": headers, "body": base64.b64encode(STORED).decode()}
             for name, (status, headers) in ENTRIES.items()]
    run(stock_url_cache, "store", folder, input=json.dumps(items).encode())
    time.sleep(2.1)
    return folder


@pytest.fixture
def cache(stored):
    """A copy of these entries for one test."""
    return shutil.copytree(stored, path("cache"))


@pytest.mark.parametrize("policy", POLICIES)
def test_policies(policy, cache, base, stock_url_cache):
    """Under each request policy, URLSession loads what 'explain' says that it loads, and answers from the cache otherwise."""
    said = explained(cache, "--policy", policy)
    assert said.keys() == ENTRIES.keys(), said.keys()
    for name, entry in said.items():
        of_policy = [line["outcome"] for line in entry["policies"] if line["name"] == policy]
        assert of_policy == ["cache" if entry["reusable"] else "load"], entry
        # By 'revalidate': Foundation sends no conditions.
        assert entry["conditional_request"]["method"] == "GET", entry
    requests = [{"url": base + name, "policy": policy} for name in NAMES]
    missing = json.loads(run(tool, "explain", "-c", cache, "--why-missing", base + "missing", "--format", "json", status=(1,)))
    of_missing = [line["outcome"] for line in missing["policies"] if line["name"] == policy]

    def outcome(entry):
        return ("cache" if entry["reusable"] else "load") if entry else of_missing[0]

    assert compare(stock_url_cache, cache, said, base, requests, outcome) == {"cache", "load"}


def test_authorization(cache, base, stock_url_cache):
    """Under a request with 'Authorization', 'explain' calls nothing reusable, and URLSession loads everything."""
    said = explained(cache, "--request-header", "Authorization: Basic x")
    assert not any(entry["reusable"] for entry in said.values())
    requests = [{"url": base + name, "policy": POLICIES[0], "headers": {"Authorization": "Basic x"}} for name in NAMES]
    assert compare(stock_url_cache, cache, said, base, requests, lambda entry: "load") == {"load"}


@pytest.mark.parametrize("method", ["HEAD", "POST"])
def test_methods(method, cache, base, stock_url_cache):
    """URLSession never answers other methods than GET from the cache."""
    said = explained(cache)
    requests = [{"url": base + name, "policy": POLICIES[0], "method": method} for name in NAMES]
    assert compare(stock_url_cache, cache, said, base, requests, lambda entry: "load") == {"load"}


def test_query(cache, base, stock_url_cache):
    """A request with another query and with other header fields is answered from the cache, because the key contains neither."""
    answers = load(stock_url_cache, cache, [{"url": base + "fresh?other=1", "policy": POLICIES[0],
                                             "headers": {"Cache-Control": "no-cache", "Range": "bytes=1-"}}])
    assert base64.b64decode(answers[0]["body"]) == STORED and not Origin.asked, answers
