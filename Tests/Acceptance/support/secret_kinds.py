"""Makes secrets of twenty kinds, and caches with them and without any."""

import base64
import gzip
import json
import os
import plistlib
import random
import string
import urllib.parse

import apple_store

LETTERS = string.ascii_letters + string.digits
NULL = "__CFURLRequestNullTokenString__"


def letters(source, count, alphabet=LETTERS):
    """Random characters, among them a digit, a small letter and a capital near the beginning."""
    rest = "".join(source.choice(alphabet) for _ in range(count - 3))
    return "".join(c for c in "7kZ" if c in alphabet).ljust(3, alphabet[-1]) + rest


def encoded(value):
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()


def private_key(source):
    text = base64.b64encode(source.randbytes(600)).decode()
    lines = "\n".join(text[start:start + 64] for start in range(0, len(text), 64))
    return "-----BEGIN " + f"PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----"


# For each kind: its rule, the name under which it is stored, and how one is made. The prefixes are in two parts, so that no
# scanner takes this file for a leak.
KINDS = {
    "aws-id": ("secret/aws-access-key-id", "v", lambda s: "AK" + "IA" + letters(s, 16, string.ascii_uppercase + "234567")),
    "aws-secret": ("secret/aws-secret-key", "aws_secret_access_key", lambda s: letters(s, 40, LETTERS + "/+")),
    "google-key": ("secret/google-api-key", "v", lambda s: "AI" + "za" + letters(s, 35)),
    "google-token": ("secret/google-oauth", "v", lambda s: "ya" + "29." + letters(s, 60)),
    "github": ("secret/github-token", "v", lambda s: "gh" + "p_" + letters(s, 36)),
    "github-fine": ("secret/github-token", "v", lambda s: "github" + "_pat_" + letters(s, 22) + "_" + letters(s, 59)),
    "gitlab": ("secret/gitlab-token", "v", lambda s: "gl" + "pat-" + letters(s, 20)),
    "slack": ("secret/slack-token", "v", lambda s: "xo" + "xb-" + letters(s, 12, string.digits) + "-" + letters(s, 24)),
    "stripe": ("secret/stripe-key", "v", lambda s: "sk" + "_live_" + letters(s, 24)),
    "twilio": ("secret/twilio-key", "v", lambda s: "S" + "K" + letters(s, 32, "0123456789abcdef")),
    "sendgrid": ("secret/sendgrid-key", "v", lambda s: "S" + "G." + letters(s, 22) + "." + letters(s, 43)),
    "npm": ("secret/npm-token", "v", lambda s: "np" + "m_" + letters(s, 36)),
    "pypi": ("secret/pypi-token", "v", lambda s: "py" + "pi-AgE" + letters(s, 120)),
    "openai": ("secret/openai-key", "v", lambda s: "sk" + "-proj-" + letters(s, 64)),
    "anthropic": ("secret/anthropic-key", "v", lambda s: "sk" + "-ant-api03-" + letters(s, 93)),
    "jwt": ("secret/jwt", "v", lambda s: f"{encoded({'alg': 'HS256', 'typ': 'JWT'})}.{encoded({'sub': letters(s, 8), 'exp': 4_000_000_000})}."
            + letters(s, 43)),
    "private-key": ("secret/private-key", "v", private_key),
    "password": ("secret/password", "password", lambda s: letters(s, 9) + "!x"),
    "access-token": ("secret/oauth-token", "access_token", lambda s: letters(s, 40)),
    "basic": ("secret/basic-auth", "v", lambda s: base64.b64encode(f"jane:{letters(s, 12)}".encode()).decode()),
}


def written(kind, secret):
    """The text in which a secret is stored: most as they are."""
    return f"Basic {secret}" if kind == "basic" else secret


def field(kind, secret):
    name = KINDS[kind][1]
    return {"X-" + ("Note" if name == "v" else name.replace("_", "-").title()): written(kind, secret).replace("\n", " ")}


def url(kind, secret, number):
    return f"https://url.example/{number}?" + urllib.parse.urlencode({KINDS[kind][1]: written(kind, secret)})


def body(kind, secret):
    filler = [{"id": number, "text": "nothing to see here " * 8} for number in range(40)]
    return json.dumps({"before": filler, KINDS[kind][1]: written(kind, secret), "after": filler}).encode()


def add(database, number, url, body=b"", response=None, request=None, mime="application/json", method="GET", sent=None, status=200,
        stored=780_000_000):
    """Adds an entry, with its body in the database."""
    def archived(text):
        return {"_CFURLString": text, "_CFURLStringType": 15}
    fields = {"Array": [archived(url), float(stored), 0, status, dict(response or {}), len(body), mime], "Version": 1}
    asked = {"Array": [False, archived(url)] + [NULL] * 16 + [method, dict(request or {}), NULL, NULL if sent is None else [sent]],
             "Version": 9}
    database.execute("INSERT INTO cfurl_cache_response(entry_ID, version, storage_policy, request_key) VALUES (?, 0, 0, ?)", (number, url))
    database.execute("INSERT INTO cfurl_cache_blob_data VALUES (?, ?, ?, ?, NULL)", (
        number, plistlib.dumps(fields, fmt=plistlib.FMT_BINARY), plistlib.dumps(asked, fmt=plistlib.FMT_BINARY),
        plistlib.dumps({}, fmt=plistlib.FMT_BINARY)))
    database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, ?)", (number, body))


def plant(folder, seed):
    """Makes a cache with a secret of each kind in each part of an entry, and returns them by their place and kind."""
    source, planted, number = random.Random(seed), {}, 0
    os.makedirs(folder)
    database = apple_store.create(folder)
    for kind, (_, _, make) in KINDS.items():
        for place in ["url", "request", "response", "body"]:
            number += 1
            secret = planted[place, kind] = make(source)
            where = url(kind, secret, number) if place == "url" else f"https://{place}.example/{number}"
            content = body(kind, secret) if place == "body" else b"{}"
            add(database, number, where, gzip.compress(content) if number % 8 == 4 else content,
                field(kind, secret) if place == "response" else {}, field(kind, secret) if place == "request" else {})
    database.commit()
    database.close()
    return planted


def leave_behind(folder, seed):
    """Makes a cache whose removed entries have left a secret of each kind in the log and in free pages, and returns them."""
    source, planted = random.Random(seed), {}
    os.makedirs(folder)
    database = apple_store.create(folder)
    # SQLite of Debian overwrites what it removes, unless it is told not to. That of macOS does not.
    database.execute("PRAGMA secure_delete = 0")
    number = 0

    def insert(place):
        nonlocal number
        first = number + 1
        for kind, (_, _, make) in KINDS.items():
            number += 1
            planted[place, kind] = make(source)
            content = {KINDS[kind][1]: written(kind, planted[place, kind]), "after": "nothing to see here " * 100}
            add(database, number, f"https://{place}.example/{number}", json.dumps(content).encode())
        database.commit()
        return first

    def remove(first):
        for table in ["response", "blob_data", "receiver_data"]:
            database.execute(f"DELETE FROM cfurl_cache_{table} WHERE entry_ID >= ?", (first,))
        database.commit()

    remove(insert("page"))
    number = 0
    add(database, 900, "https://kept.example/", b"{}")
    database.commit()
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA wal_autocheckpoint = 0")
    number = 1_000
    first = insert("log")
    # Others come into the pages that these leave, so that only older frames have the secrets.
    remove(first)
    for other in range(2_000, 2_100):
        add(database, other, f"https://kept.example/{other}", b"{\"text\":\"" + b"nothing " * 600 + b"\"}")
    database.commit()
    copy = folder + ".copy"
    os.makedirs(copy)
    # As a killed app leaves them: closing the last connection would remove the log.
    for name in ["Cache.db", "Cache.db-wal"]:
        with open(os.path.join(folder, name), "rb") as old, open(os.path.join(copy, name), "wb") as new:
            new.write(old.read())
    database.close()
    return copy, planted


def clean(folder, count, seed):
    """Makes a cache without secrets, but with much that looks like one."""
    source = random.Random(seed)
    os.makedirs(folder)
    database = apple_store.create(folder)

    def hexadecimal(count):
        return "".join(source.choice("0123456789abcdef") for _ in range(count))

    def identifier():
        return "-".join(hexadecimal(count) for count in (8, 4, 4, 4, 12))

    words = "the user can sign in with a password or a token and the secret key is stored in the session cookie of the browser".split()

    def prose(count):
        return " ".join(source.choice(words) for _ in range(count))

    def json_body():
        return json.dumps({
            "id": identifier(), "etag": hexadecimal(40), "nextPageToken": letters(source, 24), "sha256": hexadecimal(64),
            "image": "data:image/png;base64," + base64.b64encode(source.randbytes(900)).decode(), "cursor": letters(source, 40),
            "strings": {"password": "Passwort", "token": "Token", "secret": "Geheimnis", "email": "E-Mail", "password_hint": prose(4)},
            "csrfToken": letters(source, 32), "author": {"name": "Jane", "avatar": f"https://cdn.example/{hexadecimal(32)}.png?v={hexadecimal(8)}"},
            "key": "home.title", "session": False, "token": None, "access_token": "", "api_key": "YOUR_API_KEY_HERE", "text": prose(40),
            "publicKey": letters(source, 44), "integrity": "sha384-" + base64.b64encode(source.randbytes(48)).decode()}).encode()

    def script_body():
        return (f"!function(e,t){{var n=e.token,password=t.password||'';e.apiKey=t.getApiKey();a.secret=\"{source.choice(words)}\";"
                f"webpackJsonp([{source.randrange(999)}],{{\"{hexadecimal(20)}\":function(e){{e.exports=\"{hexadecimal(32)}\"}}}});"
                f"fetch(`/api?access_token=${{t}}`);sessionId=uuid();key:'sk-{prose(3).replace(' ', '-')}'}}(window);"
                f"//# sourceMappingURL=app.{hexadecimal(8)}.js.map\n").encode() * 8

    def page_body():
        return (f"<!doctype html><script nonce=\"{letters(source, 24)}\" src=\"/a.{hexadecimal(20)}.js\" integrity=\"sha256-"
                + base64.b64encode(source.randbytes(32)).decode() + f"\"></script><form><input type=\"password\" name=\"password\" "
                f"placeholder=\"Password\"><input type=hidden name=_csrf value=\"{letters(source, 32)}\"></form><p>{prose(90)}"
                f"<a href=\"https://docs.example/?section={prose(1)}&id={identifier()}\">Bearer tokens</a>").encode()

    def style_body():
        return (f".password::after{{content:\"\\e{hexadecimal(3)}\"}}.token{{background:url(data:font/woff2;base64,"
                + base64.b64encode(source.randbytes(400)).decode() + ")}").encode()

    bodies = [("application/json", json_body), ("text/javascript", script_body), ("text/html", page_body), ("text/css", style_body),
              ("image/png", lambda: b"\x89PNG\r\n\x1a\n" + source.randbytes(3_000))]
    for number in range(1, count + 1):
        mime, make = bodies[number % len(bodies)]
        response = {
            "ETag": f"\"{hexadecimal(32)}\"", "Cache-Control": "max-age=600", "Content-Type": mime, "X-Request-Id": identifier(),
            "X-Amz-Cf-Id": letters(source, 55) + "==", "X-Amz-Request-Id": letters(source, 16, "0123456789ABCDEF"),
            "x-amz-version-id": letters(source, 32), "Content-Security-Policy": f"script-src 'nonce-{letters(source, 22)}=='",
            "Report-To": "{\"endpoints\":[{\"url\":\"https://a.nel.example/report/v4?s=" + letters(source, 80) + "%3D\"}]}",
            "X-Goog-Hash": f"crc32c={letters(source, 6)}==", "traceparent": f"00-{hexadecimal(32)}-{hexadecimal(16)}-01",
            "Set-Cookie": f"_ga=GA1.2.{source.randrange(10**9)}.{source.randrange(10**9)}; Path=/",
            "WWW-Authenticate": "Bearer realm=\"example\", scope=\"openid profile\""}
        request = {"User-Agent": "App/1.0 CFNetwork/1408.0.4 Darwin/22.5.0", "Accept": "*/*", "X-CSRF-Token": letters(source, 36),
                   "Cookie": f"_gid=GA1.2.{source.randrange(10**9)}; theme=dark; lang=de-DE", "If-None-Match": f"\"{hexadecimal(40)}\""}
        query = urllib.parse.urlencode({"id": identifier(), "v": hexadecimal(40), "page_token": letters(source, 30), "q": prose(3),
                                        "sig": "original", "code": "DE", "key": "name", "fields": "token,password"})
        add(database, number, f"https://host{number % 40}.example/{hexadecimal(12)}/{number}?{query}", make(), response, request, mime)
    database.commit()
    database.close()
    return folder
