"""Provokes each failure in each command, and compares the exit statuses with those that the manual page of the command lists."""

import fcntl
import functools
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

import scratch
from products import REPOSITORY, tool
from scratch import path

MANUAL = REPOSITORY / "share/man/man1"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
# What each command is run with; CACHE and so on stand for what a failure is about.
COMMANDS = {
    "list": ["-c", "CACHE"], "show": ["-c", "CACHE", "1"], "body": ["-c", "CACHE", "1", "-o", "-"], "usage": ["-c", "CACHE"],
    "explain": ["-c", "CACHE", "1"], "discover": ["CACHE"], "diff": ["CACHE", "OTHER"], "report": ["-c", "CACHE", "-o", "-"],
    "grep": ["e", "-c", "CACHE"], "query": ["-c", "CACHE", "SELECT 1"], "watch": ["-c", "CACHE", "--for", "10ms"],
    "purge": ["-c", "CACHE", "1", "--yes"], "enforce": ["-c", "CACHE", "--max-entries", "1", "--yes"], "compact": ["-c", "CACHE"],
    "apply": ["PLAN", "-c", "CACHE", "--yes"], "pin": ["-c", "CACHE", "https://a.example/"], "unpin": ["-c", "CACHE", "https://a.example/"],
    "check": ["-c", "CACHE"], "audit": ["-c", "CACHE"], "recover": ["-c", "CACHE"], "revalidate": ["-c", "CACHE", "1", "--dry-run"],
    "expire": ["-c", "CACHE", "1", "--clear-user-info", "a", "--yes"], "export": ["-c", "CACHE", "-o", "-", "--format", "tar"],
    "import": ["OTHER", "-c", "CACHE"], "metrics": ["-c", "CACHE"], "rules test": ["-c", "CACHE"],
    "sample": ["NEW", "--entries", "3"], "config list": [], "config check": [], "config set": ["wait", "1s"], "config unset": ["wait"],
}
# Options that name a file that cannot be created.
CREATING = {
    "body": ["-o", "TAKEN"], "report": ["-o", "TAKEN"], "purge": ["--backup", "TAKEN"], "enforce": ["--backup", "TAKEN"], "compact": ["--log", "TAKEN"],
    "apply": ["--backup", "TAKEN"], "check": ["--repair", "--yes", "--backup", "TAKEN"], "audit": ["--write-baseline", "NOWHERE"],
    "recover": ["-o", "TAKEN"], "revalidate": ["--log", "TAKEN"], "expire": ["--log", "TAKEN"], "export": ["-o", "TAKEN"], "import": ["--backup", "TAKEN"],
    "metrics": ["-o", "TAKEN"],
}


class World:
    """A cache, and what a command needs besides it."""

    def __init__(self):
        for name in set(os.listdir(scratch.root)) - {"temporary", "home"}:
            (shutil.rmtree if os.path.isdir(path(name)) else os.remove)(path(name))
        self.cache = scratch.make("cache", entries=12, seed=2)
        self.plan, self.config = path("plan.json"), scratch.write("config.toml", b"wait = '1s'\npinned = ['https://a.example/']\n")
        scratch.run("purge", "-c", self.cache, "1", "--plan", self.plan)
        self.places = {"CACHE": self.cache, "PLAN": self.plan, "OTHER": scratch.export(scratch.make("other", entries=3, seed=5), "other.tar"),
                       "TAKEN": scratch.write("taken.tar", b"taken"), "NOWHERE": path("none/file"), "NEW": path("new")}
        self.environment = os.environ | {"URLCACHE_ADMIN_CONFIG": self.config}
        os.chmod(scratch.root, 0o755)

    def words(self, verb, more=()):
        return [tool, *verb.split(), *(self.places.get(word, word) for word in [*COMMANDS[verb], *more])]

    def run(self, verb, more=(), prefix=(), stdout=subprocess.PIPE, **environment):
        return subprocess.run([*prefix, *self.words(verb, more)], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              env=self.environment | environment, cwd=scratch.root).returncode


def usage(world, verb):
    return world.run(verb, ["--no-such-option"])


def no_cache(world, verb):
    # A cache that is missing is made by an import, but not the archive.
    world.places["OTHER" if verb == "import" else "CACHE"] = path("none")
    return world.run(verb)


def no_configuration(world, verb):
    return world.run(verb, URLCACHE_ADMIN_CONFIG=path("none"))


def other_file(world, verb):
    world.places["CACHE"] = scratch.write("text", b"hello")
    return world.run(verb)


def no_fetcher(world, verb):
    subprocess.run(["cp", tool, scratch.root], check=True)
    return subprocess.run([path("urlcache-admin"), *world.words(verb)[1:]], capture_output=True, stdin=subprocess.DEVNULL, env=world.environment).returncode


def no_proc(world, verb):
    return world.run(verb, prefix=["unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"])


def taken(world, verb):
    if verb in CREATING:
        return world.run(verb, CREATING[verb])
    if verb == "sample":
        world.places["NEW"] = world.cache
        return world.run(verb)
    # Of the rest, those that write the configuration cannot.
    return world.run(verb, URLCACHE_ADMIN_CONFIG="", XDG_CONFIG_HOME=scratch.write("file", b""))


def full(world, verb):
    if verb in ("config set", "config unset"):
        # They print nothing, and write a file.
        return world.run(verb, prefix=["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"])
    with open("/dev/full", "w") as output:
        return world.run(verb, stdout=output)


def locked(world, verb):
    with sqlite3.connect(os.path.join(world.cache, "Cache.db"), isolation_level=None) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("BEGIN EXCLUSIVE")
        return world.run(verb, [] if verb.startswith(("config", "pin", "unpin", "discover", "diff")) else ["--wait", "0s"])


def locked_configuration(world, verb):
    if verb not in ("pin", "config set", "config unset"):
        return 0
    folder = os.open(scratch.root, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        return world.run(verb)
    finally:
        os.close(folder)


def unreadable(world, verb):
    os.chmod(world.cache, 0)
    return world.run(verb, prefix=NOBODY)


def unreadable_configuration(world, verb):
    os.chmod(world.config, 0)
    return world.run(verb, prefix=NOBODY)


def wrong_configuration(world, verb):
    scratch.write("config.toml", b"x =\n")
    return world.run(verb)


def opened(pipe):
    """A descriptor that writes to a named pipe, if somebody reads it."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        time.sleep(0.005)


def interrupted(number):
    def interrupt(world, verb):
        os.remove(world.config)
        os.mkfifo(world.config)
        with subprocess.Popen(world.words(verb), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=world.environment) as process:
            # The pipe can be opened for writing while the program waits to read the configuration.
            while (writer := opened(world.config)) is None:
                if process.poll() is not None:
                    return process.returncode
            process.send_signal(number)
            status = process.wait()
            os.close(writer)
            # As a shell reports it.
            return 128 - status if status < 0 else status
    return interrupt


FAILURES = {
    "an unknown option": usage, "no cache": no_cache, "no configuration": no_configuration, "another file": other_file, "no fetcher": no_fetcher,
    "no /proc": no_proc, "a file that is there": taken, "a full disk": full, "a lock": locked, "a lock of the configuration": locked_configuration,
    "an unreadable cache": unreadable, "an unreadable configuration": unreadable_configuration, "a wrong configuration": wrong_configuration,
    "SIGINT": interrupted(signal.SIGINT), "SIGTERM": interrupted(signal.SIGTERM),
}


@functools.cache
def listed(verb):
    """The exit statuses in the manual page of a command."""
    page, _, child = verb.partition(" ")
    text = (MANUAL / f"urlcache-admin-{page}.1").read_text().partition(".Sh EXIT STATUS\n")[2].partition("\n.Sh ")[0]
    if child:
        text = text.partition(f".Ss urlcache-admin {verb}\n")[2].partition("\n.Ss ")[0]
    return {int(number) for number in re.findall(r"(?m)^\.It (\d+)$", text)}


@pytest.mark.parametrize("verb", COMMANDS)
def test_statuses(verb):
    """The statuses of failures in the manual page of a command are those that it ends with."""
    if os.geteuid() != 0:
        pytest.skip("the rights of root: not here")
    found = {}
    for name, failure in FAILURES.items():
        world = World()
        status = failure(world, verb)
        os.chmod(world.cache, 0o755)
        found.setdefault(status, []).append(name)
    # Nothing in these failures is the fault of the program, but what the system did not pass.
    assert found.get(70) == ["no /proc"], found
    # Any process can be ended by a signal, also one that is too short to be hit here.
    assert {number for number in found if number >= 64} | {130, 143} == {number for number in listed(verb) if number >= 64}, (found, listed(verb))
    assert verb in ("discover", "sample", "config set", "config unset") or {130, 143} <= found.keys(), found


def test_all_commands():
    """Each command is tried, and those that write no files have no option for one."""
    root = json.loads(scratch.run("--experimental-dump-help").stdout)["command"]
    names = {" ".join(dict.fromkeys([command["commandName"], child["commandName"]])): child
             for command in root["subcommands"] if command["shouldDisplay"] and command["commandName"] != "help"
             for child in command.get("subcommands", [command])}
    assert set(names) == set(COMMANDS)
    for verb, command in names.items():
        options = {name["name"] for argument in command["arguments"] for name in argument.get("names", [])}
        assert bool(options & {"output", "backup", "log", "metrics-file", "plan", "write-baseline"}) == (verb in CREATING), verb


def test_page():
    """The page about exit statuses has the statuses of all commands, and no others."""
    rows = re.findall(r"(?m)^\| ([0-9, ]+) \| ", (REPOSITORY / "share/doc/urlcache-admin/exit-statuses.md").read_text())
    of_pages = set().union(*map(listed, COMMANDS))
    assert {int(number) for row in rows for number in row.split(", ")} == of_pages == {
        int(number) for number in re.findall(r"(?m)^\.It (\d+)$", (MANUAL / "urlcache-admin.1").read_text().partition(".Sh EXIT STATUS\n")[2].partition("\n.Sh ")[0])}
    source = (REPOSITORY / "Sources/AdminCommands/CommandLine/ExitStatus.swift").read_text()
    assert of_pages == {int(number) for number in re.findall(r"case \w+ = (\d+)", source)} | {130, 143}
