"""Random points for every method of every model, those that fail in each way among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.models import models
from sweep.spec import Column, Method, Model, Parameter, Points, Sweep
from tests.mdr_points import slipping_share
from tests.points import sweep_of

Values = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Case:
    """A kernel or array method, and points for it."""

    name: str
    sweep: Sweep
    points: Points


def cases(n: int = 200) -> Iterator[Case]:
    """Of each kernel method one without and, where it has any, one with all its variants."""
    for model, method in _methods("kernel"):
        yield _case(model, method, n)
        if method.variants:
            yield _case(model, method, n, with_variants=True)


def array_cases(n: int = 200) -> Iterator[Case]:
    """One of each array method."""
    for model, method in _methods("array"):
        yield _case(model, method, n)


def _methods(kind: str) -> Iterator[tuple[Model, Method]]:
    for model in models().values():
        yield from ((model, method) for method in model.methods if method.kind == kind)


def _case(model: Model, method: Method, n: int, *, with_variants: bool = False) -> Case:
    values = POINTS[model.name](n, with_variants)
    values |= CONTROLS[model.name](values, method.name, n) if model.name in CONTROLS else {}
    for variant in method.variants if with_variants else ():
        for name in variant.parameters:
            if name in values:
                same = values[name][:1] if variant.value is None else [variant.value]
                values[name] = np.array(same, np.float64)
    sweep = sweep_of(values, model.name, method.name)
    columns = {
        p.name: Column(values[p.name] if p.name in values else _default(p))
        for p in sweep.parameters
    }
    variants = tuple(variant.name for variant in method.variants) if with_variants else ()
    name = f"{model.name}-{method.name}{'-variants' if with_variants else ''}"
    return Case(name, sweep, Points(n_points=n, columns=columns, variants=variants))


def _default(parameter: Parameter) -> NDArray[np.float64]:
    if parameter.default is None:
        raise LookupError(f"tests/gpu/points.py has no values for {parameter.name!r}")
    return np.array([parameter.default], np.float64)


def _friction_oscillator(n: int, shared_clock: bool) -> Values:
    """Free and sprung, damped, shaken; one in 25 outside what the model is valid for."""
    random = np.random.default_rng(11)
    omega, gravity = random.uniform(1, 30, n), random.uniform(5, 15, n)
    if shared_clock:
        omega[:] = omega[0]
    base, mass = random.uniform(1, 30, n), random.uniform(0.1, 3, n)
    sprung, damped, shaken = (random.random(n) < 0.5 for _ in range(3))
    start = 2 * np.pi / omega * random.uniform(0, 2, 1 if shared_clock else n)
    shaking = gravity * random.uniform(-0.9, 0.9, n) * shaken
    shaking[::25] = 1.5 * gravity[::25]
    return {
        "mass": mass,
        "gravity": gravity,
        "friction": base / gravity * random.uniform(0.03, 1.2, n),
        "stiffness": mass * (random.uniform(0.1, 5, n) * omega) ** 2 * sprung,
        "damping": mass * omega * random.uniform(0.01, 0.5, n) * damped,
        "base_acceleration": base,
        "angular_frequency": omega,
        "vertical_acceleration": shaking,
        "phase": random.uniform(-3, 3, n),
        "window_start": np.broadcast_to(start, n),
        "window_end": start + 2 * np.pi / omega * random.uniform(0.5, 3, n),
    }


def _mdr_contact(n: int, shared_clock: bool) -> Values:
    random = np.random.default_rng(12)
    return {
        "beta": 10 ** random.uniform(-3, 3, n),
        "delta": 10 ** random.uniform(-3, 0.9, n),
        "phase": random.uniform(-np.pi, np.pi, n),
        "profile_exponent": random.choice([0.6, 1.0, 1.5, 2.0, 2.0, 4.0], n),
    }


def _impact_oscillator(n: int, shared_clock: bool) -> Values:
    random = np.random.default_rng(13)
    stiffness, gap = 10 ** random.uniform(-2, 4, n), 10 ** random.uniform(-4, 0, n)
    return {
        "mass": 10 ** random.uniform(-2, 2, n),
        "stiffness": stiffness,
        "wall_stiffness": stiffness * 10 ** random.uniform(-3, 6, n),
        "gap": gap,
        "energy": stiffness * gap**2 / 2 * 10 ** random.uniform(-1, 3, n),
    }


TOLERANCES = {
    "adapt_ordre2": {"tolerance": np.array([0.3])},
    "rk54": {"tolerance": np.array([1e-4])},
    "rk32": {"tolerance": np.array([1e-4])},
}


def _schemes(values: Values, method: str, n: int) -> Values:
    """Some steps that are unstable, one point in 20 that has not enough of them."""
    if method == "exact":
        return {}
    random = np.random.default_rng(14)
    period = 2 * np.pi / values["angular_frequency"]
    step = period / random.uniform(40, 400, 1 if np.ptp(period) == 0 else n)
    if method == "moreau":
        return {"step": step}
    stiffness = values["mass"] / step**2 * 10 ** random.uniform(-3, 0.3, n)
    return {
        "step": step,
        "tangential_stiffness": stiffness,
        "blocks": random.choice([1.0, 2.0, 5.0], n),
        "maximum_step": 3 * step,
        "maximum_steps": np.where(random.random(n) < 0.05, 20.0, 1e5),
        **TOLERANCES.get(method, {}),
    }


def _steppings(values: Values, method: str, n: int) -> Values:
    """Whole groups of springs and others, and segments of steps that are not whole.

    Of one point in five or so they may be too few that can slip; of the others so few lose contact.
    """
    if method == "exact":
        return {}
    random = np.random.default_rng(15)
    springs = random.choice([20.0, 21.0, 63.0, 64.0, 65.0, 128.0, 200.0, 331.0], n)
    few = (slipping_share(values) * springs < 21) & (random.random(n) < 0.8)
    return {
        "delta": np.where(few, random.uniform(1, 8, n), values["delta"]),
        "springs": springs,
        "steps_per_cycle": random.choice([8.0, 64.0, 65.0, 100.0, 301.0], n),
    }


def _ways_of_impact(values: Values, method: str, n: int) -> Values:
    if method == "exact":
        return {}
    random = np.random.default_rng(16)
    if method == "newmark":
        return {"steps_per_period": random.choice([50.0, 200.0, 333.0], n)}
    return _harmonic_balance(values, random, n)


def _harmonic_balance(values: Values, random: np.random.Generator, n: int) -> Values:
    """One point in 25 of no motion, one that underflows, one of a stop too hard for cosines.

    The others' stops are not so hard that rounding alone moves an output by 1e-10.
    """
    gap, energy, stiffness = values["gap"].copy(), values["energy"].copy(), values["stiffness"]
    wall = np.minimum(values["wall_stiffness"], 1e4 * stiffness)
    gap[::25], energy[1::25] = -1.0, 1e-150
    wall[2::25], energy[2::25] = 1e12 * stiffness[2::25], 10 * (stiffness * gap**2)[2::25]
    harmonics, regularization = (random.choice(of, n) for of in ([1.0, 5.0, 12.0, 40.0], [0, 5e-5]))
    harmonics[2::25], regularization[2::25] = 40.0, 0.0
    return {
        "wall_stiffness": wall,
        "gap": gap,
        "energy": energy,
        "harmonics": harmonics,
        "regularization": regularization,
        "energy_instant": random.choice([np.inf, 0.0, 0.25], n),
    }


CONTROLS = {
    "friction_oscillator": _schemes,
    "mdr_contact": _steppings,
    "impact_oscillator": _ways_of_impact,
}
POINTS = {
    "friction_oscillator": _friction_oscillator,
    "mdr_contact": _mdr_contact,
    "impact_oscillator": _impact_oscillator,
}
