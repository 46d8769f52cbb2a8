"""
Wear surface
============

How much a mass rubs on a shaken plane, over the friction coefficient and the acceleration of the
plane: 524,288 exact wear powers. Below the lower line, friction holds the mass; above the upper
line, it slips without rest.
"""

import sweep

ds = sweep.run("wear_power", store="wear_surface.zarr", progress=False)
sweep.plot(ds, "wear_power", path="wear_surface.png")

# %%
# The explorer of this sweep:

sweep.explore("wear_surface.zarr", "wear_surface.html")
