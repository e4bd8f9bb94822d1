"""WebKit caches when something goes wrong half way, and when files are shared: what is said to be overwritten, freed or restored is."""

import json
import os
import subprocess

import pytest

import scratch
import strace
from products import tool
from scratch import path, run
from webkit_records import Cache


def filled(shared=False):
    """A cache with records that have their body inside, and as a file, which some share."""
    cache = Cache(path("cache"))
    for number in range(6):
        body = b"shared " * 2_000 if shared and number % 2 else os.urandom(9_000) if number % 2 else b"short %d " % number * 20
        cache.store(f"http://a.example/{number}", body)
    for folder, _, names in os.walk(cache.root):
        for name in names:
            os.utime(os.path.join(folder, name), (1_795_000_000,) * 2)
    return cache


def held(cache):
    """All files that a removal takes, open; the same file once."""
    files = {}
    for folder, _, names in os.walk(cache.root):
        for name in names:
            file = os.path.join(folder, name)
            if name != "salt":
                files.setdefault(os.stat(file).st_ino, open(file, "rb"))
    return list(files.values())


def is_overwritten(file):
    """Whether a file that has no name any more has only zeros; `None` if it has a name."""
    if os.fstat(file.fileno()).st_nlink:
        return None
    file.seek(0)
    return set(file.read()) <= {0}


@strace.needed
@pytest.mark.parametrize("turn", [1, 2, 4, 7])
def test_error_while_overwriting(turn):
    """A file that cannot be removed ends the command; whatever was removed until then is overwritten."""
    cache = filled()
    files = held(cache)
    result = subprocess.run([*strace.fault("unlinkat", "error=EIO", turn), tool, "purge", "-c", cache.folder, "--all", "--secure", "--yes"],
                            capture_output=True, text=True)
    assert result.returncode == 74 and "database" not in result.stdout + result.stderr, result
    states = [is_overwritten(file) for file in files]
    assert False not in states and None in states, (states, result)


@strace.needed
@pytest.mark.parametrize("turn", [2, 3])
def test_killed_while_overwriting(turn):
    """What a killed command has left to remove is overwritten by the next one, which finishes its work."""
    cache = filled()
    files = held(cache)
    words = ["purge", "-c", cache.folder, "http://a.example/1", "--secure", "--yes"]
    subprocess.run([*strace.fault("unlinkat", "signal=SIGKILL", turn), tool, *words], capture_output=True)
    before = [file for file in files if os.fstat(file.fileno()).st_nlink]
    run("purge", "-c", cache.folder, "http://a.example/0", "--secure", "--yes", status=None)
    gone = [file for file in before if not os.fstat(file.fileno()).st_nlink]
    assert gone and all(is_overwritten(file) for file in gone)


def test_listing_is_overwritten():
    cache = filled()
    with open(os.path.join(cache.root, "dump.json"), "w") as file:
        file.write('{"url":"http://a.example/1?token=secret"}' * 100)
    files = held(cache)
    run("purge", "-c", cache.folder, "--all", "--secure", "--yes")
    assert all(is_overwritten(file) for file in files) and not os.path.exists(os.path.join(cache.root, "dump.json"))


def test_one_damaged_body_in_a_backup():
    """It is skipped, and all others are restored."""
    cache = filled()
    record = cache.path("http://a.example/2")
    with open(record, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"X")
    run("purge", "-c", cache.folder, "--all", "--yes", "--backup", path("backup.tar"))
    run("import", path("backup.tar"), "-c", cache.folder, "--yes", status=3)
    assert sorted(run("list", cache.folder, "--format", "urls").stdout.split()) == [f"http://a.example/{number}".encode() for number in (0, 1, 3, 4, 5)]
    assert run("check", "--full", cache.folder).stdout.endswith(b"0 errors, 0 warnings, 0 notes\n")
    assert not [name for name in os.listdir(cache.root) if name.startswith("urlcache-admin")]


def test_room_of_shared_bodies():
    """A body that several entries have is freed with the last of them: the dry run, the receipt and the disk agree."""
    cache = filled(shared=True)
    sizes = {url: os.path.getsize(cache.path(url)) for url in (f"http://a.example/{number}" for number in range(6))}
    body = len(b"shared " * 2_000)

    def footprint():
        return json.loads(run("usage", cache.folder, "--format", "json").stdout)["footprint"]["total_bytes"]

    def planned(*words):
        output = json.loads(run("purge", "-c", cache.folder, *words, "--dry-run", "--format", "json").stdout)
        return output["footprint_before"] - output["footprint_after"]

    urls = sorted(sizes)
    # Blocks of 4,096 bytes count for a body that several have.
    assert planned(urls[1]) == sizes[urls[1]]
    before = footprint()
    run("purge", "-c", cache.folder, urls[1], "--yes")
    assert before - footprint() == sizes[urls[1]]
    rest = planned("--all")
    assert 0 <= rest - footprint() < 4_096 and footprint() > body
    run("purge", "-c", cache.folder, "--all", "--yes")
    assert footprint() == 0


def test_same_name_in_another_partition():
    """A restored record takes the place of the one that WebKit finds, and not of a stray file with its name."""
    cache = Cache(path("cache"))
    url = "http://a.example/1"
    cache.store(url, b"new", time=1_795_000_100)
    run("export", cache.folder, "-o", path("backup.tar"))
    cache.store(url, b"old", time=1_795_000_000)
    stray = os.path.join(cache.root, "Records", "0" * 40, "Resource", os.path.basename(cache.path(url)))
    os.makedirs(os.path.dirname(stray))
    with open(stray, "wb") as file:
        file.write(scratch.read(cache.path(url)))
    run("import", path("backup.tar"), "-c", cache.folder, "--on-conflict", "replace", "--yes")
    assert scratch.read(cache.path(url)).endswith(b"new") and scratch.read(stray).endswith(b"old")


def test_lists_are_in_no_backup():
    cache = filled()
    cache.store_list("http://a.example/1")
    result = run("purge", "-c", cache.folder, "--all", "--yes", "--backup", path("backup.tar"))
    assert b"backed up 6 entries" in result.stderr and b"1 list of what pages loaded will be removed without a backup" in result.stderr, result


def test_endless_bodies():
    """A sparse file of 1 TiB costs its author nothing, and us no time."""
    cache = filled()
    record = cache.store("http://a.example/endless", b"", sizes={"body_size": 1 << 40})
    os.truncate(record, os.path.getsize(record) + (1 << 40))
    for words in ["check", "--full"], ["audit"], ["list", "--contains", "x"], ["grep", "x"], ["report", "-o", path("report.html")]:
        run(words[0], "-c", cache.folder, *words[1:], status=None, timeout=20)


def test_many_names_in_vary():
    """They are not compared one by one."""
    cache = Cache(path("cache"))
    names = [f"x-{number}" for number in range(20_000)]
    cache.store("http://a.example/1", fields=[("Vary", ", ".join(names)), ("Cache-Control", "max-age=60")], vary=[(name, "value") for name in names])
    for words in ["audit"], ["explain", "--all"], ["revalidate", "--all", "--dry-run"]:
        run(words[0], "-c", cache.folder, *words[1:], status=None, timeout=20)
