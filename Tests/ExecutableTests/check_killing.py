"""Kills a purge at each system call that writes, and lets each of them fail; then looks at the cache.

    check_killing.py URLCACHE-ADMIN SAMPLE-CACHE

The bytes that were written survive, as the system goes on: this shows what the end of a process does, not what the end of
the power does. Needs strace.
"""

import os, re, shutil, sqlite3, subprocess, sys, tempfile

tool, maker = sys.argv[1:]
root = tempfile.mkdtemp()
origin = os.path.join(root, "origin")
CALLS = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "unlink", "unlinkat"]
TABLES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]
# The bodies of half of the entries are in files, and more than half of the entries go.
SELECTION = ["--prefix", "https://", "--yes"]


def fresh():
    path = os.path.join(root, "cache")
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(origin, path)
    return path


def state(cache):
    """The rows, from a copy, as opening a database after a crash changes it; and whether no file is missing."""
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


def count(call):
    """How often a clean run makes a system call."""
    trace = os.path.join(root, "trace")
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", f"trace={call}", tool, "purge", "-c", fresh(), *SELECTION],
                   capture_output=True, check=True)
    with open(trace) as file:
        return sum(1 for line in file if re.match(rf"\d+\s+{call}\(", line))


def run(call, number, fault):
    cache = fresh()
    result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                             "-e", f"inject={call}:{fault}:when={number}", tool, "purge", "-c", cache, *SELECTION],
                            capture_output=True)
    assert (result.returncode == -9) == ("SIGKILL" in fault), (call, number, fault, result)
    for table, before in zip(state(cache), old):
        for number, row in table.items():
            assert before.get(number) == row, "a row changed"
    result = subprocess.run([tool, "purge", "-c", cache, *SELECTION], capture_output=True)
    assert result.returncode == 0, result
    assert state(cache) == new, "the second run did not end what the first began"


def spread(count, most):
    return range(1, count + 1) if count <= most else sorted({1 + round(step * (count - 1) / (most - 1)) for step in range(most)})


try:
    subprocess.run([maker, "--entries", "24", "--seed", "3", origin], check=True)
    old = state(origin)
    done = fresh()
    subprocess.run([tool, "purge", "-c", done, *SELECTION], check=True, capture_output=True)
    new = state(done)
    assert 0 < len(new[0]) < len(old[0]) / 2
    counts = {call: count(call) for call in CALLS}
    assert counts["pwrite64"] > 10 and counts["unlinkat"] > 5, counts
    for call, number in counts.items():
        for nth in spread(number, 24):
            run(call, nth, "signal=SIGKILL")
    print("killed at every call: ok", flush=True)
    for call, number in counts.items():
        for fault in ["error=EIO"] + (["error=ENOSPC"] if call in ("pwrite64", "write") else []):
            for nth in spread(number, 8):
                run(call, nth, fault)
    print("failing calls: ok", flush=True)
finally:
    shutil.rmtree(root)
