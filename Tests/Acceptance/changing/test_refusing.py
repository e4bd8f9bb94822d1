"""Has caches changed that cannot be changed: by commands that refuse to, by users who may not, and where there is no room."""

import contextlib
import json
import os
import shlex
import shutil
import sqlite3
import stat
import subprocess
import threading
import time

import pytest

import scratch
import strace
from products import tool
from scratch import export, path

CHANGES = [
    ["purge", "--all"], ["enforce", "--max-entries", "1"], ["check", "--repair"], ["compact"],
    ["revalidate", "--all", "--refresh"], ["revalidate", "--all", "--purge-gone"],
    ["expire", "--all", "--clear-user-info", "Cached Date"],
]


def make(name, *options, entries=12):
    return scratch.make(name, *options, entries=entries, seed=7)


def run(*words, status=0, user=(), program=tool, **options):
    result = subprocess.run([*user, program, *words], capture_output=True, stdin=subprocess.DEVNULL, **options)
    assert result.returncode == status, (words, result)
    return result


def archive(entries=12):
    """The path of an archive of a cache."""
    run("export", "-c", make("exported", entries=entries), "-o", path("archive.tar"))
    return path("archive.tar")


def change(cache, statement):
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    connection.execute(statement)
    connection.close()
    return cache


def state(folder):
    """Every file, with its bytes; but for the state of the program."""
    result = {}
    for parent, folders, names in os.walk(folder):
        if parent == scratch.root:
            folders.remove("state")
        for name in folders + names:
            file = os.path.join(parent, name)
            result[file] = scratch.read(file) if stat.S_ISREG(os.lstat(file).st_mode) else None
    return result


@pytest.mark.parametrize(("kind", "status", "words"), [
    ("archive", 64, "'{}' is an archive, which cannot be changed"),
    ("schema", 65, "the cache at '{}' is read-only: it has schema 11, but only schemas 25 to 203 can be changed"),
    ("trigger", 65, "the cache at '{}' is read-only: it has triggers, which CFNetwork never creates")],
    ids=["archive", "schema", "trigger"])
def test_read_only_caches(kind, status, words, thorough):
    """A cache that is only read is refused by a dry run and by a real run, before the command asks for confirmation."""
    tar = archive()
    if kind == "archive":
        cache = tar
    elif kind == "schema":
        cache = change(make("old"), "PRAGMA user_version = 11")
    else:
        cache = change(make("trigger"), "CREATE TRIGGER t AFTER DELETE ON cfurl_cache_response BEGIN DELETE FROM cfurl_cache_blob_data; END")
    before = state(scratch.root)
    for words_of_change in CHANGES + [["import", tar]]:
        verb = words_of_change[0]
        ways = [["-n"], []] if verb in ["compact", "import"] else [["-n"], ["--yes"]]
        if verb in ["purge", "enforce", "check"]:
            ways.append(["--plan", path("plan.json")])
        # Both schema and trigger make a cache one that is only read.
        for way in ways if thorough or kind != "schema" else ways[:1]:
            error = json.loads(run(*words_of_change, *way, "-c", cache, "--format", "json", status=status).stderr.splitlines()[-1])
            assert (error["code"], error["message"], error["path"]) == (status, words.format(cache), cache), (words_of_change, way, error)
            assert error["hint"], error
    run("list", "-c", cache)
    assert state(scratch.root) == before


def test_asking_an_archive():
    """A command that only asks servers about an archive changes nothing, and is not refused."""
    tar = archive()
    before = state(scratch.root)
    result = subprocess.run([tool, "revalidate", "--url-file", "/dev/null", "-c", tar], capture_output=True)
    assert b"is an archive" not in result.stderr, result
    assert state(scratch.root) == before


@pytest.mark.parametrize("option", ["--prefix", "--glob", "--regex", "--host", "--method", "--mime"])
def test_empty_text(option):
    """An option with an empty text, such as an empty variable of a shell, does not select everything."""
    cache = make("old")
    before = state(scratch.root)
    result = run("purge", "-c", cache, option, "", "--yes", status=64)
    assert f"'{option}' has an empty value".encode() in result.stderr, result
    assert state(scratch.root) == before


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_utf_16(encoding, thorough):
    """A cache whose text is UTF-16 is refused by its encoding, by all commands; a copy in UTF-8 is read."""
    origin = make("utf-8")
    source = sqlite3.connect(os.path.join(origin, "Cache.db"))
    statements = [each for each in source.iterdump() if "sqlite_sequence" not in each]
    source.close()
    cache = path(encoding)
    os.mkdir(cache)
    database = os.path.join(cache, "Cache.db")
    connection = sqlite3.connect(database)
    connection.execute(f"PRAGMA encoding = '{encoding}'")
    connection.executescript("\n".join(statements) + "PRAGMA user_version = 203;")
    assert connection.execute("PRAGMA encoding").fetchone() == (encoding,)
    connection.close()
    before = state(cache)
    message = f"the cache at '{cache}' has an unsupported format: its text is {encoding}, but CFNetwork writes only UTF-8"
    hint = "make a copy in UTF-8: sqlite3 Cache.db .dump | sqlite3 COPY.db"
    commands = [["list"], ["show", "1"], ["body", "1"], ["usage"], ["explain", "--all"], ["check"], ["metrics"],
                ["report", "-o", path("report.html")], ["export", "-o", path("utf-16.tar")], *CHANGES, ["purge", "--all", "-n"]]
    for words in commands if thorough or encoding == "UTF-16le" else commands[::4]:
        for allowed in [[], ["--yes"]] if words in CHANGES and words != ["compact"] else [[]]:
            if words[0] == "revalidate" and not allowed:
                continue
            result = run(words[0], "-c", cache, *words[1:], *allowed, status=65)
            assert result.stderr.decode() == f"error: {message}\nhint: {hint}\n", (words, result)
    result = run("discover", cache, status=3)
    assert result.stderr.decode() == ("0 caches, 0 entries, 0 B\n" f"note: cannot search '{database}': its text is {encoding}, "
                                      "but CFNetwork writes only UTF-8\n"), result
    error = json.loads(run("list", "-c", cache, "--format", "json", status=65).stderr)
    assert error["kind"] == "unsupported" and error["message"] == message, error
    assert state(cache) == before and not os.path.exists(path("utf-16.tar"))
    copy = path(encoding + ".db")
    dump = subprocess.run(["sqlite3", database, ".dump"], capture_output=True, check=True)
    subprocess.run(["sqlite3", copy], input=dump.stdout, check=True)
    columns = ["--format", "csv", "--columns", "id,url,key,status,mime"]
    assert run("list", "-c", copy, *columns).stdout == run("list", "-c", origin, *columns).stdout
    connection = sqlite3.connect(path("other.db"))
    connection.execute(f"PRAGMA encoding = '{encoding}'")
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    result = run("list", "-c", path("other.db"), status=65)
    assert b"is not a URL cache: the database has no table" in result.stderr, result
    os.remove(path("other.db"))


@strace.needed
@pytest.mark.parametrize(("kind", "folder"), [
    ("apple", "missing"), ("apple", "empty"), ("apple", "with a folder of bodies"), ("foundation", "missing"), ("foundation", "empty")])
def test_failed_imports(kind, folder, thorough):
    """An import that fails removes what it has made, and nothing else."""
    tar, new = archive(entries=40), path("new")
    if folder != "missing":
        os.mkdir(new)
    if folder == "with a folder of bodies":
        os.mkdir(os.path.join(new, "fsCachedData"))
    before = state(scratch.root)
    ends = set()
    calls = [("fdatasync", 1), ("fdatasync", 12), ("fsync", 1), ("fsync", 20)]
    for call, number in calls + ([("fdatasync", 3), ("fsync", 5)] if thorough else []):
        if kind == "foundation" and call == "fdatasync":
            continue
        trace = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                 "-e", f"inject={call}:error=EIO:when={number}+"]
        result = subprocess.run([*trace, tool, "import", tar, "-c", new, "--create", kind], capture_output=True)
        # The calls of the database itself come first, and without them there is no cache to fill.
        assert result.returncode in [73, 74], (call, number, result)
        assert state(scratch.root) == before, (call, number, set(state(scratch.root)) ^ set(before))
        ends.add(result.returncode)
    assert 74 in ends, ends


@pytest.mark.parametrize("kind", ["URL file", "head", "plan"])
def test_links_and_pipes(kind):
    """A file of URLs, a head and a plan can be a link or a pipe of a shell."""
    cache, link = make("exported"), path("link")
    url = json.loads(run("list", "-c", cache, "--format", "json", "--limit", "1").stdout)["entries"][0]["url"]
    if kind == "plan":
        file, words = path("some.plan"), ["apply", "-n"]
        run("purge", "-c", cache, url, "--plan", file)
    elif kind == "head":
        file = scratch.write("head", b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\n")
        words = ["explain", "-c", cache, "--why-missing", "https://nowhere.example/", "--headers-from"]
    else:
        file, words = scratch.write("urls", url.encode()), ["list", "-c", cache, "--count", "--url-file"]
    os.symlink(file, link)
    expected = run(*words, file).stdout
    assert expected and run(*words, link).stdout == expected
    data = scratch.read(file)
    # As '<(...)' of a shell: the text comes late, and then the end.
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)

    def write():
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(data)

    timer = threading.Timer(0.3, write)
    timer.start()
    assert run(*words, f"/dev/fd/{reading}", pass_fds=[reading]).stdout == expected, words
    timer.join()
    os.close(reading)


def test_links_to_archives_and_caches():
    """An archive can be a link, but the database of a cache cannot."""
    tar, link = archive(), path("link")
    os.symlink(tar, link)
    assert run("list", "-c", link).stdout == run("list", "-c", tar).stdout
    run("import", link, "-c", path("linked"), "--create", "apple", "--any-method")
    os.remove(link)
    os.symlink(path("exported/Cache.db"), link)
    assert b"symbolic link" in run("list", "-c", link, status=65).stderr


def test_outputs_that_are_pipes():
    """A pipe is not replaced by a file: for the superuser it could be '/dev/null'."""
    cache, pipe = make("exported"), path("pipe")
    os.mkfifo(pipe)
    for words in [["report", "-c", cache, "-o", pipe, "--force"], ["export", "-c", cache, "-o", pipe, "--archive-format", "har", "--force"],
                  ["enforce", "-c", cache, "--max-entries", "1000", "--yes", "--metrics-file", pipe]]:
        assert b"'" + pipe.encode() + b"': Operation not supported" in run(*words, status=73).stderr, words
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode) and not os.path.exists(pipe + ".partial")


def test_way_back():
    """The note on a backup contains the command that restores everything, even into an empty folder."""
    cache, backup = make("backed", "--format", "foundation"), path("backup.tar")
    before = run("list", "-c", cache).stdout
    result = run("purge", "-c", cache, "--all", "--yes", "--backup", backup)
    command = result.stderr.decode().splitlines()[0].partition("; restore with: urlcache-admin ")[2]
    run(*shlex.split(command))
    assert run("list", "-c", cache).stdout == before


def test_slow_regular_expressions():
    """A regular expression that exceeds a limit on one URL ends the command, before anything is removed or kept by it."""
    cache, log = make("slow"), path("slow.jsonl")
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    [number] = connection.execute("SELECT min(entry_ID) FROM cfurl_cache_response").fetchone()
    url = "http://a.example/" + 60 * "a"
    connection.execute("UPDATE cfurl_cache_response SET request_key = ? WHERE entry_ID = ?", (url, number))
    # The key stands in for the URL.
    connection.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID = ?", (number,))
    connection.commit()
    connection.close()
    configuration = scratch.write(
        "slow.toml", b"[[rules]]\nmatch.regex = 'http://(.*a)+[0-9]'\naction = 'keep'\n[[rules]]\nmatch = {}\naction = 'purge'\n")
    before = state(cache)
    message = "the regular expression 'http://(.*a)+[0-9]' takes too many steps on a URL of 77 bytes"
    expressions = ["--regex", "http://(.*a)+[0-9]"]
    commands = [["purge", *expressions, "--yes", "--log", log]]
    commands += [["enforce", "--config", configuration, "--yes"], ["list", *expressions, "--format", "json"]]
    started = time.monotonic()
    processes = [subprocess.Popen([tool, words[0], "-c", cache, *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) for words in commands]
    for words, process in zip(commands, processes):
        errors = process.communicate()[1].decode()
        assert process.returncode == 64 and message in errors and "--glob" in errors, (words, errors)
        if "json" in words:
            assert json.loads(errors)["message"] == message
    assert time.monotonic() - started < 30
    assert state(cache) == before
    assert json.loads(scratch.read(log))["message"] == message
    assert run("list", "-c", cache, "--regex", "http://(.*a)+", "--count").stdout == b"1\n"


@pytest.mark.needs_root
@pytest.mark.parametrize("kind", ["apple", "foundation"])
def test_without_rights(kind):
    """A user who may not write changes nothing, even if only a part of the cache is read-only."""
    # Another user may not reach the place where the program was built.
    program = shutil.copy(tool, path("tool"))
    tar, cache = archive(), make("rights", "--format", kind)
    os.chmod(scratch.root, 0o755)
    subprocess.run(["chmod", "-R", "777", cache, tar, program], check=True)
    user = ["env", "HOME=/", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for file in [cache, *(os.path.join(cache, name) for name in ["Cache.db", "fsCachedData"] if kind == "apple")]:
        os.chmod(file, 0o555)
        before = state(cache)
        for words in [["purge", "--all", "--yes"], ["enforce", "--max-entries", "1", "--yes"],
                      ["import", tar, "--map-host", "api.news.example=other.example"]]:
            error = json.loads(run(*words, "-c", cache, "--format", "json", user=user, program=program, status=77).stderr.splitlines()[-1])
            assert error["kind"] == "no-permission" and error["hint"] == "run the command as the owner of the cache", error
            assert error["message"] == f"cannot open '{file}': Permission denied", error
            assert state(cache) == before, words
        run("purge", "--all", "-n", "-c", cache, user=user, program=program)
        os.chmod(file, 0o777)


@pytest.fixture
def full_disk():
    """A small disk, which the test fills."""
    os.mkdir(path("small"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", path("small")], check=True)
    yield path("small")
    subprocess.run(["umount", path("small")], check=True)


@pytest.mark.needs_root
def test_without_room(full_disk):
    """When the disk is full, the message says so, and a new cache that cannot be filled is removed."""
    tar, cache = archive(entries=40), make("small/cache", "--no-large-bodies", entries=100)
    with open(os.path.join(full_disk, "filling"), "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 1024)
        except OSError:
            pass
    error = json.loads(run("purge", "--all", "--yes", "-c", cache, "--format", "json", status=74).stderr.splitlines()[-1])
    assert error["kind"] == "no-room" and "the disk is full" in error["message"], error
    for kind in ["apple", "foundation"]:
        new = os.path.join(full_disk, kind)
        error = run("import", tar, "-c", new, "--create", kind, status=74).stderr
        assert b"the disk is full" in error, error
        assert not os.path.lexists(new), kind


@pytest.mark.needs_root
def test_sorting_without_room(full_disk):
    """If there is no room to sort keys, the message names the folder for temporary files, and the cache is as it was."""
    cache, new, empty = make("long-keys", entries=200), path("unsorted"), make("emptied", entries=2)
    with contextlib.closing(sqlite3.connect(os.path.join(cache, "Cache.db"))) as database:
        database.execute("UPDATE cfurl_cache_response SET request_key = request_key || hex(zeroblob(24576))")
        database.commit()
    run("purge", "--all", "--yes", empty)
    archive = export(cache, "long-keys.tar")
    schema = "SELECT * FROM sqlite_master"
    with contextlib.closing(sqlite3.connect(os.path.join(empty, "Cache.db"))) as database:
        before = database.execute(schema).fetchall()
    for target in [new, empty]:
        error = run("import", archive, "-c", target, status=74, env={**os.environ, "SQLITE_TMPDIR": full_disk}).stderr.decode()
        assert f"cannot write to '{full_disk}': the disk is full" in error, error
    assert not os.path.lexists(new)
    with contextlib.closing(sqlite3.connect(os.path.join(empty, "Cache.db"))) as database:
        assert database.execute(schema).fetchall() == before
        assert database.execute("SELECT count(*) FROM cfurl_cache_response").fetchone() == (0,)
    run("import", archive, "-c", empty)
    with contextlib.closing(sqlite3.connect(os.path.join(empty, "Cache.db"))) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("SELECT count(*) FROM cfurl_cache_response INDEXED BY request_key_index").fetchone() == (200,)
