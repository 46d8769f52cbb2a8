"""Master curves of the energies of rubbing contacts: collapsed, fitted, written to files, drawn.

points = load("results/hanisch_fig3.zarr").at({"delta": 1e-4})
curve = fit(points, "xi")            # W̄δ over ξ = β/δ; "beta": W̄ over β
curve([0.5, 2.0]), curve.error.greatest
write(curve, Path("fits"))           # coefficients as JSON, a function as Python
"""

from sweep.analysis.master_curve.choosing import METHODS
from sweep.analysis.master_curve.fit_files import as_json, python_text, write
from sweep.analysis.master_curve.fitting import (
    VARIABLES,
    Choices,
    Distance,
    MasterCurve,
    Piece,
    distance,
    fit,
)
from sweep.analysis.master_curve.points import UNITS, Points, Reading, from_dataset, load, read_csv
from sweep.analysis.master_curve.rational import Barycentric, Degrees, Quotient

__all__ = [
    "METHODS",
    "UNITS",
    "VARIABLES",
    "Barycentric",
    "Choices",
    "Degrees",
    "Distance",
    "MasterCurve",
    "Piece",
    "Points",
    "Quotient",
    "Reading",
    "as_json",
    "distance",
    "fit",
    "from_dataset",
    "load",
    "python_text",
    "read_csv",
    "write",
]
