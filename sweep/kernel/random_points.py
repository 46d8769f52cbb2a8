"""Random points of a sample drawn on a device by drawing_gpu.h, with the bits of sampling/.

Drawn by NumPy they would take longer than they take to compute, and threads that draw wait for each
other.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping

import numpy as np

from sweep.kernel.device import Entries, Memory, Queue
from sweep.kernel.source import flat_text
from sweep.request.chunk import Column
from sweep.sampling.distributions import DISTRIBUTIONS, LARGEST_UNIT
from sweep.sampling.long_values import Drawn
from sweep.theory import elementary

ENTRY = "tribosweep_draw"
N_JUMPS, N_CONSTANTS = 18, 7  # of drawing_gpu.h
MOST_THREADS = 1 << 17
FACTOR = 0x2360ED051FC65DA44385DF649FCCF645  # of the generator: s becomes FACTOR s + its increment
MODULUS = 1 << 128
FORMS = list(DISTRIBUTIONS)
COEFFICIENTS = ("LOG", "EXP", "CENTRE", "TAIL", "FAR_TAIL")  # of elementary.py
NUMBERS = ("LN2_HIGH", "LN2_LOW", "LOG2_E", "HALF_CENTRE", "FAR")


class Word(ctypes.Structure):
    """128 bits."""

    _fields_ = [("high", ctypes.c_uint64), ("low", ctypes.c_uint64)]


class Jump(ctypes.Structure):
    """Skips numbers of the generator: its state s becomes factor s + summand, modulo 2^128."""

    _fields_ = [("factor", Word), ("summand", Word)]


class Drawing(ctypes.Structure):
    """The Drawing of drawing_gpu.h."""

    _fields_ = [
        ("values", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("count", "threads", "form", "whole", "bounded")),
        *((name, ctypes.c_double) for name in ("lowest", "highest", "least", "greatest")),
        ("constants", ctypes.c_double * N_CONSTANTS),
        ("state", Word),
        ("turn", Jump),
        ("jumps", Jump * N_JUMPS),
    ]


@functools.cache
def drawing_text() -> str:
    """The text for a device, with the coefficients of elementary.py."""
    lines = [f"constexpr double {n} = {getattr(elementary, n)!r};" for n in NUMBERS]
    for name in COEFFICIENTS:
        rows = getattr(elementary, name)
        tables = {f"{name}_0": rows[0], f"{name}_1": rows[1]} if len(rows) == 2 else {name: rows}
        for table, values in tables.items():
            listed = ", ".join(map(repr, values))
            lines.append(f"__device__ const double {table}[{len(values)}] = {{{listed}}};")
    same = f"static_assert(sizeof(Drawing) == {ctypes.sizeof(Drawing)}, "
    same += '"drawing_gpu.h and kernel/random_points.py differ in layout");'
    return "\n".join([*lines, flat_text("drawing_gpu.h"), same])


def random_columns(columns: Mapping[str, Column]) -> dict[str, Drawn]:
    """The columns that a device can draw."""
    sources = {name: column.source for name, column in columns.items()}
    return {n: s for n, s in sources.items() if isinstance(s, Drawn) and s.sample.unit.generator}


def draw(
    queue: Queue, entries: Entries, drawn: Drawn, start: int, count: int
) -> tuple[Memory, Memory]:
    """Memory for `count` values of a column from `start` on, and other that drawing them needs."""
    values = queue.empty(8 * count)
    request = drawing(drawn, start, count, values.address)
    argument = queue.upload(np.frombuffer(bytes(request), np.uint8))
    queue.start(entries, ENTRY, argument, request.threads)
    return values, argument


def drawing(drawn: Drawn, start: int, count: int, address: int) -> Drawing:
    """The argument of a launch that writes `count` values from `start` on to an address."""
    unit, margin = drawn.sample.unit, drawn.sample.margins[drawn.name]
    generator = unit.generator
    assert generator is not None
    bits = generator.at(drawn.first + start)
    bits.advance(list(drawn.sample.margins).index(drawn.name) + 1)
    state = bits.state["state"]
    request = Drawing(values=address, count=count, threads=min(count, MOST_THREADS))
    request.form = FORMS.index(margin.form)
    request.whole = (1 if margin.is_cut else 2) if margin.whole else 0
    unbounded = DISTRIBUTIONS[margin.form].unbounded
    request.lowest = unit.resolution / 2 if unbounded else 0.0
    request.highest = LARGEST_UNIT
    if margin.ends is not None:
        request.bounded, (request.least, request.greatest) = 1, margin.ends
    request.constants[: len(margin.constants)] = margin.constants
    request.state = _word(state["state"])
    of_a_point = generator.n_dimensions
    request.turn = _jump(request.threads * of_a_point, state["inc"])
    for i in range(N_JUMPS):
        request.jumps[i] = _jump(of_a_point << i, state["inc"])
    return request


@functools.lru_cache(maxsize=256)
def _jump(steps: int, increment: int) -> Jump:
    """Over so many numbers: the factor F is FACTOR^steps, the summand (F - 1)/(FACTOR - 1)."""
    factor = pow(FACTOR, steps, MODULUS * (FACTOR - 1))
    summand = (factor - 1) // (FACTOR - 1) * increment
    return Jump(_word(factor), _word(summand))


def _word(number: int) -> Word:
    return Word(number >> 64 & (1 << 64) - 1, number & (1 << 64) - 1)
