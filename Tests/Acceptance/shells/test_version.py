"""Compares what `--version --verbose` says with the libraries and the source, and the changelog with the schemas."""

import ctypes
import json
import os
import platform
import re
import shutil
import subprocess

import pytest

import scratch
from products import REPOSITORY
from scratch import path

CHANGELOG = REPOSITORY / "share/doc/urlcache-admin/changelog.md"
SCRIPT = "share/urlcache-admin/build-binaries.sh"


def facts():
    lines = scratch.run("--version", "--verbose", text=True).stdout.splitlines()
    assert lines == scratch.run("--verbose", "--version", text=True).stdout.splitlines()
    return dict(line.split(maxsplit=1) if not line.startswith("source of") else ("source of", line[9:].strip()) for line in lines)


def version_of(library, function):
    found = getattr(ctypes.CDLL(library), function)
    found.restype = ctypes.c_char_p
    return found().decode().split()[-1]


def test_facts():
    """The versions are those of the program and of the libraries that it uses."""
    found = facts()
    assert list(found) == ["urlcache-admin", "commit", "source of", "Swift", "SQLite", "libarchive", "libdeflate", "PCRE2",
                           *(["Nettle"] if platform.system() == "Linux" else []), "platform"]
    assert scratch.run("--version", text=True).stdout == f"urlcache-admin {found['urlcache-admin']} (SQLite {found['SQLite']})\n"
    if platform.system() == "Linux":
        assert found["SQLite"] == version_of("libsqlite3.so.0", "sqlite3_libversion")
        assert found["libarchive"] == version_of("libarchive.so.13", "archive_version_string")
        nettle = ctypes.CDLL("libnettle.so.8")
        assert found["Nettle"] == f"{nettle.nettle_version_major()}.{nettle.nettle_version_minor()}"
        pcre2 = ctypes.create_string_buffer(64)
        assert ctypes.CDLL("libpcre2-8.so.0").pcre2_config_8(11, pcre2) > 0 and found["PCRE2"] == pcre2.value.decode()
        header = re.search(r'LIBDEFLATE_VERSION_STRING\s+"(.*)"', open("/usr/include/libdeflate.h").read())
        assert found["libdeflate"] == header[1]
        assert found["platform"] == f"Linux, {platform.machine().replace('aarch64', 'arm64')}"
    if shutil.which("swift"):
        compiler = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout
        assert re.search(r"Swift version (\d+\.\d+)", compiler)[1] == found["Swift"].removesuffix(" or later")


def git(*words):
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a.example", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@a.example",
                "GIT_COMMITTER_DATE": "2025-02-03T04:05:06Z"}
    return subprocess.run(["git", *words], cwd=path("checkout"), env=os.environ | identity, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout():
    """A repository with what knows the source of a build, and its commit."""
    if not shutil.which("git"):
        pytest.skip("git: not here")
    for name in [".gitattributes", ".gitignore", "Sources/CVersion/shim.h", SCRIPT]:
        os.makedirs(os.path.dirname(path(f"checkout/{name}")), exist_ok=True)
        shutil.copy(REPOSITORY / name, path(f"checkout/{name}"))
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "a")
    return git("rev-parse", "HEAD")


def test_archive(checkout):
    """An archive of the source has its commit and date where the program reads them."""
    git("archive", "-o", path("source.tar"), "HEAD")
    header = subprocess.run(["tar", "-xOf", path("source.tar"), "Sources/CVersion/shim.h"], check=True, capture_output=True, text=True).stdout
    assert f'#define SOURCE_COMMIT "{checkout}"\n' in header and '#define SOURCE_DATE "2025-02-03"\n' in header


@pytest.mark.parametrize("is_changed", [False, True], ids=["as committed", "changed"])
def test_script(checkout, is_changed):
    """The script for packages builds with the commit of the checkout, and leaves nothing behind."""
    if is_changed:
        with open(path("checkout/.gitignore"), "a") as file:
            file.write("other\n")
    os.mkdir(path("bin"))
    header = path("checkout/Sources/CVersion/built.h")
    # What is built is not of interest, but what the compiler would see.
    scratch.write("bin/swift", f"#!/bin/sh\ncp '{header}' '{path('seen.h')}'\n".encode())
    # Nothing is installed, and no library is looked for.
    scratch.write("bin/dpkg", b"#!/bin/sh\n")
    scratch.write("bin/pkg-config", b"#!/bin/sh\nexit 1\n")
    subprocess.run(["chmod", "+x", *(path(f"bin/{name}") for name in ("swift", "dpkg", "pkg-config"))], check=True)
    subprocess.run(["sh", path(f"checkout/{SCRIPT}")], env=os.environ | {"PATH": path("bin") + ":" + os.environ["PATH"]}, check=True, capture_output=True)
    commit = checkout + (" with changes" if is_changed else "")
    assert scratch.read(path("seen.h")).decode() == f'#define SOURCE_COMMIT "{commit}"\n#define SOURCE_DATE "2025-02-03"\n'
    assert not os.path.exists(header)


def members(schema, place=""):
    """The members that a schema names, as `entries.url`."""
    if isinstance(schema, dict):
        for name, value in schema.get("properties", {}).items():
            yield f"{place}{name}"
            yield from members(value, f"{place}{name}.")
        for key, value in schema.items():
            if key != "properties":
                yield from members(value, place)
    elif isinstance(schema, list):
        for item in schema:
            yield from members(item, place)


def test_members_in_the_changelog():
    """The changelog says of each member in which version it appeared, for the version of the program and all before it."""
    pytest.importorskip("jsonschema", reason="jsonschema: not here")
    import schemas
    rows = re.findall(r"(?m)^\| (\d+\.\d+\.\d+) \| (\S+) \| (.*) \|$", CHANGELOG.read_text())
    versions = sorted({version for version, _, _ in rows}, key=lambda version: tuple(map(int, version.split("."))))
    assert versions[-1] == facts()["urlcache-admin"] and set(schemas.versions()) <= set(versions)
    kept = [schemas.frozen(version) for version in versions[:-1]] + [{name: schemas.load(name) for name in schemas.names()}]
    for before, after, version in zip([{}] + kept, kept, versions):
        for name in after:
            told = " ".join(text for number, schema, text in rows if number == version and schema in ("all", name))
            new = set(members(after[name])) - set(members(before.get(name, {})))
            missing = [member for member in new if "all members" not in told and f"`{member}`" not in told]
            assert not missing, f"{CHANGELOG} does not say that {name} has new members in {version}: {missing}"
        gone = [f"{name}: {member}" for name in before for member in set(members(before[name])) - set(members(after.get(name, {})))]
        assert not gone, f"members were removed in {version}: {gone}"
