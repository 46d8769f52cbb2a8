"""Realisations of random signals: Philox in whole numbers, sums of cosines, SciPy's splines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

WORD = 2**32


def philox(counter: Sequence[int], key: Sequence[int]) -> tuple[int, int, int, int]:
    """Four words of Philox4x32-10 (Salmon et al. 2011, section 3.3)."""
    c, k = [*counter], [*key]
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [
            second // WORD ^ c[1] ^ k[0],
            second % WORD,
            first // WORD ^ c[3] ^ k[1],
            first % WORD,
        ]
        k = [(k[0] + 0x9E3779B9) % WORD, (k[1] + 0xBB67AE85) % WORD]
    return c[0], c[1], c[2], c[3]


def unit_number(high: int, low: int) -> float:
    """A number of [0, 1) with the upper 53 of 64 bits."""
    return (high * WORD + low >> 11) / 2**53


def random_phasors(
    n_harmonics: int, *, seed: int, draw: int, signal: int = 0, element: int = 0, normal: bool
) -> NDArray[np.complex128]:
    """Independent complex numbers of mean square 1 for harmonics 1 to `n_harmonics`."""
    phasors: list[complex] = []
    for harmonic in range(1, n_harmonics + 1):
        words = philox((signal, element, harmonic, 0), (seed, draw))
        phase = 2 * np.pi * unit_number(words[0], words[1])
        size = np.sqrt(-np.log(1 - unit_number(words[2], words[3]))) if normal else 1.0
        phasors.append(size * np.exp(1j * phase))
    return np.array(phasors)


def amplitudes(
    frequencies: ArrayLike, densities: ArrayLike, duration: float, n_harmonics: int
) -> NDArray[np.float64]:
    """The amplitudes of harmonics k/duration; the one-sided spectrum is 0 outside its rows."""
    at = np.arange(1, n_harmonics + 1) / duration
    density = np.interp(at, np.asarray(frequencies), np.asarray(densities), left=0, right=0)
    return np.sqrt(2 * density / duration)


def samples(
    phasors: NDArray[np.complex128], amplitude: NDArray[np.float64], n_samples: int
) -> NDArray[np.float64]:
    """The sum of cosines at evenly spaced samples of one period, each written out."""
    angle = 2 * np.pi * np.outer(np.arange(n_samples), np.arange(1, len(phasors) + 1)) / n_samples
    return np.cos(angle) @ (amplitude * phasors.real) - np.sin(angle) @ (amplitude * phasors.imag)


def spline(values: NDArray[np.float64], duration: float) -> CubicSpline:
    """The periodic cubic spline through samples, one along the first axis per interval."""
    times = np.linspace(0, duration, len(values) + 1)
    return CubicSpline(times, np.concatenate([values, values[:1]]), bc_type="periodic")
