// Method `time_stepping`: the algorithm of Hanisch, Richter, Li 2020 (eqs. 6 and 7), unchanged.
//
// A step moves each spring with the body and clamps it to its bound at the end of the step; the work is
// the trapezoid of F du. First order in the step, because springs enter and leave contact within steps.
#pragma once

#include "models/mdr_contact/spring_method.h"

namespace time_stepping {

using namespace mdr_contact;

struct Clamp {
    template <bool counted>
    HD static void run(Springs& s, Segment& segment, Steps const& steps) {
        constexpr bool watched = counted && (wanted::stick_radius || wanted::regime);
        real q = s.elongation, work = s.work;
        mask slipped = s.slipped;
        while (segment.left) {
            Motion next = after(segment.now, steps);
            double shift = next_shift(segment);
            real trial = q + real(shift);
            q = clamped(trial, bound_at(segment, next));
            if constexpr (counted) work = fma(q, real(shift + next.shift), work);
            if constexpr (watched) slipped = slipped | (q != trial);
            go_to(segment, next, 1);
        }
        s.elongation = q;
        s.work = work;
        s.slipped = slipped;
    }
};

SPRING_METHOD(Clamp)

}  // namespace time_stepping
