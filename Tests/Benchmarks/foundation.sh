#!/bin/sh
# Measures urlcache-admin against Python and Foundation on the same made-up Foundation store, in one run.
#
#   sh Tests/Benchmarks/foundation.sh [ENTRIES]     10,000 unless said
#
# Prints medians, and their ratio to the first line. Needs hyperfine and python3, which it installs with
# apt, and swiftc.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-10000}

packages=
. Tests/Benchmarks/setup.sh

swiftc -O -swift-version 5 Tests/Peers/StockURLCache.swift -o "$folder/StockURLCache"
"$tool" sample --newest 2026-01-01T00:00:00Z --format foundation --entries "$entries" --seed 1 "$folder/store"
cat "$folder/store"/* >/dev/null

table foundation "$entries entries in a Foundation cache, $(size "$folder/store")" \
  "\`list\` with the default columns" "$tool list -c $folder/store" \
  "\`list --format csv\`" "$tool list -c $folder/store --format csv" \
  "\`usage --by host\`" "$tool usage -c $folder/store --by host" \
  "Python with \`os.scandir\` and \`plistlib\`" "python3 Tests/Benchmarks/list_archives_with_plistlib.py $folder/store"
runs=2
table foundation-decode "the same entries, decoded by Foundation" \
  "\`list\` with the default columns" "$tool list -c $folder/store" \
  "decoding each file with Foundation" "$folder/StockURLCache decode $folder/store"
memory "\`list\` of $entries entries" list -c "$folder/store" | record foundation-memory "a Foundation cache" peak_KiB
