"""Opens caches in every state that a database can be in, beside a real second process.

    check_opening.py URLCACHE-ADMIN

Prints a line for each state, and ends at the first that is not as it should be.
"""

import hashlib, json, os, plistlib, shutil, sqlite3, subprocess, sys, tempfile, time

tool = sys.argv[1]
root = tempfile.mkdtemp()
os.chmod(root, 0o755)

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


def make(name, entries=7, mode="wal", schema=SCHEMA):
    """A cache of some entries that was closed, and an open connection to it."""
    folder = os.path.join(root, name)
    os.mkdir(folder)
    path = os.path.join(folder, "Cache.db")
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(f"PRAGMA journal_mode={mode}")
    database.executescript(schema)
    database.execute("BEGIN")
    insert(database, 1, entries + 1)
    database.execute("COMMIT")
    return folder, database


def crashed(name, statements, keep, mode="wal"):
    """A cache as a process leaves it that ends amid `statements`."""
    folder, database = make(name, mode=mode)
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
    for path in [folder] + [os.path.join(folder, name) for name in sorted(os.listdir(folder))]:
        status = os.lstat(path)
        digest = None
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
        # The index of a live log may see its read marks move.
        if not path.endswith("-shm"):
            result[path] = (digest, status.st_mtime_ns, status.st_size)
        else:
            result[path] = status.st_size
    return result


def run(folder, *options, as_nobody=False, timeout=120):
    user = {"user": "nobody"} if as_nobody and os.getuid() == 0 else {}
    environment = dict(os.environ, TMPDIR="/tmp", HOME="/")
    return subprocess.run([tool, "list", "-c", folder, "--format", "json", *options],
                          capture_output=True, timeout=timeout, env=environment, **user)


def expect(name, folder, rows=None, status=0, contains="", look=None, **options):
    before = state(look or folder) if os.path.isdir(look or folder) else None
    start = time.monotonic()
    wait = options.pop("wait", "100ms")
    result = run(folder, "--wait", wait, **options)
    assert time.monotonic() - start < 60, f"{name}: too slow"
    assert result.returncode == status, (name, result.returncode, result.stderr)
    assert contains in result.stderr.decode(), (name, result.stderr)
    if rows is not None:
        listed = [entry["id"] for entry in json.loads(result.stdout)["entries"]]
        assert listed == list(rows), (name, listed)
    if before is not None:
        after = state(look or folder)
        assert after == before, (name, before, after)
    print(f"{name}: ok", flush=True)
    return result


def read_only(folder):
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o444)
    os.chmod(folder, 0o555)
    return folder


def child(folder, *statements, mode=None):
    """A second process that has a database open and does some of a transaction."""
    script = (
        "import sqlite3, sys, time\n"
        "d = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "for s in sys.argv[2:]: d.execute(s).fetchall()\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n")
    process = subprocess.Popen([sys.executable, "-c", script, os.path.join(folder, "Cache.db"), *statements],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


def end(process):
    process.stdin.close()
    process.wait()


def main():
    folder, database = make("closed")
    database.close()
    expect("closed", folder, range(1, 8))
    expect("closed, read-only folder", read_only(folder), range(1, 8), as_nobody=True)

    add = ["PRAGMA wal_autocheckpoint=0", "BEGIN",
           "INSERT INTO cfurl_cache_response(entry_ID, storage_policy, request_key) VALUES (100, 0, 'x')",
           "COMMIT"]
    folder = crashed("log", add, ["Cache.db", "Cache.db-wal"])
    expect("log without index", folder, [*range(1, 8), 100])
    expect("log without index, read-only folder", read_only(folder), [*range(1, 8), 100], as_nobody=True)

    drop = ["PRAGMA cache_size=1", "BEGIN", "UPDATE cfurl_cache_blob_data SET proto_props = randomblob(9000)",
            "DELETE FROM cfurl_cache_response", "DELETE FROM cfurl_cache_blob_data WHERE entry_ID < 7"]
    folder = crashed("journal", drop, ["Cache.db", "Cache.db-journal"], mode="delete")
    hot = open(os.path.join(folder, "Cache.db-journal"), "rb").read(8)
    assert hot == bytes.fromhex("d9d505f920a163d7"), "the journal is not hot"
    before = set(os.listdir("/tmp"))
    expect("hot journal", folder, range(1, 8), contains="private copy")
    left = [name for name in set(os.listdir("/tmp")) - before if name.startswith("urlcache-admin.")]
    assert not left, left
    expect("hot journal, read-only folder", read_only(folder), range(1, 8), as_nobody=True)
    other = crashed("super", drop, ["Cache.db", "Cache.db-journal"], mode="delete")
    with open(os.path.join(other, "Cache.db-journal"), "ab") as file:
        file.write(b"/tmp/x" + (6).to_bytes(4, "big") + sum(b"/tmp/x").to_bytes(4, "big")
                   + bytes.fromhex("d9d505f920a163d7"))
    expect("journal of several files", other, status=65, contains="several files")

    folder, database = make("live")
    process = child(folder, "SELECT * FROM cfurl_cache_response")
    database.close()
    expect("live", folder, range(1, 8))
    end(process)
    folder, database = make("writing")
    database.execute("BEGIN")
    database.close()
    process = child(folder, "BEGIN IMMEDIATE", *[
        f"INSERT INTO cfurl_cache_response(entry_ID, request_key) VALUES ({n}, 'k{n}')" for n in range(100, 1100)])
    expect("live, open write transaction", folder, range(1, 8))
    end(process)
    folder, database = make("rollback", mode="delete")
    database.close()
    process = child(folder, "BEGIN IMMEDIATE", "DELETE FROM cfurl_cache_response WHERE entry_ID = 1")
    expect("live, rollback journal", folder, range(1, 8))
    end(process)
    folder, database = make("exclusive", mode="delete")
    database.close()
    process = child(folder, "BEGIN EXCLUSIVE")
    expect("exclusive lock", folder, status=75, contains='"kind":"busy"')
    end(process)
    folder, database = make("locking")
    database.close()
    process = child(folder, "PRAGMA locking_mode=EXCLUSIVE", "SELECT * FROM cfurl_cache_response",
                    "INSERT INTO cfurl_cache_response(request_key) VALUES ('x')")
    expect("exclusive locking mode", folder, status=75, contains='"kind":"busy"')
    end(process)

    folder, database = make("changing", entries=3000)
    database.close()
    with subprocess.Popen([tool, "list", "-c", folder, "--format", "ndjson"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(1)
        os.utime(os.path.join(folder, "Cache.db"))
        _, errors = process.communicate()
        assert process.returncode == 75 and b"changed while reading" in errors, (process.returncode, errors)
    print("changed while reading: ok", flush=True)

    folder = crashed("empty", add, ["Cache.db", "Cache.db-wal"])
    os.truncate(os.path.join(folder, "Cache.db"), 0)
    expect("empty file with a log", folder, status=65, contains="empty")

    hostile("view", "CREATE VIEW cfurl_cache_response AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL "
            "SELECT n + 1 FROM c) SELECT n AS entry_ID, n AS request_key FROM c", "is a view")
    hostile("virtual table", "CREATE VIRTUAL TABLE cfurl_cache_response USING fts4(entry_ID, request_key)",
            "virtual table")
    hostile("generated column", SCHEMA.split(";")[0].replace(
        "partition TEXT", "partition TEXT AS (hex(zeroblob(1000000)))"), "generated columns")
    folder, database = make("trigger")
    database.execute("CREATE TRIGGER t AFTER DELETE ON cfurl_cache_response BEGIN "
                     "DELETE FROM cfurl_cache_response; END")
    database.close()
    expect("trigger", folder, range(1, 8), contains="triggers")

    folder = os.path.join(root, "pipe")
    os.mkdir(folder)
    os.mkfifo(os.path.join(folder, "Cache.db"))
    expect("named pipe", folder, status=65, contains="named pipe")
    folder = os.path.join(root, "link")
    os.mkdir(folder)
    os.symlink(os.path.join(root, "closed", "Cache.db"), os.path.join(folder, "Cache.db"))
    expect("symbolic link", folder, status=65, contains="symbolic link")
    folder, database = make("walfolder")
    database.close()
    os.mkdir(os.path.join(folder, "Cache.db-wal"))
    expect("folder as log", folder, status=65, contains="a folder")
    expect("device", "/dev/zero", status=65, contains="device")
    expect("missing", os.path.join(root, "nothing"), status=66, contains="not-found")
    folder, database = make("secret")
    database.close()
    os.chmod(os.path.join(folder, "Cache.db"), 0)
    expect("unreadable", folder, status=77, contains="no-permission", as_nobody=True)

    bodies()
    oddities()


def hostile(name, statement, reason):
    folder, database = make(name.replace(" ", "-"))
    database.execute("DROP TABLE cfurl_cache_response")
    database.execute(statement)
    database.close()
    expect(name, folder, status=65, contains=reason)


def bodies():
    """Names of body files that lead elsewhere, or to what is no regular file."""
    folder, database = make("bodies", entries=0)
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
    assert [(entry["body_location"], entry["size"]) for entry in entries] == \
        [("missing", None)] * 5 + [("file", 4)], entries
    assert [len(entry["notes"]) for entry in entries] == [1, 1, 1, 1, 1, 0], entries
    for number in range(1, 6):
        result = subprocess.run([tool, "body", "-c", folder, str(number)], capture_output=True, timeout=120)
        assert result.returncode in (1, 65) and not result.stdout, (number, result)
    assert subprocess.run([tool, "body", "-c", folder, "6"], capture_output=True).stdout == b"body"
    print("body file names: ok", flush=True)


def oddities():
    folder, database = make("odd")
    database.execute("DELETE FROM cfurl_cache_response WHERE entry_ID = 1")
    database.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID = 2")
    database.execute("DELETE FROM cfurl_cache_receiver_data WHERE entry_ID = 3")
    database.execute("UPDATE cfurl_cache_response SET request_key = CAST(x'ff00fe' AS TEXT) WHERE entry_ID = 4")
    database.execute("UPDATE cfurl_cache_response SET time_stamp = 1.5 WHERE entry_ID = 5")
    database.execute("UPDATE cfurl_cache_blob_data SET response_object = x'62706c697374303000' WHERE entry_ID = 6")
    database.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = NULL WHERE entry_ID = 7")
    database.close()
    entries = json.loads(run(folder).stdout)["entries"]
    assert [entry["id"] for entry in entries] == list(range(1, 8)), entries
    assert all(entry["notes"] for entry in entries), entries
    assert [entry["url"] for entry in entries] == [URL % n for n in range(1, 8)], entries
    keys = json.loads(run(folder, "--columns", "key").stdout)["entries"]
    assert keys[3] == {"key": None, "key_base64": "/wD+"}, keys[3]
    print("missing rows and wrong types: ok", flush=True)


try:
    main()
finally:
    subprocess.run(["chmod", "-R", "u+rwX", root])
    shutil.rmtree(root)
