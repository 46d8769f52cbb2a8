"""Energies of rubbing contacts, computed or measured, as columns of dimensionless numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.master_curve.least_squares import Values
from sweep.analysis.master_curve.table import Table, read_table
from sweep.errors import SweepError
from sweep.spec import Status
from sweep.store import open_results
from sweep.summary import refuse_no_results
from sweep.theory.mdr_contact import (
    amplitude_numbers,
    contact_radius,
    reference_energy,
    shear_modulus,
)
from sweep.wording import listed, nearest

if TYPE_CHECKING:
    import xarray as xr

MODEL = "mdr_contact"
BODY = (
    "friction", "poisson_ratio", "indentation", "normal_amplitude", "tangential_amplitude",
)  # fmt: skip
ABSCISSAE = ("beta", "friction", "mu")
ENERGIES = ("normalized_energy", "energy", "dissipated_energy")
MIN_EXPONENT = 0.5  # of a profile; itself excluded
SPHERE = 2.0  # exponent of its profile
ROUNDING = 1e-9  # relative difference of values that count as equal
UNITS = {"delta": "1", "phase": "rad", "profile_exponent": "1", "beta": "1"}  # of what `at` cuts
PERIODS = {"phase": math.pi}  # with which the energies repeat


@dataclass(frozen=True, eq=False)
class Points:
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
    dropped: Points | None = None  # points left out, which cannot be fitted
    notes: tuple[str, ...] = ()  # on how the points were chosen

    @property
    def left_out(self) -> int:
        """Number of points left out."""
        return 0 if self.dropped is None else self.dropped.beta.size

    def left_out_text(self) -> str:
        """How many points are left out and why, as ": 3 of 60 left out (...)", or ""."""
        if self.dropped is None or not self.left_out:
            return ""
        beta, energy = self.dropped.beta, self.dropped.energy
        zero, infinite = beta == 0, np.isinf(beta)
        still = zero & (self.dropped.delta == 0)
        no_joules = still & (self.dropped.xi > 0) & np.isnan(self.dropped.xi_energy)
        rest = ~zero & ~infinite
        causes = {
            "beta = 0, without normal oscillation and without 'dissipated_energy', from which "
            "their energy over xi follows": no_joules,
            "beta = 0, without normal oscillation": still & ~no_joules,
            "beta = 0": zero & ~still,
            "beta infinite": infinite,
            "beta not a positive number": rest & ~(beta > 0),
            "no energy": rest & (beta > 0) & np.isnan(energy),
            "energy 0 or below": rest & (beta > 0) & (energy <= 0),
            "energy infinite": rest & (beta > 0) & np.isposinf(energy),
        }
        explained = np.any(list(causes.values()), axis=0)
        for name in OPTIONAL:
            missing = ~explained & np.isnan(getattr(self.dropped, name))
            if not np.isnan(getattr(self, name)).all():
                causes[f"no {name}"], explained = missing, explained | missing
        why = ", ".join(f"{n.sum():,} with {name}" for name, n in causes.items() if n.any())
        return f": {self.left_out:,} of {self.left_out + self.beta.size:,} left out ({why})"

    def where(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> Points:
        """Some of the points, by a mask or by their indices; those left out stay left out."""
        columns = {name: getattr(self, name)[kept] for name in COLUMNS}
        return replace(self, **columns)

    def parted(self, usable: NDArray[np.bool_]) -> Points:
        """The usable points; the others join those left out."""
        others, before = replace(self.where(~usable), dropped=None), self.dropped
        if before is not None:
            columns = {n: np.append(getattr(before, n), getattr(others, n)) for n in COLUMNS}
            others = replace(others, **columns)
        return replace(self.where(usable), dropped=others)

    def at(self, cuts: Mapping[str, float]) -> Points:
        """The points whose `delta`, `phase` ... is nearest to each value of `cuts`.

        Phases are compared modulo π. A note says where the nearest is off by more than half the gap
        to its neighbour. A column that is unknown is set to the value.
        """
        chosen = self
        for name, value in cuts.items():
            column = _column(chosen, name)
            if not (isinstance(cast(object, value), Real) and math.isfinite(value)):
                raise SweepError(f"--at {name} takes a number, not {value!r}")
            if name == "delta" and not (value > 0 or (value == 0 and np.any(column == 0))):
                raise SweepError(f"--at delta has to be above 0, not {value:g}")
            if name == "profile_exponent":
                refuse_exponent(value)
            if column.size == 0:
                raise SweepError(f"{self.source!r} has no points{chosen.left_out_text()}")
            if np.isnan(column).all():
                chosen = _with_value(chosen, name, value)
                continue
            best, note = nearest_value(column, name, value)
            rest = chosen.dropped
            if rest is not None:
                rest = rest.where(getattr(rest, name) == best)
            notes = (*chosen.notes, *filter(None, [note]))
            chosen = replace(chosen.where(column == best), dropped=rest, notes=notes)
        return chosen

    def with_profile(self) -> Points:
        """The points, with a sphere's exponent where the profile is unknown."""
        n = self.profile_exponent
        return replace(self, profile_exponent=np.where(np.isnan(n), SPHERE, n))


OPTIONAL = ("delta", "phase", "profile_exponent", "sigma")  # columns that may be unknown, NaN
COLUMNS = tuple(f.name for f in fields(Points) if f.name not in ("source", "dropped", "notes"))


@dataclass(frozen=True)
class Reading:
    """How the columns of a file of measured points are read.

    `x` names the column of β or μ (by default beta, friction or mu), `energy` that of the energies,
    `sigma` that of their standard errors. β = x times `scale_beta` (κΔz/Δx where x is μ), and W̄ =
    energy over `scale_energy` (W_ref for energies in J).
    """

    x: str | None = None
    energy: str | None = None
    sigma: str | None = None
    scale_beta: float | None = None
    scale_energy: float | None = None


def load(path: str | Path, reading: Reading | None = None) -> Points:
    """Load the points of a store of this model or of a CSV file; SweepError if it is neither."""
    if str(path).endswith(".csv") or Path(path).is_file():
        return read_csv(Path(path), reading or Reading())
    if reading is not None and reading != Reading():
        raise SweepError(
            "columns and scales are options for CSV files: leave them out, as a store has its own"
        )
    return from_dataset(open_results(path), str(path))


def from_dataset(dataset: xr.Dataset, source: str = "sweep") -> Points:
    """The points of a sweep of this model, of any parameter set; β and δ are derived.

    SweepError for another model, without an energy among the outputs, or if no point is ok.
    """
    attributes = getattr(dataset, "attrs", {})
    if attributes.get("model") != MODEL:
        raise SweepError(
            f"{source!r} is a sweep of {attributes.get('model', 'no model')}: master curves are "
            f"fitted to {MODEL}"
        )
    refuse_no_results(dataset)
    status = dataset["status"]
    ok = (status.values == Status.ok).ravel()
    if not ok.any():
        raise SweepError(f"{source!r} has no point that is ok: see why with `sweep status`")
    outputs = [name for name in ENERGIES if name in dataset.data_vars]
    if not outputs:
        raise SweepError(f"{source!r} has no energy: add 'normalized_energy' to its outputs")
    names = [*map(str, dataset.coords), *outputs]
    numbers = [name for name in names if dataset[name].dtype.kind in "iuf"]
    columns = {
        name: dataset[name].broadcast_like(status).transpose(*status.dims).values.ravel()
        .astype(np.float64)
        for name in numbers
    }  # fmt: skip
    points = _points(source, Table(status.size, columns, source), Reading())
    return points.parted(_usable(points) & ok)


def read_csv(path: Path, reading: Reading) -> Points:
    """Read points from a CSV file: a line of names, then one row per point.

    Lines that begin with # are comments, except for the constants that `sweep export` writes there.
    The columns `delta`, `phase` and `profile_exponent` are used if present. Rows are left out if
    their `status` is not ok, β or the energy is not a positive number, or a cell is empty. Only
    columns that are used are read. SweepError names the line of a cell that is not a number, of a
    standard error that is not positive, and of a negative δ.
    """
    columns = read_table(path)
    points = _points(str(path), columns, reading)
    status = columns.get("status", np.zeros(points.beta.size))
    if "delta" in columns:
        columns.refuse(columns["delta"] < 0, "delta", "is below 0, and it is an amplitude")
    ok = np.isnan(status) | (status == Status.ok)
    complete = [_known_or_all_unknown(getattr(points, name)) for name in OPTIONAL]
    return points.parted(_usable(points) & ok & np.all(complete, axis=0))


def merged(column: Values, period: float | None = None) -> Values:
    """The column with values that differ by rounding, or by whole periods, made equal.

    Each group takes its value of smallest magnitude. NaN stays.
    """
    values, place = np.unique(column, return_inverse=True)
    size = float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))
    folded = difference(values, 0.0, period)
    allowed = 0.0 if period is None else 8 * np.finfo(float).eps * max(size, period)
    if period is not None:  # both ends of a period are the same
        folded = np.where(folded < allowed - 0.5 * period, 0.5 * period, folded)
    order = np.argsort(folded, kind="stable")
    with np.errstate(invalid="ignore"):
        same = np.diff(folded[order]) <= np.maximum(ROUNDING * np.abs(folded[order][1:]), allowed)
    group = np.concatenate([np.zeros(min(values.size, 1), dtype=int), np.cumsum(~same)])
    by_size = order[np.lexsort((np.abs(values[order]), group))]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    values[order] = values[by_size][first][group]
    return values[place.reshape(-1)]


def difference(column: Values, value: float, period: float | None = None) -> Values:
    """The column minus the value; with a period, at most half of it in magnitude."""
    away = column - value
    return away if period is None else away - period * np.round(away / period)


def nearest_value(column: Values, name: str, value: float) -> tuple[float, str]:
    """The nearest value of a column, and a note if it is not near, else "".

    It is near within half the gap to its neighbour or, in a column of one value, within rounding.
    """
    period = PERIODS.get(name)
    known = np.unique(column[~np.isnan(column)])
    off = np.abs(difference(known, value, period))
    best, away = float(known[np.argmin(off)]), float(off.min())
    others = np.abs(difference(known[known != best], best, period))
    allowed = 0.5 * float(others.min()) if others.size else 0.0
    if away <= max(allowed, ROUNDING * abs(value)):
        return best, ""
    return best, (
        f"--at {name}={value:g} is not among the points: using {best:.10g}, the nearest of "
        f"{known.size} values from {known[0]:.4g} to {known[-1]:.4g}"
    )


def refuse_exponent(value: float) -> None:
    """SweepError for an exponent that no profile of a contact has."""
    if not value > MIN_EXPONENT:
        raise SweepError(f"profile_exponent has to be above {MIN_EXPONENT:g}, not {value:g}")


def positive(*columns: Values) -> NDArray[np.bool_]:
    """Where all columns are positive and finite."""
    return np.all([np.isfinite(column) & (column > 0) for column in columns], axis=0)


def _points(source: str, columns: Table, reading: Reading) -> Points:
    """All rows; the columns are checked, their values are not."""
    unknown = np.full(columns.size, math.nan)
    raw, energy = _energy(source, columns, reading)
    with np.errstate(divide="ignore", invalid="ignore"):
        beta, delta, xi = _ratios(source, columns, reading)
        xi_energy = np.where(delta == 0, _constant_load_energy(columns, reading), energy * delta)
        sigma = unknown
        if reading.sigma is not None:
            sigma = _named(source, columns, reading.sigma) / raw
    if reading.sigma is not None:
        columns.refuse(
            (sigma <= 0) & (energy > 0), reading.sigma, "is not a standard error above 0"
        )
    exponent = np.full(columns.size, SPHERE if "radius" in columns else math.nan)
    return Points(
        source=source,
        beta=beta,
        delta=merged(delta),
        phase=merged(columns.get("phase", unknown), PERIODS["phase"]),
        profile_exponent=merged(columns.get("profile_exponent", exponent)),
        energy=energy,
        xi=xi,
        xi_energy=xi_energy,
        sigma=sigma,
    )


def _ratios(source: str, columns: Table, reading: Reading) -> tuple[Values, Values, Values]:
    """β, δ and ξ."""
    delta = columns.get("delta", np.full(columns.size, math.nan))
    if reading.x is None and reading.scale_beta is None and set(BODY) <= columns.keys():
        return amplitude_numbers(*(columns[name] for name in BODY))
    name = _abscissa(columns, reading)
    if name is None:
        raise SweepError(
            f"{source!r} has none of the columns {listed(ABSCISSAE)}: name one of "
            f"{listed(columns)} with --x"
        )
    raw = _named(source, columns, name)
    if name != "beta" and reading.scale_beta is None:
        raise SweepError(
            f"{source!r}: {name!r} has to be scaled to beta: give --scale-beta, which is kappa "
            "times the normal over the tangential amplitude (1 if the column is beta)"
        )
    factor = 1.0 if reading.scale_beta is None else _positive("--scale-beta", reading.scale_beta)
    return raw * factor, delta, raw * factor / delta


def _abscissa(columns: Table, reading: Reading) -> str | None:
    return reading.x or next((name for name in ABSCISSAE if name in columns), None)


def _energy(source: str, columns: Table, reading: Reading) -> tuple[Values, Values]:
    """The column as it stands, and W̄."""
    name = reading.energy or next((name for name in ENERGIES if name in columns), None)
    if name is None:
        raise SweepError(
            f"{source!r} has none of the columns {listed(ENERGIES)}: name one of "
            f"{listed(columns)} with --y"
        )
    raw = _named(source, columns, name)
    if name == _abscissa(columns, reading):
        raise SweepError(
            f"{source!r}: column {name!r} is used for both x and the energy: name two with --x and "
            "--y"
        )
    scale: Values | float = 1.0
    if reading.scale_energy is not None:
        scale = _positive("--scale-energy", reading.scale_energy)
    elif name == "dissipated_energy":
        if not _has_body(columns):
            raise SweepError(
                f"{source!r}: 'dissipated_energy' is in J: give the reference energy "
                "(16/3) G* a0 delta/n Delta_x^2 as --scale-energy"
            )
        scale = _reference(columns, columns["normal_amplitude"] / columns["indentation"])
    with np.errstate(divide="ignore", invalid="ignore"):
        return raw, raw / scale


def _constant_load_energy(columns: Table, reading: Reading) -> Values | float:
    """W̄δ from the energy in J, as W̄ is infinite without normal oscillation."""
    own = reading.energy in (None, *ENERGIES) and reading.scale_energy is None
    if not (own and "dissipated_energy" in columns and _has_body(columns)):
        return math.nan
    return columns["dissipated_energy"] / _reference(columns, 1.0)


def _has_body(columns: Table) -> bool:
    known = columns.keys()
    shaped = "radius" in known or {"profile_coefficient", "profile_exponent"} <= known
    return shaped and {*BODY, "youngs_modulus"} <= known


def _reference(columns: Table, delta: Values | float) -> Values:
    """W_ref of physical contacts."""
    n = columns.get("profile_exponent", np.array(SPHERE))
    sphere = "radius" in columns
    coefficient = 0.5 / columns["radius"] if sphere else columns["profile_coefficient"]
    return reference_energy(
        shear_modulus(columns["youngs_modulus"], columns["poisson_ratio"]),
        contact_radius(columns["indentation"], coefficient, n),
        columns["tangential_amplitude"],
        delta,
        n,
    )


def _with_value(points: Points, name: str, value: float) -> Points:
    """The points with this value in a column that was unknown."""
    changed = replace(points, **{name: np.full(points.beta.size, value)})
    if name != "delta":
        return changed
    return replace(changed, xi=changed.beta / value, xi_energy=changed.energy * value)


def _known_or_all_unknown(column: Values) -> NDArray[np.bool_]:
    missing = np.isnan(column)
    return ~missing | missing.all()


def _usable(points: Points) -> NDArray[np.bool_]:
    return positive(points.beta, points.energy) | positive(points.xi, points.xi_energy)


def _named(source: str, columns: Table, name: str) -> Values:
    if name not in columns:
        raise SweepError(f"{source!r} has no column {name!r}; {nearest(name, columns)}")
    return columns[name]


def _column(points: Points, name: str) -> Values:
    if name not in UNITS:
        raise SweepError(f"--at does not take {name!r}; {nearest(name, UNITS)}")
    return getattr(points, name)


def _positive(option: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise SweepError(f"{option} has to be positive and finite, not {value!r}")
    return value
