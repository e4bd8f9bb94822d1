"""Runs the queries that the examples give to osquery, as osquery does, and holds them against `list`.

    check_osquery.py URLCACHE-ADMIN SAMPLE-CACHE EXAMPLES [FOLDER OF REAL CACHES]

osquery itself is not here: SQLite runs them, read-only and with the actions that osquery allows, on copies. Prints a
line for each part, and ends at the first difference.
"""

import glob, json, os, shutil, sqlite3, subprocess, sys, tempfile

tool, maker, examples = sys.argv[1:4]
real = sorted(glob.glob(os.path.join(sys.argv[4], "*", ""))) if len(sys.argv) > 4 else []
root = tempfile.mkdtemp()
ALLOWED = {sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
with open(os.path.join(examples, "osquery.json")) as file:
    tables = json.load(file)["auto_table_construction"]


def ask(path, table):
    """The row that osquery would give of a database, or `None` where it would warn."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
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


def listed(path):
    """What `list` says, in the same words."""
    result = subprocess.run([tool, "list", "-c", path, "--format", "ndjson"], capture_output=True, text=True, check=True)
    entries = [json.loads(line) for line in result.stdout.splitlines()]
    times = sorted(entry["first_stored"].replace("T", " ").removesuffix("Z") for entry in entries)
    return {"entries": len(entries), "oldest": times[0] if times else None, "newest": times[-1] if times else None,
            "body_files": sum(entry["body_location"] == "file" for entry in entries),
            "inline_bytes": sum(entry["size"] for entry in entries if entry["body_location"] == "inline")}


try:
    for table in tables.values():
        assert set(table) == {"platform", "path", "query", "columns"} and "path" not in table["columns"]
    assert len({table["query"] for table in tables.values()}) == 1
    (table, *_) = tables.values()
    for schema in ["202", "203"]:
        cache = os.path.join(root, schema)
        subprocess.run([maker, "--schema", schema, "--entries", "200", "--seed", schema, cache], check=True)
        database = os.path.join(cache, "Cache.db")
        before = listed(database)
        assert ask(database, table) == before and before["body_files"] > 0 and before["inline_bytes"] > 0
        # What a running app has only in its write-ahead log.
        app = sqlite3.connect(database)
        app.execute("PRAGMA journal_mode = WAL")
        with app:
            app.execute("DELETE FROM cfurl_cache_response WHERE entry_ID <= 50")
            app.execute("DELETE FROM cfurl_cache_receiver_data WHERE entry_ID <= 50")
            app.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID <= 50")
        assert os.path.getsize(database + "-wal") > 0
        assert ask(database, table) == listed(database) != before
        app.close()
    print("made-up caches: ok", flush=True)

    silent = []
    for source in real:
        name = os.path.basename(source.rstrip("/"))
        shutil.copytree(source, os.path.join(root, name))
        database = os.path.join(root, name, "Cache.db")
        row = ask(database, table)
        if row is None:
            silent.append(name)
        else:
            assert row == listed(database), (name, row)
    # osquery is silent about what is no cache, and about schemas without body files.
    assert silent == [os.path.basename(source.rstrip("/")) for source in real
                      if os.path.basename(source.rstrip("/")).startswith(("schema-011", "half-", "not-a-"))], silent
    print("real caches:", "ok" if real else "not here", flush=True)
finally:
    shutil.rmtree(root)
