// Events: where an expression changes its sign along the motion.
//
// For each event the state holds the sign that its expression has had since it last left zero, or 0 if it
// was zero when the step began because the event was just taken; it then leaves zero to the side where
// its rate along the motion points.
#pragma once

#include "systems/window.h"

namespace systems {

using equations::Rule;

HD real sign_of(real x) { return select(x > 0.0, 1.0, select(x < 0.0, -1.0, 0.0)); }

constexpr int n_events = equations::events;

// The two ends of a step, or of the part of it that is tried.
template <class System> struct Ends {
    System const& system;
    real t0, t1;
    Vector<n> const &y0, &f0, &y1, &f1;
};

// Whether an event wants to be crossed from this side.
template <int e> HD mask wants(real side) {
    if constexpr (Rule<e>::direction > 0) return side < 0.0;
    if constexpr (Rule<e>::direction < 0) return side > 0.0;
    return side != 0.0;
}

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
template <int e, class System, class Dense>
HD Bracket bracket(Ends<System> const& ends, Dense const& dense, real sign, mask here) {
    System const& system = ends.system;
    real side = side_of<e>(ends, sign);
    mask crossed = here & crossed_by_end<e>(ends, side, sign);
    Bracket found{crossed & wants<e>(side), 0.0, 1.0, side};
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
        mask first = beyond & wants<e>(side), second = beyond & wants<e>(-side);
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

}  // namespace systems
