"""Runs commands as a timer would: while the cache is locked, with little time, and interrupted before they begin."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

import scratch
import strace
from heard_signals import hear_signals
from open_files import open_files
from products import tool
from scratch import path

HOLD = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
database.execute("COMMIT")
print("let go", flush=True)
sys.stdin.read()
"""


class Holder:
    """Another process that holds the lock for writing, which only commands that change the cache wait for."""

    def __init__(self, cache):
        self.process = subprocess.Popen([sys.executable, "-c", HOLD, os.path.join(cache, "Cache.db")], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == "locked\n"

    def let_go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "let go\n"

    def end(self):
        self.process.kill()
        self.process.communicate()


def make(name, entries=30, *options):
    return scratch.make(name, *options, entries=entries, seed=1)


def count(cache):
    return int(subprocess.run([tool, "list", "-c", cache, "--count"], capture_output=True, check=True).stdout)


def words(verb, cache, *options):
    return [tool, verb, "-c", cache, "--log", path("log"), "--metrics-file", path("urlcache.prom"), *options]


def run(verb, cache, *options):
    result = subprocess.run(words(verb, cache, *options), capture_output=True, text=True, timeout=120,
                            stdin=subprocess.DEVNULL)
    return result


def recorded():
    """The last line of the log, and the metrics of the last run."""
    with open(path("log")) as lines, open(path("urlcache.prom")) as samples:
        found = dict(re.findall(r'^urlcache_last_run_(\w+)\{[^}]*\} (\S+)$', samples.read(), re.M))
        return json.loads(lines.readlines()[-1]), found


WAITING = ["--wait", "0s", "--if-busy", "wait", "--max-runtime"]


@pytest.mark.parametrize(("verb", "options"), [
    ("purge", ["--all", "--yes"]), ("enforce", ["--max-entries", "3", "--yes"]), ("compact", ["--full"])], ids=["purge", "enforce", "compact"])
def test_busy(verb, options):
    """A locked cache is a failure, a reason to skip, or is waited for, according to '--if-busy'."""
    cache = make("busy")
    holder = Holder(cache)
    before = count(cache)
    assert run(verb, cache, *options, "--wait", "0s").returncode == 75, verb
    line, samples = recorded()
    assert line["status"] == 75 and not line["skipped"] and samples["skipped"] == samples["success"] == "0", line
    result = run(verb, cache, *options, "--wait", "0s", "--if-busy", "skip", "--format", "json")
    assert result.returncode == 0 and json.loads(result.stdout)["schema"] == "urlcache-admin.skipped/1", result
    line, samples = recorded()
    assert line["status"] == 0 and line["skipped"] and "in use" in line["message"], line
    assert line["verb"] == verb and samples["skipped"] == samples["success"] == "1", samples
    assert count(cache) == before
    # The time may also be over while the command reads the cache.
    assert run(verb, cache, *options, *WAITING, "2500ms").returncode in (75, 3), verb
    holder.end()
    assert count(cache) == before


def test_waiting():
    """With '--if-busy wait' a command tries again until the other process releases the lock."""
    cache = make("busy")
    holder = Holder(cache)
    process = subprocess.Popen(words("enforce", cache, "--max-entries", "3", "--yes", *WAITING, "60s"), text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr.readline().endswith("trying again\n")
    holder.let_go()
    assert process.wait(60) == 0 and count(cache) == 3
    process.stderr.close()
    holder.end()
    line, samples = recorded()
    assert line["removed_entries"] == 27 and samples["left_entries"] == "0", line


@strace.needed
@pytest.mark.parametrize(("form", "slow"), [
    ("apple", "clock_nanosleep:delay_exit=300000"), ("foundation", "unlinkat:delay_exit=15000")], ids=["apple", "foundation"])
def test_max_runtime(form, slow):
    """A purge that '--max-runtime' stops reports the remaining entries, and the next run removes them."""
    cache = make(form, 300, "--no-large-bodies", "--format", form)
    # While another process has the cache open, batches are small, and a pause follows each.
    holder = sqlite3.connect(os.path.join(cache, "Cache.db")) if form == "apple" else None
    if holder:
        holder.execute("SELECT count(*) FROM cfurl_cache_response").fetchall()
    stored, stops, milliseconds = 300, 0, 200
    while stored:
        command = words("purge", cache, "--all", "--yes", "--format", "json", "--max-runtime", f"{milliseconds}ms")
        result = subprocess.run(["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=" + slow.split(":")[0], "-e", f"inject={slow}",
                                 *command], capture_output=True, text=True, timeout=120)
        receipt, (line, samples) = json.loads(result.stdout), recorded()
        gone = receipt["removed"]["entries"]
        stored -= gone
        if stored:
            assert count(cache) == stored, (stored, receipt["removed"])
        assert line["removed_entries"] == gone, line
        assert receipt["left"] == line["left"] == int(samples["left_entries"]) == stored, (receipt["left"], line)
        assert result.returncode == line["status"] == (3 if stored else 0), result
        assert receipt["stopped_by"] == ("max-runtime" if stored else None)
        if stored:
            assert result.stderr == f"note: stopped by '--max-runtime'; not removed: {stored:,} {'entry' if stored == 1 else 'entries'}\n", result
            stops += gone > 0
        milliseconds = int(milliseconds * 1.5)
    assert stops > 0, "no run was stopped in the middle"
    if holder:
        holder.close()


def test_compact_max_runtime():
    """A compaction that '--max-runtime' stops is completed by the next one."""
    # Other tests have the same cache, so it is made once.
    cache = scratch.make("free", "--no-large-bodies", entries=2000, seed=7)
    assert run("purge", cache, "--all", "--yes").returncode == 0
    result = run("compact", cache, "--max-runtime", "1ms", "--format", "json")
    receipt = json.loads(result.stdout)
    assert result.returncode == 3 and receipt["stopped_by"] == "max-runtime" and receipt["free_after"] > 0, result
    result = run("compact", cache, "--max-runtime", "1h", "--format", "json")
    receipt = json.loads(result.stdout)
    assert result.returncode == 0 and receipt["stopped_by"] is None and receipt["free_after"] == 0, result


def test_splay():
    """While it waits for '--splay', a command has not opened the cache, and a signal ends it at once."""
    cache = make("splay")
    with open(os.path.join(cache, "Cache.db"), "rb") as file:
        database = file.read()
    delays = set()
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGTERM]:
        process = subprocess.Popen(words("purge", cache, "--all", "--yes", "--splay", "900d"), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=hear_signals)
        delays.add(process.stderr.readline())
        opened = open_files(process.pid).values() if sys.platform == "linux" else []
        assert not any(cache in file for file in opened), opened
        process.send_signal(number)
        assert process.wait(30) == -number and process.communicate()[0] == ""
    assert all(re.fullmatch(r"note: starting in \d+ \w+, because of '--splay'\n", delay) for delay in delays), delays
    assert len(delays) > 1, delays
    # The log is opened before anything else, and nothing is written to it.
    assert os.path.getsize(path("log")) == 0
    with open(os.path.join(cache, "Cache.db"), "rb") as file:
        assert file.read() == database
    start = time.monotonic()
    assert run("purge", cache, "--all", "-n", "--splay", "900d").returncode == 0
    assert run("purge", cache, "--all", "--yes", "--splay", "300ms").returncode == 0
    # The wait is no part of the run.
    line, _ = recorded()
    assert line["removed_entries"] == 30 and time.monotonic() - start < 60, line
