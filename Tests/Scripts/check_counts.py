"""Checks that all commands count the same entries as fresh, stale, without a lifetime, and unknown.

    check_counts.py URLCACHE-ADMIN SAMPLE-CACHE SAMPLES [--all]

Made-up caches of both formats, with faults and with an app's own expiry: 10 of them at one moment each, with `--all` 50 at three.
SAMPLES is a folder of real caches, which may be absent. Nothing here reads RFC 9111: what is right is `test_freshness.py`'s.
"""

import collections, concurrent.futures, datetime, glob, json, os, plistlib, re, shutil, sqlite3, subprocess, sys, tempfile

tool, maker, samples = sys.argv[1:4]
takes_all = "--all" in sys.argv[4:]
root = tempfile.mkdtemp()
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
    titles = re.findall(r"^(FRESH|STALE|NO LIFETIME|UNKNOWN)(?: for [^:]*(?:, (?:until|since) [^ ]*)?)?: [SVCLaw]", text, re.MULTILINE)
    return counts_of(WORDS[title.lower()] for title in titles)


def by_report(cache, given):
    text = run(cache, "report", *given, "--format", "markdown", "-o", "-")[0]
    # The table of savings comes after this one, and has a row of one of these names, too.
    text = text[:text.index("\n\n", text.index("\n| Freshness |"))]
    rows = dict(re.findall(
        r"^\| (Fresh|Stale, with a validator|Stale, without a validator|No lifetime|Unknown): [^|]*\| ([0-9,]+) \|", text,
        re.MULTILINE))
    assert len(rows) == 5, (cache, rows)
    return of_report({title: number(count) for title, count in rows.items()})


def by_page(cache, given):
    text = run(cache, "report", *given, "-o", "-")[0]
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
    """What purge would remove, and what it would keep only as `URLCache` does not see it, or as it is not known."""
    result = []
    for state in STATES[:3]:
        plan = json.loads(run(cache, "purge", f"--{state}", "-n", *given, "--format", "json", statuses=(0, 1))[0])
        reasons = {item["reason"]: item["entries"] for item in plan["kept"].get("reasons", [])}
        kept = reasons.get("orphan", 0) + reasons.get("not-a-regular-file", 0)
        result.append(plan["removed"]["entries"] + kept)
        unknown = reasons.get("unknown-freshness", 0)
    return result + [unknown]


READERS = {
    "list --count --fresh, …": by_list_options, "list --where": by_condition, "list --columns freshness": by_columns,
    "list --format csv": by_csv, "list, table, freshness": by_table("freshness"), "list, table, ttl": by_table("ttl"),
    "usage --by freshness": by_usage, "usage, table": by_usage_table, "explain --format ndjson": by_explanations,
    "explain --format json": by_explanation_sums, "explain": by_explanation_titles,
    "report --format markdown": by_report, "report": by_page, "metrics": by_metrics, "purge -n": by_removal,
}


def check(cache, at, rule):
    given = ["--at", at] + (["--user-info-expiry", rule] if rule else [])
    counts = {}
    for name, count in READERS.items():
        # What cannot be changed has no plan.
        if name == "purge -n" and not can_change(cache): continue
        counts[name] = count(cache, given)
    first = next(iter(counts.values()))
    assert all(found == first for found in counts.values()), (cache, given, counts)
    return first


def can_change(cache):
    result = subprocess.run([tool, "purge", "-c", cache, "--fresh", "-n"], capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode in (0, 65), result
    return result.returncode == 0


def attach_dates(cache):
    """Attaches dates to every third entry, from before and after the moments that are asked about."""
    database = sqlite3.connect(f"{cache}/Cache.db")
    rows = [row for row, in database.execute("SELECT entry_ID FROM cfurl_cache_response ORDER BY 1")][::3]
    for index, row in enumerate(rows):
        date = datetime.datetime(2025, 5, 1) + datetime.timedelta(days=7 * (index % 40))
        info = plistlib.dumps({EXPIRY: date}, fmt=plistlib.FMT_BINARY)
        database.execute("UPDATE cfurl_cache_blob_data SET user_info = ? WHERE entry_ID = ?", (info, row))
    database.commit()
    database.close()


def moments(number):
    return TIMES if takes_all else [TIMES[number % len(TIMES)]]


def check_made_up(number):
    """Checks one made-up cache; returns how many entries have which freshness at all moments, and how many the app drops."""
    foundation = number % 2 == 1
    cache = os.path.join(root, f"made-up-{number}")
    faults = FAULTS[number // 2 % len(FAULTS)]
    if foundation:
        # Its bodies are in the file of their entry: only the property list can be broken.
        faults = "undecodable" if "undecodable" in faults else ""
    words = ["--format", "foundation"] if foundation else ["--schema", ("203", "202")[number // 4 % 2]]
    words += ["--faults", faults] if faults else []
    subprocess.run(
        [maker, *words, "--entries", str(20 + 37 * number % 200), "--seed", str(number), "--no-large-bodies", cache],
        check=True, capture_output=True)
    if not foundation and number % 4 == 0: attach_dates(cache)
    total, dropped = collections.Counter(), 0
    for at in moments(number):
        plain = check(cache, at, None)
        total.update(dict(zip(STATES, plain)))
        if not foundation and number % 4 == 0:
            dropped += plain[0] - check(cache, at, f"{EXPIRY}=3d")[0]
    shutil.rmtree(cache)
    return total, dropped


def main():
    count = 50 if takes_all else 10
    total, dropped = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found, others in pool.map(check_made_up, range(count)):
            total.update(found)
            dropped += others
    assert all(total[state] for state in STATES) and dropped, (total, dropped)
    figures = ", ".join(f"{total[state]} {state}" for state in STATES)
    print(f"{count} made-up caches: equal; {figures}; {dropped} dropped by the app", file=sys.stderr)
    print("made-up caches: ok")
    real, entries = 0, 0
    for database in sorted(glob.glob(os.path.join(samples, "*", "Cache.db"))):
        folder = os.path.join(root, os.path.basename(os.path.dirname(database)))
        shutil.copytree(os.path.dirname(database), folder)
        subprocess.run(["chmod", "-R", "u+w", folder], check=True)
        if subprocess.run([tool, "list", "-c", folder, "--count"], capture_output=True).returncode == 0:
            for at in moments(1):
                entries += sum(check(folder, at, None))
                check(folder, at, "Cached Date=60")
            real += 1
    print(f"{real} real caches: equal; {entries} entries", file=sys.stderr)
    print("real caches: ok" if real else "real caches: not here")


try:
    main()
finally:
    shutil.rmtree(root)
