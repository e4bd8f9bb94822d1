"""Puts entries with secrets into a cache, in all places where an entry has text, and looks for them in its files.

Each secret begins with `PLANTED-`, and no other entry has that text.
"""

import os
import plistlib
import sqlite3
import time
import uuid

from checked_cache import age_body_files
from cfnetwork_writer import SECONDS_TO_2001, request

MARK = b"PLANTED-"
HOST = "vault.example"
TABLES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]


def url(number):
    return f"https://{HOST}/PLANTED-url-{number:05}/account.json?session=PLANTED-query-{number:05}"


def body(number, size):
    text = b"".join(b'{"card":"PLANTED-body-%05d-%05d"},' % (number, part) for part in range(size // 30 + 1))
    return text[:size]


def response(number, size):
    headers = {"Content-Type": "application/json", "Set-Cookie": f"id=PLANTED-header-{number:05}", "Content-Length": str(size)}
    items = [{"_CFURLString": url(number), "_CFURLStringType": 15}, time.time() - 900 - SECONDS_TO_2001, 0, 200, headers, size,
             "application/json"]
    return plistlib.dumps({"Version": 1, "Array": items}, fmt=plistlib.FMT_BINARY)


def insert(connection, cache, numbers):
    """Inserts entries, every third one with its body in a file."""
    for number in numbers:
        size = 9_000 if number % 3 == 0 else 200 + number * 37 % 3_500
        row = connection.execute("INSERT INTO cfurl_cache_response(version, hash_value, storage_policy, request_key) "
                                 "VALUES (0, 0, 0, ?)", (url(number),)).lastrowid
        user = plistlib.dumps({"note": f"PLANTED-user-{number:05}"}, fmt=plistlib.FMT_BINARY)
        connection.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object, user_info) "
                           "VALUES (?, ?, ?, ?)", (row, response(number, size), request(url(number)), user))
        content = body(number, size)
        if number % 3 == 0:
            name = str(uuid.uuid4()).upper()
            with open(os.path.join(cache, "fsCachedData", name), "wb") as file:
                file.write(content)
            content = name.encode()
        connection.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, ?, ?)", (row, number % 3 == 0, content))


def plant(cache, count=120, removed=40):
    """Inserts entries with secrets, and others that are removed again as an app does, which leaves them in free pages."""
    os.makedirs(os.path.join(cache, "fsCachedData"), exist_ok=True)
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    connection.execute("PRAGMA secure_delete = OFF")
    insert(connection, cache, range(count, count + removed))
    insert(connection, cache, range(count))
    connection.commit()
    for table in reversed(TABLES):
        rows = f"SELECT entry_ID FROM {TABLES[0]} WHERE request_key LIKE '%/PLANTED-url-%'"
        numbers = [row[0] for row in connection.execute(rows + " ORDER BY entry_ID LIMIT ?", (removed,))]
        connection.execute(f"DELETE FROM {table} WHERE entry_ID IN ({', '.join(map(str, numbers))})")
    connection.commit()
    connection.close()
    # Younger files without an entry would be kept for an app that may be writing them.
    age_body_files(cache)
    return cache


def grep(cache, text=MARK):
    """The files of a cache that have a text in their bytes or in their names, and how often; as `grep -a` finds it."""
    found = {}
    for folder, _, names in os.walk(cache):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                count = file.read().count(text) + name.encode().count(text)
            if count:
                found[os.path.relpath(os.path.join(folder, name), cache)] = count
    return found
