"""What is no store, a damaged one, or one of another sweep is refused and left alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zarr

from sweep.errors import StoreError
from sweep.model.tables.friction_oscillator import EXACT, MODEL
from sweep.request.sweeps import Axis, Sweep
from sweep.store import Store, open_results
from tests.points.test_chunking import OUTPUTS, linear, sweep_over
from tests.store.test_store import SWEEP, create, tree


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _zarr_of_format_2(path: Path) -> None:
    zarr.create_group(path, zarr_format=2)


def _foreign_group(path: Path) -> None:
    zarr.create_group(path, zarr_format=3).create_array("x", shape=(3,), dtype="f8")


def _foreign_array(path: Path) -> None:
    zarr.create_array(path, shape=(3,), dtype="f8")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: _write(path, "hello"), "is a file, not a store"),
        (lambda path: path.mkdir(), "is a folder but no store"),
        (_zarr_of_format_2, "is a zarr of format 2"),
        (_foreign_group, "a zarr, but no store of this program"),
        (_foreign_array, "cannot be read as a store"),
        (lambda path: _write(path / "zarr.json", '{"zarr_form'), "cannot be read as a store"),
        (lambda path: _write(path / "zarr.json", ""), "cannot be read as a store"),
    ],
)
def test_what_is_no_store_is_refused_and_left_alone(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "other.zarr"
    make(path)
    before = tree(path)
    for refused in (Store.open, open_results, create):
        with pytest.raises(StoreError, match=message) as caught:
            refused(path)
        assert str(path) in str(caught.value)
    assert tree(path) == before


def test_no_store_at_all_names_the_nearest(store: Store) -> None:
    with pytest.raises(StoreError, match=r"no store .*did you mean 'map.zarr'"):
        Store.open(store.path.with_name("mpa.zarr"))
    with pytest.raises(StoreError, match="sweep run"):
        open_results(store.path / "nothing" / "here")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="writing is not permitted"):
        create(tmp_path / "map.zarr")


def test_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot make the store"):
        create(tmp_path / "file" / "map.zarr")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: (path / "status/zarr.json").unlink(),
        lambda path: (path / "wear_power/zarr.json").write_text("{"),
        lambda path: (path / "friction/c/0").unlink(),
        lambda path: (path / "friction/c/0").write_bytes(b"x" * 60),
        lambda path: _edit(path / "zarr.json", "0x1.4000000000000p+3", "0x1.5000000000000p+3"),
        lambda path: _edit(
            path / "regime/zarr.json", '"chunk_shape": [\n        4', '"chunk_shape": [\n        5'
        ),
    ],
)
def test_a_damaged_store_is_refused(store: Store, damage: Callable[[Path], None]) -> None:
    damage(store.path)
    with pytest.raises(StoreError, match="it is damaged"):
        Store.open(store.path)


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


AXIS = SWEEP.axes[1]
OTHERS: dict[str, Sweep] = {
    r"^mass: 1.0 kg in the store, 2.0 kg in this sweep$": sweep_over(*SWEEP.axes, mass=2.0),
    r"^stiffness: 0.0 N/m in the store, 3.0 N/m": sweep_over(*SWEEP.axes, stiffness=3.0),
    r"^base_acceleration: along base_acceleration in the store, 2.5 m/s\^2 in": sweep_over(
        SWEEP.axes[0]
    ),
    r"^dimensions: friction, base_acceleration in the store, base_acceleration, fr": sweep_over(
        *SWEEP.axes[::-1]
    ),
    r"^axis base_acceleration, linspace: .*, 7.* in the store, .*, 8": sweep_over(
        SWEEP.axes[0], linear("base_acceleration", 1.0, 15.0, 8)
    ),
    r"^axis base_acceleration: value 1 of base_acceleration is 1.0 in the store, 1.000": sweep_over(
        SWEEP.axes[0], replace(AXIS, columns={AXIS.name: AXIS.columns[AXIS.name] * (1 + 1e-9)})
    ),
    r"^outputs: regime, slip_phases, wear_power in the store, wear_power in": sweep_over(
        *SWEEP.axes, outputs=OUTPUTS[:1]
    ),
    r"^dtype: float64 in the store, float32 in this": replace(SWEEP, dtype="float32"),
    r"^method: exact in the store, euler in this": replace(
        SWEEP, method=replace(EXACT, name="euler")
    ),
    r"^model: friction_oscillator in the store, mdr in": replace(
        SWEEP, model=replace(MODEL, name="mdr")
    ),
    f"^revision of method exact: {EXACT.revision} in the store, {EXACT.revision + 1} in": replace(
        SWEEP, method=replace(EXACT, revision=EXACT.revision + 1)
    ),
}


@pytest.mark.parametrize(("sentence", "other"), OTHERS.items())
def test_another_sweep_is_refused_with_the_difference_named(
    store: Store, sentence: str, other: Sweep
) -> None:
    (difference,) = [d for d in store.made_by.differences(other) if re.search(sentence, d)]
    whole = tree(store.path)
    with pytest.raises(StoreError, match=re.escape(difference)):
        create(store.path, other)
    assert tree(store.path) == whole


@pytest.mark.parametrize("kind", ["values", "file"])
def test_of_values_listed_one_by_one_the_first_that_differs_is_named(
    tmp_path: Path, kind: str
) -> None:
    """And not all three hundred, twice."""

    def listed(*values: float) -> Sweep:
        recipe = list(values) if kind == "values" else {"sha256": f"{hash(values):x}", "count": 3}
        column = {"friction": np.array(values, dtype=float)}
        return sweep_over(Axis("friction", column, {kind: recipe}))

    new_store = create(tmp_path / "a.zarr", listed(*range(300)))
    assert new_store.made_by.differences(listed(*range(200), 200.5, *range(201, 300))) == [
        "axis friction: value 201 of friction is 200.0 in the store, 200.5 in this sweep"
    ]
    assert new_store.made_by.differences(listed(*range(299))) == [
        "axis friction: 300 values in the store, 299 in this sweep"
    ]


def test_the_other_parameter_set_is_described_by_its_parameters(store: Store) -> None:
    values = {n: v for n, v in SWEEP.constants.items() if not n.startswith("window")}
    cycles = replace(
        SWEEP,
        parameter_set=MODEL.parameter_sets[1],
        constants=values | {"start_cycle": 4.0, "end_cycle": 12.0},
    )
    assert store.made_by.differences(cycles) == [
        "parameter set: seconds in the store, cycles in this sweep",
        "window_start: 4.0 s in the store, not given in this sweep",
        "window_end: 12.0 s in the store, not given in this sweep",
        "start_cycle: not given in the store, 4.0 in this sweep",
        "end_cycle: not given in the store, 12.0 in this sweep",
    ]


def test_another_processors_last_bits_and_an_accepted_revision_are_the_same_sweep(
    store: Store,
) -> None:
    nudged = {AXIS.name: np.nextafter(AXIS.columns[AXIS.name], np.inf)}
    same = replace(
        SWEEP,
        axes=(SWEEP.axes[0], replace(AXIS, columns=nudged)),
        method=replace(EXACT, revision=EXACT.revision + 1),
    )
    assert store.made_by.differences(same, accept_revision=True) == []
    continued = Store.create(store.path, same, provenance={}, accept_revision=True)
    np.testing.assert_array_equal(
        continued.sweep.axes[1].columns[AXIS.name], AXIS.columns[AXIS.name]
    )
