"""Draws the picture of a terminal in the README: commands on a made-up cache with their output, in its colours."""

import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios
from fcntl import ioctl
from html import escape

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PICTURE = os.path.join(CHECKOUT, "share/doc/urlcache-admin/terminal.svg")
COMMANDS = [
    "urlcache-admin list com.example.shop --sort -size --limit 6",
    "urlcache-admin usage com.example.shop --by host --limit 5",
    "urlcache-admin purge com.example.shop --older-than 90d --dry-run",
]
# How many lines of each command are shown.
LINES = [12, 16, 2]
COLUMNS = 100
# A character is 0.6 em wide in most monospaced fonts.
SIZE, LINE, PADDING = 14, 19, 18
WIDTH = SIZE * 0.6
NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
LIGHT = {"black": "#24292f", "red": "#cf222e", "green": "#116329", "yellow": "#7d4e00", "blue": "#0550ae", "magenta": "#8250df",
         "cyan": "#1b7c83", "white": "#6e7781"}
DARK = {"black": "#8b949e", "red": "#ff7b72", "green": "#3fb950", "yellow": "#d29922", "blue": "#79c0ff", "magenta": "#bc8cff",
        "cyan": "#39c5cf", "white": "#b1bac4"}
PART = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


def output(command, folder, programs):
    """Returns what a program writes to a terminal."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {"HOME": folder, "PATH": f"{programs}:/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8", "TZ": "UTC",
                   "URLCACHE_ADMIN_AT": "2026-01-02T00:00:00Z"}
    process = subprocess.Popen(command.split(), cwd=folder, env=environment, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    data = b""
    try:
        while piece := os.read(leader, 65536):
            data += piece
    except OSError:
        # Linux reports the end of a terminal as an error.
        pass
    os.close(leader)
    process.wait()
    return data.decode()


def styled(codes, style):
    """Returns a style after the codes of an escape sequence."""
    for code in (int(code or 0) for code in codes.split(";")):
        if code == 0:
            style = frozenset()
        elif code in (1, 2):
            style |= {["bold", "dim"][code - 1]}
        elif code == 22:
            style -= {"bold", "dim"}
        elif code == 39:
            style -= frozenset(NAMES)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = (style - frozenset(NAMES)) | {NAMES[code % 10]}
        else:
            raise SystemExit(f"the picture does not know the style {code}")
    return style


def screen(text):
    """Returns the lines that a terminal shows, as lists of characters with their styles."""
    lines, style, column = [[]], frozenset(), 0
    for codes, letter, control, plain in PART.findall(text):
        if letter == "m":
            style = styled(codes, style)
        elif letter == "K":
            del lines[-1][column:]
        elif control == "\n":
            lines.append([])
            column = 0
        elif control == "\r":
            column = 0
        for character in plain:
            lines[-1][column:column + 1] = [(character, style)]
            column += 1
    while lines and not lines[-1]:
        lines.pop()
    return lines


def drawn(line, y):
    """Returns the elements for a line: one for each run of characters in one style."""
    start = 0
    for end in range(1, len(line) + 1):
        if end < len(line) and line[end][1] == line[start][1]:
            continue
        text = "".join(character for character, _ in line[start:end])
        if text.strip():
            # Spaces at the ends would be lost, and a set length keeps columns aligned in every font.
            x, shown = start + len(text) - len(text.lstrip()), text.strip()
            style = f' class="{" ".join(sorted(line[start][1]))}"' if line[start][1] else ""
            yield (f'<text x="{PADDING + x * WIDTH:g}" y="{y}" textLength="{len(shown) * WIDTH:g}"{style}>'
                   f"{escape(shown)}</text>")
        start = end


def picture(lines):
    """Returns the SVG for the lines of a terminal."""
    width = round(2 * PADDING + max(map(len, lines)) * WIDTH)
    height = 2 * PADDING + len(lines) * LINE
    rules = lambda colours: "".join(f".{name}{{fill:{colour}}}" for name, colour in colours.items())
    elements = "\n".join(element for number, line in enumerate(lines) for element in drawn(line, PADDING + 14 + number * LINE))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>urlcache-admin in a terminal</title>
<style>
text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:#24292f}}
rect{{fill:#f6f8fa;stroke:#d0d7de}}
{rules(LIGHT)}
.bold{{font-weight:bold}}
.dim{{opacity:.65}}
@media(prefers-color-scheme:dark){{
text{{fill:#e6edf3}}
rect{{fill:#0d1117;stroke:#30363d}}
{rules(DARK)}
}}
</style>
<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>
{elements}
</svg>
"""


def draw(tool, maker):
    """Returns the picture."""
    folder = tempfile.mkdtemp()
    try:
        subprocess.run([maker, "--entries", "4000", "--seed", "1", "--faults", "orphan-files", "com.example.shop"], cwd=folder, check=True)
        lines = []
        for command, most in zip(COMMANDS, LINES):
            prompt = [("$", frozenset({"dim"}))] + [(character, frozenset({"bold"})) for character in f" {command}"]
            lines += [[], prompt, *screen(output(command, folder, os.path.dirname(tool)))[:most]]
        return picture(lines[1:])
    finally:
        shutil.rmtree(folder)
