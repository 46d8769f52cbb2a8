// What the drivers of this folder ask of a motion that is stepped through a window under a phase w t. They
// know no physics; a model gives them a struct with
//
//   Law, law(p)                     constants of the motion, from the parameters
//   State, start(law, wave, k)      the motion, and its state at time 0
//   Constants, constants(p, h)      those of a step of length h
//   step(state, law, wave, k)       one step; returns `interval`, `counts` and `sample` for the sums, and
//                                   `change` for the scheme's step control if it has one
//   plain_steps                     in steps of constant length, so many at once are tried as plain ones, in
//                                   which nothing happens that changes the motion's law; 0: there are none.
//                                   All lanes then have the same frequency and step
//   plain_angle                     the phase in a step from which on tries are too often in vain
//   may_be_plain(state)             whether a try is worth while
//   plain(state)                    a further argument of such steps; its `holds` becomes false if one is not
//   nodes, fraction(i)              moments of a step at which it looks at the wave, see schemes/scheme.h
//   choose(mask, a, b)              a state in some lanes, another one in the rest
//   settle(state)                   sets what `step` ignores, which variable steps do not carry along
//   position(state)
//   frequency(p)                    w
//   Window, window(p), valid(p, window)  from `start` to `end`; whether the point makes sense
//   stable(law, h), sees_enough(p, h)  whether steps of length h are short enough
//   blocks(p), few_enough(p, steps)
//   Sums, no_sums(), choose_sums(mask, a, b)
//   at_window(sums, state)          the sums at the start of the window
//   add(sums, done, length, here)   adds what `step` returned, in a unit of time in which the step has the length
//   of_block(sums)                  the sum whose means over the blocks are averaged
//   outputs(results, p), observables(state, p, time)
//
// and parameters `step`, and for variable steps `tolerance`, `maximum_step`, `maximum_steps` and `blocks`.
#pragma once

#include "portable.h"

namespace stepping {

template <class Sums> struct Results {
    real mean;      // of the blocks' means
    Sums sums;      // over the window
    real unit;      // of time in the sums, s
    real duration;  // of the window, in this unit
    real status;
};

template <class Motion>
HD Results<typename Motion::Sums> choose(mask m, Results<typename Motion::Sums> const& a,
                                         Results<typename Motion::Sums> const& b) {
    return {select(m, a.mean, b.mean), Motion::choose_sums(m, a.sums, b.sums),
            select(m, a.unit, b.unit), select(m, a.duration, b.duration),
            select(m, a.status, b.status)};
}

}  // namespace stepping
