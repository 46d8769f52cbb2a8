"""The equations of harmonic balance and their analytic derivatives, for n oscillators at once.

Alternating frequency-time method: the cosines are summed at SAMPLES times of a period, the law of
the stop is evaluated there, and its force is transformed back to cosines. A product of two cosines
is half the sum of two cosines, so the derivative of the force also needs only one transform.

    (1 − j² λ) a_j + f_j = 0 for j = 0 ... H,   energy = 1/2,   λ = ω²

The energy is its mean over the period, which equals the total energy of a conservative motion, or
the energy at one instant, if that is given. Points are independent of each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any  # an array of the backend's library
Library = Any  # numpy, or one with the same functions

SAMPLES = 1024  # per period; a power of two above 4 × 60. The error of the kinked force is 1e-8


@dataclass(frozen=True)
class Oscillator:
    """n points in scaled units; each field of shape (n,)."""

    wall: Array  # K/k
    gap: Array  # e/√(2E/k)
    regularization: Array  # η
    instant: Array  # at which the energy is evaluated, in periods; inf: the mean energy

    def at(self, gap: Array) -> Oscillator:
        """The same oscillators with other gaps, that is, at other energies."""
        return Oscillator(self.wall, gap, self.regularization, self.instant)

    def __getitem__(self, index: Array) -> Oscillator:
        return Oscillator(*(each[index] for each in self._fields))

    @property
    def _fields(self) -> tuple[Array, ...]:
        return self.wall, self.gap, self.regularization, self.instant


@dataclass(frozen=True)
class Force:
    """The force of the stop at displacements of shape (n, samples), its slope and its potential."""

    value: Array
    slope: Array
    potential: Array  # 0 at u = 0


def force(xp: Library, oscillator: Oscillator, displacement: Array) -> Force:
    """F = (K/2) [w + √(w² + c)] with w = u − e and c = 4 η e² k/K; the exact law for c = 0.

    With r = √(w² + c), w + r is computed as c/(r − w) for w < 0 to avoid cancellation. The slope is
    F/r everywhere.
    """
    wall, gap, corner = (each[:, None] for each in (oscillator.wall, *_corner(xp, oscillator)))
    value, slope, integral = _law(xp, wall, corner, displacement - gap)
    return Force(value, slope, integral - _law(xp, wall, corner, -gap)[2])


def _corner(xp: Library, oscillator: Oscillator) -> tuple[Array, Array]:
    wall = xp.where(oscillator.wall > 0, oscillator.wall, 1.0)
    return oscillator.gap, 4 * oscillator.regularization * oscillator.gap**2 / wall


def _law(xp: Library, wall: Array, corner: Array, beyond: Array) -> tuple[Array, Array, Array]:
    root = xp.sqrt(beyond * beyond + corner)
    ahead = beyond >= 0
    behind = xp.where(ahead, 1.0, root - beyond)
    value = wall / 2 * xp.where(ahead, beyond + root, corner / behind)
    slope = value / xp.where(root > 0, root, 1.0)
    scale = xp.sqrt(xp.where(corner > 0, corner, 1.0))
    rounded = corner * xp.arcsinh(beyond / scale)
    return value, slope, beyond * value / 2 + wall / 4 * rounded


def cosines_to_time(xp: Library, cosines: Array) -> Array:
    """Σ a_j cos jφ at φ = 2πi/SAMPLES; from shape (n, H+1) to (n, SAMPLES)."""
    spectrum = cosines * (SAMPLES / 2)
    spectrum[:, 0] *= 2
    return xp.fft.irfft(spectrum, SAMPLES, axis=1)


def time_to_cosines(xp: Library, values: Array, count: int) -> Array:
    """The means of values × cos jφ for j = 0 ... count − 1; from (n, SAMPLES) to (n, count)."""
    return xp.fft.rfft(values, axis=1).real[:, :count] / SAMPLES


def equations(xp: Library, oscillator: Oscillator, unknowns: Array) -> tuple[Array, Array]:
    """The residuals of the equations, (n, H+2), and their derivatives, (n, H+2, H+2).

    `unknowns`, of shape (n, H+2), are a_0 ... a_H and λ.
    """
    cosines, square = unknowns[:, :-1], unknowns[:, -1:]
    count = cosines.shape[1]
    order = xp.arange(count)
    stop = force(xp, oscillator, cosines_to_time(xp, cosines))
    means = time_to_cosines(xp, stop.value, count)
    share = xp.where(order == 0, 1.0, 2.0)  # 1 over the mean square of the cosine
    linear = 1 - order**2 * square
    left = xp.empty(unknowns.shape)
    left[:, :-1] = linear * cosines + share * means
    slopes = time_to_cosines(xp, stop.slope, 2 * count - 1)
    matrix = xp.empty((*unknowns.shape, unknowns.shape[1]))
    both = slopes[:, xp.abs(order[:, None] - order)] + slopes[:, order[:, None] + order]
    matrix[:, :-1, :-1] = share[:, None] / 2 * both
    matrix[:, order, order] += linear
    matrix[:, :-1, -1] = -(order**2) * cosines
    left[:, -1], matrix[:, -1, :] = _mean_energy(xp, unknowns, means, stop)
    if bool(xp.isfinite(oscillator.instant).any()):
        left[:, -1], matrix[:, -1, :] = _instant_energy(
            xp, oscillator, unknowns, (left[:, -1], matrix[:, -1, :])
        )
    return left, matrix


def _mean_energy(xp: Library, unknowns: Array, means: Array, stop: Force) -> tuple[Array, Array]:
    """The mean energy over the period less 1/2, and its derivatives."""
    cosines, square = unknowns[:, :-1], unknowns[:, -1]
    order = xp.arange(cosines.shape[1])
    weight = xp.where(order == 0, 1.0, 0.5)
    moving = (order**2 * cosines**2).sum(axis=1) / 4
    stretched = (weight * cosines**2).sum(axis=1) / 2
    energy = square * moving + stretched + stop.potential.sum(axis=1) / SAMPLES
    by_cosines = weight * (1 + order**2 * square[:, None]) * cosines + means
    return energy - 0.5, xp.concatenate([by_cosines, moving[:, None]], axis=1)


def _instant_energy(
    xp: Library, oscillator: Oscillator, unknowns: Array, mean: tuple[Array, Array]
) -> tuple[Array, Array]:
    """The same for the energy at one instant; `mean` where no instant is given."""
    cosines, square = unknowns[:, :-1], unknowns[:, -1]
    order = xp.arange(cosines.shape[1])
    named = xp.isfinite(oscillator.instant)
    phase = 2 * np.pi * xp.where(named, oscillator.instant, 0.0)[:, None] * order
    place_by, speed_by = xp.cos(phase), -order * xp.sin(phase)
    place, speed = (place_by * cosines).sum(axis=1), (speed_by * cosines).sum(axis=1)
    stop = force(xp, oscillator, place[:, None])
    energy = square * speed**2 / 2 + place**2 / 2 + stop.potential[:, 0]
    held = (place + stop.value[:, 0])[:, None] * place_by
    by_cosines = (square * speed)[:, None] * speed_by + held
    row = xp.concatenate([by_cosines, (speed**2 / 2)[:, None]], axis=1)
    return (
        xp.where(named, energy - 0.5, mean[0]),
        xp.where(named[:, None], row, mean[1]),
    )
