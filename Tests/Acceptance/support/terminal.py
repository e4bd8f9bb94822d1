"""A terminal for the program: a pseudo-terminal of the system, and pyte, which shows what a person would see."""

import fcntl
import functools
import os
import pty
import re
import select
import struct
import subprocess
import tempfile
import termios
import time

import pyte
import wcwidth

from heard_signals import hear_signals
from products import tool

# A row for each line that the program may write.
ROWS = 2_000
# Text in ASCII, which is drawn at once, or any other character.
PIECES = re.compile(r"[ -~]+|.", re.S)


class Screen(pyte.Screen):
    """A screen that draws a combining mark onto the last column, as terminals do; pyte begins a new row for it."""

    def draw(self, data):
        for piece in PIECES.findall(data):
            if self.cursor.x == self.columns and wcwidth.wcwidth(piece[0]) == 0:
                cell = self.buffer[self.cursor.y][self.columns - 1]
                self.buffer[self.cursor.y][self.columns - 1] = cell._replace(data=cell.data + piece)
            else:
                super().draw(piece)

    @property
    def display(self):
        """The rows down to the last that was drawn on. Most rows are blank, and pyte takes long to show them."""
        return ["".join(self.cells(row)) for row in range(max(self.buffer, default=-1) + 1)]

    def cells(self, row):
        """What is in the columns of a row; a wide character takes two."""
        columns = iter(range(self.columns))
        for column in columns:
            data = self.buffer[row][column].data
            yield data
            if not data.isascii() and wcwidth.wcwidth(data[0]) == 2:
                next(columns, None)


class Seen:
    """What a program wrote to a terminal, and how it ended."""

    def __init__(self, written, columns, status):
        self.written, self.columns, self.status = written, columns, status

    @functools.cached_property
    def screen(self):
        screen = Screen(self.columns, ROWS)
        pyte.ByteStream(screen).feed(self.written)
        return screen

    @functools.cached_property
    def rows(self):
        """The rows that a person would see, without the blank ones at the end."""
        rows = [row.rstrip() for row in self.screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    @property
    def lines(self):
        """The lines that were written, without those of the terminal."""
        return self.written.split(b"\r\n")[:-1]

    def is_colored(self):
        return b"\x1b[" in self.written.replace(b"\x1b[K", b"")


def start(words, columns=80, streams=("stdout", "stderr"), program=tool, **environment):
    """Starts the program with some of its streams on a terminal, and the others in files.

    Returns the process, the other end of the terminal, and the files.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    names = {"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "LANG"}
    variables = {name: value for name, value in os.environ.items() if name not in names}
    variables |= {"TERM": "xterm", "LC_ALL": "C.UTF-8"} | environment
    files = {name: tempfile.TemporaryFile() for name in ("stdout", "stderr") if name not in streams}
    places = {"stdout": theirs, "stderr": theirs} | files

    def prepare():
        hear_signals()
        # Control-C is for the processes of the terminal.
        if "stdin" in streams:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [program, *words], stdin=theirs if "stdin" in streams else subprocess.DEVNULL, **places,
        env={name: value for name, value in variables.items() if value is not None}, start_new_session=True,
        preexec_fn=prepare)
    os.close(theirs)
    return process, ours, files


def read(ours, seconds=120, until=None):
    """What comes from the terminal, to its end or until a text has come."""
    written, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and (until is None or until not in written):
        if not select.select([ours], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(ours, 65_536)
        # The end of a pseudo-terminal is an error on Linux.
        except OSError:
            break
        if not piece:
            break
        written += piece
    return written


def run(*words, columns=80, streams=("stdout", "stderr"), program=tool, **environment):
    """Runs the program, and returns what its terminal has seen, and the bytes of the stream that is no terminal."""
    process, ours, files = start(words, columns, streams, program, **environment)
    other = b""
    try:
        written = read(ours)
        status = process.wait(timeout=60)
        for file in files.values():
            file.seek(0)
            other += file.read()
    finally:
        os.close(ours)
        for file in files.values():
            file.close()
    return Seen(written, columns, status), other


def answer(*words, typed, until, columns=80):
    """Runs the program, and types an answer once it asks."""
    process, ours, _ = start(words, columns, ("stdin", "stdout", "stderr"))
    try:
        written = read(ours, until=until)
        os.write(ours, typed)
        written += read(ours)
        return Seen(written, columns, process.wait(timeout=60))
    finally:
        os.close(ours)


def interrupt(*words, until, columns=80, **environment):
    """Runs the program, and presses Control-C once it has written a text."""
    process, ours, files = start(words, columns, ("stdin", "stderr"), **environment)
    try:
        written = read(ours, until=until)
        os.write(ours, b"\x03")
        written += read(ours)
        return Seen(written, columns, process.wait(timeout=60))
    finally:
        os.close(ours)
        files["stdout"].close()
