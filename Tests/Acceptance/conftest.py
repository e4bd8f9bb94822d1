"""What all acceptance tests share: a scratch folder for each test, and Foundation's own cache.

    PYTHONPATH=.build/peers python3 -m pytest -n 2 Tests/Acceptance [--thorough] [-k WORD]

The programs are those of `swift build`, or those in the folder that the variable PRODUCTS names.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile

import pytest

import scratch
from products import REPOSITORY


def pytest_addoption(parser):
    parser.addoption("--thorough", action="store_true", help="try all faults, seeds and samples, which takes half an hour, instead of some")


def pytest_configure(config):
    # The processes of xdist inherit the variable.
    if not hasattr(config, "workerinput"):
        os.environ[scratch.MADE_UP] = tempfile.mkdtemp(prefix="urlcache-admin-made-up-")


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ[scratch.MADE_UP], ignore_errors=True)


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    """A folder for each test, which holds the home folder, the state and the temporary files of the programs that the test runs."""
    # The folders of pytest's own `tmp_path` are closed to other users, and some tests run programs as another user.
    with tempfile.TemporaryDirectory(prefix="urlcache-admin-", ignore_cleanup_errors=True) as scratch.root:
        # A proxy would answer in the place of the origins of the tests.
        for name in [name for name in os.environ
                     if name.startswith(("URLCACHE_ADMIN", "XDG_")) or name.lower().endswith("_proxy")]:
            monkeypatch.delenv(name)
        for name, folder in {"HOME": "home", "XDG_STATE_HOME": "state", "TMPDIR": "temporary"}.items():
            os.mkdir(scratch.path(folder))
            monkeypatch.setenv(name, scratch.path(folder))
        yield


@pytest.fixture(scope="session")
def thorough(request):
    """Whether to try everything instead of some."""
    return request.config.getoption("thorough")


@pytest.fixture(scope="session")
def stock_url_cache():
    """The path of a program around the `URLCache` of this toolchain, which is built once for all test processes."""
    source, program = REPOSITORY / "Tests/Peers/StockURLCache.swift", REPOSITORY / ".build/peers/StockURLCache"
    program.parent.mkdir(parents=True, exist_ok=True)
    with open(program.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(["swiftc", "-O", "-swift-version", "5", source, "-o", program], check=True, timeout=600)
    return str(program)
