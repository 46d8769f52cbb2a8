"""Run options: one table, which files, Python and the command line share."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

import sweep
from sweep import api
from sweep.engine.workers import consistent
from sweep.errors import ConfigError, SweepError
from sweep.file import load
from sweep.model.table import Status
from sweep.request.options import OPTIONS, RunOptions
from tests.command import Run
from tests.test_api_arguments import BASE

# Of each option: a value other than the default, as a user gives it and as the engine reads it.
VALUES: dict[str, tuple[Any, Any]] = {
    "backend": ("cpu", "cpu"),
    "workers": (3, 3),
    "chunk_points": (7, 7),
    "cluster": ("tcp://node-1:8786", "tcp://node-1:8786"),
    "gpus": ("all", "all"),
    "shard": ("2/3", (2, 3)),
    "time_limit": ("55m", 3300.0),
    "durable": (True, True),
    "accept_revision": (True, True),
    "retry_failed": (True, True),
    "fail_fast": (True, True),
    "slurm": ({"queue": "long"}, {"queue": "long"}),
}


def test_the_engine_has_a_field_for_each_option_and_this_file_a_value() -> None:
    fields = [field.name for field in dataclasses.fields(RunOptions)]
    assert fields == list(OPTIONS)
    assert VALUES.keys() == OPTIONS.keys()


@pytest.mark.parametrize("name", VALUES)
def test_an_option_means_the_same_in_python_and_in_a_file(name: str) -> None:
    written, value = VALUES[name]
    options: dict[str, Any] = {name: written}
    assert getattr(api.with_options(load(BASE), **options).options, name) == value
    if OPTIONS[name].in_file:
        assert getattr(load({**BASE, "run": {name: written}}).options, name) == value
    else:
        with pytest.raises(ConfigError, match=rf"\[run\] {name}: .*; give `{name}` to the run"):
            load({**BASE, "run": {name: written}})


def test_help_and_documentation_describe_each_option(run: Run) -> None:
    printed = " ".join(run("run", "--help")[1].split())
    for name, option in OPTIONS.items():
        assert f"{name}: {option.meaning}" in str(sweep.run.__doc__)
        assert (option.meaning in printed) == option.on_command_line


def test_python_computes_a_shard(tmp_path: Any) -> None:
    """Of two points in chunks of one, shard 1 of 2 has the first."""
    results = sweep.run(BASE, store=tmp_path / "a.zarr", shard=(1, 2), chunk_points=1)
    assert results["status"].values.tolist() == [Status.ok, Status.pending]


def test_an_unknown_option_is_refused_with_the_nearest_one() -> None:
    misspelt: dict[str, Any] = {"wrokers": 2}
    with pytest.raises(SweepError, match=r"wrokers.* did you mean 'workers'"):
        sweep.run(BASE, store=None, **misspelt)


def test_all_faulty_options_are_named_at_once() -> None:
    faulty: dict[str, Any] = {"workers": 0, "backend": "tpu", "slurm": {"quue": "x"}}
    with pytest.raises(SweepError, match=r"workers: 0 .*; backend: 'tpu' .*; quue: .*'queue'"):
        sweep.run(BASE, store=None, **faulty)


def test_slurm_entries_are_added_to_those_of_the_file() -> None:
    request = load({**BASE, "run": {"slurm": {"queue": "long", "jobs": 2}}})
    assert api.with_options(request, slurm={"jobs": 4}).options.slurm == {
        "queue": "long",
        "jobs": 4,
    }
    assert api.with_options(request, workers=3).options.slurm == {"queue": "long", "jobs": 3}


READ: dict[str, dict[Any, Any]] = {
    "time_limit": {
        "1h30m": 5400.0, "1.5 h": 5400.0, "2d": 172_800.0, " 1 d 2 h 3 min 4 s ": 93_784.0,
        90: 90.0, 0.5: 0.5,
    },
    "cluster": {
        address: address
        for address in (
            "tcp://10.0.0.1:8786", "node-1:65535", "tls://[::1]:1", "wss://a.b:443",
            "inproc://a/1/2",
        )
    },
}  # fmt: skip
NOT_READ: dict[str, tuple[str, list[Any]]] = {
    "time_limit": (
        "is not a length of time above 0",
        [0, -1, math.nan, math.inf, 10**400, "0s", "5m x", "", " ", "²", "55", "9" * 200_000, True],
    ),
    "shard": (
        "is not I/N",
        ["0/3", "4/3", "1", "1/2/3", "a/3", "²/3", f"1/{'9' * 5000}", (0, 1), (1, 2, 3), [1.0, 2]],
    ),
    "cluster": (
        r'is not "local", "slurm" or the address of a Dask',
        ["node-1:0", "node-1:65536", ":8786", "tcp://a:1/", "tcp://a:1/b", "a b:1", "lcal", ""]
        + ["a:b:c", "http://127.0.0.1:9", "tcp://127.0.0.1"],
    ),
    "gpus": ('is not "all" or a whole number from 1', ["²", "9" * 5000, "x", 0, True]),
}


@pytest.mark.parametrize(
    ("name", "written"), [(name, written) for name in READ for written in READ[name]]
)
def test_what_an_option_is_read_as(name: str, written: object) -> None:
    assert OPTIONS[name].read(written) == READ[name][written]


@pytest.mark.parametrize(
    ("name", "written"),
    [(name, written) for name, (_, values) in NOT_READ.items() for written in values],
    ids=lambda each: str(each)[:10],
)
def test_what_an_option_cannot_be(name: str, written: object) -> None:
    with pytest.raises(ValueError, match=NOT_READ[name][0]):
        OPTIONS[name].read(written)


def test_gpus_imply_the_backend_and_nothing_else_does() -> None:
    assert consistent(RunOptions(gpus=2)) == RunOptions(gpus=2, backend="gpu")
    assert consistent(RunOptions(cluster="slurm")) == RunOptions(cluster="slurm")
