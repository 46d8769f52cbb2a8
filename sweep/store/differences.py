"""Where two sweeps differ, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sweep.plan import canonical
from sweep.spec import STRETCH, Axis, LongValues, Sweep, Values, is_array

# NumPy's geomspace and exp give other last bits on other processors; a changed file gives more.
SAME_VALUE = 1e-12


def differences(stored: Sweep, asked: Sweep) -> list[str]:
    """One sentence for each thing that is not the same in a store's sweep and the one asked for."""
    if stored.model.name != asked.model.name:
        return [_sentence("model", stored.model.name, asked.model.name)]
    return [*_heads(stored, asked), *_parameters(stored, asked), *_axes(stored, asked)]


def same(there: LongValues, here: LongValues) -> bool:
    """Whether two columns of values are the same, as far as first_unlike() tells."""
    return len(there) == len(here) and first_unlike(there, here) is None


def first_unlike(there: LongValues, here: LongValues) -> int | None:
    """The place of the first of these values that others do not begin with, if there is one.

    Another processor's last bits do not count. Of values that are drawn when they are asked for the
    first stretch has to do: their recipe says what the others are.
    """
    end = len(there) if is_array(here) else min(STRETCH, len(there))
    for start in range(0, end, STRETCH):
        part = slice(start, min(start + STRETCH, end))
        unlike = ~_alike(there[part], here[part])
        if unlike.any():
            return start + int(np.argmax(unlike))
    return None


def _alike(there: Values, here: Values) -> NDArray[np.bool_]:
    """For each value, whether it is the same but for last bits, which go by the greatest."""
    greatest = np.max(np.abs(there), where=np.isfinite(there), initial=0.0)
    return np.isclose(here, there, rtol=0, atol=SAME_VALUE * greatest)


def _heads(stored: Sweep, asked: Sweep) -> Iterator[str]:
    heads = {
        "method": (stored.method.name, asked.method.name),
        "parameter set": (stored.parameter_set.name, asked.parameter_set.name),
        "outputs": tuple(", ".join(sorted(o.name for o in s.outputs)) for s in (stored, asked)),
        "dtype": (stored.dtype, asked.dtype),
        "dimensions": tuple(", ".join(s.dimensions) or "none" for s in (stored, asked)),
    }
    for what, (there, here) in heads.items():
        if there != here:
            yield _sentence(what, there, here)


def _parameters(stored: Sweep, asked: Sweep) -> Iterator[str]:
    units = {p.name: p.unit for s in (stored, asked) for p in s.parameters}
    for name, unit in units.items():
        there, here = _value(stored, name), _value(asked, name)
        if canonical(there) != canonical(here):  # a value that is derived is NaN in both
            yield _sentence(name, _with_unit(there, unit), _with_unit(here, unit))


def _axes(stored: Sweep, asked: Sweep) -> Iterator[str]:
    others = {axis.name: axis for axis in asked.axes}
    for axis in stored.axes:
        if (other := others.get(axis.name)) is not None:
            yield from _axis(axis, other)


def _axis(there: Axis, here: Axis) -> Iterator[str]:
    place = f"axis {there.name}"
    if set(there.columns) != set(here.columns):
        yield _sentence(place, ", ".join(there.columns), ", ".join(here.columns))
    elif canonical(there.recipe) != canonical(here.recipe):
        found = _listed(there, here) if _are_listed(there) and _are_listed(here) else []
        yield from found or [_sentence(place, *_unlike(there.recipe, here.recipe))]
    else:
        for name, values in there.columns.items():
            if not same(values, here.columns[name]):
                yield f"{place}: {_text(here.recipe)} now gives other values of {name}"


def _are_listed(axis: Axis) -> bool:
    """Whether its values are told one by one, in the sweep file or in another."""
    return bool({"values", "file"} & set(axis.recipe))


def _listed(there: Axis, here: Axis) -> list[str]:
    """In which values two axes differ, all of whose values are told."""
    if there.size != here.size:
        return [_sentence(f"axis {there.name}", f"{there.size:,} values", f"{here.size:,}")]
    return list(unlike_values(there, here))


def unlike_values(there: Axis, here: Axis) -> Iterator[str]:
    """A sentence for each column of an axis that others do not begin with: the first such value."""
    for name, values in there.columns.items():
        place = first_unlike(values, here.columns[name])
        if place is not None:
            own, other = (float(v[place : place + 1][0]) for v in (values, here.columns[name]))
            yield (
                f"axis {there.name}: value {place + 1} of {name} is {own!r} in the store, "
                f"{other!r} in this sweep"
            )


def _value(sweep: Sweep, name: str) -> float | str:
    """A parameter's one value, or what it is instead."""
    if name in sweep.constants:
        return sweep.constants[name]
    axis = next((axis.name for axis in sweep.axes if name in axis.columns), None)
    return "no parameter" if axis is None else f"along {axis}"


def _with_unit(value: float | str, unit: str) -> str:
    return f"{value!r} {unit}" if isinstance(value, float) and unit != "1" else str(value)


def _unlike(there: Mapping[str, Any], here: Mapping[str, Any]) -> tuple[str, str]:
    """What is not the same in two recipes of an axis, as text: of a sample, a seed perhaps."""
    own, other = canonical(there), canonical(here)
    unlike = [name for name in {**there, **here} if own.get(name) != other.get(name)]
    none = f"no {', '.join(unlike)}"
    there, here = ({name: r[name] for name in unlike if name in r} for r in (there, here))
    return _text(there) or none, _text(here) or none


def _text(recipe: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_plain(value)}" for name, value in recipe.items())


def _plain(value: Any) -> Any:
    """As a sweep file has it: how many values there are is no 12.0."""
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


def _sentence(what: str, there: str, here: str) -> str:
    return f"{what}: {there} in the store, {here} in this sweep"
