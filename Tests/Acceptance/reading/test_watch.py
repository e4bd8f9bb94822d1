"""`watch`: what an app stores, replaces and removes is seen as it happens, and the app does not notice."""

import base64
import collections
import contextlib
import json
import os
import select
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

import pytest

import apple_store
import scratch
import strace
import terminal
from cfnetwork_writer import Cache
from heard_signals import hear_signals
from open_files import open_files
from products import REPOSITORY, tool

WRITER = REPOSITORY / "Tests/Acceptance/support/cfnetwork_writer.py"


class Watch:
    """A running watch, whose objects are read as they come."""

    def __init__(self, *words, **options):
        self.process = subprocess.Popen([tool, "watch", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, preexec_fn=hear_signals, **options)
        self.rest, self.events = b"", []

    def read(self, seconds=20, until=lambda event: False):
        """The next events: until one of them is the wanted one, the output ends, or the time is over."""
        end, found = time.monotonic() + seconds, []
        while time.monotonic() < end:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                found.append(json.loads(line))
                self.events.append(found[-1])
                if until(found[-1]):
                    return found
            if select.select([self.process.stdout], [], [], 0.05)[0]:
                piece = os.read(self.process.stdout.fileno(), 1 << 16)
                if not piece:
                    break
                self.rest += piece
        return found

    def wait_for(self, kind, count=1):
        for _ in range(count):
            found = self.read(until=lambda event: event["event"] == kind)
            assert found and found[-1]["event"] == kind, (kind, self.events, self.process.poll())
        return found[-1]

    def end(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.read(until=lambda event: event["event"] == "end")
        errors = self.process.communicate(timeout=20)[1]
        return self.process.returncode, errors


@contextlib.contextmanager
def watching(*words, **options):
    watch = Watch(*words, **options)
    try:
        yield watch
    finally:
        watch.process.kill()
        watch.process.communicate()


@pytest.fixture
def cache():
    """An empty cache in WAL mode that an app has open."""
    os.mkdir(scratch.path("cache"))
    apple_store.create(scratch.path("cache")).close()
    app = Cache(scratch.path("cache/Cache.db"))
    yield app
    app.connection.close()


def test_events_have_the_present_time(cache):
    """The time that ages are relative to, which '--at' sets, is not the time of an event."""
    with watching(scratch.path("cache"), "--at", "2040-01-01T00:00:00Z") as watch:
        begin = watch.wait_for("begin")
        cache.store("https://a.example/1", 7)
        added = watch.wait_for("added")
        assert begin["time"] < "2040" and added["time"] < "2040" and added["freshness"] == "stale", (begin, added)


def kinds(events):
    return collections.Counter(event["event"] for event in events)


def test_an_app_stores_replaces_and_removes(cache):
    cache.store("https://a.example/old", 5)
    with watching(scratch.path("cache")) as watch:
        begin = watch.wait_for("begin")
        assert begin["schema"] == "urlcache-admin.watch/1" and begin["entries"] == 1 and begin["cache"]["format"] == "apple"
        cache.store("https://a.example/1", 7)
        added = watch.wait_for("added")
        assert (added["url"], added["size"], added["status"], added["host"]) == ("https://a.example/1", 7, 200, "a.example")
        assert added["freshness"] == "fresh" and added["elapsed"] > 0 and added["method"] == "GET"
        cache.store("https://a.example/1", 9)
        replaced = watch.wait_for("replaced")
        assert replaced["size"] == 9 and replaced["previous"] == {"id": added["id"], "size": 7}
        cache.remove("request_key = ?", ("https://a.example/old",))
        removed = watch.wait_for("removed")
        assert (removed["url"], removed["size"]) == ("https://a.example/old", 5)
        status, _ = watch.end()
        assert status == -signal.SIGINT
        end = watch.events[-1]
        assert (end["event"], end["reason"], end["entries"]) == ("end", "signal", 1)
        assert (end["added"], end["replaced"], end["removed"], end["not_seen"], end["transactions"]) == (1, 1, 1, 0, 3)
        assert (end["stored_bytes"], end["removed_bytes"]) == (16, 5)
        assert end["hosts"] == [{"host": "a.example", "stored": 2, "bytes": 16}]


@pytest.mark.parametrize("seed", range(1))
def test_the_events_equal_the_log_of_the_writer(seed, thorough, cache):
    operations = 10_000 if thorough else 1_000
    cache.store("https://a.example/first", 1)
    with watching(scratch.path("cache")) as watch:
        watch.wait_for("begin")
        writer = subprocess.Popen([sys.executable, WRITER, scratch.path("cache/Cache.db"), str(operations), str(seed)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert writer.stdout.readline() == b"ready\n"
        while not select.select([writer.stdout], [], [], 0)[0]:
            watch.read(seconds=0.1)
        result = json.loads(writer.stdout.readline())
        time.sleep(0.3)
        status, errors = watch.end()
        writer.communicate(timeout=60)
    assert status == -signal.SIGINT and not errors, errors
    assert result["busy"] == 0
    log, seen, end = collections.Counter(result["log"]), kinds(watch.events), watch.events[-1]
    # Every id that the app got was seen, or is counted as not seen; the same of every removal.
    assert end["added"] + end["not_seen"] == log["insert"] - replaced_with_another_id(watch.events)
    assert end["removed"] + end["not_seen"] == log["delete"] - replaced_with_another_id(watch.events)
    # It is unknown if the log began anew between two looks, but never wrong.
    assert end["transactions"] in (None, result["transactions"])
    assert 0 < end["replaced"] <= log["update"] + log["insert"]
    assert all(end[kind] == seen[kind] for kind in ("added", "replaced", "removed"))
    # Who follows the events knows what is left.
    sizes = {"https://a.example/first": 1}
    for event in watch.events:
        if event["event"] in ("added", "replaced"):
            assert (event["url"] in sizes) == (event["event"] == "replaced"), event
            sizes[event["url"]] = event["size"]
        elif event["event"] == "removed":
            del sizes[event["url"]]
    assert sizes == result["kept"]
    print(f"{operations} operations, {dict(log)}; seen {dict(seen)}, not seen {end['not_seen']}, looks {end['looks']}")


def replaced_with_another_id(events):
    """How often an entry was removed and stored again between two looks."""
    return sum(event["event"] == "replaced" and event["previous"]["id"] != event["id"] for event in events)


@pytest.mark.needs_proc
def test_the_app_that_closes_its_database_is_the_last_one(cache):
    with watching(scratch.path("cache")) as watch:
        watch.wait_for("begin")
        cache.store("https://a.example/1", 7)
        watch.wait_for("added")
        time.sleep(0.3)
        cache.connection.close()
        # The last connection removes the log: there is no other one.
        assert sorted(os.listdir(scratch.path("cache"))) == ["Cache.db"]
        # The end of the log is a change as well, so the file is open for one more look.
        assert any(not has_open(watch.process.pid, scratch.path("cache")) for _ in range(20) if not time.sleep(0.1))
        assert watch.end()[0] == -signal.SIGINT
        assert kinds(watch.events) == {"begin": 1, "added": 1, "end": 1}


def test_the_counter_of_a_hostile_cache_can_be_any_number(cache):
    cache.store("https://a.example/", 5)
    with watching(scratch.path("cache")) as watch:
        watch.wait_for("begin")
        for number in range(8):
            seq = [1, 2 ** 63 - 1, -2 ** 63][number % 3]
            cache.connection.execute("UPDATE sqlite_sequence SET seq = ?", (seq,))
            cache.store("https://a.example/", number)
            watch.wait_for("replaced")
        assert watch.end() == (-signal.SIGINT, b"")


def has_open(process, folder):
    """Whether a process has a file of a folder open."""
    return any(folder in file for file in open_files(process).values())


def test_watching_changes_no_file(cache):
    cache.store("https://a.example/1", 7)
    cache.connection.close()
    before = scratch.tree(scratch.path("cache"))
    scratch.run("watch", scratch.path("cache"), "--for", "1s")
    assert scratch.tree(scratch.path("cache")) == before


def test_until_ends_soon_after_the_entry_is_stored(cache):
    delays = []
    for number in range(7):
        with watching(scratch.path("cache"), "--until", "host = 'b.example'", "--for", "60s") as watch:
            watch.wait_for("begin")
            cache.store(f"https://a.example/{number}", 7)
            time.sleep(0.05 * number)
            cache.store(f"https://b.example/{number}", 7)
            stored = time.monotonic()
            assert watch.process.wait(timeout=30) == 0
            delays.append(time.monotonic() - stored)
            watch.read()
            assert watch.events[-1]["reason"] == "awaited"
    print(f"delays in ms: {[round(delay * 1_000) for delay in delays]}")
    # The median, because a machine can be busy with something else.
    assert statistics.median(delays) < 0.2, delays


def test_the_exit_status_says_whether_the_entry_was_stored(cache):
    cache.store("https://b.example/before", 7)
    result = scratch.run("watch", scratch.path("cache"), "--until", "host = 'b.example'", "--for", "1s", status=1)
    assert json.loads(result.stdout.splitlines()[-1])["reason"] == "time"
    scratch.run("watch", scratch.path("cache"), "--for", "1s", status=0)
    result = scratch.run("watch", scratch.path("cache"), "--until", "hst = 'a'", status=64)
    assert b"--until" in result.stderr


def test_selections_choose_the_changes(cache):
    options = ["--host", "b.example", "--where", "size > 5", "--contains", "xxxxxxx", "--header", "content-type=text/*"]
    with watching(scratch.path("cache"), *options) as watch:
        watch.wait_for("begin")
        for url, size in [("https://a.example/1", 8), ("https://b.example/2", 3), ("https://b.example/3", 6),
                          ("https://b.example/4", 9)]:
            cache.store(url, size)
        watch.wait_for("added")
        cache.remove("1")
        watch.wait_for("removed")
        watch.end()
    assert [(event["event"], event["url"]) for event in watch.events[1:-1]] == [
        ("added", "https://b.example/4"), ("removed", "https://b.example/4")]
    result = scratch.run("watch", scratch.path("cache"), "--superseded", status=64)
    assert b"--superseded" in result.stderr


def test_a_cache_that_is_replaced_is_followed(cache):
    cache.store("https://a.example/1", 7)
    cache.connection.close()
    os.mkdir(scratch.path("other"))
    apple_store.create(scratch.path("other")).close()
    other = Cache(scratch.path("other/Cache.db"))
    other.store("https://a.example/2", 7)
    other.connection.close()
    with watching(scratch.path("cache")) as watch:
        watch.wait_for("begin")
        os.rename(scratch.path("other/Cache.db"), scratch.path("cache/Cache.db"))
        assert watch.wait_for("removed")["url"] == "https://a.example/1"
        assert watch.wait_for("added")["url"] == "https://a.example/2"
        os.remove(scratch.path("cache/Cache.db"))
        assert watch.wait_for("removed")["url"] == "https://a.example/2"
        watch.wait_for("gone")
        apple_store.create(scratch.path("cache")).close()
        watch.wait_for("back")
        again = Cache(scratch.path("cache/Cache.db"))
        again.store("https://a.example/3", 7)
        assert watch.wait_for("added")["url"] == "https://a.example/3"
        again.connection.close()
        watch.end()
        assert watch.events[-1]["entries"] == 1 and watch.events[-1]["not_seen"] == 0


def test_a_cache_that_does_not_exist_yet_can_be_waited_for():
    os.mkdir(scratch.path("app"))
    result = scratch.run("watch", scratch.path("app/Cache.db"), status=66)
    assert b"--retry" in result.stderr
    scratch.run("watch", scratch.path("app/Cache.db"), "--retry", "--for", "1s", status=66)
    with watching(scratch.path("app/Cache.db"), "--retry") as watch:
        # A busy machine takes its time to start a program.
        assert watch.process.stderr.readline().startswith(b"waiting for a cache")
        assert not watch.read(seconds=0.3)
        # CFNetwork's first steps: a file without tables.
        open(scratch.path("app/Cache.db"), "w").close()
        assert not watch.read(seconds=0.3)
        apple_store.create(scratch.path("app")).close()
        app = Cache(scratch.path("app/Cache.db"))
        app.store("https://a.example/1", 7)
        assert watch.wait_for("begin")["entries"] == 0
        assert watch.wait_for("added")["url"] == "https://a.example/1"
        app.connection.close()


def test_an_archive_is_refused(cache):
    cache.store("https://a.example/1", 7)
    archive = scratch.export(scratch.path("cache"), "out.tar")
    result = scratch.run("watch", archive, status=64)
    assert b"archive" in result.stderr


def test_the_reader_of_the_output_can_leave(cache):
    watch = Watch(scratch.path("cache"))
    watch.wait_for("begin")
    watch.process.stdout.close()
    assert watch.process.wait(timeout=20) == 0
    watch.process.stderr.close()


def test_the_other_end_of_a_connection_can_leave(cache):
    """The watch does not wait for the next change to find that nobody reads it: macOS reports the end of a pipe as Linux does this one."""
    ours, its = socket.socketpair()
    with ours, its, subprocess.Popen([tool, "watch", scratch.path("cache")], stdin=subprocess.DEVNULL, stdout=its, stderr=subprocess.DEVNULL) as process:
        assert b'"begin"' in ours.recv(1 << 16)
        ours.close()
        try:
            assert process.wait(timeout=10) == 0
        finally:
            process.kill()


def test_hostile_text_is_escaped_and_secrets_are_masked(cache):
    with watching(scratch.path("cache"), "--format", "table") as watch:
        time.sleep(0.5)
        cache.store("https://a.example/\u202egnp.exe?token=c2VjcmV0", 7)
        end = time.monotonic() + 20
        while b"gnp" not in watch.rest and time.monotonic() < end:
            watch.rest += os.read(watch.process.stdout.fileno(), 1 << 16)
    assert "‹U+202E›gnp.exe?token=***".encode() in watch.rest
    assert b"c2VjcmV0" not in watch.rest and "\u202e".encode() not in watch.rest


def test_a_terminal_shows_a_line_for_each_change_and_is_left_clean(cache):
    process, ours, files = terminal.start(["watch", scratch.path("cache")], 80, ("stdin", "stdout", "stderr"))
    try:
        written = terminal.read(ours, until=b"CHANGE")
        for number in range(3):
            cache.store(f"https://a.example/{'long/' * 30}{number}", 7 * number)
        written += terminal.read(ours, until=b"3 added")
        os.write(ours, b"\x03")
        written += terminal.read(ours)
        seen = terminal.Seen(written, 80, process.wait(timeout=20))
    finally:
        os.close(ours)
    assert seen.status == -signal.SIGINT
    rows = [row for row in seen.rows if "added" in row]
    assert len(rows) == 4 and all("fresh" in row or "stale" in row for row in rows[:3]), seen.rows
    assert all(len(row) <= 80 for row in seen.rows) and all("…" in row for row in rows[:3])
    assert rows[3].startswith("watched for") or rows[3].startswith("^Cwatched for"), seen.rows
    assert not any("/s" in row for row in seen.rows), seen.rows
    assert "a.example: 3 stored" in seen.rows[-1], seen.rows


@pytest.mark.needs_proc
def test_watching_an_idle_cache_takes_hardly_any_time(cache):
    for number in range(50):
        cache.store(f"https://a.example/{number}", 7)
    with watching(scratch.path("cache")) as watch:
        watch.wait_for("begin")
        begin = ticks(watch.process.pid)
        time.sleep(5)
        share = (ticks(watch.process.pid) - begin) / os.sysconf("SC_CLK_TCK") / 5
    print(f"{share:.2%} of a processor")
    # A debug build and a busy machine; what the page says was measured with a release build.
    assert share < 0.05


def ticks(process):
    """The processor time of a process, in clock ticks."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def foundation_file(folder, seconds, path, body=b"body"):
    """Stores an archive as Foundation does: under another name first."""
    key = base64.b64encode(f"f.example\0-1\0{path}\0".encode()).decode()
    name = os.path.join(folder, f"{seconds}.{key}.storedcachedurlresponse")
    with open(os.path.join(folder, f".dat.nosync{os.getpid():X}.abcdef"), "wb") as file:
        file.write(body)
    os.rename(file.name, name)
    return name


def test_a_foundation_cache_is_followed():
    folder = scratch.path("foundation")
    os.mkdir(folder)
    first = foundation_file(folder, 1, "/first")
    with watching(folder) as watch:
        assert watch.wait_for("begin")["cache"]["format"] == "foundation"
        second = foundation_file(folder, 2, "/second")
        assert watch.wait_for("added")["id"] == os.path.basename(second).removesuffix(".storedcachedurlresponse")
        third = foundation_file(folder, 3, "/second")
        os.remove(second)
        assert watch.wait_for("replaced")["id"].startswith("3.")
        # In the same second, an entry gets the same name.
        foundation_file(folder, 3, "/second", b"other")
        assert watch.wait_for("replaced")["id"].startswith("3.")
        os.remove(third)
        os.remove(first)
        watch.wait_for("removed", count=2)
        # An empty folder is still the cache that is watched.
        foundation_file(folder, 4, "/third")
        watch.wait_for("added")
        assert watch.end()[0] == -signal.SIGINT
    end = watch.events[-1]
    assert (end["added"], end["replaced"], end["removed"], end["entries"]) == (2, 2, 2, 1)
    assert end["transactions"] is None


@pytest.mark.needs_linux
def test_each_file_of_a_foundation_cache_counts():
    folder = scratch.path("foundation")
    os.mkdir(folder)
    foundation_file(folder, 1, "/first")
    with watching(folder) as watch:
        watch.wait_for("begin")
        for number in range(500):
            foundation_file(folder, 2, f"/{number % 7}", b"%d" % number)
        time.sleep(0.3)
        watch.end()
    end = watch.events[-1]
    assert end["added"] == 7 and end["added"] + end["replaced"] + end["not_seen"] == 500
    print(f"500 files stored, {end['not_seen']} not seen")


def test_the_stock_client_is_followed(stock_url_cache):
    folder = scratch.path("org.swift.foundation.URLCache/app")
    os.makedirs(folder)
    with watching(folder, "--until", "path = '/last'", "--for", "60s") as watch:
        assert watch.wait_for("begin")["entries"] == 0
        items = [{"url": f"http://f.example/{path}", "status": 200, "headers": {"Cache-Control": "max-age=60"},
                  "body": base64.b64encode(b"body").decode()} for path in ("a", "b", "a", "last")]
        subprocess.run([stock_url_cache, "store", folder], input=json.dumps(items).encode(), check=True, capture_output=True)
        assert watch.process.wait(timeout=30) == 0
        watch.read()
    end = watch.events[-1]
    urls = [event["url"] for event in watch.events if event["event"] in ("added", "replaced")]
    assert set(urls) == {"http://f.example/a", "http://f.example/b", "http://f.example/last"}
    assert end["added"] == 3 and end["replaced"] + end["not_seen"] == 1, watch.events
    assert all(event["freshness"] == "fresh" for event in watch.events if event["event"] == "added")


def wait_for_stop(process, seconds=20):
    """The child of a tracer, when it has stopped; `None` if it does not stop in time."""
    end, seen, child = time.monotonic() + seconds, 0, None
    # At each call that is traced, it stops for a moment.
    while seen < 15 and time.monotonic() < end:
        time.sleep(0.01)
        with open(f"/proc/{process}/task/{process}/children") as file:
            child = int((file.read().split() or [0])[0])
        # The tracer begins with children of its own, which end at once.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{child}/stat") as file:
            seen = seen + 1 if file.read().rsplit(")", 1)[1].split()[0] in "tT" else 0
    return child if seen == 15 else None


@contextlib.contextmanager
def kept_going(process):
    """Continues a stopped process again and again: on a busy machine, it may take the signal to stop after the first to go on."""
    done = threading.Event()

    def run():
        with contextlib.suppress(ProcessLookupError):
            while not done.wait(0.05):
                os.kill(process, signal.SIGCONT)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@strace.needed
@pytest.mark.parametrize("call", ["openat", "newfstatat"])
def test_the_folder_can_disappear_at_any_moment_of_a_look(call):
    """A watch that is stopped where it looks for a file of the cache, while the folder is removed, goes on without the cache."""
    outcomes = collections.Counter()
    for turn in range(1, 37, 2):
        folder = scratch.path(f"cache-{turn}")
        os.mkdir(folder)
        apple_store.create(folder).close()
        app = Cache(os.path.join(folder, "Cache.db"))
        app.store("https://a.example/1", 7)
        names = [word for suffix in ["", "-wal", "-shm", "-journal"] for word in ["-P", os.path.join(folder, f"Cache.db{suffix}")]]
        words = strace.fault(call, "signal=SIGSTOP", turn)
        with subprocess.Popen([*words[:1], *names, *words[1:], tool, "watch", folder, "--for", "20s"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            stopped = wait_for_stop(process.pid)
            app.connection.close()
            shutil.rmtree(folder)
            if not stopped:
                # Otherwise the end of the block would wait for a program that may have stopped since.
                process.kill()
            assert stopped, (turn, outcomes)
            with kept_going(stopped):
                events = []
                while "gone" not in events and (line := process.stdout.readline()):
                    events.append(json.loads(line)["event"])
                if "gone" in events:
                    os.kill(stopped, signal.SIGKILL)
                errors = process.stderr.read()
        if events:
            assert events[-1] == "gone" and not errors, (turn, events, errors)
        else:
            # Between two looks for files, the folder is there without a database.
            assert process.returncode in (65, 66) and (b"error: no cache '" in errors or b"no Cache.db" in errors), (turn, errors)
        outcomes["gone" if events else "none"] += 1
    assert outcomes["gone"] and outcomes["none"], outcomes
