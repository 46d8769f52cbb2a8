// The dimensionless contact: depths in Delta_x/(mu kappa), radii in a0, energies in W_ref.
//
//   beta = mu kappa Delta_z/Delta_x,  delta = Delta_z/d0,  load = mu kappa d0/Delta_x = beta/delta
//
// The spring whose bound has the mean H is at X = (1 - H/load)^(1/n). While it slips forward or backward,
// its foot follows
//
//   cos(t + phi) -+ beta cos t,  with the amplitudes  ra, rb = |exp(i phi) -+ beta|.
#pragma once

#include "models/mdr_contact/profile.h"

namespace mdr_contact {

// A larger beta counts as infinite friction and is replaced by this value: springs never slip, and lose
// their elongation when they leave contact.
constexpr double held_beta = 1e15;

struct Scaled {
    Profile profile;
    real beta, delta, load;
    real inverse_load;
    real sine, cosine;  // of phi modulo pi: sine >= 0
    real ra, rb;
    real core;    // X^n = 1 - H/load at the edge of the springs that never slip
    real radius;  // greatest contact radius
    real energy;  // W_ref in J, or W_ref/delta if delta is 0
    mask held;    // infinite friction, or no tangential motion
    mask frictionless;
    mask unmoved;  // no tangential motion
    mask valid;
    mask in_proportion;  // no loss of digits by underflow or overflow
};

// 1 - X^n: the indentation of a spring at the mean indentation of the body, over d0.
HD real depth_at(Scaled const& o, real x) {
    real power = select(o.profile.quadratic, x * x, x);
    mask general = o.profile.general;
    if (any(general)) power = select(general, pow(x, o.profile.exponent), power);
    return 1.0 - power;
}

// sin phi and cos phi of phi modulo pi. The double nearest to a multiple of pi counts as that multiple.
HD void set_phase(Scaled& o, real phase) {
    sincos(phase, o.sine, o.cosine);
    o.sine = select(abs(o.sine) <= abs(phase) * 0x1p-52, 0.0, o.sine);
    mask turned = o.sine < 0.0;
    o.sine = abs(o.sine);
    o.cosine = select(turned, -o.cosine, o.cosine);
}

// |exp(i phi) -+ beta|, the roots of (1 - beta)^2 + 2 beta (1 -+ cos phi), without cancellation.
HD void set_amplitudes(Scaled& o) {
    real rest = o.sine * o.sine / (1.0 + abs(o.cosine));  // 1 - |cos phi|
    real other = 1.0 + abs(o.cosine);
    mask obtuse = o.cosine < 0.0;
    real distance = o.beta - 1.0;
    real square = distance * distance;
    o.ra = sqrt(fma(2.0 * o.beta, select(obtuse, other, rest), square));
    o.rb = sqrt(fma(2.0 * o.beta, select(obtuse, rest, other), square));
}

// The remaining fields, from beta, delta, load, phase and profile.
HD void complete(Scaled& o, real phase) {
    o.load = select(o.frictionless, 1.0, o.load);  // arbitrary: no energy is dissipated
    o.held = o.held | (o.beta > held_beta);
    o.beta = select(o.frictionless, 0.0, least(o.beta, held_beta));
    real steady = select(o.delta == 0.0, 1.0, o.delta);
    o.load = select(o.held, held_beta / steady, o.load);
    o.inverse_load = 1.0 / o.load;
    set_phase(o, phase);
    set_amplitudes(o);
    o.core = 1.0 - 0.5 * (o.ra + o.rb) * o.inverse_load;
    o.core = select(o.held, 1.0 - o.delta, o.core);
    o.core = select(o.frictionless, -1.0, o.core);
    o.radius = radius_at(o.profile, 1.0 + o.delta);
    o.valid = (o.beta >= 0.0) & (o.delta >= 0.0) & (o.load > 0.0) & (o.profile.exponent > 0.0) &
              (abs(o.sine) <= 1.0);
    o.in_proportion = (o.load > 1e-140) & (o.load < 1e290) & (o.delta < 1e100) &
                      ((o.delta > 1e-140) | (o.delta == 0.0)) &
                      ((o.beta > 1e-140) | (o.delta == 0.0) | o.frictionless);
}

HD Scaled scaled_dimensionless(Parameters const& p) {
    Scaled o;
    o.profile = profile_of(p.profile_exponent);
    o.beta = p.beta;
    o.delta = p.delta;
    o.load = o.beta / o.delta;
    o.frictionless = p.beta == 0.0;
    o.held = p.beta > 1e308;
    o.unmoved = false;
    o.energy = 1.0;
    complete(o, p.phase);
    return o;
}

// W_ref, from G*, a0 and Delta_x. Where Delta_x^2 or a product of it underflows, in another order.
HD void set_energy(Scaled& o, real shear, real radius, real amplitude) {
    real share = select(o.delta == 0.0, 1.0, o.delta);
    real square = amplitude * amplitude;
    real stiffness = 16.0 / 3.0 * shear * radius;
    real work = stiffness * square;
    o.energy = work * share * o.profile.inverse;
    real smallest = least(least(shear, radius), least(least(stiffness, square), work));
    mask lost = ~(o.unmoved | (least(smallest, o.energy) >= least_normal));
    if (!any(lost)) return;
    real pressure = 16.0 / 3.0 * shear * amplitude, area = radius * amplitude * o.profile.inverse;
    real force = pressure * share;
    o.energy = select(lost, force * area, o.energy);
    smallest = least(least(shear, radius), least(least(pressure, force), area));
    o.in_proportion = o.in_proportion & (~lost | (smallest >= least_normal));
}

HD Scaled scaled_physical(Parameters const& p) {
    constexpr bool sphere = parameter_set == ParameterSet::sphere;
    Scaled o;
    o.profile = profile_of(select(sphere, 2.0, p.profile_exponent));
    real radius;
    if constexpr (sphere)
        radius = sqrt(resolved(p.radius * p.indentation));
    else
        radius = contact_radius(o.profile, p.profile_coefficient, p.indentation);
    real nu = p.poisson_ratio;
    real shear = 2.0 * p.youngs_modulus / ((1.0 + nu) * (2.0 - nu));  // G*
    real kappa = (2.0 - nu) / (2.0 * (1.0 - nu));
    o.unmoved = p.tangential_amplitude == 0.0;
    o.frictionless = p.friction == 0.0;
    o.held = ~o.frictionless & (o.unmoved | (p.friction > 1e308));
    real reach = p.friction * kappa / select(o.unmoved, 1.0, p.tangential_amplitude);
    o.beta = select(o.held, held_beta, reach * p.normal_amplitude);
    o.beta = select(p.normal_amplitude == 0.0, 0.0, o.beta);
    o.load = reach * p.indentation;
    o.delta = p.normal_amplitude / p.indentation;
    complete(o, p.phase);
    o.in_proportion = o.in_proportion & (o.held | o.frictionless | (reach >= least_normal));
    set_energy(o, shear, radius, p.tangential_amplitude);
    o.valid = o.valid & ~(o.unmoved & (p.normal_amplitude == 0.0));
    return o;
}

HD Scaled scaled(Parameters const& p) {
    if constexpr (parameter_set == ParameterSet::dimensionless)
        return scaled_dimensionless(p);
    else
        return scaled_physical(p);
}

// The outputs, from W/W_ref (if delta is 0: W/W_ref times delta).
HD Outputs outputs_of(Scaled const& o, real energy) {
    mask steady = o.delta == 0.0;
    mask at_rest = (o.frictionless | (steady & o.held));
    energy = select(at_rest, 0.0, energy);
    Outputs out;
    out.dissipated_energy = select(o.unmoved, 0.0, o.energy * energy);
    real limit = select(o.frictionless, 0.0, o.sine * o.sine);
    mask unbounded = steady & ~at_rest;
    out.normalized_energy = select(steady & at_rest, limit, energy / select(unbounded, 0.0, 1.0));
    real core = radius_at(o.profile, greatest(o.core, 0.0));
    out.stick_radius = core;
    mask sticks = o.unmoved | (steady & o.held) | ((o.sine == 0.0) & (o.beta >= 1.0));
    real regime = select(o.core > 0.0, 1.0, 2.0);
    regime = select(sticks & ~o.frictionless, 0.0, regime);
    out.regime = select(o.delta > 1.0, 3.0, regime);
    mask finite = (abs(energy) < 1e308) & (abs(out.dissipated_energy) < 1e308);
    real status = select(finite & o.in_proportion, 0.0, 2.0);
    out.status = select(o.valid, status, 3.0);
    return out;
}

}  // namespace mdr_contact
