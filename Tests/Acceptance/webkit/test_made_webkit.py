"""WebKit caches that are made for one question each: hostile sizes, secrets, partitions, many entries."""

import hashlib
import json
import os
import random
import subprocess
import sys

import pytest

import scratch
from products import maker
from scratch import path, run
from webkit_records import Cache


def make_sample(name, *words):
    subprocess.run([maker, "--format", "webkit", "--seed", "1", *words, path(name)], check=True)


def entries(cache):
    return [json.loads(line) for line in run("list", cache.folder, "--format", "ndjson", "--columns", "all").stdout.splitlines()]


def test_written_as_webkit_does():
    """The records that the other tests here make are sound: else they would prove nothing."""
    for version in (16, 17, 18):
        cache = Cache(path(f"v{version}"), version)
        for number in range(20):
            cache.store(f"http://a.example/{number}", bytes(number * 1_000), fields=[("ETag", f'"{number}"')], partition="a.example" if number % 2 else "")
        assert run("check", "--full", cache.folder).stdout.endswith(b"20 entries, 0 errors, 0 warnings, 0 notes\n")
        assert sorted(entry["size"] for entry in entries(cache)) == [number * 1_000 for number in range(20)]


def test_sample_caches():
    """The caches that `sample` makes are sound, hold lists, redirects, long bodies and partitions, and have the faults that were asked for."""
    make_sample("sound", "--entries", "1000")
    cache = path("sound")
    output = json.loads(run("check", "--full", cache, "--format", "json", status=None).stdout)
    assert not [finding for finding in output["findings"] if finding["code"] not in ("no-store", "no-cache-without-validator")]
    found = [json.loads(line) for line in run("list", cache, "--format", "ndjson", "--columns", "all").stdout.splitlines()]
    responses = [entry for entry in found if entry["type"] == "resource"]
    assert len(responses) == 1_000 and {entry["type"] for entry in found} == {"resource", "subresources"}
    assert {200, 301, 404} == {entry["status"] for entry in responses} and any(entry["partition"] for entry in responses)
    version = os.path.join(cache, "Version 17")
    blobs = os.listdir(os.path.join(version, "Blobs"))
    assert len(blobs) > 100 and all(os.lstat(os.path.join(version, "Blobs", blob)).st_nlink > 1 for blob in blobs)
    # Its hashes, by other code than that which made them.
    with open(os.path.join(version, "salt"), "rb") as file:
        salt = file.read()
    for entry in found:
        kind = {"resource": "Resource", "subresources": "SubResources"}[entry["type"]]
        assert hashlib.sha1(salt + f"{entry['partition'] or ''}{kind}{entry['url']}".encode()).hexdigest().upper() == entry["id"]
    make_sample("faulty", "--entries", "400", "--faults", "orphan-files,missing-bodies,undecodable")
    codes = [finding["code"] for finding in json.loads(run("check", path("faulty"), "--format", "json", status=None).stdout)["findings"]]
    assert codes.count("missing-body-file") == 10 and codes.count("orphaned-blob") == codes.count("lone-blob") == 2 and "undecodable" in codes, codes


@pytest.mark.parametrize("sizes", [{"header_size": 2 ** 64 - 1}, {"body_size": 2 ** 64 - 1}, {"header_size": 2 ** 63 - 1, "body_size": 2 ** 63 - 1},
                                   {"header_size": 2 ** 63}, {"body_size": 2 ** 40}, {"header_size": 5 << 20}, {"header_size": 0}, {"body_size": 0}])
def test_sizes_that_are_not_true(sizes):
    """A record can claim any size, with the right checksum. It is an entry with a note, and takes no memory."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/1")
    lying = cache.store("http://a.example/2", sizes=sizes)
    found = {entry["url"]: entry for entry in entries(cache)}
    assert len(found) == 2 and not found["http://a.example/1"]["notes"] and found["http://a.example/2"]["notes"], found
    for words in ["usage"], ["check", "--full"], ["audit"], ["grep", "body"], ["explain", "--all"], ["report", "-o", path("report.html")]:
        assert run(words[0], "-c", cache.folder, *words[1:], status=None).returncode in (0, 1, 3), words
    run("body", "-c", cache.folder, os.path.basename(lying), status=None)
    run("export", "-c", cache.folder, "-o", path("copy.tar"), status=None)
    assert json.loads(run("purge", "-c", cache.folder, os.path.basename(lying), "--yes", "--format", "json").stdout)["removed"]["entries"] == 1
    assert [entry["url"] for entry in entries(cache)] == ["http://a.example/1"]


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -float("inf"), 1e300, -1e18, 5e-324])
def test_times_that_are_none(time):
    cache = Cache(path("cache"))
    cache.store("http://a.example/1", time=time)
    [entry] = entries(cache)
    assert entry["url"] == "http://a.example/1" and (entry["stored"] is None or time == 5e-324)
    for words in ["check"], ["explain", "--all"], ["usage"], ["enforce", "--max-age", "1d", "-n"]:
        run(words[0], "-c", cache.folder, *words[1:], status=None)


def test_secrets_are_found():
    """Set-Cookie, the cookies that `Vary` recorded, and tokens in URLs and bodies."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/?access_token=SECRETTOKEN1234567890", b'{"password": "SECRETPASSWORD1"}', mime="application/json",
                fields=[("Set-Cookie", "session=SECRETCOOKIE1; Path=/"), ("Vary", "Cookie, Authorization"), ("Content-Type", "application/json")],
                vary=[("Cookie", "sessionid=SECRETCOOKIE2"), ("Authorization", "Bearer SECRETBEARER1")])
    shown = run("show", "-c", cache.folder, os.path.basename(cache.path("http://a.example/?access_token=SECRETTOKEN1234567890"))).stdout
    assert b"SECRET" not in shown
    report = run("audit", cache.folder, "--show-secrets", "--format", "json", status=1).stdout
    for secret in (b"SECRETTOKEN1234567890", b"SECRETCOOKIE1", b"SECRETCOOKIE2", b"SECRETBEARER1", b"SECRETPASSWORD1"):
        assert secret in report, secret
    run("export", "-c", cache.folder, "--redact", "--redact-bodies", "-o", path("redacted.tar"))
    assert b"SECRET" not in scratch.read(path("redacted.tar"))


def test_secrets_beside_responses():
    """The request that a redirect leads to, and what a page loaded, have URLs and fields of their own."""
    cache = Cache(path("cache"))
    cache.store("https://a.example/login", b"", status=302, fields=[("Location", "/in")],
                redirect=("https://a.example/in?access_token=SECRETx7Kq92LmZ4vB81", [("Referer", "https://a.example/?password=SECRETw3Rt58NpQ6yC27"),
                                                                               ("Authorization", "Bearer SECRETBEARER2")]))
    page = "https://a.example/page?session_id=SECRETq6Lp27RiJ3sG48"
    cache.store_list(page, [("https://a.example/a.js?api_key=SECRETj5Hd73FsW8uE94", [("Referer", page), ("X-Api-Key", "SECRETg2Mb64VxT9kA35")]),
                            ("https://a.example/once.js?access_token=SECRETe8Zn41YcU7oD56", None)])
    report = json.loads(run("audit", cache.folder, "--show-secrets", "--format", "json", status=1).stdout)["findings"]
    places = {finding["secret"]["text"]: (finding["place"], finding["name"]) for finding in report if finding["secret"]}
    for secret, place in [("SECRETx7Kq92LmZ4vB81", "redirect-request"), ("SECRETw3Rt58NpQ6yC27", "redirect-request"), ("SECRETBEARER2", "redirect-request"),
                          ("SECRETj5Hd73FsW8uE94", "subresources"), ("SECRETg2Mb64VxT9kA35", "subresources"), ("SECRETe8Zn41YcU7oD56", "subresources")]:
        assert places[secret] == ("property", place), places
    assert [finding["place"] for finding in report if finding["secret"] and finding["secret"]["text"] == "SECRETq6Lp27RiJ3sG48"] == ["url", "property"]
    for words in ["show", "-c", cache.folder, os.path.basename(cache.path(page, type="SubResources"))], ["audit", cache.folder], \
            ["show", "-c", cache.folder, "https://a.example/login", "--format", "json"]:
        assert b"SECRET" not in run(*words, status=None).stdout, words
    # About a list, nothing else is found: it is no response.
    assert {finding["rule"].partition("/")[0] for finding in report if (finding["url"] or "").startswith("https://a.example/page")} == {"secret"}


def test_one_url_of_several_sites():
    """A URL has an entry for each top-level site and each range; naming the URL means all of them."""
    cache = Cache(path("cache"))
    url = "http://cdn.example/lib.js"
    for partition in ("a.example", "b.example", "c.example"):
        cache.store(url, partition.encode(), partition=partition)
    cache.store(url, b"part", partition="a.example", range="bytes=0-3", status=206)
    cache.store("http://cdn.example/other.js", partition="a.example")
    found = [entry for entry in entries(cache) if entry["url"] == url]
    assert sorted((entry["partition"], entry["size"]) for entry in found) == [("a.example", 4), ("a.example", 9), ("b.example", 9), ("c.example", 9)]
    assert len(json.loads(run("show", "-c", cache.folder, url, "--format", "json").stdout)) == 4
    run("purge", "-c", cache.folder, "--partition", "b.example", "--yes")
    assert sorted(entry["partition"] for entry in entries(cache) if entry["url"] == url) == ["a.example", "a.example", "c.example"]
    run("purge", "-c", cache.folder, url, "--yes")
    assert [entry["url"] for entry in entries(cache)] == ["http://cdn.example/other.js"]


def test_long_urls_and_headers():
    """What does not fit into the first 4 KiB of a record is read as well."""
    cache = Cache(path("cache"))
    url = "http://a.example/" + "x" * 100_000
    cache.store(url, fields=[(f"X-{number}", "y" * 1_000) for number in range(300)] + [("ETag", '"1"')])
    [entry] = entries(cache)
    assert entry["url"] == url and entry["etag"] == '"1"' and entry["notes"] == []


def test_shared_bodies_and_limits():
    """A body that several entries have is counted once, and its space is free with the last of them."""
    cache = Cache(path("cache"))
    for number in range(5):
        cache.store(f"http://a.example/{number}", b"z" * 1_000_000, time=1_795_000_000 + number)
    cache.store("http://a.example/small", time=1_795_000_100)
    usage = json.loads(run("usage", cache.folder, "--format", "json").stdout)
    inodes = {status.st_ino: status for folder, _, names in os.walk(os.path.join(cache.root, "Records")) for name in names for status in [os.lstat(os.path.join(folder, name))]}
    assert usage["in_use_bytes"] == sum(status.st_blocks * 512 for status in inodes.values()), usage
    assert 1_000_000 <= usage["footprint"]["total_bytes"] < 1_010_000, usage
    receipt = json.loads(run("enforce", "-c", cache.folder, "--max-size", "500000", "--yes", "--format", "json").stdout)
    assert receipt["removed"]["entries"] == 5
    assert [entry["url"] for entry in entries(cache)] == ["http://a.example/small"] and os.listdir(os.path.join(cache.root, "Blobs")) == []


def test_least_recently_used_first():
    """WebKit sets the time of a file when it uses it. Looking does not; '--order oldest' goes by the time of storing."""
    cache = Cache(path("cache"))
    chosen = random.Random(5)
    used = chosen.sample(range(1_795_000_100, 1_795_000_200), 12)
    for number, moment in enumerate(used):
        file = cache.store(f"http://a.example/{number}", bytes(6_000 * (number % 2)), time=1_795_000_000 + number)
        os.utime(file, (moment, moment))
    for words in ["list"], ["check", "--full"], ["body", "--force", "http://a.example/1", "-o", path("body")], ["export", "-o", path("copy.tar")]:
        run(words[0], "-c", cache.folder, *words[1:], status=None)
    expected = [f"http://a.example/{number}" for number in sorted(range(12), key=lambda number: used[number])]

    def removed(*words):
        return {entry["url"] for entry in json.loads(run("enforce", "-c", cache.folder, "--max-entries", "5", "--format", "json", *words).stdout)["entries"]}

    assert removed("-n", "--order", "oldest") == {f"http://a.example/{number}" for number in range(7)}
    assert removed("-n", "--order", "least-recently-used") == set(expected[:7]) == removed("--yes")
    assert {entry["url"] for entry in entries(cache)} == set(expected[7:])


def test_other_caches_record_no_use():
    subprocess.run([maker, "--entries", "3", "--seed", "1", path("apple")], check=True, capture_output=True)
    result = run("enforce", "-c", path("apple"), "--max-entries", "1", "--order", "least-recently-used", "-n", status=65)
    assert b"it does not record when its entries were used" in result.stderr


def test_records_that_are_just_written():
    """While WebKit writes, a record can be incomplete: it is an entry with a note, or none, and nothing ends badly."""
    cache = Cache(path("cache"))
    chosen = random.Random(3)
    for number in range(200):
        file = cache.store(f"http://a.example/{number}", bytes(chosen.randrange(9_000)))
        os.truncate(file, chosen.randrange(os.path.getsize(file)))
    found = entries(cache)
    assert len(found) == 200 and all(entry["notes"] for entry in found)
    assert json.loads(run("purge", "-c", cache.folder, "--all", "--yes", "--format", "json", status=None).stdout)["schema"] == "urlcache-admin.purge/1"


def changed(data, chosen):
    """The bytes with one change, which they differ by."""
    place = chosen.randrange(len(data))
    return {
        0: lambda: data[:place] + bytes([data[place] ^ chosen.randrange(1, 256)]) + data[place + 1:],
        1: lambda: data[:place],
        2: lambda: data[:place] + bytes([data[place] ^ 0x5A]) + data[place:],
        3: lambda: data[:place] + (b"\xff" * 8 if data[place:place + 8] != b"\xff" * 8 else b"\0" * 8) + data[place + 8:],
        4: lambda: data + chosen.randbytes(chosen.randrange(1, 99)),
        5: lambda: chosen.randbytes(len(data)),
    }[chosen.randrange(6)]()


def test_many_changed_records():
    """Whatever is changed in records or bodies, each is found, all others are not, and it takes little memory."""
    cache, chosen = Cache(path("cache")), random.Random(11)
    count = int(os.environ.get("CHANGED_RECORDS", "1000"))
    damaged = set()
    for number in range(count):
        url = f"http://a.example/{number}"
        partition = chosen.choice(["", "a.example"])
        if chosen.randrange(5):
            body = chosen.randbytes(chosen.choice([0, 10, 300, 5_000]))
            file = cache.store(url, body, partition=partition, fields=[("ETag", f'"{number}"'), ("Cache-Control", "max-age=60")],
                               vary=[("Cookie", "a=b")] if chosen.randrange(2) else (),
                               redirect=(url + "/to", [("Referer", url)]) if not chosen.randrange(4) else None)
        else:
            file = cache.store_list(url, [(f"{url}/{part}", [("Referer", url)] if part % 2 else None) for part in range(3)], partition=partition)
        if not chosen.randrange(10):
            continue
        if os.path.exists(file + "-blob") and chosen.randrange(2):
            file += "-blob"
        before = scratch.read(file)
        with open(file, "wb") as opened:
            opened.write(changed(before, chosen))
        assert scratch.read(file) != before
        damaged.add(os.path.basename(file).removesuffix("-blob"))
    status, errors, peak = scratch.peak_of(["check", "--full", cache.folder, "--format", "json"], path("findings"))
    assert status == 1, errors
    found = {finding["id"] for finding in json.loads(scratch.read(path("findings")))["findings"]} - {None}
    assert found == damaged and len(damaged) > count * 8 // 10, (len(found - damaged), len(damaged - found))
    assert peak <= 64 << 20, peak
    for words in ["list", cache.folder, "--columns", "all", "--format", "ndjson"], ["audit", cache.folder, "--format", "json"], ["usage", cache.folder]:
        status, errors, peak = scratch.peak_of(words, path("output"))
        assert status in (0, 1) and peak <= 64 << 20, (words, errors, peak)


def test_recovering():
    """What is left of entries without a record: bodies, and URLs that a page loaded. What has a record is not listed, nor bodies of a copied cache."""
    cache = Cache(path("cache"))
    page, style, script, kept = (f"http://a.example/{name}" for name in ("page", "style.css", "script.js", "kept.png"))
    cache.store(page)
    cache.store(kept, os.urandom(9_000))
    gone = cache.store(script, b"script " * 1_000)
    os.remove(gone)
    alone = cache.store("http://a.example/alone", b"alone " * 2_000)
    os.remove(alone)
    os.remove(alone + "-blob")
    cache.store_list(page, [(style, [("Referer", page)]), (script, None), (kept, None)])
    before = scratch.tree(cache.folder)

    def found(*words):
        output = run("recover", cache.folder, "--format", "ndjson", "--columns", "url,size,confidence,found", *words)
        return sorted(((entry["url"] or "", entry["size"], entry["confidence"], entry["found"].split("/")[0]) for entry in map(json.loads, output.stdout.splitlines())))

    assert found() == [("", 12_000, "only-body", "Blobs"), (script, 7_000, "only-body", "Records"), (style, None, "only-url", "list Records")]
    assert found("--confidence", "only-url") == [(style, None, "only-url", "list Records")]
    # There is no response that an archive could have.
    output = run("recover", cache.folder, "-o", path("found.tar"), status=1)
    assert output.stderr.decode() == (
        f"note: nothing was written to '{path('found.tar')}', because no whole entry was found\n"
        "note: entries not in the archive because only their URL or their body is left: 3\n")
    assert not os.path.exists(path("found.tar"))
    assert b"WebKit cache, which has no database" in run("recover", cache.folder, "--damaged", status=64).stderr
    assert scratch.tree(cache.folder) == before
    os.remove(gone + "-blob")
    for blob in os.listdir(os.path.join(cache.root, "Blobs")):
        if os.stat(os.path.join(cache.root, "Blobs", blob)).st_nlink == 1:
            os.remove(os.path.join(cache.root, "Blobs", blob))
    assert found() == [(script, None, "only-url", "list Records"), (style, None, "only-url", "list Records")]


def test_half_written():
    """A record that WebKit is just writing is not reported as damaged once it is written; one that stays cut off is."""
    cache = Cache(path("cache"))
    for number in range(200):
        cache.store(f"http://a.example/{number}", bytes(3_000))
    record = cache.path("http://a.example/7")
    writer = subprocess.Popen([sys.executable, "-c", """
import sys, time
record = sys.argv[1]
whole = open(record, "rb").read()
while True:
    with open(record, "wb") as file:
        file.write(whole[:1_000])
        file.flush()
        print("ready", flush=True)
        time.sleep(0.001)
        file.write(whole[1_000:])
    time.sleep(0.009)
""", record], stdout=subprocess.PIPE)
    try:
        for _ in range(40):
            # Whenever the next check begins, the record is often cut off.
            writer.stdout.readline()
            assert run("check", cache.folder).stdout.endswith(b"200 entries, 0 errors, 0 warnings, 0 notes\n")
    finally:
        writer.kill()
        writer.wait()
    with open(record, "r+b") as file:
        file.truncate(1_000)
    assert b"200 entries, 1 error, " in run("check", cache.folder, status=1).stdout


def test_lists_are_not_asked_for():
    """The list of what a page loaded came from no server: `revalidate` does not even name it."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/page", fields=[("ETag", '"1"')])
    cache.store_list("http://a.example/page", [("http://a.example/style.css", None)])
    output = json.loads(run("revalidate", "-c", cache.folder, "--all", "--dry-run", "--format", "json", status=None).stdout)
    assert [entry["url"] for entry in output["entries"]] == ["http://a.example/page"], output


@pytest.mark.parametrize("format", ["warc", "wacz"])
def test_too_long_for_an_archive(format):
    """What readers of WARC would refuse is left out and counted; the archive has the rest, and can be imported."""
    cache = Cache(path("cache"))
    long = "http://a.example/" + "u" * 70_000
    cache.store("http://a.example/1")
    cache.store(long)
    cache.store("http://a.example/2", fields=[("X-Long", "v" * 1_100_000)])
    archive = path(f"cache.{format}")
    result = run("export", cache.folder, "-o", archive, status=3)
    for reason in ("its URL is", "its header fields are"):
        assert f"1 entry was skipped because {reason} too long for a record of WARC".encode() in result.stderr, result
    run("import", archive, "-c", path("new"), "--yes")
    assert run("list", path("new"), "--format", "urls").stdout == b"http://a.example/1\n"


def test_header_too_large_to_read():
    """A list of more than 4 MiB is not read; that is no damage, and no reason to remove it."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/1")
    page = cache.store_list("http://a.example/1", [(f"http://a.example/{number}/" + "s" * 900, None) for number in range(5_000)])
    assert os.path.getsize(page) > 4 << 20
    output = json.loads(run("check", "--full", cache.folder, "--format", "json").stdout)
    assert [finding["code"] for finding in output["findings"]] == ["too-large"], output
    run("check", cache.folder, "--repair", "--yes")
    assert os.path.exists(page)


def test_salt():
    """Without its salt, WebKit finds nothing in the cache, and `check` says so."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/1")
    for change in (lambda: os.truncate(os.path.join(cache.root, "salt"), 7), lambda: os.remove(os.path.join(cache.root, "salt"))):
        change()
        output = json.loads(run("check", cache.folder, "--format", "json", status=1).stdout)
        assert [finding["code"] for finding in output["findings"]] == ["missing-salt"], output


def test_body_that_is_no_file():
    """A pipe in place of a body is an error of that entry, which no backup can have: it is removed without one, or not at all. The pipe stays."""
    cache = Cache(path("cache"))
    for number in range(3):
        cache.store(f"http://a.example/{number}", os.urandom(9_000))
    blob = cache.path("http://a.example/1") + "-blob"
    os.remove(blob)
    os.mkfifo(blob)
    output = json.loads(run("check", cache.folder, "--format", "json", status=1).stdout)
    assert [(finding["code"], finding["url"]) for finding in output["findings"] if finding["severity"] == "error"] == [
        ("not-a-regular-file", "http://a.example/1")], output
    before = scratch.tree(cache.root)
    result = run("purge", "-c", cache.folder, "--all", "--yes", "--backup", path("backup.tar"), status=1)
    assert b"cannot back up 1 of the selected entries, so nothing was removed: its body is a named pipe" in result.stderr, result
    assert scratch.tree(cache.root) == before
    run("purge", "-c", cache.folder, "http://a.example/0", "http://a.example/2", "--yes", "--backup", path("backup.tar"))
    assert sorted(run("list", path("backup.tar"), "--format", "urls").stdout.split()) == [b"http://a.example/0", b"http://a.example/2"]
    run("purge", "-c", cache.folder, "--all", "--yes")
    assert os.path.exists(blob) and run("list", cache.folder, "--format", "urls").stdout == b""


def test_files_that_others_can_read():
    """Files of all folders count together, unless a folder keeps others out."""
    os.chmod(scratch.root, 0o755)
    cache = Cache(path("cache"))
    for number in range(3):
        cache.store(f"http://a.example/{number}", os.urandom(6_000))
    for parent, folders, names in os.walk(cache.folder):
        os.chmod(parent, 0o755)
        for name in names:
            os.chmod(os.path.join(parent, name), 0o644)
    words = ["audit", cache.folder, "--rule", "privacy/readable-by-others", "--format", "json"]
    [finding] = json.loads(run(*words).stdout)["findings"]
    # The salt, three records, and three bodies, each of which has two names.
    assert finding["count"] == 7 and 18_000 < finding["bytes"] < 20_000, finding
    os.chmod(os.path.join(cache.root, "Blobs"), 0o700)
    assert json.loads(run(*words).stdout)["findings"] == [finding]
    os.chmod(os.path.join(cache.root, "Records"), 0o700)
    [finding] = json.loads(run(*words).stdout)["findings"]
    assert finding["count"] == 1 and finding["bytes"] == 8, finding
    os.chmod(cache.root, 0o700)
    assert json.loads(run(*words).stdout)["findings"] == []


def test_compression_dictionary():
    """A kind of record that has no response, as newer versions store: it is listed by its type, and neither damaged nor exported."""
    cache = Cache(path("cache"), 18)
    cache.store("http://a.example/1")
    file = cache.path("http://a.example/1", type="CompressionDictionary")
    os.makedirs(os.path.dirname(file))
    header = b"\x01\x02\x03\x04"
    with open(file, "wb") as opened:
        opened.write(cache.metadata(header, b"dictionary", "http://a.example/1", 1_795_000_000, type="CompressionDictionary") + header + b"dictionary")
    found = {entry["type"]: entry for entry in entries(cache)}
    assert found.keys() == {"resource", "compressiondictionary"} and found["compressiondictionary"]["status"] is None and not found["compressiondictionary"]["notes"]
    assert run("check", "--full", cache.folder).stdout.endswith(b"2 entries, 0 errors, 0 warnings, 0 notes\n")
    run("export", cache.folder, "-o", path("cache.tar"))
    assert run("list", path("cache.tar"), "--count").stdout == b"1\n"
    run("purge", "-c", cache.folder, "--where", "type = compressiondictionary", "--yes")
    assert not os.path.exists(file) and len(entries(cache)) == 1
