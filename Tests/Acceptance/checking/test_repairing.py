"""Repairs damaged caches, also while they change, and looks at what is left."""

import collections
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time

import pytest

import scratch
import strace
import worlds
from checked_cache import BLOBS, BODIES, RESPONSES, body_file, check, execute, found, make, orphan, query, rows, run, start, state
from products import tool
from scratch import path

FAULTS = ["orphan-files", "missing-bodies", "undecodable"]


def test_options():
    """A dry run reports what a repair does, a repair can be limited to some kinds of faults, and refused repairs change nothing."""
    origin = make("options", "--faults", ",".join(FAULTS))
    before = state(origin)
    for words, status in [(["--repair"], 64), (["--repair", "--yes", "--max-delete", "4"], 1),
                          (["--repair", "--yes", "--max-delete", "10%"], 1), (["--yes"], 64), (["-n"], 64),
                          (["--max-delete", "1"], 64), (["--repair=all"], 64), (["--repair="], 64),
                          (["--repair", "-n"], 1), (["--repair", "-n", "--max-delete", "4"], 1)]:
        result = run(origin, *words, status=status)
        # The findings are complete even if the repair is refused.
        if result.stdout:
            assert json.loads(result.stdout)["repair"] is None or "-n" in words, result
    assert state(origin) == before
    dry = check(origin, "--repair", "-n", status=1)
    refused = run(origin, "--repair", "-n", "--max-delete", "4", status=1)
    assert json.loads(refused.stdout)["repair"] == dry["repair"] and b"would be removed, more than '--max-delete' allows" in refused.stderr, refused
    for kinds in ["rows", "bodies", "undecodable", "orphans", "bodies,orphans"]:
        cache = path("kinds")
        shutil.copytree(origin, cache)
        report = check(cache, "--repair=" + kinds, "--yes", status=1)
        removed = {each["reason"] for each in report["repair"]["entries"]}
        names = {"rows": "missing-row", "bodies": "missing-body", "undecodable": "undecodable"}
        assert removed == {names[kind] for kind in kinds.split(",") if kind in names} - {"missing-row"}, report
        assert bool(report["repair"]["orphans"]) == ("orphans" in kinds), report
        shutil.rmtree(cache)
    wet = check(origin, "--repair", "--yes", status=0)
    assert wet["repair"].pop("dry_run") is False and dry["repair"].pop("dry_run") is True
    assert wet["repair"] == dry["repair"] and wet["findings"] == dry["findings"]
    assert dry["repair"]["removed"]["entries"] + dry["repair"]["removed"]["orphans"] == 5


@pytest.mark.parametrize(("name", "kinds"), [("plain", FAULTS[:1]), ("it's a $(cache)", FAULTS)], ids=["one fault", "all faults"])
def test_hint(name, kinds):
    """The hint of a check is a command for a shell that repairs what was found; only notes are left afterwards."""
    cache = make(name, "--faults", ",".join(kinds))
    execute(cache, f"UPDATE {RESPONSES} SET hash_value = hash_value + 1 WHERE entry_ID = 2")
    result = subprocess.run([tool, "check", "-c", cache], capture_output=True)
    repairs = ",".join(name for name, fault in zip(["bodies", "undecodable", "orphans"], FAULTS[1:] + FAULTS[:1]) if fault in kinds)
    word = cache if name == "plain" else "'" + cache.replace("'", "'\\''") + "'"
    hint = f"hint: repair what can be repaired with: urlcache-admin check -c {word} --repair={repairs}\n"
    assert result.returncode == 1 and result.stderr.decode() == hint, (result, hint)
    environment = dict(os.environ, PATH=os.path.dirname(os.path.abspath(tool)) + ":" + os.environ["PATH"])
    command = hint.removeprefix("hint: repair what can be repaired with: ").strip() + " --yes"
    result = subprocess.run(["sh", "-c", command], capture_output=True, env=environment)
    assert result.returncode == 0 and result.stderr == b"", result
    assert result.stdout.endswith(b" entries, 0 errors, 0 warnings, 1 note\n"), result
    assert found(cache, status=0) == [("wrong-hash", 2)]
    # There is no hint where nothing can be repaired.
    assert subprocess.run([tool, "check", "-c", cache], capture_output=True).stderr == b""


def test_planned():
    """'apply' carries out the plan of a repair, and skips what has changed since."""
    origin = make("planned", "--faults", ",".join(FAULTS))
    same, changed, plan = map(path, ["same", "changed", "plan.json"])
    before = state(origin)
    result = run(origin, "--repair", "--plan", plan, status=1)
    assert json.loads(result.stdout)["repair"] is None and state(origin) == before
    with open(plan) as file:
        saved = json.load(file)
    assert result.stderr == b"note: saved '%b', a plan to remove %d entries and %d orphans\n" % (
        os.fsencode(plan), len(saved["entries"]), len(saved["orphans"])), result
    shutil.copytree(origin, same)
    shutil.copytree(origin, changed)
    dry = check(origin, "--repair", "-n", status=1)["repair"]
    name = saved["orphans"][0]["name"]
    body_file(changed, name, b"somebody else's")

    def applied(cache, status):
        # '-c' is needed because the plan contains the identity of another folder.
        result = subprocess.run([tool, "apply", plan, "-c", cache, "--yes", "--format", "json"], capture_output=True)
        assert result.returncode == status, result
        return json.loads(result.stdout), result.stderr

    wet, errors = applied(same, 0)
    assert errors == b"" and all(wet[part] == dry[part] for part in ["removed", "entries", "orphans"]), (wet, dry)
    assert found(same, status=0) == []
    wet, errors = applied(changed, 3)
    assert errors == b"note: skipped orphans that changed or were removed meanwhile: 1\n", errors
    assert [each["name"] for each in wet["orphans"]] == [each["name"] for each in saved["orphans"][1:]], wet
    assert found(changed, status=1) == [("orphan-body-file", None)]
    for words in [["--plan", plan], ["--repair", "--plan", "-"]]:
        run(origin, *words, status=64)
    # A repair never plans to remove a file with another name, or outside of the folder.
    for wrong in ["../Cache.db", "Cache.db", ".."]:
        with open(plan, "w") as file:
            json.dump(dict(saved, entries=[], orphans=[dict(saved["orphans"][0], name=wrong)]), file)
        before = state(origin)
        wet, _ = applied(origin, 3)
        assert wet["orphans"] == [] and state(origin) == before, wet


def test_links():
    """Names and links that lead out of the folder never make a repair remove files there."""
    outside = path("outside")
    os.mkdir(outside)
    victim = os.path.join(outside, orphan(1))
    with open(victim, "w") as file:
        file.write("mine")
    os.utime(victim, (1_700_000_000,) * 2)
    cache = make("hostile", "--no-large-bodies")
    shutil.rmtree(os.path.join(cache, "fsCachedData"), ignore_errors=True)
    os.symlink(outside, os.path.join(cache, "fsCachedData"))
    assert found(cache, "--repair", "--yes", status=1) == [("body-folder", None)]
    os.remove(os.path.join(cache, "fsCachedData"))
    with open(os.path.join(cache, "fsCachedData"), "w") as file:
        file.write("no folder")
    assert found(cache, "--repair", "--yes", status=1) == [("body-folder", None)]
    os.remove(os.path.join(cache, "fsCachedData"))
    os.mkdir(os.path.join(cache, "fsCachedData"))
    os.symlink(victim, os.path.join(cache, "fsCachedData", orphan(2)))
    os.mkfifo(os.path.join(cache, "fsCachedData", orphan(3)))
    os.link(victim, os.path.join(cache, "fsCachedData", orphan(4)))
    execute(cache, f"UPDATE {BODIES} SET isDataOnFS = 1, receiver_data = '../outside/{orphan(1)}'")
    count = query(cache, f"SELECT count(*) FROM {BODIES}")[0][0]
    codes = collections.Counter(code for code, _ in found(cache, "--repair", "--yes", status=1))
    assert codes == {"foreign-file": 2, "orphan-body-file": 1, "bad-body-file-name": count}, codes
    with open(victim) as file:
        assert file.read() == "mine"
    assert sorted(os.listdir(os.path.join(cache, "fsCachedData"))) == [orphan(2), orphan(3)]
    assert query(cache, f"SELECT count(*) FROM {RESPONSES}") == [(0,)]


def test_trigger():
    """A database with a trigger is not repaired."""
    cache = make("trigger", "--faults", "undecodable")
    execute(cache, f"CREATE TRIGGER t AFTER DELETE ON {RESPONSES} BEGIN DELETE FROM {BLOBS}; END")
    before = rows(cache)
    run(cache, "--repair", "--yes", status=65)
    assert rows(cache) == before


def test_unreadable():
    """Bodies in a folder that the user may not read are not missing: their entries are kept."""
    cache, copy = make("unreadable"), path("tool")
    shutil.copy(tool, copy)
    for parent, folders, names in os.walk(scratch.root):
        for name in folders + names:
            os.chmod(os.path.join(parent, name), 0o777)
    os.chmod(scratch.root, 0o755)
    os.chmod(os.path.join(cache, "fsCachedData"), 0)
    # The superuser may read everything.
    user = ["env", "HOME=/", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    for words, status in [(["check", "--repair", "--yes"], 1), (["purge", "--body", "missing", "--yes"], 0),
                          (["export", "-o", "-", "--archive-format", "tar"], 77)]:
        before = rows(cache)
        result = subprocess.run([*user, copy, words[0], "-c", cache, *words[1:]], capture_output=True)
        assert result.returncode == status, result
        assert rows(cache) == before, result
    found = json.loads(subprocess.run([*user, copy, "check", "-c", cache, "--format", "json"], capture_output=True).stdout)
    codes = collections.Counter(each["code"] for each in found["findings"])
    assert codes["body-folder"] == 1 and codes["unreadable-body-file"] > 5 and not codes["missing-body-file"], codes
    os.chmod(os.path.join(cache, "fsCachedData"), 0o700)


def answered(cache, meanwhile, *words):
    """Asks for a repair on a terminal, and does something before the answer."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(tool, start(cache, "--repair", *words))
    output = b""
    while b"[y/N] " not in output:
        assert select.select([terminal], [], [], 20)[0], output
        output += os.read(terminal, 65536)
    meanwhile()
    os.write(terminal, b"y\n")
    try:
        while part := os.read(terminal, 65536):
            output += part
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), output


def test_changed_meanwhile():
    """A repair keeps what has changed between the question and the answer."""
    cache = make("meanwhile", "--no-large-bodies")
    os.makedirs(os.path.join(cache, "fsCachedData"), exist_ok=True)
    for number in [1, 2, 3]:
        body_file(cache, orphan(number))
    execute(cache, f"DELETE FROM {BLOBS} WHERE entry_ID IN (5, 6)")

    def change():
        execute(cache, f"UPDATE {BODIES} SET isDataOnFS = 1, receiver_data = '{orphan(1)}' WHERE entry_ID = 1",
                f"UPDATE {RESPONSES} SET request_key = 'https://new.example/' WHERE entry_ID = 6")
        body_file(cache, orphan(2), b"longer than before")

    status, output = answered(cache, change)
    assert status == 1 and b"changed or were removed meanwhile: 2" in output, (status, output)
    assert sorted(os.listdir(os.path.join(cache, "fsCachedData"))) == [orphan(1), orphan(2)]
    assert found(cache) == [("orphan-body-file", None), ("wrong-hash", 6), ("no-blob-row", 6)], found(cache)
    # Another process has removed the orphan: nothing is left to repair, and the status shows that less was removed than announced.
    status, output = answered(cache, lambda: (os.remove(os.path.join(cache, "fsCachedData", orphan(2)))))
    assert status == 3 and found(cache) == [], (status, output)


@strace.needed
@pytest.mark.parametrize("fault", ["signal=SIGKILL", "error=EIO"])
def test_killed(fault, thorough):
    """The next repair completes one that was killed between two files, or could not remove one."""
    origin = make("killed", "--faults", "orphan-files,undecodable", entries=400 if thorough else 100)
    count = len([code for code, _ in found(origin) if code == "orphan-body-file"])
    assert count > 1
    clean = path("clean")
    shutil.copytree(origin, clean)
    check(clean, "--repair", "--yes", status=0)
    wanted = rows(clean), sorted(os.listdir(os.path.join(clean, "fsCachedData")))
    for number in range(1, count + 2):
        cache = path("again")
        shutil.copytree(origin, cache)
        result = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=unlinkat", "-e",
                                 f"inject=unlinkat:{fault}:when={number}", *start(cache, "--repair", "--yes")],
                                capture_output=True)
        if "EIO" in fault:
            assert result.returncode in (0, 1, 3), result
        check(cache, "--repair", "--yes", status=0)
        assert (rows(cache), sorted(os.listdir(os.path.join(cache, "fsCachedData")))) == wanted, number
        shutil.rmtree(cache)


WRITER = """
import os, select, sqlite3, sys, time, uuid
cache = sys.argv[1]
connection = sqlite3.connect(os.path.join(cache, "Cache.db"), timeout=1, isolation_level=None)
connection.execute("PRAGMA busy_timeout = 1000")
blobs = connection.execute("SELECT response_object, request_object FROM cfurl_cache_blob_data WHERE entry_ID = 1").fetchone()
print("ready", flush=True)
number, longest, written = 10_000, 0.0, []
# It has the database open for as long as anybody looks at it.
while not select.select([sys.stdin], [], [], 0)[0]:
    number += 1
    name = str(uuid.uuid4()).upper()
    def store():
        with open(os.path.join(cache, "fsCachedData", name), "wb") as file:
            file.write(b"x" * 5000)
    # Which of the two an app writes first is not known.
    if number % 2:
        store()
    time.sleep(0.02)
    start = time.monotonic()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO cfurl_cache_response(entry_ID, version, hash_value, storage_policy, request_key) "
                       "VALUES (?, 0, 0, 0, ?)", (number, f"https://writer.example/{number}"))
    connection.execute("INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object) VALUES (?, ?, ?)",
                       (number, *blobs))
    connection.execute("INSERT INTO cfurl_cache_receiver_data VALUES (?, 1, ?)", (number, name))
    connection.execute("COMMIT")
    longest = max(longest, time.monotonic() - start)
    if number % 2 == 0:
        time.sleep(0.02)
        store()
    written.append((number, name))
    if len(written) > 20:
        number_of_old, old = written.pop(0)
        connection.execute("BEGIN IMMEDIATE")
        for table in ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]:
            connection.execute(f"DELETE FROM {table} WHERE entry_ID = ?", (number_of_old,))
        connection.execute("COMMIT")
        os.remove(os.path.join(cache, "fsCachedData", old))
missing = [name for _, name in written if not os.path.exists(os.path.join(cache, "fsCachedData", name))]
print(len(missing), number, f"{longest:.3f}", flush=True)
"""


def test_beside_a_writer():
    """While an app stores and removes bodies, a repair keeps each of them, and removes old orphans."""
    cache = make("live", entries=300)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, cache], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "ready\n"
    rounds, young, end = 0, 0, time.monotonic() + 4
    while time.monotonic() < end or rounds < 4:
        if rounds % 3 == 0:
            body_file(cache, orphan(rounds), age=3_600)
            body_file(cache, orphan(rounds + 1), age=60)
            body_file(cache, orphan(rounds + 2), age=-1_000_000)
        report = check(cache, *(["--repair", "--yes"] if rounds % 2 else []))
        codes = collections.Counter(each["code"] for each in report["findings"])
        assert set(codes) <= {"young-body-file", "orphan-body-file", "wrong-hash", "wrong-key", "not-get"}, codes
        removed = [each["name"] for each in (report["repair"] or {"orphans": []})["orphans"]]
        assert all(int(name[-12:]) % 3 == 0 and name.startswith("0000000A") for name in removed), removed
        young += codes["young-body-file"]
        rounds += 1
    output, errors = writer.communicate(timeout=300)
    # The writer fails if it waits longer than its time-out.
    assert writer.returncode == 0, errors
    missing, number, longest = output.split()
    assert missing == "0" and int(number) > 10_020 and rounds > 3 and young > 0, output
    # The last round can be one that places an old orphan and only looks.
    left = {name for name in os.listdir(os.path.join(cache, "fsCachedData")) if name.startswith("0000000A") and int(name[-12:]) % 3}
    assert len(left) == 2 * ((rounds + 2) // 3), (rounds, left)
    rows(cache)
    # That no process has the cache open now proves nothing: young body files are kept all the same.
    assert "young-body-file" in dict(found(cache))
    check(cache, "--repair", "--yes")
    assert left == {name for name in os.listdir(os.path.join(cache, "fsCachedData")) if name.startswith("0000000A")}


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("words", [["check", "--repair=orphans", "--yes"], ["enforce", "--max-size", "0", "--best-effort", "--yes"],
                                   ["purge", "--all", "--secure", "--yes"], ["compact", "--secure"]], ids=lambda words: words[0])
def test_young(words, journal):
    """A body file of less than ten minutes is kept by every command, whoever seems to be there: an app may be about to name it."""
    cache = worlds.apple(path("young"), worlds.entries(30), journal=journal)
    # An app with a rollback journal holds no lock between its transactions.
    app = worlds.connect(cache)
    app.execute("SELECT count(*) FROM sqlite_master").fetchall()
    ages = {0: "young", 500: "young", -1_000: "young", 700: "old", 100_000: "old"}
    for age in ages:
        body_file(cache, orphan(abs(age)), age=age)
    codes = collections.Counter(code for code, _ in found(cache))
    assert codes["young-body-file"] == 3 and codes["orphan-body-file"] == 2, codes
    for held in [True, False]:
        if not held:
            app.close()
        subprocess.run([tool, *words, "-c", cache], capture_output=True, stdin=subprocess.DEVNULL)
        left = set(os.listdir(os.path.join(cache, "fsCachedData"))) - worlds.files_of(cache)
        assert left == {orphan(abs(age)) for age in ages if ages[age] == "young"}, left
