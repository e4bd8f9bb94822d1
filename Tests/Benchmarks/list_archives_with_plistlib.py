"""Lists a Foundation store as people do by hand: os.scandir and plistlib, with the columns of `list`.

    list_archives_with_plistlib.py DIR
"""

import csv, os, plistlib, sys

SUFFIX = ".storedcachedurlresponse"
EPOCH = 978307200

writer = csv.writer(sys.stdout)
for file in os.scandir(sys.argv[1]):
    if not file.name.endswith(SUFFIX):
        continue
    with open(file.path, "rb") as archive:
        archive = plistlib.load(archive)
    objects = archive["$objects"]
    root = objects[archive["$top"]["root"].data]
    response = objects[root["response"].data]
    url = objects[response["NS.url"].data]
    writer.writerow([file.name.removesuffix(SUFFIX), int(file.name.split(".")[0]) + EPOCH, response.get("NS.statusCode"),
                     objects[response["NS.mimeType"].data], len(objects[root["data"].data]),
                     objects[url["NS.relative"].data]])
