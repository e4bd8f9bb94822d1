"""Changes caches while the WebKitGTK that writes them runs: what was removed is asked for again, and nothing else is."""

import json
import os
import random
import shutil
import subprocess
import time

import pytest

import strace
import webkit_browser
from products import tool
from scratch import path, run
from webkit_browser import Browser, Origin

pytestmark = pytest.mark.needs_webkit

HOSTS = ["site.example", "a.example", "x.a.example"]
PAGE = "http://site.example/page"
SIZES = [10, 3_000, 9_000, 9_001, 40_000]


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(24 if metafunc.config.getoption("thorough") else 8))


def listed(cache, **options):
    return {entry["url"]: entry for entry in map(json.loads, run("list", cache, "--where", "type = resource", "--format", "ndjson", "--columns", "all", **options).stdout.splitlines())}


def drawn(choice, resources):
    """A command, and the resources that it removes: by URL, host, size, or all but the newest."""
    verb = choice.choice(["operands", "host", "larger", "all"])
    if verb == "operands":
        chosen = choice.sample(resources, choice.randrange(1, len(resources)))
        return ["purge", *chosen], set(chosen)
    if verb == "host":
        return ["purge", "--host", "*.a.example", "--host", "a.example"], {url for url in resources if "a.example" in url}
    if verb == "larger":
        return ["purge", "--larger-than", "9000"], {url for url in resources if int(url.split("/")[3]) > 9_000}
    return ["purge", "--all"], set(resources)


def files(cache):
    """The files of a cache, each with its content."""
    found = {}
    for parent, _, names in os.walk(cache):
        for name in names:
            file = os.path.join(parent, name)
            with open(file, "rb") as opened:
                found[os.path.relpath(file, cache)] = opened.read()
    return found


@pytest.mark.parametrize("killed", [False, True])
def test_removing(seed, killed):
    choice = random.Random(seed)
    # Some have the same body, which is one file.
    resources = [f"http://{choice.choice(HOSTS)}/{choice.choice(SIZES)}/{'same' if number % 5 == 0 else number}?{number}" for number in range(20)]
    origin = Origin(resources)
    browser = Browser(path("browser"), origin)
    try:
        browser.load(PAGE)
        cache = browser.cache
        # A body less than a minute old is left to WebKit.
        for parent, _, names in os.walk(cache):
            for name in names:
                if "Blobs" in parent:
                    os.utime(os.path.join(parent, name), (time.time() - 86_400,) * 2)
        before = listed(cache)
        assert before.keys() == {PAGE, *resources}
        assert {url: entry["size"] for url, entry in before.items() if url != PAGE} == {
            url: len(webkit_browser.body("/".join(url.split("?")[0].split("/")[2:]).partition("/")[2])) for url in resources}
        words, gone = drawn(choice, resources)
        # With nobody else there, the same command removes the same.
        shutil.rmtree(path("alone"), ignore_errors=True)
        subprocess.run(["cp", "-a", cache, path("alone")], check=True)
        contents = files(cache)
        alone = json.loads(run(words[0], "-c", path("alone"), *words[1:], "--yes", "--format", "json").stdout)
        if killed:
            prefix = strace.fault("unlinkat", "signal=SIGKILL", choice.randrange(1, 6))
            subprocess.run([*prefix, tool, words[0], "-c", cache, *words[1:], "--yes"], capture_output=True)
            run(words[0], "-c", cache, *words[1:], "--yes", status=None)
        else:
            beside = json.loads(run(words[0], "-c", cache, *words[1:], "--yes", "--format", "json").stdout)
            assert [entry["url"] for entry in beside["entries"]] == [entry["url"] for entry in alone["entries"]]
        # The times of records differ, as WebKit sets them; their contents do not.
        left = files(cache)
        assert {name: left[name] for name in left} == {name: contents[name] for name in left}
        assert left.keys() == files(path("alone")).keys()
        assert json.loads(run("check", "--full", cache, "--format", "json", status=None).stdout)["counts"]["errors"] == 0
        origin.asked.clear()
        browser.load(PAGE)
        # The page has no lifetime.
        assert sorted(url for url in origin.asked if url != PAGE) == sorted(gone), words
        assert listed(cache).keys() == {PAGE, *resources}
        origin.asked.clear()
        browser.load(PAGE)
        assert set(origin.asked) <= {PAGE}
    finally:
        browser.close()
        origin.shutdown()
    findings = json.loads(run("check", "--full", cache, "--format", "json", status=None).stdout)["findings"]
    assert {finding["code"] for finding in findings} <= {"no-cache-without-validator"}, findings


def test_enforcing_repairing_and_restoring():
    """A limit, a repair of damage, a removal that is undone, and `--secure`, which waits until nobody uses the cache."""
    resources = [f"http://site.example/{size}/{number}" for number, size in enumerate([10, 3_000, 9_000, 40_000] * 4)]
    origin = Origin(resources)
    browser = Browser(path("browser"), origin)
    try:
        browser.load(PAGE)
        cache = browser.cache
        before = files(cache)
        refused = run("purge", "-c", cache, "--all", "--secure", "--yes", status=75)
        assert files(cache) == before and b"WebKit has it open" in refused.stderr
        receipt = json.loads(run("enforce", "-c", cache, "--max-entries", "10", "--yes", "--format", "json").stdout)
        gone = {entry["url"] for entry in receipt["entries"]}
        origin.asked.clear()
        browser.load(PAGE)
        assert set(origin.asked) - {PAGE} == gone - {PAGE} and len(gone) >= 7
        victim = resources[1]
        [record] = [entry for url, entry in listed(cache).items() if url == victim]
        [file] = [os.path.join(parent, name) for parent, _, names in os.walk(cache) for name in names if name == record["id"]]
        os.truncate(file, os.path.getsize(file) - 1)
        run("check", cache, "--repair", "--yes", status=None)
        origin.asked.clear()
        browser.load(PAGE)
        assert set(origin.asked) - {PAGE} == {victim}
        run("purge", "-c", cache, "--larger-than", "5000", "--yes", "--backup", path("backup.tar"))
        run("import", path("backup.tar"), "-c", cache, "--yes")
        origin.asked.clear()
        browser.load(PAGE)
        assert set(origin.asked) - {PAGE} == set()
    finally:
        browser.close()
        origin.shutdown()
