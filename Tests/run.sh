#!/bin/sh
# Checks everything: format, build, tests. Installs what it needs with apt, as often as it is run.
#
#   sh Tests/run.sh [--quick] [--faults] [--fuzz] [--operations] [--packages] [--replay]
#     [--sanitize] [--thorough]
#
# --quick     builds, and runs the Swift tests but for the slow ones, and a few acceptance tests: under two minutes for the inner
#             loop, and no replacement of the whole
# --faults    also tries all faults on commands that change a cache, which takes half an hour
# --fuzz      also runs the fuzz targets, 60 s each, changes 500 bits of archives in each format, and reads HARs with long URLs
#             up to the built-in limit
# --operations
#             also runs the playbook of the examples with Ansible, and asks SQLite, DuckDB and Spark about
#             1,000 inventories, which takes a few minutes
# --packages
#             also makes packages, and installs them in a fresh Debian, which takes minutes
# --replay    also plays web archives with pywb and Chromium, which takes a few minutes
# --sanitize  also runs the tests under ThreadSanitizer and AddressSanitizer
# --thorough  runs the acceptance tests with all their faults, seeds and samples instead of some, which takes an hour or more
#
# The last line counts the passed, the failed and the skipped tests, and each other step as one. Skipped tests are named before, with
# the reason.
set -u
cd "$(dirname "$0")/.." || exit 70

faults=false
fuzz=false
operations=false
packages=false
quick=false
replay=false
sanitize=false
thorough=false
for argument in "$@"; do
  case $argument in
  --faults) faults=true ;;
  --fuzz) fuzz=true ;;
  --operations) operations=true ;;
  --packages) packages=true ;;
  --quick) quick=true ;;
  --replay) replay=true ;;
  --sanitize) sanitize=true ;;
  --thorough) thorough=true ;;
  *)
    echo "usage: sh Tests/run.sh [--quick] [--faults] [--fuzz] [--operations] [--packages] [--replay] [--sanitize] [--thorough]" >&2
    exit 64
    ;;
  esac
done

if ! command -v swift >/dev/null; then
  echo "There is no Swift toolchain: get Swift 6.3 from https://www.swift.org/install" >&2
  exit 69
fi

passed=0
failed=0
skipped=0
log=$(mktemp) || exit 70
# What the programs note of their work must not come into the home of whoever runs this.
XDG_STATE_HOME=$(mktemp -d) || exit 70
export XDG_STATE_HOME
trap 'rm -rf "$log" "$XDG_STATE_HOME"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Installs the packages that are missing, with apt; elsewhere they have to be there.
install() {
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 0
  missing=
  for package in "$@"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  echo "== install$missing"
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  # shellcheck disable=SC2086 # Each word is a package.
  $sudo apt-get update -qq \
    && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing
}

# Runs a step that passes or fails as a whole.
step() {
  name=$1
  shift
  echo "== $name"
  begin=$(date +%s)
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "== $name failed"
  fi
  echo "== $name: $(($(date +%s) - begin)) s"
}

# The lines of the log that say how a test ended, of Swift Testing or pytest: "passed" or "failed".
ends() {
  case $runner in
  # Neither the lines of suites, of single cases of a test, nor that of the whole run. A name of one word has no quotes.
  swift) grep -aE "^[^ ]+ Test (\".*\"|[^ \"]+\(.*\))( with [0-9]+ test cases?)? $1 after [0-9.]+ seconds" "$log" ;;
  pytest)
    case $1 in
    passed) grep -aE '^\[gw[0-9]+\] \[ *[0-9]+%\] PASSED ' "$log" ;;
    failed) grep -aE '^\[gw[0-9]+\] \[ *[0-9]+%\] (FAILED|ERROR) ' "$log" ;;
    esac
    ;;
  esac
}

# Says every minute how many tests have passed and failed, as long as this script runs.
progress() {
  # Whoever reads what this script writes does not have to wait for the last minute.
  while sleep 60 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    echo "$(($(date +%s) - begin)) s: $(ends passed | wc -l) passed, $(ends failed | wc -l) failed"
  done
}

# Runs tests, and counts them one by one.
tests() {
  name=$1
  runner=$2
  shift 2
  echo "== $name"
  begin=$(date +%s)
  progress &
  status=0
  # A pipe would lose the status.
  "$@" >"$log" 2>&1 || status=$?
  kill $!
  echo "== $name: $(($(date +%s) - begin)) s"
  good=$(ends passed | wc -l)
  bad=$(ends failed | wc -l)
  ends passed
  ends failed
  case $runner in
  swift)
    # What a failure says goes on over lines of its own, until something else happens.
    awk '/^[^ ]+ (Test|Suite) / { told = 0 } /error:|recorded an issue/ { told = 1 } told || /^[^ ]+ Test run with/' "$log"
    skipped=$((skipped + $(grep -acE '^[^ ]+ Test .* skipped(\.|: )' "$log")))
    ;;
  pytest)
    # What failures say, the slowest tests, and what was skipped and why.
    awk '/^=+ (FAILURES|ERRORS|slowest|short test summary)/ { told = 1 } told' "$log"
    skipped=$((skipped + $(sed -nE 's/^SKIPPED \[([0-9]+)\].*/\1/p' "$log" | paste -sd + - | sed 's/^$/0/')))
    ;;
  esac
  # A run that ended otherwise than its tests say, or that ran none, is a failure too.
  if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$good" -eq 0 ]; }; then
    tail -n 50 "$log"
    echo "== $name ended with $status after $good passed tests"
    bad=1
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
}

# Runs acceptance tests with the programs of a folder: those that the other arguments name for pytest.
acceptance() {
  name=$1
  products=$2
  shift 2
  tests "$name" pytest env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH="$PWD/.build/peers" PRODUCTS="$PWD/$products" \
    python3 -m pytest --rootdir Tests/Acceptance -c Tests/Acceptance/pytest.ini -n "$(getconf _NPROCESSORS_ONLN)" \
    --dist worksteal -v --color=no --durations=15 "$@"
}

# Runs all tests with programs that a sanitizer watches; what measures memory or limits it is skipped.
sanitized() {
  name=$1
  products=$2
  shift 2
  # The search for leaks at the end of a program does not work while another one traces it.
  mkdir -p .build/sanitized || return
  # shellcheck disable=SC2016 # The program that is written expands these.
  printf '#!/bin/sh\nexec %s -E "ASAN_OPTIONS=detect_leaks=0:$ASAN_OPTIONS" "$@"\n' "$(command -v strace)" \
    >.build/sanitized/strace && chmod +x .build/sanitized/strace || return
  PATH="$PWD/.build/sanitized:$PATH" tests "$name" swift "$@"
  PATH="$PWD/.build/sanitized:$PATH" SANITIZED=1 acceptance "$name: acceptance tests" "$products" Tests/Acceptance
}

# Installs the implementations that ours are compared with, where only their tests see them.
install_peers() {
  for peer in pytest-9.0.3 pytest_xdist-3.8.0 hishel-2.0.0 warcio-1.8.1 haralyzer-2.4.0 har2warc-1.0.4 'grafana_foundation_sdk-1769699998!10.1.0'; do
    [ -d ".build/peers/$peer.dist-info" ] && continue
    echo "== install ${peer%-*}"
    python3 -m pip --version >/dev/null 2>&1 || install python3-pip || return
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore \
      --target .build/peers "${peer%-*}==${peer##*-}" || return
  done
}

# Plays web archives with pywb, and shows one in Chromium.
replay() {
  install chromium python3-venv || return
  if [ ! -x .build/replay/bin/wayback ]; then
    python3 -m venv .build/replay || return
    .build/replay/bin/pip install --quiet --disable-pip-version-check pywb==2.10.0 wacz==0.6.0 \
      || return
  fi
  acceptance "replay" .build/debug Tests/Acceptance/archives/test_replay.py
}

# Puts Ansible, DuckDB and Spark where only the examples see them.
install_operations() {
  install default-jre-headless python3-venv || return
  [ -x .build/operations/bin/spark-submit ] && return 0
  python3 -m venv .build/operations || return
  .build/operations/bin/pip install --quiet --disable-pip-version-check ansible-core==2.19.14 duckdb==2.0.0 \
    pyspark==4.3.0
}

# Gets Prometheus and node_exporter out of their packages, which would start services if they were installed.
install_prometheus() {
  [ -x .build/peers/prometheus-node-exporter ] && return 0
  echo "== install prometheus"
  folder=$(mktemp -d) || return
  (cd "$folder" && apt-get download -qq prometheus prometheus-node-exporter \
    && for package in *.deb; do dpkg -x "$package" . || exit; done) \
    && mkdir -p .build/peers && mv "$folder"/usr/bin/* .build/peers/
  status=$?
  rm -rf "$folder"
  return "$status"
}

# Prints the counts, and ends as they say.
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
  exit
}

if $quick; then
  install_peers || step "install peers" false
  step "build" swift build --build-tests
  # Side by side these tests take hardly less time, and nearly twice as much of the processors.
  tests "tests" swift swift test --skip-build --no-parallel \
    --skip 'AdminCommandsTests|ExecutableTests|ArchitectureTests|UsageReportTests|MaskTests|CacheReportTests'
  acceptance "acceptance tests" .build/debug Tests/Acceptance/reading/test_columns.py Tests/Acceptance/configuring/test_rules.py \
    Tests/Acceptance/changing/test_applying.py
  finish
fi

# What needs a package that is not there is skipped, and counted; that the package could not be installed is a failure.
install libsqlite3-dev libarchive-dev nettle-dev pkg-config sqlite3 python3 python3-jsonschema strace curl \
  gzip zstd jq libarchive-tools chromium ncdu tmux zsh fish mandoc systemd \
  || step "install" false
install_peers || step "install peers" false
install_prometheus || step "install prometheus" false
step "format" swift format lint --strict --recursive --parallel Sources Tests Package.swift
# A target that is not declared is found by luck, and not from a fresh clone.
step "build" swift build --build-tests --explicit-target-dependency-import-check error
tests "tests" swift swift test
if $thorough; then
  acceptance "acceptance tests" .build/debug --thorough Tests/Acceptance
else
  acceptance "acceptance tests" .build/debug Tests/Acceptance
fi
if $sanitize; then
  sanitized "ThreadSanitizer" .build-tsan/debug swift test --sanitize=thread --scratch-path .build-tsan
  # XCTest leaks too, and is not used.
  sanitized "AddressSanitizer" .build-asan/debug \
    env LSAN_OPTIONS="suppressions=$PWD/Tests/leaks.txt:print_suppressions=0" \
    swift test --disable-xctest --sanitize=address --scratch-path .build-asan
fi
if $faults; then
  acceptance "faults" .build/debug --thorough Tests/Acceptance/faults Tests/Acceptance/changing/test_limits.py \
    Tests/Acceptance/changing/test_rehearsing.py
fi
if $operations; then
  if install_operations; then
    acceptance "operations" .build/debug --thorough Tests/Acceptance/operations/test_playbook.py \
      Tests/Acceptance/operations/test_fleet.py
  else
    step "install operations" false
  fi
fi
if $packages; then
  step "packages" sh Tests/Packages/run.sh
fi
if $replay; then
  replay || step "install replay" false
fi
if $fuzz; then
  step "fuzz" sh Tests/Fuzz/run.sh 60
  acceptance "fuzz: archives" .build/debug --thorough Tests/Acceptance/archives/test_importing.py \
    Tests/Acceptance/archives/test_warc_importing.py Tests/Acceptance/archives/test_har.py
fi

finish
