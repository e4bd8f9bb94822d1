"""Collects inventories of made-up caches as of many machines, and asks several engines about them.

    check_fleet.py URLCACHE-ADMIN SAMPLE-CACHE EXAMPLES MACHINES [FOLDER-OF-PYTHON-ENVIRONMENT]

The environment has duckdb and pyspark; without it only SQLite is asked. Prints a line for each part, and ends at the
first difference.
"""

import collections, csv, glob, gzip, io, json, os, random, re, shutil, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

tool, maker, examples = map(os.path.abspath, sys.argv[1:4])
machines = [f"mac-{number:05}.example" for number in range(int(sys.argv[4]))]
environment = sys.argv[5] if len(sys.argv) > 5 else None
root = tempfile.mkdtemp()
folder = os.path.join(root, "inventories")
# What a machine says about itself.
WORDS = {"uname": 'echo "$MACHINE"', "date": "echo 2026-01-02", "urlcache-admin": f'exec "{tool}" "$@"'}


def run(*words, status=0, **variables):
    result = subprocess.run(words, capture_output=True, text=True,
                            env=os.environ | {"PATH": os.path.join(root, "bin") + ":" + os.environ["PATH"]} | variables)
    assert result.returncode == status, (words, result)
    return result.stdout


def collect(machine):
    """Makes the caches of a machine, writes their inventories, and gives what `usage` says of them."""
    random_of = random.Random(machine)
    home = os.path.join(root, machine)
    os.mkdir(home)
    names, usages = random_of.choice([["shop"], ["shop", "007"]]), {}
    for name in names:
        faults = ["--faults", "missing-bodies,undecodable"] if random_of.random() < 0.2 else []
        run(maker, "--format", random_of.choice(["apple", "apple", "foundation"]), "--entries",
            str(random_of.randint(5, 60)), "--seed", str(random_of.randint(0, 10**6)), "--no-large-bodies", *faults,
            os.path.join(home, name))
    configuration = os.path.join(home, "config.toml")
    with open(configuration, "w") as file:
        file.writelines(f"[caches.{name}]\npath = '{os.path.join(home, name)}'\n" for name in names)
    variables = {"MACHINE": machine, "URLCACHE_ADMIN_CONFIG": configuration}
    run("sh", os.path.join(examples, "collect.sh"), folder, *names, **variables)
    for name in names:
        usages[name] = json.loads(run(tool, "usage", "-c", name, "--by", "host", "--format", "json", **variables))
    shutil.rmtree(home)
    return machine, usages


def tables(text):
    """The tables of an answer, each of which begins with a header."""
    result = []
    for row in csv.reader(io.StringIO(text)):
        if "entries" in row:
            result.append([])
        result[-1].append(row)
    return result


def expected(day):
    """The answers to the questions, counted here."""
    hosts, caches = collections.defaultdict(list), collections.defaultdict(list)
    for path in glob.glob(os.path.join(day, "cache=*", "*")):
        cache, machine = re.fullmatch(r".*/cache=(.*)/(.*)\.ndjson\.gz", path).groups()
        for line in gzip.open(path):
            entry = json.loads(line)
            hosts[entry["host"] or ""].append((machine, entry))
            caches[machine, cache].append(entry)
    size = lambda entries, *states: sum(entry["size"] or 0 for entry in entries if not states or entry["freshness"] in states)
    by_host = sorted(((host, len({machine for machine, _ in pairs}), len(pairs), size([entry for _, entry in pairs]),
                       size([entry for _, entry in pairs], "stale")) for host, pairs in hosts.items()),
                     key=lambda row: (-row[3], row[0]))
    by_cache = sorted(((*key, len(entries), size(entries), size(entries, "fresh"),
                        min(entry["stored"] for entry in entries if entry["stored"])) for key, entries in caches.items()),
                      key=lambda row: (-row[3], *row[:2]))
    return [[["host", "machines", "entries", "bytes", "stale_bytes"], *by_host],
            [["machine", "cache", "entries", "bytes", "fresh_bytes", "oldest"], *by_cache]]


def check_usage(answer, usages):
    """What the engines say about hosts is the sum of what `usage` says on each machine."""
    hosts = collections.Counter()
    entries = collections.Counter()
    for _, caches in usages:
        for usage in caches.values():
            for group in usage["groups"]:
                hosts[group["key"] or ""] += group["bytes"]
                entries[group["key"] or ""] += group["entries"]
    assert {row[0]: (int(row[2]), int(row[3])) for row in answer[1:]} == {
        host: (entries[host], hosts[host]) for host in hosts}
    print("as usage says: ok", flush=True)


def check_unreadable():
    """Of a cache that cannot be read there is no inventory."""
    with open(os.path.join(root, "config.toml"), "w") as file:
        file.write(f"[caches.shop]\npath = '{root}/none'\n")
    run("sh", os.path.join(examples, "collect.sh"), os.path.join(root, "other"), "shop", status=66, MACHINE="mac",
        URLCACHE_ADMIN_CONFIG=os.path.join(root, "config.toml"))
    assert not [name for _, _, names in os.walk(os.path.join(root, "other")) for name in names]
    print("unreadable: ok", flush=True)


try:
    os.mkdir(os.path.join(root, "bin"))
    for word, line in WORDS.items():
        path = os.path.join(root, "bin", word)
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{line}\n")
        os.chmod(path, 0o755)
    with ThreadPoolExecutor(2) as pool:
        usages = list(pool.map(collect, machines))
    day = os.path.join(folder, "day=2026-01-02")
    files = glob.glob(os.path.join(day, "cache=*", "*"))
    assert len(files) == sum(len(caches) for _, caches in usages) and len(files) > len(machines)
    right = [[[str(value) for value in row] for row in table] for table in expected(day)]
    print(f"{len(machines)} machines: ok", flush=True)
    programs = {"sqlite": [sys.executable]}
    if environment:
        python = os.path.join(environment, "bin", "python")
        programs |= {"duckdb": [python], "spark": [python]}
    for engine, words in programs.items():
        answer = tables(run(*words, os.path.join(examples, f"fleet_{engine}.py"), day))
        assert answer == right, (engine, [pair for ours, theirs in zip(answer, right) for pair in zip(ours, theirs) if pair[0] != pair[1]][:5])
        print(f"{engine}: ok", flush=True)
    check_usage(right[0], usages)
    check_unreadable()
finally:
    shutil.rmtree(root)
