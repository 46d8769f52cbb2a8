// Systems of linear equations, one in every lane, by elimination with partial pivoting. Rows are swapped
// by select, so no lane's pivots depend on its neighbours'.
#pragma once

#include "systems/vectors.h"

namespace systems {

template <int n> struct Factors {
    Vector<n> row[n];    // the factors; the reciprocals of the pivots on the diagonal
    real swapped[n][n];  // [column][row]: whether these two rows were swapped
};

template <int n> HD void swap_rows(mask m, real& a, real& b) {
    real kept = a;
    a = select(m, b, a);
    b = select(m, kept, b);
}

template <int n, int i> HD constexpr Index<n - 1 - i> from_end(Index<i>) { return {}; }
template <int n> HD constexpr int from_end(int i) { return n - 1 - i; }

// f(i) for each number above or below another one.
template <int n, class Number, class F> HD void each_above(Number from, F const& f) {
    if constexpr (is_constant<Number>)
        each_between<Number::value + 1, n, true>(f);
    else
        for (int i = from + 1; i < n; ++i) f(i);
}
template <class Number, class F> HD void each_below(Number end, F const& f) {
    if constexpr (is_constant<Number>)
        each<Number::value>(f);
    else
        for (int i = 0; i < end; ++i) f(i);
}

template <int n> HD void factorize(Factors<n>& a) {
    each_state<n>([&](auto column) {
        each_above<n>(column, [&](auto r) {
            mask larger = abs(a.row[r][column]) > abs(a.row[column][column]);
            a.swapped[column][r] = flag(larger);
            each_state<n>([&](auto j) { swap_rows<n>(larger, a.row[column][j], a.row[r][j]); });
        });
        real reciprocal = 1.0 / a.row[column][column];
        a.row[column][column] = reciprocal;
        each_above<n>(column, [&](auto r) {
            real share = a.row[r][column] * reciprocal;
            a.row[r][column] = share;
            each_above<n>(
                column, [&](auto j) { a.row[r][j] = fma(-share, a.row[column][j], a.row[r][j]); });
        });
    });
}

template <int n> HD Vector<n> solve(Factors<n> const& a, Vector<n> x) {
    each_state<n>([&](auto column) {
        each_above<n>(column,
                      [&](auto r) { swap_rows<n>(is_set(a.swapped[column][r]), x[column], x[r]); });
    });
    each_state<n>(
        [&](auto r) { each_below(r, [&](auto j) { x[r] = fma(-a.row[r][j], x[j], x[r]); }); });
    each_state<n>([&](auto up) {
        auto r = from_end<n>(up);
        each_above<n>(r, [&](auto j) { x[r] = fma(-a.row[r][j], x[j], x[r]); });
        x[r] = x[r] * a.row[r][r];
    });
    return x;
}

}  // namespace systems
