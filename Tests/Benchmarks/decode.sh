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

if command -v dpkg >/dev/null && ! dpkg -s valgrind >/dev/null 2>&1; then
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq && $sudo apt-get install -y -qq valgrind
fi
swift build -c release --product urlcache-admin >&2
swift build -c release --product sample-cache >&2
tools=$(swift build -c release --show-bin-path)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$tools/sample-cache" --schema 202 --entries "$entries" --seed 1 --no-large-bodies "$folder/cache"
# valgrind does not understand the debugging information of Swift.
strip --strip-debug -o "$folder/tool" "$tools/urlcache-admin"

# What decodes a `response_object`, and all that it calls: the name is mangled.
valgrind --tool=callgrind --callgrind-out-file="$folder/profile" \
  --toggle-collect='*decodeA6Object*' "$folder/tool" list -c "$folder/cache" \
  --columns id,stored,status,mime,size,url --format csv 2>"$folder/log" >/dev/null || {
  cat "$folder/log" >&2
  exit 1
}
awk -v entries="$entries" '/Collected/ {
  printf "%d instructions to decode one response\n", $NF / entries
}' "$folder/log"
callgrind_annotate "$folder/profile" 2>/dev/null | swift demangle --simplified |
  awk -v entries="$entries" '/^ *[0-9,]+ \(/ && !/PROGRAM TOTALS/ && shown++ < 12 {
    count = $1
    gsub(",", "", count)
    sub(/^.*[0-9]%\) */, "")
    sub(/^[^ (]*:/, "")
    sub(/ \[.*$/, "")
    printf "  %5d  %s\n", count / entries, $0
  }'
