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

}  // namespace systems
