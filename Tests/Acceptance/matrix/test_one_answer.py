"""Asks all commands the same questions about the same caches: which entries there are, what each of them is, and what would be asked.

The ids of the entries and the orphans are read from the files here; which of the answers about freshness are right, `test_freshness.py` checks.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import time

import pytest

import raw_origin
import samples
import scratch
import worlds
from products import tool

STATES = ["fresh", "stale", "no-lifetime", None]
KINDS = [
    {"Cache-Control": "max-age=999999999", "ETag": '"1"'}, {"Cache-Control": "max-age=1", "ETag": 'W/"1"'}, {}, {"Cache-Control": "no-store, max-age=60"},
    {"Cache-Control": "no-cache", "Last-Modified": "Wed, 08 Oct 2025 10:00:00 GMT"}, {"Expires": "Wed, 08 Oct 2025 10:00:00 GMT", "Vary": "Accept-Language"},
    {"Cache-Control": "max-age=60, must-revalidate", "ETag": '"1"', "Last-Modified": "Wed, 08 Oct 2025 10:00:00 GMT"}, {"Vary": "*", "ETag": '"1"'},
    {"Last-Modified": "Wed, 08 Oct 2025 10:00:00 GMT", "Date": "Thu, 09 Oct 2025 10:00:00 GMT"}, {"Cache-Control": "must-understand, max-age=9999"},
]


def run(cache, verb, *options):
    result = subprocess.run([tool, verb, "-c", cache, *options], capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
    assert result.returncode in (0, 1, 3), (verb, cache, options, result)
    return result.stdout.decode()


def rows(cache, verb, *options):
    return [json.loads(line) for line in run(cache, verb, *options, "--format", "ndjson").splitlines()]


def document(cache, verb, *options):
    return json.loads(run(cache, verb, *options, "--format", "json"))


# --- The caches ------------------------------------------------------------------------------------------------------------

def some(base="https://a.example", count=30, **values):
    """Entries of all kinds, some of them redirected."""
    now = int(time.time())
    return [worlds.Entry(f"{base}/{number}", worlds.body(number, 50 + number * 331), now - 90 * number, headers=KINDS[number % len(KINDS)],
                         final=f"{base}/final/{number}" if number % 7 == 3 else None, status=(200, 200, 404, 200, 301)[number % 5],
                         request_headers={"Accept-Language": "de"}, **values) for number in range(count)]


def with_orphans(cache):
    for number, age in enumerate([0, 3_600, 7_200]):
        worlds.write_body(cache, worlds.body_name(number), age=age)
    return cache


def with_everything(cache):
    """Puts beside the entries of a Foundation cache what a crash, another version and a hostile user leave."""
    names = sorted(name for name in os.listdir(cache) if name.endswith(worlds.SUFFIX))
    old = names[0].split(".", 1)
    shutil.copy(os.path.join(cache, names[0]), os.path.join(cache, f"{int(old[0]) - 5}.{old[1]}"))
    for name, data in {"1.ZW1wdHk=": b"", "2.Y3V0": b"bplist00", "3.bm9uZQ==": worlds.binary({})}.items():
        with open(os.path.join(cache, name + worlds.SUFFIX), "wb") as file:
            file.write(data)
    os.mkdir(os.path.join(cache, "4.Zm9sZGVy" + worlds.SUFFIX))
    os.symlink("nowhere", os.path.join(cache, "5.bGluaw==" + worlds.SUFFIX))
    for name, age in {".dat.nosync1a.000001": 0, ".dat.nosync1a.000002": 3_600, "noon.YQ==" + worlds.SUFFIX: 3_600, "1.2.YQ==" + worlds.SUFFIX: 0}.items():
        shutil.copy(os.path.join(cache, names[1]), os.path.join(cache, name))
        os.utime(os.path.join(cache, name), (time.time() - age,) * 2)
    return cache


FAULTS = ["--faults", "undecodable,missing-bodies,orphan-files", "--no-large-bodies"]
CACHES = {
    "apple": lambda path: worlds.apple(path, some()),
    "open-log": lambda path: worlds.apple(path, some(), closed=False),
    "rollback": lambda path: worlds.apple(path, some(), schema=102, journal="delete"),
    "oldest": lambda path: worlds.apple(path, some(), schema=12, journal="delete"),
    "churned": lambda path: worlds.apple(path, some(partition="p"), churn=40),
    "orphans": lambda path: with_orphans(worlds.apple(path, some())),
    "faults": lambda path: scratch.make(os.path.basename(path), *FAULTS, entries=90),
    "faults-202": lambda path: scratch.make(os.path.basename(path), *FAULTS, "--schema", "202", entries=70, seed=9),
    "empty": worlds.apple,
    "foundation": lambda path: worlds.foundation(path, some()),
    "foundation-faults": lambda path: scratch.make(os.path.basename(path), "--format", "foundation", *FAULTS, entries=80),
    "foundation-everything": lambda path: with_everything(worlds.foundation(path, some())),
    "foundation-posts": lambda path: worlds.foundation(path, some(base="http://b.example:8080", count=11)),
}


def names_of_entries(cache):
    """The ids of the entries, and the number of files that belong to none."""
    if not worlds.is_foundation(cache):
        with worlds.reading(cache) as database:
            ids = {number for number, in database.execute(f"SELECT entry_ID FROM {worlds.RESPONSES}")}
            columns = [column[1] for column in database.execute(f"PRAGMA table_info({worlds.BODIES})")]
            bodies = {bytes(name).decode() for name, in database.execute(
                f"SELECT receiver_data FROM {worlds.BODIES} WHERE isDataOnFS")} if b"isDataOnFS" in columns else set()
        folder = os.path.join(cache, "fsCachedData")
        return ids, len(set(os.listdir(folder) if os.path.isdir(folder) else ()) - bodies)
    suffix = re.escape(worlds.SUFFIX)
    files = os.listdir(cache)
    seen = [name for name in files if re.fullmatch(rf"[+-]?\d{{1,19}}\.[^.]*{suffix}", name)]
    others = [name for name in files if name not in seen and (name.endswith(worlds.SUFFIX) or name.startswith(".dat.nosync"))]
    return {name.removesuffix(worlds.SUFFIX) for name in seen}, len(others)


# --- The answers -----------------------------------------------------------------------------------------------------------

def answers(cache):
    """What each command says: which entries, how many of each kind of freshness, orphans, missing bodies and bytes."""
    usage, check, metrics = document(cache, "usage"), document(cache, "check"), run(cache, "metrics")
    listed = rows(cache, "list", "--columns", "id,freshness,body-location,size")
    metric = lambda name, labels="": int(re.search(rf"^urlcache_{name}\{{cache=\"[^\"]*\"{labels}\}} (\d+)$", metrics, re.MULTILINE)[1])
    query = document(cache, "query", "SELECT id, freshness, body_location, size FROM entries")["rows"]
    report = run(cache, "report", "--format", "markdown", "-o", "-")
    watch = json.loads(run(cache, "watch", "--for", "1ms", "--format", "ndjson").splitlines()[0])
    by_state = {"list": counted(listed), "query": counted(query), "explain": counted(rows(cache, "explain", "--all"), "verdict"),
                "metrics": [metric("entries", f',state="{state or "unknown"}"') for state in STATES],
                "usage": [sum(group["entries"] for group in document(cache, "usage", "--by", "freshness")["groups"] if group["key"] == state)
                          for state in STATES], "report": reported(report)}
    counts = {"list": len(listed), "list --count": int(run(cache, "list", "--count")), "list --json": document(cache, "list")["total"],
              "usage": usage["entries"], "check": check["entries"], "query": len(query), "watch": watch["entries"],
              "metrics": sum(by_state["metrics"]), "explain": sum(by_state["explain"]), "report": int(re.search(r"([\d,]+) entr", report)[1].replace(",", ""))}
    plan = planned(cache, "--all")
    if plan:
        counts["purge"] = plan["removed"]["entries"] + plan["kept"]["entries"]
    missing = {"list": sum(row["body_location"] == "missing" for row in listed), "query": sum(row["body_location"] == "missing" for row in query),
               "--body missing": int(run(cache, "list", "--count", "--body", "missing")), "usage": usage["missing_bodies"], "metrics": metric("missing_bodies"),
               "--where": int(run(cache, "list", "--count", "--where", "body = missing"))}
    found = collections.Counter(finding["code"] for finding in check["findings"])
    kinds = ["orphan-body-file", "young-body-file", "temporary-file", "young-temporary-file", "ignored-file"]
    orphans = {"usage": usage["footprint"]["orphan_files"], "metrics": metric("orphan_files"), "check": sum(found[kind] for kind in kinds)}
    sizes = {"list": sum(row["size"] or 0 for row in listed), "usage": usage["body_bytes"], "query": sum(row["size"] or 0 for row in query),
             "list --json": document(cache, "list")["body_bytes"]}
    if plan:
        sizes["purge"] = plan["removed"]["body_bytes"] + sum(reason["body_bytes"] for reason in plan["kept"].get("reasons", []))
    notes = {"list": sum("undecodable" in codes(row) for row in rows(cache, "list")),
             "check": len({finding["id"] for finding in check["findings"] if finding["code"] == "undecodable"}),
             "query": document(cache, "query", "SELECT count(DISTINCT id) AS n FROM findings WHERE code = 'undecodable'")["rows"][0]["n"]}
    return {"entries": counts, "states": by_state, "missing": missing, "orphans": orphans, "sizes": sizes, "undecodable": notes}


def planned(cache, *options):
    """What would be removed; nothing of a cache from before OS X 10.8, which no command changes."""
    result = subprocess.run([tool, "purge", "-c", cache, *options, "-n", "--format", "json"], capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode in (0, 3, 65), result
    return json.loads(result.stdout) if result.returncode != 65 else None


def codes(row):
    return [note["code"] for note in row["notes"]]


def counted(entries, column="freshness"):
    states = collections.Counter(entry[column] if entry[column] != "unknown" else None for entry in entries)
    assert set(states) <= set(STATES), states
    return [states[state] for state in STATES]


def reported(text):
    # The table of savings, which comes after this one, has a row of one of these names, too.
    text = text[:text.find("\n\n", max(0, text.find("\n| Freshness |")))]
    found = dict(re.findall(r"^\| (Fresh|Stale, with a validator|Stale, without a validator|No lifetime|Unknown): [^|]*\| ([0-9,]+) \|", text, re.MULTILINE))
    number = lambda *titles: sum(int(found.get(title, "0").replace(",", "")) for title in titles)
    return [number("Fresh"), number("Stale, with a validator", "Stale, without a validator"), number("No lifetime"), number("Unknown")]


def compare(cache):
    ids, orphans = names_of_entries(cache)
    all_answers = answers(cache)
    for question, found in all_answers.items():
        assert len({json.dumps(answer) for answer in found.values()}) == 1, f"{question}: {found}"
    assert all_answers["entries"]["list"] == len(ids) and all_answers["orphans"]["usage"] == orphans, (all_answers, len(ids), orphans)
    decide(cache, ids)


def decide(cache, ids):
    """For each entry, all commands decide the same."""
    listed = {row["id"]: row for row in rows(cache, "list", "--columns", "id,freshness,ttl,status,host")}
    assert set(listed) == ids
    explained = {row["id"]: row["verdict"] for row in rows(cache, "explain", "--all")}
    assert explained == {number: row["freshness"] or "unknown" for number, row in listed.items()}
    query = {row["id"]: row for row in document(cache, "query", "SELECT id, freshness, ttl, status, host FROM entries")["rows"]}
    assert all(query[number][name] == row[name] for number, row in listed.items() for name in row if name != "ttl")
    irregular = {row["id"] for row in rows(cache, "list") if "not-a-regular-file" in codes(row)}
    for state in STATES[:3]:
        wanted = {number for number, row in listed.items() if row["freshness"] == state}
        for options in [f"--{state}"], ["--where", f"freshness = {state}"]:
            assert {row["id"] for row in rows(cache, "list", *options, "--columns", "id")} == wanted, options
            plan = planned(cache, *options)
            assert not plan or {row["id"] for row in plan["entries"]} == wanted - irregular, options
    for status in {row["status"] for row in listed.values()} - {None}:
        assert {row["id"] for row in rows(cache, "list", "--status", str(status), "--columns", "id")} == \
            {number for number, row in listed.items() if row["status"] == status}


@pytest.mark.parametrize("kind", CACHES)
def test_counts(kind):
    """All commands count the entries that are in the files, and say the same of each."""
    compare(CACHES[kind](scratch.path(kind)))


@pytest.mark.parametrize("sample", samples.each(lambda name: name.startswith("schema-")), indirect=True)
def test_apple_cache(sample):
    """The same of caches as Apple systems write them."""
    compare(samples.copy(sample, "sample"))


# --- The origin ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["apple", "foundation"])
@pytest.mark.parametrize("platform", ["rfc9111", "apple", "foundation"])
def test_origin(kind, platform):
    """What `explain` shows of each entry is what the origin is asked: the URL, the method, the header fields, or nothing."""
    heads = []

    def answer(head):
        heads.append(head.decode())
        return b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    with raw_origin.listening(answer) as place:
        cache = getattr(worlds, kind)(scratch.path(kind), some(f"http://{place}"))
        urls = {row["id"]: (row["request_url"] or row["url"]).removeprefix(f"http://{place}")
                for row in rows(cache, "list", "--columns", "id,url,request-url")}
        shown = {}
        for row in rows(cache, "explain", "--all", "--platform", platform):
            request = row["conditional_request"]
            shown[urls[row["id"]]] = (request["method"], {name.lower(): value for name, value in request["headers"].items()})
        reasons = {urls[row["id"]]: row["reason"] for row in document(cache, "revalidate", "--all")["entries"]}
    sent = {}
    for head in heads:
        first, *fields = head.split("\r\n")
        method, url, _ = first.split(" ")
        fields = dict((name.lower(), value) for name, value in (field.split(": ", 1) for field in fields if field))
        assert url not in sent
        sent[url] = (method, {name: value for name, value in fields.items() if name != "host"})
    assert all(shown[url] == request for url, request in sent.items()), (sent, shown)
    # Only what no answer could make usable, and what no condition can ask about, is not asked for.
    left = set(shown) - set(sent)
    assert all(reasons[url] in ("no-store", "no-validator") for url in left) and len(sent) > 15, {url: reasons[url] for url in left}
