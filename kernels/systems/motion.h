// A motion y' = f(t, y) with modes and events, from t = 0 to the end of the window, with a scheme's steps.
//
// One unit of work is one attempted step in every lane. A step in which an event happens is taken back,
// and shorter ones are tried until one ends at the event: the dense motion gives the first guess, the
// expression and its rate at the end of each trial the next ones. A step ends at the first moment at which
// any event has happened; all that have by then are taken in the order of the file.
#pragma once

#include "systems/events.h"

namespace systems {

using equations::System;

using Window = System::Window;

// How a motion ended.
constexpr double going = 0.0, done = 1.0, too_many_steps = 2.0, chattering = 3.0, overflow = 4.0,
                 undefined = 5.0;

template <class Scheme> struct Motion {
    using Trial = typename Scheme::template Trial<n>;

    struct State {
        static constexpr int64 refills_every = Scheme::controlled || n_events > 0 ? 64 : 0;
        static constexpr bool refills_always = true;

        real t, h, mode, ended, tries;
        Vector<n> y, f;
        Vector<n_events> sign;      // of each expression, see events.h
        Vector<n_events> last;      // time of its last occurrence
        Vector<n_events> occurred;  // how often
        real taken;                 // events in all
        // A trial that aims at an event:
        real aim, low, high;  // times: the next trial ends at `aim`; nothing has happened at `low`
        real target, side;    // the event, and the side from which it crosses zero
        real refused;         // trials in a row that were too long to see events
        real aims;            // trials so far; 0: none is under way
        Sums sums;

        HD mask going() const { return ended == systems::going; }
        HD bool alike() const { return true; }
        HD static State mix(mask m, State const& a, State const& b) {
            State mixed;
            constexpr int numbers = sizeof(State) / sizeof(real);
            for (int i = 0; i < numbers; ++i)
                ((real*)&mixed)[i] = select(m, ((real const*)&a)[i], ((real const*)&b)[i]);
            return mixed;
        }
    };

    HD static State start(Parameters const& p) {
        System system(p);
        Window window = system.window();
        State s;
        s.t = s.tries = s.taken = s.aim = s.low = s.high = s.target = s.side = s.aims = s.refused =
            0.0;
        s.mode = system.mode = equations::start_mode;
        s.y = system.initial();
        s.sums = no_sums();
        s.ended = going;
        each<n_events>([&](auto e) {
            s.sign[e] = sign_of(system.template when<e>(s.t, s.y));
            s.last[e] = -1.0;
            s.occurred[e] = 0.0;
        });
        if constexpr (equations::entry_events) enter(s, system, p, window, true, true);
        s.f = system.rates(s.t, s.y);
        mask valid = (window.end >= window.start) & (window.start >= 0.0) & (window.end < 1e300);
        if constexpr (equations::periodic)
            valid = valid & (system.period() > 0.0) & (window.end <= 1e15 * system.period());
        real size = 0.0;
        each<n>([&](auto i) { size += abs(s.y[i]) + abs(s.f[i]); });
        s.ended =
            select(s.ended == going, select(valid & (size < largest), going, undefined), s.ended);
        s.ended = select((s.ended == going) & (window.end <= 0.0), done, s.ended);
        s.h = first_step(s, system, p, window);
        return s;
    }

    // The length of the first step after Hairer, Norsett and Wanner, Solving Ordinary Differential
    // Equations I, II.4.
    HD static real first_step(State const& s, System const& system, Parameters const& p,
                              Window const& window) {
        if constexpr (!Scheme::controlled) {
            return p.step;
        } else {
            Vector<n> scales = system.scales();
            real per = 1.0 / p.relative_tolerance;
            real size = mean_square(s.y, s.y, s.y, scales, per);
            real speed = mean_square(s.f, s.y, s.y, scales, per);
            mask small = (size < 1e-10) | (speed < 1e-10);
            real h =
                select(small, 1e-6 * window.end, 0.01 * sqrt(size / select(small, 1.0, speed)));
            h = least(h, least(p.maximum_step, window.end));
            Vector<n> y, change;
            each<n>([&](auto i) { y[i] = fma(h, s.f[i], s.y[i]); });
            Vector<n> f = system.rates(s.t + h, y);
            each<n>([&](auto i) { change[i] = f[i] - s.f[i]; });
            real bend = mean_square(change, s.y, s.y, scales, per) / (h * h);
            real fastest = greatest(speed, bend);
            real other = select(fastest <= 1e-30, greatest(1e-6 * window.end, 1e-3 * h),
                                rough_power(least(greatest(1e-4 / fastest, 1e-200), 1e200),
                                            0.5 / Scheme::error_order));
            other = select(other == other, other, h);
            return least(least(100.0 * h, other), least(p.maximum_step, window.end));
        }
    }

    HD static int64 advance(State& s, Parameters const& p, int64 budget) {
        System system(p);
        Window window = system.window();
        Vector<n> scales = system.scales();
        int64 used = 0;
        while (used < budget && any(s.going())) {
            if constexpr (strides) {
                int64 steps = stride(s, system, window, budget - used);
                used += steps;
                if (steps > 0) continue;
            }
            attempt(s, system, p, window, scales);
            ++used;
        }
        return used;
    }

    // Whether anything is looked for inside steps.
    static constexpr bool sums_up =
        equations::integrals + equations::extremes + equations::observed > 0 || equations::periodic;

    // Where nothing is, and steps are of constant length, many are taken at a stride.
    static constexpr bool strides = !Scheme::controlled && n_events == 0 && !sums_up;

    // Takes as many steps as no lane ends in, at most 256; returns their number. If a state overflows
    // nothing is taken, so that single attempts find the step in which it does.
    HD static int64 stride(State& s, System& system, Window const& window, int64 budget) {
        system.mode = s.mode;
        mask active = s.going();
        real left = floor((window.end - s.t) / s.h) - 2.0;
        left = select(active, least(left, 256.0), 256.0);
        int64 steps = budget < 256 ? budget : 256;
        for (int k = 0; k < lanes; ++k)
            if (lane(left, k) < (double)steps) steps = (int64)lane(left, k);
        if (steps < 1) return 0;
        real t = s.t, h = s.h;
        Vector<n> y = s.y, f = s.f;
        for (int64 i = 0; i < steps; ++i) {
            real end = t + h;
            y = Scheme::end(system, t, y, f, h);
            f = system.rates(end, y);
            t = end;
        }
        real size = 0.0;
        each<n>([&](auto i) { size += abs(y[i]) + abs(f[i]); });
        if (any(active & ~(size < largest))) return 0;
        s.t = select(active, t, s.t);
        s.y = choose(active, y, s.y);
        s.f = choose(active, f, s.f);
        s.tries = select(active, s.tries + (double)steps, s.tries);
        return steps;
    }

    // The time at which the next trial ends, and whether it is the end of the window.
    HD static real end_of_trial(State const& s, Window const& window, mask& shortened) {
        real end = s.t + s.h;
        shortened = end * (1.0 + 1e-14) >= window.end;
        end = select(shortened, window.end, end);
        if constexpr (n_events > 0) {
            mask aiming = s.aims > 0.0;
            shortened = shortened | aiming;
            end = select(aiming, s.aim, end);
        }
        return end;
    }

    HD static void attempt(State& s, System& system, Parameters const& p, Window const& window,
                           Vector<n> const& scales) {
        system.mode = s.mode;
        mask active = s.going();
        mask shortened;
        real end = end_of_trial(s, window, shortened);
        real h = select(shortened, end - s.t, s.h);
        Trial trial = Scheme::step(system, s.t, s.y, s.f, h);
        mask taken = active & judge(s, system, p, trial, scales, h, shortened, active);
        s.tries = select(active, s.tries + 1.0, s.tries);

        if constexpr (n_events > 0)
            taken = taken & look_for_events(s, system, trial, h, end, taken);
        if constexpr (sums_up)
            if (any(taken & (end >= window.start))) {
                auto dense = Scheme::dense(system, trial, s.t, s.y, h);
                add_step<Scheme::order>(s.sums, system, dense, window.start, taken);
                Ends<System> ends{system, s.t, end, s.y, s.f, trial.y, trial.f};
                observe(s.sums, ends, dense, window.start, taken);
            }
        pass(s, system, window, trial, end, taken);
        if constexpr (n_events > 0) take_events(s, system, p, window, taken);
        mask ends = active & (s.ended == going) & (s.t >= window.end);
        s.ended = select(ends, done, s.ended);
        if constexpr (Scheme::controlled)
            s.ended =
                select((s.ended == going) & (s.tries >= p.maximum_steps), too_many_steps, s.ended);
    }

    // Whether a trial is accurate enough; sets the length of the next.
    HD static mask judge(State& s, System const& system, Parameters const& p, Trial const& trial,
                         Vector<n> const& scales, real h, mask shortened, mask active) {
        mask accepted, finite;
        if constexpr (!Scheme::controlled) {
            real size = 0.0;
            each<n>([&](auto i) { size += abs(trial.y[i]) + abs(trial.f[i]); });
            accepted = finite = size < largest;
        } else {
            // An end that is not finite has no finite error.
            real square = Scheme::error_square(trial, s.y, scales, 1.0 / p.relative_tolerance, h);
            accepted = square < 1.0;
            finite = square < largest;
            if constexpr (n_events > 0) accepted = accepted | (finite & (s.aims > 0.0));
            real factor = step_factor(square, Scheme::error_order);
            factor = select(accepted, factor, least(select(finite, factor, 0.2), 0.9));
            real next = least(h * factor, p.maximum_step);
            s.h = select(active & ~(accepted & shortened), next, s.h);
        }
        // A step that cannot be shortened any more: 0.9 of a few roundings of time may round up again.
        real least_step = 1.2e-15 * s.t;
        mask stuck = active & ~accepted;
        if constexpr (Scheme::controlled) {
            stuck = stuck & (s.h <= least_step);
            mask rests = active & (h == 0.0);  // accepted, yet time stands still
            if constexpr (n_events > 0) rests = rests & ~(s.aims > 0.0);
            stuck = stuck | rests;
        }
        if (any(stuck)) s.ended = select(stuck, why(s, system, h), s.ended);
        return accepted;
    }

    // Why a motion cannot go on: an argument leaves the range of its function, or numbers overflow.
    HD static real why(State const& s, System const& system, real h) {
        Vector<n> y;
        each<n>([&](auto i) { y[i] = fma(h, s.f[i], s.y[i]); });
        return select(system.outside(s.t + h, y), undefined, overflow);
    }

    // The lanes whose trial may be taken: nothing happens in it, or it ends at an event.
    HD static mask look_for_events(State& s, System const& system, Trial const& trial, real h,
                                   real end, mask accepted) {
        Ends<System> ends{system, s.t, end, s.y, s.f, trial.y, trial.f};
        mask aiming = accepted & (s.aims > 0.0);
        mask fresh = accepted & ~aiming;
        mask taken = accepted;
        if (any(fresh)) taken = taken & ~begin_aim(s, ends, trial, h, fresh);
        if (any(aiming)) taken = taken & (~aiming | go_on(s, ends, aiming));
        return taken;
    }

    // The lanes in whose step an event happens, which aim at the first from now on, or in which one could
    // pass unseen, which take a shorter step.
    HD static mask begin_aim(State& s, Ends<System> const& ends, Trial const& trial, real h,
                             mask here) {
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
            blurred = here & (s.refused < 20.0) & ~sees_events(ends, dense, h);
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
            s.high = select(earlier,
                            select(crossing_in.high == 1.0, ends.t1, dense.time(crossing_in.high)),
                            s.high);
            s.aim = select(earlier, least(greatest(dense.time(share), s.low), s.high), s.aim);
        });
        // The time of the first occurrence in a lane must differ from the beginning of the step.
        s.aims = select(found, 1.0, s.aims);
        mask at_once = found & (s.aim <= s.t);
        s.ended = select(at_once, chattering, s.ended);
        return found | blurred;
    }

    // Whether the step is short enough for its ends to tell about its inside: there the expression of
    // each event is close to the cubic through its values and rates at both ends, at two places that
    // no period has in common. Where the ends have different signs that does not matter. A state at
    // rest would else let a step pass over many periods of what depends on time.
    template <class Dense>
    HD static mask sees_events(Ends<System> const& ends, Dense const& dense, real h) {
        System const& system = ends.system;
        mask sees = true;
        each<2>([&](auto place) {
            constexpr double s = place == 0 ? 0.25 : 0.6;
            Vector<n> y = dense(s);
            real t = dense.time(s);
            each<n_events>([&](auto e) {
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

    // The lanes whose trial ends at the event; the others get another aim.
    HD static mask go_on(State& s, Ends<System> const& ends, mask here) {
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

    // Moves on to the end of the trial.
    HD static void pass(State& s, System const& system, Window const&, Trial const& trial, real end,
                        mask taken) {
        if constexpr (n_events > 0) {
            // An event that happens in this step has its sign marked by 2 until it is taken.
            Ends<System> ends{system, s.t, end, s.y, s.f, trial.y, trial.f};
            each<n_events>([&](auto e) {
                real after = system.template when<e>(end, trial.y);
                real side = side_of<e>(ends, s.sign[e]);
                side = select(s.target == (double)e, select(s.high == end, s.side, side), side);
                mask crossed = crossed_by_end<e>(ends, side, s.sign[e]);
                mask over = system.template active<e>() & wants<e>(side) & crossed;
                mask leaving = (s.sign[e] == 0.0) & ~crossed & (side * after <= 0.0);
                real sign = select((after == 0.0) | leaving, s.sign[e], sign_of(after));
                s.sign[e] = select(taken, select(over, 2.0, sign), s.sign[e]);
            });
        }
        s.t = select(taken, end, s.t);
        s.y = choose(taken, trial.y, s.y);
        s.f = choose(taken, trial.f, s.f);
    }

    HD static void take_events(State& s, System& system, Parameters const& p, Window const& window,
                               mask taken) {
        mask some = false;
        each<n_events>([&](auto e) { some = some | (taken & (s.sign[e] == 2.0)); });
        if (!any(some)) return;
        Vector<n_events> before;
        Vector<n_events> due = s.sign;
        each<n_events>([&](auto e) { before[e] = system.template when<e>(s.t, s.y); });
        real mode = s.mode;
        mask stayed[n_events > 0 ? n_events : 1];
        each<n_events>([&](auto e) { stayed[e] = system.template active<e>(); });
        each<n_events>([&](auto e) { fire<e>(s, system, p, window, some & (due[e] == 2.0)); });
        each<n_events>([&](auto e) {
            real now = system.template when<e>(s.t, s.y);
            mask was_due = due[e] == 2.0;
            // Taken, and not moved away from zero by `set`.
            mask at_zero = was_due & stayed[e] & (now == before[e]);
            s.sign[e] = select(some, select(at_zero, 0.0, sign_of(now)), s.sign[e]);
        });
        if constexpr (equations::entry_events)
            enter(s, system, p, window, some, some & (mode != s.mode));
        s.f = choose(some, system.rates(s.t, s.y), s.f);
        s.target = select(some, -1.0, s.target);
    }

    // Lets an event happen where it is due, its mode holds and so does its condition.
    template <int e>
    HD static void fire(State& s, System& system, Parameters const& p, Window const& window,
                        mask due) {
        mask fires = due & (s.ended == going) & system.template active<e>();
        if constexpr (Rule<e>::conditional) fires = fires & system.template condition<e>(s.t, s.y);
        if (!any(fires)) return;
        // Closer than the width to which events are located, two occurrences are at one time.
        mask again = fires & (s.last[e] >= 0.0) & (s.t - s.last[e] <= 8e-15 * s.t);
        s.taken = select(fires, s.taken + 1.0, s.taken);
        again = again | (fires & (s.taken > p.maximum_events));
        s.ended = select(again, chattering, s.ended);
        s.last[e] = select(fires, s.t, s.last[e]);
        s.occurred[e] = select(fires, s.occurred[e] + 1.0, s.occurred[e]);
        mask counts = fires & (s.t >= window.start);
        system.template record<e>(s.sums, s.t, s.y, counts);
        if constexpr (Rule<e>::stop_after > 0)
            s.ended = select(fires & (s.occurred[e] >= Rule<e>::stop_after), done, s.ended);
        if constexpr (Rule<e>::sets) s.y = choose(fires, system.template after<e>(s.t, s.y), s.y);
        if constexpr (Rule<e>::then >= 0) s.mode = select(fires, (double)Rule<e>::then, s.mode);
        system.mode = s.mode;
    }

    // Lets the events happen whose mode is entered with their expression already past zero.
    HD static void enter(State& s, System& system, Parameters const& p, Window const& window,
                         mask here, mask entered) {
        for (int round = 0; round < n_events; ++round) {
            if (!any(entered)) return;
            real mode = s.mode;
            each<n_events>([&](auto e) {
                if constexpr (Rule<e>::at_entry) {
                    real value = system.template when<e>(s.t, s.y);
                    mask past = Rule<e>::direction > 0 ? value > 0.0 : value < 0.0;
                    fire<e>(s, system, p, window, entered & past & (s.mode == mode));
                }
            });
            each<n_events>([&](auto e) {
                real now = sign_of(system.template when<e>(s.t, s.y));
                s.sign[e] = select(here & (s.mode != mode), now, s.sign[e]);
            });
            entered = entered & (s.mode != mode);
        }
    }

    HD static bool running(State const& s) { return any(s.going()); }

    HD static Outputs finish(State const& s, Parameters const& p) {
        System system(p);
        system.mode = s.mode;
        Window window = system.window();
        window.end = select(s.ended == done, least(window.end, s.t), window.end);
        Outputs out = system.outputs(s.sums, s.t, s.y, window.end - window.start);
        out.status =
            select(s.ended == done, 0.0,
                   select(s.ended == overflow, 2.0, select(s.ended == undefined, 3.0, 1.0)));
        return out;
    }

    HD static real time_of(State const& s, Parameters const&) { return s.t; }

    // The motion at `time`, in the step that the next unit of work takes.
    HD static Observables look(State const& s, Parameters const& p, real time) {
        System system(p);
        system.mode = s.mode;
        mask shortened;
        Window window = system.window();
        real end = end_of_trial(s, window, shortened);
        real h = select(shortened, end - s.t, s.h);
        mask moves = (s.ended == going) & (h > 0.0);
        Trial trial = Scheme::step(system, s.t, s.y, s.f, h);
        auto dense = Scheme::dense(system, trial, s.t, s.y, h);
        Vector<n> y = choose(moves & (time > s.t), dense((time - s.t) / h), s.y);
        Observables seen = system.observables(time, y);
        seen.time = time;
        return seen;
    }
};

}  // namespace systems
