"""Commands that need no archive run where libarchive cannot be loaded, and the others say so."""

import os
import subprocess
import sys

import pytest

import scratch
from products import tool
from scratch import path

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="macOS links libarchive")


@pytest.fixture
def without_libarchive():
    """An environment in which the library that is found first is no library."""
    folder = path("libraries")
    os.makedirs(folder)
    with open(os.path.join(folder, "libarchive.so.13"), "w") as file:
        file.write("This is no library.")
    return os.environ | {"LD_LIBRARY_PATH": folder}


@pytest.mark.parametrize("arguments", [["--version"], ["list", "made"], ["usage", "made"], ["check", "made"], ["export", "made", "-o", "made.har"]],
                         ids=lambda arguments: arguments[0])
def test_not_needed(without_libarchive, arguments):
    """What touches neither a tar nor a coded body does not load it."""
    scratch.make("made", entries=5)
    result = subprocess.run([tool, *arguments], capture_output=True, text=True, env=without_libarchive, cwd=scratch.root)
    assert (result.returncode, "library" in result.stderr) == (0, False), result


def test_missing(without_libarchive):
    """An export to a tar fails, says why, and leaves nothing behind."""
    scratch.make("made", entries=5)
    result = subprocess.run([tool, "export", "made", "-o", "made.tar"], capture_output=True, text=True, env=without_libarchive, cwd=scratch.root)
    assert result.returncode == 74
    assert result.stderr.startswith("error: cannot write the archive: cannot load the library: "), result.stderr
    assert "libarchive.so.13" in result.stderr
    assert os.path.exists(path("made")) and not os.path.exists(path("made.tar"))
