"""Lists entries whose URLs contain text that harms terminals, spreadsheets and parsers."""

import csv
import io
import json
import plistlib
import subprocess
import unicodedata

import pytest

import apple_store
from products import tool
from scratch import run as run_tool

URLS = [
    "https://a.example/\x1b]0;owned\x07\x1b[2J",
    "https://a.example/\r\nSet-Cookie: a=b",
    "https://a.example/\u202egnp.exe",
    'https://a.example/"\u0301,"x',
    "=cmd|' /C calc'!A0",
    "@SUM(1)\t+2",
    "https://a.example/\u200b\u2066\U000e0041\ufeff\u2028",
    "https://a.example/nul\x00byte",
    "https://a.example/e\u0301 https://a.example/\u00e9",
    "https://a.example/" + "x" * 100_000,
]
COLUMNS = ("id,url,key,mime,method,partition,request-headers,response-headers,"
           "user-info,user-info:k,user-info:n,user-info:\x9b,proto-props")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache of these URLs, which are also in all other texts of the entries."""
    folder = str(tmp_path_factory.mktemp("hostile"))
    database = apple_store.create(folder)
    for number, url in enumerate(URLS, 1):
        archived = {"_CFURLString": url, "_CFURLStringType": 15}
        response = {"Array": [archived, 7e8, 0, 200, {"X": url}, 3, url[-40:]], "Version": 1}
        request = {"Array": [False, archived] + ["__CFURLRequestNullTokenString__"] * 16
                   + [url[-40:], {"X": url}, "", ""], "Version": 9}
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, storage_policy, request_key, partition)"
                         " VALUES (?, 0, ?, ?)", (number, url, url))
        user_info = {url[-40:]: url, "k": url, "n": [{url[-40:]: url}], "\x9b": url}
        database.execute("INSERT INTO cfurl_cache_blob_data VALUES (?, ?, ?, ?, ?)", (
            number, *(plistlib.dumps(value, fmt=plistlib.FMT_BINARY)
                      for value in (response, request, {url[-40:]: {"X": url}}, user_info))))
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, x'00')", (number,))
    database.commit()
    database.close()
    return folder


def run(verb, cache, *options):
    return run_tool(verb, "-c", cache, *options).stdout


def harmless(output, allowed="\n"):
    """No control, format or other invisible character is in a text."""
    for character in output.decode("utf-8"):
        category = unicodedata.category(character)
        assert character in allowed or category not in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co"), repr(character)


def test_table(cache):
    """The table has one line for each entry, with every column, and names invisible characters."""
    table = run("list", cache)
    harmless(table)
    assert table.count(b"\n") == len(URLS) + 1
    harmless(run("list", cache, "--columns", COLUMNS))


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
def test_separated_values(cache, format, separator):
    """CSV and TSV have one row for each entry, and no cell that a spreadsheet would evaluate."""
    output = run("list", cache, "--format", format, "--columns", COLUMNS)
    harmless(output, allowed="\n" + separator)
    csv.field_size_limit(1 << 24)
    quoting = csv.QUOTE_MINIMAL if format == "csv" else csv.QUOTE_NONE
    rows = list(csv.reader(io.StringIO(output.decode(), newline=""), delimiter=separator, quoting=quoting))
    assert len(rows) == len(URLS) + 1 and {len(row) for row in rows} == {13}
    cells = [cell for row in rows for cell in row[1:]]
    assert not any(cell.startswith(tuple("=+-@\t\r")) for cell in cells), cells


def test_urls(cache):
    """A list of URLs is ASCII with one URL on a line, and '--url-file' selects the same entries with it."""
    urls = run("list", cache, "--format", "urls")
    assert urls.isascii() and urls.count(b"\n") == len(URLS)
    harmless(urls)
    named = [url for url in URLS if "://" in url]
    found = subprocess.run([tool, "list", "-c", cache, "--url-file", "-", "--count"], input=urls, capture_output=True)
    assert found.returncode == 0 and int(found.stdout) >= len(named), found


def test_json(cache):
    """JSON contains every text exactly, in escapes."""
    output = run("list", cache, "--format", "json", "--columns", COLUMNS)
    harmless(output)
    entries = json.loads(output)["entries"]
    for name in ["url", "key", "user_info:k", "user_info:\x9b"]:
        assert [entry[name] for entry in entries] == URLS, name
    assert [entry["user_info:n"][0][url[-40:]] for url, entry in zip(URLS, entries)] == URLS


def test_ndjson(cache):
    """NDJSON has one line for each entry, with the exact URL."""
    output = run("list", cache, "--format", "ndjson")
    harmless(output)
    assert [json.loads(line)["url"] for line in output.decode().split("\n")[:-1]] == URLS


def test_show(cache):
    """'show' names invisible characters."""
    harmless(run("show", cache, *map(str, range(1, len(URLS) + 1))))
