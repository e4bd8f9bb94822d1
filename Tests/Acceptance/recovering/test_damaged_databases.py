"""Damages databases in many ways, and compares what `recover --damaged` finds with what was written and with `sqlite3 .recover`."""

import collections
import functools
import json
import os
import random
import shlex
import subprocess

import pytest

import histories
import peers
import scratch
import sqlite_recover
from products import tool
from recovery import archived, make, measured, recover
from scratch import path, run

LIMIT = 64 << 20
# A sqlite3 that was built with SQLITE_ENABLE_DBPAGE_VTAB; without it, .recover fails.
JUDGE = "sqlite3-recover"


def limited(cache, *options):
    """The entries that `recover` lists in 64 MiB of memory, beyond what the program needs to start; the status of a damaged cache is allowed."""
    result, memory = measured(cache, "--format", "ndjson", *options)
    assert result.returncode in (0, 65), (cache, result)
    assert memory < LIMIT, "too much memory"
    return [json.loads(line) for line in result.stdout.splitlines()]


def damage(cache, chance, number):
    """A copy of a cache with 1 to 300 flipped bits, or one that is cut."""
    copy = scratch.copy(cache, "copy")
    database = os.path.join(copy, "Cache.db")
    with open(database, "rb") as file:
        data = bytearray(file.read())
    if number < 7:
        for _ in range(chance.choice([1, 10, 300])):
            data[chance.randrange(chance.choice([100, len(data)]))] ^= 1 << chance.randrange(8)
    else:
        del data[chance.randrange(len(data)):]
    with open(database, "wb") as file:
        file.write(data)
    return copy


def judged(cache):
    """What `sqlite3 .recover` finds in a copy of a cache."""
    return sqlite_recover.found(peers.found(JUDGE), os.path.join(scratch.copy(cache, "judged"), "Cache.db"))


def judged_bodies(responses, bodies, written):
    """The entries of which `.recover` has exactly one version, and its body, in the database or in a file."""
    versions = collections.Counter(number for *_, number in responses)
    for url, time, response, number in responses:
        version = written.get((url, time))
        if version and response == version["response"] and versions[number] == 1:
            there = version["body"] in bodies[number] if version["file"] is None else version["file"] in bodies[number] and not version["file_is_lost"]
            if there:
                yield (url, time), version["body"]


def damaged(seed, thorough):
    """Ten databases, with the number of the damage and what was written: seven with flipped bits, three cut."""
    history, cache = make(seed % 8, transactions=12 if thorough else 5)
    written = {(version["url"], int(version["stored"])): version for version in history.versions}
    for number in range(10) if thorough else (0, 2, 5, 8):
        yield number, damage(cache, random.Random(seed * 10 + number), number), written


@pytest.mark.some("seed", range(70), [0])
def test_damaged_databases(seed, thorough):
    """Ten databases for each seed: seven with flipped bits, three cut."""
    for number, copy, written in damaged(seed, thorough):
        found = limited(copy, "--damaged", "--versions")
        states = {(entry["url"], int(histories.seconds(entry["stored"] or "2001-01-01T00:00:00Z"))) for entry in found
                  if entry["confidence"] != "only-url"}
        # A flipped bit in a URL or a time gives another one; both are hardly ever hit.
        urls, times = {url for url, _ in written}, {time for _, time in written}
        strange = [state for state in states - set(written) if state[0] not in urls and state[1] not in times]
        assert len(strange) <= 1, strange
        if number >= 7:
            # Nothing is changed in what is left, so each body is right.
            assert states <= set(written)
            for entry, body in archived(copy, "--damaged", status=None):
                version = written[entry["url"], int(histories.seconds(entry["stored"]))]
                assert body is None or body == version["body"], entry


@peers.needed(JUDGE)
@pytest.mark.some("seed", range(70), [0])
def test_all_that_sqlite3_recovers_is_recovered(seed, thorough):
    """Each response that `.recover` finds as it was stored, and its body if that is certain."""
    for number, copy, written in damaged(seed, thorough):
        responses, bodies = judged(copy)
        there = {(entry["url"], int(histories.seconds(entry["stored"]))): body
                 for entry, body in archived(copy, "--damaged", "--versions", "--uncertain-bodies", status=None) if entry["stored"]}
        missing = [(url, time) for url, time, response, _ in responses
                   if (url, time) in written and response == written[url, time]["response"] and (url, time) not in there]
        assert missing == [], ("only in .recover", number)
        lost = [key for key, body in judged_bodies(responses, bodies, written) if there[key] != body]
        assert lost == [], ("the body is only in .recover", number)


@peers.needed(JUDGE)
def test_sqlite3_recovers_what_was_stored():
    """The judge itself finds all present entries of a whole database."""
    history, cache = make(2, schema=203, journal="DELETE", transactions=5)
    responses, bodies = judged(cache)
    assert set(history.now) <= {url for url, *_ in responses}
    written = {(version["url"], int(version["stored"])): version for version in history.versions}
    assert {url for (url, _), _ in judged_bodies(responses, bodies, written)} >= {
        version["url"] for version in history.now.values() if not version["file_is_lost"]}


def test_a_damaged_database_gives_all_that_is_left():
    history, cache = make(2, schema=203, journal="DELETE")
    database = os.path.join(cache, "Cache.db")
    with open(database, "r+b") as file:
        # The schema and the header are lost.
        file.write(bytes(4096))
    assert recover(cache, status=65) == []
    found = recover(cache, "--damaged")
    assert set(history.now) <= {entry["url"] for entry in found}
    bodies = 0
    for entry, body in archived(cache, "--damaged"):
        if entry["url"] in history.now and body is not None:
            bodies += 1
            assert body == history.now[entry["url"]]["body"]
    assert bodies > len(history.now) / 2
    run("import", path("found.tar"), "-c", path("new"), "--create", "apple", "--yes", status=3)
    new = json.loads(run("list", "-c", path("new"), "--format", "json").stdout)["entries"]
    with_bodies = {entry["url"] for entry, body in archived(cache, "--damaged") if body is not None}
    assert {entry["url"] for entry in new} == with_bodies and all(entry["size"] is not None for entry in new)


def hinted(result, word):
    """The command that a message ends with, as words."""
    (line,) = [line for line in result.stderr.decode().splitlines() if line.startswith("hint: ") and f"urlcache-admin {word} " in line]
    return shlex.split(line[line.index("urlcache-admin ") + len("urlcache-admin "):])


def flipped(content):
    for page in range(40, len(content) // 4096, 40):
        content[page * 4096 + 8:page * 4096 + 200] = bytes(range(192))
    return content


DAMAGE = {"flipped": flipped, "cut": lambda content: content[:len(content) * 6 // 10], "without the first page": lambda content: bytes(4096) + content[4096:]}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("verb", [["check"], ["check", "--repair"], ["list"], ["purge", "--all", "--yes"]], ids=" ".join)
def test_each_message_leads_to_the_next_command(damage, verb):
    """From any command on a damaged database to a new cache, only by the commands that the messages print."""
    cache = scratch.make("a cache", entries=300, seed=2)
    with open(os.path.join(cache, "Cache.db"), "rb") as file:
        content = bytearray(file.read())
    scratch.write(os.path.join(cache, "Cache.db"), bytes(DAMAGE[damage](content)))
    os.makedirs(path("work"))
    run_here = functools.partial(subprocess.run, capture_output=True, cwd=path("work"))
    result = run_here([tool, verb[0], cache, *verb[1:]])
    assert result.returncode == (1 if damage == "flipped" and verb == ["check"] else 65), result
    found = run_here([tool, *hinted(result, "recover")])
    if damage == "without the first page":
        # No body is certain without the schema.
        found = run_here([tool, *hinted(found, "recover")])
    assert found.returncode == 0, found
    made = run_here([tool, *hinted(found, "import")])
    assert made.returncode == 3 and b"Entries skipped because their body is lost: " in made.stdout, made
    codes = {finding["code"] for finding in json.loads(run_here([tool, "check", f"{cache}-recovered", "--json"]).stdout)["findings"]}
    assert not codes & {"no-body-row", "missing-body-file", "damaged-database"}, codes


def test_check_shows_damage_on_lines_and_where_reading_stopped():
    cache = scratch.make("cache", entries=300, seed=2)
    with open(os.path.join(cache, "Cache.db"), "r+b") as file:
        file.seek(40 * 4096)
        file.write(bytes(2 * 4096))
    result = run("check", cache, status=1)
    lines = result.stdout.decode().splitlines()
    damage = [line for line in lines if line.startswith("  SQLite reports: ")]
    assert damage and len(damage) == len(set(damage)), result
    assert b"U+000A" not in result.stdout and b"***" not in result.stdout, result
    (stopped,) = [line for line in lines if line.startswith("  reading stopped after ")]
    assert lines[-1].startswith(stopped.split()[3] + " entries before the damage, "), result
    assert b"--repair" not in result.stderr, result
