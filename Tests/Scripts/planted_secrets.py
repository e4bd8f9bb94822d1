"""Plants marked secrets wherever a cache can hold them, and looks for them in what was exported, however it is encoded."""

import base64, gzip, io, os, plistlib, sqlite3, zipfile, zlib

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
