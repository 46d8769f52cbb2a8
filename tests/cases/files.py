"""Points of the models in configs/models/: short motions, some of which fail in each way."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from sweep.equations.schemes import SCHEMES
from sweep.file.model_file import read_model
from sweep.model.table import Model
from tests.cases import Case, Values, case_at
from tests.equations.forced_models import field

METHODS = tuple(SCHEMES)
LARGE = ("chain", "tube")  # whose kernels take minutes to compile: the first method only
NAMES = ("belt", "bouc_wen", "bouncing_ball", "chain", "drill_string", "duffing", "forced_impact",
         "gear", "lorenz", "lugre", "prandtl_tomlinson", "relief_valve", "spring_slider", "tube",
         "van_der_pol", "vibro_impact")  # fmt: skip

# The ranges of the parameters that vary.
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "belt": {"mass": (0.5, 2), "stiffness": (0.5, 2), "belt_speed": (0.1, 1),
             "static_force": (0.8, 1.2), "kinetic_force": (0.3, 0.7), "friction_decay": (0, 3)},
    "bouc_wen": {"mass": (0.5, 2), "stiffness": (0.5, 2), "damping": (0, 0.3),
                 "elastic_share": (0.1, 1), "yield_displacement": (0.2, 2),
                 "sharpness": (1, 3), "force": (0.2, 2), "angular_frequency": (0.5, 2)},
    "bouncing_ball": {"drop_height": (0.5, 3), "restitution": (0.7, 1)},
    "chain": {"coupling": (0.5, 2), "pull_stiffness": (0.5, 2), "speed": (0.2, 1),
              "kinetic_force": (0.1, 0.4), "spread": (0.02, 0.1),
              **{f"static_force[{i}]": (0.2, 1) for i in range(5)}},
    "drill_string": {"torque": (3000, 15000), "static_torque": (8000, 14000),
                     "table_inertia": (20, 60), "bit_inertia": (0.5, 2),
                     "table_damping": (10, 100), "bit_damping": (1, 20)},
    "duffing": {"damping": (0, 0.5), "linear": (-1, 1), "cubic": (0, 2), "force": (0, 1),
                "omega": (0.5, 2), "start_x": (-1, 1), "start_v": (-1, 1)},
    "forced_impact": {"damping": (0, 0.3), "omega": (0.2, 3), "gap": (0.05, 0.6),
                      "restitution": (0.05, 1)},
    "gear": {"ripple": (2, 20), "angular_frequency": (200, 1000), "damping": (0.1, 1),
             "backlash": (2e-4, 1e-3), "torque": (-2, 2)},
    "lorenz": {"rho": (0.5, 40), "sigma": (8, 12), "start_x": (-2, 2), "start_y": (-2, 2)},
    "lugre": {"pulling_speed": (0.05, 1), "bristle_stiffness": (100, 1000),
              "bristle_damping": (5, 20), "stribeck_speed": (0.01, 0.1)},
    "prandtl_tomlinson": {"depth": (1e-20, 2e-19), "mass": (1, 10), "damping": (0.1, 3),
                          "pulling_speed": (1e-11, 1e-9)},
    "relief_valve": {"flow": (1, 8), "restitution": (0.5, 0.9)},
    "spring_slider": {"stiffness": (1e8, 4e9), "pulling_speed": (5e-4, 1e-3),
                      "direct_effect": (0.005, 0.012), "slip_distance": (3e-5, 1e-4),
                      "onset_speed": (1.1e-3, 2e-3), "start_ratio": (0.5, 2),
                      "radiation_damping": (1e8, 1e9)},
    "tube": {"turbulence": (3, 10), "draw": (0, 100), "damping": (0.001, 0.05),
             **{f"gap[{each}]": (1e-5, 1e-4) for each in ("lower", "middle", "upper")},
             **{f"friction[{each}]": (0.1, 0.6) for each in ("lower", "middle", "upper")}},
    "van_der_pol": {"mu": (0.1, 5), "force": (0, 1), "start_v": (-1, 1)},
    "vibro_impact": {"force": (0.5, 3), "omega": (0.5, 3), "damping": (0, 0.3),
                     "restitution": (0.05, 0.9)},
}  # fmt: skip
# The times of models that move faster than in 1 s, relative to those of the others.
TIMES = {"gear": 0.01, "tube": 0.05}

# A model for each method: smooth, with events and modes, and stiff.
CHOSEN = (("lorenz", "rk4"), ("lorenz", "rk54"), ("belt", "dop853"), ("lugre", "rodas4"))
# With switches and many events, at entry too: slow kernels, for few points.
LARGEST = (("chain", "rk54"), ("gear", "dop853"), ("tube", "rk54"), ("vibro_impact", "rk54"))
FEW = 100


def methods_of(name: str) -> tuple[str, ...]:
    """The methods with which a model is tested."""
    return METHODS[:1] if name in LARGE else METHODS


def file_cases(n: int = 200) -> Iterator[Case]:
    """A case of each method of model files, and one of signals by draw."""
    yield from (case_of_file(name, method, n) for name, method in CHOSEN)
    yield from (case_of_file(name, method, min(n, FEW)) for name, method in LARGEST)
    yield forced_case(n)


def forced_case(n: int, method: str = "rk54") -> Case:
    """n random points under correlated random signals, of which some windows are too long."""
    correlation = {"length": 2.0, "positions": [0.0, 1.0, 4.0]}
    model = read_model(field(3, correlation=correlation, amplitudes="normal", seed=3), Path())
    chosen = next(each for each in model.methods if each.name == method)
    rng = np.random.default_rng(6)
    windows = {"window_end": rng.uniform(0.1, 21.0, n), "draw": np.floor(rng.uniform(0, 30, n))}
    return case_at(f"field-{method}", model, chosen, windows | controls(method, n, rng), n)


@functools.cache
def model_of_file(name: str) -> Model:
    return read_model(name, Path())


def case_of_file(name: str, method: str, n: int) -> Case:
    """n random points of a shipped model file."""
    return file_case(name, method, values_of(name, method, n))


def file_case(
    name: str, method: str, values: Mapping[str, ArrayLike], outputs: Sequence[str] | None = None
) -> Case:
    """Points of a shipped model file with these values, as long as the longest of them."""
    model = model_of_file(name)
    chosen = next(each for each in model.methods if each.name == method)
    columns = {key: np.atleast_1d(np.asarray(v, np.float64)) for key, v in values.items()}
    n = max(map(len, columns.values()))
    return case_at(f"{name}-{method}", model, chosen, columns, n, outputs=outputs)


def values_of(name: str, method: str, n: int) -> Values:
    """Windows of different lengths, some of which begin late or end before they begin."""
    rng = np.random.default_rng(5)
    values = {key: rng.uniform(*bounds, n) for key, bounds in RANGES[name].items()}
    if "draw" in values:
        values["draw"] = np.floor(values["draw"])
    values["window_end"] = rng.uniform(0.5, 6.0, n)
    values["window_start"] = np.where(rng.random(n) < 0.5, 0.0, rng.uniform(0.0, 2.0, n))
    values["maximum_events"] = np.where(rng.random(n) < 0.9, 1000.0, 3.0)
    values |= controls(method, n, rng)
    for time in values.keys() & {"window_start", "window_end", "step", "maximum_step"}:
        values[time] = TIMES.get(name, 1.0) * values[time]
    return values


def controls(method: str, n: int, rng: np.random.Generator) -> Values:
    """Steps of different lengths, or tolerances and bounds that some points meet."""
    if method == "rk4":
        return {"step": rng.uniform(0.005, 0.05, n)}
    return {
        "relative_tolerance": 10.0 ** rng.uniform(-8, -4, n),
        "maximum_step": np.where(rng.random(n) < 0.7, np.inf, 0.1),
        "maximum_steps": np.where(rng.random(n) < 0.9, 1e6, 20.0),
    }
