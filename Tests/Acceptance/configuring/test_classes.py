"""Groups the entries of made-up caches of both kinds by class, and checks which URLs an app gets without a network."""

import json
from urllib.parse import urlsplit

import pytest

from scratch import make, path, run as plain_run, write as write_file

FORMATS = ["apple", "foundation"]
AT = ["--at", "2026-01-01T00:00:00Z"]


@pytest.fixture(autouse=True)
def configuration(monkeypatch):
    """The path of the configuration file of the running test."""
    monkeypatch.setenv("URLCACHE_ADMIN_CONFIG", path("config.toml"))
    return path("config.toml")


def run(*words, status=0):
    return plain_run(*words, status=status, text=True).stdout


def entries(cache, *columns):
    lines = run("list", "-c", cache, "--format", "ndjson", "--columns", ",".join(["id", "url", "size", *columns]), *AT).splitlines()
    return [json.loads(line) for line in lines]


def configure(text):
    write_file("config.toml", text.encode())


@pytest.mark.parametrize("kind", FORMATS)
def test_usage(kind):
    """'usage --by class' adds up what another evaluation adds up, and a class decides nothing."""
    configure("")
    cache = make("usage", "--format", kind, entries=300)
    all = entries(cache, "mime", "status", "host")
    pinned = all[7]["url"]
    configure(f"""
        pinned = ["{pinned}"]
        [caches.shop]
        path = "{cache}"
        [[caches.shop.rules]]
        match.mime = "image/*"
        class = "pictures"
        [[caches.shop.rules]]
        match.where = 'status in (4xx, 5xx)'
        class = "failures"
        action = "purge"
        [[rules]]
        match = {{}}
        max-entries = 100000
    """)
    expected, key = {}, lambda url: (urlsplit(url).netloc, urlsplit(url).path)
    for entry in all:
        is_pinned = entry["url"] == pinned if kind == "apple" else key(entry["url"]) == key(pinned)
        name = "pictures" if (entry["mime"] or "").startswith("image/") else (
            "failures" if (entry["status"] or 0) >= 400 else "offline" if is_pinned else "cache")
        group = expected.setdefault(name, [0, 0])
        group[0], group[1] = group[0] + 1, group[1] + (entry["size"] or 0)
    assert len(expected) >= 3, expected
    for way in ["shop", cache]:
        found = json.loads(run("usage", "-c", way, "--by", "class", "--format", "json"))
        groups = {group["key"]: [group["entries"], group["bytes"]] for group in found["groups"]}
        assert groups == expected, (way, groups, expected)
    tested = json.loads(run("rules", "test", "-c", "shop", "--format", "json"))
    assert {entry["rule"] for entry in tested["entries"]} <= {2, 3}, "a class alone decides nothing"


@pytest.mark.parametrize("value", ["''", "'a b'", "3"])
def test_names_of_classes(configuration, value):
    """The name of a class is one word."""
    configure(f"[[rules]]\nmatch = {{}}\nclass = {value}\n")
    assert plain_run("config", "check", status=78, text=True).stderr.startswith(
        f"error: {configuration}:3:9: invalid class name\n")


def test_rule_without_effect():
    """A rule that does nothing is refused, with a hint that lists what a rule can do."""
    configure("[[rules]]\nmatch = {}\n")
    assert plain_run("config", "check", status=78, text=True).stderr.endswith(
        "hint: add 'action', 'class', 'expire-after', 'revalidate-after', 'max-entries' or 'max-size'\n")


@pytest.mark.parametrize("kind", FORMATS)
def test_offline(kind):
    """'check --offline-set' reports each URL that the app would not get without a network, and no other."""
    configure("")
    cache = make("offline", "--format", kind, "--faults", "missing-bodies", entries=200)
    all = entries(cache, "freshness")
    broken = {finding["id"] for finding in json.loads(run("check", "-c", cache, "--format", "json", *AT, status=1))["findings"]
              if finding["severity"] == "error" or finding["code"] == "partial-body"}
    keys = lambda url: url if kind == "apple" else (urlsplit(url).netloc, urlsplit(url).path)
    count = {}
    for entry in all:
        count[keys(entry["url"])] = count.get(keys(entry["url"]), 0) + 1
    single = [entry for entry in all if count[keys(entry["url"])] == 1]
    urls, expected = [], []
    for entry in single:
        urls.append(entry["url"])
        if entry["id"] in broken:
            expected.append(("offline-unusable", entry["id"], entry["url"]))
        elif entry["freshness"] == "stale":
            expected.append(("offline-stale", entry["id"], entry["url"]))
    urls.append("https://none.example/")
    expected.append(("offline-missing", None, "https://none.example/"))
    first = next(entry for entry in single if entry["id"] not in broken and entry["freshness"] != "stale" and "?" not in entry["url"])
    with_query = first["url"] + "?other=1"
    urls.append(with_query)
    expected.append(("offline-missing", None, with_query) if kind == "apple" else ("offline-other-url", first["id"], with_query))
    # A URL is looked for once, in whatever spelling.
    urls.append(first["url"].replace("https:", "HTTPS:"))
    listed = write_file("urls.txt", "\r\n".join(urls + ["", ""]).encode())
    found = json.loads(run("check", "-c", cache, "--offline-set", listed, "--format", "json", *AT, status=1))
    assert [(finding["code"], finding["id"], finding["url"]) for finding in found["findings"]] == expected
    assert found["entries"] == 200 and {code for code, _, _ in expected} >= {"offline-unusable", "offline-stale", "offline-missing"}
    good = write_file("good.txt", (first["url"] + "\n").encode())
    assert run("check", "-c", cache, "--offline-set", good, *AT) == "200 entries, 0 errors, 0 warnings, 0 notes\n"
    missing = write_file("missing.txt", b"https://none.example/\n")
    assert run("check", "-c", cache, "--offline-set", missing, *AT, status=1) == (
        "SEVERITY  FINDING          COUNT  REPAIR\nerror     offline-missing      1  -\n\n"
        "offline-missing: the app gets nothing for this URL when offline\n  https://none.example/  no entry for this URL\n\n"
        "200 entries, 1 error, 0 warnings, 0 notes\n")


def test_refused_offline_sets():
    """A list without a URL, a missing list, and a list together with '--repair' are refused."""
    configure("")
    cache = make("offline")
    good = write_file("good.txt", b"https://none.example/\n")
    for words, message in [
            (["--offline-set", "/dev/null"], "error: the list given with '--offline-set' is empty\nhint: write one URL per line\n"),
            (["--offline-set", good, "--repair"], None)]:
        errors = plain_run("check", "-c", cache, *words, status=64, text=True).stderr
        assert message in (None, errors), errors
    assert plain_run("check", "-c", cache, "--offline-set", path("none"), status=66).stdout == b""
