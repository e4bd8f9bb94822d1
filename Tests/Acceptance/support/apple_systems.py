"""Makes caches that have what those have which Apple systems wrote, so that no test needs a real one.

    apple_systems.py FOLDER

They are of all schemas from OS X 10.8 to macOS 13, with the property lists of each; the log has rows that the database lacks, or all; one is only
half created, one has no entry, one has body files of entries that are gone, one has tables of its app, and some databases are no caches at all.
Their folders are named as those of the real samples. What Apple's code writes is described in the documentation of the format.
"""

import base64
import calendar
import os
import plistlib
import random
import shutil
import sqlite3
import sys
import time
import urllib.parse
import uuid

import histories

SECONDS_TO_2001 = 978307200
NO_VALUE, NO_OBJECT = "__CFURLRequestNullTokenString__", "__CFURLResponseNullTokenString__"
# The version of the property lists of requests, the places of the method and of the body in them, by schema.
VERSIONS = {11: 3, 12: 3, 13: 3, 25: 4}
# The longest body that is in the database.
LONGEST_INLINE = {11: 1 << 30, 12: 1 << 30, 13: 1 << 30, 25: 16384, 102: 16384, 104: 16384, 106: 16384}
YEARS = {11: 2013, 12: 2013, 13: 2013, 25: 2014, 102: 2015, 104: 2015, 106: 2017, 201: 2017, 202: 2018, 203: 2023}


def key_hash(key):
    """CoreFoundation's hash of a string, as a signed number of 64 bits."""
    data = key.encode("utf-16-le")
    units = [int.from_bytes(data[index:index + 2], "little") for index in range(0, len(data), 2)]
    count = result = len(units)

    def add(part):
        nonlocal result
        for i in range(0, len(part), 4):
            a, b, c, d = part[i:i + 4]
            result = (result * 67503105 + a * 16974593 + b * 66049 + c * 257 + d) % 2**64
    if count <= 96:
        add(units[:count // 4 * 4])
        for unit in units[count // 4 * 4:]:
            result = (result * 257 + unit) % 2**64
    else:
        for first in [0, count // 2 - 16, count - 32]:
            add(units[first:first + 32])
    result = (result + (result << (count & 31))) % 2**64
    return result - 2**64 if result >= 2**63 else result


def low_half(value):
    """The hash as it is after an entry was stored again: its low 32 bits, with their sign."""
    return (value + 2**31) % 2**32 - 2**31


def cache_key(url, partition=None, body=b""):
    """The key of a URL: escaped, without the last slash of a query, with the body of an old POST, and with its partition."""
    key = urllib.parse.quote(url, safe="%/:?#@!$&'()*+,;=-._~")
    if "?" in key and "#" not in key and key.endswith("/"):
        key = key[:-1]
    return key + body.decode() + (f"[{partition}]" if partition else "")


def address(url):
    return {"_CFURLString": url, "_CFURLStringType": 15}


def archive(version, items):
    return plistlib.dumps({"Version": version, "Array": items}, fmt=plistlib.FMT_BINARY)


def fields(headers, with_arrays):
    """Header fields as they are archived: repeated ones are joined, and newer systems keep them apart as well."""
    flat = {name: ", ".join(values) for name, values in headers.items()}
    if with_arrays:
        data = plistlib.dumps(headers, fmt=plistlib.FMT_BINARY)
        flat["__hhaa__"] = "\n" + base64.b64encode(data).decode() + "\n"
    return flat


def request(schema, url, method, headers, body=None, page=None):
    """A request as the systems of a schema archive it."""
    version = VERSIONS.get(schema, 9)
    main = address(page) if page else NO_VALUE
    data = body if body is not None and schema < 201 else NO_VALUE
    if version == 3:
        items = [False, address(url), 60.0, 0, main, True, True, NO_VALUE, NO_VALUE, True, NO_VALUE, 2, method, headers, data]
    elif version == 4:
        items = [False, address(url), 60.0, 0, main, True, True, NO_VALUE, NO_VALUE, True, False, NO_VALUE, 2, method, headers, data]
    else:
        parts = [body] if body is not None and schema >= 201 else NO_VALUE
        items = [False, address(url), 30.0, 0, main, True, 256, NO_VALUE, NO_VALUE, True, False, 0, 0.0, 0.0, 0, -1, NO_VALUE, 2, method, headers,
                 data, parts]
    return archive(version, items)


class Cache:
    """A cache that is being written. What `flush` moves into the database is not in the log."""

    def __init__(self, folder, schema, journal="WAL", vacuum=2, arrays=None):
        self.folder, self.schema = folder, schema
        self.arrays = schema == 203 if arrays is None else arrays
        self.chance = random.Random(os.path.basename(folder))
        self.clock = calendar.timegm((YEARS[schema], 4, 13, 14, 38, 20))
        self.database = histories.History(folder, 0, schema=schema, vacuum=vacuum, journal=journal).database

    def store(self, url, body, headers, *, method="GET", sent=None, partition=None, posted=None, status=200, mime="application/octet-stream",
              properties=None, page=None, ends_early=False, without_length=False):
        """Stores a response: a new entry, or the rows of the present one."""
        schema, run = self.schema, self.database.execute
        self.clock += self.chance.choice([0.25, 1.5, 7.125])
        sent = sent or {"Accept": ["*/*"]}
        encoded = "Content-Encoding" in headers
        length = len(body) if encoded or not without_length else NO_OBJECT
        items = [address(url), self.clock - SECONDS_TO_2001, 0, status, fields(headers, self.arrays), length, mime]
        response = archive(1, items[:5] if ends_early else items)
        asked = request(schema, url, method, fields(sent, self.arrays), posted, page)
        properties = dict(properties or {})
        if "Vary" in headers and schema >= 106:
            wanted = ", ".join(headers["Vary"])
            properties[wanted] = {name: sent[name][0] for name in (part.strip() for part in wanted.split(",")) if name in sent}
        if posted is not None:
            properties["kCFURLRequestAllowAllPOSTCaching"] = True
        if partition:
            properties["_kCFURLCachePartitionKey"] = partition
        kept = plistlib.dumps(properties, fmt=plistlib.FMT_BINARY) if properties or self.arrays else None
        key = cache_key(url, partition, posted if posted is not None and schema < 106 else b"")
        on_disk, content = 0, body
        if len(body) > LONGEST_INLINE.get(schema, 4095):
            on_disk, content = 1, str(uuid.UUID(int=self.chance.getrandbits(128))).upper()
            with open(os.path.join(self.folder, "fsCachedData", content), "wb") as file:
                file.write(body)
        location = [on_disk, content] if schema >= 25 else [content]
        run("BEGIN")
        found = run("SELECT entry_ID FROM cfurl_cache_response WHERE request_key = ?", (key,)).fetchone()
        if found:
            number, = found
            run("UPDATE cfurl_cache_response SET hash_value = ? WHERE entry_ID = ?", (low_half(key_hash(key)), number))
            run("UPDATE cfurl_cache_blob_data SET response_object = ?, request_object = ?, proto_props = ? WHERE entry_ID = ?",
                (response, asked, kept, number))
            if schema >= 25:
                old_on_disk, old = run("SELECT isDataOnFS, receiver_data FROM cfurl_cache_receiver_data WHERE entry_ID = ?", (number,)).fetchone()
                if old_on_disk:
                    os.remove(os.path.join(self.folder, "fsCachedData", old))
            names = "isDataOnFS = ?, receiver_data = ?" if schema >= 25 else "receiver_data = ?"
            run(f"UPDATE cfurl_cache_receiver_data SET {names} WHERE entry_ID = ?", (*location, number))
        else:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(self.clock))
            number = run("INSERT INTO cfurl_cache_response(version, hash_value, storage_policy, request_key, time_stamp) VALUES (0, ?, 0, ?, ?)",
                         (key_hash(key), key, stamp)).lastrowid
            if partition:
                run("UPDATE cfurl_cache_response SET partition = ? WHERE entry_ID = ?", (partition, number))
            run("INSERT INTO cfurl_cache_blob_data VALUES (?, ?, ?, ?, NULL)", (number, response, asked, kept))
            run(f"INSERT INTO cfurl_cache_receiver_data VALUES (?, {', '.join('?' * len(location))})", (number, *location))
        run("COMMIT")
        return number

    def remove(self, number):
        for table in ("response", "blob_data", "receiver_data"):
            self.database.execute(f"DELETE FROM cfurl_cache_{table} WHERE entry_ID = ?", (number,))

    def flush(self):
        self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def end(self, kept_open=True):
        """Ends the app: if it is killed, what is in the log stays there, and the index of the log stays beside it."""
        end(self.database, self.folder, kept_open)


def end(database, folder, kept_open):
    if kept_open:
        shutil.copytree(folder, folder + ".copy")
    database.close()
    if kept_open:
        shutil.rmtree(folder)
        os.rename(folder + ".copy", folder)
    bodies = os.path.join(folder, "fsCachedData")
    if os.path.isdir(bodies) and not os.listdir(bodies):
        os.rmdir(bodies)


CONTROLS = ["max-age=3600", "public, max-age=31536000", "private, max-age=0, must-revalidate", "no-cache", "max-age=60, s-maxage=120", None]
DATE = "Mon, 13 Apr 2015 14:38:20 GMT"


def browse(cache, count, *, encoded=0.3, varying=0.3, sizes=(90, 700, 3000, 9000)):
    """Stores what an app gets from servers: of each kind something."""
    chance = cache.chance
    for number in range(count):
        size = chance.choice(sizes)
        body = b'{"items":[%d,%s]}' % (number, b"7" * size)
        mime = chance.choice(["application/json", "text/plain", "text/xml", "image/png"])
        headers = {"Content-Type": [f"{mime}; charset=utf-8" if mime.startswith("text") else mime], "Date": [DATE], "Server": ["nginx"],
                   "Content-Length": [str(len(body))]}
        control = CONTROLS[number % len(CONTROLS)]
        if control:
            headers["Cache-Control"] = [control]
        if number % 3 == 0 or control == "no-cache":
            headers["Etag"] = [f'W/"{number:x}-{size:x}"']
        if number % 4 == 1:
            headers["Last-Modified"] = ["Fri, 02 Jan 2015 03:04:05 GMT"]
        if number % 7 == 2:
            headers["Expires"] = [DATE]
        if number % 11 == 3:
            headers["Set-Cookie"] = ["session=abc; Path=/"]
        if chance.random() < encoded:
            headers |= {"Content-Encoding": ["gzip"], "Content-Length": [str(size // 5 + 20)]}
        sent = {"Accept": ["*/*"], "Accept-Encoding": ["gzip, deflate"], "User-Agent": ["Shop/1 CFNetwork"]}
        if number % 13 == 4:
            sent["Cookie"] = ["session=abc"]
        if chance.random() < varying:
            headers["Vary"] = [["Accept-Encoding"], ["Accept-Encoding, User-Agent, X-Store"], ["Accept-Encoding", "Origin"]][number % 3]
        if number % 5 == 0:
            headers["Via"] = ["1.1 first", "1.1 second"]
        path = ["item/%d", "search?q=%d&page=2", "long/" + "segment/" * 10 + "%d", "dir/%d/", "list?ids=[%d]|2"][number % 5] % number
        cache.store(f"https://{['api', 'img', 'www'][number % 3]}.shop.example/{path}", body, headers, sent=sent, mime=mime,
                    without_length=number % 2 == 1)


def half_created(folder):
    database = new_database(folder, "WAL")
    database.execute("CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER)")
    end(database, folder, True)


def new_database(folder, journal="DELETE"):
    os.makedirs(folder)
    database = sqlite3.connect(os.path.join(folder, "Cache.db"), isolation_level=None)
    database.execute("PRAGMA page_size = 4096")
    database.execute("PRAGMA auto_vacuum = 2")
    database.execute(f"PRAGMA journal_mode = {journal}").fetchone()
    database.execute("PRAGMA wal_autocheckpoint = 0")
    return database


def without_tables(folder):
    database = new_database(folder)
    database.execute("CREATE TABLE gone(x)")
    database.execute("DROP TABLE gone")
    database.execute("VACUUM")
    database.close()


def without_tables_in_wal(folder):
    end(new_database(folder, "WAL"), folder, True)


def other_database(folder):
    database = new_database(folder)
    database.execute("CREATE TABLE completion_cache_engagement(query TEXT, url TEXT, count INTEGER)")
    database.execute("CREATE TABLE completion_cache_version(version INTEGER)")
    database.close()


def without_a_byte(folder):
    os.makedirs(folder)
    open(os.path.join(folder, "Cache.db"), "wb").close()


def schema_011(folder):
    cache = Cache(folder, 11, journal="DELETE", vacuum=1)
    cache.store("http://su.example/content/catalogs/index.sucatalog", b"<plist>" + b"x" * 20_000, {
        "Content-Type": ["text/plain"], "Content-Encoding": ["gzip"], "Content-Length": ["900"], "Cache-Control": ["max-age=300"],
        "Date": [DATE]}, mime=NO_OBJECT, properties={"_kCFURLProtocolPropertyForFoundation": True})
    cache.end(kept_open=False)


def old(schema):
    """A cache of OS X 10.8, whose bodies are all in the database."""
    def make(folder):
        cache = Cache(folder, schema, vacuum=1)
        browse(cache, 12, encoded=0.5, varying=0, sizes=(90, 20_000))
        cache.store("http://helpd.example/index?id=mh43558#mh43558", b"<html>", {"Content-Type": ["text/html"], "Content-Length": ["6"]},
                    mime="text/html", page="http://helpd.example/")
        cache.end()
    return make


def schema_025(folder):
    cache = Cache(folder, 25)
    for number in range(40):
        size = [700, 17_000, 30_000][number % 3]
        cache.store(f"http://maps.example/tile?v={number % 3}&x={number}", bytes([number]) * size, {
            "Content-Type": ["application/octet-stream"], "Content-Length": [str(size)], "Cache-Control": ["max-age=86400"], "Date": [DATE]})
    # Stored again, and removed: older versions of pages are in the log, too.
    for number in (3, 9):
        cache.store(f"http://maps.example/tile?v={number % 3}&x={number}", bytes([number]) * 900, {
            "Content-Type": ["application/octet-stream"], "Content-Length": ["900"], "Cache-Control": ["max-age=60"], "Date": [DATE]})
    cache.remove(cache.store("http://maps.example/removed", b"removed", {"Content-Type": ["text/plain"], "Content-Length": ["7"]}))
    cache.end()


def schema_102(folder):
    cache = Cache(folder, 102)
    for number in range(8):
        body = b"%PDF-1.4\n" + bytes([65 + number]) * 20_000
        cache.store(f"http://images.example/legal/sla{number}.pdf", body, {
            "Content-Type": ["application/pdf"], "Content-Length": [str(len(body))], "Cache-Control": ["max-age=1200"], "Etag": [f'"{number}"'],
            "Date": [DATE]}, mime="application/pdf")
    cache.flush()
    cache.end()


def schema_102_browser(folder):
    """What Safari stored when it used such a cache for pages: with partitions, and answers to POST with the body in the key."""
    cache = Cache(folder, 102)
    for number in range(6):
        site = ["tryruby.example", "news.example", None][number % 3]
        body = b"<html>%d</html>" % number
        cache.store(f"https://cdn{number}.example/page", body, {"Content-Type": ["text/html"], "Content-Length": [str(len(body))],
                    "Cache-Control": ["max-age=60"]}, mime="text/html", partition=site, page=f"https://{site}/" if site else None)
        cache.store(f"https://api.example/path{number}", body, {"Content-Type": ["text/html"], "Content-Length": [str(len(body))],
                    "Cache-Control": ["max-age=60"]}, mime="text/html", method="POST", posted=b"91286548", partition=site)
    cache.store("http://moved.example/", b"moved", {"Location": ["https://moved.example/"], "Content-Length": ["5"]}, status=301, ends_early=True)
    cache.store("http://user%40mail@private.example/feed", b"feed", {"Content-Type": ["text/plain"], "Content-Length": ["4"]}, mime="text/plain")
    cache.store("http://gone.example/nothing", b"gone", {"Content-Type": ["text/plain"], "Content-Length": ["4"]}, status=404, mime="text/plain")
    cache.flush()
    cache.end()


def schema_104(folder):
    cache = Cache(folder, 104)
    cache.flush()
    cache.end()


def schema_106(folder):
    cache = Cache(folder, 106)
    for number in range(40):
        vary = {"Vary": ["Accept-Encoding, X-Apple-Store-Front, Cookie, User-Agent"], "Content-Encoding": ["gzip"]} if number % 5 else {}
        body = bytes([48 + number % 10]) * [500, 20_000][number % 2]
        sent = {"Accept-Encoding": ["gzip"], "User-Agent": ["storeagent/1"]} | ({"Cookie": ["mt=1"]} if number % 4 == 0 else {})
        cache.store(f"https://store.example/bag.xml?guid={number}", body, {
            "Content-Type": ["application/octet-stream"], "Content-Length": [str(120 if vary else len(body))],
            "Cache-Control": ["max-age=3600"], "Date": [DATE]} | vary, sent=sent)
    cache.flush()
    cache.end()


def schema_201(folder):
    cache = Cache(folder, 201)
    cache.flush()
    body = b"row,in,log\n" * 900
    cache.store("https://log.example/config", body, {"Content-Type": ["text/plain"], "Content-Length": [str(len(body))], "Etag": ['"1"'],
                "Date": [DATE]}, mime="text/plain", properties={"_kCFURLConnectionPropertyShouldSniff": True})
    cache.end()


def schema_202(folder):
    cache = Cache(folder, 202, arrays=False)
    cache.store("https://man.example/man1/ls.1", b".TH LS 1\n", {"Content-Type": ["application/x-troff-man"], "Content-Length": ["9"],
                "Cache-Control": ["max-age=0"], "Date": [DATE]}, mime="application/x-troff-man", without_length=True)
    cache.end(kept_open=False)


def schema_202_arrays(folder):
    cache = Cache(folder, 202, arrays=True)
    browse(cache, 30)
    cache.store("https://api.shop.example/graph", b"{}", {"Content-Type": ["application/json"], "Content-Length": ["2"],
                "Cache-Control": ["max-age=5"]}, mime="application/json", method="POST", posted=b'{"query":"x"}')
    cache.end(kept_open=False)


def schema_203(folder):
    cache = Cache(folder, 203)
    cache.flush()
    body = b"<plist>" + b"y" * 12_000
    cache.store("https://bag.itunes.example/bag.xml?ix=5", body, {
        "Content-Type": ["text/xml"], "Content-Encoding": ["gzip"], "Content-Length": ["600"], "Vary": ["Accept-Encoding", "X-Store"],
        "Cache-Control": ["max-age=3600"], "Date": [DATE]}, mime="text/xml", sent={"Accept-Encoding": ["gzip"]})
    cache.end()


def schema_203_mixed(folder):
    cache = Cache(folder, 203)
    browse(cache, 80)
    cache.flush()
    # Some of what is in the database is stored again, and some removed, in the log only.
    browse(cache, 6)
    for number in (7, 20, 21):
        body = cache.database.execute("SELECT isDataOnFS, receiver_data FROM cfurl_cache_receiver_data WHERE entry_ID = ?", (number,)).fetchone()
        cache.remove(number)
        if body[0]:
            os.remove(os.path.join(folder, "fsCachedData", body[1]))
    for number in range(40):
        cache.store(f"https://new.shop.example/{'x' * number}/{number}?a=1/", b"new %d" % number, {
            "Content-Type": ["text/plain"], "Content-Length": [str(len(b'new %d' % number))], "Cache-Control": ["max-age=1"], "Date": [DATE]},
            mime="text/plain")
    cache.end()


def schema_203_with_tables(folder):
    """The app, or a tool, keeps tables of its own in the database."""
    cache = Cache(folder, 203)
    browse(cache, 10)
    for sql in ["CREATE TABLE app_state(name TEXT PRIMARY KEY, value)", "INSERT INTO app_state VALUES ('seen', x'00FF'), ('count', 3)",
                "CREATE INDEX app_index ON app_state(value)", "CREATE VIEW app_view AS SELECT count(*) AS n FROM cfurl_cache_response"]:
        cache.database.execute(sql)
    cache.end(kept_open=False)


def other_encoding(folder):
    """No Apple system writes text like this, but SQLite converts it without a word."""
    cache = Cache(folder, 203)
    browse(cache, 3)
    cache.end(kept_open=False)
    dump = list(sqlite3.connect(os.path.join(folder, "Cache.db")).iterdump())
    os.remove(os.path.join(folder, "Cache.db"))
    database = sqlite3.connect(os.path.join(folder, "Cache.db"))
    database.execute("PRAGMA encoding = 'UTF-16le'")
    database.executescript("\n".join(line for line in dump if "sqlite_sequence" not in line) + "PRAGMA user_version = 203;")
    database.close()


def schema_025_orphans(folder):
    """No entry is left, and of those that were there all bodies."""
    cache = Cache(folder, 25)
    for number in range(20):
        name = str(uuid.UUID(int=cache.chance.getrandbits(128))).upper()
        with open(os.path.join(folder, "fsCachedData", name), "wb") as file:
            file.write(bytes([number]) * 17_000)
        os.utime(file.name, (cache.clock, cache.clock))
    cache.flush()
    cache.end()


MAKERS = {
    "half-created": half_created, "not-a-cache-no-tables": without_tables, "not-a-cache-no-tables-wal": without_tables_in_wal,
    "not-a-cache-other-apple-db": other_database, "not-a-cache-zero-bytes": without_a_byte,
    "schema-011-rollback": schema_011, "schema-012-no-partitions": old(12), "schema-013-inline-bodies": old(13),
    "schema-025-all-in-wal": schema_025, "schema-025-orphans": schema_025_orphans, "schema-102-all-bodies-in-files": schema_102,
    "schema-102-partitions-and-posts": schema_102_browser, "schema-104-empty": schema_104, "schema-106-vary-records": schema_106,
    "schema-201-one-row-in-wal": schema_201, "schema-202-hhaa": schema_202_arrays, "schema-202-no-hhaa": schema_202,
    "schema-203-ios16": schema_203, "schema-203-main-and-wal": schema_203_mixed, "schema-203-other-tables": schema_203_with_tables,
    "utf-16": other_encoding,
}
NAMES = sorted(MAKERS)


def make(folder):
    """Makes all of them below a new folder."""
    os.makedirs(folder)
    for name in NAMES:
        MAKERS[name](os.path.join(folder, name))


if __name__ == "__main__":
    make(sys.argv[1])
