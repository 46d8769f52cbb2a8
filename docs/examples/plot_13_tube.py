"""
A tube in a turbulent flow
==========================

A steam-generator tube rattles in its supports for forty years. Gaps, friction, turbulence and the
wear coefficient are uncertain; each tube has its own realisation of the turbulence. The picture
shows the median depth of the scar at each support and the band from 5 % to 95 % of the tubes.
"""

import sweep

ds = sweep.run("tube_wear", ["sample.points = 512"], store="tube.zarr", progress=False)
sweep.plot(ds, col="support", path="tube.png")

# %%
# The explorer has the motion at each support, for the first tubes of the sample:

sweep.explore("tube.zarr", "tube.html")
