"""Runs every command that a report prints, in both formats, on copies of caches of many kinds: each does what the report says."""

import contextlib
import functools
import glob
import html
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import zlib

import pytest

import samples
import scratch
from products import tool
from scratch import path

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL)


def made(name, *options, entries=90, seed=5):
    cache = scratch.make(name, *options, entries=entries, seed=seed)
    for file in glob.glob(f"{cache}/fsCachedData/*"):
        os.utime(file, (1.7e9, 1.7e9))
    return cache


def size(cache):
    if os.path.isfile(cache):
        return os.path.getsize(cache)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(cache) for name in names)


def bytes_of(text):
    number, unit = re.fullmatch(r"([\d.,]+) (\w+)", text).groups()
    return float(number.replace(",", "")) * UNITS[unit]


def is_near(number, text, pages=0):
    """Whether a number of bytes is what a text says, to its last digit, and some pages of a database."""
    digits = text.split()[0]
    step = 10 ** -len(digits.partition(".")[2]) * UNITS[text.split()[1]]
    return abs(number - bytes_of(text)) <= step * 0.51 + pages * 4096


def checked(cache):
    """The number of findings of each severity, as `check` has it."""
    result = run("check", "-c", cache, "--format", "json")
    assert result.returncode in (0, 1), result
    counts = json.loads(result.stdout)["counts"]
    return ", ".join(f"{counts[key]:,} {key if counts[key] != 1 else key[:-1]}" for key in ("errors", "warnings", "notes"))


def reported(cache, *options):
    """The advice of a report, as pairs of a sentence and a command, and all other commands; the same in both formats."""
    text = run("report", "-c", cache, "--format", "markdown", "-o", "-", *options)
    page = run("report", "-c", cache, "-o", "-", *options)
    assert text.returncode == page.returncode == 0, (cache, text, page.returncode)
    text, page = text.stdout.decode(), re.sub("</?span[^>]*>", "", page.stdout.decode())
    advice = [(gain + rest, command) for gain, rest, command in re.findall(r"(?m)^- \*\*(.*?)\*\*(.*)\n  ` (.*) `$", text)]
    every = re.findall(r"` (urlcache-admin .*?) `", text)
    on_page = [html.unescape(code) for code in re.findall(r"<code[^>]*>(urlcache-admin .*?)</code>", page)]
    assert set(every) <= set(on_page), (cache, set(every) - set(on_page))
    for line in [re.search(r"(?m)^(.* errors?, .* notes?), as counted by `check`", text), re.search(r"gap\">(.*?), as counted by <code", page)]:
        assert line and line[1] == checked(cache), (cache, line and line[1], checked(cache))
    return advice, list(dict.fromkeys(every + on_page)), text


def arguments(command, cache, copy):
    words = shlex.split(command)
    assert words[0] == "urlcache-admin" and words.count(os.path.realpath(cache)) == 1, (words, cache)
    return [os.path.realpath(copy) if word == os.path.realpath(cache) else word for word in words[1:]]


@functools.cache
def asks(verb):
    """Whether a command asks for confirmation."""
    return b"--yes" in run(verb, "--help").stdout


def doing(words):
    return [word for word in words if word != "--dry-run"] + (["--yes"] if asks(words[0]) else [])


@pytest.fixture
def all_of(thorough):
    """Runs the commands of a report on copies of a cache: without --thorough all advice, and each twelfth of the others."""
    return functools.partial(run_all_of, step=1 if thorough else 12)


@pytest.fixture
def nothing_for(thorough):
    """Looks for advice in the report of a cache that cannot be changed, and runs the other commands of the report."""
    return functools.partial(no_advice_for, step=1 if thorough else 12)


def some(commands, cache, step):
    """One in `step` commands, of which the first depends on the cache."""
    return commands[zlib.crc32(os.path.basename(cache).encode()) % step::step]


def run_all_of(cache, options=(), step=1):
    """Runs what a report of a cache prints on copies of it, and returns the verbs of the advice."""
    advice, every, _ = reported(cache, *options)
    advised = [command for _, command in advice]
    assert set(advised) <= set(every), (advised, every)
    for command in advised + some([command for command in every if command not in advised], cache, step):
        for change in ([False, True] if "--dry-run" in command else [False]):
            copy = path("copy")
            shutil.rmtree(copy, ignore_errors=True)
            if os.path.isdir(cache):
                shutil.copytree(cache, copy)
            else:
                shutil.copy(cache, copy)
            words = arguments(command, cache, copy)
            before = size(copy)
            said = next((sentence for sentence, other in advice if other == command), None)
            judged = said and change
            result = run(*(doing(words) if change else words), *(["--format", "json"] if judged else []))
            assert result.returncode in (0, 1, 3), (command, change, result)
            if judged:
                kept(said, words, copy, before, result)
            if os.path.isdir(copy):
                shutil.rmtree(copy)
            else:
                os.remove(copy)
    return [shlex.split(command)[1] for _, command in advice]


def kept(said, words, copy, before, result):
    """What a command did is what the report said of it."""
    gain = re.match(r"(?:Free|Reclaim) (?:about )?([\d.,]+ \w+)", said)
    count = re.search(r"([\d,]+) (?:entr|(?:orphaned )?body file)", said)
    count = count and int(count[1].replace(",", ""))
    freed = before - size(copy)
    if words[0] == "check":
        left = json.loads(run("check", "-c", copy, "--format", "json").stdout)
        kinds = words[[word.startswith("--repair") for word in words].index(True)].split("=")[1].split(",")
        removed = json.loads(result.stdout)["repair"]["removed"]
        assert removed["orphans" if kinds == ["orphans"] else "entries"] == count, (said, removed)
        assert not any(finding["repairable"] and finding["code"] in KINDS[kind] for kind in kinds for finding in left["findings"]), (said, left)
        if gain:
            # The index of a log that an app left goes as well.
            assert any(is_near(freed - index, gain[1], pages=1) for index in [0, 32 << 10]), (said, freed)
    elif words[0] == "compact":
        assert is_near(freed, gain[1], pages=2), (said, freed)
    elif words[0] == "enforce":
        number, unit = re.fullmatch(r"(\d+)((?:[KMG]iB)?)", words[words.index("--max-size") + 1]).groups()
        limit = int(number) << {"": 0, "KiB": 10, "MiB": 20, "GiB": 30}[unit]
        # Whole pages are freed, so it may be more than the report said.
        is_enough = is_near(freed, gain[1]) or freed > bytes_of(gain[1])
        assert size(copy) <= limit and is_enough or result.returncode in (1, 3), (said, result)
        assert result.returncode == 0, (said, result)
    elif words[0] == "purge":
        removed = json.loads(result.stdout)["removed"]
        assert removed["entries"] == count and is_near(removed["body_bytes"], gain[1]), (said, removed)
        # Some of the bodies may have been in pages with others.
        assert freed >= bytes_of(gain[1]) / 2 - 8 * 4096, (said, freed)
    else:
        raise AssertionError(words)


KINDS = {"bodies": ["missing-body-file"], "undecodable": ["undecodable"], "orphans": ["orphan-body-file"], "rows": ["no-blob-row", "no-body-row"]}


def enlarge_log(cache):
    """Writes to a cache in a way that leaves a log much larger than the database, and returns the open database."""
    database = sqlite3.connect(f"{cache}/Cache.db")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA wal_autocheckpoint=0")
    for _ in range(20):
        database.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = receiver_data || zeroblob(1) WHERE isDataOnFS = 0")
        database.commit()
    return database


def no_advice_for(cache, step=1):
    advice = run("report", "-c", cache, "--format", "markdown", "-o", "-").stdout.decode()
    page = re.sub("</?span[^>]*>", "", run("report", "-c", cache, "-o", "-").stdout.decode())
    for text in [advice, page]:
        assert not re.search(r"purge|enforce|compact|--repair", re.sub(r"<script>.*?</script>", "", text, flags=re.S)), text
        found = [html.unescape(code) for code in re.findall(r"[`>] ?(urlcache-admin .*?) ?[`<]", text)]
        assert found, text
        for command in some(found, cache, step):
            result = run(*shlex.split(command)[1:])
            assert result.returncode in (0, 1), (command, result)


def test_made_up_caches(all_of, thorough):
    """The report of a cache over its capacity advises to purge and to enforce."""
    for seed in range(4) if thorough else [1]:
        verbs = all_of(made(f"plain{seed}", seed=seed), ["--capacity", "1MiB"])
        assert "purge" in verbs and "enforce" in verbs, (seed, verbs)


def test_all_faults(all_of):
    """The repairs come first."""
    cache = made("faults", "--faults", "orphan-files,missing-bodies,undecodable", entries=70, seed=3)
    verbs = all_of(cache, ["--capacity", "5MiB"])
    assert verbs[:2] == ["check", "check"], verbs


@pytest.mark.parametrize("fault", ["orphan-files", "missing-bodies", "undecodable"])
def test_faults(all_of, fault):
    """Of a cache with one kind of faults the repair comes first."""
    assert all_of(made("fault", "--faults", fault, entries=40))[0] == "check"


def test_empty_cache(all_of):
    """The report of an empty cache advises nothing."""
    assert all_of(made("empty", entries=0)) == []


def test_unreachable_capacity(all_of):
    """A limit that cannot be met is not advised."""
    assert "enforce" not in all_of(made("unreachable", entries=60), ["--capacity", "20KiB"])


def test_schema_202(all_of):
    """The commands do what the report says also in the older schema."""
    all_of(made("202", "--schema", "202", entries=30, seed=6))


def test_foundation_cache(all_of):
    """The commands do what the report says also in a Foundation cache, with and without an undecodable entry."""
    cache = made("foundation", "--format", "foundation", entries=40, seed=7)
    assert "purge" in all_of(cache, ["--capacity", "1MiB"])
    with open(sorted(glob.glob(cache + "/*"))[3], "r+b") as file:
        file.write(b"x" * 40)
    all_of(cache)


def test_free_pages(all_of):
    """The report of a cache with many free pages advises to compact it."""
    cache = made("free", "--no-large-bodies", entries=300, seed=8)
    assert run("purge", "-c", cache, "--older-than", "60d", "-y").returncode == 0
    assert "compact" in all_of(cache)


def test_large_log(all_of):
    """The report of a cache whose app was killed shows the size of the log, and advises to compact it."""
    cache = made("log", "--no-large-bodies", entries=100, seed=9)
    database = enlarge_log(cache)
    cache = shutil.copytree(cache, path("killed"))
    database.close()
    assert "compact" in all_of(cache)
    _, _, text = reported(cache)
    parts = dict(re.findall(r"(?m)^\| ([\w -]+log) \| ([\d.]+ \w+) \|$", text))
    assert abs(bytes_of(parts["write-ahead log"]) - os.path.getsize(f"{cache}/Cache.db-wal")) < 1e5, parts
    assert bytes_of(parts["index of the write-ahead log"]) == os.path.getsize(f"{cache}/Cache.db-shm"), parts


def test_while_an_app_runs():
    """While an app has the cache open, nothing is advised that the app prevents."""
    cache = made("live", "--no-large-bodies", "--faults", "orphan-files,undecodable", entries=100, seed=10)
    with contextlib.closing(enlarge_log(cache)):
        advice, every, text = reported(cache)
        assert not any(shlex.split(command)[1] == "compact" for command in every), every
        assert re.search(r"Write-ahead log: the app that has the cache open will free [\d.]+ MiB when it quits", text), text
        for command in every:
            words = shlex.split(command)[1:]
            assert run(*words).returncode in (0, 1), command


@pytest.mark.parametrize("name", ["a.tar", "a.har", "a.warc", "a.zip"])
def test_archives(nothing_for, name):
    """No change of an archive is advised, as archives cannot be changed."""
    assert run("export", "-c", made("archived", entries=25, seed=11), "-o", path(name)).returncode in (0, 3)
    nothing_for(path(name))
    # A native archive has the schema of its cache.
    schema = "(schema 203)" if name.endswith((".tar", ".zst", ".zip")) else "(archive)"
    assert schema.encode() in run("usage", path(name)).stdout, name


def test_unknown_schema(nothing_for):
    """No change of a cache is advised that is only read."""
    cache = made("old", entries=60, seed=11)
    database = sqlite3.connect(f"{cache}/Cache.db")
    database.execute("PRAGMA user_version = 999")
    database.commit()
    database.close()
    nothing_for(cache)


def test_damaged_databases(nothing_for, all_of, thorough):
    """No command is advised that fails on a damaged database."""
    tried = 0
    for place in range(3, 60, 3 if thorough else 9):
        cache = made(f"damaged{place}", "--no-large-bodies", entries=100, seed=12)
        with open(f"{cache}/Cache.db", "r+b") as file:
            file.seek(place * 4096)
            if len(file.read(4096)) < 4096:
                break
            file.seek(place * 4096)
            file.write(b"\xa5" * 4096)
        if run("report", "-c", cache, "--format", "markdown", "-o", "-").returncode == 65:
            continue
        text = run("report", "-c", cache, "--format", "markdown", "-o", "-").stdout.decode()
        if "damaged-database" in text:
            assert "The database is damaged. urlcache-admin does not change it" in text, text
            nothing_for(cache)
            tried += 1
        else:
            all_of(cache)
    assert tried > 0


def test_apple_caches(nothing_for, all_of, cachedb, thorough):
    """The commands do what the report says also in caches as Apple systems write them."""
    count = 0
    databases = sorted(glob.glob(f"{cachedb}/*/**/Cache.db", recursive=True))
    for number, database in enumerate(databases if thorough else databases[::3]):
        copy = samples.copy(os.path.dirname(database), f"real{number}")
        text = run("report", "-c", copy, "--format", "markdown", "-o", "-")
        if text.returncode != 0:
            assert text.returncode in (65, 66), text
            continue
        count += 1
        if "can only be read" in text.stdout.decode():
            nothing_for(copy)
        else:
            all_of(copy, ["--capacity", "100KiB"])
    assert count > 0
