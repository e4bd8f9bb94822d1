"""Runs for all caches of the configuration, of which there may be many."""

import json
import os
import time

import pytest

import scratch
import worlds
from scratch import path
from worlds import run


def configure(text):
    folder = os.path.join(worlds.surroundings()["HOME"], ".config/urlcache-admin")
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/config.toml", "w") as file:
        file.write(text)


def test_linear():
    """The time for missing caches is linear in their number."""
    times = {}
    for count in (500, 4_000):
        configure("max-entries = 1\n" + "".join(f"[caches.c{number}]\npath = '/none/{number}'\n" for number in range(count)))
        start = time.monotonic()
        result = run("enforce", "--all-caches", "--yes", "--quiet", status=66)
        times[count] = time.monotonic() - start
        assert result.stderr.count("no cache '/none/") == count
    assert times[4_000] < 24 * max(times[500], 0.05), times


def test_two_names():
    """A cache with two names is cleaned once: what one of them keeps or pins is kept."""
    cache = worlds.apple(path("cache"), worlds.entries(20))
    os.symlink(cache, path("link"))
    rule = "[[caches.{0}.rules]]\nmatch.glob = 'https://a.example/{1}'\naction = 'keep'\n"
    sections = [f"[caches.{name}]\npath = {json.dumps(place)}\nmax-entries = 2\npinned = ['https://a.example/{pin}']\n{rule.format(name, kept)}"
                for name, place, pin, kept in [("one", cache, 1, 2), ("two", path("link"), 3, 4), ("three", cache + "/Cache.db", 5, 6)]]
    configure("".join(sections))
    run("enforce", "--all-caches", "--yes", "--best-effort", "--log", path("l.jsonl"), status=(0, 1))
    with open(path("l.jsonl")) as lines:
        assert [json.loads(line)["cache"] for line in lines] == ["one"]
    left = {row.url for row in worlds.contents(cache).values()} if False else str(worlds.contents(cache))
    assert all(f"https://a.example/{number}" in left for number in range(1, 7)) and len(worlds.contents(cache)) == 6


def test_two_limits():
    """Two names of one cache with different limits are an error."""
    cache = worlds.apple(path("cache"), worlds.entries(20))
    configure("".join(f"[caches.{name}]\npath = {json.dumps(cache)}\nmax-entries = {limit}\n" for name, limit in [("one", 2), ("two", 3)]))
    result = run("enforce", "--all-caches", "--yes", status=78)
    assert "are the same cache, but have different limits" in result.stderr and len(worlds.contents(cache)) == 20


def test_own_user():
    """Without root, too, the caches are cleaned by workers, with the same result."""
    caches = {name: worlds.apple(path(name), worlds.entries(30)) for name in "abc"}
    configure("max-entries = 10\n" + "".join(f"[caches.{name}]\npath = {json.dumps(place)}\n" for name, place in caches.items()))
    result = run("enforce", "--all-caches", "--yes", "--log", path("l.jsonl"), "--metrics-file", path("m.prom"), status=0)
    assert result.stdout.count("Removed 20 of 30 entries") == 3, result
    assert [len(worlds.contents(cache)) for cache in caches.values()] == [10, 10, 10]
    metrics = scratch.read(path("m.prom")).decode()
    assert metrics.count("urlcache_disk_bytes{") == 3 and metrics.count("urlcache_last_run_success{") == 3, metrics
