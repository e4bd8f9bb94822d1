"""Builds the worlds of tests: caches of every kind, what lies beside them, who has them open, and a disk that is full.

    cache = worlds.apple(path("cache"), worlds.entries(40), schema=202, journal="delete")
    before = worlds.canary(scratch.root)
    with worlds.Holder(cache, "reading"):
        result = worlds.run("purge", "-c", cache, "--all", "--yes")
    assert worlds.contents(cache) == {} and worlds.changes(before, worlds.canary(scratch.root)) == ...

What is in a cache is read here by SQLite and byte by byte, never by the program under test.
"""

import base64
import contextlib
import dataclasses
import hashlib
import json
import os
import plistlib
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import uuid

import scratch
from apple_systems import key_hash as hash_value

TABLES = RESPONSES, BLOBS, BODIES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]
SCHEMAS = [12, 13, 25, 102, 104, 106, 201, 202, 203]
JOURNALS = ["wal", "delete", "truncate", "persist"]
SECONDS_TO_2001 = 978307200
# Of a body of this length or more, CFNetwork makes a file.
FILE_LENGTH = 4096
# Orphans younger than this are kept, because an app may be about to name them: seconds.
GRACE = 600
# A user who is not the one of the tests, and has no name.
STRANGER = 12345


# --- Entries ---------------------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Entry:
    """A response to store. Times are seconds since 1970; `final` is the URL after redirects; a `file` of the same name as that of
    another entry is shared with it; `key` is the URL unless given."""

    url: str
    body: bytes = b"body" * 50
    stored: float = 1_700_000_000
    first_stored: float = None
    final: str = None
    status: int = 200
    mime: str = "text/plain"
    headers: dict = dataclasses.field(default_factory=dict)
    request_headers: dict = dataclasses.field(default_factory=dict)
    method: str = "GET"
    user_info: dict = None
    proto_props: dict = None
    partition: str = None
    key: str = None
    file: str = None
    id: int = None


def entries(count, choice=None, host="a.example", newest=None, sizes=(30, 2_000, 9_000, 30_000), spacing=60, path="", **values):
    """As many entries, the first one the oldest; `choice` is a `random.Random`, without which sizes take turns."""
    newest = newest or int(time.time()) - 3_600
    return [Entry(f"https://{host}{path}/{number}", body(number, choice.choice(sizes) if choice else sizes[number % len(sizes)]),
                  newest - (count - number) * spacing, **values) for number in range(1, count + 1)]


def body(number, size):
    return (f"{number} ".encode() * (size // 2 + 1))[:size]


def binary(value):
    return plistlib.dumps(value, fmt=plistlib.FMT_BINARY)


def response_object(entry):
    address = {"_CFURLString": entry.final or entry.url, "_CFURLStringType": 15}
    fields = {"Content-Type": entry.mime, "Content-Length": str(len(entry.body)), **entry.headers}
    items = [address, float(entry.stored - SECONDS_TO_2001), 0, entry.status, fields, len(entry.body), entry.mime]
    return binary({"Version": 1, "Array": items})


def request_object(entry):
    address, null = {"_CFURLString": entry.url, "_CFURLStringType": 15}, "__CFURLRequestNullTokenString__"
    items = [False, address, 60.0, 0, null, True, 0, null, null, True, False, 0, 0.0, 0.0, 0, -1, null, 2,
             entry.method, entry.request_headers, null, null]
    return binary({"Version": 9, "Array": items})


def body_name(number):
    """The name of a body file, a UUID that depends on the number only."""
    return str(uuid.UUID(bytes=hashlib.sha256(str(number).encode()).digest()[:16])).upper()


def is_body_name(name):
    return re.fullmatch(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", name) is not None


# --- Apple's stores --------------------------------------------------------------------------------------------------------

def statements(schema):
    """What makes the tables of a schema, in the words of CFNetwork."""
    tabs, partition = "\t" * (1 if schema > 25 else 5), ", partition TEXT" if schema > 12 else ""
    result = [] if schema == 203 else ["CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER)",
                                       f"INSERT INTO cfurl_cache_schema_version VALUES ({schema})"]
    return result + [
        f"CREATE TABLE {RESPONSES}(entry_ID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, {tabs} version INTEGER, hash_value INTEGER, "
        f"storage_policy INTEGER, request_key TEXT UNIQUE, {tabs} time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP{partition})",
        f"CREATE TABLE {BLOBS}(entry_ID INTEGER PRIMARY KEY, response_object BLOB, request_object BLOB, {tabs if schema < 26 else '	' * 3} "
        "proto_props BLOB, user_info BLOB)",
        f"CREATE TABLE {BODIES}(entry_ID INTEGER PRIMARY KEY, {'isDataOnFS INTEGER, ' if schema > 13 else ''}receiver_data BLOB)",
        f"CREATE INDEX request_key_index ON {RESPONSES}(request_key)",
        f"CREATE INDEX time_stamp_index ON {RESPONSES}(time_stamp)",
        f"CREATE INDEX proto_props_index ON {BLOBS}(entry_ID)",
        f"CREATE INDEX receiver_data_index ON {BODIES}(entry_ID)",
    ] + ["PRAGMA user_version = 203"] * (schema == 203)


def connect(cache, name="Cache.db", timeout=1):
    return sqlite3.connect(os.path.join(cache, name), timeout=timeout, isolation_level=None)


def create(cache, schema=203, journal="wal", name="Cache.db", encoding="UTF-8", auto_vacuum=2, page_size=4096):
    """Makes a cache without entries, and returns a connection to its database."""
    os.makedirs(os.path.join(cache, "fsCachedData"), exist_ok=True)
    connection = connect(cache, name)
    for setting in (f"page_size = {page_size}", f"encoding = '{encoding}'", f"auto_vacuum = {auto_vacuum}", f"journal_mode = {journal}"):
        connection.execute("PRAGMA " + setting).fetchall()
    for statement in ["BEGIN", *statements(schema), "COMMIT"]:
        connection.execute(statement)
    return connection


def insert(connection, cache, entry):
    """Stores an entry as CFNetwork does: the file first, then the rows, in the caller's transaction. Returns its number."""
    key, first = entry.key or entry.url, entry.first_stored or entry.stored
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(first))
    row = connection.execute(f"INSERT INTO {RESPONSES}(entry_ID, version, hash_value, storage_policy, request_key, time_stamp) "
                             "VALUES (?, 0, ?, 0, ?, ?)", (entry.id, hash_value(key), key, stamp)).lastrowid
    if entry.partition is not None:
        connection.execute(f"UPDATE {RESPONSES} SET partition = ? WHERE entry_ID = ?", (entry.partition, row))
    has_files = any(column[1] == "isDataOnFS" for column in connection.execute(f"PRAGMA table_info({BODIES})"))
    if has_files and entry.file is None and len(entry.body) >= FILE_LENGTH:
        entry.file = str(uuid.uuid4()).upper()
    if entry.file:
        write_body(cache, entry.file, entry.body)
    connection.execute(f"INSERT INTO {BLOBS} VALUES (?, ?, ?, ?, ?)", (
        row, response_object(entry), request_object(entry),
        *(value if value is None else binary(value) for value in (entry.proto_props, entry.user_info))))
    values = (row, int(entry.file is not None), entry.file or entry.body) if has_files else (row, entry.body)
    connection.execute(f"INSERT INTO {BODIES} VALUES ({', '.join('?' * len(values))})", values)
    return row


def write_body(cache, name, data=b"orphan" * 1_000, age=0):
    """Writes a body file, an orphan unless an entry names it, that was last changed so many seconds ago."""
    path = os.path.join(cache, "fsCachedData", name)
    with open(path, "wb") as file:
        file.write(data)
    if age:
        os.utime(path, (time.time() - age,) * 2)
    return path


def apple(cache, some=(), closed=True, churn=0, **options):
    """Makes a cache with entries, whose numbers are set; returns its folder. One that was not closed keeps its rows in its log
    (`journal="wal"`). `churn` entries are removed again as an app does it, which leaves free pages."""
    connection = create(cache, **options)
    name = options.get("name", "Cache.db")
    # No power fails here.
    connection.execute("PRAGMA synchronous = OFF")
    if not closed:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("BEGIN")
    removed = [insert(connection, cache, Entry(f"https://churn.example/{number}", b"c" * 3_000)) for number in range(churn)]
    for entry in some:
        entry.id = insert(connection, cache, entry)
    connection.execute("COMMIT")
    for table in TABLES if removed else ():
        connection.execute(f"DELETE FROM {table} WHERE entry_ID <= {removed[-1]}")
    with contextlib.nullcontext() if closed else keeping(cache, name):
        connection.close()
    return cache


@contextlib.contextmanager
def keeping(cache, name="Cache.db"):
    """Puts the files of a database back as they are now, as after a crash of the process that closes it in the block."""
    with tempfile.TemporaryDirectory() as copy:
        files = [name + suffix for suffix in ("", "-wal", "-journal") if os.path.exists(os.path.join(cache, name + suffix))]
        for file in files:
            shutil.copy2(os.path.join(cache, file), copy)
        yield
        for file in files:
            shutil.copy2(os.path.join(copy, file), cache)


def crash(cache, name="Cache.db"):
    """Leaves what an app leaves that dies within a transaction: a hot journal, or a log with frames that are not committed."""
    connection = connect(cache, name)
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("BEGIN")
    connection.execute(f"UPDATE {BLOBS} SET proto_props = randomblob(9000)")
    with keeping(cache, name):
        connection.execute("ROLLBACK")
        connection.close()


def name_super_journal(cache, victim, spoilt_at=None):
    """Has the hot journal of a cache name a super-journal, which SQLite deletes; a byte of its magic can be spoilt."""
    name = os.fsencode(victim)
    trailer = (0x4000_0000 // 4096 + 1).to_bytes(4, "big") + name
    trailer += len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + bytes.fromhex("d9d505f920a163d7")
    with open(os.path.join(cache, "Cache.db-journal"), "r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(trailer)
        if spoilt_at is not None:
            file.seek(spoilt_at)
            file.write(b"?")


# --- Foundation's stores ---------------------------------------------------------------------------------------------------

def archive(entry):
    """A keyed archive as Foundation's `URLCache` writes it."""
    objects = ["$null"]

    def add(value):
        objects.append(value)
        return plistlib.UID(len(objects) - 1)

    def dictionary(values):
        keys, items = [add(key) for key in values], [add(value) for value in values.values()]
        return add({"NS.keys": keys, "NS.objects": items, "$class": named("NSDictionary")})

    def named(*classes):
        return add({"$classname": classes[0], "$classes": [*classes, "NSObject"]})

    root = {}
    top = add(root)
    null = plistlib.UID(0)
    url = add({"NS.base": null, "NS.relative": add(entry.final or entry.url), "$class": named("NSURL")})
    fields = dictionary({"Content-Type": entry.mime, "Content-Length": str(len(entry.body)), **entry.headers})
    response = add({"NS.url": url, "NS.mimeType": add(entry.mime), "NS.expectedContentLength": len(entry.body), "NS.textEncodingName": null,
                    "NS.suggestedFilename": add("x"), "NS.statusCode": entry.status, "NS.allHeaderFields": fields,
                    "$class": named("NSHTTPURLResponse", "NSURLResponse")})
    date = add({"NS.time": float(entry.stored - SECONDS_TO_2001), "$class": named("NSDate")})
    root |= {"response": response, "data": add(entry.body), "storagePolicy": 0, "date": date,
             "userInfo": dictionary(entry.user_info) if entry.user_info else null,
             "$class": named("FoundationNetworking.StoredCachedURLResponse")}
    return binary({"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": top}, "$objects": objects})


def archive_name(entry):
    """The name of the file of an entry, without its suffix: its id."""
    scheme, _, host, path = entry.url.split("/", 3)
    host, _, port = host.partition(":")
    key = f"{host.lower()}\0{port or -1}\0/{path.split('?')[0]}\0".encode()
    return f"{int(entry.stored - SECONDS_TO_2001)}.{base64.b64encode(key).decode()}"


SUFFIX = ".storedcachedurlresponse"


def foundation(cache, some=()):
    os.makedirs(cache, exist_ok=True)
    for entry in some:
        entry.id = archive_name(entry)
        with open(os.path.join(cache, entry.id + SUFFIX), "wb") as file:
            file.write(archive(entry))
    return cache


# --- What is in a cache ----------------------------------------------------------------------------------------------------

def is_foundation(cache, name="Cache.db"):
    return not os.path.exists(os.path.join(cache, name))


@contextlib.contextmanager
def reading(cache, name="Cache.db", live=False):
    """A connection in a transaction, to a copy, so that it changes nothing; or to the database itself, which somebody has open."""
    with contextlib.ExitStack() as stack:
        folder = cache
        if not live:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            for suffix in ("", "-wal", "-journal"):
                if os.path.exists(os.path.join(cache, name + suffix)):
                    shutil.copy(os.path.join(cache, name + suffix), folder)
        connection = stack.enter_context(contextlib.closing(connect(folder, name)))
        connection.text_factory = bytes
        connection.execute("BEGIN")
        yield connection


def tables(cache, name="Cache.db", live=False):
    """The rows of the three tables by their numbers, byte for byte: texts are bytes, too."""
    with reading(cache, name, live) as connection:
        assert live or connection.execute("PRAGMA quick_check").fetchone() == (b"ok",)
        return [{row[0]: row for row in connection.execute(f"SELECT * FROM {table}")} for table in TABLES]


def databases(cache):
    """The names of the SQLite databases in the folder of a cache."""
    def begins(entry):
        with open(entry.path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    return [entry.name for entry in os.scandir(cache) if entry.is_file(follow_symlinks=False) and begins(entry)]


def contents(cache, name="Cache.db", live=False):
    """The entries by their numbers or names, as all that is stored of them: rows, and the contents of body files (None if missing).
    The three tables have to agree."""
    if is_foundation(cache, name):
        files = {file.removesuffix(SUFFIX): content_of(os.path.join(cache, file)) for file in os.listdir(cache) if file.endswith(SUFFIX)}
        return {name: data for name, data in files.items() if data is not None}
    responses, blobs, bodies = tables(cache, name, live)
    assert responses.keys() == blobs.keys() == bodies.keys(), "the three tables do not agree"
    return {number: (row, blobs[number], bodies[number], body_of(cache, bodies[number])) for number, row in responses.items()}


def body_of(cache, row):
    return content_of(os.path.join(cache, "fsCachedData", file_of(row))) if file_of(row) else None


def file_of(row):
    """The name of the body file in a row of the third table."""
    return row[2].decode() if len(row) == 3 and row[1] else None


def content_of(path):
    with contextlib.suppress(FileNotFoundError):
        return scratch.read(path)


def files_of(cache, name="Cache.db", live=False):
    """The names of all body files that the entries of a database name."""
    return {file_of(row) for row in tables(cache, name, live)[2].values()} - {None}


def is_sparse(status):
    return status.st_size > 1 << 20 and status.st_blocks * 512 < status.st_size


def canary(folder):
    """All files below a folder, with their contents, modes, owners and times."""
    result = {}
    for parent, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path, content = os.path.join(parent, name), None
            try:
                status = os.lstat(path)
                data = scratch.read(path) if stat.S_ISREG(status.st_mode) and not is_sparse(status) else b""
            except FileNotFoundError:
                # An app has removed it just now.
                continue
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            # Of a file with holes, what the file system says.
            elif stat.S_ISREG(status.st_mode):
                content = status.st_blocks if is_sparse(status) else hashlib.sha256(data).hexdigest()
            times = 0 if stat.S_ISDIR(status.st_mode) else status.st_mtime_ns
            result[os.path.relpath(path, folder)] = (status.st_mode, status.st_uid, status.st_gid, status.st_size if times else 0, times, content)
    return result


def changes(before, after):
    """The files that two canaries do not have in common: their names, and what happened to them."""
    return {name: "removed" if name not in after else "created" if name not in before else "changed"
            for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


# --- Who is there, and what goes wrong -------------------------------------------------------------------------------------

HOLDER = """
import os, sqlite3, sys
if user := int(sys.argv[3]):
    os.setgid(user)
    os.setuid(user)
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2].split(";"):
    connection.execute(statement).fetchall()
print("ready", flush=True)
sys.stdin.read()
"""
LOOK = "SELECT count(*) FROM cfurl_cache_response"
STATEMENTS = {"idle": LOOK, "reading": f"BEGIN; {LOOK}", "writing": "BEGIN IMMEDIATE"}
OURS = """while :; do "$0" list -c "$1" --count; "$0" usage -c "$1"; done"""


class Holder:
    """Another process that has a cache open while a block runs.

    `nobody`, `idle` (it has read), `reading` (a read transaction is open), `writing` (it holds the lock for that), `storing` (an app that stores every 10 ms), `busy` (one
    that also replaces, reads and removes), or `ours` (this program, looking again and again). Afterwards `report` is what an
    app says of itself; see `busy_app.py`.
    """

    KINDS = ["nobody", "idle", "reading", "storing", "busy", "ours"]

    def __init__(self, cache, who, name="Cache.db", seed=0, user=None, pause=0.01):
        self.report, self.process, self.who = None, None, who
        database, user = os.path.join(cache, name), str(user or 0)
        # Another user may not have this Python, and so becomes one only then.
        if who in STATEMENTS:
            self.words = [sys.executable, "-ISc", HOLDER, database, STATEMENTS[who], user]
        elif who in ("storing", "busy"):
            program = os.path.join(os.path.dirname(__file__), "busy_app.py")
            self.words = [sys.executable, "-SE", program, cache if is_foundation(cache, name) else database, who, str(seed), str(pause), user]
        elif who == "ours":
            from products import tool
            self.words = ["sh", "-c", OURS, tool, cache]
        else:
            assert who == "nobody", who
            self.words = None

    def __enter__(self):
        if self.words:
            output, environment = subprocess.PIPE, None
            if self.who == "ours":
                # It is killed at the end, and then may leave a copy of a database.
                self.temporary = tempfile.TemporaryDirectory()
                output, environment = subprocess.DEVNULL, surroundings() | {"TMPDIR": self.temporary.name}
            self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=output, text=True, env=environment,
                                            stderr=subprocess.DEVNULL if self.who == "ours" else None,
                                            start_new_session=True)
            assert self.who == "ours" or self.process.stdout.readline() == "ready\n"
        return self

    @contextlib.contextmanager
    def paused(self):
        """Has an app do nothing while a block runs."""
        print("pause", file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "paused\n"
        yield
        print("go on", file=self.process.stdin, flush=True)

    def __exit__(self, *_):
        if not self.process:
            return
        if self.who == "ours":
            os.killpg(self.process.pid, signal.SIGKILL)
        said, _ = self.process.communicate(timeout=60)
        if self.who == "ours":
            self.temporary.cleanup()
        if said:
            self.report = json.loads(said)


def longest_wait():
    """What an app may wait for a lock: 0.1 s, and more where commands have to wait for a processor themselves."""
    return 0.1 if os.getloadavg()[0] < 3 * os.cpu_count() else 0.4


class FullDisk:
    """A small file system, in a namespace of its own: the programs that are run `inside` see it as `folder`, others as `seen`.
    Root or user namespaces are needed."""

    def __init__(self, folder, size="16m"):
        # Apps of tests import this module without pytest.
        import needs
        needs.require("needs_mounts")
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        script = 'mount -t tmpfs -o size="$1" none "$2" && echo ready && read -r line'
        self.process = subprocess.Popen(["unshare", "-rm", "sh", "-c", script, "sh", size, folder],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.seen = f"/proc/{self.process.pid}/root{folder}"
        self.inside = ["nsenter", "-U", "-m", "--preserve-credentials", "-t", str(self.process.pid)]

    def __enter__(self):
        return self

    def fill(self, leaving=0):
        """Writes until no more can be written, but for so many bytes."""
        room = os.statvfs(self.seen)
        with open(os.path.join(self.seen, "fill"), "ab") as file:
            file.write(bytes(max(0, room.f_bavail * room.f_frsize - leaving)))

    def __exit__(self, *_):
        self.process.communicate("\n", timeout=60)


def give(folder, user=STRANGER):
    """Makes a folder and all in it another user's, who can also reach it; only root can."""
    os.chmod(scratch.root, 0o755)
    for parent, folders, names in os.walk(folder):
        for path in [parent, *(os.path.join(parent, name) for name in folders + names)]:
            os.chown(path, user, user, follow_symlinks=False)


def surroundings(user=None):
    """The environment of the programs, which has nothing of that of the tests. Another user has a home of their own."""
    result = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    for name, folder in {"HOME": "home", "XDG_STATE_HOME": "state", "TMPDIR": "temporary"}.items():
        result[name] = scratch.path(f"{folder}-{user}" if user else folder)
        os.makedirs(result[name], exist_ok=True)
        if user:
            os.chown(result[name], user, user)
    return result


def run(*words, status=None, user=None, inside=(), environment=None, timeout=120, **options):
    """Runs the program: as another user, or inside of a `FullDisk`. `status` is the exit status, or several, that it has to have."""
    from products import tool
    if user:
        options |= {"user": user, "group": user, "extra_groups": []}
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    result = subprocess.run([*inside, tool, *words], text=True, errors="surrogateescape", timeout=timeout,
                            env=surroundings(user) | (environment or {}), **options)
    assert status is None or result.returncode in (status if isinstance(status, tuple) else (status,)), (words, status, result)
    return result


def configure(cache, text="", name="shop", **settings):
    """Names a cache in the configuration of the user, with settings such as `pinned`, and with more text, such as rules."""
    folder = os.path.join(surroundings()["HOME"], ".config/urlcache-admin")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.toml"), "w") as file:
        file.write(f"[caches.{name}]\npath = {json.dumps(cache, ensure_ascii=False)}\n")
        file.writelines(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in settings.items())
        file.write(text)
    return name
