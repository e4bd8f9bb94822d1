"""Exports bodies that are far longer than what is on the disk, and ends commands in the middle of a large body.

    check_large_bodies.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each case, and ends at the first that is not as it should be. Needs a file system for files of 2^63 - 1
bytes, without which a smaller one is tried.
"""

import glob, json, os, shutil, signal, sqlite3, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from heard_signals import hear_signals
from scratch import make, path, root, run, tool, tree

FORMATS = ["tar", "tar.zst", "tar.gz", "zip", "har", "warc", "warc.gz", "wacz", "files"]
memory = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else root)


def export(cache, format, output, *words, **options):
    return subprocess.run([tool, "export", "-c", cache, "-o", output, "--archive-format", format, *words],
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60, **options)


def sparse():
    """An entry with a body that is hardly there, or longer than is wanted, is left out, and all others are exported."""
    cache = os.path.join(memory, "sparse")
    shutil.copytree(make("sparse", entries=20, seed=4), cache)
    whole = {format: None for format in FORMATS}
    longest, hollow = sorted(glob.glob(os.path.join(cache, "fsCachedData", "*")))[:2]
    for format in FORMATS:
        output = path(f"whole.{format}")
        assert export(cache, format, output).returncode == 0
        whole[format] = output
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
        assert "note: 1 entry is left out: its body is larger than '--max-body'" in lines, (format, lines)
        assert "note: 1 entry is left out: its body is a sparse file, which is far longer than what was written to it" in lines, lines
        assert os.path.exists(output) and not os.path.exists(output + ".partial")
        if format not in ["files"]:
            assert int(run("list", "-c", output, "--count").stdout) == 18, format
    # The same for an import of the cache itself.
    result = json.loads(run("import", cache, "-c", path("sparse-new"), "--format", "json", status=3).stdout)
    assert result["rejected"]["entries"] == 2 and result["added"]["entries"] == 18, result["rejected"]
    # Nothing is removed that a backup cannot hold.
    result = run("purge", "-c", cache, "--all", "--yes", "--backup", path("lost.tar"), status=1)
    assert result.stderr.startswith(b"error: a backup cannot hold 1 of the selected entries, so nothing was removed: its body is"), result
    assert b"\nhint: select other entries, or remove these ones without '--backup'\n" in result.stderr, result
    assert int(run("list", "-c", cache, "--count").stdout) == 20 and not glob.glob(path("lost*"))
    assert os.path.getsize(longest) == length
    # A limit of the user's.
    os.truncate(longest, 4096)
    os.truncate(hollow, 4096)
    sizes = [entry["size"] for entry in json.loads(run("list", "-c", cache, "--format", "json", "--columns", "size").stdout)["entries"]]
    limit = sorted(sizes)[10]
    for format in FORMATS:
        result = export(cache, format, path(f"small.{format}"), "--max-body", str(limit))
        over = sum(size > limit for size in sizes)
        assert result.returncode == 3 and f"note: {over} entries are left out: its body is larger than '--max-body'" in result.stderr.decode(), result
    # What is empty on disk, but short, is exported; so is a long file that is as long on disk.
    os.truncate(hollow, 0)
    os.truncate(hollow, 1 << 20)
    with open(longest, "wb") as file:
        file.write(bytes(4 << 20))
    assert export(cache, "tar", path("short.tar")).returncode == 0
    print("sparse bodies: ok", flush=True)


def large(name):
    """A cache with a body of many bytes on the disk, that compress badly and slowly."""
    cache = make(name, entries=20, seed=4)
    file = sorted(glob.glob(os.path.join(cache, "fsCachedData", "*")))[0]
    piece = os.urandom(1 << 20)
    with open(file, "wb") as body:
        for _ in range(1024):
            body.write(piece)
    return cache


def ended(words, left, **options):
    """Ends a command by SIGTERM and by SIGINT, and looks at how long that takes, and at what is left."""
    for number in [signal.SIGTERM, signal.SIGINT]:
        # However late this script gets its turn, that does not happen each time.
        assert any(end(words, left, number, **options) for _ in range(20)), (words, number, "done 20 times before its signal")


def progress(process):
    """How many bytes a process has read and written up to now."""
    with open(f"/proc/{process.pid}/io") as file:
        return dict((name, int(count)) for name, count in (line.split(": ") for line in file))


def end(words, left, number, read=0, written=0, after=0, stdout=subprocess.DEVNULL):
    """Sends a signal once so many bytes were read and written, or so many seconds have passed.

    Until so much was read and written the command runs for a few milliseconds at a time, so that it is not done before it is
    looked at, however busy the machine is. Returns whether the signal came in time.
    """
    before = set(os.listdir(left)) if left else set()
    process = subprocess.Popen([tool, *words], stdin=subprocess.DEVNULL, stdout=stdout,
                               stderr=subprocess.PIPE, env=dict(os.environ, TMPDIR=path("temporary")), preexec_fn=hear_signals)
    time.sleep(after)
    while process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        bytes = progress(process)
        if bytes["rchar"] >= read and bytes["wchar"] >= written:
            break
        process.send_signal(signal.SIGCONT)
        time.sleep(0.003)
    begin = time.monotonic()
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
    assert took < 1, (words, took)
    assert not left or set(os.listdir(left)) == before, (words, set(os.listdir(left)) - before)
    assert not os.listdir(path("temporary")), words
    worst[0] = max(worst[0], took)
    return True


worst = [0]


def signals():
    """A signal ends each command within a second, and nothing is left of what it had begun."""
    os.mkdir(path("temporary"))
    os.mkdir(path("out"))
    cache = large("large")
    for format in FORMATS:
        level = {"tar.zst": ["--level", "19"], "tar.gz": ["--level", "9"], "zip": ["--level", "9"], "warc.gz": ["--level", "9"],
                 "wacz": ["--level", "9"]}.get(format, [])
        ended(["export", "-c", cache, "-o", path(f"out/large.{format}"), "--archive-format", format, *level], path("out"), read=4 << 20)
    # Nobody reads what is written.
    for format in ["tar", "har", "warc"]:
        reader, writer = os.pipe()
        ended(["export", "-c", cache, "-o", "-", "--archive-format", format], path("out"), after=0.7, stdout=writer)
        os.close(reader)
        os.close(writer)
    ended(["purge", "-c", cache, "--all", "--yes", "--backup", path("out/backup.tar.zst")], path("out"), read=4 << 20)
    assert int(run("list", "-c", cache, "--count").stdout) == 20
    print("exports: ok", flush=True)
    archives = [path("large.tar")]
    run("export", "-c", cache, "-o", archives[0])
    for archive in [*archives, cache]:
        # While it is planned, and while it is written.
        for bytes in [{"read": 4 << 20}, {"written": 4 << 20}]:
            ended(["import", archive, "-c", path("out/new")], path("out"), **bytes)
    ended(["diff", cache, archives[0]], None, read=4 << 20)
    ended(["body", "-c", cache, "--force", "-o", "-", str(next(entry["id"] for entry in json.loads(run(
        "list", "-c", cache, "--sort=-size", "--limit", "1", "--format", "json").stdout)["entries"]))], None, after=0.2, stdout=os.pipe()[1])
    print("imports and others: ok", flush=True)


def locked():
    """A signal ends a command that waits for a lock."""
    cache = make("locked", entries=20, seed=4)
    archive = path("locked.tar")
    run("export", "-c", cache, "-o", archive)
    application = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    run("purge", "-c", cache, "3", "--yes")
    application.execute("BEGIN IMMEDIATE")
    for words in [["purge", "--all", "--yes"], ["enforce", "--max-entries", "2", "--yes"], ["import", archive]]:
        ended([words[0], *words[1:], "-c", cache, "--wait", "1h"], None, after=0.7)
    application.close()
    print("locks: ok", flush=True)


try:
    sparse()
    signals()
    locked()
    print(f"longest time to end: {worst[0]:.2f} s", file=sys.stderr)
finally:
    shutil.rmtree(memory)
