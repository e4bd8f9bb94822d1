#!/bin/sh
# Writes an inventory of caches for fleet.sql, without URLs, because URLs can contain secrets.
#
#   collect.sh FOLDER NAME...
#
# writes FOLDER/day=DAY/cache=NAME/MACHINE.ndjson.gz for each cache NAME in the configuration. It stops at the first cache
# that it cannot read, and leaves no file for that cache.
set -eu
folder=$1
shift
day=$(date -u +%Y-%m-%d)
machine=$(uname -n)
for cache; do
  into=$folder/day=$day/cache=$cache
  # Programs that read a whole folder skip names that begin with a dot.
  partial=$into/.$machine.ndjson
  mkdir -p "$into"
  # Not a pipe, which would hide that the list is incomplete.
  urlcache-admin list -c "$cache" --format ndjson --columns host,mime,status,size,stored,freshness >"$partial" || {
    status=$?
    rm -f "$partial"
    exit "$status"
  }
  gzip -nf "$partial"
  mv "$partial.gz" "$into/$machine.ndjson.gz"
done
