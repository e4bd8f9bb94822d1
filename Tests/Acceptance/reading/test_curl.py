"""Runs the commands of `show --curl`, and compares the requests that arrive with the stored ones.

The origin is a socket of this machine that keeps the bytes of each request. The shells are those of this machine.
"""

import os
import plistlib
import random
import shutil
import socket
import subprocess
import threading

import pytest

import apple_store
from products import tool
from scratch import path

NULL = "__CFURLRequestNullTokenString__"
SAFE = set(range(0x21, 0x7F)) - set(b'"<>\\^`{|}')


class Origin:
    """Answers each request with an empty body, and keeps its bytes."""

    def __init__(self):
        self.requests = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.socket.accept()
            with connection:
                connection.settimeout(20)
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(65536)
                head, body = head.split(b"\r\n\r\n", 1)
                start, *lines = head.split(b"\r\n")
                fields = [tuple(part.strip(b" \t\v\f") for part in line.split(b":", 1)) for line in lines]
                length = next((int(value) for name, value in fields if name.lower() == b"content-length"), 0)
                while len(body) < length:
                    body += connection.recv(65536)
                self.requests.append((start, fields, body))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


class Cache:
    """A cache whose requests are given."""

    def __init__(self, folder):
        self.folder, self.count = folder, 0
        self.database = apple_store.create(folder)

    def add(self, url, method="GET", headers=(), body=None):
        self.count += 1
        archived = {"_CFURLString": url, "_CFURLStringType": 15}
        request = {"Array": [False, archived] + [NULL] * 16 + [method, dict(headers), NULL,
                                                              NULL if body is None else [body]], "Version": 9}
        self.database.execute("INSERT INTO cfurl_cache_response(entry_ID, request_key) VALUES (?, ?)",
                              (self.count, f"key {self.count}"))
        self.database.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, request_object) VALUES (?, ?)",
                              (self.count, plistlib.dumps(request, fmt=plistlib.FMT_BINARY)))
        self.database.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 0, x'00')", (self.count,))
        self.database.commit()
        return self.count


def show(cache, number, *options, status=0):
    result = subprocess.run([tool, "show", "-c", cache.folder, "--curl", str(number), *options], capture_output=True)
    assert result.returncode == status, (number, result)
    return result


def run(shell, command):
    """Runs a command in an empty folder, in which it must leave nothing."""
    here = path("here")
    os.mkdir(here)
    checked = subprocess.run([*shell, "-n"], input=command, cwd=here, capture_output=True)
    assert checked.returncode == 0 and not checked.stderr, (shell, command, checked)
    result = subprocess.run(
        shell, input=command, cwd=here, capture_output=True, timeout=300,
        env={"PATH": os.environ["PATH"], "HOME": here, "no_proxy": "*", "LC_ALL": "C.UTF-8"})
    assert result.returncode == 0, (shell, command, result)
    os.rmdir(here)


def encoded(text):
    return b"".join(bytes([byte]) if byte in SAFE else b"%%%02X" % byte for byte in text.encode())


def check(origin, shell, cache, target, method="GET", headers=(), body=None):
    """Adds a request, repeats it, and compares what arrives."""
    number = cache.add(f"http://127.0.0.1:{origin.port}{target}", method, headers, body)
    command = show(cache, number, "--show-secrets").stdout
    seen = [byte for byte in command if byte < 0x20 and byte != 0x0A or byte == 0x7F]
    assert not seen, (seen, command)
    command.decode()
    run(shell, command)
    start, fields, arrived = origin.requests.pop()
    assert not origin.requests
    sent = encoded(target).split(b"#")[0]
    assert start == method.encode() + b" " + sent + b" HTTP/1.1", (start, target, command)
    assert arrived == (body or b""), (arrived, body, command)
    own = {b"host", b"content-length", b"expect"} | {
        name for name in (b"accept", b"user-agent") if name not in {key.lower().encode() for key, _ in headers}}
    stored = [(name.encode(), value.encode().strip(b" \t\v\f")) for name, value in headers
              if name.lower() not in ("content-length", "transfer-encoding")]
    assert sorted(pair for pair in fields if pair[0].lower() not in own) == sorted(stored), (fields, stored, command)


def hostile():
    """Text with a meaning for shells, terminals or curl."""
    return ["'; touch owned; '", "$(touch owned)", "`touch owned`", "\\'; touch owned #", "!!", "a!b\x01c", "%s%n\\n\\", "@/etc/passwd",
            "\x1b]0;owned\x07", "\u202egnp", "é\u0301'\u0301", "\u200b\ufeff", "\x7f\x01\x02", "-n", "--help", "\\", "''", "\"", "&&",
            "\u0085\u009b31m", "-n\x01", "a\tb", "~ * ? [a-z] {1,2}", "<(x)", "\\101\\0101", "x\\c y"]


SHELLS = [shell for shell in (["sh"], ["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"], ["zsh"], ["ksh"]) if shutil.which(shell[0])]
TOKEN = "!#$%&'*+-.^_`|~a"


@pytest.fixture
def origin():
    if not shutil.which("curl"):
        pytest.skip("curl: not here")
    return Origin()


@pytest.fixture
def cache():
    os.mkdir(path("cache"))
    cache = Cache(path("cache"))
    yield cache
    cache.database.close()


def test_shells():
    """There are several shells to run the commands with."""
    assert len(SHELLS) >= 2, SHELLS


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_hostile_text(shell, origin, cache, thorough):
    """A request with hostile text arrives as it is stored, and the shell runs nothing else."""
    check(origin, shell, cache, "/")
    check(origin, shell, cache, "/a/../b/%2e%2e/./c?[1-3]&x={a,b}&;'\"$(id)`id`#fragment")
    check(origin, shell, cache, "/", "HEAD", [("A", "b")])
    check(origin, shell, cache, "/", "DELETE")
    check(origin, shell, cache, "/", TOKEN, [(TOKEN, TOKEN)])
    check(origin, shell, cache, "/", "POST", [("Content-Length", "7"), ("Transfer-Encoding", "chunked")], b"abc")
    check(origin, shell, cache, "/", "GET", [("Accept-Encoding", "gzip"), ("Empty", ""), ("Space", " \t\v\f")], b"")
    check(origin, shell, cache, "/", "PUT", [("Content-Type", "a/b"), ("User-Agent", "x"), ("Accept", "y")],
          bytes(range(256)) * 300)
    # By default each text meets one shell here, and another one in the next test.
    for text in hostile() if thorough else hostile()[(SHELLS.index(shell) + 1) % len(SHELLS)::len(SHELLS)]:
        check(origin, shell, cache, "/" + text.replace("#", ""), "PATCH", [("X", text), ("Y", "a " + text)], text.encode())


def test_every_hostile_text(origin, cache):
    """Each hostile text arrives in the path, in header fields and in the body."""
    for number, text in enumerate(hostile()):
        check(origin, SHELLS[number % len(SHELLS)], cache, "/" + text.replace("#", ""), "PATCH", [("X", text), ("Y", "a " + text)], text.encode())


def test_random_requests(origin, cache, thorough):
    """Random requests arrive as they are stored."""
    for seed in range(60 if thorough else 12):
        source = random.Random(seed)
        text = lambda size, barred: "".join(
            character for character in (chr(source.choice([source.randrange(128), source.randrange(0x800)]))
                                        for _ in range(source.randrange(size))) if character not in barred)
        size = source.choice([0, 10, 300, 5_000, 40_000])
        check(origin, SHELLS[seed % len(SHELLS)], cache, "/" + text(60, "#\0"), source.choice(["POST", "PUT", "GET"]),
              [(f"X-{index}", text(80, "\r\n\0")) for index in range(source.randrange(6))],
              source.choice([None, source.randbytes(size), text(size + 1, "\0").encode()]))


def test_secrets(origin, cache):
    """Secrets are masked unless '--show-secrets' is given."""
    url = f"http://u:p@127.0.0.1:{origin.port}/?token=t"
    number = cache.add(url, "POST", [("Cookie", "a=b"), ("X", "y")], b"secret")
    masked = show(cache, number)
    assert masked.stdout.decode() == f"""curl --request 'POST' \\
  --header 'Cookie: ***' \\
  --header 'X: y' \\
  --header 'Content-Type:' \\
  --url 'http://***@127.0.0.1:{origin.port}/?token=***' \\
  --data-binary '***'
""", masked
    assert masked.stderr == b"note: secrets are masked as '***'; show them with '--show-secrets'\n", masked
    shown = show(cache, number, "--show-secrets")
    assert b"a=b" in shown.stdout and url.encode() in shown.stdout and shown.stderr == b"", shown


@pytest.mark.parametrize(("reason", "request_parts"), [
    ("its URL is not an HTTP URL", ["file:///etc/passwd"]),
    ("its URL is not an HTTP URL", ["@/etc/passwd"]),
    ("its URL is not an HTTP URL", ["-o/tmp/owned"]),
    ("its method is not a valid HTTP method", ["http://a/", "GET / HTTP/1.1\r\nX: y"]),
    ("its method is not a valid HTTP method", ["http://a/", "@/etc/passwd"]),
    ("the name of its header field 1 is invalid", ["http://a/", "GET", [("@/etc/passwd", "")]]),
    ("the name of its header field 1 is invalid", ["http://a/", "GET", [("a;b", "")]]),
    ("its header field 1 contains a line break or NUL", ["http://a/", "GET", [("A", "b\r\nC: d")]]),
    ("its header field 1 contains a line break or NUL", ["http://a/", "GET", [("A", "b\0")]]),
    ("it is a HEAD request with a body", ["http://a/", "HEAD", [], b"x"]),
    ("its URL and header fields are longer than 100000 bytes", ["http://a/" + "x" * 100_000]),
])
def test_refusals(reason, request_parts, cache):
    """A request that curl cannot repeat is refused, with the reason."""
    number = cache.add(*request_parts)
    result = show(cache, number, status=1)
    assert result.stdout == b"" and result.stderr.decode() == f"cannot write a curl command for entry {number}: {reason}\n", result
