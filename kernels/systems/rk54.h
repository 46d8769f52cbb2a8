// The Dormand-Prince pair of orders 5 and 4 (1980); the higher-order result is propagated. The last
// evaluation of a step is the first of the next. Continuous extension of order 4 (Hairer, Norsett and
// Wanner, Solving Ordinary Differential Equations I, II.6).
#pragma once

#include "systems/control.h"
#include "systems/dense.h"

namespace systems {

struct Rk54 {
    static constexpr int order = 5;
    static constexpr bool controlled = true;
    static constexpr int error_order = 5;  // of the estimate's growth with the step

    template <int n> struct Trial {
        Vector<n> y, f;        // at the end of the step
        Vector<n> difference;  // of the results of both orders, divided by the step
        Vector<n> k[7];
    };
    template <int n> using Output = Dense<n, 4>;

    template <class System, int n>
    HD static Trial<n> step(System const& system, real t, Vector<n> const& y0, Vector<n> const& f0,
                            real h) {
        Trial<n> trial;
        auto& k = trial.k;
        k[0] = f0;
        Vector<n> y;
        auto next = [&](auto slope) {
            each_state<n>([&](auto i) { y[i] = fma(h, slope(i), y0[i]); });
        };
        // With few slopes it takes fewer operations to multiply their coefficients by h.
        real h21 = h * (1.0 / 5.0);
        each_state<n>([&](auto i) { y[i] = fma(h21, k[0][i], y0[i]); });
        k[1] = system.rates(fma(0.2, h, t), y);
        real h31 = h * (3.0 / 40.0), h32 = h * (9.0 / 40.0);
        each_state<n>([&](auto i) { y[i] = fma(h32, k[1][i], fma(h31, k[0][i], y0[i])); });
        k[2] = system.rates(fma(0.3, h, t), y);
        constexpr double a41 = 44.0 / 45.0, a42 = -56.0 / 15.0, a43 = 32.0 / 9.0;
        next([&](int i) { return combined(a41, k[0][i], a42, k[1][i], a43, k[2][i]); });
        k[3] = system.rates(fma(0.8, h, t), y);
        constexpr double a51 = 19372.0 / 6561.0, a52 = -25360.0 / 2187.0, a53 = 64448.0 / 6561.0,
                         a54 = -212.0 / 729.0;
        next([&](int i) {
            return combined(a51, k[0][i], a52, k[1][i], a53, k[2][i], a54, k[3][i]);
        });
        k[4] = system.rates(fma(8.0 / 9.0, h, t), y);
        constexpr double a61 = 9017.0 / 3168.0, a62 = -355.0 / 33.0, a63 = 46732.0 / 5247.0,
                         a64 = 49.0 / 176.0, a65 = -5103.0 / 18656.0;
        next([&](int i) {
            return combined(a61, k[0][i], a62, k[1][i], a63, k[2][i], a64, k[3][i], a65, k[4][i]);
        });
        real end = t + h;
        k[5] = system.rates(end, y);
        constexpr double b1 = 35.0 / 384.0, b3 = 500.0 / 1113.0, b4 = 125.0 / 192.0,
                         b5 = -2187.0 / 6784.0, b6 = 11.0 / 84.0;
        next([&](int i) {
            return combined(b1, k[0][i], b3, k[2][i], b4, k[3][i], b5, k[4][i], b6, k[5][i]);
        });
        k[6] = system.rates(end, y);
        trial.y = y;
        trial.f = k[6];
        constexpr double e1 = 71.0 / 57600.0, e3 = -71.0 / 16695.0, e4 = 71.0 / 1920.0,
                         e5 = -17253.0 / 339200.0, e6 = 22.0 / 525.0, e7 = -1.0 / 40.0;
        each_state<n>([&](auto i) {
            trial.difference[i] = combined(e1, k[0][i], e3, k[2][i], e4, k[3][i], e5, k[4][i], e6,
                                           k[5][i], e7, k[6][i]);
        });
        return trial;
    }

    template <int n>
    HD static real error_square(Trial<n> const& trial, Vector<n> const& y0, Vector<n> const& scales,
                                real per_tolerance, real h) {
        return mean_square(trial.difference, y0, trial.y, scales, h * per_tolerance);
    }

    template <class System, int n>
    HD static Output<n> dense(System const&, Trial<n> const& trial, real t, Vector<n> const& y0,
                              real h) {
        Output<n> dense{t, h};
        fit_ends(dense, y0, trial.k[0], trial.y, trial.f, h);
        constexpr double d1 = -12715105075.0 / 11282082432.0, d3 = 87487479700.0 / 32700410799.0,
                         d4 = -10690763975.0 / 1880347072.0, d5 = 701980252875.0 / 199316789632.0,
                         d6 = -1453857185.0 / 822651844.0, d7 = 69997945.0 / 29380423.0;
        each_state<n>([&](auto i) {
            auto& k = trial.k;
            dense.part[3][i] = h * combined(d1, k[0][i], d3, k[2][i], d4, k[3][i], d5, k[4][i], d6,
                                            k[5][i], d7, k[6][i]);
        });
        return dense;
    }
};

}  // namespace systems
