"""Names a cache by the identifier that 'discover' shows, or by a folder with one cache deeper down: commands that look take both,
commands that change a cache take an identifier only after '-c', and never with '--yes'."""

import json
import os
import shutil

import pytest

import scratch
import terminal
from scratch import digests, make, path, run

DATA = "Library/Developer/CoreSimulator/Devices/7B1B2C3D/data"
PLACES = {
    "com.example.shop": "Library/Caches/com.example.shop",
    "com.example.app": "Library/Containers/com.example.app/Data/Library/Caches/com.example.app",
    "com.example.sim": f"{DATA}/Containers/Data/Application/0F/Library/Caches/com.example.sim",
}
VERBS = {
    "list": [], "show": ["--fresh"], "usage": [], "check": [], "report": ["-o", "-"], "export": ["-o", "-"],
    "metrics": [], "query": ["SELECT count(*) FROM entries"], "audit": [], "explain": ["--fresh"],
}


@pytest.fixture
def home(monkeypatch):
    """A home with caches of several apps and a server."""
    monkeypatch.setenv("HOME", path("home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", path("state"))
    for seed, place in enumerate(PLACES.values()):
        make(f"home/{place}", seed=seed, entries=20 + seed)
    make("home/.cache/org.swift.foundation.URLCache/server", "--format", "foundation", entries=7)
    return path("home")


def place(home, app):
    return f"{home}/{PLACES[app]}/Cache.db"


def count(*words):
    return int(run("list", *words, "--count", "-q").stdout)


def test_looking(home):
    """Each command that looks takes what 'discover' shows, as an operand and after '-c', and names the path in a note."""
    before = digests(home)
    apps = {store["default_of"]: store["path"] for store in json.loads(run("discover", "--format", "json").stdout)["stores"]}
    assert apps.keys() == {*PLACES, "server"}
    for app, place in apps.items():
        for words in [app], ["-c", app], [f"--cache={app}"]:
            assert count(*words) == count("-c", place), words
        result = run("list", app, "--format", "json")
        assert json.loads(result.stdout)["cache"]["path"] == place
        assert f"note: '{app}' is the cache {place}\n" in result.stderr.decode()
        assert run("list", app, "-q", "--limit", "1").stderr == b""
    for verb, options in VERBS.items():
        for words in ["com.example.sim"], ["-c", "com.example.sim"]:
            named = run(verb, *words, *options, "-q", "--at", "2026-02-01T00:00:00Z", status=None) if verb != "metrics" else run(
                verb, *words, "-q")
            by_path = run(verb, "-c", apps["com.example.sim"], *options, "-q", "--at", "2026-02-01T00:00:00Z",
                          status=None) if verb != "metrics" else run(verb, "-c", apps["com.example.sim"], "-q")
            assert named.returncode == by_path.returncode < 64, (verb, words, named)
            if verb not in ("export", "report"):
                assert named.stdout == by_path.stdout, (verb, words)
    assert run("diff", "com.example.shop", apps["com.example.shop"]).stdout == b""
    assert digests(home) == before


def test_files_and_configured_names_come_first(home, monkeypatch):
    """A file or a configured name with the text of an identifier is what is meant, as before."""
    os.makedirs(path("work"))
    monkeypatch.chdir(path("work"))
    make("work/com.example.shop", entries=3)
    assert count("com.example.shop") == count("-c", "com.example.shop") == 3
    os.makedirs(path("home/.config/urlcache-admin"))
    with open(path("home/.config/urlcache-admin/config.toml"), "w") as file:
        file.write(f"[caches.'com.example.app']\npath = '{path('work/com.example.shop')}'\n")
    assert count("com.example.app") == 3
    run("purge", "com.example.app", "--all", "--yes")
    assert count("com.example.app") == 0 and count(place(home, "com.example.app")) == 21


def test_several(home):
    """Several caches with one identifier are listed, and none is taken."""
    other = f"{DATA}/Containers/Data/Application/10/Library/Caches/com.example.shop"
    make(f"home/{other}", entries=3)
    for words in ["list", "com.example.shop"], ["purge", "-c", "com.example.shop", "--all", "-n"], ["usage", "com.example.shop"]:
        refused = run(*words, status=64)
        assert refused.stderr.decode() == (
            f"error: 'com.example.shop' is the identifier of 2 caches:\n  {place(home, 'com.example.shop')}\n"
            f"  {home}/{other}/Cache.db\nhint: name one of them by its path\n"), refused


def test_changing_after_a_question(home):
    """A command that changes a cache takes an identifier after '-c', prints the path even with '-q', and asks."""
    before = digests(home)
    for words in ["purge", "--all"], ["enforce", "--max-entries", "1"], ["purge", "--all", "-q"]:
        seen = terminal.answer(*words, "-c", "com.example.shop", typed=b"n\n", until=b"[y/N]", columns=300)
        assert f"note: 'com.example.shop' is the cache {place(home, 'com.example.shop')}" in seen.rows, seen.rows
    assert digests(home) == before
    terminal.answer("purge", "--all", "-c", "com.example.shop", typed=b"y\n", until=b"[y/N]", columns=300)
    assert count("com.example.shop") == 0 and count("com.example.app") == 21 and count("com.example.sim") == 22


def test_changing_without_a_question(home):
    """With '--yes', an identifier is refused: the hint has the path instead, and works."""
    before = digests(home)
    for words in [["purge", "-c", "com.example.shop", "--all", "--yes"], ["purge", "--all", "-y", "--cache=com.example.shop"],
                  ["enforce", "-c", "com.example.shop", "--max-entries", "1", "--yes"],
                  ["compact", "-c", "com.example.shop", "--yes"], ["check", "-c", "com.example.shop", "--repair", "--yes"]]:
        refused = run(*words, status=64)
        assert b"error: '--yes' needs the path of the cache or a configured name, not the identifier of an app\n" in refused.stderr
        named = [word.replace("com.example.shop", place(home, "com.example.shop")) for word in words]
        assert f"hint: write: urlcache-admin {' '.join(named)}\n" in refused.stderr.decode()
    # Without '--yes' and without a terminal, the command that would not ask names the path.
    refused = run("purge", "-c", "com.example.shop", "--all", status=64)
    assert f"urlcache-admin purge -c {place(home, 'com.example.shop')} --all --yes\n" in refused.stderr.decode()
    assert digests(home) == before
    run("purge", "-c", place(home, "com.example.shop"), "--all", "--yes")
    assert count("com.example.shop") == 0


def test_pinning(home, monkeypatch):
    """'pin' and 'unpin' take an identifier as other commands that change something do, and store the path of the cache."""
    monkeypatch.setenv("URLCACHE_ADMIN_CONFIG", path("config.toml"))
    open(path("config.toml"), "w").close()
    shop, url = os.path.dirname(place(home, "com.example.shop")), "https://a.example/"
    note = f"note: 'com.example.shop' is the cache {place(home, 'com.example.shop')}\n"
    pinned = run("pin", "-c", "com.example.shop", url)
    assert pinned.stderr.decode().startswith(note) and pinned.stdout.decode() == f"Pinned 1 URL in '{shop}'\n", pinned
    listed = run("pin", "-c", "com.example.shop", "--json")
    assert [(pin["cache"], pin["url"]) for pin in json.loads(listed.stdout)["pins"]] == [(shop, url)] and listed.stderr.decode() == note
    for verb in "pin", "unpin":
        refused = run(verb, "com.example.shop", url, status=66)
        assert refused.stderr.decode().endswith(f"hint: write: urlcache-admin {verb} {place(home, 'com.example.shop')} {url}\n"), refused
        assert run(verb, "-c", "server", url, status=66).stdout == b""
    assert run("unpin", "--cache=com.example.shop", url).stdout.decode() == f"Unpinned 1 URL in '{shop}'\n"
    # The name of a configured cache of the same app is used where there is one.
    run("config", "set", "caches.shop.path", shop)
    assert run("pin", "-c", "com.example.shop", url).stdout == b"Pinned 1 URL in 'shop'\n"


def test_changing_refuses_what_is_not_exact(home):
    """An operand, a name without a dot, another case, a part of an identifier and a folder never name a cache to change."""
    before = digests(home)
    refused = run("purge", "com.example.shop", "--all", "-n", status=66)
    assert refused.stderr.decode() == (
        "error: 'com.example.shop' is the identifier of an app: a command that changes a cache takes one only after '-c'\n"
        f"hint: write: urlcache-admin purge {place(home, 'com.example.shop')} --all -n\n"), refused
    run("compact", "com.example.shop", status=66)
    for words in ["purge", "-c", "server", "--all", "--yes"], ["purge", "server", "5"], ["compact", "server"]:
        named = [f"{home}/.cache/org.swift.foundation.URLCache/server" if word == "server" else word for word in words]
        assert run(*words, status=66).stderr.decode() == (
            "error: 'server' is the name of an app: a command that changes a cache takes only an identifier with a dot\n"
            f"hint: write: urlcache-admin {' '.join(named)}\n"), words
    for name in "com.example", "shop", "COM.EXAMPLE.SHOP", "com.example.shop ", "*.example.shop", "com.example.shop.":
        for words in [["purge", "-c", name, "--all", "-n"], ["enforce", "-c", name, "--max-entries", "1"], ["compact", "-c", name, "-n"]]:
            refused = run(*words, status=66)
            assert refused.stderr.decode().startswith(f"error: no cache '{name}': no such file, "), refused
    run("purge", "-c", f"{home}/.cache/org.swift.foundation.URLCache", "--all", "-n", status=65)
    run("purge", "-c", f"{home}/{DATA}", "--all", "-n", status=65)
    assert digests(home) == before


def test_an_import_creates_what_it_names(home, monkeypatch):
    """An import into a name that is no file creates a cache there, and changes no app's cache."""
    os.makedirs(path("work"))
    run("export", "com.example.app", "-o", path("work/a.tar"), "-q")
    before = digests(home)
    run("import", "a.tar", "-c", "com.example.shop", "--yes", cwd=path("work"))
    assert os.path.exists(path("work/com.example.shop/Cache.db")) and digests(home) == before


@pytest.mark.skipif(os.getuid() == 0 and not shutil.which("setpriv"), reason="root can search every folder")
def test_a_place_that_cannot_be_searched(home):
    """Where another cache could be, a command that changes a cache does not guess; one that looks does."""
    os.makedirs(f"{home}/Library/Containers/closed")
    os.chmod(f"{home}/Library/Containers/closed", 0)
    prefix = []
    if os.getuid() == 0:
        scratch.subprocess.run(["chown", "-R", "65534:65534", home], check=True)
        for folder in [home, *[os.path.dirname(home)]]:
            os.chmod(folder, 0o755)
        program = shutil.copy(scratch.tool, path("program"))
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program]
    try:
        def tried(*words):
            return scratch.subprocess.run([*(prefix or [scratch.tool]), *words], capture_output=True, text=True, stdin=scratch.subprocess.DEVNULL)
        assert tried("list", "com.example.shop", "--count").returncode == 0
        refused = tried("purge", "-c", "com.example.shop", "--all", "-n")
        assert refused.returncode == 77 and f"cannot search '{home}/Library/Containers/closed'" in refused.stderr, refused
        assert tried("purge", "-c", place(home, "com.example.shop"), "--all", "-n").returncode == 0
    finally:
        os.chmod(f"{home}/Library/Containers/closed", 0o755)


def test_folders(home):
    """A folder of fixed layout with one cache deeper down is that cache, with a note; with several, they are listed."""
    shutil.copytree(f"{home}/{PLACES['com.example.shop']}", path("app.xcappdata/AppData/Library/Caches/com.example.shop"))
    for folder, entries in [
        (path("app.xcappdata"), 20), (path("app.xcappdata/AppData/Library"), 20), (f"{home}/{DATA}", 22),
        (f"{home}/Library/Containers/com.example.app", 21), (f"{home}/.cache/org.swift.foundation.URLCache", 7),
        (f"{home}/Library/Containers/com.example.app/Data/", 21)]:
        assert count(folder) == count("-c", folder) == entries, folder
        assert f"note: '{folder}' is the cache " in run("list", folder, "--limit", "1").stderr.decode()
    make("home/.cache/org.swift.foundation.URLCache/other", "--format", "foundation", entries=3)
    refused = run("list", f"{home}/.cache/org.swift.foundation.URLCache", status=64)
    assert "' contains 2 caches:\n" in refused.stderr.decode()
    # Any other folder is not searched.
    run("list", f"{home}/Library", status=65)


def test_none(home):
    """What is no cache is the same error everywhere."""
    first = ["list", "show", "body", "usage", "explain", "watch", "check", "audit", "recover", "metrics", "purge", "compact",
             "revalidate", "pin", "unpin", "enforce"]
    for verb in first:
        for words in ["nope"], ["-c", "nope"]:
            if verb in ("pin", "unpin") or (verb == "body" and "-c" in words):
                words = [*words, "https://example.com/"] if "-c" not in words else words
            more = {"purge": ["--all", "-n"], "enforce": ["--max-entries", "1", "-n"], "body": ["1"]}.get(verb, [])
            if verb in ("pin", "unpin") and "-c" in words:
                continue
            failed = run(verb, *words, *more, status=66)
            assert failed.stderr.decode().splitlines()[0] == (
                "error: no cache 'nope': no such file, and no cache of this name in the configuration"), (verb, words, failed)
            if verb not in ("watch",):
                assert "\nhint: find caches with: urlcache-admin discover\n" in failed.stderr.decode(), (verb, failed)
    for words in [["export", "nope", "-o", "-"], ["report", "nope", "-o", "-"], ["grep", "x", "nope"], ["query", "-c", "nope", "SELECT 1"],
                  ["diff", "nope", "nope"], ["rules", "test", "nope"], ["expire", "nope", "--clear-user-info", "x", "--all"]]:
        assert b"error: no cache 'nope': no such file, and no cache of this name" in run(*words, status=66).stderr, words
    assert run("list", "/none/Cache.db", status=66).stderr.startswith(b"error: no cache '/none/Cache.db': no such file\n")
    failed = json.loads(run("list", "nope", "--format", "json", status=66).stderr)
    assert (failed["code"], failed["kind"], failed["path"]) == (66, "not-found", "nope")


def test_hostile_names(home):
    """The names of folders and apps are shown without the characters that a terminal obeys."""
    evil = "com.example.\u202eevil\x1b[31m"
    make(f"home/Library/Caches/{evil}", entries=3)
    make(f"home/Library/Containers/{evil}/Data/Library/Caches/{evil}", entries=3)
    refused = run("list", evil, status=64)
    assert b"\x1b" not in refused.stderr and "\u202e" not in refused.stderr.decode() and b"2 caches" in refused.stderr
    shutil.rmtree(f"{home}/Library/Caches/{evil}")
    result = run("list", evil, "--limit", "1")
    assert b"\x1b" not in result.stderr and "\u202e" not in result.stderr.decode() and b"is the cache" in result.stderr
    refused = run("purge", "-c", evil, "--all", "--yes", status=64)
    assert b"\x1b" not in refused.stderr and "\u202e" not in refused.stderr.decode()


def test_spellings_of_a_letter_are_two_apps(home):
    """An identifier is compared by its bytes: Swift's strings are equal if their letters are, however they are composed."""
    composed, decomposed = "com.example.caf\u00e9", "com.example.cafe\u0301"
    make(f"home/Library/Caches/{decomposed}", entries=9)
    assert run("list", composed, status=66).stdout == b""
    assert count(decomposed) == 9
    make(f"home/Library/Caches/{composed}", entries=5)
    assert (count(composed), count(decomposed)) == (5, 9)
