"""Exports caches as files, and looks at what is there then."""

import hashlib
import json
import os
import plistlib
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import time

import pytest

import scratch
from heard_signals import hear_signals
from products import tool
from scratch import make, path, run

def files(folder):
    """All files of a folder by their paths in it; there is nothing else but folders."""
    result = {}
    for parent, folders, names in os.walk(folder):
        for name in folders:
            assert stat.S_IMODE(os.lstat(os.path.join(parent, name)).st_mode) == 0o700
        for name in names:
            file = os.path.join(parent, name)
            status = os.lstat(file)
            assert stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o600
            result[os.path.relpath(file, folder)] = open(file, "rb").read()
    return result


DEVICES = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)", re.I)


def check_names(found):
    """Names that every file system can have."""
    seen = {}
    for name in found:
        parts = name.split("/")
        assert len(parts) <= 20 and len(name) < 3000, name
        for depth, part in enumerate(parts, 1):
            assert re.fullmatch(r"[A-Za-z0-9._~@+,=%-]{1,170}", part) and part not in (".", ".."), name
            assert not part.endswith(".") and not DEVICES.match(part), name
            # Of what differs by the case of letters only there is one.
            whole = "/".join(parts[:depth])
            assert seen.setdefault(whole.lower(), whole) == whole, name


def listed(folder):
    found = files(folder)
    check_names(found)
    index = json.loads(found.pop("index.json"))
    assert {entry["file"] for entry in index} == found.keys() and len(index) == len(found)
    for entry in index:
        data = found[entry["file"]]
        assert (entry["size"], entry["sha256"]) == (len(data), hashlib.sha256(data).hexdigest()), entry
    return index


@pytest.mark.parametrize("options", [[], ["--format", "foundation"]], ids=["apple", "foundation"])
def test_whole_cache(options):
    """Each entry becomes a file with a name that people find, and the index names all."""
    name = "cache"
    cache = make(name, *options, entries=60)
    result = run("export", "-c", cache, "-o", path("files") + "/", "--archive-format", "files")
    index = listed(path("files"))
    ids = [str(json.loads(line)["id"]) for line in run("list", "-c", cache, "--format", "ndjson").stdout.splitlines()]
    entries = json.loads(run("show", "-c", cache, "--format", "json", "--show-secrets", *ids).stdout)
    key = lambda entry: (entry["url"], entry["sha256"], entry["size"], entry["status"])
    assert sorted(map(key, index)) == sorted(map(key, entries)), name
    assert [entry["type"] for entry in index] == [entry["mime"] for entry in entries]
    assert b"cannot store requests" in result.stderr and b"without cookies" in result.stderr, result
    assert all("." in os.path.basename(entry["file"]) for entry in index if entry["type"] in ("text/html", "image/png", "application/json"))


ODD = ["https://a.example/", "https://a.example/fd", "https://a.example/fd/x", "https://a.example/FD/x", "https://a.example/case", "https://a.example/CASE",
       "https://a.example/..", "https://a.example/../../etc/passwd", "https://a.example//double//", "https://a.example/%2e%2e/x", "https://a.example/a%2Fb",
       "https://a.example/CON", "https://a.example/nul.txt", "https://a.example/dot.", "https://a.example/" + "l" * 300, "https://a.example/" + "l" * 300 + "2",
       "https://a.example/" + "d/" * 200 + "x", "https://a.example/?" + "q=1&" * 100, "https://a.example/?" + "q=1&" * 100 + "2", "https://a.example/a b\u202e\n\x1b",
       "https://a.example:8080/", "https://u:p@a.example/user", "https://[::1]/", "https://b\u00fccher.example/\u00e4", "about:blank", "", "index.json", "index.json:x",
       "https://a.example/x\u0000y", "https://../x", "https:///x", "file:///etc/passwd", "https://a.example/a\\b", "https://a.example/-rf", "https://a.example/~"]


def test_odd_urls():
    """Whatever URLs entries have, the names of files are such that every file system can have them, and none leads elsewhere."""
    entries = len(ODD) + 2
    cache = make("odd", entries=entries, seed=7)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    for number, url in enumerate(ODD, 1):
        for column, place in [("response_object", 0), ("request_object", 1)]:
            value = plistlib.loads(database.execute(f"SELECT {column} FROM cfurl_cache_blob_data WHERE entry_ID = ?", (number,)).fetchone()[0])
            value["Array"][place] = {"_CFURLStringType": 15, "_CFURLString": url}
            database.execute(f"UPDATE cfurl_cache_blob_data SET {column} = ? WHERE entry_ID = ?", (plistlib.dumps(value, fmt=plistlib.FMT_BINARY), number))
    database.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = NULL, isDataOnFS = 0 WHERE entry_ID = ?", (entries,))
    database.commit()
    database.close()
    before = set(os.listdir(scratch.root))
    result = run("export", "-c", cache, "-o", path("odd-files"), "--archive-format", "files", status=3)
    assert b"skipped because it has no body" in result.stderr, result
    index = listed(path("odd-files"))
    assert set(os.listdir(scratch.root)) - before == {"odd-files"} and len(index) == entries - 1
    assert {entry["url"] for entry in index} >= {url.replace("u:p@", "") for url in ODD if url and "\x00" not in url}
    again = path("odd-again")
    run("export", "-c", cache, "-o", again, "--archive-format", "files", status=3)
    assert files(again) == files(path("odd-files"))


@pytest.fixture
def cache():
    return make("cache", entries=60)


def exporting(cache):
    return ["export", "-c", cache, "--archive-format", "files", "-o"]


def test_refusals(cache):
    """An export as files goes into a new folder or an empty one, and never replaces anything."""
    words = exporting(cache)
    run(*words, path("files"))
    run(*words, path("files"), status=73)
    run(*words, "-", status=64)
    run(*words, path("none/x"), status=73)
    open(path("file"), "w").close()
    run(*words, path("file"), status=73)
    os.symlink(scratch.root, path("link"))
    run(*words, path("link"), status=73)
    os.mkdir(path("empty"))
    run(*words, path("empty"))
    assert len(listed(path("empty"))) == 60
    os.mkdir(path("beside.partial"))
    run(*words, path("beside"))
    assert os.listdir(path("beside.partial")) == [] and len(listed(path("beside"))) == 60
    # Files are no archive to import.
    run("import", "--any-method", path("files"), "-c", cache, status=65)


def test_failures(cache):
    """An export that fails leaves nothing behind, and one that a signal ends leaves nothing or, after its end, everything."""
    words = exporting(cache)
    subprocess.run([tool, *words, path("whole")], check=True, capture_output=True)
    whole = files(path("whole"))
    assert len(whole) > 10
    shutil.rmtree(path("whole"))
    before = sorted(os.listdir(scratch.root))
    limited = ["sh", "-c", 'ulimit -f 40; trap "" XFSZ; exec "$@"', "sh", tool, *words, path("full")]
    assert subprocess.run(limited, capture_output=True).returncode == 74
    assert sorted(os.listdir(scratch.root)) == before
    for number in [signal.SIGINT, signal.SIGTERM]:
        for wait in [0.02, 0.05, 0.1]:
            process = subprocess.Popen([tool, *words, path("ended")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       preexec_fn=hear_signals)
            time.sleep(wait)
            process.send_signal(number)
            status = process.wait()
            assert status in (-number, 0), status
            # The signal can also come between the end of the work and that of the process.
            if status == 0 or os.path.exists(path("ended")):
                assert files(path("ended")) == whole, (number, wait)
                shutil.rmtree(path("ended"))
            assert sorted(os.listdir(scratch.root)) == before, (number, wait)
