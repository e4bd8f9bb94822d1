"""Lists a cache as people do by hand: sqlite3 and plistlib.

    list_with_plistlib.py CACHE.DB
"""

import csv, plistlib, sqlite3, sys

writer = csv.writer(sys.stdout)
for identifier, response, size in sqlite3.connect(sys.argv[1]).execute(
    "SELECT entry_ID, response_object, length(receiver_data) FROM cfurl_cache_blob_data"
    " JOIN cfurl_cache_receiver_data USING (entry_ID)"
):
    array = plistlib.loads(response)["Array"]
    mime = array[6] if len(array) > 6 else None
    writer.writerow([identifier, array[1], array[3], mime, size, array[0]["_CFURLString"]])
