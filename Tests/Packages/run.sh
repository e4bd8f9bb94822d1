#!/bin/sh
# Makes packages, and installs, runs and removes them in a fresh Debian 12.
#
#   sh Tests/Packages/run.sh [--binaries FOLDER]
#
# --binaries  the folder of built programs; without it they are built, which takes minutes
#
# Runs as root, for chroot, and installs what it needs with apt. Prints a line for each part, and ends at the first that is not
# as it should be. The fresh system is kept in .build/packages, and copied for each run.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
kept=$checkout/.build/packages
binaries=
if [ "${1-}" = --binaries ]; then binaries=${2:?--binaries needs a folder}; fi

fail() {
  echo "$*" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail "this needs root, for chroot"
missing=
for package in binutils debootstrap dpkg-dev lintian; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
  apt-get update -qq
  # shellcheck disable=SC2086 # Each word is a package.
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >&2
fi
[ -n "$binaries" ] || binaries=$(sh "$checkout/share/urlcache-admin/build-binaries.sh")

mkdir -p "$kept"
work=$(mktemp -d "$kept/XXXXXX")
chroot=$work/chroot
finish() {
  umount "$chroot/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work/one" "$work/two" "$work/prefix"
"$binaries/urlcache-admin" sample --entries 25 "$work/cache"

# A program and its list of a sample, wherever it was put.
expect_list() {
  version=$("$@" --version) || fail "$* --version ended with $?"
  case $version in "urlcache-admin "*" (SQLite "*")") ;; *) fail "it says '$version'" ;; esac
  entries=$("$@" list -c "$sample" --count) || fail "$* list ended with $?"
  [ "$entries" = 25 ] || fail "it lists '$entries' entries"
}

for folder in one two; do
  tarball=$(sh "$checkout/share/urlcache-admin/build-tarball.sh" --binaries "$binaries" -o "$work/$folder")
  deb=$(sh "$checkout/share/urlcache-admin/build-deb.sh" --binaries "$binaries" -o "$work/$folder" 2>"$work/log") ||
    fail "$(cat "$work/log")"
done
cmp "$work/one/$(basename "$tarball")" "$tarball"
cmp "$work/one/$(basename "$deb")" "$deb"
echo "the same bytes: ok"
wc -c "$tarball" "$deb" | sed '$d' >&2

tar -C "$work/prefix" --strip-components=1 -xf "$tarball"
held=$(cd "$work/prefix" && echo *)
[ "$held" = "LICENSE README.md bin lib libexec share" ] || fail "the tarball holds $held"
sample=$work/cache
expect_list "$work/prefix/bin/urlcache-admin"
for name in debian homebrew build-deb.sh demo.sh; do
  [ ! -e "$work/prefix/share/urlcache-admin/$name" ] || fail "the tarball holds $name"
done
[ -s "$work/prefix/share/doc/urlcache-admin/copyright" ] || fail "the tarball lacks the licences of what the programs contain"
echo "tarball: ok"

lintian --allow-root --no-cfg --fail-on error "$deb" >"$work/log" || fail "$(cat "$work/log")"
sed 's/^/  /' "$work/log" >&2
echo "lintian: ok"

if [ ! -e "$kept/bookworm/etc/debian_version" ]; then
  rm -rf --one-file-system "$kept/bookworm"
  debootstrap --variant=minbase bookworm "$kept/new" >"$work/log" || fail "$(tail "$work/log")"
  mv "$kept/new" "$kept/bookworm"
fi
cp -a "$kept/bookworm" "$chroot"
cp /etc/resolv.conf "$chroot/etc/" 2>/dev/null || true
mount -t proc proc "$chroot/proc"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
chroot "$chroot" apt-get update -qq >"$work/log" 2>&1 || fail "$(cat "$work/log")"

# What libraries bring is not what is looked at.
files() { (cd "$chroot" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/lib/apt \) -prune -o -print | sort); }
cp "$deb" "$chroot/tmp/urlcache-admin.deb"
cp -a "$work/cache" "$chroot/tmp/cache"
# shellcheck disable=SC2046 # Each word is a package.
chroot "$chroot" apt-get install -y -qq --no-install-recommends \
  $(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/[(|].*//') >"$work/log" 2>&1 || fail "$(cat "$work/log")"
files >"$work/before"
chroot "$chroot" apt-get install -y -qq --no-install-recommends /tmp/urlcache-admin.deb >"$work/log" 2>&1 ||
  fail "$(cat "$work/log")"
files >"$work/installed"
for name in usr/bin/urlcache-admin usr/libexec/urlcache-admin/urlcache-admin-fetch \
  usr/lib/systemd/system/urlcache-admin-enforce@.timer usr/lib/systemd/user/urlcache-admin-enforce.service \
  usr/share/urlcache-admin/schema/list.schema.json usr/share/doc/urlcache-admin/changelog.gz \
  usr/share/zsh/vendor-completions/_urlcache-admin usr/share/bash-completion/completions/urlcache-admin; do
  grep -qx "./$name" "$work/installed" || fail "the package does not install $name"
done
sample=/tmp/cache
expect_list chroot "$chroot" urlcache-admin
# No origin answers here; that each was asked shows that the second program is found and runs.
status=0
chroot "$chroot" urlcache-admin revalidate -c /tmp/cache --all --timeout 1s >"$work/log" 2>&1 || status=$?
[ "$status" = 3 ] || fail "revalidate ended with $status: $(cat "$work/log")"
echo "installed: ok"

umount "$chroot/proc"
status=0
chroot "$chroot" urlcache-admin --version >"$work/log" 2>&1 || status=$?
[ "$status" = 70 ] || fail "without /proc it ended with $status: $(cat "$work/log")"
grep -q /proc "$work/log" || fail "it does not say that /proc is not there: $(cat "$work/log")"
mount -t proc proc "$chroot/proc"
echo "without /proc: ok"

chroot "$chroot" dpkg --purge urlcache-admin >"$work/log" 2>&1 || fail "$(cat "$work/log")"
files >"$work/after"
cmp "$work/before" "$work/after" || fail "$(diff "$work/before" "$work/after")"
echo "purged: ok"
