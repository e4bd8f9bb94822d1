"""Configuration files with real links, folders and variables: which file is read, what it changes, and how it is changed."""

import calendar
import json
import os
import subprocess
import time
import tomllib

import pytest

import scratch
from products import tool
from scratch import make, path, run as plain_run


@pytest.fixture
def file():
    """The path of the configuration file of the running test."""
    os.makedirs(path("home/.config/urlcache-admin"))
    return path("home/.config/urlcache-admin/config.toml")


@pytest.fixture
def shop():
    """A cache of 200 entries."""
    return make("shop", entries=200, seed=4)


@pytest.fixture
def news():
    """A cache of 300 entries."""
    return make("news", entries=300, seed=4)


def run(*arguments, **variables):
    return plain_run(*arguments, status=None, text=True, env=os.environ | variables)


def write(text, file):
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w") as output:
        output.write(text)


def write_names(file, shop, news):
    """Configures both caches, one of them by a link."""
    write(f"""
        # The shop's cache.
        cache = "shop"
        max-delete = "90%"
        [caches.shop]
        path = "{shop}"
        capacity = "64MiB"
        max-entries = 150
        [caches.news]
        path = "~/link"
        max-entries = 250
    """, file)
    os.symlink(news, path("home/link"))


def settings(*arguments, **variables):
    result = run("config", "list", "--format", "json", *arguments, **variables)
    assert result.returncode == 0, result
    return json.loads(result.stdout)


def entries(name):
    return int(run("list", "-c", name, "--count").stdout)


def test_names(file, shop, news):
    """Names stand for paths, and the limits of a cache apply to this cache only."""
    write_names(file, shop, news)
    assert (entries("shop"), entries("news")) == (200, 300)
    assert run("list", "--count").stdout == "200\n"
    assert json.loads(run("usage", "--format", "json").stdout)["capacity_bytes"] == 64 << 20
    assert run("enforce", "--max-entries", "1", "--yes").returncode == 1, "more than --max-delete"
    assert entries("shop") == 200
    result = run("enforce", "--all-caches", "--yes")
    assert result.returncode == 0, result
    assert (entries("shop"), entries("news")) == (150, 250), result
    result = run("enforce", "--all-caches", "--yes", URLCACHE_ADMIN_MAX_ENTRIES="140")
    assert (entries("shop"), entries("news")) == (140, 140), result


@pytest.mark.parametrize("kind", ["apple", "foundation"])
def test_settings_of_a_path(kind, file):
    """The settings and rules of a cache hold however it is named, the run says so once, and 'enforce' says where each limit is set."""
    shop, other = (make(name, "--format", kind, entries=60, seed=4) for name in ["shop", "other"])
    os.symlink(shop, path("link"))
    write(f"""max-age = "900d"
[caches.shop]
path = "{shop}/"
max-entries = 40
max-delete = 25
[[caches.shop.rules]]
match = {{ mime = "text/css" }}
action = "purge"
""", file)
    styles = [entry["id"] for entry in json.loads(run("list", shop, "--mime", "text/css", "--format", "json").stdout)["entries"]]
    assert 0 < len(styles) < 10
    note = "note: cache 'shop': settings of [caches.shop] apply\n"
    ways = [shop, shop + "/", path("link"), os.path.relpath(shop)] + [shop + "/Cache.db"] * (kind == "apple")
    for way in ["shop", *ways]:
        result = run("enforce", way, "-n", "--format", "json", "--max-entry-size", "1GiB")
        assert result.stderr == (note if way != "shop" else ""), (way, result.stderr)
        found = json.loads(result.stdout)
        assert [(limit["limit"], limit["value"], limit["entries"], limit["origin"], limit["line"], limit["section"])
                for limit in found["limits"]] == [
            ("max-age", "900d", 0, "file", 1, None), ("max-entry-size", "1.0 GiB", 0, "option", None, None),
            ("max-entries", "40", 20 - len(styles), "file", 4, "shop")], (way, found["limits"])
        assert sum(entry["rule"] == 1 for entry in found["entries"]) == len(styles)
        text = run("enforce", way, "-n", "--max-entries", "50").stdout
        assert text.splitlines()[1:4] == [
            f"  0 by max-age 900d ({file}:1)", f"  {10 - len(styles)} by --max-entries 50", f"  {len(styles)} by rules"], text
        refused = run("purge", way, "--all", "--yes")
        assert refused.returncode == 1 and "more than '--max-delete' allows" in refused.stderr, (way, refused)
    # Another cache has the settings for all caches only, and there is nothing to say about it.
    assert run("purge", other, "--all", "-n").stderr == ""
    assert [limit["limit"] for limit in json.loads(run("enforce", other, "-n", "--format", "json").stdout)["limits"]] == ["max-age"]
    assert run("enforce", other, "-n", "--max-age", "900d").stdout.splitlines()[1].startswith("Size"), "one limit, on the command line"
    # Without a terminal, the receipt has the line, so that no mail is sent about it.
    done = run("enforce", shop, "--yes")
    assert (done.stderr, done.stdout.splitlines()[0]) == ("", "Cache 'shop': settings of [caches.shop] apply"), done
    assert entries("shop") == 40
    assert run("enforce", shop, "--yes", "--quiet").stdout == ""


def test_settings_of_a_plan(file, shop, news):
    """A plan is applied with the settings of the cache that it was made for, and not of the default one."""
    write_names(file, shop, news)
    ids = [str(entry["id"]) for entry in json.loads(run("list", news, "--limit", "10", "--format", "json").stdout)["entries"]]
    assert run("purge", news, *ids, "--plan", path("plan.json")).returncode == 0
    run("config", "set", "caches.shop.max-delete", "5", "--config", file)
    assert run("apply", path("plan.json"), "-n").returncode == 0
    run("config", "set", "caches.news.max-delete", "7", "--config", file)
    refused = run("apply", path("plan.json"), "--yes")
    assert refused.returncode == 1 and "more than '--max-delete' allows" in refused.stderr, refused
    assert entries("news") == 300


def test_two_sections_of_a_path(file, shop):
    """Two sections of one cache need the same limits if a path could mean either; what one of them keeps is kept."""
    write(f"""
        [caches.a]
        path = "{shop}"
        max-entries = 100
        [caches.b]
        path = "{shop}/Cache.db"
        max-entries = 100
        [[caches.b.rules]]
        match = {{ status = "4xx" }}
        action = "keep"
    """, file)
    failed = int(run("list", shop, "--status", "4xx", "--count").stdout)
    result = run("enforce", shop, "--yes", "--format", "json")
    assert result.returncode == 0 and "note: 'b' is the same cache as 'a'\n" in result.stderr, result
    assert entries("a") == 100 and int(run("list", shop, "--status", "4xx", "--count").stdout) == failed > 0
    run("config", "set", "caches.b.max-entries", "90", "--config", file)
    refused = run("enforce", shop, "--yes")
    assert refused.returncode == 78 and "have different limits" in refused.stderr, refused
    assert run("enforce", "b", "--yes").returncode == 0 and entries("b") == 90


def test_places(file, shop, news):
    """Variables and '--config' choose the file, and 'config list' shows the place of each value."""
    write_names(file, shop, news)
    with open(file) as configuration:
        text = configuration.read()
    found = settings()
    assert [item["path"] for item in found["files"]] == [file, "/etc/urlcache-admin/config.toml"], found
    document = tomllib.loads(text)
    for row in found["settings"]:
        if row["origin"] != "file" or row["name"] == "path":
            continue
        table = document if row["cache"] is None else document["caches"][row["cache"]]
        assert str(table[row["name"]]) == row["value"], row
        line = text.split("\n")[row["line"] - 1]
        assert line[row["column"] - 1:].strip("\"'").startswith(row["value"]), (row, line)
    other = path("xdg/urlcache-admin/config.toml")
    write("wait = '7s'", other)
    assert settings(XDG_CONFIG_HOME=path("xdg"))["files"][0] == {"path": other, "found": True}
    # A folder that is no whole path is none, by the rule of XDG.
    assert settings(XDG_CONFIG_HOME="xdg")["files"][0]["path"] == file
    given = settings("--config", other)
    assert [row for row in given["settings"] if row["name"] == "wait"][0]["value"] == "7s"
    assert settings(URLCACHE_ADMIN_CONFIG=other)["files"] == given["files"]
    assert run("--config", other, "list", "-c", "shop").returncode == 66, "the name is in the other file"
    # A configuration is often a link into a folder that is under version control.
    linked = path("linked.toml")
    os.symlink(other, linked)
    assert settings("--config", linked)["files"][0]["found"]


@pytest.mark.parametrize(("text", "status"), [
    ("wait = 1m", 78), ("", 0), ("\ufeffwait = '1s'", 0), ("# " + "x" * (1 << 20), 78)],
    ids=["not TOML", "empty", "byte order mark", "too long"])
def test_text(file, shop, text, status):
    """Every command refuses a configuration that is not TOML or too long."""
    write(text, file)
    assert run("config", "check").returncode == status
    assert run("list", "-c", shop).returncode == status


def test_unreadable(file, shop):
    """A configuration that cannot be read is never ignored."""
    with open(file, "wb") as output:
        output.write(b"wait = '\xff\x00'")
    result = run("list", "-c", shop)
    assert result.returncode == 78 and result.stderr.startswith(f"error: {file}:1:9: "), result
    with open(file, "wb") as output:
        output.write(os.urandom(100_000))
    assert run("config", "check").returncode == 78
    os.remove(file)
    os.mkdir(file)
    assert run("list", "-c", shop).returncode == 74
    os.rmdir(file)
    assert run("config", "check", "--config", path("none")).returncode == 66


def test_permissions(file):
    """A configuration that the user may not read is an error."""
    write("", file)
    os.chmod(file, 0)
    # The superuser may read every file.
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    os.chmod(scratch.root, 0o755)
    result = subprocess.run([*user, tool, "config", "check"], capture_output=True, text=True)
    assert result.returncode == 77 and result.stderr.startswith("error: "), result


def test_evaluation(file, shop, news):
    """'rules test' reports for each entry what another evaluation of the rules finds, and 'enforce' does that."""
    write(f"""
        [caches.shop]
        path = "{shop}"
        [[caches.shop.rules]]
        name = "failures"
        match = {{ status = ["4xx", "5xx"] }}
        action = "purge"
        [[rules]]
        match = {{ mime = "image/*", larger_than = 2000 }}
        action = "keep"
        [[rules]]
        match.where = 'host ^= "api." && size > 1KiB'
        expire_after = "100d"
        [[rules]]
        name = "text"
        match = {{ mime = ["text/*", "application/json"] }}
        max-entries = 5
        [caches.news]
        path = "{news}"
    """, file)
    at = ["--at", "2026-01-01T00:00:00Z"]
    listed = run("list", "-c", "shop", "--format", "ndjson", "--columns", "id,url,status,mime,host,size,stored", *at)
    now = calendar.timegm((2026, 1, 1, 0, 0, 0))
    expected, gone, text = {}, {}, []
    for entry in map(json.loads, listed.stdout.splitlines()):
        age = now - calendar.timegm(time.strptime(entry["stored"], "%Y-%m-%dT%H:%M:%SZ"))
        mime, size, name = entry["mime"] or "", entry["size"] or 0, entry["id"]
        if (entry["status"] or 0) // 100 in (4, 5):
            expected[name], gone[name] = (1, "purge"), "purged-by-rule"
        elif mime.startswith("image/") and size > 2000:
            expected[name] = (2, "keep")
        elif entry["host"].startswith("api.") and size > 1024:
            expected[name] = (3, "expire" if age > 100 * 86400 else "limit")
            if age > 100 * 86400:
                gone[name] = "expired"
        elif mime.startswith("text/") or mime == "application/json":
            expected[name] = (4, "limit")
            text.append((entry["stored"], name))
        else:
            expected[name] = (None, None)
    for _, name in sorted(text, reverse=True)[5:]:
        gone[name] = "over-entries"
    tested = json.loads(run("rules", "test", "-c", "shop", "--format", "json", *at).stdout)
    assert {entry["id"]: (entry["rule"], entry["fate"]) for entry in tested["entries"]} == expected
    assert [rule["name"] for rule in tested["rules"]] == ["failures", None, None, "text"], tested["rules"]
    assert len(set(expected.values())) == 6 and len(set(gone.values())) == 3, (set(expected.values()), set(gone.values()))
    for words in [["-n"], ["--yes"]]:
        removed = json.loads(run("enforce", "-c", "shop", "--format", "json", *words, *at).stdout)
        assert {entry["id"]: entry["reason"] for entry in removed["entries"]} == gone, words
        assert all(entry["rule"] == expected[entry["id"]][0] for entry in removed["entries"])
    left = [json.loads(line)["id"] for line in run("list", "-c", "shop", "--format", "ndjson").stdout.splitlines()]
    assert left == [name for name in expected if name not in gone]
    # The second run changes nothing.
    assert json.loads(run("enforce", "-c", "shop", "--format", "json", "--yes", *at).stdout)["entries"] == []
    # The rules for all hold for the other cache too, also by its path; those of one cache do not.
    for name in ["news", news]:
        other = json.loads(run("rules", "test", "-c", name, "--format", "json", *at).stdout)
        assert [rule["name"] for rule in other["rules"]] == [None, None, "text"], other["rules"]
    one = run("rules", "test", "-c", "shop", tested["entries"][left[0] - 1]["url"], *at)
    assert one.returncode == 0 and len(one.stdout.splitlines()) == 7, one


def test_unchanged(file, shop):
    """Commands that only read the configuration change no file."""
    write("wait = '1s'", file)
    before = {(each, status.st_mtime_ns) for each, status in walk()}
    for words in [["config"], ["config", "check"], ["list", "-c", shop]]:
        assert run(*words).returncode == 0
    assert {(each, status.st_mtime_ns) for each, status in walk()} == before


def test_changing(file, shop, news):
    """'set' and 'unset' change one setting and no other byte, also through links."""
    folder = os.path.dirname(file)
    os.rmdir(folder)
    assert run("config", "unset", "wait").returncode == 0 and not os.path.exists(folder), "nothing to remove, nothing made"
    expected = {}
    def change(*words, status=0):
        result = run("config", *words)
        assert result.returncode == status, (words, result)
        return result.stderr
    def set(key, value, there=None):
        change("set", key, value)
        table = expected
        *tables, name = key.split(".")
        for part in tables:
            table = table.setdefault(part, {})
        table[name] = value if there is None else there
        with open(file, "rb") as text:
            assert tomllib.load(text) == expected, (key, expected)
    set("wait", "10s")
    assert os.stat(file).st_mode & 0o777 == 0o600
    set("caches.shop.path", shop)
    set("caches.shop.max-entries", "150", 150)
    set("caches.news.path", news)
    set("caches.shop.max-entries", "120", 120)
    set("caches.shop.order", "stale-first,oldest")
    set("only-if-over", "true", True)
    assert int(run("list", "-c", "shop", "--count").stdout) == entries("shop")
    os.chmod(file, 0o644)
    elsewhere = path("dotfiles.toml")
    os.rename(file, elsewhere)
    os.symlink(elsewhere, file)
    with open(elsewhere) as text:
        before = text.read()
    change("set", "max-delete", "5%")
    assert os.path.islink(file) and os.stat(file).st_mode & 0o777 == 0o644
    change("unset", "max-delete")
    assert change("unset", "max-delete") == "note: 'max-delete' is not set in this file\n"
    for words, status, message in [
            (["set", "wait", "1m"], 64, "error: '1m' could mean minutes or months\nhint: write '1min' or '1mo'\n"),
            (["set", "max-sizes", "1"], 64, "error: unknown setting 'max-sizes'\nhint: did you mean 'max-size'?\n"),
            (["unset", "caches.shop"], 64, None)]:
        errors = change(*words, status=status)
        assert message in [None, errors], errors
    with open(elsewhere) as text:
        assert text.read() == before, "what was set and removed leaves nothing"
    assert os.listdir(folder) == ["config.toml"]
    other = path("other.toml")
    change("set", "--config", other, "wait", "1s")
    with open(other) as text:
        assert text.read() == 'wait = "1s"\n'


def walk():
    for parent, folders, files in os.walk(scratch.root):
        for name in folders + files:
            whole = os.path.join(parent, name)
            yield whole, os.lstat(whole)


def test_a_relative_path_is_made_absolute(file, shop):
    """'config set' stores the path of a cache so that later commands find it from any folder."""
    words = ["config", "set", "caches.shop.path", os.path.basename(shop), "--config", file]
    result = plain_run(*words, cwd=os.path.dirname(shop))
    assert result.stderr == b"", result
    with open(file, "rb") as stream:
        assert tomllib.load(stream)["caches"]["shop"]["path"] == shop
    refused = plain_run("config", "set", "caches.shop.path", "none", "--config", file, status=64)
    assert b"the path must start with '/' or '~/'" in refused.stderr, refused
