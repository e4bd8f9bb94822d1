"""Has other programs judge a HAR: haralyzer reads it, har2warc makes a web archive of it, and warcio reads that.

    judge_har.py HAR WARC

The web archive is written to WARC. Prints `ok` if each of them sees what `json` sees.
"""

import base64, json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".build", "peers"))
import har2warc.har2warc, haralyzer
from warcio.archiveiterator import ArchiveIterator

archive, made = sys.argv[1:]
with open(archive, encoding="utf-8") as file:
    log = json.load(file)["log"]
parser = haralyzer.HarParser({"log": log})
assert (parser.version, parser.creator) == (log["version"], log["creator"]), (parser.version, parser.creator)
urls = [entry["request"]["url"] for entry in log["entries"]]
assert [entry["request"]["url"] for entry in parser.har_data["entries"]] == urls


def body_of(entry):
    content = entry["response"]["content"]
    text = content.get("text", "")
    return base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()


har2warc.har2warc.HarParser(archive, made, gzip=False).parse()
with open(made, "rb") as file:
    found = [(record.rec_headers["WARC-Target-URI"], record.content_stream().read())
             for record in ArchiveIterator(file) if record.rec_type == "response"]
expected = [(url, body_of(entry)) for url, entry in zip(urls, log["entries"])]
assert len(found) == len(expected), (len(found), len(expected))
for one, other in zip(found, expected):
    assert one == other, (one, other)
print("ok")
