#!/bin/sh
# Builds the programs for packages, with the Swift runtime linked in, and prints the folder with them.
#
#   sh share/urlcache-admin/build-binaries.sh
#
# The libraries of the system stay shared: libsqlite3, libarchive, libdeflate, libnettle and libpcre2, and libcurl for
# urlcache-admin-fetch. Their development packages are needed; apt installs the missing ones.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)

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

build() {
  swift build --package-path "$checkout" --scratch-path "$checkout/.build-static" -c release \
    --static-swift-stdlib "$@"
}

install libsqlite3-dev libarchive-dev libcurl4-openssl-dev libdeflate-dev libpcre2-dev nettle-dev pkg-config
build --product urlcache-admin >&2
build --product urlcache-admin-fetch >&2
build --show-bin-path
