#!/bin/sh
# Measures what removes entries against the same work done by sqlite3 and rm, in one run.
#
#   sh Tests/Benchmarks/removals.sh [ENTRIES]     1,000,000 unless said; needs 10 GB of disk for that
#
# sqlite3 gets the same pragmas and one transaction, on copies of the same cache. Keeps and prints medians, and their
# ratio to the first line of each table. Needs hyperfine, sqlite3 and python3, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-1000000}
packages="sqlite3"
. Tests/Benchmarks/setup.sh
runs=3

"$tool" sample --newest 2026-01-01T00:00:00Z --schema 202 --entries "$entries" --seed 1 --no-large-bodies "$folder/store"
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
title="$entries entries, schema 202, $(size "$folder/store")"
# Figures of another number of entries are kept beside those of a million.
more=
[ "$entries" = 1000000 ] || more=-$entries
table "removals-oldest$more" "$title" \
  "\`sqlite3\`: the oldest tenth" "sh -c 'sqlite3 $copy/Cache.db <$folder/oldest.sql'" \
  "\`purge --stored-before … --no-verify\` of the same" "$purge --no-verify --stored-before $moment --age-basis first-stored" \
  "the same with the check of the database" "$purge --stored-before $moment --age-basis first-stored"
table "removals-urls$more" "$title" \
  "\`sqlite3\`: $some URLs of a list" "sh -c 'sqlite3 $copy/Cache.db <$folder/urls.sql'" \
  "\`purge --url-file … --no-verify\`" "$purge --no-verify --url-file $folder/urls"

# Measures how long it takes to free the space of the entries that a condition chooses, beside the method that is right for
# that: compacting NAME LABEL CONDITION METHOD. The wrong one takes two minutes for nine tenths of a million.
compacting() {
  rm -rf "$folder/purged"
  cp -r "$folder/store" "$folder/purged"
  sqlite3 "$folder/purged/Cache.db" "BEGIN;
    CREATE TEMP TABLE doomed AS SELECT entry_ID FROM cfurl_cache_response WHERE $3; $removal"
  copying "$folder/purged"
  method="$pragmas PRAGMA incremental_vacuum"
  [ "$4" != VACUUM ] || method="$durable VACUUM"
  table "removals-$1$more" "$title" \
    "\`sqlite3\`: \`$4\` after removing $2" "sqlite3 $copy/Cache.db '$method'" \
    "\`compact --no-verify\`" "$tool compact --no-verify -c $copy"
}
compacting tenth "a tenth" "entry_ID % 10 = 3" incremental_vacuum
compacting first "the oldest tenth" "time_stamp < '$time'" incremental_vacuum
compacting most "nine tenths" "entry_ID % 10 < 9" VACUUM
rm -rf "$copy"

prepare=true
table "removals-plan$more" "$title" \
  "\`list --format csv\`" "$tool list --format csv -c $folder/store" \
  "the plan of all entries (\`purge --all --dry-run\`)" "$tool purge --all --dry-run -c $folder/store"

# Prints the peak memory of a command that changes a copy of a cache.
changing() {
  sh -c "$(copying_once "$2")"
  label=$1
  shift 2
  memory "$label" "$@" -c "$copy"
}
{
  memory "the plan of all (\`purge --all --dry-run\`)" purge --all --dry-run -c "$folder/store"
  half="enforce --no-verify --max-entries $((entries / 2))"
  # shellcheck disable=SC2086 # The words are wanted.
  memory "the plan of half of them (\`enforce --max-entries … --dry-run\`)" $half --dry-run -c "$folder/store"
  # shellcheck disable=SC2086
  changing "the removal of these" "$folder/store" $half --yes
  changing "\`purge\` of the oldest tenth" "$folder/store" purge --yes --no-verify --stored-before "$moment"
  changing "\`compact\` after removing nine tenths" "$folder/purged" compact --no-verify
} | record "removals-memory$more" "$title" peak_KiB
rm -rf "$copy" "$folder/store" "$folder/purged"

# Bodies in files: what rm does with as many files, and a purge with and without them.
"$tool" sample --newest 2026-01-01T00:00:00Z --entries $((some * 175 / 100)) --seed 1 "$folder/store"
find "$folder/store/fsCachedData" -type f -exec truncate -s 1000 {} +
count=$(find "$folder/store/fsCachedData" -type f | wc -l)
cp -r "$folder/store" "$folder/empty"
find "$folder/empty/fsCachedData" -type f -delete
copying "$folder/store"
table "removals-files$more" "$count body files" \
  "\`find … -print0 | xargs -0 rm\` of $count files" "sh -c 'find $copy/fsCachedData -type f -print0 | xargs -0 rm'" \
  "\`purge --all --no-verify\` of the entries with these files" "$purge --no-verify --all"
copying "$folder/empty"
table "removals-no-files$more" "$count body files are missing" \
  "\`purge --all --no-verify\` of the entries without files" "$purge --no-verify --all"
