"""The MDR contact spring by spring: slow, plain, independent, nothing imported from the project.

The conventions of the time-stepping algorithms stand in `tests/oracles/mdr_time_stepping.py`.

Tangential lengths are in units of Δx, time is the phase t = ωt. The spring at X = x/a0 has the
depth s = (1 − Xⁿ)/δ; it is in contact where s + cos t > 0, and its bound is b(t) = β(s + cos t).
The body moves by U(t) = cos(t + φ); a spring's foot stands at e = U − u, and friction lets it stand
as long as |u| ≤ b:

    L(t) ≤ e ≤ H(t),   L = U − b = R_A cos(t + α_A) − βs,   H = U + b = R_B cos(t + α_B) + βs

So e is pushed up by L and down by H and rests otherwise (the play operator). L and H are a sinusoid
each: between their four turning points both are monotone, and within such a piece e rests until one
of them reaches it, and goes with that one to the piece's end. (Both can reach it only where they
meet: at b = 0, the end of contact.) When a pusher arrives follows from one arccosine. Nothing is
stepped; grazing is no special case; the second cycle is periodic.

The loss of a spring is ∫ b |de| over its pushes, an integral of a positive product of two
sinusoids, done by a Gauss rule that is exact to rounding on a piece. The energy is

    W̄ = W/W_ref = (3/8) ∫ w(s) (1 − δs)^(1/n−1) ds = (3n/8δ) ∫ w(X) dX

by adaptive Gauss–Kronrod quadrature over the springs that slip.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

TURN = 2 * np.pi
REGIMES = ("full_stick", "partial_slip", "gross_slip", "jumping")

GAUSS = np.polynomial.legendre.leggauss(14)
"""Exact to 1e-17 for b·L', a trigonometric polynomial of degree 2, on pieces up to π long."""

# Kronrod's 15 nodes and weights and the 7 weights of Gauss among them (QUADPACK, qk15).
# fmt: off
_NODES = [0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
          0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
          0.586087235467691130294144691638463, 0.405845151377397166906606412076961,
          0.207784955007898467600689403773245]
_KRONROD = [0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
            0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
            0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
            0.204432940075298892414161999234649, 0.209482141084727828012999174891714]
_INNER = [0.0, 0.129484966168869693270611432679082, 0.0, 0.279705391489276667901467771423780,
          0.0, 0.381830050505118944950369775488975, 0.0, 0.417959183673469387755102040816327]
# fmt: on
NODES = np.array([-x for x in _NODES] + [0.0] + _NODES[::-1])
KRONROD = np.array(_KRONROD + _KRONROD[-2::-1])
INNER = np.array(_INNER + _INNER[-2::-1])


@dataclass(frozen=True)
class Energy:
    """W̄ of n points, and what it may be off by."""

    value: np.ndarray
    error: np.ndarray


def normalized_energy(beta, delta, phase, exponent, tolerance=1e-12):
    """W̄ of n points, all at once; `beta` may be infinite.

    The error is ten tolerances, what rounding may do, and Kronrod's values less Gauss's summed
    over all intervals. (That sum alone is mostly too much, but in one point of 1500 it is too
    little, by a few tolerances.) Rounding is taken as 1e-18(1 + β) in a spring's loss and
    1e-14(1 + β) of it: several times what is seen against 40 digits up to β = 1e4.
    """
    points = np.broadcast_arrays(*np.atleast_1d(*map(np.float64, (beta, delta, phase, exponent))))
    intervals = _first_intervals(points)
    total, error = np.zeros((2, len(points[0])))
    for _ in range(60):
        which, kind, low, high = intervals
        value, wrong, rounding = _kronrod(points, which, kind, low, high)
        count = np.bincount(which, minlength=len(total))
        # What is open now, as a size: refined are intervals with more than their share of error.
        size = total + np.bincount(which, value, len(total))
        share = tolerance * (size / (4 * np.maximum(count, 8)))[which]
        poor = wrong > np.maximum(share, rounding)
        wrong = wrong + rounding
        total += np.bincount(which[~poor], value[~poor], len(total))
        error += np.bincount(which[~poor], wrong[~poor], len(total))
        if not poor.any():
            break
        middle = 0.5 * (low + high)[poor]
        halves = [(low[poor], middle), (middle, high[poor])]
        intervals = tuple(np.concatenate(column) for column in zip(
            *((which[poor], kind[poor], a, b) for a, b in halves), strict=True))  # fmt: skip
    else:
        raise ArithmeticError("an integral over springs does not converge")
    return Energy(total, error + 10 * tolerance * total)


DEPTH_ANGLE, DEPTH, PLACE = range(3)  # what an integral goes over: T = arccos(−s), s, or X


def _first_intervals(points):
    """Where springs slip, cut where the law changes, each stretch in the variable that suits."""
    rows = []
    for i, (beta, delta, phase, exponent) in enumerate(zip(*points, strict=True)):
        if beta == 0:
            continue
        radii = abs(np.exp(1j * phase) - beta) + abs(np.exp(1j * phase) + beta)
        deepest = 1.0 if np.isinf(beta) else radii / (2 * beta)  # deeper springs never slip
        deepest = min(1 / delta, max(deepest, 1.0))
        half = min(deepest, 0.5 / delta)
        longest = np.arccos(-min(half, 1.0))
        turns = _turns_at_the_edge(beta, phase)
        angles = _graded(i, DEPTH_ANGLE, longest, longest / 2)
        angles += _graded(i, DEPTH_ANGLE, 0.0, longest / 2)
        rows += _cut(angles, turns)
        if half > 1:
            rows += _graded(i, DEPTH, 1.0, half)
        cuts = {half, deepest} | ({1.0} if half < 1 < deepest else set())
        places = [(1 - delta * s if s < 1 / delta else 0.0) ** (1 / exponent) for s in sorted(cuts)]
        turned = np.maximum(1 + delta * np.cos(turns), 0.0) ** (1 / exponent)
        for high, low in pairwise(places):
            rows += _cut(_graded(i, PLACE, high, low), turned) if high > low else []
    columns = zip(*rows, strict=True) if rows else ((), (), (), ())
    which, kind, low, high = columns
    return np.array(which, int), np.array(kind, int), np.array(low, float), np.array(high, float)


def _turns_at_the_edge(beta, phase):
    """The half-durations of contact, from 0 to π, at whose end a pusher turns.

    There another pusher begins to be the first or the last: the loss has a kink over the depth,
    often a slight one close to the end of an interval, where no node would see it.
    """
    if np.isinf(beta):
        return np.empty(0)
    body = np.exp(1j * phase)
    angles = np.angle([body - beta, body + beta])
    return np.abs((np.concatenate([angles, angles + np.pi]) + np.pi) % TURN - np.pi)


def _cut(rows, places):
    """The intervals, cut at these places."""
    return [
        (point, kind, *pair)
        for point, kind, low, high in rows
        for pair in pairwise([low, *sorted(x for x in places if low < x < high), high])
    ]


def _graded(point, kind, narrow, wide, count=9):
    """Intervals from `narrow` to `wide`, each four times as long as the one before.

    Springs that nearly lose contact, or barely touch, do so for a short while: what this does to
    them must not fall between the nodes of one long interval.
    """
    share = np.concatenate([[0.0], 0.25 ** np.arange(count - 1, -1, -1)])
    ends = (narrow + (wide - narrow) * share).tolist()
    return [(point, kind, *sorted(pair)) for pair in pairwise(ends)]


def _kronrod(points, which, kind, low, high):
    """Kronrod's integral over each interval, and how far Gauss's is from it."""
    half = 0.5 * (high - low)
    at = 0.5 * (low + high)[:, None] + half[:, None] * NODES
    beta, delta, phase, exponent = (values[which][:, None] for values in points)
    kind = np.broadcast_to(kind[:, None], at.shape)
    with np.errstate(invalid="ignore"):
        inner = (1 - np.where(kind == PLACE, at, 0.0) ** exponent) / delta
    depth = np.choose(kind, [-np.cos(at), at, inner])
    graded = (3 / 8) * np.maximum(1 - delta * depth, 1e-300) ** (1 / exponent - 1)
    jacobian = np.choose(kind, [graded * np.sin(at), graded, 3 * exponent / (8 * delta)])
    loss = spring_losses(beta, depth, phase) * jacobian
    value = half * (loss @ KRONROD)
    finite = np.where(np.isinf(beta), 1.0, beta)
    rounding = half * (((1 + finite) * (1e-18 * jacobian + 1e-14 * loss)) @ KRONROD)
    return value, np.abs(half * (loss @ (KRONROD - INNER))), rounding


def spring_losses(beta, depth, phase):
    """w = ∫ b |de| of each spring over its steady cycle; arguments broadcast together.

    A spring with depth < 1 begins its contact relaxed, so its one stay in contact is its steady
    cycle; one with depth >= 1 goes through a cycle first.
    """
    beta, depth, phase = np.broadcast_arrays(*map(np.float64, (beta, depth, phase)))
    loss = np.zeros(beta.shape)
    frozen = np.isinf(beta)
    # At infinite friction the elongation gathered from entry at −T to exit at T is lost at once.
    cosine = np.clip(depth[frozen], -1, 1)
    loss[frozen] = 2 * np.sin(phase[frozen]) ** 2 * (1 - cosine) * (1 + cosine)
    slips = ~frozen & (beta > 0) & (depth > -1)
    loss[slips] = _Springs(beta[slips], depth[slips], phase[slips]).losses()
    return loss


class _Springs:
    """Springs of finite friction: their two pushers, and the pieces in which both are monotone."""

    def __init__(self, beta, depth, phase):
        self.beta, self.depth = beta, depth
        across, along = np.sin(phase), np.cos(phase)
        self.contact = np.arccos(-np.clip(depth, -1, 1))  # it lasts from −contact to contact
        # Of each pusher: radius, angle, offset, and the direction it pushes to.
        self.pushers = [
            (np.hypot(along - sign * beta, across), np.arctan2(across, along - sign * beta),
             -sign * beta * depth, sign)
            for sign in (+1, -1)
        ]  # fmt: skip
        turns = [half - angle for _, angle, _, _ in self.pushers for half in (0.0, np.pi)]
        turns = np.sort([(turn + np.pi) % TURN - np.pi for turn in turns], axis=0)
        inner = np.clip(turns, -self.contact, self.contact)
        self.knots = [-self.contact, *inner, self.contact]
        self.foot = np.cos(phase - self.contact)  # where the body is at −T

    def losses(self):
        first = self._cycle()
        stays = self.depth >= 1
        return np.where(stays, self._cycle(), first) if stays.any() else first

    def _cycle(self):
        loss = np.zeros(len(self.beta))
        for begin, end in pairwise(self.knots):
            for pusher in self.pushers:
                loss += self._push(*pusher, begin, end)
        return loss

    def _push(self, radius, angle, offset, direction, begin, end):
        """Moves the feet to where this pusher leaves them at the piece's end; their losses."""
        middle = 0.5 * (begin + end)
        reached = radius * np.cos(end + angle) + offset
        pushes = (end > begin) & (radius > 0) & (direction * (reached - self.foot) > 0)
        pushes &= -direction * np.sin(middle + angle) > 0
        cosine = np.where(pushes, (self.foot - offset) / np.where(pushes, radius, 1.0), 0.0)
        arrival = -angle - direction * np.arccos(np.clip(cosine, -1, 1))
        arrival += TURN * np.round((middle - arrival) / TURN)
        arrival = np.clip(arrival, begin, end)
        self.foot = np.where(pushes, reached, self.foot)
        loss = np.zeros(len(pushes))
        loss[pushes] = self._slip_work(pushes, radius, angle, arrival, end)
        return loss

    def _slip_work(self, pushes, radius, angle, begin, end):
        """∫ b |e'| dt, with b free of cancellation at the ends of contact."""
        half = 0.5 * (end - begin)[pushes]
        time = (0.5 * (begin + end)[pushes])[:, None] + half[:, None] * GAUSS[0]
        contact, depth = self.contact[pushes][:, None], self.depth[pushes][:, None]
        bound = 2 * np.sin(0.5 * (contact + time)) * np.sin(0.5 * (contact - time))
        bound = np.where(depth < 1, bound, (depth - 1) + 2 * np.cos(0.5 * time) ** 2)
        speed = np.abs(np.sin(time + angle[pushes][:, None]))
        return half * self.beta[pushes] * radius[pushes] * ((bound * speed) @ GAUSS[1])


def stick_radius(beta, delta, phase, exponent):
    """Radius of the core always in contact that never slips, over a0, by bisection; n points."""
    points = np.broadcast_arrays(*np.atleast_1d(*map(np.float64, (beta, delta, phase, exponent))))
    beta, delta, phase, exponent = points

    def stuck(place):
        depth = (1 - place**exponent) / delta
        return (beta > 0) & (depth >= 1) & (spring_losses(beta, depth, phase) == 0)

    low, high = np.zeros(len(beta)), (1 + delta) ** (1 / exponent)
    exists = stuck(low)
    for _ in range(60):
        middle = 0.5 * (low + high)
        inside = stuck(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(exists, low, 0.0)


def regime(beta, delta, phase):
    """Index into REGIMES of one point: what springs do over the cycle, many of them looked at.

    Losses below 1e-18 are rounding (in phase, springs that only lift off graze their bound).
    """
    if delta > 1:
        return REGIMES.index("jumping")
    at_times, always = -np.cos(np.linspace(0, np.pi, 2001)), np.geomspace(1, 1 / delta, 2001)
    losses = spring_losses(beta, np.concatenate([at_times, always]), phase)
    if beta > 0 and losses.max() < 1e-18:
        return REGIMES.index("full_stick")
    slips_everywhere = losses[-1] > 0 or delta == 1 or beta == 0
    return REGIMES.index("gross_slip" if slips_everywhere else "partial_slip")
