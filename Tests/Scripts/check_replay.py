"""Has pywb play WARC and WACZ files that were exported, and headless Chromium show a page of one.

    check_replay.py URLCACHE-ADMIN SAMPLE-CACHE FOLDER-OF-PYTHON-ENVIRONMENT [FOLDER OF REAL CACHES]

The environment has pywb and wacz. Prints a line for each case, and ends at the first that is not as it should be.
"""

import glob, json, os, plistlib, re, shutil, socket, sqlite3, subprocess, sys, tarfile, tempfile, time
import urllib.error, urllib.request
import hashlib

sys.dont_write_bytecode = True

tool, maker, environment = sys.argv[1:4]
real = sorted(glob.glob(os.path.join(sys.argv[4], "schema-*", ""))) if len(sys.argv) > 4 else []
root = tempfile.mkdtemp()
program = lambda name: os.path.join(os.path.abspath(environment), "bin", name)


def path(name):
    return os.path.join(root, name)


def run(*words, **options):
    result = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, **options)
    assert result.returncode == 0, (words, result)
    return result.stdout


def export(cache, name):
    run(tool, "export", "-c", cache, "-o", path(name), "--force")
    return path(name)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


opener = urllib.request.build_opener(NoRedirect)


class Player:
    """pywb with one collection, in a folder of its own."""

    def __init__(self, archive):
        self.folder = tempfile.mkdtemp(dir=root)
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
    run(tool, "export", "-c", cache, "-o", path("native.tar"), "--force")
    with tarfile.open(path("native.tar")) as archive:
        for info in archive:
            if info.name.endswith("entry.json"):
                entry = json.load(archive.extractfile(info))
                yield (entry["url"], re.sub("[^0-9]", "", entry["stored"])[:14], entry["response"]["status"],
                       entry["members"]["body"]["sha256"], entry["response"]["headers"])


def plays(cache):
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


def page(cache):
    """Puts a page with a script and a picture into a made-up cache."""
    subprocess.run([maker, "--entries", "3", "--seed", "1", cache], check=True)
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


def browser():
    cache = path("page")
    page(cache)
    (time,) = {time for url, time, *_ in entries(cache) if url.endswith("page.html")}
    with Player(export(cache, "page.wacz")) as player:
        shown = run("chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={path('chromium')}",
                    "--virtual-time-budget=15000", "--dump-dom",
                    f"http://127.0.0.1:{player.port}/c/{time}/https://site.example/a/page.html", timeout=120)
    assert b"played from the cache" in shown and b"<title>width 1</title>" in shown, shown[:3000]


made = path("made")
subprocess.run([maker, "--entries", "60", "--seed", "3", made], check=True)

plays(made)
print("made-up cache: ok", flush=True)
for cache in real:
    plays(cache)
print("real caches:", "ok" if real else "not here", flush=True)
browser()
print("browser: ok", flush=True)
shutil.rmtree(root)
