"""
Contact loops with stick and slip
=================================

A rubbing contact over one cycle: which springs stick, slip or are out of contact, and the loop of
force over displacement, whose area is the dissipated energy.
"""

import sweep
from sweep.pictures.traces import plot_trace

sweep.run(
    {
        "model": "mdr_contact",
        "method": "time_stepping_2",
        "parameters": {"phase": "60 degree", "springs": 200},
        "axes": {
            "beta": {"geomspace": [0.1, 10, 81]},
            "delta": {"linspace": [0.1, 1.5, 57]},
        },
    },
    store="contact_loops.zarr",
    progress=False,
)
motion = sweep.trace("contact_loops.zarr", {"beta": 0.8, "delta": 0.6})
plot_trace(motion, "contact_loops.png")

# %%
# The explorer of this sweep:

sweep.explore("contact_loops.zarr", "contact_loops.html")
