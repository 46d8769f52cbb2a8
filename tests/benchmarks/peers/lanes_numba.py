"""What the schemes in numba share: points side by side in lanes, the friction law, sines, steps.

LANES points stand side by side, and a loop over them without branches is what LLVM turns into
vector instructions. All lanes' state is one array, row after row, since LLVM could not tell several
arrays apart. Products and sums may be fused, as they may not in the kernels.
"""

from __future__ import annotations

from math import ceil, sin

import numpy as np
from numba import njit

POINT = (
    "mass", "gravity", "friction", "stiffness", "damping", "base_acceleration",
    "tangential_stiffness", "tangential_damping", "vertical_acceleration", "phase",
)  # fmt: skip

LANES = 64
ALWAYS_SLIPS = 1e-6
NO_SENSE = 2.2e-16
NEAR = 1e-9

# Where in the lanes' array each row begins: what a step changes, as many rows as the scheme needs;
PLACE, SPEED, RISE, STUCK, FORCE, ANCHOR, FIRST, SECOND, THIRD = (LANES * row for row in range(9))
# what is summed up or counted;
WEAR, QUIET, RETRIES = (LANES * row for row in range(9, 12))
# the point, N/(m g) being 1 + LOAD_SINE sin ωt + LOAD_COSINE cos ωt;
INVERSE, BOUND, SPRING, DAMPER, BASE = (LANES * row for row in range(12, 17))
LAW_SPRING, LAW_DAMPER, LOAD_SINE, LOAD_COSINE = (LANES * row for row in range(17, 21))
# its times;
OMEGA, STEP, START, END, TIME = (LANES * row for row in range(21, 26))
# what a scheme makes of the length of the step.
OF_LENGTH, ALSO_OF_LENGTH = (LANES * row for row in range(26, 28))
ROWS = 28

jit = njit(nogil=True, error_model="numpy", fastmath={"contract"})
part = njit(nogil=True, error_model="numpy", fastmath={"contract"}, forceinline=True)


@jit
def fill(lanes, first, point):
    """The points from `first` on, as POINT has them; where there are no more, the last again."""
    mass, gravity, friction, stiffness, damping, base, spring, damper, vertical, phase = point
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
        lanes[LOAD_SINE + j] = vertical[i] / gravity[i] * np.cos(phase[i])
        lanes[LOAD_COSINE + j] = vertical[i] / gravity[i] * np.sin(phase[i])


@jit
def fill_times(lanes, first, omega, start, end, step):
    for j in range(LANES):
        i = min(first + j, len(omega) - 1)
        lanes[OMEGA + j] = omega[i]
        lanes[START + j] = start[i]
        lanes[END + j] = end[i]
        lanes[STEP + j] = step[i]
        lanes[TIME + j] = 0.0


@jit
def forget_wear(lanes):
    """At the window's start."""
    for j in range(LANES):
        lanes[WEAR + j] = 0.0


@jit
def store(lanes, first, wear, point, length):
    mass, gravity = point[0], point[1]
    for j in range(min(LANES, len(mass) - first)):
        i = first + j
        wear[i] = lanes[WEAR + j] * mass[i] * gravity[i] / length[i % len(length)]


@part
def law(stuck, force, anchor, before, bound, spring, damper, y, v):
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
def sine(angle):
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
def steps_of(length, step):
    """Number of steps of a stretch, and the length of the last."""
    n = max(1, ceil(length / step - NEAR))
    last = length - (n - 1) * step
    return n, step if abs(last - step) <= NEAR * step else last


@jit
def schedule(omega, start, end, step, nodes, ahead):
    """Length of each step, sine at each of its nodes, and how many come before the window."""
    before, last_before = steps_of(start, step) if start > 0.0 else (0, step)
    within, last_within = steps_of(end - start, step)
    lengths = np.empty(before + within)
    sines = np.empty((before + within, len(nodes)))
    for q in range(before + within):
        into, n = (q, before) if q < before else (q - before, within)
        last, base = (last_before, 0.0) if q < before else (last_within, start)
        lengths[q] = last if into == n - 1 else step
        for i in range(len(nodes)):
            time = base + into * step + nodes[i] * lengths[q]
            sines[q, i] = sin(omega * time + ahead[i])
    return before, lengths, sines
