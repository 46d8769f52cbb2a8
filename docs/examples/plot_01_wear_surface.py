"""
Wear surface
============

How much does a mass rub on a shaken plane? 524,288 exact wear powers, over the friction coefficient
and the acceleration of the plane. Below the lower line, friction holds the mass; above the upper
line, it never sticks.
"""

import sweep

ds = sweep.run("wear_power", store="wear_surface.zarr", progress=False)
sweep.plot(ds, "wear_power", path="wear_surface.png")

# %%
# The explorer of this sweep:

sweep.explore("wear_surface.zarr", "wear_surface.html")
