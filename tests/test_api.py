"""sweep.run: from a request to its Dataset, in a store or in memory, going on where it stopped."""

from __future__ import annotations

import pkgutil
import re
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep import api
from sweep.engine.ledger import Progress
from sweep.errors import SweepError
from sweep.file import load
from sweep.store import Store
from tests.cases import compute
from tests.cases.friction_oscillator import SDND104
from tests.engine.test_engine import bits_of

ROOT = Path(__file__).resolve().parent.parent
SMOKE = ROOT / "configs" / "smoke" / "wear_power.toml"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in an empty folder of its own."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.broad
def test_a_small_sweep_in_memory_takes_50_ms() -> None:
    """Of processor time, from the second call on: so that a busy machine keeps it, too."""
    axes = [
        "friction={ geomspace = [0.01, 1.0, 8] }",
        "base_acceleration={ linspace = [0.5, 15.0, 8] }",
    ]
    seconds: list[float] = []
    for _ in range(30):
        began = time.process_time()
        assert sweep.run("wear_power", axes, store=None)["status"].size == 64
        seconds.append(time.process_time() - began)
    assert min(seconds) <= 0.05


def test_a_file_becomes_a_dataset_with_its_points() -> None:
    """Against one call of the backend with the values of NumPy's geomspace and linspace."""
    dataset = sweep.run(SMOKE, store=None)
    friction, acceleration = np.geomspace(0.01, 1.0, 5), np.linspace(0.5, 15.0, 7)
    np.testing.assert_array_equal(dataset["friction"], friction)
    np.testing.assert_array_equal(dataset["base_acceleration"], acceleration)
    columns = {"friction": np.repeat(friction, 7), "base_acceleration": np.tile(acceleration, 5)}
    expected = compute({**SDND104, **columns})
    names = ("wear_power", "regime", "status")
    assert bits_of(dataset) == {name: expected[name].tobytes() for name in names}
    assert dataset.sizes == {"friction": 5, "base_acceleration": 7}


def test_in_memory_nothing_is_written(elsewhere: Path) -> None:
    sweep.run(SMOKE, store=None)
    assert list(elsewhere.iterdir()) == []


def test_a_store_equals_memory_and_is_not_computed_again(elsewhere: Path) -> None:
    reports: list[Progress] = []
    lazy = sweep.run(SMOKE, report=reports.append)
    assert Store.open("results/wear_power.zarr").pending() == []
    assert lazy["wear_power"].chunks is not None
    in_memory = sweep.run(SMOKE, store=None)
    xr.testing.assert_identical(lazy.load(), in_memory)
    xr.testing.assert_identical(sweep.open_results("results/wear_power.zarr").load(), in_memory)
    assert reports[-1].points_done == reports[-1].points_total == 35
    before = Store.open("results/wear_power.zarr").receipts.read()
    xr.testing.assert_identical(sweep.run(SMOKE).load(), in_memory)
    assert Store.open("results/wear_power.zarr").receipts.read() == before  # nothing computed again
    written = {"wear_power.zarr", "wear_power.zarr.lock", "wear_power.zarr.log"}
    assert {path.name for path in (elsewhere / "results").iterdir()} == written


def test_overrides_and_options_reach_the_sweep(elsewhere: Path) -> None:
    single = ["friction=0.1", "base_acceleration=1.5"]
    dataset = sweep.run("sdnd104", single, store=None, backend="cpu", workers=1)
    assert dict(dataset.sizes) == {}
    assert float(dataset["wear_power"]) == pytest.approx(0.409062758890, abs=5e-13)


def test_options_that_are_not_set_keep_the_files_values() -> None:
    request = load(SMOKE, ["run.workers=3", "run.chunk_points=9"])
    same = api.with_options(request, workers=None, backend=None)
    assert same == request
    assert api.with_options(request, gpus="all").options.workers is None  # which are threads
    with pytest.raises(SweepError, match="cannot be combined with workers=3"):
        api.with_options(request, gpus="all", workers=3)
    other = api.with_options(request, workers=2, chunk_points=None)
    assert (other.options.workers, other.options.chunk_points) == (2, 9)
    assert other.sweep is request.sweep
    assert api.default_store(request) == Path("results/wear_power.zarr")


def test_overrides_that_make_another_sweep_name_its_store() -> None:
    def store(*overrides: str) -> str:
        return str(api.default_store(load(SMOKE, overrides), SMOKE, overrides))

    plain, other = "results/wear_power.zarr", "results/wear_power-mass=2-gravity=9.zarr"
    assert store() == store("run.workers=3") == store("mass=1.0") == plain
    assert store("mass=2", "run.workers=3", "gravity=9") == other
    for long in ("friction={ values = [1, 2] }", "mass=2." + "0" * 60):
        assert re.fullmatch(r"results/wear_power-[0-9a-f]{8}\.zarr", store(long))
    sweep.run(SMOKE, {"mass": 2}, store=plain)  # as stores of earlier versions are named
    assert store("mass=2") == plain
    second = sweep.run(SMOKE, {"mass": 3, "friction": 0.5})
    assert float(second.mass) == 3
    assert Path("results/wear_power-mass=3-friction=0.5.zarr").is_dir()


def test_public_names_exist_and_others_do_not() -> None:
    assert set(dir(sweep)) >= set(sweep.__all__) == {*sweep.PUBLIC, "__version__"}
    modules = {module.name for module in pkgutil.iter_modules(sweep.__path__)}
    for name in sweep.__all__:
        assert hasattr(sweep, name)
        assert name not in modules  # importing that would put the module in its place
    with pytest.raises(AttributeError, match="no attribute 'rnu'"):
        _ = sweep.rnu


@pytest.mark.parametrize(
    "environment",
    [
        {"TRIBOSWEEP_CXX": "g++ -DSWEEP_WIDTH=3"},
        {"TRIBOSWEEP_CXX": "no-such-compiler"},
        {"TRIBOSWEEP_CACHE_DIR": "/dev/null/cache"},
    ],
)
def test_a_sweep_that_cannot_be_computed_leaves_no_store(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, elsewhere: Path
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SweepError):
        sweep.run(SMOKE, store="a.zarr")
    assert list(elsewhere.iterdir()) == []
