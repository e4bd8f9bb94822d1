"""Runs all commands in turn beside an app that stores, replaces, reads and removes, in each journal mode and on a Foundation cache.

The app sees no error and waits for no lock for 100 ms, and all that it stored is there unless it removed it, or a receipt of a command says so;
after each `enforce`, the cache is within its limit. With `--thorough`, or as a program with a number of seconds, for longer:

    PYTHONPATH=../support PRODUCTS=... python3 test_soak.py SECONDS [KIND...]
"""

import itertools
import json
import os
import sys
import tempfile
import time

import pytest

import scratch
import worlds
from limit_oracle import Limits
from scratch import path

KINDS = [*worlds.JOURNALS, "foundation"]
LONGEST_WAIT = 0.1
MOST_BYTES, MOST_ENTRIES = 2_000_000, 150


def commands(cache, number):
    """Every command on a cache, and those that change it more than once."""
    file = lambda name: path(f"{number}-{name}")
    first = Limits(cache, live=True).order[:2]
    changing = [
        ["enforce", "--max-size", str(MOST_BYTES)], ["purge", *map(str, first)], ["enforce", "--max-entries", str(MOST_ENTRIES)],
        ["purge", "--older-than", "3s", "--larger-than", "20K"], ["enforce", "--max-age", "20s"], ["check", "--repair"],
        ["purge", "--host", "app.example", "--smaller-than", "100", "--backup", file("backup.tar")],
        ["enforce", "--max-size", str(MOST_BYTES // 2), "--order", "largest"], ["purge", "--stale", "--mime", "text/html"]]
    looking = [
        ["list"], ["usage"], ["show", *map(str, first[:1])], ["explain", "--all"], ["grep", "body 1"], ["query", "SELECT count(*) FROM entries"],
        ["report", "-o", file("report.html")], ["metrics"], ["audit"], ["check"], ["export", "-o", file("export.tar")],
        ["purge", "--all", "--dry-run"], ["enforce", "--max-size", "1M", "--dry-run"]]
    for one, two in itertools.zip_longest(looking, changing):
        yield one
        if two:
            yield [*two, "--yes"]
    yield ["compact"]


def soak(kind, seconds, seed=0):
    """Runs commands beside an app for a while. Returns what was found to be wrong, and counts."""
    cache = path("cache-" + kind)
    some = worlds.entries(100, newest=int(time.time()) - 3)
    worlds.foundation(cache, some) if kind == "foundation" else worlds.apple(cache, some, journal=kind)
    faults, stored, removed, counts = [], set(worlds.contents(cache)), [], {}
    end, log = time.monotonic() + seconds, path("log-" + kind)
    with worlds.Holder(cache, "busy", seed=seed, pause=0.005) as app:
        for number in itertools.count():
            for words in commands(cache, number):
                if time.monotonic() > end:
                    break
                is_change, start = "--yes" in words, time.time()
                result = worlds.run(words[0], "-c", cache, *words[1:], *["--json", "--log", log] * is_change)
                counts[words[0]] = counts.get(words[0], 0) + 1
                if result.returncode not in (0, 1, 3):
                    faults.append(f"'{' '.join(words)}': status {result.returncode}: {result.stderr[:200]}")
                if is_change:
                    removed.append(receipt(result))
                if words[0] == "enforce" and is_change and result.returncode == 0:
                    faults += over(cache, words, start)
            if time.monotonic() > end:
                break
    faults += accounts(cache, app.report, stored, removed, log)
    return faults, counts, app.report


def receipt(result):
    """The ids of the entries that a command says it removed."""
    document = json.loads(result.stdout or "{}")
    return [entry["id"] for entry in (document.get("repair") or {} if "findings" in document else document).get("entries", [])]


def over(cache, words, start):
    """Whether a limit is exceeded after `enforce`, by what was there when it started."""
    limits = Limits(cache, live=True)
    since = {entry for entry, stored in limits.stored.items() if stored + worlds.SECONDS_TO_2001 >= int(start)}
    option, limit = words[1], words[2]
    found = {"--max-size": lambda: limits.in_use(since), "--max-entries": lambda: len(limits.shares.keys() - since), "--max-age": lambda: 0}[option]()
    if option != "--max-age" and found > int(limit):
        yield f"'{' '.join(words)}': {found} afterwards"


def accounts(cache, report, stored, removed, log):
    """What does not add up: of the app, of the receipts, of the log, and of what is there."""
    faults = [f"app: {error}" for error in report["errors"][:5]]
    if report["waits"] and report["waits"][-1] >= LONGEST_WAIT:
        faults.append(f"app: waits of {[wait for wait in report['waits'] if wait >= LONGEST_WAIT]} s")
    here = worlds.contents(cache)
    receipts = set(itertools.chain(*removed))
    expected = (stored | set(report["stored"])) - set(report["removed"]) - receipts
    if here.keys() != expected:
        faults.append(f"{len(here.keys() - expected)} entries are there that are not accounted for, and {len(expected - here.keys())} are missing, "
                      f"such as {sorted(expected ^ here.keys())[:5]}")
    if both := receipts & set(report["removed"]):
        faults.append(f"{len(both)} entries of receipts were removed by the app")
    with open(log) as file:
        logged = [json.loads(line)["removed_entries"] or 0 for line in file]
    if logged != [len(some) for some in removed]:
        faults.append(f"the log says that {sum(logged)} entries were removed, and the receipts {sum(map(len, removed))}")
    if not worlds.is_foundation(cache):
        lost = [number for number, row in here.items() if worlds.file_of(row[2]) and row[3] is None]
        faults += [f"{len(lost)} bodies are missing, such as that of {lost[0]}"] if lost else []
    return faults


def pytest_generate_tests(metafunc):
    metafunc.parametrize("kind", KINDS)


def test_soak(kind, thorough):
    faults, counts, report = soak(kind, 144 if thorough else 4)
    if faults:
        pytest.fail("\n".join([f"{report['operations']} operations of the app, {sum(counts.values())} commands", *faults[:20]]), pytrace=False)


if __name__ == "__main__":
    for each in sys.argv[2:] or KINDS:
        with tempfile.TemporaryDirectory() as scratch.root:
            faults, counts, report = soak(each, float(sys.argv[1]))
            print(f"{each}: {report['operations']} operations of the app, {len(report['stored'])} stored, longest waits {report['waits'][-3:]}, "
                  f"{sum(counts.values())} commands {counts}, {len(faults)} faults", *faults[:20], sep="\n  ", flush=True)
