"""
Universal surface
=================

The energy of a contact in the limit of small normal amplitudes, over friction (β) and phase: a
surface in closed form (lines), which also holds between the regions of Hanisch, Richter, Li 2020.
The circles are exact energies at a normal amplitude of δ = 0.001.
"""

import numpy as np
from matplotlib.figure import Figure

import sweep
from sweep.theory.mdr_contact import universal_surface

ds = sweep.run(
    "master_surface",
    [
        "delta = 1e-3",
        "beta = { geomspace = [1e-2, 1e2, 41] }",
        "phase = { linspace = ['15 degree', '90 degree', 6] }",
    ],
    store="universal_surface.zarr",
    progress=False,
)
beta = np.geomspace(1e-2, 1e2, 200)
figure = Figure()
axes = figure.subplots()
for phase in ds.phase.values:
    (line,) = axes.loglog(beta, universal_surface(beta, phase), label=f"{np.degrees(phase):.0f}°")
    exact = ds.normalized_energy.sel(phase=phase)
    axes.plot(ds.beta, exact, "o", markersize=3, color=line.get_color())
axes.set(xlabel="β", ylabel="normalized energy", title="For phases from 15° to 90°")
axes.legend()
figure.savefig("universal_surface.png")

# %%
# The explorer of this sweep:

sweep.explore("universal_surface.zarr", "universal_surface.html")
