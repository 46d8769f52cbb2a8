"""Models under signals by draw, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Model = dict[str, Any]
SIGNAL = {
    "spectrum": {"frequencies": [0.5, 2.0, 5.0], "densities": [[1.0, 3.0, 0.5]]},
    "duration": 20.0,
    "rate": 50.0,
    "draw": "draw",
    "unit": "N",
}
DRAW = {"default": 0}


def watched(**changes: object) -> Model:
    """A model that shows its signal, with changes to that."""
    return {
        "format": 1,
        "name": "watched",
        "parameters": {"draw": DRAW},
        "states": {"impulse": {"unit": "N s", "initial": 0.0}},
        "derivatives": {"impulse": "force"},
        "signals": {"force": {**SIGNAL, **changes}},
        "outputs": {
            "force_at_end": {"final": "force", "unit": "N"},
            "rate_at_end": {"final": "rate(force)", "unit": "N/s"},
            "mean_square": {"mean": "force**2", "unit": "N^2"},
        },
    }


def field(n: int, **changes: object) -> Model:
    """A signal over an index of `n` values, each of which is shown."""
    return {
        "format": 1,
        "name": "field",
        "parameters": {"draw": DRAW},
        "indices": {"place": n, "other": {"same_as": "place"}},
        "states": {"impulse": {"over": "place", "unit": "N s", "initial": 0.0}},
        "derivatives": {"impulse": "force"},
        "signals": {"force": {**SIGNAL, "over": "place", **changes}},
        "outputs": {
            "force_at_end": {"over": "place", "final": "force", "unit": "N"},
            "product": {"over": ["place", "other"], "mean": "force*force[other]", "unit": "N^2"},
        },
    }


def oscillator(stiffness: str = "w**2*x", **changes: object) -> Model:
    """A damped oscillator of unit mass under a random force, with its energies."""
    return {
        "format": 1,
        "name": "oscillator",
        "parameters": {
            "draw": DRAW,
            "w": {"unit": "1/s", "default": 9.0},
            "damping": {"unit": "1/s", "default": 0.6},
            "friction": {"unit": "m/s^2", "default": 0.0},
        },
        "states": {
            "x": {"unit": "m", "initial": 0.0, "scale": 0.01},
            "v": {"unit": "m/s", "initial": 0.0, "scale": 0.1},
        },
        "derivatives": {"x": "v", "v": f"force - damping*v - {stiffness}"},
        "signals": {"force": {**SIGNAL, "unit": "m/s^2", **changes}},
        "outputs": {
            "square_x": {"mean": "x**2", "unit": "m^2"},
            "square_v": {"mean": "v**2", "unit": "m^2/s^2"},
            "input": {"mean": "force*v", "unit": "m^2/s^3"},
            "damped": {"mean": "damping*v**2", "unit": "m^2/s^3"},
            "stored": {"rate": "v**2/2 + w**2*x**2/2", "unit": "m^2/s^3"},
            "x_at_end": {"final": "x", "unit": "m"},
            "v_at_end": {"final": "v", "unit": "m/s"},
        },
    }


def swept(
    model: Mapping[str, Any],
    axes: Mapping[str, object],
    method: str = "dop853",
    tolerance: float = 1e-10,
    **parameters: object,
) -> dict[str, Any]:
    """A sweep of a model to the end of its signal."""
    parameters = {"window_end": 20.0, "relative_tolerance": tolerance, **parameters}
    if method == "rk4":
        del parameters["relative_tolerance"]
    return {
        "format": 1,
        "model": dict(model),
        "method": method,
        "parameters": {key: parameters[key] for key in parameters if key not in axes},
        "axes": {name: {"values": values} for name, values in axes.items()},
    }
