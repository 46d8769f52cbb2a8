// Method `exact`: stick and slip phases by the closed-form flow, without a step size.
//
// One unit of work is one transition. A stuck mass waits until the required force exceeds the friction
// limit and then slips: to the end of the slip if it has neither spring nor damper, otherwise by one
// piece of the series. At the end of a slip, the mass reverses if the required force still exceeds the
// limit; otherwise it sticks.
#pragma once

#include "models/friction_oscillator/exact_state.h"
#include "models/friction_oscillator/free_slip.h"
#include "models/friction_oscillator/scaled.h"
#include "models/friction_oscillator/sprung_slip.h"

namespace exact {

HD State start(Parameters const& p) {
    Scaled o = scaled(p);
    State s;
    move_to(s, o, {0.0, 0.0});
    s.position = s.push = s.swing = s.speed = s.rate = s.age = 0.0;
    s.sign = 1.0;
    s.slipping = s.first = s.out_of_stick = false;
    s.active = o.valid;
    s.wear = s.distance = s.stuck = s.peak = s.slips = s.transitions = 0.0;
    s.ever_stuck = s.ever_slipped = false;
    return s;
}

HD bool running(State const& s) { return any(s.active); }

// Begins a slip, and counts it if it begins in the window.
HD void begin_slip(State& s, mask here, mask out_of_stick) {
    if constexpr (wanted::slip_phases) {
        mask counted = here & (s.to_start <= 0.0) & (s.to_end > 0.0);
        s.slips = select(counted, s.slips + 1.0, s.slips);
    }
    s.slipping = s.slipping | here;
    if constexpr (only_free) return;
    s.first = s.first | here;
    s.out_of_stick = (s.out_of_stick & ~here) | (here & out_of_stick);
    s.speed = select(here, 0.0, s.speed);
    s.age = select(here, 0.0, s.age);
}

HD Crossing crossing_now(Side const& side, real friction, real pull, mask wanted) {
    if constexpr (variant::no_spring)
        return side.unsprung;
    else
        return crossing_of(side, friction, pull, wanted);
}

// How long a stuck mass waits until it slips at a crossing. Angles are counted from the middle of the
// sticking range, -pi/2, so that a crossing that has passed by rounding happens now, not a cycle later.
HD real wait_for(State const& s, Side const& side, Crossing const& crossing) {
    real angle = s.now.phase + side.lead;
    real turns = nearest((angle + 0.5 * pi) * (1.0 / two_pi));
    angle = fma(-turns, two_pi, angle);
    return select(crossing.exists, greatest(crossing.angle - angle, 0.0), never);
}

// Advances stuck lanes to their next slip or to the end of the window.
HD void wait(State& s, Scaled const& o) {
    mask stuck = s.active & ~s.slipping;
    if (!any(stuck)) return;
    real pull = o.modes.spring * s.position;
    Crossing forward = crossing_now(o.forward, o.friction, pull, stuck);
    Crossing backward = crossing_now(o.backward, o.friction, -pull, stuck);
    real forward_wait = wait_for(s, o.forward, forward);
    real backward_wait = wait_for(s, o.backward, backward);
    mask ahead = forward_wait <= backward_wait;
    real length = select(ahead, forward_wait, backward_wait);
    real share = width_of(overlap(s, length), s, o);
    if constexpr (wanted::stick_fraction) s.stuck = select(stuck, s.stuck + share, s.stuck);
    s.ever_stuck = s.ever_stuck | (stuck & (share > 10.0 * rounding));

    mask over = stuck & (s.to_end <= length);
    s.active = s.active & ~over;
    mask slips = stuck & ~over;
    Moment then = later(s.now, select(slips, length, 0.0));
    move_to(s, o, {select(slips, then.cycle, s.now.cycle), select(slips, then.phase, s.now.phase)});
    s.sign = select(slips, select(ahead, 1.0, -1.0), s.sign);
    s.push = select(slips, select(ahead, forward.level, backward.level), s.push);
    s.swing = select(slips, select(ahead, forward.swing, backward.swing), s.swing);
    s.rate = select(slips, 0.0, s.rate);
    begin_slip(s, slips, slips);
}

// The result of a stretch of slip: its length, its displacement, and what lies in the window.
struct Stretch {
    real length, displacement;
    real distance, shaken, peak;
    real speed, rate;  // at its end
    mask ended;        // the slip ends with the stretch
    mask in_window;    // part of the stretch lies in the window
};

// The distance slipped, weighted with the varying part of the normal load, where any lane has one.
template <class Slip>
HD real shaken_stretch(State const& s, Scaled const& o, mask here, Slip const& slip, real from,
                       real width) {
    if constexpr (variant::no_shaking) return 0.0;
    if (!any(here & (o.shaking != 0.0))) return 0.0;
    real phase_sine, phase_cosine;
    sincos(s.now.phase, phase_sine, phase_cosine);
    real sine = phase_sine * o.shake_cosine + phase_cosine * o.shake_sine;  // of tau + phi, now
    real cosine = phase_cosine * o.shake_cosine - phase_sine * o.shake_sine;
    return shaken_distance(slip, from, width, sine, cosine);
}

// The whole slip in one stretch.
HD Stretch free_stretch(State const& s, Scaled const& o, mask here) {
    FreeSlip slip{s.rate, s.swing, o.friction};
    Stretch stretch;
    End stop = end_of(slip, here);
    real end = stop.u;
    stretch.length = end;
    stretch.displacement = distance(slip, end, stop.at);
    Overlap inside = overlap(s, end);
    stretch.in_window = inside.to > inside.from;
    stretch.distance = stretch.displacement;
    mask cut = here & stretch.in_window & ((inside.from > 0.0) | (inside.to < end));
    if (any(cut)) {
        real part = distance_over(slip, inside.from, width_of(inside, s, o), cut);
        stretch.distance = select(cut, part, stretch.distance);
    }
    mask counted = here & stretch.in_window;
    stretch.shaken = shaken_stretch(s, o, counted, slip, inside.from, width_of(inside, s, o));
    stretch.peak = 0.0;
    if constexpr (wanted::peak_slip_speed) {
        real at = least(greatest(fastest(slip), inside.from), inside.to);
        stretch.peak = speed(slip, Circular(at));
    }
    stretch.speed = stretch.rate = 0.0;
    stretch.ended = true;
    return stretch;
}

// One piece of the slip, shorter if the slip ends in it.
HD Stretch sprung_stretch(State const& s, Scaled const& o, mask here) {
    Piece now = piece(o.modes, s.age, s.push, s.swing, s.speed, s.rate);
    real length = now.length;
    real zero = first_zero(now, s.first, s.out_of_stick, here);
    Stretch stretch;
    stretch.ended = zero <= 1.0;
    real end = least(zero, 1.0);
    stretch.length = end * length;
    stretch.displacement = distance(now, end);
    Overlap inside = overlap(s, stretch.length);
    stretch.in_window = inside.to > inside.from;
    real from = inside.from / length;
    real width = width_of(inside, s, o) / length;
    stretch.distance = stretch.displacement;
    mask cut = here & stretch.in_window & ((inside.from > 0.0) | (inside.to < stretch.length));
    real part = stretch.distance;
    where_any(cut, [&](auto set) { set(part, distance_over(now, from, width)); });
    stretch.distance = select(cut, part, stretch.distance);
    stretch.shaken = shaken_stretch(s, o, here & stretch.in_window, now, from, width);
    stretch.peak = 0.0;
    if constexpr (wanted::peak_slip_speed)
        stretch.peak = greatest_speed(now, from, least(from + width, end));
    stretch.speed = speed_at_end(now);
    stretch.rate = slope_at_end(now) / length;
    return stretch;
}

HD Stretch choose(mask m, Stretch const& a, Stretch const& b) {
    return {select(m, a.length, b.length),
            select(m, a.displacement, b.displacement),
            select(m, a.distance, b.distance),
            select(m, a.shaken, b.shaken),
            select(m, a.peak, b.peak),
            select(m, a.speed, b.speed),
            select(m, a.rate, b.rate),
            (a.ended & m) | (b.ended & ~m),
            (a.in_window & m) | (b.in_window & ~m)};
}

HD Stretch stretch_of(State const& s, Scaled const& o, mask here) {
    if constexpr (only_free) return free_stretch(s, o, here);
    mask sprung = here & ~o.free;
    mask free = here & o.free;
    if (!any(free)) return sprung_stretch(s, o, sprung);
    Stretch whole = free_stretch(s, o, free);
    if (!any(sprung)) return whole;
    return choose(o.free, whole, sprung_stretch(s, o, sprung));
}

// Updates the driving force, seen from the side that pushes. After the end of a slip, the mass slips
// the other way or sticks.
HD void land(State& s, Scaled const& o, mask ended) {
    real sine, cosine;
    sincos(s.now.phase, sine, cosine);
    s.sign = select(ended, -s.sign, s.sign);
    real side_sine = select(s.sign > 0.0, o.forward.sine, o.backward.sine);
    real side_cosine = o.forward.cosine;
    s.push = fma(side_sine, sine, side_cosine * cosine);
    s.swing = fma(side_sine, cosine, -(side_cosine * sine));
    real excess = s.push - o.friction;
    if constexpr (!variant::no_spring) excess = fma(s.sign * o.modes.spring, s.position, excess);
    // An excess of the order of rounding is not a reversal: a stuck mass would slip at once anyway.
    mask sticks = ended & (excess <= rounding);
    mask reverses = ended & ~sticks;
    s.rate = select(reverses, excess, s.rate);
    s.slipping = s.slipping & ~sticks;
    begin_slip(s, reverses, false);
}

// Advances slipping lanes to the end of the slip or by one piece. Lanes past the end of the window move
// as well, but their sums stay unchanged.
HD void slip(State& s, Scaled const& o) {
    mask here = s.active & s.slipping;
    if (!any(here)) return;
    Stretch stretch = stretch_of(s, o, here);
    mask inside_window = here & stretch.in_window;
    real wear = stretch.distance;
    if constexpr (!variant::no_shaking) wear = fma(o.shaking, stretch.shaken, wear);
    s.wear = select(inside_window, s.wear + wear, s.wear);
    if constexpr (wanted::slip_distance)
        s.distance = select(inside_window, s.distance + stretch.distance, s.distance);
    if constexpr (wanted::peak_slip_speed)
        s.peak = select(inside_window, greatest(stretch.peak, s.peak), s.peak);
    s.ever_slipped = s.ever_slipped | inside_window;

    if constexpr (!variant::no_spring) s.position = fma(-s.sign, stretch.displacement, s.position);
    if constexpr (!only_free) {
        s.speed = stretch.speed;
        s.rate = stretch.rate;
        s.age = s.age + stretch.length;
        s.first = false;
    }
    move_to(s, o, later(s.now, stretch.length));
    s.active = s.active & (s.to_end > 0.0);
    land(s, o, s.active & stretch.ended);
}

// An upper bound: the free oscillations and the shaking each cross zero twice per period.
HD real transition_limit(Scaled const& o) {
    real pieces = 8.0 / shortest_piece(o.modes);
    return (o.window_end.cycle + 2.0) * (64.0 + 16.0 * pieces);
}

HD int64 advance(State& s, Parameters const& p, int64 budget) {
    Scaled o = scaled(p);
    real limit = transition_limit(o);
    int64 used = 0;
    for (; used < budget && running(s); ++used) {
        s.transitions = select(s.active, s.transitions + 1.0, s.transitions);
        wait(s, o);
        slip(s, o);
        s.active = s.active & (s.transitions <= limit);
    }
    return used;
}

// value * down, of which the value alone does not underflow.
struct Lifted {
    real value, down;
};

HD Lifted lifted(real plain, real with_lift) {
    mask lifts = plain < small;
    return {select(lifts, with_lift, plain), select(lifts, 1.0 / lift, 1.0)};
}

HD Lifted quotient(real a, real b) {
    real plain = a / b;
    if (!any(plain < small)) return {plain, 1.0};
    return lifted(plain, a * lift / b);
}

HD Outputs finish(State const& s, Parameters const& p) {
    Scaled o = scaled(p);
    Lifted speed = quotient(p.base_acceleration, p.angular_frequency);
    Lifted length = quotient(speed.value, p.angular_frequency);
    Lifted load = lifted(p.mass * p.gravity, p.mass * lift * p.gravity);
    mask slipped = s.ever_slipped;
    mask stuck = s.ever_stuck;
    Outputs out;
    out.wear_power = load.value * speed.value * (s.wear / o.window) * speed.down * load.down;
    out.friction_power = p.friction * out.wear_power;
    out.slip_distance = length.value * s.distance * length.down * speed.down;
    real stick_fraction = least(s.stuck / o.window, 1.0);  // waits are rounded
    out.stick_fraction = select(slipped, select(stuck, stick_fraction, 0.0), 1.0);
    out.slip_phases = s.slips;
    out.peak_slip_speed = speed.value * s.peak * speed.down;
    out.regime = select(slipped, select(stuck, 1.0, 2.0), 0.0);
    mask finite = o.resolved & (abs(out.wear_power) < 1e308) & (abs(out.slip_distance) < 1e308);
    out.status = select(s.transitions <= transition_limit(o), 0.0, 1.0);
    out.status = select(finite, out.status, 2.0);
    out.status = select(o.valid, out.status, 3.0);
    return out;
}

HD real time_of(State const& s, Parameters const& p) {
    return fma(s.now.cycle, two_pi, s.now.phase) / p.angular_frequency;
}

// Displacement since now, and slip speed, at the phase `u` from now.
struct Motion {
    real displacement, speed;
};

HD Motion motion_after(State const& s, Scaled const& o, real u) {
    FreeSlip slip{s.rate, s.swing, o.friction};
    real turned = least(u, two_pi);
    Circular at(turned);
    Piece now = piece(o.modes, s.age, s.push, s.swing, s.speed, s.rate);
    real x = least(u / now.length, 1.0);
    return {select(o.free, distance(slip, turned, at), distance(now, x)),
            greatest(0.0, select(o.free, speed(slip, at), speed(now, x)))};
}

// The motion at exactly `time`, continued from `before`, which is less than one unit of work earlier.
// Friction on a stuck mass is the required force; the velocity of the plane has mean 0. Without a stored
// position (variant no_spring) the displacement is unknown.
HD Observables look(State const& before, Parameters const& p, real time) {
    Scaled o = scaled(p);
    State s = before;
    wait(s, o);  // if stuck: to the next slip, if that begins before the end of the window
    Moment moment = moment_of_time(p.angular_frequency, time);
    real u = between(s.now, moment);
    mask slipping = before.slipping | (s.slipping & (u >= 0.0));  // rounding can make u negative
    Motion motion = motion_after(s, o, greatest(u, 0.0));

    real sine, cosine;
    sincos(moment.phase, sine, cosine);
    real shake = fma(sine, o.shake_cosine, cosine * o.shake_sine);
    real velocity_scale = p.base_acceleration / p.angular_frequency;
    real speed = select(slipping, velocity_scale * motion.speed, 0.0);
    real along = select(slipping, fma(-s.sign, motion.displacement, s.position), s.position);
    Observables seen;
    seen.time = time;
    seen.displacement = velocity_scale / p.angular_frequency * along;
    seen.velocity = -(s.sign * speed);
    seen.normal_force = p.mass * fma(p.vertical_acceleration, shake, p.gravity);
    real held = fma(p.stiffness, seen.displacement, p.mass * (p.base_acceleration * sine));
    real limit = p.friction * seen.normal_force;
    seen.friction_force = select(slipping, s.sign * limit, held);
    seen.base_velocity = -(velocity_scale * cosine);
    seen.wear_rate = seen.normal_force * speed;
    seen.stuck = select(slipping, 0.0, 1.0);
    return seen;
}

}  // namespace exact
