"""The shipped model files: read without faults, and their tests expect what SciPy also finds.

And the shipped sweeps of these models.
"""

from __future__ import annotations

import math
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import sweep
from sweep.equations.model import pack_of
from sweep.equations.system import System, Test
from sweep.file import load
from sweep.file.model_file import read_system_file
from sweep.model.shipped import configs_folder, shipped_configs
from sweep.model.table import Status
from tests.equations.good_model import read_system
from tests.oracles.systems import SOLVERS

FOLDER = configs_folder() / "models"
SLOW = {  # seconds in SciPy
    *(("van_der_pol", 1), ("lugre", 1), ("bouc_wen", 1)),
    *(("prandtl_tomlinson", 0), ("prandtl_tomlinson", 1), ("spring_slider", 0), ("tube", 0)),
}


@cache
def shipped(name: str) -> System:
    return read_system_file(name, Path())


def cases() -> list[object]:
    return [
        pytest.param(
            name, test, id=f"{name}-{i}", marks=[pytest.mark.broad] if (name, i) in SLOW else []
        )
        for name in SOLVERS
        for i, test in enumerate(shipped(name).tests)
        if test.status == "ok"
    ]


def test_outputs_that_need_events_leave_room_for_them_in_registers() -> None:
    lorenz = shipped("lorenz")
    assert pack_of("rk54", lorenz, ["final_x", "rms_x"]) > pack_of("rk54", lorenz, ["reversals"])
    ball = shipped("bouncing_ball")  # whose impacts change the motion, whatever is asked for
    assert pack_of("rk54", ball, []) == pack_of("rk54", lorenz, ["reversals"])


def test_every_shipped_model_has_a_solver_and_tests() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(SOLVERS)
    for name in SOLVERS:
        assert shipped(name).name == name
        assert shipped(name).tests, name


@pytest.mark.parametrize("name", SOLVERS)
def test_the_canonical_text_gives_the_model_again(name: str) -> None:
    system = shipped(name)
    again = read_system(tomllib.loads(system.text), name)
    assert again == system
    assert again.text == system.text


@pytest.mark.parametrize("name", SOLVERS)
def test_everything_has_a_meaning_of_its_own(name: str) -> None:
    system = shipped(name)
    for entry in (*system.parameters, *system.states, *system.definitions, *system.outputs):
        assert entry.meaning != entry.name.replace("_", " "), entry.name
    assert system.title
    assert system.source


@pytest.mark.parametrize(("name", "test"), cases())
def test_what_a_file_expects_is_what_an_independent_solver_finds(name: str, test: Test) -> None:
    outputs = SOLVERS[name](test.at)
    for output, expected in test.expect.items():
        tolerances = {"rtol": test.relative / 2, "atol": test.absolute / 2}
        np.testing.assert_allclose(outputs[output], expected, **tolerances, err_msg=output)


DROP, SPEED = 0.3, 0.2  # of the friction force where a slip begins; of the belt


@pytest.mark.parametrize(
    ("kinetic_force", "friction_decay", "period"),
    [
        (1 - DROP, 0.0, 2 * DROP / SPEED + 2 * (math.pi - math.atan(DROP / SPEED))),
        (1.0, 3.0, 12.00103129),  # after Leine et al.
    ],
    ids=["coulomb", "stribeck"],
)
def test_the_belt_has_the_known_period(
    kinetic_force: float, friction_decay: float, period: float
) -> None:
    model = tomllib.loads((FOLDER / "belt.toml").read_text(encoding="utf-8"))
    model["outputs"] = {"releases": {"values": "t", "every": "release", "keep": 5, "unit": "s"}}
    del model["tests"]
    fixed = {"mass": 1, "stiffness": 1, "static_force": 1, "kinetic_force": kinetic_force}
    fixed |= {"friction_decay": friction_decay, "window_end": 90, "relative_tolerance": 1e-12}
    dataset = sweep.run(
        {
            "model": model,
            "method": "dop853",
            "parameters": fixed,
            "axes": {"belt_speed": {"values": [SPEED]}},
        },
        store=None,
    )
    periods = dataset.releases.diff("releases_index")
    np.testing.assert_allclose(periods, period, rtol=1e-9)


# Sweeps.


@pytest.mark.parametrize("name", SOLVERS)
def test_every_shipped_model_has_a_sweep_of_another_name(name: str) -> None:
    configs = shipped_configs()
    assert [each for each, path in configs.items() if load(path).sweep.points.model.name == name]
    assert name not in configs


@pytest.mark.broad
@pytest.mark.parametrize("name", SOLVERS)
def test_every_smoke_sweep_of_a_model_from_a_file_runs(name: str) -> None:
    """Smoke: most points are ok. Other tests check the values."""
    for path in (configs_folder() / "smoke").glob("*.toml"):
        if load(path).sweep.points.model.name == name:
            status = sweep.run(path, store=None)["status"].to_numpy()
            assert np.mean(status == Status.ok) > 0.8
