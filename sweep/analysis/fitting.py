"""A master curve from a store, a Dataset, a CSV file or points: `sweep.fit`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.analysis import master_curve
from sweep.analysis.master_curve import Choices, MasterCurve, Points, from_dataset, load

if TYPE_CHECKING:
    import xarray as xr


def fit(
    source: str | Path | xr.Dataset | Points,
    variable: str = "xi",
    *,
    at: Mapping[str, float] | None = None,
    choices: Choices | None = None,
) -> MasterCurve:
    """Fit the master curve of a contact's energies over "xi" or "beta".

    `source` is a store, a CSV file, a Dataset or Points; of several values of `delta`, `phase` or
    `profile_exponent`, `at` chooses one (SI). Otherwise as `sweep.analysis.master_curve.fit`.
    """
    if isinstance(source, str | Path):
        points = load(source)
    else:
        points = source if isinstance(source, Points) else from_dataset(source)
    return master_curve.fit(points.at(at or {}), variable, choices)
