#!/bin/sh
# Makes a tarball of the source, from which the program can be built without a network, and prints its name.
#
#   sh share/urlcache-admin/build-source.sh [-o FOLDER]     by default, this folder
#
# It contains the last commit, and in Dependencies/ the packages that Package.swift pins. The same commit gives the same bytes.
# Next to it, urlcache-admin-VERSION is the unpacked tarball with debian/, where 'dpkg-buildpackage' builds the Debian packages.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
output=.
if [ "${1-}" = -o ]; then output=${2:?-o needs a folder} && shift 2; fi
[ $# -eq 0 ] || {
  echo "usage: build-source.sh [-o FOLDER]" >&2
  exit 64
}
output=$(cd "$output" && pwd)
version=$(sed -n 's/.* versionNumber = "\(.*\)"$/\1/p' "$checkout/Sources/AdminCommands/CommandLine/URLCacheAdmin.swift")
name=urlcache-admin-$version
tree=$output/$name
[ ! -e "$tree" ] || {
  echo "'$tree' exists already" >&2
  exit 73
}
time=$(git -C "$checkout" log -1 --format=%ct)

umask 022
mkdir -p "$tree/Dependencies"
git -C "$checkout" -c tar.umask=0022 archive HEAD | tar -xf - -C "$tree"
swift package --package-path "$checkout" --scratch-path "$checkout/.build-static" resolve >&2
for dependency in "$checkout"/.build-static/checkouts/*; do
  git -C "$dependency" -c tar.umask=0022 archive --prefix="$(basename "$dependency")/" HEAD | tar -xf - -C "$tree/Dependencies"
done
tarball=$output/$name.tar.gz
tar -C "$output" --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --format=gnu -cf - "$name" | gzip -9n >"$tarball"
# Debian looks for the tarball under this name.
ln -sf "$name.tar.gz" "$output/urlcache-admin_$version.orig.tar.gz"
cp -R "$tree/share/urlcache-admin/debian" "$tree/"
echo "$tarball"
