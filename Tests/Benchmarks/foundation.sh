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
"$maker" --format foundation --entries "$entries" --seed 1 "$folder/store"
cat "$folder/store"/* >/dev/null

table "$entries entries, $(du -sh "$folder/store" | cut -f1)" \
  "$tool list -c $folder/store --format csv" "$tool list -c $folder/store --format ndjson" \
  "$tool list -c $folder/store" "$tool usage -c $folder/store --by host" \
  "python3 Tests/Benchmarks/list_archives_with_plistlib.py $folder/store"
runs=2
table "Foundation's own decoding of each file" "$tool list -c $folder/store --format csv" "$folder/StockURLCache decode $folder/store"

echo "peak memory"
for options in "list --format csv" "list" "usage --by host"; do
  # shellcheck disable=SC2086 # The words are wanted.
  memory "$options" $options -c "$folder/store"
done
