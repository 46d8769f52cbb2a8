"""What differs between two sweeps, or between what made a store and this program, in sentences."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sweep.errors import StoreError
from sweep.kernel.source import is_token_digest, kernel_digest
from sweep.request.sweeps import (
    VALUES_IN_MEMORY,
    AnySweep,
    Axis,
    Reduced,
    is_array,
)
from sweep.text.wording import listed

# NumPy's geomspace and exp differ in the last bits between processors; other values differ by more.
RELATIVE_TOLERANCE = 1e-12
MAX_LINES = 20  # of differing equations that a message shows


def differences(stored: AnySweep, requested: AnySweep) -> list[str]:
    """One sentence for each difference between a store's sweep and the requested one."""
    there, here = stored.points.model, requested.points.model
    if there.name != here.name:
        return [_sentence("model", there.name, here.name)]
    if there.text != here.text:
        return [*_equations(there.text, here.text)]
    return [*_unlike(_described(stored), _described(requested)), *_axes(stored, requested)]


def unlike_values(stored: Axis, requested: Axis) -> Iterator[str]:
    """A sentence on the first different value of each column whose stored values differ.

    Differences in the last bits are ignored. Where values are drawn on demand, only the first
    VALUES_IN_MEMORY are compared: the others follow from their recipe.
    """
    for name, values in stored.columns.items():
        other = requested.columns[name]
        end = len(values) if is_array(other) else min(VALUES_IN_MEMORY, len(values))
        for start in range(0, end, VALUES_IN_MEMORY):
            there, here = (v[start : min(start + VALUES_IN_MEMORY, end)] for v in (values, other))
            greatest = np.max(np.abs(there), where=np.isfinite(there), initial=0.0)
            alike = np.isclose(here, there, rtol=0, atol=RELATIVE_TOLERANCE * greatest)
            if not alike.all():
                at = int(np.argmin(alike))
                place = f"axis {stored.name}: value {start + at + 1} of {name}"
                value_there, value_here = float(there[at]), float(here[at])
                yield f"{place} is {value_there!r} in the store, {value_here!r} in this sweep"
                break


def _equations(there: str, here: str) -> Iterator[str]:
    """The lines in which two models from files differ."""
    lines = difflib.unified_diff(there.splitlines(), here.splitlines(), "store", "file", "", "", 0)
    changed = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    for line in changed[:MAX_LINES]:
        place = "store" if line[0] == "-" else "file"
        yield f"equations: only in the {place}: {line[1:]}"
    if len(changed) > MAX_LINES:
        yield f"equations: {len(changed) - MAX_LINES:,} more lines"


def _described(sweep: AnySweep) -> dict[str, str]:
    """All of a sweep but the recipes and values of its axes, by name."""
    points, statistics = sweep.points, "none"
    if isinstance(sweep, Reduced):
        texts = [f"over {', '.join(axis.name for axis in sweep.over)}"]
        texts += [f"{name}: {', '.join(each)}" for name, each in sorted(sweep.statistics.items())]
        texts += [f"quantile_bits = {sweep.quantile_bits}"] if sweep.quantile_bits else []
        statistics = "; ".join(texts + ["exact quantiles"] * sweep.exact_quantiles)
    described = {
        "method": points.method.name,
        "parameter set": points.parameter_set.name,
        "outputs": ", ".join(sorted(output.name for output in points.outputs)),
        "statistics": statistics,
        "dtype": points.dtype,
        "dimensions": listed(sweep.grid.dimensions),
        **{f"[derived] {name}": text for name, text in sorted(points.derived.items())},
    }
    if (table := points.table) is not None and points.model.excitation is not None:
        digest = hashlib.sha256(repr(table).encode()).hexdigest()[:8]
        samples = f"{len(table.times):,} samples, {table.interpolation} ({digest})"
        described[f"table of {points.model.excitation.parameter}"] = samples
    along = {name: f"along {axis.name}" for axis in points.axes for name in axis.columns}
    for parameter in points.inputs:
        name, unit = parameter.name, "" if parameter.unit == "1" else f" {parameter.unit}"
        if name in points.constants:
            described[name] = f"{float(points.constants[name])!r}{unit}"
        elif name in points.derived or name in along:
            described[name] = "derived" if name in points.derived else along[name]
    return described


def _axes(stored: AnySweep, requested: AnySweep) -> Iterator[str]:
    """The differences between axes of one name, of the results and of the points of a cell."""
    for of_stored, of_requested in (
        (stored.grid.axes, requested.grid.axes),
        (axes_over(stored), axes_over(requested)),
    ):
        by_name = {axis.name: axis for axis in of_requested}
        for axis in of_stored:
            if axis.name in by_name:
                yield from _axis(axis, by_name[axis.name])


def _axis(stored: Axis, requested: Axis) -> Iterator[str]:
    """The differences between recipes or else values; of listed ones values or else recipes."""
    place = f"axis {stored.name}"
    if set(stored.columns) != set(requested.columns):
        yield _sentence(place, ", ".join(stored.columns), ", ".join(requested.columns))
        return
    recipes = [*_unlike(_entries(stored), _entries(requested))]
    if recipes and not all({"values", "file"} & set(axis.recipe) for axis in (stored, requested)):
        yield from recipes
    elif stored.size != requested.size:
        yield _sentence(place, f"{stored.size:,} values", f"{requested.size:,}")
    else:
        yield from [*unlike_values(stored, requested)] or recipes


def _entries(axis: Axis) -> dict[str, str]:
    """The recipe of an axis, entry by entry."""
    return {f"axis {axis.name}, {name}": str(_plain(e)) for name, e in axis.recipe.items()}


def _plain(value: Any) -> Any:
    """A value as a sweep file has it: 12 rather than 12.0."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        return {name: _plain(entries[name]) for name in sorted(entries)}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast("Sequence[Any]", value)]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if is_whole else value


def _unlike(stored: Mapping[str, str], requested: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each name whose texts differ."""
    for name in {**stored, **requested}:
        texts = [each.get(name, "not given") for each in (stored, requested)]
        if texts[0] != texts[1]:
            yield _sentence(name, *texts)


def _sentence(name: str, stored: str, requested: str) -> str:
    return f"{name}: {stored} in the store, {requested} in this sweep"


def axes_over(sweep: AnySweep) -> tuple[Axis, ...]:
    """The axes along which points are reduced, if they are."""
    return sweep.over if isinstance(sweep, Reduced) else ()


@dataclass(frozen=True)
class MadeBy:
    """What made a store, compared with this program."""

    location: str
    sweep: AnySweep
    revision: int  # of the method
    kernel_digest: object  # None if it is not known

    def differences(self, sweep: AnySweep, *, accept_revision: bool = False) -> list[str]:
        """One sentence for each difference between a sweep and the store's; none if it is that."""
        sentences = differences(self.sweep, sweep)
        if not sentences and not accept_revision and (revised := self.other_revision(sweep)):
            return [f"{revised} (use `accept_revision` to continue anyway)"]
        return sentences

    def other_revision(self, sweep: AnySweep) -> str:
        """A sentence if the sweep's method has another revision than the store's; else ""."""
        if sweep.points.method.revision == self.revision:
            return ""
        method = sweep.points.method
        return (
            f"revision of method {method.name}: {self.revision} in the store, {method.revision} in "
            "this program, whose results may have other last bits"
        )

    def other_code(self, sweep: AnySweep | None = None) -> str:
        """Which other revision or kernel than this program's made the store; "" if none did.

        Stores of earlier versions have a digest of the raw text, or none: of those only the
        revision is compared.
        """
        stored = self.kernel_digest
        if revised := self.other_revision(sweep or self.sweep):
            return revised
        if not is_token_digest(stored) or (digest := kernel_digest(self.sweep.points)) == stored:
            return ""
        return (
            f"kernel of method {self.sweep.points.method.name}: {stored} in the store, "
            f"{digest} in this program, whose results may differ"
        )

    def refuse_other_code(self, sweep: AnySweep | None = None) -> None:
        """Raise StoreError if this program has another revision or kernel of the store's method."""
        if revised := self.other_code(sweep):
            raise StoreError(
                f"{self.location!r} was made by other code: {revised}. Use `accept_revision`, "
                "or accept_revision = true under [run], to continue anyway: the receipts then say "
                "which chunks the new code computed. Or give another store, or continue with the "
                "version that made this one"
            )

    def accepted(self, sweep: AnySweep) -> Mapping[str, object]:
        """What receipts say of the code that continues the store; nothing if it made the store."""
        if not self.other_code(sweep):
            return {}
        return {
            "revision": sweep.points.method.revision,
            "kernel_digest": kernel_digest(self.sweep.points),
        }
