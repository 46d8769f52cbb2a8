"""Master curves of the energies of rubbing contacts: collapsed, fitted, written to files, drawn.

points = load("results/hanisch_fig3.zarr").at({"delta": 1e-4})
curve = fit(points, "xi")            # W̄δ over ξ = β/δ; "beta": W̄ over β
curve([0.5, 2.0]), curve.error.greatest
write(curve, Path("fits"))           # coefficients as JSON, a function as Python
"""

from sweep.analysis.master_curve.curve import Choices, Distance, MasterCurve, Piece, distance
from sweep.analysis.master_curve.fit import fit
from sweep.analysis.master_curve.points import (
    UNITS,
    VARIABLES,
    ContactEnergies,
    Reading,
    from_dataset,
    load,
    read_csv,
)
from sweep.analysis.master_curve.solve import Degrees, Quotient
from sweep.analysis.master_curve.write import as_json, write

__all__ = [
    "UNITS", "VARIABLES", "Choices", "ContactEnergies", "Degrees", "Distance", "MasterCurve",
    "Piece", "Quotient", "Reading", "as_json", "distance", "fit", "from_dataset", "load",
    "read_csv", "write",
]  # fmt: skip
