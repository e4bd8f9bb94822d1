"""Has commands write logs, metrics, backups and plans where that is not possible, and looks at what is left.

    check_outputs.py URLCACHE-ADMIN SAMPLE-CACHE

Prints a line for each case, and ends at the first that is not as it should be.
"""

import fcntl, json, os, resource, shutil, signal, sqlite3, stat, subprocess

from scratch import make, path, read, root, run, tool, tree, write


def fresh(name):
    shutil.rmtree(path(name), ignore_errors=True)
    shutil.copytree(original, path(name), symlinks=True)
    return path(name)


def ids(cache):
    with sqlite3.connect(f"file:{cache}/Cache.db?mode=ro", uri=True) as database:
        return [row[0] for row in database.execute("SELECT entry_ID FROM cfurl_cache_response ORDER BY 1")]


def refused(name, option, target, message, status=73):
    """A removal whose output cannot be written ends with 73 or 64, and removes nothing."""
    for verb, options in [("purge", ["--all", "--yes"]), ("enforce", ["--max-entries", "1", "--yes"]),
                          ("check", ["--repair", "--yes"])]:
        cache = fresh(name)
        before = tree(cache)
        result = run(verb, "-c", cache, *options, option, target, status=status)
        assert result.stderr.decode().startswith(f"error: {message}"), result
        assert b".partial" not in result.stderr, result
        assert tree(cache) == before, (verb, option)


original = make("original", "--faults", "orphan-files", entries=60, seed=5)
blocked = write("file", b"") + "/below"

refused("a", "--log", blocked + "/log", f"cannot open the log '{path('file')}/below': ")
refused("a", "--log", path(""), f"cannot open the log '{path('')}': Is a directory")
refused("a", "--metrics-file", blocked + "/m.prom", f"cannot write the metrics '{path('file')}/below': ")
refused("a", "--metrics-file", path("original"), f"cannot write the metrics '{path('original')}': Is a directory")
refused("a", "--backup", blocked + "/b.tar", f"cannot create '{blocked}/b.tar': ")
refused("a", "--backup", path("missing/b.tar"), f"cannot create '{path('missing')}/b.tar': ")
# A dry run says the same of names, and makes nothing.
for option, target, status, message in [
    ("--backup", path("missing/b.tar"), 73, f"cannot create '{path('missing')}/b.tar': No such file or directory"),
    ("--backup", blocked + "/b.tar", 73, f"cannot create '{blocked}/b.tar': Not a directory"),
    ("--backup", write("there.tar", b""), 73, f"cannot create '{path('there.tar')}': File exists"),
    ("--backup", path("a/fsCachedData/b.tar"), 64, f"'{path('a/fsCachedData/b.tar')}' is, or would be, a part of a cache"),
    ("--log", path("a/CACHE.DB-wal"), 64, f"'{path('a/CACHE.DB-wal')}' is, or would be, a part of a cache"),
    ("--log", path("a/Cache.db"), 64, f"'{path('a/Cache.db')}' is, or would be, a part of a cache")]:
    cache = fresh("a")
    before = tree(root)
    result = run("purge", "-c", cache, "--all", "--dry-run", option, target, status=status)
    assert result.stderr.decode().startswith(f"error: {message}"), (option, target, result)
    assert tree(root) == before, (option, target)
print("refused before anything changes: ok", flush=True)

# A log and metrics spoil no file that is something else: not the cache, and not the backup of the same command.
for option, kind in [("--log", "a log"), ("--metrics-file", "metrics")]:
    for name, data in [("photo.png", b"\x89PNG\0"), ("notes.txt", b"# notes\n"), ("settings.json", b'{"schema":1}\n'),
                       ("plan.json", b'{"schema":"urlcache-admin.plan/1"}\n')]:
        target = write(name, data)
        refused("a", option, target, f"'{target}' is a file that is not {kind}\nhint: take another name")
    refused("a", option, "", "cannot open the log ''" if option == "--log" else "cannot write the metrics ''")
target = path("photo.png")
result = run("metrics", "-c", fresh("a"), "-o", target, status=73)
assert result.stderr.decode() == f"error: '{target}' is a file that is not metrics\nhint: take another name\n", result

# No output takes the place of a part of a cache, whether it is there or not, and whatever leads to it.
body = "fsCachedData/" + sorted(os.listdir(original + "/fsCachedData"))[0]
os.symlink(path("a"), path("link"))
for name in ["Cache.db", "Cache.db-wal", "Cache.db-shm", "Cache.db-journal", body, "fsCachedData/new"]:
    for target in [f"{path('a')}/{name}", f"{path('link')}/{name}", f"{path('a')}/./{name}"]:
        message = f"'{target}' is, or would be, a part of a cache\nhint: take another name\n"
        if target == f"{path('a')}/{name}":
            for option in ["--log", "--metrics-file", "--backup", "--plan"]:
                if option in ["--log", "--metrics-file"]:
                    refused("a", option, target, message, status=64)
                result = run("purge", "-c", fresh("a"), "--all", "--yes", option, target, status=64)
                assert tree(path("a")) == tree(original)
        for words in [["export", "-c", original, "-o", target, "--force", "--archive-format", "tar"],
                      ["report", "-c", original, "-o", target, "--force"], ["metrics", "-c", original, "-o", target]]:
            cache = fresh("a")
            assert run(*words, status=64).stderr.decode() == f"error: {message}", words
            assert tree(cache) == tree(original), words
os.unlink(path("link"))
folder = path("foundation")
make("foundation", "--format", "foundation", entries=5, seed=1)
before = tree(folder)
name = sorted(name for name in os.listdir(folder) if not name.startswith("."))[0]
run("export", "-c", original, "-o", f"{folder}/{name}", "--force", "--archive-format", "tar", status=64)
assert tree(folder) == before
for options in [["--backup", path("x.tar"), "--metrics-file", path("./x.tar")], ["--backup", path("x.tar"), "--log", path("x.tar")],
                ["--log", path("x"), "--metrics-file", path("x")]]:
    cache = fresh("a")
    result = run("purge", "-c", cache, "--all", "--yes", *options, status=64)
    first, second = sorted(options[::2], key=["--backup", "--log", "--metrics-file"].index)
    name = options[3] if second == options[2] else options[1]
    assert result.stderr.decode() == f"error: '{first}' and '{second}' name the same file: '{name}'\nhint: name two files\n", result
    assert tree(cache) == tree(original) and not os.path.exists(path("x.tar")) and not os.path.exists(path("x"))
# A link hides that both are one file until the backup is there.
os.symlink(path("x.tar"), path("m.prom"))
result = run("purge", "-c", fresh("a"), "--all", "--yes", "--backup", path("x.tar"), "--metrics-file", path("m.prom"), status=73)
assert "is a file that is not metrics" in result.stderr.decode(), result
run("import", path("x.tar"), "-c", path("a"))
run("diff", original, path("a"))
os.unlink(path("m.prom"))
print("no other file is spoiled: ok", flush=True)

for verb, options, removes in [("purge", ["--all", "--yes"], True), ("purge", ["--all", "--dry-run"], False)]:
    cache = fresh("b")
    folder = path("made")
    log, metrics = f"{folder}/log/a/b.log", f"{folder}/metrics/c.prom"
    run(verb, "-c", cache, *options, "--log", log, "--metrics-file", metrics)
    assert (ids(cache) == []) == removes
    assert os.path.exists(folder) == removes, "a dry run makes no folder"
    if removes:
        assert json.loads(read(log))["removed_entries"] == 60, read(log)
        assert b'urlcache_last_run_removed_entries{cache="' in read(metrics)
        assert stat.S_IMODE(os.stat(folder).st_mode) & 0o700 == 0o700
    shutil.rmtree(folder, ignore_errors=True)
print("folders are made: ok", flush=True)

# Another process that writes the same metrics is no reason to remove nothing.
cache = fresh("c")
held = open(path("m.prom.partial"), "wb")
fcntl.flock(held, fcntl.LOCK_EX)
result = subprocess.run([tool, "purge", "-c", cache, "--all", "--yes", "--metrics-file", path("m.prom")],
                        capture_output=True, stdin=subprocess.DEVNULL)
assert ids(cache) == [] and result.returncode == 73, result
assert f"cannot write the metrics '{path('m.prom')}': ".encode() in result.stderr, result
assert b".partial" not in result.stderr, result
held.close()
print("metrics of two at once: ok", flush=True)


def limited(length):
    """Lets no file grow beyond a length, as a full disk would."""
    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (length, length))
    return prepare


cache = fresh("d")
before = tree(cache)
whole = path("whole.json")
run("purge", "-c", cache, "--all", "--plan", whole)
size = os.path.getsize(whole)
for length in [0, 1, 100, size // 2, size - 2, size - 1]:
    for verb in [["purge", "--all"], ["enforce", "--max-entries", "0"]]:
        plan = path("cut.json")
        result = subprocess.run([tool, *verb, "-c", cache, "--plan", plan], capture_output=True,
                                stdin=subprocess.DEVNULL, preexec_fn=limited(length))
        if verb[0] == "purge":
            assert result.returncode == 73, (length, result)
            assert result.stderr.decode().startswith(f"error: cannot create '{plan}': File too large"), result
        if result.returncode != 0:
            assert not [name for name in os.listdir(path("")) if name.startswith("cut")], length
        else:
            json.loads(read(plan))
            os.unlink(plan)
assert tree(cache) == before
result = run("purge", "-c", cache, "--all", "--plan", whole, status=73)
assert result.stderr.decode().startswith(f"error: cannot create '{whole}': File exists\nhint: take another name"), result
assert os.path.getsize(whole) == size
print("a plan is whole or not there: ok", flush=True)

# A backup that does not fit leaves everything as it was.
result = subprocess.run([tool, "purge", "-c", cache, "--all", "--yes", "--backup", path("cut.tar")], capture_output=True,
                        stdin=subprocess.DEVNULL, preexec_fn=limited(20_000))
assert result.returncode in (73, 74) and b".partial" not in result.stderr, result
assert not os.path.exists(path("cut.tar")) and not os.path.exists(path("cut.tar.partial"))
assert tree(cache) == before
print("a backup that does not fit: ok", flush=True)
