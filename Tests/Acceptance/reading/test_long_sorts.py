"""Sorts more entries than `list` reads at a time, and compares the order with Python's."""

import csv
import io
import subprocess

import scratch
from products import tool

ENTRIES = 9000


def rows(cache, *options):
    result = subprocess.run([tool, "list", cache, "--columns", "id,size,url", "--format", "csv", *options],
                            capture_output=True, cwd=scratch.root, check=True)
    return list(csv.DictReader(io.StringIO(result.stdout.decode())))


def number(text):
    return int(text) if text else -1


def test_any_number_of_entries_is_sorted():
    cache = scratch.make("sorted", entries=ENTRIES, seed=8)
    listed = rows(cache)
    assert len(listed) == ENTRIES
    keys = {"url": lambda row: row["url"].encode(), "size": lambda row: number(row["size"])}
    for name, key in keys.items():
        up = sorted(listed, key=key)
        # Of equal values, the lowest id comes first in both directions; Python keeps the order of equal rows.
        down = sorted(listed, key=key, reverse=True)
        for order, expected in [(name, up), ("-" + name, down)]:
            assert rows(cache, f"--sort={order}") == expected
            for limit in (1, 5000, 100001):
                assert rows(cache, f"--sort={order}", "--limit", str(limit)) == expected[:limit]
    large = [row for row in listed if number(row["size"]) > 300]
    assert 4096 < len(large) < ENTRIES
    assert rows(cache, "--where", "size > 300", "--sort=-url") == sorted(large, key=keys["url"], reverse=True)
