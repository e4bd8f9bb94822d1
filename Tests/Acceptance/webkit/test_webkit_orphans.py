"""Files of WebKit caches that belong to no record: bodies that were left, and what an import that was ended has written."""

import json
import os
import shutil
import subprocess

import pytest

import scratch
import strace
import worlds
from products import tool
from scratch import path, run
from webkit_records import Cache

OLD = 1_795_000_000


class Orphans:
    """A cache with two entries that stay, and with one orphan of each kind; `gone` are the names that a repair removes."""

    def __init__(self, name="cache"):
        self.cache = cache = Cache(path(name))
        self.kept, self.gone = set(), set()
        cache.store("http://a.example/short")
        cache.store("http://a.example/long", b"kept " * 2_000)
        # WebKit was stopped after the record: both names are left.
        left = cache.store("http://a.example/left", b"left " * 2_000)
        os.remove(left)
        self.gone |= {self.relative(left + "-blob"), self.relative(self.blob(left + "-blob"))}
        # After both names next to the records.
        lone = cache.store("http://a.example/lone", b"lone " * 2_000)
        self.gone.add(self.relative(self.blob(lone + "-blob")))
        os.remove(lone), os.remove(lone + "-blob")
        # WebKit has removed it from `Blobs` already.
        single = cache.store("http://a.example/single", b"single " * 2_000)
        os.remove(self.blob(single + "-blob"))
        os.remove(single)
        self.gone.add(self.relative(single + "-blob"))
        for name in ("urlcache-admin-1x2y", "urlcache-admin-1x2y-blob"):
            with open(os.path.join(cache.root, name), "wb") as file:
                file.write(b"staged " * 100)
            self.gone.add(self.relative(file.name))
        for name in self.gone:
            os.utime(os.path.join(cache.folder, name), (OLD, OLD))
        # Another program may be about to store its record.
        young = cache.store("http://a.example/young", b"young " * 2_000)
        os.remove(young)
        os.utime(young + "-blob")
        with open(os.path.join(cache.root, "Blobs", "README"), "w") as file:
            file.write("mine")
        os.mkfifo(os.path.join(os.path.dirname(left), "A" * 40 + "-blob"))
        self.rest = {name: digest for name, digest in self.names().items() if name not in self.gone}

    def relative(self, file):
        return os.path.relpath(file, self.cache.folder)

    def blob(self, file):
        """The name in `Blobs` of a body."""
        folder = os.path.join(self.cache.root, "Blobs")
        return next(os.path.join(folder, name) for name in os.listdir(folder) if os.path.samefile(os.path.join(folder, name), file))

    def names(self):
        """All files and their contents."""
        found = {}
        for parent, _, names in os.walk(self.cache.folder):
            for name in names:
                file = os.path.join(parent, name)
                found[self.relative(file)] = scratch.read(file) if os.path.isfile(file) else None
        return found


def test_repair():
    world = Orphans()
    output = json.loads(run("check", world.cache.folder, "--format", "json", status=1).stdout)
    found = [finding["code"] for finding in output["findings"]]
    assert sorted(found) == ["lone-blob", "orphaned-blob", "orphaned-blob", "other-file", "other-file", "temporary-file",
                             "temporary-file", "young-blob"], found
    before = world.names()
    planned = json.loads(run("check", world.cache.folder, "--repair=orphans", "--dry-run", "--format", "json", status=1).stdout)["repair"]
    # The second name of one of them goes with it.
    assert len(planned["orphans"]) == len(world.gone) - 1 and world.names() == before
    receipt = json.loads(run("check", world.cache.folder, "--repair=orphans", "--yes", "--format", "json").stdout)["repair"]
    assert world.names() == world.rest
    assert receipt["orphans"] == planned["orphans"] and receipt["removed"] == planned["removed"] and not receipt["left"], receipt
    freed = sum(len(before[name]) for name in world.gone) - 10_000
    assert receipt["removed"]["orphan_bytes"] == receipt["footprint_before"] - receipt["footprint_after"] == freed, receipt
    # The young ones stay, and what nobody knows.
    again = json.loads(run("check", world.cache.folder, "--repair=orphans", "--yes", "--format", "json").stdout)["repair"]
    assert again["removed"]["orphans"] == 0 and world.names() == world.rest


@pytest.mark.parametrize("words", [["compact"], ["purge", "http://a.example/short"]])
def test_overwritten(words):
    """The bytes of each are overwritten, and what stays is neither changed nor called overwritten."""
    world = Orphans()
    # Of each file once.
    held = {name: open(os.path.join(world.cache.folder, name), "rb") for name in sorted(world.gone)}
    arguments = ["--format", "json", "--secure", *(["--yes"] if words[0] == "purge" else [])]
    result = run(words[0], "-c", world.cache.folder, *words[1:], *arguments, status=None)
    if words[0] == "purge":
        del world.rest[world.relative(world.cache.path(words[1]))]
    assert world.names() == world.rest, result
    for name, file in held.items():
        assert set(file.read()) <= {0}, name
    if words[0] == "compact":
        output = json.loads(result.stdout)
        assert output["orphans"] == len(world.gone) - 1 and output["secure"]["kept_orphans"] == 1, output


@strace.needed
@pytest.mark.parametrize("turn", [2, 4])
def test_error_while_overwriting(turn):
    """An orphan that cannot be removed ends the command; those that are gone are overwritten."""
    world = Orphans()
    held = [open(os.path.join(world.cache.folder, name), "rb") for name in sorted(world.gone)]
    words = [tool, "compact", "-c", world.cache.folder, "--secure"]
    result = subprocess.run([*strace.fault("unlinkat", "error=EIO", turn), *words], capture_output=True)
    gone = [file for file in held if os.fstat(file.fileno()).st_nlink == 0]
    assert result.returncode == 74 and 0 < len(gone) < len(held), result
    assert all(set(file.read()) <= {0} for file in gone)


def test_limit():
    """Orphans count, and go before any entry."""
    world = Orphans()
    usage = json.loads(run("usage", world.cache.folder, "--format", "json").stdout)
    words = ["enforce", "-c", world.cache.folder, "--max-size", str(usage["in_use_bytes"] - 1), "--yes", "--format", "json"]
    output = json.loads(run(*words).stdout)
    assert world.names() == world.rest
    assert output["removed"] == {**output["removed"], "entries": 0, "orphans": len(world.gone) - 1}, output
    after = json.loads(run("usage", world.cache.folder, "--format", "json").stdout)["in_use_bytes"]
    assert after == output["in_use_after"] < usage["in_use_bytes"] == output["in_use_before"], (after, output)


@strace.needed
def test_killed():
    """Whichever call a repair is killed at, no body is left in `Blobs` after the next run, and nothing else is gone."""
    for number in range(1, 8):
        world = Orphans(f"cache{number}")
        words = [tool, "check", world.cache.folder, "--repair=orphans", "--yes"]
        subprocess.run([*strace.fault("unlinkat", "signal=SIGKILL", number), *words], capture_output=True)
        run("check", world.cache.folder, "--repair=orphans", "--yes")
        assert world.names() == world.rest, number


def test_hostile_plans():
    """A plan names only what is an orphan now: never a record, the body of one, the salt, or a file elsewhere."""
    world = Orphans()
    with open(path("victim"), "w") as file:
        file.write("victim")
    run("check", world.cache.folder, "--repair=orphans", "--plan", path("plan.json"), status=None)
    plan = json.loads(scratch.read(path("plan.json")))
    kept = [name.split("/", 1)[1] for name in world.rest if "/" in name]
    long = world.cache.path("http://a.example/long")
    # A record has come back for one of them.
    back = next(orphan for orphan in plan["orphans"] if orphan["name"].endswith("-blob") and "Records" in orphan["name"])
    with open(os.path.join(world.cache.root, back["name"].removesuffix("-blob")), "wb") as file:
        file.write(scratch.read(long))
    names = [*kept, back["name"], "../../victim", "Records/../../../victim", "Blobs/../salt", "Blobs/../../../victim", path("victim"), "Blobs", "", ".", "..",
             "Records", "Records/" + "A" * 40 + "/../x-blob", "urlcache-admin-/../salt", "urlcache-admin-1x2y/../salt"]
    before = world.names()
    orphans = []
    for name in names:
        status = os.lstat(os.path.join(world.cache.root, name)) if os.path.lexists(os.path.join(world.cache.root, name)) else os.lstat(path("victim"))
        orphans.append({"name": name, "size": status.st_size, "modified_ns": str(status.st_mtime_ns)})
    plan["orphans"] = sorted(orphans, key=lambda orphan: orphan["name"])
    with open(path("plan.json"), "w") as file:
        json.dump(plan, file)
    result = run("apply", path("plan.json"), "--yes", status=None)
    # The young orphan is one: only its age kept it, which a plan decides about.
    after = world.names()
    young = {name for name in before if name not in after}
    assert all(scratch.read(os.path.join(world.cache.folder, name)) == before[name] for name in after if before[name] is not None)
    assert len(young) <= 2 and all(b"young " in before[name] for name in young), (young, result)
    assert scratch.read(path("victim")) == b"victim"


def test_copied_without_links():
    """A copy whose bodies lost their second names: those of entries are no orphans, and the others still are."""
    world = Orphans()
    # The pipe is not copied.
    for parent, _, names in os.walk(world.cache.folder):
        for name in names:
            source = os.path.join(parent, name)
            if os.path.isfile(source):
                target = os.path.join(path("copy"), os.path.relpath(source, world.cache.folder))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy2(source, target)
    output = json.loads(run("check", path("copy"), "--format", "json", status=1).stdout)
    found = sorted(finding["code"] for finding in output["findings"])
    # The young body is two files now.
    assert found == ["lone-blob", "lone-blob", "orphaned-blob", "orphaned-blob", "other-file", "temporary-file", "temporary-file", "unlinked-blob",
                     "young-blob", "young-blob"], found
    recovered = run("recover", path("copy"), "--format", "ndjson", "--columns", "size,found").stdout.splitlines()
    assert sorted(json.loads(line)["size"] for line in recovered) == [10_000, 10_000, 10_000, 12_000, 12_000, 14_000], recovered
    run("check", path("copy"), "--repair=orphans", "--yes")
    left = {os.path.relpath(os.path.join(parent, name), path("copy")) for parent, _, names in os.walk(path("copy")) for name in names}
    assert left == {name for name, content in world.rest.items() if content is not None}


def test_record_that_is_no_file():
    """A pipe, a link or a folder with the name of a record is reported and kept; no repair is offered for it."""
    cache = Cache(path("cache"))
    cache.store("http://a.example/1")
    folder = os.path.dirname(cache.path("http://a.example/1"))
    os.mkfifo(os.path.join(folder, "A" * 40))
    os.symlink("/etc/passwd", os.path.join(folder, "B" * 40))
    os.mkdir(os.path.join(folder, "C" * 40))
    result = run("check", cache.folder, status=1)
    assert result.stdout.count(b"it is kept") == 3 and b"--repair" not in result.stdout + result.stderr, result
    result = run("check", cache.folder, "--repair", "--yes", status=1)
    assert b"meanwhile" not in result.stderr and b"--repair" not in result.stderr, result
    assert sorted(os.listdir(folder)) == sorted(["A" * 40, "B" * 40, "C" * 40, os.path.basename(cache.path("http://a.example/1"))])


def test_import_on_a_full_disk():
    """What an import could not write to the end is removed by itself."""
    cache = Cache(path("cache"))
    for number in range(8):
        cache.store(f"http://a.example/{number}", os.urandom(200_000))
    run("export", cache.folder, "-o", path("backup.tar"))
    run("purge", "-c", cache.folder, "--all", "--yes")
    with worlds.FullDisk(path("disk"), "1m") as disk:
        shutil.copytree(cache.folder, os.path.join(disk.seen, "cache"))
        before = scratch.tree(os.path.join(disk.seen, "cache"))
        result = subprocess.run([*disk.inside, tool, "import", path("backup.tar"), "-c", os.path.join(disk.folder, "cache"), "--yes"],
                                capture_output=True, text=True)
        assert result.returncode == 74 and "no space" in result.stderr.lower() or "full" in result.stderr.lower(), result
        assert scratch.tree(os.path.join(disk.seen, "cache")) == before, result
