"""Makes the databases that SQLitePagesTests read, with the SQLite of this machine.

    python3 make_databases.py FOLDER

The row with id N of the table `t` has the number N * 1000003 in one column and, in another, a BLOB whose length and bytes follow
from N, so that a test can tell whether a row that it finds is one that was written.
"""

import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])


def length(number, size):
    return [0, 10, 200, size // 2, size, 3 * size + 7][number % 6]


def content(number, size):
    return bytes((number * 7 + index * (number % 5 + 1)) % 251 for index in range(length(number, size)))


def opened(name, size, vacuum=0, reserved=0, encoding="UTF-8", journal="DELETE"):
    path = folder / name
    setup = f"PRAGMA synchronous=OFF; PRAGMA page_size={size}; PRAGMA auto_vacuum={vacuum}; PRAGMA encoding='{encoding}'; CREATE TABLE a(b); DROP TABLE a;"
    subprocess.run(["sqlite3", path, f".filectrl reserve_bytes {reserved}", setup, "VACUUM;"], check=True, stdout=subprocess.DEVNULL)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA secure_delete=OFF")
    database.execute("PRAGMA synchronous=OFF")
    database.execute(f"PRAGMA journal_mode={journal}").fetchone()
    database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, number INTEGER, content BLOB)")
    database.execute("CREATE INDEX i ON t(number)")
    return database


def fill(database, size, numbers):
    database.execute("BEGIN")
    database.executemany("INSERT INTO t VALUES (?, ?, ?)", ((n, n * 1000003, content(n, size)) for n in numbers))
    database.execute("COMMIT")


# Databases with removed rows, of each page size and kind of vacuum.
for size in [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]:
    for vacuum in [0, 1, 2]:
        # With 32 of 512 bytes reserved, a page is as small as it can be.
        for reserved in [0, 32] if vacuum == 2 else [0]:
            database = opened(f"plain-{size}-{vacuum}-{reserved}.db", size, vacuum, reserved)
            fill(database, size, range(1, 181 if size <= 4096 else 61))
            database.execute("DELETE FROM t WHERE id % 3 = 0 OR id BETWEEN 30 AND 40 OR id BETWEEN 70 AND 110")
            database.close()
for encoding in ["UTF-16le", "UTF-16be"]:
    opened(f"{encoding}.db", 4096, encoding=encoding).close()

# A log with a second generation that is shorter than the first, as a killed process leaves it.
database = opened("log.db", 1024, journal="WAL")
database.execute("PRAGMA wal_autocheckpoint=0")
for start in range(1, 61, 6):
    fill(database, 1024, range(start, start + 6))
database.execute("PRAGMA wal_checkpoint(RESTART)")
fill(database, 1024, range(100, 103))
for name in ["log.db", "log.db-wal"]:
    shutil.copy(folder / name, folder / name.replace("log", "killed"))
(folder / "log-frames").write_text(str(database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]))
database.close()

# Journals: one that a killed process leaves, and one whose transaction has ended.
database = opened("journal.db", 1024)
fill(database, 1024, range(1, 301))
shutil.copy(folder / "journal.db", folder / "before.db")
database.execute("PRAGMA cache_size=2")
database.execute("PRAGMA journal_mode=PERSIST").fetchone()
database.execute("BEGIN")
database.execute("UPDATE t SET number = number + 1")
for name in ["journal.db", "journal.db-journal"]:
    shutil.copy(folder / name, folder / name.replace("journal.", "hot."))
database.execute("COMMIT")
database.close()
database.close()

# A journal that was written again by shorter transactions, with the database before each of them.
database = opened("kept.db", 1024, journal="PERSIST")
fill(database, 1024, range(1, 301))
for number, rows in enumerate(["id < 200", "id < 40", "id = 7"]):
    shutil.copy(folder / "kept.db", folder / f"kept-{number}.db")
    database.execute(f"UPDATE t SET number = number + 1 WHERE {rows}")
database.close()
