"""Mass on a spring that strikes an elastic stop (Code_Aster SDND122): its periodic free motion.

    m ü + k u = −F(u),   F = K (u − e) where u > e, else 0

E is the total energy, ½ m u̇² + ½ k u² + ½ K max(u − e, 0)². The motion touches the stop where
E > k e²/2 (grazing); below that it is the linear oscillation of frequency √(k/m)/2π. Time starts at
the greatest displacement, where the velocity is 0.

The monodromy matrix carries a small disturbance over one period; floquet_modulus is the greatest
size of its two eigenvalues, the Floquet multipliers. Their product is 1 (nothing is dissipated). A
disturbance along the motion returns as it was, and so does one to another energy but for a delay
that grows by the same amount each period: both multipliers of the exact motion are 1, in a Jordan
block, and the trace is 2. So they are at the very border of stability, and an error ε of the trace
moves them by √|ε|: above 2 apart on the real line, so that the modulus is 1 + √ε and rounding alone
shows as 1 + 1e-8; below 2 along the unit circle, so that the modulus is 1 whatever the error.
`stable` is floquet_modulus < 1.01, as in Code_Aster. How well an approximate method closes its
orbit is shown by floquet_trace, which is 2 on the exact orbit.
"""

from __future__ import annotations

import math

from sweep.spec import Method, Model, Observable, Output, Parameter, ParameterSet, Status

COMMON = (
    Parameter(name="mass", symbol="m", unit="kg", minimum=0, open_minimum=True,
              meaning="mass of the moving body"),
    Parameter(name="stiffness", symbol="k", unit="N/m", minimum=0, open_minimum=True,
              meaning="stiffness of the spring between body and ground"),
    Parameter(name="wall_stiffness", symbol="K", unit="N/m", minimum=0,
              meaning="stiffness of the elastic stop; at most 1e12 times the spring's"),
    Parameter(name="gap", symbol="e", unit="m", minimum=0,
              meaning="displacement at which the body at rest would touch the stop"),
)  # fmt: skip

BY_ENERGY = ParameterSet(name="by_energy", parameters=(
    Parameter(name="energy", symbol="E", unit="J", minimum=0, open_minimum=True,
              meaning="total energy of the motion"),
))  # fmt: skip

OUTPUTS = (
    Output(name="frequency", unit="Hz", long_name="frequency of the periodic motion"),
    Output(name="minimum", unit="m", long_name="least displacement, away from the stop"),
    Output(name="maximum", unit="m", long_name="greatest displacement, into the stop"),
    Output(name="contact_fraction", unit="1", long_name="share of the period spent at the stop"),
    Output(name="floquet_modulus", unit="1", long_name="greatest size of a Floquet multiplier"),
    Output(name="floquet_trace", unit="1", long_name="trace of the monodromy matrix"),
    Output(name="stable", unit="1", kind="flag", flags=("unstable", "stable"),
           long_name="whether every Floquet multiplier is below 1.01 in size"),
)  # fmt: skip

OBSERVABLES = (
    Observable(name="displacement", unit="m", long_name="displacement of the body from its rest"),
    Observable(name="velocity", unit="m/s", long_name="velocity of the body"),
    Observable(name="wall_force", unit="N", long_name="force of the body on the stop"),
)

EXACT = Method(
    name="exact", kind="kernel", revision=1,
    summary="closed form: two sinusoids joined at the stop, exact to rounding", pack=2,
    traced=True,
)  # fmt: skip

NEWMARK = Method(
    name="newmark", kind="kernel", revision=1,
    summary="average acceleration, the period found by shooting; second order in the step", pack=2,
    traced=True,
    parameters=(
        Parameter(name="steps_per_period", symbol="N", unit="1", minimum=8, maximum=1e8, whole=True,
                  default=1000.0, meaning="time steps in the period that is found"),
    ),
)  # fmt: skip

HARMONIC_BALANCE = Method(
    name="harmonic_balance", kind="array", revision=1, least_chunk=2**12,
    summary="cosines whose force balances harmonic by harmonic (Code_Aster MODE_NON_LINE)",
    parameters=(
        Parameter(name="harmonics", symbol="H", unit="1", minimum=1, maximum=60, whole=True,
                  default=40.0, meaning="cosines of the displacement, its mean apart"),
        Parameter(name="regularization", symbol="eta", unit="1", minimum=0, default=0.0,
                  meaning="rounds the stop's law off: F = K/2 (w + sqrt(w^2 + 4 eta e^2 k/K)) "
                  "with w = u - e; 0: the true law; 5e-5 in SDND122"),
        Parameter(name="energy_instant", symbol="tau", unit="1", minimum=0, infinite=True,
                  default=math.inf,
                  meaning="moment, in periods, at which the energy is taken (1/4 in Code_Aster); "
                  "inf: the mean over the period"),
    ),
)  # fmt: skip

MODEL = Model(
    name="impact_oscillator",
    title="free oscillation of a mass against an elastic stop",
    source="Code_Aster SDND122",
    parameters=COMMON,
    parameter_sets=(BY_ENERGY,),
    outputs=OUTPUTS,
    methods=(EXACT, NEWMARK, HARMONIC_BALANCE),
    observables=OBSERVABLES,
    samples=512,  # REST_MODE_NONL
    loop=("displacement", "velocity"),
    sentences={
        Status.ok: "computed",
        Status.not_converged: "no periodic motion found: harmonics follow a very stiff stop badly, "
        "so give a regularization, or use method exact; with method newmark, raise "
        "steps_per_period",
        Status.diverged: "the numbers overflow or underflow; bring the parameters nearer to one "
        "another in size",
        Status.outside_validity: "wall_stiffness is above 1e12 times stiffness, a parameter is out "
        "of its range, or the steps of method newmark are too long for the contact (above "
        "√(m/(k+K))): raise steps_per_period",
        Status.failed: "the worker failed at this point's chunk; see the receipts, then run "
        "again with --retry-failed",
        Status.pending: "not computed yet; run the sweep again to go on",
    },
)
