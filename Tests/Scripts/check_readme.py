"""Runs every console block of the README, and holds what it prints against what stands there.

    check_readme.py URLCACHE-ADMIN SAMPLE-CACHE [--write]

In a block a line that begins with `$ ` is a command, lines with `> ` after it belong to it, and all others up to the
next command are what it prints, on the standard output and the standard error. The blocks are run in their order, in one home folder
with nothing in it but what is installed. Two things differ from run to run, and have a name in the README: the home folder, and
the folder that the demo makes. `--write` puts what was printed into the README.
"""

import os, re, shutil, struct, subprocess, sys, tempfile

tool, maker = map(os.path.abspath, sys.argv[1:3])
checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
readme = os.path.join(checkout, "README.md")
HOME, DEMO = "/Users/anna", "/tmp/urlcache-admin-demo.XXXXXX"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def make_home(home):
    """A home folder in which the programs and the demo are installed."""
    os.makedirs(os.path.join(home, "bin"))
    for path in (tool, tool + "-fetch", maker):
        os.symlink(path, os.path.join(home, "bin", os.path.basename(path)))
    os.makedirs(os.path.join(home, "share/urlcache-admin"))
    shutil.copy(os.path.join(checkout, "share/urlcache-admin/demo.sh"), os.path.join(home, "share/urlcache-admin"))
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


def check_blocks(text):
    """The README with the blocks as they would be now; each that differs is shown."""
    home, status, failed = os.path.realpath(tempfile.mkdtemp()), 0, 0

    def replacement(match):
        nonlocal status, failed
        shown, status = run_block(match[1], home, status)
        if shown != match[1]:
            failed += 1
            print(f"README.md:{text.count(chr(10), 0, match.start()) + 1}: it now prints\n{shown}")
        return f"```console\n{shown}```"

    try:
        make_home(home)
        now = BLOCK.sub(replacement, text)
    finally:
        shutil.rmtree(home)
    assert len(BLOCK.findall(text)) >= 8, "the blocks were not found"
    return now, failed


def check_links(text):
    """Every file that the README names is there, and a picture is one of a size that loads quickly."""
    for path in re.findall(r"\]\(([^)#]+)\)|(?:src|srcset)=\"([^\"]+)\"", text):
        path = path[0] or path[1]
        if "://" in path:
            continue
        assert os.path.exists(os.path.join(checkout, path)), path
        if path.endswith(".png"):
            with open(os.path.join(checkout, path), "rb") as file:
                data = file.read()
            width, height = struct.unpack(">II", data[16:24])
            assert data.startswith(b"\x89PNG\r\n") and len(data) < 200_000, (path, len(data))
            assert width == 1280 and 600 <= height <= 1000, (path, width, height)


with open(readme, encoding="utf-8") as file:
    before = file.read()
check_links(before)
print("links: ok")
after, failed = check_blocks(before)
if "--write" in sys.argv:
    with open(readme, "w", encoding="utf-8") as file:
        file.write(after)
elif failed:
    sys.exit(f"{failed} blocks differ")
print("blocks: ok")
