"""Compares how this program reads and writes Foundation caches with Foundation's own `URLCache`, and reads damaged and hostile files."""

import base64
import datetime
import hashlib
import json
import os
import plistlib
import shutil
import socket
import subprocess
import sys
import time

import pytest

import scratch
import strace
from products import maker, tool
from scratch import path

SUFFIX = ".storedcachedurlresponse"
FATAL = "fatal-to-foundation"
EPOCH = 978307200


def run(*arguments, status=0, timeout=300, **options):
    # A crash that is looked for needs no backtrace.
    environment = os.environ | {"SWIFT_BACKTRACE": "enable=no"} | ({"HOME": "/"} if "user" in options else {})
    result = subprocess.run(arguments, capture_output=True, timeout=timeout, env=environment, **options)
    if status is not None:
        assert result.returncode == status, (arguments, result.returncode, result.stderr[-2000:])
    return result


# A child counts what its parent had when it was made, so the parent has to be small.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)
"""


def peak(*arguments):
    """The most memory that a program takes, in MiB, and its processor time, in seconds."""
    memory, duration = run(sys.executable, "-c", PEAK, *arguments).stdout.split()
    return float(memory), float(duration)


def lines(output):
    return [json.loads(line) for line in output.splitlines()]


def listed(folder, *options, **more):
    """What `list` reports of all entries, by the names of their files."""
    result = run(tool, "list", "-c", folder, "--format", "ndjson", *options, **more)
    return {entry["id"]: entry for entry in lines(result.stdout)}


def shown(folder, ids):
    """What `show` reports of entries, by their ids."""
    result = run(tool, "show", "-c", folder, "--format", "json", "--show-secrets", *ids)
    return {entry["id"]: entry for entry in json.loads(result.stdout)}


def codes(entry):
    return sorted(note["code"] for note in entry["notes"])


def seconds(time):
    """Seconds since 2001 of a time in our JSON."""
    form = "%Y-%m-%dT%H:%M:%S.%f%z" if "." in time else "%Y-%m-%dT%H:%M:%S%z"
    return datetime.datetime.strptime(time, form).timestamp() - EPOCH


def same_info(ours, theirs):
    if isinstance(theirs, dict) and theirs.keys() == {"seconds"}:
        return abs(seconds(ours) - theirs["seconds"]) < 1
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same_info(ours[key], theirs[key]) for key in theirs)
    if isinstance(ours, bool) and isinstance(theirs, int):
        return int(ours) == theirs
    return ours == theirs


def same(ours, theirs):
    """Whether an entry that `show` shows is the one that Foundation reads."""
    body = base64.b64decode(theirs["body"])
    for left, right in [
        (ours["url"], theirs["url"]), (ours["status"], theirs["status"]), (ours["size"], len(body)),
        (dict(ours["response_headers"] or []), theirs["headers"]),
        (ours["sha256"], hashlib.sha256(body).hexdigest()),
        (ours["policy"], ["allowed", "memory-only", "not-allowed"][theirs["policy"]]),
    ]:
        assert left == right, (left, right)
    assert same_info(ours["user_info"], theirs["userInfo"]), (ours["user_info"], theirs["userInfo"])


def text(body):
    return base64.b64encode(body).decode()


HEADERS = {"Content-Type": "text/html; charset=utf-8", "ETag": '"a"', "X-Count": "1", "DNT": "1",
           "Set-Cookie": "a=1; Path=/, b=2", "Cache-Control": "max-age=60", "Ümlaut": "é"}
ITEMS = [
    {"url": "https://a.example/plain", "status": 200, "headers": HEADERS, "body": text(b"hello")},
    {"url": "https://A.Example:443/UPPER/?q=1#f", "status": 404, "headers": {}, "body": text(b"")},
    {"url": "http://a.example:8080/port", "status": 200, "headers": HEADERS, "body": text(b"\0" * 70000)},
    {"url": "http://[2001:db8::1]:81/six", "status": 503, "headers": HEADERS, "body": text(b"6")},
    {"url": "http://[::1]/", "status": 200, "headers": HEADERS, "body": text(b"6")},
    {"url": "https://xn--bcher-kva.example/x%C3%BCber", "status": 200, "headers": HEADERS, "body": text(b"b")},
    {"url": "https://b%C3%BCcher.example/a", "status": 200, "headers": HEADERS, "body": text(b"b")},
    {"url": "https://a.example/x%E6%97%A5%E6%9C%AC", "status": 200, "headers": HEADERS, "body": text(b"j")},
    {"url": "https://a.example/a%2Fb;p=1/", "status": 200, "headers": HEADERS, "body": text(b"s")},
    {"url": "https://u:p@a.example/user", "status": 200, "headers": HEADERS, "body": text(b"u")},
    {"url": "https://a.example/redirected", "responseURL": "https://b.example/to?x=%20", "status": 200,
     "headers": HEADERS, "body": text(b"r")},
    {"url": "ftp://a.example/file", "mime": "text/plain", "body": text(b"no HTTP")},
    {"url": "https://a.example/large", "status": 200, "headers": HEADERS,
     "body": text(bytes(range(256)) * 12000)},
    {"url": "https://a.example/info", "status": 200, "headers": HEADERS, "body": text(b"i"),
     "userInfo": {"text": ["text", "é\n"], "integer": ["integer", "-5"], "real": ["real", "1.5"],
                  "date": ["date", "700000000.25"], "data": ["data", "bytes"],
                  "url": ["url", "https://c.example/"], "inner": ["inner", "x"]}},
]


def test_stored_by_foundation(stock_url_cache):
    """Each entry that `URLCache` stores is listed, shown and added up as `URLCache` has it."""
    stock, folder = stock_url_cache, path("stock")
    run(stock, "store", folder, input=json.dumps(ITEMS).encode())
    theirs = {line["name"].removesuffix(SUFFIX): line for line in lines(run(stock, "list", folder).stdout)}
    ours = listed(folder)
    assert len(ours) == len(ITEMS) and ours.keys() == theirs.keys(), (ours.keys(), theirs.keys())
    assert not any(entry["notes"] for entry in ours.values()), ours
    for identifier, entry in shown(folder, ours).items():
        same(entry, theirs[identifier])
        now = time.time() - EPOCH
        assert abs(seconds(entry["stored"]) - now) < 60, entry["stored"]
    for item in ITEMS:
        wanted = item.get("responseURL", item["url"])
        assert any(entry["url"] == wanted for entry in ours.values()), item["url"]
    for identifier, line in theirs.items():
        body = run(tool, "body", "-c", folder, identifier + SUFFIX).stdout
        assert body == base64.b64decode(line["body"])
    usage = lines(run(tool, "usage", "-c", folder, "--format", "json").stdout)[0]
    assert usage["footprint"]["total_bytes"] == lines(run(stock, "usage", folder).stdout)[0]["usage"]
    by_url = listed(folder, "https://a.example/plain")
    assert [entry["size"] for entry in by_url.values()] == [5], by_url


def test_reproducible():
    """A made-up Foundation cache is the same each time it is made with the same seed."""
    folder, again = path("sample"), path("again")
    for each in [folder, again]:
        run(maker, "--format", "foundation", "--entries", "100", "--seed", "3", each)
    names = sorted(os.listdir(folder))
    assert len(names) == 100 and names == sorted(os.listdir(again))
    for name in names:
        with open(os.path.join(folder, name), "rb") as one, open(os.path.join(again, name), "rb") as two:
            assert one.read() == two.read(), name


def test_many_entries(stock_url_cache, thorough):
    """`URLCache` decodes each of many made-up entries; among thousands there are long URLs."""
    count = 3000 if thorough else 500
    many = scratch.make("many", "--format", "foundation", "--no-large-bodies", entries=count, seed=1)
    assert not any(entry["notes"] for entry in listed(many).values())
    assert lines(run(stock_url_cache, "decode", many).stdout) == [{"decoded": count}]


def test_read_by_foundation(stock_url_cache, thorough):
    """`URLCache` finds each made-up entry, as this program shows it."""
    folder = scratch.make("sample", "--format", "foundation", entries=250 if thorough else 100)
    entries = list(shown(folder, listed(folder)).values())
    assert not any(entry["notes"] for entry in entries)
    urls = [entry["url"] for entry in entries]
    found = lines(run(stock_url_cache, "get", folder, input=json.dumps(urls).encode()).stdout)
    for entry, theirs in zip(entries, found, strict=True):
        assert theirs, f"URLCache does not find {entry['url']}"
        same(entry, theirs)


def archive(user_info=None, url="https://a.example/", objects=None, **more):
    """An archive as Foundation writes it, by plistlib; `objects` are those from 20 on."""
    uid = plistlib.UID
    kind = lambda name: {"$classname": name, "$classes": [name, "NSObject"]}
    own = ["$null"] * 20 + (objects or [])
    own[1] = {"$class": uid(10), "response": uid(2), "data": uid(3), "storagePolicy": 0,
              "userInfo": uid(user_info or 0), "date": uid(4)}
    own[2] = {"$class": uid(11), "NS.url": uid(5), "NS.mimeType": uid(0), "NS.expectedContentLength": -1,
              "NS.textEncodingName": uid(0), "NS.suggestedFilename": uid(0), "NS.statusCode": 200,
              "NS.allHeaderFields": uid(6)}
    own[3], own[4] = b"body", {"$class": uid(12), "NS.time": 7e8}
    own[5] = {"$class": uid(13), "NS.base": uid(0), "NS.relative": uid(7)}
    own[6], own[7] = {"$class": uid(14), "NS.keys": [uid(8)], "NS.objects": [uid(9)]}, url
    own[8], own[9] = "X-A", "b"
    own[10] = kind("FoundationNetworking.StoredCachedURLResponse")
    own[11], own[12], own[13], own[14] = map(kind, ["NSHTTPURLResponse", "NSDate", "NSURL", "NSDictionary"])
    own[15] = kind("NSArray")
    for number, value in more.items():
        own[int(number[1:])] = value
    return plistlib.dumps({"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": uid(1)},
                           "$objects": own}, fmt=plistlib.FMT_BINARY, sort_keys=False)


def dictionary(keys, values, kind=14):
    uid = plistlib.UID
    return {"$class": uid(kind), "NS.keys": list(map(uid, keys)), "NS.objects": list(map(uid, values))}


def test_fatal_files(stock_url_cache):
    """An entry has the note 'fatal-to-foundation' if, and only if, it kills the reader of Foundation."""
    stock = stock_url_cache
    uid = plistlib.UID
    chain = [dictionary([8], [number + 21]) for number in range(3000)] + ["end"]
    url = lambda base, text: {"$class": uid(13), "NS.base": uid(base), "NS.relative": uid(text)}
    cases = {
        "sound": archive(),
        "array": archive(20, objects=[dictionary([8], [21]), {"$class": uid(15), "NS.objects": [uid(9)]}]),
        "unknown class": archive(20, objects=[dictionary([8], [21]), {"$class": uid(22)},
                                              {"$classname": "No.Such", "$classes": ["No.Such"]}]),
        "class out of range": archive(20, objects=[{"$class": uid(999)}]),
        "class is text": archive(20, objects=[{"$class": uid(9)}]),
        "more keys": archive(20, objects=[dictionary([8, 9], [9])]),
        "more values": archive(20, objects=[dictionary([8], [9, 9])]),
        "null value": archive(20, objects=[dictionary([8], [0])]),
        "value out of range": archive(20, objects=[dictionary([8], [999])]),
        "known date": archive(20, objects=[dictionary([8], [4])]),
        "date of another class object": archive(20, objects=[
            dictionary([8], [21]), {"$class": uid(22), "NS.time": 1.0},
            {"$classname": "NSDate", "$classes": ["NSDate", "NSObject"]}]),
        "cycle": archive(20, objects=[dictionary([8], [20])]),
        "chain": archive(20, objects=chain),
        "more header names": archive(_6=dictionary([8, 9], [9])),
        "array in headers": archive(_6=dictionary([8], [20]), objects=[{"$class": uid(15), "NS.objects": []}]),
        "URL is its own base": archive(_5=url(5, 7)),
        "relative URL": archive(_5=url(20, 7), objects=[url(0, 21), "https://c.example/d/"], _7="../e"),
        "empty URL": archive(url=""),
        "another root": archive(_10={"$classname": "NSDate", "$classes": ["NSDate"]}),
        "another response": archive(_11={"$classname": "NSDate", "$classes": ["NSDate"]}),
        "text as root": archive(_1="root"),
        "no URL": archive(_5="https://a.example/"),
        "data in a container": archive(_3={"$class": uid(20), "NS.data": b"body"}, objects=[
            {"$classname": "NSData", "$classes": ["NSData", "NSObject"]}]),
    }
    folder = path("deaths")
    os.mkdir(folder)
    names = {}
    for number, (name, data) in enumerate(cases.items()):
        names[name] = f"{number}.YQAtMQAvAA=="
        with open(os.path.join(folder, names[name] + SUFFIX), "wb") as file:
            file.write(data)
    # A plain list with a set: plistlib writes no sets.
    with open(os.path.join(folder, "900.YQAtMQAvAA==" + SUFFIX), "wb") as file:
        file.write(bytes.fromhex("62706c6973743030c1011005080a000000000000010100000000000000020000000000000000"
                                 "000000000000000c"))
    ours = listed(folder)
    died = []
    for name, identifier in names.items():
        alone = path("alone")
        shutil.rmtree(alone, ignore_errors=True)
        os.mkdir(alone)
        shutil.copy(os.path.join(folder, identifier + SUFFIX), alone)
        # Foundation reads in a thread, whose stack has this size.
        result = run("sh", "-c", 'ulimit -s 512 && exec "$0" list "$1"', stock, alone, status=None)
        is_dead = result.returncode < 0
        if is_dead:
            died.append(name)
        assert is_dead == (FATAL in codes(ours[identifier])), (name, result.returncode, ours[identifier])
        if result.returncode == 0 and "url" in (line := lines(result.stdout)[0]):
            same(shown(folder, [identifier])[identifier], line)
    assert len(died) >= 12, died


def test_fatal_user_info(stock_url_cache):
    """User info with an array, a UUID or a null, which `URLCache` stores, kills its reader, and gets the note."""
    stock, by_array = stock_url_cache, path("array")
    kinds = ["array", "uuid", "null"]
    run(stock, "store", by_array, input=json.dumps(
        [{**ITEMS[0], "url": f"https://a.example/{kind}", "userInfo": {"key": [kind, "x"]}}
         for kind in kinds]).encode())
    assert run(stock, "list", by_array, status=None).returncode < 0
    for entry in shown(by_array, listed(by_array)).values():
        assert codes(entry) == [FATAL], entry
        assert "key" in entry["user_info"] and entry["size"] == 5, entry


BOMBS = ["header fields", "text", "names of classes", "bases of URLs", "data", "data in UUIDs", "dictionaries", "nothing"]


def bomb(name):
    """A small file that would become large, or take long, by what it shares."""
    uid, null = plistlib.UID, plistlib.UID(0)
    many, text = 10000, "x" * (1 << 20)
    return {
        "header fields": lambda: archive(_6=dictionary([20] * many, [20] * many), objects=[text]),
        "text": lambda: archive(20, objects=[dictionary(range(22, 22 + many), [21] * many), text]
                        + [str(number) for number in range(many)]),
        "names of classes": lambda: archive(20, objects=[
            dictionary([8] * many, [21] * many), {"$class": uid(22)}, {"$classname": text, "$classes": [text]}]),
        "bases of URLs": lambda: archive(_5={"$class": uid(13), "NS.base": uid(21), "NS.relative": uid(20)}, objects=[
            text] + [{"$class": uid(13), "NS.base": uid(22 + number), "NS.relative": uid(20)} for number in range(60)]),
        "data": lambda: archive(20, objects=[dictionary([8] * many, [21] * many), b"y" * 60000]),
        "data in UUIDs": lambda: archive(20, objects=[
            dictionary([8] * many, [21] * many), {"$class": uid(22), "NS.uuidbytes": uid(23)},
            {"$classname": "NSUUID", "$classes": ["NSUUID"]}, b"y" * 60000]),
        "dictionaries": lambda: archive(20, objects=[
            dictionary([8] * 100, [21] * 100), *(dictionary([8] * 100, [22 + number] * 100) for number in range(20)),
            "end"]),
        "nothing": lambda: archive(20, objects=[dictionary([8] * 5000, range(21, 5021))] + [
            {"$class": uid(14), "NS.keys": [null] * many, "NS.objects": [null] * many}] * 5000),
    }[name]()


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name):
    """A small file whose objects are shared many times takes little memory and little time."""
    folder = path("bomb")
    os.mkdir(folder)
    with open(os.path.join(folder, "1.YQAtMQAvAA==" + SUFFIX), "wb") as file:
        file.write(bomb(name))
    total = 0
    for arguments in [["list", "--age-basis", "user-info:d", "--stored-after", "0001-01-01T00:00:00Z",
                       "--columns", "url,response-headers,notes"], ["show", "--format", "json", "1.YQAtMQAvAA=="],
                      ["body", "1.YQAtMQAvAA=="]]:
        memory, duration = peak(tool, arguments[0], "-c", folder, *arguments[1:])
        assert memory < 96, (name, arguments, memory)
        total += duration
    assert total < 60, (name, total)


@strace.needed
def test_kinds_of_files(monkeypatch):
    """Whatever is in the folder under the name of an entry is noted, never opened unless it is a regular file, and never changed."""
    os.chmod(scratch.root, 0o755)
    folder = path("files")
    os.mkdir(folder)
    os.chmod(folder, 0o755)
    outside = path("outside")
    with open(outside, "wb") as file:
        file.write(archive())
    key = lambda text: base64.b64encode(text.encode()).decode()
    at = lambda name: os.path.join(os.fsencode(folder), os.fsencode(name))

    def put(name, data=archive()):
        with open(at(name), "wb") as file:
            file.write(data)

    expected = {}
    put("100." + key("a\0-1\0/sound\0") + SUFFIX)
    expected["100." + key("a\0-1\0/sound\0")] = []
    os.mkdir(at("101.folder" + SUFFIX))
    os.symlink(outside, at("102.link" + SUFFIX))
    os.symlink("/dev/zero", at("103.zero" + SUFFIX))
    os.mkfifo(at("104.pipe" + SUFFIX))
    # The path of a socket is short: it is bound from within the folder.
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("105.socket" + SUFFIX)
    monkeypatch.chdir("/")
    for name in ["101.folder", "102.link", "103.zero", "104.pipe", "105.socket"]:
        expected[name] = ["bad-file-name", "not-a-regular-file"]
    put("106." + key("a\0-1\0/empty\0") + SUFFIX, b"")
    expected["106." + key("a\0-1\0/empty\0")] = ["empty-file"]
    for second in ["107", "108"]:
        put(f"{second}." + key("a\0-1\0/twice\0") + SUFFIX)
        expected[f"{second}." + key("a\0-1\0/twice\0")] = ["duplicate-key"]
    put("99999999999." + key("a\0-1\0/future\0") + SUFFIX)
    expected["99999999999." + key("a\0-1\0/future\0")] = ["future-dated"]
    put("9223372036854775807." + key("a\0-1\0/never\0") + SUFFIX)
    expected["9223372036854775807." + key("a\0-1\0/never\0")] = ["bad-time", "future-dated"]
    put(".dat.nosync1a2b.Xy9zAb")
    put(".dat.nosync1a2b.empty0", b"")
    put("109.!!!" + SUFFIX)
    expected["109.!!!"] = ["bad-file-name"]
    put("12x.YQ==" + SUFFIX)
    put("110.a.b" + SUFFIX)
    put("111." + key("a\0-1\0/case\0") + SUFFIX.upper())
    expected["111." + key("a\0-1\0/case\0") + SUFFIX.upper()] = []
    put("112." + key("a\0-1\0/cut\0") + SUFFIX, archive()[:-1])
    expected["112." + key("a\0-1\0/cut\0")] = ["undecodable"]
    put("113." + key("a\0-1\0/no list\0") + SUFFIX, b"<?xml version='1.0'?><plist/>")
    expected["113." + key("a\0-1\0/no list\0")] = ["undecodable"]
    put("114." + key("a\0-1\0/another list\0") + SUFFIX, plistlib.dumps({}, fmt=plistlib.FMT_BINARY))
    expected["114." + key("a\0-1\0/another list\0")] = ["undecodable"]
    put("115." + key("a\0-1\0/no body\0") + SUFFIX, archive(_3="$null"))
    expected["115." + key("a\0-1\0/no body\0")] = ["undecodable"]
    put("116." + key("a\0-1\0/secret\0") + SUFFIX)
    os.chmod(at("116." + key("a\0-1\0/secret\0") + SUFFIX), 0)
    expected["116." + key("a\0-1\0/secret\0")] = ["unreadable-file"]
    put(b"117.\xff\xfe" + SUFFIX.encode())
    with open(at("118." + key("a\0-1\0/sparse\0") + SUFFIX), "wb") as file:
        file.truncate(1 << 40)
    expected["118." + key("a\0-1\0/sparse\0")] = ["undecodable"]
    put("notes.txt")
    os.mkdir(at("folder"))
    before = sorted((name, os.lstat(at(name)).st_mtime_ns) for name in os.listdir(folder))
    nobody = {"user": "nobody"} if os.getuid() == 0 else {}
    trace = path("trace")
    with open(trace, "w"):
        os.chmod(trace, 0o666)
    result = run("strace", "-f", "-o", trace, "-e", "trace=open,openat", tool, "list", "-c", folder,
                 "--format", "ndjson", cwd="/", **nobody)
    entries = lines(result.stdout)
    ours = {entry["id"] or base64.b64decode(entry["id_base64"]): codes(entry) for entry in entries}
    expected[b"117.\xff\xfe"] = ["bad-file-name"]
    assert ours == expected, {name: (ours.get(name), expected.get(name))
                              for name in ours.keys() | expected.keys() if ours.get(name) != expected.get(name)}
    with open(trace) as file:
        opened = file.read()
    for name in ["folder", "link", "zero", "pipe", "socket"]:
        assert f".{name}{SUFFIX}" not in opened, f"the {name} was opened"
    assert "100." in opened
    for entry in entries:
        identifier = entry["id"]
        if identifier is None:
            continue
        has_body = entry["body_location"] == "inline"
        body = run(tool, "body", "-c", folder, "--", identifier, status=None, **nobody)
        assert (body.returncode == 0 and body.stdout == b"body") == has_body, (identifier, body)
        assert has_body or body.returncode in (65, 77), (identifier, body)
        run(tool, "show", "-c", folder, "--", identifier, **nobody)
    run(tool, "usage", "-c", folder, "--by", "host", **nobody)
    assert before == sorted((name, os.lstat(at(name)).st_mtime_ns) for name in os.listdir(folder))


def test_damage(stock_url_cache, thorough):
    """Files that are cut off at any length, or have any flipped bit, are listed in little memory, as Foundation reads them.

    Not all are tried unless thorough, and fewer of them with Foundation, which dies of some.
    """
    stock, source = stock_url_cache, path("source")
    run(stock, "store", source, input=json.dumps([
        {"url": "https://a.example/", "status": 200, "headers": {"ETag": "1"}, "body": text(b"body"),
         "userInfo": {"t": ["text", "x"], "d": ["date", "7e8"], "i": ["inner", "x"]}}]).encode())
    with open(os.path.join(source, os.listdir(source)[0]), "rb") as file:
        data = file.read()
    cases = [data[:length] for length in range(1, len(data))]
    for index in range(len(data)):
        for bit in range(8):
            cases.append(data[:index] + bytes([data[index] ^ 1 << bit]) + data[index + 1:])
    assert len(cases) >= 5000, len(cases)
    if not thorough:
        # An odd number, so that each of the 8 bits has its turn.
        cases = cases[::27]
    folder = path("damage")
    os.mkdir(folder)
    for number, case in enumerate(cases):
        with open(os.path.join(folder, f"{number}.YQAtMQAvAA=={SUFFIX}"), "wb") as file:
            file.write(case)
    # The time that an age is taken from makes it decode the user info too.
    ours = listed(folder, "--columns", "id,url,status,size,policy,mime,response-headers,notes",
                  "--age-basis", "user-info:d", "--stored-after", "0001-01-01T00:00:00Z")
    everything = listed(folder)
    memory, _ = peak(tool, "list", "-c", folder, "--format", "ndjson")
    assert memory < 32, memory
    assert len(everything) == len(cases), (len(cases), len(everything))
    assert len(ours) > len(cases) / 2, len(ours)
    ids = list(everything)[:: len(cases) // 100]
    assert len(shown(folder, ids)) == len(ids)
    fatal, missed = against_stock(stock, folder, everything, 8)
    # Some ways in which a flipped bit kills it are not foreseen.
    assert missed <= 3 + fatal // 20, (missed, fatal)


def against_stock(stock, folder, ours, every):
    """Compares one in so many damaged files with what Foundation reads of it, if it survives."""
    part = path("part")
    os.mkdir(part)
    names = [identifier + SUFFIX for identifier in ours][::every]
    for name in names:
        os.link(os.path.join(folder, name), os.path.join(part, name))
    compared = false = lenient = fatal = missed = 0
    while os.listdir(part):
        # It reads the files in the order of their names, and prints the name of each before it reads it.
        result = run(stock, "list", part, status=None, timeout=600)
        output, started = lines(result.stdout), result.stderr.decode(errors="replace").splitlines()
        for line in output:
            os.unlink(os.path.join(part, line["name"]))
            if "url" not in line:
                continue
            entry = ours[line["name"].removesuffix(SUFFIX)]
            compared += 1
            body = base64.b64decode(line["body"])
            false += FATAL in codes(entry)
            # A response whose class is not that of HTTP has no status for Foundation, but may contain one.
            status = entry["status"] if line["status"] is None else line["status"]
            facts = [(entry["url"], line["url"]), (entry["status"] or 0, status or 0), (entry["size"], len(body))]
            if all(left == right for left, right in facts):
                continue
            # Foundation accepts what its own writer never writes: other versions of the format, odd lengths of
            # numbers. This program reports these parts as missing, with a note.
            lenient += 1
            assert all(left in (right, None, 0) for left, right in facts), (entry, line)
            assert "undecodable" in codes(entry), (entry, line)
        if result.returncode < 0:
            name = [name for name in started if name.endswith(SUFFIX)][-1]
            fatal += 1
            missed += FATAL not in codes(ours[name.removesuffix(SUFFIX)])
            os.unlink(os.path.join(part, name))
    assert false <= 3 + compared // 50, (false, compared)
    assert lenient <= 3 + compared // 100, (lenient, compared)
    return fatal, missed


def test_kinds_of_folders():
    """A folder without entries is a Foundation cache only under the path that Foundation uses; a link to a cache is one too."""
    os.chmod(scratch.root, 0o755)
    folder = path("kinds")
    os.mkdir(folder)
    neither = run(tool, "list", "-c", folder, status=65)
    assert b"Cache.db" in neither.stderr and b"storedcachedurlresponse" in neither.stderr, neither.stderr
    run(tool, "list", "-c", folder + "/none", status=66)
    if os.getuid() == 0:
        os.chmod(folder, 0o700)
        run(tool, "list", "-c", folder, status=77, user="nobody", cwd="/")
    empty = os.path.join(folder, "org.swift.foundation.URLCache", "tool")
    os.makedirs(empty)
    for way in [empty, empty + "/", os.path.join(empty, ".")]:
        assert run(tool, "list", "-c", way, "--count").stdout == b"0\n"
    os.symlink(scratch.make("stock", "--format", "foundation"), os.path.join(folder, "link"))
    count = run(tool, "list", "-c", os.path.join(folder, "link"), "--count").stdout
    assert count == b"40\n", count
