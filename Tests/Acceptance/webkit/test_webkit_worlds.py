"""Runs each changing command on WebKit caches that are drawn by a seed, with others in them: a process that watches, maps and rewrites them as WebKit's
network process does, another user, foreign files, and links. What has to be removed is known from how the cache was made, never from the program. A
case is repeated with `-k SEED-`."""

import json
import os
import random
import subprocess
import sys
import time

import pytest

import scratch
import worlds
from scratch import path
from webkit_records import Cache

DAY = 86_400
DIMENSIONS = {
    "version": [16, 17, 17, 18],
    "who": ["nobody", "watching", "storing", "storing", "ours"],
    "owner": ["self", "self", "other"],
    "neighbour": ["none", "foreign files", "older version", "symbolic links", "links from elsewhere"],
    "verb": ["all", "host", "operands", "old", "larger", "entries", "size", "repair", "secure"],
    "lists": [False, True],
}

# What WebKit's network process does meanwhile: it watches the folder, maps bodies, and writes into the files of records. A body comes first, then its
# link, then the record.
WORKER = """
import ctypes, json, os, select, sys
user, libc = int(sys.argv[3]), ctypes.CDLL(None)
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
libc.prctl(15, b"WebKitNetworkPr", 0, 0, 0)
libc.inotify_add_watch(libc.inotify_init(), sys.argv[1].encode(), 0xfce)
jobs = json.loads(sys.argv[2])
read = lambda name: open(name, "rb").read()
data = {name: read(name) for name in jobs["again"]}
blobs = jobs["blobs"]
bodies = {name: read(name) for name in set(blobs.values())}
print("ready", flush=True)
rounds = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    for to, source in blobs.items():
        if not os.path.exists(source):
            open(source, "wb").write(bodies[source])
        if not os.path.exists(to):
            try: os.link(source, to)
            except FileExistsError: pass
    for name, content in data.items():
        with open(name, "wb") as file:
            file.write(content[:100])
            file.write(content[100:])
    rounds += 1
print(rounds, flush=True)
"""


def draw(seed):
    choice = random.Random(seed)
    world = {name: choice.choice(values) for name, values in DIMENSIONS.items()}
    # Lists count as entries of their own, and what is not to be removed has another size and time.
    if world["verb"] in ("entries", "size"):
        world["lists"] = False
    return world


def pytest_generate_tests(metafunc):
    seeds = range(600 if metafunc.config.getoption("thorough") else 80)
    metafunc.parametrize("seed", [pytest.param(seed, id="-".join(str(value).replace(" ", "_") for value in [seed, *draw(seed).values()])) for seed in seeds])


class Entry:
    """A record: its URL, the files that it alone has, the file of its body if that is not in it, its time, and its list, which is an entry of its own."""

    def __init__(self, url, record, blob, body, stored):
        self.url, self.record, self.blob, self.body, self.stored = url, record, blob, body, stored
        self.list = None

    @property
    def files(self):
        return {self.record} | ({self.record + "-blob"} if self.blob else set())


class World:
    def __init__(self, seed):
        self.choices, self.choice = draw(seed), random.Random(seed)
        self.cache = Cache(path("cache"), self["version"])
        self.now = time.time()
        self.entries = [self.store(number) for number in range(24)]
        # What another process stores meanwhile has URLs of its own.
        self.kept_apart = [self.store(number, "busy.example") for number in range(4)]
        self.surround()
        for folder, _, names in os.walk(self.cache.root):
            for name in names:
                os.utime(os.path.join(folder, name), (self.now - DAY,) * 2, follow_symlinks=False)
        if self["owner"] == "other":
            worlds.give(path("cache"))

    def __getitem__(self, dimension):
        return self.choices[dimension]

    def store(self, number, host=None):
        host = host or ["a.example", "b.example", "x.a.example"][number % 3]
        url, partition = f"http://{host}/{number}?q=a", self.choice.choice(["", "", "site.example"]) if host != "busy.example" else ""
        body = self.choice.choice([b"body" * 10, b"shared" * 3_000, self.choice.randbytes(9_000), self.choice.randbytes(20_000)])
        stored = self.now - 2 * DAY - number * 7_200
        record = self.cache.store(url, body, time=stored, partition=partition, fields=[("Cache-Control", "max-age=600")])
        blob = None
        if os.path.exists(record + "-blob"):
            inode = os.stat(record + "-blob").st_ino
            folder = os.path.join(self.cache.root, "Blobs")
            blob = next(os.path.join(folder, name) for name in os.listdir(folder) if os.stat(os.path.join(folder, name)).st_ino == inode)
        entry = Entry(url, record, blob, body, stored)
        if self["lists"] and number % 4 == 0 and host != "busy.example":
            entry.list = self.cache.store_list(url, [("http://a.example/style.css", [("Referer", url)])], time=stored, partition=partition)
        return entry

    def surround(self):
        os.mkdir(path("outside"))
        victim = scratch.write("outside/victim", b"mine")
        folder = os.path.dirname(self.entries[0].record)
        self.linked, self.linked_blob = set(), None
        if self["neighbour"] == "foreign files":
            for place in (folder, self.cache.root, self.cache.folder, os.path.join(self.cache.root, "Blobs")):
                scratch.write(os.path.join(place, "notes.txt"), b"text")
            os.mkfifo(os.path.join(folder, "F" * 40))
        elif self["neighbour"] == "older version":
            Cache(path("cache"), 11).store("http://old.example/", os.urandom(9_000))
        elif self["neighbour"] == "symbolic links":
            os.symlink(victim, os.path.join(folder, "E" * 40))
            os.symlink(path("outside"), os.path.join(self.cache.root, "Records", "D" * 40))
        elif self["neighbour"] == "links from elsewhere":
            for number in (1, 5):
                os.link(self.entries[number].record, path(f"outside/{number}"))
                self.linked.add(self.entries[number].url)
            if blob := next((entry.blob for entry in self.entries if entry.blob), None):
                os.link(blob, path("outside/blob"))
                self.linked_blob = blob
                self.linked |= {entry.url for entry in self.entries if entry.blob == blob}
        if self["verb"] == "repair":
            with open(self.entries[2].record, "r+b") as file:
                file.truncate(300)
            os.utime(self.entries[2].record, (self.now - DAY,) * 2)
            self.broken = {self.entries[2].url}
            if gone := next((entry for entry in self.entries[6:] if entry.blob and entry.url not in self.linked), None):
                os.unlink(gone.record + "-blob")
                self.broken.add(gone.url)
    
    def command(self):
        """The words, and the URLs of the entries to remove, without those that have links from elsewhere."""
        of_host = {entry.url for entry in self.entries if "//a.example/" in entry.url}
        everything = {entry.url for entry in self.entries}
        count, verb = self.choice.randrange(3, 20), self["verb"]
        by_time = sorted(self.entries + self.kept_apart, key=lambda entry: entry.stored)
        if verb == "all":
            words, expected = ["purge", "--host", "a.example", "--host", "b.example", "--host", "x.a.example"], everything
        elif verb == "host":
            words, expected = ["purge", "--host", "a.example"], of_host
        elif verb in ("operands", "secure"):
            chosen = sorted(self.choice.sample(sorted(everything), count))
            words, expected = ["purge", *chosen, *["--secure"] * (verb == "secure")], set(chosen)
        elif verb == "old":
            limit = self.entries[count].stored + 60
            words = ["purge", "--older-than", f"{int(time.time() - limit)}s", "--host", "a.example", "--host", "b.example", "--host", "x.a.example"]
            expected = {entry.url for entry in self.entries if entry.stored < limit}
        elif verb == "larger":
            words, expected = ["purge", "--larger-than", "15000", "--host", "a.example", "--host", "b.example"], {
                entry.url for entry in self.entries if len(entry.body) > 15_000 and "//x." not in entry.url}
        elif verb == "entries":
            # What has the name of a record counts as an entry.
            odd = self["neighbour"] in ("foreign files", "symbolic links")
            words = ["enforce", "--max-entries", str(len(by_time) + odd - count), "--order", "oldest"]
            expected = {entry.url for entry in [entry for entry in by_time if entry.url not in self.linked][:count]}
        elif verb == "size":
            words, expected = ["enforce", "--max-size", "1GiB"], set()
        else:
            words, expected = ["check", "--repair"], self.broken
        # A list is selected as its page is, but for its size, and for damage. It has no links from elsewhere.
        self.gone_lists = {entry.list for entry in self.entries if entry.list and entry.url in expected and verb not in ("larger", "repair")}
        if verb == "entries" and len(expected) < count:
            return words, None
        return words, expected - self.linked


def state(folder):
    """All files with what is in them and whose they are; the time of a record is that of its last use."""
    found = {}
    for parent, folders, names in os.walk(folder):
        for name in names + folders:
            file = os.path.join(parent, name)
            status = os.lstat(file)
            content = os.readlink(file) if os.path.islink(file) else open(file, "rb").read() if os.path.isfile(file) else None
            found[file] = (status.st_mode, status.st_uid, content)
    return found


def test_world(seed):
    """What a command removes is what it has to remove, and it touches nothing else; what another process stores meanwhile is whole afterwards."""
    if os.geteuid() != 0 and draw(seed)["owner"] != "self":
        pytest.skip("the rights of root: not here")
    world = World(seed)
    words, expected = world.command()
    # Too many entries have links from elsewhere: then none is removed.
    is_unmet, expected = expected is None, expected or set()
    worlds.surroundings()
    busy = {"again": [], "blobs": {}}
    if world["who"] == "storing":
        busy = {"again": [entry.record for entry in world.kept_apart],
                "blobs": {entry.record + "-blob": entry.blob for entry in world.kept_apart if entry.blob}}
        expected -= {entry.url for entry in world.kept_apart}
    before, holder = state(path("")), None
    if world["who"] in ("watching", "storing"):
        # Another user may not have this Python, and so it becomes one only then.
        user = str(worlds.STRANGER if world["owner"] == "other" else 0)
        holder = subprocess.Popen([sys.executable, "-SE", "-c", WORKER, world.cache.folder, json.dumps(busy), user], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        assert holder.stdout.readline() == "ready\n"
    elif world["who"] == "ours":
        from products import tool
        holder = subprocess.Popen([tool, "watch", "-c", world.cache.folder, "--for", "20s"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env=worlds.surroundings())
    try:
        result = worlds.run(words[0], "-c", world.cache.folder, *words[1:], "--yes", "--json")
        # Only now it may stop: whatever it stored in the meantime has to be there.
        if world["who"] in ("watching", "storing"):
            rounds, _ = holder.communicate("\n", timeout=60)
            assert world["who"] == "watching" or int(rounds) > 0
    finally:
        if holder:
            holder.kill()
            holder.wait()
    # As another user, it may not look into the network process of anybody else, such as that of a test that runs at the same time.
    unseen = world["owner"] == "other" and result.returncode == 75
    refused = world["verb"] == "secure" and (world["who"] in ("watching", "storing") or unseen)
    if refused:
        assert result.returncode == 75, result
        expected, world.gone_lists = set(), set()
    else:
        # A body that another record has, too, is not overwritten.
        kept = world["verb"] != "size" and world.linked or world["verb"] == "secure"
        assert result.returncode in ((0, 1, 3) if world["verb"] == "repair" else (1,) if is_unmet else (0, 3) if kept else (0,)), result
    removed = [entry for entry in world.entries + world.kept_apart if entry.url in expected]
    left = [entry for entry in world.entries + world.kept_apart if entry.url not in expected]
    gone = {file for entry in removed for file in entry.files}
    used = {entry.blob for entry in left}
    gone |= world.gone_lists
    # Without the link of its record, a body belongs to none, and a repair removes it.
    gone |= {entry.blob for entry in removed if entry.blob and entry.blob not in used and entry.blob != world.linked_blob}
    after = state(path(""))
    missing = {file for file in before if file.startswith(path("cache")) and file not in after}
    if world["who"] == "storing":
        # A body that is removed and stored again is new.
        gone -= {entry.blob for entry in world.kept_apart}
        missing -= {entry.blob for entry in world.kept_apart}
    assert missing == gone & before.keys(), (words, sorted(missing ^ (gone & before.keys())), result)
    changed = {file for file in before.keys() & after.keys() if before[file] != after[file] and not file.startswith((path("state"), path("home")))}
    assert not changed, (words, changed)
    assert not [file for file in after if file.startswith((path("cache"), path("outside"))) and file not in before], words
    if not refused and world["verb"] != "repair":
        shown = json.loads(result.stdout)["removed"]["entries"]
        assert shown == len(removed) + len(world.gone_lists), (words, shown, len(removed))
    # Nothing is left to do, and what is left is sound.
    again = worlds.run(words[0], "-c", world.cache.folder, *words[1:], "--dry-run", "--json")
    if world["verb"] not in ("repair",) and not refused and again.returncode in (0, 3):
        assert json.loads(again.stdout)["removed"]["entries"] == 0 or world["who"] == "storing", (words, again)
    findings = json.loads(worlds.run("check", "--full", world.cache.folder, "--json").stdout)["findings"]
    errors = [finding["code"] for finding in findings if finding["severity"] == "error"]
    if world["verb"] == "repair" and world.broken & world.linked:
        errors = [code for code in errors if code != "undecodable"]
    assert not errors or world["neighbour"] in ("foreign files", "symbolic links") and set(errors) <= {"not-a-regular-file"}, (words, errors)
