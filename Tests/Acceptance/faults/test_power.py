"""Makes up the disks that a power failure may leave while commands change a cache; then looks at the cache.

One run of each command is recorded under strace. Then disks are made up as they can be found after each of its calls. By default it tries fewer
moments, and only purge.
"""

import random

import strace
from fault_trial import COMMANDS, Bad, make_origin
from power_loss import disk_after, recorded
from scratch import path

pytestmark = strace.needed


def pytest_generate_tests(metafunc):
    metafunc.parametrize("journal", ["wal", "delete"])
    metafunc.parametrize("name", COMMANDS if metafunc.config.getoption("thorough") else ["purge"])


def test_power_failure(name, journal, thorough):
    """On each disk that a power failure may leave, each row is as it was or gone, and has its body file."""
    trial = COMMANDS[name](make_origin(journal))
    cache = trial.fresh()

    def run(*before):
        result = trial.run(cache, *before)
        assert result.returncode == 0, result

    events = recorded(run, cache, path("trace"))
    assert sum(event[0] == "synchronize" for event in events) > 1, events
    many, disks = (50, 200) if thorough else (30, 120)
    moments = sorted({round(step * len(events) / (many - 1)) for step in range(many)})
    for moment in moments:
        for number in range(-(-disks // len(moments))):
            chance = random.Random(f"{moment}/{number}")
            disk_after(trial.origin, events[:moment], number, chance).write(path("disk"))
            trial.tried += 1
            try:
                trial.judge_state(path("disk"), None)
            except Bad as error:
                trial.bad.append(f"disk {number} after {events[moment - 1][:2]}: {error}")
    trial.finish()
