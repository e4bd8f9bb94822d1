"""Exports bodies that are far longer than what is on the disk, and ends commands in the middle of a large body."""

import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import pytest

import scratch
from heard_signals import hear_signals
from products import tool
from scratch import make, path, run

FORMATS = ["tar", "tar.zst", "tar.gz", "zip", "har", "warc", "warc.gz", "wacz", "files"]
SIGNALS = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
on_linux = pytest.mark.needs_proc


def export(cache, format, output, *words, **options):
    return subprocess.run([tool, "export", "-c", cache, "-o", output, "--archive-format", format, *words],
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60, **options)


@pytest.fixture
def sparse():
    """A cache on a file system for files of 2^63 - 1 bytes, if there is one, and its first two body files."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else scratch.root) as memory:
        cache = shutil.copytree(make("sparse", entries=20, seed=4), os.path.join(memory, "sparse"))
        yield cache, *sorted(glob.glob(os.path.join(cache, "fsCachedData", "*")))[:2]


def test_sparse_body(sparse):
    """An entry with a body that is hardly there is left out, and all others are exported."""
    cache, longest, hollow = sparse
    for format in FORMATS:
        assert export(cache, format, path(f"whole.{format}")).returncode == 0
    length = (1 << 63) - 1
    while True:
        try:
            os.truncate(longest, length)
            break
        except OSError:
            length >>= 1
    os.truncate(hollow, 5 << 30)
    for format in FORMATS:
        output = path(f"part.{format}")
        begin = time.monotonic()
        result = export(cache, format, output)
        assert result.returncode == 3 and time.monotonic() - begin < 30, (format, result)
        lines = result.stderr.decode().splitlines()
        assert "note: 1 entry was skipped because its body is larger than '--max-body'" in lines, (format, lines)
        assert "note: 1 entry was skipped because its body is a sparse file, far longer than the data in it" in lines, lines
        assert os.path.exists(output) and not os.path.exists(output + ".partial")
        if format not in ["files"]:
            assert int(run("list", "-c", output, "--count").stdout) == 18, format
    # The same for an import of the cache itself.
    result = json.loads(run("import", cache, "-c", path("sparse-new"), "--format", "json", status=3).stdout)
    assert result["rejected"]["entries"] == 2 and result["added"]["entries"] == 18, result["rejected"]
    # Nothing is removed that a backup cannot hold.
    result = run("purge", "-c", cache, "--all", "--yes", "--backup", path("lost.tar"), status=1)
    assert result.stderr.startswith(b"error: cannot back up 1 of the selected entries, so nothing was removed: its body is"), result
    assert b"\nhint: select other entries, or remove these without '--backup'\n" in result.stderr, result
    assert int(run("list", "-c", cache, "--count").stdout) == 20 and not glob.glob(path("lost*"))
    assert os.path.getsize(longest) == length


def test_limit(sparse):
    """With '--max-body' each entry with a longer body is left out."""
    cache, longest, hollow = sparse
    os.truncate(longest, 4096)
    os.truncate(hollow, 4096)
    sizes = [entry["size"] for entry in json.loads(run("list", "-c", cache, "--format", "json", "--columns", "size").stdout)["entries"]]
    limit = sorted(sizes)[10]
    for format in FORMATS:
        result = export(cache, format, path(f"small.{format}"), "--max-body", str(limit))
        over = sum(size > limit for size in sizes)
        assert result.returncode == 3 and f"note: {over} entries were skipped, each because its body is larger than '--max-body'" in result.stderr.decode(), result


def test_short_or_whole_body(sparse):
    """What is empty on disk, but short, is exported; so is a long file that is as long on disk."""
    cache, longest, hollow = sparse
    os.truncate(hollow, 0)
    os.truncate(hollow, 1 << 20)
    with open(longest, "wb") as file:
        file.write(bytes(4 << 20))
    assert export(cache, "tar", path("short.tar")).returncode == 0


def ended(words, left, number, **options):
    """Ends a command by a signal, and looks at how long that takes, and at what is left."""
    # However late this test gets its turn, the command is not done before its signal each time.
    assert any(end(words, left, number, **options) for _ in range(20)), (words, "done 20 times before its signal")


def progress(process):
    """How many bytes a process has read and written up to now."""
    with open(f"/proc/{process.pid}/io") as file:
        return dict((name, int(count)) for name, count in (line.split(": ") for line in file))


def processor_time(process):
    """How many seconds of processors a process has used up to now."""
    fields = scratch.read(f"/proc/{process.pid}/stat").rsplit(b")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_time():
    times = os.times()
    return times.children_user + times.children_system


def end(words, left, number, read=0, written=0, after=0, stdout=subprocess.DEVNULL):
    """Sends a signal once so many bytes were read and written, or so many seconds have passed.

    Until so much was read and written the command runs for a few milliseconds at a time, so that it is not done before it is
    looked at, however busy the machine is. Returns whether the signal came in time.
    """
    before, earlier = set(os.listdir(left)) if left else set(), children_time()
    process = subprocess.Popen([tool, *words], stdin=subprocess.DEVNULL, stdout=stdout,
                               stderr=subprocess.PIPE, preexec_fn=hear_signals)
    time.sleep(after)
    while process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        bytes = progress(process)
        if bytes["rchar"] >= read and bytes["wchar"] >= written:
            break
        process.send_signal(signal.SIGCONT)
        time.sleep(0.003)
    begin, used = time.monotonic(), processor_time(process) if process.returncode is None else 0
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    _, errors = process.communicate(timeout=60)
    took = time.monotonic() - begin
    if process.returncode == 0 and left:
        for name in set(os.listdir(left)) - before:
            made = os.path.join(left, name)
            shutil.rmtree(made) if os.path.isdir(made) else os.remove(made)
        return False
    assert process.returncode == -number, (words, process.returncode, errors)
    # The machine may be busy: what counts is for how long the process goes on working.
    assert children_time() - earlier - used < 1 and took < 10, (words, took)
    assert not left or set(os.listdir(left)) == before, (words, set(os.listdir(left)) - before)
    assert not os.listdir(path("temporary")), words
    return True


# Those that compress work slowly, as they would on a large cache.
SLOWLY = {"tar.zst": "19", "tar.gz": "9", "zip": "9", "warc.gz": "9", "wacz": "9"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory, thorough):
    """A folder that several tests share, with a file of many random bytes, which compress badly and slowly."""
    folder = tmp_path_factory.mktemp("large")
    piece = os.urandom(1 << 20)
    with open(folder / "body", "wb") as body:
        for _ in range(1024 if thorough else 256):
            body.write(piece)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def large(shared):
    """A cache with a large body."""
    cache = make("large", entries=20, seed=4)
    file = sorted(glob.glob(os.path.join(cache, "fsCachedData", "*")))[0]
    os.unlink(file)
    os.link(shared / "body", file)
    os.mkdir(path("out"))
    return cache


@pytest.fixture
def large_archive(large, shared):
    """An archive of that cache."""
    archive = shared / "large.tar"
    if not archive.exists():
        run("export", "-c", large, "-o", archive)
    return str(archive)


@on_linux
@SIGNALS
@pytest.mark.parametrize("format", FORMATS)
def test_signal_while_exporting(large, format, number):
    """A signal ends an export within a second, and nothing is left of what it had begun."""
    level = ["--level", SLOWLY[format]] if format in SLOWLY else []
    ended(["export", "-c", large, "-o", path(f"out/large.{format}"), "--archive-format", format, *level], path("out"), number, read=4 << 20)


@on_linux
@SIGNALS
@pytest.mark.parametrize("format", ["tar", "har", "warc"])
def test_signal_while_nobody_reads(large, format, number):
    """A signal ends an export into a pipe that nobody reads."""
    reader, writer = os.pipe()
    ended(["export", "-c", large, "-o", "-", "--archive-format", format], path("out"), number, after=0.7, stdout=writer)
    os.close(reader)
    os.close(writer)


@on_linux
@SIGNALS
def test_signal_while_backing_up(large, number):
    """A signal during a backup ends the purge before it removes anything."""
    ended(["purge", "-c", large, "--all", "--yes", "--backup", path("out/backup.tar.zst")], path("out"), number, read=4 << 20)
    assert int(run("list", "-c", large, "--count").stdout) == 20


@on_linux
@SIGNALS
@pytest.mark.parametrize("bytes", [{"read": 4 << 20}, {"written": 4 << 20}], ids=["planned", "written"])
@pytest.mark.parametrize("kind", ["archive", "cache"])
def test_signal_while_importing(large, large_archive, kind, bytes, number):
    """A signal ends an import, while it is planned and while it is written, and no cache is left."""
    ended(["import", large_archive if kind == "archive" else large, "-c", path("out/new")], path("out"), number, **bytes)


@on_linux
@SIGNALS
def test_signal_while_comparing(large, large_archive, number):
    """A signal ends a comparison, and the writing of a body that nobody reads."""
    ended(["diff", large, large_archive], None, number, read=4 << 20)
    largest = json.loads(run("list", "-c", large, "--sort=-size", "--limit", "1", "--format", "json").stdout)["entries"][0]["id"]
    reader, writer = os.pipe()
    ended(["body", "-c", large, "--force", "-o", "-", str(largest)], None, number, after=0.2, stdout=writer)
    os.close(reader)
    os.close(writer)


@on_linux
@SIGNALS
@pytest.mark.parametrize("words", [["purge", "--all", "--yes"], ["enforce", "--max-entries", "2", "--yes"], ["import", "ARCHIVE"]],
                         ids=lambda words: words[0])
def test_signal_while_waiting(words, number):
    """A signal ends a command that waits for a lock."""
    cache = make("locked", entries=20, seed=4)
    archive = path("locked.tar")
    run("export", "-c", cache, "-o", archive)
    application = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    run("purge", "-c", cache, "3", "--yes")
    application.execute("BEGIN IMMEDIATE")
    ended([*(archive if word == "ARCHIVE" else word for word in words), "-c", cache, "--wait", "1h"], None, number, after=0.7)
    application.close()
