"""Has commands write logs, metrics, backups and plans where that is not possible, and looks at what is left."""

import itertools
import json
import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess

import pytest

import scratch
from products import tool
from scratch import make, path, read, run, tree, write

REMOVALS = [["purge", "--all", "--yes"], ["enforce", "--max-entries", "1", "--yes"], ["check", "--repair", "--yes"]]
PARTS = ["Cache.db", "Cache.db-wal", "Cache.db-shm", "Cache.db-journal", "a body file", "fsCachedData/new"]


def fresh(name="a"):
    """A new copy of the cache that all tests are about."""
    shutil.rmtree(path(name), ignore_errors=True)
    return make(name, "--faults", "orphan-files", entries=60, seed=5)


def ids(cache):
    with sqlite3.connect(f"file:{cache}/Cache.db?mode=ro", uri=True) as database:
        return [row[0] for row in database.execute("SELECT entry_ID FROM cfurl_cache_response ORDER BY 1")]


def refused(option, target, message, status=73, removals=REMOVALS):
    """A removal whose output cannot be written exits with a status of its own, and removes nothing."""
    for verb, *options in removals:
        cache = fresh()
        before = tree(cache)
        result = run(verb, "-c", cache, *options, option, target, status=status)
        assert result.stderr.decode().startswith(f"error: {message}"), result
        assert b".partial" not in result.stderr, result
        assert tree(cache) == before, (verb, option)


@pytest.mark.parametrize(("option", "target", "message"), [
    ("--log", "file/below/log", "cannot open the log '{root}/file/below': "),
    ("--log", "", "cannot open the log '{root}/': Is a directory"),
    ("--metrics-file", "file/below/m.prom", "cannot write the metrics file '{root}/file/below': "),
    ("--metrics-file", "folder", "cannot write the metrics file '{root}/folder': Is a directory"),
    ("--backup", "file/below/b.tar", "cannot create '{root}/file/below/b.tar': "),
    ("--backup", "missing/b.tar", "cannot create '{root}/missing/b.tar': ")])
def test_impossible_outputs(option, target, message):
    """Nothing is removed when the log, the metrics or the backup cannot be written."""
    write("file", b"")
    os.mkdir(path("folder"))
    refused(option, path(target), message.format(root=scratch.root))


@pytest.mark.parametrize(("option", "target", "status", "message"), [
    ("--backup", "missing/b.tar", 73, "cannot create '{target}': No such file or directory"),
    ("--backup", "file/below/b.tar", 73, "cannot create '{target}': Not a directory"),
    ("--backup", "there.tar", 73, "cannot create '{target}': File exists"),
    ("--backup", "a/fsCachedData/b.tar", 64, "'{target}' is inside a cache"),
    ("--log", "a/CACHE.DB-wal", 64, "'{target}' is inside a cache"),
    ("--log", "a/Cache.db", 64, "'{target}' is inside a cache")])
def test_dry_runs(option, target, status, message):
    """A dry run refuses the same names as a real run, and writes nothing."""
    write("file", b"")
    write("there.tar", b"")
    cache = fresh()
    before = tree(scratch.root)
    result = run("purge", "-c", cache, "--all", "--dry-run", option, path(target), status=status)
    assert result.stderr.decode().startswith("error: " + message.format(target=path(target))), result
    assert tree(scratch.root) == before


@pytest.mark.parametrize(("option", "kind"), [("--log", "a log"), ("--metrics-file", "a metrics file")])
@pytest.mark.parametrize(("name", "data"), [
    ("photo.png", b"\x89PNG\0"), ("notes.txt", b"# notes\n"), ("settings.json", b'{"schema":1}\n'),
    ("plan.json", b'{"schema":"urlcache-admin.plan/1"}\n')], ids=lambda value: value if isinstance(value, str) else "")
def test_other_files(option, kind, name, data):
    """A log and metrics are not written into a file that is something else."""
    target = write(name, data)
    refused(option, target, f"'{target}' exists and is not {kind}\nhint: use another name")


@pytest.mark.parametrize(("option", "message"), [("--log", "cannot open the log ''"), ("--metrics-file", "cannot write the metrics file ''")])
def test_empty_names(option, message):
    """An empty name of a log or of metrics is refused."""
    refused(option, "", message)


def test_metrics_over_other_file():
    """'metrics -o' does not replace a file that is something else."""
    target = write("photo.png", b"\x89PNG\0")
    result = run("metrics", "-c", fresh(), "-o", target, status=73)
    assert result.stderr.decode() == f"error: '{target}' exists and is not a metrics file\nhint: use another name\n", result


@pytest.mark.parametrize("part", PARTS)
def test_parts_of_a_cache(part, thorough):
    """No output replaces a part of a cache, whether this part exists or not, and however its path is written."""
    original, cache = fresh("original"), fresh()
    whole = tree(original)
    name = "fsCachedData/" + sorted(os.listdir(original + "/fsCachedData"))[0] if part == "a body file" else part
    os.symlink(cache, path("link"))
    target = f"{cache}/{name}"
    message = f"'{target}' is inside a cache\nhint: use another name\n"
    # All three removals are tried on the database, and each of them on two of the other parts.
    turn = PARTS.index(part)
    refused("--log", target, message, status=64, removals=REMOVALS if thorough or turn == 0 else [REMOVALS[turn % 3]])
    refused("--metrics-file", target, message, status=64, removals=REMOVALS if thorough or turn == 0 else [REMOVALS[(turn + 1) % 3]])
    for option in ["--log", "--metrics-file", "--backup", "--plan"]:
        run("purge", "-c", cache, "--all", "--yes", option, target, status=64)
        assert tree(cache) == whole, option
    for number, target in enumerate([target, f"{path('link')}/{name}", f"{cache}/./{name}"]):
        commands = [["export", "-c", original, "-o", target, "--force", "--archive-format", "tar"],
                    ["report", "-c", original, "-o", target, "--force"], ["metrics", "-c", original, "-o", target]]
        for words in commands if thorough or turn == 0 or number == 0 else [commands[(turn + number) % 3]]:
            message = f"'{target}' is inside a cache\nhint: use another name\n"
            assert run(*words, status=64).stderr.decode() == f"error: {message}", words
            assert tree(cache) == whole, words


def test_parts_of_a_foundation_cache():
    """No output replaces an entry of a Foundation cache."""
    folder = make("foundation", "--format", "foundation", entries=5, seed=1)
    before = tree(folder)
    name = sorted(name for name in os.listdir(folder) if not name.startswith("."))[0]
    run("export", "-c", fresh(), "-o", f"{folder}/{name}", "--force", "--archive-format", "tar", status=64)
    assert tree(folder) == before


@pytest.mark.parametrize(("first", "one", "second", "other"), [
    ("--backup", "x.tar", "--metrics-file", "./x.tar"), ("--backup", "x.tar", "--log", "x.tar"), ("--log", "x", "--metrics-file", "x")],
    ids=["backup and metrics", "backup and log", "log and metrics"])
def test_one_name_twice(first, one, second, other):
    """Two outputs of one command need two names."""
    cache = fresh()
    before = tree(cache)
    result = run("purge", "-c", cache, "--all", "--yes", first, path(one), second, path(other), status=64)
    assert result.stderr.decode() == f"error: '{first}' and '{second}' name the same file: '{path(other)}'\nhint: use two different files\n", result
    assert tree(cache) == before and not os.path.exists(path("x.tar")) and not os.path.exists(path("x"))


def test_one_name_twice_through_a_link():
    """Metrics do not replace the backup of the same command, even if a link hides that both have the same name."""
    original, cache = fresh("original"), fresh()
    os.symlink(path("x.tar"), path("m.prom"))
    result = run("purge", "-c", cache, "--all", "--yes", "--backup", path("x.tar"), "--metrics-file", path("m.prom"), status=74)
    assert "exists and is not a metrics file" in result.stderr.decode(), result
    run("import", path("x.tar"), "-c", cache)
    run("diff", original, cache)


@pytest.mark.parametrize("removes", [True, False], ids=["real", "dry run"])
def test_new_folders(removes):
    """The folders of a log and of metrics are created for this user, but not by a dry run."""
    cache, folder = fresh(), path("made")
    log, metrics = f"{folder}/log/a/b.log", f"{folder}/metrics/c.prom"
    run("purge", "-c", cache, "--all", "--yes" if removes else "--dry-run", "--log", log, "--metrics-file", metrics)
    assert (ids(cache) == []) == removes
    assert os.path.exists(folder) == removes, "a dry run makes no folder"
    if removes:
        assert json.loads(read(log))["removed_entries"] == 60, read(log)
        assert b'urlcache_last_run_removed_entries{cache="' in read(metrics)
        assert stat.S_IMODE(os.stat(folder).st_mode) & 0o700 == 0o700


def limited(length):
    """Lets no file grow beyond a length, as a full disk would."""
    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (length, length))
    return prepare


def test_plans_that_do_not_fit():
    """A plan is written whole or not at all."""
    cache = fresh()
    before = tree(cache)
    whole, plan = path("whole.json"), path("cut.json")
    run("purge", "-c", cache, "--all", "--plan", whole)
    size = os.path.getsize(whole)
    for length, verb in itertools.product([0, 1, 100, size // 2, size - 2, size - 1], [["purge", "--all"], ["enforce", "--max-entries", "0"]]):
        result = subprocess.run([tool, *verb, "-c", cache, "--plan", plan], capture_output=True, stdin=subprocess.DEVNULL,
                                preexec_fn=limited(length))
        if verb[0] == "purge":
            assert result.returncode == 73, (length, result)
            assert result.stderr.decode().startswith(f"error: cannot create '{plan}': File too large"), result
        if result.returncode != 0:
            assert not [name for name in os.listdir(path("")) if name.startswith("cut")], length
        else:
            json.loads(read(plan))
            os.unlink(plan)
    assert tree(cache) == before
    result = run("purge", "-c", cache, "--all", "--plan", whole, status=73)
    assert result.stderr.decode().startswith(f"error: cannot create '{whole}': File exists\nhint: use another name"), result
    assert os.path.getsize(whole) == size


def test_backup_that_does_not_fit():
    """A purge whose backup does not fit removes nothing, and leaves no part of the backup."""
    cache = fresh()
    before = tree(cache)
    result = run("purge", "-c", cache, "--all", "--yes", "--backup", path("cut.tar"), status=None, preexec_fn=limited(20_000))
    assert result.returncode in (73, 74) and b".partial" not in result.stderr, result
    assert not os.path.exists(path("cut.tar")) and not os.path.exists(path("cut.tar.partial"))
    assert tree(cache) == before
