"""Ends a long list from outside: by a signal, or by closing the pipe that it writes to."""

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

import scratch
from products import tool
from scratch import path

FORMATS = ["table", "json", "ndjson", "csv", "tsv", "urls"]
# Enough to fill the buffer of a pipe many times.
ENTRIES = 2_000


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A large cache that no test changes."""
    return shutil.copytree(scratch.made_up(("--no-large-bodies",), ENTRIES, 7), str(tmp_path_factory.mktemp("endings") / "cache"))


@pytest.fixture(scope="module")
def cut_cache(cache, tmp_path_factory):
    """A copy whose last transaction was cut short, so that it is read from a private copy."""
    folder = shutil.copytree(cache, str(tmp_path_factory.mktemp("endings") / "cut"))
    file = os.path.join(folder, "Cache.db")
    database = sqlite3.connect(file, isolation_level=None)
    database.execute("PRAGMA journal_mode=delete")
    database.execute("PRAGMA cache_size=1")
    database.execute("BEGIN")
    database.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID > ?", (ENTRIES * 4 // 5,))
    for suffix in ["", "-journal"]:
        shutil.copy(file + suffix, file + suffix + ".copy")
    database.execute("ROLLBACK")
    database.close()
    for suffix in ["", "-journal"]:
        os.rename(file + suffix + ".copy", file + suffix)
    return folder


@pytest.fixture(autouse=True)
def unchanged(request):
    """Each test leaves the names, the bytes and the times of its cache as they were."""
    folder = request.getfixturevalue("cut_cache" if "cut_cache" in request.fixturenames else "cache")
    before = state(folder)
    yield
    assert state(folder) == before


def state(folder):
    result = {}
    for parent, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            file = os.path.join(parent, name)
            status = os.stat(file)
            digest = None
            if os.path.isfile(file):
                with open(file, "rb") as opened:
                    digest = hashlib.sha256(opened.read()).hexdigest()
            result[file] = (digest, status.st_mtime_ns, status.st_size)
    return result


def left():
    """What is left in the folder for temporary files, but for what ThreadSanitizer puts there."""
    return [name for name in os.listdir(path("temporary")) if not name.startswith("tsan.")]


def allow_signals():
    # A shell ignores some signals for its background jobs, and so would the program.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(cache, format):
    """A list into a pipe, of which the first bytes were read; and the number of its process.

    It runs below a shell, whose status is what a user sees.
    """
    # The messages go into a file, as the shell writes messages of its own about the end.
    script = 'sh -c \'echo $$ >&2; file=$1; shift; exec "$@" 2>"$file"\' sh "$@"; exit $?'
    process = subprocess.Popen(
        ["sh", "-c", script, "sh", path("messages"), tool, "list", "-c", cache, "--format", format],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=allow_signals)
    number = int(process.stderr.readline())
    first = os.read(process.stdout.fileno(), 100)
    assert first, "it wrote nothing"
    return process, number


def check_end(process, status, errors=b""):
    """Waits for the end, and looks at what is left."""
    rest = process.stdout.read() if not process.stdout.closed else b""
    process.stderr.read()
    process.wait(timeout=120)
    with open(path("messages"), "rb") as file:
        written = file.read()
    assert process.returncode == status, (process.returncode, written)
    assert written == errors
    # The list did not come to its end by itself.
    assert rest.count(b"\n") < ENTRIES
    assert left() == []


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
def test_signal(cache, number, status, format):
    """A list that a signal ends exits with the status of the signal, prints no message and leaves no file."""
    process, child = start(cache, format)
    # It fills the pipe, and waits until another process reads on.
    time.sleep(0.1)
    os.kill(child, number)
    check_end(process, status)


@pytest.mark.parametrize("format", FORMATS)
def test_closed_pipe(cache, format):
    """A list whose reader has read enough ends with success, and prints no message."""
    process, _ = start(cache, format)
    process.stdout.close()
    check_end(process, 0)


def test_head(cache):
    """A list into 'head' ends with success."""
    command = '"$1" list -c "$2" --format urls | head -n 1'
    line = subprocess.run(["bash", "-c", f"{command}; echo ${{PIPESTATUS[*]}}", "bash", tool, cache], capture_output=True, timeout=120)
    url, statuses = line.stdout.splitlines()
    assert url.startswith(b"http") and statuses == b"0 0" and line.stderr == b"", line


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
def test_private_copy(cut_cache, number, status):
    """A private copy is removed when a signal ends the list."""
    process, child = start(cut_cache, "ndjson")
    os.kill(child, number)
    check_end(process, status, b"note: an unfinished transaction was rolled back in a private copy\n")


def while_copying(cache, number, case):
    """Sends a signal as soon as there is a private copy, which is long before it is whole.

    False if the command was done before the signal came, which happens on a busy machine.
    """
    def prepare():
        # What runs the tests may have blocked some.
        signal.pthread_sigmask(signal.SIG_SETMASK, [number] if case == "blocked" else [])
        signal.signal(number, signal.SIG_IGN if case == "ignored" else signal.SIG_DFL)

    process = subprocess.Popen([tool, "list", "-c", cache, "--count"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=prepare)
    while not left():
        assert process.poll() is None, "there was no copy"
    process.send_signal(number)
    output, _ = process.communicate(timeout=120)
    assert left() == []
    whole = (0, b"%d\n" % ENTRIES)
    if case == "default" and (process.returncode, output) == whole:
        return False
    assert (process.returncode, output) == (whole if case != "default" else (-number, b""))
    return True


@pytest.mark.parametrize("case", ["default", "ignored", "blocked"])
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_while_copying(cut_cache, number, case):
    """A signal while a cache is copied ends the command and removes the copy, unless the signal is ignored or blocked."""
    assert any(while_copying(cut_cache, number, case) for _ in range(20))
