"""Takes their standard output from commands: a full device, or a pipe that nobody reads. What was changed is said on standard error, and
the exit status is that of the work."""

import json
import os

import pytest

import needs
import scratch
import worlds
from scratch import path

CHANGES = {
    "purge": ["--all", "--yes"],
    "enforce": ["--max-entries", "3", "--yes"],
    "check": ["--repair", "--yes"],
    "expire": ["--all", "--clear-user-info", "When", "--yes"],
    "compact": ["--full"],
    "import": [],
    "apply": ["--yes"],
}


def make(name="cache"):
    cache = worlds.apple(path(name), worlds.entries(20, headers={"Cache-Control": "max-age=1"}, user_info={"When": "now"}), churn=50)
    worlds.write_body(cache, worlds.body_name(1), age=2 * worlds.GRACE)
    return cache


def words(verb, cache):
    if verb == "import":
        worlds.run("export", "-c", cache, "-o", path("archive.tar"), status=0)
        worlds.run("purge", "-c", cache, "--newer-than", "1d", "--yes", status=0)
        return ["import", path("archive.tar"), "-c", cache]
    if verb == "apply":
        worlds.run("purge", "-c", cache, "--all", "--plan", path("plan.json"), status=0)
        return ["apply", path("plan.json"), "-c", cache, *CHANGES[verb]]
    return [verb, "-c", cache, *CHANGES[verb]]


def stored(cache):
    """What is stored of each entry, without the names of body files, which an import draws."""
    return {number: (row, blobs, body[2] if file is None else file) for number, (row, blobs, body, file) in worlds.contents(cache).items()}


def run(output, *line, status=None):
    """Runs a command whose output is lost."""
    if output == "full":
        needs.require("needs_full_device")
        with open("/dev/full", "w") as full:
            return worlds.run(*line, status=status, stdout=full)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return worlds.run(*line, status=status, stdout=writing)
    finally:
        os.close(writing)


@pytest.mark.parametrize("format", ["table", "json"])
@pytest.mark.parametrize("output", ["full", "closed"])
@pytest.mark.parametrize("verb", CHANGES)
def test_changes(verb, output, format):
    """The command does the same, and says the same."""
    cache = make()
    line = [*words(verb, cache), "--format", format]
    scratch.copy(cache, "twin")
    expected = worlds.run(*line)
    wanted = stored(cache)
    scratch.copy(path("twin"), "cache")
    lost = run(output, *line)
    assert stored(cache) == wanted
    assert lost.returncode == (74 if output == "full" else expected.returncode), lost
    if format == "table":
        assert lost.stderr.startswith(expected.stdout), (expected, lost)
    else:
        removed = json.loads(expected.stdout).get("removed", {}).get("entries") or 0
        if verb == "check":
            removed = json.loads(expected.stdout)["repair"]["removed"]["entries"]
        assert ("removed " in lost.stderr and f"removed {removed} entries" in lost.stderr) or removed == 0 and "no entries" in lost.stderr, lost
    errors = [text for text in lost.stderr.splitlines() if "No space left" in text]
    assert len(errors) == (output == "full"), lost
    if errors and format == "json":
        assert json.loads(errors[0])["code"] == 74


@pytest.mark.parametrize("output", ["full", "closed"])
def test_pins(output):
    worlds.configure(make())
    result = run(output, "pin", "-c", "shop", "https://a.example/1", status=74 if output == "full" else 0)
    assert result.stderr.startswith("Pinned 1 URL in 'shop'\n")
    result = run(output, "unpin", "-c", "shop", "https://b.example/1", status=74 if output == "full" else 1)
    assert result.stderr.startswith("Unpinned 0 URLs in 'shop'\n")


ANSWERS = [
    ["check"], ["check", "--format", "json"], ["check", "--repair", "-n"], ["usage", "--capacity", "1K", "--fail-above", "90%"],
    ["usage", "--capacity", "1K", "--fail-above", "90%", "--format", "json"], ["explain", "https://a.example/1"], ["explain", "--all", "--format", "ndjson"], ["audit", "--fail-on", "note"],
    ["audit", "--fail-on", "note", "--format", "json"], ["audit", "--fail-on", "note", "--format", "sarif"], ["purge", "https://none.example/", "-n"], ["enforce", "--max-size", "1", "-n"], ["diff", "OTHER"], ["diff", "OTHER", "--format", "json"],
]


@pytest.mark.parametrize("line", ANSWERS, ids=" ".join)
def test_answers(line):
    """A reader that has gone does not change the answer, and nothing is said of it; a full device is an error."""
    cache = make()
    if line[0] == "diff":
        line = [line[0], cache, worlds.apple(path("other"), worlds.entries(5)), *line[2:]]
    else:
        line = [line[0], "-c", cache, *line[1:]]
    expected = worlds.run(*line)
    assert expected.returncode in (1, 3), expected
    closed = run("closed", *line)
    assert closed.returncode == expected.returncode, closed
    assert closed.stderr == expected.stderr
    full = run("full", *line, status=74)
    assert "No space left" in full.stderr and not full.stderr.startswith(expected.stdout)


@pytest.mark.parametrize("line", [["list"], ["list", "--format", "json"], ["show", "https://a.example/1"], ["purge", "--all", "--plan", "-"], ["usage"]], ids=" ".join)
def test_products(line):
    """Where the output is all there is, a closed pipe ends the command quietly, and nothing of it goes to standard error."""
    cache = make()
    line = [line[0], "-c", cache, *line[1:]]
    assert run("closed", *line, status=0).stderr == ""
    full = run("full", *line, status=74)
    assert len(full.stderr) < 300 and "No space left" in full.stderr
    assert len(worlds.contents(cache)) == 20
