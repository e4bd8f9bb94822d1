"""The churn of a cache: how many entries it has ever stored, in `usage`, `report` and `metrics`."""

import glob
import json
import os
import sqlite3

import pytest

from scratch import make, path, run

DAY = 86_400


@pytest.fixture
def cache():
    """A cache that stores 100 entries a day, and has removed all but the last 500 of 4,000."""
    folder = make("cache", "--no-large-bodies", entries=500)
    database = sqlite3.connect(os.path.join(folder, "Cache.db"))
    ids = [row for row, in database.execute("SELECT entry_ID FROM cfurl_cache_response ORDER BY 1 DESC")]
    for row in ids:
        for table in ["response", "blob_data", "receiver_data"]:
            database.execute(f"UPDATE cfurl_cache_{table} SET entry_ID = ? WHERE entry_ID = ?", (row + 3_500, row))
    database.execute("UPDATE cfurl_cache_response SET time_stamp = datetime('2026-01-01', (entry_ID * 864) || ' seconds')")
    database.execute("UPDATE sqlite_sequence SET seq = 4000 WHERE name = 'cfurl_cache_response'")
    database.commit()
    yield database
    database.close()


def usage(*words):
    return json.loads(run("usage", path("cache"), "--format", "json", *words, status=0).stdout)


def test_an_entry_lasts_as_long_as_its_place(cache):
    document = usage()
    estimate = document["churn"].pop("estimate")
    assert document["churn"] == {"stored": 4000, "kept": 500, "removed": 3500}
    assert estimate["entries_per_day"] == 100 and estimate["lifetime_seconds"] == 5 * DAY
    assert abs(estimate["body_bytes_per_day"] - document["body_bytes"] / 5) <= 1
    assert (estimate["from"], estimate["to"]) == ("2026-02-05T00:14:24Z", "2026-02-10T00:00:00Z")
    text = run("usage", path("cache"), status=0).stdout.decode()
    assert "\nChurn    4,000 stored, 500 kept; about 100 a day (" in text and "), an entry lasts about 5 days\n" in text
    metrics = run("metrics", path("cache"), status=0).stdout.decode().splitlines()
    assert "# TYPE urlcache_stored_entries_total counter" in metrics
    assert [line.split()[-1] for line in metrics if line.startswith("urlcache_stored_entries_total{")] == ["4000"]
    for format in ["html", "markdown"]:
        report = run("report", path("cache"), "--format", format, "-o", "-", status=0).stdout.decode()
        assert "Lifetime of an entry" in report and "about 5 days" in report and "4,000" in report


@pytest.mark.parametrize("seq", [3_999, 0, -1, -2 ** 63, 2 ** 63 - 1, 2 ** 53 + 1, "many", None, 1.5])
def test_a_counter_that_cannot_be_right_is_unknown(cache, seq):
    cache.execute("UPDATE sqlite_sequence SET seq = ?", (seq,))
    cache.commit()
    assert usage()["churn"] is None
    assert "Churn" not in run("usage", path("cache"), status=0).stdout.decode()
    assert "stored_entries_total" not in run("metrics", path("cache"), status=0).stdout.decode()
    assert "Lifetime of an entry" not in run("report", path("cache"), "--format", "markdown", "-o", "-", status=0).stdout.decode()


@pytest.mark.parametrize("times", ["x'00'", "'never'", "'2026-01-01 00:00:00'", "datetime('2026-01-01', -entry_ID || ' days')",
                                   "datetime('2026-01-01', (entry_ID * 100) || ' seconds')", "'9999-12-31 23:59:59'"])
def test_times_that_show_no_rate_leave_it_out(cache, times):
    cache.execute(f"UPDATE cfurl_cache_response SET time_stamp = {times}")
    cache.commit()
    assert usage()["churn"] == {"stored": 4000, "kept": 500, "removed": 3500, "estimate": None}
    assert "Churn    4,000 stored, 500 kept; rate unknown\n" in run("usage", path("cache"), status=0).stdout.decode()


def test_a_cache_that_removed_nothing_has_no_lifetime():
    make("cache", "--no-large-bodies", entries=50)
    churn = usage()["churn"]
    assert (churn["stored"], churn["removed"]) == (50, 0) and churn["estimate"]["lifetime_seconds"] is None
    assert "Churn" not in run("usage", path("cache"), status=0).stdout.decode()
    # The counter counts on when everything is removed.
    run("purge", path("cache"), "--all", "--max-delete", "100%", "--yes", status=0)
    assert usage()["churn"] == {"stored": 50, "kept": 0, "removed": 50, "estimate": None}
    assert "Churn    50 stored, none kept; rate unknown\n" in run("usage", path("cache"), status=0).stdout.decode()


def test_a_foundation_cache_does_not_count():
    make("cache", "--format", "foundation", entries=20)
    assert usage()["churn"] is None
    assert "Churn" not in run("usage", path("cache"), status=0).stdout.decode()


def test_apple_caches(cachedb):
    """In caches as Apple systems write them, the numbers are those of SQLite, and no app has lost its counter."""
    known = 0
    for file in sorted(glob.glob(os.path.join(cachedb, "*/Cache.db"))):
        result = run("usage", file, "--format", "json", status=None)
        if result.returncode != 0:
            continue
        churn = json.loads(result.stdout)["churn"]
        if not churn:
            continue
        database = sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)
        if not os.path.exists(file + "-wal"):
            rows = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'cfurl_cache_response'").fetchall()
            assert churn["stored"] == (rows[0][0] if rows else 0), file
        database.close()
        known += 1
    assert known > 5
