"""Lists the components of the programs in a tarball as a bill of materials (CycloneDX 1.6).

    python3 share/urlcache-admin/list_components.py PROGRAMS TARBALL >FILE

PROGRAMS is the folder of the build, where the programs still have their symbols: by these, and not by what the build was asked for, the
linked libraries are found. The pinned packages are those of Package.swift. Needs a Debian system, which knows the versions of its libraries.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse
import uuid

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
HOMEPAGE = re.search(r"(?m)^Homepage: (.*)$", (CHECKOUT / "share/urlcache-admin/debian/control").read_text())[1]
# The repositories of the Swift toolchain, with the names of their static libraries: the first that fits.
TOOLCHAIN = [
    ("swift-foundation-icu", "Unicode-3.0", r"lib_FoundationICU\.a"),
    ("swift-foundation", "Apache-2.0 WITH Swift-exception", r"lib_?Foundation(Essentials|Internationalization|CShims|Collections)\.a"),
    ("swift-corelibs-foundation", "Apache-2.0 WITH Swift-exception", r"lib(Foundation|CoreFoundation|_CF)\w*\.a"),
    ("swift", "Apache-2.0 WITH Swift-exception", r"lib\w+\.a"),
]


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=CHECKOUT).stdout


def defined(path, kinds="ABDRT"):
    """The symbols that a program or a static library defines, except those that any program may define, such as inline functions."""
    rows = (line.split() for line in run("nm", "--defined-only", "--format=posix", path).splitlines())
    return {row[0] for row in rows if len(row) > 1 and row[1] in kinds}


def debian(path):
    """The Debian package of a file."""
    for name in [path, path.removeprefix("/usr"), os.path.realpath(path)]:
        found = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True)
        if found.returncode == 0:
            fields = "${Package} ${Version} ${Architecture}"
            name, version, architecture = run("dpkg-query", "--show", f"--showformat={fields}", found.stdout.split(": ")[0]).split()
            purl = f"pkg:deb/debian/{name}@{urllib.parse.quote(version, safe=':')}?arch={architecture}"
            return {"type": "library", "name": name, "version": version, "purl": purl}
    sys.exit(f"no Debian package contains {path}")


def toolchain(library):
    """The part of the Swift toolchain that contains a static library."""
    said = run("swift", "--version")
    version = (re.search(r"swift-[\d.]+-RELEASE", said) or re.search(r"(?<=Swift version )\S+", said))[0]
    name, licence, _ = next(part for part in TOOLCHAIN if re.fullmatch(part[2], library.name))
    return {"type": "library", "name": name, "version": version, "licenses": [{"expression": licence}],
            "purl": f"pkg:github/swiftlang/{name}@{version}"}


def packages():
    """The packages that Package.swift pins, with the modules that they provide."""
    manifest = json.loads(run("swift", "package", "--scratch-path", ".build-static", "dump-package"))
    for [pin] in (dependency["sourceControl"] for dependency in manifest["dependencies"]):
        url, [version] = pin["location"]["remote"][0]["urlString"], pin["requirement"]["exact"]
        used = [dependency["product"][0] for target in manifest["targets"] for dependency in target["dependencies"] if "product" in dependency
                and dependency["product"][1] == pin["identity"]]
        yield set(used), {"type": "library", "name": pin["identity"], "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}],
                          "purl": f"pkg:swift/{url.removeprefix('https://')}@{version}"}


def components(program):
    """What is linked into a program, and what it loads."""
    # The linker has made the symbols of static libraries local.
    own, text = defined(program, "ABDRTabdrt"), program.read_bytes()
    resources = json.loads(run("swiftc", "-static-stdlib", "-print-target-info"))["paths"]["runtimeResourcePath"]
    for library in sorted(pathlib.Path(resources, "linux").glob("*.a")):
        if own & defined(library):
            yield toolchain(library)
    for library in sorted((CHECKOUT / ".build-static/libraries").glob("*.a")):
        if own & defined(library):
            yield debian(str(library.resolve()))
    for modules, package in packages():
        if any(f"$s{len(module)}{module}" in symbol for module in modules for symbol in own):
            yield package
    # Some are named in the program, and loaded when they are needed.
    loaded = re.findall(r"Shared library: \[(.*)\]", run("readelf", "--dynamic", program)) + [
        name.decode() for name in re.findall(rb"\0(lib\w+\.so\.\d+)\0", text)]
    places = dict(re.findall(r"(?m)^\s(\S+) .* => (\S+)$", run("/sbin/ldconfig", "--print-cache"))[::-1])
    for name in loaded:
        yield debian(places[name])


def main(programs, tarball):
    tarball = pathlib.Path(tarball)
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    version = run(programs + "/urlcache-admin", "--version").split()[1]
    found, graph = {}, {}
    for name in ["urlcache-admin", "urlcache-admin-fetch"]:
        used = {each["purl"]: each for each in components(pathlib.Path(programs, name))}
        found |= used
        graph[name] = sorted(used)
    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "file", "bom-ref": "tarball", "name": tarball.name, "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}],
                "hashes": [{"alg": "SHA-256", "content": digest}], "externalReferences": [{"type": "website", "url": HOMEPAGE}]},
        },
        "components": [{"type": "application", "bom-ref": name, "name": name, "version": version} for name in graph]
        + [{"bom-ref": purl, **found[purl]} for purl in sorted(found)],
        "dependencies": [{"ref": "tarball", "dependsOn": list(graph)}] + [{"ref": name, "dependsOn": used} for name, used in graph.items()],
    }
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
