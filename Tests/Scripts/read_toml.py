"""Reads TOML documents with tomllib, and writes what is in each as a line of JSON, or `null` if it is none.

    read_toml.py FILE

FILE has a document a line, each in Base64.
"""

import base64, json, sys, tomllib

for line in open(sys.argv[1]):
    try:
        document = tomllib.loads(base64.b64decode(line).decode())
        print(json.dumps(document, sort_keys=True, ensure_ascii=True, default=str, separators=(",", ":")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        print("null")
