#!/bin/sh
# Installs the programs below a prefix, runs each command on made-up caches, makes a package, and removes everything again.
#
#   sh Tests/Installed/run.sh [--binaries FOLDER] [-o FOLDER]
#
# --binaries  the folder of built programs; without it they are built, which takes minutes
# -o          where to put the package, and SHA256SUMS with its digest
#
# It needs nothing but a shell, of any Linux or of macOS. Ends at the first command that does not end as it should.
set -eu
checkout=$(cd "$(dirname "$0")/../.." && pwd)
binaries=
output=
while [ $# -gt 0 ]; do
  case $1 in
  --binaries) binaries=${2:?--binaries needs a folder} && shift 2 ;;
  -o) output=${2:?-o needs a folder} && shift 2 ;;
  *)
    echo "usage: run.sh [--binaries FOLDER] [-o FOLDER]" >&2
    exit 64
    ;;
  esac
done
scripts=$checkout/share/urlcache-admin
[ -n "$binaries" ] || binaries=$(sh "$scripts/build-binaries.sh" urlcache-admin urlcache-admin-fetch)
binaries=$(cd "$binaries" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
prefix=$work/prefix
# Neither the configuration nor the records of whoever runs this are used.
HOME=$work/home
XDG_CONFIG_HOME=$HOME/.config
XDG_STATE_HOME=$HOME/.local/state
URLCACHE_ADMIN_AT=2026-01-02T00:00:00Z
export HOME XDG_CONFIG_HOME XDG_STATE_HOME URLCACHE_ADMIN_AT
mkdir "$HOME"

# Runs a command, which has to end with this status. What it writes is shown if it does not.
run() {
  wanted=$1
  shift
  status=0
  "$prefix/bin/urlcache-admin" "$@" </dev/null >"$work/output" 2>"$work/errors" || status=$?
  [ "$status" -eq "$wanted" ] || {
    cat "$work/output" "$work/errors"
    echo "'urlcache-admin $*' ended with $status instead of $wanted" >&2
    exit 1
  }
  count=$((count + 1))
}

# The number of entries of a cache has to be this.
expect() {
  run 0 list -c "$2" --count
  [ "$(cat "$work/output")" = "$1" ] || {
    echo "'$2' has $(cat "$work/output") entries instead of $1" >&2
    exit 1
  }
}

echo "== install"
sh "$scripts/install.sh" --prefix "$prefix" --binaries "$binaries" >"$work/output"
for file in bin/urlcache-admin libexec/urlcache-admin/urlcache-admin-fetch share/man/man1/urlcache-admin.1 \
  share/zsh/site-functions/_urlcache-admin share/urlcache-admin/schema/entry.schema.json; do
  [ -s "$prefix/$file" ] || {
    echo "'$file' was not installed" >&2
    exit 1
  }
done

count=0
cd "$work"
for format in apple foundation; do
  echo "== each command: $format"
  case $format in
  apple) found_by_audit=1 recovering=0 ;;
  # Such a cache keeps no removed entries.
  foundation) found_by_audit=0 recovering=64 ;;
  esac
  "$binaries/urlcache-admin" sample --format "$format" --entries 60 cache >/dev/null 2>&1
  url=$("$prefix/bin/urlcache-admin" list --quiet -c cache --columns url --format tsv --limit 1 | tail -n 1)
  run 0 --version
  run 0 discover .
  run 0 list -c cache --stale --sort -size
  run 0 list -c cache --format json
  run 0 usage -c cache --by host
  run 1 explain -c cache "$url"
  run 0 grep -c cache http
  run 0 show -c cache "$url"
  run 0 body -c cache "$url" -o body
  run 0 query cache "SELECT count(*) FROM entries"
  run 0 report -c cache -o report.html
  run 0 watch -c cache --for 1s
  run 0 metrics -c cache
  run 0 rules test -c cache
  run 0 config list
  # They find something.
  run 1 check -c cache
  run "$found_by_audit" audit -c cache
  run "$recovering" recover -c cache
  run 0 purge -c cache --all --dry-run
  run 0 enforce -c cache --max-entries 50 --dry-run
  for kind in tar har warc.gz zip; do run 0 export -c cache -o "archive.$kind"; done
  expect 60 cache
  run 0 import -c copy --create "$format" archive.tar
  run 0 diff cache copy
  expect 60 copy
  run 0 enforce -c copy --max-entries 40 --yes
  expect 40 copy
  run 0 purge -c copy --older-than 30d --plan plan.json
  run 0 apply plan.json --yes
  run 0 purge -c copy --host news.example --yes --secure
  run 0 compact -c copy
  run 0 import -c copy archive.tar
  expect 60 copy
  run 0 purge -c copy --all --yes
  rm -rf cache copy archive.* body report.html plan.json
done
echo "$count commands ended as they should"

if [ -n "$output" ]; then
  echo "== package"
  mkdir -p "$output"
  output=$(cd "$output" && pwd)
  package=$(sh "$scripts/build-tarball.sh" --binaries "$binaries" -o "$output")
  mkdir "$work/unpacked"
  tar -xzf "$package" -C "$work/unpacked"
  "$work/unpacked/$(basename "$package" .tar.gz)/bin/urlcache-admin" --version
  # GNU has the first, and macOS the second.
  digest=$(command -v sha256sum || echo "shasum -a 256")
  # shellcheck disable=SC2086 # Each word is one.
  (cd "$output" && $digest "$(basename "$package")" >SHA256SUMS && cat SHA256SUMS)
fi

echo "== remove"
sh "$scripts/install.sh" --uninstall --prefix "$prefix" >/dev/null
[ -z "$(find "$prefix" -type f 2>/dev/null)" ] || {
  echo "these files were left:" >&2
  find "$prefix" -type f >&2
  exit 1
}
