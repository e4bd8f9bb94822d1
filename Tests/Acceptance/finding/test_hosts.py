"""Spells hosts in all ways that mean the same host, in the cache and on the command line: each spelling selects the same entries."""

import json
import unicodedata

import pytest

import worlds
from scratch import path

# Of each host: what an app may store, and what a user may write. No other host of the cache may be selected.
SPELLINGS = {
    "umlaut": ["bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "XN--BCHER-KVA.Example",
               unicodedata.normalize("NFD", "bücher.example"), "b%C3%BCcher.example"],
    "sharp s": ["straße.example", "xn--strae-oqa.example", "Straße.EXAMPLE"],
    "kana": ["例え.example", "xn--r8jz45g.example", "例え。example"],
    "voiced kana": ["ガイド.example", unicodedata.normalize("NFD", "ガイド.example"), "xn--eckp2g.example"],
    "cyrillic": ["мой.example", "МОЙ.example", unicodedata.normalize("NFD", "мой.example"), "xn--i1afg.example"],
    "greek": ["ήλιος.example", "ΉΛΙΟς.example", unicodedata.normalize("NFD", "ήλιος.example")],
    "hangul": ["한국.example", unicodedata.normalize("NFD", "한국.example"), "xn--3e0b707e.example"],
    "two marks": ["phệ.example", unicodedata.normalize("NFD", "phệ.example"), "phê\u0323.example"],
    "ascii": ["plain.example", "PLAIN.example", "ｐｌａｉｎ．example"],
    "port": ["port.example:443", "port.example"],
}
# Similar, and not the same.
OTHERS = ["bucher.example", "strasse.example", "xn--plain-.example", "port.example:8443", "xn--bcher-.example"]


def test_subdomains():
    """'*.example.com' means the subdomains, as in certificates, and '.example.com' also the host itself."""
    names = ["a.example", "b.a.example", "c.b.a.example", "xa.example", "bücher.example", "x.xn--bcher-kva.example", "a.example.org"]
    some = [worlds.Entry(f"https://{host}/", stored=1_700_000_000) for host in names]
    worlds.apple(path("cache"), some)

    def hosts(*words):
        return [names[number - 1] for number in ids("-c", path("cache"), *words)]

    for option in ["--host", "{}"], ["--where", 'host = "{}"'], ["--where", 'host in ("x.org", "{}")']:
        def asked(text):
            return hosts(option[0], option[1].format(text))
        assert asked("*.a.example") == asked("*.A.Example") == ["b.a.example", "c.b.a.example"]
        assert asked(".a.example") == ["a.example", "b.a.example", "c.b.a.example"]
        assert asked("*.bücher.example") == asked("*.xn--bcher-kva.example") == ["x.xn--bcher-kva.example"]
        assert asked("*.c.b.a.example") == []
    for wrong in "*.", "*", "*a.example", "*.*.example", "*..example", "a.*.example":
        refused = worlds.run("list", "-c", path("cache"), "--host", wrong, status=64)
        assert "is not a host" in refused.stderr, (wrong, refused)


def cases():
    return [pytest.param(kind, stored, asked, id=f"{kind}, {ascii(stored)[1:-1]}, {ascii(asked)[1:-1]}")
            for kind, spellings in SPELLINGS.items() for stored in spellings[:3] for asked in spellings]


def make(stored):
    some = [worlds.Entry(f"https://{host}/a", stored=1_700_000_000) for host in [*OTHERS, stored]]
    return worlds.apple(path("cache"), some), some[-1]


def ids(*words):
    lines = worlds.run("list", *words, "--format", "ndjson", "--columns", "id", status=(0, 1)).stdout.splitlines()
    return [json.loads(line)["id"] for line in lines]


@pytest.mark.parametrize("kind, stored, asked", cases())
def test_each_spelling_selects_the_same(kind, stored, asked):
    cache, entry = make(stored)
    url, name = f"https://{asked}/a", asked.split(":")[0]
    same = [[url], ["--prefix", f"https://{asked}/"], ["--prefix", f"https://{asked}/a"]]
    if "%" not in asked:
        same += [["--host", name], ["--host", f".{name}"], ["--where", f'host = "{name}"'], ["--where", f'host in ("x.example", "{name}")']]
    if "。" not in asked and kind != "port":
        same += [["--where", f'host ^= "{name[:-8]}"']] * ("%" not in asked and not asked.lower().startswith("xn--"))
    for words in same:
        found = ids("-c", cache, *words)
        # The other port is another origin, but the same host.
        wanted = [entry.id] if kind != "port" or "--host" not in words and "--where" not in words else [4, entry.id]
        assert found == wanted, (words, found)
    with open(path("urls"), "w") as file:
        file.write(url + "\n")
    assert ids("-c", cache, "--url-file", path("urls")) == [entry.id]


@pytest.mark.parametrize("verb", [["show"], ["body"], ["explain"], ["export", "-o", "-", "--format", "har"]])
def test_looking_verbs_find_it(verb):
    cache, entry = make("xn--bcher-kva.example")
    result = worlds.run(verb[0], "-c", cache, "https://bücher.example/a", *verb[1:], status=(0, 1))
    assert "no entry has" not in result.stderr and result.stdout, result


@pytest.mark.parametrize("stored, asked", [("xn--bcher-kva.example", "bücher.example"), ("bücher.example", "xn--bcher-kva.example"),
                                           ("xn--bcher-kva.example", "BÜCHER.example:443")])
@pytest.mark.parametrize("way", ["pin", "everywhere", "rule url", "rule host", "rule where", "rule prefix", "rule glob", "rule regex"])
def test_what_is_kept(way, stored, asked):
    """A pin or a rule with another spelling keeps the entry, and nothing else."""
    cache, entry = make(stored)
    host, rule = asked.split(":")[0], "[[caches.shop.rules]]\naction = 'keep'\nmatch."
    text, settings = "", {}
    if way == "pin":
        settings["pinned"] = [f"https://{asked}/a"]
    elif way.startswith("rule"):
        text = rule + {"url": f"url = 'https://{asked}/a'", "host": f"host = '{host}'", "where": f"where = 'host = \"{host}\"'",
                       "prefix": f"prefix = 'https://{asked}/'", "glob": f"glob = 'https://{host.lower()}/*'",
                       "regex": f"regex = 'https://{host.lower()}/.*'"}[way.removeprefix("rule ")]
    worlds.configure(cache, text, **settings)
    if way == "everywhere":
        worlds.run("pin", "--everywhere", f"https://{asked}/a", status=0)
    if way.startswith("rule"):
        worlds.run("enforce", "shop", "--max-age", "1s", "--yes", status=0)
    else:
        worlds.run("purge", "-c", cache, "--all", "--yes", status=0)
    assert list(worlds.contents(cache)) == [entry.id]


def test_pins_are_the_same_pin():
    """Another spelling of a pinned URL is pinned already, and unpins it."""
    cache, _ = make("xn--bcher-kva.example")
    worlds.configure(cache)
    worlds.run("pin", "-c", "shop", "https://bücher.example/a", status=0)
    result = worlds.run("pin", "-c", "shop", "https://xn--bcher-kva.example/a", status=0)
    assert "already pinned: 1 URL" in result.stderr
    assert worlds.run("unpin", "-c", "shop", "https://BÜCHER.example:443/a", status=0).stdout == "Unpinned 1 URL in 'shop'\n"


def test_what_removes():
    """'purge' of one spelling removes the other one, and no similar host."""
    cache, entry = make("bücher.example")
    worlds.run("purge", "-c", cache, "--host", "xn--bcher-kva.example", "--yes", status=0)
    assert entry.id not in worlds.contents(cache) and len(worlds.contents(cache)) == len(OTHERS)


def test_foundation():
    cache = worlds.foundation(path("cache"), [entry := worlds.Entry("https://xn--bcher-kva.example/a"), worlds.Entry("https://b.example/")])
    for words in [["https://bücher.example/a"], ["--host", "bücher.example"], ["--prefix", "https://BÜCHER.example/"]]:
        assert ids("-c", cache, *words) == [entry.id], words


def test_columns_stay_as_they_are():
    """What is shown is what is stored."""
    cache, _ = make("bücher.example")
    hosts = [json.loads(line)["host"] for line in worlds.run("list", "-c", cache, "--format", "ndjson", "--columns", "host").stdout.splitlines()]
    assert hosts[-1] == "bücher.example" and "xn--bcher-.example" in hosts
