"""Runs every console block of the README, and compares the output with the block."""

import os
import re
import struct

import pytest

import readme_blocks
from products import maker, tool


@pytest.fixture
def text():
    return readme_blocks.read()


def test_links(text):
    """Every file that the README names exists, and a picture has a size that loads quickly."""
    for path in re.findall(r"\]\(([^)#]+)\)|(?:src|srcset)=\"([^\"]+)\"", text):
        path = path[0] or path[1]
        if "://" in path:
            continue
        assert os.path.exists(os.path.join(readme_blocks.CHECKOUT, path)), path
        if path.endswith(".png"):
            with open(os.path.join(readme_blocks.CHECKOUT, path), "rb") as file:
                data = file.read()
            width, height = struct.unpack(">II", data[16:24])
            assert data.startswith(b"\x89PNG\r\n") and len(data) < 200_000, (path, len(data))
            assert width == 1280 and 600 <= height <= 1000, (path, width, height)


def test_blocks(text):
    """Every block shows the output of its commands."""
    assert len(readme_blocks.BLOCK.findall(text)) >= 8, "the blocks were not found"
    _, differences = readme_blocks.run_blocks(text, tool, maker)
    assert not differences, "write them with 'python3 Tests/Scripts/write_readme.py .build/debug/urlcache-admin .build/debug/sample-cache'\n" + (
        "\n".join(differences))
