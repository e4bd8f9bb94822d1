"""Kills commands that change a folder of Foundation's at each system call that writes, and lets each of them fail.

    check_foundation_killing.py URLCACHE-ADMIN SAMPLE-CACHE

Each file must be there as it was or gone, and a second run must do the rest. Needs strace.
"""

import hashlib, os, re, shutil, subprocess, sys, tempfile

tool, maker = sys.argv[1:]
root = tempfile.mkdtemp()
origin = os.path.join(root, "origin")
CALLS = ["write", "fsync", "unlink", "unlinkat"]


def fresh():
    path = os.path.join(root, "cache")
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(origin, path)
    return path


def state(folder):
    """The files of a store, by their names."""
    result = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            result[name] = hashlib.sha256(file.read()).hexdigest()
    return result


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
    assert state(cache).items() <= old.items(), "a file changed"
    result = subprocess.run([tool, verb, "-c", cache, *options], capture_output=True)
    assert result.returncode == 0, result
    assert state(cache) == new, "the second run did not end what the first began"


def faults(verb, *options, removed):
    """Lets a command end, or fail, at each of its system calls."""
    old = state(origin)
    done = fresh()
    subprocess.run([tool, verb, "-c", done, *options], check=True, capture_output=True)
    new = state(done)
    assert len(old) - len(new) == removed, (len(old), len(new))
    counts = {call: count(call, verb, options) for call in CALLS}
    assert counts["unlinkat"] == removed and counts["fsync"] > 0, counts
    for call, number in counts.items():
        for nth in range(1, number + 1):
            for fault in ["signal=SIGKILL", "error=EIO"]:
                run(call, nth, fault, verb, options, old, new)
    print(f"{verb}: ok", flush=True)


try:
    subprocess.run([maker, "--format", "foundation", "--entries", "32", "--seed", "3", "--no-large-bodies", origin],
                   check=True)
    selected = sum(1 for url in subprocess.run([tool, "list", "-c", origin, "--format", "urls"], capture_output=True,
                                               check=True).stdout.splitlines() if url.startswith(b"https://"))
    faults("purge", "--prefix", "https://", "--yes", removed=selected)
    faults("enforce", "--max-entries", "12", "--yes", removed=20)
finally:
    shutil.rmtree(root)
