// The shaking in SI units per unit of mass, and the window, for methods that step through time.
#pragma once

#include "models/friction_oscillator/scaled.h"

namespace friction_oscillator {

struct Shaking {
    real amplitude;  // a0
    real limit;      // mu g
    // mu a_v times cosine and sine of the load's phase; the friction limit over time is
    // limit + rise sin wt + lead cos wt.
    real rise, lead;
    // The same for N / (m g) = 1 + load_rise sin wt + load_lead cos wt.
    real load_rise, load_lead;
};

HD Shaking shaking_of(Parameters const& p) {
    Shaking s;
    s.amplitude = p.base_acceleration;
    s.limit = p.friction * p.gravity;
    real sine, cosine;
    sincos(p.phase, sine, cosine);
    real share = p.vertical_acceleration / p.gravity;
    s.load_rise = share * cosine;
    s.load_lead = share * sine;
    s.rise = s.limit * s.load_rise;
    s.lead = s.limit * s.load_lead;
    return s;
}

HD real limit_at(Shaking const& s, real sine, real cosine) {
    return fma(s.rise, sine, fma(s.lead, cosine, s.limit));
}
HD real load_at(Shaking const& s, real sine, real cosine) {
    return fma(s.load_rise, sine, fma(s.load_lead, cosine, 1.0));
}

// The window in seconds.
struct Window {
    real start, end;
};

HD Window window_of(Parameters const& p) {
    if constexpr (parameter_set == ParameterSet::cycles) {
        real period = two_pi / p.angular_frequency;
        return {p.start_cycle * period, p.end_cycle * period};
    } else {
        return {p.window_start, p.window_end};
    }
}

constexpr double greatest_phase = 1e9;  // the largest argument that elementary.h reduces

// Whether friction holds the mass at all times.
HD mask holds_for_good(Shaking const& s) {
    real pull = abs(s.amplitude) + abs(s.rise);
    return fma(pull, pull, s.lead * s.lead) <= s.limit * s.limit;
}

constexpr double least_steps = 10.0;  // per period, needed to resolve the shaking

// Whether steps of length h resolve the shaking, or the mass never slips anyway.
HD mask sees_enough(Parameters const& p, Shaking const& s, real h) {
    return (p.angular_frequency * h <= two_pi / least_steps) | holds_for_good(s);
}

// Whether the point is valid for methods that step through time.
HD mask valid(Parameters const& p, Window const& window) {
    return (abs(p.vertical_acceleration) < p.gravity) & (window.end > window.start) &
           (p.angular_frequency * window.end <= greatest_phase);
}

}  // namespace friction_oscillator
