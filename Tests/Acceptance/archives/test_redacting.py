"""Plants secrets in every place of a cache, and looks for them in every export that is to have none, whatever they are encoded by."""

import base64
import glob
import io
import json
import os
import plistlib
import re
import shutil
import sqlite3
import subprocess
import tarfile
import urllib.parse
import zipfile
import zlib

import pytest

import peers
import planted_secrets
import scratch
from products import tool
from scratch import path

pytestmark = peers.needed("zstd")
NATIVE = ["tar", "tar.gz", "tar.zst", "zip"]
OTHERS = ["har", "warc", "warc.gz", "wacz", "files"]
NAMES = ["--redact-header", "X-Api-Key", "--redact-query", "sig"]
# The secrets that the running test has planted.
secrets = []


@pytest.fixture(autouse=True)
def no_secrets():
    secrets.clear()


def run(*words, status=0):
    result = scratch.run(*words, status=None)
    assert result.returncode in (status if isinstance(status, tuple) else (status,)), (words, status, result)
    return result


def secret():
    """A text that is nowhere else; its place is told by its number."""
    secrets.append(f"GEHEIM{len(secrets):03}xyzzy")
    return secrets[-1]


def arrays(fields):
    """Header fields as arrays, as CFNetwork hides them."""
    data = plistlib.dumps({name: [value] for name, value in fields.items()}, fmt=plistlib.FMT_BINARY)
    return "\r\n\r\n" + base64.b64encode(data).decode()


def unreferenced(list, text):
    """A property list with bytes between its objects and their table, which no object refers to."""
    data = plistlib.dumps(list, fmt=plistlib.FMT_BINARY)
    start = int.from_bytes(data[-8:], "big")
    return data[:start] + text.encode() + data[start:-8] + (start + len(text)).to_bytes(8, "big")


def planted():
    """A cache with a secret in each place that can have one."""
    cache = scratch.make("cache", entries=12, seed=4)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    database.execute("ALTER TABLE cfurl_cache_response ADD COLUMN extra TEXT")
    def lists(id):
        row = database.execute("SELECT response_object, request_object FROM cfurl_cache_blob_data WHERE entry_ID = ?", (id,)).fetchone()
        return [plistlib.loads(data) for data in row]
    def put(id, response=None, request=None, proto=None, info=None, key=None):
        for column, value in [("response_object", response), ("request_object", request), ("proto_props", proto), ("user_info", info)]:
            if value is not None:
                data = value if isinstance(value, bytes) else plistlib.dumps(value, fmt=plistlib.FMT_BINARY)
                database.execute(f"UPDATE cfurl_cache_blob_data SET {column} = ? WHERE entry_ID = ?", (data, id))
        if key:
            database.execute("UPDATE cfurl_cache_response SET request_key = ? WHERE entry_ID = ?", (key, id))
    # Header fields, flat and as arrays, in either case and beside blanks.
    response, request = lists(1)
    fields = {"Set-Cookie": f"a={secret()}", "SET-COOKIE2": secret(), "x-api-key": secret(), "Content-Type": "text/plain"}
    response["Array"][4] = {**fields, "__hhaa__": arrays({**fields, "Set-Cookie": secret()})}
    fields = {"Cookie": secret(), "authorization": f"Bearer {secret()}", "Proxy-Authorization": secret(), "Cookie2": secret(), "Accept": "*/*",
              "X-Api-Key ": secret(), "Referer": f"https://u:{secret()}@r.example/?sig={secret()}&b=1"}
    request["Array"][19] = {**fields, "__hhaa__": arrays({**fields, "Cookie": secret(), "Authorization": secret()})}
    put(1, response, request)
    # URLs, in all places.
    response, request = lists(2)
    url = lambda: f"https://user:{secret()}@a.example/x?q=1&sig={secret()}&%73ig={secret()}#f"
    response["Array"][0]["_CFURLString"] = url()
    response["Array"][4] = {"Location": f"/next?SIG={secret()}", "Content-Location": f"//p:{secret()}@b.example/", "Link": f"<https://c.example/?sig={secret()}>; rel=x"}
    request["Array"][1]["_CFURLString"] = url()
    request["Array"][4] = {"_CFURLStringType": 15, "_CFURLString": url()}
    put(2, response, request, key=url())
    # Two that are one without their secrets.
    for number in [3, 4]:
        response, request = lists(number)
        one = f"https://one.example/?sig={secret()}"
        response["Array"][0]["_CFURLString"] = request["Array"][1]["_CFURLString"] = one
        put(number, response, request, key=one)
    # Bodies of requests, which old systems append to the key.
    response, request = lists(5)
    body = secret()
    request["Array"][18], request["Array"][20], request["Array"][21] = "POST", body.encode(), [secret().encode(), secret()]
    put(5, response, request, key=request["Array"][1]["_CFURLString"] + body)
    # What was attached.
    response, request = lists(6)
    response["Array"][4]["Vary"] = "Accept, Cookie"
    proto = {"Accept, Cookie": {"Accept": "text/*", "Cookie": secret()}, "com.example.app": {"token": secret()}, secret(): "x",
             "kCFURLRequestAllowAllPOSTCaching": True, "kCFURLRequestPreAuthXMMeAuthToken": secret()}
    info = {"token": secret(), "data": secret().encode(), "inner": {"list": [secret(), "\u00fc" + secret()]},
            "nested": plistlib.dumps({"token": secret()}, fmt=plistlib.FMT_BINARY)}
    put(6, response, request, proto, info)
    # Columns, and what no object refers to.
    database.execute("UPDATE cfurl_cache_response SET extra = ?, partition = ? WHERE entry_ID = 7",
                     (secret(), f"https://p:{secret()}@site.example"))
    response, request = lists(7)
    put(7, unreferenced(response, secret()))
    # What cannot be decoded.
    put(8, info=secret().encode(), proto=secret().encode())
    put(9, request=b"bplist00" + secret().encode())
    put(10, response=b"bplist00" + secret().encode())
    database.execute("UPDATE cfurl_cache_response SET time_stamp = ? WHERE entry_ID = 11", (secret(),))
    database.execute("UPDATE cfurl_cache_response SET storage_policy = ? WHERE entry_ID = 11", (secret(),))
    # Arrays of header fields that cannot be decoded, and data where there should be none.
    response, request = lists(12)
    response["Array"][4]["__hhaa__"] = base64.b64encode(secret().encode()).decode()
    response["Array"][2] = secret().encode()
    request["Array"][19]["Odd"] = secret().encode()
    put(12, response, request)
    database.commit()
    database.close()
    return cache


def children(data):
    """What data may hold in another encoding; what turns out to be in none is passed over."""
    for kind in [gzipped, zstandard, members, listed, encoded]:
        try:
            yield from kind(data)
        except Exception:
            pass


def gzipped(data):
    """What is compressed anywhere in data, all that follows each other as one."""
    start = data.find(b"\x1f\x8b\x08")
    while start >= 0:
        result, end = b"", start
        while data[end:end + 3] == b"\x1f\x8b\x08":
            decoder = zlib.decompressobj(31)
            try:
                result += decoder.decompress(data[end:])
            except zlib.error:
                break
            end = len(data) - len(decoder.unused_data)
        if result:
            yield result
        start = data.find(b"\x1f\x8b\x08", max(end, start + 1))


def zstandard(data):
    if data[:4] == b"\x28\xb5\x2f\xfd":
        yield subprocess.run(["zstd", "-dcq"], input=data, capture_output=True).stdout


def members(data):
    if data[:4] == b"PK\3\4":
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            yield from [part for name in file.namelist() for part in (name.encode(), file.read(name))]
    if data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as file:
            yield from [part for info in file for part in (info.name.encode(), file.extractfile(info).read())]


def listed(data):
    if data[:8] == b"bplist00":
        yield from values(plistlib.loads(data))


def encoded(data):
    for match in re.finditer(rb"(?:[A-Za-z0-9+/_-]|\\/|\\n|\\r){16,}={0,2}", data):
        text = re.sub(rb"\\[nr]|\\", b"", match[0]).replace(b"-", b"+").replace(b"_", b"/")
        for start in range(4 if len(text) < 4096 else 1):
            part = text[start:].rstrip(b"=")
            part = part[:-1] if len(part) % 4 == 1 else part
            yield base64.b64decode(part + b"=" * (-len(part) % 4))
    if b"%" in data and len(data) < 1 << 20:
        yield urllib.parse.unquote_to_bytes(data)


def values(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key).encode()
            yield from values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from values(inner)
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")


def found(data, depth=5, seen=None):
    """The secrets in data, in whatever encoding; also those in UTF-16 and in hexadecimal digits."""
    seen = set() if seen is None else seen
    if (depth, data) in seen:
        return set()
    seen.add((depth, data))
    small = data.lower()
    texts = {text for form in [small, small.replace(b"\0", b"")] for text in re.findall(rb"geheim\d+[a-z]{5}", form)}
    texts |= {bytes.fromhex(text.decode()).lower() for text in re.findall(rb"[46]7[46]5[46]8[46]5[46]9[46]d(?:3\d)+(?:[67][0-9a-f]){5}", small)}
    # Most data has none, and there is much of it.
    result = {text for text in secrets if text.encode().lower() in texts} if texts else set()
    if depth > 0:
        for child in children(data):
            if child and child != data:
                result |= found(child, depth - 1, seen)
    return result


def exported(cache, format, *options, status=(0,)):
    output = path("export." + format if format != "files" else "export")
    shutil.rmtree(output, ignore_errors=True)
    result = subprocess.run([tool, "export", "-c", cache, "-o", output, "--force", "--archive-format", format, *options], capture_output=True)
    if result.returncode == 64 and format in OTHERS:
        return None
    assert result.returncode in status, (format, options, result)
    if os.path.isdir(output):
        names = [os.path.join(folder, name) for folder, _, names in os.walk(output) for name in names]
        return b"\n".join(name.encode() + b"\n" + open(name, "rb").read() for name in names)
    return open(output, "rb").read()


@pytest.mark.parametrize("format", NATIVE)
def test_native_archives(format):
    """A redacted archive holds no secret, wherever in the cache it was."""
    cache = planted()
    # The search finds them all where they are.
    whole = found(exported(cache, format))
    assert whole == set(secrets), sorted(set(secrets) - whole)
    data = exported(cache, format, "--redact", *NAMES, status=(3,))
    assert not found(data), sorted(found(data))
    assert exported(cache, format, *NAMES, status=(3,)) == data
    # Both names are those of secrets, so nothing depends on them.
    assert not found(exported(cache, format, "--redact", status=(3,)))


def test_what_a_redacted_archive_says():
    """An archive names what was left out of each entry, and can be imported."""
    cache = planted()
    archive = path("export.tar")
    exported(cache, "tar", "--redact", *NAMES, status=(3,))
    with tarfile.open(archive) as file:
        header = json.load(file.extractfile("urlcache-archive.json"))
        entries = [json.load(file.extractfile(info)) for info in file if info.name.endswith("entry.json")]
    assert {"headers.cookie", "headers.x-api-key", "query.sig", "request.body", "user-info", "url.userinfo"} <= set(header["redacted"]), header
    said = {entry["row"]["entry_ID"]: entry.get("redacted", []) for entry in entries}
    assert said.keys() == {str(number) for number in [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12]}, said.keys()
    assert {"request.headers.authorization", "request.headers.cookie", "response.headers.set-cookie", "request.url"} <= set(said["1"]), said["1"]
    assert {"key", "request.url", "response.url"} <= set(said["2"]), said["2"]
    assert {"request.body", "key"} <= set(said["5"]) and {"proto-props", "proto-props.headers.cookie", "user-info"} <= set(said["6"]), said
    six = next(entry for entry in entries if entry["row"]["entry_ID"] == "6")
    assert six["members"]["user_info"] is None and six["members"]["proto_props"], six
    result = run("import", "--any-method", archive, "-c", path("new"), "--create", "apple", status=3)
    assert b"the archive was written without secrets" in result.stderr, result
    shown = json.loads(run("show", "-c", path("new"), "--show-secrets", "--format", "json", "6").stdout)[0]
    assert shown["proto_props"] == {"Accept, Cookie": {"Accept": "text/*"}, "kCFURLRequestAllowAllPOSTCaching": True}, shown
    shown = json.loads(run("show", "-c", path("new"), "--show-secrets", "--format", "json", "2").stdout)[0]
    parts = re.fullmatch(r"https://REDACTED-(\d+)@a.example/x\?q=1&sig=REDACTED-(\d+)&%73ig=REDACTED-(\d+)#f", shown["url"])
    assert parts and len(set(parts.groups())) == 3 and shown["key"].startswith("https://REDACTED-"), shown
    assert not any(found(open(file, "rb").read()) for file in glob.glob(path("new/*")) if os.path.isfile(file))


@pytest.mark.parametrize("format", OTHERS)
def test_other_formats(format):
    """Formats of others have no credentials unless '--with-credentials' asks for them."""
    cache = planted()
    data = exported(cache, format, *NAMES, status=(0, 3))
    assert not found(data), sorted(found(data))
    assert found(exported(cache, format, "--with-credentials", status=(0, 3)))
    run("export", "-c", cache, "-o", path("no"), "--archive-format", format, "--with-credentials", "--redact", status=64)


def make_many():
    """A cache with 200 secrets outside of bodies and 25 in bodies; returns both kinds, too."""
    cache = scratch.make("many", "--no-large-bodies", entries=25, seed=5)
    outside, bodies = planted_secrets.plant_many(cache, 200, lambda number: f"GEHEIM{number:03}uvwxy")
    assert len(set(outside)) == 200 and len(bodies) == 25
    secrets[:] = outside + bodies
    return cache, bodies


@pytest.mark.parametrize("format", NATIVE + OTHERS)
def test_many_secrets(format):
    """No secret is outside bodies with '--redact', and none anywhere with '--redact-bodies'; entries stay apart, and can be imported."""
    cache, bodies = make_many()
    with_all = found(exported(cache, format, *([] if format in NATIVE else ["--with-credentials"])))
    # Other formats have no place for some; each secret that is looked for can be found where it is.
    assert with_all >= set(bodies) and (with_all == set(secrets) if format in NATIVE else len(with_all) >= 50), len(with_all)
    data = exported(cache, format, "--redact")
    assert found(data) == set(bodies), sorted(found(data) ^ set(bodies))
    assert exported(cache, format, "--redact") == data
    if format == "files":
        run("export", "-c", cache, "-o", path("no"), "--archive-format", format, "--redact-bodies", status=64)
        return
    data = exported(cache, format, "--redact-bodies")
    assert not found(data), sorted(found(data))
    target = path("without-bodies")
    result = run("import", path(f"export.{format}"), "-c", target, "--create", "apple", "--format", "json", status=3 if format in NATIVE else (0, 3))
    # An import of nothing creates no cache.
    assert not os.path.exists(target) or json.loads(run("list", "-c", target, "--format", "json").stdout)["total"] == 0, result
    exported(cache, format, "--redact")
    target = path("back")
    run("import", path(f"export.{format}"), "-c", target, "--create", "apple", "--any-method", status=(0, 3))
    total = json.loads(run("list", "-c", target, "--format", "json").stdout)["total"]
    assert total == 25 or format not in NATIVE and total > 0, total
    listed = run("list", "-c", target, "--format", "urls").stdout.decode().split()
    assert len(set(listed)) == total and (format not in NATIVE or sum("?token=REDACTED-" in url for url in listed) >= 1), listed


def test_notes():
    """An export counts the secrets that it leaves out, and what may still hold some."""
    cache, _ = make_many()
    result = run("export", "-c", cache, "-o", path("noted.tar"), "--redact")
    notes = [line.removeprefix("note: ") for line in result.stderr.decode().splitlines()]
    assert notes[1:] == [
        "left out secrets: header fields of 25 entries, URLs of 25 entries, request bodies of 1 entry, attached properties of 25 entries",
        "distinct secrets in URLs: 110, each replaced with a numbered 'REDACTED'",
        "bodies are unchanged and may contain secrets: 25 (use '--redact-bodies' to leave them out)",
        "other query parameters are unchanged and may contain secrets: 1 ('q'); use '--redact-query NAME' to leave them out"], notes


def test_foundation_cache():
    """The same holds for the URLs and header fields of a Foundation cache."""
    cache = scratch.make("folder", "--format", "foundation", entries=5, seed=4)
    name = sorted(glob.glob(cache + "/*"))[0]
    with open(name, "rb") as file:
        value = plistlib.load(file)
    objects = value["$objects"]
    url = next(index for index, item in enumerate(objects) if isinstance(item, str) and item.startswith("https://"))
    objects[url] = objects[url].replace("https://", f"https://u:{secret()}@")
    type = next(index for index, item in enumerate(objects) if isinstance(item, str) and item == "Content-Type")
    objects[type] = "Set-Cookie"
    other = next(item for item in objects if isinstance(item, dict) and "NS.keys" in item)
    cookie = secret()
    objects[other["NS.objects"][[uid.data for uid in other["NS.keys"]].index(type)].data] = cookie
    with open(name, "wb") as file:
        plistlib.dump(value, file, fmt=plistlib.FMT_BINARY)
    planted = set(secrets[-2:])
    assert found(exported(cache, "tar")) == planted
    assert not found(exported(cache, "tar", "--redact"))
