"""Pins URLs of made-up caches of both kinds, and removes entries in many ways: what is pinned must stay."""

import json
import os
import random
import shutil
import subprocess
import tomllib
from urllib.parse import urlsplit

import pytest

import scratch
import worlds
from products import tool
from scratch import make, path, run as plain_run

FORMATS = ["apple", "foundation"]


def configuration():
    """The path of the configuration file of the running test."""
    return path("home/.config/urlcache-admin/config.toml")


def run(*words, status=0, errors=None):
    result = plain_run(*words, status=status, text=True)
    assert errors is None or result.stderr == errors, (words, result.stderr)
    return result.stdout


def entries(cache, *options):
    lines = run("list", "-c", cache, "--format", "ndjson", "--columns", "id,url,size", *options).splitlines()
    return {entry["id"]: entry for entry in map(json.loads, lines)}


def write(text):
    os.makedirs(os.path.dirname(configuration()), exist_ok=True)
    with open(configuration(), "w") as output:
        output.write(text)


def read():
    with open(configuration()) as text:
        return text.read()


def answers(kind, asked, stored):
    """Whether the cache answers one URL with the entry of another: the key of Foundation has no scheme and no query."""
    if kind == "apple":
        return asked == stored
    first, second = urlsplit(asked), urlsplit(stored)
    return (first.netloc, first.path) == (second.netloc, second.path)


def unstored(*urls):
    """The notes on pinned URLs that no entry has."""
    return "".join(f"note: no entry has the pinned URL '{url}' now; the pin protects one when the app stores it\n" for url in urls)


def test_verbs():
    """Pins come and go, and every other byte of the file stays."""
    cache = make("verbs")
    write(f'# Mine.\nwait = "1s"  # short\n\n[caches.shop]\npath = "{cache}"  # the shop\n')
    a, b, c = "https://a.example/1?q=\"é\"", "https://b.example/", "https://c.example/x"
    assert run("pin", "-c", "shop", a, b, errors=unstored(a, b)) == "Pinned 2 URLs in 'shop'\n"
    assert read() == (f'# Mine.\nwait = "1s"  # short\n\n[caches.shop]\npath = "{cache}"  # the shop\n'
                      'pinned = [\n  "https://a.example/1?q=\\"é\\"",\n  "https://b.example/",\n]\n'), read()
    assert run("pin", "-c", cache, "HTTPS://B.example:443", c, errors="note: already pinned: 1 URL\n" + unstored("HTTPS://B.example:443", c)) == "Pinned 1 URL in 'shop'\n"
    assert run("pin", "--everywhere", c) == "Pinned 1 URL in all caches\n"
    document = tomllib.loads(read())
    assert document == {"wait": "1s", "pinned": [c], "caches": {"shop": {"path": cache, "pinned": [a, b, c]}}}, document
    listed = json.loads(run("pin", "--format", "json"))
    assert [(pin["cache"], pin["url"]) for pin in listed["pins"]] == [("shop", a), ("shop", b), ("shop", c), (None, c)]
    lines = read().split("\n")
    assert all(c in lines[pin["line"] - 1] for pin in listed["pins"][2:]), listed
    assert run("pin", "-c", "shop").splitlines()[2].split() == ["shop", b, f"{configuration()}:11"], run("pin", "-c", "shop")
    rows = json.loads(run("config", "list", "--format", "json"))["settings"]
    assert [(row["cache"], row["value"]) for row in rows if row["name"] == "pinned"] == [
        (None, c), ("shop", a), ("shop", b), ("shop", c)], rows
    assert run("unpin", "-c", "shop", b, "https://b.example", errors="") == "Unpinned 1 URL in 'shop'\n"
    assert run("unpin", "-c", "shop", b, status=1, errors=(
        "'https://b.example/' is not pinned in 'shop'\nhint: list all pins with 'urlcache-admin pin'\n")) == "Unpinned 0 URLs in 'shop'\n"
    run("unpin", "-c", "shop", a, c)
    run("unpin", "--everywhere", c)
    assert read() == f'# Mine.\nwait = "1s"  # short\n\n[caches.shop]\npath = "{cache}"  # the shop\n', read()
    assert run("pin", errors="note: no URLs are pinned\n") == ""
    # The first operand is the cache if it is one, whether by name or by path.
    for name in ["shop", cache]:
        assert run("pin", name, c, errors=unstored(c)) == "Pinned 1 URL in 'shop'\n"
        assert run("pin", name) == run("pin", "-c", name) and c in run("pin", name)
        assert run("unpin", name, c, errors="") == "Unpinned 1 URL in 'shop'\n"
        # An id stands for the URL that the entry has now.
        assert run("pin", name, "1", errors="") == "Pinned 1 URL in 'shop'\n"
        url = json.loads(run("list", cache, "1", "--json", errors=None))["entries"][0]["url"]
        assert [pin["url"] for pin in json.loads(run("pin", "--json"))["pins"]] == [url]
        assert run("unpin", name, "1", errors="") == "Unpinned 1 URL in 'shop'\n"
    run("pin", "shop", "77777", status=1, errors=(
        f"error: no entry has the id 77777\nhint: list the entries with: urlcache-admin list -c {cache}\n"))
    for words, errors in [
            (["unpin", "shop"], "error: no URL to unpin\nhint: list all pins with 'urlcache-admin pin'\n"),
            (["unpin"], "error: no URL to unpin\nhint: list all pins with 'urlcache-admin pin'\n"),
            (["pin", "-c", "shop", "shop"], "error: 'shop' is not a URL\n"
             "hint: use a URL ('list' shows it): the id changes when the entry is stored again\n"),
            (["pin", "sohp", c], "error: no cache 'sohp': no such file, and no cache of this name in the configuration\nhint: did you mean 'shop'?\n"),
            (["pin", "17", "--everywhere"], "error: '17' is not a URL\n"
             "hint: use a URL ('list' shows it): the id changes when the entry is stored again\n"),
            (["pin", c], "error: no cache given\nhint: name one with '-c NAME', or use '--everywhere' for all caches\n"),
            (["config", "set", "pinned", c], "error: 'pinned' is a list of URLs, not a setting\n"
             "hint: use 'urlcache-admin pin URL' and 'urlcache-admin unpin URL'\n")]:
        assert run(*words, status=66 if "no such file" in errors else 64, errors=errors) == ""
    run("pin", "-c", scratch.root, c, status=65)


@pytest.mark.parametrize("kind", FORMATS)
def test_paths(kind, monkeypatch):
    """A cache without a name is pinned by its path, and holds its pins however it is named; '--all-caches' does not know it."""
    cache, other = make("a path \"of\"", "--format", kind), make("other", "--format", kind)
    write("# Mine.\n")
    url = min(entries(cache).values(), key=lambda entry: entry["id"])["url"]
    kept = sum(answers(kind, url, entry["url"]) for entry in entries(cache).values())
    os.symlink(cache, path("link"))
    monkeypatch.chdir(scratch.root)
    assert run("pin", "-c", "link", url, errors="") == f"Pinned 1 URL in '{cache}'\n"
    assert tomllib.loads(read()) == {"caches": {cache: {"pinned": [url]}}}
    for way in [cache, cache + "/", path("link")] + [cache + "/Cache.db"] * (kind == "apple"):
        assert run("pin", way, url, errors="note: already pinned: 1 URL\n").startswith("Pinned 0 URLs")
        assert run("list", way, "--pinned", "--count") == f"{kept}\n"
        assert json.loads(run("purge", way, "--all", "-n", "--json"))["kept"]["reasons"][0]["entries"] == kept
    assert [(pin["cache"], pin["url"]) for pin in json.loads(run("pin", "--json"))["pins"]] == [(cache, url)]
    assert [(row["cache"], row["value"]) for row in json.loads(run("config", "list", "--json"))["settings"] if row["name"] == "pinned"] == [(cache, url)]
    assert run("list", other, "--pinned", "--count") == "0\n"
    run("enforce", "--all-caches", "--max-entries", "1", "--yes", status=78)
    # A name that the cache gets later has the pins, too, and is the one that pins are stored under from then on.
    run("config", "set", "caches.shop.path", cache)
    assert run("list", "shop", "--pinned", "--count") == f"{kept}\n"
    assert run("pin", cache, "x:1", errors=unstored("x:1")) == "Pinned 1 URL in 'shop'\n"
    run("unpin", "shop", "x:1")
    run("config", "unset", "caches.shop.path")
    shutil.rmtree(cache)
    assert run("unpin", "-c", cache, url) == f"Unpinned 1 URL in '{cache}'\n"
    assert read().rstrip("\n") == "# Mine.", read()
    run("pin", "-c", path("none"), url, status=66)
    write(f"[caches.'{cache}']\nmax-size = '1G'\n")
    result = plain_run("config", "check", status=78, text=True)
    assert "a cache without a name can only have pins" in result.stderr and f"hint: write '[caches.NAME]' and 'path = \"{cache}\"'" in result.stderr


@pytest.mark.parametrize(("old", "new"), [
    ("pinned = []\n", 'pinned = ["x:1"]\n'),
    ("pinned = ['x:2']\n", "pinned = ['x:2', \"x:1\"]\n"),
    ("pinned = [\n\t'x:2'  # why\n]\n", "pinned = [\n\t'x:2',  # why\n\t\"x:1\",\n]\n"),
    ("pinned = [\n  'x:2', # why\n  # end\n]\n", "pinned = [\n  'x:2', # why\n  \"x:1\",\n  # end\n]\n"),
    ("pinned = [\n  'x:2']\n", "pinned = [\n  'x:2',\n  \"x:1\"]\n"),
    ("wait = '1s'\n[[rules]]\nmatch = {}\naction = 'keep'\n",
     "wait = '1s'\npinned = [\n  \"x:1\",\n]\n[[rules]]\nmatch = {}\naction = 'keep'\n")])
def test_adding(old, new):
    """A pin becomes one item of the array, however the array is written."""
    write(old)
    run("pin", "--everywhere", "x:1")
    assert read() == new


@pytest.mark.parametrize(("old", "new"), [
    ("pinned = ['x:1', 'x:2', 'x:3']\n", "pinned = ['x:1', 'x:3']\n"),
    ("pinned = ['x:1', 'x:2']\n", "pinned = ['x:1']\n"),
    ("pinned = ['x:2', 'x:3']\n", "pinned = ['x:3']\n"),
    ("pinned = [\n  # one\n  'x:1',\n  'x:2', # two\n  'x:3'\n]\n", "pinned = [\n  # one\n  'x:1',\n  'x:3'\n]\n"),
    ("pinned = [\n  'x:1',\n  'x:2'\n]\n", "pinned = [\n  'x:1',\n]\n"),
    ("pinned = ['x:2', 'x:2']\nwait='1s'\n", "wait='1s'\n")])
def test_removing(old, new):
    """Only the item of a pin is removed from the array, however the array is written."""
    write(old)
    run("unpin", "--everywhere", "x:2")
    assert read() == new


def test_relative_pin():
    write("pinned = ['/a']\n")
    run("config", "check", status=78, errors=(
        f"error: {configuration()}:1:11: '/a' is not a URL\n  pinned = ['/a']\n            ^^^^\n"
        "hint: use a full URL such as 'https://example.com/data.json'\n"))


def test_names():
    """A section without a path holds for no cache, and is refused, also where a change would leave it."""
    cache = make("names")
    write('wait = "1s"\n[caches.q]\nmax-size = "1G"\n')
    for words in [["config", "check"], ["list", "-c", cache], ["pin", "--everywhere", "x:1"]]:
        run(*words, status=78, errors=(
            f"error: {configuration()}:2:9: the cache 'q' has no path\n  [caches.q]\n          ^\n"
            "hint: write 'path = \"/…\"' below '[caches.q]', or remove the section\n"))
    run("config", "set", "caches.q.path", cache)
    assert run("list", "-c", "q", "--count") == "40\n"
    before = read()
    refusal = ("error: the cache '{}' would have settings but no path\n"
               "hint: set 'caches.{}.path' first, and remove it only after the other settings\n")
    run("config", "unset", "caches.q.path", status=64, errors=refusal.format("q", "q"))
    run("config", "set", "caches.r.max-size", "1G", status=64, errors=refusal.format("r", "r"))
    assert read() == before
    run("config", "unset", "caches.q.max-size")
    run("config", "unset", "caches.q.path")
    assert read() == 'wait = "1s"\n', read()


@pytest.mark.parametrize("kind", FORMATS)
def test_ways(kind):
    """A pin holds however the cache is named, in plans that are older than the pin, and against limits that cannot be met."""
    cache = make("ways-" + kind, "--format", kind)
    write(f'[caches.shop]\npath = "{cache}"\n')
    all = entries(cache)
    chosen = [entry["url"] for entry in all.values()][:6]
    plan = path(f"ways-{kind}.json")
    run("purge", "-c", cache, "--all", "--plan", plan)
    run("pin", "-c", "shop", *chosen)
    pinned = {id for id, entry in all.items() if any(answers(kind, url, entry["url"]) for url in chosen)}
    assert entries(cache, "--pinned").keys() == pinned
    kept = {"reason": "pinned", "entries": len(pinned), "body_bytes": sum(all[id]["size"] or 0 for id in pinned)}
    note = f"note: entries kept by pins: {len(pinned)}\n"
    os.symlink(cache, path("link-" + kind))
    ways = [cache, cache + "/", path("link-" + kind), "shop"] + ([cache + "/Cache.db"] if kind == "apple" else [])
    for way in ways:
        dry = plain_run("purge", "-c", way, "--all", "--dry-run", "--format", "json")
        assert [reason for reason in json.loads(dry.stdout)["kept"]["reasons"]] == [kept], (way, dry)
        assert dry.stderr.decode() == note, dry
    if kind == "apple":
        # A hard link is the same database, in which nothing is changed.
        os.mkdir(path("hard"))
        os.link(cache + "/Cache.db", path("hard/Cache.db"))
        assert entries(path("hard"), "--pinned").keys() == pinned
        assert plain_run("purge", "-c", path("hard"), "--all", "--dry-run", status=65).stdout == b""
        shutil.rmtree(path("hard"))
    for words in [["apply", plan], ["apply", plan, "-c", "shop"]]:
        receipt = json.loads(run(*words, "--dry-run", "--format", "json", errors=note))
        assert receipt["kept"] == {"entries": len(pinned), "reasons": [kept]} and receipt["skipped"] == 0, receipt
        assert not pinned & {entry["id"] for entry in receipt["entries"]}
    assert run("apply", plan, "--dry-run", "--include-pinned", errors="").startswith(f"Would remove {len(all)} of")
    # Who names an entry is told that it stays by the status, too.
    assert run("purge", "-c", "shop", chosen[0], "--yes", status=3).startswith("Removed 0 of ")
    refused = plain_run("enforce", "-c", "shop", "--max-entries", "2", "--yes", status=1, text=True)
    assert refused.stderr.startswith(
        note + f"cannot meet the limits, so nothing was removed: {len(pinned)} entries would remain, more than the '--max-entries' limit of 2\n"
        f"  pins keep {len(pinned)} entries ("), refused
    assert "  hint: list them with: urlcache-admin list --pinned -c shop\n" in refused.stderr, refused
    blocked = json.loads(run("enforce", "-c", "shop", "--max-entries", "2", "-n", "--format", "json", status=1))
    assert blocked["blocked_by"][0]["cause"] == "pinned" and blocked["blocked_by"][0]["count"] == len(pinned), blocked
    assert entries(cache).keys() == all.keys()
    run("enforce", "-c", "shop", "--max-entries", "2", "--yes", "--best-effort", status=1)
    assert entries(cache).keys() == pinned
    run("apply", plan, "--yes", "--include-pinned", status=3)
    assert entries(cache) == {} if kind == "apple" else not os.listdir(cache)


@pytest.mark.parametrize("verb", ["purge", "enforce"])
@pytest.mark.parametrize("kind", FORMATS)
def test_removals(kind, verb, thorough):
    """Whatever else a command is asked to remove, it keeps pinned entries."""
    removed = spared = 0
    for seed in range(25 if thorough else 5):
        chance = random.Random(f"{seed} {kind} {verb}")
        cache = make("seeds", "--format", kind, entries=chance.randint(20, 60), seed=seed)
        before = entries(cache)
        urls = chance.sample(sorted({entry["url"] for entry in before.values()}), chance.randint(1, 12))
        write(f'[caches.shop]\npath = "{cache}"\n[[rules]]\nmatch.status = "4xx"\naction = "purge"\n')
        # Some URLs are in another spelling, some are pinned in all caches.
        spelled = [chance.choice([str, respelled])(url) for url in urls]
        half = len(urls) // 2
        run("pin", "-c", "shop", *spelled[half:])
        if half:
            run("pin", "--everywhere", *spelled[:half])
        words = chance.choice([
            ["--all"], ["--where", "size > 1KiB"], ["--older-than", "10d"], ["--host", ".com"], ["--url-file", write_urls(before)]]
            if verb == "purge" else [
            ["--max-entries", str(len(before) // 2)], ["--max-size", "300K"], ["--max-age", "5d"], ["--max-entry-size", "1K"],
            ["--max-entries", "1", "--best-effort"], ["--min-free", "99%", "--best-effort"]])
        result = plain_run(verb, "-c", chance.choice(["shop", cache]), "--yes", *words, "--at", "2026-01-05T00:00:00Z", status=None)
        assert result.returncode in (0, 1, 3), result
        after = entries(cache)
        pinned = {id for id, entry in before.items() if any(answers(kind, url, entry["url"]) for url in urls)}
        assert pinned and pinned <= after.keys(), (seed, words, pinned - after.keys())
        removed, spared = removed + len(before) - len(after), spared + len(pinned)
        shutil.rmtree(cache)
    # The seeds are worth their time only while commands remove entries around the pins.
    assert removed > 20 and spared > 20


def test_together():
    """Of several commands that pin at once each waits for the others, and no pin is lost."""
    write("# one\n")
    urls = [f"x:{number}" for number in range(16)]
    processes = [subprocess.Popen([tool, "pin", "--everywhere", url], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for url in urls]
    ends = [(process.communicate()[1], process.returncode) for process in processes]
    assert set(ends) == {(b"", 0)}, ends
    assert sorted(tomllib.loads(read())["pinned"]) == sorted(urls), read()


def test_unreadable():
    """Who may not look whether there is a configuration does nothing, as there may be pins."""
    cache = make("unreadable")
    write("pinned = []\n")
    # Who may do everything looks into any folder.
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    os.chmod(scratch.root, 0o755)
    subprocess.run(["chmod", "-R", "a+rX", cache], check=True)
    os.chmod(os.path.dirname(configuration()), 0)
    try:
        for words in [["list", "-c", cache], ["purge", "-c", cache, "--all", "--yes"]]:
            result = subprocess.run([*user, tool, *words], capture_output=True, text=True)
            assert (result.returncode, result.stdout, result.stderr) == (77, "", (
                f"error: cannot read the configuration: '{configuration()}': Permission denied; without it, pins and limits would not apply\n"
                "hint: set HOME to your home folder, or name a file with '--config FILE'\n")), result
        result = subprocess.run([*user, tool, "list", "-c", cache, "--count", "--config", "/dev/null"], capture_output=True, text=True)
        assert (result.returncode, result.stdout, result.stderr) == (0, "40\n", ""), result
    finally:
        os.chmod(os.path.dirname(configuration()), 0o755)


def test_rules():
    """Which rule decides on an entry is told, and that it stays all the same."""
    cache = make("rules")
    (number, pinned), (other, _) = list(entries(cache).items())[:2]
    write(f"pinned = ['{pinned['url']}']\n[[rules]]\nmatch = {{}}\naction = 'purge'\n")
    found = json.loads(run("rules", "test", "-c", cache, str(number), str(other), "--format", "json"))["entries"]
    assert [(entry["id"], entry["fate"], entry["pinned"]) for entry in found] == [(number, "purge", True), (other, "purge", False)], found
    table = run("rules", "test", "-c", cache, str(number), str(other)).splitlines()[-2:]
    assert [line.split()[:2] for line in table] == [["1", "pinned"], ["1", "purge"]], table


def respelled(url):
    scheme, rest = url.split(":", 1)
    return scheme.upper() + ":" + rest


def write_urls(entries):
    with open(path("urls"), "w") as output:
        output.writelines(entry["url"] + "\n" for entry in entries.values())
    return path("urls")



@pytest.mark.parametrize("kind", FORMATS)
def test_pins_without_an_entry(kind):
    """A pin that no entry matches is made, and a note says so; one that an entry matches gets none."""
    cache = make("unstored", "--format", kind)
    write(f'[caches.shop]\npath = "{cache}"\n')
    stored = min(entries(cache).values(), key=lambda entry: entry["id"])["url"]
    run("pin", "-c", "shop", stored, errors="")
    run("pin", "-c", "shop", "https://none.example/1", stored, errors="note: already pinned: 1 URL\n" + unstored("https://none.example/1"))
    many = [f"https://none.example/{number}" for number in range(2, 9)]
    run("pin", "-c", "shop", *many, errors=unstored(*many[:5]) + "note: more pinned URLs that no entry has: 2\n")
    # A cache that does not exist yet has no entries to compare with.
    write(f'[caches.shop]\npath = "{path("none")}"\n')
    run("pin", "-c", "shop", stored, errors="")


def test_patterns():
    """A pattern would protect nothing: it is refused with the rule that does, and one that is in a file gets a note."""
    cache = make("patterns")
    urls = [entry["url"] for entry in entries(cache).values()]
    pattern = urls[0].rsplit("/", 1)[0] + "/*"
    write(f'[caches.shop]\npath = "{cache}"\n')
    before = read()
    for words in [["-c", "shop"], ["--everywhere"]]:
        refused = plain_run("pin", *words, pattern, status=64, text=True)
        assert f"'{pattern}' is a pattern" in refused.stderr and f'match.glob = "{pattern}"' in refused.stderr, refused
        assert read() == before
    # The rule of the hint does what the pin does not.
    write(f'[caches.shop]\npath = "{cache}"\n[[caches.shop.rules]]\nmatch.glob = "{pattern}"\naction = "keep"\n')
    run("enforce", "shop", "--max-age", "1s", "--yes")
    left = [entry["url"] for entry in entries(cache).values()]
    assert left == [url for url in urls if url.startswith(pattern[:-1])] and left
    # In a file, it is a URL, and a note says that it protects only this one.
    write(f'[caches.shop]\npath = "{cache}"\npinned = ["{pattern}"]\n')
    note = plain_run("purge", "-c", cache, "--all", "--yes", text=True).stderr
    assert f"the pin '{pattern}' is not a pattern" in note and note.count("is not a pattern") == 1


def test_a_star_in_a_stored_url():
    """A URL that an entry has is not a pattern, whatever is in it."""
    url = "https://a.example/web/*/x"
    cache = worlds.apple(path("star"), [worlds.Entry(url), worlds.Entry("https://a.example/web/1/x")])
    write(f'[caches.shop]\npath = "{cache}"\n')
    run("pin", "-c", "shop", url, errors="")
    run("purge", "-c", cache, "--all", "--yes")
    assert [entry["url"] for entry in entries(cache).values()] == [url]
    run("unpin", "-c", "shop", url, errors="")
