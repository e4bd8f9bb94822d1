"""A made-up home with 40 caches in all places, with files that look like caches, and with folders that cannot be read."""

import base64
import datetime
import os
import plistlib
import shutil
import sqlite3

import apple_systems

RESPONSE = """CREATE TABLE cfurl_cache_response(entry_ID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, version INTEGER,
  hash_value INTEGER, storage_policy INTEGER, request_key TEXT UNIQUE,
  time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP, partition TEXT)"""
OTHERS = """;CREATE TABLE cfurl_cache_blob_data(entry_ID INTEGER PRIMARY KEY, response_object BLOB,
  request_object BLOB, proto_props BLOB, user_info BLOB);
CREATE TABLE cfurl_cache_receiver_data(entry_ID INTEGER PRIMARY KEY, isDataOnFS INTEGER,
  receiver_data BLOB);"""
SCHEMA = RESPONSE + OTHERS + "PRAGMA user_version = 203;"
FIRST = 700_000_000


def time_text(seconds):
    moment = datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def connect(path, mode="wal", schema=SCHEMA):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(f"PRAGMA journal_mode={mode}")
    database.executescript(schema)
    return database


def insert(database, entries):
    """Entries, the newest in the middle."""
    database.execute("BEGIN")
    for number in range(1, entries + 1):
        stored = FIRST + (number * 13) % entries
        response = plistlib.dumps({"Array": [{"_CFURLString": f"https://a/{number}", "_CFURLStringType": 15},
                                             float(stored), 0, 200, {}, 3, "text/plain"], "Version": 1},
                                  fmt=plistlib.FMT_BINARY)
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, request_key) VALUES (?, ?)", (number, f"k{number}"))
        database.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object) VALUES (?, ?)",
                         (number, response))
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, x'61')", (number,))
    database.execute("COMMIT")


def apple(path, entries, mode="wal", closed=True):
    """Makes the database of a cache; a database that is not closed keeps its rows in its log."""
    database = connect(path, mode)
    if not closed:
        database.execute("PRAGMA wal_autocheckpoint=0")
    insert(database, entries)
    if closed:
        database.close()
        return expected_apple(path, entries)
    folder = os.path.dirname(path)
    shutil.copytree(folder, folder + ".copy")
    database.close()
    shutil.rmtree(folder)
    os.rename(folder + ".copy", folder)
    if os.path.exists(path + "-shm"):
        os.remove(path + "-shm")
    return expected_apple(path, entries)


def expected_apple(path, entries):
    bodies = os.path.join(os.path.dirname(path), "fsCachedData")
    files = [path + suffix for suffix in ("", "-wal", "-shm") if os.path.exists(path + suffix)]
    files += [os.path.join(bodies, name) for name in os.listdir(bodies)] if os.path.isdir(bodies) else []
    return {"path": path, "format": "apple", "schema_version": 203, "entries": entries,
            "footprint_bytes": sum(map(os.path.getsize, files)),
            "newest_stored": time_text(FIRST + entries - 1) if entries else None,
            "in_use": False, "pid": None, "default_of": default_of(path), "notes": []}


def default_of(path):
    """The app whose default cache a path is, by the folders that it is in."""
    parts = path.split("/")
    if parts[-1] == "Cache.db" and parts[-3] == "Caches":
        return parts[-2] if "Containers" not in parts or parts[parts.index("Containers") + 1] == parts[-2] else None
    return parts[-1] if parts[-2] == "org.swift.foundation.URLCache" else None


def foundation(path, names, others=()):
    """Makes the folder of a cache, in which no two files have the same size."""
    os.makedirs(path)
    for length, name in enumerate([*names, *others], 600):
        with open(os.path.join(path, name), "wb") as file:
            file.write(b"x" * length)
    times = [int(name.split(".")[0]) for name in names]
    times = [seconds for seconds in times if abs(seconds) < 10 ** 11]
    return {"path": path, "format": "foundation", "schema_version": None, "entries": len(names),
            "footprint_bytes": sum(range(600, 600 + len(names))),
            "newest_stored": time_text(max(times)) if times else None,
            "in_use": None, "pid": None, "default_of": default_of(path), "notes": []}


def entry(seconds, host="a.example", suffix="storedcachedurlresponse"):
    name = base64.b64encode(f"{host}\0-1\0/\0".encode()).decode().replace("/", "+")
    return f"{seconds}.{name}.{suffix}"


def make_caches(home):
    """Makes 40 caches of both kinds, and yields what 'discover' is to report of each."""
    library = "Library/Caches"
    yield apple(f"{home}/{library}/com.example.shop/Cache.db", 5)
    yield apple(f"{home}/{library}/com.example.news/nested/path/Cache.db", 3)
    yield apple(f"{home}/Library/Containers/com.example.app/Data/Library/Caches/com.example.app/Cache.db", 2)
    yield apple(f"{home}/Library/Group Containers/group.example/Library/Caches/Cache.db", 1)
    yield apple(f"{home}/Library/Developer/CoreSimulator/Devices/7B1B2C3D/data/Containers/Data/Application/0F/Library/"
                "Caches/com.example.sim/disk/Cache.db", 9)
    for number, name in enumerate(["cache.sqlite", "noname", "Cache.db.old", "CACHE.DB", "a b",
                                   "new\nline", "\u202ertl", "q?m=1#f%20&\"'", "-c", "é", "e\u0301"]):
        yield apple(f"{home}/renamed/{number}/{name}", number)
    yield apple(f"{home}/two/first.db", 2)
    yield apple(f"{home}/two/second.db", 4)
    yield apple(f"{home}/rollback/Cache.db", 4, mode="delete")
    yield apple(f"{home}/log/Cache.db", 6, closed=False)
    yield apple(f"{home}/empty/Cache.db", 0)
    bodies = os.path.join(home, "bodies/fsCachedData")
    os.makedirs(bodies)
    shutil.copy(os.path.join(home, "two/first.db"), os.path.join(bodies, "00000000-0000-0000-0000-000000000001"))
    yield apple(f"{home}/bodies/Cache.db", 7)
    # Without a cache next to it, a folder of this name is like any other.
    yield apple(f"{home}/no-store/fsCachedData/Cache.db", 1)
    yield apple(f"{home}/Cache.db/Cache.db", 1)
    yield apple(f"{home}/readable/Cache.db", 8)
    for path, _, names in os.walk(os.path.join(home, "readable")):
        for name in names:
            os.chmod(os.path.join(path, name), 0o444)
        os.chmod(path, 0o555)

    own = ".cache/org.swift.foundation.URLCache"
    yield foundation(f"{home}/{own}/server", [entry(FIRST), entry(FIRST + 5, "b.example"), entry(FIRST + 2, "c.example")])
    yield foundation(f"{home}/{own}/empty", [])
    yield foundation(f"{home}/{own}/crashed", [], [".dat.nosync1A2B.x7Yz01"])
    for number, names in enumerate([
        [entry(FIRST)], [entry("+7"), entry("-1")], [entry("007")], [entry("9223372036854775807")],
        [entry(1, suffix="StoredCachedURLResponse")], [entry(1), entry(2), entry(3)],
        ["5.any text.storedcachedurlresponse"], [entry(900_000_000)],
    ]):
        yield foundation(f"{home}/foundation/{number}", names, ["note.txt", ".dat.nosync1.abcdef"][:number % 3])
    yield foundation(f"{home}/foundation/0/inner", [entry(2)])
    yield foundation(f"{home}/mixed", [entry(1)])
    yield apple(f"{home}/mixed/Cache.db", 1)
    yield foundation(f"{home}/deep/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19", [entry(4)])


def make_decoys(home):
    """Makes files and folders that look like caches and are none."""
    def file(path, content):
        path = os.path.join(home, "decoys", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(content)
        return path

    def database(path, schema):
        connect(os.path.join(home, "decoys", path), schema=schema).close()

    file("zero/Cache.db", b"")
    file("text/Cache.db", b"SQLite format 4\0" * 400)
    file("short/Cache.db", b"SQLite format 3\0" + bytes(84))
    file("garbage/Cache.db", b"SQLite format 3\0" + os.urandom(8176))
    whole = open(os.path.join(home, "two/first.db"), "rb").read()
    file("cut/Cache.db", whole[:4096])
    database("other/Cache.db", "CREATE TABLE completion_cache_engagement(a)")
    database("begun/Cache.db", "CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER)")
    database("view/Cache.db", "CREATE VIEW cfurl_cache_response AS SELECT 1 AS entry_ID;" + OTHERS)
    database("columns/Cache.db", RESPONSE.replace("request_key", "other") + OTHERS)
    os.mkfifo(os.path.join(home, "decoys/fifo"))
    os.makedirs(os.path.join(home, "decoys/pipe"))
    os.mkfifo(os.path.join(home, "decoys/pipe/Cache.db"))
    os.makedirs(os.path.join(home, "decoys/folder/Cache.db"))
    os.makedirs(os.path.join(home, "decoys/links"))
    os.symlink(os.path.join(home, "two/first.db"), os.path.join(home, "decoys/links/Cache.db"))
    os.symlink(os.path.join(home, "two"), os.path.join(home, "decoys/links/folder"))
    os.symlink("..", os.path.join(home, "decoys/links/loop"))
    os.symlink(".", os.path.join(home, "decoys/links/self"))
    os.symlink("ping", os.path.join(home, "decoys/links/pong"))
    os.symlink("pong", os.path.join(home, "decoys/links/ping"))
    os.symlink("/", os.path.join(home, "decoys/links/root"))
    os.symlink("/dev/zero", os.path.join(home, "decoys/links/zero"))
    os.symlink("none", os.path.join(home, "decoys/links/dangling"))
    file("names/Cache.db.storedcachedurlresponse", b"x" * 600)
    for number, name in enumerate(["x.y.storedcachedurlresponse", "1.storedcachedurlresponse", ".storedcachedurlresponse",
                                   "1.a.b.storedcachedurlresponse", "99999999999999999999.a.storedcachedurlresponse",
                                   "1.a.storedcachedurlresponse.bak", "1.a.storedcachedurlrespons!"]):
        file(f"names/{number}/{name}", b"x" * 600)
    os.makedirs(os.path.join(home, "decoys/names/folder", entry(1)))
    os.makedirs(os.path.join(home, "decoys/names/link"))
    os.symlink("/etc/passwd", os.path.join(home, "decoys/names/link", entry(1)))
    os.makedirs(os.path.join(home, ".cache/org.swift.foundation.URLCache/other"), exist_ok=True)
    with open(os.path.join(home, ".cache/org.swift.foundation.URLCache/other/README"), "w") as stream:
        stream.write("no entry")
    for name, make in apple_systems.MAKERS.items():
        if name.startswith("not-a-cache-") or name == "half-created":
            make(os.path.join(home, "decoys", name))


def make_unreadable(home):
    """Makes folders that hide a cache from this user, and returns their paths."""
    def locked(path, mode):
        path = os.path.join(home, path)
        apple(os.path.join(path, "Cache.db"), 1)
        os.chmod(path, mode)
        return path

    return [locked("locked/none", 0), locked("locked/names only", 0o444), locked("locked/no names", 0o111)]
