// A step of Newton's method for harmonic balance: the symmetric matrix of the cosines with a border for
// lambda and the energy.
//
// Cosines are eliminated from the highest order down without pivoting. Where a pivot happens to be nearly
// 0, the step is less exact and the next one corrects it. Orders 0 and 1 and lambda are left for last: at
// grazing the pivot of order 1 is 0, but not together with the border. Rows are computed one after
// another from those above them, which are only read.
#pragma once

#include "models/impact_oscillator/balance.h"

namespace impact_oscillator {

constexpr int tile = 8;  // elements of a row that are computed together

// The lower triangle by rows, each of which is filled up to whole tiles.
HD constexpr int row_place(int row) {
    return tile * (row / tile + 1) * (tile * (row / tile) / 2 + row % tile);
}

struct Elimination {
    real rows[row_place(most_harmonics + 1)];
    real inverse[most_harmonics + 1];  // of the pivots
    real factor[most_harmonics + 1];   // of the rows that are subtracted from the current one

    HD real& at(int row, int column) { return rows[row_place(row) + column]; }
    HD real const& at(int row, int column) const { return rows[row_place(row) + column]; }
};

// Row k of the matrix and the border, less the multiples of the rows from `least_row` to `most`.
HD void reduce_row(Elimination& m, Equations& e, real diagonal, mask own, int k, int least_row,
                   int most) {
    UNROLLED
    for (int i = least_row; i <= most; ++i) {
        real factor = m.at(i, k) * m.inverse[i];
        e.residual[k] = fma(-factor, e.residual[i], e.residual[k]);
        e.by_square[k] = fma(-factor, e.by_square[i], e.by_square[k]);
        e.energy_by[k] = fma(-factor, e.energy_by[i], e.energy_by[k]);
        m.factor[i] = factor;
    }
    for (int first = 0; first <= k; first += tile) {
        real sums[tile];
        for (int t = 0; t < tile; ++t) {
            int j = first + t;
            sums[t] = 0.0;
            if (j <= k) sums[t] = select(own, e.slopes[k - j] + e.slopes[k + j], 0.0);
            if (j == k) sums[t] += diagonal;
        }
        UNROLLED
        for (int i = least_row; i <= most; ++i)
            for (int t = 0; t < tile; ++t) sums[t] = fma(-m.factor[i], m.at(i, first + t), sums[t]);
        for (int t = 0; t < tile; ++t) m.at(k, first + t) = sums[t];
    }
}

// Reduces the equations to those of orders 0 and 1, and lambda.
HD void eliminate(Elimination& m, Equations& e, real square, real harmonics, int most) {
    for (int k = most; k >= 0; --k) {
        mask own = k <= harmonics;
        real diagonal = k == 0 ? real(2.0) : fma(-(double)k * k, square, 1.0);
        diagonal = select(own, diagonal, 1.0);
        reduce_row(m, e, diagonal, own, k, k < 2 ? 2 : k + 1, most);
        m.inverse[k] = 1.0 / m.at(k, k);
    }
    for (int k = most; k >= 2; --k) {
        real factor = e.energy_by[k] * m.inverse[k];
        e.energy = fma(-factor, e.residual[k], e.energy);
        e.energy_by_square = fma(-factor, e.by_square[k], e.energy_by_square);
    }
}

// The changes of the unknowns by which the linearized equations become 0.
HD void solve(Unknowns& change, Equations& e, real square, real harmonics, int most) {
    Elimination m;
    eliminate(m, e, square, harmonics, most);
    // Orders 0 and 1 and lambda, first without order 0.
    real factor = m.at(1, 0) * m.inverse[0], of_energy = e.energy_by[0] * m.inverse[0];
    real pivot = fma(-factor, m.at(1, 0), m.at(1, 1));
    real left = fma(-factor, e.residual[0], e.residual[1]);
    real by_square = fma(-factor, e.by_square[0], e.by_square[1]);
    real energy_by = fma(-of_energy, m.at(1, 0), e.energy_by[1]);
    real energy = fma(-of_energy, e.residual[0], e.energy);
    real energy_by_square = fma(-of_energy, e.by_square[0], e.energy_by_square);
    real determinant = fma(pivot, energy_by_square, -(by_square * energy_by));
    change.square = fma(energy_by, left, -(pivot * energy)) / determinant;
    change.cosines[1] = fma(by_square, energy, -(energy_by_square * left)) / determinant;
    real rest = fma(e.by_square[0], change.square, e.residual[0]);
    change.cosines[0] = -fma(m.at(1, 0), change.cosines[1], rest) * m.inverse[0];
    for (int k = 2; k <= most; ++k) {
        rest = fma(e.by_square[k], change.square, e.residual[k]);
        UNROLLED
        for (int j = 0; j < k; ++j) rest = fma(m.at(k, j), change.cosines[j], rest);
        change.cosines[k] = -rest * m.inverse[k];
    }
}

}  // namespace impact_oscillator
