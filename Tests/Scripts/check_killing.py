"""Kills commands that change a cache at each system call that writes, and lets each of them fail; then looks at the cache.

    check_killing.py URLCACHE-ADMIN SAMPLE-CACHE [--all]

Without --all it takes a sample: five commands on a cache with a write-ahead log, and of each kind of system call of a command
the first two, the last two and two in between, which each command draws for itself. There it kills the command; EIO fails the
first and ENOSPC the last, or the other way round with every second command. With --all it takes all commands, all calls, all
errors and both kinds of journal.

Prints a line for each command, and figures on the standard error. The bytes that were written survive, as the system goes on:
this shows what the end of a process does, not what the end of the power does. Needs strace.
"""

import os, random, shutil, sys, tempfile

from fault_trial import make_origins, trials

tool, maker = sys.argv[1:3]
tries_all = sys.argv[3:] == ["--all"]
# What a file system says that is full, or broken; once, and from then on.
ERRORS = [("error=EIO", ""), ("error=ENOSPC", ""), ("error=EIO", "+"), ("error=ENOSPC", "+")]


def sample(turns, generator):
    """The first two, the last two, and two in between."""
    if len(turns) <= 6:
        return turns
    return turns[:2] + sorted(generator.sample(turns[2:-2], 2)) + turns[-2:]


def kill_and_fail(trial, number):
    points = trial.points()
    assert len(points["pwrite64"]) > 10 and len(points["fdatasync"]) > 1, points
    generator = random.Random(number)
    for call, turns in points.items():
        for turn in turns if tries_all else sample(turns, generator):
            trial.with_fault(call, turn, "signal=SIGKILL")
        if tries_all:
            faults = [(turn, *fault) for fault in ERRORS for turn in turns]
        else:
            first, last = ERRORS[:2] if number % 2 == 0 else ERRORS[1::-1]
            faults = [(turns[0], *first), (turns[-1], *last)]
        for turn, error, onwards in faults:
            trial.with_fault(call, f"{turn}{onwards}", error)
    well = trial.report("faults at system calls")
    if well:
        print(f"{trial.name}: ok", flush=True)
    return well


def main():
    well = True
    for journal in ["wal", "delete"] if tries_all else ["wal"]:
        root = tempfile.mkdtemp()
        try:
            origin, free = make_origins(maker, root, journal)
            for number, trial in enumerate(trials(tool, origin, free)):
                if not tries_all and trial.name not in ["purge", "enforce", "apply", "check --repair", "compact"]:
                    continue
                if journal != "wal":
                    trial.name += ", rollback journal"
                well = kill_and_fail(trial, number) and well
        finally:
            shutil.rmtree(root)
    sys.exit(0 if well else 1)


main()
