// The Bogacki-Shampine pair of orders 3 and 2 (1989); the higher-order result is propagated. The last
// evaluation of a step is the first of the next.
#pragma once

#include "schemes/embedded.h"

namespace schemes {

struct Rk32 {
    static constexpr int order = 3;
    static constexpr int nodes = 3;
    static constexpr int numbers = 3;
    static constexpr int linear = numbers;
    static constexpr bool ends_with_evaluation = true;
    HD static constexpr double fraction(int i) { return i == 0 ? 0.5 : i == 1 ? 0.75 : 1.0; }

    struct State {
        real y, v, a;
    };
    HD static real& number(State& s, int i) { return i == 0 ? s.y : i == 1 ? s.v : s.a; }
    HD static real acceleration(State const& s, real) { return s.a; }

    using Control = EmbeddedControl<order>;

    struct Constants {
        real h, half, three_quarters, ninth;
        HD Constants(real h, real)
            : h(h), half(0.5 * h), three_quarters(0.75 * h), ninth(h * (1.0 / 9.0)) {}
    };

    template <class Rhs> HD static State start(Rhs& rhs, real y, real v, Constants const&) {
        return {y, v, schemes::acceleration<-1>(rhs, y, v)};
    }

    template <class Rhs> HD static Difference step(State& s, Rhs& rhs, Constants const& k) {
        real v2 = fma(k.half, s.a, s.v);
        real a2 = schemes::acceleration<0>(rhs, fma(k.half, s.v, s.y), v2);
        real v3 = fma(k.three_quarters, a2, s.v);
        real a3 = schemes::acceleration<1>(rhs, fma(k.three_quarters, v2, s.y), v3);
        real y = fma(k.ninth, fma(4.0, v3, fma(3.0, v2, 2.0 * s.v)), s.y);
        real v = fma(k.ninth, fma(4.0, a3, fma(3.0, a2, 2.0 * s.a)), s.v);
        real a = schemes::acceleration<2>(rhs, y, v);
        constexpr double b1 = -5.0 / 72.0, b2 = 1.0 / 12.0, b3 = 1.0 / 9.0, b4 = -1.0 / 8.0;
        Difference difference{k.h * fma(b1, s.v, fma(b2, v2, fma(b3, v3, b4 * v))),
                              k.h * fma(b1, s.a, fma(b2, a2, fma(b3, a3, b4 * a)))};
        s = {y, v, a};
        return difference;
    }
};

}  // namespace schemes
