// Method `time_stepping`: the algorithm of Hanisch, Richter, Li 2020 (eqs. 6 and 7) as it stands.
//
// A step moves each spring with the body and clamps it to its bound at the step's end; the work is
// the trapezoid of F du. First order in the step, since springs enter and leave contact within steps.
#pragma once

#include "models/mdr_contact/observed.h"
#include "models/mdr_contact/spring_sum.h"

namespace time_stepping {

using namespace mdr_contact;
using Shared = Row;
using State = Springs;
using Partial = Contribution;

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

HD Shared shared(Parameters const& p) { return row_of(p); }

HD State start(Shared const& row, real const& spring) { return relaxed(row, spring); }

HD int64 advance(State& s, Shared const& row, int64 budget) {
    return advance_springs<Clamp>(s, row, budget);
}

HD Partial partial(State const& s, Shared const& row) { return contribution(s, row); }

HD Outputs finish(Partial const& sum, Shared const& row) { return outputs_of_sum(sum, row); }

// For traces.

using Seen = Glimpse;

HD Span span(Shared const&) { return {0.0, two_pi}; }

HD State start_seen(Shared const& row, real const& spring) { return all_relaxed(row, spring); }

HD Seen see(State const& before, Shared const& row, double time) {
    return glimpse<Clamp>(before, row, time);
}

HD ItemObservables look_at_item(Seen const& spring) { return observed_spring(spring); }

HD Observables look(Seen const& sum, Shared const& row, Parameters const& p, double time) {
    return observed(sum, row, p, time);
}

HD real place_of(Shared const& row, Parameters const& p, real const& spring) {
    return place_of_spring(row, p, spring);
}

}  // namespace time_stepping
