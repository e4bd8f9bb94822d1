"""Holds metrics and logs against what other commands say, and has promtool read them.

    check_metrics.py URLCACHE-ADMIN SAMPLE-CACHE PROMTOOL

Prints a line for each part, and ends at the first difference.
"""

import json, os, re, shutil, stat, subprocess, sys, tempfile, threading, time

tool, maker, promtool = map(os.path.abspath, sys.argv[1:])
root = tempfile.mkdtemp()
caches = {name: os.path.join(root, name) for name in ["shop", "news"]}
configuration = os.path.join(root, "config.toml")
file, log = os.path.join(root, "urlcache.prom"), os.path.join(root, "urlcache.log")
SNAPSHOT = {"disk_bytes", "entries", "entry_bytes", "oldest_entry_timestamp_seconds", "orphan_files", "missing_bodies"}
RUN = {"last_run_" + name for name in
       ["timestamp_seconds", "success", "duration_seconds", "removed_entries", "removed_bytes", "left_entries", "skipped"]}


def run(*arguments):
    return subprocess.run([tool, *arguments], capture_output=True, text=True,
                          env=os.environ | {"URLCACHE_ADMIN_CONFIG": configuration})


def samples(text):
    """The values by name, cache and state, of text that promtool finds nothing wrong with."""
    checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True)
    assert checked.returncode == 0 and not checked.stdout + checked.stderr, (checked, text)
    result = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = re.fullmatch(r'urlcache_(\w+)\{cache="((?:[^"\\]|\\.)*)"(?:,state="([a-z-]+)")?\} ([0-9.]+)', line)
        assert match, line
        name, cache, state, value = match.groups()
        cache = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], cache)
        assert (name, cache, state) not in result, line
        result[name, cache, state] = float(value)
    return result


def names(found, cache):
    return {name for name, label, _ in found if label == cache}


def check_snapshot():
    """What is in a cache is what `usage` and `check` say of it."""
    found = samples(run("metrics", "--all-caches").stdout)
    assert names(found, "shop") == SNAPSHOT | {"capacity_bytes"} and names(found, "news") == SNAPSHOT, found
    assert found["capacity_bytes", "shop", None] == 64 << 20
    for cache in caches:
        usage = json.loads(run("usage", "-c", cache, "--by", "freshness", "--format", "json").stdout)
        groups = {group["key"] or "unknown": group for group in usage["groups"]}
        for state in ["fresh", "stale", "no-lifetime", "unknown"]:
            group = groups.get(state, {"entries": 0, "bytes": 0})
            assert found["entries", cache, state] == group["entries"], (cache, state)
            assert found["entry_bytes", cache, state] == group["bytes"], (cache, state)
        assert found["disk_bytes", cache, None] == usage["footprint"]["total_bytes"]
        assert found["orphan_files", cache, None] == usage["footprint"]["orphan_files"] > 0
        times = [json.loads(line)["stored"] for line in run("list", "-c", cache, "--format", "ndjson").stdout.splitlines()]
        oldest = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found["oldest_entry_timestamp_seconds", cache, None]))
        assert oldest == min(time for time in times if time), cache
        missing = run("list", "-c", cache, "--body", "missing", "--count").stdout
        assert found["missing_bodies", cache, None] == int(missing) > 0
    odd = os.path.join(root, "a\"b\\c\nd e\u0301")
    shutil.copytree(caches["shop"], odd)
    assert names(samples(run("metrics", "-c", odd).stdout), odd) == SNAPSHOT
    assert run("metrics", "-c", os.path.join(root, "none")).returncode == 66
    print("snapshot: ok")


def check_runs():
    """How a run ended is written down, also if it failed, and beside caches that did not."""
    record = ["--metrics-file", file, "--log", log]
    assert run("enforce", "-c", "shop", "--max-entries", "150", "--yes", *record).returncode == 0
    found = samples(open(file).read())
    assert names(found, "shop") == SNAPSHOT | RUN | {"capacity_bytes"}
    line = json.loads(open(log).read())
    assert found["last_run_success", "shop", None] == 1 and line["status"] == 0 and line["message"] is None
    assert found["last_run_removed_entries", "shop", None] == line["removed_entries"] > 0
    assert found["last_run_removed_bytes", "shop", None] == line["removed_bytes"] > 0
    assert abs(found["last_run_timestamp_seconds", "shop", None] - time.time()) < 60
    assert sum(found["entries", "shop", state] for state in ["fresh", "stale", "no-lifetime", "unknown"]) == 150
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o644 and stat.S_IMODE(os.stat(log).st_mode) == 0o600
    # Nothing is left to do.
    assert run("enforce", "-c", "shop", "--max-entries", "150", "--yes", *record).returncode == 0
    assert samples(open(file).read())["last_run_removed_entries", "shop", None] == 0
    # A dry run is none.
    before = open(file).read()
    assert run("purge", "-c", "shop", "--all", "-n", *record).returncode == 0
    assert open(file).read() == before
    for words, status in [
        (["purge", "-c", "shop", "--all", "--yes", "--max-delete", "1"], 1), (["purge", "-c", "shop", "--all"], 64),
        (["purge", "-c", "shop", "--nonsense"], 64), (["purge", "-c", "shop", "--where", "x"], 64),
        (["purge", "-c", "shop", "--all", "--yes", "--config", os.path.join(root, "none")], 66),
    ]:
        assert run(*words, *record).returncode == status, words
        found = samples(open(file).read())
        assert found["last_run_success", "shop", None] == 0, words
        last = json.loads(open(log).read().splitlines()[-1])
        assert last["status"] == status and last["verb"] == "purge" and last["removed_entries"] == 0, last
        assert last["message"], last
    os.rename(caches["news"], caches["news"] + ".away")
    assert run("enforce", "--all-caches", "--max-entries", "140", "--yes", *record).returncode == 66
    os.rename(caches["news"] + ".away", caches["news"])
    found = samples(open(file).read())
    assert names(found, "news") == RUN and found["last_run_success", "news", None] == 0
    assert found["last_run_success", "shop", None] == 1 and found["last_run_removed_entries", "shop", None] == 10
    # Nothing is removed where the metrics cannot be written.
    result = run("purge", "-c", "shop", "--all", "--max-delete", "100%", "--yes", "--metrics-file", os.path.join(file, "x"))
    assert result.returncode == 73 and result.stdout == "", result
    assert int(run("list", "-c", "shop", "--count").stdout) > 0
    print("runs: ok")


def check_beside():
    """Whoever reads the file meanwhile reads a whole one, and lines of several processes do not mix."""
    done, broken = threading.Event(), []

    def read():
        while not done.is_set():
            text = open(file).read()
            if not text.endswith("\n") or "last_run_skipped" not in text.splitlines()[-1]:
                broken.append(text)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(10):
        run("enforce", "-c", "news", "--max-entries", "100", "--yes", "--metrics-file", file)
    done.set()
    reader.join()
    assert not broken, broken[0]
    lines = len(open(log).readlines())
    command = [tool, "enforce", "-c", caches["news"], "--max-entries", "100", "--yes", "--log", log]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(6)]
    assert all(process.wait() in (0, 75) for process in processes)
    text = open(log).read().splitlines()
    assert len(text) == lines + 6 and all(json.loads(line) for line in text)
    assert os.listdir(root).count("urlcache.prom.partial") == 0
    print("beside: ok")


try:
    for name, path in caches.items():
        subprocess.run([maker, "--format", "apple", "--entries", "200", "--seed", str(len(name)), "--faults",
                        "orphan-files,missing-bodies,undecodable", path], check=True, capture_output=True)
    with open(configuration, "w") as output:
        output.write(f"[caches.shop]\npath = '{caches['shop']}'\ncapacity = '64MiB'\n"
                     f"[caches.news]\npath = '{caches['news']}'\n")
    check_snapshot()
    check_runs()
    check_beside()
finally:
    shutil.rmtree(root)
