#!/bin/sh
# Builds the programs with the Swift runtime linked in, and prints the folder with them.
#
#   sh share/urlcache-admin/build-binaries.sh [--shared] [PRODUCT...]     by default, both programs
#
# --shared  link the shared libraries of the system, as Debian wants it
#
# Otherwise the C++ library, libdeflate and libpcre2 are linked in, too, where their static libraries are installed: loading them
# takes a third of the time in which the program starts. A fix of theirs so needs a new build. Always shared are those that the
# system has to update most, libsqlite3, libarchive, and libcurl for urlcache-admin-fetch; and libnettle, as its licence sets
# conditions. The development packages of all are needed; without --shared, apt installs the missing ones.
#
# In a source tree that build-source.sh made, nothing is downloaded.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$checkout/.build-static
libraries=$scratch/libraries
shared=
if [ "${1-}" = --shared ]; then shared=yes && shift; fi

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

# Collects static libraries in a folder in which the linker looks first. A library without a static one stays shared.
collect_libraries() {
  # Files of pkg-config cannot name every folder.
  case $libraries in *[!A-Za-z0-9/._+-]*) return ;; esac
  compiler=$(command -v clang || command -v cc) || return 0
  mkdir -p "$libraries"
  # The shared library of the compiler is libgcc_s.
  for library in stdc++ gcc_s:gcc_eh deflate pcre2-8; do
    file=$("$compiler" -print-file-name="lib${library#*:}.a")
    if [ -f "$file" ]; then ln -sf "$(realpath "$file")" "$libraries/lib${library%:*}.a"; fi
  done
  # The folders in these files come before those of options.
  for package in sqlite3 nettle libdeflate libpcre2-8; do
    there=$(pkg-config --variable=pcfiledir "$package") || return 0
    sed "s|^Libs:|Libs: -L$libraries|" "$there/$package.pc" >"$libraries/$package.pc"
  done
  export PKG_CONFIG_PATH="$libraries${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
}

build() {
  swift build --package-path "$checkout" --scratch-path "$scratch" -c release "$@"
}

[ $# -gt 0 ] || set -- urlcache-admin urlcache-admin-fetch
products=$*
# The programs do not depend on the folder of the build: neither by its path, nor by the names of module caches in debug symbols, nor by
# a hash of the compiler's options.
set -- -Xswiftc -file-prefix-map -Xswiftc "$checkout=." -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs \
  -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
# Elsewhere, the Swift runtime is part of the system.
if [ "$(uname -s)" = Linux ]; then
  # Swift would export the symbols of the program, 1.3 MB, which nothing uses.
  set -- "$@" --static-swift-stdlib -Xlinker --no-export-dynamic
  # A generic type that is looked up by its name compares all conformances of the program. Without that, a short run has a sixth fewer
  # instructions.
  set -- "$@" -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
fi
if [ -z "$shared" ]; then
  install libsqlite3-dev libarchive-dev libcurl4-openssl-dev libdeflate-dev libpcre2-dev nettle-dev pkg-config
  if [ "$(uname -s)" = Linux ]; then
    collect_libraries
    [ ! -d "$libraries" ] || set -- "$@" -Xlinker "-L$libraries"
  fi
fi
if [ -d "$checkout/Dependencies" ]; then
  export DEPENDENCIES="$checkout/Dependencies"
  set -- "$@" --disable-automatic-resolution
fi

# 'urlcache-admin --version --verbose' shows the source of a build. Other builds do not find the file; for this one, it is the same
# file as long as it says the same, so that nothing is compiled again.
built=$checkout/Sources/CVersion/built.h
if [ -e "$checkout/.git" ] && commit=$(git -C "$checkout" rev-parse HEAD 2>/dev/null); then
  git -C "$checkout" diff --quiet HEAD 2>/dev/null || commit="$commit with changes"
  trap 'rm -f "$built"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  mkdir -p "$scratch"
  kept=$scratch/built.h
  printf '#define SOURCE_COMMIT "%s"\n#define SOURCE_DATE "%s"\n' "$commit" "$(git -C "$checkout" log -1 --format=%cs)" >"$kept.new"
  if cmp -s "$kept.new" "$kept"; then rm "$kept.new"; else mv "$kept.new" "$kept"; fi
  ln -f "$kept" "$built"
fi
for product in $products; do build "$@" --product "$product" >&2; done
build "$@" --show-bin-path
