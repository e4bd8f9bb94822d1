"""Compares `body --decoded` with what gzip, zstd and Python decode, and tries broken and huge bodies.

    check_decoding.py URLCACHE-ADMIN
"""

import gzip, json, os, random, shutil, subprocess, sys, tempfile, time, zlib

import apple_store

tool = sys.argv[1]
MEBIBYTE = 1 << 20

# Runs a program, and writes last to the standard error how many KiB it had in memory. A small process does it: what a
# process had before it became another program counts too.
MEASURE = """import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)"""


def run(program, data):
    return subprocess.run(program, input=data, capture_output=True, check=True).stdout


def body(cache, number, *options):
    return subprocess.run([tool, "body", "-c", cache, str(number), "--decoded", *options], capture_output=True)


def make(folder, bodies):
    """A store with each body in the database, and, from 4,096 bytes on, in a file."""
    os.mkdir(os.path.join(folder, "fsCachedData"))
    database = apple_store.create(folder)
    for number, data in enumerate(bodies):
        database.execute("INSERT INTO cfurl_cache_response(entry_ID, request_key) VALUES (?, ?)", (number, f"key {number}"))
        database.execute("INSERT INTO cfurl_cache_blob_data(entry_ID) VALUES (?)", (number,))
        is_file = len(data) >= 4096
        name = f"00000000-0000-0000-0000-{number:012X}"
        if is_file:
            with open(os.path.join(folder, "fsCachedData", name), "wb") as file:
                file.write(data)
        database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, ?, ?)", (number, is_file, name if is_file else data))
    database.commit()
    database.close()


def bomb():
    """One member of gzip of which 10 GiB of zeros come, made without compressing them all."""
    coder = zlib.compressobj(9, zlib.DEFLATED, 31)
    start = coder.compress(bytes(MEBIBYTE)) + coder.flush(zlib.Z_FULL_FLUSH)
    block = coder.compress(bytes(MEBIBYTE)) + coder.flush(zlib.Z_FULL_FLUSH)
    assert block == coder.compress(bytes(MEBIBYTE)) + coder.flush(zlib.Z_FULL_FLUSH)
    return start + block * (10 * 1024 - 1) + coder.flush()


def main(folder):
    source = random.Random(1)
    texts = [b"", b"a", b"text " * 1000, source.randbytes(300_000), bytes(3 * MEBIBYTE), json.dumps({"a": [1]}).encode()]
    coders = [lambda text: run(["gzip", "-1"], text), lambda text: run(["gzip", "-9"], text), gzip.compress,
              lambda text: run(["zstd", "-qc"], text), lambda text: run(["zstd", "-qc", "-19", "--no-check"], text)]
    expected, coded = [], []
    for coder in coders:
        for text in texts:
            expected.append(text)
            coded.append(coder(text))
        expected.append(b"".join(texts))
        coded.append(b"".join(map(coder, texts)))
    stored = [b"", b"\x1f", b"plain", b"\x28\xb5\x2f", run(["xz", "-c"], b"text") if shutil.which("xz") else b"\xfd7zXZ\0"]
    broken = []
    for data in (coded[6], coded[27]):
        for _ in range(15):
            broken.append(data[:source.randrange(4, len(data))])
        for _ in range(15):
            place = source.randrange(20, len(data))
            broken.append(data[:place] + bytes([data[place] ^ 1 << source.randrange(8)]) + data[place + 1:])
        broken.append(data + b"garbage")
    bombs = [bomb(), gzip.compress(bytes(64 * MEBIBYTE)) * 160, run(["zstd", "-qc"], bytes(64 * MEBIBYTE)) * 160]
    make(folder, coded + stored + broken + bombs)
    out = os.path.join(folder, "out")

    for number, text in enumerate(expected):
        result = body(folder, number)
        assert (result.returncode, result.stdout, result.stderr) == (0, text, b""), (number, result.returncode, result.stderr)
        program = ["zstd", "-dcq"] if coded[number][:1] == b"\x28" else ["gzip", "-dc"]
        assert run(program, coded[number]) == text, number
    result = body(folder, 5, "--pretty", "-o", out)
    assert result.returncode == 0 and open(out).read() == json.dumps({"a": [1]}, indent=2) + "\n", result
    os.remove(out)
    print("decoded: ok")

    for number, data in enumerate(stored, len(coded)):
        result = body(folder, number)
        assert (result.returncode, result.stdout) == (0, data), (number, result)
        assert result.stderr == b"note: the body is neither gzip nor zstd, and was written as it is stored\n", result
    print("as stored: ok")

    refused = 0
    for number, data in enumerate(broken, len(coded) + len(stored)):
        result = body(folder, number, "-o", out)
        if result.returncode == 0:
            # What changes nothing, as the time in a header.
            assert open(out, "rb").read() == b"".join(texts), number
            os.remove(out)
        else:
            refused += 1
            assert result.returncode == 65 and b"error: the body cannot be decoded as " in result.stderr, (number, result)
            assert b" byte " in result.stderr and not os.path.exists(out), (number, result)
    assert refused > len(broken) * 9 // 10, refused
    print("broken: ok")

    for number, data in enumerate(bombs, len(coded) + len(stored) + len(broken)):
        start = time.monotonic()
        result = subprocess.run(
            [sys.executable, "-c", MEASURE, tool, "body", "-c", folder, str(number), "--decoded", "--decoded-limit", "256MiB", "-o", out],
            capture_output=True)
        assert result.returncode == 65 and not os.path.exists(out), (number, result)
        assert b": more than 268435456 bytes come out of it\nhint: " in result.stderr, result
        assert time.monotonic() - start < 60, number
        # A fraction of what was decoded, and room for a build that is instrumented.
        assert int(result.stderr.split()[-1]) < 200 * 1024, result
    print("bombs: ok")


folder = tempfile.mkdtemp()
try:
    main(folder)
finally:
    shutil.rmtree(folder)
