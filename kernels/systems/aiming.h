// Steps that end at an event. A step in which one happens is taken back, and trials of other lengths follow
// until one ends at it.
#pragma once

#include "systems/events.h"

namespace systems {

// Whether the step is short enough for its ends to tell about its inside: there the expression of
// each event is close to the cubic through its values and rates at both ends, at two places that
// no period has in common. Where the ends have different signs that does not matter. A state at
// rest would else let a step pass over many periods of what depends on time.
template <class Dense>
HD mask sees_events(Ends<System> const& ends, Dense const& dense, real h) {
    System const& system = ends.system;
    mask sees = true;
    each<2>([&](auto place) {
        constexpr double s = place == 0 ? 0.25 : 0.6;
        Vector<n> y = dense(s);
        real t = dense.time(s);
        each<n_events>([&](auto e) {
            if constexpr (!Rule<e>::acts) return;
            real before = system.template when<e>(ends.t0, ends.y0);
            real after = system.template when<e>(ends.t1, ends.y1);
            real bend = h * system.template when_rate<e>(ends.t0, ends.y0, ends.f0);
            real end = h * system.template when_rate<e>(ends.t1, ends.y1, ends.f1);
            real rise = after - before;
            bend = bend - rise;
            real twist = rise - end - bend;
            real cubic = fma(s, fma(1.0 - s, fma(s, twist, bend), rise), before);
            real inside = system.template when<e>(t, y);
            real size = greatest(abs(inside), greatest(abs(before), abs(after)));
            mask close = (abs(inside - cubic) <= 0.003 * size) | (before * after < 0.0);
            sees = sees & (close | ~system.template active<e>());
        });
    });
    return sees;
}

// The lanes in whose step an event happens, which aim at the first from now on, or in which one could
// pass unseen, which take a shorter step.
template <class Scheme, class State, class Trial>
HD mask begin_aim(State& s, Ends<System> const& ends, Trial const& trial, real h, mask here) {
    mask could = false;
    each<n_events>([&](auto e) {
        real side = side_of<e>(ends, s.sign[e]);
        real rate0 = ends.system.template when_rate<e>(ends.t0, ends.y0, ends.f0);
        real rate1 = ends.system.template when_rate<e>(ends.t1, ends.y1, ends.f1);
        mask turns = (side * rate0 < 0.0) & (side * rate1 > 0.0);
        mask crossed = crossed_by_end<e>(ends, side, s.sign[e]);
        could = could | (ends.system.template active<e>() & (turns | crossed));
    });
    auto dense = Scheme::dense(ends.system, trial, s.t, s.y, h);
    mask blurred = false;
    if constexpr (Scheme::controlled) {
        mask can_be_halved = (s.refused < 20.0) & (h > 2.4e-15 * s.t);
        blurred = here & can_be_halved & ~sees_events(ends, dense, h);
        s.h = select(blurred, 0.5 * h, s.h);
        s.refused = select(here, select(blurred, s.refused + 1.0, 0.0), s.refused);
        here = here & ~blurred;
    }
    if (!any(here & could)) return blurred;
    mask found = false;
    real first = 2.0;
    each<n_events>([&](auto e) {
        mask asked = here & ends.system.template active<e>();
        Bracket crossing_in = bracket<e, Rule<e>::direction>(ends, dense, s.sign[e], asked);
        if (!any(crossing_in.crosses)) return;
        real share = crossing<e>(ends, dense, crossing_in, s.sign[e]);
        if constexpr (!Rule<e>::sets && Rule<e>::then < 0) {
            // Just taken, and on the far side of zero by rounding: it changes nothing, so the
            // motion goes on through it.
            mask through = crossing_in.crosses & (dense.time(share) <= s.t);
            s.sign[e] = select(through, -crossing_in.side, s.sign[e]);
            crossing_in.crosses = crossing_in.crosses & ~through;
        }
        mask earlier = crossing_in.crosses & (share < first);
        first = select(earlier, share, first);
        found = found | earlier;
        s.target = select(earlier, (double)e, s.target);
        s.side = select(earlier, crossing_in.side, s.side);
        s.low = select(earlier, dense.time(crossing_in.low), s.low);
        s.high =
            select(earlier, select(crossing_in.high == 1.0, ends.t1, dense.time(crossing_in.high)),
                   s.high);
        s.aim = select(earlier, least(greatest(dense.time(share), s.low), s.high), s.aim);
    });
    // The time of the first occurrence in a lane must differ from the beginning of the step.
    s.aims = select(found, 1.0, s.aims);
    mask at_once = found & (s.aim <= s.t);
    s.ended = select(at_once, chattering, s.ended);
    return found | blurred;
}

// The lanes whose trial ends at the event; the others get another aim.
template <class State> HD mask go_on(State& s, Ends<System> const& ends, mask here) {
    mask crossed = false;
    real guess = largest;  // where the first crossing is, seen from the end of the trial
    real target = s.target, side = s.side;
    each<n_events>([&](auto e) {
        mask aimed = s.target == (double)e;
        real from = select(aimed, s.side, side_of<e>(ends, s.sign[e]));
        real after = ends.system.template when<e>(ends.t1, ends.y1);
        real rate = ends.system.template when_rate<e>(ends.t1, ends.y1, ends.f1);
        mask over = ends.system.template active<e>() & wants<e>(from) &
                    crossed_by_end<e>(ends, from, s.sign[e]);
        real root = ends.t1 - after / rate;
        mask nearer = here & over & (~crossed | (root < guess));
        guess = select(nearer, root, guess);
        target = select(nearer, (double)e, target);
        side = select(nearer, from, side);
        crossed = crossed | nearer;
    });
    each<n_events>([&](auto e) {  // nothing crossed: the target's own root
        mask own = here & ~crossed & (s.target == (double)e);
        real after = ends.system.template when<e>(ends.t1, ends.y1);
        real rate = ends.system.template when_rate<e>(ends.t1, ends.y1, ends.f1);
        guess = select(own, ends.t1 - after / rate, guess);
    });
    s.target = select(here, target, s.target);
    s.side = select(here, side, s.side);
    s.low = select(here & ~crossed, ends.t1, s.low);
    s.high = select(here & crossed, ends.t1, s.high);
    // Within this much of time, an expression is zero to rounding.
    real width = 1e-15 * greatest(s.high, abs(s.high - ends.t0));
    mask close = (s.high - s.low <= width) | (guess >= s.high - width);
    // At an extreme that only touches zero, no trial may cross it: then nothing happens.
    mask lands = here & ((crossed & close) | (~crossed & (ends.t1 >= s.high)));
    // The next aim: the guess and a little more, so that the trial ends past the root.
    real middle = 0.5 * (s.low + s.high);
    real aim = guess + 0.5 * width;
    mask inside = (aim > s.low) & (aim < s.high);
    aim = select(inside & ~(s.aims >= 20.0), aim, middle);
    aim = select((aim > s.low) & (aim < s.high), aim, s.high);
    aim = select(s.high - s.low <= width, s.high, aim);
    s.aim = select(here, aim, s.aim);
    s.aims = select(here, select(lands, 0.0, s.aims + 1.0), s.aims);
    return lands;
}

// The lanes whose trial may be taken: nothing happens in it, or it ends at an event.
template <class Scheme, class State, class Trial>
HD mask look_for_events(State& s, System const& system, Trial const& trial, real h, real end,
                        mask accepted) {
    Ends<System> ends{system, s.t, end, s.y, s.f, trial.y, trial.f};
    mask aiming = accepted & (s.aims > 0.0);
    mask fresh = accepted & ~aiming;
    mask taken = accepted;
    if (any(fresh)) taken = taken & ~begin_aim<Scheme>(s, ends, trial, h, fresh);
    if (any(aiming)) taken = taken & (~aiming | go_on(s, ends, aiming));
    return taken;
}

}  // namespace systems
