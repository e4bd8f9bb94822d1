"""An app that uses its cache as CFNetwork or Foundation does, measures its own waits, and keeps account of what it does.

    busy_app.py DATABASE|FOLDER storing|busy SEED PAUSE USER

`storing` stores an entry every PAUSE seconds; `busy` also replaces, reads and removes some. In a database each is a transaction over three tables,
and a lock is waited for for 1 s at most; the body file is written first. In a folder, files are written under another name and then renamed.
Prints "ready" once it has stored something. A line "pause" has it pause between two operations until the next line. When its input ends, it prints one JSON object: what it `stored` and `removed` (ids), its `operations`,
its `errors`, and its longest `waits` for a lock in seconds. Time in which it had no processor is no wait.
"""

import collections
import contextlib
import json
import os
import random
import select
import sqlite3
import sys
import time
import uuid

import worlds

SIZES = [30, 300, 2_000, 9_000, 30_000]
# How long CFNetwork waits for a lock: seconds.
PATIENCE = 1


def without_processor():
    """How long this process has waited for a processor so far: seconds."""
    try:
        with open("/proc/self/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except OSError:
        return 0


class App:
    def __init__(self, seed):
        self.choice, self.count, self.first = random.Random(seed), 0, os.getpid() * 100_000
        self.report = {"stored": [], "replaced": 0, "removed": [], "operations": 0, "errors": [], "waits": []}
        # The entries that it believes to have: URLs and ids.
        self.known = collections.OrderedDict()

    def new_entry(self, url=None):
        self.count += 1
        url = url or f"https://app.example/{self.first + self.count}"
        return worlds.Entry(url, worlds.body(self.count, self.choice.choice(SIZES)), stored=time.time())

    def operate(self, kind):
        dice = 0 if kind == "storing" or len(self.known) < 30 else self.choice.random()
        self.report["operations"] += 1
        url = self.choice.choice(list(self.known)) if self.known else None
        if dice < 0.5:
            self.store(self.new_entry())
        elif dice < 0.65:
            self.store(self.new_entry(url))
        elif dice < 0.8:
            self.read(url)
        else:
            self.remove(url)


class AppleApp(App):
    def __init__(self, path, seed):
        super().__init__(seed)
        self.cache, name = os.path.split(path)
        self.connection = worlds.connect(self.cache, name, timeout=0)
        # Waits of the disk are none of the lock.
        self.connection.execute("PRAGMA synchronous = OFF")
        self.longest = 0

    def do(self, statement, values=()):
        """Runs a statement; tries again for a while if the database is locked, as SQLite does for CFNetwork."""
        start, lost = None, 0
        while True:
            try:
                result = self.connection.execute(statement, values).fetchall()
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or start and time.monotonic() - start > PATIENCE:
                    raise
                if not start:
                    start, lost = time.monotonic(), without_processor()
                time.sleep(0.001)
        if start:
            self.waited += time.monotonic() - start - (without_processor() - lost)
        return result

    def transaction(self, work):
        """What a function returns that runs within a transaction; nothing if there was an error."""
        self.waited = 0
        try:
            self.do("BEGIN IMMEDIATE")
            result = work()
            self.do("COMMIT")
            return result
        except sqlite3.Error as error:
            self.report["errors"].append(f"{time.time():.3f} {error}")
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        finally:
            self.report["waits"].append(round(self.waited, 4))

    def row(self, url):
        rows = self.do(f"SELECT entry_ID, isDataOnFS, receiver_data FROM {worlds.RESPONSES} JOIN {worlds.BODIES} USING (entry_ID) "
                       "WHERE request_key = ?", (url,))
        return rows[0] if rows else None

    def file(self, row):
        return os.path.join(self.cache, "fsCachedData", row[2]) if row and row[1] else None

    def store(self, entry):
        if len(entry.body) >= worlds.FILE_LENGTH:
            entry.file = str(uuid.UUID(int=self.choice.getrandbits(128))).upper()
            worlds.write_body(self.cache, entry.file, entry.body)

        def work():
            old = self.row(entry.url)
            if not old:
                return worlds.insert(self.connection, self.cache, entry), None
            self.do(f"UPDATE {worlds.BLOBS} SET response_object = ? WHERE entry_ID = ?", (worlds.response_object(entry), old[0]))
            self.do(f"UPDATE {worlds.BODIES} SET isDataOnFS = ?, receiver_data = ? WHERE entry_ID = ?",
                    (int(entry.file is not None), entry.file or entry.body, old[0]))
            return old[0], old

        if done := self.transaction(work):
            number, old = done
            self.known[entry.url] = number
            if old:
                self.report["replaced"] += 1
                self.unlink(old)
            else:
                self.report["stored"].append(number)
        elif entry.file:
            self.unlink((0, 1, entry.file))

    def unlink(self, row):
        if file := self.file(row):
            # Of an entry that was replaced, the old file is an orphan, which others may remove.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(file)

    def read(self, url):
        row = self.transaction(lambda: self.row(url))
        # If a file is not there, the entry must have been removed meanwhile.
        if row and self.file(row) and not os.path.exists(self.file(row)) and self.transaction(lambda: self.row(url)) == row:
            self.report["errors"].append(f"{time.time():.3f} the body of entry {row[0]} is missing")

    def remove(self, url):
        def work():
            row = self.row(url)
            for table in worlds.TABLES if row else ():
                self.do(f"DELETE FROM {table} WHERE entry_ID = ?", row[:1])
            return row

        if row := self.transaction(work):
            self.report["removed"].append(row[0])
            self.unlink(row)
        self.known.pop(url, None)


class FoundationApp(App):
    def __init__(self, path, seed):
        super().__init__(seed)
        self.cache, self.longest = path, 0

    def file(self, name):
        return os.path.join(self.cache, name + worlds.SUFFIX)

    def store(self, entry):
        # The same URL in the same second would have the same name, and the app could not say which of them is there.
        if self.known.get(entry.url) == worlds.archive_name(entry):
            entry = self.new_entry()
        name, temporary = worlds.archive_name(entry), os.path.join(self.cache, f".dat.nosync{os.getpid():X}.{self.count:06}")
        with open(temporary, "xb") as file:
            file.write(worlds.archive(entry))
        os.rename(temporary, self.file(name))
        if entry.url in self.known:
            self.report["replaced"] += 1
            self.remove(entry.url)
        self.report["stored"].append(name)
        self.known[entry.url] = name

    def read(self, url):
        try:
            with open(self.file(self.known[url]), "rb") as file:
                worlds.plistlib.loads(file.read())
        except FileNotFoundError:
            pass

    def remove(self, url):
        name = self.known.pop(url)
        try:
            os.unlink(self.file(name))
            self.report["removed"].append(name)
        except FileNotFoundError:
            pass


def main():
    path, kind, seed, pause, user = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
    if user:
        # What is imported only when it is needed may be out of reach then.
        worlds.hash_value("")
        os.setgid(user)
        os.setuid(user)
    app = (FoundationApp if os.path.isdir(path) else AppleApp)(path, seed)
    app.operate(kind)
    print("ready", flush=True)
    # Without a buffer, in which `select` would not see a line that came together with another one.
    lines = open(0, "rb", buffering=0)
    while True:
        if select.select([lines], [], [], pause)[0]:
            if lines.readline() != b"pause\n":
                break
            print("paused", flush=True)
            lines.readline()
        app.operate(kind)
    app.report["waits"] = sorted(app.report["waits"])[-20:]
    print(json.dumps(app.report), flush=True)


if __name__ == "__main__":
    main()
