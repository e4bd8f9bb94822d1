"""While root works on a cache, its owner replaces whatever there is in it, again and again: nothing outside of what the owner could change
themself changes, and everybody else's caches are cleaned."""

import contextlib
import glob
import json
import os
import shutil
import subprocess

import time

import pytest

import scratch
import worlds
from scratch import path
from worlds import STRANGER, run

pytestmark = [pytest.mark.needs_root, pytest.mark.needs_proc]

# What the owner does: the folder of the cache, its files and its bodies become links, hard links and other things in turn.
SWAPPER = """
import contextlib, os, random, shutil, sys
cache, whole, targets = sys.argv[1], sys.argv[2], sys.argv[3:]
choice = random.Random(7)
aside, bodies = cache + ".aside", cache + "/fsCachedData"

def replace(name, make):
    with contextlib.suppress(OSError):
        os.rename(name, name + ".old")
    with contextlib.suppress(OSError):
        make(name)
    if choice.random() < 0.5:
        with contextlib.suppress(OSError):
            os.remove(name)
        with contextlib.suppress(OSError):
            os.rename(name + ".old", name)

def linked(name): os.symlink(choice.choice(targets) + choice.choice(["", "/Cache.db", "/secret"]), name)
def joined(name): os.link(choice.choice(targets) + choice.choice(["/Cache.db", "/secret"]), name)
def piped(name): os.mkfifo(name)
def garbage(name): open(name, "wb").write(bytes(choice.randrange(5000)))
def cut(name): os.truncate(name, 0)

while True:
    what = choice.randrange(6)
    if what == 0:
        replace(cache, linked)
    elif what == 1:
        with contextlib.suppress(OSError):
            body = choice.choice(os.listdir(bodies))
            replace(bodies + "/" + body, choice.choice([linked, joined, piped, garbage]))
    elif what == 2:
        replace(bodies, linked)
    elif what == 3:
        replace(cache + "/Cache.db" + choice.choice(["", "-wal", "-journal", "-shm"]), choice.choice([linked, joined, piped, garbage]))
    elif what == 4:
        with contextlib.suppress(OSError):
            cut(cache + "/Cache.db-shm")
    else:
        with contextlib.suppress(OSError):
            if os.path.islink(cache):
                os.remove(cache)
            else:
                shutil.rmtree(cache, ignore_errors=True)
            shutil.copytree(whole, cache)
"""


def facts(folder):
    """Everything below a folder, as it must stay: kind, owner, mode, number of links and content."""
    found = {}
    for file in [folder, *glob.glob(folder + "/**", recursive=True)]:
        status = os.lstat(file)
        content = open(file, "rb").read() if os.path.isfile(file) and not os.path.islink(file) else None
        found[file] = (status.st_mode, status.st_uid, status.st_gid, status.st_nlink, content)
    return found


def test_swapping(thorough):
    """Root runs each command in turn meanwhile."""
    os.chmod(scratch.root, 0o755)
    os.mkdir(path("theirs"))
    cache = worlds.apple(path("theirs/cache"), worlds.entries(12))
    worlds.apple(path("whole"), worlds.entries(12))
    worlds.give(path("whole"))
    worlds.give(path("theirs"))
    canary, other = path("canary"), worlds.apple(path("other"), worlds.entries(12))
    os.mkdir(canary)
    worlds.apple(canary + "/fsCachedData", worlds.entries(4))
    with open(canary + "/secret", "w") as file:
        file.write("SECRET" * 100)
    worlds.apple(canary + "/Caches", worlds.entries(4))
    # Everybody may look at these, so that links to them lead somewhere.
    for folder, owner in [(canary, 0), (other, STRANGER + 1)]:
        for file in [folder, *glob.glob(folder + "/**", recursive=True)]:
            os.chown(file, owner, owner)
            os.chmod(file, 0o755 if os.path.isdir(file) else 0o644)
    own = worlds.apple(path("own"), worlds.entries(12))
    private = path("private")
    os.mkdir(private, 0o700)
    folder = os.path.join(worlds.surroundings()["HOME"], ".config/urlcache-admin")
    os.makedirs(folder)
    with open(folder + "/config.toml", "w") as file:
        file.write("max-entries = 5\n" + "".join(f"[caches.{name}]\npath = {json.dumps(place)}\n" for name, place in [("theirs", cache), ("own", own)]))
    before = {name: facts(name) for name in (canary, other, path("whole"))}
    swapper = subprocess.Popen(["/usr/bin/python3", "-c", SWAPPER, cache, path("whole"), canary, other], user=STRANGER, group=STRANGER,
                               extra_groups=[], stdin=subprocess.DEVNULL)
    commands = [["purge", "-c", cache, "--all", "--yes"], ["enforce", "-c", cache, "--max-entries", "3", "--yes"], ["compact", "-c", cache],
                ["check", "-c", cache, "--repair", "--yes"], ["list", "-c", cache], ["usage", "-c", cache], ["discover", scratch.root],
                ["purge", "-c", cache, "--all", "--yes", "--secure", "--backup", "NEW.tar"], ["export", "-c", cache, "-o", "NEW.zip"],
                ["report", "-c", cache, "-o", "NEW.html"], ["enforce", "--all-caches", "--yes", "--max-runtime", "20s"]]
    statuses, end, number = {}, time.monotonic() + (60 if thorough else 15), 0
    try:
        while time.monotonic() < end or number < len(commands):
            words = [word.replace("NEW", f"{private}/{number}") for word in commands[number % len(commands)]]
            number += 1
            logged = ["--log", f"{private}/l.jsonl", "--metrics-file", f"{private}/m.prom"] if words[0] in ("purge", "enforce") else []
            result = run(*words, *logged)
            assert "SECRET" not in result.stdout and result.returncode >= 0, (words, result)
            statuses.setdefault(words[0], set()).add(result.returncode)
            if "--all-caches" in words:
                assert len(worlds.contents(own)) == 5, result
                with open(f"{private}/l.jsonl") as lines:
                    assert [json.loads(line)["cache"] for line in lines][-2:] == ["theirs", "own"]
                assert b'cache="theirs"' in scratch.read(f"{private}/m.prom")
                shutil.rmtree(own)
                worlds.apple(own, worlds.entries(12))
    finally:
        swapper.kill()
        swapper.wait()
    for name, was in before.items():
        now = facts(name)
        # The owner of the cache can add links to what everybody may read, which is not root's doing.
        assert {file: fact[:3] + fact[4:] for file, fact in now.items()} == {file: fact[:3] + fact[4:] for file, fact in was.items()}, name
    assert {os.lstat(file).st_uid for file in glob.glob(private + "/**", recursive=True)} == {0}
    assert 0 not in {os.lstat(file).st_uid for file in glob.glob(path("theirs") + "/*") + glob.glob(path("theirs") + "/*/*") if not os.path.islink(file)
                     and os.lstat(file).st_nlink == 1}, statuses
    assert all(status in (0, 1, 3, 65, 66, 73, 74, 75, 77) for found in statuses.values() for status in found), statuses
