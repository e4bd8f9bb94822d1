"""Checks `query` and the database of `export`: against sqlite-utils on the lines of `list`, and against hostile SQL."""

import glob
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest

from products import REPOSITORY, tool
from scratch import made_up, make, path, run, tree

AT = "2026-02-01T12:34:56Z"
SQLITE_UTILS = [sys.executable, "-m", "sqlite_utils"]

# About the table that sqlite-utils makes of the lines of `list --columns all`. Each has an order, as rows have none.
QUERIES = [
    "SELECT count(*) FROM entries",
    "SELECT count(*), sum(size), max(size), min(size) FROM entries",
    "SELECT host, count(*), sum(size) FROM entries GROUP BY 1 ORDER BY 1",
    "SELECT id, url FROM entries ORDER BY id LIMIT 7",
    "SELECT id, status, method, mime FROM entries WHERE status <> 200 ORDER BY id",
    "SELECT id, stored, first_stored FROM entries ORDER BY stored DESC, id LIMIT 5",
    "SELECT age, ttl, lifetime, current_age FROM entries ORDER BY id",
    "SELECT freshness, count(*) FROM entries GROUP BY 1 ORDER BY 1",
    "SELECT lifetime_source, count(*), avg(lifetime) FROM entries GROUP BY 1 ORDER BY 1",
    "SELECT expires_at FROM entries WHERE expires_at IS NOT NULL ORDER BY 1 LIMIT 3",
    "SELECT scheme, count(DISTINCT host) FROM entries GROUP BY 1 ORDER BY 1",
    "SELECT path FROM entries WHERE path LIKE '%.json' ORDER BY path, id LIMIT 9",
    "SELECT body_location, count(*), total(disk) FROM entries GROUP BY 1 ORDER BY 1",
    "SELECT id FROM entries WHERE etag IS NULL AND last_modified IS NULL ORDER BY id",
    "SELECT cache_control, count(*) FROM entries GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5",
    "SELECT date, expires FROM entries ORDER BY id",
    "SELECT substr(stored, 1, 10) AS day, count(*) FROM entries GROUP BY day ORDER BY day",
    "SELECT mime, avg(size) FROM entries GROUP BY 1 HAVING count(*) > 2 ORDER BY 1",
    "SELECT id, json_array_length(response_headers) FROM entries ORDER BY id",
    "SELECT id, json_extract(response_headers, '$[0][1]') FROM entries ORDER BY id",
    "SELECT e.id, f.value ->> 0 AS name FROM entries e, json_each(e.response_headers) f ORDER BY e.id, f.key",
    "SELECT received, announced, policy, partition FROM entries ORDER BY id",
    "SELECT request_url = url, response_url = url, key = url FROM entries ORDER BY id",
    "SELECT a.id AS a, b.id AS b FROM entries a JOIN entries b USING (url) WHERE a.id < b.id ORDER BY 1, 2",
    "SELECT id FROM entries WHERE size > (SELECT avg(size) FROM entries) ORDER BY id",
    "WITH big AS (SELECT * FROM entries WHERE size > 10000) SELECT host, count(*) FROM big GROUP BY 1 ORDER BY 1",
    "SELECT id, rank() OVER (PARTITION BY host ORDER BY size DESC, id) FROM entries ORDER BY id",
    "SELECT host FROM entries EXCEPT SELECT host FROM entries WHERE freshness = 'stale' ORDER BY 1",
    "SELECT typeof(id), typeof(size), typeof(url), typeof(ttl), typeof(status) FROM entries ORDER BY id",
    "SELECT group_concat(id) FROM (SELECT id FROM entries WHERE method = 'GET' ORDER BY id)",
    "SELECT CASE WHEN size < 1024 THEN 'small' ELSE 'large' END AS kind, count(*) FROM entries GROUP BY 1 ORDER BY 1",
    "SELECT id, instr(url, '?') > 0, length(url), upper(host) FROM entries ORDER BY id",
    "SELECT method, policy, count(*) FROM entries GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT host, path, sum(size) OVER (PARTITION BY host ORDER BY id) FROM entries ORDER BY id",
    "SELECT coalesce(etag, last_modified, 'none') FROM entries ORDER BY id",
    "SELECT min(stored), max(stored), count(DISTINCT mime) FROM entries",
]


def answer(cache, sql, *words, status=0, **options):
    result = run("query", cache, sql, *words, "--at", AT, "--format", "ndjson", status=status, **options)
    return [json.loads(line) for line in result.stdout.splitlines()]


def values(rows):
    return [list(row.values()) for row in rows]


@pytest.fixture(scope="module")
def caches(tmp_path_factory):
    """Each cache with the database that sqlite-utils makes of it."""
    folder = tmp_path_factory.mktemp("query")
    made = {}
    for name, options in {"apple": [], "foundation": ["--format", "foundation"]}.items():
        cache = folder / name
        shutil.copytree(made_up(tuple(options), 100, 5), cache)
        lines = subprocess.run([tool, "list", cache, "--columns", COLUMNS, "--format", "ndjson", "--at", AT],
                               check=True, capture_output=True).stdout
        database = folder / f"{name}.db"
        subprocess.run([*SQLITE_UTILS, "insert", database, "entries", "-", "--nl"], input=lines, check=True,
                       env={**os.environ, "PYTHONPATH": str(REPOSITORY / ".build/peers")})
        made[name] = (str(cache), str(database))
    return made


# All but that of sidecar files, for which a list needs their folder.
COLUMNS = (
    "id,stored,first-stored,age,status,method,size,mime,url,request-url,response-url,host,path,scheme,partition,disk,"
    "body-location,received,announced,policy,etag,last-modified,cache-control,date,expires,freshness,ttl,lifetime,"
    "lifetime-source,current-age,expires-at,validators,key,request-headers,response-headers,notes,user-info,proto-props")


@pytest.mark.parametrize("name", ["apple", "foundation"])
@pytest.mark.parametrize("sql", QUERIES)
def test_equals_sqlite_utils(caches, name, sql):
    cache, database = caches[name]
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        expected = [list(row) for row in connection.execute(sql)]
    rows = json.loads(run("query", cache, sql, "--at", AT, "--json").stdout)["rows"]
    assert values(rows) == expected
    # Of these, the made-up caches have no rows.
    assert rows or any(part in sql for part in ["USING (url)", "EXCEPT", "etag IS NULL", "<> 200", "LIKE"])


# Reads a table from lines of JSON, and writes the rows of each query: run by a Python that has DuckDB.
DUCKDB_SCRIPT = """
import duckdb, json, sys
queries, lines = json.loads(sys.argv[1]), sys.argv[2]
connection = duckdb.connect()
connection.execute("SET default_null_order = 'sqlite'")
types = {name: "BIGINT" if name in sys.argv[3].split() else "VARCHAR" for name in json.loads(open(lines).readline())}
connection.execute("CREATE TABLE entries AS SELECT * FROM read_json(?, format = 'newline_delimited', columns = ?)", [lines, types])
print(json.dumps([[list(row) for row in connection.execute(query).fetchall()] for query in queries]))
"""
NUMBERS = "id age status size disk received announced ttl lifetime current_age"
# Some functions have other names there.
PORTABLE = [sql for sql in QUERIES if not any(word in sql for word in ["json", "typeof", "total("])]
DUCKDB = next((python for python in [sys.executable, str(REPOSITORY / ".build/operations/bin/python")]
               if os.path.exists(python) and subprocess.run([python, "-c", "import duckdb"], capture_output=True).returncode == 0), None)


@pytest.mark.skipif(not DUCKDB, reason="DuckDB: not here")
@pytest.mark.parametrize("name", ["apple", "foundation"])
def test_equals_duckdb(caches, name):
    """The queries that both dialects share have the same rows in DuckDB, which shares no code with SQLite."""
    cache, _ = caches[name]
    with open(path("lines"), "wb") as file:
        file.write(run("list", cache, "--columns", COLUMNS, "--format", "ndjson", "--at", AT).stdout)
    numbers = NUMBERS if name == "apple" else NUMBERS.replace("id ", "", 1)
    rows = subprocess.run([DUCKDB, "-c", DUCKDB_SCRIPT, json.dumps(PORTABLE), path("lines"), numbers], capture_output=True, check=True).stdout
    for sql, expected in zip(PORTABLE, json.loads(rows), strict=True):
        found = values(json.loads(run("query", cache, sql, "--at", AT, "--json").stdout)["rows"])
        assert found == [[int(value) if isinstance(value, bool) else value for value in row] for row in expected], sql


def test_apple_caches_equal_list(cachedb):
    for database in sorted(glob.glob(os.path.join(cachedb, "*/Cache.db"))):
        folder = os.path.dirname(database)
        listed = subprocess.run([tool, "list", folder, "--columns", "id,url,size,stored,status", "--format", "ndjson"], capture_output=True)
        asked = subprocess.run([tool, "query", folder, "SELECT id, url, size, stored, status FROM entries", "--format", "ndjson"], capture_output=True)
        assert asked.returncode == listed.returncode, (folder, asked.stderr, listed.stderr)
        if b"_base64" not in listed.stdout:
            assert asked.stdout == listed.stdout, folder


@pytest.mark.parametrize("join", ["JOIN headers h USING (id)", "NATURAL JOIN headers h", "join HEADERS h using(id)"])
def test_joins_without_named_columns(join):
    """SQLite does not say which columns of the second table such a join reads."""
    cache = make("joined", entries=50)
    count = values(answer(cache, "SELECT count(*) FROM entries e JOIN headers h ON e.id = h.id"))
    assert count != [[0]] and values(answer(cache, f"SELECT count(*) FROM entries e {join}")) == count


def test_schema_has_all_columns():
    cache = make("joined", entries=50)
    sql = values(answer(cache, "SELECT (SELECT sql FROM sqlite_schema WHERE name = 'entries') FROM entries LIMIT 1"))[0][0]
    assert '"url"' in sql and '"host"' in sql and '"freshness"' in sql


def test_tables():
    cache = make("cache", "--faults", "missing-bodies", entries=60)
    lines = run("list", cache, "--columns", "id,request-headers,response-headers", "--format", "ndjson").stdout.splitlines()
    expected = []
    for entry in map(json.loads, lines):
        for side in ["request", "response"]:
            for position, (name, value) in enumerate(entry[f"{side}_headers"] or [], 1):
                expected.append([entry["id"], side, name, value, position])
    found = values(answer(cache, "SELECT id, side, name, value, position FROM headers"))
    assert sorted(found) == sorted(expected) and found
    # Names have no case.
    sql = "SELECT count(*) AS n FROM headers WHERE name = 'CONTENT-TYPE'"
    assert answer(cache, sql) == [{"n": sum(row[2].lower() == "content-type" for row in expected)}]
    ages = values(answer(cache, "SELECT e.cache_control, d.argument FROM entries e JOIN directives d USING (id)"
                                " WHERE d.name = 'max-age' AND side = 'response'"))
    assert ages and all(f"max-age={argument}" in control for control, argument in ages)
    report = json.loads(run("check", cache, "--format", "json", status=1).stdout)
    of_entries = sorted((each["id"], each["code"]) for each in report["findings"] if each.get("id") is not None)
    assert sorted(map(tuple, values(answer(cache, "SELECT id, code FROM findings")))) == of_entries and of_entries


@pytest.mark.parametrize(("sql", "hint"), [
    ("SELECT url FROM entry", "the tables are entries, headers, findings, user_info, directives\n"),
    ("SELECT url FROM entrys", "did you mean 'entries'? the tables are "),
    ("SELECT urll FROM entries", "did you mean 'url'? the columns of 'entries' are id, "),
    ("SELECT e.sizes FROM entries e", "did you mean 'size'? the columns of 'entries' are id, "),
    ("SELECT headers.nam FROM headers", "did you mean 'name'? the columns of 'headers' are id, side, name, value, position\n"),
    ("SELECT FROM", "see the tables and columns with 'urlcache-admin query --help'\n")])
def test_a_wrong_name_gets_the_right_ones(sql, hint):
    message = run("query", make("cache"), sql, status=64).stderr.decode()
    assert f"\nhint: {hint}" in message and message.endswith("\n"), message


def test_a_query_needs_time():
    assert b"error: '--timeout' must be longer than 0.\n" in run("query", make("cache"), "SELECT 1", "--timeout", "0s", status=64).stderr


def test_parameters():
    cache = make("cache")
    host = answer(cache, "SELECT host FROM entries LIMIT 1")[0]["host"]
    sql = "SELECT count(*) AS n FROM entries WHERE host = :host"
    assert answer(cache, sql, f":host={host}")[0]["n"] > 0
    assert answer(cache, sql, ":host=' OR 1=1 --") == [{"n": 0}]
    assert answer(cache, "SELECT typeof(:a) AS a, typeof(:b) AS b", ":a=7", ":b=007") == [{"a": "integer", "b": "text"}]
    for words, message in [
        ([sql], "error: the parameter ':host' has no value\nhint: add ':host=VALUE' after the SQL\n"),
        ([sql, ":host=a", ":host=b"], "error: the parameter ':host' has two values\nhint: give it only once\n"),
        ([sql, ":host=a", ":other=b"], "error: the SQL has no parameter ':other'\n"),
        ([sql, ":host"], "error: ':host' names a parameter but no value\nhint: write ':name=value'\n"),
        (["SELECT ?"], "error: a parameter has no name\nhint: write ':name' instead of '?'\n"),
    ]:
        assert run("query", cache, *words, status=64).stderr.decode() == message


def test_operands():
    cache = make("cache")
    sql = "SELECT count(*) AS n FROM entries"
    expected = b'{"n":40}\n'
    for words in [[cache, sql], [sql, cache], ["-c", cache, sql], [sql, "-c", cache]]:
        assert run("query", *words, "--format", "ndjson").stdout == expected
    with open(path("q.sql"), "w") as file:
        file.write(sql + ";\n-- the end\n")
    assert run("query", cache, "--file", path("q.sql"), "--format", "ndjson").stdout == expected
    assert run("query", sql, "--format", "ndjson", env={**os.environ, "URLCACHE_ADMIN_CACHE": cache}).stdout == expected
    no_sql = ("error: no SQL given\nhint: write: urlcache-admin query "
              f"{cache} 'SELECT url, size FROM entries ORDER BY size DESC LIMIT 10'\n")
    assert run("query", cache, status=64).stderr.decode() == no_sql
    assert run("query", cache, "SELECT", "1", status=64).stderr.decode() == (
        "error: 'query' takes a cache and one SQL statement, but there are 3 operands\n"
        "hint: put the SQL in quotes: urlcache-admin query CACHE 'SELECT count(*) FROM entries'\n")


def test_formats():
    cache = make("cache")
    sql = "SELECT 1 AS one, 'a,\"b' AS text, NULL AS none, x'ff00' AS bytes, 1.5 AS real, '=1+1' AS formula"
    assert run("query", cache, sql, "--format", "csv").stdout.decode() == (
        "one,text,none,bytes,real,formula\n1,\"a,\"\"b\",,‹0xFF›‹U+0000›,1.5,'=1+1\n")
    assert run("query", cache, sql, "--format", "tsv").stdout.decode() == (
        "one\ttext\tnone\tbytes\treal\tformula\n1\ta,\"b\t\t‹0xFF›‹U+0000›\t1.5\t'=1+1\n")
    assert run("query", cache, sql, "--json").stdout.decode() == (
        '{"schema":"urlcache-admin.query/1","rows":[\n'
        '{"one":1,"text":"a,\\"b","none":null,"bytes":{"base64":"/wA="},"real":1.5,"formula":"=1+1"}\n]}\n')
    assert run("query", cache, sql).stdout.decode() == (
        "one  text  none  bytes           real  formula\n"
        "  1  a,\"b  -     ‹0xFF›‹U+0000›   1.5  =1+1\n")
    assert run("query", cache, "SELECT url FROM entries WHERE 0").stdout == b"url\n"
    twice = run("query", cache, "SELECT 1 AS a, 2 AS a", "--format", "ndjson", status=64).stderr.decode()
    assert twice == (
        "error: two columns are named 'a', and members of an object need different names\n"
        "hint: name them in the SQL with AS, or use '--format csv'\n")


def test_masks_secrets():
    cache = make("cache", entries=200)
    plain = answer(cache, "SELECT count(*) AS n FROM headers WHERE value = '***'")[0]["n"]
    shown = answer(cache, "SELECT count(*) AS n FROM headers WHERE value = '***'", "--show-secrets")[0]["n"]
    listed = run("list", cache, "--columns", "request-headers,response-headers", "--format", "ndjson").stdout
    assert plain == listed.count(b'"***"') and shown == 0


HOSTILE = {
    "ATTACH DATABASE '/tmp/other' AS other": "ATTACH",
    "DETACH main": "DETACH",
    "PRAGMA user_version": "PRAGMA",
    "PRAGMA writable_schema = 1": "PRAGMA",
    "SELECT load_extension('/tmp/evil.so')": "the function load_extension",
    "SELECT LOAD_EXTENSION('/tmp/evil.so', 'main')": "the function load_extension",
    "SELECT fts3_tokenizer('simple', x'4141414141414141')": "the function fts3_tokenizer",
    "DELETE FROM entries": "DELETE",
    "UPDATE entries SET url = ''": "UPDATE",
    "INSERT INTO entries(id) VALUES (1) RETURNING id": "INSERT",
    "CREATE TABLE t(x)": "INSERT",
    "CREATE TEMP TRIGGER t AFTER INSERT ON entries BEGIN SELECT 1; END": "CREATE or DROP",
    "DROP TABLE entries": "DELETE",
    "VACUUM INTO '/tmp/other'": "a statement that changes a database",
    "BEGIN": "a transaction",
    "SAVEPOINT a": "a transaction",
    "ALTER TABLE entries RENAME TO other": "ALTER TABLE",
    "SELECT * FROM pragma_database_list": "a virtual table",
    "SELECT * FROM dbstat": None,
    "SELECT readfile('/etc/passwd')": None,
    "SELECT writefile('/tmp/other', 'x')": None,
    "SELECT * FROM sqlite_dbpage": None,
    "SELECT 1; DELETE FROM entries": None,
    "SELECT edit('x')": None,
    "": None,
    "/* nothing */": None,
    "SELECT": None,
}


@pytest.mark.parametrize("sql", HOSTILE)
def test_only_reads(sql):
    cache = make("cache")
    before = tree(cache)
    result = run("query", cache, sql, status=64)
    assert result.stdout == b""
    if HOSTILE[sql]:
        assert result.stderr.decode() == f"error: a query can only read, but this SQL contains {HOSTILE[sql]}\nhint: write one SELECT\n"
    else:
        assert result.stderr.startswith((b"error: SQLite does not understand the SQL: ", b"error: no ", b"error: the SQL has ",
                                         b"error: a query can only read, but this SQL contains "))
    assert tree(cache) == before
    assert not os.path.exists("/tmp/other")


@pytest.mark.needs_linux
@pytest.mark.parametrize("sql", [
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    "SELECT count(*) FROM entries a, entries b, entries c, entries d, entries e, entries f, entries g",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c ORDER BY random() LIMIT 1",
    "WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT max(length(x)) FROM c",
    "SELECT length(randomblob(1000000000))",
    "SELECT replace(hex(zeroblob(4000000)), '0', '0123456789')",
    "SELECT count(*) FROM entries WHERE url LIKE '" + "%a" * 40_000 + "'",
])
def test_is_bounded(sql):
    cache = make("cache")
    start = time.monotonic()

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        # A query that fills the disk is ended by the time, too; this is for the tests.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))

    result = run("query", cache, sql, "--timeout", "1s", status=64, preexec_fn=limit)
    assert time.monotonic() - start < 20
    assert b"error: the query took longer than 1 s\nhint: allow more with '--timeout 10min'\n" == result.stderr \
        or result.stderr.startswith((b"error: the query needs too much memory: ", b"error: the query failed: LIKE or GLOB pattern too complex"))


@pytest.mark.parametrize("sql", [
    # An instruction that calls a function for a long text; all of them together would take hours.
    "WITH t(a, b) AS MATERIALIZED (SELECT hex(zeroblob(300000)), hex(zeroblob(100000)) || '1'),"
    " c(n, x) AS (SELECT 1, 0 UNION ALL SELECT n + 1, instr(a || n, b) FROM c, t) SELECT max(x) FROM c",
    "WITH t(a) AS MATERIALIZED (SELECT hex(zeroblob(500000))), c(n, x) AS (SELECT 1, 0 UNION ALL SELECT n + 1, replace(a || n, '00', '1') FROM c, t)"
    " SELECT max(length(x)) FROM c",
])
def test_functions_are_bounded(sql):
    """A query ends in time although each call of a function takes long."""
    start = time.monotonic()
    result = run("query", make("cache"), sql, "--timeout", "1s", status=64)
    assert result.stderr.decode() == "error: the query took longer than 1 s\nhint: allow more with '--timeout 10min'\n"
    assert time.monotonic() - start < 30


def test_filling_is_bounded():
    """The time limit includes that for reading the cache."""
    cache = make("large", entries=4_000, seed=9)
    for options in [[], ["--larger-than", "1"]]:
        result = run("query", cache, "SELECT * FROM headers, findings", "--timeout", "0.05s", *options, status=64)
        assert b"error: the query took longer than 0.05 s\n" in result.stderr


def test_values_are_bounded():
    result = run("query", make("cache"), "SELECT length(hex(zeroblob(1000000)))", status=64)
    assert result.stderr.startswith(b"error: the query needs too much memory: string or blob too big\n")
    assert answer(make("other"), "SELECT length(hex(zeroblob(500000))) AS n") == [{"n": 1_000_000}]


@pytest.mark.parametrize("options, option", [
    (["--max-body", "1M"], "--max-body"), (["--bodies", "none"], "--bodies"), (["--bodies", "all"], "--bodies"), (["--threads", "2"], "--threads"),
    (["--created", "2026-01-01"], "--created"),
])
def test_options_of_archives(options, option):
    """A database refuses the options that mean something for archives only."""
    result = run("export", make("cache"), "-o", path("cache.sqlite"), *options, status=64)
    assert result.stderr.decode() == (
        f"error: '{option}' and a database cannot be combined\nhint: a database has no bodies and is not compressed\n")
    assert not os.path.exists(path("cache.sqlite"))


def test_exported_database():
    cache = make("cache", entries=120)
    exported = path("cache.sqlite")
    note = run("export", cache, "-o", exported, "--at", AT).stderr.decode()
    assert note == f"note: wrote the tables of 120 entries to '{exported}', without the values of secret header fields\n"
    assert run("export", cache, "-o", exported, "--at", AT, status=73).stderr.startswith(b"error: cannot create")
    connection = sqlite3.connect(f"file:{exported}?mode=ro", uri=True)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    for table in ["entries", "headers", "directives", "findings", "user_info"]:
        cursor = connection.execute(f"SELECT * FROM {table}")
        names = [each[0] for each in cursor.description]
        rows = answer(cache, f"SELECT * FROM {table}")
        assert [dict(zip(names, row)) for row in cursor] == rows
        assert rows or table in ("findings", "user_info")
    # Other programs that people use for it.
    found = subprocess.run([*SQLITE_UTILS, "rows", exported, "entries", "--limit", "1"], capture_output=True, check=True,
                           env={**os.environ, "PYTHONPATH": str(REPOSITORY / ".build/peers")})
    assert json.loads(found.stdout)[0]["id"] == 1
    assert run("export", cache, "-o", "-", "--format", "sqlite", "--at", AT).stdout == open(exported, "rb").read()
    assert run("export", cache, "-o", path("r.sqlite"), "--redact", status=64).stderr.startswith(
        b"error: '--redact' and a database cannot be combined\n")
    assert os.listdir(path("temporary")) == []


def test_archives_and_selections():
    cache = make("cache", entries=80)
    archive = path("cache.tar")
    run("export", cache, "-o", archive)
    sql = "SELECT url, status, size, host FROM entries ORDER BY url"
    assert answer(archive, sql) == answer(cache, sql)
    chosen = answer(cache, sql, "--larger-than", "20KiB")
    assert chosen == [row for row in answer(cache, sql) if row["size"] > 20 << 10] and chosen


@pytest.mark.needs_linux
def test_whole_result_of_a_large_cache_in_little_memory():
    cache = make("large", "--faults", "orphan-files", entries=4_000, seed=1)

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (192 << 20, 192 << 20))

    rows = answer(cache, "SELECT * FROM entries", preexec_fn=limit)
    assert [row["id"] for row in rows] == [entry["id"] for entry in map(json.loads, run("list", cache, "--format", "ndjson").stdout.splitlines())]
    # Several threads decode the values, unless entries are selected.
    assert rows == answer(cache, "SELECT * FROM entries", "--prefix", "http")
