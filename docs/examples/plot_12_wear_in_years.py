"""
Wear in years
=============

From wear powers to the depth of the scar on a tube that rubs on a flat bar, over ten years, and
the time until a limit is reached.
"""

import sweep

ds = sweep.run(
    "wear_power",
    ["mass = '1 g'", "friction = 0.1", "base_acceleration = { linspace = [1, 15, 64] }"],
    store=None, progress=False,
)  # fmt: skip
worn = sweep.wear(
    ds,
    law="archard",
    coefficient="1.2e-13 1/Pa",
    years=[1, 2, 5, 10],
    geometry="tube_flat",
    radius="11 mm",
    length="30 mm",
    limit="0.4 mm",
)
sweep.plot(worn, "wear_depth", "depth.png")
sweep.plot(worn, "time_to_limit", "time_to_limit.png")

# %%
# The explorer of this sweep:

from sweep.explore import explore

explore("wear_power", "wear_in_years.html")
