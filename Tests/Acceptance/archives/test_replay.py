"""Has pywb play WARC and WACZ files that were exported, and headless Chromium show a page of one.

`sh Tests/run.sh --replay` installs pywb and wacz in `.build/replay`.
"""

import glob
import hashlib
import json
import os
import plistlib
import re
import socket
import sqlite3
import subprocess
import tarfile
import tempfile
import time
import urllib.error
import urllib.request

import pytest

import peers
import scratch
from products import REPOSITORY
from scratch import export, path

ENVIRONMENT = REPOSITORY / ".build/replay/bin"
pytestmark = pytest.mark.skipif(not (ENVIRONMENT / "wayback").exists(), reason="pywb: not here")


def program(name):
    return str(ENVIRONMENT / name)


def run(*words, **options):
    return subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, check=True, **options).stdout


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


opener = urllib.request.build_opener(NoRedirect)


class Player:
    """pywb with one collection, in a folder of its own."""

    def __init__(self, archive):
        self.folder = tempfile.mkdtemp(dir=scratch.root)
        with open(os.path.join(self.folder, "config.yaml"), "w") as file:
            # The page itself, and not one that has it in a frame.
            file.write("framed_replay: false\n")
        run(program("wb-manager"), "init", "c", cwd=self.folder)
        options = ["--unpack-wacz"] if archive.endswith(".wacz") else []
        run(program("wb-manager"), "add", *options, "c", archive, cwd=self.folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def __enter__(self):
        self.process = subprocess.Popen([program("wayback"), "-b", "127.0.0.1", "-p", str(self.port)], cwd=self.folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(150):
            try:
                opener.open(f"http://127.0.0.1:{self.port}/", timeout=5).close()
                return self
            except urllib.error.HTTPError:
                return self
            except OSError:
                time.sleep(0.2)
        raise AssertionError("pywb does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def response(self, time, url):
        """The status and the body that are played, as they were recorded."""
        try:
            with opener.open(f"http://127.0.0.1:{self.port}/c/{time}id_/{url}", timeout=120) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.read()


def entries(cache):
    """The URLs with time, status and the digest of the body, by a native archive."""
    with tarfile.open(export(cache, "native.tar")) as archive:
        for info in archive:
            if info.name.endswith("entry.json"):
                entry = json.load(archive.extractfile(info))
                yield (entry["url"], re.sub("[^0-9]", "", entry["stored"])[:14], entry["response"]["status"],
                       entry["members"]["body"]["sha256"], entry["response"]["headers"])


def check_playing(cache):
    """Each entry is played with the status and the body that it has in the cache."""
    for name in ["played.warc.gz", "played.warc", "played.wacz"]:
        archive = export(cache, name)
        if name.endswith(".wacz"):
            run(program("wacz"), "validate", "-f", archive)
        count = 0
        with Player(archive) as player:
            for url, time, status, digest, headers in entries(cache):
                location = next((value for field, value in headers.items() if field.lower() == "location"), "")
                if 300 <= status < 400 and location.split(":", 1)[-1].rstrip("/") == url.split(":", 1)[-1].rstrip("/"):
                    # pywb never plays what leads to itself.
                    continue
                played, body = player.response(time, url)
                assert (played, hashlib.sha256(body).hexdigest()) == (status, digest), (cache, name, url, played, status)
                count += 1
        assert count or "empty" in cache, (cache, name)


PAGE = b"""<!DOCTYPE html><html><head><title>A page</title></head><body><p id="text">not yet</p>
<script src="words.js"></script><img id="picture" src="/dot.png" alt=""></body></html>"""
SCRIPT = b"""document.getElementById("text").textContent = "played from the cache";
addEventListener("load", () => { document.title = "width " + document.getElementById("picture").naturalWidth; });"""
PICTURE = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000"
                        "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082")


def make_page():
    """Puts a page with a script and a picture into a made-up cache."""
    cache = scratch.make("page", entries=3, seed=1)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    for id, (url, type, body) in enumerate([("https://site.example/a/page.html", "text/html", PAGE),
                                            ("https://site.example/a/words.js", "text/javascript", SCRIPT),
                                            ("https://site.example/dot.png", "image/png", PICTURE)], 1):
        response, request = (plistlib.loads(data) for data in database.execute(
            "SELECT response_object, request_object FROM cfurl_cache_blob_data WHERE entry_ID = ?", (id,)).fetchone())
        response["Array"][0]["_CFURLString"] = request["Array"][1]["_CFURLString"] = url
        response["Array"][3:7] = [200, {"Content-Type": type, "Content-Encoding": "br", "Content-Length": "7"}, len(body), type]
        request["Array"][18] = "GET"
        lists = [plistlib.dumps(value, fmt=plistlib.FMT_BINARY) for value in [response, request]]
        database.execute("UPDATE cfurl_cache_response SET request_key = ? WHERE entry_ID = ?", (url, id))
        database.execute("UPDATE cfurl_cache_blob_data SET response_object = ?, request_object = ? WHERE entry_ID = ?", (*lists, id))
        database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = ? WHERE entry_ID = ?", (body, id))
    database.commit()
    database.close()
    return cache


def test_made_up_cache():
    """pywb plays each entry of a web archive as it is in the cache."""
    check_playing(scratch.make("made", entries=60))


def test_apple_caches(cachedb):
    """The same holds for caches as Apple systems write them."""
    for cache in sorted(glob.glob(os.path.join(cachedb, "schema-*", ""))):
        check_playing(cache)


@peers.needed("chromium")
def test_browser():
    """A browser shows a page of a web archive, with its script and its picture."""
    cache = make_page()
    (time,) = {time for url, time, *_ in entries(cache) if url.endswith("page.html")}
    with Player(export(cache, "page.wacz")) as player:
        shown = run("chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={path('chromium')}",
                    "--virtual-time-budget=15000", "--dump-dom",
                    f"http://127.0.0.1:{player.port}/c/{time}/https://site.example/a/page.html", timeout=120)
    assert b"played from the cache" in shown and b"<title>width 1</title>" in shown, shown[:3000]

