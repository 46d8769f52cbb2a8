"""Read points from stores and CSV files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.master_curve.least_squares import Values
from sweep.analysis.master_curve.points import OPTIONAL, PERIODS, SPHERE, Points, merged, positive
from sweep.config.columns import read_csv as read_cells
from sweep.config.problems import UnreadableError
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
from sweep.wording import listed, nearest, shown

if TYPE_CHECKING:
    import xarray as xr

MODEL = "mdr_contact"
SEPARATORS = ",;\t"
CONSTANT = re.compile(r"# (\w+) = (\S+)")  # as `sweep export` writes it
BODY = (
    "friction", "poisson_ratio", "indentation", "normal_amplitude", "tangential_amplitude",
)  # fmt: skip
ABSCISSAE = ("beta", "friction", "mu")
ENERGIES = ("normalized_energy", "energy", "dissipated_energy")


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
    points = _points(_Table(status.size, columns, source), Reading())
    return points.parted(_usable(points) & ok)


def read_csv(path: Path, reading: Reading) -> Points:
    """Read points from a CSV file: a line of names, then one row per point.

    Lines that begin with # are comments, except for the constants that `sweep export` writes there.
    The columns `delta`, `phase` and `profile_exponent` are used if present. Rows are left out if
    their `status` is not ok, β or the energy is not a positive number, or a cell is empty. Only
    columns that are used are read. SweepError names the line of a cell that is not a number, of a
    standard error that is not positive, and of a negative δ.
    """
    columns = _read_table(path)
    points = _points(columns, reading)
    status = columns.get("status", np.zeros(points.beta.size))
    if "delta" in columns:
        columns.refuse(columns["delta"] < 0, "delta", "is below 0, and it is an amplitude")
    ok = np.isnan(status) | (status == Status.ok)
    missing = [np.isnan(getattr(points, name)) for name in OPTIONAL]
    complete = [~each | each.all() for each in missing]
    return points.parted(_usable(points) & ok & np.all(complete, axis=0))


def _points(columns: _Table, reading: Reading) -> Points:
    """All rows; the columns are checked, their values are not."""
    unknown = np.full(columns.size, math.nan)
    raw, energy = _energy(columns, reading)
    with np.errstate(divide="ignore", invalid="ignore"):
        beta, delta, xi = _ratios(columns, reading)
        xi_energy = np.where(delta == 0, _constant_load_energy(columns, reading), energy * delta)
        sigma = unknown
        if reading.sigma is not None:
            sigma = columns.named(reading.sigma) / raw
            wrong = (sigma <= 0) & (energy > 0)
            columns.refuse(wrong, reading.sigma, "is not a standard error above 0")
    exponent = np.full(columns.size, SPHERE if "radius" in columns else math.nan)
    return Points(
        source=columns.place,
        beta=beta,
        delta=merged(delta),
        phase=merged(columns.get("phase", unknown), PERIODS["phase"]),
        profile_exponent=merged(columns.get("profile_exponent", exponent)),
        energy=energy,
        xi=xi,
        xi_energy=xi_energy,
        sigma=sigma,
    )


def _ratios(columns: _Table, reading: Reading) -> tuple[Values, Values, Values]:
    """β, δ and ξ."""
    delta = columns.get("delta", np.full(columns.size, math.nan))
    if reading.x is None and reading.scale_beta is None and set(BODY) <= columns.keys():
        return amplitude_numbers(*(columns[name] for name in BODY))
    name = reading.x or columns.first(ABSCISSAE, "--x")
    raw = columns.named(name)
    if name != "beta" and reading.scale_beta is None:
        raise SweepError(
            f"{columns.place!r}: {name!r} has to be scaled to beta: give --scale-beta, which is "
            "kappa times the normal over the tangential amplitude (1 if the column is beta)"
        )
    factor = 1.0 if reading.scale_beta is None else _positive("--scale-beta", reading.scale_beta)
    return raw * factor, delta, raw * factor / delta


def _energy(columns: _Table, reading: Reading) -> tuple[Values, Values]:
    """The column as it stands, and W̄."""
    name = reading.energy or columns.first(ENERGIES, "--y")
    raw = columns.named(name)
    if name == (reading.x or next((each for each in ABSCISSAE if each in columns), None)):
        raise SweepError(
            f"{columns.place!r}: column {name!r} is used for both x and the energy: name two with "
            "--x and --y"
        )
    scale: Values | float = 1.0
    if reading.scale_energy is not None:
        scale = _positive("--scale-energy", reading.scale_energy)
    elif name == "dissipated_energy":
        if not _has_body(columns):
            raise SweepError(
                f"{columns.place!r}: 'dissipated_energy' is in J: give the reference energy "
                "(16/3) G* a0 delta/n Delta_x^2 as --scale-energy"
            )
        scale = _reference(columns, columns["normal_amplitude"] / columns["indentation"])
    with np.errstate(divide="ignore", invalid="ignore"):
        return raw, raw / scale


def _constant_load_energy(columns: _Table, reading: Reading) -> Values | float:
    """W̄δ from the energy in J, as W̄ is infinite without normal oscillation."""
    own = reading.energy in (None, *ENERGIES) and reading.scale_energy is None
    if not (own and "dissipated_energy" in columns and _has_body(columns)):
        return math.nan
    return columns["dissipated_energy"] / _reference(columns, 1.0)


def _has_body(columns: _Table) -> bool:
    known = columns.keys()
    shaped = "radius" in known or {"profile_coefficient", "profile_exponent"} <= known
    return shaped and {*BODY, "youngs_modulus"} <= known


def _reference(columns: _Table, delta: Values | float) -> Values:
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


def _usable(points: Points) -> NDArray[np.bool_]:
    return positive(points.beta, points.energy) | positive(points.xi, points.xi_energy)


def _positive(option: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise SweepError(f"{option} has to be positive and finite, not {value!r}")
    return value


@dataclass(frozen=True)
class _Table(Mapping[str, Values]):
    """Columns of numbers; those of a file are converted when they are first used."""

    size: int
    columns: Mapping[str, Values | Sequence[str]]
    place: str  # path of the file or store
    lines: Sequence[int] = ()  # line number of each row
    _read: dict[str, Values] = field(default_factory=dict[str, Values], compare=False)

    def __getitem__(self, name: str) -> Values:
        """A column, NaN in empty cells; SweepError with the line of a cell that is not a number."""
        if name not in self._read:
            self._read[name] = self._numbers(name)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def named(self, name: str) -> Values:
        """A column that the user names; SweepError if there is none."""
        if name not in self:
            raise SweepError(f"{self.place!r} has no column {name!r}; {nearest(name, self)}")
        return self[name]

    def first(self, names: Sequence[str], option: str) -> str:
        """The first of these names that a column has; SweepError if none has."""
        found = next((name for name in names if name in self), None)
        if found is None:
            raise SweepError(
                f"{self.place!r} has none of the columns {listed(names)}: name one of "
                f"{listed(self)} with {option}"
            )
        return found

    def refuse(self, wrong: NDArray[np.bool_], name: str, why: str) -> None:
        """Raise SweepError with the line of the first wrong row, if there is one."""
        if wrong.any():
            k = int(np.argmax(wrong))
            line = f", line {self.lines[k]}" if self.lines else ""
            raise SweepError(f"{self.place!r}{line}: {name} = {self[name][k]:g} {why}")

    def _numbers(self, name: str) -> Values:
        texts = self.columns[name]
        if isinstance(texts, np.ndarray):
            return texts
        named = {each.name: float(each) for each in Status} if name == "status" else {}
        found = [named.get(text.strip(), _number(text)) for text in texts]
        for line, text, number in zip(self.lines, texts, found, strict=True):
            if number is None:
                comma = _number(text.replace(",", ".")) is not None
                hint = "; write decimals with a point: 0.5" if comma else ""
                raise SweepError(
                    f"{self.place!r}, line {line}: {name} = {shown(text)} is not a number{hint}"
                )
        return np.array(found, dtype=np.float64)


def _read_table(path: Path) -> _Table:
    """The columns of a CSV file, which commas, semicolons or tabs separate.

    Constants in its comments, or in those of NAME.csv.txt beside it, are columns too, as
    `sweep export` writes them. A column `status` may
    hold names. Columns NAME_name, which `sweep export` writes beside flags, are left out.
    """
    if not path.exists():
        raise SweepError(f"there is no file {str(path)!r}; name another, or a store")
    try:
        file = read_cells(path, SEPARATORS)
    except UnreadableError as error:
        raise SweepError(str(error)) from error
    if not file.rows:
        raise SweepError(f"{str(path)!r} has no points: write a line of names and a row per point")
    twice = [name for k, name in enumerate(file.header) if name in file.header[:k]]
    if twice:
        raise SweepError(f"{str(path)!r}: two columns are called {twice[0]!r}: rename one")
    for line, row in file.rows:
        if len(row) != len(file.header):
            raise SweepError(
                f"{str(path)!r}, line {line}: {len(row)} cells, but the header has "
                f"{len(file.header)}: give each row all cells, empty ones too"
            )
    lines, rows = zip(*file.rows, strict=True)
    cells = zip(file.header, zip(*rows, strict=True), strict=True)
    columns = {name: column for name, column in cells if not name.endswith("_name")}
    beside = path.with_name(f"{path.name}.txt")
    described = beside.read_text("utf-8").splitlines() if beside.is_file() else []
    for match in filter(None, map(CONSTANT.match, (*file.comments, *described))):
        if _number(match[2]) is not None:
            columns.setdefault(match[1], (match[2],) * len(rows))
    return _Table(len(rows), columns, str(path), lines)


def _number(text: str) -> float | None:
    try:
        return float(text) if text.strip() else math.nan
    except ValueError:
        return None
