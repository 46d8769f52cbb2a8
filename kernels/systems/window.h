// The outputs over the window, from the dense motion of every step. They never enter the step control, so
// the motion is the same whichever are asked for.
#pragma once

#include "systems/functions.h"
#include "systems/kinks.h"

namespace systems {

struct Sums {
    Vector<equations::integrals> integral;
    Vector<equations::extremes> extreme;
    Vector<equations::counts> count;            // occurrences of events
    Vector<equations::event_sums> of_events;    // what is kept of the values right before them
    Vector<equations::starts> start;            // values at the start of the window
    Vector<equations::sample_sums> of_samples;  // sums of values at the samples of signals
    Vector<equations::sampled> next_sample;     // time of the next one of each such signal
    equations::Samples samples;                 // rings of values
    Vector<equations::periodic> next_period;    // the next whole period at which values are taken
};

// In place: a copy may be larger than half of a stack.
HD void clear(Sums& sums) {
    each<equations::integrals>([&](auto i) { sums.integral[i] = 0.0; });
    each<equations::extremes>([&](auto i) { sums.extreme[i] = -largest; });
    each<equations::counts>([&](auto i) { sums.count[i] = 0.0; });
    each<equations::event_sums>(
        [&](auto i) { sums.of_events[i] = equations::sums_of_events[i].maximum ? -largest : 0.0; });
    each<equations::starts>([&](auto i) { sums.start[i] = missing(); });
    each<equations::sample_sums>([&](auto i) { sums.of_samples[i] = 0.0; });
    each<equations::sampled>([&](auto i) { sums.next_sample[i] = -1.0; });
    sums.samples.clear();
    each<equations::periodic>([&](auto k) { sums.next_period[k] = 0.0; });
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

template <int order, class System, class Dense>
HD void integrate(Sums& sums, System& system, Ends<System> const& ends, Dense const& dense,
                  real first, mask here) {
    auto add = [&](real a, real b, mask open) {
        Vector<equations::integrals> part;
        each<equations::integrals>([&](auto i) { part[i] = 0.0; });
        gauss<order>(a, b, [&](real s, real weight) {
            real t = dense.time(s);
            auto y = dense(s);
            each<equations::integrals>(
                [&](auto i) { part[i] = fma(weight, system.integrand(i, t, y), part[i]); });
        });
        each<equations::integrals>([&](auto i) {
            sums.integral[i] =
                select(open, fma(dense.length, part[i], sums.integral[i]), sums.integral[i]);
        });
    };
    if constexpr (equations::kinks == 0) {
        mask open = here & (first < 1.0);
        if (any(open)) add(first, 1.0, open);
    } else {
        along_parts<0, equations::kinks>(system, ends, dense, first, here, add);
    }
}

// Extremes count with the sign that makes them maxima. Inside a step the rates are those of its dense motion: where an
// expression turns, its value hardly depends on the place.
template <class I, class Dense, class System> struct Extreme {
    I i;
    System const& system;
    Dense const& dense;

    HD real value(real s) const { return system.extreme(i, dense.time(s), dense.states(s)); }
    HD real rate(real s) const {
        return system.extreme_rate(i, dense.time(s), dense.states(s), dense.rates_of(s));
    }
    // The value where it turns, between places at which it rises and falls.
    HD real at_turn(real a, real b, real before, real after, mask turns) const {
        auto rate = [&](real s) { return this->rate(s); };
        return value(root_between(rate, a, b, before, after, turns, 1e-10));
    }
};

// Of what is affine, which turns once in a step at most.
template <class System, class Dense>
HD void find_straight_extremes(Sums& sums, Ends<System> const& ends, Dense const& dense, real first,
                               mask here) {
    System const& system = ends.system;
    auto y0 = dense(first), y1 = dense(1.0), f0 = ends.f0;
    real t0 = dense.time(first), t1 = dense.time(1.0);
    mask inside = here & (first > 0.0);
    if (any(inside)) f0 = choose(inside, dense.rates(first), f0);
    each<equations::extremes>([&](auto i) {
        if (!equations::extreme_rules[i].straight) return;
        Extreme<decltype(i), Dense, System> extreme{i, system, dense};
        real best = functions::max(system.extreme(i, t0, y0), system.extreme(i, t1, y1));
        real before = system.extreme_rate(i, t0, y0, f0);
        real after = system.extreme_rate(i, t1, y1, ends.f1);
        mask turns = here & (before > 0.0) & (after < 0.0);
        if (any(turns)) {
            real turn = extreme.at_turn(first, 1.0, before, after, turns);
            best = select(turns, functions::max(best, turn), best);
        }
        sums.extreme[i] = select(here, functions::max(best, sums.extreme[i]), sums.extreme[i]);
    });
}

// Of the others, in a part of a step from a to b without kinks: by samples, and where they turn beside the largest. What
// jumps is only looked at inside.
template <class System, class Dense>
SELDOM void find_bent_extremes(Sums& sums, System const& system, Dense const& dense, real const& a,
                               real const& b, mask here) {
    constexpr int samples = Dense::degree > 4 ? 8 : 4;
    each<equations::extremes>([&](auto i) {
        if (equations::extreme_rules[i].straight) return;
        Extreme<decltype(i), Dense, System> extreme{i, system, dense};
        real margin = equations::extreme_rules[i].jumps ? 1e-9 * (b - a) : 0.0;
        real low = a + margin, high = b - margin, width = (high - low) / samples;
        real best = extreme.value(low), place = low;
        for (int k = 1; k <= samples; ++k) {
            real s = k == samples ? high : fma((double)k, width, low);
            real value = extreme.value(s);
            place = select(value > best, s, place);
            best = functions::max(best, value);
        }
        real rate = extreme.rate(place);
        real beside = select(rate > 0.0, least(place + width, high), greatest(place - width, low));
        real most = fma(abs(rate), dense.length * width, best);
        mask turns = here & (beside != place) & (most > sums.extreme[i]);
        if (any(turns)) {
            real other = extreme.rate(beside);
            turns = turns & (rate * other < 0.0);
            mask rises = rate > 0.0;
            real turn =
                extreme.at_turn(select(rises, place, beside), select(rises, beside, place),
                                select(rises, rate, other), select(rises, other, rate), turns);
            best = select(turns, functions::max(best, turn), best);
        }
        sums.extreme[i] = select(here, functions::max(best, sums.extreme[i]), sums.extreme[i]);
    });
}

template <class System, class Dense>
HD void find_extremes(Sums& sums, System& system, Ends<System> const& ends, Dense const& dense,
                      real first, mask here) {
    if constexpr (equations::straight_extremes > 0)
        find_straight_extremes(sums, ends, dense, first, here);
    if constexpr (equations::straight_extremes < equations::extremes) {
        if constexpr (equations::extreme_kinks == 0) {
            find_bent_extremes(sums, system, dense, first, 1.0, here);
        } else {
            along_parts<equations::kinks + equations::hold_kinks, equations::extreme_kinks>(
                system, ends, dense, first, here, [&](real a, real b, mask open) {
                    find_bent_extremes(sums, system, dense, a, b, open);
                });
        }
    }
}

// take(y) with the motion at the time t of the step; a signal that jumps there has done so.
template <class System, class Dense, class Take>
HD void look_at(System& system, Dense const& dense, real t, Take const& take) {
    auto y = dense(least(greatest((t - dense.start) / dense.length, 0.0), 1.0));
    if constexpr (equations::jumps) {
        real until = system.until;
        system.hold_signals(t);
        take(y);
        system.until = until;
    } else {
        take(y);
    }
}

// Adds the values at the samples of signals in the step.
template <class System, class Dense>
HD void take_samples(Sums& sums, System& system, Ends<System> const& ends, Dense const& dense,
                     real window_start, mask here) {
    each<equations::sampled>([&](auto i) {
        real& next = sums.next_sample[i];
        mask early = here & (next < window_start);
        if (any(early)) next = select(early, system.sample_from(i, window_start), next);
        for (;;) {
            real t = next;
            mask due = here & (t <= ends.t1);
            if (!any(due)) break;
            look_at(system, dense, t,
                    [&](auto const& y) { system.add_sample(i, sums, t, y, due); });
            next = select(due, system.sample_after(i, t), next);
        }
    });
}

// Takes the values of the whole periods in the step.
template <class System, class Dense>
HD void take_periods(Sums& sums, System& system, Ends<System> const& ends, Dense const& dense,
                     real window_start, mask here) {
    real period = system.period(), end = ends.t1;
    real first = floor(window_start / period);
    first = select(first * period < window_start, first + 1.0, first);
    // Earlier ones would be lost.
    first = greatest(first, floor(end / period) - (equations::most_kept + 1.0));
    real& next = sums.next_period[0];
    next = select(here, greatest(next, first), next);
    for (;;) {
        real t = next * period;
        mask due = here & (t <= end);
        if (!any(due)) break;
        look_at(system, dense, t, [&](auto const& y) { system.sample(sums, t, y, due); });
        next = select(due, next + 1.0, next);
    }
}

// Adds the part of a step that lies in the window.
template <int order, class System, class Dense>
HD void add_step(Sums& sums, System& system, Ends<System> const& ends, Dense const& dense,
                 real window_start, mask here) {
    here = here & (ends.t1 >= window_start);
    if (!any(here)) return;
    if constexpr (equations::periodic) take_periods(sums, system, ends, dense, window_start, here);
    if constexpr (equations::sampled > 0)
        take_samples(sums, system, ends, dense, window_start, here);
    here = here & (ends.t1 > window_start);
    real first = least(greatest((window_start - dense.start) / dense.length, 0.0), 1.0);
    mask starts = here & (dense.start <= window_start);
    if (equations::starts > 0 && any(starts)) {
        auto y = dense(first);
        each<equations::starts>([&](auto i) {
            sums.start[i] = select(starts, system.start(i, dense.time(first), y), sums.start[i]);
        });
    }
    if constexpr (equations::integrals > 0)
        integrate<order>(sums, system, ends, dense, first, here);
    if constexpr (equations::extremes > 0) find_extremes(sums, system, ends, dense, first, here);
}

}  // namespace systems
