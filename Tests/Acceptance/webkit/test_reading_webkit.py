"""Reads caches that WebKitGTK wrote, and compares each entry with what the origin sent, with another reader, and with WebKit's own listing."""

import datetime
import json
import os
import random
import shutil

import pytest

import scratch
import webkit_samples
from scratch import path, run
from webkit_records import Cache


@pytest.fixture(params=webkit_samples.NAMES)
def sample(request):
    return request.param


def listed(cache):
    return [json.loads(line) for line in run("list", cache, "--format", "ndjson", "--columns", "all", "--at", "2026-11-29T00:00:00Z").stdout.splitlines()]


def entries(cache):
    """The responses."""
    return [entry for entry in listed(cache) if entry["type"] == "resource"]


def utc(seconds):
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown(cache):
    """All entries as `show` prints them, by their URL, range and partition."""
    ids = [entry["id"] for entry in entries(cache)]
    return json.loads(run("show", "-c", cache, *ids, "--show-secrets", "--format", "json").stdout)


def export(cache, name):
    run("export", "-c", cache, "-o", path(name))


def headers(pairs):
    """Header fields as their bytes: WebKitGTK keeps one byte in each character."""
    return [[name, value.encode("latin-1", "surrogatepass")] for name, value in pairs or []]


def told(pairs):
    return [[name, value.encode()] for name, value in pairs or []]


@pytest.mark.parametrize("name", webkit_samples.WRITTEN)
def test_same_as_another_reader(name):
    cache = webkit_samples.unpack(name, "cache")
    expected = webkit_samples.records(name)
    found = {entry["id"]: entry for entry in shown(cache)}
    assert found.keys() == expected.keys() and len(found) > 10
    for key, record in expected.items():
        entry = found[key]
        assert [entry["url"], entry["key"], entry["method"], entry["status"], entry["mime"] or "", entry["size"], entry["sha256"], entry["stored"],
                entry["partition"] or "", entry["type"], entry["range"], entry["body_location"], entry["notes"]] == \
            [record["url"], record["url"], "GET", record["status"], record["mime"], record["body_size"], record["body_sha256"], utc(record["time"]),
             record["partition"], "resource", record["range"], "inline" if record["body_inline"] else "file", []], key
        assert told(entry["response_headers"]) == headers(record["headers"]), key
        sent = [pair for pair in record["vary"] if pair[1] is not None] + ([["Range", record["range"]]] if record["range"] is not None else [])
        assert told(entry["request_headers"]) == headers(sent), key


@pytest.mark.parametrize("name", webkit_samples.WRITTEN)
def test_lists_of_what_pages_loaded(name):
    """They are entries of another type, without a response, and say what the other reader says."""
    cache = webkit_samples.unpack(name, "cache")
    expected = webkit_samples.lists(name)
    found = {entry["id"]: entry for entry in listed(cache) if entry["type"] != "resource"}
    assert found.keys() == expected.keys()
    for key, record in expected.items():
        [entry] = json.loads(run("show", "-c", cache, key, "--show-secrets", "--format", "json").stdout)
        assert [entry["url"], entry["type"], entry["partition"] or "", entry["range"], entry["stored"], entry["size"], entry["status"], entry["method"],
                entry["response_headers"], entry["notes"]] == \
            [record["url"], "subresources", record["partition"], record["range"], utc(record["time"]), 0, None, None, None, []]
        loaded = entry["proto_props"]["subresources"]
        assert [[one["url"], one.get("page"), list(one.get("headers", {}).items())] for one in loaded] == \
            [[other["key"]["identifier"], other["first_party"], [tuple(pair) for pair in other["headers"]]] for other in record["subresources"]]
    # No answer to a request, and in no copy.
    run("export", "-c", cache, "-o", path("lists.tar"), "--where", "type = subresources")
    assert run("list", path("lists.tar"), "--format", "ndjson").stdout == b""
    for record in expected.values():
        run("body", "-c", cache, record["url"])
    assert json.loads(run("usage", cache, "--format", "json").stdout)["entries"] == len(expected) + len(webkit_samples.records(name))


@pytest.mark.parametrize("name", webkit_samples.WRITTEN)
def test_same_as_the_origin(name):
    """Each entry is what the origin sent, byte for byte; WebKit removes content codings, and a 304 replaces fields that are not about the content."""
    cache = webkit_samples.unpack(name, "cache")
    sent = webkit_samples.sent(name)
    for entry in shown(cache):
        fields = dict(entry["response_headers"])
        answer = sent[fields["X-Seq"]]
        assert answer["url"].partition("#")[0] == entry["url"] and answer["method"] == "GET"
        if answer["status"] == 304:
            # What the answer before it sent.
            [*_, answer] = [before for before in sent.values()
                            if before["url"] == answer["url"] and before["seq"] < answer["seq"] and before["status"] != 304]
        assert (answer["status"], answer["body_sha256"] if entry["status"] not in (301, 302, 303, 307) else entry["sha256"]) == \
            (entry["status"], entry["sha256"]), entry


def test_same_as_the_own_listing():
    cache = webkit_samples.unpack("plain/store", "cache")
    with open(os.path.join(webkit_samples.FOLDER, "plain/webkit-own-listing.json")) as file:
        listed = [entry for entry in json.load(file)["entries"] if "URL" in entry]
    # The listing is of another run, with another salt and other times.
    found = {(entry["url"], tuple(name for name, _ in entry["response_headers"])): entry["size"] for entry in shown(cache)}
    assert found == {(entry["URL"].partition("#")[0], tuple(entry["headers"])): entry["bodySize"] for entry in listed} and len(found) > 50


def test_layouts_of_apple_systems():
    """The same entries in three versions of the layout have the same contents, and a partition."""
    plain = {entry["url"]: entry for entry in shown(webkit_samples.unpack("partitions/store", "plain"))}
    for version in (16, 17, 18):
        cache = webkit_samples.unpack(f"partitions/forged-cocoa-v{version}", f"v{version}")
        assert os.listdir(cache) == [f"Version {version}"]
        found = shown(cache)
        assert len(found) == 31 and not any(entry["notes"] for entry in found)
        for entry in found:
            if other := plain.get(entry["url"]):
                assert [entry[name] for name in ("status", "mime", "size", "sha256", "response_headers")] == \
                    [other[name] for name in ("status", "mime", "size", "sha256", "response_headers")]
        partitions = {entry["partition"] for entry in found} - {None}
        assert {"alpha.example", "127.0.0.1", "secure.example"} <= partitions, partitions
        assert b"0 errors" in run("check", "--full", cache, status=None).stdout


def test_looking_changes_nothing(sample):
    """Not even the times of use, by which WebKit would choose what to remove."""
    cache = webkit_samples.unpack(sample, "cache")
    before = scratch.tree(cache)
    for words in ["list"], ["usage"], ["check", "--full"], ["audit"], ["grep", "example"], ["explain", "--all"], ["report", "-o", path("report.html")], ["metrics"]:
        run(words[0], "-c", cache, *words[1:], status=None)
    run("discover", scratch.root)
    run("export", "-c", cache, "-o", path("copy.tar"), status=None)
    run("purge", "-c", cache, "--all", "-n")
    assert scratch.tree(cache) == before


@pytest.mark.parametrize("ending", ["tar", "tar.zst", "har", "warc.gz", "wacz"])
def test_exports_have_the_bodies(ending):
    cache = webkit_samples.unpack("plain/store", "cache")
    export(cache, f"copy.{ending}")
    found = entries(cache)
    copied = [json.loads(line) for line in run("list", path(f"copy.{ending}"), "--format", "ndjson").stdout.splitlines()]
    expected = sorted((entry["url"], entry["size"]) for entry in found)
    if ending.startswith("tar"):
        assert sorted((entry["url"], entry["size"]) for entry in copied) == expected
    # The other formats have one response of a URL, and not each range of it, and a HAR has no redirects without their targets.
    assert len({entry["url"] for entry in copied}) >= len({entry["url"] for entry in found}) - 1
    assert {(entry["url"], entry["size"]) for entry in copied} <= set(expected)


def test_convert():
    """An archive of the cache becomes a cache of either kind, in which all entries are."""
    cache = webkit_samples.unpack("plain/store", "cache")
    export(cache, "copy.tar")
    for format in ("apple", "foundation"):
        # Foundation has one entry for all queries, and none for a path that is no file name.
        result = run("import", path("copy.tar"), "-c", path(format), "--create", format, status=3)
        assert b"it contains only a range of the response" in result.stdout, result
        found = {json.loads(line)["url"] for line in run("list", path(format), "--format", "ndjson").stdout.splitlines()}
        assert found <= {entry["url"] for entry in entries(cache)} and len(found) > 30


def test_discover():
    cache = webkit_samples.unpack("large/store", "home/.cache/epiphany/WebKitCache")
    found = json.loads(run("discover", path("home"), "--format", "json").stdout)
    [store] = found["stores"]
    assert [store["path"], store["format"], store["schema_version"], store["entries"]] == [cache, "webkit", 17, len(listed(cache))]


def test_neighbours():
    """What is beside a cache and is not read is named, and nothing else is."""
    os.makedirs(path("home/Library/Caches/com.example.app/WebKit"))
    cache = path("home/Library/Caches/com.example.app/WebKit/NetworkCache")
    Cache(cache).store("http://a.example/")
    assert json.loads(run("discover", path("home"), "--format", "json").stdout)["stores"][0]["notes"] == []
    library = path("home/Library")
    for name in ("Caches/com.example.app/WebKit/CacheStorage", "Caches/com.example.app/WebKit/HSTS", "Caches/com.example.app/WebKit/Other", "HTTPStorages"):
        os.mkdir(os.path.join(library, name))
    [store] = json.loads(run("discover", path("home"), "--format", "json").stdout)["stores"]
    assert store["path"] == cache
    assert [os.path.relpath(note.split("'")[1], library) for note in store["notes"]] == \
        ["Caches/com.example.app/WebKit/CacheStorage", "Caches/com.example.app/WebKit/HSTS", "HTTPStorages"], store
    assert run("discover", path("home")).stderr.count(b"not read: ") == 3


@pytest.mark.parametrize("neighbour", ["origin", "cacheslist", "estimatedsize"])
def test_cache_api_is_not_read(neighbour):
    """The Cache API of pages keeps records that look the same."""
    cache = webkit_samples.unpack("plain/store", "cache")
    with open(os.path.join(cache, neighbour), "w"):
        pass
    for folder in (cache, os.path.join(cache, "Version 17")):
        assert b"Cache.db" in run("list", folder, status=65).stderr
    assert json.loads(run("discover", scratch.root, "--format", "json").stdout)["stores"] == []


def test_folder_of_a_version():
    """The folder of the version can be given itself, also through a link, and the newest one is read otherwise."""
    cache = webkit_samples.unpack("plain/store", "cache")
    expected = entries(cache)
    assert entries(os.path.join(cache, "Version 17")) == expected
    os.symlink(cache, path("link"))
    assert entries(path("link")) == expected
    shutil.copytree(os.path.join(cache, "Version 17"), os.path.join(cache, "Version 15"))
    assert entries(cache) == expected
    assert b"other-version" in run("check", cache, status=None).stdout


def test_copied_without_links():
    """A copy that lost its hard links is read like the cache, and check says why it is larger."""
    cache = webkit_samples.unpack("large/store", "cache")
    shutil.copytree(cache, path("copy"))
    assert [entry | {"id": ""} for entry in entries(path("copy"))] == [entry | {"id": ""} for entry in entries(cache)]
    output = run("check", "--full", path("copy"), status=None).stdout
    assert b"unlinked-blob" in output and b"lone-blob" not in output


def test_odd_files():
    """What is not a record is no entry, and is never opened."""
    cache = webkit_samples.unpack("large/store", "cache")
    expected = entries(cache)
    [records] = [folder for folder, _, names in os.walk(cache) if folder.endswith("/Resource")]
    os.mkfifo(os.path.join(records, "pipe"))
    os.symlink("/etc/passwd", os.path.join(records, "A" * 40))
    os.mkdir(os.path.join(records, "B" * 40))
    os.mkfifo(os.path.join(records, "C" * 40))
    open(os.path.join(records, "D" * 40), "w").close()
    open(os.path.join(records, "E" * 40 + "-blob"), "w").close()
    open(os.path.join(cache, "Version 17", "dump.json"), "w").close()
    os.symlink("/", os.path.join(cache, "Version 17", "Records", "F" * 40))
    found = entries(cache)
    odd = {entry["id"]: entry for entry in found if entry["id"] in {letter * 40 for letter in "ABCD"}}
    assert [entry for entry in found if entry["id"] not in odd] == expected
    assert odd.keys() == {letter * 40 for letter in "ABCD"} and all(entry["notes"] and entry["url"] is None for entry in odd.values())
    output = run("check", cache, status=None).stdout.decode()
    for code in ("young-blob", "plain-listing", "other-file", "not-a-regular-file"):
        assert code in output, output


def test_changed_bytes():
    """Whatever byte of a record or of a body is changed, `check` finds it, and all other entries are as before."""
    name, chosen = "plain/store", random.Random(7)
    cache = webkit_samples.unpack(name, "cache")
    records = webkit_samples.records(name)
    version = os.path.join(cache, "Version 17")
    before = {entry["id"]: entry for entry in entries(cache)}
    cases = []
    for key, record in records.items():
        file = os.path.join(version, record["file"])
        size = os.path.getsize(file)
        cases += [(key, file, chosen.randrange(size)) for _ in range(4)]
        if not record["body_inline"]:
            cases.append((key, file + "-blob", chosen.randrange(record["body_size"])))
    for key, file, place in chosen.sample(cases, 120):
        with open(file, "r+b") as opened:
            opened.seek(place)
            old = opened.read(1)
            opened.seek(place)
            opened.write(bytes([old[0] ^ chosen.choice([1, 2, 64, 255])]))
        result = run("check", "--full", cache, "--format", "json", status=None)
        findings = [finding for finding in json.loads(result.stdout)["findings"] if finding["severity"] == "error" or finding["code"] == "bad-file-name"]
        damaged = {finding["id"] for finding in findings}
        # Equal bodies are one file.
        same = {other for other, record in records.items() if record["body_hash"] == records[key]["body_hash"]} if file.endswith("-blob") else {key}
        assert damaged == same, (key, file, place, findings)
        assert {entry["id"]: entry for entry in entries(cache) if entry["id"] not in damaged} == \
            {id: entry for id, entry in before.items() if id not in damaged}
        with open(file, "r+b") as opened:
            opened.seek(place)
            opened.write(old)


def test_cut_records():
    """A record that is cut anywhere is an entry with a note, and nothing of it is guessed."""
    name = "plain/store"
    cache = webkit_samples.unpack(name, "cache")
    chosen = random.Random(8)
    for key, record in chosen.sample(sorted(webkit_samples.records(name).items()), 12):
        file = os.path.join(cache, "Version 17", record["file"])
        whole = scratch.read(file)
        for length in [0, 4, record["metadata_size"] - 1, record["metadata_size"], len(whole) - record["body_size"] - 1, len(whole) - 1]:
            if length == len(whole):
                continue
            with open(file, "wb") as opened:
                opened.write(whole[:length])
            [entry] = [entry for entry in entries(cache) if entry["id"] == key]
            assert entry["notes"] and (entry["url"] == record["url"]) == (length >= record["metadata_size"]), (length, entry)
        with open(file, "wb") as opened:
            opened.write(whole)
