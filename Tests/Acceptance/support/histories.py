"""Makes Apple caches with a history, and keeps a log of each version of each entry that was ever written.

    python3 histories.py FOLDER SEED     makes a cache, and prints what the log has
"""

import datetime
import os
import plistlib
import random
import shutil
import sqlite3
import sys
import uuid
import zlib

EPOCH = 978307200
START = 1_700_000_000


class History:
    """A cache that is written and rewritten; `versions` has all states of its entries, `now` the present ones."""

    def __init__(self, folder, seed, schema=None, vacuum=None, journal=None):
        self.random = random.Random(seed)
        self.folder = folder
        self.schema = schema or self.random.choice([203, 203, 202, 106, 25, 13, 11])
        self.vacuum = self.random.choice([0, 1, 2]) if vacuum is None else vacuum
        self.journal = journal or self.random.choice(["WAL", "WAL", "WAL", "DELETE", "PERSIST"])
        self.has_files = self.schema >= 25
        self.versions, self.now, self.clock = [], {}, START
        os.makedirs(os.path.join(folder, "fsCachedData"), exist_ok=True)
        self.database = sqlite3.connect(os.path.join(folder, "Cache.db"), isolation_level=None)
        run = self.database.execute
        run("PRAGMA page_size=4096")
        run(f"PRAGMA auto_vacuum={self.vacuum}")
        run(f"PRAGMA journal_mode={self.journal}").fetchone()
        run("PRAGMA synchronous=OFF")
        run("PRAGMA secure_delete=OFF")
        run("PRAGMA wal_autocheckpoint=0")
        partition = ", partition TEXT" if self.schema >= 13 else ""
        flag = "isDataOnFS INTEGER, " if self.has_files else ""
        if self.schema < 203:
            run("CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER)")
            run(f"INSERT INTO cfurl_cache_schema_version VALUES ({self.schema})")
        run("CREATE TABLE cfurl_cache_response(entry_ID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, version INTEGER, hash_value INTEGER,"
            f" storage_policy INTEGER, request_key TEXT UNIQUE, time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP{partition})")
        run("CREATE TABLE cfurl_cache_blob_data(entry_ID INTEGER PRIMARY KEY, response_object BLOB, request_object BLOB,"
            " proto_props BLOB, user_info BLOB)")
        run(f"CREATE TABLE cfurl_cache_receiver_data(entry_ID INTEGER PRIMARY KEY, {flag}receiver_data BLOB)")
        run("CREATE INDEX request_key_index ON cfurl_cache_response(request_key)")
        run("CREATE INDEX time_stamp_index ON cfurl_cache_response(time_stamp)")
        run("CREATE INDEX proto_props_index ON cfurl_cache_blob_data(entry_ID)")
        run("CREATE INDEX receiver_data_index ON cfurl_cache_receiver_data(entry_ID)")
        if self.schema == 203:
            run("PRAGMA user_version=203")

    def values(self, url):
        """New property lists and a new body for a URL."""
        random = self.random
        self.clock += random.randrange(1, 5000)
        stored = self.clock + 0.5
        size = random.choice([1, 3, 90, 700, 3000, 3000, 4090, 4096, 9000, 30000])
        body = random.randbytes(size)
        headers = {"Content-Type": "text/html", "Content-Length": str(size), "Etag": f'"{random.randrange(10**9)}"',
                   "X-Filler": "x" * random.choice([0, 10, 600, 3000])}
        address = {"_CFURLString": url, "_CFURLStringType": 15}
        response = {"Array": [address, stored - EPOCH, 0, 200, headers, size, "text/html"], "Version": 1}
        null = "__CFURLRequestNullTokenString__"
        request = {"Array": [False, address, 60.0, 0, null, True, 0, null, null, True, False, 0, 0.0, 0.0, 0, -1, null, 2, "GET",
                             {"Accept": "*/*"}, null, null], "Version": 9}
        lists = [plistlib.dumps(value, fmt=plistlib.FMT_BINARY) for value in (response, request)]
        return stored, lists, body

    def write_body(self, body):
        """The columns of a body, which is a file if it is large."""
        if not self.has_files:
            return [body], None
        if len(body) < 4096:
            return [0, body], None
        name = str(uuid.UUID(int=self.random.getrandbits(128))).upper()
        with open(os.path.join(self.folder, "fsCachedData", name), "wb") as file:
            file.write(body)
        return [1, name], name

    def store(self, url):
        """Stores a URL as CFNetwork does: a new entry, or all rows of the present one in their place."""
        run = self.database.execute
        stored, lists, body = self.values(url)
        columns, name = self.write_body(body)
        places = "?, " * len(columns) + "?"
        old = self.now.get(url)
        if old is None:
            run("INSERT INTO cfurl_cache_response(version, hash_value, storage_policy, request_key, time_stamp) VALUES (0, ?, 0, ?,"
                " datetime(?, 'unixepoch'))", (zlib.crc32(url.encode()), url, int(stored)))
            number = run("SELECT last_insert_rowid()").fetchone()[0]
            run("INSERT INTO cfurl_cache_blob_data VALUES (?, ?, ?, NULL, NULL)", (number, *lists))
            run(f"INSERT INTO cfurl_cache_receiver_data VALUES ({places})", (number, *columns))
        else:
            number = old["id"]
            run("UPDATE cfurl_cache_blob_data SET response_object=?, request_object=? WHERE entry_ID=?", (*lists, number))
            flag = "isDataOnFS=?, " if self.has_files else ""
            run(f"UPDATE cfurl_cache_receiver_data SET {flag}receiver_data=? WHERE entry_ID=?", (*columns, number))
            if old["file"]:
                os.remove(os.path.join(self.folder, "fsCachedData", old["file"]))
                old["file_is_lost"] = True
        version = {"id": number, "url": url, "stored": stored, "response": lists[0], "body": body, "file": name, "file_is_lost": False}
        self.versions.append(version)
        self.now[url] = version

    def remove(self, url):
        """Removes an entry; its body file often stays, as after a crash."""
        version = self.now.pop(url)
        for table in ["response", "blob_data", "receiver_data"]:
            self.database.execute(f"DELETE FROM cfurl_cache_{table} WHERE entry_ID=?", (version["id"],))
        if version["file"] and self.random.random() < 0.5:
            os.remove(os.path.join(self.folder, "fsCachedData", version["file"]))
            version["file_is_lost"] = True

    def transaction(self):
        """Stores and removes some entries in one transaction."""
        random = self.random
        self.database.execute("BEGIN")
        for _ in range(random.choice([1, 1, 2, 5, 20])):
            if self.now and random.random() < 0.3:
                self.remove(random.choice(sorted(self.now)))
            elif self.now and random.random() < 0.3:
                self.store(random.choice(sorted(self.now)))
            else:
                self.store(f"https://{random.choice('abc')}.example/{random.randrange(10**6)}/{'p' * random.choice([1, 9, 200])}")
        self.database.execute("COMMIT")

    def run(self, transactions):
        """Makes a history, which never ends with a checkpoint."""
        for number in range(transactions):
            self.transaction()
            if number + 3 < transactions:
                if self.random.random() < 0.06:
                    self.database.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
                if self.vacuum == 2 and self.random.random() < 0.05:
                    self.database.execute("PRAGMA incremental_vacuum").fetchall()
                if self.random.random() < 0.02:
                    self.database.execute("VACUUM")
        return self

    def clear(self):
        """Removes four fifths of the entries, and moves the log into the database: then there are free pages."""
        self.database.execute("BEGIN")
        for url in self.random.sample(sorted(self.now), len(self.now) * 4 // 5):
            self.remove(url)
        self.database.execute("COMMIT")
        self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return self

    def kill(self, folder):
        """Copies the cache as a killed process leaves it, and closes the original."""
        shutil.copytree(self.folder, folder)
        for name in os.listdir(folder):
            if name.endswith("-shm"):
                os.remove(os.path.join(folder, name))
        self.database.close()
        return folder


def seconds(text):
    """A time in JSON as seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def states_in_log(folder, scratch):
    """All versions of entries that SQLite shows after each transaction of the present generation of the log."""
    path = os.path.join(folder, "Cache.db")
    with open(path, "rb") as file:
        database = bytearray(file.read())
    log = b""
    if os.path.exists(path + "-wal"):
        with open(path + "-wal", "rb") as file:
            log = file.read()
    found = set()

    def note():
        copy = os.path.join(scratch, "state.db")
        data = bytearray(database)
        data[18:20] = b"\1\1"
        with open(copy, "wb") as file:
            file.write(data)
        connection = sqlite3.connect(f"file:{copy}?immutable=1", uri=True)
        try:
            for number, response in connection.execute(
                    "SELECT entry_ID, response_object FROM cfurl_cache_response JOIN cfurl_cache_blob_data USING (entry_ID)"):
                found.add((number, int(plistlib.loads(response)["Array"][1] + EPOCH)))
        except sqlite3.DatabaseError:
            pass  # before the tables
        connection.close()

    if len(log) < 32:
        return found
    note()
    salt, place = log[16:24], 32
    while place + 24 + 4096 <= len(log) and log[place + 8:place + 16] == salt:
        page, size = int.from_bytes(log[place:place + 4], "big"), int.from_bytes(log[place + 4:place + 8], "big")
        end = page * 4096
        if len(database) < end:
            database.extend(bytes(end - len(database)))
        database[end - 4096:end] = log[place + 24:place + 24 + 4096]
        if size:
            del database[size * 4096:]
            note()
        place += 24 + 4096
    return found


if __name__ == "__main__":
    history = History(sys.argv[1], int(sys.argv[2])).run(40)
    print(history.schema, history.vacuum, history.journal, len(history.versions), "versions,", len(history.now), "present")
