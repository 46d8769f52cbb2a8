"""The differences between two sweeps, as sentences."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sweep.plan.recipes import canonical
from sweep.request import STRETCH, Axis, LongValues, Sweep, Table, is_array
from sweep.wording import listed
from sweep.work import Values

# NumPy's geomspace and exp differ in the last bits between processors; other values differ by more.
RELATIVE_TOLERANCE = 1e-12
MAX_LINES = 20  # of differing equations that a message shows


def differences(stored: Sweep, requested: Sweep) -> list[str]:
    """One sentence for each difference between a store's sweep and the requested one."""
    if stored.model.name != requested.model.name:
        return [_sentence("model", stored.model.name, requested.model.name)]
    if stored.model.text != requested.model.text:
        return [*_equations(stored.model.text, requested.model.text)]
    return [*_heads(stored, requested), *_parameters(stored, requested), *_axes(stored, requested)]


def reduced_axes(sweep: Sweep) -> tuple[Axis, ...]:
    """The axes along which points are reduced; those of the cells may have the same names."""
    return sweep.reduction.axes if sweep.reduction else ()


def first_unlike(there: LongValues, here: LongValues) -> int | None:
    """The index of the first value that differs from the stored one, if there is one.

    Differences in the last bits are ignored. Of values that are drawn on demand only the first
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


def _alike(there: Values, here: Values) -> NDArray[np.bool_]:
    """Whether each value is the same, with a tolerance relative to the largest stored value."""
    greatest = np.max(np.abs(there), where=np.isfinite(there), initial=0.0)
    return np.isclose(here, there, rtol=0, atol=RELATIVE_TOLERANCE * greatest)


def _heads(stored: Sweep, requested: Sweep) -> Iterator[str]:
    if stored.table != requested.table:
        name = f"table of {stored.model.excitation.parameter if stored.model.excitation else ''}"
        yield _sentence(name, _samples(stored.table), _samples(requested.table))
    there, here = _head(stored), _head(requested)
    for name in {**there, **here}:
        texts = [head.get(name, "not derived") for head in (there, here)]
        if texts[0] != texts[1]:
            yield _sentence(name, *texts)


def _head(sweep: Sweep) -> dict[str, str]:
    """All of a sweep but its parameters, axes and table, by name."""
    return {
        "method": sweep.method.name,
        "parameter set": sweep.parameter_set.name,
        "outputs": ", ".join(sorted(output.name for output in sweep.of_points.outputs)),
        "statistics": _statistics(sweep),
        "dtype": sweep.dtype,
        "dimensions": listed(sweep.dimensions),
        **{f"[derived] {name}": text for name, text in sorted(sweep.derived.items())},
    }


def _samples(table: Table | None) -> str:
    """A table over time in words; two with one name differ in a sample."""
    if table is None:
        return "none"
    digest = hashlib.sha256(repr(table).encode()).hexdigest()[:8]
    return f"{len(table.times):,} samples, {table.interpolation} ({digest})"


def _statistics(sweep: Sweep) -> str:
    """The statistics of a sweep in words."""
    if sweep.reduction is None:
        return "none"
    texts = [f"over {', '.join(axis.name for axis in sweep.reduction.axes)}"]
    texts += [f"{name}: {', '.join(t)}" for name, t in sorted(sweep.reduction.statistics.items())]
    return "; ".join(texts + ["exact quantiles"] * sweep.reduction.exact_quantiles)


def _parameters(stored: Sweep, requested: Sweep) -> Iterator[str]:
    units = {p.name: p.unit for s in (stored, requested) for p in s.inputs}
    for name, unit in units.items():
        there, here = _value(stored, name), _value(requested, name)
        if canonical(there) != canonical(here):  # a derived value is NaN in both
            yield _sentence(name, _with_unit(there, unit), _with_unit(here, unit))


def _axes(stored: Sweep, requested: Sweep) -> Iterator[str]:
    pairs = ((stored.axes, requested.axes), (reduced_axes(stored), reduced_axes(requested)))
    for there, here in pairs:
        others = {axis.name: axis for axis in here}
        for axis in there:
            if axis.name in others:
                yield from _axis(axis, others[axis.name])


def _axis(there: Axis, here: Axis) -> Iterator[str]:
    place = f"axis {there.name}"
    if set(there.columns) != set(here.columns):
        yield _sentence(place, ", ".join(there.columns), ", ".join(here.columns))
    elif canonical(there.recipe) != canonical(here.recipe):
        sentences: list[str] = []
        if all({"values", "file"} & set(axis.recipe) for axis in (there, here)):  # listed values
            sentences = [*_listed(there, here)]
        yield from sentences or [_sentence(place, *_unlike(there.recipe, here.recipe))]
    else:
        for name, values in there.columns.items():
            other = here.columns[name]
            if len(values) != len(other) or first_unlike(values, other) is not None:
                yield f"{place}: {_text(here.recipe)} now gives other values of {name}"


def _listed(there: Axis, here: Axis) -> Iterator[str]:
    """The differences between two axes whose values are listed."""
    if there.size == here.size:
        yield from unlike_values(there, here)
    else:
        yield _sentence(f"axis {there.name}", f"{there.size:,} values", f"{here.size:,}")


def unlike_values(there: Axis, here: Axis) -> Iterator[str]:
    """A sentence on the first different value of each column whose stored values differ."""
    for name, values in there.columns.items():
        place = first_unlike(values, here.columns[name])
        if place is not None:
            own, other = (float(v[place : place + 1][0]) for v in (values, here.columns[name]))
            yield (
                f"axis {there.name}: value {place + 1} of {name} is {own!r} in the store, "
                f"{other!r} in this sweep"
            )


def _value(sweep: Sweep, name: str) -> float | str:
    """The value of a constant parameter, or a phrase for another one."""
    if name in sweep.constants:
        return sweep.constants[name]
    if name in sweep.derived:
        return "derived"
    axis = next((axis.name for axis in sweep.of_points.axes if name in axis.columns), None)
    return "no parameter" if axis is None else f"along {axis}"


def _with_unit(value: float | str, unit: str) -> str:
    return f"{value!r} {unit}" if isinstance(value, float) and unit != "1" else str(value)


def _unlike(there: Mapping[str, Any], here: Mapping[str, Any]) -> tuple[str, str]:
    """The differing parts of two axis recipes as texts, for example the seeds of two samples."""
    own, other = canonical(there), canonical(here)
    unlike = [name for name in {**there, **here} if own.get(name) != other.get(name)]
    none = f"no {', '.join(unlike)}"
    there, here = ({name: r[name] for name in unlike if name in r} for r in (there, here))
    return _text(there) or none, _text(here) or none


def _text(recipe: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_plain(value)}" for name, value in recipe.items())


def _plain(value: Any) -> Any:
    """A value as a sweep file has it: 12 rather than 12.0."""
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


def _sentence(name: str, there: str, here: str) -> str:
    return f"{name}: {there} in the store, {here} in this sweep"
