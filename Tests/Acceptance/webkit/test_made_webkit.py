"""WebKit caches that are made for one question each: hostile sizes, secrets, partitions, many entries."""

import json
import os
import random

import pytest

import scratch
from scratch import path, run
from webkit_records import Cache


def entries(cache):
    return [json.loads(line) for line in run("list", cache.folder, "--format", "ndjson", "--columns", "all").stdout.splitlines()]


def test_written_as_webkit_does():
    """The records that the other tests here make are sound: else they would prove nothing."""
    for version in (16, 17, 18):
        cache = Cache(path(f"v{version}"), version)
        for number in range(20):
            cache.store(f"http://a.example/{number}", bytes(number * 1_000), fields=[("ETag", f'"{number}"')], partition="a.example" if number % 2 else "")
        assert run("check", "--full", cache.folder).stdout.endswith(b"20 entries, 0 errors, 0 warnings, 0 notes\n")
        assert sorted(entry["size"] for entry in entries(cache)) == [number * 1_000 for number in range(20)]


@pytest.mark.parametrize("sizes", [{"header_size": 2 ** 64 - 1}, {"body_size": 2 ** 64 - 1}, {"header_size": 2 ** 63 - 1, "body_size": 2 ** 63 - 1},
                                   {"header_size": 2 ** 63}, {"body_size": 2 ** 40}, {"header_size": 5 << 20}, {"header_size": 0}, {"body_size": 0}])
def test_sizes_that_are_not_true(sizes):
    """A record can claim any size, with the right checksum. It is an entry with a note, and takes no memory."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/1")
    lying = cache.store("http://a.example/2", sizes=sizes)
    found = {entry["url"]: entry for entry in entries(cache)}
    assert len(found) == 2 and not found["http://a.example/1"]["notes"] and found["http://a.example/2"]["notes"], found
    for words in ["usage"], ["check", "--full"], ["audit"], ["grep", "body"], ["explain", "--all"], ["report", "-o", path("report.html")]:
        assert run(words[0], "-c", cache.folder, *words[1:], status=None).returncode in (0, 1, 3), words
    run("body", "-c", cache.folder, os.path.basename(lying), status=None)
    run("export", "-c", cache.folder, "-o", path("copy.tar"), status=None)
    assert json.loads(run("purge", "-c", cache.folder, os.path.basename(lying), "--yes", "--format", "json").stdout)["removed"]["entries"] == 1
    assert [entry["url"] for entry in entries(cache)] == ["http://a.example/1"]


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -float("inf"), 1e300, -1e18, 5e-324])
def test_times_that_are_none(time):
    cache = Cache(path("cache"))
    cache.store("http://a.example/1", time=time)
    [entry] = entries(cache)
    assert entry["url"] == "http://a.example/1" and (entry["stored"] is None or time == 5e-324)
    for words in ["check"], ["explain", "--all"], ["usage"], ["enforce", "--max-age", "1d", "-n"]:
        run(words[0], "-c", cache.folder, *words[1:], status=None)


def test_secrets_are_found():
    """Set-Cookie, the cookies that `Vary` recorded, and tokens in URLs and bodies."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/?access_token=SECRETTOKEN1234567890", b'{"password": "SECRETPASSWORD1"}', mime="application/json",
                fields=[("Set-Cookie", "session=SECRETCOOKIE1; Path=/"), ("Vary", "Cookie, Authorization"), ("Content-Type", "application/json")],
                vary=[("Cookie", "sessionid=SECRETCOOKIE2"), ("Authorization", "Bearer SECRETBEARER1")])
    shown = run("show", "-c", cache.folder, os.path.basename(cache.path("http://a.example/?access_token=SECRETTOKEN1234567890"))).stdout
    assert b"SECRET" not in shown
    report = run("audit", cache.folder, "--show-secrets", "--format", "json", status=1).stdout
    for secret in (b"SECRETTOKEN1234567890", b"SECRETCOOKIE1", b"SECRETCOOKIE2", b"SECRETBEARER1", b"SECRETPASSWORD1"):
        assert secret in report, secret
    run("export", "-c", cache.folder, "--redact", "--redact-bodies", "-o", path("redacted.tar"))
    assert b"SECRET" not in scratch.read(path("redacted.tar"))


def test_secrets_beside_responses():
    """The request that a redirect leads to, and what a page loaded, have URLs and fields of their own."""
    cache = Cache(path("cache"))
    cache.store("https://a.example/login", b"", status=302, fields=[("Location", "/in")],
                redirect=("https://a.example/in?access_token=SECRETx7Kq92LmZ4vB81", [("Referer", "https://a.example/?password=SECRETw3Rt58NpQ6yC27"),
                                                                               ("Authorization", "Bearer SECRETBEARER2")]))
    page = "https://a.example/page?session_id=SECRETq6Lp27RiJ3sG48"
    cache.store_list(page, [("https://a.example/a.js?api_key=SECRETj5Hd73FsW8uE94", [("Referer", page), ("X-Api-Key", "SECRETg2Mb64VxT9kA35")]),
                            ("https://a.example/once.js?access_token=SECRETe8Zn41YcU7oD56", None)])
    report = json.loads(run("audit", cache.folder, "--show-secrets", "--format", "json", status=1).stdout)["findings"]
    places = {finding["secret"]["text"]: (finding["place"], finding["name"]) for finding in report if finding["secret"]}
    for secret, place in [("SECRETx7Kq92LmZ4vB81", "redirect-request"), ("SECRETw3Rt58NpQ6yC27", "redirect-request"), ("SECRETBEARER2", "redirect-request"),
                          ("SECRETj5Hd73FsW8uE94", "subresources"), ("SECRETg2Mb64VxT9kA35", "subresources"), ("SECRETe8Zn41YcU7oD56", "subresources")]:
        assert places[secret] == ("property", place), places
    assert [finding["place"] for finding in report if finding["secret"] and finding["secret"]["text"] == "SECRETq6Lp27RiJ3sG48"] == ["url", "property"]
    for words in ["show", "-c", cache.folder, os.path.basename(cache.path(page, type="SubResources"))], ["audit", cache.folder], \
            ["show", "-c", cache.folder, "https://a.example/login", "--format", "json"]:
        assert b"SECRET" not in run(*words, status=None).stdout, words
    # About a list, nothing else is found: it is no response.
    assert {finding["rule"].partition("/")[0] for finding in report if (finding["url"] or "").startswith("https://a.example/page")} == {"secret"}


def test_one_url_of_several_sites():
    """A URL has an entry for each top-level site and each range; naming the URL means all of them."""
    cache = Cache(path("cache"))
    url = "http://cdn.example/lib.js"
    for partition in ("a.example", "b.example", "c.example"):
        cache.store(url, partition.encode(), partition=partition)
    cache.store(url, b"part", partition="a.example", range="bytes=0-3", status=206)
    cache.store("http://cdn.example/other.js", partition="a.example")
    found = [entry for entry in entries(cache) if entry["url"] == url]
    assert sorted((entry["partition"], entry["size"]) for entry in found) == [("a.example", 4), ("a.example", 9), ("b.example", 9), ("c.example", 9)]
    assert len(json.loads(run("show", "-c", cache.folder, url, "--format", "json").stdout)) == 4
    run("purge", "-c", cache.folder, "--partition", "b.example", "--yes")
    assert sorted(entry["partition"] for entry in entries(cache) if entry["url"] == url) == ["a.example", "a.example", "c.example"]
    run("purge", "-c", cache.folder, url, "--yes")
    assert [entry["url"] for entry in entries(cache)] == ["http://cdn.example/other.js"]


def test_long_urls_and_headers():
    """What does not fit into the first 4 KiB of a record is read as well."""
    cache = Cache(path("cache"))
    url = "http://a.example/" + "x" * 100_000
    cache.store(url, fields=[(f"X-{number}", "y" * 1_000) for number in range(300)] + [("ETag", '"1"')])
    [entry] = entries(cache)
    assert entry["url"] == url and entry["etag"] == '"1"' and entry["notes"] == []


def test_shared_bodies_and_limits():
    """A body that several entries have is counted once, and its space is free with the last of them."""
    cache = Cache(path("cache"))
    for number in range(5):
        cache.store(f"http://a.example/{number}", b"z" * 1_000_000, time=1_795_000_000 + number)
    cache.store("http://a.example/small", time=1_795_000_100)
    usage = json.loads(run("usage", cache.folder, "--format", "json").stdout)
    assert 1_000_000 <= usage["footprint"]["total_bytes"] < 1_010_000 and 1_000_000 <= usage["in_use_bytes"] < 1_010_000, usage
    receipt = json.loads(run("enforce", "-c", cache.folder, "--max-size", "500000", "--yes", "--format", "json").stdout)
    assert receipt["removed"]["entries"] == 5
    assert [entry["url"] for entry in entries(cache)] == ["http://a.example/small"] and os.listdir(os.path.join(cache.root, "Blobs")) == []


def test_records_that_are_just_written():
    """While WebKit writes, a record can be incomplete: it is an entry with a note, or none, and nothing ends badly."""
    cache = Cache(path("cache"))
    chosen = random.Random(3)
    for number in range(200):
        file = cache.store(f"http://a.example/{number}", bytes(chosen.randrange(9_000)))
        os.truncate(file, chosen.randrange(os.path.getsize(file)))
    found = entries(cache)
    assert len(found) == 200 and all(entry["notes"] for entry in found)
    assert json.loads(run("purge", "-c", cache.folder, "--all", "--yes", "--format", "json", status=None).stdout)["schema"] == "urlcache-admin.purge/1"
