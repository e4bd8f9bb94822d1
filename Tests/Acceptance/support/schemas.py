"""The schemas of the program's JSON, and checkers that accept right documents and refuse wrong ones.

A schema allows more members than it names, as the output only ever grows; here each member must be named. The schemas of each version are
kept as they were, and a document must fit those of all versions:

    PRODUCTS=FOLDER PYTHONPATH=Tests/Acceptance/support python3 Tests/Acceptance/support/schemas.py VERSION
"""

import datetime
import functools
import itertools
import json
import pathlib
import sys

import jsonschema

from products import REPOSITORY

FOLDER = REPOSITORY / "share/urlcache-admin/schema"
# The schemas of a version, by their names, are one file.
FROZEN = pathlib.Path(__file__).with_name("frozen_schemas")
# The columns as the manual lists them. Sidecar files are not part of a cache.
MANUAL = (REPOSITORY / "share/man/man1/urlcache-admin-list.1").read_text()
COLUMNS = [name for name in MANUAL.partition(".Ss Columns\n")[2].split("\n")[0].replace("-", "_").split() if name != "sidecar_etag"]
# Columns that only recovered entries have.
RECOVERED = ["confidence", "found"]
# Columns with a key, which an entry has under their own names.
KEYED = ["user_info:a", "user_info:c", "user_info:\x1b\"", "proto_props:Accept-Encoding, Cookie"]
# Members of an explanation whose own members are header fields and directives.
NAMED_BY_CACHE = ["credential_headers", "headers", "directives", "row", "columns"]
# Members of an entry in an archive of which there are some.
PARTS = ["body", "proto_props", "request_object", "response_object", "user_info"]
formats = jsonschema.FormatChecker(formats=[])


@formats.checks("date-time", raises=ValueError)
def is_time(value):
    return not isinstance(value, str) or bool(datetime.datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ"))


def names():
    return sorted(path.name.removesuffix(".schema.json") for path in FOLDER.glob("*.schema.json"))


def load(name):
    return json.loads((FOLDER / f"{name}.schema.json").read_text())


@functools.cache
def frozen(version):
    """The schemas of a version."""
    return json.loads((FROZEN / f"{version}.json").read_text())


def versions():
    return sorted(path.stem for path in FROZEN.glob("*.json"))


def whole(schema, schemas):
    """The schema with references put in place."""
    if isinstance(schema, list):
        return [whole(item, schemas) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: whole(value, schemas) for key, value in schema.items() if key != "$ref"}
    if "$ref" in schema:
        result["allOf"] = [whole(schemas[schema["$ref"].removesuffix(".schema.json")], schemas)]
    return result


def closed(schema, is_base=False):
    """The schema with references put in place, which allows no members that it does not name."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        if key == "$ref":
            result["allOf"] = [closed(load(value.removesuffix(".schema.json")), is_base=True)]
        elif key == "properties":
            result[key] = {name: closed(item) for name, item in value.items()}
        else:
            result[key] = closed(value)
    if ("properties" in schema or "$ref" in schema) and not is_base:
        result["unevaluatedProperties"] = False
    return result


class Checker:
    """Validates documents against a schema, and makes sure that it refuses wrong ones."""

    def __init__(self, name):
        schema = load(name)
        jsonschema.Draft202012Validator.check_schema(schema)
        self.name = name
        self.validator = jsonschema.Draft202012Validator(closed(schema), format_checker=formats)
        self.older = [jsonschema.Draft202012Validator(whole(frozen(version)[name], frozen(version)), format_checker=formats)
                      for version in versions() if name in frozen(version)]
        self.places = set()

    def accept(self, value):
        """Accepts a document by the schemas of all versions."""
        for validator in [self.validator, *self.older]:
            validator.validate(value)

    def check(self, value, everywhere=False):
        """Accepts a document, and refuses what is wrong in it: once in each place of all documents so far, or everywhere."""
        self.accept(value)
        for place, wrong in itertools.chain(wrong_forms(value), incomplete_forms(value)):
            if everywhere or place not in self.places:
                assert not self.validator.is_valid(wrong), (self.name, wrong)
                self.places.add(place)


@functools.cache
def checker(name):
    """The checker of a schema, which remembers the places where it has refused wrong forms."""
    return Checker(name)


def is_attached(key):
    """Whether a member holds what an application attached, which may be anything, or has members that the cache
    names."""
    return key.split(":")[0] in ("user_info", "proto_props", *NAMED_BY_CACHE)


def wrong_forms(value, place=()):
    """The value with each part changed to what it cannot be, and the place of the change: all items of a list have one."""
    place = (*place, type(value).__name__)
    if isinstance(value, dict):
        yield (*place, "more"), {**value, "unheard_of": 1}
        for key in value:
            if is_attached(key):
                continue
            yield from ((inner, {**value, key: wrong}) for inner, wrong in wrong_forms(value[key], (*place, key)))
    elif isinstance(value, list):
        yield (*place, "object"), {}
        for index, item in enumerate(value[:4]):
            yield from ((inner, value[:index] + [wrong] + value[index + 1:]) for inner, wrong in wrong_forms(item, place))
    else:
        yield (*place, "object"), {"unheard_of": 1}
        yield (*place, "list"), [[]]


def incomplete_forms(value, place=()):
    """The value without each member in turn that is always there, and the place of this member."""
    if isinstance(value, dict):
        optional = {name + "_base64" for name, member in value.items() if member is None}
        # The members of an entry are those of the columns.
        if set(value) <= optional.union(COLUMNS, KEYED, RECOVERED):
            optional.update(COLUMNS, KEYED, RECOVERED)
        if set(value) <= set(PARTS):
            optional.update(PARTS)
        if "sha256" in value:
            optional.add("class")
        # Archives of older versions do not say of what kind of cache they are.
        if "user_version" in value:
            optional.add("format")
        if "warnings" in value:
            optional.add("redacted")
        # What was removed with '--secure' has these, and of other commands only some.
        optional.add("secure")
        if "orphan_bytes" in value:
            optional.update(["orphans", "orphan_bytes"])
        # A plan lists them only if there are some.
        if "identity" in value:
            optional.add("orphans")
        for key in [key for key in value if key not in optional]:
            yield (*place, key, "less"), {name: member for name, member in value.items() if name != key}
            if not is_attached(key):
                yield from ((inner, {**value, key: incomplete}) for inner, incomplete in incomplete_forms(value[key], (*place, key)))
    elif isinstance(value, list):
        for index, item in enumerate(value[:4]):
            yield from ((inner, value[:index] + [incomplete] + value[index + 1:]) for inner, incomplete in incomplete_forms(item, (*place, 0)))


if __name__ == "__main__":
    with open(FROZEN / f"{sys.argv[1]}.json", "w") as output:
        output.write("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(load(name))}" for name in names()) + "\n}\n")
