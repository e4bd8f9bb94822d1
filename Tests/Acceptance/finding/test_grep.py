"""Compares what `grep` finds with what ripgrep finds in the same bodies as files, and looks at places, masks and statuses."""

import base64
import gzip
import json
import os
import plistlib
import random
import signal
import sqlite3
import subprocess
import time
import uuid
import zlib

import pytest

import apple_store
import peers
import scratch
from heard_signals import hear_signals
from products import tool
from scratch import path, peak_of, run

PIECE = 1 << 16
TOKEN = "c2VjcmV0LXZhbHVlLTEyMzQ1"
# What the bodies are as text in UTF-8, by the id of their entry.
TEXTS = {}


def lines(seed, count, width=90):
    """Lines of words, among them such that the patterns below find."""
    source = random.Random(seed)
    words = ("the quick brown fox needle Needle NEEDLE needles haystack foo foo-bar foo_bar FooBar straße STRASSE Éclair éclair 12.5 "
             "0x1F user@example.com https://a.example/path?q=1 color colour {\"key\":\"value\"} Σίσυφος ΣΊΣΥΦΟΣ kelvin \u212a ſ a.b a+b "
             "\\d [x] (y) ^start end$ tab\there 漢字 😀 -dash- _under_ error: ERROR warning").split(" ")
    result = []
    for _ in range(count):
        line = ""
        while len(line) < source.randrange(width):
            line += source.choice(words) + source.choice([" ", "  ", ",", "", ";"])
        result.append(line)
    return "\n".join(result) + source.choice(["", "\n"])


def at_ends_of_pieces():
    """A text with the same word at each offset around the ends of pieces of 64 KiB."""
    text = bytearray(b"." * (20 * PIECE))
    text[99::100] = b"\n" * len(text[99::100])
    for number in range(1, 19):
        start = number * PIECE - 14 + number
        text[start:start + 12] = b"across-piece"
    return text.decode()


def long_line():
    """A line of 5 MB, with words where it is searched in parts."""
    text = bytearray(b"x" * 5_000_000)
    for offset in [0, 70_000, (1 << 20) - 6, (1 << 20) - PIECE - 3, 2 << 20, 3_333_333, 4_999_988]:
        text[offset:offset + 12] = b"in long line"
    return text.decode()


def bodies():
    """The bodies, with the header fields of their responses and their text."""
    plain = {"Content-Type": "text/plain; charset=utf-8"}
    for seed in range(4):
        yield lines(seed, 900).encode(), plain, lines(seed, 900)
    text = lines(5, 3000)
    yield gzip.compress(text.encode()), plain, text
    yield gzip.compress(text.encode()[:70_000]) + gzip.compress(text.encode()[70_000:]), plain, text
    text = lines(6, 300)
    yield text.encode("utf-16"), {"Content-Type": "text/plain"}, text
    yield text.encode("utf-16-be"), {"Content-Type": "text/plain; charset=\"UTF-16BE\""}, text
    yield text.encode("utf-32-le"), {"content-type": "text/plain;charset=utf-32le"}, text
    yield gzip.compress(text.encode("utf-16-le")), {"Content-Type": "text/plain; charset=utf-16le"}, text
    text = lines(7, 300).encode("latin-1", "ignore").decode("latin-1")
    yield text.encode("latin-1"), {"Content-Type": "text/html; Charset=ISO-8859-1"}, text
    text = lines(8, 300).encode("cp1252", "ignore").decode("cp1252") + " “needle” €5"
    yield text.encode("cp1252"), {"Content-Type": "text/html; charset=windows-1252"}, text
    yield b"\xef\xbb\xbf" + lines(9, 50).encode(), plain, lines(9, 50)
    yield at_ends_of_pieces().encode(), plain, at_ends_of_pieces()
    yield gzip.compress(at_ends_of_pieces().encode()), plain, at_ends_of_pieces()
    yield long_line().encode(), plain, long_line()
    yield lines(10, 200).replace("\n", "\r\n").encode(), plain, lines(10, 200).replace("\n", "\r\n")
    text = "nothing\n" * 1_500_000 + "one hit in a large body\n" + "nothing\n" * 10
    yield text.encode(), plain, text
    broken = lines(11, 100).encode().replace(b" ", b" \xff\xc3 ")
    yield broken, plain, broken
    yield b"", plain, b""


def add(database, folder, number, url, body, response=None, request=None, request_body=None):
    """Adds an entry; a body of 4,096 bytes or more is in a file."""
    def archived(text):
        return {"_CFURLString": text, "_CFURLStringType": 15}
    fields = {"Array": [archived(url), 7e8, 0, 200, dict(response or {}), len(body), "text/plain"], "Version": 1}
    null = "__CFURLRequestNullTokenString__"
    asked = {"Array": [False, archived(url)] + [null] * 16
             + ["GET", dict(request or {}), null, null if request_body is None else [request_body]], "Version": 9}
    database.execute("INSERT INTO cfurl_cache_response(entry_ID, storage_policy, request_key) VALUES (?, 0, ?)", (number, url))
    database.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object) VALUES (?, ?, ?)",
                     (number, plistlib.dumps(fields, fmt=plistlib.FMT_BINARY), plistlib.dumps(asked, fmt=plistlib.FMT_BINARY)))
    name = str(uuid.UUID(int=number)).upper() if len(body) >= 4096 else None
    if name:
        os.makedirs(os.path.join(folder, "fsCachedData"), exist_ok=True)
        with open(os.path.join(folder, "fsCachedData", name), "wb") as file:
            file.write(body)
    database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, ?, ?)", (number, bool(name), name or body))


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A cache, and a folder with each body as text, named by the id of its entry."""
    folder, plain = str(tmp_path_factory.mktemp("cache")), str(tmp_path_factory.mktemp("plain"))
    database = apple_store.create(folder)
    for number, (body, fields, text) in enumerate(bodies(), 1):
        add(database, folder, number, f"https://a.example/{number}", body, fields)
        TEXTS[number] = text if isinstance(text, bytes) else text.encode()
        with open(os.path.join(plain, str(number)), "wb") as file:
            file.write(TEXTS[number])
    database.commit()
    database.close()
    return folder, plain


def found(output):
    """The line number, place and length of each match in the JSON of both programs, by the name of the file or the id."""
    result = []
    for message in map(json.loads, output.splitlines()):
        if message["type"] != "match":
            continue
        data = message["data"]
        name = data["id"] if "id" in data else int(os.path.basename(data["path"]["text"]))
        result += [(name, data["line_number"], data["absolute_offset"] + match["start"], match["end"] - match["start"])
                   for match in data["submatches"]]
    return sorted(result)


# The options of `grep`, and those of `rg` if they are others.
PATTERNS = [
    (["needle"], None), (["NEEDLE"], None), (["the"], None), (["e"], None), ([" "], None), (["foo-bar"], None), (["foo_bar"], None),
    (["a.b"], None), (["a+b"], None), (["\\d"], None), (["[x]"], None), (["(y)"], None), (["^start"], None), (["end$"], None),
    (["漢字"], None), (["😀"], None), (["Σίσυφος"], None), (["{\"key\":\"value\"}"], None), (["tab\there"], None), (["absent"], None),
    (["in long line"], None), (["across-piece"], None), (["one hit in a large body"], None), (["“needle”"], None), (["\r"], None),
    (["-i", "needle"], None), (["-i", "STRASSE"], None), (["-i", "straße"], None), (["-i", "éclair"], None), (["-i", "σίσυφοσ"], None),
    (["-i", "KELVIN"], None), (["-i", "k"], None), (["-i", "s"], None), (["-i", "ACROSS-PIECE"], None), (["-i", "In Long LINE"], None),
    (["-w", "foo"], None), (["-w", "needle"], None), (["-w", "-i", "needle"], None), (["-w", "e"], None), (["-w", "under"], None),
    (["-E", "need(le|les)"], None), (["-E", "^the"], None), (["-E", "\\d+\\.\\d"], None), (["-E", "[A-Z]{3,}"], None),
    (["-E", "colou?r"], None), (["-E", "\\w+@\\w+\\.com"], None), (["-E", "(?i)error:?"], None), (["-E", "https?://[^ ?]+"], None),
    (["-E", "\\bfoo\\b"], None), (["-E", "a.*?k"], None), (["-E", "[éÉ]clair"], None), (["-E", "\\p{Greek}+"], None),
    (["-E", "-w", "fo+"], None), (["-E", "-i", "ne{2}dle"], None), (["-E", "x(in|on) long line"], None), (["-E", "across.piece"], None),
    (["-E", "end\\$$"], None), (["-E", "."], None),
]


IN_LARGE_BODIES = [["in long line"], ["one hit in a large body"], ["-i", "In Long LINE"], ["-E", "x(in|on) long line"]]


def of_ripgrep(files, options):
    options = [option for option in options if option != "-E"] if "-E" in options else ["-F", *options]
    options, pattern = options[:-1], options[-1]
    result = subprocess.run(["rg", "--no-config", "--json", "--no-ignore", "--hidden", "--encoding=none", *options, "-e", pattern, *files],
                            capture_output=True)
    assert result.returncode in (0, 1), result
    return result


@peers.needed("rg")
@pytest.mark.parametrize("options", [options for options, _ in PATTERNS], ids=" ".join)
def test_same_as_ripgrep(searched, options):
    """All matches are those of ripgrep, in all bodies: with codings, encodings, long lines, and where pieces end."""
    cache, plain = searched
    # In large bodies, only some patterns are looked for: the programs of the tests are slow.
    longest = 20_000 if options == ["-E", "."] else 2_000_000 if "across" in options[-1].lower() else 200_000
    small = [] if options in IN_LARGE_BODIES else [
        word for number, text in TEXTS.items() if len(text) < longest for word in ("--id", str(number))]
    result = run("grep", *options[:-1], "--in", "body", "--json", "--show-secrets", *small, "-c", cache, "--", options[-1], status=None)
    files = [os.path.join(plain, name) for name in run("list", "-c", cache, *small, "--format", "tsv", "--columns", "id").stdout.decode().split()[1:]]
    theirs = of_ripgrep(files, options)
    assert result.returncode == theirs.returncode and found(result.stdout) == found(theirs.stdout)


def test_patterns_are_enough():
    """There are 50 patterns and more, and each kind has several."""
    assert len(PATTERNS) >= 50
    for option in ["-i", "-w", "-E"]:
        assert sum(option in options for options, _ in PATTERNS) >= 5


def test_exported_bodies(searched):
    """The bodies that `export --archive-format files` writes have the same matches for ripgrep, which decodes gzip itself."""
    cache, _ = searched
    folder = path("files")
    run("export", "-c", cache, "--archive-format", "files", "-o", folder, "--smaller-than", "10M")
    with open(os.path.join(folder, "index.json")) as file:
        index = json.load(file)
    counts = {}
    for entry in index:
        data = scratch.read(os.path.join(folder, entry["file"]))
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if data[:2] != b"\xff\xfe" and b"\0" in data:
            continue
        result = subprocess.run(["rg", "--no-config", "-F", "--count-matches", "needle", "-"], input=data, capture_output=True)
        counts[int(entry["url"].rpartition("/")[2])] = int(result.stdout or b"0")
    ids = [word for number in counts for word in ("--id", str(number))]
    ours = dict.fromkeys(counts, 0)
    for match in found(run("grep", "needle", "--in", "body", "--json", "-c", cache, *ids).stdout):
        ours[match[0]] += 1
    assert ours == counts and sum(counts.values()) > 100


@pytest.fixture(scope="module")
def secretive(tmp_path_factory):
    """A cache with text in each place, and with secrets next to it."""
    folder = str(tmp_path_factory.mktemp("secretive"))
    database = apple_store.create(folder)
    token = f"eyJhbGciOiJIUzI1NiJ9.{TOKEN}.{TOKEN}"
    add(database, folder, 1, f"https://user:{TOKEN}@a.example/findme?access_token={TOKEN}&q=1", b"one\ntwo findme\nthree\nfour findme\n",
        {"Content-Type": "text/plain", "X-Cache": "HIT findme", "Set-Cookie": f"id={TOKEN}; findme"},
        {"Authorization": f"Bearer {TOKEN}", "X-Note": "findme"}, f"findme=1&password={TOKEN}".encode())
    add(database, folder, 2, "https://b.example/plain", (
        f'{{"findme": 1, "access_token": "{TOKEN}", "user": {{"password" : "{TOKEN}"}}, "n": "{token}", '
        f'"u": "https://x.example/?sig={TOKEN}&findme=1", "h": "Bearer {TOKEN}", "q": "{{\\"token\\":\\"{TOKEN}\\"}}", "findme": 2}}').encode(),
        {"Content-Type": "application/json"})
    add(database, folder, 3, "https://c.example/binary", b"findme\0findme", {"Content-Type": "application/octet-stream"})
    add(database, folder, 4, "https://c.example/broken", gzip.compress(b"findme " * 100_000)[:-500], {"Content-Type": "text/plain"})
    add(database, folder, 5, "https://c.example/\u202e", "\x1b[31mfindme\u202e\r\nnext".encode(), {"Content-Type": "text/plain"})
    add(database, folder, 6, "https://c.example/long",
        (f'{{"token":"{TOKEN * 200}findme{TOKEN * 300}","b":"' + "y" * 100_000 + " findme " + "z" * 100_000 + '"}').encode(),
        {"Content-Type": "application/json"})
    add(database, folder, 7, "https://c.example/nothing", b"", {})
    database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 1, receiver_data = '00000000-0000-0000-0000-000000000000' WHERE entry_ID = 7")
    database.commit()
    database.close()
    return folder


TEXT = """\
1 https://***@a.example/findme?access_token=***&q=1: url: 48: https://***@a.example/findme?access_token=***&q=1
1 https://***@a.example/findme?access_token=***&q=1: request: 8: X-Note: findme
1 https://***@a.example/findme?access_token=***&q=1: request-body: 0: ***
1 https://***@a.example/findme?access_token=***&q=1: response: 13: X-Cache: HIT findme
1 https://***@a.example/findme?access_token=***&q=1: response: 41: Set-Cookie: ***
1 https://***@a.example/findme?access_token=***&q=1: body: 8: two findme
1 https://***@a.example/findme?access_token=***&q=1: body: 26: four findme
2 https://b.example/plain: body: 2: {"findme": 1, "access_token": "***", "user": {"password" : "***"}, "n": "***", "u": \
"https://x.example/?sig=***&findme=1", "h": "Bearer ***", "q": "{\\"token\\":\\"***\\"}", "findme": 2}
"""


def test_places_and_masks(secretive):
    """Each place is named, and secrets next to a match are masked, also in JSON, unless `--show-secrets` is given."""
    result = run("grep", "findme", "-c", secretive, "--id", "1", "--id", "2")
    assert sorted(result.stdout.decode().splitlines()) == sorted(TEXT.splitlines())
    for options in [[], ["-o"], ["--json"], ["--json", "--redact-urls"], ["-C", "3"], ["-i"], ["--count"], ["-l"]]:
        output = run("grep", "findme", "-c", secretive, *options, status=None).stdout
        if "--json" not in options or "--redact-urls" in options:
            assert TOKEN.encode() not in output, options
        for message in map(json.loads, output.splitlines() if "--json" in options else []):
            data = message["data"]
            assert TOKEN not in data.get("lines", {}).get("text", "") or data["where"] == "url", data
    shown = run("grep", "findme", "-c", secretive, "--show-secrets", "--id", "1", "--id", "2").stdout
    assert shown.count(TOKEN.encode()) >= 20


def test_secrets_are_found(secretive):
    """A token is found wherever it is, and not shown."""
    result = run("grep", TOKEN, "-c", secretive, "--id", "1", "--id", "2")
    places = [line.split(b": ")[1] for line in result.stdout.splitlines()]
    assert places == [b"url", b"request", b"request-body", b"response", b"body"] and TOKEN.encode() not in result.stdout
    assert TOKEN.encode() not in run("grep", "-o", TOKEN, "-c", secretive, status=3).stdout
    assert run("grep", "-o", "--show-secrets", TOKEN, "-c", secretive, "--id", "2").stdout.count(TOKEN.encode()) == 7


def test_hostile_bodies(secretive):
    """What harms terminals is escaped; bodies that are no text, damaged or missing are counted."""
    result = run("grep", "findme", "-c", secretive, "--id", "5")
    assert result.stdout.decode() == "5 https://c.example/‹U+202E›: body: 5: ‹U+001B›[31mfindme‹U+202E›\n"
    result = run("grep", "findme", "-c", secretive, status=3)
    assert "entry 4 was not searched completely: cannot decode the body as gzip" in result.stderr.decode()
    assert "skipped 1 binary body; search it with '--binary'" in result.stderr.decode()
    assert "skipped 1 missing body" in result.stderr.decode()
    assert run("grep", "findme", "-c", secretive, "--id", "3", status=1).stdout == b""
    result = run("grep", "findme", "-c", secretive, "--id", "3", "--binary")
    assert result.stdout.decode() == "3 https://c.example/binary: body: 0: findme‹U+0000›findme\n"
    # Only a part of a long line is shown.
    result = run("grep", "findme", "-c", secretive, "--id", "6")
    assert len(result.stdout) < 1000 and TOKEN[4:].encode() not in result.stdout


@pytest.mark.parametrize("words, status, output", [
    (["-l", "findme", "--id", "1"], 0, "1 https://***@a.example/findme?access_token=***&q=1\n"),
    (["--count", "findme", "--id", "2", "--id", "1", "--in", "body"], 0,
     "1 https://***@a.example/findme?access_token=***&q=1: 2\n2 https://b.example/plain: 1\n"),
    (["-m", "1", "findme", "--id", "1", "--in", "body"], 0, "1 https://***@a.example/findme?access_token=***&q=1: body: 8: two findme\n"),
    (["-o", "find|fou.", "-E", "--id", "1", "--in", "body"], 0,
     "".join(f"1 https://***@a.example/findme?access_token=***&q=1: body: {text}\n" for text in ["8: find", "21: four", "26: find"])),
    (["-A1", "one", "--id", "1", "--in", "body"], 0,
     "1 https://***@a.example/findme?access_token=***&q=1: body: 0: one\n"
     "1 https://***@a.example/findme?access_token=***&q=1: body- 4- two findme\n"),
    (["-B1", "-w", "three", "--id", "1"], 0,
     "1 https://***@a.example/findme?access_token=***&q=1: body- 4- two findme\n"
     "1 https://***@a.example/findme?access_token=***&q=1: body: 15: three\n"),
    (["-C", "0", "FINDME", "--in", "response", "-i", "--id", "1", "--status", "404"], 1, ""),
    (["absent"], 1, ""), (["plain", "--in", "url", "https://b.example/plain"], 0, "2 https://b.example/plain: url: 18: https://b.example/plain\n"),
    (["HIT", "--in", "request,body"], 1, ""), (["X-Cache: HIT", "--in", "headers", "--id", "1", "-l"], 0, None), (["X-Cache: HIT", "--in", "response", "--show-secrets", "--id", "1", "-o"], 0, None),
])
def test_options(secretive, words, status, output):
    """What is shown of the matches, and the exit status."""
    result = run("grep", *words, "-c", secretive, "-q", status=status)
    if output is not None:
        assert result.stdout.decode() == output


@pytest.mark.parametrize("words, message", [
    ([""], "the pattern is empty"), (["a\nb"], "the pattern contains a line break"),
    (["-E", "a(b"], "the pattern is not a regular expression: missing closing parenthesis\n  a(b"),
    (["-E", "é[z-a]"], "range out of order in character class\n  é[z-a]\n      ^"), (["a", "--in", "head"], "is not a part of an entry"),
    (["a", "-l", "-o"], "Only one of"), (["a", "-F", "-E"], "cannot be combined"), (["a", "-m", "0"], "must be at least 1"),
    (["a", "-l", "--json"], "cannot be combined"), (["a", "-o", "-A", "1"], "shows no context"), ([], "pattern"),
    (["-E", "(" * 100_000], "is not a regular expression"), (["-E", "((a{1000}){1000}){1000}"], "is not a regular expression"),
])
def test_invalid(secretive, words, message):
    """What cannot be searched is refused, with its place in the expression."""
    result = run("grep", *words, "-c", secretive, status=64)
    assert message in result.stderr.decode() and result.stdout == b""


def test_operands(secretive):
    """The cache follows the pattern, like the first operand of other commands."""
    expected = run("grep", "four", "-c", secretive, "1").stdout
    assert expected and run("grep", "four", secretive, status=3).stdout == expected
    assert run("grep", "four", secretive, "1").stdout == expected and run("search", "four", secretive, "-m1", "1").stdout == expected
    run("grep", "four", secretive, "2", status=1)
    assert b"no cache 'nowhere': no such file, and no cache of this name in the configuration" in run("grep", "four", "nowhere", status=66).stderr


@pytest.mark.parametrize("pattern", ["(a+)+[0-9]", "(a|a)*[0-9]", "(?:(a?){50}){50}[0-9]", "(.*a){30}[0-9]"])
def test_hostile_patterns(pattern):
    """An expression that backtracks too much ends the search of that entry only, soon and with a note."""
    folder = path("hostile")
    os.makedirs(folder)
    database = apple_store.create(folder)
    add(database, folder, 1, "https://a.example/1", b"a" * 5_000 + b"!\n" + b"aaa7", {"Content-Type": "text/plain"})
    add(database, folder, 2, "https://a.example/2", b"ok aaa7", {"Content-Type": "text/plain"})
    database.commit()
    database.close()
    begin = time.monotonic()
    result = run("grep", "-E", pattern, "-c", folder, "--in", "body", status=None)
    assert time.monotonic() - begin < 20 and result.returncode in (0, 1, 3)
    if result.returncode == 3 or b"completely" in result.stderr:
        assert b"entry 1 was not searched completely: the expression" in result.stderr
    assert b"entry 2 was not" not in result.stderr


def test_json(secretive):
    """The lines have the form of ripgrep's, with the id of the entry and the place."""
    output = run("grep", "findme", "--json", "-A", "1", "-c", secretive, "--id", "1", "--in", "body,response", "--show-secrets").stdout
    messages = [json.loads(line) for line in output.splitlines()]
    url = f"https://user:{TOKEN}@a.example/findme?access_token={TOKEN}&q=1"
    entry = {"id": 1, "path": {"text": url}}
    match = {"match": {"text": "findme"}, "start": 4, "end": 10}
    assert messages[0] == {"type": "begin", "data": entry}
    assert messages[3:6] == [
        {"type": "match", "data": entry | {"where": "body", "field": None, "lines": {"text": "two findme\n"}, "line_number": 2, "absolute_offset": 4,
                                           "submatches": [match]}},
        {"type": "context", "data": entry | {"where": "body", "field": None, "lines": {"text": "three\n"}, "line_number": 3, "absolute_offset": 15,
                                             "submatches": []}},
        {"type": "match", "data": entry | {"where": "body", "field": None, "lines": {"text": "four findme\n"}, "line_number": 4, "absolute_offset": 21,
                                           "submatches": [match | {"start": 5, "end": 11}]}}]
    assert {message["data"]["field"]["text"] for message in messages[1:3]} == {"X-Cache", "Set-Cookie"}
    assert messages[6] == {"type": "end", "data": entry | {"binary_offset": None, "stats": messages[6]["data"]["stats"]}}
    assert messages[7]["type"] == "summary" and messages[7]["data"]["schema"] == "urlcache-admin.grep/1"
    stats = messages[7]["data"]["stats"]
    assert (stats["searches"], stats["searches_with_match"], stats["matched_lines"], stats["matches"]) == (1, 1, 4, 4)
    # Bytes that are not UTF-8 are in Base64, as ripgrep writes them.
    folder = path("bytes")
    os.makedirs(folder)
    database = apple_store.create(folder)
    add(database, folder, 1, "https://a.example/", b"\xff word", {})
    database.commit()
    database.close()
    [line] = [json.loads(line) for line in run("grep", "word", "--json", "-c", folder).stdout.splitlines()][1:2]
    assert base64.b64decode(line["data"]["lines"]["bytes"]) == b"\xff word"


@pytest.mark.parametrize("kind", ["foundation", "tar", "tar.gz", "zip", "har", "warc", "wacz"])
def test_stores_and_archives(searched, secretive, kind):
    """The same bodies have the same matches in a Foundation cache and in archives."""
    cache = path("cache")
    small = ["--smaller-than", "300K"]
    if kind == "foundation":
        run("import", "--create", "foundation", "-c", cache, scratch.export(searched[0], "small.tar", *small), status=None)
    else:
        cache = path("archive." + kind)
        run("export", "-c", searched[0], "-o", cache, *small, status=None)
    def matches(folder, *options):
        counts = {}
        for message in map(json.loads, run("grep", "-i", "needle", "--json", "--in", "body", "-c", folder, *options).stdout.splitlines()):
            if message["type"] == "end":
                counts[message["data"]["path"]["text"]] = message["data"]["stats"]["matches"]
        return counts
    wanted = matches(searched[0], *small)
    assert matches(cache) == wanted and len(wanted) >= 10


def test_memory(searched):
    """The memory that a search takes does not depend on the sizes of bodies and lines."""
    for options in [["one hit in"], ["-i", "ONE HIT IN"], ["-E", "one hit .n"], ["-C", "5", "one hit"], ["--json", "in long line"]]:
        status, errors, peak = peak_of(["grep", *options, "-c", searched[0]])
        # With the Swift runtime linked in, as it is installed, it takes 3 MiB less than the programs of the tests.
        assert status == 0 and peak <= 40 << 20, (options, peak, errors)


@pytest.mark.parametrize("options", [["-i", "needle"], ["-C", "2", "needle"], ["--json", "-A", "1", "NEEDLE"], ["--count", "-w", "foo"],
                                     ["-l", "x"], ["-o", "-E", "[A-Z]+"], ["-m", "2", "e"], ["--in", "body", "--binary", "in long line"]])
def test_threads_keep_the_order(searched, options):
    """Several threads search a cache, and one searches an entry alone: the output is the same, in the same order."""
    cache, _ = searched
    whole = run("grep", *options, "-c", cache, "--smaller-than", "6M", status=None)
    ids = run("list", "-c", cache, "--smaller-than", "6M", "--format", "tsv", "--columns", "id").stdout.decode().split()[1:]
    parts = [run("grep", *options, "-c", cache, "--id", number, status=None).stdout for number in ids]
    if "-C" in options:
        expected = b"--\n".join(part for part in parts if part)
    elif "--json" in options:
        expected = b"".join(line + b"\n" for part in parts for line in part.splitlines() if b'"type":"summary"' not in line)
        whole.stdout = whole.stdout[:whole.stdout.rindex(b"\n", 0, -1) + 1]
    else:
        expected = b"".join(parts)
    assert whole.stdout == expected and whole.stdout


def test_unknown_codings():
    """A body that still has a coding which cannot be decoded is counted; one without it is searched, whatever its fields say."""
    folder = path("coded")
    os.makedirs(folder)
    database = apple_store.create(folder)
    coded = b"\x1f\x9d\x90hello"
    brotli = b"\x0b\x02\x80hello\x03"
    for number, (name, body) in enumerate([("compress", coded), ("dcb", b"\xff\1\xff" * 9), ("br", b"say hello"), ("br", "éé hello".encode()),
                                           ("deflate", zlib.compress(b"hello" * 9)), ("identity", coded), ("br", brotli), ("BR", brotli),
                                           ("gzip, br", brotli), ("br, gzip", gzip.compress(brotli))], 1):
        add(database, folder, number, f"https://a.example/{number}", body, {"Content-Encoding": name, "Content-Type": "text/plain"})
    database.commit()
    database.close()
    result = run("grep", "hello", "-c", folder, "--in", "body", "-l")
    assert [line.split()[0] for line in result.stdout.splitlines()] == [b"3", b"4", b"5", b"6", b"7", b"8", b"9", b"10"]
    assert result.stderr.decode() == (
        "note: skipped 1 body compressed with compress\nnote: skipped 1 body compressed with dcb\n")
    assert run("grep", "hello", "-c", folder, "--in", "body", "-l", "--binary").stdout.count(b"\n") == 9
    for number in (7, 8, 9, 10):
        assert run("body", folder, str(number), "--decoded").stdout == b"hello"


def large_cache(count, size):
    """A cache with large bodies in which each line matches."""
    folder = path("large")
    os.makedirs(folder)
    database = apple_store.create(folder)
    for number in range(1, count + 1):
        add(database, folder, number, f"https://a.example/{number}", b"each line matches\n" * (size // 18), {"Content-Type": "text/plain"})
    database.commit()
    database.close()
    return folder


def test_memory_of_many_matches():
    """Results wait in limited numbers, also those of entries after a long one."""
    folder = large_cache(5, 3_000_000)
    status, errors, peak = peak_of(["grep", "line", "-c", folder])
    assert status == 0 and peak <= 36 << 20, (peak, errors)


def test_ends_at_once():
    """An interrupt ends a search at once, and so does a reader that goes away."""
    folder = large_cache(20, 3_000_000)
    for sent, expected in [(signal.SIGINT, -signal.SIGINT), (None, 0)]:
        process = subprocess.Popen([tool, "grep", "-E", "(e|l)[^z]*", "-c", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=hear_signals)
        assert process.stdout.read(1000)
        begin = time.monotonic()
        if sent:
            process.send_signal(sent)
        else:
            process.stdout.close()
        status = process.wait(timeout=20)
        assert time.monotonic() - begin < 2 and status in (expected, 128 + signal.SIGINT if sent else 141, -signal.SIGPIPE), status
        process.stderr.close()
        if sent:
            process.stdout.close()


@pytest.mark.needs_strace
def test_does_not_read_on():
    """The rest of a body is not read if it cannot change the result."""
    folder = large_cache(1, 40_000_000)
    times = {}
    for options in [["-l"], ["-m", "1"]]:
        output = path("trace")
        subprocess.run(["strace", "-f", "-e", "trace=read,pread64", "-o", output, tool, "grep", "line", "-c", folder, *options],
                       check=True, capture_output=True)
        sizes = [int(line.rpartition("= ")[2]) for line in open(output) if "= " in line and line.rpartition("= ")[2].strip().isdigit()]
        times[tuple(options)] = sum(sizes)
    assert max(times.values()) < 8_000_000, times


def test_secret_names_without_end():
    """A word of many names of secrets is masked as a whole, without a search for its end at each name."""
    os.mkdir(path("cache"))
    database = apple_store.create(path("cache"))
    add(database, path("cache"), 1, "https://a.example/", b"needle " + b"token=" * 60_000 + b" needle", {"Content-Type": "text/plain"})
    database.commit()
    database.close()
    for words in [["needle"], ["-o", "needle"], ["-E", ".{2000}"]]:
        out = run("grep", "--in", "body", *words, "-c", path("cache"), timeout=60).stdout
        assert out and b"token=token" not in out


def test_changes_nothing(secretive):
    """A search changes no file."""
    before = scratch.tree(secretive)
    run("grep", "findme", "-c", secretive, status=3)
    assert scratch.tree(secretive) == before


@pytest.mark.parametrize(("entries", "size", "quarter"), [(1, 200_000, 2), (1, 200_000, 3), (4, 100_000, 3), (40, 300_000, 2)])
def test_a_body_that_cannot_be_read_ends_the_search(entries, size, quarter):
    """Threads search the bodies, and one of them fails, with few entries while the last results are waited for: nobody must wait for it."""
    cache = scratch.make("unreadable", "--no-large-bodies", entries=entries)
    database = os.path.join(cache, "Cache.db")
    body = b"".join(b"%07d\n" % number for number in range(size // 8))
    connection = sqlite3.connect(database)
    connection.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = ? WHERE entry_ID = 1", (body,))
    connection.commit()
    connection.close()
    with open(database, "r+b") as file:
        page = file.read().index(b"%07d\n" % (size // 32 * quarter)) // 4096 * 4096
        # Where the number of the next overflow page is.
        file.seek(page)
        file.write(b"\xff\xff\xff\xf0")
    for options in [[], ["--count"]]:
        result = subprocess.run([tool, "grep", "zzz", cache, "--in", "body", *options], capture_output=True, timeout=30)
        assert result.returncode == 65 and b"damaged" in result.stderr, result
