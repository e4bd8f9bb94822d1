"""Makes WACZ files that must be refused, of one that is good."""

import hashlib
import io
import json
import random
import warnings
import zipfile

warnings.filterwarnings("ignore", "Duplicate name")

DATA, PACKAGE, DIGEST, INDEX = "archive/data.warc.gz", "datapackage.json", "datapackage-digest.json", "indexes/index.cdx"


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(contents, method=zipfile.ZIP_STORED, twice=None):
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", method) as file:
        for name, data in contents.items():
            file.writestr(zipfile.ZipInfo(name), data)
        if twice:
            file.writestr(zipfile.ZipInfo(twice), contents[twice])
    return output.getvalue()


def described(contents, **changes):
    """The members, with a description that fits them but for the changes."""
    rest = {name: data for name, data in contents.items() if name not in (PACKAGE, DIGEST)}
    package = {"profile": "data-package", "wacz_version": "1.1.1", "resources": [
        {"name": name.split("/")[-1], "path": name, "hash": "sha256:" + hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in rest.items()], **changes}
    data = json.dumps(package).encode()
    digest = json.dumps({"path": PACKAGE, "hash": "sha256:" + hashlib.sha256(data).hexdigest()}).encode()
    return {**rest, PACKAGE: data, DIGEST: digest}


def resources(contents, change):
    package = json.loads(contents[PACKAGE])
    change(package["resources"])
    return described(contents, resources=package["resources"])


def misleading(good):
    """Files whose index, with a digest that fits, leads elsewhere: what the records say themselves is what counts."""
    contents = members(good)
    lines = contents[INDEX].splitlines(keepends=True)
    for word, data in [("nowhere", b""), ("to no line", b"x\n" * 1000), ("to no place", contents[INDEX].replace(b'"offset":"', b'"offset":"9')),
                       ("to another file", contents[INDEX].replace(b"data.warc.gz", b"../../../etc/passwd")), ("backwards", b"".join(reversed(lines))),
                       ("to another URL", contents[INDEX].replace(b"example", b"elpmaxe")), ("to what is no text", bytes(range(256)) * 100),
                       ("deep", b"a 20200101000000 " + b"[" * 1_000_000)]:
        yield f"an index that leads {word}", pack(described({**contents, INDEX: data}))


def all(good):
    contents = members(good)
    without = lambda name: {other: data for other, data in contents.items() if other != name}
    for name in contents:
        if name != DIGEST:
            yield f"without {name}", pack(without(name))
            yield f"with another {name}", pack({**contents, name: contents[name] + b" "})
        yield f"with an empty {name}", pack({**contents, name: b""})
        yield f"with {name} twice", pack(contents, twice=name)
    yield "without WARC files", pack(described({"pages/pages.jsonl": b"{}"}))
    yield "with a WARC file that is none", pack(described({DATA: b"hello"}))
    yield "with a WARC file that is cut off", pack(described({DATA: contents[DATA][:-100]}))
    yield "with WARC files of two kinds", pack(described({DATA: contents[DATA], "archive/b.warc": b"WARC/1.1\r\n"}))
    yield "with a WARC file that is not described", pack({**described({DATA: contents[DATA]}), "archive/b.warc.gz": contents[DATA]})
    for word, change in [("of another digest", lambda list: list[0].update(hash="sha256:" + "0" * 64)),
                         ("of a digest that is a number", lambda list: list[0].update(hash=5)), ("of another size", lambda list: list[0].update(bytes=5)),
                         ("of a huge size", lambda list: list[0].update(bytes=1 << 80)), ("that is not there", lambda list: list[0].update(path="archive/x")),
                         ("outside", lambda list: list.append({"path": "../../outside", "hash": "sha256:", "bytes": 0})),
                         ("that is a number", lambda list: list.append(5))]:
        yield f"with a resource {word}", pack(resources(contents, change))
    for word, value in [("a number", 5), ("an object", {}), ("null", None)]:
        yield f"with resources that are {word}", pack(described(contents, resources=value))
    for word, data in [("empty", b""), ("text", b"hello"), ("an array", b"[]"), ("cut off", contents[PACKAGE][:-5]), ("deep", b"[" * 100_000),
                       ("twice", contents[PACKAGE] * 2)]:
        yield f"with a description that is {word}", pack({**without(DIGEST), PACKAGE: data})
    yield "with a name of control characters", pack({**contents, "archive/\x1b[31m": b"x"})
    link = zipfile.ZipInfo("archive/link.warc.gz")
    link.external_attr = 0o120777 << 16
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as file:
        file.writestr(link, "/etc/passwd")
        for name, data in contents.items():
            file.writestr(name, data)
    yield "with a symbolic link", output.getvalue()
    for tenth in range(1, 20):
        yield f"cut off at {tenth} of 20", good[:len(good) * tenth // 20]
    yield "a description of many resources", pack({**without(DIGEST), PACKAGE: b'{"resources":[' + b"{}," * 20_000_000 + b"{}]}"})
    zeros = {**contents, DATA: bytes(160 << 20)}
    yield "a WARC file of zeros", pack(described(zeros), zipfile.ZIP_DEFLATED)
    yield "a description of spaces", pack({**without(DIGEST), PACKAGE: contents[PACKAGE] + b" " * (80 << 20)}, zipfile.ZIP_DEFLATED)


def flips(good, count):
    source = random.Random(13)
    for _ in range(count):
        place = source.randrange(len(good))
        yield good[:place] + bytes([good[place] ^ 1 << source.randrange(8)]) + good[place + 1:]
    # Where the small members and the directory are.
    for _ in range(count):
        place = len(good) - 1 - source.randrange(2_000)
        yield good[:place] + bytes([good[place] ^ 1 << source.randrange(8)]) + good[place + 1:]
