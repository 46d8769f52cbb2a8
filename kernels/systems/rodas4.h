// The Rosenbrock method RODAS of order 4 with an estimate of order 3 and a continuous extension of order
// 3, for stiff systems (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.7 and IV.10,
// code RODAS). It is L-stable, and the last stage is the estimate of the error. With J the Jacobian,
//
//   (1/(gamma h) - J) u_i = f(t + alpha_i h, y0 + sum a_ij u_j) + sum c_ij/h u_j + gamma_i h df/dt
#pragma once

#include "systems/control.h"
#include "systems/dense.h"
#include "systems/linear.h"

namespace systems {

struct Rodas4 {
    static constexpr int order = 4;
    static constexpr bool controlled = true;
    static constexpr int error_order = 4;

    template <int n> struct Trial {
        Vector<n> y, f;  // at the end of the step
        Vector<n> difference;
        Vector<n> bend, twist;  // the last two terms of the dense motion
    };
    template <int n> using Output = Dense<n, 3>;

    template <class System, int n>
    HD static Trial<n> step(System const& system, real t, Vector<n> const& y0, Vector<n> const& f0,
                            real h) {
        constexpr double gamma = 0.25;
        constexpr double d1 = 0.25, d2 = -0.1043, d3 = 0.1035, d4 = -0.0362;
        Factors<n> matrix;
        system.jacobian(t, y0, matrix.row);
        real diagonal = 1.0 / (gamma * h);
        each_state<n>([&](auto i) {
            each_state<n>([&](auto j) { matrix.row[i][j] = -matrix.row[i][j]; });
            matrix.row[i][i] += diagonal;
        });
        factorize(matrix);
        Vector<n> by_time = system.rates_by_time(t, y0);
        real per = 1.0 / h;

        Vector<n> y, right, u1, u2, u3, u4, u5;
        auto solved = [&](Vector<n> const& f, double d, auto earlier) {
            each_state<n>(
                [&](auto i) { right[i] = fma(d * h, by_time[i], fma(per, earlier(i), f[i])); });
            return solve(matrix, right);
        };
        auto state = [&](auto sum) { each_state<n>([&](auto i) { y[i] = y0[i] + sum(i); }); };

        u1 = solved(f0, d1, [&](int) { return real(0.0); });
        state([&](int i) { return 1.544 * u1[i]; });
        u2 = solved(system.rates(fma(0.386, h, t), y), d2, [&](int i) { return -5.6688 * u1[i]; });
        state(
            [&](int i) { return combined(0.9466785280815826, u1[i], 0.2557011698983284, u2[i]); });
        u3 = solved(system.rates(fma(0.21, h, t), y), d3, [&](int i) {
            return combined(-2.430093356833875, u1[i], -0.2063599157091915, u2[i]);
        });
        state([&](int i) {
            return combined(3.314825187068521, u1[i], 2.896124015972201, u2[i], 0.9986419139977817,
                            u3[i]);
        });
        u4 = solved(system.rates(fma(0.63, h, t), y), d4, [&](int i) {
            return combined(-0.1073529058151375, u1[i], -9.594562251023355, u2[i],
                            -20.47028614809616, u3[i]);
        });
        state([&](int i) {
            return combined(1.221224509226641, u1[i], 6.019134481288629, u2[i], 12.53708332932087,
                            u3[i], -0.687886036105895, u4[i]);
        });
        real end = t + h;
        u5 = solved(system.rates(end, y), 0.0, [&](int i) {
            return combined(7.496443313967647, u1[i], -10.24680431464352, u2[i], -33.99990352819905,
                            u3[i], 11.7089089320616, u4[i]);
        });
        each_state<n>([&](auto i) { y[i] = y[i] + u5[i]; });
        Trial<n> trial;
        trial.difference = solved(system.rates(end, y), 0.0, [&](int i) {
            return combined(8.083246795921522, u1[i], -7.981132988064893, u2[i], -31.52159432874371,
                            u3[i], 16.31930543123136, u4[i], -6.058818238834054, u5[i]);
        });
        each_state<n>([&](auto i) {
            trial.y[i] = y[i] + trial.difference[i];
            trial.bend[i] =
                combined(10.12623508344586, u1[i], -7.487995877610167, u2[i], -34.80091861555747,
                         u3[i], -7.992771707568823, u4[i], 1.025137723295662, u5[i]);
            trial.twist[i] =
                combined(-0.6762803392801253, u1[i], 6.087714651680015, u2[i], 16.43084320892478,
                         u3[i], 24.76722511418386, u4[i], -6.594389125716872, u5[i]);
        });
        trial.f = system.rates(end, trial.y);
        return trial;
    }

    template <int n>
    HD static real error_square(Trial<n> const& trial, Vector<n> const& y0, Vector<n> const& scales,
                                real per_tolerance, real) {
        return mean_square(trial.difference, y0, trial.y, scales, per_tolerance);
    }

    template <class System, int n>
    HD static Output<n> dense(System const&, Trial<n> const& trial, real t, Vector<n> const& y0,
                              real h) {
        Output<n> dense{t, h, y0};
        each_state<n>([&](auto i) { dense.part[0][i] = trial.y[i] - y0[i]; });
        dense.part[1] = trial.bend;
        dense.part[2] = trial.twist;
        return dense;
    }
};

}  // namespace systems
