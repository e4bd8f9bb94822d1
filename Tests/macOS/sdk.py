"""Makes a folder that the compiler takes for the SDK of macOS, of what can be had on Linux.

The standard library and Swift Testing are those of this toolchain: their textual interfaces are compiled again for macOS, with the versions of macOS
in which their functions are available. The C headers come with the package `ziglang` of PyPI. The rest are the stand-ins. Nothing of it can be
linked or run.
"""

import dataclasses
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ZIGLANG = "ziglang==0.17.1"
# Modules of the toolchain whose interfaces are compiled again, and C libraries of this system whose headers are used as they are.
INTERFACES = ["Swift", "_Concurrency", "Synchronization", "_StringProcessing", "_RegexParser", "SwiftOnoneSupport", "_Builtin_float", "Testing"]
HEADERS = ["sqlite3", "archive", "archive_entry", "libdeflate", "pcre2"]
# Each may import those before it.
STAND_INS = ["Darwin", "CryptoKit", "Dispatch", "Foundation"]

# What an interface for Linux says that a compiler for macOS does not accept.
REPAIRS = [
    # The interface has no bodies to deploy, as nothing is deployed on Linux. What is available does not change.
    (r"^\s*@backDeployed\(before: [^)]*\)\n", ""),
    # Only the C headers for Intel have these.
    (r"_stdlib_remainderl\(self, other\)", "other"),
    (r"_stdlib_squareRootl\(self\)", "Swift.Float80()"),
    # The locks of Linux.
    (r"_swift_stdlib_gettid\(\)", "0 as Swift.UInt32"),
    (r"^import Glibc$", "import Darwin"),
]


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def digest(*texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def resources():
    """The folder of the toolchain with the standard library."""
    return pathlib.Path(json.loads(run("swift", "-print-target-info"))["paths"]["runtimeResourcePath"])


@dataclasses.dataclass
class SDK:
    """The SDK for one processor, below a folder; `target` is `arm64-apple-macosx26.0`, for example."""

    target: str
    work: pathlib.Path

    def __post_init__(self):
        self.resources = resources()
        self.frontend = self.resources.parents[1] / "bin/swift-frontend"
        self.processor = self.target.split("-")[0]
        self.folder = self.work / self.processor / "sdk"
        self.modules = self.folder / "usr/lib/swift"
        self.options = ["-target", self.target, "-disable-objc-interop", "-sdk", self.folder, "-resource-dir", self.resources,
                        "-module-cache-path", self.work / self.processor / "cache"]
        basis = [HERE / "sdk.py", HERE / "stand-ins/Darwin.h", HERE / "stand-ins/module.modulemap"]
        # What the errors of every module depend on, and what those of a module depend on that imports a stand-in.
        self.digest = digest(run(self.frontend, "-version"), self.target, *(path.read_text() for path in basis))
        self.stand_ins, before = {}, self.digest
        for name in STAND_INS:
            before = self.stand_ins[name] = digest(before, *(path.read_text() for path in self.sources(name)))

    def make(self):
        """Makes what is not there yet, or has changed."""
        stamp = self.folder / "digest"
        if not stamp.exists() or stamp.read_text() != self.digest:
            self.make_basis()
            stamp.write_text(self.digest)
        for name in STAND_INS:
            stamp = self.folder / f"{name}.digest"
            if not stamp.exists() or stamp.read_text() != self.stand_ins[name]:
                self.compile_stand_in(name)
                stamp.write_text(self.stand_ins[name])

    def make_basis(self):
        shutil.rmtree(self.work / self.processor, ignore_errors=True)
        self.modules.mkdir(parents=True)
        include = self.folder / "usr/include"
        shutil.copytree(self.headers(), include, symlinks=True)
        for path in [HERE / "stand-ins/Darwin.h", HERE / "stand-ins/module.modulemap", *(f"/usr/include/{name}.h" for name in HEADERS)]:
            shutil.copy(path, include)
        for name in INTERFACES:
            self.copy_interface(name)

    def headers(self):
        """The headers of macOS, which are installed if they are not there."""
        folder = self.work / ZIGLANG
        if not folder.exists():
            run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore",
                "--target", f"{folder}.new", ZIGLANG)
            pathlib.Path(f"{folder}.new").rename(folder)
        return folder / "ziglang/lib/libc/include/any-darwin-any"

    def copy_interface(self, name):
        [source] = (self.resources / f"linux/{name}.swiftmodule").glob("*-unknown-linux-gnu.swiftinterface")
        text = re.sub(r"-target \S+", f"-target {self.target}", source.read_text(), count=1)
        for flag in ["-static ", "-library-level api ", "-target-min-inlining-version min "]:
            text = text.replace(flag, "", 1)
        for pattern, repaired in REPAIRS:
            text = re.sub(pattern, repaired, text, flags=re.M)
        folder = self.modules / f"{name}.swiftmodule"
        folder.mkdir()
        (folder / f"{self.processor}-apple-macos.swiftinterface").write_text(text)

    def sources(self, name):
        """The files of a stand-in."""
        return sorted(HERE.glob(f"stand-ins/{name}*.swift"))

    def compile_stand_in(self, name):
        folder = self.modules / f"{name}.swiftmodule"
        folder.mkdir(exist_ok=True)
        result = subprocess.run([
            self.frontend, "-emit-module", "-parse-as-library", "-module-name", name, "-swift-version", "6", *self.options,
            *(["-import-underlying-module"] if name == "Darwin" else []), *self.sources(name),
            "-o", folder / f"{self.processor}-apple-macos.swiftmodule"], capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"the stand-in {name} has errors:\n{result.stderr}")
