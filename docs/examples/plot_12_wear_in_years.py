"""
Wear in years
=============

A tube rubs on a flat bar for ten years: the depth of its scar, computed from the wear power, and
the time until the depth reaches a limit.
"""

import sweep

ds = sweep.run(
    "wear_power",
    [
        "mass = '1 g'",
        "friction = 0.1",
        "base_acceleration = { linspace = [1, 15, 64] }",
        "wear.law = 'archard'",
        "wear.coefficient = '1.2e-13 1/Pa'",
        "wear.years = [1, 2, 5, 10]",
        "wear.geometry = 'tube_flat'",
        "wear.radius = '11 mm'",
        "wear.length = '30 mm'",
        "wear.limit = '0.4 mm'",
    ],
    store="tube.zarr",
    progress=False,
)  # the wear over the years is also in tube_wear.zarr
sweep.plot(ds, "wear_depth", path="depth.png")
sweep.plot(ds, "time_to_limit", path="time_to_limit.png")

# %%
# The explorer of this wear:

sweep.explore("tube_wear.zarr", "wear_in_years.html")
