"""Text models of structures in modal coordinates. SI units, without their names.

Mode i has the states q_i and v_i = q_i'. Forces act on it by the values of its shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]


class Modes(NamedTuple):
    """Modes that obey m q'' + c q' + m ω² q = force; all (n_modes,)."""

    mass: Values
    angular_frequency: Values
    damping: Values

    def matrices(self) -> tuple[Values, Values, Values]:
        """Mass, damping and stiffness, (n_modes, n_modes)."""
        stiffness = self.mass * self.angular_frequency**2
        return np.diag(self.mass), np.diag(self.damping), np.diag(stiffness)


def combination(factors: ArrayLike, of: str = "q") -> str:
    """The sum of all q_i, or v_i, with these factors."""
    return " + ".join(f"({number!r})*{of}_{i}" for i, number in enumerate(_numbers(factors)))


def modal_model(
    name: str,
    modes: Modes,
    forces: Mapping[str, ArrayLike],
    definitions: Mapping[str, str],
    outputs: Mapping[str, Any],
    parameters: Sequence[str] = (),
    velocities: ArrayLike | None = None,
    scale: float = 1e-3,
) -> dict[str, Any]:
    """The content of a model file.

    `forces` are names of definitions, with the values of the shapes, (n_modes,). The motion starts
    from q = 0 with `velocities`, by default at rest. `scale` is a typical displacement.
    """
    speeds = _numbers(np.zeros_like(modes.mass) if velocities is None else velocities)
    shapes = {force: _numbers(shape) for force, shape in forces.items()}
    states, derivatives = {}, {}
    for i, (mass, frequency, damping) in enumerate(zip(*map(_numbers, modes), strict=True)):
        speed_scale = scale * max(frequency, 1.0)
        states[f"q_{i}"] = {"initial": "0", "scale": repr(scale)}
        states[f"v_{i}"] = {"initial": repr(speeds[i]), "scale": repr(speed_scale)}
        terms = [f"({-(frequency**2)!r})*q_{i}", f"({-damping / mass!r})*v_{i}"]
        terms += [f"({shape[i] / mass!r})*{force}" for force, shape in shapes.items()]
        derivatives |= {f"q_{i}": f"v_{i}", f"v_{i}": " + ".join(terms)}
    return {
        "format": 1,
        "name": name,
        "time_unit": "1",
        "parameters": {parameter: {} for parameter in parameters},
        "states": states,
        "definitions": {each: {"value": value} for each, value in definitions.items()},
        "derivatives": derivatives,
        "outputs": dict(outputs),
    }


def _numbers(values: ArrayLike) -> list[float]:
    return np.asarray(values, dtype=float).tolist()
