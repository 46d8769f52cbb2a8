"""Schemes in numba, many points side by side: what a user of numba gets at best.

The time loop is outside and a loop over lanes inside (see `lanes_numba`), with the step of a scheme
inlined (see `scheme_steps_numba`). Wear power only; conventions of the steps, of the friction law
and of the wear are those of the oracle `penalised_schemes`.

Points are arrays of shape (n,) in the order of POINT, in SI units. SHARED take one frequency,
window and step for all points and look the sines up in a table made once; CHOOSING, which choose
their steps (`euler` always the same), take arrays of them. All return the mean wear power in W, of
shape (n,).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.peers import scheme_steps_numba as steps
from tests.benchmarks.peers.lanes_numba import (
    END,
    LANES,
    NEAR,
    OMEGA,
    POINT,
    ROWS,
    START,
    STEP,
    TIME,
    WEAR,
    fill,
    fill_times,
    forget_wear,
    jit,
    schedule,
    sine,
    store,
)

__all__ = ["CHOOSING", "SHARED", "arguments"]

Values = NDArray[np.float64]

QUARTER = 1.5707963267948966

TIMES = ("angular_frequency", "window_start", "window_end", "step")


def arguments(parameters: Mapping[str, Values], count: int, *, shared: bool) -> list[object]:
    """What the peers take, of parameters under the project's names; those not there are 0.

    `shared`: the times are numbers, of the first point. The penalty's damper is the critical one.
    """
    known = {name: np.zeros(1) for name in POINT} | dict(parameters)
    springs = known["stiffness"] + known["tangential_stiffness"]
    known["tangential_damping"] = 2 * np.sqrt(known["mass"] * springs)
    columns = {name: np.broadcast_to(values, count).copy() for name, values in known.items()}
    times = [float(columns[n][0]) if shared else columns[n] for n in TIMES]
    return [*(columns[name] for name in POINT), *times]


# --- One clock for all, at constant step ---


def _in_all_lanes(step, keep):
    """A step of all lanes, the sines at its nodes given: of fewer than five, the last again."""

    @jit
    def take(lanes, h, sines):
        last = len(sines) - 1
        at = (
            sines[0], sines[min(1, last)], sines[min(2, last)], sines[min(3, last)],
            sines[min(4, last)],
        )  # fmt: skip
        for j in range(LANES):
            state, worn, _ = step(lanes, j, h, at)
            keep(lanes, j, True, state)
            lanes[WEAR + j] += worn

    return take


def _shared(step, keep, *nodes, ahead=0.0, prepare=None):
    """Of the step's nodes; at the last one the sine is that of a phase ahead.

    `prepare` is what a scheme makes of a length of the step, where it makes anything of it.
    """
    take = _in_all_lanes(step, keep)
    prepare = prepare or steps.nothing
    nodes = np.array(nodes)
    ahead = np.array([0.0] * (len(nodes) - 1) + [ahead])

    @jit
    def shared(*inputs):
        point, omega, start, end, step = inputs[:-4], inputs[-4], inputs[-3], inputs[-2], inputs[-1]
        before, lengths, sines = schedule(omega, start, end, step, nodes, ahead)
        n_points = len(point[0])
        wear, lanes = np.empty(n_points), np.empty(LANES * ROWS)
        for first in range(0, n_points, LANES):
            fill(lanes, first, point)
            for q in range(len(lengths)):
                h = lengths[q]
                if q == 0 or h != lengths[q - 1]:
                    for j in range(LANES):
                        prepare(lanes, j, h)
                if q == before:
                    forget_wear(lanes)
                take(lanes, h, sines[q])
            store(lanes, first, wear, point, np.array([end - start]))
        return wear

    return shared


SHARED = {
    "euler": _shared(steps.euler, steps.keep_six, 1.0),
    "shaken euler": _shared(steps.shaken_euler, steps.keep_seven, 1.0, 1.0, ahead=QUARTER),
    "devogelaere": _shared(
        steps.devogelaere, steps.keep_nine, 0.5, 1.0, prepare=steps.prepare_devogelaere
    ),
    "adapt_ordre2": _shared(steps.adapt_ordre2, steps.keep_eight, 1.0),
    "rk32": _shared(steps.rk32, steps.keep_six, 0.5, 0.75, 1.0),
    "rk54": _shared(steps.rk54, steps.keep_six, 0.2, 0.3, 0.8, 8 / 9, 1.0),
    "moreau": _shared(steps.moreau, steps.keep_two, 0.0, 1.0, prepare=steps.prepare_moreau),
}


# --- Steps that the scheme chooses ---


def _choosing(step, control, keep, *nodes):
    """Of the step's nodes, of which the last is its end."""
    first, second, third, fourth = [*nodes, 1.0, 1.0, 1.0][:4]

    @jit
    def attempt(lanes, tolerance, longest):
        """A step of variable length in all lanes that are not done; how many are not."""
        left = 0
        for j in range(LANES):
            t, proposed, start = lanes[TIME + j], lanes[STEP + j], lanes[START + j]
            active, omega = t < lanes[END + j], lanes[OMEGA + j]
            stop = start if t < start else lanes[END + j]
            shortened = t + proposed * (1.0 + NEAR) >= stop
            h = stop - t if shortened else proposed
            later = stop if shortened else t + h
            end = sine(omega * later)
            at = (
                end if first == 1.0 else sine(omega * (t + first * h)),
                end if second == 1.0 else sine(omega * (t + second * h)),
                end if third == 1.0 else sine(omega * (t + third * h)),
                end if fourth == 1.0 else sine(omega * (t + fourth * h)),
                end,
            )
            state, worn, change = step(lanes, j, h, at)
            accepted, following = control(
                lanes, j, h, proposed, shortened, state, change, tolerance, longest
            )
            holds = accepted & active
            lanes[WEAR + j] += worn if holds & (t >= start) else 0.0
            lanes[STEP + j] = following
            lanes[TIME + j] = later if holds else t
            keep(lanes, j, holds, state)
            left += 1 if active else 0
        return left

    @jit
    def choosing(*inputs):
        point, tolerance, longest = inputs[:-6], inputs[-2], inputs[-1]
        omega, start, end, step = inputs[-6], inputs[-5], inputs[-4], inputs[-3]
        n_points = len(point[0])
        wear, lanes = np.empty(n_points), np.empty(LANES * ROWS)
        first_step = np.minimum(step, longest)
        for begin in range(0, n_points, LANES):
            fill(lanes, begin, point)
            fill_times(lanes, begin, omega, start, end, first_step)
            while attempt(lanes, tolerance, longest) > 0:
                pass
            store(lanes, begin, wear, point, end - start)
        return wear

    return choosing


CHOOSING = {
    "euler": _choosing(steps.euler, steps.control_constant, steps.keep_six, 1.0),
    "adapt_ordre2": _choosing(
        steps.adapt_ordre2, steps.control_adapt_ordre2, steps.keep_eight, 1.0
    ),
    "rk32": _choosing(steps.rk32, steps.control_rk32, steps.keep_six, 0.5, 0.75, 1.0),
    "rk54": _choosing(steps.rk54, steps.control_rk54, steps.keep_six, 0.2, 0.3, 0.8, 8 / 9, 1.0),
}
