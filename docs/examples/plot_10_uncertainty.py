"""
Uncertainty bands
=================

The friction coefficient is uncertain. The picture shows the mean wear power and the band between
its 5 % and 95 % quantiles over the acceleration. Points are reduced to these statistics as they are
computed, and never stored.
"""

import sweep

ds = sweep.run(
    "wear_uncertainty", ["sample.points = 4096"], store="uncertainty.zarr", progress=False
)
sweep.plot(ds, "wear_power_mean", path="uncertainty.png")

# %%
# The explorer of this sweep:

sweep.explore("uncertainty.zarr", "uncertainty.html")
