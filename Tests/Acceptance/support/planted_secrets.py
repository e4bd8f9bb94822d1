"""Plants marked secrets wherever a cache can hold them, and looks for them in what was exported, however it is encoded."""

import base64
import gzip
import io
import os
import plistlib
import sqlite3
import zipfile
import zlib

MARK = b"s3cr3tm4rk"


def secret(place):
    return MARK.decode() + "-" + place


def plant(cache, id):
    """Puts a secret into every place of an entry but its response body."""
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    response, request = (plistlib.loads(data) for data in database.execute(
        "SELECT response_object, request_object FROM cfurl_cache_blob_data WHERE entry_ID = ?", (id,)).fetchone())
    headers = response["Array"][4]
    headers["Set-Cookie"] = secret("set-cookie")
    headers["Link"] = f"<https://me:{secret('link')}@example.com/>; rel=next"
    every = {name: [value] for name, value in headers.items() if name != "__hhaa__"}
    headers["__hhaa__"] = base64.b64encode(plistlib.dumps(every, fmt=plistlib.FMT_BINARY)).decode()
    request["Array"][19] = {**(request["Array"][19] or {}), "Authorization": "Bearer " + secret("authorization"),
                            "Cookie": secret("cookie"), "Proxy-Authorization": secret("proxy")}
    for url in [response["Array"][0], request["Array"][1]]:
        url["_CFURLString"] = url["_CFURLString"].replace("://", f"://user:{secret('password')}@")
    lists = [plistlib.dumps(value, fmt=plistlib.FMT_BINARY) for value in [
        response, request, {"Cookie": {"Cookie": secret("vary")}}, {"note": secret("user-info"), "data": secret("data").encode()}]]
    database.execute("UPDATE cfurl_cache_blob_data SET response_object = ?, request_object = ?, proto_props = ?, user_info = ? "
                     "WHERE entry_ID = ?", (*lists, id))
    database.execute("UPDATE cfurl_cache_response SET request_key = replace(request_key, '://', ?) WHERE entry_ID = ?",
                     (f"://user:{secret('password')}@", id))
    database.commit()
    database.close()


# Names of parameters and header fields that hold secrets by their names.
PARAMETERS = ["token", "access_token", "api_key", "sig", "X-Amz-Signature", "password", "%74oken", "jwt", "sessionid", "code", "hmac", "SAMLResponse"]
FIELDS = ["Authorization", "X-Api-Key", "X-Auth-Token", "X-CSRF-Token", "Cookie", "Set-Cookie", "Proxy-Authorization", "X-Session", "X-Upstream", "Note"]


def plant_many(cache, count, text):
    """Plants `count` secrets outside bodies, eight in each entry, and one in each body; `text` makes one of a number.

    Returns the secrets outside bodies, and those in bodies. Two entries differ in a secret of their URLs only.
    """
    database = sqlite3.connect(os.path.join(cache, "Cache.db"))
    outside, bodies = [], []
    def secret(into=outside):
        into.append(text(len(outside) + len(bodies)))
        return into[-1]
    def value(field):
        # By their names these fields may hold anything.
        return "Bearer " * (field in ["X-Upstream", "Note"]) + secret()
    ids = [row[0] for row in database.execute("SELECT entry_ID FROM cfurl_cache_response ORDER BY entry_ID")]
    for place, id in enumerate(ids[:-(-count // 8)]):
        response, request = (plistlib.loads(data) for data in database.execute(
            "SELECT response_object, request_object FROM cfurl_cache_blob_data WHERE entry_ID = ?", (id,)).fetchone())
        name, field = PARAMETERS[place % len(PARAMETERS)], FIELDS[place % len(FIELDS)]
        urls = [lambda: f"https://one.example/a.json?{name}={secret()}", lambda: f"https://user:{secret()}@one.example/b?q=1",
                lambda: f"https://one.example/c#access_token={secret()}", lambda: f"https://one.example/d;jsessionid={secret()}/e",
                lambda: f"https://one.example/f?next=https%3A%2F%2Fb.example%2F%3Ftoken%3D{secret()}", lambda: f"https://one.example/g?q=eyJ{secret()}.e30.c2ln",
                lambda: f"https://one.example/h/eyJhbGciOiJIUzI1NiJ9.{secret()}.c2ln/i", lambda: f"https://one.example/j?eyJhbGciOiJIUzI1NiJ9.{secret()}.c2ln"]
        url = urls[place % len(urls)]()
        response["Array"][0]["_CFURLString"] = request["Array"][1]["_CFURLString"] = url
        header = f"<https://c.example/?{name}={secret()}>; rel=next, <https://u:{secret()}@d.example/>"
        headers = {**{key: value for key, value in response["Array"][4].items() if key != "__hhaa__"}, field: value(field),
                   ["Link", "Location", "Content-Location", "Refresh"][place % 4]: header, "Content-Type": "text/plain"}
        every = plistlib.dumps({key: [value] for key, value in headers.items()}, fmt=plistlib.FMT_BINARY)
        response["Array"][4] = {**headers, "__hhaa__": base64.b64encode(every).decode()}
        request["Array"][19] = {"Accept": "*/*", FIELDS[-1 - place % len(FIELDS)]: value(FIELDS[-1 - place % len(FIELDS)]), "Referer": f"https://e.example/?{name}={secret()}#x"}
        lists = [response, request, {"Vary": {"Accept": "*/*", "X-Auth-Token": secret()}}, {"note": gzip.compress(secret().encode(), mtime=0)}]
        database.execute("UPDATE cfurl_cache_blob_data SET response_object = ?, request_object = ?, proto_props = ?, user_info = ? "
                         "WHERE entry_ID = ?", (*[plistlib.dumps(value, fmt=plistlib.FMT_BINARY) for value in lists], id))
        database.execute("UPDATE cfurl_cache_response SET request_key = ? WHERE entry_ID = ?", (url, id))
        body = f"body {secret(bodies)}".encode()
        database.execute("UPDATE cfurl_cache_receiver_data SET isDataOnFS = 0, receiver_data = ? WHERE entry_ID = ?",
                         (gzip.compress(body, mtime=0) if place % 2 else body, id))
    database.execute(f"DELETE FROM cfurl_cache_response WHERE entry_ID > {ids[-(-count // 8) - 1]}")
    database.commit()
    database.close()
    return outside, bodies


def forms(mark=MARK):
    """The mark as it is, and as it looks in Base64 at each place of three."""
    yield mark
    for shift in range(3):
        text = base64.b64encode(bytes(shift) + mark)
        # What depends on the bytes before and after is left out.
        yield text[{0: 0, 1: 2, 2: 3}[shift]:-4]
    yield mark.hex().encode()
    yield mark.decode().encode("utf-16-be")


def layers(data, depth=0):
    """The data, and all that is packed in it."""
    yield data
    if depth > 4:
        return
    if data[:4] == b"PK\3\4":
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            for name in file.namelist():
                yield from layers(file.read(name), depth + 1)
    start = data.find(b"\x1f\x8b\x08")
    while start >= 0:
        decoder = zlib.decompressobj(31)
        try:
            inner = decoder.decompress(data[start:])
        except zlib.error:
            start = data.find(b"\x1f\x8b\x08", start + 1)
            continue
        yield from layers(inner, depth + 1)
        start = data.find(b"\x1f\x8b\x08", max(start + 1, len(data) - len(decoder.unused_data)))


def is_in(data):
    wanted = list(forms())
    return any(form in layer for layer in layers(data) for form in wanted)


assert is_in(b"x" + gzip.compress(base64.b64encode(b"ab" + MARK + b"c"))) and is_in(MARK) and not is_in(b"s3cr3t")
