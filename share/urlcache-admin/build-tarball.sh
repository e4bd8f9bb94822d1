#!/bin/sh
# Makes a tarball with bin/, libexec/ and share/, to be unpacked below a prefix such as /usr/local.
#
#   sh share/urlcache-admin/build-tarball.sh [--binaries FOLDER] [-o FOLDER]
#
# --binaries  the folder of urlcache-admin and urlcache-admin-fetch; without it they are built
# -o          where the tarball goes; without it, here
#
# Prints the name of the tarball. The same files give the same bytes.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
binaries=
output=.
while [ $# -gt 0 ]; do
  case $1 in
  --binaries) binaries=${2:?--binaries needs a folder} && shift 2 ;;
  -o) output=${2:?-o needs a folder} && shift 2 ;;
  *)
    echo "usage: build-tarball.sh [--binaries FOLDER] [-o FOLDER]" >&2
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
mkdir -p "$tree/bin" "$tree/libexec/urlcache-admin" "$tree/share"

cp "$binaries/urlcache-admin" "$tree/bin/"
# Nobody calls it by hand; 'revalidate' looks for it here.
cp "$binaries/urlcache-admin-fetch" "$tree/libexec/urlcache-admin/"
strip --strip-unneeded "$tree/bin/urlcache-admin" "$tree/libexec/urlcache-admin/urlcache-admin-fetch"
cp "$checkout/LICENSE" "$checkout/README.md" "$tree/"
cp -R "$checkout/share/." "$tree/share/"
# What makes packages is no part of one, and the demonstration builds from a checkout.
for name_of_source in 'build-*.sh' debian demo.sh homebrew; do
  # shellcheck disable=SC2086 # A pattern may stand for several files.
  rm -rf "$tree/share/urlcache-admin/"$name_of_source
done
find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f -exec chmod 644 {} +
chmod 755 "$tree"/bin/* "$tree"/libexec/*/*

# Times of the last commit, so that nothing depends on when and where it was made.
time=${SOURCE_DATE_EPOCH:-$(git -C "$checkout" log -1 --format=%ct)}
tarball=$(cd "$output" && pwd)/$name.tar.gz
tar -C "$folder" --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner \
  --format=gnu -cf - "$name" | gzip -n >"$tarball"
echo "$tarball"
