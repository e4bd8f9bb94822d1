"""What `enforce` has to remove for a limit, computed from the rows alone: an implementation that shares nothing with the program.

*In use* is a sum over entries, which nobody else can change: the share of each entry, one page for each table and index, and orphans past the grace
period. The *share* of an entry is what its rows and index cells take of pages, and its body file, if it is the last one in the order of removal that
names it. A row that fits k times into a page takes 1/k page; a longer one has pages of its own besides. In a Foundation cache, in use is the
length of the files.
"""

import os
import plistlib
import sqlite3
import time

import worlds


def varint(number):
    """The length of a number as SQLite writes it in records and cells."""
    return next((count for count in range(1, 9) if number < 1 << 7 * count), 9)


def kind(value):
    """The serial type of a value, and the length of its content."""
    if value is None:
        return 0, 0
    if isinstance(value, int):
        if value in (0, 1):
            return 8 + value, 0
        size = next(size for size in (1, 2, 3, 4, 6, 8) if -(1 << 8 * size - 1) <= value < 1 << 8 * size - 1)
        return {1: 1, 2: 2, 3: 3, 4: 4, 6: 5, 8: 6}[size], size
    if isinstance(value, float):
        return 7, 8
    length = len(value.encode() if isinstance(value, str) else value)
    return 2 * length + (13 if isinstance(value, str) else 12), length


def record(values):
    """The length of a record: its header, which begins with its own length, and its values."""
    kinds = [kind(value) for value in values]
    header = sum(varint(serial) for serial, _ in kinds)
    header += 1 if header < 127 else 2
    return header + sum(length for _, length in kinds)


def pages(payload, head, limit, page):
    """What part of pages a cell takes: `head` bytes before its payload, of which at most `limit` bytes lie in the page of the cell."""
    local, rest = payload, 0
    if payload > limit:
        least = (page - 12) * 32 // 255 - 23
        local = least + (payload - least) % (page - 4)
        local = local if local <= limit else least
        rest = -(-(payload - local) // (page - 4))
        head += 4
    return 1 / ((page - 8) // (head + local + 2)) + rest


class Limits:
    """The entries of a cache in the order of removal, the oldest first, with their shares in bytes."""

    def __init__(self, cache, name="Cache.db", kept=(), live=False, now=None, grace=worlds.GRACE):
        self.cache, self.name, self.kept = cache, name, set(kept)
        now = now or time.time()
        if worlds.is_foundation(cache, name):
            self.base, self.orphans, self.files = 0, 0, {}
            self.shares = {entry: len(data) for entry, data in worlds.contents(cache).items()}
            # The time in the name decides; of two in the same second, the name does.
            self.stored = {entry: int(entry.split(".")[0]) for entry in self.shares}
        else:
            self.read_database(live, now - grace)
        self.order = sorted((entry for entry in self.shares if entry not in self.kept), key=lambda entry: (self.stored[entry], entry))

    def read_database(self, live, young):
        responses, blobs, bodies = worlds.tables(self.cache, self.name, live)
        with worlds.reading(self.cache, self.name, live) as connection:
            (page,), = connection.execute("PRAGMA page_size")
            (objects,), = connection.execute("SELECT count(*) FROM sqlite_master WHERE rootpage > 0")
            indexes = {table: self.indexes(connection, table) for table in worlds.TABLES}
        self.base, self.shares = (1 + objects) * page, dict.fromkeys(responses, 0)
        for table, rows in zip(worlds.TABLES, (responses, blobs, bodies)):
            for number, row in rows.items():
                # The number is the key of the row, and not in its record.
                size = record([None, *row[1:]])
                share = pages(size, varint(size) + varint(number), page - 35, page)
                for columns in indexes[table]:
                    size = record([row[column] for column in columns] + [number])
                    share += pages(size, varint(size), (page - 12) * 64 // 255 - 23, page)
                self.shares[number] += share * page
        self.stored = {number: plistlib.loads(row[1])["Array"][1] for number, row in blobs.items()}
        folder, self.files = os.path.join(self.cache, "fsCachedData"), {}
        for number, row in bodies.items():
            if file := worlds.file_of(row):
                self.files[number] = file
        lengths = {entry.name: entry.stat(follow_symlinks=False) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)} if os.path.isdir(folder) else {}
        others, is_known = set(), True
        for other in worlds.databases(self.cache):
            try:
                others |= worlds.files_of(self.cache, other) if other != self.name else set()
            except sqlite3.DatabaseError:
                is_known = False
        self.lengths = {file: status.st_size for file, status in lengths.items() if file not in others}
        own = set(self.files.values())
        # What cannot be read beside this database may name any file, and so none of them would be returned.
        if not is_known:
            self.lengths = {}
        self.orphans = sum(size for file, size in self.lengths.items()
                           if worlds.is_body_name(file) and file not in own and lengths[file].st_mtime < young)

    @staticmethod
    def indexes(connection, table):
        """The numbers of the columns of each index of a table."""
        names = [row[1] for row in connection.execute(f"PRAGMA index_list({table})")]
        return [[row[1] for row in connection.execute(f"PRAGMA index_info({name.decode()})")] for name in names]

    def in_use(self, removed=(), orphans=True):
        """What is in use once some entries are removed: bytes. Each body file counts once."""
        left = [entry for entry in self.shares if entry not in removed]
        files = {self.files[entry] for entry in left if entry in self.files}
        return self.base + orphans * self.orphans + sum(self.shares[entry] for entry in left) + sum(self.lengths.get(file, 0) for file in files)

    def removed(self, limit):
        """The entries that have to go, the oldest first: none if all that may go is not enough. Orphans go before any entry."""
        if self.in_use() > limit:
            for count in range(len(self.order) + 1):
                if self.in_use(self.order[:count], orphans=False) <= limit:
                    return self.order[:count]
        return []

    def between(self, count):
        """A limit for which as many entries have to go, at least one, which does not depend on single bytes."""
        return round(sum(self.in_use(self.order[:some], orphans=False) for some in (count - 1, count)) / 2)
