"""Opens reports in a real browser, looks around in them, and tampers with them."""

import base64
import json
import os
import re
import shutil
import subprocess

import pytest

import scratch
from chromium import Chromium
from products import tool
from report_pages import AT, HOSTILE, cache_of, report
from scratch import path, read, write

pytestmark = pytest.mark.skipif(Chromium.path() is None, reason="chromium: not here")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The path of a report of a made-up cache."""
    folder = tmp_path_factory.mktemp("report")
    cache, file = str(folder / "it's a cache"), str(folder / "report.html")
    shutil.copytree(scratch.made_up(("--faults", "orphan-files,missing-bodies"), 600, 7), cache)
    subprocess.run([tool, "report", "-c", cache, "--at", AT, "-o", file, "--capacity", "64MiB"], check=True,
                   env=os.environ | {"HOME": str(folder)})
    return file


@pytest.fixture(scope="module")
def chromium():
    browser = Chromium()
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium, page):
    """A browser that shows the report."""
    chromium.send("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    chromium.open(page)
    return chromium


def data_of(browser):
    return json.loads(browser.run("document.querySelector('#data').textContent"))


@pytest.mark.parametrize("kind", ["made up", "hostile"])
def test_nothing_is_loaded_or_run(browser, page, kind):
    """However a user looks around, a report loads nothing, says nothing, opens nothing, and stays open itself."""
    if kind == "hostile":
        page = write("hostile.html", report(cache_of(HOSTILE, path("hostile")), "--capacity", "1GiB"))
        browser.open(page)
    assert browser.requests == [f"file://{page}"], browser.requests
    assert browser.messages == [] and browser.dialogs == [], (browser.messages, browser.dialogs)
    poke(browser)
    assert len(browser.requests) == 1 and browser.messages == [] and browser.dialogs == [], browser.messages
    assert browser.run("location.href") == f"file://{page}"
    assert browser.targets == []


def poke(browser):
    """Selects whatever can be selected, as somebody does who looks around."""
    browser.run("""(() => {
      for (let i = 0; i < 400; i++) {
        const all = [...document.querySelectorAll("#tm [tabindex], button, tr, summary, code, input")];
        const e = all[i * 37 % all.length];
        for (const kind of ["mouseenter", "mouseover", "focus", "click"]) e.dispatchEvent(new MouseEvent(kind, {bubbles: true}));
      }
    })()""")
    browser.press("Escape")
    browser.press("Escape")
    browser.wait()


def test_tree(browser):
    """A click and the keys go into the largest host and its largest folder, and back."""
    crumb = "document.querySelector('#crumb').textContent"
    data = data_of(browser)
    hosts = browser.run("[...document.querySelectorAll('#tm .hl')].map(e => e.textContent)")
    largest = max(data["tree"], key=lambda host: host["v"])
    assert browser.run(crumb) == "All hosts" and largest["k"] in hosts, hosts
    browser.click("#tm .cell")
    folder = max(largest["c"], key=lambda folder: folder["v"])
    assert browser.run(crumb) == f"All hosts › {largest['k']} › {folder['k']}", browser.run(crumb)
    labels = browser.run("[...document.querySelectorAll('#tm .cell')].map(e => e.getAttribute('aria-label'))")
    assert len(labels) == len(folder["c"]) and sum(child["v"] for child in folder["c"]) == folder["v"]
    areas = browser.run("[...document.querySelectorAll('#tm .cell rect')].map(e => e.getAttribute('width') * e.getAttribute('height'))")
    assert areas == sorted(areas, reverse=True) or max(areas) == areas[0], areas
    browser.press("Escape")
    assert browser.run(crumb) == f"All hosts › {largest['k']}"
    browser.run("document.querySelector('#tm .cell').focus()")
    assert largest["k"] in browser.run("document.querySelector('#tip').textContent")
    browser.press("Enter", "\r")
    assert browser.run(crumb) == f"All hosts › {largest['k']} › {folder['k']}"
    browser.click("#crumb button")
    assert browser.run(crumb) == "All hosts"
    assert sum(host["v"] for host in data["tree"]) == data["total"], data["total"]


def test_slider(browser):
    """Each place of the slider shows the numbers that the command next to it prints."""
    data = data_of(browser)
    browser.run("document.querySelector('#wi-r').focus()")
    before = browser.run("document.querySelector('#wi-o').textContent")
    browser.press("ArrowLeft")
    assert browser.run("document.querySelector('#wi-o').textContent") != before
    for place in range(0, len(data["limits"]), 9):
        text, command = browser.run(
            f"(() => {{ const r = document.querySelector('#wi-r'); r.value = {place}; r.dispatchEvent(new Event('input')); "
            "return [document.querySelector('#wi-o').textContent, [...document.querySelectorAll('#limits code span')].map(e => e.textContent).join(' ')]; })()")
        words = command.split(" --dry-run")[0]
        plan = json.loads(subprocess.run(["sh", "-c", words.replace("urlcache-admin", tool, 1) + f" --dry-run --format json --at {AT}"],
                                         capture_output=True, check=True).stdout)
        count = plan["removed"]["entries"]
        assert re.search(rf"\) in {count:,} entr(y|ies), ", text), (text, plan["removed"])


def test_copy(browser):
    """The button of a command copies the command, and nothing else."""
    browser.run("navigator.clipboard.writeText = async text => { window.copied = text; }")
    command = browser.run("[...document.querySelectorAll('.do code:not(.in) span')].map(e => e.textContent).join(' ')")
    browser.click(".do code button")
    browser.until(lambda: browser.run("window.copied") is not None)
    copied = browser.run("window.copied")
    assert copied.startswith("urlcache-admin ") and command.startswith(copied), (copied, command)
    assert browser.run("document.querySelector('.do code button').textContent") == "Copied"


@pytest.mark.parametrize("width", [390, 768])
def test_narrow(browser, page, width):
    """On a phone and a tablet, the page is as wide as the screen, and each row of the table shows the path of its URL."""
    browser.send("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=True)
    browser.open(page)
    assert browser.run("document.documentElement.scrollWidth") <= width
    host, path_left, cell = browser.run("""(() => {
        const cell = document.querySelector('#ent td.url'), origin = cell.querySelector('.mut');
        const range = document.createRange();
        range.selectNodeContents(origin.nextSibling);
        return [origin.getBoundingClientRect().width, range.getBoundingClientRect().left, cell.getBoundingClientRect().right];
    })()""")
    assert cell - path_left >= 80, (host, path_left, cell)


def test_table(browser):
    """The table of entries can be searched and sorted."""
    rows = "[...document.querySelectorAll('#ent tbody tr')].filter(r => !r.hidden).map(r => [...r.cells].map(c => c.dataset.v ?? c.textContent))"
    first = browser.run(rows)
    assert len(first) == 120 and [int(row[3]) for row in first] == sorted((int(row[3]) for row in first), reverse=True)
    browser.click("#q")
    browser.type("image/ png")
    browser.until(lambda: len(browser.run(rows)) < 120)
    found = browser.run(rows)
    assert 0 < len(found) < 120 and all("image/" in "".join(row) and "png" in "".join(row) for row in found), found[:3]
    assert browser.run("document.querySelector('#cnt').textContent").startswith(f"{len(found)} of ")
    browser.run("(() => { const q = document.querySelector('#q'); q.value = ''; q.dispatchEvent(new Event('input')); })()")
    for place, key in [(0, str), (2, int), (3, int), (4, int), (5, int), (6, str)]:
        for order in ("descending", "ascending"):
            browser.run(f"document.querySelectorAll('#ent th button')[{place}].click()")
            values = [key(row[place]) for row in browser.run(rows)]
            assert values == sorted(values, reverse=order == "descending"), (place, order)
            assert browser.run(f"document.querySelectorAll('#ent th')[{place}].ariaSort") == order
    assert sorted(browser.run(rows)) == sorted(first)


def test_theme(browser):
    """A report has the colors that the system prefers, and a button for the others."""
    color = "getComputedStyle(document.body).backgroundColor"
    browser.prefer("light")
    light = browser.run(color)
    browser.prefer("dark")
    dark = browser.run(color)
    assert light != dark
    browser.click("#theme")
    assert browser.run(color) == light
    browser.click("#theme")
    assert browser.run(color) == dark
    browser.prefer("light")
    browser.click("#theme")
    assert browser.run(color) == light


def test_widths(browser, page):
    """A narrow screen needs no scrolling to the side, and everything is there without the script and on paper."""
    for script in (True, False):
        browser.send("Emulation.setScriptExecutionDisabled", value=not script)
        for width in (390, 1280):
            browser.resize(width)
            browser.open(page)
            assert browser.run("document.documentElement.scrollWidth") <= width, (script, width)
            assert browser.run("document.querySelectorAll('#tm .cell').length") > 20
            assert browser.run("document.querySelectorAll('#ent tbody tr').length") == 120
            assert browser.run("document.querySelector('#q').hidden") != script
    pdf = base64.b64decode(browser.send("Page.printToPDF")["data"])
    assert pdf.startswith(b"%PDF-") and len(pdf) > 20_000, len(pdf)
    browser.send("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("added", [
    b"<script>alert(1);document.title='bad'</script>", b"<img src='https://evil.example/x' onerror='alert(2)'>",
    b"<style>body{background:url(https://evil.example/y)}</style>", b"<iframe src='https://evil.example/'></iframe>",
    b"<p onclick='alert(3)' id='p' style='color:red'>p</p><link rel=stylesheet href='https://evil.example/z'>"],
    ids=["script", "image", "style", "frame", "handler"])
def test_additions(browser, page, added):
    """Something that is added to a report afterwards is not run, and loads nothing."""
    browser.open(write("tampered.html", read(page).replace(b"</main>", added + b"</main>")))
    browser.run("document.querySelector('#p')?.click()")
    browser.wait()
    assert browser.dialogs == [] and browser.run("document.title") != "bad"
    browser.until(lambda: any("Content Security Policy" in str(message) for message in browser.messages))
    # Requests were stopped before they left the browser.
    browser.until(lambda: [(url, "csp") for url in browser.requests if url.startswith("http")] == browser.blocked)


def test_changed_script(browser, page):
    """A script that was changed afterwards is not run."""
    browser.open(write("tampered.html", read(page).replace(b"\"use strict\";", b"\"use strict\";alert(4);", 1)))
    assert browser.dialogs == [] and browser.run("document.querySelector('#theme').hidden") is True
