"""Kills imports into a folder of Foundation's at each system call that writes, lets each of them fail, and lets the power
fail after each; then looks at the folder.

    check_foundation_import_faults.py URLCACHE-ADMIN SAMPLE-CACHE [--all]

Each entry must be there as it was or as it is to be, never none of the two, and never a part of one. Without --all one
in three of the system calls is tried. Needs strace.
"""

import hashlib, os, random, re, shutil, subprocess, sys, tempfile

from fault_trial import intents
from power_loss import disk_after, recorded

tool, maker = sys.argv[1:3]
tries_all = sys.argv[3:] == ["--all"]
root = tempfile.mkdtemp()
origin = os.path.join(root, "origin")
SUFFIX = ".storedcachedurlresponse"
CALLS = ["write", "fsync", "unlinkat", "renameat", "openat"]


def fresh():
    path = os.path.join(root, "cache")
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(origin, path)
    return path


def state(folder):
    """The responses by their names, and how many files there are besides."""
    result, others = {}, 0
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            if name.endswith(SUFFIX):
                result[name] = hashlib.sha256(file.read()).hexdigest()
            else:
                assert name.startswith(".dat.nosync"), name
                others += 1
    return result, others


def judge(found, old, new, *facts):
    """Whether what is there is old or new, entry by entry."""
    for name, digest in found.items():
        assert digest in (old.get(name), new.get(name)), ("a part of an entry, or another", name, facts)
    keys = lambda files: {name.split(".")[1] for name in files}
    assert keys(found) >= keys(old) and keys(found) <= keys(old) | keys(new), ("an entry is gone", facts)


def arguments(cache, archive):
    return [tool, "import", "-c", cache, archive, "--yes", "--on-conflict", "replace"]


def points(archive):
    """At which of its turns a system call writes, in a clean run."""
    trace = os.path.join(root, "trace")
    subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", f"trace={','.join(CALLS)}", *arguments(fresh(), archive)],
                   capture_output=True, check=True)
    made, found = {}, []
    with open(trace) as file:
        for line in file:
            match = re.match(r"\d+\s+(\w+)\((.*)", line)
            if match:
                made[match[1]] = made.get(match[1], 0) + 1
                if match[1] != "openat" or "O_CREAT" in match[2]:
                    found.append((match[1], made[match[1]]))
    return found


def ends(archive, old, new):
    left = partly = tried = 0
    for call, turn in points(archive)[::1 if tries_all else 3]:
        for fault in ["signal=SIGKILL", "error=EIO"]:
            cache = fresh()
            result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={turn}",
                                     *arguments(cache, archive)], capture_output=True)
            found, others = state(cache)
            judge(found, old, new, call, turn, fault)
            tried += 1
            partly += found not in (old, new)
            if "KILL" in fault:
                assert result.returncode == -9, result
                left += others > 0
            else:
                assert others == 0 or call == "unlinkat", (call, turn, others, result)
                # Nothing came of what failed before the first entry was in; of what cannot be noted all the same.
                assert call in ("renameat", "unlinkat", "fsync", "write") or found == old \
                    or b"only 'check --repair' removes" in result.stderr, (call, turn)
            subprocess.run(arguments(cache, archive), capture_output=True, check=True)
            assert state(cache) == (new, 0) and not intents(), ("the second run did not end what the first began", call, turn, fault)
    assert partly > 5 and left > (20 if tries_all else 6), (partly, left)
    print(f"{tried} faults: 0 bad; {partly} in part, {left} left files that nobody sees", file=sys.stderr)
    print("ends: ok", flush=True)


def responses(disk):
    return {name: hashlib.sha256(data).hexdigest() for name, data in disk.files().items() if name.endswith(SUFFIX)}


def power(archive, old, new):
    cache = fresh()
    events = recorded(lambda *before: subprocess.run([*before, *arguments(cache, archive)], capture_output=True, check=True),
                      cache, os.path.join(root, "trace"))
    kinds = [event[0] for event in events]
    assert kinds.count("rename") == kinds.count("create") > 8 and kinds.count("synchronize") > kinds.count("create"), kinds
    tried = mixed = 0
    for moment in range(len(events) + 1):
        for number in range(8):
            found = responses(disk_after(origin, events[:moment], number, random.Random(f"{moment}/{number}")))
            judge(found, old, new, moment, number, events[moment - 1][:2])
            tried += 1
            mixed += found not in (old, new)
    # What an import that is done says is there, is there.
    assert responses(disk_after(origin, events, 1, random.Random(1))) == new and mixed > 20
    print(f"{tried} power failures: 0 bad; {mixed} in part", file=sys.stderr)
    print("power: ok", flush=True)


try:
    subprocess.run([maker, "--format", "foundation", "--entries", "8", "--seed", "3", "--no-large-bodies", origin], check=True)
    more = os.path.join(root, "more")
    subprocess.run([maker, "--format", "foundation", "--entries", "14", "--seed", "3", "--no-large-bodies", more], check=True)
    archive = os.path.join(root, "archive.tar")
    subprocess.run([tool, "export", "-c", more, "-o", archive], check=True, capture_output=True)
    # Of those that are there some are older, some newer, and some of the same second with other bytes.
    for number, name in enumerate(sorted(set(os.listdir(origin)) & set(os.listdir(more)))):
        file = os.path.join(origin, name)
        seconds, rest = name.split(".", 1)
        if number % 4 < 2:
            os.rename(file, os.path.join(origin, f"{int(seconds) + (-1000 if number % 4 else 1000)}.{rest}"))
        elif number % 4 == 2:
            with open(file, "rb") as input:
                data = input.read()
            with open(file, "wb") as output:
                output.write(data.replace(b"example", b"elpmaxe"))
    done = fresh()
    subprocess.run(arguments(done, archive), check=True, capture_output=True)
    old, new = state(origin)[0], state(done)[0]
    assert new == state(more)[0] and old != new
    ends(archive, old, new)
    power(archive, old, new)
finally:
    shutil.rmtree(root)
