"""Compares the manual pages with what is generated, has mandoc look at them, and runs all of their examples."""

import filecmp
import json
import os
import re
import shutil
import subprocess
import textwrap
import time

import pytest

import generate_manual
import peers
from products import REPOSITORY, maker, tool
from scratch import path

SHARE = REPOSITORY / "share"
PAGES = sorted(map(str, SHARE.glob("man/man*/*")))
NAMES = [os.path.basename(page) for page in PAGES]

pytestmark = peers.needed("mandoc")


def read(file):
    with open(file) as opened:
        return opened.read()


def rendered(page):
    """The page as a user reads it, so that a command that is copied is the one that is run."""
    result = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=400", page], capture_output=True, text=True, check=True)
    return re.sub(".\b", "", result.stdout)


def test_generated():
    """The pages are those that the program and the prose of the manual make."""
    folder = path("man")
    generated = generate_manual.main(tool, folder)
    assert [os.path.relpath(page, SHARE / "man") for page in PAGES] == generated, (PAGES, generated)
    for page in generated:
        assert filecmp.cmp(os.path.join(folder, page), SHARE / "man" / page, shallow=False), (
            f"{page} is out of date: run 'python3 Tests/Scripts/generate_manual.py .build/debug/urlcache-admin share/man'")


def test_markup():
    """mandoc finds no fault in the pages, and they refer to each other only."""
    result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *PAGES], capture_output=True, text=True)
    assert result.returncode == 0 and not result.stdout + result.stderr, result.stdout
    for page in PAGES:
        for name, section in re.findall(r"^\.Xr (urlcache-\S+) (\d)", read(page), re.MULTILINE):
            assert f"{name}.{section}" in NAMES, (page, name)


def test_options():
    """The page of each command shows all of its options that are no mere synonyms."""
    dump = json.loads(subprocess.run([tool, "--experimental-dump-help"], capture_output=True, check=True).stdout)
    for command in dump["command"]["subcommands"]:
        if command["commandName"] == "help" or not command["shouldDisplay"]:
            continue
        text = rendered(SHARE / f"man/man1/urlcache-admin-{command['commandName']}.1")
        for child in command.get("subcommands", [command]):
            for argument in child["arguments"]:
                # Options of other programs that are accepted silently.
                if not argument["shouldDisplay"]:
                    continue
                for name in argument.get("names", []):
                    option = ("--" if name["kind"] == "long" else "-") + name["name"]
                    assert re.search(rf"^ +(-[a-z\S]+.*, )?{option}\b", text, re.MULTILINE), (command["commandName"], option)


def test_descriptions():
    """The page of each command has all that `--help` says of it, and its commands and tables line by line."""
    dump = json.loads(subprocess.run([tool, "--experimental-dump-help"], capture_output=True, check=True).stdout)
    for command in dump["command"]["subcommands"]:
        if command["commandName"] == "help" or not command["shouldDisplay"]:
            continue
        text = rendered(SHARE / f"man/man1/urlcache-admin-{command['commandName']}.1")
        words, rows = " ".join(text.split()), [" ".join(row.split()) for row in text.splitlines()]
        for child in command.get("subcommands", [command]):
            # The pages have longer examples.
            discussion = re.sub(r"^EXAMPLES\n(  .*\n)+", "", child.get("discussion", ""), flags=re.MULTILINE)
            for paragraph in re.split(r"\n\s*\n", re.sub(r"^[A-Z]+$", "\n", discussion, flags=re.MULTILINE)):
                if paragraph.strip() and not paragraph.startswith("  "):
                    assert " ".join(paragraph.split()).replace("…", "...") in words, (command["commandName"], paragraph)
            for row in re.findall(r"^  (urlcache-admin .*|\S+  +\S.*)$", discussion, re.MULTILINE):
                assert any(shown.startswith(" ".join(row.split()[:4])) for shown in rows), (command["commandName"], row)


def test_opposites():
    """An option and its opposite have different texts."""
    dump = json.loads(subprocess.run([tool, "--experimental-dump-help"], capture_output=True, check=True).stdout)
    found = 0
    for command in dump["command"]["subcommands"]:
        texts = {argument["names"][-1]["name"]: argument.get("abstract") for argument in command.get("arguments", []) if argument.get("names")}
        for name in texts:
            if f"no-{name}" in texts:
                found += 1
                assert texts[name] != texts[f"no-{name}"], (command["commandName"], name)
    assert found > 4, found


def test_settings():
    """The page about the configuration shows all settings."""
    text = rendered(SHARE / "man/man5/urlcache-admin.conf.5")
    source = read(REPOSITORY / "Sources/Administration/Configuring/Setting.swift").partition("public var")[0]
    settings = re.findall(r"^  case (?:[a-zA-Z]+ = \"(.*)\"|([a-z]+))$", source, re.MULTILINE)
    assert len(settings) > 9, settings
    for setting in settings:
        assert re.search(rf"^ +{''.join(setting)}\b", text, re.MULTILINE), setting


def configuration():
    """The example of the page about the configuration."""
    text = rendered(SHARE / "man/man5/urlcache-admin.conf.5")
    return textwrap.dedent(text.partition("\nEXAMPLES\n")[2].partition("\nSEE ALSO\n")[0])


def make_home(root, name, *options):
    """A home with the configuration of the page about it, and the cache that this names."""
    home = os.path.join(root, name)
    cache = os.path.join(home, "Library/Caches/com.example.shop")
    os.makedirs(os.path.dirname(cache))
    newest = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 86400))
    subprocess.run([maker, "--entries", "200", "--seed", "3", "--newest", newest, *options, cache], check=True)
    os.makedirs(os.path.join(home, ".config/urlcache-admin"))
    with open(os.path.join(home, ".config/urlcache-admin/config.toml"), "w") as file:
        file.write(configuration())
    return home


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """The folder of a home whose cache is whole, and of one whose cache is damaged."""
    root = os.path.realpath(tmp_path_factory.mktemp("manual"))
    return {"whole": make_home(root, "whole"), "damaged": make_home(root, "damaged", "--faults", "orphan-files,missing-bodies,undecodable")}


def examples(page):
    """The commands of a page, each with the status that the page has it marked with."""
    marked = re.findall(r'^(?:\.\\" (\d+)\n)?\.Dl \$ ', read(page), re.MULTILINE)
    commands = re.findall(r"^ +\$ (.*)$", rendered(page), re.MULTILINE)
    assert len(marked) == len(commands), (page, marked, commands)
    return list(zip(marked, commands))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_examples(homes, page):
    """Each command of a page ends as the page has it marked, in a home of its own."""
    environment = {"PATH": os.path.dirname(tool) + ":/usr/bin:/bin", "TMPDIR": path("temporary"), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    home = shutil.copytree(homes["damaged" if page.endswith("-check.1") else "whole"], path("page"))
    commands = examples(page)
    assert commands or page.endswith("urlcache-admin.conf.5"), page
    for status, command in commands:
        result = subprocess.run(["sh", "-c", command], cwd=home, env=environment | {"HOME": home},
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        assert result.returncode == int(status or 0), (command, result)
        assert result.stdout or result.stderr or ">" in command or "-o " in command, command


def test_number_of_examples():
    """The pages have many examples."""
    assert sum(len(re.findall(r"^\.Dl \$ ", read(page), re.MULTILINE)) for page in PAGES) > 60
