"""Ends a long list from outside: by a signal, or by closing the pipe that it writes to.

    check_endings.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each way, and ends at the first that is not as it should be.
"""

import hashlib, os, shutil, signal, sqlite3, subprocess, sys, tempfile, time

tool, maker = sys.argv[1:]
root = tempfile.mkdtemp()
cache = os.path.join(root, "cache")
temporary = os.path.join(root, "tmp")
messages = os.path.join(root, "messages")
ENTRIES = 50_000
FORMATS = ["table", "json", "ndjson", "csv", "tsv", "urls"]


def state():
    """The names, the bytes and the times of the cache."""
    result = {}
    for folder, folders, files in os.walk(cache):
        for name in [".", *folders, *files]:
            path = os.path.join(folder, name)
            status = os.stat(path)
            digest = None
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
            result[path] = (digest, status.st_mtime_ns, status.st_size)
    return result


def left():
    """What is left in the folder for temporary files, but for what ThreadSanitizer puts there."""
    return [name for name in os.listdir(temporary) if not name.startswith("tsan.")]


def start(*options):
    """A list into a pipe, of which the first bytes were read; and the number of its process.

    It runs below a shell, whose status is what a user sees.
    """
    # The messages go into a file, as the shell says of the end what it likes.
    script = 'sh -c \'echo $$ >&2; file=$1; shift; exec "$@" 2>"$file"\' sh "$@"; exit $?'
    process = subprocess.Popen(
        ["sh", "-c", script, "sh", messages, tool, "list", "-c", cache, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, TMPDIR=temporary))
    number = int(process.stderr.readline())
    first = os.read(process.stdout.fileno(), 100)
    assert first, "it wrote nothing"
    return process, number


def check(name, process, status, errors=b""):
    """Waits for the end, and looks at what is left."""
    rest = process.stdout.read() if not process.stdout.closed else b""
    process.stderr.read()
    process.wait(timeout=120)
    with open(messages, "rb") as file:
        written = file.read()
    assert process.returncode == status, (name, process.returncode, written)
    assert written == errors, (name, written)
    # The list did not come to its end by itself.
    assert rest.count(b"\n") < ENTRIES, name
    assert left() == [], (name, left())


def by_signal(name, number, status):
    for format in FORMATS:
        process, child = start("--format", format)
        # Let it fill the pipe, and wait for somebody to read on.
        time.sleep(0.1)
        os.kill(child, number)
        check(f"{name} {format}", process, status)
    print(f"{name}: ok", flush=True)


def by_closed_pipe():
    for format in FORMATS:
        process, _ = start("--format", format)
        process.stdout.close()
        check(f"closed pipe {format}", process, 0)
    command = '"$1" list -c "$2" --format urls | head -n 1'
    line = subprocess.run(["bash", "-c", f"{command}; echo ${{PIPESTATUS[*]}}", "bash", tool, cache],
                          capture_output=True, timeout=120)
    url, statuses = line.stdout.splitlines()
    assert url.startswith(b"http") and statuses == b"0 0" and line.stderr == b"", line
    print("closed pipe: ok", flush=True)


def hot_journal():
    """Cuts a transaction short, so that the cache is read from a private copy."""
    path = os.path.join(cache, "Cache.db")
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=delete")
    database.execute("PRAGMA cache_size=1")
    database.execute("BEGIN")
    database.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID > 40000")
    for suffix in ["", "-journal"]:
        shutil.copy(path + suffix, path + suffix + ".copy")
    database.execute("ROLLBACK")
    database.close()
    for suffix in ["", "-journal"]:
        os.rename(path + suffix + ".copy", path + suffix)


def while_copying(number, case):
    """Sends a signal as soon as there is a private copy, which is long before it is whole.

    False if the command was done before the signal came, which happens on a busy machine.
    """
    def prepare():
        # What runs the tests may have blocked some.
        signal.pthread_sigmask(signal.SIG_SETMASK, [number] if case == "blocked" else [])
        signal.signal(number, signal.SIG_IGN if case == "ignored" else signal.SIG_DFL)

    process = subprocess.Popen([tool, "list", "-c", cache, "--count"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=temporary), preexec_fn=prepare)
    while not left():
        assert process.poll() is None, "there was no copy"
    process.send_signal(number)
    output, _ = process.communicate(timeout=120)
    assert left() == [], left()
    whole = (0, b"%d\n" % ENTRIES)
    if case is None and (process.returncode, output) == whole:
        return False
    assert (process.returncode, output) == (whole if case else (-number, b"")), (process.returncode, output)
    return True


def main():
    os.mkdir(temporary)
    subprocess.run([maker, "--entries", str(ENTRIES), "--seed", "3", "--no-large-bodies", cache], check=True)
    before = state()
    by_signal("SIGINT", signal.SIGINT, 130)
    by_signal("SIGTERM", signal.SIGTERM, 143)
    by_closed_pipe()
    assert state() == before
    hot_journal()
    before = state()
    note = b"note: an unfinished transaction was rolled back in a private copy\n"
    for number, status in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
        process, child = start("--format", "ndjson")
        os.kill(child, number)
        check("private copy", process, status, note)
    print("private copy: ok", flush=True)
    for number in [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]:
        for case in [None, "ignored", "blocked"]:
            assert any(while_copying(number, case) for _ in range(20)), (number, case)
    print("while copying: ok", flush=True)
    assert state() == before
    print("nothing changed", flush=True)


try:
    main()
finally:
    shutil.rmtree(root)
