"""Periodic free motion of a mass on a spring that strikes an elastic stop (Code_Aster SDND122).

    m ü + k u = −F(u),   F = K (u − e) for u > e, otherwise 0

E is the total energy, ½ m u̇² + ½ k u² + ½ K max(u − e, 0)². The motion touches the stop if
E > k e²/2 (grazing); below that it is a linear oscillation with the frequency √(k/m)/2π. Time
starts at the greatest displacement, where the velocity is 0.

The monodromy matrix maps a small disturbance over one period. floquet_modulus is the largest
modulus of its two eigenvalues, the Floquet multipliers. Their product is 1, because nothing is
dissipated. A disturbance along the motion returns unchanged; a disturbance to another energy
returns unchanged except for a delay that grows by the same amount every period. So both multipliers
of the exact motion are 1, in a Jordan block, and the trace is 2: the motion is marginally stable.
An error ε of the trace moves the multipliers by √|ε|. If the trace exceeds 2, they separate on the
real line; the modulus is 1 + √ε, and rounding alone shows as 1 + 1e-8. If it is below 2, they move
along the unit circle, and the modulus is 1 for any error. `stable` means floquet_modulus < 1.01, as
in Code_Aster. floquet_trace, which is 2 on the exact orbit, shows how well an approximate method
closes its orbit.
"""

from __future__ import annotations

import math

from sweep.model.table import Method, Model, Observable, Output, Parameter, ParameterSet, sentences

COMMON = (
    Parameter(name="mass", symbol="m", unit="kg", minimum=0, open_minimum=True,
              meaning="mass of the moving body"),
    Parameter(name="stiffness", symbol="k", unit="N/m", minimum=0, open_minimum=True,
              meaning="stiffness of the spring between body and ground"),
    Parameter(name="wall_stiffness", symbol="K", unit="N/m", minimum=0,
              meaning="stiffness of the elastic stop; at most 1e12 times that of the spring"),
    Parameter(name="gap", symbol="e", unit="m", minimum=0,
              meaning="distance from the body at rest to the stop"),
)  # fmt: skip

BY_ENERGY = ParameterSet(name="by_energy", parameters=(
    Parameter(name="energy", symbol="E", unit="J", minimum=0, open_minimum=True,
              meaning="total energy of the motion"),
))  # fmt: skip

OUTPUTS = (
    Output(name="frequency", unit="Hz", long_name="frequency of the periodic motion"),
    Output(name="minimum", unit="m", long_name="least displacement, away from the stop"),
    Output(name="maximum", unit="m", long_name="greatest displacement, into the stop"),
    Output(name="contact_fraction", unit="1", long_name="share of the period in contact with the "
           "stop"),
    Output(name="floquet_modulus", unit="1", long_name="largest modulus of the Floquet "
           "multipliers"),
    Output(name="floquet_trace", unit="1", long_name="trace of the monodromy matrix"),
    Output(name="stable", unit="1", kind="flag", flags=("unstable", "stable"),
           long_name="whether every Floquet multiplier has a modulus below 1.01"),
)  # fmt: skip

OBSERVABLES = (
    Observable(name="displacement", unit="m", long_name="displacement of the body from rest"),
    Observable(name="velocity", unit="m/s", long_name="velocity of the body"),
    Observable(name="wall_force", unit="N", long_name="force of the body on the stop"),
)

EXACT = Method(
    name="exact", revision=1,
    summary="closed form: two sinusoids that join at the stop, exact to rounding", pack=1,
    traced=True,
)  # fmt: skip

NEWMARK = Method(
    name="newmark", revision=1,
    summary="Newmark, average acceleration; period by shooting; second order in the step", pack=3,
    cost=("steps_per_period",),
    traced=True,
    parameters=(
        Parameter(name="steps_per_period", symbol="N", unit="1", minimum=8, maximum=1e8, whole=True,
                  default=1000.0, meaning="time steps per period"),
    ),
)  # fmt: skip

HARMONIC_BALANCE = Method(
    name="harmonic_balance", revision=2, least_chunk=2**7,
    summary="harmonic balance with cosines (Code_Aster MODE_NON_LINE)", pack=1,
    # Where the stop is too stiff for so few cosines, points are continued in dozens of steps.
    cost=("harmonics + 64*min(1, 0.1*wall_stiffness/(stiffness*harmonics**2))", "harmonics"),
    traced=True,
    parameters=(
        Parameter(name="harmonics", symbol="H", unit="1", minimum=1, maximum=60, whole=True,
                  default=40.0, meaning="number of cosines of the displacement, in addition to its "
                  "mean"),
        Parameter(name="regularization", symbol="eta", unit="1", minimum=0, default=0.0,
                  meaning="smooths the law of the stop: F = K/2 (w + sqrt(w^2 + 4 eta e^2 k/K)) "
                  "with w = u - e; 0: the exact law; 5e-5 in SDND122"),
        Parameter(name="energy_instant", symbol="tau", unit="1", minimum=0, infinite=True,
                  default=math.inf,
                  meaning="time, in periods, at which the energy is evaluated (1/4 in Code_Aster); "
                  "inf: the mean over the period"),
    ),
)  # fmt: skip

MODEL = Model(
    name="impact_oscillator",
    title="mass that meets an elastic stop",
    source="Code_Aster SDND122",
    parameters=COMMON,
    parameter_sets=(BY_ENERGY,),
    outputs=OUTPUTS,
    methods=(EXACT, NEWMARK, HARMONIC_BALANCE),
    observables=OBSERVABLES,
    samples=512,  # REST_MODE_NONL
    loop=("displacement", "velocity"),
    sentences=sentences(
        not_converged="no periodic motion found. Harmonic balance resolves a very stiff "
        "stop poorly: set a regularization, or use method exact. With method newmark, raise "
        "steps_per_period",
        diverged="numbers overflow or underflow; choose parameters that are closer in magnitude",
        outside_validity="wall_stiffness is above 1e12 times stiffness, a parameter is out "
        "of range, or the steps of method newmark are too long to resolve the contact (above "
        "√(m/(k+K))): raise steps_per_period",
    ),
)
