"""Kills a purge between its commit and the removal of the body files, and looks at what the next command does about it.

    check_intents.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each case, and ends at the first that is not as it should be. Needs strace.
"""

import os, re, shutil, sqlite3, subprocess, sys

sys.dont_write_bytecode = True
from scratch import *

INTENTS = os.path.join(os.environ["XDG_STATE_HOME"], "urlcache-admin", "intents")
SELECTED = ["--prefix", "https://"]


def intents():
    return sorted(os.listdir(INTENTS)) if os.path.exists(INTENTS) else []


def orphans(cache):
    """The body files that no row names."""
    connection = sqlite3.connect(f"file:{cache}/Cache.db?mode=ro", uri=True)
    named = {name for name, in connection.execute("SELECT receiver_data FROM cfurl_cache_receiver_data WHERE isDataOnFS")}
    connection.close()
    return set(os.listdir(os.path.join(cache, "fsCachedData"))) - named


def killed(call="unlinkat", turn=3, words=("purge", *SELECTED, "--yes")):
    """A cache that a command was killed on."""
    shutil.rmtree(path("cache"), ignore_errors=True)
    cache = shutil.copytree(origin, path("cache"))
    result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={call}:signal=KILL:when={turn}", tool, *words,
                             "-c", cache], capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == -9 and len(intents()) == 1, (result, intents())
    return cache


def note(count):
    return f"note: removed {count} body file{'s' if count > 1 else ''} that an interrupted command left\n".encode()


def every_verb():
    """Each command that changes a cache removes what was left, first of all, and says so; one with nothing else to do, too."""
    plan = path("plan.json")
    run("purge", "-c", origin, *SELECTED, "--plan", plan)
    backup = export(origin, "backup.tar")
    for status, words in [(0, ["purge", *SELECTED, "--yes"]), (0, ["purge", "--host", "none.example", "--yes"]),
                          (0, ["enforce", "--max-entries", "1000", "--yes"]), (3, ["apply", plan, "--yes"]), (0, ["compact"]),
                          (None, ["check", "--repair", "--yes"]), (0, ["import", backup, "--any-method"])]:
        cache = killed()
        left = orphans(cache)
        assert len(left) > 2, left
        result = subprocess.run([tool, *words, "-c", cache], capture_output=True, stdin=subprocess.DEVNULL)
        assert status is None or result.returncode == status, (words, result)
        assert result.stderr.startswith(note(len(left))), (words, result.stderr)
        assert not orphans(cache) and not intents(), (words, orphans(cache), intents())
    print("every verb: ok", flush=True)


def looking():
    """What changes nothing finishes nothing either."""
    cache = killed()
    left = orphans(cache)
    for status, words in [(0, ["purge", "--all", "--dry-run"]), (0, ["purge", "--all", "--plan", path("unused.json")]),
                          (64, ["purge", "--all"]), (0, ["enforce", "--max-entries", "1", "-n"]), (0, ["compact", "-n"]),
                          (0, ["list"]), (0, ["import", path("backup.tar"), "-n"]),
                          # A mistake in the command line comes to light before anything changes.
                          (64, ["purge", "--yes"]), (64, ["purge", "no-url", "--yes"]), (64, ["enforce", "--yes"]),
                          (64, ["enforce", "no-url", "--max-entries", "1", "--yes"]), (66, ["import", path("nowhere.tar"), "--yes"]),
                          (64, ["import", path("backup.tar"), "no-url", "--yes"])]:
        result = run(*words, "-c", cache, status=status)
        assert b"interrupted" not in result.stderr, result
        assert orphans(cache) == left and len(intents()) == 1, words
    result = run("compact", "-c", cache)
    assert result.stderr == note(len(left)) and not intents(), result
    print("looking: ok", flush=True)


def not_committed():
    """What was noted and not committed stays; no word is lost about it."""
    # The first is that of the intent itself.
    cache = killed("fdatasync", 2)
    before = sorted(os.listdir(os.path.join(cache, "fsCachedData")))
    result = run("purge", "--host", "none.example", "--yes", "-c", cache)
    assert result.stderr == b"" and not intents(), result
    assert sorted(os.listdir(os.path.join(cache, "fsCachedData"))) == before and not orphans(cache)
    print("not committed: ok", flush=True)


def in_use():
    """While another process writes, what was left waits for the next command."""
    cache = killed()
    left = orphans(cache)
    writer = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    result = run("purge", "--host", "none.example", "--yes", "--wait", "0s", "-c", cache)
    assert result.stderr == (f"note: the next command removes the files that an interrupted command left: the cache at '{cache}' is "
                             "in use: another process holds its lock\n").encode(), result.stderr
    assert orphans(cache) == left and len(intents()) == 1
    writer.close()
    assert run("compact", "-c", cache).stderr == note(len(left)) and not intents()
    print("in use: ok", flush=True)


def no_state_folder():
    """Where nothing can be noted, a command says so, once, and does its work."""
    end = "; if this command is killed, only 'check --repair' removes what it leaves\n"
    file = write("file", b"")
    for reason, variables, before in [
        ("no folder for state: HOME is not set, or belongs to another user", {}, []),
        ("no folder for state: HOME is not set, or belongs to another user", {"HOME": "relative", "XDG_STATE_HOME": "relative"}, []),
        (f"cannot write '{file}/urlcache-admin': Not a directory", {"XDG_STATE_HOME": file, "HOME": root}, []),
        ("cannot write '@': No space left on device", {"HOME": root}, ["strace", "-qq", "-o", "/dev/null", "-e",
                                                                     "inject=write:error=ENOSPC:when=1"]),
        ("cannot write '@': Input/output error", {"STATE_DIRECTORY": f"{root}/a:{root}/b"},
         ["strace", "-qq", "-o", "/dev/null", "-e", "inject=fdatasync:error=EIO:when=1"]),
    ]:
        shutil.rmtree(path("cache"), ignore_errors=True)
        cache = shutil.copytree(origin, path("cache"))
        result = subprocess.run([*before, tool, "purge", "-c", cache, *SELECTED, "--yes"], capture_output=True, stdin=subprocess.DEVNULL,
                                env={"PATH": os.environ["PATH"], **variables})
        folder = f"{root}/a" if "STATE_DIRECTORY" in variables else f"{root}/.local/state/urlcache-admin"
        said = result.stderr.decode()
        if "@" in reason:
            said = re.sub(rf"'{re.escape(folder)}/intents/intent-\d+-[0-9a-z]+'", "'@'", said)
            assert os.listdir(f"{folder}/intents") == [], "an intent is left"
        assert result.returncode == 0 and said == f"note: {reason}{end}", result
        assert not orphans(cache)
    print("no state folder: ok", flush=True)


origin = make("origin", entries=24)
every_verb()
looking()
not_committed()
in_use()
no_state_folder()
