"""The folder of the running test, and what tests do in it: they make caches, and run the program."""

import concurrent.futures
import contextlib
import fcntl
import functools
import hashlib
import itertools
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading

from products import maker, tool

# The folder of the running test, which a fixture sets.
root = None
# The variable that names the folder of the made-up caches that are copied, which all test processes share.
MADE_UP = "MADE_UP_CACHES"
# What to do to each cache that is made, unless there is nothing.
after_making = None


def path(name):
    return os.path.join(root, name)


@contextlib.contextmanager
def memory():
    """A folder in memory, where there is such a thing: how long a lock is held there does not depend on who else uses the disk."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="urlcache-admin-", dir=place, ignore_cleanup_errors=True) as folder:
        yield folder


def run(*words, status=0, **options):
    result = subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL, **options)
    assert status is None or result.returncode == status, (words, status, result)
    return result


def digests(folder):
    """The digests of all files of a folder, by their names."""
    result = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(parent, name), "rb") as file:
                result[os.path.relpath(os.path.join(parent, name), folder)] = hashlib.sha256(file.read()).hexdigest()
    return result


def short_id(name):
    """The short id of an entry that is a file, as the pages define it: twelve digits of the SHA-256 of its id, from the first letter on."""
    return hashlib.sha256(name.encode()).hexdigest().lstrip("0123456789")[:12]


def make(name, *options, entries=40, seed=3):
    """A made-up cache. Caches that were made before with the same options are copied, which takes a tenth of the time."""
    return copy(made_up(options, entries, seed), name)


@functools.cache
def made_up(options, entries, seed):
    """The folder of a made-up cache that is never changed; the first test process that needs it makes it."""
    words = ["--entries", str(entries), "--seed", str(seed), *options]
    folder = os.path.join(os.environ[MADE_UP], hashlib.sha256(repr(words).encode()).hexdigest()[:16])
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(folder):
            subprocess.run([maker, *words, folder + ".new"], check=True, capture_output=True)
            os.rename(folder + ".new", folder)
    return folder


def copy(folder, name):
    """A copy of a folder, in place of what has its name."""
    shutil.rmtree(path(name), ignore_errors=True)
    shutil.copytree(folder, path(name), symlinks=True)
    if after_making and folder.startswith(os.environ[MADE_UP]):
        after_making(path(name))
    return path(name)


def export(cache, name, *options, status=0):
    run("export", "-c", cache, "-o", path(name), "--force", *options, status=status)
    return path(name)


def read(file):
    with open(file, "rb") as opened:
        return opened.read()


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data)
    return path(name)


def tree(folder):
    """All files of a folder, with what matters of them."""
    result = {}
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            file = os.path.join(parent, name)
            status = os.lstat(file)
            data = read(file) if stat.S_ISREG(status.st_mode) else b""
            result[os.path.relpath(file, folder)] = (status.st_mode, status.st_size, hashlib.sha256(data).hexdigest())
    return result


def own(name):
    """The name, made another one on each thread."""
    return f"{threading.get_ident()}-{name}"


def in_parallel(check, items):
    """What a function returns of each item: as many are worked on at once as there are processors."""
    items = iter(items)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        # Of the items, which may be large, there are never many.
        while some := list(itertools.islice(items, 16)):
            yield from pool.map(check, some)


# A process counts the memory that its parent has when it starts for its own, so a small process starts what is measured.
STARTER = """
import json, os, subprocess, sys
for line in sys.stdin:
    order = json.loads(line)
    with open(order.pop("output"), "wb") as output, open(order.pop("errors"), "wb") as errors:
        process = subprocess.Popen(**order, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    print(json.dumps([process.returncode, usage.ru_maxrss]), flush=True)
"""
starters = threading.local()


def peak_of(words, output=os.devnull):
    """Runs the program, and returns its exit status, its standard error, and the most memory that it took in bytes
    (0 under a sanitizer)."""
    if not hasattr(starters, "mine"):
        starters.mine = subprocess.Popen([sys.executable, "-ISc", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    order = {"args": [tool, *words], "cwd": os.getcwd(), "env": dict(os.environ), "output": output,
             "errors": path(own("errors"))}
    print(json.dumps(order), file=starters.mine.stdin, flush=True)
    status, kibibytes = json.loads(starters.mine.stdout.readline())
    # In KiB, but on macOS.
    peak = kibibytes * (1 if sys.platform == "darwin" else 1024)
    # A sanitizer takes memory of its own, and what the program takes is not known.
    return status, read(path(own("errors"))), 0 if "SANITIZED" in os.environ else peak
