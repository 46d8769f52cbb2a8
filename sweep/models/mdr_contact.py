"""Rubbing of a round body on a plane, by the method of dimensionality reduction.

A body of profile f(r) = A rⁿ (a sphere of radius R: n = 2, A = 1/(2R)) is pressed into an elastic
half-space and moved in both directions (Hanisch, Richter, Li 2020):

    u_z(t) = d0 + Δz cos ωt,        u_x(t) = Δx cos(ωt + φ)

    E* = E/(1 − ν²),  G* = 4G/(2 − ν),  G = E/(2(1 + ν)),   κ = E*/G* = (2 − ν)/(2(1 − ν))
    g(x) = κ_n A |x|ⁿ,   κ_n = (√π/2) n Γ(n/2)/Γ((n + 1)/2)   (κ_1 = π/2, κ_2 = 2),   g(a0) = d0

The contact is a row of independent springs: the one at x has stiffness E*dx and G*dx, touches
where u_z > g(x), and its tangential elongation u follows u_x while |u| ≤ μκ(u_z − g(x)), is held
at that bound while it slips, and is 0 out of contact. All outputs are of one cycle of the steady
state, which the second cycle already is.

Everything depends on n, φ (mod π; φ and −φ differ) and two ratios,

    β = μκΔz/Δx,   δ = Δz/d0

up to the scale of energy W_ref = (16/3) G* Δx² Δz (da/dd) = (16/3) G* a0 Δx² δ/n, with a0 the
contact radius at d0; the normalized energy is W/W_ref.

Limits. β = inf (and above 1e15) is infinite friction, or no tangential motion. With Δz = 0, W_ref
is 0: the normalized energy then is inf, or its limit where W = 0 too (0 without friction, sin²φ
with infinite friction). Without friction nothing is dissipated. A phase within rounding of a
multiple of π is one.

Regime, the first that holds: `jumping` if δ > 1 (contact is lost in part of the cycle);
`full_stick` if nothing is dissipated though there is friction (φ = 0 mod π and β ≥ 1, or no
tangential motion, or infinite friction under constant load); `gross_slip` if no spring stays stuck
all the time; else `partial_slip`. So infinite friction is partial slip: springs at the edge let go
of their elongation as they leave contact, though none of them slips before. `stick_radius` is the
edge of the springs that are in contact and stuck all the time.

Method `time_stepping`, the paper's algorithm, makes energy nearly in phase (φ near 0 or π, β > 1),
where its error of first order is larger than what is lost: with β = 19.3, δ = 0.43, φ = 0.0046,
n = 1, 400 steps and 2000 springs it gives −1.36e-5 instead of 2.01e-5. Such energies are negative
with status ok; `time_stepping_2` and `exact` have the right ones. The regime of both time-stepping
methods is told by which springs slip, whatever the energy; `jumping` where the innermost leaves
contact, which with its middle at x is so from δ = 1 − (x/a0)ⁿ on, before the last of the body does:
1.25e-7 below δ = 1 for n = 2 and 2000 springs.

Both sum over springs of even width, all over the contact, of which only those outside of the core
that sticks for good can slip: for small δ about the share δ/n of them. Where that are fewer than
20, though something slips, the point is `not_converged`. With 20 the sum is within 0.4 % of the
energy in 99 of 100 contacts, and within 3 % in all (worst for β near 1 nearly in phase); the error
falls with the second power of their number. About 20 n/δ springs do.
"""

from __future__ import annotations

from dataclasses import replace

from sweep.spec import (
    Method,
    Model,
    NotAllZero,
    Observable,
    Output,
    Parameter,
    ParameterSet,
    Status,
)

COMMON = (
    Parameter(name="phase", symbol="phi", unit="rad", minimum=-1e9, maximum=1e9,
              meaning="phase of the tangential motion ahead of the normal motion"),
)  # fmt: skip

DELTA = Parameter(
    name="delta", symbol="delta", unit="1", minimum=0, open_minimum=True,
    meaning="normal amplitude over mean indentation; contact is lost for a while if above 1",
)  # fmt: skip
EXPONENT = Parameter(
    name="profile_exponent", symbol="n", unit="1", minimum=0.5, open_minimum=True, maximum=1e3,
    meaning="exponent of the profile f(r) = A r^n: 1 is a cone, 2 a sphere",
)  # fmt: skip

DIMENSIONLESS = ParameterSet(name="dimensionless", scaled=True, parameters=(
    Parameter(name="beta", symbol="beta", unit="1", minimum=0, infinite=True,
              meaning="friction coefficient times kappa, times normal over tangential amplitude"),
    DELTA,
    replace(EXPONENT, default=2.0),
))  # fmt: skip

BODY = (
    Parameter(name="youngs_modulus", symbol="E", unit="Pa", minimum=0, open_minimum=True,
              meaning="Young's modulus of the half-space"),
    Parameter(name="poisson_ratio", symbol="nu", unit="1", minimum=-1, open_minimum=True,
              maximum=0.5, meaning="Poisson's ratio of the half-space"),
)  # fmt: skip
MOTION = (
    Parameter(name="indentation", symbol="d0", unit="m", minimum=0, open_minimum=True,
              meaning="mean indentation"),
    Parameter(name="normal_amplitude", symbol="Delta_z", unit="m", minimum=0,
              meaning="amplitude of the normal motion"),
    Parameter(name="tangential_amplitude", symbol="Delta_x", unit="m", minimum=0,
              meaning="amplitude of the tangential motion"),
    Parameter(name="friction", symbol="mu", unit="1", minimum=0, infinite=True,
              meaning="Coulomb friction coefficient"),
)  # fmt: skip

SPHERE = ParameterSet(name="sphere", parameters=(
    *BODY,
    Parameter(name="radius", symbol="R", unit="m", minimum=0, open_minimum=True,
              meaning="radius of the sphere"),
    *MOTION,
))  # fmt: skip

# The unit of A, m^(1-n), changes with n: the table calls it 1 and takes a plain number.
PROFILE = ParameterSet(name="profile", parameters=(
    *BODY,
    Parameter(name="profile_coefficient", symbol="A", unit="1", minimum=0, open_minimum=True,
              meaning="coefficient of the profile f(r) = A r^n with f and r in m: a number that "
              "stands for m^(1-n)"),
    EXPONENT,
    *MOTION,
))  # fmt: skip

OUTPUTS = (
    Output(name="normalized_energy", unit="1",
           long_name="energy dissipated per cycle over (16/3) G* a0 delta/n Delta_x^2; inf where "
           "that is 0 (no normal amplitude) and energy is dissipated"),
    Output(name="dissipated_energy", unit="J", long_name="energy dissipated per cycle",
           parameter_sets=("sphere", "profile")),
    Output(name="stick_radius", unit="1",
           long_name="radius of the core that never slips, over the contact radius at d0"),
    Output(name="regime", unit="1", kind="flag",
           flags=("full_stick", "partial_slip", "gross_slip", "jumping"),
           long_name="whether all of the contact sticks, some, none, or contact is lost at times; "
           "by time_stepping methods of their springs"),
)  # fmt: skip

OBSERVABLES = (
    Observable(name="tangential_force", unit="N", scale="G* a0 Delta_x",
               long_name="tangential force of all springs"),
    Observable(name="normal_force", unit="N", scale="E* a0 d0",
               long_name="normal force of all springs"),
    Observable(name="contact_radius", unit="m", scale="a0",
               long_name="radius of the contact at this moment"),
    Observable(name="stick_radius", unit="m", scale="a0",
               long_name="radius within which no spring slips at this moment"),
    Observable(name="tangential_displacement", unit="m", scale="Delta_x",
               long_name="tangential displacement of the body"),
    Observable(name="normal_displacement", unit="m", scale="d0",
               long_name="displacement of the body into the half-space"),
    Observable(name="spring_state", unit="1", per_item=True, flags=("no_contact", "stick", "slip"),
               long_name="state of the spring at this moment"),
)  # fmt: skip
CLOCK = Observable(name="time", unit="rad", long_name="phase of the normal motion")

CONTROLS = (
    Parameter(name="steps_per_cycle", symbol="N_t", unit="1", minimum=8, maximum=1e9, whole=True,
              default=1000.0, meaning="time steps in one cycle"),
    Parameter(name="springs", symbol="N_x", unit="1", minimum=2, maximum=1e9, whole=True,
              default=1000.0, meaning="springs over one half of the contact"),
    Parameter(name="cycles", symbol="N_c", unit="1", minimum=2, maximum=1e9, whole=True,
              default=2.0, meaning="cycles computed; the last one is counted"),
)  # fmt: skip

METHODS = (
    Method(
        name="exact", kind="kernel", revision=2, pack=2,
        summary="quadrature over the moving edge of the stick area; no step size",
    ),
    Method(
        name="time_stepping", kind="kernel", revision=1, parameters=CONTROLS, items="springs",
        least_chunk=2**12,
        traced=True,
        summary="the paper's own: predict, clamp, trapezoid of F du; first order in the step; "
        "nearly in phase its error is above what is lost and the energy may be negative",
    ),
    Method(
        name="time_stepping_2", kind="kernel", revision=1, parameters=CONTROLS, items="springs",
        least_chunk=2**12,
        traced=True,
        summary="steps split where springs enter and leave contact or reach their bound; second "
        "order in the step",
    ),
)  # fmt: skip

MODEL = Model(
    name="mdr_contact",
    title="energy dissipated in a rubbing contact that is loaded and moved in phase or out of it",
    source="Hanisch, Richter, Li 2020",
    parameters=COMMON,
    parameter_sets=(DIMENSIONLESS, SPHERE, PROFILE),
    outputs=OUTPUTS,
    methods=METHODS,
    observables=OBSERVABLES,
    clock=CLOCK,
    loop=("tangential_displacement", "tangential_force"),
    relations=(
        NotAllZero(parameters=("normal_amplitude", "tangential_amplitude"), reason="nothing moves"),
    ),
    sentences={
        Status.ok: "computed",
        Status.not_converged: "fewer than 20 springs can slip: raise springs, to about 20 n/delta "
        "for a small delta, or take method exact, which needs none",
        Status.diverged: "the numbers overflow or underflow; bring the parameters nearer to one "
        "another in size",
        Status.outside_validity: "nothing moves (normal_amplitude or tangential_amplitude must be "
        "above 0), or a parameter is outside its range; leave this point out",
        Status.failed: "the worker failed at this point's chunk; see the receipts, then run "
        "again with --retry-failed",
        Status.pending: "not computed yet; run the sweep again to go on",
    },
)
