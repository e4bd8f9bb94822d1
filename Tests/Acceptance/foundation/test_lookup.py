"""Asks Foundation's own `URLCache` for URLs, and compares its answers with what this program predicts."""

import base64
import json
import os
import random
import shutil
import subprocess

from products import tool
from scratch import path, short_id


def run(*arguments, statuses=(0,), **options):
    result = subprocess.run(arguments, capture_output=True, timeout=300, env=os.environ | {"SWIFT_BACKTRACE": "enable=no"}, **options)
    assert result.returncode in statuses, (arguments, result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return result


def store(stock, folder, items):
    run(stock, "store", folder, input=json.dumps([
        {"status": 200, "headers": {"Cache-Control": "max-age=1000000", "Content-Type": "text/plain"}, **item} for item in items]).encode())


def get(stock, folder, urls):
    lines = run(stock, "get", folder, input=json.dumps(urls).encode()).stdout.splitlines()
    return [json.loads(line) for line in lines]


def text(body):
    return base64.b64encode(body.encode()).decode()


def missing(folder, url):
    return json.loads(run(tool, "explain", "-c", folder, "--why-missing", url, "--format", "json", statuses=(0, 1, 3)).stdout)


HOSTS = ["a.example", "A.Example", "b.example", "127.0.0.1", "[::1]", "[2001:DB8::1]", "xn--bcher-kva.example", "B\u00fccher.example",
         "b%C3%BCcher.example", "\u4f8b\u3048.example", "u:p@a.example"]
PORTS = ["", "", "", ":80", ":443", ":8080", ":080", ":"]
PATHS = ["", "/", "/a", "/a/", "/a//", "//a", "/A", "/%61", "/a%2Fb", "/a/b", "/a;p=1", "/%E6%97%A5", "/\u65e5", "/a%20b", "/a b",
         "/./a", "/a/../b", "/%FF", "/a%", "/\u00e9", "/e\u0301"]
TAILS = ["", "", "", "?", "?user=A", "?user=B", "?user=B#x", "#x", "?a=/", "/?b"]
SCHEMES = ["http", "https", "HTTP", "http", "https", "ftp"]


def made_up(chance):
    return chance.choice(SCHEMES) + "://" + "".join(map(chance.choice, [HOSTS, PORTS, PATHS, TAILS]))


def test_predictions(stock_url_cache, thorough):
    """'explain --why-missing' predicts for each URL which entry `URLCache` answers it with."""
    chance, count = random.Random(7), 500 if thorough else 60
    stock, folder = stock_url_cache, path("predicted")
    stored = {}
    for number in range(count // 5):
        url = made_up(chance)
        item = {"url": url, "body": text(str(number))}
        if number % 4 == 0:
            item["responseURL"] = made_up(chance)
        stored[str(number)] = item
    store(stock, folder, stored.values())
    urls = sorted({made_up(chance) for _ in range(count * 2)} - {""})[:count]
    urls += [item.get("responseURL", item["url"]) for item in stored.values()]
    wrong, hits = [], 0
    bodies = {}
    for line in run(tool, "list", "-c", folder, "--format", "ndjson", "--columns", "id").stdout.splitlines():
        name = json.loads(line)["id"]
        bodies[name] = run(tool, "body", "-c", folder, name).stdout.decode()
    for url, found in zip(urls, get(stock, folder, urls), strict=True):
        said = missing(folder, url)
        assert len(said["present"]) <= 1, said
        answer = bodies[said["present"][0]] if said["present"] else None
        real = base64.b64decode(found["body"]).decode() if found else None
        hits += real is not None
        if answer != real:
            wrong.append((url, real, said))
    assert not wrong, (len(wrong), len(urls), wrong[:20])
    assert hits > len(urls) // 10, hits


A, B = "http://a.example/p?user=A", "http://a.example/p?user=B"
OLD, NEW = "http://a.example/old", "https://cdn.example:8443/new?v=1"


def make(stock, name):
    folder = path(name)
    store(stock, folder, [
        {"url": A, "body": text("of A")}, {"url": OLD, "responseURL": NEW, "body": text("new")},
        {"url": "http://a.example/plain", "body": text("plain")}])
    return folder


OF_B = f"note: the cache answers '{B}' with the entry for '{A}': both have the key 'a.example/p'; the entry may be meant for another user\n"
OF_OLD = f"note: the cache answers '{OLD}' with the entry for '{NEW}', which has the key 'a.example/old'\n"
OF_NEW = f"note: the entry for '{NEW}' has the key 'a.example/old', so the cache does not use it for that URL\n"


def test_names(stock_url_cache):
    """A command finds an entry by its own URL and by each URL that the cache answers with it, and a note shows the difference."""
    stock = stock_url_cache
    folder = make(stock, "named")
    served = {url: base64.b64decode(found["body"]) if found else None for url, found in zip([A, B, OLD, NEW], get(stock, folder, [A, B, OLD, NEW]))}
    assert served == {A: b"of A", B: b"of A", OLD: b"new", NEW: None}, served
    ids = {entry["url"]: entry["id"] for entry in map(json.loads, run(tool, "list", "-c", folder, "--format", "ndjson").stdout.splitlines())}
    said = {A: b"", B: OF_B.encode(), OLD: OF_OLD.encode(), NEW: OF_NEW.encode()}
    for url, entry in [(A, A), (B, A), (OLD, NEW), (NEW, NEW)]:
        body = run(tool, "body", "-c", folder, url)
        assert (body.stdout, body.stderr) == (b"of A" if entry == A else b"new", said[url]), (url, body)
        shown = run(tool, "show", "-c", folder, url, "--format", "json")
        assert [item["id"] for item in json.loads(shown.stdout)] == [ids[entry]] and shown.stderr == said[url], (url, shown)
        listed = run(tool, "list", "-c", folder, url, "--format", "ndjson")
        assert json.loads(listed.stdout)["id"] == ids[entry] and listed.stderr == b"1 of 3 entries, " + listed.stderr.split()[4] + b" B\n" + said[url], (url, listed)
        explained = run(tool, "explain", "-c", folder, url, "--format", "json")
        assert explained.stderr == said[url], explained
        (explained,) = json.loads(explained.stdout)["entries"]
        assert explained["reusable"] == (url != NEW), (url, explained)
        lookup = {A: None, B: (B, "a.example/p", True), OLD: (OLD, "a.example/old", True), NEW: (NEW, "a.example/old", False)}[url]
        assert explained.get("lookup") == (lookup and dict(zip(["url", "key", "answered"], lookup))), explained
        codes = [hint["code"] for hint in explained["hints"]]
        assert ("foundation-answers-other-url" in codes) == (url == B), (url, codes)
        assert explained["reasons"][0]["code"] == ("foundation-other-key" if url == NEW else "foundation-uses"), explained
        answer = missing(folder, url)
        assert answer["present"] == ([] if url == NEW else [ids[entry]]), answer
        assert answer["stored_for"] == ([entry] if url in (B, OLD) else []), answer
        assert answer["under_other_keys"] == ([ids[NEW]] if url == NEW else []), answer
    words = run(tool, "explain", "-c", folder, B).stdout.decode()
    assert f"URL                  {A}\nRequested URL        {B}\nCache key            a.example/p   the same for both\n" in words, words
    words = run(tool, "explain", "-c", folder, NEW).stdout.decode()
    assert ": downloaded again\n  because Foundation on Linux was observed not to use it: its key belongs to a different URL\n" in words, words
    words = run(tool, "explain", "-c", folder, "--why-missing", B).stdout.decode()
    assert words.startswith(f"""\
PRESENT: the cache answers this URL with the entry for another URL; run 'explain' on that entry

URL                  {B}
Cache key            a.example/p
Entries              {short_id(ids[A])}
Stored for           {A}   may be meant for another user
"""), words
    listed = run(tool, "list", "-c", folder, "--columns", "request-url,response-url", "--sort", "request-url", "--format", "csv").stdout.decode()
    assert listed == (
        f"request_url,response_url\nhttp://a.example/p?user=A,{A}\nhttp://a.example/plain,http://a.example/plain\n"
        f"https://a.example/old,{NEW}\n"), listed
    # The cache no longer answers a URL after its entry was removed by another URL.
    for url, entry in [(B, A), (OLD, NEW)]:
        purged = run(tool, "purge", "-c", folder, url, "--yes", "--format", "json")
        assert [item["id"] for item in json.loads(purged.stdout)["entries"]] == [ids[entry]] and purged.stderr == said[url], purged
        assert get(stock, folder, [url]) == [{}]
    absent = run(tool, "purge", "-c", folder, "http://a.example/p/q", "--yes", statuses=(1,))
    assert b"no entry has the URL 'http://a.example/p/q'" in absent.stderr, absent


def test_findings(stock_url_cache):
    """'check' reports files with the same key for different URLs, and entries that only another URL finds."""
    stock, other = stock_url_cache, path("other")
    folder = make(stock, "found")
    store(stock, other, [{"url": B, "body": text("of B")}, {"url": "https://a.example/plain", "body": text("of TLS")}])
    names = os.listdir(folder)
    for name in os.listdir(other):
        # As a clock that was set back leaves them, or a copy.
        shutil.copy(os.path.join(other, name), os.path.join(folder, "1." + name.split(".", 1)[1]))
    findings = json.loads(run(tool, "check", "-c", folder, "--format", "json", statuses=(1,)).stdout)["findings"]
    pairs = [finding for finding in findings if finding["code"] == "colliding-entries"]
    assert len(pairs) == 2 and {pair["severity"] for pair in pairs} == {"warning"}, findings
    for pair in pairs:
        first = pair["message"].split("'")[1]
        assert {first.split(".")[0], pair["id"].split(".")[0]} > {"1"} and first.split(".")[1] == pair["id"].split(".")[1], pair
    elsewhere = [(finding["severity"], finding["url"]) for finding in findings if finding["code"] == "key-of-another-url"]
    assert elsewhere == [("note", NEW)], findings
    assert sum(finding["code"] == "duplicate-key" for finding in findings) == 4, findings
    for name in names:
        if not os.path.exists(os.path.join(folder, "1." + name.split(".", 1)[1])):
            continue
        os.remove(os.path.join(folder, name))
    findings = json.loads(run(tool, "check", "-c", folder, "--format", "json", statuses=(1,)).stdout)["findings"]
    assert not [finding for finding in findings if finding["code"] == "colliding-entries"], findings
