"""Energies of rubbing contacts, computed or measured, as columns of dimensionless numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.master_curve.least_squares import Values
from sweep.errors import SweepError
from sweep.wording import nearest

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
    def branches(self) -> dict[str, NDArray[np.bool_]]:
        """The points of each value of δ or φ, by "δ = 0.01"; none unless one of the two varies."""
        known = {"δ": self.delta, "φ": self.phase}
        varied = {symbol: np.unique(each) for symbol, each in known.items() if np.ptp(each) > 0}
        if len(varied) != 1:
            return {}
        ((symbol, values),) = varied.items()
        return {f"{symbol} = {value:.4g}": known[symbol] == value for value in values}

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
            if name not in UNITS:
                raise SweepError(f"--at does not take {name!r}; {nearest(name, UNITS)}")
            column: Values = getattr(chosen, name)
            if not (isinstance(cast(object, value), Real) and math.isfinite(value)):
                raise SweepError(f"--at {name} takes a number, not {value!r}")
            if name == "delta" and not (value > 0 or (value == 0 and np.any(column == 0))):
                raise SweepError(f"--at delta has to be above 0, not {value:g}")
            if name == "profile_exponent":
                refuse_exponent(value)
            if column.size == 0:
                raise SweepError(f"{self.source!r} has no points{chosen.left_out_text()}")
            if np.isnan(column).all():
                chosen = replace(chosen, **{name: np.full(column.size, value)})
                if name == "delta":
                    xi, xi_energy = chosen.beta / value, chosen.energy * value
                    chosen = replace(chosen, xi=xi, xi_energy=xi_energy)
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
