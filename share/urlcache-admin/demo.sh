#!/bin/sh
# Shows what urlcache-admin does: on a made-up cache, or on the one at PATH, which it does not change.
#
#   sh share/urlcache-admin/demo.sh [PATH]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$here/../.." && pwd)
cache=${1-}
maker=

if [ -e "$checkout/Package.swift" ] && command -v swift >/dev/null; then
  # Packages of Debian; elsewhere they have to be there.
  if command -v dpkg >/dev/null; then
    missing=
    for package in libsqlite3-dev pkg-config; do
      dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
    done
    if [ -n "$missing" ]; then
      sudo=
      [ "$(id -u)" = 0 ] || sudo=sudo
      $sudo apt-get update -qq
      # shellcheck disable=SC2086 # The words are wanted.
      $sudo apt-get install -y -qq $missing
    fi
  fi
  swift build --package-path "$checkout" -c release --product urlcache-admin >&2
  swift build --package-path "$checkout" -c release --product sample-cache >&2
  binaries=$(swift build --package-path "$checkout" -c release --show-bin-path)
  tool=$binaries/urlcache-admin
  maker=$binaries/sample-cache
elif [ -x "$checkout/.build/release/urlcache-admin" ]; then
  tool=$checkout/.build/release/urlcache-admin
  maker=$checkout/.build/release/sample-cache
elif [ -x "$here/../../bin/urlcache-admin" ]; then
  tool=$here/../../bin/urlcache-admin
elif command -v urlcache-admin >/dev/null; then
  tool=urlcache-admin
else
  echo "There is no Swift toolchain: get Swift 6.3 from https://www.swift.org/install" >&2
  exit 69
fi

if [ -z "$cache" ]; then
  if [ ! -x "$maker" ]; then
    echo "There is no sample-cache here to make a cache with: give the path of one." >&2
    exit 64
  fi
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  cache=$folder/cache
  "$maker" --schema 203 --entries 200 --seed 1 "$cache"
fi

show() {
  echo "$ urlcache-admin $*"
  "$tool" "$@" 2>&1
  echo
}

show usage -c "$cache" --by host
show list -c "$cache" --limit 12
first=$("$tool" list -c "$cache" --limit 1 --format tsv --columns id 2>/dev/null | tail -n +2)
[ -z "$first" ] || show show -c "$cache" "$first"
