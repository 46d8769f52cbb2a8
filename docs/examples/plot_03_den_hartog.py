"""
Den Hartog's resonance
======================

A mass on a spring with dry friction is shaken through its resonance. Below a friction
coefficient of π a₀/(4 g) = 0.32, friction cannot bound the response there: it still grows in the
110th cycle. Above, the response is bounded; with more friction, the mass hardly slips.
"""

import sweep

ds = sweep.run(
    "den_hartog",
    ["friction = { linspace = [0.1, 0.45, 8] }"],
    store="den_hartog.zarr",
    progress=False,
)
sweep.plot(ds, "peak_slip_speed", x="angular_frequency", hue="friction", path="den_hartog.png")

# %%
# The explorer of this sweep:

sweep.explore("den_hartog.zarr", "den_hartog.html")
