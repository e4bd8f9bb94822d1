"""Selects entries by header fields and by the text of their bodies, and compares with what Python finds in the same entries."""

import fnmatch
import gzip
import json
import os
import sqlite3

import pytest

import apple_store
import worlds
from scratch import make, path, run
from test_grep import add

BODIES = {
    1: (b"one needle\nmore", {"Content-Type": "text/plain", "X-Cache": "HIT from a"}),
    2: (gzip.compress(b"two needles"), {"Content-Type": "text/plain", "x-cache": "MISS"}),
    3: ("three needles".encode("utf-16"), {"Content-Type": "text/plain"}),
    4: (b"." * 65_530 + b"four needles" + b"." * 70_000, {"X-Cache": "HIT"}),
    5: (b"nothing", {"Vary": "a", "X-Other": "x"}),
    6: (gzip.compress(b"needle" * 9_000)[:-9], {}),
}


@pytest.fixture
def cache():
    folder = path("selected")
    os.makedirs(folder)
    database = apple_store.create(folder)
    for number, (body, fields) in BODIES.items():
        add(database, folder, number, f"https://a.example/{number}", body, fields, {"Accept": "text/html" if number % 2 else "*/*"})
    database.execute("PRAGMA user_version = 203")
    database.commit()
    database.close()
    return folder


def ids(cache, *options):
    return [int(word) for word in run("list", "-c", cache, *options, "--format", "csv", "--columns", "id").stdout.split()[1:]]


@pytest.mark.parametrize("options, wanted", [
    (["--contains", "needle"], [1, 2, 3, 4]), (["--contains", "needles"], [2, 3, 4]), (["--contains", "e\nmore"], [1]),
    (["--contains", "one needle", "--contains", "nothing"], [1, 5]), (["--contains", "Needle"], []),
    (["--contains", "needle", "--header", "x-cache=HIT*"], [1, 4]), (["--header", "X-CACHE"], [1, 2, 4]), (["--header", "x-cache=HIT"], [4]),
    (["--header", "vary", "--header", "x-cache=M*"], [2, 5]), (["--request-header", "accept=text/*"], [1, 3, 5]),
    (["--request-header", "cookie"], []), (["--where", "body *= needles"], [2, 3, 4]),
    # Of a damaged body, nothing is known.
    (["--where", "!(body *= 'four')"], [1, 2, 3, 5]), (["--where", "header('x-cache') = HIT || body *= nothing"], [4, 5]),
    (["--where", "request-header(accept) ^= text && body *= needle"], [1, 3]), (["--where", "!(header(x-cache) = HIT)"], [1, 2]),
], ids=str)
def test_selected(cache, options, wanted):
    """The same entries are selected in lists, plans and searches."""
    assert ids(cache, *options) == wanted
    if not wanted:
        return
    plan = json.loads(run("purge", "-c", cache, *options, "-n", "--format", "json").stdout)
    assert [entry["id"] for entry in plan["entries"]] == wanted
    searched = run("grep", "https", "--in", "url", "-l", "-c", cache, *options).stdout.splitlines()
    assert [int(line.split()[0]) for line in searched] == wanted
    assert run("usage", "-c", cache, "--format", "json").stdout


def test_made_up(cache):
    """In a made-up cache, globs select the values that Python's do."""
    import scratch
    made = scratch.make("made", entries=60)
    everything = json.loads(run("list", "-c", made, "--format", "json", "--columns", "id,response-headers", "--show-secrets").stdout)["entries"]
    for name, pattern in [("Content-Type", "image/*"), ("cache-control", "*max-age=*"), ("etag", "W/*"), ("server", "[a-n]*")]:
        wanted = [entry["id"] for entry in everything
                  if any(field.lower() == name.lower() and fnmatch.fnmatchcase(value, pattern) for field, value in entry["response_headers"] or [])]
        assert ids(made, "--header", f"{name}={pattern}") == wanted, name


@pytest.mark.parametrize("words, message", [
    (["list", "--contains", ""], "'--contains' has an empty value"), (["list", "--header", "a b"], "does not name a header field"),
    (["list", "--header", "a=[b"], "has a '[' without a matching ']'"), (["list", "--where", "body *= ''"], "is empty"),
    (["list", "--request-header", "Accept: text"], "'explain' takes 'NAME: VALUE'"), (["list", "--where", "header = a"], "must be followed by a name"),
])
def test_refused(cache, words, message):
    """Criteria that can match nothing, or that a command cannot evaluate, are refused."""
    result = run(words[0], "-c", cache, *words[1:], status=64)
    assert message in result.stderr.decode()


def test_words_for_types():
    """A word selects the media types that it stands for: those with a suffix, and those that had other names before."""
    types = ["application/json", "application/problem+json", "text/json", "application/json-seq", "font/woff2", "application/font-woff",
             "application/vnd.ms-fontobject", "text/html", "image/svg+xml", "text/css"]
    har = {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [
        {"startedDateTime": "2025-01-01T00:00:00Z", "time": 1, "request": {"method": "GET", "url": f"https://a.example/{number}", "headers": []},
         "response": {"status": 200, "headers": [{"name": "Content-Type", "value": type}], "content": {"size": 1, "mimeType": type, "text": "a"}}}
        for number, type in enumerate(types)]}}
    with open(path("types.har"), "w") as file:
        json.dump(har, file)
    run("import", path("types.har"), "-c", path("types"), "--create", "apple", "--yes")
    for word, wanted in [("json", types[:3]), ("JSON", types[:3]), ("font", types[4:7]), ("fonts", types[4:7]), ("text", ["text/json", "text/html", "text/css"]),
                         ("image", ["image/svg+xml"])]:
        found = run("list", path("types"), "--type", word, "--format", "csv", "--columns", "mime").stdout.decode().split()[1:]
        assert sorted(found) == sorted(wanted), (word, found)


def test_sizes_are_read_out():
    """A size with a unit that may mean powers of 1,000 or of 1,024 is shown in bytes; another is as it was written."""
    import scratch
    made = scratch.make("made", entries=20)
    for text, number in [("1MB", "1,000,000"), ("1M", "1,048,576"), ("1.5kB", "1,500"), ("2g", "2,147,483,648"), ("1MiB", None), ("1000", None), ("10b", None)]:
        note = f"note: reading {text} as {number} bytes\n" if number else ""
        for words in [["list", "--larger-than", text, "--count"], ["purge", "--smaller-than", text, "-n"], ["enforce", "--max-size", text, "-n"],
                      ["enforce", "--max-entry-size", text, "-n", "--json"]]:
            errors = run(words[0], "-c", made, *words[1:], status=None).stderr.decode()
            assert errors.count("note: reading") == bool(note) and note in errors, (words, errors)


FORMATS = {"list": "table, json, ndjson, csv, tsv, urls, ncdu", "show": "table, json", "usage": "table, json, csv, tsv", "explain": "table, json, ndjson",
           "discover": "table, json", "diff": "table, json", "check": "table, json", "purge": "table, json", "audit": "table, json, ndjson, csv, sarif, markdown",
           "query": "table, json, ndjson, csv, tsv", "grep": "table, json", "watch": "table, json, ndjson", "report": "html, markdown"}


@pytest.mark.parametrize("verb", FORMATS)
def test_formats(verb):
    """A format that a command does not write is refused with those that it writes, which are all accepted."""
    formats = FORMATS[verb].split(", ")
    for given in ["csv", "ndjson", "yaml", "jsn"]:
        if given not in formats:
            message = run(verb, "--format", given, status=64).stderr.decode()
            assert message.startswith(f"error: '--format': unknown value '{given}'\nhint: "), message
            assert message.endswith(f": {FORMATS[verb]}\n"), message
    for given in formats:
        assert "is not a value" not in run(verb, "-c", path("none"), "--format", given, status=None).stderr.decode()


def test_diff(cache):
    """Bodies select the entries that are compared."""
    archive, folder = path("needles.tar"), path("needles")
    run("export", "-c", cache, "-o", archive, "--contains", "needles")
    run("import", archive, "--create", "apple", "-c", folder)
    run("diff", cache, folder, status=1)
    assert run("diff", cache, folder, "--contains", "needles").stdout == b""


def test_imported(cache):
    """Bodies in an archive select what is imported."""
    archive, folder = path("all.tar"), path("imported")
    run("export", "-c", cache, "-o", archive)
    run("import", archive, "--create", "apple", "-c", folder, "--contains", "needles")
    urls = run("list", "-c", folder, "--format", "urls").stdout.split()
    assert sorted(urls) == [b"https://a.example/2", b"https://a.example/3", b"https://a.example/4"]


def test_expired(cache):
    """Bodies select the entries that lose their stamps, and without a match there are none."""
    options = ["--clear-user-info", "expires", "--dry-run", "--format", "json"]
    assert json.loads(run("expire", "-c", cache, "--contains", "needles", *options).stdout)["selected"] == 3
    assert json.loads(run("expire", "-c", cache, "--contains", "absent", *options).stdout)["selected"] == 0


def test_explain(cache):
    """The request that is explained can have another field, and entries can be selected by the stored ones."""
    output = run("explain", "-c", cache, "--all", "--request-header", "Accept-Language: de", "--request-header", "accept=text/*", "--format", "ndjson",
                 status=None).stdout
    assert [json.loads(line)["id"] for line in output.splitlines()] == [1, 3, 5]


def test_purged(cache):
    """Entries are removed by the text of their bodies, and no others."""
    run("purge", "-c", cache, "--contains", "needles", "--yes")
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    assert [row[0] for row in connection.execute("SELECT entry_ID FROM cfurl_cache_response ORDER BY 1")] == [1, 5, 6]
    connection.close()


def test_rules(cache):
    """A rule cannot search bodies, and can look at header fields."""
    file = path("config.toml")
    with open(file, "w") as opened:
        opened.write("[[rules]]\nmatch.where = 'body *= needle'\naction = 'purge'\n")
    assert "a rule cannot search bodies" in run("list", "-c", cache, "--config", file, status=78).stderr.decode()
    with open(file, "w") as opened:
        opened.write("[[rules]]\nmatch.header = 'x-cache=HIT*'\naction = 'purge'\n")
    plan = json.loads(run("enforce", "-c", cache, "--config", file, "-n", "--format", "json").stdout)
    assert [entry["id"] for entry in plan["entries"]] == [1, 4]


@pytest.mark.parametrize("options, note", [
    (["--method", "POST"], "'--method' selects nothing: a Foundation cache stores no methods"),
    (["--partition", "x"], "'--partition' selects nothing: a Foundation cache has no partitions"),
    (["--request-header", "accept"], "'--request-header' selects nothing: a Foundation cache stores no request headers"),
])
def test_what_a_foundation_cache_does_not_store(options, note):
    """An option that can select nothing says so, and only there."""
    cache = worlds.foundation(path("foundation"), worlds.entries(3))
    for words in ["list"], ["purge", "-n"], ["explain"], ["query", "SELECT count(*) FROM entries"]:
        result = run(words[0], "-c", cache, *words[1:], *options, status=None)
        assert f"note: {note}\n" in result.stderr.decode(), result
    apple = worlds.apple(path("apple"), worlds.entries(3))
    assert b"selects nothing" not in run("list", "-c", apple, *options).stderr


def test_the_type_of_a_record():
    """A condition on the kind of record of a WebKit cache, which looks like one on the media type, gets one note in other caches."""
    apple = worlds.apple(path("apple"), worlds.entries(3))
    webkit = make("webkit", "--format", "webkit", entries=3)
    note = b"note: 'type' is the kind of record of a WebKit cache; for media types use 'mime'\n"
    words = ["--where", "status = 200 && type = Resource", "--where", "type != x"]
    assert run("list", "-c", apple, "--where", "type = 'text/html'", "--count").stderr == note
    assert run("list", "-c", apple, *words, "--count").stderr == note
    assert run("list", "-c", webkit, *words, "--count").stderr == b""
    assert run("list", "-c", apple, "--where", "mime = 'text/html'", "--count").stderr == b""
