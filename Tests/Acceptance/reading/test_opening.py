"""Opens caches in every state that a database can be in, also while a second process uses them."""

import contextlib
import hashlib
import json
import os
import plistlib
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest

import scratch
import strace
from products import tool
from scratch import path

SCHEMA = """
CREATE TABLE cfurl_cache_response(entry_ID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, version INTEGER,
  hash_value INTEGER, storage_policy INTEGER, request_key TEXT UNIQUE,
  time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP, partition TEXT);
CREATE TABLE cfurl_cache_blob_data(entry_ID INTEGER PRIMARY KEY, response_object BLOB,
  request_object BLOB, proto_props BLOB, user_info BLOB);
CREATE TABLE cfurl_cache_receiver_data(entry_ID INTEGER PRIMARY KEY, isDataOnFS INTEGER,
  receiver_data BLOB);
PRAGMA user_version = 203;
"""
URL = "https://a.example/%d"


def response(url):
    return plistlib.dumps(
        {"Array": [{"_CFURLString": url, "_CFURLStringType": 15}, 7e8, 0, 200, {"A": "b"}, 3, "text/plain"],
         "Version": 1}, fmt=plistlib.FMT_BINARY)


def request(url):
    array = ["__CFURLRequestNullTokenString__"] * 22
    array[1] = {"_CFURLString": url, "_CFURLStringType": 15}
    array[18], array[19] = "GET", {"Accept": "*/*"}
    return plistlib.dumps({"Array": array, "Version": 9}, fmt=plistlib.FMT_BINARY)


def insert(database, first, last, body=b"abc", on_disk=0):
    for number in range(first, last):
        url = URL % number
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, version, hash_value, storage_policy, "
                         "request_key, time_stamp) VALUES (?, 0, 0, 0, ?, '2026-01-01 00:00:00')", (number, url))
        database.execute("INSERT INTO cfurl_cache_blob_data VALUES (?, ?, ?, NULL, NULL)",
                         (number, response(url), request(url)))
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, ?, ?)", (number, on_disk, body))

ADD = ["PRAGMA wal_autocheckpoint=0", "BEGIN",
       "INSERT INTO cfurl_cache_response(entry_ID, storage_policy, request_key) VALUES (100, 0, 'x')", "COMMIT"]
CHANGE = ["PRAGMA cache_size=1", "BEGIN", "UPDATE cfurl_cache_blob_data SET proto_props = randomblob(9000)",
          "DELETE FROM cfurl_cache_response", "DELETE FROM cfurl_cache_blob_data WHERE entry_ID < 7"]
HOT = bytes.fromhex("d9d505f920a163d7")


@pytest.fixture(autouse=True)
def open_to_all():
    """Some tests run the program as another user."""
    os.chmod(scratch.root, 0o755)
    os.chmod(path("temporary"), 0o777)
    yield
    subprocess.run(["chmod", "-R", "u+rwX", scratch.root], check=True)


def make(name="cache", entries=7, mode="wal", schema=SCHEMA):
    """A cache of some entries that was closed, and an open connection to it."""
    folder = path(name)
    os.mkdir(folder)
    database = sqlite3.connect(os.path.join(folder, "Cache.db"), isolation_level=None)
    database.execute(f"PRAGMA journal_mode={mode}")
    database.executescript(schema)
    database.execute("BEGIN")
    insert(database, 1, entries + 1)
    database.execute("COMMIT")
    return folder, database


def closed(*statements, **options):
    """A cache that no process has open, after some statements."""
    folder, database = make(**options)
    for statement in statements:
        database.execute(statement)
    database.close()
    return folder


def crashed(statements, keep, mode="wal"):
    """A cache as a process leaves it that ends amid `statements`."""
    folder, database = make(mode=mode)
    for statement in statements:
        database.execute(statement)
    copy = folder + ".copy"
    os.mkdir(copy)
    for file in keep:
        shutil.copy(os.path.join(folder, file), copy)
    database.close()
    shutil.rmtree(folder)
    os.rename(copy, folder)
    return folder


def state(folder):
    result = {}
    for file in [folder] + [os.path.join(folder, name) for name in sorted(os.listdir(folder))]:
        status = os.lstat(file)
        digest = None
        if os.path.isfile(file) and not os.path.islink(file):
            with open(file, "rb") as opened:
                digest = hashlib.sha256(opened.read()).hexdigest()
        # The index of a live log may see its read marks move.
        result[file] = status.st_size if file.endswith("-shm") else (digest, status.st_mtime_ns, status.st_size)
    return result


def run(folder, *options, as_nobody=False):
    user = {"user": "nobody"} if as_nobody and os.getuid() == 0 else {}
    environment = os.environ | {"HOME": "/"}
    return subprocess.run([tool, "list", "-c", folder, "--format", "json", *options], capture_output=True, timeout=120, env=environment, **user)


def expect(folder, rows=None, status=0, contains="", as_nobody=False):
    """Lists a cache: the entries are shown, or it is refused, and nothing changes."""
    before = state(folder) if os.path.isdir(folder) else None
    start = time.monotonic()
    result = run(folder, "--wait", "100ms", as_nobody=as_nobody)
    assert time.monotonic() - start < 60, "too slow"
    assert result.returncode == status, (result.returncode, result.stderr)
    assert contains in result.stderr.decode(), result.stderr
    if rows is not None:
        assert [entry["id"] for entry in json.loads(result.stdout)["entries"]] == list(rows)
    if before is not None:
        assert state(folder) == before
    return result


def read_only(folder):
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o444)
    os.chmod(folder, 0o555)
    return folder


@contextlib.contextmanager
def beside(folder, *statements):
    """A second process that has a database open and does some of a transaction."""
    script = (
        "import sqlite3, sys\n"
        "d = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for s in sys.argv[2:]: d.execute(s).fetchall()\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n")
    process = subprocess.Popen([sys.executable, "-c", script, os.path.join(folder, "Cache.db"), *statements],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.communicate()


def check_both(folder, rows, contains=""):
    """The cache is read as it is, and by another user from a folder that is read-only."""
    expect(folder, rows, contains=contains)
    expect(read_only(folder), rows, as_nobody=True)


def test_closed():
    """A cache that no process has open is read, also where the folder is read-only."""
    check_both(closed(), range(1, 8))


def test_log_without_index():
    """A write-ahead log that an app left is read without its index, also where the folder is read-only."""
    check_both(crashed(ADD, ["Cache.db", "Cache.db-wal"]), [*range(1, 8), 100])


def test_hot_journal():
    """An unfinished transaction is rolled back in a private copy, of which nothing is left."""
    folder = crashed(CHANGE, ["Cache.db", "Cache.db-journal"], mode="delete")
    with open(os.path.join(folder, "Cache.db-journal"), "rb") as file:
        assert file.read(8) == HOT, "the journal is not hot"
    check_both(folder, range(1, 8), contains="private copy")
    # ThreadSanitizer puts files there, too.
    left = [name for name in os.listdir(path("temporary")) if name.startswith("urlcache-admin.")]
    assert not left, left


def test_journal_of_several_files():
    """A transaction over several databases cannot be rolled back for one of them."""
    folder = crashed(CHANGE, ["Cache.db", "Cache.db-journal"], mode="delete")
    with open(os.path.join(folder, "Cache.db-journal"), "ab") as file:
        file.write(b"/tmp/x" + (6).to_bytes(4, "big") + sum(b"/tmp/x").to_bytes(4, "big") + HOT)
    expect(folder, status=65, contains="another database")


def test_live():
    """A cache that an app reads is read."""
    folder, database = make()
    with beside(folder, "SELECT * FROM cfurl_cache_response"):
        database.close()
        expect(folder, range(1, 8))


def test_live_writer():
    """While an app writes, the last finished transaction is read."""
    folder = closed("BEGIN")
    with beside(folder, "BEGIN IMMEDIATE", *[
            f"INSERT INTO cfurl_cache_response(entry_ID, request_key) VALUES ({n}, 'k{n}')" for n in range(100, 1100)]):
        expect(folder, range(1, 8))


def test_live_rollback_journal():
    """While an app writes to a database with a rollback journal, the last finished transaction is read."""
    folder = closed(mode="delete")
    with beside(folder, "BEGIN IMMEDIATE", "DELETE FROM cfurl_cache_response WHERE entry_ID = 1"):
        expect(folder, range(1, 8))


@pytest.mark.parametrize(("mode", "statements"), [
    ("delete", ["BEGIN EXCLUSIVE"]),
    ("wal", ["PRAGMA locking_mode=EXCLUSIVE", "SELECT * FROM cfurl_cache_response",
             "INSERT INTO cfurl_cache_response(request_key) VALUES ('x')"])], ids=["transaction", "locking mode"])
def test_exclusive_lock(mode, statements):
    """A cache that an app has locked against readers is busy."""
    folder = closed(mode=mode)
    with beside(folder, *statements):
        expect(folder, status=75, contains='"kind":"busy"')


def test_changed_while_reading():
    """A list of a database that changes meanwhile ends with the status of a busy cache."""
    folder = closed(entries=3000)
    with subprocess.Popen([tool, "list", "-c", folder, "--format", "ndjson"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(1)
        os.utime(os.path.join(folder, "Cache.db"))
        _, errors = process.communicate()
        assert process.returncode == 75 and b"changed while it was read" in errors, (process.returncode, errors)


def test_empty_file_with_a_log():
    """A log of a database that is empty is not read."""
    folder = crashed(ADD, ["Cache.db", "Cache.db-wal"])
    os.truncate(os.path.join(folder, "Cache.db"), 0)
    expect(folder, status=65, contains="empty")


@pytest.mark.parametrize(("statement", "reason"), [
    ("CREATE VIEW cfurl_cache_response AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL "
     "SELECT n + 1 FROM c) SELECT n AS entry_ID, n AS request_key FROM c", "is a view"),
    ("CREATE VIRTUAL TABLE cfurl_cache_response USING fts4(entry_ID, request_key)", "virtual table"),
    (SCHEMA.split(";")[0].replace("partition TEXT", "partition TEXT AS (hex(zeroblob(1000000)))"), "generated columns")],
    ids=["view", "virtual table", "generated column"])
def test_hostile_schema(statement, reason):
    """A database whose tables would run statements of others is refused."""
    expect(closed("DROP TABLE cfurl_cache_response", statement), status=65, contains=reason)


def test_trigger():
    """A database with a trigger is only read, and a note mentions it."""
    folder = closed("CREATE TRIGGER t AFTER DELETE ON cfurl_cache_response BEGIN DELETE FROM cfurl_cache_response; END")
    expect(folder, range(1, 8), contains="triggers")


def test_named_pipe():
    """A named pipe instead of a database is refused, and not waited for."""
    os.mkdir(path("pipe"))
    os.mkfifo(path("pipe/Cache.db"))
    expect(path("pipe"), status=65, contains="named pipe")


def test_symbolic_link():
    """A symbolic link instead of a database is refused."""
    os.mkdir(path("link"))
    os.symlink(os.path.join(closed(), "Cache.db"), path("link/Cache.db"))
    expect(path("link"), status=65, contains="symbolic link")


def test_folder_as_log():
    """A folder instead of a write-ahead log is refused."""
    folder = closed()
    os.mkdir(os.path.join(folder, "Cache.db-wal"))
    expect(folder, status=65, contains="a folder")


def test_device():
    """A device is refused, and not read."""
    expect("/dev/zero", status=65, contains="device")


def test_missing():
    """A cache that does not exist is reported as not found."""
    expect(path("nothing"), status=66, contains="not-found")


def test_unreadable():
    """A database that this user may not read is refused."""
    folder = closed()
    os.chmod(os.path.join(folder, "Cache.db"), 0)
    expect(folder, status=77, contains="no-permission", as_nobody=True)


def test_body_files():
    """The name of a body file that leads elsewhere, or to something that is not a regular file, is not followed."""
    folder, database = make(entries=0)
    inside = os.path.join(folder, "fsCachedData")
    os.mkdir(inside)
    uuid = "00000000-0000-0000-0000-00000000000%d"
    names = ["../Cache.db", "/etc/passwd", uuid % 1, uuid % 2, uuid % 3, uuid % 4]
    os.symlink("/etc/passwd", os.path.join(inside, uuid % 1))
    os.mkfifo(os.path.join(inside, uuid % 2))
    with open(os.path.join(inside, uuid % 4), "wb") as file:
        file.write(b"body")
    for number, name in enumerate(names, 1):
        insert(database, number, number + 1, body=name, on_disk=1)
    database.close()
    entries = json.loads(run(folder).stdout)["entries"]
    assert [(entry["body_location"], entry["size"]) for entry in entries] == [("missing", None)] * 5 + [("file", 4)], entries
    assert [len(entry["notes"]) for entry in entries] == [1, 1, 1, 1, 1, 0], entries
    for number in range(1, 6):
        result = subprocess.run([tool, "body", "-c", folder, str(number)], capture_output=True, timeout=120)
        assert result.returncode in (1, 65) and not result.stdout, (number, result)
    assert subprocess.run([tool, "body", "-c", folder, "6"], capture_output=True).stdout == b"body"


def test_odd_rows():
    """Entries with missing rows and with values of the wrong type are listed with notes."""
    folder = closed(
        "DELETE FROM cfurl_cache_response WHERE entry_ID = 1",
        "DELETE FROM cfurl_cache_blob_data WHERE entry_ID = 2",
        "DELETE FROM cfurl_cache_receiver_data WHERE entry_ID = 3",
        "UPDATE cfurl_cache_response SET request_key = CAST(x'ff00fe' AS TEXT) WHERE entry_ID = 4",
        "UPDATE cfurl_cache_response SET time_stamp = 1.5 WHERE entry_ID = 5",
        "UPDATE cfurl_cache_blob_data SET response_object = x'62706c697374303000' WHERE entry_ID = 6",
        "UPDATE cfurl_cache_receiver_data SET receiver_data = NULL WHERE entry_ID = 7")
    entries = json.loads(run(folder).stdout)["entries"]
    assert [entry["id"] for entry in entries] == list(range(1, 8)), entries
    assert all(entry["notes"] for entry in entries), entries
    assert [entry["url"] for entry in entries] == [URL % n for n in range(1, 8)], entries
    keys = json.loads(run(folder, "--columns", "key").stdout)["entries"]
    assert keys[3] == {"key": None, "key_base64": "/wD+"}, keys[3]


@strace.needed
def test_closed_while_opening():
    """An app that closes its cache while the cache is opened here does not remove the log, which SQLite would then create again."""
    folder, database = make()
    with contextlib.ExitStack() as app:
        app.enter_context(beside(folder, "SELECT * FROM cfurl_cache_response"))
        database.close()
        before, trace = state(folder), path("trace")
        # The program looks for locks, and then lets SQLite open the file: the app closes it in between.
        words = ["strace", "-f", "-qq", "-o", trace, "-P", os.path.join(folder, "Cache.db"), "-e", "trace=openat,fcntl",
                 "-e", "inject=openat:delay_enter=400000:when=2"]
        with subprocess.Popen([*words, tool, "list", "-c", folder, "--format", "json"], stdout=subprocess.PIPE) as process:
            while process.poll() is None and not (os.path.exists(trace) and b"F_GETLK" in scratch.read(trace)):
                time.sleep(0.01)
            time.sleep(0.1)
            app.close()
            output, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and [entry["id"] for entry in json.loads(output)["entries"]] == list(range(1, 8))
    assert state(folder) == before
