"""
Bifurcation map
===============

The last maxima of the displacement of a pressure relief valve whose body hits its seat. The model
is a text file.
"""

import sweep

ds = sweep.run(
    "relief_valve_map",
    ["flow = { linspace = [0.5, 9, 300] }"],
    store="bifurcation_map.zarr",
    progress=False,
)
sweep.plot(ds, "maxima", path="bifurcation_map.png")

# %%
# The explorer of this sweep:

sweep.explore("bifurcation_map.zarr", "bifurcation_map.html")
