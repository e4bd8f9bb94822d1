#!/bin/sh
# Makes a tarball with bin/, libexec/, lib/ and share/, to be unpacked below a prefix such as /usr/local.
#
#   sh share/urlcache-admin/build-tarball.sh [--binaries FOLDER] [--prefix PREFIX] [-o FOLDER]
#
# --binaries  the folder of urlcache-admin and urlcache-admin-fetch (default: build them)
# --prefix    where it will be unpacked, for the paths in units and jobs (default: /usr/local)
# -o          the folder for the tarball (default: this folder)
#
# Prints the name of the tarball. The same files give the same bytes.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
binaries=
prefix=/usr/local
output=.
while [ $# -gt 0 ]; do
  case $1 in
  --binaries) binaries=${2:?--binaries needs a folder} && shift 2 ;;
  --prefix) prefix=${2:?--prefix needs a folder} && shift 2 ;;
  -o) output=${2:?-o needs a folder} && shift 2 ;;
  *)
    echo "usage: build-tarball.sh [--binaries FOLDER] [--prefix PREFIX] [-o FOLDER]" >&2
    exit 64
    ;;
  esac
done
[ -n "$binaries" ] || binaries=$(sh "$checkout/share/urlcache-admin/build-binaries.sh")

version=$("$binaries/urlcache-admin" --version | cut -d ' ' -f 2)
name=urlcache-admin-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
umask 022
tree=$folder/$name
sh "$checkout/share/urlcache-admin/stage.sh" --binaries "$binaries" --prefix "$prefix" "$tree"
# On macOS, it would take the signature away, without which an Apple processor runs no program.
[ "$(uname -s)" != Linux ] || strip --strip-unneeded "$tree/bin/urlcache-admin" "$tree/libexec/urlcache-admin/urlcache-admin-fetch"
cp "$checkout/LICENSE" "$checkout/README.md" "$tree/"
# The programs contain libraries whose licences ask for this.
cp "$checkout/share/urlcache-admin/debian/copyright" "$tree/share/doc/urlcache-admin/"
chmod 644 "$tree/LICENSE" "$tree/README.md" "$tree/share/doc/urlcache-admin/copyright"

# All times are those of the last commit, and the files are in the order of their names, so that every build gives the same bytes.
time=${SOURCE_DATE_EPOCH:-$(git -C "$checkout" log -1 --format=%ct)}
tarball=$(cd "$output" && pwd)/$name.tar.gz
# GNU has the first of each, and macOS the second.
stamp=$(TZ=UTC date -d "@$time" +%Y%m%d%H%M.%S 2>/dev/null || TZ=UTC date -r "$time" +%Y%m%d%H%M.%S)
case $(tar --version) in *GNU*) owner="--owner=0 --group=0" ;; *) owner="--uid 0 --gid 0" ;; esac
cd "$folder"
find "$name" -exec env TZ=UTC touch -t "$stamp" {} +
# macOS would add a file for the attributes of each.
# shellcheck disable=SC2086 # Each word is an option.
find "$name" | LC_ALL=C sort | COPYFILE_DISABLE=1 tar --no-recursion --numeric-owner $owner --format=ustar -cf - -T - | gzip -n >"$tarball"
echo "$tarball"
