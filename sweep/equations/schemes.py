"""The schemes by which models from files are stepped in time: a row for each.

The header `kernels/systems/NAME.h` of a scheme has its struct; its head describes the method.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sweep.model.table import Parameter

MAXIMUM_EVENTS = Parameter(
    name="maximum_events", symbol="E", unit="1", minimum=1, maximum=1e15, whole=True, default=1e6,
    meaning="events that change the motion after which a point counts as chattering",
)  # fmt: skip

CONSTANT_STEPS = (
    Parameter(name="step", symbol="h", unit="s", minimum=0, open_minimum=True,
              meaning="length of the steps"),
    MAXIMUM_EVENTS,
)  # fmt: skip

CHOSEN_STEPS = (
    Parameter(name="relative_tolerance", symbol="rtol", unit="1", minimum=1e-15, maximum=0.1,
              default=1e-6, meaning="tolerated error of a step in each state, as a share of its "
              "scale plus its magnitude"),
    Parameter(name="maximum_step", symbol="h_max", unit="s", minimum=0, open_minimum=True,
              infinite=True, default=math.inf, meaning="longest step"),
    Parameter(name="maximum_steps", symbol="N_max", unit="1", minimum=1, maximum=1e15, whole=True,
              default=1e9, meaning="steps after which a point counts as not converged"),
    MAXIMUM_EVENTS,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """What there is to know of a scheme, whatever the model."""

    name: str  # of the method, of its header and, with a capital letter, of its struct
    summary: str
    controls: tuple[Parameter, ...]
    # Vectors of points that a processor computes at a time, without and with something to look for
    # inside steps: the fastest for most models.
    packs: tuple[int, int]
    # Most registers of a GPU's thread, without and with relations in derivatives. On a full H200,
    # 128 are 1.2 to 1.3 times as fast as 255 with them; without, 168 are up to 1.2 times as fast
    # and slow no small sweep down.
    registers: tuple[int, int] | None = (168, 128)
    max_states: float = math.inf  # of a model that offers it
    jacobian: bool = False  # its steps take the partial derivatives of the rates

    @property
    def has_constant_steps(self) -> bool:
        """Whether the lengths of its steps are given; waves then turn evenly between them."""
        return self.controls == CONSTANT_STEPS


# In the order of a model's methods, of which the first is the default.
ROWS = (
    Scheme(
        name="rk54",
        summary="Dormand-Prince, order 5, with chosen steps and events located on the dense motion",
        controls=CHOSEN_STEPS,
        packs=(3, 2),
    ),
    Scheme(
        name="rk4",
        summary="classical Runge-Kutta, order 4, with constant steps",
        controls=CONSTANT_STEPS,
        packs=(3, 2),
    ),
    Scheme(
        name="dop853",
        summary="Dormand-Prince, order 8, with chosen steps: for tight tolerances",
        controls=CHOSEN_STEPS,
        packs=(2, 2),
        registers=None,  # it needs the most; fewer were not measured
    ),
    Scheme(
        name="rodas4",
        summary="Rosenbrock, order 4, with chosen steps: for stiff systems",
        controls=CHOSEN_STEPS,
        packs=(2, 2),
        max_states=32,  # it keeps a matrix of their number squared
        jacobian=True,
    ),
)
SCHEMES: Mapping[str, Scheme] = {row.name: row for row in ROWS}
# Constant steps come first: an unknown method of a test is checked as if it were the first.
CONTROLS = {
    scheme.name: tuple(control.name for control in scheme.controls)
    for scheme in sorted(SCHEMES.values(), key=lambda scheme: not scheme.has_constant_steps)
}
