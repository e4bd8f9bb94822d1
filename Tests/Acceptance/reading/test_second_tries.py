"""What a first try that fails is told: one style for every error, and a hint that works as it is."""

import json
import os
import shutil

import pytest

import terminal
from scratch import digests, make, path, run


def failure(*words, status=64, **options):
    """The lines of the message."""
    return run(*words, status=status, **options).stderr.decode().splitlines()


@pytest.mark.parametrize("words, lines", [
    (["--older-than", "foo"], ["error: '--older-than': 'foo' is not a duration",
                               "hint: write a number with s, min, h, d, w, mo or y, for example '30d'"]),
    (["--older-than", "3. Use one of: x"], ["error: '--older-than': '3. Use one of: x' is not a duration",
                                            "hint: write a number with s, min, h, d, w, mo or y, for example '30d'"]),
    (["--older-than", "1m"], ["error: '--older-than': '1m' could mean minutes or months", "hint: write '1min' or '1mo'"]),
    (["--id", "foo"], ["error: '--id': 'foo' is not an id", "hint: 'urlcache-admin list' shows the ids"]),
    (["--mime", "foo"], ["error: '--mime': 'foo' is not a media type",
                         "hint: write a type such as 'image' or 'text/html', or '*/foo' for all with that subtype"]),
    (["--format", "foo"], ["error: '--format': unknown value 'foo'", "hint: use one of: table, json, ndjson, csv, tsv, urls, ncdu"]),
    (["--limit", "foo"], ["error: '--limit': 'foo' is not a number", "hint: write '--limit 10', for example"]),
    (["--sort", "sise"], ["error: unknown column 'sise'", "hint: did you mean 'size'?"]),
])
def test_values(words, lines):
    """A wrong value is reported with its option, what it is not, and what to write, whichever parser refuses it."""
    assert failure("list", make("shop"), *words) == lines


@pytest.mark.parametrize("verb, words, lines", [
    ("enforce", ["-n", "--order", "foo"], ["error: '--order': unknown order 'foo'", "hint: use one of: oldest, largest, stale-first, least-recently-used"]),
    ("check", ["--repair=foo"], ["error: 'foo' is not a kind of repair", "hint: use one of: rows, bodies, undecodable, orphans, sidecars"]),
    ("usage", ["--fail-above", "x"], ["error: '--fail-above': 'x' is not a percentage", "hint: use a percentage such as '90%'"]),
    ("revalidate", ["--limit", "3"], ["error: 'revalidate' has no option '--limit'",
                                      "hint: select fewer entries, for example with '--host' or '--newer-than'"]),
])
def test_values_of_other_commands(verb, words, lines):
    assert failure(verb, make("shop"), *words) == lines


def test_media_types():
    """A word for a kind of file selects its media types."""
    cache = make("shop", entries=300)
    def count(*words):
        return int(run("list", cache, "--count", *words).stdout)
    for word, types in {"js": ["*/javascript", "*/x-javascript"], "javascript": ["*/javascript"], "xml": ["*/xml", "*/*+xml"],
                        "json": ["*/json", "*/*+json"], "pdf": ["application/pdf"], "html": ["text/html"]}.items():
        assert count("--type", word) == count(*[part for type in types for part in ("--mime", type)]), word
    assert count("--type", "js") > 0 and count("--type", "js,html") == count("--type", "js") + count("--type", "html")


def test_directives():
    """'directive' in an expression counts what 'usage --by directive' counts."""
    cache = make("shop", entries=200)
    groups = {group["key"]: group["entries"] for group in json.loads(run("usage", cache, "--by", "directive", "--format", "json").stdout)["groups"]}
    assert len(groups) > 3
    for name, entries in groups.items():
        assert int(run("list", cache, "--where", f"directive = {name.upper()}", "--count").stdout) == entries, name


def test_samples():
    """'sample' creates the folders above the new one, and says what else it makes."""
    assert run("sample", path("a/b/c"), "--entries", "3").stdout.decode() == f"Made '{path('a/b/c')}' with 3 entries\n"
    made = run("sample", path("w"), "--entries", "60", "--format", "webkit").stdout.decode()
    assert made == f"Made '{path('w')}' with 60 entries and the lists of what their pages loaded\n"
    assert run("list", path("w"), "--where", "type = resource", "--count").stdout == b"60\n"
    # A page can be the newest entry, and the list of what it loaded is stored after it.
    for seed in range(20):
        run("sample", path(f"w{seed}"), "--entries", "9", "--seed", str(seed), "--format", "webkit", "--newest", "2026-01-01T00:00:00Z")
        assert run("list", path(f"w{seed}"), "--where", "stored > 2026-01-01T00:00:00Z", "--count").stdout == b"0\n", seed


def test_imports_into_new_caches():
    """With '--create', an operand names the new cache; without, the hint has the command that creates it."""
    archive, new = path("a.tar"), path("new")
    run("export", make("shop"), "-o", archive, "-q")
    lines = failure("import", archive, new)
    assert lines == [f"error: '{new}' is no cache, no URL and no id", f"hint: to create a cache there: urlcache-admin import {archive} -c {new}"]
    assert not os.path.exists(new)
    run("import", archive, new, "--create", "foundation", "--yes")
    assert len([name for name in os.listdir(new) if name.endswith(".storedcachedurlresponse")]) > 30
    run(*lines[1].removeprefix("hint: to create a cache there: urlcache-admin ").replace(new, new + "2").split(), "--yes")
    assert os.path.exists(new + "2/Cache.db")


def test_folders_with_a_cache():
    """A command that changes a cache does not take the folder above it, but says how to name the cache."""
    inner = path("app.xcappdata/AppData/Library/Caches/com.example.shop")
    shutil.copytree(make("shop"), inner)
    before = digests(inner)
    for verb, options in ("purge", ["--all", "-n"]), ("enforce", ["--max-entries", "1", "-n"]), ("compact", []):
        lines = failure(verb, path("app.xcappdata"), *options, status=65)
        assert lines[0].endswith("is a folder with a cache in it: a command that changes the cache needs its path")
        command = lines[1].removeprefix("hint: write: urlcache-admin ").split()
        assert command == [verb, inner + "/Cache.db", *options]
    run(*command, "-n")
    assert digests(inner) == before


def test_hints_name_the_cache():
    """A hint that lists the entries can be run as it is."""
    cache = make("shop")
    for words in ["99999"], ["--status", "599"]:
        lines = failure("show", cache, *words, status=1)
        assert lines[1] == f"hint: list the entries with: urlcache-admin list -c {cache}"


def test_missing_responses():
    """On a terminal, '--why-missing' ends with the command that leads on, and not where the user came from."""
    cache, url = make("shop"), "https://nope.example/a?b=1"
    first = failure("explain", cache, url, status=1)[1].partition(": urlcache-admin ")[2].replace("'", "").split()
    seen, _ = terminal.run(*first, columns=400)
    assert (f"hint: get the response headers with: curl -sI '{url}' | urlcache-admin explain -c {cache} --why-missing '{url}' --headers-from -"
            in "\n".join(seen.rows)), seen.rows
    entry = json.loads(run("list", cache, "--format", "json", "--limit", "1").stdout)["entries"][0]
    seen, _ = terminal.run("explain", cache, "--why-missing", entry["url"], columns=400)
    assert f"hint: explain the entry with: urlcache-admin explain -c {cache} {entry['id']}" in "\n".join(row.rstrip() for row in seen.rows)
    assert b"hint" not in run("explain", cache, "--why-missing", url, status=3).stderr


def test_configurations(monkeypatch):
    """Misspelt settings and tables get the right spelling, and an error in a file its own line."""
    file = path("config.toml")
    def config(*words, status=64):
        return failure("config", *words, "--config", file, status=status)
    open(file, "w").close()
    assert config("set", "caches.x.maxsize", "3M") == ["error: unknown setting 'caches.x.maxsize'", "hint: did you mean 'caches.x.max-size'?"]
    assert config("set", "maxsize", "3M")[1] == "hint: did you mean 'max-size'?"
    assert config("set", "shop.max-size", "3M")[1].startswith("hint: did you mean: urlcache-admin config set caches.shop.max-size 3M")
    assert config("set", "caches.shop", "/x")[1].startswith("hint: did you mean: urlcache-admin config set caches.shop.path /x")
    with open(file, "w") as output:
        output.write('[cache.x]\npath = "/x"\n')
    assert config("check", status=78) == [f"error: {file}:1:2: 'cache' is the default cache, not a table", "  [cache.x]", "   ^^^^^",
                                          "hint: did you mean '[caches.x]'?"]
    with open(file, "w") as output:
        output.write('wait = "1s"\nmax_age = 3\n')
    assert config("unset", "wait", status=78)[0] == "error: line 2 of the file has an error: '3' has no unit"
