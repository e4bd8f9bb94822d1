#!/usr/bin/env python3
"""Plants errors that only macOS has in a copy of the package, one after the other, and expects the type check to find each.

    python3 Tests/macOS/planted.py [--scratch-path FOLDER] [TITLE...]

It checks one module for each, for one processor; run `typecheck.py` first. Ends with 1 if an error is not found.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

from sdk import HERE

# What is planted, by its title: the module, the file, the text that is replaced there (at the end of the file if it is empty), what comes in its
# place, and what the compiler says.
PLANTED = {
    "an import without its condition": (
        "urlcache-admin-fetch", "FetchState.swift", "import Fetching\n", "import Fetching\nimport FoundationNetworking\n",
        "no such module 'FoundationNetworking'"),
    "a constant that only Linux has": (
        "Files", "TemporaryDirectory.swift", "", "\nlet planted = O_TMPFILE\n", "cannot find 'O_TMPFILE' in scope"),
    "a missing 'unsafe'": (
        "Files", "Signals/SentSignals.swift", "_ = unsafe kevent(queue, &change", "_ = kevent(queue, &change", "not marked with 'unsafe'"),
    "a function of a later macOS": (
        "Bytes", "ByteString.swift", "", "\n@available(macOS 26.4, *) func later() {}\nfunc planted() { later() }\n",
        "is only available in macOS 26.4 or newer"),
    "a method of a delegate with another signature": (
        "urlcache-admin-fetch", "Fetcher.swift", "didReceive data: Data", "didReceive data: [UInt8]", "does not conform to protocol"),
}


def check(package, module, scratch):
    return subprocess.run([sys.executable, HERE / "typecheck.py", "--package", package, "--scratch-path", scratch, "--processor", "arm64", module],
                          capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser(description="Checks that the type check finds planted errors.")
    parser.add_argument("--scratch-path", type=pathlib.Path, default=HERE.parents[1] / ".build")
    parser.add_argument("titles", nargs="*", metavar="TITLE")
    arguments = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in ["Package.swift", "Package.resolved", "Sources", "Tests"]:
            place = HERE.parents[1] / name
            (shutil.copytree if place.is_dir() else shutil.copy)(place, copy / name)
        for title in arguments.titles or PLANTED:
            module, name, before, after, expected = PLANTED[title]
            file = copy / "Sources" / module / name
            text = file.read_text()
            assert before in text, f"'{name}' has no '{before}'"
            file.write_text(text.replace(before, after, 1) if before else text + after)
            result = check(copy, module, arguments.scratch_path)
            file.write_text(text)
            lines = [line for line in result.stdout.splitlines() if name in line and expected in line]
            found = result.returncode == 1 and lines
            missed += not found
            print(f"{'found ' if found else 'MISSED'} {title}: {lines[0] if lines else result.stdout + result.stderr}", flush=True)
    sys.exit(1 if missed else 0)


main()
