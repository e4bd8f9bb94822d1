"""Compares what urlcache-admin lists of caches as Apple systems write them with what sqlite3 and plistlib see on a copy.

    compare_samples.py URLCACHE-ADMIN FOLDER
"""

import base64, hashlib, json, os, plistlib, shutil, sqlite3, subprocess, sys, tempfile

tool, samples = sys.argv[1:]


def state(folder):
    """The names, the bytes and the times of all files of a folder."""
    result = {}
    for root, folders, files in os.walk(folder):
        for name in files + folders:
            path = os.path.join(root, name)
            status = os.stat(path)
            digest = None
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
            result[path] = (digest, status.st_mtime_ns, status.st_size)
    return result


def archived_headers(value):
    """Header fields as (name, value) pairs; repeated ones apart where `__hhaa__` tells them."""
    value = dict(value)
    repeated = value.pop("__hhaa__", None)
    repeated = plistlib.loads(base64.b64decode(repeated)) if repeated else {}
    return sorted(
        (name, item)
        for name, text in value.items()
        for item in (repeated.get(name) if len(repeated.get(name, [])) > 1 else [text])
    )


METHOD = {3: 12, 4: 13, 9: 18}


def expected(folder):
    """The entries of a cache, and their bodies, by id."""
    with tempfile.TemporaryDirectory() as copy:
        copy = os.path.join(copy, "cache")
        shutil.copytree(folder, copy)
        for root, _, files in os.walk(copy):
            os.chmod(root, 0o700)
            for name in files:
                os.chmod(os.path.join(root, name), 0o600)
        database = sqlite3.connect(os.path.join(copy, "Cache.db"))
        columns = [row[1] for row in database.execute("PRAGMA table_info(cfurl_cache_receiver_data)")]
        in_file = "isDataOnFS" if "isDataOnFS" in columns else "0"
        result, bodies = {}, {}
        for row in database.execute(
            f"""SELECT entry_ID, request_key, {in_file}, receiver_data, response_object, request_object
                FROM cfurl_cache_response JOIN cfurl_cache_blob_data USING (entry_ID)
                JOIN cfurl_cache_receiver_data USING (entry_ID)"""
        ):
            identifier, key, in_file_value, body, response, request = row
            if in_file_value:
                with open(os.path.join(copy, "fsCachedData", body), "rb") as file:
                    body = file.read()
            bodies[identifier] = body
            response, request = plistlib.loads(response), plistlib.loads(request)
            # That of a redirect can end after its header fields.
            mime = response["Array"][6] if len(response["Array"]) > 6 else "__CFURL"
            place = METHOD[request["Version"]]
            result[identifier] = {
                "id": identifier,
                "key": key,
                "size": len(body),
                "url": response["Array"][0]["_CFURLString"],
                "status": response["Array"][3],
                "mime": None if mime.startswith("__CFURL") else mime,
                "method": request["Array"][place],
                "response_headers": archived_headers(response["Array"][4]),
                "request_headers": archived_headers(request["Array"][place + 1]),
            }
        database.close()
        return result, bodies


def main():
    equal = refused = 0
    for name in sorted(os.listdir(samples)):
        folder = os.path.join(samples, name)
        before = state(folder)
        columns = "id,key,size,url,status,mime,method,response-headers,request-headers"
        run = subprocess.run(
            [tool, "list", "-c", folder, "--format", "json", "--show-secrets", "--columns", columns],
            capture_output=True,
        )
        assert state(folder) == before, f"{name} changed"
        if not name.startswith("schema-"):
            assert run.returncode == 65, (name, run.returncode)
            error = json.loads(run.stderr)
            kind = "unsupported" if name == "utf-16" else "not-a-cache"
            assert error["kind"] == kind and error["code"] == 65, (name, error)
            refused += 1
            continue
        assert run.returncode == 0, (name, run.stderr)
        entries = {entry["id"]: entry for entry in json.loads(run.stdout)["entries"]}
        wanted, bodies = expected(folder)
        assert entries.keys() == wanted.keys(), name
        for identifier, entry in entries.items():
            for headers in ("response_headers", "request_headers"):
                entry[headers] = sorted(tuple(field) for field in entry[headers])
            assert entry == wanted[identifier], (name, entry, wanted[identifier])
        for identifier in list(bodies)[:5]:
            body = subprocess.run([tool, "body", "-c", folder, str(identifier)], capture_output=True)
            assert body.returncode == 0 and body.stdout == bodies[identifier], (name, identifier)
            show = subprocess.run([tool, "show", "-c", folder, str(identifier), "--format", "json"],
                                  capture_output=True)
            digest = hashlib.sha256(bodies[identifier]).hexdigest()
            assert json.loads(show.stdout)[0]["sha256"] == digest, (name, identifier)
        assert state(folder) == before, f"{name} changed"
        equal += 1
    print(f"{equal} caches equal, {refused} refused, nothing changed")


main()
