# shellcheck shell=sh disable=SC2034,SC2153,SC2154 # The scripts that read it set and use these variables.
# What the benchmarks have in common. It is read by them, with their working folder the package.
#
# Before: `packages` are the Debian packages that are needed, and `programs` further programs to build; `TOOL` is a program to measure instead of building
# it, if it is set. After: `tool` is the program built as for packages, and `folder` is one that goes in the end.

if command -v dpkg >/dev/null; then
  missing=
  for package in hyperfine python3 time $packages; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
  done
  if [ -n "$missing" ]; then
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    # shellcheck disable=SC2086 # The words are wanted.
    $sudo apt-get update -qq && $sudo apt-get install -y -qq $missing
  fi
fi
if [ -n "${TOOL-}" ]; then
  tool=$TOOL
else
  # shellcheck disable=SC2086 # The words are wanted.
  binaries=$(sh share/urlcache-admin/build-binaries.sh urlcache-admin ${programs-})
  tool=$binaries/urlcache-admin
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
runs=${RUNS-7}
prepare=true
figures=${FIGURES-Tests/Benchmarks/figures}
mkdir -p "$figures"

# Measures commands after `prepare`, each in one run with the others: table NAME TITLE [LABEL COMMAND]... keeps the medians as
# NAME.tsv in `figures`, and prints the time, its ratio to that of the first, and the processor time.
table() {
  figure=$figures/$1.tsv
  heading=$2
  shift 2
  left=$#
  while [ "$left" -gt 0 ]; do
    set -- "$@" --command-name "$1" "$2"
    shift 2
    left=$((left - 2))
  done
  rm -f "$folder"/result.*
  warmup=${WARMUP-1}
  # In rounds, because a shared machine is slower for minutes at a time: that must not meet one command alone.
  round=0
  while [ "$round" -lt "$runs" ]; do
    hyperfine --warmup "$warmup" --runs 1 --shell none --output null --prepare "$prepare" \
      --export-json "$folder/result.$round" "$@" >/dev/null 2>"$folder/errors" || {
      cat "$folder/errors" >&2
      exit 1
    }
    warmup=0
    round=$((round + 1))
  done
  python3 Tests/Benchmarks/figures.py "$figure" "$heading" "$folder"/result.*
}

# Prints a label, and the peak memory of the tool with some options, in KiB.
memory() {
  label=$1
  shift
  /usr/bin/time -f "%M" -o "$folder/memory" "$tool" "$@" >/dev/null 2>"$folder/errors" || [ $? -le 3 ] || cat "$folder/errors" >&2
  printf '%s\t%s\n' "$label" "$(tail -1 "$folder/memory")"
}

# Keeps what it reads under a name: a label and a number for each column on each line: record NAME TITLE COLUMN...
record() {
  figure=$figures/$1.tsv
  heading=$2
  shift 2
  python3 Tests/Benchmarks/figures.py "$figure" "$heading" --columns "$@"
}

# Prints the size of a file or folder.
size() {
  du -sh "$1" | cut -f1 | sed 's/\([KMGT]\)$/ \1iB/'
}
