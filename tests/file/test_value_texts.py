"""The texts of values: read alike by `--set`, `--at`, overrides and `at=`, whatever reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.cli.parameters import named
from sweep.errors import SweepError
from sweep.fits import ContactEnergies
from sweep.pictures.comparison import reference_sweep
from sweep.pictures.cuts import nearest
from sweep.pictures.labels import with_codes
from sweep.results.tracing import as_point
from tests.test_api_arguments import BASE

POINT: Mapping[str, Any] = {
    "model": "friction_oscillator",
    "parameters": {**BASE["parameters"], "friction": 0.1},
}
MILLI = {"kg": "g", "rad": "mrad", "s": "ms"}


def _loaded(**changes: Any) -> float:
    return sweep.load(POINT, **changes).sweep.constants["mass"]


def _traced(at: Sequence[str]) -> float:
    return as_point(sweep.load(POINT, at=at).sweep).constants["mass"]


def _cut(at: Mapping[str, str]) -> float:
    values = np.array([0.0, 0.2, 3.0, 5.0, 10.0])
    return float(
        values[
            nearest(xr.DataArray(values, {"mass": values}, ["mass"], "mass", {"units": "kg"}), at)
        ]
    )


def _fitted(at: Mapping[str, str]) -> float:
    """The phase of points whose phase is not known."""
    one, unknown = np.ones(1), np.full(1, np.nan)
    points = ContactEnergies("points", one, one, unknown, one, one, one, one, unknown)
    return float(points.at(at).phase[0])


def _compared(parameters: Mapping[str, str], results: xr.Dataset) -> float:
    return reference_sweep(results, "moreau", parameters).constants["step"]


# What reads a text, by the parameter it gives and its unit.
READERS: Mapping[str, tuple[str, str, Callable[[str, xr.Dataset], float]]] = {
    "--set": ("mass", "kg", lambda text, _: _loaded(overrides=[f"mass={text}"])),
    "overrides": ("mass", "kg", lambda text, _: _loaded(overrides={"mass": text})),
    "trace --at": ("mass", "kg", lambda text, _: _traced([f"mass = {text}"])),
    "trace(at=)": ("mass", "kg", lambda text, _: float(sweep.trace(POINT, {"mass": text}).mass)),
    "plot --at": ("mass", "kg", lambda text, _: _cut(named([f"mass={text}"]))),
    "plot(at=)": ("mass", "kg", lambda text, _: _cut({"mass": text})),
    "fit --at": ("phase", "rad", lambda text, _: _fitted(named([f"phase={text}"]))),
    "fit(at=)": ("phase", "rad", lambda text, _: _fitted({"phase": text})),
    "plot --set": ("step", "s", lambda text, data: _compared(named([f"step={text}"]), data)),
    "compare": ("step", "s", lambda text, data: _compared({"step": text}, data)),
}
each_reader = pytest.mark.parametrize("reader", READERS)


@pytest.fixture(scope="module")
def results() -> xr.Dataset:
    return sweep.run(POINT, store=None)


@each_reader
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("0.2", 0.2), (".2", 0.2), ("2e-1", 0.2), ("20E-2", 0.2), ("5.", 5.0), ("+3", 3.0)),
        *(("1_0", 10.0), ("03", 3.0), ("0.2 UNIT", 0.2), ("0.2UNIT", 0.2), ("200 MILLI", 0.2)),
        *((" 200  MILLI ", 0.2), ("2e2MILLI", 0.2), ('"200 MILLI"', 0.2), ("'.2 UNIT'", 0.2)),
    ],
)
def test_a_text_is_the_same_value_everywhere(
    results: xr.Dataset, reader: str, text: str, value: float
) -> None:
    _, unit, read = READERS[reader]
    assert read(text.replace("UNIT", unit).replace("MILLI", MILLI[unit]), results) == value


@each_reader
@pytest.mark.parametrize(
    ("text", "cure"),
    [
        *(("0,2", '; write "0.2"'), ("0,2 UNIT", '; write "0.2 UNIT"'), ("'0.2'", "0.2 UNIT")),
        *(("a", "a number in UNIT"), ("true", "a number in UNIT"), ("nan", "a number in UNIT")),
        *(("1 K", "a number in UNIT"), ("inf", "a number"), ("1 Hzz", "known units are")),
        *(("[1", '0.5, "text" or [1, 2]'), ("[.5]", "a digit on both sides of the point")),
    ],
)
def test_a_wrong_text_is_refused_everywhere_by_its_name(
    results: xr.Dataset, reader: str, text: str, cure: str
) -> None:
    name, unit, read = READERS[reader]
    with pytest.raises(SweepError) as refused:
        read(text.replace("UNIT", unit), results)
    assert name in str(refused.value)
    assert cure.replace("UNIT", unit) in str(refused.value)


@pytest.mark.parametrize("reader", [name for name in READERS if name not in ("--set", "overrides")])
@pytest.mark.parametrize("text", ["[0.2, 3]", "{ linspace = [1, 2, 3] }"])
def test_several_values_are_refused_where_one_is_needed(
    results: xr.Dataset, reader: str, text: str
) -> None:
    name, _, read = READERS[reader]
    with pytest.raises(SweepError, match=name):
        read(text, results)


def test_faults_name_what_was_changed_in_words_of_shells_and_of_python() -> None:
    with pytest.raises(SweepError) as refused:
        sweep.load(POINT, {"friction": "-1"}, at={"mass": "0"})
    assert "  override friction: -1 is out of range" in str(refused.value)
    assert "  at mass: 0 is out of range" in str(refused.value)
    assert "--" not in str(refused.value)


@pytest.mark.parametrize("text", ["slip", '"slip"', "'slip'"])
def test_a_label_may_have_quotes(text: str) -> None:
    results = xr.Dataset(coords={"regime_class": ["stick", "slip"]})
    assert nearest(with_codes(results).regime_class, named([f"regime_class={text}"])) == 1
