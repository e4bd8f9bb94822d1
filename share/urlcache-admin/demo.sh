#!/bin/sh
# Shows what urlcache-admin does with a made-up cache, or with the cache at PATH, which it does not change.
# It writes to a new folder below $TMPDIR.
#
#   sh share/urlcache-admin/demo.sh [PATH]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
checkout=$here/../..
cache=${1-}
tool=
maker=

# Installs missing packages with apt. On other systems, install them first.
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

# Builds what the demo shows. The build prints hundreds of lines, which are shown only if it fails.
build() {
  log=$(mktemp "${TMPDIR:-/tmp}/urlcache-admin-build.XXXXXX")
  echo "Building urlcache-admin; the first time, this takes about 5 minutes on 2 cores ..." >&2
  for product in urlcache-admin sample-cache; do
    swift build "$@" --product $product >"$log" 2>&1 || {
      cat "$log" >&2
      rm -f "$log"
      exit 1
    }
  done
  rm -f "$log"
}

# Uses the binaries in a folder, if there are any.
look_in() {
  [ -x "$1/urlcache-admin" ] || return 0
  tool=$1/urlcache-admin
  if [ -x "$1/sample-cache" ]; then maker=$1/sample-cache; fi
}

if [ -e "$checkout/Package.swift" ]; then
  checkout=$(cd "$checkout" && pwd)
  if command -v swift >/dev/null; then
    install libsqlite3-dev libarchive-dev libdeflate-dev libpcre2-dev nettle-dev pkg-config
    # With the Swift runtime linked in, it starts sooner and takes less memory. macOS has the runtime.
    set -- --package-path "$checkout" -c release
    [ "$(uname -s)" = Darwin ] || set -- "$@" --static-swift-stdlib
    build "$@"
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

folder=$(mktemp -d "${TMPDIR:-/tmp}/urlcache-admin-demo.XXXXXX")
if [ -z "$cache" ]; then
  if [ -z "$maker" ]; then
    echo "There is no sample-cache to make a cache with: give the path of a Cache.db" >&2
    exit 64
  fi
  cd "$folder"
  "$maker" --entries 4000 --seed 1 --faults orphan-files com.example.shop
  cache=com.example.shop
  # The day after its newest entry.
  export URLCACHE_ADMIN_AT=2026-01-02T00:00:00Z
fi

# Runs a command and shows it, even if its status is not 0.
show() {
  verb=$1
  shift
  set -- "$verb" -c "$cache" "$@"
  printf '+ urlcache-admin %s\n' "$*"
  "$tool" "$@" 2>&1 || true
  echo
}

show usage --by host --limit 6
show list --stale --sort -size --limit 5 --columns id,age,ttl,status,size,url
show purge --older-than 90d --dry-run
show report -o "$folder/report.html"
echo "The report is $folder/report.html. Delete the folder when you no longer need it."
