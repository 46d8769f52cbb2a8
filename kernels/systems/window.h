// The outputs over the window, from the dense motion of every step. They never enter the step control, so
// the motion is the same whichever are asked for.
#pragma once

#include "systems/dense.h"
#include "systems/functions.h"

namespace systems {

constexpr int n = equations::states;

struct Sums {
    Vector<equations::integrals> integral;
    Vector<equations::extremes> extreme;
    Vector<equations::counts> count;          // occurrences of events
    Vector<equations::event_sums> of_events;  // sums or maxima of the values right before them
    equations::Samples samples;               // rings of values
    real next_period;                         // the whole period at which values are taken next
};

HD Sums no_sums() {
    Sums sums;
    each<equations::integrals>([&](auto i) { sums.integral[i] = 0.0; });
    each<equations::extremes>([&](auto i) { sums.extreme[i] = -largest; });
    each<equations::counts>([&](auto i) { sums.count[i] = 0.0; });
    each<equations::event_sums>(
        [&](auto i) { sums.of_events[i] = equations::EventSum<i>::maximum ? -largest : 0.0; });
    sums.samples.clear();
    sums.next_period = 0.0;
    return sums;
}

// f(s, weight) at the nodes of the Gauss formula over the part from a to b of a step. Three nodes are of
// order 6, four of order 8.
template <int order, class F> HD void gauss(real a, real b, F const& f) {
    real middle = 0.5 * (a + b), half = 0.5 * (b - a);
    if constexpr (order <= 6) {
        f(middle - half * 0.7745966692414834, half * (5.0 / 9.0));
        f(middle, half * (8.0 / 9.0));
        f(middle + half * 0.7745966692414834, half * (5.0 / 9.0));
    } else {
        f(middle - half * 0.8611363115940526, half * 0.34785484513745385);
        f(middle - half * 0.33998104358485626, half * 0.6521451548625461);
        f(middle + half * 0.33998104358485626, half * 0.6521451548625461);
        f(middle + half * 0.8611363115940526, half * 0.34785484513745385);
    }
}

// The end of the part that begins at a and in which no kink's expression changes its sign; those that come
// last, of `floor`, stay between the same whole numbers.
template <class System, class Dense>
HD real smooth_until(System const& system, Dense const& dense, real a, mask wanted) {
    real b = 1.0;
    mask here = wanted;
    // An expression that is guarded has no value beyond the kink of its guard: once that is found, a
    // second round looks at what lies before it.
    for (int round = 0; round < 2 && any(here); ++round) {
        mask undecided = false;
        each<equations::kinks>([&](auto k) {
            constexpr int number = decltype(k)::value;  // NVRTC takes no captured k for a constant
            real level = 0.0;
            auto g = [&](real s) {
                real value = system.template kink<number>(dense.time(s), dense(s));
                if constexpr (number < equations::kinks - equations::floors) return value;
                return 0.5 - abs(value - (level + 0.5));
            };
            // Just inside, because a may be the root at which the last part ended.
            real start = fma(1e-6, b - a, a), end = round == 0 ? b : fma(-1e-6, b - a, b);
            if constexpr (number >= equations::kinks - equations::floors)
                level =
                    functions::floor(system.template kink<number>(dense.time(start), dense(start)));
            real before = g(start), after = g(end);
            undecided = undecided | (here & ~(after == after));
            mask changes = here & (before * after < 0.0);
            if (any(changes))
                b = select(changes, root_between(g, a, end, before, after, changes, 1e-14), b);
        });
        here = undecided;
    }
    return b;
}

template <int order, class System, class Dense>
HD void integrate(Sums& sums, System const& system, Dense const& dense, real first, mask here) {
    // Enough for a kink that is crossed twice, and for many levels of `floor`.
    constexpr int last = 2 * equations::kinks + 64 * equations::floors + 1;
    real a = first;
    for (int parts = 0; parts <= last; ++parts) {
        mask open = here & (a < 1.0);
        if (!any(open)) break;
        real b = 1.0;
        if constexpr (equations::kinks > 0) b = smooth_until(system, dense, a, open);
        if (parts == last) b = 1.0;
        Vector<equations::integrals> part;
        each<equations::integrals>([&](auto i) { part[i] = 0.0; });
        gauss<order>(a, b, [&](real s, real weight) {
            real t = dense.time(s);
            auto y = dense(s);
            each<equations::integrals>([&](auto i) {
                part[i] = fma(weight, system.template integrand<i>(t, y), part[i]);
            });
        });
        each<equations::integrals>([&](auto i) {
            sums.integral[i] =
                select(open, fma(dense.length, part[i], sums.integral[i]), sums.integral[i]);
        });
        a = select(open, b, a);
    }
}

// Extremes count with the sign that makes them maxima.
template <class System, class Dense>
HD void find_extremes(Sums& sums, System const& system, Dense const& dense, real first, mask here) {
    auto y0 = dense(first), y1 = dense(1.0);
    real t0 = dense.time(first), t1 = dense.time(1.0);
    auto f0 = system.rates(t0, y0), f1 = system.rates(t1, y1);
    each<equations::extremes>([&](auto i) {
        constexpr int number = decltype(i)::value;  // NVRTC takes no captured i for a constant
        auto value = [&](real s) {
            return system.template extreme<number>(dense.time(s), dense(s));
        };
        auto rate = [&](real s) {
            real t = dense.time(s);
            auto y = dense(s);
            return system.template extreme_rate<number>(t, y, system.rates(t, y));
        };
        real best =
            functions::max(system.template extreme<i>(t0, y0), system.template extreme<i>(t1, y1));
        real before = system.template extreme_rate<i>(t0, y0, f0);
        real after = system.template extreme_rate<i>(t1, y1, f1);
        mask turns = here & (before > 0.0) & (after < 0.0);
        if (any(turns)) {
            real s = root_between(rate, first, 1.0, before, after, turns, 1e-10);
            best = select(turns, functions::max(best, value(s)), best);
        }
        sums.extreme[i] = select(here, functions::max(best, sums.extreme[i]), sums.extreme[i]);
    });
}

// Takes the values of the whole periods in the step.
template <class System, class Dense>
HD void take_periods(Sums& sums, System const& system, Dense const& dense, real window_start,
                     mask here) {
    real period = system.period(), end = dense.time(1.0);
    real first = floor(window_start / period);
    first = select(first * period < window_start, first + 1.0, first);
    // Earlier ones would be lost.
    first = greatest(first, floor(end / period) - (equations::most_kept + 1.0));
    sums.next_period = select(here, greatest(sums.next_period, first), sums.next_period);
    for (;;) {
        real t = sums.next_period * period;
        mask due = here & (t <= end);
        if (!any(due)) break;
        system.sample(sums, t, dense((t - dense.start) / dense.length), due);
        sums.next_period = select(due, sums.next_period + 1.0, sums.next_period);
    }
}

// Adds the part of a step that lies in the window.
template <int order, class System, class Dense>
HD void add_step(Sums& sums, System const& system, Dense const& dense, real window_start,
                 mask here) {
    here = here & (dense.start + dense.length >= window_start);
    if (!any(here)) return;
    if constexpr (equations::periodic) take_periods(sums, system, dense, window_start, here);
    here = here & (dense.start + dense.length > window_start);
    real first = least(greatest((window_start - dense.start) / dense.length, 0.0), 1.0);
    if constexpr (equations::integrals > 0) integrate<order>(sums, system, dense, first, here);
    if constexpr (equations::extremes > 0) find_extremes(sums, system, dense, first, here);
}

}  // namespace systems
