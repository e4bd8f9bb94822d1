"""Reads WARC and WACZ files with warcio, and HARs and native archives with Python."""

import base64
import hashlib
import io
import json
import tarfile
import zipfile

import pytest

from scratch import export, own, read

ArchiveIterator = pytest.importorskip("warcio.archiveiterator", reason="warcio: not here").ArchiveIterator
Checker = pytest.importorskip("warcio.checker", reason="warcio: not here").Checker


def native_bodies(cache, *options):
    """What a native archive says: the URLs with the digests of their bodies."""
    with tarfile.open(export(cache, own("native.tar"), *options)) as archive:
        entries = [json.load(archive.extractfile(info)) for info in archive if info.name.endswith("entry.json")]
    return sorted((entry["url"], entry["members"]["body"]["sha256"]) for entry in entries)


def records(file):
    data = read(file)
    if file.endswith(".wacz"):
        data = zipfile.ZipFile(io.BytesIO(data)).read("archive/data.warc.gz")
    for record in ArchiveIterator(io.BytesIO(data), check_digests="raise"):
        yield record, record.content_stream().read()


def warcio_bodies(file):
    return sorted((record.rec_headers["WARC-Target-URI"], hashlib.sha256(body).hexdigest())
                  for record, body in records(file) if record.rec_type == "response")


def har_bodies(file):
    for entry in json.loads(read(file))["log"]["entries"]:
        content = entry["response"]["content"]
        body = base64.b64decode(content["text"]) if content.get("encoding") == "base64" else content["text"].encode()
        yield entry["request"]["url"], hashlib.sha256(body).hexdigest()


def is_checked(file):
    checker = Checker(type("Options", (), {"inputs": [file], "verbose": False}))
    checker.process_all()
    return checker.exit_value == 0
