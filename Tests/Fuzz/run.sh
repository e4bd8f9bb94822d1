#!/bin/sh
# Builds the fuzz targets, and runs each for some seconds (60 unless said).
#
#   sh Tests/Fuzz/run.sh [SECONDS]
set -eu
cd "$(dirname "$0")/../.."

seconds=${1:-60}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/PropertyLists" "$folder/KeyedArchives" "$folder/SQLitePages" "$folder/WebKitRecords"
python3 - "$folder/PropertyLists" <<'END'
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
python3 - "$folder/KeyedArchives" <<'END'
import plistlib, sys

uid = plistlib.UID
kind = lambda name: {"$classname": name, "$classes": [name, "NSObject"]}
dictionary = lambda keys, values: {"$class": uid(14), "NS.keys": [uid(key) for key in keys],
                                   "NS.objects": [uid(value) for value in values]}


def archive(name, *objects, user_info=0, **more):
    """An archive as Foundation writes it; `objects` are those from 16 on."""
    own = ["$null"] * 16 + list(objects)
    own[1] = {"$class": uid(10), "response": uid(2), "data": uid(3), "storagePolicy": 0,
              "userInfo": uid(user_info), "date": uid(4)}
    own[2] = {"$class": uid(11), "NS.url": uid(5), "NS.mimeType": uid(15), "NS.expectedContentLength": -1,
              "NS.textEncodingName": uid(0), "NS.suggestedFilename": uid(0), "NS.statusCode": 200,
              "NS.allHeaderFields": uid(6)}
    own[3], own[4] = b"body" * 9, {"$class": uid(12), "NS.time": 7e8}
    own[5] = {"$class": uid(13), "NS.base": uid(0), "NS.relative": uid(7)}
    own[6], own[7] = dictionary([8], [9]), "https://a.example/b?c=%20d"
    own[8], own[9], own[15] = "ETag", "ä😀", "text/html"
    own[10] = kind("FoundationNetworking.StoredCachedURLResponse")
    own[11], own[12], own[13], own[14] = map(kind, ["NSHTTPURLResponse", "NSDate", "NSURL", "NSDictionary"])
    for number, value in more.items():
        own[int(number[1:])] = value
    with open(f"{sys.argv[1]}/{name}", "wb") as file:
        plistlib.dump({"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": uid(1)},
                       "$objects": own}, file, fmt=plistlib.FMT_BINARY, sort_keys=False)


archive("plain")
archive("array", dictionary([8], [17]), {"$class": uid(18), "NS.objects": [uid(9), uid(4)]}, kind("NSArray"), user_info=16)
archive("values", dictionary([8, 9, 15], [4, 5, 17]), -1, user_info=16)
archive("uuid", dictionary([8], [17]), {"$class": uid(18), "NS.uuidbytes": b"u" * 16}, kind("NSUUID"), user_info=16)
archive("cycle", dictionary([8], [16]), user_info=16)
archive("base", {"$class": uid(13), "NS.base": uid(17), "NS.relative": uid(8)},
        {"$class": uid(13), "NS.base": uid(0), "NS.relative": uid(7)}, _7="../e", _8="https://b.example/c/d",
        _5={"$class": uid(13), "NS.base": uid(17), "NS.relative": uid(7)})
archive("data", {"$class": uid(17), "NS.data": b"x" * 40}, kind("NSData"), _3={"$class": uid(17), "NS.data": b"x" * 40})
archive("no-http", _11=kind("NSURLResponse"))
with open(f"{sys.argv[1]}/name", "wb") as file:
    file.write(b"7.YQAtMQAvAA==.storedcachedurlresponse")
END

python3 - "$folder/SQLitePages" <<'END'
import os, sqlite3, sys

# Databases, logs and journals of few pages, as SQLite writes them; with removed rows.
os.chdir(sys.argv[1])
for vacuum in 0, 1, 2:
    for journal in "WAL", "PERSIST":
        name = f"{vacuum}-{journal}"
        database = sqlite3.connect(name, isolation_level=None)
        for setting in f"auto_vacuum={vacuum}", "page_size=512", f"journal_mode={journal}", "secure_delete=OFF":
            database.execute(f"PRAGMA {setting}").fetchall()
        database.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b BLOB)")
        database.execute("CREATE INDEX i ON t(b)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", ((n, n, b"x" * (n * n * 9)) for n in range(9)))
        database.execute("DELETE FROM t WHERE id % 2 = 0")
        for file in {f"{name}-wal", f"{name}-journal"} & set(os.listdir()):
            with open(file, "rb") as source, open(f"kept-{file}", "wb") as copy:
                copy.write(source.read()[:4096])
        database.close()
for name in os.listdir():
    if name.endswith(("-wal", "-journal", "-shm")) and not name.startswith("kept-"):
        os.remove(name)
END

PYTHONPATH=Tests/Acceptance/support python3 - "$folder/WebKitRecords" "$folder/webkit" <<'END'
import sys

from webkit_records import Cache, Encoder

seeds, url = [], "http://a.example/page?q=1"
for version in 16, 17, 18:
    cache = Cache(f"{sys.argv[2]}{version}", version)
    header = cache.header(url, fields=[("ETag", '"1"'), ("Vary", "Cookie")], vary=[("Cookie", "id=1"), ("Accept", None)])
    redirect = cache.header(url, 302, [("Location", "/in")], redirect=("http://a.example/in", [("Referer", url)]))
    with open(cache.store_list(url, [("http://a.example/a.css", [("Referer", url)]), ("http://a.example/b.js", None)]), "rb") as file:
        record = file.read()
    size = len(cache.metadata(b"", b"", url, 1.5, type="SubResources"))
    seeds += [header, redirect, cache.metadata(header, b"body", url, 1.5, "a.example", range="bytes=0-"), record[:size], record[size:]]
wide = Encoder()
for _ in range(2):
    wide.uint32(3)
    wide.flag(False)
    wide.data("äöü".encode("utf-16-le"))
seeds.append(wide.checked())
for number, seed in enumerate(seeds):
    with open(f"{sys.argv[1]}/{number}", "wb") as file:
        file.write(seed)
END

# Builds a module that is not fuzzed from its sources, which is quicker without optimization.
module() {
  swiftc -Onone -wmo -parse-as-library -swift-version 6 \
    -enable-upcoming-feature InternalImportsByDefault -module-name "$1" -I "$folder" \
    -I Sources/CFiles -I Sources/CNettle -I Sources/CSQLite -emit-module -emit-module-path "$folder/$1.swiftmodule" \
    -emit-library -static -o "$folder/lib$1.a" $(find Sources/"$1" -name '*.swift')
}

# The modules below that of stores, each after those that it imports.
for name in Bytes HTTPCaching Files SQLite SQLitePages Secrets; do module "$name"; done

# Builds a target of that name with the sources after it, and runs it on the corpus of that name.
fuzz() {
  name=$1
  shift
  swiftc -O -parse-as-library -sanitize=fuzzer,address -swift-version 6 \
    -enable-experimental-feature Lifetimes -enable-upcoming-feature InternalImportsByDefault \
    -module-name PropertyLists -I "$folder" -I Sources/CFiles -I Sources/CNettle -I Sources/CSQLite -L "$folder" \
    -lSQLite -lSQLitePages -lSecrets -lFiles -lHTTPCaching -lBytes $([ "$(uname)" = Linux ] && echo -lswiftGlibc -lswiftDispatch -lswiftSynchronization -lsqlite3 -lnettle -ldispatch -lBlocksRuntime) \
    "$@" "Tests/Fuzz/${name}Fuzz.swift" -o "$folder/$name.fuzz" 2>"$folder/log" || {
    # The linker warns of symbols of the sanitizer, which nobody needs to see.
    grep -v 'Cannot export local symbol' "$folder/log" >&2
    exit 1
  }
  ASAN_OPTIONS=quarantine_size_mb=16 "$folder/$name.fuzz" -max_total_time="$seconds" -max_len=4096 \
    -timeout=5 -rss_limit_mb=512 -artifact_prefix="$folder/" -print_final_stats=1 \
    "$folder/$name" 2>"$folder/log" || {
    cat "$folder/log" >&2
    exit 1
  }
  echo "$name"
  grep -E 'number_of_executed_units|average_exec_per_sec|peak_rss_mb' "$folder/log"
}

fuzz PropertyLists Sources/PropertyLists/*.swift
fuzz SQLitePages Sources/SQLitePages/*.swift
stores=Sources/ResponseStorage
fuzz WebKitRecords "$stores/WebKit/WebKitDecoder.swift" \
  "$stores/WebKit/WebKitRecord.swift" "$stores/Model/HeaderFields.swift"
# The reader of archives fills the model of a response, which all of the module knows.
fuzz KeyedArchives Sources/PropertyLists/*.swift $(find "$stores" -name '*.swift')
