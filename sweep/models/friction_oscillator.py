"""Mass rubbing on a shaken plane (Code_Aster SDND104), with spring, damper, vertical shaking.

The plane shakes with the acceleration a0 sin(ωt); y is the displacement relative to it.

    m ÿ = −c ẏ − k y − m a0 sin(ωt) + F,   |F| ≤ μ N(t),   F = −μ N sgn(ẏ) while slipping
    N(t) = m (g + a_v sin(ωt + φ)),        y(0) = ẏ(0) = 0, stuck

While stuck the plane supplies F = k y + m a0 sin(ωt); the mass slips when that exceeds μN.
All outputs are over the window [window_start, window_end]. Wear power (Archard; Code_Aster's
PUIS_USURE) is the mean of N|ẏ| and has no μ; friction power is the mean of μN|ẏ|.
"""

from __future__ import annotations

from sweep.spec import (
    Method,
    Model,
    Output,
    Parameter,
    ParameterSet,
    Relation,
    Status,
    Variant,
)

COMMON = (
    Parameter(name="mass", symbol="m", unit="kg", minimum=0, open_minimum=True,
              meaning="mass of the rubbing body"),
    Parameter(name="gravity", symbol="g", unit="m/s^2", minimum=0, open_minimum=True,
              meaning="acceleration that presses the mass on the plane"),
    Parameter(name="friction", symbol="mu", unit="1", minimum=0,
              meaning="Coulomb friction coefficient"),
    Parameter(name="stiffness", symbol="k", unit="N/m", minimum=0, default=0.0, neutral=True,
              meaning="spring between mass and plane"),
    Parameter(name="damping", symbol="c", unit="N s/m", minimum=0, default=0.0, neutral=True,
              meaning="viscous damper between mass and plane"),
    Parameter(name="base_acceleration", symbol="a0", unit="m/s^2", minimum=0,
              meaning="amplitude of the plane's acceleration"),
    Parameter(name="angular_frequency", symbol="omega", unit="rad/s", minimum=0, open_minimum=True,
              meaning="angular frequency of the shaking"),
    Parameter(name="vertical_acceleration", symbol="a_v", unit="m/s^2", minimum=0, default=0.0,
              neutral=True, meaning="amplitude of the vertical shaking; must stay below gravity"),
    Parameter(name="phase", symbol="phi", unit="rad", minimum=-1e9, maximum=1e9, default=0.0,
              neutral=True, meaning="phase of the normal load against the base motion"),
)  # fmt: skip

WINDOW = ParameterSet(name="seconds", parameters=(
    Parameter(name="window_start", symbol="t0", unit="s", minimum=0,
              meaning="start of the window that outputs are taken over"),
    Parameter(name="window_end", symbol="t1", unit="s", minimum=0, open_minimum=True,
              meaning="end of the window; must come after its start"),
))  # fmt: skip

CYCLES = ParameterSet(name="cycles", parameters=(
    Parameter(name="start_cycle", symbol="n0", unit="1", minimum=0,
              meaning="start of the window, in periods of the shaking"),
    Parameter(name="end_cycle", symbol="n1", unit="1", minimum=0, open_minimum=True,
              meaning="end of the window, in periods of the shaking; must come after its start"),
))  # fmt: skip

OUTPUTS = (
    Output(name="wear_power", unit="W", long_name="mean of N|v| over the window"),
    Output(name="friction_power", unit="W", long_name="mean of mu N|v| over the window"),
    Output(name="slip_distance", unit="m", long_name="distance slipped in the window"),
    Output(name="stick_fraction", unit="1", long_name="share of the window spent stuck"),
    Output(name="slip_phases", unit="1", kind="count",
           long_name="slips that begin in the window (a reversal begins a new one)"),
    Output(name="peak_slip_speed", unit="m/s", long_name="greatest slip speed in the window"),
    Output(name="regime", unit="1", kind="flag", flags=("stick", "stick_slip", "slip_slip"),
           long_name="whether the mass is ever stuck, ever slips, in the window"),
)  # fmt: skip

EXACT = Method(
    name="exact", kind="kernel", revision=1,
    summary="event-driven closed-form flow, exact to rounding; no step size",
    variants=(
        Variant(name="no_spring", parameter="stiffness", value=0.0),
        Variant(name="no_damping", parameter="damping", value=0.0),
        Variant(name="no_shaking", parameter="vertical_acceleration", value=0.0),
    ),
    pack=3,
)  # fmt: skip

MODEL = Model(
    name="friction_oscillator",
    title="wear power of a mass rubbing on a shaken plane",
    source="Code_Aster V5.01.104 (SDND104)",
    parameters=COMMON,
    parameter_sets=(WINDOW, CYCLES),
    outputs=OUTPUTS,
    methods=(EXACT,),
    relations=(
        Relation(lesser="window_start", greater="window_end", reason="the window is empty"),
        Relation(lesser="start_cycle", greater="end_cycle", reason="the window is empty"),
        Relation(
            lesser="vertical_acceleration",
            greater="gravity",
            reason="the mass lifts off",
        ),
    ),
    sentences={
        Status.ok: "computed",
        Status.not_converged: "more stick and slip phases than the motion can have; "
        "please report this point's parameters",
        Status.diverged: "the numbers overflow or underflow; bring the parameters nearer to one "
        "another in size",
        Status.outside_validity: "the mass lifts off (vertical_acceleration must be below "
        "gravity), the window is empty (its end must come after its start) or ends after more than "
        "1e9 cycles, or spring or damper is out of all proportion (k/m above 1e12 ω², c/m above "
        "1e12 ω)",
        Status.failed: "the worker failed at this point's chunk; see the receipts, then run "
        "again with --retry-failed",
        Status.pending: "not computed yet; run the sweep again to go on",
    },
)
