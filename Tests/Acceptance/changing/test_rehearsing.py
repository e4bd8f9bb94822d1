"""Compares dry runs of `enforce` with real ones of the same caches.

By default it makes up 9 caches, with `--thorough` 54. Both have caches of several sizes, both schemas, all orders and low marks, with and without
another process that has them open.
"""

import contextlib
import hashlib
import json
import os
import random
import re
import sqlite3
import subprocess
import sys

import samples
import scratch
from products import tool
from scratch import copy, path

HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("SELECT * FROM sqlite_master").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held(cache):
    """Keeps the database open in another process."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, database(cache)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"open\n"
        yield
        holder.communicate(timeout=60)


def enforce(cache, *options, environment=None):
    result = subprocess.run([tool, "enforce", "-c", cache, *options, "--format", "json"], capture_output=True,
                            stdin=subprocess.DEVNULL, text=True, env=environment)
    assert result.returncode in (0, 1), (options, result)
    # No private copy stays.
    assert os.listdir(path("temporary")) == [], os.listdir(path("temporary"))
    return result


def digests(cache):
    result = {}
    for parent, _, names in os.walk(cache):
        for name in names:
            file = os.path.join(parent, name)
            result[file] = os.stat(file).st_mtime_ns, hashlib.sha256(scratch.read(file)).hexdigest()
    return result


def length(cache):
    return sum(os.path.getsize(os.path.join(parent, name)) for parent, _, names in os.walk(cache) for name in names)


def compare(cache, limit, options, is_live, what):
    """Returns in how many rounds the real run did it, and whether it was refused."""
    options = ["--max-size", str(limit), *options]
    with held(cache) if is_live else contextlib.nullcontext():
        before = digests(cache) if not is_live else None
        dry = enforce(cache, *options, "--dry-run")
        assert is_live or digests(cache) == before, what
        real = enforce(cache, *options, "--yes")
    planned, done = json.loads(dry.stdout), json.loads(real.stdout)
    if is_live:
        assert planned["entries"] == done["entries"] and planned["removed"] == done["removed"], what
        assert planned["kept"] == done["kept"] and planned["unmet"] == done["unmet"], (what, planned, done)
        # What is refused is known, and leaves the cache as it is.
        assert planned["footprint_after"] == (planned["footprint_before"] if planned["unmet"] else None), what
        assert not planned["unmet"] or not done["entries"], what
    else:
        # Byte for byte, also what it takes up afterwards.
        assert dry.stdout.replace('"dry_run":true', '"dry_run":false', 1) == real.stdout, (what, dry.stdout[-300:], real.stdout[-300:])
        assert dry.returncode == real.returncode and done["footprint_after"] == length(cache), what
    assert sum(reason["entries"] for reason in done["kept"]["reasons"]) == done["kept"]["entries"], (what, done["kept"])
    return max((entry["round"] for entry in done["entries"]), default=1), bool(done["unmet"])


def database(cache):
    """The database of a cache, whatever it is called."""
    return os.path.join(cache, sorted(name for name in os.listdir(cache) if re.search(r"\.db$", name))[0])


def test_made_up_caches(thorough):
    """A dry run of `enforce` reports what the real run removes in all rounds."""
    count_of_caches = 54 if thorough else 9
    later, refused = 0, []
    for seed in range(count_of_caches):
        choice = random.Random(seed)
        count, schema = choice.choice([50, 200, 600, 1_500 if thorough else 400]), choice.choice(["202", "203"])
        options = choice.choice([[], ["--no-large-bodies"]])
        cache = copy(scratch.made_up(("--schema", schema, *options), count, seed), "made")
        limit = int(length(cache) * choice.uniform(0.05, 0.98))
        options = ["--order", choice.choice(["oldest", "largest", "stale-first"]), "--low", choice.choice(["100%", "80%"])]
        what = f"seed {seed}, {count} entries, {limit} bytes, {options}"
        rounds, is_refused = compare(cache, limit, options, seed % 3 == 2, what)
        later += rounds > 1
        refused += [is_refused] * (seed % 3 == 2)
    assert later > count_of_caches // 10, "nothing was tried that an estimate could not tell"
    assert 0 < sum(refused) < len(refused), refused


def test_apple_caches(cachedb, thorough):
    """The same holds for caches as Apple systems write them."""
    count = 0
    for name in sorted(os.listdir(cachedb)):
        version = re.match(r"schema-(\d+)", name)
        if not version or int(version.group(1)) < 25:
            continue
        for share in [0.3, 0.6, 0.9] if thorough else [[0.3, 0.6, 0.9][count % 3]]:
            cache = samples.copy(os.path.join(cachedb, name), f"{name}-{share}")
            compare(cache, int(length(cache) * share), ["--order", "largest"], False, (name, share))
            count += 1
    assert count > 5, count


def make(name):
    """A cache and a limit that takes several rounds."""
    cache = scratch.make(name, "--no-large-bodies", entries=600)
    return cache, ["--max-size", str(length(cache) // 2), "--order", "largest"]


def test_plans():
    """A plan, and '--max-delete', count what all rounds remove, not only the first."""
    cache, options = make("planned")
    file = path("plan.json")
    before = digests(cache)
    whole = json.loads(enforce(cache, *options, "--dry-run").stdout)["entries"]
    assert max(entry["round"] for entry in whole) > 1, "there was one round"
    assert [entry["id"] for entry in whole] == sorted(entry["id"] for entry in whole), "in order of rounds"
    enforce(cache, *options, "--plan", file)
    with open(file) as plan:
        planned = json.load(plan)["entries"]
    assert [entry["id"] for entry in planned] == [entry["id"] for entry in whole]
    refused = enforce(cache, *options, "--yes", "--max-delete", str(len(whole) - 1))
    assert refused.returncode == 1 and f"{len(whole)} of 600 entries would be removed" in refused.stderr, refused
    assert digests(cache) == before
    done = json.loads(enforce(cache, *options, "--yes", "--max-delete", str(len(whole))).stdout)
    assert done["entries"] == whole


def test_without_a_copy():
    """Where there is no room for a copy, a dry run says that it estimates, and the real run reports what it removed beyond that."""
    nowhere = {**os.environ, "TMPDIR": path("nowhere")}
    cache, options = make("estimated")
    dry = enforce(cache, *options, "--dry-run", environment=nowhere)
    assert "note: this is an estimate, because there is no room for a copy to simulate on: " in dry.stderr, dry.stderr
    planned = json.loads(dry.stdout)
    assert planned["footprint_after"] is None
    done = json.loads(enforce(cache, *options, "--yes").stdout)
    assert len(done["entries"]) > len(planned["entries"])
    assert [entry for entry in done["entries"] if entry["round"] == 1] == planned["entries"]
    # Where only a copy shows whether the limit can be met, nothing is removed, and a dry run says the same.
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    with held(cache):
        before = digests(cache)
        words = ["--max-size", str(length(cache) // 2)]
        for mode in [["--dry-run"], ["--yes"]]:
            result = subprocess.run([tool, "enforce", "-c", cache, *words, *mode, "--format", "json"], capture_output=True,
                                    stdin=subprocess.DEVNULL, text=True, env=nowhere)
            error = json.loads(result.stderr)
            assert result.returncode == 74 and error["message"] == (
                "nothing was removed: checking whether the limits can be met needs a copy of the cache: "
                f"cannot read or change '{path('nowhere')}': No such file or directory"), result
            assert error["hint"] == "set TMPDIR to a folder with room for a copy, or use '--best-effort'", result
            assert digests(cache) == before, mode
        done = enforce(cache, *words, "--yes", "--best-effort", environment=nowhere)
        assert json.loads(done.stdout)["entries"], done
