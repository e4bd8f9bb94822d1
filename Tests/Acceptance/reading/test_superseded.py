"""Compares the entries that `--superseded` selects with made-up URLs whose resources and versions are known."""

import itertools
import json
import os
import plistlib
import random
import re
import sqlite3

import resource_urls
from scratch import export, make, run

# The seeds that the rules were made with, and others that were never looked at.
KNOWN, HELD_OUT = range(1, 6), range(1000, 1005)
NULL = "__CFURLRequestNullTokenString__"


def cache_of(urls, seed):
    """Makes a cache whose entries are in another order than the versions; the newer version was stored later."""
    folder = make(f"cache-{seed}", entries=1)
    database = sqlite3.connect(os.path.join(folder, "Cache.db"))
    for table in ["response", "blob_data", "receiver_data"]:
        database.execute(f"DELETE FROM cfurl_cache_{table}")
    shuffled = list(enumerate(urls))
    random.Random(seed).shuffle(shuffled)
    for id, (place, (_, _, url)) in enumerate(shuffled, start=1):
        archived = {"_CFURLString": url, "_CFURLStringType": 15}
        response = {"Array": [archived, 7e8 + place * 60, 0, 200, {"Cache-Control": "max-age=60"}, 3, "text/plain"], "Version": 1}
        request = {"Array": [False, archived] + [NULL] * 16 + ["GET", {}, NULL, NULL], "Version": 9}
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, version, hash_value, storage_policy, request_key) "
                         "VALUES (?, 0, 0, 0, ?)", (id, url))
        database.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object) VALUES (?, ?, ?)",
                         (id, *(plistlib.dumps(value, fmt=plistlib.FMT_BINARY) for value in (response, request))))
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, ?)", (id, b"x" * (1 + place % 7)))
    database.commit()
    database.close()
    return folder


def listed(cache, *options):
    lines = run("list", "-c", cache, "--format", "ndjson", *options).stdout.splitlines()
    return {entry["url"]: entry["size"] for entry in map(json.loads, lines)}


def judge(seed):
    """Counts the URLs that are superseded and selected, only selected, and only superseded; all commands must select the same."""
    urls = resource_urls.made_up(seed)
    resources = [list(group) for _, group in itertools.groupby(urls, key=lambda url: url[1])]
    older = {url for group in resources for _, _, url in group[:-1]}
    cache = cache_of(urls, seed)
    found = listed(cache, "--superseded")
    total = {"entries": len(found), "bytes": sum(found.values())}
    usage = json.loads(run("usage", "-c", cache, "--superseded", "--format", "json").stdout)
    assert usage["superseded"] == total, (usage["superseded"], total)
    assert json.loads(run("usage", "-c", cache, "--format", "json").stdout)["superseded"] is None
    plan = json.loads(run("purge", "-c", cache, "--superseded", "--dry-run", "--format", "json").stdout)
    assert plan["removed"] == {"entries": total["entries"], "body_bytes": total["bytes"]}, plan["removed"]
    assert {entry["url"] for entry in plan["entries"]} == set(found)
    page = run("report", "-c", cache, "--format", "markdown", "-o", "-").stdout.decode()
    row = re.search(r"^\| Superseded: [^|]*\| ([0-9,]+) \|", page, re.MULTILINE)
    assert row and int(row[1].replace(",", "")) == len(found), page
    archive = export(cache, f"{seed}.tar.gz")
    assert listed(archive, "--superseded") == found
    note = run("list", "-c", cache, "--superseded").stderr.decode()
    counts = [int(number) for number in re.findall(r"(?:recognized:|,) ([0-9]+) by ", note)]
    assert sum(counts) == len(found), note
    run("purge", "-c", cache, "--superseded", "--yes")
    assert not listed(cache, "--superseded")
    assert listed(cache).keys() == {url for _, _, url in urls} - set(found)
    return len(older & set(found)), len(set(found) - older), len(older - set(found))


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", [*KNOWN, *HELD_OUT] if metafunc.config.getoption("thorough") else [KNOWN[0], HELD_OUT[0]])


def test_superseded(seed):
    """At least 99% of the selected entries are superseded, at least 90% of the superseded entries are selected, by all commands alike."""
    right, wrong, missed = judge(seed)
    precision, recall = right / (right + wrong), right / (right + missed)
    assert precision >= 0.99 and recall >= 0.9, (seed, right, wrong, missed)
