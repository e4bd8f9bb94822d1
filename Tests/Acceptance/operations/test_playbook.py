"""Runs the playbook of the examples on this machine, with real caches in a folder of its own."""

import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys

import pytest

import scratch
from products import REPOSITORY, tool
from scratch import make, path

# `sh Tests/run.sh --operations` installs Ansible there.
ANSIBLE = REPOSITORY / ".build/operations/bin/ansible-playbook"
MAKE, INSTALL, KEEP = "Make the folder of the configuration", "Install the configuration", "Keep the limits"
NAMES = ["shop", "news.daily"]

pytestmark = pytest.mark.skipif(not ANSIBLE.exists(), reason="Ansible: not here")


@pytest.fixture(autouse=True)
def cache(thorough):
    """The paths of two caches with 100 entries, by name, next to a folder for metrics."""
    if not thorough:
        pytest.skip("Ansible takes a minute: only with --thorough")
    os.mkdir(path("metrics"))
    return {name: make("the " + name, entries=100, seed=seed) for seed, name in enumerate(NAMES)}


@pytest.fixture
def played(cache):
    """Both caches after a first run, which kept a limit of 80 entries."""
    assert play()[0] == [KEEP, MAKE, INSTALL]
    assert entries() == [80, 80]
    return cache


def configuration():
    with open(path("etc/config.toml")) as file:
        return file.read()


def play(*words, failed=0, limits=None, **variables):
    """Runs the playbook, and gives the names of the tasks that changed something, and the output."""
    variables = {"urlcache_admin": tool, "configuration": path("etc/config.toml"), "metrics_folder": path("metrics"), "wait": "1s",
                 "caches": {name: {"path": path("the " + name)} | {"max-entries": 80} | (limits or {}) for name in NAMES}} | variables
    result = subprocess.run(
        [ANSIBLE, "-i", "localhost,", "-c", "local", "-e", json.dumps(variables),
         REPOSITORY / "share/doc/urlcache-admin/examples/enforce.playbook.yml", *words], capture_output=True, text=True, cwd=scratch.root,
        env=os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0", "ANSIBLE_HOME": path("ansible"),
                          "ANSIBLE_PYTHON_INTERPRETER": sys.executable})
    changed, count = re.search(r"changed=(\d+).*failed=(\d+)", result.stdout).groups()
    assert int(count) == failed and (result.returncode == 0) == (failed == 0), result.stdout + result.stderr
    assert "WARNING" not in result.stdout + result.stderr or "--diff" in words, result.stdout + result.stderr
    tasks, name = [], None
    for line in result.stdout.splitlines():
        if line.startswith("TASK ["):
            name = line[6:].split("]")[0]
        elif line.startswith("changed: ") and name not in tasks:
            tasks.append(name)
    assert len(tasks) == int(changed), result.stdout
    return tasks, result.stdout


def entries():
    return [int(scratch.run("list", "-c", path("the " + name), "--count").stdout) for name in NAMES]


def digest():
    """The contents of all files but those of Ansible and of the state."""
    result = {}
    for folder, folders, names in os.walk(scratch.root):
        if folder == scratch.root:
            folders[:] = [name for name in folders if name not in ("ansible", "home", "state", "temporary")]
        for name in names:
            file_path = os.path.join(folder, name)
            with open(file_path, "rb") as file:
                result[file_path] = hashlib.sha256(file.read()).hexdigest()
    return result


def test_check_mode():
    """In check mode all changes are announced, and nothing changes."""
    before = digest()
    assert play("--check")[0] == [KEEP, MAKE, INSTALL]
    assert digest() == before and entries() == [100, 100]


def test_first_run(played):
    """The first run installs the configuration, keeps its limits, and writes metrics."""
    listed = subprocess.run([tool, "config", "list", "--config", path("etc/config.toml"), "--format", "json"], capture_output=True, text=True)
    assert listed.returncode == 0 and all(f'"{cache}"' in listed.stdout for cache in played.values()), listed
    for name in NAMES:
        with open(path(f"metrics/urlcache-{name}.prom")) as file:
            assert f'urlcache_last_run_removed_entries{{cache="{name}"}} 20\n' in file.read(), name


def test_second_run(played):
    """A second run changes nothing."""
    before = digest()
    assert play("--check")[0] == []
    assert digest() == before
    assert play()[0] == [] and entries() == [80, 80]


def test_other_limits(played):
    """Other limits are installed and kept."""
    assert play(limits={"max-entries": 70})[0] == [KEEP, INSTALL] and entries() == [70, 70]


def test_wrong_limits(played):
    """A limit that is wrong, or that would remove too much, is not installed."""
    before = configuration()
    assert "--max-delete" in play("--check", failed=1, limits={"max-entries": 1})[1]
    assert "--max-delete" in play(failed=1, limits={"max-entries": 1})[1]
    assert "'1m' could mean minutes or months" in play(failed=1, limits={"max-age": "1m"})[1]
    assert configuration() == before and entries() == [80, 80]


def test_cache_in_use(played):
    """A cache in use keeps its entries until the next run, which works also without metrics."""
    lock = sqlite3.connect(os.path.join(played["shop"], "Cache.db"), isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    assert play(limits={"max-entries": 60})[0] == [KEEP, INSTALL]
    lock.execute("ROLLBACK")
    assert entries() == [80, 60]
    assert play(limits={"max-entries": 60}, metrics_folder="")[0] == [KEEP] and entries() == [60, 60]
