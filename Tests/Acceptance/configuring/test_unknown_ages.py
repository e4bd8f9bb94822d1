"""Limits and rules on an age that no entry has, or only some: what they cannot judge is kept, and the commands say so."""

import datetime
import json

import pytest

import worlds
from scratch import path

NOW = 1_700_000_000
AT = ["--at", "2023-11-14T22:13:20Z"]
MISTYPED = "user-info:MISTYPED"


def make(dated=0, name="cache"):
    """A cache of ten entries; the app has attached a date from a year ago to some of them."""
    old = datetime.datetime(2022, 11, 14)
    some = worlds.entries(10, newest=NOW - 100_000)
    for entry in some[:dated]:
        entry.user_info = {"When": old}
    return worlds.apple(path(name), some)


def enforce(cache, *words, text=""):
    """What was removed and kept, and why, in a dry run and in a run, and the note on unknown ages."""
    worlds.configure(cache, text)
    answers = []
    for mode in ["--dry-run", "--yes"]:
        result = worlds.run("enforce", "shop", *words, *AT, mode, "--format", "json", status=0)
        receipt = json.loads(result.stdout)
        reasons = {reason["reason"]: reason["entries"] for reason in receipt["kept"]["reasons"]}
        notes = [line for line in result.stderr.splitlines() if "age is unknown" in line]
        answers.append((receipt["removed"]["entries"], receipt["kept"]["entries"], reasons, notes))
    assert answers[0] == answers[1]
    return answers[0]


def note(count):
    return [f"note: entries kept because their age is unknown: {count}"] if count else []


@pytest.mark.parametrize("dated, key, removed", [(0, "MISTYPED", 0), (10, "When", 10), (4, "When", 4), (10, "MISTYPED", 0)])
def test_a_limit(dated, key, removed):
    got = enforce(make(dated), "--max-age", "30d", "--age-basis", f"user-info:{key}")
    assert got == (removed, 10 - removed, {"unknown-age": 10 - removed} if removed < 10 else {}, note(10 - removed))


@pytest.mark.parametrize("rule", ["match = {{ age-basis = '{basis}' }}\nexpire-after = '30d'",
                                  "match = {{ older-than = '30d', age-basis = '{basis}' }}\naction = 'purge'",
                                  "match = {{ age-basis = '{basis}', where = 'age > 30d' }}\naction = 'purge'"])
@pytest.mark.parametrize("dated, key, removed", [(0, "MISTYPED", 0), (10, "When", 10), (4, "When", 4)])
def test_a_rule(rule, dated, key, removed):
    rule = "[[caches.shop.rules]]\n" + rule.format(basis=f"user-info:{key}") + "\n"
    got = enforce(make(dated), text=rule)
    assert got == (removed, 10 - removed, {"unknown-age": 10 - removed} if removed < 10 else {}, note(10 - removed))
    result = worlds.run("rules", "test", "shop", *AT, status=0)
    assert ("entries of unknown age" in result.stderr) == (removed < 10)


def test_a_rule_of_other_entries():
    """An unknown age is the reason for the entries of the rule only, and not where a later rule removes or keeps them."""
    rules = """
        [[caches.shop.rules]]
        match = { url = 'https://a.example/1', age-basis = 'user-info:MISTYPED', older-than = '1d' }
        action = 'purge'
        [[caches.shop.rules]]
        match = { url = ['https://a.example/2', 'https://a.example/3'], age-basis = 'user-info:MISTYPED', older-than = '1d' }
        action = 'purge'
        [[caches.shop.rules]]
        match = { url = 'https://a.example/2' }
        action = 'keep'
        [[caches.shop.rules]]
        match = { url = 'https://a.example/3' }
        action = 'purge'
    """
    assert enforce(make(), text=rules) == (1, 9, {"unknown-age": 1, "kept-by-rule": 1, "within-limits": 7}, note(1))


def test_a_limit_on_the_number():
    """An entry that another limit removes is not kept; the dates of all others are known."""
    got = enforce(make(), "--max-entries", "4", "--max-age", "30d", "--age-basis", MISTYPED)
    assert got == (6, 4, {"unknown-age": 4}, note(4))


def test_known_ages():
    """Where all ages are known, nothing is said of them."""
    assert enforce(make(), "--max-age", "30d") == (0, 10, {"within-limits": 10}, [])
    assert enforce(make(name="other"), "--max-entries", "10", "--age-basis", MISTYPED) == (0, 10, {"within-limits": 10}, [])
