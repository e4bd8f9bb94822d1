"""What the tests of `recover` share: caches with a known history, what the program finds in them, and how much memory it takes."""

import json
import os
import subprocess
import tarfile

import histories
from products import tool
from scratch import path, run


def recover(cache, *options, status=0):
    """The recovered entries, as JSON."""
    output = run("recover", "-c", cache, "--format", "ndjson", *options, status=status).stdout
    return [json.loads(line) for line in output.splitlines()]


def stored(entry):
    return int(histories.seconds(entry["stored"]))


def make(seed, transactions=12, is_cleared=False, **options):
    """A history, and a copy of its cache as a killed process leaves it."""
    history = histories.History(path("live"), seed, **options).run(transactions)
    if is_cleared:
        history.clear()
    return history, history.kill(path("cache"))


MEASURED = """import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=sys.stderr)
sys.exit(status)"""


def measured(cache, *options):
    """The result of a search, and how many bytes of memory it takes at most."""
    result = subprocess.run(["python3", "-c", MEASURED, tool, "recover", "-c", cache, *options], capture_output=True, timeout=120)
    return result, int(result.stderr.splitlines()[-1])


def digest(folder):
    return {name: (os.stat(os.path.join(folder, name)).st_mtime_ns, open(os.path.join(folder, name), "rb").read())
            for name in sorted(os.listdir(folder)) if os.path.isfile(os.path.join(folder, name))}


def archived(cache, *options, status=0):
    """The entries that `recover` writes to an archive, each with its body, which is `None` if it has none."""
    if os.path.exists(path("found.tar")):
        os.remove(path("found.tar"))
    # Without an entry, no archive is written.
    done = run("recover", "-c", cache, "-o", path("found.tar"), *options, status=None).returncode
    assert status is None or done in (status, 1), done
    assert (done == 1) <= (not os.path.exists(path("found.tar")))
    if done not in (0, 3):
        return
    with tarfile.open(path("found.tar")) as archive:
        names = set(archive.getnames())
        for name in sorted(names):
            if name.endswith("/entry.json"):
                entry, body = json.load(archive.extractfile(name)), name.replace("/entry.json", "/body")
                yield entry, archive.extractfile(body).read() if body in names else None
