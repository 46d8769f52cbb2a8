"""Arguments of the wrong kind in Python: refused in a sentence, with nothing computed or left."""

from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.errors import ConfigError, SweepError
from sweep.points.recipes import fingerprint, recipe
from tests.file.test_sample import PARAMETERS

BASE: dict[str, Any] = {
    "model": "friction_oscillator",
    "parameters": {**PARAMETERS, "base_acceleration": 15.0},
    "axes": {"friction": {"values": [0.1, 0.2]}},
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def results() -> xr.Dataset:
    return sweep.run(BASE, store=None)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [*(("workers", wrong) for wrong in ("2", 1.5, True, 10**9)), ("backend", 3), ("cluster", 3)],
)
def test_options_are_checked_as_in_a_file(name: str, wrong: object) -> None:
    """The sentence is that of the file's [run] itself."""
    with pytest.raises(ConfigError) as of_file:
        sweep.load({**BASE, "run": {name: wrong}})
    options: dict[str, Any] = {name: wrong}
    with pytest.raises(SweepError) as refused:
        sweep.run(BASE, store=None, **options)
    assert str(of_file.value.faults[0]) == f"[run] {refused.value}"


def test_whole_numbers_of_numpy_are_accepted() -> None:
    workers: Any = np.int64(1)
    assert sweep.run(BASE, store=None, workers=workers).sizes["friction"] == 2


@pytest.mark.parametrize("overrides", [[3], 3, None, [None]])
def test_overrides_must_be_texts(overrides: Any) -> None:
    with pytest.raises(ConfigError, match=r"overrides: .* is not text such as \"friction=0\.2\""):
        sweep.run(BASE, overrides, store=None)


def test_overrides_by_name_are_those_written_as_texts() -> None:
    axis = {"values": np.array([1.0, 2.0])}
    by_name = {"gravity": "1 g_n", "method": "moreau", "step": 1e-3, "mass": axis, "run.workers": 2}
    texts = ["gravity=1 g_n", "method=moreau", "step=1e-3", "mass={ values=[1, 2] }"]
    loaded, expected = sweep.load(BASE, by_name), sweep.load(BASE, [*texts, "run.workers=2"])
    assert fingerprint(recipe(loaded.sweep)) == fingerprint(recipe(expected.sweep))
    assert loaded.options == expected.options
    with pytest.raises(ConfigError, match=r"overrides: .*None.* is not text"):
        sweep.load(BASE, {"mass": None})


@pytest.mark.parametrize("refined", [False, True])
@pytest.mark.parametrize("store", [3, b"a.zarr", True])
def test_a_store_must_be_a_path(store: Any, refined: bool, elsewhere: Path) -> None:
    more = {"refine": {"output": "regime", "levels": 1}} if refined else {}
    with pytest.raises(SweepError, match="is not the path of a store: give text or a pathlib"):
        sweep.run({**BASE, **more}, store=store)
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("report", 3, "report=3 cannot be called with one argument; "),
        ("report", lambda: None, "report=<function .* cannot be called with one argument"),
        ("stop", True, "stop=True is not a threading.Event; give one"),
        ("stop", threading.Event, "stop=<class 'threading.Event'> is not"),
    ],
)
def test_an_unusable_callback_is_refused_before_anything_is_computed(
    name: str, wrong: object, message: str, elsewhere: Path
) -> None:
    listeners: dict[str, Any] = {name: wrong}
    with pytest.raises(SweepError, match=message):
        sweep.run(BASE, store="here.zarr", **listeners)
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("listener", [print, [].append, functools.partial(print, "now")])
def test_anything_that_takes_one_argument_is_a_callback(listener: Any) -> None:
    assert sweep.run(BASE, store=None, report=listener).sizes["friction"] == 2


def test_none_is_not_a_store() -> None:
    nothing: Any = None
    with pytest.raises(SweepError, match="None is not the path of a store"):
        sweep.open_results(nothing)


def test_results_are_not_a_sweep(results: xr.Dataset) -> None:
    """A Dataset is a mapping, too, so that each output would be an unknown key."""
    for compute in (sweep.run, sweep.trace):
        with pytest.raises(ConfigError, match="these are results, not a sweep") as caught:
            compute(results)  # pyright: ignore[reportArgumentType]
        assert len(caught.value.faults) == 1


def test_a_comparison_takes_quantities_with_units(results: xr.Dataset) -> None:
    """As traces and files do, to the last bit."""
    errors = sweep.compare(results, "moreau", {"step": "2 ms"})
    xr.testing.assert_identical(errors, sweep.compare(results, "moreau", {"step": 0.002}))
    whole = results.where(results["status"] == 0)  # whose statuses and flags are floats
    xr.testing.assert_identical(errors, sweep.compare(whole, "moreau", {"step": "2 ms"}))
