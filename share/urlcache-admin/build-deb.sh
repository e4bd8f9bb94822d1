#!/bin/sh
# Makes a Debian package, and prints its name.
#
#   sh share/urlcache-admin/build-deb.sh [--binaries FOLDER] [-o FOLDER]
#
# The options are those of build-tarball.sh. Needs dpkg-dev.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$here/../.." && pwd)
output=.
binaries=
while [ $# -gt 0 ]; do
  case $1 in
  --binaries) binaries=${2:?--binaries needs a folder} && shift 2 ;;
  -o) output=${2:?-o needs a folder} && shift 2 ;;
  *)
    echo "usage: build-deb.sh [--binaries FOLDER] [-o FOLDER]" >&2
    exit 64
    ;;
  esac
done
output=$(cd "$output" && pwd)
[ -n "$binaries" ] || binaries=$(sh "$here/build-binaries.sh")
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$checkout" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
root=$work/debian/urlcache-admin
mkdir -p "$root/DEBIAN" "$root/usr" "$root/lib/systemd"
tarball=$(sh "$here/build-tarball.sh" --binaries "$binaries" --prefix /usr -o "$work")
tar -C "$root/usr" --strip-components=1 -xf "$tarball"
rm "$root/usr/LICENSE" "$root/usr/README.md"

# Debian has other folders for some of the files.
mv "$root/usr/lib/systemd/system" "$root/lib/systemd/system"
mv "$root/usr/share/systemd/user" "$root/usr/lib/systemd/user"
rmdir "$root/usr/share/systemd"
if [ -d "$root/usr/share/zsh/site-functions" ]; then
  mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
fi
completion=$root/usr/share/bash-completion/completions/urlcache-admin
if [ -f "$completion" ]; then sed -i '1{/^#!/d}' "$completion"; fi

doc=$root/usr/share/doc/urlcache-admin
cp "$here/debian/copyright" "$doc/copyright"
gzip -9nc "$here/debian/changelog" >"$doc/changelog.gz"
if [ -d "$root/usr/share/man" ]; then find "$root/usr/share/man" -type f -exec gzip -9n {} +; fi
find "$root" -type d -exec chmod 755 {} +

version=$(dpkg-parsechangelog -l "$here/debian/changelog" -S Version)
"$binaries/urlcache-admin" --version | grep -q "^urlcache-admin $version " || {
  echo "debian/changelog is about version $version, and the program is another" >&2
  exit 65
}
# dpkg-shlibdeps needs the control file of a source package, but none of its other fields.
printf 'Source: urlcache-admin\n\nPackage: urlcache-admin\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info \
  "$root/usr/bin/urlcache-admin" "$root/usr/libexec/urlcache-admin/urlcache-admin-fetch" 2>/dev/null |
  sed -n 's/^shlibs:Depends=//p')
# The program loads libarchive by name when it needs it, which dpkg-shlibdeps does not see.
archive=$(ldconfig -p | awk '/libarchive\.so\.13 / { print $NF; exit }')
archive=$(dpkg -S "$(basename "$(readlink -f "${archive:?libarchive is not installed}")")" | cut -d: -f1)
depends="${depends:+$depends, }${archive:?no package has libarchive}"
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$(dpkg --print-architecture)/" \
  -e "s/@SIZE@/$(du -sk --apparent-size "$root/usr" "$root/lib" | awk '{ sum += $1 } END { print sum }')/" \
  -e "s/@DEPENDS@/${depends:?dpkg-shlibdeps found nothing}/" "$here/debian/control" >"$root/DEBIAN/control"
(cd "$root" && find usr lib -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Zxz -b "$root" "$output" >&2
echo "$output/urlcache-admin_${version}_$(dpkg --print-architecture).deb"
