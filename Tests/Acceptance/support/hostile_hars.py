"""Makes HARs as programs write them that do not keep to the rules, and some that nobody should import."""

import collections
import copy
import json
import random


def entry(url="http://odd.example/", method="GET", status=200, headers=(), text="body", **content):
    """An entry; `text` may be None."""
    if text is not None:
        content["text"] = text
    return {"startedDateTime": "2026-01-01T00:00:00.250Z", "time": 750, "request": {"method": method, "url": url, "headers": []},
            "response": {"status": status, "headers": [{"name": name, "value": value} for name, value in headers],
                         "content": {"mimeType": "text/plain", "size": 0, **content}}}


def odd():
    """Entries with oddities, what a cache has of them then (by URL: status, fields, body), and why others are left out."""
    entries, expected, reasons = [], {}, collections.Counter()

    def good(item, status=200, headers=(), body=b"body"):
        item["request"]["url"] = item["request"]["url"].replace("odd", f"odd{len(entries)}")
        entries.append(item)
        expected[item["request"]["url"]] = (status, sorted(headers), body)
        return item

    def bad(item, reason):
        entries.append(item)
        reasons[reason] += 1

    good(entry())
    good(entry(text=""), body=b"")
    good(entry(text="aGVsbG8=", encoding="base64"), body=b"hello")
    good(entry(text="aGVs\r\nbG8", encoding="BASE64"), body=b"hello")
    good(entry(text="aGVsbG8=", encoding=""), body=b"aGVsbG8=")
    good(entry(text="h\u00e9 \U0001f600 \u0000\u202e"), body="h\u00e9 \U0001f600 \u0000\u202e".encode())
    good(entry(text="half \ud83d of a pair"), body="half \ufffd of a pair".encode())
    good(entry(text="\ud83d\ud83d\ude00\ud83d\ud83d"), body="\ufffd\U0001f600\ufffd\ufffd".encode())
    good(entry(text="gone", size=None, compression="x"), body=b"gone")
    good(entry(status="404"), status=404)
    good(entry(status=204.0), status=204)
    good(entry(method="get"))
    good(entry(headers=[(":status", "200"), ("", "x"), ("a b", "x"), ("X-A", " 1\t"), ("X-Lines", "a=1\nb=2\r\n"), ("X-Nul", "a\0b")]),
         headers=[("X-A", "1"), ("X-Lines", "a=1"), ("X-Lines", "b=2"), ("X-Nul", "a b")])
    item = good(entry())
    item.update({"_initiator": deep(300), "time": "soon", "serverIPAddress": "", "cache": None, "timings": [], "pageref": 7, "comment": {}})
    item = good(entry())
    item["request"].update({"headers": {"a": 1}, "cookies": None, "postData": "x", "method": None, "httpVersion": 3})
    item["response"].update({"headers": [1, None, [], {"name": 1, "value": "x"}, {"name": "X", "value": None}, {"name": "A", "value": "b"}],
                             "headersSize": None})
    expected[item["request"]["url"]] = (200, [("A", "b")], b"body")
    for time in ["2026-01-01T00:00:00+0530", "2026-01-01 00:00:00,5", "2026-12-31T23:59:60Z", "2026-01-01T00:00:00.1234567890123-07:00"]:
        good(entry())["startedDateTime"] = time
    for time in [-5, 1e300, None, 10 ** 400]:
        good(entry())["time"] = time
    good(entry("HTTPS://odd.example/?a=[b]|c d"))

    for item in [7, None, "x", [], {}, {"request": [], "response": {}}]:
        bad(item, "it has no URL")
    for url in ["data:,x", "wss://a.example/", "file:///etc/passwd", "//a.example/", "http:/a", ""]:
        bad(entry(url), "its URL is not an HTTP URL")
    for status in [0, None, "", "x", 1e99, [], True]:
        bad(entry(status=status), "it has no response")
    bad(entry(status=101), "its response is only an interim response")
    bad(entry(status=206), "it has only part of a body")
    bad(entry(status=304), "its response (304) only confirms a stored response")
    for status in [-200, 1000, 99]:
        bad(entry(status=status), "its status is not an HTTP status")
    bad(entry(text=None), "it has no content")
    bad(entry(text=7), "it has no content")
    bad(entry(text={"a": "b"}), "it has no content")
    for text in ["a", "====a", "a*b=", "\u00e9"]:
        bad(entry(text=text, encoding="base64"), "its content is not Base64")
    bad(entry(encoding="gzip"), "its content is not Base64")
    for time in ["", "yesterday", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00+99:00", "2026-01-01T00:00:00ZZ", 5, "10000-01-01T00:00:00Z"]:
        item = entry()
        item["startedDateTime"] = time
        bad(item, "it has no time")
    # The last of a URL counts, and a GET before anything else.
    for text in ["first", "second"]:
        entries.append(entry("http://twice.example/", text=text))
    entries.append(entry("http://twice.example/", method="POST", text="posted"))
    expected["http://twice.example/"] = (200, [], b"second")
    reasons["another entry has the same key"] += 2
    entries.append(entry("http://posted.example/", method="POST"))
    return entries, expected, dict(reasons)


def mistyped():
    """Good entries, each with a value of another type in one place: whatever becomes of them, others are read."""
    def places(value, path=()):
        yield path
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []:
            yield from places(inner, (*path, key))

    template = entry(headers=[("X", "y")])
    for path in list(places(template)):
        for value in [None, True, -1, 1e300, 10 ** 400, "x", "\0", [], {}, [[]], {"name": 1}, deep(60)]:
            item = holder = {"entry": copy.deepcopy(template)}
            key = "entry"
            for step in path:
                holder, key = holder[key], step
            holder[key] = value
            yield item["entry"]


def deep(levels):
    value = {}
    for level in range(levels):
        value = {"parent": value} if level % 2 else [value]
    return value


def broken(good, most_urls, thorough):
    """The name and the pieces of each HAR that is refused, where `good` is the text of a good one.

    `most_urls` is how many MiB all URLs together may have. If not `thorough`, a HAR is cut and changed at fewer places.
    """
    small = json.dumps({"log": {"entries": [entry()]}}).encode()
    for part in range(1, 40, 1 if thorough else 4):
        yield f"cut at {part}/40", [good[:len(good) * part // 40]]
    yield "cut before the last byte", [good.rstrip()[:-1]]
    for place in [place for place in range(len(good)) if good.startswith(b"\n{", place)]:
        yield f"cut before the entry at {place}", [good[:place]]
        yield f"cut after what is before the entry at {place}", [good[:place].rstrip(b",")]
    whole = good.decode()
    for name, old, new in [
        ("comma too many", '"time":0,', '"time":0,,'), ("comma at the end", "\n]}}", ",\n]}}"), ("no comma", '"time":0,', '"time":0'),
        ("leading zero", '"time":0,', '"time":00,'), ("plus", '"time":0,', '"time":+1,'), ("NaN", '"time":0,', '"time":NaN,'),
        ("single quotes", '"GET"', "'GET'"), ("control character", '"GET"', '"G\nET"'), ("NUL", '"GET"', '"G\0ET"'),
        ("escape", '"GET"', '"\\x41"'), ("short escape", '"GET"', '"\\u00"'), ("comment", '"time":0,', '"time":0,/* */'),
        ("wrong bracket", "\n]}}", "\n}}}"), ("text after it", "]}}\n", "]}}\n{}"), ("NUL after it", "]}}\n", "]}}\0"),
        ("true", '"time":0,', '"time":tru,'), ("no colon", '"time":0,', '"time" 0,'), ("bare name", '"time":0,', "time:0,"),
        ("two values", '"time":0,', '"time":0 0,'), ("byte order mark inside", "\n]}}", "\ufeff\n]}}"),
    ]:
        assert old in whole, name
        yield name, [whole.replace(old, new, 1).encode()]
    for name, text in [
        ("empty object", "{}"), ("open", "{"), ("no log", '{"a":1}'), ("log is a list", '{"log":[]}'), ("no entries", '{"log":{}}'),
        ("entries are an object", '{"log":{"entries":{}}}'), ("entries are null", '{"log":{"entries":null}}'), ("empty", ""),
        ("a list", "[]"), ("a string", '"log"'), ("UTF-16 that is cut off", '{"log":{"entries":[]'), ("two marks", "\ufeff\ufeff{}"),
    ]:
        yield name, [text.encode("utf-16" if name.startswith("UTF-16") else "utf-8")]
    yield "gzip of nothing known", [b"\x1f\x8b\x08\0\0\0\0\0\0\0"]
    head = small[:small.index(b'"time"')]
    tail = small[small.index(b'"time"'):]
    for name, opening, count, closing in [
        ("a million lists", b"[", 1_000_000, b"]"), ("a million objects", b'{"a":', 1_000_000, b"}"), ("600 lists", b"[", 600, b"]")]:
        yield name, [head, b'"_deep":', opening * count, b"1", closing * count, b",", tail]
        yield name + ", never closed", [head, b'"_deep":', opening * count]
    block = 1 << 20
    # What is held of an entry has a limit; what is passed over has none, but must end.
    yield "a URL of 65 MiB, which is held", [small[:small.index(b"http:")], *[b"u" * block] * 65, small[small.index(b"http:"):]]
    yield "a name of 60 MiB", [head, b'"', *[b"n" * block] * 60, b'":1,', tail]
    yield "a string without end", [head, b'"_s":"', *[b"s" * block] * (60 if thorough else 30)]
    yield "surrogates without end", [head, b'"_s":"', *[b"\\ud83d" * (block // 6)] * 60]
    yield "a number of 60 MiB", [head, b'"_n":', *[b"1" * block] * 60, b",", tail]
    yield "blanks without end", [head, *[b" " * block] * 60]
    # Nor is there one for a URL, but for all together.
    first, last = small[:small.index(b"odd.example")], small[small.index(b"odd.example") + 11:small.rindex(b"]}}")]
    start = first.index(b"[") + 1
    path = b"u" * block
    yield "URLs beyond the limit in all, which are held", [first[:start], *[
        piece for number in range(most_urls + 2) for piece in [b"," if number else b"", first[start:], b"%d.example/" % number, path, last]],
        small[small.rindex(b"]}}"):]]
    field = b'{"name":"a","value":"b"},'
    fields = tail.index(b'"headers": [', tail.index(b'"response"')) + 12
    yield "header fields without end, which are held", [head, tail[:fields], *[field * (block // len(field))] * 64, b'{}', tail[fields:]]
    # Each line becomes a field.
    yield "lines of a header field, which are held", [head, tail[:fields], b'{"name":"a","value":"', *[b"b\\n" * (block // 3)] * 9, b'"}', tail[fields:]]
    generator = random.Random(7)
    marks = [index for index, byte in enumerate(good) if byte in b'{}[]:,"\\']
    for number in range(80 if thorough else 25):
        data = bytearray(good)
        data[generator.choice(marks)] = generator.choice(b'{}[]:,"x')
        try:
            json.loads(data)
        except ValueError:
            yield f"other mark {number}", [bytes(data)]


def browsed():
    """Entries as browsers and proxies write them of a page: with what a cache keeps, and what it does not."""
    def browser(url, text, time, **options):
        item = entry(url, text=text, headers=[("Content-Type", "text/html"), ("Date", "Thu, 01 Jan 2026 00:00:00 GMT")], **options)
        item["startedDateTime"] = time
        item["request"].update(httpVersion="HTTP/2", queryString=[], cookies=[], headersSize=-1, bodySize=0)
        item["response"].update(statusText="", httpVersion="HTTP/2", cookies=[], redirectURL="", headersSize=-1, bodySize=-1)
        return item | {"cache": {}, "timings": {"send": 1, "wait": 700, "receive": 49}, "pageref": "page_1", "_priority": "High"}

    return [
        browser("https://site.example/", "<html></html>", "2026-01-01T01:00:00.250+01:00"),
        browser("https://site.example/dot.png", "aGVsbG8=", "2026-01-01T00:00:01.5Z", encoding="base64"),
        browser("https://site.example/empty", "", "2026-01-01T00:00:02Z", status=204),
        browser("http://site.example/", "", "2026-01-01T00:00:03Z", status=301),
        browser("https://site.example/form?x=1", "sent", "2026-01-01T00:00:04Z", method="POST"),
        browser("https://site.example/", "<html>again</html>", "2026-01-01T00:00:05Z"),
        browser("https://site.example/video", "part", "2026-01-01T00:00:06Z", status=206),
        browser("https://site.example/style.css", "", "2026-01-01T00:00:07Z", status=304),
        browser("https://site.example/blocked", "", "2026-01-01T00:00:08Z", status=0),
        browser("https://site.example/socket", "", "2026-01-01T00:00:09Z", status=101),
        browser("https://site.example/unread", None, "2026-01-01T00:00:10Z"),
        browser("data:text/plain,x", "x", "2026-01-01T00:00:11Z"),
    ]
