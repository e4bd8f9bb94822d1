"""The paths of the built programs: in the folder that the variable PRODUCTS names, or else in that of `swift build`."""

import atexit
import os
import pathlib
import shutil
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
folder = os.path.abspath(os.environ.get("PRODUCTS", REPOSITORY / ".build/debug"))
tool, fetcher = (os.path.join(folder, name) for name in ("urlcache-admin", "urlcache-admin-fetch"))
for program in (tool, fetcher):
    if not os.access(program, os.X_OK):
        raise SystemExit(f"'{program}' is not there: build it with 'swift build'")
# A program that makes caches, with the same times each day.
own = tempfile.mkdtemp(prefix="urlcache-admin-maker-")
atexit.register(shutil.rmtree, own, ignore_errors=True)
os.chmod(own, 0o755)
maker = os.path.join(own, "sample")
with open(maker, "w", encoding="utf-8") as file:
    file.write(f"#!/bin/sh\nexec '{tool}' sample --quiet --newest 2026-01-01T00:00:00Z \"$@\"\n")
os.chmod(maker, 0o755)
