-- What is in the caches of many machines. Every engine runs these queries unchanged: fleet_sqlite.py, fleet_duckdb.py
-- and fleet_spark.py make the table
--
--   entries (machine, cache, host, mime, status, size, stored, freshness)
--
-- of the inventories of one day. A size or a host that is not known is NULL.

-- Which hosts fill the disks?
SELECT
  COALESCE(host, '') AS host,
  COUNT(DISTINCT machine) AS machines,
  COUNT(*) AS entries,
  COALESCE(SUM(size), 0) AS bytes,
  COALESCE(SUM(CASE WHEN freshness = 'stale' THEN size END), 0) AS stale_bytes
FROM entries
GROUP BY COALESCE(host, '')
ORDER BY bytes DESC, host;

-- Which caches are the largest, and how much of each is still fresh?
SELECT
  machine,
  cache,
  COUNT(*) AS entries,
  COALESCE(SUM(size), 0) AS bytes,
  COALESCE(SUM(CASE WHEN freshness = 'fresh' THEN size END), 0) AS fresh_bytes,
  MIN(stored) AS oldest
FROM entries
GROUP BY machine, cache
ORDER BY bytes DESC, machine, cache;
