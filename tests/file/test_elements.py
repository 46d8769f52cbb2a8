"""Parameters over indices in sweep files, and outputs over them in stores, files and pictures."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.errors import ConfigError, SweepError
from sweep.file import load
from sweep.model.elements import base, canonical, element, places_of, spelled
from sweep.points.chunking import chunk_at
from sweep.points.columns import points

RIG: dict[str, Any] = {
    "model": tomllib.loads("""
format = 1
name = "rig"
time_unit = "1"
period = "1"
[indices]
support = ["lower", "upper"]
mode = 3
[parameters]
gap = { over = "support", minimum = 0, default = 0.25, meaning = "gap of a support" }
grip = { over = ["support", "mode"], default = 2 }
rate = { default = 1 }
[states]
x = { over = "mode", initial = "0" }
[derivatives]
x = "rate*(mode + 1)"
[[events]]
name = "touch"
over = "support"
when = "x[0] - gap"
direction = "rising"
[outputs]
touches = { over = "support", count = "touch" }
reach = { over = ["support", "mode"], final = "x - gap*grip" }
samples = { over = "support", values = "x[1]*gap", every = "period", keep = 2 }
total = { final = "sum(mode, x)" }
"""),
    "parameters": {"window_end": 1.5},
}
ELEMENTS = ("gap[lower]", "gap[upper]")


def columns(request: dict[str, Any], *overrides: str) -> dict[str, list[float]]:
    """The values of the elements at all points, as the kernel gets them."""
    planned = load(request, overrides).sweep.points
    whole = chunk_at((0,) * len(planned.axes), planned.grid.shape, planned.grid.shape)
    made, n = points(planned, whole).columns, whole.n_points
    return {name: made[name].at(np.arange(n)).tolist() for name in ELEMENTS}


def asked(**tables: Any) -> dict[str, Any]:
    parameters = RIG["parameters"] | tables.pop("parameters", {})
    return {**RIG, "parameters": parameters, **tables}


FOR_ALL_AND_ONE = [
    ({}, [0.25], [0.25]),
    ({"gap": 0.5}, [0.5], [0.5]),
    ({"gap": 0.5, "gap[lower]": 0.75}, [0.75], [0.5]),
    ({"gap[lower]": 0.75, "gap": 0.5}, [0.75], [0.5]),
    ({"gap[1]": 0.75}, [0.25], [0.75]),
    ({"gap[0]": 0.1, "gap[upper]": 0.2, "gap": 9.0}, [0.1], [0.2]),
]


@pytest.mark.parametrize(("given", "lower", "upper"), FOR_ALL_AND_ONE)
def test_one_element_wins_over_all_whichever_comes_first(
    given: dict[str, float], lower: list[float], upper: list[float]
) -> None:
    assert columns(asked(parameters=given)) == dict(zip(ELEMENTS, (lower, upper), strict=True))
    texts = [f"{name}={value}" for name, value in given.items()]
    assert columns(RIG, *texts) == dict(zip(ELEMENTS, (lower, upper), strict=True))


def test_all_elements_are_along_an_axis_in_a_sample_or_derived() -> None:
    along = asked(axes={"gap": [0.1, 0.2]}, parameters={"gap[0]": 0.7})
    assert columns(along) == {"gap[lower]": [0.7, 0.7], "gap[upper]": [0.1, 0.2]}
    grid = asked(axes={"gap": [0.1, 0.2], "gap[1]": [1.0, 2.0, 3.0]})
    assert columns(grid) == {"gap[lower]": [0.1] * 3 + [0.2] * 3, "gap[upper]": [1.0, 2.0, 3.0] * 2}
    together = asked(axes={"case": {"gap[0]": {"values": [1.0, 2.0]}, "rate": {"values": [1, 3]}}})
    assert columns(together)["gap[lower]"] == [1.0, 2.0]
    drawn = {"method": "random", "points": 4, "seed": 1, "gap": {"uniform": [1, 2]}}
    found = columns(asked(sample={**drawn, "gap[lower]": {"uniform": [8, 9]}}))
    assert all(8 <= each <= 9 for each in found["gap[lower]"])
    assert all(1 <= each <= 2 for each in found["gap[upper]"])
    derived = {"gap[upper]": "2*gap[lower] + rate"}
    assert columns(asked(derived=derived, parameters={"gap[lower]": 3}))["gap[upper]"] == [7.0]


def test_columns_of_a_file_are_elements(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("gap[lower],gap[upper]\n1,2\n3,4\n")
    source = str(tmp_path / "points.csv")
    assert columns(asked(sample={"file": source})) == {
        "gap[lower]": [1.0, 3.0],
        "gap[upper]": [2.0, 4.0],
    }


def test_an_option_replaces_the_element_by_either_name() -> None:
    given = asked(parameters={"gap[lower]": 0.5})
    assert columns(given, "gap[0]=0.9")["gap[lower]"] == [0.9]
    assert columns(given, "gap=0.9") == {"gap[lower]": [0.5], "gap[upper]": [0.9]}


FAULTS = [
    ({"gap[0]": 1.0, "gap[lower]": 2.0}, "gap[lower] and gap[lower] are the same parameter"),
    ({"gap[2]": 1.0}, "'gap[2]': rig has no such parameter"),
    ({"gap[lower]": -1.0}, "'gap[lower]': -1.0 is out of range; it has to be at least 0"),
    ({"gap[]": 1.0}, "rig has no such parameter"),
    ({"rate[0]": 1.0}, "'rate[0]': rig has no such parameter"),
]


@pytest.mark.parametrize(("given", "message"), FAULTS)
def test_faulty_elements_are_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(asked(parameters=given))
    assert message.removeprefix("gap[lower] and ") in str(error.value)


def test_an_index_is_no_axis() -> None:
    group = {"support": {"gap": {"values": [1, 2]}, "rate": {"values": [1, 2]}}}
    with pytest.raises(ConfigError, match="support is an index of the model; choose another name"):
        load(asked(axes=group))


def test_names_in_cpp_differ_where_names_differ() -> None:
    names = ["a", "a_1", "a[1]", "a_1[1]", "a[1,1]", "a[1_1]", "a[x]", "a_x", "ea_11", "a[11]"]
    assert len({spelled("u_", name) for name in names}) == len(names)
    assert all(spelled("u_", name).isidentifier() for name in names)
    assert (base("a[x,2]"), places_of("a[x,2]"), element("a", ["x", 2])) == (
        "a",
        ["x", "2"],
        "a[x,2]",
    )
    grips = [element("k", (s, m)) for s in ("lower", "upper") for m in range(3)]
    assert canonical("k[1, 2]", grips) == "k[upper,2]"
    assert canonical("k[upper, 3]", grips) == "k[upper, 3]"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("elements") / "rig.zarr"
    request = asked(axes={"rate": [1.0, 2.0, 3.0], "gap": [0.5, 1.0]})
    sweep.run(request, store=path, progress=False)
    return path


def expected_reach(rate: float, gap: float, mode: int) -> float:
    return 1.5 * rate * (mode + 1) - gap * 2


def test_outputs_have_the_dimensions_of_their_indices(stored: Path) -> None:
    ds = sweep.open_results(stored)
    assert ds["touches"].dims == ("rate", "gap", "support")
    assert ds["reach"].dims == ("rate", "gap", "support", "mode")
    assert ds["samples"].dims == ("rate", "gap", "support", "samples_index")
    assert ds["support"].values.tolist() == ["lower", "upper"]
    assert ds["mode"].values.tolist() == [0, 1, 2]
    assert ds["touches"].attrs["units"] == "1"
    for rate in (1.0, 2.0, 3.0):
        for gap in (0.5, 1.0):
            at = ds.sel(rate=rate, gap=gap)
            assert at["touches"].sel(support="upper") == 1
            for mode in range(3):
                value = float(at["reach"].sel(support="lower", mode=mode))
                assert abs(value - expected_reach(rate, gap, mode)) < 1e-12
            np.testing.assert_allclose(at["samples"].sel(support="lower"), [0, 2 * rate * gap])


def test_files_have_a_column_for_each_element(stored: Path, tmp_path: Path) -> None:
    sweep.export(stored, tmp_path / "a.csv")
    lines = [line for line in (tmp_path / "a.csv").read_text().splitlines() if line[0] != "#"]
    rows = list(csv.DictReader(lines))
    assert float(rows[1]["reach_upper_2"]) == pytest.approx(expected_reach(1.0, 1.0, 2))
    assert rows[0]["touches_lower"] == "1"
    sweep.export(stored, tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as of_file:
        assert of_file["reach"].dims == ("rate", "gap", "support", "mode")
        assert of_file["support"].values.tolist() == ["lower", "upper"]


def test_pictures_are_cut_by_label(stored: Path) -> None:
    figure = sweep.plot(stored, "touches", at={"support": "lower"})
    assert figure.axes
    lines = sweep.plot(stored, "reach", at={"gap": 0.5, "mode": 1}, hue="support")
    texts = [text.get_text() for each in lines.legends for text in each.get_texts()]
    texts += [text for axes in lines.axes for text in axes.get_legend_handles_labels()[1]]
    assert any("lower" in text for text in texts)
    assert any("upper" in text for text in texts)
    with pytest.raises(SweepError, match=r"support has no 'lowr': did you mean 'lower'"):
        sweep.plot(stored, "touches", at={"support": "lowr"})


def test_traces_have_a_dimension_for_an_index(stored: Path) -> None:
    trace = sweep.trace(stored, {"rate": 2.0, "gap": 0.5}, samples=5)
    np.testing.assert_allclose(trace["x"].sel(mode=2), 6.0 * trace["time"], rtol=1e-12)
    assert trace["gap[upper]"] == 0.5
    names = [name for _, name in json.loads(trace.attrs["events"])]
    assert sorted(names) == ["touch[lower]", "touch[upper]"]


def test_statistics_keep_the_dimensions() -> None:
    request = asked(
        axes={"rate": [1.0, 2.0]},
        sample={"method": "sobol", "points": 16, "gap[0]": {"uniform": [0.1, 0.9]}},
        reduce={"over": ["point"], "reach": ["mean", "quantile 0.5"]},
    )
    request["outputs"] = ["reach"]
    ds = sweep.run(request, store=None, progress=False)
    assert ds["reach_mean"].dims == ("rate", "support", "mode")
    assert ds["reach_quantile"].dims == ("rate", "support", "mode", "quantile")
    upper = ds["reach_mean"].sel(support="upper", rate=2.0).values
    np.testing.assert_allclose(upper, [expected_reach(2.0, 0.25, mode) for mode in range(3)])
