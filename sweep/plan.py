"""Pure functions: a sweep's chunks, the parameters of a chunk's points, a sweep's fingerprint.

Parameter values are only sliced and compared here. Whatever is added may use + − × ÷ √ on them and
nothing else: other functions give other bits on other machines.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, SupportsFloat, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.models import models
from sweep.spec import (
    LEVEL,
    Axis,
    Chunk,
    Column,
    LongValues,
    Parameter,
    Points,
    Sweep,
    Variant,
    parameters_of,
)

Recipe = dict[str, Any]  # JSON-able, floats as float.hex()
Named = TypeVar("Named")

RECIPE_FORMAT = 1
CHUNKS_OF_A_RUN = 64  # wanted, where the least and greatest chunk allow it
MAX_CHUNK_POINTS = 2**20
MAX_CHUNKS = 10**5  # files of one array that a file system lists in a blink
MAX_SWEEP_POINTS = MAX_CHUNKS * MAX_CHUNK_POINTS


def chunk_shape(sweep: Sweep, chunk_points: int | None = None) -> tuple[int, ...]:
    """The shape of a sweep's chunks: whole trailing dimensions, then a part of one, then ones.

    It follows from the sweep alone: 2**16 to 2**20 points (fewer of slow methods, more only where
    10**5 chunks would not do), the whole grid where that has fewer. With `chunk_points`, the least
    such block of at least that many points; SweepError if that is below 1 or makes more than 10**5
    chunks.
    """
    if chunk_points is not None:
        return _asked_block(sweep.shape, chunk_points)
    target = _power_of_two_below(sweep.n_points // CHUNKS_OF_A_RUN)
    # A block of at least n points has fewer than 2 n, hence half the greatest chunk.
    target = min(max(target, sweep.method.least_chunk), MAX_CHUNK_POINTS // 2)
    while math.prod(chunk_counts(sweep.shape, _block(sweep.shape, target))) > MAX_CHUNKS:
        target *= 2
    return _block(sweep.shape, target)


def chunk_counts(shape: Sequence[int], chunk_shape: Sequence[int]) -> tuple[int, ...]:
    """How many chunks lie along each dimension."""
    return tuple(-(-size // step) for size, step in zip(shape, chunk_shape, strict=True))


def chunks(shape: Sequence[int], chunk_shape: Sequence[int]) -> Iterator[Chunk]:
    """Every chunk of a grid, in C order of their index; together they hold every point once."""
    for index in itertools.product(*map(range, chunk_counts(shape, chunk_shape))):
        yield chunk_at(index, shape, chunk_shape)


def chunk_at(index: tuple[int, ...], shape: Sequence[int], chunk_shape: Sequence[int]) -> Chunk:
    """The chunk at one place in the grid of chunks; a chunk at the ragged end is smaller."""
    start = tuple([i * step for i, step in zip(index, chunk_shape, strict=True)])
    ends = zip(start, chunk_shape, shape, strict=True)
    return Chunk(index, start, tuple([min(step, size - a) for a, step, size in ends]))


def chunks_at(
    indices: NDArray[np.intp], shape: Sequence[int], chunk_shape: Sequence[int]
) -> list[Chunk]:
    """The chunks at many places, a row each, as `chunk_at` has them: 10**5 take 0.1 s."""
    if not chunk_shape:
        return [chunk_at((), shape, chunk_shape)] * len(indices)
    step = np.array(chunk_shape, np.intp)
    starts = indices * step
    shapes = np.minimum(step, np.array(shape, np.intp) - starts)
    rows = (zip(*each.T.tolist(), strict=True) for each in (indices, starts, shapes))
    return list(map(Chunk, *rows))


def refuse_many_chunks(shape: Sequence[int], chunk_shape: Sequence[int]) -> None:
    """SweepError if a grid has more chunks than file systems list in a blink."""
    count = math.prod(chunk_counts(shape, chunk_shape))
    if count > MAX_CHUNKS:
        raise SweepError(
            f"chunks of {math.prod(chunk_shape):,} points make {count:,} of {math.prod(shape):,} "
            f"points, at most {MAX_CHUNKS:,} are allowed; use a store of its own"
        )


def points(sweep: Sweep, chunk: Chunk) -> Points:
    """Every parameter of the sweep over the points of a chunk, these in C order."""
    columns = {name: Column(np.array([value])) for name, value in sweep.constants.items()}
    for dimension, axis in enumerate(sweep.axes):
        repeat = math.prod(chunk.shape[dimension + 1 :])
        for name, values in axis.columns.items():
            part = np.ascontiguousarray(values[chunk.slices[dimension]], dtype=np.float64)
            columns[name] = Column(part, repeat)
    return Points(
        n_points=chunk.n_points,
        columns={parameter.name: columns[parameter.name] for parameter in sweep.parameters},
        variants=tuple(v.name for v in sweep.method.variants if _holds(v, columns)),
    )


def variant_sets(sweep: Sweep, chunk_shape: Sequence[int]) -> list[tuple[str, ...]]:
    """The variants that hold in a chunk, for every different set of them that some chunk has."""
    variants = sweep.method.variants
    constants = {name: Column(np.array([value])) for name, value in sweep.constants.items()}
    asked = {name for variant in variants for name in variant.parameters}
    held = [{tuple(_holds(variant, constants) for variant in variants)}]
    for axis, step in zip(sweep.axes, chunk_shape, strict=True):
        parts = (
            {
                name: Column(values[start : start + step])
                for name, values in axis.columns.items()
                if name in asked
            }
            for start in range(0, axis.size, step)
        )
        held.append({tuple(_holds(variant, part) for variant in variants) for part in parts})
    sets = {tuple(map(all, zip(*each, strict=True))) for each in itertools.product(*held)}
    return [
        tuple(v.name for v, there in zip(variants, each, strict=True) if there)
        for each in sorted(sets)
    ]


def recipe(sweep: Sweep) -> Recipe:
    """What a sweep computes, JSON-able and canonical: equal for sweeps that ask for the same.

    Numbers are float.hex(). Neutral defaults are left out, so that a parameter which a later
    version adds changes no fingerprint; so is the method's revision, which is compared apart.
    """
    neutral = {p.name: p.default for p in sweep.parameters if p.neutral}
    constants = {n: v for n, v in sorted(sweep.constants.items()) if neutral.get(n) != v}
    asked = {output.name for output in sweep.outputs}
    return {
        "format": RECIPE_FORMAT,
        "model": sweep.model.name,
        "method": sweep.method.name,
        "parameter_set": sweep.parameter_set.name,
        "constants": canonical(constants),
        "axes": [_axis_recipe(axis) for axis in sweep.axes],
        "outputs": [output.name for output in sweep.model.outputs if output.name in asked],
        "dtype": sweep.dtype,
    }


def fingerprint(recipe: Mapping[str, Any]) -> str:
    """The SHA-256 of a recipe, in hexadecimal."""
    text = json.dumps(recipe, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def from_recipe(recipe: Mapping[str, Any], axis_columns: Mapping[str, LongValues]) -> Sweep:
    """The sweep a recipe was made from, given the values of all that lies along its axes.

    Which those are, `along_axes` says. The method is that of today's table, whatever its revision.
    Raises SweepError if this version cannot compute the recipe.
    """
    if recipe.get("format") != RECIPE_FORMAT:
        raise SweepError(
            f"recipe of format {recipe.get('format')!r}, this version reads format "
            f"{RECIPE_FORMAT}; use the version that wrote it"
        )
    model = _called("model", recipe["model"], models())
    method = _called("method", recipe["method"], {m.name: m for m in model.methods})
    sets = {s.name: s for s in model.parameter_sets}
    parameter_set = _called("parameter set", recipe["parameter_set"], sets)
    outputs = {output.name: output for output in model.outputs}
    axes = tuple(_axis(axis, axis_columns) for axis in recipe["axes"])
    parameters = parameters_of(model, parameter_set, method)
    return Sweep(
        model=model,
        method=method,
        parameter_set=parameter_set,
        constants=_constants(parameters, plain(recipe["constants"]), axes),
        axes=axes,
        outputs=tuple(_called("output", name, outputs) for name in recipe["outputs"]),
        dtype=recipe["dtype"],
    )


def along_axes(recipe: Mapping[str, Any]) -> list[str]:
    """The parameters that lie along axes, by a recipe; of refined points their levels, too."""
    names = [name for axis in recipe["axes"] for name in axis["parameters"]]
    return [*names, *(LEVEL for axis in recipe["axes"] if _is_refined(axis))]


def canonical(value: object) -> Any:
    """A value as JSON can hold it without loss: numbers as float.hex(), mappings sorted by key."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {key: canonical(entries[key]) for key in sorted(entries)}
    if isinstance(value, Iterable):
        return [canonical(item) for item in cast("Iterable[object]", value)]
    if isinstance(value, SupportsFloat):
        return float(value).hex()
    raise TypeError(f"{value!r} cannot be part of a recipe")


def plain(value: object) -> Any:
    """What `canonical` was made from, with every number a float."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {key: plain(entry) for key, entry in entries.items()}
    if isinstance(value, list):
        return [plain(item) for item in cast("list[object]", value)]
    if isinstance(value, str):
        return _number(value)
    return value


def _asked_block(shape: tuple[int, ...], chunk_points: int) -> tuple[int, ...]:
    if chunk_points < 1:
        raise SweepError(f"chunk_points={chunk_points!r}: a chunk has at least 1 point")
    block = _block(shape, chunk_points)
    count = math.prod(chunk_counts(shape, block))
    if count > MAX_CHUNKS:
        raise SweepError(
            f"chunk_points={chunk_points!r} makes {count:,} chunks of {math.prod(shape):,} points, "
            f"at most {MAX_CHUNKS:,} are allowed; leave it out, or ask for a larger one"
        )
    return block


def _block(shape: tuple[int, ...], target: int) -> tuple[int, ...]:
    """The smallest block of at least `target` points that is contiguous in C order."""
    block: list[int] = []
    for size in reversed(shape):
        block.append(min(size, max(1, -(-target // math.prod(block)))))
    return tuple(reversed(block))


def _power_of_two_below(n: int) -> int:
    return 1 << max(0, n.bit_length() - 1)


def _holds(variant: Variant, columns: Mapping[str, Column]) -> bool:
    held = (columns[name].values for name in variant.parameters if name in columns)
    return all(
        bool(np.all(values == (values[0] if variant.value is None else variant.value)))
        for values in held
    )


def _axis_recipe(axis: Axis) -> Recipe:
    return {
        "name": axis.name,
        "parameters": sorted(axis.columns),
        "recipe": canonical(axis.recipe),
    }


def _axis(recipe: Mapping[str, Any], axis_columns: Mapping[str, LongValues]) -> Axis:
    columns = {name: axis_columns[name] for name in recipe["parameters"]}
    levels = axis_columns[LEVEL][:].astype(np.uint8) if _is_refined(recipe) else None
    return Axis(recipe["name"], columns, plain(recipe["recipe"]), levels)


def _is_refined(axis_recipe: Mapping[str, Any]) -> bool:
    """As `Axis.is_refined`."""
    return "refine" in axis_recipe["recipe"]


def _constants(
    parameters: Iterable[Parameter], given: Mapping[str, float], axes: Iterable[Axis]
) -> dict[str, float]:
    """The given values with neutral defaults filled in, in the order of the parameters."""
    on_axes = {name for axis in axes for name in axis.columns}
    neutral = {p.name: p.default for p in parameters if p.neutral and p.default is not None}
    constants = neutral | dict(given)
    names = {parameter.name: parameter.name for parameter in parameters}
    for name in (*given, *on_axes):
        _called("parameter", name, names)
    missing = [name for name in names if name not in constants and name not in on_axes]
    if missing:
        raise SweepError(
            f"recipe without a value of {', '.join(missing)}, which this version needs"
        )
    return {name: constants[name] for name in names if name not in on_axes}


def _called(kind: str, name: str, choices: Mapping[str, Named]) -> Named:
    if name in choices:
        return choices[name]
    near = get_close_matches(name, choices, n=1)
    hint = f"; the nearest is {near[0]!r}" if near else ""
    raise SweepError(f"no {kind} {name!r} in this version{hint} (there are {', '.join(choices)})")


def _number(text: str) -> float | str:
    """The float that `canonical` wrote as this text, else the text."""
    try:
        value = float.fromhex(text)
    except ValueError:
        return text
    return value if value.hex() == text else text
