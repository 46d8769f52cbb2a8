"""Speeds of kernels on one core: for each benchmark its cases, most of them beside a peer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sweep.file import load
from sweep.kernel.cpu import CpuBackend
from sweep.kernel.source import kernel_of
from sweep.points.columns import points
from sweep.request.chunk import Chunk
from tests.benchmarks import tube_speed
from tests.benchmarks.peers import mdr_numba, systems_numba
from tests.benchmarks.speeds import Speed, case_of, numba, scalar_build, values_at_points
from tests.cases import Case
from tests.cases.files import file_case
from tests.cases.friction_oscillator import random_parameters
from tests.cases.impact_oscillator import random_points

WEAR = ("wear_power", "regime")
RK4_BOUNDS = {8: 5e8, 4: 2.5e8}  # steps of Lorenz a second, by doubles in a vector
# Hegedűs et al., 30,720 systems.
PUBLISHED_VALVES = "published: MPGOS, Titan Black 3793; odeint, a core of an i7-4820K 25.6"


def exact_speed(quick: bool) -> Iterator[Speed]:
    """Wear powers per second of the exact friction oscillator.

    The grids have SDND104's mass, frequency and window over friction and base acceleration; two
    of them also have a spring and a damper, or vertical shaking. The random points are of every
    kind, so that neighbours have little in common: the worst case for SIMD over points.
    """
    rows, columns = (64, 256) if quick else (512, 1024)
    fewer = rows // 2 * (columns // 2)

    def grid(name: str, most_friction: float, share: int, *changes: str) -> Case:
        friction = f"friction = {{ geomspace = [0.01, {most_friction}, {rows // share}] }}"
        base = f"base_acceleration = {{ linspace = [0.5, 15.0, {columns // share}] }}"
        return _loaded(name, "wear_power", friction, base, *changes)

    fixed = load("wear_power", ("friction=0.1", "base_acceleration=1")).sweep.constants
    drawn = {"friction": {"lognormal": [0.1, 0.3]}, "base_acceleration": {"uniform": [0.5, 15.0]}}
    sample = {
        "model": "friction_oscillator",
        "outputs": list(WEAR),
        "parameters": {name: value for name, value in fixed.items() if name not in drawn},
        "sample": {"method": "random", "points": fewer, "seed": 1, **drawn},
    }
    at_random = random_parameters(fewer, seed=7)
    for case, least in (
        (grid("SDND104 grid", 1.0, 1), 1e6),
        # friction × gravity stays below every acceleration
        (grid("all slip", 0.045, 1), 1e6),
        (grid("sprung grid", 1.0, 2, "stiffness = 2.0", "damping = 0.1"), None),
        (grid("shaken grid", 1.0, 2, "vertical_acceleration = 3.0", "phase = 1.0"), None),
        (case_of("random", "friction_oscillator", "exact", at_random, fewer, WEAR), None),
        (_loaded("sample", sample), None),
    ):
        yield Speed(case, case.points.n_points, at_least=least, peer=scalar_build(case))


def contact_speed(quick: bool) -> Iterator[Speed]:
    """Contacts per second of mdr_contact exact.

    The grids are over friction (beta) and phase. At random points all parameters differ, so that
    lanes wait for their neighbours.
    """
    sides = (32, 64) if quick else (128, 256)
    count = math.prod(sides)
    axes = np.geomspace(0.01, 100, sides[0]), np.linspace(-3.1, 3.1, sides[1])
    beta, phase = (each.ravel() for each in np.meshgrid(*axes, indexing="ij"))
    rng = np.random.default_rng(3)
    at_random = {
        "beta": 10 ** rng.uniform(-2, 2, count),
        "phase": rng.uniform(-3, 3, count),
        "delta": 10 ** rng.uniform(-3, 0.5, count),
        "profile_exponent": rng.choice([1.0, 2.0, 2.5, 4.0], count),
    }
    for name, least, values in (
        ("sphere", 5e5, {"delta": 0.2}),
        ("sphere, contact lost", 5e5, {"delta": 2.0}),
        ("cone", 1e5, {"delta": 0.2, "profile_exponent": 1.0}),
        ("profile of power 3", 1e5, {"delta": 0.2, "profile_exponent": 3.0}),
        ("random", 1e5, at_random),
    ):
        here = {"beta": beta, "phase": phase, **values}
        case = case_of(name, "mdr_contact", "exact", here, count, ("normalized_energy", "regime"))
        yield Speed(case, count, "contacts", least, scalar_build(case))


def time_stepping_speed(quick: bool) -> Iterator[Speed]:
    """Spring steps per second of the time-stepping methods of mdr_contact.

    A point has 4096 springs over two cycles of 1000 steps, with a friction at which all of them
    slip, so that none is skipped.
    """
    count, steps, springs, cycles = 4 if quick else 60, 1000, 4096, 2
    values = {"beta": np.linspace(0.3, 0.6, count), "delta": 1.5, "phase": 1.0}
    values |= {"steps_per_cycle": steps, "springs": springs}
    outputs = ("normalized_energy", "stick_radius", "regime")
    for method in ("time_stepping", "time_stepping_2"):
        case = case_of(f"{method}, all slip", "mdr_contact", method, values, count, outputs)
        peer = None
        if method == "time_stepping":
            given = (*values_at_points(case, "beta", "delta", "phase"), steps, springs)
            theirs = partial(mdr_numba.time_stepping, *given)
            peer = numba("normalized_energy", theirs, 1e-11)  # the order of sums differs
        yield Speed(case, float(count * springs * steps * cycles), "spring steps", 1e9, peer)


def impact_speed(quick: bool) -> Iterator[Speed]:
    """Impact oscillators per second: exact, Newmark and harmonic balance.

    Exact: the grid of the backbone sweep. Newmark: 1000 steps per period at SDND122's energies.
    Harmonic balance: energies from below SDND122's grazing to 200 times that; and random points,
    a quarter of which have to be continued.
    """
    sides = (40, 20, 20) if quick else (200, 100, 50)
    three = _loaded(
        "exact, three outputs",
        "backbone",
        f"axes.energy = {{ geomspace = [1e-5, 1.0, {sides[0]}] }}",
        f"axes.wall_stiffness = {{ geomspace = [0.1, 1e4, {sides[1]}] }}",
        f"axes.gap = {{ linspace = [0.0, 0.049, {sides[2]}] }}",
    )
    yield Speed(three, three.points.n_points)
    every = replace(three.sweep, outputs=three.sweep.model.outputs)
    case = Case("exact", every, three.points)
    yield Speed(case, case.points.n_points, at_least=2e7, peer=scalar_build(case))
    count = 512 if quick else 4096
    energies = f"axes.energy = {{ linspace = [6.2e-3, 6.9e-3, {count}] }}"
    chosen = ("method = 'newmark'", "steps_per_period = 1000", energies)
    case = _loaded("newmark", "sdnd122", *chosen)
    yield Speed(case, count, at_least=1.2e5, peer=scalar_build(case))  # of about 2500 steps
    energies = f"axes.energy = {{ geomspace = [4e-4, 0.1, {count}] }}"
    for harmonics in (5, 20, 40):
        chosen = ("method = 'harmonic_balance'", f"harmonics = {harmonics}", energies)
        case = _loaded(f"harmonic balance: {harmonics} harmonics", "sdnd122", *chosen)
        yield Speed(case, count, at_least=1e4, peer=scalar_build(case))
    values = random_points("harmonic_balance", count)
    name, outputs = "harmonic balance: random points", [each.name for each in every.outputs]
    case = case_of(name, "impact_oscillator", "harmonic_balance", values, count, outputs)
    yield Speed(case, count, at_least=2e3, peer=scalar_build(case))


def systems_speed(quick: bool) -> Iterator[Speed]:
    """Speed of models from text files."""
    count, end, step, tolerance = 1024 if quick else 4096, 10.0, 1e-3, 1e-8
    rho = np.linspace(0.5, 21.0, count)
    given = np.full(count, 10.0), rho, np.full(count, 8.0 / 3.0)
    values: Mapping[str, Any] = {"rho": rho, "step": step, "window_end": end}
    case = replace(file_case("lorenz", "rk4", values, ("final_x",)), name="lorenz, rk4")
    kernel = kernel_of(case.sweep)
    least = RK4_BOUNDS.get(CpuBackend().library(kernel).lanes // kernel.pack)
    fixed = numba("final_x", partial(systems_numba.lorenz_rk4, *given, end, step), 1e-9)
    fixed = replace(fixed, floor=1.0, at_least=1.0)
    yield Speed(case, count * end / step, "steps", least, fixed)
    # Of final states: a thousand times the tolerance, which long transients amplify.
    chosen = numba("final_x", partial(systems_numba.lorenz_rk54, *given, end, tolerance), 1e-5)
    chosen = replace(chosen, floor=1.0, at_least=1.0)
    duffing = {"damping": 0.3, "linear": -1.0, "cubic": 1.0, "omega": 1.2, "start_x": 1.0}
    duffing |= {"force": np.linspace(0.1, 0.3, count)}
    for model, values, peer in (("lorenz", {"rho": rho}, chosen), ("duffing", duffing, None)):
        values = {**values, "relative_tolerance": tolerance, "window_end": end}
        case = file_case(model, "rk54", values, ("final_x",))
        yield Speed(replace(case, name=f"{model}, rk54 choosing its steps"), count, peer=peer)
    # The published benchmark with events: 1056 maxima of a valve's displacement.
    count = 16 if quick else 128
    values = {"flow": np.linspace(0.2, 10.0, count), "relative_tolerance": 1e-10, "window_end": 1e5}
    case = file_case("relief_valve", "rk54", values, ("impacts",))
    yield Speed(replace(case, name="relief_valve, rk54"), count, note=PUBLISHED_VALVES)
    yield from tube_speed.speeds(quick)


def _loaded(name: str, config: str | Mapping[str, Any], *changes: str) -> Case:
    sweep = load(config, changes).sweep
    start = (0,) * len(sweep.grid.shape)
    return Case(name, sweep, points(sweep, Chunk(start, start, sweep.grid.shape)))
