"""What the program asks, and what it suggests to do next."""

import re
import shlex
import sqlite3
import subprocess

import pytest

import scratch
import terminal
from products import tool


@pytest.fixture
def cache():
    return scratch.make("com.example.shop", entries=40)


def suggested(seen):
    """The words of the suggested command."""
    command = [row.partition(": urlcache-admin ")[2] for row in "".join(seen.screen.display).split("hint: ")[1:]]
    return shlex.split(re.sub(" +$", "", command[-1]))


def test_a_question_names_what_and_where(cache):
    seen = terminal.answer("purge", "-c", cache, "--all", typed=b"n\n", until=b"[y/N]")
    assert re.search(r"Remove 40 entries \([0-9.]+ [KM]iB\) from com\.example\.shop\? \[y/N\]", "\n".join(seen.rows)), seen.rows
    assert len(scratch.run("list", "-c", cache, "--format", "urls").stdout.splitlines()) == 40
    seen = terminal.answer("purge", "-c", f"{cache}/Cache.db", "1", typed=b"y\n", until=b"[y/N]")
    assert re.search(r"Remove 1 entry \([0-9.]+ [KM]?i?B\) from com\.example\.shop\?", "\n".join(seen.rows)), seen.rows
    assert len(scratch.run("list", "-c", cache, "--format", "urls").stdout.splitlines()) == 39


def test_the_command_after_a_dry_run_does_it(cache):
    seen, _ = terminal.run("purge", "-c", cache, "--glob", "*e*", "--older-than", "1d", "-n", columns=300)
    words = suggested(seen)
    assert "--dry-run" not in words and "-n" not in words and "--yes" in words
    result = subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == 0 and result.stdout.startswith(b"Removed "), result


@pytest.mark.parametrize("verb, options", [
    ("purge", ["--all", "--yes"]), ("enforce", ["--max-entries", "5", "--yes"]), ("export", ["-o", "out.tar"]),
    ("purge", ["--all", "--plan", "plan.json"])])
def test_the_next_command_works(cache, verb, options, monkeypatch):
    monkeypatch.chdir(scratch.root)
    seen, _ = terminal.run(verb, "-c", cache, *options, columns=300)
    words = suggested(seen) + (["--yes"] if "--plan" in options else [])
    assert scratch.run(*words, cwd=scratch.root).returncode == 0


@pytest.mark.parametrize("verb", [["purge", "--all"], ["enforce", "--max-entries", "3"]])
def test_a_confirmed_removal_does_not_repeat_the_list(cache, verb):
    """The largest entries are shown once, in the question, and how to compact once, in the hint."""
    seen = terminal.answer(*verb, "-c", cache, typed=b"y\n", until=b"[y/N]", columns=200)
    text = "\n".join(seen.rows)
    assert text.count("SIZE  URL") == 1 and text.index("SIZE  URL") < text.index("[y/N]"), text
    assert re.search(r"\[y/N\] y?\s*Removed ", text) and text.count("compact") == (1 if verb[0] == "purge" else 0), text
    # With '--yes', and in a file, the list has been shown nowhere.
    for entries in ["--yes"], ["--yes", "-n"]:
        again = scratch.make("again", entries=40)
        assert b"SIZE  URL" in scratch.run(*verb, "-c", again, *entries).stdout


@pytest.mark.parametrize("verb, left", [
    (["purge", "--all"], 0), (["purge", "--all", "--secure"], 0), (["enforce", "--max-entries", "3"], 3),
    (["enforce", "--max-entries", "3", "--secure"], 3), (["compact"], 40), (["compact", "--secure"], 40),
    (["expire", "--all", "--clear-user-info", "Cached Date"], 40)])
def test_quiet_is_quiet(cache, verb, left):
    """With '-q', a change that goes as planned writes nothing; a dry run and JSON are answers."""
    assert scratch.run(*verb, "-c", cache, "-n", "-q").stdout != b""
    result = scratch.run(*verb, "-c", cache, "--yes", "-q")
    assert (result.stdout, result.stderr) == (b"", b""), result
    assert len(scratch.run("list", "-c", cache, "--format", "urls").stdout.splitlines()) == left
    again = scratch.make("again", entries=40)
    assert scratch.run(*verb, "-c", again, "--yes", "-q", "--format", "json").stdout.startswith(b"{")


def test_an_app_keeps_what_it_has_in_memory(cache):
    """While another process has the cache open, a removal says that it may keep entries in memory, to somebody who is there."""
    note = "note: the app that has the cache open may keep removed entries in memory until it quits"

    def noted(*words):
        seen, _ = terminal.run("purge", "-c", cache, *words, "--yes", columns=200)
        return note in "\n".join(seen.rows)

    app = sqlite3.connect(f"{cache}/Cache.db")
    app.execute("PRAGMA journal_mode=WAL")
    app.execute("SELECT count(*) FROM cfurl_cache_response").fetchone()
    assert noted("1") and not noted("2", "-q")
    assert scratch.run("purge", "-c", cache, "3", "--yes").stderr == b""
    app.close()
    assert not noted("4")


def test_logs_have_no_suggestions(cache):
    assert b"hint" not in scratch.run("purge", "-c", cache, "--all", "--yes").stderr


def test_a_report_says_what_was_written(cache, monkeypatch):
    monkeypatch.chdir(scratch.root)
    errors = scratch.run("report", "-c", cache, "-o", "report.html").stderr.decode()
    assert re.fullmatch(r"Wrote report\.html \([0-9.]+ KiB\)\n", errors), errors
    assert scratch.run("report", "-c", cache, "-o", "-").stderr == b""


def test_receipts_fit_the_terminal():
    """No line of a receipt is wider than the terminal; elsewhere, URLs have up to 100 columns."""
    cache = scratch.make("long", entries=200)
    for words in [["purge", "--all", "-n"], ["purge", "--all", "-y"]]:
        seen, _ = terminal.run(*words, "-c", cache, columns=60, streams=["stdout"])
        lines = [line for line in seen.written.decode().split("\r\n") if "://" in line]
        assert len(lines) == 10 and "…" in seen.written.decode() and all(len(line) <= 60 for line in lines), lines
        if "-n" in words:
            assert any(len(line) > 80 for line in scratch.run(*words, "-c", cache).stdout.decode().splitlines())
    origin = scratch.make("origin", entries=400, seed=1)
    seen, _ = terminal.run("import", origin, "-c", scratch.path("folder"), "--create", "foundation", columns=70, streams=["stdout"])
    lines = [line for line in seen.written.decode().split("\r\n") if "other than GET" in line]
    assert lines and all(len(line) <= 70 for line in lines), lines
