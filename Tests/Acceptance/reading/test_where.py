"""Compares what `--where` selects with another evaluation, over `list --format ndjson`.

Expressions are made up from seeds, each as a tree and as a text.
"""

import calendar
import json
import os
import random
import re
import subprocess
import time

import pytest

from products import tool
from scratch import make, path

AT = "2026-03-01T00:00:00Z"
NOW = calendar.timegm(time.strptime(AT, "%Y-%m-%dT%H:%M:%SZ"))
TEXTS = ["url", "host", "path", "scheme", "method", "mime", "partition", "key"]
WORDS = {"body": ["inline", "file", "missing"], "freshness": ["fresh", "stale", "no-lifetime"],
         "validator": ["none", "weak", "strong", "etag", "last-modified"], "partial": ["true", "false"]}
TIMES = ["stored", "first-stored", "expires-at"]
DURATIONS = ["age", "ttl", "lifetime", "current-age"]
COLUMNS = ("id,url,host,path,scheme,method,mime,partition,key,body-location,freshness,validators,status,size,stored,"
           "first-stored,ttl,lifetime,current-age,expires-at,announced")


def run(*arguments, **options):
    return subprocess.run([tool, *arguments], capture_output=True, **options)


def seconds(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) if text else None


def rfc(number):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(number))


def values(entry):
    """The value of each field; `None` where it is not known."""
    result = {name: entry[name] for name in ["url", "path", "partition", "key", "status", "size", "ttl", "lifetime"]}
    for name in ["host", "scheme", "method", "mime"]:
        result[name] = entry[name] and entry[name].lower()
    # A response without a URL is found by its key, as with the other options.
    result["url"] = entry["key"] if entry["url"] is None else entry["url"]
    result["current-age"] = entry["current_age"]
    for name in TIMES:
        result[name] = seconds(entry[name.replace("-", "_")])
    result["age"] = None if result["stored"] is None else NOW - result["stored"]
    result["body"] = entry["body_location"] and [entry["body_location"]]
    announced = entry["announced"]
    result["received"] = None if announced is None else 100 * entry["size"] / announced if announced else 100
    # None of these caches has a 206; unknown values are the same for both.
    cut = announced is not None and entry["size"] < announced and entry["mime"] != "application/json"
    result["partial"] = None if entry["freshness"] is None else ["true" if cut else "false"]
    result["freshness"] = entry["freshness"] and [entry["freshness"]]
    found = entry["validators"]
    if entry["freshness"] is None:
        result["validator"] = None
    else:
        # A tag or a date that is not weak is strong.
        strong = bool({"etag", "last-modified"} & set(found))
        result["validator"] = ["strong"] if strong else ["weak"] if found else ["none"]
        result["validator"] += [name for name in ["etag", "last-modified"] if name in found or f"weak-{name}" in found]
    return result


def covers(name, host):
    return host == name or name.startswith(".") and (host == name[1:] or host.endswith(name))


def holds(comparison, fields):
    """Whether a comparison is true; `None` if the value is not known."""
    field, operator, operands = comparison
    value = fields[field]
    if value is None:
        return None
    if field in TEXTS:
        if field in ["host", "scheme", "method", "mime"]:
            operands = [operand.lower() for operand in operands]
        first = operands[0]
        if operator == "^=":
            return value.startswith(first)
        if operator == "$=":
            return value.endswith(first)
        if operator == "*=":
            return first in value
        equal = any(covers(operand, value) if field == "host" else operand == value for operand in operands)
    elif field in WORDS:
        equal = any(operand in value for operand in operands)
    else:
        def matches(operand):
            if field == "status" and str(operand).endswith("xx"):
                return value // 100 == int(operand[0])
            return value == operand
        if operator in ["<", "<=", ">", ">="]:
            return eval(f"{value} {operator} {operands[0]}")
        equal = any(matches(operand) for operand in operands)
    return not equal if operator == "!=" else equal


def truth(tree, fields):
    """Kleene's logic."""
    kind, *parts = tree
    if kind == "compare":
        return holds(parts, fields)
    found = [truth(part, fields) for part in parts]
    if kind == "!":
        return None if found[0] is None else not found[0]
    ending = kind == "||"
    return ending if ending in found else None if None in found else not ending


class Maker:
    """Makes expressions up, of values of the entries and some others."""

    def __init__(self, seed, rows):
        self.random = random.Random(seed)
        self.rows = rows

    def sample(self, field):
        return self.random.choice([row[field] for row in self.rows])

    def quoted(self, text):
        if re.fullmatch(r"[A-Za-z0-9._:/+%@~-]+", text) and self.random.random() < 0.5:
            return text
        quote = self.random.choice("\"'")
        return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote

    def number(self, field):
        """A number that no entry is within two seconds of, so that a fraction of a second changes nothing."""
        value = self.sample(field)
        value = (0 if value is None else value) + self.random.choice([-90_000, -60, 0, 60, 3_600, 900_000])
        while any(row[field] is not None and abs(row[field] - value) < 2 for row in self.rows):
            value += 1
        return max(value, 0)

    def text_operand(self, field, operator):
        # No argument contains a zero byte.
        value = (self.sample(field) or "other").split("\0")[0] or "other"
        choice = self.random.random()
        if choice < 0.3:
            start = self.random.randrange(len(value))
            value = value[start:start + self.random.randint(1, 8)]
        elif choice < 0.5:
            value = value[:self.random.randint(1, len(value))]
        elif choice < 0.6:
            value = value[self.random.randrange(len(value)):]
        elif choice < 0.7:
            value = value.swapcase()
        elif choice < 0.8 and field == "host":
            value = value[value.find("."):] if "." in value else value
        if field == "mime" and operator in ["=", "!=", "in"] and not re.fullmatch("[^/*]+/[^*]*[^/*][^*]*", value):
            # A value that is no whole media type is refused.
            value = self.sample(field) or "text/plain"
        return value, self.quoted(value)

    def operand(self, field, operator):
        """A value, and its text."""
        if field in TEXTS:
            return self.text_operand(field, operator)
        if field in WORDS:
            word = self.random.choice(WORDS[field])
            return word, self.quoted(word)
        if field == "status":
            if operator in ["=", "!=", "in"] and self.random.random() < 0.4:
                name = self.random.choice(["2xx", "3XX", "4xx", "5xx"])
                return name.lower(), name
            status = self.sample(field) or self.random.choice([200, 404])
            return status, str(status)
        if field == "size":
            size = (self.sample(field) or 0) + self.random.choice([0, 0, 1, -1, 5_000])
            size = max(size, 0)
            return (size, str(size)) if self.random.random() < 0.7 else (size // 1024 * 1024, f"{size // 1024}KiB")
        if field == "received":
            share = self.random.choice([0, 50, 99.5, 100, 100.5])
            return share, f"{share}{self.random.choice(['', '%'])}"
        number = self.number(field)
        if field in TIMES:
            return number, self.quoted(rfc(number))
        return number, f"{number}s"

    def comparison(self):
        field = self.random.choice(TEXTS + list(WORDS) + TIMES + DURATIONS + ["status", "size", "received"] * 2)
        if field in TEXTS:
            operators = ["=", "!=", "^=", "$=", "*=", "in"]
        elif field in WORDS:
            operators = ["=", "!=", "in"]
        elif field in TIMES + DURATIONS:
            operators = ["<", "<=", ">", ">="]
        else:
            operators = ["=", "!=", "<", "<=", ">", ">=", "in"]
        operator = self.random.choice(operators)
        count = self.random.randint(1, 4) if operator == "in" else 1
        operands = [self.operand(field, operator) for _ in range(count)]
        space = self.random.choice(["", " ", "  ", "\t"])
        if operator == "in":
            text = f"{field} in{space}({space}" + f"{space},{space}".join(text for _, text in operands) + f"{space})"
        else:
            text = f"{field}{space}{operator}{space}{operands[0][1]}"
        return ("compare", field, operator, [value for value, _ in operands]), text

    def tree(self, depth, binding=0):
        """An expression for a place where only `&&` (1) or only one part (2) needs no parentheses."""
        choice = self.random.random()
        if depth == 0 or choice < 0.3:
            return self.comparison()
        if choice < 0.45:
            tree, text = self.tree(depth - 1, 2)
            return ("!", tree), "!" + self.random.choice(["", " "]) + text
        level, sign = (0, "||") if choice < 0.72 else (1, "&&")
        parts = [self.tree(depth - 1, level + 1) for _ in range(self.random.randint(2, 3))]
        text = f" {sign} ".join(text for _, text in parts)
        if level < binding or self.random.random() < 0.1:
            text = f"({text})"
        return (sign, *(tree for tree, _ in parts)), text


def made_up(kind):
    """A cache with faults, and the values of its entries."""
    cache = make(kind, "--format", kind, "--faults", "orphan-files,missing-bodies,undecodable", entries=120, seed=4)
    listed = run("list", "-c", cache, "--at", AT, "--format", "ndjson", "--columns", COLUMNS, "--show-secrets").stdout
    rows = {entry["id"]: values(entry) for entry in map(json.loads, listed.splitlines())}
    assert len(rows) >= 120 and any(row["ttl"] is None for row in rows.values()), kind
    return cache, rows


@pytest.mark.parametrize(("kind", "seeds", "all_seeds"), [("apple", 40, 250), ("foundation", 15, 60)], ids=["apple", "foundation"])
def test_selection(kind, seeds, all_seeds, thorough):
    """An expression selects the entries that another evaluation of it selects."""
    seeds = all_seeds if thorough else seeds
    cache, rows = made_up(kind)
    selected = 0
    for seed in range(seeds):
        tree, text = Maker(seed, list(rows.values())).tree(4)
        expected = [name for name, fields in rows.items() if truth(tree, fields)]
        result = run("list", "-c", cache, "--at", AT, "--format", "ndjson", "--columns", "id", "--where", text)
        assert result.returncode == 0, (kind, seed, text, result.stderr.decode())
        found = [json.loads(line)["id"] for line in result.stdout.splitlines()]
        assert found == expected, (kind, seed, text, set(found) ^ set(expected))
        selected += 0 < len(found) < len(rows)
    # Expressions that are true of all entries or of none show little.
    assert selected > seeds / 4, (kind, selected)


def test_verbs():
    """Every command with options that select entries has '--where'."""
    cache, rows = made_up("apple")
    condition = ["--where", "status = 404 || size > 100KiB", "-c", cache, "--at", AT]
    expected = [name for name, fields in rows.items() if fields["status"] == 404 or (fields["size"] or 0) > 102_400]
    assert 0 < len(expected) < len(rows)
    listed = run("list", *condition, "--count")
    assert int(listed.stdout) == len(expected), listed
    shown = json.loads(run("show", *condition, str(expected[0]), "--format", "json").stdout)
    assert [entry["id"] for entry in shown] == expected[:1], shown
    for words in [["purge", "-n"], ["enforce", "-n", "--max-entries", "0", "--best-effort"]]:
        removed = json.loads(run(*words, *condition, "--format", "json").stdout)
        assert [entry["id"] for entry in removed["entries"]] == expected, (words, removed)
    explained = run("explain", *condition, "--all", "--format", "ndjson").stdout
    assert [json.loads(line)["id"] for line in explained.splitlines()] == expected
    archive = path("some.tar")
    assert run("export", *condition, "-o", archive).returncode == 0
    exported = run("list", "-c", archive, "--format", "ndjson", "--columns", "id").stdout
    assert len(exported.splitlines()) == len(expected)
    condition[3] = archive
    assert int(run("list", *condition, "--count").stdout) == len(expected)
    differing = run("diff", cache, archive, "--at", AT, "--where", "status = 404 || size > 100KiB")
    assert differing.returncode == 0, differing


def test_damaged(thorough):
    """An expression with an additional, a missing or a changed character is evaluated, or refused with a mark under the mistake."""
    cache, rows = made_up("apple")
    rows, seeds = list(rows.values()), 120 if thorough else 25
    refused = 0
    for seed in range(seeds):
        generator = random.Random(seed)
        text = list(Maker(seed, rows).tree(2)[1])
        for _ in range(generator.randint(1, 3)):
            place = generator.randrange(len(text))
            text[place:place + generator.randint(0, 1)] = generator.choice(["", "(", "\"", "!", "é", "\u202e", "\x1b", "4xx", "="])
            text = text or ["x"]
        result = run("list", "-c", cache, "--at", AT, "--where", "".join(text), "--count")
        assert result.returncode in (0, 64), (seed, text, result)
        if result.returncode == 64:
            refused += 1
            lines = result.stderr.decode().split("\n")
            assert re.fullmatch(" +\\^+", lines[2]) and len(lines[2]) <= len(lines[1]) + 1, (seed, lines)
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", result.stderr.decode()), (seed, lines)
    assert refused > seeds / 4, refused


@pytest.mark.parametrize(("day", "offset", "start"), [
    ("2026-01-31", "+01:00", "2026-01-30T23:00:00Z"), ("2026-07-01", "+02:00", "2026-06-30T22:00:00Z"),
    ("2026-03-30", "+02:00", "2026-03-29T22:00:00Z"), ("2026-10-26", "+01:00", "2026-10-25T23:00:00Z")],
    ids=["winter", "summer", "first day of summer time", "first day of winter time"])
def test_day(day, offset, start):
    """A day begins at its midnight in the local time zone, in summer time too."""
    cache = make("cache", entries=3)
    # The rules are in the variable, so that no database of zones is needed.
    environment = os.environ | {"TZ": "CET-1CEST,M3.5.0,M10.5.0/3"}
    words = ["list", "-c", cache, "--format", "csv", "--columns", "id,age", "--at"]
    local, utc = run(*words, day, env=environment), run(*words, start, env=environment)
    assert local.stderr.decode().startswith(f"note: reading {day} as {day}T00:00:00{offset}\n"), local
    assert utc.stdout.count(b"\n") == 4 and local.stdout == utc.stdout, (local, utc)
