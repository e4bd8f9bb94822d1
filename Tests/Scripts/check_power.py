"""Simulates that the power fails while commands change a cache; then looks at the cache.

    check_power.py URLCACHE-ADMIN SAMPLE-CACHE [--all]

One run of each command is recorded under strace. Then disks are made up as they can be found after each of its calls: what
was synchronized is there; of the rest, each write is there, is not, or ends within a sector; each file that was created or
removed since its folder was synchronized is there or not. That is more than a journaling file system loses. Without --all it
tries fewer moments, and only purge. Prints a line for each command, and figures on the standard error.
"""

import os, random, re, shutil, sys, tempfile

from fault_trial import CALLS, Bad, make_origins, trials

tool, maker = sys.argv[1:3]
tries_all = sys.argv[3:] == ["--all"]
MOMENTS, DISKS = (50, 200) if tries_all else (30, 120)
SECTOR = 512


def unhex(text):
    return bytes.fromhex(text.replace("\\x", ""))


class Recording:
    """What a command did to the files of a cache, in order: tuples of what, the name of the file, and how."""

    def __init__(self, trial):
        self.cache = trial.fresh()
        trace = trial.path("trace")
        result = trial.run(self.cache, "strace", "-f", "-qq", "-y", "-xx", "-s", "16777216", "-o", trace,
                           "-e", f"trace=openat,{','.join(CALLS)}")
        assert result.returncode == 0, result
        self.events = []
        with open(trace) as file:
            for line in file:
                match = re.match(r"\d+ +(\w+)\((.*)\) += (\d+)", line)
                if match:
                    self.add(*match.groups())

    def relative(self, path):
        """The name within the cache, or None; the folder itself is an empty name."""
        path = os.path.normpath(path)
        inside = path == self.cache or path.startswith(self.cache + "/")
        # The index of the log is made anew after a crash.
        return path[len(self.cache) + 1:] if inside and not path.endswith("-shm") else None

    def add(self, call, words, result):
        folder = re.match(r"\w+<(.*?)>", words)
        folder = (unhex(folder[1]) if folder[1].startswith("\\x") else folder[1].encode()).decode() if folder else "/"
        strings = re.findall(r'"((?:\\x[0-9a-f]{2})*)"', words)
        if call in ("openat", "unlinkat", "unlink"):
            name = self.relative(os.path.join(folder, unhex(strings[0]).decode()))
            if call != "openat":
                self.record("remove", name)
            elif "O_CREAT" in words:
                self.record("create", name)
                assert name is None or "O_TRUNC" not in words
            return
        name, last = self.relative(folder), words.rsplit(", ", 1)[-1]
        if call == "pwrite64":
            self.record("write", name, int(last), unhex(strings[0])[:int(result)])
        elif call == "ftruncate":
            self.record("cut", name, int(last))
        elif call in ("fsync", "fdatasync"):
            self.record("synchronize", name)
        else:
            assert name is None or call in ("fchown", "fchmod"), (call, words[:200])

    def record(self, what, name, *how):
        if name is not None:
            self.events.append((what, name, *how))


class Disk:
    """The files of a cache: how they are for sure, and what of their changes may be lost."""

    def __init__(self, folder):
        self.contents, self.names, self.changes, self.moves = [], {}, {}, []
        for parent, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(parent, name), "rb") as file:
                    self.names[os.path.relpath(os.path.join(parent, name), folder)] = len(self.contents)
                    self.contents.append(file.read())
        self.lasting = dict(self.names)

    def carry_out(self, what, name, *how):
        file = self.names.get(name)
        if what == "create" and file is None:
            self.names[name] = len(self.contents)
            self.contents.append(b"")
            self.moves.append((name, self.names[name]))
        elif what == "remove":
            del self.names[name]
            self.moves.append((name, None))
        elif what in ("write", "cut"):
            self.changes.setdefault(file, []).append(how)
        elif what == "synchronize" and file is not None:
            for change in self.changes.pop(file, []):
                self.change(file, *change)
            self.settle(lambda move: move[1] == file)
        elif what == "synchronize":
            self.settle(lambda move: os.path.dirname(move[0]) == name)

    def change(self, file, offset, data=None):
        old = self.contents[file][:offset].ljust(offset, b"\0")
        self.contents[file] = old if data is None else old + data + self.contents[file][offset + len(data):]

    def settle(self, is_certain):
        """Makes changes of folders last. Of one name no change comes after one that was made later."""
        waiting = []
        for move in self.moves:
            if is_certain(move):
                self.move(*move)
                waiting = [other for other in waiting if other[0] != move[0]]
            else:
                waiting.append(move)
        self.moves = waiting

    def move(self, name, file):
        if file is None:
            self.lasting.pop(name, None)
        else:
            self.lasting[name] = file

    def lose_power(self, is_kept, chance):
        """Loses what is not certain, but for what `is_kept` says to keep."""
        self.settle(lambda move: is_kept())
        for file, changes in self.changes.items():
            for offset, *data in changes:
                if is_kept():
                    self.change(file, offset, *data)
                elif data and chance.random() < 0.3:
                    self.change(file, offset, data[0][:SECTOR * chance.randrange(len(data[0]) // SECTOR + 1)])

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "fsCachedData"))
        for name, file in self.lasting.items():
            with open(os.path.join(folder, name), "wb") as output:
                output.write(self.contents[file])


def cut_power(trial):
    events = Recording(trial).events
    assert sum(event[0] == "synchronize" for event in events) > 1, events
    moments = sorted({round(step * len(events) / (MOMENTS - 1)) for step in range(MOMENTS)})
    for moment in moments:
        for number in range(-(-DISKS // len(moments))):
            chance = random.Random(f"{moment}/{number}")
            disk = Disk(trial.origin)
            for event in events[:moment]:
                disk.carry_out(*event)
            disk.lose_power([lambda: True, lambda: False, lambda: chance.random() < 0.6][min(number, 2)], chance)
            disk.write(trial.path("disk"))
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
