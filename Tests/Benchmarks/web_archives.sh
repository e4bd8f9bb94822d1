#!/bin/sh
# Measures zip, WARC, WACZ and HAR archives against bsdtar, gzip, warcio and jq on the same bytes, in one run.
#
#   sh Tests/Benchmarks/web_archives.sh [ENTRIES]     31,000 unless said, of 0.6 GB; needs 16 GB of disk for that
#
# Keeps and prints medians, their ratio to the first line of each table, and processor times. Needs bsdtar, jq, hyperfine and
# python3, which it installs with apt, and warcio, which it installs with pip into a folder of its own.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-31000}
packages="libarchive-tools jq python3-pip"
. Tests/Benchmarks/setup.sh
runs=${RUNS-5}
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$folder/peers" warcio
export PYTHONPATH="$folder/peers"
printf 'from warcio.cli import main\nmain()\n' >"$folder/run_warcio.py"

"$tool" sample --newest 2026-01-01T00:00:00Z --entries "$entries" --seed 1 "$folder/store"
export="$tool export -c $folder/store"
for name in archive.tar archive.har archive.warc archive.warc.gz archive.wacz; do $export -o "$folder/$name" 2>/dev/null; done
mkdir "$folder/files"
bsdtar -xf "$folder/archive.tar" -C "$folder/files"
rm "$folder/archive.tar"
find "$folder/files" "$folder/store" "$folder"/archive.* -type f -exec cat {} + >/dev/null

# Each run finds no other's files, nor work that the disk has left over from them.
out=$folder/out
prepare="sh -c 'rm -rf $out; mkdir $out; sync -f $out'"
import="$tool import --any-method --create apple -c $out/store"

title="$entries entries, $(size "$folder/store")"
table web-zip "$title" \
  "\`bsdtar -a -cf FILE.zip\` of the unpacked members" "bsdtar -a -cf $out/a.zip -C $folder/files ." \
  "\`export -o FILE.zip\`" "$export -o $out/a.zip"
table web-gzip "$title" \
  "\`gzip -6\` of the WARC file" "sh -c 'gzip -6 -c $folder/archive.warc >$out/a.warc.gz'" \
  "\`export -o FILE.warc.gz\`" "$export -o $out/a.warc.gz" \
  "\`export -o FILE.wacz\`" "$export -o $out/a.wacz"

# What an import writes stays until the end. ext4 does not use an inode again within minutes of its deletion, and the search for
# others took up to a third of an import after thousands of files had been deleted.
prepare="sh -c 'rm -f $out; ln -s \$(mktemp -d $folder/imported.XXXXXX) $out; sync -f $out'"
rm -rf "$out"
table web-import "$title" \
  "\`warcio check\` of the warc.gz" "python3 $folder/run_warcio.py check $folder/archive.warc.gz" \
  "\`import\` of the warc.gz" "$import $folder/archive.warc.gz" \
  "\`import\` of the wacz" "$import $folder/archive.wacz"
table web-har "$title" \
  "\`jq length\` of the HAR file" "jq length $folder/archive.har" \
  "\`import\` of the HAR file" "$import $folder/archive.har"
prepare=true
table web-list "$title" \
  "\`warcio index\` of the warc.gz" "python3 $folder/run_warcio.py index -o $folder/index $folder/archive.warc.gz" \
  "\`list --count\` of the warc.gz" "$tool list --count $folder/archive.warc.gz"

rm -rf "$folder/files"
for ending in zip warc.gz wacz har; do
  memory "\`export\` to $ending" export -c "$folder/store" -o "$folder/memory.$ending"
  [ "$ending" != zip ] || continue
  rm -rf "$out"
  memory "\`list --count\` of the $ending" list --count "$folder/archive.$ending"
  memory "\`import\` of the $ending" import --any-method --create apple -c "$out" "$folder/archive.$ending"
done | record web-memory "$title" peak_KiB
