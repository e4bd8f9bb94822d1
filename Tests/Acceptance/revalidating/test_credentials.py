"""Entries that were stored with credentials are only judged by requests that carry them."""

import json
import os
import plistlib
import sqlite3
import subprocess

import pytest

import origin
from origin import Origin
from products import maker, tool
from scratch import digests, path

TAG = {"ETag": '"1"'}
# The header fields of a stored request, each of them with a credential.
STORED = {
    "authorization": {"Authorization": "Basic eDp5"}, "cookie": {"Cookie": "session=1"}, "key": {"X-Api-Key": "k"},
    "scheme": {"X-Auth": "Bearer abcdef123456"}, "token": {"X-Auth": "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.x"}, "lower case": {"cookie": "session=1"},
}
CHANGES = [["--purge-gone"], ["--purge-changed"], ["--purge-gone", "--purge-changed"], ["--refresh"], ["--refresh", "--purge-gone"]]


@pytest.fixture
def base():
    return origin.start()


def make(name, entries):
    origin.make_apple(maker, path(name), entries)
    return path(name)


def revalidate(cache, *options, status):
    words = [tool, "revalidate", "-c", cache, "--format", "json", "--timeout", "30s", *options]
    result = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == status, (words, result)
    document = json.loads(result.stdout)
    return {entry["url"]: entry for entry in document["entries"]}, document, result.stderr.decode()


def urls_in(cache):
    return set(origin.apple_entries(cache)[0])


@pytest.mark.parametrize("page", ["private-404", "private-login"])
def test_every_change(page, base):
    """Without the stored credentials nothing is requested, removed or refreshed; with them, the server confirms the entry."""
    urls = {f"{base}{page}?{name}": dict(fields) for name, fields in STORED.items()}
    in_url = base.replace("127.0.0.1", "user:pass@127.0.0.1") + page
    urls[in_url] = {}
    cache = make("private", [(url, 200, TAG, b"old", fields, None) for url, fields in urls.items()])
    before = digests(cache)
    for change in CHANGES:
        for run in [["--dry-run"], ["--yes"]]:
            Origin.asked.clear()
            entries, document, errors = revalidate(cache, "--all", *change, *run, status=3)
            assert not Origin.asked and document["asked"] == 0, (change, Origin.asked)
            assert document["needs_credentials"] == len(urls) == len(entries), document
            for entry in entries.values():
                found = (entry["outcome"], entry["reason"], entry["action"], entry["withheld_credentials"], entry["status"])
                assert found == ("needs-credentials", "needs-credentials", "none", True, None), (change, entry)
            assert "--with-credentials" in errors, errors
            assert digests(cache) == before, change
    for change in CHANGES[:3]:
        Origin.asked.clear()
        entries, document, errors = revalidate(cache, "--all", *change, "--yes", "--with-credentials", status=0)
        assert document["unchanged"] == len(urls) and len(Origin.asked) == len(urls), (change, document)
        assert not any(entry["withheld_credentials"] for entry in entries.values()) and "--with-credentials" not in errors
        assert digests(cache) == before, change
    revalidate(cache, "--all", "--refresh", "--yes", "--with-credentials", status=0)
    assert urls_in(cache) == set(urls) and digests(cache) != before


def test_others_are_judged(base):
    """An entry without credentials is removed as before, and one with credentials if the server says so to the request that has them."""
    private = {base + "404": {"Cookie": "a=1"}, base + "private-404": {"Cookie": "a=1"}}
    public = {base + "410": {"Accept": "*/*"}, base + "etag": {}}
    cache = make("both", [(url, 200, TAG, b"x", dict(fields), None) for url, fields in (private | public).items()])
    entries, document, _ = revalidate(cache, "--all", "--purge-gone", "--yes", status=3)
    assert (document["gone"], document["unchanged"], document["needs_credentials"]) == (1, 1, 2), document
    assert urls_in(cache) == {base + "etag", *private}
    entries, _, _ = revalidate(cache, "--all", "--purge-gone", "--yes", "--with-credentials", status=0)
    assert urls_in(cache) == {base + "etag", base + "private-404"}


def test_credentials_of_a_proxy(base):
    """A password for a proxy is never sent to a server, so that nothing can decide about its entry."""
    cache = make("proxy", [(base + "404", 200, TAG, b"x", {"Proxy-Authorization": "Basic eDp5"}, None),
                           (base + "410", 200, TAG, b"x", {"Authorization": "Basic \u00e9\n"}, None)])
    before = digests(cache)
    for options in [[], ["--with-credentials"]]:
        entries, _, errors = revalidate(cache, "--all", "--purge-gone", "--yes", *options, status=3)
        assert {(entry["outcome"], entry["reason"]) for entry in entries.values()} == {("needs-credentials", "unsendable-credentials")}, entries
        assert "--with-credentials" not in errors, errors
        assert not Origin.asked and digests(cache) == before
    result = subprocess.run([tool, "revalidate", "-c", cache, "--all"], capture_output=True, text=True)
    assert "unknown: it was stored with credentials that cannot be sent" in result.stdout and "2 needs-credentials" in result.stdout, result
    text = subprocess.run([tool, "explain", "-c", cache, "--all"], capture_output=True, text=True).stdout
    assert text.count("\n  'revalidate' does not send it, as it was stored with credentials that cannot be sent\n") == 2, text


def test_record_of_vary(base):
    """Credentials count that only the record for 'Vary' has."""
    cache = make("vary", [(base + "private-404", 200, {**TAG, "Vary": "Cookie"}, b"x", {"Cookie": "a=1"}, None)])
    with sqlite3.connect(os.path.join(cache, "Cache.db")) as database:
        (blob,) = database.execute("SELECT request_object FROM cfurl_cache_blob_data").fetchone()
        request = plistlib.loads(blob)
        request["Array"][19] = origin.archived({"Accept": "*/*"})
        database.execute("UPDATE cfurl_cache_blob_data SET request_object = ?", [plistlib.dumps(request, fmt=plistlib.FMT_BINARY)])
    database.close()
    entries, _, _ = revalidate(cache, "--all", "--purge-gone", "--yes", status=3)
    assert entries[base + "private-404"]["outcome"] == "needs-credentials"
    entries, _, _ = revalidate(cache, "--all", "--purge-gone", "--yes", "--with-credentials", status=0)
    assert entries[base + "private-404"]["outcome"] == "unchanged" and Origin.asked[0][1]["Cookie"] == "a=1"


def test_damaged_requests(base):
    """If the stored request cannot be read, nobody knows if it had credentials, so that the entry is neither removed nor replaced."""
    cache = make("damaged", [(base + name, 200, TAG, b"x", {"Cookie": "a=1"}, None) for name in ["private-404", "private-login", "etag"]])
    with sqlite3.connect(os.path.join(cache, "Cache.db")) as database:
        database.execute("UPDATE cfurl_cache_blob_data SET request_object = x'00'")
    database.close()
    before = digests(cache)
    entries, _, _ = revalidate(cache, "--all", "--purge-gone", "--purge-changed", "--yes", status=3)
    found = {url.removeprefix(base): (entry["outcome"], entry["action"], entry["hindrance"]) for url, entry in entries.items()}
    assert found == {"private-404": ("gone", "none", "credentials-unknown"), "private-login": ("changed", "none", "credentials-unknown"),
                     "etag": ("unchanged", "none", None)}, found
    assert digests(cache) == before
    entries, _, _ = revalidate(cache, "--all", "--refresh", "--purge-gone", "--yes", status=3)
    assert entries[base + "private-login"]["hindrance"] == "other-variant" and entries[base + "private-404"]["action"] == "none", entries


def test_redirects(base):
    """A request with credentials follows redirects on its server with all of them, and leaves it for no other one."""
    Origin.other = origin.start()
    for fields in STORED.values():
        cache = make(f"redirects-{len(os.listdir(path('.')))}",
                     [(base + name, 200, TAG, b"x", dict(fields), None) for name in ["to-private", "other-origin"]])
        before = digests(cache)
        Origin.asked.clear()
        entries, _, _ = revalidate(cache, "--all", "--follow", "--purge-gone", "--purge-changed", "--yes", "--with-credentials", status=1)
        assert entries[base + "to-private"]["outcome"] == "unchanged", (fields, entries)
        assert (entries[base + "other-origin"]["outcome"], entries[base + "other-origin"]["action"]) == ("redirected", "none"), entries
        assert sorted(asked for asked, _ in Origin.asked) == ["/other-origin", "/private-404", "/to-private"], Origin.asked
        assert digests(cache) == before
    # The target of a redirect does not contain the password that the URL had.
    in_url = base.replace("127.0.0.1", "user:pass@127.0.0.1") + "to-private"
    cache = make("redirect-in-url", [(in_url, 200, TAG, b"x", {}, None)])
    entries, _, _ = revalidate(cache, "--all", "--follow", "--purge-gone", "--yes", "--with-credentials", status=1)
    assert entries[in_url]["outcome"] == "redirected" and urls_in(cache) == {in_url}, entries


def test_foundation(base):
    """A Foundation cache has no requests. An entry that varies on a credential is not removed, all others are."""
    source = make("source", [(base + "404?cookie", 200, {**TAG, "Vary": "Accept, Cookie"}, b"x", {}, None),
                             (base + "410?language", 200, {**TAG, "Vary": "Accept-Language"}, b"x", {}, None)])
    cache = path("org.swift.foundation.URLCache")
    subprocess.run([tool, "import", source, "-c", cache, "--create", "foundation"], check=True, capture_output=True)
    entries, _, _ = revalidate(cache, "--all", "--purge-gone", "--yes", status=3)
    found = {url.removeprefix(base): (entry["outcome"], entry["action"], entry["hindrance"]) for url, entry in entries.items()}
    assert found == {"404?cookie": ("gone", "none", "credentials-unknown"), "410?language": ("gone", "remove", None)}, found


def test_explain(base):
    """'explain' shows that a request needs credentials, and all fields that 'revalidate' then sends."""
    stored = {"plain": {"Accept": "a/b", "X-Other": "1"}} | STORED
    vary = {**TAG, "Vary": "Accept, Cookie"}
    cache = make("explained", [(f"{base}etag?{name}", 200, vary, b"x", dict(fields), None) for name, fields in stored.items()])
    result = subprocess.run([tool, "explain", "-c", cache, "--all", "--format", "json", "--show-secrets"], capture_output=True)
    explained = {entry["url"].split("?")[1]: entry["conditional_request"] for entry in json.loads(result.stdout)["entries"]}
    assert {name for name, request in explained.items() if request["needs_credentials"]} == set(STORED), explained
    for options, names in [([], {"plain"}), (["--with-credentials"], set(stored))]:
        Origin.asked.clear()
        revalidate(cache, "--all", *options, status=0 if options else 3)
        asked = {url.split("?")[1].replace("%20", " "): fields for url, fields in Origin.asked}
        assert asked.keys() == names, asked
        for name, fields in asked.items():
            said = explained[name]["headers"] | explained[name]["credential_headers"]
            sent = {key: value for key, value in fields.items() if key not in ["Host"]}
            assert {key.lower(): value for key, value in sent.items()} == {key.lower(): value for key, value in said.items()}, (name, sent, said)
    text = subprocess.run([tool, "explain", "-c", cache, f"{base}etag?key"], capture_output=True, text=True).stdout
    assert "\n  'revalidate' sends it only with '--with-credentials', with the stored X-Api-Key\n" in text, text
    text = subprocess.run([tool, "explain", "-c", cache, f"{base}etag?plain"], capture_output=True, text=True).stdout
    assert "--with-credentials" not in text, text
