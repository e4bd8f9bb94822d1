"""Counts how many of the removed responses that are still in the files of a cache are found, by place and by program.

    python3 Tests/Benchmarks/recall.py [HISTORIES]     40 unless said

The caches are those of `Tests/Acceptance/recovering`: made-up histories with a record of every response ever written. A response counts for each place in
which all its bytes are in a row, whatever became of its row. It needs a built program in `.build` (or in the folder PRODUCTS), and the peers that
`Tests/run.sh` installs; what is not there is left out.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SUPPORT = REPOSITORY / "Tests/Acceptance/support"
PEERS = REPOSITORY / ".build/peers"
sys.path[:0] = [str(SUPPORT), str(PEERS)]

import histories  # noqa: E402
import sqlite_recover  # noqa: E402

TOOL = os.path.join(os.environ.get("PRODUCTS", REPOSITORY / ".build/release"), "urlcache-admin")
PAGE = 4096
PLACES = ["log", "database before the log", "journal", "free pages", "slack"]


def read(path):
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def present_log(log):
    """The frames of the present generation of a log: the place of each, its page, and the size of the database after a commit."""
    place = 32
    while len(log) >= 32 and place + 24 + PAGE <= len(log) and log[place + 8:place + 16] == log[16:24]:
        yield place + 24, int.from_bytes(log[place:place + 4], "big"), int.from_bytes(log[place + 4:place + 8], "big")
        place += 24 + PAGE


def free_pages(database):
    """The numbers of the pages on the free list."""
    free, trunk = set(), int.from_bytes(database[32:36], "big")
    while trunk and trunk not in free and trunk * PAGE <= len(database):
        free.add(trunk)
        page = database[(trunk - 1) * PAGE:trunk * PAGE]
        count = int.from_bytes(page[4:8], "big")
        free.update(int.from_bytes(page[8 + 4 * n:12 + 4 * n], "big") for n in range(min(count, PAGE // 4 - 2)))
        trunk = int.from_bytes(page[:4], "big")
    return free


def offsets(text, data):
    place = data.find(text)
    while place >= 0:
        yield place
        place = data.find(text, place + 1)


def places(cache, responses):
    """In which places all bytes of each response are in a row."""
    database, log, journal = (read(os.path.join(cache, "Cache.db" + suffix)) for suffix in ("", "-wal", "-journal"))
    state, replaced, frames = bytearray(database), set(), list(present_log(log))
    committed = max((index for index, frame in enumerate(frames) if frame[2]), default=-1)
    for place, page, _ in frames[:committed + 1]:
        replaced.add(page)
        state.extend(bytes(max(0, page * PAGE - len(state))))
        state[(page - 1) * PAGE:page * PAGE] = log[place:place + PAGE]
    free = free_pages(bytes(state))
    found = {}
    for response in responses:
        here = found[response] = set()
        if response in log:
            here.add("log")
        if response in journal:
            here.add("journal")
        for offset in offsets(response, database):
            page = offset // PAGE + 1
            here.add("database before the log" if page in replaced else "free pages" if page in free else "slack")
    return found


def ours(cache):
    output = subprocess.run([TOOL, "recover", "-c", cache, "--versions", "--format", "ndjson"], check=True, capture_output=True).stdout
    entries = map(json.loads, output.splitlines())
    return {(entry["url"], int(histories.seconds(entry["stored"]))) for entry in entries if entry["confidence"] != "only-url"}


def dissected(cache, versions):
    """What sqlite-dissect finds, and whether it fails."""
    result = subprocess.run([sys.executable, SUPPORT / "dissected.py", os.path.join(cache, "Cache.db")], capture_output=True, text=True,
                            env=os.environ | {"PYTHONPATH": str(PEERS)})
    found = {versions[response] for response in map(bytes.fromhex, result.stdout.split()) if response in versions}
    return found, "stopped:" in result.stderr


def trial(seed, is_cleared):
    """The counts of one history."""
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        history = histories.History(os.path.join(folder, "live"), seed).run(40)
        if is_cleared:
            history.clear()
        cache = history.kill(os.path.join(folder, "cache"))
        versions = {version["response"]: (version["url"], int(version["stored"])) for version in history.versions}
        present = {version["response"] for version in history.now.values()}
        removed = {response: key for response, key in versions.items() if response not in present}
        found = {"recover": ours(cache)}
        for name in ("dissect", "sqlite"):
            shutil.copytree(cache, os.path.join(folder, name))
        found["sqlite-dissect"], has_failed = dissected(os.path.join(folder, "dissect"), versions)
        counts["failures"] += has_failed
        program = shutil.which("sqlite3-recover", path=os.pathsep.join([os.environ["PATH"], str(PEERS)]))
        if program:
            responses, _ = sqlite_recover.found(program, os.path.join(folder, "sqlite", "Cache.db"))
            found[".recover"] = {versions[response] for *_, response, _ in responses if response in versions}
        there = places(cache, removed)
        for response, key in removed.items():
            whole = there[response] or {"in pieces, or nowhere"}
            for place in whole | {"all"}:
                counts[place, "there"] += 1
                for name, keys in found.items():
                    counts[place, name] += key in keys
            for name in found:
                counts["only", name] += key in found[name] and key not in found["recover"]
        counts["invented"] += len(found["recover"] - set(removed.values()))
    return counts


def main():
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
    names = ["there", "recover", "sqlite-dissect", ".recover"]
    for is_cleared, title in (False, "as it was killed"), (True, "cleared in the end"):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            counts = sum(pool.map(lambda seed: trial(seed, is_cleared), seeds), collections.Counter())
        print(f"{title:24}", *(f"{name:>14}" for name in names))
        for place in [*PLACES, "in pieces, or nowhere", "all"]:
            print(f"{place:24}", *(f"{counts[place, name]:14,}" for name in names))
        print("found by another program, and not by recover:", counts["only", "sqlite-dissect"] + counts["only", ".recover"])
        print("found by recover, and not removed:", counts["invented"])
        print("databases at which sqlite-dissect fails:", counts["failures"], "of", len(seeds))


if __name__ == "__main__":
    main()
