"""Files of a cache that are also files of somebody else: with hard links, or of another owner than their folder."""

import os
import sqlite3

import pytest

import scratch
import worlds
from scratch import path
from worlds import run

CHANGING = [["purge", "--all"], ["enforce", "--max-entries", "1"], ["compact"]]


def words_of(verb, cache):
    return [verb[0], "-c", cache, *verb[1:], *([] if verb[0] == "compact" else ["--yes"])]


@pytest.fixture
def cache():
    return worlds.apple(path("cache"), worlds.entries(12))


@pytest.mark.parametrize("verb", CHANGING, ids=lambda verb: verb[0])
@pytest.mark.parametrize("name", ["Cache.db", "Cache.db-wal", "Cache.db-journal"])
def test_refused(cache, name, verb):
    """A database, log or journal with another name is not changed, nor is what has the other name; it can be read."""
    victim = path("victim")
    if name == "Cache.db":
        os.link(os.path.join(cache, name), victim)
    else:
        scratch.write("victim", b"")
        os.link(victim, os.path.join(cache, name))
    before = worlds.canary(scratch.root)
    result = run(*words_of(verb, cache), status=65)
    assert "has hard links" in result.stderr and not result.stdout, result
    assert worlds.changes(before, worlds.canary(scratch.root)) == worlds.changes(before, before)
    # A dry run promises nothing else.
    if verb[0] != "compact":
        run(*words_of(verb, cache)[:-1], "--dry-run", status=65)
    result = run("list", "-c", cache, status=0)
    assert "note: " in result.stderr and "has hard links" in result.stderr, result


@pytest.mark.needs_root
@pytest.mark.parametrize("name", ["Cache.db", "Cache.db-wal"])
def test_other_owner(cache, name):
    """A database or log that belongs to another user than its folder is not changed."""
    worlds.give(cache)
    file = os.path.join(cache, name)
    open(file, "ab").close()
    os.chown(file, worlds.STRANGER + 1, worlds.STRANGER + 1)
    os.chmod(file, 0o666)
    before = worlds.contents(cache)
    result = run("purge", "-c", cache, "--all", "--yes", user=worlds.STRANGER, status=65)
    assert "and its folder belong to different users" in result.stderr, result
    assert worlds.contents(cache) == before


@pytest.mark.parametrize("secure", [[], ["--secure"]], ids=["plain", "secure"])
def test_linked_body(cache, secure):
    """A body file that has another name is unlinked, never overwritten, and frees nothing."""
    bodies = os.path.join(cache, "fsCachedData")
    names = sorted(os.listdir(bodies))
    for name in names:
        os.link(os.path.join(bodies, name), path(name))
    content = {name: scratch.read(path(name)) for name in names}
    result = run("purge", "-c", cache, "--all", "--yes", *secure, status=(0, 3))
    assert os.listdir(bodies) == [] and names, result
    assert {name: scratch.read(path(name)) for name in names} == content
    assert "Freed" not in result.stdout, result
