"""Master curves of the energies of rubbing contacts: collapsed, fitted, written to files, drawn.

points = load("results/hanisch_fig3.zarr").at({"delta": 1e-4})
curve = fit(points, "xi")            # W̄δ over ξ = β/δ; "beta": W̄ over β
curve([0.5, 2.0]), curve.error.greatest
write(curve, Path("fits"))           # coefficients as JSON, a function as Python
"""

from sweep.fits.curve import Choices as Choices
from sweep.fits.curve import Degrees as Degrees
from sweep.fits.curve import Distance as Distance
from sweep.fits.curve import MasterCurve as MasterCurve
from sweep.fits.curve import Piece as Piece
from sweep.fits.curve import Quotient as Quotient
from sweep.fits.curve import distance as distance
from sweep.fits.files import as_json as as_json
from sweep.fits.files import write as write
from sweep.fits.fit import fit as fit
from sweep.fits.points import VARIABLES as VARIABLES
from sweep.fits.points import ContactEnergies as ContactEnergies
from sweep.fits.points import Reading as Reading
from sweep.fits.points import from_dataset as from_dataset
from sweep.fits.points import load as load
from sweep.fits.points import read_csv as read_csv
