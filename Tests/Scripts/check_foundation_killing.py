"""Kills commands that change a folder of Foundation's at each system call that writes, and lets each of them fail.

    check_foundation_killing.py URLCACHE-ADMIN SAMPLE-CACHE [--all]

Each file must be there as it was or gone, and a second run must do the rest and leave nothing else; what is gone is in the
backup, if one is made.
Without --all it takes a sample: of each kind of system call of a command the first two, the last two and two in between, which
each command draws for itself, and every fourth call of a purge that makes a backup. Needs strace.
"""

import glob, hashlib, os, random, re, shutil, subprocess, sys, tempfile, time

from fault_trial import intents

tool, maker = sys.argv[1:3]
tries_all = sys.argv[3:] == ["--all"]
root = tempfile.mkdtemp()
origin = os.path.join(root, "origin")
CALLS = ["write", "fsync", "unlink", "unlinkat"]
# The store has findings that no repair removes.
ENDS = {"check": 1}


def fresh(store=None):
    path = os.path.join(root, "cache")
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(store or origin, path)
    return path


def state(folder):
    """The files of a store, by their names."""
    result = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            result[name] = hashlib.sha256(file.read()).hexdigest()
    return result


def count(call, verb, options, store=None):
    """How often a clean run makes a system call."""
    trace = os.path.join(root, "trace")
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", f"trace={call}", tool, verb, "-c", fresh(store), *options],
                   capture_output=True)
    with open(trace) as file:
        return sum(1 for line in file if re.match(rf"\d+\s+{call}\(", line))


def with_fault(call, number, fault, verb, options, old, store=None):
    """Runs a command with a fault; returns the cache, of which files may be gone."""
    cache = fresh(store)
    result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                             "-e", f"inject={call}:{fault}:when={number}", tool, verb, "-c", cache, *options],
                            capture_output=True)
    assert (result.returncode == -9) == ("SIGKILL" in fault), (call, number, fault, result)
    assert state(cache).items() <= old.items(), "a file changed"
    return cache


def sample(turns, generator):
    """The first two, the last two, and two in between, or with --all all."""
    if tries_all or len(turns) <= 6:
        return turns
    return [*turns[:2], *sorted(generator.sample(turns[2:-2], 2)), *turns[-2:]]


def faults(verb, *options, removed, store=None):
    """Lets a command end, or fail, at each of its system calls."""
    old = state(store or origin)
    done = fresh(store)
    result = subprocess.run([tool, verb, "-c", done, *options], capture_output=True)
    assert result.returncode == ENDS.get(verb, 0), result
    new = state(done)
    assert len(old) - len(new) == removed, (len(old), len(new))
    counts = {call: count(call, verb, options, store) for call in CALLS}
    assert counts["unlinkat"] == removed and counts["fsync"] > 0, counts
    tried, generator = 0, random.Random(verb)
    for call, number in counts.items():
        for nth in sample(range(1, number + 1), generator):
            for fault in ["signal=SIGKILL", "error=EIO"]:
                cache = with_fault(call, nth, fault, verb, options, old, store)
                before = state(cache)
                result = subprocess.run([tool, verb, "-c", cache, *options], capture_output=True)
                # A plan has been carried out in part where files are gone that it names.
                expected = 3 if verb == "apply" and before != old else ENDS.get(verb, 0)
                assert result.returncode == expected, (call, nth, fault, result)
                assert state(cache) == new and not intents(), "the second run did not end what the first began"
                tried += 1
    print(f"{verb}: {tried} faults at system calls: 0 bad; 0 files left", file=sys.stderr)
    print(f"{verb}: ok", flush=True)


def make_broken():
    """A copy of the store with entries that cannot be decoded, and temporary files that a process left an hour ago."""
    broken = os.path.join(root, "broken")
    shutil.copytree(origin, broken)
    for name in sorted(os.listdir(broken))[:5]:
        with open(os.path.join(broken, name), "wb") as file:
            file.write(b"none")
        os.utime(os.path.join(broken, name), (time.time() - 3600,) * 2)
    for number in range(3):
        path = os.path.join(broken, f".dat.nosync0.{number}")
        with open(path, "wb") as file:
            file.write(b"part")
        os.utime(path, (time.time() - 3600,) * 2)
    return broken


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
    plan = os.path.join(root, "plan.json")
    subprocess.run([tool, "purge", "-c", origin, "--prefix", "https://", "--plan", plan], check=True, capture_output=True)
    faults("apply", plan, "--yes", removed=selected)
    faults("check", "--repair", "--yes", removed=8, store=make_broken())
    backup_faults("--prefix", "https://", "--yes")
finally:
    shutil.rmtree(root)
