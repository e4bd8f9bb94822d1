"""Simulates that the power fails while commands change a cache; then looks at the cache.

    check_power.py URLCACHE-ADMIN SAMPLE-CACHE [--all]

One run of each command is recorded under strace. Then disks are made up as they can be found after each of its calls. Without
--all it tries fewer moments, and only purge. Prints a line for each command, and figures on the standard error.
"""

import random, shutil, sys, tempfile

from fault_trial import Bad, make_origins, trials
from power_loss import disk_after, recorded

tool, maker = sys.argv[1:3]
tries_all = sys.argv[3:] == ["--all"]
MOMENTS, DISKS = (50, 200) if tries_all else (30, 120)


def cut_power(trial):
    cache = trial.fresh()

    def run(*before):
        result = trial.run(cache, *before)
        assert result.returncode == 0, result

    events = recorded(run, cache, trial.path("trace"))
    assert sum(event[0] == "synchronize" for event in events) > 1, events
    moments = sorted({round(step * len(events) / (MOMENTS - 1)) for step in range(MOMENTS)})
    for moment in moments:
        for number in range(-(-DISKS // len(moments))):
            chance = random.Random(f"{moment}/{number}")
            disk_after(trial.origin, events[:moment], number, chance).write(trial.path("disk"))
            trial.tried += 1
            try:
                trial.judge_state(trial.path("disk"), None)
            except Bad as error:
                trial.bad += 1
                print(f"BAD: {trial.name}: disk {number} after {events[moment - 1][:2]}: {error}", flush=True)
    well = trial.report("power failures")
    if well:
        print(f"{trial.name}: ok", flush=True)
    return well


def main():
    well = True
    for journal in ["wal", "delete"]:
        root = tempfile.mkdtemp()
        try:
            for trial in trials(tool, *make_origins(maker, root, journal)):
                if tries_all or trial.name == "purge":
                    trial.name += {"wal": "", "delete": ", rollback journal"}[journal]
                    well = cut_power(trial) and well
        finally:
            shutil.rmtree(root)
    sys.exit(0 if well else 1)


main()
