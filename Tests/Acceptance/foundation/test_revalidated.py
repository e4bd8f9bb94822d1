"""Revalidates entries that Foundation's own `URLCache` has stored, and has it read the refreshed entries."""

import base64
import json
import os
import subprocess
import time

import pytest

import origin
from origin import Origin
from products import tool
from scratch import path

NAMES = ["etag", "weak", "modified", "both", "large", "changed", "gzip", "chunked", "rolled", "404", "redirect", "none", "500"]


def run(*arguments, status=0, **options):
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    environment["SWIFT_BACKTRACE"] = "enable=no"
    result = subprocess.run(arguments, capture_output=True, timeout=120, env=environment, **options)
    assert result.returncode == status, (arguments, result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return result.stdout


def get(stock, folder, urls):
    """The entries of `URLCache` for URLs."""
    lines = run(stock, "get", folder, input=json.dumps(urls).encode()).splitlines()
    return dict(zip(urls, map(json.loads, lines), strict=True))


@pytest.fixture
def base():
    """What the URLs of the origin begin with."""
    return origin.start()


@pytest.fixture
def folder(base, stock_url_cache):
    """A cache of Foundation whose entries are stale."""
    items = []
    for name in NAMES:
        fields = {"Cache-Control": "max-age=1", "Content-Type": "text/plain", "X-Old": "1", **origin.STORED[name]}
        body = origin.LARGE_BODY if name == "large" else origin.OLD_BODY
        items.append({"url": base + name, "status": 200, "headers": fields, "body": base64.b64encode(body).decode()})
    run(stock_url_cache, "store", path("cache"), input=json.dumps(items).encode())
    time.sleep(2.1)
    return path("cache")


def revalidate(folder, *options):
    words = [tool, "revalidate", "-c", folder, "--all", "--timeout", "30s", "--format", "json", *options]
    return json.loads(run(*words, status=3))["entries"]


def test_report(base, folder, stock_url_cache):
    """'revalidate' reports the answer of the origin for each entry, and changes nothing."""
    urls = [base + name for name in NAMES]
    old, names = get(stock_url_cache, folder, urls), sorted(os.listdir(folder))
    report = {entry["url"].removeprefix(base): entry for entry in revalidate(folder)}
    wanted = {"changed": "changed", "gzip": "changed", "chunked": "changed", "rolled": "rolled-back", "404": "gone",
              "redirect": "redirected", "none": "no-validator", "500": "failed"}
    for name in NAMES:
        assert report[name]["outcome"] == wanted.get(name, "unchanged"), report[name]
    assert get(stock_url_cache, folder, urls) == old and sorted(os.listdir(folder)) == names


def test_refreshing(base, folder, stock_url_cache):
    """`URLCache` reads each refreshed entry as the origin sent it, and URLSession does not ask the origin again."""
    old = get(stock_url_cache, folder, [base + name for name in NAMES])
    revalidate(folder, "--refresh", "--purge-gone", "--yes")
    assert len(os.listdir(folder)) == len(NAMES) - 1
    new = get(stock_url_cache, folder, list(old))
    assert new.pop(base + "404") == {}
    freshened, replaced = {"etag", "weak", "modified", "both", "large"}, {"changed", "gzip", "chunked", "rolled", "none"}
    for url, entry in new.items():
        name = url.removeprefix(base)
        if name not in freshened | replaced:
            assert entry == old[url], (name, entry)
            continue
        assert entry["headers"]["Cache-Control"] == "max-age=3600" and entry["headers"]["X-New"] == "1", entry
        assert ("X-Old" in entry["headers"]) == (name in freshened), entry
        body = {"large": origin.LARGE_BODY, "gzip": origin.LARGE_BODY, "chunked": b"chunked"}.get(
            name, origin.OLD_BODY if name in freshened else origin.NEW_BODY)
        assert base64.b64decode(entry["body"]) == body and entry["status"] == 200, entry
    Origin.asked.clear()
    requests = [{"url": base + name, "policy": "useProtocolCachePolicy"} for name in sorted(freshened | replaced)]
    answers = run(stock_url_cache, "load", folder, input=json.dumps(requests).encode()).splitlines()
    for request, answer in zip(requests, answers, strict=True):
        assert json.loads(answer)["body"] == new[request["url"]]["body"], (request, answer)
    assert not Origin.asked, Origin.asked
    for line in run(tool, "list", "-c", folder, "--format", "ndjson", "--columns", "url,freshness").splitlines():
        entry = json.loads(line)
        name = entry["url"].removeprefix(base)
        assert (entry["freshness"] == "fresh") == (name in freshened | replaced), entry
