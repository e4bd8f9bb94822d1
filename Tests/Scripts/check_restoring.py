"""Exports caches, imports them into new ones without options, and compares both: a backup is a whole one.

    check_restoring.py URLCACHE-ADMIN SAMPLE-CACHE [FOLDER OF REAL CACHES]

Prints a line for each case, with figures on the standard error, and ends at the first that is not as it should be.
"""

import glob, json, os, plistlib, shutil, sqlite3, subprocess, sys

sys.dont_write_bytecode = True
from scratch import make, path, root, run, tool, tree

samples = sys.argv[3] if len(sys.argv) > 3 else ""
figures = {"caches": 0, "entries": 0, "differences": 0}


def differences(first, second):
    """What 'diff' says: how many entries differ, and how many are the same."""
    result = subprocess.run([tool, "diff", first, second, "--format", "json"], capture_output=True, stdin=subprocess.DEVNULL)
    found = json.loads(result.stdout)
    return result.returncode, len(found["differences"]), found["same"]


def round_trip(cache, ending="tar"):
    """From a cache to an archive to a new cache, without options."""
    name = os.path.join(root, f"trip{figures['caches']}")
    archive, new = f"{name}.{ending}", f"{name}.new"
    run("export", "-c", cache, "-o", archive)
    result = run("import", archive, "-c", new)
    status, count, same = differences(cache, new)
    assert (status, count) == (0, 0), (cache, status, count)
    assert same == int(run("list", "-c", cache, "--count").stdout), (cache, same)
    figures["caches"] += 1
    figures["entries"] += same
    figures["differences"] += count
    # Once more changes nothing.
    before = tree(new)
    run("import", archive, "-c", new)
    assert tree(new) == before, cache
    return new, result.stdout.decode()


def kind(cache):
    description = json.loads(run("list", "-c", cache, "--limit", "0", "--format", "json").stdout)["cache"]
    return description["format"], description["schema_version"]


def real():
    before = dict(figures)
    for folder in sorted(glob.glob(os.path.join(samples, "*")) if samples else []):
        cache = path(f"real-{os.path.basename(folder)}")
        shutil.copytree(folder, cache)
        if not os.path.basename(folder).startswith("schema-"):
            run("export", "-c", cache, "-o", path("none.tar"), status=65)
            continue
        for ending in ["tar", "zip"]:
            new, said = round_trip(cache, ending)
        schema = kind(cache)[1]
        assert kind(new) == ("apple", schema if schema in (202, 203) else 203), (folder, kind(new))
        assert f"into a new Apple cache (schema {kind(new)[1]})" in said, said
    count = {name: figures[name] - before[name] for name in figures}
    print("real caches:", count, file=sys.stderr)
    print("real caches: ok" if count["caches"] else "real caches: not here", flush=True)


def made_up():
    before = dict(figures)
    faults = ["--faults", "missing-bodies,undecodable,orphan-files"]
    for number, options in enumerate([[], ["--schema", "202"], ["--no-large-bodies"], faults, ["--schema", "202", *faults]]):
        for seed in range(1, 6):
            cache = make(f"made{number}-{seed}", *options, entries=60, seed=seed)
            new, said = round_trip(cache, ["tar", "tar.zst", "tar.gz", "zip"][seed % 4])
            assert kind(new) == kind(cache) and f"60 of 60 entries into a new Apple cache (schema {kind(cache)[1]})" in said, said
    for seed in range(1, 11):
        cache = make(f"folder{seed}", "--format", "foundation", entries=60, seed=seed)
        new, said = round_trip(cache, ["tar", "tar.zst", "tar.gz", "zip"][seed % 4])
        assert kind(new) == ("foundation", None) and "60 of 60 entries into a new Foundation cache;" in said, said
    print("made-up caches:", {name: figures[name] - before[name] for name in figures}, file=sys.stderr)
    print("made-up caches: ok", flush=True)


def rows(cache):
    """The rows of the three tables, without the names of body files."""
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    database.text_factory = bytes
    found = [database.execute(f"SELECT * FROM cfurl_cache_{table} ORDER BY entry_ID").fetchall() for table in ["response", "blob_data"]]
    found.append(database.execute(
        "SELECT entry_ID, isDataOnFS, CASE WHEN isDataOnFS > 0 THEN 1 ELSE receiver_data END FROM cfurl_cache_receiver_data "
        "ORDER BY entry_ID").fetchall())
    database.close()
    return found


def broken():
    """What is broken in a cache is restored as it was: a backup is not the place for a repair."""
    cache = make("broken", entries=40, seed=9)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    for sql in ["DELETE FROM cfurl_cache_response WHERE entry_ID = 3", "DELETE FROM cfurl_cache_blob_data WHERE entry_ID = 4",
                "DELETE FROM cfurl_cache_receiver_data WHERE entry_ID = 5",
                "DELETE FROM cfurl_cache_response WHERE entry_ID = 40", "DELETE FROM cfurl_cache_blob_data WHERE entry_ID = 40",
                "UPDATE cfurl_cache_response SET request_key = NULL WHERE entry_ID IN (6, 7, 8)",
                "UPDATE cfurl_cache_response SET request_key = CAST(x'68747470733A2F2FFF' AS TEXT) WHERE entry_ID = 9",
                "UPDATE cfurl_cache_response SET partition = 'https://top.example' WHERE entry_ID = 10",
                "UPDATE cfurl_cache_response SET partition = CAST(x'FF00FF' AS TEXT) WHERE entry_ID = 11",
                "UPDATE cfurl_cache_blob_data SET response_object = NULL WHERE entry_ID = 12",
                "UPDATE cfurl_cache_blob_data SET request_object = x'00FF' WHERE entry_ID = 13",
                "UPDATE cfurl_cache_blob_data SET user_info = 'a text' WHERE entry_ID = 14",
                "UPDATE cfurl_cache_blob_data SET user_info = 17 WHERE entry_ID = 15",
                "UPDATE cfurl_cache_receiver_data SET receiver_data = NULL, isDataOnFS = 0 WHERE entry_ID = 16",
                "UPDATE cfurl_cache_receiver_data SET receiver_data = 'none', isDataOnFS = 0 WHERE entry_ID = 17",
                "UPDATE cfurl_cache_receiver_data SET receiver_data = '00000000-0000-4000-8000-000000000000', isDataOnFS = 1 "
                "WHERE entry_ID = 18",
                "UPDATE cfurl_cache_response SET storage_policy = NULL, version = 'x', hash_value = NULL WHERE entry_ID = 19"]:
        assert database.execute(sql).rowcount > 0, sql
    database.commit()
    database.close()
    new, _ = round_trip(cache)
    assert rows(new) == rows(cache)
    findings = lambda cache: sorted((item["code"], item["id"]) for item in json.loads(subprocess.run(
        [tool, "check", "-c", cache, "--format", "json"], capture_output=True).stdout)["findings"] if item["id"] != "none")
    # Body files that rows do not name any more are not in an archive.
    assert findings(new) == [item for item in findings(cache) if item[0] != "orphan-body-file"], (findings(new), findings(cache))
    print("broken entries: ok", flush=True)


def sources():
    """An archive can come from the standard input, and another cache can be imported as it is, or converted."""
    cache, folder = make("source", "--schema", "202", entries=50, seed=4), make("source-folder", "--format", "foundation", entries=50, seed=4)
    temporary = path("temporary")
    os.mkdir(temporary)
    environment = dict(os.environ, TMPDIR=temporary)
    for ending in ["tar.zst", "zip", "har", "warc.gz", "wacz"]:
        archive = path(f"input.{ending}")
        run("export", "-c", cache, "-o", archive)
        results = []
        for words, input in [([archive], b""), (["-"], open(archive, "rb").read())]:
            new = path(f"input-{ending}-{len(results)}")
            result = subprocess.run([tool, "import", *words, "-c", new, "--format", "json"], input=input, capture_output=True, env=environment)
            results.append((result.returncode, json.loads(result.stdout)["entries"], rows(new)))
        assert results[0] == results[1] and len(results[0][1]) == 50, ending
        assert not os.listdir(temporary)
        # HARs, WARCs and WACZs hold other methods than GET, which URLCache never answers.
        others = sum(entry["action"] == "other-method" for entry in results[0][1])
        assert results[0][0] == (3 if others else 0) and (others > 0) == (ending not in ["tar.zst", "zip"]), (ending, others)
        assert kind(path(f"input-{ending}-0")) == ("apple", 202 if others == 0 else 203)
    for words, input, message in [
            (["-"], b"", "error: 'standard input': it is neither"), (["-"], b"nothing of the kind", "error: 'standard input': it is neither")]:
        result = subprocess.run([tool, "import", *words, "-c", path("none")], input=input, capture_output=True)
        assert result.returncode == 65 and result.stderr.decode().startswith(message) and not os.path.exists(path("none")), result
    for number, (first, options, expected) in enumerate([
            (cache, [], ("apple", 202)), (os.path.join(cache, "Cache.db"), ["--create", "apple"], ("apple", 203)),
            (folder, [], ("foundation", None)), (folder, ["--create", "apple"], ("apple", 203))]):
        new, before = path(f"copy{number}"), tree(first) if os.path.isdir(first) else {}
        result = json.loads(run("import", first, "-c", new, *options, "--format", "json").stdout)
        assert result["created"] is True and result["added"]["entries"] == 50 and result["archive"]["format"] == kind(first)[0], result
        assert differences(first, new)[:2] == (0, 0) and kind(new) == expected, (first, kind(new))
        assert not os.path.isdir(first) or tree(first) == before
    # From an Apple cache a Foundation one takes what it can, and counts the rest.
    result = json.loads(run("import", cache, "-c", path("converted"), "--create", "foundation", "--format", "json", status=3).stdout)
    assert result["rejected"]["entries"] > 0 and result["added"]["entries"] + result["rejected"]["entries"] + result["skipped"]["entries"] == 50
    print("sources: ok", flush=True)


def destinations():
    """Where there is no cache, one is made; but not in a folder that holds something else."""
    apple, foundation = path("to-apple.tar"), path("to-foundation.tar")
    run("export", "-c", make("to-apple", "--schema", "202", entries=9), "-o", apple)
    run("export", "-c", make("to-foundation", "--format", "foundation", entries=9), "-o", foundation)
    os.mkdir(path("empty"))
    os.mkdir(path("full"))
    open(path("full/notes.txt"), "w").close()
    os.makedirs(path("org.swift.foundation.URLCache"))
    for archive, place, found, expected in [
            (apple, "new1", "new1", ("apple", 202)), (apple, "new2/", "new2", ("apple", 202)), (apple, "new3/Cache.db", "new3", ("apple", 202)),
            (apple, "empty", "empty", ("apple", 202)), (foundation, "new4", "new4", ("foundation", None)),
            (foundation, "new5/Cache.db", "new5", ("apple", 203)),
            (foundation, "org.swift.foundation.URLCache/app", "org.swift.foundation.URLCache/app", ("foundation", None))]:
        shown = run("import", archive, "-c", path(place), "-n").stdout.decode()
        assert shown.startswith("Would import 9 of 9 entries into a new "), shown
        assert not os.path.exists(path(found)) or found == "empty" and not os.listdir(path(found))
        result = json.loads(run("import", archive, "-c", path(place), "--format", "json").stdout)
        assert result["created"] is True and result["cache"]["path"] == path(found), result["cache"]
        assert kind(path(found)) == expected == (result["cache"]["format"], result["cache"]["schema_version"]), (place, result["cache"])
        again = json.loads(run("import", archive, "-c", path(place), "--format", "json").stdout)
        assert again["created"] is False and again["unchanged"]["entries"] == 9
    before = tree(root)
    for place, status in [("full", 65), ("full/Cache.db", 66), ("full/notes.txt", 65), ("none/of/these", 73)]:
        run("import", apple, "-c", path(place), status=status)
    assert tree(root) == before
    print("destinations: ok", flush=True)


def backups():
    """The command that the note after '--backup' shows restores all that is gone."""
    for number, (options, words) in enumerate([
            ([], ["purge", "--all"]), (["--format", "foundation"], ["purge", "--all"]), ([], ["enforce", "--max-entries", "7"]),
            (["--format", "foundation"], ["enforce", "--max-entries", "7"]),
            (["--faults", "undecodable"], ["check", "--repair=undecodable"])]):
        cache = make(f"it's {number} $HOME", *options, entries=30, seed=number)
        copy = path(f"copy of {number}")
        shutil.copytree(cache, copy)
        ids = sorted(entry["id"] for entry in json.loads(run("list", "-c", cache, "--format", "json", "--columns", "id").stdout)["entries"])
        # The name of the archive is relative, and the command is run elsewhere.
        result = subprocess.run([tool, *words, "-c", os.path.basename(cache), "--backup", f"a \"b\" {number}.tar.zst", "--yes"],
                                capture_output=True, cwd=root)
        assert result.returncode in (0, 1 if words[0] == "check" else 0), result
        note = next(line for line in result.stderr.decode().splitlines() if "restore with: " in line)
        command = note.split("restore with: ")[1]
        assert command.startswith("urlcache-admin import '/") and tree(cache) != tree(copy), note
        subprocess.run(["sh", "-c", command.replace("urlcache-admin", f"'{tool}'", 1)], check=True, capture_output=True, cwd="/")
        assert differences(copy, cache)[:2] == (0, 0), (words, differences(copy, cache))
        back = sorted(entry["id"] for entry in json.loads(run("list", "-c", cache, "--format", "json", "--columns", "id").stdout)["entries"])
        assert back == ids
    print("backups: ok", flush=True)


for check in [real, made_up, broken, sources, destinations, backups]:
    check()
