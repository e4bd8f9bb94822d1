#!/bin/sh
# Builds the fuzz target, and runs it for some seconds (60 unless said).
#
#   sh Tests/Fuzz/run.sh [SECONDS]
set -eu
cd "$(dirname "$0")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/corpus"
python3 - "$folder/corpus" <<'END'
import datetime, plistlib, sys

url = {"_CFURLString": "https://example.com/", "_CFURLStringType": 15}
headers = {"Content-Type": "text/html", "Etag": '"a"', "X": "ä😀"}
seeds = [
    {"Array": [url, 7e8, 0, 200, headers, 100, "text/html"], "Version": 1},
    {"Array": [False, url, 60.0, 0, "__CFURLRequestNullTokenString__", True] + [0] * 12
     + ["GET", headers, b"body", [b"part"]], "Version": 9},
    {"Accept-Encoding, Cookie": headers, "date": datetime.datetime(2020, 1, 1), "uid": plistlib.UID(3)},
    [[[[1, -1, 2**63 - 1, 1.5, "x" * 300, b"y" * 300]]]],
]
for number, seed in enumerate(seeds):
    with open(f"{sys.argv[1]}/{number}", "wb") as file:
        plistlib.dump(seed, file, fmt=plistlib.FMT_BINARY)
END
swiftc -O -parse-as-library -sanitize=fuzzer,address -swift-version 6 \
  -enable-experimental-feature Lifetimes -module-name PropertyListsFuzz \
  Sources/PropertyLists/*.swift Tests/Fuzz/PropertyListsFuzz.swift -o "$folder/fuzz" \
  2>"$folder/log" || {
  # The linker warns of symbols of the sanitizer, which nobody needs to see.
  grep -v 'Cannot export local symbol' "$folder/log" >&2
  exit 1
}
cd "$folder"
./fuzz -max_total_time="${1:-60}" -max_len=4096 -timeout=5 -rss_limit_mb=512 \
  -print_final_stats=1 corpus 2>"$folder/log" || {
  cat "$folder/log" >&2
  exit 1
}
grep -E 'number_of_executed_units|average_exec_per_sec|peak_rss_mb' "$folder/log"
