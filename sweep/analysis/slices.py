"""The part of a sweep that fits on paper: one output over one or two axes, the others cut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.spec import Status

if TYPE_CHECKING:
    import xarray as xr

Values = NDArray[np.float64]

MOST_VALUES = {0: 1, 1: 65_536, 2: 2_048}  # an axis is thinned to, by how many axes are shown


@dataclass(frozen=True, eq=False)
class Slice:
    """One output over the axes shown, in memory, axes ascending."""

    dataset: xr.Dataset  # of the axes shown alone; the axes cut are coordinates without dimension
    name: str  # of the output
    cuts: Mapping[str, str]  # axis cut -> "0.1 kg"
    numbered: frozenset[str]  # axes without values of their own (samples), which are just counted

    @property
    def output(self) -> xr.DataArray:
        return self.dataset[self.name]

    @property
    def axes(self) -> tuple[xr.DataArray, ...]:
        return tuple(self.dataset[str(name)] for name in self.output.dims)

    @property
    def values(self) -> Values:
        """The output, NaN where a point has no value."""
        return self._where_ok(self.name)

    @property
    def flag(self) -> xr.DataArray | None:
        """The output itself if it is a flag, else the first flag beside it, else None."""
        names = [self.name, *map(str, self.dataset.data_vars)]
        return next((self.dataset[name] for name in names if is_flag(self.dataset[name])), None)

    @property
    def classes(self) -> Values:
        """The codes of `flag`, NaN where a point has no value; all NaN without a flag."""
        flag = self.flag
        return (
            np.full(self.output.shape, np.nan) if flag is None else self._where_ok(str(flag.name))
        )

    @property
    def missing(self) -> dict[Status, int]:
        """How many of the points shown have no value, by status."""
        if "status" not in self.dataset:
            return {}
        codes, counts = np.unique(self.dataset["status"].values, return_counts=True)
        found = {Status(int(code)): int(n) for code, n in zip(codes, counts, strict=True)}
        return {status: n for status, n in found.items() if status is not Status.ok}

    @property
    def parameters(self) -> dict[str, Values]:
        """Every parameter of the sweep at every point shown, by name."""
        coordinates = (self.dataset[str(name)] for name in self.dataset.coords)
        like = self.output
        return {
            str(values.name): values.broadcast_like(like).transpose(*like.dims).values.astype(float)
            for values in coordinates
            if values.dtype.kind in "iuf"
        }

    def _where_ok(self, name: str) -> Values:
        values = self.dataset[name].values.astype(np.float64)
        if "status" in self.dataset:
            values[self.dataset["status"].values != Status.ok] = np.nan
        return values


def cut(dataset: xr.Dataset, output: str | None, at: Mapping[str, float]) -> Slice:
    """The slice of `dataset` that is shown of `output` (the first real one if None).

    The two longest axes are kept; each other, and each that `at` names, is cut at the value nearest
    to that of `at`, or at its middle. Long axes are thinned evenly (MOST_VALUES).
    """
    name = _output_name(dataset, output)
    _check_names("axis", at, dataset.sizes)
    kept = _kept_axes(dataset[name], at)
    numbered = frozenset(map(str, dataset[name].dims)) - set(map(str, dataset.coords))
    dataset = dataset.assign_coords({axis: np.arange(dataset.sizes[axis]) for axis in numbered})
    places = {
        str(axis): _nearest(dataset[str(axis)], at.get(str(axis)))
        for axis in dataset[name].dims
        if axis not in kept
    }
    most = MOST_VALUES[len(kept)]
    steps = {axis: slice(None, None, -(-dataset.sizes[axis] // most)) for axis in kept}
    shown = dataset.isel({**places, **steps}).load()
    return Slice(
        dataset=shown.sortby(kept) if kept else shown,
        name=name,
        cuts={axis: quantity(shown[axis]) for axis in places},
        numbered=numbered,
    )


def is_flag(variable: xr.DataArray) -> bool:
    """Whether a variable holds classes with names; the status, which all sweeps have, is none."""
    return "flag_meanings" in variable.attrs and variable.name != "status"


def flag_names(flag: xr.DataArray) -> dict[int, str]:
    """The name of each class by its code (CF attributes flag_values and flag_meanings)."""
    codes: Iterable[int] = np.atleast_1d(flag.attrs["flag_values"]).tolist()
    return dict(zip(codes, str(flag.attrs["flag_meanings"]).split(), strict=True))


def unit(variable: xr.DataArray) -> str:
    """The unit as it is written in print, empty if there is none: "m/s^2" as "m/s²"."""
    text = str(variable.attrs.get("units", "1"))
    return "" if text == "1" else text.replace("^2", "²").replace("^3", "³")


def quantity(variable: xr.DataArray) -> str:
    """A single value with its unit."""
    return f"{float(variable):.6g} {unit(variable)}".rstrip()


def _output_name(dataset: xr.Dataset, output: str | None) -> str:
    names = [str(name) for name in dataset.data_vars if name != "status"]
    if output is not None:
        _check_names("output", [output], [*names, "status"])
        return output
    real = [name for name in names if dataset[name].dtype.kind == "f"]
    if not names:
        raise SweepError("there is nothing to draw: the sweep has no output but its status")
    return (real or names)[0]


def _check_names(kind: str, given: Iterable[str], known: Iterable[object]) -> None:
    choices = [str(name) for name in known]
    for name in given:
        if name not in choices:
            near = get_close_matches(name, choices, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(choices)}"
            raise SweepError(f"this sweep has no {kind} {name!r}: {hint}")


def _kept_axes(output: xr.DataArray, at: Mapping[str, float]) -> list[str]:
    """The names of the one or two longest axes that `at` does not cut, in the sweep's order."""
    free = [str(axis) for axis in output.dims if axis not in at]
    longest = sorted(free, key=lambda axis: output.sizes[axis], reverse=True)[:2]
    return [axis for axis in free if axis in longest and output.sizes[axis] > 1]


def _nearest(axis: xr.DataArray, value: float | None) -> int:
    if value is None:
        return axis.size // 2
    if not math.isfinite(value):
        raise SweepError(f"{axis.name} cannot be cut at {value!r}; give a number")
    return int(np.argmin(np.abs(axis.values - value)))
