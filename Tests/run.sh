#!/bin/sh
# Checks everything: format, build, tests. Installs what it needs with apt, as often as it is run.
#
#   sh Tests/run.sh [--fuzz] [--sanitize]
#
# --fuzz      also runs the fuzz targets, 60 s each
# --sanitize  also runs the tests under ThreadSanitizer and AddressSanitizer
#
# The last line counts the passed and the failed tests; each other step counts as one.
set -u
cd "$(dirname "$0")/.." || exit 70

fuzz=false
sanitize=false
for argument in "$@"; do
  case $argument in
  --fuzz) fuzz=true ;;
  --sanitize) sanitize=true ;;
  *)
    echo "usage: sh Tests/run.sh [--fuzz] [--sanitize]" >&2
    exit 64
    ;;
  esac
done

if ! command -v swift >/dev/null; then
  echo "There is no Swift toolchain: get Swift 6.3 from https://www.swift.org/install" >&2
  exit 69
fi

# Packages of Debian; elsewhere they have to be there.
if command -v dpkg >/dev/null; then
  missing=
  for package in libsqlite3-dev pkg-config sqlite3 python3; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
  done
  if [ -n "$missing" ]; then
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    # shellcheck disable=SC2086 # The words of both are wanted.
    $sudo apt-get update -qq && $sudo apt-get install -y -qq $missing || exit 70
  fi
fi

passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Runs a step that passes or fails as a whole.
step() {
  name=$1
  shift
  echo "== $name"
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "== $name failed"
  fi
}

# Runs tests, and counts them one by one.
tests() {
  name=$1
  shift
  echo "== $name"
  status=0
  # A pipe would lose the status.
  "$@" >"$log" 2>&1 || status=$?
  grep -E '^(.\[[0-9;]*m)*. Test ".* (passed|failed) after|error:|recorded an issue|^. Test run' "$log" || tail -n 50 "$log"
  good=$(grep -cE '^[^ ]+ Test ".* passed after' "$log")
  bad=$(grep -cE '^[^ ]+ Test ".* failed after' "$log")
  # A run that ended otherwise than its tests say, or that ran none, is a failure too.
  if [ "$bad" = 0 ] && { [ "$status" != 0 ] || [ "$good" = 0 ]; }; then
    tail -n 50 "$log"
    bad=1
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
}

step "format" swift format lint --strict --recursive --parallel Sources Tests Package.swift
step "build" swift build --build-tests
tests "tests" swift test
if $sanitize; then
  tests "ThreadSanitizer" swift test --sanitize=thread --scratch-path .build-tsan
  # XCTest leaks too, and is not used.
  tests "AddressSanitizer" \
    env LSAN_OPTIONS="suppressions=$PWD/Tests/leaks.txt:print_suppressions=0" \
    swift test --disable-xctest --sanitize=address --scratch-path .build-asan
fi
if $fuzz; then
  step "fuzz" sh Tests/Fuzz/run.sh 60
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
