"""Writes plans and carries them out, and compares that with removing at once."""

import json
import os
import sqlite3
import stat
import subprocess

import pytest

import scratch
from products import tool
from scratch import path


def run(*arguments, status=0, input=b"", folder=None):
    result = subprocess.run([tool, *arguments], capture_output=True, input=input, cwd=folder or scratch.root)
    assert result.returncode == status, (arguments, result)
    return result


def copy(name):
    return scratch.make(name, entries=60, seed=9)


def rows(cache):
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    try:
        return [connection.execute(f"SELECT * FROM cfurl_cache_{table} ORDER BY entry_ID").fetchall()
                for table in ("response", "blob_data", "receiver_data")]
    finally:
        connection.close()


def removed(result):
    """What was removed, without what must differ between two verbs."""
    receipt = json.loads(result.stdout)
    return {name: receipt[name] for name in ("removed", "entries", "skipped", "footprint_before", "footprint_after")}


@pytest.mark.parametrize(("verb", "options"), [
    ("purge", ["--larger-than", "4K"]), ("purge", ["--all"]), ("enforce", ["--max-entries", "20"])], ids=["some", "all", "limit"])
def test_same_as_at_once(verb, options):
    """A plan that is carried out later removes what the command would have removed at once."""
    at_once, later = copy("at-once"), copy("later")
    before = scratch.digests(later)
    plan = path("plan.json")
    # The path in the plan is made whole, whatever folder it is written from.
    run(verb, "-c", os.path.basename(later), *options, "--plan", plan)
    assert stat.S_IMODE(os.stat(plan).st_mode) == 0o600
    assert scratch.digests(later) == before
    dry = run("apply", plan, "-n", "--format", "json", folder="/")
    assert scratch.digests(later) == before
    wet = run("apply", plan, "-y", "--format", "json", folder="/")
    assert dry.stdout.replace(b'"dry_run":true', b'"dry_run":false') == wet.stdout
    if verb == "purge":
        assert removed(run(verb, "-c", at_once, *options, "-y", "--format", "json")) == removed(wet)
    else:
        run(verb, "-c", at_once, *options, "-y")
    assert rows(at_once) == rows(later)
    assert sorted(os.listdir(f"{at_once}/fsCachedData")) == sorted(os.listdir(f"{later}/fsCachedData"))
    again = json.loads(run("apply", plan, "-y", "--format", "json", status=3).stdout)
    assert again["removed"]["entries"] == 0 and again["skipped"] == json.loads(wet.stdout)["removed"]["entries"]


def test_changed_since():
    """Entries that changed since the plan was made are kept."""
    cache, plan = copy("changed"), path("plan.json")
    run("purge", "-c", cache, "--all", "--plan", plan)
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    connection.execute("UPDATE cfurl_cache_response SET request_key = 'https://other.example/' WHERE entry_ID = 3")
    (stored,) = connection.execute("SELECT response_object FROM cfurl_cache_blob_data WHERE entry_ID = 4").fetchone()
    place = stored.index(b"\x23") + 1
    changed = stored[:place + 7] + bytes([stored[place + 7] ^ 1]) + stored[place + 8:]
    connection.execute("UPDATE cfurl_cache_blob_data SET response_object = ? WHERE entry_ID = 4", (changed,))
    for table in ("response", "blob_data", "receiver_data"):
        connection.execute(f"DELETE FROM cfurl_cache_{table} WHERE entry_ID = 5")
    connection.commit()
    connection.close()
    receipt = json.loads(run("apply", plan, "-y", "--format", "json", status=3).stdout)
    assert (receipt["removed"]["entries"], receipt["skipped"]) == (57, 3), receipt
    assert [[row[0] for row in table] for table in rows(cache)] == [[3, 4]] * 3


def test_another_cache():
    """A plan is refused for another cache at the same path, unless the cache is named."""
    cache, plan = copy("one"), path("plan.json")
    run("purge", "-c", cache, "--larger-than", "4K", "--plan", plan)
    os.rename(cache, cache + "-before")
    copy("one")
    before = scratch.digests(cache)
    error = json.loads(run("apply", plan, "-y", "--format", "json", status=65).stderr)
    assert error["kind"] == "another-cache", error
    assert error["message"] == f"'{cache}' is not the cache that the plan was made for", error
    assert scratch.digests(cache) == before
    run("apply", plan, "-y", "-c", cache)
    assert scratch.digests(cache) != before
    run("apply", plan, "-y", "-c", path("none"), status=66)


def test_refusals():
    """A plan is carried out as a whole and with confirmation, or not at all."""
    cache, plan = copy("refused"), path("plan.json")
    run("purge", "-c", cache, "--all", "--plan", plan)
    before = scratch.digests(cache)
    assert b"cannot create '" in run("purge", "-c", cache, "--all", "--plan", plan, status=73).stderr
    assert b"cannot ask for confirmation" in run("apply", plan, status=64).stderr
    assert b"more than '--max-delete' allows" in run("apply", plan, "-y", "--max-delete", "50%", status=1).stderr
    run("apply", path("none"), "-y", status=66)
    run("apply", os.path.join(cache, "Cache.db"), "-y", status=65)
    run("apply", "-", "-y", input=b"[]", status=65)
    run("apply", "-", input=b"", status=64)
    with open(plan, "rb") as file:
        text = file.read()
    for length in range(0, len(text), 997):
        error = run("apply", "-", "-y", input=text[:length], status=65).stderr
        assert b"error: standard input is not a plan: " in error, error
    assert scratch.digests(cache) == before
    run("apply", "-", "-y", input=text)
    assert rows(cache) == [[], [], []]
