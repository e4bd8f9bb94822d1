"""Writes to a cache as CFNetwork does, with random operations, and logs them.

    cfnetwork_writer.py DATABASE OPERATIONS SEED

Each operation is a transaction: a response is stored, which updates the rows of its key if there are some; one is removed;
the oldest are evicted; rarely, all are removed. It never waits for a lock, and counts how often it would have had to.
Prints "ready" once it has the database open, and at the end one JSON object: the operations, the transactions, how often the
database was busy, and the keys that are left, with the sizes of their bodies. It closes the database at the end of its input.
"""

import json
import plistlib
import random
import sqlite3
import sys
import time

SECONDS_TO_2001 = 978307200


def response(url, size, now):
    headers = {"Cache-Control": f"max-age={60 * (size % 3)}", "Content-Type": "text/plain", "Content-Length": str(size)}
    items = [{"_CFURLString": url, "_CFURLStringType": 15}, now - SECONDS_TO_2001, 0, 200, headers, size, "text/plain"]
    return plistlib.dumps({"Version": 1, "Array": items}, fmt=plistlib.FMT_BINARY)


def request(url):
    address = {"_CFURLString": url, "_CFURLStringType": 15}
    null = "__CFURLRequestNullTokenString__"
    items = [False, address, 60.0, 0, null, True, 0, null, null, True, False, 0, 0.0, 0.0, 0, -1, null, 2, "GET", {}, null, null]
    return plistlib.dumps({"Version": 9, "Array": items}, fmt=plistlib.FMT_BINARY)


class Cache:
    def __init__(self, path):
        self.connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.log, self.busy, self.transactions = [], 0, 0

    def transaction(self, *statements):
        """Runs statements, and tries again as long as the database is busy, which it must never be."""
        while True:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                for statement, values in statements:
                    self.connection.execute(statement, values)
                self.connection.execute("COMMIT")
                self.transactions += 1
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                self.busy += 1
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")

    def store(self, url, size):
        row = self.connection.execute("SELECT entry_ID FROM cfurl_cache_response WHERE request_key = ?", (url,)).fetchone()
        number, now, body = row and row[0], time.time(), b"x" * size
        if number is None:
            self.transaction(
                ("INSERT INTO cfurl_cache_response(version, hash_value, storage_policy, request_key) VALUES (0, 0, 0, ?)", (url,)),
                ("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object) VALUES (last_insert_rowid(), ?, ?)",
                 (response(url, size, now), request(url))),
                ("INSERT INTO cfurl_cache_receiver_data VALUES (last_insert_rowid(), 0, ?)", (body,)))
        else:
            self.transaction(
                ("UPDATE cfurl_cache_response SET hash_value = 0 WHERE entry_ID = ?", (number,)),
                ("UPDATE cfurl_cache_blob_data SET response_object = ? WHERE entry_ID = ?", (response(url, size, now), number)),
                ("UPDATE cfurl_cache_receiver_data SET receiver_data = ? WHERE entry_ID = ?", (body, number)))
        self.log.append("insert" if number is None else "update")

    def remove(self, condition, values=()):
        rows = self.connection.execute(f"SELECT entry_ID FROM cfurl_cache_response WHERE {condition}", values).fetchall()
        if rows:
            numbers = ", ".join(str(row[0]) for row in rows)
            self.transaction(*((f"DELETE FROM {table} WHERE entry_ID IN ({numbers})", ()) for table in
                               ("cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data")))
            self.log += ["delete"] * len(rows)

    def kept(self):
        return dict(self.connection.execute("SELECT request_key, length(receiver_data) FROM cfurl_cache_response "
                                            "JOIN cfurl_cache_receiver_data USING (entry_ID)"))


def main():
    cache, operations, chance = Cache(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    print("ready", flush=True)
    for _ in range(operations):
        url = f"https://{chance.choice('abc')}.example/{chance.randrange(300)}"
        kind = chance.random()
        if kind < 0.75:
            cache.store(url, chance.randrange(3_000))
        elif kind < 0.95:
            cache.remove("request_key = ?", (url,))
        elif kind < 0.999:
            cache.remove("entry_ID IN (SELECT entry_ID FROM cfurl_cache_response ORDER BY time_stamp, entry_ID LIMIT 3)")
        else:
            cache.remove("1")
        # Mostly bursts, with pauses in which each change can be seen.
        time.sleep(chance.choice([0, 0, 0, 0.001, 0.002, 0.02]))
    print(json.dumps({"log": cache.log, "transactions": cache.transactions, "busy": cache.busy, "kept": cache.kept()}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
