"""Makes archives that nobody should import, out of a good one.

`all(members)` yields the name and the bytes of each, where `members` are the (name, bytes) of the good one.
"""

import gzip
import hashlib
import io
import json
import random
import struct
import subprocess
import tarfile
import zipfile
import zlib


def sums(members):
    """The members with checksums that fit."""
    rest = [(name, data) for name, data in members if name != "SHA256SUMS"]
    text = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in rest)
    return rest + [("SHA256SUMS", text.encode())]


def info(name, data, **fields):
    result = tarfile.TarInfo(name)
    result.size = len(data)
    for key, value in fields.items():
        setattr(result, key, value)
    return result


def tar(members, format=tarfile.USTAR_FORMAT, **options):
    """A tar archive; a member may also be a TarInfo with bytes."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=format, encoding="utf-8", errors="surrogateescape", **options) as file:
        for member, data in members:
            entry = member if isinstance(member, tarfile.TarInfo) else info(member, data)
            file.addfile(entry, io.BytesIO(data) if entry.isreg() else None)
    return output.getvalue()


def zipped(members, compression=zipfile.ZIP_DEFLATED):
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", compression) as file:
        for name, data in members:
            file.writestr(zipfile.ZipInfo(name), data, compress_type=compression)
    return output.getvalue()


def zstd(data):
    return subprocess.run(["zstd", "-cq"], input=data, capture_output=True, check=True).stdout


def replaced(members, name, change):
    """The archive with another member in the place of one, and checksums that fit."""
    return tar(sums([(other, change(data) if other == name else data) for other, data in members]))


def document(change):
    def edit(data):
        value = json.loads(data)
        change(value)
        return (json.dumps(value) + "\n").encode()
    return edit


def names():
    yield "up", "../outside"
    yield "far up", "entries/../../../../../../tmp/outside"
    yield "absolute", "/tmp/outside"
    yield "newline", "a\nb"
    yield "escape", "a\x1b[2J"
    yield "bidi", "a\u202eb"
    yield "not UTF-8", "a\udcff"
    yield "empty", "./"
    yield "backslash", "..\\outside"
    yield "long", "d/" * 2000 + "x"
    yield "drive", "C:outside"


def pax_fields(data):
    """What the extended header of a member may say that its own header does not."""
    yield "a path elsewhere", {"path": "../outside"}
    yield "a path with NUL", {"path": "entries/0000000001/entry.json\0x"}
    yield "a link", {"linkpath": "/etc/passwd", "path": "link"}
    yield "a larger size", {"size": str(len(data) + 512)}
    yield "a smaller size", {"size": "1"}
    yield "a negative size", {"size": "-1"}
    yield "a size of 2^63", {"size": str(1 << 63)}
    yield "a size of no digits", {"size": "x"}
    yield "sparse of 0.0", {"GNU.sparse.size": str(len(data) + 512), "GNU.sparse.numblocks": "1", "GNU.sparse.offset": "0",
                            "GNU.sparse.numbytes": str(len(data))}
    yield "sparse of 1.0", {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "entries/0000000001/entry.json",
                            "GNU.sparse.realsize": str(1 << 50)}


def of_tar(members):
    first, entry, body = members[0], members[1], next(member for member in members if member[0].endswith("/body"))
    after = lambda extra, place=1: tar(members[:place] + [extra] + members[place:])
    for word, name in names():
        yield f"a member called: {word}", tar(members[:1] + [(info(name, b"x"), b"x")] + members[1:], tarfile.PAX_FORMAT)
        yield f"GNU, a member called: {word}", tar(members[:1] + [(info(name, b"x"), b"x")] + members[1:], tarfile.GNU_FORMAT)
    for kind, word in [(tarfile.SYMTYPE, "symbolic link"), (tarfile.LNKTYPE, "hard link"), (tarfile.FIFOTYPE, "pipe"),
                       (tarfile.CHRTYPE, "device"), (tarfile.BLKTYPE, "block device"), (tarfile.DIRTYPE, "folder")]:
        link = info("entries/0000000001/body", b"", type=kind, linkname="/etc/passwd")
        yield f"a {word}", after((link, b""), 2)
        yield f"a {word} first", tar([(link, b"")] + members)
        yield f"a {word} for a body", tar([(info(name, b"", type=kind, linkname="/etc/passwd"), b"") if name == body[0]
                                           else (name, data) for name, data in members])
    through = info("entries", b"", type=tarfile.SYMTYPE, linkname="/tmp/outside")
    yield "a symbolic link to write through", after((through, b""))
    yield "a symbolic link to write through, first", tar([(through, b"")] + members)
    for word, fields in pax_fields(entry[1]):
        yield f"a field of pax: {word}", with_pax(members, entry[0], fields)
    for word, fields in [("path", {"path": entry[0]}), ("size", {"size": "5"}), ("linkpath", {"linkpath": "/etc/passwd"}), ("comment", {"comment": "x"})]:
        yield f"a global field of pax: {word}", tar(members, tarfile.PAX_FORMAT, pax_headers=fields)
    yield "a member twice", after(entry, 2)
    yield "the header twice", after(first)
    yield "a body twice", after(body, members.index(body) + 1)
    yield "no header", tar(members[1:])
    yield "no manifest", tar(sums([member for member in members if member[0] != "manifest.json"]))
    yield "no checksums", tar(members[:-1])
    yield "no members", tar([])
    yield "an extra member", tar(sums(members[:2] + [("extra", b"x")] + members[2:-1]))
    yield "a missing member", tar(sums([member for member in members if member != body]))
    yield "something after the end", tar(members + [("extra", b"x")])
    yield "a second archive behind", tar(members) + tar(members)
    yield "garbage behind", tar(members) + b"\1" * 512
    yield "two entries exchanged", tar(sums(exchanged(members)))
    yield "a wrong digest", tar([(name, data[:-1] + bytes([data[-1] ^ 1]) if name == body[0] else data) for name, data in members])
    yield "a wrong digest, checksums that fit", replaced(members, body[0], lambda data: data[:-1] + bytes([data[-1] ^ 1]))
    yield "a shorter body", replaced(members, body[0], lambda data: data[:-1])
    yield "a longer body", replaced(members, body[0], lambda data: data + b"x")
    yield "an entry with other columns", tar([(name, data.replace(b'"version":0', b'"version":1') if name == entry[0] else data)
                                             for name, data in members])
    for word, change in [
        ("newer", lambda value: value["version"].update(major=2)), ("older", lambda value: value["version"].update(major=0)),
        ("of a negative version", lambda value: value["version"].update(major=-1)),
        ("of a version in words", lambda value: value["version"].update(major="1")),
        ("of a broken version", lambda value: value["version"].update(major=1.5)),
        ("without a version", lambda value: value.pop("version")), ("with needs", lambda value: value.update(requires=["x"])),
        ("of another format", lambda value: value.update(format="x")), ("with needs of no kind", lambda value: value.update(requires={})),
    ]:
        yield f"a header {word}", replaced(members, "urlcache-archive.json", document(change))
    for word, change in [
        ("without a row", lambda value: value.pop("row")), ("without members", lambda value: value.pop("members")),
        ("of another id", lambda value: value["row"].update(entry_ID="x")), ("with a huge id", lambda value: value["row"].update(entry_ID=str(2**63))),
        ("with a real id", lambda value: value["row"].update(entry_ID=1.5)),
        ("with another name", lambda value: value["members"]["body"].update(name="../../x")),
        ("with an absolute name", lambda value: value["members"]["body"].update(name="/etc/passwd")),
        ("with a negative size", lambda value: value["members"]["body"].update(size=-1)),
        ("with a huge size", lambda value: value["members"]["body"].update(size=2**62)),
        ("with a short digest", lambda value: value["members"]["body"].update(sha256="00")),
        ("with a body that is missing", lambda value: value["members"].update(body=None)),
        ("with a value of no class", lambda value: value["row"].update(version={"x": "y"})),
        ("with an array for a value", lambda value: value["row"].update(version=[])),
        ("with bad Base64", lambda value: value["row"].update(version={"blob_b64": "*"})),
    ]:
        yield f"an entry {word}", replaced(members, entry[0], document(change))
    for word, data in [("empty", b""), ("no JSON", b"x"), ("cut JSON", entry[1][:-10]), ("deep", b"[" * 100_000),
                       ("NUL", b"\0" * 100), ("twice", entry[1] * 2), ("an array", b"[]")]:
        yield f"an entry that is {word}", replaced(members, entry[0], lambda _: data)
        yield f"a header that is {word}", replaced(members, "urlcache-archive.json", lambda _: data)
        yield f"a manifest that is {word}", replaced(members, "manifest.json", lambda _: data)
    for word, change in [("too many entries", lambda value: value.update(entries=value["entries"] + 1)),
                         ("too few members", lambda value: value.update(members=1)), ("no end", lambda value: value.update(complete=False)),
                         ("a negative number", lambda value: value.update(entries=-1))]:
        yield f"a manifest with {word}", replaced(members, "manifest.json", document(change))
    for word, edit in [("no line", lambda text: text.split(b"\n", 1)[1]), ("a line too many", lambda text: text + b"0" * 64 + b"  x\n"),
                       ("a wrong line", lambda text: bytes([text[0] ^ 1]) + text[1:]), ("nothing", lambda text: b"")]:
        yield f"checksums with {word}", tar(members[:-1] + [("SHA256SUMS", edit(members[-1][1]))])
    yield "two entries of one key", tar(sums(same_key(members)))
    whole = tar(members)
    for tenth in range(1, 20):
        yield f"cut off at {tenth} of 20", whole[:len(whole) * tenth // 20]
    yield "cut off before the end", whole[:whole.rindex(b"SHA256SUMS")]
    yield "huge size", patched(whole, 124, b"\x80" + b"\xff" * 11)
    yield "negative size", patched(whole, 124, b"\xff" * 12)
    yield "size of no digits", patched(whole, 124, b"zzzzzzzzzzzz")
    size = len(first[1])
    sparse = patched(tar(members, tarfile.GNU_FORMAT), 386, b"%011o\0%011o\0" % (0, size) + b"%011o\0%011o\0" % (size + 512, 0))
    yield "sparse", patched(patched(sparse, 483, b"%011o\0" % (size + 512)), 156, b"S")
    for word, place in [("first", 0), ("second", 512 + len(first[1]) + -len(first[1]) % 512)]:
        yield f"a wrong checksum in the {word} header", whole[:place + 148] + b"7" + whole[place + 149:]
    yield "zeros", bytes(1 << 20)
    yield "nothing", b""
    yield "one byte", b"\x28"
    yield "text", b"hello\n" * 1000


def exchanged(members):
    """The archive with the documents of two entries in each other's place."""
    entries = [name for name, _ in members if name.endswith("entry.json")][:2]
    contents = dict(members)
    return [(name, contents[entries[1 - entries.index(name)]] if name in entries else data) for name, data in members]


def same_key(members):
    entries = [name for name, _ in members if name.endswith("entry.json")][:2]
    key = json.loads(dict(members)[entries[0]])["row"]["request_key"]
    edit = document(lambda value: value["row"].update(request_key=key))
    return [(name, edit(data) if name == entries[1] else data) for name, data in members]


def patched(data, offset, field):
    """A tar archive with another field in its first header, whose checksum fits."""
    header = bytearray(data[:512])
    header[offset:offset + len(field)] = field
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + data[512:]


def bombs(members):
    """Archives that become large when they are read."""
    body = next(name for name, _ in members if name.endswith("/body"))
    entry = body.replace("/body", "/entry.json")
    zeros = bytes(160 << 20)
    digest = hashlib.sha256(zeros).hexdigest()
    edit = document(lambda value: value["members"]["body"].update(size=len(zeros), sha256=digest))
    large = [(name, zeros if name == body else edit(data) if name == entry else data) for name, data in members]
    yield "a body of zeros, zstd", zstd(tar(sums(large)))
    yield "a body of zeros, gzip", gzip.compress(tar(sums(large)), 1)
    yield "a body of zeros, zip", zipped(sums(large))
    yield "a document of spaces", zstd(replaced(members, entry, lambda data: data + b" " * (80 << 20)))
    yield "a header of spaces", zstd(replaced(members, "urlcache-archive.json", lambda data: data + b" " * (80 << 20)))
    yield "a deep document", zstd(replaced(members, entry, lambda data: b'{"x":' + b"[" * (20 << 20)))
    yield "zeros behind", zstd(tar(members) + bytes(160 << 20))
    yield "zeros only", zstd(bytes(160 << 20))
    yield "a property list that is too long", zstd(long_list(members))


def long_list(members):
    name = next(name for name, _ in members if name.endswith("/response.plist"))
    entry = name.replace("/response.plist", "/entry.json")
    data = random.Random(1).randbytes(33 << 20)
    digest = hashlib.sha256(data).hexdigest()
    edit = document(lambda value: value["members"]["response_object"].update(size=len(data), sha256=digest))
    return tar(sums([(other, data if other == name else edit(old) if other == entry else old) for other, old in members]))


def of_zip(members):
    whole = zipped(members)
    for word, name in names():
        if "\udcff" not in name and not name.endswith("/"):
            yield f"zip, a member called: {word}", zipped(members[:1] + [(name, b"x")] + members[1:])
    for tenth in range(1, 10):
        yield f"zip, cut off at {tenth} of 10", whole[:len(whole) * tenth // 10]
    yield "zip, a member twice", zipped(members[:2] + members[1:2] + members[2:])
    yield "zip, no checksums", zipped(members[:-1])
    yield "zip, no members", zipped([])
    yield "zip, other local headers", whole.replace(b"PK\3\4\x14\0\0\0\x08\0", b"PK\3\4\x14\0\1\0\x08\0")
    body = next(index for index, member in enumerate(members) if member[0].endswith("/body"))
    yield "zip, a wrong body", zipped(members[:body] + [(members[body][0], b"x" * len(members[body][1]))] + members[body + 1:])
    for word, place in [("huge", 1 << 40), ("of the first member", 0), ("behind the end", len(whole))]:
        yield f"zip, a place that is {word}", listed(members, members[body][0], header_offset=place)
    yield "zip, all members at one place", listed(members, None, header_offset=0)
    for word, mode in [("device", 0o020644), ("block device", 0o060644), ("folder", 0o040755), ("socket", 0o140755), ("symbolic link", 0o120777)]:
        yield f"zip, a body that is a {word}", listed(members, members[body][0], external_attr=mode << 16)
    for word, changes in [("no size", dict(file_size=0)), ("another size", dict(file_size=5)), ("a huge size", dict(file_size=1 << 62)),
                          ("no packed size", dict(compress_size=0)), ("a huge packed size", dict(compress_size=1 << 62)),
                          ("another checksum", dict(CRC=5)), ("a method nobody knows", dict(compress_type=99)), ("another method", dict(compress_type=0)),
                          ("a password", dict(flag_bits=1)), ("another name", dict(filename="../outside")), ("a longer name", dict(filename=members[body][0] + "x"))]:
        yield f"zip, a directory with {word}", listed(members, members[body][0], **changes)
    yield "zip, something behind the end", whole + b"x"
    yield "zip, an end too many", whole + b"PK\5\6" + bytes(18)
    yield "zip, overlapping members", overlapping()
    link = zipfile.ZipInfo("entries/0000000001/body")
    link.external_attr = 0o120777 << 16
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as file:
        for name, data in members[:2]:
            file.writestr(name, data)
        file.writestr(link, "/etc/passwd")
        for name, data in members[2:]:
            file.writestr(name, data)
    yield "zip, a symbolic link", output.getvalue()


def listed(members, name, **changes):
    """A zip archive whose directory says something else of a member, or of all, than what stands before it."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as file:
        for other, data in members:
            file.writestr(zipfile.ZipInfo(other), data, compress_type=zipfile.ZIP_DEFLATED)
        for entry in file.filelist:
            if name in (None, entry.filename):
                for key, value in changes.items():
                    setattr(entry, key, value)
    return output.getvalue()


def overlapping(count=2_000, size=10 << 20):
    """A zip archive of which each member holds the headers of all that come after it, and then the same zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = packer.compress(bytes(size)) + packer.flush()
    parts, places, after = [zeros], [], len(zeros)
    for number in reversed(range(count)):
        name = b"entries/%010d/body" % number
        # A block of deflate that is stored covers the header that follows.
        quote = b"" if number == count - 1 else b"\0" + struct.pack("<HH", len(header), len(header) ^ 0xFFFF)
        packed = after + len(quote)
        header = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 33, 0, packed, size, len(name), 0) + name
        parts.append(quote)
        parts.append(header)
        after = packed + len(header)
        places.append((name, packed))
    data, central = b"".join(reversed(parts)), b""
    for name, packed in reversed(places):
        start = len(data) - packed - 30 - len(name)
        central += struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 33, 0, packed, size, len(name), 0, 0, 0, 0, 0, start) + name
    return data + central + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(central), len(data), 0)


def harmless(members):
    """Archives that say of their members what is not so, and what no program goes by."""
    body = next(name for name, _ in members if name.endswith("/body"))
    yield "zip, a directory with a pipe", listed(members, body, external_attr=0o010644 << 16)


def with_pax(members, name, fields):
    return tar([(info(other, data, pax_headers=fields), data) if other == name else (other, data) for other, data in members], tarfile.PAX_FORMAT)


def compressed(members):
    whole = tar(members)
    for word, data in [("zstd", zstd(whole)), ("gzip", gzip.compress(whole))]:
        for tenth in range(1, 20):
            yield f"{word}, cut off at {tenth} of 20", data[:len(data) * tenth // 20]
        yield f"{word}, only its mark", data[:4]
        yield f"{word}, of nothing", zstd(b"") if word == "zstd" else gzip.compress(b"")
        yield f"{word}, of itself", zstd(data) if word == "zstd" else gzip.compress(data)
    yield "an unknown dictionary", b"\x28\xb5\x2f\xfd\x23\x01\x02\x03\x04\x00" + bytes(100)
    yield "a window that is too large", b"\x28\xb5\x2f\xfd\x00\xf8" + bytes(100)


def flips(members, count):
    """The archive in each format, as many times, with one bit changed."""
    whole = tar(members)
    source = random.Random(7)
    for data in [whole, zstd(whole), gzip.compress(whole), zipped(members), zipped(members, zipfile.ZIP_STORED)]:
        for _ in range(count):
            place = source.randrange(len(data))
            yield data[:place] + bytes([data[place] ^ 1 << source.randrange(8)]) + data[place + 1:]


def all(members):
    for kind in [of_tar, of_zip, compressed, bombs]:
        yield from kind(members)
