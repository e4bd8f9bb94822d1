"""Runs the commands in the shell blocks of the pages, to find commands that the program does not understand."""

import os
import re
import shlex
import shutil
import subprocess

import pytest

from products import REPOSITORY, maker, tool
from scratch import path

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "share/doc/urlcache-admin").glob("*.md"))]
CONFIGURATION = """[caches.shop]
path = "{folder}/shop"
max-entries = 100

[caches.news]
path = "{folder}/other"

[saved.failed]
where = "status in (4xx, 5xx)"
"""


def commands(page):
    """The command lines of a page, without comments, pipes and redirections."""
    for block in re.findall(r"(?ms)^```sh\n(.*?)^```", page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("urlcache-admin "):
                yield words(line)


def words(line):
    """The words of a command, up to a comment, a pipe or a redirection."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split = True
    found = []
    for word in lexer:
        if word in ("|", "<", ">"):
            break
        found.append(word)
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with what the commands are about."""
    folder = str(tmp_path_factory.mktemp("pages"))

    def run(*words):
        # The program that makes caches is found by the variable.
        variables = environment(folder) | {"PRODUCTS": os.path.dirname(tool)}
        subprocess.run(words, cwd=folder, check=True, capture_output=True, stdin=subprocess.DEVNULL, env=variables)

    with open(os.path.join(folder, "config.toml"), "w") as file:
        file.write(CONFIGURATION.format(folder=folder))
    for name in ("shop", "other"):
        run(maker, "--entries", "20", "--seed", "1", name)
    os.makedirs(os.path.join(folder, "Library/Caches"))
    shutil.copytree(os.path.join(folder, "shop"), os.path.join(folder, "Library/Caches/com.example.shop"))
    for name in ("cache.tar.zst", "crawl.warc.gz", "browser.har", "gone.tar.zst"):
        run(tool, "export", "-c", "shop", "-o", name)
    run(tool, "purge", "-c", "shop", "--host", ".example", "--plan", "plan.json")
    for name, text in [("head.txt", "HTTP/1.1 200 OK\r\n\r\n"), ("urls.txt", "https://example.com/\n"), ("catalog.txt", "https://example.com/\n")]:
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    os.mkdir(os.path.join(folder, "etags"))
    return folder


def environment(folder):
    """The environment of the commands: no network, and the configuration of the home."""
    return {"HOME": folder, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "URLCACHE_ADMIN_CONFIG": os.path.join(folder, "config.toml"),
            "PRODUCTS": os.environ["PRODUCTS"], "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}


@pytest.mark.parametrize("page", [page for page in PAGES if any(commands(page))], ids=lambda page: page.name)
def test_commands(home, page):
    """The program understands each command of a page: whatever it answers, it is not 'usage'."""
    misunderstood = []
    for number, command in enumerate(commands(page)):
        folder = path(str(number))
        shutil.copytree(home, folder)
        meant = {"PATH": f"{folder}/shop", "NEW": f"{folder}/new", "OTHER": f"{folder}/other", "DIR": f"{folder}/etags", "URL": "https://example.com/",
                 "NAME": "shop", "FOLDER": folder, "TIME": "2026-01-31", "F.prom": f"{folder}/F.prom"}
        arguments = [re.sub(r"^(~|/var/[a-z]+)(?=/)", folder, meant.get(word, word)) for word in command[1:]]
        # It would watch until Control-C.
        if arguments[0] == "watch":
            arguments += ["--for", "1s"]
        with open(os.path.join(folder, "config.toml"), "w") as file:
            file.write(CONFIGURATION.format(folder=folder))
        result = subprocess.run([tool, *arguments], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
                                env=environment(folder))
        # It would ask, and there is no terminal.
        asks = "--yes" in result.stderr and not re.search("unknown|unexpected|missing", result.stderr, re.I)
        if result.returncode in (64, 70, 78) and not asks:
            misunderstood.append((" ".join(command), result.returncode, result.stderr))
        shutil.rmtree(folder)
    assert not misunderstood, "\n".join(map(str, misunderstood))
