"""
Errors of a time step
=====================

The relative error of Euler's scheme with Code_Aster's penalized friction law, against the exact
method. Where the mass barely slips, and where it just stops sticking, the error comes from the
penalized law itself and hardly decreases with the step.
"""

import sweep

ds = sweep.run(
    "step_size",
    ["base_acceleration = { linspace = [1.02, 15, 96] }"],
    store="step_size_errors.zarr",
    progress=False,
)
sweep.plot(ds, "wear_power", path="step_size_errors.png", against="exact")

# %%
# The explorer of this sweep:

sweep.explore("step_size_errors.zarr", "step_size_errors.html")
