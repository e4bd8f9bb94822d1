"""Prints the property lists of responses that sqlite-dissect finds in a database, its log and its journal, as hexadecimal digits.

    python3 dissected.py Cache.db

What stops sqlite-dissect is on standard error; what it found before counts all the same.
"""

import os
import sys
import tempfile

import sqlite_dissect.entrypoint
from sqlite_dissect.export.csv_export import CommitCsvExporter

found = set()


def collect(writer, file_type, encoding, page_type, cells, operation):
    """Takes the place of what writes the cells to a file, which fails at an empty BLOB."""
    for cell in cells:
        found.update(bytes(column.value) for column in cell.payload.record_columns
                     if isinstance(column.value, (bytes, bytearray)) and column.value.startswith(b"bplist00"))


CommitCsvExporter._write_cells = staticmethod(collect)
path = sys.argv[1]
with tempfile.TemporaryDirectory() as folder:
    # Only one table: it stops at others that have one BLOB, and then shows nothing.
    words = [path, "-d", folder, "-e", "csv", "-c", "-f", "-k", "-l", "off", "-b", "cfurl_cache_blob_data"]
    for option, suffix in ("-w", "-wal"), ("-j", "-journal"):
        if os.path.exists(path + suffix) and os.path.getsize(path + suffix):
            words += [option, path + suffix]
    sys.argv = ["sqlite_dissect", *words]
    try:
        sqlite_dissect.entrypoint.cli()
    except (Exception, SystemExit) as error:  # it fails at some databases, each time with another error
        print("stopped:", repr(error), file=sys.stderr)
for value in sorted(found):
    print(value.hex())
