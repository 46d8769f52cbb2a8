// Symplectic Euler: v1 = v0 + h a0, y1 = y0 + h v1, a1 = f(t1, y1, v1) - c v1.
#pragma once

#include "schemes/scheme.h"

namespace schemes {

struct Euler {
    static constexpr int order = 1;
    static constexpr int nodes = 1;
    static constexpr int numbers = 3;
    static constexpr int linear = numbers;
    static constexpr bool ends_with_evaluation = true;
    HD static constexpr double fraction(int) { return 1.0; }

    struct State {
        real y, v, a;
    };
    HD static real& number(State& s, int i) { return i == 0 ? s.y : i == 1 ? s.v : s.a; }
    HD static real acceleration(State const& s, real) { return s.a; }

    struct Constants {
        real h;
        HD Constants(real h, real) : h(h) {}
    };

    template <class Rhs> HD static State start(Rhs& rhs, real y, real v, Constants const&) {
        return {y, v, schemes::acceleration<-1>(rhs, y, v)};
    }

    template <class Rhs> HD static Nothing step(State& s, Rhs& rhs, Constants const& k) {
        s.v = fma(k.h, s.a, s.v);
        s.y = fma(k.h, s.v, s.y);
        s.a = schemes::acceleration<0>(rhs, s.y, s.v);
        return {};
    }
};

}  // namespace schemes
