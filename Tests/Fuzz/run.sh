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
import datetime, plistlib, struct, sys

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


def objects(name, size, *parts):
    """A list of objects as plistlib never writes them, with references of `size` bytes."""
    data, offsets = b"bplist00", b""
    for part in parts:
        offsets += struct.pack(">H", len(data))
        data += part
    data += offsets + struct.pack(">6xBBQQQ", 2, size, len(parts), 0, len(data))
    with open(f"{sys.argv[1]}/{name}", "wb") as file:
        file.write(data)


objects("wide", 8, b"\xa2" + struct.pack(">QQ", 1, 2**63 - 1), b"\x09")
objects("wide-dictionary", 8, b"\xd1" + struct.pack(">QQ", 1, 2), b"\x55Array", b"\xa1" + struct.pack(">Q", 1))
objects("surrogate", 1, b"\x62\xd8\x3d\x00a")
objects("set", 1, b"\xa1\x01", b"\xc1\x00")
objects("cycle", 1, b"\xa1\x01", b"\xa1\x00")
objects("shared", 1, *(bytes([0xA2, n, n]) for n in range(1, 12)), b"\x51a")
objects("huge-count", 1, b"\xaf\x13" + struct.pack(">Q", 2**60))
objects("wide-integer", 1, b"\xa2\x01\x02", b"\x14" + b"\xff" * 16, b"\x14" + b"\x7f" * 16)
objects("real", 1, b"\xa3\x01\x02\x03", b"\x22\x7f\xc0\0\0", b"\x22\x3f\x80\0\0", b"\x33\x7f\xf8" + b"\0" * 6)
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
ASAN_OPTIONS=quarantine_size_mb=16 ./fuzz -max_total_time="${1:-60}" -max_len=4096 -timeout=5 -rss_limit_mb=512 \
  -print_final_stats=1 corpus 2>"$folder/log" || {
  cat "$folder/log" >&2
  exit 1
}
grep -E 'number_of_executed_units|average_exec_per_sec|peak_rss_mb' "$folder/log"
