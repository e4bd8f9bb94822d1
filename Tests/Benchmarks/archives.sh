#!/bin/sh
# Measures the native archives of urlcache-admin against bsdtar, tar and zstd on the same bytes, in one run.
#
#   sh Tests/Benchmarks/archives.sh [ENTRIES]     100,000 unless said; needs 14 GB of disk for that
#
# Of the entries, of schema 203, 92 in 100 have bodies that are small enough for the database, and 8 have bodies of
# any size: archives of 100,000 have 0.9 GB. The peers pack and unpack the very members as files. Prints medians, and
# their ratio to the first line of each table. Needs bsdtar, zstd, hyperfine, sqlite3 and python3, which it installs
# with apt.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-100000}
packages="libarchive-tools sqlite3 zstd"
. Tests/Benchmarks/setup.sh
runs=5

large=$((entries * 8 / 100))
"$maker" --entries $((entries - large)) --seed 1 --no-large-bodies "$folder/store"
"$maker" --entries "$large" --seed 2 "$folder/large"
"$tool" export -c "$folder/large" -o "$folder/large.tar"
"$tool" import --any-method -c "$folder/store" "$folder/large.tar"
rm -rf "$folder/large" "$folder/large.tar"

export="$tool export -c $folder/store"
$export -o "$folder/archive.tar"
$export -o "$folder/archive.tar.zst"
mkdir "$folder/files"
bsdtar -xf "$folder/archive.tar" -C "$folder/files"
find "$folder/files" "$folder/store" -type f -exec cat {} + >/dev/null

# Each run finds no other's files, nor work that the disk has left over from them.
out=$folder/out
prepare="sh -c 'rm -rf $out; mkdir $out; sync -f $out'"

table "$("$tool" list -c "$folder/store" --count) entries, a tar of $(wc -c <"$folder/archive.tar") bytes" \
  "bsdtar -cf $out/a.tar -C $folder/files ." "$export -o $out/a.tar"
for threads in 1 2; do
  table "zstd level 3, $threads thread(s)" \
    "bsdtar -cf $out/a.zst --zstd --options zstd:compression-level=3,zstd:threads=$threads -C $folder/files ." \
    "$export --level 3 --threads $threads -o $out/a.tar.zst"
  table "the same" \
    "sh -c 'tar -cf - -C $folder/files . | zstd -3 -T$threads -qo $out/a.zst'" \
    "$export --level 3 --threads $threads -o $out/a.tar.zst"
done
table "unpacking; import puts all onto the disk" \
  "bsdtar -xf $folder/archive.tar -C $out" \
  "sh -c 'bsdtar -xf $folder/archive.tar -C $out && sync -f $out'" \
  "$tool import --any-method --create apple -c $out/store $folder/archive.tar" \
  "$tool import --any-method --create apple -c $out/store $folder/archive.tar.zst"
table "looking" "$tool list --format csv -c $folder/store" "$tool list --format csv -c $folder/archive.tar"

# Prints the peak memory of exports of a cache, and of imports of them.
memories() {
  echo "peak memory, a cache of $(du -sh "$1" | cut -f1)"
  memory "export, tar" export -c "$1" --archive-format tar -o -
  memory "export, tar.zst" export -c "$1" -o "$folder/memory.tar.zst"
  rm -rf "$out"
  memory "import, tar.zst" import --any-method --create apple -c "$out" "$folder/memory.tar.zst"
  rm -rf "$1" "$out" "$folder/memory.tar.zst"
}

rm -rf "$out" "$folder/files" "$folder"/archive.*
memories "$folder/store"
# A tar of 4 GB.
"$maker" --entries $((entries * 17 / 10)) --seed 1 "$folder/huge"
memories "$folder/huge"
# One body of 300 MB inside of the database.
"$maker" --entries 10 --seed 1 "$folder/long"
sqlite3 "$folder/long/Cache.db" "UPDATE cfurl_cache_receiver_data SET receiver_data = randomblob(300000000), isDataOnFS = 0
  WHERE entry_ID = (SELECT min(entry_ID) FROM cfurl_cache_receiver_data)"
memories "$folder/long"
