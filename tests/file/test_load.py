"""What a good sweep file means, exactly; and junk, which is never worse than a ConfigError."""

from __future__ import annotations

import hashlib
import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sweep.errors import ConfigError, FaultError
from sweep.file import Request, load, model_file
from sweep.file.axes import axis as axis_of
from sweep.model.table import Method, Model, Output, Parameter, ParameterSet, Status
from sweep.model.tables import models
from sweep.points.recipes import recipe
from sweep.request.options import RunOptions
from tests.file.documents import GOOD, faults, mapping
from tests.file.test_quantities import ACCELERATION, METRE, PLAIN, RADIAN, SECOND

OSCILLATOR = models()["friction_oscillator"]
SPRINGS = Parameter(name="springs", symbol="n", unit="1", meaning="how many", minimum=1, whole=True)

EXACT = """
format = 1
model = "friction_oscillator"
outputs = ["regime", "wear_power"]
dtype = "float32"
[parameters]
mass = 1.0
gravity = 10.0
angular_frequency = 6.25
window_start = 4.0
window_end = 12.0
[axes]
base_acceleration = { linspace = [0.5, 15.0, 3] }
friction = { geomspace = [0.01, 1.0, 5] }
[run]
backend = "cpu"
workers = 3
chunk_points = 64
time_limit = "55m"
accept_revision = true
"""


def file(folder: Path, content: str | bytes) -> Path:
    path = folder / "swept.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def parameters(**changed: object) -> dict[str, object]:
    whole = mapping()
    return {**whole, "parameters": {**whole["parameters"], **changed}}


def test_file_means_exactly_this(tmp_path: Path) -> None:
    request = load(file(tmp_path, EXACT))
    sweep = request.sweep

    assert request.name == "swept"
    assert sweep.model is OSCILLATOR
    assert sweep.method is OSCILLATOR.methods[0]
    assert sweep.parameter_set.name == "seconds"
    assert dict(sweep.constants) == {
        "mass": 1.0, "gravity": 10.0, "stiffness": 0.0, "damping": 0.0, "angular_frequency": 6.25,
        "vertical_acceleration": 0.0, "phase": 0.0, "window_start": 4.0, "window_end": 12.0,
    }  # fmt: skip
    assert all(type(value) is float for value in sweep.constants.values())
    assert {*sweep.constants, *sweep.grid.dimensions} == {p.name for p in sweep.parameters}
    assert sweep.grid.dimensions == ("base_acceleration", "friction")  # the file's order
    assert sweep.grid.shape == (3, 5)
    assert [dict(axis.recipe) for axis in sweep.axes] == [
        {"linspace": [0.5, 15.0, 3]},
        {"geomspace": [0.01, 1.0, 5]},
    ]
    assert list(sweep.axes[1].columns) == ["friction"]
    assert sweep.axes[0].columns["base_acceleration"].tolist() == [0.5, 7.75, 15.0]
    assert [output.name for output in sweep.outputs] == ["wear_power", "regime"]  # model's order
    assert sweep.dtype == "float32"
    assert request.options == RunOptions(
        backend="cpu", workers=3, chunk_points=64, accept_revision=True, time_limit=3300.0
    )


def test_mapping_needs_no_format_and_is_not_changed() -> None:
    source = mapping()
    before = repr(source)
    request = load(source, ["friction=0.2", "mass={ values = [1, 2] }"])
    assert repr(source) == before
    assert request.name == "friction_oscillator"
    assert request.options == RunOptions()
    assert [output.name for output in request.sweep.outputs] == [
        output.name for output in OSCILLATOR.outputs
    ]


def test_numpy_values_and_paths_are_accepted(tmp_path: Path) -> None:
    values = np.array([0.3, 0.1, 0.2])  # any order
    (tmp_path / "a.csv").write_text("a0\n2\n")
    by_path = {"file": tmp_path / "a.csv", "column": "a0"}
    source = parameters(mass=np.float32(0.5), gravity=np.int64(9)) | {
        "axes": {"friction": {"values": values}, "base_acceleration": by_path}
    }
    source["parameters"].pop("friction")
    sweep = load(source).sweep
    assert sweep.constants["mass"] == 0.5
    assert sweep.constants["gravity"] == 9.0
    assert sweep.axes[0].columns["friction"].tolist() == [0.3, 0.1, 0.2]
    assert dict(sweep.axes[0].recipe) == {"values": [0.3, 0.1, 0.2]}
    assert sweep.axes[1].columns["base_acceleration"].tolist() == [2.0]


def test_negative_zero_is_zero() -> None:
    sweep = load(parameters(stiffness=-0.0) | {"axes": {"base_acceleration": {"values": [-0.0]}}})
    assert math.copysign(1, sweep.sweep.constants["stiffness"]) == 1
    assert math.copysign(1, sweep.sweep.axes[0].columns["base_acceleration"][0]) == 1


@given(
    first=st.floats(1e-12, 1e12), last=st.floats(1e-12, 1e12), count=st.integers(2, 50),
    form=st.sampled_from(["linspace", "geomspace"]),
)  # fmt: skip
def test_both_ends_are_exact(first: float, last: float, count: int, form: str) -> None:
    assume(abs(last - first) > 1e-9 * max(first, last))  # otherwise values may be equal
    sweep = load(mapping(base_acceleration={form: [first, last, count]})).sweep
    values = sweep.axes[0].columns["base_acceleration"]
    assert (values[0], values[-1], len(values)) == (first, last, count)
    assert dict(sweep.axes[0].recipe) == {form: [first, last, count]}
    steps = np.diff(np.log(values) if form == "geomspace" else values)
    assert np.allclose(steps, steps.mean(), rtol=1e-6, atol=1e-12 * max(first, last, 30))


def test_a_geometric_axis_may_be_negative_but_not_zero() -> None:
    below = axis_of({"geomspace": [-1, -100, 3]}, METRE, Path())
    assert np.allclose(below.columns["length"], [-1, -10, -100], rtol=1e-15)
    for ends in ([-1, 0], [0, -1], [-1, 1]):
        with pytest.raises(FaultError, match="both ends must have the same sign"):
            axis_of({"geomspace": [*ends, 3]}, METRE, Path())


def test_ends_whose_distance_overflows_are_refused() -> None:
    with pytest.raises(FaultError, match="value 1 of 3 would be nan; it has to be finite"):
        axis_of({"linspace": [-1.7e308, 1.7e308, 3]}, METRE, Path())


def test_csv_paths_are_relative_to_the_sweep_file(tmp_path: Path) -> None:
    content = '# measured\nindex, mu ,a;b\n\n1, 0.25,x\n# a remark\n2,0.5,,\t\n3, "12.5 %",\n'
    (tmp_path / "points.csv").write_text(content, encoding="utf-8-sig")
    axis = '{ file = "points.csv", column = "mu" }'
    swept = file(tmp_path, GOOD.replace("{ geomspace = [0.01, 1.0, 5] }", axis))
    (friction, _) = load(swept).sweep.axes
    values = np.array([0.25, 0.5, 0.125])
    assert friction.columns["friction"].tolist() == values.tolist()
    digest = hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()
    assert dict(friction.recipe) == {"file": {"sha256": digest, "count": 3}}


def test_byte_order_mark_and_carriage_returns_are_accepted(tmp_path: Path) -> None:
    content = GOOD.replace("\n", "\r\n").encode("utf-8-sig")
    assert load(str(file(tmp_path, content))).sweep.grid.shape == (5, 2)


def with_overrides(*overrides: str) -> Request:
    return load(mapping(), overrides)


def test_override_of_a_constant_and_of_an_axis() -> None:
    sweep = with_overrides("mass=2", "base_acceleration = 3.5", "phase=90 deg").sweep
    assert sweep.constants["mass"] == 2.0
    assert sweep.constants["base_acceleration"] == 3.5
    assert sweep.constants["phase"] == math.pi / 2
    assert sweep.axes == ()


def test_a_table_turns_a_constant_into_an_axis() -> None:
    sweep = with_overrides(
        "friction={ linspace = [0.1, '20 %', 2] }", "axes.base_acceleration={ values = [7] }"
    ).sweep
    assert sweep.grid.dimensions == ("base_acceleration", "friction")
    assert sweep.axes[0].columns["base_acceleration"].tolist() == [7.0]
    assert sweep.axes[1].columns["friction"].tolist() == [0.1, 0.2]
    assert "friction" not in sweep.constants


def test_a_list_is_the_values_of_an_axis() -> None:
    geometric = "friction = { geomspace = [0.01, 1.0, 5] }"

    def recipe_of(axes: str, *overrides: str) -> dict[str, Any]:
        return recipe(load(tomllib.loads(EXACT.replace(geometric, axes)), overrides).sweep)

    expected = recipe_of("friction = { values = [0.1, 0.2] }")
    assert recipe_of("friction = [0.1, '20 %']") == expected
    assert recipe_of(geometric, "friction=[0.1, 0.2]") == expected
    several = "[axes.case]\nfriction = {}\nvertical_acceleration = {}"
    listed, tabled = "[1, 2]", "{ values = [1, 2] }"
    by_list, by_table = (several.replace("{}", each) for each in (listed, tabled))
    assert recipe_of(by_list) == recipe_of(by_table)


def test_overrides_alone_may_define_a_sample() -> None:
    source = parameters(base_acceleration=15)
    del source["axes"]
    overrides = ["method=random", "points=4", "seed=1"]
    friction = "sample.friction={ uniform = [0.1, 0.2] }"
    sweep = load(source, [friction, *(f"sample.{each}" for each in overrides)]).sweep
    assert (sweep.grid.dimensions, sweep.n_points) == (("point",), 4)
    assert list(sweep.axes[0].columns) == ["friction"]


def test_overrides_of_top_and_run_keys_and_the_last_one_wins() -> None:
    request = with_overrides(
        "method=exact", 'outputs=["regime"]', 'dtype="float32"', "run.workers=1", "run.workers=2",
        "run.backend=cpu", "run.time_limit=1h30m", "parameters.mass=1_000", 'gravity="9 m/s^2"',
    )  # fmt: skip
    assert [output.name for output in request.sweep.outputs] == ["regime"]
    assert request.sweep.dtype == "float32"
    assert request.options == RunOptions(backend="cpu", workers=2, time_limit=5400.0)
    assert request.sweep.constants["mass"] == 1000.0
    assert request.sweep.constants["gravity"] == 9.0


TOY = Model(
    name="toy",
    title="a model with all that a table may hold",
    source="none",
    parameters=(replace(PLAIN, maximum=1, open_maximum=True),),
    parameter_sets=(
        ParameterSet(name="shape", parameters=(METRE, replace(RADIAN, default=0.5))),
        ParameterSet(name="material", parameters=(ACCELERATION, replace(RADIAN, default=0.5))),
    ),
    outputs=(Output(name="loss", unit="J", long_name="energy lost"),),
    methods=(
        Method(name="closed", summary="", revision=1),
        Method(name="stepped", summary="", revision=1, parameters=(SPRINGS, SECOND)),
    ),
    sentences=dict.fromkeys(Status, "a sentence"),
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.setattr(model_file, "models", lambda: {"toy": TOY})
    return {"model": "toy", "parameters": {"ratio": 0.5, "length": 2}}


def test_controls_of_a_method_are_parameters(toy: dict[str, object]) -> None:
    overrides = [
        "method=stepped",
        "time={ values = ['1 ms', 2] }",
        "springs={ linspace = [1, 7, 3] }",
    ]
    sweep = load(toy, overrides).sweep
    assert dict(sweep.constants) == {"ratio": 0.5, "length": 2.0, "angle": 0.5}
    assert sweep.grid.dimensions == ("time", "springs")
    assert sweep.axes[1].columns["springs"].tolist() == [1.0, 4.0, 7.0]


@pytest.mark.parametrize(
    ("overrides", "fragment"),
    [
        (["springs=3"], "override springs: belongs to another method (stepped); choose that"),
        (["method=stepped", "time=1", "springs=2.5"], "2.5 is out of range; it has to be a whole"),
        (["method=stepped", "time=1", "springs=0"], "it has to be a whole number and at least 1"),
        (["method=stepped", "springs=3"], "[parameters] time: missing (a time)"),
        (
            ["method=stepped", "time=1", "springs={ geomspace = [1, 10, 3] }"],
            "value 2 of 3 would be 3.162277660168379",
        ),
        (["ratio=1"], "1 is out of range; it has to be below 1"),
        (["ratio={ values = [0.5, 1] }"], "value 2: 1 is out of range; it has to be below 1"),
        (["gravity=3"], "length, gravity belong to different sets"),
    ],
)
def test_ranges_and_sets(toy: dict[str, object], overrides: list[str], fragment: str) -> None:
    (fault,) = faults(toy, *overrides)
    assert fragment in fault


def test_a_parameter_of_two_sets_does_not_choose_between_them(toy: dict[str, object]) -> None:
    shared = {"model": "toy", "parameters": {"ratio": 0.5, "angle": 1}}
    assert "give exactly one of these sets: length, angle (shape) or gravity" in faults(shared)[0]
    assert load(toy, ["angle=1"]).sweep.parameter_set.name == "shape"
    assert load(shared, ["gravity=1"]).sweep.parameter_set.name == "material"


SPHERE = {"phase": 0, "youngs_modulus": 1e9, "poisson_ratio": 0.3, "indentation": 1e-5,
          "normal_amplitude": 1e-6, "tangential_amplitude": 1e-6, "friction": 0.3,
          "radius": 0.01}  # fmt: skip
NO_RADIUS = {name: value for name, value in SPHERE.items() if name != "radius"}
INTRUDER = "beta: belongs to set dimensionless, the other parameters to sphere; remove it"
BETA, DELTA = {"beta": {"values": [1, 2]}}, {"delta": {"values": [0.1, 0.2]}}
DRAWN = {"method": "sobol", "points": 8, "beta": {"uniform": [1, 2]}}
PROFILE = {"profile_coefficient": 2, "profile_exponent": 2}


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({"parameters": NO_RADIUS},
         ["sphere lacks radius; profile lacks profile_coefficient, profile_exponent"]),
        ({"parameters": {**SPHERE, "beta": 1}}, [f"^[parameters] {INTRUDER}$"]),
        ({"parameters": SPHERE, "axes": BETA | DELTA},
         ["^[axes] beta: belongs to set dimens", "^[axes] delta: belongs to set dimens"]),
        ({"parameters": {**SPHERE, "profile_coefficient": 2}},
         ["^[parameters] profile_coefficient: belongs to set profile"]),
        ({"parameters": SPHERE | PROFILE},
         ["^[parameters] radius: belongs to set sphere, the other parameters to profile"]),
        ({"parameters": {**NO_RADIUS, "beta": 1}},
         ["^[parameters] beta: belongs to set dimensionless, the other parameters to sphere: "
          "sphere lacks radius; remove it$"]),
        ({"parameters": SPHERE, "sample": DRAWN}, [f"^[sample] {INTRUDER}$"]),
    ],
)  # fmt: skip
def test_foreign_and_missing_names_of_a_set_are_reported(
    tables: dict[str, object], expected: list[str]
) -> None:
    """Of that set for which fewest names have to go and to come."""
    for fault, gist in zip(faults({"model": "mdr_contact", **tables}), expected, strict=True):
        assert gist in f"^{fault}$"


def test_a_mixture_equally_near_to_several_sets_names_all_sets() -> None:
    mass = {"mass": 1, "gravity": 10, "friction": 0.1, "base_acceleration": 1,
            "angular_frequency": 6, "window_start": 1, "end_cycle": 2}  # fmt: skip
    (fault,) = faults({"model": "friction_oscillator", "parameters": mass})
    assert "window_start, end_cycle belong to different sets; give exactly one of these" in fault


def test_an_unknown_method_is_the_only_fault_reported(toy: dict[str, object]) -> None:
    (fault,) = faults(toy, "method=steped", "springs=3")
    assert "did you mean 'stepped'?" in fault


ENDLESS = 10**5000  # more digits than Python puts in a text


@pytest.mark.parametrize(
    ("table", "key"),
    [(None, key) for key in ("format", "model", "method", "outputs", "dtype", "sample", "run")]
    + [("parameters", "mass"), ("axes", "friction"), ("run", "task_seconds")]
    + [("run", key) for key in ("workers", "chunk_points", "cluster", "time_limit", "durable")]
    + [("sample", key) for key in ("method", "points", "seed", "file", "columns")]
    + [("run.slurm", key) for key in ("queue", "cores", "jobs", "extra")],
)
def test_huge_whole_numbers_are_faults(table: str | None, key: str) -> None:
    request: dict[str, object] = {"model": "friction_oscillator"}
    drawing: dict[str, object] = {"method": "sobol", "points": 8, "friction": {"uniform": [0, 1]}}
    if table is None:
        request[key] = ENDLESS
    elif table == "sample":
        request["sample"] = {**drawing, key: ENDLESS}
    elif table == "run.slurm":
        request["run"] = {"slurm": {key: ENDLESS}}
    else:
        request[table] = {key: ENDLESS}
    place = f"[{table}] {key}" if table else f"[{key}]" if key in ("sample", "run") else key
    assert any(fault.startswith(f"{place}:") for fault in faults(request)), faults(request)


@pytest.mark.parametrize("numbers", [[ENDLESS, 2.0, 4], [0.5, ENDLESS, 4], [0.5, 2.0, ENDLESS]])
def test_huge_axes_are_faults(numbers: list[float]) -> None:
    for form in ("linspace", "geomspace"):
        request = {"model": "friction_oscillator", "axes": {"friction": {form: numbers}}}
        assert any("[axes] friction" in fault for fault in faults(request))


KEYS = st.one_of(
    st.sampled_from(
        ["format", "model", "method", "outputs", "dtype", "parameters", "axes", "run", "sample"]
        + ["friction", "mass", "window_start", "start_cycle", "phase", "base_acceleration", "step"]
        + ["linspace", "geomspace", "values", "file", "column", "workers", "backend", "time_limit"]
    ),
    st.text(max_size=5),
    st.integers(),
    st.none(),
)  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.floats(), st.integers(-1000, 1000), st.dates(), st.binary(),
    st.text(max_size=8), st.complex_numbers(),
    st.sampled_from([400, 5000]).map(lambda digits: 10**digits),
    st.sampled_from(["friction_oscillator", "exact", "wear_power", "2 m", "5 Hz", "%", "\ud800"]),
)  # fmt: skip
JUNK = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


OVERRIDES = st.text(max_size=12) | st.builds(
    "{}={}".format,
    KEYS,
    st.text(max_size=8) | st.sampled_from(["1", "nan", "[1]", "2 m", "{ values = [1] }", "{}"]),
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(KEYS, JUNK, max_size=6),
    st.fixed_dictionaries(
        {},
        optional={
            "model": st.just("friction_oscillator"),
            "parameters": st.dictionaries(KEYS, JUNK, max_size=5),
            "axes": st.dictionaries(KEYS, st.dictionaries(KEYS, JUNK, max_size=3), max_size=3),
            "run": st.dictionaries(KEYS, JUNK, max_size=3),
        },
    ),
    st.lists(OVERRIDES, max_size=2),
)
def test_arbitrary_mappings_raise_nothing_but_config_errors(
    junk: dict[object, object], shaped: dict[str, object], overrides: list[str]
) -> None:
    try:
        load({**junk, **shaped}, overrides)
    except ConfigError as error:
        assert error.faults


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.integers(0, 300), st.integers(0, 300))
def test_damaged_files_raise_nothing_but_config_errors(
    tmp_path_factory: pytest.TempPathFactory, junk: str, start: int, stop: int
) -> None:
    content = GOOD[:start] + junk + GOOD[stop:]
    path = tmp_path_factory.getbasetemp() / "damaged.toml"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    try:
        load(path)
    except ConfigError as error:
        assert error.faults
