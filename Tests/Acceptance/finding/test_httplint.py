"""What `audit` says about caching, compared with httplint, which decides by RFC 9111 as well."""

import collections
import glob
import json

import pytest

import samples
from scratch import make, path, run

LINTER = pytest.importorskip("httplint.message", reason="httplint: not here").HttpResponseLinter

# Notes of httplint, and the rule and detail that `audit` has for the same.
NOTES = {
    "STORE_PRIVATE_PUBLIC_CONFLICT": ("caching/contradictory", "public, private"),
    "FRESHNESS_NO_CACHE_NO_VALIDATOR": ("caching/weak-reuse", "no-cache, no validator"),
    "VARY_ASTERISK": ("caching/weak-reuse", "*"),
}
VARIES_BY_ANYTHING = NOTES["VARY_ASTERISK"]
LIFETIMES = {"caching/no-lifetime": "none", "caching/heuristic-lifetime": "heuristic"}
FIELDS = [
    ["Cache-Control: max-age=60"], ["Cache-Control: no-cache"], ["Cache-Control: private, public, max-age=9"], ["Cache-Control: public"],
    ["Expires: 0"], ["Expires: Fri, 19 Sep 2025 00:00:00 GMT"], ["Cache-Control: s-maxage=60"], ["Cache-Control: no-cache=\"Set-Cookie\""], [],
]
VALIDATORS = [[], ["ETag: \"a\""], ["Last-Modified: Thu, 18 Sep 2025 00:00:00 GMT"], ["Vary: *"], ["Vary: Origin", "ETag: W/\"b\""]]


def har(name):
    """An archive of responses with each combination of the fields."""
    date = "Fri, 19 Sep 2025 00:00:00 GMT"
    entries = []
    for number, fields in enumerate([one + other for one in FIELDS for other in VALIDATORS], 1):
        headers = [dict(zip(["name", "value"], field.split(": ", 1))) for field in [*fields, f"Date: {date}"]]
        request = {"method": "GET", "url": f"https://a.example/{number}", "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
                   "queryString": [], "headersSize": -1, "bodySize": 0}
        content = {"size": 2, "mimeType": "text/plain", "text": "hi"}
        response = {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [], "headers": headers, "content": content,
                    "redirectURL": "", "headersSize": -1, "bodySize": 2}
        entries.append({"startedDateTime": "2025-09-19T00:00:00.000Z", "time": 1, "request": request, "response": response, "cache": {},
                        "timings": {"send": 0, "wait": 1, "receive": 0}})
    with open(path(name), "w") as file:
        json.dump({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries}}, file)
    return path(name)


def linted(entry):
    """What httplint says: the lifetime, if it gets so far, and the notes that `audit` has rules for."""
    linter = LINTER(no_content=True)
    linter.process_response_topline(b"HTTP/1.1", str(entry["status"]).encode(), b"")
    linter.process_headers([(name.encode(), (value or "").encode()) for name, value in entry["response_headers"]])
    linter.finish_content(True)
    names = {type(note).__name__ for note in linter.notes}
    lifetime = None
    if not names & {"FRESHNESS_NO_CACHE", "FRESHNESS_NO_CACHE_NO_VALIDATOR"} and hasattr(linter.caching, "has_explicit_freshness"):
        lifetime = "explicit" if linter.caching.has_explicit_freshness else "heuristic" if linter.caching.has_heuristic_freshness else "none"
    return lifetime, {NOTES[name] for name in names & set(NOTES)}


def argument(entry, rule):
    """Why `audit` decides otherwise; `None` if nothing is known that speaks for it."""
    fields = collections.defaultdict(str)
    for name, value in entry["response_headers"]:
        fields[name.lower()] += f",{value}"
    control = fields["cache-control"].lower()
    if rule == "lifetime" and "s-maxage" in control and "max-age" not in control.replace("s-maxage", "") and "expires" not in fields:
        return "s-maxage is for shared caches (RFC 9111 §5.2.2.10), and URLCache is a private one"
    if rule == "lifetime" and not fields["last-modified"]:
        return "URLCache derives a lifetime only from Last-Modified, as RFC 9111 §4.2.2 suggests"
    if rule == "caching/weak-reuse" and "no-cache=" in control:
        return "with names of fields, no-cache is only about these fields (RFC 9111 §5.2.2.4)"
    return None


def compare(cache):
    """Returns the number of decisions, the differences with an argument, and those without."""
    findings = collections.defaultdict(set)
    document = json.loads(run("audit", cache, "--rule", "caching", "--format", "json", "--at", "2025-09-20T12:00:00Z", status=None).stdout)
    for finding in document["findings"]:
        findings[finding["id"]].add((finding["rule"], finding["detail"]))
    decisions, argued, differing = 0, collections.Counter(), []
    listed = run("list", cache, "--format", "ndjson", "--columns", "id,status,response-headers", status=None).stdout
    for entry in map(json.loads, listed.splitlines()):
        headers = entry["response_headers"]
        control = " ".join(value or "" for name, value in headers or [] if name.lower() == "cache-control").lower()
        # `audit` has other rules for errors and redirects, and none for what must not be stored.
        if not 200 <= (entry["status"] or 0) < 300 or not headers or "no-store" in control:
            continue
        (lifetime, notes), found = linted(entry), findings[entry["id"]]
        pairs = [("lifetime", lifetime, next((word for rule, word in LIFETIMES.items() if (rule, None) in found), "explicit"))] if lifetime else []
        # After `Vary: *`, httplint looks no further.
        wanted = {VARIES_BY_ANYTHING} if VARIES_BY_ANYTHING in notes else set(NOTES.values())
        pairs += [(each[0], each in notes, each in found) for each in sorted(wanted)]
        for rule, theirs, ours in pairs:
            decisions += 1
            if theirs != ours:
                reason = argument(entry, rule)
                argued[reason] += reason is not None
                differing += [] if reason else [(entry, rule, theirs, ours)]
    return decisions, sum(argued.values()), differing


def test_combinations():
    """Of all combinations of the fields, only what has an argument is decided otherwise."""
    decisions, argued, differing = compare(har("made.har"))
    assert differing == [] and decisions > 100
    # These are many, as each of the reasons is among the fields.
    assert 0 < argued < decisions / 4


def test_made_up():
    check([make("cache", "--no-large-bodies", entries=600)], least=1_000)


def test_apple_caches(cachedb):
    check(sorted(glob.glob(f"{cachedb}/*/Cache.db")), least=100)


@samples.needed
def test_samples():
    check([file for kind in ["cachedb/*/Cache.db", "har/*.har", "warc/*"] for file in sorted(glob.glob(samples.folder(kind)))], least=100)


def check(caches, least):
    """In caches as they are, at least 98% of the decisions are the same, and each other has an argument."""
    total, argued = 0, 0
    for cache in caches:
        if run("list", cache, "--count", status=None).returncode:
            continue
        decisions, reasons, differing = compare(cache)
        assert differing == [], cache
        total, argued = total + decisions, argued + reasons
    print(f"{argued} of {total} decisions differ, each with an argument")
    assert total >= least and argued <= total / 50
