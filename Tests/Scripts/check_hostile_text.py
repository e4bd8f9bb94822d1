"""Lists entries whose URLs hold what terminals, spreadsheets and parsers fall for.

    check_hostile_text.py URLCACHE-ADMIN
"""

import csv, io, json, plistlib, shutil, subprocess, sys, tempfile, unicodedata

import apple_store

tool = sys.argv[1]
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


def run(*options, status=0, input=None):
    result = subprocess.run([tool, *options], capture_output=True, input=input)
    assert result.returncode == status, (options, result)
    return result.stdout


def harmless(output, allowed="\n"):
    """No control, format or other invisible character is in a text."""
    for character in output.decode("utf-8"):
        category = unicodedata.category(character)
        assert character in allowed or category not in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co"), repr(character)


folder = tempfile.mkdtemp()
try:
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

    table = run("list", "-c", folder)
    harmless(table)
    assert table.count(b"\n") == len(URLS) + 1
    print("table: ok")

    columns = ("id,url,key,mime,method,partition,request-headers,response-headers,"
               "user-info,user-info:k,user-info:n,user-info:\x9b,proto-props")
    harmless(run("list", "-c", folder, "--columns", columns))
    for format, separator in (("csv", ","), ("tsv", "\t")):
        output = run("list", "-c", folder, "--format", format, "--columns", columns)
        harmless(output, allowed="\n" + separator)
        csv.field_size_limit(1 << 24)
        quoting = csv.QUOTE_MINIMAL if format == "csv" else csv.QUOTE_NONE
        rows = list(csv.reader(io.StringIO(output.decode(), newline=""), delimiter=separator, quoting=quoting))
        assert len(rows) == len(URLS) + 1 and {len(row) for row in rows} == {13}, format
        cells = [cell for row in rows for cell in row[1:]]
        assert not any(cell.startswith(tuple("=+-@\t\r")) for cell in cells), cells
        print(f"{format}: ok")

    urls = run("list", "-c", folder, "--format", "urls")
    assert urls.isascii() and urls.count(b"\n") == len(URLS)
    harmless(urls)
    print("urls: ok")

    output = run("list", "-c", folder, "--format", "json", "--columns", columns)
    harmless(output)
    assert [entry["url"] for entry in json.loads(output)["entries"]] == URLS
    assert [entry["key"] for entry in json.loads(output)["entries"]] == URLS
    assert [entry["user_info:k"] for entry in json.loads(output)["entries"]] == URLS
    assert [entry["user_info:\x9b"] for entry in json.loads(output)["entries"]] == URLS
    assert [entry["user_info:n"][0][url[-40:]] for url, entry in zip(URLS, json.loads(output)["entries"])] == URLS
    print("json: ok")
    output = run("list", "-c", folder, "--format", "ndjson")
    harmless(output)
    assert [json.loads(line)["url"] for line in output.decode().split("\n")[:-1]] == URLS
    print("ndjson: ok")

    harmless(run("show", "-c", folder, *map(str, range(1, len(URLS) + 1))))
    print("show: ok")

    # What `urls` writes, `--url-file` finds again.
    named = [url for url in URLS if "://" in url]
    found = run("list", "-c", folder, "--url-file", "-", "--count", input=urls)
    assert int(found) >= len(named), found
    print("url file: ok")
finally:
    shutil.rmtree(folder)
