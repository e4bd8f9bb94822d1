"""Runs every console block of the README and the tutorial, and compares the output with the block."""

import os
import re
import struct
import subprocess

import pytest

import readme_blocks
import scratch
from products import maker, tool
from scratch import path

WRITE = "write it with 'python3 Tests/Scripts/write_readme.py .build/debug/urlcache-admin .build/debug/sample-cache'"


@pytest.fixture
def quick_maker():
    """The path of a `sample-cache` that copies the caches that the README and the demonstration make alike."""
    cases = [f'"--entries {entries} --seed 1 --faults orphan-files "*) exec cp -a {scratch.made_up(("--faults", "orphan-files"), entries, 1)} "$folder" ;;'
             for entries in (2000, 4000)]
    os.mkdir(path("made"))
    script = scratch.write("made/sample-cache", "\n".join(
        ["#!/bin/sh", "for folder; do :; done", 'case "$*" in', f"*--newest*) exec '{maker}' \"$@\" ;;", *cases, "esac", f"exec '{maker}' \"$@\"", ""]).encode())
    os.chmod(script, 0o755)
    return script


def test_length():
    """The README stays short."""
    assert len(readme_blocks.read().split()) <= 1000


def test_pictures():
    """A picture has a size that loads quickly."""
    found = re.findall(r"(?:src|srcset)=\"([^\"]+\.png)\"", readme_blocks.read())
    assert len(found) == 2, found
    for name in found:
        with open(os.path.join(readme_blocks.CHECKOUT, name), "rb") as file:
            data = file.read()
        width, height = struct.unpack(">II", data[16:24])
        assert data.startswith(b"\x89PNG\r\n") and len(data) < 200_000, (name, len(data))
        assert width == 1280 and 600 <= height <= 1000, (name, width, height)


@pytest.mark.parametrize("page, least", zip(readme_blocks.PAGES, [6, 8]), ids=["README", "tutorial"])
def test_blocks(page, least, quick_maker):
    """Every block shows the output of its commands."""
    assert len(readme_blocks.BLOCK.findall(readme_blocks.read(page))) >= least, "the blocks were not found"
    _, differences = readme_blocks.run_blocks(page, tool, quick_maker)
    assert not differences, WRITE + "\n" + "\n".join(differences)


def test_demonstration(quick_maker):
    """The demonstration runs each of its commands on a made-up cache."""
    binaries, temporary = path("bin"), path("tmp")
    os.makedirs(binaries)
    os.makedirs(temporary)
    for program in (tool, quick_maker):
        os.symlink(program, os.path.join(binaries, os.path.basename(program)))
    script = os.path.join(path("share/urlcache-admin"), "demo.sh")
    os.makedirs(os.path.dirname(script))
    with open(os.path.join(readme_blocks.CHECKOUT, "share/urlcache-admin/demo.sh")) as file, open(script, "w") as copy:
        copy.write(file.read())
    result = subprocess.run(["sh", script], capture_output=True, text=True, env=os.environ | {"TMPDIR": temporary, "LC_ALL": "C.UTF-8"})
    assert result.returncode == 0 and "error:" not in result.stdout, result
    assert re.findall(r"(?m)^\+ urlcache-admin (\w+)", result.stdout) == ["usage", "list", "purge", "report"], result.stdout
