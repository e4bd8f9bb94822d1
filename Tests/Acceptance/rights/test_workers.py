"""Root does the work on a cache of another user in a process with the rights of that user, which has nothing of root's."""

import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import threading
import time

import pytest

import scratch
import worlds
from open_files import open_files
from products import tool
from scratch import path
from worlds import STRANGER, run

pytestmark = [pytest.mark.needs_root, pytest.mark.needs_proc]


@pytest.fixture
def cache():
    """A cache of another user, in a folder of that user."""
    os.mkdir(path("theirs"))
    cache = worlds.apple(path("theirs/cache"), worlds.entries(30))
    worlds.give(path("theirs"))
    return cache


def owners(folder):
    return {os.lstat(file).st_uid for file in glob.glob(folder + "/**", recursive=True)}


@contextlib.contextmanager
def started(*words, **options):
    process = subprocess.Popen([tool, *words], env=worlds.surroundings(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def worker_of(process):
    """The number of the worker of a process, once it has the rights of the owner."""
    for _ in range(15_000):
        for child in open(f"/proc/{process.pid}/task/{process.pid}/children").read().split():
            with contextlib.suppress(OSError):
                if f"Uid:\t{STRANGER}\t{STRANGER}\t{STRANGER}" in open(f"/proc/{child}/status").read():
                    return int(child)
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)
    raise AssertionError("no worker")


def as_owner(*command):
    return subprocess.run(command, user=STRANGER, group=STRANGER, extra_groups=[], capture_output=True, text=True)


@pytest.mark.parametrize("words", [["purge", "--all", "--yes"], ["enforce", "--max-entries", "5", "--yes"], ["compact"], ["check"],
                                   ["list"], ["usage"], ["show", "1"], ["audit", "--fail-on", "never"]], ids=lambda words: words[0])
def test_same_as_owner(cache, words):
    """A command says and does the same as for the owner, and what it makes belongs to the owner."""
    other = worlds.apple(path("theirs/other"), worlds.entries(30))
    worlds.give(other)
    by_root = run(words[0], "-c", cache, *words[1:], "--at", "2030-01-01T00:00Z") if words[0] not in ("compact",) else run(words[0], "-c", cache, *words[1:])
    by_owner = run(words[0], "-c", other, *words[1:], *(["--at", "2030-01-01T00:00Z"] if words[0] not in ("compact",) else []), user=STRANGER)
    assert by_root.returncode == by_owner.returncode, (by_root, by_owner)
    assert by_root.stdout.replace(cache, other) == by_owner.stdout, (by_root, by_owner)
    assert owners(path("theirs")) == {STRANGER} and set(worlds.contents(cache)) == set(worlds.contents(other))


def test_outputs(cache):
    """Root reads the inputs, and writes the outputs, the log and the metrics, which the owner could not."""
    private = path("private")
    os.mkdir(private, 0o700)
    with open(f"{private}/urls.txt", "w") as file:
        file.write("https://a.example/3\nhttps://a.example/4\n")
    result = run("purge", "-c", cache, "--url-file", f"{private}/urls.txt", "--yes", "--backup", f"{private}/b.tar",
                 "--log", f"{private}/l.jsonl", "--metrics-file", f"{private}/m.prom", status=0)
    assert len(worlds.contents(cache)) == 28, result
    with open(f"{private}/l.jsonl") as lines:
        assert json.loads(lines.read())["removed_entries"] == 2
    metrics = scratch.read(f"{private}/m.prom").decode()
    assert re.search(r'^urlcache_last_run_removed_entries\{.*\} 2$', metrics, re.M) and re.search(r"^urlcache_disk_bytes", metrics, re.M)
    for words in [["export", "-o", f"{private}/e.zip"], ["report", "-o", f"{private}/r.html"], ["body", "1", "-o", f"{private}/body"],
                  ["purge", "--all", "--plan", f"{private}/p.json"], ["export", "--format", "files", "-o", f"{private}/folder"]]:
        run(words[0], "-c", cache, *words[1:], status=0)
        assert os.path.exists(words[-1])
    assert owners(private) == {0} and len(os.listdir(f"{private}/folder")) > 1
    run("import", f"{private}/b.tar", "-c", cache, "--yes", status=0)
    assert len(worlds.contents(cache)) == 30 and owners(path("theirs")) == {STRANGER}
    run("apply", f"{private}/p.json", "--yes", status=(0, 3))
    assert len(worlds.contents(cache)) <= 2


@pytest.mark.needs_mounts
@pytest.mark.parametrize("leaving", [0, 20_000])
@pytest.mark.parametrize("words", [["purge", "--all", "--yes", "--backup"], ["export", "--format", "tar", "-o"], ["report", "-o"], ["purge", "--all", "--plan"],
                                   ["purge", "--all", "--yes", "--log"], ["enforce", "--max-entries", "3", "--yes", "--metrics-file"]],
                         ids=lambda words: words[0] + words[-1])
def test_outputs_without_room(cache, words, leaving):
    """An output of root's on a full disk ends the command, and nothing has changed; with a little room it may be complete."""
    before = worlds.contents(cache)
    with worlds.FullDisk(path("disk"), "4m") as disk:
        disk.fill(leaving)
        output = f"{disk.seen}/output.tar"
        result = run(words[0], "-c", cache, *words[1:], output, status=(0, 73, 74) if leaving else (73, 74), timeout=30)
        if result.returncode:
            assert "No space left" in result.stderr and worlds.contents(cache) == before, result
            assert not os.path.exists(output) or os.path.getsize(output) == 0 and "--log" in words, result
        else:
            assert os.path.getsize(output) > 0, result
    assert owners(path("theirs")) == {STRANGER}


def test_configuration(cache):
    """The configuration of root applies, its pins too."""
    worlds.configure(cache, **{"pinned": ["https://a.example/7"], "max-entries": 10})
    run("enforce", "-c", "shop", "--yes", status=0)
    assert len(worlds.contents(cache)) == 10 and any("/7" in str(row) for row in worlds.contents(cache).items())


def test_view_of_owner(cache):
    """The owner sees a process of theirs without any right, descriptor or memory of root's, and cannot look into it."""
    secret = "SECRET-OF-ROOT"
    with started("watch", "-c", cache, pass_fds=[os.open("/etc/shadow", os.O_RDONLY)]) as process:
        process.secret = secret
        worker = worker_of(process)
        time.sleep(0.5)
        status = open(f"/proc/{worker}/status").read()
        for line in [f"Uid:\t{STRANGER}\t{STRANGER}\t{STRANGER}\t{STRANGER}", "NoNewPrivs:\t1",
                     *(f"Cap{kind}:\t{'0' * 16}" for kind in ("Inh", "Prm", "Eff", "Amb"))]:
            assert line in status, (line, status)
        assert "Groups:\t \n" in status or "Groups:\t\n" in status, status
        assert re.search(r"^Gid:\t(\d+)\t\1\t\1\t\1$", status, re.M)[1] != "0"
        opened = open_files(worker)
        assert opened[0].startswith("pipe:") and opened[1].startswith("pipe:") and opened[2] == "/dev/null", opened
        theirs = [target for number, target in opened.items() if number > 2]
        assert all(target.startswith((path("theirs"), "/tmp/", "anon_inode:", "inotify")) for target in theirs), opened
        assert open(f"/proc/{worker}/environ").read().find("HOME=" + path("home")) < 0
        assert open(f"/proc/{worker}/stat").read().rsplit(")", 1)[1].split()[4] == "0", "it has a terminal"
        for file in ("mem", "maps", "environ", "fd", "exe"):
            assert as_owner("ls" if file == "fd" else "cat", f"/proc/{worker}/{file}").returncode != 0, file
        traced = as_owner("python3", "-c", f"import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
                          f"raise SystemExit(libc.ptrace(16, {worker}, 0, 0) == -1 and 5)")
        assert traced.returncode == 5, traced


def test_rights_that_stay(cache):
    """Without the right to change the user, nothing is done."""
    before = worlds.canary(path("theirs"))
    for rights in ["-setuid", "-setgid", "-setuid,-setgid"]:
        result = run("purge", "-c", cache, "--all", "--yes", inside=["setpriv", "--bounding-set", rights, "--inh-caps", rights], status=77)
        assert "cannot give up the rights of root" in result.stderr, result
    assert worlds.changes(before, worlds.canary(path("theirs"))) == worlds.changes(before, before)


@pytest.mark.parametrize("spoil", ["database", "folder", "parent", "link"])
def test_mixed_owners(cache, spoil):
    """A cache of which not all belongs to one user and root is not opened."""
    if spoil == "database":
        os.chown(f"{cache}/Cache.db", STRANGER + 1, STRANGER + 1)
    elif spoil == "folder":
        os.chown(cache, STRANGER + 1, STRANGER + 1)
    elif spoil == "parent":
        os.chown(path("theirs"), STRANGER + 1, STRANGER + 1)
        os.chmod(path("theirs"), 0o755)
    else:
        os.symlink(cache, path("theirs/link"))
        os.chown(path("theirs/link"), STRANGER + 1, STRANGER + 1, follow_symlinks=False)
        cache = path("theirs/link")
    result = run("purge", "-c", cache, "--all", "--yes", status=77)
    assert "does not work on the cache" in result.stderr, result


def test_folder_of_everybody(cache):
    """In a folder in which every user can replace the cache, root does not work on it."""
    os.mkdir(path("open"))
    os.chmod(path("open"), 0o777)
    os.rename(cache, path("open/cache"))
    run("purge", "-c", path("open/cache"), "--all", "--yes", status=77)


def test_intents(cache):
    """What a killed command has left is finished by the next one, without a home folder of the owner."""
    state = path("state-of-system")
    os.mkdir(state, 0o755)
    environment = {"STATE_DIRECTORY": state}
    result = run("purge", "-c", cache, "--id", "1", "--yes", environment=environment, status=0)
    assert "if this command is killed" not in result.stderr, result
    [folder] = glob.glob(f"{state}/users/*")
    assert os.path.basename(folder) == str(STRANGER) and os.stat(folder).st_uid == STRANGER


def test_found(cache):
    """Each user's caches are found, and nothing of one user by way of another."""
    worlds.apple(path("of-root"), worlds.entries(3))
    os.symlink(path("of-root"), path("theirs/link"))
    os.chmod(path("theirs"), 0o700)
    for words in [["discover", scratch.root], ["usage", "--all-under", scratch.root]]:
        result = run(*words, "--format", "json", status=0)
        text = result.stdout
        assert cache in text and path("of-root") in text and "theirs/link" not in text, result


# --- Several caches ----------------------------------------------------------------------------------------------------------

@pytest.fixture
def caches(cache):
    """Three caches: one of root, one of another user, and one of root again."""
    first, last = (worlds.apple(path(name), worlds.entries(30)) for name in ("first", "last"))
    folder = os.path.join(worlds.surroundings()["HOME"], ".config/urlcache-admin")
    os.makedirs(folder)
    with open(folder + "/config.toml", "w") as file:
        file.write("max-entries = 10\n")
        for name, place in [("first", first), ("theirs", cache), ("last", last)]:
            file.write(f"[caches.{name}]\npath = {json.dumps(place)}\n")
    return {"first": first, "theirs": cache, "last": last}


def enforcing(**options):
    return started("enforce", "--all-caches", "--yes", "--log", path("l.jsonl"), "--metrics-file", path("m.prom"), **options)


def lines():
    with open(path("l.jsonl")) as file:
        return {line["cache"]: line for line in map(json.loads, file)}


def hold(cache):
    """Has the worker wait for the cache."""
    import sqlite3
    connection = sqlite3.connect(f"{cache}/Cache.db", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGBUS], ids=lambda number: number.name)
def test_dead_worker(caches, number):
    """When a worker dies, the other caches are cleaned, and log and metrics say what happened."""
    holder = hold(caches["theirs"])
    with started("enforce", "--all-caches", "--yes", "--wait", "30s", "--log", path("l.jsonl"), "--metrics-file", path("m.prom")) as process:
        worker = worker_of(process)
        time.sleep(0.3)
        os.kill(worker, number)
        output, errors = process.communicate(timeout=60)
    holder.close()
    assert process.returncode == 3 and number.name in errors, (process.returncode, errors)
    assert [len(worlds.contents(caches[name])) for name in caches] == [10, 30, 10]
    assert number.name in lines()["theirs"]["message"] and lines()["theirs"]["status"] == 3, lines()
    assert [lines()[name]["status"] for name in ("first", "last")] == [0, 0]
    assert re.search(r'^urlcache_last_run_success\{cache="theirs"\} 0$', scratch.read(path("m.prom")).decode(), re.M)


def test_stopped_worker(caches):
    """A worker that its owner stops is ended at '--max-runtime', and the others have the time that they need."""
    holder = hold(caches["theirs"])
    start = time.monotonic()
    with started("enforce", "--all-caches", "--yes", "--wait", "30s", "--max-runtime", "15s", "--log", path("l.jsonl")) as process:
        worker = worker_of(process)
        assert as_owner("kill", "-STOP", str(worker)).returncode == 0
        output, errors = process.communicate(timeout=120)
    holder.close()
    assert process.returncode == 3 and "did not end in time, and was killed" in errors, (process.returncode, errors)
    assert [len(worlds.contents(caches[name])) for name in caches] == [10, 30, 10]
    assert "did not end in time" in lines()["theirs"]["message"] and time.monotonic() - start < 90


def test_truncated_index(caches):
    """An app that truncates the index of the log again and again takes nobody else down."""
    name = f"{caches['theirs']}/Cache.db-shm"
    import sqlite3
    connection = sqlite3.connect(f"{caches['theirs']}/Cache.db", isolation_level=None)
    connection.execute("SELECT count(*) FROM cfurl_cache_response").fetchall()
    ended = threading.Event()

    def truncate():
        while not ended.is_set():
            with contextlib.suppress(OSError):
                os.truncate(name, 0)

    thread = threading.Thread(target=truncate)
    thread.start()
    try:
        for _ in range(5):
            with enforcing() as process:
                output, errors = process.communicate(timeout=120)
            assert process.returncode in (0, 3, 65, 74, 75), (process.returncode, errors)
            assert [len(worlds.contents(caches[name])) for name in ("first", "last")] == [10, 10], errors
            assert set(lines()) == set(caches)
    finally:
        ended.set()
        thread.join()
