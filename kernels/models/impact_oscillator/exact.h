// Method `exact`: the closed form, in one unit of work.
//
// The monodromy matrix is the product of the rotations over the computed phases, so a trace of 2
// confirms the durations.
#pragma once

#include "models/impact_oscillator/point.h"

namespace exact {

using namespace impact_oscillator;

struct State {
    mask active;
};

HD State start(Parameters const& p) { return {valid(p)}; }

HD bool running(State const& s) { return any(s.active); }

HD int64 advance(State& s, Parameters const&, int64 budget) {
    if (budget < 1 || !running(s)) return 0;
    s.active = false;
    return 1;
}

HD Outputs finish(State const&, Parameters const& p) {
    Orbit o = orbit_of(p);
    Outputs out;
    out.frequency = 1.0 / o.period;
    out.minimum = -o.amplitude;
    out.maximum = o.greatest;
    out.contact_fraction = o.pressed_time / o.period;
    set_stability(out, 2.0 * monodromy(o).xx);
    out.status = status_of(p, true);
    return out;
}

HD real time_of(State const& s, Parameters const& p) {
    return select(s.active, 0.0, orbit_of(p).period);
}

// The motion at exactly `time`, in any period.
HD Observables look(State const&, Parameters const& p, real time) {
    Orbit o = orbit_of(p);
    real within = fma(-floor(time / o.period), o.period, time);
    mask leaving = within + within <= o.period;  // moving away from the stop, otherwise towards it
    real since = select(leaving, within, o.period - within);
    mask pressed = o.contact & (since + since <= o.pressed_time);
    real angle = select(pressed, o.wall_rate * since, o.rate * (0.5 * o.period - since));
    real sine, cosine, versine, defect;
    circular(angle, sine, cosine, versine, defect);
    real beyond = fma(-o.swing, versine, o.depth);  // displacement past the gap
    real speed = select(pressed, o.swing * o.wall_rate, o.amplitude * o.rate) * sine;
    Observables seen;
    seen.time = time;
    seen.displacement = select(pressed, p.gap + beyond, -(o.amplitude * cosine));
    seen.velocity = select(leaving, -speed, speed);
    seen.wall_force = select(pressed, p.wall_stiffness * greatest(beyond, 0.0), 0.0);
    return seen;
}

}  // namespace exact
