# What the benchmarks have in common. It is read by them, with their working folder the package.
#
# Before: `packages` are the Debian packages that are needed; `TOOL` and `MAKER` are programs to measure instead of building
# them, if they are set. After: `tool` and `maker` are the programs in
# their release build, and `folder` is one that goes in the end.

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
  maker=$MAKER
else
  static=--static-swift-stdlib
  [ "$(uname -s)" = Darwin ] && static=
  for product in urlcache-admin sample-cache; do
    swift build -c release $static --product $product >&2
  done
  tool=$(cd "$(swift build -c release --show-bin-path)" && pwd)/urlcache-admin
  maker=$(dirname "$tool")/sample-cache
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
runs=7
prepare=true

# Prints the medians of the commands after the name, each in one run with the others, after `prepare`: the time, its ratio to
# that of the first, and the processor time.
table() {
  echo "$1"
  shift
  hyperfine --warmup 1 --runs "$runs" --shell none --output null --prepare "$prepare" \
    --export-json "$folder/result" "$@" >/dev/null 2>"$folder/errors" || cat "$folder/errors"
  python3 - "$folder/result" "$folder/" "$(dirname "$tool")/" <<'END'
import json, sys
results = json.load(open(sys.argv[1]))["results"]
for result in results:
    command = " ".join(result["command"].split())
    for part in sys.argv[2:]:
        command = command.replace(part, "")
    print(f"  {result['median'] * 1000:9.1f} ms  {result['median'] / results[0]['median']:6.2f}"
          f"  {(result['user'] + result['system']) * 1000:9.1f} ms  {command[:110]}")
END
}

# Prints the peak memory of the tool with some options, under a name.
memory() {
  name=$1
  shift
  /usr/bin/time -f "%M" -o "$folder/memory" "$tool" "$@" >/dev/null 2>&1 || true
  echo "  $(tail -1 "$folder/memory") KiB  $name"
}
