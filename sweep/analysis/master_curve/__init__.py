"""Master curves of the energies of rubbing contacts: collapsed, fitted, written to files, drawn.

points = load("results/hanisch_fig3.zarr").at({"delta": 1e-4})
curve = fit(points, "xi")            # W̄δ over ξ = β/δ; "beta": W̄ over β
curve([0.5, 2.0]), curve.error.greatest
write(curve, Path("fits"))           # coefficients as JSON, a function as Python
"""

from sweep.analysis.master_curve.curve import Choices as Choices
from sweep.analysis.master_curve.curve import Degrees as Degrees
from sweep.analysis.master_curve.curve import Distance as Distance
from sweep.analysis.master_curve.curve import MasterCurve as MasterCurve
from sweep.analysis.master_curve.curve import Piece as Piece
from sweep.analysis.master_curve.curve import Quotient as Quotient
from sweep.analysis.master_curve.curve import distance as distance
from sweep.analysis.master_curve.files import as_json as as_json
from sweep.analysis.master_curve.files import write as write
from sweep.analysis.master_curve.fit import fit as fit
from sweep.analysis.master_curve.points import VARIABLES as VARIABLES
from sweep.analysis.master_curve.points import ContactEnergies as ContactEnergies
from sweep.analysis.master_curve.points import Reading as Reading
from sweep.analysis.master_curve.points import from_dataset as from_dataset
from sweep.analysis.master_curve.points import load as load
from sweep.analysis.master_curve.points import read_csv as read_csv
