#!/usr/bin/env python3
"""Type-checks the package for macOS on Linux, without a Mac and without Apple's SDK. README.md says what that covers.

    python3 Tests/macOS/typecheck.py [--package FOLDER] [--scratch-path FOLDER] [--processor NAME] [MODULE...]

By default, all modules, programs and tests are checked, for arm64 and x86_64 at the same time. A module is not checked again if nothing has changed that
it depends on. Prints the errors, and a line for each processor; ends with 1 if there is an error.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import time

from sdk import HERE, SDK, STAND_INS, digest, run


def described(folder):
    """The description of the package in a folder."""
    package = json.loads(run("swift", "package", "--package-path", folder, "dump-package"))
    for target in package["targets"]:
        usual = ("Tests" if target["type"] == "test" else "Sources") + f"/{target['name']}"
        target["folder"] = folder / (target.get("path") or usual)
    return package


def language_options(target):
    """The options of the compiler that the settings of a target ask for."""
    options = []
    for setting in target["settings"]:
        [(kind, value)] = setting["kind"].items()
        value = value.get("_0")
        options += {"swiftLanguageMode": ["-swift-version", value], "enableUpcomingFeature": ["-enable-upcoming-feature", value],
                    "enableExperimentalFeature": ["-enable-experimental-feature", value],
                    "strictMemorySafety": ["-strict-memory-safety"], "treatAllWarnings": ["-warnings-as-errors"]}.get(kind, [])
    return options


def needed(target):
    """The names of the targets and products that a target needs on macOS."""
    for dependency in target["dependencies"]:
        [(_, value)] = dependency.items()
        condition = value[-1]
        if not condition or "macos" in condition["platformNames"]:
            yield value[0]


class Check:
    """The check of a package for one processor."""

    def __init__(self, package, targets, sdk):
        self.package, self.targets, self.sdk = package, targets, sdk
        self.out = sdk.work / sdk.processor / "modules"
        self.digests, self.errors = {}, []

    def check_all(self, names):
        self.sdk.make()
        self.out.mkdir(exist_ok=True)
        for name in names:
            self.visit(name)
        return self

    def visit(self, name):
        """Checks a target after those that it needs, and returns a digest of all that its errors depend on."""
        if name not in self.digests:
            target = self.targets.get(name)
            # What is not a Swift target is a C library, which the digest of the SDK is for.
            is_swift = target and target["type"] in ("regular", "executable", "test")
            self.digests[name] = self.check(name.replace("-", "_"), target) if is_swift else name
        return self.digests[name]

    def check(self, name, target):
        sources = sorted(target["folder"].rglob("*.swift"))
        options = [*language_options(target), "-enable-testing", *self.c_modules(),
                   *([] if (target["folder"] / "main.swift").exists() else ["-parse-as-library"])]
        texts = [source.read_text() for source in sources]
        imported = set(re.findall(r"\bimport (\w+)", "\n".join(texts)))
        present = digest(self.sdk.digest, *(self.sdk.stand_ins[name] for name in STAND_INS if name in imported), *language_options(target),
                         *map(self.visit, needed(target)), *(str(source.relative_to(target["folder"])) for source in sources), *texts)
        stamp = self.out / f"{name}.digest"
        if not stamp.exists() or stamp.read_text() != present:
            stamp.unlink(missing_ok=True)
            errors = self.compile(name, sources, options)
            self.errors += errors
            if errors:
                # Those that need the module are checked all the same.
                self.compile(name, sources, [*options, "-disable-availability-checking", "-experimental-allow-module-with-compiler-errors"])
            else:
                stamp.write_text(present)
        return present

    def c_modules(self):
        """The options with which the compiler finds the C libraries that macOS needs, too."""
        # Those of this package, also for a copy of it: what was compiled before knows them by their paths.
        for path in sorted((HERE.parents[1] / "Sources").glob("C*/module.modulemap")):
            if path.parent.name != "CNettle":
                yield from ("-Xcc", f"-fmodule-map-file={path}")

    def compile(self, name, sources, options):
        """Returns the errors of a module."""
        plugins = self.sdk.resources / "host"
        result = subprocess.run([
            self.sdk.frontend, "-emit-module", "-module-name", name, *self.sdk.options, "-package-name", "urlcache_admin", "-I", self.out,
            "-plugin-path", plugins / "plugins", "-in-process-plugin-server-path", plugins / "libSwiftInProcPluginServer.so",
            "-o", self.out / f"{name}.swiftmodule", *options, *sources], capture_output=True, text=True)
        (self.out / f"{name}.log").write_text(result.stderr)
        errors = list(dict.fromkeys(re.findall(r"^\S*?:\d+:\d+: error: .*", result.stderr, flags=re.M)))
        if result.returncode and not errors:
            errors = [f"{name}: {result.stderr[-2_000:] or f'the compiler ended with {result.returncode}'}"]
        return [error.removeprefix(f"{self.package}/") for error in errors]


def main():
    parser = argparse.ArgumentParser(description="Type-checks the package for macOS.")
    parser.add_argument("--package", type=pathlib.Path, default=HERE.parents[1])
    parser.add_argument("--scratch-path", type=pathlib.Path, default=HERE.parents[1] / ".build", help="the folder of a build, which has the packages that are needed")
    parser.add_argument("--processor", action="append", choices=["arm64", "x86_64"])
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    arguments = parser.parse_args()
    package = described(arguments.package.resolve())
    run("swift", "package", "--package-path", HERE.parents[1], "--scratch-path", arguments.scratch_path, "resolve")
    targets = {}
    for folder in sorted((arguments.scratch_path / "checkouts").resolve().iterdir()):
        targets |= {target["name"]: target for target in described(folder)["targets"]}
    own = {target["name"]: target for target in package["targets"]}
    targets |= own
    [version] = [platform["version"] for platform in package["platforms"] if platform["platformName"] == "macos"]

    def check(processor):
        began = time.monotonic()
        sdk = SDK(f"{processor}-apple-macosx{version}", HERE.parents[1] / ".build/macos")
        checked = Check(arguments.package.resolve(), targets, sdk).check_all(sorted(arguments.modules or own))
        return f"macOS {version}, {processor}: {len(checked.errors)} errors, {time.monotonic() - began:.0f} s", checked.errors

    # The headers are installed once, before the checks run at the same time.
    processors = arguments.processor or ["arm64", "x86_64"]
    SDK(f"{processors[0]}-apple-macosx{version}", HERE.parents[1] / ".build/macos").headers()
    failed = False
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for line, errors in pool.map(check, processors):
            print(*errors, line, sep="\n", flush=True)
            failed = failed or bool(errors)
    sys.exit(1 if failed else 0)


main()
