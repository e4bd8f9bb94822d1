"""Records what a command does to the files of a folder, and makes up the disks that a power failure may leave.

What was synchronized is there; of the rest, each write is there, is not, or ends within a sector, and each change of names is
there or not. That is more than a journaling file system loses. Needs strace.
"""

import os
import re
import shutil

CALLS = ["openat", "write", "writev", "pwrite64", "pwritev", "fsync", "fdatasync", "syncfs", "sync_file_range", "ftruncate",
         "fallocate", "?unlink", "unlinkat", "?rename", "?renameat", "renameat2", "?link", "linkat", "?mkdir", "mkdirat", "?rmdir",
         "copy_file_range", "sendfile", "msync"]
SECTOR = 512


def unhex(text):
    return bytes.fromhex(text.replace("\\x", ""))


def recorded(run, folder, trace):
    """What a command does to the files of a folder, in order: tuples of what, the name of the file, and how.

    `run` runs the command with other words before it, and ends if that fails.
    """
    run("strace", "-f", "-qq", "-y", "-xx", "-s", "16777216", "-o", trace, "-e", f"trace={','.join(CALLS)}")
    folder, events, begun = os.path.realpath(folder), [], {}
    with open(trace) as file:
        for line in file:
            thread, words = line.split(maxsplit=1)
            # Another thread made a call meanwhile.
            if words.endswith("<unfinished ...>\n"):
                begun[thread] = words.removesuffix("<unfinished ...>\n")
                if words.startswith("syncfs("):
                    # The synchronization covers only what was written before.
                    events += [("begin to synchronize all", name) for _, name in event(folder, "syncfs", words.partition("(")[2], "0")]
                continue
            if words.startswith("<... "):
                words = begun.pop(thread) + words.partition("resumed>")[2]
            match = re.match(r"(\w+)\((.*)\) += (\d+)", words)
            if match:
                events += event(folder, *match.groups())
    return events


def event(folder, call, words, result):
    """What a system call does to the files of the folder, if it does something."""
    def relative(path):
        """The name within the folder, or None; the folder itself is an empty name."""
        path = os.path.normpath(path)
        inside = path == folder or path.startswith(folder + "/")
        # The index of the log is made anew after a crash.
        return path[len(folder) + 1:] if inside and not path.endswith("-shm") else None

    place = re.match(r"\w+<(.*?)>", words)
    place = (unhex(place[1]) if place[1].startswith("\\x") else place[1].encode()).decode() if place else "/"
    texts = [unhex(text) for text in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', words)]
    last, name = words.rsplit(", ", 1)[-1], relative(place)
    if call in ("openat", "unlink", "unlinkat", "rename", "renameat", "renameat2"):
        name, *others = [relative(os.path.join(place, text.decode())) for text in texts]
        what = "remove" if "unlink" in call else "rename" if others else "create"
        if name is None or (what == "create" and "O_CREAT" not in words):
            return []
        assert "O_TRUNC" not in words, words
        return [(what, name, *others)]
    if name is None:
        return []
    if call in ("write", "pwrite64"):
        return [("write", name, int(last) if call == "pwrite64" else None, texts[0][:int(result)])]
    if call == "ftruncate":
        return [("cut", name, int(last))]
    assert call in ("fsync", "fdatasync", "syncfs"), (call, words[:200])
    return [("synchronize all" if call == "syncfs" else "synchronize", name)]


class Disk:
    """The files of a folder: how they are for sure, and what of their changes may be lost."""

    def __init__(self, folder):
        self.contents, self.names, self.changes, self.moves = [], {}, {}, []
        # The changes that a running `syncfs` covers; `None` if none is running.
        self.begun = None
        for parent, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(parent, name), "rb") as file:
                    self.names[os.path.relpath(os.path.join(parent, name), folder)] = len(self.contents)
                    self.contents.append(bytearray(file.read()))
        self.sizes = list(map(len, self.contents))
        self.lasting = dict(self.names)

    def carry_out(self, what, name, *how):
        file = self.names.get(name)
        if what == "create" and file is None:
            self.contents.append(bytearray())
            self.sizes.append(0)
            self.move({name: len(self.contents) - 1})
        elif what == "remove":
            self.move({name: None})
        elif what == "rename":
            self.move({how[0]: file, name: None})
        elif what == "write":
            # What has no place is put at the end, as in all files that are made anew.
            place = self.sizes[file] if how[0] is None else how[0]
            self.sizes[file] = max(self.sizes[file], place + len(how[1]))
            self.changes.setdefault(file, []).append((place, how[1]))
        elif what == "cut":
            self.sizes[file] = how[0]
            self.changes.setdefault(file, []).append(how)
        elif what == "synchronize" and file is not None:
            self.settle(file)
        elif what == "synchronize":
            self.settle_names(lambda change: any(os.path.dirname(other) == name for other in change))
        elif what == "begin to synchronize all":
            self.begun = {file: len(changes) for file, changes in self.changes.items()}, list(self.moves)
        elif what == "synchronize all":
            counts, moves = self.begun or ({file: None for file in self.changes}, self.moves)
            self.begun = None
            for file, count in counts.items():
                self.settle(file, count)
            self.settle_names(lambda change: any(change is other for other in moves))

    def move(self, change):
        self.moves.append(change)
        for name, file in change.items():
            if file is None:
                del self.names[name]
            else:
                self.names[name] = file

    def settle(self, file, count=None):
        """Makes the changes of a file last: all, or the first ones."""
        changes = self.changes.pop(file, [])
        if count is not None and count < len(changes):
            self.changes[file] = changes[count:]
        elif self.begun and count is None:
            # This `fsync` has already settled what the `syncfs` covers.
            self.begun[0].pop(file, None)
        for change in changes[:count]:
            self.change(file, *change)

    def change(self, file, place, data=None):
        contents = self.contents[file]
        contents.extend(bytes(max(0, place - len(contents))))
        if data is None:
            del contents[place:]
        else:
            contents[place:place + len(data)] = data

    def settle_names(self, is_certain):
        """Makes changes of names last. Of one name no change comes after one that was made later."""
        waiting = []
        for change in self.moves:
            if is_certain(change):
                for name, file in change.items():
                    if file is None:
                        self.lasting.pop(name, None)
                    else:
                        self.lasting[name] = file
                waiting = [other for other in waiting if not other.keys() & change.keys()]
            else:
                waiting.append(change)
        self.moves = waiting

    def lose_power(self, is_kept, chance):
        """Loses what is not certain, but for what `is_kept` says to keep."""
        self.settle_names(lambda change: is_kept())
        for file, changes in self.changes.items():
            for place, *data in changes:
                if is_kept():
                    self.change(file, place, *data)
                elif data and chance.random() < 0.3:
                    self.change(file, place, data[0][:SECTOR * chance.randrange(len(data[0]) // SECTOR + 1)])

    def files(self):
        """The bytes of all files that are there for sure, by their names."""
        return {name: bytes(self.contents[file]) for name, file in self.lasting.items()}

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "fsCachedData"))
        for name, data in self.files().items():
            with open(os.path.join(folder, name), "wb") as output:
                output.write(data)


def disk_after(origin, events, number, chance):
    """What is left of a folder if the power fails after some events: all, nothing or some of what is not certain, by the number."""
    disk = Disk(origin)
    for event in events:
        disk.carry_out(*event)
    disk.lose_power([lambda: True, lambda: False, lambda: chance.random() < 0.6][min(number, 2)], chance)
    return disk
