"""Reads reports with a parser of HTML, and lists a cache for a real `ncdu`."""

import json
import os
import random
import re
import subprocess
import time

import pytest

import peers
from chromium import PATIENCE
from heard_signals import hear_signals
from products import tool
from report_pages import AT, HOSTILE, PIECES, cache_of, check_policy, harmless, report, shown
from scratch import make, path, read, run, write


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A cache with hostile text in all places."""
    return cache_of(HOSTILE, str(tmp_path_factory.mktemp("report") / "hostile"))


def made_up():
    return make("it's a cache", "--faults", "orphan-files,missing-bodies", entries=300, seed=7)


@pytest.fixture
def shape():
    """The kinds of elements that the report of a harmless cache has."""
    quiet = cache_of([f"https://{c}.example/f/{n}" for c in "abcdef" for n in range(40)], path("quiet"))
    return check_policy(report(quiet, "--capacity", "1GiB")).shape()


def test_file():
    """A report is written whole or not at all, and never replaces something else."""
    cache, file = made_up(), path("report.html")
    run("report", "-c", cache, "--at", AT, "-o", file)
    assert read(file) == report(cache)
    assert b"cannot create" in run("report", "-c", cache, "-o", file, status=73).stderr
    run("report", "-c", cache, "--at", AT, "-o", file, "--force", "--capacity", "64MiB")
    assert run("report", "-c", cache, "-o", os.path.join(cache, "Cache.db"), "--force", status=64).stderr
    assert run("report", "-c", cache, "-o", "/no/such/folder/r.html", status=73).stderr
    assert run("report", "-c", path("none"), "-o", path("x.html"), status=66).stderr
    assert not any(name.startswith(("x.html", "report.html.")) for name in os.listdir(path("")))


@pytest.mark.parametrize("options", [[], ["--capacity", "1GiB"], ["--show-secrets"]], ids=["plain", "capacity", "secrets"])
def test_hostile_text(hostile, shape, options):
    """No text of a cache gets out of its place: the report of a hostile cache has the elements that a harmless one has."""
    data = report(hostile, *options)
    page = check_policy(data)
    harmless(data.decode())
    assert page.shape() <= shape, page.shape() - shape
    tree = json.loads(page.text("script").split("(() => {")[0])
    assert tree["total"] > 0 and len(tree["tree"]) > 9, tree["total"]
    everything = "".join(text for _, text in page.texts)
    for url in HOSTILE:
        # The largest are in the table as a whole, if they are not too long.
        if url.startswith("https://a.example/") and len(shown(url)) <= 160 and "token" not in url:
            assert shown(url) in everything, url
    for secret in ["hidden-password", "hidden-token", "hidden-too"]:
        assert (secret in everything) == ("--show-secrets" in options), secret


@pytest.mark.parametrize("urls", [[b"https://\xff\xfe.example/\xc3(\xff", b"\xff", "https://x.example/"], []], ids=["not UTF-8", "empty"])
def test_odd_caches(urls):
    """A cache with URLs that are not UTF-8, or with no entry, has a report as others."""
    check_policy(report(cache_of(urls, path("cache"))))


def test_random_text(shape, thorough):
    """No mixture of hostile pieces gets out of its place."""
    generator = random.Random(7)
    for round in range(12 if thorough else 3):
        urls = {"https://" + "".join(generator.choices(PIECES, k=2)).replace("/", "") + ".example/"
                + "".join(generator.choices(PIECES + ["/"] * 9, k=generator.randrange(9))) for _ in range(60)}
        data = report(cache_of(sorted(urls), path(f"random{round}")), "--capacity", "1GiB")
        page = check_policy(data)
        harmless(data.decode())
        assert page.shape() <= shape, (round, page.shape() - shape)


def test_markdown(hostile):
    """In Markdown all text of a cache is code, which nothing ends, and all rows of a table have the same number of cells."""
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


def test_size():
    """The size of a report has a bound, even if a cache is made to be large."""
    long = "<" * 300
    urls = [f"https://h{n % 60}{long}.example/{n % 7}{long}/{n}{long}" for n in range(2_500)]
    data = report(cache_of(urls, path("many"), [10_000 + n % 977 for n in range(2_500)]), "--capacity", "1GiB")
    check_policy(data)
    assert len(data) < 600_000, len(data)


def ncdu(cache, *options):
    return json.loads(run("list", "-c", cache, "--format", "ncdu", *options).stdout)


def leaves(node, path=()):
    """The entries of a tree: their folders, their name, and their size."""
    if isinstance(node, dict):
        yield (*path, node["name"]), node["asize"]
        return
    for child in node[1:]:
        yield from leaves(child, (*path, node[0]["name"]))


def test_ncdu_tree():
    """The tree for ncdu has the entries and the sizes of 'list'."""
    cache = made_up()
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
    once(tree[3])


def once(node):
    """No folder is there twice, as ncdu would show it twice."""
    names = [child[0]["name"] for child in node[1:] if isinstance(child, list)]
    assert len(set(names)) == len(names), names
    for child in node[1:]:
        if isinstance(child, list):
            once(child)


def test_ncdu_hostile_text(hostile):
    """The tree for ncdu hides secrets and invisible characters."""
    tree = ncdu(hostile)
    harmless(json.dumps(tree, ensure_ascii=False))
    once(tree[3])
    assert "hidden-" not in json.dumps(tree) and "hidden-token" in json.dumps(ncdu(hostile, "--show-secrets"))


@peers.needed("ncdu", "tmux")
@pytest.mark.parametrize("kind", ["made up", "hostile"])
def test_ncdu(hostile, kind):
    """ncdu shows the tree."""
    cache = hostile if kind == "hostile" else made_up()
    file = write("tree.json", run("list", "-c", cache, "--format", "ncdu").stdout)
    browse(file, json.loads(read(file)))


def browse(file, tree):
    """Looks at a tree with ncdu itself, on a terminal of tmux."""
    def tmux(*words):
        return subprocess.run(["tmux", "-L", f"test{os.getpid()}", *words], capture_output=True, text=True, check=True).stdout
    tmux("new-session", "-d", "-x", "110", "-y", "40", "env", "LANG=C.UTF-8", "ncdu", "-f", file)
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


def test_a_signal_ends_it_at_once():
    """A signal while the cache is read ends the command, and leaves no file behind."""
    cache = make("many", "--no-large-bodies", entries=20_000, seed=5)
    for signal in ["INT", "TERM"]:
        words = [tool, "report", "-c", cache, "-o", path("report.html")]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=hear_signals)
        # It reads bodies for seconds.
        time.sleep(0.5)
        assert process.poll() is None
        start = time.monotonic()
        process.send_signal(getattr(__import__("signal"), "SIG" + signal))
        process.communicate()
        assert time.monotonic() - start < 0.5, time.monotonic() - start
        assert process.returncode in (-2, -15, 130, 143), process.returncode
        assert not [name for name in os.listdir(os.path.dirname(path("x"))) if "report" in name]
    assert b"cannot create" in run("report", "-c", cache, "-o", path("none/report.html"), status=73).stderr
