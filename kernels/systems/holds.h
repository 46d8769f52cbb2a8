// Holds: conditions without which the model is not right. A motion that violates one ends.
//
// They are checked as the motion starts, after events, and along each step: at its end, and between all the places
// at which what they compare changes its sign. A comparison is violated beyond the width of zero.
#pragma once

#include "systems/taking.h"

namespace systems {

template <class State, class Dense>
HD void check_step(State& s, System& system, Ends<System> const& ends, Dense const& dense,
                   mask here) {
    if constexpr (equations::hold_kinks > 0) {
        along_parts<equations::kinks, equations::hold_kinks>(
            system, ends, dense, 0.0, here, [&](real a, real b, mask open) {
                real middle = 0.5 * (a + b);
                check_holds(s, system, dense.time(middle), dense(middle), dense.rates(middle),
                            open);
            });
    }
    check_holds(s, system, ends.t1, ends.y1, ends.f1, here);
}

}  // namespace systems
