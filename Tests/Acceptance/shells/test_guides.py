"""Runs the command for each point that guides to `URLCache` teach (`guides.tsv`), and compares the output with what it should contain.

Words in capitals stand for the caches, archives and URLs of these tests.
"""

import csv
import datetime
import hashlib
import os
import plistlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import time

import pytest

import origin
from products import REPOSITORY, maker, tool
from scratch import path

LARGE = b"large body " * 2000
SETTINGS = """[caches.shop]
path = "{cache}"

[saved.large]
where = "size > 1K"
sort = "-size"
columns = ["id", "size", "url"]

[[rules]]
action = "never"
match = {{ glob = "*/search*" }}

[[rules]]
action = "memory-only"
match = {{ glob = "*/secret" }}

[[rules]]
class = "offline"
match = {{ glob = "*.js*" }}

[[rules]]
revalidate-after = "1d"
match = {{ glob = "*/etag" }}

[[rules]]
expire-after = "1d"
match = {{ glob = "*/stale" }}
"""


def keep(file, tag):
    """Writes what NSKeyedArchiver makes of a tag, long ago."""
    with open(file, "wb") as new:
        plistlib.dump({"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": plistlib.UID(1)}, "$objects": ["$null", tag]}, new,
                      fmt=plistlib.FMT_BINARY)
    os.utime(file, (1_700_000_000, 1_700_000_000))


def make(folder, base):
    """Makes the cache that all commands are about."""
    old = datetime.datetime(2025, 1, 1)
    entries = [(base + name, 200, fields, origin.OLD_BODY, {}, None) for name, fields in [
        ("etag", {"ETag": '"1"', "Cache-Control": "public, max-age=60"}), ("modified", {"Last-Modified": origin.LATER, "Cache-Control": "max-age=0"}),
        ("both", {"ETag": '"1"', "Last-Modified": origin.LATER}), ("changed", {"ETag": '"1"'}), ("rolled", {"Last-Modified": origin.LATER}),
        ("weak", {"ETag": 'W/"1"', "Cache-Control": "private, max-age=60"}), ("fresh", {"Cache-Control": "max-age=9999999", "Expires": origin.EARLIER}),
        ("stale", {"Cache-Control": "max-age=1"}), ("search?q=a&page=2", {"Cache-Control": "no-cache"}), ("secret", {"Cache-Control": "no-store"}),
        ("nothing-new", {"ETag": '"1"'}), ("app.js?v=1", {"ETag": '"1"'}), ("app.js?v=2", {"ETag": '"1"'})]]
    entries += [(base + "404", 404, {}, b"", {}, None), (base + "post", 200, {}, b"x", {"method": "POST"}, None),
                (base + "stamped", 200, {"Cache-Control": "max-age=9999999"}, b"x", {}, {"CustomURLCacheExpiration": old, "Cached Date": old, "other": 1}),
                (base + "partial", 200, {"ETag": '"1"', "Content-Length": str(len(LARGE))}, LARGE[:5000], {}, None),
                ("ftp://files.example/a", 200, {}, b"x", {}, None)]
    os.makedirs(os.path.dirname(folder))
    origin.make_apple(maker, folder, entries, stored=time.time() - 10 * origin.DAY)
    with sqlite3.connect(os.path.join(folder, "Cache.db")) as database:
        database.execute("UPDATE cfurl_cache_response SET storage_policy = 1 WHERE entry_ID = 10")
    database.close()


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Everything that the commands are about, which no test changes."""
    return Shop(str(tmp_path_factory.mktemp("guides")))


class Shop:
    """A cache, an origin of its entries, and archives of it; and what a command prints about copies of them."""

    def __init__(self, folder):
        self.folder, self.base = folder, origin.start()
        self.cache = os.path.join(folder, "Library/Caches/com.example.shop")
        make(self.cache, self.base)
        for name in ["all.tar", "all.har"]:
            subprocess.run([tool, "export", "-c", self.cache, "-o", self.path(name)], check=True, capture_output=True,
                           env=os.environ | {"HOME": folder})
        with open(self.path("offline.txt"), "w") as file:
            file.write(f"{self.base}fresh\n{self.base}none-such\n")
        names = ["ETAG", "MODIFIED", "BOTH", "CHANGED", "ROLLED", "FRESH", "STALE", "STAMPED"]
        self.urls = {name: self.base + name.lower() for name in names}
        self.urls |= {"URL": self.base + "etag", "PARTIAL": self.base + "partial", "MISSING": self.base + "none-such",
                      "REDIRECT": self.base + "nothing-new"}

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, command, place):
        """How a command ends and what it prints, about copies of everything that it may change."""
        copy = shutil.copytree(self.cache, os.path.join(place, "Library/Caches/com.example.shop"))
        tags = os.path.join(place, "etags")
        if "ETAGS" in command:
            # The tag of an entry with another tag than is stored, and one of an entry that does not exist.
            os.mkdir(tags)
            for url, tag in [(self.urls["ETAG"], '"kept"'), (self.urls["MISSING"], '"gone"')]:
                keep(os.path.join(tags, hashlib.sha256(url.encode()).hexdigest()), tag)
        config = os.path.join(place, "config.toml")
        with open(config, "w") as new:
            new.write(SETTINGS.format(cache=copy))
        meant = {**self.urls, "PATH": copy, "FOLDER": place, "OUT": os.path.join(place, "out"), "ARCHIVE": self.path("all.tar"),
                 "HAR": self.path("all.har"), "NEW": os.path.join(place, "new"), "OTHER": self.path("all.tar"),
                 "FILE": self.path("offline.txt"), "ETAGS": tags}
        words = [meant.get(word, word) for word in shlex.split(command)][1:]
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        result = subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL, text=True, timeout=120,
                                env=environment | {"URLCACHE_ADMIN_CONFIG": config})
        return result.returncode, (result.stdout + result.stderr).replace(place, "DIR").replace(self.base, "BASE/")


def rows():
    """The commands by the ids of the points; a point without a command has none."""
    with open(os.path.join(os.path.dirname(__file__), "guides.tsv"), encoding="utf-8", newline="") as file:
        return {row["id"]: row["command"] or None for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


# How each command ends, and what it prints, by the row: an expression for a part of it.
EXPECTED = {
    "T0-01": (0, r"offline +2 "),
    "T0-02": (0, r"17 of 18 entries"),
    "T0-03": (0, r"18 of 18 entries"),
    "T0-04": (0, r"BASE/search\?q=a&page=2\n1 of 18 entries"),
    "T0-05": (0, r"On disk +[\d.]+ KiB of 20\.0 MiB"),
    "T0-06": (0, r"(?m)^com\.example\.shop .* DIR/Library/Caches/com\.example\.shop/Cache\.db$"),
    "T0-07": (0, r"\nhttp +17 .*\nftp +1 "),
    "T0-08": (0, r"exported 18 entries to 'DIR/out'"),
    "T0-09": (3, r"Imported \d+ of \d+ entries into a new Apple cache"),
    "T0-10": (1, r"validated with the server(?s:.*)If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT"),
    "T0-11": (0, r"unchanged +last-modified .*\n\n1 requested, 1 unchanged\nNot downloaded again, because it is still valid: 8 B"),
    "T0-12": (0, r"Would remove 5 of 18 entries(?s:.*)BASE/modified\n +8 B  BASE/both\n +8 B  BASE/rolled\n"),
    "T0-13": (1, r"changed +etag .*BASE/changed"),
    "T0-14": (1, r"rolled-back +last-modified .*BASE/rolled"),
    "T0-15": (0, r"If-None-Match: \"1\"\n"),
    "T0-16": (0, r"7 of 18 entries"),
    "T0-17": (0, r"unchanged +etag "),
    "T0-18": (0, r"unchanged +last-modified .*BASE/both"),
    "T0-19": (1, r"2 requested, 1 unchanged, 1 changed"),
    "T0-20": (0, r"BASE/partial\n1 of 18 entries"),
    "T0-21": (1, r"(?s)only the first 5000 bytes.*Range: bytes=5000-.*If-Range: \"1\""),
    "T0-22": (0, r"1 requested, 1 unchanged"),
    "T0-23": (0, r"7 of 18 entries"),
    "T0-24": (0, r"^old body$"),
    "T0-25": (0, r"BASE/app\.js\?v=1\n1 of 18 entries"),
    "T0-26": (0, r"Would remove 18 of 18 entries"),
    "T0-27": (0, r"ID +SIZE +URL\n17 +4\.9 KiB +BASE/partial\n1 of 18 entries"),
    "T0-28": (1, r"warning +never-by-rule +1 "),
    "T0-29": (0, r"Removed 1 of 18 entries"),
    "T0-30": (0, r"127\.0\.0\.1"),
    "T1-01": (1, r"partial-body +1 "),
    "T1-02": (0, r"Entry +1\nURL +BASE/etag\nKey +BASE/etag\n"),
    "T1-03": (0, r"(?m)^com\.example\.shop .* DIR/"),
    "T1-04": (0, r"Cache +DIR/\S+ +\(schema 203\)\nOn disk +"),
    "T1-05": (0, r"Would remove 2 of 18 entries"),
    "T1-06": (0, r'"default_of":"com\.example\.shop"'),
    "T1-07": (0, r"Freshness +stale"),
    "T1-08": (0, r"Removed 1 of 18 entries, 8 B of bodies\n\n +SIZE  URL\n +8 B  BASE/etag\n"),
    "T1-09": (0, r"Removed 18 of 18 entries"),
    "T1-10": (1, r"served from the cache\n  because the request policy returnCacheDataElseLoad ignores its age"),
    "T1-11": (1, r"validated with the server"),
    "T1-12": (1, r"downloaded again.*\n  because the request policy reloadIgnoringLocalCacheData ignores its age"),
    "T1-13": (1, r"downloaded again.*\n  because the request policy reloadIgnoringLocalAndRemoteCacheData ignores its age"),
    "T1-14": (1, r"because the request policy reloadIgnoringLocalCacheData ignores its age"),
    "T1-15": (1, r"served from the cache"),
    "T1-16": (1, r"missing(?s:.*)BASE/none-such"),
    "T1-17": (1, r"validated with the server"),
    "T1-18": (1, r"never-by-rule: (?s:.*)BASE/search\?q=a&page=2"),
    "T1-19": (0, r"^Pinned 1 URL in 'shop'\n$"),
    "T1-20": (0, r"Would remove 2 of 18 entries(?s:.*)BASE/stale"),
    "T1-21": (0, r"Would remove 13 of 18 entries"),
    "T1-22": (0, r"Imported 18 of 18 entries into a new Apple cache \(schema 203\)"),
    "T1-23": (0, r"Bodies +5\.0 KiB"),
    "T1-24": (0, r"Already there with the same contents: 18"),
    "T1-25": (0, r"(?s)Would remove 18 of 18 entries.*selecting entries stored after 2020-01-01T00:00:00Z, that is, newer entries"),
    "T1-26": (0, r'"entries":18,'),
    "T1-27": (0, r"Cache-Control: max-age=9999999"),
    "T1-28": (0, r"\npublic +1 "),
    "T1-29": (0, r'{"key":"private","entries":1,"bytes":8}'),
    "T1-30": (1, r"note +no-cache-without-validator +1 "),
    "T1-31": (1, r'"code":"no-store","severity":"warning","id":10,"url":"BASE/secret"'),
    "T1-32": (0, r"\nfresh \d+\w+ +BASE/fresh\n"),
    "T1-33": (0, r"downloaded again\n  because it stays fresh for -?\d+ s, but the request requires 9999999 s"),
    "T1-34": (1, r"served from the cache\n.*which the request's max-stale allows"),
    "T1-35": (0, r"--header 'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT'"),
    "T1-36": (0, r"unchanged +etag .*BASE/etag"),
    "T1-37": (0, r"BASE/weak\n"),
    "T1-38": (0, r"If-None-Match: \"1\"\n(?s:.*)If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT"),
    "T1-39": (1, r'"outcome":"rolled-back","sent":\["last-modified"\],"status":200'),
    "T1-40": (0, r"unchanged +last-modified "),
    "T1-41": (0, r"BASE/partial"),
    "T1-42": (0, r"because its age \(\d+ s\) is below its lifetime \(9999999 s\) \(RFC 9111 §4\.2\)"),
    "T1-43": (1, r"STALE(?s:.*)due"),
    "T1-44": (0, r"unchanged +etag +8 B +updated .*\n(?s:.*)Updated 1 entry"),
    "T1-45": (1, r"STALE .*: served from the cache"),
    "T1-46": (0, r'"savings":'),
    "T1-47": (0, r"BASE/modified\n(?s:.*)BASE/rolled\n"),
    "T1-48": (0, r"\nstrong etag +\d+ "),
    "T1-49": (0, r"^STORED\n\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n1 shown of 18 entries"),
    "T2-01": (0, r"On disk +[\d.]+ KiB\n"),
    "T2-02": (1, r"validated with the server"),
    "T2-03": (0, r"FRESH .*: downloaded again"),
    "T2-04": (1, r"STALE .*: served from the cache"),
    "T2-05": (1, r"no entry has the URL 'BASE/none-such'"),
    "T2-06": (0, r"17 of 18 entries"),
    "T2-07": (0, r"\nftp +1 "),
    "T2-08": (3, r"MISSING: .*\n(?s:.*)returnCacheDataDontLoad +.*"),
    "T2-09": (0, r"no-validator .*BASE/stale \(it has no validator\)"),
    "T2-10": (1, r"Freshness lifetime +1 s .*\nCurrent age +\d+ s "),
    "T2-11": (0, r"FRESH .*: served from the cache"),
    "T2-12": (3, r"May be stored +unknown"),
    "T2-13": (3, r"May be stored +unknown"),
    "T2-14": (0, r"Imported 18 of 18 entries"),
    "T2-15": (0, r"BASE/secret\n1 of 18 entries"),
    "T2-16": (1, r'"code":"never-by-rule","severity":"warning","id":9,'),
    "T2-17": (0, r"BASE/stamped\n1 of 18 entries"),
    "T2-19": (0, r"Would remove 0 of 18 entries"),
    "T2-20": (0, r"BASE/stamped\n1 of 18 entries"),
    "T2-21": (0, r"\nallowed +17 .*\nmemory-only +1 "),
    "T2-22": (1, r"warning +memory-only-by-rule +1 "),
    "T3-01": (0, r"--header 'If-None-Match: \"1\"'"),
    "T3-02": (0, r'"outcome":"unchanged","sent":\["etag"\],"status":304'),
    "T3-03": (0, r"FRESH .*\n(?s:.*)Cache-Control: max-age=9999999"),
    "T3-04": (0, r'"sent":\["etag","last-modified"\],"status":304,"decided_by":"etag"'),
    "T3-05": (0, r"On disk +[\d.]+ KiB of 100 MiB"),
    "T3-06": (0, r"18 of 18 entries"),
    "T3-07": (0, r"1 requested, 1 unchanged"),
    "T3-08": (0, r"changed +etag +- +replaced +BASE/changed\n(?s:.*)Replaced 1 entry"),
    "T3-09": (1, r"warning +orphan-sidecar +1 +sidecars\n"),
    "T3-10": (0, r"--header 'If-None-Match: \"kept\"'"),
    "T3-11": (1, r"Would remove 1 sidecar file\n(?s:.*)Would write 7 sidecar files\n"),
    "T3-12": (1, r"Removed 1 sidecar file\nWrote 7 sidecar files\n"),
    "T3-13": (0, r"BASE/404\n1 of 18 entries"),
    "T4-01": (1, r"validated"),
    "T4-02": (1, r"served from the cache"),
    "T4-04": (1, r"FINDING +COUNT"),
    "T4-05": (0, r"^old body$"),
    "T4-06": (0, r"Imported 18 of 18 entries"),
    "T4-07": (0, r"^$"),
    "T4-08": (0, r"of 100 MiB"),
    "T4-09": (0, r"BASE/stamped\n1 of 18 entries"),
    "T4-10": (1, r"CustomURLCacheExpiration"),
    "T4-11": (0, r"Would remove 1 of 18 entries"),
    "T4-12": (0, r"Cleared 'CustomURLCacheExpiration' in 1 of 1 selected entry\n  BASE/stamped\n"),
    "T4-13": (1, r"BASE/nothing-new"),
}
# What no command shows: a rule for programmers, another library, a default of one, a cache of its own.
WITHOUT = {"T2-18", "T3-14", "T4-03"}


def test_rows():
    """Each point has a command and something that the command should print, or neither."""
    found = rows()
    assert found.keys() == EXPECTED.keys() | WITHOUT, found.keys() ^ (EXPECTED.keys() | WITHOUT)
    assert {id for id, command in found.items() if not command} == WITHOUT


@pytest.mark.parametrize("id", EXPECTED)
def test_command(shop, id):
    """The command of a row prints what the row is about."""
    place, (status, text) = path("row"), EXPECTED[id]
    os.mkdir(place)
    command = rows()[id]
    answer = shop.run(command, place)
    assert answer[0] == status and re.search(text, answer[1]), (command, *answer)
