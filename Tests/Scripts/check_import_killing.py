"""Kills imports and backups at system calls that write, and lets them fail; then looks at the cache.

    check_import_killing.py URLCACHE-ADMIN SAMPLE-CACHE

The bytes that were written survive, as the system goes on: this shows what the end of a process does, not what the end of
the power does. Needs strace.
"""

import os, re, shutil, sqlite3, subprocess, sys, tempfile

from fault_trial import contents, intents, look

tool, maker = sys.argv[1:]
root = tempfile.mkdtemp()
origin = os.path.join(root, "origin")
CALLS = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "unlink", "unlinkat"]
scratch = os.path.join(root, "scratch")


def fresh():
    path = os.path.join(root, "cache")
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(origin, path)
    return path


def count(call, verb, options):
    """How often a clean run makes a system call."""
    trace = os.path.join(root, "trace")
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", f"trace={call}", tool, verb, "-c", fresh(), *options],
                   capture_output=True, check=True)
    with open(trace) as file:
        return sum(1 for line in file if re.match(rf"\d+\s+{call}\(", line))


def spread(count, most):
    return range(1, count + 1) if count <= most else sorted({1 + round(step * (count - 1) / (most - 1)) for step in range(most)})


def import_faults(archive):
    """Lets an import end, or fail, at its system calls: all of the archive is there then, or nothing."""
    old = contents(origin, scratch)
    options = [archive, "--yes", "--on-conflict", "replace"]
    done = fresh()
    subprocess.run([tool, "import", "-c", done, *options], check=True, capture_output=True)
    new = contents(done, scratch)
    assert old != new and len(new) > len(old)
    seen = []
    for call in CALLS + ["mkdir", "openat"]:
        number = count(call, "import", options)
        for nth, fault in [*((nth, "signal=SIGKILL") for nth in spread(number, 10)), *((nth, "error=EIO") for nth in spread(number, 5))]:
            if call == "openat" and "error" in fault:
                continue
            cache = fresh()
            subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={nth}",
                            tool, "import", "-c", cache, *options], capture_output=True)
            after = contents(cache, scratch)
            assert after in (old, new), (call, nth, fault)
            seen.append(after == new)
            subprocess.run([tool, "import", "-c", cache, *options], check=True, capture_output=True)
            assert contents(cache, scratch) == new, (call, nth, fault)
            assert not look(cache, scratch).orphans and not intents(), (call, nth, fault)
    assert True in seen and seen.count(False) > 20, seen
    print("import: ok", flush=True)


def backup_faults():
    """Lets a purge with a backup end at its system calls: what is gone is in the archive."""
    old = contents(origin, scratch)
    options = ["--prefix", "https://", "--yes"]
    archive = os.path.join(root, "backup.tar.zst")
    for call in CALLS + ["rename"]:
        for nth in spread(count(call, "purge", [*options, "--backup", archive]), 8):
            if os.path.exists(archive):
                os.unlink(archive)
            cache = fresh()
            subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={nth}",
                            tool, "purge", "-c", cache, *options, "--backup", archive], capture_output=True)
            if contents(cache, scratch) != old:
                subprocess.run([tool, "import", "--any-method", "-c", cache, archive], check=True, capture_output=True)
                assert contents(cache, scratch) == old, (call, nth)
        if os.path.exists(archive):
            os.unlink(archive)
    print("backup: ok", flush=True)


try:
    # The bodies of half of the entries are in files, and more than half of the entries go.
    subprocess.run([maker, "--entries", "24", "--seed", "3", origin], check=True)
    subprocess.run([tool, "purge", "-c", origin, "--prefix", "https://", "--yes"], check=True, capture_output=True)
    # Half of the archive is new, and one of the others differs.
    subprocess.run([maker, "--entries", "16", "--seed", "3", os.path.join(root, "more")], check=True)
    archive = os.path.join(root, "archive.tar.zst")
    subprocess.run([tool, "export", "-c", os.path.join(root, "more"), "-o", archive], check=True, capture_output=True)
    connection = sqlite3.connect(os.path.join(origin, "Cache.db"))
    connection.execute("UPDATE cfurl_cache_response SET time_stamp = '2020-01-01 00:00:00'")
    connection.commit()
    connection.close()
    import_faults(archive)
    shutil.rmtree(origin)
    shutil.copytree(os.path.join(root, "more"), origin)
    backup_faults()
finally:
    shutil.rmtree(root)
