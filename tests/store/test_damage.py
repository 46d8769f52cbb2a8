"""Whatever reads a store refuses damage in it, says what is damaged, and what would do."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sweep
from sweep import api
from sweep.analysis.backbone import draw_backbone, energy_at
from sweep.analysis.master_curve import load as load_points
from sweep.analysis.refined import on_grid
from sweep.errors import StoreError
from sweep.store import Store, open_results
from sweep.store.reading import _Checked
from tests.command import Run
from tests.store.stretches import shorten
from tests.store.test_storage_faults import flip_a_bit

# By name of the store: the sweep file, changes to it, and points of a chunk, of which each store
# has several.
REQUESTS: Mapping[str, tuple[str, tuple[str, ...], int]] = {
    "friction": ("wear_power", (), 14),
    "contact": ("hanisch_fig3", (), 9),
    "impacts": ("backbone", (), 12),
    "sample": ("wear_power_sample", (), 16),
    "refined": ("wear_power_refined", (), 16),
}
DAMAGED = "damaged.zarr"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the stores of REQUESTS; coordinates of a sample lie in files of 32 values."""
    folder = tmp_path_factory.mktemp("stores")
    smoke = Path(sweep.__file__).parents[1] / "configs" / "smoke"
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch, 32)
        for name, (config, changes, points) in REQUESTS.items():
            changed = [*changes, f"run.chunk_points={points}"]
            api.run(smoke / f"{config}.toml", changed, store=folder / name)
    return folder


# What reads stores. A command is a text; a function of this library gets a path.


def load_all(path: str) -> object:
    return open_results(path).load()


def read_one(path: str) -> object:
    """As users do, from a Dataset whose other variables are not looked at."""
    dataset = open_results(path)
    return [dataset[name].values for name in dataset.variables]


def energy(path: str) -> object:
    return energy_at(open_results(path), 0.6)


def backbone(path: str) -> object:
    return draw_backbone(open_results(path))


def grid(path: str) -> object:
    return on_grid(open_results(path))


Reader = str | Callable[[str], object]
READERS: Mapping[str, tuple[Reader, ...]] = {
    "friction": (
        "show",
        "plot -o a.png",
        "plot -o a.png OUTPUT",
        "plot -o a.png --against exact",
        "export -o a.nc",
        "export -o a.csv",
        sweep.compare,
        load_all,
        read_one,
    ),
    "contact": ("fit --at delta=1e-3", load_points),
    "impacts": (energy, backbone),
    "sample": ("show", "plot -o a.png --over OTHER", "export -o a.csv", sweep.compare, load_all),
    "refined": ("plot -o a.png", "plot -o a.png --over OTHER", sweep.compare, grid),
}
# By store: an output, its second chunk's file; a parameter along an axis, its last file; a single
# one.
OUTPUTS = {
    "friction": "wear_power/c/1/0",
    "contact": "normalized_energy/c/1/0",
    "impacts": "frequency/c/1/0/0",
    "sample": "wear_power/c/1",
    "refined": "regime/c/1",
}
COORDINATES = {
    "friction": "friction/c/0",
    "contact": "beta/c/0",
    "impacts": "energy/c/0",
    "sample": "friction/c/1",
    "refined": "friction/c/0",
}
SINGLE = {
    "friction": "mass/c",
    "contact": "phase/c",
    "impacts": "mass/c",
    "sample": "mass/c",
    "refined": "mass/c",
}
CURE = "run the sweep in a new store"
CURE_OF_SINGLE = "run its sweep again to rebuild it"
UNREAD = {(energy, "mass/c"), (grid, "mass/c")}  # what a reader does not look at


def case(name: str, reader: Reader, *more: object, broad: bool = False) -> Any:
    reader_name = reader if isinstance(reader, str) else reader.__name__
    marks = pytest.mark.broad if broad else ()
    identifier = f"{name}-{reader_name}-{'-'.join(map(str, more))}"
    return pytest.param(name, reader, *more, id=identifier, marks=marks)


CASES = [case(name, reader) for name, readers in READERS.items() for reader in readers]
# Whoever notices a damaged chunk notices a missing one in the same place.
LACKING = [
    case(name, reader, broad=reader != readers[0])
    for name, readers in READERS.items()
    for reader in readers
]
WITH_COORDINATE = [
    # Whoever reads the coordinate of an axis reads single parameters in the same way.
    case(name, reader, files[name], broad=files is SINGLE and reader != "show")
    for name, readers in READERS.items()
    for reader in readers
    for files in (COORDINATES, SINGLE)
    if (reader, files[name]) not in UNREAD
]


@pytest.fixture
def read(
    run: Run, stores: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, Reader, Callable[[Path], None], str], tuple[int, str]]:
    """Reads a store with one of its files damaged: exit status and message."""

    def read(name: str, reader: Reader, harm: Callable[[Path], None], file: str) -> tuple[int, str]:
        shutil.copytree(stores / name, DAMAGED)
        shorten(monkeypatch, 32)  # so that a sample's coordinates are read lazily
        harm(Path(DAMAGED, file))
        if not isinstance(reader, str):
            with pytest.raises(StoreError) as caught:
                reader(DAMAGED)
            return StoreError.exit_status, str(caught.value)
        output = OUTPUTS[name].partition("/")[0]
        command, *rest = reader.replace("OUTPUT", output).replace("OTHER", "friction").split()
        status, out, message = run(command, DAMAGED, *rest)
        assert not list(Path().glob("a.*"))
        return status, out + message

    return read


@pytest.mark.parametrize(("name", "reader"), CASES)
def test_a_damaged_chunk_is_refused(
    name: str, reader: Reader, read: Callable[..., tuple[int, str]]
) -> None:
    output = OUTPUTS[name].partition("/")[0]
    status, message = read(name, reader, flip_a_bit, OUTPUTS[name])
    assert status == 2
    assert f"{output} has a damaged chunk (wrong checksum)" in message
    assert "`sweep status --verify` names it" in message


@pytest.mark.parametrize("name", REQUESTS)
def test_a_damaged_status_is_refused_as_any_result(
    name: str, read: Callable[..., tuple[int, str]]
) -> None:
    _, _, place = OUTPUTS[name].partition("/")
    status, message = read(name, load_all, flip_a_bit, f"status/{place}")
    assert status == 2
    assert "status has a damaged chunk" in message
    assert "`sweep status --verify` names it" in message


@pytest.mark.parametrize(("name", "reader"), LACKING)
def test_a_done_chunk_that_lacks_a_file_is_refused(
    name: str, reader: Reader, read: Callable[..., tuple[int, str]]
) -> None:
    output = OUTPUTS[name].partition("/")[0]
    status, message = read(name, reader, Path.unlink, OUTPUTS[name])
    assert status == 2
    assert f"{output} has no value at " in message
    assert "`sweep status --verify` names them" in message


@pytest.mark.parametrize(("name", "reader", "file"), WITH_COORDINATE)
def test_a_coordinate_that_lacks_a_file_is_refused(
    name: str, reader: Reader, file: str, read: Callable[..., tuple[int, str]]
) -> None:
    status, message = read(name, reader, Path.unlink, file)
    assert status == 2
    assert f"the coordinate {file.partition('/')[0]} lacks a file" in message
    assert (CURE_OF_SINGLE if file in SINGLE.values() else CURE) in message


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize(("files", "cure"), [(COORDINATES, CURE), (SINGLE, CURE_OF_SINGLE)])
def test_a_damaged_coordinate_is_refused(
    name: str, files: Mapping[str, str], cure: str, read: Callable[..., tuple[int, str]]
) -> None:
    status, message = read(name, load_all, flip_a_bit, files[name])
    assert status == 2
    assert f"the coordinate {files[name].partition('/')[0]} cannot be read" in message
    assert cure in message


@pytest.mark.parametrize("harm", [Path.unlink, flip_a_bit])
def test_verify_refuses_a_store_without_a_single_parameter(
    harm: Callable[[Path], None], read: Callable[..., tuple[int, str]]
) -> None:
    status, message = read("friction", "status --verify", harm, "mass/c")
    assert status == 2
    assert "the coordinate mass " in message


def test_a_chunk_that_is_written_while_it_is_read_is_not_damaged(
    stores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its output is looked for, in vain, just before it is written, its status just after."""
    whole = Store.open(stores / "friction")
    shutil.copytree(whole.path, tmp_path / "a.zarr")
    files = [tmp_path / "a.zarr" / name / "c/1/0" for name in ("wear_power", "regime", "status")]
    for file in files:
        file.unlink()
    dataset = open_results(tmp_path / "a.zarr")
    intact = _Checked._intact

    def then_written(results: _Checked, key: object) -> object:
        values = intact(results, key)
        for file in files:  # by a rename, as a store is written: other chunks are read meanwhile
            written = tmp_path / uuid.uuid4().hex
            shutil.copy(whole.path / file.relative_to(tmp_path / "a.zarr"), written)
            written.replace(file)
        return values

    monkeypatch.setattr(_Checked, "_intact", then_written)
    assert not np.isnan(dataset["wear_power"].values).any()
