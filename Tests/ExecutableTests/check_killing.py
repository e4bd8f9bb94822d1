"""Kills commands that change a cache at each system call that writes, and lets each of them fail; then looks at the cache.

    check_killing.py URLCACHE-ADMIN SAMPLE-CACHE

The bytes that were written survive, as the system goes on: this shows what the end of a process does, not what the end of
the power does. Needs strace.
"""

import hashlib, os, re, shutil, sqlite3, subprocess, sys, tempfile

tool, maker = sys.argv[1:]
root = tempfile.mkdtemp()
origin = os.path.join(root, "origin")
CALLS = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "unlink", "unlinkat"]
TABLES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]
def fresh():
    path = os.path.join(root, "cache")
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(origin, path)
    return path


def contents(folder):
    """The files of a Foundation store, by their names."""
    result = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            result[name] = hashlib.sha256(file.read()).hexdigest()
    return [result]


def state(cache):
    """The rows, from a copy, as opening a database after a crash changes it; and whether no file is missing."""
    if not os.path.exists(os.path.join(cache, "Cache.db")):
        return contents(cache)
    copy = os.path.join(root, "copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(cache, copy)
    connection = sqlite3.connect(os.path.join(copy, "Cache.db"))
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    tables = [dict((row[0], row) for row in connection.execute(f"SELECT * FROM {name}")) for name in TABLES]
    connection.close()
    assert tables[0].keys() == tables[1].keys() == tables[2].keys(), "rows of one table are gone without the others"
    for row in tables[2].values():
        assert not row[1] or os.path.exists(os.path.join(cache, "fsCachedData", row[2])), "a body file is gone"
    return tables


def count(call, verb, options):
    """How often a clean run makes a system call."""
    trace = os.path.join(root, "trace")
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", f"trace={call}", tool, verb, "-c", fresh(), *options],
                   capture_output=True, check=True)
    with open(trace) as file:
        return sum(1 for line in file if re.match(rf"\d+\s+{call}\(", line))


def run(call, number, fault, verb, options, old, new):
    cache = fresh()
    result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                             "-e", f"inject={call}:{fault}:when={number}", tool, verb, "-c", cache, *options],
                            capture_output=True)
    assert (result.returncode == -9) == ("SIGKILL" in fault), (call, number, fault, result)
    for table, before in zip(state(cache), old):
        for row in table:
            assert before.get(row) == table[row], "a row changed"
    result = subprocess.run([tool, verb, "-c", cache, *options], capture_output=True)
    assert result.returncode == 0, result
    assert state(cache) == new, "the second run did not end what the first began"


def spread(count, most):
    return range(1, count + 1) if count <= most else sorted({1 + round(step * (count - 1) / (most - 1)) for step in range(most)})


def faults(verb, *options, wanted):
    """Lets a command end, or fail, at each of its system calls, of which some are wanted more often than so."""
    old = state(origin)
    done = fresh()
    subprocess.run([tool, verb, "-c", done, *options], check=True, capture_output=True)
    new = state(done)
    counts = {call: count(call, verb, options) for call in CALLS}
    assert all(counts[call] > number for call, number in wanted.items()), counts
    for call, number in counts.items():
        for nth in spread(number, 24):
            run(call, nth, "signal=SIGKILL", verb, options, old, new)
        for fault in ["error=EIO"] + (["error=ENOSPC"] if call in ("pwrite64", "write") else []):
            for nth in spread(number, 8):
                run(call, nth, fault, verb, options, old, new)
    print(f"{verb}{'' if 'pwrite64' in wanted else ' of a folder'}: ok", flush=True)
    return len(old[0]), len(new[0])


try:
    # The bodies of half of the entries are in files, and more than half of the entries go.
    subprocess.run([maker, "--entries", "24", "--seed", "3", origin], check=True)
    database = {"pwrite64": 10, "fdatasync": 1}
    before, after = faults("purge", "--prefix", "https://", "--yes", wanted=database)
    assert 0 < after < before / 2
    subprocess.run([tool, "purge", "-c", origin, "--prefix", "https://", "--yes"], check=True, capture_output=True)
    faults("compact", wanted=database)
    shutil.rmtree(origin)
    subprocess.run([maker, "--format", "foundation", "--entries", "32", "--seed", "3", "--no-large-bodies", origin], check=True)
    before, after = faults("purge", "--prefix", "https://", "--yes", wanted={"unlinkat": 15, "fsync": 0})
    assert 0 < after < before / 2
    before, after = faults("enforce", "--max-entries", "12", "--yes", wanted={"unlinkat": 15, "fsync": 0})
    assert (before, after) == (32, 12)
finally:
    shutil.rmtree(root)
