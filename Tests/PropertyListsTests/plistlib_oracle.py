"""Makes property lists of every type with plistlib, and reads them again.

    plistlib_oracle.py generate FOLDER   500 lists N.plist, and a line for each in `expected`
    plistlib_oracle.py verify FOLDER     reads N.plist, and compares with `expected`
"""

import datetime, os, plistlib, random, struct, sys

EPOCH = datetime.datetime(2001, 1, 1)


def line(value):
    """One line of text for a tree; dictionaries keep their order."""
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return "r%x" % struct.unpack(">Q", struct.pack(">d", value))
    if isinstance(value, datetime.datetime):
        return "t%x" % struct.unpack(">Q", struct.pack(">d", (value - EPOCH).total_seconds()))
    if isinstance(value, bytes):
        return "d" + value.hex()
    if isinstance(value, str):
        return "s" + value.encode().hex()
    if isinstance(value, plistlib.UID):
        return f"u{value.data}"
    if isinstance(value, list):
        return "[" + ",".join(line(item) for item in value) + "]"
    return "{" + ",".join(key.encode().hex() + ":" + line(item) for key, item in value.items()) + "}"


def text(random):
    alphabet = random.choice(["abc XYZ 019", "äöß€漢", "a😀𝄞b", ""])
    count = random.choice([0, 1, 5, 14, 15, 16, 300]) if alphabet else 0
    return "".join(random.choice(alphabet) for _ in range(count))


def tree(random, depth):
    kind = random.randrange(10 if depth else 8)
    if kind == 0:
        return random.random() < 0.5
    if kind == 1:
        return random.choice([0, 1, 255, 256, 65535, 65536, 2**31, 2**32, 2**63 - 1, -1, -2**63])
    if kind == 2:
        return random.uniform(-1e12, 1e12)
    if kind == 3:
        return EPOCH + datetime.timedelta(seconds=random.randrange(-10**9, 10**9))
    if kind == 4:
        return random.randbytes(random.choice([0, 1, 14, 15, 16, 255, 256, 70000]))
    if kind == 5:
        return plistlib.UID(random.choice([0, 255, 256, 65536, 2**32, 2**64 - 1]))
    if kind in (6, 7):
        return text(random)
    count = random.choice([0, 1, 3, 14, 15, 16, 300 if depth < 2 else 4])
    if kind == 8:
        return [tree(random, depth - 1) for _ in range(count)]
    return {text(random) + str(number): tree(random, depth - 1) for number in range(count)}


def main():
    verb, folder = sys.argv[1:]
    if verb == "generate":
        source = random.Random(20260101)
        with open(os.path.join(folder, "expected"), "w") as expected:
            for number in range(500):
                # The last list has so many objects that references take four bytes.
                value = tree(source, number % 4) if number < 499 else list(range(70000))
                with open(os.path.join(folder, f"{number}.plist"), "wb") as file:
                    plistlib.dump(value, file, fmt=plistlib.FMT_BINARY, sort_keys=False)
                expected.write(line(value) + "\n")
        return
    with open(os.path.join(folder, "expected")) as expected:
        for number, wanted in enumerate(expected):
            with open(os.path.join(folder, f"{number}.plist"), "rb") as file:
                assert line(plistlib.load(file)) + "\n" == wanted, number


main()
