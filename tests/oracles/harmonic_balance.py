"""Harmonic balance of the impact oscillator in SI units, solved by scipy from the residual alone.

    m ü + k u + F(u) = 0,   F = (K/2) [w + √(w² + c)],   w = u − e,   c = 4 η e² k/K

The motion is u = Σ a_j cos jωt. The mean of the equation times cos jωt over a period is 0 for every
j, where means are taken at equidistant times from t = 0. The energy is its mean over the period, or
that at one instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import cos, inf, isinf, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root

from tests.oracles import impact_oscillator

Values = NDArray[np.float64]


@dataclass(frozen=True)
class System:
    """In SI units; `eta` is the regularization."""

    m: float
    k: float
    K: float
    e: float
    E: float
    eta: float = 0.0

    def force(self, u: Values) -> Values:
        """On the stop."""
        w = u - self.e
        return self.K / 2 * (w + np.sqrt(w * w + self._c))

    def potential(self, u: Values) -> Values:
        """The integral of the force from 0 to u."""
        return self._integral(u - self.e) - self._integral(np.array(-self.e))

    @property
    def _c(self) -> float:
        return 4 * self.eta * self.e**2 * self.k / self.K

    def _integral(self, w: Values) -> Values:
        rounded = self._c * np.arcsinh(w / sqrt(self._c)) if self._c else 0.0
        return self.K / 4 * (w * w + w * np.sqrt(w * w + self._c) + rounded)


def balanced(
    system: System, harmonics: int, instant: float = inf, samples: int = 1024
) -> tuple[list[float], float]:
    """The cosines a_0 ... a_H in m, and ω in rad/s; `instant` is in periods."""
    length = sqrt(2 * system.E / system.k)
    phases, cosines, _ = _waves(harmonics, samples)

    def residual(x: Values) -> Values:
        return residuals(system, x[:-1] * length, float(x[-1]), instant, samples)

    found = root(residual, _true_motion(system, phases, cosines, length), tol=1e-13)
    assert np.abs(residual(found.x)).max() < 1e-10
    return (found.x[:-1] * length).tolist(), float(found.x[-1])


def residuals(
    system: System, a: Values, omega: float, instant: float = inf, samples: int = 1024
) -> Values:
    """The means of the equation times each cosine, over k √(2E/k), and the energy over E less 1."""
    orders = np.arange(len(a))
    _, cosines, sines = _waves(len(a) - 1, samples)
    u, rate = a @ cosines, -(orders * omega * a) @ sines
    pull = -system.m * (orders * omega) ** 2 * a @ cosines + system.k * u + system.force(u)
    if not isinf(instant):
        u = np.array(sum(a[j] * cos(2 * pi * j * instant) for j in orders))
        rate = -sum(j * omega * a[j] * sin(2 * pi * j * instant) for j in orders)
    energy = system.m * rate**2 / 2 + system.k * u**2 / 2 + system.potential(u)
    balance = cosines @ pull / samples / (system.k * sqrt(2 * system.E / system.k))
    return np.array([*balance, np.mean(energy) / system.E - 1])


@cache
def _waves(harmonics: int, samples: int) -> tuple[Values, Values, Values]:
    """The phases of the samples, and cosines and sines of every order at them."""
    phases = 2 * pi * np.arange(samples) / samples
    angles = np.outer(np.arange(harmonics + 1), phases)
    return phases, np.cos(angles), np.sin(angles)


def _true_motion(system: System, phases: Values, cosines: Values, length: float) -> Values:
    """The scaled cosines and ω of the integrated motion."""
    of_system = (system.m, system.k, system.K, system.e)
    exact = impact_oscillator.periodic(*of_system, system.E)
    omega = 2 * pi * exact["frequency"]
    u, _ = impact_oscillator.motion(*of_system, exact["maximum"], phases / omega)
    share = np.where(np.arange(len(cosines)) == 0, 1.0, 2.0)
    return np.array([*(share * (cosines @ u) / len(u) / length), omega])
