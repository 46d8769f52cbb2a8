"""Modes of beams and bars against mpmath, published values, and orthogonality."""

from __future__ import annotations

import itertools
from pathlib import Path

import mpmath
import numpy as np
import pytest

from sweep.theory import beams
from tests.oracles import beams as oracle

PAIRS = list(itertools.product(beams.ENDS, repeat=2))
N_RIGID = {("free", "free"): 2, ("free", "pinned"): 1, ("pinned", "free"): 1}


@pytest.mark.parametrize("ends", PAIRS)
def test_frequencies_and_shapes_are_those_of_the_determinant(ends: tuple[str, str]) -> None:
    count, rigid, length = 5, N_RIGID.get(ends, 0), 2.0
    at = np.linspace(0, length, 9)
    with mpmath.workdps(40):
        numbers = oracle.wave_numbers(ends, count)
        frequencies = beams.beam_frequencies(count + rigid, ends, length, 3.0, 5.0)
        expected = [0.0] * rigid + [
            float((n / 2) ** 2 * mpmath.sqrt(mpmath.mpf("0.6"))) for n in numbers
        ]
        np.testing.assert_allclose(frequencies, expected, rtol=1e-15)
        shapes = beams.beam_shapes(at, count + rigid, ends, length)
        for i, number in enumerate(numbers):
            exact = oracle.shape(ends, number)
            values = np.array([float(exact(mpmath.mpf(x) / 2)) for x in at])
            found = shapes[:, rigid + i]
            sign = np.sign(values @ found)
            np.testing.assert_allclose(found, sign * values, atol=2e-14)


@pytest.mark.parametrize("ends", PAIRS)
def test_shapes_are_orthogonal_up_to_high_modes(ends: tuple[str, str]) -> None:
    x = np.linspace(0.0, 1.0, 10_001)
    shapes = beams.beam_shapes(x, 40, ends, 1.0)
    bars = beams.bar_shapes(x, 40, ends, 1.0)
    weights = np.where(np.arange(x.size) % 2, 4.0, 2.0) / (3 * (x.size - 1))  # Simpson's
    weights[[0, -1]] /= 2
    for each in (shapes, bars):
        products = each.T @ (weights[:, None] * each)
        np.testing.assert_allclose(products, np.eye(40), atol=2e-7)  # Simpson's error at mode 40


@pytest.mark.parametrize("ends", PAIRS)
def test_bars_obey_their_ends(ends: tuple[str, str]) -> None:
    """A free end has no slope, another one does not move; frequencies are those of waves."""
    h = 1e-4
    shapes = beams.bar_shapes([0, h, 1 - h, 1], 6, ends, 1.0)
    for end, (at, inside) in zip(ends, ((0, 1), (3, 2)), strict=True):
        if end == "free":
            np.testing.assert_allclose(shapes[at], shapes[inside], atol=3e-6)
        else:
            np.testing.assert_allclose(shapes[at], 0, atol=1e-14)
    frequencies = beams.bar_frequencies(6, ends, 0.5, 8.0, 2.0)  # c = 2, so c π/L = 4 π
    first = 0 if set(ends) == {"free"} else 0.5 if "free" in ends else 1
    np.testing.assert_allclose(frequencies, 4 * np.pi * (first + np.arange(6)), rtol=1e-15)


def test_the_pinned_beam_of_sdnl32() -> None:
    """Bernoulli frequencies in Hz of a beam of 14 mm square, pinned at one end."""
    section = beams.rectangle(0.014, 0.014)
    stiffness, mass = 6.7e10 * section.second_moment, 2400 * section.area
    frequencies = beams.beam_frequencies(5, ("pinned", "free"), 0.783, stiffness, mass)
    expected = [0, 85.46723156, 276.96857285, 577.87281975, 988.1967157]
    np.testing.assert_allclose(frequencies / (2 * np.pi), expected, rtol=1e-9)


def test_cantilevers_of_textbooks() -> None:
    """Blevins, table 8-1: λ of a cantilever; and a tube that is a full circle."""
    numbers = np.sqrt(beams.beam_frequencies(5, ("clamped", "free"), 1.0, 1.0, 1.0))
    np.testing.assert_allclose(
        numbers, [1.87510407, 4.69409113, 7.85475744, 10.99554073, 14.13716839], atol=5e-9
    )
    solid, hollow = beams.tube(0.01, 0.01), beams.tube(0.01, 0.002)
    np.testing.assert_allclose(solid, [np.pi * 1e-4, np.pi * 1e-8 / 4], rtol=1e-15)
    np.testing.assert_allclose(hollow, np.pi * np.array([3.6e-5, (1e-8 - 8e-3**4) / 4]), rtol=1e-14)


def test_a_table_of_modes_is_read_with_the_same_bits(tmp_path: Path) -> None:
    ends, count = ("clamped", "pinned"), 3
    shapes = beams.beam_shapes([0.25, 0.5], count, ends, 1.0)
    frequencies = beams.beam_frequencies(count, ends, 1.0, 2.0, 3.0)
    named = {"lower.y": shapes[0], "middle.y": shapes[1]}
    path = beams.write_modes(
        tmp_path / "modes.csv", frequencies, beams.modal_masses(3, 1.0, 3.0), named
    )
    read = np.genfromtxt(path, delimiter=",", names=True, deletechars="")
    assert read.dtype.names == ("angular_frequency", "mass", "lower.y", "middle.y")
    assert read["angular_frequency"].tobytes() == frequencies.tobytes()
    assert read["middle.y"].tobytes() == np.ascontiguousarray(shapes[1]).tobytes()
    with pytest.raises(ValueError, match="differ in length"):
        beams.write_modes(path, frequencies, [1.0], {})


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"'fixed'.* clamped, free, pinned"):
        beams.beam_frequencies(3, ("fixed", "free"), 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="count=0"):
        beams.bar_frequencies(0, ("free", "free"), 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"from 0 to 1\.0 m"):
        beams.beam_shapes([1.5], 3, ("free", "free"), 1.0)
    with pytest.raises(ValueError, match=r"thickness=0\.02"):
        beams.tube(0.01, 0.02)
