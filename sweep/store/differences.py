"""The differences between two sweeps, as sentences."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sweep.plan.recipes import canonical
from sweep.request import (
    STRETCH,
    AnySweep,
    Axis,
    LongValues,
    Reduced,
    Sweep,
    TimeSeries,
    is_array,
)
from sweep.wording import listed
from sweep.work import Values

# NumPy's geomspace and exp differ in the last bits between processors; other values differ by more.
RELATIVE_TOLERANCE = 1e-12
MAX_LINES = 20  # of differing equations that a message shows


def differences(stored: AnySweep, requested: AnySweep) -> list[str]:
    """One sentence for each difference between a store's sweep and the requested one."""
    there, here = stored.points, requested.points
    if there.model.name != here.model.name:
        return [_sentence("model", there.model.name, here.model.name)]
    if there.model.text != here.model.text:
        return [*_equations(there.model.text, here.model.text)]
    return [*_heads(stored, requested), *_parameters(there, here), *_axes(stored, requested)]


def axes_over(sweep: AnySweep) -> tuple[Axis, ...]:
    """The axes along which points are reduced, if they are."""
    return sweep.over if isinstance(sweep, Reduced) else ()


def first_unlike(there: LongValues, here: LongValues) -> int | None:
    """The index of the first value that differs from the stored one, if there is one.

    Differences in the last bits are ignored. Where values are drawn on demand, only the first
    STRETCH are compared: the others follow from their recipe.
    """
    end = len(there) if is_array(here) else min(STRETCH, len(there))
    for start in range(0, end, STRETCH):
        part = slice(start, min(start + STRETCH, end))
        unlike = ~_alike(there[part], here[part])
        if unlike.any():
            return start + int(np.argmax(unlike))
    return None


def _equations(there: str, here: str) -> Iterator[str]:
    """The lines in which two models from files differ."""
    lines = difflib.unified_diff(there.splitlines(), here.splitlines(), "store", "file", "", "", 0)
    changed = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    for line in changed[:MAX_LINES]:
        place = "store" if line[0] == "-" else "file"
        yield f"equations: only in the {place}: {line[1:]}"
    if len(changed) > MAX_LINES:
        yield f"equations: {len(changed) - MAX_LINES:,} more lines"


def _alike(stored: Values, requested: Values) -> NDArray[np.bool_]:
    """Whether each value is the same, with a tolerance relative to the largest stored value."""
    greatest = np.max(np.abs(stored), where=np.isfinite(stored), initial=0.0)
    return np.isclose(requested, stored, rtol=0, atol=RELATIVE_TOLERANCE * greatest)


def _heads(stored: AnySweep, requested: AnySweep) -> Iterator[str]:
    there, here = stored.points.table, requested.points.table
    if there != here:
        excitation = stored.points.model.excitation
        name = f"table of {excitation.parameter if excitation else ''}"
        yield _sentence(name, _samples(there), _samples(here))
    stored_head, requested_head = _head(stored), _head(requested)
    for name in {**stored_head, **requested_head}:
        texts = [head.get(name, "not derived") for head in (stored_head, requested_head)]
        if texts[0] != texts[1]:
            yield _sentence(name, *texts)


def _head(sweep: AnySweep) -> dict[str, str]:
    """All of a sweep but its parameters, axes and table, by name."""
    points = sweep.points
    return {
        "method": points.method.name,
        "parameter set": points.parameter_set.name,
        "outputs": ", ".join(sorted(output.name for output in points.outputs)),
        "statistics": _statistics(sweep),
        "dtype": points.dtype,
        "dimensions": listed(sweep.grid.dimensions),
        **{f"[derived] {name}": text for name, text in sorted(points.derived.items())},
    }


def _samples(table: TimeSeries | None) -> str:
    """A table over time in words; two with one name differ in a sample."""
    if table is None:
        return "none"
    digest = hashlib.sha256(repr(table).encode()).hexdigest()[:8]
    return f"{len(table.times):,} samples, {table.interpolation} ({digest})"


def _statistics(sweep: AnySweep) -> str:
    """The statistics of a sweep in words."""
    if not isinstance(sweep, Reduced):
        return "none"
    texts = [f"over {', '.join(axis.name for axis in sweep.over)}"]
    texts += [f"{name}: {', '.join(t)}" for name, t in sorted(sweep.statistics.items())]
    texts += [f"quantile_bits = {sweep.quantile_bits}"] if sweep.quantile_bits else []
    return "; ".join(texts + ["exact quantiles"] * sweep.exact_quantiles)


def _parameters(stored: Sweep, requested: Sweep) -> Iterator[str]:
    units = {p.name: p.unit for s in (stored, requested) for p in s.inputs}
    for name, unit in units.items():
        stored_value, requested_value = _value(stored, name), _value(requested, name)
        if canonical(stored_value) != canonical(requested_value):  # a derived value is NaN in both
            yield _sentence(name, _with_unit(stored_value, unit), _with_unit(requested_value, unit))


def _axes(stored: AnySweep, requested: AnySweep) -> Iterator[str]:
    pairs = (
        (stored.grid.axes, requested.grid.axes),
        (axes_over(stored), axes_over(requested)),
    )
    for stored_axes, requested_axes in pairs:
        by_name = {axis.name: axis for axis in requested_axes}
        for axis in stored_axes:
            if axis.name in by_name:
                yield from _axis(axis, by_name[axis.name])


def _axis(stored: Axis, requested: Axis) -> Iterator[str]:
    place = f"axis {stored.name}"
    if set(stored.columns) != set(requested.columns):
        yield _sentence(place, ", ".join(stored.columns), ", ".join(requested.columns))
    elif canonical(stored.recipe) != canonical(requested.recipe):
        sentences = _of_listed(stored, requested)
        yield from sentences or [_sentence(place, *_unlike(stored.recipe, requested.recipe))]
    else:
        for name, values in stored.columns.items():
            other = requested.columns[name]
            if len(values) != len(other) or first_unlike(values, other) is not None:
                yield f"{place}: {_text(requested.recipe)} now gives other values of {name}"


def _of_listed(stored: Axis, requested: Axis) -> list[str]:
    """The differences between two axes whose values are listed; none of other axes."""
    if not all({"values", "file"} & set(axis.recipe) for axis in (stored, requested)):
        return []
    if stored.size == requested.size:
        return [*unlike_values(stored, requested)]
    return [_sentence(f"axis {stored.name}", f"{stored.size:,} values", f"{requested.size:,}")]


def unlike_values(stored: Axis, requested: Axis) -> Iterator[str]:
    """A sentence on the first different value of each column whose stored values differ."""
    for name, values in stored.columns.items():
        place = first_unlike(values, requested.columns[name])
        if place is not None:
            stored_value, requested_value = (
                float(v[place : place + 1][0]) for v in (values, requested.columns[name])
            )
            yield (
                f"axis {stored.name}: value {place + 1} of {name} is {stored_value!r} "
                f"in the store, {requested_value!r} in this sweep"
            )


def _value(sweep: Sweep, name: str) -> float | str:
    """The value of a constant parameter, or a phrase for another one."""
    if name in sweep.constants:
        return sweep.constants[name]
    if name in sweep.derived:
        return "derived"
    axis = next((axis.name for axis in sweep.axes if name in axis.columns), None)
    return "no parameter" if axis is None else f"along {axis}"


def _with_unit(value: float | str, unit: str) -> str:
    return f"{value!r} {unit}" if isinstance(value, float) and unit != "1" else str(value)


def _unlike(stored: Mapping[str, Any], requested: Mapping[str, Any]) -> tuple[str, str]:
    """The differing parts of two axis recipes as texts, for example the seeds of two samples."""
    stored_texts, requested_texts = canonical(stored), canonical(requested)
    unlike = [
        name
        for name in {**stored, **requested}
        if stored_texts.get(name) != requested_texts.get(name)
    ]
    none = f"no {', '.join(unlike)}"
    stored, requested = (
        {name: r[name] for name in unlike if name in r} for r in (stored, requested)
    )
    return _text(stored) or none, _text(requested) or none


def _text(recipe: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_plain(value)}" for name, value in recipe.items())


def _plain(value: Any) -> Any:
    """A value as a sweep file has it: 12 rather than 12.0."""
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if is_whole else value


def _sentence(name: str, stored: str, requested: str) -> str:
    return f"{name}: {stored} in the store, {requested} in this sweep"
