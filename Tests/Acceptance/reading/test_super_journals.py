"""Opens caches with a journal that names a super-journal: SQLite would open the file of that name, and delete it.

Whoever made the journal chose the name, which can be that of any file. Such a cache is refused before anything of the journal
is rolled back.
"""

import os
import shutil
import sqlite3
import subprocess
import threading

import pytest

import scratch
import terminal
from products import tool
from scratch import path

MAGIC = bytes.fromhex("d9d505f920a163d7")
BLOBS = "cfurl_cache_blob_data"
WORDS = "an unfinished transaction involves another database"

# Each verb that opens a cache.
LOOKING = [
    ["list"], ["show", "1"], ["body", "1"], ["usage"], ["explain", "1"], ["check"], ["audit"], ["grep", "x"], ["report", "-o", "new.html"],
    ["query", "SELECT count(*) FROM entries"], ["export", "-o", "new.tar"], ["watch", "--for", "1s"],
    ["purge", "--all", "--dry-run"], ["purge", "--all", "--plan", "new.json"], ["enforce", "--max-entries", "3", "--dry-run"],
    ["enforce", "--max-size", "10KiB", "--dry-run"], ["enforce", "--max-entries", "3", "--plan", "new.json"]]
CHANGING = [
    ["purge", "--all", "--yes"], ["purge", "--all", "--yes", "--secure"], ["enforce", "--max-entries", "3", "--yes"],
    ["enforce", "--max-size", "10KiB", "--yes"], ["compact"], ["check", "--repair", "--yes"], ["import", "ARCHIVE"]]


@pytest.fixture
def victim():
    return scratch.write("victim", b"mine")


@pytest.fixture
def cache():
    return crashed()


def crashed(name="cache"):
    """A cache with a rollback journal as a process leaves it that ends amid a transaction, after it has written rows."""
    folder = scratch.make(name + ".whole", entries=40)
    database = sqlite3.connect(os.path.join(folder, "Cache.db"), isolation_level=None)
    for statement in ["PRAGMA journal_mode=DELETE", "PRAGMA cache_size=1", "BEGIN", f"UPDATE {BLOBS} SET proto_props = randomblob(9000)"]:
        database.execute(statement)
    shutil.copytree(folder, path(name))
    database.execute("ROLLBACK")
    database.close()
    return path(name)


def trailer(name, checksum=None):
    """The end of a journal with the name of a super-journal: "Database File Format", 3.1."""
    checksum = sum(name) if checksum is None else checksum
    return (0x40000000 // 4096 + 1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big") + (checksum % 2**32).to_bytes(4, "big") + MAGIC


def change_journal(cache, name=None, first=b"", checksum=None):
    """Lets the journal name a super-journal, and replaces its first bytes."""
    journal = os.path.join(cache, "Cache.db-journal")
    with open(journal, "r+b") as file:
        file.write(first)
        if name is not None:
            file.seek(0, 2)
            file.write(trailer(name, checksum))
    return journal


def refused(cache, victim, *words):
    """Runs a command, which refuses the cache and changes nothing."""
    before = scratch.tree(cache)
    # SQLite looks up a relative name in the present folder.
    result = scratch.run(words[0], "-c", f"{cache}/Cache.db", *words[1:], status=None, cwd=scratch.root)
    assert scratch.read(victim) == b"mine", words
    assert scratch.tree(cache) == before, words
    assert result.returncode == 65 and WORDS in result.stderr.decode(), result
    return result


@pytest.mark.parametrize("words", LOOKING + CHANGING, ids=" ".join)
def test_every_verb(cache, victim, words):
    """No command follows the name."""
    change_journal(cache, victim.encode())
    if "ARCHIVE" in words:
        words = ["import", scratch.export(scratch.make("other", entries=3, seed=9), "archive.tar")]
    refused(cache, victim, *words)


@pytest.mark.parametrize("words", [["list"], ["purge", "--all", "--yes"]], ids=" ".join)
@pytest.mark.parametrize("kind", ["absolute", "relative", "own journal", "own database", "strange beginning", "NUL", "leading NUL",
                                  "signed checksum", "wrong checksum", "long"])
def test_every_name(cache, victim, kind, words):
    """The name may be any bytes, and the journal may begin in any way."""
    first, checksum = b"", None
    name = {"relative": b"victim", "own journal": f"{cache}/Cache.db-journal".encode(), "own database": f"{cache}/Cache.db".encode(),
            "NUL": victim.encode() + b"\0more", "leading NUL": b"\0" + victim.encode(), "long": b"/" * 600 + victim.encode(),
            }.get(kind, victim.encode())
    if kind == "strange beginning":
        first = b"?" + MAGIC[1:]
    if kind == "signed checksum":
        victim = scratch.write("victim-é", b"mine")
        name = victim.encode()
        checksum = sum(byte - 256 if byte > 127 else byte for byte in name)
    if kind == "wrong checksum":
        checksum = 1
    change_journal(cache, name, first, checksum)
    refused(cache, victim, *words)


def test_discover(cache, victim):
    """A search mentions the cache as one that cannot be read."""
    change_journal(cache, victim.encode())
    before = scratch.tree(cache)
    result = scratch.run("discover", cache, status=None)
    assert scratch.read(victim) == b"mine" and scratch.tree(cache) == before
    assert WORDS in (result.stdout + result.stderr).decode(), result


def test_recover(cache, victim):
    """What is in the files can be read below SQLite."""
    change_journal(cache, victim.encode())
    before = scratch.tree(cache)
    result = scratch.run("recover", "--damaged", cache, status=None)
    assert scratch.read(victim) == b"mine" and scratch.tree(cache) == before
    assert result.returncode in (0, 1, 3), result


@pytest.mark.parametrize("words", [["list"], ["purge", "--all", "--yes"], ["compact"]], ids=" ".join)
def test_ordinary_journals(cache, words):
    """A journal without such a name is rolled back."""
    scratch.run(words[0], "-c", cache, *words[1:])
    assert os.path.exists(os.path.join(cache, "Cache.db-journal")) == (words == ["list"])


def test_a_journal_that_ends_like_one_with_a_name(cache):
    """The eight bytes at the end of a journal are not enough: a write of the next header may have been cut off after them."""
    with open(os.path.join(cache, "Cache.db-journal"), "ab") as file:
        file.write(bytes(504) + MAGIC)
    scratch.run("list", "-c", cache)


class Swapping(threading.Thread):
    """Puts two journals in the place of a cache's journal, in turns."""

    def __init__(self, cache, name):
        super().__init__()
        self.journal = os.path.join(cache, "Cache.db-journal")
        shutil.copy(self.journal, path("ordinary"))
        change_journal(cache, name)
        shutil.copy(self.journal, path("strange"))
        self.isDone = False

    def run(self):
        # The files are renamed, so that each is whole, and come back by links.
        while not self.isDone:
            for kind in ("ordinary", "strange"):
                os.link(path(kind), path("next"))
                os.rename(path("next"), self.journal)
                # A rename onto a link of the same file does nothing.
                if os.path.exists(path("next")):
                    os.remove(path("next"))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.isDone = True
        self.join()


def test_race_with_list(cache, victim):
    """A journal that comes while a cache is listed is not followed."""
    with Swapping(cache, victim.encode()):
        for _ in range(100):
            result = scratch.run("list", "-c", cache, "--wait", "0s", "--format", "urls", status=None)
            assert scratch.read(victim) == b"mine"
            assert result.returncode in (0, 65, 75), result
            assert result.returncode != 0 or len(result.stdout.splitlines()) == 40, result
            assert result.returncode != 65 or WORDS in result.stderr.decode(), result


@pytest.mark.parametrize("words", [["purge", "--all", "--yes"], ["enforce", "--max-entries", "3", "--yes"]], ids=" ".join)
def test_race_with_changes(cache, victim, words, thorough):
    """A journal that comes while a cache is changed is not followed."""
    shutil.copytree(cache, path("before"))
    for _ in range(200 if thorough else 20):
        scratch.copy(path("before"), "cache")
        for name in ("ordinary", "strange"):
            if os.path.exists(path(name)):
                os.remove(path(name))
        with Swapping(cache, victim.encode()):
            result = scratch.run(words[0], "-c", cache, "--wait", "0s", *words[1:], status=None)
        assert scratch.read(victim) == b"mine"
        assert result.returncode in (0, 3, 65, 75), result


def test_while_a_question_waits(victim):
    """A journal that comes before the answer to a question is not followed."""
    cache = crashed("broken")
    journal = change_journal(cache, victim.encode())
    whole = path("broken.whole")
    process, ours, _ = terminal.start(["purge", "-c", whole, "--all"], streams=("stdin", "stdout", "stderr"))
    try:
        written = terminal.read(ours, until=b"[y/N]")
        for name in ("Cache.db", "Cache.db-journal"):
            shutil.copyfile(os.path.join(cache, name), os.path.join(whole, name))
        os.write(ours, b"y\n")
        written += terminal.read(ours)
        status = process.wait(timeout=60)
    finally:
        os.close(ours)
    assert status == 65 and WORDS.encode() in b" ".join(written.split()), written
    assert scratch.read(victim) == b"mine"
    assert scratch.read(os.path.join(whole, "Cache.db-journal")) == scratch.read(journal)


def test_a_name_that_comes_later(cache, victim):
    """A name that is written into the journal once it is open is not followed either."""
    journal = os.path.join(cache, "Cache.db-journal")
    ordinary = scratch.read(journal)
    strange = ordinary + trailer(victim.encode())
    shutil.copytree(cache, path("before"))
    done = threading.Event()

    def write():
        while not done.is_set():
            try:
                with open(journal, "r+b") as file:
                    file.seek(len(ordinary))
                    file.write(strange[len(ordinary):])
                    file.flush()
                    file.truncate(len(ordinary))
            except OSError:
                pass

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(40):
            subprocess.run([tool, "purge", "-c", cache, "--all", "--yes", "--wait", "0s"], capture_output=True)
            assert scratch.read(victim) == b"mine"
            scratch.copy(path("before"), "cache")
    finally:
        done.set()
        thread.join()
