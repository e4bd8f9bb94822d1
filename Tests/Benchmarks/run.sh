#!/bin/sh
# Measures urlcache-admin against sqlite3 and Python on the same made-up cache, in one run.
#
#   sh Tests/Benchmarks/run.sh [ENTRIES]     1,000,000 unless said; needs 7 GB of disk for that
#
# Prints medians, and their ratio to the first line of each table. Needs hyperfine, sqlite3 and
# python3, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-1000000}
packages=sqlite3
. Tests/Benchmarks/setup.sh

# A store of schema 202 has rows as they were before header fields were kept twice.
"$maker" --schema 202 --entries "$entries" --seed 1 --no-large-bodies "$folder/large"
"$maker" --schema 203 --entries "$entries" --seed 1 --no-large-bodies "$folder/wide"
"$maker" --schema 202 --entries 10000 --seed 1 --no-large-bodies "$folder/small"

columns=id,stored,status,mime,size,url
# The same rows of the same tables, in the same order.
sql='SELECT r.entry_ID, time_stamp, request_key, length(receiver_data) FROM cfurl_cache_response r
     JOIN cfurl_cache_blob_data USING (entry_ID) JOIN cfurl_cache_receiver_data USING (entry_ID)
     ORDER BY r.entry_ID'
list="$tool list -c $folder/large --columns $columns"

# Prints how long a list takes beside sqlite3, which decodes nothing, of a cache in the page cache.
lists() {
  cat "$folder/$1/Cache.db" >/dev/null
  table "$entries entries, $(du -h "$folder/$1/Cache.db" | cut -f1), schema $2" \
    "sqlite3 -csv $folder/$1/Cache.db '$sql'" \
    "$tool list -c $folder/$1 --columns $columns --format csv" \
    "$tool list -c $folder/$1 --columns $columns --format ndjson" \
    "$tool usage -c $folder/$1 --by host"
}

lists wide 203
lists large 202
table "freshness" "$list --format csv" "$tool list -c $folder/large --columns $columns,freshness --format csv"
# It ends with 1, as not all is fresh.
table "explain --all" "sh -c '$tool explain --all --format ndjson -c $folder/large || [ \$? -eq 1 ]'"
table "report" "$tool usage -c $folder/large --by host" "$tool report -c $folder/large -o $folder/report.html --force"
table "list --limit 50, --version" "$tool list -c $folder/large --limit 50" "$tool --version"
runs=2
table "Python with plistlib, $entries entries" "$list --format csv" \
  "python3 Tests/Benchmarks/list_with_plistlib.py $folder/large/Cache.db"

echo "peak memory"
for size in small large; do
  memory "list, $size" list -c "$folder/$size" --columns $columns --format csv
done

sh Tests/Benchmarks/decode.sh
