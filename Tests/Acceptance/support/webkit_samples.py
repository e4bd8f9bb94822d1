"""Caches that WebKitGTK wrote, with what the origin sent and what another reader sees in them.

`forged-*` are the same entries under the keys, and with the certificates, of Apple systems; no real writer made them.
"""

import functools
import json
import os
import shutil
import tarfile

import scratch

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "webkit", "samples")

# The caches: their folder and archive, and what was found in them.
NAMES = ["plain/store", "large/store", "partitions/store", "partitions/forged-cocoa-v16", "partitions/forged-cocoa-v17", "partitions/forged-cocoa-v18"]
# Those that WebKit itself wrote.
WRITTEN = NAMES[:3]


def unpack(name, to):
    """Unpacks a cache with its hard links, modes and times, and returns the folder that has its version."""
    folder = scratch.path(to)
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(os.path.join(FOLDER, name + ".tar.gz")) as archive:
        archive.extractall(folder, filter="tar")
    for inner, folders, _ in os.walk(folder):
        if any(one.startswith("Version ") for one in folders):
            return inner
    raise AssertionError(name)


@functools.cache
def lines(name):
    with open(os.path.join(FOLDER, name)) as file:
        return [json.loads(line) for line in file]


def records(name):
    """The responses that the other reader has found, by their id."""
    found = lines(os.path.join(os.path.dirname(name), "records.ndjson"))
    return {os.path.basename(record["file"]): record for record in found if record["type"] == "Resource"}


def lists(name):
    """The lists of what a page loaded that the other reader has found, by their id."""
    found = lines(os.path.join(os.path.dirname(name), "records.ndjson"))
    return {os.path.basename(record["file"]): record for record in found if record["type"] == "SubResources"}


def sent(name):
    """What the origin sent, by the number that it wrote into the response."""
    return {str(answer["seq"]): answer for answer in lines(os.path.join(os.path.dirname(name), "origin.ndjson"))}


def files(cache):
    """All files of a cache, by their names in its folder, with what is in them."""
    found = {}
    for folder, _, names in os.walk(cache):
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, cache)] = scratch.read(path)
    return found


def without(cache, records):
    """The files that are left of a cache when some records, of the other reader, are removed: also the bodies in `Blobs` that only they have."""
    left = files(cache)
    [version] = [name for name in os.listdir(cache) if name.startswith("Version ")]
    links = {}
    for file in left:
        if file.startswith(os.path.join(version, "Blobs")):
            links[os.path.basename(file)] = os.lstat(os.path.join(cache, file)).st_nlink
    for record in records:
        del left[os.path.join(version, record["file"])]
        if left.pop(os.path.join(version, record["file"] + "-blob"), None) is not None:
            links[record["body_hash"]] -= 1
            if links[record["body_hash"]] == 1:
                del left[os.path.join(version, "Blobs", record["body_hash"])]
    return left
