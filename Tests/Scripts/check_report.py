"""Reads reports as a browser does, parses them as one, and lists a cache for `ncdu`.

    check_report.py URLCACHE-ADMIN SAMPLE-CACHE [FOLDER]

The pictures go to FOLDER, if one is named.
"""

import base64, hashlib, html.parser, json, os, plistlib, random, re, shutil, subprocess, sys, tempfile, time
import unicodedata
import apple_store
from chromium import PATIENCE, Chromium

tool, maker = sys.argv[1:3]
pictures = sys.argv[3] if len(sys.argv) > 3 else None
root = tempfile.mkdtemp()
AT = "2025-12-01T00:00:00Z"
# Whatever may end an element, an attribute, a string, a table or a block of code, and what a browser might run.
PIECES = [
    "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "<!--", "-->", "]]>",
    "</title></style></textarea>", "<svg/onload=alert(1)>", "&lt;b&gt;&#x41;&amp", "\\u003c/script>", "javascript:alert(1)",
    "`" * 3, "|", "\\|", "[a](https://evil.example)", "<https://evil.example>", "![i](//evil.example/i)", "**b**", "_i_", "\r\n",
    "\n\n# head", "\x1b]0;t\x07\x1b[2J", "\u202e\u2066", "\u2028\u2029", "\u200b\ufeff", "\u0000", "\x7f\x9b", "\U000e0041",
    '"\u0301', "<\u0301script>", "'\u200d", "&\u0338", "$&", "${alert(1)}", "{{1}}", "é", "日本", "\U0001f408", "%00", "?token=a<b&sig=\"",
]
HOSTILE = ["https://user:hidden-password@d.example/?token=hidden-token#access_token=hidden-too"] + ["https://a.example/" + piece for piece in PIECES] + [
    "https://" + piece.replace("/", "") + ".example/x" for piece in PIECES] + [
    "https://b.example/" + piece.replace("/", "") + "/f/x" for piece in PIECES] + [
    'javascript:alert("x")', "data:text/html,<script>alert(1)</script>", "", "x" * 3_000,
    "https://c.example/" + "<" * 200_000, "https://c.example/" + "a\u0301\u0301" * 50_000,
    "file:///etc/passwd"]


def run(*words, status=0):
    result = subprocess.run([tool, *words], capture_output=True)
    assert result.returncode == status, (words, result.returncode, result.stderr[-2000:])
    return result


def report(cache, *options):
    return run("report", "-c", cache, "--at", AT, "-o", "-", *options).stdout


def write(name, data):
    path = os.path.join(root, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def cache_of(urls, name, sizes=None):
    """A cache that has a response for each URL, which may be bytes that are not UTF-8."""
    folder = os.path.join(root, name)
    os.mkdir(folder)
    database = apple_store.create(folder)
    database.executescript("""CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER);
        INSERT INTO cfurl_cache_schema_version VALUES(202);""")
    for number, url in enumerate(urls, 1):
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, storage_policy, request_key) VALUES (?, 0, CAST(? AS TEXT))",
                         (number, url))
        if isinstance(url, str):
            archived = {"_CFURLString": url, "_CFURLStringType": 15}
            response = {"Array": [archived, 7.8e8, 0, 200, {"Cache-Control": "max-age=60"}, 3, "text/" + url[6:13]], "Version": 1}
            blob = plistlib.dumps(response, fmt=plistlib.FMT_BINARY)
            database.execute("INSERT INTO cfurl_cache_blob_data VALUES (?, ?, ?, NULL, NULL)", (number, blob, blob))
        size = sizes[number - 1] if sizes else 50_000 - number * 100
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, zeroblob(?))", (number, size))
    database.commit()
    database.close()
    return folder


class Page(html.parser.HTMLParser):
    """A report as a parser sees it: its elements, their attributes, and their texts."""

    VOID = {"meta", "input", "rect", "path", "circle", "br"}

    def __init__(self, data):
        super().__init__(convert_charrefs=True)
        self.stack, self.elements, self.texts = [], [], []
        self.feed(data.decode("utf-8"))
        self.close()
        assert self.stack == [], self.stack

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names), attributes
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.stack and self.stack.pop() == tag, (tag, self.stack)

    def handle_data(self, data):
        self.texts.append((self.stack[-1] if self.stack else None, data))

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_pi = unknown_decl = handle_comment

    def shape(self):
        """The kinds of elements and the names of their attributes: what text must not change."""
        return {(tag, tuple(sorted(attributes))) for tag, attributes in self.elements}

    def text(self, tag):
        return "".join(text for name, text in self.texts if name == tag)


def shown(text):
    """Text as it is to be shown: what nobody can see is named."""
    def hidden(character):
        # What has no look of its own by its properties: marks of direction, joiners, selectors, tags.
        return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs") or character == "\U000e0041"
    return "".join(f"‹U+{ord(c):04X}›" if hidden(c) else c for c in text)


def harmless(text, allowed="\n"):
    for character in text:
        assert character in allowed or unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co"), ascii(character)


def check_policy(data):
    """The page lets its own style and script through by their digests, and nothing else."""
    page = Page(data)
    policy = next(attributes["content"] for tag, attributes in page.elements if attributes.get("http-equiv"))
    digests = [base64.b64encode(hashlib.sha256(page.text(tag).encode()).digest()).decode() for tag in ("style",)]
    scripts = re.findall(rb"<script>(.*?)</script>", data, re.S)
    assert len(scripts) == 1 and len(scripts[0]) <= 8_000, [len(script) for script in scripts]
    digests.append(base64.b64encode(hashlib.sha256(scripts[0]).digest()).decode())
    assert policy == (f"default-src 'none'; script-src 'sha256-{digests[1]}'; style-src 'sha256-{digests[0]}'; "
                      "base-uri 'none'; form-action 'none'"), policy
    for tag, attributes in page.elements:
        assert tag not in ("a", "img", "iframe", "link", "object", "form", "base") or attributes == {"href": "#integrity"}, tag
        assert not any(name.startswith("on") or name in ("style", "src", "srcset", "srcdoc", "xlink:href") for name in attributes)
    return page


def check_hostile():
    """No text gets out of its place: hostile caches have the elements that a harmless one has."""
    quiet = cache_of([f"https://{c}.example/f/{n}" for c in "abcdef" for n in range(40)], "quiet")
    shape = check_policy(report(quiet, "--capacity", "1GiB")).shape()
    hostile = cache_of(HOSTILE, "hostile")
    for options in [[], ["--capacity", "1GiB"], ["--show-secrets"]]:
        data = report(hostile, *options)
        page = check_policy(data)
        harmless(data.decode())
        assert page.shape() <= shape, page.shape() - shape
        read = json.loads(page.text("script").split("(() => {")[0])
        assert read["total"] > 0 and len(read["tree"]) > 9, read["total"]
        everything = "".join(text for _, text in page.texts)
        for url in HOSTILE:
            # The largest are in the table as a whole, if they are not too long.
            if url.startswith("https://a.example/") and len(shown(url)) <= 160 and "token" not in url:
                assert shown(url) in everything, url
        for secret in ["hidden-password", "hidden-token", "hidden-too"]:
            assert (secret in everything) == ("--show-secrets" in options), (secret, options)
    check_policy(report(cache_of([b"https://\xff\xfe.example/\xc3(\xff", b"\xff", "https://x.example/"], "bytes")))
    check_policy(report(cache_of([], "empty")))
    random_page(shape)
    return hostile


def random_page(shape):
    generator = random.Random(7)
    for round in range(12):
        urls = {"https://" + "".join(generator.choices(PIECES, k=2)).replace("/", "") + ".example/"
                + "".join(generator.choices(PIECES + ["/"] * 9, k=generator.randrange(9))) for _ in range(60)}
        data = report(cache_of(sorted(urls), f"random{round}"), "--capacity", "1GiB")
        page = check_policy(data)
        harmless(data.decode())
        assert page.shape() <= shape, (round, page.shape() - shape)


def check_markdown(hostile):
    """Text from a cache is code, which nothing ends, and rows have the cells that they should have."""
    text = report(hostile, "--format", "markdown").decode()
    harmless(text)
    assert "hidden-" not in text
    columns = None
    for line in text.split("\n"):
        if not line.startswith("|"):
            columns = None
            continue
        # As GitHub has it: cells end at each '|' without '\' before it, and only then is code looked for.
        cells = re.split(r"(?<!\\)\|", line)
        columns = columns or len(cells)
        assert len(cells) == columns, line
    outside = re.sub(r"(`+) .*? \1(?!`)", "", text)
    for mark in ["<", "evil", "alert", "javascript", "a.example"]:
        assert mark not in outside, (mark, outside[max(0, outside.find(mark) - 60):][:120])


def check_sizes():
    """A report has a bounded size, also of a cache that is made to be large."""
    long = "<" * 300
    urls = [f"https://h{n % 60}{long}.example/{n % 7}{long}/{n}{long}" for n in range(6_000)]
    data = report(cache_of(urls, "many", [10_000 + n % 977 for n in range(6_000)]), "--capacity", "1GiB")
    check_policy(data)
    assert len(data) < 600_000, len(data)


def check_browser(path, hostile):
    browser = Chromium()
    try:
        browser.send("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
        for page in (write("hostile.html", report(hostile, "--capacity", "1GiB")), path):
            browser.open(page)
            assert browser.requests == [f"file://{page}"], browser.requests
            assert browser.messages == [] and browser.dialogs == [], (browser.messages, browser.dialogs)
            poke(browser)
            assert len(browser.requests) == 1 and browser.messages == [] and browser.dialogs == [], browser.messages
            assert browser.run("location.href") == f"file://{page}"
        assert browser.targets == []
        print("browser: ok", flush=True)
        check_tree(browser)
        check_slider(browser)
        check_table(browser)
        check_theme(browser)
        check_widths(browser, path)
        check_tampering(browser, path)
    finally:
        browser.close()


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


def check_tree(browser):
    crumb = "document.querySelector('#crumb').textContent"
    browser.reload()
    data = json.loads(browser.run("document.querySelector('#data').textContent"))
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
    print("drill-down: ok", flush=True)


def check_slider(browser):
    """Each place of the slider says what the command that it shows says."""
    data = json.loads(browser.run("document.querySelector('#data').textContent"))
    browser.run("document.querySelector('#wi-r').focus()")
    before = browser.run("document.querySelector('#wi-o').textContent")
    browser.press("ArrowLeft")
    assert browser.run("document.querySelector('#wi-o').textContent") != before
    for place in range(0, len(data["limits"]), 9):
        text, command = browser.run(
            f"(() => {{ const r = document.querySelector('#wi-r'); r.value = {place}; r.dispatchEvent(new Event('input')); "
            "return [document.querySelector('#wi-o').textContent, document.querySelector('#wi-k').textContent]; })()")
        words = command.split(" --dry-run")[0]
        plan = json.loads(subprocess.run(["sh", "-c", words.replace("urlcache-admin", tool, 1) + f" --dry-run --format json --at {AT}"],
                                         capture_output=True, check=True).stdout)
        count = plan["removed"]["entries"]
        assert re.search(rf"\) in {count:,} entr(y|ies), ", text), (text, plan["removed"])
    print("slider: ok", flush=True)


def check_table(browser):
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
    print("table: ok", flush=True)


def check_theme(browser):
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
    picture(browser, "dark")
    browser.prefer("light")
    browser.click("#theme")
    assert browser.run(color) == light
    picture(browser, "light")
    print("theme: ok", flush=True)


def picture(browser, name):
    if pictures:
        browser.screenshot(os.path.join(pictures, f"{name}.png"))


def check_widths(browser, path):
    """A narrow screen needs no scrolling to the side, and nothing is lost without the script or on paper."""
    for script in (True, False):
        browser.send("Emulation.setScriptExecutionDisabled", value=not script)
        for width in (390, 1280):
            browser.resize(width)
            browser.open(path)
            assert browser.run("document.documentElement.scrollWidth") <= width, (script, width)
            assert browser.run("document.querySelectorAll('#tm .cell').length") > 20
            assert browser.run("document.querySelectorAll('#ent tbody tr').length") == 120
            assert browser.run("document.querySelector('#q').hidden") != script
            picture(browser, f"{width}{'' if script else '-no-script'}")
    pdf = base64.b64decode(browser.send("Page.printToPDF")["data"])
    assert pdf.startswith(b"%PDF-") and len(pdf) > 20_000, len(pdf)
    browser.send("Emulation.setScriptExecutionDisabled", value=False)
    print("widths: ok", flush=True)


def check_tampering(browser, path):
    """What is put into a report afterwards is not run, and not loaded."""
    with open(path, "rb") as file:
        data = file.read()
    for added in [b"<script>alert(1);document.title='bad'</script>", b"<img src='https://evil.example/x' onerror='alert(2)'>",
                  b"<style>body{background:url(https://evil.example/y)}</style>", b"<iframe src='https://evil.example/'></iframe>",
                  b"<p onclick='alert(3)' id='p' style='color:red'>p</p><link rel=stylesheet href='https://evil.example/z'>"]:
        page = write("tampered.html", data.replace(b"</main>", added + b"</main>"))
        browser.open(page)
        browser.run("document.querySelector('#p')?.click()")
        browser.wait()
        assert browser.dialogs == [] and browser.run("document.title") != "bad", added
        browser.until(lambda: any("Content Security Policy" in str(message) for message in browser.messages), added)
        # What was asked for was stopped before it left the browser.
        browser.until(lambda: [(url, "csp") for url in browser.requests if url.startswith("http")] == browser.blocked, added)
    page = write("tampered.html", data.replace(b"\"use strict\";", b"\"use strict\";alert(4);", 1))
    browser.open(page)
    assert browser.dialogs == [] and browser.run("document.querySelector('#theme').hidden") is True
    print("tampering: ok", flush=True)


def check_file(cache):
    """A report appears whole or not at all, and never in the place of something else."""
    path = os.path.join(root, "report.html")
    run("report", "-c", cache, "--at", AT, "-o", path)
    with open(path, "rb") as file:
        data = file.read()
    assert data == report(cache)
    assert b"cannot create" in run("report", "-c", cache, "-o", path, status=73).stderr
    run("report", "-c", cache, "--at", AT, "-o", path, "--force", "--capacity", "64MiB")
    assert run("report", "-c", cache, "-o", os.path.join(cache, "Cache.db"), "--force", status=64).stderr
    assert run("report", "-c", cache, "-o", "/no/such/folder/r.html", status=73).stderr
    assert run("report", "-c", os.path.join(root, "none"), "-o", os.path.join(root, "x.html"), status=66).stderr
    assert not any(name.startswith(("x.html", "report.html.")) for name in os.listdir(root))
    return path


def ncdu(cache, *options):
    return json.loads(run("list", "-c", cache, "--format", "ncdu", *options).stdout)


def leaves(node, path=()):
    """The entries of a tree: their folders, their name, and their size."""
    if isinstance(node, dict):
        yield (*path, node["name"]), node["asize"]
        return
    for child in node[1:]:
        yield from leaves(child, (*path, node[0]["name"]))


def check_ncdu(cache, hostile):
    tree = ncdu(cache)
    assert tree[:2] == [1, 1] and tree[3][0] == {"name": cache}
    entries = json.loads(run("list", "-c", cache, "--format", "json").stdout)["entries"]
    expected = []
    for entry in entries:
        host, rest = entry["url"].split("://", 1)[1].split("/", 1)
        host = host.rsplit("@", 1)[-1].split(":")[0].lower()
        tail = re.split(r"[?#]", rest, maxsplit=1)[0].split("/")
        name = rest[len("/".join(tail[:-1])):].removeprefix("/" if len(tail) > 1 else "") or "/"
        if len(name) > 1_024:
            name = name[:512] + "…" + name[-511:]
        expected.append((cache, host, *tail[:-1], name))
    found = [path for path, _ in leaves(tree[3])]
    assert sorted(found) == sorted(expected), sorted(set(found) ^ set(expected))[:4]
    assert sum(size for _, size in leaves(tree[3])) == sum(entry["size"] or 0 for entry in entries)
    harmless(json.dumps(ncdu(hostile), ensure_ascii=False))
    assert "hidden-" not in json.dumps(ncdu(hostile)) and "hidden-token" in json.dumps(ncdu(hostile, "--show-secrets"))
    # No folder is there twice: ncdu would show it twice.
    def once(node):
        names = [child[0]["name"] for child in node[1:] if isinstance(child, list)]
        assert len(set(names)) == len(names), names
        for child in node[1:]:
            if isinstance(child, list):
                once(child)
    for folder in (cache, hostile):
        once(ncdu(folder)[3])
    for folder in (cache, hostile):
        path = write("tree.json", run("list", "-c", folder, "--format", "ncdu").stdout)
        browse(path, json.load(open(path)))
    print("ncdu: ok", flush=True)


def browse(path, tree):
    """Looks at a tree with ncdu itself, on a terminal of tmux."""
    def tmux(*words):
        return subprocess.run(["tmux", "-L", f"check{os.getpid()}", *words], capture_output=True, text=True, check=True).stdout
    tmux("new-session", "-d", "-x", "110", "-y", "40", "env", "LANG=C.UTF-8", "ncdu", "-f", path)
    try:
        hosts = {child[0]["name"]: sum(size for _, size in leaves(child)) for child in tree[3][1:]}
        largest = max(hosts, key=lambda name: hosts[name])
        # The title is there before the folder is.
        screen = until(tmux, lambda screen: "[imported]" in screen and "Loading..." not in screen and "Total disk usage" in screen)
        items = len(list(leaves(tree[3])))
        assert f"/{largest[:40]}" in screen, screen
        assert sum(line.count(" [") and "/" in line for line in screen.split("\n")) >= min(3, len(hosts) - 1), screen
        tmux("send-keys", "Enter")
        until(tmux, lambda screen: "/.." in screen and largest[:30] in screen.split("\n")[1])
        assert items > 0
    finally:
        tmux("kill-server")


def until(tmux, holds):
    """Waits for what a screen is to show."""
    end = time.monotonic() + PATIENCE
    while not holds(screen := tmux("capture-pane", "-p")):
        assert time.monotonic() < end, screen
        time.sleep(0.1)
    return screen


def main():
    cache = os.path.join(root, "it's a cache")
    subprocess.run([maker, "--entries", "3000", "--seed", "7", "--faults", "orphan-files,missing-bodies", cache], check=True)
    path = check_file(cache)
    print("file: ok", flush=True)
    hostile = check_hostile()
    print("hostile text: ok", flush=True)
    check_markdown(hostile)
    print("markdown: ok", flush=True)
    check_sizes()
    print("size: ok", flush=True)
    check_ncdu(cache, hostile)
    check_browser(path, hostile)


try:
    main()
finally:
    shutil.rmtree(root)
