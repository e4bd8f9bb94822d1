"""Judges what `--superseded` selects by made-up URLs of which it is known what they stand for.

    check_superseded.py URLCACHE-ADMIN SAMPLE-CACHE [SEED...]

Without seeds it takes those that the rules were made with, and others that nobody has looked at. The URLs of each are put
into an Apple cache in a random order; then `list`, `purge`, `usage`, `report` and an archive must agree. Prints a line for
each part.
"""

import itertools, json, os, plistlib, random, re, sqlite3, sys

SEEDS = [int(seed) for seed in sys.argv[3:]]
sys.argv[3:] = []
from scratch import export, make, run
import resource_urls

KNOWN, HELD_OUT = range(1, 6), range(1000, 1005)
NULL = "__CFURLRequestNullTokenString__"


def cache_of(urls, seed):
    """Makes a cache; the entries are in another order than the versions, whose times tell which is newer."""
    folder = make(f"cache-{seed}", entries=1)
    database = sqlite3.connect(os.path.join(folder, "Cache.db"))
    for table in ["response", "blob_data", "receiver_data"]: database.execute(f"DELETE FROM cfurl_cache_{table}")
    shuffled = list(enumerate(urls))
    random.Random(seed).shuffle(shuffled)
    for id, (place, (_, _, url)) in enumerate(shuffled, start=1):
        archived = {"_CFURLString": url, "_CFURLStringType": 15}
        response = {"Array": [archived, 7e8 + place * 60, 0, 200, {"Cache-Control": "max-age=60"}, 3, "text/plain"], "Version": 1}
        request = {"Array": [False, archived] + [NULL] * 16 + ["GET", {}, NULL, NULL], "Version": 9}
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, version, hash_value, storage_policy, request_key) "
                         "VALUES (?, 0, 0, 0, ?)", (id, url))
        database.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object) VALUES (?, ?, ?)",
                         (id, *(plistlib.dumps(value, fmt=plistlib.FMT_BINARY) for value in (response, request))))
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, ?)", (id, b"x" * (1 + place % 7)))
    database.commit()
    database.close()
    return folder


def listed(cache, *options):
    lines = run("list", "-c", cache, "--format", "ndjson", *options).stdout.splitlines()
    return {entry["url"]: entry["size"] for entry in map(json.loads, lines)}


def judge(seed):
    """How many URLs are superseded and selected, only selected, and only superseded; and checks that the commands agree."""
    urls = resource_urls.made_up(seed)
    resources = [list(group) for _, group in itertools.groupby(urls, key=lambda url: url[1])]
    older = {url for group in resources for _, _, url in group[:-1]}
    cache = cache_of(urls, seed)
    found = listed(cache, "--superseded")
    total = {"entries": len(found), "bytes": sum(found.values())}
    usage = json.loads(run("usage", "-c", cache, "--superseded", "--format", "json").stdout)
    assert usage["superseded"] == total, (usage["superseded"], total)
    assert json.loads(run("usage", "-c", cache, "--format", "json").stdout)["superseded"] is None
    plan = json.loads(run("purge", "-c", cache, "--superseded", "--dry-run", "--format", "json").stdout)
    assert plan["removed"] == {"entries": total["entries"], "body_bytes": total["bytes"]}, plan["removed"]
    assert {entry["url"] for entry in plan["entries"]} == set(found)
    page = run("report", "-c", cache, "--format", "markdown", "-o", "-").stdout.decode()
    row = re.search(r"^\| Superseded: [^|]*\| ([0-9,]+) \|", page, re.MULTILINE)
    assert row and int(row[1].replace(",", "")) == len(found), page
    archive = export(cache, f"{seed}.tar.gz")
    assert listed(archive, "--superseded") == found
    note = run("list", "-c", cache, "--superseded").stderr.decode()
    counts = [int(number) for number in re.findall(r"(?:superseded|,) ([0-9]+) by ", note)]
    assert sum(counts) == len(found), note
    run("purge", "-c", cache, "--superseded", "--yes")
    assert not listed(cache, "--superseded")
    assert listed(cache).keys() == {url for _, _, url in urls} - set(found)
    return len(older & set(found)), len(set(found) - older), len(older - set(found))


def main():
    for name, seeds in [("given", SEEDS)] if SEEDS else [("seeds that the rules were made with", KNOWN), ("other seeds", HELD_OUT)]:
        right = wrong = missed = 0
        for seed in seeds:
            counts = judge(seed)
            (right, wrong, missed) = (right + counts[0], wrong + counts[1], missed + counts[2])
            precision, recall = counts[0] / (counts[0] + counts[1]), counts[0] / (counts[0] + counts[2])
            print(f"seed {seed}: precision {precision:.4f}, recall {recall:.4f}", file=sys.stderr)
            assert precision >= 0.99 and recall >= 0.9, (seed, counts)
        print(f"{name}: {right} of {right + missed} superseded entries found, {wrong} others", file=sys.stderr)
        print(f"{name}: ok")


main()
