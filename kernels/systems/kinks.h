// Kinks: where an output or a hold bends or jumps along the dense motion of a step, and the parts between them.
#pragma once

#include "systems/crossings.h"
#include "systems/functions.h"

namespace systems {

// What changes its sign where an integrand, a hold or an extreme has a kink or jumps.
template <class K> struct Kink {
    static constexpr Some straight = some_straight<K>(equations::kink_rules);
    K k;

    HD bool is_straight() const { return equations::kink_rules[k].straight; }
    HD bool is_smooth() const { return false; }
    template <class Part> HD real at_node(Part const& step, int node) const {
        if (equations::kink_rules[k].own == 0) return step.value[node][k - Part::first];
        return value(step.ends.system, step.node_time(node), step.node(node));  // its level moves
    }
    template <class System, class Y> HD real value(System const& system, real t, Y const& y) const {
        return system.kink(k, t, y);
    }
    template <class System> HD real size(System const&, real, Vector<n> const&) const {
        return 0.0;
    }
    template <class System, class Y, class F>
    HD real rate(System const& system, real t, Y const& y, F const& f) const {
        return system.kink_rate(k, t, y, f);
    }
};

// A step, and along it the Bernstein coefficients of kinks that are affine.
template <class System, class Dense, int before, int n_kinks>
struct KinkedStep : Step<System, Dense> {
    static constexpr int first = before;
    Vector<n_kinks> value[Dense::degree + 1];

    HD KinkedStep(Ends<System> const& ends, Dense const& dense)
        : Step<System, Dense>(ends, dense, some_straight<int>(equations::kink_rules)) {
        if (some_straight<int>(equations::kink_rules) == Some::none) return;
        each<Dense::degree + 1>([&](auto k) {
            value[k] =
                ends.system.straight_kinks(Index<before>{}, this->node_time(k), this->node(k));
        });
    }
};

// The next crossing of each of some kinks along a step, of which `before` are before the first. `floor` has two
// kinks: where its argument sinks below the whole number that it holds (`system.level`), and where it reaches
// the next.
template <class System, class Dense, int before, int n_kinks> struct Kinks {
    template <class K> using Number = decltype(plus<before>(K{}));

    System& system;
    Dense const& dense;
    KinkedStep<System, Dense, before, n_kinks> step;
    mask tells;            // whether the step is long enough to tell crossings from rounding
    Vector<n_kinks> side;  // on which each is; 0 where that is not known
    Vector<n_kinks> from;  // the share up to which crossings have been passed
    Vector<n_kinks> next;  // the share of the next crossing; 2 if there is none

    HD Kinks(System& system, Ends<System> const& ends, Dense const& dense, real first, mask here)
        : system(system), dense(dense), step(ends, dense), tells(dense.length > 1e-12 * ends.t1) {
        real t = dense.time(first), inside = fma(1e-6, 1.0 - first, first);
        Vector<n> y = dense(first);
        auto straight = system.straight_kinks(Index<before>{}, t, y);
        each<equations::levels>([&](auto i) { system.level[i] = 0.0; });
        each_kink([&](auto k) {
            next[k] = 2.0;
            if (rule(k).own > 0) {
                real x = kink(k).value(system, t, y), whole = functions::floor(x);
                system.level[rule(k).level] =
                    select(x == whole, functions::floor(at(k, inside)), whole);
            }
            if (!rule(k).ranged) {
                side[k] = rule(k).own;
                if (rule(k).own == 0) {
                    real value = straight[k];
                    if (!kink(k).is_straight()) value = kink(k).value(system, t, y);
                    if (any(value == 0.0)) value = select(value == 0.0, at(k, inside), value);
                    side[k] = sign_of(value);
                }
                from[k] = first;
                search(k, here);
            }
        });
    }
    template <class F> HD static void each_kink(F const& f) {
        each_between<0, n_kinks, (n_kinks <= FEW)>(f);
    }
    HD static constexpr equations::KinkRule rule(int k) {
        return equations::kink_rules[before + k];
    }
    template <class K> HD static Kink<Number<K>> kink(K k) { return {plus<before>(k)}; }
    template <class K> HD real at(K k, real s) const {
        return kink(k).value(system, dense.time(s), dense.states(s));
    }
    template <class K> HD void search(K k, mask here) {
        here = here & tells;
        if (!any(here)) return;
        along(kink(k), step, here, [&](auto& shape, auto) {
            if (!any(here & shape.may_change(side[k]))) return;
            Change change = shape.next(system, dense, from[k], side[k], here);
            if (!any(change.found)) return;
            real root = crossing(kink(k), system, dense, change, side[k] == 0.0);
            next[k] = select(change.found, root, next[k]);
            from[k] = select(change.found, change.high, from[k]);
        });
    }
    // The end of the part that begins at `a` in which nothing changes its sign.
    HD real smooth_until(real a, mask here) const {
        real b = 1.0;
        each<n_kinks>([&](auto k) { b = least(b, next[k]); });
        // An expression that is guarded has no value beyond the kink of its guard: once that is found,
        // a second round looks at what lies before it.
        for (int round = 0; round < 2; ++round)
            each_kink([&](auto k) {
                if (rule(k).ranged) b = before_change(k, a, b, here & tells);
            });
        return b;
    }
    template <class K> HD real before_change(K k, real a, real b, mask here) const {
        real inside = fma(1e-6, b - a, a), end = fma(-1e-6, b - a, b);
        real side = sign_of(at(k, inside)), after = at(k, end);
        Change change;
        along(kink(k), step, here,
              [&](auto& shape, auto) { change = shape.next(system, dense, inside, side, here); });
        change.found = change.found & (change.high <= end);
        mask at_end = here & ~change.found & (side * after < 0.0);
        change.found = change.found | at_end;
        change.low = select(at_end, inside, change.low);
        change.high = select(at_end, end, change.high);
        if (!any(change.found)) return b;
        real root = crossing(kink(k), system, dense, change, false);
        return select(change.found, least(root, b), b);
    }
    // Goes on beyond the crossings up to `b`.
    HD void pass(real b, mask here) {
        each_kink([&](auto k) {
            mask passed = here & (next[k] <= b);
            if (rule(k).ranged || !any(passed)) return;
            real start = next[k];
            next[k] = select(passed, 2.0, start);
            if (rule(k).own == 0) {
                side[k] = select(passed, -side[k], side[k]);
                search(k, passed);
            } else if constexpr (equations::levels > 0) {
                real& level = system.level[rule(k).level];
                level = select(passed, level - rule(k).own, level);
                int lower = rule(k).own > 0 ? k : k - 1;  // the two stand side by side
                for (int either = lower; either <= lower + 1; ++either) {
                    next[either] = select(passed, 2.0, next[either]);
                    from[either] = select(passed, start, from[either]);
                    search(either, passed);
                }
            }
        });
    }
};

// f(a, b, open) for the parts of a step from `first` on, in which none of some kinks changes its sign.
template <int before, int n_kinks, class System, class Dense, class F>
HD void along_parts(System& system, Ends<System> const& ends, Dense const& dense, real first,
                    mask here, F const& f) {
    real a = first;
    mask open = here & (a < 1.0);
    Kinks<System, Dense, before, n_kinks> kinks(system, ends, dense, first, open);
    while (any(open)) {
        real b = kinks.smooth_until(a, open);
        f(a, b, open);
        kinks.pass(b, open);
        a = select(open, b, a);
        open = open & (a < 1.0);
    }
}

}  // namespace systems
