"""Reports of caches whose texts try to break out of their places, and a parser of the pages."""

import base64
import hashlib
import html.parser
import os
import plistlib
import re
import unicodedata

import apple_store
from scratch import run

AT = "2025-12-01T00:00:00Z"
# Whatever may end an element, an attribute, a string, a table or a block of code, and what a browser might run.
PIECES = [
    "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "<!--", "-->", "]]>",
    "</title></style></textarea>", "<svg/onload=alert(1)>", "&lt;b&gt;&#x41;&amp", "\\u003c/script>", "javascript:alert(1)",
    "`" * 3, "|", "\\|", "[a](https://evil.example)", "<https://evil.example>", "![i](//evil.example/i)", "**b**", "_i_", "\r\n",
    "\n\n# head", "\x1b]0;t\x07\x1b[2J", "\u202e\u2066", "\u2028\u2029", "\u200b\ufeff", "\u0000", "\x7f\x9b", "\U000e0041",
    '"\u0301', "<\u0301script>", "'\u200d", "&\u0338", "$&", "${alert(1)}", "{{1}}", "é", "日本", "\U0001f408", "%00", "?token=a<b&sig=\"",
]
HOSTILE = ["https://user:hidden-password@d.example/?token=hidden-token#access_token=hidden-too"] + ["https://a.example/" + piece for piece in PIECES] + [
    "https://" + piece.replace("/", "") + ".example/x" for piece in PIECES] + [
    "https://b.example/" + piece.replace("/", "") + "/f/x" for piece in PIECES] + [
    'javascript:alert("x")', "data:text/html,<script>alert(1)</script>", "", "x" * 3_000,
    "https://c.example/" + "<" * 200_000, "https://c.example/" + "a\u0301\u0301" * 50_000,
    "file:///etc/passwd"]


def report(cache, *options):
    return run("report", "-c", cache, "--at", AT, "-o", "-", *options).stdout


def cache_of(urls, folder, sizes=None):
    """A cache that has a response for each URL, which may be bytes that are not UTF-8."""
    os.mkdir(folder)
    database = apple_store.create(folder)
    database.executescript("""CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER);
        INSERT INTO cfurl_cache_schema_version VALUES(202);""")
    for number, url in enumerate(urls, 1):
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, storage_policy, request_key) VALUES (?, 0, CAST(? AS TEXT))",
                         (number, url))
        if isinstance(url, str):
            archived = {"_CFURLString": url, "_CFURLStringType": 15}
            response = {"Array": [archived, 7.8e8, 0, 200, {"Cache-Control": "max-age=60"}, 3, "text/" + url[6:13]], "Version": 1}
            blob = plistlib.dumps(response, fmt=plistlib.FMT_BINARY)
            database.execute("INSERT INTO cfurl_cache_blob_data VALUES (?, ?, ?, NULL, NULL)", (number, blob, blob))
        size = sizes[number - 1] if sizes else 50_000 - number * 100
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, zeroblob(?))", (number, size))
    database.commit()
    database.close()
    return folder


class Page(html.parser.HTMLParser):
    """A report as a parser sees it: its elements, their attributes, and their texts."""

    VOID = {"meta", "input", "rect", "path", "circle", "br"}

    def __init__(self, data):
        super().__init__(convert_charrefs=True)
        self.stack, self.elements, self.texts = [], [], []
        self.feed(data.decode("utf-8"))
        self.close()
        assert self.stack == [], self.stack

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names), attributes
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.stack and self.stack.pop() == tag, (tag, self.stack)

    def handle_data(self, data):
        self.texts.append((self.stack[-1] if self.stack else None, data))

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_pi = unknown_decl = handle_comment

    def shape(self):
        """The kinds of elements and the names of their attributes: what text must not change."""
        return {(tag, tuple(sorted(attributes))) for tag, attributes in self.elements}

    def text(self, tag):
        return "".join(text for name, text in self.texts if name == tag)


def shown(text):
    """Text as it is to be shown: what nobody can see is named."""
    def hidden(character):
        # What has no look of its own by its properties: marks of direction, joiners, selectors, tags.
        return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs") or character == "\U000e0041"
    return "".join(f"‹U+{ord(c):04X}›" if hidden(c) else c for c in text)


def harmless(text, allowed="\n"):
    for character in text:
        assert character in allowed or unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co"), ascii(character)


def check_policy(data):
    """The page lets its own style and script through by their digests, and nothing else."""
    page = Page(data)
    policy = next(attributes["content"] for tag, attributes in page.elements if attributes.get("http-equiv"))
    digests = [base64.b64encode(hashlib.sha256(page.text(tag).encode()).digest()).decode() for tag in ("style",)]
    scripts = re.findall(rb"<script>(.*?)</script>", data, re.S)
    assert len(scripts) == 1 and len(scripts[0]) <= 8_000, [len(script) for script in scripts]
    digests.append(base64.b64encode(hashlib.sha256(scripts[0]).digest()).decode())
    assert policy == (f"default-src 'none'; script-src 'sha256-{digests[1]}'; style-src 'sha256-{digests[0]}'; "
                      "base-uri 'none'; form-action 'none'"), policy
    for tag, attributes in page.elements:
        assert tag not in ("a", "img", "iframe", "link", "object", "form", "base") or attributes == {"href": "#integrity"}, tag
        assert not any(name.startswith("on") or name in ("style", "src", "srcset", "srcdoc", "xlink:href") for name in attributes)
    return page
