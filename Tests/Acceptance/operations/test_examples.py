"""Runs the examples that other programs would run: the unit for inventories without root, the artifact, and the table."""

import configparser
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys

import pytest

import scratch
from products import REPOSITORY, tool
from scratch import make, path

EXAMPLES = REPOSITORY / "share/doc/urlcache-admin/examples"
NOBODY, USER = 65534, 1234


def unit():
    """The settings of the service."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(EXAMPLES / "urlcache-inventory.service")
    return parser["Service"]


@pytest.fixture
def home():
    """A home folder that only its user can read, with a cache of each kind that an app has closed."""
    folder = path("home/user")
    for name, more in [("shop", []), ("org.swift.foundation.URLCache/svc", ["--format", "foundation"]), ("web/WebKitCache", ["--format", "webkit"])]:
        os.makedirs(os.path.dirname(os.path.join(folder, ".cache", name)), exist_ok=True)
        make(f"home/user/.cache/{name}", *more, entries=9, seed=3)
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            os.lchown(os.path.join(place, name), USER, USER)
    os.chown(folder, USER, USER)
    os.chmod(folder, 0o700)
    os.chmod(scratch.root, 0o755)
    return folder


def state(folder):
    """The contents of a folder, and when they were changed."""
    return {os.path.join(place, name): os.lstat(os.path.join(place, name)).st_mtime_ns for place, folders, files in os.walk(folder) for name in folders + files}


def without_root(*words, capabilities):
    """Runs a command as the service does: as a user without rights, but with these capabilities."""
    sets = ["-all", *(f"+{name}" for name in capabilities)]
    drop = [f"--{kind}={','.join(sets)}" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
    os.makedirs(path("state"), exist_ok=True)
    os.chown(path("state"), NOBODY, NOBODY)
    return subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *drop, *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "STATE_DIRECTORY": path("state")})


@pytest.mark.needs_root
def test_inventory_without_root(home):
    """With the one right of the unit, its command lists the caches of another user, and no command can change them."""
    service = unit()
    assert service["AmbientCapabilities"] == service["CapabilityBoundingSet"] == "CAP_DAC_READ_SEARCH" and service["DynamicUser"] == "yes"
    program = path("bin/urlcache-admin")
    os.makedirs(path("bin"))
    shutil.copy(tool, program)
    words = shlex.split(service["ExecStart"].replace("/usr/local/bin/urlcache-admin", program).replace("/home", path("home")))
    before = state(home)
    assert without_root(*words, capabilities=["dac_read_search"]).returncode == 0
    with open(path("state/caches.json")) as file:
        found = json.load(file)
    assert sorted(store["format"] for store in found["stores"]) == ["apple", "foundation", "webkit"] and found["unreadable"] == [], found
    assert found["entries"] == sum(store["entries"] for store in found["stores"]) >= 27
    blind = without_root(*words, capabilities=[])
    with open(path("state/caches.json")) as file:
        assert json.load(file)["stores"] == [] and f"cannot search '{home}': Permission denied" in blind.stderr, blind
    for cache in (".cache/shop", ".cache/org.swift.foundation.URLCache/svc"):
        refused = without_root(program, "purge", "-c", os.path.join(home, cache), "--all", "--yes", capabilities=["dac_read_search"])
        assert refused.returncode == 77, refused
    assert state(home) == before


@pytest.mark.needs_systemd
def test_verify():
    """systemd-analyze has no complaint about the unit, and rates its exposure as low."""
    for name in ("urlcache-inventory.service", "urlcache-inventory.timer"):
        with open(path(name), "w") as copy:
            copy.write((EXAMPLES / name).read_text().replace("/usr/local/bin/urlcache-admin", tool))
    environment = os.environ | {"XDG_RUNTIME_DIR": scratch.root, "SYSTEMD_COLORS": "0"}
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", path("urlcache-inventory.timer")], capture_output=True, text=True, env=environment)
    assert result.returncode == 0 and "urlcache-inventory" not in result.stderr, result
    result = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--threshold=20", path("urlcache-inventory.service")], capture_output=True,
                            text=True, env=environment)
    assert result.returncode == 0, result.stdout


@pytest.mark.needs_root
def test_inventory_of_an_open_cache(home):
    """A cache that an app has open is named as unreadable, as the page says."""
    program = path("bin/urlcache-admin")
    os.makedirs(path("bin"))
    shutil.copy(tool, program)
    database = os.path.join(home, ".cache/shop/Cache.db")
    with sqlite3.connect(database) as app:
        app.execute("PRAGMA journal_mode=WAL")
        app.execute("SELECT count(*) FROM cfurl_cache_response").fetchall()
        for name in os.listdir(os.path.dirname(database)):
            os.chown(os.path.join(os.path.dirname(database), name), USER, USER)
        result = without_root(program, "usage", "--all-under", home, "--format", "json", capabilities=["dac_read_search"])
    app.close()
    assert result.returncode == 0 and [each["path"] for each in json.loads(result.stdout)["unreadable"]] == [database], result


def test_artifact():
    """The artifact names columns that the JSON of its command has."""
    text = (EXAMPLES / "velociraptor.yaml").read_text()
    make("caches/shop", entries=7, seed=1)
    [arguments] = re.findall(r"execve\(argv=\[Program, (.*?)\]", text)
    words = [path("caches") if word == "Folder" else json.loads(word) for word in arguments.split(", ")]
    answer = json.loads(subprocess.run([tool, *words], capture_output=True, check=True).stdout)
    [members] = re.findall(r"SELECT (path AS .*)\n", text)
    names = [member.split(" AS ")[0] for member in members.split(", ")]
    assert "parse_json(data=Stdout).stores" in text and len(names) == 6
    assert all(set(names) <= set(store) for store in answer["stores"]) and answer["stores"][0]["entries"] == 7
    yaml = pytest.importorskip("yaml", reason="PyYAML: not here")
    artifact = yaml.safe_load(text)
    assert {"name", "description", "type", "parameters", "sources"} == set(artifact)
    assert [parameter["name"] for parameter in artifact["parameters"]] == ["Program", "Folder"]


def test_table():
    """The table has the numbers of 'list', as texts, for caches of two kinds."""
    caches = [make("shop", entries=40, seed=1), make("svc", "--format", "foundation", entries=12, seed=2)]
    os.makedirs(path("bin"))
    os.symlink(tool, path("bin/urlcache-admin"))
    result = subprocess.run([sys.executable, EXAMPLES / "urlcache_entries.py", *caches], capture_output=True, text=True, check=True,
                            env=os.environ | {"PATH": f"{path('bin')}:{os.environ['PATH']}"})
    rows = json.loads(result.stdout)
    expected = {}
    for cache in caches:
        lines = subprocess.run([tool, "list", "-c", cache, "--format", "ndjson", "--columns", "host,size,freshness"], capture_output=True, text=True, check=True)
        for entry in map(json.loads, lines.stdout.splitlines()):
            row = expected.setdefault((cache, entry["host"]), [0, 0, 0])
            row[0] += 1
            row[1] += entry["size"]
            row[2] += entry["freshness"] == "stale"
    assert all(isinstance(value, str) for row in rows for value in row.values())
    assert {(row["cache"], row["host"]): [int(row["entries"]), int(row["bytes"]), int(row["stale"])] for row in rows} == expected
    missing = subprocess.run([sys.executable, EXAMPLES / "urlcache_entries.py", path("none")], capture_output=True, text=True,
                             env=os.environ | {"PATH": f"{path('bin')}:{os.environ['PATH']}"})
    assert missing.returncode == 66, missing


def test_steps_of_a_pipeline():
    """The steps for code scanning find a token that a test left in the cache of a simulator, and say when there is none."""
    page = (REPOSITORY / "share/doc/urlcache-admin/audit.md").read_text(encoding="utf-8")
    [block] = re.findall(r"(?ms)^```yaml\n(.*?)^```$", page)
    [script] = re.findall(r"(?m)^  run: \|\n((?:    .*\n)+)", block)
    folder = os.path.join("data", "Library/Caches/com.example.shop")
    os.makedirs(path("bin"))
    os.makedirs(os.path.dirname(path(folder)))
    os.symlink(tool, path("bin/urlcache-admin"))
    os.chmod(scratch.write("bin/xcrun", f'#!/bin/sh\n[ "$*" = "simctl get_app_container booted com.example.shop data" ] && echo "{path("data")}"\n'.encode()), 0o755)

    def run():
        return subprocess.run(["bash", "-e", "-c", script], cwd=path("data"), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              env=os.environ | {"PATH": f"{path('bin')}:{os.environ['PATH']}"}).returncode

    def results():
        with open(path("data/audit.sarif")) as file:
            return json.load(file)["runs"][0]["results"]

    assert run() == 66
    make(folder, entries=200, seed=1)
    assert run() == 1 and any(result["level"] == "error" for result in results())
    subprocess.run([tool, "purge", "-c", path(folder), "--all", "--secure", "--yes"], check=True, capture_output=True)
    assert run() == 0 and results() == []
