"""Checks that all commands count the same entries as fresh, stale, without a lifetime, and unknown.

Whether these are the right ones, `test_freshness.py` checks.
"""

import collections
import datetime
import json
import os
import plistlib
import re
import sqlite3
import subprocess

import pytest

import samples
from products import tool
from scratch import make

STATES = ["fresh", "stale", "no-lifetime", "unknown"]
WORDS = {"fresh": "fresh", "stale": "stale", "no lifetime": "no-lifetime", "unknown": "unknown"}
TIMES = ["2025-06-01T00:00:00Z", "2025-12-20T00:00:00Z", "2026-02-01T12:34:56Z"]
FAULTS = ["", "undecodable", "missing-bodies", "orphan-files", "undecodable,missing-bodies,orphan-files"]
EXPIRY = "Counted Expiry"


def run(cache, verb, *options, statuses=(0,)):
    result = subprocess.run([tool, verb, "-c", cache, *options], capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode in statuses, (verb, cache, options, result.returncode, result.stderr[:500])
    return result.stdout.decode(), result.returncode


def counts_of(states):
    counter = collections.Counter(states)
    assert set(counter) <= set(STATES), counter
    return [counter[state] for state in STATES]


def number(text):
    return int(text.replace(",", ""))


def counted(cache, given, *options):
    return int(run(cache, "list", "--count", *given, *options)[0])


def by_list_options(cache, given):
    known = [counted(cache, given, f"--{state}") for state in STATES[:3]]
    total = counted(cache, given)
    assert counted(cache, given, "--fresh", "--stale", "--no-lifetime") == sum(known)
    return known + [total - sum(known)]


def by_condition(cache, given):
    known = [counted(cache, given, "--where", f'freshness = "{state}"') for state in STATES[:3]]
    return known + [counted(cache, given) - sum(known)]


def by_columns(cache, given):
    lines = run(cache, "list", *given, "--format", "ndjson", "--columns", "id,freshness,ttl")[0].splitlines()
    entries = [json.loads(line) for line in lines]
    for entry in entries:
        ttl = entry["ttl"]
        state = None if ttl is None else "fresh" if ttl > 0 else "stale"
        assert entry["freshness"] == state or (ttl is None and entry["freshness"] in (None, "no-lifetime")), entry
    return counts_of(entry["freshness"] or "unknown" for entry in entries)


def by_csv(cache, given):
    lines = run(cache, "list", *given, "--format", "csv", "--columns", "freshness")[0].splitlines()[1:]
    return counts_of(line or "unknown" for line in lines)


def by_table(column):
    def count(cache, given):
        lines = run(cache, "list", *given, "--columns", f"{column},id")[0].splitlines()[1:]
        return counts_of(next(WORDS[word] for word in WORDS if line.startswith(word)) for line in lines)

    return count


def by_usage(cache, given):
    groups = json.loads(run(cache, "usage", "--by", "freshness", *given, "--format", "json")[0])["groups"]
    return counts_of(group["key"] or "unknown" for group in groups for _ in range(group["entries"]))


def by_usage_table(cache, given):
    text = run(cache, "usage", "--by", "freshness", *given)[0]
    rows = re.findall(r"^(fresh|stale|no lifetime|unknown) +([0-9,]+) ", text, re.MULTILINE)
    return counts_of(WORDS[word] for word, count in rows for _ in range(number(count)))


def by_explanations(cache, given):
    output, status = run(cache, "explain", "--all", *given, "--format", "ndjson", statuses=(0, 1, 3))
    entries = [json.loads(line) for line in output.splitlines()]
    counts = counts_of(entry["verdict"] for entry in entries)
    for entry in entries:
        freshness = entry["freshness"]
        assert (freshness is None) == (entry["verdict"] == "unknown"), entry
        assert freshness is None or freshness["fresh"] == (entry["verdict"] == "fresh"), entry
        assert freshness is None or entry["verdict"] != "no-lifetime" or freshness["lifetime_seconds"] is None, entry
    protocol = [entry["policies"][0]["outcome"] for entry in entries]
    assert status == (1 if counts[1] or counts[2] else 3 if counts[3] or "unknown" in protocol else 0), (cache, counts, status)
    return counts


def by_explanation_sums(cache, given):
    sums = json.loads(run(cache, "explain", "--all", *given, "--format", "json", statuses=(0, 1, 3))[0])
    return [sums[state.replace("-", "_")] for state in STATES]


def by_explanation_titles(cache, given):
    text = run(cache, "explain", "--all", *given, statuses=(0, 1, 3))[0]
    titles = re.findall(r"^(FRESH|STALE|NO LIFETIME|UNKNOWN)(?: for [^:]*(?:, (?:until|since) [^ ]*)?)?: [A-Za-z]", text, re.MULTILINE)
    return counts_of(WORDS[title.lower()] for title in titles)


def by_report(cache, given):
    text = run(cache, "report", *given, "--format", "markdown", "-o", "-")[0]
    if "\n| Freshness |" not in text:
        assert run(cache, "list", "--count")[0] == "0\n", cache
        return [0] * len(STATES)
    # The table of savings comes after this one, and has a row of one of these names, too.
    text = text[:text.index("\n\n", text.index("\n| Freshness |"))]
    rows = dict(re.findall(
        r"^\| (Fresh|Stale, with a validator|Stale, without a validator|No lifetime|Unknown): [^|]*\| ([0-9,]+) \|", text,
        re.MULTILINE))
    assert len(rows) == 5, (cache, rows)
    return of_report({title: number(count) for title, count in rows.items()})


def by_page(cache, given):
    text = run(cache, "report", *given, "-o", "-")[0]
    if "</i>Fresh <" not in text:
        # An empty cache has no such table.
        assert run(cache, "list", "--count")[0] == "0\n", cache
        return [0] * len(STATES)
    rows = dict(re.findall(
        r"></i>(Fresh|Stale, with a validator|Stale, without a validator|No lifetime|Unknown) <span[^>]*>[^<]*</span></th>"
        r"<td>([0-9,]+)</td>", text))
    assert len(rows) == 5, (cache, rows)
    return of_report({title: number(count) for title, count in rows.items()})


def of_report(rows):
    stale = rows["Stale, with a validator"] + rows["Stale, without a validator"]
    return [rows["Fresh"], stale, rows["No lifetime"], rows["Unknown"]]


def by_metrics(cache, given):
    text = run(cache, "metrics", *given)[0]
    found = dict(re.findall(r'^urlcache_entries\{cache=".*",state="([a-z-]+)"\} ([0-9]+)$', text, re.MULTILINE))
    assert set(found) == set(STATES), found
    return [int(found[state]) for state in STATES]


def by_removal(cache, given):
    """The entries that purge would remove, and those that it would keep for reasons other than their freshness."""
    result = []
    for state in STATES[:3]:
        plan = json.loads(run(cache, "purge", f"--{state}", "-n", *given, "--format", "json", statuses=(0, 1))[0])
        reasons = {item["reason"]: item["entries"] for item in plan["kept"].get("reasons", [])}
        result.append(plan["removed"]["entries"] + reasons.get("not-a-regular-file", 0))
        unknown = reasons.get("unknown-freshness", 0)
    return result + [unknown]


READERS = {
    "list --count --fresh, …": by_list_options, "list --where": by_condition, "list --columns freshness": by_columns,
    "list --format csv": by_csv, "list, table, freshness": by_table("freshness"), "list, table, ttl": by_table("ttl"),
    "usage --by freshness": by_usage, "usage, table": by_usage_table, "explain --format ndjson": by_explanations,
    "explain --format json": by_explanation_sums, "explain": by_explanation_titles,
    "report --format markdown": by_report, "report": by_page, "metrics": by_metrics, "purge -n": by_removal,
}


def check(cache, at, rule, turn, thorough):
    """Compares the counts of all commands, or of some, which take turns."""
    given = ["--at", at] + (["--user-info-expiry", rule] if rule else [])
    counts = {}
    for number, (name, count) in enumerate(READERS.items()):
        if not thorough and name != "list --columns freshness" and number % 5 != turn % 5:
            continue
        # A cache that cannot be changed has no plan.
        if name == "purge -n" and not can_change(cache):
            continue
        counts[name] = count(cache, given)
    first = next(iter(counts.values()))
    assert len(counts) > 2 and all(found == first for found in counts.values()), (cache, given, counts)


def can_change(cache):
    result = subprocess.run([tool, "purge", "-c", cache, "--fresh", "-n"], capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode in (0, 65), result
    return result.returncode == 0


def attach_dates(cache):
    """Attaches dates to every third entry, from before and after the moments of these tests."""
    database = sqlite3.connect(f"{cache}/Cache.db")
    rows = [row for row, in database.execute("SELECT entry_ID FROM cfurl_cache_response ORDER BY 1")][::3]
    for index, row in enumerate(rows):
        date = datetime.datetime(2025, 5, 1) + datetime.timedelta(days=7 * (index % 40))
        info = plistlib.dumps({EXPIRY: date}, fmt=plistlib.FMT_BINARY)
        database.execute("UPDATE cfurl_cache_blob_data SET user_info = ? WHERE entry_ID = ?", (info, row))
    database.commit()
    database.close()


def made_up(number, thorough):
    """A made-up cache, and whether its app has attached dates to entries."""
    foundation = number % 2 == 1
    faults = FAULTS[number // 2 % len(FAULTS)]
    words = ["--format", "foundation"] if foundation else ["--schema", ("203", "202")[number // 4 % 2]]
    words += ["--faults", faults] if faults else []
    cache = make(f"made-up-{number}", *words, "--no-large-bodies", entries=20 + 37 * number % 200 // (1 if thorough else 3), seed=number)
    has_dates = not foundation and number % 4 == 0
    if has_dates:
        attach_dates(cache)
    return cache, has_dates


def pytest_generate_tests(metafunc):
    thorough = metafunc.config.getoption("thorough")
    if "number" in metafunc.fixturenames:
        metafunc.parametrize("number", range(50 if thorough else 10))


def moments(number, thorough):
    return TIMES if thorough else [TIMES[number % len(TIMES)]]


def test_made_up(number, thorough):
    """All commands count the same entries of a made-up cache as fresh, stale, without a lifetime and unknown."""
    cache, has_dates = made_up(number, thorough)
    for at in moments(number, thorough):
        check(cache, at, None, number // 2, thorough)
        if has_dates:
            check(cache, at, f"{EXPIRY}=3d", number // 2 + 1, thorough)


def test_variety(thorough):
    """The made-up caches have entries in each of these states, and some that only the expiry of the app makes stale."""
    total, dropped = collections.Counter(), 0
    for number in range(10):
        cache, has_dates = made_up(number, thorough)
        given = ["--at", TIMES[number % len(TIMES)]]
        plain = by_columns(cache, given)
        total.update(dict(zip(STATES, plain)))
        if has_dates:
            dropped += plain[0] - by_columns(cache, [*given, "--user-info-expiry", f"{EXPIRY}=3d"])[0]
    assert all(total[state] for state in STATES) and dropped, (total, dropped)


@pytest.mark.parametrize("sample", samples.each(), indirect=True)
def test_apple_cache(sample, thorough):
    """All commands count the same entries of a cache as Apple systems write it as fresh, stale, without a lifetime and unknown."""
    cache, names = samples.copy(sample, "real"), sorted(os.listdir(os.path.dirname(sample)))
    number = names.index(os.path.basename(sample))
    if os.path.basename(sample).startswith("schema-"):
        for at in moments(1, thorough):
            check(cache, at, None, number, thorough)
            if thorough or number % 3 == 0:
                check(cache, at, "Cached Date=60", number + 1, thorough)
    else:
        run(cache, "list", "--count", statuses=(65,))


def test_only_json_counts_all_entries_of_a_large_cache_after_a_page_of_them():
    cache = make("Counted Page", "--no-large-bodies", entries=20_100)

    def summary(*options):
        result = subprocess.run([tool, "list", "-c", cache, *options], capture_output=True, text=True, check=True)
        return result.stderr.strip()

    assert re.fullmatch(r"50 shown of over 20,000 entries; \S+ KiB shown", summary("--limit", "50"))
    assert re.match(r"20,050 shown of over 20,050 entries; ", summary("--limit", "20050"))
    assert re.match(r"20,100 of 20,100 entries, ", summary("--limit", "20100"))
    assert re.match(r"1 of over 20,000 entries, ", summary("7"))
    assert re.match(r"3 shown of 20,100 entries, largest first; ", summary("--limit", "3", "--sort=-size"))
    selected = counted(cache, ["--status", "200"])
    assert re.match(f"3 shown of {selected:,} selected, 20,100 in all; ", summary("--limit", "3", "--status", "200"))
    document = json.loads(run(cache, "list", "--limit", "50", "--json")[0])
    assert [document[name] for name in ("shown", "selected", "total")] == [50, 20_100, 20_100]
