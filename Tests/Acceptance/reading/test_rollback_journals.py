"""Reads caches with a rollback journal, whose app has to wait for each reader, while the app is at work."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time

import pytest

import scratch
import strace
from products import tool
from scratch import path

MODES = ["delete", "truncate", "persist"]
TABLE = "cfurl_cache_response"

# It commits again and again until its input ends, and then tells the longest wait, the number of commits, and what failed.
APP = """
import json, sqlite3, sys, threading, time
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
pause, rows = float(sys.argv[3]), int(sys.argv[4])
for statement in ["PRAGMA journal_mode=" + sys.argv[2], "PRAGMA synchronous=OFF", "PRAGMA cache_size=20"]: database.execute(statement)
done = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
longest, commits, errors = 0, 0, []
while not done.is_set():
    start = time.monotonic()
    try:
        database.execute("UPDATE cfurl_cache_response SET version = version + 1 WHERE entry_ID <= ?", (rows,))
    except sqlite3.Error as error:
        errors.append(str(error))
    longest = max(longest, time.monotonic() - start)
    commits += 1
    if commits == 1: print("ready", flush=True)
    done.wait(pause)
print(json.dumps([longest, commits, errors]))
"""

LOOKING = [
    ["list"], ["show", "1"], ["body", "1"], ["usage"], ["explain", "--all"], ["check"], ["audit"], ["grep", "x"],
    ["report", "-o", "new.html"], ["query", "SELECT count(*) FROM entries"], ["export", "-o", "new.tar"], ["metrics"],
    ["watch", "--for", "1s"], ["recover"], ["purge", "--all", "--dry-run"], ["enforce", "--max-entries", "3", "--dry-run"]]


class App:
    """What an app has seen."""


@contextlib.contextmanager
def app(cache, mode, pause=0.01, rows=1):
    """An app that commits again and again."""
    seen = App()
    words = [sys.executable, "-ISc", APP, os.path.join(cache, "Cache.db"), mode, str(pause), str(rows)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        yield seen
        seen.longest, seen.commits, seen.errors = json.loads(process.communicate()[0])
    assert seen.errors == [], seen.errors


def make(mode, name="cache", entries=40, mebibytes=0):
    """A cache with a rollback journal, and if need be with another table that makes it large."""
    folder = scratch.make(name, entries=entries)
    database = sqlite3.connect(os.path.join(folder, "Cache.db"), isolation_level=None)
    database.execute("PRAGMA journal_mode=" + mode)
    if mebibytes:
        database.execute("CREATE TABLE other(data)")
        for _ in range(mebibytes):
            database.execute("INSERT INTO other VALUES (zeroblob(1048576))")
    database.close()
    return folder


def age(cache):
    """Lets the app look as if it had not written for an hour."""
    os.utime(os.path.join(cache, "Cache.db"), (time.time() - 3600,) * 2)


def kept_waiting(cache, mode, words, status=(0,), longest=0.1, **options):
    """Runs a command beside an app, and returns whether the app was kept waiting."""
    os.makedirs(path("new"), exist_ok=True)
    for name in os.listdir(path("new")):
        os.remove(path("new/" + name))
    with app(cache, mode, **options) as seen:
        time.sleep(0.1)
        result = scratch.run(words[0], "-c", cache, *words[1:], status=None, cwd=path("new"))
        time.sleep(0.1)
    assert result.returncode in status, (words, result)
    return seen.longest >= longest


def never(trial):
    """The best of some trials, as other tests may keep the machine busy."""
    assert not all(trial() for _ in range(4)), "the app was kept waiting"


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
@pytest.mark.parametrize("mode", MODES)
def test_an_app_that_stores(mode, words, thorough):
    """An app that stores all the time is never kept waiting, and sees no error; the command succeeds."""
    if mode != "delete" and words[0] not in ("list", "check", "watch") and not thorough:
        pytest.skip("only with --thorough")
    cache = make(mode)
    # What is in these caches is a finding or an answer.
    answers = {"check": (0, 1), "audit": (0, 1), "grep": (0, 1), "explain": (0, 1)}.get(words[0], (0,))
    never(lambda: kept_waiting(cache, mode, words, answers))


@pytest.mark.parametrize("words", [["list"], ["export", "-o", "new.tar"]], ids=" ".join)
def test_an_app_that_stores_into_a_large_cache(words):
    """A database that is too large for a copy is read without a lock, or not at all."""
    cache = make("delete", mebibytes=70)
    never(lambda: kept_waiting(cache, "delete", [*words, "--wait", "1s"], (0, 75)))


@pytest.mark.parametrize("mode", MODES)
def test_commits_while_a_cache_is_opened(mode, thorough):
    """No commit looks like damage, however it falls between the steps of opening."""
    cache = make(mode, entries=400)
    with app(cache, mode, pause=0, rows=400) as seen:
        for _ in range(500 if thorough else 40):
            result = scratch.run("list", "-c", cache, "--wait", "20s", "--format", "urls")
            assert len(result.stdout.splitlines()) == 400
    assert seen.commits > 40, seen.commits


@strace.needed
@pytest.mark.parametrize(("words", "wait", "status"), [
    (["list"], "20s", 0), (["list", "--format", "urls"], "20s", 0), (["list", "--format", "urls"], "0s", 75), (["usage"], "20s", 0),
    (["show", "1"], "20s", 0), (["export", "-o", "new.tar"], "20s", 0), (["check"], "20s", 1), (["purge", "--all", "-n"], "20s", 0),
    (["query", "SELECT count(*) FROM entries"], "20s", 0)])
def test_a_commit_before_the_first_read(words, wait, status):
    """A commit after an idle database was looked at, and before it is read, leads to another try, if there is time for it."""
    cache = make("delete", entries=400)
    age(cache)
    database, trace = os.path.join(cache, "Cache.db"), path("trace")
    # The program looks for locks, and then lets SQLite open the file: the app commits in between.
    traced = ["strace", "-f", "-qq", "-o", trace, "-P", database, "-e", "trace=openat,fcntl",
              "-e", "inject=openat:delay_enter=400000:when=2"]
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("PRAGMA synchronous=OFF")
    with subprocess.Popen([*traced, tool, words[0], "-c", cache, "--wait", wait, *words[1:]], cwd=scratch.root, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        while process.poll() is None and not (os.path.exists(trace) and b"F_GETLK" in scratch.read(trace)):
            time.sleep(0.01)
        other.execute(f"UPDATE {TABLE} SET version = version + 1")
        output, errors = process.communicate()
    other.close()
    assert process.returncode == status, (process.returncode, output, errors)
    assert b"malformed" not in errors and (b"changed while it was read" in errors) == (status == 75), errors
    assert "urls" not in words or len(output.splitlines()) == (400 if status == 0 else 0), output


READER = """
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN"); database.execute("SELECT * FROM cfurl_cache_response").fetchall()
print("ready", flush=True)
sys.stdin.readline()
database.execute("COMMIT")
"""
WRITER = """
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
database.execute("BEGIN IMMEDIATE"); database.execute("UPDATE cfurl_cache_response SET version = 1")
print("ready", flush=True)
database.execute("COMMIT")
print("done", flush=True)
"""


@pytest.mark.parametrize("verb", ["list", "usage", "check"])
def test_a_commit_that_waits_for_a_reader(verb):
    """A command that waits for the app keeps no lock for which the app waits."""
    cache = make("delete")
    database = os.path.join(cache, "Cache.db")
    with contextlib.ExitStack() as stack:
        reader, writer = (
            stack.enter_context(subprocess.Popen([sys.executable, "-ISc", script, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            for script in (READER, WRITER))
        for process in (reader, writer):
            assert process.stdout.readline() == b"ready\n"
        # The writer waits for the reader, and lets no others begin.
        time.sleep(0.3)
        command = stack.enter_context(subprocess.Popen([tool, verb, "-c", cache, "--wait", "20s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        time.sleep(0.3)
        start = time.monotonic()
        reader.communicate(b"\n")
        assert writer.stdout.readline() == b"done\n"
        took = time.monotonic() - start
        output, errors = command.communicate()
    assert took < 2, took
    assert command.returncode in (0, 1), (command.returncode, errors)


@pytest.mark.parametrize("mebibytes", [0, 70])
def test_an_open_read_transaction(mebibytes):
    """A reader of the app does not matter."""
    cache = make("delete", mebibytes=mebibytes)
    age(cache)
    with subprocess.Popen([sys.executable, "-ISc", READER, os.path.join(cache, "Cache.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout.readline() == b"ready\n"
        assert len(scratch.run("list", "-c", cache, "--wait", "0s", "--format", "urls").stdout.splitlines()) == 40
        reader.communicate(b"\n")


def test_without_a_folder_for_copies(monkeypatch):
    """Where no copy can be made, a cache is read as it is when its app pauses."""
    cache = make("delete")
    monkeypatch.setenv("TMPDIR", path("nothing"))
    assert len(scratch.run("list", "-c", cache, "--format", "urls").stdout.splitlines()) == 40


def test_nothing_is_left_of_copies():
    """Nothing is left of the copies, and nothing of the cache is changed."""
    cache = make("persist")
    before = scratch.tree(cache)
    scratch.run("list", "-c", cache)
    assert scratch.tree(cache) == before
    assert not [name for name in os.listdir(path("temporary")) if name.startswith("urlcache-admin.")]
