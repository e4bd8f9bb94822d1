"""Looks for caches in a made-up home, as a user who may not look everywhere, and in places where there is something odd."""

import hashlib
import json
import os
import pwd
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import pytest

import made_up_home
import strace
import terminal
import worlds
from made_up_home import SCHEMA, connect, insert
from products import tool
from scratch import path, run

linux_only = pytest.mark.needs_linux


class Home:
    """A home folder, what 'discover' is to report of it, and ways to run the program in it."""

    def __init__(self, root):
        self.root, self.folder = root, os.path.join(root, "home")
        self.caches = sorted(made_up_home.make_caches(self.folder), key=lambda cache: cache["path"].encode())
        made_up_home.make_decoys(self.folder)
        self.unreadable = made_up_home.make_unreadable(self.folder)
        # Another user runs the program, too, and may not reach the place where it was built.
        self.program = shutil.copy(tool, root) if os.getuid() == 0 else tool

    def run(self, *words, verb="discover", status=0, as_nobody=False, **variables):
        user = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []} if as_nobody and os.getuid() == 0 else {}
        environment = os.environ | {"HOME": self.folder, "TMPDIR": "/tmp"} | variables
        environment = {name: value for name, value in environment.items() if value is not None}
        result = subprocess.run([self.program, verb, *words], capture_output=True, timeout=120, env=environment, cwd=self.root, **user)
        assert status is None or result.returncode == status, (words, result)
        return result

    def found(self, *words, **options):
        result = self.run(*words, "--format", "json", status=None, **options)
        found = json.loads(result.stdout)
        # Of folders that the user named, a place that could not be searched makes the answer incomplete.
        named = [word for word in words if not word.startswith("-")]
        assert result.returncode == (3 if found["unreadable"] and named else 0), result
        return found

    def paths(self, *words, **options):
        return [os.path.relpath(cache["path"], self.folder) for cache in self.found(*words, **options)["stores"]]


@pytest.fixture(scope="module")
def home():
    # The folders of pytest's own `tmp_path` are closed to other users.
    with tempfile.TemporaryDirectory(prefix="urlcache-admin-", ignore_cleanup_errors=True) as root:
        os.chmod(root, 0o755)
        yield Home(root)
        subprocess.run(["chmod", "-R", "u+rwX", root], check=True)


def state(folder):
    result = {}
    for parent, folders, names in os.walk(folder):
        for name in [".", *folders, *names]:
            file = os.path.join(parent, name)
            status = os.lstat(file)
            digest = None
            if os.path.isfile(file) and not os.path.islink(file):
                with open(file, "rb") as stream:
                    digest = hashlib.sha256(stream.read()).hexdigest()
            result[file] = (digest, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    return result


def found(folder, **options):
    result = run("discover", folder, "--format", "json", status=None, **options)
    found = json.loads(result.stdout)
    assert result.returncode == (3 if found["unreadable"] else 0), result
    return found


def test_home(home):
    """Exactly the caches of a home are found, each with its numbers, and nothing changes."""
    assert len(home.caches) == 40, len(home.caches)
    before = state(home.folder)
    durations = []
    for _ in range(3):
        start = time.monotonic()
        result = home.found(home.folder, as_nobody=True)
        durations.append(time.monotonic() - start)
    for expected in home.caches:
        assert expected in result["stores"], (expected, [found for found in result["stores"] if found["path"] == expected["path"]])
    assert result["stores"] == home.caches, [found for found in result["stores"] if found not in home.caches]
    assert result["unreadable"] == [{"path": path, "reason": "Permission denied"} for path in sorted(home.unreadable)], result
    assert result["entries"] == sum(cache["entries"] for cache in home.caches)
    assert result["footprint_bytes"] == sum(cache["footprint_bytes"] for cache in home.caches)
    assert result["folders_too_deep"] == 0, result
    after = state(home.folder)
    assert after == before, {path for path in after if after[path] != before.get(path)}
    # A second is enough, but other tests may keep the machine busy.
    assert min(durations) < 10, durations


def test_table(home):
    """The table shows each cache on one line, hides no character, and notes name the folders that cannot be read."""
    table = home.run(home.folder, "--at", "2040-01-01T00:00:00Z", as_nobody=True, status=3)
    lines = table.stdout.decode().splitlines()
    assert len(lines) == 41 and "‹U+000A›" in table.stdout.decode() and "\u202e" not in table.stdout.decode(), lines
    assert lines[0].split() == "APP KIND SIZE IN USE PATH".split(), lines
    notes = table.stderr.decode().splitlines()
    assert notes[0].startswith(f"40 caches, {sum(cache['entries'] for cache in home.caches)} entries, "), notes
    assert notes[1:] == [f"note: cannot search '{path}': Permission denied" for path in sorted(home.unreadable)], notes


@pytest.mark.parametrize("columns", [80, 120])
def test_table_on_a_terminal(home, columns, monkeypatch):
    """On a terminal, no line is wider than it, and each path keeps its beginning and its end."""
    deep = "Library/Developer/CoreSimulator/Devices/7B1B2C3D-0000-4000-8000-000000000001/data/Containers/Data/Application"
    monkeypatch.setenv("HOME", path("sim"))
    made_up_home.apple(f"{path('sim')}/{deep}/0F000000-0000-4000-8000-000000000001/Library/Caches/com.example.sim/Cache.db", 2)
    made_up_home.apple(f"{path('sim')}/Library/Caches/com.example.{'long' * 20}/Cache.db", 2)
    seen, _ = terminal.run("discover", columns=columns, streams=["stdout"])
    assert len(seen.rows) == len(seen.lines) == 3 and seen.rows[0].split() == "APP KIND SIZE IN USE PATH".split(), seen.rows
    assert all("/" in row and row.rstrip().endswith("/Cache.db") for row in seen.rows[1:]), seen.rows
    assert any(row.startswith("com.example.sim  ") for row in seen.rows), seen.rows


def test_quiet(home):
    """'-q' prints the paths, one a line, and nothing else."""
    result = home.run(home.folder, "-q", as_nobody=True, status=3)
    lines = result.stdout.decode().splitlines()
    assert len(lines) == 40 and all(line.startswith(home.folder) for line in lines) and not result.stderr, result
    assert {cache["path"] for cache in home.caches if "\n" not in cache["path"] and "\u202e" not in cache["path"]} <= set(lines)
    assert "\u202e" not in result.stdout.decode()


def test_usage_of_all(home):
    """'usage --all-under' finds the caches that 'discover' finds, the largest first, and adds them up."""
    result = home.found(home.folder, as_nobody=True)
    usage = json.loads(home.run("--all-under", home.folder, "--format", "json", verb="usage", as_nobody=True).stdout)
    sizes = [cache["footprint_bytes"] for cache in usage["stores"]]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) < 40, sizes
    assert sorted(usage.pop("stores"), key=lambda cache: cache["path"].encode()) == home.caches
    assert usage.pop("schema") == "urlcache-admin.usage-all/1"
    assert (usage.pop("groups"), usage.pop("rest")) == ([], None)
    assert usage == {key: value for key, value in result.items() if key not in ("schema", "stores")}, usage
    sums = home.run("--all-under", home.folder, verb="usage", as_nobody=True)
    lines = sums.stdout.decode().splitlines()
    assert len(lines) == 42 and lines[-1].endswith("  40 caches"), lines
    assert int(lines[-1].split()[0]) == sum(int(line.split()[0]) for line in lines[1:-1]) == result["entries"], lines
    assert sums.stderr.decode().splitlines() == [
        f"note: cannot search '{path}': Permission denied" for path in sorted(home.unreadable)], sums
    parts = [os.path.join(home.folder, "two"), os.path.join(home.folder, "foundation")]
    repeated = [word for folder in parts for word in ("--all-under", folder)]
    usage = json.loads(home.run(*repeated, "--format", "json", verb="usage").stdout)
    assert usage["footprint_bytes"] == sum(cache["footprint_bytes"] for cache in home.caches if cache["path"].startswith(tuple(parts)))


def test_databases_of_all_schemas(cachedb):
    """Databases of all schemas, as Apple systems write them, are found, and no other files."""
    real = sorted(name for name in os.listdir(cachedb) if name.startswith("schema-"))
    caches = found(cachedb)["stores"]
    assert [cache["path"] for cache in caches] == [os.path.join(cachedb, name, "Cache.db") for name in real], caches
    for name, cache in zip(real, caches):
        copy = shutil.copytree(os.path.join(cachedb, name), path(name))
        database = sqlite3.connect(os.path.join(copy, "Cache.db"))
        count, = database.execute("SELECT count(*) FROM cfurl_cache_response").fetchone()
        database.close()
        assert (cache["schema_version"], cache["entries"]) == (int(name.split("-")[1]), count), cache


def traced(*folders):
    """The lines of `strace` about files below the first folder, of a search below all of them."""
    subprocess.run(["strace", "-f", "-qq", "-y", "-o", path("log"), "-e", "trace=open,openat,read,pread64,mmap,write,pwrite64",
                    tool, "discover", *folders], check=True, capture_output=True)
    with open(path("log")) as file:
        lines = [line for line in file if folders[0] in line]
    return lines, [line for line in lines if " open" in line and "O_DIRECTORY" not in line]


@linux_only
@strace.needed
def test_opened_files(home):
    """Of a file that is no database 100 bytes are read; pipes, links and entries are not opened, and no folder is read twice, except
    that of a cache: which other databases share its body files shows there."""
    lines, opened = traced(home.folder, home.folder + "/.")
    assert len(opened) > 40, len(opened)
    for line in opened:
        # SQLite opens a log for writing even where it only reads.
        assert "O_RDONLY" in line or "Cache.db-wal" in line, line
        assert ".storedcachedurlresponse" not in line or "decoys/names" in line, line
        for name in ["decoys/fifo", "decoys/pipe", "decoys/links", "decoys/names/link", "zero", "short"]:
            assert name not in line, line
    text = [line for line in lines if "decoys/text/Cache.db" in line and " openat" not in line]
    assert len(text) == 1 and ", 100, 0)" in text[0], text
    written = [line for line in lines if " write(" in line or " pwrite64(" in line]
    assert not written, written
    listed = [line.split("<")[1].split(">")[0] for line in lines if '>, ".", ' in line]
    twice = {folder for folder in listed if listed.count(folder) > 1}
    assert len(listed) > 80 and all(os.path.exists(os.path.join(folder, "fsCachedData")) for folder in twice), twice


@linux_only
@strace.needed
def test_kernel_files():
    """No file of the kernel is opened."""
    assert traced("/sys/kernel")[1] == []


def test_default_places(home):
    """Without folders the caches of this user are found: below HOME and, if it is absolute, below XDG_CACHE_HOME."""
    own = ".cache/org.swift.foundation.URLCache"
    library = ["Caches/com.example.news/nested/path", "Caches/com.example.shop",
               "Containers/com.example.app/Data/Library/Caches/com.example.app",
               "Developer/CoreSimulator/Devices/7B1B2C3D/data/Containers/Data/Application/0F/Library/Caches/com.example.sim/disk",
               "Group Containers/group.example/Library/Caches"]
    default = [f"{own}/crashed", f"{own}/empty", f"{own}/server"] + [f"Library/{folder}/Cache.db" for folder in library]
    if sys.platform != "darwin":
        assert home.paths() == default
        assert home.paths(XDG_CACHE_HOME=os.path.join(home.folder, "two")) == default + ["two/first.db", "two/second.db"]
        assert home.paths(XDG_CACHE_HOME="home/two") == default, "a path that is not absolute counts"
        assert home.paths(XDG_CACHE_HOME=os.path.join(home.folder, "two"), HOME=None) == ["two/first.db", "two/second.db"]
        assert home.paths(XDG_CACHE_HOME=path("none"), HOME=path("none")) == []
    assert b"HOME is not set" in home.run(status=64, HOME=None, TMPDIR=None).stderr


def test_nothing_found_where_nobody_can_look(home):
    """Where a usual place cannot be read and nothing is found elsewhere, the answer is not that there are no caches."""
    other = os.path.join(home.root, "other")
    containers = os.path.join(other, "Library/Containers")
    os.makedirs(containers)
    os.chmod(containers, 0)
    result = home.run(as_nobody=True, status=77, HOME=other)
    assert b"0 caches" in result.stderr and b"cannot search '" + os.fsencode(containers) in result.stderr, result
    os.rmdir(containers)
    home.run(as_nobody=True, HOME=other)


def test_data_of_an_app_from_a_device():
    """The container that Xcode downloads from a device is a folder like any other, and so are those of sandboxed apps and groups."""
    caches = ["App 2026-11-28.xcappdata/AppData/Library/Caches/com.example.app", "Containers/com.example.app/Data/Library/Caches/com.example.app",
              "Group Containers/group.com.example/Library/Caches/com.example.app"]
    for cache in caches:
        worlds.apple(path("home/" + cache), worlds.entries(3))
    assert sorted(store["path"] for store in found(path("home"))["stores"]) == sorted(path(f"home/{cache}/Cache.db") for cache in caches)
    assert run("list", path("home/" + caches[0]), "--count").stdout == b"3\n"


def test_named_folders(home):
    """Folders can be named in any way, twice or through a link; a folder that cannot be read ends the command."""
    two = os.path.join(home.folder, "two")
    assert home.paths(two + "//") == home.paths(two, home.folder + "/two", two + "/.") == ["two/first.db", "two/second.db"]
    relative = home.found("home/two")["stores"]
    assert [cache["path"] for cache in relative] == ["home/two/first.db", "home/two/second.db"]
    os.symlink(two, path("link"))
    assert [cache["path"] for cache in found("link/", cwd=path(""))["stores"]] == ["link/first.db", "link/second.db"]
    for name, status, kind in [("none", 66, "not-found"), ("home/two/first.db", 66, "not-found"),
                               ("home/locked/none", 77, "no-permission")]:
        error = json.loads(home.run("home/two", name, "--format", "json", status=status, as_nobody=True).stderr)
        assert (error["code"], error["kind"], error["path"]) == (status, kind, name), error


def test_depth(home):
    """'--max-depth' counts from the folder that is named, and from the nearest if there are several."""
    deep = os.path.join(home.folder, "deep")
    assert home.paths(deep, "--max-depth", "18") == [] and home.found(deep, "--max-depth", "18")["folders_too_deep"] == 1
    assert home.run(deep, "--max-depth", "18").stderr.endswith(b"\nnote: 1 folder was not searched: more than 18 levels deep\n")
    assert len(home.paths(deep, "--max-depth", "19")) == 1
    # The second folder lies deeper below the first than a search from there goes.
    middle = os.path.join(deep, "1/2/3")
    for folders in [(deep, middle), (middle, deep)]:
        result = home.found(*folders, "--max-depth", "16")
        assert len(result["stores"]) == 1 and result["folders_too_deep"] == 0, result
    assert b"from 0 to 100" in home.run(home.folder, "--max-depth", "101", status=64).stderr


def test_names():
    """A database with several hard links is shown once, and a name that is not UTF-8 is reported."""
    connect(path("first.db")).close()
    other = path("names")
    os.makedirs(os.path.join(other.encode(), b"latin-\xe9"))
    os.link(path("first.db"), os.path.join(other, "again.db"))
    os.link(path("first.db"), os.path.join(other, "more.db"))
    result = found(other)
    assert [cache["path"] for cache in result["stores"]] == [os.path.join(other, "again.db")], result
    assert "hard links" in result["stores"][0]["notes"][0], result
    assert result["unreadable"] == [{"path": os.path.join(other, "latin-\ufffd"), "reason": "its name is not UTF-8"}]


def child(file, *statements):
    """A second process that has a database open."""
    script = ("import sqlite3, sys\n"
              "d = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
              "for s in sys.argv[2:]: d.execute(s).fetchall()\n"
              "print('ready', flush=True)\n"
              "sys.stdin.read()\n")
    process = subprocess.Popen([sys.executable, "-c", script, file, *statements], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


def test_use():
    """A cache that another process has open shows the id of this process; a locked cache is reported as unreadable."""
    folder = path("use")
    for name, mode in [("idle", "wal"), ("reading", "wal"), ("writing", "delete"), ("locked", "delete"), ("owned", "wal")]:
        database = connect(os.path.join(folder, name, "Cache.db"), mode)
        insert(database, 3)
        database.close()
    process = {
        "reading": child(folder + "/reading/Cache.db", "SELECT * FROM cfurl_cache_response"),
        "writing": child(folder + "/writing/Cache.db", "BEGIN IMMEDIATE", "DELETE FROM cfurl_cache_response"),
        "locked": child(folder + "/locked/Cache.db", "BEGIN EXCLUSIVE"),
        "owned": child(folder + "/owned/Cache.db", "PRAGMA locking_mode=EXCLUSIVE", "BEGIN IMMEDIATE",
                       "DELETE FROM cfurl_cache_response", "COMMIT")}
    try:
        result = found(folder)
        use = [(os.path.basename(os.path.dirname(cache["path"])), cache["entries"], cache["in_use"], cache["pid"])
               for cache in result["stores"]]
        assert use == [("idle", 3, False, None), ("reading", 3, True, process["reading"].pid),
                       ("writing", 3, True, process["writing"].pid)], use
        assert [place["path"] for place in result["unreadable"]] == [folder + "/locked/Cache.db", folder + "/owned/Cache.db"], result
        assert all("lock" in place["reason"] for place in result["unreadable"]), result
        assert f"  pid {process['reading'].pid} " in run("discover", folder, status=3).stdout.decode()
    finally:
        for other in process.values():
            other.communicate()


def test_unfinished_transactions():
    """Of the databases whose last transaction was cut short, only a cache is copied, and none changes."""
    folder = path("journals")
    for name, schema in [("store", SCHEMA), ("other", SCHEMA.replace("cfurl_cache", "other"))]:
        database = connect(os.path.join(path(name), "Cache.db"), "delete", schema)
        table = "cfurl_cache" if name == "store" else "other"
        if name == "store":
            insert(database, 5)
        database.execute(f"INSERT INTO {table}_receiver_data(receiver_data) VALUES (zeroblob(100000))")
        database.execute("PRAGMA cache_size=1")
        database.execute("BEGIN")
        database.execute(f"UPDATE {table}_receiver_data SET receiver_data = randomblob(9000)")
        shutil.copytree(path(name), os.path.join(folder, name))
        database.close()
        with open(os.path.join(folder, name, "Cache.db-journal"), "rb") as file:
            assert file.read(8) == bytes.fromhex("d9d505f920a163d7"), "the journal is not hot"
    before = state(folder)
    result = found(folder)
    assert [(cache["path"], cache["entries"]) for cache in result["stores"]] == [
        (os.path.join(folder, "store/Cache.db"), 6)] and result["unreadable"] == [], result
    assert "private copy" in result["stores"][0]["notes"][0], result
    result = found(folder, env=os.environ | {"TMPDIR": path("none")})
    assert result["stores"] == [], result
    assert [place["path"] for place in result["unreadable"]] == [os.path.join(folder, "store/Cache.db")], result
    assert state(folder) == before


def test_damage():
    """Of a cache with a whole schema and damaged rows the size is shown, and a note says that it is damaged."""
    folder = path("damage")
    file = os.path.join(folder, "Cache.db")
    database = connect(file, "delete")
    insert(database, 400)
    page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'cfurl_cache_blob_data'").fetchone()[0]
    database.close()
    with open(file, "r+b") as stream:
        stream.seek((page - 1) * 4096)
        stream.write(b"\xff" * 4096)
    cache, = found(folder)["stores"]
    assert cache["entries"] is None and cache["newest_stored"] is None, cache
    assert cache["footprint_bytes"] == os.path.getsize(file) and "damaged" in cache["notes"][0], cache
    result = run("discover", folder)
    line = result.stdout.decode().splitlines()[1]
    assert line.split()[:4] == ["-", "apple", *f"{os.path.getsize(file) / 1024:.0f} KiB".split()], line
    assert b"damaged" in result.stderr
