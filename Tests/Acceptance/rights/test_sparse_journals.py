"""A sparse database costs its author nothing, and must not cost who looks at it a disk."""

import os
import subprocess

import pytest

import scratch
import strace
import worlds
from products import tool
from scratch import path


@pytest.fixture
def cache():
    """A database of 1 GiB with a hot journal, of which almost nothing is on the disk."""
    cache = worlds.apple(path("cache"), worlds.entries(8), journal="delete")
    worlds.crash(cache)
    with open(os.path.join(cache, "Cache.db"), "r+b") as file:
        file.truncate(1 << 30)
    return cache


@strace.needed
@pytest.mark.parametrize("words", [["list"], ["enforce", "--max-entries", "2", "-n"]], ids=lambda words: words[0])
def test_written_bytes(cache, words):
    """What is written for a private copy is about what the files take on the disk."""
    trace = path("trace")
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", "trace=write,pwrite64", tool, words[0], "-c", cache, *words[1:]],
                   env=worlds.surroundings(), capture_output=True, timeout=120)
    with open(trace) as lines:
        written = sum(int(line.rsplit("=", 1)[1]) for line in lines if line.rsplit("=", 1)[-1].strip().isdigit())
    assert 0 < written < 32 << 20, written
