"""Energies of rubbing contacts, from stores and CSV files, as columns of dimensionless numbers."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.errors import FaultError, SweepError
from sweep.file.csv_table import csv_table
from sweep.model.table import Status, every_parameter
from sweep.model.tables.mdr_contact import MODEL
from sweep.pictures.scales import ROUNDING, difference, merged
from sweep.pictures.view import in_unit
from sweep.request.chunk import Values
from sweep.results.summary import refuse_no_results
from sweep.store import open_results
from sweep.text.wording import listed, nearest, shown
from sweep.theory.mdr_contact import energy_unit, physical_numbers

SPHERE = 2.0  # exponent of its profile
UNITS = {"delta": "1", "phase": "rad", "profile_exponent": "1", "beta": "1"}  # of what `at` cuts
PERIODS = {"phase": math.pi}  # with which the energies repeat
ABSCISSAE = ("beta", "friction", "mu")
ENERGIES = ("normalized_energy", "energy", "dissipated_energy")
SI_UNITS = {each.name: each.unit for each in (*every_parameter(MODEL), *MODEL.outputs)}
READ = {*ABSCISSAE, *ENERGIES, "status", *(each.name for each in every_parameter(MODEL))}
CONSTANT_LOAD = "beta = 0, without normal oscillation; over xi, it needs 'dissipated_energy'"
KNOWN = ("delta", "phase", "profile_exponent")  # of a contact; NaN where unknown


@dataclass(frozen=True, eq=False)
class ContactEnergies:
    """Contacts and their energies; arrays of shape (n_points,).

    A point can be fitted if W̄ over β, or W̄δ over ξ, or both are positive and finite; under constant
    load (δ = 0) only ξ and W̄δ are. A column of the others is NaN where it is unknown.
    """

    source: str
    beta: Values
    delta: Values
    phase: Values
    profile_exponent: Values
    energy: Values  # W̄
    xi: Values  # β/δ
    xi_energy: Values  # W̄δ
    sigma: Values  # standard error of the energy over the energy
    notes: tuple[str, ...] = ()  # on how the points were chosen

    @cached_property
    def faults(self) -> NDArray[np.str_]:
        """Why each point cannot be fitted; "" if it can."""
        columns = {name: getattr(self, name) for name in (*KNOWN, "sigma")}
        missing = {f"no {name}": np.isnan(each) for name, each in columns.items()}
        missing = {cause: each for cause, each in missing.items() if not each.all()}
        wrong = [*missing.values(), self.delta < 0, self.sigma <= 0]
        fitted = positive(self.beta, self.energy) | positive(self.xi, self.xi_energy)
        causes = {
            "": fitted & ~np.any(wrong, axis=0),
            CONSTANT_LOAD: (self.beta == 0) & (self.delta == 0),
            "beta = 0": self.beta == 0,
            "beta infinite": np.isinf(self.beta),
            "beta not a positive number": ~(self.beta > 0),
            "no energy": np.isnan(self.energy),
            "energy 0 or below": self.energy <= 0,
            "energy infinite": np.isinf(self.energy),
            "delta below 0": self.delta < 0,
            "sigma 0 or below": self.sigma <= 0,
        } | missing
        return np.select([*causes.values()], [*causes], "")

    @property
    def usable(self) -> ContactEnergies:
        """The points that can be fitted; those of an unknown profile are spheres."""
        some = self.where(self.faults == "")
        n = some.profile_exponent
        return replace(some, profile_exponent=np.where(np.isnan(n), SPHERE, n))

    def where(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> ContactEnergies:
        """Some of the points, by a mask or by their indices."""
        columns = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{
            name: column[kept] for name, column in columns.items() if isinstance(column, np.ndarray)
        })  # fmt: skip

    def at(self, cuts: Mapping[str, float | str]) -> ContactEnergies:
        """The points whose `delta`, `phase` ... is nearest to each value of `cuts`, or text of it.

        Phases are compared modulo π. A note says where the nearest is off by more than half the gap
        to its neighbour. A column that is unknown is set to the value.
        """
        if not isinstance(cast(object, cuts), Mapping):
            raise SweepError(f"at={shown(cuts)} is not a mapping. Give values by name, as a dict")
        chosen = self
        for name, given in cuts.items():
            if name not in UNITS:
                raise SweepError(f"`at` does not take {name!r}; {nearest(name, UNITS)}")
            column: Values = getattr(chosen, name)
            value = in_unit(f"at {name}", given, UNITS[name])
            if name == "delta" and not (value > 0 or (value == 0 and np.any(column == 0))):
                raise SweepError(f"at delta has to be above 0, not {value:g}")
            if not np.isnan(column).all():
                chosen = chosen._nearest(name, column, value)
            elif name == "delta":
                xi, xi_energy = chosen.beta / value, chosen.energy * value
                delta = np.full(xi.size, value)
                chosen = replace(chosen, delta=delta, xi=xi, xi_energy=xi_energy)
            else:
                chosen = replace(chosen, **{name: np.full(column.size, value)})
        return chosen

    def _nearest(self, name: str, column: Values, value: float) -> ContactEnergies:
        """The points of the nearest value, with a note if it is not near.

        It is near within half the gap to its neighbour or, in a column of one value, within
        rounding.
        """
        period = PERIODS.get(name)
        known = np.unique(column[~np.isnan(column)])
        distances = np.abs(difference(known, value, period))
        best, distance = float(known[np.argmin(distances)]), float(distances.min())
        gaps = np.abs(difference(known[known != best], best, period))
        chosen = self.where(column == best)
        if distance <= (0.5 * gaps.min() if gaps.size else ROUNDING * abs(value)):
            return chosen
        note = (
            f"{name} = {value:g} is not among the points: using {best:.10g}, the nearest of "
            f"{known.size} values from {known[0]:.4g} to {known[-1]:.4g}"
        )
        return replace(chosen, notes=(*self.notes, note))


def left_out(faults: NDArray[np.str_]) -> str:
    """How many points are left out and why, as ": 3 of 60 left out (...)", or ""."""
    counts: Counter[str] = Counter(faults[faults != ""].tolist())
    causes = ", ".join(f"{n:,} with {cause}" for cause, n in counts.items())
    return f": {counts.total():,} of {faults.size:,} left out ({causes})" if counts else ""


def positive(*columns: Values) -> NDArray[np.bool_]:
    """Where all columns are positive and finite."""
    return np.all([np.isfinite(column) & (column > 0) for column in columns], axis=0)


@dataclass(frozen=True)
class ScalingVariable:
    """One of the paper's two ways to collapse the energies on one curve."""

    name: str  # "beta" or "xi"
    symbol: str
    energy: str  # symbol of the ordinate
    limits: tuple[float, float]  # the paper's; an infinite end is that of the points
    power: int  # W grows as x to this power at the lower end

    def collapse(self, points: ContactEnergies) -> tuple[Values, Values]:
        """x and the energy; SweepError for ξ without δ."""
        if self.name == "beta":
            return points.beta, points.energy
        if np.isnan(points.delta).all():
            raise SweepError(
                f"{points.source!r} has no delta, needed for xi = beta/delta: give it (at)"
            )
        return points.xi, points.xi_energy


VARIABLES = {
    "xi": ScalingVariable("xi", "ξ = β/δ", "W̄δ", (0.0, 4.0), 1),
    "beta": ScalingVariable("beta", "β", "W̄", (0.1, math.inf), -1),
}


@dataclass(frozen=True)
class Reading:
    """How the columns of a file of measured points are read.

    `x` names the column of β or μ (by default beta, friction or mu), `energy` that of the energies,
    `sigma` that of their standard errors. β = x times `scale_beta` (κΔz/Δx where x is μ), and W̄ =
    energy over `scale_energy` (W_ref for energies in J). `decimal` is the decimal mark, "." or ",",
    and `skip` the number of lines before the header.
    """

    x: str | None = None
    energy: str | None = None
    sigma: str | None = None
    scale_beta: float | None = None
    scale_energy: float | None = None
    decimal: str = "."
    skip: int = 0

    def __post_init__(self) -> None:
        for name in ("scale_beta", "scale_energy"):
            scale = getattr(self, name)
            if scale is not None and not (math.isfinite(scale) and scale > 0):
                raise SweepError(f"{name} has to be positive and finite, not {scale!r}")


def load(path: str | Path, reading: Reading | None = None) -> ContactEnergies:
    """Load the points of a store of this model or of a CSV file; SweepError if it is neither."""
    is_file = os.path.isfile(path)  # noqa: PTH113 (False in a folder that may not be entered)
    if str(path).endswith(".csv") or is_file:
        return read_csv(Path(path), reading or Reading())
    if reading is not None and reading != Reading():
        raise SweepError(
            "columns, scales, `decimal` and `skip` are options for CSV files: leave them out, as a "
            "store has its own"
        )
    return from_dataset(open_results(path), str(path))


def from_dataset(dataset: xr.Dataset, source: str = "sweep") -> ContactEnergies:
    """The points of a sweep of this model, of any parameter set; β and δ are derived.

    SweepError for another model, without an energy among the outputs, or if no point is ok.
    """
    model = getattr(dataset, "attrs", {}).get("model", "no model")
    if model != MODEL.name:
        fitted = f"master curves are fitted to {MODEL.name}"
        raise SweepError(f"{source!r} is a sweep of {model}: {fitted}")
    refuse_no_results(dataset)
    status = dataset["status"]
    if not (status.values == Status.ok).any():
        raise SweepError(f"{source!r} has no point that is ok: see why with `sweep status`")
    if not any(name in dataset.data_vars for name in ENERGIES):
        raise SweepError(f"{source!r} has no energy: add 'normalized_energy' to its outputs")
    columns = {
        name: dataset[name].broadcast_like(status).transpose(*status.dims).values.ravel()
        for name in READ & {*map(str, dataset.variables)}
        if dataset[name].dtype.kind in "iuf"
    }
    columns = {name: column.astype(np.float64) for name, column in columns.items()}
    return _Table(source, Reading(), [*columns], columns, SI_UNITS).points()


def read_csv(path: Path, reading: Reading) -> ContactEnergies:
    """Read points from a CSV file, which commas, semicolons or tabs separate.

    It has a line of names, then one row per point. A column with a unit in its header, as in
    "radius [mm]", is converted; of columns with other names than those of the model, x is a plain
    number and the others are energies. Constants that `sweep export` writes are columns too.
    `delta`, `phase` and `profile_exponent` are used if present. A point cannot be fitted if its
    `status` (a number or a name) is not ok, β, the energy or its standard error is not a positive
    number, δ is negative, or a cell is empty. SweepError names the line of a cell that is not a
    number in a column that is used.
    """
    if not path.exists():
        raise SweepError(f"there is no file {str(path)!r}; name another, or a store")
    used = {*READ, reading.x, reading.energy, reading.sigma}
    words = {each.name: float(each) for each in Status}
    columns, units = dict[str, Values](), dict(SI_UNITS)
    try:
        file = csv_table(path, reading.decimal, reading.skip)
        file.refuse_ragged()
        for text, name, own_unit in file.headers:
            is_plain = own_unit in (None, "1") or name in (reading.x, "mu")
            unit = units.setdefault(name, "1" if is_plain else "J")
            for each in {name, text} & used:
                columns[each] = file.numbers(each, unit, words if each == "status" else {})
    except FaultError as error:
        raise SweepError(str(error)) from error
    if not file.rows:
        raise SweepError(f"{str(path)!r} has no points: write a line of names and a row per point")
    for name, number in file.constants().items():
        columns.setdefault(name, np.full(len(file.rows), number))
    names = [each for header in file.headers for each in header[:2]]
    return _Table(str(path), reading, [*names, *columns], columns, units).points()


@dataclass(frozen=True)
class _Table:
    """Columns of a file or store, NaN in empty cells, and how they are read."""

    source: str
    reading: Reading
    names: Sequence[str]  # also of columns that are not read
    columns: Mapping[str, Values]
    units: Mapping[str, str]

    def points(self) -> ContactEnergies:
        """The points; those of another status than ok have no energy."""
        columns, reading, given = self.columns, self.reading, self.reading.energy
        name = self.named(given, ENERGIES, "y")
        unknown = np.full(columns[name].size, math.nan)
        status = columns.get("status", unknown)
        ok = np.where(np.isnan(status) | (status == Status.ok), 1.0, math.nan)
        raw = columns[name] * ok
        with np.errstate(divide="ignore", invalid="ignore"):
            beta, delta, xi = self.ratios(name)
            energy = raw / self.energy_scale(name)
            xi_energy = energy * delta
            if given in (None, *ENERGIES) and reading.scale_energy is None:
                # Without normal oscillation W̄ is infinite, but W̄δ follows from the energy in J.
                joules, unit = columns.get("dissipated_energy"), energy_unit(columns, delta=1.0)
                tangential = unknown if joules is None or unit is None else joules / unit
                xi_energy = np.where(delta == 0, tangential * ok, xi_energy)
            sigma = unknown
            if reading.sigma is not None:
                sigma = columns[self.named(reading.sigma, (), "sigma")] / raw
        phase = merged(columns.get("phase", unknown), PERIODS["phase"])
        exponent = np.full(raw.size, SPHERE) if "radius" in columns else unknown
        exponent, delta = merged(columns.get("profile_exponent", exponent)), merged(delta)
        return ContactEnergies(
            self.source, beta, delta, phase, exponent, energy, xi, xi_energy, sigma
        )

    def named(self, name: str | None, defaults: Sequence[str], argument: str) -> str:
        """The column that the user names, or the first default; SweepError if there is none."""
        if name and name not in self.names:
            raise SweepError(f"{self.source!r} has no column {name!r}; {nearest(name, self.names)}")
        for each in (name, *defaults):
            if each in self.names:
                return str(each)
        none = f"{self.source!r} has none of the columns {listed(defaults)}"
        raise SweepError(f"{none}: name one of {listed(self.names)} ({argument})")

    def ratios(self, energy: str) -> tuple[Values, Values, Values]:
        """β, δ and ξ."""
        ratios, scale = physical_numbers(self.columns), self.reading.scale_beta
        if ratios is not None and self.reading.x is None and scale is None:
            return ratios
        name = self.named(self.reading.x, ABSCISSAE, "x")
        if name == energy:
            raise SweepError(
                f"{self.source!r}: column {name!r} is used for both x and the energy: name two "
                "(x, y)"
            )
        if name != "beta" and scale is None:
            raise SweepError(
                f"{self.source!r}: {name!r} has to be scaled to beta: give `scale_beta`, which is "
                "kappa times the normal over the tangential amplitude (1 if the column is beta)"
            )
        beta = self.columns[name] * (scale or 1.0)
        delta = self.columns.get("delta", np.full(beta.size, math.nan))
        return beta, delta, beta / delta

    def energy_scale(self, name: str) -> Values | float:
        """What the energies are divided by."""
        sigma, scale = self.reading.sigma, self.reading.scale_energy
        in_joules = self.units.get(name) == "J"
        if sigma and not in_joules and self.units.get(sigma) == "J":
            what = f"{sigma!r} is in J and {name!r} has no unit"
            raise SweepError(f"{self.source!r}: {what}: give it one in the header, too")
        if not in_joules or scale is not None:
            return scale or 1.0
        unit = energy_unit(self.columns)
        if unit is None:
            raise SweepError(
                f"{self.source!r}: {name!r} is in J: give the reference energy "
                "(16/3) G* a0 delta/n Delta_x^2 as `scale_energy`"
            )
        return unit
