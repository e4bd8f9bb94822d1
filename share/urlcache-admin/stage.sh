#!/bin/sh
# Lays out all files that are installed, below a folder: bin/ libexec/ lib/ share/.
#
#   sh share/urlcache-admin/stage.sh --binaries FOLDER --prefix PREFIX TREE
#
# --binaries  the folder of urlcache-admin and urlcache-admin-fetch
# --prefix    where the tree will be: units, jobs and pages name the program there
#
# install.sh and the packages all take their files from here. TREE must be a new or an empty folder.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
binaries=
prefix=
tree=
while [ $# -gt 0 ]; do
  case $1 in
  --binaries) binaries=${2:?--binaries needs a folder} && shift 2 ;;
  --prefix) prefix=${2:?--prefix needs a folder} && shift 2 ;;
  -*) tree= && break ;;
  *) tree=$1 && shift ;;
  esac
done
if [ -z "$binaries" ] || [ -z "$prefix" ] || [ -z "$tree" ]; then
  echo "usage: stage.sh --binaries FOLDER --prefix PREFIX TREE" >&2
  exit 64
fi
umask 022
mkdir -p "$tree/bin" "$tree/libexec/urlcache-admin" "$tree/lib/systemd" "$tree/share"

cp "$binaries/urlcache-admin" "$tree/bin/"
# Users do not run it; 'revalidate' looks for it here.
cp "$binaries/urlcache-admin-fetch" "$tree/libexec/urlcache-admin/"
cp -R "$checkout/share/." "$tree/share/"
# systemd looks for user units below 'share', and for system units below 'lib'.
mv "$tree/share/systemd/system" "$tree/lib/systemd/"
# The pages and the README are in one folder, so their links to each other are shorter than in a checkout. What is about the sources
# is not installed, and is named without a link.
doc=$tree/share/doc/urlcache-admin
cp "$checkout/README.md" "$doc/"
for file in "$doc"/*.md; do
  sed -e 's|](\.\./\.\./\.\./README\.md|](README.md|g' -e 's|\([("]\)share/doc/urlcache-admin/|\1|g' \
    -e 's!\[\([^]]*\)\]([./]*\(Sources\|Tests\)/[^)]*)!\1!g' \
    -e 's|](LICENSE)|](https://www.apache.org/licenses/LICENSE-2.0)|g' "$file" >"$tree/.rewritten"
  mv "$tree/.rewritten" "$file"
done
# Packages do not need what makes packages, and the demo needs a checkout.
(cd "$tree/share/urlcache-admin" && rm -rf ./*.sh ./*.py debian homebrew)

# The files in a checkout contain the default prefix.
if [ "$prefix" != /usr/local ]; then
  grep -rlE '/usr/local/(bin/urlcache-admin|share/(doc/)?urlcache-admin)' \
    "$tree/lib" "$tree/share/systemd" "$tree/share/urlcache-admin/launchd" "$tree/share/doc" |
    while IFS= read -r file; do
      sed -e "s|/usr/local/bin/urlcache-admin|$prefix/bin/urlcache-admin|g" \
        -e "s|/usr/local/share/\(doc/\)\{0,1\}urlcache-admin|$prefix/share/\1urlcache-admin|g" "$file" >"$tree/.rewritten"
      mv "$tree/.rewritten" "$file"
    done
fi
find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f -exec chmod 644 {} +
chmod 755 "$tree"/bin/* "$tree"/libexec/*/*
