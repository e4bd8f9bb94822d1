"""What was removed from a WebKit cache comes back from its backup as it was, into the same cache and into no other."""

import json
import os
import shutil
import subprocess

import pytest

import webkit_samples
import scratch
from scratch import path, run, tool, tree
from webkit_records import Cache

NOW = 1_795_000_000


def entries(cache):
    return [json.loads(line) for line in run("list", cache, "--format", "ndjson", "--columns", "all").stdout.splitlines()]


def contents(cache):
    """The bytes of each file, and which names are one file."""
    files = {os.path.relpath(os.path.join(folder, name), cache): os.path.join(folder, name) for folder, _, names in os.walk(cache) for name in names}
    data, inodes = {}, {}
    for name, file in files.items():
        with open(file, "rb") as reader:
            data[name] = reader.read()
        inodes.setdefault(os.lstat(file).st_ino, set()).add(name)
    return data, sorted(map(sorted, inodes.values()))


def aged(cache):
    for folder, _, names in os.walk(cache):
        for name in names:
            os.utime(os.path.join(folder, name), (NOW, NOW))


@pytest.mark.parametrize("sample", ["plain/store", "large/store", "partitions/forged-cocoa-v16", "partitions/forged-cocoa-v17", "partitions/forged-cocoa-v18"])
def test_back_as_it_was(sample):
    """Every byte of every record, also of ranges and partitions with the same URL, and bodies that are one file."""
    cache = webkit_samples.unpack(sample, "cache")
    aged(cache)
    before = contents(cache)
    count = len([entry for entry in entries(cache) if entry.get("type", "resource") == "resource"])
    lists = {name for name in before[0] if "/SubResources/" in name}
    run("purge", "-c", cache, "--all", "--yes", "--backup", path("copy.tar"))
    assert not [entry for entry in entries(cache) if entry.get("type", "resource") == "resource"]
    result = json.loads(run("import", path("copy.tar"), "-c", cache, "--format", "json").stdout)
    assert result["added"]["entries"] == count and result["rejected"]["entries"] == 0, result
    after = contents(cache)
    assert {name: data for name, data in after[0].items() if name not in lists} == {name: data for name, data in before[0].items() if name not in lists}
    assert [names for names in after[1] if not lists & set(names)] == [names for names in before[1] if not lists & set(names)]
    run("check", "--full", cache, status=None)
    # Once more changes nothing.
    run("import", path("copy.tar"), "-c", cache)
    assert contents(cache) == after


def made(name, salt=b"12345678"):
    cache = Cache(path(name), salt=salt)
    for number in range(4):
        cache.store(f"http://a.example/{number}", bytes([number]) * 3_000 * number)
    aged(cache.folder)
    return cache


def test_into_no_other_cache():
    cache, other = made("cache"), made("other", salt=b"87654321")
    run("export", "-c", cache.folder, "-o", path("copy.tar"))
    run("purge", "-c", other.folder, "--all", "--yes")
    before = tree(other.folder)
    result = run("import", path("copy.tar"), "-c", other.folder, status=3)
    assert b"another salt, so WebKit would not find it" in result.stdout and tree(other.folder) == before, result


@pytest.mark.parametrize("words", [["--redact"], ["apple"], ["har"]])
def test_only_a_backup(words):
    """What has lost its record, as it was redacted or comes from elsewhere, is refused, and says so."""
    cache = made("cache")
    if words == ["apple"]:
        run("export", "-c", cache.folder, "-o", path("first.tar"))
        run("import", path("first.tar"), "-c", path("apple"), "--create", "apple")
        run("export", "-c", path("apple"), "-o", path("copy.tar"))
    else:
        run("export", "-c", cache.folder, "-o", path("copy.har" if words == ["har"] else "copy.tar"), *(words if words != ["har"] else []))
    run("purge", "-c", cache.folder, "--all", "--yes")
    before = tree(cache.folder)
    result = run("import", path("copy.har" if words == ["har"] else "copy.tar"), "-c", cache.folder, status=None)
    assert result.returncode in (3, 64, 65) and tree(cache.folder) == before, result


def test_the_newer_stays():
    """An entry that WebKit has stored since is not replaced, unless that is wanted."""
    cache = made("cache")
    run("export", "-c", cache.folder, "-o", path("copy.tar"))
    cache.store("http://a.example/1", b"new", time=NOW + 100)
    for words, size in ([], 3), (["--on-conflict", "replace", "--yes"], 3_000):
        run("import", path("copy.tar"), "-c", cache.folder, *words, status=None)
        assert {entry["url"]: entry["size"] for entry in entries(cache.folder)}["http://a.example/1"] == size, words
    assert run("check", "--full", cache.folder).stdout.endswith(b"4 entries, 0 errors, 0 warnings, 0 notes\n")


def test_secrets_do_not_come_with_it():
    """The record of a backup has the header fields once more: a redacted archive is without it."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/1", fields=[("Set-Cookie", "session=SECRETCOOKIE1; Path=/")])
    run("export", "-c", cache.folder, "-o", path("plain.tar"))
    run("export", "-c", cache.folder, "-o", path("redacted.tar"), "--redact")
    import base64
    import re
    for name, expected in ("plain.tar", True), ("redacted.tar", False):
        with open(path(name), "rb") as file:
            data = file.read()
        decoded = b"".join(base64.b64decode(text + b"=" * (-len(text) % 4)) for text in re.findall(rb'"([A-Za-z0-9+/]{40,}=*)"', data))
        assert (b"SECRETCOOKIE1" in data + decoded) == expected, name


def test_links_lead_nowhere():
    """A link in place of a folder of the cache is not followed."""
    cache = made("cache")
    run("purge", "-c", cache.folder, "--all", "--yes", "--backup", path("copy.tar"))
    os.makedirs(path("elsewhere"))
    shutil.rmtree(os.path.join(cache.root, "Records", os.listdir(os.path.join(cache.root, "Records"))[0])) if os.listdir(os.path.join(cache.root, "Records")) else None
    os.symlink(path("elsewhere"), os.path.dirname(os.path.dirname(cache.path("http://a.example/1"))))
    result = run("import", path("copy.tar"), "-c", cache.folder, status=None)
    assert result.returncode != 0 and os.listdir(path("elsewhere")) == [], result


def test_killed_while_restoring():
    """Wherever it is killed: no entry is wrong, and the next command removes what was being written."""
    cache = made("cache")
    before = contents(cache.folder)
    run("purge", "-c", cache.folder, "--all", "--yes", "--backup", path("copy.tar"))
    environment = dict(os.environ, XDG_STATE_HOME=path("state"))
    for count in range(1, 60):
        shutil.rmtree(path("trial"), ignore_errors=True)
        shutil.copytree(cache.folder, path("trial"))
        killed = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", "trace=linkat,unlinkat", "-e", f"inject=linkat,unlinkat:signal=KILL:when={count}", tool, "import", path("copy.tar"), "-c", path("trial")],
                                capture_output=True, env=environment)
        found = entries(path("trial"))
        assert all(not entry["notes"] for entry in found), (count, found)
        if killed.returncode == 0:
            break
        subprocess.run([tool, "import", path("copy.tar"), "-c", path("trial")], check=True, capture_output=True, env=environment)
        assert contents(path("trial"))[0] == before[0], count
    assert count > 5


@pytest.mark.parametrize("kind", ["zeros", "link", "pipe"])
def test_what_is_in_the_way(kind):
    """Only the body itself counts as a body that is there already, neither what has its name, nor what a killed command left of it."""
    cache = Cache(path("cache"))
    record = cache.store("http://a.example/1", b"body " * 3_000)
    run("export", cache.folder, "-o", path("backup.tar"))
    [name] = os.listdir(os.path.join(cache.root, "Blobs"))
    blob, victim = os.path.join(cache.root, "Blobs", name), scratch.write("victim", b"mine")
    os.remove(record)
    for file in (blob, record + "-blob"):
        os.remove(file)
        if kind == "zeros":
            with open(file, "wb") as data:
                data.write(bytes(15_000))
        elif kind == "link":
            os.symlink(victim, file)
        else:
            os.mkfifo(file)
    run("import", path("backup.tar"), "-c", cache.folder)
    assert b" 0 errors" in run("check", "--full", cache.folder, status=None).stdout
    assert run("body", "-c", cache.folder, "http://a.example/1").stdout == b"body " * 3_000
    assert os.stat(blob).st_nlink == 2 and os.path.samefile(blob, record + "-blob")
    with open(victim, "rb") as file:
        assert file.read() == b"mine"


def test_url_that_the_record_does_not_have():
    """An entry is selected by the URL that a backup shows: a record with another one behind it is not put back."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/shown", b"body")
    run("export", cache.folder, "-o", path("backup.tar"))
    run("purge", "-c", cache.folder, "--all", "--yes")
    os.mkdir(path("unpacked"))
    subprocess.run(["bsdtar", "-xf", path("backup.tar"), "-C", path("unpacked")], check=True)
    before = scratch.digests(path("unpacked"))
    assert any(b"http://a.example/shown" in scratch.read(os.path.join(path("unpacked"), name)) for name in before)

    def replace(old, new, names):
        for name in names:
            file = os.path.join(path("unpacked"), name)
            data = scratch.read(file).replace(old, new)
            with open(file, "wb") as opened:
                opened.write(data)

    # All but the record, which is in Base64; then the digests of what changed, in those that contain them.
    replace(b"http://a.example/shown", b"http://a.example/other", before)
    for kind in ("plist", "json", "SHA256SUMS"):
        after = scratch.digests(path("unpacked"))
        for name in before:
            if name.endswith(kind) and kind != "SHA256SUMS":
                replace(before[name].encode(), after[name].encode(), [other for other in before if not other.endswith("plist")])
    members = subprocess.run(["bsdtar", "-tf", path("backup.tar")], check=True, capture_output=True, text=True).stdout.split()
    # In their order, which the reader relies on.
    subprocess.run(["bsdtar", "-cf", path("changed.tar"), "-C", path("unpacked"), "-n", *members], check=True)
    result = run("import", path("changed.tar"), "-c", cache.folder, "--yes", status=3)
    assert b"its URL differs from the URL in its record" in result.stdout and run("list", cache.folder, "--format", "urls").stdout == b"", result
