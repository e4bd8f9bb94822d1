"""Compares lifetimes, ages and validators with a second reading of the RFCs, which takes them from the property lists.

This is a second reading of RFC 9111 sections 4.2 and 5, and of RFC 9110 section 8.8.
"""

import base64
import calendar
import functools
import glob
import json
import os
import plistlib
import re
import sqlite3
import subprocess
import time

import pytest

import samples
from products import maker, tool

COLUMNS = "id,freshness,ttl,lifetime,lifetime-source,current-age,expires-at,validators"
HEURISTIC = {200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501}
TIMES = ["2025-06-01T00:00:00Z", "2025-12-01T00:00:00Z", "2026-02-01T12:34:56Z"]


def seconds(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def date(text):
    """The time of a date in the form that is sent today; `None` for all else."""
    try:
        return calendar.timegm(time.strptime(text, "%a, %d %b %Y %H:%M:%S GMT"))
    except ValueError:
        return None


def fields(archived):
    """All lines of each field, by its name in small letters."""
    archived = dict(archived)
    arrays = archived.pop("__hhaa__", None)
    arrays = plistlib.loads(base64.b64decode(arrays)) if arrays else {}
    return {name.lower(): arrays.get(name, [value]) for name, value in archived.items()}


def evaluated(status, lines, stored, now):
    """An entry, as `list` is to write it."""
    first = {name: values[0].strip() for name, values in lines.items()}
    control = [part.strip().lower() for value in lines.get("cache-control", []) for part in value.split(",")]
    sent = date(first.get("date", ""))
    made = stored if sent is None else sent
    modified = date(first.get("last-modified", ""))
    max_age = [part[8:] for part in control if part.startswith("max-age=")]
    if max_age:
        source = "max-age" if max_age[0].isdigit() else "invalid-max-age"
        lifetime = int(max_age[0]) if max_age[0].isdigit() else 0
    elif "expires" in first:
        expires = date(first["expires"])
        source = "invalid-expires" if expires is None else "expires"
        lifetime = 0 if expires is None else max(0, expires - made)
    elif modified is not None and (status in HEURISTIC or "public" in control):
        source, lifetime = "heuristic", max(0, made - modified) // 10
    else:
        source, lifetime = "none", None
    age_value = first.get("age", "").split(",")[0].strip()
    initial = max(0, stored - made, int(age_value) if age_value.isdigit() else 0)
    age = initial + max(0, now - stored)
    tag = first.get("etag")
    words = []
    if tag:
        words.append("etag" if re.fullmatch(r'"[^"]*"', tag) else "weak-etag")
    if modified is not None:
        is_strong = sent is not None and sent - 60 >= modified
        words.append("last-modified" if is_strong else "weak-last-modified")
    return {
        "freshness": "no-lifetime" if lifetime is None else "fresh" if lifetime > age else "stale",
        "ttl": None if lifetime is None else lifetime - age,
        "lifetime": lifetime, "lifetime_source": source, "current_age": age,
        "expires_at": None if lifetime is None else time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime(stored + lifetime - initial)),
        "validators": words,
    }


def entries(cache):
    """The parts of the entries that freshness depends on, by their ids; `None` if they are not known."""
    database = sqlite3.connect(f"file:{cache}/Cache.db?mode=ro", uri=True)
    rows = database.execute(
        "SELECT entry_ID, response_object FROM cfurl_cache_response LEFT JOIN cfurl_cache_blob_data USING (entry_ID)")
    result = {}
    for row, archive in rows.fetchall():
        try:
            array = plistlib.loads(archive)["Array"]
            result[row] = (array[3], fields(array[4]), int((array[1] + 978_307_200) // 1))
        except (plistlib.InvalidFileException, TypeError, KeyError, IndexError):
            result[row] = None
    database.close()
    return result


def run(cache, verb, *options):
    result = subprocess.run([tool, verb, "-c", cache, *options], capture_output=True)
    assert result.returncode == 0, (verb, options, result)
    return result.stdout


def ids(cache, *options):
    lines = run(cache, "list", "--format", "ndjson", "--columns", "id", *options).splitlines()
    return {json.loads(line)["id"] for line in lines}


@functools.cache
def judged(cache, at):
    """The entries of a cache that does not change, as 'list' is to write them at a time."""
    unknown = dict.fromkeys(COLUMNS.replace("-", "_").split(",")[1:])
    return {row: evaluated(*parts, seconds(at)) if parts else unknown for row, parts in entries(cache).items()}


def check_columns(cache, at):
    expected = judged(cache, at)
    lines = run(cache, "list", "--at", at, "--format", "ndjson", "--columns", COLUMNS).splitlines()
    found = {entry.pop("id"): entry for entry in map(json.loads, lines)}
    for row in expected:
        assert found[row] == expected[row], (cache, at, row, found[row], expected[row])
    assert len(found) == len(expected)


def check_explanations(cache, at):
    expected = judged(cache, at)
    result = subprocess.run(
        [tool, "explain", "-c", cache, "--all", "--platform", "rfc9111", "--at", at, "--format", "ndjson"],
        capture_output=True)
    verdicts = set()
    found = {}
    for line in result.stdout.splitlines():
        entry = json.loads(line)
        found[entry["id"]] = entry
        verdicts.add(entry["verdict"])
        if entry["policies"][0]["outcome"] == "unknown":
            verdicts.add("unknown")
        wanted = expected[entry["id"]]
        freshness = entry["freshness"]
        if freshness is None:
            assert wanted["freshness"] is None and entry["verdict"] == "unknown", (at, entry)
            continue
        assert freshness["fresh"] == (wanted["freshness"] == "fresh"), (at, entry)
        assert entry["verdict"] == wanted["freshness"], (at, entry)
        for key, value in [("lifetime_seconds", wanted["lifetime"]), ("lifetime_source", wanted["lifetime_source"]),
                           ("current_age_seconds", wanted["current_age"]), ("expires_at", wanted["expires_at"])]:
            assert freshness[key] == value, (at, key, entry, wanted)
        validators = [("" if item["strong"] else "weak-") + item["type"] for item in entry["validators"]]
        assert validators == wanted["validators"], (at, entry, wanted)
        assert entry["needs_revalidation"] or entry["reusable"] or entry["vary"]["match"] in (
            "never", "differs", "unknown") or {"other-method", "response-no-store", "status-not-understood"} & {item["code"] for item in entry["reasons"]}, entry
        names = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
        if entry["conditional_request"]["purpose"] == "validation":
            sent = entry["conditional_request"]["headers"]
            assert all(sent[names[item["type"]]] == item["value"] for item in entry["validators"]), entry
    assert found.keys() == expected.keys()
    assert result.returncode == (1 if verdicts & {"stale", "no-lifetime"} else 3 if "unknown" in verdicts else 0), (at, verdicts)


def check_selection(cache, at):
    known = {row: entry for row, entry in judged(cache, at).items() if entry["freshness"]}

    def select(test):
        return {row for row, entry in known.items() if test(entry)}

    def strong(entry):
        return not {"etag", "last-modified"}.isdisjoint(entry["validators"])

    cases = {
        "--fresh": lambda entry: entry["freshness"] == "fresh",
        "--stale": lambda entry: entry["freshness"] == "stale",
        "--no-lifetime": lambda entry: entry["freshness"] == "no-lifetime",
        "--stale --no-lifetime": lambda entry: entry["freshness"] != "fresh",
        "--expires-within 12h": lambda entry: 0 < (entry["ttl"] or 0) <= 43_200,
        "--validator none": lambda entry: not entry["validators"],
        "--validator weak": lambda entry: entry["validators"] and not strong(entry),
        "--validator strong": strong,
        "--validator etag": lambda entry: any("etag" in word for word in entry["validators"]),
        "--validator last-modified": lambda entry: any("modified" in word for word in entry["validators"]),
        "--stale --validator none": lambda entry: entry["freshness"] == "stale" and not entry["validators"],
    }
    sizes = {}
    for options, test in cases.items():
        found = ids(cache, "--at", at, *options.split())
        assert found == select(test), (at, options, found ^ select(test))
        sizes[options] = len(found)
    plan = json.loads(run(cache, "purge", "--stale", "--validator", "none", "-n", "--at", at, "--format", "json"))
    assert {entry["id"] for entry in plan["entries"]} == select(cases["--stale --validator none"])
    return sizes


@pytest.fixture(scope="module", params=["202", "203"])
def cache(request, tmp_path_factory, thorough):
    """A cache of each schema that no test changes."""
    folder = str(tmp_path_factory.mktemp("freshness") / request.param)
    subprocess.run([maker, "--schema", request.param, "--entries", "600" if thorough else "200", "--seed", "3", "--faults", "undecodable",
                    "--no-large-bodies", folder], check=True)
    return folder


@pytest.mark.parametrize("at", TIMES)
def test_freshness_columns(cache, at):
    """The columns of 'list' about freshness contain what the second reading finds."""
    check_columns(cache, at)


@pytest.mark.parametrize("at", TIMES)
def test_explanations(cache, at):
    """With the rules of RFC 9111 alone, 'explain' reports the same freshness for each entry, and what follows from it."""
    check_explanations(cache, at)


def test_selection(cache):
    """Each option about freshness selects exactly the entries for which it holds."""
    total = {}
    for at in TIMES:
        for options, size in check_selection(cache, at).items():
            total[options] = total.get(options, 0) + size
    assert all(total.values()), total


@pytest.mark.parametrize("at", TIMES)
def test_usage_by_freshness(cache, at):
    """'usage --by freshness' counts the entries of each kind."""
    groups = json.loads(run(cache, "usage", "--by", "freshness", "--at", at, "--format", "json"))["groups"]
    counts = {}
    for entry in judged(cache, at).values():
        counts[entry["freshness"]] = counts.get(entry["freshness"], 0) + 1
    assert {group["key"]: group["entries"] for group in groups} == counts, (groups, counts)


@pytest.mark.parametrize("at", TIMES)
def test_stale_first(cache, at):
    """'--order stale-first' removes stale entries first, then those without a lifetime, then fresh ones, each by age."""
    expected = judged(cache, at)
    rank = {"stale": 0, "no-lifetime": 1, "fresh": 2, None: 3}
    stored = {row: parts[2] if parts else float("inf") for row, parts in entries(cache).items()}
    order = sorted(expected, key=lambda row: (rank[expected[row]["freshness"]], stored[row], row))
    for count in range(20, len(order), 97):
        plan = json.loads(run(
            cache, "enforce", "--max-entries", str(len(order) - count), "--order", "stale-first", "-n", "--at", at,
            "--format", "json"))
        assert {entry["id"] for entry in plan["entries"]} == set(order[:count]), count


def test_apple_caches(cachedb, thorough):
    """The columns and the explanations of caches as Apple systems write them are those of the second reading, too."""
    count = 0
    for number, database in enumerate(sorted(glob.glob(f"{cachedb}/*/Cache.db"))):
        folder = samples.copy(os.path.dirname(database), os.path.basename(os.path.dirname(database)))
        if subprocess.run([tool, "list", "-c", folder, "--count"], capture_output=True).returncode == 0:
            for at in TIMES if thorough else [TIMES[number % len(TIMES)]]:
                check_columns(folder, at)
                check_explanations(folder, at)
                count += len(judged(folder, at))
    assert count > 0
