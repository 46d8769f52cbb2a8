// The Dormand-Prince pair of orders 5 and 4 (1980); the higher-order result is propagated. The last
// evaluation of a step is the first of the next.
#pragma once

#include "schemes/embedded.h"

namespace schemes {

struct Rk54 {
    static constexpr int order = 5;
    static constexpr int nodes = 5;
    static constexpr int numbers = 3;
    static constexpr int linear = numbers;
    static constexpr bool ends_with_evaluation = true;
    HD static constexpr double fraction(int i) {
        return i == 0 ? 0.2 : i == 1 ? 0.3 : i == 2 ? 0.8 : i == 3 ? 8.0 / 9.0 : 1.0;
    }

    struct State {
        real y, v, a;
    };
    HD static real& number(State& s, int i) { return i == 0 ? s.y : i == 1 ? s.v : s.a; }
    HD static real acceleration(State const& s, real) { return s.a; }

    using Control = EmbeddedControl<order>;

    struct Constants {
        real h;
        HD Constants(real h, real) : h(h) {}
    };

    template <class Rhs> HD static State start(Rhs& rhs, real y, real v, Constants const&) {
        return {y, v, schemes::acceleration<-1>(rhs, y, v)};
    }

    // c1 x1 + c2 x2 + ..., evaluated from the last term to the first.
    HD static real sum(double c, real x) { return c * x; }
    template <class... Rest> HD static real sum(double c, real x, Rest... rest) {
        return fma(c, x, sum(rest...));
    }

    template <class Rhs> HD static Difference step(State& s, Rhs& rhs, Constants const& k) {
        using schemes::acceleration;
        real h = k.h;
        real v1 = s.v, a1 = s.a;
        auto at = [&](real x, real slope) { return fma(h, slope, x); };

        constexpr double a21 = 1.0 / 5.0;
        real v2 = at(s.v, sum(a21, a1));
        real a2 = acceleration<0>(rhs, at(s.y, sum(a21, v1)), v2);

        constexpr double a31 = 3.0 / 40.0, a32 = 9.0 / 40.0;
        real v3 = at(s.v, sum(a31, a1, a32, a2));
        real a3 = acceleration<1>(rhs, at(s.y, sum(a31, v1, a32, v2)), v3);

        constexpr double a41 = 44.0 / 45.0, a42 = -56.0 / 15.0, a43 = 32.0 / 9.0;
        real v4 = at(s.v, sum(a41, a1, a42, a2, a43, a3));
        real a4 = acceleration<2>(rhs, at(s.y, sum(a41, v1, a42, v2, a43, v3)), v4);

        constexpr double a51 = 19372.0 / 6561.0, a52 = -25360.0 / 2187.0, a53 = 64448.0 / 6561.0,
                         a54 = -212.0 / 729.0;
        real v5 = at(s.v, sum(a51, a1, a52, a2, a53, a3, a54, a4));
        real a5 = acceleration<3>(rhs, at(s.y, sum(a51, v1, a52, v2, a53, v3, a54, v4)), v5);

        constexpr double a61 = 9017.0 / 3168.0, a62 = -355.0 / 33.0, a63 = 46732.0 / 5247.0,
                         a64 = 49.0 / 176.0, a65 = -5103.0 / 18656.0;
        real v6 = at(s.v, sum(a61, a1, a62, a2, a63, a3, a64, a4, a65, a5));
        real a6 =
            acceleration<4>(rhs, at(s.y, sum(a61, v1, a62, v2, a63, v3, a64, v4, a65, v5)), v6);

        constexpr double b1 = 35.0 / 384.0, b3 = 500.0 / 1113.0, b4 = 125.0 / 192.0,
                         b5 = -2187.0 / 6784.0, b6 = 11.0 / 84.0;
        real y = at(s.y, sum(b1, v1, b3, v3, b4, v4, b5, v5, b6, v6));
        real v = at(s.v, sum(b1, a1, b3, a3, b4, a4, b5, a5, b6, a6));
        real a = acceleration<4>(rhs, y, v);

        constexpr double e1 = 71.0 / 57600.0, e3 = -71.0 / 16695.0, e4 = 71.0 / 1920.0,
                         e5 = -17253.0 / 339200.0, e6 = 22.0 / 525.0, e7 = -1.0 / 40.0;
        Difference difference{h * sum(e1, v1, e3, v3, e4, v4, e5, v5, e6, v6, e7, v),
                              h * sum(e1, a1, e3, a3, e4, a4, e5, a5, e6, a6, e7, a)};
        s = {y, v, a};
        return difference;
    }
};

}  // namespace schemes
