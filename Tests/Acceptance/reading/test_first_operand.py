"""Names the cache as the first operand: each kind of path, names of the configuration, and words that could be two things."""

import collections
import json
import os
import shutil
import subprocess

import pytest

from products import tool
from scratch import export, make, path, run


def count(*words, **options):
    return int(run("list", "--count", "-q", *words, **options).stdout)


@pytest.mark.parametrize("kind", ["apple", "foundation"])
def test_paths(kind):
    """A folder, a database, a link to a folder and an archive are the cache, in front of ids and URLs or alone."""
    cache = make("cache", "--format", kind)
    entries = json.loads(run("list", "-c", cache, "--json").stdout)["entries"]
    os.symlink(cache, path("link"))
    paths = [cache, path("link"), os.path.relpath(cache), export(cache, "a.tar.zst")]
    paths += [os.path.join(cache, "Cache.db")] if kind == "apple" else []
    for name in paths:
        assert count(name) == len(entries) == 40, name
        assert count(name, str(entries[3]["id"])) == 1 if not name.endswith("zst") else True
        assert count(name, entries[3]["url"]) >= 1
        assert run("usage", name, "-q").stdout == run("usage", "-c", name, "-q").stdout
    # Commands that change a cache take it the same way.
    run("purge", cache, entries[3]["url"], "--yes")
    assert count(cache) < 40 and run("check", cache, status=None).returncode in (0, 1)


def test_two_meanings():
    """A file whose name could be an id is the cache only if it is one, and then the command line is refused."""
    make("cache")
    shutil.copytree(path("cache"), path("7"))
    with open(path("8"), "w") as file:
        file.write("no cache\n")
    os.makedirs(path("home/.config/urlcache-admin"))
    with open(path("home/.config/urlcache-admin/config.toml"), "w") as file:
        file.write(f"[caches.cache]\npath = '{path('7')}'\n[caches.shop]\npath = '{path('cache')}'\n[caches.7]\npath = '/x'\n")
    options = {"cwd": path(""), "env": {**os.environ, "HOME": path("home")}}
    refused = run("list", "7", status=64, cwd=path(""), env={**os.environ, "HOME": path("")})
    assert b"'7' could be a cache or the id of an entry\nhint: write '-c 7' for the cache, or '-- 7'" in refused.stderr
    # This is an id, whatever the file contains.
    assert count("8", cwd=path(""), env={**os.environ, "URLCACHE_ADMIN_CACHE": "cache"}) == 1
    refused = run("usage", "cache", status=64, **options)
    assert b"'cache' is both a configured cache and a file in this folder\nhint: write '-c cache'" in refused.stderr
    assert count("./cache", **options) == count("-c", "cache", **options) == count("shop", **options) == 40
    # A change of the wrong one could not be undone, and a comparison with it would mislead.
    run("export", "./cache", "-o", "all.tar", **options)
    run("purge", "-c", "./cache", "--all", "--yes", **options)
    run("purge", "-c", "cache", "--all", "--yes", **options)
    for words in ["all.tar", "cache"], ["cache", "all.tar"]:
        refused = run("import", *words, "--yes", status=64, **options)
        assert b"'cache' is both a configured cache and a file in this folder\nhint: write '-c cache'" in refused.stderr
    assert run("list", "./cache", "--count", **options).stdout == run("list", "-c", "cache", "--count", **options).stdout == b"0\n"
    refused = run("diff", "cache", "shop", status=64, **options)
    assert f"hint: write '{path('7')}' for the configured cache, or './cache'".encode() in refused.stderr
    run("import", "all.tar", "./cache", "--yes", **options)
    assert count("./cache", **options) == 40 and run("list", "-c", "cache", "--count", **options).stdout == b"0\n"
    # After '--' nothing is the cache.
    assert b"no cache given" in run("list", "--", "shop", status=64, **options).stderr
    assert count("--", "7", env={**os.environ, "URLCACHE_ADMIN_CACHE": path("cache")}) == 1


def test_operands_that_are_no_entries():
    """A folder without a cache, the name of a new archive, and a second cache get the command line that was meant."""
    cache, folder = make("cache"), path("")
    refused = run("usage", folder, status=65)
    assert refused.stderr.endswith(b"\nhint: find caches below it with: urlcache-admin discover " + folder.encode() + b"\n")
    assert cache.encode() in run("discover", folder).stdout
    refused = run("recover", cache, "OUT.tar", status=64, cwd=folder)
    assert refused.stderr.decode() == (
        "error: 'OUT.tar' is neither a URL nor an id\n"
        f"hint: did you mean: urlcache-admin recover {cache} --output OUT.tar\n")
    other = make("other")
    for verb in ["list", "recover", "purge"]:
        refused = run(verb, cache, other, status=64)
        assert refused.stderr.decode() == (
            f"error: '{other}' is a second cache, but the command takes only one\n"
            f"hint: run the command once for each: urlcache-admin {verb} {cache}; urlcache-admin {verb} {other}\n")


def test_groups_of_several_caches():
    """'usage --by' adds up the groups of all caches below a folder, as they are in each."""
    os.mkdir(path("all"))
    sums = collections.Counter()
    for number, kind in enumerate(["apple", "foundation", "apple"]):
        cache = make(f"all/{number}", "--format", kind, seed=number)
        for entry in json.loads(run("list", cache, "--json", "--columns", "host,size").stdout)["entries"]:
            sums[entry["host"]] += 1
    under = ["usage", "--all-under", path("all"), "--by", "host"]
    usage = json.loads(run(*under, "--json").stdout)
    groups = usage["groups"]
    assert {group["key"]: group["entries"] for group in groups} == sums and len(groups) > 3
    assert [group["bytes"] for group in groups] == sorted((group["bytes"] for group in groups), reverse=True)
    assert usage["rest"] is None and usage["entries"] == sum(sums.values()) == 120
    cut = json.loads(run(*under, "--json", "-n", "2").stdout)
    assert cut["groups"] == groups[:2]
    assert cut["rest"] == {"groups": len(groups) - 2, "entries": 120 - groups[0]["entries"] - groups[1]["entries"],
                           "bytes": sum(group["bytes"] for group in groups[2:])}
    rows = run(*under, "--format", "csv", text=True).stdout.splitlines()
    assert rows == ["key,entries,bytes"] + [f"{group['key']},{group['entries']},{group['bytes']}" for group in groups]
    for time, expected in [("2026-01-02T00:00:00Z", {"fresh", "stale"}), ("2036-01-01T00:00:00Z", {"stale"})]:
        fresh = json.loads(run("usage", "--all-under", path("all"), "--by", "freshness", "--json", "--at", time).stdout)["groups"]
        assert {group["key"] for group in fresh} - {"no-lifetime"} == expected, fresh
    table = run(*under, text=True).stdout
    assert "\nHOST " in table and groups[0]["key"] in table


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_installed_completions(shell):
    """'completion' writes the script that is installed beside the program, if there is one."""
    places = {"bash": "bash-completion/completions/urlcache-admin", "zsh": "zsh/site-functions/_urlcache-admin",
              "fish": "fish/vendor_completions.d/urlcache-admin.fish"}
    os.mkdir(path("bin"))
    program = shutil.copy(tool, path("bin/urlcache-admin"))
    generated = subprocess.run([program, "completion", shell], check=True, capture_output=True, text=True)
    assert "urlcache-admin" in generated.stdout and not generated.stderr
    os.makedirs(os.path.dirname(path(f"share/{places[shell]}")))
    with open(path(f"share/{places[shell]}"), "w") as file:
        file.write("installed\n")
    assert subprocess.run([program, "completion", shell], check=True, capture_output=True, text=True).stdout == "installed\n"
