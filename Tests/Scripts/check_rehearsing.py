"""Compares dry runs of 'enforce' with real ones of the same caches.

    check_rehearsing.py URLCACHE-ADMIN SAMPLE-CACHE [FOLDER OF REAL CACHES [--all]]

With --all it makes up 54 caches, by default the first 24 of them, which have at least one cache of each size, schema, order and
low mark, with and without another process that has it open.
Prints a line for each case, and ends at the first that is not as it should be; on the standard error, how many of the real
runs needed more than one round.
"""

import hashlib, json, os, random, re, shutil, sqlite3, subprocess, sys, tempfile

tool, maker = sys.argv[1:3]
samples = sys.argv[3] if len(sys.argv) > 3 else None
count_of_caches = 54 if sys.argv[4:] == ["--all"] else 24
root = tempfile.mkdtemp()
# Where the private copies are, of which nothing must stay.
copies = os.path.join(root, "copies")
os.mkdir(copies)
ENVIRONMENT = {**os.environ, "TMPDIR": copies}
HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("SELECT * FROM sqlite_master").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


def enforce(cache, *options, environment=ENVIRONMENT):
    result = subprocess.run([tool, "enforce", "-c", cache, *options, "--format", "json"], capture_output=True,
                            stdin=subprocess.DEVNULL, text=True, env=environment)
    assert result.returncode in (0, 1), (options, result)
    assert os.listdir(copies) == [], os.listdir(copies)
    return result


def digests(cache):
    result = {}
    for parent, _, names in os.walk(cache):
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                result[path] = os.stat(path).st_mtime_ns, hashlib.sha256(file.read()).hexdigest()
    return result


def length(cache):
    return sum(os.path.getsize(os.path.join(parent, name)) for parent, _, names in os.walk(cache) for name in names)


def compare(cache, limit, options, is_live, what):
    """Returns in how many rounds the real run did it."""
    options = ["--max-size", str(limit), *options]
    holder = None
    if is_live:
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, database(cache)], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        assert holder.stdout.readline() == b"open\n"
    before = digests(cache) if not is_live else None
    dry = enforce(cache, *options, "--dry-run")
    assert is_live or digests(cache) == before, what
    real = enforce(cache, *options, "--yes")
    planned, done = json.loads(dry.stdout), json.loads(real.stdout)
    if is_live:
        assert planned["entries"] == done["entries"] and planned["removed"] == done["removed"], what
        assert planned["kept"] == done["kept"] and planned["unmet"] == done["unmet"], (what, planned["unmet"], done["unmet"], done["removed"], done["footprint_after"], planned["kept"], done["kept"])
        # What is refused is known, and leaves the cache as it is.
        assert planned["footprint_after"] == (planned["footprint_before"] if planned["unmet"] else None), what
        assert not planned["unmet"] or not done["entries"], what
        refused.append(bool(done["unmet"]))
        holder.communicate()
    else:
        # Byte for byte, also what it takes up afterwards.
        assert dry.stdout.replace('"dry_run":true', '"dry_run":false', 1) == real.stdout, (what, dry.stdout[-300:], real.stdout[-300:])
        assert dry.returncode == real.returncode and done["footprint_after"] == length(cache), what
    assert sum(reason["entries"] for reason in done["kept"]["reasons"]) == done["kept"]["entries"], (what, done["kept"])
    return max((entry["round"] for entry in done["entries"]), default=1)


def database(cache):
    """The database of a cache, whatever it is called."""
    return os.path.join(cache, sorted(name for name in os.listdir(cache) if re.search(r"\.db$", name))[0])


refused = []


def made_up():
    later = 0
    for seed in range(count_of_caches):
        choice = random.Random(seed)
        cache = os.path.join(root, "made")
        count = choice.choice([50, 200, 600, 1_500])
        subprocess.run([maker, "--entries", str(count), "--seed", str(seed), "--schema", choice.choice(["202", "203"]),
                        *choice.choice([[], ["--no-large-bodies"]]), cache], check=True)
        limit = int(length(cache) * choice.uniform(0.05, 0.98))
        options = ["--order", choice.choice(["oldest", "largest", "stale-first"]), "--low", choice.choice(["100%", "80%"])]
        what = f"seed {seed}, {count} entries, {limit} bytes, {options}"
        later += compare(cache, limit, options, seed % 3 == 2, what) > 1
        shutil.rmtree(cache)
    assert later > count_of_caches // 10, "nothing was tried that an estimate could not tell"
    assert 0 < sum(refused) < len(refused), refused
    print(f"{count_of_caches} made-up caches: ok", flush=True)
    print(f"{later} of {count_of_caches} in more than one round", file=sys.stderr)


def real():
    if not samples or not os.path.isdir(samples):
        print("real caches: not here", flush=True)
        return
    count = 0
    for name in sorted(os.listdir(samples)):
        version = re.match(r"schema-(\d+)", name)
        if not version or int(version.group(1)) < 25:
            continue
        for share in [0.3, 0.6, 0.9]:
            cache = os.path.join(root, "real")
            shutil.copytree(os.path.join(samples, name), cache)
            for parent, folders, names in os.walk(cache):
                for entry in folders + names:
                    os.chmod(os.path.join(parent, entry), 0o700)
            compare(cache, int(length(cache) * share), ["--order", "largest"], False, (name, share))
            shutil.rmtree(cache)
            count += 1
    assert count > 5, count
    print("real caches: ok", flush=True)


def make(name):
    """A cache and a limit that takes several rounds."""
    cache = os.path.join(root, name)
    subprocess.run([maker, "--entries", "600", "--seed", "3", "--no-large-bodies", cache], check=True)
    return cache, ["--max-size", str(length(cache) // 2), "--order", "largest"]


def plans():
    """What is planned, and what may go at most, is all that goes and not what the first round takes."""
    cache, options = make("planned")
    file = os.path.join(root, "plan.json")
    before = digests(cache)
    whole = json.loads(enforce(cache, *options, "--dry-run").stdout)["entries"]
    assert max(entry["round"] for entry in whole) > 1, "there was one round"
    assert [entry["id"] for entry in whole] == sorted(entry["id"] for entry in whole), "in order of rounds"
    enforce(cache, *options, "--plan", file)
    with open(file) as plan:
        planned = json.load(plan)["entries"]
    assert [entry["id"] for entry in planned] == [entry["id"] for entry in whole]
    refused = enforce(cache, *options, "--yes", "--max-delete", str(len(whole) - 1))
    assert refused.returncode == 1 and f"{len(whole)} of 600 entries would go" in refused.stderr, refused
    assert digests(cache) == before
    done = json.loads(enforce(cache, *options, "--yes", "--max-delete", str(len(whole))).stdout)
    assert done["entries"] == whole
    print("a plan and a limit of what may go: ok", flush=True)


def without_a_copy():
    """Where there is no room for a copy, it says that it estimates, and a real run what went beyond the estimate."""
    cache, options = make("estimated")
    dry = enforce(cache, *options, "--dry-run", environment={**os.environ, "TMPDIR": root + "/nowhere"})
    assert "note: an estimate, as it could not be tried on a copy: " in dry.stderr, dry.stderr
    planned = json.loads(dry.stdout)
    assert planned["footprint_after"] is None
    done = json.loads(enforce(cache, *options, "--yes").stdout)
    assert len(done["entries"]) > len(planned["entries"])
    assert [entry for entry in done["entries"] if entry["round"] == 1] == planned["entries"]
    # Where only a copy shows whether the limit can be met, nothing is removed, and a dry run says the same.
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, database(cache)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    holder.stdout.readline()
    before = digests(cache)
    words = ["--max-size", str(length(cache) // 2)]
    for mode in [["--dry-run"], ["--yes"]]:
        result = subprocess.run([tool, "enforce", "-c", cache, *words, *mode, "--format", "json"], capture_output=True,
                                stdin=subprocess.DEVNULL, text=True, env={**os.environ, "TMPDIR": root + "/nowhere"})
        error = json.loads(result.stderr)
        assert result.returncode == 74 and error["message"] == (
            "only a copy shows whether the limits can be met, so nothing was removed: "
            f"cannot read or change '{root}/nowhere': No such file or directory"), result
        assert error["hint"] == "set TMPDIR to a folder with room for a copy, or use '--best-effort'", result
        assert digests(cache) == before, mode
    done = enforce(cache, *words, "--yes", "--best-effort", environment={**os.environ, "TMPDIR": root + "/nowhere"})
    assert json.loads(done.stdout)["entries"], done
    holder.communicate()
    print("without a copy: ok", flush=True)


try:
    made_up()
    real()
    plans()
    without_a_copy()
finally:
    shutil.rmtree(root)
