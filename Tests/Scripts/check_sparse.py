"""Runs every verb on caches that have a sparse file of 2^63-1 bytes, which takes up no room.

    check_sparse.py URLCACHE-ADMIN SAMPLE-CACHE [FOLDER]

The file is the body of an entry, a body file that no entry names, or an entry of a Foundation cache. FOLDER has to be on a
file system that holds such a file, as tmpfs, xfs and btrfs do and ext4 does not; /dev/shm without it. Prints a line for
each kind of cache, and ends at the first that is not as it should be.
"""

import os, shutil, sqlite3, subprocess, sys, tempfile

LONGEST = (1 << 63) - 1
tool, maker = map(os.path.abspath, sys.argv[1:3])
folder = sys.argv[3] if len(sys.argv) > 3 else "/dev/shm" if os.path.isdir("/dev/shm") else None
root = tempfile.mkdtemp(dir=folder)
ENVIRONMENT = {**os.environ, "TMPDIR": root, "XDG_STATE_HOME": os.path.join(root, "state")}


def can_hold():
    path = os.path.join(root, "probe")
    with open(path, "wb") as file:
        try:
            file.truncate(LONGEST)
        except OSError:
            return False
    os.remove(path)
    return True


def path(name):
    return os.path.join(root, name)


def make(name, *options):
    subprocess.run([maker, "--entries", "40", "--seed", "3", *options, path(name)], check=True, capture_output=True)
    return path(name)


def body():
    """The body of an entry."""
    cache = make("body")
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    [(name,), *_] = connection.execute(
        "SELECT receiver_data FROM cfurl_cache_receiver_data WHERE isDataOnFS > 0 ORDER BY entry_ID").fetchall()
    connection.close()
    os.truncate(os.path.join(cache, "fsCachedData", name.decode() if isinstance(name, bytes) else name), LONGEST)
    return cache


def orphan():
    """A body file that no entry names."""
    cache = make("orphan")
    file = os.path.join(cache, "fsCachedData", "0000000A-0000-0000-0000-000000000001")
    open(file, "wb").close()
    os.truncate(file, LONGEST)
    os.utime(file, (1_700_000_000,) * 2)
    return cache


def report_of_many():
    """A report of more such bodies than it shows."""
    cache = path("many")
    subprocess.run([maker, "--entries", "1600", "--seed", "3", cache], check=True, capture_output=True)
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    ids = [row[0] for row in connection.execute("SELECT entry_ID FROM cfurl_cache_receiver_data")]
    connection.execute("BEGIN")
    for number in ids:
        name = "0000000B-0000-0000-0000-%012d" % number
        connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 1, receiver_data = ? WHERE entry_ID = ?",
                           (name.encode(), number))
        file = os.path.join(cache, "fsCachedData", name)
        open(file, "wb").close()
        os.truncate(file, LONGEST)
    connection.execute("COMMIT")
    connection.close()
    for words in commands(cache):
        if not {"--yes", "--plan", "compact"} & set(words):
            must_answer(words)
    print("a report of more such bodies than it shows: ok", flush=True)


def foundation():
    """An entry of a Foundation cache."""
    cache = make("foundation", "--format", "foundation")
    os.truncate(os.path.join(cache, sorted(os.listdir(cache))[7]), LONGEST)
    return cache


def commands(cache):
    """What reads the sizes of all files, or changes a copy of the cache; what reads such a body to its end would never end."""
    yield from (["list", "-c", cache, "--format", form] for form in ("table", "json", "ndjson", "csv", "tsv", "urls"))
    yield from (["list", "-c", cache, "--sort", order] for order in ("size", "-size"))
    yield ["list", "-c", cache, "--larger-than", "1G"]
    yield from (["usage", "-c", cache, "--format", form] for form in ("table", "json", "csv", "tsv"))
    yield from (["usage", "-c", cache, "--by", key] for key in ("host", "mime", "status"))
    yield ["usage", "--all-under", root]
    yield ["explain", "-c", cache, "--larger-than", "1G"]
    yield ["discover", root]
    yield from (["report", "-c", cache, "--format", form, "-o", "-"] for form in ("html", "markdown"))
    yield ["metrics", "-c", cache]
    yield ["policy", "test", "-c", cache]
    yield ["check", "-c", cache]
    yield ["check", "-c", cache, "--full", "--format", "json"]
    yield ["check", "-c", cache, "--repair", "-n"]
    yield ["compact", "-c", cache]
    for limits in (["--max-entries", "10"], ["--max-size", "1M"], ["--max-size", "0"],
                   ["--max-size", "8000000G"], ["--max-entry-size", "1M"], ["--min-free", "99%"], ["--max-age", "1s"], ["--max-entries", "10", "--order", "largest", "--low", "50%"]):
        for more in (["-n", "--format", "json"], ["--plan", path("plan.json")], ["--yes"]):
            yield ["enforce", "-c", cache, *limits, *more]
    for more in (["-n"], ["-n", "--format", "json"], ["--plan", path("plan.json")], ["--yes"]):
        yield ["purge", "-c", cache, "--all", *more]
    yield ["check", "-c", cache, "--repair", "--yes"]


def must_answer(words):
    """Runs a command, which may neither fail nor trap."""
    result = subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL, env=ENVIRONMENT, timeout=60)
    assert result.returncode in (0, 1, 3), (words, result.returncode, result.stderr[:2_000])
    return result


def check(kind):
    origin = kind()
    copy = path("copy-of-" + os.path.basename(origin))
    for words in commands(copy):
        shutil.rmtree(copy, ignore_errors=True)
        copy_sparse(origin, copy)
        result = must_answer(words)
        if "--plan" in words and result.returncode in (0, 1) and os.path.exists(path("plan.json")):
            applied = subprocess.run([tool, "apply", path("plan.json"), "-c", copy, "--yes"], capture_output=True,
                                     stdin=subprocess.DEVNULL, env=ENVIRONMENT, timeout=60)
            assert applied.returncode in (0, 3), (words, applied)
            os.remove(path("plan.json"))
    print(f"{kind.__doc__[0].lower()}{kind.__doc__[1:-1]}: ok", flush=True)


def copy_sparse(origin, copy):
    """Copies a cache, of sparse files only their lengths."""
    for parent, folders, names in os.walk(origin):
        target = os.path.join(copy, os.path.relpath(parent, origin))
        os.makedirs(target, exist_ok=True)
        for name in names:
            source, made = os.path.join(parent, name), os.path.join(target, name)
            if os.path.getsize(source) < LONGEST:
                shutil.copy2(source, made)
            else:
                open(made, "wb").close()
                os.truncate(made, LONGEST)
                shutil.copystat(source, made)


try:
    if can_hold():
        for kind in (body, orphan, foundation):
            check(kind)
        report_of_many()
    else:
        print("no file system here holds such a file", flush=True)
finally:
    shutil.rmtree(root)
