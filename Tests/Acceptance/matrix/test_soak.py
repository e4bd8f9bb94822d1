"""Runs all commands in turn beside an app that stores, replaces, reads and removes, in each journal mode and on a Foundation cache.

The app sees no error and waits for no lock for 100 ms; all that it stored is there unless it removed it, or a receipt of a command says so; log and
metrics say the same; and after each `enforce` the cache is within its limit. With `--thorough`, or as a program, it takes longer:

    PYTHONPATH=../support PRODUCTS=... python3 test_soak.py SECONDS [KIND...]
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import pytest

import scratch
import worlds
from limit_oracle import Limits
from scratch import path

KINDS = [*worlds.JOURNALS, "foundation"]
MOST_BYTES = 2_000_000


def commands(oldest, number):
    """Every command that needs no network, those that change the cache more than once."""
    file = lambda name: path(f"{number}-{name}")
    plan, backup, archive = file("plan"), file("backup.tar"), file("export.tar")
    looking = [
        ["list"], ["usage"], ["show", *oldest[:1]], ["explain", "--all"], ["grep", "body"], ["query", "SELECT count(*) FROM entries"],
        ["report", "-o", file("report.html")], ["metrics"], ["audit"], ["check"], ["export", "-o", archive], ["body", *oldest[:1], "-o", file("body")],
        ["purge", "--all", "--dry-run"], ["enforce", "--max-size", "1M", "--dry-run"], ["purge", "--older-than", "2s", "--plan", plan],
        ["watch", "--for", "1s"]]
    changing = [
        ["enforce", "--max-size", str(MOST_BYTES)], ["purge", *oldest], ["enforce", "--max-entries", "150"],
        ["purge", "--older-than", "3s", "--larger-than", "20K"], ["enforce", "--max-age", "20s"], ["check", "--repair"],
        ["purge", "--host", "app.example", "--smaller-than", "100", "--backup", backup], ["expire", "--all", "--clear-user-info", "k"],
        ["enforce", "--max-size", str(MOST_BYTES // 2), "--order", "largest"], ["purge", "--older-than", "10s", "--secure"], ["compact"]]
    for look, change in itertools.zip_longest(looking, changing):
        yield look
        if change:
            yield [*change, "--json", "--log", path("log"), "--metrics-file", path("metrics"), *["--yes"] * (change != ["compact"])]
    yield ["apply", plan, "--json", "--log", path("log"), "--metrics-file", path("metrics"), "--yes"]


class Soak:
    """Commands beside an app for some seconds; `faults` says what was wrong, and `counts` how often each verb ran."""

    def __init__(self, kind, seconds, folder, seed=0):
        self.cache, self.faults, self.counts, self.receipts = os.path.join(folder, "cache-" + kind), [], {}, []
        some = worlds.entries(100, newest=int(time.time()) - 3)
        worlds.foundation(self.cache, some) if kind == "foundation" else worlds.apple(self.cache, some, journal=kind)
        self.first, end = set(worlds.contents(self.cache)), time.monotonic() + seconds
        with worlds.Holder(self.cache, "busy", seed=seed, pause=0.005) as self.app:
            for number in itertools.count():
                with self.app.paused():
                    oldest = [str(entry) for entry in Limits(self.cache).order[:2]]
                for words in commands(oldest, number):
                    # Entries of a Foundation cache do not expire.
                    if time.monotonic() < end and (kind != "foundation" or words[0] != "expire"):
                        self.run(words)
                if time.monotonic() >= end:
                    break
        self.judge(self.app.report)

    def run(self, words):
        start, is_change, said = int(time.time()), "--log" in words, f"'{' '.join(words[:words.index('--json')] if '--json' in words else words)}'"
        words = [words[0], *([] if words[0] == "apply" else ["-c", self.cache]), *words[1:]]
        try:
            result = worlds.run(*words, timeout=60)
        except subprocess.TimeoutExpired:
            self.faults.append(f"{said}: takes more than a minute")
            return self.receipts.append([]) if is_change else None
        self.counts[words[0]] = self.counts.get(words[0], 0) + 1
        if result.returncode not in (0, 1, 3):
            self.faults.append(f"{said}: status {result.returncode}: {result.stderr[:200]}")
        if is_change:
            document = json.loads(result.stdout or "{}")
            document = document.get("repair") or {} if words[0] == "check" else document
            self.receipts.append([entry["id"] for entry in document.get("entries", [])])
            metric = re.search(r"^urlcache_last_run_removed_entries\S* (\d+)", scratch.read(path("metrics")).decode(), re.M)
            if metric and int(metric[1]) != len(self.receipts[-1]):
                self.faults.append(f"{said}: {len(self.receipts[-1])} entries in the receipt, {metric[1]} in the metrics")
        if words[0] == "enforce" and is_change and result.returncode == 0:
            with self.app.paused():
                self.measure(words, Limits(self.cache), start)

    def measure(self, words, limits, start):
        """Whether a limit is exceeded after `enforce`, by what was there when it started."""
        since = {entry for entry, stored in limits.stored.items() if stored + worlds.SECONDS_TO_2001 >= start}
        option, limit = words[3:5]
        found = {"--max-size": limits.in_use(since), "--max-entries": len(limits.shares.keys() - since), "--max-age": 0}[option]
        if option != "--max-age" and found > int(limit):
            self.faults.append(f"'{' '.join(words)}': {found} afterwards")

    def judge(self, app):
        """What does not add up: of the app, of the receipts, of the log, and of what is there."""
        self.faults += [f"app: {error}" for error in app["errors"]]
        self.faults += [f"app: waited for {wait} s" for wait in app["waits"] if wait >= worlds.longest_wait()]
        here, receipts = worlds.contents(self.cache), set(itertools.chain(*self.receipts))
        strange = here.keys() ^ ((self.first | set(app["stored"])) - set(app["removed"]) - receipts)
        if strange:
            self.faults.append(f"{len(strange & here.keys())} entries are there that should not be, and {len(strange - here.keys())} are gone and nobody "
                               f"removed them, such as {sorted(strange)[:5]}")
        if both := receipts & set(app["removed"]):
            self.faults.append(f"{len(both)} entries of receipts were removed by the app")
        with open(path("log") if os.path.exists(path("log")) else os.devnull) as file:
            logged = [json.loads(line)["removed_entries"] or 0 for line in file]
        if logged != [len(some) for some in self.receipts]:
            self.faults.append(f"the log has {len(logged)} runs that removed {sum(logged)} entries, and {len(self.receipts)} receipts have "
                               f"{sum(map(len, self.receipts))}")
        if lost := [number for number, row in here.items() if not worlds.is_foundation(self.cache) and worlds.file_of(row[2]) and row[3] is None]:
            self.faults.append(f"{len(lost)} bodies are missing, such as that of {lost[0]}")

    def __str__(self):
        app = self.app.report
        return "\n  ".join([f"{self.cache}: {app['operations']} operations of the app, {len(app['stored'])} stored; it waited for {app['waits'][-3:]} s; "
                            f"{sum(self.counts.values())} commands {self.counts}; {len(self.faults)} faults", *self.faults[:30]])


@pytest.mark.parametrize("kind", KINDS)
def test_soak(kind, thorough):
    with scratch.memory() as folder:
        soak = Soak(kind, 144 if thorough else 4, folder)
    if soak.faults:
        pytest.fail(str(soak), pytrace=False)


if __name__ == "__main__":
    for each in sys.argv[2:] or KINDS:
        with tempfile.TemporaryDirectory() as scratch.root:
            print(Soak(each, float(sys.argv[1]), scratch.root), flush=True)
