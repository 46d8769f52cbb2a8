// Block that slides to rest: v' = -mu g until v = 0. SI units.
#pragma once

#include "elementary.h"
#include "sliding/braking.h"

namespace sliding_block {

HD Span span(Parameters const& p) { return {0.0, stopping_time(p)}; }

}  // namespace sliding_block

namespace exact {

struct State {
    mask active;
};

HD State start(Parameters const& p) {
    return {(p.friction > 0.0) & (p.gravity > 0.0) & (p.initial_speed >= 0.0)};
}

HD bool running(State const& s) { return any(s.active); }

HD int64 advance(State& s, Parameters const&, int64 budget) {
    if (budget < 1 || !running(s)) return 0;
    s.active = false;
    return 1;
}

HD Outputs finish(State const&, Parameters const& p) {
    Outputs o;
    o.stopping_time = stopping_time(p);
    o.stopping_distance = 0.5 * p.initial_speed * o.stopping_time;
    o.status = select(start(p).active, 0.0, 3.0);
    return o;
}

HD real time_of(State const& s, Parameters const& p) {
    return select(s.active, 0.0, stopping_time(p));
}

HD Observables look(State const&, Parameters const& p, real time) {
    Observables seen;
    seen.time = time;
    seen.speed = greatest(p.initial_speed - braking(p) * time, 0.0);
    return seen;
}

}  // namespace exact
