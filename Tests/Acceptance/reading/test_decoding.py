"""Compares `body --decoded` with what `gzip`, `zstd` and Python decode, and tries broken and huge bodies."""

import gzip
import json
import os
import random
import shutil
import subprocess
import time
import zlib

import pytest

import apple_store
import peers
from products import tool
from scratch import path, peak_of, read

pytestmark = peers.needed("gzip", "zstd")
MEBIBYTE = 1 << 20
source = random.Random(1)
TEXTS = [b"", b"a", b"text " * 1000, source.randbytes(300_000), bytes(3 * MEBIBYTE), json.dumps({"a": [1]}).encode()]
CODERS = {
    "gzip -1": lambda text: run(["gzip", "-1"], text), "gzip -9": lambda text: run(["gzip", "-9"], text), "gzip of Python": gzip.compress,
    "zstd": lambda text: run(["zstd", "-qc"], text), "zstd -19": lambda text: run(["zstd", "-qc", "-19", "--no-check"], text)}


def run(program, data):
    return subprocess.run(program, input=data, capture_output=True, check=True).stdout


def body(cache, number, *options):
    return subprocess.run([tool, "body", "-c", cache, str(number), "--decoded", *options], capture_output=True)


def make(bodies):
    """A cache with each body in the database, and, from 4,096 bytes on, in a file."""
    folder = path("cache")
    os.makedirs(os.path.join(folder, "fsCachedData"))
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
    return folder


def bomb():
    """One member of gzip from which 10 GiB of zeros come, made without compressing them all."""
    coder = zlib.compressobj(9, zlib.DEFLATED, 31)
    start = coder.compress(bytes(MEBIBYTE)) + coder.flush(zlib.Z_FULL_FLUSH)
    block = coder.compress(bytes(MEBIBYTE)) + coder.flush(zlib.Z_FULL_FLUSH)
    assert block == coder.compress(bytes(MEBIBYTE)) + coder.flush(zlib.Z_FULL_FLUSH)
    return start + block * (10 * 1024 - 1) + coder.flush()


@pytest.mark.parametrize("name", CODERS)
def test_decoded(name):
    """A compressed body is decoded as other programs decode it, also one of several members."""
    coded = list(map(CODERS[name], TEXTS))
    expected, coded = [*TEXTS, b"".join(TEXTS)], [*coded, b"".join(coded)]
    cache = make(coded)
    for number, text in enumerate(expected):
        result = body(cache, number)
        assert (result.returncode, result.stdout, result.stderr) == (0, text, b""), (number, result.returncode, result.stderr)
        program = ["zstd", "-dcq"] if coded[number][:1] == b"\x28" else ["gzip", "-dc"]
        assert run(program, coded[number]) == text, number
    result = body(cache, 5, "--pretty", "-o", path("out"))
    assert result.returncode == 0 and read(path("out")).decode() == json.dumps({"a": [1]}, indent=2) + "\n", result


def test_as_stored():
    """A body without a coding is written as it is stored, with a note."""
    stored = [b"", b"\x1f", b"plain", b"\x28\xb5\x2f", run(["xz", "-c"], b"text") if shutil.which("xz") else b"\xfd7zXZ\0"]
    cache = make(stored)
    for number, data in enumerate(stored):
        result = body(cache, number)
        assert (result.returncode, result.stdout) == (0, data), (number, result)
        assert result.stderr == b"note: the body has no content coding, so it was written unchanged\n", result


@pytest.mark.parametrize("name", ["gzip -1", "zstd"])
def test_broken(name):
    """A body that is cut off or changed is refused, and nothing of it is written."""
    source = random.Random(name)
    data, broken = b"".join(map(CODERS[name], TEXTS)), []
    for _ in range(15):
        broken.append(data[:source.randrange(4, len(data))])
    for _ in range(15):
        place = source.randrange(20, len(data))
        broken.append(data[:place] + bytes([data[place] ^ 1 << source.randrange(8)]) + data[place + 1:])
    broken.append(data + b"garbage")
    cache, out, refused = make(broken), path("out"), 0
    for number in range(len(broken)):
        result = body(cache, number, "-o", out)
        if result.returncode == 0:
            # What changes nothing, as the time in a header.
            assert read(out) == b"".join(TEXTS), number
            os.remove(out)
        else:
            refused += 1
            assert result.returncode == 65 and b"error: cannot decode the body as " in result.stderr, (number, result)
            assert b" byte " in result.stderr and not os.path.exists(out), (number, result)
    assert refused > len(broken) * 8 // 10, refused


@pytest.mark.parametrize("make_bomb", [
    bomb, lambda: gzip.compress(bytes(64 * MEBIBYTE)) * 160, lambda: run(["zstd", "-qc"], bytes(64 * MEBIBYTE)) * 160],
    ids=["one member", "members", "zstd"])
def test_bomb(make_bomb):
    """A body that becomes too long is refused, and takes little time and memory."""
    cache, out = make([make_bomb()]), path("out")
    start = time.monotonic()
    status, errors, peak = peak_of(["body", "-c", cache, "0", "--decoded", "--decoded-limit", "256MiB", "-o", out])
    assert status == 65 and not os.path.exists(out), (status, errors)
    assert b": its decoded size exceeds 268435456 bytes\nhint: " in errors, errors
    assert time.monotonic() - start < 60
    # A fraction of what was decoded, and room for a build that is instrumented.
    assert peak < 200 << 20, peak
