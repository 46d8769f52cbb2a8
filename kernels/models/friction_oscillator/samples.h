// The results of a motion in steps over the window: sums over intervals, stick and slip.
#pragma once

#include "models/friction_oscillator/shaking.h"

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
    mask ever_slipped;

    mask was_stuck;  // at the last sample
    mask rested;     // at the last sample
    mask resting;    // has rested at two consecutive samples since the last slip
    real direction;  // of the last slip
};

HD Sums no_sums() { return {0.0, 0.0, 0.0, 0.0, 0.0, false, true, true, true, 0.0}; }

// At the start of the window: the sums restart, the history stays.
HD Sums at_window(Sums const& before, real velocity) {
    Sums s = before;
    s.wear = s.distance = s.stuck = s.slips = 0.0;
    s.peak = select(s.was_stuck, 0.0, abs(velocity));
    s.ever_slipped = false;
    return s;
}

HD Sums choose(mask m, Sums const& a, Sums const& b) {
    auto either = [&](mask x, mask y) { return (x & m) | (y & ~m); };
    return {select(m, a.wear, b.wear),        select(m, a.distance, b.distance),
            select(m, a.stuck, b.stuck),      select(m, a.peak, b.peak),
            select(m, a.slips, b.slips),      either(a.ever_slipped, b.ever_slipped),
            either(a.was_stuck, b.was_stuck), either(a.rested, b.rested),
            either(a.resting, b.resting),     select(m, a.direction, b.direction)};
}

// The length of an interval, in the unit of the sums: 1, or a number.
struct Whole {
    HD real of(real x) const { return x; }
};
struct Part {
    real length;
    HD real of(real x) const { return length * x; }
};

// The lanes that take a step: all, or some.
struct Everywhere {
    HD friend mask operator&(mask m, Everywhere) { return m; }
    HD real choose(real a, real) const { return a; }
    HD mask choose(mask a, mask) const { return a; }
};
struct Here {
    mask on;
    HD friend mask operator&(mask m, Here here) { return m & here.on; }
    HD real choose(real a, real b) const { return select(on, a, b); }
    HD mask choose(mask a, mask b) const { return (a & on) | (b & ~on); }
};

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
        s.stuck = select(stick, s.stuck + length.of(1.0), s.stuck);
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
    s.was_stuck = here.choose(sample.stuck, s.was_stuck);
}

// The results of a motion in steps.
struct Results {
    real wear;      // mean of |v| N/(m g) over the blocks
    real distance;  // m
    real stuck;     // share of the window
    Sums sums;
    real status;
};

HD Results choose(mask m, Results const& a, Results const& b) {
    return {select(m, a.wear, b.wear), select(m, a.distance, b.distance),
            select(m, a.stuck, b.stuck), choose(m, a.sums, b.sums), select(m, a.status, b.status)};
}

HD Outputs outputs_of(Results const& r, Parameters const& p) {
    mask slipped = r.sums.ever_slipped;
    mask stuck = r.sums.stuck > 0.0;
    Outputs out;
    out.wear_power = p.mass * p.gravity * r.wear;
    out.friction_power = p.friction * out.wear_power;
    out.slip_distance = r.distance;
    out.stick_fraction = r.stuck;
    out.slip_phases = r.sums.slips;
    out.peak_slip_speed = r.sums.peak;
    out.regime = select(slipped, select(stuck, 1.0, 2.0), 0.0);
    mask finite = (abs(out.wear_power) < 1e308) & (abs(out.slip_distance) < 1e308);
    out.status = select((r.status == 0.0) & ~finite, 2.0, r.status);
    return out;
}

}  // namespace friction_oscillator
