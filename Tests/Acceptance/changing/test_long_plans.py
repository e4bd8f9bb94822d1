"""Removes so many entries that their list is kept in a temporary file, and has that file fail.

All ways to remove the same entries have to agree: a dry run, a plan that is applied, and a removal at once. What is removed is compared with the
order in which `list` sorts all entries. Without room for the list, nothing may change.
"""

import json
import os
import resource
import shutil
import subprocess

import pytest

import scratch
from products import tool
from scratch import path

ENTRIES = 6000
REMOVED = 4500


def run(*arguments, status=0, **options):
    result = subprocess.run([tool, *arguments], capture_output=True, cwd=scratch.root, **options)
    assert result.returncode == status, (arguments, result.stderr[-500:])
    return result


@pytest.fixture
def cache():
    return scratch.make("long", entries=ENTRIES, seed=3)


def copy(cache, name):
    shutil.copytree(cache, path(name))
    return path(name)


def ids(cache, *options):
    lines = run("list", "-c", cache, "--columns", "id", "--format", "csv", *options).stdout.split()[1:]
    return [int(line) for line in lines]


def removed(result):
    entries = json.loads(result.stdout)["entries"]
    return [(entry["id"], entry["url"], entry["size"], entry["reason"]) for entry in entries]


def test_enforce_removes_the_first_in_order(cache):
    oldest = ids(cache, "--sort", "stored")[:REMOVED]
    limit = ("--max-entries", str(ENTRIES - REMOVED), "--format", "json")
    planned = removed(run("enforce", "-n", "-c", cache, *limit))
    assert [entry[0] for entry in planned] == sorted(oldest)
    assert all(url for _, url, _, _ in planned)
    here = copy(cache, "enforced")
    assert removed(run("enforce", "--yes", "-c", here, *limit)) == planned
    assert sorted(ids(here) + oldest) == sorted(ids(cache))
    largest = ids(cache, "--sort=-size")[:REMOVED]
    by_size = removed(run("enforce", "-n", "-c", cache, *limit, "--order", "largest"))
    # Of equal sizes, the two orders may choose different ones.
    sizes = {entry[0]: entry[2] for entry in removed(run("purge", "-n", "--all", "-c", cache, "--format", "json"))}
    assert sorted(sizes[one] or 0 for one, *_ in by_size) == sorted(sizes[one] or 0 for one in largest)


def test_all_ways_to_remove_agree(cache):
    words = ("--where", "size > 100", "--format", "json")
    planned = removed(run("purge", "-n", "-c", cache, *words))
    assert len(planned) > REMOVED / 2
    assert [entry[0] for entry in planned] == sorted(entry[0] for entry in planned)
    plan = path("long.json")
    run("purge", "-c", cache, "--where", "size > 100", "--plan", plan)
    with open(plan, encoding="utf-8") as file:
        assert [(entry["id"], entry["url"]) for entry in json.load(file)["entries"]] == [entry[:2] for entry in planned]
    at_once, applied = copy(cache, "purged"), copy(cache, "applied")
    assert removed(run("purge", "--yes", "-c", at_once, *words)) == planned
    assert removed(run("apply", plan, "--yes", "-c", applied, "--format", "json")) == planned
    assert ids(at_once) == ids(applied) == [one for one in ids(cache) if one not in {entry[0] for entry in planned}]
    # Entries that have gone since are left out.
    again = json.loads(run("apply", plan, "--yes", "-c", applied, "--format", "json", status=3).stdout)
    assert (again["removed"]["entries"], again["skipped"]) == (0, len(planned))


def test_an_error_of_the_list_changes_nothing(cache):
    plan = path("all.json")
    run("purge", "--all", "-c", cache, "--plan", plan)
    archive = path("all.tar")
    run("export", "-c", cache, "-o", archive)
    before = scratch.digests(cache)
    for words in [("purge", "--all", "--yes"), ("purge", "--all", "--dry-run"), ("enforce", "--max-entries", "10", "--yes"),
                  ("enforce", "--max-entries", "10", "--dry-run"), ("apply", plan, "--yes"),
                  ("import", archive), ("import", archive, "--dry-run")]:
        # A file may get 64 KiB; Python itself ignores the signal that this sends.
        result = run(*words, "-c", cache, status=74, env={**os.environ, "TMPDIR": scratch.root}, restore_signals=False,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)))
        assert result.stderr.decode() == (
            f"error: cannot keep temporary data in '{scratch.root}': File too large\n"
            "hint: set TMPDIR to a folder with more room, for instance: TMPDIR=/var/tmp\n")
        assert result.stdout == b""
        assert scratch.digests(cache) == before


def test_without_a_folder_the_list_is_kept_in_memory(cache):
    words = ("purge", "-n", "--all", "-c", cache, "--format", "json")
    without = run(*words, env={**os.environ, "TMPDIR": path("nowhere")})
    assert without.stdout == run(*words).stdout


# With some room, the beginning of the list is in the file, and the rest in memory.
@pytest.mark.parametrize("room", [0, 300])
def test_a_full_disk_can_be_purged(room):
    cache = scratch.make("many", "--format", "foundation", entries=3000, seed=5)
    # A file system that only this shell has. The rest of it is filled to the last byte.
    script = f"""
        mount -t tmpfs -o size=200m tmpfs {scratch.root}/full || exit 99
        cp -r {cache} {scratch.root}/full/cache
        head -c {room}k /dev/zero >{scratch.root}/full/room
        cat /dev/zero >{scratch.root}/full/rest 2>/dev/null
        rm {scratch.root}/full/room
        TMPDIR={scratch.root}/full HOME={scratch.root}/full {tool} purge --all --yes -c {scratch.root}/full/cache
        echo $?
        find {scratch.root}/full/cache -type f | wc -l"""
    os.mkdir(path("full"))
    result = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", script], capture_output=True, text=True)
    if result.returncode == 99 or "unshare" in result.stderr:
        pytest.skip(f"no file system can be mounted here: {result.stderr}")
    assert result.stdout.startswith("Removed 3,000 of 3,000 entries"), result
    assert result.stdout.split("\n")[-3:] == ["0", "0", ""], result
