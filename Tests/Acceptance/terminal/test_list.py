"""The table of `list` on terminals: no line is wider than the terminal, and none is wrapped, by the judgement of pyte."""

import os
import sqlite3

import pytest

import apple_store
import scratch
import terminal
import worlds

WIDTHS = [60, 80, 120, 200]
HOSTILE = [
    "https://例え.example/" + "漢字" * 60, "https://a.example/" + "😀" * 80, "https://b.example/" + "e\u0301" * 100,
    "https://한국.example/" + "한글" * 50, "https://c.example/" + "ｗｉｄｅ" * 40, "https://d.example/\x1b[31mred\x1b[0m\u202e" + "x" * 100,
    "https://e.example/" + "\u1112\u1161\u11ab" * 50, "https://f.example/" + "☕⌚🫠🇩🇪" * 30, "https://g.example/" + "a" * 5_000,
]


def assert_fits(cache, columns, *options):
    seen, messages = terminal.run("list", "-c", cache, *options, columns=columns, streams=["stdout"])
    assert seen.status == 0, (seen.written, messages)
    assert len(seen.rows) == len(seen.lines), seen.rows[:5]
    return seen


@pytest.mark.parametrize("columns", WIDTHS)
def test_apple_caches_fit(columns, cachedb):
    shown, longest = 0, 0
    for name in sorted(os.listdir(cachedb)):
        cache = os.path.join(cachedb, name)
        seen, messages = terminal.run("list", cache, columns=columns, streams=["stdout"])
        assert (seen.status == 0) == name.startswith("schema"), (name, messages)
        # A line that is longer than the terminal takes two rows.
        assert len(seen.rows) == len(seen.lines), (name, seen.rows[:5])
        # The rows are those of the cache, and the longest use the terminal.
        if seen.status == 0:
            entries = scratch.run("list", cache, "--format", "urls").stdout.splitlines()
            assert len(seen.rows) == len(entries) + 1
            shown += len(entries)
            longest = max(longest, *map(len, seen.rows))
    # No line of these samples needs 200 columns.
    assert shown > 100 and (longest == columns or columns == 200)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("format", ["apple", "foundation"])
def test_made_up_caches_fit(format, columns):
    cache = scratch.make("cache", "--format", format, entries=300)
    seen = assert_fits(cache, columns)
    assert seen.rows[0].split() == ["ID", "AGE", "SIZE", "STATUS", "FRESHNESS", "URL"]
    assert len(seen.rows) == 301
    # What is left to the URL is enough to tell entries apart, and is used.
    assert all("http" in row for row in seen.rows[1:])
    assert max(map(len, seen.rows)) == columns or columns == 200


@pytest.mark.parametrize("columns", [60, 61, 67, 80, 120, 200])
def test_wide_and_combining_characters_fit(columns):
    os.mkdir(scratch.path("cache"))
    database = apple_store.create(scratch.path("cache"))
    for number, url in enumerate(HOSTILE, 1):
        database.execute("INSERT INTO cfurl_cache_response VALUES(?,0,0,0,?,'2025-01-01 00:00:00',NULL)", (number * 1_000_000_007, url))
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES(?,0,?)", (number * 1_000_000_007, bytes(number * 1_000)))
    database.commit()
    database.close()
    seen = assert_fits(scratch.path("cache"), columns)
    assert len(seen.rows) == len(HOSTILE) + 1
    # Apart from the long and wide URLs, no id or size is cut.
    for number, row in enumerate(seen.rows[1:], 1):
        assert row.split()[0] == str(number * 1_000_000_007), row
    assert "\u001b[31m" not in "".join(seen.rows) and not any(cell.fg != "default" and "red" in cell.data
                                                            for cell in seen.screen.buffer[6].values())


def test_a_number_that_is_wider_than_its_column_stays_complete():
    # The first 256 rows decide about the widths, and later rows have longer ids.
    cache = scratch.make("cache", entries=400)
    with sqlite3.connect(os.path.join(cache, "Cache.db")) as database:
        for table in ("cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"):
            database.execute(f"UPDATE {table} SET entry_ID = entry_ID + 1000000000000 WHERE entry_ID > 390")
    seen = assert_fits(cache, 80)
    assert [row.split()[0] for row in seen.rows[-10:]] == [str(1_000_000_000_000 + number) for number in range(391, 401)]


def test_pipes_get_complete_urls():
    cache = scratch.make("cache", entries=60)
    urls = scratch.run("list", "-c", cache, "--format", "urls").stdout.decode().splitlines()
    rows = scratch.run("list", "-c", cache).stdout.decode().splitlines()
    assert rows[0].split() == ["ID", "AGE", "SIZE", "STATUS", "FRESHNESS", "URL"]
    assert [row.split()[-1] for row in rows[1:]] == urls and max(map(len, urls)) > 60


def test_wide_shows_more_columns_and_complete_urls():
    cache = scratch.make("cache", entries=60)
    urls = scratch.run("list", "-c", cache, "--format", "urls").stdout.decode().splitlines()
    seen, _ = terminal.run("list", "-c", cache, "--wide", columns=80, streams=["stdout"])
    header, *rows = [line.decode() for line in seen.lines]
    assert header.replace("\x1b[1m", "").replace("\x1b[0m", "").split() == [
        "ID", "STORED", "FIRST", "STORED", "AGE", "TTL", "STATUS", "METHOD", "SIZE", "MIME", "URL"]
    assert [row.split()[-1] for row in rows] == urls
    result = scratch.run("list", "-c", cache, "--wide", "--format", "json", status=64)
    assert b"--columns" in result.stderr


def test_chosen_columns_are_shortened():
    cache = scratch.make("cache", entries=60)
    assert_fits(cache, 80, "--columns", "id,url,mime,cache-control,key")
    assert_fits(cache, 60, "--columns", "url,id,size")


def test_ellipses_are_ascii_in_an_ascii_locale():
    cache = scratch.make("cache", entries=60)
    for locale, mark, other in [("C", b"...", "…".encode()), ("de_DE.UTF-8", "…".encode(), b"...")]:
        seen, _ = terminal.run("list", "-c", cache, columns=80, streams=["stdout"], LC_ALL=locale)
        assert mark in seen.written and other not in seen.written and len(seen.rows) == len(seen.lines)
    for variables, mark in [({"LC_ALL": "C"}, b"#"), ({"LC_ALL": "", "LANG": "POSIX"}, b"#"), ({"LC_ALL": None}, "█".encode())]:
        seen, _ = terminal.run("usage", "-c", cache, "--by", "host", columns=200, streams=["stdout"], **variables)
        assert mark in seen.written, seen.written


@pytest.mark.parametrize("verb", [["list"], ["purge", "--all", "-n"], ["audit"], ["check"]])
def test_urls_keep_their_host(verb):
    """At 80 columns, a long URL is shortened in its path: the host and the end are left."""
    os.mkdir(scratch.path("cache"))
    hosts = [f"images-{number}.{'x' * 8}.example" for number in range(5)]
    worlds.apple(scratch.path("cache"), [
        worlds.Entry(f"https://{host}/{'path/' * 40}end{number}.json", stored=1_700_000_000) for number, host in enumerate(hosts)])
    seen, _ = terminal.run(*verb, scratch.path("cache"), columns=80, streams=["stdout"])
    rows = [row for row in seen.rows if "https://" in row]
    for number, host in enumerate(hosts):
        assert verb[0] in ("audit", "check") or any(f"https://{host}/…" in row and row.rstrip().endswith(".json") for row in rows), seen.rows
    assert all(any(host in row for host in hosts) for row in rows), rows
