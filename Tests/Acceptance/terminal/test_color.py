"""Colors: `--color`, then NO_COLOR, CLICOLOR_FORCE, TERM=dumb and CLICOLOR=0, then whether a stream is a terminal, of each stream for itself."""

import re

import pytest

import scratch
import terminal

# The options, the variables, and whether there are colors on a terminal and elsewhere.
CASES = [
    ([], {}, True, False),
    (["--color", "always"], {}, True, True),
    (["--color=never"], {}, False, False),
    (["--color", "auto"], {}, True, False),
    ([], {"NO_COLOR": "1"}, False, False),
    ([], {"NO_COLOR": ""}, True, False),
    (["--color", "always"], {"NO_COLOR": "1"}, True, True),
    ([], {"CLICOLOR_FORCE": "1"}, True, True),
    ([], {"CLICOLOR_FORCE": "0"}, True, False),
    ([], {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False, False),
    ([], {"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True, True),
    (["--color", "never"], {"CLICOLOR_FORCE": "1"}, False, False),
    ([], {"TERM": "dumb"}, False, False),
    ([], {"CLICOLOR": "0"}, False, False),
    ([], {"CLICOLOR": "1"}, True, False),
]


@pytest.mark.parametrize("options, variables, terminals, others", CASES)
def test_each_stream_has_colors_for_itself(options, variables, terminals, others):
    cache = scratch.make("cache", entries=40)
    # The table is on standard output, and the error about '--sort' on standard error.
    for words, streams in [(["list", "-c", cache, *options], ["stdout"]), (["list", "-c", scratch.path("nothing"), *options], ["stderr"])]:
        seen, _ = terminal.run(*words, streams=streams, **variables)
        assert seen.is_colored() == terminals, (words, seen.written)
        other = "stderr" if streams == ["stdout"] else "stdout"
        _, written = terminal.run(*words, streams=[other], **variables)
        assert written and (b"\x1b[" in written) == others, (words, written)
        piped = scratch.run(*words, env={"TERM": "xterm"} | variables, status=None)
        assert (b"\x1b[" in (piped.stdout if streams == ["stdout"] else piped.stderr)) == others, piped


def test_freshness_headers_errors_and_hints_have_their_colors():
    cache = scratch.make("cache", entries=200)
    seen, _ = terminal.run("list", "-c", cache, "--at", "2026-01-01T00:00:00Z", streams=["stdout"])
    text = seen.written.decode()
    assert re.search("\x1b\\[1mFRESHNESS\x1b\\[0m", text)
    found = set(re.findall("\x1b\\[([0-9;]+)m(fresh|stale|no lifetime)\x1b\\[0m", text))
    assert found == {("32", "fresh"), ("31", "stale"), ("90", "no lifetime")}
    seen, _ = terminal.run("lst", streams=["stderr"])
    assert b"\x1b[1;31merror:\x1b[0m " in seen.written and b"\x1b[2mhint: " in seen.written


def test_findings_have_the_colors_of_their_severity():
    cache = scratch.make("cache", "--faults", "orphan-files,missing-bodies", entries=60)
    seen, _ = terminal.run("check", cache, streams=["stdout"])
    text = seen.written.decode()
    for title in ["SEVERITY", "FINDING", "COUNT", "REPAIR"]:
        assert f"\x1b[1m{title}\x1b[0m" in text, text
    found = dict(re.findall("\x1b\\[([0-9;]+)m(error|warning)\x1b", text))
    assert found == {"1;31": "error", "33": "warning"}, text
    # The sums have the colors, too, unless they are zero.
    assert re.search("\x1b\\[1;31m[0-9]+ errors?\x1b\\[0m, \x1b\\[33m[0-9]+ warnings?\x1b\\[0m, ", text), text
    assert "\x1b" not in scratch.run("check", cache, status=1).stdout.decode()
    seen, _ = terminal.run("check", scratch.make("clean", entries=5), streams=["stdout"])
    assert not re.search("\x1b\\[(1;31|33)m", seen.written.decode()), seen.written


def test_machine_formats_and_hostile_text_never_have_colors():
    cache = scratch.make("cache", entries=40)
    for format in ["json", "ndjson", "csv", "tsv", "urls", "ncdu"]:
        seen, _ = terminal.run("list", "-c", cache, "--format", format, "--color", "always", streams=["stdout"])
        assert b"\x1b" not in seen.written, format


def test_an_unknown_color_is_refused():
    assert b"--color" in scratch.run("list", "--color", "green", status=64).stderr


def test_options_may_precede_the_verb():
    cache = scratch.make("cache", entries=5)
    result = scratch.run("--color", "always", "list", "-c", cache)
    assert b"\x1b[1mID" in result.stdout or b"\x1b[1m" in result.stdout
