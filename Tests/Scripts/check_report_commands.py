"""Runs every command that a report prints, in both formats, on copies of caches of many kinds: each runs, and does what the
report says.

    check_report_commands.py URLCACHE-ADMIN SAMPLE-CACHE [SAMPLES]

Prints a line for each kind of cache, and ends at the first that is not as it should be. SAMPLES is a folder of real caches.
"""

import glob, html, json, os, re, shlex, shutil, sqlite3, subprocess, sys, tempfile, time

tool, maker = map(os.path.abspath, sys.argv[1:3])
samples = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
root = os.path.realpath(tempfile.mkdtemp())
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
commands = 0


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL)


def made(name, *options):
    cache = os.path.join(root, name)
    subprocess.run([maker, *options, cache], check=True)
    for path in glob.glob(f"{cache}/fsCachedData/*"):
        os.utime(path, (1.7e9, 1.7e9))
    return cache


def size(cache):
    if os.path.isfile(cache):
        return os.path.getsize(cache)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(cache) for name in names)


def bytes_of(text):
    number, unit = re.fullmatch(r"([\d.,]+) (\w+)", text).groups()
    return float(number.replace(",", "")) * UNITS[unit]


def is_near(number, text, pages=0):
    """Whether a number of bytes is what a text says, to its last digit, and some pages of a database."""
    digits = text.split()[0]
    step = 10 ** -len(digits.partition(".")[2]) * UNITS[text.split()[1]]
    return abs(number - bytes_of(text)) <= step * 0.51 + pages * 4096


def checked(cache):
    """The number of findings of each severity, as `check` has it."""
    result = run("check", "-c", cache, "--format", "json")
    assert result.returncode in (0, 1), result
    counts = json.loads(result.stdout)["counts"]
    return ", ".join(f"{counts[key]:,} {key if counts[key] != 1 else key[:-1]}" for key in ("errors", "warnings", "notes"))


def reported(cache, *options):
    """The advice of a report, as pairs of a sentence and a command, and all other commands; the same in both formats."""
    text = run("report", "-c", cache, "--format", "markdown", "-o", "-", *options)
    page = run("report", "-c", cache, "-o", "-", *options)
    assert text.returncode == page.returncode == 0, (cache, text, page.returncode)
    text, page = text.stdout.decode(), re.sub("</?span>", "", page.stdout.decode())
    advice = [(gain + rest, command) for gain, rest, command in re.findall(r"(?m)^- \*\*(.*?)\*\*(.*)\n  ` (.*) `$", text)]
    every = re.findall(r"` (urlcache-admin .*?) `", text)
    on_page = [html.unescape(code) for code in re.findall(r"<code[^>]*>(urlcache-admin .*?)</code>", page)]
    assert set(every) <= set(on_page), (cache, set(every) - set(on_page))
    for line in [re.search(r"(?m)^(.* errors?, .* notes?), as `check`", text), re.search(r"gap\">(.*?), as <code", page)]:
        assert line and line[1] == checked(cache), (cache, line and line[1], checked(cache))
    return advice, list(dict.fromkeys(every + on_page)), text


def arguments(command, cache, copy):
    words = shlex.split(command)
    assert words[0] == "urlcache-admin" and words.count(os.path.realpath(cache)) == 1, (words, cache)
    return [os.path.realpath(copy) if word == os.path.realpath(cache) else word for word in words[1:]]


def doing(words):
    asks = b"--yes" in run(words[0], "--help").stdout
    return [word for word in words if word != "--dry-run"] + (["--yes"] if asks else [])


def all_of(cache, options=(), limit=None, between=lambda copy: None):
    """Runs all that a report of a cache prints on copies of it; `between` does something with a copy first.

    Returns the verbs of the advice.
    """
    global commands
    advice, every, _ = reported(cache, *options)
    for command in every:
        for change in ([False, True] if "--dry-run" in command else [False]):
            copy = os.path.join(root, "copy")
            shutil.rmtree(copy, ignore_errors=True)
            if os.path.isdir(cache):
                shutil.copytree(cache, copy)
            else:
                shutil.copy(cache, copy)
            between(copy)
            words = arguments(command, cache, copy)
            before = size(copy)
            said = next((sentence for sentence, other in advice if other == command), None)
            judged = said and change
            result = run(*(doing(words) if change else words), *(["--format", "json"] if judged else []))
            assert result.returncode in (0, 1, 3), (command, change, result)
            commands += 1
            if judged:
                kept(said, words, copy, before, result)
            if os.path.isdir(copy):
                shutil.rmtree(copy)
            else:
                os.remove(copy)
    return [shlex.split(command)[1] for _, command in advice]


def kept(said, words, copy, before, result):
    """What a command did is what the report said of it."""
    gain = re.match(r"Free (?:about )?([\d.,]+ \w+)", said)
    count = re.search(r"([\d,]+) (?:entr|body file)", said)
    count = count and int(count[1].replace(",", ""))
    freed = before - size(copy)
    if words[0] == "check":
        left = json.loads(run("check", "-c", copy, "--format", "json").stdout)
        kinds = words[[word.startswith("--repair") for word in words].index(True)].split("=")[1].split(",")
        removed = json.loads(result.stdout)["repair"]["removed"]
        assert removed["orphans" if kinds == ["orphans"] else "entries"] == count, (said, removed)
        assert not any(finding["repairable"] and finding["code"] in KINDS[kind] for kind in kinds for finding in left["findings"]), (said, left)
        if gain:
            assert is_near(freed, gain[1], pages=1), (said, freed)
    elif words[0] == "compact":
        assert is_near(freed, gain[1], pages=2), (said, freed)
    elif words[0] == "enforce":
        limit = int(words[words.index("--max-size") + 1])
        assert size(copy) <= limit and freed >= bytes_of(gain[1]) * 0.99 or result.returncode in (1, 3), (said, result)
        assert result.returncode == 0, (said, result)
    elif words[0] == "purge":
        removed = json.loads(result.stdout)["removed"]
        assert removed["entries"] == count and is_near(removed["body_bytes"], gain[1]), (said, removed)
        # Some of the bodies may have been in pages with others.
        assert freed >= bytes_of(gain[1]) / 2 - 8 * 4096, (said, freed)
    else:
        raise AssertionError(words)


KINDS = {"bodies": ["missing-body-file"], "undecodable": ["undecodable"], "orphans": ["orphan-body-file"], "rows": ["no-blob-row", "no-body-row"]}


def enlarge_log(cache):
    """Leaves a log as a killed app does, much larger than the database."""
    database = sqlite3.connect(f"{cache}/Cache.db")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA wal_autocheckpoint=0")
    for _ in range(20):
        database.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = receiver_data || zeroblob(1) WHERE isDataOnFS = 0")
        database.commit()
    other = cache + "-killed"
    shutil.copytree(cache, other)
    database.close()
    return other


def made_up():
    for seed in range(4):
        verbs = all_of(made(f"plain{seed}", "--entries", "150", "--seed", str(seed)), ["--capacity", "1MiB"])
        assert "purge" in verbs and "enforce" in verbs, verbs
    everything = made("faults", "--entries", "300", "--seed", "3", "--faults", "orphan-files,missing-bodies,undecodable")
    verbs = all_of(everything, ["--capacity", "5MiB"])
    assert verbs[:2] == ["check", "check"], verbs
    for kind in ["orphan-files", "missing-bodies", "undecodable"]:
        assert all_of(made(kind, "--entries", "150", "--seed", "5", "--faults", kind))[0] == "check"
    assert all_of(made("empty", "--entries", "0", "--seed", "5")) == []
    assert "enforce" not in all_of(made("unreachable", "--entries", "60", "--seed", "5"), ["--capacity", "20KiB"])
    all_of(made("202", "--entries", "100", "--seed", "6", "--schema", "202"))
    print("made-up caches: ok", flush=True)


def of_foundation():
    cache = made("foundation", "--format", "foundation", "--entries", "80", "--seed", "7")
    assert "purge" in all_of(cache, ["--capacity", "1MiB"])
    with open(sorted(glob.glob(cache + "/*"))[3], "r+b") as file:
        file.write(b"x" * 40)
    all_of(cache)
    print("Foundation caches: ok", flush=True)


def with_free_space():
    cache = made("free", "--entries", "600", "--seed", "8", "--no-large-bodies")
    assert run("purge", "-c", cache, "--older-than", "60d", "-y").returncode == 0
    assert "compact" in all_of(cache)
    cache = enlarge_log(made("log", "--entries", "300", "--seed", "9", "--no-large-bodies"))
    assert "compact" in all_of(cache)
    _, _, text = reported(cache)
    parts = dict(re.findall(r"(?m)^\| ([\w -]+log) \| ([\d.]+ \w+) \|$", text))
    assert abs(bytes_of(parts["write-ahead log"]) - os.path.getsize(f"{cache}/Cache.db-wal")) < 1e5, parts
    assert bytes_of(parts["index of the write-ahead log"]) == os.path.getsize(f"{cache}/Cache.db-shm"), parts
    print("free pages and a large log: ok", flush=True)


def with_an_app():
    """Beside an app nothing is advised that the app stands in the way of."""
    cache = made("live", "--entries", "300", "--seed", "10", "--no-large-bodies", "--faults", "orphan-files,undecodable")
    database = sqlite3.connect(f"{cache}/Cache.db")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA wal_autocheckpoint=0")
    for _ in range(20):
        database.execute("UPDATE cfurl_cache_receiver_data SET receiver_data = receiver_data || zeroblob(1) WHERE isDataOnFS = 0")
        database.commit()
    advice, every, text = reported(cache)
    assert not any(shlex.split(command)[1] == "compact" for command in every), every
    assert re.search(r"Write-ahead log: the app that has the cache open gives back [\d.]+ MiB when it quits", text), text
    for command in every:
        words = shlex.split(command)[1:]
        assert run(*words).returncode in (0, 1), command
    database.close()
    print("beside an app: ok", flush=True)


def unchangeable():
    """Nothing is advised that changes what cannot be changed."""
    cache = made("archived", "--entries", "60", "--seed", "11")
    for name in ["a.tar", "a.har", "a.warc", "a.zip"]:
        archive = os.path.join(root, name)
        assert run("export", "-c", cache, "-o", archive).returncode in (0, 3)
        nothing_for(archive)
    old = made("old", "--entries", "60", "--seed", "11")
    database = sqlite3.connect(f"{old}/Cache.db")
    database.execute("PRAGMA user_version = 999")
    database.commit()
    database.close()
    nothing_for(old)
    print("what cannot be changed: ok", flush=True)


def nothing_for(cache):
    advice = run("report", "-c", cache, "--format", "markdown", "-o", "-").stdout.decode()
    page = re.sub("</?span>", "", run("report", "-c", cache, "-o", "-").stdout.decode())
    for text in [advice, page]:
        assert not re.search(r"purge|enforce|compact|--repair", re.sub(r"<script>.*?</script>", "", text, flags=re.S)), text
        found = [html.unescape(code) for code in re.findall(r"[`>] ?(urlcache-admin .*?) ?[`<]", text)]
        assert found, text
        for command in found:
            result = run(*shlex.split(command)[1:])
            assert result.returncode in (0, 1), (command, result)


def damaged():
    """Of a damaged database a report advises nothing that ends with 65."""
    tried = 0
    for place in range(3, 60, 3):
        cache = made(f"damaged{place}", "--entries", "100", "--seed", "12", "--no-large-bodies")
        with open(f"{cache}/Cache.db", "r+b") as file:
            file.seek(place * 4096)
            if len(file.read(4096)) < 4096:
                break
            file.seek(place * 4096)
            file.write(b"\xa5" * 4096)
        if run("report", "-c", cache, "--format", "markdown", "-o", "-").returncode == 65:
            continue
        text = run("report", "-c", cache, "--format", "markdown", "-o", "-").stdout.decode()
        if "damaged-database" in text:
            assert "The database is damaged: no command changes it" in text, text
            nothing_for(cache)
            tried += 1
        else:
            all_of(cache)
    assert tried > 0
    print("damaged databases: ok", flush=True)


def real():
    count, tried = 0, 0
    for folder in sorted(glob.glob(f"{samples}/*")) if samples else []:
        for cache in sorted({os.path.dirname(path) for path in glob.glob(folder + "/**/Cache.db", recursive=True)}):
            tried += 1
            copy = os.path.join(root, f"real{tried}")
            shutil.copytree(cache, copy)
            for path, folders, names in os.walk(copy):
                for name in names + folders:
                    os.chmod(os.path.join(path, name), 0o700)
            text = run("report", "-c", copy, "--format", "markdown", "-o", "-")
            if text.returncode != 0:
                assert text.returncode in (65, 66), text
                continue
            count += 1
            if "can only be read" in text.stdout.decode():
                nothing_for(copy)
            else:
                all_of(copy, ["--capacity", "100KiB"])
    print(f"real caches: {count}", flush=True)


try:
    made_up()
    of_foundation()
    with_free_space()
    with_an_app()
    unchangeable()
    damaged()
    real()
    print(f"commands: {commands}", file=sys.stderr)
finally:
    shutil.rmtree(root)
