"""Has caches changed that are never changed, by a user who may not, and where there is no room.

    check_refusing.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each case, and ends at the first that is not as it should be.
"""

import json, os, shlex, shutil, sqlite3, stat, subprocess, sys, tempfile, threading, time

tool, maker = sys.argv[1:3]
root = tempfile.mkdtemp()


def path(name):
    return os.path.join(root, name)


def make(name, *options, entries=40):
    subprocess.run([maker, "--entries", str(entries), "--seed", "7", *options, path(name)], check=True)
    return path(name)


def run(*words, status=0, user=(), program=tool, **options):
    result = subprocess.run([*user, program, *words], capture_output=True, stdin=subprocess.DEVNULL, **options)
    assert result.returncode == status, (words, result)
    return result


def state(folder):
    """Every file, with its bytes."""
    result = {}
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            file = os.path.join(parent, name)
            regular = stat.S_ISREG(os.lstat(file).st_mode)
            result[file] = open(file, "rb").read() if regular else None
    return result


CHANGES = [
    ["purge", "--all"], ["enforce", "--max-entries", "1"], ["check", "--repair"], ["compact"],
    ["revalidate", "--all", "--refresh"], ["revalidate", "--all", "--purge-gone"],
    ["expire", "--all", "--clear-user-info", "Cached Date"],
]


def never_changed():
    """What is only read is refused by a dry run as by a real one, and before anybody is asked."""
    archive = path("archive.tar")
    run("export", "-c", make("exported"), "-o", archive)
    old = make("old")
    connection = sqlite3.connect(os.path.join(old, "Cache.db"))
    connection.execute("PRAGMA user_version = 11")
    connection.close()
    trigger = make("trigger")
    connection = sqlite3.connect(os.path.join(trigger, "Cache.db"))
    connection.execute("CREATE TRIGGER t AFTER DELETE ON cfurl_cache_response BEGIN DELETE FROM cfurl_cache_blob_data; END")
    connection.close()
    before = state(root)
    for cache, status, words in [
        (archive, 64, f"'{archive}' is an archive, and an archive cannot be changed"),
        (old, 65, f"the cache at '{old}' can only be read: it has schema 11, and only 25 to 203 are changed"),
        (trigger, 65, f"the cache at '{trigger}' can only be read: it has triggers, which CFNetwork never makes, and is not changed"),
    ]:
        for change in CHANGES + [["import", archive]]:
            ways = [["-n"]] if change[0] in ["compact", "import"] else [["-n"], ["--yes"]]
            if change[0] in ["purge", "enforce", "check"]:
                ways.append(["--plan", path("plan.json")])
            for way in ways + ([[]] if change[0] in ["compact", "import"] else []):
                error = json.loads(run(*change, *way, "-c", cache, "--format", "json", status=status).stderr.splitlines()[-1])
                assert (error["code"], error["message"], error["path"]) == (status, words, cache), (change, way, error)
                assert error["hint"], error
        run("list", "-c", cache)
    # Whoever only asks changes nothing.
    assert b"is an archive" not in subprocess.run([tool, "revalidate", "--url-file", "/dev/null", "-c", archive],
                                                  capture_output=True).stderr
    assert state(root) == before
    # An empty variable of a shell does not select all.
    for option in ["--prefix", "--glob", "--regex", "--host", "--method", "--mime"]:
        result = run("purge", "-c", old, option, "", "--yes", status=64)
        assert f"'{option}' is given an empty text".encode() in result.stderr, result
    assert state(root) == before
    print("never changed: ok", flush=True)


def without_rights():
    """A user who may not write changes nothing, also if only a part of the cache is read-only."""
    if os.geteuid() != 0:
        print("without rights: not here", flush=True)
        return
    program = path("tool")
    shutil.copy(tool, program)
    archive = path("archive.tar")
    for cache in [make("rights"), make("folder", "--format", "foundation")]:
        for parent, folders, names in os.walk(root):
            for name in folders + names:
                os.chmod(os.path.join(parent, name), 0o777)
        os.chmod(root, 0o755)
        files = [cache]
        if cache == path("rights"):
            files += [os.path.join(cache, name) for name in ["Cache.db", "fsCachedData"]]
        for file in files:
            os.chmod(file, 0o555)
            before = state(cache)
            user = ["env", "HOME=/", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            for words in [["purge", "--all", "--yes"], ["enforce", "--max-entries", "1", "--yes"],
                          ["import", archive, "--map-host", "api.news.example=other.example"]]:
                error = json.loads(run(*words, "-c", cache, "--format", "json", user=user, program=program, status=77).stderr
                                   .splitlines()[-1])
                assert error["kind"] == "no-permission" and error["hint"] == "run it as the user whose cache it is", error
                assert error["message"] == f"not allowed to read or change '{file}': Permission denied", error
                assert state(cache) == before, words
            run("purge", "--all", "-n", "-c", cache, user=user, program=program)
            os.chmod(file, 0o777)
    print("without rights: ok", flush=True)


def without_room():
    """Where the disk is full that is what is said, and a new cache that cannot be filled goes again."""
    small = path("small")
    os.mkdir(small)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", small], capture_output=True).returncode != 0:
        print("without room: not here", flush=True)
        return
    try:
        cache = make("small/cache", "--no-large-bodies", entries=100)
        with open(path("small/filling"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 1024)
            except OSError:
                pass
        error = json.loads(run("purge", "--all", "--yes", "-c", cache, "--format", "json", status=74).stderr.splitlines()[-1])
        assert error["kind"] == "no-room" and "there is no room left on the disk" in error["message"], error
        for kind in ["apple", "foundation"]:
            new = path(f"small/{kind}")
            error = run("import", path("archive.tar"), "-c", new, "--create", kind, status=74).stderr
            assert b"there is no room left on the disk" in error, error
            assert not os.path.lexists(new), kind
    finally:
        subprocess.run(["umount", small], check=True)
    print("without room: ok", flush=True)


def nothing_left():
    """An import that fails takes away what it has made, and nothing else."""
    archive = path("archive.tar")
    for kind in ["apple", "foundation"]:
        for name, contents in [("new", None), ("empty", []), ("bodies", ["fsCachedData"])]:
            new = path(f"{kind}-{name}")
            if contents is not None:
                os.mkdir(new)
                for folder in contents:
                    if kind == "apple":
                        os.mkdir(os.path.join(new, folder))
            before = state(root)
            ends = set()
            for call, number in [("fdatasync", 1), ("fdatasync", 3), ("fdatasync", 12), ("fsync", 1), ("fsync", 5), ("fsync", 20)]:
                if kind == "foundation" and call == "fdatasync":
                    continue
                trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                         "-e", f"inject={call}:error=EIO:when={number}+"]
                result = subprocess.run([*trace, tool, "import", archive, "-c", new, "--create", kind], capture_output=True)
                # Those of the database itself come first, and without them there is no cache to fill.
                assert result.returncode in [73, 74], (kind, name, number, result)
                assert state(root) == before, (kind, name, number, set(state(root)) ^ set(before))
                ends.add(result.returncode)
            assert 74 in ends, (kind, ends)
    print("nothing left: ok", flush=True)


def through_links():
    """What a user names can be a link or a pipe, but for a cache."""
    cache, archive, link = path("exported"), path("archive.tar"), path("link")
    url = json.loads(run("list", "-c", cache, "--format", "json", "--limit", "1").stdout)["entries"][0]["url"]
    plan, head = path("some.plan"), path("head")
    run("purge", "-c", cache, url, "--plan", plan)
    for file, text in [(path("urls"), url), (head, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\n")]:
        with open(file, "w") as output:
            output.write(text)
    missing = ["explain", "-c", cache, "--why-missing", "https://nowhere.example/", "--headers-from"]
    for file, words in [(path("urls"), ["list", "-c", cache, "--count", "--url-file"]), (head, missing), (plan, ["apply", "-n"])]:
        os.symlink(file, link)
        expected = run(*words, file).stdout
        assert expected and run(*words, link).stdout == expected
        os.remove(link)
        with open(file, "rb") as open_file:
            data = open_file.read()
        # As '<(...)' of a shell: what is written comes late, and then the end.
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
    os.symlink(archive, link)
    assert run("list", "-c", link).stdout == run("list", "-c", archive).stdout
    run("import", link, "-c", path("linked"), "--create", "apple", "--any-method")
    os.remove(link)
    os.symlink(os.path.join(cache, "Cache.db"), link)
    assert b"symbolic link" in run("list", "-c", link, status=65).stderr
    # What is no file is not replaced by one: as the superuser it could be '/dev/null'.
    pipe = path("pipe")
    os.mkfifo(pipe)
    for words in [["report", "-c", cache, "-o", pipe, "--force"], ["export", "-c", cache, "-o", pipe, "--archive-format", "har", "--force"],
                  ["enforce", "-c", cache, "--max-entries", "1000", "--yes", "--metrics-file", pipe]]:
        assert b"'" + pipe.encode() + b"': Operation not supported" in run(*words, status=73).stderr, words
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode) and not os.path.exists(pipe + ".partial")
    print("through links: ok", flush=True)


def way_back():
    """The note on a backup says how all of it comes back, also when the folder is empty."""
    cache, backup = make("backed", "--format", "foundation"), path("backup.tar")
    before = run("list", "-c", cache).stdout
    result = run("purge", "-c", cache, "--all", "--yes", "--backup", backup)
    command = result.stderr.decode().splitlines()[0].partition("; restore with: urlcache-admin ")[2]
    run(*shlex.split(command))
    assert run("list", "-c", cache).stdout == before
    print("way back: ok", flush=True)


def in_time():
    """A regular expression that is not done with a URL ends the command, before anything is removed or kept by it."""
    cache, log = make("slow"), path("slow.jsonl")
    connection = sqlite3.connect(os.path.join(cache, "Cache.db"))
    [number] = connection.execute("SELECT min(entry_ID) FROM cfurl_cache_response").fetchone()
    url = "http://a.example/" + 60 * "a"
    connection.execute("UPDATE cfurl_cache_response SET request_key = ? WHERE entry_ID = ?", (url, number))
    # The key stands in for the URL.
    connection.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID = ?", (number,))
    connection.commit()
    connection.close()
    configuration = path("slow.toml")
    with open(configuration, "w") as file:
        file.write("[[rules]]\nmatch.regex = 'http://(.*a)+b'\naction = 'keep'\n[[rules]]\nmatch = {}\naction = 'purge'\n")
    before = state(cache)
    message = "the regular expression 'http://(.*a)+b' takes more than 5 s on a URL of 77 bytes"
    expressions = ["--regex", "http://(.*a)+b"]
    for words in [["list", *expressions, "--format", "json"], ["purge", *expressions, "--yes", "--log", log],
                  ["enforce", "--config", configuration, "--yes"]]:
        started = time.monotonic()
        result = run(words[0], "-c", cache, *words[1:], status=64)
        assert time.monotonic() - started < 60 and message.encode() in result.stderr, result.stderr
        assert state(cache) == before and b"--glob" in result.stderr
    assert json.loads(run("list", "-c", cache, *expressions, "--format", "json", status=64).stderr)["message"] == message
    with open(log) as lines:
        assert json.loads(lines.read())["message"] == message
    assert run("list", "-c", cache, "--regex", "http://(.*a)+", "--count").stdout == b"1\n"
    print("in time: ok", flush=True)


def never_read():
    """A cache whose text is UTF-16 is refused by its encoding, by all commands; a copy in UTF-8 is read."""
    origin = make("utf-8")
    source = sqlite3.connect(os.path.join(origin, "Cache.db"))
    statements = [each for each in source.iterdump() if "sqlite_sequence" not in each]
    for encoding in ["UTF-16le", "UTF-16be"]:
        cache = path(encoding)
        os.mkdir(cache)
        database = os.path.join(cache, "Cache.db")
        connection = sqlite3.connect(database)
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.executescript("\n".join(statements) + "PRAGMA user_version = 203;")
        assert connection.execute("PRAGMA encoding").fetchone() == (encoding,)
        connection.close()
        before = state(cache)
        message = f"the cache at '{cache}' has a form that is not read: its text is {encoding}, and CFNetwork writes UTF-8 only"
        hint = "a copy in UTF-8 can be read: sqlite3 Cache.db .dump | sqlite3 COPY.db"
        for words in [["list"], ["show", "1"], ["body", "1"], ["usage"], ["explain", "--all"], ["check"], ["metrics"],
                      ["report", "-o", path("report.html")], ["export", "-o", path("utf-16.tar")], *CHANGES,
                      ["purge", "--all", "-n"]]:
            for allowed in [[], ["--yes"]] if words in CHANGES and words != ["compact"] else [[]]:
                if words[0] == "revalidate" and not allowed: continue
                result = run(words[0], "-c", cache, *words[1:], *allowed, status=65)
                assert result.stderr.decode() == f"error: {message}\nhint: {hint}\n", (words, result)
        result = run("discover", cache)
        assert result.stderr.decode() == ("0 caches, 0 entries, 0 B\n" f"note: not looked into: '{database}': its text is {encoding}, "
                                          "and CFNetwork writes UTF-8 only\n"), result
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
    print("never read: ok", flush=True)


try:
    never_changed()
    never_read()
    nothing_left()
    through_links()
    way_back()
    in_time()
    without_rights()
    without_room()
finally:
    shutil.rmtree(root, ignore_errors=True)
