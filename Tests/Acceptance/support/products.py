"""The paths of the built programs: in the folder that the variable PRODUCTS names, or else in that of `swift build`."""

import os
import pathlib

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
folder = os.path.abspath(os.environ.get("PRODUCTS", REPOSITORY / ".build/debug"))
tool, fetcher = (os.path.join(folder, name) for name in ("urlcache-admin", "urlcache-admin-fetch"))
for program in (tool, fetcher):
    if not os.access(program, os.X_OK):
        raise SystemExit(f"'{program}' is not there: build it with 'swift build'")
# A program that makes caches, which finds the other by this variable.
maker, os.environ["PRODUCTS"] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sample.sh"), folder
