"""Every command does what its help says, and refuses what is wrong in one message."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.main import get_command

from sweep import api
from sweep.cli.app import COMMANDS, app
from sweep.cli.printing import finite
from sweep.engine.ledger import failed_arrays
from sweep.file.model_file import known_models
from sweep.kernel.source import Kernel, kernel_text
from sweep.model.shipped import configs_folder, shipped_configs
from sweep.model.table import Status
from sweep.model.tables import models
from sweep.store import Store
from sweep.text.wording import duration, rate, share
from tests.command import CHECKOUT, MODULE, Run, Terminal, environment, fresh_sweep_command
from tests.points.test_chunking import sweep_over
from tests.store.test_store import SWEEP, create, finish, results_of

SMOKE = str(configs_folder() / "smoke" / "wear_power.toml")
HEAVY = ("numpy", "scipy", "xarray", "dask", "zarr", "matplotlib", "pint", "pandas")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = create(tmp_path_factory.mktemp("cli") / "a.zarr")
    finish(store)
    return store


def test_each_command_has_a_module_of_its_name() -> None:
    modules = [(CHECKOUT / "sweep" / "cli" / f"{name}_command.py") for name in COMMANDS]
    assert sorted(modules) == sorted((CHECKOUT / "sweep" / "cli").glob("*_command.py"))
    assert [module for module, _ in COMMANDS.values()] == [
        f"sweep.cli.{name}_command" for name in COMMANDS
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_has_the_first_sentence_of_each_command(name: str) -> None:
    """`sweep --help` prints the table, and `sweep NAME --help` the docstring."""
    group: Any = get_command(app)
    assert group.get_command(None, name).help.splitlines()[0] == COMMANDS[name][1]


def options_of(name: str) -> dict[str, Any]:
    """The options of a command by each of their names."""
    group: Any = get_command(app)
    params = group.get_command(None, name).params
    return {option: each for each in params for option in each.opts}


# Where the result of a command goes, and suffixes that it may have.
RESULTS = {
    "run": ("STORE", ""),
    "wear": ("STORE", ""),
    "plot": ("FILE", ".png, .pdf, .svg"),
    "explore": ("FILE", ".html"),
    "export": ("FILE", ".nc, .csv or .parquet"),
    "trace": ("FILE", ".nc, .zarr, .csv, .png, .pdf or .svg"),
    "fit": ("FOLDER", ""),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_place_of_a_result_has_one_option(name: str) -> None:
    """`-o` and `--output`: the help says what is written there, in which formats, by default."""
    options = options_of(name)
    assert ("-o" in options) == ("--output" in options) == (name in RESULTS)
    if name in RESULTS:
        kind, suffixes = RESULTS[name]
        output = options["-o"]
        assert output is options["--output"]
        assert output.metavar == kind
        assert suffixes in output.help
        assert output.required == ("Default: " not in output.help)
        assert ("--store" in output.opts) == (kind == "STORE")  # as in earlier versions


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_json(name: str) -> None:
    assert "--json" in options_of(name)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(run: Run, name: str) -> None:
    status, out, err = run(name, "--help")
    assert (status, err) == (0, "")
    assert f"Examples:\n    sweep {name}" in out
    assert re.match(rf"Usage: sweep {name} \[OPTIONS\]( [A-Z\[\].|]+| -o FILE)*\n", out)
    assert not re.search("<str>|<list|<path>", out)


def test_every_command_is_in_the_documents() -> None:
    listed = (CHECKOUT / "docs" / "how_to" / "use_commands.md").read_text(encoding="utf-8")
    assert {*re.findall(r"^\| \[`sweep (\w+)\b", listed, re.MULTILINE)} == {*COMMANDS}


def test_help_fits_on_a_terminal_and_lists_exit_statuses(run: Run) -> None:
    _, out, _ = run("--help")
    assert "..." not in out.replace("[ARGS]...", "")
    for status in ("0 ", "1 ", "2 ", "3 ", "70 ", "130 ", "143 "):
        assert f"\n    {status}" in out


def reported_by(code: str) -> str:
    """What a new process of Python prints to standard error."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    return done.stderr


def test_help_imports_nothing_heavy_and_is_quick() -> None:
    code = (
        "import sys, time; began = time.process_time(); from sweep.cli import main\n"
        "assert main(['--help']) == 0\n"
        "print(time.process_time() - began, *sys.modules, file=sys.stderr)"
    )
    seconds, *modules = reported_by(code).split()
    assert not set(HEAVY) & set(modules)
    assert not [name for name in modules if name.endswith("_command")]
    assert float(seconds) < 0.5  # of the processor: 0.06 s on an idle core


# Of other models and options, and of workers in other processes.
NEEDLESS = {
    *("distributed", "tornado", "sweep.pictures.comparison", "sweep.results.wear_over_years"),
    *("sweep.kernel.cupy_device", "sweep.equations.cpp_header"),
}


@pytest.mark.broad
def test_a_plain_plot_and_run_import_no_more_than_they_need(
    finished: Store, tmp_path: Path
) -> None:
    path, picture = str(finished.path), str(tmp_path / "picture.png")
    code = (
        "import sys; from sweep.cli import main\n"
        f"assert main(['plot', {path!r}, '-o', {picture!r}]) == 0\n"
        "print(*sys.modules, file=sys.stderr)\n"
        f"assert main(['run', {path!r}]) == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    plot, run = (set(line.split()) for line in reported_by(code).splitlines())
    of_runs = {"sweep.kernel.opening", "sweep.kernel.cpu", "sweep.file", "sweep.engine.loop"}
    assert plot & (NEEDLESS | of_runs) == set()
    assert run & NEEDLESS == set()
    spelled_so = {"sweep.pictures.plots", "sweep.engine.loop", "sweep.kernel.cpu"}
    assert spelled_so <= run


def test_version_and_no_arguments(run: Run) -> None:
    assert re.fullmatch(r"tribosweep \S+\n", run("--version")[1])
    status, out, err = run()
    assert status == 2
    assert "Commands:" in out + err


def test_python_m_sweep_is_the_same_command(tmp_path: Path) -> None:
    done = fresh_sweep_command("example", "sdnd104", folder=tmp_path)
    assert done.stdout == shipped_configs()["sdnd104"].read_text(encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")


# What is typed, and what the message says. None leaves a file behind, nor shows a traceback.
BROKEN: Sequence[tuple[Sequence[str], str]] = (
    (["runn"], "there is no command 'runn'; did you mean 'run'?"),
    (["run"], "missing argument 'FILE' usage: sweep run [OPTIONS] FILE;"),
    (["run", SMOKE, "--wrokers", "2"], "no option '--wrokers'; did you mean '--workers'?"),
    (["run", SMOKE, "again"], "'again' is one argument too many"),
    (["run", SMOKE, "friction=0.2"], "one argument too many: write --set friction=0.2"),
    (["trace", SMOKE, "--samples", "many"], "'--samples': give a whole number"),
    (["run", "."], "this is a folder"),
    (["run", SMOKE, "--cluster", "tcp://a", "--dry-run"], "'tcp://a' is not"),
    (["run", SMOKE, "--workers", "0"], "invalid value for '--workers'"),
    (["run", SMOKE, "--backend", "cuda"], "'cuda'"),
    (["run", ""], "FILE is empty; is a shell variable unset?"),
    (["run", SMOKE, "--set"], "'--set' requires an argument"),
    (["run", SMOKE, "--set", "mass=0", "--set", "gravty=1"], "2 faults"),
    (["extend", "memory://a.zarr", SMOKE], "no store 'memory://a.zarr'"),
    (["run", SMOKE, "-o", SMOKE], "is a file, not a store"),
    (["run", SMOKE, "-o", str(configs_folder())], "is a folder but no store"),
    (["status", "a.zarr"], "a.zarr'; `sweep run` makes one"),
    (["trace", SMOKE, "-o", ""], "--output is empty; is a shell variable unset"),
    (["show", SMOKE], "is a file, not a store"),
    (["plot", "/"], "'/' is a whole disk, not a store"),
    (["plot", "a.zarr", "--at", "friction"], "'friction' is not NAME=VALUE"),
    (["plot", "a.zarr", "--at", "friction=1", "--at", "friction=2"], "friction is given twice"),
    (["export", "a.zarr"], "'--output' / '-o' usage: sweep export [OPTIONS] STORE -o FILE;"),
    (["example", "wear_powr"], "there is no sweep file 'wear_powr'; did you mean 'wear_power'?"),
    (["models", "oscillator"], "there is no model 'oscillator'; did you mean"),
    (["source", "friction_oscilator", "exact"], "did you mean 'friction_oscillator'?"),
    (["source", "friction_oscillator", "exakt"], "did you mean 'exact'?"),
    (["source", "friction_oscillator", "exact", "--parameter-set", "cycle"], "'cycles'?"),
)


@pytest.mark.parametrize(("arguments", "message"), BROKEN, ids=lambda value: str(value)[-60:])
def test_a_broken_command_line_is_refused(
    run: Run, tmp_path: Path, arguments: Sequence[str], message: str
) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in " ".join(err.split())
    assert len(re.findall("^error: ", err, re.MULTILINE)) == 1
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_two_outputs_to_plot_are_refused(run: Run, finished: Store, tmp_path: Path) -> None:
    status, _, err = run("plot", str(finished.path), "slip_distance", "wear_power")
    assert status == 2
    assert "slip_distance, wear_power are no stores, and one output" in err
    assert list(tmp_path.iterdir()) == []


def test_a_bug_in_the_program_is_one_line_or_a_traceback(
    run: Run, bug: Callable[[Exception], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    bug(RuntimeError("what is this"))
    status, _, err = run("models")
    assert status == 70
    assert err.startswith("error: unexpected RuntimeError: what is this\n")
    assert "TRIBOSWEEP_DEBUG=1" in err
    assert "Traceback" not in err
    bug(OSError(errno.EAGAIN, "Resource temporarily unavailable"))  # not an error of the output
    status, _, err = run("models")
    assert (status, "standard output" in err) == (70, False)
    monkeypatch.setenv("TRIBOSWEEP_DEBUG", "1")
    assert "in broken" in run("models")[2]


@pytest.mark.parametrize("buffering", ["", "1"])
def test_a_closed_pipe_gives_no_message(tmp_path: Path, buffering: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*MODULE, "example"],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(**({"PYTHONUNBUFFERED": buffering} if buffering else {})),
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_example_lists_and_prints_the_shipped_files(run: Run) -> None:
    _, out, _ = run("example")
    for name, path in shipped_configs().items():
        text = path.read_text(encoding="utf-8")
        comment = " ".join(line.lstrip("# ") for line in text.partition("\nformat")[0].splitlines())
        (about,) = re.findall(rf"^{name} +(.*)$", out, re.MULTILINE)
        assert about.endswith(".")  # a whole sentence, in which the version of a code may stand
        assert ". " not in about
        assert comment.startswith(about)
        assert run("example", name)[1] == text
    entries = json.loads(run("example", "--json")[1])
    assert [entry["name"] for entry in entries] == list(shipped_configs())
    assert set(entries[0]) == {"name", "about", "text"}


@pytest.mark.broad
@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("plot a.zarr -o a.png", {"MPLBACKEND": "nonsense", "DASK_SCHEDULER": "nonsense"}),
        ("models friction_oscillator", {"PYTHONIOENCODING": "ascii"}),  # it prints other characters
        pytest.param("status a.zarr", {"DASK_SCHEDULER": "distributed"}, marks=pytest.mark.broad),
    ],
)
def test_a_command_works_whatever_the_environment_names(
    finished: Store, tmp_path: Path, command: str, changes: dict[str, str]
) -> None:
    shutil.copytree(finished.path, tmp_path / "a.zarr")
    done = fresh_sweep_command(*command.split(), folder=tmp_path, **changes)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.png").exists() == command.startswith("plot")


@pytest.mark.broad
@pytest.mark.parametrize("command", ["show", pytest.param("status", marks=pytest.mark.broad)])
def test_unreadable_dask_settings_are_reported_as_such(
    finished: Store, tmp_path: Path, command: str
) -> None:
    """Not as a damaged store, nor as a fault of the program."""
    settings = tmp_path / "own.yaml"
    settings.write_text("a: [1,\n b: {")
    done = fresh_sweep_command(command, finished.path, folder=tmp_path, DASK_CONFIG=str(settings))
    assert done.returncode == 3
    assert done.stderr.startswith(f"error: A dask config file at '{settings}' is malformed")
    assert "Dask configuration file" in done.stderr


def test_control_characters_of_a_store_are_escaped(
    run: Run, finished: Store, tmp_path: Path
) -> None:
    """They could rewrite what the terminal shows."""
    copy = shutil.copytree(finished.path, tmp_path / "hostile.zarr")
    metadata = json.loads((copy / "zarr.json").read_text())
    for key in ("title", "source", "method"):
        metadata["attributes"][key] = f"{metadata['attributes'][key]}\x1b[2J\x9b1m\u202e"
    (copy / "zarr.json").write_text(json.dumps(metadata))
    status, out, err = run("show", str(copy))
    assert (status, err) == (0, "")
    assert out.count("\\x1b[2J\\x9b1m\\u202e") == 3
    assert not set("\x1b\x9b\u202e") & set(out)


@pytest.mark.skipif(sys.platform == "win32", reason="no shell scripts")
def test_control_characters_of_an_error_are_escaped(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a compiler prints, whose message is shown."""
    hostile = tmp_path / "c++"
    hostile.write_text(
        "#!/bin/sh\n[ $1 = --version ] || { printf 'a\\033[2Jb\\nc' >&2; exit 1; }\n"
    )
    hostile.chmod(0o755)
    monkeypatch.setenv("TRIBOSWEEP_CXX", str(hostile))
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(tmp_path / "cache"))
    status, _, err = run("compile", "sdnd122")
    assert (status, err.partition("\n")[2]) == (3, "a\\x1b[2Jb\nc\n")


def test_models_prints_the_whole_table(run: Run) -> None:
    _, out, _ = run("models")
    _, table, _ = run("models", "friction_oscillator")
    for model in models().values():
        assert model.name in out
    model = models()["friction_oscillator"]
    sets = [parameter for each in model.parameter_sets for parameter in each.parameters]
    for parameter in (*model.parameters, *sets):
        (line,) = [line for line in table.splitlines() if line.startswith(f"{parameter.name} ")]
        assert parameter.unit in line
        assert line.endswith(parameter.meaning)
    assert "above 0 kg" in table
    for part in (*model.methods, *model.outputs):
        assert part.name in table
    for sentence in model.sentences.values():
        assert sentence in table


def test_json_distinguishes_an_infinite_value_from_a_missing_one(run: Run, tmp_path: Path) -> None:
    contacts = """
    format = 1
    model = "mdr_contact"
    [parameters]
    phase = 1
    beta = inf
    delta = 0.1
    """
    (tmp_path / "stuck.toml").write_text(contacts)
    assert run("run", "stuck.toml", "-o", "stuck.zarr", "--set", "delta=5")[0] == 0
    summary = json.loads(run("show", "stuck.zarr", "--json")[1], parse_constant=pytest.fail)
    assert {p["name"]: p["value"] for p in summary["parameters"]}["beta"] == "Infinity"
    (entry,) = json.loads(run("models", "friction_oscillator", "--json")[1])
    euler = next(method for method in entry["methods"] if method["name"] == "euler")
    defaults = {p["name"]: p["default"] for p in euler["parameters"]}
    assert (defaults["tolerance"], defaults["step"]) == ("Infinity", None)
    values = finite([math.inf, -math.inf, math.nan, 1.5])
    assert values == ["Infinity", "-Infinity", None, 1.5]


def test_no_name_is_cut_off_on_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for model in models().values():
        with redirect_stdout(Terminal()) as terminal:
            assert run("models", model.name)[0] == 0
        table = terminal.getvalue()
        assert "…" not in table
        words = set(table.split())
        sets = [parameter for each in model.parameter_sets for parameter in each.parameters]
        own = [parameter for each in model.methods for parameter in each.parameters]
        for parameter in (*model.parameters, *sets, *own, *model.outputs):
            assert parameter.name in words


def test_models_as_json(run: Run) -> None:
    entries = json.loads(run("models", "--json")[1])
    assert [entry["name"] for entry in entries] == list(known_models())
    (entry,) = json.loads(run("models", "friction_oscillator", "--json")[1])
    assert entry in entries
    assert {"parameters", "parameter_sets", "methods", "outputs", "statuses"} <= set(entry)
    mass = entry["parameters"][0]
    assert mass["minimum"] == 0
    assert mass["maximum"] is None  # there is none
    assert mass["default"] is None
    exact, euler, *_ = entry["methods"]
    assert {"name", "summary", "parameters"} <= set(exact)
    derived = next(p for p in euler["parameters"] if p["name"] == "tangential_damping")
    assert derived["default"] is None
    assert derived["derived"].startswith("critical")
    assert [output["unit"] for output in entry["outputs"]][:2] == ["W", "W"]
    assert {"name": "pending", "code": 255} in [
        {key: status[key] for key in ("name", "code")} for status in entry["statuses"]
    ]


@pytest.mark.parametrize("name", [None, "seconds", "cycles"])
def test_source_is_the_text_that_is_compiled(run: Run, name: str | None) -> None:
    model = models()["friction_oscillator"]
    sets = {each.name: each for each in model.parameter_sets}
    kernel = Kernel(
        model=model,
        method=model.methods[0],
        parameter_set=sets[name or "seconds"],
        outputs=model.outputs,
    )
    chosen = () if name is None else ("--parameter-set", name)
    assert run("source", "friction_oscillator", "exact", *chosen) == (0, kernel_text(kernel), "")
    printed = json.loads(run("source", "friction_oscillator", "exact", *chosen, "--json")[1])
    assert printed.pop("text") == kernel_text(kernel)
    assert {"method": "exact", "backend": "cpu"}.items() <= printed.items()
    assert printed["parameter_set"] == kernel.parameter_set.name


@pytest.mark.usefixtures("installed_once")
def test_doctor_says_whether_the_machine_can_compute(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, _ = run("doctor")
    assert status == 0
    assert "this machine can compute" in out
    monkeypatch.setenv("TRIBOSWEEP_CXX", "/nowhere/g++")
    status, out, _ = run("doctor", "--json")
    report = json.loads(out)
    assert (status, report["can_compute"]) == (3, False)
    assert {"python", "tribosweep", "numpy", "zarr", "xarray", "dask"} <= set(report["versions"])
    problems = {each["subject"]: each["problem"] for each in report["findings"] if each["stops"]}
    assert "pip install 'ziglang" in problems["compiler"]


def test_status_of_a_finished_store(run: Run, finished: Store) -> None:
    status, out, _ = run("status", str(finished.path), "--verify")
    assert status == 0
    assert "70 of 70 points done (100.0 %), 3 of 3 chunks" in out
    assert f"6 of 70 points diverged: {SWEEP.model.sentences[Status.diverged]}" in out
    assert "no chunk is damaged" in out
    assert f"next: sweep plot {finished.path}" in out


def test_status_of_an_unfinished_store_as_json(run: Run, tmp_path: Path) -> None:
    store = create(tmp_path / "a.zarr")
    chunk = store.pending()[0]
    store.write(chunk, results_of(SWEEP, chunk))
    written = {"time": "2026-01-01T00:00:00+00:00", "chunk": [0, 0], "points": 28, "seconds": 2.0}
    store.append_receipt(written)
    out = run("status", "a.zarr")[1]
    assert "next: sweep run a.zarr (resumes" in out
    assert " of 70 points ok" in out  # "28 of 28 points ok" would belie the 40 % above
    assert "of 28" not in out
    progress = json.loads(run("status", "a.zarr", "--json")[1])
    assert (progress["points_done"], progress["points_total"]) == (28, 70)
    assert (progress["chunks_done"], progress["chunks_total"]) == (1, 3)
    assert progress["points_per_second"] == 14
    assert progress["seconds_left"] == 3
    assert progress["damaged"] is None
    assert progress["status"]["pending"] == {
        "points": 42, "sentence": SWEEP.model.sentences[Status.pending],
    }  # fmt: skip


def test_status_recommends_no_plot_if_there_is_nothing_to_draw(run: Run, tmp_path: Path) -> None:
    finish(create(tmp_path / "point.zarr", sweep_over()))
    store = create(tmp_path / "failed.zarr")
    for chunk in store.pending():
        store.write(chunk, failed_arrays(store, chunk))
    for name in ("point.zarr", "failed.zarr"):
        assert f"next: sweep show {name}\n" in run("status", name)[1]


def test_status_lists_damaged_chunks_and_how_to_repair_them(run: Run, tmp_path: Path) -> None:
    store = create(tmp_path / "a.zarr")
    finish(store)
    (tmp_path / "a.zarr" / "wear_power" / "c" / "1" / "0").unlink()
    assert run("status", "a.zarr")[0] == 0
    status, out, _ = run("status", "a.zarr", "--verify")
    assert status == 1
    assert "1 file is damaged:" in out
    (named,) = json.loads(run("status", "a.zarr", "--verify", "--json")[1])["damaged"]
    assert f"  {named['file']}: 28 points, friction[4:8], base_acceleration[0:7]\n" in out
    assert Path(named["file"]) == store.path / "wear_power/c/1/0"
    assert "next: sweep run a.zarr (computes these chunks again" in out
    assert [chunk.index for chunk in store.chunk_files.torn()] == [(1, 0)]


def test_show_prints_what_the_dataset_holds(run: Run, finished: Store) -> None:
    _, out, _ = run("show", str(finished.path))
    summary = json.loads(run("show", str(finished.path), "--json")[1])
    power = finished.dataset()["wear_power"].values
    (statistics,) = [output for output in summary["outputs"] if output["name"] == "wear_power"]
    assert (statistics["least"], statistics["greatest"]) == (np.nanmin(power), np.nanmax(power))
    assert statistics["mean"] == pytest.approx(np.nanmean(power), rel=1e-15)
    assert statistics["unit"] == "W"
    assert summary["dimensions"] == {"friction": 10, "base_acceleration": 7}
    axis = summary["axes"][1]
    assert (axis["least"], axis["greatest"], axis["unit"]) == (1.0, 15.0, "m/s^2")
    assert {"name": "gravity", "value": 10.0, "unit": "m/s^2"}.items() <= next(
        each for each in summary["parameters"] if each["name"] == "gravity"
    ).items()
    assert summary["status"]["diverged"]["points"] == 6
    assert summary["provenance"] == finished.dataset().attrs
    assert f"wear_power   {np.nanmin(power):.6g}  {np.nanmean(power):.6g}" in out
    assert finished.dataset().attrs["fingerprint"] in out
    assert "regime: stick " in out


def test_show_of_a_single_point_with_and_without_a_value(run: Run, tmp_path: Path) -> None:
    create(tmp_path / "a.zarr", sweep_over())
    status, out, _ = run("show", "a.zarr")
    assert status == 0
    assert re.search(r"wear_power +no values +W", out)
    (power, *_) = json.loads(run("show", "a.zarr", "--json")[1])["outputs"]
    assert power["least"] is None


@pytest.mark.parametrize(
    ("contact", "shown"),
    [
        ({"parameters": {"tangential_stiffness": 2000.0}}, "critical, 200 "),  # 2 √(m (k + K_T))
        ({"axes": {"tangential_stiffness": {"values": [2000.0, 3000.0]}}}, "critical "),
        ({"parameters": {"tangential_stiffness": 2000.0, "tangential_damping": 7.0}}, "7 "),
    ],
)
def test_show_names_the_rule_of_a_derived_default(
    run: Run, tmp_path: Path, contact: dict[str, Any], shown: str
) -> None:
    point = {
        "mass": 4.0, "gravity": 10.0, "friction": 0.1, "stiffness": 500.0, "step": 1e-3,
        "base_acceleration": 15.0, "angular_frequency": 30.0, "window_start": 0, "window_end": 1,
    }  # fmt: skip
    contact["parameters"] = point | contact.get("parameters", {})
    source = {"model": "friction_oscillator", "method": "euler", **contact}
    api.run(source, store=tmp_path / "a.zarr")
    status, out, _ = run("show", "a.zarr")
    assert status == 0
    assert re.search(rf"tangential_damping +{shown} +N s/m", out), out


def test_plot_writes_next_to_the_store_or_to_the_path_named(run: Run, tmp_path: Path) -> None:
    finish(create(tmp_path / "a.zarr"))
    for arguments, name in {
        (): "a.png",
        ("regime",): "a_regime.png",
        ("wear_power", "-o", "new/b.pdf", "--at", "friction=0.1"): "new/b.pdf",
    }.items():
        assert run("plot", "a.zarr", *arguments) == (0, f"{name}\n", "")
        head = (tmp_path / name).read_bytes()[:5]
        assert head.startswith((b"\x89PNG", b"%PDF-"))


def test_export_chooses_the_format_by_the_suffix(run: Run, tmp_path: Path, finished: Store) -> None:
    assert run("export", str(finished.path), "-o", "b.CSV") == (0, "b.CSV\n", "")
    assert (tmp_path / "b.CSV").read_bytes().startswith(b"friction")


def test_printed_quantities() -> None:
    assert [duration(s) for s in (0.634, 42.3, 200, 3600, 7500)] == [
        "0.63 s", "42 s", "3 min 20 s", "1 h 0 min", "2 h 5 min",
    ]  # fmt: skip
    assert [share(part) for part in (0, 1e-9, 0.5, 1 - 1e-9, 1)] == [
        "0.0 %", "below 0.1 %", "50.0 %", "above 99.9 %", "100.0 %",
    ]  # fmt: skip
    assert [rate(pace) for pace in (0.5, 834_210, 2_977_123)] == [
        "0.50 points/s", "834,000 points/s", "2,980,000 points/s",
    ]  # fmt: skip


@pytest.mark.broad
def test_bench_measures_the_requested_sweeps(run: Run) -> None:
    """Smoke: one sweep of each kind of method, the speed below what any machine has."""
    configs = [str(configs_folder() / "smoke" / f"{name}.toml") for name in ("sdnd104", "sdnd122")]
    status, out, err = run("bench", *configs, "--json")
    assert (status, err) == (0, "")
    measurements = json.loads(out)
    assert [each["name"] for each in measurements] == ["sdnd104", "sdnd122"]
    assert all(
        each["workers"] == 1 and 1 < each["points_per_second"] < 1e12 for each in measurements
    )
    status, out, err = run("bench", configs[0], "--set", "method=harmonic_balance")
    assert (status, out) == (2, "")
    assert "harmonic_balance" in err
