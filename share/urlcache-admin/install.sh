#!/bin/sh
# Installs the programs, manual pages, completions, units and documents, or removes them again.
#
#   sh share/urlcache-admin/install.sh [--prefix DIR] [--destdir DIR] [--binaries DIR]
#   sh share/urlcache-admin/install.sh --uninstall [--prefix DIR] [--destdir DIR]
#
# --prefix     where to install (default: /usr/local)
# --destdir    a folder to use as /, for packages
# --binaries   the folder of the programs (default: .build-static/release or .build/release;
#              built if there are none)
# --uninstall  remove what was installed, and nothing else
#
# PREFIX/share/urlcache-admin/install-manifest lists what was installed. No timer is enabled, and
# no configuration is written.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$here/../.." && pwd)
prefix=/usr/local
destdir=
binaries=
uninstall=
usage() {
  echo "usage: install.sh [--prefix DIR] [--destdir DIR] [--binaries DIR] [--uninstall]" >&2
  exit 64
}
while [ $# -gt 0 ]; do
  case $1 in
  --prefix | --destdir | --binaries)
    if [ $# -lt 2 ] || [ -z "$2" ]; then usage; fi
    case $1 in
    --prefix) prefix=$2 ;;
    --destdir) destdir=$2 ;;
    --binaries) binaries=$2 ;;
    esac
    shift 2
    ;;
  --prefix=*) prefix=${1#*=} && shift ;;
  --destdir=*) destdir=${1#*=} && shift ;;
  --binaries=*) binaries=${1#*=} && shift ;;
  --uninstall) uninstall=yes && shift ;;
  *) usage ;;
  esac
done
prefix=${prefix%/}
# Units and jobs contain the prefix, and other characters have a meaning in them.
case $prefix in
"" | /*[!A-Za-z0-9/._+@-]* | [!/]* | */../* | */..)
  echo "error: '$prefix' cannot be the prefix: it must be an absolute path below / of letters, digits and /._+@-" >&2
  exit 64
  ;;
esac
root=$destdir$prefix
manifest=share/urlcache-admin/install-manifest

# Removes the files in a manifest, except those that another manifest lists too, and folders that an installation
# created and that are empty now.
remove() {
  while read -r kind path; do
    case $path in /* | ../* | */../* | */.. | ..) continue ;; esac
    if [ "$kind" = f ] && ! { [ -n "$2" ] && grep -qxF "f $path" "$2"; }; then rm -f "$root/$path"; fi
  done <"$1"
  [ -z "$2" ] || return 0
  rm -f "$root/$manifest"
  # Inner folders first.
  sed -n 's/^d //p' "$1" | LC_ALL=C sort -r | while IFS= read -r path; do
    case $path in /* | ../* | */../* | */.. | ..) continue ;; esac
    rmdir "$root/$path" 2>/dev/null || true
  done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [ -n "$uninstall" ]; then
  [ -f "$root/$manifest" ] || {
    echo "error: nothing is installed below '$root': there is no '$manifest'" >&2
    exit 66
  }
  cp "$root/$manifest" "$work/manifest"
  remove "$work/manifest" ""
  echo "Removed $(grep -c '^f ' "$work/manifest") files below $root"
  exit 0
fi

has_programs() { [ -x "$1/urlcache-admin" ] && [ -x "$1/urlcache-admin-fetch" ]; }
if [ -z "$binaries" ]; then
  for folder in "$checkout/.build-static/release" "$checkout/.build/release"; do
    if has_programs "$folder"; then binaries=$folder && break; fi
  done
  [ -n "$binaries" ] || binaries=$(sh "$here/build-binaries.sh")
fi
has_programs "$binaries" || {
  echo "error: there are no programs in '$binaries'" >&2
  exit 66
}
mkdir "$work/tree"
sh "$here/stage.sh" --binaries "$binaries" --prefix "$prefix" "$work/tree"

umask 022
mkdir -p "$root"
(cd "$work/tree" && find . -type f | sed 's|^\./|f |' | LC_ALL=C sort) >"$work/files"
(cd "$work/tree" && find . -type d | sed -n 's|^\./||p' | LC_ALL=C sort) >"$work/folders"
while IFS= read -r folder; do
  [ -d "$root/$folder" ] || echo "d $folder"
done <"$work/folders" >"$work/made"
if [ -f "$root/$manifest" ]; then
  cp "$root/$manifest" "$work/old"
  # Folders that an earlier installation created are also removed when they are empty.
  grep '^d ' "$work/old" >>"$work/made" || true
fi
cat "$work/files" "$work/made" | LC_ALL=C sort -u >"$work/manifest"
while IFS= read -r folder; do mkdir -p "$root/$folder"; done <"$work/folders"
# The manifest is written first, so that an interrupted installation can be removed.
install -m 644 "$work/manifest" "$root/$manifest"
while read -r _ path; do
  mode=644
  case $path in bin/* | libexec/*) mode=755 ;; esac
  install -m "$mode" "$work/tree/$path" "$root/$path"
done <"$work/files"
if [ -f "$work/old" ]; then remove "$work/old" "$work/manifest"; fi

echo "Installed $(wc -l <"$work/files" | tr -d ' ') files below $root:"
echo "  bin/urlcache-admin, libexec/urlcache-admin/urlcache-admin-fetch"
echo "  manual pages, completions for bash, zsh and fish, units for systemd, a job for launchd, schemas and documents in share/"
echo "To remove them: sh $0 --uninstall --prefix $prefix${destdir:+ --destdir $destdir}"
