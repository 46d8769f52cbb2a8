"""A driven mass with a stop whose forces jump, by SciPy from jump to jump and impact to impact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, minimize_scalar

Curve = Callable[[float], float]


@dataclass
class Samples:
    """A signal: linear between samples, of which two may have one time, or constant after each."""

    times: Sequence[float]
    values: Sequence[float]
    stays: bool = False

    def between(self, a: float, b: float) -> Curve:
        """The curve between two times with no sample between them."""
        middle = (a + b) / 2
        i = max(k for k, t in enumerate(self.times) if t <= middle)
        t0, y0 = self.times[i], self.values[i]
        if self.stays or i + 1 == len(self.times):
            return lambda _: y0
        slope = (self.values[i + 1] - y0) / (self.times[i + 1] - t0)
        return lambda t: y0 + slope * (t - t0)

    def at(self, time: float) -> float:
        """The value at a sample; where it jumps, the one after."""
        return self.values[max(k for k, t in enumerate(self.times) if t == time)]


@dataclass
class Piece:
    """A part of the motion without jumps and impacts."""

    start: float
    end: float
    motion: Any  # time -> (x, v)
    load: Curve
    ramp: Curve


@dataclass
class Driven:
    """x'' = -9 x - 0.3 x' + load + max(ramp - x, 0); impacts at x = stop, rising."""

    load: Samples
    ramp: Samples
    stop: float
    end: float
    impacts: list[float] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)

    def solve(self) -> None:
        edges = sorted({0.0, self.end, *self.load.times, *self.ramp.times})
        state = np.array([0.0, 0.0])
        for a, b in pairwise([t for t in edges if 0 <= t <= self.end]):
            t, load, ramp = a, self.load.between(a, b), self.ramp.between(a, b)

            def rates(t: float, y: Any, load: Curve = load, ramp: Curve = ramp) -> list[float]:
                force = load(t) + max(ramp(t) - y[0], 0.0)
                return [y[1], -9 * y[0] - 0.3 * y[1] + force]

            def hit(_: float, y: Any) -> float:
                return y[0] - self.stop

            # SciPy reads attributes of the function, which functions do not declare.
            hit.terminal, hit.direction = True, 1  # type: ignore[attr-defined]
            while t < b:
                solved: Any = solve_ivp(
                    rates, (t, b), state, "DOP853", rtol=1e-12, atol=1e-13, max_step=0.01,
                    dense_output=True, events=[hit],
                )  # fmt: skip
                self.pieces.append(Piece(t, solved.t[-1], solved.sol, load, ramp))
                t, state = float(solved.t[-1]), solved.y[:, -1].copy()
                if solved.status == 1:
                    self.impacts.append(t)
                    state = np.array([self.stop, -0.7 * state[1]])

    def crossings(self, value: Callable[[Piece, float], float], start: float) -> list[float]:
        """The times at which a value rises through zero, in the motion or by a jump."""
        found: list[float] = []
        last = 0.0  # the sign before
        for piece in self.pieces:
            inside = 1e-9 * (piece.end - piece.start)
            times = np.linspace(piece.start + inside, piece.end - inside, 400)
            values = [value(piece, t) for t in times]
            if last < 0 < values[0]:
                found.append(piece.start)
            for (a, ya), (b, yb) in pairwise(zip(times, values, strict=True)):
                if ya < 0 < yb:
                    found.append(float(brentq(lambda t, p=piece: value(p, t), a, b, xtol=1e-14)))
            last = values[-1]
        return [t for t in found if t >= start]

    def integral(self, value: Callable[[Piece, float], float], start: float) -> float:
        """The integral over the window."""
        total = 0.0
        for a, b, piece in self._from(start):
            for c, d in pairwise(np.linspace(a, b, 21)):
                total += quad(lambda t, p=piece: value(p, t), c, d, epsabs=1e-13, epsrel=1e-11)[0]
        return total

    def largest(self, value: Callable[[Piece, float], float], start: float) -> float:
        """The largest value in the window, before and after jumps."""
        best = -np.inf
        for a, b, piece in self._from(start):
            times = np.linspace(a, b, 200)
            values = [value(piece, t) for t in times]
            i = int(np.argmax(values))
            bounds = (times[max(i - 1, 0)], times[min(i + 1, 199)])
            found: Any = minimize_scalar(
                lambda t, p=piece: -value(p, t), bounds=bounds, method="bounded",
                options={"xatol": 1e-12},
            )  # fmt: skip
            best = max(best, values[i], -found.fun)
        return best

    def state(self, time: float) -> Any:
        """(x, v) at a time, before an impact."""
        piece = next(p for p in self.pieces if p.start <= time <= p.end)
        return piece.motion(time)

    def _from(self, start: float) -> Iterator[tuple[float, float, Piece]]:
        for piece in self.pieces:
            if piece.end > start:
                yield max(piece.start, start), piece.end, piece
