"""Lists caches column by column: what a column says does not depend on which others are decoded.

    check_columns.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each kind of cache, and ends at the first difference.
"""

import json, os, re, shutil, subprocess, sys, tempfile

tool, maker = sys.argv[1:]
root = tempfile.mkdtemp()


def run(*arguments):
    return subprocess.run([tool, *arguments], capture_output=True, check=True).stdout


def columns(cache):
    """All names, as the message about a wrong one has them."""
    message = subprocess.run([tool, "list", "-c", cache, "--columns", "?"], capture_output=True).stderr.decode()
    names = re.findall(r"[a-z][a-z-]+", message[message.index("There are:"):].split("\n")[0])[2:]
    assert len(names) > 30 and "ttl" in names and "notes" in names, message
    # Side files are not of the cache.
    return [name for name in names if name != "sidecar-etag"]


def entries(cache, names):
    lines = run("list", "-c", cache, "--format", "ndjson", "--show-secrets", "--at", "2026-01-01", "--columns", names)
    return [json.loads(line) for line in lines.splitlines()]


def check(kind, *options):
    cache = os.path.join(root, kind)
    subprocess.run([maker, "--format", kind, "--entries", "60", "--seed", "4", "--faults",
                    "orphan-files,missing-bodies,undecodable", cache], check=True)
    names = columns(cache)
    whole = entries(cache, ",".join(names))
    assert len(whole) >= 60 and any(entry["ttl"] for entry in whole), kind
    for name in names:
        # Notes are on whatever was decoded.
        if name == "notes":
            continue
        key = name.replace("-", "_")
        for entry, alone in zip(whole, entries(cache, name), strict=True):
            for member, value in alone.items():
                assert entry[member] == value, (kind, name, entry, alone)
            assert key in alone or name in alone, (name, alone)
    print(f"{kind}: ok")


try:
    check("apple")
    check("foundation")
finally:
    shutil.rmtree(root)
