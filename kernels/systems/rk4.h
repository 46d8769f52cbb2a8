// The classical Runge-Kutta method of order 4 (Kutta 1901) with steps of constant length. Between them
// the cubic through the values and slopes at both ends.
#pragma once

#include "systems/control.h"
#include "systems/dense.h"

namespace systems {

struct Rk4 {
    static constexpr int order = 4;
    static constexpr bool controlled = false;

    template <int n> struct Trial {
        Vector<n> y, f;  // at the end of the step
        Vector<n> before;
    };
    template <int n> using Output = Dense<n, 3>;

    // y at the end of a step; f0 = rates(start, y0). `middle` and `last` are moments for the rates.
    template <class System, class Moment, int n>
    HD static Vector<n> end(System const& system, Moment const& middle, Moment const& last,
                            Vector<n> const& y0, Vector<n> const& f0, real h) {
        real half = 0.5 * h;
        Vector<n> y;
        each_state<n>([&](auto i) { y[i] = fma(half, f0[i], y0[i]); });
        Vector<n> sum, k = system.rates(middle, y);
        each_state<n>([&](auto i) {
            sum[i] = k[i];
            y[i] = fma(half, k[i], y0[i]);
        });
        k = system.rates(middle, y);
        // Doubled by additions, for which processors have a unit that products leave idle.
        each_state<n>([&](auto i) {
            sum[i] = sum[i] + k[i];
            sum[i] = f0[i] + (sum[i] + sum[i]);
            y[i] = fma(h, k[i], y0[i]);
        });
        k = system.rates(last, y);
        real sixth = h * (1.0 / 6.0);
        each_state<n>([&](auto i) { y[i] = fma(sixth, sum[i] + k[i], y0[i]); });
        return y;
    }

    template <class System, class Moment, int n>
    HD static Trial<n> step(System const& system, Moment const& middle, Moment const& last,
                            Vector<n> const& y0, Vector<n> const& f0, real h) {
        Trial<n> trial;
        trial.y = end(system, middle, last, y0, f0, h);
        trial.f = system.rates(last, trial.y);
        trial.before = f0;
        return trial;
    }

    template <class System, int n>
    HD static Trial<n> step(System const& system, real t, Vector<n> const& y0, Vector<n> const& f0,
                            real h) {
        return step(system, t + 0.5 * h, t + h, y0, f0, h);
    }

    template <class System, int n>
    HD static Output<n> dense(System const&, Trial<n> const& trial, real t, Vector<n> const& y0,
                              real h) {
        Output<n> dense{t, h};
        fit_ends(dense, y0, trial.before, trial.y, trial.f, h);
        return dense;
    }
};

}  // namespace systems
