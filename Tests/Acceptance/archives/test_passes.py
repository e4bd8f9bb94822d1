"""How often commands read an archive to find entries in it."""

import os
import re
import resource
import sqlite3
import subprocess

import pytest

import strace
from products import tool
from scratch import make, path, run

ENTRIES = 300


def seconds(*words):
    """The processor time of a command that answers with 0 or 1."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run([tool, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert result.returncode in (0, 1), result.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture
def archives():
    """Two archives of the same URLs with other bodies, and a file with their URLs."""
    make("one", "--no-large-bodies", entries=ENTRIES, seed=1)
    make("two", "--no-large-bodies", entries=ENTRIES, seed=1)
    with sqlite3.connect(path("two/Cache.db")) as database:
        database.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = receiver_data || x'0A' WHERE isDataOnFS = 0")
    database.close()
    for name in ("one", "two"):
        run("export", path(name), "-o", path(f"{name}.tar"))
    return path("one.tar"), path("two.tar")


def test_one_pass(archives):
    """Finding each entry from the beginning would take as long as a hundred lists of this archive."""
    one, two = archives
    ids = [f"--id={number}" for number in range(1, ENTRIES + 1)]
    one_list = seconds("list", one)
    for words in (("show", one, "--glob", "*"), ("show", one, *ids), ("show", one, "--glob", "*", "--curl"),
                  ("explain", one, *ids), ("grep", "no such text", one, *ids), ("diff", one, two, "--detail"),
                  ("diff", one, two, "--bodies"), ("diff", one, two, *ids)):
        assert seconds(*words) < 25 * one_list, words


@pytest.mark.parametrize("words", [["--glob", "*"], ["--id", "7", "--id", "3", "--id", "299"], ["--glob", "*", "--curl"]])
def test_same_as_cache(archives, words):
    """An archive shows what the cache shows, whose entries are found one by one."""
    shown = [run("show", name, *words).stdout for name in (path("one"), path("one.tar"))]
    assert shown[0] == shown[1] and shown[0].count(b"https://") >= 3


def imported(before, archive, id):
    """The result of an import of one entry into a new cache, and the path of the cache."""
    cache = path(f"new-{id}")
    words = [*before, tool, "import", archive, "--id", str(id), "--create", "apple", "-c", cache]
    return subprocess.run(words, capture_output=True), cache


@strace.needed
def test_import_of_an_early_entry(archives):
    """The plan reads the whole archive, and the import again only up to the entry."""
    one, _ = archives
    size = os.path.getsize(one)
    for id, most in [(1, 1.2), (ENTRIES // 2, 1.7), (ENTRIES, 2.2)]:
        trace = path("trace")
        result, cache = imported(["strace", "-f", "-qq", "-P", one, "-o", trace, "-e", "trace=pread64"], one, id)
        assert result.returncode == 0, result.stderr
        with open(trace) as file:
            read = sum(int(match[1]) for match in re.finditer(r" = (\d+)$", file.read(), re.MULTILINE))
        assert (most - 0.6) * size < read < most * size, (id, read / size)
        listed = [run("list", name, "--id", str(id), "--format", "csv", "--columns", "url,size").stdout for name in (cache, one)]
        assert listed[0] == listed[1]


def test_archive_that_changes(archives):
    """A second pass that ends early finds out that the archive has changed, before anything is in the new cache."""
    one, _ = archives
    words = [tool, "import", one, "--id", "1", "--create", "apple", "-c", path("new")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None:
            os.utime(one)
        assert process.returncode == 75, process.returncode
        assert b"changed while it was read: another process wrote to it" in process.stderr.read()
    assert not os.path.exists(path("new"))
