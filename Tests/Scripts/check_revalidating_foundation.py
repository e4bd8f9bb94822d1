"""Revalidates entries that Foundation's own URLCache has stored, and has it read what is refreshed.

    check_revalidating_foundation.py URLCACHE-ADMIN

Prints a line for each part, and ends at the first that is not as it has to be. Needs swiftc, and a Foundation that is that of
Linux.
"""

import base64, json, os, shutil, subprocess, sys, tempfile, time

import origin
from origin import Origin

tool = os.path.abspath(sys.argv[1])
root = tempfile.mkdtemp()
stock = os.path.join(root, "StockURLCache")
folder = os.path.join(root, "cache")
environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
environment.update(SWIFT_BACKTRACE="enable=no", XDG_CACHE_HOME=os.path.join(root, "caches"))
NAMES = ["etag", "weak", "modified", "both", "large", "changed", "gzip", "chunked", "rolled", "404", "redirect", "none", "500"]


def run(*arguments, status=0, **options):
    result = subprocess.run(arguments, capture_output=True, timeout=120, env=environment, **options)
    assert result.returncode == status, (arguments, result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return result.stdout


def get(urls):
    """What URLCache has for URLs."""
    lines = run(stock, "get", folder, input=json.dumps(urls).encode()).splitlines()
    return dict(zip(urls, map(json.loads, lines), strict=True))


def main():
    base = origin.start()
    items = []
    for name in NAMES:
        fields = {"Cache-Control": "max-age=1", "Content-Type": "text/plain", "X-Old": "1", **origin.STORED[name]}
        body = origin.LARGE_BODY if name == "large" else origin.OLD_BODY
        items.append({"url": base + name, "status": 200, "headers": fields, "body": base64.b64encode(body).decode()})
    run(stock, "store", folder, input=json.dumps(items).encode())
    urls = [base + name for name in NAMES]
    old = get(urls)
    time.sleep(2.1)
    names = sorted(os.listdir(folder))
    options = [tool, "revalidate", "-c", folder, "--all", "--timeout", "30s", "--format", "json"]
    report = {entry["url"].removeprefix(base): entry for entry in json.loads(run(*options, status=3))["entries"]}
    wanted = {"changed": "changed", "gzip": "changed", "chunked": "changed", "rolled": "rolled-back", "404": "gone",
              "redirect": "redirected", "none": "no-validator", "500": "failed"}
    for name in NAMES:
        assert report[name]["outcome"] == wanted.get(name, "unchanged"), report[name]
    assert get(urls) == old and sorted(os.listdir(folder)) == names
    print("report: ok", flush=True)

    json.loads(run(*options, "--refresh", "--purge-gone", "--yes", status=3))
    assert len(os.listdir(folder)) == len(NAMES) - 1
    new = get(urls)
    assert new.pop(base + "404") == {}
    freshened, replaced = {"etag", "weak", "modified", "both", "large"}, {"changed", "gzip", "chunked", "rolled", "none"}
    for url, entry in new.items():
        name = url.removeprefix(base)
        if name not in freshened | replaced:
            assert entry == old[url], (name, entry)
            continue
        assert entry["headers"]["Cache-Control"] == "max-age=3600" and entry["headers"]["X-New"] == "1", entry
        assert ("X-Old" in entry["headers"]) == (name in freshened), entry
        body = {"large": origin.LARGE_BODY, "gzip": origin.LARGE_BODY, "chunked": b"chunked"}.get(
            name, origin.OLD_BODY if name in freshened else origin.NEW_BODY)
        assert base64.b64decode(entry["body"]) == body and entry["status"] == 200, entry
    print("refreshing: ok", flush=True)

    # URLSession does not ask the origin again.
    Origin.asked.clear()
    requests = [{"url": base + name, "policy": "useProtocolCachePolicy"} for name in sorted(freshened | replaced)]
    answers = run(stock, "load", folder, input=json.dumps(requests).encode()).splitlines()
    for request, answer in zip(requests, answers, strict=True):
        assert json.loads(answer)["body"] == new[request["url"]]["body"], (request, answer)
    assert not Origin.asked, Origin.asked
    for line in run(tool, "list", "-c", folder, "--format", "ndjson", "--columns", "url,freshness").splitlines():
        entry = json.loads(line)
        name = entry["url"].removeprefix(base)
        assert (entry["freshness"] == "fresh") == (name in freshened | replaced), entry
    print("fresh again: ok", flush=True)


source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Peers", "StockURLCache.swift")
subprocess.run(["swiftc", "-O", "-swift-version", "5", source, "-o", stock], check=True, timeout=600)
try:
    main()
finally:
    shutil.rmtree(root, ignore_errors=True)
