"""Makes caches with a known history, and compares what `recover` finds with all that was ever written."""

import collections
import importlib.util
import os
import subprocess
import sys

import pytest

import histories
import peers
import scratch
import sqlite_recover
from recovery import archived, digest, make, recover, stored

ALL = [(seed, is_cleared) for seed in range(40) for is_cleared in (False, True)]


@pytest.mark.some("seed", range(40), range(3))
def test_every_superseded_entry_in_the_log_is_recovered(seed, thorough):
    history, cache = make(seed, transactions=40 if thorough else 8)
    before = digest(cache)
    found = recover(cache, "--versions", "--columns", "id,key,url,stored,confidence,found")
    assert digest(cache) == before, "nothing is written"
    versions = {(version["url"], int(version["stored"])): version for version in history.versions}
    present = {(version["url"], int(version["stored"])) for version in history.now.values()}
    recovered = collections.Counter()
    for entry in found:
        if entry["confidence"] == "only-url":
            assert entry["key"] in {version["url"] for version in history.versions}, entry
            continue
        key = (entry["url"], stored(entry))
        assert key in versions, f"never written: {entry}"
        assert key not in present, f"not removed: {entry}"
        recovered[key] += 1
    assert max(recovered.values(), default=1) == 1, "no entry is listed twice"
    ids = {(version["id"], int(version["stored"])): key for key, version in versions.items()}
    in_log = {ids[state] for state in histories.states_in_log(cache, scratch.root) if state in ids} - present
    assert in_log - set(recovered) == set()
    if history.journal == "WAL":
        assert in_log, "the history has nothing to recover"


@pytest.mark.some("seed", range(40), [3, 4])
def test_a_body_that_counts_as_complete_is_the_one_that_was_stored(seed, thorough):
    history, cache = make(seed, transactions=40 if thorough else 10)
    versions = {(version["url"], int(version["stored"])): version for version in history.versions}
    bodies = 0
    for entry, body in archived(cache):
        assert entry["url"] not in history.now
        version = versions[entry["url"], stored(entry)]
        if body is not None:
            bodies += 1
            assert body == version["body"], entry
    kinds = collections.Counter(entry["confidence"] for entry in recover(cache))
    assert kinds["complete"] == bodies
    # The other bodies are there on request, and most of them are right.
    more = [(entry, body) for entry, body in archived(cache, "--uncertain-bodies") if body is not None]
    assert len(more) == bodies + kinds["body-uncertain"]
    wrong = [entry for entry, body in more if body != versions[entry["url"], stored(entry)]["body"]]
    assert len(wrong) <= kinds["body-uncertain"] / 2 + 1
    for entry in recover(cache, "--confidence", "body-uncertain"):
        assert entry["size"] is None and entry["body_location"] == "missing"


@pytest.mark.skipif(importlib.util.find_spec("sqlite_dissect") is None, reason="sqlite-dissect: not here")
# 12, 15 and 34 keep their journals; 37 has a log. The free pages of 9 have a row where a body was before.
@pytest.mark.some("seed,is_cleared", ALL, [(12, False), (15, False), (34, False), (37, False), (9, True)])
def test_all_that_sqlite_dissect_finds_is_recovered(seed, is_cleared):
    """Each removed response that it finds in the database, the log or the journal."""
    history, cache = make(seed, transactions=40, is_cleared=is_cleared)
    versions = {version["response"]: (version["url"], int(version["stored"])) for version in history.versions}
    # It can change the database.
    copy = os.path.join(scratch.copy(cache, "copy"), "Cache.db")
    script = os.path.join(os.path.dirname(histories.__file__), "dissected.py")
    result = subprocess.run([sys.executable, script, copy], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result
    dissected = {versions[response] for response in map(bytes.fromhex, result.stdout.split()) if response in versions}
    dissected -= {(version["url"], int(version["stored"])) for version in history.now.values()}
    assert dissected or "stopped:" in result.stderr or seed not in (9, 12, 15, 34, 37)
    found = {(entry["url"], stored(entry)) for entry in recover(cache, "--versions") if entry["confidence"] != "only-url"}
    assert dissected - found == set()


@peers.needed("sqlite3-recover")
@pytest.mark.some("seed,is_cleared", ALL, [(9, True)])
def test_all_that_sqlite3_recovers_is_recovered(seed, is_cleared):
    """Each removed response that `.recover` finds on free pages."""
    history, cache = make(seed, transactions=40, is_cleared=is_cleared)
    versions = {version["response"]: (version["url"], int(version["stored"])) for version in history.versions}
    responses, _ = sqlite_recover.found(peers.found("sqlite3-recover"), os.path.join(scratch.copy(cache, "copy"), "Cache.db"))
    removed = {versions[response] for *_, response, _ in responses if response in versions}
    removed -= {(version["url"], int(version["stored"])) for version in history.now.values()}
    assert removed or (seed, is_cleared) != (9, True)
    found = {(entry["url"], stored(entry)) for entry in recover(cache, "--versions") if entry["confidence"] != "only-url"}
    assert removed - found == set()
