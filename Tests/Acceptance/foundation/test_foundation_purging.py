"""Removes entries from Foundation caches, and looks at every file that is left."""

import base64
import datetime
import hashlib
import json
import os
import re
import socket
import subprocess
import time

import pytest

import scratch
import strace
from heard_signals import hear_signals
from products import tool
from scratch import copy, path

pytestmark = pytest.mark.needs_linux
SUFFIX = ".storedcachedurlresponse"
EPOCH = datetime.datetime(2001, 1, 1)


def run(*arguments, status=0, **options):
    result = subprocess.run([tool, *arguments], capture_output=True, cwd="/", timeout=120, **options)
    assert result.returncode == status, (arguments, result)
    return result


def receipt(*arguments, **options):
    return json.loads(run(*arguments, "--format", "json", **options).stdout)


def make(name, *options, entries=60):
    return scratch.make(name, "--format", "foundation", "--no-large-bodies", *options, entries=entries, seed=7)


def put(folder, name, contents=b"mine"):
    made = os.path.join(folder, name)
    with open(made, "wb") as file:
        file.write(contents)
    return made


def replace(file, contents, time=None):
    """Gives a file other contents as Foundation does: by another file that takes its name."""
    with open(file + ".new", "wb") as output:
        output.write(contents)
    if time:
        os.utime(file + ".new", ns=(time, time))
    os.rename(file + ".new", file)


def files(folder):
    """All that is below a folder: what each name is, and what is in it."""
    result = {}
    for parent, folders, names in os.walk(folder):
        for name in folders + names:
            file = os.path.join(parent, name)
            status = os.lstat(file)
            contents = None
            if os.path.isfile(file) and not os.path.islink(file):
                contents = hashlib.sha256(scratch.read(file)).hexdigest()
            result[os.path.relpath(file, folder)] = (status.st_mode, status.st_ino, contents)
    return result


def entries(folder, *options):
    return {entry["id"]: entry for entry in map(json.loads, run(
        "list", "-c", folder, "--format", "ndjson", *options).stdout.splitlines())}


def total(folder):
    """What URLCache counts."""
    return sum(os.lstat(os.path.join(folder, name)).st_size for name in os.listdir(folder) if name.endswith(SUFFIX))


def stored_now(stock, folder, items):
    """Has Foundation store bodies for URLs, in a process that is returned."""
    process = subprocess.Popen([stock, "store", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(json.dumps([
        {"url": url, "status": 200, "headers": {"ETag": "1"}, "body": base64.b64encode(body).decode()}
        for url, body in items]).encode())
    process.stdin.close()
    process.stdin = None
    return process


def ended(process):
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, (process.returncode, errors[-2000:])
    return output


def test_every_second_entry():
    """The named entries are removed, and no other file is touched, whatever is in the folder."""
    folder = make("half", "--faults", "undecodable,missing-bodies,orphan-files")
    put(folder, "notes.txt")
    os.makedirs(os.path.join(folder, "folder", "deep"))
    put(os.path.join(folder, "folder", "deep"), "7.YQAtMQAvAA==" + SUFFIX)
    os.symlink("notes.txt", os.path.join(folder, "link"))
    before, usage = files(folder), total(folder)
    ids = [identifier for identifier in entries(folder)][::2]
    sizes = sum(os.path.getsize(os.path.join(folder, name + SUFFIX)) for name in ids)
    words = [word for identifier in ids for word in ("--id", identifier)]
    result = receipt("purge", "-c", folder, *words, "--yes")
    assert [entry["id"] for entry in result["entries"]] == ids and result["skipped"] == 0, result
    assert (result["footprint_before"], result["footprint_after"]) == (usage, usage - sizes) == (usage, total(folder))
    gone = {name + SUFFIX for name in ids}
    assert files(folder) == {name: fact for name, fact in before.items() if name not in gone}
    assert len(gone) == 30
    text = run("purge", "-c", folder, "--all", "--yes").stdout.decode()
    assert re.match(r"Removed 30 of 30 entries, .* of bodies\nFreed .* on disk\n", text), text


@pytest.mark.parametrize(("verb", "options"), [
    ("purge", ["--larger-than", "500"]), ("purge", ["--older-than", "30d"]), ("purge", ["--all"]), ("enforce", ["--max-entries", "20"]),
    ("enforce", ["--max-size", "200K"]), ("enforce", ["--max-size", "0"]), ("enforce", ["--max-entry-size", "900", "--low", "50%"])],
    ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_dry_run(verb, options):
    """A dry run reports what the real run does, of every command, and a plan does later what the command does at once."""
    origin = make("origin", "--faults", "undecodable,orphan-files", entries=120)
    plan = path("plan.json")
    options = [*options, "--at", "2026-01-01T00:00:00Z"]
    folder, later = copy(origin, "wet"), copy(origin, "later")
    before = files(folder)
    dry = run(verb, "-c", folder, *options, "-n", "--format", "json").stdout
    assert files(folder) == before
    wet = run(verb, "-c", folder, *options, "-y", "--format", "json").stdout
    assert dry.replace(b'"dry_run":true', b'"dry_run":false') == wet, (verb, options)
    assert json.loads(wet)["footprint_after"] == total(folder) < total(later), (verb, options, json.loads(wet))
    run(verb, "-c", later, *options, "--plan", plan)
    planned = run("apply", plan, "-n", "--format", "json").stdout
    assert files(later).keys() == before.keys()
    applied = run("apply", plan, "-y", "--format", "json").stdout
    assert planned.replace(b'"dry_run":true', b'"dry_run":false') == applied
    same = ("skipped", "footprint_before", "footprint_after")
    assert [json.loads(applied)[name] for name in same] == [json.loads(wet)[name] for name in same]
    # Only 'enforce' counts orphans, and here there are none.
    assert {**json.loads(applied)["removed"], "orphans": 0, "orphan_bytes": 0} == \
        {"orphans": 0, "orphan_bytes": 0, **json.loads(wet)["removed"]}, (verb, options)
    assert files(later).keys() == files(folder).keys(), (verb, options)


def test_changed_since(stock_url_cache):
    """A file that changed since the plan was made is kept, and one that is gone is no error."""
    folder, plan = make("changed"), path("changed.json")
    urls = [entry["url"] for entry in entries(folder).values()]
    names = sorted(os.listdir(folder))
    run("purge", "-c", folder, "--all", "--plan", plan)
    nth = lambda number: os.path.join(folder, names[number])
    status = os.stat(nth(1))
    replace(nth(0), b"other contents")
    # Of the same length and time; only the number of the file tells.
    replace(nth(1), b"x" * status.st_size, status.st_mtime_ns)
    with open(nth(2), "r+b") as file:
        file.write(b"y")
    os.remove(nth(3))
    seconds, key = names[4].split(".")[:2]
    os.rename(nth(4), os.path.join(folder, f"{int(seconds) + 1}.{key}{SUFFIX}"))
    os.remove(nth(5))
    os.symlink("/etc/hostname", nth(5))
    os.utime(nth(6))
    assert receipt("apply", plan, "-n", status=3)["skipped"] == 7
    result = receipt("apply", plan, "-y", status=3)
    assert (result["removed"]["entries"], result["skipped"]) == (53, 7), result
    left = {names[number] for number in (0, 1, 2, 5, 6)} | {f"{int(seconds) + 1}.{key}{SUFFIX}"}
    assert set(os.listdir(folder)) == left
    # A plan from before Foundation stored some again.
    folder = make("again")
    run("purge", "-c", folder, "--all", "--plan", plan + "2")
    urls = [entry["url"] for entry in entries(folder).values()]
    ended(stored_now(stock_url_cache, folder, [(url, b"new") for url in urls[::4]]))
    new = {name for name in os.listdir(folder) if name not in names}
    result = receipt("apply", plan + "2", "-y", status=3)
    assert result["skipped"] == len(new) == 15 and set(os.listdir(folder)) == new, result
    # In a copy of the folder the files have other numbers.
    folder = make("moved")
    run("purge", "-c", folder, "--all", "--plan", plan + "3")
    moved = copy(folder, "moved-copy")
    replace(os.path.join(moved, names[0]), b"other")
    run("apply", plan + "3", "-y", "-c", moved, status=3)
    assert os.listdir(moved) == [names[0]] and len(os.listdir(folder)) == 60


def test_ignored_files():
    """A file that URLCache ignores is no entry: it counts for no limit, has no id, and is removed as an orphan once it is old."""
    folder = make("ignored", entries=10)
    temporary, other = ".dat.nosync1f3.a8Bc0D", "7.8.YQAtMQAvAA==" + SUFFIX
    with open(os.path.join(folder, os.listdir(folder)[0]), "rb") as file:
        archive = file.read()
    for name in temporary, ".dat.nosync2", other:
        put(folder, name, archive)
    left = {temporary, ".dat.nosync2", other}
    for name in left:
        for verb in ["purge", "--yes"], ["show"], ["list"]:
            run(verb[0], "-c", folder, "--id", name, *verb[1:], status=1)
    result = run("enforce", "-c", folder, "--max-entries", "10", "--max-size", str(total(folder)), "--yes")
    assert result.stderr == b"" and result.stdout.startswith(b"Removed 0 of 10 entries"), result
    result = run("purge", "-c", folder, "--all", "--yes")
    assert result.stderr == b"" and set(os.listdir(folder)) == left, result
    # They are young, so another process may be writing them.
    assert receipt("enforce", "-c", folder, "--min-free", "100%", "--best-effort", "--yes", status=1)["removed"]["orphans"] == 0
    for name in temporary, other:
        os.utime(os.path.join(folder, name), (time.time() - 3_600,) * 2)
    plan = path("ignored.json")
    run("check", "-c", folder, "--repair=orphans", "--plan", plan, status=1)
    result = receipt("apply", plan, "--yes")
    assert (result["removed"]["entries"], result["removed"]["orphans"]) == (0, 2), result
    assert os.listdir(folder) == [".dat.nosync2"]


def test_unfinished_files():
    """What an app left when it crashed is removed to make room, but not what another process may still be writing."""
    folder, now = make("unfinished", entries=5), time.time()
    for name, age in {".dat.nosync1f3.young0": 500, ".dat.nosync1f3.left00": 700}.items():
        put(folder, name, bytes(5000))
        os.utime(os.path.join(folder, name), (now - age,) * 2)
    run("enforce", "-c", folder, "--min-free", "100%", "--best-effort", "--yes", status=1)
    assert os.listdir(folder) == [".dat.nosync1f3.young0"]


def test_hostile_folders(monkeypatch):
    """Folders, links, pipes and sockets under the names of entries are kept, and so is what they lead to."""
    outside = path("outside")
    os.mkdir(outside)
    victim = put(outside, "1.YQAtMQAvAA==" + SUFFIX)
    folder = make("hostile", entries=10)
    at = lambda name: os.path.join(folder, name + SUFFIX)
    os.mkdir(at("1.Zm9sZGVy"))
    put(at("1.Zm9sZGVy"), "2.YQAtMQAvAA==" + SUFFIX)
    os.symlink(victim, at("2.bGluaw=="))
    os.symlink(outside, at("3.bGluaw=="))
    os.symlink("nowhere", at("4.bGluaw=="))
    os.mkfifo(at("5.cGlwZQ=="))
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(folder)
        listener.bind("6.c29ja2V0" + SUFFIX)
        monkeypatch.chdir("/")
    os.mkdir(os.path.join(folder, ".dat.nosync7"))
    kinds = {name: fact for name, fact in files(folder).items() if fact[2] is None or "/" in name}
    # A name that is linked from elsewhere, one that is not UTF-8, one that is empty, one that nobody may read.
    os.link(victim, at("8.aGFyZA=="))
    put(folder.encode(), b"9.\xff\xfe" + SUFFIX.encode())
    put(folder, "10.ZW1wdHk=" + SUFFIX, b"")
    os.chmod(put(folder, "11.c2VjcmV0" + SUFFIX), 0)
    result = run("purge", "-c", folder, "--all", "--yes", "--format", "json", status=3)
    assert result.stderr == b"note: entries kept because they are not regular files, or have links elsewhere: 6\n", result
    assert json.loads(result.stdout)["removed"]["entries"] == 14, result.stdout
    assert files(folder) == kinds
    for identifier in ["1.Zm9sZGVy", "2.bGluaw==", "3.bGluaw==", "4.bGluaw==", "5.cGlwZQ==", "6.c29ja2V0"]:
        result = run("purge", "-c", folder, "--id", identifier, "--yes", status=3)
        assert result.stderr == b"note: entries kept because they are not regular files, or have links elsewhere: 1\n", result
    run("enforce", "-c", folder, "--max-entries", "0", "--yes", status=1)
    for name in ["../outside/1.YQAtMQAvAA==", "/etc/hostname", "..", "x" * 5000]:
        run("purge", "-c", folder, "--id", name, "--yes", status=64 if "/" in name or name == ".." or "x" in name else 1)
    assert files(folder) == kinds and os.listdir(outside) == [os.path.basename(victim)]
    # A plan that names what it likes.
    plan = path("hostile.json")
    run("purge", "-c", folder, "--all", "--plan", plan, status=0)
    with open(plan) as file:
        text = json.load(file)
    status = os.stat(victim)
    text["entries"] = [{"id": "../outside/1.YQAtMQAvAA==", "file": {
        "number": str(status.st_ino), "modified_ns": str(status.st_mtime_ns), "bytes": status.st_size}}]
    with open(plan, "w") as file:
        json.dump(text, file)
    run("apply", plan, "--yes", status=3)
    assert files(folder) == kinds and os.path.exists(victim)
    # A folder that may not be written to.
    folder = make("refused", entries=10)
    os.chmod(scratch.root, 0o755)
    before = files(folder)
    os.chmod(folder, 0o555)
    nobody = {"user": "nobody", "env": {**os.environ, "HOME": "/"}} if os.getuid() == 0 else {}
    error = json.loads(run("purge", "-c", folder, "--all", "--yes", "--format", "json", status=77, **nobody).stderr)
    assert error["kind"] == "no-permission" and "cannot open" in error["message"], error
    assert files(folder) == before
    os.chmod(folder, 0o755)


def test_limits():
    """Limits hold to the byte, the oldest entries are removed first, and a folder may end up empty."""
    folder = make("limits", entries=200)
    whole = total(folder)
    seconds = lambda names: [int(name.split(".")[0]) for name in names]
    for share in 3, 7, 50:
        before = {name: os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)}
        limit = whole * (100 - share) // 100
        result = receipt("enforce", "-c", folder, "--max-size", str(limit), "--yes")
        gone = before.keys() - set(os.listdir(folder))
        assert result["limit_met"] and total(folder) == result["footprint_after"] <= limit
        assert {entry["id"] + SUFFIX for entry in result["entries"]} == gone
        assert max(seconds(gone)) <= min(seconds(os.listdir(folder)))
        # The last that went was one too many.
        newest = max(seconds(gone))
        assert total(folder) + min(before[name] for name in gone if int(name.split(".")[0]) == newest) > limit
    assert receipt("enforce", "-c", folder, "--max-size", str(total(folder)), "--yes")["removed"]["entries"] == 0
    before = files(folder)
    assert receipt("compact", "-c", folder)["method"] == receipt("compact", "-c", folder, "--full")["method"] == "none"
    for options in [], ["--full"], ["-n"]:
        assert run("compact", "-c", folder, *options).stdout == (
            b"Nothing to reclaim: a Foundation cache stores entries in files, not in a database\n")
    assert files(folder) == before
    result = receipt("enforce", "-c", folder, "--max-size", "0", "--yes")
    assert result["limit_met"] and result["footprint_after"] == 0 and os.listdir(folder) == []


def test_since(stock_url_cache):
    """`--since` leaves the entries that the `removeCachedResponses(since:)` of Foundation leaves."""
    origin = make("since", entries=30)
    with open(os.path.join(origin, os.listdir(origin)[0]), "rb") as file:
        archive = file.read()
    cut = 780000000
    # The date in each of these archives is that of the first entry, and does not count.
    for offset in [-100000000, -2, -1, 0, 1, 2, 3, 100000000]:
        put(origin, f"{cut + offset}.{base64.b64encode(b'a%d' % offset).decode().replace('/', '_')}{SUFFIX}", archive)
    put(origin, f"+{cut + 1}.cGx1cw=={SUFFIX}", archive)
    put(origin, f"000{cut + 1}.emVybw=={SUFFIX.upper()}", archive)
    put(origin, f"{cut + 1}.b.cGFydHM={SUFFIX}", archive)
    put(origin, f"{cut + 1}.5.cGFydHM={SUFFIX}", archive)
    put(origin, ".dat.nosync1.abcdef", archive)
    kept = []
    for number, fraction in enumerate([-0.75, 0, 0.25, 1, 1.5, -200000000.5, 200000000]):
        ours, theirs = copy(origin, f"ours{number}"), copy(origin, f"theirs{number}")
        moment = EPOCH + datetime.timedelta(seconds=cut + fraction)
        run("purge", "-c", ours, "--since", moment.isoformat() + "Z", "--yes")
        subprocess.run([stock_url_cache, "since", theirs], input=str(cut + fraction).encode(), check=True)
        assert sorted(os.listdir(ours)) == sorted(os.listdir(theirs)), (fraction, set(os.listdir(ours)) ^ set(os.listdir(theirs)))
        kept.append(len(os.listdir(ours)))
    assert kept[1] == kept[2] == kept[0] + 1 and kept[3] == kept[4] == kept[1] + 3 and kept[5] == 3, kept
    # What Foundation goes further in: a folder goes with all in it, and seconds that are no time are the newest.
    folder = make("further", entries=1)
    names = [f"{cut + 1}.Zm9sZGVy{SUFFIX}", f"{2 ** 63 - 1}.bGFzdA=={SUFFIX}"]
    os.mkdir(os.path.join(folder, names[0]))
    put(os.path.join(folder, names[0]), "file")
    put(folder, names[1], archive)
    run("purge", "-c", folder, "--since", (EPOCH + datetime.timedelta(seconds=cut)).isoformat() + "Z", "--yes", status=3)
    assert set(names) <= set(os.listdir(folder))
    subprocess.run([stock_url_cache, "since", folder], input=str(cut).encode(), check=True)
    assert not set(names) & set(os.listdir(folder))


def test_beside_a_writer(stock_url_cache, thorough):
    """A purge while Foundation stores entries removes only entries that did not change meanwhile."""
    folder = make("live", entries=400 if thorough else 150)
    old = set(os.listdir(folder))
    count = 150 if thorough else 30
    new = [(f"https://writer.example/{number}", b"%d" % number * 50) for number in range(count)]
    again = [(f"https://again.example/{number % 3}", b"%d" % number * 500) for number in range(count)]
    writer = stored_now(stock_url_cache, folder, [item for pair in zip(new, again) for item in pair])
    gone, skipped, rounds = [], 0, 0
    while writer.poll() is None:
        some = sorted(old & set(os.listdir(folder)))[:20]
        words = [word for name in some for word in ("--id", name.removesuffix(SUFFIX))]
        # Both what is at rest and what is stored again meanwhile.
        result = subprocess.run([tool, "purge", "-c", folder, *words, "--yes", "--format", "json"] if some and rounds % 2 else
                                [tool, "purge", "-c", folder, "--host", "again.example", "--yes", "--format", "json"],
                                capture_output=True)
        assert result.returncode in (0, 3), result
        answer = json.loads(result.stdout)
        assert (result.returncode == 3) == (answer["skipped"] > 0), result
        gone += [entry["id"] + SUFFIX for entry in answer["entries"]]
        skipped, rounds = skipped + answer["skipped"], rounds + 1
    ended(writer)
    assert old & set(os.listdir(folder)) == old - set(gone)
    listed = entries(folder)
    assert not any(entry["notes"] for entry in listed.values()), listed
    urls = [entry["url"] for entry in listed.values()]
    assert {url for url, _ in new} <= set(urls), "an entry that nobody removed is gone"
    assert rounds > 3 and set(gone) - old, (rounds, gone)


def test_two_at_once(thorough):
    """Of two purges at once one removes each entry, and the other one counts it."""
    origin = make("origin", entries=400)
    for _ in range(5 if thorough else 2):
        folder = copy(origin, "two")
        words = [tool, "purge", "-c", folder, "--prefix", "https://", "--yes", "--format", "json"]
        runs = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        answers = [(json.loads(process.communicate(timeout=120)[0]), process.returncode) for process in runs]
        gone = [{entry["id"] for entry in answer["entries"]} for answer, _ in answers]
        assert all((status == 3) == (answer["skipped"] > 0) and status in (0, 3) for answer, status in answers)
        assert not gone[0] & gone[1]
        assert {name + SUFFIX for name in gone[0] | gone[1]} == set(os.listdir(origin)) - set(os.listdir(folder))
        assert not any(entry["url"].startswith("https://") for entry in entries(folder).values())


@strace.needed
@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_signal(signal):
    """A signal ends a purge after the file in which it arrives; what is gone is on the disk before it is reported."""
    folder, trace = make("stopped"), path("trace")
    before = set(os.listdir(folder))
    result = subprocess.run(["strace", "-f", "-qq", "-o", trace, "-e", "trace=unlinkat,fsync,write", "-e",
                             f"inject=unlinkat:signal={signal}:when=3", tool, "purge", "-c", folder, "--all", "--yes",
                             "--format", "json"], capture_output=True, preexec_fn=hear_signals)
    assert result.returncode == {"INT": -2, "TERM": -15}[signal], result
    assert {entry["id"] + SUFFIX for entry in json.loads(result.stdout)["entries"]} == before - set(os.listdir(folder))
    assert len(before) - len(os.listdir(folder)) == 3
    assert result.stderr == b"note: stopped by a signal; not removed: %d entries\n" % (len(before) - 3), result
    with open(trace) as file:
        calls = re.findall(r"^\d+\s+(unlinkat|fsync|write)\((?:1,)?", file.read(), re.M)
    assert calls[:5] == ["unlinkat"] * 3 + ["fsync", "write"], calls
