"""What 'diff --detail' and 'diff --bodies' show of entries that differ."""

import gzip
import json
import os
import random
import shutil
import sqlite3
import subprocess

import pytest

import origin
from products import maker, tool
from scratch import make, path, peak_of, read, run

STORED = 1_760_000_000  # 9 October 2025, 08:53:20 UTC


def entry(name, status=200, fields=None, body=b"", asked=None, info=None):
    return f"https://h.example/{name}", status, fields or {}, body, asked or {}, info


def caches(first, second):
    """Two caches with these entries."""
    for name, entries in [("first", first), ("second", second)]:
        origin.make_apple(maker, path(name), entries, stored=STORED)
    return path("first"), path("second")


def details(first, second, *options):
    """The differences, as JSON."""
    return json.loads(run("diff", first, second, "--format", "json", *options, status=1).stdout)["differences"]


def test_text():
    """A status, sizes, header fields, user info and bodies, in the order in which they are documented."""
    first, second = caches(
        [entry("changed", 200, {"Cache-Control": "max-age=60", "Via": "a", "Same": "s"}, b"one\ntwo\n", {"Accept": "text/plain"}, {"k": 1}),
         entry("gone", body=b"12345")],
        [entry("changed", 404, {"Cache-Control": "no-store", "X-New": "n", "Same": "s"}, b"one\n2\n", {"Accept": "*/*"}, {"k": 2}),
         entry("new")])
    shown = run("diff", first, second, "--bodies", status=1).stdout.decode()
    begin = shown.index("~ ")
    assert shown[begin:].partition("\n- ")[0] == """\
~ https://h.example/changed (body, headers, other)
    status            200 → 404
    size              8 B → 6 B
    response header fields
      - Cache-Control: max-age=60
      + Cache-Control: no-store
      - Via: a
      + X-New: n
    request header fields
      - Accept: text/plain
      + Accept: */*
    user info
      - k: 1
      + k: 2
    body
      @@ -1,2 +1,2 @@
       one
      -two
      +2""", shown
    assert "\n- https://h.example/gone\n    method            GET\n    status            200\n" in shown, shown
    assert "partition" not in shown, shown
    assert shown.endswith("\n1 added, 1 removed, 1 changed, 0 the same\n"), shown


def test_without_bodies():
    """'--detail' alone reads no bodies."""
    first, second = caches([entry("a", body=b"one")], [entry("a", body=b"two")])
    assert "body" not in run("diff", first, second, "--detail", status=1).stdout.decode().partition("\n")[2]
    assert details(first, second, "--detail")[0]["body"] is None
    assert "body" not in details(first, second)[0]


def test_json():
    """Programs get the values of both sides, and the fields that changed."""
    first, second = caches([entry("a", 200, {"ETag": '"1"', "B": "b"}, b"one")], [entry("a", 304, {"etag": '"2"'}, b"one!")])
    found, = details(first, second, "--detail")
    assert (found["before"]["status"], found["after"]["status"]) == (200, 304), found
    assert (found["before"]["size"], found["after"]["size"]) == (3, 4), found
    assert (found["before"]["id"], found["after"]["id"]) == (1, 1), found
    assert found["response_headers"] == [{"name": "B", "before": ["b"], "after": []}, {"name": "etag", "before": ['"1"'], "after": ['"2"']}], found
    assert found["request_headers"] == [], found


def test_secrets():
    """Secrets are masked on both sides, and only shown on request."""
    first, second = caches(*([entry("a", 200, {"Set-Cookie": f"s={name}"}, b"", {"Authorization": f"Bearer {name}"})] for name in ["old-token", "new-token"]))
    for options in [], ["--format", "json"]:
        shown = run("diff", first, second, "--bodies", *options, status=1).stdout
        assert b"-token" not in shown, shown
        assert b"new-token" in run("diff", first, second, "--bodies", "--show-secrets", *options, status=1).stdout


@pytest.mark.parametrize("one,other,result", [
    (b'{"a":1,"b":[1,2]}', b'{"a": 1, "b": [1, 2]}', "same-json"),
    (b"\0\1", b"\0\2", "binary"),
    (b"\xff", b"text", "binary"),
    (gzip.compress(b"text", 1), gzip.compress(b"text", 9, mtime=1), "same-decoded"),
    (gzip.compress(b"text")[:-6], b"text", "unreadable"),
    (b"a" * (1 << 20), b"a" * ((1 << 20) + 1), "too-large"),
    (gzip.compress(b"a" * ((1 << 20) + 1)), b"a", "too-large"),
    (b"", b"\n", "lines"),
    (b"[" + b"1," * 200_000 + b"1]", b"[ " + b"1," * 200_000 + b"1]", "same-json"),
], ids=["white space", "zeros", "not UTF-8", "codings", "broken", "large", "large when decoded", "empty", "long JSON"])
def test_results(one, other, result):
    """What is said of bodies that are not compared line by line."""
    found, = details(*caches([entry("a", body=one)], [entry("a", body=other)]), "--bodies")
    assert found["body"]["result"] == result, found
    assert (found["body"]["diff"] is not None) == (result == "lines"), found


def test_indented_json():
    """One line of JSON is compared value by value."""
    first, second = caches([entry("a", body=b'{"a":1,"b":[1,2,3]}')], [entry("a", body=b'{"a":1,"b":[1,3]}')])
    found, = details(first, second, "--bodies")
    assert found["body"] == {"result": "lines", "indented": True, "omitted_lines": None, "diff": '@@ -3,7 +3,6 @@\n   "b": [\n     1,\n-    2,\n     3\n   ]\n }\n'.replace(
        "@@ -3,7 +3,6 @@\n", "@@ -2,7 +2,6 @@\n   \"a\": 1,\n")}, found


def test_many_lines():
    """Only the first lines of long bodies are compared, in little memory."""
    one, other = (b"[" + b",".join(b"%d" % (number * step) for number in range(130_000)) + b"]" for step in (1, 2))
    first, second = caches([entry("a", body=one)], [entry("a", body=other)])
    found, = details(first, second, "--bodies")
    assert found["body"]["omitted_lines"] == {"before": 80_002, "after": 80_002}, found["body"]["omitted_lines"]
    # The bracket and the 0 are the same.
    assert found["body"]["diff"].startswith("@@ -1,50000 +1,50000 @@\n [\n   0,\n-  1,\n"), found["body"]["diff"][:100]
    status, _, peak = peak_of(["diff", first, second, "--bodies"], path("text"))
    assert status == 1 and peak < 100 << 20, peak
    text = read(path("text"))
    assert b"only the first 50,000 lines were compared; not compared: 80,002 lines before, 80,002 lines after\n" in text, text[-200:]


@pytest.mark.skipif(not shutil.which("patch"), reason="patch is not here")
def test_patches():
    """'patch' turns the first body into the second with each diff."""
    chance = random.Random(1)

    def text():
        lines = [chance.choice([b"a", b"b", b"c", b"\xc3\xa4", b"x\ty", b"\\ no"]) for _ in range(chance.randrange(40))]
        return b"\n".join(lines) + chance.choice([b"", b"\n"])
    pairs = {}
    for number in range(60):
        one = text()
        lines = one.splitlines(keepends=True)
        for _ in range(chance.randrange(1, 5)):
            place = chance.randrange(len(lines) + 1)
            lines[place:place + chance.randrange(3)] = [b"new %d\n" % number] * chance.randrange(3)
        other = b"".join(lines)
        # The last line may have lost its end in the middle of the text.
        if other != one:
            pairs[f"https://h.example/{number}"] = (one, other)
    assert len(pairs) > 40
    first, second = caches(*([entry(os.path.basename(url), body=pair[side]) for url, pair in pairs.items()] for side in (0, 1)))
    tried = 0
    for found in details(first, second, "--bodies"):
        one, other = pairs[found["url"]]
        assert found["body"]["result"] == "lines", found
        with open(path("body"), "wb") as file:
            file.write(one)
        unified = f"--- body\n+++ body\n{found['body']['diff']}".encode()
        subprocess.run(["patch", "--quiet", "--binary", path("body")], input=unified, check=True)
        with open(path("body"), "rb") as file:
            assert file.read() == other, (one, other, unified)
        tried += 1
    assert tried == len(pairs)


def test_exclusive():
    """A summary has no details."""
    first, second = caches([entry("a")], [entry("a", 404)])
    for option in "--detail", "--bodies":
        error = run("diff", first, second, "--stat", option, status=64).stderr.decode()
        assert f"'--stat' and '{option}' cannot be combined." in error, error


def test_formats():
    """Between formats, only what both can store is compared, and only what differs is shown."""
    bodies = [(f"{name}", 200, {"Content-Type": "text/plain", "ETag": f'"{name}"'}, name.encode() * 50, {"X-Asked": "1"}) for name in "abcd"]
    first, second = caches([entry(*each) for each in bodies], [entry("a", 200, {"ETag": '"a"'}, b"other")])
    folder = path("folder")
    run("import", first, "-c", folder, "--create", "foundation")
    same = run("diff", first, folder)
    assert same.stdout == b"" and b"note: not compared, because a Foundation cache does not store them: " in same.stderr, same
    assert run("diff", folder, first).stdout == b""
    run("import", second, "-c", folder, "--on-conflict", "replace", "-y")
    lines = run("diff", first, folder, "--detail", status=1).stdout.decode().splitlines()
    assert lines[0] == "~ https://h.example/a (body, headers)", lines
    assert any("50 B → 5 B" in " ".join(line.split()) for line in lines), lines
    # Every line of a value has both.
    values = [line for line in lines[1:-1] if line.startswith("    ") and not line.startswith("      ") and "header" not in line]
    assert values and all("→" in line for line in values), lines
    assert run("diff", first, first).stderr == b""


def test_ids():
    """Ids are those of the first cache; the second one may have others."""
    first, second = caches([entry("a"), entry("b"), entry("c")], [entry("c", 404), entry("b", 404), entry("a")])
    (only,) = details(first, second, "--id", "2")
    assert (only["url"], only["change"]) == ("https://h.example/b", "changed"), only
    ids = [str(each["id"]) for each in json.loads(run("list", first, "--json").stdout)["entries"] if each["url"].endswith(("a", "c"))]
    (only,) = details(first, second, "--id", ids[0], "--id", ids[1])
    assert only["url"] == "https://h.example/c", only
    done = run("diff", first, second, "--id", "1", "--id", "77", status=1)
    assert done.stdout == b"" and b"error: no entry has the id 77\n" in done.stderr, done
    help = run("diff", "--help").stdout.decode()
    assert "USAGE: urlcache-admin diff [<options>] <first> <second> [<entries> ...]\n" in help, help
    (only,) = details(first, second, "https://h.example/b")
    assert only["url"] == "https://h.example/b", only
    assert b"error: 'diff' takes two paths; " in run("diff", first, second, "third", status=64).stderr


def test_text_of_bodies():
    """'--contains' selects in each of the two caches by its own bodies."""
    first, second = caches(
        [entry("a", body=b"needle"), entry("b", body=b"needle"), entry("c", body=b"hay")],
        [entry("a", 404, body=b"needle"), entry("b", body=b"hay"), entry("c", 404, body=b"hay")])
    found = details(first, second, "--contains", "needle")
    assert [(each["url"][-1], each["change"]) for each in found] == [("a", "changed"), ("b", "removed")], found
    assert b"--superseded" in run("diff", first, second, "--superseded", status=64).stderr


def test_partitions_and_a_foundation_cache():
    """The key of an entry with a partition ends with it, and a Foundation cache has none."""
    first, _ = caches([entry("a"), entry("b"), entry("c", body=b"[x]")], [])
    database = sqlite3.connect(os.path.join(first, "Cache.db"))
    database.execute("UPDATE cfurl_cache_response SET partition = 'https://top.example', request_key = request_key || '[https://top.example]' "
                     "WHERE entry_ID < 3")
    database.commit()
    database.close()
    run("import", first, "-c", path("folder"), "--create", "foundation")
    assert run("diff", first, path("folder"), "--stat").stdout == b"0 added, 0 removed, 0 changed, 3 the same\n"



def compared(first, second, *options):
    return json.loads(run("diff", first, second, "--format", "json", *options, status=None).stdout)


# Selects all entries, so that each of them is decoded.
DECODED = ["--where", 'url *= "" || !(url *= "")']

CHANGES = [
    "DELETE FROM cfurl_cache_response WHERE entry_ID % 97 = 1",
    "DELETE FROM cfurl_cache_blob_data WHERE entry_ID % 97 = 2",
    "DELETE FROM cfurl_cache_receiver_data WHERE entry_ID % 97 = 3",
    "UPDATE cfurl_cache_response SET request_key = NULL WHERE entry_ID % 97 = 4",
    "UPDATE cfurl_cache_response SET time_stamp = '2026-01-01 00:00:0' || (entry_ID % 10) WHERE entry_ID % 97 = 5",
    "UPDATE cfurl_cache_response SET storage_policy = 1 WHERE entry_ID % 97 = 6",
    "UPDATE cfurl_cache_response SET partition = 'https://top.example' WHERE entry_ID % 97 = 7",
    "UPDATE cfurl_cache_response SET hash_value = 7, version = version WHERE entry_ID % 97 = 8",
    "UPDATE cfurl_cache_blob_data SET response_object = x'00' WHERE entry_ID % 97 = 9",
    "UPDATE cfurl_cache_blob_data SET request_object = NULL WHERE entry_ID % 97 = 10",
    "UPDATE cfurl_cache_blob_data SET user_info = CAST(request_object AS TEXT) WHERE entry_ID % 97 = 11",
    "UPDATE cfurl_cache_blob_data SET proto_props = zeroblob(5000000) WHERE entry_ID = 12",
    "UPDATE cfurl_cache_receiver_data SET receiver_data = receiver_data || x'01' WHERE entry_ID % 97 = 13 AND NOT isDataOnFS",
    "UPDATE cfurl_cache_receiver_data SET receiver_data = 'text ' || entry_ID WHERE entry_ID % 97 = 14",
    "UPDATE cfurl_cache_receiver_data SET receiver_data = zeroblob(300000 + entry_ID) WHERE entry_ID % 97 = 15 AND NOT isDataOnFS",
    "UPDATE cfurl_cache_receiver_data SET receiver_data = NULL WHERE entry_ID % 97 = 16",
    "UPDATE cfurl_cache_response SET entry_ID = entry_ID + 1000000 WHERE entry_ID % 97 = 17",
    "UPDATE cfurl_cache_response SET entry_ID = -9223372036854775807 WHERE entry_ID = 18",
    "UPDATE cfurl_cache_response SET entry_ID = 9223372036854775807 WHERE entry_ID = 19",
]


# The second cache is large enough for several threads.
@pytest.mark.parametrize("entries", [600, 6_000])
def test_equal_bytes_need_no_decoding(entries):
    """Of two versions of a cache, the entries with other bytes are decoded; the result is that of decoding all."""
    first = make("before", "--faults", "missing-bodies", entries=entries) if entries < 1_000 else make(
        "before", "--no-large-bodies", entries=entries)
    second = path("after")
    shutil.copytree(first, second)
    database = sqlite3.connect(os.path.join(second, "Cache.db"))
    with database:
        for change in CHANGES:
            database.execute(change)
    database.close()
    # Other bytes in a body file, a shorter one, and one that is missing.
    for number, file in enumerate(sorted(os.listdir(os.path.join(second, "fsCachedData")))[:3]):
        file = os.path.join(second, "fsCachedData", file)
        data = read(file)
        os.remove(file)
        if number < 2:
            with open(file, "wb") as output:
                output.write(data[::-1] if number == 0 else data[:-1])
    # More than the columns of CFNetwork, which is no difference.
    database = sqlite3.connect(os.path.join(second, "Cache.db"))
    database.execute("ALTER TABLE cfurl_cache_blob_data ADD COLUMN more")
    database.close()
    for options in [], ["--by", "headers"], ["--by", "body"], ["--json-normalise"]:
        assert compared(first, second, *options) == compared(first, second, *options, *DECODED), options
    assert compared(second, second) == compared(second, second, *DECODED)
    changed = compared(first, second)
    assert len(changed["differences"]) > entries // 10 and changed["same"] > entries // 2
    assert compared(first, first)["differences"] == []


def test_a_reader_that_ends_early_changes_no_answer():
    """'diff OLD NEW | head' exits with 1 if there is a difference, and with 0 if there is none."""
    first, second = caches([entry(f"{number}" + "x" * 200) for number in range(3_000)], [entry("other")])
    for words, status in [([first, second], 1), ([first, first, "--format", "json"], 0)]:
        process = subprocess.Popen([tool, "diff", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == status, words
