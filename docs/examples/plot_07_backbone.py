"""
Frequency–energy curves
=======================

A mass on a spring that meets an elastic stop: the harder it hits, the higher its frequency. Below
the energy at which it grazes the stop, it is a linear oscillator with one frequency.
"""

import sweep
from sweep.pictures.backbone import plot_backbone

ds = sweep.run(
    "backbone",
    ["wall_stiffness = { values = [5, 50, 500, 5000] }", "gap = 0.01"],
    store="backbone.zarr",
    progress=False,
)
plot_backbone(ds, "backbone.png", per="wall_stiffness")

# %%
# The explorer of this sweep:

sweep.explore("backbone.zarr", "backbone.html")
