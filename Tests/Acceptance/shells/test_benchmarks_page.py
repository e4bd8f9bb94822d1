"""The page of the benchmarks and its pictures are what the kept figures and the text give."""

import filecmp
import subprocess
import sys

import pytest

from products import REPOSITORY

PAGES = REPOSITORY / "Tests/Benchmarks"
NAMES = ["README.md", "peers.svg", "peers-dark.svg", "growth.svg", "growth-dark.svg"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with the page as it would be written now."""
    folder = tmp_path_factory.mktemp("written")
    program = REPOSITORY / "Tests/Benchmarks/page.py"
    subprocess.run([sys.executable, "-B", program, REPOSITORY / "Tests/Benchmarks/figures", folder], check=True)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_written(written, name):
    """Nothing was changed by hand."""
    assert filecmp.cmp(written / name, PAGES / name, shallow=False), "write it with 'sh Tests/Benchmarks/page.sh --write'"


def test_goals():
    """Each goal has a row of its table, if that was measured."""
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    goals = (REPOSITORY / "Tests/Benchmarks/goals.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(goals) > 20
    for goal in goals:
        assert f"| {goal.split(chr(9))[0]} |" in text, goal
