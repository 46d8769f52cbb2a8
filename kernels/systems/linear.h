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

// Constants of their own, because NVRTC takes no captured index for a constant.
template <int n> HD void factorize(Factors<n>& a) {
    each<n>([&](auto column_index) {
        constexpr int column = decltype(column_index)::value;
        each<n>([&](auto row_index) {
            constexpr int r = decltype(row_index)::value;
            if constexpr (r > column) {
                mask larger = abs(a.row[r][column]) > abs(a.row[column][column]);
                a.swapped[column][r] = flag(larger);
                each<n>([&](auto j) { swap_rows<n>(larger, a.row[column][j], a.row[r][j]); });
            }
        });
        real reciprocal = 1.0 / a.row[column][column];
        a.row[column][column] = reciprocal;
        each<n>([&](auto row_index) {
            constexpr int r = decltype(row_index)::value;
            if constexpr (r > column) {
                real share = a.row[r][column] * reciprocal;
                a.row[r][column] = share;
                each<n>([&](auto j) {
                    if constexpr (j > column)
                        a.row[r][j] = fma(-share, a.row[column][j], a.row[r][j]);
                });
            }
        });
    });
}

template <int n> HD Vector<n> solve(Factors<n> const& a, Vector<n> x) {
    each<n>([&](auto column_index) {
        constexpr int column = decltype(column_index)::value;
        each<n>([&](auto r) {
            if constexpr (r > column) swap_rows<n>(is_set(a.swapped[column][r]), x[column], x[r]);
        });
    });
    each<n>([&](auto row_index) {
        constexpr int r = decltype(row_index)::value;
        each<n>([&](auto j) {
            if constexpr (j < r) x[r] = fma(-a.row[r][j], x[j], x[r]);
        });
    });
    each<n>([&](auto up) {
        constexpr int r = n - 1 - up;
        each<n>([&](auto j) {
            if constexpr (j > r) x[r] = fma(-a.row[r][j], x[j], x[r]);
        });
        x[r] = x[r] * a.row[r][r];
    });
    return x;
}

}  // namespace systems
