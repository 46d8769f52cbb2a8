"""
Refined borders
===============

Only cells in which the regime changes are halved, level by level. The borders are as fine as on a
grid with 32 times as many points.
"""

import sweep

ds = sweep.run("wear_power_refined", store="refined.zarr", progress=False)
print(ds.sizes)
sweep.plot(ds, "regime", path="refined.png")

# %%
# The explorer of this sweep:

sweep.explore("refined.zarr", "refined.html")
