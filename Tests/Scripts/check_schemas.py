"""Validates what is written as JSON against the schemas.

    check_schemas.py URLCACHE-ADMIN SAMPLE-CACHE SCHEMAS

Prints a line for each schema, and ends at the first output that does not fit. A schema allows more
members than it names, as the output only ever grows; here each member must be named.
"""

import datetime, json, os, plistlib, shutil, sqlite3, subprocess, sys, tarfile, tempfile

import jsonschema

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Acceptance/support"))
import origin

tool, maker, schemas = sys.argv[1:]
root = tempfile.mkdtemp()
cache = os.path.join(root, "cache")
COLUMNS = (
    "id stored first_stored age status method size mime url host path scheme partition disk body_location received announced policy etag "
    "last_modified cache_control date expires freshness ttl lifetime lifetime_source current_age expires_at validators "
    "key request_headers response_headers notes user_info proto_props").split()
# Columns with a key, which an entry has under their own names.
KEYED = ["user_info:a", "user_info:c", "user_info:\x1b\"", "proto_props:Accept-Encoding, Cookie"]
# Members of an explanation whose own members are header fields and directives.
NAMED_BY_CACHE = ["headers", "directives", "row", "columns"]
# Members of an entry in an archive of which there are some.
PARTS = ["body", "proto_props", "request_object", "response_object", "user_info"]
checked = set()
formats = jsonschema.FormatChecker(formats=[])


@formats.checks("date-time", raises=ValueError)
def is_time(value):
    return not isinstance(value, str) or bool(datetime.datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ"))


def load(name):
    with open(os.path.join(schemas, name + ".schema.json")) as file:
        return json.load(file)


def closed(schema, is_base=False):
    """The schema with references put in place, which allows no members that it does not name."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        if key == "$ref":
            result["allOf"] = [closed(load(value.removesuffix(".schema.json")), is_base=True)]
        elif key == "properties":
            result[key] = {name: closed(item) for name, item in value.items()}
        else:
            result[key] = closed(value)
    if ("properties" in schema or "$ref" in schema) and not is_base:
        result["unevaluatedProperties"] = False
    return result


class Checker:
    """Validates values against a schema, and makes sure that it would tell wrong ones."""

    def __init__(self, name):
        schema = load(name)
        jsonschema.Draft202012Validator.check_schema(schema)
        self.name = name
        checked.add(name)
        self.validator = jsonschema.Draft202012Validator(closed(schema), format_checker=formats)
        self.count = 0

    def check(self, value):
        self.validator.validate(value)
        self.count += 1
        for wrong in [*wrong_forms(value), *incomplete_forms(value)]:
            assert not self.validator.is_valid(wrong), (self.name, wrong)

    def finish(self, count):
        assert self.count == count, (self.name, self.count)
        print(f"{self.name}: ok", flush=True)


def is_attached(key):
    """Whether a member holds what an application attached, which may be anything, or has members that the cache
    names."""
    return key.split(":")[0] in ("user_info", "proto_props", *NAMED_BY_CACHE)


def wrong_forms(value):
    """The value with each part changed to what it cannot be."""
    if isinstance(value, dict):
        yield {**value, "unheard_of": 1}
        for key in value:
            if is_attached(key):
                continue
            yield from ({**value, key: wrong} for wrong in wrong_forms(value[key]))
    elif isinstance(value, list):
        yield {}
        for index, item in enumerate(value[:4]):
            yield from (value[:index] + [wrong] + value[index + 1:] for wrong in wrong_forms(item))
    else:
        yield {"unheard_of": 1}
        yield [[]]


def incomplete_forms(value):
    """The value without each member in turn that is always there."""
    if isinstance(value, dict):
        optional = {name + "_base64" for name, member in value.items() if member is None}
        # The members of an entry are those of the columns.
        if set(value) <= optional.union(COLUMNS, KEYED):
            optional.update(COLUMNS, KEYED)
        if set(value) <= set(PARTS):
            optional.update(PARTS)
        if "sha256" in value:
            optional.add("class")
        # Archives of older versions do not say of what kind of cache they are.
        if "user_version" in value:
            optional.add("format")
        if "warnings" in value:
            optional.add("redacted")
        for key in [key for key in value if key not in optional]:
            yield {name: member for name, member in value.items() if name != key}
            if not is_attached(key):
                yield from ({**value, key: incomplete} for incomplete in incomplete_forms(value[key]))
    elif isinstance(value, list):
        for index, item in enumerate(value[:4]):
            yield from (value[:index] + [incomplete] + value[index + 1:] for incomplete in incomplete_forms(item))


def run(verb, *options, status=0):
    result = subprocess.run([tool, verb, "-c", cache, *options], capture_output=True)
    assert status is None or result.returncode == status, (verb, options, result)
    return result


def make():
    """A cache with what is rare: text that is not UTF-8, header fields too, notes, and properties."""
    subprocess.run([maker, "--entries", "20", "--seed", "2", "--faults", "orphan-files,missing-bodies,undecodable",
                    cache], check=True)
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    database.execute("UPDATE cfurl_cache_response SET partition = 'https://a.example' WHERE entry_ID = 1")
    database.execute("UPDATE cfurl_cache_response SET storage_policy = entry_ID WHERE entry_ID < 5")
    database.execute("UPDATE cfurl_cache_response SET request_key = CAST(x'68ff' AS TEXT), "
                     "partition = CAST(x'ff' AS TEXT) WHERE entry_ID = 2")
    user_info = plistlib.dumps({"a": datetime.datetime(2025, 1, 1), "b": b"\xff", "c": [1, 2.5, True, {"d": "e"}],
                                "\x1b\"": "odd"}, fmt=plistlib.FMT_BINARY)
    properties = plistlib.dumps({"Accept-Encoding, Cookie": {"Cookie": "a=b", "Accept-Encoding": "gzip"}},
                                fmt=plistlib.FMT_BINARY)
    database.execute("UPDATE cfurl_cache_blob_data SET user_info = ?, proto_props = ? WHERE entry_ID = 3",
                     (user_info, properties))
    database.execute("DELETE FROM cfurl_cache_blob_data WHERE entry_ID = 4")
    database.execute("DELETE FROM cfurl_cache_receiver_data WHERE entry_ID = 5")
    database.commit()
    database.close()


def found_folders():
    """A folder of nothing, one of a cache, and one with all that can be found."""
    yield os.path.join(cache, "fsCachedData")
    yield cache
    folder = os.path.join(root, "found")
    os.makedirs(os.path.join(folder, "foundation"))
    with open(os.path.join(folder, "foundation", "7.aAAtMQAvAA==.storedcachedurlresponse"), "wb") as file:
        file.write(b"x")
    os.makedirs(os.path.join(folder, "a/deep"))
    shutil.copy(os.path.join(cache, "Cache.db"), os.path.join(folder, "one.db"))
    database = sqlite3.connect(os.path.join(folder, "one.db"), isolation_level=None)
    database.execute("CREATE TRIGGER t AFTER DELETE ON cfurl_cache_response BEGIN SELECT 1; END")
    database.close()
    os.makedirs(os.path.join(folder.encode(), b"\xff"))
    shutil.copy(os.path.join(cache, "Cache.db"), os.path.join(folder, "two.db"))
    held = sqlite3.connect(os.path.join(folder, "two.db"), isolation_level=None)
    held.execute("SELECT count(*) FROM cfurl_cache_response").fetchall()
    yield folder
    held.close()


def make_foundation():
    """A folder of Foundation's with faults, also with a name that is not UTF-8."""
    folder = os.path.join(root, "foundation")
    subprocess.run([maker, "--format", "foundation", "--entries", "20", "--seed", "2", "--faults",
                    "orphan-files,missing-bodies,undecodable", folder], check=True)
    with open(os.path.join(os.fsencode(folder), b"1.\xff.storedcachedurlresponse"), "wb"):
        pass
    return folder


def check_log(log):
    """Each line of a log that has some already, of runs that did something, that failed, and that were skipped."""
    lines = Checker("log")
    for words, status in [(["enforce", "--max-entries", "13", "--yes"], 0), (["purge", "--all"], 64),
                          (["purge", "-c", os.path.join(root, "none"), "--all", "--yes"], 66)]:
        run(*words, "--log", log, status=status)
    with open(log) as file:
        for line in file:
            lines.check(json.loads(line))
    lines.finish(7)


def check_archives(foundation):
    """The documents of archives, of entries with all that is rare, as they are and redacted, and of a folder of files."""
    headers, entries, manifests = map(Checker, ["archive-header", "archive-entry", "archive-manifest"])
    members, text = 0, b""
    for options in [[], ["--redact", "--bodies", "none"], ["--host", "nowhere.example"], ["-c", foundation]]:
        name = os.path.join(root, "documents.tar")
        run("export", "--force", "-o", name, *options, status=None)
        with tarfile.open(name) as archive:
            for member in archive:
                if not member.name.endswith(".json"):
                    continue
                checker = {"urlcache-archive.json": headers, "manifest.json": manifests}.get(member.name, entries)
                members += checker is entries
                document = archive.extractfile(member).read()
                text += document
                checker.check(json.loads(document))
    headers.finish(4)
    assert members > 30, members
    entries.finish(members)
    assert b"text_b64" in text, "a key that is not UTF-8"
    manifests.finish(4)
    lists = Checker("files-index")
    for name, options in [("some-files", []), ("no-files", ["--host", "nowhere.example"])]:
        folder = os.path.join(root, name)
        run("export", "--archive-format", "files", "-o", folder, *options, status=None)
        with open(os.path.join(folder, "index.json")) as file:
            lists.check(json.load(file))
    lists.finish(2)


def main():
    make()
    foundation = make_foundation()
    keyed = [name.replace("_", "-").replace(",", "\\,") for name in KEYED]
    columns = ",".join([*COLUMNS, *keyed]).replace("_", "-")

    lists = Checker("list")
    lists.check(json.loads(run("list", "--format", "json").stdout))
    everything = json.loads(run("list", "--format", "json", "--columns", columns).stdout)
    lists.check(everything)
    assert len(everything["entries"]) == 20 and all(len(entry) >= 38 for entry in everything["entries"])
    third = everything["entries"][2]
    assert [third[name] for name in KEYED] == [
        "2025-01-01T00:00:00Z", [1, 2.5, True, {"d": "e"}], "odd", {"Cookie": "***", "Accept-Encoding": "gzip"}], third
    assert third["user_info"]["b"] == {"base64": "/w=="} and len(third["user_info"]) == 4, third
    for selected, *options in [
        (1, "--user-info", "a"), (0, "--user-info", "z"), (1, "--user-info", "a=2025-01-01T01:00:00+01:00"),
        (0, "--user-info", "a=2025-01-02T00:00:00Z"), (1, "--user-info", "z", "--user-info", "\x1b\"=odd"),
        (1, "--age-basis", "user-info:a", "--stored-before", "2025-01-01T00:00:01Z"),
        (0, "--age-basis", "user-info:a", "--stored-before", "2025-01-01T00:00:00Z"),
        (1, "--age-basis", "user-info:a", "--older-than", "1d", "--at", "2025-01-02T00:00:01Z"),
        (0, "--age-basis", "user-info:b", "--stored-after", "1900-01-01"),
    ]:
        assert int(run("list", "--count", *options).stdout) == selected, options
    lists.check(json.loads(run("list", "--format", "json", "--limit", "0").stdout))
    lists.check(json.loads(run("list", "-c", foundation, "--format", "json").stdout))
    lists.finish(4)

    entries = Checker("entry")
    for options in [[], ["--columns", columns]]:
        for line in run("list", "--format", "ndjson", *options).stdout.splitlines():
            entries.check(json.loads(line))
    of_foundation = run("list", "-c", foundation, "--format", "ndjson", "--columns", columns).stdout.splitlines()
    for line in of_foundation:
        entries.check(json.loads(line))
    assert any(json.loads(line)["id"] is None for line in of_foundation), of_foundation
    entries.finish(40 + 20 + 3 + 1)

    shows = Checker("show")
    names = [str(number) for number in range(1, 8)]
    shows.check(json.loads(run("show", *names, "--format", "json").stdout))
    shown = json.loads(run("show", *names, "--format", "json", "--show-secrets").stdout)
    shows.check(shown)
    assert len(shown) == 7 and shown[1]["key_base64"] == "aP8=" and len(shown[2]["user_info"]) == 4, shown
    of_foundation = [json.loads(line)["id"] for line in of_foundation]
    shows.check(json.loads(run("show", "-c", foundation, *filter(None, of_foundation), "--format", "json").stdout))
    shows.finish(3)

    explained = Checker("explain")
    lines = Checker("explanation")
    for options in [[], ["--policy", "2"], ["--platform", "rfc9111"], ["--platform", "foundation"], ["-c", foundation],
                    ["--request-header", "Accept-Language: é"], ["--user-info", "a"], ["--capacity", "1kB"]]:
        words = ["--all", "--at", "2025-07-01T00:00:00Z", *options, "--format"]
        whole, rows = (run("explain", *words, form, status=None) for form in ("json", "ndjson"))
        whole, rows = json.loads(whole.stdout), rows.stdout.splitlines()
        explained.check(whole)
        assert [json.loads(row) for row in rows] == whole["entries"], options
        for row in rows[:7]:
            lines.check(json.loads(row))
    explained.finish(8)
    lines.finish(7 * 7 + 1)

    absences = Checker("explain-missing")
    head = os.path.join(root, "head")
    with open(head, "wb") as file:
        file.write(b"HTTP/1.1 404 Not Found\r\nCache-Control: no-store\r\nContent-Length: 9000\r\n\r\n")
    url = json.loads(run("list", "--format", "ndjson").stdout.splitlines()[0])["url"]
    for options, status in [([url], 0), ([url + "?x"], 3), (["ftp://a.example/"], 1),
                            ([url + "?x", "--headers-from", head, "--capacity", "1kB"], 1),
                            ([url + "?x", "--headers-from", head, "--platform", "foundation"], 1)]:
        absences.check(json.loads(run("explain", "--why-missing", *options, "--format", "json", status=status).stdout))
    absences.finish(5)

    usages = Checker("usage")
    for options in [[], ["--by", "host"], ["--by", "host", "--limit", "2", "--capacity", "1GiB"],
                    ["--by", "status"], ["--by", "mime"], ["--by", "method"], ["--by", "scheme"], ["--by", "partition"],
                    ["--by", "storage-policy"], ["--by", "age"], ["--by", "size"], ["--histogram"],
                    ["--by", "freshness"], ["--superseded"], ["--savings"], ["--savings", "--limit", "1"],
                    ["--histogram", "--by", "age", "--capacity", "4MiB"]]:
        usages.check(json.loads(run("usage", "--format", "json", *options).stdout))
    usages.check(json.loads(run("usage", "-c", foundation, "--format", "json").stdout))
    usages.finish(18)

    discoveries = Checker("discover")
    sums = Checker("usage-all")
    for folder in found_folders():
        for checker, words in [(discoveries, ["discover", folder, "--max-depth", "1"]),
                               (sums, ["usage", "--all-under", folder])]:
            result = subprocess.run([tool, *words, "--format", "json"], capture_output=True)
            checker.check(json.loads(result.stdout))
    discoveries.finish(3)
    sums.finish(3)

    errors = Checker("error")
    for status, verb, *options in [
        (64, "list", "--limit", "x"), (64, "list", "Cache.db"), (64, "usage", "--fail-above", "1%"),
        (1, "show", "99"), (1, "show", "https://absent.example/"), (64, "show"),
        (64, "purge", "--all"), (66, "list", "-c", os.path.join(root, "none")), (65, "usage", "-c", root),
    ]:
        result = run(verb, *options, "--format", "json", status=status)
        assert result.stdout == b"", result
        error = json.loads(result.stderr)
        assert error["code"] == status, error
        errors.check(error)
    errors.finish(9)

    checks = Checker("check")
    for options in [[], ["--full"], ["--repair", "-n"], ["--repair=orphans", "--yes"], ["--repair", "-n", "--redact-urls"]]:
        checks.check(json.loads(run("check", "--format", "json", *options, status=1).stdout))
    checks.finish(5)

    check_archives(foundation)

    purges = Checker("purge")
    for options in [["--all", "-n"], ["--host", "nowhere.example", "-n"], ["2", "3", "--yes"]]:
        purges.check(json.loads(run("purge", "--format", "json", *options).stdout))
    purges.check(json.loads(run("purge", "-c", foundation, "--all", "-n", "--format", "json").stdout))
    purges.finish(4)

    plans = Checker("plan")
    for options in [["purge", "--all"], ["purge", "--host", "nowhere.example"], ["enforce", "--max-entries", "5"],
                    ["purge", "-c", foundation, "--all"]]:
        plans.check(json.loads(run(*options, "--plan", "-").stdout))
    plans.finish(4)

    applications = Checker("apply")
    plan = os.path.join(root, "plan.json")
    run("purge", "4", "5", "--plan", plan)
    for options, status in [(["-n"], 0), (["--yes"], 0), (["--yes"], 3)]:
        applications.check(
            json.loads(run("apply", plan, "--format", "json", *options, status=status).stdout))
    applications.finish(3)

    enforcements = Checker("enforce")
    for options in [["--max-entries", "15", "-n"], ["--max-entries", "14", "--yes"], ["--max-age", "999999d", "--yes"]]:
        enforcements.check(json.loads(run("enforce", "--format", "json", *options).stdout))
    enforcements.check(json.loads(
        run("enforce", "-c", foundation, "--max-size", "9K", "-n", "--format", "json").stdout))
    enforcements.finish(4)

    imports = Checker("import")
    archive = os.path.join(root, "archive.tar")
    run("export", "-o", archive)
    other = os.path.join(root, "other")
    for words, status in [(["--create", "apple", "-n"], 0), (["--create", "apple", "--id", "7"], 0), ([], 0), (["--limit-free"], 64)]:
        result = subprocess.run([tool, "import", archive, "-c", other, "--format", "json", *words], capture_output=True)
        assert result.returncode == status, result
        if result.stdout:
            imports.check(json.loads(result.stdout))
    imports.finish(3)

    # One entry that the archive has and the cache lacks.
    found = run("list", "-c", other, "--limit", "1", "--format", "ndjson", "--columns", "id").stdout
    subprocess.run([tool, "purge", "-c", other, str(json.loads(found)["id"]), "--yes"], check=True, capture_output=True)
    comparisons = Checker("diff")
    for words, status in [([cache, archive], 0), ([archive, other], 1), ([other, cache, "--stat"], 1)]:
        result = subprocess.run([tool, "diff", *words, "--format", "json"], capture_output=True)
        assert result.returncode == status, result
        comparisons.check(json.loads(result.stdout))
    comparisons.finish(3)

    revalidations = Checker("revalidate")
    base = origin.start()
    asked = os.path.join(root, "asked")
    entries = list(origin.stored_entries(base, ["etag", "rolled", "none", "redirect", "lie", "404", "bare"]))
    origin.make_apple(maker, asked, entries + [("file:///a", 200, {"ETag": "a"}, b"", {}, None)])
    for options, status in [([], 3), (["--refresh", "-n"], 3), (["--id", "1", "--refresh", "--yes"], 0)]:
        result = run("revalidate", "-c", asked, "--all", "--format", "json", *options, status=status)
        revalidations.check(json.loads(result.stdout))
    revalidations.finish(3)

    compactions = Checker("compact")
    for options in [["-n"], [], ["--full"]]:
        compactions.check(json.loads(run("compact", "--format", "json", *options).stdout))
    compactions.finish(3)

    clearings = Checker("expire")
    for options in [["-n"], ["--yes"], ["--yes"]]:
        clearings.check(json.loads(run("expire", "--all", "--clear-user-info", "Cached Date", "--format", "json", *options).stdout))
    clearings.finish(3)

    skips, log = Checker("skipped"), os.path.join(root, "log")
    holder = sqlite3.connect(os.path.join(cache, "Cache.db"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    for verb, *options in [("purge", "--all", "--yes"), ("enforce", "--max-entries", "1", "--yes"), ("compact", "--full")]:
        words = [*options, "--if-busy", "skip", "--wait", "0s", "--log", log, "--format", "json"]
        skips.check(json.loads(run(verb, *words).stdout))
    run("purge", "--all", "--yes", "--wait", "0s", "--log", log, status=75)
    holder.close()
    skips.finish(3)

    configurations = Checker("config")
    file = os.path.join(root, "config.toml")
    with open(file, "w") as output:
        output.write(f"wait = '1s'\n[caches.a]\npath = '{cache}'\nmax-size = 1\n")
    for variables in [{}, {"URLCACHE_ADMIN_CACHE": cache}]:
        environment = os.environ | {"URLCACHE_ADMIN_CONFIG": file} | variables
        result = subprocess.run([tool, "config", "list", "--format", "json"], capture_output=True, env=environment)
        configurations.check(json.loads(result.stdout))
    configurations.finish(2)

    for verb, *urls in [("pin", "https://a.example/", "https://b.example/"), ("unpin", "https://a.example/")]:
        pins = Checker(verb)
        pins.check(json.loads(run(verb, *urls, "--config", file, "--format", "json").stdout))
        pins.finish(1)

    policies = Checker("policy-test")
    with open(file, "a") as output:
        output.write("[[rules]]\nname = 'a'\nmatch.status = '2xx'\naction = 'keep'\n"
                     "[[rules]]\nmatch = {}\nmax-entries = 1\n")
    environment = os.environ | {"URLCACHE_ADMIN_CONFIG": file}
    for words in [["-c", cache], ["-c", foundation], ["-c", cache, "--host", "nowhere.example"]]:
        result = subprocess.run([tool, "policy", "test", "--format", "json", *words], capture_output=True, env=environment)
        policies.check(json.loads(result.stdout))
        words += ["--yes" if "--host" in words else "-n"]
        result = subprocess.run([tool, "enforce", "--format", "json", *words], capture_output=True, env=environment)
        Checker("enforce").check(json.loads(result.stdout))
    policies.finish(3)

    check_log(log)
    # A schema that nothing is held against is one that others refer to.
    names = {name.removesuffix(".schema.json") for name in os.listdir(schemas)}
    for name in names - checked:
        assert any(f'"{name}.schema.json"' in json.dumps(load(other)) for other in checked), name


try:
    main()
finally:
    shutil.rmtree(root)
