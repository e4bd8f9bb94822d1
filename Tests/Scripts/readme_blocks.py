"""Runs the console blocks of the README.

In a block a line that begins with `$ ` is a command, lines with `> ` after it belong to it, and all others up to the
next command are what it prints, on the standard output and the standard error. The blocks are run in their order, in one home folder
with nothing in it but what is installed. Two things differ from run to run, and have a name in the README: the home folder, and
the folder that the demo makes.
"""

import os
import re
import shutil
import subprocess
import tempfile

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README = os.path.join(CHECKOUT, "README.md")
HOME, DEMO = "/Users/anna", "/tmp/urlcache-admin-demo.XXXXXX"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def make_home(home, tool, maker):
    """A home folder in which the programs and the demo are installed."""
    os.makedirs(os.path.join(home, "bin"))
    for path in (tool, tool + "-fetch", maker):
        os.symlink(path, os.path.join(home, "bin", os.path.basename(path)))
    os.makedirs(os.path.join(home, "share/urlcache-admin"))
    shutil.copy(os.path.join(CHECKOUT, "share/urlcache-admin/demo.sh"), os.path.join(home, "share/urlcache-admin"))
    os.makedirs(os.path.join(home, "Library/Caches"))


def named(text, home):
    """What was printed, with names for what differs from run to run."""
    text = re.sub(re.escape(home) + r"/urlcache-admin-demo\.\w{6}", DEMO, text)
    return text.replace(home, HOME)


def run_block(block, home, status):
    """What a terminal would show of the commands of a block, and the status of the last one."""
    shown = []
    for lines in re.findall(r"^\$ .*\n(?:> .*\n)*", block, re.M):
        command = "\n".join(line[2:] for line in lines.splitlines())
        environment = {"HOME": home, "PATH": f"{home}/bin:/usr/bin:/bin", "TMPDIR": home, "TZ": "UTC", "LANG": "C.UTF-8"}
        # The status of the command before, for '$?'.
        result = subprocess.run(["sh", "-c", f"(exit {status})\n{command}"], cwd=home, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        status = result.returncode
        shown += [lines, named(result.stdout, home)]
    return "".join(shown), status


def read():
    with open(README, encoding="utf-8") as file:
        return file.read()


def run_blocks(text, tool, maker):
    """The README with the blocks as they would be now, and a description of each block that differs."""
    home, status, differences = os.path.realpath(tempfile.mkdtemp()), 0, []

    def replacement(match):
        nonlocal status
        shown, status = run_block(match[1], home, status)
        if shown != match[1]:
            differences.append(f"README.md:{text.count(chr(10), 0, match.start()) + 1}: it now prints\n{shown}")
        return f"```console\n{shown}```"

    try:
        make_home(home, tool, maker)
        now = BLOCK.sub(replacement, text)
    finally:
        shutil.rmtree(home)
    return now, differences
