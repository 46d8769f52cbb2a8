// The work of the springs that slip at one moment, per advance of the edge of the slip area.
//
// They lie between the edge of contact, H = -p, and the edge of the stick area. With r = 1 - H/load at the
// edge of the stick area, P = 1 + p/load and m = load (P - r),
//
//   K = load (P^a/a - r^a/a - (P - r) r^b),   a = 1 + b,  b = 1/n.
//
// This file has load K without cancellation; for P -> r it tends to b r^(b - 1) m^2/2.
#pragma once

#include "models/mdr_contact/profile.h"

namespace mdr_contact {

constexpr double least_depth = 1e-100;  // keeps logarithms and quotients of zero finite

// (e^x - 1 - x)/x^2. Relative error: 5e-16.
HD real exp_tail(real x) {
    real tail = horner(x, 0.5, 0.16666666666666666, 0.041666666666666116, 0.008333333333333878,
                       0.0013888888888978514, 0.0001984126984085819, 2.4801587247333774e-05,
                       2.75573193519125e-06, 2.755733482987931e-07, 2.505209083991953e-08,
                       2.087445685814265e-09, 1.605983469950833e-10, 1.163848385111355e-11,
                       7.679699679261664e-13);
    mask far = abs(x) > 1.0;
    if (any(far)) {
        real square = select(far, x * x, 1.0);
        tail = select(far, (exp(x) - 1.0 - x) / square, tail);
    }
    return tail;
}

// ln(1 + q)/q, q >= 0.
HD real log1p_ratio(real q) {
    real above = 1.0 + q;
    real ln = log(above) + (q - (above - 1.0)) / above;
    return select(q == 0.0, 1.0, ln / select(q == 0.0, 1.0, q));
}

// With L = ln(P/r): load^2 (b/a) P r^b L^2 (b e(bL) + e(-L)), e(x) = (e^x - 1 - x)/x^2.
HD real general_work(Profile const& profile, real r, real m, real inverse_load) {
    real b = profile.inverse;
    real depth = greatest(r, least_depth);
    real ratio = m / depth;
    real q = ratio * inverse_load;
    real share = log1p_ratio(q);
    real length = q * share;
    real scaled_length = ratio * share;
    real power = fma(m, inverse_load, depth) * exp(b * log(depth));
    real tails = fma(b, exp_tail(b * length), exp_tail(-length));
    return b / (1.0 + b) * (power * (scaled_length * scaled_length)) * tails;
}

// load K if part of the contact sticks.
template <bool general>
HD real edge_work(Profile const& profile, real r, real m, real inverse_load) {
    real inner = sqrt(r);
    real outer = sqrt(fma(m, inverse_load, r));
    real part = m / (inner + outer + least_depth);
    real round = fma(2.0, outer, inner) * (part * part) * (1.0 / 3.0);
    real work = select(profile.quadratic, round, 0.5 * m * m);
    if constexpr (general) {
        work = select(profile.general, general_work(profile, r, m, inverse_load), work);
    }
    return work;
}

// K/load = P^a/a if the whole contact slips.
template <bool general> HD real whole_work(Profile const& profile, real depth) {
    real round = (2.0 / 3.0) * (depth * sqrt(depth));
    real work = select(profile.quadratic, round, 0.5 * depth * depth);
    if constexpr (general) {
        real b = profile.inverse;
        real power = depth * exp(b * log(greatest(depth, least_depth)));
        work = select(profile.general, power / (1.0 + b), work);
    }
    return work;
}

}  // namespace mdr_contact
