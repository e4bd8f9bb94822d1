"""Revalidates entries at an origin on this machine, and looks at the cache with `sqlite3` and `plistlib`."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

import origin
from heard_signals import hear_signals
from origin import Origin, apple_entries, stored_entries
from products import maker, tool
from scratch import path

# The outcome, the validator that decides, and the reason of a failure, of each path.
OUTCOMES = {
    "etag": ("unchanged", "etag", None), "weak": ("unchanged", "etag", None), "large": ("unchanged", "etag", None),
    "modified": ("unchanged", "last-modified", None), "both": ("unchanged", "etag", None),
    "ignores": ("unchanged", "etag", None), "bare": ("unchanged", "etag", None),
    "changed": ("changed", "etag", None), "changed-date": ("changed", "last-modified", None),
    "untold": ("changed", None, None), "no-store": ("changed", "etag", None), "gzip": ("changed", "etag", None),
    "chunked": ("changed", "etag", None), "vary": ("changed", "etag", None), "huge": ("changed", "etag", None),
    "rolled": ("rolled-back", "last-modified", None), "rolled-tag": ("rolled-back", "etag", None),
    "404": ("gone", None, None), "410": ("gone", None, None),
    "redirect": ("redirected", None, None), "elsewhere": ("redirected", None, None),
    "lie": ("failed", None, "contradiction"), "500": ("failed", None, "status"), "401": ("failed", None, "status"),
    "slow": ("failed", None, "timeout"), "drop": ("failed", None, "not-http"), "garbage": ("failed", None, "not-http"),
    "cut": ("changed", "etag", None), "none": ("no-validator", None, "no-validator"),
}


@pytest.fixture
def base():
    """Starts the origin; what its URLs begin with."""
    return origin.start()


def run(*arguments, status=0, verb="revalidate", **options):
    result = subprocess.run([tool, verb, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=300, **options)
    assert result.returncode == status, (arguments, result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return result


def revalidate(cache, *options, status=0):
    """The entries of the report, by their paths, and all of it."""
    # One origin never answers; all others do, however slow this machine is.
    timeout = "5s" if "--all" in options else "30s"
    output = run("-c", cache, "--format", "json", "--timeout", timeout, *options, status=status).stdout
    document = json.loads(output)
    return {entry["url"].rsplit("/", 1)[1]: entry for entry in document["entries"]}, document


def make(name, entries):
    origin.make_apple(maker, path(name), list(entries))
    return path(name)


@pytest.fixture
def cache(base):
    """A cache with an entry for each path of the origin."""
    return make("cache", stored_entries(base))


def files(folder):
    result = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(parent, name), "rb") as file:
                result[os.path.join(parent, name)] = file.read()
    return result


def test_report(base, cache):
    """`revalidate` reports the answer of the origin for each entry, changes nothing, and asks what `explain` shows."""
    before = files(cache)
    Origin.asked.clear()
    entries, document = revalidate(cache, "--all", status=3)
    assert files(cache) == before
    for name, wanted in OUTCOMES.items():
        entry = entries[name]
        assert (entry["outcome"], entry["decided_by"], entry["reason"]) == wanted, entry
        assert entry["action"] == "none" and entry["hindrance"] is None, entry
        is_304 = entry["outcome"] == "unchanged" and name != "ignores"
        assert entry["saved_bytes"] == (len(origin.LARGE_BODY if name == "large" else origin.OLD_BODY) if is_304 else 0), entry
    assert entries.keys() == OUTCOMES.keys() == origin.STORED.keys()
    assert entries["redirect"]["location"] == "/etag" and entries["404"]["status"] == 404, entries
    assert document["saved_bytes"] == sum(entry["saved_bytes"] for entry in entries.values())
    for outcome in {wanted[0] for wanted in OUTCOMES.values()}:
        number = document[outcome.replace("-", "_")]
        assert number == sum(entry["outcome"] == outcome for entry in entries.values()), (outcome, number)
    # A request on a connection that turns out to be closed may come again.
    assert document["asked"] == len(OUTCOMES) - 1 == len({asked for asked, _ in Origin.asked})
    explained = json.loads(run("-c", cache, "--all", "--format", "json", verb="explain", status=1).stdout)
    conditions = {"/" + entry["url"].rsplit("/", 1)[1]: entry["conditional_request"]["headers"] for entry in explained["entries"]}
    for asked, fields in Origin.asked:
        for name in ["If-None-Match", "If-Modified-Since", "Accept-Language", "Range", "Cookie"]:
            said = {key.lower(): value for key, value in conditions[asked].items()}.get(name.lower())
            assert fields[name] == said, (asked, name, fields[name], said)
    text = run("-c", cache, base + "etag", base + "redirect", base + "rolled-tag", base + "500", status=3).stdout.decode()
    text = text.replace(base, "http://origin/")
    assert text == """\
OUTCOME      BY    SAVES  ACTION  URL
unchanged    etag    8 B  -       http://origin/etag
rolled-back  etag      -  -       http://origin/rolled-tag
redirected   -         -  -       http://origin/redirect (to /etag)
failed       -         -  -       http://origin/500 (the status is 500)

4 requested, 1 unchanged, 1 rolled-back, 1 redirected, 1 failed
Not downloaded again, because it is still valid: 8 B
""", text


def test_validators(base, cache):
    """'--send-validator' chooses the validators of the request."""
    for choice, tag, since in [("etag", '"1"', None), ("last-modified", None, origin.LATER), ("auto", '"1"', origin.LATER)]:
        Origin.asked.clear()
        entries, _ = revalidate(cache, base + "both", "--send-validator", choice)
        fields = Origin.asked[0][1]
        assert (fields["If-None-Match"], fields["If-Modified-Since"]) == (tag, since), choice
        decided = "etag" if tag else "last-modified"
        assert entries["both"]["decided_by"] == decided and len(entries["both"]["sent"]) == (2 if choice == "auto" else 1)
    entries, document = revalidate(cache, base + "modified", "--send-validator", "etag")
    assert entries["modified"]["outcome"] == "no-validator" and document["asked"] == 0


def test_redirects(base, cache):
    """'--follow' follows a redirect, but not to another name of this machine, and not to a file."""
    entries, _ = revalidate(cache, base + "redirect", "--follow")
    assert entries["redirect"]["outcome"] == "unchanged", entries
    entries, _ = revalidate(cache, base + "elsewhere", "--follow", status=3)
    assert entries["elsewhere"]["reason"] == "private-address", entries
    Origin.asked.clear()
    files_only = make("files", [(base + "to-file", 200, {"ETag": '"1"'}, b"", {}, None)])
    entries, _ = revalidate(files_only, "--all", "--follow", status=1)
    assert entries["to-file"]["outcome"] == "redirected" and len(Origin.asked) == 1, (entries, Origin.asked)


def test_incomplete_bodies(base):
    """The request for an incomplete body asks for the rest only; an answer that does not fit is not joined to the body."""
    part = {"ETag": '"1"', "Content-Length": "9"}
    parts = make("parts", [(base + name, 200, part, b"x", {}, None) for name in ["rest", "rest-of-another"]])
    Origin.asked.clear()
    entries, document = revalidate(parts, "--all", "--refresh", "--yes", status=3)
    assert {fields["Range"] for _, fields in Origin.asked} == {"bytes=1-"}, Origin.asked
    assert {fields["If-Range"] for _, fields in Origin.asked} == {'"1"'}, Origin.asked
    rest, other = entries["rest"], entries["rest-of-another"]
    assert (rest["outcome"], rest["decided_by"], rest["status"], rest["action"]) == ("incomplete", "etag", 206, "none"), rest
    assert rest["hindrance"] == "partial-content" and rest["saved_bytes"] == 0, rest
    assert (other["outcome"], other["status"], other["action"]) == ("changed", 200, "replace"), other


def test_scheme(base):
    """The case of the scheme does not matter."""
    shouted = make("shouted", [(base.replace("http", "HTTP", 1) + "etag", 200, {"ETag": '"1"'}, b"", {}, None)])
    entries, _ = revalidate(shouted, "--all")
    assert entries["etag"]["outcome"] == "unchanged", entries


def test_options(base, cache):
    """Options that make no sense, and URLs without an entry, are refused."""
    run("-c", cache, base + "absent", "--format", "json", status=1)
    run("-c", cache, status=64)
    run("-c", cache, "--all", "--refresh", status=64)
    run("-c", cache, "--all", "--refresh", "--purge-changed", "--yes", status=64)
    run("-c", cache, "--all", "--timeout", "0s", status=64)


def test_pace(base):
    """There are at most two requests to a host at once, and no more in a second than '--rate' allows."""
    started = time.monotonic()
    entries = [(base + f"pause?{number}", 200, {"ETag": '"1"'}, b"", {}, None) for number in range(8)]
    Origin.most = 0
    revalidate(make("pauses", entries), "--all")
    taken = time.monotonic() - started
    assert Origin.most == 2 and taken > 1.1, (Origin.most, taken)
    started = time.monotonic()
    revalidate(path("pauses"), "--all", "--rate", "4")
    assert time.monotonic() - started > 1.7


def test_hostile_entries(base):
    """Hostile URLs and header fields of entries are not asked for."""
    port = base.rsplit(":", 1)[1]
    tag = {"ETag": '"1"'}
    request = {"Accept": "*/*", "Accept-Language": "en"}
    urls = {
        f"http://127.0.0.1:{port}etag?ok": ("unchanged", None), f"http://localhost:{port}etag?ok": ("unchanged", None),
        f"http://127.1:{port}etag?short": ("failed", "private-address"),
        f"http://2130706433:{port}etag?number": ("failed", "private-address"),
        f"http://0x7f000001:{port}etag?hex": ("failed", "private-address"),
        "http://no-such-host.invalid/etag?a": ("failed", "no-such-host"),
        "file:///etc/passwd?": ("not-asked", "url"), "ftp://127.0.0.1/?": ("not-asked", "url"),
        "http:///?": ("not-asked", "url"), "data:text/plain,x?": ("not-asked", "url"),
        "http://127.0.0.1:1/?closed": ("failed", "connection"),
    }
    entries = [(url, 200, tag, b"x", dict(request), None) for url in urls]
    entries.append((base + "etag?post", 200, tag, b"x", {"method": "POST"}, None))
    entries.append((base + "etag?part", 200, {"ETag": 'W/"1"', "Content-Length": "9"}, b"x", {}, None))
    # A validator, and a name in 'Vary', that would end the line or the request.
    entries.append((base + "etag?split", 200, {"ETag": '"1"\r\nX-Evil: 1', "Vary": "X-Evil, Host, Content-Length, Transfer-Encoding"},
                    b"x", {"X-Evil": "a\r\nb: c", "Host": "evil", "Content-Length": "5", "Transfer-Encoding": "chunked"}, None))
    entries.append((base + "etag?named", 200, {**tag, "Vary": "Host, Content-Length, X-Good"}, b"x",
                    {"Host": "evil", "Content-Length": "5", "X-Good": "1"}, None))
    cache = make("refusals", entries)
    Origin.asked.clear()
    document = json.loads(run("-c", cache, "--all", "--format", "json", status=3).stdout)
    found = {entry["url"]: entry for entry in document["entries"]}
    for url, wanted in urls.items():
        assert (found[url]["outcome"], found[url]["reason"]) == wanted, found[url]
    assert found[base + "etag?post"]["reason"] == "method" and found[base + "etag?part"]["reason"] == "incomplete-body"
    assert found[base + "etag?split"]["outcome"] == "no-validator", found[base + "etag?split"]
    paths = sorted(asked for asked, _ in Origin.asked)
    assert paths == ["/etag?named", "/etag?ok", "/etag?ok"], paths
    for asked, fields in Origin.asked:
        assert not any(fields[name] for name in ["X-Evil", "Content-Length"]), fields.items()
        assert fields["Host"].endswith(port.strip("/")) and fields["X-Good"] == ("1" if "named" in asked else None)


def test_unknown_fields(base):
    """Unknown fields are not sent to another origin."""
    Origin.other = origin.start()
    fields = {"X-Tenant": "t", "Accept": "*/*"}
    vary = {"ETag": '"1"', "Vary": "X-Tenant, Accept"}
    cache = make("fields", [(base + name, 200, vary, b"x", dict(fields), None) for name in ["etag", "other-origin"]])
    run("-c", cache, "--all", "--follow", "--with-credentials")
    asked = [(to, fields["X-Tenant"], fields["Accept"], fields["If-None-Match"]) for to, fields in Origin.asked]
    assert sorted(asked, key=str) == sorted([
        ("/etag", "t", "*/*", '"1"'), ("/other-origin", "t", "*/*", '"1"'), ("/etag", None, "*/*", '"1"')], key=str), asked


def test_crashes(base):
    """A request that cannot be sent, and one that makes Foundation crash, fail alone."""
    tag = {"ETag": '"1"'}
    tagged = lambda name, fields={}, **request: (base + name, 200, {**tag, **fields}, b"x", request, None)
    cache = make("crashes", [tagged("etag?first"), tagged("endless"), tagged("etag?long", {"Vary": "Accept"}, Accept="x" * (1 << 20)),
                             tagged("etag?last")])
    result = run("-c", cache, "--all", "--refresh", "--yes", "--concurrency", "1", "--format", "json", status=3)
    found = {entry["url"].removeprefix(base): (entry["outcome"], entry["reason"]) for entry in json.loads(result.stdout)["entries"]}
    assert found == {"etag?first": ("unchanged", None), "endless": ("failed", "other"), "etag?long": ("failed", "not-sendable"),
                     "etag?last": ("unchanged", None)}, found


def test_user_in_url(base):
    """A user and a password in the URL are credentials, too."""
    tag = {"ETag": '"1"'}
    secret = base.replace("127.0.0.1", "user:pass@127.0.0.1") + "etag"
    cache = make("secret", [(secret, 200, tag, b"x", {}, None)])
    run("-c", cache, "--all", status=3)
    assert not Origin.asked
    run("-c", cache, "--all", "--with-credentials")
    assert Origin.asked[0][1]["Authorization"] == "Basic dXNlcjpwYXNz"


def test_refreshing(base, cache):
    """A refreshed entry is fresh again, with the header fields of the 304 or all of the 200; nothing else changes."""
    old, _ = apple_entries(cache)
    before = files(cache)
    options = ["--all", "--refresh", "--body-limit", "64KiB"]
    entries, _ = revalidate(cache, *options, "--dry-run", status=3)
    assert files(cache) == before
    actions = {name: entry["action"] for name, entry in entries.items()}
    started = int(time.time())
    entries, _ = revalidate(cache, *options, "--yes", status=3)
    assert {name: entry["action"] for name, entry in entries.items()} == actions
    new, named = apple_entries(cache)
    assert set(os.listdir(os.path.join(cache, "fsCachedData"))) == named
    assert old.keys() == new.keys()
    freshened = {"etag", "weak", "modified", "both", "large"}
    replaced = {"ignores", "changed", "changed-date", "untold", "gzip", "chunked", "vary", "rolled", "rolled-tag", "none"}
    for url, entry in new.items():
        name, then = url.removeprefix(base), old[url]
        if name not in freshened | replaced:
            # Its body file is the same, too.
            assert entry == then and actions[name] == "none", (name, entry)
            continue
        same = ["id", "hash", "policy", "time_stamp", "partition", "request", "url", "status"]
        assert all(entry[key] == then[key] for key in same), (name, entry)
        assert started <= entry["stored"] <= time.time() + 1, entry
        assert entry["fields"]["X-New"] == "1" and entry["fields"]["Cache-Control"] == "max-age=3600", entry
        assert "Age" not in entry["fields"] and "Transfer-Encoding" not in entry["fields"], entry
        assert entry["length"] == len(entry["body"])
        if name in freshened:
            assert actions[name] == "freshen" and entry["body"] == then["body"] and entry["info"] == then["info"], entry
            assert entry["on_disk"] == then["on_disk"] == (name == "large")
            assert entry["fields"]["X-Old"] == "1" and entry["mime"] == "text/plain"
            assert entry["fields"]["Content-Length"] == then["fields"]["Content-Length"], entry
            assert entry["fields"]["Content-Type"] == "text/plain", entry
        else:
            body = {"ignores": origin.OLD_BODY, "gzip": origin.LARGE_BODY, "chunked": b"chunked"}.get(name, origin.NEW_BODY)
            assert actions[name] == "replace" and entry["body"] == body and entry["info"] is None, entry
            assert entry["on_disk"] == (name == "gzip") and "X-Old" not in entry["fields"], entry
    assert new[base + "gzip"]["fields"]["Content-Encoding"] == "gzip"
    assert new[base + "vary"]["properties"] == {"Accept-Language, X-Other": {"Accept-Language": "en"}, "other": True}
    assert [entries[name]["hindrance"] for name in ["bare", "no-store"]] == ["no-validator-in-304", "not-storable"]
    assert entries["huge"]["reason"] == "too-large" and entries["cut"]["reason"] == "connection", entries["cut"]
    for line in run("-c", cache, "--format", "ndjson", "--columns", "url,freshness", verb="list").stdout.splitlines():
        entry = json.loads(line)
        is_fresh = entry["url"].removeprefix(base) in freshened | replaced
        assert entry["freshness"] == ("fresh" if is_fresh else "stale"), entry


def test_purging(base, cache):
    """'--purge-gone' and '--purge-changed' remove the entries that the origin no longer has, or has changed."""
    before = files(cache)
    entries, _ = revalidate(cache, "--all", "--purge-gone", "--purge-changed", "--dry-run", status=3)
    assert files(cache) == before
    goes = {name for name, entry in entries.items() if entry["action"] == "remove"}
    assert goes == {name for name, wanted in OUTCOMES.items() if wanted[0] in ("gone", "changed", "rolled-back")}
    run("-c", cache, "--all", "--purge-gone", "--yes", "--max-delete", "1", "--timeout", "5s", status=1)
    assert files(cache) == before
    revalidate(cache, "--all", "--purge-gone", "--yes", status=3)
    left = {url.removeprefix(base) for url in apple_entries(cache)[0]}
    assert left == OUTCOMES.keys() - {"404", "410"}, left
    entries, _ = revalidate(cache, base + "changed", base + "rolled", base + "etag", "--purge-changed", "--yes")
    left = {url.removeprefix(base) for url in apple_entries(cache)[0]}
    assert left == OUTCOMES.keys() - {"404", "410", "changed", "rolled"}, left


def test_meanwhile(base, cache):
    """Entries that the app stores again meanwhile are neither refreshed nor removed, and are reported as skipped."""
    urls = [base + name for name in ["etag", "both", "404", "410", "slow"]]
    process = subprocess.Popen([tool, "revalidate", "-c", cache, *urls, "--refresh", "--purge-gone", "--yes", "--timeout", "5s", "--format", "json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not any("slow" in str(asked) for asked in Origin.asked) and time.monotonic() < deadline:
        time.sleep(0.02)
    # All entries have been read, and none is changed before the slow one has failed.
    with sqlite3.connect(os.path.join(cache, "Cache.db")) as database:
        ids = [id for id, in database.execute("SELECT entry_ID FROM cfurl_cache_response WHERE request_key IN (?, ?)", (base + "etag", base + "404"))]
        # A response that is stored again gets a new id.
        for table in origin.TABLES:
            database.execute(f"UPDATE {table} SET entry_ID = entry_ID + 1000 WHERE entry_ID IN (?, ?)", ids)
    database.close()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 3, (process.returncode, errors)
    actions = {entry["url"].removeprefix(base): entry["action"] for entry in json.loads(output)["entries"]}
    assert actions == {"etag": "skipped", "both": "freshen", "404": "skipped", "410": "remove", "slow": "none"}, actions


@pytest.mark.needs_proc
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals(kind, base, cache):
    """The program that fetches ends when the program that asked it is interrupted, ended or killed."""
    if not shutil.which("ps"):
        pytest.skip("ps: not here")
    process = subprocess.Popen([tool, "revalidate", "-c", cache, base + "slow", "--timeout", "60s"], preexec_fn=hear_signals,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not Origin.asked and time.monotonic() < deadline:
        time.sleep(0.02)
    (child,) = subprocess.run(["ps", "--ppid", str(process.pid), "-o", "pid="], capture_output=True, text=True).stdout.split()
    process.send_signal(kind)
    assert process.wait(60) == -kind
    process.communicate()
    while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{child}"), kind


def test_no_folders(base, cache):
    """Neither program makes a folder for a cache, for cookies or for temporary files."""
    # Foundation makes such folders unless it is configured.
    folders = {name: path(name) for name in ["HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR"]}
    for folder in folders.values():
        os.mkdir(folder)
    subprocess.run([tool, "revalidate", "-c", cache, base + "etag"], check=True, capture_output=True, env=os.environ | folders)
    assert [os.listdir(folder) for folder in folders.values()] == [[]] * len(folders), folders


def test_linked_libraries():
    """Only the program that fetches is linked with networking."""
    if not shutil.which("ldd"):
        pytest.skip("ldd: not here")
    linked = {program: subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout for program in [tool, tool + "-fetch"]}
    assert "FoundationNetworking" in linked[tool + "-fetch"]
    assert "FoundationNetworking" not in linked[tool] and "curl" not in linked[tool], linked[tool]


def test_without_fetcher(base, cache):
    """Without the program that fetches, nothing is asked, and an error names it; with one that breaks the protocol, the status is 70."""
    alone = path("alone")
    os.mkdir(alone)
    shutil.copy(tool, alone)
    result = subprocess.run([os.path.join(alone, "urlcache-admin"), "revalidate", "-c", cache, base + "etag"],
                            capture_output=True)
    assert result.returncode == 69 and b"'urlcache-admin-fetch'" in result.stderr and not Origin.asked, result
    # A fetcher that ends, or sends something else, or too much.
    for script in ["exit 0", "printf 'X nonsense of more than nine bytes'", "printf 'H\\0\\0\\0\\0\\377\\377\\377\\377'",
                   "printf 'Q\\0\\0\\0\\0\\0\\0\\0\\0'"]:
        with open(os.path.join(alone, "urlcache-admin-fetch"), "w") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(os.path.join(alone, "urlcache-admin-fetch"), 0o755)
        result = subprocess.run([os.path.join(alone, "urlcache-admin"), "revalidate", "-c", cache, base + "etag"],
                                capture_output=True)
        assert result.returncode == 70, (script, result)


def test_installed_fetcher(base, cache):
    """The program that fetches is found in 'libexec' of an installation."""
    installed = path("installed")
    os.makedirs(os.path.join(installed, "libexec/urlcache-admin"))
    os.mkdir(os.path.join(installed, "bin"))
    shutil.copy(tool, os.path.join(installed, "bin"))
    shutil.copy(tool + "-fetch", os.path.join(installed, "libexec/urlcache-admin"))
    subprocess.run([os.path.join(installed, "bin/urlcache-admin"), "revalidate", "-c", cache, base + "etag"], check=True, capture_output=True)
