// The observables of springs and of their point, at the end of a step of the last cycle.
//
// Time is the phase of the normal motion. Observables are in SI units if the parameters are. Otherwise
// forces are in units of G* a0 Delta_x (tangential) and E* a0 d0 (normal), radii in a0, displacements in
// Delta_x and d0.
#pragma once

#include "models/mdr_contact/springs.h"

namespace mdr_contact {

constexpr double rounding = 1e-9;  // relative to a bound, and to the longest shift of a step

enum SpringState { no_contact, stick, slip };

// What is observed of a spring. All but `state` is summed over the springs.
struct Glimpse {
    real elongation;  // over Delta_x
    real depth;       // indentation over d0
    real touches, sticks;
    real state;
};

struct Units {
    real tangential_force, normal_force, radius;
    real tangential, normal;  // displacements
};

HD Units units_of(Scaled const& o, Parameters const& p) {
    if constexpr (parameter_set == ParameterSet::dimensionless) {
        return {1.0, 1.0, 1.0, 1.0, 1.0};
    } else {
        real radius;
        if constexpr (parameter_set == ParameterSet::sphere)
            radius = sqrt(resolved(p.radius * p.indentation));
        else
            radius = contact_radius(o.profile, p.profile_coefficient, p.indentation);
        real nu = p.poisson_ratio;
        real shear = 2.0 * p.youngs_modulus / ((1.0 + nu) * (2.0 - nu));  // G*
        real pressing = p.youngs_modulus / ((1.0 - nu) * (1.0 + nu));     // E*
        return {shear * radius * p.tangential_amplitude, pressing * radius * p.indentation, radius,
                p.tangential_amplitude, p.indentation};
    }
}

// The phase at the beginning of the state's segment; negative before the last cycle.
HD double time_of(Springs const& s, Row const& row) {
    double part = (double)(s.segment * segment_steps) / (double)row.steps.count;
    return (part - (double)(s.cycles - 1)) * two_pi;
}

// The last step that ends at or before `time`, with a tolerance for rounding.
HD int64 step_before(Row const& row, double time) {
    double steps = time / two_pi * (double)row.steps.count;
    return (int64)(steps + 1e-6);
}

// Springs of a trace, which also includes springs that never slip.
HD Springs all_relaxed(Row const& row, real const& index) {
    Springs s = relaxed(row, index);
    s.cycles = row.cycles;
    return s;
}

// The springs at `time`, from their state at the beginning of the segment that contains it. A spring
// slips if it is at its bound and its foot U - q has moved in the last step; the bound alone does not
// suffice, because springs that never slip may touch it.
template <class Method> HD Glimpse glimpse(Springs s, Row const& row, double time) {
    Segment segment = segment_of(s, row);
    int64 steps = step_before(row, time) - (segment.step - (s.cycles - 1) * row.steps.count);
    if (steps < segment.left) segment.left = steps;
    bool moves = segment.left > 0;
    segment.left -= moves;
    Method::template run<false>(s, segment, row.steps);
    real carried = s.elongation + next_shift(segment);
    segment.left = moves;
    Method::template run<false>(s, segment, row.steps);
    real slid = abs(carried - s.elongation);
    if (!moves) slid = 1.0;  // unknown
    real bound = bound_at(segment, segment.now);
    real depth = greatest(fma(row.scaled.delta, segment.now.cosine, s.depth), 0.0);
    mask touches = depth > 0.0;
    mask at_bound = abs(s.elongation) >= bound * (1.0 - rounding);
    mask slips = touches & at_bound & (slid > rounding * row.steps.chord);
    real state = select(touches, select(slips, (double)slip, (double)stick), (double)no_contact);
    return {s.elongation, depth, select(touches, 1.0, 0.0), select(touches & ~slips, 1.0, 0.0),
            state};
}

// 1, or -1 where scaled() has shifted the phase by half a cycle.
HD real side_of(Scaled const& o, Parameters const& p) {
    real sine, cosine;
    sincos(p.phase, sine, cosine);
    return select(fma(sine, o.sine, cosine * o.cosine) < 0.0, -1.0, 1.0);
}

// The point at `time`, from the sum over its springs.
HD Observables observed(Glimpse const& sum, Row const& row, Parameters const& p, double time) {
    Scaled const& o = row.scaled;
    Units units = units_of(o, p);
    real phase = (double)step_before(row, time) / real((double)row.steps.count) * two_pi;
    real sine, cosine;
    sincos(phase, sine, cosine);
    real side = side_of(o, p);
    real both = 2.0 * row.width;  // for both halves of the contact
    Observables seen;
    seen.time = phase;
    seen.tangential_force = side * units.tangential_force * (both * sum.elongation);
    seen.normal_force = units.normal_force * (both * sum.depth);
    seen.contact_radius = units.radius * (row.width * sum.touches);
    seen.stick_radius = units.radius * (row.width * sum.sticks);
    seen.tangential_displacement =
        side * units.tangential * fma(cosine, o.cosine, -(sine * o.sine));
    seen.normal_displacement = units.normal * fma(o.delta, cosine, 1.0);
    return seen;
}

HD ItemObservables observed_spring(Glimpse const& spring) { return {spring.state}; }

// The radius at which a spring stands.
HD real place_of_spring(Row const& row, Parameters const& p, real const& index) {
    return units_of(row.scaled, p).radius * ((index + 0.5) * row.width);
}

}  // namespace mdr_contact
