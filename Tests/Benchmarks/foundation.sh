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

if command -v dpkg >/dev/null; then
  missing=
  for package in hyperfine python3 time; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
  done
  if [ -n "$missing" ]; then
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    # shellcheck disable=SC2086 # The words are wanted.
    $sudo apt-get update -qq && $sudo apt-get install -y -qq $missing
  fi
fi
swift build -c release --product urlcache-admin >&2
swift build -c release --product sample-cache >&2
tool=$(swift build -c release --show-bin-path)/urlcache-admin

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
swiftc -O -swift-version 5 Tests/Peers/StockURLCache.swift -o "$folder/StockURLCache"
"$(dirname "$tool")/sample-cache" --format foundation --entries "$entries" --seed 1 "$folder/store"
cat "$folder/store"/* >/dev/null

# Prints the medians of so many runs of the commands.
table() {
  runs=$1
  shift
  hyperfine --warmup 1 --runs "$runs" --shell none --output null --export-json "$folder/result" \
    "$@" >/dev/null 2>&1
  python3 - "$folder/result" "$folder/" "$(dirname "$tool")/" <<'END'
import json, sys
results = json.load(open(sys.argv[1]))["results"]
for result in results:
    command = result["command"]
    for part in sys.argv[2:]:
        command = command.replace(part, "")
    print(f"  {result['median'] * 1000:9.1f} ms  {result['median'] / results[0]['median']:6.2f}  {command}")
END
}

echo "$entries entries, $(du -sh "$folder/store" | cut -f1)"
table 7 "$tool list -c $folder/store --format csv" "$tool list -c $folder/store --format ndjson" \
  "$tool list -c $folder/store" "$tool usage -c $folder/store --by host" \
  "python3 Tests/Benchmarks/list_archives_with_plistlib.py $folder/store"
echo "Foundation's own decoding of each file"
table 2 "$tool list -c $folder/store --format csv" "$folder/StockURLCache decode $folder/store"

echo "peak memory"
for options in "list --format csv" "list" "usage --by host"; do
  # shellcheck disable=SC2086 # The words are wanted.
  /usr/bin/time -f "  %M KiB  $options" "$tool" $options -c "$folder/store" 2>&1 >/dev/null | grep KiB
done
