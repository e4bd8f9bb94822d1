"""Kills a refreshing at system calls that write, and lets them fail; then looks at the cache.

    check_revalidating_killing.py URLCACHE-ADMIN SAMPLE-CACHE

Each entry is the old or the new one then, and a second run makes all new. The bytes that were written survive, as the system
goes on: this shows what the end of a process does, not what the end of the power does. Needs strace.
"""

import os, re, shutil, subprocess, sys, tempfile

import origin
from fault_trial import intents, look
from heard_signals import hear_signals

tool, maker = map(os.path.abspath, sys.argv[1:])
root = tempfile.mkdtemp()
environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
CALLS = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "unlink", "unlinkat"]
# Entries that are updated, that are replaced and that are completed, all with bodies in files and in the database.
NAMES = ["etag", "large", "changed", "gzip", "weak", "rolled", "404", "none", "half-small", "half-large"]


def fresh(store):
    path = os.path.join(root, "cache")
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(store, path)
    return path


def apple_state(cache):
    """What is stored, from a copy, as opening a database after a crash changes it; times differ in each run."""
    copy = os.path.join(root, "copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(cache, copy)
    return {url: {**entry, "stored": entry["stored"] > origin.Origin.now} for url, entry in origin.apple_entries(copy)[0].items()}


def foundation_state(cache):
    """What is stored, as URLCache takes the newest file of a key; times differ in each run."""
    return {key: {**entry, "stored": entry["stored"] > origin.Origin.now}
            for key, entry in origin.foundation_entries(cache).items()}


def files_left(cache):
    """Body files that no row names, or temporary files."""
    if os.path.exists(os.path.join(cache, "Cache.db")):
        return look(cache, os.path.join(root, "scratch")).orphans
    return [name for name in os.listdir(cache) if name.startswith(".dat.nosync")]


def command(cache):
    return [tool, "revalidate", "-c", cache, "--all", "--refresh", "--resume", "--yes", "--timeout", "30s"]


def count(call, store):
    """How often a clean run makes a system call; those of the program that fetches do not count."""
    trace = os.path.join(root, "trace")
    subprocess.run(["strace", "-qq", "-o", trace, "-e", f"trace={call}", *command(fresh(store))], capture_output=True, env=environment)
    with open(trace) as file:
        return sum(1 for line in file if re.match(rf"{call}\(", line))


def spread(count, most):
    return range(1, count + 1) if count <= most else sorted({1 + round(step * (count - 1) / (most - 1)) for step in range(most)})


def faults(store, state, statuses):
    old = state(store)
    done = fresh(store)
    first = subprocess.run(command(done), capture_output=True, env=environment)
    assert first.returncode == 1, first
    new = state(done)
    assert old != new and old.keys() == new.keys()
    seen = []
    for call in [*CALLS, "rename", "renameat", "renameat2", "mkdir"]:
        number = count(call, store)
        for nth, fault in [*((nth, "signal=SIGKILL") for nth in spread(number, 8)), *((nth, "error=EIO") for nth in spread(number, 4))]:
            cache = fresh(store)
            subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={nth}",
                            *command(cache)], capture_output=True, env=environment)
            after = state(cache)
            assert after.keys() == old.keys(), (call, nth, fault)
            for url, entry in after.items():
                assert entry in (old[url], new[url]), (call, nth, fault, entry)
            seen.append(after == new)
            again = subprocess.run(command(cache), capture_output=True, env=environment)
            # Of two files of a key the older goes with the refreshing of the newer, and is skipped itself.
            assert again.returncode in statuses and state(cache) == new, (call, nth, fault, again)
            if again.returncode == 3:
                again = subprocess.run(command(cache), capture_output=True, env=environment)
                assert again.returncode == 1, (call, nth, fault, again)
            assert not files_left(cache) and not intents(), (call, nth, fault, files_left(cache), intents())
    for nth in [1, 2, 3]:
        cache = fresh(store)
        result = subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", f"inject=fsync:signal=SIGTERM:when={nth}",
                                 *command(cache)], capture_output=True, env=environment, preexec_fn=hear_signals)
        after = state(cache)
        # All of this is one batch, and the receipt says what became of it.
        assert result.returncode == -15 and after in (old, new), (nth, result)
        assert (b"skipped" in result.stdout) == (after == old) and b"stopped by a signal" in result.stderr, (nth, result)
    assert True in seen and seen.count(False) > 10, seen
    return len(seen)


base = origin.start()
# Then what is stored is the same in each run but for the time.
origin.Origin.now = 1_760_000_000
try:
    apple = os.path.join(root, "apple")
    origin.make_apple(maker, apple, list(origin.stored_entries(base, NAMES)), stored=origin.Origin.now - 100_000)
    faults(apple, apple_state, [1])
    print("apple: ok", flush=True)
    foundation, archive = os.path.join(root, "foundation"), os.path.join(root, "archive.tar")
    subprocess.run([tool, "export", "-c", apple, "-o", archive], check=True, capture_output=True)
    subprocess.run([tool, "import", "--any-method", "-c", foundation, "--create", "foundation", archive], check=True, capture_output=True)
    faults(foundation, foundation_state, [1, 3])
    print("foundation: ok", flush=True)
finally:
    shutil.rmtree(root, ignore_errors=True)
