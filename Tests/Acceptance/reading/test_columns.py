"""Lists caches of each kind column by column."""

import json
import re

import pytest

from scratch import make, run


def columns(cache):
    """All names, as the message about a wrong name lists them."""
    message = run("list", "-c", cache, "--columns", "?", status=None).stderr.decode()
    names = re.findall(r"[a-z][a-z-]+", message[message.index("Use one of:"):].split("\n")[0].partition(": ")[2])
    assert len(names) > 30 and "ttl" in names and "notes" in names, message
    # Sidecar files are not part of the cache.
    return [name for name in names if name != "sidecar-etag"]


def entries(cache, names):
    lines = run("list", "-c", cache, "--format", "ndjson", "--show-secrets", "--at", "2026-01-01", "--columns", names).stdout
    return [json.loads(line) for line in lines.splitlines()]


@pytest.mark.parametrize("kind", ["apple", "foundation"])
def test_single_columns(kind):
    """A column has the same value whether it is listed alone or with all other columns."""
    cache = make("cache", "--format", kind, "--faults", "orphan-files,missing-bodies,undecodable", entries=25, seed=4)
    names = columns(cache)
    whole = entries(cache, ",".join(names))
    assert len(whole) >= 25 and any(entry["ttl"] for entry in whole)
    for name in names:
        # Notes are about the parts of an entry that were decoded, and so depend on the other columns.
        if name == "notes":
            continue
        key = name.replace("-", "_")
        for entry, alone in zip(whole, entries(cache, name), strict=True):
            for member, value in alone.items():
                assert entry[member] == value, (name, entry, alone)
            assert key in alone or name in alone, (name, alone)


@pytest.mark.parametrize("kind", ["apple", "foundation"])
def test_first_sorted(kind):
    """With a limit, only some entries are decoded; they are the first ones of the whole list."""
    cache = make("cache", "--format", kind, "--faults", "orphan-files,missing-bodies,undecodable", entries=60, seed=5)
    # Not whole lines: notes depend on what is decoded.
    options = ["--format", "csv", "--columns", "id,url,size", "--at", "2026-01-01"]
    for name in columns(cache):
        for order, selection, limit in [(name, [], 7), ("-" + name, ["--method", "GET", "--glob", "*e*"], 1), ("-" + name, [], 500)]:
            words = ["list", cache, *options, "--sort", order, *selection]
            whole = run(*words).stdout.splitlines()
            assert run(*words, "--limit", str(limit)).stdout.splitlines() == whole[:limit + 1], (order, limit)
