"""Lets commands that change a cache meet faults, and judges what is left; the checks of faults share it.

What may be left after any fault: a database that SQLite finds whole, of the same schema; each row as it was or gone, from
all three tables; the body file of each row as it was. A body file whose rows are gone may be left by a command that was
killed or that failed, and by no other. The same command once more ends what the first began: it removes those files, says so,
and leaves no intent.
"""

import collections
import hashlib
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess

import scratch
import strace
import worlds
from heard_signals import hear_signals
from products import tool

TABLES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]
DATABASE = ["Cache.db", "Cache.db-wal", "Cache.db-shm", "Cache.db-journal"]
# The system calls that write, but for those that open; with a question mark those that a system may not have.
CALLS = ["write", "writev", "pwrite64", "pwritev", "fsync", "fdatasync", "syncfs", "sync_file_range", "ftruncate", "fallocate",
         "?unlink", "unlinkat", "?rename", "?renameat", "renameat2", "?link", "linkat", "?mkdir", "mkdirat", "?rmdir",
         "copy_file_range", "sendfile", "msync", "fchown", "?fchmod"]

# The receipt of a command that was stopped before it began.
NOTHING = {"entries": [], "removed": {"entries": 0}}

# Rows: by their number, those of the three tables and the digest of the body file. Orphans: files that no row names.
State = collections.namedtuple("State", "rows schema orphans")


class Bad(Exception):
    """A state that must not be."""


def must(truth, *facts):
    if not truth:
        raise Bad(" ".join(str(fact) for fact in facts))


def read_database(path):
    """The rows by their number, and what the schema is. Opening a database after a crash changes it: give it a copy."""
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    try:
        problems = connection.execute("PRAGMA integrity_check(3)").fetchall()
        must(problems == [(b"ok",)], "integrity_check:", problems)
        tables = [{row[0]: row for row in connection.execute(f"SELECT * FROM {table}")} for table in TABLES]
        must(tables[0].keys() == tables[1].keys() == tables[2].keys(), "a row is in one table and not in the others")
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        schema += [connection.execute(f"PRAGMA {name}").fetchone()
                   for name in ["user_version", "auto_vacuum", "journal_mode", "page_size"]]
        return {number: [table[number] for table in tables] for number in tables[0]}, schema
    except sqlite3.Error as error:
        raise Bad(f"sqlite3: {error}")
    finally:
        connection.close()


def add_bodies(rows, digests):
    """Adds to each row the digest of its body file, None if it is missing; returns the files that no row names."""
    named = set()
    for row in rows.values():
        if row[2][1]:
            name = row[2][2].decode() if isinstance(row[2][2], bytes) else row[2][2]
            named.add(name)
            row.append(digests.get(name))
            must(row[3], "the body file of row", row[0][0], "is gone")
    return digests.keys() - named


def read_files(folder):
    result = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            result[name] = hashlib.sha256(file.read()).hexdigest()
    return result


def look(cache):
    """The state of a cache, which stays as it is."""
    copy = scratch.path("looked-at")
    shutil.rmtree(copy, ignore_errors=True)
    os.mkdir(copy)
    for name in os.listdir(cache):
        must(name in [*DATABASE, "fsCachedData"], "there is a new file", name)
        # The index of the log is made anew by whoever opens the log first.
        if name in DATABASE and not name.endswith("-shm"):
            shutil.copy(os.path.join(cache, name), copy)
    must(os.path.exists(os.path.join(copy, "Cache.db")), "the database is gone")
    rows, schema = read_database(os.path.join(copy, "Cache.db"))
    orphans = add_bodies(rows, read_files(os.path.join(cache, "fsCachedData")))
    return State(rows, schema, orphans)


def contents(cache):
    """The entries of a cache by their numbers, whatever their body files are called; a file that no row names is no harm."""
    return {number: (*row[:2], row[2][:2], row[3]) if row[2][1] else tuple(row) for number, row in look(cache).rows.items()}


def intents():
    """What commands have noted that were killed, or could not do all."""
    folder = scratch.path("state/urlcache-admin/intents")
    return sorted(os.listdir(folder)) if os.path.exists(folder) else []


def removed_for_others(result):
    """How many body files of interrupted commands a command says that it has removed."""
    said = re.search(rb"^note: removed (\d+) body files? left by an interrupted command$", result.stderr, re.M)
    return int(said[1]) if said else 0


class Trial:
    """A command that changes copies of a cache, again and again, each time with another fault.

    `limit` is the number of bytes that the files may take up at the end: what a fault leaves lying counts, so that then
    more rows go than do without it. With no limit it is always the same rows that go. `beside` says that another process
    has the cache open.
    """

    def __init__(self, origin, verb, *options, limit=None, beside=False):
        self.origin, self.verb, self.options = origin, verb, options
        self.limit, self.beside = limit, beside
        self.tried = self.left_orphans = self.most_orphans = self.partial = 0
        self.bad = []
        self.old = look(origin)
        cache = self.fresh()
        result = self.run(cache)
        assert result.returncode == 0, (self.arguments(cache), result)
        self.new = look(cache)
        assert not self.old.orphans and not self.new.orphans and not intents()

    def fresh(self):
        return scratch.copy(self.origin, "cache")

    def arguments(self, cache):
        confirmed = {"compact": [], "check": ["--repair", "--yes"]}.get(self.verb, ["--yes"])
        return [tool, self.verb, "-c", cache, *self.options, *confirmed, "--format", "json"]

    def run(self, cache, *before, longest_file=resource.RLIM_INFINITY, **options):
        """Runs the command, with other words before it."""
        def prepare():
            hear_signals()
            resource.setrlimit(resource.RLIMIT_FSIZE, (longest_file, longest_file))

        # Beside an app, commands work in short batches.
        with worlds.Holder(cache, "idle" if self.beside else "nobody"):
            return subprocess.run([*before, *self.arguments(cache)], stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=120, preexec_fn=prepare, **options)

    def points(self):
        """The writing system calls of a clean run, in their order: the call and its turn. Of calls that open, those that create a file."""
        trace = scratch.path("trace")
        result = self.run(self.fresh(), "strace", "-f", "-qq", "-o", trace, "-e", f"trace=openat,{','.join(CALLS)}")
        assert result.returncode == 0, result
        made, points = collections.Counter(), []
        with open(trace, errors="replace") as file:
            lines = [re.match(r"(\d+) +(\w+)\((.*)", line) for line in file]
        # strace counts the calls of each thread by themselves; it is the first that writes.
        for line in filter(None, lines):
            if line[1] == lines[0][1]:
                made[line[2]] += 1
                if line[2] != "openat" or "O_CREAT" in line[3]:
                    points.append((line[2], made[line[2]]))
            else:
                assert line[2] == "openat" and "O_CREAT" not in line[3], line[0]
        return points

    def with_fault(self, call, turn, fault):
        """Lets the system call fail, or the command be killed, at one of its turns, such as `3`, or `3+` from then on."""
        cache = self.fresh()
        result = self.run(cache, *strace.fault(call, fault, turn))
        ends = {"signal=SIGKILL": [-9], "signal=SIGINT": [-2], "signal=SIGTERM": [-15]}.get(
            fault, [0, 1, 3, 74] if self.limit or self.verb == "check" else [0, 3, 74])
        # In short batches, which are as long as they take, it may be done before.
        self.judge(f"{fault} at {call} {turn}", cache, result, ends + [0] * self.beside)

    def judge(self, fault, cache, result, ends):
        """Judges a cache after a fault, and again after another run, and notes what is bad.

        `ends` are the ways in which the command may have ended.
        """
        self.tried += 1
        try:
            must(result.returncode in ends, "it ended with", result)
            state = self.judge_state(cache, result.returncode)
            if result.returncode != -9:
                self.judge_receipt(state, result)
            self.judge_rerun(cache, state)
        except Bad as error:
            self.bad.append(f"{fault}: {error}")

    def judge_receipt(self, state, result):
        """Looks whether what the command said is what it did."""
        gone = self.old.rows.keys() - state.rows.keys()
        if result.returncode == 74:
            # Whether a commit that fails was one, SQLite does not know before it opens the database again.
            before = re.search(rb"removed ([\d,]+) entr(?:y|ies) before the error", result.stderr)
            must(int(before[1].replace(b",", b"") if before else 0) <= len(gone), "it said", before, "and gone are", gone)
        elif self.verb != "compact":
            receipt = json.loads(result.stdout or "null")
            receipt = (receipt and receipt["repair"] if self.verb == "check" else receipt) or NOTHING
            named = {entry["id"] for entry in receipt["entries"]}
            must(named == gone and receipt["removed"]["entries"] == len(gone), "it named", named, "and gone are", gone)
        if 0 < len(gone) < len(self.old.rows.keys() - self.new.rows.keys()):
            self.partial += 1
            must(result.returncode >= 0 or self.verb != "enforce" or receipt["footprint_after"] is None,
                 "it says what all takes up that it did not measure:", result.stdout[-100:])

    def judge_state(self, cache, status):
        state = look(cache)
        must(state.schema == self.old.schema, "the schema is another:", state.schema)
        for number, row in state.rows.items():
            must(row == self.old.rows.get(number), "row", number, "is not as it was")
        lost = self.new.rows.keys() - state.rows.keys()
        must(not lost or self.limit, "rows are gone that were to stay:", lost)
        if status == 0:
            self.judge_end(cache, state)
            must(not state.orphans, "it said that all was done, and left", state.orphans)
        if state.orphans:
            self.left_orphans += 1
            self.most_orphans = max(self.most_orphans, len(state.orphans))
        return state

    def judge_rerun(self, cache, before):
        result = self.run(cache)
        # A plan has been carried out in part where rows are gone that it names.
        expected = 3 if self.verb == "apply" and before.rows != self.old.rows else 0
        must(result.returncode == expected, "the second run ended with", result)
        state = look(cache)
        must(state.schema == self.old.schema, "the second run changed the schema")
        must(not state.orphans, "the second run left body files that no row names:", state.orphans)
        must(removed_for_others(result) == len(before.orphans), "the first run left", len(before.orphans), "files, and the second:",
             result.stderr)
        must(not intents(), "the second run left intents:", intents())
        for number, row in state.rows.items():
            must(row == self.old.rows.get(number), "row", number, "is not as it was after the second run")
        self.judge_end(cache, state)

    def judge_end(self, cache, state):
        if self.limit:
            # What is left of a transaction that was cut short counts for nobody, and goes with the next that writes.
            journal = os.path.join(cache, "Cache.db-journal")
            size = length(cache) - (os.path.getsize(journal) if os.path.exists(journal) else 0)
            must(size <= self.limit, "it says that the limit is kept, and it is not:", size)
        else:
            must(state.rows == self.new.rows, "it says that all was done, and it was not")

    def finish(self):
        """Fails if anything was bad, or nothing was tried."""
        assert self.tried and not self.bad, f"{len(self.bad)} of {self.tried} bad:\n" + "\n".join(self.bad)


def length(cache):
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(cache) for name in names)


def make_origin(journal="wal"):
    """A cache of some entries, half of them with bodies in files."""
    origin = scratch.make("origin", entries=24)
    if journal != "wal":
        connection = sqlite3.connect(os.path.join(origin, "Cache.db"))
        assert connection.execute(f"PRAGMA journal_mode = {journal}").fetchone() == (journal,)
        connection.close()
    return origin


def make_free(origin):
    """A copy of a cache that has much free room."""
    free = scratch.copy(origin, "free")
    connection = sqlite3.connect(os.path.join(free, "Cache.db"))
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE entry_ID % 4 AND entry_ID NOT IN "
                           f"(SELECT entry_ID FROM {TABLES[2]} WHERE isDataOnFS)")
    connection.commit()
    connection.close()
    return free


def make_broken(origin):
    """A copy of a cache of which some entries cannot be decoded, and with nothing else that is found wrong with it."""
    broken = scratch.copy(origin, "broken")
    connection = sqlite3.connect(os.path.join(broken, "Cache.db"))
    connection.execute("UPDATE cfurl_cache_blob_data SET response_object = 'none' WHERE entry_ID % 3 = 0 OR "
                       "instr(response_object, CAST('no-store' AS BLOB))")
    connection.commit()
    connection.close()
    return broken


def make_plan(origin):
    """The path of a plan that removes most entries of a cache."""
    plan = scratch.path("plan.json")
    scratch.run("purge", "-c", origin, "--prefix", "https://", "--plan", plan)
    return plan


# The commands that change a cache, by the names of their trials.
COMMANDS = {
    "purge": lambda origin: Trial(origin, "purge", "--prefix", "https://"),
    "enforce": lambda origin: Trial(origin, "enforce", "--max-size", "300K", limit=300 << 10),
    "enforce-entries": lambda origin: Trial(origin, "enforce", "--max-entries", "8"),
    "apply": lambda origin: Trial(origin, "apply", make_plan(origin)),
    "repair": lambda origin: Trial(make_broken(origin), "check"),
    "compact": lambda origin: Trial(make_free(origin), "compact"),
    "compact-full": lambda origin: Trial(make_free(origin), "compact", "--full"),
}
