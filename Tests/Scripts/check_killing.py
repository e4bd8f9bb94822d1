"""Kills commands that change a cache at each system call that writes, and lets each of them fail; then looks at the cache.

    check_killing.py URLCACHE-ADMIN SAMPLE-CACHE [--all]

Without --all it tries some of the system calls, spread evenly. Prints a line for each command, and figures on the standard
error. The bytes that were written survive, as the system goes on: this shows what the end of a process does, not what the
end of the power does. Needs strace.
"""

import os, shutil, sys, tempfile

from fault_trial import make_origins, trials

tool, maker = sys.argv[1:3]
tries_all = sys.argv[3:] == ["--all"]
# What a file system says that is full, or broken; once, and from then on.
ERRORS = [("error=EIO", ""), ("error=ENOSPC", ""), ("error=EIO", "+"), ("error=ENOSPC", "+")]


def spread(turns, most):
    if tries_all or len(turns) <= most:
        return turns
    return [turns[round(step * (len(turns) - 1) / (most - 1))] for step in range(most)]


def kill_and_fail(trial):
    points = trial.points()
    assert len(points["pwrite64"]) > 10 and len(points["fdatasync"]) > 1, points
    for call, turns in points.items():
        for turn in spread(turns, 8):
            trial.with_fault(call, turn, "signal=SIGKILL")
        for error, onwards in ERRORS if tries_all else ERRORS[:2]:
            for turn in spread(turns, 2):
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
            for trial in trials(tool, origin, free):
                if not tries_all and trial.name not in ["purge", "enforce", "apply", "check --repair", "compact"]:
                    continue
                if journal != "wal":
                    trial.name += ", rollback journal"
                well = kill_and_fail(trial) and well
        finally:
            shutil.rmtree(root)
    sys.exit(0 if well else 1)


main()
