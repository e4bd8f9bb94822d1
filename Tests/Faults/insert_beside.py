"""Enforces limits in a loop while another process stores 200 responses a second and waits 1 s at most for the lock.

    insert_beside.py URLCACHE-ADMIN SAMPLE-CACHE SECONDS

Before, that process runs alone for a tenth of the time, as what it takes then is not due to us. It must never find the
database busy, nor wait for 100 ms. Prints figures.
"""

import collections, json, os, shutil, sqlite3, subprocess, sys, tempfile

tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Scripts")
sys.path.insert(0, tests)
from fault_trial import length, read_database

tool, maker, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
root = tempfile.mkdtemp()
cache = os.path.join(root, "cache")
database = os.path.join(cache, "Cache.db")


def insert(seconds, meanwhile):
    """Stores responses for some seconds, and calls `meanwhile` again and again until they are over."""
    writer = subprocess.Popen([sys.executable, os.path.join(tests, "insert_responses.py"), database, str(seconds)],
                              stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "ready\n"
    while writer.poll() is None:
        meanwhile()
    assert writer.returncode == 0
    return json.loads(writer.stdout.read())


def main():
    subprocess.run([maker, "--entries", "20000", "--seed", "7", "--no-large-bodies", cache], check=True)
    alone = insert(seconds / 10, lambda: subprocess.run(["sleep", "0.1"]))
    print(f"alone: {alone['stored']} stored, {alone['busy']} times busy, longest wait {alone['longest_wait'] * 1000:.0f} ms, "
          f"longest in all {alone['longest'] * 1000:.0f} ms")
    # A database that was closed has no log; from here on nothing but the commands may close it.
    ends, removed, most = collections.Counter(), 0, 20_000

    def enforce():
        nonlocal removed, most
        most = max(most - 300, 1_000)
        # Now fewer entries, now fewer bytes, with which free pages go too.
        limit = ["--max-entries", str(most)] if sum(ends.values()) % 2 else ["--max-size", str(length(cache) * 97 // 100)]
        result = subprocess.run([tool, "enforce", "-c", cache, *limit, "-y", "--format", "json"], capture_output=True)
        assert result.returncode in (0, 1, 3), result
        ends[result.returncode] += 1
        removed += json.loads(result.stdout)["removed"]["entries"]

    beside = insert(seconds, enforce)
    print(f"beside {sum(ends.values())} runs of enforce that removed {removed} entries: {beside['stored']} stored, "
          f"{beside['busy']} times busy, longest wait {beside['longest_wait'] * 1000:.0f} ms, "
          f"longest in all {beside['longest'] * 1000:.0f} ms", flush=True)
    print(f"enforce ended with {dict(ends)}")
    rows, _ = read_database(database)
    assert len(rows) == 20_000 + beside["stored"] + alone["stored"] - removed, (len(rows), removed)
    assert removed > 100 and beside["stored"] > seconds * 20, "they were hardly at it"
    assert beside["busy"] == 0 and beside["longest_wait"] < 0.1, "the other process had to wait"


try:
    main()
finally:
    shutil.rmtree(root)
