"""
Stick-slip on a belt
====================

A belt pulls a mass along until its spring tears it loose. The map shows the share of the time that
the mass sticks, over the speed of the belt and the decay of friction with the slip speed.
"""

import sweep

ds = sweep.run(
    "belt_wear",
    ["belt_speed = { linspace = [0.02, 1, 64] }", "friction_decay = { linspace = [0.1, 5, 48] }"],
    store="belt.zarr",
    progress=False,
)
sweep.plot(ds, "stuck", path="belt.png")

# %%
# The explorer of this sweep:

sweep.explore("belt.zarr", "belt.html")
