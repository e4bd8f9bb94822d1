"""Reads from a standard input that is non-blocking, and from files while signals interrupt the reading.

    check_input.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each case, and ends at the first that is not as it should be. Needs strace.
"""

import os, pty, re, subprocess, sys, time

sys.dont_write_bytecode = True
from scratch import *


def list_of_urls():
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
    print("list of URLs: ok", flush=True)


def answer():
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
    assert process.returncode == 0 and b"Remove them? [y/N]" in errors, (process.returncode, errors)
    assert run("list", "-c", cache, "--format", "urls").stdout == b"", output
    print("answer: ok", flush=True)


def interrupted():
    """Whatever is read from an offset is read again when a signal interrupted the reading."""
    tried = 0
    for name, options in [("apple", []), ("foundation", ["--format", "foundation"])]:
        cache = make(name, *options)
        for words in (["list", "--format", "json"], ["check", "--format", "json"], ["export", "-o", "-"]):
            words = [words[0], "-c", cache, *words[1:], "--at", "2030-01-01"]
            strace = ["strace", "-f", "-qq", "-y", "-o", path("trace"), "-e", "trace=pread64"]
            expected = subprocess.run([*strace, tool, *words], capture_output=True)
            # The linker, which gives up, comes first.
            calls = re.findall(rb"^\d+ +pread64\(\d+<(.*?)>", read(path("trace")), re.M)
            first = next((turn for turn, file in enumerate(calls, 1) if b".so" not in file), None)
            if not first:
                continue
            result = subprocess.run([*strace, "-e", f"inject=pread64:error=EINTR:when={first}+2", tool, *words], capture_output=True)
            ends = [(one.returncode, one.stdout, one.stderr) for one in (result, expected)]
            assert ends[0] == ends[1], (words, result.returncode, result.stderr)
            tried += read(path("trace")).count(b"(INJECTED)")
    assert tried > 20, tried
    print("interrupted: ok", flush=True)


list_of_urls()
answer()
interrupted()
