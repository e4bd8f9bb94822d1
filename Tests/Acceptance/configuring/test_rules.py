"""Rules that forbid entries, allow them in memory only, or have them validated, in made-up caches of both kinds; saved queries; presets."""

import calendar
import json
import os
import subprocess
import time

import pytest

from products import tool
from scratch import make, path, run as plain_run, tree, write as write_file

FORMATS = ["apple", "foundation"]
NOW = "2026-01-01T00:00:00Z"
AT = ["--at", NOW]


@pytest.fixture(autouse=True)
def configuration(monkeypatch):
    """The path of the configuration file of the running test."""
    monkeypatch.setenv("URLCACHE_ADMIN_CONFIG", path("config.toml"))
    return path("config.toml")


def run(*words, status=0, **options):
    return plain_run(*words, status=status, text=True, **options).stdout


def entries(cache, *options, columns="id,url,size,mime,status,stored"):
    lines = run("list", "-c", cache, "--format", "ndjson", "--columns", columns, *options, *AT).splitlines()
    return {entry["id"]: entry for entry in map(json.loads, lines)}


def age(entry):
    return calendar.timegm(time.strptime(NOW, "%Y-%m-%dT%H:%M:%SZ")) - calendar.timegm(
        time.strptime(entry["stored"], "%Y-%m-%dT%H:%M:%SZ"))


def configure(cache, rules):
    write_file("config.toml", f'[caches.shop]\npath = "{cache}"\n{rules}'.encode())


@pytest.mark.parametrize("kind", FORMATS)
def test_findings(kind):
    """'check' reports the entries of a 'never' rule, and 'enforce' removes them; entries of a 'memory-only' rule are only reported."""
    configure("/none", "")
    cache = make("findings", "--format", kind, entries=120)
    all = entries(cache)
    plain = json.loads(answer("check", "-c", cache, "--format", "json", *AT))["findings"]
    configure(cache, """
        [[caches.shop.rules]]
        name = "quotes"
        match.mime = "application/json"
        action = "never"
        [[caches.shop.rules]]
        match.mime = "image/*"
        action = "memory-only"
    """)
    never = {id for id, entry in all.items() if entry["mime"] == "application/json"}
    memory = {id for id, entry in all.items() if (entry["mime"] or "").startswith("image/")}
    assert never and memory
    before = tree(cache)
    found = json.loads(run("check", "-c", "shop", "--format", "json", *AT, status=1))["findings"]
    assert tree(cache) == before
    ruled = [finding for finding in found if finding["code"].endswith("-by-rule")]
    assert [finding for finding in found if finding not in ruled] == plain
    assert {(finding["code"], finding["id"], finding["severity"], finding["repairable"]) for finding in ruled} == {
        *(("never-by-rule", id, "warning", False) for id in never), *(("memory-only-by-rule", id, "warning", False) for id in memory)}
    assert {finding["message"] for finding in ruled} == {
        "matched by rule 1 'quotes'; the configuration forbids storing it; 'enforce' removes it",
        "matched by rule 2; the configuration allows it only in memory, but the app stored it on disk"}
    tested = json.loads(run("rules", "test", "-c", "shop", "--format", "json", *AT))["entries"]
    assert {entry["fate"] for entry in tested} == {"never", "memory-only", None}, tested
    assert "   2  memory-only  https://" in run("rules", "test", "-c", "shop", *AT)
    pinned = all[min(never)]["url"]
    run("pin", "-c", "shop", pinned)
    kept = set(entries("shop", "--pinned"))
    receipt = json.loads(run("enforce", "-c", "shop", "--yes", "--format", "json", *AT))
    assert {(entry["id"], entry["reason"], entry["rule"]) for entry in receipt["entries"]} == {(id, "never-by-rule", 1) for id in never - kept}
    assert entries(cache).keys() == all.keys() - (never - kept)
    run("enforce", "-c", "shop", "--yes", "--include-pinned", *AT)
    assert not [finding for finding in json.loads(answer("check", "-c", "shop", "--format", "json", *AT))["findings"]
                if finding["code"] == "never-by-rule"]


@pytest.mark.parametrize("kind", FORMATS)
def test_revalidation(kind):
    """'revalidate-after' changes what 'explain' and '--where' report, and nothing else."""
    configure("/none", "")
    cache = make("revalidation", "--format", kind, entries=120)
    configure(cache, """
        [[caches.shop.rules]]
        match = { mime = "image/*" }
        revalidate-after = "40d"
        class = "pictures"
        [[caches.shop.rules]]
        match = {}
        revalidate_after = "1000d"
        [[caches.shop.rules]]
        match = { mime = "image/*" }
        max-entries = 100000
    """)
    before = tree(cache)
    all = entries("shop")
    after = lambda entry: 86400 * (40 if (entry["mime"] or "").startswith("image/") else 1000)
    due = {id for id, entry in all.items() if age(entry) > after(entry)}
    pictures = {id for id, entry in all.items() if after(entry) == 86400 * 40}
    assert due and pictures - due, (due, pictures)
    where = lambda text: entries("shop", "--where", text).keys()
    assert where("revalidation = due") == due
    assert where("revalidation = not-due") == where("revalidation != due") == all.keys() - due
    assert where('class = pictures && revalidation in (due, not-due)') == where('class ^= pic') == pictures
    assert where('class = cache') == all.keys() - pictures
    explained = {entry["id"]: entry for entry in map(json.loads, answer(
        "explain", "-c", "shop", "--all", "--format", "ndjson", *AT).splitlines())}
    for id, entry in all.items():
        assert explained[id]["configured"] == {
            "class": "pictures" if id in pictures else "cache", "revalidate_after": after(entry), "revalidation_due": id in due}, entry
    text = answer("explain", "-c", "shop", str(min(pictures & due)) if kind == "apple" else all[min(pictures & due)]["url"], *AT)
    assert "Class                pictures\nRevalidation due     after 40 days by rule 1: due for " in text, text
    # How fresh entries are, and what becomes of them, is as without the rule.
    fresh = entries("shop", columns="id,freshness,ttl,expires-at")
    tested = json.loads(run("rules", "test", "-c", "shop", "--format", "json", *AT))["entries"]
    assert {entry["id"] for entry in tested if entry["rule"] == 3} == pictures and {entry["rule"] for entry in tested} == {3, None}
    assert json.loads(run("enforce", "-c", "shop", "--yes", "--format", "json", *AT))["entries"] == []
    configure(cache, "")
    assert fresh == entries("shop", columns="id,freshness,ttl,expires-at")
    assert "configured" not in json.loads(answer("explain", "-c", "shop", "--all", "--format", "json", *AT))["entries"][0]
    # Without a rule it is not known, and neither is the opposite.
    assert entries("shop", "--where", "revalidation = due || !(revalidation = due)") == {}
    assert tree(cache) == before


def answer(*words):
    """The output of a command whose answer may be "no"."""
    result = subprocess.run([tool, *words], capture_output=True, text=True)
    assert result.returncode in (0, 1, 3), result
    return result.stdout


@pytest.mark.parametrize(("text", "place", "message"), [
    ("[[rules]]\nmatch = {}\naction = 'nver'\n", "3:10", "unknown action\n  action = 'nver'\n           ^^^^^^\n"
     "hint: use one of: keep, purge, never, memory-only\n"),
    ("[[rules]]\nmatch.where = 'class = a'\naction = 'keep'\n", "2:15", "a rule cannot test 'class', because rules set it\n"
     "  match.where = 'class = a'\n                ^^^^^^^^^^^\nhint: copy the 'match' of the other rule\n"),
    ("[[rules]]\nmatch = {}\nrevalidate-after = '1m'\n", "3:20", "'1m' could mean minutes or months\n  revalidate-after = '1m'\n"
     "                     ^^^^\nhint: write '1min' or '1mo'\n")], ids=["action", "class", "duration"])
def test_refused_rules(configuration, text, place, message):
    """A rule that makes no sense is refused, with its place and a hint."""
    write_file("config.toml", text.encode())
    assert plain_run("config", "check", status=78, text=True).stderr == f"error: {configuration}:{place}: {message}"


def test_class_of_two_caches():
    """'diff' refuses an expression with 'class', because its two caches have different rules."""
    cache = make("refusals")
    write_file("config.toml", b"")
    assert plain_run("diff", cache, cache, "--where", "class = a", status=64, text=True).stderr == (
        "error: '--where' cannot test 'class' here: it depends on the rules of one cache, and there are two\n"
        "hint: list the entries of each with 'urlcache-admin list -c NAME --where …'\n")


def test_saved():
    """A saved query lists what its options would list; an option on the command line replaces the saved option."""
    cache = make("saved", entries=80)
    configure(cache, '''
        [saved.large]
        where = ["size > 8KiB", "status = 4xx"]
        sort = "-size"
        columns = ["id", "size", "url"]
        [saved.bare]
        columns = "url"
    ''')
    where = ["--where", "size > 8KiB", "--where", "status = 4xx"]
    for saved, written in [
            ([], [*where, "--sort", "-size", "--columns", "id,size,url"]),
            (["--sort", "url"], [*where, "--sort", "url", "--columns", "id,size,url"]),
            (["--columns", "url", "--limit", "2"], [*where, "--sort", "-size", "--columns", "url", "--limit", "2"]),
            (["--where", "size > 1KiB", "--mime", "image/*"], ["--where", "size > 1KiB", "--mime", "image/*", "--sort", "-size", "--columns", "id,size,url"]),
            (["--count"], [*where, "--count"]), (["--format", "urls"], [*where, "--sort", "-size", "--format", "urls"])]:
        assert (found := run("list", "-c", "shop", "--saved", "large", *saved, *AT)) == run("list", "-c", "shop", *written, *AT), saved
        assert found.strip() not in ("", "80"), saved
    assert run("list", "-c", "shop", "--saved", "bare") == run("list", "-c", "shop", "--columns", "url")
    refused = plain_run("list", "-c", "shop", "--saved", "lrage", status=64, text=True)
    assert refused.stderr == "error: unknown saved query 'lrage'\nhint: use one of: large, bare\n", refused
    rows = [row for row in json.loads(run("config", "list", "--format", "json"))["settings"] if row["name"].startswith("saved.")]
    assert [(row["name"], row["value"]) for row in rows] == [
        ("saved.large.where", "size > 8KiB"), ("saved.large.where", "status = 4xx"), ("saved.large.sort", "-size"),
        ("saved.large.columns", "id,size,url"), ("saved.bare.columns", "url")], rows
    run("config", "set", "wait", "2s")
    assert run("list", "-c", "shop", "--saved", "large", "--count") == run("list", "-c", "shop", *where, "--count")


@pytest.mark.parametrize(("text", "place", "message"), [
    ("", "1:8", "the saved query is empty\n"),
    ("where = 'sze > 1'\n", "2:10", ""),
    ("where = []\n", "2:9", "the array is empty, so it would match nothing\n"),
    ("columns = 'urls'\n", "2:11", "'urls' is not a list of columns\n"),
    ("sort = 'url,id'\n", "2:8", "'url,id' is not a column to sort by\n"),
    ("limit = 3\n", "2:1", "unknown setting 'limit'\n")],
    ids=["nothing", "unknown field", "empty array", "columns", "sort", "setting"])
def test_refused_saved_queries(configuration, text, place, message):
    """A saved query that makes no sense is refused by every command, with its place."""
    cache = make("saved")
    write_file("config.toml", f"[saved.a]\n{text}".encode())
    errors = plain_run("config", "check", status=78, text=True).stderr
    assert errors.startswith(f"error: {configuration}:{place}: {message}"), errors
    assert plain_run("list", "-c", cache, status=78, text=True).stderr == errors


def test_presets():
    """A preset is a capacity with a name, and has the same precedence."""
    cache = make("presets")
    def capacity(*words, **variables):
        return json.loads(run("usage", *words, "--format", "json", env=os.environ | variables))["capacity_bytes"]
    for name, expected in [("apple-4-20", 20 << 20), ("apple-4-100", 100 << 20), ("apple-2-100", 100 << 20), ("apple-512k-10", 10_000_000), ("foundation-4-20", 20 << 20)]:
        write_file("config.toml", f'capacity = "1G"\n[caches.shop]\npath = "{cache}"\npreset = "{name}"\n'.encode())
        assert [capacity("-c", way) for way in ["shop", cache, make("other")]] == [expected, expected, 1 << 30], name
    assert capacity("-c", "shop", "--capacity", "7M") == 7 << 20
    assert capacity("-c", "shop", URLCACHE_ADMIN_PRESET="apple-4-100") == 100 << 20
    assert capacity("-c", "shop", URLCACHE_ADMIN_CAPACITY="3M", URLCACHE_ADMIN_PRESET="apple-4-100") == 3 << 20
    run("config", "set", "caches.shop.preset", "apple-4-20")
    assert capacity("-c", "shop") == 20 << 20
    assert plain_run("config", "set", "caches.shop.capacity", "1M", status=64, text=True).stderr == (
        "error: 'capacity' and 'preset' cannot be combined\nhint: a preset is a named capacity: remove one of them\n")
    assert plain_run("config", "set", "caches.shop.preset", "apple", status=64, text=True).stderr == (
        "error: 'apple' is not one of the allowed values\nhint: use one of: apple-4-20, apple-4-100, apple-2-100, apple-512k-10, foundation-4-20\n")
