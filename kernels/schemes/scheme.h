// Time-stepping schemes for y'' = f(t, y, y') - c y' with one degree of freedom, and their common parts.
//
// A scheme knows no physics. It is a struct with
//
//   order, nodes                    order on smooth problems; number of moments in a step at which f is needed
//   fraction(i)                     node i lies at t + fraction(i) h, 0 < fraction <= 1, the last is 1
//   State                           carried from step to step; y and v are the results
//   Constants(h, damping)           depend on the step length only
//   start(rhs, y, v, constants)     the state at the beginning of the motion
//   step(state, rhs, constants)     one step; returns what the scheme's step control needs
//   numbers, number(state, i)       the numbers of a state
//   linear                          how many of them, counted from the first, a step maps linearly if f is linear
//   ends_with_evaluation            whether f is evaluated last at the y and v that are the results of a step
//   acceleration(state, damping)    f - c v at the state
//
// A right-hand side offers force<i>(y, v), which is f at node i of the current step (at its beginning for
// i = -1), and `damping`, which is c. It may have a memory: a scheme evaluates f in the order of the nodes
// and never twice.
#pragma once

#include "portable.h"

namespace schemes {

struct Nothing {};

template <int node, class Rhs> HD real acceleration(Rhs& rhs, real y, real v) {
    real f = rhs.template force<node>(y, v);
    if constexpr (Rhs::damped) f -= rhs.damping * v;
    return f;
}

// A linear right-hand side without memory, for a step of length 1.
struct Linear {
    static constexpr bool damped = true;
    real stiffness, inner_damping, damping;
    template <int node> HD real force(real y, real v) const {
        return -(stiffness * y) - inner_damping * v;
    }
};

// Whether the scheme stays bounded on y'' = -stiffness y - (inner + damping) y' with steps of length 1,
// where `inner` is part of f. The matrix of one step is squared 28 times, which detects multipliers above
// 1 + 1e-7 and accepts those on the unit circle.
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
