"""Kills commands that change a folder of Foundation's at each system call that writes, and lets each of them fail.

    check_foundation_killing.py URLCACHE-ADMIN SAMPLE-CACHE [--all]

Each file must be there as it was or gone, and a second run must do the rest; what is gone is in the backup, if one is made.
Without --all one in four of the system calls of a command that makes one is tried. Needs strace.
"""

import glob, hashlib, os, re, shutil, subprocess, sys, tempfile

tool, maker = sys.argv[1:3]
tries_all = sys.argv[3:] == ["--all"]
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


def with_fault(call, number, fault, verb, options, old):
    """Runs a command with a fault; returns the cache, of which files may be gone."""
    cache = fresh()
    result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                             "-e", f"inject={call}:{fault}:when={number}", tool, verb, "-c", cache, *options],
                            capture_output=True)
    assert (result.returncode == -9) == ("SIGKILL" in fault), (call, number, fault, result)
    assert state(cache).items() <= old.items(), "a file changed"
    return cache


def run(call, number, fault, verb, options, old, new):
    cache = with_fault(call, number, fault, verb, options, old)
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


def backup_faults(*options):
    """Lets a purge with a backup end, or fail, at its system calls: what is gone is in the archive, and comes back."""
    old, archive = state(origin), os.path.join(root, "backup.tar.zst")
    tried = gone = 0
    for call in [*CALLS, "?rename", "?renameat", "?renameat2"]:
        for nth in range(1, count(call.strip("?"), "purge", [*options, "--backup", archive]) + 1, 1 if tries_all else 4):
            for fault in ["signal=SIGKILL", "error=EIO"]:
                for name in glob.glob(archive + "*"):
                    os.unlink(name)
                cache = with_fault(call, nth, fault, "purge", [*options, "--backup", archive], old)
                tried += 1
                if state(cache) != old:
                    gone += 1
                    subprocess.run([tool, "import", "-c", cache, archive], check=True, capture_output=True)
                    assert state(cache) == old, ("not all came back", call, nth, fault)
        for name in glob.glob(archive + "*"):
            os.unlink(name)
    assert gone > 10 and tried > gone, (tried, gone)
    print(f"purge --backup: {tried} faults: 0 bad; {gone} after files were gone", file=sys.stderr)
    print("purge --backup: ok", flush=True)


try:
    subprocess.run([maker, "--format", "foundation", "--entries", "32", "--seed", "3", "--no-large-bodies", origin],
                   check=True)
    selected = sum(1 for url in subprocess.run([tool, "list", "-c", origin, "--format", "urls"], capture_output=True,
                                               check=True).stdout.splitlines() if url.startswith(b"https://"))
    faults("purge", "--prefix", "https://", "--yes", removed=selected)
    faults("enforce", "--max-entries", "12", "--yes", removed=20)
    backup_faults("--prefix", "https://", "--yes")
finally:
    shutil.rmtree(root)
