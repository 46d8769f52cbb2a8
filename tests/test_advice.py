"""Messages that users can follow: hints, warnings, and errors as JSON."""

from __future__ import annotations

import ast
import json
import math
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import sweep
from sweep.errors import StoreError, SweepWarning
from sweep.file import load
from sweep.file.stored import tables_of, text_of
from sweep.model.shipped import configs_folder
from sweep.points.recipes import fingerprint, recipe
from sweep.store.store_files import files_of
from sweep.text.wording import install
from tests.command import CHECKOUT, Run

SMOKE = configs_folder() / "smoke"


@pytest.mark.parametrize("phase", [90, -7.0])
def test_an_angle_beyond_a_full_turn_is_suspicious(phase: float) -> None:
    with pytest.warns(SweepWarning, match=f'"{phase:g} deg"'):
        load("hanisch_fig3", [f"phase={phase}"])
    with pytest.warns(SweepWarning, match='"360 deg"'):
        load("hanisch_fig4", ["phase={ linspace = [0, 360, 5] }"])


def test_a_warning_points_at_the_caller_once_per_axis() -> None:
    with pytest.warns(SweepWarning, match='"90 deg"') as caught:
        load("hanisch_fig4", ["phase={ values = [0, 90, 180, 270] }"])
    assert [each.filename for each in caught] == [__file__]


def test_angles_with_a_unit_and_full_turns_are_not_suspicious() -> None:
    """Warnings are errors here."""
    for phase in ('"90 rad"', '"400 deg"', repr(2 * math.pi), repr(-2 * math.pi)):
        load("hanisch_fig3", [f"phase={phase}"])


@pytest.mark.usefixtures("quick_probe")
def test_the_command_line_prints_warnings_in_one_line(run: Run) -> None:
    assert run("run", "hanisch_fig3", "--set", "phase=90", "--dry-run")[2].startswith(
        "warning: phase = 90 is in rad"
    )


# Python and the command line.

OPTION = re.compile(r"(?<![\w-])--[a-z]| -o\b")
COMMAND = re.compile("`[^`]*`")
# A command's own messages, and places in sweep files, which quote what was typed.
TYPED = {"cli", "file", "request"}


def test_messages_name_arguments_and_no_options() -> None:
    """`chunk_points` and not --chunk-points, which means nothing in Python."""
    package = CHECKOUT / "sweep"
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] in TYPED:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = getattr(node, "func", None)
            if isinstance(node, ast.Raise) or getattr(called, "id", None) in (
                "warn",
                "MachineError",
            ):
                texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
                message = COMMAND.sub("", " ".join(map(str, texts)))
                assert not OPTION.search(message), (path, message)


# JSON.


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "wear_power", "--set", "mass=-1", "--json"),
        ("show", "nowhere.zarr", "--json"),
        ("plot", "nowhere.zarr", "--nonsense", "--json"),
    ],
)
def test_errors_are_json_where_json_is_requested(run: Run, arguments: tuple[str, ...]) -> None:
    status, out, err = run(*arguments)
    (line,) = out.splitlines()
    error = json.loads(line)
    assert (status, error["event"], error["exit_status"]) == (2, "error", 2)
    assert error["message"].splitlines()[0] in err
    assert bool(error["faults"]) == ("mass=-1" in arguments)


# A store without its sweep file.


def test_a_store_is_resumed_without_its_file(run: Run, tmp_path: Path) -> None:
    options = ("--set", "mass=2", "-o", "kept/a.zarr", "--chunk-points", "7")
    assert run("run", str(SMOKE / "wear_power.toml"), *options)[0] == 0
    files = (tmp_path / "kept/a.zarr/status/c").rglob("*")
    next(file for file in files if file.is_file()).unlink()
    out = run("status", "kept/a.zarr")[1]
    assert "next: sweep run kept/a.zarr (resumes)" in out
    status, out, _ = run("run", "kept/a.zarr")
    assert status == 0
    assert out.startswith("kept/a.zarr: 35 points, 7 of them now")
    assert not (tmp_path / "results").exists()
    assert sweep.run(tmp_path / "kept/a.zarr")["mass"] == 2


def test_a_changed_sweep_of_a_store_has_a_store_of_its_own(run: Run, tmp_path: Path) -> None:
    run("run", str(SMOKE / "wear_power.toml"), "-o", "a.zarr")
    out = run("run", "a.zarr", "--set", "mass=3")[1]
    assert out.startswith("results/a-mass=3.zarr: 35 points")


@pytest.mark.parametrize(
    "name", ["wear_power", "wear_power_sample", "wear_power_refined", "forced_impact_map"]
)
def test_the_sweep_file_of_a_store_gives_the_same_sweep(name: str, tmp_path: Path) -> None:
    request = load(SMOKE / f"{name}.toml")
    written = tmp_path / "again.toml"
    written.write_text(text_of(tables_of(request.sweep, name)))
    again = load(written)
    assert fingerprint(recipe(again.sweep)) == fingerprint(recipe(request.sweep))


def test_show_prints_the_sweep_file(run: Run, tmp_path: Path) -> None:
    run("run", str(SMOKE / "wear_power.toml"), "--set", "mass=2", "-o", "a.zarr")
    status, out, err = run("show", "a.zarr", "--config")
    assert (status, err) == (0, "")
    assert tomllib.loads(out)["parameters"]["mass"] == 2
    assert all(tomllib.loads(out).values())  # no empty table
    (tmp_path / "again.toml").write_text(out)
    assert "nothing to do" in run("run", "again.toml", "-o", "a.zarr")[1]
    assert json.loads(run("show", "a.zarr", "--config", "--json")[1])["parameters"]["mass"] == 2


def test_the_sweep_file_of_a_store_quotes_names_that_need_it() -> None:
    """The parameters and outputs of a package's model are named as C++ allows."""
    tables = {"format": 1, "parameters": {"durée": 2.0}, "axes": {"µ": {"values": [1, 2]}}}
    assert tomllib.loads(text_of(tables)) == tables


# What to install.


def test_a_missing_package_is_named_with_a_command_that_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The package itself is on no index, so its extras cannot be installed by its name."""
    assert install("parquet").startswith("pip install 'pyarrow")
    assert "tribosweep[" not in install("s3")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    # Where another test has used it, fsspec has it still.
    monkeypatch.delitem(vars(import_module("fsspec.registry"))["_registry"], "s3", raising=False)
    with pytest.raises(StoreError, match=r"not installed.*pip install 's3fs"):
        files_of("s3://bucket/a.zarr")
    with pytest.raises(StoreError, match="install it with pip"):
        files_of("gs://bucket/a.zarr")
