"""Draws worlds: a cache, who has it open, what lies beside it, a command that changes it, and what goes wrong meanwhile."""

import json
import os
import random
import shutil
import time

import scratch
import worlds
from limit_oracle import Limits
from scratch import path

DAY = 86_400
DIMENSIONS = {
    "store": [203, 203, 203, 202, 201, 25, "foundation"],
    "journal": ["wal", "wal", *worlds.JOURNALS],
    "left": ["closed"] * 8 + ["log", "crash", "crash of several files", "strange crash of several files"],
    "who": ["nobody", "idle", "reading", "storing", "busy", "ours", "idle", "reading", "storing"],
    "owner": ["self"] * 6 + ["other", "other", "read-only"],
    "neighbour": ["none", "second database", "converted copy", "damaged database", "foreign files", "links"],
    "defect": ["none", "old orphans", "missing body", "shared file"],
    "host": ["a.example", "b\u00fccher.example", "\u4f8b\u3048.example"],
    "spelling": ["same", "Unicode", "Punycode", "capitals", "port"],
    "redirected": [False, False, True],
    "verb": ["all", "host", "operands", "old", "pins", "secure", "plan", "entries", "size", "size", "size", "age", "impossible", "keep rule", "repair",
             "compact", "import", "expire"],
    "fault": ["none"] * 14 + ["log", "log", "metrics", "backup", "new plan", "output", "disk", "disk", "signal", "signal"],
}


def draw(seed):
    """The choices of a world, of which none contradicts another."""
    choice = random.Random(seed)
    world = {name: choice.choice(values) for name, values in DIMENSIONS.items()}
    if world["store"] == "foundation":
        world |= {"journal": "none", "left": "closed", "neighbour": choice.choice(["none", "foreign files", "links"]), "defect": "none"}
        world["who"] = choice.choice(["nobody", "busy", "storing", "ours"])
    if world["left"] == "log":
        world["journal"] = "wal"
    elif "several" in world["left"] and world["journal"] == "wal":
        world["journal"] = "delete"
    # A namespace of its own has one user only, and one command has one fault.
    if world["fault"] != "none":
        world |= {"owner": "self", "left": "log" if world["left"] == "log" else "closed"}
    # Whoever opens it would mend it, and a disk of its own has nobody else.
    if world["left"] != "closed" or world["fault"] == "disk":
        world["who"] = "nobody"
    if world["fault"] in ("backup", "new plan"):
        world["verb"] = choice.choice(["all", "host", "old", "pins"])
    # Import writes no log.
    if world["fault"] in ("log", "metrics") and world["verb"] == "import":
        world["verb"] = "size"
    # In a folder of Foundation there is no space to return, and rows cannot be broken.
    if world["store"] == "foundation" and world["verb"] in ("compact", "repair", "operands", "pins", "secure", "import", "expire"):
        world["verb"] = "old"
    if world["redirected"] and world["verb"] in ("operands", "pins"):
        world["verb"] = "host"
    return world


def name(seed):
    return "-".join(str(value).replace(" ", "_").encode("ascii", "ignore").decode() for value in [seed, *draw(seed).values()])


class World:
    """A world on disk: `cache` is its folder, and `entries` are those that were stored. The command `words` has to remove the entries `expected`,
    in this order, and changes those in `touched` (ids). `before` is what is in the cache, and `files` are all files."""

    def __init__(self, seed):
        self.choices, self.choice, self.cache = draw(seed), random.Random(seed), path("cache")
        self.seed, self.status, self.touched = seed, (0, 1, 3), set()
        self.ascii = self.choices["host"].encode("idna").decode()
        hosts = [self.ascii, "z.example", "x." + self.ascii]
        self.entries = worlds.entries(40, self.choice, newest=int(time.time()) - DAY, spacing=7_200)
        for number, entry in enumerate(self.entries):
            entry.url = f"https://{hosts[number % 3]}/{number + 1}?q=a"
            entry.headers = {"Cache-Control": self.choice.choice(["max-age=99999999", "no-cache", "private", "max-age=1"]), "Etag": '"1"'}
            entry.user_info = {"k": "removed by 'expire'", "z": "kept"} if self["store"] != "foundation" and number % 2 else None
            if self.choices["redirected"]:
                entry.final = f"https://{hosts[number % 3]}/final/{number + 1}"
            if self.choices["defect"] == "shared file" and self["store"] != "foundation" and number in (3, 20, 33):
                entry.file, entry.body = worlds.body_name("shared"), b"shared" * 1_000
        self.make()
        self.surround()
        if self["owner"] == "other":
            worlds.give(self.cache)
        self.before = self.contents()
        self.command()
        self.leave()
        # All files, before anybody else is there.
        self.files = worlds.canary(scratch.root)

    def __getitem__(self, dimension):
        return self.choices[dimension]

    def make(self):
        if self["store"] == "foundation":
            worlds.foundation(self.cache, self.entries)
        else:
            worlds.apple(self.cache, self.entries, schema=self["store"], journal=self["journal"], closed=self["left"] != "log",
                         churn=self.choice.choice([0, 30]))

    def surround(self):
        """Makes what is not the cache's own, which nobody may change, and orphans."""
        os.mkdir(path("outside"))
        self.victim = scratch.write("outside/victim", b"mine")
        os.symlink("victim", path("outside/link"))
        os.mkfifo(path("outside/pipe"))
        with open(path("outside/sparse"), "wb") as file:
            file.truncate(1 << 40)
        self.old_orphans, self.others = set(), set()
        if self["store"] == "foundation":
            bodies = self.cache
        else:
            bodies = os.path.join(self.cache, "fsCachedData")
            self.age(bodies)
            worlds.write_body(self.cache, worlds.body_name("young"), age=5)
            if self["defect"] == "old orphans":
                self.old_orphans = {worlds.body_name(number) for number in range(3)}
                for orphan in self.old_orphans:
                    worlds.write_body(self.cache, orphan, age=DAY)
        if self["defect"] == "missing body":
            os.unlink(os.path.join(bodies, next(entry.file for entry in self.entries if entry.file)))
        kind = self["neighbour"]
        if kind == "second database":
            others = worlds.entries(12, host="other.example")
            worlds.apple(self.cache, others, name="Other.db", journal=self.choice.choice(worlds.JOURNALS))
            self.others = {entry.file for entry in others} - {None}
        elif kind == "converted copy":
            same = [worlds.Entry(**{**vars(entry), "id": None}) for entry in self.entries[:30]]
            worlds.apple(self.cache, same, name="Cache-before-update.db", encoding="UTF-16le", journal="delete")
            self.others = {entry.file for entry in same} - {None}
        elif kind == "damaged database":
            # It may name any file.
            scratch.write("cache/Broken.db", b"SQLite format 3\0" + self.choice.randbytes(8_000))
            self.others, self.old_orphans = set(os.listdir(bodies)), set()
        elif kind == "foreign files":
            for file in ("notes.txt", ".DS_Store", "Cache.db.bak"):
                scratch.write(os.path.join(bodies, file), b"text")
                scratch.write(os.path.join(self.cache, "x" + file), b"text")
            os.mkfifo(os.path.join(bodies, worlds.body_name("pipe")))
            with open(os.path.join(bodies, "sparse"), "wb") as file:
                file.truncate(1 << 40)
        elif kind == "links":
            os.symlink(self.victim, os.path.join(bodies, worlds.body_name("link")))
            os.symlink(path("outside"), os.path.join(bodies, worlds.body_name("folder")))
        if self["store"] != "foundation":
            self.age(bodies, but=worlds.body_name("young"))

    def age(self, folder, but=None):
        """Makes files old, so that no period of grace protects them."""
        for file in os.listdir(folder):
            if file != but:
                os.utime(os.path.join(folder, file), (time.time() - DAY,) * 2, follow_symlinks=False)

    def leave(self):
        if "crash" in self["left"]:
            worlds.crash(self.cache)
            if self["owner"] == "other":
                worlds.give(self.cache)
        if "several" in self["left"]:
            worlds.name_super_journal(self.cache, self.victim, self.choice.randrange(1, 8) if "strange" in self["left"] else None)
            self.status = (65,)
        if self["owner"] == "read-only":
            self.status = (77,)

    def contents(self, live=False):
        return worlds.contents(self.cache, live=live)

    def oldest(self, some):
        """Their ids, in the order of removal."""
        return [entry.id for entry in sorted(some, key=lambda entry: (entry.stored, entry.id))]

    def spelled(self):
        unicode = self["host"]
        return {"same": self.ascii, "Unicode": unicode, "Punycode": self.ascii, "capitals": unicode.upper(),
                "port": self.ascii + ":443"}[self["spelling"]]

    def command(self):
        """Chooses the command, and says what it removes: entries in the order of removal."""
        host = self.spelled().removesuffix(":443")
        of_host = [entry for entry in self.entries if entry.url.startswith(f"https://{self.ascii}/")]
        count, verb = self.choice.randrange(5, 35), self["verb"]
        age = int(time.time() - self.oldest_entry(count).stored) - 3_600
        urls = [entry.url.replace(self.ascii, self.spelled()) for entry in of_host[:4]]
        everything, some = self.oldest(self.entries), self.oldest(of_host)
        settings, rules = {}, ""
        if verb == "pins":
            settings, words, expected = {"pinned": urls}, ["purge", "--all"], self.oldest(entry for entry in self.entries if entry not in of_host[:4])
        elif verb == "keep rule":
            rules = f'[[rules]]\nmatch = {{ host = "{host}" }}\naction = "keep"\n[[rules]]\nmatch = {{}}\naction = "purge"\n'
            words, expected = ["enforce"], self.oldest(entry for entry in self.entries if entry not in of_host)
        elif verb == "size":
            limits = Limits(self.cache)
            words, expected = ["enforce", "--max-size", str(limits.between(count))], limits.order[:count]
            assert limits.removed(limits.between(count)) == expected
            self.limits = limits
        elif verb == "impossible":
            # Less than what may go, orphans and all.
            limits = Limits(self.cache, kept=set(everything) - set(some))
            words, expected = ["enforce", "--max-size", str(int(limits.in_use(some) * 0.9)), "--host", host], []
            self.status = (1,)
        elif verb == "import":
            others = [worlds.Entry(entry.url, b"new" * 3_000, entry.stored + 1, status=404) for entry in of_host[:4]]
            worlds.run("export", "-c", worlds.apple(path("old-other"), others), "-o", path("old.tar"), status=0)
            words, expected, self.touched = ["import", path("old.tar"), "--on-conflict", "replace"], [], {entry.id for entry in of_host[:4]}
        elif verb == "expire":
            words, expected = ["expire", "--all", "--clear-user-info", "k"], []
            self.touched = {entry.id for entry in self.entries if entry.user_info}
        else:
            words, expected = {
                "all": (["purge", "--all"], everything), "secure": (["purge", "--all", "--secure"], everything),
                "host": (["purge", "--host", host], some), "operands": (["purge", *urls], self.oldest(of_host[:4])),
                "old": (["purge", "--older-than", f"{age}s"], everything[:count]), "plan": (["purge", "--host", host], some),
                "entries": (["enforce", "--max-entries", str(40 - count)], everything[:count]),
                "age": (["enforce", "--max-age", f"{age}s"], everything[:count]),
                "repair": (["check", "--repair"], self.broken()), "compact": (["compact"], []),
            }[verb]
        self.words, self.expected = words, expected
        worlds.configure(self.cache, rules, **settings)

    def oldest_entry(self, count):
        return sorted(self.entries, key=lambda entry: entry.stored)[count - 1]

    def broken(self):
        return [number for number, row in self.before.items() if self["store"] != "foundation" and worlds.file_of(row[2]) and row[3] is None]
