// The dimensionless friction oscillator: phase tau = w t, lengths in a0/w^2, forces in m a0.
//
//   Y'' = -damping Y' - spring Y - sin tau + F,   |F| <= friction (1 + shaking sin(tau + phi))
//
// The plane can exert a force up to that limit in either direction. Seen from one side (sign +1 or -1),
// the required force exceeds the limit by
//
//   sign spring Y + sine sin tau + cosine cos tau - friction,
//
// which is a single sinusoid. So the phase at which a stuck mass slips has a closed form; and during the
// slip, this excess accelerates the mass.
#pragma once

#include "elementary.h"
#include "models/friction_oscillator/sprung_slip.h"

namespace friction_oscillator {

constexpr double two_pi_rest = 2.4492935982947064e-16;  // 2 pi - two_pi
constexpr double never = 1e300;                         // a phase that no run reaches
// Limits without which a run would not end in a lifetime: cycles, and the ratio of the free frequency to
// that of the shaking.
constexpr double most_cycles = 1e9;
constexpr double stiffest = 1e6;
constexpr double most_damping = 1e12;
constexpr double least_normal = 2.2250738585072014e-308;  // smaller numbers have fewer digits
constexpr double small = 1e-270, lift = 0x1p600;          // what is smaller is multiplied by `lift`

// A moment: the number of whole cycles, and the phase in [0, 2 pi) within the cycle.
struct Moment {
    real cycle;
    real phase;
};

HD Moment moment_of_cycles(real cycles) {
    real whole = floor(cycles);
    return {whole, (cycles - whole) * two_pi};
}

// The moment of a time. The phase is accurate to rounding in every cycle, because w t and its remainder
// modulo 2 pi are formed exactly.
HD Moment moment_of_time(real angular_frequency, real time) {
    real angle = angular_frequency * time;
    real rest = fma(angular_frequency, time, -angle);
    real whole = floor(angle * (1.0 / two_pi));
    real phase = fma(-whole, two_pi, angle);
    return {whole, phase + (rest - whole * two_pi_rest)};
}

// The phase from one moment to another.
HD real between(Moment const& from, Moment const& to) {
    return fma(to.cycle - from.cycle, two_pi, to.phase - from.phase);
}

// The moment after a wait of at most one cycle.
HD Moment later(Moment const& from, real wait) {
    real phase = from.phase + wait;
    mask wraps = phase >= two_pi;
    return {select(wraps, from.cycle + 1.0, from.cycle),
            select(wraps, (phase - two_pi) - two_pi_rest, phase)};
}

// Where the required force begins to exceed the limit: the angle is the phase of the sinusoid there,
// `swing` its cosine part and `level` its sine part (the limit less the force of the spring).
struct Crossing {
    real level, swing, angle;
    mask exists;
};

// One of the two directions in which the plane can push.
struct Side {
    real sine, cosine;  // parts of the required force
    real amplitude;     // of that sinusoid
    real lead;          // sine sin tau + cosine cos tau = amplitude sin(tau + lead)
    real excess;        // amplitude - friction, accurate where they nearly cancel
    Crossing unsprung;  // with no spring, or at Y = 0
};

// The angle only where it is wanted.
HD Crossing crossing_of(Side const& side, real friction, real pull, mask wanted) {
    Crossing crossing;
    real excess = side.excess + pull;
    crossing.level = friction - pull;
    crossing.swing = sqrt(greatest(excess * (side.amplitude + crossing.level), 0.0));
    // By atan2, because the arcsine would lose half the digits where level is close to the amplitude.
    crossing.angle = 0.0;
    where_any(wanted,
              [&](auto set) { set(crossing.angle, atan2(crossing.level, crossing.swing)); });
    crossing.exists = excess > 0.0;
    return crossing;
}

struct Scaled {
    real friction, shaking;         // mu g / a0, a_v / g
    real shake_sine, shake_cosine;  // of the phase of the normal load
    Modes modes;                    // of spring k / (m w^2), damping c / (m w)
    Side forward, backward;         // signs +1 and -1
    Moment window_start, window_end;
    real window;  // its length, as phase
    mask free;    // neither spring nor damper
    mask valid;
    mask resolved;  // underflow loses no digits
};

HD Side side_of(real sign, real friction, real excess, real shaking, real sine, real cosine) {
    Side side;
    real share = friction * shaking;
    side.sine = sign - share * cosine;
    side.cosine = 0.0 - share * sine;
    if constexpr (variant::no_shaking) {
        side.amplitude = 1.0;
        side.excess = excess;
    } else {
        real square = fma(side.sine, side.sine, side.cosine * side.cosine);
        real difference = excess * (1.0 + friction) - 2.0 * sign * share * cosine + share * share;
        side.amplitude = sqrt(square);
        side.excess = difference / (side.amplitude + friction);
        side.excess = select(shaking == 0.0, excess, side.excess);
    }
    side.lead = atan2(side.cosine, side.sine);
    side.unsprung = crossing_of(side, friction, 0.0, true);
    return side;
}

HD Scaled scaled(Parameters const& p) {
    Scaled o;
    // mu g is formed exactly, because near mu g = a0 everything depends on the difference. Where its
    // rounding error would underflow, mu g and a0 are larger by a power of two.
    real factor = select(p.base_acceleration < small, lift, 1.0);
    real friction = p.friction * factor;
    real limit = friction * p.gravity;
    real limit_rest = fma(friction, p.gravity, -limit);
    // If the inertia force never exceeds the smallest friction limit of a cycle, the mass never slips,
    // and limit / a0 may overflow. It is replaced by a mass at friction 2 without vertical shaking. The
    // factor 0.5 leaves points near the limit to the crossings, which are more accurate.
    real least_limit = p.friction * (p.gravity - abs(p.vertical_acceleration));
    mask held = p.base_acceleration <= 0.5 * least_limit;
    real scale = select(held, 1.0, p.base_acceleration * factor);
    real excess = select(held, -1.0, ((scale - limit) - limit_rest) / scale);
    o.friction = select(held, 2.0, limit / scale);
    o.shaking = p.vertical_acceleration / p.gravity;
    real shaking = select(held, 0.0, o.shaking);
    sincos(p.phase, o.shake_sine, o.shake_cosine);

    real rate = 1.0 / (p.mass * p.angular_frequency);
    o.modes = modes_of(p.stiffness * rate / p.angular_frequency, p.damping * rate);
    o.free = (o.modes.spring == 0.0) & (o.modes.damping == 0.0);

    o.forward = side_of(1.0, o.friction, excess, shaking, o.shake_sine, o.shake_cosine);
    o.backward = side_of(-1.0, o.friction, excess, shaking, o.shake_sine, o.shake_cosine);
    if constexpr (parameter_set == ParameterSet::cycles) {
        o.window_start = moment_of_cycles(p.start_cycle);
        o.window_end = moment_of_cycles(p.end_cycle);
        o.window = (p.end_cycle - p.start_cycle) * two_pi;
    } else {
        o.window_start = moment_of_time(p.angular_frequency, p.window_start);
        o.window_end = moment_of_time(p.angular_frequency, p.window_end);
        o.window = (p.window_end - p.window_start) * p.angular_frequency;
    }
    o.valid = (abs(o.shaking) < 1.0) & (o.window > 0.0) & (o.window_end.cycle <= most_cycles) &
              (o.modes.spring <= stiffest * stiffest) & (o.modes.damping <= most_damping);
    o.resolved = held | (p.base_acceleration >= least_normal);
    return o;
}

// The window, in s.
HD Span span(Parameters const& p) {
    if constexpr (parameter_set == ParameterSet::cycles) {
        real period = two_pi / p.angular_frequency;
        return {p.start_cycle * period, p.end_cycle * period};
    }
    return {p.window_start, p.window_end};
}

}  // namespace friction_oscillator
