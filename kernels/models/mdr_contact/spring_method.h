// Makes a way to step springs a method of the model.
#pragma once

#include "models/mdr_contact/observed.h"
#include "models/mdr_contact/spring_sum.h"

// For use in the namespace of the method, with a struct that has
// run<counted>(Springs&, Segment&, Steps const&).
#define SPRING_METHOD(Way)                                                                        \
    using Shared = Row;                                                                           \
    using State = Springs;                                                                        \
    using Partial = Contribution;                                                                 \
    using Seen = Glimpse;                                                                         \
    HD Shared shared(Parameters const& p) { return row_of(p); }                                   \
    HD State start(Shared const& row, real const& spring) { return relaxed(row, spring); }        \
    HD int64 advance(State& s, Shared const& row, int64 budget) {                                 \
        return advance_springs<Way>(s, row, budget);                                              \
    }                                                                                             \
    HD Partial partial(State const& s, Shared const& row) { return contribution(s, row); }        \
    HD Outputs finish(Partial const& sum, Shared const& row) { return outputs_of_sum(sum, row); } \
    HD Span span(Shared const&) { return {0.0, two_pi}; }                                         \
    HD State start_seen(Shared const& row, real const& spring) {                                  \
        return all_relaxed(row, spring);                                                          \
    }                                                                                             \
    HD Seen see(State const& before, Shared const& row, double time) {                            \
        return glimpse<Way>(before, row, time);                                                   \
    }                                                                                             \
    HD ItemObservables look_at_item(Seen const& spring) { return observed_spring(spring); }       \
    HD Observables look(Seen const& sum, Shared const& row, Parameters const& p, double time) {   \
        return observed(sum, row, p, time);                                                       \
    }                                                                                             \
    HD real place_of(Shared const& row, Parameters const& p, real const& spring) {                \
        return place_of_spring(row, p, spring);                                                   \
    }
