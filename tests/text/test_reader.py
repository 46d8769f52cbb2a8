"""The reader of tables: one fault for each thing that is wrong, at its key, in order."""

from __future__ import annotations

import datetime

import pytest

from sweep.errors import ConfigError, Fault, FaultError
from sweep.text.reader import FLAG, Faults, Key, Table, TooManyFaultsError, is_text, whole_key
from sweep.text.wording import written

KEYS = {
    "count": whole_key(1, 9),
    "names": Key("a list of names", lambda _: None, item=is_text),
    "exact": FLAG,
    "kind": Key("text", is_text, "linear"),
}


def test_the_parts_of_a_fault_that_are_empty_have_no_separator() -> None:
    assert str(Fault("[axes] mass", "empty", "give one")) == "[axes] mass: empty; give one"
    assert str(Fault("", "empty", "give one")) == "empty; give one"
    assert str(Fault("[axes]", "empty")) == "[axes]: empty"
    assert str(FaultError("empty", "give one")) == "empty; give one"


def test_each_key_is_read_or_is_one_fault() -> None:
    faults = Faults()
    table = Table({"names": ["a", 1], "count": 10, "exact": True}, "x", faults)
    values = table.values(KEYS)
    table.close()
    assert values == {"count": None, "names": None, "exact": True, "kind": "linear"}
    assert [str(fault) for fault in faults.in_order()] == [
        "x.names: 1 in the list is wrong; expected a list of names",
        "x.count: 10 is not a whole number from 1 to 9",
    ]


def test_a_misspelt_key_is_not_missing_too() -> None:
    faults = Faults()
    table = Table({"conut": 3, "zzz": 1}, "", faults)
    for key in ("count", "kind"):
        if not table.has(key):
            table.missing(key, "give it")
    table.close()
    assert [(each.where, each.what) for each in faults.found] == [
        ("conut", "there is no such key"),
        ("zzz", "there is no such key"),
        ("kind", "missing"),
    ]


def test_nothing_is_missing_in_what_is_not_a_table() -> None:
    faults = Faults()
    table = Table({"x": 3}, "", faults).table("x")
    table.missing("unit", "give it")
    table.close()
    assert [str(fault) for fault in faults.found] == ["x: 3 is not a table"]


def test_faults_of_an_entry_are_at_its_key() -> None:
    faults = Faults()
    entry = Table({"mass": {"kind": 3}}, "", faults).entry("mass")
    entry.values(KEYS)
    assert entry.is_faulty
    assert [str(fault) for fault in faults.found] == ["mass: kind: 3 is not text"]


def test_faults_are_raised_in_the_order_of_the_file() -> None:
    faults = Faults()
    top = Table({"b": {"y": 1, "x": 2}, "a": 3}, "", faults)
    for table, key in ((top, "c"), (top, "a"), (top.table("b"), "x"), (top.table("b"), "y")):
        table.fault(key, "wrong")
    with pytest.raises(ConfigError) as caught:
        faults.raise_all("file.toml")
    assert [fault.where for fault in caught.value.faults] == ["b.y", "b.x", "a", "c"]


def test_reading_ends_after_enough_faults() -> None:
    faults = Faults(most=2)
    faults.add("", "one")
    with pytest.raises(TooManyFaultsError):
        faults.add("", "two")


def test_values_are_shown_as_files_have_them() -> None:
    values = [True, datetime.date(1979, 5, 27), "a", 1.5]
    assert written(values) == "[true, 1979-05-27, 'a', 1.5]"
