// Where an expression changes its sign along the dense motion of a step.
//
// An expression that is affine in the states and in time is a polynomial there. It crosses zero at most as
// often as its Bernstein coefficients change their signs, so halving isolates every crossing. Any other
// expression is sampled; between two samples it may turn once.
//
// An expression G has `is_straight()` (whether it is affine), `is_smooth()` (whether it is a smooth function of
// the states alone), `at_node(step, k)` (its Bernstein coefficients, if it is), `value(system, t, y)`, `size(system, t, y)` (of its terms) and `rate(system, t, y, f)`,
// its rate of change where f are the rates of the states. `G::straight` says which of several are affine.
#pragma once

#include "systems/dense.h"

namespace systems {

constexpr int n = equations::states;

HD real sign_of(real x) { return select(x > 0.0, 1.0, select(x < 0.0, -1.0, 0.0)); }

// The two ends of a step, or of the part of it that is tried.
template <class System> struct Ends {
    System const& system;
    real t0, t1;
    Vector<n> const &y0, &f0, &y1, &f1;
    mask precise;  // whether a step is controlled so well that states are cubics to 1e-4
};

// Which of some expressions are affine.
enum class Some { none, few, all };

template <class E, class Rule, int count>
constexpr Some some_straight(Rule const (&rules)[count]) {
    if constexpr (is_constant<E>) {
        return rules[E::value].straight ? Some::all : Some::none;
    } else {
        int straight = 0;
        for (Rule const& rule : rules) straight += rule.straight;
        return straight == 0 ? Some::none : straight == count ? Some::all : Some::few;
    }
}

// Samples are not at even distances, so that no periodic expression has the same value in all of them.
constexpr double sample_place(int k, int samples) {
    double turn = 0.6180339887498949 * k;
    double uneven = 0.4 * (turn - (int)turn - 0.5);
    return k == 0 ? 0.0 : k == samples ? 1.0 : (k + uneven) / samples;
}

template <int samples> struct SamplePlaces {
    double at[samples + 1];
    constexpr SamplePlaces() : at() {
        for (int k = 0; k <= samples; ++k) at[k] = sample_place(k, samples);
    }
};
template <int samples> TABLE SamplePlaces<samples> sample_places;

// A step: its ends, its dense motion, and the inner Bernstein points of that, for what is affine.
template <class System, class Dense> struct Step {
    using Inside = Dense;
    Ends<System> const& ends;
    Dense const& dense;
    Vector<n> point[Dense::degree - 1];

    HD Step(Ends<System> const& ends, Dense const& dense, Some straight)
        : ends(ends), dense(dense) {
        if (straight == Some::none) return;
        each<Dense::degree - 1>([&](auto index) INLINED {
            constexpr int k = decltype(index)::value;
            point[k] = dense.template bernstein_point<k + 1>();
        });
    }
    HD real node_time(int k) const {
        return k == 0 ? ends.t0 : k == Dense::degree ? ends.t1 : dense.bernstein_time(k);
    }
    HD Vector<n> const& node(int k) const {
        return k == 0 ? ends.y0 : k == Dense::degree ? ends.y1 : point[k - 1];
    }
};

// A part of a step, in shares of it, in which an expression leaves `side` and which has one crossing.
struct Change {
    mask found;
    real low, high, side;
};

// The polynomial by its Bernstein coefficients over the step.
template <int degree> struct Curve {
    real at[degree + 1];
};

// The same polynomial between two shares, by de Casteljau's algorithm.
template <int degree>
HD Curve<degree> part_of(Curve<degree> const& whole, real low, real high) {
    Curve<degree> part = whole;
    for (int round = 1; round <= degree; ++round)
        for (int k = 0; k <= degree - round; ++k)
            part.at[k] = fma(low, part.at[k + 1] - part.at[k], part.at[k]);
    real share = (high - low) / (1.0 - low);
    for (int round = 1; round <= degree; ++round)
        for (int k = degree; k >= round; --k)
            part.at[k] = fma(share, part.at[k] - part.at[k - 1], part.at[k - 1]);
    part.at[degree] = select(high == 1.0, whole.at[degree], part.at[degree]);
    return part;
}

// How often the signs of the coefficients change, where the first has that of `side`.
template <int degree> HD real sign_changes(Curve<degree> const& curve, real side) {
    real changes = 0.0, last = side;
    for (int k = 1; k <= degree; ++k) {
        real now = sign_of(curve.at[k]);
        changes += select(now * last < 0.0, 1.0, 0.0);
        last = select(now == 0.0, last, now);
    }
    return changes;
}

// The first part after `from`, where the polynomial is on `side`, with one crossing. Crossings closer to
// each other than 1e-7 of the step, of which an even number would follow, are a touch of zero.
template <int degree>
SELDOM Change next_change(Curve<degree> const& curve, real const& from, real const& side,
                          mask const& here) {
    if (!any(here & ((from > 0.0) | (sign_changes(curve, side) > 1.0))))
        return {here & (side != 0.0) & (sign_changes(curve, side) == 1.0), from, 1.0, side};
    real low = from, width = 1.0 - from;
    mask found = false, open = here & (from < 1.0) & (side != 0.0);
    while (any(open)) {
        real high = least(low + width, 1.0);
        Curve<degree> part = part_of(curve, low, high);
        real changes = sign_changes(part, side);
        mask narrow = width < 1e-7;
        mask one = open & ((changes == 1.0) | (narrow & (side * part.at[degree] < 0.0)));
        mask none = open & ~one & ((changes == 0.0) | narrow);
        found = found | one;
        open = open & ~one;
        low = select(none, high, low);
        width = select(none, least(2.0 * width, 1.0 - high), select(open, 0.5 * width, width));
        open = open & (low < 1.0);
    }
    return {found, low, least(low + width, 1.0), side};
}

// Its value and slope at a share, by de Casteljau's algorithm.
template <int degree>
HD real value_at(Curve<degree> const& curve, real share, real& slope) {
    Curve<degree> part = curve;
    for (int round = 1; round < degree; ++round)
        for (int k = 0; k <= degree - round; ++k)
            part.at[k] = fma(share, part.at[k + 1] - part.at[k], part.at[k]);
    slope = part.at[1] - part.at[0];
    real value = fma(share, slope, part.at[0]);
    slope = degree * slope;
    return value;
}

// The share at which the polynomial crosses zero, by Newton's method in a bracket. Where it is zero at the
// beginning (`at_zero`) it is divided by the share, which removes that root.
template <int degree>
SELDOM real root_of(Curve<degree> const& curve, Change const& change, mask const& at_zero) {
    mask open = change.found, divided = open & at_zero & (change.low == 0.0);
    bool divides = any(divided);
    real low = change.low, high = change.high;
    real share = 0.5 * (low + high);
    for (int i = 0; i < 100 && any(open); ++i) {
        real slope, value = value_at(curve, share, slope);
        if (divides) slope = slope - select(divided, value / share, 0.0);
        mask before = change.side * value > 0.0;
        low = select(before, share, low);
        high = select(before, high, share);
        real better = share - value / slope;
        mask inside = (better >= low) & (better <= high);
        better = select(inside, better, 0.5 * (low + high));
        // From so near, Newton's method is exact.
        mask close = (inside & (abs(better - share) <= 1e-9)) | (high - low <= 1e-15);
        share = select(open, better, share);
        open = open & ~close;
    }
    return share;
}

// About where the polynomial, going on beyond the step, leaves `side` before the share `reach`; else 3.
template <int degree>
SELDOM real next_of(Curve<degree> const& curve, real const& side, real const& reach,
                    mask const& here) {
    real last = curve.at[degree], slope, value = value_at(curve, reach, slope);
    mask comes = here & (side * last > 0.0) & (side * value < 0.0);
    if (!any(comes)) return 3.0;
    real share = 1.0 + (reach - 1.0) * (last / (last - value));
    for (int i = 0; i < 2; ++i) {  // Newton's method
        value = value_at(curve, share, slope);
        share = share - value / slope;
    }
    return select(comes & (share > 1.0) & (share < reach), share, 3.0);
}

// The side to which an expression leaves zero: the sign of the first of its coefficients or samples that is
// neither noise nor so small beside the others that it may be an error of the dense motion; else 0.
template <int count> HD real first_sign(real const (&values)[count], real noise) {
    real least_value = noise, sign = 0.0;
    for (int k = 0; k < count; ++k) least_value = greatest(least_value, 0.01 * abs(values[k]));
    for (int k = 0; k < count; ++k) {
        mask first = (sign == 0.0) & (abs(values[k]) > least_value);
        sign = select(first, sign_of(values[k]), sign);
    }
    return sign;
}

// An affine expression along a step.
template <class G, class Dense> struct Straight {
    static constexpr bool is_straight = true;
    Curve<Dense::degree> curve;

    template <class Part> HD Straight(G const& g, Part const& step, mask) {
        each<Dense::degree + 1>([&](auto k) { curve.at[k] = g.at_node(step, k); });
    }
    HD real first() const { return curve.at[0]; }
    HD real last() const { return curve.at[Dense::degree]; }
    HD real before_last() const { return curve.at[Dense::degree - 1]; }
    HD void set_last(mask here, real value) {
        curve.at[Dense::degree] = select(here, value, curve.at[Dense::degree]);
    }
    HD mask may_change(real side) const {
        mask may = false;
        each<Dense::degree>([&](auto k) { may = may | (side * curve.at[k + 1] < 0.0); });
        return may;
    }
    // How far it goes at most to the other side.
    HD real beyond(real side) const {
        real beyond = 0.0;
        each<Dense::degree>([&](auto k) { beyond = greatest(beyond, -side * curve.at[k + 1]); });
        return beyond;
    }
    HD real most() const {
        real most = 0.0;
        each<Dense::degree>([&](auto k) { most = greatest(most, abs(curve.at[k + 1])); });
        return most;
    }
    HD real lead(real noise) const {
        real later[Dense::degree];
        each<Dense::degree>([&](auto k) { later[k] = curve.at[k + 1]; });
        return first_sign(later, noise);
    }
    // Takes for zero what follows, up to the first that is not within `noise`.
    HD void settle(real noise, mask here) {
        each<Dense::degree>([&](auto k) {
            here = here & (abs(curve.at[k + 1]) <= noise);
            curve.at[k + 1] = select(here, 0.0, curve.at[k + 1]);
        });
    }
    HD mask resolved(real) const { return true; }
    template <class System>
    HD Change next(System const&, Dense const&, real from, real side, mask here) const {
        return next_change(curve, from, side, here);
    }
};

// Any other expression along a step: values, and rates by share, at samples. Where it is a smooth function of
// states in a precise step, and the coefficients of the cubic through its ends are clearly not zero, their
// signs tell as much.
template <class G, class Dense> struct Sampled {
    static constexpr bool is_straight = false;
    static constexpr int samples = Dense::degree > 4 ? 16 : 8;
    G g;
    real value[samples + 1], rate[samples + 1];
    Curve<3> cubic;
    mask clear;
    bool filled;

    template <class System>
    HD Sampled(G const& g, Step<System, Dense> const& step, mask here)
        : g(g), clear(false), filled(true) {
        Ends<System> const& ends = step.ends;
        Dense const& dense = step.dense;
        set(0, ends.system, dense, ends.t0, ends.y0, ends.f0);
        set(samples, ends.system, dense, ends.t1, ends.y1, ends.f1);
        if (g.is_smooth() && Dense::degree <= 4) {
            cubic.at[0] = value[0];
            cubic.at[1] = fma(1.0 / 3.0, rate[0], value[0]);
            cubic.at[2] = fma(-1.0 / 3.0, rate[samples], value[samples]);
            cubic.at[3] = value[samples];
            real least_value = 1e-3 * g.size(ends.system, ends.t0, ends.y0);
            clear = ends.precise & (sign_changes(cubic, sign_of(value[0])) < 2.0);
            each<4>([&](auto k) { clear = clear & (abs(cubic.at[k]) > least_value); });
            filled = any(here & ~clear);
        }
        if (!filled) return;
        UNROLLED for (int k = 1; k < samples; ++k) {
            real s = at(k);
            set(k, ends.system, dense, dense.time(s), dense.states(s), dense.rates_of(s));
        }
    }
    HD static double at(int k) { return sample_places<samples>.at[k]; }
    template <class System, class Y, class F>
    HD void set(int k, System const& system, Dense const& dense, real t, Y const& y, F const& f) {
        value[k] = g.value(system, t, y);
        rate[k] = dense.length * g.rate(system, t, y, f);
    }
    HD real first() const { return value[0]; }
    HD real last() const { return value[samples]; }
    HD real before_last() const { return -rate[samples]; }
    HD void set_last(mask here, real last) { value[samples] = select(here, last, value[samples]); }
    HD mask may_change(real side) const {
        mask may = side * value[samples] < 0.0;
        if (!filled) return may;
        UNROLLED for (int k = 0; k < samples; ++k) {
            mask turns = (side * rate[k] < 0.0) & (side * rate[k + 1] > 0.0);
            may = may | (~clear & (turns | (side * value[k + 1] < 0.0)));
        }
        return may;
    }
    // The later samples, or the last alone where nothing changes its sign before.
    HD void later(real (&later)[samples]) const {
        UNROLLED for (int k = 0; k < samples; ++k) later[k] = value[samples];
        if (!filled) return;
        UNROLLED for (int k = 0; k < samples; ++k) later[k] =
            select(clear, value[samples], value[k + 1]);
    }
    HD real most() const {
        real later[samples], most = 0.0;
        this->later(later);
        UNROLLED for (real const& each : later) most = greatest(most, abs(each));
        return most;
    }
    HD real lead(real noise) const {
        real later[samples];
        this->later(later);
        return first_sign(later, noise);
    }
    HD void settle(real noise, mask here) {
        if (!filled) return;
        here = here & ~clear;
        UNROLLED for (int k = 0; k < samples; ++k) {
            here = here & (abs(value[k + 1]) <= noise);
            value[k + 1] = select(here, 0.0, value[k + 1]);
            rate[k] = select(here, 0.0, rate[k]);
            rate[k + 1] = select(here, 0.0, rate[k + 1]);
        }
    }
    // Whether samples are close enough to each other to tell what is between them: each is near the
    // cubic through its two neighbours but for `noise`, or has another sign than one of them, or no value.
    HD mask resolved(real noise) const {
        mask resolved = true;
        if (!filled) return resolved;
        UNROLLED for (int k = 1; k < samples; ++k) {
            double a = at(k - 1), b = at(k + 1), s = (at(k) - a) / (b - a);
            real rise = value[k + 1] - value[k - 1];
            real bend = (b - a) * rate[k - 1] - rise;
            real twist = rise - (b - a) * rate[k + 1] - bend;
            real cubic = fma(s, fma(1.0 - s, fma(s, twist, bend), rise), value[k - 1]);
            real size = greatest(abs(value[k]), greatest(abs(value[k - 1]), abs(value[k + 1])));
            mask far = abs(value[k] - cubic) > fma(0.05, size, noise);  // not without a value
            mask changes = (value[k] * value[k - 1] < 0.0) | (value[k] * value[k + 1] < 0.0);
            resolved = resolved & (~far | changes | clear);
        }
        return resolved;
    }
    template <class System>
    HD Change next(System const& system, Dense const& dense, real from, real side,
                   mask here) const {
        auto slope = [&](real s) {
            return side * g.rate(system, dense.time(s), dense.states(s), dense.rates_of(s));
        };
        Change change{here & clear & (from < 1.0) & (side * value[samples] < 0.0), from, 1.0, side};
        mask open = here & (side != 0.0) & ~clear;
        if (!filled) return change;
        UNROLLED for (int k = 0; k < samples; ++k) {
            real start = at(k), end = at(k + 1);
            mask inside = open & (from < end);
            if (!any(inside)) continue;
            real low = greatest(from, start), high = end;
            mask crosses = inside & (side * value[k + 1] < 0.0);
            real before = side * rate[k], after = side * rate[k + 1];
            if (any(inside & (from > start))) before = select(from > start, slope(low), before);
            mask turns = inside & ~crosses & (before < 0.0) & (after > 0.0);
            if (any(turns)) {
                real turn = root_between(slope, low, high, before, after, turns, 1e-10);
                mask beyond =
                    turns & (side * g.value(system, dense.time(turn), dense.states(turn)) < 0.0);
                high = select(beyond, turn, high);
                crosses = crosses | beyond;
            }
            change.found = change.found | crosses;
            change.low = select(crosses, low, change.low);
            change.high = select(crosses, high, change.high);
            open = open & ~crosses;
        }
        return change;
    }
};

// f(shape, whether it is affine) with the shape of an expression along a step.
template <class G, class Part, class F>
HD void along(G const& g, Part const& step, mask here, F const& f) {
    using Dense = typename Part::Inside;
    if constexpr (G::straight != Some::none)
        if (G::straight == Some::all || g.is_straight()) {
            Straight<G, Dense> shape(g, step, here);
            f(shape, Index<1>{});
            return;
        }
    if constexpr (G::straight != Some::all) {
        Sampled<G, Dense> shape(g, step, here);
        f(shape, Index<0>{});
    }
}

// One that is zero at the end of the step has crossed it there if it goes on to the other side.
template <class Shape> HD void decide_end(Shape& shape, real width, mask here) {
    mask at_zero = here & (abs(shape.last()) <= width);
    if (!any(at_zero)) return;
    mask passes = at_zero & (abs(shape.before_last()) > width);
    shape.set_last(passes, -1e-300 * sign_of(shape.before_last()));
}

// Whether a crossing from this side has the direction: 1 rising, -1 falling, 0 both.
HD mask has_direction(int direction, real side) {
    if (direction > 0) return side < 0.0;
    if (direction < 0) return side > 0.0;
    return abs(side) > 0.0;
}

// The first crossing in the wanted direction after `from`, where the expression is on `side`.
template <class Shape, class System, class Dense>
HD Change next_wanted(int direction, Shape const& shape, System const& system, Dense const& dense,
                      real from, real side, mask here) {
    if (direction == 0) return shape.next(system, dense, from, side, here);
    Change wanted{false, from, 1.0, side};
    mask open = here;
    while (any(open)) {
        Change change = shape.next(system, dense, from, side, open);
        mask right = open & change.found & has_direction(direction, side);
        wanted.found = wanted.found | right;
        wanted.low = select(right, change.low, wanted.low);
        wanted.high = select(right, change.high, wanted.high);
        wanted.side = select(right, side, wanted.side);
        open = open & change.found & ~right;
        from = select(open, change.high, from);
        side = select(open, -side, side);
    }
    return wanted;
}

// The share at which the expression crosses zero, located to `width`. Where it is zero at the beginning (`at_zero`) it is
// divided by the share, which removes that root.
template <class G, class System, class Dense>
SELDOM real crossing(G const& g, System const& system, Dense const& dense, Change const& change,
                     mask const& at_zero, real const& width = 1e-12) {
    mask divided = at_zero & (change.low == 0.0);
    auto at = [&](real s) {
        real value = g.value(system, dense.time(s), dense.states(s));
        return select(divided, value / s, value);
    };
    real after = at(change.high), before = at(change.low);
    real least_before = change.side * greatest(abs(after), 1e-300);
    before = select(~divided & (before * change.side > 0.0), before, least_before);
    return root_between(at, change.low, change.high, before, after, change.found, width);
}

}  // namespace systems
