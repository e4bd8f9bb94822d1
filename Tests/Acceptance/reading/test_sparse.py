"""Runs every command on caches that have a sparse file of 2^63-1 bytes, which takes up no room.

The file is the body of an entry, an orphan, or an entry of a Foundation cache.
"""

import itertools
import os
import shutil
import sqlite3
import subprocess
import tempfile

import pytest

import scratch
from products import tool

LONGEST = (1 << 63) - 1


@pytest.fixture
def large(monkeypatch):
    """A folder on a file system that holds such a file, as tmpfs, xfs and btrfs do and ext4 does not."""
    with tempfile.TemporaryDirectory(prefix="urlcache-admin-", dir="/dev/shm" if os.path.isdir("/dev/shm") else scratch.root) as folder:
        with open(os.path.join(folder, "probe"), "wb") as file:
            try:
                file.truncate(LONGEST)
            except OSError:
                pytest.skip("a file system for files of 2^63-1 bytes: not here")
        os.remove(os.path.join(folder, "probe"))
        # There a private copy of a cache is made.
        os.mkdir(os.path.join(folder, "temporary"))
        monkeypatch.setenv("TMPDIR", os.path.join(folder, "temporary"))
        yield folder


def lengthen(file, time=None):
    open(file, "ab").close()
    os.truncate(file, LONGEST)
    if time:
        os.utime(file, (time, time))


def with_body(folder):
    """A cache with such a body of an entry."""
    cache = shutil.copytree(scratch.make("body"), os.path.join(folder, "body"))
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    [(name,), *_] = connection.execute(
        "SELECT receiver_data FROM cfurl_cache_receiver_data WHERE isDataOnFS > 0 ORDER BY entry_ID").fetchall()
    connection.close()
    lengthen(os.path.join(cache, "fsCachedData", name.decode() if isinstance(name, bytes) else name))
    return cache


def with_orphan(folder):
    """A cache with such a body file that no entry names."""
    cache = shutil.copytree(scratch.make("orphan"), os.path.join(folder, "orphan"))
    lengthen(os.path.join(cache, "fsCachedData", "0000000A-0000-0000-0000-000000000001"), 1_700_000_000)
    return cache


def foundation(folder):
    """A Foundation cache with such an entry."""
    cache = shutil.copytree(scratch.make("foundation", "--format", "foundation"), os.path.join(folder, "foundation"))
    lengthen(os.path.join(cache, sorted(os.listdir(cache))[7]))
    return cache


def commands(cache):
    """What reads the sizes of all files, or changes a copy of the cache; what reads such a body to its end would never end."""
    yield from (["list", "-c", cache, "--format", form] for form in ("table", "json", "ndjson", "csv", "tsv", "urls"))
    yield from (["list", "-c", cache, "--sort", order] for order in ("size", "-size"))
    yield ["list", "-c", cache, "--larger-than", "1G"]
    yield from (["usage", "-c", cache, "--format", form] for form in ("table", "json", "csv", "tsv"))
    yield from (["usage", "-c", cache, "--by", key] for key in ("host", "mime", "status"))
    yield ["usage", "--all-under", os.path.dirname(cache)]
    yield ["explain", "-c", cache, "--larger-than", "1G"]
    yield ["discover", os.path.dirname(cache)]
    yield from (["report", "-c", cache, "--format", form, "-o", "-"] for form in ("html", "markdown"))
    yield ["metrics", "-c", cache]
    yield ["rules", "test", "-c", cache]
    yield ["check", "-c", cache]
    yield ["check", "-c", cache, "--full", "--format", "json"]
    yield ["check", "-c", cache, "--repair", "-n"]
    yield ["compact", "-c", cache]
    for limits in (["--max-entries", "10"], ["--max-size", "1M"], ["--max-size", "0"],
                   ["--max-size", "8000000G"], ["--max-entry-size", "1M"], ["--min-free", "99%"], ["--max-age", "1s"],
                   ["--max-entries", "10", "--order", "largest", "--low", "50%"]):
        for more in (["-n", "--format", "json"], ["--plan", os.path.join(os.path.dirname(cache), "plan.json")], ["--yes"]):
            yield ["enforce", "-c", cache, *limits, *more]
    for more in (["-n"], ["-n", "--format", "json"], ["--plan", os.path.join(os.path.dirname(cache), "plan.json")], ["--yes"]):
        yield ["purge", "-c", cache, "--all", *more]
    yield ["check", "-c", cache, "--repair", "--yes"]


def must_answer(words):
    """Runs a command, which may neither fail nor trap."""
    result = scratch.run(*words, status=None, timeout=60)
    assert result.returncode in (0, 1, 3), (words, result.returncode, result.stderr[:2_000])
    return result


def copy_sparse(origin, copy):
    """Copies a cache, of sparse files only their lengths."""
    for parent, folders, names in os.walk(origin):
        target = os.path.join(copy, os.path.relpath(parent, origin))
        os.makedirs(target, exist_ok=True)
        for name in names:
            source, made = os.path.join(parent, name), os.path.join(target, name)
            if os.path.getsize(source) < LONGEST:
                shutil.copy2(source, made)
            else:
                lengthen(made)
                shutil.copystat(source, made)


@pytest.mark.parametrize(("make", "half"), [(with_body, 0), (with_orphan, 1), (foundation, 0)], ids=["body", "orphan", "Foundation"])
def test_every_command(large, make, half, thorough):
    """No command fails, traps or reads such a file to its end."""
    origin, copy, plan = make(large), os.path.join(large, "copy"), os.path.join(large, "plan.json")
    # By default each command meets a body or an orphan, so that they take half of the time.
    for words in itertools.islice(commands(copy), 0 if thorough else half, None, 1 if thorough else 2):
        shutil.rmtree(copy, ignore_errors=True)
        copy_sparse(origin, copy)
        result = must_answer(words)
        if "--plan" in words and result.returncode in (0, 1) and os.path.exists(plan):
            applied = scratch.run("apply", plan, "-c", copy, "--yes", status=None, timeout=60)
            assert applied.returncode in (0, 3), (words, applied)
            os.remove(plan)


def test_many_bodies(large, thorough):
    """A report adds up the lengths of more such bodies than it shows."""
    cache = shutil.copytree(scratch.make("many", entries=1500, seed=7), os.path.join(large, "many"))
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    ids = [row[0] for row in connection.execute("SELECT entry_ID FROM cfurl_cache_receiver_data")]
    connection.execute("BEGIN")
    for number in ids:
        name = "0000000B-0000-0000-0000-%012d" % number
        connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 1, receiver_data = ? WHERE entry_ID = ?",
                           (name.encode(), number))
        lengthen(os.path.join(cache, "fsCachedData", name))
    connection.execute("COMMIT")
    connection.close()
    # By default each verb is tried once.
    tried = set()
    for words in commands(cache):
        if not {"--yes", "--plan", "compact"} & set(words) and (thorough or words[0] not in tried):
            tried.add(words[0])
            must_answer(words)
