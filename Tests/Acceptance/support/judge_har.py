"""Has other programs judge a HAR: haralyzer reads it, har2warc makes a web archive of it, and warcio reads that."""

import base64
import json

import pytest

haralyzer = pytest.importorskip("haralyzer", reason="haralyzer: not here")
har2warc = pytest.importorskip("har2warc.har2warc", reason="har2warc: not here")
ArchiveIterator = pytest.importorskip("warcio.archiveiterator", reason="warcio: not here").ArchiveIterator


def body_of(entry):
    content = entry["response"]["content"]
    text = content.get("text", "")
    return base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()


def judge(archive, made):
    """Fails if one of them sees something else than `json` sees. The web archive is written to `made`."""
    with open(archive, encoding="utf-8") as file:
        log = json.load(file)["log"]
    parser = haralyzer.HarParser({"log": log})
    assert (parser.version, parser.creator) == (log["version"], log["creator"]), (parser.version, parser.creator)
    urls = [entry["request"]["url"] for entry in log["entries"]]
    assert [entry["request"]["url"] for entry in parser.har_data["entries"]] == urls
    har2warc.HarParser(archive, made, gzip=False).parse()
    with open(made, "rb") as file:
        found = [(record.rec_headers["WARC-Target-URI"], record.content_stream().read())
                 for record in ArchiveIterator(file) if record.rec_type == "response"]
    expected = [(url, body_of(entry)) for url, entry in zip(urls, log["entries"])]
    assert len(found) == len(expected), (len(found), len(expected))
    for one, other in zip(found, expected):
        assert one == other, (one, other)
