"""Indents random JSON, right and wrong, and compares the result with that of Python's `json`."""

import json
import os
import random
import subprocess

import pytest

import apple_store
from products import tool
from scratch import path

CHARACTERS = ["a", "\"", "\\", "/", "\n", "\t", "\0", "\x1f", "\x7f", "é", "\u2028", "\u202e", "😀", "\u0301", " ", "x" * 30]


def value(source, depth):
    kind = source.randrange(9 if depth < 5 else 6)
    if kind == 0:
        return source.choice([True, False, None])
    if kind == 1:
        return source.choice([0, -1, source.randrange(-10**30, 10**30)])
    if kind == 2:
        return source.choice([0.5, -1e300, source.uniform(-1e9, 1e9)])
    if kind < 6:
        return "".join(source.choices(CHARACTERS, k=source.randrange(9)))
    if kind == 6:
        return [value(source, depth + 1) for _ in range(source.randrange(5))]
    return {"".join(source.choices(CHARACTERS, k=5)): value(source, depth + 1) for _ in range(source.randrange(5))}


def spaced(source, text):
    """The text with white space wherever it may be."""
    result, is_string, is_escaped = [], False, False
    for character in text:
        if not is_string and (character in "[]{},:" or character == '"'):
            result.append("".join(source.choices(" \t\r\n", k=source.randrange(3))))
        result.append(character)
        if is_escaped:
            is_escaped = False
        elif is_string and character == "\\":
            is_escaped = True
        elif character == '"':
            is_string = not is_string
    return "".join(result)


def is_json(text):
    def refuse(name):
        raise ValueError(name)

    try:
        # A number is only text here, as Python has limits of its own.
        json.loads(text.decode("utf-8-sig"), parse_constant=refuse, parse_int=str, parse_float=str)
        return True
    except ValueError:
        return False


LARGE = {"list": [{"name": f"é {number}", "value": number / 7} for number in range(20_000)]}


def document(seed):
    """A random value, whether it is written in ASCII, and the bytes of it with white space."""
    source = random.Random(seed)
    random_value = value(source, 0)
    ascii = source.random() < 0.5
    text = json.dumps(random_value, ensure_ascii=ascii, separators=(",", ":"))
    return random_value, ascii, spaced(source, text).encode()


def damaged(seed):
    """The bytes of a document with some changes."""
    source = random.Random(seed)
    text = bytearray(document(seed)[2])
    for _ in range(source.randrange(1, 3)):
        where = source.randrange(len(text) + 1)
        text[where:where + source.randrange(2)] = source.choice([b"", b",", b"]", b"}", b"\"", b"0", b"-", b"e", b"\xff", b" "])
    return bytes(text)


def make(bodies):
    """A cache with these bodies, whose ids begin with 0."""
    folder = path("cache")
    os.mkdir(folder)
    database = apple_store.create(folder)
    for number, text in enumerate(bodies):
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, request_key) VALUES (?, ?)", (number, f"key {number}"))
        database.execute("INSERT INTO cfurl_cache_blob_data(entry_ID) VALUES (?)", (number,))
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, ?)", (number, text))
    database.commit()
    database.close()
    return folder


def body(cache, number, *options):
    return subprocess.run([tool, "body", "-c", cache, str(number), "--pretty", *options], capture_output=True)


@pytest.fixture
def seeds(thorough):
    return range(200 if thorough else 50)


def test_random_json(seeds):
    """Random JSON with white space in all places is indented as Python indents it."""
    documents = [document(seed) for seed in seeds]
    cache = make([text for _, _, text in documents])
    for seed, (expected, ascii, _) in zip(seeds, documents):
        result = body(cache, seed)
        assert result.returncode == 0 and result.stderr == b"", (seed, result)
        assert result.stdout.decode() == json.dumps(expected, ensure_ascii=ascii, indent=2) + "\n", (seed, result)


def test_large_json():
    """Large JSON is indented as Python indents it."""
    assert body(make([json.dumps(LARGE).encode()]), 0).stdout.decode() == json.dumps(LARGE, indent=2) + "\n"


def test_wrong_json(seeds):
    """Wrong JSON is refused with the place of the mistake and leaves no file, and right JSON keeps its value."""
    bodies = [damaged(seed) for seed in seeds]
    cache, file, refused = make(bodies), path("out"), 0
    for seed, text in zip(seeds, bodies):
        result = body(cache, seed, "-o", file)
        if is_json(text):
            assert result.returncode == 0, (seed, text, result)
            with open(file) as written:
                assert json.load(written) == json.loads(text), (seed, text, result)
            os.remove(file)
        else:
            refused += 1
            assert result.returncode == 65 and b" at byte " in result.stderr, (seed, text, result)
            assert not os.path.exists(file), seed
    assert 0.4 * len(seeds) < refused < len(seeds), refused
