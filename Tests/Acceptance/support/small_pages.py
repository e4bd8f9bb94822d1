"""Writes a database of the smallest pages by hand: SQLite itself writes no records such as its."""

import os
import struct

PAGE, USABLE = 512, 480


def short(number):
    """A varint."""
    pieces = [number & 127]
    while number := number >> 7:
        pieces.append(number & 127 | 128)
    return bytes(reversed(pieces))


def long(number):
    """The same number in nine bytes."""
    last, number = number & 255, number >> 8
    pieces = []
    for _ in range(8):
        pieces.append(0x80 | number & 127)
        number >>= 7
    return bytes(reversed(pieces)) + bytes([last])


def local(size):
    """How many bytes of a record are in its page."""
    if size <= USABLE - 35:
        return size
    least = (USABLE - 12) * 32 // 255 - 23
    here = least + (size - least) % (USABLE - 4)
    return here if here <= USABLE - 35 else least


def write(folder, response):
    """A database with a response, and a body of which nothing is in the page of its record: a long header fills that."""
    pages, following = {}, 4

    def cell(record):
        nonlocal following
        count = local(len(record))
        head = short(len(record)) + short(5) + record[:count]
        rest = [record[at:at + USABLE - 4] for at in range(count, len(record), USABLE - 4)]
        if rest:
            head += struct.pack(">I", following)
        for number, piece in enumerate(rest, 1):
            pages[following] = struct.pack(">I", following + 1 if number < len(rest) else 0) + piece
            following += 1
        return head

    def leaf(content, start=0):
        head = bytes([13]) + struct.pack(">HHHB", 0, 1 if content else 0, USABLE - len(content), 0)
        head += struct.pack(">H", USABLE - len(content)) if content else b""
        return head + bytes(USABLE - len(content) - start - len(head)) + content

    kinds = b"\0" + short(12 + 2 * len(response)) + b"\0\0\0"
    pages[2] = leaf(cell(bytes([1 + len(kinds)]) + kinds + response))
    size = next(size for size in range(400, 2000) if local(43 + size) == 35)
    kinds = long(35) + long(0) + bytes([0x80] * 7 + [6]) + long(12 + 2 * size)
    pages[3] = leaf(cell(kinds + bytes(8) + b"B" * size))
    count = following - 1
    header = b"SQLite format 3\0" + struct.pack(">H", PAGE) + bytes([1, 1, PAGE - USABLE, 64, 32, 32])
    header += struct.pack(">IIII", 1, count, 0, 0) + struct.pack(">IIIIIII", 1, 4, 0, 0, 1, 0, 0)
    pages[1] = header.ljust(92, b"\0") + struct.pack(">II", 1, 3040001) + leaf(b"", 100)
    os.makedirs(folder)
    with open(os.path.join(folder, "Cache.db"), "wb") as file:
        for number in range(1, count + 1):
            file.write(pages[number].ljust(PAGE, b"\0"))
