"""Pure functions: the chunks of a sweep, the parameters of a chunk's points, the fingerprint.

Parameter values are only sliced and compared here. Code added here must restrict itself to + − × ÷
√ on them, because other functions give different bits on different machines.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, SupportsFloat, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sweep.equations.derived import in_order, inputs, value_of
from sweep.errors import SweepError
from sweep.installed import installed_model
from sweep.models import models
from sweep.ranges import first_outside, requirement
from sweep.spec import (
    LEVEL,
    Axis,
    Chunk,
    Column,
    LongValues,
    Model,
    Output,
    Parameter,
    Points,
    Sweep,
    Table,
    Values,
    Variant,
    inputs_of,
    parameters_of,
)
from sweep.statistics.outputs import statistic_outputs
from sweep.statistics.reduction import Reduction

Recipe = dict[str, Any]  # JSON-able, floats as float.hex()
Named = TypeVar("Named")

RECIPE_FORMAT = 1
CHUNKS_OF_A_RUN = 64  # target number, within the limits on the size of a chunk
MAX_CHUNK_POINTS = 2**20
MAX_CHUNKS = 10**5  # files per array that a file system lists quickly
MAX_SWEEP_POINTS = MAX_CHUNKS * MAX_CHUNK_POINTS


def chunk_shape(sweep: Sweep, chunk_points: int | None = None) -> tuple[int, ...]:
    """The shape of a sweep's chunks: whole trailing dimensions, then a part of one, then ones.

    It depends on the sweep alone. A chunk has 2**16 to 2**20 points, fewer for slow methods, more
    only if there would be over 10**5 chunks; a smaller grid is one chunk. Where an output has
    several values at each point, these count instead of the points. With `chunk_points`, it is the
    smallest such block with at least that many points. Raises SweepError if `chunk_points`
    is below 1 or makes more than 10**5 chunks.
    """
    return work_shape(sweep, chunk_points)[: len(sweep.shape)]


def work_shape(sweep: Sweep, chunk_points: int | None = None) -> tuple[int, ...]:
    """The shape of the blocks of the sweep's grid that are computed at once.

    They are its chunks. With a reduction, points of a cell are the last dimension; a block is some
    cells with all of their points, or a stretch of the points of one cell.
    """
    block = _work_block(sweep, chunk_points)
    if sweep.reduction is None or block[-1] == sweep.reduction.size:
        return block
    unit = sweep.reduction.unit
    return (*block[:-1], min(-(-block[-1] // unit) * unit, sweep.reduction.size))


def _work_block(sweep: Sweep, chunk_points: int | None) -> tuple[int, ...]:
    if chunk_points is not None:
        return _requested_block(sweep.grid, chunk_points)
    target = 1 << max(0, (sweep.n_points // CHUNKS_OF_A_RUN).bit_length() - 1)  # a power of two
    # A block of at least n points can have up to 2 n, hence half the largest chunk.
    values = max((output.values for output in sweep.of_points.outputs), default=0) or 1
    target = min(max(target, sweep.method.least_chunk), MAX_CHUNK_POINTS // 2 // values)
    while math.prod(chunk_counts(sweep.grid, _block(sweep.grid, target))) > MAX_CHUNKS:
        target *= 2
    return _block(sweep.grid, target)


def chunk_counts(shape: Sequence[int], chunk_shape: Sequence[int]) -> tuple[int, ...]:
    """The number of chunks along each dimension."""
    return tuple(-(-size // step) for size, step in zip(shape, chunk_shape, strict=True))


def chunks(shape: Sequence[int], chunk_shape: Sequence[int]) -> Iterator[Chunk]:
    """All chunks of a grid, in C order of their index; together they hold every point once."""
    for index in itertools.product(*map(range, chunk_counts(shape, chunk_shape))):
        yield chunk_at(index, shape, chunk_shape)


def chunk_at(index: tuple[int, ...], shape: Sequence[int], chunk_shape: Sequence[int]) -> Chunk:
    """The chunk at an index of the grid of chunks; the last along a dimension can be smaller."""
    start = tuple([i * step for i, step in zip(index, chunk_shape, strict=True)])
    ends = zip(start, chunk_shape, shape, strict=True)
    return Chunk(index, start, tuple([min(step, size - a) for a, step, size in ends]))


def chunks_at(
    indices: NDArray[np.intp], shape: Sequence[int], chunk_shape: Sequence[int]
) -> list[Chunk]:
    """The chunks at many indices, one per row, like `chunk_at` but faster: 0.1 s for 10**5."""
    if not chunk_shape:
        return [chunk_at((), shape, chunk_shape)] * len(indices)
    step = np.array(chunk_shape, np.intp)
    starts = indices * step
    shapes = np.minimum(step, np.array(shape, np.intp) - starts)
    rows = (zip(*each.T.tolist(), strict=True) for each in (indices, starts, shapes))
    return list(map(Chunk, *rows))


def refuse_many_chunks(shape: Sequence[int], chunk_shape: Sequence[int]) -> None:
    """Raise SweepError if a grid has more chunks than file systems list quickly."""
    count = math.prod(chunk_counts(shape, chunk_shape))
    if count > MAX_CHUNKS:
        raise SweepError(
            f"chunks of {math.prod(chunk_shape):,} points cut {math.prod(shape):,} points into "
            f"{count:,} chunks, at most {MAX_CHUNKS:,} are allowed; use a separate store"
        )


def points(sweep: Sweep, chunk: Chunk) -> Points:
    """All parameters of the sweep at the points of a chunk of its grid, in C order."""
    if (reduction := sweep.reduction) is not None:  # the same for the points of a cell as one axis
        first, count = chunk.start[-1], chunk.shape[-1]
        cell = Axis("points", _columns_of_cell(reduction.axes, first, count), {})
        flat = replace(sweep.of_points, axes=(*sweep.axes, cell))
        found = points(flat, replace(chunk, start=(*chunk.start[:-1], 0)))
        return replace(found, cells=math.prod(chunk.shape[:-1]), first=first)
    columns = _constant_columns(sweep)
    for dimension, axis in enumerate(sweep.axes):
        repeat = math.prod(chunk.shape[dimension + 1 :])
        for name, values in axis.columns.items():
            part = np.ascontiguousarray(values[chunk.slices[dimension]], dtype=np.float64)
            columns[name] = Column(part, repeat)
    derived = derived_values(sweep, chunk.slices)
    if faults := derived_faults(sweep, derived):
        raise SweepError("; ".join(f"[derived] {name}: {why}" for name, why in faults.items()))
    columns |= {name: _column(values, chunk.shape) for name, values in derived.items()}
    columns |= {n: Column(np.array([value])) for n, value in sweep.replaced_by_table.items()}
    return Points(
        n_points=chunk.n_points,
        columns={parameter.name: columns[parameter.name] for parameter in sweep.parameters},
        variants=tuple(v.name for v in _variants(sweep) if _holds(v, columns)),
    )


def derived_values(
    sweep: Sweep, slices: Sequence[slice] | None = None
) -> dict[str, NDArray[np.float64]]:
    """The derived parameters in a block of the grid, by default all of it.

    Each array has all dimensions of the sweep, with size 1 where its values do not vary. Parameters
    are left out if they depend on others that this sweep has not.
    """
    values: dict[str, NDArray[np.float64]] = {
        name: np.full((1,) * len(sweep.axes), value) for name, value in sweep.constants.items()
    }
    needed = {name for text in sweep.derived.values() for name in inputs(text)}
    for dimension, axis in enumerate(sweep.axes):
        part = slices[dimension] if slices else slice(None)
        shape = [-1 if d == dimension else 1 for d in range(len(sweep.axes))]
        for name in needed & axis.columns.keys():
            values[name] = np.asarray(axis.columns[name][part], np.float64).reshape(shape)
    derived: dict[str, NDArray[np.float64]] = {}
    for name in in_order(sweep.derived):
        text = sweep.derived[name]
        if values.keys() >= set(inputs(text)):
            found = np.asarray(value_of(text, values) + 0.0)
            shape = found.shape if found.ndim == len(sweep.axes) else (1,) * len(sweep.axes)
            values[name] = derived[name] = found.reshape(shape)
    return derived


def derived_dimensions(sweep: Sweep) -> dict[str, tuple[str, ...]]:
    """The dimensions along which each derived parameter varies.

    Parameters are left out if they depend on others that this sweep has not.
    """
    dimensions: dict[str, tuple[str, ...]] = dict.fromkeys(sweep.constants, ())
    dimensions |= {name: (axis.name,) for axis in sweep.axes for name in axis.columns}
    derived: dict[str, tuple[str, ...]] = {}
    for name in in_order(sweep.derived):
        needed = inputs(sweep.derived[name])
        if dimensions.keys() >= set(needed):
            along = {dimension for each in needed for dimension in dimensions[each]}
            dimensions[name] = derived[name] = tuple(d for d in sweep.dimensions if d in along)
    return derived


def derived_faults(sweep: Sweep, derived: Mapping[str, NDArray[np.float64]]) -> dict[str, str]:
    """What is wrong with the values of derived parameters, by parameter."""
    faults: dict[str, str] = {}
    for parameter in sweep.inputs:
        values = derived.get(parameter.name, np.empty(0)).ravel()
        if (index := first_outside(values, parameter)) is not None:
            faults[parameter.name] = (
                f"{sweep.derived[parameter.name]} is {float(values[index])!r}; it has to be "
                f"{requirement(parameter)}"
            )
    return faults


def _columns_of_cell(axes: Sequence[Axis], first: int, count: int) -> dict[str, Values]:
    """The parameters along axes at `count` points of their grid, in C order."""
    columns: dict[str, Values] = {}
    for dimension, axis in enumerate(axes):
        repeat = math.prod(other.size for other in axes[dimension + 1 :])
        low, high = first // repeat, -(-(first + count) // repeat)
        for name, values in axis.columns.items():
            if high - low <= axis.size and high <= axis.size:  # a stretch of the axis
                part = np.asarray(values[low:high], np.float64)
            else:
                part = np.asarray(values[:], np.float64)[np.arange(low, high) % axis.size]
            if repeat > 1:
                part = np.repeat(part, repeat)[first - low * repeat :][:count]
            columns[name] = part
    return columns


def variant_sets(sweep: Sweep, chunk_shape: Sequence[int]) -> list[tuple[str, ...]]:
    """The distinct sets of variants that hold in the chunks of a sweep."""
    if sweep.reduction is not None:
        steps = [axis.size for axis in sweep.reduction.axes]
        if len(steps) == 1:
            steps = [work_shape(sweep)[-1]]
        return variant_sets(sweep.of_points, (*chunk_shape, *steps))
    variants = _variants(sweep)
    constants = _constant_columns(sweep)
    relevant = {name for variant in variants for name in variant.parameters}
    held = [{tuple(_holds(variant, constants) for variant in variants)}]
    for axis, step in zip(sweep.axes, chunk_shape, strict=True):
        parts = (
            {
                name: Column(values[start : start + step])
                for name, values in axis.columns.items()
                if name in relevant
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
    """A canonical description of what a sweep computes, JSON-able; equal for equivalent sweeps.

    Numbers are float.hex(). Neutral defaults are omitted, so that a parameter added by a later
    version changes no fingerprint. The revision of the method is omitted too; it is compared
    separately.
    """
    neutral = {p.name: p.default for p in sweep.parameters if p.neutral}
    constants = {n: v for n, v in sorted(sweep.constants.items()) if neutral.get(n) != v}
    requested = {output.name for output in sweep.of_points.outputs}
    axes = _axis_recipes(sweep.axes)
    return {
        "format": RECIPE_FORMAT,
        "model": sweep.model.name,
        "method": sweep.method.name,
        "parameter_set": sweep.parameter_set.name,
        "constants": canonical(constants),
        "axes": axes,
        "outputs": [output.name for output in sweep.model.outputs if output.name in requested],
        "dtype": sweep.dtype,
        **({"equations": sweep.model.text} if sweep.model.text else {}),
        **({"derived": dict(sweep.derived)} if sweep.derived else {}),
        **({"table": _table_recipe(sweep.table)} if sweep.table else {}),
        **({"reduce": _reduction_recipe(sweep.reduction)} if sweep.reduction else {}),
    }


def _axis_recipes(axes: Iterable[Axis]) -> list[Recipe]:
    return [
        {"name": axis.name, "parameters": sorted(axis.columns), "recipe": canonical(axis.recipe)}
        for axis in axes
    ]


def _table_recipe(table: Table) -> Recipe:
    return {
        "interpolation": table.interpolation,
        "times": _packed(table.times),
        "values": _packed(table.values),
    }


def table_of(recipe: Mapping[str, Any]) -> Table | None:
    """The table of the excitation of a recipe's sweep, if it has one."""
    if "table" not in recipe:
        return None
    stored = recipe["table"]
    return Table(_unpacked(stored["times"]), _unpacked(stored["values"]), stored["interpolation"])


def _packed(numbers: Sequence[float]) -> str:
    return base64.b64encode(np.array(numbers, "<f8").tobytes()).decode("ascii")


def _unpacked(text: str) -> tuple[float, ...]:
    return tuple(np.frombuffer(base64.b64decode(text), "<f8").tolist())


def _reduction_recipe(reduction: Reduction) -> Recipe:
    return {
        "axes": _axis_recipes(reduction.axes),
        "statistics": canonical(reduction.statistics),
        "exact_quantiles": reduction.exact_quantiles,
    }


def fingerprint(recipe: Mapping[str, Any]) -> str:
    """The SHA-256 of a recipe, in hexadecimal."""
    text = json.dumps(recipe, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def from_recipe(recipe: Mapping[str, Any], axis_columns: Mapping[str, LongValues]) -> Sweep:
    """The sweep of a recipe, from the values of the parameters that `along_axes` names.

    The method is that of the current table, whatever its revision. Raises SweepError if this
    version cannot compute the recipe.
    """
    if recipe.get("format") != RECIPE_FORMAT:
        raise SweepError(
            f"the recipe has format {recipe.get('format')!r}, this version reads format "
            f"{RECIPE_FORMAT}; use the version that wrote it"
        )
    model = model_of(recipe)
    method = _called("method", recipe["method"], {m.name: m for m in model.methods})
    sets = {s.name: s for s in model.parameter_sets}
    parameter_set = _called("parameter set", recipe["parameter_set"], sets)
    axes = tuple(_axis(axis, axis_columns) for axis in recipe["axes"])
    reduction = reduction_of(recipe, model, axis_columns)
    parameters = parameters_of(model, parameter_set, method)
    known = inputs_of(model, parameter_set, method)
    derived: dict[str, str] = recipe.get("derived", {})
    on_axes = (*axes, *(reduction.axes if reduction else ()))
    return Sweep(
        model=model,
        method=method,
        parameter_set=parameter_set,
        constants=_constants(parameters, known, plain(recipe["constants"]), on_axes, derived),
        axes=axes,
        outputs=outputs_of(recipe, model),
        dtype=recipe["dtype"],
        derived=derived,
        table=table_of(recipe),
        reduction=reduction,
    )


def reduction_of(
    recipe: Mapping[str, Any], model: Model, axis_columns: Mapping[str, LongValues]
) -> Reduction | None:
    """The reduction of a recipe, with the columns of its axes."""
    if "reduce" not in recipe:
        return None
    reduce = recipe["reduce"]
    return Reduction(
        axes=tuple(_axis(axis, axis_columns) for axis in reduce["axes"]),
        outputs=_outputs(recipe, model),
        statistics={name: tuple(texts) for name, texts in reduce["statistics"].items()},
        exact_quantiles=reduce["exact_quantiles"],
    )


def outputs_of(recipe: Mapping[str, Any], model: Model) -> tuple[Output, ...]:
    """The outputs of a recipe's sweep: those of the model, or statistics of them."""
    if "reduce" not in recipe:
        return _outputs(recipe, model)
    names = [name for axis in recipe["reduce"]["axes"] for name in axis["parameters"]]
    reduction = reduction_of(recipe, model, dict.fromkeys(names, np.empty(0)))
    return statistic_outputs(reduction) if reduction else ()


def _outputs(recipe: Mapping[str, Any], model: Model) -> tuple[Output, ...]:
    outputs = {output.name: output for output in model.outputs}
    return tuple(_called("output", name, outputs) for name in recipe["outputs"])


def model_of(recipe: Mapping[str, Any]) -> Model:
    """The model of a recipe: shipped, installed, or of its equations. SweepError if unknown."""
    if text := recipe.get("equations"):
        from sweep.equations.model import model_of_text

        return model_of_text(text)
    name = recipe["model"]
    if name not in models() and (model := installed_model(name)):
        return model
    return _called("model", name, models(), "; if it is that of a package, install the package")


def model_in(attributes: Mapping[str, Any]) -> Model | None:
    """The model that a Dataset's attributes name; None if this version does not have it."""
    recipe = json.loads(str(attributes.get("recipe", "{}")))
    equations = {"equations": attributes["equations"]} if "equations" in attributes else {}
    try:
        return model_of({"model": str(attributes.get("model")), **recipe, **equations})
    except SweepError:
        return None


def outputs_in(attributes: Mapping[str, Any]) -> tuple[Output, ...]:
    """The outputs of a Dataset with these attributes; none if this version has not the model."""
    model = model_in(attributes)
    return outputs_of(json.loads(attributes["recipe"]), model) if model else ()


def along_axes(recipe: Mapping[str, Any]) -> list[str]:
    """The parameters along the axes of a recipe, and the levels of refined points."""
    names = [name for axis in recipe["axes"] for name in axis["parameters"]]
    return [*names, *(LEVEL for axis in recipe["axes"] if _is_refined(axis))]


def canonical(value: object) -> Any:
    """A value that JSON holds without loss: numbers as float.hex(), mappings sorted by key."""
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
    """The inverse of `canonical`; every number becomes a float."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {key: plain(entry) for key, entry in entries.items()}
    if isinstance(value, list):
        return [plain(item) for item in cast("list[object]", value)]
    if isinstance(value, str):
        return _number(value)
    return value


def _requested_block(shape: tuple[int, ...], chunk_points: int) -> tuple[int, ...]:
    if chunk_points < 1:
        raise SweepError(f"chunk_points={chunk_points!r}: give at least 1")
    block = _block(shape, chunk_points)
    count = math.prod(chunk_counts(shape, block))
    if count > MAX_CHUNKS:
        raise SweepError(
            f"chunk_points={chunk_points!r} cuts {math.prod(shape):,} points into {count:,} "
            f"chunks, at most {MAX_CHUNKS:,} are allowed; omit it, or give a larger number"
        )
    return block


def _block(shape: tuple[int, ...], target: int) -> tuple[int, ...]:
    """The smallest block of at least `target` points that is contiguous in C order."""
    block: list[int] = []
    for size in reversed(shape):
        block.append(min(size, max(1, -(-target // math.prod(block)))))
    return tuple(reversed(block))


def _constant_columns(sweep: Sweep) -> dict[str, Column]:
    """The constants as doubles, which defaults of whole numbers need not be."""
    return {n: Column(np.array([value], np.float64)) for n, value in sweep.constants.items()}


def _column(values: NDArray[np.float64], shape: Sequence[int]) -> Column:
    """A parameter in a chunk of this shape; the array has size 1 where its values do not vary."""
    varied = [d for d, size in enumerate(values.shape) if size > 1]
    if not varied:
        return Column(values.reshape(1))
    first, last = varied[0], varied[-1] + 1
    block = np.broadcast_to(
        values, (*values.shape[:first], *shape[first:last], *values.shape[last:])
    )
    return Column(np.ascontiguousarray(block).ravel(), math.prod(shape[last:]))


def _variants(sweep: Sweep) -> list[Variant]:
    """The method's variants, without those that depend on derived parameters."""
    return [v for v in sweep.method.variants if sweep.derived.keys().isdisjoint(v.parameters)]


def _holds(variant: Variant, columns: Mapping[str, Column]) -> bool:
    held = (columns[name].values for name in variant.parameters if name in columns)
    return all(
        bool(np.all(values == (values[0] if variant.value is None else variant.value)))
        for values in held
    )


def _axis(recipe: Mapping[str, Any], axis_columns: Mapping[str, LongValues]) -> Axis:
    columns = {name: axis_columns[name] for name in recipe["parameters"]}
    levels = axis_columns[LEVEL][:].astype(np.uint8) if _is_refined(recipe) else None
    return Axis(recipe["name"], columns, plain(recipe["recipe"]), levels)


def _is_refined(axis_recipe: Mapping[str, Any]) -> bool:
    """Like `Axis.is_refined`."""
    return "refine" in axis_recipe["recipe"]


def _constants(
    parameters: Iterable[Parameter],
    known: Iterable[Parameter],
    values: Mapping[str, float],
    axes: Iterable[Axis],
    derived: Iterable[str],
) -> dict[str, float]:
    """The values with neutral defaults filled in, in the order of those known."""
    on_axes = {*derived, *(name for axis in axes for name in axis.columns)}
    neutral = {p.name: p.default for p in parameters if p.neutral and p.default is not None}
    constants = neutral | dict(values)
    names = {parameter.name: parameter.name for parameter in known}
    for name in (*values, *on_axes):
        _called("parameter", name, names)
    given = {*constants, *on_axes}
    missing = [parameter.name for parameter in parameters if parameter.name not in given]
    if missing:
        raise SweepError(
            f"the recipe lacks {', '.join(missing)}, which this version needs; use the version "
            "that wrote it"
        )
    return {name: constants[name] for name in names if name in given - on_axes}


def _called(kind: str, name: str, choices: Mapping[str, Named], cure: str = "") -> Named:
    if name in choices:
        return choices[name]
    near = get_close_matches(name, choices, n=1)
    hint = f"; the nearest is {near[0]!r}" if near else ""
    raise SweepError(
        f"this version has no {kind} {name!r}{hint} (it has {', '.join(choices)}){cure}"
    )


def _number(text: str) -> float | str:
    """The float that `canonical` wrote as this text, or the text itself."""
    try:
        value = float.fromhex(text)
    except ValueError:
        return text
    return value if value.hex() == text else text
