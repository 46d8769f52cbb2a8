"""Which cause of a status applies: those that the kernels' own status confirms."""

from __future__ import annotations

from pathlib import Path

import pytest

import sweep
from sweep.cli.actions.contents import print_outputs, print_statuses
from sweep.model.table import Status
from sweep.results.summary import contents
from tests.command import Run
from tests.file.test_sample import PARAMETERS

WINDOW = {"window_start": 1, "window_end": 3}
FRICTION = {**PARAMETERS, **WINDOW, "friction": 0.1, "base_acceleration": 3}
IMPACT = {"mass": 1, "stiffness": 1, "gap": 0.1, "energy": 1, "wall_stiffness": 10}
STEPS = {"step": 0.01, "tangential_stiffness": 1e4}


@pytest.mark.parametrize(
    ("model", "method", "changed", "cause"),
    [
        ("friction_oscillator", "exact", {"vertical_acceleration": 11}, "lifts off"),
        ("friction_oscillator", "exact", {"window_start": 4}, "window is empty"),
        ("friction_oscillator", "exact", {"window_end": 2e9}, "too many cycles"),
        ("friction_oscillator", "exact", {"stiffness": 1e15}, "spring is too strong"),
        ("friction_oscillator", "exact", {"damping": 1e15, "stiffness": 1}, "damper is too strong"),
        ("friction_oscillator", "moreau", {"step": 0.2}, "tenth of the period"),
        ("friction_oscillator", "euler", {"blocks": 200, **STEPS}, "blocks"),
        ("impact_oscillator", "exact", {"wall_stiffness": 1e13}, "wall_stiffness"),
        ("impact_oscillator", "newmark", {"steps_per_period": 8, "wall_stiffness": 1e6}, "steps"),
        ("mdr_contact", "exact", {"normal_amplitude": 0, "tangential_amplitude": 0}, "moves"),
    ],
)
def test_the_cause_is_named(model: str, method: str, changed: dict[str, float], cause: str) -> None:
    """The changed value is one of an axis, so that it is not refused at once; another one is ok."""
    sphere = {
        "youngs_modulus": 2e11, "poisson_ratio": 0.3, "radius": 0.01, "indentation": 1e-6,
        "normal_amplitude": 4e-7, "tangential_amplitude": 3e-7, "friction": 0.5, "phase": 0.8,
    }  # fmt: skip
    defaults = {"friction_oscillator": FRICTION, "impact_oscillator": IMPACT, "mdr_contact": sphere}
    parameters = {**defaults[model], **changed}
    (name, *_) = changed
    axis = {name: {"values": [parameters.pop(name)]}}
    dataset = sweep.run(
        {"model": model, "method": method, "parameters": parameters, "axes": axis}, store=None
    )
    summary = contents(dataset)
    assert summary.counts == {Status.outside_validity: 1}
    ((sentence, n),) = summary.causes.items()
    assert cause in sentence
    assert n == 1


MIXED = {
    "model": "friction_oscillator",
    "method": "moreau",
    "parameters": {**PARAMETERS, "base_acceleration": 3, "step": 0.2},
    "axes": {"vertical_acceleration": {"values": [0, 11]}, "friction": {"values": [0.1, 5, 9]}},
}


def test_several_causes_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    dataset = sweep.run(MIXED, store=None)
    summary = contents(dataset)
    assert sum(summary.causes.values()) == 4
    print_statuses(summary.counts, {}, summary.causes)
    print_outputs(dataset, summary)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("  3: the mass lifts off") for line in lines)
    assert any(line.startswith("  1: the step is longer") for line in lines)
    assert "of the 2 of 6 points that are ok:" in lines


def test_run_status_and_show_name_the_cause(run: Run, tmp_path: Path) -> None:
    options = ("--set", "method=moreau", "--set", "step=0.2", "-o", "a.zarr")
    for command in (("run", "sdnd104", *options), ("status", "a.zarr"), ("show", "a.zarr")):
        out = run(*command)[1]
        assert "outside_validity: the step is longer than a tenth" in out
        assert "lifts off" not in out
    assert '"causes"' in run("show", "a.zarr", "--json")[1]
