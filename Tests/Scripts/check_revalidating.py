"""Revalidates entries at an origin on this machine, and looks at the cache with `sqlite3` and `plistlib`.

    check_revalidating.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each part, and ends at the first that is not as it has to be.
"""

import json, os, shutil, signal, subprocess, sys, tempfile, time

import origin
from heard_signals import hear_signals
from origin import Origin, apple_entries, stored_entries

tool, maker = map(os.path.abspath, sys.argv[1:])
root = tempfile.mkdtemp()
os.environ["XDG_STATE_HOME"] = os.path.join(root, "state")
environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
base = origin.start()
# The outcome, what decided, and why not, of each path; what is not here is as most are.
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


def run(*arguments, status=0, verb="revalidate", **options):
    result = subprocess.run([tool, verb, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=120,
                            env=environment, **options)
    assert result.returncode == status, (arguments, result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return result


def revalidate(cache, *options, status=0):
    """The entries of the report, by their paths, and all of it."""
    # One origin never answers; all others do, however slow this machine is.
    timeout = "5s" if "--all" in options else "30s"
    output = run("-c", cache, "--format", "json", "--timeout", timeout, *options, status=status).stdout
    document = json.loads(output)
    return {entry["url"].rsplit("/", 1)[1]: entry for entry in document["entries"]}, document


def make(name, entries=None):
    folder = os.path.join(root, name)
    origin.make_apple(maker, folder, list(stored_entries(base)) if entries is None else entries)
    return folder


def files(folder):
    result = {}
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                result[os.path.join(path, name)] = file.read()
    return result


def check_report(cache):
    """All are told apart, nothing is changed, and what was asked is what `explain` shows."""
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
    assert document["asked"] == len(OUTCOMES) - 1 == len({path for path, _ in Origin.asked})
    explained = json.loads(run("-c", cache, "--all", "--format", "json", verb="explain", status=1).stdout)
    conditions = {"/" + entry["url"].rsplit("/", 1)[1]: entry["conditional_request"]["headers"] for entry in explained["entries"]}
    for path, fields in Origin.asked:
        for name in ["If-None-Match", "If-Modified-Since", "Accept-Language", "Range", "Cookie"]:
            said = {key.lower(): value for key, value in conditions[path].items()}.get(name.lower())
            assert fields[name] == said, (path, name, fields[name], said)
    text = run("-c", cache, base + "etag", base + "redirect", base + "rolled-tag", base + "500", status=3).stdout.decode()
    text = text.replace(base, "http://origin/")
    assert text == """\
OUTCOME      BY    SAVES  DONE  URL
unchanged    etag    8 B  -     http://origin/etag
rolled-back  etag      -  -     http://origin/rolled-tag
redirected   -         -  -     http://origin/redirect (to /etag)
failed       -         -  -     http://origin/500 (the status is 500)

4 asked, 1 unchanged, 1 rolled-back, 1 redirected, 1 failed
Not loaded again, as it is still good: 8 B
""", text
    print("report: ok", flush=True)


def check_asking(cache):
    """Options change what is asked, and how."""
    for choice, tag, since in [("etag", '"1"', None), ("last-modified", None, origin.LATER), ("auto", '"1"', origin.LATER)]:
        Origin.asked.clear()
        entries, _ = revalidate(cache, base + "both", "--send-validator", choice)
        fields = Origin.asked[0][1]
        assert (fields["If-None-Match"], fields["If-Modified-Since"]) == (tag, since), choice
        decided = "etag" if tag else "last-modified"
        assert entries["both"]["decided_by"] == decided and len(entries["both"]["sent"]) == (2 if choice == "auto" else 1)
    entries, document = revalidate(cache, base + "modified", "--send-validator", "etag")
    assert entries["modified"]["outcome"] == "no-validator" and document["asked"] == 0
    # A redirect is followed if that is wanted, and not to where the URL does not say it goes.
    entries, _ = revalidate(cache, base + "redirect", "--follow")
    assert entries["redirect"]["outcome"] == "unchanged", entries
    entries, _ = revalidate(cache, base + "elsewhere", "--follow", status=3)
    assert entries["elsewhere"]["reason"] == "private-address", entries
    # A file is no page of the origin.
    Origin.asked.clear()
    files_only = make("files", [(base + "to-file", 200, {"ETag": '"1"'}, b"", {}, None)])
    entries, _ = revalidate(files_only, "--all", "--follow", status=1)
    assert entries["to-file"]["outcome"] == "redirected" and len(Origin.asked) == 1, (entries, Origin.asked)
    # Of a body that is not whole the rest is asked for, and not joined to it.
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
    # The case of a scheme does not matter.
    shouted = make("shouted", [(base.replace("http", "HTTP", 1) + "etag", 200, {"ETag": '"1"'}, b"", {}, None)])
    entries, _ = revalidate(shouted, "--all")
    assert entries["etag"]["outcome"] == "unchanged", entries
    run("-c", cache, base + "absent", "--format", "json", status=1)
    run("-c", cache, status=64)
    run("-c", cache, "--all", "--refresh", status=64)
    run("-c", cache, "--all", "--refresh", "--purge-changed", "--yes", status=64)
    run("-c", cache, "--all", "--timeout", "0s", status=64)
    # At most two requests to a host at once.
    started = time.monotonic()
    entries = [(base + f"pause?{number}", 200, {"ETag": '"1"'}, b"", {}, None) for number in range(8)]
    Origin.most = 0
    revalidate(make("pauses", entries), "--all")
    taken = time.monotonic() - started
    assert Origin.most == 2 and taken > 1.1, (Origin.most, taken)
    started = time.monotonic()
    revalidate(os.path.join(root, "pauses"), "--all", "--rate", "4")
    assert time.monotonic() - started > 1.7
    print("asking: ok", flush=True)


def check_refusals():
    """What comes from a cache goes nowhere that it should not go, and brings nothing that it should not."""
    port = base.rsplit(":", 1)[1]
    tag = {"ETag": '"1"'}
    request = {"Accept": "*/*", "Cookie": "session=1", "Authorization": "Basic eDp5", "Accept-Language": "en"}
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
    # A validator, and a name in Vary, that would end the line or the request.
    entries.append((base + "etag?split", 200, {"ETag": '"1"\r\nX-Evil: 1', "Vary": "X-Evil, Host, Content-Length, Transfer-Encoding"},
                    b"x", {"X-Evil": "a\r\nb: c", "Host": "evil", "Content-Length": "5", "Transfer-Encoding": "chunked"}, None))
    entries.append((base + "etag?named", 200, {**tag, "Vary": "Host, Content-Length, Cookie, X-Good"}, b"x",
                    {"Host": "evil", "Content-Length": "5", "Cookie": "session=1", "X-Good": "1"}, None))
    cache = make("refusals", entries)
    Origin.asked.clear()
    document = json.loads(run("-c", cache, "--all", "--format", "json", status=3).stdout)
    found = {entry["url"]: entry for entry in document["entries"]}
    for url, wanted in urls.items():
        assert (found[url]["outcome"], found[url]["reason"]) == wanted, found[url]
    assert found[base + "etag?post"]["reason"] == "method" and found[base + "etag?part"]["reason"] == "incomplete-body"
    assert found[base + "etag?split"]["outcome"] == "no-validator", found[base + "etag?split"]
    paths = sorted(path for path, _ in Origin.asked)
    assert paths == ["/etag?named", "/etag?ok", "/etag?ok"], paths
    for path, fields in Origin.asked:
        assert not any(fields[name] for name in ["Cookie", "Authorization", "X-Evil", "Content-Length"]), fields.items()
        assert fields["Host"].endswith(port.strip("/")) and fields["X-Good"] == ("1" if "named" in path else None)
    assert found[base + "etag?named"]["withheld_credentials"] and found[base + "etag?ok"]["withheld_credentials"]
    Origin.asked.clear()
    run("-c", cache, base + "etag?ok", "--with-credentials")
    assert Origin.asked[0][1]["Cookie"] == "session=1" and Origin.asked[0][1]["Authorization"] == "Basic eDp5"
    # What is a secret only by its name needs to be wanted as well, and nothing of a name that is not known goes to
    # another origin.
    Origin.other = origin.start()
    keys = {"X-Api-Key": "k", "X-Tenant": "t", "Accept": "*/*"}
    vary = {**tag, "Vary": "X-Api-Key, X-Tenant, Accept"}
    cache = make("keys", [(base + "etag", 200, vary, b"x", keys, None), (base + "other-origin", 200, vary, b"x", keys, None)])
    for options, sent in [((), (None, "t")), (("--with-credentials",), ("k", "t"))]:
        Origin.asked.clear()
        run("-c", cache, "--all", "--follow", *options)
        asked = [(path, fields["X-Api-Key"], fields["X-Tenant"], fields["Accept"], fields["If-None-Match"]) for path, fields in Origin.asked]
        assert sorted(asked, key=str) == sorted([
            ("/etag", *sent, "*/*", '"1"'), ("/other-origin", *sent, "*/*", '"1"'), ("/etag", None, None, "*/*", '"1"')], key=str), asked
    # One that cannot be sent, and one that makes Foundation crash, are all that fails.
    tagged = lambda name, fields={}, **request: (base + name, 200, {**tag, **fields}, b"x", request, None)
    cache = make("crashes", [tagged("etag?first"), tagged("endless"), tagged("etag?long", {"Vary": "Accept"}, Accept="x" * (1 << 20)),
                             tagged("etag?last")])
    result = run("-c", cache, "--all", "--refresh", "--yes", "--concurrency", "1", "--format", "json", status=3)
    found = {entry["url"].removeprefix(base): (entry["outcome"], entry["reason"]) for entry in json.loads(result.stdout)["entries"]}
    assert found == {"etag?first": ("unchanged", None), "endless": ("failed", "other"), "etag?long": ("failed", "not-sendable"),
                     "etag?last": ("unchanged", None)}, found
    # A user and a password in the URL are credentials, too.
    secret = base.replace("127.0.0.1", "user:pass@127.0.0.1") + "etag"
    cache = make("secret", [(secret, 200, tag, b"x", {}, None)])
    Origin.asked.clear()
    run("-c", cache, "--all")
    assert Origin.asked[0][1]["Authorization"] is None
    run("-c", cache, "--all", "--with-credentials")
    assert Origin.asked[1][1]["Authorization"] == "Basic dXNlcjpwYXNz"
    print("refusals: ok", flush=True)


def check_refreshing():
    """What is refreshed is fresh again, with the header fields of the 304 or all of the 200, and nothing else is touched."""
    cache = make("refreshed")
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
            # Nor is its file another.
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
    print("refreshing: ok", flush=True)


def check_purging():
    cache = make("purged")
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
    print("purging: ok", flush=True)


def check_ends(cache):
    """The program that fetches ends with the one that asked, however that ends; without it nothing is asked."""
    def children(number):
        return subprocess.run(["ps", "--ppid", str(number), "-o", "pid="], capture_output=True, text=True).stdout.split()

    for kind in [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]:
        process = subprocess.Popen([tool, "revalidate", "-c", cache, base + "slow", "--timeout", "60s"], env=environment,
                                   preexec_fn=hear_signals,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60
        Origin.asked.clear()
        while not Origin.asked and time.monotonic() < deadline:
            time.sleep(0.02)
        (child,) = children(process.pid)
        process.send_signal(kind)
        assert process.wait(60) == -kind
        while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not os.path.exists(f"/proc/{child}"), kind
    # Foundation makes folders for a cache and for cookies, unless it is kept from that.
    folders = {name: os.path.join(root, name) for name in ["HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR"]}
    for folder in folders.values():
        os.mkdir(folder)
    subprocess.run([tool, "revalidate", "-c", cache, base + "etag"], check=True, capture_output=True, env={**environment, **folders})
    assert [os.listdir(folder) for folder in folders.values()] == [[]] * len(folders), folders
    # The program that reads caches has no networking.
    if shutil.which("ldd"):
        linked = {path: subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout for path in [tool, tool + "-fetch"]}
        assert "FoundationNetworking" in linked[tool + "-fetch"]
        assert "FoundationNetworking" not in linked[tool] and "curl" not in linked[tool], linked[tool]
    alone = os.path.join(root, "alone")
    os.mkdir(alone)
    shutil.copy(tool, alone)
    result = subprocess.run([os.path.join(alone, "urlcache-admin"), "revalidate", "-c", cache, base + "etag"],
                            capture_output=True, env=environment)
    assert result.returncode == 69 and b"'urlcache-admin-fetch'" in result.stderr, result
    # Where an installation has it.
    installed = os.path.join(root, "installed")
    os.makedirs(os.path.join(installed, "libexec/urlcache-admin"))
    os.mkdir(os.path.join(installed, "bin"))
    shutil.copy(tool, os.path.join(installed, "bin"))
    shutil.copy(tool + "-fetch", os.path.join(installed, "libexec/urlcache-admin"))
    subprocess.run([os.path.join(installed, "bin/urlcache-admin"), "revalidate", "-c", cache, base + "etag"], check=True,
                   capture_output=True, env=environment)
    # One that does not keep to the protocol, says too much, or ends.
    for script in ["exit 0", "printf 'X nonsense of more than nine bytes'", "printf 'H\\0\\0\\0\\0\\377\\377\\377\\377'",
                   "printf 'Q\\0\\0\\0\\0\\0\\0\\0\\0'"]:
        with open(os.path.join(alone, "urlcache-admin-fetch"), "w") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(os.path.join(alone, "urlcache-admin-fetch"), 0o755)
        result = subprocess.run([os.path.join(alone, "urlcache-admin"), "revalidate", "-c", cache, base + "etag"],
                                capture_output=True, env=environment)
        assert result.returncode == 70, (script, result)
    print("ends: ok", flush=True)


try:
    reported = make("reported")
    check_report(reported)
    check_asking(reported)
    check_refusals()
    check_refreshing()
    check_purging()
    check_ends(reported)
finally:
    shutil.rmtree(root, ignore_errors=True)
