"""Real caches and archives, which lie outside the repository and not on each machine."""

import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "shared/samples"
# Marks a test that has nothing to look at without the samples.
needed = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no samples at '../shared/samples': not here")


def folder(name):
    """The path of a folder of samples: `cachedb`, `har` or `warc`."""
    return str(FOLDER / name)
