"""Runs all commands that write JSON on caches and archives of all kinds, with and without entries, and holds what they write against the schemas."""

import json
import os
import shutil
import subprocess

import pytest

import scratch
import worlds
from products import tool
from scratch import path

pytest.importorskip("jsonschema", reason="jsonschema: not here")
import schemas

ARCHIVES = ["tar", "zip", "har", "warc.gz", "wacz"]
SOURCES = ["apple", "foundation", *ARCHIVES]
FAULTS = ["--faults", "orphan-files,missing-bodies,undecodable"]
# What is run with '-c' and a source; SOURCE, ID and so on stand for what belongs to it.
COMMANDS = {
    "list": [[], ["--limit", "0"], ["--columns", ",".join(schemas.COLUMNS).replace("_", "-")]], "show": [["ID"], ["https://none.example/"]],
    "usage": [[], ["--by", "host", "--histogram", "--superseded", "--savings", "--capacity", "1MiB"]],
    "explain": [["--all"], ["--all", "--platform", "foundation"], ["--why-missing", "https://none.example/"], ["--why-missing", "URL"]],
    "diff": [["SOURCE"], ["OTHER"]], "grep": [["e"], ["nothing at all"]], "query": [["SELECT * FROM entries"], ["SELECT * FROM headers"]],
    "watch": [["--for", "10ms"]], "audit": [[]], "check": [[], ["--full"], ["--repair", "-n"], ["--repair", "--yes"]],
    "recover": [[], ["--damaged", "--versions"]], "rules test": [[]], "discover": [["SOURCE"]],
    "pin": [[], ["URL"]], "unpin": [["URL"]], "config list": [[]],
    "purge": [["--all", "-n"], ["ID", "https://none.example/", "--yes"], ["--all", "--yes", "--secure"]],
    "enforce": [["--max-entries", "2", "-n"], ["--max-size", "1", "-n"], ["--max-entries", "2", "--yes"]], "compact": [["-n"], [], ["--full"]],
    "apply": [["PLAN", "-n"], ["PLAN", "--yes"]], "expire": [["--all", "--clear-user-info", "a", "-n"], ["--all", "--clear-user-info", "a", "--yes"]],
    "revalidate": [["--all", "-n", "--timeout", "5s"]], "import": [["OTHER", "-n"], ["OTHER"]],
}
# What works with archives; of the rest, the error is held against its schema.
READING = ["list", "show", "usage", "explain", "diff", "grep", "query", "audit", "rules test", "pin", "unpin", "config list"]


def export(cache, kind, *options):
    archive = path(f"{'none' if options else 'some'}.{kind}")
    scratch.run("export", "-c", cache, "-o", archive, *options, status=None)
    return archive


def make(kind, entries):
    """A source of a kind, with or without entries."""
    if kind in ARCHIVES:
        return export(make("apple", True), kind, *([] if entries else ["--host", "nowhere.example"]))
    if entries:
        return scratch.make(kind, "--format", kind, *FAULTS, entries=12, seed=2)
    folder = path(f"org.swift.foundation.URLCache/{kind}")
    os.makedirs(folder)
    if kind == "apple":
        worlds.create(folder).close()
    return folder


def documents(result):
    """What a command has written, and the name of the schema of each document."""
    text = result.stdout.decode()
    try:
        values = [json.loads(text)] if text else []
    except ValueError:
        values = [json.loads(line) for line in text.splitlines()]
    lines = [line for line in result.stderr.decode().splitlines() if line.startswith("{")]
    for value in values + [json.loads(line) for line in lines]:
        if isinstance(value, list):
            yield "show", value
        elif "schema" in value:
            yield value["schema"].split(".")[1].split("/")[0], value
        else:
            yield ("grep" if "data" in value else "watch"), value


def test_all_commands():
    """Each command that writes JSON is run here."""
    root = json.loads(scratch.run("--experimental-dump-help").stdout)["command"]
    writing = set()
    for command in root["subcommands"]:
        for child in command.get("subcommands", [command]):
            names = {name["name"] for argument in child["arguments"] for name in argument.get("names", [])}
            if "json" in names:
                writing.add(" ".join(dict.fromkeys([command["commandName"], child["commandName"]])))
    assert writing == set(COMMANDS)


@pytest.mark.parametrize("entries", [True, False], ids=["some", "none"])
@pytest.mark.parametrize("kind", SOURCES)
def test_outputs(kind, entries):
    """All documents fit their schemas, those of today and those of earlier versions."""
    source, other = make(kind, entries), export(scratch.make("other", entries=6, seed=5), "tar")
    listed = json.loads(scratch.run("list", "-c", source, "--json", "--columns", "id,url", status=None).stdout)["entries"]
    assert bool(listed) == entries
    known = [entry for entry in listed if entry["url"] and entry["id"] is not None] or [{"id": 1, "url": "https://none.example/x"}]
    plan = path("plan.json")
    if kind in ARCHIVES or scratch.run("purge", "-c", source, "--all", "--plan", plan, status=None).returncode:
        scratch.write("plan.json", b"{}")
    config = scratch.write("config.toml", b"[[rules]]\nmatch.status = '2xx'\naction = 'keep'\n")
    places = {"SOURCE": source, "OTHER": other, "ID": str(known[0]["id"]), "URL": known[0]["url"], "PLAN": plan}
    seen = set()
    for verb, lines in COMMANDS.items():
        for line in lines:
            place = source
            if kind not in ARCHIVES and "--yes" in line or verb in ("compact", "import"):
                # What is changed is a copy.
                place = path("org.swift.foundation.URLCache/copy")
                shutil.rmtree(place, ignore_errors=True)
                (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, os.makedirs(os.path.dirname(place), exist_ok=True) or place)
            words = [places.get(word, word) for word in line]
            if verb == "diff":
                words = [place, *words]
            elif verb not in ("discover", "config list") and not (verb == "pin" and not line):
                words += ["-c", place]
            result = subprocess.run([tool, *verb.split(), *words, "--json"], capture_output=True, stdin=subprocess.DEVNULL,
                                    env=os.environ | {"URLCACHE_ADMIN_CONFIG": config})
            found = list(documents(result))
            assert found and 0 <= result.returncode <= 78 and result.returncode != 70, (verb, words, result)
            assert verb not in READING and (verb, line) != ("check", []) or result.returncode < 64, (verb, words, result)
            for name, value in found:
                assert (name == "error") == (result.returncode >= 64 or not result.stdout), (verb, words, result)
                schemas.checker(name).accept(value)
                seen.add(name)
    assert len(seen) > (13 if kind in ARCHIVES else 20), seen
