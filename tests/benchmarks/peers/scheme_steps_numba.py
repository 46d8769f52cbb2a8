"""A step of each scheme in numba, of one lane: parts that drivers inline into their loops.

A step takes the lanes, which of them, the step's length and the sines at its nodes (of `shaken`
also the cosine). It returns the rows that it changes, from PLACE on; its wear ∫ |v| N/(m g) dt,
0 where it does not count; and two or three numbers that a control of the step looks at. A control
says whether the step holds, and the length of the next.
"""

from __future__ import annotations

from math import sqrt

from tests.benchmarks.peers.lanes_numba import (
    ALSO_OF_LENGTH,
    ANCHOR,
    BASE,
    BOUND,
    DAMPER,
    FIRST,
    FORCE,
    INVERSE,
    LAW_DAMPER,
    LAW_SPRING,
    LOAD_COSINE,
    LOAD_SINE,
    OF_LENGTH,
    PLACE,
    QUIET,
    RETRIES,
    RISE,
    SECOND,
    SPEED,
    SPRING,
    STUCK,
    THIRD,
    law,
    part,
)

THETA = 0.55  # of `moreau`
TINY = 1e-30
APPARENT_PERIOD = 50.0 / 6.283185307179586


@part
def _memory(lanes, j):
    return lanes[STUCK + j], lanes[FORCE + j], lanes[ANCHOR + j]


@part
def _friction(lanes, j, memory, before, y, v, load):
    """One evaluation of the law under a load: the force, and what the law remembers."""
    stuck, force, anchor, friction_force = law(
        memory[0], memory[1], memory[2], before, load * lanes[BOUND + j], lanes[LAW_SPRING + j],
        lanes[LAW_DAMPER + j], y, v,
    )  # fmt: skip
    return friction_force, (stuck, force, anchor)


@part
def _rise(lanes, j, memory, before, y, v, load, sine):
    """The acceleration, and what the law remembers."""
    friction_force, memory = _friction(lanes, j, memory, before, y, v, load)
    push = friction_force - lanes[SPRING + j] * y - lanes[DAMPER + j] * v
    return push * lanes[INVERSE + j] - lanes[BASE + j] * sine, memory


@part
def _undamped(lanes, j, memory, before, y, v, sine):
    """The same without c."""
    friction_force, memory = _friction(lanes, j, memory, before, y, v, 1.0)
    push = friction_force - lanes[SPRING + j] * y
    return push * lanes[INVERSE + j] - lanes[BASE + j] * sine, memory


@part
def _worn(lanes, j, h, v):
    rubbed = 0.5 * h * (abs(lanes[SPEED + j]) + abs(v))
    return rubbed if lanes[STUCK + j] == 0.0 else 0.0


@part
def euler(lanes, j, h, at):
    v0 = lanes[SPEED + j]
    v = v0 + h * lanes[RISE + j]
    y = lanes[PLACE + j] + h * v
    a, memory = _rise(lanes, j, _memory(lanes, j), v0, y, v, 1.0, at[0])
    return (y, v, a, memory[0], memory[1], memory[2]), _worn(lanes, j, h, v), (0.0, 0.0)


@part
def shaken_euler(lanes, j, h, at):
    """Under vertical shaking; `at` are the sine and the cosine at the end."""
    v0, rate0 = lanes[SPEED + j], lanes[FIRST + j]
    v = v0 + h * lanes[RISE + j]
    y = lanes[PLACE + j] + h * v
    load = 1.0 + lanes[LOAD_SINE + j] * at[0] + lanes[LOAD_COSINE + j] * at[1]
    a, memory = _rise(lanes, j, _memory(lanes, j), v0, y, v, load, at[0])
    rate = abs(v) * load
    worn = 0.5 * h * (rate0 + rate) if lanes[STUCK + j] == 0.0 else 0.0
    return (y, v, a, memory[0], memory[1], memory[2], rate), worn, (0.0, 0.0)


@part
def nothing(lanes, j, h):
    """What most schemes make of the step's length."""


@part
def prepare_devogelaere(lanes, j, h):
    c = lanes[DAMPER + j] * lanes[INVERSE + j]
    lanes[OF_LENGTH + j] = 1.0 / (4.0 + h * c)
    lanes[ALSO_OF_LENGTH + j] = 1.0 / (6.0 + h * c)


@part
def devogelaere(lanes, j, h, at):
    """RISE is f without c; FIRST and SECOND are f and v half a step ago, THIRD the law's speed."""
    y0, v0, f0, half = lanes[PLACE + j], lanes[SPEED + j], lanes[RISE + j], 0.5 * h
    c = lanes[DAMPER + j] * lanes[INVERSE + j]
    drive = 4.0 * f0 - lanes[FIRST + j] - c * (4.0 * v0 - lanes[SECOND + j])
    y_half = y0 + half * v0 + h * h * (1.0 / 24.0) * drive
    speed = (y_half - y0) * (2.0 / h)
    f_half, memory = _undamped(lanes, j, _memory(lanes, j), lanes[THIRD + j], y_half, speed, at[0])
    v_half = (4.0 * v0 + h * (f0 + f_half - c * v0)) * lanes[OF_LENGTH + j]
    y = y0 + h * v0 + h * h * (1.0 / 6.0) * (f0 + 2.0 * f_half - c * (v0 + 2.0 * v_half))
    last = (y - y_half) * (2.0 / h)
    f, memory = _undamped(lanes, j, memory, speed, y, last, at[1])
    drive = f0 + 4.0 * f_half + f - c * (v0 + 4.0 * v_half)
    v = (6.0 * v0 + h * drive) * lanes[ALSO_OF_LENGTH + j]
    state = (y, v, f, memory[0], memory[1], memory[2], f_half, v_half, last)
    return state, _worn(lanes, j, h, v), (0.0, 0.0)


@part
def adapt_ordre2(lanes, j, h, at):
    """FIRST is the velocity half a step ago, SECOND that step's length."""
    y0, a0 = lanes[PLACE + j], lanes[RISE + j]
    v_half = lanes[FIRST + j] + a0 * 0.5 * (lanes[SECOND + j] + h)
    y, v = y0 + h * v_half, v_half + 0.5 * h * a0
    a, memory = _rise(lanes, j, _memory(lanes, j), lanes[SPEED + j], y, v, 1.0, at[0])
    state = (y, v, a, memory[0], memory[1], memory[2], v_half, h)
    return state, _worn(lanes, j, h, v), (abs(a - a0), abs(y - y0), abs(v_half))


@part
def rk32(lanes, j, h, at):
    """Bogacki and Shampine's pair."""
    y0, v1, a1 = lanes[PLACE + j], lanes[SPEED + j], lanes[RISE + j]
    y, v2 = y0 + 0.5 * h * v1, v1 + 0.5 * h * a1
    a2, memory = _rise(lanes, j, _memory(lanes, j), v1, y, v2, 1.0, at[0])
    y, v3 = y0 + 0.75 * h * v2, v1 + 0.75 * h * a2
    a3, memory = _rise(lanes, j, memory, v2, y, v3, 1.0, at[1])
    y = y0 + h * (2 / 9 * v1 + 1 / 3 * v2 + 4 / 9 * v3)
    v4 = v1 + h * (2 / 9 * a1 + 1 / 3 * a2 + 4 / 9 * a3)
    a4, memory = _rise(lanes, j, memory, v3, y, v4, 1.0, at[2])
    error_y = h * (-5 / 72 * v1 + 1 / 12 * v2 + 1 / 9 * v3 - 1 / 8 * v4)
    error_v = h * (-5 / 72 * a1 + 1 / 12 * a2 + 1 / 9 * a3 - 1 / 8 * a4)
    state = (y, v4, a4, memory[0], memory[1], memory[2])
    return state, _worn(lanes, j, h, v4), (error_y, error_v)


@part
def rk54(lanes, j, h, at):
    """Dormand and Prince's pair."""
    y0, v1, a1 = lanes[PLACE + j], lanes[SPEED + j], lanes[RISE + j]
    y, v2 = y0 + h * (1 / 5 * v1), v1 + h * (1 / 5 * a1)
    a2, memory = _rise(lanes, j, _memory(lanes, j), v1, y, v2, 1.0, at[0])
    y, v3 = y0 + h * (3 / 40 * v1 + 9 / 40 * v2), v1 + h * (3 / 40 * a1 + 9 / 40 * a2)
    a3, memory = _rise(lanes, j, memory, v2, y, v3, 1.0, at[1])
    y = y0 + h * (44 / 45 * v1 - 56 / 15 * v2 + 32 / 9 * v3)
    v4 = v1 + h * (44 / 45 * a1 - 56 / 15 * a2 + 32 / 9 * a3)
    a4, memory = _rise(lanes, j, memory, v3, y, v4, 1.0, at[2])
    y = y0 + h * (19372 / 6561 * v1 - 25360 / 2187 * v2 + 64448 / 6561 * v3 - 212 / 729 * v4)
    v5 = v1 + h * (19372 / 6561 * a1 - 25360 / 2187 * a2 + 64448 / 6561 * a3 - 212 / 729 * a4)
    a5, memory = _rise(lanes, j, memory, v4, y, v5, 1.0, at[3])
    y = y0 + h * (
        9017 / 3168 * v1 - 355 / 33 * v2 + 46732 / 5247 * v3 + 49 / 176 * v4 - 5103 / 18656 * v5
    )
    v6 = v1 + h * (
        9017 / 3168 * a1 - 355 / 33 * a2 + 46732 / 5247 * a3 + 49 / 176 * a4 - 5103 / 18656 * a5
    )
    a6, memory = _rise(lanes, j, memory, v5, y, v6, 1.0, at[4])
    y = y0 + h * (
        35 / 384 * v1 + 500 / 1113 * v3 + 125 / 192 * v4 - 2187 / 6784 * v5 + 11 / 84 * v6
    )
    v7 = v1 + h * (
        35 / 384 * a1 + 500 / 1113 * a3 + 125 / 192 * a4 - 2187 / 6784 * a5 + 11 / 84 * a6
    )
    a7, memory = _rise(lanes, j, memory, v6, y, v7, 1.0, at[4])
    error_y = h * (
        71 / 57600 * v1 - 71 / 16695 * v3 + 71 / 1920 * v4 - 17253 / 339200 * v5 + 22 / 525 * v6
        - 1 / 40 * v7
    )  # fmt: skip
    error_v = h * (
        71 / 57600 * a1 - 71 / 16695 * a3 + 71 / 1920 * a4 - 17253 / 339200 * a5 + 22 / 525 * a6
        - 1 / 40 * a7
    )  # fmt: skip
    state = (y, v7, a7, memory[0], memory[1], memory[2])
    return state, _worn(lanes, j, h, v7), (error_y, error_v)


@part
def prepare_moreau(lanes, j, h):
    share = h * THETA
    c, k = lanes[DAMPER + j] * lanes[INVERSE + j], lanes[SPRING + j] * lanes[INVERSE + j]
    lanes[OF_LENGTH + j] = 1.0 + share * c + share * share * k
    lanes[ALSO_OF_LENGTH + j] = 1.0 / lanes[OF_LENGTH + j]


@part
def moreau(lanes, j, h, at):
    """`at` are the sines at the beginning and at the end."""
    y0, v0, inverse = lanes[PLACE + j], lanes[SPEED + j], lanes[INVERSE + j]
    k, c = lanes[SPRING + j] * inverse, lanes[DAMPER + j] * inverse
    push = -lanes[BASE + j] * (THETA * at[1] + (1.0 - THETA) * at[0])
    momentum = lanes[OF_LENGTH + j] * v0 + h * (push - c * v0 - k * (y0 + h * THETA * v0))
    left = abs(momentum) - h * lanes[BOUND + j] * inverse
    moved = left * lanes[ALSO_OF_LENGTH + j]
    v = 0.0 if left <= 0.0 else (moved if momentum > 0.0 else -moved)
    mean = THETA * v + (1.0 - THETA) * v0
    return (y0 + h * mean, v), h * abs(mean), (0.0, 0.0)


@part
def keep_two(lanes, j, holds, state):
    lanes[PLACE + j] = state[0] if holds else lanes[PLACE + j]
    lanes[SPEED + j] = state[1] if holds else lanes[SPEED + j]


@part
def keep_six(lanes, j, holds, state):
    keep_two(lanes, j, holds, state)
    lanes[RISE + j] = state[2] if holds else lanes[RISE + j]
    lanes[STUCK + j] = state[3] if holds else lanes[STUCK + j]
    lanes[FORCE + j] = state[4] if holds else lanes[FORCE + j]
    lanes[ANCHOR + j] = state[5] if holds else lanes[ANCHOR + j]


@part
def keep_seven(lanes, j, holds, state):
    keep_six(lanes, j, holds, state)
    lanes[FIRST + j] = state[6] if holds else lanes[FIRST + j]


@part
def keep_eight(lanes, j, holds, state):
    keep_seven(lanes, j, holds, state)
    lanes[SECOND + j] = state[7] if holds else lanes[SECOND + j]


@part
def keep_nine(lanes, j, holds, state):
    keep_eight(lanes, j, holds, state)
    lanes[THIRD + j] = state[8] if holds else lanes[THIRD + j]


@part
def _size(before, after):
    moved, size = abs(after - before), abs(before)
    size = moved if moved > size else size
    return size if size > TINY else TINY


@part
def _share(lanes, j, state, errors, tolerance):
    """Of the error that is allowed; its square."""
    error_y = errors[0] / _size(lanes[PLACE + j], state[0])
    error_v = errors[1] / _size(lanes[SPEED + j], state[1])
    return 0.5 * (error_y * error_y + error_v * error_v) / (tolerance * tolerance)


@part
def _next(h, proposed, accepted, shortened, root, longest):
    """The length that is 0.9 of what would do, `root` being the error's power −1/(order + 1)."""
    factor = 0.9 * root
    factor = 0.2 if factor < 0.2 else factor
    changed = h * (5.0 if factor > 5.0 else factor)
    changed = longest if changed > longest else changed
    return proposed if accepted & shortened else changed


@part
def control_constant(lanes, j, h, proposed, shortened, state, errors, tolerance, longest):
    return True, proposed


@part
def control_rk32(lanes, j, h, proposed, shortened, state, errors, tolerance, longest):
    square = _share(lanes, j, state, errors, tolerance)
    root = 1.0 / sqrt(sqrt(sqrt(square)))
    return square < 1.0, _next(h, proposed, square < 1.0, shortened, root, longest)


@part
def control_rk54(lanes, j, h, proposed, shortened, state, errors, tolerance, longest):
    """The sixth root by Newton's steps, since a power is no vector instruction."""
    square = _share(lanes, j, state, errors, tolerance)
    bounded = 1e-10 if square < 1e-10 else (1e10 if square > 1e10 else square)
    x = sqrt(sqrt(bounded))
    fourth = sqrt(sqrt(x))
    sixteenth = sqrt(sqrt(fourth))
    root = 1.0 / (fourth * sixteenth * sqrt(sqrt(sixteenth)))
    for _ in range(4):
        root += root * (1.0 / 3.0) * (1.0 - x * (root * root * root))
    return square < 1.0, _next(h, proposed, square < 1.0, shortened, root, longest)


@part
def control_adapt_ordre2(lanes, j, h, proposed, shortened, state, change, tolerance, longest):
    """`tolerance` is the step's greatest length in 1/50 of the apparent period."""
    quiet, retries = lanes[QUIET + j], lanes[RETRIES + j]
    least = 0.01 * change[2] * h
    move = change[1] if change[1] > least else least
    length = APPARENT_PERIOD / tolerance * h
    bend = change[0] * (length * length)
    rests = move == 0.0
    accepted = (bend < move) | rests | (retries >= 16.0)
    smooth = (bend < 0.5625 * move) | rests
    kept = quiet if accepted & shortened else 0.0
    quiet = quiet + 1.0 if accepted & smooth & (not shortened) else kept
    longer = quiet >= 5.0
    grown = 1.1 * proposed
    grown = longest if grown > longest else grown
    lanes[QUIET + j] = 0.0 if longer else quiet
    lanes[RETRIES + j] = 0.0 if accepted else retries + 1.0
    return accepted, (grown if longer else proposed) if accepted else h * (1.0 / 1.3333334)
