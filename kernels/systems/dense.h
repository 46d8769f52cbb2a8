// The motion inside a step, and roots on it.
#pragma once

#include "systems/vectors.h"

namespace systems {

constexpr double binomial(int n, int k) {
    return k < 0 || k > n ? 0.0 : k == 0 ? 1.0 : binomial(n - 1, k - 1) * n / k;
}

// y(s) = y0 + s (r0 + (1 - s) (r1 + s (r2 + (1 - s) (r3 + ...)))) at the share s of a step: the form
// of the continuous extensions of Hairer, Norsett and Wanner, which all schemes here have.
template <int n, int terms> struct Dense {
    real start, length;  // in time
    Vector<n> before;
    Vector<n> part[terms];

    static constexpr int degree = terms;

    // The states, or their rates, at a share: each is computed when it is read.
    struct States {
        Dense const& dense;
        real s, other;
        HD real operator[](int i) const {
            return fma(s, dense.nested<0>(i, s, other), dense.before[i]);
        }
    };
    struct Rates {
        Dense const& dense;
        real s, other, per;
        HD real operator[](int i) const {
            real slope = 0.0;
            real value = dense.nested_slope<0>(i, s, other, slope);
            return per * fma(s, slope, value);
        }
    };

    HD real time(real s) const { return fma(s, length, start); }
    HD States states(real s) const { return {*this, s, 1.0 - s}; }
    HD Rates rates_of(real s) const { return {*this, s, 1.0 - s, 1.0 / length}; }
    HD Vector<n> operator()(real s) const {
        Vector<n> y;
        States at = states(s);
        each_state<n>([&](auto i) INLINED { y[i] = at[i]; });
        return y;
    }
    // dy/dt.
    HD Vector<n> rates(real s) const {
        Vector<n> f;
        Rates at = rates_of(s);
        each_state<n>([&](auto i) { f[i] = at[i]; });
        return f;
    }
    // The Bernstein points b_k of y(s) = sum of C(degree, k) s^k (1 - s)^(degree - k) b_k.
    HD real bernstein_time(int k) const { return fma((double)k / degree, length, start); }
    template <int k> HD Vector<n> bernstein_point() const {
        Vector<n> y;
        each_state<n>([&](auto i) {
            real sum = before[i];
            each<terms>([&](auto term) {
                constexpr int j = decltype(term)::value;
                constexpr int power = j / 2 + 1;  // of s; that of 1 - s is j + 1 - power
                constexpr double weight = binomial(degree - j - 1, k - power) / binomial(degree, k);
                if constexpr (weight != 0.0) sum = fma(weight, part[j][i], sum);
            });
            y[i] = sum;
        });
        return y;
    }
    // Makes this the motion up to a share of the step.
    HD void end_at(real share, mask here) {
        Vector<n> points[terms + 1];
        each<terms + 1>([&](auto k) { points[k] = bernstein_point<decltype(k)::value>(); });
        length = select(here, share * length, length);
        each_state<n>([&](auto i) {
            real b[terms + 1];
            each<terms + 1>([&](auto k) { b[k] = points[k][i]; });
            for (int round = 1; round <= terms; ++round)  // de Casteljau's algorithm
                for (int k = terms; k >= round; --k) b[k] = fma(share, b[k] - b[k - 1], b[k - 1]);
            real constant = b[0];
            for (int j = 0, degree = terms; j < terms; ++j, --degree) {
                for (int k = 0; k < degree; ++k)
                    b[k] = j % 2 == 0 ? (b[k + 1] - constant) * ((double)degree / (k + 1))
                                      : (b[k] - constant) * ((double)degree / (degree - k));
                constant = b[j % 2 == 0 ? degree - 1 : 0];
                part[j][i] = select(here, constant, part[j][i]);
            }
        });
    }

private:
    template <int k> HD real nested(int i, real s, real other) const {
        if constexpr (k == terms - 1)
            return part[k][i];
        else
            return fma(k % 2 == 0 ? other : s, nested<k + 1>(i, s, other), part[k][i]);
    }
    template <int k> HD real nested_slope(int i, real s, real other, real& slope) const {
        if constexpr (k == terms - 1) {
            slope = 0.0;
            return part[k][i];
        } else {
            real inner = nested_slope<k + 1>(i, s, other, slope);
            real factor = k % 2 == 0 ? other : s;
            slope = fma(factor, slope, k % 2 == 0 ? -inner : inner);
            return fma(factor, inner, part[k][i]);
        }
    }
};

// The cubic through the values and slopes at both ends, as the first three terms.
template <int n, int terms>
HD void fit_ends(Dense<n, terms>& dense, Vector<n> const& y0, Vector<n> const& f0,
                 Vector<n> const& y1, Vector<n> const& f1, real h) {
    dense.before = y0;
    each_state<n>([&](auto i) {
        real rise = y1[i] - y0[i];
        real bend = fma(h, f0[i], -rise);
        dense.part[0][i] = rise;
        dense.part[1][i] = bend;
        dense.part[2][i] = rise - h * f1[i] - bend;
    });
}

// The root of g between a and b, where `before` has the sign of g at a and g(b) = `after` has not (or
// is 0). Returns a point at which g has left that sign, closer than `width` to one at which it has not.
// Illinois: the value at an end that stays twice is halved.
template <class G>
HD real root_between(G const& g, real a, real b, real before, real after, mask wanted, real width) {
    real ga = before, gb = after;
    for (int i = 0; i < 100; ++i) {
        mask open = wanted & (abs(b - a) > width);
        if (!any(open)) break;
        real x = b - gb * ((b - a) / (gb - ga));
        // At least half the width from both ends, so that the bracket closes from both sides.
        real inner = 0.5 * least(width, abs(b - a));
        x = select(b > a, least(greatest(x, a + inner), b - inner),
                   least(greatest(x, b + inner), a - inner));
        if (i % 8 == 7) x = 0.5 * (a + b);
        x = select(x == x, x, 0.5 * (a + b));
        real gx = g(x);
        mask crossed = ~(gx * before > 0.0);
        ga = select(open, select(crossed, 0.5 * ga, gx), ga);
        gb = select(open, select(crossed, gx, 0.5 * gb), gb);
        a = select(open & ~crossed, x, a);
        b = select(open & crossed, x, b);
    }
    return b;
}

}  // namespace systems
