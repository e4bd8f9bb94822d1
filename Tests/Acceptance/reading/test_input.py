"""Reads from a standard input that is non-blocking, and from files while signals interrupt the reading."""

import os
import pty
import re
import subprocess
import time

import pytest

import strace
from products import tool
from scratch import make, path, read, run


def test_list_of_urls():
    """A list that comes slowly through a non-blocking pipe is read to its end."""
    cache = make("cache")
    urls = run("list", "-c", cache, "--format", "urls").stdout.splitlines(keepends=True)[:3]
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with subprocess.Popen([tool, "purge", "-c", cache, "--url-file", "-", "--yes"], stdin=reading, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        os.close(reading)
        for url in urls:
            time.sleep(0.2)
            # A line comes in two pieces.
            os.write(writing, url[:7])
            time.sleep(0.05)
            os.write(writing, url[7:])
        os.close(writing)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and not errors, (process.returncode, errors)
    left = run("list", "-c", cache, "--format", "urls").stdout.splitlines(keepends=True)
    assert not set(left) & set(urls) and len(left) == 40 - 3, left


def test_answer():
    """A question on a non-blocking terminal waits for its answer."""
    cache = make("asked", entries=3)
    number, terminal = pty.openpty()
    os.set_blocking(terminal, False)
    with subprocess.Popen([tool, "purge", "-c", cache, "--all"], stdin=terminal, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        os.close(terminal)
        time.sleep(0.5)
        os.write(number, b"y\n")
        output, errors = process.communicate(timeout=60)
        os.close(number)
    assert process.returncode == 0 and b") from asked? [y/N]" in errors, (process.returncode, errors)
    assert run("list", "-c", cache, "--format", "urls").stdout == b"", output


@strace.needed
@pytest.mark.parametrize("words", [["list", "--format", "json"], ["check", "--format", "json"], ["export", "-o", "-"]], ids=lambda words: words[0])
@pytest.mark.parametrize("format", ["apple", "foundation"])
def test_interrupted_reading(format, words):
    """What is read from an offset is read again when a signal interrupted the reading."""
    cache = make("cache", "--format", format)
    words = [words[0], "-c", cache, *words[1:], "--at", "2030-01-01"]
    traced = ["strace", "-f", "-qq", "-y", "-o", path("trace"), "-e", "trace=pread64"]
    expected = subprocess.run([*traced, tool, *words], capture_output=True)
    # The linker, which gives up, comes first.
    calls = re.findall(rb"^\d+ +pread64\(\d+<(.*?)>", read(path("trace")), re.M)
    first = next((turn for turn, file in enumerate(calls, 1) if b".so" not in file), None)
    if format == "foundation" and not first:
        # Entries of a Foundation cache are files, which need not be read from an offset.
        return
    result = subprocess.run([*traced, "-e", f"inject=pread64:error=EINTR:when={first}+2", tool, *words], capture_output=True)
    ends = [(one.returncode, one.stdout, one.stderr) for one in (result, expected)]
    assert ends[0] == ends[1], (result.returncode, result.stderr)
    assert read(path("trace")).count(b"(INJECTED)") > (2 if format == "apple" else 0)
