"""Runs each changing command in worlds that are drawn by a seed, and tests what holds in all of them.

A world joins what other tests look at one by one: the journal mode, who else has the cache open, whose it is, what lies beside it, how a
host is spelled, and what fails meanwhile. What has to be removed is known from how the world was made, or from `limit_oracle`, never from
the program. A case is repeated with `-k SEED-`.
"""

import json
import os
import re
import shutil
import signal
import subprocess

import pytest

import drawn_worlds
import scratch
import worlds
from drawn_worlds import World
from limit_oracle import Limits
from scratch import path

NOBODYS_GROUP = 65534
OUTPUTS = {"log": "--log", "metrics": "--metrics-file", "backup": "--backup", "new plan": "--plan"}


def pytest_generate_tests(metafunc):
    seeds = range(1_000 if metafunc.config.getoption("thorough") else 150)
    metafunc.parametrize("seed", [pytest.param(seed, id=drawn_worlds.name(seed)) for seed in seeds])


def test_world(seed):
    """What a command removes is what it has to remove, says so everywhere, and touches nothing else; and no app notices."""
    if os.geteuid() != 0 and drawn_worlds.draw(seed)["owner"] != "self":
        pytest.skip("the rights of root: not here")
    world = World(seed)
    if faults := [*Run(world).findings()]:
        pytest.fail("\n".join([f"'{' '.join(world.words)}' in {world.choices}", *faults]), pytrace=False)


class Run:
    """A command in a world: a dry run, and then the real one, with somebody else there; and what holds afterwards."""

    def __init__(self, world):
        self.world, self.cache = world, world.cache
        self.user = worlds.STRANGER if world["owner"] == "read-only" else None
        self.dry, self.report = None, None
        worlds.surroundings(self.user)
        if self.user:
            os.chmod(scratch.root, 0o755)

    def findings(self):
        world = self.world
        with worlds.Holder(self.cache, world["who"], seed=world.seed, user=worlds.STRANGER if world["owner"] == "other" else None) as holder:
            yield from self.rehearse()
            self.files = self.canary()
            result = self.act()
        self.report, self.result = holder.report, result
        yield from self.judge_status()
        # An unfinished transaction of several databases stays as it is, and a reader here would finish it.
        self.after = world.before if "several" in world["left"] else world.contents()
        if world["verb"] == "import":
            # What is replaced may get another number.
            numbers = {row[0][4]: number for number, row in world.before.items()}
            self.after = {numbers.get(row[0][4], number): row for number, row in self.after.items()}
        self.removed = world.before.keys() - self.after.keys()
        app = self.report or {"stored": [], "removed": []}
        self.gone = self.removed | (set(app["stored"]) - set(app["removed"]) - self.after.keys())
        yield from self.judge_removal()
        yield from self.judge_accounts()
        yield from self.judge_files()
        yield from self.judge_app()
        yield from self.judge_again()

    # What is run.

    def words(self, *more):
        world = self.world
        words = ["apply", path("old-plan"), "-c", self.cache] if self.has_plan else [world.words[0], "-c", self.cache, *world.words[1:]]
        return [*words, "--json", *more]

    @property
    def has_plan(self):
        return self.world["verb"] == "plan" and os.path.exists(path("old-plan"))

    def rehearse(self):
        """A dry run, which changes nothing."""
        if self.world["verb"] == "plan":
            worlds.run(*self.words("--plan", path("old-plan")), user=self.user)
        before = self.canary()
        result = worlds.run(*self.words("--dry-run"), user=self.user)
        if not self.has_writer:
            for name, change in worlds.changes(before, self.canary()).items():
                if not name.endswith("-shm"):
                    yield f"dry run: {name} {change}"
        self.dry = self.receipt_of(result)

    @property
    def has_records(self):
        """Whether the command can write a log and metrics."""
        return self.world["verb"] != "import"

    @property
    def has_writer(self):
        return self.world["who"] in ("storing", "busy")

    def canary(self):
        return worlds.canary(scratch.root)

    def act(self):
        """The command itself, with what goes wrong."""
        fault, records = self.world["fault"], ["--log", path("log"), "--metrics-file", path("metrics")]
        if self.user or not self.has_records:
            records = []
        if self.world["verb"] != "compact":
            records.append("--yes")
        if fault == "none":
            return worlds.run(*self.words(*records), user=self.user)
        if fault == "output":
            with open("/dev/full", "w") as full:
                return worlds.run(*self.words(*records), stdout=full)
        if fault == "signal":
            return self.interrupted(records)
        with worlds.FullDisk(path("full"), "16m" if fault == "disk" else "64k") as disk:
            if fault == "disk":
                return self.on_full_disk(disk, records)
            if fault in ("log", "metrics"):
                scratch.write(os.path.join(disk.seen, "file.tar"), b"")
            disk.fill()
            return worlds.run(*self.words(*records, OUTPUTS[fault], os.path.join(disk.folder, "file.tar")), inside=disk.inside)

    def on_full_disk(self, disk, records):
        """The cache itself is on a disk that has no more room: the log of a database or its journal cannot grow."""
        copy = os.path.join(disk.seen, "cache")
        shutil.copytree(self.cache, copy, symlinks=True, ignore=shutil.ignore_patterns("*sparse", worlds.body_name("pipe")))
        disk.fill(self.world.choice.choice([0, 8_192, 65_536]))
        words = [os.path.join(disk.folder, "cache") if word == self.cache else word for word in self.words(*records)]
        result = worlds.run(*words, inside=disk.inside)
        shutil.rmtree(self.cache)
        shutil.copytree(copy, self.cache, symlinks=True)
        return result

    def interrupted(self, records):
        from products import tool
        process = subprocess.Popen([tool, *self.words(*records)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=worlds.surroundings())
        try:
            output = process.communicate(timeout=self.world.choice.uniform(0.004, 0.03))
        except subprocess.TimeoutExpired:
            process.send_signal(self.world.choice.choice([signal.SIGINT, signal.SIGTERM]))
            output = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, *output)

    def receipt_of(self, result):
        """The ids that a command says it removes, in no order; nothing if it says nothing."""
        try:
            document = json.loads(result.stdout)
        except (ValueError, TypeError):
            return None
        document = document.get("repair") if document["schema"].startswith("urlcache-admin.check/") else document
        return {entry["id"] for entry in (document or {}).get("entries", []) if "id" in entry}

    # What holds.

    def judge_status(self):
        world, status = self.world, self.result.returncode
        allowed = {*world.status}
        if world["fault"] in ("log", "metrics", "backup", "new plan", "output", "disk"):
            allowed |= {73, 74}
        if world["fault"] == "signal":
            allowed |= {130, 143, -signal.SIGINT, -signal.SIGTERM}
        # Nobody can write while a reader stays in a database without a log.
        if world["who"] == "reading" and world["journal"] != "wal":
            allowed.add(75)
        # A plan cannot be made of what cannot be read or changed.
        if world["verb"] == "plan":
            allowed.add(66)
        if world["owner"] == "read-only":
            allowed |= {0, 1, 65, 73}
        if status not in allowed:
            yield f"status {status} instead of {sorted(allowed)}: {self.result.stderr[:300]}"

    def judge_removal(self):
        world, status = self.world, self.result.returncode
        if status in (0, 1, 3) and "several" not in world["left"] and world["owner"] != "read-only":
            if fault := self.judge_set(self.removed):
                yield f"removes {fault}, status {status}"
            if fault := self.dry is not None and self.judge_set(self.dry):
                yield f"dry run: would remove {fault}"
        if status not in (0, 1, 3) and self.removed and not self.said():
            yield f"removes {len(self.removed)} entries, status {status}, and does not say so: {self.result.stderr[:300]}"
        if status in (65, 73, 75, 77) and self.removed:
            yield f"removes {len(self.removed)} entries, and the status is {status}"
        changed = {number for number in self.after.keys() & world.before.keys() if self.after[number] != world.before[number]}
        if strange := changed - world.touched:
            yield f"{len(strange)} entries that stay are others than before, such as {min(strange)}"
        if changed and status in (65, 73, 75, 77) or changed != world.touched and status in (0, 1, 3):
            yield f"changes {len(changed)} entries instead of {len(world.touched)}, status {status}"

    def judge_set(self, removed):
        """What is wrong with what is removed, if anything is."""
        world, expected = self.world, self.world.expected
        removed = removed & world.before.keys()
        if not self.has_writer or world["verb"] not in ("size", "entries"):
            if removed != set(expected):
                return (f"{len(removed)} entries instead of {len(expected)}: too many {sorted(removed - set(expected))[:5]}, "
                        f"too few {sorted(set(expected) - removed)[:5]}")
            return None
        # What the app stored meanwhile counts, too: the oldest have to go, as few as are enough even with all that it stored in the end.
        order = world.oldest(world.entries)
        if removed != set(order[:len(removed)]) or len(removed) < len(expected):
            return f"{len(removed)} entries instead of {len(expected)} or more, and not the oldest"
        if world["verb"] == "size" and len(removed) > len(expected):
            before, after = (world.limits.in_use(order[:count]) for count in (len(removed) - 1, len(self.removed)))
            if Limits(self.cache).in_use() + before - after <= int(world.words[2]):
                return f"{len(removed)} entries instead of {len(expected)}, and fewer are enough"
        return None

    def said(self):
        """Whether the receipt or standard error says how many entries were removed."""
        receipt, count = self.receipt_of(self.result), len(self.gone)
        return receipt is not None and receipt >= self.removed or \
            re.search(rf"\b[Rr]emoved {count} entr(y|ies)|\b{count} entr(y|ies)( were| was)? removed", self.result.stderr)

    def judge_accounts(self):
        """Receipt, dry run, log and metrics say what happened."""
        world, receipt, gone = self.world, self.receipt_of(self.result), self.gone
        if world["verb"] in ("import", "expire"):
            receipt = self.dry = None
        if receipt is not None and receipt != gone:
            yield f"receipt: {len(receipt)} entries, and {len(gone)} are gone"
        if receipt is not None and self.dry is not None and world["fault"] != "signal" and self.result.returncode in (0, 1, 3):
            if receipt != self.dry if not self.has_writer else not self.dry & world.before.keys() <= receipt:
                yield f"dry run: {len(self.dry)} entries, and really {len(receipt)}"
        if world["fault"] in ("log", "metrics", "new plan") or self.user or not self.has_records:
            return
        with open(path("log")) if os.path.exists(path("log")) else open(os.devnull) as file:
            lines = [json.loads(line) for line in file]
        if lines and (lines[-1]["removed_entries"] or 0) != len(gone):
            yield f"log: {lines[-1]['removed_entries']} entries, and {len(gone)} are gone"
        if not lines and gone:
            yield f"log: nothing, and {len(gone)} entries are gone"
        text = scratch.read(path("metrics")).decode() if os.path.exists(path("metrics")) else ""
        said = re.search(r"^urlcache_last_run_removed_entries\S* (\d+)", text, re.M)
        if said and int(said[1]) != len(gone) or not said and gone:
            yield f"metrics: {said and said[1]} entries, and {len(gone)} are gone"

    def is_of_owner(self, file):
        """Whether a file belongs to whom the database belongs to. A user that is in no list of users has no group of their own."""
        user, group = self.world.files["cache/Cache.db"][1:3]
        return file[1] == user and file[2] in (group, NOBODYS_GROUP)

    def judge_files(self):
        """No file has changed but those of the cache; of its body files, those of removed entries and old orphans are gone."""
        world, after, status = self.world, self.canary(), self.result.returncode
        if world["fault"] == "disk":
            return
        strange, here, made = [], set(after), set(world.files)
        ours = {"cache/Cache.db" + suffix for suffix in ("", "-wal", "-shm", "-journal")} if "several" not in world["left"] else set()
        before, now = self.named(world.before), self.named(self.after)
        freed = before - now - {self.body(file) for file in world.others}
        orphans = {self.body(file) for file in world.old_orphans} if world["verb"] in ("size", "repair", "secure") else set()
        for name, change in worlds.changes(self.files, after).items():
            is_record = re.split("[-/.]", name)[0] in ("home", "state", "log", "metrics", "full", "old")
            is_app = self.has_writer and name not in made and name.startswith("cache/")
            if name in ours and name in after and not self.is_of_owner(after[name]):
                yield f"owner: {name} belongs to {after[name][1:3]}"
            if not (is_record or is_app or name in ours or name in (now - before if change == "created" else freed | orphans)):
                strange.append(f"{name} {change}")
        if strange:
            yield f"frame: {len(strange)} files that nobody may change, status {status}: {', '.join(sorted(strange)[:4])}"
        if status in (0, 3) and (stay := (freed | orphans) & here):
            yield f"files: {len(stay)} bodies of removed entries, or old orphans, stay"
        if missing := now - here - {self.body(worlds.file_of(world.before[number][2])) for number in world.broken()}:
            yield f"files: {len(missing)} bodies of entries are missing"
        if left := os.listdir(path("temporary")):
            yield f"temporary files stay: {left}"

    @staticmethod
    def body(file):
        return "cache/fsCachedData/" + file

    def named(self, some):
        """The files that entries name, or are."""
        if self.world["store"] == "foundation":
            return {f"cache/{number}{worlds.SUFFIX}" for number in some}
        return {self.body(worlds.file_of(row[2])) for row in some.values() if worlds.file_of(row[2])}

    def judge_app(self):
        if self.report:
            if self.report["errors"]:
                yield f"app: {len(self.report['errors'])} errors, such as {self.report['errors'][0]}"
            if self.report["waits"] and self.report["waits"][-1] >= worlds.longest_wait():
                yield f"app: waits {self.report['waits'][-1]} s"

    def judge_again(self):
        """A second run of limits finds nothing to do."""
        world = self.world
        if world["verb"] in ("size", "entries", "age", "keep rule") and self.result.returncode == 0 and world["fault"] == "none" and not self.user and not self.has_writer:
            again = self.receipt_of(worlds.run(*self.words("--yes")))
            if again:
                yield f"again: a second run removes {len(again)} more"
