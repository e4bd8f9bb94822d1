#!/bin/sh
# Measures how the time and the memory of commands grow with the number of entries.
#
#   sh Tests/Benchmarks/growth.sh [ENTRIES...]     10,000 to 10,000,000 by default; needs 50 GB of disk for that
#
# Keeps and prints the figures; page.py draws them. The entries are small, about 1 KB. Times are medians of three runs, or of
# one run from 1,000,000 entries on, with the files in the page cache. With STORE, the cache of 10,000,000 is that one. Archives
# are read up to 1,000,000 entries, which is their default limit, and so are caches made of them: for `--superseded`, and for
# `revalidate`, whose origin server is on this machine. Its program for requests must be next to TOOL, if that is set. Needs
# hyperfine and python3, which it installs with apt.
set -eu
cd "$(dirname "$0")/../.."
packages=
programs=urlcache-admin-fetch
. Tests/Benchmarks/setup.sh
[ $# -gt 0 ] || set -- 10000 100000 1000000 10000000
measured=$folder/measured

# Measures a command line of the tool, under a name. Commands that find something end with 1.
measure() {
  name=$1
  shift
  if [ "$entries" -ge 1000000 ]; then
    sh -c "$prepare"
    start=$(date +%s%N)
    /usr/bin/time -f "%M" -o "$folder/result" "$tool" "$@" >/dev/null 2>"$folder/errors" || [ $? = 1 ] || cat "$folder/errors" >&2
    # A line before it says that the command ended with 1.
    tail -1 "$folder/result" | awk -v entries="$entries" -v name="$name" -v nanoseconds=$(($(date +%s%N) - start)) \
      '{ printf "%s\t%s\t%.4f\t%s\n", name, entries, nanoseconds / 1e9, $1 }' >>"$measured"
    return
  fi
  hyperfine --warmup 1 --runs 3 --shell none --output null --ignore-failure --prepare "$prepare" \
    --export-json "$folder/result" "$tool $*" >/dev/null 2>"$folder/errors" || cat "$folder/errors" >&2
  sh -c "$prepare"
  memory "$name" "$@" | cut -f2 >"$folder/peak"
  python3 -c '
import json, sys
result, peak, *words = sys.argv[1:]
median = json.load(open(result))["results"][0]["median"]
print(*words, median, open(peak).read().split()[0], sep="\t")
' "$folder/result" "$folder/peak" "$name" "$entries" >>"$measured"
}

# Measures `revalidate` once, without the program that sends its requests.
measure_revalidating() {
  python3 Tests/Benchmarks/versions.py serve "$port" &
  origin=$!
  sleep 1
  python3 Tests/Benchmarks/peak.py "$tool" revalidate -c "$versions" --all >"$folder/result"
  kill $origin
  awk -v entries="$entries" '{ printf "revalidate\t%s\t%s\t%s\n", entries, $1, $2 }' "$folder/result" >>"$measured"
}

port=${PORT-8999}
for entries; do
  cache=$folder/cache
  copy=$folder/copy
  if [ -n "${STORE-}" ] && [ "$entries" -ge 10000000 ]; then
    cache=$STORE
  else
    "$tool" sample --newest 2026-01-01T00:00:00Z --tiny --entries "$entries" --seed 1 "$cache" >/dev/null
  fi
  cat "$cache/Cache.db" >/dev/null
  measure "list" list "$cache" --format csv
  measure "list --sort -size --limit 20" list "$cache" --sort=-size --limit 20
  measure "list --sort url" list "$cache" --sort url --format csv
  measure "list --limit 50" list "$cache" --limit 50
  measure "usage" usage "$cache" --by host
  measure "check" check "$cache"
  measure "grep" grep -c "$cache" --count silver
  measure "query" query -c "$cache" 'select(max(url))from(entries)'
  measure "audit" audit "$cache"
  measure "watch (1 s)" watch "$cache" --for 1s
  measure "recover --damaged" recover "$cache" --damaged --format csv
  measure "plan of enforce (a tenth)" enforce -n -c "$cache" --max-entries $((entries * 9 / 10))
  measure "report" report "$cache" -o "$folder/report.html" --force
  measure "check --full" check "$cache" --full
  measure "diff with itself" diff "$cache" "$cache/Cache.db"
  measure "export (tar.zst)" export -c "$cache" -o "$folder/export.tar.zst" --force
  if [ "$entries" -le 1000000 ]; then
    measure "list of the tar.zst" list "$folder/export.tar.zst" --format csv
    prepare="rm -rf $copy"
    measure "import of the tar.zst" import --any-method --create apple -c "$copy" "$folder/export.tar.zst"
    prepare=true
    versions=$folder/versions
    python3 Tests/Benchmarks/versions.py warc "$entries" "$port" >"$folder/versions.warc"
    "$tool" import --any-method --create apple -c "$versions" "$folder/versions.warc" >/dev/null 2>&1
    measure "list --superseded" list "$versions" --superseded --format csv
    measure "usage --superseded" usage "$versions" --superseded
    measure "show (json)" show -c "$versions" --glob "*" --format json
    measure_revalidating
    rm -rf "$versions" "$folder/versions.warc"
  fi
  rm -f "$folder/export.tar.zst"
  prepare="sh -c 'rm -rf $copy; cp -r $cache $copy; sync -f $copy'"
  measure "purge (status 404)" purge --yes -c "$copy" --where status==404
  measure "enforce (a tenth)" enforce --yes -c "$copy" --max-entries $((entries * 9 / 10))
  prepare=true
  rm -rf "$folder/cache" "$copy"
done
record growth "caches of \`sample --tiny\`, schema 203" entries s peak_KiB <"$measured"
