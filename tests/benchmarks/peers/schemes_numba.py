"""Schemes in numba, many points side by side: what a user of numba gets at best.

LANES points stand side by side, and a loop over them without branches, inside the loop over time,
is what LLVM turns into vector instructions. All lanes' state is one array, row after row, since
LLVM could not tell several arrays apart. Products and sums may be fused, as they may not in the
kernels. Wear power only, and no vertical shaking; conventions of the steps, of the friction law and
of the wear are those of the oracle `penalised_schemes`.

Points are arrays of shape (n,) in the order of POINT, in SI units. SHARED take one frequency,
window and step for all points and look the sines up in a table made once; `rk32_choosing`, which
chooses its steps, takes arrays of them. All return the mean wear power in W, of shape (n,).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, sin, sqrt
from typing import Any

import numpy as np
from numba import njit

POINT = (
    "mass", "gravity", "friction", "stiffness", "damping", "base_acceleration",
    "tangential_stiffness", "tangential_damping",
)  # fmt: skip
TIMES = ("angular_frequency", "window_start", "window_end", "step")

LANES = 64
ALWAYS_SLIPS = 1e-6
NO_SENSE = 2.2e-16
NEAR = 1e-9
TINY = 1e-30

# Where in the lanes' array each row begins: what a step changes, the wear,
PLACE, SPEED, RISE, STUCK, FORCE, ANCHOR, WEAR = (LANES * row for row in range(7))
# the point,
INVERSE, BOUND, SPRING, DAMPER, BASE, LAW_SPRING, LAW_DAMPER = (LANES * row for row in range(7, 14))
# and its times.
OMEGA, STEP, START, END, TIME = (LANES * row for row in range(14, 19))
ROWS = 19

jit = njit(nogil=True, error_model="numpy", fastmath={"contract"})
part = njit(nogil=True, error_model="numpy", fastmath={"contract"}, forceinline=True)


def arguments(parameters: Mapping[str, Any], count: int, *, shared: bool) -> list[object]:
    """What the peers take, of parameters under the project's names; those not there are 0.

    `shared`: the times are numbers, of the first point. The penalty's damper is the critical one.
    """
    known = {name: np.zeros(1) for name in POINT} | dict(parameters)
    springs = known["stiffness"] + known["tangential_stiffness"]
    known["tangential_damping"] = 2 * np.sqrt(known["mass"] * springs)
    columns = {name: np.broadcast_to(values, count).copy() for name, values in known.items()}
    times = [float(columns[n][0]) if shared else columns[n] for n in TIMES]
    return [*(columns[name] for name in POINT), *times]


@jit
def _fill(lanes, first, point):
    """The points from `first` on, as POINT has them; where there are no more, the last again."""
    mass, gravity, friction, stiffness, damping, base, spring, damper = point
    for j in range(LANES):
        i = min(first + j, len(mass) - 1)
        for row in range(PLACE, INVERSE, LANES):
            lanes[row + j] = 0.0
        lanes[STUCK + j] = 1.0
        lanes[INVERSE + j] = 1.0 / mass[i]
        lanes[BOUND + j] = friction[i] * mass[i] * gravity[i]
        lanes[SPRING + j] = stiffness[i]
        lanes[DAMPER + j] = damping[i]
        lanes[BASE + j] = base[i]
        lanes[LAW_SPRING + j] = spring[i]
        lanes[LAW_DAMPER + j] = damper[i]


@jit
def _store(lanes, first, wear, point, length):
    mass, gravity = point[0], point[1]
    for j in range(min(LANES, len(mass) - first)):
        i = first + j
        wear[i] = lanes[WEAR + j] * mass[i] * gravity[i] / length[i % len(length)]


@part
def _law(stuck, force, anchor, before, bound, spring, damper, y, v):
    """One evaluation of the friction law: what it remembers, and the force."""
    trial = force - spring * (y - anchor) - damper * v
    goes_on = (v * before >= 0.0) & (stuck == 0.0) & (abs(v) > ALWAYS_SLIPS)
    slips = goes_on | (abs(trial) > bound)
    sliding = bound if v < 0.0 else -bound
    sliding = 0.0 if abs(v) <= NO_SENSE else sliding
    return (
        0.0 if slips else 1.0,
        sliding if slips else force,
        y if slips else anchor,
        sliding if slips else trial,
    )


@part
def _sine(angle):
    """To about 1e-16, of angles up to a million: Taylor's series in [−π/2, π/2]."""
    turns = np.floor(angle * 0.3183098861837907 + 0.5)
    x = (angle - turns * 3.141592653589793) - turns * 1.2246467991473532e-16
    z = x * x
    term = 1.0 / 51090942171709440000.0
    term = -1.0 / 121645100408832000.0 + z * term
    term = 1.0 / 355687428096000.0 + z * term
    term = -1.0 / 1307674368000.0 + z * term
    term = 1.0 / 6227020800.0 + z * term
    term = -1.0 / 39916800.0 + z * term
    term = 1.0 / 362880.0 + z * term
    term = -1.0 / 5040.0 + z * term
    term = 1.0 / 120.0 + z * term
    term = -1.0 / 6.0 + z * term
    odd = turns - 2.0 * np.floor(0.5 * turns)
    return (1.0 - 2.0 * odd) * (x + x * (z * term))


@jit
def _steps_of(length, step):
    """Number of steps of a stretch, and the length of the last."""
    n = max(1, ceil(length / step - NEAR))
    last = length - (n - 1) * step
    return n, step if abs(last - step) <= NEAR * step else last


# --- A step of one lane, which is inlined ---
#
# It takes the lanes, which of them, the step's length and the sines at its nodes. It returns the
# rows that it changes, from PLACE on; its wear ∫ |v| dt, 0 where it does not count; and errors.


@part
def _memory(lanes, j):
    return lanes[STUCK + j], lanes[FORCE + j], lanes[ANCHOR + j]


@part
def _rise(lanes, j, memory, before, y, v, sine):
    """The acceleration by one evaluation of the law, and what the law remembers."""
    stuck, force, anchor, friction_force = _law(
        memory[0], memory[1], memory[2], before, lanes[BOUND + j], lanes[LAW_SPRING + j],
        lanes[LAW_DAMPER + j], y, v,
    )  # fmt: skip
    push = friction_force - lanes[SPRING + j] * y - lanes[DAMPER + j] * v
    return push * lanes[INVERSE + j] - lanes[BASE + j] * sine, (stuck, force, anchor)


@part
def _worn(lanes, j, h, v):
    rubbed = 0.5 * h * (abs(lanes[SPEED + j]) + abs(v))
    return rubbed if lanes[STUCK + j] == 0.0 else 0.0


@part
def _keep(lanes, j, holds, state):
    lanes[PLACE + j] = state[0] if holds else lanes[PLACE + j]
    lanes[SPEED + j] = state[1] if holds else lanes[SPEED + j]
    lanes[RISE + j] = state[2] if holds else lanes[RISE + j]
    lanes[STUCK + j] = state[3] if holds else lanes[STUCK + j]
    lanes[FORCE + j] = state[4] if holds else lanes[FORCE + j]
    lanes[ANCHOR + j] = state[5] if holds else lanes[ANCHOR + j]


@part
def _euler(lanes, j, h, at):
    v0 = lanes[SPEED + j]
    v = v0 + h * lanes[RISE + j]
    y = lanes[PLACE + j] + h * v
    a, memory = _rise(lanes, j, _memory(lanes, j), v0, y, v, at[0])
    return (y, v, a, memory[0], memory[1], memory[2]), _worn(lanes, j, h, v), (0.0, 0.0)


@part
def _rk32(lanes, j, h, at):
    """Bogacki and Shampine's pair."""
    y0, v1, a1 = lanes[PLACE + j], lanes[SPEED + j], lanes[RISE + j]
    y, v2 = y0 + 0.5 * h * v1, v1 + 0.5 * h * a1
    a2, memory = _rise(lanes, j, _memory(lanes, j), v1, y, v2, at[0])
    y, v3 = y0 + 0.75 * h * v2, v1 + 0.75 * h * a2
    a3, memory = _rise(lanes, j, memory, v2, y, v3, at[1])
    y = y0 + h * (2 / 9 * v1 + 1 / 3 * v2 + 4 / 9 * v3)
    v4 = v1 + h * (2 / 9 * a1 + 1 / 3 * a2 + 4 / 9 * a3)
    a4, memory = _rise(lanes, j, memory, v3, y, v4, at[2])
    error_y = h * (-5 / 72 * v1 + 1 / 12 * v2 + 1 / 9 * v3 - 1 / 8 * v4)
    error_v = h * (-5 / 72 * a1 + 1 / 12 * a2 + 1 / 9 * a3 - 1 / 8 * a4)
    state = (y, v4, a4, memory[0], memory[1], memory[2])
    return state, _worn(lanes, j, h, v4), (error_y, error_v)


# --- One clock for all, at constant step ---


@jit
def _schedule(omega, start, end, step, nodes):
    """Length of each step, sine at each of its nodes, and how many come before the window."""
    before, last_before = _steps_of(start, step) if start > 0.0 else (0, step)
    within, last_within = _steps_of(end - start, step)
    lengths = np.empty(before + within)
    sines = np.empty((before + within, len(nodes)))
    for q in range(before + within):
        into, n = (q, before) if q < before else (q - before, within)
        last, base = (last_before, 0.0) if q < before else (last_within, start)
        lengths[q] = last if into == n - 1 else step
        for i in range(len(nodes)):
            sines[q, i] = sin(omega * (base + into * step + nodes[i] * lengths[q]))
    return before, lengths, sines


def _shared(step, *nodes):
    """Of the step's nodes, which are one or three."""
    nodes = np.array(nodes)

    @jit
    def take(lanes, h, sines):
        last = len(sines) - 1
        at = sines[0], sines[min(1, last)], sines[last]
        for j in range(LANES):
            state, worn, _ = step(lanes, j, h, at)
            _keep(lanes, j, True, state)
            lanes[WEAR + j] += worn

    @jit
    def shared(*inputs):
        point, omega, start, end, step = inputs[:-4], inputs[-4], inputs[-3], inputs[-2], inputs[-1]
        before, lengths, sines = _schedule(omega, start, end, step, nodes)
        n_points = len(point[0])
        wear, lanes = np.empty(n_points), np.empty(LANES * ROWS)
        for first in range(0, n_points, LANES):
            _fill(lanes, first, point)
            for q in range(len(lengths)):
                if q == before:
                    lanes[WEAR : WEAR + LANES] = 0.0
                take(lanes, lengths[q], sines[q])
            _store(lanes, first, wear, point, np.array([end - start]))
        return wear

    return shared


SHARED = {"euler": _shared(_euler, 1.0), "rk32": _shared(_rk32, 0.5, 0.75, 1.0)}


# --- Steps that the scheme chooses ---


@part
def _size(before, after):
    moved, size = abs(after - before), abs(before)
    size = moved if moved > size else size
    return size if size > TINY else TINY


@part
def _control(lanes, j, h, proposed, shortened, state, errors, tolerance, longest):
    """Whether the step holds, and the length of the next: 0.9 of what would do."""
    error_y = errors[0] / _size(lanes[PLACE + j], state[0])
    error_v = errors[1] / _size(lanes[SPEED + j], state[1])
    square = 0.5 * (error_y * error_y + error_v * error_v) / (tolerance * tolerance)
    accepted = square < 1.0
    factor = 0.9 * (1.0 / sqrt(sqrt(sqrt(square))))
    factor = 0.2 if factor < 0.2 else factor
    changed = h * (5.0 if factor > 5.0 else factor)
    changed = longest if changed > longest else changed
    return accepted, proposed if accepted & shortened else changed


@jit
def _attempt(lanes, tolerance, longest):
    """A step of variable length in all lanes that are not done; how many are not."""
    left = 0
    for j in range(LANES):
        t, proposed, start = lanes[TIME + j], lanes[STEP + j], lanes[START + j]
        active, omega = t < lanes[END + j], lanes[OMEGA + j]
        stop = start if t < start else lanes[END + j]
        shortened = t + proposed * (1.0 + NEAR) >= stop
        h = stop - t if shortened else proposed
        later = stop if shortened else t + h
        middle, late = _sine(omega * (t + 0.5 * h)), _sine(omega * (t + 0.75 * h))
        at = middle, late, _sine(omega * later)
        state, worn, errors = _rk32(lanes, j, h, at)
        accepted, following = _control(
            lanes, j, h, proposed, shortened, state, errors, tolerance, longest
        )
        holds = accepted & active
        lanes[WEAR + j] += worn if holds & (t >= start) else 0.0
        lanes[STEP + j] = following
        lanes[TIME + j] = later if holds else t
        _keep(lanes, j, holds, state)
        left += 1 if active else 0
    return left


@jit
def rk32_choosing(*inputs):
    """Of points, their times, a tolerance and the longest step."""
    point, tolerance, longest = inputs[:-6], inputs[-2], inputs[-1]
    omega, start, end, step = inputs[-6], inputs[-5], inputs[-4], inputs[-3]
    n_points = len(point[0])
    wear, lanes = np.empty(n_points), np.empty(LANES * ROWS)
    for first in range(0, n_points, LANES):
        _fill(lanes, first, point)
        for j in range(LANES):
            i = min(first + j, n_points - 1)
            lanes[OMEGA + j], lanes[START + j], lanes[END + j] = omega[i], start[i], end[i]
            lanes[STEP + j], lanes[TIME + j] = min(step[i], longest), 0.0
        while _attempt(lanes, tolerance, longest) > 0:
            pass
        _store(lanes, first, wear, point, end - start)
    return wear
