"""Changes caches with a rollback journal beside apps that read and write all the time: the apps never wait long, and nothing goes unsaid."""

import contextlib
import json
import os
import subprocess
import sys
import time

import pytest

import scratch
import strace
import worlds
from products import tool
from scratch import path

# An app uses SQLite's own busy handler, as CFNetwork does. The time in which it had no processor is no wait.
APP = """
import json, select, sqlite3, sys, time
sys.path.insert(0, sys.argv[4])
import worlds
from busy_app import without_processor
connection = sqlite3.connect(sys.argv[1], timeout=1, isolation_level=None)
connection.execute("PRAGMA journal_mode = " + sys.argv[2]).fetchall()
# Waits of the disk are none of the lock.
connection.execute("PRAGMA synchronous = OFF")
longest, count, errors, number = 0, 0, [], 1_000_000
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.01 if sys.argv[3] == "storing" else 0.002)[0]:
    start, lost = time.monotonic(), without_processor()
    number += 1
    entry = worlds.Entry(f"https://app.example/{number}", b"body")
    try:
        if sys.argv[3] == "storing":
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO cfurl_cache_response(entry_ID, version, hash_value, storage_policy, request_key) "
                               "VALUES (?, 0, 0, 0, ?)", (number, entry.url))
            connection.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object) VALUES (?, ?, ?)",
                               (number, worlds.response_object(entry), worlds.request_object(entry)))
            connection.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, ?)", (number, b"body"))
            connection.execute("COMMIT")
        else:
            connection.execute("SELECT count(*), sum(length(request_key)) FROM cfurl_cache_response WHERE entry_ID < 300").fetchall()
        count += 1
    except sqlite3.Error as error:
        errors.append(str(error))
        if connection.in_transaction: connection.execute("ROLLBACK")
    longest = max(longest, time.monotonic() - start - (without_processor() - lost))
print(json.dumps({"longest": longest, "count": count, "errors": errors}), flush=True)
"""


class Apps:
    """An app that stores every 10 ms, and one that reads; `report` says of both how long they waited."""

    def __init__(self, cache, journal, kinds=("storing", "reading")):
        self.words = [[sys.executable, "-c", APP, os.path.join(cache, "Cache.db"), journal, kind, os.path.dirname(worlds.__file__)]
                      for kind in kinds]

    def __enter__(self):
        self.processes = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for words in self.words]
        assert all(process.stdout.readline() == "ready\n" for process in self.processes)
        return self

    def __exit__(self, *_):
        self.report = [json.loads(process.communicate("\n", timeout=60)[0]) for process in self.processes]


def make(name, journal, count=600):
    cache = worlds.apple(path(name), worlds.entries(count, sizes=(30, 2_000, 3_000, 9_000)), journal=journal, churn=300)
    for number in range(200):
        worlds.write_body(cache, worlds.body_name(number), b"orphan", age=3_600)
    return cache


def own(cache):
    """The entries that no app has stored."""
    return {number for number in worlds.contents(cache) if number < 1_000_000}


VERBS = {
    "purge": ["purge", "--prefix", "https://a.example/", "--yes"],
    "secure": ["purge", "--prefix", "https://a.example/", "--secure", "--yes"],
    "enforce": ["enforce", "--max-entries", "100", "--prefix", "https://a.example/", "--yes", "--best-effort"],
    "check": ["check", "--repair=orphans", "--yes"],
    "compact": ["compact"],
}


def measured(*words):
    """Runs the program; also returns for how many seconds it had no processor while it may have held a lock."""
    process = subprocess.Popen([tool, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lost, file = 0, f"/proc/{process.pid}/schedstat"
    while process.poll() is None:
        with contextlib.suppress(OSError, IndexError):
            with open(file) as opened:
                lost = int(opened.read().split()[1]) / 1e9
        time.sleep(0.005)
    output, errors = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, output, errors), lost


@pytest.mark.parametrize("journal", ["delete", "truncate", "persist"])
@pytest.mark.parametrize("verb", VERBS)
def test_waiting(verb, journal):
    """No app waits for 100 ms or sees an error while a command changes the cache, and the command does its work."""
    with scratch.memory() as folder:
        judge_waiting(make(os.path.join(folder, "cache"), journal), verb, journal)


def judge_waiting(cache, verb, journal):
    with Apps(cache, journal) as apps:
        time.sleep(0.1)
        result, lost = measured(*VERBS[verb], "-c", cache, "--wait", "20s", "--log", path("log"))
    assert result.returncode in (0, 1, 3), result
    for report in apps.report:
        assert not report["errors"] and report["longest"] < 0.1 + lost and report["count"] > 5, (apps.report, lost, result)
    if verb in ("purge", "secure"):
        assert own(cache) == set(), result
    elif verb == "enforce":
        assert len(own(cache)) <= 100, result
    else:
        assert len(own(cache)) == 600
    if verb == "check":
        assert set(os.listdir(os.path.join(cache, "fsCachedData"))) == worlds.files_of(cache), result


def removed(result, log):
    """The numbers of removed entries according to the receipt and to the log."""
    receipt = json.loads(result.stdout)["removed"]["entries"] if result.stdout else 0
    with open(log) as file:
        last = json.loads(file.readlines()[-1])
    return receipt, last["removed_entries"]


def test_secure_beside_an_app(thorough):
    """A secure removal beside an app says what it removed, also if it could not erase everything or had to give up."""
    for turn in range(72 if thorough else 10):
        cache = make(f"cache-{turn}", "delete", count=60)
        log = path(f"log-{turn}")
        with Apps(cache, "delete"):
            result = scratch.run("purge", "-c", cache, "--prefix", "https://a.example/", "--secure", "--yes", "--format", "json", "--log", log,
                                 "--wait", "100ms", status=None)
        gone = 60 - len(own(cache))
        assert removed(result, log) == (gone, gone), (turn, result)


@strace.needed
@pytest.mark.parametrize("words", [["purge", "--all", "--secure"], ["check", "--repair", "--secure"]], ids=lambda words: words[0])
def test_locked_out(words):
    """If an app locks a secure removal out after the rows were removed, the receipt and the log have them, and the status is that of the lock."""
    cache, log = make("cache", "delete", count=60), path("log")
    for name in worlds.files_of(cache):
        if words[0] == "check":
            os.remove(os.path.join(cache, "fsCachedData", name))
    doomed = len(worlds.files_of(cache)) if words[0] == "check" else 60
    app = worlds.connect(cache, timeout=5)
    # It waits before it removes the first file, after the rows: long enough to take the lock.
    process = subprocess.Popen(
        ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=unlinkat,unlink", "-e", "inject=unlinkat:delay_enter=500000:when=1",
         tool, *words, "-c", cache, "--yes", "--format", "json", "--log", log, "--wait", "300ms"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None:
        time.sleep(0.01)
        if app.execute(f"SELECT count(*) FROM {worlds.RESPONSES}").fetchone()[0] == 60 - doomed:
            app.execute("BEGIN EXCLUSIVE")
            break
    output, errors = process.communicate(timeout=60)
    app.close()
    result = subprocess.CompletedProcess(words, process.returncode, output, errors)
    assert len(worlds.contents(cache)) == 60 - doomed and process.returncode == 75, result
    said = json.loads(output)
    receipt = said["repair"] if words[0] == "check" else said
    assert receipt["removed"]["entries"] == doomed and receipt["secure"]["complete"] is False, result
    with open(log) as file:
        assert json.loads(file.readlines()[-1])["removed_entries"] == doomed, result


@strace.needed
@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("words", [["purge", "--all", "--secure"], ["check", "--repair"]], ids=lambda words: words[0])
def test_failing(words, journal, thorough):
    """Whatever system call fails after a removal: the receipt, the log and the metrics have what was removed."""
    origin = worlds.apple(path("origin"), worlds.entries(60), journal=journal)
    for name in list(worlds.files_of(origin))[:5]:
        os.remove(os.path.join(origin, "fsCachedData", name))
    failed = 0
    for number in range(1, 60, 1 if thorough else 4):
        cache, log = scratch.copy(origin, "cache"), path("log")
        process = subprocess.run(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync,ftruncate", "-e",
             f"inject=fsync,fdatasync,ftruncate:error=EIO:when={number}+", tool, *words, "-c", cache, "--yes", "--format", "json", "--log", log],
            capture_output=True)
        gone = 60 - len(worlds.contents(cache))
        with contextlib.suppress(FileNotFoundError):
            with open(log) as file:
                lines = file.readlines()
            said = json.loads(process.stdout) if process.stdout else {}
            receipt = (said.get("repair") or said) if words[0] == "check" else said
            count = receipt["removed"]["entries"] if receipt.get("removed") else 0
            assert (count, json.loads(lines[-1])["removed_entries"]) == (gone, gone), (number, process, gone)
            os.remove(log)
        failed += process.returncode not in (0, 1, 3)
    assert failed
