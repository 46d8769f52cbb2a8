// Common to all methods: validity of the parameters, the orbit, and the outputs on stability.
#pragma once

#include "models/impact_oscillator/orbit.h"

namespace impact_oscillator {

constexpr double stiffest = 1e12;                     // largest valid K/k
constexpr double smallest = 1e-140, largest = 1e140;  // no overflow or underflow in between

HD Orbit orbit_of(Parameters const& p) {
    return Orbit(p.mass, p.stiffness, p.wall_stiffness, p.gap, p.energy);
}

HD mask valid(Parameters const& p) {
    return (p.mass > 0.0) & (p.stiffness > 0.0) & (p.energy > 0.0) & (p.gap >= 0.0) &
           (p.wall_stiffness >= 0.0) & (p.wall_stiffness <= stiffest * p.stiffness);
}

HD mask sized(real value) { return (value >= smallest) & (value <= largest); }

HD mask resolved(Parameters const& p) {
    return sized(p.mass) & sized(p.stiffness) & sized(p.energy) & (p.gap <= largest);
}

// The most serious status wins: invalid parameters before overflow before lack of convergence.
HD real status_of(Parameters const& p, mask converged) {
    real status = select(converged, 0.0, 1.0);
    status = select(resolved(p), status, 2.0);
    return select(valid(p), status, 3.0);
}

HD void set_stability(Outputs& out, real trace) {
    out.floquet_trace = trace;
    out.floquet_modulus = greatest_multiplier(trace);
    out.stable = select(out.floquet_modulus < stable_below, 1.0, 0.0);
}

// A trace shows one period.
HD Span span(Parameters const& p) { return {0.0, orbit_of(p).period}; }

}  // namespace impact_oscillator
