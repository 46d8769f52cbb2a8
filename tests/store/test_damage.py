"""Whatever reads a store refuses damage in it, says what is damaged, and what would do."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import sweep
from sweep import api
from sweep.errors import StoreError
from sweep.fits import load as load_points
from sweep.pictures.backbone import energy_at, plot_backbone
from sweep.results.refined import on_grid
from sweep.store import Store, open_results
from sweep.store.group import Readable
from tests.command import Run
from tests.store.short_parts import shorten
from tests.store.test_storage_faults import flip_a_bit

DAMAGED = "damaged.zarr"


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
    return plot_backbone(open_results(path))


def grid(path: str) -> object:
    return on_grid(open_results(path))


Reader = str | Callable[[str], object]


class Subject(NamedTuple):
    """A store of several chunks: its sweep, the points of a chunk, three of its files, readers."""

    config: str
    points: int
    chunk: str  # the second one of an output
    coordinate: str  # the last file of a parameter along an axis
    single: str  # the value of another
    readers: tuple[Reader, ...]

    @property
    def output(self) -> str:
        return self.chunk.partition("/")[0]

    @property
    def status(self) -> str:
        return self.chunk.replace(self.output, "status")


PLOTS = ("plot -o a.png", "plot -o a.png OUTPUT", "plot -o a.png --against exact")
EXPORTS = ("export -o a.nc", "export -o a.csv")
OVER = "plot -o a.png --over OTHER"
OF_FRICTION = ("show", *PLOTS, *EXPORTS, sweep.compare, load_all, read_one)
OF_SAMPLE = ("show", OVER, "export -o a.csv", sweep.compare, load_all)
OF_CONTACT = ("fit --at delta=1e-3", load_points)
OF_REFINED = ("plot -o a.png", OVER, sweep.compare, grid)
SUBJECTS = {
    "friction": Subject(
        "wear_power", 14, "wear_power/c/1/0", "friction/c/0", "mass/c", OF_FRICTION
    ),
    "contact": Subject(
        "hanisch_fig3", 9, "normalized_energy/c/1/0", "beta/c/0", "phase/c", OF_CONTACT
    ),
    "impacts": Subject(
        "backbone", 12, "frequency/c/1/0/0", "energy/c/0", "mass/c", (energy, backbone)
    ),
    "sample": Subject(
        "wear_power_sample", 16, "wear_power/c/1", "friction/c/1", "mass/c", OF_SAMPLE
    ),
    "refined": Subject(
        "wear_power_refined", 16, "regime/c/1", "friction/c/0", "mass/c", OF_REFINED
    ),
}


class Harm(NamedTuple):
    """What is done to which file of a store, and what is then said of it."""

    act: Callable[[Path], None]
    to: str
    sentence: str
    cure: str


DAMAGE = "{} has a damaged chunk (wrong checksum)"
VERIFY, ANEW, REBUILD = (
    "`sweep status --verify` names",
    "run the sweep in a new store",
    "run its sweep again to rebuild it",
)
DAMAGED_CHUNK = Harm(flip_a_bit, "chunk", DAMAGE, f"{VERIFY} it")
LACKING_CHUNK = Harm(Path.unlink, "chunk", "{} has no value at ", f"{VERIFY} them")
LACKING_COORDINATE = Harm(Path.unlink, "coordinate", "the coordinate {} lacks a file", ANEW)
LACKING_SINGLE = Harm(Path.unlink, "single", "the coordinate {} lacks a file", REBUILD)
SEEN_BY_ALL = (DAMAGED_CHUNK, LACKING_CHUNK, LACKING_COORDINATE, LACKING_SINGLE)
UNSEEN = {(energy, LACKING_SINGLE), (grid, LACKING_SINGLE)}  # what a reader does not look at
SEEN_BY_LOADING = (
    Harm(flip_a_bit, "status", DAMAGE, f"{VERIFY} it"),
    Harm(flip_a_bit, "coordinate", "the coordinate {} cannot be read", ANEW),
    Harm(flip_a_bit, "single", "the coordinate {} cannot be read", REBUILD),
)


def cases() -> Iterator[Any]:
    """For each store its readers, and for each of them what it sees."""
    for name, subject in SUBJECTS.items():
        seen = [(reader, harm) for reader in subject.readers for harm in SEEN_BY_ALL]
        for reader, harm in [*seen, *((load_all, harm) for harm in SEEN_BY_LOADING)]:
            # Whoever notices a damaged chunk notices a missing one in the same place, and whoever
            # reads the coordinate of an axis reads single parameters in the same way.
            is_broad = (harm is LACKING_CHUNK and reader != subject.readers[0]) or (
                harm is LACKING_SINGLE and reader != "show"
            )
            if (reader, harm) not in UNSEEN:
                who = reader if isinstance(reader, str) else reader.__name__
                identifier = f"{name}-{who}-{harm.act.__name__}-{harm.to}"
                marks = pytest.mark.broad if is_broad else ()
                yield pytest.param(name, reader, harm, id=identifier, marks=marks)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the stores; coordinates of a sample lie in files of 32 values."""
    folder = tmp_path_factory.mktemp("stores")
    smoke = Path(sweep.__file__).parents[1] / "configs" / "smoke"
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch, 32)
        for name, subject in SUBJECTS.items():
            points = [f"run.chunk_points={subject.points}"]
            api.run(smoke / f"{subject.config}.toml", points, store=folder / name)
    return folder


@pytest.mark.parametrize(("name", "reader", "harm"), list(cases()))
def test_damage_is_refused_and_named_with_a_cure(
    name: str, reader: Reader, harm: Harm, stores: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = SUBJECTS[name]
    file: str = getattr(subject, harm.to)
    shutil.copytree(stores / name, DAMAGED)
    shorten(monkeypatch, 32)  # so that a sample's coordinates are read lazily
    harm.act(Path(DAMAGED, file))
    if isinstance(reader, str):
        text = reader.replace("OUTPUT", subject.output).replace("OTHER", "friction")
        command, *rest = text.split()
        status, out, message = run(command, DAMAGED, *rest)
        message = out + message
        assert not list(Path().glob("a.*"))
    else:
        with pytest.raises(StoreError) as caught:
            reader(DAMAGED)
        status, message = StoreError.exit_status, str(caught.value)
    assert status == 2
    assert harm.sentence.format(file.partition("/")[0]) in message
    assert harm.cure in message


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
    content = Readable.get

    async def then_written(results: Readable, key: str, *how: Any) -> object:
        found = await content(results, key, *how)
        if found is None:
            for file in files:  # by a rename, as a store is written
                written = tmp_path / uuid.uuid4().hex
                shutil.copy(whole.path / file.relative_to(tmp_path / "a.zarr"), written)
                written.replace(file)
        return found

    monkeypatch.setattr(Readable, "get", then_written)
    assert not np.isnan(dataset["wear_power"].values).any()
