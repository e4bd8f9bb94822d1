"""WebKit caches beside others: a process that works with the cache, links from elsewhere, records that change in place."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest

from reading.test_watch import watching
import scratch
from scratch import path, run, tree
from webkit_records import Cache

NOW = 1_795_000_000


def entries(cache):
    return {json.loads(line)["url"] for line in run("list", cache.folder, "--format", "ndjson").stdout.splitlines()}


def old(cache):
    """Makes all bodies old enough to be removed with their entries."""
    for folder, _, names in os.walk(cache.root):
        for name in names:
            os.utime(os.path.join(folder, name), (NOW, NOW))


# What WebKit's network process does with its cache folder: WebKitGTK watches it, and maps long bodies.
WORKER = """
import ctypes, mmap, os, sys
libc = ctypes.CDLL(None)
libc.prctl(15, sys.argv[1].encode(), 0, 0, 0)
if sys.argv[2] == "watch":
    libc.inotify_add_watch(libc.inotify_init(), sys.argv[3].encode(), 0xfce)
if sys.argv[2] in ("map", "open"):
    file = os.open(sys.argv[3], os.O_RDONLY)
    if sys.argv[2] == "map":
        data = mmap.mmap(file, 0, prot=mmap.PROT_READ)
        os.close(file)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("name, use, refused", [
    ("WebKitNetworkPr", "watch", True), ("WPENetworkProces", "map", True), ("WebKitNetworkPr", "open", True), ("WebKitNetworkPr", "nothing", False),
    ("nautilus", "watch", False)])
def test_overwriting_beside_webkit(name, use, refused):
    """Files are overwritten only if no WebKit works with the cache: it would show the zeros. Removing does not depend on that."""
    cache = Cache(path("cache"))
    body = os.urandom(20_000)
    record = cache.store("http://a.example/1", body)
    cache.store("http://a.example/2", b"short SECRET")
    old(cache)
    before = tree(cache.folder)
    worker = subprocess.Popen([sys.executable, "-c", WORKER, name, use, cache.folder if use == "watch" else record + "-blob"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert worker.stdout.readline() == b"ready\n"
        result = run("purge", "-c", cache.folder, "--all", "--secure", "--yes", "--format", "json", status=75 if refused else 0)
        if refused:
            assert b"WebKit has it open: process %d" % worker.pid in result.stderr and tree(cache.folder) == before
            run("purge", "-c", cache.folder, "http://a.example/1", "--yes")
            assert entries(cache) == {"http://a.example/2"}
    finally:
        worker.communicate()


def test_overwriting():
    """What is removed is overwritten when its last name is gone; a body that another entry has, is not."""
    cache = Cache(path("cache"))
    unique, shared = os.urandom(20_000), os.urandom(30_000)
    records = [cache.store("http://a.example/1", unique), cache.store("http://a.example/2", shared), cache.store("http://a.example/3", shared)]
    small = cache.store("http://a.example/4", b"x" * 100)
    old(cache)
    held = {file: open(file, "rb") for file in (records[0] + "-blob", records[1] + "-blob", records[0], small)}
    sizes = {file: os.path.getsize(file) for file in held}
    receipt = json.loads(run("purge", "-c", cache.folder, *(f"http://a.example/{number}" for number in (1, 2, 4)), "--secure", "--yes", "--format", "json", status=None).stdout)
    assert receipt["removed"]["entries"] == 3
    for file, reader in held.items():
        expected = shared if file == records[1] + "-blob" else bytes(sizes[file])
        assert reader.read() == expected, file
    assert entries(cache) == {"http://a.example/3"} and run("body", "-c", cache.folder, "http://a.example/3", "--force").stdout == shared
    assert not run("check", "--full", cache.folder, status=None).returncode


@pytest.mark.parametrize("name", ["record", "body", "blob"])
def test_links_from_elsewhere(name):
    """A file with a name outside of the cache may be somebody else's: its entry is kept, and the file stays as it is."""
    cache = Cache(path("cache"))
    record = cache.store("http://a.example/1", os.urandom(20_000))
    cache.store("http://a.example/2", os.urandom(20_000))
    [blob] = [file for file in (os.path.join(cache.root, "Blobs", name) for name in os.listdir(os.path.join(cache.root, "Blobs"))) if os.path.samefile(file, record + "-blob")]
    old(cache)
    os.link({"record": record, "body": record + "-blob", "blob": blob}[name], path("elsewhere"))
    with open(path("elsewhere"), "rb") as file:
        data = file.read()
    for words in [], ["--secure"]:
        result = run("purge", "-c", cache.folder, "--all", "--yes", *words, status=None)
        assert result.returncode == 3 and b"have links elsewhere: 1" in result.stderr, result
        assert entries(cache) == {"http://a.example/1"}
    with open(path("elsewhere"), "rb") as file:
        assert file.read() == data


def test_copied_without_links():
    """In a copy, each name can be a file of its own: nothing is linked, and all can be removed."""
    cache = Cache(path("cache"))
    for number in range(3):
        cache.store(f"http://a.example/{number}", os.urandom(20_000))
    old(cache)
    shutil.copytree(cache.folder, path("copy"))
    run("purge", "-c", path("copy"), "--all", "--yes")
    assert not run("list", path("copy"), "--format", "ndjson").stdout


def test_watching():
    """New, changed and removed records are seen at once, though a changed one is written into its file; a read one is none."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/old", b"12345")
    with watching(cache.folder) as watch:
        assert watch.wait_for("begin")["entries"] == 1
        record = cache.store("http://a.example/1", b"1234567")
        added = watch.wait_for("added")
        assert (added["url"], added["size"], added["status"]) == ("http://a.example/1", 7, 200)
        time.sleep(0.2)
        os.utime(record)
        cache.store("http://a.example/1", b"123456789", time=NOW + 60)
        replaced = watch.wait_for("replaced")
        assert replaced["size"] == 9 and replaced["previous"] == {"id": added["id"], "size": 7}
        cache.store("http://b.example/1", b"12", partition="b.example")
        assert watch.wait_for("added")["url"] == "http://b.example/1"
        cache.store("http://b.example/1", b"1234", partition="b.example", time=NOW + 60)
        assert watch.wait_for("replaced")["size"] == 4
        os.remove(cache.path("http://a.example/old"))
        assert watch.wait_for("removed")["url"] == "http://a.example/old"
        watch.end()
        end = watch.events[-1]
        assert (end["added"], end["replaced"], end["removed"], end["not_seen"]) == (2, 2, 1, 0)


def bodies(folder, content):
    """The files below a folder that have these bytes."""
    found = []
    for parent, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(parent, name)
            if os.path.isfile(file) and not os.path.islink(file):
                with open(file, "rb") as data:
                    if content in data.read():
                        found.append(os.path.relpath(file, folder))
    return found


def test_overwriting_a_copy_without_links():
    """A cache that was copied without its hard links has each body twice: both are removed, and looked for."""
    cache = Cache(path("cache"))
    for number in range(3):
        cache.store(f"http://a.example/{number}", b"secret-body-%d " % number * 2_000)
    old(cache)
    copy = path("copy")
    shutil.copytree(cache.folder, copy)
    result = run("purge", "-c", copy, "http://a.example/1", "--yes", "--secure", "--json", status=None)
    assert result.returncode == 0 and json.loads(result.stdout)["removed"]["entries"] == 1, result
    assert not bodies(copy, b"secret-body-1 ") and len(bodies(copy, b"secret-body-2 ")) == 2
    # A body that belongs to no record any more is found.
    with open(os.path.join(copy, "Version 17/Blobs", "A" * 40), "wb") as file:
        file.write(b"secret-body-2 " * 2_000)
    result = run("purge", "-c", copy, "http://a.example/2", "--yes", "--secure", "--json", status=None)
    assert result.returncode == 3 and json.loads(result.stdout)["secure"]["traces"] > 0, result


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_overwriting_beside_a_strange_body(kind):
    """What is in place of a body does not stop the rest from being removed and overwritten."""
    cache = Cache(path("cache"))
    records = [cache.store(f"http://a.example/{number}", b"secret-body-%d " % number * 2_000) for number in range(4)]
    victim = scratch.write("victim", b"mine")
    blob = records[1] + "-blob"
    os.remove(blob)
    {"link": lambda: os.symlink(victim, blob), "pipe": lambda: os.mkfifo(blob), "folder": lambda: os.mkdir(blob)}[kind]()
    old(cache)
    result = run("purge", "-c", cache.folder, "--all", "--yes", "--secure", "--json", status=None)
    # A folder has more names than one, so its record stays.
    assert result.returncode in (0, 3) and json.loads(result.stdout)["removed"]["entries"] == 4 - (kind == "folder"), result
    assert [os.path.exists(record) for record in records] == [False, kind == "folder", False, False]
    for number in (0, 2, 3):
        assert not bodies(cache.folder, b"secret-body-%d " % number)
    with open(victim, "rb") as file:
        assert file.read() == b"mine"
