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


def test_an_error_of_the_list_changes_nothing():
    # Shorter lists stay in memory: SQLite keeps 2 MiB of each.
    cache = scratch.make("long", "--tiny", entries=40_000, seed=3)
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
            "hint: set TMPDIR to a folder with more room: TMPDIR=FOLDER\n")
        assert result.stdout == b""
        assert scratch.digests(cache) == before


def test_without_a_folder_the_list_is_kept_in_memory(cache):
    words = ("purge", "-n", "--all", "-c", cache, "--format", "json")
    without = run(*words, env={**os.environ, "TMPDIR": path("nowhere")})
    assert without.stdout == run(*words).stdout


def in_a_file_system(size, script):
    """Runs a script with a file system that only it sees, in the folder `full`."""
    os.mkdir(path("full"))
    script = f"mount -t tmpfs -o size={size} tmpfs {scratch.root}/full || exit 99\ncd {scratch.root}/full\n{script}"
    result = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c", script], capture_output=True, text=True,
                            env={**os.environ, "HOME": scratch.root})
    assert result.returncode != 99, result
    return result


@pytest.mark.needs_mounts
# Removing from an Apple cache takes room itself, of which the list must leave enough.
@pytest.mark.parametrize("kind,room", [("foundation", 0), ("foundation", 300), ("apple", 8_600)])
def test_a_full_disk_can_be_purged(kind, room):
    options = ["--format", "foundation"] if kind == "foundation" else ["--tiny"]
    cache = scratch.make("many", *options, entries=6000, seed=5)
    # The rest of the file system is filled to the last byte.
    result = in_a_file_system("200m", f"""
        cp -r {cache} cache
        head -c {room}k /dev/zero >room
        cat /dev/zero >rest 2>/dev/null
        rm room
        TMPDIR={scratch.root}/full {tool} purge --all --yes -c cache
        echo $?
        {tool} list -c cache --count 2>&1""")
    assert result.stdout.startswith("Removed 6,000 of 6,000 entries"), result
    assert "\n0\n" in result.stdout, result
    assert kind == "foundation" or result.stdout.endswith("\n0\n"), result


@pytest.mark.needs_mounts
def test_lists_are_no_part_of_what_a_file_system_lacks():
    """How many entries `--min-free` removes does not depend on where the list of them is."""
    cache = scratch.make("many", "--tiny", entries=6000, seed=5)
    result = in_a_file_system("700m", f"""
        for folder in {scratch.root} {scratch.root}/full; do
          cp -r {cache} cache
          free=$(($(stat -f -c "%a * %S" .) / 1024))
          TMPDIR=$folder {tool} enforce --min-free $((free + 3000))K --yes -c cache --format json >{scratch.root}/receipt-$(basename $folder) || exit 1
          rm -r cache
        done""")
    assert result.returncode == 0, result
    receipts = [json.load(open(path(f"receipt-{name}"))) for name in (os.path.basename(scratch.root), "full")]
    assert receipts[0]["removed"]["entries"] > 1_000
    assert [receipt["removed"]["entries"] for receipt in receipts] == [receipts[0]["removed"]["entries"]] * 2


def test_a_missing_operand_in_the_folder_for_temporary_files(cache):
    missing = path("nowhere")
    for words in [("apply", missing), ("import", "-c", cache, missing)]:
        result = run(*words, status=66, env={**os.environ, "TMPDIR": missing})
        assert b"temporary" not in result.stderr and b"nowhere" in result.stderr, result.stderr
