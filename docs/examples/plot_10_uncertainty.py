"""
Uncertainty bands
=================

The friction coefficient is uncertain: mean wear power, and the band between its quantiles of 5 %
and 95 %, over the acceleration. Points are reduced to these numbers where they are computed.
"""

import sweep

ds = sweep.run(
    "wear_uncertainty", ["sample.points = 4096"], store="uncertainty.zarr", progress=False
)
sweep.plot(ds, "wear_power_mean", path="uncertainty.png")

# %%
# The explorer of this sweep:

sweep.explore("uncertainty.zarr", "uncertainty.html")
