#!/bin/sh
# Makes a cache, and shows on it what urlcache-admin is for. It writes to a new folder below $TMPDIR only.
#
#   sh share/urlcache-admin/demo.sh
#
# In a clone it first builds what `install.sh` installs, so that nothing is built again.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
if [ -e "$here/../../Package.swift" ] && command -v swift >/dev/null; then
  log=$(mktemp "${TMPDIR:-/tmp}/urlcache-admin-build.XXXXXX")
  echo "Building urlcache-admin, and urlcache-admin-fetch for 'revalidate'. The first time, this takes about 5 minutes on 2 cores." >&2
  # The build prints hundreds of lines, which are shown only if it fails.
  programs=$(sh "$here/build-binaries.sh" 2>"$log") || {
    cat "$log" >&2
    rm -f "$log"
    exit 1
  }
  rm -f "$log"
elif [ -x "$here/../../bin/urlcache-admin" ]; then
  programs=$here/../../bin
elif found=$(command -v urlcache-admin); then
  programs=$(dirname "$found")
else
  echo "There is no Swift toolchain: get Swift 6.3 from https://www.swift.org/install" >&2
  exit 69
fi
programs=$(cd "$programs" && pwd)
PATH=$programs:$PATH
export PATH

folder=$(mktemp -d "${TMPDIR:-/tmp}/urlcache-admin-demo.XXXXXX")
cd "$folder"
cache=com.example.shop
urlcache-admin sample --quiet --faults orphan-files $cache

# Asks a question, and shows a command and the first lines of its answer; fails if its status is not the expected one:
# show QUESTION STATUS LINES VERB [WORD]...
show() {
  printf '\n# %s\n' "$1"
  expected=$2 lines=$3
  shift 3
  printf '$ urlcache-admin %s\n' "$*"
  status=0
  urlcache-admin "$@" >output 2>&1 || status=$?
  head -n "$lines" output
  [ "$status" = "$expected" ] || {
    echo "FAILED: it ended with $status instead of $expected; all it printed is in $folder/output" >&2
    exit 1
  }
}

show "How full is it, and what fills it?" 0 9 usage $cache --capacity 40MiB --by host --limit 3
show "Which tokens did the app leave?" 1 6 audit $cache --rule secret/bearer-token
show "Why is this image downloaded every time?" 1 2 explain $cache https://cdn.shop.example/images/ec48c90d.png
show "What would a limit of 90 days remove?" 0 2 purge $cache --older-than 90d --dry-run
show "Remove that, with a backup." 0 2 purge $cache --older-than 90d --backup gone.tar.zst --yes
show "Undo it." 0 1 import gone.tar.zst $cache
show "Keep it below 32 MiB." 0 3 enforce $cache --max-size 32MiB --yes
show "Everything on one page." 0 1 report $cache --capacity 40MiB -o report.html
rm output

printf '\nFind your own caches with: %s discover\n' "$programs/urlcache-admin"
[ ! -e "$here/../../Package.swift" ] || echo "Install it with: sudo sh $here/install.sh"
cat <<END
The cache and the report are in $folder; remove it with: rm -r $folder
END
