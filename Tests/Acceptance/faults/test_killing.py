"""Kills commands that change a cache at system calls that write, and lets these calls fail; then looks at the cache.

By default a command meets one fault in every other stretch of equal calls, which are about ten, and is killed between its commit and the end of the
body files; with `--thorough` it is killed at each call, and each call fails with each error, with both kinds of journal. What was written
survives, as the system goes on: this shows what the end of a process does, not what the end of the power does.
"""

import itertools

import strace
from fault_trial import COMMANDS, make_origin

pytestmark = strace.needed
# What a file system answers that is full, or broken; once, and from then on.
ERRORS = [("error=EIO", ""), ("error=ENOSPC", ""), ("error=EIO", "+"), ("error=ENOSPC", "+")]
# A plan removes as a purge does, and the other ways of `enforce` and `compact` are much like the first.
SOME = ["purge", "enforce", "apply", "repair", "compact"]


def pytest_generate_tests(metafunc):
    thorough = metafunc.config.getoption("thorough")
    metafunc.parametrize("journal", ["wal", "delete"] if thorough else ["wal"])
    metafunc.parametrize("name", COMMANDS if thorough else SOME)


def telling(points, number):
    """Faults at every other beginning of a stretch of equal calls, other ones for each number, and kills after the commit."""
    begins = [next(stretch) for _, stretch in itertools.groupby(points, key=lambda point: point[0])]
    faults = itertools.cycle(["signal=SIGKILL", ERRORS[number % 2][0], "signal=SIGKILL", ERRORS[(number + 1) % 2][0]])
    chosen = {(call, str(turn), fault) for (call, turn), fault in zip(begins[number % 2::2], faults)}
    removing = [point for point in points if point[0] == "unlinkat"]
    chosen |= {(call, str(turn), "signal=SIGKILL") for call, turn in [removing[0], removing[len(removing) // 2]]} if removing else set()
    last = [point for point in points if point[0] == "pwrite64"][-1]
    return sorted(chosen | {("pwrite64", str(last[1]), "signal=SIGKILL")})


def every(points):
    kills = [(call, str(turn), "signal=SIGKILL") for call, turn in points]
    return kills + [(call, f"{turn}{onwards}", error) for error, onwards in ERRORS for call, turn in points]


def test_command_meets_fault(name, journal, thorough):
    """Whatever fault a command meets, each row is as it was or gone, and the same command once more does the rest."""
    trial = COMMANDS[name](make_origin(journal))
    points = trial.points()
    calls = [call for call, _ in points]
    assert calls.count("pwrite64") > 10 and calls.count("fdatasync") > 1, points
    for call, turn, fault in every(points) if thorough else telling(points, list(COMMANDS).index(name)):
        trial.with_fault(call, turn, fault)
    assert trial.tried >= (100 if thorough else 6)
    trial.finish()
