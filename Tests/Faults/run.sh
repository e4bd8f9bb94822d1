#!/bin/sh
# Tries all faults on commands that change a cache; the tests try a selection of them.
#
#   sh Tests/Faults/run.sh [killing|interrupting|power|importing|inserting|limits]...     all unless said
#
# killing       ends commands at each system call that writes, and lets each of them fail
# interrupting  sends SIGINT and SIGTERM, takes the room away, and runs two commands at once
# power         makes up the disks that a power failure may leave
# importing     ends imports and backups at system calls that write, and lets the power fail in imports
# inserting     stores 200 responses a second for 60 s beside enforce
# limits        has enforce keep limits of many more made-up caches, and compares its dry runs with real ones
set -eu
cd "$(dirname "$0")/../.."

[ $# -gt 0 ] || set -- killing interrupting power importing inserting limits
swift build --product urlcache-admin >&2
swift build --product sample-cache >&2
programs=$(swift build --show-bin-path)
# What is killed leaves what it had made.
TMPDIR=$(mktemp -d)
XDG_STATE_HOME=$TMPDIR/state
export TMPDIR XDG_STATE_HOME
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for name in "$@"; do
  case $name in
  killing | interrupting | power)
    python3 "Tests/Scripts/check_$name.py" \
      "$programs/urlcache-admin" "$programs/sample-cache" --all
    ;;
  importing)
    python3 Tests/Scripts/check_import_killing.py "$programs/urlcache-admin" "$programs/sample-cache"
    for script in check_import_power check_foundation_import_faults check_foundation_killing; do
      python3 "Tests/Scripts/$script.py" "$programs/urlcache-admin" "$programs/sample-cache" --all
    done
    ;;
  inserting)
    python3 Tests/Faults/insert_beside.py "$programs/urlcache-admin" "$programs/sample-cache" 60
    ;;
  limits)
    python3 Tests/Scripts/check_limits.py "$programs/urlcache-admin" "$programs/sample-cache" --all
    python3 Tests/Scripts/check_rehearsing.py "$programs/urlcache-admin" "$programs/sample-cache" "" --all
    ;;
  *)
    echo "usage: sh Tests/Faults/run.sh [killing|interrupting|power|importing|inserting|limits]..." >&2
    exit 64
    ;;
  esac
done
