// Events: where an expression changes its sign along the motion.
//
// For each event the state holds the sign that its expression has had since it last left zero, or 0 if it
// was zero when the step began because the event was just taken; it then leaves zero to the side where
// its rate along the motion points.
#pragma once

#include "systems/window.h"

namespace systems {

using equations::Rule;
using equations::System;

using Window = System::Window;

// How a motion ended.
constexpr double going = 0.0, done = 1.0, too_many_steps = 2.0, chattering = 3.0, overflow = 4.0,
                 undefined = 5.0;

HD real sign_of(real x) { return select(x > 0.0, 1.0, select(x < 0.0, -1.0, 0.0)); }

constexpr int n_events = equations::events;

// Where the expression has no value, because an argument in it has left its function's range.
template <int e, class System>
HD mask is_missing(System const& system, real t, Vector<n> const& y) {
    real value = system.template when<e>(t, y);
    return ~(value == value);
}

// The two ends of a step, or of the part of it that is tried.
template <class System> struct Ends {
    System const& system;
    real t0, t1;
    Vector<n> const &y0, &f0, &y1, &f1;
};

// Whether a crossing from this side has the direction: 1 rising, -1 falling, 0 both.
template <int direction> HD mask has_direction(real side) {
    if constexpr (direction > 0) return side < 0.0;
    if constexpr (direction < 0) return side > 0.0;
    return abs(side) > 0.0;
}
template <int e> HD mask wants(real side) { return has_direction<Rule<e>::direction>(side); }

// The side of zero on which the expression is right after the beginning of the step.
template <int e, class System> HD real side_of(Ends<System> const& ends, real sign) {
    mask at_zero = sign == 0.0;
    if (!any(at_zero)) return sign;
    return select(at_zero, sign_of(ends.system.template when_rate<e>(ends.t0, ends.y0, ends.f0)),
                  sign);
}

// Whether the expression has crossed zero at the end of the step. One that was zero at the beginning may
// still be on its way out, and by rounding on the wrong side of it.
template <int e, class System> HD mask crossed_by_end(Ends<System> const& ends, real side,
                                                      real sign) {
    real after = ends.system.template when<e>(ends.t1, ends.y1);
    mask crossed = (side * after <= 0.0) & (side != 0.0);
    mask at_zero = sign == 0.0;
    if (!any(at_zero & crossed)) return crossed;
    real rate = ends.system.template when_rate<e>(ends.t1, ends.y1, ends.f1);
    return crossed & ~(at_zero & (side * rate > 0.0));
}

// A stretch of a step, in shares, at whose beginning an expression is on `side` and at whose end not.
struct Bracket {
    mask crosses;
    real low, high, side;
};

// The first wanted crossing in the step: at its end the expression has changed sides, or it has passed an
// extreme on the other side.
template <int e, int direction, class System, class Dense>
HD Bracket bracket(Ends<System> const& ends, Dense const& dense, real sign, mask here) {
    System const& system = ends.system;
    real side = side_of<e>(ends, sign);
    mask crossed = here & crossed_by_end<e>(ends, side, sign);
    Bracket found{crossed & has_direction<direction>(side), 0.0, 1.0, side};
    real rate0 = side * system.template when_rate<e>(ends.t0, ends.y0, ends.f0);
    real rate1 = side * system.template when_rate<e>(ends.t1, ends.y1, ends.f1);
    mask turns = here & ~crossed & (rate0 < 0.0) & (rate1 > 0.0);
    if (any(turns)) {
        auto rate = [&](real s) {
            real t = dense.time(s);
            auto y = dense(s);
            return side * system.template when_rate<e>(t, y, system.rates(t, y));
        };
        real s = root_between(rate, 0.0, 1.0, rate0, rate1, turns, 1e-10);
        mask beyond = turns & (side * system.template when<e>(dense.time(s), dense(s)) < 0.0);
        mask first = beyond & has_direction<direction>(side);
        mask second = beyond & ~first & has_direction<direction>(-side);
        found.crosses = found.crosses | first | second;
        found.high = select(first, s, found.high);
        found.low = select(second, s, found.low);
        found.side = select(second, -side, side);
    }
    return found;
}

// The share of the step at which the expression crosses zero on the dense motion.
template <int e, class System, class Dense>
HD real crossing(Ends<System> const& ends, Dense const& dense, Bracket const& found, real sign) {
    System const& system = ends.system;
    // An expression that is zero at the beginning is divided by the share, which removes that root.
    mask at_zero = (sign == 0.0) & (found.low == 0.0);
    auto g = [&](real s) {
        real value = system.template when<e>(dense.time(s), dense(s));
        return select(at_zero, value / s, value);
    };
    real rate = system.template when_rate<e>(ends.t0, ends.y0, ends.f0);
    real before = select(at_zero, rate * dense.length, g(found.low));
    real after = g(found.high);
    before = select(before * found.side > 0.0, before, found.side * greatest(abs(after), 1e-300));
    return root_between(g, found.low, found.high, before, after, found.crosses, 1e-12);
}

// A crossing on the dense motion of a step that changes nothing.
template <int e, int direction, class System, class Dense> struct Seen {
    System const& system;
    Dense const& dense;
    mask crosses;
    real share;

    HD Seen(Ends<System> const& ends, Dense const& dense, mask here)
        : system(ends.system), dense(dense), crosses(false), share(2.0) {
        real sign = sign_of(system.template when<e>(ends.t0, ends.y0));
        Bracket found = bracket<e, direction>(ends, dense, sign, here);
        if (!any(found.crosses)) return;
        crosses = found.crosses;
        share = select(crosses, crossing<e>(ends, dense, found, sign), share);
    }
    HD void record(Sums& sums, real window_start, mask here) const {
        if (!any(here)) return;
        real t = dense.time(share);
        auto y = dense(share);
        mask seen = here & (t >= window_start);
        if constexpr (Rule<e>::ranged_action)
            system.template forget<e>(sums, seen & system.template outside_action<e>(t, y));
        if constexpr (Rule<e>::conditional) seen = seen & system.template condition<e>(t, y);
        system.template record<e>(sums, t, y, seen);
    }
};

// Forgets an event that changes nothing where it cannot be said whether it happens in a step.
template <int e, class System>
HD void forget_missing(Sums& sums, Ends<System> const& ends, mask here) {
    if constexpr (Rule<e>::ranged)
        ends.system.template forget<e>(sums, here & (is_missing<e>(ends.system, ends.t0, ends.y0) |
                                                     is_missing<e>(ends.system, ends.t1, ends.y1)));
}

// Records the crossings of events that do not change the motion, in the order of their times.
template <class System, class Dense>
HD void observe(Sums& sums, Ends<System> const& ends, Dense const& dense, real window_start,
                mask here) {
    each<equations::observed>([&](auto i) {
        constexpr int e = n_events + i;
        constexpr int direction = Rule<e>::direction;
        mask asked = here & ends.system.template active<e>();
        forget_missing<e>(sums, ends, asked);
        if constexpr (direction != 0) {
            Seen<e, direction, System, Dense> seen(ends, dense, asked);
            seen.record(sums, window_start, seen.crosses);
        } else {
            Seen<e, 1, System, Dense> rising(ends, dense, asked);
            Seen<e, -1, System, Dense> falling(ends, dense, asked);
            mask first = rising.share <= falling.share;
            rising.record(sums, window_start, rising.crosses & first);
            falling.record(sums, window_start, falling.crosses);
            rising.record(sums, window_start, rising.crosses & ~first);
        }
    });
}

}  // namespace systems
