#!/bin/sh
# Measures the native archives of urlcache-admin against bsdtar and zstd on the same bytes, in one run.
#
#   sh Tests/Benchmarks/archives.sh [ENTRIES]     100,000 unless said; needs 12 GB of disk for that
#
# The peers pack and unpack the very members of our archive as files. Prints medians, and their ratio to the
# first line of each table. Needs bsdtar, zstd, hyperfine, sqlite3 and python3, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-100000}
packages="libarchive-tools sqlite3 zstd"
. Tests/Benchmarks/setup.sh
runs=3

"$maker" --entries "$entries" --seed 1 "$folder/store"
export="$tool export -c $folder/store"
$export -o "$folder/archive.tar"
$export -o "$folder/archive.tar.zst"
mkdir "$folder/files"
bsdtar -xf "$folder/archive.tar" -C "$folder/files"
find "$folder/files" "$folder/store" -type f -exec cat {} + >/dev/null

# Each run finds no other's files, nor work that the disk has left over from them.
out=$folder/out
prepare="sh -c 'rm -rf $out; mkdir $out; sync -f $out'"

table "$entries entries, $(du -h "$folder/archive.tar" | cut -f1), tar" \
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

echo "peak memory, $(du -sh "$folder/store" | cut -f1)"
rm -rf "$out"
memory "export, tar" export -c "$folder/store" --archive-format tar -o -
memory "export, tar.zst" export -c "$folder/store" -o -
memory "import, tar" import --any-method --create apple -c "$out" "$folder/archive.tar"
rm -rf "$out" "$folder/files" "$folder"/archive.*

# One body of 300 MB inside of the database.
"$maker" --entries 10 --seed 1 "$folder/long"
sqlite3 "$folder/long/Cache.db" "UPDATE cfurl_cache_receiver_data SET receiver_data = randomblob(300000000), isDataOnFS = 0
  WHERE entry_ID = (SELECT min(entry_ID) FROM cfurl_cache_receiver_data)"
echo "peak memory, a body of 300 MB in the database"
memory "export, tar" export -c "$folder/long" --archive-format tar -o -
memory "export, tar.zst" export -c "$folder/long" -o -
