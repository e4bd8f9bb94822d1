"""Removes entries from caches with `purge` and `enforce`, compacts caches, and looks at what is left with `sqlite3`."""

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest

import samples
import scratch
import strace
from products import REPOSITORY, tool
from scratch import copy, path, peak_of

TABLES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]


def make(name, *options, entries=60):
    return scratch.make(name, *options, entries=entries, seed=7)


def purge(cache, *options, status=0):
    return scratch.run("purge", "-c", cache, *options, status=status)


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


def purge_every_second(cache):
    """Purges every second URL, and compares all that is left; returns how many entries are gone."""
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


@pytest.mark.parametrize("schema", ["202", "203"])
def test_every_second_of_made_up_cache(schema):
    """What is purged is gone from all tables, with its body files, and all else is as it was."""
    assert purge_every_second(make("made", "--schema", schema)) > 20


def test_every_second_of_apple_caches(cachedb):
    """What is purged from caches as Apple systems write them is gone, and all else is as it was."""
    total = 0
    for name in sorted(os.listdir(cachedb)):
        version = re.match(r"schema-(\d+)", name)
        if version and int(version.group(1)) >= 25:
            total += purge_every_second(samples.copy(os.path.join(cachedb, name), name))
    assert total > 50, total


def test_refusals():
    """Nothing is removed without confirmation, beyond '--max-delete', or without the backup that was asked for."""
    cache = make("refused")
    before = files(cache)
    purge(cache, "--host", "api.news.example", status=64)
    purge(cache, "--yes", status=64)
    purge(cache, "--all", "--yes", "--max-delete", "10", status=1)
    purge(cache, "--all", "--yes", "--backup", "x.7z", status=64)
    assert files(cache) == before
    result = purge(cache, "https://api.news.example/nowhere", "--yes", status=1)
    assert b"no entry has the URL 'https://api.news.example/nowhere'" in result.stderr, result


@pytest.mark.parametrize(("host", "hint"), [
    ("api.newz.example", "did you mean 'api.news.example'?"), ("news.example", "did you mean '.news.example'?"),
    ("other.invalid", "list the hosts with: urlcache-admin usage -c CACHE --by host")])
def test_a_host_without_entries(host, hint):
    cache = make("hosts")
    for words in [["purge", "--yes"], ["purge", "-n"], ["list"]]:
        result = subprocess.run([tool, words[0], cache, "--host", host, *words[1:]], capture_output=True)
        note = f"note: no entry has the host '{host}'\nhint: {hint.replace('CACHE', cache)}\n"
        assert result.returncode == 0 and note in result.stderr.decode(), result
    # Another option can be the reason.
    result = purge(cache, "--host", ".news.example", "--larger-than", "1G", "--yes")
    assert b"no entry has" not in result.stderr, result


def test_notes_group_digits():
    cache = make("many", "--no-large-bodies", entries=1100)
    assert purge(cache, "--all", "--plan", path("plan.json")).stderr.decode() == (
        f"note: saved '{path('plan.json')}', a plan to remove 1,100 entries\n")
    result = purge(cache, "--all", "--yes", "--max-delete", "10", status=1)
    assert result.stderr.startswith(b"error: 1,100 of 1,100 entries would be removed, more than"), result


def test_without_a_terminal_the_message_has_the_command():
    """A host is removed with a copy, and restored, by pasting what the messages print."""
    cache = make("pasted")
    urls = lambda: sorted(subprocess.run([tool, "list", cache, "--format", "urls"], capture_output=True, check=True).stdout.splitlines())
    before = urls()
    refused = purge(cache, "--host", "api.news.example", "--backup", path("a copy.tar"), status=64)
    for verb in ["purge", "import"]:
        line = refused.stderr.decode().splitlines()[-1 if verb == "purge" else 0]
        words = shlex.split(line[line.index("urlcache-admin ") + len("urlcache-admin "):])
        assert words[0] == verb, line
        refused = subprocess.run([tool, *words], capture_output=True)
        assert refused.returncode == 0, refused
        assert (urls() == before) == (verb == "import")


def test_dry_run():
    """A dry run reports what the real run does, and changes nothing."""
    one, two = make("dry"), make("wet")
    options = ["--larger-than", "5K", "--format", "json"]
    before = files(one)
    dry = purge(one, *options, "-n").stdout.replace(one.encode(), b"CACHE")
    assert files(one) == before
    wet = purge(two, *options, "-y").stdout.replace(two.encode(), b"CACHE")
    assert dry.replace(b'"dry_run":true', b'"dry_run":false') == wet


@pytest.mark.parametrize(("sql", "status"), [
    ("CREATE TRIGGER t AFTER DELETE ON cfurl_cache_response BEGIN DELETE FROM cfurl_cache_blob_data; END", 65),
    ("ALTER TABLE cfurl_cache_response ADD COLUMN g GENERATED ALWAYS AS (1)", 65),
    ("PRAGMA user_version = 999", 65),
    ("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 1, receiver_data = CASE entry_ID % 3 "
     "WHEN 0 THEN '../../x' WHEN 1 THEN '/etc/hostname' ELSE '' END", 0)], ids=["trigger", "generated", "version", "names"])
def test_hostile_database(sql, status):
    """A schema that would do more than it is asked to is refused, and names that lead elsewhere remove nothing there."""
    cache = make("cache")
    victim = scratch.write("x", b"mine")
    connection = sqlite3.connect(database(cache))
    connection.executescript(sql)
    connection.close()
    before = rows(cache)
    purge(cache, "--all", "--yes", status=status)
    assert (rows(cache) == before) == (status != 0)
    assert os.path.exists(victim) and os.path.exists("/etc/hostname")


def test_linked_folder():
    """A folder of body files that is a link is refused, and nothing behind it is removed."""
    os.mkdir(path("outside"))
    victim = scratch.write("outside/00000000-0000-0000-0000-000000000000", b"mine")
    cache = make("linked")
    shutil.rmtree(os.path.join(cache, "fsCachedData"))
    os.symlink(path("outside"), os.path.join(cache, "fsCachedData"))
    purge(cache, "--all", "--yes", status=65)
    assert os.path.exists(victim)


def test_shared_body_file():
    """A body file is removed with the last row that names it."""
    shared = make("shared", entries=40)
    connection = sqlite3.connect(database(shared))
    name = connection.execute("SELECT receiver_data FROM cfurl_cache_receiver_data WHERE isDataOnFS").fetchone()[0]
    connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 1, receiver_data = ? WHERE entry_ID IN (1, 2, 3)",
                       (name,))
    connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = x'' "
                       "WHERE receiver_data = ? AND entry_ID > 3", (name,))
    connection.commit()
    connection.close()
    file = os.path.join(shared, "fsCachedData", name if isinstance(name, str) else name.decode())
    purge(shared, "1", "2", "--yes")
    assert os.path.exists(file), "a file that another row names is gone"
    purge(shared, "3", "--yes")
    assert not os.path.exists(file), "a file that no row names is left"


def test_purge_beside_a_writer(thorough):
    """An app that stores responses while `purge` works never finds the database busy, and never waits for a second."""
    seconds, entries, portion = (4, 20_000, 2_000) if thorough else (2, 2_000, 200)
    cache = make("live", "--no-large-bodies", entries=entries)
    script = REPOSITORY / "Tests/Acceptance/support/insert_responses.py"
    writer = subprocess.Popen([sys.executable, script, database(cache), str(seconds)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "ready\n"
    low = 1
    while writer.poll() is None and low < entries:
        identifiers = [option for number in range(low, low + portion) for option in ("--id", str(number))]
        purge(cache, *identifiers, "--yes")
        low += portion
    output, errors = writer.communicate(timeout=60)
    assert writer.returncode == 0, errors
    stored, busy, longest = (json.loads(output)[name] for name in ["stored", "busy", "longest"])
    # The machine may be busy: what must not be is a second, after which an app gives up.
    assert stored > 10 and not busy and longest < 0.9, output
    tables, _, _ = rows(cache)
    for table in TABLES:
        kept = [number for number in tables[table] if number < 10_000_000]
        assert kept == list(range(low, entries + 1)), (table, low, len(kept))
        assert len(tables[table]) - len(kept) == stored, table


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held(cache, script=HOLDER.replace("BEGIN IMMEDIATE", "SELECT * FROM sqlite_master")):
    """Keeps the database open in another process, which a file that is closed in this one would unlock."""
    with subprocess.Popen([sys.executable, "-c", script, database(cache)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"locked\n"
        yield
        holder.communicate(timeout=60)


def test_locked_cache():
    """A command waits for a lock of another process, then exits with status 75, and changes nothing."""
    cache = make("locked")
    with held(cache, HOLDER):
        before = files(cache)
        start = time.monotonic()
        purge(cache, "1", "--yes", "--wait", "1s", status=75)
        assert 0.9 < time.monotonic() - start < 60
        # The marks of readers in the index of the log may move.
        after = files(cache)
        for contents in before, after:
            contents.pop("Cache.db-shm", None)
        assert after == before


def compact(cache, *options, status=0):
    result = subprocess.run([tool, "compact", "-c", cache, *options, "--format", "json"], capture_output=True)
    assert result.returncode == status, (options, result)
    return json.loads(result.stdout or result.stderr)


def test_compacting():
    """`compact` gives back what a purge leaves free, and no row changes."""
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
    # While another process has it open there are slices only.
    purge(cache, "--mime", "image/*", "--yes")
    with held(cache):
        assert compact(cache, "--full", status=75)["kind"] == "busy"
        receipt = compact(cache)
        assert receipt["method"] == "slices" and receipt["free_after"] == 0, receipt
    rows(cache)
    # A crash before the end of a file is cut off leaves a tail, which holds nothing that is free.
    for mode in ["wal", "delete"]:
        connection = sqlite3.connect(database(cache))
        assert connection.execute(f"PRAGMA journal_mode = {mode}").fetchone() == (mode,)
        connection.close()
        before, size = rows(cache), os.path.getsize(database(cache))
        os.truncate(database(cache), size + 5 * 4_096)
        said = subprocess.run([tool, "compact", "-c", cache, "-n"], capture_output=True, text=True, check=True).stdout
        assert said.startswith("Free space in the database: 0 B of ") and "; beyond its end: 20.0 KiB; " in said, said
        receipt = compact(cache)
        assert (receipt["method"], receipt["free_before"]) == ("rewrite", 0), receipt
        assert os.path.getsize(database(cache)) == receipt["footprint_after"] <= size, receipt
        assert rows(cache) == before and compact(cache)["method"] == "none"


@pytest.mark.needs_mounts
def test_compacting_with_little_room():
    """Where there is no room for the log of all that is free, `compact` works in slices."""
    cache = make("room", "--no-large-bodies", entries=2_000)
    connection = sqlite3.connect(database(cache))
    # What is left has to move, and takes several times the room.
    connection.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = zeroblob(20000)")
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE entry_ID <= 1000")
    connection.commit()
    free = connection.execute("PRAGMA freelist_count").fetchone()[0]
    connection.close()
    assert free > 4_096, free
    script = """
mount -t tmpfs -o size="$1" none "$2" && cp -a "$3/." "$2" || exit 99
"$4" compact -c "$2" --format json; status=$?
[ "$(sqlite3 "$2/Cache.db" 'PRAGMA integrity_check; SELECT count(*) FROM cfurl_cache_response')" = "ok
1000" ] && exit $status
"""
    mounted = path("mounted")
    os.mkdir(mounted)
    room = os.path.getsize(database(cache)) + (6 << 20)
    result = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", str(room), mounted, cache, tool], capture_output=True)
    receipt = json.loads(result.stdout)
    assert result.returncode == 0 and (receipt["method"], receipt["free_after"]) == ("slices", 0), result


def test_compacting_in_little_memory():
    """A rewrite takes less memory than the database is long."""
    cache = make("large", "--no-large-bodies", entries=300)
    connection = sqlite3.connect(database(cache))
    connection.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = zeroblob(1 << 20)")
    connection.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID > 290")
    connection.commit()
    connection.close()
    size = os.path.getsize(database(cache))
    assert size > 300 << 20, size
    words = ["compact", "-c", cache, "--full", "--no-verify", "--format", "json"]
    status, errors, peak = peak_of(words, output=path("receipt"))
    with open(path("receipt")) as receipt:
        assert status == 0 and json.load(receipt)["method"] == "rewrite", errors
    assert peak < 64 << 20, peak


def enforce(cache, *options, status=0):
    result = subprocess.run([tool, "enforce", "-c", cache, *options, "--format", "json"], capture_output=True,
                            stdin=subprocess.DEVNULL)
    assert result.returncode == status, (options, result)
    return json.loads(result.stdout or result.stderr)


def length(cache):
    return sum(os.path.getsize(os.path.join(cache, name)) for name in files(cache))


def test_limits():
    """Limits hold for what all files take up, and `enforce` removes the right entries."""
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


def test_enforce_without_confirmation():
    """`enforce` without a limit, or without confirmation, is refused."""
    cache = make("asked")
    before = files(cache)
    enforce(cache, "--yes", status=64)
    enforce(cache, "--max-entries", "1", status=64)
    assert files(cache) == before


def test_enforce_while_open():
    """Limits are enforced even while another process has the cache open."""
    cache = make("held", entries=400)
    with held(cache):
        receipt = enforce(cache, "--max-entries", "10", "-y")
        assert receipt["kept"]["entries"] == 10, receipt
    rows(cache)


def test_small_caches(thorough):
    """The entries of a small cache end just below its limit, or the low mark, and its files not far from there."""
    origin = make("small", "--no-large-bodies", entries=600)
    whole = length(origin)
    assert whole == 2 << 20, whole
    for number, limit in enumerate([1 << 20, 512 << 10, 200 << 10, whole * 9 // 10, whole * 3 // 4, whole - 4096]):
        for order in ["oldest", "largest"]:
            for low in [100, 80] if thorough else [[100, 80][(number + (order == "largest")) % 2]]:
                cache = copy(origin, "small-copy")
                receipt = enforce(cache, "--max-size", str(limit), "--order", order, "--low", f"{low}%", "-y")
                most = limit * low // 100
                assert receipt["limit_met"] and receipt["footprint_after"] == length(cache), receipt["footprint_after"]
                if limit < whole:
                    assert most - 4_096 <= receipt["in_use_after"] <= most or low < 100 and receipt["in_use_before"] <= limit, (limit, order, low)
                assert length(cache) <= max(limit, most + max(most // 20, 24 << 10)), (limit, order, low, length(cache))
                rows(cache)
    # An empty database is larger than the low mark, and not than the limit, which counts then.
    receipt = enforce(origin, "--max-size", "64K", "--low", "50%", "-y")
    assert receipt["limit_met"] and receipt["in_use_after"] <= 64 << 10 and receipt["kept"]["entries"] > 0, receipt


def test_log_of_killed_app():
    """The log that a killed app left is removed, and no entry for it."""
    cache = make("left-log", entries=400)
    whole = length(cache)
    connection = "import sqlite3, sys; connection = sqlite3.connect(sys.argv[1]); "
    subprocess.run([sys.executable, "-c", connection + "connection.execute('PRAGMA wal_autocheckpoint = 0'); "
                    "connection.execute('UPDATE cfurl_cache_blob_data SET request_object = zeroblob(length(request_object))'); "
                    "connection.commit(); import os; os._exit(0)", database(cache)], check=True)
    assert length(cache) > whole + 200_000, (length(cache), whole)
    # Shares are a few percent off the size of a database.
    most = whole + whole // 20
    options = ["--max-size", str(most)]
    assert enforce(cache, *options, "-n")["removed"]["entries"] == 0
    receipt = enforce(cache, *options, "-y")
    assert receipt["removed"]["entries"] == 0 and receipt["limit_met"], receipt
    assert receipt["footprint_after"] == length(cache) <= most, (receipt, whole)
    rows(cache)


@strace.needed
def test_stuck_body_files():
    """Where body files cannot be removed, no more entries are removed than otherwise."""
    cache = make("stuck", entries=400)
    options = ["--max-size", "3M", "--format", "json"]
    planned = json.loads(subprocess.run([tool, "enforce", "-c", cache, *options, "-n"], capture_output=True).stdout)
    result = subprocess.run([*strace.fault("unlinkat", "error=EACCES", "1+"), tool, "enforce", "-c", cache, *options, "-y"],
                            capture_output=True)
    assert result.returncode == 3 and b"note: could not remove body files: " in result.stderr, result
    receipt = json.loads(result.stdout)
    assert receipt["entries"] == planned["entries"] and b"more than the limit: " in result.stderr, receipt["removed"]
    assert receipt["footprint_after"] == length(cache) > 3 << 20, receipt["footprint_after"]
    # What is still there has not been returned.
    for format in ["table", "json"]:
        cache = make(f"stuck-{format}", entries=60)
        whole = length(cache)
        result = subprocess.run([*strace.fault("unlinkat", "error=EACCES", "3+"), tool, "purge", "-c", cache, "--all", "--yes",
                                 "--format", format], capture_output=True)
        assert result.returncode == 3 and b"could not remove body files: " in result.stderr, result
        if format == "json":
            receipt = json.loads(result.stdout)
            assert receipt["footprint_after"] == length(cache) and receipt["footprint_before"] == whole, receipt
        else:
            returned = (whole - length(cache)) / 1024
            assert f"Freed {returned:.0f} KiB on".encode() in result.stdout or \
                f"Returned {returned:.1f} KiB to".encode() in result.stdout, (returned, result.stdout)


KEEPER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA wal_autocheckpoint = 0")
# What does not change does not get into the log.
for value in ["CAST(response_object || x'00' AS BLOB)", "substr(response_object, 1, length(response_object) - 1)"]:
    connection.execute(f"UPDATE cfurl_cache_blob_data SET response_object = {value}")
print("locked", flush=True)
sys.stdin.read()
"""


def test_log_of_another_process():
    """No entry is removed for the log that another process keeps, however small the limit is."""
    cache = make("log", "--no-large-bodies", entries=2_000)
    before = rows(cache)
    size = os.path.getsize(database(cache))
    with held(cache, KEEPER):
        log = os.path.getsize(database(cache) + "-wal")
        assert log > size / 4, (log, size)
        result = subprocess.run([tool, "enforce", "-c", cache, "--max-size", str(size + log // 2), "--yes"], capture_output=True, text=True)
        assert result.returncode == 0 and result.stdout.startswith("Removed 0 of 2,000 entries"), result
        assert "more than the limit: " in result.stderr and "in the log, which the app empties" in result.stderr, result
    assert rows(cache)[0] == before[0], "entries went for the log"


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_removed_bytes(mode):
    """The bytes of removed entries, which may be secret, are overwritten in the database."""
    cache = make("cache", entries=12)
    secret = b"Bearer 0123456789abcdef"
    connection = sqlite3.connect(database(cache), isolation_level=None)
    # Kept entries around the removed one, so that a part of a page becomes free, and a body of several pages.
    connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = ? WHERE entry_ID = 9", (secret * 1000,))
    connection.execute("UPDATE cfurl_cache_blob_data SET user_info = ? WHERE entry_ID = 9", (secret,))
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.close()
    assert scratch.read(database(cache)).count(secret) > 900
    purge(cache, "9", "--yes")
    left = [os.path.join(cache, name) for name in os.listdir(cache)]
    assert not [file for file in left if os.path.isfile(file) and secret in scratch.read(file)]
