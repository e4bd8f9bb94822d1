"""Moves entries out of Foundation caches and into them, and compares the result with sqlite3, plistlib and Foundation's own `URLCache`."""

import base64
import collections
import glob
import hashlib
import json
import os
import plistlib
import shutil
import sqlite3
import stat
import subprocess
import sys
import urllib.parse

import pytest

import samples
from products import tool
from scratch import export, make, path, run, tree

SUFFIX = ".storedcachedurlresponse"


def ask(stock, *words, **options):
    """The lines that a program around `URLCache` prints."""
    result = subprocess.run([stock, *words], capture_output=True, check=True, env=os.environ | {"SWIFT_BACKTRACE": "enable=no"}, **options)
    return [json.loads(line) for line in result.stdout.splitlines()]


def receipt(*words, status=0):
    return json.loads(run("import", "--yes", *words, "--format", "json", status=status).stdout)


def shown(cache):
    """What `show` reports of all entries, in their order."""
    ids = run("list", "-c", cache, "--format", "ndjson", "--columns", "id").stdout.splitlines()
    names = [str(json.loads(line)["id"]) for line in ids]
    return json.loads(run("show", "-c", cache, "--format", "json", "--show-secrets", *names).stdout) if names else []


def key(url):
    """The part of the name of a file that is the key of a URL."""
    parts = urllib.parse.urlsplit(url)
    host = urllib.parse.unquote(parts.hostname or "")
    way = urllib.parse.unquote(parts.path)
    while len(way) > 1 and way.endswith("/"):
        way = way[:-1]
    text = f"{host.lower()}\0{parts.port if parts.port is not None else -1}\0{way}\0"
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("format", ["tar", "tar.zst", "zip"])
def test_round_trip(format):
    """A Foundation cache that is exported and imported again is the same in every byte, and a second import changes nothing."""
    cache = make("foundation", "--format", "foundation", entries=12)
    archive, new = export(cache, f"foundation.{format}"), path(f"new.{format}")
    result = receipt(archive, "-c", new, "--create", "foundation")
    assert result["added"]["entries"] == 12 and result["lost"] == {} and result["cache"]["format"] == "foundation"
    # The program that makes caches writes the same bytes as this one.
    assert {name: file[1:] for name, file in tree(new).items()} == {name: file[1:] for name, file in tree(cache).items()}
    assert all(stat.S_IMODE(file[0]) == 0o600 for file in tree(new).values())
    with open(export(new, "again.tar"), "rb") as again, open(export(cache, "first.tar"), "rb") as first:
        assert again.read() == first.read()
    assert run("diff", cache, new).stdout == b"" and run("diff", archive, new).stdout == b""
    before = tree(new)
    assert receipt(archive, "-c", new)["unchanged"]["entries"] == 12 and tree(new) == before


def test_round_trip_through_apple():
    """A Foundation cache that is imported into an Apple cache, and back from there, is the same."""
    cache = make("foundation", "--format", "foundation", entries=12)
    through = path("through")
    run("import", "--any-method", export(cache, "foundation.tar"), "-c", through, "--create", "apple")
    assert run("diff", cache, through).stdout == b""
    again = path("back")
    assert receipt(export(through, "through.tar"), "-c", again, "--create", "foundation")["lost"] == {}
    receipt(path("foundation.tar"), "-c", path("new"), "--create", "foundation")
    assert tree(again) == tree(path("new"))


def test_stored_by_foundation(stock_url_cache):
    """Entries of `URLCache` are the same after an export and an import, also if the URL of the response is another."""
    folder = path("stock")
    items = [
        {"url": "https://a.example/plain?q=1", "status": 200, "headers": {"ETag": '"a"'}, "body": base64.b64encode(b"one").decode(),
         "userInfo": {"text": ["text", "x"], "date": ["date", "700000000.25"], "inner": ["inner", "y"]}},
        {"url": "https://[::1]:81/x%25%C3%BC/b", "responseURL": "https://b.example/to", "status": 404, "headers": {},
         "body": ""},
        {"url": "ftp://a.example/file", "mime": "text/plain", "body": ""},
        {"url": "https://a.example/poison", "status": 200, "headers": {}, "body": "", "userInfo": {"a": ["array", "x"], "b": ["text", "y"]}},
    ]
    ask(stock_url_cache, "store", folder, input=json.dumps(items).encode())
    with open(os.path.join(folder, "1.YQAtMQAvAA==" + SUFFIX), "wb") as file:
        file.write(b"no archive")
    older = next(name for name in os.listdir(folder) if key("https://a.example/plain") in name)
    shutil.copy(os.path.join(folder, older), os.path.join(folder, "5." + older.split(".", 1)[1]))
    open(os.path.join(folder, ".dat.nosync1.abcdef"), "w").close()
    before = tree(folder)
    result = run("export", "-c", folder, "-o", path("stock.tar"), status=3)
    assert tree(folder) == before
    notes = sorted(line for line in result.stderr.decode().splitlines() if " skipped because " in line)
    assert len(notes) == 3 and all(line.startswith("note: 1 entry was skipped because ") for line in notes), notes
    entries = shown(path("stock.tar"))
    asked = {entry["url"]: (entry["request_url"], entry["key"]) for entry in entries}
    assert asked == {"https://a.example/plain?q=1": ("https://a.example/plain?q=1",) * 2,
                     "https://b.example/to": ("https://[::1]:81/x%25%C3%BC/b",) * 2,
                     "https://a.example/poison": ("https://a.example/poison",) * 2}, asked
    new = path("stock-new")
    result = receipt(path("stock.tar"), "-c", new, "--create", "foundation")
    # An array in the user info would kill Foundation, and is not written.
    assert result["lost"] == {"user-info": 1} and result["added"]["entries"] == 3, result
    theirs = {line["url"]: line for line in ask(stock_url_cache, "list", new)}
    assert theirs["https://a.example/plain?q=1"]["userInfo"] == {
        "text": "x", "date": {"seconds": 700000000.25}, "inner": {"key": {"key": "y"}}}, theirs
    assert theirs["https://a.example/poison"]["userInfo"] == {"b": "y"}, theirs


# The fields of `show` for each part that is lost; the dates of Apple caches are decoded alike, so that they can be compared.
FIELDS = {
    "request-headers": ["request_headers"], "request-body": ["request_body_base64", "request_body_bytes"],
    "request-details": ["cache_policy", "timeout"], "url": ["url"], "mime-type": ["mime"],
    "response-headers": ["response_headers"], "first-stored": ["first_stored"], "stored": ["stored"],
    "partition": ["partition"], "user-info": ["user_info"], "protocol-properties": ["proto_props"],
    "request-url": ["key", "request_url"],
}
# Fields that follow from others, or are new for each entry.
ASIDE = ["id", "body_file", "freshness", "ttl", "lifetime", "lifetime_source", "current_age", "expires_at", "validators", "notes"]


def plain(entry):
    return {**entry, "response_headers": sorted(map(tuple, entry["response_headers"] or []), key=lambda field: field[0])}


def columns(cache):
    """The columns of all entries but their bodies, by sqlite3, without those that are new for each entry."""
    database = sqlite3.connect(glob.glob(os.path.join(cache, "*.db"))[0])
    rows = database.execute("SELECT entry_ID, request_key, time_stamp, partition, storage_policy, version, response_object, request_object, "
                            "proto_props, user_info FROM cfurl_cache_response JOIN cfurl_cache_blob_data USING (entry_ID)").fetchall()
    database.close()
    return {row[0]: row[1:] for row in rows}


def losses_of(origin, name):
    """Moves an Apple cache into a Foundation cache and back, and compares what is lost with what the receipts report as lost."""
    folder, back = path(name + "-folder"), path(name + "-back")
    archive = export(origin, name + ".tar")
    olds = list(map(plain, shown(origin)))
    result = receipt(archive, "-c", folder, "--create", "foundation", status=3 if rejected(olds) else 0)
    returned = receipt(export(folder, name + "-back.tar"), "-c", back, "--create", "apple")
    news = {entry["id"]: plain(entry) for entry in shown(back)}
    old_columns, new_columns = columns(origin), columns(back)
    # The number of an entry is the place of its file.
    files = sorted(name.removesuffix(SUFFIX) for name in os.listdir(folder))
    assert len(files) == len(news) == result["added"]["entries"], (len(files), len(news), result["added"])
    counts = collections.Counter()
    for entry in result["entries"]:
        if entry["action"] != "add":
            assert entry["action"] == "other-method" or entry["action"] in ["reject", "skip"] and entry["reason"], entry
            continue
        old = olds[entry["number"] - 1]
        place = [files.index(file) for file in files if file.split(".")[1] == key(old["request_url"])]
        assert len(place) == 1, (old, place)
        new = news[place[0] + 1]
        differing = {loss for loss, names in FIELDS.items() if any(old[field] != new[field] for field in names)}
        rest = [field for field in old if field not in ASIDE + sum(FIELDS.values(), []) and old[field] != new[field]]
        # A body has a file of its own by its length, as in newer schemas.
        assert not rest or rest == ["body_location"], (rest, old, new)
        said = set(entry["lost"])
        assert said - {"other"} == differing, (said, differing, old, new)
        if old_columns[old["id"]] == new_columns[new["id"]]:
            assert not said, said
        else:
            assert said, old
        counts.update(said)
    assert counts == result["lost"], (counts, result["lost"])
    return result


def rejected(entries):
    """Whether entries cannot all be moved into a Foundation cache."""
    wanted = [entry for entry in entries if entry["method"] == "GET" and entry["body_location"] != "missing"]
    return len({key(entry["request_url"]) for entry in wanted}) < len(entries)


def test_losses(thorough):
    """Receipts list exactly the parts of made-up Apple entries that a Foundation cache has no place for."""
    count = 200 if thorough else 45
    cache = make("apple", entries=count, seed=11)
    # The entries of an archive are shown as those of its cache.
    if thorough:
        aside = lambda entries: [{name: value for name, value in entry.items() if name not in ASIDE} for entry in entries]
        assert aside(shown(export(cache, "apple.tar"))) == aside(shown(cache))
    made = losses_of(cache, "made")
    assert {"request-headers", "request-details", "response-headers", "first-stored", "protocol-properties"} <= set(made["lost"]), made["lost"]
    assert made["added"]["entries"] > 0.75 * count
    text = run("import", "--any-method", path("made.tar"), "-c", path("text"), "--create", "foundation", "-n",
               status=3 if rejected(shown(cache)) else 0).stdout.decode()
    assert "Would lose, because the cache format cannot store it:\n" in text and not os.path.exists(path("text")), text


# The format of schemas 11 to 13 is too old to be imported.
@pytest.mark.parametrize("sample", samples.each(lambda name: name.startswith("schema-") and "schema-01" not in name), indirect=True)
def test_losses_of_apple_caches(sample):
    """Receipts list exactly the parts of Apple entries, as the systems write them, that a Foundation cache has no place for."""
    cache = shutil.copytree(sample, path("real"))
    if shown(cache):
        assert losses_of(cache, "lost")["added"]["entries"] > 0
    else:
        assert "empty" in sample or "orphans" in sample


def test_found_by_foundation(stock_url_cache, thorough):
    """`URLCache` finds each imported entry, with the contents that it has in the Apple cache."""
    folder, count = path("made-folder"), 200 if thorough else 45
    cache = make("apple", entries=count, seed=11)
    entries = shown(cache)
    receipt(export(cache, "made.tar"), "-c", folder, "--create", "foundation", status=3 if rejected(entries) else 0)
    there = {file.split(".")[1] for file in os.listdir(folder)}
    entries = [entry for entry in entries if key(entry["request_url"]) in there and entry["method"] == "GET"]
    urls = [entry["request_url"] for entry in entries]
    found = ask(stock_url_cache, "get", folder, input=json.dumps(urls).encode())
    assert len(found) == len(urls) > 0.75 * count
    seen = 0
    for old, new in zip(entries, found):
        # In a key, characters that no URL can have are escaped.
        if new["url"] not in [old["url"], old["key"]]:
            # Another entry has its key.
            assert urllib.parse.urlsplit(old["url"]).query, (old["url"], new["url"])
            continue
        seen += 1
        headers = {}
        for name, value in old["response_headers"]:
            name = name.lower()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        assert new["status"] == old["status"], (old, new)
        assert {name.lower(): value for name, value in new["headers"].items()} == headers, (old, new)
        assert hashlib.sha256(base64.b64decode(new["body"])).hexdigest() == old["sha256"], old
    assert seen == len(there), (seen, len(there))
    (usage,) = ask(stock_url_cache, "usage", folder)
    assert usage["usage"] == sum(file[1] for file in tree(folder).values())


def made_archive(name, urls, time=0, turned=False):
    """An archive of entries for URLs, from an Apple cache that sqlite3 changes; the first entry is the newest if it is turned."""
    cache = path(name + "-cache")
    make(name + "-cache", entries=len(urls), seed=5)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    for number, url in enumerate(urls, 1):
        for column in ["response_object", "request_object"]:
            value = plistlib.loads(database.execute(f"SELECT {column} FROM cfurl_cache_blob_data WHERE entry_ID = {number}").fetchone()[0])
            at = 0 if column == "response_object" else 1
            value["Array"][at] = {"_CFURLStringType": 15, "_CFURLString": url}
            if at == 0:
                value["Array"][1] = 700000000.0 + time + (9 - number if turned else number)
            database.execute(f"UPDATE cfurl_cache_blob_data SET {column} = ? WHERE entry_ID = {number}",
                             (plistlib.dumps(value, fmt=plistlib.FMT_BINARY),))
        stamp = f"2023-03-0{number + time} 00:00:00"
        database.execute("UPDATE cfurl_cache_response SET request_key = ?, time_stamp = ? WHERE entry_ID = ?", (url, stamp, number))
    database.commit()
    database.close()
    return export(cache, name + ".tar")


def files_of(folder):
    return sorted(os.listdir(folder))


def test_conflicts():
    """Entries with the same key in a Foundation cache conflict, in the cache and within an archive."""
    base = "https://a.example/x"
    archive = made_archive("keys", [base + "?a=1", base + "?a=2", "http://a.example/x", "https://a.example/y"])
    new = path("keys-folder")
    # Like URLCache, an import keeps the entry that was stored last, whatever the order in the archive.
    turned = made_archive("turned", [base, base + "?a=2"], turned=True)
    for rule in ["skip", "replace", "newer"]:
        for file, skipped, kept in [(archive, 2, {"http://a.example/x", "https://a.example/y"}), (turned, 1, {base})]:
            shutil.rmtree(new, ignore_errors=True)
            result = receipt(file, "-c", new, "--create", "foundation", "--on-conflict", rule, status=3)
            assert (result["added"]["entries"], result["skipped"]["entries"]) == (len(kept), skipped), (rule, result)
            assert {entry["url"] for entry in shown(new)} == kept, (rule, shown(new))
            # The same import again changes nothing.
            before = tree(new)
            receipt(file, "-c", new)
            assert tree(new) == before
    shutil.rmtree(new)
    text = run("import", archive, "-c", new, "--create", "foundation", status=3).stdout.decode()
    assert "Imported 2 of 4 entries into a new Foundation cache" in text, text
    assert "Entries skipped because a newer entry in the archive has the same key in this cache: 2\n" in text, text
    assert "the cache has an entry" not in text, text
    failed = run("import", "--any-method", archive, "-c", path("none"), "--create", "foundation", "--on-conflict", "error", status=1).stderr.decode()
    assert "several entries from the archive would have the same key as" in failed and "already has" not in failed, failed
    assert not os.path.exists(path("none"))
    later = made_archive("later", [base + "?a=3"], time=5)
    earlier = made_archive("earlier", [base + "?a=4"], time=0)
    before = tree(new)
    run("import", "--any-method", later, "-c", new)
    run("import", "--yes", earlier, "-c", new, "--on-conflict", "newer")
    run("import", "--any-method", later, "-c", new, "--on-conflict", "error", status=1)
    run("import", "--any-method", later, "-c", new, "--on-conflict", "replace", "-n")
    assert tree(new) == before
    result = receipt(later, "-c", new, "--on-conflict", "newer")
    assert result["replaced"]["entries"] == 1
    assert {entry["url"] for entry in shown(new)} == {base + "?a=3", "https://a.example/y"} and len(files_of(new)) == 2
    run("import", "--yes", earlier, "-c", new, "--on-conflict", "replace")
    assert {entry["url"] for entry in shown(new)} == {base + "?a=4", "https://a.example/y"} and len(files_of(new)) == 2
    # An entry of the same second has the same file name, and replaces the other, too.
    same = made_archive("same", [base + "?a=5"], time=0)
    result = receipt(same, "-c", new, "--on-conflict", "replace")
    assert result["replaced"]["entries"] == 1 and len(files_of(new)) == 2
    assert {entry["url"] for entry in shown(new)} == {base + "?a=5", "https://a.example/y"}


@pytest.mark.parametrize("words, status", [(["--host", "typo.example"], 0), (["--method", "POST"], 3)])
@pytest.mark.parametrize("kind", ["apple", "foundation"])
def test_nothing_to_import(words, status, kind):
    """An import of nothing creates no cache."""
    cache, new = make("origin", entries=400, seed=1), path("new")
    if words[0] == "--method" and kind == "apple":
        run("import", cache, "-c", new, "--create", kind, *words)
        run("list", new)
        return
    for options in [["-n"], []]:
        done = run("import", cache, "-c", new, "--create", kind, *words, *options, status=status)
        assert done.stdout.startswith(b"Would import 0 of " if options else b"Imported 0 of ") and b"into a new" not in done.stdout, done
        assert b"note: no cache was created, because there is nothing to import\n" in done.stderr, done
        assert not os.path.exists(new)
    document = json.loads(run("import", cache, "-c", new, "--create", kind, *words, "--json", status=status).stdout)
    assert document["created"] is False and document["added"]["entries"] == 0, document
    assert not os.path.exists(new)
    if status:
        assert b"Entries skipped because this cache cannot contain them: " in done.stdout and b"incomplete" not in done.stdout, done


def test_an_empty_apple_cache_is_copied():
    """An import restores an empty cache, but not one of the kind that cannot be empty."""
    empty = make("empty", entries=0)
    run("import", empty, "-c", path("copy"))
    assert run("list", path("copy"), "--count").stdout == b"0\n"
    run("import", empty, "-c", path("folder"), "--create", "foundation")
    assert not os.path.exists(path("folder"))


def test_a_quiet_import_prints_nothing_unless_something_is_left_out():
    cache = make("origin", entries=60, seed=11)
    done = run("import", cache, "-c", path("copy"), "-q")
    assert done.stdout == done.stderr == b"" and run("list", path("copy"), "--count").stdout == b"60\n"
    assert run("import", cache, "-c", path("other"), "-q", "-n").stdout
    assert run("import", cache, "-c", path("folder"), "--create", "foundation", "-q", status=3).stdout


def test_refused_folders():
    """No import goes into a folder with other files, and '--create' needs a folder that is no cache."""
    base = "https://a.example/x"
    archive = made_archive("keys", [base + "?a=1", base + "?a=2", "http://a.example/x", "https://a.example/y"])
    folder = path("other")
    os.mkdir(folder)
    with open(os.path.join(folder, "letter.txt"), "w") as file:
        file.write("dear")
    before = tree(folder)
    run("import", "--any-method", archive, "-c", folder, "--create", "foundation", status=73)
    run("import", "--any-method", archive, "-c", folder, status=65)
    assert tree(folder) == before
    os.rename(os.path.join(folder, "letter.txt"), os.path.join(folder, ".dat.nosync1.abcdef"))
    # Three of the four have one key, which has neither scheme nor query.
    run("import", "--any-method", archive, "-c", folder, "--create", "foundation", status=3)
    assert len(files_of(folder)) == 3
    before = tree(folder)
    for words in [["--create", "foundation"], ["--create", "apple"], ["--create", "foundation", "--schema", "202"]]:
        run("import", "--any-method", archive, "-c", folder, *words, status=64 if "202" in words else 73)
    assert tree(folder) == before


def test_refused_urls():
    """Entries are rejected whose URL makes no file name, or has no host."""
    long = made_archive("long", ["https://a.example/" + "x" * 160, "https://h.example/%E6%97%A5%E6%9C%AC%3F", "about:blank", "https://a.example/ok"])
    result = receipt(long, "-c", path("long-folder"), "--create", "foundation", status=3)
    assert [entry["action"] for entry in result["entries"]] == ["reject", "reject", "reject", "add"], result["entries"]
    assert len(files_of(path("long-folder"))) == 1


def test_odd_urls(stock_url_cache):
    """Characters that no URL can have are escaped, so that `URLCache` reads the entry."""
    odd = ["https://a.example/a b|c", "https://a.example/x[1]", "https://a.example/y%zz", "https://a.example/x\u00fc"]
    result = receipt(made_archive("odd", odd), "-c", path("odd-folder"), "--create", "foundation")
    assert result["added"]["entries"] == 4
    lines = ask(stock_url_cache, "list", path("odd-folder"))
    assert sorted(line["url"] for line in lines) == sorted([
        "https://a.example/a%20b%7Cc", "https://a.example/x%5B1%5D", "https://a.example/y%25zz", "https://a.example/x%C3%BC"]), lines


@pytest.mark.parametrize("words", [["purge", "--mime", "image/*"], ["purge", "--all"], ["enforce", "--max-entries", "10"]], ids=" ".join)
def test_backups(words):
    """The backup of a removal contains the removed entries, and importing it restores the cache."""
    cache, archive = make("backed", "--format", "foundation", entries=30), path("backup.tar.zst")
    whole = tree(cache)
    run(*words, "-c", cache, "--backup", archive, "--yes")
    rest = tree(cache)
    assert len(rest) < 30 and int(run("list", "-c", archive, "--count").stdout) == 30 - len(rest)
    os.makedirs(cache, exist_ok=True)
    run("import", "--any-method", archive, "-c", cache, *(["--create", "foundation"] if not rest else []))
    assert {name: file[1:] for name, file in tree(cache).items()} == {name: file[1:] for name, file in whole.items()}, words


# A child counts what its parent had when it was made, so the parent has to be small.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_large_body(thorough):
    """No command holds a large body in memory."""
    folder = path("large")
    os.mkdir(folder)
    uid = plistlib.UID
    body = os.urandom(1 << 20) * (150 if thorough else 80)
    objects = ["$null", {"$class": uid(8), "response": uid(2), "data": uid(9), "storagePolicy": 0, "userInfo": uid(0), "date": uid(3)},
               {"$class": uid(6), "NS.url": uid(4), "NS.mimeType": uid(0), "NS.expectedContentLength": -1, "NS.textEncodingName": uid(0),
                "NS.suggestedFilename": uid(0), "NS.statusCode": 200, "NS.allHeaderFields": uid(10)},
               {"$class": uid(7), "NS.time": 7e8}, {"$class": uid(11), "NS.base": uid(0), "NS.relative": uid(5)}, "https://a.example/large",
               {"$classname": "NSHTTPURLResponse", "$classes": ["NSHTTPURLResponse", "NSURLResponse", "NSObject"]},
               {"$classname": "NSDate", "$classes": ["NSDate", "NSObject"]},
               {"$classname": "FoundationNetworking.StoredCachedURLResponse", "$classes": ["FoundationNetworking.StoredCachedURLResponse", "NSObject"]},
               body, {"$class": uid(12), "NS.keys": [], "NS.objects": []}, {"$classname": "NSURL", "$classes": ["NSURL", "NSObject"]},
               {"$classname": "NSDictionary", "$classes": ["NSDictionary", "NSObject"]}]
    archive = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": uid(1)}, "$objects": objects}
    with open(os.path.join(folder, f"700000000.{key('https://a.example/large')}{SUFFIX}"), "wb") as file:
        plistlib.dump(archive, file, fmt=plistlib.FMT_BINARY)
    for words in [["export", "-c", folder, "-o", path("large.tar")],
                  ["import", "--any-method", path("large.tar"), "-c", path("large-new"), "--create", "foundation"],
                  ["diff", folder, path("large-new")]]:
        memory = int(subprocess.run([sys.executable, "-c", PEAK, tool, *words], capture_output=True, check=True).stdout) / 1024
        assert memory < 64, (words, memory)
    new = files_of(path("large-new"))
    with open(path("large-new/" + new[0]), "rb") as file:
        value = plistlib.load(file)
    assert new == files_of(folder) and [data for data in value["$objects"] if isinstance(data, bytes)] == [body]
