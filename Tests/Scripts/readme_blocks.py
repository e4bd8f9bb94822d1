"""Runs the console blocks of the README and the tutorial.

In a block, a line that begins with `$ ` is a command, lines with `> ` after it belong to it, and all others up to the
next command are its output, on standard output and standard error. The blocks of a page run in order, in an empty home
folder; the working folder and exported variables last from one command to the next. The output must be the same every
day: they make a cache whose newest entry is of this second, and show no dates.
"""

import os
import re
import shutil
import subprocess
import tempfile

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README = os.path.join(CHECKOUT, "README.md")
PAGES = [README, os.path.join(CHECKOUT, "share/doc/urlcache-admin/tutorial.md")]
HOME = "~"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
# Restores the working folder and the variables of the command before, and keeps those of this one.
SHELL = """. {state}
(exit $status)
{command}
status=$?
{{ export -p; printf 'cd "%s"\\nstatus=%s\\n' "$PWD" "$status"; }} >{state}
"""


def make_home(home, tool):
    """Makes a home folder with links to the programs."""
    os.makedirs(os.path.join(home, "bin"))
    for path in (tool, tool + "-fetch"):
        os.symlink(path, os.path.join(home, "bin", os.path.basename(path)))
    os.makedirs(os.path.join(home, "Library/Caches"))


def run_block(block, home, state):
    """Returns what a terminal would show of the commands of a block."""
    shown = []
    environment = {"HOME": home, "PATH": f"{home}/bin:/usr/bin:/bin", "TMPDIR": home, "TZ": "UTC", "LANG": "C.UTF-8"}
    for lines in re.findall(r"^\$ .*\n(?:> .*\n)*", block, re.M):
        command = "\n".join(line[2:] for line in lines.splitlines())
        result = subprocess.run(["sh", "-c", SHELL.format(state=state, command=command)], cwd=home, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        shown += [lines, result.stdout.replace(home, HOME)]
    return "".join(shown)


def read(page=README):
    """Returns the text of a page."""
    with open(page, encoding="utf-8") as file:
        return file.read()


def run_blocks(page, tool):
    """Returns a page with the current output in its blocks, and a description of each block that differs."""
    text, home, differences = read(page), os.path.realpath(tempfile.mkdtemp()), []
    state = home + ".state"

    def replacement(match):
        shown = run_block(match[1], home, state)
        if shown != match[1]:
            line = text.count("\n", 0, match.start()) + 1
            differences.append(f"{os.path.basename(page)}:{line}: it now prints\n{shown}")
        return f"```console\n{shown}```"

    try:
        make_home(home, tool)
        with open(state, "w") as file:
            file.write("status=0\n")
        now = BLOCK.sub(replacement, text)
    finally:
        shutil.rmtree(home)
        if os.path.exists(state):
            os.remove(state)
    return now, differences
