"""Programs of others, which are in PATH or where `Tests/run.sh` puts them, and not on each machine."""

import os
import shutil

import pytest

from products import REPOSITORY

FOLDER = REPOSITORY / ".build/peers"


def found(name):
    """The path of a program, or nothing."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), str(FOLDER)]))


def needed(*names):
    """Marks a test that cannot run without some programs."""
    missing = [name for name in names if not found(name)]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: not here")
