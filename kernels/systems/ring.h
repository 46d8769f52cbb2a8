// Several values of a point: the last that came.
#pragma once

#include "systems/vectors.h"

namespace systems {

// The last `keep` values of an output; the newest has replaced the oldest.
template <int keep> struct Ring {
    real at[keep];
    real count;  // of all values so far

    HD void clear() {
        for (int i = 0; i < keep; ++i) at[i] = missing();
        count = 0.0;
    }
    HD void add(real value, mask here) {
        real on = flag(here);
        for (int k = 0; k < lanes; ++k) {
            if (lane(on, k) == 0.0) continue;
            int64 place = (int64)lane(count, k) % keep;
            set_lane(at[place], k, lane(value, k));
        }
        count = select(here, count + 1.0, count);
    }
    // The oldest first; those that did not come are missing, at the end.
    HD void write(real (&values)[keep]) const {
        for (int i = 0; i < keep; ++i)
            for (int k = 0; k < lanes; ++k) {
                int64 all = (int64)lane(count, k);
                int64 first = all > keep ? all % keep : 0;
                set_lane(values[i], k, lane(at[(first + i) % keep], k));
            }
    }
};

// The least number of values after which those of all rings repeat: over all that the rings hold, each value
// x is within tolerance (scale + |x|) of the one so many before. 0 if there is none up to half of what they
// hold; missing where fewer values came, or one of them is missing.
template <int keep, int rings>
HD real period_of(Ring<keep> const (&ring)[rings], real const (&scale)[rings], double tolerance) {
    real repeats[keep / 2], values[keep];
    for (real& each : repeats) each = 1.0;
    mask known = ring[0].count >= keep;
    for (int r = 0; r < rings; ++r) {
        ring[r].write(values);
        for (real const& value : values) known = known & (value == value);
        for (int p = 1; p <= keep / 2; ++p)
            for (int i = p; i < keep; ++i) {
                real most = tolerance * (scale[r] + abs(values[i]));
                mask fits = abs(values[i] - values[i - p]) <= most;
                repeats[p - 1] = select(fits, repeats[p - 1], 0.0);
            }
    }
    real period = 0.0;
    for (int p = keep / 2; p >= 1; --p) period = select(is_set(repeats[p - 1]), p, period);
    return select(known, period, missing());
}

}  // namespace systems
