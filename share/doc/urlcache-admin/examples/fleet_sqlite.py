"""Runs the queries of fleet.sql on the inventories of one day. Needs only Python.

    python3 fleet_sqlite.py FOLDER/day=DAY

Writes a table in CSV for each question.
"""

import csv, glob, gzip, json, os, sqlite3, sys

COLUMNS = ["host", "mime", "status", "size", "stored", "freshness"]


def rows(day):
    for path in glob.iglob(os.path.join(glob.escape(day), "cache=*", "*.ndjson.gz")):
        cache = os.path.basename(os.path.dirname(path)).removeprefix("cache=")
        machine = os.path.basename(path).removesuffix(".ndjson.gz")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for entry in map(json.loads, lines):
                yield machine, cache, *(entry[column] for column in COLUMNS)


# A database without a name is a temporary file, so it is not kept in memory.
database = sqlite3.connect("")
database.execute("CREATE TABLE entries (machine, cache, host, mime, status, size, stored, freshness)")
database.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows(sys.argv[1]))
with open(os.path.join(os.path.dirname(__file__), "fleet.sql"), encoding="utf-8") as file:
    questions = file.read().split(";")[:-1]
output = csv.writer(sys.stdout, lineterminator="\n")
for question in questions:
    answer = database.execute(question)
    output.writerow(column[0] for column in answer.description)
    output.writerows(answer)
