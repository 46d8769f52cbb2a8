"""Text models of structures in modal coordinates. SI units, without their names.

Each mode has the states q and v = q'. Forces act on it by the values of its shape.
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


def modal_model(
    name: str,
    modes: Modes,
    shapes: Mapping[str, ArrayLike],
    force: str,
    definitions: Mapping[str, Any],
    outputs: Mapping[str, Any],
    parameters: Sequence[str] = (),
    velocities: ArrayLike | None = None,
    scale: float = 1e-3,
    stops: int = 0,
) -> dict[str, Any]:
    """The content of a model file with the index `mode`, and with `stops` the index `stop`.

    `shapes` become tables, (n_modes,) or (stops, n_modes). `force` is an expression: the force on a
    mode. The motion starts from q = 0 with `velocities`, by default at rest. `scale` is a typical
    displacement.
    """
    tables: dict[str, Any] = {
        **modes._asdict(),
        "start": np.zeros_like(modes.mass) if velocities is None else velocities,
        **shapes,
    }
    over = {1: "mode", 2: ["stop", "mode"]}
    return {
        "format": 1,
        "name": name,
        "time_unit": "1",
        "indices": {"mode": len(modes.mass), **({"stop": stops} if stops else {})},
        "tables": {
            table: {"over": over[np.ndim(values)], "values": np.asarray(values, float).tolist()}
            for table, values in tables.items()
        },
        "parameters": {parameter: {} for parameter in parameters},
        "states": {
            "q": {"over": "mode", "initial": "0", "scale": repr(scale)},
            "v": {
                "over": "mode", "initial": "start", "scale": f"{scale!r}*max(angular_frequency, 1)",
            },
        },
        "definitions": {
            each: {"value": value} if isinstance(value, str) else value
            for each, value in definitions.items()
        },
        "derivatives": {
            "q": "v",
            "v": f"({force} - damping*v)/mass - angular_frequency**2*q",
        },
        "outputs": dict(outputs),
    }  # fmt: skip
