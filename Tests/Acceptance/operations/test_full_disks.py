"""Records of runs on a full disk: where there is no room for the log or the metrics, nothing is changed, and nothing stays reserved."""

import concurrent.futures
import json
import os
import threading

import pytest

import scratch
import worlds
from scratch import path

CHANGES = {
    "purge": ["--all", "--yes"],
    "enforce": ["--max-entries", "3", "--yes"],
    "check": ["--repair", "--yes"],
    "apply": ["--yes"],
    "expire": ["--all", "--clear-user-info", "When", "--yes"],
    "compact": ["--full"],
}
OLD = {"--log": '{"schema":"urlcache-admin.log/1","verb":"purge"}\n', "--metrics-file": "# HELP urlcache_entries Entries.\n"}


@pytest.fixture
def cache():
    some = worlds.entries(20, user_info={"When": "now"})
    cache = worlds.apple(path("cache"), some, churn=200)
    worlds.write_body(cache, worlds.body_name(1), age=2 * worlds.GRACE)
    return cache


@pytest.fixture
def disk():
    with worlds.FullDisk(path("disk"), "1m") as disk:
        yield disk


def words(verb, cache):
    if verb == "apply":
        if not os.path.exists(path("plan.json")):
            worlds.run("purge", "-c", cache, "--all", "--plan", path("plan.json"), status=0)
        return [verb, path("plan.json"), *CHANGES[verb]]
    return [verb, "-c", cache, *CHANGES[verb]]


@pytest.mark.parametrize("exists", [False, True], ids=["new", "existing"])
@pytest.mark.parametrize("option", OLD)
@pytest.mark.parametrize("verb", CHANGES)
def test_nothing_changes_without_room(verb, option, exists, cache, disk):
    line = words(verb, cache)
    file = os.path.join(disk.seen, "file")
    if exists:
        with open(file, "w") as opened:
            opened.write(OLD[option])
    disk.fill()
    before = worlds.canary(cache)
    result = worlds.run(*line, option, os.path.join(disk.folder, "file"), inside=disk.inside, status=73)
    assert worlds.canary(cache) == before
    assert "nothing was changed" in result.stderr and "No space left" in result.stderr, result
    assert not result.stdout
    # A new log was made to see whether that is possible.
    assert set(os.listdir(disk.seen)) - {"file"} == {"fill"}
    if exists:
        assert scratch.read(file).decode() == OLD[option]


@pytest.mark.parametrize("verb", ["purge", "enforce"])
@pytest.mark.parametrize("option", ["--backup", "--plan"])
def test_other_outputs(verb, option, cache, disk):
    disk.fill()
    before = worlds.contents(cache)
    worlds.run(*words(verb, cache), option, os.path.join(disk.folder, "new" + (".tar" if option == "--backup" else "")), inside=disk.inside,
               status=(73, 74))
    assert worlds.contents(cache) == before
    assert os.listdir(disk.seen) == ["fill"]


def test_a_dry_run_needs_no_room(cache, disk):
    disk.fill()
    worlds.run("purge", "-c", cache, "--all", "-n", "--log", os.path.join(disk.folder, "log"), inside=disk.inside, status=0)


@pytest.mark.parametrize("verb", CHANGES)
def test_nothing_stays_reserved(verb, cache, disk):
    """The log and the metrics take no more room than their contents, night after night."""
    line = words(verb, cache)
    record = ["--log", os.path.join(disk.folder, "log"), "--metrics-file", os.path.join(disk.folder, "a.prom")]
    for night in range(3):
        worlds.run(*line, *record, inside=disk.inside, status=(0, 1, 3))
        assert sorted(os.listdir(disk.seen)) == ["a.prom", "log"]
        for name in ["a.prom", "log"]:
            status = os.stat(os.path.join(disk.seen, name))
            assert status.st_blocks * 512 <= status.st_size + 4096, (night, name)
        lines = scratch.read(os.path.join(disk.seen, "log")).splitlines()
        assert len(lines) == night + 1 and all(json.loads(line)["verb"] == verb for line in lines)


def test_all_caches(disk):
    """Room for the records of all caches is reserved at once."""
    text = ""
    for name in ["second", "third"]:
        text += f"[caches.{name}]\npath = '{worlds.apple(path(name), worlds.entries(10))}'\n"
    worlds.configure(worlds.apple(path("first"), worlds.entries(10)), text, name="first")
    log = ["--log", os.path.join(disk.folder, "log")]
    run = ["enforce", "--all-caches", "--max-entries", "3", "--yes", *log]
    disk.fill(leaving=8192)
    worlds.run(*run, inside=disk.inside, status=73)
    assert all(len(worlds.contents(path(name))) == 10 for name in ["first", "second", "third"])
    os.truncate(os.path.join(disk.seen, "fill"), 500_000)
    worlds.run(*run, inside=disk.inside, status=0)
    assert len(scratch.read(os.path.join(disk.seen, "log")).splitlines()) == 3


@pytest.mark.needs_full_device
@pytest.mark.parametrize("format", ["table", "json"])
def test_what_cannot_be_written_is_on_standard_error(format, cache):
    """Nothing can be reserved on a device. What was done is said all the same."""
    result = worlds.run("purge", "-c", cache, "--all", "--yes", "--format", format, "--log", "/dev/full", status=74)
    assert worlds.contents(cache) == {} and "20" in result.stdout
    lines = [line.removeprefix("note: not recorded: ") for line in result.stderr.splitlines() if line.startswith("note: not recorded: ")]
    assert [json.loads(line)["removed_entries"] for line in lines] == [20], result.stderr
    assert "No space left" in result.stderr


def test_a_pipe_needs_no_room(cache):
    os.mkfifo(path("pipe"))
    received = []
    reader = threading.Thread(target=lambda: received.append(scratch.read(path("pipe"))))
    reader.start()
    # A log is opened without waiting for a reader.
    with open(path("pipe"), "wb"):
        worlds.run("purge", "-c", cache, "--all", "--yes", "--log", path("pipe"), status=0)
    reader.join(30)
    assert json.loads(received[0])["verb"] == "purge"


def test_lines_of_many_processes(cache):
    """None of the processes that share a log cuts off the line of another one."""
    def run(_):
        return worlds.run("purge", "-c", cache, "https://none.example/", "--yes", "--log", path("log"), status=(0, 1))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(64)))
    lines = scratch.read(path("log")).splitlines()
    assert len(lines) == 64 and all(json.loads(line)["verb"] == "purge" for line in lines)
