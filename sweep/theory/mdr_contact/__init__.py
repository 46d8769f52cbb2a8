"""Closed forms for the rubbing MDR contact: equations of the paper, exact results, stiffnesses.

`paper` has the corrected equations of Hanisch, Richter, Li 2020, `surface` and `limits` have exact
results, `surface` also the boundaries on maps, and `body` has the stiffnesses and lengths of
physical contacts. All functions take numbers or arrays that broadcast together and return float64
arrays of the broadcast shape unless stated otherwise. Dimensionless numbers (with κ = E*/G*, the
contact radius a0 at the mean indentation d0, and the exponent n of the profile):

    β = μκΔz/Δx      δ = Δz/d0      ξ = β/δ = μκd0/Δx
    W̄ = W/W_ref      W_ref = (16/3) G* a0 Δx² δ/n

Accuracies are from comparisons with 50-digit arithmetic.
"""

from sweep.theory.mdr_contact.body import (
    amplitude_numbers,
    contact_modulus,
    contact_radius,
    energy_unit,
    indentation,
    normal_force,
    physical_numbers,
    profile_factor,
    reference_energy,
    shear_modulus,
    stiffness_ratio,
    wear_volume,
)
from sweep.theory.mdr_contact.limits import (
    constant_load_energy,
    infinite_friction_energy,
    vanishing_friction_energy,
)
from sweep.theory.mdr_contact.paper import (
    REGION_I,
    REGION_II,
    REGION_III,
    complete_slip,
    complete_slip_energy,
    greatest_relaxation_energy,
    hertzian_slip_energy,
    partial_slip,
    partial_slip_energy,
    region,
    relaxation,
    relaxation_energy,
    slip_transition,
    stick_transition,
    three_regions,
)
from sweep.theory.mdr_contact.surface import (
    boundaries,
    greatest_loss_phase,
    slip_depth,
    stick_radius,
    universal_surface,
)

__all__ = [
    "REGION_I",
    "REGION_II",
    "REGION_III",
    "amplitude_numbers",
    "boundaries",
    "complete_slip",
    "complete_slip_energy",
    "constant_load_energy",
    "contact_modulus",
    "contact_radius",
    "energy_unit",
    "greatest_loss_phase",
    "greatest_relaxation_energy",
    "hertzian_slip_energy",
    "indentation",
    "infinite_friction_energy",
    "normal_force",
    "partial_slip",
    "partial_slip_energy",
    "physical_numbers",
    "profile_factor",
    "reference_energy",
    "region",
    "relaxation",
    "relaxation_energy",
    "shear_modulus",
    "slip_depth",
    "slip_transition",
    "stick_radius",
    "stick_transition",
    "stiffness_ratio",
    "three_regions",
    "universal_surface",
    "vanishing_friction_energy",
    "wear_volume",
]
