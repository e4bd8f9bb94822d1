"""Runs of programs under strace, which kills them at a system call, or lets the call fail."""

import collections
import re

import pytest

# Marks a test, or as `pytestmark` a module, that traces programs.
needed = pytest.mark.needs_strace


def fault(call, fault, turn, follow=True):
    """The words before a command that let a system call meet a fault, such as `signal=SIGKILL`, at one of its turns, such as `3`, or `3+` from then on."""
    return ["strace", *["-f"] * follow, "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={turn}"]


def counts(calls, trace, run, follow=True):
    """How often a command makes each of some system calls. `run` runs the command with other words before it."""
    run("strace", *["-f"] * follow, "-qq", "-o", trace, "-e", f"trace={','.join(calls)}")
    with open(trace, errors="replace") as file:
        made = collections.Counter(match[1] for line in file if (match := re.match(r"(?:\d+\s+)?(\w+)\(", line)))
    return {call: made[call.strip("?")] for call in calls}


def spread(values, most):
    """Some of the values, evenly spread, with the first and the last; of one the middle."""
    values = list(values)
    if len(values) <= most:
        return values
    if most == 1:
        return [values[len(values) // 2]]
    return [values[round(step * (len(values) - 1) / (most - 1))] for step in range(most)]
