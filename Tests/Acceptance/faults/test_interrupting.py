"""Interrupts commands that change a cache, takes their room away, and runs two at once; then looks at the cache.

It tries moments, sizes and pairs that are spread evenly, with `--thorough` about ten times as many.
"""

import itertools
import json
import os
import re
import shutil
import subprocess

import pytest

import scratch
import strace
from fault_trial import COMMANDS, Bad, Trial, length, look, make_free, make_origin, must
from heard_signals import hear_signals
from products import tool
from scratch import make, path, run
from strace import spread

pytestmark = strace.needed


SOME_SIGNALS = [("purge", "SIGINT"), ("purge", "SIGTERM"), ("enforce", "SIGTERM"), ("apply", "SIGINT"), ("compact", "SIGTERM")]


def pytest_generate_tests(metafunc):
    if "signal" in metafunc.fixturenames:
        every = itertools.product([*IN_BATCHES, "compact"], ["SIGINT", "SIGTERM"])
        metafunc.parametrize(("name", "signal"), every if metafunc.config.getoption("thorough") else SOME_SIGNALS)
    if "limited" in metafunc.fixturenames:
        # The two ways of `enforce` and `compact` are much alike.
        thorough = metafunc.config.getoption("thorough")
        metafunc.parametrize("limited", COMMANDS if thorough else ["purge", "enforce", "apply", "repair", "compact-full"])


def plan_of(cache):
    run("purge", "-c", cache, "--all", "--plan", path("plan-of-many.json"))
    return path("plan-of-many.json")


# Commands on a cache that another process has open, which work in several batches.
IN_BATCHES = {
    "purge": lambda origin: Trial(origin, "purge", "--all", beside=True),
    "enforce": lambda origin: Trial(origin, "enforce", "--max-entries", "20", beside=True),
    "apply": lambda origin: Trial(origin, "apply", plan_of(origin), beside=True),
}


def test_signal(name, signal, thorough):
    """A command finishes the batch in which a signal arrives, reports what it did, and then ends by the signal."""
    if name == "compact":
        trial = Trial(make_free(make_origin()), "compact")
    else:
        trial = IN_BATCHES[name](make("many", "--no-large-bodies", entries=260, seed=5))
    points = trial.points()
    # Some signal has to arrive while there is more than one batch to do.
    calls = {"pwrite64": 2, "fdatasync": 2, "unlinkat": 1, "write": 1}
    for call, few in calls.items():
        for turn in spread([turn for other, turn in points if other == call], 25 if thorough else few):
            trial.with_fault(call, turn, f"signal={signal}")
    trial.finish()
    assert trial.partial or name == "compact", "no batch was the last"


def test_signal_while_rewriting():
    """A rewrite that a signal stops ends long before it would be done, and changes nothing."""
    cache = make("rewritten", "--no-large-bodies", entries=2000, seed=7)
    before, database = look(cache), scratch.read(os.path.join(cache, "Cache.db"))
    result = subprocess.run([*strace.fault("pread64", "signal=SIGINT", 300), tool, "compact", "-c", cache, "--full", "--no-verify",
                             "--format", "json"], capture_output=True, preexec_fn=hear_signals)
    assert result.returncode == -2 and result.stderr == b"note: stopped by a signal\n", result
    assert json.loads(result.stdout)["method"] == "none", result
    assert scratch.read(os.path.join(cache, "Cache.db")) == database
    assert look(cache) == before


MOUNT = """
mount -t tmpfs -o size="$1k" none "$2" && cp -a "$3" "$2/cache" || exit 99
shift 3; "$@"; status=$?
cp -a "$mounted/cache" "$outside" && exit $status
"""


@pytest.mark.needs_mounts
def test_small_file_system(limited, thorough):
    """On a file system that fills up, a command says what it did, and leaves a valid cache."""
    trial = COMMANDS[limited](make_origin())
    cache, mounted, ends = path("cache"), path("mounted"), set()
    os.makedirs(mounted, exist_ok=True)
    whole = -(-length(trial.origin) // 1024)
    sizes = spread(range(whole, 3 * whole, 4), 60) if thorough else [whole + 8, whole + 48, whole + 160, 3 * whole]
    for size in sizes:
        shutil.rmtree(cache, ignore_errors=True)
        result = subprocess.run(
            ["unshare", "-rm", "sh", "-c", MOUNT, "sh", str(size), mounted, trial.origin,
             *trial.arguments(os.path.join(mounted, "cache"))], capture_output=True, timeout=120,
            # An intent is about the cache there, and not about the copy that is looked at.
            env=dict(os.environ, mounted=mounted, outside=cache, XDG_STATE_HOME=os.path.join(mounted, "state")))
        if result.returncode != 99:
            ends.add(result.returncode)
            trial.judge(f"{size} KiB of room", cache, result, [0, 74])
    trial.finish()
    assert ends == {0, 74}, ends


def test_small_files(limited, thorough):
    """A limit on the length of files, which ends a process that does not ignore its signal, is an error like any other."""
    trial = COMMANDS[limited](make_origin())
    ends = set()
    for size in spread(range(0, 2 * length(trial.origin), 4096), 60 if thorough else 4):
        cache = trial.fresh()
        result = trial.run(cache, longest_file=size)
        ends.add(result.returncode)
        trial.judge(f"files of up to {size} bytes", cache, result, [0, 74])
    trial.finish()
    assert ends == {0, 74}, ends


def run_both(one, other):
    """Runs two commands on one cache at once, and returns what is wrong with what they left and what they said."""
    cache = one.fresh()
    running = [subprocess.Popen(trial.arguments(cache), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE) for trial in (one, other)]
    outputs = [process.communicate(timeout=120) for process in running]
    try:
        state = look(cache)
        must(state.schema == one.old.schema and not state.orphans, "the schema is another, or files are left:", state)
        named, noted = [], 0
        for trial, process, (output, errors) in zip((one, other), running, outputs):
            # Beside another process a limit may not be kept, as the log counts; and that one may be in the way.
            ends = {"compact": [0, 75], "enforce": [0, 1, 3, 75]}.get(trial.verb, [0, 3, 75])
            must(process.returncode in ends, process.returncode, errors)
            before = re.search(rb"removed ([\d,]+) entr(?:y|ies) before the error", errors)
            noted += int(before[1].replace(b",", b"")) if before else 0
            if trial.verb != "compact" and output:
                named += [entry["id"] for entry in json.loads(output)["entries"]]
        gone = one.old.rows.keys() - state.rows.keys()
        must(len(set(named)) == len(named) and gone.issuperset(named) and len(named) + noted == len(gone),
             "they named", named, "and", noted, "more, and gone are", gone)
        for number, row in state.rows.items():
            must(row == one.old.rows[number], "row", number, "is not as it was")
    except Bad as error:
        return [f"{one.verb} {one.options} and {other.verb} {other.options} at once: {error}"]
    return []


def test_two_at_once(thorough):
    """Two commands on one cache at once remove each entry once, and name it once."""
    origin = make_origin()
    trials = [COMMANDS[name](origin) for name in ("purge", "enforce", "enforce-entries", "apply")]
    trials.append(Trial(origin, "compact", "--full"))
    pairs = list(itertools.combinations_with_replacement(trials, 2))
    assert [fact for one, other in spread(pairs * 10, 210 if thorough else 8) for fact in run_both(one, other)] == []
