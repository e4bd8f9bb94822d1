"""Indents random JSON, right and wrong, and compares with Python's `json`.

    check_pretty.py URLCACHE-ADMIN
"""

import json, os, random, shutil, subprocess, sys, tempfile

import apple_store

tool = sys.argv[1]
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


def body(cache, number, *options):
    return subprocess.run([tool, "body", "-c", cache, str(number), *options], capture_output=True)


def make(folder, bodies):
    database = apple_store.create(folder)
    for number, text in enumerate(bodies):
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, request_key) VALUES (?, ?)", (number, f"key {number}"))
        database.execute("INSERT INTO cfurl_cache_blob_data(entry_ID) VALUES (?)", (number,))
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, ?)", (number, text))
    database.commit()


def main(folder):
    values, bodies, escapes = [], [], []
    for seed in range(200):
        source = random.Random(seed)
        values.append(value(source, 0))
        escapes.append(source.random() < 0.5)
        text = json.dumps(values[-1], ensure_ascii=escapes[-1], separators=(",", ":"))
        bodies.append(spaced(source, text).encode())
    large = {"list": [{"name": f"é {number}", "value": number / 7} for number in range(20_000)]}
    bodies.append(json.dumps(large).encode())
    for seed in range(200):
        source = random.Random(seed)
        text = bytearray(bodies[seed])
        for _ in range(source.randrange(1, 3)):
            where = source.randrange(len(text) + 1)
            text[where:where + source.randrange(2)] = source.choice([b"", b",", b"]", b"}", b"\"", b"0", b"-", b"e", b"\xff", b" "])
        bodies.append(bytes(text))
    make(folder, bodies)

    for number, expected in enumerate(values):
        result = body(folder, number, "--pretty")
        assert result.returncode == 0 and result.stderr == b"", (number, result)
        assert result.stdout.decode() == json.dumps(expected, ensure_ascii=escapes[number], indent=2) + "\n", (number, result)
    print("random JSON: ok")

    assert body(folder, 200, "--pretty").stdout.decode() == json.dumps(large, indent=2) + "\n"
    print("large JSON: ok")

    refused = 0
    for number in range(201, 401):
        path = os.path.join(folder, "out")
        result = body(folder, number, "--pretty", "-o", path)
        if is_json(bodies[number]):
            assert result.returncode == 0 and json.load(open(path)) == json.loads(bodies[number]), (bodies[number], result)
            os.remove(path)
        else:
            refused += 1
            assert result.returncode == 65 and b" at byte " in result.stderr, (bodies[number], result)
            assert not os.path.exists(path), number
    assert 80 < refused < 200, refused
    print("wrong JSON: ok")


folder = tempfile.mkdtemp()
try:
    main(folder)
finally:
    shutil.rmtree(folder)
