"""Where a run writes its log and its metrics, and whether a dry run says when it cannot."""

import json
import os
import subprocess

import pytest

from products import tool
from scratch import make, path, read


@pytest.fixture(autouse=True)
def caches(monkeypatch):
    """Two caches with names."""
    with open(path("config.toml"), "w") as output:
        for name in ["shop", "news"]:
            output.write(f"[caches.{name}]\npath = '{make(name, entries=160, seed=len(name))}'\n")
    monkeypatch.setenv("URLCACHE_ADMIN_CONFIG", path("config.toml"))


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, text=True)


def metrics():
    return read(path("urlcache.prom")).decode()


def log():
    return [json.loads(line) for line in read(path("urlcache.log")).splitlines()]


@pytest.mark.parametrize("option", ["--metrics-file", "--metrics", "--log"])
def test_a_dry_run_fails_where_the_run_would(option):
    """A dry run tries the files of the run, and creates nothing."""
    with open(path("file"), "w") as file:
        file.write("text\n")
    before = sorted(os.listdir(os.path.dirname(path("file"))))
    for place, status in [(path("file/x"), 73), (os.path.dirname(path("x")), 73), (path("file"), 73), (path("new/folders/x"), 0)]:
        for mode in ["--dry-run", "--yes"]:
            if status == 0 and mode == "--yes":
                continue
            result = run("enforce", "shop", "--max-entries", "10", mode, option, place)
            assert result.returncode == status, (place, mode, result)
    assert sorted(os.listdir(os.path.dirname(path("file")))) == before


def test_the_files_of_the_configuration():
    """The configuration can name the log and the metrics file; an option overrides them."""
    for name in ["log", "metrics-file"]:
        assert run("config", "set", name, path("urlcache." + {"log": "log", "metrics-file": "prom"}[name])).returncode == 0
    assert run("enforce", "--all-caches", "--max-entries", "140", "--yes").returncode == 0
    assert all(f'urlcache_last_run_success{{cache="{name}"}} 1\n' in metrics() for name in ["shop", "news"]), metrics()
    assert [line["verb"] for line in log()] == ["enforce", "enforce"]
    before = metrics()
    # Other commands write the log only, and a dry run neither.
    assert run("enforce", "--all-caches", "--max-entries", "1", "-n").returncode == 0
    assert run("purge", "shop", "1", "--yes").returncode in (0, 1)
    assert run("compact", "shop").returncode == run("expire", "shop", "--all", "--clear-user-info", "k", "--yes").returncode == 0
    assert [line["verb"] for line in log()][2:] == ["purge", "compact", "expire"] and metrics() == before
    assert run("enforce", "shop", "--max-entries", "130", "--yes", "--metrics", path("other.prom"), "--log", path("other.log")).returncode == 0
    assert len(log()) == 5 and metrics() == before and os.path.exists(path("other.prom"))
    # They are the same for all caches, and their paths are complete.
    for setting, value in [("caches.shop.log", path("x")), ("log", "x")]:
        assert run("config", "set", setting, value).returncode == 64, setting
