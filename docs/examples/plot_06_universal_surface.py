"""
Universal surface
=================

The energy of a contact in the limit of small normal amplitudes, over friction (β) and phase: a
surface in closed form, which also holds between the regions of Hanisch, Richter, Li 2020.
"""

import numpy as np
from matplotlib.figure import Figure

from sweep.theory.mdr_contact import universal_surface

beta = np.geomspace(1e-2, 1e2, 200)
figure = Figure()
axes = figure.subplots()
for degrees in (15, 30, 45, 60, 75, 90):
    axes.loglog(beta, universal_surface(beta, np.radians(degrees)), label=f"{degrees}°")
axes.set(xlabel="β", ylabel="normalized energy", title="For phases from 15° to 90°")
axes.legend()
figure.savefig("universal_surface.png")

# %%
# The explorer of this sweep:

from sweep.explore import explore

explore("master_surface", "universal_surface.html")
