// The results of a motion in steps over the window: sums over intervals, stick and slip.
#pragma once

#include "models/friction_oscillator/shaking.h"
#include "stepping/motion.h"
#include "stepping/waves.h"

namespace friction_oscillator {

// A moment of the motion: the end of one step and the beginning of the next.
struct Sample {
    real velocity;
    real heading;  // the velocity at which the friction law was evaluated
    mask stuck;
    mask rests;  // stuck, and friction can hold the mass, unlike at a reversal
};

// Between two samples, per unit of length: twice the mean of |v| N/(m g) and of |v|.
struct Interval {
    real wear, distance;
};

struct Sums {
    real wear;      // of this block
    real distance;  // of the window, as are the others
    real stuck;
    real peak;
    real slips;
    mask ever_slipped, ever_stuck;

    mask was_stuck;  // at the last sample
    mask rested;     // at the last sample
    mask resting;    // has rested at two consecutive samples since the last slip
    real direction;  // of the last slip
};

HD Sums no_sums() { return {0.0, 0.0, 0.0, 0.0, 0.0, false, false, true, true, true, 0.0}; }

// At the start of the window: the sums restart, the history stays.
HD Sums at_window(Sums const& before, real velocity) {
    Sums s = before;
    s.wear = s.distance = s.stuck = s.slips = 0.0;
    s.peak = select(s.was_stuck, 0.0, abs(velocity));
    s.ever_slipped = s.ever_stuck = false;
    return s;
}

HD Sums choose(mask m, Sums const& a, Sums const& b) {
    auto either = [&](mask x, mask y) { return (x & m) | (y & ~m); };
    return {select(m, a.wear, b.wear),          select(m, a.distance, b.distance),
            select(m, a.stuck, b.stuck),        select(m, a.peak, b.peak),
            select(m, a.slips, b.slips),        either(a.ever_slipped, b.ever_slipped),
            either(a.ever_stuck, b.ever_stuck), either(a.was_stuck, b.was_stuck),
            either(a.rested, b.rested),         either(a.resting, b.resting),
            select(m, a.direction, b.direction)};
}

// Adds an interval. It is stick if both samples are at rest; its wear is added where `counts` is set.
template <class Length, class Place>
HD void add(Sums& s, Interval const& interval, mask counts, Sample const& sample, Length length,
            Place here) {
    mask worn = counts & here;
    s.wear = select(worn, s.wear + length.of(interval.wear), s.wear);
    if constexpr (wanted::slip_distance)
        s.distance = select(worn, s.distance + length.of(interval.distance), s.distance);
    if constexpr (wanted::stick_fraction || wanted::regime) {
        mask stick = (s.rested & sample.rests) & here;
        if constexpr (wanted::stick_fraction)
            s.stuck = select(stick, s.stuck + length.of(1.0), s.stuck);
        s.ever_stuck = s.ever_stuck | stick;
        s.ever_slipped = s.ever_slipped | worn;
    }
    if constexpr (wanted::peak_slip_speed) {
        mask slips = ~sample.stuck & here;
        s.peak = select(slips, greatest(abs(sample.velocity), s.peak), s.peak);
    }
    if constexpr (wanted::slip_phases) {
        real direction = times_sign(1.0, sample.heading);
        mask slips = ~sample.stuck & here;
        mask begins = slips & (s.resting | (direction != s.direction));
        s.slips = select(begins, s.slips + 1.0, s.slips);
        s.direction = select(slips, direction, s.direction);
        s.resting = here.choose(sample.stuck & (s.resting | (s.rested & sample.rests)), s.resting);
    }
    if constexpr (wanted::stick_fraction || wanted::regime || wanted::slip_phases)
        s.rested = here.choose(sample.rests, s.rested);
    if constexpr (wanted::peak_slip_speed) s.was_stuck = here.choose(sample.stuck, s.was_stuck);
}

HD Outputs outputs_of(stepping::Results<Sums> const& r, Parameters const& p) {
    mask slipped = r.sums.ever_slipped;
    mask stuck = r.sums.ever_stuck;
    Outputs out;
    out.wear_power = p.mass * p.gravity * (0.5 * r.mean);
    out.friction_power = p.friction * out.wear_power;
    out.slip_distance = 0.5 * r.unit * r.sums.distance;
    out.stick_fraction = least(r.sums.stuck / r.duration, 1.0);  // lengths are rounded
    out.slip_phases = r.sums.slips;
    out.peak_slip_speed = r.sums.peak;
    out.regime = select(slipped, select(stuck, 1.0, 2.0), 0.0);
    mask finite = (abs(out.wear_power) < 1e308) & (abs(out.slip_distance) < 1e308);
    out.status = select((r.status == 0.0) & ~finite, 2.0, r.status);
    return out;
}

// What all motions in steps have in common: the physics around the law of friction.
struct Shaken {
    using Sums = friction_oscillator::Sums;
    using Window = friction_oscillator::Window;
    static constexpr int plain_steps = 0;

    HD static real frequency(Parameters const& p) { return p.angular_frequency; }
    HD static Window window(Parameters const& p) { return window_of(p); }
    HD static mask valid(Parameters const& p, Window const& window) {
        return friction_oscillator::valid(p, window);
    }
    HD static mask sees_enough(Parameters const& p, real h) {
        return friction_oscillator::sees_enough(p, shaking_of(p), h);
    }
    HD static Sums no_sums() { return friction_oscillator::no_sums(); }
    HD static Sums choose_sums(mask m, Sums const& a, Sums const& b) {
        return friction_oscillator::choose(m, a, b);
    }
    template <class Done, class Length, class Place>
    HD static void add(Sums& sums, Done const& done, Length length, Place here) {
        friction_oscillator::add(sums, done.interval, done.counts, done.sample, length, here);
    }
    HD static real& of_block(Sums& sums) { return sums.wear; }
    HD static Outputs outputs(stepping::Results<Sums> const& results, Parameters const& p) {
        return outputs_of(results, p);
    }
};

// What a trace sees of such a motion at `time`, with this sine and cosine of the phase.
template <class Motion>
HD Observables observed(typename Motion::State const& s, Parameters const& p, real time, real sine,
                        real cosine) {
    auto law = Motion::law(p);
    Observables o;
    o.time = time;
    o.displacement = Motion::position(s);
    o.velocity = Motion::velocity(s);
    o.normal_force = p.mass * p.gravity * load_at(law.shaking, sine, cosine);
    o.friction_force = p.mass * Motion::friction(s, law, sine, cosine);
    o.base_velocity = -(p.base_acceleration / p.angular_frequency * cosine);
    o.wear_rate = select(Motion::stuck(s), 0.0, o.normal_force * abs(o.velocity));
    o.stuck = select(Motion::stuck(s), 1.0, 0.0);
    return o;
}
template <class Motion>
HD Observables observed(typename Motion::State const& s, Parameters const& p, real time) {
    real sine, cosine;
    stepping::sincos_at(p.angular_frequency, time, sine, cosine);
    return observed<Motion>(s, p, time, sine, cosine);
}

}  // namespace friction_oscillator
