"""Compares metrics and logs with the output of other commands, and has promtool read them."""

import json
import os
import re
import shutil
import stat
import subprocess
import threading
import time

import pytest

import peers
from products import tool
from scratch import make, path, read

SNAPSHOT = {"disk_bytes", "in_use_bytes", "entries", "entry_bytes", "stored_entries_total", "oldest_entry_timestamp_seconds", "orphan_files", "missing_bodies"}
RUN = {"last_run_" + name for name in
       ["timestamp_seconds", "success", "duration_seconds", "removed_entries", "removed_bytes", "left_entries", "skipped"]}
STATES = ["fresh", "stale", "no-lifetime", "unknown"]

pytestmark = peers.needed("promtool")


@pytest.fixture(autouse=True)
def caches(monkeypatch):
    """The caches of a configuration, by name."""
    caches = {name: make(name, "--format", "apple", "--faults", "orphan-files,missing-bodies,undecodable", entries=160, seed=len(name))
              for name in ["shop", "news"]}
    with open(path("config.toml"), "w") as output:
        output.write(f"[caches.shop]\npath = '{caches['shop']}'\ncapacity = '64MiB'\n"
                     f"[caches.news]\npath = '{caches['news']}'\n")
    monkeypatch.setenv("URLCACHE_ADMIN_CONFIG", path("config.toml"))
    return caches


@pytest.fixture
def record():
    """The options of a run that writes metrics and a log."""
    return ["--metrics-file", path("urlcache.prom"), "--log", path("urlcache.log")]


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, text=True)


def metrics():
    with open(path("urlcache.prom")) as file:
        return file.read()


def log():
    with open(path("urlcache.log")) as file:
        return [json.loads(line) for line in file.read().splitlines()]


def samples(text):
    """The values by name, cache and state, of a text in which promtool finds no mistake."""
    checked = subprocess.run([peers.found("promtool"), "check", "metrics"], input=text, capture_output=True, text=True)
    assert checked.returncode == 0 and not checked.stdout + checked.stderr, (checked, text)
    result = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = re.fullmatch(r'urlcache_(\w+)\{cache="((?:[^"\\]|\\.)*)"(?:,state="([a-z-]+)")?\} ([0-9.]+)', line)
        assert match, line
        name, cache, state, value = match.groups()
        cache = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], cache)
        assert (name, cache, state) not in result, line
        result[name, cache, state] = float(value)
    return result


def names(found, cache):
    return {name for name, label, _ in found if label == cache}


def test_a_missing_cache_is_named(caches):
    """With one of several caches missing, the message has its name, and no file is written."""
    shutil.rmtree(caches["news"])
    missing = run("metrics", "--all-caches", "-o", path("urlcache.prom"))
    assert missing.returncode == 66 and not os.path.exists(path("urlcache.prom"))
    assert missing.stderr == f"error: the cache 'news': no cache '{caches['news']}': no such file\nhint: find caches with: urlcache-admin discover\n"


def test_snapshot(caches):
    """The metrics of a cache are the numbers of 'usage', 'check' and 'list'."""
    found = samples(run("metrics", "--all-caches").stdout)
    assert names(found, "shop") == SNAPSHOT | {"capacity_bytes"} and names(found, "news") == SNAPSHOT, found
    assert found["capacity_bytes", "shop", None] == 64 << 20
    for cache in caches:
        usage = json.loads(run("usage", "-c", cache, "--by", "freshness", "--format", "json").stdout)
        groups = {group["key"] or "unknown": group for group in usage["groups"]}
        for state in STATES:
            group = groups.get(state, {"entries": 0, "bytes": 0})
            assert found["entries", cache, state] == group["entries"], (cache, state)
            assert found["entry_bytes", cache, state] == group["bytes"], (cache, state)
        assert found["disk_bytes", cache, None] == usage["footprint"]["total_bytes"]
        assert found["stored_entries_total", cache, None] == usage["churn"]["stored"] >= usage["entries"]
        assert found["orphan_files", cache, None] == usage["footprint"]["orphan_files"] > 0
        times = [json.loads(line)["stored"] for line in run("list", "-c", cache, "--format", "ndjson").stdout.splitlines()]
        oldest = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found["oldest_entry_timestamp_seconds", cache, None]))
        assert oldest == min(time for time in times if time), cache
        missing = run("list", "-c", cache, "--body", "missing", "--count").stdout
        assert found["missing_bodies", cache, None] == int(missing) > 0


def test_odd_names(caches):
    """A path with quotes and line feeds is a label that promtool reads; a cache that does not exist has no metrics."""
    odd = shutil.copytree(caches["shop"], path("a\"b\\c\nd e\u0301"))
    assert names(samples(run("metrics", "-c", odd).stdout), odd) == SNAPSHOT
    assert run("metrics", "-c", path("none")).returncode == 66


def test_successful_runs(record):
    """A run writes its result into the metrics and the log; a run without work does, too, and a dry run does not."""
    assert run("enforce", "-c", "shop", "--max-entries", "150", "--yes", *record).returncode == 0
    found = samples(metrics())
    assert names(found, "shop") == SNAPSHOT | RUN | {"capacity_bytes"}
    line, = log()
    assert found["last_run_success", "shop", None] == 1 and line["status"] == 0 and line["message"] is None
    assert found["last_run_removed_entries", "shop", None] == line["removed_entries"] > 0
    assert found["last_run_removed_bytes", "shop", None] == line["removed_bytes"] > 0
    assert abs(found["last_run_timestamp_seconds", "shop", None] - time.time()) < 60
    assert sum(found["entries", "shop", state] for state in STATES) == 150
    assert stat.S_IMODE(os.stat(path("urlcache.prom")).st_mode) == 0o644
    assert stat.S_IMODE(os.stat(path("urlcache.log")).st_mode) == 0o600
    assert run("enforce", "-c", "shop", "--max-entries", "150", "--yes", *record).returncode == 0
    assert samples(metrics())["last_run_removed_entries", "shop", None] == 0
    before = metrics()
    assert run("purge", "-c", "shop", "--all", "-n", *record).returncode == 0
    assert metrics() == before


@pytest.mark.parametrize(("words", "status"), [
    (["--all", "--yes", "--max-delete", "1"], 1), (["--all"], 64), (["--where", "x"], 64),
    (["--all", "--yes", "--config", "/nowhere/config.toml"], 66)], ids=["too many", "no confirmation", "condition", "configuration"])
def test_failed_runs(record, words, status):
    """A run that fails is a failure in the metrics and in the log."""
    assert run("purge", "-c", "shop", *words, *record).returncode == status
    found = samples(metrics())
    assert found["last_run_success", "shop", None] == 0
    last = log()[-1]
    assert last["status"] == status and last["verb"] == "purge" and last["removed_entries"] == 0, last
    assert last["message"], last


def test_unknown_options(record):
    """A command line with an unknown option is not a run: nothing is written."""
    assert run("purge", "-c", "shop", "--nonsense", *record).returncode == 64
    assert not os.path.exists(path("urlcache.prom")) and not os.path.exists(path("urlcache.log"))


def test_run_on_several_caches(caches, record):
    """A cache that cannot be read is a failure next to the caches that can."""
    os.rename(caches["news"], caches["news"] + ".away")
    entries = int(run("list", "-c", "shop", "--count").stdout)
    assert run("enforce", "--all-caches", "--max-entries", "140", "--yes", *record).returncode == 66
    found = samples(metrics())
    assert names(found, "news") == RUN and found["last_run_success", "news", None] == 0
    assert found["last_run_success", "shop", None] == 1 and found["last_run_removed_entries", "shop", None] == entries - 140


def test_folder_of_metrics(caches):
    """The folder of a metrics file is made, whichever command writes it."""
    for number, words in enumerate([["metrics", "-c", caches["shop"], "-o"], ["enforce", "-c", caches["shop"], "--max-entries", "1000", "--yes", "--metrics-file"]]):
        file = path(f"new{number}/deep/cache.prom")
        assert run(*words, file).returncode == 0
        assert samples(read(file).decode())


def test_unwritable_metrics():
    """Nothing is removed where the metrics cannot be written."""
    with open(path("file"), "w") as file:
        result = run("purge", "-c", "shop", "--all", "--max-delete", "100%", "--yes", "--metrics-file", os.path.join(file.name, "x"))
    assert result.returncode == 73 and result.stdout == "", result
    assert int(run("list", "-c", "shop", "--count").stdout) > 0


def test_reader_meanwhile():
    """A reader of the metrics sees a whole file at any time."""
    file = path("urlcache.prom")
    words = ["enforce", "-c", "news", "--max-entries", "100", "--yes", "--metrics-file", file]
    run(*words)
    done, broken = threading.Event(), []

    def read():
        while not done.is_set():
            text = metrics()
            if not text.endswith("\n") or "last_run_skipped" not in text.splitlines()[-1]:
                broken.append(text)
            done.wait(0.0005)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(6):
        run(*words)
    done.set()
    reader.join()
    assert not broken, broken[0]
    assert "urlcache.prom.partial" not in os.listdir(path(""))


def test_writers_of_one_log(caches, record):
    """The lines that several processes write into one log do not mix."""
    run("enforce", "-c", caches["news"], "--max-entries", "100", "--yes", *record)
    command = [tool, "enforce", "-c", caches["news"], "--max-entries", "100", "--yes", *record[2:]]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(6)]
    statuses = {process.wait() for process in processes}
    assert statuses <= {0, 75}, statuses
    assert len(log()) == 7
