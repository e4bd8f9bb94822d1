"""Writes records as WebKit does, with any contents, to which its checksums then belong."""

import hashlib
import os
import struct


class Encoder:
    """WebKit's persistence encoder: little-endian values, and a SHA-1 of all of them, each after the number of its type."""

    def __init__(self):
        self.bytes, self.sum = b"", hashlib.sha1()

    def put(self, kind, value):
        self.bytes += value
        self.sum.update(struct.pack("<I", kind) + value)

    def flag(self, value):
        self.put(3, bytes([value]))

    def uint8(self, value):
        self.put(5, bytes([value]))

    def uint32(self, value):
        self.put(11, struct.pack("<I", value))

    def uint64(self, value):
        self.put(13, struct.pack("<Q", value))

    def int16(self, value):
        self.put(103, struct.pack("<h", value))

    def int64(self, value):
        self.put(19, struct.pack("<q", value))

    def double(self, value):
        self.put(29, struct.pack("<d", value))

    def data(self, value):
        self.put(101, value)

    def text(self, value):
        """A text of bytes, or null."""
        if value is None:
            return self.uint32(0xFFFFFFFF)
        value = value if isinstance(value, bytes) else value.encode()
        self.uint32(len(value))
        self.flag(True)
        self.data(value)

    def fields(self, pairs):
        self.uint64(len(pairs))
        for name, value in pairs:
            self.text(name)
            self.text(value)

    def checked(self):
        return self.bytes + self.sum.digest()


class Cache:
    """A cache of one version, which is written as it is needed."""

    def __init__(self, folder, version=17, salt=b"12345678"):
        self.folder, self.version, self.salt = folder, version, salt
        self.root = os.path.join(folder, f"Version {version}")
        os.makedirs(os.path.join(self.root, "Blobs"))
        os.makedirs(os.path.join(self.root, "Records"))
        with open(os.path.join(self.root, "salt"), "wb") as file:
            file.write(salt)

    def hash(self, *parts):
        digest = hashlib.sha1(self.salt)
        for part in parts:
            if part is not None:
                digest.update(part.encode() + (b"\0" if self.version <= 16 and part.isascii() else b""))
        return digest.digest()

    def header(self, url, status=200, fields=(), mime="text/plain", vary=(), redirect=None, age_cap=None, relayed=False):
        """The header of a response. `redirect` is the URL and the fields of the request that it leads to; `age_cap` its limit by tracking prevention."""
        encoder = Encoder()
        encoder.flag(False)
        encoder.text(url)
        encoder.text(mime)
        encoder.int64(-1)
        for text in ("", "OK", "HTTP/1.1"):
            encoder.text(text)
        encoder.fields(list(fields))
        encoder.int16(status)
        encoder.flag(False)
        for value in (1, 2, 0):
            encoder.uint64(value)
        encoder.flag(False)
        for value in (0, 0):
            encoder.uint64(value)
        encoder.flag(False)
        if self.version >= 18:
            encoder.uint64(0)
        encoder.flag(bool(vary))
        if vary:
            encoder.fields(list(vary))
        encoder.uint8((1 if redirect else 0) | (2 if relayed else 0))
        if redirect:
            target, sent = redirect
            encoder.flag(True)
            encoder.text(target)
            encoder.double(0)
            encoder.text(url)
            encoder.text("GET")
            encoder.fields(list(sent))
            encoder.uint64(1)
            encoder.text("UTF-8")
            encoder.uint64(0)
            encoder.flag(True)
            encoder.uint64(1)
            encoder.flag(False)
            for value in (2, 3):
                encoder.uint64(value)
            encoder.flag(True)
        encoder.flag(age_cap is not None)
        if age_cap is not None:
            encoder.double(age_cap)
        return encoder.checked()

    def metadata(self, header, body, url, time, partition="", type="Resource", range=None, inline=True, header_size=None, body_size=None):
        encoder = Encoder()
        encoder.uint32(self.version)
        for text in (partition, type, url, range):
            encoder.text(text)
        encoder.data(self.hash(partition, type, url, range))
        encoder.data(self.hash(partition))
        encoder.double(time)
        encoder.data(hashlib.sha1(self.salt + header).digest())
        encoder.uint64(len(header) if header_size is None else header_size)
        encoder.data(hashlib.sha1(self.salt + body).digest())
        encoder.uint64(len(body) if body_size is None else body_size)
        encoder.flag(inline)
        return encoder.checked()

    def path(self, url, partition="", type="Resource", range=None):
        return os.path.join(self.root, "Records", self.hash(partition).hex().upper(), type, self.hash(partition, type, url, range).hex().upper())

    def store(self, url, body=b"body", time=1_795_000_000.25, partition="", range=None, inline=None, header=None, sizes=None, **message):
        """Stores a response, and returns the file of its record."""
        header = self.header(url, **message) if header is None else header
        inline = len(body) <= 4_096 if inline is None else inline
        path = self.path(url, partition, range=range)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        metadata = self.metadata(header, body, url, time, partition, range=range, inline=inline, **(sizes or {}))
        if not inline:
            blob = os.path.join(self.root, "Blobs", hashlib.sha1(self.salt + body).hexdigest().upper())
            if not os.path.exists(blob):
                with open(blob, "wb") as file:
                    file.write(body)
                os.utime(blob, (time, time))
            if not os.path.exists(path + "-blob"):
                os.link(blob, path + "-blob")
        with open(path, "wb") as file:
            file.write(metadata + header + (body if inline else b""))
        return path

    def store_list(self, page, resources=(), time=1_795_000_005.5, partition="", range=None):
        """Stores the list of what a page loaded, and returns its file. A resource is its URL and the fields of its request; without fields, it was
        seen once."""
        encoder = Encoder()
        encoder.uint64(len(resources))
        for url, sent in resources:
            for text in (partition, "Resource", url, None):
                encoder.text(text)
            encoder.data(self.hash(partition, "Resource", url))
            encoder.data(self.hash(partition))
            encoder.double(time)
            encoder.double(time - 5)
            encoder.flag(sent is None)
            if sent is not None:
                encoder.flag(True)
                encoder.flag(True)
                encoder.text(page)
                encoder.fields(list(sent))
                encoder.uint64(2)
        path = self.path(page, partition, "SubResources", range)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        header = encoder.checked()
        with open(path, "wb") as file:
            file.write(self.metadata(header, b"", page, time, partition, "SubResources", range) + header)
        return path
