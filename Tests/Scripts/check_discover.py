"""Looks for caches in a made-up home, and in places where there is something odd.

    check_discover.py URLCACHE-ADMIN SAMPLES

SAMPLES is a folder with real databases, `schema-*` of caches, and `not-a-cache-*` and `half-created` of none; it may be
absent. Prints a line for each case, and ends at the first that is not as it should be.
"""

import base64, datetime, hashlib, json, os, plistlib, pwd, shutil, sqlite3, subprocess, sys, tempfile, time

tool = sys.argv[1]
samples = sys.argv[2] if os.path.isdir(sys.argv[2]) else None
root = tempfile.mkdtemp()
os.chmod(root, 0o755)
if os.getuid() == 0:
    # Another user runs it too, who may not reach the place where it was built.
    tool = shutil.copy(tool, root)
home = os.path.join(root, "home")
NOBODY = pwd.getpwnam("nobody")

RESPONSE = """CREATE TABLE cfurl_cache_response(entry_ID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, version INTEGER,
  hash_value INTEGER, storage_policy INTEGER, request_key TEXT UNIQUE,
  time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP, partition TEXT)"""
OTHERS = """;CREATE TABLE cfurl_cache_blob_data(entry_ID INTEGER PRIMARY KEY, response_object BLOB,
  request_object BLOB, proto_props BLOB, user_info BLOB);
CREATE TABLE cfurl_cache_receiver_data(entry_ID INTEGER PRIMARY KEY, isDataOnFS INTEGER,
  receiver_data BLOB);"""
SCHEMA = RESPONSE + OTHERS + "PRAGMA user_version = 203;"
FIRST = 700_000_000


def time_text(seconds):
    moment = datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def connect(path, mode="wal", schema=SCHEMA):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(f"PRAGMA journal_mode={mode}")
    database.executescript(schema)
    return database


def insert(database, entries):
    """Entries, the newest in the middle."""
    database.execute("BEGIN")
    for number in range(1, entries + 1):
        stored = FIRST + (number * 13) % entries
        response = plistlib.dumps({"Array": [{"_CFURLString": f"https://a/{number}", "_CFURLStringType": 15},
                                             float(stored), 0, 200, {}, 3, "text/plain"], "Version": 1},
                                  fmt=plistlib.FMT_BINARY)
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, request_key) VALUES (?, ?)", (number, f"k{number}"))
        database.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object) VALUES (?, ?)",
                         (number, response))
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, x'61')", (number,))
    database.execute("COMMIT")


def apple(path, entries, mode="wal", closed=True):
    """A database of a store; one that is not closed keeps its rows in its log."""
    path = os.path.join(home, path)
    database = connect(path, mode)
    if not closed:
        database.execute("PRAGMA wal_autocheckpoint=0")
    insert(database, entries)
    if closed:
        database.close()
        return expected_apple(path, entries)
    copy = path + ".copy"
    os.rename(shutil.copytree(os.path.dirname(path), os.path.dirname(path) + ".copy"), root + "/copy")
    database.close()
    shutil.rmtree(os.path.dirname(path))
    os.rename(root + "/copy", os.path.dirname(path))
    if os.path.exists(path + "-shm"):
        os.remove(path + "-shm")
    return expected_apple(path, entries)


def expected_apple(path, entries):
    bodies = os.path.join(os.path.dirname(path), "fsCachedData")
    files = [path + suffix for suffix in ("", "-wal", "-shm") if os.path.exists(path + suffix)]
    files += [os.path.join(bodies, name) for name in os.listdir(bodies)] if os.path.isdir(bodies) else []
    return {"path": path, "format": "apple", "schema_version": 203, "entries": entries,
            "footprint_bytes": sum(map(os.path.getsize, files)),
            "newest_stored": time_text(FIRST + entries - 1) if entries else None,
            "in_use": False, "pid": None, "default_of": default_of(path), "notes": []}


def default_of(path):
    """The app whose default cache a path is, by the folders that it is in."""
    parts = path.split("/")
    if parts[-1] == "Cache.db" and parts[-3] == "Caches":
        return parts[-2] if "Containers" not in parts or parts[parts.index("Containers") + 1] == parts[-2] else None
    return parts[-1] if parts[-2] == "org.swift.foundation.URLCache" else None


def foundation(path, names, others=()):
    """A folder of a store: each file as many bytes as its place says."""
    path = os.path.join(home, path)
    os.makedirs(path)
    for length, name in enumerate([*names, *others], 600):
        with open(os.path.join(path, name), "wb") as file:
            file.write(b"x" * length)
    times = [int(name.split(".")[0]) for name in names]
    times = [seconds for seconds in times if abs(seconds) < 10 ** 11]
    return {"path": path, "format": "foundation", "schema_version": None, "entries": len(names),
            "footprint_bytes": sum(range(600, 600 + len(names))),
            "newest_stored": time_text(max(times)) if times else None,
            "in_use": None, "pid": None, "default_of": default_of(path), "notes": []}


def entry(seconds, host="a.example", suffix="storedcachedurlresponse"):
    name = base64.b64encode(f"{host}\0-1\0/\0".encode()).decode().replace("/", "+")
    return f"{seconds}.{name}.{suffix}"


def make_stores():
    """40 stores of both kinds."""
    library = "Library/Caches"
    yield apple(f"{library}/com.example.shop/Cache.db", 5)
    yield apple(f"{library}/com.example.news/nested/path/Cache.db", 3)
    yield apple("Library/Containers/com.example.app/Data/Library/Caches/com.example.app/Cache.db", 2)
    yield apple("Library/Group Containers/group.example/Library/Caches/Cache.db", 1)
    yield apple("Library/Developer/CoreSimulator/Devices/7B1B2C3D/data/Containers/Data/Application/0F/Library/"
                "Caches/com.example.sim/disk/Cache.db", 9)
    for number, name in enumerate(["cache.sqlite", "noname", "Cache.db.old", "CACHE.DB", "a b",
                                   "new\nline", "\u202ertl", "q?m=1#f%20&\"'", "-c", "é", "e\u0301"]):
        yield apple(f"renamed/{number}/{name}", number)
    yield apple("two/first.db", 2)
    yield apple("two/second.db", 4)
    yield apple("rollback/Cache.db", 4, mode="delete")
    yield apple("log/Cache.db", 6, closed=False)
    yield apple("empty/Cache.db", 0)
    bodies = os.path.join(home, "bodies/fsCachedData")
    os.makedirs(bodies)
    shutil.copy(os.path.join(home, "two/first.db"), os.path.join(bodies, "00000000-0000-0000-0000-000000000001"))
    yield apple("bodies/Cache.db", 7)
    # Without a store beside it, such a folder is one as any other.
    yield apple("no-store/fsCachedData/Cache.db", 1)
    yield apple("Cache.db/Cache.db", 1)
    yield apple("readable/Cache.db", 8)
    for path, _, names in os.walk(os.path.join(home, "readable")):
        for name in names:
            os.chmod(os.path.join(path, name), 0o444)
        os.chmod(path, 0o555)

    own = ".cache/org.swift.foundation.URLCache"
    yield foundation(f"{own}/server", [entry(FIRST), entry(FIRST + 5, "b.example"), entry(FIRST + 2, "c.example")])
    yield foundation(f"{own}/empty", [])
    yield foundation(f"{own}/crashed", [], [".dat.nosync1A2B.x7Yz01"])
    for number, names in enumerate([
        [entry(FIRST)], [entry("+7"), entry("-1")], [entry("007")], [entry("9223372036854775807")],
        [entry(1, suffix="StoredCachedURLResponse")], [entry(1), entry(2), entry(3)],
        ["5.any text.storedcachedurlresponse"], [entry(900_000_000)],
    ]):
        yield foundation(f"foundation/{number}", names, ["note.txt", ".dat.nosync1.abcdef"][:number % 3])
    yield foundation("foundation/0/inner", [entry(2)])
    yield foundation("mixed", [entry(1)])
    yield apple("mixed/Cache.db", 1)
    yield foundation("deep/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19", [entry(4)])


def make_decoys():
    def file(path, content):
        path = os.path.join(home, "decoys", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(content)
        return path

    def database(path, schema):
        connect(os.path.join(home, "decoys", path), schema=schema).close()

    file("zero/Cache.db", b"")
    file("text/Cache.db", b"SQLite format 4\0" * 400)
    file("short/Cache.db", b"SQLite format 3\0" + bytes(84))
    file("garbage/Cache.db", b"SQLite format 3\0" + os.urandom(8176))
    whole = open(os.path.join(home, "two/first.db"), "rb").read()
    file("cut/Cache.db", whole[:4096])
    database("other/Cache.db", "CREATE TABLE completion_cache_engagement(a)")
    database("begun/Cache.db", "CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER)")
    database("view/Cache.db", "CREATE VIEW cfurl_cache_response AS SELECT 1 AS entry_ID;" + OTHERS)
    database("columns/Cache.db", RESPONSE.replace("request_key", "other") + OTHERS)
    os.mkfifo(os.path.join(home, "decoys/fifo"))
    os.makedirs(os.path.join(home, "decoys/pipe"))
    os.mkfifo(os.path.join(home, "decoys/pipe/Cache.db"))
    os.makedirs(os.path.join(home, "decoys/folder/Cache.db"))
    os.makedirs(os.path.join(home, "decoys/links"))
    os.symlink(os.path.join(home, "two/first.db"), os.path.join(home, "decoys/links/Cache.db"))
    os.symlink(os.path.join(home, "two"), os.path.join(home, "decoys/links/folder"))
    os.symlink("..", os.path.join(home, "decoys/links/loop"))
    os.symlink(".", os.path.join(home, "decoys/links/self"))
    os.symlink("ping", os.path.join(home, "decoys/links/pong"))
    os.symlink("pong", os.path.join(home, "decoys/links/ping"))
    os.symlink("/", os.path.join(home, "decoys/links/root"))
    os.symlink("/dev/zero", os.path.join(home, "decoys/links/zero"))
    os.symlink("none", os.path.join(home, "decoys/links/dangling"))
    file("names/Cache.db.storedcachedurlresponse", b"x" * 600)
    for number, name in enumerate(["x.y.storedcachedurlresponse", "1.storedcachedurlresponse", ".storedcachedurlresponse",
                                   "1.a.b.storedcachedurlresponse", "99999999999999999999.a.storedcachedurlresponse",
                                   "1.a.storedcachedurlresponse.bak", "1.a.storedcachedurlrespons!"]):
        file(f"names/{number}/{name}", b"x" * 600)
    os.makedirs(os.path.join(home, "decoys/names/folder", entry(1)))
    os.makedirs(os.path.join(home, "decoys/names/link"))
    os.symlink("/etc/passwd", os.path.join(home, "decoys/names/link", entry(1)))
    os.makedirs(os.path.join(home, ".cache/org.swift.foundation.URLCache/other"), exist_ok=True)
    with open(os.path.join(home, ".cache/org.swift.foundation.URLCache/other/README"), "w") as stream:
        stream.write("no entry")
    for name in sorted(os.listdir(samples)) if samples else []:
        if name.startswith("not-a-cache-") or name == "half-created":
            shutil.copytree(os.path.join(samples, name), os.path.join(home, "decoys", name))


def make_unreadable():
    """Folders of which this user must not learn what they hold."""
    def locked(path, mode):
        apple(os.path.join(path, "Cache.db"), 1)
        path = os.path.join(home, path)
        os.chmod(path, mode)
        return path

    return [locked("locked/none", 0), locked("locked/names only", 0o444), locked("locked/no names", 0o111)]


def state(folder):
    result = {}
    for path, folders, names in os.walk(folder):
        for name in [".", *folders, *names]:
            file = os.path.join(path, name)
            status = os.lstat(file)
            digest = None
            if os.path.isfile(file) and not os.path.islink(file):
                with open(file, "rb") as stream:
                    digest = hashlib.sha256(stream.read()).hexdigest()
            result[file] = (digest, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    return result


def run(*arguments, verb="discover", status=0, as_nobody=False, **variables):
    user = {"user": "nobody", "group": NOBODY.pw_gid, "extra_groups": []} if as_nobody and os.getuid() == 0 else {}
    environment = {**os.environ, "HOME": home, "TMPDIR": "/tmp"}
    environment.pop("XDG_CACHE_HOME", None)
    environment.update(variables)
    environment = {name: value for name, value in environment.items() if value is not None}
    result = subprocess.run([tool, verb, *arguments], capture_output=True, timeout=120, env=environment, cwd=root, **user)
    assert result.returncode == status, (arguments, result)
    return result


def found(*arguments, **options):
    return json.loads(run(*arguments, "--format", "json", **options).stdout)


def paths(*arguments, **options):
    return [os.path.relpath(store["path"], home) for store in found(*arguments, **options)["stores"]]


def child(path, *statements):
    """A second process that has a database open."""
    script = ("import sqlite3, sys\n"
              "d = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
              "for s in sys.argv[2:]: d.execute(s).fetchall()\n"
              "print('ready', flush=True)\n"
              "sys.stdin.read()\n")
    process = subprocess.Popen([sys.executable, "-c", script, path, *statements], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


def end(process):
    process.stdin.close()
    process.wait()


def ok(name):
    print(f"{name}: ok", flush=True)


def check_home():
    stores = sorted(make_stores(), key=lambda store: store["path"].encode())
    assert len(stores) == 40, len(stores)
    make_decoys()
    unreadable = make_unreadable()
    before = state(home)
    durations = []
    for _ in range(3):
        start = time.monotonic()
        result = found(home, as_nobody=True)
        durations.append(time.monotonic() - start)
    for expected in stores:
        assert expected in result["stores"], (expected, [s for s in result["stores"] if s["path"] == expected["path"]])
    assert result["stores"] == stores, [store for store in result["stores"] if store not in stores]
    assert result["unreadable"] == [{"path": path, "reason": "Permission denied"} for path in sorted(unreadable)], result
    assert result["entries"] == sum(store["entries"] for store in stores)
    assert result["footprint_bytes"] == sum(store["footprint_bytes"] for store in stores)
    assert result["folders_too_deep"] == 0, result
    after = state(home)
    assert after == before, {path for path in after if after[path] != before.get(path)}
    # A second is what it may take; other tests may keep the machine busy.
    assert min(durations) < 10, durations
    ok("a home with 40 stores")
    print("it took", *(f"{seconds:.3f}" for seconds in durations), "s", file=sys.stderr)

    table = run(home, "--at", "2040-01-01T00:00:00Z", as_nobody=True)
    lines = table.stdout.decode().splitlines()
    assert len(lines) == 41 and "‹U+000A›" in table.stdout.decode() and "\u202e" not in table.stdout.decode(), lines
    assert lines[0].split() == "FORMAT SCHEMA ENTRIES FOOTPRINT NEWEST IN USE DEFAULT OF CACHE".split(), lines
    notes = table.stderr.decode().splitlines()
    assert notes[0].startswith(f"40 caches, {result['entries']} entries, "), notes
    assert notes[1:] == [f"note: not looked into: '{path}': Permission denied" for path in sorted(unreadable)], notes
    ok("a table, and what could not be looked into")

    usage = json.loads(run("--all-under", home, "--format", "json", verb="usage", as_nobody=True).stdout)
    sizes = [store["footprint_bytes"] for store in usage["stores"]]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) < 40, sizes
    assert sorted(usage.pop("stores"), key=lambda store: store["path"].encode()) == stores
    assert usage.pop("schema") == "urlcache-admin.usage-all/1"
    assert usage == {key: value for key, value in result.items() if key not in ("schema", "stores")}, usage
    sums = run("--all-under", home, verb="usage", as_nobody=True)
    lines = sums.stdout.decode().splitlines()
    assert len(lines) == 42 and lines[-1].endswith("  40 caches"), lines
    assert int(lines[-1].split()[0]) == sum(int(line.split()[0]) for line in lines[1:-1]) == result["entries"], lines
    assert sums.stderr.decode().splitlines() == notes[1:], sums
    parts = [os.path.join(home, "two"), os.path.join(home, "foundation")]
    repeated = [word for folder in parts for word in ("--all-under", folder)]
    usage = json.loads(run(*repeated, "--format", "json", verb="usage").stdout)
    assert usage["footprint_bytes"] == sum(store["footprint_bytes"] for store in stores
                                           if store["path"].startswith(tuple(parts)))
    ok("sums")


def check_samples():
    if not samples:
        print("real databases: not here")
        return
    real = sorted(name for name in os.listdir(samples) if name.startswith("schema-"))
    stores = found(samples)["stores"]
    assert [store["path"] for store in stores] == [os.path.join(samples, name, "Cache.db") for name in real], stores
    for name, store in zip(real, stores):
        copy = os.path.join(root, "samples", name)
        shutil.copytree(os.path.join(samples, name), copy)
        database = sqlite3.connect(os.path.join(copy, "Cache.db"))
        count, = database.execute("SELECT count(*) FROM cfurl_cache_response").fetchone()
        database.close()
        assert (store["schema_version"], store["entries"]) == (int(name.split("-")[1]), count), store
    ok("real databases")


def traced(*folders):
    """The lines of `strace` about files below the first folder, of a search below all of them."""
    log = os.path.join(root, "log")
    subprocess.run(["strace", "-f", "-qq", "-y", "-o", log, "-e", "trace=open,openat,read,pread64,mmap,write,pwrite64",
                    tool, "discover", *folders], check=True, capture_output=True)
    with open(log) as file:
        lines = [line for line in file if folders[0] in line]
    os.remove(log)
    return lines, [line for line in lines if " open" in line and "O_DIRECTORY" not in line]


def check_opened_files():
    """Of what is no database the first 100 bytes are read; pipes, links and entries are not opened at all."""
    lines, opened = traced(home, home + "/.")
    assert len(opened) > 40, len(opened)
    for line in opened:
        # SQLite opens a log for writing even where it only reads.
        assert "O_RDONLY" in line or "Cache.db-wal" in line, line
        assert ".storedcachedurlresponse" not in line or "decoys/names" in line, line
        for name in ["decoys/fifo", "decoys/pipe", "decoys/links", "decoys/names/link", "zero", "short"]:
            assert name not in line, line
    text = [line for line in lines if "decoys/text/Cache.db" in line and " openat" not in line]
    assert len(text) == 1 and ", 100, 0)" in text[0], text
    written = [line for line in lines if " write(" in line or " pwrite64(" in line]
    assert not written, written
    listed = [line.split("<")[1].split(">")[0] for line in lines if '>, ".", ' in line]
    assert len(listed) > 80 and len(listed) == len(set(listed)), "a folder was looked into twice"
    assert not os.path.isdir("/sys/kernel") or not traced("/sys/kernel")[1], "a file of the kernel was opened"
    ok("opened files")


def check_places():
    own = ".cache/org.swift.foundation.URLCache"
    default = [f"{own}/crashed", f"{own}/empty", f"{own}/server"]
    if sys.platform != "darwin":
        assert paths() == default
        assert paths(XDG_CACHE_HOME=os.path.join(home, "two")) == default + ["two/first.db", "two/second.db"]
        assert paths(XDG_CACHE_HOME="home/two") == default, "a path that is not absolute counts"
        assert paths(XDG_CACHE_HOME=os.path.join(home, "two"), HOME=None) == ["two/first.db", "two/second.db"]
        assert paths(XDG_CACHE_HOME=os.path.join(root, "none"), HOME=os.path.join(root, "none")) == []
    assert b"HOME is not set" in run(status=64, HOME=None, TMPDIR=None).stderr
    ok("places")


def check_folders():
    two = os.path.join(home, "two")
    assert paths(two + "//") == paths(two, home + "/two", two + "/.") == ["two/first.db", "two/second.db"]
    relative = found("home/two")["stores"]
    assert [store["path"] for store in relative] == ["home/two/first.db", "home/two/second.db"]
    os.symlink(two, os.path.join(root, "link"))
    assert [store["path"] for store in found("link/")["stores"]] == ["link/first.db", "link/second.db"]
    for name, status, kind in [("none", 66, "not-found"), ("home/two/first.db", 66, "not-found"),
                               ("home/locked/none", 77, "no-permission")]:
        error = json.loads(run("home/two", name, "--format", "json", status=status, as_nobody=True).stderr)
        assert (error["code"], error["kind"], error["path"]) == (status, kind, name), error
    ok("folders")

    deep = os.path.join(home, "deep")
    assert paths(deep, "--max-depth", "18") == [] and found(deep, "--max-depth", "18")["folders_too_deep"] == 1
    assert run(deep, "--max-depth", "18").stderr.endswith(
        b"\nnote: 1 folder was not looked into, more than 18 levels down\n")
    assert len(paths(deep, "--max-depth", "19")) == 1
    # The second folder lies deeper below the first than that is looked into.
    middle = os.path.join(deep, "1/2/3")
    for folders in [(deep, middle), (middle, deep)]:
        result = found(*folders, "--max-depth", "16")
        assert len(result["stores"]) == 1 and result["folders_too_deep"] == 0, result
    assert b"from 0 to 100" in run(home, "--max-depth", "101", status=64).stderr
    ok("depth")

    other = os.path.join(root, "names")
    os.makedirs(os.path.join(other.encode(), b"latin-\xe9"))
    os.link(os.path.join(two, "first.db"), os.path.join(other, "again.db"))
    os.link(os.path.join(two, "first.db"), os.path.join(other, "more.db"))
    result = found(other)
    assert [store["path"] for store in result["stores"]] == [os.path.join(other, "again.db")], result
    assert "hard links" in result["stores"][0]["notes"][0], result
    assert result["unreadable"] == [{"path": os.path.join(other, "latin-\ufffd"), "reason": "its name is not UTF-8"}]
    ok("names")


def check_use():
    folder = os.path.join(root, "use")
    for name, mode in [("idle", "wal"), ("reading", "wal"), ("writing", "delete"), ("locked", "delete"),
                       ("owned", "wal")]:
        database = connect(os.path.join(folder, name, "Cache.db"), mode)
        insert(database, 3)
        database.close()
    process = {
        "reading": child(folder + "/reading/Cache.db", "SELECT * FROM cfurl_cache_response"),
        "writing": child(folder + "/writing/Cache.db", "BEGIN IMMEDIATE", "DELETE FROM cfurl_cache_response"),
        "locked": child(folder + "/locked/Cache.db", "BEGIN EXCLUSIVE"),
        "owned": child(folder + "/owned/Cache.db", "PRAGMA locking_mode=EXCLUSIVE", "BEGIN IMMEDIATE",
                       "DELETE FROM cfurl_cache_response", "COMMIT")}
    result = found(folder)
    use = [(os.path.basename(os.path.dirname(store["path"])), store["entries"], store["in_use"], store["pid"])
           for store in result["stores"]]
    assert use == [("idle", 3, False, None), ("reading", 3, True, process["reading"].pid),
                   ("writing", 3, True, process["writing"].pid)], use
    assert [place["path"] for place in result["unreadable"]] == \
        [folder + "/locked/Cache.db", folder + "/owned/Cache.db"], result
    assert all("lock" in place["reason"] for place in result["unreadable"]), result
    table = run(folder).stdout.decode()
    assert f"  pid {process['reading'].pid} " in table, table
    for other in process.values():
        end(other)
    ok("use")


def check_journals():
    """Databases whose last transaction was cut short: only a store is copied."""
    folder = os.path.join(root, "journals")
    for name, schema in [("store", SCHEMA), ("other", SCHEMA.replace("cfurl_cache", "other"))]:
        path = os.path.join(root, name, "Cache.db")
        database = connect(path, "delete", schema)
        table = "cfurl_cache" if name == "store" else "other"
        if name == "store":
            insert(database, 5)
        database.execute(f"INSERT INTO {table}_receiver_data(receiver_data) VALUES (zeroblob(100000))")
        database.execute("PRAGMA cache_size=1")
        database.execute("BEGIN")
        database.execute(f"UPDATE {table}_receiver_data SET receiver_data = randomblob(9000)")
        shutil.copytree(os.path.join(root, name), os.path.join(folder, name))
        database.close()
        with open(os.path.join(folder, name, "Cache.db-journal"), "rb") as file:
            assert file.read(8) == bytes.fromhex("d9d505f920a163d7"), "the journal is not hot"
    before = state(folder)
    result = found(folder)
    assert [(store["path"], store["entries"]) for store in result["stores"]] == \
        [(os.path.join(folder, "store/Cache.db"), 6)] and result["unreadable"] == [], result
    assert "private copy" in result["stores"][0]["notes"][0], result
    result = found(folder, TMPDIR=os.path.join(root, "none"))
    assert result["stores"] == [], result
    assert [place["path"] for place in result["unreadable"]] == [os.path.join(folder, "store/Cache.db")], result
    assert state(folder) == before
    ok("journals")


def check_damage():
    """A store whose schema is whole and whose rows are not."""
    folder = os.path.join(root, "damage")
    path = os.path.join(folder, "Cache.db")
    database = connect(path, "delete")
    insert(database, 400)
    pages = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'cfurl_cache_blob_data'").fetchone()[0]
    database.close()
    with open(path, "r+b") as file:
        file.seek((pages - 1) * 4096)
        file.write(b"\xff" * 4096)
    store, = found(folder)["stores"]
    assert store["entries"] is None and store["newest_stored"] is None, store
    assert store["footprint_bytes"] == os.path.getsize(path) and "damaged" in store["notes"][0], store
    line = run(folder).stdout.decode().splitlines()[1]
    assert line.split()[:5] == ["apple", "203", "-", *f"{os.path.getsize(path) / 1024:.0f} KiB".split()], line
    assert b"damaged" in run(folder).stderr
    ok("damage")


try:
    check_home()
    check_samples()
    if sys.platform == "linux":
        check_opened_files()
    check_places()
    check_folders()
    check_use()
    check_journals()
    check_damage()
finally:
    subprocess.run(["chmod", "-R", "u+rwX", root])
    shutil.rmtree(root)
