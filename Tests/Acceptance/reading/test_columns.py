"""Lists caches of each kind column by column."""

import json

import pytest

from scratch import make, run


def columns(cache):
    """All names, as the help lists them, to which the message about a wrong name leads."""
    message = run("list", "-c", cache, "--columns", "?", status=64).stderr.decode()
    assert message == "error: unknown column '?'\nhint: list the columns with: urlcache-admin list --help\n", message
    text = run("list", "--help").stdout.decode()
    names = text.partition("\nCOLUMNS\n")[2].partition("\n\n")[0].split()
    assert len(names) > 30 and "ttl" in names and "notes" in names, names
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


def place(name, value):
    """What a list is sorted by, as far as it shows it."""
    if name == "validators":
        return 2 if any(not word.startswith("weak-") for word in value) else len(value[:1])
    if isinstance(value, (list, dict)):
        return len(value)
    return value.encode() if isinstance(value, str) else value


@pytest.mark.parametrize("kind", ["apple", "foundation"])
def test_sorted_values(kind):
    """A list that is sorted by a column shows its values in order, and the unknown ones together."""
    cache = make("cache", "--format", kind, "--faults", "orphan-files,missing-bodies,undecodable", entries=80, seed=6)
    several = set()
    for name in columns(cache):
        # Sorted by the time in the text, and by the announced size of a missing body.
        if name in ["date", "last-modified", "disk", "policy"]:
            continue
        key = name.replace("-", "_")
        for order in [name, "-" + name]:
            lines = run("list", "-c", cache, "--format", "ndjson", "--show-secrets", "--at", "2026-01-01", "--columns", name, f"--sort={order}").stdout
            values = [json.loads(line)[key] for line in lines.splitlines()]
            known = [place(name, value) for value in values if value is not None]
            assert known == sorted(known, reverse=order != name), order
            assert sum(one is None and other is not None for one, other in zip(values, values[1:])) <= 1, order
            if len(set(known)) > 2:
                several.add(name)
    assert several >= {"stored", "age", "size", "url", "ttl", "lifetime", "current-age", "expires-at", "validators", "response-headers"}, several
