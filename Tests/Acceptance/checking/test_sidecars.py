"""Keeps ETags in sidecar files as an app does, and has the program compare, send, remove and rebuild them.

hashlib makes their names and plistlib their archives, so that none of them comes from the program.
"""

import hashlib
import json
import os
import plistlib
import subprocess

import pytest

import scratch
from products import tool
from scratch import make, path, read, run, tree

FORMATS = ["apple", "foundation"]


def archive(text):
    """A string as NSKeyedArchiver archives it."""
    return plistlib.dumps(
        {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": plistlib.UID(1)}, "$objects": ["$null", text]},
        fmt=plistlib.FMT_BINARY, sort_keys=False)


def text_of(file):
    loaded = plistlib.loads(read(file))
    return loaded["$objects"][loaded["$top"]["root"].data]


def name(url):
    return hashlib.md5(url.encode()).hexdigest()


def entries(cache):
    lines = run("list", "-c", cache, "--format", "ndjson", "--show-secrets", "--columns", "id,url,request-url,etag,method").stdout
    return [json.loads(line) for line in lines.splitlines()]


def app(label, *options):
    """A cache, the folder of the sidecar files that its app has written, and the entries of these files."""
    os.mkdir(path(label))
    cache = make(f"{label}/cache", *options)
    folder = path(f"{label}/etags")
    os.mkdir(folder)
    tagged = []
    seen = set()
    for entry in entries(cache):
        # The app hashes the URL that it asks for.
        url = entry["request_url"] or entry["url"]
        if entry["etag"] and url and entry["method"] in ("GET", None) and url not in seen:
            seen.add(url)
            tagged.append((entry["id"], url, entry["etag"]))
            keep(folder, name(url), archive(entry["etag"]))
    assert len(tagged) > 5, tagged
    return cache, folder, tagged


def keep(folder, file, data):
    """Writes a file that is no longer young."""
    with open(os.path.join(folder, file), "wb") as opened:
        opened.write(data)
    os.utime(os.path.join(folder, file), (1_700_000_000, 1_700_000_000))


def findings(cache, folder, *options, status=(1,)):
    words = [tool, "check", "-c", cache, "--sidecars", folder, "--format", "json", *options]
    result = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL)
    # A made-up cache has findings of its own, or none.
    assert result.returncode in status, (words, result)
    result = json.loads(result.stdout)
    return [(f["code"], f["severity"], os.path.basename(f["path"] or "")) for f in result["findings"] if "sidecar" in f["code"]], result


def damage(kind, folder, tagged):
    """Makes each finding about sidecar files; returns the names of the files by their findings."""
    keep(path(kind), "outside", archive("outside"))
    names = {"orphan": name("https://gone.example/"), "different": name(tagged[0][1]), "missing": name(tagged[1][1]),
             "link": name("https://link.example/"), "broken": name("https://broken.example/"), "young": name("https://young.example/")}
    keep(folder, names["orphan"], archive("gone"))
    keep(folder, names["different"], archive("another"))
    os.remove(os.path.join(folder, names["missing"]))
    os.symlink("../outside", os.path.join(folder, names["link"]))
    keep(folder, names["broken"], b"bplist00" + bytes(40))
    keep(folder, "notes.txt", b"mine")
    keep(folder, names["young"], archive("young"))
    os.utime(os.path.join(folder, names["young"]))
    return names


@pytest.mark.parametrize("kind", FORMATS)
def test_list(kind):
    """'list' shows the ETag of each sidecar file."""
    cache, folder, tagged = app(kind, "--format", kind)
    before = tree(path(kind))
    lines = run("list", "-c", cache, "--sidecars", folder, "--columns", "id,sidecar-etag", "--format", "ndjson").stdout.splitlines()
    shown = {entry["id"]: entry["sidecar_etag"] for entry in map(json.loads, lines)}
    assert all(shown[id] == etag for id, _, etag in tagged), shown
    run("list", "-c", cache, "--columns", "sidecar-etag", status=64)
    run("list", "-c", cache, "--sidecars", folder, status=64)
    run("list", "-c", cache, "--sidecars", path("nothing"), "--columns", "sidecar-etag", status=66)
    assert tree(path(kind)) == before


@pytest.mark.parametrize("kind", FORMATS)
def test_show(kind):
    """'show --curl' sends the ETag of the sidecar file, once."""
    cache, folder, tagged = app(kind, "--format", kind)
    before = tree(path(kind))
    command = run("show", "-c", cache, "--id", str(tagged[0][0]), "--curl", "--sidecars", folder).stdout.decode()
    assert f"--header 'If-None-Match: {tagged[0][2]}'" in command, command
    command = run("show", "-c", cache, "--id", str(tagged[0][0]), "--curl", "--conditional", "--sidecars", folder).stdout.decode()
    assert command.lower().count("if-none-match") == 1, command
    run("show", "-c", cache, "--id", str(tagged[0][0]), "--sidecars", folder, status=64)
    assert tree(path(kind)) == before


@pytest.mark.parametrize("kind", FORMATS)
def test_check(kind):
    """'check' reports each sidecar file that does not belong to its entry, and changes nothing."""
    cache, folder, tagged = app(kind, "--format", kind)
    before = tree(path(kind))
    clean, _ = findings(cache, folder, status=(0, 1))
    assert [f for f in clean if f[0] != "missing-sidecar"] == [], clean
    assert tree(path(kind)) == before
    names = damage(kind, folder, tagged)
    found, _ = findings(cache, folder)
    expected = {
        ("orphan-sidecar", "warning", names["orphan"]), ("different-sidecar", "warning", names["different"]), ("missing-sidecar", "note", ""),
        ("unreadable-sidecar", "warning", names["link"]), ("unreadable-sidecar", "warning", names["broken"]),
        ("not-a-sidecar", "note", "notes.txt"), ("young-sidecar", "note", names["young"])}
    assert set(found) == expected, found


@pytest.mark.parametrize("kind", FORMATS)
def test_repair(kind):
    """A repair removes orphans and writes missing sidecar files, and changes no other file."""
    cache, folder, tagged = app(kind, "--format", kind)
    names = damage(kind, folder, tagged)
    orphan, missing = names["orphan"], names["missing"]
    changed = tree(path(kind))
    dry, result = findings(cache, folder, "--repair=sidecars", "--dry-run")
    assert result["repair"]["sidecars"] == {"removed": [orphan], "written": [missing], "skipped": 0}, result["repair"]
    text = run("check", "-c", cache, "--sidecars", folder, "--repair=sidecars", "--dry-run", status=1).stdout.decode()
    assert f"Would remove 1 sidecar file\n  {orphan}\nWould write 1 sidecar file\n  {missing}\n" in text, text
    run("check", "-c", cache, "--sidecars", folder, "--repair=sidecars", status=64)
    run("check", "-c", cache, "--repair=sidecars", status=64)
    run("check", "-c", cache, "--sidecars", folder, "--repair=sidecars", "--plan", path("plan.json"), status=64)
    assert tree(path(kind)) == changed
    _, result = findings(cache, folder, "--repair=sidecars", "--yes")
    assert result["repair"]["sidecars"] == {"removed": [orphan], "written": [missing], "skipped": 0}, result["repair"]
    assert text_of(os.path.join(folder, missing)) == tagged[1][2]
    after = tree(path(kind))
    assert {file for file in changed if after.get(file) != changed[file]} == {f"etags/{orphan}"}
    assert set(after) - set(changed) == {f"etags/{missing}"}


@pytest.mark.parametrize("kind", FORMATS)
def test_purge(kind):
    """'purge' removes the sidecar files of removed entries, but not one that it cannot read."""
    cache, folder, tagged = app(kind, "--format", kind)
    different = damage(kind, folder, tagged)["different"]
    gone = tagged[2:4]
    words = [word for id, _, _ in gone for word in ("--id", str(id))]
    names = sorted(name(url) for _, url, _ in gone)
    before = tree(path(kind))
    text = run("purge", "-c", cache, *words, "--sidecars", folder, "--dry-run").stdout.decode()
    assert "Would remove 2 sidecar files\n  " + "\n  ".join(names) + "\n" in text, text
    run("purge", "-c", cache, *words, "--sidecars", folder, "--plan", path("plan.json"), status=64)
    assert tree(path(kind)) == before
    result = json.loads(run("purge", "-c", cache, *words, "--sidecars", folder, "--yes", "--format", "json").stdout)
    assert result["sidecars"] == {"removed": names, "written": [], "skipped": 0}, result
    left = {file for file in tree(folder)}
    assert left == {file[len("etags/"):] for file in before if file.startswith("etags/")} - set(names)
    # A sidecar file that cannot be read is kept even if its entry is removed.
    keep(folder, different, b"damage")
    run("purge", "-c", cache, "--id", str(tagged[0][0]), "--sidecars", folder, "--yes")
    assert read(os.path.join(folder, different)) == b"damage" and text_of(path(f"{kind}/outside")) == "outside"


def test_cleared():
    """A cleared cache has no URL that shows how sidecar files are named, so '--sidecar-names' is needed to remove them."""
    # A folder without entries is no Foundation cache.
    kind = "apple"
    cache, folder, tagged = app(kind, "--format", kind)
    names = damage(kind, folder, tagged)
    keep(folder, names["different"], b"damage")
    run("purge", "-c", cache, "--all", "--yes")
    codes = {code for code, _, _ in findings(cache, folder)[0]}
    assert "unknown-sidecar-names" in codes and "orphan-sidecar" not in codes, codes
    _, result = findings(cache, folder, "--sidecar-names", "md5", "--repair=sidecars", "--yes")
    # The orphan, and the sidecar files of the entries but for the damaged and the missing one.
    assert len(result["repair"]["sidecars"]["removed"]) == len(tagged) - 1, result["repair"]
    left = set(os.listdir(folder))
    assert left == {names["link"], names["broken"], names["young"], names["different"], "notes.txt"}, left


def test_discover():
    """'discover' names the folder of sidecar files; a folder that is a link is refused."""
    kind = "apple"
    cache, folder, tagged = app(kind, "--format", kind)
    damage(kind, folder, tagged)
    os.symlink("etags", path(f"{kind}/link"))
    run("check", "-c", cache, "--sidecars", path(f"{kind}/link"), status=64)
    found = json.loads(run("discover", path(kind), "--format", "json").stdout)
    assert any(f"'{folder}'" in note for store in found["stores"] for note in store["notes"]), found


def test_naming():
    """A repair knows how sidecar files are named even if it removes the only entry that shows it."""
    cache = make("naming", "--faults", "missing-bodies", seed=7)
    folder = path("naming-etags")
    os.mkdir(folder)
    broken = {finding["id"] for finding in findings(cache, folder)[1]["findings"] if finding["code"] == "missing-body-file"}
    entry = next(entry for entry in entries(cache) if entry["id"] in broken and entry["etag"])
    keep(folder, name(entry["request_url"] or entry["url"]), archive(entry["etag"]))
    words = ["--repair=rows,bodies,sidecars"]
    _, dry = findings(cache, folder, *words, "--dry-run")
    _, real = findings(cache, folder, *words, "--yes", status=(0,))
    assert real["repair"]["sidecars"] == dry["repair"]["sidecars"], (real["repair"], dry["repair"])
    assert real["repair"]["sidecars"]["written"] and sorted(os.listdir(folder)) == sorted(real["repair"]["sidecars"]["written"]), real


def test_refusals():
    """Options for sidecar files that make no sense, and folders that are none, are refused, and nothing changes."""
    os.mkdir(path("etags"))
    cache = make("cache")
    os.symlink("etags", path("linked"))
    keep(scratch.root, "file", b"")
    for words, status, message in [
        (["list", "--columns", "sidecar-etag"], 64, "the column 'sidecar-etag' needs sidecar files\nhint: give their folder with '--sidecars'\n"),
        (["list", "--sort", "sidecar-etag"], 64, "the column 'sidecar-etag' needs sidecar files\nhint: give their folder with '--sidecars'\n"),
        (["list", "--sidecars", path("etags")], 64, "'--sidecars' needs the column 'sidecar-etag'\nhint: add '--columns sidecar-etag'\n"),
        (["show", "1", "--sidecars", path("etags")], 64, "'--sidecars' needs '--curl': it adds the ETag of a sidecar file to the request."),
        (["check", "--repair=sidecars"], 64, "'--repair=sidecars' needs '--sidecars DIR'."),
        (["check", "--sidecar-names", "md5"], 64, "'--sidecar-names' needs '--sidecars'."),
        (["check", "--sidecars", path("etags"), "--repair=sidecars", "--plan", path("plan")], 64, "'--plan' and '--sidecars' cannot be combined."),
        (["purge", "--all", "--sidecars", path("etags"), "--plan", path("plan")], 64, "'--plan' and '--sidecars' cannot be combined."),
        (["check", "--sidecars", path("linked")], 64,
         f"error: '{path('linked')}' is a symbolic link, which '--sidecars' does not follow\nhint: give the folder that it points to\n"),
        (["check", "--sidecars", path("nothing")], 66, f"error: '{path('nothing')}': No such file or directory\n"),
        (["check", "--sidecars", path("file")], 66, f"error: '{path('file')}': Not a directory\n"),
    ]:
        result = run(words[0], "-c", cache, *words[1:], status=status)
        assert message in result.stderr.decode() and result.stdout == b"", (words, result)
    result = run("purge", "--all-caches", "--all", "--sidecars", path("etags"), status=64)
    assert b"'--sidecars' is the folder of one cache and cannot be combined with '--all-caches'." in result.stderr, result
    assert os.listdir(path("etags")) == [] and not os.path.exists(path("plan"))
