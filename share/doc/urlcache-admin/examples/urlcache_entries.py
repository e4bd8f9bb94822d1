#!/usr/bin/env python3
"""Prints a table about caches as 'osqueryi --json' does: an array of rows whose values are strings.

    urlcache_entries.py CACHE...

One row for each cache and host: cache, host, entries, bytes, stale, newest. Unlike osquery, which only sees the tables of a Cache.db,
it also reports freshness and the sizes of body files, and reads every kind of cache. Exits with the status of the first cache that
cannot be read.
"""

import json
import subprocess
import sys

SQL = """SELECT coalesce(host, '') AS host, count(*) AS entries, coalesce(sum(size), 0) AS bytes,
  sum(freshness IS 'stale') AS stale, coalesce(max(stored), '') AS newest
FROM entries GROUP BY 1 ORDER BY bytes DESC, host"""


def rows(cache):
    """The rows of one cache."""
    result = subprocess.run(["urlcache-admin", "query", "-c", cache, "--json", SQL], stdout=subprocess.PIPE)
    if result.returncode != 0:
        sys.exit(result.returncode)
    return [{"cache": cache} | {name: str(value) for name, value in row.items()} for row in json.loads(result.stdout)["rows"]]


print("[" + ",\n".join(json.dumps(row, ensure_ascii=False) for cache in sys.argv[1:] for row in rows(cache)) + "]")
