"""Random points drawn by the text for a GPU, on the processor, against those that NumPy draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.file import load
from sweep.kernel import random_points
from sweep.kernel.cpu import CpuBackend
from sweep.kernel.gpu import GpuBackend
from sweep.points.columns import points, variant_sets
from sweep.request.chunk import Chunk
from sweep.request.sweeps import Reduced
from sweep.sampling.distributions import DISTRIBUTIONS
from sweep.sampling.long_values import Drawn, SampleColumns
from sweep.statistics.partial import Kept
from tests.cases import differing
from tests.cases.drawn import FORMS, WHOLE, column_of
from tests.gpu.twin import TwinDevice

N_POINTS = 300_000  # more than threads, so that some draw several
SAMPLED: dict[str, Any] = {
    "model": "friction_oscillator",
    "outputs": ["wear_power"],
    "parameters": {"mass": 1, "angular_frequency": 6, "window_start": 4, "window_end": 12},
    "axes": {"gravity": {"linspace": [5.0, 10.0, 3]}},
    "sample": {
        "method": "random", "points": 2**21, "seed": 2,
        "friction": {"lognormal": [0.1, 0.5]}, "base_acceleration": {"uniform": [1, 9]},
    },
    "reduce": {"wear_power": ["mean", "quantile 0.5", "minimum", "share above 1 W"]},
}  # fmt: skip


def drawn_on_twin(column: Drawn, start: int, count: int) -> NDArray[np.float64]:
    device = TwinDevice()
    entries = device.entry(random_points.drawing_text(), "draw")
    memory, _ = random_points.draw(device, entries, column, start, count)
    return device.array(memory, count, np.float64).get()


@pytest.mark.parametrize(("form", "arguments"), FORMS)
def test_the_bits_are_those_that_numpy_draws(form: str, arguments: tuple[float, ...]) -> None:
    column = column_of({"x": {form: arguments}})
    expected = column[:N_POINTS]
    assert drawn_on_twin(column, 0, N_POINTS).tobytes() == expected.tobytes()
    assert np.unique(expected).size > N_POINTS / 2


def test_every_distribution_is_drawn() -> None:
    assert {form for form, _ in FORMS} == {*DISTRIBUTIONS}


@pytest.mark.parametrize(("form", "arguments"), WHOLE)
def test_whole_numbers_are_those_of_numpy(form: str, arguments: tuple[float, ...]) -> None:
    column = column_of({"x": {form: arguments}}, whole="x")
    drawn = drawn_on_twin(column, 0, 100_000)
    assert drawn.tobytes() == column[:100_000].tobytes()
    assert (drawn == np.rint(drawn)).all()
    assert len(np.unique(drawn)) > 5


@pytest.mark.parametrize(("start", "count"), [(0, 1), (7, 1000), (131_071, 150_000)])
def test_any_stretch_of_one_of_several_parameters_is_drawn(start: int, count: int) -> None:
    column = column_of({name: {"normal": [1.0, 2.0]} for name in "abc"}, "b")
    expected = column[start : start + count].tobytes()
    assert drawn_on_twin(column, start, count).tobytes() == expected
    part = column.part(slice(start, start + count))
    assert isinstance(part, Drawn)
    assert drawn_on_twin(part, 0, count).tobytes() == expected


def test_the_end_of_a_long_sample_is_drawn() -> None:
    first = 10**11 - 12_345
    column = column_of({"points": 10**11, "x": {"lognormal": [0.1, 0.5]}})
    assert drawn_on_twin(column, first, 12_345).tobytes() == column[first:].tobytes()


@pytest.mark.parametrize(
    ("start", "cells", "first", "count"), [(0, 3, 0, 70_000), (1, 1, 69_000, 1000), (0, 2, 5, 3000)]
)
def test_a_reduced_sample_is_that_of_the_cpu(
    start: int, cells: int, first: int, count: int
) -> None:
    """In several cells, whose points are alike, and batches; no value is drawn on the host."""
    sweep, chunk = load(SAMPLED).sweep, Chunk((0, 0), (start, first), (cells, count))
    assert isinstance(sweep, Reduced)
    kept = Kept(sweep)
    twin = TwinDevice(memory=400_000)
    on_twin = points(sweep, chunk)
    names = {*random_points.random_columns(on_twin.columns)}
    assert names == {"friction", "base_acceleration"}
    result = GpuBackend(twin).compute(sweep.points, on_twin, then=kept.then(on_twin)).arrays
    assert not any("values" in vars(on_twin.columns[name]) for name in names)
    assert [entry for entry, _ in twin.launches].count("tribosweep_draw") >= 2
    on_host = points(sweep, chunk)
    expected = CpuBackend().compute(sweep.points, on_host, then=kept.then(on_host)).arrays
    assert differing(dict(expected), dict(result)) == []


def test_variants_are_known_from_a_few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a sample would otherwise be drawn before a run, and each chunk on the host."""
    column, drawn = SampleColumns.column, list[int]()

    def counted(self: SampleColumns, name: str, start: int, stop: int) -> NDArray[np.float64]:
        drawn.append(stop - start)
        return column(self, name, start, stop)

    monkeypatch.setattr(SampleColumns, "column", counted)
    sample = {**SAMPLED["sample"], "stiffness": {"uniform": [1, 9]}}
    sweep = load({**SAMPLED, "sample": sample}).sweep
    assert variant_sets(sweep, (1,)) == [("no_damping", "no_shaking")]
    assert points(sweep, Chunk((0, 0), (0, 0), (1, 2**20))).variants == ("no_damping", "no_shaking")
    assert 0 < sum(drawn) < 10_000
