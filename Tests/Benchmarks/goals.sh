#!/bin/sh
# Measures everything that has a limit in goals.tsv, in one run.
#
#   sh Tests/Benchmarks/goals.sh [ENTRIES [ENTRIES]]     1,000,000, and 31,000 in web archives; needs 18 GB of disk for that
#
# Keeps and prints medians of three runs, or of more for what takes milliseconds. It takes about a quarter of an hour. Needs what
# web_archives.sh needs, and sqlite3.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-1000000}
packages="libarchive-tools sqlite3"
. Tests/Benchmarks/setup.sh
some=$((entries / 10))
columns=id,stored,status,mime,size,url

# Prints a command that may end with 1: it finds something, the caches differ, or entries are not fresh.
answer() {
  echo "sh -c '$tool $* || [ \$? -eq 1 ]'"
}

runs=100
table version "the program by itself" "\`sqlite3 -version\`" "sqlite3 -version" "\`bsdtar --version\`" "bsdtar --version" \
  "\`--version\`" "$tool --version"
runs=5

"$tool" sample --newest 2026-01-01T00:00:00Z --schema 203 --entries "$entries" --seed 1 --no-large-bodies "$folder/store"
database=$folder/store/Cache.db
title="$entries entries, schema 203, $(size "$folder/store")"
cat "$database" >/dev/null
list="$tool list --format csv"
query="SELECT r.entry_ID, time_stamp, request_key, length(receiver_data) FROM cfurl_cache_response r
  JOIN cfurl_cache_blob_data USING (entry_ID) JOIN cfurl_cache_receiver_data USING (entry_ID) ORDER BY r.entry_ID"
table goals-list "$title" \
  "\`sqlite3 -csv\`, without decoding: id, time, key, sizes in the three tables" "sqlite3 -csv $database '$query'" \
  "\`list --format csv\` with id, stored, status, mime, size, url" "$list --columns $columns -c $folder/store" \
  "\`list --sort -size --limit 20\`" "$tool list --sort=-size --limit 20 -c $folder/store" \
  "two of this \`sqlite3 -csv\` at the same time" \
  "sh -c 'for number in 1 2; do sqlite3 -csv $database \"$query\" >/dev/null & done; wait'"
runs=20
table goals-start "$title" \
  "\`sqlite3\` with \`LIMIT 50\`" "sqlite3 -csv $database '$query LIMIT 50'" \
  "\`list --limit 50\`" "$tool list --limit 50 -c $folder/store"
runs=3
memory "the plan of \`enforce\` for a tenth" enforce --dry-run --max-entries $((entries - some)) -c "$folder/store" >"$folder/memories"

table check "$title" "\`sqlite3\`: \`PRAGMA quick_check\`" "sqlite3 $database 'PRAGMA quick_check'" "\`check\`" "$(answer check -c "$folder/store")"
table check-full "$title" "\`sqlite3\`: \`PRAGMA integrity_check\`" "sqlite3 $database 'PRAGMA integrity_check'" \
  "\`check --full\`" "$(answer check --full -c "$folder/store")"

# The same pragmas and one transaction; the names of the body files go to rm.
cat >"$folder/oldest.sql" <<'END'
PRAGMA synchronous = EXTRA;
.output /dev/null
PRAGMA secure_delete = ON;
.output stdout
PRAGMA temp_store = MEMORY; BEGIN IMMEDIATE;
CREATE TEMP TABLE doomed(entry_ID INTEGER PRIMARY KEY);
INSERT INTO doomed SELECT entry_ID FROM cfurl_cache_response ORDER BY time_stamp
  LIMIT (SELECT count(*) / 10 FROM cfurl_cache_response);
SELECT receiver_data FROM cfurl_cache_receiver_data WHERE isDataOnFS AND entry_ID IN doomed;
DELETE FROM cfurl_cache_response WHERE entry_ID IN doomed;
DELETE FROM cfurl_cache_blob_data WHERE entry_ID IN doomed;
DELETE FROM cfurl_cache_receiver_data WHERE entry_ID IN doomed; COMMIT;
END
copy=$folder/copy
peer="cd $copy/fsCachedData && sqlite3 ../Cache.db <$folder/oldest.sql | xargs -r rm --"
prepare="sh -c 'rm -rf $copy; cp -r $folder/store $copy; sync -f $copy'"
table enforce "$title" \
  "\`sqlite3\` and \`rm\`: the oldest tenth" "sh -c '$peer'" \
  "\`enforce --max-entries … --no-verify\`" "$tool enforce --yes --no-verify --max-entries $((entries - some)) -c $copy"

# The copy becomes the same cache without its oldest tenth.
sh -c "rm -rf $copy; cp -r $folder/store $copy; $peer"
prepare=true
cat "$database" "$copy/Cache.db" >/dev/null
table diff "$title, and the same without its oldest tenth" \
  "\`list --format csv\` of both, one after the other" "sh -c '$list -c $folder/store && $list -c $copy'" \
  "\`diff\`" "$(answer diff "$folder/store" "$copy")" \
  "\`diff --by headers\`" "$(answer diff --by headers "$folder/store" "$copy")" \
  "\`diff\` of the cache with itself" "$tool diff $folder/store $database"
memory "\`diff\` of two caches" diff "$folder/store" "$copy" >>"$folder/memories"
record goals-memory "$title" peak_KiB <"$folder/memories"
rm -rf "$folder/store" "$copy"

# Single entries of archives of ten thousand, or of as many as there are in all.
count=$((entries < 10000 ? entries : 10000))
"$tool" sample --newest 2026-01-01T00:00:00Z --entries "$count" --seed 1 --no-large-bodies "$folder/store"
for ending in tar warc.gz; do
  archive=$folder/archive.$ending
  "$tool" export -c "$folder/store" -o "$archive" 2>/dev/null
  id=$("$tool" list "$archive" --columns id --format csv 2>/dev/null | tail -n $((count / 2)) | head -1)
  url=$("$tool" list "$archive" --columns url --format csv 2>/dev/null | tail -n $((count / 2)) | head -1)
  prepare="rm -rf $copy"
  table "archive-${ending%.gz}" "an archive of $count entries, $(size "$archive")" \
    "\`list --format csv\` of the $ending" "$list -c $archive" \
    "\`show --glob\` of the $ending" "$tool show -c $archive --glob *${url##*/}" \
    "\`explain --id\` of the $ending" "$(answer explain -c "$archive" --id "$id")" \
    "\`diff\` of the $ending with the cache" "$(answer diff "$archive" "$folder/store")" \
    "\`import --id\` of the $ending" "$tool import --any-method --create apple -c $copy $archive --id $id"
done

TOOL=$tool RUNS=3 WARMUP=0 sh Tests/Benchmarks/web_archives.sh "${2-31000}"

# Where bodies are most of a cache. Last, because imports are slow for minutes after so many files were removed.
prepare=true
rm -rf "$folder/store" "$copy"
"$tool" sample --newest 2026-01-01T00:00:00Z --entries "${2-31000}" --seed 1 "$folder/store"
cp -r "$folder/store" "$copy"
sync -f "$folder"
table diff-bodies "${2-31000} entries, $(size "$copy"), and a copy" \
  "\`sqlite3\` and \`cat\`: all bodies of both" "sh -c 'set -e; for cache in $folder/store $copy; do
    sqlite3 \$cache/Cache.db \"SELECT max(substr(receiver_data, -1)) FROM cfurl_cache_receiver_data\"
    find \$cache/fsCachedData -type f -exec cat {} +; done'" \
  "\`diff\`" "$tool diff $folder/store $copy/Cache.db"
