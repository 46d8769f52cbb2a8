"""A block that slides to rest on a plane.

v' = −μ g   until v = 0:   it stops after the time v₀/(μ g) and the distance v₀²/(2 μ g)
"""

from __future__ import annotations

from sweep.spec import Method, Model, Observable, Output, Parameter, ParameterSet, Status

MODEL = Model(
    name="sliding_block",
    title="block that slides to rest",
    source="closed form",
    parameters=(
        Parameter(name="friction", symbol="mu", unit="1", minimum=0, open_minimum=True,
                  meaning="friction coefficient"),
        Parameter(name="gravity", symbol="g", unit="m/s^2", minimum=0, open_minimum=True,
                  default=9.81, meaning="acceleration of gravity"),
    ),
    parameter_sets=(
        ParameterSet(name="by_speed", parameters=(
            Parameter(name="initial_speed", symbol="v0", unit="m/s", minimum=0,
                      meaning="speed at the start"),
        )),
    ),
    outputs=(
        Output(name="stopping_time", unit="s", long_name="time until the block rests"),
        Output(name="stopping_distance", unit="m", long_name="distance until the block rests"),
    ),
    observables=(Observable(name="speed", unit="m/s", long_name="speed of the block"),),
    methods=(
        Method(name="exact", revision=1, summary="closed form", traced=True),
    ),
    sentences={
        Status.ok: "computed",
        Status.not_converged: "does not occur",
        Status.diverged: "does not occur",
        Status.outside_validity: "a parameter is out of range",
        Status.failed: "the worker failed; run again with `retry_failed`",
        Status.pending: "not computed yet; run the sweep again to resume",
    },
)  # fmt: skip
