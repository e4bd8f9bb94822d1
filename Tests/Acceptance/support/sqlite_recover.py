"""Runs `.recover` of sqlite3, and reads what it finds."""

import collections
import plistlib
import sqlite3
import subprocess

import histories

LOST = ["rootpgno", "pgno", "nfield", "id", *(f"c{number}" for number in range(20))]


def found(program, database):
    """The URL, the time, the property list and the id of each response; and the bodies of each id."""
    text = subprocess.run([program, database, ".recover"], capture_output=True, timeout=60).stdout
    responses, bodies = [], collections.defaultdict(set)
    connection = sqlite3.connect(":memory:")
    for line in text.split(b"\n"):
        # Each row is one statement on a line of its own, whatever is wrong with the others.
        if not line.startswith(b"INSERT") or b"sqlite_master" in line:
            continue
        try:
            name, values = line.split(b"INTO ", 1)[1].split(b"VALUES", 1)
            name, _, columns = name.partition(b"(")
            # Only the rows without a table are without names.
            names = [column.strip("')\" ") for column in columns.decode().split(",")] if columns else LOST
            row = dict(zip(names, connection.execute(f"VALUES{values.decode().rstrip(';')}").fetchone()))
        except (sqlite3.Error, UnicodeDecodeError, IndexError, TypeError, ValueError):
            continue
        number = row.get("entry_ID", row.get("id"))
        if b"receiver_data" in name:
            bodies[number].add(row["receiver_data"])
        elif b"blob_data" in name:
            responses.append((number, row["response_object"]))
        elif b"lost_and_found" in name:
            responses.append((number, row.get("c1")))
            bodies[number].update([row.get("c1"), row.get("c2")])
    entries = []
    for number, response in responses:
        try:
            array = plistlib.loads(response)["Array"]
            entries.append((array[0]["_CFURLString"], int(array[1] + histories.EPOCH), response, number))
        except Exception:  # no property list of a response
            continue
    return entries, bodies
