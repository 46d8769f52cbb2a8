// What each spring adds to its point, and the point's outputs from the sum:
//
//     W/W_ref = (3n/(8 delta)) dX (sum over the springs of the integral of q dU)
#pragma once

#include "models/mdr_contact/springs.h"

namespace mdr_contact {

constexpr double no_energy = 1e-12;  // of W_ref: rounding

struct Contribution {
    real work;     // twice the integral of q dU
    real stuck;    // 1 if it neither slips nor leaves contact in the last cycle, else 0
    real touches;  // 1 if it never leaves contact, else 0
};

HD Contribution contribution(Springs const& s, Row const& row) {
    Scaled const& o = row.scaled;
    mask touches = s.depth + o.delta * row.lowest > 0.0;
    mask stuck = touches & ~o.frictionless & ~(s.slips & s.slipped);
    return {select(s.slips, s.work, 0.0), select(stuck, 1.0, 0.0), select(touches, 1.0, 0.0)};
}

// Stick radius and regime are those that the springs were seen in, not those of the limit.
HD Outputs outputs_of_sum(Contribution const& sum, Row const& row) {
    Scaled const& o = row.scaled;
    real share = select(o.delta == 0.0, 1.0, o.delta);
    real energy = 0.1875 * o.profile.exponent * (sum.work * row.width) / share;
    Outputs out = outputs_of(o, energy);
    out.stick_radius = sum.stuck * row.width;
    mask quiet = o.unmoved | (energy <= no_energy);
    real regime = select(quiet, 0.0, 1.0);
    regime = select(sum.stuck == 0.0, 2.0, regime);
    out.regime = select(sum.touches == 0.0, 3.0, regime);
    return out;
}

}  // namespace mdr_contact
