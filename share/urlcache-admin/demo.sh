#!/bin/sh
# Shows what urlcache-admin does: on a made-up cache, or on the one at PATH, which it does not change.
#
#   sh share/urlcache-admin/demo.sh [PATH]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
checkout=$here/../..
cache=${1-}
tool=
maker=

# Installs the packages that are missing, with apt; elsewhere they have to be there.
install() {
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 0
  missing=
  for package in "$@"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq >&2
  # shellcheck disable=SC2086 # Each word is a package.
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >&2
}

# Takes the binaries of a folder, if they are there.
look_in() {
  [ -x "$1/urlcache-admin" ] || return 0
  tool=$1/urlcache-admin
  if [ -x "$1/sample-cache" ]; then maker=$1/sample-cache; fi
}

if [ -e "$checkout/Package.swift" ]; then
  checkout=$(cd "$checkout" && pwd)
  if command -v swift >/dev/null; then
    install libsqlite3-dev libarchive-dev pkg-config
    # With the library of Swift inside it begins sooner and takes less memory; macOS has the library.
    set -- --package-path "$checkout" -c release
    [ "$(uname -s)" = Darwin ] || set -- "$@" --static-swift-stdlib
    for product in urlcache-admin urlcache-admin-fetch sample-cache; do
      swift build "$@" --product $product >&2
    done
    look_in "$(swift build "$@" --show-bin-path)"
  else
    look_in "$checkout/.build/release"
  fi
fi
[ -n "$tool" ] || look_in "$here/../../bin"
if [ -z "$tool" ] && found=$(command -v urlcache-admin); then
  look_in "$(dirname "$found")"
fi
if [ -z "$tool" ]; then
  echo "There is no Swift toolchain: get Swift 6.3 from https://www.swift.org/install" >&2
  exit 69
fi

if [ -z "$cache" ]; then
  if [ -z "$maker" ]; then
    echo "There is no sample-cache to make a cache with: give the path of a Cache.db" >&2
    exit 64
  fi
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  cache=$folder/cache
  "$maker" --schema 203 --entries 200 --seed 1 "$cache"
fi

# Shows a command and what it prints.
show() {
  printf '$ urlcache-admin %s\n' "$*"
  "$tool" "$@" 2>&1
  echo
}

show usage -c "$cache" --by host
show list -c "$cache" --limit 12
first=$("$tool" list -c "$cache" --limit 1 --format csv --columns id 2>/dev/null | sed -n 2p)
[ -z "$first" ] || show show -c "$cache" "$first"
# It ends with 1 if the entry is stale.
[ -z "$first" ] || show explain -c "$cache" "$first" || true
