"""What users do with models from files: another text, no file, damaged texts, processes, tests."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import sweep
from sweep.cli.model_tests import check_model
from sweep.model.shipped import shipped_models
from tests.command import Run
from tests.equations.examples import RESONANCE, model

AXES = "[axes]\nforcing = { linspace = [0, 1, 5] }\n"
SWEEP = """
format = 1
model = "./resonance.toml"
method = "rk54"
outputs = ["y_end", "v_end"]
[parameters]
window_end = 3
"""
SAMPLE = """
[sample]
method = "sobol"
points = 8
seed = 1
forcing = { uniform = [0.5, 1] }
"""
REFINE = """
[axes]
forcing = { linspace = [0, 1, 3] }
window_start = { linspace = [0, 1, 3] }
[refine]
output = "y_end"
levels = 1
tolerance = 0.05
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "resonance.toml").write_text(RESONANCE)
    (tmp_path / "sweep.toml").write_text(SWEEP + AXES)
    return tmp_path


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished store of that sweep, to be copied."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "resonance.toml").write_text(RESONANCE)
    (folder / "sweep.toml").write_text(SWEEP + AXES)
    sweep.run(folder / "sweep.toml", store=folder / "a.zarr")
    return folder / "a.zarr"


def attributes(store: Path) -> dict[str, Any]:
    return json.loads((store / "zarr.json").read_text())["attributes"]


def dataset(folder: Path) -> xr.Dataset:
    """All results of a.zarr, read by xarray alone."""
    return xr.open_zarr(folder / "a.zarr", consolidated=True).load()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("run resonance.toml", 'a model file; write a sweep file with model = "./resonance.toml"'),
        ("models ./sweep.toml", "'./sweep.toml' is a sweep file; name its model, 'resonance.toml'"),
        ("models resonance", "there is no model 'resonance'; did you mean './resonance.toml'?"),
        (
            "run sweep.toml --set model='resonance'",
            "model: 'resonance' is unknown; did you mean './",
        ),
        (
            "run sweep.toml --set model='./resonanc.toml'",
            "no file './resonanc.toml', and no shipped model of that name; did you mean './reson",
        ),
        ("run ./swep.toml", "and no shipped sweep file of that name; did you mean './sweep.toml'?"),
    ],
)
def test_a_file_of_the_other_kind_or_of_a_near_name_is_one_fault(
    folder: Path, run: Run, command: str, message: str
) -> None:
    assert (folder / "sweep.toml").exists()
    status, _, err = run(*command.split())
    assert status == 2
    assert message in err
    assert len(err.splitlines()) <= 2


def test_another_text_of_the_model_is_refused_with_the_lines_that_differ(
    folder: Path, store: Path, run: Run
) -> None:
    shutil.copytree(store, folder / "a.zarr")
    before = (folder / "a.zarr" / "zarr.json").read_bytes()
    (folder / "resonance.toml").write_text(RESONANCE.replace("-y + forcing", "-2*y + forcing"))
    status, _, message = run("run", "sweep.toml", "-o", "a.zarr")
    assert status == 2
    assert [line.split(": ", 2)[1:] for line in message.splitlines() if "equations: " in line] == [
        ["only in the store", 'v = "-y + forcing*cos(t)"'],
        ["only in the file", 'v = "-2*y + forcing*cos(t)"'],
    ]
    assert (folder / "a.zarr" / "zarr.json").read_bytes() == before


@pytest.mark.broad
@pytest.mark.parametrize(
    ("kind", "place", "more"),
    [
        (AXES, ("--at", "forcing=0.7"), "forcing={ linspace = [0, 2, 9] }"),
        (SAMPLE, ("--at", "forcing=0.7"), "sample.points=16"),
        (REFINE, ("--at", "forcing=0.7", "--at", "window_start=0"), ""),
    ],
    ids=["axes", "sample", "refine"],
)
def test_a_store_is_resumed_traced_and_extended_without_the_file(
    folder: Path, run: Run, kind: str, place: tuple[str, ...], more: str
) -> None:
    (folder / "sweep.toml").write_text(SWEEP + kind)
    assert run("run", "sweep.toml", "-o", "a.zarr")[0] == 0
    assert run("trace", "sweep.toml", *place, "-o", "file.csv")[0] == 0
    (folder / "resonance.toml").unlink()
    (folder / "sweep.toml").unlink()
    before, finished = attributes(folder / "a.zarr"), dataset(folder)
    if not more:
        assert run("run", "a.zarr", "-o", "a.zarr")[0] == 0
    else:
        chunks = sorted((folder / "a.zarr" / "status" / "c").iterdir())
        chunks[0].unlink()
        assert run("run", "a.zarr", "-o", "a.zarr")[0] == 0
    assert attributes(folder / "a.zarr") == before
    assert dataset(folder).identical(finished)
    assert run("trace", "a.zarr", *place, "-o", "store.csv")[0] == 0
    assert (folder / "store.csv").read_bytes() == (folder / "file.csv").read_bytes()
    if more:
        assert run("extend", "a.zarr", "a.zarr", "--set", more)[0] == 0
        assert run("run", "a.zarr", "-o", "a.zarr")[0] == 0
        longer = dataset(folder)
        assert (longer.status == 0).all()
        assert longer.status.size > finished.status.size
        kept = longer.isel({dim: slice(None, n) for dim, n in finished.sizes.items()})
        assert kept.y_end.values.tobytes() == finished.y_end.values.tobytes()


HOSTILE = [
    "", "format = 1", "import os", "\x00", 7, None, ["x"],
    RESONANCE.replace("-y + forcing", "__import__('os').system('touch mark') + forcing"),
    RESONANCE.replace("-y + forcing", "unknown + forcing"),
    RESONANCE.replace("[states]", "[states"),
    RESONANCE.replace('y = "v"', 'y = "v; system(0)"'),
    RESONANCE.replace('name = "resonance"', 'name = "../../resonance"'),
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_store_with_a_hostile_text_is_refused_and_nothing_is_compiled(
    folder: Path, store: Path, run: Run, text: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(store, folder / "a.zarr")
    file = folder / "a.zarr" / "zarr.json"
    group = json.loads(file.read_text())
    recipe = group["attributes"]["recipe"]
    recipe = json.loads(recipe) if isinstance(recipe, str) else recipe
    recipe["equations"] = text
    group["attributes"]["recipe"] = json.dumps(recipe, sort_keys=True)
    file.write_text(json.dumps(group))
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(folder / "cache"))
    compiler = folder / "c++"
    compiler.write_text(f"#!/bin/sh\ntouch '{folder / 'compiled'}'\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("TRIBOSWEEP_CXX", str(compiler))
    for command in (
        ("status", "a.zarr"),
        ("trace", "a.zarr", "--at", "forcing=0.5"),
        ("run", "a.zarr", "-o", "a.zarr"),
        ("extend", "a.zarr", "a.zarr", "--set", "forcing={ linspace = [0, 2, 9] }"),
    ):
        status, _, message = run(*command)
        assert status != 0, command
        assert "a.zarr" in message
        assert "Traceback" not in message
        assert len(message) < 3000
    assert not {"mark", "compiled"} & {entry.name for entry in folder.iterdir()}


@pytest.mark.broad  # other models daily, in engine/test_cluster.py
def test_two_processes_give_the_same_bits(folder: Path) -> None:
    request = {
        "model": model(RESONANCE),
        "parameters": {"window_end": 3.0},
        "axes": {"forcing": {"linspace": [0, 1, 40]}},
        "run": {"chunk_points": 10},
    }
    by_threads = sweep.run(request, store=None).load()
    store = folder / "a.zarr"
    by_processes = sweep.run(request, store=store, workers=2, cluster="local").load()
    for name in by_threads.data_vars:
        assert by_processes[name].values.tobytes() == by_threads[name].values.tobytes(), name


def test_tests_that_fail_report_expected_and_computed_values(folder: Path, run: Run) -> None:
    tests = """
[[tests]]
at = { forcing = 0, window_end = 3.141592653589793, relative_tolerance = 1e-10 }
expect = { y_end = -0.5, v_end = 0 }
absolute = 1e-6
"""
    (folder / "resonance.toml").write_text(RESONANCE + tests)
    status, text, _ = run("models", "./resonance.toml", "--check")
    assert status == 1
    line = next(line for line in text.splitlines() if "y_end" in line)
    for figure in ("-0.5 ", "-0.99999", " 0.49999"):
        assert figure in line
    (folder / "resonance.toml").write_text(RESONANCE + tests.replace("-0.5", "-1"))
    assert run("models", "./resonance.toml", "--check")[0] == 0


def test_a_check_names_the_states_with_a_unit_whose_scale_is_1(folder: Path, run: Run) -> None:
    states = """
format = 1
name = "rise"
[states]
x = { unit = "m", initial = "0" }
y = { unit = "m", initial = "0", scale = "1e-6" }
turn = { unit = "rad", initial = "0" }
[derivatives]
x = "0"
y = "0"
turn = "0"
[outputs]
last = { final = "x", unit = "m" }
"""
    (folder / "rise.toml").write_text(states)
    status, _, err = run("models", "./rise.toml", "--check")
    assert status == 0
    assert "warning: the scale of x [m] is 1; give a state of another size a scale" in err


QUICK = ("bouncing_ball",)


@pytest.mark.parametrize(
    "name",
    [n if n in QUICK else pytest.param(n, marks=pytest.mark.broad) for n in shipped_models()],
)
def test_every_shipped_model_passes_its_tests(name: str) -> None:
    checks = check_model(name)
    assert checks
    assert [each for each in checks if not each.holds] == []
