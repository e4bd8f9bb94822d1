"""Runs the queries that the examples give to osquery, as osquery does, and compares the answers with `list`.

osquery itself is not here: SQLite runs the queries, read-only and with the actions that osquery allows, on copies.
"""

import json
import os
import shutil
import sqlite3
import subprocess

import pytest

import samples
from products import REPOSITORY, tool
from scratch import make, path

ALLOWED = {sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def tables():
    return json.loads((REPOSITORY / "share/doc/urlcache-admin/examples/osquery.json").read_text())["auto_table_construction"]


@pytest.fixture
def table():
    return next(iter(tables().values()))


def ask(file, table):
    """The row that osquery would give of a database, or `None` where it would warn."""
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY)
    try:
        answer = connection.execute(table["query"])
        assert [column[0] for column in answer.description] == table["columns"]
        (row,) = answer
        return dict(zip(table["columns"], row))
    except sqlite3.DatabaseError as error:
        assert "not authorized" not in str(error), error
        return None
    finally:
        connection.close()


def listed(file):
    """The same row, out of the entries that 'list' prints."""
    result = subprocess.run([tool, "list", "-c", file, "--format", "ndjson"], capture_output=True, text=True, check=True)
    entries = [json.loads(line) for line in result.stdout.splitlines()]
    times = sorted(entry["first_stored"].replace("T", " ").removesuffix("Z") for entry in entries)
    return {"entries": len(entries), "oldest": times[0] if times else None, "newest": times[-1] if times else None,
            "body_files": sum(entry["body_location"] == "file" for entry in entries),
            "inline_bytes": sum(entry["size"] for entry in entries if entry["body_location"] == "inline")}


def test_tables():
    """All tables have the members that osquery needs, and one query."""
    for table in tables().values():
        assert set(table) == {"platform", "path", "query", "columns"} and "path" not in table["columns"]
    assert len({table["query"] for table in tables().values()}) == 1


@pytest.mark.parametrize("schema", ["202", "203"])
def test_made_up_caches(table, schema):
    """The query gives the numbers of 'list', also of entries that only the write-ahead log of a running app has."""
    database = os.path.join(make(schema, "--schema", schema, entries=200, seed=int(schema)), "Cache.db")
    before = listed(database)
    assert ask(database, table) == before and before["body_files"] > 0 and before["inline_bytes"] > 0
    app = sqlite3.connect(database)
    app.execute("PRAGMA journal_mode = WAL")
    with app:
        for name in ["response", "receiver_data", "blob_data"]:
            app.execute(f"DELETE FROM cfurl_cache_{name} WHERE entry_ID <= 50")
    assert os.path.getsize(database + "-wal") > 0
    assert ask(database, table) == listed(database) != before
    app.close()


@pytest.mark.parametrize("sample", samples.each(lambda name: name != "utf-16"), indirect=True)
def test_apple_caches(table, sample):
    """The query gives the numbers of 'list', and none of files that are no cache and of schemas without body files."""
    name = os.path.basename(sample)
    database = os.path.join(shutil.copytree(sample, path(name)), "Cache.db")
    row = ask(database, table)
    if name.startswith(("schema-01", "half-", "not-a-")):
        assert row is None
    else:
        assert row == listed(database)
