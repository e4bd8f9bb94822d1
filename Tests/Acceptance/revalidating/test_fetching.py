"""Talks with `urlcache-admin-fetch` as `urlcache-admin` does, but reads slowly, and looks at the memory that it takes."""

import functools
import gzip
import hashlib
import os
import socket
import struct
import subprocess
import threading
import time

import pytest

from products import fetcher as program

BODY, LIMIT, MOST_MEMORY = 192 << 20, 1 << 30, 128 << 20
BLOCK = bytes(range(256)) * 256


@functools.cache
def packed_body():
    """A body that is a thousand times as large when it is unpacked."""
    return gzip.compress(bytes(BODY), 9)


class Origin:
    """Sends bodies, and counts the bytes of the large one that it could send."""

    def __init__(self):
        self.sent = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base = b"http://127.0.0.1:%d/" % self.listener.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        try:
            with connection, connection.makefile("rb") as lines:
                path = lines.readline().split()[1]
                while lines.readline().strip():
                    pass
                getattr(self, path[1:].decode().split("?")[0])(connection)
        except OSError:
            pass

    def large(self, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % BODY)
        for _ in range(BODY // len(BLOCK)):
            connection.sendall(BLOCK)
            self.sent += len(BLOCK)

    def packed(self, connection):
        data = packed_body()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(data))
        connection.sendall(data)

    def small(self, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")

    def silent(self, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\nConnection: close\r\n\r\nbegun")
        time.sleep(30)


class Fetcher:
    def __init__(self):
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.bodies, self.answers = {}, {}

    def write(self, kind, number, payload=b""):
        self.process.stdin.write(kind + struct.pack(">II", number, len(payload)) + payload)
        self.process.stdin.flush()

    def ask(self, number, url, timeout=60000, limit=LIMIT):
        texts = [b"GET", url, b"%d" % timeout, b"%d" % limit, b"0"]
        self.write(b"Q", number, b"".join(struct.pack(">I", len(text)) + text for text in texts))

    def frame(self):
        kind, number, length = struct.unpack(">cII", self.process.stdout.read(9))
        return kind, number, self.process.stdout.read(length)

    def answer(self, number):
        """How the answer ends, why, the number of the bytes of its body, and their digest."""
        while number not in self.answers:
            kind, found, payload = self.frame()
            digest, size = self.bodies.get(found, (hashlib.sha256(), 0))
            if kind == b"B":
                digest.update(payload)
                self.bodies[found] = digest, size + len(payload)
            elif kind in b"EF":
                reason = payload[4:4 + struct.unpack(">I", payload[:4])[0]] if payload else b""
                self.answers[found] = kind, reason, size, digest.hexdigest()
        return self.answers[number]

    def peak(self):
        with open(f"/proc/{self.process.pid}/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(120)


def wait_until_held(origin):
    """Waits until the origin can send no more, and returns what it has sent."""
    before, since = 0, time.monotonic()
    while not before or time.monotonic() - since < 2:
        if origin.sent != before:
            before, since = origin.sent, time.monotonic()
        time.sleep(0.1)
    return before


def digest_of(blocks):
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


@pytest.mark.needs_proc
def test_held():
    """While nobody reads the answer, the origin is held, for longer than the time-out, in little memory; the answer is complete at last."""
    origin, fetcher = Origin(), Fetcher()
    fetcher.ask(1, origin.base + b"large", timeout=1500)
    sent = wait_until_held(origin)
    # Sockets and the pipe contain some of it.
    assert sent < BODY // 4, sent
    peak = fetcher.peak()
    assert peak < MOST_MEMORY, peak
    time.sleep(3)
    assert origin.sent == sent, (origin.sent, sent)
    # A request that comes meanwhile waits, too.
    fetcher.ask(2, origin.base + b"small", timeout=1500)
    time.sleep(2)
    wanted = digest_of([BLOCK] * (BODY // len(BLOCK)))
    assert fetcher.answer(1) == (b"E", b"", BODY, wanted)
    assert fetcher.answer(2)[:3] == (b"E", b"", 2)
    assert fetcher.peak() < MOST_MEMORY, fetcher.peak()
    fetcher.end()


def test_cancelled():
    """Requests that are held can be cancelled, and the next request is answered."""
    origin, fetcher = Origin(), Fetcher()
    for number in range(8):
        fetcher.ask(number, origin.base + b"large")
    wait_until_held(origin)
    for number in range(8):
        fetcher.write(b"X", number)
    # More than the pipe takes: the program reads on, even while no process reads its answers.
    for number in range(100, 140):
        fetcher.ask(number, origin.base + b"small?" + b"x" * 10_000)
    assert {fetcher.answer(number)[:2] for number in range(8)} == {(b"F", b"cancelled")}, fetcher.answers
    fetcher.ask(200, origin.base + b"small")
    assert fetcher.answer(200)[:3] == (b"E", b"", 2)
    assert fetcher.peak() < MOST_MEMORY, fetcher.peak()
    fetcher.end()


def test_unpacked():
    """A body that grows when it is unpacked is held, too, and is cut off at the limit."""
    # This takes longer than an origin may take to answer.
    packed_body()
    origin, fetcher = Origin(), Fetcher()
    fetcher.ask(1, origin.base + b"packed", limit=BODY)
    time.sleep(2)
    assert fetcher.peak() < MOST_MEMORY, fetcher.peak()
    assert fetcher.answer(1) == (b"E", b"", BODY, digest_of([bytes(1 << 20)] * (BODY >> 20)))
    fetcher.ask(2, origin.base + b"packed", limit=BODY - 1)
    kind, failure, size, _ = fetcher.answer(2)
    assert (kind, failure) == (b"F", b"too-large") and size < BODY, (kind, failure, size)
    assert fetcher.peak() < MOST_MEMORY, fetcher.peak()
    fetcher.end()


def test_silent():
    """A request to an origin that falls silent fails after the time-out."""
    origin, fetcher = Origin(), Fetcher()
    started = time.monotonic()
    fetcher.ask(1, origin.base + b"silent", timeout=1000)
    assert fetcher.answer(1)[:3] == (b"F", b"timeout", 5)
    assert 0.9 < time.monotonic() - started < 25, time.monotonic() - started
    fetcher.end()
