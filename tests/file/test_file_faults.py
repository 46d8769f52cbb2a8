"""Broken sweep files and overrides: each fault says what, where, and what would do."""

from __future__ import annotations

import csv
import os
import re
import tracemalloc
from difflib import get_close_matches
from pathlib import Path

import pytest
from dask.utils import parse_bytes

from sweep.errors import MAX_FAULTS_SHOWN, ConfigError
from sweep.file import axes as axes_table
from sweep.file import load
from sweep.model.shipped import shipped_configs
from sweep.store import Store
from tests.file.documents import GOOD, faults, mapping

FORMAT, MODEL, RUN, LAST = "format = 1", "[run]", "workers = 2", "window_end = 12.0"
FRICTION = "friction = { geomspace = [0.01, 1.0, 5] }"

# (a piece of the good file, what stands there instead, the gist of the message: key ... cure)
# fmt: off
BROKEN_FILES = [
    (FORMAT, "format = 1.0", "format: 1.0 is not the whole number 1"),
    (FORMAT, "format = true", "format: true is not the whole number 1"),
    ("format = 1", "format = 1.", "line 2, column 11: ... not TOML: ... a digit on both sides"),
    (MODEL, "outputs = []\n[run]", "outputs: empty; remove it for all outputs"),
    (LAST, LAST + "\nstifness = 1", "[parameters] stifness: ... did you mean 'stiffness'?"),
    ("mass = 1.0", "mass = [1, 2]", "mass: [1, 2] is not one number; ... mass = { values = ["),
    ("mass = 1.0", "mass = [[[[1]]]]", "mass: [[[[...]]]] is not one number"),
    ("mass = 1.0", "mass = { values = [1] }", "mass: {'values': [1]} is not one number; for"),
    (LAST, "[rum", "line 14, column 5: this is not TOML: expected ']' at the end of a table"),
    (LAST, LAST + "\n[axes]\n", "this is not TOML: cannot declare [axes] twice in '[axes]'; give"),
    (LAST, LAST + "\nsmall = yes", "in 'small = yes'; a flag is true or false; put text in quotes"),
    (FORMAT, "format = 1" + "0" * 5000, "this is not TOML: "),
    (FORMAT, "a = " + "[" * 100_000, "values are nested too deeply"),
    (FORMAT, "# caf\udce9", "line 2 is not UTF-8 text; save the file as UTF-8"),
]
# fmt: on


@pytest.mark.parametrize(("piece", "instead", "gist"), BROKEN_FILES, ids=range(len(BROKEN_FILES)))
def test_broken_file(piece: str, instead: str, gist: str, tmp_path: Path) -> None:
    assert GOOD.count(piece) == 1
    path = tmp_path / "broken.toml"
    path.write_bytes(GOOD.replace(piece, instead).encode("utf-8", "surrogateescape"))
    (fault,) = faults(path)
    assert said(gist, fault)


# fmt: off
BROKEN_SLURM = [
    ("queue", '"two words"', "'two words' is not a partition, in quotes, without spaces"),
    ("queue", '""', "'' is not a partition"),
    ("account", '"lab\\nmine"', r"'lab\nmine' is not an account, in quotes, without spaces"),
    ("interface", '"ib 0"', "'ib 0' is not the name of a network, in quotes, without spaces"),
    *(("walltime", f'"{text}"', f"{text!r} is not a time in the format of SLURM")
      for text in ("soon", "", "2 h", "1:2:3:4", "1-", "00:61:00", "00:60", "-5", "1-2:3:4:5")),
    ("walltime", "60", "60 is not a time in the format of SLURM"),
    *(("memory", f'"{text}"', f"{text!r} is not an amount above 0 with its unit: \"8 GB\"")
      for text in ("lots", "0 GB", "0.0GB", "8", "", "GB", "-8 GB", "8 foos", "8 GB 2", "8\tGB")),
    ("extra", '["#SBATCH --x"]', "'#SBATCH --x' in the list is wrong; expected a list of options"),
    ("extra", '["--x", "rm -r"]', "'rm -r' in the list is wrong; expected a list of options"),
    ("extra", '["--x\\nrm"]', r"'--x\nrm' in the list is wrong; expected a list of options"),
    ("extra", '"--x"', "'--x' is not a list of options"),
    ("prologue", "[1]", '1 in the list is wrong; expected a list of commands: ["module load gcc"]'),
]
GOOD_SLURM = {
    "queue": ["batch", "a,b"],
    "walltime": ["90", "90:00", "02:00:00", "100:00:00", "1-12", "1-12:30", "1-12:30:59"],
    "memory": ["8 GB", "8GB", "0.5 TiB", "1.GB", ".5 gb", "4G", "4 gi", "1000000000 B"],
    "extra": [[], ["--constraint=avx512", "-x node7", "--exclusive"]],
    "prologue": [[], ["module load gcc", "if true\nthen echo\nfi"]],
}
# fmt: on


@pytest.mark.parametrize(("key", "text", "gist"), BROKEN_SLURM, ids=range(len(BROKEN_SLURM)))
def test_broken_table_of_slurm(key: str, text: str, gist: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(f"{GOOD}\n[run.slurm]\n{key} = {text}\n", encoding="utf-8")
    (fault,) = faults(path)
    assert fault.startswith(f"[run.slurm] {key}: ")
    assert gist in fault


def test_all_faults_of_the_slurm_table_are_reported_at_once(tmp_path: Path) -> None:
    last = {key: text for key, text, _ in BROKEN_SLURM}
    path = tmp_path / "broken.toml"
    lines = "".join(f"{key} = {text}\n" for key, text in last.items())
    path.write_text(f"{GOOD}\n[run.slurm]\n{lines}")
    assert [fault.split()[1] for fault in faults(path)] == [f"{key}:" for key in last]


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in GOOD_SLURM.items() for value in values]
)
def test_values_that_slurm_accepts_are_accepted(key: str, value: object) -> None:
    request = load({**mapping(), "run": {"slurm": {key: value}}})
    assert request.options.slurm == {key: value}
    if key == "memory":
        assert parse_bytes(str(value)) > 0  # as dask-jobqueue reads it


# fmt: off
BROKEN_AXES = [
    (3, "3 is not a table; write friction = { values = [...] }"),
    ([1, "x"], "value 2: 'x' is not a number with a unit"),
    ({"linspace": [0, 1, 0]}, "the count of linspace is 0; it has to be a whole number from 1"),
    ({"linspace": [0, "1 kg", 3]}, "last: '1 kg' has the wrong dimension"),
    ({"linspace": [1, -1, 3]}, "last: -1 is out of range; it has to be at least 0"),
    ({"values": 3}, "values: 3 is not a list of values"),
    ({"values": [[1, 2]]}, "value 1: [1, 2] is not a number"),
    ({"values": [0.1, -0.2]}, "value 2: -0.2 is out of range; it has to be at least 0"),
    ({"values": [0.1, "x", None, True, "1 m"]}, "value 2: 'x' is not a number with a unit"),
    ({"values": [0.1, "x", None, True, "1 m"]}, "value 4: true is not a number; and 1 more; "
     "write a plain number"),
    ({"values": ["x", None, True]}, "value 3: true is not a number; write a plain number$"),
    ({"linspace": [1.5, 1.5, 3]}, "value 1.5 occurs twice; give a smaller count, or ends further"),
    ({"geomspace": [1, 1 + 2**-52, 9]}, "occurs twice; give a smaller count"),
    ({"file": "b.csv", "column": "mu"}, "file 'b.csv' cannot be read: No such file"),
    ({"file": ".", "column": "mu"}, "file '.' is not a file; name a CSV file"),
    ({"file": "\0", "column": "mu"}, "cannot be read: embedded null"),
]
BROKEN_COLUMNS = [
    ("mus,a\n1,2\n", "column 'mu' is missing; did you mean 'mus'?"),
    ("mu,mu\n1,2\n", "column 'mu' occurs more than once"),
    ("a,mu\n1,2\n1\n", "line 3: '' is not a number"),
    ("mu\n1\n# but\n-1\n", "line 4: -1.0 is out of range; it has to be at least 0"),
    ("mu\n1_0\n", "line 2: '1_0' is not a number"),
    ("mu\n\udcff\n", "is not UTF-8 text"),
    ('mu\n"' + "1" * (csv.field_size_limit() + 1) + '"\n', "cannot be read: field larger than"),
]
# fmt: on


@pytest.mark.parametrize(("table", "gist"), BROKEN_AXES, ids=range(len(BROKEN_AXES)))
def test_broken_axis(table: object, gist: str) -> None:
    (fault,) = faults(mapping(friction=table))
    assert fault.startswith("[axes] friction: ")
    assert gist in f"{fault}$"


@pytest.mark.parametrize(("content", "gist"), BROKEN_COLUMNS, ids=range(len(BROKEN_COLUMNS)))
def test_broken_column(content: str, gist: str, tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    (fault,) = faults(mapping(friction={"file": str(path), "column": "mu"}))
    assert fault.startswith(f"[axes] friction: file {str(path)!r}")
    assert gist in fault


# fmt: off
BROKEN_OVERRIDES = [
    ("", "write name=value"),
    ("friction={ values = [.1, 2.] }", "is not a TOML value; TOML needs a digit on both sides"),
    ("friction=1\nmass=2", "is not a TOML value"),
    ("friction=[0.1, 0.1]", "override friction: the value 0.1 occurs twice"),
    ("friction={ values = [-1] }", "override friction: value 1: -1 is out of range"),
    ("window_end=4", "window_start: 4.0: the window is empty; it has to be less than"),
    ("vertical_acceleration=10", "vertical_acceleration: 10.0: the mass lifts off; it has"),
]
# fmt: on


@pytest.mark.parametrize(("override", "gist"), BROKEN_OVERRIDES)
def test_broken_override(override: str, gist: str) -> None:
    (fault,) = faults(mapping(), override)
    assert gist in fault


@pytest.mark.parametrize(
    ("source", "gist"),
    [
        ("wear_powr", "and no shipped sweep file of that name; did you mean 'wear_power'?"),
        ("nowhere/sdnd10.toml", "did you mean 'sdnd104'?"),
        ("zzz", "choose one of " + ", ".join(shipped_configs())),
        ("x\0y", "cannot be read"),
        (".", "this is a folder; give the path of a TOML file in it"),
        ("y" * 5000, "is not the path of a sweep file"),
        (3, "3 is not the path of a sweep file"),
        (None, "None is not the path of a sweep file"),
        ({"parameters": 3, "model": "friction_oscillator"}, "[parameters]: 3 is not a table"),
    ],
)
def test_broken_source(source: object, gist: str) -> None:
    assert gist in faults(source)[0]


def test_an_unreadable_file_is_reported_with_the_systems_reason(tmp_path: Path) -> None:
    loop = tmp_path / "loop.toml"
    loop.symlink_to(loop)  # works as root too, unlike permissions
    (fault,) = faults(loop)
    assert "cannot be read: Too many levels of symbolic links" in fault


def test_as_many_points_as_a_store_can_hold_are_accepted() -> None:
    most = mapping(mass={"linspace": [1, 2, 2**20]}, friction={"linspace": [1, 2, 50_000]})  # of 2
    assert load(most).sweep.n_points == 104_857_600_000


@pytest.mark.parametrize("spacing", ["linspace", "geomspace"])
def test_a_grid_that_is_too_large_is_refused_before_its_values_are_made(spacing: str) -> None:
    axis = {spacing: [1, 2, 10**8]}  # 0.8 GB
    tracemalloc.start()
    try:
        (fault,) = faults(mapping(mass=axis, friction=axis))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert fault.startswith("[axes]: 20,000,000,000,000,000 points are more than 104,857,600,000")
    assert peak < 20e6


def test_a_store_of_an_earlier_version_may_have_a_value_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, axis = tmp_path / "map.zarr", {"linspace": [1.5, 1.5, 3]}
    with monkeypatch.context() as earlier:
        earlier.setattr(axes_table, "_repetition", lambda _: None)
        Store.create(path, load(mapping(mass=axis)).sweep, provenance={})
    axes = {each.name: each for each in load(path).sweep.axes}
    assert axes["mass"].columns["mass"][:3].tolist() == [1.5] * 3
    with pytest.raises(ConfigError, match=r"mass: the value 2\.0 occurs twice"):
        load(path, ["mass={ linspace = [2, 2, 3] }"])


def test_of_many_faults_the_first_ones_and_the_number_are_shown() -> None:
    """Though the error has them all."""
    wrong = {f"wrong_{i}": 1 for i in range(500)}
    with pytest.raises(ConfigError) as caught:
        load({**mapping(), **wrong})
    assert len(caught.value.faults) == 500
    headline, *lines, last = str(caught.value).splitlines()
    assert headline.endswith(": 500 faults, nothing was computed")
    assert (len(lines), last) == (100, "  and 400 more")


def test_mapping_that_holds_itself() -> None:
    source: dict[str, object] = {}
    source["model"] = source
    assert faults(source) == ["values are nested too deeply"]


def said(gist: str, message: str) -> bool:
    """Whether a message has these parts in this order, the dots standing for any words."""
    return bool(re.search(".*".join(map(re.escape, gist.split(" ... "))), message))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless device")
def test_an_endless_device_is_refused() -> None:
    with pytest.raises(ConfigError, match="it is a device, and reading it may never end; give a f"):
        load("/dev/zero")
    axis = {"file": "/dev/zero", "column": "friction"}
    with pytest.raises(ConfigError, match="'/dev/zero' is not a file"):
        load({"model": "friction_oscillator", "axes": {"friction": axis}})


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.toml"
    path.touch()
    os.truncate(path, 2**40)  # it has a hole
    with pytest.raises(ConfigError, match="larger than 64 MiB; put long axes into CSV files"):
        load(path)


def test_contradictions_along_an_axis_are_left_to_the_points() -> None:
    sweep = load(mapping(vertical_acceleration={"values": [0, 20]})).sweep
    assert sweep.grid.shape == (2, 2)


@pytest.mark.parametrize("table", ["", "parameters", "axes", "sample", "run"])
def test_near_names_are_looked_up_only_for_the_faults_that_are_printed(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200,000 wrong keys used to take 7 s."""
    looked_up: list[str] = []

    def look_up(name: str, known: list[str], n: int) -> list[str]:
        looked_up.append(name)
        return get_close_matches(name, known, n)

    monkeypatch.setattr("sweep.text.wording.get_close_matches", look_up)
    keys = {f"mas{i}": 1.0 for i in range(1000)}
    wrong = {"model": "friction_oscillator", **({table: keys} if table else keys)}
    with pytest.raises(ConfigError) as caught:
        load(wrong)
    assert len(caught.value.faults) >= 1000
    assert 0 < len(looked_up) <= MAX_FAULTS_SHOWN
    assert "did you mean 'mass'?" in str(caught.value) or table in ("", "run")
    assert "more" in str(caught.value).splitlines()[-1]
