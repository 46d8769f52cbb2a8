"""Motions by SciPy from event to event, as pieces with dense solutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

State = Any  # (n_states,)


@dataclass
class Switch:
    """An event: `then` is the state right after; without it, the event is only noted."""

    when: Callable[[float, State], float]
    direction: int
    then: Callable[[State], State] | None = None
    stops: bool = False
    times: list[float] = field(default_factory=list)
    states: list[State] = field(default_factory=list)  # right before


def solve(
    slope: Callable[[float, State], Any],
    start: State,
    end: float,
    switches: Sequence[Switch] = (),
    method: str = "DOP853",
    rtol: float = 1e-13,
    atol: float = 1e-14,
    max_step: float = inf,
) -> Any:
    """The pieces (SciPy's solutions, dense) between the events."""
    pieces, t, y = [], 0.0, np.array(start, dtype=float)

    def event(switch: Switch) -> Any:
        crossing: Any = lambda t, y: switch.when(t, y)  # noqa: E731 - SciPy reads its attributes
        crossing.terminal = switch.stops or switch.then is not None
        crossing.direction = switch.direction
        return crossing

    while t < end:
        piece: Any = solve_ivp(
            slope, (t, end), y, method=method, rtol=rtol, atol=atol, max_step=max_step,
            dense_output=True, events=[event(each) for each in switches],
        )  # fmt: skip
        assert piece.success, piece.message
        pieces.append(piece)
        t, y = piece.t[-1], piece.y[:, -1]
        for switch, times, states in zip(switches, piece.t_events, piece.y_events, strict=True):
            switch.times.extend(times)
            switch.states.extend(states)
            if len(times) and switch.stops:
                return pieces
            if len(times) and switch.then is not None:
                y = np.array(switch.then(y), dtype=float)
    return pieces


def final(pieces: Any) -> State:
    return pieces[-1].y[:, -1]


def largest(pieces: Any, value: Callable[[float, State], float], start: float = 0.0) -> float:
    """The maximum of an expression from `start` on, by minimisation around the largest sample."""
    best = -inf
    for piece in pieces:
        a, b = max(piece.t[0], start), piece.t[-1]
        if a >= b:
            continue
        times = np.linspace(a, b, min(max(2000, int(200 * (b - a))), 100_000))
        times = np.union1d(times, piece.t[(piece.t >= a) & (piece.t <= b)])
        samples = [value(t, piece.sol(t)) for t in times]
        i = int(np.argmax(samples))
        bracket = (times[max(i - 1, 0)], times[min(i + 1, len(times) - 1)])
        minimum: Any = minimize_scalar(
            lambda t, p=piece: -value(t, p.sol(t)), bounds=bracket, method="bounded",
            options={"xatol": 1e-12},
        )  # fmt: skip
        best = max(best, samples[i], -minimum.fun)
    return best


def mean(pieces: Any, value: Callable[[float, State], float], start: float, end: float) -> float:
    """The mean of a smooth expression over the window, by Gauss's rule on each step."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    total = 0.0
    for piece in pieces:
        edges = np.unique(np.clip([start, end, *piece.t], max(piece.t[0], start), piece.t[-1]))
        for a, b in pairwise(edges):
            times = 0.5 * (a + b) + 0.5 * (b - a) * nodes
            values = [value(t, piece.sol(t)) for t in times]
            total += 0.5 * (b - a) * float(np.dot(weights, values))
    return total / (end - start)
