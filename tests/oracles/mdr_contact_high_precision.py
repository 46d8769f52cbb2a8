"""The MDR contact that loses contact (δ > 1), spring by spring in mpmath: for any friction.

Notation and equations as in `tests/oracles/mdr_contact.py`. With δ > 1 every spring loses contact
once a cycle and begins the next one relaxed, so one stay in contact, from −T to T with cos T = −s,
is its steady cycle. Its pushers are followed from turning point to turning point, and the loss
∫ b |de| over a push has a closed form. Working digits make up for what cancels in it: with β = 1e15
a spring slips for 1e-15 of a cycle at the end of its contact.
"""

from __future__ import annotations

from itertools import pairwise

import mpmath
from mpmath import mpf

DIGITS = 60
SPREAD = [2.0**k for k in (-4, -2, 0, 2, 4, 8, 16, 24)]
"""Where the integral is cut beside a kink, over the distance of the kink from the end."""


def normalized_energy(beta: float, delta: float, phase: float, exponent: float) -> float:
    """W̄ of one point with δ > 1 and finite β > 0, to 20 digits or so."""
    if not (delta > 1 and 0 < beta < mpmath.inf):
        raise ValueError(f"delta={delta!r} and beta={beta!r}: this oracle takes jumping contacts")
    with mpmath.workdps(DIGITS):
        beta, delta, phase, exponent = map(mpf, (beta, delta, phase, exponent))
        pushers = _pushers(beta, phase)
        longest = mpmath.acos(-1 / delta)  # of the innermost spring

        def weighed(half_duration: mpf) -> mpf:
            """By T, where springs barely touch."""
            loss = spring_loss(beta, phase, pushers, half_duration)
            place = (1 + delta * mpmath.cos(half_duration)) ** (1 / exponent - 1)
            return mpf(3) / 8 * loss * place * mpmath.sin(half_duration)

        def at_place(x: mpf) -> mpf:
            """By X, towards the middle."""
            half_duration = mpmath.acos((x**exponent - 1) / delta)
            loss = spring_loss(beta, phase, pushers, half_duration)
            return 3 * exponent / (8 * delta) * loss

        # The loss has kinks where a pusher turns at the end of contact.
        turns = [abs(_wrapped(angle + half)) for _, angle, _ in pushers for half in (0, mpmath.pi)]
        middle = longest / 2
        brief = sorted({mpf(0), middle, *(t * k for t in turns for k in SPREAD if t * k < middle)})
        turned = [((1 + delta * mpmath.cos(t)) ** (1 / exponent)) for t in turns if t < longest]
        edge = (1 + delta * mpmath.cos(middle)) ** (1 / exponent)
        inner = sorted({mpf(0), edge, *(x for x in turned if x < edge)})
        return float(mpmath.quad(weighed, brief, maxdegree=7) + mpmath.quad(at_place, inner))


def _wrapped(angle: mpf) -> mpf:
    return angle - 2 * mpmath.pi * mpmath.nint(angle / (2 * mpmath.pi))


def _pushers(beta: mpf, phase: mpf) -> list[tuple[mpf, mpf, int]]:
    """Radius and angle of L and of H, and the direction that each pushes to."""
    feet = [(mpmath.expj(phase) - sign * beta, sign) for sign in (1, -1)]
    return [(abs(foot), mpmath.arg(foot), sign) for foot, sign in feet]


def spring_loss(
    beta: mpf, phase: mpf, pushers: list[tuple[mpf, mpf, int]], half_duration: mpf
) -> mpf:
    """∫ b |de| of a spring over its stay in contact from −T to T."""
    depth = -mpmath.cos(half_duration)
    turns = sorted(_wrapped(k - angle) for _, angle, _ in pushers for k in (0, mpmath.pi))
    knots = [-half_duration, *(t for t in turns if abs(t) < half_duration), half_duration]
    foot = mpmath.cos(phase - half_duration)  # where the body is at −T
    loss = mpf(0)
    for begin, end in pairwise(knots):
        for radius, angle, direction in pushers:
            offset = -direction * beta * depth
            reached = radius * mpmath.cos(end + angle) + offset
            towards = -direction * mpmath.sin((begin + end) / 2 + angle) > 0
            if not towards or direction * (reached - foot) <= 0:
                continue
            cosine = max(min((foot - offset) / radius, mpf(1)), mpf(-1))
            arrival = -angle - direction * mpmath.acos(cosine)
            arrival += 2 * mpmath.pi * mpmath.nint(((begin + end) / 2 - arrival) / 2 / mpmath.pi)
            arrival = max(begin, min(end, arrival))
            loss += abs(_work(beta, depth, radius, angle, end)
                        - _work(beta, depth, radius, angle, arrival))  # fmt: skip
            foot = reached
    return loss


def _work(beta: mpf, depth: mpf, radius: mpf, angle: mpf, time: mpf) -> mpf:
    """An antiderivative of β(s + cos t) R sin(t + ψ)."""
    steady = -depth * mpmath.cos(time + angle)
    return (
        beta * radius * (steady + (time * mpmath.sin(angle) - mpmath.cos(2 * time + angle) / 2) / 2)
    )
