// De Vogelaere's scheme (1955), with the viscous damper c treated implicitly.
//
//   y(1/2) = y0 + h/2 v0 + h^2/24 (4 f0 - f(-1/2) - c (4 v0 - v(-1/2)))
//   v(1/2) = (4 v0 + h (f0 + f(1/2) - c v0)) / (4 + h c)
//   y1     = y0 + h v0 + h^2/6 (f0 + 2 f(1/2) - c (v0 + 2 v(1/2)))
//   v1     = (6 v0 + h (f0 + 4 f(1/2) + f1 - c (v0 + 4 v(1/2)))) / (6 + h c)
//
// f is evaluated with a provisional velocity, the difference quotient over the preceding half step.
// The order is 4 if c = 0 and f does not depend on the velocity, 3 if c > 0, and 1 with a damper in f.
#pragma once

#include "schemes/scheme.h"

namespace schemes {

struct DeVogelaere {
    static constexpr int order = 4;  // without damping; 3 with it
    static constexpr int nodes = 2;
    static constexpr int numbers = 5;
    static constexpr int linear = numbers;
    static constexpr bool ends_with_evaluation = false;
    HD static constexpr double fraction(int i) { return i == 0 ? 0.5 : 1.0; }

    struct State {
        real y, v, f;
        real f_half, v_half;  // half a step ago
    };
    HD static real& number(State& s, int i) {
        return i == 0 ? s.y : i == 1 ? s.v : i == 2 ? s.f : i == 3 ? s.f_half : s.v_half;
    }
    HD static real acceleration(State const& s, real damping) { return s.f - damping * s.v; }

    struct Constants {
        real h, half, rate;         // of the difference quotient
        real twenty_fourth, sixth;  // of h^2
        real of_half, of_whole;     // 1 / (4 + h c), 1 / (6 + h c)
        HD Constants(real h, real damping)
            : h(h),
              half(0.5 * h),
              rate(2.0 / h),
              twenty_fourth(h * h * (1.0 / 24.0)),
              sixth(h * h * (1.0 / 6.0)),
              of_half(1.0 / (4.0 + h * damping)),
              of_whole(1.0 / (6.0 + h * damping)) {}
    };

    template <class Rhs> HD static State start(Rhs& rhs, real y, real v, Constants const& k) {
        real f = rhs.template force<-1>(y, v);
        real a = f;
        if constexpr (Rhs::damped) a = f - rhs.damping * v;
        return {y, v, f, f, v - k.half * a};
    }

    template <class Rhs> HD static Nothing step(State& s, Rhs& rhs, Constants const& k) {
        real drive = fma(4.0, s.f, -s.f_half);
        if constexpr (Rhs::damped) drive -= rhs.damping * fma(4.0, s.v, -s.v_half);
        real y_half = fma(k.twenty_fourth, drive, fma(k.half, s.v, s.y));
        real f_half = rhs.template force<0>(y_half, (y_half - s.y) * k.rate);

        drive = s.f + f_half;
        if constexpr (Rhs::damped) drive -= rhs.damping * s.v;
        real v_half = fma(4.0, s.v, k.h * drive) * k.of_half;

        drive = fma(2.0, f_half, s.f);
        if constexpr (Rhs::damped) drive -= rhs.damping * fma(2.0, v_half, s.v);
        real y = fma(k.sixth, drive, fma(k.h, s.v, s.y));
        real f = rhs.template force<1>(y, (y - y_half) * k.rate);

        drive = fma(4.0, f_half, s.f) + f;
        if constexpr (Rhs::damped) drive -= rhs.damping * fma(4.0, v_half, s.v);
        real v = fma(6.0, s.v, k.h * drive) * k.of_whole;
        s = {y, v, f, f_half, v_half};
        return {};
    }
};

}  // namespace schemes
