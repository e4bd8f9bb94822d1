"""Clears keys of user info, and compares every other byte of the cache with what it was."""

import datetime
import json
import os
import plistlib
import shutil
import sqlite3
import subprocess
import time

import pytest

import origin
from products import maker, tool
from scratch import make, path, run, tree

KEY = "CustomURLCacheExpiration"
OLD = datetime.datetime(2025, 1, 1)
INFOS = [{KEY: OLD, "other": [1, {"a": b"x"}]}, {KEY: OLD}, {"other": KEY}, None, {KEY.lower(): OLD}, {KEY: 5, "Cached Date": OLD}]


def rows(cache):
    with sqlite3.connect(f"file:{cache}/Cache.db?mode=ro", uri=True) as database:
        return [database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in origin.TABLES]


def made(name, infos=INFOS, times=1):
    origin.make_apple(maker, path(name), [(f"https://a.example/{number}", 200, {}, b"body", {}, info) for number, info in enumerate(infos * times, 1)])
    return path(name)


def expected(before, ids, *keys):
    """The rows without some keys in the user info of some entries."""
    responses, blobs, bodies = before
    changed = []
    for id, *lists, info in blobs:
        if id in ids:
            rest = {key: value for key, value in plistlib.loads(info).items() if key not in keys}
            info = rest or None
        changed.append((id, *lists, info))
    return [responses, changed, bodies]


def same(before, after, ids, *keys):
    wanted = expected(before, ids, *keys)
    assert after[0] == wanted[0] and after[2] == wanted[2]
    for new, old in zip(after[1], wanted[1], strict=True):
        assert new[:-1] == old[:-1], new[0]
        assert (new[-1] and plistlib.loads(new[-1]) if new[0] in ids else new[-1]) == old[-1], new[0]


def test_keys():
    """Only the given keys of the selected entries are cleared; a dry run changes nothing."""
    cache = made("cache")
    before, files = rows(cache), tree(cache)
    result = run("expire", "-c", cache, "--all", "--clear-user-info", KEY, "--dry-run")
    assert result.stdout.decode() == (f"Would clear '{KEY}' in 3 of 6 selected entries\n  https://a.example/1\n  https://a.example/2\n"
                                      "  https://a.example/6\n"), result
    assert tree(cache) == files
    result = run("expire", "-c", cache, "https://a.example/1", "https://a.example/3", "--clear-user-info", KEY, "--yes")
    assert result.stdout.decode() == f"Cleared '{KEY}' in 1 of 2 selected entries\n  https://a.example/1\n", result
    same(before, rows(cache), {1}, KEY)
    found = json.loads(run("expire", "-c", cache, "--all", "--clear-user-info", KEY, "--clear-user-info", "Cached Date", "--yes", "--format", "json").stdout)
    assert (found["selected"], found["skipped"], [entry["id"] for entry in found["cleared"]]) == (6, 0, [2, 6]), found
    same(before, rows(cache), {1, 2, 6}, KEY, "Cached Date")
    assert run("expire", "-c", cache, "--all", "--clear-user-info", KEY, "--yes").stdout == f"Cleared '{KEY}' in 0 of 6 selected entries\n".encode()
    run("check", "-c", cache, status=0)


def test_many():
    """All of several batches are cleared and listed."""
    many = made("many", times=800)
    before = rows(many)
    found = json.loads(run("expire", "-c", many, "--all", "--clear-user-info", KEY, "--yes", "--format", "json").stdout)
    ids = [id for id, *_, info in before[1] if info and KEY in plistlib.loads(info)]
    assert len(ids) == 2400 and found["selected"] == 4800, len(ids)
    assert found["cleared"] == [{"id": id, "url": f"https://a.example/{id}"} for id in ids]
    same(before, rows(many), set(ids), KEY)


def test_stamps():
    """An entry whose stamp is cleared is no longer stale by that stamp."""
    stamped = made("stamped", [{KEY: OLD}])
    assert json.loads(run("list", "-c", stamped, "--stale", "--format", "json").stdout)["entries"]
    run("expire", "-c", stamped, "--stale", "--clear-user-info", KEY, "--yes")
    assert not json.loads(run("list", "-c", stamped, "--stale", "--format", "json").stdout)["entries"]


@pytest.mark.parametrize(("words", "status", "message"), [
    (["--all"], 64, "error: Missing expected argument '--clear-user-info"),
    (["--clear-user-info", KEY, "--yes"], 64, "error: no entries selected\n"),
    (["--all", "--clear-user-info", ""], 64, "error: '--clear-user-info' needs a key."),
    (["--all", "--clear-user-info", "No Such Key"], 0, ""),
    (["https://a.example/none", "--clear-user-info", KEY], 1, "error: no entry has the URL 'https://a.example/none'\n")],
    ids=["no key", "no entry", "empty key", "absent key", "absent entry"])
def test_refusals(words, status, message):
    """A command without a key or without entries is refused."""
    cache = made("cache")
    before = tree(cache)
    result = run("expire", "-c", cache, *words, status=status)
    assert result.stderr.decode().startswith(message), result
    assert tree(cache) == before


def test_question():
    """Without '--yes' and without a terminal, nothing is cleared."""
    before = tree(made("asked"))
    result = run("expire", "-c", path("asked"), "--all", "--clear-user-info", KEY, status=64)
    assert result.stderr.startswith(b"error: cannot ask for confirmation: standard input is not a terminal\nhint: "), result
    assert tree(path("asked")) == before


def test_foundation():
    """A Foundation cache is refused, and is not changed."""
    folder = make("folder", "--format", "foundation", entries=3)
    before = tree(folder)
    result = run("expire", "-c", folder, "--all", "--clear-user-info", KEY, "--yes", status=64)
    assert result.stderr.startswith(b"error: 'expire' works on Apple caches only, and this is a Foundation cache\nhint: "), result
    assert tree(folder) == before


def test_hostile():
    """User info that cannot be decoded stays as it is, and a note counts it."""
    hostile = made("hostile", [{KEY: OLD}] * 4)
    with sqlite3.connect(os.path.join(hostile, "Cache.db")) as database:
        for id, value in [(1, b"bplist00" + b"x" * 40), (2, b""), (3, f"text {KEY}")]:
            database.execute("UPDATE cfurl_cache_blob_data SET user_info = ? WHERE entry_ID = ?", (value, id))
    database.close()
    before = rows(hostile)
    result = run("expire", "-c", hostile, "--all", "--clear-user-info", KEY, "--yes", status=3)
    assert result.stderr == b"note: entries skipped because their user info cannot be decoded: 3\n", result
    same(before, rows(hostile), {4}, KEY)


def test_beside_an_app():
    """An entry that the app stores again meanwhile stays as it is."""
    # On a busy machine the program may come too late to see the old entry.
    for seconds in [1, 4, 16, 64]:
        shutil.rmtree(path("beside"), ignore_errors=True)
        beside = made("beside", times=100)
        application = sqlite3.connect(os.path.join(beside, "Cache.db"), isolation_level=None)
        application.execute("PRAGMA journal_mode = WAL")
        application.execute("BEGIN IMMEDIATE")
        application.execute("UPDATE cfurl_cache_blob_data SET user_info = (SELECT user_info FROM cfurl_cache_blob_data WHERE entry_ID = 3) WHERE entry_ID = 1")
        process = subprocess.Popen([tool, "expire", "-c", beside, "--all", "--clear-user-info", KEY, "--yes", "--wait", "1h", "--no-verify"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(seconds)
        assert process.poll() is None
        application.execute("COMMIT")
        application.close()
        output, errors = process.communicate(timeout=120)
        if process.returncode == 3:
            break
    assert process.returncode == 3 and errors == b"note: entries skipped because they changed meanwhile or the command was stopped: 1\n", (process.returncode, errors)
    assert output.startswith(f"Cleared '{KEY}' in 299 of 600 selected entries\n".encode()) and output.endswith(b"  \xe2\x80\xa6 and 289 more\n"), output
    assert run("list", "-c", beside, "--user-info", KEY, "--count").stdout == b"0\n"
