#!/bin/sh
# Measures urlcache-admin against sqlite3 and Python on the same made-up cache, in one run.
#
#   sh Tests/Benchmarks/run.sh [ENTRIES]     1,000,000 unless said; needs 7 GB of disk for that
#
# Keeps and prints medians, and their ratio to the first line of each table. Needs hyperfine, sqlite3 and
# python3, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-1000000}
packages=sqlite3
. Tests/Benchmarks/setup.sh

# A store of schema 202 has rows as they were before header fields were kept twice.
"$tool" sample --newest 2026-01-01T00:00:00Z --schema 202 --entries "$entries" --seed 1 --no-large-bodies "$folder/large"
"$tool" sample --newest 2026-01-01T00:00:00Z --schema 203 --entries "$entries" --seed 1 --no-large-bodies "$folder/wide"
"$tool" sample --newest 2026-01-01T00:00:00Z --schema 202 --entries 10000 --seed 1 --no-large-bodies "$folder/small"

columns=id,stored,status,mime,size,url
# The same rows of the same tables, in the same order.
sql='SELECT r.entry_ID, time_stamp, request_key, length(receiver_data) FROM cfurl_cache_response r
     JOIN cfurl_cache_blob_data USING (entry_ID) JOIN cfurl_cache_receiver_data USING (entry_ID)
     ORDER BY r.entry_ID'
list="$tool list --columns $columns"
peer="\`sqlite3 -csv\`, without decoding: id, time, key, sizes in the three tables"
csv="\`list --format csv\` with id, stored, status, mime, size, url"

cat "$folder/wide/Cache.db" >/dev/null
table list-203 "$entries entries, schema 203, $(size "$folder/wide")" \
  "$peer" "sqlite3 -csv $folder/wide/Cache.db '$sql'" \
  "$csv" "$list --format csv -c $folder/wide" \
  "\`usage --by host\`" "$tool usage -c $folder/wide --by host"
cat "$folder/large/Cache.db" >/dev/null
table list-202 "$entries entries, schema 202, $(size "$folder/large")" \
  "$peer" "sqlite3 -csv $folder/large/Cache.db '$sql'" \
  "$csv" "$list --format csv -c $folder/large" \
  "the same with \`freshness\`" "$list,freshness --format csv -c $folder/large" \
  "\`usage --by host\`" "$tool usage -c $folder/large --by host" \
  "\`report\`" "$tool report -c $folder/large -o $folder/report.html --force"
table list-ndjson "$entries entries, schema 202" \
  "\`list --format csv\`" "$list --format csv -c $folder/large" \
  "\`list --format ndjson\`" "$list --format ndjson -c $folder/large"
# It ends with 1, as not all is fresh.
table explain "$entries entries, schema 202" \
  "\`explain --all --format ndjson\`" "sh -c '$tool explain --all --format ndjson -c $folder/large || [ \$? -eq 1 ]'"
table start "the first entries of $entries" \
  "\`sqlite3\` with \`LIMIT 50\`" "sqlite3 -csv $folder/large/Cache.db '$sql LIMIT 50'" \
  "\`list --limit 50\`" "$tool list -c $folder/large --limit 50"
runs=2
table list-python "$entries entries, schema 202" \
  "\`list --format csv\`" "$list --format csv -c $folder/large" \
  "Python with \`sqlite3\` and \`plistlib\`" "python3 Tests/Benchmarks/list_with_plistlib.py $folder/large/Cache.db"

for size in small large; do
  count=10000
  [ "$size" = small ] || count=$entries
  memory "\`list\` of $count entries" list -c "$folder/$size" --columns $columns --format csv
done | record list-memory "schema 202" peak_KiB

sh Tests/Benchmarks/decode.sh "$((entries < 100000 ? entries : 100000))"
