"""Kills a purge between its commit and the removal of the body files, and looks at what the next command does about it."""

import os
import re
import sqlite3
import subprocess

import pytest

import scratch
import strace
from fault_trial import intents
from products import tool
from scratch import copy, export, make, path, run, write

pytestmark = strace.needed
SELECTED = ["--prefix", "https://"]


@pytest.fixture
def origin():
    return make("origin", entries=24)


@pytest.fixture
def backup(origin):
    return export(origin, "backup.tar")


def orphans(cache):
    """The body files that no row names."""
    connection = sqlite3.connect(f"file:{cache}/Cache.db?mode=ro", uri=True)
    named = {name for name, in connection.execute("SELECT receiver_data FROM cfurl_cache_receiver_data WHERE isDataOnFS")}
    connection.close()
    return set(os.listdir(os.path.join(cache, "fsCachedData"))) - named


def killed(origin, call="unlinkat", turn=3):
    """A cache on which a purge was killed."""
    cache = copy(origin, "cache")
    result = subprocess.run([*strace.fault(call, "signal=SIGKILL", turn), tool, "purge", *SELECTED, "--yes", "-c", cache],
                            capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == -9 and len(intents()) == 1, (result, intents())
    return cache


def note(count):
    return f"note: removed {count} body file{'s' if count > 1 else ''} left by an interrupted command\n".encode()


@pytest.mark.parametrize(("words", "status"), [
    (["purge", *SELECTED, "--yes"], 0), (["purge", "--prefix", "https://none.example/", "--yes"], 0), (["enforce", "--max-entries", "1000", "--yes"], 0),
    (["apply", "PLAN", "--yes"], 3), (["compact"], 0), (["check", "--repair", "--yes"], None), (["import", "BACKUP", "--any-method"], 0)],
    ids=["purge", "purge of nothing", "enforce", "apply", "compact", "check", "import"])
def test_every_verb(origin, backup, words, status):
    """Each command that changes a cache first removes the body files that a killed command left, and reports it, even with nothing else to do."""
    plan = path("plan.json")
    run("purge", "-c", origin, *SELECTED, "--plan", plan)
    words = [{"PLAN": plan, "BACKUP": backup}.get(word, word) for word in words]
    cache = killed(origin)
    left = orphans(cache)
    assert len(left) > 2, left
    result = run(*words, "-c", cache, status=status)
    assert result.stderr.startswith(note(len(left))), result.stderr
    assert not orphans(cache) and not intents(), (orphans(cache), intents())


def test_commands_that_change_nothing(origin, backup):
    """A command that changes nothing leaves the files of a killed command where they are."""
    cache = killed(origin)
    left = orphans(cache)
    for status, words in [(0, ["purge", "--all", "--dry-run"]), (0, ["purge", "--all", "--plan", path("unused.json")]),
                          (64, ["purge", "--all"]), (0, ["enforce", "--max-entries", "1", "-n"]), (0, ["compact", "-n"]),
                          (0, ["list"]), (0, ["import", backup, "-n"]),
                          # A mistake in the command line comes to light before anything changes.
                          (64, ["purge", "--yes"]), (64, ["purge", "no-url", "--yes"]), (64, ["enforce", "--yes"]),
                          (64, ["enforce", "no-url", "--max-entries", "1", "--yes"]), (66, ["import", path("nowhere.tar"), "--yes"]),
                          (64, ["import", backup, "no-url", "--yes"])]:
        result = run(*words, "-c", cache, status=status)
        assert b"interrupted" not in result.stderr, result
        assert orphans(cache) == left and len(intents()) == 1, words
    result = run("compact", "-c", cache)
    assert result.stderr == note(len(left)) and not intents(), result


def test_before_the_commit(origin):
    """Body files stay if the command was killed before its commit, and the next command does not mention it."""
    # The first synchronization is that of the intent.
    cache = killed(origin, "fdatasync", 2)
    before = sorted(os.listdir(os.path.join(cache, "fsCachedData")))
    result = run("purge", "--prefix", "https://none.example/", "--yes", "-c", cache)
    assert result.stderr == b"" and not intents(), result
    assert sorted(os.listdir(os.path.join(cache, "fsCachedData"))) == before and not orphans(cache)


def test_cache_in_use(origin):
    """While another process writes, the files of a killed command stay for the next command."""
    cache = killed(origin)
    left = orphans(cache)
    writer = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    result = run("purge", "--prefix", "https://none.example/", "--yes", "--wait", "0s", "-c", cache)
    assert result.stderr == (f"note: cannot remove the files left by an interrupted command yet; the next command will try again: the cache at '{cache}' is "
                             "in use: another process has locked it\n").encode(), result.stderr
    assert orphans(cache) == left and len(intents()) == 1
    writer.close()
    assert run("compact", "-c", cache).stderr == note(len(left)) and not intents()


UNKNOWN_HOME = "no state folder: HOME is not set, or the home folder belongs to another user"


@pytest.mark.parametrize(("reason", "variables", "fault"), [
    (UNKNOWN_HOME, {"HOME": "relative", "XDG_STATE_HOME": "relative"}, []),
    ("no state folder: the home folder 'ROOT/none' does not exist", {"HOME": "ROOT/none"}, []),
    ("cannot write 'ROOT/file/urlcache-admin': Not a directory", {"XDG_STATE_HOME": "ROOT/file", "HOME": "ROOT"}, []),
    ("cannot write 'INTENT': No space left on device", {"HOME": "ROOT"}, ["write", "error=ENOSPC", 1, False]),
    ("cannot write 'INTENT': Input/output error", {"STATE_DIRECTORY": "ROOT/a:ROOT/b"}, ["fdatasync", "error=EIO", 1, False]),
], ids=["relative", "no home", "no folder", "no room", "broken"])
def test_no_state_folder(origin, reason, variables, fault):
    """A command that cannot note what it removes says so once, and does its work."""
    write("file", b"")
    cache = copy(origin, "cache")
    variables = {name: value.replace("ROOT", scratch.root) for name, value in variables.items()}
    result = subprocess.run([*(strace.fault(*fault) if fault else []), tool, "purge", "-c", cache, *SELECTED, "--yes"], capture_output=True,
                            stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], **variables})
    folder = path("a" if "STATE_DIRECTORY" in variables else ".local/state/urlcache-admin")
    said = result.stderr.decode()
    if fault:
        said = re.sub(rf"'{re.escape(folder)}/intents/intent-\d+-[0-9a-z]+'", "'INTENT'", said)
        assert os.listdir(f"{folder}/intents") == [], "an intent is left"
    end = "; if this command is killed, run 'urlcache-admin check CACHE --repair' to remove the files that it leaves behind\n"
    assert result.returncode == 0 and said == f"note: {reason.replace('ROOT', scratch.root)}{end}", result
    assert not orphans(cache)
