"""Runs every console block of the README and the tutorial, and compares the output with the block."""

import os
import re
import shutil
import struct
import subprocess

import pytest

import readme_blocks
from products import tool
from scratch import path

WRITE = "write it with 'python3 Tests/Scripts/write_readme.py .build/debug/urlcache-admin'"


def test_length():
    """The README stays short."""
    assert len(readme_blocks.read().split()) <= 900


def test_pictures():
    """A picture has a size that loads quickly."""
    found = re.findall(r"(?:src|srcset)=\"([^\"]+\.png)\"", readme_blocks.read())
    assert len(found) == 2, found
    for name in found:
        with open(os.path.join(readme_blocks.CHECKOUT, name), "rb") as file:
            data = file.read()
        width, height = struct.unpack(">II", data[16:24])
        assert data.startswith(b"\x89PNG\r\n") and len(data) < 200_000, (name, len(data))
        assert width == 1280 and 600 <= height <= 900, (name, width, height)


@pytest.mark.parametrize("page, least", zip(readme_blocks.PAGES, [6, 8]), ids=["README", "tutorial"])
def test_blocks(page, least):
    """Every block shows the output of its commands."""
    assert len(readme_blocks.BLOCK.findall(readme_blocks.read(page))) >= least, "the blocks were not found"
    _, differences = readme_blocks.run_blocks(page, tool)
    assert not differences, WRITE + "\n" + "\n".join(differences)


def demonstration(program):
    """Runs the demonstration where the program is installed."""
    for folder in ("bin", "tmp", "share/urlcache-admin"):
        os.makedirs(path(folder))
    os.symlink(program, path("bin/urlcache-admin"))
    script = path("share/urlcache-admin/demo.sh")
    shutil.copy(os.path.join(readme_blocks.CHECKOUT, "share/urlcache-admin/demo.sh"), script)
    return subprocess.run(["sh", script], capture_output=True, text=True, env=os.environ | {"TMPDIR": path("tmp"), "LC_ALL": "C.UTF-8"})


def test_demonstration():
    """The demonstration asks eight questions, each with a command and its answer, and what it says to do at the end works."""
    result = demonstration(tool)
    assert result.returncode == 0 and not result.stderr and "error:" not in result.stdout, result
    steps = re.findall(r"(?m)^# (.*)\n\$ urlcache-admin (\w+) .*\n(?!\n)(.+)\n", result.stdout)
    assert [verb for _, verb, _ in steps] == ["usage", "audit", "explain", "purge", "purge", "import", "enforce", "report"], result.stdout
    [command] = re.findall(r"remove it with: (rm -r .*)\n", result.stdout)
    [folder] = os.listdir(path("tmp"))
    assert {"com.example.shop", "report.html", "gone.tar.zst"} == set(os.listdir(os.path.join(path("tmp"), folder)))
    subprocess.run(command, shell=True, check=True)
    assert os.listdir(path("tmp")) == []


def test_failed_demonstration():
    """The demonstration fails where a command ends with another status than it should, and says which."""
    program = path("program")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n[ \"$1\" != explain ] || exit 70\nexec '{tool}' \"$@\"\n")
    os.chmod(program, 0o755)
    result = demonstration(program)
    assert result.returncode == 1 and "FAILED: it ended with 70 instead of 1" in result.stderr and "--older-than" not in result.stdout, result
