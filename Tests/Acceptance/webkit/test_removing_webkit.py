"""Removes entries of WebKit caches, and compares every file that is left with what must be left."""

import json
import os
import random
import shutil
import subprocess
import time

import pytest

import scratch
import strace
import webkit_samples
from products import tool
from scratch import path, run
from webkit_records import Cache


def aged(name, to="cache"):
    """An unpacked cache whose bodies are older than a minute: a younger one may belong to an entry that is just being stored."""
    return webkit_samples.unpack(name, to)


def remove(cache, *words, status=0):
    return json.loads(run("purge", "-c", cache, *words, "--yes", "--format", "json", status=status).stdout)


@pytest.mark.parametrize("name", webkit_samples.WRITTEN)
@pytest.mark.parametrize("seed", range(4))
def test_removes_only_what_was_named(name, seed):
    cache = aged(name)
    records = webkit_samples.records(name)
    chosen = random.Random(seed).sample(sorted(records), random.Random(seed).randrange(1, len(records)))
    expected = webkit_samples.without(cache, [records[key] for key in chosen])
    receipt = remove(cache, *chosen)
    assert receipt["removed"]["entries"] == len(chosen) and receipt["skipped"] == 0
    assert webkit_samples.files(cache) == expected


def test_all():
    """Nothing is left but the salt and the folders; WebKit's own listing goes as well."""
    cache = aged("partitions/store")
    before = webkit_samples.files(cache)
    with open(os.path.join(cache, "Version 17", "dump.json"), "w") as listing:
        listing.write("{}")
    remove(cache, "--all")
    salt = os.path.join("Version 17", "salt")
    assert os.path.isdir(os.path.join(cache, "Version 17", "Blobs"))
    assert webkit_samples.files(cache) == {salt: before[salt]}
    assert json.loads(run("usage", cache, "--format", "json").stdout)["entries"] == 0


def test_by_url_age_and_limit():
    name = "plain/store"
    records = webkit_samples.records(name)
    cache = aged(name)
    url = "http://site.example/s4097"
    expected = webkit_samples.without(cache, [record for record in (records | webkit_samples.lists(name)).values() if record["url"] == url])
    assert remove(cache, url)["removed"]["entries"] == 1
    assert webkit_samples.files(cache) == expected
    cache = aged(name)
    receipt = json.loads(run("enforce", "-c", cache, "--max-entries", "10", "--order", "oldest", "--yes", "--format", "json").stdout)
    kept = {json.loads(line)["id"] for line in run("list", cache, "--format", "ndjson").stdout.splitlines()}
    # The oldest go first; the list of what a page loaded goes with it, or before it.
    found = records | webkit_samples.lists(name)
    newest = sorted(found, key=lambda key: (found[key]["time"], key))[-10:]
    assert receipt["removed"]["entries"] == len(found) - 10 and kept <= set(newest)
    assert len(newest) - len(kept) == len([key for key in newest if key in webkit_samples.lists(name)]) - len(kept & webkit_samples.lists(name).keys())


def test_changed_since_the_plan():
    """An entry that WebKit has refreshed since the plan was made is kept; one that it has only read is not."""
    name = "plain/store"
    cache = aged(name)
    records = webkit_samples.records(name)
    refreshed, read = sorted(records)[:2]
    run("purge", "-c", cache, refreshed, read, "--plan", path("plan.json"))
    file = os.path.join(cache, "Version 17", records[refreshed]["file"])
    other = aged(name, "other")
    # A record of another time, with its checksum.
    shutil.copyfile(os.path.join(other, "Version 17", records[sorted(records)[2]]["file"]), file)
    os.utime(os.path.join(cache, "Version 17", records[read]["file"]))
    receipt = json.loads(run("apply", path("plan.json"), "--yes", "--format", "json", status=None).stdout)
    assert receipt["removed"]["entries"] == 1 and receipt["skipped"] == 1, receipt
    assert os.path.exists(file) and not os.path.exists(os.path.join(cache, "Version 17", records[read]["file"]))


def test_young_body_is_left():
    """A file in `Blobs` that is younger than a minute may be about to get its record."""
    name = "large/store"
    cache = aged(name)
    records = webkit_samples.records(name)
    [key] = [key for key, record in records.items() if record["url"].endswith("/big/4097")]
    blob = os.path.join(cache, "Version 17", "Blobs", records[key]["body_hash"])
    os.utime(blob)
    remove(cache, key)
    assert os.path.exists(blob) and os.lstat(blob).st_nlink == 1


@pytest.mark.parametrize("seconds", [-2 ** 31, 0, 9_400_000_000, 10_000_000_000, 2 ** 33])
def test_odd_times_of_bodies(seconds):
    """The file of a body can have any time, also one that does not fit into nanoseconds."""
    name = "large/store"
    cache = aged(name)
    records = webkit_samples.records(name)
    [key] = [key for key, record in records.items() if record["url"].endswith("/big/4097")]
    os.utime(os.path.join(cache, "Version 17", "Blobs", records[key]["body_hash"]), (seconds, seconds))
    assert remove(cache, key)["removed"]["entries"] == 1
    assert key not in {json.loads(line)["id"] for line in run("list", cache, "--format", "ndjson").stdout.splitlines()}


def test_linked_version():
    """A version that is a link leads out of the folder, and is not followed; a folder without a salt is not found."""
    cache, other = aged("plain/store"), aged("large/store", "other")
    os.symlink(os.path.join(other, "Version 17"), os.path.join(cache, "Version 99"))
    before = webkit_samples.files(other)
    assert json.loads(run("usage", cache, "--format", "json").stdout)["cache"]["schema_version"] == 17
    remove(cache, "--all")
    assert webkit_samples.files(other) == before
    os.remove(os.path.join(cache, "Version 17", "salt"))
    found = json.loads(run("discover", scratch.root, "--format", "json").stdout)["stores"]
    assert [store["path"] for store in found] == [other]


@pytest.mark.parametrize("way", ["purge", "enforce", "apply"])
def test_page_alone(way):
    """The list of what a page loaded is an entry of its own: what was not selected stays."""
    cache = Cache(path("cache"))
    sites = ["", "a.example"]
    for partition in sites:
        for number in range(3):
            url = f"http://a.example/{number}"
            cache.store(url, mime="text/html", partition=partition, time=1_000_000_000 + number)
            cache.store_list(url, [(f"{url}/a.css", [("Referer", url)])], partition=partition)
    words = ["--mime", "text/html", "--where", 'path = "/1"', "--partition", "a.example"]
    if way == "enforce":
        # The oldest two of twelve are both pages with the number 0.
        receipt = json.loads(run("enforce", "-c", cache.folder, "--max-entries", "10", "--order", "oldest", "--yes", "--format", "json").stdout)
        gone = {("", 0), ("a.example", 0)}
    elif way == "apply":
        run("purge", "-c", cache.folder, *words, "--plan", path("plan.json"))
        receipt = json.loads(run("apply", path("plan.json"), "--yes", "--format", "json").stdout)
        gone = {("a.example", 1)}
    else:
        receipt = remove(cache.folder, *words)
        gone = {("a.example", 1)}
    assert receipt["removed"]["entries"] == len(gone) and receipt["skipped"] == 0, receipt
    for partition in sites:
        for number in range(3):
            url = f"http://a.example/{number}"
            for type in ("Resource", "SubResources"):
                is_gone = type == "Resource" and (partition, number) in gone
                assert os.path.exists(cache.path(url, partition, type)) != is_gone, (partition, number, type)


def test_list_and_page_in_one_command():
    """A host selects both, and each counts; a type selects one of them."""
    cache = Cache(path("cache"))
    for number in range(20):
        cache.store(f"http://a.example/{number}")
        cache.store_list(f"http://a.example/{number}")
    cache.store_list("http://a.example/without-page")
    receipt = remove(cache.folder, "--host", "a.example")
    assert receipt["removed"]["entries"] == 41 and receipt["skipped"] == 0, receipt
    cache.store("http://a.example/page")
    cache.store_list("http://a.example/page")
    assert remove(cache.folder, "--where", "type = subresources")["removed"]["entries"] == 1
    assert os.path.exists(cache.path("http://a.example/page"))


def test_own_listing():
    """WebKit's own listing has what was removed: a removal of some entries names it, and the last one takes it along."""
    cache = Cache(path("cache"))
    for number in range(3):
        cache.store(f"http://a.example/{number}")
    assert b"dump.json" not in run("purge", "-c", cache.folder, "http://a.example/0", "--yes").stderr
    listing = os.path.join(cache.root, "dump.json")
    with open(listing, "w") as file:
        file.write("x" * 1_000)
    result = run("purge", "-c", cache.folder, "http://a.example/1", "--yes")
    assert b"dump.json" in result.stderr and b"rm " in result.stderr and os.path.exists(listing), result
    [finding] = [finding for finding in json.loads(run("audit", cache.folder, "--format", "json", status=None).stdout)["findings"]
                 if finding["rule"] == "privacy/listed"]
    assert (finding["place"], finding["name"], finding["bytes"]) == ("file", "dump.json", 1_000), finding
    run("purge", "-c", cache.folder, "--all", "--yes")
    assert not os.path.exists(listing)
    assert b"privacy/listed" not in run("audit", cache.folder, status=None).stdout


@pytest.mark.needs_strace
@pytest.mark.parametrize("fault", range(1, 40, 3))
def test_killed_anywhere(fault):
    """However a removal ends, WebKit finds no body without its record, the next command removes a record without its body, which it could not select by
    its size any more, and then no file of it is left in `Blobs`."""
    name = "large/store"
    cache = aged(name)
    records = webkit_samples.records(name)
    version = os.path.join(cache, "Version 17")
    before = webkit_samples.files(cache)
    chosen = [key for key, record in records.items() if not record["body_inline"]]
    environment = dict(os.environ, XDG_STATE_HOME=path("state"), HOME=path("home"))
    subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject=unlinkat:signal=KILL:when={fault}", tool, "purge", "-c", cache, *chosen, "--yes"],
                   capture_output=True, env=environment, timeout=60)
    for folder, _, names in os.walk(os.path.join(version, "Records")):
        for file in names:
            assert not file.endswith("-blob") or file[:-5] in names
    # The rest is as it was.
    left = webkit_samples.files(cache)
    assert all(before[file] == data for file, data in left.items())
    kept = {records[key]["file"] for key in records if key not in chosen}
    assert all(os.path.join("Version 17", file) in left for file in kept)
    subprocess.run([tool, "enforce", "-c", cache, "--max-entries", "100000", "--yes"], capture_output=True, env=environment, timeout=60, check=True)
    assert all(os.path.exists(os.path.join(version, records[key]["file"].removeprefix("Version 17/") + "-blob")) for key in chosen
               if os.path.exists(os.path.join(version, records[key]["file"].removeprefix("Version 17/"))))
    subprocess.run([tool, "purge", "-c", cache, *chosen, "--yes"], capture_output=True, env=environment, timeout=60)
    links = {file: os.lstat(os.path.join(version, "Blobs", file)).st_nlink for file in os.listdir(os.path.join(version, "Blobs"))}
    assert all(count > 1 for count in links.values()), links


def test_refused():
    """What would write into a cache that WebKit has mapped into memory is refused, and nothing changes."""
    cache = aged("plain/store")
    before = scratch.tree(cache)
    for words in ["expire", "--all", "--clear-user-info", "x"], ["revalidate", "--all", "--refresh", "--yes"]:
        result = run(words[0], "-c", cache, *words[1:], status=None)
        assert result.returncode != 0 and scratch.tree(cache) == before, (words, result)
