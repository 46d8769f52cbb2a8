"""
Contact loops with stick and slip
=================================

A rubbing contact over one cycle: which springs stick, slip or are out of contact, and the loop of
force over displacement, whose area is the dissipated energy.
"""

import sweep
from sweep.analysis.traces import plot_trace

motion = sweep.trace(
    {
        "model": "mdr_contact",
        "method": "time_stepping_2",
        "parameters": {"phase": "60 degree", "beta": 0.8, "delta": 0.6, "springs": 200},
        "axes": {},
    }
)
plot_trace(motion, "contact_loops.png")
