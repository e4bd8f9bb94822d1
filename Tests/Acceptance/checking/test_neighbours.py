"""Databases in one folder share its body files: no command takes a body file from another database, or from one that it cannot read."""

import json
import os
import pty
import select
import shutil
import sqlite3
import subprocess

import pytest

import scratch
import strace
import worlds
from products import tool
from scratch import path, run

OTHER = "Cache-before-update.db"
# Each of these removes orphans.
VERBS = {
    "check": ["check", "--repair=orphans", "--yes"],
    "enforce": ["enforce", "--max-size", "0", "--best-effort", "--yes"],
    "secure": ["purge", "--all", "--secure", "--yes"],
    "compact": ["compact", "--secure"],
}


def make(name="cache", count=30, **options):
    """A cache with body files, with orphans, and with the numbers of the entries whose bodies are files."""
    cache = worlds.apple(path(name), worlds.entries(count), **options)
    for number in range(3):
        worlds.write_body(cache, worlds.body_name(number), age=3_600)
    return cache


def body_files(cache):
    return set(os.listdir(os.path.join(cache, "fsCachedData")))


def copied(cache, name=OTHER, encoding="UTF-8", journal="delete"):
    """A copy of a database with all rows, as `.dump` makes one."""
    source = worlds.connect(cache)
    statements = [each for each in source.iterdump() if "sqlite_sequence" not in each]
    source.close()
    connection = worlds.connect(cache, name)
    connection.execute(f"PRAGMA encoding = '{encoding}'")
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.executescript("\n".join(statements) + "PRAGMA user_version = 203;")
    return connection


def forget(cache, condition="1"):
    """Removes the rows of entries, so that only the other database names their body files; they are as old as orphans."""
    connection = worlds.connect(cache)
    for table in worlds.TABLES:
        connection.execute(f"DELETE FROM {table} WHERE {condition}")
    connection.close()


def age(cache):
    for name in body_files(cache):
        os.utime(os.path.join(cache, "fsCachedData", name), (1_700_000_000,) * 2)


def names(connection):
    return {row[0] for row in connection.execute(f"SELECT receiver_data FROM {worlds.BODIES} WHERE isDataOnFS")}


def findings(cache):
    report = json.loads(run("check", "-c", cache, "--format", "json", status=None).stdout)
    return [each for each in report["findings"] if each["code"].endswith("-body-file")]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("other", ["copy", "UTF-16le", "UTF-16be", "only in the log", "held", "hot journal"])
def test_orphans(verb, other):
    """What another database names is no orphan, whatever its encoding and wherever its rows are; the true orphans are removed."""
    cache = make()
    connection = copied(cache, encoding=other if other.startswith("UTF") else "UTF-8",
                        journal="wal" if other in ("only in the log", "held") else "delete")
    named = names(connection)
    if other == "only in the log":
        # In the database itself, there are no rows, and so no names.
        connection.close()
        os.remove(os.path.join(cache, OTHER))
        connection = copied(cache, journal="wal")
        assert os.path.getsize(os.path.join(cache, OTHER + "-wal"))
        with worlds.keeping(cache, OTHER):
            connection.close()
    elif other == "hot journal":
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute(f"UPDATE {worlds.BODIES} SET isDataOnFS = 0, receiver_data = randomblob(9000)")
        with worlds.keeping(cache, OTHER):
            connection.execute("ROLLBACK")
            connection.close()
        assert os.path.getsize(os.path.join(cache, OTHER + "-journal"))
    elif other != "held":
        connection.close()
    forget(cache, "entry_ID % 2")
    age(cache)
    before, others = body_files(cache), worlds.changes({}, worlds.canary(cache))
    digests = {name: digest for name, digest in scratch.digests(cache).items() if name.startswith(OTHER) and "-shm" not in name}
    if verb == "check":
        assert {os.path.basename(each["path"]) for each in findings(cache)} == before - named, findings(cache)
        usage = json.loads(run("usage", "-c", cache, "--format", "json").stdout)
        assert usage["footprint"]["orphan_files"] == 3, usage
    result = run(*VERBS[verb], "-c", cache, status=None)
    assert result.returncode in (0, 1, 3), result
    assert body_files(cache) == named, (result, len(before), len(named))
    # The neighbour is only read.
    assert digests == {name: digest for name, digest in scratch.digests(cache).items() if name in digests}, others
    if other == "held":
        assert names(connection) == named
        connection.close()


def test_entries():
    """An entry is removed without its body file if another database names that; the preview counts the same bytes as the receipt."""
    cache = make()
    copied(cache).close()
    connection = worlds.connect(cache, OTHER)
    for table in worlds.TABLES:
        connection.execute(f"DELETE FROM {table} WHERE entry_ID % 2 = 0")
    kept, all_names = names(connection), worlds.files_of(cache)
    connection.close()
    assert kept and kept < all_names
    dry = json.loads(run("purge", "-c", cache, "--all", "-n", "--format", "json").stdout)
    result = run("purge", "-c", cache, "--all", "--yes", "--format", "json")
    wet = json.loads(result.stdout)
    assert body_files(cache) == kept | {worlds.body_name(number) for number in range(3)}, result
    assert wet["footprint_after"] == dry["footprint_after"], (dry, wet)
    assert f"note: kept body files that another database in the folder refers to, or may refer to: {len(kept)}\n".encode() in result.stderr, result
    assert json.loads(run("list", "-c", os.path.join(cache, OTHER), "--body", "missing", "--format", "json").stdout)["entries"] == []


def garbage(cache):
    with open(os.path.join(cache, OTHER), "wb") as file:
        file.write(b"SQLite format 3\0" + bytes(range(256)) * 40)


def cut(cache):
    copied(cache).close()
    os.truncate(os.path.join(cache, OTHER), 12_000)


def short(cache):
    with open(os.path.join(cache, OTHER), "wb") as file:
        file.write(b"SQLite format 3\0")


def damaged(cache):
    """The first page of the table is an empty one: a scan finds no rows, and no damage."""
    connection = copied(cache)
    root, size = connection.execute(f"SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master WHERE name = '{worlds.BODIES}'").fetchone()
    connection.close()
    with open(os.path.join(cache, OTHER), "r+b") as file:
        file.seek((root - 1) * size)
        file.write(bytes([13, 0, 0, 0, 0, size >> 8, size & 255, 0]))


def view(cache):
    connection = sqlite3.connect(os.path.join(cache, OTHER))
    connection.execute(f"CREATE VIEW {worlds.BODIES} AS SELECT 1 AS isDataOnFS, 'x' AS receiver_data")
    connection.close()


def locked(cache):
    connection = copied(cache)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


UNREADABLE = {"garbage": garbage, "cut": cut, "short": short, "damaged": damaged, "view": view, "locked": locked}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_unknown(kind):
    """While a database cannot be read, every body file may be its own: none is removed, and the finding names the database."""
    cache = make()
    held = UNREADABLE[kind](cache)
    age(cache)
    before = body_files(cache)
    forget(cache, "entry_ID % 2")
    wait = ["--wait", "200ms"]
    report = json.loads(run("check", "-c", cache, "--format", "json", *wait, status=1).stdout)
    found = [each for each in report["findings"] if each["code"] == "undecided-body-file"]
    assert {os.path.basename(each["path"]) for each in found} == before - worlds.files_of(cache), report
    assert all(f"'{OTHER}' in the same folder cannot be read: " in each["message"] and not each["repairable"] for each in found), found
    for words in VERBS.values():
        result = run(*words, "-c", cache, *wait, status=None)
        assert result.returncode in (0, 1, 3) and body_files(cache) == before, (words, result)
    assert worlds.contents(cache) == {}
    if held:
        held.close()
        # Now it can be read, and names all but the three.
        run(*VERBS["check"], "-c", cache)
        assert len(before - body_files(cache)) == 3


def foreign(cache):
    connection = sqlite3.connect(os.path.join(cache, "Other.db"))
    connection.execute("CREATE TABLE t (a)")
    connection.execute("INSERT INTO t VALUES (?)", (worlds.body_name(0),))
    connection.commit()
    connection.close()


def old_schema(cache):
    worlds.apple(cache, worlds.entries(5), schema=13, name="Old.db")


def inline(cache):
    """The name is a body in the database, and not that of a file."""
    connection = worlds.create(cache, name="Other.db")
    connection.execute(f"INSERT INTO {worlds.BODIES} VALUES (1, 0, ?)", (worlds.body_name(0),))
    connection.close()


def elsewhere(cache):
    """A link leads to a database whose body files are in another folder, and a pipe would be waited for."""
    os.mkdir(path("elsewhere"))
    shutil.copy(os.path.join(cache, "Cache.db"), path("elsewhere"))
    os.symlink(path("elsewhere/Cache.db"), os.path.join(cache, "Link.db"))
    os.mkfifo(os.path.join(cache, "Pipe.db"))
    os.mkdir(os.path.join(cache, "Folder.db"))
    for name, data in [("note.txt", b"SQLite format 4\0"), ("empty.db", b""), ("-wal", b"x"), ("Cache.db.txt", b"SQLite")]:
        with open(os.path.join(cache, name), "wb") as file:
            file.write(data)


@pytest.mark.parametrize("kind", [foreign, old_schema, inline, elsewhere])
def test_not_neighbours(kind):
    """What is no cache, or has no body files here, protects no file: orphans are removed, and entries with their files."""
    cache = make()
    kind(cache)
    assert {each["code"] for each in findings(cache)} == {"orphan-body-file"}
    run(*VERBS["check"], "-c", cache)
    assert body_files(cache) == worlds.files_of(cache)
    result = run("purge", "-c", cache, "--all", "--yes")
    assert body_files(cache) == set() and b"kept" not in result.stderr, result


@pytest.mark.parametrize("kind", ["readable", "garbage"])
def test_appearing(kind):
    """A database that appears while the question waits is read before the first file is removed."""
    cache = make()
    copied(cache, name="later").close()
    os.rename(os.path.join(cache, "later"), path("later"))
    for number in range(0, 30, 2):
        forget(cache, f"entry_ID = {number}")
    age(cache)
    before = body_files(cache)
    for words in [["check", "--repair=orphans"], ["purge", "--all"]]:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(tool, [tool, *words, "-c", cache])
        output = b""
        while b"[y/N] " not in output:
            assert select.select([terminal], [], [], 20)[0], output
            output += os.read(terminal, 65536)
        if kind == "readable":
            shutil.copy(path("later"), os.path.join(cache, OTHER))
        else:
            garbage(cache)
        os.write(terminal, b"y\n")
        try:
            while part := os.read(terminal, 65536):
                output += part
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(terminal)
        orphans = {worlds.body_name(number) for number in range(3)}
        is_removed = kind == "readable" and words[0] == "check"
        assert body_files(cache) == (before - orphans if is_removed else before), (words, output)
        os.remove(os.path.join(cache, OTHER))
        if is_removed:
            for name in orphans:
                worlds.write_body(cache, name, age=3_600)


@strace.needed
def test_intents(monkeypatch):
    """What a killed command was about to remove is kept if another database names it by now."""
    monkeypatch.setenv("XDG_STATE_HOME", path("state"))
    cache = make()
    shutil.copy(os.path.join(cache, "Cache.db"), path("later"))
    before = worlds.files_of(cache)
    killed = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=unlinkat", "-e", "inject=unlinkat:signal=SIGKILL:when=1",
                             tool, "purge", "-c", cache, "--all", "--yes"], capture_output=True)
    assert killed.returncode < 0 or killed.returncode == 137, killed
    left = body_files(cache) & before
    assert worlds.contents(cache) == {} and left
    garbage(cache)
    run("purge", "-c", cache, "--all", "--yes")
    assert body_files(cache) & before == left
    shutil.copy(path("later"), os.path.join(cache, OTHER))
    run("purge", "-c", cache, "--all", "--yes")
    assert body_files(cache) & before == left
    os.remove(os.path.join(cache, OTHER))
