#!/bin/sh
# Measures what finds and overwrites the remains of removed entries against `cat`, and against the same removal by sqlite3 with a VACUUM, in one run.
#
#   sh Tests/Benchmarks/remains.sh [ENTRIES]     1,000,000 unless said; needs 12 GB of disk for that
#
# sqlite3 gets the same pragmas and one transaction, on copies of the same cache. Keeps and prints medians, and their
# ratio to the first line of each table. Needs hyperfine, sqlite3 and python3, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-1000000}
packages=sqlite3
. Tests/Benchmarks/setup.sh
runs=3

"$tool" sample --newest 2026-01-01T00:00:00Z --schema 202 --entries "$entries" --seed 1 --no-large-bodies "$folder/store"
database=$folder/store/Cache.db
some=$((entries / 10))
time=$(sqlite3 "$database" "SELECT time_stamp FROM cfurl_cache_response ORDER BY time_stamp LIMIT 1 OFFSET $some")
moment=$(echo "$time" | tr ' ' 'T')Z
removal="BEGIN IMMEDIATE;
  CREATE TEMP TABLE doomed(entry_ID INTEGER PRIMARY KEY);
  INSERT INTO doomed SELECT entry_ID FROM cfurl_cache_response WHERE time_stamp < '$time';
  DELETE FROM cfurl_cache_response WHERE entry_ID IN doomed;
  DELETE FROM cfurl_cache_blob_data WHERE entry_ID IN doomed;
  DELETE FROM cfurl_cache_receiver_data WHERE entry_ID IN doomed; COMMIT;"
durable="PRAGMA synchronous = EXTRA; PRAGMA secure_delete = ON;"
echo "$durable PRAGMA temp_store = MEMORY; $removal PRAGMA temp_store = FILE; VACUUM;" >"$folder/vacuum.sql"

# Each run begins with a copy of the cache that is on the disk.
copy=$folder/copy
copying="rm -rf $copy; cp -r $folder/store $copy; sync -f $copy"
prepare="sh -c '$copying'"
purge="$tool purge --yes -c $copy --stored-before $moment --age-basis first-stored"
table remains "the oldest tenth of $entries entries, schema 202, $(size "$database")" \
  "\`purge\`, and then \`VACUUM\` by \`sqlite3\`" "sh -c '$purge && sqlite3 $copy/Cache.db \"$durable VACUUM\"'" \
  "\`purge --secure --no-verify\`" "$purge --secure --no-verify" \
  "removal and \`VACUUM\` by \`sqlite3\`" "sh -c 'sqlite3 $copy/Cache.db <$folder/vacuum.sql'" \
  "\`compact --secure --no-verify\`" "$tool compact --secure --no-verify -c $copy"
sh -c "$copying"
memory "\`purge --secure\` of the oldest tenth" purge --yes --secure --no-verify --stored-before "$moment" --age-basis first-stored -c "$copy" |
  record remains-memory "$entries entries, schema 202" peak_KiB

# Removed without traces outside the log and the gaps, as `purge` does, and as an app does.
prepare=true
sh -c "$copying"
$purge 2>/dev/null >/dev/null
table recover "$((entries - some)) entries, schema 202, a database of $(size "$copy/Cache.db"); $some more purged by this tool" \
  "\`cat Cache.db >/dev/null\`" "cat $copy/Cache.db" \
  "\`recover\`" "$tool recover -c $copy"
{
  memory "\`recover\` where nothing is left" recover -c "$copy"
  sh -c "$copying"
  sqlite3 "$copy/Cache.db" "PRAGMA secure_delete = OFF; $removal" >/dev/null
  memory "\`recover\` after a removal by \`sqlite3\`" recover -c "$copy"
} | record recover-memory "$entries entries, schema 202" peak_KiB
count=$("$tool" recover -c "$copy" --format urls 2>/dev/null | wc -l)
table recover-entries "the same after a removal by \`sqlite3\`; \`recover\` finds $count URLs" \
  "\`cat Cache.db >/dev/null\`" "cat $copy/Cache.db" \
  "\`recover\`" "$tool recover -c $copy"
