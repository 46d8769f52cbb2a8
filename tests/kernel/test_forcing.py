"""Tables of realisations: the generator's known answers, samples and splines against the oracle."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.kernel.compiler import compile_library, find_compiler
from sweep.kernel.forcing import ForcingRequest
from sweep.kernel.source import flat_text
from tests.gpu.twin import TwinEntries, launchable
from tests.oracles.random_forcing import philox, random_phasors, samples, spline

# Random123, examples/kat_vectors of Salmon et al.: counter, key, result.
KNOWN_ANSWERS = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)
PROBE = """
extern "C" void philox_of(uint32 const* counter, uint32 const* key, uint32* words) {
    Random4 c = {{counter[0], counter[1], counter[2], counter[3]}};
    Random4 drawn = philox(c, key[0], key[1]);
    for (int i = 0; i < 4; ++i) words[i] = drawn.word[i];
}
"""
SAMPLES, HARMONICS, SEED, SIGNAL = 256, 25, 7, 3
DRAWS = (0.0, 5.0, 2.0**32 - 1)
FACTOR = np.linalg.cholesky(np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]))
Tables = NDArray[np.float64]  # (n_draws, n_samples, n_elements, 2)


def _library(*flags: str) -> ctypes.CDLL:
    text = flat_text("entry_forcing.h") + PROBE
    return ctypes.CDLL(str(compile_library(text, find_compiler(), flags)))


def _amplitudes(n_elements: int) -> NDArray[np.float64]:
    return 1 / np.arange(1.0, HARMONICS * n_elements + 1).reshape(HARMONICS, n_elements)


class _Case:
    """A request for tables, and the arrays that it refers to."""

    def __init__(
        self,
        n_elements: int,
        *,
        normal: bool,
        correlated: bool = False,
        draws: Sequence[float] = DRAWS,
    ) -> None:
        self.draws = np.array(draws, np.float64)
        self.amplitudes = _amplitudes(n_elements)
        self.factor = np.ascontiguousarray(FACTOR[:n_elements, :n_elements])
        self.turns = np.full((SAMPLES // 2, 2), np.nan)
        self.tables = np.full((len(draws), SAMPLES, n_elements, 2), np.nan)
        self.request = ForcingRequest(
            samples=SAMPLES, harmonics=HARMONICS, elements=n_elements, realisations=len(draws),
            signal=SIGNAL, seed=SEED, normal=normal,
            draws=self.draws.ctypes.data, amplitudes=self.amplitudes.ctypes.data,
            factor=self.factor.ctypes.data if correlated else None,
            turns=self.turns.ctypes.data, tables=self.tables.ctypes.data,
        )  # fmt: skip


def _tables(library: ctypes.CDLL, n_elements: int, **law: bool) -> Tables:
    case = _Case(n_elements, **law)
    assert library.tribosweep_forcing_bytes() == ctypes.sizeof(case.request)
    library.tribosweep_forcing(ctypes.byref(case.request))
    return case.tables


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN_ANSWERS)
def test_philox_gives_the_known_answers(
    counter: tuple[int, ...], key: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    words = (ctypes.c_uint32 * 4)()
    _library().philox_of((ctypes.c_uint32 * 4)(*counter), (ctypes.c_uint32 * 2)(*key), words)
    assert tuple(words) == expected
    assert philox(counter, key) == expected


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("correlated", [False, True])
def test_samples_are_sums_of_cosines(normal: bool, correlated: bool) -> None:
    tables = _tables(_library(), 3, normal=normal, correlated=correlated)
    for row, draw in enumerate(DRAWS):
        phasors = np.array([
            random_phasors(
                HARMONICS, seed=SEED, draw=int(draw), signal=SIGNAL, element=element, normal=normal
            )
            for element in range(3)
        ])  # fmt: skip
        phasors = FACTOR @ phasors if correlated else phasors
        for element in range(3):
            amplitudes = _amplitudes(3)[:, element]
            expected = samples(phasors[element], amplitudes, SAMPLES)
            np.testing.assert_allclose(
                tables[row, :, element, 0], expected, rtol=0, atol=1e-14 * amplitudes.sum()
            )


def test_second_derivatives_are_those_of_the_periodic_spline() -> None:
    values, bends = np.moveaxis(_tables(_library(), 1, normal=False)[:, :, 0], -1, 0)
    for value, bend in zip(values, bends, strict=True):
        expected = spline(value, float(SAMPLES))(np.arange(SAMPLES), 2)
        np.testing.assert_allclose(bend, expected, rtol=0, atol=1e-13 * np.abs(bend).max())


@pytest.mark.parametrize("normal", [False, True])
def test_periodograms_have_the_spectrum_as_their_mean(normal: bool) -> None:
    """Over 200 draws; with fixed amplitudes each of them is the spectrum."""
    case = _Case(1, normal=normal, draws=range(200))
    _library().tribosweep_forcing(ctypes.byref(case.request))
    lines = np.fft.rfft(case.tables[:, :, 0, 0]) / (SAMPLES / 2)  # (draw, harmonic), complex
    expected = _amplitudes(1)[:, 0] ** 2
    powers = np.abs(lines[:, 1 : HARMONICS + 1]) ** 2
    errors = powers.std(axis=0, ddof=1) / np.sqrt(200)
    distances = np.abs(powers.mean(axis=0) - expected)
    if normal:
        assert (distances < 3.5 * errors).all()  # by chance, one of 2000 is farther away
        assert np.count_nonzero(distances < errors) > HARMONICS / 2  # of which 68 % are expected
    else:
        assert (np.abs(powers - expected) < 1e-12 * expected).all()
    assert (np.abs(lines[:, HARMONICS + 1 :]) < 1e-14).all()
    phases = lines[:, 1 : HARMONICS + 1] / np.abs(lines[:, 1 : HARMONICS + 1])
    assert np.abs(phases.mean()) < 3 / np.sqrt(phases.size)
    neighbours = (phases[:, 1:] * phases[:, :-1].conj()).mean()
    assert np.abs(neighbours) < 3 / np.sqrt(phases.size)
    draws = (phases[1:] * phases[:-1].conj()).mean()
    assert np.abs(draws) < 3 / np.sqrt(phases.size)


@pytest.mark.parametrize("law", [{"normal": True, "correlated": True}, {"normal": False}])
def test_every_width_and_a_gpu_have_the_same_bits(law: dict[str, bool]) -> None:
    expected = _tables(_library("-DSWEEP_WIDTH=1", "-DSWEEP_PACK=1"), 3, **law)
    for width, pack in ((2, 1), (4, 4), (8, 3)):
        library = _library(f"-DSWEEP_WIDTH={width}", f"-DSWEEP_PACK={pack}")
        assert _tables(library, 3, **law).tobytes() == expected.tobytes()
    case = _Case(3, **law)
    entries = TwinEntries(launchable(flat_text("entry_forcing.h")), ())
    for stage in range(3 + SAMPLES.bit_length() - 1):
        case.request.stage = stage
        units = SAMPLES // 2 * (len(DRAWS) if stage else 1)
        entries.start("tribosweep_forcing", ctypes.addressof(case.request), units)
    assert case.tables.tobytes() == expected.tobytes()
