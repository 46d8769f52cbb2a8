"""Closed forms for the rubbing MDR contact: equations of the paper, exact results, stiffnesses.

`paper` has the corrected equations of Hanisch, Richter, Li 2020, `surface` and `limits` have exact
results, `surface` also the boundaries on maps, and `body` has the stiffnesses and lengths of
physical contacts. Each name can be imported from this package. All functions take numbers or arrays
that broadcast together and return float64 arrays of the broadcast shape unless stated otherwise.
Dimensionless numbers (with κ = E*/G*, the contact radius a0 at the mean indentation d0, and the
exponent n of the profile):

    β = μκΔz/Δx      δ = Δz/d0      ξ = β/δ = μκd0/Δx
    W̄ = W/W_ref      W_ref = (16/3) G* a0 Δx² δ/n

Accuracies are from comparisons with 50-digit arithmetic.
"""

from sweep.theory.mdr_contact.body import amplitude_numbers as amplitude_numbers
from sweep.theory.mdr_contact.body import contact_modulus as contact_modulus
from sweep.theory.mdr_contact.body import contact_radius as contact_radius
from sweep.theory.mdr_contact.body import energy_unit as energy_unit
from sweep.theory.mdr_contact.body import indentation as indentation
from sweep.theory.mdr_contact.body import normal_force as normal_force
from sweep.theory.mdr_contact.body import physical_numbers as physical_numbers
from sweep.theory.mdr_contact.body import profile_factor as profile_factor
from sweep.theory.mdr_contact.body import reference_energy as reference_energy
from sweep.theory.mdr_contact.body import shear_modulus as shear_modulus
from sweep.theory.mdr_contact.body import stiffness_ratio as stiffness_ratio
from sweep.theory.mdr_contact.body import wear_volume as wear_volume
from sweep.theory.mdr_contact.limits import constant_load_energy as constant_load_energy
from sweep.theory.mdr_contact.limits import infinite_friction_energy as infinite_friction_energy
from sweep.theory.mdr_contact.limits import vanishing_friction_energy as vanishing_friction_energy
from sweep.theory.mdr_contact.paper import REGION_I as REGION_I
from sweep.theory.mdr_contact.paper import REGION_II as REGION_II
from sweep.theory.mdr_contact.paper import REGION_III as REGION_III
from sweep.theory.mdr_contact.paper import complete_slip as complete_slip
from sweep.theory.mdr_contact.paper import complete_slip_energy as complete_slip_energy
from sweep.theory.mdr_contact.paper import greatest_relaxation_energy as greatest_relaxation_energy
from sweep.theory.mdr_contact.paper import hertzian_slip_energy as hertzian_slip_energy
from sweep.theory.mdr_contact.paper import partial_slip as partial_slip
from sweep.theory.mdr_contact.paper import partial_slip_energy as partial_slip_energy
from sweep.theory.mdr_contact.paper import region as region
from sweep.theory.mdr_contact.paper import relaxation as relaxation
from sweep.theory.mdr_contact.paper import relaxation_energy as relaxation_energy
from sweep.theory.mdr_contact.paper import slip_transition as slip_transition
from sweep.theory.mdr_contact.paper import stick_transition as stick_transition
from sweep.theory.mdr_contact.paper import three_regions as three_regions
from sweep.theory.mdr_contact.surface import boundaries as boundaries
from sweep.theory.mdr_contact.surface import greatest_loss_phase as greatest_loss_phase
from sweep.theory.mdr_contact.surface import slip_depth as slip_depth
from sweep.theory.mdr_contact.surface import stick_radius as stick_radius
from sweep.theory.mdr_contact.surface import universal_surface as universal_surface
