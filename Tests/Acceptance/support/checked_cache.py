"""Makes caches for the tests that check and repair them, and looks at them with `sqlite3` and byte by byte."""

import hashlib
import json
import os
import sqlite3
import subprocess
import time

import scratch
from products import tool

RESPONSES, BLOBS, BODIES = TABLES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]


def make(name, *options, entries=40, keeping=()):
    """A made-up cache, without the entries that larger made-up caches have: 'no-store', and 'no-cache' without validators."""
    path = scratch.make(name, *options, entries=entries, seed=7)
    if "no-store" not in keeping:
        remove_flawed(path)
    return path


def remove_flawed(path):
    ids = [str(row[0]) for row in query(
        path, f"SELECT entry_ID FROM {BLOBS} WHERE instr(response_object, CAST('no-store' AS BLOB)) "
              "OR instr(request_object, CAST('no-store' AS BLOB)) OR instr(response_object, CAST('no-cache' AS BLOB)) "
              "AND NOT instr(lower(response_object), 'etag') AND NOT instr(lower(response_object), 'last-modified')")]
    if ids:
        subprocess.run([tool, "purge", "-c", path, "--yes", *ids], check=True, capture_output=True)


def start(cache, *options):
    return [tool, "check", "-c", cache, *options]


def run(cache, *options, status=None):
    result = subprocess.run(start(cache, "--format", "json", *options), capture_output=True, stdin=subprocess.DEVNULL)
    assert status is None or result.returncode == status, (options, result)
    return result


def check(cache, *options, status=None):
    return json.loads(run(cache, *options, status=status).stdout)


def found(cache, *options, status=None):
    return [(finding["code"], finding["id"]) for finding in check(cache, *options, status=status)["findings"]]


def connect(cache):
    return sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)


def execute(cache, *statements):
    connection = connect(cache)
    for statement in statements:
        connection.execute(*(statement if isinstance(statement, tuple) else (statement,)))
    connection.close()


def query(cache, sql):
    connection = connect(cache)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def rows(cache):
    connection = connect(cache)
    connection.text_factory = bytes
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == (b"ok",)
        return [dict((row[0], row) for row in connection.execute(f"SELECT * FROM {table}")) for table in TABLES]
    finally:
        connection.close()


def state(folder):
    """Every file below a folder, with its bytes and its time."""
    result = {}
    for parent, folders, names in os.walk(os.fsencode(folder)):
        for name in names + folders:
            path = os.path.join(parent, name)
            status = os.lstat(path)
            digest = None
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).digest()
            result[path] = (status.st_mode, status.st_size, status.st_mtime_ns, digest)
    return result


def body_file(cache, name, contents=b"orphan", age=3_600):
    """A body file of an age in seconds: one of less than ten minutes is kept for the app that may be writing it."""
    path = os.path.join(cache, "fsCachedData", name)
    with open(path, "wb") as file:
        file.write(contents)
    os.utime(path, (time.time() - age,) * 2)
    return path


def age_body_files(cache):
    """Makes all body files older than ten minutes, so that those that lose their entries are orphans at once."""
    folder = os.path.join(cache, "fsCachedData")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        os.utime(os.path.join(folder, name), (1_700_000_000,) * 2)


def orphan(number):
    return "0000000A-0000-0000-0000-%012d" % number
