"""Makes WARC files that must be refused, and ones of which not all is an entry."""

import base64
import gzip
import hashlib
import random

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello\n"


def record(type="response", block=RESPONSE, version=b"WARC/1.1", **changes):
    """A record; a change to `None` leaves a field out, one to a list makes several."""
    fields = {
        "WARC-Type": type, "WARC-Record-ID": "<urn:uuid:%s>" % hashlib.sha256(block + repr(changes).encode()).hexdigest()[:32],
        "WARC-Date": "2024-05-06T07:08:09Z", "WARC-Target-URI": "http://example.com/a",
        "Content-Type": "application/http;msgtype=response", "Content-Length": len(block)}
    fields.update({name.replace("_", "-"): value for name, value in changes.items()})
    lines = [f"{name}: {line}".encode() for name, value in fields.items() if value is not None
             for line in (value if isinstance(value, list) else [value])]
    return version + b"\r\n" + b"\r\n".join(lines) + b"\r\n\r\n" + block + b"\r\n\r\n"


def http(body, *fields, status="200 OK"):
    return b"\r\n".join([b"HTTP/1.1 " + status.encode(), *fields]) + b"\r\n\r\n" + body


def zeros(count):
    """A member of gzip with as many zeros, without having them in memory."""
    import zlib
    packer, piece = zlib.compressobj(9, zlib.DEFLATED, 31), bytes(1 << 20)
    return b"".join([packer.compress(piece) for _ in range(count >> 20)] + [packer.flush()])


def lengths():
    for word, value in [("missing", None), ("negative", -1), ("of 2^63", 1 << 63), ("of 2^64 + 5", (1 << 64) + 5), ("huge", 1 << 62),
                        ("empty", ""), ("no number", "five"), ("hexadecimal", "0x10"), ("too long", 60), ("too short", 20),
                        ("with a sign", "+50"), ("two that differ", [1, 2])]:
        yield f"a length that is {word}", record(Content_Length=value)


def headers():
    good = record()
    for word, version in [("newer", b"WARC/2.0"), ("older", b"WARC/0.9"), ("longer", b"WARC/1.1.1"), ("empty", b""),
                          ("of something else", b"HTTP/1.1"), ("with NUL", b"WARC/1.1\0")]:
        yield f"a version that is {word}", good + record(version=version)
    yield "a header that is too long", record(X="y" * 70_000)
    yield "too many fields", record(**{f"X{number}": "y" for number in range(10_000)})
    yield "a line without a name", good.replace(b"WARC-Date", b": WARC-Date")
    yield "a line without a colon", good.replace(b"WARC-Date: ", b"WARC-Date ")
    yield "a name with a space", good.replace(b"WARC-Date", b"WARC Date")
    yield "a header without an end", good[:good.index(b"\r\n\r\n")]
    yield "no lines at all", b"WARC/1.1\r\n" * 1000
    yield "an endless line", b"WARC/1.1" + b"x" * 1_000_000
    yield "an empty line first", b"WARC/1.1\r\n\r\n" + good
    for word, date in [("missing", None), ("empty", ""), ("no date", "yesterday"), ("of no month", "2024-13-01T00:00:00Z"),
                       ("of no day", "2023-02-29T00:00:00Z"), ("of no zone", "2024-05-06T07:08:09"), ("negative", "-2024-05-06T07:08:09Z"),
                       ("twice", ["2024-05-06T07:08:09Z", "2024-05-06T07:08:10Z"]), ("too precise", "2024-05-06T07:08:09.1234567890Z")]:
        yield f"a date that is {word}", record(WARC_Date=date)


def bombs():
    bomb = zeros(160 << 20)
    yield "a block of zeros", gzip.compress(record(Content_Length=160 << 20)[:-60]) + bomb
    yield "a member of zeros", gzip.compress(record()) + bomb
    yield "a content coding of zeros", record(block=http(bomb, b"Content-Encoding: gzip"))
    yield "a content coding of zeros, in gzip", gzip.compress(record(block=http(bomb, b"Content-Encoding: gzip")))
    chunked = b"%x\r\n" % len(bomb) + bomb + b"\r\n0\r\n\r\n"
    yield "a content coding of zeros, in chunks", record(block=http(chunked, b"Content-Encoding: gzip", b"Transfer-Encoding: chunked"))
    large = record(block=http(bytes(1 << 20)), WARC_Record_ID="<urn:x:1>")
    revisits = b"".join(record("revisit", http(b""), WARC_Refers_To="<urn:x:1>", WARC_Target_URI=f"http://example.com/{number}",
                               WARC_Profile="http://netpreserve.org/warc/1.1/revisit/identical-payload-digest") for number in range(4_000))
    yield "many revisits of much", gzip.compress(large) + gzip.compress(revisits)


def cuts(ours, packed):
    """Files of this program, cut off also where a record ends, and with records that are missing or in another order."""
    for word, data in [("plain", ours), ("gzip", packed)]:
        for tenth in range(1, 20):
            yield f"{word}, cut off at {tenth} of 20", data[:len(data) * tenth // 20]
    places = [place for place in range(len(ours)) if ours.startswith(b"WARC/1.1\r\n", place)]
    for place in places[1:]:
        yield f"cut off before the record at {place}", ours[:place]
    for first, last in zip(places[1:], places[2:]):
        if b"WARC-Type: request" not in ours[first:last]:
            yield f"without the record at {first}", ours[:first] + ours[last:]
    for name in [b"request", b"response"]:
        yield f"with a type that is not {name.decode()}", ours.replace(b"WARC-Type: " + name, b"WARC-Type: r\xe5" + name[2:], 1)
    yield "with a record twice", ours[:places[3]] + ours[places[2]:]
    yield "with a record behind the last", ours + ours[places[1]:places[2]]
    yield "two files, one cut off", ours[:places[-1]] + ours
    for name, other in [(b"http://", b"https://"), (b"https://", b"http://"), (b"WARC-Date: 20", b"WARC-Date: 19"), (b"Entry-ID: ", b"Entry-ID: 1")]:
        if name in ours:
            yield f"with {other.decode()} instead of {name.decode()}", ours.replace(name, other, 1)


def packings():
    good = record()
    packed = gzip.compress(good)
    yield "a wrong checksum", packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]
    yield "a wrong length", packed[:-1] + bytes([packed[-1] ^ 1])
    yield "a member of garbage behind", packed + b"\x1f\x8b\x08\0" + bytes(50)
    yield "zeros behind", packed + bytes(1000)
    yield "text behind", good + b"hello\n"
    yield "a member that is cut off", packed[:-4]
    yield "gzip in gzip", gzip.compress(packed)


def others(ours, packed):
    for tenth in range(1, 10):
        yield f"of others, cut off at {tenth} of 10", (record() * 3)[:len(record()) * 3 * tenth // 10 + 1]


def all(ours, packed):
    for kind in [lengths, headers, packings, bombs]:
        yield from kind()
    for kind in [cuts, others]:
        yield from kind(ours, packed)


def flips(count, *files):
    source = random.Random(11)
    for data in files:
        for _ in range(count):
            place = source.randrange(len(data))
            yield data[:place] + bytes([data[place] ^ 1 << source.randrange(8)]) + data[place + 1:]


def omitted():
    """Records that make no entry, while the file is whole: the words for why, and the record."""
    chunked = lambda data: http(data, b"Transfer-Encoding: chunked")
    coded = lambda name, data: http(data, b"Content-Encoding: " + name)
    yield "status 304", record(block=http(b"", status="304 Not Modified"))
    yield "status 206", record(block=http(b"he", b"Content-Range: bytes 0-1/6", status="206 Partial Content"))
    yield "not a final status", record(block=http(b"", status="101 Switching Protocols"))
    yield "not a final status", record(block=http(b"", status="999 X"))
    yield "not an HTTP response", record(block=b"hello")
    yield "not an HTTP response", record(block=b"")
    yield "not an HTTP response", record(block=b"\0" * 100)
    yield "its chunks are malformed", record(block=chunked(b"5\r\nhello\r\nzz\r\n"))
    yield "its chunks are malformed", record(block=chunked(b"5\r\nhelloworld\r\n0\r\n\r\n"))
    yield "in the middle of a chunk", record(block=chunked(b"7fffffffffffffff\r\nhello"))
    yield "its chunks are malformed", record(block=chunked(b"5\r\nhello\r\nffffffffffffffff\r\n"))
    yield "content coding 'compress'", record(block=coded(b"compress", b"\x1f\x9d\x90hello"))
    yield "it ends unexpectedly", record(block=coded(b"br", b"\x0b\x02\x80hel"))
    yield "neither text nor 'br' data", record(block=http(b"\xff\xff\x03", b"Content-Encoding: br", b"Content-Type: text/html"))
    yield "its content coding is not supported", record(block=coded(b"x" * 50, b"\xff\1hello"))
    yield "its content cannot be decoded", record(block=coded(b"gzip", gzip.compress(bytes(range(256)) * 9)[:-20]))
    yield "its content cannot be decoded", record(block=coded(b"gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\3" + b"\xff" * 50))
    for field in ["WARC_Block_Digest", "WARC_Payload_Digest"]:
        kind = field.split("_")[1].lower()
        for digest in ["sha256:" + "0" * 64, "sha1:" + "A" * 32, "sha256:00", "sha1:", "sha256:" + "g" * 64, "sha1:" + "1" * 32]:
            yield f"does not match the digest of its {kind}", record(**{field: digest})
    yield "shorter than its Content-Length", record(block=http(b"he", b"Content-Length: 6"))
    yield "its header fields are too long", record(block=http(b"", b"X: " + b"y" * 1_100_000))
    yield "its header fields are too long", record("revisit", http(b"", b"X: " + b"y" * 1_100_000), WARC_Refers_To="<urn:x:a>")
    yield "it was truncated", record(WARC_Truncated="length")
    yield "a segment", record(WARC_Segment_Number=1)
    yield "not an HTTP URL", record(WARC_Target_URI="ftp://example.com/")
    yield "not an HTTP URL", record(WARC_Target_URI=None)
    yield "the record that it revisits is missing", record("revisit", http(b""), WARC_Refers_To="<urn:x:nowhere>")
    yield "the record that it revisits is missing", record("revisit", http(b""), WARC_Record_ID="<urn:x:me>", WARC_Refers_To="<urn:x:me>")
    yield "", record("conversion") + record("continuation") + record("something", b"\0" * 1000)


assert base64.b32encode(hashlib.sha1(b"").digest()) == b"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
