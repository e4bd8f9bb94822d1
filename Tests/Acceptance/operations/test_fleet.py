"""Collects inventories of made-up caches as of many machines, and asks several engines about them."""

import collections
import csv
import glob
import gzip
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from products import REPOSITORY, maker, tool
from scratch import path

EXAMPLES = REPOSITORY / "share/doc/urlcache-admin/examples"
# `sh Tests/run.sh --operations` installs DuckDB and Spark there.
PYTHON = REPOSITORY / ".build/operations/bin/python"
# The answers of these programs on a machine of the fleet.
WORDS = {"uname": 'echo "$MACHINE"', "date": "echo 2026-01-02", "urlcache-admin": f'exec "{tool}" "$@"'}


class Fleet:
    """The inventories of many machines, and what `usage` reports on each of them."""

    def __init__(self, root, count):
        self.root, self.inventories = root, os.path.join(root, "inventories")
        os.mkdir(os.path.join(root, "bin"))
        for word, line in WORDS.items():
            file = os.path.join(root, "bin", word)
            with open(file, "w") as opened:
                opened.write(f"#!/bin/sh\n{line}\n")
            os.chmod(file, 0o755)
        self.machines = [f"mac-{number:05}.example" for number in range(count)]
        with ThreadPoolExecutor(2) as pool:
            self.usages = list(pool.map(self.collect, self.machines))
        self.day = os.path.join(self.inventories, "day=2026-01-02")

    def run(self, *words, status=0, **variables):
        environment = os.environ | {"PATH": os.path.join(self.root, "bin") + ":" + os.environ["PATH"], "HOME": self.root} | variables
        result = subprocess.run(words, capture_output=True, text=True, env=environment)
        assert result.returncode == status, (words, result)
        return result.stdout

    def collect(self, machine):
        """Makes the caches of a machine, writes their inventories, and returns what `usage` reports on them."""
        random_of = random.Random(machine)
        home = os.path.join(self.root, machine)
        os.mkdir(home)
        names, usages = random_of.choice([["shop"], ["shop", "007"]]), {}
        for name in names:
            faults = ["--faults", "missing-bodies,undecodable"] if random_of.random() < 0.2 else []
            self.run(maker, "--format", random_of.choice(["apple", "apple", "foundation"]), "--entries",
                     str(random_of.randint(5, 60)), "--seed", str(random_of.randint(0, 10**6)), "--no-large-bodies", *faults,
                     os.path.join(home, name))
        configuration = os.path.join(home, "config.toml")
        with open(configuration, "w") as file:
            file.writelines(f"[caches.{name}]\npath = '{os.path.join(home, name)}'\n" for name in names)
        variables = {"MACHINE": machine, "URLCACHE_ADMIN_CONFIG": configuration}
        self.run("sh", str(EXAMPLES / "collect.sh"), self.inventories, *names, **variables)
        for name in names:
            usages[name] = json.loads(self.run(tool, "usage", "-c", name, "--by", "host", "--format", "json", **variables))
        shutil.rmtree(home)
        return machine, usages


@pytest.fixture(scope="module")
def fleet(tmp_path_factory, thorough):
    return Fleet(str(tmp_path_factory.mktemp("fleet")), 1_000 if thorough else 8)


def tables(text):
    """The tables of an answer, each of which begins with a header."""
    result = []
    for row in csv.reader(io.StringIO(text)):
        if "entries" in row:
            result.append([])
        result[-1].append(row)
    return result


def expected(day):
    """The answers to the questions, counted here, as text."""
    hosts, caches = collections.defaultdict(list), collections.defaultdict(list)
    for file in glob.glob(os.path.join(day, "cache=*", "*")):
        cache, machine = re.fullmatch(r".*/cache=(.*)/(.*)\.ndjson\.gz", file).groups()
        for line in gzip.open(file):
            entry = json.loads(line)
            hosts[entry["host"] or ""].append((machine, entry))
            caches[machine, cache].append(entry)

    def size(entries, *states):
        return sum(entry["size"] or 0 for entry in entries if not states or entry["freshness"] in states)

    by_host = sorted(((host, len({machine for machine, _ in pairs}), len(pairs), size([entry for _, entry in pairs]),
                       size([entry for _, entry in pairs], "stale")) for host, pairs in hosts.items()),
                     key=lambda row: (-row[3], row[0]))
    by_cache = sorted(((*key, len(entries), size(entries), size(entries, "fresh"),
                        min(entry["stored"] for entry in entries if entry["stored"])) for key, entries in caches.items()),
                      key=lambda row: (-row[3], *row[:2]))
    answers = [[["host", "machines", "entries", "bytes", "stale_bytes"], *by_host],
               [["machine", "cache", "entries", "bytes", "fresh_bytes", "oldest"], *by_cache]]
    return [[[str(value) for value in row] for row in table] for table in answers]


def test_inventories(fleet):
    """Each cache of each machine has one inventory."""
    files = glob.glob(os.path.join(fleet.day, "cache=*", "*"))
    assert len(files) == sum(len(caches) for _, caches in fleet.usages) and len(files) > len(fleet.machines)


def check_engine(fleet, engine, python):
    right = expected(fleet.day)
    answer = tables(fleet.run(python, str(EXAMPLES / f"fleet_{engine}.py"), fleet.day))
    assert answer == right, [pair for ours, theirs in zip(answer, right) for pair in zip(ours, theirs) if pair[0] != pair[1]][:5]


def test_sqlite(fleet):
    """SQLite answers the questions of the examples."""
    check_engine(fleet, "sqlite", sys.executable)


@pytest.mark.skipif(not PYTHON.exists(), reason="DuckDB and Spark: not here")
@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_other_engines(fleet, engine, thorough):
    """DuckDB and Spark answer the questions of the examples."""
    if not thorough:
        pytest.skip("DuckDB and Spark take a minute: only with --thorough")
    check_engine(fleet, engine, str(PYTHON))


def test_usage(fleet):
    """The numbers of a host are the sums of what `usage` reports on each machine."""
    hosts, entries = collections.Counter(), collections.Counter()
    for _, caches in fleet.usages:
        for usage in caches.values():
            for group in usage["groups"]:
                hosts[group["key"] or ""] += group["bytes"]
                entries[group["key"] or ""] += group["entries"]
    assert {row[0]: (int(row[2]), int(row[3])) for row in expected(fleet.day)[0][1:]} == {host: (entries[host], hosts[host]) for host in hosts}


def test_unreadable(fleet):
    """A cache that cannot be read has no inventory."""
    with open(path("config.toml"), "w") as file:
        file.write(f"[caches.shop]\npath = '{path('none')}'\n")
    fleet.run("sh", str(EXAMPLES / "collect.sh"), path("other"), "shop", status=66, MACHINE="mac", URLCACHE_ADMIN_CONFIG=path("config.toml"))
    assert not [name for _, _, names in os.walk(path("other")) for name in names]
