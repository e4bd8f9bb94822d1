"""Damages caches in each way that 'check' reports, and looks at the findings and at the repairs."""

import collections
import json
import os
import plistlib
import random
import re
import shutil
import subprocess
import time

import pytest

import samples
import scratch
from apple_systems import cache_key, key_hash
from checked_cache import (
    BLOBS, BODIES, RESPONSES, TABLES, age_body_files, body_file, check, execute, found, make, orphan, query, remove_flawed, rows, run, start, state)
from products import REPOSITORY, tool
from scratch import path

UUID = re.compile(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}")


def changed_message(column, number, changes, version=None):
    """A property list as CFNetwork writes one for an entry, with some elements changed."""
    null = "__CFURLRequestNullTokenString__"

    def change(cache):
        key = query(cache, f"SELECT request_key FROM {RESPONSES} WHERE entry_ID = {number}")[0][0]
        url = {"_CFURLString": key, "_CFURLStringType": 15}
        if column == "response_object":
            array = [url, 700000000.0, 0, 200, {}, 1, "text/plain"]
        else:
            array = [False, url, 60.0, 0, null, True, 4, null, null, True, False, 0, 0.0, 0.0, 0, -1, null, 2, "GET", {},
                     null, null]
        for index, value in changes.items():
            array[index] = value
        value = {"Version": version or {7: 1, 22: 9}[len(array)], "Array": array}
        execute(cache, (f"UPDATE {BLOBS} SET {column} = ? WHERE entry_ID = {number}",
                        (plistlib.dumps(value, fmt=plistlib.FMT_BINARY),)))
    return change


def later_by(seconds):
    """Stores an entry some seconds after now."""
    return lambda cache: changed_message("response_object", 5, {1: time.time() - 978307200 + seconds})(cache)


def sql(*statements):
    return lambda cache: execute(cache, *statements)


def in_file(cache, number):
    """Puts the body of an entry into a file, whose path is returned."""
    name = orphan(900 + number)
    execute(cache, (f"UPDATE {BODIES} SET isDataOnFS = 1, receiver_data = ? WHERE entry_ID = {number}", (name,)))
    return body_file(cache, name)


def file_named(name):
    return lambda cache: execute(
        cache, (f"UPDATE {BODIES} SET isDataOnFS = 1, receiver_data = ? WHERE entry_ID = 1", (name,)))


def missing_file(cache):
    os.remove(in_file(cache, 1))


def linked_body(cache):
    path = in_file(cache, 1)
    os.remove(path)
    os.symlink("/etc/hostname", path)


def shared_body(cache):
    in_file(cache, 1)
    execute(cache, f"UPDATE {BODIES} SET isDataOnFS = 1, receiver_data = '{orphan(901).lower()}' WHERE entry_ID = 2")
    body_file(cache, orphan(901).lower())


def linked_folder(cache):
    os.rename(os.path.join(cache, "fsCachedData"), os.path.join(cache, "elsewhere"))
    os.symlink("elsewhere", os.path.join(cache, "fsCachedData"))


def rekeyed(number, suffix="", prefix=""):
    """Another key, with the hash that CFNetwork has for it."""
    def change(cache):
        key = query(cache, f"SELECT request_key FROM {RESPONSES} WHERE entry_ID = {number}")[0][0] + suffix
        key = prefix + key[len(prefix):]
        execute(cache, (f"UPDATE {RESPONSES} SET request_key = ?, hash_value = ? WHERE entry_ID = {number}",
                        (key, key_hash(key))))
    return change


def several(*changes):
    def change(cache):
        for each in changes:
            each(cache)
    return change


NO_STORE = {"Cache-Control": 'private="a, no-store", No-Store'}
# What is done to a cache without faults, and what is found then: severity, code, id, whether it can be repaired.
CASES = {
    "no response row": (sql(f"DELETE FROM {RESPONSES} WHERE entry_ID = 3"), [("error", "no-response-row", 3, True)]),
    "no blob row": (sql(f"DELETE FROM {BLOBS} WHERE entry_ID = 3"), [("error", "no-blob-row", 3, True)]),
    "no body row": (sql(f"UPDATE {BODIES} SET isDataOnFS = 0, receiver_data = x'' WHERE entry_ID = 3",
                        f"DELETE FROM {BODIES} WHERE entry_ID = 3"), [("error", "no-body-row", 3, True)]),
    "no body": (sql(f"UPDATE {BODIES} SET isDataOnFS = 0, receiver_data = NULL WHERE entry_ID = 1"),
                [("error", "no-body-row", 1, True)]),
    "cut response": (sql(f"UPDATE {BLOBS} SET response_object = substr(response_object, 1, 90) WHERE entry_ID = 4"),
                     [("error", "undecodable", 4, True)]),
    "no response": (sql(f"UPDATE {BLOBS} SET response_object = NULL WHERE entry_ID = 4"),
                    [("error", "undecodable", 4, True)]),
    "no request": (sql(f"UPDATE {BLOBS} SET request_object = x'00' WHERE entry_ID = 4"),
                   [("error", "undecodable", 4, True)]),
    "cut properties": (sql(f"UPDATE {BLOBS} SET proto_props = x'62', user_info = x'70' WHERE entry_ID = 4"),
                       [("error", "undecodable", 4, True)] * 2),
    "too large": (sql(f"UPDATE {BLOBS} SET request_object = zeroblob({(32 << 20) + 1}) WHERE entry_ID = 4"),
                  [("note", "too-large", 4, False)]),
    "too large and cut": (sql(f"UPDATE {BLOBS} SET request_object = zeroblob({(32 << 20) + 1}), "
                              "response_object = NULL WHERE entry_ID = 4"),
                          [("error", "undecodable", 4, True), ("note", "too-large", 4, False)]),
    "version": (changed_message("response_object", 4, {}, version=2), [("warning", "unknown-version", 4, False)]),
    "missing body": (missing_file, [("error", "missing-body-file", 1, True)]),
    "path as name": (file_named("../Cache.db"), [("error", "bad-body-file-name", 1, True)]),
    "linked body": (linked_body, [("error", "not-a-regular-file", 1, True)]),
    "shared body": (shared_body, [("error", "shared-body-file", 1, False), ("error", "shared-body-file", 2, False)]),
    "linked folder": (several(lambda cache: in_file(cache, 1), linked_folder),
                      [("error", "body-folder", None, False), ("error", "missing-body-file", 1, True)]),
    "orphan": (lambda cache: body_file(cache, orphan(1)), [("warning", "orphan-body-file", None, True)]),
    "foreign file": (lambda cache: body_file(cache, ".DS_Store"), [("warning", "foreign-file", None, False)]),
    "small letters": (lambda cache: body_file(cache, orphan(1).lower()), [("warning", "foreign-file", None, False)]),
    "folder of a name": (lambda cache: os.mkdir(os.path.join(cache, "fsCachedData", orphan(1))),
                         [("warning", "foreign-file", None, False)]),
    "name of bytes": (lambda cache: body_file(cache, os.fsdecode(b"\xff\x1b[2J")),
                      [("warning", "foreign-file", None, False)]),
    "purge leftover": (lambda cache: os.mkdir(os.path.join(cache, "fsCachedData_remove")),
                       [("warning", "purge-leftover", None, False)]),
    "other leftover": (lambda cache: os.mkdir(os.path.join(cache, "fsCachedData" + orphan(1))),
                       [("warning", "purge-leftover", None, False)]),
    "hash": (sql(f"UPDATE {RESPONSES} SET hash_value = hash_value + 1 WHERE entry_ID = 5"),
             [("note", "wrong-hash", 5, False)]),
    "short hash": (sql(f"UPDATE {RESPONSES} SET hash_value = ((hash_value + 2147483648) & 4294967295) - 2147483648"), []),
    "no hash": (sql(f"UPDATE {RESPONSES} SET hash_value = NULL WHERE entry_ID = 5"), [("note", "wrong-hash", 5, False)]),
    "key of another": (rekeyed(5, "x"), [("warning", "wrong-key", 5, False)]),
    "key with partition": (rekeyed(5, "[https://a.example]"), []),
    "key with body": (several(changed_message("request_object", 5, {20: b"text"}), rekeyed(5, "text")), []),
    "key is no text": (sql(f"UPDATE {RESPONSES} SET request_key = NULL WHERE entry_ID = 5"),
                       [("warning", "wrong-type", 5, False)]),
    "time is no text": (sql(f"UPDATE {RESPONSES} SET time_stamp = 7.5 WHERE entry_ID = 5"),
                        [("warning", "wrong-type", 5, False)]),
    "time is none": (sql(f"UPDATE {RESPONSES} SET time_stamp = 'yesterday' WHERE entry_ID = 5"),
                     [("warning", "bad-time", 5, False)]),
    "not UTF-8": (sql(f"UPDATE {RESPONSES} SET partition = CAST(x'ff' AS TEXT) WHERE entry_ID = 5"),
                  [("warning", "not-utf-8", 5, False)]),
    "POST": (changed_message("request_object", 5, {18: "POST"}), [("note", "not-get", 5, False)]),
    "not HTTP": (several(rekeyed(5, prefix="app+1://"), changed_message("request_object", 5, {}),
                         changed_message("response_object", 5, {})), [("note", "not-http", 5, False)]),
    "no-store": (changed_message("response_object", 5, {4: NO_STORE}), [("warning", "no-store", 5, False)]),
    "quoted no-store": (changed_message("response_object", 5, {4: {"Cache-Control": 'private="no-store", max-age=1'}}), []),
    "request with no-store": (changed_message("request_object", 5, {19: {"cache-control": "no-store"}}),
                              [("warning", "no-store", 5, False)]),
    "memory only": (sql(f"UPDATE {RESPONSES} SET storage_policy = 1 WHERE entry_ID = 5"),
                    [("warning", "not-for-disk", 5, False)]),
    "future": (later_by(4000),
               [("warning", "from-the-future", 5, False)]),
    "cut": (changed_message("response_object", 5, {4: {"Content-Length": "9999999"}}),
            [("warning", "partial-body", 5, False)]),
    "cut JSON": (changed_message("response_object", 5, {4: {"Content-Length": "9999999"}, 6: "application/json"}),
                 [("note", "other-length", 5, False)]),
    "longer": (changed_message("response_object", 5, {4: {"content-length": "0"}}), [("note", "other-length", 5, False)]),
    "a part": (changed_message("response_object", 5, {3: 206, 4: {"Content-Range": "bytes 0-0/9999999"}}),
               [("warning", "partial-body", 5, False)]),
    "no-cache": (changed_message("response_object", 5, {4: {"Cache-Control": "No-Cache"}}),
                 [("note", "no-cache-without-validator", 5, False)]),
    "not yet future": (later_by(100), []),
    "trigger": (sql(f"CREATE TRIGGER t AFTER DELETE ON {RESPONSES} BEGIN SELECT 1; END"), [("error", "trigger", None, False)]),
    "table": (sql("CREATE TABLE mine(a)"), [("warning", "unexpected-schema", None, False)]),
    "index": (sql("DROP INDEX time_stamp_index"), [("warning", "unexpected-schema", None, False)]),
    "other index": (sql("DROP INDEX time_stamp_index", f"CREATE INDEX time_stamp_index ON {RESPONSES}(partition)"),
                    [("warning", "unexpected-schema", None, False)]),
    "column": (sql(f"ALTER TABLE {BODIES} ADD COLUMN more"), [("warning", "unexpected-schema", None, False)]),
    "schema version": (sql("PRAGMA user_version = 204"), [("warning", "unknown-schema", None, False)]),
    "old schema version": (sql("PRAGMA user_version = 106"), [("warning", "unexpected-schema", None, False)]),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A cache without faults, which tests copy."""
    cache = shutil.copytree(scratch.made_up(("--no-large-bodies",), entries=40, seed=7), tmp_path_factory.mktemp("sound") / "cache")
    remove_flawed(str(cache))
    os.makedirs(cache / "fsCachedData", exist_ok=True)
    return cache


def test_no_fault(sound):
    """Nothing is found in a cache without faults."""
    assert found(str(sound), status=0) == []


@pytest.mark.parametrize("name", CASES)
def test_fault(name, sound):
    """Each fault is found, checking changes no file, and a repair removes what it reports and nothing else."""
    change, expected = CASES[name]
    cache = shutil.copytree(sound, path("case"))
    change(cache)
    before = state(cache)
    counts = collections.Counter(severity + "s" for severity, *_ in expected)
    bad = counts["errors"] + counts["warnings"] > 0
    report = check(cache, status=1 if bad else 0)
    assert state(cache) == before, name
    got = [(each["severity"], each["code"], each["id"], each["repairable"]) for each in report["findings"]]
    assert sorted(got, key=str) == sorted(expected, key=str), (name, got)
    assert report["counts"] == {kind: counts[kind] for kind in ["errors", "warnings", "notes"]}, (name, report)
    text = subprocess.run(start(cache), capture_output=True)
    assert text.returncode == (1 if bad else 0) and b"\x1b" not in text.stdout, (name, text)
    assert all(code.encode() in text.stdout for _, code, _, _ in expected), (name, text)
    if name not in ("linked folder", "trigger", "schema version"):
        repaired(name, cache, expected)


# What 'usage' and 'metrics' count as missing bodies.
MISSING = ["missing-body-file", "bad-body-file-name", "not-a-regular-file", "no-body-row"]


def assert_counts(cache, found):
    """'usage' and 'metrics' use a word for as many entries as 'check' does."""
    usage = json.loads(subprocess.run([tool, "usage", "-c", cache, "--json"], capture_output=True, check=True).stdout)
    metrics = subprocess.run([tool, "metrics", "-c", cache], capture_output=True, check=True, text=True).stdout
    counts = [usage["missing_bodies"], int(metrics.partition("\nurlcache_missing_bodies{")[2].partition("} ")[2].partition("\n")[0])]
    missing = subprocess.run([tool, "list", "-c", cache, "--body", "missing", "--count"], capture_output=True, check=True).stdout
    assert counts == [sum(found[code] for code in MISSING)] * 2 == [int(missing)] * 2, (counts, found, missing)


SIDECARS = {"orphan-sidecar", "different-sidecar", "unreadable-sidecar", "unknown-sidecar-names", "missing-sidecar", "young-sidecar",
            "not-a-sidecar"}
# What only a list of URLs or a rule finds; see test_classes.py and test_rules.py.
CONFIGURED = {"never-by-rule", "memory-only-by-rule", "offline-missing", "offline-unusable", "offline-stale", "offline-other-url"}
FOUNDATION = {"fatal-to-foundation", "empty-file", "unreadable-file", "query-not-in-key", "duplicate-key", "future-dated",
              "bad-file-name", "ignored-file", "temporary-file", "young-temporary-file", "scheme-not-in-key", "colliding-entries", "key-of-another-url"}


# See webkit/test_reading_webkit.py.
WEBKIT = {"missing-salt", "body-hash", "orphaned-blob", "lone-blob", "young-blob", "unlinked-blob", "other-file", "other-version", "plain-listing"}


def test_foundation():
    """What is wrong with a Foundation cache is found as often as the names of its files and its entries show it."""
    cache = scratch.make("foundation", "--format", "foundation", "--faults", "orphan-files,missing-bodies,undecodable", entries=60, seed=5)
    names = os.listdir(cache)
    response = next(name for name in names if not name.startswith("."))
    seconds, rest = response.split(".", 1)
    shutil.copy(os.path.join(cache, response), os.path.join(cache, f"{int(seconds) + 1}.{rest}"))
    shutil.copy(os.path.join(cache, response), os.path.join(cache, f"2000000000.{rest}"))
    open(os.path.join(cache, "1.YQAtMQAvAA==.storedcachedurlresponse"), "w").close()
    open(os.path.join(cache, "noon.YQAtMQAvAA==.storedcachedurlresponse"), "w").close()
    temporary = [os.path.join(cache, name) for name in names if name.startswith(".dat.nosync")]
    ignored = os.path.join(cache, "noon.YQAtMQAvAA==.storedcachedurlresponse")
    for file in [*temporary[1:], ignored]:
        os.utime(file, (time.time() - 3600,) * 2)
    before = state(cache)
    result = subprocess.run([tool, "check", "-c", cache, "--format", "json"], capture_output=True)
    assert result.returncode == 1 and state(cache) == before, result
    found = collections.Counter(finding["code"] for finding in json.loads(result.stdout)["findings"])
    listed = [json.loads(line) for line in subprocess.run(
        [tool, "list", "-c", cache, "--format", "ndjson", "--columns", "id,url"], capture_output=True).stdout.splitlines()]
    assert found["young-temporary-file"] == 1 and found["temporary-file"] == len(temporary) - 1 > 0, found
    assert found["query-not-in-key"] == sum("?" in (entry["url"] or "") for entry in listed) > 0, found
    assert (found["duplicate-key"], found["future-dated"], found["empty-file"], found["ignored-file"]) == (3, 1, 1, 1), found
    assert found["scheme-not-in-key"] == 1 and found["undecodable"] > 0, found
    assert_counts(cache, found)
    result = subprocess.run(
        [tool, "check", "-c", cache, "--repair=orphans", "--yes", "--format", "json"], capture_output=True)
    assert result.returncode == 1 and result.stderr == b"", result
    gone = {os.fsencode(file) for file in [*temporary[1:], ignored]}
    assert state(cache) == {file: facts for file, facts in before.items() if file not in gone}
    repair = json.loads(result.stdout)["repair"]
    assert repair["entries"] == [] and repair["removed"]["orphans"] == len(repair["orphans"]) == len(gone), repair


def test_documented():
    """The page on findings contains each finding, with its severity and its repair."""
    with open(REPOSITORY / "share/doc/urlcache-admin/findings.md") as file:
        table = dict((row[0].strip("`"), (row[1], row[-1] != "-")) for row in
                     ([cell.strip() for cell in line.strip("|\n").split("|")] for line in file if line.startswith("| `")))
    seen = {code: (severity, repairable) for _, expected in CASES.values() for severity, code, _, repairable in expected}
    # Findings of other tests, and those that need another user or process.
    others = {"damaged-database", "unreadable-body-file", "young-body-file", "undecided-body-file", "wrong-digest"} | CONFIGURED | FOUNDATION | WEBKIT | SIDECARS
    assert table.keys() == seen.keys() | others, table.keys() ^ (seen.keys() | others)
    assert all(table[code] == facts for code, facts in seen.items()), table


def repaired(name, cache, expected):
    old, files = rows(cache), state(cache)
    left = sorted(each[1:3] for each in expected if not each[3])
    gone = {id for _, _, id, repairable in expected if repairable and id is not None}
    left = [each for each in left if each[1] not in gone]
    if name == "linked body":
        # The link in the place of the file stays.
        left = [("foreign-file", None)]
    bad = name == "linked body" or any(
        severity != "note" for severity, code, id, _ in expected if (code, id) in left)
    report = check(cache, "--repair", "--yes", status=1 if bad else 0)
    assert report["repair"]["removed"]["entries"] == len(gone), (name, report)
    assert sorted(found(cache)) == left, (name, found(cache))
    for before, after in zip(old, rows(cache)):
        assert after == {number: row for number, row in before.items() if number not in gone}, name
    bodies = lambda state: {file: value[3] for file, value in state.items() if b"/fsCachedData/" in file}
    removed = bodies(files).keys() - bodies(state(cache)).keys()
    assert len(removed) == sum(code == "orphan-body-file" for _, code, _, _ in expected), (name, removed)
    assert bodies(state(cache)).items() <= bodies(files).items(), name


# Of a database of more than 16 MiB, threads read the entries while SQLite searches it for damage.
LARGE = 8000


@pytest.mark.parametrize(("schema", "entries"), [("202", 400), ("203", 400), ("203", LARGE)])
def test_made_up(schema, entries):
    """The faults of a made-up cache are those that `sqlite3` and `plistlib` find, and a repair leaves only what it cannot repair."""
    cache = make("made-" + schema, "--schema", schema, "--faults", "orphan-files,missing-bodies,undecodable",
                 entries=entries, keeping=["no-store"])
    report = check(cache, status=1)
    expected = independent(cache)
    assert collections.Counter(each["code"] for each in report["findings"]) == expected, expected
    assert len(expected) >= 4 and expected["no-store"] > 3 and report["entries"] == entries, report
    orphans = {os.path.basename(each["path"]) for each in report["findings"] if each["path"]}
    names = {row[0] for row in query(cache, f"SELECT receiver_data FROM {BODIES} WHERE isDataOnFS")}
    assert orphans == set(os.listdir(os.path.join(cache, "fsCachedData"))) - names
    # The entries in the order of their ids, and the files in that of their names.
    ids = [each["id"] for each in report["findings"] if each["id"] and each["repairable"]]
    paths = [each["path"] for each in report["findings"] if each["path"]]
    assert ids == sorted(ids) and paths == sorted(paths)
    old = rows(cache)
    report = check(cache, "--repair", "--yes", status=1)
    left = independent(cache)
    assert set(left) <= {"no-store", "not-get", "no-cache-without-validator"}, left
    assert report["left"] == {"errors": 0, "warnings": left["no-store"],
                              "notes": left["not-get"] + left["no-cache-without-validator"]}, report["left"]
    assert {each["reason"] for each in report["repair"]["entries"]} == {"missing-body", "undecodable"}
    for before, after in zip(old, rows(cache)):
        assert after == {number: row for number, row in before.items() if number not in ids}
    assert {code for code, _ in found(cache, "--full", status=1)} == set(left)
    assert set(os.listdir(os.path.join(cache, "fsCachedData"))) == {
        row[2].decode() for row in rows(cache)[2].values() if row[1]}


@pytest.mark.parametrize("damage", [None, "UPDATE sqlite_master SET rootpage = 1 WHERE name = 'request_key_index'"])
def test_large_cache_with_a_shared_file(damage):
    """Threads find the files that two entries name, and those that none names, in a damaged database as well."""
    cache = make("large", entries=LARGE)
    age_body_files(cache)
    (one, name), (other, free) = query(cache, f"SELECT entry_ID, receiver_data FROM {BODIES} WHERE isDataOnFS ORDER BY 1 DESC LIMIT 2")
    execute(cache, f"UPDATE {BODIES} SET receiver_data = '{name}' WHERE entry_ID = {other}")
    if damage:
        execute(cache, "PRAGMA writable_schema = ON", damage)
    report = check(cache, status=1)
    findings = [(each["code"], each["id"], os.path.basename(each["path"] or "")) for each in report["findings"]]
    store = [each for each in findings if each[0] in ("shared-body-file", "orphan-body-file")]
    assert store == [("orphan-body-file", None, free), ("shared-body-file", other, name), ("shared-body-file", one, name)], store
    # Findings on the store precede those on entries.
    assert findings.index(store[-1]) == len(findings) - sum(each[1] is not None for each in findings) + 1, findings[:9]
    assert any(each[0] == "damaged-database" for each in findings) == bool(damage)


def test_rows_that_a_scan_misses():
    """No file that a row names is an orphan, even if its row comes after one whose damaged id ends a scan."""
    cache = make("ids", entries=LARGE)
    ((id, name),) = query(cache, f"SELECT entry_ID, receiver_data FROM {BODIES} WHERE isDataOnFS AND entry_ID > 200 LIMIT 1")
    with open(os.path.join(cache, "Cache.db"), "r+b") as file:
        content = file.read()
        place = content.index(name.encode())
        # The length, the id in two bytes, and the header of the row.
        assert content[place - 7:place] == bytes([0x28, 0x80 | id // 128, id % 128, 4, 0, 9, 0x55])
        file.seek(place - 6)
        file.write(b"\xff")
    codes = collections.Counter(each["code"] for each in check(cache, status=1)["findings"])
    assert codes["damaged-database"] and not codes["orphan-body-file"], codes


def decoded(value):
    """A property list; `None` if it is damaged."""
    try:
        return plistlib.loads(value)
    except Exception:
        return None


def independent(cache):
    """How often each finding should be reported, counted with `sqlite3` and `plistlib`."""
    folder = os.path.join(cache, "fsCachedData")
    files = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    columns = {row[1] for row in query(cache, f"PRAGMA table_info({BODIES})")}
    named = []
    if "isDataOnFS" in columns:
        named = [row[0] for row in query(cache, f"SELECT receiver_data FROM {BODIES} WHERE isDataOnFS > 0")]
    counts = collections.Counter()
    counts["orphan-body-file"] = len([name for name in files - set(named) if UUID.fullmatch(name)])
    counts["foreign-file"] = len([name for name in files - set(named) if not UUID.fullmatch(name)])
    counts["missing-body-file"] = len([name for name in named if name not in files])
    counts["shared-body-file"] = len([name for name in named if named.count(name) > 1])
    ids = [{row[0] for row in query(cache, f"SELECT entry_ID FROM {table}")} for table in TABLES]
    for code, present in zip(["no-response-row", "no-blob-row", "no-body-row"], ids):
        counts[code] = len(set.union(*ids) - present)
    for key, stored in query(cache, f"SELECT request_key, hash_value FROM {RESPONSES}"):
        value = key_hash(key)
        counts["wrong-hash"] += stored not in (value, ((value + 2**31) % 2**32) - 2**31)
        counts["not-http"] += not re.match("https?:", key, re.IGNORECASE)
    ours = "'sqlite_%'", "'cfurl_cache_%'", *(f"'{name}_index'" for name in ["request_key", "time_stamp", "proto_props", "receiver_data"])
    others = " AND ".join(f"name NOT LIKE {name}" for name in ours)
    counts["unexpected-schema"] = query(cache, f"SELECT count(*) FROM sqlite_master WHERE {others}")[0][0]
    places = {3: (12, 13), 4: (13, 14), 9: (18, 19)}
    on_disk = "isDataOnFS" if "isDataOnFS" in columns else "0"
    bodies = dict((row[0], row[1:]) for row in query(
        cache, f"SELECT entry_ID, {on_disk}, receiver_data, length(CAST(receiver_data AS BLOB)) FROM {BODIES}"))
    for number, response, request, key in query(
            cache, f"SELECT entry_ID, response_object, request_object, request_key FROM {BLOBS} "
                   f"JOIN {RESPONSES} USING (entry_ID)"):
        response, request = decoded(response), decoded(request)
        if request:
            method, headers = (request["Array"][place] for place in places[request["Version"]])
            counts["not-get"] += method != "GET"
        if not response or not request:
            counts["undecodable"] += 1
            continue
        url, posted = request["Array"][1]["_CFURLString"], [item for item in request["Array"] if isinstance(item, bytes)]
        counts["wrong-key"] += re.sub(r"\[[^][]*\]$", "", key) not in [cache_key(url), cache_key(url, body=b"".join(posted))]
        for fields in [response["Array"][4], headers]:
            control = [value for name, value in fields.items() if name.lower() == "cache-control"]
            counts["no-store"] += any("no-store" in value.lower() for value in control)
        fields = {name.lower(): value for name, value in response["Array"][4].items()}
        directives = [part.strip().lower() for part in fields.get("cache-control", "").split(",")]
        counts["no-cache-without-validator"] += "no-cache" in directives and not {"etag", "last-modified"} & set(fields)
        is_file, name, size = bodies.get(number, (0, None, None))
        if is_file:
            file = os.path.join(folder, name)
            size = os.path.getsize(file) if os.path.isfile(file) else None
        status, length = response["Array"][3], fields.get("content-length", "")
        if size is None or not length.isdigit() or "content-encoding" in fields or status in (204, 206, 304) or method == "HEAD":
            continue
        is_json = (response["Array"][6:] or [fields.get("content-type", "")])[0].lower().endswith(("/json", "+json"))
        counts["partial-body"] += size < int(length) and not is_json
        counts["other-length"] += size > int(length) or size < int(length) and is_json
    return +counts


@pytest.mark.parametrize("sample", samples.each(), indirect=True)
def test_apple_cache(sample):
    """A cache as Apple systems write it has the faults that other tools find; a body file with another name is an orphan, and its entry lacks its body."""
    cache, name = samples.copy(sample, "real"), os.path.basename(sample)
    if not name.startswith("schema-"):
        run(cache, status=65)
        return
    age_body_files(cache)
    before = state(cache)
    report = check(cache, "--full")
    assert state(cache) == before, name
    expected = independent(cache)
    assert collections.Counter(each["code"] for each in report["findings"]) == expected, (name, expected, report)
    count = query(cache, f"SELECT count(*) FROM {RESPONSES}")[0][0]
    assert report["entries"] == count, (name, report["entries"])
    folder = os.path.join(cache, "fsCachedData")
    if not os.path.isdir(folder) or not count:
        return
    os.rename(os.path.join(folder, sorted(os.listdir(folder))[0]), os.path.join(folder, orphan(1)))
    assert collections.Counter(code for code, _ in found(cache, status=1)) == expected + collections.Counter(
        ["orphan-body-file", "missing-body-file"]), name
    # No repair drops what another program keeps in the database.
    check(cache, "--repair", "--yes", status=1 if expected["unexpected-schema"] else 0)
    assert query(cache, f"SELECT count(*) FROM {RESPONSES}")[0][0] == count - 1, name


def test_size_of_apple_caches(cachedb):
    """Together they have enough entries to be worth their tests."""
    total = 0
    for name in os.listdir(cachedb):
        if name.startswith("schema-"):
            total += query(samples.copy(os.path.join(cachedb, name), name), f"SELECT count(*) FROM {RESPONSES}")[0][0]
    assert total > 100, total


def test_index():
    """Only '--full' finds an index that lacks a change."""
    cache = make("damaged")
    body_file(cache, orphan(1))
    index = query(cache, "SELECT * FROM sqlite_master WHERE name = 'time_stamp_index'")[0]
    execute(cache, "PRAGMA writable_schema = ON", "DELETE FROM sqlite_master WHERE name = 'time_stamp_index'")
    execute(cache, f"UPDATE {RESPONSES} SET time_stamp = '2020-01-01 00:00:00' WHERE entry_ID = 7")
    execute(cache, "PRAGMA writable_schema = ON", ("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index))
    assert {code for code, _ in found(cache)} == {"orphan-body-file"}
    assert {code for code, _ in found(cache, "--full", status=1)} == {"orphan-body-file", "damaged-database"}


def test_full_check_of_a_large_cache():
    """A cache that is checked table by table has all findings of 'integrity_check'."""
    cache = make("damaged", "--no-large-bodies", entries=6_000)
    names = ["time_stamp_index", "receiver_data_index"]
    indexes = [query(cache, f"SELECT * FROM sqlite_master WHERE name = '{name}'")[0] for name in names]
    execute(cache, "PRAGMA writable_schema = ON", f"DELETE FROM sqlite_master WHERE name = '{names[0]}' OR name = '{names[1]}'")
    execute(cache, f"UPDATE {RESPONSES} SET time_stamp = '2020-01-01 00:00:00' WHERE entry_ID IN (7, 5000)",
            "DELETE FROM cfurl_cache_receiver_data WHERE entry_ID = 9",
            'CREATE TABLE "a ""table"" of\n others" (x NOT NULL, y)', 'CREATE INDEX others ON "a ""table"" of\n others" (y)')
    # Pages of a tree that nothing refers to belong neither to a table nor to the free list.
    execute(cache, "CREATE TABLE lost (x)", "INSERT INTO lost VALUES (zeroblob(20000))",
            "PRAGMA writable_schema = ON", "DELETE FROM sqlite_master WHERE name = 'lost'")
    for index in indexes:
        execute(cache, "PRAGMA writable_schema = ON", ("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index))
    expected = {answer for row in query(cache, "PRAGMA integrity_check(1000000)") for answer in row[0].splitlines()
                if not answer.startswith("***")}
    assert len(expected) > 5
    assert sorted(damage(cache, "--full")) == sorted(expected)


def defined_as(cache, name, sql):
    execute(cache, "PRAGMA writable_schema = ON", ("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, name)))


def hidden(cache, name, *statements):
    """Changes a cache while SQLite does not know of one of its indexes."""
    (index,) = query(cache, f"SELECT * FROM sqlite_master WHERE name = '{name}'")
    execute(cache, "PRAGMA writable_schema = ON", f"DELETE FROM sqlite_master WHERE name = '{name}'")
    execute(cache, *statements)
    execute(cache, "PRAGMA writable_schema = ON", ("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index))


def made_from(cache, name, columns, table=RESPONSES):
    """Fills an index as if it had another definition."""
    ((sql,),) = query(cache, f"SELECT sql FROM sqlite_master WHERE name = '{name}'")
    defined_as(cache, name, f"CREATE INDEX {name} ON {table}({columns})")
    execute(cache, f"REINDEX {name}")
    defined_as(cache, name, sql)


def not_unique(cache):
    execute(cache, f"CREATE INDEX added ON {RESPONSES}(version)")
    defined_as(cache, "added", f"CREATE UNIQUE INDEX added ON {RESPONSES}(version)")


# The keys of the rows, of which one is longer than a page; and the same in an index.
LONG = f"UPDATE {RESPONSES} SET request_key = request_key || '?' || hex(zeroblob(5000)) WHERE entry_ID IN (2, 3000)"
INDEX_FAULTS = {
    "none": lambda cache: None,
    "long keys": sql(LONG),
    "a value that no index of CFNetwork has": sql(f"UPDATE {RESPONSES} SET time_stamp = 0.5 WHERE entry_ID = 7"),
    "another value": lambda cache: hidden(
        cache, "request_key_index", f"UPDATE {RESPONSES} SET request_key = request_key || '/' WHERE entry_ID = 7"),
    "the end of a long value": lambda cache: [sql(LONG)(cache), hidden(
        cache, "request_key_index", f"UPDATE {RESPONSES} SET request_key = request_key || '/' WHERE entry_ID = 2")],
    "another type": lambda cache: hidden(
        cache, "time_stamp_index", f"UPDATE {RESPONSES} SET time_stamp = CAST(time_stamp AS BLOB) WHERE entry_ID = 7"),
    "exchanged values": lambda cache: hidden(
        cache, "time_stamp_index",
        f"UPDATE {RESPONSES} SET time_stamp = (SELECT max(time_stamp) FROM {RESPONSES}) WHERE entry_ID = 1",
        f"UPDATE {RESPONSES} SET time_stamp = '2001-01-01 00:00:00' WHERE time_stamp = "
        f"(SELECT max(time_stamp) FROM {RESPONSES}) AND entry_ID > 1"),
    "an entry too few": lambda cache: hidden(
        cache, "proto_props_index", f"INSERT INTO {BLOBS}(entry_ID) VALUES (1000000)"),
    "an entry too many": lambda cache: hidden(
        cache, "receiver_data_index", f"DELETE FROM {BODIES} WHERE entry_ID = 9"),
    "another id": lambda cache: hidden(
        cache, "receiver_data_index", f"UPDATE {BODIES} SET entry_ID = 1000000 WHERE entry_ID = 9"),
    "another column": lambda cache: made_from(cache, "request_key_index", "request_key, version"),
    "NULL instead of 1": lambda cache: made_from(cache, "proto_props_index", "nullif(entry_ID, 1)", BLOBS),
    "another order": lambda cache: made_from(cache, "request_key_index", "request_key DESC"),
    "an index of a part": lambda cache: made_from(cache, "request_key_index", "request_key) WHERE (entry_ID < 99"),
    "equal values": not_unique,
}


@pytest.mark.parametrize("name", INDEX_FAULTS)
def test_full_check_of_the_indexes_of_a_large_cache(name):
    """SQLite checks a table again in which a faster comparison has found something."""
    cache = make("damaged", "--no-large-bodies", entries=6_000)
    INDEX_FAULTS[name](cache)
    assert query(cache, "PRAGMA quick_check") == [("ok",)]
    expected = [row[0] for row in query(cache, "PRAGMA integrity_check") if row[0] != "ok"]
    assert bool(expected) == (name not in ["none", "long keys", "a value that no index of CFNetwork has"])
    assert sorted(damage(cache, "--full")) == sorted(set(expected))


def test_pages_of_a_large_cache():
    """A page that is used twice, and a wrong free list, are found whether or not the indexes are compared."""
    cache = make("damaged", "--no-large-bodies", entries=6_000)
    execute(cache, f"DELETE FROM {BLOBS} WHERE entry_ID < 300")
    database = os.path.join(cache, "Cache.db")
    roots = dict(query(cache, "SELECT name, rootpage FROM sqlite_master"))
    with open(database, "r+b") as file:
        # The last child of one root becomes that of another, and the list of free pages has one more.
        file.seek((roots["proto_props_index"] - 1) * 4096 + 8)
        child = file.read(4)
        file.seek((roots["receiver_data_index"] - 1) * 4096 + 8)
        file.write(child)
        file.seek(36)
        count = int.from_bytes(file.read(4), "big")
        file.seek(36)
        file.write((count + 1).to_bytes(4, "big"))
    for options, pragma in [([], "quick_check"), (["--full"], "integrity_check")]:
        expected = {answer for row in query(cache, f"PRAGMA {pragma}(1000000)") for answer in row[0].splitlines()
                    if not answer.startswith("***")}
        assert all(any(words in answer.lower() for answer in expected) for words in ["2nd reference", "freelist"]), expected
        assert expected <= set(damage(cache, *options)), options


def damage(cache, *options):
    """What a check says of a damaged database, without the consequence."""
    return [finding["message"].removeprefix("SQLite reports: ").partition("; CFNetwork")[0]
            for finding in check(cache, *options)["findings"] if finding["code"] == "damaged-database"]


def test_full_check_of_a_large_cache_with_a_damaged_page():
    """A page that ends the check of one table does not hide what is wrong in another."""
    cache = make("damaged", "--no-large-bodies", entries=6_000)
    (index,) = query(cache, "SELECT * FROM sqlite_master WHERE name = 'time_stamp_index'")
    execute(cache, "PRAGMA writable_schema = ON", "DELETE FROM sqlite_master WHERE name = 'time_stamp_index'")
    execute(cache, f"UPDATE {RESPONSES} SET time_stamp = '2020-01-01 00:00:00' WHERE entry_ID = 7")
    execute(cache, "PRAGMA writable_schema = ON", ("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index))
    ((root,),) = query(cache, "SELECT rootpage FROM sqlite_master WHERE name = 'cfurl_cache_receiver_data'")
    with open(os.path.join(cache, "Cache.db"), "r+b") as file:
        file.seek((root - 1) * 4096 + 12)
        first = int.from_bytes(file.read(2), "big")
        file.seek((root - 1) * 4096 + first)
        child = int.from_bytes(file.read(4), "big")
        # The places of the cells of a page below the root.
        file.seek((child - 1) * 4096 + 12)
        file.write(b"\xff\xff\xff\xff")
    found = damage(cache, "--full")
    assert "row 7 missing from index time_stamp_index" in found, found
    assert any(message.startswith("On page ") for message in found), found


def with_damaged_pages():
    """A cache whose database has pages that are none."""
    cache = make("pages", entries=400)
    body_file(cache, orphan(1))
    database = os.path.join(cache, "Cache.db")
    with open(database, "r+b") as file:
        pages = os.path.getsize(database) // 4096
        for page in range(pages // 3, pages // 3 + 4):
            file.seek(page * 4096)
            file.write(b"\xff" * 4096)
    return cache


def test_pages():
    """A page that is none is found, and a damaged database is not repaired."""
    cache = with_damaged_pages()
    before = state(cache)
    report = check(cache, status=1)
    assert any(each["code"] == "damaged-database" for each in report["findings"]), report
    result = run(cache, "--repair", "--yes", status=65)
    assert json.loads(result.stderr)["kind"] == "damaged" and json.loads(result.stdout)["left"] is None, result
    assert state(cache) == before


def test_random_bytes(thorough):
    """Whatever bytes are wrong in a database, a full check ends, with an answer or an error."""
    cache = with_damaged_pages()
    database = os.path.join(cache, "Cache.db")
    for seed in range(40 if thorough else 10):
        chance = random.Random(seed)
        with open(database, "r+b") as file:
            for _ in range(40):
                file.seek(chance.randrange(100, os.path.getsize(database)))
                file.write(bytes([chance.randrange(256)]))
        result = subprocess.run(start(cache, "--format", "json", "--full"), capture_output=True, timeout=60)
        assert result.returncode in (0, 1, 65, 74), (seed, result)
        if result.returncode < 2:
            json.loads(result.stdout)


@pytest.mark.parametrize("full", [[], ["--full"]], ids=["quick", "full"])
@pytest.mark.parametrize("damage", [None, 0.3, 0.9])
def test_a_large_database_is_searched_for_damage_while_entries_are_read(damage, full):
    """With a log, everything is read through one connection, and the database before the entries: the findings are the same."""
    cache = scratch.make("cache", entries=8000, seed=3)
    database = os.path.join(cache, "Cache.db")
    assert os.path.getsize(database) > 16 << 20
    if damage:
        with open(database, "r+b") as file:
            file.seek(int(os.path.getsize(database) * damage) // 4096 * 4096)
            file.write(bytes(4 * 4096))
    several = subprocess.run([tool, "check", cache, "--json", *full], capture_output=True)
    # SQLite ignores a log without a header, but does not open such a database as one that nobody changes.
    scratch.write(f"{database}-wal", bytes(1))
    one = subprocess.run([tool, "check", cache, "--json", *full], capture_output=True)
    assert (several.returncode, several.stdout) == (one.returncode, one.stdout)
    findings = json.loads(several.stdout)["findings"]
    of_entries = [finding.get("id") is not None for finding in findings]
    assert True in of_entries and any(finding["code"] == "damaged-database" for finding in findings) == bool(damage), several
