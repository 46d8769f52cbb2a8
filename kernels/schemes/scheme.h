// Time-stepping schemes for y'' = f(t, y, y') - c y', one degree of freedom, and what they share.
//
// A scheme knows no physics. It is a struct with
//
//   order, nodes                    its order on smooth problems; how many moments of a step it asks for
//   fraction(i)                     node i lies at t + fraction(i) h, 0 < fraction <= 1, the last is 1
//   State                           what goes from step to step; y and v are those it gives out
//   Constants(h, damping)           what depends on the step's length alone
//   start(rhs, y, v, constants)     the state at the beginning of the motion
//   step(state, rhs, constants)     one step; what it returns, a scheme with step control looks at
//   numbers, number(state, i)       the numbers of a state
//   linear                          how many of them, the first ones, a step is linear in if f is
//   acceleration(state, damping)    f - c v at the state
//
// and a right-hand side offers force<i>(y, v), which is f at node i of the step under way (at its
// beginning for i = -1), and `damping`, which is c. It may have a memory: a scheme asks for f in the
// order written here, and never twice.
#pragma once

#include "portable.h"

namespace schemes {

struct Nothing {};

template <int node, class Rhs> HD real acceleration(Rhs& rhs, real y, real v) {
    real f = rhs.template force<node>(y, v);
    if constexpr (Rhs::damped) f -= rhs.damping * v;
    return f;
}

// f - c v as a right-hand side without a memory has it, for a step of length 1.
struct Linear {
    static constexpr bool damped = true;
    real stiffness, inner_damping, damping;
    template <int node> HD real force(real y, real v) const {
        return -(stiffness * y) - inner_damping * v;
    }
};

// Whether the scheme's numbers stay bounded on y'' = -stiffness y - (inner + damping) y' with steps
// of length 1, `inner` being part of f: the matrix of one step, squared 28 times. That finds
// multipliers beyond 1 + 1e-7, and lets those on the unit circle pass.
template <class Scheme> HD mask stable(real stiffness, real inner, real damping) {
    constexpr int n = Scheme::linear;
    Linear rhs{stiffness, inner, damping};
    typename Scheme::Constants constants(1.0, damping);
    real matrix[n][n], square[n][n];
    for (int j = 0; j < n; ++j) {
        typename Scheme::State state = Scheme::start(rhs, 0.0, 0.0, constants);
        for (int i = 0; i < n; ++i) Scheme::number(state, i) = i == j ? 1.0 : 0.0;
        Scheme::step(state, rhs, constants);
        for (int i = 0; i < n; ++i) matrix[i][j] = Scheme::number(state, i);
    }
    for (int power = 0; power < 28; ++power) {
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                real sum = 0.0;
                for (int k = 0; k < n; ++k) sum = fma(matrix[i][k], matrix[k][j], sum);
                square[i][j] = sum;
            }
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) matrix[i][j] = square[i][j];
    }
    mask bounded = true;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) bounded = bounded & (abs(matrix[i][j]) < 1e10);
    return bounded;
}

}  // namespace schemes
