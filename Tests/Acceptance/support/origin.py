"""An origin on this machine for the tests that revalidate, which misbehaves as origins do, and caches of what it has sent."""

import base64
import email.utils
import gzip
import http.server
import os
import plistlib
import socket
import sqlite3
import subprocess
import threading
import time

TABLES = ["cfurl_cache_response", "cfurl_cache_blob_data", "cfurl_cache_receiver_data"]
DAY = 86400
SUFFIX = ".storedcachedurlresponse"
OLD_BODY, NEW_BODY, LARGE_BODY = b"old body", b"new body", b"large body " * 2000


def date(later=0, now=None):
    return email.utils.formatdate((now or time.time()) + later, usegmt=True)


# Moments that do not depend on when the test runs.
EARLIER, LATER = date(now=1_600_000_000), date(now=1_700_000_000)
FRESH = {"Cache-Control": "max-age=3600", "X-New": "1"}
# What was stored, by the path: header fields that validate it.
STORED = {
    "etag": {"ETag": '"1"'},
    "weak": {"ETag": 'W/"1"'},
    "modified": {"Last-Modified": LATER},
    "both": {"ETag": '"1"', "Last-Modified": LATER},
    "large": {"ETag": '"1"'},
    "ignores": {"ETag": '"1"'},
    "changed": {"ETag": '"1"'},
    "changed-date": {"Last-Modified": EARLIER},
    "rolled": {"Last-Modified": LATER},
    "rolled-tag": {"ETag": '"2"', "Last-Modified": LATER},
    "untold": {"ETag": '"1"'},
    "no-store": {"ETag": '"1"'},
    "gzip": {"ETag": '"1"'},
    "chunked": {"ETag": '"1"'},
    "vary": {"ETag": '"1"', "Vary": "Accept-Language"},
    "404": {"ETag": '"1"'},
    "410": {"ETag": '"1"'},
    "redirect": {"ETag": '"1"'},
    "elsewhere": {"ETag": '"1"'},
    "lie": {"ETag": '"1"'},
    "bare": {"ETag": '"1"'},
    "500": {"ETag": '"1"'},
    "401": {"ETag": '"1"'},
    "slow": {"ETag": '"1"'},
    "huge": {"ETag": '"1"'},
    "cut": {"ETag": '"1"'},
    "drop": {"ETag": '"1"'},
    "garbage": {"ETag": '"1"'},
    "none": {},
}


# The header fields of which one shows a private page; others get a 404, or a page that asks for a password.
CREDENTIALS = ["Authorization", "Cookie", "X-Api-Key", "X-Auth"]


# What was cut off: of the large body the beginning is stored, in the database and in a file.
CUT = {"half-small": {"ETag": '"1"'}, "half-large": {"ETag": '"1"'}}


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # What was asked: the path with the header fields, in the order of the requests.
    asked = []
    # The moment of all dates, if they are to be the same each time.
    now = None
    lock = threading.Lock()
    active = most = 0
    # The URL of another origin, if there is one.
    other = None

    def date_time_string(self, timestamp=None):
        return date(now=Origin.now)

    def answer(self, status, body=b"", fields=FRESH, **more):
        self.send_response(status)
        fields = {**fields, **{name.replace("_", "-"): value for name, value in more.items()}}
        if status != 304 and "Content-Length" not in fields and "Transfer-Encoding" not in fields:
            fields["Content-Length"] = str(len(body))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with Origin.lock:
            Origin.asked.append((self.path, self.headers))
        try:
            self.send(self.path.strip("/").split("?")[0])
        except OSError:
            self.close_connection = True

    def send(self, name):
        tag, since = self.headers["If-None-Match"], self.headers["If-Modified-Since"]
        match name:
            case "etag" | "large" | "both" if tag == '"1"':
                self.answer(304, ETag='"1"', Content_Length="999", Content_Type="x/y")
            case "both" if since == LATER:
                self.answer(304, Last_Modified=LATER)
            case "weak" if tag == 'W/"1"':
                self.answer(304, ETag='W/"1"')
            case "modified" if since == LATER:
                self.answer(304, Last_Modified=LATER)
            case "bare":
                self.answer(304)
            case "lie":
                self.answer(304, ETag='"another"')
            case "ignores":
                self.answer(200, OLD_BODY, ETag='"1"')
            case "changed-date":
                self.answer(200, NEW_BODY, Last_Modified=LATER)
            case "rolled":
                self.answer(200, NEW_BODY, Last_Modified=EARLIER)
            case "rolled-tag":
                self.answer(200, NEW_BODY, ETag='"1"', Last_Modified=EARLIER)
            case "untold":
                self.answer(200, NEW_BODY)
            case "no-store":
                self.answer(200, NEW_BODY, ETag='"2"', Cache_Control="no-store")
            case "gzip":
                self.answer(200, gzip.compress(LARGE_BODY, mtime=0), ETag='"2"', Content_Encoding="gzip")
            case "chunked":
                self.answer(200, b"5\r\nchunk\r\n2\r\ned\r\n0\r\n\r\n", ETag='"2"', Transfer_Encoding="chunked")
            case "vary":
                self.answer(200, NEW_BODY, ETag='"2"', Vary="Accept-Language, X-Other")
            case "404" | "410" | "500":
                self.answer(int(name))
            case "401":
                self.answer(401, WWW_Authenticate='Basic realm="x"')
            case "private-404" | "private-login" if any(self.headers[name] for name in CREDENTIALS):
                self.answer(304, ETag='"1"')
            case "private-404":
                self.answer(404)
            case "private-login":
                self.answer(200, b"Log in", ETag='"login"')
            case "to-private":
                self.answer(302, Location="/private-404")
            case "redirect":
                self.answer(301, Location="/etag")
            case "elsewhere":
                self.answer(302, Location=f"http://localhost:{self.server.server_port}/etag")
            case "other-origin":
                self.answer(302, Location=Origin.other + "etag")
            case "to-file":
                self.answer(302, Location="file:///404")
            case "rest":
                self.answer(206, OLD_BODY[1:9], ETag='"1"', Content_Range="bytes 1-8/9")
            case "half-small" | "half-large" if self.headers["If-Range"] == '"1"':
                start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
                length = len(LARGE_BODY)
                self.answer(206, LARGE_BODY[start:], ETag='"1"', Content_Range=f"bytes {start}-{length - 1}/{length}")
            case "half-small" | "half-large" if tag == '"1"':
                self.answer(304, ETag='"1"')
            case "half-small" | "half-large":
                self.answer(200, LARGE_BODY, ETag='"1"')
            case "slow":
                time.sleep(20)
            case "huge":
                self.answer(200, NEW_BODY * 65536, ETag='"2"')
            case "cut":
                self.answer(200, NEW_BODY, ETag='"2"', Content_Length="1000")
                self.close_connection = True
            case "endless":
                self.answer(200, NEW_BODY, ETag='"2"', Content_Length=str((1 << 63) - 1))
                self.close_connection = True
            case "drop":
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            case "garbage":
                self.wfile.write(b"\x00\xff no HTTP\r\n\r\n")
                self.close_connection = True
            case "pause":
                self.pause()
            case _:
                self.answer(200, NEW_BODY, ETag='"2"')

    def pause(self):
        """Answers after a while, and counts how many do so at once."""
        with Origin.lock:
            Origin.active += 1
            Origin.most = max(Origin.most, Origin.active)
        time.sleep(0.3)
        with Origin.lock:
            Origin.active -= 1
        self.answer(304, ETag='"1"')

    do_HEAD = do_GET

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *arguments):
        """Clients that leave are no error here."""


def start():
    """Starts the origin, which has not been asked for anything, and returns what its URLs begin with."""
    Origin.asked, Origin.other, Origin.most = [], None, 0
    server = Server(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def archived(fields):
    """Header fields as CFNetwork archives them."""
    fields = {"Etag" if name == "ETag" else name: value for name, value in fields.items()}
    arrays = plistlib.dumps({name: [value] for name, value in fields.items()}, fmt=plistlib.FMT_BINARY)
    return {**fields, "__hhaa__": "\r\n\r\n" + base64.b64encode(arrays).decode()}


def url_of(text):
    return {"_CFURLStringType": 15, "_CFURLString": text}


def make_apple(maker, folder, entries, stored=None):
    """Makes a cache of `(url, status, fields, body, request fields, user info)`, all stored two days ago."""
    subprocess.run([maker, "--entries", "1", "--seed", "1", folder], check=True)
    stored = float(stored or time.time() - 2 * DAY) - 978307200
    database = sqlite3.connect(os.path.join(folder, "Cache.db"))
    for table in TABLES:
        database.execute(f"DELETE FROM {table}")
    null = "__CFURLRequestNullTokenString__"
    for number, (url, status, fields, body, asked, info) in enumerate(entries, 1):
        method = asked.pop("method", "GET")
        response = [url_of(url), stored, 0, status, archived(fields), len(body), "text/plain"]
        request = [False, url_of(url), 60.0, 0, null, True, 4, null, null, True, False, 0, 0.0, 0.0, 0, -1, null, 2, method,
                   archived(asked), null, null]
        vary = fields.get("Vary")
        record = {vary: {name: asked[name] for name in vary.split(", ") if name in asked}, "other": True} if vary else None
        name = None
        if len(body) >= 4096:
            name = f"{number:08X}-0000-0000-0000-000000000000"
            with open(os.path.join(folder, "fsCachedData", name), "wb") as file:
                file.write(body)
        lists = [{"Version": 1, "Array": response}, {"Version": 9, "Array": request}, record, info]
        blobs = [value and plistlib.dumps(value, fmt=plistlib.FMT_BINARY) for value in lists]
        database.execute(f"INSERT INTO {TABLES[0]} VALUES (?, 0, ?, 0, ?, '2020-01-01 00:00:00', NULL)", (number, number, url))
        database.execute(f"INSERT INTO {TABLES[1]} VALUES (?, ?, ?, ?, ?)", (number, *blobs))
        database.execute(f"INSERT INTO {TABLES[2]} VALUES (?, ?, ?)", (number, int(name is not None), name or body))
    database.commit()
    database.close()


def apple_entries(folder):
    """All entries by their URLs: the decoded columns, and the body wherever it is."""
    database = sqlite3.connect(f"file:{folder}/Cache.db?mode=ro", uri=True)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    rows = [dict((row[0], row[1:]) for row in database.execute(f"SELECT * FROM {name}")) for name in TABLES]
    database.close()
    assert rows[0].keys() == rows[1].keys() == rows[2].keys(), rows
    entries = {}
    files = set()
    for number, (_, hash_value, policy, key, time_stamp, partition) in rows[0].items():
        response, request, properties, info = (blob and plistlib.loads(blob) for blob in rows[1][number])
        on_disk, body = rows[2][number]
        if on_disk:
            assert isinstance(body, str) and body not in files, body
            files.add(body)
            with open(os.path.join(folder, "fsCachedData", body), "rb") as file:
                body = file.read()
        fields = dict(response["Array"][4])
        arrays = plistlib.loads(base64.b64decode(fields.pop("__hhaa__")))
        assert {name: ", ".join(values) for name, values in arrays.items()} == fields, fields
        entries[key] = {
            "id": number, "hash": hash_value, "policy": policy, "time_stamp": time_stamp, "partition": partition,
            "url": response["Array"][0]["_CFURLString"], "stored": response["Array"][1] + 978307200,
            "status": response["Array"][3], "fields": fields, "length": response["Array"][5], "mime": response["Array"][6],
            "request": request, "properties": properties, "info": info, "body": body, "on_disk": on_disk}
    return entries, files


def stored_entries(base, names=STORED):
    """What the origin has sent two days ago, and what is stale by now."""
    for name in names:
        fields = {"Date": date(-2 * DAY), "Cache-Control": "max-age=60", "Age": "7", "Content-Type": "text/plain", "X-Old": "1"}
        body = LARGE_BODY if name == "large" else OLD_BODY
        fields["Content-Length"] = str(len(LARGE_BODY if name in CUT else body))
        if name in CUT:
            body = LARGE_BODY[:100 if name == "half-small" else 9000]
        yield (base + name, 200, {**fields, **{**STORED, **CUT}[name]}, body, {"Accept": "*/*", "Accept-Language": "en"}, {"app": "kept"})


def foundation_entries(folder):
    """The entries of a folder of Foundation's by their keys: the newest file of each, decoded."""
    entries = {}
    names = [name for name in os.listdir(folder) if name.endswith(SUFFIX)]
    for name in sorted(names, key=lambda name: int(name.split(".")[0])):
        with open(os.path.join(folder, name), "rb") as file:
            archive = plistlib.load(file)
        objects = archive["$objects"]
        root = objects[archive["$top"]["root"].data]
        response = objects[root["response"].data]
        headers = objects[response["NS.allHeaderFields"].data]
        values = [[objects[place.data] for place in headers[part]] for part in ("NS.keys", "NS.objects")]
        entries[name.split(".")[1]] = {
            "url": objects[objects[response["NS.url"].data]["NS.relative"].data], "status": response["NS.statusCode"],
            "fields": dict(zip(*values)), "body": objects[root["data"].data],
            "stored": objects[root["date"].data]["NS.time"] + 978307200}
    return entries
