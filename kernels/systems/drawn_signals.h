// Signals by draw: the realisation of a point is a table in memory, a periodic cubic spline (forcing.h). The
// parameter with its address is 0 where there is none: then, and before 0 or beyond its duration, it is NaN.
//
// A generated struct has samples, elements, duration, and samples per unit of time.
#pragma once

#include "systems/functions.h"

namespace functions {

// A step that ends with the duration may do so up to rounding.
template <class Drawn> HD mask outside_drawn(real address, real t) {
    return ~((t >= 0.0) & (t <= Drawn::duration * (1.0 + 1e-12)) & (address > 0.0));
}

// The spline of an element, or its first or second derivative. With B the place between two samples, A = 1 - B
// and m = y'' h^2: y = A y0 + B y1 + ((A^3 - A) m0 + (B^3 - B) m1)/6.
template <int derivative, class Drawn, int element> HD real signal_drawn(real address, real t) {
    mask outside = outside_drawn<Drawn>(address, t);
    real place = select(outside, 0.0, t) * Drawn::per_time;
    real low = ::floor(place), b = place - low, a = 1.0 - b;
    real tables = select(outside, 0.0, address), y0 = 0.0, m0 = 0.0, y1 = 0.0, m1 = 0.0;
    for (int i = 0; i < lanes; ++i) {
        if (lane(tables, i) == 0.0) continue;
        double const* table = (double const*)(decltype(sizeof(int)))(int64)lane(tables, i);
        int64 first = (int64)lane(low, i), next = first + 1;
        double const* at = table + 2 * (Drawn::elements * (first & (Drawn::samples - 1)) + element);
        double const* then =
            table + 2 * (Drawn::elements * (next & (Drawn::samples - 1)) + element);
        set_lane(y0, i, at[0]);
        set_lane(m0, i, at[1]);
        set_lane(y1, i, then[0]);
        set_lane(m1, i, then[1]);
    }
    real value;
    if constexpr (derivative == 0) {
        real sum = fma(2.0 - b, m0, (1.0 + b) * m1);
        value = fma(b, y1 - y0, fma(b * a, sum * (-1.0 / 6.0), y0));
    } else if constexpr (derivative == 1) {
        real bend = fma(fma(3.0 * b, b, -1.0), m1, -(fma(3.0 * a, a, -1.0) * m0));
        value = fma(1.0 / 6.0, bend, y1 - y0) * Drawn::per_time;
    } else {
        value = fma(b, m1 - m0, m0) * (Drawn::per_time * Drawn::per_time);
    }
    return within(outside, value);
}

}  // namespace functions
