#!/bin/sh
# Writes an inventory of caches, for fleet.sql: no URLs, which can hold secrets, but what most questions are about.
#
#   collect.sh FOLDER NAME...
#
# makes FOLDER/day=DAY/cache=NAME/MACHINE.ndjson.gz of each cache NAME in the configuration. It ends at the first cache that
# cannot be read, of which there is no file then.
set -eu
folder=$1
shift
day=$(date -u +%Y-%m-%d)
machine=$(uname -n)
for cache; do
  into=$folder/day=$day/cache=$cache
  # Programs that read all of a folder leave out names with a dot before them.
  partial=$into/.$machine.ndjson
  mkdir -p "$into"
  # Not a pipe: it would hide that the list is not whole.
  urlcache-admin list -c "$cache" --format ndjson --columns host,mime,status,size,stored,freshness >"$partial" || {
    status=$?
    rm -f "$partial"
    exit "$status"
  }
  gzip -nf "$partial"
  mv "$partial.gz" "$into/$machine.ndjson.gz"
done
