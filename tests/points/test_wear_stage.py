"""Wear as a part of a sweep: every number against plain formulas, statistics against all points.

The model has wear powers that are its parameters, one at each of three supports, so that they are
known exactly.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.optimize import brentq

import sweep
from sweep import api
from sweep.file import load
from sweep.kernel.backend import Computed
from sweep.kernel.cpu import CpuBackend
from sweep.kernel.gpu import GpuBackend
from sweep.model.shipped import configs_folder
from sweep.model.table import Status
from sweep.points.columns import points
from sweep.points.recipes import fingerprint, model_of, recipe
from sweep.points.stages import staged
from sweep.points.wear_stage import REVISION
from sweep.request.chunk import Chunk
from sweep.statistics.partial import Kept
from sweep.store import open_results
from tests.gpu.twin import TwinDevice
from tests.kernel.wrapped import WrappedBackend
from tests.oracles import wear as oracle

YEAR = 31_536_000.0  # s
DIGESTS = {1: "507b76383bea25f8"}  # of the bits by revision
EXACT = 1e-12
MODEL = tomllib.loads("""
format = 1
name = "supported"
[indices]
support = ["lower", "middle", "upper"]
[parameters]
load = { over = "support", unit = "W", default = 0.5 }
other_load = { over = "support", unit = "W", default = 0.25 }
work = { unit = "J", default = 2.0 }
radius = { unit = "m", default = 7.0 }
[states]
x = { unit = "s", initial = "0" }
[derivatives]
x = "1"
[outputs]
wear_power = { over = "support", final = "load", unit = "W" }
other_power = { over = "support", final = "other_load", unit = "W" }
total = { final = "sum(support, load)", unit = "W" }
cycle_work = { final = "work", unit = "J" }
""")
WEAR = {"law": "archard", "years": [1, 4], "geometry": "tube_flat", "length": "30 mm"}
TUBE = {"wear_radius": "11 mm"}  # `radius` is a parameter of the model
SAMPLE = {
    "method": "sobol", "points": 256, "seed": 3, "coefficient": {"lognormal": [1.2e-13, 0.5]},
    "load[lower]": {"uniform": [0.01, 0.3]},
}  # fmt: skip


def request(**changes: Any) -> dict[str, Any]:
    """A sweep file as a mapping; tables that are changed are completed, None removes entries."""
    tables: dict[str, Any] = {
        "model": MODEL,
        "method": "rk54",
        "parameters": {"window_end": 1.0, **TUBE},
        "sample": SAMPLE,
        "wear": WEAR,
    }
    for name, change in changes.items():
        own = tables.get(name)
        both = {**own, **change} if isinstance(own, dict) and isinstance(change, dict) else change
        tables[name] = (
            {k: v for k, v in both.items() if v is not None} if isinstance(both, dict) else both
        )
    return {name: table for name, table in tables.items() if table is not None}


def run(**changes: Any) -> xr.Dataset:
    return sweep.run(request(**changes), store=None, progress=False)


def axis_of(**axes: Any) -> dict[str, Any]:
    """A sweep without a sample, along these axes."""
    return {"sample": None, "axes": axes}


def test_quantiles_are_those_of_the_wear_of_all_points() -> None:
    """The sample is drawn through the public API, its depths are bisected and sorted."""
    levels = [0.05, 0.5, 0.95, 1.0]
    texts = [f"quantile {level}" for level in levels]
    limit = 4e-4
    reduce = {
        "exact_quantiles": True, "wear_depth": [*texts, "share above 0.4 mm", "maximum"],
        "wear_volume": texts, "time_to_limit": texts, "wear_state": ["share"],
    }  # fmt: skip
    wall = 1.09e-3
    more = {"limit": limit, "wall": wall}
    found = run(reduce=reduce, wear=more)
    drawn = run(outputs=["wear_power", "wear_volume"], wear=more)
    power = drawn["wear_power"].values  # (points, supports)
    np.testing.assert_array_equal(power[:, 0], drawn["load[lower]"])
    assert set(power[:, 1:].ravel()) == {0.5}
    rate = drawn["coefficient"].values[:, None] * power
    volume = rate[..., None] * np.array([YEAR, 4 * YEAR])
    depth = oracle.bisected_depths("tube_flat", volume, 0.011, 0.03).astype(float)
    most = float(oracle.tube_flat(limit, 0.011, 0.03))
    for name, values in {
        "wear_volume": volume, "wear_depth": depth, "time_to_limit": most / rate
    }.items():  # fmt: skip
        ranked = np.sort(values, axis=0)[[math.ceil(q * 256) - 1 for q in levels]]
        expected = np.moveaxis(ranked, 0, -1)
        assert found[f"{name}_quantile"].dims[-1] == "quantile"
        np.testing.assert_allclose(found[f"{name}_quantile"], expected, rtol=EXACT)
    np.testing.assert_allclose(found["wear_depth_maximum"], depth.max(axis=0), rtol=EXACT)
    above = found["wear_depth_share_above"].values[..., 0]
    np.testing.assert_array_equal(above, (depth > limit).mean(axis=0))
    through = found["wear_state_share"].sel(wear_state_class="worn_through").values
    np.testing.assert_array_equal(through, (depth >= wall).mean(axis=0))
    assert 0 < through.min(initial=1, where=through > 0) < 1
    assert found["support"].values.tolist() == ["lower", "middle", "upper"]
    assert found["years"].values.tolist() == [1, 4]
    assert found["time"].values.tolist() == [YEAR, 4 * YEAR]


SCARS = {
    "tube_flat": {},
    "tube_flat_inclined": {"angle": {"uniform": [0.001, 0.1]}},
    "tube_hole": {"hole_radius": {"uniform": [0.0121, 0.014]}},
}
DRAWN = {
    "coefficient": {"lognormal": [1e-13, 0.3]},
    "exponent": {"uniform": [1.0, 1.4]},
    "decay": {"uniform": [1e-8, 5e-8]},
    "slope": {"uniform": [5e-17, 5e-16]},
    "wear_radius": {"uniform": [0.010, 0.012]},
    "length": {"uniform": [0.02, 0.04]},
    "limit": {"uniform": [2e-4, 8e-4]},
    "load[lower]": {"uniform": [0.01, 0.3]},
}


@pytest.mark.parametrize("geometry", SCARS)
def test_depths_and_times_are_roots_of_the_formulas(geometry: str) -> None:
    """Of the law edf_mz with every coefficient and dimension drawn: SciPy's Brent at each point."""
    wear = {"law": "edf_mz", "geometry": geometry, "length": None}
    sample = {**DRAWN, **SCARS[geometry], "points": 24}
    ds = run(sample=sample, wear=wear, parameters={"wear_radius": None})
    volume_of = getattr(oracle, geometry)
    other = next(iter(SCARS[geometry]), None)
    for i in range(24):
        at = ds.isel(point=i)
        size = [float(at[name]) for name in ("wear_radius", "length", other) if name]
        law = [float(at[name]) for name in ("coefficient", "exponent", "decay", "slope")]
        power = float(at["load[lower]"])
        most = volume_of(float(at["limit"]), *size)

        def rest(seconds: float, at: Any = (power, law, most)) -> float:
            return float(oracle.edf_mz(at[0], seconds, *at[1]) / at[2] - 1)

        seconds = brentq(rest, 1.0, 1e15, xtol=1e-6, rtol=1e-14)
        slowness = abs(rest(seconds * 1.001) / 1e-3)  # the root loses as many digits
        found = float(at["time_to_limit"].sel(support="lower"))
        assert found == pytest.approx(seconds, rel=EXACT / slowness)
        for years in (1, 4):
            volume = oracle.edf_mz(power, years * YEAR, *law)
            here = at.sel(support="lower", time=years * YEAR)
            assert float(here["wear_volume"]) == pytest.approx(float(volume), rel=EXACT)

            def gap(h: float, volume: Any = volume, size: Any = size) -> float:
                return float(volume_of(h, *size) / volume - 1)

            depth = brentq(gap, 1e-9, 2 * size[0], xtol=1e-18, rtol=1e-14)
            assert float(here["wear_depth"]) == pytest.approx(depth, rel=EXACT)


def test_the_figures_of_zzzz405a() -> None:
    """Volumes by EDF's law, depths by the formulas for shallow scars (Code_Aster)."""
    wear = {"law": "edf_mz", "years": [2, 4, 6], "small": True, "length": 10}
    ds = run(**axis_of(wear_radius=[1, 2]), wear=wear, parameters={"wear_radius": None})
    upper = ds.sel(wear_radius=1, support="upper")
    volumes = [1.4045989789e-6, 1.71167990121e-6, 1.78322811412e-6]
    np.testing.assert_allclose(upper["wear_volume"], volumes, rtol=1e-10)
    depths = [1.77037693409e-5, 2.01981942451e-5, 2.07572004243e-5]
    np.testing.assert_allclose(upper["wear_depth"], depths, rtol=1e-10)
    archard = {
        "coefficient": 7.1e-15, "geometry": "tube_flat_inclined", "angle": "1 deg", "length": 10,
        "small": True, "years": None,
    }  # fmt: skip
    months = [month / 12 for month in (12, 36, 60, 84)]
    tables = axis_of(years=months) | {"parameters": {"wear_radius": 1}}
    ds = run(**tables, wear=archard).sel(support="upper")
    depths = [3.67586404898e-4, 5.70437335472e-4, 6.99757307502e-4, 8.00568792779e-4]
    np.testing.assert_allclose(ds["wear_depth"], depths, rtol=1e-10)
    assert ds["wear_depth"].dims == ("years",)


def test_bits_depend_on_no_chunk_worker_store_or_device(tmp_path: Path) -> None:
    sizes: dict[str, Any] = {"wear": {"limit": 4e-4}, "sample": {"points": 10_000}}
    whole = run(**sizes)
    assert not np.array_equal(whole["wear_depth"][0], whole["wear_depth"][1])
    document = request(**sizes)
    for options in ({"chunk_points": 999}, {"chunk_points": 5000, "workers": 2}):
        path = tmp_path / f"{options['chunk_points']}.zarr"
        sweep.run(document, store=path, progress=False, **options)
        xr.testing.assert_equal(open_results(path).load(), whole)
    reduce = {"wear_depth": ["mean", "quantile 0.9"], "time_to_limit": ["standard_deviation"]}
    once = run(**sizes, reduce=reduce)
    path = tmp_path / "reduced.zarr"
    reduced = sweep.run(
        request(**sizes, reduce=reduce), store=path, chunk_points=1000, workers=2, progress=False
    )
    xr.testing.assert_equal(reduced, once)
    plan = load(document).sweep
    part = points(plan, Chunk((0,), (5,), (70,)))
    on_device = GpuBackend(TwinDevice(), 50).compute(plan.of_kernel, part, None, staged(plan, part))
    assert {"wear_depth 5", "time_to_limit 2"} <= {*on_device.arrays}
    there = whole["wear_depth"].values[5:75].reshape(70, -1).T
    for i, plane in enumerate(there):
        np.testing.assert_array_equal(on_device.arrays[f"wear_depth {i}"], plane)


def test_statistics_on_a_device_are_those_of_the_processor() -> None:
    plan = load(request(reduce={"wear_depth": ["mean", "quantile 0.9"]})).sweep
    part, kept = points(plan, Chunk((0,), (0,), (256,))), Kept(plan)
    then = staged(plan.points, part, kept.then(part))
    expected = CpuBackend().compute(plan.points.of_kernel, part, None, then).arrays
    found = GpuBackend(TwinDevice(), 50).compute(plan.points.of_kernel, part, None, then).arrays
    assert found.keys() == expected.keys()
    assert any(name.startswith("wear_depth 5/") for name in found)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


def test_new_bits_have_a_new_revision() -> None:
    """Other tests judge whether the bits are right; this one, whether they have changed."""
    digest = hashlib.sha256()
    for geometry, drawn in SCARS.items():
        wear = {"law": "edf_mz", "geometry": geometry, "length": None}
        ds = run(sample={**DRAWN, **drawn}, wear=wear, parameters={"wear_radius": None})
        for name in ("wear_volume", "wear_depth", "time_to_limit"):
            digest.update(ds[name].values.tobytes())
    change = "the bits of wear have changed: if that is meant, raise REVISION in wear_stage.py"
    assert DIGESTS.get(REVISION) == digest.hexdigest()[:16], change
    made = recipe(load(request()).sweep)
    later = {**made, "wear": {**made["wear"], "revision": float(REVISION + 1).hex()}}
    with pytest.raises(sweep.SweepError, match=f"revision {REVISION + 1} of wear, this version"):
        model_of(later)


class Counting(WrappedBackend):
    """A backend that counts the points of its kernel."""

    counted = 0

    def compute(self, sweep: Any, points: Any, stop: Any = None, then: Any = None) -> Computed:
        Counting.counted += points.n_points
        return self.real.compute(sweep, points, stop, then)


@pytest.mark.parametrize("is_reduced", [False, True])
def test_a_kernel_computes_no_point_twice_for_an_axis_of_the_law(
    *, is_reduced: bool, tmp_path: Path
) -> None:
    """Axes of the law between others; a derived parameter of the kernel makes its own points."""
    tables: dict[str, Any] = {
        "axes": {
            "load[upper]": {"linspace": [0.1, 1.0, 3]},
            "coefficient": {"linspace": [1e-13, 2e-13, 5]},
            "load[lower]": {"linspace": [0.2, 0.3, 2]},
            "length": {"linspace": [0.02, 0.03, 4]},
        },
        "sample": None,
        "wear": {"length": None},
    }
    if is_reduced:
        tables["reduce"] = {"over": ["load[lower]"], "wear_depth": ["maximum"]}
    Counting.counted = 0
    path = tmp_path / "a.zarr"
    plan = load(request(**tables))
    api.compute(plan, path, open_backend=lambda _: Counting(CpuBackend()))
    assert Counting.counted == 3 * 2
    found = open_results(path)
    for (i, k), (j, m) in itertools.product(np.ndindex(3, 5), np.ndindex(2, 4)):
        load_of = {"upper": 0.1 + 0.45 * i, "lower": 0.2 + 0.1 * j}
        at = {"load[upper]": i, "coefficient": k, "length": m}
        at |= {} if is_reduced else {"load[lower]": j}
        depths = found["wear_depth_maximum" if is_reduced else "wear_depth"].isel(at)
        for support, own in load_of.items():
            worst = 0.3 if is_reduced and support == "lower" else own
            volume = float(found["coefficient"][k]) * worst * YEAR
            length = float(found["length"][m])
            expected = oracle.bisected_depths("tube_flat", volume, 0.011, length).astype(float)
            assert float(depths.sel(support=support)[0]) == pytest.approx(expected, rel=EXACT)
    if not is_reduced:
        derived = request(**tables, derived={"load[middle]": "coefficient*1e12*other_load[middle]"})
        Counting.counted = 0
        api.compute(
            load(derived), tmp_path / "b.zarr", open_backend=lambda _: Counting(CpuBackend())
        )
        assert Counting.counted == 3 * 2 * 5


def test_several_powers_are_along_a_dimension() -> None:
    wear = {"power": ["wear_power", "other_power"], "limit": 4e-4}
    ds = run(**axis_of(coefficient=[1e-13, 2e-13]), wear=wear)
    assert ds["wear_depth"].dims == ("coefficient", "power", "support", "time")
    assert ds["time_to_limit"].dims == ("coefficient", "power", "support")
    one = run(**axis_of(coefficient=[1e-13, 2e-13]), wear={"power": "other_power"})
    half = ds.sel(power="other_power")
    np.testing.assert_array_equal(half["wear_depth"], one["wear_depth"])
    expected = 1e-13 * 0.25 * YEAR
    np.testing.assert_allclose(half["wear_volume"][0, :, 0], expected, rtol=1e-15)


def test_a_definition_with_the_name_of_a_key_is_apart_from_it() -> None:
    """In traces, which have both."""
    model = {**MODEL, "definitions": {"limit": {"value": "load[lower]", "unit": "W"}}}
    tables = axis_of(coefficient=[1e-14, 1e-13]) | {"wear": {"limit": 4e-4}}
    trace = sweep.trace(request(model=model, **tables), {"coefficient": 1e-13})
    assert set(trace["limit"].values) == {0.5}
    assert float(trace["wear_limit"]) == 4e-4


def test_energies_of_cycles() -> None:
    wear = {"years": None, "cycles": [1e6, 2e6], "power": "cycle_work", "limit": 4e-4}
    ds = run(**axis_of(coefficient=[1e-13, 2e-13]), wear=wear)
    assert ds["wear_volume"].dims == ("coefficient", "cycles")
    expected = np.outer([1e-13, 2e-13], 2.0 * np.array([1e6, 2e6]))
    np.testing.assert_allclose(ds["wear_volume"], expected, rtol=1e-15)
    most = float(oracle.tube_flat(4e-4, 0.011, 0.03))
    cycles = most / (2.0 * np.array([1e-13, 2e-13]))
    np.testing.assert_allclose(ds["cycles_to_limit"], cycles, rtol=EXACT)
    drawn = {"cycles": {"uniform": [1e5, 1e7]}, "points": 8, "load[lower]": None}
    ds = run(sample=drawn, wear={**wear, "cycles": None})
    volumes = ds["coefficient"] * ds["cycles"] * 2.0
    np.testing.assert_allclose(ds["wear_volume"], volumes, rtol=1e-15)


def test_without_a_geometry_there_are_volumes_alone() -> None:
    ds = run(wear={"geometry": None, "length": None}, parameters={"wear_radius": None})
    assert {"wear_volume", "wear_state"} < {*ds}
    assert not {"wear_depth", "time_to_limit"} & {*ds}


def test_what_is_worn_through_says_so() -> None:
    """At the wall the depth is still known; beyond the tube's volume it is infinite."""
    powers = [0.0, 0.05, 0.5, 50.0]
    ds = run(
        **axis_of(**{"load[lower]": powers}),
        wear={"coefficient": 1.2e-13, "wall": 4e-3, "limit": 4e-3},
        outputs=["wear_depth", "wear_state", "time_to_limit"],
    ).sel(support="lower", time=4 * YEAR)  # fmt: skip
    depth = oracle.bisected_depths(
        "tube_flat", 1.2e-13 * np.array(powers) * 4 * YEAR, 0.011, 0.03
    ).astype(float)
    assert [depth[0] < 1e-9, depth[1] < 4e-3 < depth[2] < 0.022, depth[3]] == [True, True, np.inf]
    np.testing.assert_allclose(ds["wear_depth"][1:], depth[1:], rtol=EXACT)
    assert ds["wear_depth"].values[0] == 0
    names = ds["wear_state"].attrs["flag_meanings"].split()
    states = [names[each] for each in ds["wear_state"].values]
    assert states == ["within_law", "within_law", "worn_through", "worn_through"]
    assert ds["time_to_limit"].values[0] == math.inf
    assert np.all(np.diff(ds["time_to_limit"]) < 0)


def test_points_outside_validity() -> None:
    """A negative power, or a hole smaller than the tube; all outputs of the point are missing."""
    loads = [-0.1, 0.1]
    ds = run(
        **axis_of(**{"load[middle]": loads}), wear={"coefficient": 1e-13}, outputs=["wear_depth"]
    )
    assert ds["status"].values.tolist() == [Status.outside_validity, Status.ok]
    assert np.isnan(ds["wear_depth"].values[0]).all()
    assert np.isfinite(ds["wear_depth"].values[1]).all()
    hole = {"coefficient": 1e-13, "geometry": "tube_hole"}
    ds = run(**axis_of(hole_radius=[0.0109, 0.0111]), wear=hole)
    assert ds["status"].values.tolist() == [Status.outside_validity, Status.ok]
    for name in ("wear_power", "wear_volume", "wear_depth", "total"):
        assert np.isnan(ds[name].values[0]).all()
        assert np.isfinite(ds[name].values[1]).all()
    assert set(ds["wear_state"].values[0].ravel()) == {255}


def test_a_store_resumes_without_its_file(tmp_path: Path) -> None:
    document = request(wear={"limit": 4e-4}, reduce={"wear_depth": ["mean"]})
    path = tmp_path / "a.zarr"
    sweep.run(document, store=path, progress=False)
    again = load(path).sweep
    assert fingerprint(recipe(again)) == fingerprint(recipe(load(document).sweep))
    xr.testing.assert_equal(sweep.run(str(path), store=path, progress=False), open_results(path))
    other = request(wear={"limit": 5e-4}, reduce={"wear_depth": ["mean"]})
    with pytest.raises(sweep.SweepError, match="limit"):
        sweep.run(other, store=path, progress=False)


def test_other_recipes_have_no_wear() -> None:
    """[wear] of finished results is no part of a sweep, so its fingerprint stays the same."""
    plain = request(
        wear={"coefficient": 1e-13}, sample={"coefficient": None}, parameters={"wear_radius": None}
    )
    plain["wear"]["radius"] = "11 mm"
    loaded = load(plain)
    assert loaded.wear is not None
    assert "wear" not in recipe(loaded.sweep)
    assert loaded.sweep.points.of_kernel is loaded.sweep.points
    del plain["wear"]
    assert fingerprint(recipe(load(plain).sweep)) == fingerprint(recipe(loaded.sweep))


@pytest.mark.broad  # compiles for a minute
def test_the_shipped_tube_has_the_quantiles_of_all_of_its_draws() -> None:
    """Depths by support and year against all points, bisected and sorted."""
    request = tomllib.loads((configs_folder() / "tube_wear.toml").read_text(encoding="utf-8"))
    request["sample"]["points"] = 48
    request["reduce"]["exact_quantiles"] = True
    found = sweep.run(request, store=None, progress=False)
    del request["reduce"]
    request["outputs"] = ["wear_power", "wear_volume"]
    drawn = sweep.run(request, store=None, progress=False)
    assert (drawn["status"] == Status.ok).all()
    assert len(set(drawn["draw"].values)) == 48
    seconds = YEAR * np.array([5, 10, 15, 20, 25, 30, 35, 40])
    rate = drawn["coefficient"].values[:, None] * drawn["wear_power"].values  # (points, supports)
    rubbing = rate > 0
    depth = np.zeros((*rate.shape, seconds.size))
    volume = rate[rubbing][:, None] * seconds
    depth[rubbing] = oracle.bisected_depths("tube_flat", volume, 9.525e-3, 0.02).astype(float)
    assert rubbing.any(axis=0).all()
    levels = found["quantile"].values
    assert levels.tolist() == [0.05, 0.5, 0.95]
    ranked = np.sort(depth, axis=0)[[math.ceil(q * 48) - 1 for q in levels]]
    expected = np.moveaxis(ranked, 0, -1)
    assert found["wear_depth_quantile"].dims == ("support", "time", "quantile")
    np.testing.assert_allclose(found["wear_depth_quantile"], expected, rtol=EXACT)
    above = found["wear_depth_share_above"].values[..., 0]
    np.testing.assert_array_equal(above, (depth > 0.436e-3).mean(axis=0))
    assert found["support"].values.tolist() == ["lower", "middle", "upper"]
