"""Provokes each message that the page about troubleshooting names, and compares the words and the exit status."""

import os
import re
import sqlite3
import subprocess

import pytest

import scratch
import worlds
from products import REPOSITORY, tool
from scratch import make, path

PAGE = REPOSITORY / "share/doc/urlcache-admin/troubleshooting.md"
WITHOUT_PROC = "mount -t tmpfs none /proc && exec \"$@\""


def headings():
    """The phrases that are printed exactly so, with the exit statuses after the heading's phrases."""
    for heading in re.findall(r"(?m)^\*\*(.*`.*)\*\*$", PAGE.read_text()):
        waiting = []
        for phrase, status in re.findall(r"`([^`]+)`|\((\d+)\)", heading):
            if phrase:
                waiting.append(phrase)
            else:
                yield from ((phrase, int(status)) for phrase in waiting)
                waiting = []
        assert not waiting, heading


def change(cache, *statements):
    with sqlite3.connect(os.path.join(cache, "Cache.db")) as database:
        for statement in statements:
            database.execute(statement)
    database.close()
    return cache


def cache(*statements):
    return change(make("cache", entries=20), *statements)


def run(*words, prefix=(), **options):
    return subprocess.run([*prefix, tool, *words], capture_output=True, stdin=subprocess.DEVNULL, cwd=scratch.root, **options)


def configured(text, *words):
    with open(path("config.toml"), "w") as file:
        file.write(text)
    return run(*words, "--config", path("config.toml"))


def other_database():
    with sqlite3.connect(path("other.db")) as database:
        database.execute("CREATE TABLE x(y)")
    database.close()
    return run("list", path("other.db"))


def unreadable():
    made = cache()
    os.chmod(scratch.root, 0o755)
    os.chmod(made, 0)
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    try:
        return run("list", "-c", made, "--config", "/dev/null", prefix=prefix)
    finally:
        os.chmod(made, 0o755)


def damaged():
    made = cache()
    with open(os.path.join(made, "Cache.db"), "r+b") as file:
        file.seek(5_000)
        file.write(b"\xff" * 30_000)
    return run("list", made)


def super_journal():
    made = cache("PRAGMA journal_mode=DELETE")
    worlds.crash(made)
    worlds.name_super_journal(made, path("victim"))
    return run("list", made)


def locked():
    database = sqlite3.connect(os.path.join(cache("PRAGMA journal_mode=DELETE"), "Cache.db"), isolation_level=None)
    database.execute("BEGIN EXCLUSIVE")
    try:
        return run("list", path("cache"), "--wait", "0s")
    finally:
        database.close()


def changed_while_reading():
    made = make("large", entries=3_000)
    with subprocess.Popen([tool, "list", made, "--format", "ndjson"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(1)
        os.utime(os.path.join(made, "Cache.db"))
        output, errors = process.communicate()
        return subprocess.CompletedProcess([], process.returncode, output, errors)


def changed_after_planning(count):
    made = cache()
    assert run("purge", made, "--all", "--plan", "plan.json").returncode == 0
    assert run("purge", made, *map(str, range(1, count + 1)), "--yes").returncode == 0
    return run("apply", "plan.json", "--yes")


def pinned():
    made = cache()
    url = run("list", made, "3", "--format", "urls").stdout.decode().strip()
    return configured(f"pinned = ['{url}']", "purge", made, "3", "--yes")


def without_fetcher():
    subprocess.run(["cp", tool, scratch.root], check=True)
    return subprocess.run([path("urlcache-admin"), "revalidate", cache(), "1"], capture_output=True, stdin=subprocess.DEVNULL)


PROVOKED = {
    "no such file, and no cache of this name in the configuration": lambda: run("list", "none"),
    "is not a URL cache: it is not an SQLite database": lambda: run("list", scratch.write("text", b"hello")),
    "the database has no table 'cfurl_cache_response'": other_database,
    "the folder has neither a Cache.db nor a file '*.storedcachedurlresponse' nor a folder 'Version N' with 'Records'": lambda: os.mkdir(path("empty")) or run("list", "empty"),
    "cannot open": unreadable, "Permission denied": unreadable, "is damaged": damaged, "involves another database": super_journal,
    "is read-only: it has schema": lambda: run("purge", cache("PRAGMA user_version=300"), "--all", "--yes"),
    "is read-only: it has triggers": lambda: run(
        "purge", cache("CREATE TRIGGER t AFTER DELETE ON cfurl_cache_response BEGIN SELECT 1; END"), "--all", "--yes"),
    "is in use": locked, "changed while it was read": changed_while_reading,
    "that changed or was removed meanwhile": lambda: changed_after_planning(1), "that changed or were removed meanwhile": lambda: changed_after_planning(2),
    "cannot ask for confirmation": lambda: run("purge", cache(), "--all"), "no entries selected": lambda: run("purge", cache(), "--yes"),
    "no entry has the URL": lambda: run("list", cache(), "https://none.example/"),
    "cannot meet the limits": lambda: run("enforce", cache(), "--max-size", "1", "--yes"),
    "more than '--max-delete' allows": lambda: run("purge", cache(), "--all", "--yes", "--max-delete", "1"), "entries kept by pins": pinned,
    "config.toml:": lambda: configured("x = 1\n", "list", cache()), "could mean minutes or months": lambda: run("list", cache(), "--older-than", "1m"),
    "cannot create": lambda: run("export", cache(), "-o", scratch.write("a.tar", b"")),
    "File exists": lambda: run("export", cache(), "-o", scratch.write("a.tar", b"")),
    "cannot find 'urlcache-admin-fetch'": without_fetcher,
    "cannot read the command-line arguments": lambda: run("list", prefix=["unshare", "-m", "sh", "-c", WITHOUT_PROC, "sh"]),
    "failed": lambda: run("revalidate", cache(), "1", "--timeout", "5s"),
}


def test_all_phrases():
    """Each phrase of the page is provoked, and nothing else."""
    assert sorted(phrase for phrase, _ in headings()) == sorted(PROVOKED)


@pytest.mark.parametrize(("phrase", "status"), [pytest.param(*heading, id=heading[0]) for heading in headings()])
def test_phrase(phrase, status):
    """The program prints the phrase, and ends with the status of its heading."""
    if phrase == "cannot read the command-line arguments" and os.geteuid() != 0:
        pytest.skip("the rights of root: not here")
    result = PROVOKED[phrase]()
    assert phrase in (result.stdout + result.stderr).decode() and result.returncode == status, result
