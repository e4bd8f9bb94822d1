"""Validates the JSON of all commands against the schemas."""

import datetime
import json
import os
import plistlib
import shutil
import sqlite3
import subprocess
import tarfile

import pytest

import origin
import scratch
from products import maker, tool
from scratch import path

pytest.importorskip("jsonschema", reason="jsonschema: not here")
import histories
import schemas
from schemas import COLUMNS, KEYED

# Schemas that a test here holds documents against.
CHECKED = """list entry show explain explanation explain-missing usage discover usage-all error check archive-header archive-entry
    archive-manifest files-index purge plan apply enforce import diff revalidate compact expire skipped config pin unpin rules-test
    log grep progress query watch recover audit""".split()
ALL_COLUMNS = ",".join([*COLUMNS, *(name.replace(",", "\\,") for name in KEYED)]).replace("_", "-")
FAULTS = ["--faults", "orphan-files,missing-bodies,undecodable"]


@pytest.fixture
def cache():
    """A cache with rare things: text that is not UTF-8, also in header fields, notes, and properties."""
    cache = scratch.make("cache", *FAULTS, entries=20, seed=2)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    database.execute("UPDATE cfurl_cache_response SET partition = 'https://a.example' WHERE entry_ID = 1")
    database.execute("UPDATE cfurl_cache_response SET storage_policy = entry_ID WHERE entry_ID < 5")
    database.execute("UPDATE cfurl_cache_response SET request_key = CAST(x'68ff' AS TEXT), "
                     "partition = CAST(x'ff' AS TEXT) WHERE entry_ID = 2")
    user_info = plistlib.dumps({"a": datetime.datetime(2025, 1, 1), "b": b"\xff", "c": [1, 2.5, True, {"d": "e"}],
                                "\x1b\"": "odd"}, fmt=plistlib.FMT_BINARY)
    properties = plistlib.dumps({"Accept-Encoding, Cookie": {"Cookie": "a=b", "Accept-Encoding": "gzip"}},
                                fmt=plistlib.FMT_BINARY)
    database.execute("UPDATE cfurl_cache_blob_data SET user_info = ?, proto_props = ? WHERE entry_ID = 3",
                     (user_info, properties))
    database.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID = 4")
    database.execute("DELETE FROM cfurl_cache_receiver_data WHERE entry_ID = 5")
    database.commit()
    database.close()
    return cache


@pytest.fixture
def whole(cache):
    """The cache without orphans, and without the entries that an archive cannot hold as they are."""
    run(cache, "check", "--repair=orphans", "--yes", status=1)
    run(cache, "purge", "2", "3", "4", "5", "--yes")
    return cache


@pytest.fixture
def foundation():
    """A Foundation cache with faults, also with a name that is not UTF-8."""
    folder = scratch.make("foundation", "--format", "foundation", *FAULTS, entries=20, seed=2)
    with open(os.path.join(os.fsencode(folder), b"1.\xff.storedcachedurlresponse"), "wb"):
        pass
    return folder


def run(cache, verb, *options, status=0):
    return scratch.run(verb, "-c", cache, *options, status=status)


def document(cache, verb, *options, status=0):
    return json.loads(run(cache, verb, "--format", "json", *options, status=status).stdout)


@pytest.fixture
def check(thorough):
    """Holds documents against a schema, and returns their number."""
    def check(name, documents):
        documents = list(documents)
        for value in documents:
            schemas.checker(name).check(value, everywhere=thorough)
        return len(documents)

    return check


def test_all_schemas():
    """A schema that no document is held against is a part of others."""
    for name in set(schemas.names()) - set(CHECKED):
        assert any(f'"{name}.schema.json"' in json.dumps(schemas.load(other)) for other in CHECKED), name
    with open(__file__) as file:
        text = file.read().partition("def test_all_schemas")[2]
    assert all(f'"{name}"' in text for name in CHECKED), [name for name in CHECKED if f'"{name}"' not in text]


def test_frozen_copies(cache):
    """The schemas of this version are kept, and hold for kinds of caches and ids that there are not yet, but not for less than there was."""
    version = scratch.run("--version", text=True).stdout.split()[1]
    kept = schemas.frozen(version)
    assert kept.keys() <= set(schemas.names()), "a schema was removed"
    listed = document(cache, "list")
    validator, = schemas.Checker("list").older
    validator.validate({**listed, "cache": {**listed["cache"], "format": "another", "more": 1}, "entries": [{**listed["entries"][0], "id": "c2/a"}], "more": 1})
    for wrong in [{**listed, "total": "20"}, {name: value for name, value in listed.items() if name != "total"}, {**listed, "schema": "urlcache-admin.list/2"}]:
        assert not validator.is_valid(wrong), wrong


def test_list(check, cache, foundation):
    """A list fits its schema, with all columns and without entries."""
    everything = document(cache, "list", "--columns", ALL_COLUMNS)
    assert len(everything["entries"]) == 20 and all(len(entry) >= 38 for entry in everything["entries"])
    third = everything["entries"][2]
    assert [third[name] for name in KEYED] == [
        "2025-01-01T00:00:00Z", [1, 2.5, True, {"d": "e"}], "odd", {"Cookie": "***", "Accept-Encoding": "gzip"}], third
    assert third["user_info"]["b"] == {"base64": "/w=="} and len(third["user_info"]) == 4, third
    assert check("list", [document(cache, "list"), everything, document(cache, "list", "--limit", "0"), document(foundation, "list")]) == 4


def test_recover(check):
    """A list of recovered entries fits its schema."""
    history = histories.History(scratch.path("live"), 1, schema=203, journal="WAL").run(8)
    cache = history.kill(scratch.path("killed"))
    columns = ALL_COLUMNS + ",confidence,found"
    lists = [document(cache, "recover"), document(cache, "recover", "--versions", "--columns", columns)]
    assert all(entries["entries"] for entries in lists)
    assert check("recover", lists) == 2


@pytest.mark.parametrize(("selected", "options"), [
    (1, ["--user-info", "a"]), (0, ["--user-info", "z"]), (1, ["--user-info", "a=2025-01-01T01:00:00+01:00"]),
    (0, ["--user-info", "a=2025-01-02T00:00:00Z"]), (1, ["--user-info", "z", "--user-info", "\x1b\"=odd"]),
    (1, ["--age-basis", "user-info:a", "--stored-before", "2025-01-01T00:00:01Z"]),
    (0, ["--age-basis", "user-info:a", "--stored-before", "2025-01-01T00:00:00Z"]),
    (1, ["--age-basis", "user-info:a", "--older-than", "1d", "--at", "2025-01-02T00:00:01Z"]),
    (0, ["--age-basis", "user-info:b", "--stored-after", "1900-01-01"])], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_user_info(cache, selected, options):
    """Entries are selected by their user info."""
    assert int(run(cache, "list", "--count", *options).stdout) == selected


def lines(cache, verb, *options, status=0):
    return [json.loads(line) for line in run(cache, verb, "--format", "ndjson", *options, status=status).stdout.splitlines()]


def test_entries(check, cache, foundation):
    """Each line of a list fits its schema."""
    of_foundation = lines(foundation, "list", "--columns", ALL_COLUMNS)
    assert any(entry["id"] is None for entry in of_foundation), of_foundation
    assert check("entry", [*lines(cache, "list"), *lines(cache, "list", "--columns", ALL_COLUMNS), *of_foundation]) == 40 + 20 + 1


def test_show(check, cache, foundation):
    """'show' fits its schema, with and without secrets."""
    names = [str(number) for number in range(1, 8)]
    shown = document(cache, "show", *names, "--show-secrets")
    assert len(shown) == 7 and shown[1]["key_base64"] == "aP8=" and len(shown[2]["user_info"]) == 4, shown
    of_foundation = [entry["id"] for entry in lines(foundation, "list", "--columns", "id") if entry["id"]]
    check("show", [document(cache, "show", *names), shown, document(foundation, "show", *of_foundation)])


@pytest.mark.parametrize("options", [
    [], ["--policy", "2"], ["--platform", "rfc9111"], ["--platform", "foundation"], ["foundation"],
    ["--request-header", "Accept-Language: é"], ["--user-info", "a"], ["--capacity", "1kB"]], ids=lambda options: " ".join(options) or "plain")
def test_explain(check, cache, foundation, options):
    """An explanation fits its schema, and each of its lines, which say the same."""
    if options == ["foundation"]:
        cache, options = foundation, []
    words = ["--all", "--at", "2025-07-01T00:00:00Z", *options]
    explained, rows = document(cache, "explain", *words, status=None), lines(cache, "explain", *words, status=None)
    assert rows == explained["entries"]
    check("explain", [explained])
    assert check("explanation", rows[:7]) == min(7, len(rows)) > 0


def test_query(cache, foundation):
    """The rows of a query fit their schema, which cannot know their members, but what these are."""
    validator = schemas.checker("query").validator
    for sql in ["SELECT * FROM entries", "SELECT * FROM headers", "SELECT * FROM findings", "SELECT * FROM user_info",
                "SELECT 1 AS a, 1.5 AS b, x'ff' AS c, NULL AS d, 9e999 AS e", "SELECT 1 WHERE 0"]:
        for each in [cache, foundation]:
            validator.validate(document(each, "query", sql))
    right = document(cache, "query", "SELECT 1 AS a")
    for wrong in [{**right, "unheard_of": 1}, {"rows": []}, {**right, "schema": "urlcache-admin.list/1"}, {**right, "rows": {}},
                  {**right, "rows": [1]}, {**right, "rows": [{"a": [1]}]}, {**right, "rows": [{"a": {"b": 1}}]},
                  {**right, "rows": [{"a": True}]}]:
        assert not validator.is_valid(wrong), wrong


def test_absences(check, cache):
    """The reasons for a missing entry fit their schema."""
    head = scratch.write("head", b"HTTP/1.1 404 Not Found\r\nCache-Control: no-store\r\nContent-Length: 9000\r\n\r\n")
    url = lines(cache, "list")[0]["url"]
    check("explain-missing", [document(cache, "explain", "--why-missing", *options, status=status) for options, status in [
        ([url], 0), ([url + "?x"], 3), (["ftp://a.example/"], 1), ([url + "?x", "--headers-from", head, "--capacity", "1kB"], 1),
        ([url + "?x", "--headers-from", head, "--platform", "foundation"], 1)]])


def test_usage(check, cache, foundation):
    """The usage fits its schema, by all groups."""
    options = [[], ["--by", "host"], ["--by", "host", "--limit", "2", "--capacity", "1GiB"], ["--by", "status"], ["--by", "mime"],
               ["--by", "method"], ["--by", "scheme"], ["--by", "partition"], ["--by", "storage-policy"], ["--by", "age"], ["--by", "size"],
               ["--histogram"], ["--by", "freshness"], ["--superseded"], ["--savings"], ["--savings", "--limit", "1"],
               ["--histogram", "--by", "age", "--capacity", "4MiB"]]
    check("usage", [*(document(cache, "usage", *words) for words in options), document(foundation, "usage")])


@pytest.fixture
def folders(cache):
    """A folder without caches, one that is a cache, and one with everything that can be found."""
    folder = path("found")
    os.makedirs(os.path.join(folder, "foundation"))
    with open(os.path.join(folder, "foundation", "7.aAAtMQAvAA==.storedcachedurlresponse"), "wb") as file:
        file.write(b"x")
    os.makedirs(os.path.join(folder, "a/deep"))
    shutil.copy(os.path.join(cache, "Cache.db"), os.path.join(folder, "one.db"))
    database = sqlite3.connect(os.path.join(folder, "one.db"), isolation_level=None)
    database.execute("CREATE TRIGGER t AFTER DELETE ON cfurl_cache_response BEGIN SELECT 1; END")
    database.close()
    os.makedirs(os.path.join(folder.encode(), b"\xff"))
    shutil.copy(os.path.join(cache, "Cache.db"), os.path.join(folder, "two.db"))
    held = sqlite3.connect(os.path.join(folder, "two.db"), isolation_level=None)
    held.execute("SELECT count(*) FROM cfurl_cache_response").fetchall()
    yield [os.path.join(cache, "fsCachedData"), cache, folder]
    held.close()


def test_discover(check, folders):
    """The caches of folders and their sums fit their schemas."""
    for name, words in [("discover", ["discover", "--max-depth", "1"]), ("usage-all", ["usage", "--all-under"])]:
        check(name, [json.loads(scratch.run(*words, folder, "--format", "json", status=None).stdout) for folder in folders])


@pytest.mark.parametrize(("status", "verb", "options"), [
    (64, "list", ["--limit", "x"]), (64, "list", ["Cache.db"]), (64, "usage", ["--fail-above", "1%"]), (1, "show", ["99"]),
    (1, "show", ["https://absent.example/"]), (64, "show", []), (64, "purge", ["--all"]), (66, "list", ["-c", "none"]),
    (65, "usage", ["-c", "."])], ids=lambda value: " ".join(value) if isinstance(value, list) else str(value))
def test_errors(check, cache, status, verb, options):
    """An error is one document on the standard error, with the exit status, and nothing is on the standard output."""
    result = subprocess.run([tool, verb, "-c", cache, *options, "--format", "json"], capture_output=True, stdin=subprocess.DEVNULL,
                            cwd=scratch.root)
    assert result.returncode == status and result.stdout == b"", result
    error = json.loads(result.stderr)
    assert error["code"] == status, error
    check("error", [error])


def test_progress(check, cache):
    """Each line of progress is one document, and the last one of each work is finished."""
    errors = scratch.run("export", "-c", cache, "-o", path("a.tar"), "--progress", "json", status=None).stderr
    lines = [json.loads(line) for line in errors.splitlines() if line.startswith(b"{")]
    assert check("progress", lines) >= 2 and lines[-1]["finished"] and lines[-1]["done"] == lines[-1]["total"], errors


def test_check(check, cache):
    """Findings and repairs fit their schema."""
    check("check", [document(cache, "check", *options, status=1) for options in [
        [], ["--full"], ["--repair", "-n"], ["--repair=orphans", "--yes"], ["--repair", "-n", "--redact-urls"]]])


def test_archives(check, cache, foundation):
    """The documents of archives fit their schemas: of entries with rare things, as they are and redacted."""
    found, text = {"archive-header": [], "archive-entry": [], "archive-manifest": []}, b""
    for options in [[], ["--redact", "--bodies", "none"], ["--host", "nowhere.example"], ["-c", foundation]]:
        run(cache, "export", "--force", "-o", path("documents.tar"), *options, status=None)
        with tarfile.open(path("documents.tar")) as archive:
            for member in archive:
                if member.name.endswith(".json"):
                    name = {"urlcache-archive.json": "archive-header", "manifest.json": "archive-manifest"}.get(member.name, "archive-entry")
                    data = archive.extractfile(member).read()
                    text += data
                    found[name].append(json.loads(data))
    counts = {name: check(name, documents) for name, documents in found.items()}
    assert counts["archive-header"] == counts["archive-manifest"] == 4 and counts["archive-entry"] > 30, counts
    assert b"text_b64" in text, "a key that is not UTF-8"


def test_files(check, cache):
    """The index of a folder of files fits its schema."""
    for name, options in [("some-files", []), ("no-files", ["--host", "nowhere.example"])]:
        run(cache, "export", "--archive-format", "files", "-o", path(name), *options, status=None)
    check("files-index", [json.loads(scratch.read(path(name + "/index.json"))) for name in ["some-files", "no-files"]])


def test_purge(check, cache, foundation):
    """A purge and its dry run fit their schema."""
    check("purge", [document(cache, "purge", *options) for options in [
        ["--all", "-n"], ["--host", "nowhere.example", "-n"], ["2", "3", "--yes"], ["--all", "--secure", "-n"], ["6", "--secure", "--yes"]]]
          + [document(foundation, "purge", "--all", *options) for options in [["-n"], ["--secure", "-n"]]])


def test_plans(check, cache, foundation):
    """Plans, and what 'apply' does with them, fit their schemas."""
    check("plan", [json.loads(run(folder, *options, "--plan", "-").stdout) for folder, options in [
        (cache, ["purge", "--all"]), (cache, ["purge", "--host", "nowhere.example"]), (cache, ["enforce", "--max-entries", "5"]),
        (cache, ["purge", "--all", "--secure"]), (foundation, ["purge", "--all"])]])
    plan = path("plan.json")
    run(cache, "purge", "4", "5", "--plan", plan)
    check("apply", [document(cache, "apply", plan, *options, status=status) for options, status in [(["-n"], 0), (["--yes"], 0), (["--yes"], 3)]])


def test_enforce(check, cache, foundation):
    """What 'enforce' does fits its schema."""
    check("enforce", [*(document(cache, "enforce", *options) for options in [
        ["--max-entries", "15", "-n"], ["--max-entries", "14", "--yes"], ["--max-age", "999999d", "--yes"]]),
        document(foundation, "enforce", "--max-size", "9K", "-n")])


def test_import_and_diff(check, whole):
    """An import, and a comparison of caches and archives, fit their schemas."""
    archive, other = path("archive.tar"), path("other")
    run(whole, "export", "-o", archive)
    check("import", [json.loads(scratch.run("import", archive, "-c", other, "--format", "json", *words).stdout) for words in [
        ["--create", "apple", "-n"], ["--create", "apple", "--id", "7"], []]])
    scratch.run("import", archive, "-c", other, "--format", "json", "--limit-free", status=64)
    # One entry that the archive has and the cache lacks.
    run(other, "purge", str(lines(other, "list", "--limit", "1", "--columns", "id")[0]["id"]), "--yes")
    check("diff", [json.loads(scratch.run("diff", *words, "--format", "json", status=status).stdout) for words, status in [
        ([whole, archive], 0), ([archive, other], 1), ([other, whole, "--stat"], 1), ([whole, scratch.make("unlike", seed=4), "--bodies"], 1)]])


def test_revalidate(check):
    """The answers of an origin fit their schema."""
    entries = list(origin.stored_entries(origin.start(), ["etag", "rolled", "none", "redirect", "lie", "404", "bare"]))
    asked = path("asked")
    origin.make_apple(maker, asked, entries + [("file:///a", 200, {"ETag": "a"}, b"", {}, None)])
    check("revalidate", [document(asked, "revalidate", "--all", *options, status=status) for options, status in [
        ([], 3), (["--refresh", "-n"], 3), (["--id", "1", "--refresh", "--yes"], 0)]])


def test_compact(check, cache):
    """What 'compact' does fits its schema."""
    # Its orphans are young, and are kept.
    check("compact", [document(cache, "compact", *options, status=3 if options == ["--secure"] else 0) for options in [
        ["-n"], [], ["--full"], ["--secure", "-n"], ["--secure"]]])


def test_expire(check, cache):
    """What 'expire' does fits its schema."""
    check("expire", [document(cache, "expire", "--all", "--clear-user-info", "Cached Date", *options) for options in [["-n"], ["--yes"], ["--yes"]]])


def test_skipped_runs_and_logs(check, cache):
    """Skipped runs fit their schema, and so does each line of a log: of runs that did something, that failed, and that were skipped."""
    log = path("log")
    holder = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    check("skipped", [document(cache, verb, *options, "--if-busy", "skip", "--wait", "0s", "--log", log) for verb, *options in [
        ("purge", "--all", "--yes"), ("enforce", "--max-entries", "1", "--yes"), ("compact", "--full")]])
    run(cache, "purge", "--all", "--yes", "--wait", "0s", "--log", log, status=75)
    holder.close()
    for words, status in [(["enforce", "--max-entries", "13", "--yes"], 0), (["purge", "--all"], 64),
                          (["purge", "-c", path("none"), "--all", "--yes"], 66)]:
        run(cache, *words, "--log", log, status=status)
    assert check("log", map(json.loads, scratch.read(log).splitlines())) == 7


def configured(cache, text=""):
    return scratch.write("config.toml", f"wait = '1s'\n[caches.a]\npath = '{cache}'\nmax-size = 1\n{text}".encode())


def test_configuration(check, cache):
    """The settings, and changes of pins, fit their schemas."""
    file = configured(cache)
    check("config", [json.loads(scratch.run("config", "list", "--format", "json", env=os.environ | variables).stdout) for variables in [
        {"URLCACHE_ADMIN_CONFIG": file}, {"URLCACHE_ADMIN_CONFIG": file, "URLCACHE_ADMIN_CACHE": cache}]])
    for name, *urls in [("pin", "https://a.example/", "https://b.example/"), ("unpin", "https://a.example/")]:
        check(name, [json.loads(run(cache, name, *urls, "--config", file, "--format", "json").stdout)])


def test_rules(check, whole, foundation):
    """What rules decide, and what 'enforce' does by them, fits their schemas."""
    file = configured(whole, "[[rules]]\nname = 'a'\nmatch.status = '2xx'\naction = 'keep'\n[[rules]]\nmatch = {}\nmax-entries = 1\n")
    environment = os.environ | {"URLCACHE_ADMIN_CONFIG": file}

    def documents(*words):
        for options in [["-c", whole], ["-c", foundation], ["-c", whole, "--host", "nowhere.example"]]:
            if words[0] == "enforce":
                options.append("--yes" if "--host" in options else "-n")
            yield json.loads(scratch.run(*words, "--format", "json", *options, status=None, env=environment).stdout)

    assert check("rules-test", documents("rules", "test")) == 3
    assert check("enforce", documents("enforce")) == 3


def test_watch(check, cache):
    """Each line of `watch` fits its schema: changes, and a cache that is gone and comes back."""
    process = subprocess.Popen([tool, "watch", cache], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    documents = [json.loads(process.stdout.readline())]
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))

    def change(*statements):
        for statement in statements:
            database.execute(statement)
        database.commit()

    def read(event):
        while documents[-1]["event"] != event:
            documents.append(json.loads(process.stdout.readline()))

    response = "(SELECT response_object FROM cfurl_cache_blob_data WHERE entry_ID = 10)"
    change(f"UPDATE cfurl_cache_blob_data SET response_object = {response} WHERE entry_ID = 9")
    read("replaced")
    change(*(f"DELETE FROM {table} WHERE entry_ID IN (2, 8)" for table in ("cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data")))
    read("removed")
    change("INSERT INTO cfurl_cache_response(version, storage_policy, request_key) VALUES (0, 0, CAST(x'68fe' AS TEXT))",
           f"INSERT INTO cfurl_cache_blob_data(entry_ID, response_object) VALUES (last_insert_rowid(), {response})")
    read("added")
    database.close()
    os.rename(cache, cache + ".away")
    read("gone")
    os.rename(cache + ".away", cache)
    read("back")
    process.terminate()
    documents += [json.loads(line) for line in process.stdout]
    process.wait()
    assert check("watch", documents) >= 20


def test_grep(check, cache, foundation):
    """Each line of `grep --json` fits its schema, with matches in each place, context and bytes that are not UTF-8."""
    def lines(cache, *words):
        return [json.loads(line) for line in run(cache, "grep", "--json", *words, status=None).stdout.splitlines()]
    documents = [*lines(cache, "e", "-C", "1", "--binary"), *lines(cache, "-E", "[^e]", "-m", "2"), *lines(foundation, "example"),
                 *lines(cache, "absent text")]
    assert {document["type"] for document in documents} == {"begin", "match", "context", "end", "summary"}
    assert check("grep", documents) > 100


def test_audit(check, cache, foundation):
    """The findings of both kinds of caches fit the schema, and so do those of text that is not UTF-8."""
    documents = [json.loads(run(cache, "audit", "--format", "json", *words, status=None).stdout)
                 for cache, words in [(cache, []), (cache, ["--rule", "privacy"]), (foundation, []), (foundation, ["--host", "none"])]]
    assert documents[0]["findings"] and documents[2]["findings"]
    assert check("audit", documents) == 4
    lines = run(cache, "audit", "--format", "ndjson", status=None).stdout.splitlines()
    assert [json.loads(line) for line in lines] == documents[0]["findings"]
