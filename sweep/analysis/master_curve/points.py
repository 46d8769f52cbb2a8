"""Energies of rubbing contacts, from stores and CSV files, as columns of dimensionless numbers."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.analysis.scales import ROUNDING, difference, merged
from sweep.analysis.view import in_unit
from sweep.config.csv_table import csv_table
from sweep.errors import FaultError, SweepError
from sweep.models.mdr_contact import MODEL
from sweep.spec import Status, every_parameter
from sweep.store import open_results
from sweep.summary import refuse_no_results
from sweep.theory.mdr_contact import energy_unit, physical_numbers
from sweep.wording import listed, nearest, shown
from sweep.work import Values

MIN_EXPONENT = 0.5  # of a profile; itself excluded
SPHERE = 2.0  # exponent of its profile
UNITS = {"delta": "1", "phase": "rad", "profile_exponent": "1", "beta": "1"}  # of what `at` cuts
PERIODS = {"phase": math.pi}  # with which the energies repeat
ABSCISSAE = ("beta", "friction", "mu")
ENERGIES = ("normalized_energy", "energy", "dissipated_energy")
SI_UNITS = {each.name: each.unit for each in (*every_parameter(MODEL), *MODEL.outputs)}


@dataclass(frozen=True, eq=False)
class ContactEnergies:
    """Contacts and their energies; arrays of shape (n_points,).

    W̄ over β, or W̄δ over ξ, or both are positive and finite; under constant load (δ = 0) only ξ and
    W̄δ are. Where `delta` or `phase` is unknown it is NaN, and without δ so are ξ and W̄δ.
    """

    source: str
    beta: Values
    delta: Values
    phase: Values
    profile_exponent: Values
    energy: Values  # W̄
    xi: Values  # β/δ
    xi_energy: Values  # W̄δ
    sigma: Values  # standard error of the energy over the energy; NaN if unknown
    dropped: ContactEnergies | None = None  # points left out, which cannot be fitted
    notes: tuple[str, ...] = ()  # on how the points were chosen

    @property
    def left_out(self) -> int:
        """Number of points left out."""
        return 0 if self.dropped is None else self.dropped.beta.size

    def left_out_text(self) -> str:
        """How many points are left out and why, as ": 3 of 60 left out (...)", or ""."""
        if self.dropped is None or not self.left_out:
            return ""
        dropped = self.dropped
        is_tangential = (dropped.beta == 0) & (dropped.delta == 0)
        lacks_energy = is_tangential & (dropped.xi > 0) & np.isnan(dropped.xi_energy)
        causes = {  # of each point, the first that applies
            "beta = 0, without normal oscillation and without 'dissipated_energy', from which "
            "their energy over xi follows": lacks_energy,
            "beta = 0, without normal oscillation": is_tangential,
            "beta = 0": dropped.beta == 0,
            "beta infinite": np.isinf(dropped.beta),
            "beta not a positive number": ~(dropped.beta > 0),
            "no energy": np.isnan(dropped.energy),
            "energy 0 or below": dropped.energy <= 0,
            "energy infinite": np.isinf(dropped.energy),
        }
        for name in OPTIONAL:
            if not np.isnan(getattr(self, name)).all():
                causes[f"no {name}"] = np.isnan(getattr(dropped, name))
        masks = np.array(list(causes.values()))
        counts = np.sum(masks & (np.cumsum(masks, axis=0) == 1), axis=1)
        numbers = dict(zip(causes, counts.tolist(), strict=True))
        cause_text = ", ".join(f"{n:,} with {cause}" for cause, n in numbers.items() if n)
        return f": {self.left_out:,} of {self.left_out + self.beta.size:,} left out ({cause_text})"

    def where(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> ContactEnergies:
        """Some of the points, by a mask or by their indices; those left out stay left out."""
        columns = {name: getattr(self, name)[kept] for name in COLUMNS}
        return replace(self, **columns)

    def parted(self, usable: NDArray[np.bool_]) -> ContactEnergies:
        """The usable points; the others join those left out."""
        dropped = self.where(~usable)
        if self.dropped is not None:
            columns = {n: np.append(getattr(self.dropped, n), getattr(dropped, n)) for n in COLUMNS}
            dropped = replace(dropped, **columns)
        return replace(self.where(usable), dropped=replace(dropped, dropped=None))

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
            if name == "profile_exponent":
                refuse_exponent(value)
            if column.size == 0:
                raise SweepError(f"{self.source!r} has no points{chosen.left_out_text()}")
            if np.isnan(column).all():
                known = {name: np.full(column.size, value)}
                if name == "delta":
                    known |= {"xi": chosen.beta / value, "xi_energy": chosen.energy * value}
                chosen = replace(chosen, **known)
                continue
            best, notes = nearest_value(column, name, value)
            rest = chosen.dropped and chosen.dropped.where(getattr(chosen.dropped, name) == best)
            notes = chosen.notes + notes
            chosen = replace(chosen.where(column == best), dropped=rest, notes=notes)
        return chosen

    def with_profile(self) -> ContactEnergies:
        """The points, with a sphere's exponent where the profile is unknown."""
        n = self.profile_exponent
        return replace(self, profile_exponent=np.where(np.isnan(n), SPHERE, n))


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
        if np.isnan(points.delta).any():
            raise SweepError(
                f"{points.source!r} has no delta, needed for xi = beta/delta: give it (at)"
            )
        return points.xi, points.xi_energy


VARIABLES = {
    "xi": ScalingVariable("xi", "ξ = β/δ", "W̄δ", (0.0, 4.0), 1),
    "beta": ScalingVariable("beta", "β", "W̄", (0.1, math.inf), -1),
}
KNOWN = ("delta", "phase", "profile_exponent")  # of a contact; NaN where unknown
OPTIONAL = (*KNOWN, "sigma")  # columns that may be unknown
COLUMNS = tuple(
    f.name for f in fields(ContactEnergies) if f.name not in ("source", "dropped", "notes")
)


def nearest_value(column: Values, name: str, value: float) -> tuple[float, tuple[str, ...]]:
    """The nearest value of a column, and a note if it is not near.

    It is near within half the gap to its neighbour or, in a column of one value, within rounding.
    """
    period = PERIODS.get(name)
    known = np.unique(column[~np.isnan(column)])
    distances = np.abs(difference(known, value, period))
    best, distance = float(known[np.argmin(distances)]), float(distances.min())
    others = np.abs(difference(known[known != best], best, period))
    allowed = 0.5 * float(others.min()) if others.size else 0.0
    if distance <= max(allowed, ROUNDING * abs(value)):
        return best, ()
    span = f"{known.size} values from {known[0]:.4g} to {known[-1]:.4g}"
    away_text = f"{name} = {value:g} is not among the points: using {best:.10g}"
    return best, (f"{away_text}, the nearest of {span}",)


def refuse_exponent(value: float) -> None:
    """SweepError for an exponent that no profile of a contact has."""
    if not value > MIN_EXPONENT:
        raise SweepError(f"profile_exponent has to be above {MIN_EXPONENT:g}, not {value:g}")


def positive(*columns: Values) -> NDArray[np.bool_]:
    """Where all columns are positive and finite."""
    return np.all([np.isfinite(column) & (column > 0) for column in columns], axis=0)


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
    outputs = [name for name in ENERGIES if name in dataset.data_vars]
    if not outputs:
        raise SweepError(f"{source!r} has no energy: add 'normalized_energy' to its outputs")

    def column(name: str) -> Values:
        along = dataset[name].broadcast_like(status).transpose(*status.dims)
        return along.values.ravel().astype(np.float64)

    names = [*map(str, dataset.coords), *outputs, "status"]
    columns = {
        name: cache(partial(column, name)) for name in names if dataset[name].dtype.kind in "iuf"
    }
    return _points(_Table(source, columns, SI_UNITS), Reading())


def read_csv(path: Path, reading: Reading) -> ContactEnergies:
    """Read points from a CSV file, which commas, semicolons or tabs separate.

    It has a line of names, then one row per point. A column with a unit in its header, as in
    "radius [mm]", is converted; of columns with other names than those of the model, x is a plain
    number and the others are energies. Constants that `sweep export` writes are columns
    too; columns NAME_name, which it writes beside flags, are not. `delta`, `phase` and
    `profile_exponent` are used if present. Rows are left out if their `status` (a number or a name)
    is not ok, β or the energy is not a positive number, or a cell is empty. SweepError names the
    line of a cell that is not a number in a column that is used, of a standard error that is not
    positive, and of a negative δ.
    """
    if not path.exists():
        raise SweepError(f"there is no file {str(path)!r}; name another, or a store")
    try:
        file = csv_table(path, reading.decimal, reading.skip)
        file.refuse_ragged()
    except FaultError as error:
        raise SweepError(str(error)) from error
    if not file.rows:
        raise SweepError(f"{str(path)!r} has no points: write a line of names and a row per point")
    words = {each.name: float(each) for each in Status}
    columns, units = dict[str, Callable[[], Values]](), dict[str, str]()
    for text, name, own_unit in file.headers:
        if not name.endswith("_name"):
            is_plain = own_unit in (None, "1") or name in (reading.x, "mu")
            units[name] = unit = SI_UNITS.get(name, "1" if is_plain else "J")
            for each in (name, text):
                column = partial(file.numbers, each, unit, words if each == "status" else {})
                columns[each] = cache(column)
    for name, number in file.constants().items():
        columns.setdefault(name, cache(partial(np.full, len(file.rows), number)))
    lines = [line for line, _ in file.rows]
    return _points(_Table(str(path), columns, SI_UNITS | units, lines), reading)


@dataclass(frozen=True)
class _Table(Mapping[str, Values]):
    """Columns of numbers, NaN in empty cells, each of which is read when it is used."""

    place: str  # path of the file or store
    columns: Mapping[str, Callable[[], Values]]
    units: Mapping[str, str]  # of the numbers
    lines: Sequence[int] = ()  # line number of each row

    def __getitem__(self, name: str) -> Values:
        try:
            return self.columns[name]()
        except FaultError as error:
            raise SweepError(str(error)) from error

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def named(self, name: str | None, defaults: Sequence[str], argument: str) -> str:
        """The column that the user names, or the first default; SweepError if there is none."""
        if name and name not in self:
            raise SweepError(f"{self.place!r} has no column {name!r}; {nearest(name, self)}")
        column_name = name or next((each for each in defaults if each in self), None)
        if column_name is None:
            raise SweepError(
                f"{self.place!r} has none of the columns {listed(defaults)}: name one of "
                f"{listed(self)} ({argument})"
            )
        return column_name

    def refuse(self, wrong: NDArray[np.bool_], name: str, why: str) -> None:
        """Raise SweepError with the line of the first wrong row, if there is one."""
        if wrong.any():
            k = int(np.argmax(wrong))
            line = f", line {self.lines[k]}" if self.lines else ""
            raise SweepError(f"{self.place!r}{line}: {name} = {self[name][k]:g} {why}")


def _points(columns: _Table, reading: Reading) -> ContactEnergies:
    """The points, of which those that cannot be used are left out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        raw, energy = _energy(columns, reading)
        beta, delta, xi = _ratios(columns, reading)
        unknown = np.full(raw.size, math.nan)
        own = reading.energy in (None, *ENERGIES) and reading.scale_energy is None
        unit = energy_unit(columns, delta=1.0) if own and "dissipated_energy" in columns else None
        # Without normal oscillation W̄ is infinite, but W̄δ follows from the energy in J.
        tangential_energy = unknown if unit is None else columns["dissipated_energy"] / unit
        xi_energy = np.where(delta == 0, tangential_energy, energy * delta)
        sigma = unknown
        if reading.sigma is not None:
            sigma = columns[columns.named(reading.sigma, (), "sigma")] / raw
            wrong = (sigma <= 0) & (energy > 0)
            columns.refuse(wrong, reading.sigma, "is not a standard error above 0")
    phase = merged(columns.get("phase", unknown), PERIODS["phase"])
    exponent = np.full(raw.size, SPHERE) if "radius" in columns else unknown
    exponent, delta = merged(columns.get("profile_exponent", exponent)), merged(delta)
    points = ContactEnergies(
        columns.place, beta, delta, phase, exponent, energy, xi, xi_energy, sigma
    )
    status = columns.get("status", unknown)
    if "delta" in columns:
        columns.refuse(columns["delta"] < 0, "delta", "is below 0, and it is an amplitude")
    usable = positive(beta, energy) | positive(xi, xi_energy)
    for name in OPTIONAL:
        missing = np.isnan(getattr(points, name))
        usable &= ~missing | missing.all()
    return points.parted(usable & (np.isnan(status) | (status == Status.ok)))


def _ratios(columns: _Table, reading: Reading) -> tuple[Values, Values, Values]:
    """β, δ and ξ."""
    if reading.x is None and reading.scale_beta is None:
        ratios = physical_numbers(columns)
        if ratios is not None:
            return ratios
    name = columns.named(reading.x, ABSCISSAE, "x")
    raw = columns[name]
    if name != "beta" and reading.scale_beta is None:
        raise SweepError(
            f"{columns.place!r}: {name!r} has to be scaled to beta: give `scale_beta`, which is "
            "kappa times the normal over the tangential amplitude (1 if the column is beta)"
        )
    beta = raw * _scale("scale_beta", reading.scale_beta)
    delta = columns.get("delta", np.full(raw.size, math.nan))
    return beta, delta, beta / delta


def _energy(columns: _Table, reading: Reading) -> tuple[Values, Values]:
    """The column as it stands, and W̄."""
    name = columns.named(reading.energy, ENERGIES, "y")
    raw = columns[name]
    if name == (reading.x or next((each for each in ABSCISSAE if each in columns), None)):
        raise SweepError(
            f"{columns.place!r}: column {name!r} is used for both x and the energy: name two (x, y)"
        )
    scale: Values | float | None = _scale("scale_energy", reading.scale_energy)
    in_joules = columns.units.get(name) == "J"
    if reading.sigma and not in_joules and columns.units.get(reading.sigma) == "J":
        what = f"{reading.sigma!r} is in J and {name!r} has no unit"
        raise SweepError(f"{columns.place!r}: {what}: give it one in the header, too")
    if in_joules and reading.scale_energy is None:
        scale = energy_unit(columns)
        if scale is None:
            raise SweepError(
                f"{columns.place!r}: {name!r} is in J: give the reference energy "
                "(16/3) G* a0 delta/n Delta_x^2 as `scale_energy`"
            )
    return raw, raw / scale


def _scale(argument: str, value: float | None) -> float:
    if value is not None and not (math.isfinite(value) and value > 0):
        raise SweepError(f"{argument} has to be positive and finite, not {value!r}")
    return 1.0 if value is None else value
