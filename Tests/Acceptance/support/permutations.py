"""Runs tests of commands that change caches again: with their caches in other journal modes, and with an app that has them open.

As the permutations of SQLite's own tests, these are the same tests with other surroundings: what a command does to a cache depends on neither.
They run only with `--thorough`.
"""

import contextlib
import glob
import os
import sqlite3

import pytest

import scratch
import worlds

# The folders and the modules whose tests run again.
PLACES = ["changing/", "checking/test_repairing.py", "configuring/test_pins.py", "configuring/test_rules.py"]
JOURNALS = ["delete", "truncate", "persist"]
READER = "reader"
LOG = dict.fromkeys(JOURNALS, "it is about the write-ahead log, which other journal modes do not have")
OPEN = {READER: "it expects a rewrite, which needs the database for itself"}
IN_LOG = {READER: "it looks at bytes of the database that are still in the log while somebody has it open"}
SECURE = {READER: "what somebody has open cannot all be overwritten, and a command with '--secure' says so and ends with 3"}
# What a test expects that is not so in other surroundings, and why.
DIFFERS = {
    "changing/test_outputs.py::test_parts_of_a_cache": {"persist": "it compares two caches; the rest of a journal is another one in each"},
    "changing/test_purging.py::test_compacting": LOG | OPEN,
    "changing/test_purging.py::test_compacting_in_little_memory": OPEN,
    "changing/test_purging.py::test_compacting_with_little_room": {READER: "it copies the cache to a small disk, and the log does not fit there"},
    "changing/test_purging.py::test_log_of_another_process": LOG,
    "changing/test_purging.py::test_log_of_killed_app": LOG | {READER: "the log of the killed app belongs to the other one"},
    "changing/test_purging.py::test_removed_bytes": IN_LOG,
    "changing/test_purging.py::test_small_caches": dict.fromkeys(["persist", READER], "it knows the length of all files to the byte"),
    "changing/test_purging.py::test_stuck_body_files": {"persist": "the journal that an app leaves goes too, and does not count as part of the cache"},
    "changing/test_refusing.py::test_without_room": {READER: "its disk cannot be unmounted while somebody has the cache open"},
    "changing/test_refusing.py::test_sorting_without_room": {READER: "an import sorts keys only into a database that it has for itself"},
    "changing/test_secure_removal.py::test_backup_is_noted": SECURE,
    "changing/test_secure_removal.py::test_beside_a_writer": LOG | SECURE,
    "changing/test_secure_removal.py::test_body_files_are_overwritten": SECURE,
    "changing/test_secure_removal.py::test_dry_run_and_receipt_for_people": SECURE,
    "changing/test_secure_removal.py::test_hard_link_is_not_overwritten": SECURE,
    "changing/test_secure_removal.py::test_nothing_is_left": dict.fromkeys([*JOURNALS, READER], "its caches are in each of these states already"),
    "changing/test_secure_removal.py::test_nothing_to_remove": SECURE,
    "changing/test_secure_removal.py::test_repair": SECURE,
    "changing/test_secure_removal.py::test_second_run_while_the_app_is_running_and_after": LOG | SECURE,
    "changing/test_secure_removal.py::test_setting": SECURE,
    "changing/test_secure_removal.py::test_text_of_many_remaining_entries": SECURE,
    "changing/test_secure_removal.py::test_text_of_remaining_entry": SECURE,
    "changing/test_secure_removal.py::test_text_that_begins_in_one_value_and_ends_in_the_next": SECURE,
    "changing/test_secure_removal.py::test_while_the_app_is_running": LOG | SECURE,
}


def add(metafunc):
    """Gives a test of these places a parameter for its surroundings."""
    place = os.path.relpath(metafunc.module.__file__, os.path.dirname(os.path.dirname(__file__)))
    if not place.startswith(tuple(PLACES)):
        return
    differs = DIFFERS.get(f"{place}::{metafunc.function.__name__}", {})
    kinds = [kind for kind in [*JOURNALS, READER] if kind not in differs]
    metafunc.parametrize("permutation", [pytest.param(None, id=pytest.HIDDEN_PARAM), *kinds], indirect=True)


def is_moot(item):
    """Whether a test has other surroundings, but a cache that has no journal, or one seed of many that runs without them as well."""
    values = item.callspec.params if hasattr(item, "callspec") else {}
    return bool(values.get("permutation")) and ("foundation" in values.values() or values.get("seed", 0) >= 10)


@contextlib.contextmanager
def applied(kind):
    """Has the Apple caches that are made meanwhile be so."""
    if kind is None:
        yield
        return
    with contextlib.ExitStack() as holders:
        def change(cache):
            for database in glob.glob(os.path.join(glob.escape(cache), "*.db")):
                if kind == READER:
                    holders.enter_context(worlds.Holder(cache, "idle", os.path.basename(database)))
                else:
                    set_journal(database, kind)
        scratch.after_making = change
        try:
            yield
        finally:
            scratch.after_making = None


def set_journal(database, mode):
    """Gives a database a journal mode, and the file that an app leaves in it: none, an empty one, or one without a header."""
    connection = sqlite3.connect(database, isolation_level=None)
    assert connection.execute(f"PRAGMA journal_mode = {mode}").fetchone() == (mode,)
    version, = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    assert os.path.exists(database + "-journal") == (mode != "delete")
