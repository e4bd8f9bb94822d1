"""Compares `usage --savings` with an evaluation of its own over `list --format json`, and with `explain`.

Whether an entry is fresh, how old it is and what its lifetime is are columns of `list`; what follows from them and from the header
fields is decided here again.
"""

import collections
import itertools
import json
import re
import sqlite3

from scratch import export, make, path, run

TIMES = ["2025-06-01T00:00:00Z", "2025-12-20T00:00:00Z", "2026-01-01T00:00:00Z"]
ENTRIES = 90
OUTCOMES = ["cached", "confirmed", "downloaded", "unknown"]
COLUMNS = ("id,host,size,status,method,freshness,validators,current-age,lifetime,request-headers,response-headers,proto-props,"
           "body-location")


def values(headers, name):
    return [value for key, value in headers or [] if key.lower() == name]


def directives(headers):
    """The directives of `Cache-Control`, the first of each name, with their values."""
    result = {}
    for item in ",".join(values(headers, "cache-control")).split(","):
        name, _, value = item.strip().partition("=")
        result.setdefault(name.strip().lower(), value.strip().strip('"'))
    return result


def outcome(entry):
    headers = entry["response_headers"]
    if entry["freshness"] is None or headers is None:
        return "unknown"
    if (entry["method"] or "GET") not in ("GET", "HEAD"):
        return "downloaded"
    # A stored response of this kind must not be used (RFC 9111 §5.2.2.5).
    if "no-store" in directives(headers):
        return "downloaded"
    vary = [name.strip() for name in ",".join(values(headers, "vary")).split(",") if name.strip()]
    if "*" in vary:
        return "downloaded"
    if vary and entry["request_headers"] is None and not entry["proto_props"]:
        return "unknown"
    validators = set(entry["validators"])
    lengths, coded = values(headers, "content-length"), values(headers, "content-encoding")
    if lengths and not coded and entry["size"] is not None and entry["size"] < int(lengths[0]) and entry["method"] != "HEAD":
        # Part of a body can be completed if it surely is of the same version.
        return "confirmed" if entry["size"] > 0 and validators & {"etag", "last-modified"} else "downloaded"
    control = directives(headers)
    asked = "confirmed" if validators else "downloaded"
    if "no-cache" in control and not control["no-cache"]:
        return asked
    if entry["freshness"] == "fresh":
        return "cached"
    stale = entry["current_age"] - (entry["lifetime"] or 0)
    window = control.get("stale-while-revalidate", "")
    if window and stale < int(window) and "must-revalidate" not in control:
        return "cached"
    return asked


def check(cache, at):
    entries = json.loads(run("list", "-c", cache, "--at", at, "--format", "json", "--columns", COLUMNS).stdout)["entries"]
    expected = collections.defaultdict(lambda: {name: {"entries": 0, "bytes": 0} for name in OUTCOMES})
    for entry in entries:
        for host in [entry["host"], "all of them"]:
            part = expected[host][outcome(entry)]
            part["entries"] += 1
            part["bytes"] += entry["size"] or 0
    report = json.loads(run("usage", "-c", cache, "--savings", "--at", at, "--format", "json").stdout)["savings"]
    found = {host.pop("host"): host for host in report["hosts"]}
    total = expected.pop("all of them")
    assert report["total"] == total, (cache, at, report["total"], total)
    assert found == expected and report["rest"] is None, (cache, at)
    sizes = [sum(part["bytes"] for part in host.values()) for host in found.values()]
    assert sizes == sorted(sizes, reverse=True), sizes
    # What is not named is summed up.
    cut = json.loads(run("usage", "-c", cache, "--savings", "--at", at, "--limit", "1", "--format", "json").stdout)["savings"]
    assert len(cut["hosts"]) == 1 and cut["rest"]["hosts"] == len(found) - 1 and cut["total"] == total, cut
    for name in OUTCOMES:
        for key in ["entries", "bytes"]:
            assert cut["hosts"][0][name][key] + cut["rest"][name][key] == total[name][key], cut
    page = run("report", "-c", cache, "--at", at, "--format", "markdown", "-o", "-").stdout.decode()
    rows = dict(re.findall(r"^\| (Cached|Confirmed|Downloaded|Unknown): (?!its header)[^|]*\| ([0-9,]+) \|", page, re.MULTILINE))
    assert {name.lower(): int(count.replace(",", "")) for name, count in rows.items()} == {
        name: total[name]["entries"] for name in OUTCOMES}, (rows, total)
    lines = run("explain", "-c", cache, "--all", "--platform", "rfc9111", "--at", at, "--format", "ndjson", status=None).stdout.splitlines()
    names = {"cache": "cached", "conditional": "confirmed", "load": "downloaded", "error": "downloaded", "unknown": "unknown"}
    explained = collections.Counter(names[json.loads(line)["policies"][0]["outcome"]] for line in lines)
    assert explained == collections.Counter({name: total[name]["entries"] for name in OUTCOMES}), (explained, total)
    return collections.Counter({name: total[name]["entries"] for name in OUTCOMES})


def apple(seed):
    faults = ["--faults", "undecodable,missing-bodies"] if seed % 2 else []
    cache = make(f"apple-{seed}", *faults, "--no-large-bodies", entries=ENTRIES, seed=seed)
    if seed % 2 == 0:
        # Some of the newest bodies are only a part.
        database = sqlite3.connect(f"{cache}/Cache.db")
        database.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = substr(receiver_data, 1, entry_ID % 3) "
                         "WHERE isDataOnFS = 0 AND entry_ID % 9 = 0")
        database.commit()
        database.close()
    return cache


def foundation(seed):
    return make(f"foundation-{seed}", "--format", "foundation", "--no-large-bodies", entries=ENTRIES * 2 // 3, seed=seed)


def archive(seed):
    return export(path(f"apple-{seed}"), f"{seed}.tar.gz")


def test_savings(thorough):
    """The savings of caches of both kinds and of archives are those of this evaluation, of 'report' and of 'explain'."""
    totals, turns = collections.Counter(), itertools.count()
    for seed in range(4 if thorough else 2):
        for kind in [apple, foundation] if seed % 2 else [apple, foundation, archive]:
            totals.update(check(kind(seed), TIMES[next(turns) % len(TIMES)]))
    assert all(totals[name] for name in OUTCOMES), totals
