// Method `newmark`: average acceleration (beta 1/4, gamma 1/2) with the exact law of the stop.
//
// A unit of work is a step. The step h = T/N follows from the period T. The period is found by shooting
// from the greatest displacement at the given energy over half a period, to where the velocity is 0
// again. The scheme is time-reversible, so the second half mirrors the first, and the result is a
// periodic orbit of the scheme itself. Once all lanes have found their period, one whole period is
// computed with two disturbances. Finished lanes continue with the others; their results are kept
// separately.
//
// The stiffness seen by the disturbances at a point is its mean over the step around the point, from the
// exact contact times. A sampled stiffness would be wrong by up to one step of K at either end of the
// contact, and the multipliers, which belong to a Jordan block, by the square root of that (SDND122 at
// 1000 points: 1.11 instead of 1.006).
#pragma once

#include "models/impact_oscillator/point.h"

namespace newmark {

using namespace impact_oscillator;

constexpr double longest_step =
    1.0;                           // in units of sqrt(m/(k+K)): beyond, the contact is not resolved
constexpr double settled = 1e-11;  // last change of the period, of the period
constexpr int most_passes = 60;

// A disturbance of position and velocity, and the acceleration that it causes.
struct Disturbance {
    real place, speed, push;
};

struct State {
    real period;
    real passes;
    real steps;  // in this pass
    real place, speed, push;
    real release;  // when the body left the stop, in steps of this pass; 0 before
    Disturbance first, second;
    real least, contact,
        trace;  // found: displacement, share of the period, of the monodromy matrix
    mask shooting, active;
};

// The constants of a pass.
struct Scheme {
    real step, half_step, quarter;  // h, h/2, h^2/4
    real free, wall;                // k/m, (k+K)/m
    real held;                      // K e/m
    real free_factor, wall_factor;  // 1/(1 + h^2/4 times that)
    real gap, bound;                // predictions up to `bound` end away from the stop
    real last;                      // number of the last step of the pass

    HD Scheme(State const& s, Parameters const& p) {
        step = s.period / p.steps_per_period;
        half_step = 0.5 * step;
        quarter = half_step * half_step;
        free = p.stiffness / p.mass;
        wall = (p.stiffness + p.wall_stiffness) / p.mass;
        held = p.wall_stiffness / p.mass * p.gap;
        free_factor = 1.0 / fma(quarter, free, 1.0);
        wall_factor = 1.0 / fma(quarter, wall, 1.0);
        gap = p.gap;
        bound = p.gap * fma(quarter, free, 1.0);
        last = p.steps_per_period;
        if (any(s.shooting)) last = floor(0.5 * last + 0.5);
    }
};

// Restarts at the greatest displacement for the point's energy.
HD void begin_pass(State& s, Parameters const& p, mask here) {
    Orbit o = orbit_of(p);
    real force = fma(p.wall_stiffness, o.depth, p.stiffness * o.greatest);
    s.place = select(here, o.greatest, s.place);
    s.speed = select(here, 0.0, s.speed);
    s.push = select(here, -force / p.mass, s.push);
    s.steps = select(here, 0.0, s.steps);
    s.release = select(here, 0.0, s.release);
}

// Whether the steps are short enough for the contact.
HD mask resolves(Parameters const& p) {
    Orbit o = orbit_of(p);
    real needed = select(o.contact, o.wall_rate * o.period, 0.0);
    return needed <= longest_step * p.steps_per_period;
}

HD State start(Parameters const& p) {
    State s;
    s.period = orbit_of(p).period;
    s.passes = s.least = s.contact = s.trace = 0.0;
    s.active = s.shooting = valid(p) & resolved(p) & resolves(p);
    s.place = s.speed = s.push = s.steps = s.release = 0.0;
    s.first = s.second = {0.0, 0.0, 0.0};
    begin_pass(s, p, true);
    return s;
}

HD bool running(State const& s) { return any(s.active); }

// One step of the motion; returns whether it was the last of the pass. The prediction decides on contact
// at the end of the step, because its divisor does not change its side of the bound.
HD mask move(State& s, Scheme const& c) {
    real predicted = fma(c.quarter, s.push, fma(c.step, s.speed, s.place));
    mask pressed = predicted > c.bound;
    real push = select(pressed, c.wall_factor * fma(-c.wall, predicted, c.held),
                       -(c.free_factor * c.free) * predicted);
    real place = fma(c.quarter, push, predicted);
    mask leaves = (s.place > c.gap) & ~pressed;
    if (any(leaves)) {  // by linear interpolation between the two points
        real share = (s.place - c.gap) / (s.place - place);
        s.release = select(leaves, s.steps + share, s.release);
    }
    s.speed = fma(c.half_step, s.push + push, s.speed);
    s.place = place;
    s.push = push;
    s.steps += 1.0;
    return s.steps == c.last;
}

// Corrects the period by the velocity that remains after half a period.
HD void correct(State& s, Scheme const& c, Parameters const& p, mask ended, real speed_before) {
    real half = 0.5 * p.steps_per_period;
    mask between = c.last > half;  // with an odd number of steps, the middle is between two points
    real speed = select(between, 0.5 * (s.speed + speed_before), s.speed);
    real change = 2.0 * speed / s.push;
    mask here = ended & s.shooting;
    s.period = select(here, s.period - change, s.period);
    s.passes = select(here, s.passes + 1.0, s.passes);
    s.least = select(here, s.place, s.least);
    s.contact = select(here, 2.0 * s.release / p.steps_per_period, s.contact);
    mask done = (abs(change) <= settled * s.period) | (s.passes >= most_passes);
    s.shooting = s.shooting & ~(here & done);
}

// The position of the contact, of exact duration, among the steps.
struct Contact {
    real reach;  // steps from its middle to the first point whose surrounding step is outside
    real most;   // largest share of a step in contact
    real turn;   // half the number of steps
    real each;   // K/m

    HD Contact(Scheme const& c, Parameters const& p) {
        real length = orbit_of(p).pressed_time / c.step;
        reach = 0.5 * length + 0.5;
        most = least(length, 1.0);
        turn = 0.5 * p.steps_per_period;
        each = p.wall_stiffness / p.mass;
    }
};

HD void carry(Disturbance& d, Scheme const& c, real stiffness, real factor) {
    real predicted = fma(c.quarter, d.push, fma(c.step, d.speed, d.place));
    real push = -(stiffness * factor) * predicted;
    d.speed = fma(c.half_step, d.push + push, d.speed);
    d.place = fma(c.quarter, push, predicted);
    d.push = push;
}

// One step of the disturbances, to the current point of the motion.
HD void carry(State& s, Scheme const& c, Contact const& contact) {
    real apart =
        contact.turn - abs(contact.turn - s.steps);  // from the middle of the nearest contact
    real share = least(greatest(contact.reach - apart, 0.0), contact.most);
    real stiffness = fma(share, contact.each, c.free);
    real factor = 1.0 / fma(c.quarter, stiffness, 1.0);
    carry(s.first, c, stiffness, factor);
    carry(s.second, c, stiffness, factor);
}

// Begins the whole period with two disturbances.
HD void begin_period(State& s, Parameters const& p) {
    begin_pass(s, p, true);
    Orbit o = orbit_of(p);
    Scheme c(s, p);
    real most = least(o.pressed_time / c.step, 1.0);
    s.first = {1.0, 0.0, -fma(most, p.wall_stiffness, p.stiffness) / p.mass};
    s.second = {0.0, 1.0, 0.0};
}

// Passes over half a period, until the budget is used or all lanes have found their period.
HD int64 shoot(State& s, Parameters const& p, int64 budget) {
    int64 used = 0;
    Scheme c(s, p);
    while (used < budget && any(s.shooting)) {
        real before = s.speed;
        mask ended = move(s, c);
        ++used;
        if (!any(ended & s.shooting)) continue;
        correct(s, c, p, ended, before);
        begin_pass(s, p, ended);
        c = Scheme(s, p);
    }
    if (!any(s.shooting)) begin_period(s, p);
    return used;
}

HD int64 advance(State& s, Parameters const& p, int64 budget) {
    int64 used = any(s.shooting) ? shoot(s, p, budget) : 0;
    if (used == budget) return used;
    Scheme c(s, p);
    Contact contact(c, p);
    while (used < budget && running(s)) {
        mask ended = move(s, c);
        carry(s, c, contact);
        ++used;
        if (!any(ended)) continue;
        s.trace = select(ended & s.active, s.first.place + s.second.speed, s.trace);
        s.active = s.active & ~ended;
    }
    return used;
}

HD Outputs finish(State const& s, Parameters const& p) {
    Orbit o = orbit_of(p);
    Outputs out;
    out.frequency = 1.0 / s.period;
    out.minimum = s.least;
    out.maximum = o.greatest;
    out.contact_fraction = s.contact;
    set_stability(out, s.trace);
    out.status = status_of(p, (s.passes < most_passes) & (s.least < 0.0));
    out.status = select(resolves(p), out.status, 3.0);
    return out;
}

HD real time_of(State const& s, Parameters const& p) {
    return select(s.shooting, 0.0, s.steps * (s.period / p.steps_per_period));
}

// Within a step, the acceleration is the mean of the two ends. A trace covers the exact period, which may
// be longer than that of the scheme; further steps then continue the motion.
HD Observables look(State const& before, Parameters const& p, real time) {
    Scheme c(before, p);
    State now = before, next = before;
    real since = time - time_of(before, p);
    move(next, c);
    while (any(since > c.step)) {
        now = next;
        move(next, c);
        since -= c.step;
    }
    real push = 0.5 * (now.push + next.push);
    Observables seen;
    seen.time = time;
    seen.displacement = fma(since, fma(0.5 * push, since, now.speed), now.place);
    seen.velocity = fma(push, since, now.speed);
    seen.wall_force = p.wall_stiffness * greatest(seen.displacement - p.gap, 0.0);
    return seen;
}

}  // namespace newmark
