"""Caches as Apple systems write them, which the tests make, and real caches and archives, which lie outside the repository and not on each machine.

Whatever is looked at in real caches is looked at in made ones too, so a clone without the real ones tests the same.
"""

import fcntl
import os
import pathlib
import shutil

import pytest

import apple_systems
import scratch

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "shared/samples"
# Marks a test that has nothing to look at without the samples.
needed = pytest.mark.skipif(not FOLDER.is_dir(), reason="no samples at '../shared/samples': not here")


def folder(name):
    """The path of a folder of samples: `cachedb`, `har` or `warc`."""
    return str(FOLDER / name)


def made():
    """The folder of the made caches, which no test changes; the first test process that needs it makes them."""
    result = os.path.join(os.environ[scratch.MADE_UP], "cachedb")
    with open(result + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(result):
            apple_systems.make(result + ".new")
            os.rename(result + ".new", result)
    return result


def each(wanted=lambda name: True):
    """The parameters of a test that looks at one cache: for the fixture `sample`, those of the made and the real caches whose name is wanted."""
    real = sorted(filter(wanted, os.listdir(folder("cachedb")))) if FOLDER.is_dir() else []
    kinds = [("made", name) for name in apple_systems.NAMES if wanted(name)] + [("real", name) for name in real]
    return [pytest.param(kind, id="-".join(kind)) for kind in kinds] + [pytest.param(("real", ""), id="real", marks=needed)] * (not real)


def path_of(kind, name=""):
    return os.path.join(made() if kind == "made" else folder("cachedb"), name)


def copy(sample, name):
    """A copy of a cache that can be written to."""
    result = shutil.copytree(sample, scratch.path(name))
    for parent, folders, names in os.walk(result):
        for entry in folders + names:
            os.chmod(os.path.join(parent, entry), 0o700)
    return result
