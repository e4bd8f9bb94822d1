"""Stores responses in a cache as CFNetwork does: 200 a second, each in a transaction, waiting 1 s at most for a lock.

    insert_responses.py DATABASE SECONDS

Prints "ready" once it has the database open, and at the end one JSON object: how many were stored, how often it gave up as
the database was busy, and how long it waited for the lock and took for a response, at most, in seconds.
"""

import json
import sqlite3
import sys
import time

connection = sqlite3.connect(sys.argv[1], timeout=1, isolation_level=None)
# Above all numbers that caches for tests begin with, so that they can be told from those.
(first,) = connection.execute("SELECT max(10000000, max(entry_ID) + 1) FROM cfurl_cache_response").fetchone()
print("ready", flush=True)
stored = busy = 0
longest_wait = longest = 0.0
due = time.monotonic()
end = due + float(sys.argv[2])
while (now := time.monotonic()) < end:
    number = first + stored
    try:
        connection.execute("BEGIN IMMEDIATE")
        longest_wait = max(longest_wait, time.monotonic() - now)
        connection.execute("INSERT INTO cfurl_cache_response(entry_ID, version, hash_value, storage_policy, request_key) "
                           "VALUES (?, 0, 0, 0, ?)", (number, f"https://writer.example/{number}"))
        connection.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object) "
                           "VALUES (?, x'00', x'00')", (number,))
        connection.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, zeroblob(2000))", (number,))
        connection.execute("COMMIT")
        stored += 1
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        busy += 1
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    longest = max(longest, time.monotonic() - now)
    due += 0.005
    time.sleep(max(0, due - time.monotonic()))
print(json.dumps({"stored": stored, "busy": busy, "longest_wait": round(longest_wait, 4), "longest": round(longest, 4)}))
