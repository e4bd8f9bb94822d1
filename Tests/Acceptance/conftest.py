"""What all acceptance tests share: a scratch folder for each test, what a test may need of the machine, and Foundation's own cache.

    PYTHONPATH=.build/peers python3 -m pytest -n 2 Tests/Acceptance [--thorough] [-k WORD]

The programs are those of `swift build`, or those in the folder that the variable PRODUCTS names.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

import needs
import permutations
import samples
import scratch
from products import REPOSITORY


# The reasons for which a test may be skipped where CI is set: for any other one, a step to install what it needs is missing, and it fails.
# What the options `--thorough`, `--operations`, `--replay` and `--webkit` of `Tests/run.sh` are for is left to them.
MAY_SKIP = ["only with --thorough", "DuckDB and Spark: not here", "Ansible: not here", "pywb: not here", "WebKitGTK: not here",
            "no samples at '../shared/samples': not here"]
if sys.platform == "darwin":
    # What Linux has, and the programs that Debian has.
    MAY_SKIP += [": not here", "is not here", "only Linux reports each file", "macOS links libarchive"]


def pytest_addoption(parser):
    parser.addoption("--thorough", action="store_true", help="try all faults, seeds and samples, which takes an hour, instead of some")


def pytest_configure(config):
    for name, (words, _) in needs.NEEDS.items():
        config.addinivalue_line("markers", f"{name}: needs {words}")
    config.addinivalue_line("markers", "some(names, values, few): a test with all values of parameters with --thorough, and else with few of them")
    # The processes of xdist inherit the variable.
    if not hasattr(config, "workerinput"):
        os.environ[scratch.MADE_UP] = tempfile.mkdtemp(prefix="urlcache-admin-made-up-")


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ[scratch.MADE_UP], ignore_errors=True)


def pytest_generate_tests(metafunc):
    thorough = metafunc.config.getoption("thorough")
    for mark in metafunc.definition.iter_markers("some"):
        names, values, few = mark.args
        metafunc.parametrize(names, values if thorough else few)
    if thorough:
        permutations.add(metafunc)


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if not permutations.is_moot(item)]


def pytest_runtest_setup(item):
    for mark in item.iter_markers():
        if mark.name in needs.NEEDS:
            needs.require(mark.name)


def refuse(report):
    """Makes a failure of a report of what was skipped in CI for a reason that is none."""
    if os.environ.get("CI") == "true" and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(reason.endswith(known) for known in MAY_SKIP):
            report.outcome, report.longrepr = "failed", f"skipped, which no test may be in CI for this reason (MAY_SKIP in conftest.py): {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return refuse((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return refuse((yield))


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


@pytest.fixture(autouse=True)
def permutation(request, surroundings):
    """Has the Apple caches that a test makes be in another journal mode, or has somebody else hold them, if the test has such a parameter."""
    with permutations.applied(getattr(request, "param", None)):
        yield


@pytest.fixture(scope="session")
def thorough(request):
    """Whether to try everything instead of some."""
    return request.config.getoption("thorough")


@pytest.fixture(params=["made", pytest.param("real", marks=samples.needed)])
def cachedb(request):
    """The folder of caches as Apple systems write them, made ones and real ones, which no test changes."""
    return samples.path_of(request.param)


@pytest.fixture
def sample(request):
    """One of these caches, for a test with the parameters `samples.each()`."""
    return samples.path_of(*request.param)


def peer(source, name, *compiler):
    """The path of a program or library of `Tests/Peers`, which is built once for all test processes."""
    source, program = REPOSITORY / "Tests/Peers" / source, REPOSITORY / ".build/peers" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    with open(program.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            subprocess.run([*compiler, source, "-o", program], check=True, timeout=600)
    return str(program)


@pytest.fixture(scope="session")
def stock_url_cache():
    """The path of a program around the `URLCache` of this toolchain, which on macOS is another one."""
    needs.require("needs_linux")
    return peer("StockURLCache.swift", "StockURLCache", "swiftc", "-O", "-swift-version", "5")


@pytest.fixture
def apple_sqlite(monkeypatch):
    """Has every program that the test starts use SQLite as Apple builds it."""
    if sys.platform != "darwin":
        monkeypatch.setenv("LD_PRELOAD", peer("AppleSQLite.c", "AppleSQLite.so", "clang", "-shared", "-fPIC", "-lsqlite3"))
