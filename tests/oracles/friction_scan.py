"""The friction oscillator by brute force: every decision looked for on a fine, fixed grid of time.

In scaled units (time 1/ω, length a0/ω², force m a0; κ = k/mω², γ = c/mω, η = μg/a0, ν = μa_v/a0)
the motion is carried from grid point to grid point by the matrix of its linear flow; at each of
them the required force (stuck) or the speed (slipping) is looked at. A change of sign between two
grid points, or a turning point that might hide a pair of zeros, is resolved inside that cell by
bisection on a Taylor series. What a cell hides otherwise is not seen: this is a heuristic, in
double precision, whose strength is that it has no closed form of any event in it.

Next to its counts it tells the *margin* of each point: by how little a decision fell as it did.
Where the margin is well above rounding, a method that decides otherwise is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

PARAMETERS = ("m", "g", "mu", "k", "c", "a0", "w", "av", "phi", "t0", "t1")
ORDER = 16  # of the series in a cell: with rate × step ≤ 1/2 the rest is below 1e-19
BEYOND = 1 / 50  # cycles marched after the window, to see events just beyond its edge
BISECTIONS = 60
NEARLY = 1e-12  # a turning point this far outside of a cell counts as in it: it may be in none
EVENTS_PER_CYCLE = 1000  # more than any motion has: the march has got stuck


class Oscillator(NamedTuple):
    """The scaled equation of motion of one point."""

    stiffness: float  # κ
    damping: float  # γ
    friction: float  # η
    shaking: float  # ν
    cosine: float  # cos φ
    sine: float  # sin φ


class Grid(NamedTuple):
    """A cycle of the shaking in equal cells, with sine and cosine of the phase at their edges."""

    step: float
    cells: int  # to a cycle
    sine: NDArray[np.float64]  # (cells + 1,)
    cosine: NDArray[np.float64]  # (cells + 1,)


class State(NamedTuple):
    """Where and how the mass is, `rest` after the beginning of a cell."""

    cell: int
    rest: float
    sense: int  # of the slip; 0 if stuck
    place: float
    speed: float  # of the slip, never negative
    known_zeros: int  # leading Taylor coefficients of the speed that are zero: just begun


class Room(NamedTuple):
    """Arrays that the march works in, made once."""

    flow: NDArray[np.float64]  # (2, 5)
    series: NDArray[np.float64]  # (ORDER + 1,)
    slips: NDArray[np.int64]  # begun in each stage


class Edge(NamedTuple):
    """A time, as so many whole cells and a rest."""

    cell: int
    rest: float


def scan(
    parameters: Mapping[str, NDArray[np.float64]], steps_per_cycle: int = 4096
) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
    """March each point; `parameters` has the names of `exact` and broadcasts to one dimension.

    Returns, each of shape (n_points,):
    slip_phases: slips (reversals counted) that begin in the window [t0, t1);
    margin: the least amount by which a decision fell as it did: a stuck or reversing mass's force
    against the bound (over the larger of μmg and m a0), a local minimum of the speed or the dip
    after its zero (over a0/ω), the distance of a slip's beginning or end from the window's edges
    (in cycles); inf if nothing ever was decided, 0 if the march got stuck.
    """
    columns = np.broadcast_arrays(*(np.atleast_1d(parameters[name]) for name in PARAMETERS))
    point = np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float64)
    m, _, _, k, c, _, w, *_ = point.T
    rate = 1 + c / (m * w) + np.sqrt(k / m) / w
    if rate.max(initial=0.0) * 2 * np.pi > steps_per_cycle / 2:
        needed = int(4 * np.pi * rate.max()) + 1
        raise ValueError(f"steps_per_cycle={steps_per_cycle!r} is too few here: {needed} would do")
    phase = np.linspace(0, 2 * np.pi, steps_per_cycle + 1)
    grid = Grid(2 * np.pi / steps_per_cycle, steps_per_cycle, np.sin(phase), np.cos(phase))
    slips, margins = _scan(point, grid)
    return {"slip_phases": slips, "margin": margins}


def random_points(n: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Random parameters, one array of shape (n,) each, over every kind of this oscillator.

    Free, sprung (√(k/m)/ω from 1e-3 to 5, some at resonance, some with k of 1e-9 N/m), damped with
    and without spring (under, over and critically), with and without vertical shaking below 0.9 g;
    μg/a0 from 0.03 to 1.2; windows that start after 0 to 3 cycles and last 1 to 4.
    """
    random = np.random.default_rng(seed)

    def spread(low: float, high: float) -> NDArray[np.float64]:
        return np.exp(random.uniform(np.log(low), np.log(high), n))

    m, mu, w = spread(0.1, 10), spread(0.05, 0.7), spread(1, 50)
    g = random.choice([9.81, 10.0, 1.62], n)
    spring = random.choice(5, n, p=[0.3, 0.45, 0.1, 0.05, 0.1])
    ratio = np.choose(spring, [0.0, spread(1e-3, 5), random.uniform(0.5, 5, n), 1.0, 0.0])
    k = np.where(spring == 4, 1e-9, m * (ratio * w) ** 2)
    damper = random.choice(4, n, p=[0.4, 0.35, 0.1, 0.15])
    critical = 2 * np.sqrt(k * m)
    sprung = np.minimum(spread(0.01, 10) * critical, 10 * m * w)
    damping = np.choose(damper, [0.0, m * w * spread(1e-3, 10), critical, sprung])
    load = np.where(random.random(n) < 0.4, random.uniform(-0.9, 0.9, n) * g, 0.0)
    start = np.where(random.random(n) < 0.1, 0.0, random.uniform(0, 3, n))
    cycle = 2 * np.pi / w
    eta = np.where(random.random(n) < 0.5, spread(0.03, 1.2), random.uniform(0.03, 1.2, n))
    return {
        "m": m, "g": g, "mu": mu, "k": k, "c": damping,
        "a0": mu * g / eta, "w": w, "av": load,
        "phi": np.where(load != 0, random.uniform(-np.pi, np.pi, n), 0.0),
        "t0": start * cycle, "t1": (start + random.uniform(1, 4, n)) * cycle,
    }  # fmt: skip


@njit(nogil=True)
def _scan(point, grid):
    """March all points: the slips of each in its window, and its margin."""
    slips, margins = np.zeros(len(point), np.int64), np.full(len(point), np.inf)
    room = Room(np.empty((2, 5)), np.empty(ORDER + 1), np.empty(3, np.int64))
    for i in range(len(point)):
        m, g, mu, k, c, a0, w, av, phi, t0, t1 = point[i]
        if a0 == 0:
            continue
        scaled = Oscillator(
            k / (m * w * w), c / (m * w), mu * g / a0, mu * av / a0, np.cos(phi), np.sin(phi)
        )
        if not _march(scaled, grid, w * t0, w * t1, room, margins[i : i + 1]):
            margins[i] = 0.0
        slips[i] = room.slips[1]
    return slips, margins


@njit(nogil=True)
def _march(scaled, grid, start, end, room, margin):
    """One point from rest at time 0 to a little beyond the window; whether it got there.

    room.slips is filled in for each stage (before, in and after the window); the only element of
    `margin` is lowered to the point's.
    """
    edges = (_edge(start, grid), _edge(end, grid), _edge(end + 2 * np.pi * BEYOND, grid))
    _fill_flow(scaled, grid.step, room.series, room.flow)
    room.slips[:] = 0
    state, stage = State(0, 0.0, 0, 0.0, 0.0, 0), 0
    for _ in range(EVENTS_PER_CYCLE * (1 + (edges[2].cell + 1) // grid.cells)):
        while stage < 3 and (state.cell, state.rest) >= (edges[stage].cell, edges[stage].rest):
            stage += 1
        if stage == 3:
            return True
        edge, slips = edges[stage], room.slips[stage : stage + 1]
        if state.rest == 0 and state.known_zeros == 0 and state.cell < edge.cell:
            state = _leap(scaled, grid, room.flow, state, edge.cell)
            if state.cell == edge.cell:
                continue
        limit = edge.rest if state.cell == edge.cell else grid.step
        sense = state.sense
        if sense == 0:
            state = _wait(scaled, grid, state, limit, slips, margin)
        else:
            state = _slide(scaled, grid, room.series, state, limit, slips, margin)
        if state.sense != sense:
            _note_edges(grid, state, edges, margin)
        if state.rest >= grid.step:
            state = _at_next_cell(state)
    return False


@njit(nogil=True)
def _edge(time, grid):
    """The time as whole cells and a rest."""
    cell = int(np.floor(time / grid.step))
    return Edge(cell, max(0.0, time - cell * grid.step))


@njit(nogil=True)
def _note_edges(grid, state, edges, margin):
    """Lower the margin to the distance of an event from the window's edges, in cycles."""
    for edge in edges[:2]:
        distance = abs((state.cell - edge.cell) * grid.step + state.rest - edge.rest)
        margin[0] = min(margin[0], distance / (2 * np.pi))


@njit(nogil=True)
def _at_next_cell(state):
    """The state at the end of a cell, as one at the beginning of the next."""
    return State(state.cell + 1, 0.0, state.sense, state.place, state.speed, state.known_zeros)


@njit(nogil=True)
def _leap(scaled, grid, flow, state, stop):
    """The state at the next cell in which something might happen, or at cell `stop`."""
    if state.sense == 0:
        cell = _rest(scaled, grid, state.cell, stop, state.place)
        return State(cell, 0.0, 0, state.place, 0.0, 0)
    cell, along, speed = _glide(scaled, grid, flow, state, stop)
    return State(cell, 0.0, state.sense, state.sense * along, speed, 0)


@njit(nogil=True)
def _wait(scaled, grid, state, limit, slips, margin):
    """The state of a mass at rest at its onset in this cell, or still at rest at `limit`."""
    theta = (state.cell % grid.cells) * grid.step
    onset, sense = _onset(scaled, theta, state.rest, limit, state.place, margin)
    slips[0] += sense != 0
    return State(state.cell, onset, sense, state.place, 0.0, 2 if sense != 0 else 0)


@njit(nogil=True)
def _slide(scaled, grid, series, state, limit, slips, margin):
    """The state of a slipping mass after its next zero in this cell, or at `limit`."""
    theta = (state.cell % grid.cells) * grid.step + state.rest
    _fill_series(scaled, theta, state.sense * state.place, state.speed, state.sense, series)
    series[: state.known_zeros] = 0
    span, ends = _first_zero(series, state.known_zeros, limit - state.rest, margin)
    place, rest = state.place + state.sense * _integral(series, span), state.rest + span
    if not ends:
        return State(state.cell, rest, state.sense, place, _value(series, 0, span), 0)
    excess = _excess(scaled, theta + span, place, state.sense)
    margin[0] = min(margin[0], abs(excess) / max(1.0, scaled.friction))
    if excess > 0:
        slips[0] += 1
        return State(state.cell, rest, -state.sense, place, 0.0, 1)
    return State(state.cell, rest, 0, place, 0.0, 0)


@njit(nogil=True)
def _excess(scaled, theta, place, sense):
    """How far the required force in one sense exceeds the friction bound."""
    sine, cosine = np.sin(theta), np.cos(theta)
    load, _ = _load(scaled, sine, cosine)
    return sense * (scaled.stiffness * place + sine) - scaled.friction - scaled.shaking * load


@njit(nogil=True)
def _load(scaled, sine, cosine):
    """sin(τ + φ) and cos(τ + φ), of the sine and cosine of τ."""
    return (
        sine * scaled.cosine + cosine * scaled.sine,
        cosine * scaled.cosine - sine * scaled.sine,
    )


@njit(nogil=True)
def _rest(scaled, grid, cell, stop, place):
    """The first cell from `cell` on in which a mass stuck at `place` might slip, or `stop`."""
    spring, index = scaled.stiffness * place, cell % grid.cells
    load_sine, load_cosine = scaled.shaking * scaled.cosine, scaled.shaking * scaled.sine
    rise_up = rise_down = -1.0
    for at in range(cell, stop + 1):
        sine, cosine = grid.sine[index], grid.cosine[index]
        bound = scaled.friction + load_sine * sine + load_cosine * cosine
        bound_rise = load_sine * cosine - load_cosine * sine
        turned = (rise_up > 0) & (cosine <= bound_rise) | (rise_down > 0) & (-cosine <= bound_rise)
        if at > cell and (turned or abs(spring + sine) > bound):
            return at - 1
        rise_up, rise_down = cosine - bound_rise, -cosine - bound_rise
        index = index + 1 if index + 1 < grid.cells else 0
    return stop


@njit(nogil=True)
def _onset(scaled, theta, rest, limit, place, margin):
    """When in [rest, limit] of the cell that begins at theta the mass slips, and which way."""
    first, sense = limit, 0
    for side in (1, -1):
        sine = side - scaled.shaking * scaled.cosine
        cosine = -scaled.shaking * scaled.sine
        top = np.arctan2(sine, cosine) - theta
        top -= 2 * np.pi * np.round((top - (rest + limit) / 2) / (2 * np.pi))
        turns = rest - NEARLY < top < limit + NEARLY
        right = min(max(top, rest), limit) if turns else limit
        excess = _excess(scaled, theta + right, place, side)
        if turns or excess > 0:
            greatest = _excess(scaled, theta + top, place, side)
            margin[0] = min(margin[0], abs(greatest) / max(1.0, scaled.friction))
        if excess > 0:
            left = rest
            for _ in range(BISECTIONS):
                middle = (left + right) / 2
                if _excess(scaled, theta + middle, place, side) > 0:
                    right = middle
                else:
                    left = middle
            if sense == 0 or right < first:
                first, sense = right, -side
    return first, sense


@njit(nogil=True)
def _fill_series(scaled, theta, along, speed, sense, series):
    """Taylor coefficients of the slip speed about the phase theta; `along` is σ times the place."""
    sine, cosine = np.sin(theta), np.cos(theta)
    load, load_slope = _load(scaled, sine, cosine)
    push = sense * sine + scaled.shaking * load
    slope = sense * cosine + scaled.shaking * load_slope
    _recur(scaled, along, speed, push, slope, scaled.friction, series)


@njit(nogil=True)
def _recur(scaled, along, speed, push, slope, steady, series):
    """s' = −γs − κp − steady − f with f = push, f' = slope, f'' = −f, term by term."""
    series[0] = speed
    for n in range(ORDER):
        rise = -scaled.damping * speed - scaled.stiffness * along - push - steady
        along, speed = speed / (n + 1), rise / (n + 1)
        push, slope, steady = slope / (n + 1), -push / (n + 1), 0.0
        series[n + 1] = speed


@njit(nogil=True)
def _fill_flow(scaled, step, series, flow):
    """(along, speed) after one cell, by (along, speed, push, slope, 1) before it."""
    for column in range(5):
        unit = np.zeros(5)
        unit[column] = 1.0
        _recur(scaled, unit[0], unit[1], unit[2], unit[3], unit[4] * scaled.friction, series)
        flow[0, column] = unit[0] + _integral(series, step)
        flow[1, column] = _value(series, 0, step)


@njit(nogil=True)
def _glide(scaled, grid, flow, state, stop):
    """Slip on over whole cells, to the first in which the speed has or hides a zero, or to `stop`.

    Returns that cell, the place along the slip and the speed there.
    """
    kappa, gamma, eta, nu = scaled.stiffness, scaled.damping, scaled.friction, scaled.shaking
    push_sine, push_cosine = state.sense + nu * scaled.cosine, nu * scaled.sine
    pp, ps, pf, pd, pc = flow[0]
    sp, ss, sf, sd, sc = flow[1]
    cell, speed, along = state.cell, state.speed, state.sense * state.place
    index = cell % grid.cells
    sine, cosine = grid.sine[index], grid.cosine[index]
    push = push_sine * sine + push_cosine * cosine
    rise = -gamma * speed - kappa * along - push - eta
    while cell < stop:
        slope = push_sine * cosine - push_cosine * sine
        next_along = pp * along + ps * speed + pf * push + pd * slope + pc
        next_speed = sp * along + ss * speed + sf * push + sd * slope + sc
        index = index + 1 if index + 1 < grid.cells else 0
        sine, cosine = grid.sine[index], grid.cosine[index]
        next_push = push_sine * sine + push_cosine * cosine
        next_rise = -gamma * next_speed - kappa * next_along - next_push - eta
        if next_speed <= 0 or (rise < 0 and next_rise >= 0):
            break
        along, speed, push, rise, cell = next_along, next_speed, next_push, next_rise, cell + 1
    return cell, along, speed


@njit(nogil=True)
def _first_zero(series, known_zeros, span, margin):
    """The first zero of the speed in (0, span] beyond the known ones at 0, or span; and whether."""
    left = 0.0
    for part in range(1, 9):
        right = span * part / 8
        bottom = right
        if _slope(series, known_zeros, left) < 0 <= _slope(series, known_zeros, right):
            bottom = _bisect(series, known_zeros, left, right, True)
        if _value(series, known_zeros, bottom) <= 0:
            zero = _bisect(series, known_zeros, left, bottom, False)
            fall, bend = _slope(series, 0, zero), _bend(series, zero)
            if bend > 0:
                margin[0] = min(margin[0], fall * fall / (2 * bend))
            return zero, True
        if _slope(series, 0, left) < 0 <= _slope(series, 0, right):
            margin[0] = min(margin[0], _value(series, 0, bottom))
        left = right
    return span, False


@njit(nogil=True)
def _bisect(series, skip, left, right, of_slope):
    """Where series[skip:], falling through zero, or its slope, rising through zero, does so."""
    for _ in range(BISECTIONS):
        middle = (left + right) / 2
        before = _slope(series, skip, middle) < 0 if of_slope else _value(series, skip, middle) > 0
        if before:
            left = middle
        else:
            right = middle
    return right


@njit(nogil=True)
def _value(series, skip, place):
    """The polynomial with coefficients series[skip:] at `place`."""
    total = 0.0
    for n in range(ORDER, skip - 1, -1):
        total = total * place + series[n]
    return total


@njit(nogil=True)
def _slope(series, skip, place):
    """The derivative of the polynomial with coefficients series[skip:] at `place`."""
    total = 0.0
    for n in range(ORDER, skip, -1):
        total = total * place + (n - skip) * series[n]
    return total


@njit(nogil=True)
def _bend(series, place):
    """The second derivative of the series at `place`."""
    total = 0.0
    for n in range(ORDER, 1, -1):
        total = total * place + n * (n - 1) * series[n]
    return total


@njit(nogil=True)
def _integral(series, span):
    """The integral of the series over [0, span]."""
    total = 0.0
    for n in range(ORDER, -1, -1):
        total = total * span + series[n] / (n + 1)
    return total * span
