#!/bin/sh
# Tries all faults on commands that change a cache; without this script the acceptance tests try a selection of them.
#
#   sh Tests/Faults/run.sh [killing|interrupting|power|importing|inserting|limits]...     all unless said
#
# killing       ends commands at each system call that writes, and lets each of them fail
# interrupting  sends SIGINT and SIGTERM, takes the room away, and runs two commands at once
# power         makes up the disks that a power failure may leave
# importing     ends imports and backups at system calls that write, and lets the power fail in imports
# inserting     stores 200 responses a second for 60 s while enforce works
# limits        has enforce keep limits of many more made-up caches, and compares its dry runs with real ones
set -eu
cd "$(dirname "$0")/../.."

[ $# -gt 0 ] || set -- killing interrupting power importing inserting limits
swift build --product urlcache-admin >&2
swift build --product sample-cache >&2
swift build --product urlcache-admin-fetch >&2
PRODUCTS=$(swift build --show-bin-path)
# What is killed leaves what it had made.
TMPDIR=$(mktemp -d)
PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
export PRODUCTS TMPDIR PYTEST_DISABLE_PLUGIN_AUTOLOAD
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for name in "$@"; do
  case $name in
  killing | interrupting | power | inserting) files=faults/test_$name.py ;;
  importing)
    files="faults/test_import_killing.py faults/test_import_power.py faults/test_foundation_import_faults.py
      faults/test_foundation_killing.py"
    ;;
  limits) files="changing/test_limits.py changing/test_rehearsing.py" ;;
  *)
    echo "usage: sh Tests/Faults/run.sh [killing|interrupting|power|importing|inserting|limits]..." >&2
    exit 64
    ;;
  esac
  # shellcheck disable=SC2086 # Each word is a file.
  (cd Tests/Acceptance && PYTHONPATH=../../.build/peers python3 -m pytest -n 2 --thorough -q $files)
done
