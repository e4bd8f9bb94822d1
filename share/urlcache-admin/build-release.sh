#!/bin/sh
# Makes all files of a release, and prints their digests: the tarballs of the source and of the programs with their list of
# components (CycloneDX), the Debian packages, and SHA256SUMS.
#
#   sh share/urlcache-admin/build-release.sh [--sign KEY] -o FOLDER
#
# --sign KEY  also sign SHA256SUMS with this key of gpg
#
# Builds the last commit of a clone on Debian 12 or later, with Swift in the path and python3. apt installs the packages that
# debian/control names and that are missing. Two runs on one system give the same bytes, except for urlcache-admin itself: in some
# builds, Swift 6.3.1 uses other registers in a function.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
key=
output=
while [ $# -gt 0 ]; do
  case $1 in
  --sign) key=${2:?--sign needs a key} && shift 2 ;;
  -o) output=${2:?-o needs a folder} && shift 2 ;;
  *) output= && break ;;
  esac
done
[ -n "$output" ] || {
  echo "usage: build-release.sh [--sign KEY] -o FOLDER" >&2
  exit 64
}
mkdir -p "$output"
output=$(cd "$output" && pwd)
SOURCE_DATE_EPOCH=$(git -C "$checkout" log -1 --format=%ct)
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
source=$(sh "$checkout/share/urlcache-admin/build-source.sh" -o "$work")
tree=${source%.tar.gz}
cd "$tree"
# Swift is not from a package.
profile=pkg.urlcache-admin.toolchain
dpkg-checkbuilddeps "-P$profile" 2>/dev/null || {
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get build-dep -y -qq "-P$profile" ./
} >&2
dpkg-buildpackage -us -uc -b "-P$profile" >&2
# Nothing is compiled again: these programs are only linked to other libraries.
programs=$(sh share/urlcache-admin/build-binaries.sh)
tarball=$(sh share/urlcache-admin/build-tarball.sh --binaries "$programs" -o "$output")
python3 share/urlcache-admin/list_components.py "$programs" "$tarball" >"${tarball%.tar.gz}.cdx.json"
mv "$source" "$work"/*.deb "$output"
cd "$output"
# shellcheck disable=SC2035 # No name begins with a dash.
sha256sum *.tar.gz *.deb *.cdx.json >SHA256SUMS
[ -z "$key" ] || gpg --batch --yes --armor --local-user "$key" --detach-sign SHA256SUMS
cat SHA256SUMS
