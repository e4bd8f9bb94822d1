#!/bin/sh
# Measures what the page of the benchmarks shows, and writes the page and its pictures for light and dark backgrounds.
#
#   sh Tests/Benchmarks/page.sh [--write] [SCRIPT...]
#
# A SCRIPT is the name of a script in this folder without .sh; it may be followed by the arguments of that script, as in "run 2000".
# Without a name, all scripts run, which takes hours and 50 GB of disk; with --write alone, none. Each keeps its figures in FIGURES,
# which is Tests/Benchmarks/figures unless it is set; the page, README.md, is written into PAGES, which is Tests/Benchmarks.
set -eu
cd "$(dirname "$0")/../.."
if [ "${1-}" = --write ]; then
  shift
elif [ $# -eq 0 ]; then
  set -- goals run foundation grep archives web_archives removals "removals 200000" remains growth
fi
for script; do
  echo "== $script" >&2
  # shellcheck disable=SC2086 # The words after the name are arguments.
  set -- $script
  name=$1
  shift
  sh "Tests/Benchmarks/$name.sh" "$@"
done
python3 Tests/Benchmarks/page.py "${FIGURES-Tests/Benchmarks/figures}" "${PAGES-Tests/Benchmarks}"
