"""The page of an explorer as text: its map, its size, its policy, hostile names in it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import sweep
from sweep.errors import SweepError
from sweep.explorers import explore
from sweep.explorers.theory_borders import theory_borders
from sweep.file import load
from sweep.model.shipped import shipped_configs
from sweep.store import Store
from tests.command import CHECKOUT, Run
from tests.explorers.sweeps import (
    BORDERS,
    LARGE_EQUATIONS,
    LARGE_MODEL,
    REDUCED,
    SWEEP,
    contents_of,
    stored,
    unpacked,
    unshuffled,
)
from tests.file.test_substitutes import SPHERE

pytest.importorskip("ziglang")

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explore") / "impact.zarr"
    sweep.run(SWEEP, store=path)
    return path


def page(source: Any, folder: Path, **options: Any) -> Path:
    return explore(source, folder / "page.html", **options)


def test_the_stored_map_is_in_the_page_rounded(store: Path, tmp_path: Path) -> None:
    contents = contents_of(page(store, tmp_path))
    ds = xr.open_zarr(store)
    assert contents["preview"]["whole"]
    status = np.frombuffer(unpacked(contents["preview"]["status"]), np.uint8).reshape(
        ds.status.shape
    )
    np.testing.assert_array_equal(status, ds.status.values)
    (values,) = stored(contents, "frequency", ds.status.shape)
    ok = ds.status.values == 0
    assert 0 < ok.mean() < 1
    np.testing.assert_allclose(values[ok], ds.frequency.values[ok], rtol=2**-24)
    assert np.isnan(values[~ok]).all()
    stable = np.frombuffer(unpacked(contents["planes"]["stable"]["packed"]), np.uint8)
    np.testing.assert_array_equal(stable.reshape(ok.shape)[ok], ds.stable.values[ok])


def test_the_axes_of_the_page_are_those_of_the_store_to_the_bit(
    store: Path, tmp_path: Path
) -> None:
    ds = xr.open_zarr(store)
    for dimension in contents_of(page(store, tmp_path))["dimensions"]:
        stored = dimension["columns"][dimension["name"]]
        if "linspace" in stored:
            first, last, n = stored["linspace"]
            values = np.linspace(first, last, n)
        else:
            values = unshuffled(unpacked(stored["doubles"]), "<f8")
        assert values.tobytes() == ds[dimension["name"]].values.tobytes()


def test_a_page_that_is_made_again_has_the_same_bytes(store: Path, tmp_path: Path) -> None:
    first = page(store, tmp_path).read_bytes()
    assert explore(store, tmp_path / "again.html").read_bytes() == first


def test_a_page_is_thinned_until_it_fits(store: Path, tmp_path: Path) -> None:
    whole = page(store, tmp_path)
    size = whole.stat().st_size
    small = explore(store, tmp_path / "small.html", size=size // 1000 - 15)
    assert small.stat().st_size <= (size // 1000 - 15) * 1000
    preview = contents_of(small)["preview"]
    assert not preview["whole"]
    assert preview["bytes"] == 2
    assert 8 <= preview["points"] < 3600
    with pytest.raises(SweepError, match="raise `size`"):
        explore(store, tmp_path / "none.html", size=20)


def test_the_default_size_leaves_room_for_a_map_whatever_the_kernel(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a kernel that fills the usual page alone; a chosen size is kept."""
    assert page(store, tmp_path).stat().st_size <= 250_000
    monkeypatch.setattr("sweep.explorers.making.DEFAULT_SIZE", 100)
    large = page(store, tmp_path)
    assert 100_000 < large.stat().st_size < 250_000
    assert contents_of(large)["preview"]["points"] >= 3600
    with pytest.raises(SweepError, match="leave it out"):
        page(store, tmp_path, size=100)


def test_a_model_of_six_states_and_seven_events_has_a_page_by_default(tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_text(LARGE_EQUATIONS)
    (tmp_path / "sweep.toml").write_text(LARGE_MODEL)
    equations = tomllib.loads(LARGE_EQUATIONS)
    assert (len(equations["states"]), len(equations["events"])) == (6, 7)
    contents = contents_of(page(tmp_path / "sweep.toml", tmp_path))
    assert contents["kernel"] is not None
    assert [each["kept"] for each in contents["dimensions"]] == [200, 150]


def test_long_axes_are_thinned_where_they_leave_no_room_for_a_map(tmp_path: Path) -> None:
    """3,000 values take 27 kB, of which the page lacks 8 kB; a map has the room of an axis."""
    axes = {"energy": {"geomspace": [1.0, 9.0, 3000]}, "stiffness": {"values": [1, 2]}}
    parameters = {**SWEEP["parameters"], "wall_stiffness": 7.0}
    table = {**SWEEP, "outputs": ["stable"], "axes": axes, "parameters": parameters}
    ds = sweep.run(table, store=tmp_path / "long.zarr")
    whole = page(tmp_path / "long.zarr", tmp_path, size=1000)
    assert contents_of(whole)["notes"] == []
    size = whole.stat().st_size // 1000 - 8
    thin = page(tmp_path / "long.zarr", tmp_path, size=size)
    assert thin.stat().st_size <= size * 1000
    contents = contents_of(thin)
    energy, _ = contents["dimensions"]
    assert (energy["size"], energy["kept"]) == (3000, 750)
    values = unshuffled(unpacked(energy["columns"]["energy"]["doubles"]), "<f8")
    assert {*values} < {*ds.energy.values}
    assert [*values[[0, -1]]] == [*ds.energy.values[[0, -1]]]
    assert np.diff(values).min() > 0
    assert contents["preview"]["points"] == 1500
    assert contents["notes"] == ["The page has 750 of the 3,000 values along energy."]


def test_a_page_loads_nothing_and_runs_its_own_scripts_alone(store: Path, tmp_path: Path) -> None:
    text = page(store, tmp_path).read_text("utf-8")
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])  # pyright: ignore[reportOptionalSubscript]
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split("; ")}
    assert rules["default-src"] == ["'none'"]
    assert rules["worker-src"] == ["blob:"]

    def hashes(tag: str) -> list[str]:
        digests = (
            hashlib.sha256(each.encode()).digest()
            for each in re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        )
        return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]

    assert rules["script-src"] == [*hashes("script"), "'wasm-unsafe-eval'"]
    assert rules["style-src"] == hashes("style")
    assert "unsafe-inline" not in policy
    assert not re.search(r"<(script|link|img)[^>]* (src|href)=", text)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)


def test_hostile_names_and_attributes_add_no_element(store: Path, tmp_path: Path) -> None:
    """As in a store that somebody else has sent: the attributes are not those of the model."""
    hostile = tmp_path / "a<b>.zarr"
    shutil.copytree(store, hostile)
    for file in (hostile / "zarr.json", hostile / "frequency" / "zarr.json"):
        group = json.loads(file.read_text())
        for key in ("title", "references", "long_name", "units"):
            if key in group["attributes"]:
                group["attributes"][key] = HOSTILE
        if "recipe" in group["attributes"]:
            group["attributes"]["model"] = HOSTILE
        file.write_text(json.dumps(group))
    tags = [Tags(), Tags()]
    for each, path in zip(tags, (hostile, store), strict=True):
        each.feed(page(path, tmp_path).read_text("utf-8"))
    assert tags[0].seen == tags[1].seen


def test_the_page_of_a_sweep_file_says_what_it_does_not_compute(tmp_path: Path) -> None:
    """What follows from many points: a refined grid, statistics, wear over years."""

    def contents(name: str, more: str = "") -> dict[str, Any]:
        (tmp_path / "sweep.toml").write_text(shipped_configs()[name].read_text("utf-8") + more)
        return contents_of(page(tmp_path / "sweep.toml", tmp_path))

    (refined,) = contents("wear_power_refined")["notes"]
    assert "refines this grid at changes of regime; the page does not" in refined
    (reduced,) = contents("wear_uncertainty")["notes"]
    assert re.search(r"Run the sweep to see statistics of 65,536 points.* no statistics", reduced)
    wear = '[wear]\nlaw = "archard"\ncoefficient = 1e-13\nyears = [1, 2]\n'
    (worn,) = contents("wear_power", wear)["notes"]
    assert "wear over years" in worn


def test_theory_borders_are_those_of_the_closed_form() -> None:
    """Slip begins at a0 = mu g: its line lies there, to a pixel; friction is on a logarithmic axis.

    Between the points of a line, too, which are only as many as it needs.
    """
    plan = load("wear_power").sweep
    dimensions = {axis.name: dict(axis.columns) for axis in plan.axes}
    border = theory_borders(dimensions, plan, 10**6).borders[0]
    assert border["at"] == [None, None]
    (line,) = border_lines(border)
    assert 10 < len(line) < 100
    distance = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    along = np.linspace(0, distance[-1], 1000)
    friction, acceleration = (np.interp(along, distance, line[:, side]) for side in (0, 1))
    drawn = (10 * 0.01 * 100**friction - 0.5) / 14.5
    np.testing.assert_allclose(acceleration, drawn, atol=1e-3)
    assert (line[0, 1], line[-1]) == (0, pytest.approx([1, (10 - 0.5) / 14.5], abs=1e-4))


def border_lines(border: dict[str, Any]) -> list[NDArray[np.float64]]:
    """The points of each line, (n, 2), where 0 and 1 are the ends of an axis' indices."""
    return [unshuffled(unpacked(text), "<u2").reshape(-1, 2) / 65535 for text in border["lines"]]


def test_a_border_between_irregular_values_is_as_short_as_between_even_ones(tmp_path: Path) -> None:
    """The line a0 = mu g is straight where it is drawn, though not in indices."""
    random = np.random.default_rng(2)
    values = np.sort(random.uniform(0.1, 1, 700)), np.sort(random.uniform(1, 10, 400))
    axes = {"friction": list(values[0]), "base_acceleration": list(values[1])}
    dimensions = {name: {name: np.array(column)} for name, column in axes.items()}
    table = {**tomllib.loads(BORDERS), "axes": {n: {"values": v} for n, v in axes.items()}}
    table["parameters"] |= {"mass": 1.0}
    border = theory_borders(dimensions, load(table).sweep, 1000).borders[0]
    (line,) = border_lines(border)
    assert len(line) == 2
    mu, a0 = (
        np.interp(line[:, side] * (each.size - 1), np.arange(each.size), each)
        for side, each in enumerate(values)
    )
    np.testing.assert_allclose(a0, 10 * mu, atol=1e-3)


def test_theory_borders_of_the_first_axes_come_first(tmp_path: Path) -> None:
    """Where there is no room for all, the last pairs are left out, and named."""
    (tmp_path / "plan.toml").write_text(BORDERS)
    plan = load(tmp_path / "plan.toml").sweep
    dimensions = {axis.name: dict(axis.columns) for axis in plan.axes}
    whole = theory_borders(dimensions, plan, 10**6)
    assert {each["at"].index(None) for each in whole.borders} == {0, 1}
    assert whole.without_room == []
    room = len(json.dumps([each for each in whole.borders if each["at"][1] is not None]))
    first = theory_borders(dimensions, plan, room)
    assert {each["at"][0] for each in first.borders} == {None}
    assert first.without_room == ["friction and base_acceleration"]
    assert theory_borders(dimensions, plan, room - 1).without_room[0].startswith("mass and")


def test_theory_borders_take_little_of_a_page(tmp_path: Path) -> None:
    """At most 4 %, and nothing where axes would be thinned or the page be refused for them."""
    (tmp_path / "plan.toml").write_text(BORDERS)
    least = page(tmp_path / "plan.toml", tmp_path).stat().st_size
    contents = contents_of(tmp_path / "page.html")
    borders = len(json.dumps(contents["borders"]))
    assert 1000 < borders < 0.04 * 250_000
    size = -(-(least - borders // 2) // 1000)
    contents = contents_of(page(tmp_path / "plan.toml", tmp_path, size=size))
    assert contents["borders"] == []
    pairs = "mass and base_acceleration, friction and base_acceleration"
    assert f"left out over {pairs}: the page has no room for them" in contents["notes"][-1]


def test_a_conversion_that_runs_in_python_leaves_the_stored_map(tmp_path: Path) -> None:
    """The indentation of a sphere under a given force."""
    sweep.run(SPHERE, store=tmp_path / "a.zarr")
    contents = contents_of(page(tmp_path / "a.zarr", tmp_path))
    assert contents["kernel"] is None
    assert "indentation follows from a function that runs in Python" in contents["why"]
    assert "dissipated_energy" in contents["planes"]


def test_a_store_at_a_url_gives_the_same_map(store: Path, tmp_path: Path) -> None:
    url = "memory://explore/impact.zarr"
    sweep.run(SWEEP, store=url)
    far, near = contents_of(page(url, tmp_path)), contents_of(page(store, tmp_path))
    assert far["command"] == f"sweep trace {url}"
    assert {**far, "command": ""} == {**near, "command": ""}


def test_an_extended_store_is_shown_with_its_new_values_in_order(tmp_path: Path) -> None:
    table = {**SWEEP, "axes": {"energy": {"values": [1.0, 4.0]}, "stiffness": {"values": [1, 2]}}}
    table["parameters"] = {**SWEEP["parameters"], "wall_stiffness": 7.0}
    sweep.run(table, store=tmp_path / "a.zarr")
    table["axes"] = {**table["axes"], "energy": {"values": [1.0, 4.0, 2.0, 9.0]}}
    Store.extend(tmp_path / "a.zarr", load(table).sweep)
    ds = sweep.run(table, store=tmp_path / "a.zarr").sortby("energy")
    contents = contents_of(page(tmp_path / "a.zarr", tmp_path))
    energies = unpacked(contents["dimensions"][0]["columns"]["energy"]["doubles"])
    np.testing.assert_array_equal(unshuffled(energies, "<f8"), [1.0, 2.0, 4.0, 9.0])
    (shown,) = stored(contents, "frequency", (4, 2))
    np.testing.assert_allclose(shown, ds.frequency.values, rtol=2**-8)


def test_a_refined_sweep_is_a_grid_with_its_computed_values(tmp_path: Path) -> None:
    table = {**SWEEP, "parameters": {**SWEEP["parameters"], "wall_stiffness": 7.0}}
    table["axes"] = {
        "energy": {"linspace": [0.1, 9.7, 5]},
        "stiffness": {"linspace": [0.5, 2.5, 3]},
    }
    table["refine"] = {"output": ["contact_fraction"], "levels": 2, "tolerance": 0.1}
    ds = sweep.run(table, store=tmp_path / "refined.zarr").load()
    contents = contents_of(page(tmp_path / "refined.zarr", tmp_path))
    assert [each["size"] for each in contents["dimensions"]] == [17, 9]
    (values,) = stored(contents, "frequency", (17, 9))
    i = np.round((ds.energy.values - 0.1) / 0.6).astype(int)
    j = np.round((ds.stiffness.values - 0.5) / 0.25).astype(int)
    shown = values[i, j]
    assert 15 < ds.frequency.size < 17 * 9
    np.testing.assert_allclose(shown, ds.frequency.values, rtol=2**-8)
    assert f"{ds.frequency.size} points" in contents["notes"][0]


def test_a_page_says_if_another_kernel_made_the_map(store: Path, tmp_path: Path) -> None:
    others = contents_of(page(store, tmp_path))["notes"]
    other = shutil.copytree(store, tmp_path / "other.zarr")
    metadata = json.loads((other / "zarr.json").read_text())
    metadata["attributes"]["kernel_digest"] = f"tokens:{'0' * 64}"
    (other / "zarr.json").write_text(json.dumps(metadata))
    (note,) = (n for n in contents_of(page(other, tmp_path))["notes"] if n not in others)
    assert note.startswith("Points that the page computes may differ from the stored map: kernel")
    assert f"tokens:{'0' * 64} in the store" in note


@pytest.mark.parametrize("axes", [REDUCED["axes"], {}])
def test_statistics_are_in_the_page_and_the_points_behind_them(tmp_path: Path, axes: Any) -> None:
    table = {**REDUCED, "axes": axes}
    if not axes:
        table["parameters"] = {**REDUCED["parameters"], "energy": 3.0, "stiffness": 1.0}
    ds = sweep.run(table, store=tmp_path / "reduced.zarr").load()
    contents = contents_of(page(tmp_path / "reduced.zarr", tmp_path))
    for name, inner in (("mean", []), ("quantile", ["quantile"]), ("histogram", ["frequency_bin"])):
        expected = ds[f"frequency_{name}"].transpose(*inner, ...).values
        shown = stored(contents, f"frequency_{name}", ds.status.shape)
        np.testing.assert_allclose(shown.reshape(expected.shape), expected, rtol=2**-8)
    assert contents["kernel"]["modules"]
    assert "statistics of 32 points" in contents["notes"][0]
    # The points of the same sample without a reduction.
    points = {k: v for k, v in table.items() if k not in ("reduce", "axes")}
    points["parameters"] = {**table["parameters"], "energy": 3.0, "stiffness": 1.0}
    expected = sweep.run({**points, "outputs": ["frequency"]}, store=None).wall_stiffness.values
    (behind,) = contents["behind"]
    stiffness = unshuffled(unpacked(behind["columns"]["wall_stiffness"]["doubles"]), "<f8")
    assert stiffness.tobytes() == expected.tobytes()


def test_wear_over_years_is_shown_without_a_kernel(tmp_path: Path) -> None:
    table = {**SWEEP, "model": "friction_oscillator", "outputs": ["wear_power"]}
    table["parameters"] = {"mass": 1.0, "gravity": 10.0, "angular_frequency": 6.28,
                           "window_start": 4.0, "window_end": 12.0}  # fmt: skip
    table["axes"] = {
        "friction": {"linspace": [0.1, 0.3, 3]},
        "base_acceleration": {"values": [9, 12]},
    }
    results = sweep.run(table, store=None)
    wear = sweep.wear(results, law="archard", coefficient=1e-13, years=[1, 2, 5])
    from sweep.store.datasets import write_derived

    write_derived(wear, tmp_path / "wear.zarr")
    contents = contents_of(page(tmp_path / "wear.zarr", tmp_path))
    assert contents["kernel"] is None
    assert "results of another store" in contents["why"]
    assert contents["command"] == ""
    (volume,) = (each for each in contents["outputs"] if each["name"] == "wear_volume")
    assert volume["inner"] == [{"name": "time", "values": [1.0, 2.0, 5.0], "unit": "years"}]
    expected = wear.wear_volume.transpose("time", ...).values
    np.testing.assert_allclose(stored(contents, "wear_volume", (3, 2)), expected, rtol=2**-8)


def _inflated(value: Any, key: str = "") -> Any:
    """The same contents whatever the deflate of the machine; modules by name alone."""
    if isinstance(value, dict):
        return {k: sorted(v) if k == "modules" else _inflated(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_inflated(each) for each in value]
    is_packed = isinstance(value, str) and key in ("packed", "doubles", "lines", "status")
    return unpacked(value) if is_packed else value


def test_the_page_in_docs_is_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `make explorer` writes it; a module's text is compared by the digest of its tokens."""
    monkeypatch.chdir(tmp_path)
    sweep.run("wear_power", store="results/wear_power.zarr")
    new_page = explore("results/wear_power.zarr", "ours.html")
    committed_page = CHECKOUT / "docs" / "wear_power.html"
    assert committed_page.stat().st_size <= 250_000
    for of in (lambda path: _inflated(contents_of(path)), _without_contents):
        assert of(committed_page) == of(new_page), (
            "run `make explorer` and commit docs/wear_power.html"
        )


def _without_contents(path: Path) -> str:
    return re.sub(r'(id="contents">).*?</script>', r"\1", path.read_text("utf-8"))


def test_results_in_memory_have_the_page_of_their_store(store: Path, tmp_path: Path) -> None:
    """It differs in the name and lacks the command, which would name the store."""
    of_store, results = contents_of(page(store, tmp_path)), sweep.open_results(store)
    of_results = contents_of(page(results, tmp_path))
    assert of_results.pop("name") == "impact_oscillator"
    assert of_results.pop("command") == ""
    assert of_results == {key: of_store[key] for key in of_results}


def test_a_selection_is_a_map_of_what_is_selected(store: Path, tmp_path: Path) -> None:
    results = sweep.open_results(store)
    axis, *_ = results.status.dims
    contents = contents_of(page(results.isel({axis: 1}), tmp_path, outputs="frequency"))
    assert axis not in [each["name"] for each in contents["dimensions"]]
    assert list(contents["planes"]) == ["frequency"]
    assert contents["kernel"] is not None
    (value,) = [each["value"] for each in contents["parameters"] if each["name"] == axis]
    assert value == float(results[axis][1])


def test_a_dataset_of_statistics_has_a_map_without_a_kernel(tmp_path: Path) -> None:
    contents = contents_of(page(sweep.run(REDUCED, store=None), tmp_path))
    assert contents["kernel"] is None
    assert "explore its store" in contents["why"]
    assert contents["planes"]


def test_the_default_page_is_beside_a_store_and_otherwise_here(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kept").mkdir()
    shutil.copytree(store, "kept/impact.zarr")
    assert sweep.explore("kept/impact.zarr") == Path("kept/impact.html")
    assert sweep.explore(sweep.open_results(store)) == Path("impact_oscillator.html")
    assert Path("impact_oscillator.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["impact.zarr", "-o", "map.png"], "'map.png' has no suffix of a page: write 'map.html'"),
        (["none.zarr"], "none.zarr"),
        (["impact.zarr", "--outputs", "frequencies"], "frequency"),
        (["impact.zarr", "--size", "10"], "raise `size`"),
    ],
)
def test_the_command_refuses_what_is_wrong(
    store: Path, run: Run, arguments: list[str], message: str
) -> None:
    (Path.cwd() / "impact.zarr").symlink_to(store)
    status, _, error = run("explore", *arguments)
    assert status == 2
    assert message in error
    assert not list(Path.cwd().glob("*.html"))


def test_the_command_prints_the_page_that_it_wrote_and_opens_it(
    store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    (Path.cwd() / "impact.zarr").symlink_to(store)
    assert run("explore", "impact.zarr", "--outputs", "frequency") == (0, "impact.html\n", "")
    contents = contents_of(Path("impact.html"))
    assert list(contents["planes"]) == ["frequency"]
    assert contents["command"] == "sweep trace impact.zarr"
    assert opened == []
    out = run("explore", "impact.zarr", "-o", "again.html", "--json")[1]
    assert json.loads(out) == {"file": "again.html"}
    assert run("explore", "impact.zarr", "-o", "map of impact.html", "--open")[0] == 0
    assert opened == [f"{Path.cwd().as_uri()}/map%20of%20impact.html"]
    assert Path("map of impact.html").exists()
