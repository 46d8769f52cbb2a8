"""Energies of rubbing contacts, of a sweep or measured, as columns of dimensionless numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.master_curve.alike import PERIODS, merged, nearest_of
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

Values = NDArray[np.float64]

MODEL = "mdr_contact"
BODY = (
    "friction", "poisson_ratio", "indentation", "normal_amplitude", "tangential_amplitude",
)  # fmt: skip
ABSCISSAE = ("beta", "friction", "mu")
LEAST_EXPONENT = 0.5  # of a profile; not itself
SPHERE = 2.0  # exponent of its profile
ENERGIES = ("normalized_energy", "energy", "dissipated_energy")


@dataclass(frozen=True, eq=False)
class Points:
    """Contacts and their energies; arrays of (n_points,).

    W̄ over β or W̄δ over ξ, or both, are positive and finite: under constant load (δ = 0) ξ and W̄δ
    alone. NaN where `delta` or `phase` is not known, and then ξ and W̄δ are not.
    """

    source: str
    beta: Values
    delta: Values
    phase: Values
    profile_exponent: Values
    energy: Values  # W̄
    xi: Values  # β/δ
    xi_energy: Values  # W̄δ
    sigma: Values  # standard error of the energy over the energy; NaN where not known
    dropped: Points | None = None  # those without a value, or with all of them at 0 or infinite
    notes: tuple[str, ...] = ()  # on how these were chosen

    @property
    def left_out(self) -> int:
        return 0 if self.dropped is None else self.dropped.beta.size

    def told_left_out(self) -> str:
        """How many are left out and why, as ": 3 of 60 points are left out (...)"; or nothing."""
        if self.dropped is None or not self.left_out:
            return ""
        beta, energy = self.dropped.beta, self.dropped.energy
        zero, infinite = beta == 0, np.isinf(beta)
        still = zero & (self.dropped.delta == 0)
        untold = still & (self.dropped.xi > 0) & np.isnan(self.dropped.xi_energy)
        rest = ~zero & ~infinite
        causes = {
            "beta = 0, without normal oscillation and without 'dissipated_energy', which tells "
            "their energy over xi": untold,
            "beta = 0, without normal oscillation": still & ~untold,
            "beta = 0": zero & ~still,
            "beta infinite": infinite,
            "beta no positive number": rest & ~(beta > 0),
            "no energy": rest & (beta > 0) & np.isnan(energy),
            "energy 0 or below": rest & (beta > 0) & (energy <= 0),
            "energy infinite": rest & (beta > 0) & np.isposinf(energy),
        }
        told = np.any(list(causes.values()), axis=0)
        for name in UNTOLD:
            missing = ~told & np.isnan(getattr(self.dropped, name))
            if not np.isnan(getattr(self, name)).all():
                causes[f"no {name}"], told = missing, told | missing
        why = ", ".join(f"{n.sum():,} with {name}" for name, n in causes.items() if n.any())
        return f": {self.left_out:,} of {self.left_out + self.beta.size:,} left out ({why})"

    def where(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> Points:
        """Some of them, by a mask or by their places; those that are left out stay."""
        columns = {name: getattr(self, name)[kept] for name in COLUMNS}
        return replace(self, **columns)

    def parted(self, usable: NDArray[np.bool_]) -> Points:
        """The others left out, besides those that are already."""
        others, before = replace(self.where(~usable), dropped=None), self.dropped
        if before is not None:
            columns = {n: np.append(getattr(before, n), getattr(others, n)) for n in COLUMNS}
            others = replace(others, **columns)
        return replace(self.where(usable), dropped=others)

    def at(self, cuts: Mapping[str, float]) -> Points:
        """Those whose `delta`, `phase` ... is the one nearest to each value given.

        The distance of phases is modulo π. `notes` say where the nearest is off by more than half
        the gap to its neighbour. What no point tells is taken to be the value.
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
                raise SweepError(f"{self.source!r} has no points{chosen.told_left_out()}")
            if np.isnan(column).all():
                chosen = _told(chosen, name, value)
                continue
            best, note = nearest_of(column, name, value)
            rest = chosen.dropped
            if rest is not None:
                rest = rest.where(getattr(rest, name) == best)
            notes = (*chosen.notes, *filter(None, [note]))
            chosen = replace(chosen.where(column == best), dropped=rest, notes=notes)
        return chosen

    def with_profile(self) -> Points:
        """Those of a sphere, where no exponent of a profile is known."""
        n = self.profile_exponent
        return replace(self, profile_exponent=np.where(np.isnan(n), SPHERE, n))


UNTOLD = ("delta", "phase", "profile_exponent", "sigma")  # may be NaN, of all points
COLUMNS = tuple(f.name for f in fields(Points) if f.name not in ("source", "dropped", "notes"))


@dataclass(frozen=True)
class Reading:
    """How the columns of a file of measured points are read.

    `x` names β or μ (by default beta, friction or mu), `energy` the energies, `sigma` their
    standard errors. β = x times `scale_beta` (κΔz/Δx where x is μ), W̄ = energy over `scale_energy`
    (W_ref, where it is in J).
    """

    x: str | None = None
    energy: str | None = None
    sigma: str | None = None
    scale_beta: float | None = None
    scale_energy: float | None = None


def load(path: str | Path, reading: Reading | None = None) -> Points:
    """The points of a store of this model, or of a CSV file; SweepError if it is neither."""
    if str(path).endswith(".csv") or Path(path).is_file():
        return read_csv(Path(path), reading or Reading())
    if reading is not None and reading != Reading():
        raise SweepError("columns and scales are told of CSV files; a store knows its own")
    return from_dataset(open_results(path), str(path))


def from_dataset(dataset: xr.Dataset, source: str = "sweep") -> Points:
    """The points of a sweep of this model, of any parameter set; β and δ are derived.

    SweepError for another model, without an energy among the outputs, or if no point is ok.
    """
    attributes = getattr(dataset, "attrs", {})
    if attributes.get("model") != MODEL:
        raise SweepError(
            f"{source!r} is a sweep of {attributes.get('model', 'no model')}; master curves are "
            f"fitted to {MODEL}"
        )
    refuse_no_results(dataset)
    like = dataset["status"]
    ok = (like.values == Status.ok).ravel()
    if not ok.any():
        raise SweepError(f"{source!r} has no point that is ok: `sweep status` says why")
    outputs = [name for name in ENERGIES if name in dataset.data_vars]
    if not outputs:
        raise SweepError(f"{source!r} has no energy: add 'normalized_energy' to its outputs")
    names = [*map(str, dataset.coords), *outputs]
    numbers = [name for name in names if dataset[name].dtype.kind in "iuf"]
    columns = {
        name: dataset[name].broadcast_like(like).transpose(*like.dims).values.ravel()
        .astype(np.float64)
        for name in numbers
    }  # fmt: skip
    found = _points(source, Table(like.size, columns, source), Reading())
    return found.parted(_usable(found) & ok)


def read_csv(path: Path, reading: Reading) -> Points:
    """Points of a CSV file: a line of names, then a row a point; lines of `#` are passed over.

    The columns `delta`, `phase` and `profile_exponent` are read where they are there (`sweep
    export` writes all, and constants in its comments).
    Rows of a `status` other than ok, whose β or energy is no positive number, or with an empty cell
    are left out. Only columns that are used are read. SweepError names the line of what is no
    number, of a standard error that is not positive, and of a negative δ.
    """
    columns = read_table(path)
    found = _points(str(path), columns, reading)
    status = columns.get("status", np.zeros(found.beta.size))
    if "delta" in columns:
        columns.refuse(columns["delta"] < 0, "delta", "is below 0, and it is an amplitude")
    ok = np.isnan(status) | (status == Status.ok)
    known = [_told_or_unknown(getattr(found, name)) for name in UNTOLD]
    return found.parted(_usable(found) & ok & np.all(known, axis=0))


def _told_or_unknown(column: Values) -> NDArray[np.bool_]:
    """Where a column that is told at all has a value."""
    missing = np.isnan(column)
    return ~missing | missing.all()


def _points(source: str, columns: Table, reading: Reading) -> Points:
    """All rows, checked for their columns but not for their values."""
    size = columns.size
    unknown = np.full(size, math.nan)
    given, energy = _energy(source, columns, reading)
    with np.errstate(divide="ignore", invalid="ignore"):
        beta, delta, xi = _ratios(source, columns, reading)
        xi_energy = np.where(delta == 0, _constant_load_energy(columns, reading), energy * delta)
        sigma = unknown
        if reading.sigma is not None:
            sigma = _named(source, columns, reading.sigma) / given
    if reading.sigma is not None:
        columns.refuse((sigma <= 0) & (energy > 0), reading.sigma, "is no standard error: above 0")
    exponent = np.full(size, SPHERE if "radius" in columns else math.nan)
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
    unknown = np.full(columns.size, math.nan)
    delta = columns.get("delta", unknown)
    if reading.x is None and reading.scale_beta is None and set(BODY) <= columns.keys():
        return amplitude_numbers(*(columns[name] for name in BODY))
    name = _abscissa(columns, reading)
    if name is None:
        raise SweepError(
            f"{source!r} has none of the columns {listed(ABSCISSAE)}: name one of "
            f"{listed(columns)} with --x"
        )
    given = _named(source, columns, name)
    if name != "beta" and reading.scale_beta is None:
        raise SweepError(
            f"{source!r}: {name!r} is no beta by itself: --scale-beta takes what it is multiplied "
            "with, kappa times the normal over the tangential amplitude (1 if it is beta)"
        )
    factor = 1.0 if reading.scale_beta is None else _positive("--scale-beta", reading.scale_beta)
    return given * factor, delta, given * factor / delta


def _abscissa(columns: Table, reading: Reading) -> str | None:
    return reading.x or next((name for name in ABSCISSAE if name in columns), None)


def _energy(source: str, columns: Table, reading: Reading) -> tuple[Values, Values]:
    """The column as it is given, and W̄."""
    name = reading.energy or next((name for name in ENERGIES if name in columns), None)
    if name is None:
        raise SweepError(
            f"{source!r} has none of the columns {listed(ENERGIES)}: name one of "
            f"{listed(columns)} with --y"
        )
    given = _named(source, columns, name)
    if name == _abscissa(columns, reading):
        raise SweepError(f"{source!r}: {name!r} is told to be both the energy and what is below it")
    scale: Values | float = 1.0
    if reading.scale_energy is not None:
        scale = _positive("--scale-energy", reading.scale_energy)
    elif name == "dissipated_energy":
        if not _has_body(columns):
            raise SweepError(
                f"{source!r}: 'dissipated_energy' is in J: --scale-energy takes the reference "
                "energy (16/3) G* a0 delta/n Delta_x^2 it is divided by"
            )
        scale = _reference(columns, columns["normal_amplitude"] / columns["indentation"])
    with np.errstate(divide="ignore", invalid="ignore"):
        return given, given / scale


def _constant_load_energy(columns: Table, reading: Reading) -> Values | float:
    """W̄δ from the energy in J: without normal oscillation W̄ is infinite."""
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


def _told(points: Points, name: str, value: float) -> Points:
    """With this value in a column that is not known."""
    told = replace(points, **{name: np.full(points.beta.size, value)})
    if name != "delta":
        return told
    return replace(told, xi=told.beta / value, xi_energy=told.energy * value)


def refuse_exponent(value: float) -> None:
    """SweepError for a profile that no contact has."""
    if not value > LEAST_EXPONENT:
        raise SweepError(f"profile_exponent has to be above {LEAST_EXPONENT:g}, not {value:g}")


def positive(*columns: Values) -> NDArray[np.bool_]:
    """Where all are positive and finite."""
    return np.all([np.isfinite(column) & (column > 0) for column in columns], axis=0)


def _usable(points: Points) -> NDArray[np.bool_]:
    return positive(points.beta, points.energy) | positive(points.xi, points.xi_energy)


def _named(source: str, columns: Table, name: str) -> Values:
    if name not in columns:
        raise SweepError(f"{source!r} has no column {name!r}; {nearest(name, columns)}")
    return columns[name]


def _column(points: Points, name: str) -> Values:
    names = ("delta", "phase", "profile_exponent", "beta")
    if name not in names:
        raise SweepError(f"--at cuts {listed(names)}, not {name!r}; {nearest(name, names)}")
    return getattr(points, name)


def _positive(option: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise SweepError(f"{option} has to be positive and finite, not {value!r}")
    return value
