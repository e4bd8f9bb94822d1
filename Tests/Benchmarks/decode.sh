#!/bin/sh
# Counts the instructions that it takes to decode one response of a made-up cache.
#
#   sh Tests/Benchmarks/decode.sh [ENTRIES]     100,000 unless said
#
# Unlike times, they hardly change from run to run, whatever else the machine does. Prints the instructions
# a response, in all and by function. Needs valgrind, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
entries=${1-100000}

packages=valgrind
. Tests/Benchmarks/setup.sh

"$tool" sample --newest 2026-01-01T00:00:00Z --schema 202 --entries "$entries" --seed 1 --no-large-bodies "$folder/cache"
# valgrind does not understand the debugging information of Swift.
strip --strip-debug -o "$folder/tool" "$tool"

# What decodes a `response_object`, and all that it calls: the name is mangled.
valgrind --tool=callgrind --callgrind-out-file="$folder/profile" \
  --toggle-collect='*decodeA6Object*' "$folder/tool" list -c "$folder/cache" \
  --columns id,stored,status,mime,size,url --format csv 2>"$folder/log" >/dev/null || {
  cat "$folder/log" >&2
  exit 1
}
awk -v entries="$entries" '/Collected/ { printf "decoding one response\t%d\n", $NF / entries }' "$folder/log" |
  record decode "$entries entries, schema 202" instructions
callgrind_annotate "$folder/profile" 2>/dev/null | swift demangle --simplified |
  awk -v entries="$entries" '/^ *[0-9,]+ \(/ && !/PROGRAM TOTALS/ && shown++ < 12 {
    count = $1
    gsub(",", "", count)
    sub(/^.*[0-9]%\) */, "")
    sub(/^[^ (]*:/, "")
    sub(/ \[.*$/, "")
    printf "  %5d  %s\n", count / entries, $0
  }'
