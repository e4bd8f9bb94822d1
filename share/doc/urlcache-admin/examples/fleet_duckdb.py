"""Runs the queries of fleet.sql on the inventories of one day, with DuckDB (pip install duckdb).

    python3 fleet_duckdb.py FOLDER/day=DAY [PARQUET]

Writes a table in CSV for each question, and all entries to the file PARQUET if it is given, for other questions.
"""

import csv, os, sys

import duckdb

# The columns are named, so that no file is read twice. 'union_by_name' would keep a buffer for each file.
duckdb.execute("""
    CREATE TABLE entries AS
    SELECT regexp_extract(filename, '([^/]+)\\.ndjson\\.gz$', 1) AS machine, cache, host, mime, status, size, stored, freshness
    FROM read_json($files, format = 'newline_delimited', filename = true, hive_partitioning = true,
                   hive_types = {'cache': 'VARCHAR'},
                   columns = {host: 'VARCHAR', mime: 'VARCHAR', status: 'INTEGER', size: 'BIGINT', stored: 'VARCHAR',
                              freshness: 'VARCHAR'})
""", {"files": os.path.join(sys.argv[1], "cache=*", "*.ndjson.gz")})
if len(sys.argv) > 2:
    duckdb.table("entries").write_parquet(sys.argv[2], compression="zstd")
with open(os.path.join(os.path.dirname(__file__), "fleet.sql"), encoding="utf-8") as file:
    questions = file.read().split(";")[:-1]
output = csv.writer(sys.stdout, lineterminator="\n")
for question in questions:
    answer = duckdb.execute(question)
    output.writerow(column[0] for column in answer.description)
    output.writerows(answer.fetchall())
