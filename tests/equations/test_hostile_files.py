"""Hostile and random model files: refused in time, and nothing of them is run."""

from __future__ import annotations

import random
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sweep.equations.system_file import examine
from tests.equations.good_model import GOOD, changed, faults_of, read_system
from tests.equations.test_broken_vectors import GOOD as VECTORS


class Exploding:
    """Whatever is done with it, the test fails."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} of a value was used")

    def __call__(self) -> None:
        raise AssertionError("a value was called")


@pytest.mark.broad
@pytest.mark.parametrize(
    "value", [Exploding(), [], {}, None, b"x", 10**5000, float("nan"), {1: 2}, [[[]]], object()],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
@pytest.mark.parametrize("text", [GOOD, VECTORS], ids=["scalars", "vectors"])
def test_values_of_any_type_are_refused_wherever_they_stand(value: object, text: str) -> None:
    tables = tomllib.loads(text)

    def visit(table: Any, keys: Any) -> None:
        for key in keys:
            kept, table[key] = table[key], value
            system, faults = examine(tables)
            assert (system is None) == bool(faults)
            table[key] = kept
            if isinstance(kept, dict):
                visit(kept, list(kept))
            elif isinstance(kept, list):
                visit(kept, range(len(kept)))

    visit(tables, list(tables))
    assert examine(tables)[1] == ()


def test_keys_that_are_no_text_are_refused() -> None:
    tables: Mapping[Any, Any] = {**tomllib.loads(GOOD), 5: 1, 10**5000: 2, None: 3}
    assert [fault.what[:20] for fault in examine(tables)[1]] == ["there is no such key"] * 3


def many(count: int) -> dict[str, Any]:
    tables = tomllib.loads(GOOD)
    return {
        **tables,
        "states": {f"s{i}": {"initial": "0"} for i in range(count)},
        "definitions": {f"d{i}": {"value": " + ".join(["q"] * 99)} for i in range(count)},
        "modes": {f"m{i}": {f"s{j}": "zz + yy" for j in range(50)} for i in range(count)},
        "events": [{"name": f"e{i}", "when": f"s{i}", "direction": "u"} for i in range(count)],
        "outputs": {f"o{i}": {"mean": f"unknown_{i}"} for i in range(count)},
        **{f"key_{i}": {} for i in range(count)},
    }


@pytest.mark.parametrize("count", [10, 30, 2000])
def test_large_files_are_refused_in_time(count: int) -> None:
    start = time.perf_counter()
    system, faults = examine(many(count))
    assert system is None
    assert 0 < len(faults) <= 100
    assert time.perf_counter() - start < 5


def test_too_many_entries_are_refused() -> None:
    for key, most in (("states", 64), ("definitions", 128), ("modes", 16), ("outputs", 64)):
        messages = [str(fault) for fault in examine(many(200))[1]]
        assert f"{key}: 200 {key}; at most {most} are allowed" in messages
    assert "events: 200 events; at most 64 are allowed" in messages


def test_the_text_of_all_expressions_is_bounded() -> None:
    derivatives = dict.fromkeys((f"s{i}" for i in range(32)), f"1{' ' * 1900}")
    tables = {
        **tomllib.loads(GOOD),
        "states": {name: {"initial": 0} for name in derivatives},
        "modes": {f"m{i}": derivatives for i in range(16)},
    }
    assert any("of all expressions" in str(fault) for fault in examine(tables)[1])


def test_definitions_that_double_each_other_are_refused_in_time() -> None:
    """With definitions in place of their names, the last of d2 = d1*d1, ... has 2**64 parts."""
    tables = tomllib.loads(GOOD)
    doubled = {f"d{i + 1}": {"value": f"d{i}*d{i}"} for i in range(1, 64)}
    tables["definitions"] |= {"d1": {"value": "sin(omega*t)"}} | doubled
    tables["modes"]["free"]["v"] = "where(d64 > 0, 1, 2)*total/mass"
    start = time.perf_counter()
    system, faults = examine(tables)
    assert system is None
    assert all("parts with the definitions that it uses" in fault.what for fault in faults)
    assert faults[0].where == "definitions.d11.value"  # 4 parts, 9, 19, ..., 5,119
    assert time.perf_counter() - start < 5


def fuzz(count: int, seed: int, good: str) -> None:
    rng, slowest = random.Random(seed), 0.0
    lines = [line for line in good.splitlines() if line]
    words = [
        "{", "}", "[", "]", "=", '"', "x", "v", "0", "-1", "1e999", "nan", "true", "''", "^",
             "(", ")", "**", "and", "free", "held", "impact", ",", ".", "'", "\\", "pi", "t",
    ]  # fmt: skip
    for _ in range(count):
        text = list(lines)
        for _ in range(rng.randrange(1, 4)):
            i = rng.randrange(len(text))
            line = text[i]
            cut = rng.randrange(len(line) + 1)
            piece = rng.choice([*words, rng.choice(lines), ""])
            text[i] = rng.choice(["", line[:cut] + piece + line[cut + rng.randrange(3) :]])
        try:
            tables = tomllib.loads("\n".join(text))
        except tomllib.TOMLDecodeError:
            continue
        start = time.perf_counter()
        system, faults = examine(tables)
        slowest = max(slowest, time.perf_counter() - start)
        assert (system is None) == bool(faults)
        if system is not None:
            assert read_system(tomllib.loads(system.text)) == system
    assert slowest < 2


@pytest.mark.parametrize("text", [GOOD, VECTORS], ids=["scalars", "vectors"])
def test_mutated_files_are_read_or_refused(text: str) -> None:
    fuzz(500, 3, text)


@pytest.mark.broad
@pytest.mark.parametrize("text", [GOOD, VECTORS], ids=["scalars", "vectors"])
def test_many_mutated_files_are_read_or_refused(text: str) -> None:
    fuzz(5_000, 4, text)


def test_nothing_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    hostile = f"__import__('os').mkdir('{mark}')"
    for key in ('"total/mass"', '"x - gap"', '"2*pi/omega"', '"push*v"', '"0"'):
        assert faults_of(changed(key, f'"{hostile}"'))
        assert faults_of(changed(key, f'"(lambda: {hostile})()"'))
    assert not mark.exists()
