"""Whatever `audit` calls a secret, no other output shows: no list, report or page, and no archive that is redacted."""

import base64
import gzip
import html
import json
import os
import random
import re
import string
import urllib.parse
import zipfile

import pytest

import scratch
import secret_kinds
import worlds
from scratch import path, run
from secret_kinds import letters

HEX = "0123456789abcdef"
CAPITALS = string.ascii_uppercase + "234567"
WORD = string.ascii_letters + string.digits


def formats():
    """Makers of secrets that are found by their formats, in two parts, so that no scanner takes this file for a leak."""
    plain = {
        "aws-temporary": ("AS", "IA", 16, CAPITALS), "google-client": ("GOC", "SPX-", 28, WORD), "github-oauth": ("gh", "o_", 36, WORD),
        "github-user": ("gh", "u_", 40, WORD), "github-server": ("gh", "s_", 36, WORD), "github-refresh": ("gh", "r_", 76, WORD),
        "gitlab-deploy": ("gl", "dt-", 20, WORD), "gitlab-runner": ("gl", "rt-", 20, WORD), "slack-user": ("xo", "xp-", 48, WORD),
        "slack-app": ("xa", "pp-", 60, WORD), "slack-refresh": ("xo", "xr-", 30, WORD), "slack-legacy": ("xo", "xs-", 30, WORD),
        "slack-workspace": ("xo", "xa-", 30, WORD), "stripe-restricted": ("rk", "_live_", 24, WORD), "stripe-webhook": ("wh", "sec_", 32, WORD),
        "openai-service": ("sk", "-svcacct-", 60, WORD), "openai-admin": ("sk", "-admin-", 60, WORD), "openai-old": ("sk", "-", 48, WORD),
        "hugging-face": ("h", "f_", 34, WORD), "shopify": ("sh", "pat_", 32, HEX), "shopify-shared": ("sh", "pss_", 32, HEX),
        "digital-ocean": ("do", "p_v1_", 64, HEX), "docker": ("dc", "kr_pat_", 27, WORD), "vault": ("hv", "s.", 90, WORD),
    }
    for name, (first, second, count, alphabet) in plain.items():
        yield name, "v", lambda s, p=first + second, c=count, a=alphabet: p + letters(s, c, a)
    yield "telegram", "v", lambda s: letters(s, 10, string.digits) + ":" + "A" + letters(s, 34)
    yield "slack-hook", "v", lambda s: "https://hooks.sl" + "ack.com/services/T" + letters(s, 10) + "/B" + letters(s, 10) + "/" + letters(s, 24)
    yield "discord-hook", "v", lambda s: "https://disc" + "ord.com/api/webhooks/" + letters(s, 18, string.digits) + "/" + letters(s, 68)
    for name in ["refresh_token", "id_token", "auth_token", "session_token", "security_token", "user_token", "login_token", "api_token",
                 "bearerToken", "token", "jwt", "sid", "session", "sessionid", "PHPSESSID", "jsessionid", "connect.sid", "api_key", "apikey",
                 "client_secret", "secret", "private_key", "auth_key", "subscription-key", "access_key", "secret_key", "session_key",
                 "functions-key", "passwd", "pwd", "passphrase", "user_password", "aws_session_token"]:
        yield "name-" + name, name, lambda s: letters(s, 32)


KINDS = {**{kind: (name, make) for kind, (_, name, make) in secret_kinds.KINDS.items() if kind != "private-key"},
         **{kind: (name, make) for kind, name, make in formats()}}

# Where a secret is put: what makes the parts of an entry of its name and the secret.
PLACES = {
    "query": lambda name, text: {"url": "https://a.example/?" + urllib.parse.urlencode({name: text, "page": 2})},
    "fragment": lambda name, text: {"url": f"https://a.example/x#{name}=" + urllib.parse.quote(text, safe="")},
    "nested": lambda name, text: {"url": "https://a.example/?next=" + urllib.parse.quote(f"https://b.example/?{urllib.parse.urlencode({name: text})}", safe="")},
    "request field": lambda name, text: {"request_headers": {field(name): text}},
    "response field": lambda name, text: {"headers": {field(name): text}},
    "pair in a field": lambda name, text: {"headers": {"X-Debug": f"a=b; {name}={text}"}},
    "quoted in a field": lambda name, text: {"headers": {"X-Challenge": f"Custom realm=\"a\", {name}=\"{text}\""}},
    "JSON in a field": lambda name, text: {"headers": {"X-Json": json.dumps({"a": 1, name: text})}},
    "location": lambda name, text: {"headers": {"Location": "https://b.example/?" + urllib.parse.urlencode({"a": 1, name: text})}},
    "user info": lambda name, text: {"user_info": {name: text}},
    "data in user info": lambda name, text: {"user_info": {"data": json.dumps({name: text}).encode()}},
    "property": lambda name, text: {"proto_props": {name: text}},
    "form in user info": lambda name, text: {"user_info": {"data": f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n--x--'.encode()}},
}

# Texts with a secret in them, which are put somewhere in Base64: the whole Base64 is then the secret.
TEXTS = {
    "JSON": lambda name, text: json.dumps({"a": 1, name: text}),
    "a form": lambda name, text: urllib.parse.urlencode({"a": 1, name: text}),
    "a URL": lambda name, text: "https://b.example/?" + urllib.parse.urlencode({"a": 1, name: text}),
    "XML": lambda name, text: f"<?xml version='1.0'?><a><{name}>{html.escape(text)}</{name}></a>",
    "HTML": lambda name, text: f'<form><input type="hidden" name="{name}" value="{html.escape(text)}"></form>',
    "a property list": lambda name, text: f"<plist><dict><key>{name}</key><string>{html.escape(text)}</string></dict></plist>",
}
ENCODED = {
    "field": lambda text: {"headers": {"X-Data": text}},
    "query": lambda text: {"url": "https://a.example/?" + urllib.parse.urlencode({"data": text, "page": 2})},
    "path": lambda text: {"url": "https://a.example/api/v1/" + text.replace("+", "-").replace("/", "_").rstrip("=")},
    "user info": lambda text: {"user_info": {"data": text}},
}

LOOKING = [["list"], ["list", "--columns", "all", "--format", "json", "--redact-urls"], ["show", "--prefix", "https:"], ["show", "--prefix", "https:", "--json", "--redact-urls"],
           ["explain", "--all"], ["explain", "--all", "--json", "--redact-urls"], ["usage", "--by", "host"], ["report", "-o", "-"],
           ["report", "--format", "markdown", "-o", "-"], ["audit"], ["audit", "--json", "--redact-urls"], ["audit", "--format", "markdown"], ["check"],
           ["check", "--json", "--redact-urls"], ["purge", "--all", "--dry-run"], ["enforce", "--max-entries", "1", "--dry-run"],
           ["purge", "--all", "--dry-run", "--json", "--redact-urls"], ["grep", "e", "--in", "url"], ["grep", "e", "--in", "request,response"],
           ["metrics"], ["query", "SELECT * FROM entries"]]
ARCHIVES = ["har", "warc", "wacz", "tar", "zip"]


def field(name):
    return "X-" + ("Note" if name == "v" else name.replace("_", "-").replace(".", "-").title())


def plant(folder, seed):
    """A cache with a secret of each kind in each place; returns the secrets by place and kind."""
    source, some, planted = random.Random(seed), [], {}
    for kind, (name, make) in KINDS.items():
        for place, parts in PLACES.items():
            secret = planted[place, kind] = make(source)
            values = parts(name, secret_kinds.written(kind, secret))
            values.setdefault("url", f"https://{place.replace(' ', '-').lower()}.example/{len(some)}")
            some.append(worlds.Entry(body=b"{}", mime="application/json", **values))
        # Each kind in each place; over all kinds, in each kind of text.
        for place, parts in ENCODED.items():
            inner = list(TEXTS)[len(some) % len(TEXTS)]
            text = TEXTS[inner](name, secret_kinds.written(kind, make(source))).encode()
            values = parts(base64.b64encode(text).decode())
            # A path has it in the alphabet of URLs.
            planted[f"{inner} in Base64 in the {place}", kind] = (base64.urlsafe_b64encode if place == "path" else base64.b64encode)(text).decode().rstrip("=")
            values.setdefault("url", f"https://encoded.example/{len(some)}")
            some.append(worlds.Entry(body=b"{}", mime="application/json", **values))
    worlds.apple(folder, some)
    return planted


def audited(cache):
    """All that an audit calls a credential, with its place."""
    document = json.loads(run("audit", cache, "--format", "json", "--show-secrets", status=None).stdout)
    return {finding["secret"]["text"] for finding in document["findings"] if finding["secret"] and finding["rule"].startswith("secret/")}


def forms(secret):
    """How a secret can be written in an output."""
    return {secret, urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret), json.dumps(secret)[1:-1]}


def left(secrets, text):
    return [secret for secret in secrets if any(form.encode() in text for form in forms(secret))]


def content(archive):
    """All bytes of an archive, unpacked, also of what is Base64 within it."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as file:
            result = b"\n".join(name.encode() + b"\n" + file.read(name) for name in file.namelist())
            return result + b"".join(unzipped(file.read(name)) for name in file.namelist() if name.endswith(".gz"))
    result = scratch.read(archive)
    return result + unzipped(result)


def unzipped(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else b""


def shown(secret):
    """What must not be shown of a secret: of the URL of a webhook, what follows the host and the path of all of them."""
    return secret.split("/services/T")[-1].split("/webhooks/")[-1]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("hidden") / "cache")
    return folder, plant(folder, 7)


def test_kinds(planted):
    """There are 80 kinds, and nearly all of them are found wherever they are."""
    cache, secrets = planted
    found = audited(cache)
    missed = [key for key, secret in secrets.items() if not any(secret in text or text in secret for text in found)]
    assert len(KINDS) >= 79
    assert len(missed) < len(secrets) / 4, missed


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_output(planted, words):
    """No output for people, and none for programs with `--redact-urls`, shows what an audit finds."""
    cache, _ = planted
    secrets = {shown(text) for text in audited(cache)}
    output = run(words[0], *words[1:], "-c", cache, status=None) if words[0] != "query" else run(*words, "-c", cache, "--redact-urls", status=None)
    assert output.returncode in (0, 1, 3), output.stderr
    assert left(secrets, output.stdout + output.stderr) == []


@pytest.mark.parametrize("kind", ARCHIVES)
def test_archive(planted, kind):
    """A redacted archive of any format does not contain what an audit finds, nor does one of its copies."""
    cache, _ = planted
    secrets = {shown(text) for text in audited(cache)}
    archive = path("archive." + kind)
    run("export", "-c", cache, "-o", archive, "--redact")
    assert left(secrets, content(archive)) == []


def test_nothing_else():
    """What only looks like a secret stays: nothing else than the values of these names is hidden in a cache without secrets."""
    cache = secret_kinds.clean(path("clean"), 60, seed=3)
    plain = json.loads(run("show", "--prefix", "https:", "-c", cache, "--json", "--show-secrets").stdout)
    masked = json.loads(run("show", "--prefix", "https:", "-c", cache, "--json", "--redact-urls").stdout)
    hidden = set()

    def compare(one, other, name):
        if isinstance(one, dict):
            for key in one:
                compare(one[key], other.get(key), one.get("name", key) if key == "value" else key)
        elif isinstance(one, list) and len(one) == 2 and all(isinstance(each, str) for each in one):
            # A header field.
            compare(one[1], other[1], one[0])
        elif isinstance(one, list):
            for first, second in zip(one, other, strict=True):
                compare(first, second, name)
        elif isinstance(one, str) and one != other:
            hidden.add((name.lower(), re.sub(r"[^&?]*=\*\*\*", lambda found: found[0].split("=")[0], other) if "?" in other else ""))

    compare(plain, masked, "")
    names = {name for name, _ in hidden}
    assert names <= {"url", "key", "final_url", "request_url", "cookie", "set-cookie", "x-csrf-token"}, hidden
