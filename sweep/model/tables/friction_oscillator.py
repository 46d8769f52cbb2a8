"""Mass rubbing on a shaken plane (Code_Aster SDND104), with spring, damper and vertical shaking.

The plane shakes with the acceleration a0 sin(ωt); y is the displacement relative to the plane.

    m ÿ = −c ẏ − k y − m a0 sin(ωt) + F,   |F| ≤ μ N(t),   F = −μ N sgn(ẏ) while slipping
    N(t) = m (g + a_v sin(ωt + φ)),        y(0) = ẏ(0) = 0, stuck

During stick, friction supplies F = k y + m a0 sin(ωt); the mass slips when |F| exceeds μN.

Methods `euler`, `devogelaere`, `adapt_ordre2`, `rk54` and `rk32` are the schemes of Code_Aster with
its penalised friction law: during stick, the contact is a spring K_T and a damper C_T,
F = F0 − K_T (y − y0) − C_T ẏ, until |F| exceeds μN. The wear power is the trapezoidal mean of N|ẏ|
over the steps that begin in slip. The penalty briefly holds the mass at every reversal. Therefore
an interval counts as stick only if, at both of its ends, the mass is stuck and friction could also
hold it without the penalty: |k y + m a0 sin(ωt)| ≤ μN. With a finite tolerance, a scheme controls
its own step length; with several blocks it then runs twice, because the number of samples must be
known in advance. These methods also take a table of the base acceleration over time in place of
a0 sin(ωt), without vertical shaking; the trace then has no base velocity. `moreau` has neither a
penalty nor a stability limit.

All outputs refer to the window [window_start, window_end]. Wear power (Archard; PUIS_USURE in
Code_Aster) is the mean of N|ẏ|, without μ; friction power is the mean of μN|ẏ|.
"""

from __future__ import annotations

import math

from sweep.model.table import (
    Excitation,
    Method,
    Model,
    Observable,
    Output,
    Parameter,
    Relation,
    Substitute,
    Variant,
    sentences,
)
from sweep.model.windows import IN_CYCLES, IN_TIME, RELATIONS

COMMON = (
    Parameter(name="mass", symbol="m", unit="kg", minimum=0, open_minimum=True,
              meaning="mass of the rubbing body"),
    Parameter(name="gravity", symbol="g", unit="m/s^2", minimum=0, open_minimum=True,
              meaning="acceleration that presses the mass onto the plane"),
    Parameter(name="friction", symbol="mu", unit="1", minimum=0,
              meaning="Coulomb friction coefficient"),
    Parameter(name="stiffness", symbol="k", unit="N/m", minimum=0, default=0.0, neutral=True,
              meaning="stiffness of the spring between mass and plane"),
    Parameter(name="damping", symbol="c", unit="N s/m", minimum=0, default=0.0, neutral=True,
              meaning="viscous damping between mass and plane"),
    Parameter(name="base_acceleration", symbol="a0", unit="m/s^2", minimum=0,
              meaning="amplitude of the plane's acceleration"),
    Parameter(name="angular_frequency", symbol="omega", unit="rad/s", minimum=0, open_minimum=True,
              meaning="angular frequency of the shaking"),
    Parameter(name="vertical_acceleration", symbol="a_v", unit="m/s^2", minimum=0, default=0.0,
              neutral=True, meaning="amplitude of the vertical shaking; must stay below gravity"),
    Parameter(name="phase", symbol="phi", unit="rad", minimum=-1e9, maximum=1e9, default=0.0,
              neutral=True, meaning="phase of the normal load relative to the base motion"),
)  # fmt: skip

NORMAL_FORCE = Substitute(
    parameters=(
        Parameter(name="normal_force", symbol="N", unit="N", minimum=0, open_minimum=True,
                  meaning="mean force that presses the mass onto the plane"),
    ),
    derived={"gravity": "normal_force/mass"},
)  # fmt: skip

WINDOW = IN_TIME.parameter_set(
    "seconds",
    symbols=("t0", "t1"),
    meanings=(
        "start of the window over which outputs are computed",
        "end of the window; must be after its start",
    ),
)
CYCLES = IN_CYCLES.parameter_set(
    "cycles",
    symbols=("n0", "n1"),
    meanings=(
        "start of the window, in periods of the shaking",
        "end of the window, in periods of the shaking; must be after its start",
    ),
)

OUTPUTS = (
    Output(name="wear_power", unit="W", long_name="mean of N|v| over the window"),
    Output(name="friction_power", unit="W", long_name="mean of mu N|v| over the window"),
    Output(name="slip_distance", unit="m", long_name="distance slipped in the window"),
    Output(name="stick_fraction", unit="1", long_name="share of the window spent stuck"),
    Output(name="slip_phases", unit="1", kind="count",
           long_name="number of slips that begin in the window (a reversal begins a new slip)"),
    Output(name="peak_slip_speed", unit="m/s", long_name="greatest slip speed in the window"),
    Output(name="regime", unit="1", kind="flag", flags=("stick", "stick_slip", "slip_slip"),
           long_name="motion in the window: stick only, stick and slip, or slip only"),
)  # fmt: skip

OBSERVABLES = (
    Observable(name="displacement", unit="m",
               long_name="displacement of the mass relative to the plane"),
    Observable(name="velocity", unit="m/s",
               long_name="velocity of the mass relative to the plane"),
    Observable(name="friction_force", unit="N", long_name="friction force of the plane on the "
               "mass"),
    Observable(name="normal_force", unit="N", long_name="normal force of the plane on the mass"),
    Observable(name="base_velocity", unit="m/s", long_name="velocity of the plane, with mean 0"),
    Observable(name="wear_rate", unit="W", long_name="momentary wear power N|v|"),
    Observable(name="stuck", unit="1", long_name="whether the mass is stuck",
               flags=("slipping", "stuck")),
)  # fmt: skip

NO_SPRING = Variant(name="no_spring", parameters=("stiffness",), value=0.0)
NO_DAMPING = Variant(name="no_damping", parameters=("damping",), value=0.0)
NO_SHAKING = Variant(name="no_shaking", parameters=("vertical_acceleration",), value=0.0)
SHARED_CLOCK = Variant(
    name="shared_clock",
    parameters=("angular_frequency", "step", "window_start", "start_cycle"),
)
CONSTANT_STEP = Variant(name="constant_step", parameters=("tolerance",), value=math.inf)
STEPPING_VARIANTS = (NO_SPRING, NO_DAMPING, NO_SHAKING, SHARED_CLOCK)

# Roughly periods, times the share of each that is slip, times the pieces of a slip (sprung_slip.h).
# The reciprocal, so that dear points come first: lanes of a CPU that are done take the next points.
EXACT_COST = tuple(
    f"1/({periods}*max(1.5 - friction*gravity/base_acceleration, 0.1)"
    "*max(1, sqrt(stiffness/mass)/angular_frequency, damping/(mass*angular_frequency)))"
    for periods in ("angular_frequency*window_end", "end_cycle")
)

EXACT = Method(
    name="exact", revision=3,
    summary="event-driven closed form, exact to rounding; no step size",
    variants=(NO_SPRING, NO_DAMPING, NO_SHAKING),
    pack=3, registers=88,
    kinds=("stiffness == 0", "damping == 0", "vertical_acceleration == 0"),
    cost=EXACT_COST,
    traced=True,
)  # fmt: skip

STEP = Parameter(
    name="step", symbol="h", unit="s", minimum=0, open_minimum=True,
    meaning="time step; at most a tenth of the period unless the mass never slips. With step-size "
    "control: the first step",
)  # fmt: skip
CONTACT = (
    STEP,
    Parameter(name="tangential_stiffness", symbol="K_T", unit="N/m", minimum=0, open_minimum=True,
              meaning="penalty stiffness of the contact during stick"),
    Parameter(name="tangential_damping", symbol="C_T", unit="N s/m", minimum=0, default=math.nan,
              derived="critical: 2 sqrt(m (k + K_T))",
              meaning="penalty damping of the contact during stick"),
)  # fmt: skip
LIMITS = (
    Parameter(name="maximum_step", symbol="h_max", unit="s", minimum=0, open_minimum=True,
              default=1e-4, meaning="longest step with step-size control, further limited to 1/50 "
              "of a period; it bounds the error, because slips begin and end within steps"),
    Parameter(name="blocks", symbol="B", unit="1", minimum=1, maximum=1e6, whole=True, default=1,
              meaning="number of blocks of samples whose mean powers are averaged, without the "
              "intervals between blocks; 1: the mean over time. Code_Aster prints the mean of 8 "
              "blocks, which can differ by several percent if the step length changes. With "
              "step-size control, more than 1 block computes the motion twice, to count samples"),
    Parameter(name="maximum_steps", symbol="n_max", unit="1", minimum=1, maximum=1e15, whole=True,
              default=1e9, meaning="largest number of attempted steps from the start of the "
              "motion, in each run if blocks and step-size control require two runs"),
)  # fmt: skip


def _tolerance(default: float, maximum: float, minimum: float = 0.0) -> Parameter:
    """A tolerance with a maximum: above it, errors would be arbitrary despite the control."""
    return Parameter(
        name="tolerance", symbol="eps", unit="1", minimum=minimum, open_minimum=minimum == 0,
        maximum=maximum, infinite=True, default=default,
        meaning="tolerance of step-size control: for rk54 and rk32 the relative error per step, "
        "for adapt_ordre2 the step in units of 1/50 of the apparent period (Code_Aster uses 1; "
        "above 16 it is unstable). inf: constant step, the only choice for euler and devogelaere",
    )  # fmt: skip


CONSTANT = _tolerance(math.inf, math.inf, minimum=math.inf)
SAME_PERIOD = _tolerance(math.inf, 10.0)
RELATIVE = _tolerance(1e-6, 0.1)


STEPS = ("window_end/step", "end_cycle/(angular_frequency*step)")  # by parameter set


def _scheme(
    name: str, summary: str, tolerance: Parameter, pack: int, registers: int | None = None
) -> Method:
    """A scheme with the penalised law."""
    controlled = () if tolerance is CONSTANT else (CONSTANT_STEP,)
    return Method(
        name=name, summary=summary, revision=1,
        parameters=(*CONTACT, tolerance, *LIMITS),
        variants=(*STEPPING_VARIANTS, *controlled),
        pack=pack, registers=registers,
        cost=STEPS,
        traced=True,
    )  # fmt: skip


SCHEMES = (
    _scheme("euler", "penalised law, symplectic Euler (order 1)", CONSTANT, 3, registers=88),
    _scheme(
        "devogelaere",
        "penalised law, De Vogelaere (order 4; 3 with damping)",
        CONSTANT,
        3,
        registers=112,
    ),
    _scheme("adapt_ordre2", "penalised law, central differences (order 2)", SAME_PERIOD, 2),
    _scheme("rk54", "penalised law, Dormand-Prince 5(4) (order 5)", RELATIVE, 3, registers=120),
    _scheme("rk32", "penalised law, Bogacki-Shampine 3(2) (order 3)", RELATIVE, 2),
)
MOREAU = Method(
    name="moreau", revision=1,
    summary="Moreau-Jean time stepping: friction as an implicit impulse; no penalty, no stability "
    "limit",
    parameters=(STEP,),
    variants=STEPPING_VARIANTS,
    pack=3, registers=64,
    cost=STEPS,
    traced=True,
)  # fmt: skip

MODEL = Model(
    name="friction_oscillator",
    title="mass rubbing on a shaken plane",
    source="Code_Aster V5.01.104 (SDND104)",
    parameters=COMMON,
    parameter_sets=(WINDOW, CYCLES),
    outputs=OUTPUTS,
    methods=(EXACT, *SCHEMES, MOREAU),
    observables=OBSERVABLES,
    loop=("displacement", "friction_force"),
    substitutes=(NORMAL_FORCE,),
    excitation=Excitation(
        parameter="base_acceleration",
        methods=(*(each.name for each in SCHEMES), MOREAU.name),
        parameter_set=WINDOW.name,
        end=IN_TIME.end,
        kernel={
            "base_acceleration": 1.0,
            "angular_frequency": 0.0,
            "vertical_acceleration": 0.0,
            "phase": 0.0,
        },
        header="models/friction_oscillator/tabulated.h",
    ),
    relations=(
        *RELATIONS,
        Relation(lesser="vertical_acceleration", greater="gravity", reason="the mass lifts off"),
    ),
    sentences=sentences(
        not_converged="more than maximum_steps steps (1e9 for moreau): raise that limit, "
        "use longer steps or a looser tolerance, or shorten the run. With method exact: more stick "
        "and slip phases than the motion can have; please report the parameters of this point",
        diverged="the step exceeds the scheme's stability limit during stick or during "
        "slip on the spring (see sweep.theory.stability): use a shorter step, a softer "
        "tangential_stiffness, another scheme, or a finite tolerance if the scheme has one. Or "
        "numbers overflow or underflow: choose parameters that are closer in magnitude",
        outside_validity="the mass lifts off (vertical_acceleration must be below "
        "gravity); the window is empty (its end must be after its start) or ends after more than "
        "1e9 cycles (with time stepping: after a phase of 1e9); spring or damper is too strong "
        "(k/m above 1e12 ω², c/m above 1e12 ω); there are more blocks than half the samples; a "
        "constant step exceeds a tenth of the period although the mass slips; or a table of "
        "base_acceleration ends before window_end",
    ),
)
