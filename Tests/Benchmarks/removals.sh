#!/bin/sh
# Measures what removes entries against the same work done by sqlite3 and rm, in one run.
#
#   sh Tests/Benchmarks/removals.sh [ENTRIES]     1,000,000 unless said; needs 10 GB of disk for that
#
# sqlite3 gets the same pragmas and one transaction, on copies of the same cache. Prints medians, and their
# ratio to the first line of each table. Needs hyperfine, sqlite3 and python3, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-1000000}
packages="sqlite3"
. Tests/Benchmarks/setup.sh
runs=3

"$maker" --schema 202 --entries "$entries" --seed 1 --no-large-bodies "$folder/store"
database=$folder/store/Cache.db
some=$((entries / 10))
# The newest of the oldest tenth, and as many URLs from all over the cache.
time=$(sqlite3 "$database" "SELECT time_stamp FROM cfurl_cache_response ORDER BY time_stamp LIMIT 1 OFFSET $some")
sqlite3 "$database" "SELECT request_key FROM cfurl_cache_response WHERE entry_ID % 10 = 3" >"$folder/urls"

durable="PRAGMA synchronous = EXTRA; PRAGMA secure_delete = ON;"
pragmas="$durable PRAGMA temp_store = MEMORY;"
removal="DELETE FROM cfurl_cache_response WHERE entry_ID IN doomed;
  DELETE FROM cfurl_cache_blob_data WHERE entry_ID IN doomed;
  DELETE FROM cfurl_cache_receiver_data WHERE entry_ID IN doomed; COMMIT;"
cat >"$folder/oldest.sql" <<END
$pragmas BEGIN IMMEDIATE;
CREATE TEMP TABLE doomed(entry_ID INTEGER PRIMARY KEY);
INSERT INTO doomed SELECT entry_ID FROM cfurl_cache_response WHERE time_stamp < '$time';
$removal
END
cat >"$folder/urls.sql" <<END
$pragmas
CREATE TEMP TABLE urls(url TEXT PRIMARY KEY);
.mode list
.import $folder/urls urls
BEGIN IMMEDIATE;
CREATE TEMP TABLE doomed(entry_ID INTEGER PRIMARY KEY);
INSERT INTO doomed SELECT entry_ID FROM cfurl_cache_response WHERE request_key IN urls;
$removal
END

copy=$folder/copy
# Makes each run begin with a copy of a cache that is on the disk.
copying() {
  prepare="sh -c '$(copying_once "$1")'"
}
copying_once() {
  echo "rm -rf $copy; cp -r $1 $copy; sync -f $copy"
}

copying "$folder/store"
moment=$(echo "$time" | tr ' ' 'T')Z
purge="$tool purge --yes -c $copy"
table "the oldest $some of $entries entries, $(du -h "$database" | cut -f1)" \
  "sh -c 'sqlite3 $copy/Cache.db <$folder/oldest.sql'" \
  "$purge --no-verify --stored-before $moment --age-basis first-stored" \
  "$purge --stored-before $moment --age-basis first-stored"
table "$(wc -l <"$folder/urls") URLs of a list" \
  "sh -c 'sqlite3 $copy/Cache.db <$folder/urls.sql'" "$purge --no-verify --url-file $folder/urls"

for part in "a tenth:entry_ID % 10 = 3" "nine tenths:entry_ID % 10 < 9"; do
  rm -rf "$folder/purged"
  cp -r "$folder/store" "$folder/purged"
  sqlite3 "$folder/purged/Cache.db" "BEGIN;
    CREATE TEMP TABLE doomed AS SELECT entry_ID FROM cfurl_cache_response WHERE ${part#*:}; $removal"
  copying "$folder/purged"
  table "giving back the space of ${part%%:*}" \
    "sqlite3 $copy/Cache.db '$durable VACUUM'" \
    "sqlite3 $copy/Cache.db '$pragmas PRAGMA incremental_vacuum'" \
    "$tool compact --no-verify -c $copy"
done
rm -rf "$folder/purged" "$copy"

prepare=true
table "a plan of all $entries entries" "$tool list --format csv -c $folder/store" \
  "$tool purge --all --dry-run -c $folder/store" "$tool purge --older-than 1s --dry-run -c $folder/store"

echo "peak memory"
memory "plan of all" purge --all --dry-run -c "$folder/store"
sh -c "$(copying_once "$folder/store")"
memory "purge of the oldest tenth" purge --yes --no-verify --stored-before "$moment" -c "$copy"
memory "compact" compact --no-verify -c "$copy"
rm -rf "$copy" "$folder/store"

# Bodies in files: what rm does with as many files, and a purge with and without them.
"$maker" --entries $((some * 175 / 100)) --seed 1 "$folder/store"
find "$folder/store/fsCachedData" -type f -exec truncate -s 1000 {} +
count=$(find "$folder/store/fsCachedData" -type f | wc -l)
cp -r "$folder/store" "$folder/empty"
find "$folder/empty/fsCachedData" -type f -delete
copying "$folder/store"
table "$count body files" \
  "sh -c 'find $copy/fsCachedData -type f -print0 | xargs -0 rm'" "$purge --no-verify --all"
copying "$folder/empty"
table "the same entries without their files" "$purge --no-verify --all"
