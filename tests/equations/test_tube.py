"""The shipped tube under turbulence: its power balance, and its modes from their formulas.

That its motion is that of another solver is tested with the other shipped models.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import sweep
from sweep.model.shipped import configs_folder
from sweep.model.table import Status
from sweep.theory import beams

MODELS = configs_folder() / "models"
POWERS = """[outputs]
input  = { mean = "turbulence*sum(mode, force_y*qv + force_z*rv)", unit = "W" }
damped = { mean = "sum(mode, 2*damping*omega*mass*(qv**2 + rv**2))", unit = "W" }
stored = { rate = "sum(mode, mass*(qv**2 + rv**2 + omega**2*(q**2 + r**2))/2) + sum(support, (normal*(y - gap) + rub**2/tangential_stiffness)/2)", unit = "W" }
"""  # noqa: E501


@pytest.mark.broad  # compiles for a minute
def test_friction_takes_the_input_less_damping_and_stored_energy(tmp_path: Path) -> None:
    for table in MODELS.glob("tube_*.csv"):
        shutil.copy(table, tmp_path)
    text = (MODELS / "tube.toml").read_text(encoding="utf-8")
    path = tmp_path / "tube.toml"
    path.write_text(text.replace("[outputs]\n", POWERS).partition("[[tests]]")[0], encoding="utf-8")
    request = {
        "model": str(path),
        "method": "dop853",
        "parameters": {"window_start": 0.5, "window_end": 4.0, "relative_tolerance": 1e-10},
        "axes": {"turbulence": [1.0, 2.0], "draw": [0, 1, 2, 3]},
        "outputs": ["friction_power", "input", "damped", "stored"],
    }
    ds = sweep.run(request, store=None, progress=False)
    assert (ds["status"] == Status.ok).all()
    rubbed = ds["friction_power"].sum("support")
    assert (rubbed > 0.02 * ds["input"]).all()
    np.testing.assert_allclose(rubbed, ds["input"] - ds["damped"] - ds["stored"], rtol=1e-6)


def test_its_modes_are_those_of_the_beam_that_the_file_describes(tmp_path: Path) -> None:
    """To the bit, so that a reader can make the table again."""
    places, ends, length = (
        {"lower.y": 0.6, "middle.y": 1.05, "upper.y": 1.45},
        ("clamped",) * 2,
        2.0,
    )
    bending = 1.95e11 * beams.tube(9.525e-3, 1.09e-3).second_moment
    shapes = beams.beam_shapes(list(places.values()), 6, ends, length)
    written = beams.write_modes(
        tmp_path / "modes.csv",
        beams.beam_frequencies(6, ends, length, bending, 1.0),
        beams.modal_masses(6, length, 1.0),
        dict(zip(places, shapes, strict=True)),
    )
    assert written.read_bytes() == (MODELS / "tube_modes.csv").read_bytes()
