"""Follows every relative link and picture of the README and the pages."""

import os
import re
import subprocess

import pytest

from products import REPOSITORY

FOLDER = REPOSITORY / "share/doc/urlcache-admin"
PAGES = [REPOSITORY / "README.md", *sorted(FOLDER.glob("*.md"))]
# What is about the sources and the tests is not installed.
DEVELOPERS = [REPOSITORY / "Sources/README.md", *sorted((REPOSITORY / "Tests").glob("**/README.md"))]
# A link or picture of Markdown, or an attribute of HTML.
TARGET = re.compile(r"\]\(([^)\s]+)\)|\b(?:href|src|srcset)=\"([^\"]+)\"")


def without_code(text):
    """The text of a page without its code, in which brackets mean something else."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"(?ms)^```.*?^```$", "", text))


def anchors(page):
    """The anchors that GitHub gives the headings of a page."""
    found = set()
    for heading in re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = 0
        while (anchor if count == 0 else f"{anchor}-{count}") in found:
            count += 1
        found.add(anchor if count == 0 else f"{anchor}-{count}")
    return found


def broken(page):
    """The links of a page that lead nowhere."""
    for match in TARGET.finditer(without_code(page.read_text(encoding="utf-8"))):
        target = match[1] or match[2]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists() or anchor and anchor not in anchors(file):
            yield target


@pytest.mark.parametrize("page", [*PAGES, *DEVELOPERS], ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links(page):
    """Each link leads to a file, and its anchor to a heading."""
    assert not list(broken(page)), page


def test_installed_links(tmp_path):
    """The same holds for the pages as they are installed, where the README is beside them."""
    for name in "urlcache-admin", "urlcache-admin-fetch":
        (tmp_path / name).write_text("")
    stage = ["sh", REPOSITORY / "share/urlcache-admin/stage.sh", "--binaries", tmp_path, "--prefix", "/usr", tmp_path / "tree"]
    subprocess.run(stage, check=True)
    pages = sorted((tmp_path / "tree/share/doc/urlcache-admin").glob("*.md"))
    assert {page.name for page in pages} == {page.name for page in PAGES}
    for page in pages:
        assert not list(broken(page)), page
        assert not re.search(r"\]\([./]*(Sources|Tests)/", page.read_text(encoding="utf-8")), page


def test_broken_links_are_found(tmp_path):
    """Missing files and anchors are reported, and those in code are not."""
    (tmp_path / "other.md").write_text("# A title, with `code`\n\n## Same\n\n## Same\n")
    page = tmp_path / "page.md"
    page.write_text("[a](other.md#a-title-with-code) [b](other.md#same-1) [c](#here) ![d](gone.svg) [e](other.md#gone)\n"
                    "`[f](code.md)`\n\n```\n[g](block.md)\n```\n\n<img src=\"lost.png\">\n\n# Here\n")
    assert list(broken(page)) == ["gone.svg", "other.md#gone", "lost.png"]


def test_index():
    """The index contains each page."""
    links = re.findall(r"\]\((\w[^)#]*\.md)\)", (FOLDER / "index.md").read_text(encoding="utf-8"))
    assert set(links) == {page.name for page in PAGES[1:]} - {"index.md"}
