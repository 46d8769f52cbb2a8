"""Penalised schemes in numba, many points side by side, for a mass without vertical shaking.

The time loop is outside and a loop over LANES points inside, without branches, so that LLVM turns
it into vector instructions: what a user of numba gets at best. Wear power only; conventions of the
steps, of the friction law and of the wear are those of the oracle `penalised_schemes`. All lanes'
state is one array, lane after lane, since LLVM could not tell several arrays apart. Products and
sums may be fused, as they may not in the kernels.

Points are arrays of shape (n,) in the order of POINT, in SI units. The `shared` functions take one
frequency, window and step for all points and look the sine up in a table made once; the others
take arrays of them. All return the mean wear power in W, of shape (n,).
"""

from __future__ import annotations

from math import ceil, sin, sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

Values = NDArray[np.float64]

POINT = (
    "mass", "gravity", "friction", "stiffness", "damping", "base_acceleration",
    "tangential_stiffness", "tangential_damping",
)  # fmt: skip

LANES = 64
ANCHORED = 64  # steps from one sine to the next; rotations in between
ALWAYS_SLIPS = 1e-6
NO_SENSE = 2.2e-16
TINY = 1e-30
NEAR = 1e-9

# Where in the lanes' array each row begins.
PLACE, SPEED, RISE, STUCK, FORCE, ANCHOR, WEAR = (LANES * row for row in range(7))
INVERSE, BOUND, SPRING, DAMPER, BASE = (LANES * row for row in range(7, 12))
LAW_SPRING, LAW_DAMPER = (LANES * row for row in range(12, 14))
OMEGA, STEP, START, END, TIME = (LANES * row for row in range(14, 19))
STEPS, LAST, SINE, COSINE, END_SINE, TURN_SINE, TURN_COSINE = (LANES * row for row in range(19, 26))
ROWS = 26

jit = njit(nogil=True, error_model="numpy", fastmath={"contract"})
part = njit(nogil=True, error_model="numpy", fastmath={"contract"}, forceinline=True)


# --- Parts ---


@jit
def _fill(lanes, first, mass, gravity, friction, stiffness, damping, base, spring, damper):
    """The points from `first` on; where there are no more, the last one again."""
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
def _fill_times(lanes, first, omega, start, end, step):
    for j in range(LANES):
        i = min(first + j, len(omega) - 1)
        lanes[OMEGA + j] = omega[i]
        lanes[START + j] = start[i]
        lanes[END + j] = end[i]
        lanes[STEP + j] = step[i]
        lanes[TIME + j] = 0.0


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
def _steps(length, step):
    """Number of steps of a stretch, and the length of the last."""
    n = max(1, ceil(length / step - NEAR))
    last = length - (n - 1) * step
    return n, step if abs(last - step) <= NEAR * step else last


@jit
def _schedule(omega, start, end, step, stages):
    """Length of each step, sine at each of its stages, and how many come before the window."""
    before, last_before = _steps(start, step) if start > 0.0 else (0, step)
    within, last_within = _steps(end - start, step)
    lengths = np.empty(before + within)
    sines = np.empty((before + within, len(stages)))
    for q in range(before + within):
        into, n = (q, before) if q < before else (q - before, within)
        last, base = (last_before, 0.0) if q < before else (last_within, start)
        lengths[q] = last if into == n - 1 else step
        for stage in range(len(stages)):
            sines[q, stage] = sin(omega * (base + into * step + stages[stage] * lengths[q]))
    return before, lengths, sines


@jit
def _store(lanes, first, wear, mass, gravity, length):
    for j in range(min(LANES, len(mass) - first)):
        i = first + j
        wear[i] = lanes[WEAR + j] * mass[i] * gravity[i] / length[i % len(length)]


# --- Euler ---


def _euler_step(with_wear: bool):
    """A step of all lanes at once, the sine given."""

    @jit
    def step(lanes, h, sine):
        for j in range(LANES):
            v0, stuck0 = lanes[SPEED + j], lanes[STUCK + j]
            v = v0 + h * lanes[RISE + j]
            y = lanes[PLACE + j] + h * v
            stuck, force, anchor, found = _law(
                stuck0, lanes[FORCE + j], lanes[ANCHOR + j], v0, lanes[BOUND + j],
                lanes[LAW_SPRING + j], lanes[LAW_DAMPER + j], y, v,
            )  # fmt: skip
            load = found - lanes[SPRING + j] * y - lanes[DAMPER + j] * v
            lanes[RISE + j] = load * lanes[INVERSE + j] - lanes[BASE + j] * sine
            lanes[PLACE + j] = y
            lanes[SPEED + j] = v
            lanes[STUCK + j] = stuck
            lanes[FORCE + j] = force
            lanes[ANCHOR + j] = anchor
            if with_wear:
                rubbed = 0.5 * h * (abs(v0) + abs(v))
                lanes[WEAR + j] += rubbed if stuck0 == 0.0 else 0.0

    return step


_euler, _euler_with_wear = _euler_step(False), _euler_step(True)


@jit
def euler_shared(
    mass, gravity, friction, stiffness, damping, base, spring, damper, omega, start, end, step
):
    """Constant step; the last four are numbers."""
    before, lengths, sines = _schedule(omega, start, end, step, np.array([1.0]))
    wear, lanes = np.empty(len(mass)), np.empty(LANES * ROWS)
    window = np.array([end - start])
    for first in range(0, len(mass), LANES):
        _fill(lanes, first, mass, gravity, friction, stiffness, damping, base, spring, damper)
        for q in range(before):
            _euler(lanes, lengths[q], sines[q, 0])
        for q in range(before, len(lengths)):
            _euler_with_wear(lanes, lengths[q], sines[q, 0])
        _store(lanes, first, wear, mass, gravity, window)
    return wear


def _euler_turning_step(with_wear: bool, whole: bool):
    """Step q of all lanes, each with its own sine and step; if `whole`, none is at its last."""

    @jit
    def step(lanes, q):
        for j in range(LANES):
            sine, cosine = lanes[SINE + j], lanes[COSINE + j]
            turned = sine * lanes[TURN_COSINE + j] + cosine * lanes[TURN_SINE + j]
            lanes[COSINE + j] = cosine * lanes[TURN_COSINE + j] - sine * lanes[TURN_SINE + j]
            lanes[SINE + j] = turned
            h = lanes[STEP + j]
            if not whole:
                is_last = q == lanes[STEPS + j] - 1.0
                h = lanes[LAST + j] if is_last else h
                turned = lanes[END_SINE + j] if is_last else turned
            y0, v0, stuck0, rise0 = (
                lanes[PLACE + j], lanes[SPEED + j], lanes[STUCK + j], lanes[RISE + j],
            )  # fmt: skip
            force0, anchor0 = lanes[FORCE + j], lanes[ANCHOR + j]
            v = v0 + h * rise0
            y = y0 + h * v
            stuck, force, anchor, found = _law(
                stuck0, force0, anchor0, v0, lanes[BOUND + j], lanes[LAW_SPRING + j],
                lanes[LAW_DAMPER + j], y, v,
            )  # fmt: skip
            load = found - lanes[SPRING + j] * y - lanes[DAMPER + j] * v
            rise = load * lanes[INVERSE + j] - lanes[BASE + j] * turned
            rubbed = 0.5 * h * (abs(v0) + abs(v))
            rubbed = rubbed if stuck0 == 0.0 else 0.0
            if not whole:
                over = q >= lanes[STEPS + j]
                y, v, rise = y0 if over else y, v0 if over else v, rise0 if over else rise
                stuck, force = stuck0 if over else stuck, force0 if over else force
                anchor, rubbed = anchor0 if over else anchor, 0.0 if over else rubbed
            lanes[PLACE + j] = y
            lanes[SPEED + j] = v
            lanes[RISE + j] = rise
            lanes[STUCK + j] = stuck
            lanes[FORCE + j] = force
            lanes[ANCHOR + j] = anchor
            if with_wear:
                lanes[WEAR + j] += rubbed

    return step


_turning, _turning_with_wear = _euler_turning_step(False, True), _euler_turning_step(True, True)
_ending, _ending_with_wear = _euler_turning_step(False, False), _euler_turning_step(True, False)


@jit
def _prepare_stretch(lanes, in_window):
    """Steps of the stretch before the window, or of the window; the fewest and the most of them."""
    fewest, most = 1e300, 0.0
    for j in range(LANES):
        begin = lanes[START + j] if in_window else 0.0
        end = lanes[END + j] if in_window else lanes[START + j]
        n, last = _steps(end - begin, lanes[STEP + j]) if end > begin else (0, 0.0)
        lanes[STEPS + j], lanes[LAST + j], lanes[TIME + j] = n, last, begin
        lanes[END_SINE + j] = sin(lanes[OMEGA + j] * end)
        turn = lanes[OMEGA + j] * lanes[STEP + j]
        lanes[TURN_SINE + j], lanes[TURN_COSINE + j] = sin(turn), np.cos(turn)
        fewest, most = min(fewest, n), max(most, n)
    return int(fewest), int(most)


@jit
def _anchor(lanes, q):
    """Sine and cosine at the beginning of step q."""
    for j in range(LANES):
        angle = lanes[OMEGA + j] * (lanes[TIME + j] + q * lanes[STEP + j])
        lanes[SINE + j] = _sine(angle)
        lanes[COSINE + j] = _sine(angle + 1.5707963267948966)


@jit
def euler(
    mass, gravity, friction, stiffness, damping, base, spring, damper, omega, start, end, step
):
    """Constant step, each point with its own frequency, window and step."""
    wear, lanes = np.empty(len(mass)), np.empty(LANES * ROWS)
    for first in range(0, len(mass), LANES):
        _fill(lanes, first, mass, gravity, friction, stiffness, damping, base, spring, damper)
        _fill_times(lanes, first, omega, start, end, step)
        for in_window in (False, True):
            fewest, most = _prepare_stretch(lanes, in_window)
            for q in range(most):
                if q % ANCHORED == 0:
                    _anchor(lanes, float(q))
                if q < fewest - 1:
                    if in_window:
                        _turning_with_wear(lanes, float(q))
                    else:
                        _turning(lanes, float(q))
                elif in_window:
                    _ending_with_wear(lanes, float(q))
                else:
                    _ending(lanes, float(q))
        _store(lanes, first, wear, mass, gravity, end - start)
    return wear


# --- Bogacki and Shampine's pair ---


@part
def _rk32_step(lanes, j, h, sine_2, sine_3, sine_4):
    """Stages of one lane: place, speed, rise, memory, and the two embedded differences."""
    bound, spring, damper = lanes[BOUND + j], lanes[LAW_SPRING + j], lanes[LAW_DAMPER + j]
    k, c, base, inverse = (
        lanes[SPRING + j], lanes[DAMPER + j], lanes[BASE + j], lanes[INVERSE + j],
    )  # fmt: skip
    y0, v1, a1 = lanes[PLACE + j], lanes[SPEED + j], lanes[RISE + j]
    stuck, force, anchor = lanes[STUCK + j], lanes[FORCE + j], lanes[ANCHOR + j]

    y, v2 = y0 + 0.5 * h * v1, v1 + 0.5 * h * a1
    stuck, force, anchor, found = _law(stuck, force, anchor, v1, bound, spring, damper, y, v2)
    a2 = (found - k * y - c * v2) * inverse - base * sine_2

    y, v3 = y0 + 0.75 * h * v2, v1 + 0.75 * h * a2
    stuck, force, anchor, found = _law(stuck, force, anchor, v2, bound, spring, damper, y, v3)
    a3 = (found - k * y - c * v3) * inverse - base * sine_3

    y = y0 + h * (2 / 9 * v1 + 1 / 3 * v2 + 4 / 9 * v3)
    v4 = v1 + h * (2 / 9 * a1 + 1 / 3 * a2 + 4 / 9 * a3)
    stuck, force, anchor, found = _law(stuck, force, anchor, v3, bound, spring, damper, y, v4)
    a4 = (found - k * y - c * v4) * inverse - base * sine_4

    error_y = h * (-5 / 72 * v1 + 1 / 12 * v2 + 1 / 9 * v3 - 1 / 8 * v4)
    error_v = h * (-5 / 72 * a1 + 1 / 12 * a2 + 1 / 9 * a3 - 1 / 8 * a4)
    return y, v4, a4, stuck, force, anchor, error_y, error_v


def _rk32_constant_step(with_wear: bool):
    @jit
    def step(lanes, h, sines):
        sine_2, sine_3, sine_4 = sines[0], sines[1], sines[2]
        for j in range(LANES):
            v0, stuck0 = lanes[SPEED + j], lanes[STUCK + j]
            y, v, a, stuck, force, anchor, _, _ = _rk32_step(lanes, j, h, sine_2, sine_3, sine_4)
            lanes[PLACE + j] = y
            lanes[SPEED + j] = v
            lanes[RISE + j] = a
            lanes[STUCK + j] = stuck
            lanes[FORCE + j] = force
            lanes[ANCHOR + j] = anchor
            if with_wear:
                rubbed = 0.5 * h * (abs(v0) + abs(v))
                lanes[WEAR + j] += rubbed if stuck0 == 0.0 else 0.0

    return step


_rk32, _rk32_with_wear = _rk32_constant_step(False), _rk32_constant_step(True)


@jit
def rk32_shared(
    mass, gravity, friction, stiffness, damping, base, spring, damper, omega, start, end, step
):
    """Constant step; the last four are numbers."""
    before, lengths, sines = _schedule(omega, start, end, step, np.array([0.5, 0.75, 1.0]))
    wear, lanes = np.empty(len(mass)), np.empty(LANES * ROWS)
    window = np.array([end - start])
    for first in range(0, len(mass), LANES):
        _fill(lanes, first, mass, gravity, friction, stiffness, damping, base, spring, damper)
        for q in range(before):
            _rk32(lanes, lengths[q], sines[q])
        for q in range(before, len(lengths)):
            _rk32_with_wear(lanes, lengths[q], sines[q])
        _store(lanes, first, wear, mass, gravity, window)
    return wear


@part
def _size(before, after):
    moved, size = abs(after - before), abs(before)
    size = moved if moved > size else size
    return size if size > TINY else TINY


@jit
def _rk32_attempt(lanes, inverse_tolerance, maximum_step):
    """A step of variable length in all lanes that are not done; how many are not."""
    left = 0
    for j in range(LANES):
        t, proposed, start, end = lanes[TIME + j], lanes[STEP + j], lanes[START + j], lanes[END + j]
        active = t < end
        stop = start if t < start else end
        shortened = t + proposed * (1.0 + NEAR) >= stop
        h = stop - t if shortened else proposed
        later = stop if shortened else t + h
        y0, v0, stuck0 = lanes[PLACE + j], lanes[SPEED + j], lanes[STUCK + j]
        omega = lanes[OMEGA + j]
        y, v, a, stuck, force, anchor, error_y, error_v = _rk32_step(
            lanes, j, h, _sine(omega * (t + 0.5 * h)), _sine(omega * (t + 0.75 * h)),
            _sine(omega * later),
        )  # fmt: skip
        size_y, size_v = _size(y0, y), _size(v0, v)
        error_y, error_v = error_y / size_y, error_v / size_v
        error = sqrt(0.5 * (error_y * error_y + error_v * error_v)) * inverse_tolerance
        accepted = error < 1.0
        factor = 0.9 / sqrt(sqrt(error))
        factor = 0.2 if factor < 0.2 else factor
        changed = h * (5.0 if factor > 5.0 else factor)
        changed = maximum_step if changed > maximum_step else changed
        holds = accepted & active
        rubbed = 0.5 * h * (abs(v0) + abs(v))
        counts = holds & (t >= start) & (stuck0 == 0.0)
        lanes[WEAR + j] += rubbed if counts else 0.0
        lanes[STEP + j] = proposed if accepted & shortened else changed
        lanes[TIME + j] = later if holds else t
        lanes[PLACE + j] = y if holds else y0
        lanes[SPEED + j] = v if holds else v0
        lanes[RISE + j] = a if holds else lanes[RISE + j]
        lanes[STUCK + j] = stuck if holds else stuck0
        lanes[FORCE + j] = force if holds else lanes[FORCE + j]
        lanes[ANCHOR + j] = anchor if holds else lanes[ANCHOR + j]
        left += 1 if active else 0
    return left


@jit
def rk32_adaptive(
    mass, gravity, friction, stiffness, damping, base, spring, damper, omega, start, end, step,
    tolerance, maximum_step,
):  # fmt: skip
    """Step as the error wants it; tolerance and maximum_step are numbers."""
    wear, lanes = np.empty(len(mass)), np.empty(LANES * ROWS)
    first_step = np.minimum(step, maximum_step)
    for first in range(0, len(mass), LANES):
        _fill(lanes, first, mass, gravity, friction, stiffness, damping, base, spring, damper)
        _fill_times(lanes, first, omega, start, end, first_step)
        while _rk32_attempt(lanes, 1.0 / tolerance, maximum_step) > 0:
            pass
        _store(lanes, first, wear, mass, gravity, end - start)
    return wear
