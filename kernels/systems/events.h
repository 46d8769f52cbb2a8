// Events: where an expression changes its sign along the motion. And sides: which way each relation in the
// derivatives (a comparison, abs, sign, min, max, floor) is decided. A side is held through a step, and
// steps end where it changes.
//
// What ends steps is watched: first the events, then the sides. Of each the state holds the sign that its
// expression has had since it last left zero, or 0 if it is still there; it then leaves zero to the
// side where the motion leads it.
#pragma once

#include "systems/window.h"

namespace systems {

using equations::Rule;
using equations::rules;
using equations::System;

using Window = System::Window;

// How a motion ended.
constexpr double going = 0.0, done = 1.0, too_many_steps = 2.0, chattering = 3.0, overflow = 4.0,
                 undefined = 5.0, sliding = 6.0;
constexpr double violated = 8.0;  // and the number of the hold

constexpr int n_events = equations::events;
constexpr bool has_events = n_events > 0;
constexpr int n_watched = n_events + equations::sides;
constexpr int n_seen = n_watched + equations::observed;
constexpr int n_held = equations::held;  // numbers that sides hold
constexpr int n_switches = equations::switches;
using Switches = Vector<n_switches>;  // the number of the value of each; the mode is the first

// What is done for each event or side.
constexpr bool few_seen = n_seen <= FEW;
template <class F> HD void each_event(F const& f) { each_between<0, n_events, few_seen>(f); }
template <class F> HD void each_side(F const& f) { each_between<n_events, n_watched, few_seen>(f); }
template <class F> HD void each_watched(F const& f) { each_between<0, n_watched, few_seen>(f); }
template <class F> HD void each_observed(F const& f) {
    each_between<n_watched, n_seen, few_seen>(f);
}

// Whether any switch has another value.
HD mask differ(Switches const& a, Switches const& b) {
    mask differ = false;
    each<n_switches>([&](auto k) { differ = differ | (a[k] != b[k]); });
    return differ;
}

// The expression of an event or a side.
template <class E> struct Watched {
    static constexpr Some straight = some_straight<E>(rules);
    E e;

    HD bool is_straight() const { return rules[e].straight; }
    HD bool is_smooth() const { return rules[e].smooth; }
    template <class Part> HD real at_node(Part const& step, int node) const {
        return step.value[node][e];
    }
    template <class System, class Y> HD real value(System const& system, real t, Y const& y) const {
        return system.when(e, t, y);
    }
    template <class System> HD real size(System const& system, real t, Vector<n> const& y) const {
        return system.when_size(e, t, y);
    }
    template <class System, class Y, class F>
    HD real rate(System const& system, real t, Y const& y, F const& f) const {
        return system.when_rate(e, t, y, f);
    }
};

// A step, and the Bernstein coefficients of what is affine along it.
template <class Dense> struct SeenStep : Step<System, Dense> {
    Vector<n_seen> value[Dense::degree + 1];

    HD SeenStep(Ends<System> const& ends, Dense const& dense)
        : Step<System, Dense>(ends, dense, some_straight<int>(rules)) {
        if (some_straight<int>(rules) == Some::none) return;
        each<Dense::degree + 1>([&](auto k) INLINED {
            value[k] = ends.system.all_straight(this->node_time(k), this->node(k));
        });
    }
};

// Where the expression has no value, because an argument in it has left its function's range.
template <class E, class System>
HD mask is_missing(E e, System const& system, real t, Vector<n> const& y) {
    real value = system.when(e, t, y);
    return ~(value == value);
}

template <class E> HD mask wants(E e, real side) { return has_direction(rules[e].direction, side); }

// Rounding errors, in units of what is rounded, that sums of a few terms may have.
constexpr double roundings = 8.0 * 1.1102230246251565e-16;

// Zero has a width, within which a value cannot be told from it: how exactly a time can be located, and the
// roundings of the expression's terms.
HD real width_of(real t, real rate, real size) {
    return fma(8e-15 * t, abs(rate), roundings * size);
}
template <class E, class System>
HD real zero_width(E e, System const& system, real t, Vector<n> const& y, Vector<n> const& f) {
    return width_of(t, system.when_rate(e, t, y, f), system.when_size(e, t, y));
}

// That of all that is watched.
template <class State, class System>
SELDOM Vector<n_watched> zero_widths(State const& s, System const& system) {
    Vector<n_watched> width;
    auto rate = system.all_when_rate(s.t, s.y, s.f), size = system.all_when_size(s.t, s.y);
    each_watched([&](auto e) { width[e] = width_of(s.t, rate[e], size[e]); });
    return width;
}

// Its rate of change; 0 if that is 0 to rounding.
template <class E, class System>
HD real clear_rate(E e, System const& system, real t, Vector<n> const& y, Vector<n> const& f) {
    real rate = system.when_rate(e, t, y, f);
    if (!any(rate != 0.0)) return 0.0;
    real size = system.when_rate_size(e, t, y, f, system.rate_sizes(t, y));
    return select(abs(rate) > roundings * size, rate, 0.0);
}

// The side to which an expression that is zero at the beginning of a step leaves it: by its rate or, where
// that is zero, by the first of its values in the step that is not. 0: it stays.
template <class E, class System, class Shape>
HD real lead_of(E e, Ends<System> const& ends, Shape const& shape, mask at_zero) {
    System const& system = ends.system;
    real h = ends.t1 - ends.t0;
    real rate = system.when_rate(e, ends.t0, ends.y0, ends.f0);
    // Only what stays near zero all through the step, or begins level, can be rounding.
    real most = shape.most();
    mask clear = (h * abs(rate) > 0.01 * most) & (most > 1e-9 * system.when_scale(e));
    if (!any(at_zero & ~clear)) return sign_of(rate);
    real size =
        system.when_rate_size(e, ends.t0, ends.y0, ends.f0, system.rate_sizes(ends.t0, ends.y0));
    real noise = roundings * fma(h, size, system.when_size(e, ends.t0, ends.y0));
    mask rises = clear | (abs(rate) > roundings * size);
    return select(rises, sign_of(rate), shape.lead(noise));
}

// The sign that a side's expression has while it is held: that of the side or, of `floor`, + for the lower
// end of what it holds and - for the upper.
template <class E, class State> HD real held_sign(E e, State const& s) {
    if (rules[e].own == 0)
        return s.side[rules[e].side];
    else
        return rules[e].own;
}

// The side of zero on which the expression is right after the beginning of the step: of a side the one
// that is held, of an event that to which its rate leads it.
template <class E, class State> HD real side_of(E e, State const& s, Ends<System> const& ends) {
    mask at_zero = s.sign[e] == 0.0;
    if (!any(at_zero)) return s.sign[e];
    if (rules[e].side >= 0)
        return select(at_zero, held_sign(e, s), s.sign[e]);
    else
        return select(at_zero, sign_of(clear_rate(e, ends.system, ends.t0, ends.y0, ends.f0)),
                      s.sign[e]);
}

// Whether it has left zero, and with the value `after` is still on that side: most are, and there is no more to do.
template <class E, class State> HD mask keeps_side(E e, State const& s, real after) {
    return (abs(s.sign[e]) == 1.0) & (s.sign[e] * after > 0.0);
}

// Whether the expression has crossed zero at the end of the step. One that was zero at the beginning may
// still be on its way out, and by rounding on the wrong side of it, or rest there; one that is zero at the
// end may turn back there.
template <class E, class System> HD mask crossed_by_end(E e, Ends<System> const& ends, real value,
                                                        real side, real sign) {
    real after = side * value;
    mask crossed = (after <= 0.0) & (side != 0.0);
    mask unsure = crossed & ((sign == 0.0) | (after == 0.0));
    if (!any(unsure)) return crossed;
    real rate = side * ends.system.when_rate(e, ends.t1, ends.y1, ends.f1);
    mask rests = (sign == 0.0) & (value == 0.0) & (rate == 0.0);
    return crossed & ~(unsure & (rate > 0.0)) & ~rests;
}

// The number that a side holds once its expression has crossed zero, or has come to rest there.
template <class E, class State> HD real turned_side(E e, State const& s, System const& system) {
    real side = s.side[rules[e].side], value = system.when(e, s.t, s.y);
    mask rests = value == 0.0;
    if (any(rests)) rests = rests & (system.when_rate(e, s.t, s.y, s.f) == 0.0);
    if (rules[e].own > 0) return select(rests, side, side - 1.0);
    if (rules[e].own < 0) return side + 1.0;
    return select(side == 0.0, sign_of(value), select(rests, 0.0, -side));
}

// Sets a side anew by the sign of its expression; at zero its own value is held until a step tells where the
// motion goes.
template <class E, class State>
HD void set_side(E e, State& s, System& system, real width, mask here) {
    real& held = s.side[rules[e].side];
    if (rules[e].own == 0) {
        real value = system.when(e, s.t, s.y);
        held = select(here, select(abs(value) <= width, 0.0, sign_of(value)), held);
    } else if (rules[e].own > 0) {
        system.side[rules[e].side] = 0.0;
        real value = system.when(e, s.t, s.y), whole = functions::floor(value + 0.5);
        mask at_whole = abs(value - whole) <= width;
        held = select(here, select(at_whole, whole, functions::floor(value)), held);
    }
    system.side[rules[e].side] = held;
}

// That of all. A relation inside another stands before it.
template <class State>
SELDOM void set_sides(State& s, System& system, Vector<n_watched> const& width, mask here) {
    each_side([&](auto e) { set_side(e, s, system, width[e], here); });
}

// Holds what `turned` gives for the sides that are due, and sets those anew inside which one has changed: their
// expressions may have jumped, or touch zero or rest there. Returns which were set anew.
template <class State, class Turned>
SELDOM Vector<n_watched> change_sides(State& s, System& system, Vector<n_watched> const& width,
                                      Vector<n_watched> const& due, mask here,
                                      Turned const& turned) {
    Vector<n_watched> set;
    mask changed = false;
    each_side([&](auto e) {
        real& held = s.side[rules[e].side];
        real before = held;
        mask anew = here & changed & mask(rules[e].nested);
        mask turns = here & is_set(due[e]) & ~anew;
        if (any(turns)) held = select(turns, turned(e), held);
        system.side[rules[e].side] = held;
        if (rules[e].nested && any(anew)) {
            real now = zero_width(e, system, s.t, s.y, s.f);
            set_side(e, s, system, greatest(width[e], now), anew);
        }
        set[e] = flag(anew);
        changed = changed | (here & (held != before));
    });
    return set;
}

// Forgets an event that changes nothing where it cannot be said whether it happens in a step.
template <class E, class System>
HD void forget_missing(E e, Sums& sums, Ends<System> const& ends, mask here) {
    if (rules[e].ranged)
        ends.system.forget(e, sums,
                           here & (is_missing(e, ends.system, ends.t0, ends.y0) |
                                   is_missing(e, ends.system, ends.t1, ends.y1)));
}

// Records the crossings of events that do not change the motion, in the order of their times.
template <class System, class Dense>
SELDOM void observe(Sums& sums, Ends<System> const& ends, Dense const& dense, Window const& window,
                    mask here) {
    System const& system = ends.system;
    mask last = here & (ends.t1 >= window.end);
    SeenStep<Dense> step(ends, dense);
    each_observed([&](auto e) {
        mask open = here & system.active(e);
        forget_missing(e, sums, ends, open);
        along(Watched<decltype(e)>{e}, step, open, [&](auto& shape, auto) {
            real width = 0.0;
            if (any(last))
                width = select(last, zero_width(e, system, ends.t1, ends.y1, ends.f1), 0.0);
            decide_end(shape, width, open);
            mask at_zero = open & (shape.first() == 0.0);
            real side = sign_of(shape.first()), from = 0.0;
            if (any(at_zero)) side = select(at_zero, lead_of(e, ends, shape, at_zero), side);
            open = open & shape.may_change(side);
            while (any(open)) {
                Change change =
                    next_wanted(rules[e].direction, shape, system, dense, from, side, open);
                open = open & change.found;
                if (!any(open)) break;
                real share = crossing(Watched<decltype(e)>{e}, system, dense, change, at_zero);
                real t = dense.time(share);
                auto y = dense(share);
                mask seen = open & (t >= window.start - 1e-12 * dense.length);
                if (rules[e].ranged_action)
                    system.forget(e, sums, seen & system.outside_action(e, t, y));
                if (rules[e].conditional) seen = seen & system.condition(e, t, y);
                system.record(e, sums, t, y, seen);
                from = select(open, change.high, from);
                side = select(open, -change.side, side);
            }
        });
    });
}

}  // namespace systems
