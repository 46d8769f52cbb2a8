"""Random models with lines and parabolas between events, against exact arithmetic.

Events with modes, conditions, sets, entries, stops and common expressions; thousands of points,
many with events at one time and windows that begin or end at an event.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
import xarray as xr

from sweep.model.table import Status
from tests.equations.examples import points
from tests.equations.random_piecewise_linear import LONGEST, Structure, point, structure
from tests.oracles import piecewise_linear_outputs as outputs
from tests.oracles.piecewise_linear import (
    CLOSE,
    Affine,
    Event,
    Model,
    Motion,
    Occurrence,
    Unclear,
    at,
    follow,
)

# A scheme makes no error in lines and parabolas but rounding, at most about 1e-15 at each event,
# and the oracle leaves out motions in which that grows more than 1e4 times. The rest of the
# tolerance is for the location of an event, which is sooner exact than 1e-9.
TOLERANCE = 1e-8
KEPT = 4  # values of each output of the structures with `values`
X, Y, T = {"x": Fraction(1)}, {"y": Fraction(1)}, {"t": Fraction(1)}
SUM = {"x": Fraction(1), "y": Fraction(2)}

# Default and tight tolerances; a motion without errors has to be the same.
CONTROLS: dict[str, dict[str, list[float]]] = {
    **{each: {"relative_tolerance": [1e-6, 1e-10]} for each in ("rk54", "dop853", "rodas4")},
    "rk4": {"step": [0.125, 0.0625]},
}
# What a wrong motion does at most, so that a test ends soon.
BOUNDS = {"maximum_events": 5000.0, "maximum_steps": 1e5}


@dataclass(frozen=True)
class Case:
    """A point of a structure, and its exact motion up to the window's end."""

    values: dict[str, Fraction]
    start: Fraction
    end: Fraction
    motion: Motion

    @property
    def columns(self) -> dict[str, float]:
        numbers = {name: float(value) for name, value in self.values.items()}
        return {**numbers, "window_start": float(self.start), "window_end": float(self.end)}

    @property
    def edges(self) -> list[tuple[bool, bool]]:
        """Whether events at the start and at the end are in the window: each that is right.

        Rounding decides about those at an end that is an event, but for t = 0.
        """
        times = [o.time for o in self.motion.occurrences]
        started = self.start > 0 and any(same_time(time, self.start) for time in times)
        ended = any(same_time(time, self.end) for time in times)
        starts, ends = ((True, False) if either else (True,) for either in (started, ended))
        return [(first, last) for first in starts for last in ends]


def cases(structure: Structure, seed: int, count: int) -> Iterator[Case | str]:
    """Points of a structure, or why one is left out."""
    random = Random(seed)
    for _ in range(count):
        values = point(structure, random)
        try:
            model = structure.at(values)
            start, end = window(follow(model, LONGEST), random)
            motion = follow(model, end)
            if motion.end == start:
                raise Unclear("the motion ends where the window begins")
            case = Case(values, start, end, motion)
            expected(structure, case, (True, True))
            yield case
        except Unclear as reason:
            yield str(reason)


def same_time(time: Fraction, other: Fraction) -> bool:
    return abs(time - other) < CLOSE


def window(motion: Motion, random: Random) -> tuple[Fraction, Fraction]:
    """A start and an end, at an event now and then."""
    times = sorted({o.time for o in motion.occurrences})
    early, late = [t for t in times if t < 2], [t for t in times if t > 3]
    start = random.choice([Fraction(0), Fraction(0), Fraction(5, 8), random.choice(early or [1])])
    end = random.choice([LONGEST, Fraction(27, 4), random.choice(late or [5])])
    return Fraction(start), Fraction(end)


# What is expected.

Values = dict[str, list[float]]


def expected(structure: Structure, case: Case, edges: tuple[bool, bool]) -> Values:
    """All outputs of a structure, by name; without events at an end of the window that is open."""
    motion, start = case.motion, case.start
    if motion.end < start:
        return {}
    share = structure.share.at(case.values)
    found = {
        "x_mean": outputs.mean(motion, X, start),
        "y_size": outputs.mean_magnitude(motion, Y, start),
        "above": outputs.share_above(motion, share, start),
    }
    found |= {
        f"share_{mode}": outputs.share_of_mode(motion, mode, start)
        for mode in structure.modes
        if mode
    }
    if len(case.edges) == 1 and motion.occurrences[:1] and motion.occurrences[0].time > 0:
        found |= {
            f"{n}_largest": outputs.maximum(motion, e, start) for n, e in (("x", X), ("y", Y))
        }
    last = motion.pieces[-1]
    before = {name: at(p, last.length) for name, p in last.states.items()}
    states = motion.final if edges[1] else before
    found |= {f"{name}_end": states[name] for name in structure.initial}
    values = {name: [float(value)] for name, value in found.items()}
    for event in structure.events:
        values |= at_event(event.name, seen(case, event.name, edges))
    return values


def seen(case: Case, event: str, edges: tuple[bool, bool]) -> list[Occurrence]:
    first, last = edges
    return [
        o
        for o in outputs.occurrences(case.motion, event, case.start)
        if (first or not same_time(o.time, case.start))
        and (last or not same_time(o.time, case.end))
    ]


def at_event(event: str, seen: Sequence[Occurrence]) -> Values:
    times = [float(o.time) for o in seen[-KEPT:]]
    total = sum((o.value(SUM) for o in seen), Fraction(0))
    return {
        f"{event}_count": [len(seen)],
        f"{event}_times": [*times, *[math.nan] * (KEPT - len(times))],
        f"{event}_sum": [float(total)],
    }


# What is computed.


def computed(structure: Structure, cases: Sequence[Case], method: str) -> xr.Dataset:
    (name, values), *_ = CONTROLS[method].items()
    columns = {key: [case.columns[key] for case in cases] for key in cases[0].columns}
    columns[name] = [values[i % len(values)] for i in range(len(cases))]
    bounds = BOUNDS if method != "rk4" else {"maximum_events": BOUNDS["maximum_events"]}
    return points(structure.text, method, rows=columns, **bounds)


def faults(structure: Structure, case: Case, computed: xr.Dataset) -> dict[str, Any]:
    """Outputs that are wrong: what they are and what they should be."""
    status = Status.ok if case.motion.end > case.start else Status.outside_validity
    if int(computed.status) != status:
        return {"status": (int(computed.status), int(status))}
    choices = []
    for edges in case.edges:
        wrong = {
            name: (computed[name].values.tolist(), values)
            for name, values in expected(structure, case, edges).items()
            if not same(computed[name].values, values)
        }
        choices.append(wrong)
    return min(choices, key=len)


def same(values: Any, expected: list[float]) -> bool:
    found = np.atleast_1d(values)
    return np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def compare(seed: int, count: int, method: str) -> tuple[list[str], list[str]]:
    """Descriptions of points that differ, and the reasons for points left out."""
    chosen = structure(seed)
    drawn = list(cases(chosen, seed, count))
    kept = [case for case in drawn if isinstance(case, Case)]
    result = computed(chosen, kept, method)
    wrong = []
    for i, case in enumerate(kept):
        if found := faults(chosen, case, result.isel(case=i)):
            lines = "\n".join(f"{name}: {a} is not {b}" for name, (a, b) in found.items())
            values = ", ".join(f"{name} = {value}" for name, value in case.columns.items())
            wrong.append(f"{method}, structure {seed}, {values}\n{lines}\n")
    return wrong, [reason for reason in drawn if isinstance(reason, str)]


def check(seeds: Sequence[int], count: int, method: str) -> None:
    pairs = [compare(seed, count, method) for seed in seeds]
    wrong = [each for faults, _ in pairs for each in faults]
    left_out = [each for _, reasons in pairs for each in reasons]
    total = len(seeds) * count
    assert len(left_out) <= 0.1 * total, left_out
    texts = "\n".join(wrong[:3])
    assert len(wrong) == 0, f"{len(wrong)} of {total - len(left_out)} points are wrong\n{texts}"


def test_random_models_are_exact() -> None:
    check([28, 55, 152], 22, "rk54")


@pytest.mark.broad
@pytest.mark.parametrize("first", range(10, 60, 10))
def test_two_thousand_random_models_are_exact(first: int) -> None:
    check(range(first, first + 10), 44, "rk54")


@pytest.mark.broad
@pytest.mark.parametrize("method", ["dop853", "rodas4", "rk4"])
def test_random_models_are_exact_with_other_methods(method: str) -> None:
    check(range(100, 110), 44, method)


# The reference itself.

ONE, HALF = Fraction(1), Fraction(1, 2)


def ball(height: Fraction, gravity: Fraction, restitution: Fraction) -> Model:
    impact = Event("impact", X, -1, frozenset([""]), "x", sets={"v": {"v": -restitution}})
    rates: dict[str, Affine] = {"x": {"v": ONE}, "v": {"": -gravity}}
    return Model({"x": height, "v": Fraction(0)}, {"": rates}, (impact,))


def test_the_reference_bounces_a_ball() -> None:
    """From 5 at gravity 10: after 1 s, then each time twice the speed over gravity."""
    motion = follow(ball(Fraction(5), Fraction(10), HALF), Fraction(5, 2))
    assert [o.time for o in motion.occurrences] == [1, 2, Fraction(5, 2)]
    assert motion.final == {"x": 0, "v": Fraction(10, 8)}
    assert outputs.maximum(motion, X, Fraction(1)) == Fraction(5, 4)
    assert outputs.integral(motion, X, Fraction(0)) == 5 - Fraction(10, 6) + 5 / Fraction(6) * (
        1 + Fraction(1, 8)
    )
    with pytest.raises(
        Unclear, match="roundings grow too much"
    ):  # before impacts accumulate at 3 s
        follow(ball(Fraction(5), Fraction(10), HALF), Fraction(3))
