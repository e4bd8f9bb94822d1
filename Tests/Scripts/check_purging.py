"""Purges caches, and looks at what is left with sqlite3.

    check_purging.py URLCACHE-ADMIN SAMPLE-CACHE [FOLDER OF REAL CACHES]

Prints a line for each case, and ends at the first that is not as it should be.
"""

import hashlib, json, os, re, shutil, sqlite3, subprocess, sys, tempfile, time

tool, maker = sys.argv[1:3]
samples = sys.argv[3] if len(sys.argv) > 3 else None
root = tempfile.mkdtemp()
TABLES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]


def make(name, *options, entries=60):
    path = os.path.join(root, name)
    subprocess.run([maker, "--entries", str(entries), "--seed", "7", *options, path], check=True)
    return path


def purge(cache, *options, status=0):
    result = subprocess.run([tool, "purge", "-c", cache, *options], capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == status, (options, result)
    return result


def database(cache):
    """The database of a cache, whatever it is called."""
    names = [name for name in os.listdir(cache) if re.search(r"\.db$", name)]
    return os.path.join(cache, sorted(names)[0])


def rows(cache):
    """All rows of the three tables by their number, and what the schema is."""
    connection = sqlite3.connect(database(cache))
    connection.text_factory = bytes
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == (b"ok",)
        tables = {table: {row[0]: row for row in connection.execute(f"SELECT * FROM {table} ORDER BY entry_ID")}
                  for table in TABLES}
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        settings = [connection.execute(f"PRAGMA {name}").fetchone()
                    for name in ["user_version", "auto_vacuum", "journal_mode", "page_size"]]
        return tables, schema, settings
    finally:
        connection.close()


def files(folder):
    result = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    result[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return result


def body_files(cache):
    return {name: digest for name, digest in files(cache).items() if name.startswith("fsCachedData/")}


def every_second(cache):
    """Purges every second URL, and compares all that is left."""
    listed = json.loads(subprocess.run([tool, "list", "-c", cache, "--format", "json", "--columns", "id,url"],
                                       capture_output=True, check=True).stdout)["entries"]
    before, bodies = rows(cache), body_files(cache)
    urls = [entry["url"] for entry in listed[::2] if entry["url"]]
    if not urls:
        return 0
    gone = {entry["id"] for entry in listed if entry["url"] in urls}
    result = subprocess.run([tool, "purge", "-c", cache, "--url-file", "-", "-y", "--format", "json"],
                            input="\n".join(urls).encode(), capture_output=True)
    assert result.returncode == 0, result
    receipt = json.loads(result.stdout)
    assert {entry["id"] for entry in receipt["entries"]} == gone, (receipt, gone)
    after = rows(cache)
    for table in TABLES:
        expected = {number: row for number, row in before[0][table].items() if number not in gone}
        assert after[0][table] == expected, table
    assert after[1:] == before[1:], (after[1:], before[1:])
    # The files of the rows that are left, and no others.
    named = {f"fsCachedData/{row[2].decode()}" for row in after[0][TABLES[2]].values() if row[1]}
    removed = {f"fsCachedData/{row[2].decode()}" for number, row in before[0][TABLES[2]].items()
               if row[1] and number in gone} - named
    assert body_files(cache) == {name: digest for name, digest in bodies.items() if name not in removed}
    return len(gone)


def made_up():
    for schema in ["202", "203"]:
        assert every_second(make(f"made-{schema}", "--schema", schema)) > 20
    print("every second URL of made-up caches: ok", flush=True)


def real():
    if not samples or not os.path.isdir(samples):
        print("every second URL of real caches: not here", flush=True)
        return
    total = 0
    for name in sorted(os.listdir(samples)):
        version = re.match(r"schema-(\d+)", name)
        if not version or int(version.group(1)) < 25:
            continue
        copy = os.path.join(root, "copy-" + name)
        shutil.copytree(os.path.join(samples, name), copy)
        for parent, folders, names in os.walk(copy):
            for entry in folders + names:
                os.chmod(os.path.join(parent, entry), 0o700)
        total += every_second(copy)
    assert total > 50, total
    print("every second URL of real caches: ok", flush=True)


def refusals():
    """What must not be done without being asked for, or cannot be."""
    cache = make("refused")
    before = files(cache)
    purge(cache, "--host", "api.news.example", status=64)
    purge(cache, "--yes", status=64)
    purge(cache, "--all", "--yes", "--max-delete", "10", status=1)
    purge(cache, "--all", "--yes", "--backup", "x.7z", status=64)
    assert files(cache) == before
    result = purge(cache, "https://api.news.example/nowhere", "--yes", status=1)
    assert b"no entry has the URL 'https://api.news.example/nowhere'" in result.stderr, result
    print("refusals: ok", flush=True)


def dry_run():
    one, two = make("dry"), make("wet")
    options = ["--larger-than", "5K", "--format", "json"]
    before = files(one)
    dry = purge(one, *options, "-n").stdout.replace(one.encode(), b"CACHE")
    assert files(one) == before
    wet = purge(two, *options, "-y").stdout.replace(two.encode(), b"CACHE")
    assert dry.replace(b'"dry_run":true', b'"dry_run":false') == wet
    print("a dry run says what a real one does: ok", flush=True)


def hostile():
    """Schemas that would do more than they are asked to, and names that lead elsewhere."""
    outside = os.path.join(root, "outside")
    os.mkdir(outside)
    victim = os.path.join(outside, "00000000-0000-0000-0000-000000000000")
    for path in [victim, os.path.join(root, "x")]:
        with open(path, "w") as file:
            file.write("mine")

    def changed(name, sql, status):
        cache = make(name)
        connection = sqlite3.connect(database(cache))
        connection.executescript(sql)
        connection.close()
        before = rows(cache)
        purge(cache, "--all", "--yes", status=status)
        if status:
            assert rows(cache) == before, name
        return cache

    changed("trigger", "CREATE TRIGGER t AFTER DELETE ON cfurl_cache_response BEGIN "
            "DELETE FROM cfurl_cache_blob_data; END", 65)
    changed("generated", "ALTER TABLE cfurl_cache_response ADD COLUMN g GENERATED ALWAYS AS (1)", 65)
    changed("version", "PRAGMA user_version = 999", 65)
    changed("names", "UPDATE cfurl_cache_receiver_data SET isDataOnFS = 1, receiver_data = CASE entry_ID % 3 "
            "WHEN 0 THEN '../../x' WHEN 1 THEN '/etc/hostname' ELSE '' END", 0)
    cache = make("linked")
    shutil.rmtree(os.path.join(cache, "fsCachedData"))
    os.symlink(outside, os.path.join(cache, "fsCachedData"))
    purge(cache, "--all", "--yes", status=65)
    assert os.path.exists(victim) and os.path.exists(os.path.join(root, "x"))
    shared = make("shared", entries=40)
    connection = sqlite3.connect(database(shared))
    name = connection.execute("SELECT receiver_data FROM cfurl_cache_receiver_data WHERE isDataOnFS").fetchone()[0]
    connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 1, receiver_data = ? WHERE entry_ID IN (1, 2, 3)",
                       (name,))
    connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = x'' "
                       "WHERE receiver_data = ? AND entry_ID > 3", (name,))
    connection.commit()
    connection.close()
    path = os.path.join(shared, "fsCachedData", name if isinstance(name, str) else name.decode())
    purge(shared, "1", "2", "--yes")
    assert os.path.exists(path), "a file that another row names is gone"
    purge(shared, "3", "--yes")
    assert not os.path.exists(path), "a file that no row names is left"
    print("hostile caches: ok", flush=True)


def beside_a_writer(seconds):
    """Purges while another process inserts as CFNetwork does, and never waits for more than a second."""
    cache = make("live", "--no-large-bodies", entries=20_000)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "insert_responses.py")
    writer = subprocess.Popen([sys.executable, script, database(cache), str(seconds)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "ready\n"
    low = 1
    while writer.poll() is None and low < 20_000:
        identifiers = [option for number in range(low, low + 2_000) for option in ("--id", str(number))]
        purge(cache, *identifiers, "--yes")
        low += 2_000
    output, errors = writer.communicate(timeout=60)
    assert writer.returncode == 0, errors
    stored, busy, longest = (json.loads(output)[name] for name in ["stored", "busy", "longest"])
    # The machine may be busy: what must not be is a second, after which an app gives up.
    assert stored > 10 and not busy and longest < 0.9, output
    tables, _, _ = rows(cache)
    for table in TABLES:
        kept = [number for number in tables[table] if number < 10_000_000]
        assert kept == list(range(low, 20_001)), (table, low, len(kept))
        assert len(tables[table]) - len(kept) == stored, table
    print("beside a writer: ok", flush=True)
    print(f"{stored} insertions, the longest took {longest} s; {low - 1} entries purged", file=sys.stderr)


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


def locked():
    """A lock that is kept by another process: 75, and nothing changed."""
    cache = make("locked")
    # It is not held here: closing any file of the database would drop it.
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, database(cache)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"locked\n"
    before = files(cache)
    start = time.monotonic()
    purge(cache, "1", "--yes", "--wait", "1s", status=75)
    assert 0.9 < time.monotonic() - start < 60
    # The marks of readers in the index of the log may move.
    after = files(cache)
    for contents in before, after:
        contents.pop("Cache.db-shm", None)
    assert after == before
    holder.communicate()
    print("a lock that is kept: ok", flush=True)


def compact(cache, *options, status=0):
    result = subprocess.run([tool, "compact", "-c", cache, *options, "--format", "json"], capture_output=True)
    assert result.returncode == status, (options, result)
    return json.loads(result.stdout or result.stderr)


def compacting():
    """What a purge leaves free goes back, and no row changes."""
    cache = make("free", "--no-large-bodies", entries=2_000)
    purge(cache, "--host", "api.news.example", "--yes")
    before, size = rows(cache), os.path.getsize(database(cache))
    free = compact(cache, "-n")
    assert free["dry_run"] and free["method"] is None and free["free_before"] > 100_000, free
    assert compact(cache, "--threshold", "90%")["method"] == "none"
    assert os.path.getsize(database(cache)) == size
    receipt = compact(cache)
    assert receipt["method"] == "slices" and receipt["free_after"] == 0, receipt
    # With the free pages goes the one or other that only said where they were.
    expected = size - free["free_before"]
    assert os.path.getsize(database(cache)) == receipt["footprint_after"] <= expected <= receipt["footprint_after"] + 16384
    assert rows(cache) == before
    assert compact(cache)["method"] == "none"
    assert compact(cache, "--full")["method"] == "rewrite"
    assert rows(cache) == before
    larger_than_memory()
    little_room()
    # Beside a process that has it open there are slices only.
    purge(cache, "--mime", "image/*", "--yes")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER.replace("BEGIN IMMEDIATE", "SELECT * FROM sqlite_master"),
                               database(cache)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"locked\n"
    assert compact(cache, "--full", status=75)["kind"] == "busy"
    receipt = compact(cache)
    assert receipt["method"] == "slices" and receipt["free_after"] == 0, receipt
    holder.communicate()
    rows(cache)
    # A crash before the end of a file is cut off leaves a tail, which holds nothing that is free.
    for mode in ["wal", "delete"]:
        connection = sqlite3.connect(database(cache))
        assert connection.execute(f"PRAGMA journal_mode = {mode}").fetchone() == (mode,)
        connection.close()
        before, size = rows(cache), os.path.getsize(database(cache))
        os.truncate(database(cache), size + 5 * 4_096)
        said = subprocess.run([tool, "compact", "-c", cache, "-n"], capture_output=True, text=True, check=True).stdout
        assert said.startswith("Free inside the database: 0 B of ") and "; behind its end: 20.0 KiB; " in said, said
        receipt = compact(cache)
        assert (receipt["method"], receipt["free_before"]) == ("rewrite", 0), receipt
        assert os.path.getsize(database(cache)) == receipt["footprint_after"] <= size, receipt
        assert rows(cache) == before and compact(cache)["method"] == "none"
    print("compacting: ok", flush=True)


def little_room():
    """Where the log of all that is free has no room, that of less has."""
    cache = make("room", "--no-large-bodies", entries=25_000)
    connection = sqlite3.connect(database(cache))
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE entry_ID < 12000")
    connection.commit()
    free = connection.execute("PRAGMA freelist_count").fetchone()[0]
    connection.close()
    assert free > 4_096, free
    script = """
mount -t tmpfs -o size="$1" none "$2" && cp -a "$3/." "$2" || exit 99
"$4" compact -c "$2" --format json; status=$?
[ "$(sqlite3 "$2/Cache.db" 'PRAGMA integrity_check; SELECT count(*) FROM cfurl_cache_response')" = "ok
13001" ] && exit $status
"""
    mounted = os.path.join(root, "mounted")
    os.mkdir(mounted)
    room = os.path.getsize(database(cache)) + (6 << 20)
    result = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", str(room), mounted, cache, tool], capture_output=True)
    if b"unshare" in result.stderr or result.returncode == 99:
        print("little room: not here", file=sys.stderr)
        return
    receipt = json.loads(result.stdout)
    assert result.returncode == 0 and (receipt["method"], receipt["free_after"]) == ("slices", 0), result


def larger_than_memory():
    """What stays may be more than SQLite is let have of memory."""
    cache = make("large", "--no-large-bodies", entries=300)
    connection = sqlite3.connect(database(cache))
    connection.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = zeroblob(1 << 20)")
    connection.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID > 290")
    connection.commit()
    connection.close()
    size = os.path.getsize(database(cache))
    assert size > 300 << 20, size
    process = subprocess.Popen([tool, "compact", "-c", cache, "--full", "--no-verify", "--format", "json"],
                               stdout=subprocess.PIPE)
    receipt = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0 and receipt["method"] == "rewrite", receipt
    # In KiB, but on macOS.
    most = usage.ru_maxrss >> (10 if sys.platform == "darwin" else 0)
    assert most < 64 << 10, most
    shutil.rmtree(cache)


def enforce(cache, *options, status=0):
    result = subprocess.run([tool, "enforce", "-c", cache, *options, "--format", "json"], capture_output=True,
                            stdin=subprocess.DEVNULL)
    assert result.returncode == status, (options, result)
    return json.loads(result.stdout or result.stderr)


def length(cache):
    return sum(os.path.getsize(os.path.join(cache, name)) for name in files(cache))


def enforcing():
    """Limits are kept by what all files take up, and the right entries go."""
    cache = make("limits", entries=1_500)
    whole = length(cache)
    assert whole > 20 << 20, whole
    stored = {entry["id"]: entry["stored"] for entry in json.loads(subprocess.run(
        [tool, "list", "-c", cache, "--format", "json", "--columns", "id,stored"], capture_output=True).stdout)["entries"]}
    planned = enforce(cache, "--max-size", "8M", "-n")
    assert length(cache) == whole and planned["dry_run"] and planned["limit_met"], planned
    receipt = enforce(cache, "--max-size", "8M", "-y")
    assert receipt["entries"] == planned["entries"] and receipt["limit_met"], "it did not do what it said"
    assert receipt["footprint_after"] == length(cache) <= 8 << 20, (receipt["footprint_after"], length(cache))
    assert length(cache) > 6 << 20, "much more went than had to"
    gone = {entry["id"] for entry in receipt["entries"]}
    assert max(stored[number] for number in gone) <= min(stored[number] for number in stored if number not in gone)
    assert {entry["reason"] for entry in receipt["entries"]} == {"over-size"}
    rows(cache)
    # Of a limit that is kept nothing goes; once it is not, down to a share of it.
    count = len(stored) - len(gone)
    assert enforce(cache, "--max-entries", str(count), "--low", "50%", "-y")["removed"]["entries"] == 0
    receipt = enforce(cache, "--max-entries", str(count - 1), "--low", "50%", "--order", "largest", "-y")
    assert receipt["kept"]["entries"] == (count - 1) // 2, receipt["kept"]
    assert enforce(cache, "--max-age", "1d", "--only-if-over", "--max-size", "1G", "-y")["removed"]["entries"] == 0
    receipt = enforce(cache, "--max-age", "1d", "-y", "--max-entry-size", "1K")
    assert {entry["reason"] for entry in receipt["entries"]} == {"too-old"}, receipt
    assert enforce(cache, "--max-size", "0", "-y", status=1)["limit_met"] is False
    cache = make("asked")
    before = files(cache)
    enforce(cache, "--yes", status=64)
    enforce(cache, "--max-entries", "1", status=64)
    assert files(cache) == before
    # Beside a process that has it open, as far as it goes.
    cache = make("held", entries=400)
    holder = subprocess.Popen([sys.executable, "-c", HOLDER.replace("BEGIN IMMEDIATE", "SELECT * FROM sqlite_master"),
                               database(cache)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"locked\n"
    receipt = enforce(cache, "--max-entries", "10", "-y")
    assert receipt["kept"]["entries"] == 10, receipt
    holder.communicate()
    rows(cache)
    left_log()
    stuck_files()
    small_stores()
    print("enforcing: ok", flush=True)


def small_stores():
    """A small store ends just below its limit, or the low mark, however its pages become free."""
    origin = make("small", "--no-large-bodies", entries=600)
    whole = length(origin)
    assert whole == 2 << 20, whole
    for limit in [1 << 20, 512 << 10, 200 << 10, whole * 9 // 10, whole * 3 // 4, whole - 4096]:
        for order in ["oldest", "largest"]:
            for low in [100, 80]:
                cache = os.path.join(root, "small-copy")
                shutil.copytree(origin, cache)
                receipt = enforce(cache, "--max-size", str(limit), "--order", order, "--low", f"{low}%", "-y")
                most = limit * low // 100
                assert receipt["limit_met"] and receipt["footprint_after"] == length(cache), receipt["footprint_after"]
                # A few pages come back at once.
                assert most - max(most // 20, 24 << 10) <= length(cache) <= most, (limit, order, low, length(cache))
                rows(cache)
                shutil.rmtree(cache)
    # An empty database is larger than the low mark, and not than the limit, which counts then.
    receipt = enforce(origin, "--max-size", "64K", "--low", "50%", "-y")
    assert receipt["limit_met"] and length(origin) <= 64 << 10 and receipt["kept"]["entries"] > 0, receipt


def left_log():
    """The log that a killed application has left goes by itself, and no entry has to for it."""
    cache = make("left-log", entries=400)
    whole = length(cache)
    connection = "import sqlite3, sys; connection = sqlite3.connect(sys.argv[1]); "
    subprocess.run([sys.executable, "-c", connection + "connection.execute('PRAGMA wal_autocheckpoint = 0'); "
                    "connection.execute('UPDATE cfurl_cache_blob_data SET request_object = zeroblob(length(request_object))'); "
                    "connection.commit(); import os; os._exit(0)", database(cache)], check=True)
    assert length(cache) > whole + 200_000, (length(cache), whole)
    options = ["--max-size", str(whole + 16384)]
    assert enforce(cache, *options, "-n")["removed"]["entries"] == 0
    receipt = enforce(cache, *options, "-y")
    assert receipt["removed"]["entries"] == 0 and receipt["limit_met"], receipt
    assert receipt["footprint_after"] == length(cache) <= whole + 16384, (receipt, whole)
    rows(cache)


def stuck_files():
    """Where body files cannot be removed, no more entries go than would have."""
    cache = make("stuck", entries=400)
    options = ["--max-size", "3M", "--format", "json"]
    planned = json.loads(subprocess.run([tool, "enforce", "-c", cache, *options, "-n"], capture_output=True).stdout)
    result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=unlinkat",
                             "-e", "inject=unlinkat:error=EACCES", tool, "enforce", "-c", cache, *options, "-y"],
                            capture_output=True)
    assert result.returncode == 1 and b"note: body files that could not be removed: " in result.stderr, result
    receipt = json.loads(result.stdout)
    assert receipt["entries"] == planned["entries"] and not receipt["limit_met"], receipt["removed"]
    assert receipt["footprint_after"] == length(cache) > 3 << 20, receipt["footprint_after"]
    # What is still there has not been returned.
    for format in ["table", "json"]:
        cache = make(f"stuck-{format}", entries=60)
        whole = length(cache)
        result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=unlinkat",
                                 "-e", "inject=unlinkat:error=EACCES:when=3+", tool, "purge", "-c", cache, "--all", "--yes",
                                 "--format", format], capture_output=True)
        assert result.returncode == 3 and b"could not be removed: " in result.stderr, result
        if format == "json":
            receipt = json.loads(result.stdout)
            assert receipt["footprint_after"] == length(cache) and receipt["footprint_before"] == whole, receipt
        else:
            returned = (whole - length(cache)) / 1024
            assert f"Returned {returned:.0f} KiB to".encode() in result.stdout or \
                f"Returned {returned:.1f} KiB to".encode() in result.stdout, (returned, result.stdout)

KEEPER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA wal_autocheckpoint = 0")
# What does not change does not get into the log.
for value in ["CAST(response_object || x'00' AS BLOB)", "substr(response_object, 1, length(response_object) - 1)"]:
    connection.execute(f"UPDATE cfurl_cache_blob_data SET response_object = {value}")
print("ready", flush=True)
sys.stdin.read()
"""


def beside_a_log():
    """No entry goes for the log that another process keeps, however small the limit is beside it."""
    cache = make("log", "--no-large-bodies", entries=2_000)
    before = rows(cache)
    size = os.path.getsize(database(cache))
    keeper = subprocess.Popen([sys.executable, "-c", KEEPER, database(cache)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    assert keeper.stdout.readline() == "ready\n"
    log = os.path.getsize(database(cache) + "-wal")
    assert log > size / 4, (log, size)
    result = subprocess.run([tool, "enforce", "-c", cache, "--max-size", str(size + log // 2), "--yes"],
                            capture_output=True, text=True)
    assert result.returncode == 1, result
    assert "the limits cannot be met, so nothing was removed" in result.stderr, result
    assert "another process has the cache open and keeps" in result.stderr and "in its log" in result.stderr, result
    keeper.communicate(timeout=60)
    assert rows(cache)[0] == before[0], "entries went for the log"
    print("beside a log: ok", flush=True)


def main():
    made_up()
    real()
    refusals()
    dry_run()
    hostile()
    locked()
    compacting()
    enforcing()
    beside_a_writer(4)
    beside_a_log()


try:
    main()
finally:
    shutil.rmtree(root)
