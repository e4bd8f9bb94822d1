#!/bin/sh
# Measures the native archives of urlcache-admin against bsdtar, tar and zstd on the same bytes, in one run.
#
#   sh Tests/Benchmarks/archives.sh [ENTRIES]     100,000 unless said; needs 14 GB of disk for that
#
# Of the entries, of schema 203, 92 in 100 have bodies that are small enough for the database, and 8 have bodies of
# any size: archives of 100,000 have 0.9 GB. The peers pack and unpack the very members as files. Keeps and prints medians, and
# their ratio to the first line of each table. Needs bsdtar, zstd, hyperfine, sqlite3 and python3, which it installs
# with apt.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-100000}
packages="libarchive-tools sqlite3 zstd"
. Tests/Benchmarks/setup.sh
runs=5

large=$((entries * 8 / 100))
"$tool" sample --newest 2026-01-01T00:00:00Z --entries $((entries - large)) --seed 1 --no-large-bodies "$folder/store"
"$tool" sample --newest 2026-01-01T00:00:00Z --entries "$large" --seed 2 "$folder/large"
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

title="$("$tool" list -c "$folder/store" --count) entries, a tar of $(size "$folder/archive.tar")"
table archives-tar "$title" \
  "\`bsdtar -cf\` of the unpacked members" "bsdtar -cf $out/a.tar -C $folder/files ." \
  "\`export -o FILE.tar\`" "$export -o $out/a.tar"
for threads in 1 2; do
  shown="level 3, threads: $threads"
  table archives-zstd-$threads "$title" \
    "\`bsdtar -cf --zstd\`, $shown" \
    "bsdtar -cf $out/a.zst --zstd --options zstd:compression-level=3,zstd:threads=$threads -C $folder/files ." \
    "\`export -o FILE.tar.zst\`, $shown" "$export --level 3 --threads $threads -o $out/a.tar.zst"
  table archives-pipe-$threads "$title" \
    "\`tar -cf - | zstd -3 -T$threads\`" "sh -c 'tar -cf - -C $folder/files . | zstd -3 -T$threads -qo $out/a.zst'" \
    "the same \`export\`, threads: $threads" "$export --level 3 --threads $threads -o $out/a.tar.zst"
done
import="$tool import --any-method --create apple -c $out/store"
table archives-unpack "$title" \
  "\`bsdtar -xf\`" "bsdtar -xf $folder/archive.tar -C $out" \
  "the same, and \`sync -f\`" "sh -c 'bsdtar -xf $folder/archive.tar -C $out && sync -f $out'" \
  "\`import --create apple\` of the tar, which waits for the disk" "$import $folder/archive.tar" \
  "\`import --create apple\` of the tar.zst" "$import $folder/archive.tar.zst"
table archives-list "$title" \
  "\`list --format csv\` of the cache" "$tool list --format csv -c $folder/store" \
  "\`list --format csv\` of the tar" "$tool list --format csv -c $folder/archive.tar"

# Prints the peak memory of exports of a cache, and of an import of them, and removes the cache.
memories() {
  memory "$2: \`export\` to tar" export -c "$1" --archive-format tar -o -
  memory "$2: \`export\` to tar.zst" export -c "$1" -o "$folder/memory.tar.zst"
  rm -rf "$out"
  memory "$2: \`import\` of that" import --any-method --create apple -c "$out" "$folder/memory.tar.zst"
  rm -rf "$1" "$out" "$folder/memory.tar.zst"
}

rm -rf "$out" "$folder/files" "$folder"/archive.*
{
  memories "$folder/store" "$title"
  more=$((entries * 17 / 10))
  "$tool" sample --newest 2026-01-01T00:00:00Z --entries $more --seed 1 "$folder/huge"
  memories "$folder/huge" "$more entries with large bodies, $(size "$folder/huge")"
  "$tool" sample --newest 2026-01-01T00:00:00Z --entries 10 --seed 1 "$folder/long"
  sqlite3 "$folder/long/Cache.db" "UPDATE cfurl_cache_receiver_data SET receiver_data = randomblob(300000000), isDataOnFS = 0
    WHERE entry_ID = (SELECT min(entry_ID) FROM cfurl_cache_receiver_data)"
  memories "$folder/long" "10 entries, one with a body of 300 MB in the database"
} | record archives-memory "native archives" peak_KiB
