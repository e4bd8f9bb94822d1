"""Exports caches, and holds each archive against its cache with sqlite3, tar, bsdtar, unzip's own Python, jq and sha256sum.

    check_exporting.py URLCACHE-ADMIN SAMPLE-CACHE [FOLDER OF REAL CACHES]

Prints a line for each case, and ends at the first that is not as it should be.
"""

import base64, glob, hashlib, io, json, os, re, shutil, signal, sqlite3, stat, subprocess, sys, tarfile, tempfile, zipfile

from heard_signals import hear_signals

tool, maker = sys.argv[1:3]
samples = sys.argv[3] if len(sys.argv) > 3 else ""
root = tempfile.mkdtemp()
PARTS = {"response_object": "response.plist", "request_object": "request.plist", "proto_props": "proto-props.plist",
         "user_info": "user-info.plist", "body": "body"}
FORMATS = ["tar", "tar.gz", "tar.zst", "zip"]


def run(*words, status=0, **options):
    result = subprocess.run([tool, *words], capture_output=True, stdin=subprocess.DEVNULL, **options)
    assert result.returncode == status, (words, result)
    return result


def members(archive):
    """The members of an archive in their order, read by Python; zstd by its own program."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as file:
            return [(info.filename, file.read(info)) for info in file.infolist()]
    with open(archive, "rb") as file:
        data = file.read()
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        data = subprocess.run(["zstd", "-dcq", archive], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as file:
        infos = file.getmembers()
        assert all(info.isreg() and not info.issparse() and not info.pax_headers for info in infos)
        assert {(info.mtime, info.uid, info.gid, info.uname, info.gname, info.mode) for info in infos} == {
            (0, 0, 0, "", "", 0o644)}
        return [(info.name, file.extractfile(info).read()) for info in infos]


def tar_bytes(archive):
    result = subprocess.run(["zstd", "-dcq", archive] if archive.endswith("zst") else ["gzip", "-dc", archive],
                            capture_output=True, check=True)
    return result.stdout


def stored(cache):
    """All columns of all entries, by sqlite3 from a copy, with the bytes of the bodies."""
    copy = os.path.join(root, "copy")
    shutil.copytree(cache, copy)
    path = sorted(glob.glob(os.path.join(copy, "*.db")))[0]
    database = sqlite3.connect(path)
    database.text_factory = bytes
    database.row_factory = sqlite3.Row
    entries = {}
    for table in ["response", "blob_data", "receiver_data"]:
        for row in database.execute(f"SELECT * FROM cfurl_cache_{table}"):
            entries.setdefault(row["entry_ID"], {}).update({key: row[key] for key in row.keys()})
    for entry in entries.values():
        if "receiver_data" not in entry:
            continue
        entry["body"] = entry.pop("receiver_data")
        if entry.get("isDataOnFS", 0) > 0:
            try:
                with open(os.path.join(copy, "fsCachedData", entry["body"].decode()), "rb") as file:
                    entry["body"] = file.read()
            except FileNotFoundError:
                entry["body"] = None
    database.close()
    shutil.rmtree(copy)
    return entries


def value(column, written):
    """What the JSON of a column stands for."""
    if column in ("entry_ID", "hash_value") and isinstance(written, str):
        return int(written)
    if isinstance(written, str):
        return written.encode()
    if isinstance(written, dict):
        (kind, text), = written.items()
        return {"integer": int, "real": float.fromhex, "text_b64": base64.b64decode, "blob_b64": base64.b64decode}[kind](text)
    return written


def check(archive, cache):
    """Holds an archive against its cache, value by value."""
    entries, found = stored(cache), members(archive)
    names, contents = [name for name, _ in found], dict(found)
    assert len(contents) == len(names)
    assert names[0] == "urlcache-archive.json" and names[-2:] == ["manifest.json", "SHA256SUMS"]
    lines = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in found[:-1])
    assert contents["SHA256SUMS"].decode() == lines
    expected = []
    for number, (id, entry) in enumerate(sorted(entries.items()), 1):
        folder = f"entries/{number:010}/"
        expected.append(folder + "entry.json")
        document = json.loads(contents[folder + "entry.json"])
        row = {name: value(name, written) for name, written in document["row"].items()}
        assert row == {name: item for name, item in entry.items() if name not in PARTS}, (row, entry)
        for part, name in PARTS.items():
            if part not in entry:
                assert part not in document["members"], (part, document)
            elif entry[part] is None:
                assert document["members"][part] is None, (part, document)
            else:
                described = document["members"][part]
                assert contents[folder + name] == entry[part], (archive, folder, name)
                assert described["size"] == len(entry[part]) and described["name"] == name, described
                assert described["sha256"] == hashlib.sha256(entry[part]).hexdigest(), described
                expected.append(folder + name)
    assert names[1:-2] == expected, (names, expected)
    manifest = json.loads(contents["manifest.json"])
    bodies = sum(len(entry["body"]) for entry in entries.values() if entry.get("body"))
    assert manifest == {"complete": True, "entries": len(entries), "members": len(names) - 2, "body_bytes": bodies}, manifest
    header = json.loads(contents["urlcache-archive.json"])
    newest = max((entry["time_stamp"] for entry in entries.values() if entry.get("time_stamp")), default=None)
    assert header["created"] == (newest and newest.decode().replace(" ", "T") + "Z"), (header, newest)
    assert header["filter"] is None and header["requires"] == [] and header["version"] == {"major": 1, "minor": 0}


def caches():
    made = os.path.join(root, "made")
    subprocess.run([maker, "--entries", "60", "--seed", "3", made], check=True)
    yield made
    faulty = os.path.join(root, "faulty")
    subprocess.run([maker, "--entries", "40", "--seed", "4", "--schema", "202", "--faults",
                    "orphan-files,missing-bodies,undecodable", faulty], check=True)
    yield faulty
    odd = os.path.join(root, "odd")
    subprocess.run([maker, "--entries", "12", "--seed", "5", odd], check=True)
    database = sqlite3.connect(os.path.join(odd, "Cache.db"))
    database.execute("ALTER TABLE cfurl_cache_response ADD COLUMN later")
    for id, column, sql in [
        (1, "time_stamp", "3.25"), (2, "time_stamp", "-1e-310"), (3, "storage_policy", "9007199254740993"), (4, "version", "x'00ff'"),
        (5, "partition", "CAST(x'ff41' AS TEXT)"), (6, "hash_value", "'text'"), (7, "later", "9e999"), (8, "later", "'a\"\\\u202e\n'"),
    ]:
        database.execute(f"UPDATE cfurl_cache_response SET {column} = {sql} WHERE entry_ID = {id}")
    database.execute("UPDATE cfurl_cache_blob_data SET user_info = 'text', proto_props = NULL WHERE entry_ID = 9")
    database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = zeroblob(5000000) WHERE entry_ID = 10")
    database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = x'' WHERE entry_ID = 11")
    database.execute("DELETE FROM cfurl_cache_receiver_data WHERE entry_ID = 12")
    database.commit()
    database.close()
    yield odd


def by_value():
    for cache in caches():
        # The two kinds of time that are no text have no place in `created`.
        for format in FORMATS:
            archive = os.path.join(root, f"archive.{format}")
            run("export", "-c", cache, "-o", archive, *(["--force"] if os.path.exists(archive) else []))
            assert stat.S_IMODE(os.stat(archive).st_mode) == 0o600 and not os.path.exists(archive + ".partial")
            if os.path.basename(cache) != "odd":
                check(archive, cache)
            else:
                odd(archive, cache)
    print("made-up caches: ok", flush=True)
    if not os.path.isdir(samples):
        return print("real caches: not here", flush=True)
    for number, cache in enumerate(sorted(glob.glob(os.path.join(samples, "schema-*")))):
        archive = os.path.join(root, f"real{number}.tar.zst")
        run("export", "-c", cache, "-o", archive)
        check(archive, cache)
    print("real caches: ok", flush=True)


def odd(archive, cache):
    """Values that no cache should have are kept with their classes."""
    entries, contents = stored(cache), dict(members(archive))
    for number, (id, entry) in enumerate(sorted(entries.items()), 1):
        document = json.loads(contents[f"entries/{number:010}/entry.json"])
        row = {name: value(name, written) for name, written in document["row"].items()}
        assert row == {name: item for name, item in entry.items() if name not in PARTS}, (row, entry)
    version = json.loads(contents["entries/0000000004/entry.json"])["row"]["version"]
    assert version == {"blob_b64": "AP8="}, version
    text = contents["entries/0000000008/entry.json"]
    assert b"\\u202e" in text and text.isascii()
    info = json.loads(contents["entries/0000000009/entry.json"])["members"]["user_info"]
    assert info["class"] == "text" and contents["entries/0000000009/user-info.plist"] == b"text"
    assert len(contents["entries/0000000010/body"]) == 5000000 and contents["entries/0000000011/body"] == b""
    assert "body" not in json.loads(contents["entries/0000000012/entry.json"])["members"]


def stock_tools():
    cache = os.path.join(root, "made")
    for format, unpack in [("tar", ["tar", "-xf"]), ("tar.gz", ["tar", "-xzf"]), ("tar.zst", ["bsdtar", "-xf"]),
                           ("zip", ["bsdtar", "-xf"])]:
        archive, folder = os.path.join(root, f"stock.{format}"), os.path.join(root, "unpacked")
        run("export", "-c", cache, "-o", archive)
        os.mkdir(folder)
        subprocess.run([*unpack, archive], cwd=folder, check=True)
        subprocess.run(["sha256sum", "-c", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
        files = sorted(glob.glob(os.path.join(folder, "entries/*/entry.json")))
        ids = subprocess.run(["jq", "-r", ".row.entry_ID"], stdin=None, input=b"".join(open(file, "rb").read() for file in files),
                             capture_output=True, check=True).stdout.split()
        assert [int(id) for id in ids] == sorted(stored(cache))
        shutil.rmtree(folder)
    print("stock tools: ok", flush=True)


def same_bytes():
    cache = os.path.join(root, "made")
    first = os.path.join(root, "first.tar")
    run("export", "-c", cache, "-o", first)
    with open(first, "rb") as file:
        tar = file.read()
    assert run("export", "-c", cache, "-o", "-", "--archive-format", "tar", env={"TZ": "Asia/Tokyo"}).stdout == tar
    for format, level in [("tar.zst", "1"), ("tar.zst", "19"), ("tar.gz", "9")]:
        path = os.path.join(root, f"level{level}.{format}")
        run("export", "-c", cache, "-o", path, "--level", level, "--threads", "2")
        assert tar_bytes(path) == tar
    zips = [run("export", "-c", cache, "-o", "-", "--archive-format", "zip", env={"TZ": zone}).stdout
            for zone in ["UTC", "Asia/Tokyo"]]
    assert zips[0] == zips[1]
    for words, environment in [(["--created", "2020-01-02T03:04:05Z"], {"SOURCE_DATE_EPOCH": "1"}),
                               ([], {"SOURCE_DATE_EPOCH": "1577934245"})]:
        data = run("export", "-c", cache, "-o", "-", "--archive-format", "tar", *words, env=environment).stdout
        assert b'"created":"2020-01-02T03:04:05Z"' in data
    print("same bytes: ok", flush=True)


def selected():
    cache = os.path.join(root, "made")
    some = os.path.join(root, "some.tar")
    run("export", "-c", cache, "-o", some, "3", "5", "99", status=1)
    contents = dict(members(some))
    assert json.loads(contents["manifest.json"])["entries"] == 2
    assert json.loads(contents["urlcache-archive.json"])["filter"] == {"bodies": "all", "entries": "selected"}
    assert [json.loads(contents[f"entries/{number:010}/entry.json"])["row"]["entry_ID"] for number in [1, 2]] == ["3", "5"]
    bare = os.path.join(root, "bare.tar")
    run("export", "-c", cache, "-o", bare, "--bodies", "none")
    assert not [name for name, _ in members(bare) if name.endswith("/body")]
    assert os.path.getsize(bare) > 1000
    print("selected: ok", flush=True)


def looked_at():
    """An archive shows what its cache shows, and is never changed."""
    columns = ("id,stored,first-stored,age,status,method,size,mime,url,host,path,scheme,partition,disk,body-location,policy,etag,"
               "last-modified,cache-control,date,expires,key,request-headers,response-headers,user-info,proto-props")
    looks = [["list", "--format", "ndjson", "--columns", columns, "--at", "2026-01-01T00:00:00Z"],
             ["list", "--mime", "image/*", "--sort", "-size", "--limit", "5", "--format", "csv"], ["list", "--count", "--status", "4xx"],
             ["show", "3", "17", "--show-secrets"], ["body", "17"], ["show", "9", "--raw-plist", "response_object"]]
    for cache in [os.path.join(root, "made"), *sorted(glob.glob(os.path.join(samples, "schema-203-main*")))]:
        for format in FORMATS:
            archive = os.path.join(root, f"looked.{format}")
            run("export", "-c", cache, "-o", archive, "--force")
            with open(archive, "rb") as file:
                before = file.read()
            for words in looks:
                # The name of a body file is not in the archive.
                shown = [re.sub(rb" [0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", b"", run(*words, "-c", path).stdout)
                         for path in [archive, cache]]
                assert shown[0] == shown[1], (words, format, shown)
            groups = [json.loads(run("usage", "-c", path, "--by", "mime", "--format", "json").stdout)["groups"]
                      for path in [archive, cache]]
            assert groups[0] == groups[1]
            for other in FORMATS:
                again = os.path.join(root, f"again.{other}")
                run("export", "-c", archive, "-o", again, "--force")
                assert members(again) == members(archive)
            run("purge", "-c", archive, "--all", "--yes", status=64)
            with open(archive, "rb") as file:
                assert file.read() == before
        data = run("export", "-c", cache, "-o", "-", "--archive-format", "tar").stdout
        cut = os.path.join(root, "cut.tar")
        with open(cut, "wb") as file:
            file.write(data[:len(data) // 2])
        run("list", "-c", cut, status=65)
    print("looked at: ok", flush=True)


def refused():
    cache = os.path.join(root, "made")
    path = os.path.join(root, "there.tar")
    with open(path, "w") as file:
        file.write("there")
    run("export", "-c", cache, "-o", path, status=73)
    assert open(path).read() == "there"
    run("export", "-c", cache, "-o", path, "--force")
    assert tarfile.is_tarfile(path)
    database = os.path.join(cache, "Cache.db")
    before = open(database, "rb").read()
    run("export", "-c", cache, "-o", database, "--archive-format", "tar", "--force", status=64)
    assert open(database, "rb").read() == before
    for words, status in [(["-o", os.path.join(root, "x.7z")], 64), (["-o", os.path.join(root, "x.tar"), "--level", "3"], 64),
                          (["-o", os.path.join(root, "x.tar.zst"), "--level", "20"], 64),
                          (["-o", os.path.join(root, "none/x.tar")], 73), (["-o", "/dev/full"], 73)]:
        run("export", "-c", cache, *words, *(["--archive-format", "tar"] if "/dev/full" in words else []), status=status)
    link = os.path.join(root, "link.tar.partial")
    os.symlink(os.path.join(root, "elsewhere"), link)
    run("export", "-c", cache, "-o", os.path.join(root, "link.tar"), status=73)
    assert not os.path.exists(os.path.join(root, "elsewhere"))
    # What a killed export has left is written over; another that is running is left alone.
    rest = os.path.join(root, "rest.tar.partial")
    with open(rest, "w") as file:
        file.write("x" * 10_000_000)
    run("export", "-c", cache, "-o", os.path.join(root, "rest.tar"))
    assert tarfile.is_tarfile(os.path.join(root, "rest.tar")) and not os.path.exists(rest)
    # A full file system leaves nothing behind.
    result = subprocess.run(["sh", "-c", 'ulimit -f 100; trap "" XFSZ; exec "$@"', "sh", tool, "export", "-c", cache,
                             "-o", os.path.join(root, "full.tar")], capture_output=True)
    assert result.returncode == 74, result
    # A signal ends it, and leaves nothing behind.
    many = os.path.join(root, "many")
    subprocess.run([maker, "--entries", "4000", "--seed", "1", "--no-large-bodies", many], check=True)
    for number in [signal.SIGINT, signal.SIGTERM]:
        process = subprocess.Popen([tool, "export", "-c", many, "-o", os.path.join(root, "full.tar.zst"), "--level", "19"],
                                   preexec_fn=hear_signals)
        while not os.path.exists(os.path.join(root, "full.tar.zst.partial")):
            assert process.poll() is None
        process.send_signal(number)
        assert process.wait() == -number
    # The reader of a pipe may have had enough.
    pipe = subprocess.Popen([tool, "export", "-c", cache, "-o", "-", "--archive-format", "tar"], stdout=subprocess.PIPE)
    pipe.stdout.read(10)
    pipe.stdout.close()
    assert pipe.wait() == 0
    assert not glob.glob(os.path.join(root, "full*")) and not [name for name in os.listdir(root) if name.endswith(".partial")
                                                               and name != "link.tar.partial"]
    print("refused: ok", flush=True)


def too_long():
    """A tar has no room for a body of 8 GiB, and nothing else takes one without a word: its entry is left out, and all others are there."""
    cache = os.path.join(root, "toolong")
    subprocess.run([maker, "--entries", "20", "--seed", "4", cache], check=True, capture_output=True)
    longest, other = sorted(glob.glob(os.path.join(cache, "fsCachedData", "*")))[:2]
    os.truncate(longest, 8 << 30)
    os.truncate(other, 100_000)
    # By default what a tar cannot hold stays out of every format.
    result = run("export", "-c", cache, "-o", os.path.join(root, "toolong.zip"), status=3)
    assert b"its body is a sparse file" in result.stderr, result
    archive = os.path.join(root, "toolong.tar")
    result = run("export", "-c", cache, "-o", archive, status=3)
    assert b"1 entry is left out: its body is a sparse file" in result.stderr, result
    entries = [name for name, _ in members(archive) if name.endswith("/entry.json")]
    assert entries == [f"entries/{number:010}/entry.json" for number in range(1, 20)]
    print("too long: ok", flush=True)


try:
    by_value()
    stock_tools()
    same_bytes()
    selected()
    looked_at()
    refused()
    too_long()
finally:
    shutil.rmtree(root)
