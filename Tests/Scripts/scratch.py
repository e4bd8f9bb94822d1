"""A folder that goes when a script ends, and what the checks of archives do in it: they make caches, and run the program."""

import atexit, concurrent.futures, hashlib, itertools, os, shutil, stat, subprocess, sys, tempfile, threading

tool, maker = map(os.path.abspath, sys.argv[1:3])
root = tempfile.mkdtemp()
atexit.register(shutil.rmtree, root, ignore_errors=True)
os.environ["XDG_STATE_HOME"] = os.path.join(root, "state")


def path(name):
    return os.path.join(root, name)


def run(*words, status=0, **options):
    result = subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL, **options)
    assert status is None or result.returncode == status, (words, status, result)
    return result


def make(name, *options, entries=40, seed=3):
    subprocess.run([maker, "--entries", str(entries), "--seed", str(seed), *options, path(name)], check=True, capture_output=True)
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


def peak_of(words):
    """Runs the program, and returns how it ended, what it said, and the most memory it took in bytes."""
    with open(path(own("errors")), "wb") as errors:
        process = subprocess.Popen([tool, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), read(path(own("errors"))), usage.ru_maxrss * 1024
