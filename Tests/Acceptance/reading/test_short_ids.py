"""The short ids of entries that are files: shown to people, accepted wherever an id is, and never guessed."""

import csv
import io
import json
import os

import pytest

from scratch import make, path, run, short_id as short

AT = ["--at", "2026-01-01T00:00:00Z"]
SUFFIX = ".storedcachedurlresponse"
# Two names of one key whose digests begin with the same twelve digits.
TWINS = ("709187957.YS50ZXN0AC0xAC9hAA==", "746709533.YS50ZXN0AC0xAC9hAA==")


def entries(cache, *words):
    return json.loads(run("list", cache, "--format", "json", *words).stdout)["entries"]


@pytest.fixture(params=["foundation", "webkit"])
def cache(request):
    cache = make("cache", "--format", request.param, entries=30)
    if request.param == "foundation":
        with open(f"{cache}/700000000.bm9uZQAtMQAvAA=={SUFFIX}", "wb") as file:
            file.write(b"bplist00 no more")
    return cache


def test_shown(cache):
    """A table has the short id of each entry, also of one that cannot be decoded; formats for programs have the whole one."""
    ids = [entry["id"] for entry in entries(cache)]
    assert len(ids) > 20 and all(isinstance(name, str) and len(name) > 20 for name in ids)
    rows = run("list", cache, "--columns", "id,size").stdout.decode().splitlines()[1:]
    assert sorted(row.split()[0] for row in rows) == sorted(map(short, ids))
    for format, dialect in ("csv", "excel"), ("tsv", "excel-tab"):
        read = csv.DictReader(io.StringIO(run("list", cache, "--format", format, "--columns", "id").stdout.decode()), dialect=dialect)
        assert sorted(row["id"] for row in read) == sorted(ids)
    one = ids[3]
    assert f"{short(one)} ({one})" in run("show", cache, one).stdout.decode().splitlines()[0]
    assert run("explain", cache, one, *AT, status=None).stdout.decode().count(short(one)) == 1
    assert run("grep", "http", cache, one, "-l").stdout.decode().split()[0] == short(one)
    if cache.endswith("cache") and any(name.startswith("700000000.") for name in ids):
        lost = next(name for name in ids if name.startswith("700000000."))
        assert f"  {short(lost)}  " in run("check", cache, status=1).stdout.decode()
        receipt = run("purge", cache, short(lost), "-n").stdout.decode()
        assert receipt.splitlines()[-1].split() == ["-", "entry", short(lost)], receipt


def test_accepted(cache, monkeypatch):
    """Each command takes the short id for the whole one: as an operand, with '--id', in a pin and in both caches of a comparison."""
    monkeypatch.setenv("URLCACHE_ADMIN_CONFIG", path("config.toml"))
    open(path("config.toml"), "w").close()
    chosen = next(entry for entry in entries(cache, "--where", "size > 100 && status = 200") if entry["url"])
    whole, brief = chosen["id"], short(chosen["id"])
    for words in [["list", "--format", "json", *AT], ["show", "--format", "json", *AT], ["explain", "--format", "json", *AT], ["body", "-o", "-"],
                  ["export", "-o", "-", "--format", "tar"], ["purge", "-n", "--format", "json", *AT], ["rules", "test", "--format", "json"],
                  ["grep", "http", "--format", "json"], ["audit", "--format", "json", *AT], ["query", "SELECT id FROM entries", "--format", "json"]]:
        verb = 2 if words[0] == "rules" else 2 if words[0] in ("grep", "query") else 1
        answers = []
        for name in whole, brief:
            more = ["--id", name] if words[0] in ("query", "audit") else [name]
            answers.append(run(*words[:verb], "-c", cache, *more, *words[verb:], status=None))
        assert answers[0].returncode in (0, 1) and answers[0].stdout == answers[1].stdout != b"", words
        assert answers[0].returncode == answers[1].returncode
    assert [entry["id"] for entry in entries(cache, "--id", brief)] == [whole]
    run("diff", cache, cache, brief)
    run("pin", cache, brief)
    assert [entry["id"] for entry in entries(cache, "--pinned")].count(whole) == 1
    run("unpin", cache, brief)
    assert entries(cache, "--pinned") == []
    run("purge", cache, brief, "--plan", path("plan.json"))
    with open(path("plan.json")) as plan:
        assert [entry["id"] for entry in json.load(plan)["entries"]] == [whole]
    run("apply", path("plan.json"), "--yes")
    gone = run("show", cache, brief, status=1)
    assert gone.stderr.decode().startswith(f"error: no entry has the id '{brief}'\n"), gone
    # An id that no entry has changes nothing, and is no number of a row.
    assert run("purge", cache, "abcdef012345", "--yes", status=1).stderr.decode().startswith("error: no entry has the id 'abcdef012345'\n")
    run("list", make("apple"), "abcdef012345", status=1)


def test_ambiguous():
    """A short id of two entries is an error that lists both, and nothing is changed."""
    cache = make("twins", "--format", "foundation", entries=3)
    names = sorted(os.listdir(cache))
    assert short(TWINS[0]) == short(TWINS[1])
    for name, twin in zip(names, TWINS):
        os.rename(f"{cache}/{name}", f"{cache}/{twin}{SUFFIX}")
    for words in [["show"], ["purge", "--yes"], ["list"], ["body"], ["pin"]]:
        refused = run(words[0], "-c", cache, short(TWINS[0]), *words[1:], status=64)
        assert refused.stderr.decode() == (
            f"error: 2 entries have the short id '{short(TWINS[0])}':\n  {TWINS[0]}\n  {TWINS[1]}\nhint: give the whole id of one of them\n"), refused
    assert len(os.listdir(cache)) == 3
    run("purge", "-c", cache, TWINS[1], "--yes")
    assert sorted(os.listdir(cache))[1:] == sorted([names[2], TWINS[0] + SUFFIX])[1:] and len(os.listdir(cache)) == 2
    assert len(entries(cache, "--id", short(TWINS[0]))) == 1
