"""Elementary functions of the kernels: mpmath is the oracle; bits must be the same everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from tests.kernel.kernel_probe import KERNELS, Entry, Probe, compile_probe, compilers

ENTRIES = {
    "sincos_core_of": Entry(1, 2, "sincos_core(in[0], out[0], out[1]);"),
    "sincos_of": Entry(1, 2, "sincos(in[0], out[0], out[1]);"),
    "sincos_short_of": Entry(1, 2, "sincos_short(in[0], out[0], out[1]);"),
    "sincos_folded_of": Entry(2, 2, "sincos_folded(in[0], in[1], out[0], out[1]);"),
    "circular_of": Entry(1, 4, "circular(in[0], out[0], out[1], out[2], out[3]);"),
    "short_arc_of": Entry(1, 2, "out[0] = one_minus_cos(in[0]); out[1] = x_minus_sin(in[0]);"),
    "asin_of": Entry(1, 1, "out[0] = asin(in[0]);"),
    "acos_of": Entry(1, 1, "out[0] = acos(in[0]);"),
    "atan2_of": Entry(2, 1, "out[0] = atan2(in[0], in[1]);"),
    "exp_of": Entry(1, 1, "out[0] = exp(in[0]);"),
    "log_of": Entry(1, 1, "out[0] = log(in[0]);"),
    "pow_of": Entry(2, 1, "out[0] = pow(in[0], in[1]);"),
}
# Greatest errors in ulp, in the order in which the comment of each function states them.
ULP = {
    "sincos_core": (0.8, 0.9),
    "sincos": (1.6, 1.6),
    "sincos_folded": (2.2,),
    "circular": (1.6, 1.6, 3.6, 4.0, 3.3),
    "asin": (1.5,),
    "acos": (1.3,),
    "atan2": (2.0,),
    "exp": (1.1,),
    "log": (0.8,),
    "pow": (1.5,),
}
DIGITS = 90  # x - sin x at x = 1e-20 cancels 40 of them
POINTS = 1200
QUARTER = math.pi / 4

Column = NDArray[np.float64]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("probes")


@pytest.fixture(scope="module")
def probe(folder: Path) -> Probe:
    return compile_probe(folder, "elementary.h", ENTRIES)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.fixture(autouse=True)
def digits() -> Iterable[None]:
    with mpmath.workdps(DIGITS):
        yield


def errors(
    got: Column, oracle: Callable[..., mpf], *columns: Column, absolute: float = 0.0
) -> Column:
    """Errors of `got` beyond `absolute`, in ulp of the true value; a true zero must be met."""
    worst = np.empty(len(got))
    for i, (value, *arguments) in enumerate(zip(got.tolist(), *columns, strict=True)):
        exact = oracle(*map(mpf, arguments))
        error = abs(mpf(value) - exact)
        if exact == 0:
            worst[i] = 0.0 if error == 0 else math.inf
        else:
            worst[i] = max(error - absolute, mpf(0)) / mpf(2) ** (mp.frexp(exact)[1] - 53)
    return worst


def spread(rng: np.random.Generator, bound: float, *edges: float) -> Column:
    """Values within +-bound: even, crowded towards 0, and next to each edge, both signs."""
    near = np.asarray(edges)
    tiny = bound * 10.0 ** rng.uniform(-20, 0, POINTS // 3)
    around = [near, np.nextafter(near, 0.0), np.nextafter(near, math.inf), near * (1 + 1e-8)]
    crowd = np.concatenate([rng.uniform(0, bound, POINTS), tiny, *around])
    crowd = crowd[crowd <= bound]
    return crowd * rng.choice([-1.0, 1.0], len(crowd))


def beside_zeros(rng: np.random.Generator, bound: float) -> Column:
    """The doubles next to random multiples of pi/2: the hardest arguments of a reduction."""
    multiples = rng.integers(1, int(bound / (2 * QUARTER)), POINTS) * (2 * QUARTER)
    return np.concatenate([multiples, np.nextafter(multiples, 0.0)])


def versine(x: mpf) -> mpf:
    return 2 * mp.sin(x / 2) ** 2


def defect(x: mpf) -> mpf:
    return x - mp.sin(x) if abs(x) > 1e-20 else x**3 / 6


def stated_errors(header: str) -> dict[str, tuple[float, ...]]:
    """The errors in ulp that the comments of a header's functions state."""
    heads = re.findall(r"((?:^//.*\n)+)HD \w+ (\w+)\(", (KERNELS / header).read_text(), re.M)
    stated = {name: re.findall(r"(\d+\.\d+) ulp", comment) for comment, name in heads}
    return {name: tuple(map(float, found)) for name, found in stated.items() if found}


def test_comments_state_the_errors_asserted_here():
    assert stated_errors("elementary.h") == ULP


def test_sincos_core(probe: Probe, rng: np.random.Generator):
    x = spread(rng, QUARTER * (1 + 1e-7), QUARTER, 0.5)
    sine, cosine = probe("sincos_core_of", x)
    assert errors(sine, mp.sin, x).max() <= ULP["sincos_core"][0]
    assert errors(cosine, mp.cos, x).max() <= ULP["sincos_core"][1]


@pytest.mark.parametrize("bound", [10.0, 1e5, 1e9])
def test_sincos(probe: Probe, rng: np.random.Generator, bound: float):
    edges = [k * QUARTER for k in range(1, 13)]
    x = spread(rng, bound, bound, *edges)
    sine, cosine = probe("sincos_of", x)
    absolute = 1e-28 if bound <= 1e5 else 1e-24
    assert errors(sine, mp.sin, x, absolute=absolute).max() <= ULP["sincos"][0]
    assert errors(cosine, mp.cos, x, absolute=absolute).max() <= ULP["sincos"][1]


def test_sincos_short_has_the_bits_of_sincos(probe: Probe, rng: np.random.Generator):
    beside = np.nextafter(QUARTER, [0.0, 2.0])
    x = np.concatenate([np.abs(spread(rng, 2.0, QUARTER, 2 * QUARTER)), beside, [0.0, 2.0]])
    short, usual = probe("sincos_short_of", x), probe("sincos_of", x)
    np.testing.assert_array_equal(short.view(np.int64), usual.view(np.int64))


@pytest.mark.parametrize("bound", [10.0, 1e5, 1e9])
def test_sincos_folded(probe: Probe, rng: np.random.Generator, bound: float):
    """Beside zeros, too, and with a rest that the argument has rounded off."""
    edges = [k * QUARTER for k in range(1, 13)]
    x = np.concatenate([spread(rng, bound, bound, *edges), beside_zeros(rng, bound)])
    rest = np.spacing(x) * rng.uniform(-0.5, 0.5, x.size)
    absolute = 1e-28 if bound <= 1e5 else 1e-24
    sine, cosine = probe("sincos_folded_of", x, np.zeros(x.size))
    assert errors(sine, mp.sin, x, absolute=absolute).max() <= ULP["sincos_folded"][0]
    with mp.workdps(DIGITS):
        assert max(abs(mp.cos(a) - b) for a, b in zip(x, cosine, strict=True)) <= 3e-16
        sine, _ = probe("sincos_folded_of", x, rest)
        exact = [mp.sin(mp.mpf(a) + b) for a, b in zip(x, rest, strict=True)]
        differences = [abs(a - b) for a, b in zip(exact, sine, strict=True)]
        assert max(differences) <= 3e-16


@pytest.mark.parametrize(("bound", "absolute"), [(1e5, 1e-28), (1e9, 1e-24)])
def test_sincos_beside_its_zeros(
    probe: Probe, rng: np.random.Generator, bound: float, absolute: float
):
    x = beside_zeros(rng, bound)
    sine, cosine = probe("sincos_of", x)
    assert errors(sine, mp.sin, x, absolute=absolute).max() <= ULP["sincos"][0]
    assert errors(cosine, mp.cos, x, absolute=absolute).max() <= ULP["sincos"][1]


def test_sincos_and_circular_are_odd_and_even(probe: Probe, rng: np.random.Generator):
    x = np.concatenate([spread(rng, 7.0, 1.0, QUARTER), 4 * QUARTER * np.arange(1, 3)])
    far = np.concatenate([x, spread(rng, 1e9), beside_zeros(rng, 1e9)])
    sine, cosine = probe("sincos_of", far)
    np.testing.assert_array_equal(probe("sincos_of", -far), [-sine, cosine])
    sine, cosine, versine, defect = probe("circular_of", x)
    np.testing.assert_array_equal(probe("circular_of", -x), [-sine, cosine, versine, -defect])
    assert probe("sincos_of", [0.0])[:, 0].tolist() == [0.0, 1.0]
    assert probe("circular_of", [0.0])[:, 0].tolist() == [0.0, 1.0, 0.0, 0.0]


def test_circular(probe: Probe, rng: np.random.Generator):
    x = spread(rng, 7.0, 1.0, 7.0, *(k * QUARTER for k in range(1, 9)))
    x = np.concatenate([x, rng.uniform(5.5, 7.0, POINTS), [1e-100, -1e-60, 1e-30]])
    oracles = (mp.sin, mp.cos, versine, defect)
    for got, oracle, bound in zip(probe("circular_of", x), oracles, ULP["circular"], strict=False):
        assert errors(got, oracle, x).max() <= bound


def test_circular_keeps_relative_accuracy_on_short_arcs(probe: Probe, rng: np.random.Generator):
    x = spread(rng, 1.0, 1.0, 0.5)
    _, _, got_versine, got_defect = probe("circular_of", x)
    assert errors(got_defect, defect, x).max() <= ULP["circular"][4]
    for got, oracle in ((got_versine, versine), (got_defect, defect)):
        exact = [oracle(mpf(value)) for value in x.tolist()]
        relative = [abs(mpf(g) / e - 1) for g, e in zip(got.tolist(), exact, strict=True)]
        assert max(relative) <= 4.5e-16


def test_versine_returns_to_zero_after_a_turn(probe: Probe, rng: np.random.Generator):
    turn = 8 * QUARTER
    x = np.concatenate([rng.uniform(5.5, 7.0, POINTS), turn + 10.0 ** rng.uniform(-15, -1, POINTS)])
    got = probe("circular_of", x)[2]
    assert errors(got, versine, x).max() <= ULP["circular"][2]


def test_short_arcs_are_those_of_circular(probe: Probe, rng: np.random.Generator):
    x = spread(rng, 7.0, 1.0)
    np.testing.assert_array_equal(probe("short_arc_of", x), probe("circular_of", x)[2:])


@pytest.mark.parametrize(("name", "oracle"), [("asin", mp.asin), ("acos", mp.acos)])
def test_asin_acos(probe: Probe, rng: np.random.Generator, name: str, oracle: Callable[[mpf], mpf]):
    toward_one = 1.0 - 10.0 ** rng.uniform(-16, 0, POINTS)
    x = np.concatenate([spread(rng, 1.0, 0.5, 1.0), toward_one, -toward_one, [0.0, 1.0, -1.0]])
    assert errors(probe(f"{name}_of", x)[0], oracle, x).max() <= ULP[name][0]


def test_asin_acos_at_their_ends(probe: Probe, rng: np.random.Generator):
    x = spread(rng, 1.0, 0.5, 1.0)
    np.testing.assert_array_equal(probe("asin_of", -x), -probe("asin_of", x))
    ends = [-1.0, 0.0, 1.0]
    assert probe("asin_of", ends)[0].tolist() == [-math.pi / 2, 0.0, math.pi / 2]
    assert probe("acos_of", ends)[0].tolist() == [math.pi, math.pi / 2, 0.0]
    beyond = [-2.0, -1.0000000000000002, 1.0000000000000002, math.inf]
    assert np.isnan([probe("asin_of", beyond), probe("acos_of", beyond)]).all()


def test_atan2(probe: Probe, rng: np.random.Generator):
    angle = np.concatenate(
        [rng.uniform(-math.pi, math.pi, 2 * POINTS), rng.uniform(0.46, 0.56, POINTS)]
    )
    size = 10.0 ** rng.uniform(-150, 150, len(angle))
    uneven = rng.normal(size=(2, POINTS)) * 10.0 ** rng.uniform(-100, 100, (2, POINTS))
    y = np.concatenate([size * np.sin(angle), uneven[0], [8e307, -8e307, 8e307, 1e-300]])
    x = np.concatenate([size * np.cos(angle), uneven[1], [8e307, 8e307, -1.0, 8e-301]])
    assert errors(probe("atan2_of", y, x)[0], mp.atan2, y, x).max() <= ULP["atan2"][0]


def test_atan2_on_the_axes_and_diagonals(probe: Probe):
    y = [0.0, 1.0, 3.0, 2.0, 0.0, -2.0, -3.0, -1.0, 0.0]
    x = [2.0, 1.0, 0.0, -2.0, -5.0, -2.0, 0.0, 1.0, 0.0]
    eighths = np.array([0, 1, 2, 3, 4, -3, -2, -1, 0])
    assert probe("atan2_of", y, x)[0].tolist() == (eighths * QUARTER).tolist()


def test_exp(probe: Probe, rng: np.random.Generator):
    limits = [-708.0, 709.782712893384, 0.5 * math.log(2.0), 0.0]
    x = np.concatenate([rng.uniform(-708.0, 709.78, POINTS), spread(rng, 2.0), limits])
    assert errors(probe("exp_of", x)[0], mp.exp, x).max() <= ULP["exp"][0]


def test_exp_overflows_to_infinity_and_underflows_to_zero(probe: Probe):
    x = [0.0, 709.7827128933841, 710.0, 1e300, math.inf, -708.0000000000001, -1e300, -math.inf]
    expected = [1.0, *[math.inf] * 4, *[0.0] * 3]
    assert probe("exp_of", x)[0].tolist() == expected


def positive(rng: np.random.Generator) -> Column:
    """Normal numbers of every size, crowded about 1 and next to the square roots of 2 and 1/2."""
    about_one = 1.0 + rng.choice([-1.0, 1.0], POINTS) * 10.0 ** rng.uniform(-16, -0.5, POINTS)
    roots = math.sqrt(2.0) * np.array([0.5, 1.0, 1.0 + 1e-15, 0.5 - 1e-16, 2.0])
    powers = 2.0 ** rng.integers(-1022, 1024, POINTS)
    limits = [2.2250738585072014e-308, 1.7976931348623157e308, 1.0, 0.5]
    return np.concatenate(
        [10.0 ** rng.uniform(-307, 308, POINTS), rng.uniform(0.5, 2.0, POINTS), about_one]
        + [roots, powers, limits]
    )


def test_log(probe: Probe, rng: np.random.Generator):
    x = positive(rng)
    assert errors(probe("log_of", x)[0], mp.log, x).max() <= ULP["log"][0]


def test_pow(probe: Probe, rng: np.random.Generator):
    """Over the whole range of results, and where the profile of a contact has its exponents."""
    x = positive(rng)
    exponent = rng.uniform(-1.0, 1.0, len(x))
    with np.errstate(divide="ignore"):
        wide = exponent * np.minimum(1e4, 700.0 / abs(np.log(x)))
    narrow = rng.uniform(0.001, 3.0, len(x))
    narrow *= np.minimum(1.0, 700.0 / np.maximum(abs(np.log(x)) * narrow, 1e-300))
    for y in (wide, narrow):
        assert errors(probe("pow_of", x, y)[0], mp.power, x, y).max() <= ULP["pow"][0]


def test_pow_of_whole_and_limiting_arguments(probe: Probe):
    x = [0.0, 0.0, 2.0, 2.0, 4.0, 10.0, 10.0, 1.0, 7.0]
    y = [2.0, 0.001, 10.0, -1.0, 0.5, 400.0, -400.0, 0.3, 0.0]
    expected = [0.0, 0.0, 1024.0, 0.5, 2.0, math.inf, 0.0, 1.0, 1.0]
    assert probe("pow_of", x, y)[0].tolist() == expected


def test_nan_goes_through(probe: Probe):
    for name, entry in ENTRIES.items():
        assert np.isnan(probe(name, *[[math.nan]] * entry.inputs)).all(), name


@pytest.fixture(scope="module")
def sample() -> dict[str, list[Column]]:
    """Columns for every entry, edges and odd lengths included."""
    rng = np.random.default_rng(7)
    unit = np.concatenate([spread(rng, 1.0, 0.5, 1.0), [0.0]])
    arc = np.concatenate([spread(rng, 7.0, 1.0, 7.0), [0.0]])
    far = np.concatenate([spread(rng, 1e9), beside_zeros(rng, 1e9), [math.inf]])
    powers = np.concatenate([spread(rng, 800.0), [math.inf, -math.inf]])
    return {
        "sincos_core_of": [QUARTER * unit],
        "sincos_of": [far],
        "sincos_short_of": [2.0 * np.abs(unit)],
        "circular_of": [arc],
        "short_arc_of": [arc],
        "asin_of": [unit],
        "acos_of": [unit],
        "atan2_of": [unit, np.roll(unit, 1)],
        "exp_of": [powers],
        "log_of": [positive(rng)],
        "pow_of": [positive(rng), rng.uniform(-2.0, 2.0, len(positive(rng)))],
    }


def builds() -> Iterator[Any]:
    """Every width and pack with the preferred compiler, a wide and a narrow one with the others.

    All but one double and the widest of the first compiler, and a narrow one of the others, are
    broad.
    """
    first, *others = compilers()
    few = [(first, 1, 4), (first, 8, 1), *((name, 2, 1) for name in others)]
    everything = [(first, width, pack) for width in (1, 2, 4, 8) for pack in (1, 4)]
    everything += [(name, *size) for name in others for size in ((8, 4), (2, 1))]
    for build in everything:
        yield pytest.param(*build, marks=[] if build in few else [pytest.mark.broad])


@pytest.mark.parametrize(("compiler", "width", "pack"), [*builds()])
def test_same_bits(
    folder: Path,
    probe: Probe,
    sample: dict[str, list[Column]],
    compiler: str,
    width: int,
    pack: int,
):
    other = compile_probe(
        folder, "elementary.h", ENTRIES, width=width, pack=pack, compiler=compiler
    )
    for name, columns in sample.items():
        here, there = probe(name, *columns), other(name, *columns)
        is_number = ~np.isnan(here)  # the sign and payload of a NaN are the processor's affair
        np.testing.assert_array_equal(is_number, ~np.isnan(there))
        differing = here.view(np.int64)[is_number] != there.view(np.int64)[is_number]
        assert not differing.any(), f"{name}: {differing.sum()} values differ"
