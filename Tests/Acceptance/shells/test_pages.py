"""Holds the pages to the rules for a page: one budget of words for each, the answer first, and words that people use."""

import re

import pytest

from products import REPOSITORY

FOLDER = REPOSITORY / "share/doc/urlcache-admin"
# The words of each page; a tenth more is allowed.
BUDGETS = {
    "index": 350, "tutorial": 750, "cookbook": 1200, "faq": 900, "freshness": 1200, "removing": 800, "leftovers": 1700, "configuration": 2300,
    "scheduling": 1000, "monitoring": 1300, "troubleshooting": 1000, "findings": 1700, "watch": 450, "query": 600, "revalidate": 500,
    "security": 1050, "audit": 1900, "removed-entries": 1500, "archives": 1700, "importing": 900, "output": 1100, "json": 2800,
    "exit-statuses": 1000, "apple-cache": 850, "foundation-cache": 800, "webkit-cache": 1000, "changelog": 300,
}
# Those for developers, which are not installed.
DEVELOPERS = {"Sources/README.md": 4500, "Tests/README.md": 1000}
PAGES = sorted(FOLDER.glob("*.md"))
NAMES = [page.stem for page in PAGES]
# The most words of the paragraph below the title, and of a sentence.
FIRST, SENTENCE = 40, 25
# What the pages said that reads as translated, or that nobody but the authors says.
AVOIDED = re.compile(r"\b(anew|beside a running|in hand|at hand|whatever it|as little as|all the same|what goes|to tell apart|of one's own|each other one)\b", re.I)


def read(name):
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def prose(text):
    """The paragraphs and list items of a page, each on one line, without code, tables and headings."""
    text = re.sub(r"(?ms)^```.*?^```$", "", text)
    text = re.sub(r"(?m)^(#.*|\|.*|    .*)$", "", text)
    text = re.sub(r"(?m)^(- |\d+\. |\*\*[^\n]*\*\*$)", r"\n\n", text)
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def sentences(text):
    """The sentences of a page. Code in a sentence counts as one word, and so does a link."""
    for paragraph in prose(text):
        paragraph = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph))
        yield from re.split(r"(?<=[.?!:;])\s+", paragraph)


def test_budgets():
    """Every page has a budget and keeps it, and all together stay below the limit."""
    assert set(NAMES) == set(BUDGETS)
    counts = {name: len(read(name).split()) for name in NAMES}
    assert {name: count for name, count in counts.items() if count > BUDGETS[name] * 1.1} == {}
    assert sum(counts.values()) <= 33_000
    assert [name for name, budget in DEVELOPERS.items() if len((REPOSITORY / name).read_text(encoding="utf-8").split()) > budget * 1.1] == []


@pytest.mark.parametrize("name", NAMES)
def test_answer_first(name):
    """A page begins with a short paragraph, and a command follows it."""
    title, first, second = read(name).split("\n\n")[:3]
    assert title.startswith("# ") and len(re.sub(r"\]\([^)]*\)", "]", first).split()) <= FIRST, first
    assert second.startswith(("```sh\n", "```console\n")) or first.endswith(":"), second


@pytest.mark.parametrize("name", NAMES)
def test_sentences(name):
    """Sentences are short."""
    assert [sentence for sentence in sentences(read(name)) if len(sentence.split()) > SENTENCE] == []


@pytest.mark.parametrize("name", NAMES)
def test_words(name):
    """No page names a person's folder, or uses words of translations."""
    text = read(name)
    assert not re.search(r"/(Users|home)/anna", text) and not AVOIDED.findall(text)


# Facts that change with the systems: each is on the pages that are named, and others link to them.
FACTS = {r"`URLSession`\s+stores\s+nothing\s+by\s+itself": {"faq", "foundation-cache"}, r"drops\s+everything": {"faq"}, r"enable-linger": {"scheduling"},
         r"type-checked": {"faq"}, r"zeroes\s+the\s+rows": {"removed-entries"}, r"iOS\s+18\s+to\s+27": {"apple-cache"}, r"command -v urlcache-admin": {"scheduling"}}


@pytest.mark.parametrize("fact", FACTS)
def test_facts(fact):
    """A fact is stated where it belongs, and nowhere else."""
    assert {name for name in NAMES if re.search(fact, read(name))} == FACTS[fact]


def fragments(line):
    """The parts of a printed line that are the same each time: four words or more, between names, numbers, paths and commands."""
    line = re.sub(r"^\s*(error|hint|note): ", "", line).split("urlcache-admin ")[0]
    for part in re.split(r"'[^']*'|\"[^\"]*\"|(?<![\w-])[+-]?\d[\w.,%]*(?: [KMG]?i?B\b)?|\S*/\S*|[:;,()=]|\b\w+-?\w* s\b", line):
        words = part.split()
        if len(words) >= 4 and all(re.fullmatch(r"[\w'-]+", word) for word in words):
            yield " ".join(words)


def variants(fragment):
    """A fragment, as it is, with a value in the place of some of its words, and without the word that joins it to the one before."""
    words = fragment.split()
    yield fragment
    if len(words) > 3:
        yield " ".join(words[1:])
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            # At the end, two words before the value are enough.
            if end - start <= len(words) - (3 if end < len(words) else 2):
                yield " ".join([*words[:start], "\0", *words[end:]])


def messages(text):
    """The printed lines that a page shows: those of blocks without a language, if they are not JSON."""
    for language, block in re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", text):
        # The line of cron begins with numbers, and JSON with a brace.
        if not language and block[0] not in "{0123456789":
            yield from block.splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_messages(name, sources):
    """What a page shows as printed is in the sources of the program."""
    assert [part for line in messages(read(name)) for part in fragments(line) if not any(each in sources for each in variants(part.lower()))] == []


@pytest.fixture(scope="session")
def sources():
    """The literals of all sources, joined as the compiler does, with a gap for each value."""
    found = []
    for file in sorted((REPOSITORY / "Sources").glob("**/*.swift")):
        text = re.sub(r"(?m)^\s*//.*$", "", file.read_text(encoding="utf-8"))
        text = re.sub(r'"\s*\+\s*"', "", text)
        found.append(re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "\0", text))
    return " ".join(" ".join(found).split()).lower()


def test_fragments(sources):
    """A message that the program does not print is found."""
    line = "error: cannot meet the limits, so nothing was removed: at least 38.3 MiB would remain in use, more than the '--max-size' limit"
    assert list(fragments(line)) == ["cannot meet the limits", "so nothing was removed", "would remain in use"]
    assert any(each in sources for each in variants("cannot meet the limits")) and not any(each in sources for each in variants("cannot hold the limits"))


def test_splitting():
    """Long sentences are found in paragraphs and lists, and not in code."""
    text = "# T\n\nA b. C `d e f` [g h](i.md) j.\n\n- k\n  l\n- m\n\n```sh\nn o\n```\n\n| p | q |\n\n    r s\n"
    assert list(sentences(text)) == ["A b.", "C code g h j.", "k l", "m"]
