// A motion y' = f(t, y) with modes and events, from t = 0 to the end of the window, with a scheme's steps.
//
// One unit of work is one attempted step in every lane. A step in which an event happens is taken back,
// and shorter ones are tried until one ends at the event: the dense motion gives the first guess, the
// expression and its rate at the end of each trial the next ones. A step ends at the first moment at which
// any event has happened; all that have by then are taken in the order of the file. Where a side changes, with
// which a relation in the derivatives is decided, a step is taken up to there along its dense motion.
#pragma once

#include "systems/aiming.h"
#include "systems/holds.h"
#include "systems/waves.h"

namespace systems {

using equations::Moment;

template <class Scheme> struct Motion {
    using Trial = typename Scheme::template Trial<n>;

    struct State : Turning<waves> {
        static constexpr int64 refills_every = Scheme::controlled || n_watched > 0 ? 64 : 0;
        static constexpr bool refills_always = n_watched > 0;

        real t, h, ended, tries;
        Switches mode;
        Vector<n> y, f;
        Vector<n_watched> sign;               // of each expression, see events.h
        Vector<n_held> side;                  // what each side holds
        real turns_at_once;                   // of sides, at the time that is reached
        Vector<equations::entries> entering;  // 1: that event at entry is still to be judged
        // Of each event:
        Vector<n_events> last;             // time of its last occurrence
        Vector<n_events> occurred;         // how often
        Vector<n_events> interval, ratio;  // between the last two; and over the one before
        Vector<n_events> steady;           // how often in a row that ratio has stayed the same
        Vector<n_events> excursion;        // greatest magnitude since its last occurrence
        Vector<has_events> taken;          // events in all
        Vector<n * equations::rests>
            after;  // states after the last occurrence, of events that rest
        // A trial that aims at something watched:
        real aim, low, high;  // times: the next trial ends at `aim`; nothing has happened at `low`
        real target, side_left;  // what it is, and the side from which it crosses zero
        real refused;            // trials in a row that were too long to see events
        real aims;               // trials so far; 0: none is under way
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

    SELDOM static State start(Parameters const& p) {
        System system(p);
        Window window = system.window();
        system.hold_signals(0.0);
        State s;
        s.t = s.tries = s.aim = s.low = s.high = s.target = s.side_left = s.aims = s.refused =
            s.turns_at_once = 0.0;
        each<has_events>([&](auto k) { s.taken[k] = 0.0; });
        s.y = system.initial();
        system.start(s.t, s.y);
        s.mode = system.mode;
        clear(s.sums);
        s.ended = going;
        each<n_held>([&](auto k) { s.side[k] = system.side[k] = 0.0; });
        each_event([&](auto e) {
            s.last[e] = s.interval[e] = -1.0;
            s.occurred[e] = s.ratio[e] = s.steady[e] = s.excursion[e] = 0.0;
        });
        each<n * equations::rests>([&](auto k) { s.after[k] = 0.0; });
        Vector<n_watched> width;
        auto sizes = system.all_when_size(s.t, s.y);
        each_watched([&](auto e) { width[e] = roundings * sizes[e]; });
        set_sides(s, system, width, true);
        set_signs(s, system, width, true);
        end_where_missing(s, system, true);
        if constexpr (waves > 0)
            renew(s, system, true);
        else
            s.f = system.rates(s.t, s.y);
        if constexpr (equations::entries) {
            each_event([&](auto e) {
                if (rules[e].at_entry) s.entering[rules[e].entry] = flag(system.active(e));
            });
            Vector<n_events> lead;
            mask entered = lead_at_entry(s, system, lead, true);
            enter(s, system, p, window, width, entered, lead);
        }
        mask valid = (window.end > window.start) & (window.start >= 0.0) & (window.end < 1e300);
        if constexpr (equations::periodic)
            valid = valid & (system.period() > 0.0) & (window.end <= 1e15 * system.period());
        each<n_switches>([&](auto k) { valid = valid & (s.mode[k] == s.mode[k]); });
        real size = 0.0;
        Vector<n> scales = system.scales();
        each_state<n>([&](auto i) {
            size += abs(s.y[i]) + abs(s.f[i]);
            valid = valid & (scales[i] == scales[i]);
        });
        s.ended =
            select(s.ended == going, select(valid & (size < largest), going, undefined), s.ended);
        check_holds(s, system, true);
        s.h = first_step(s, system, p, window);
        return s;
    }

    // The system in the mode and with the sides of a state.
    HD static System system_of(State const& s, Parameters const& p) {
        System system(p);
        system.mode = s.mode;
        system.side = s.side;
        system.hold_signals(s.t);
        return system;
    }

    // The length of the first step after Hairer, Norsett and Wanner, Solving Ordinary Differential
    // Equations I, II.4.
    SELDOM static real first_step(State const& s, System const& system, Parameters const& p,
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
            each_state<n>([&](auto i) { y[i] = fma(h, s.f[i], s.y[i]); });
            Vector<n> f = system.rates(s.t + h, y);
            each_state<n>([&](auto i) { change[i] = f[i] - s.f[i]; });
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
        System system = system_of(s, p);
        Window window = system.window();
        Vector<n> scales = system.scales();
        Waves half = half_turn(system, p);
        int64 used = 0;
        while (used < budget && any(s.going())) {
            if constexpr (strides) {
                int64 steps = stride(s, system, window, half, budget - used);
                used += steps;
                if (steps > 0) continue;
            }
            attempt(s, system, p, window, scales, half);
            ++used;
        }
        return used;
    }

    // Whether anything is looked for inside steps.
    static constexpr bool sums_up = equations::integrals + equations::extremes +
                                            equations::observed + equations::starts +
                                            equations::sampled >
                                        0 ||
                                    equations::periodic;

    // Where nothing is, and steps are of constant length, many are taken at a stride.
    static constexpr bool strides =
        !Scheme::controlled && n_watched == 0 && !sums_up && !equations::holds;

    // Takes as many steps as no lane ends in, at most 1024; returns their number. If a state overflows
    // nothing is taken, so that single attempts find the step in which it does.
    template <class System>
    HD static int64 stride(State& s, System& system, Window const& window, Waves const& half,
                           int64 budget) {
        system.mode = s.mode;
        mask active = s.going();
        real end = window.end;
        system.hold_signals(s.t);
        if constexpr (equations::jumps) end = least(end, system.next_jump(s.t));
        real left = floor((end - s.t) / s.h) - 2.0;
        if constexpr (waves > 0) left = least(left, most_turns - s.turns);
        left = select(active, least(left, 1024.0), 1024.0);
        int64 steps = budget < 1024 ? budget : 1024;
        for (int k = 0; k < lanes; ++k)
            if (lane(left, k) < (double)steps) steps = (int64)lane(left, k);
        if (steps < 1) return 0;
        real h = s.h;
        Vector<n> y = s.y;
        Moment now = moment_of(s);
        for (int64 i = 0; i < steps; ++i) {
            Moment middle = {now.t + 0.5 * h, turned(now.waves, half)};
            Moment next = {now.t + h, turned(middle.waves, half)};
            if constexpr (equations::arithmetic)
                step_vectors(system, now, middle, next, y, h);
            else
                y = Scheme::end(system, middle, next, y, system.rates(now, y), h);
            now = next;
        }
        Vector<n> f = system.rates(now, y);
        real size = 0.0;
        each_state<n>([&](auto i) { size += abs(y[i]) + abs(f[i]); });
        if (any(active & ~(size < largest))) return 0;
        s.t = select(active, now.t, s.t);
        s.y = choose(active, y, s.y);
        s.f = choose(active, f, s.f);
        s.tries = select(active, s.tries + (double)steps, s.tries);
        if constexpr (waves > 0) {
            s.now = choose(active, now.waves, s.now);
            s.turns = s.turns + (double)steps;
            renew(s, system, active & (s.turns >= most_turns));
        }
        return steps;
    }

    // A step of one vector after another: of rates that are short sums and products, all numbers then
    // stay in registers. Functions take so long that vectors are better computed side by side.
    template <int k = 0, class System>
    HD static void step_vectors(System const& system, Moment const& start, Moment const& middle,
                                Moment const& end, Vector<n>& y, real h) {
        Vector<n> y0 = vector_of<k>(y);
        Vector<n> f0 = system.rates(start, y0);
        set_vector<k>(y, Scheme::end(system, middle, end, y0, f0, ::vector_of<k>(h)));
        if constexpr (k + 1 < vectors) step_vectors<k + 1>(system, start, middle, end, y, h);
    }

    // The time at which the next trial ends, and whether it is one at which steps have to end. Steps that
    // are chosen end at the samples of signals: a state at rest would let them pass over many.
    HD static real end_of_trial(State const& s, System const& system, Window const& window,
                                mask& shortened) {
        real end = s.t + s.h, last = window.end;
        if constexpr (Scheme::controlled && equations::signals > 0)
            last = least(last, system.next_sample(s.t));
        if constexpr (!Scheme::controlled && equations::jumps)
            last = least(last, system.next_jump(s.t));
        shortened = end * (1.0 + 1e-14) >= last;
        end = select(shortened, last, end);
        if constexpr (n_watched > 0) {
            mask aiming = s.aims > 0.0;
            shortened = shortened | aiming;
            end = select(aiming, select(s.target < 0.0, least(s.aim, last), s.aim), end);
        }
        return end;
    }

    // By how much waves turn in half a step.
    HD static Waves half_turn(System const& system, Parameters const& p) {
        if constexpr (waves > 0)
            return waves_of(system.turns_in(0.5 * p.step));
        else
            return {};
    }

    HD static Moment moment_of(State const& s) {
        if constexpr (waves > 0)
            return {s.t, s.now};
        else
            return {s.t, {}};
    }

    // Computes the waves anew at the time that is reached, and the rates, which must be those at the
    // same moment wherever a stride begins.
    template <class System>
    SELDOM static void renew(State& s, System const& system, mask here) {
        if (!any(here)) return;
        s.now = choose(here, waves_of(system.phases(s.t)), s.now);
        s.turns = select(here, 0.0, s.turns);
        s.f = choose(here, system.rates(moment_of(s), s.y), s.f);
    }

    // A step from the state to `end`, the end of which moves the waves on to `after`.
    HD static Trial step_to(State const& s, System const& system, real end, real h, mask shortened,
                            Waves const& half, Waves& after) {
        if constexpr (waves > 0) {
            Waves middle = turned(s.now, half);
            after = turned(middle, half);
            if (any(shortened)) {
                middle = choose(shortened, waves_of(system.phases(s.t + 0.5 * h)), middle);
                after = choose(shortened, waves_of(system.phases(end)), after);
            }
            return Scheme::step(system, Moment{s.t + 0.5 * h, middle}, Moment{end, after}, s.y, s.f,
                                h);
        } else {
            return Scheme::step(system, s.t, s.y, s.f, h);
        }
    }

    HD static void attempt(State& s, System& system, Parameters const& p, Window const& window,
                           Vector<n> const& scales, Waves const& half) {
        system.mode = s.mode;
        system.side = s.side;
        system.hold_signals(s.t);
        mask active = s.going();
        mask shortened;
        real end = end_of_trial(s, system, window, shortened);
        real h = select(shortened, end - s.t, s.h);
        Waves after;
        Trial trial = step_to(s, system, end, h, shortened, half, after);
        mask taken = active & judge(s, system, p, trial, scales, h, shortened, active);
        mask cut = false;            // taken up to where a side changes
        bool stirs = n_watched > 0;  // whether anything watched may happen
        s.tries = select(active, s.tries + 1.0, s.tries);

        if constexpr (n_watched > 0 || sums_up || equations::holds) {
            mask looked_at = taken;
            if constexpr (n_watched == 0 && !equations::holds)
                looked_at = taken & (end >= window.start);
            if (any(looked_at)) {
                auto dense = Scheme::dense(system, trial, s.t, s.y, h);
                Ends<System> ends{system, s.t,     end,     s.y,
                                  s.f,    trial.y, trial.f, is_precise<Scheme>(p)};
                if constexpr (tells_quickly()) stirs = may_happen(s, window, ends, dense, taken);
                if (n_watched > 0 && stirs) {
                    real taken_to = 2.0;
                    taken = taken & look_for_events<Scheme>(s, system, p, window, ends, dense,
                                                            taken, taken_to);
                    cut = mask(equations::sides > 0) & (taken_to <= 1.0);
                    if (equations::sides > 0 && any(cut)) {
                        trial.y = choose(cut, dense(taken_to), trial.y);
                        trial.f = choose(cut, dense.rates(taken_to), trial.f);
                        ends.t1 = end = select(cut, s.high, end);
                        if (equations::holds || (sums_up && any(cut & (end >= window.start))))
                            dense.end_at(taken_to, cut);
                    }
                }
                if constexpr (sums_up)
                    if (mask seen = taken & (end >= window.start); any(seen)) {
                        add_step<Scheme::order>(s.sums, system, ends, dense, window.start, seen);
                        observe(s.sums, ends, dense, window, seen);
                    }
                if (equations::holds && any(taken)) check_step(s, system, ends, dense, taken);
            }
        }
        pass(s, system, trial, end, taken, stirs);
        if constexpr (equations::jumps) {
            mask jumped = taken & system.has_jumped(s.t);
            if (any(jumped)) {
                jump(s, system, jumped);
                cut = cut | jumped;
                stirs = true;
            }
        }
        if constexpr (waves > 0) {
            s.now = choose(taken, after, s.now);
            s.turns = select(taken, select(shortened, 0.0, s.turns + 1.0), s.turns);
            renew(s, system, cut | (taken & (s.turns >= most_turns)));
        }
        if (n_watched > 0 && stirs) take_events(s, system, p, window, taken);
        if constexpr (waves > 0 && equations::rests > 0) renew(s, system, taken & (s.t > end));
        mask ends = active & (s.ended == going) & (s.t >= window.end);
        s.ended = select(ends, done, s.ended);
        if constexpr (Scheme::controlled)
            s.ended =
                select((s.ended == going) & (s.tries >= p.maximum_steps), too_many_steps, s.ended);
    }

    // Lets signals jump where the step has ended: sides and rates are those after it, and what the jump takes
    // over its zero happens there.
    SELDOM static void jump(State& s, System& system, mask here) {
        Vector<n_watched> before = s.sign, width = zero_widths(s, system);
        system.hold_signals(s.t);
        begin_anew(s, system, width, here, here);
        each_event([&](auto e) {
            mask over = system.active(e) & wants(e, before[e]) & (before[e] * s.sign[e] < 0.0);
            real sign = select(s.sign[e] == 0.0, before[e], s.sign[e]);
            s.sign[e] = select(here, select(over | (before[e] == 2.0), 2.0, sign), s.sign[e]);
        });
        end_where_missing(s, system, here);
    }

    // Whether a trial is accurate enough; sets the length of the next.
    HD static mask judge(State& s, System const& system, Parameters const& p, Trial const& trial,
                         Vector<n> const& scales, real h, mask shortened, mask active) {
        mask accepted, finite;
        if constexpr (!Scheme::controlled) {
            real size = 0.0;
            each_state<n>([&](auto i) { size += abs(trial.y[i]) + abs(trial.f[i]); });
            accepted = finite = size < largest;
        } else {
            // An end that is not finite has no finite error.
            real square = Scheme::error_square(trial, s.y, scales, 1.0 / p.relative_tolerance, h);
            accepted = square < 1.0;
            finite = square < largest;
            if constexpr (n_watched > 0) {
                accepted = accepted | (finite & aims_at_event(s));
                s.aims = select(active & ~accepted, 0.0, s.aims);
            }
            real next = least(h * step_factor<Scheme::error_order>(square), p.maximum_step);
            s.h = select(active & ~(accepted & shortened), next, s.h);
        }
        // A step that cannot be shortened any more: 0.9 of a few roundings of time may round up again.
        real least_step = 1.2e-15 * s.t;
        mask stuck = active & ~accepted;
        if constexpr (Scheme::controlled) {
            stuck = stuck & (s.h <= least_step);
            mask rests = active & (h == 0.0);  // accepted, yet time stands still
            if constexpr (n_watched > 0) rests = rests & ~(s.aims > 0.0);
            stuck = stuck | rests;
        }
        if (any(stuck)) s.ended = select(stuck, why(s, system, h), s.ended);
        return accepted;
    }

    // Why a motion cannot go on: an argument leaves the range of its function, or numbers overflow.
    SELDOM static real why(State const& s, System const& system, real h) {
        Vector<n> y;
        each_state<n>([&](auto i) { y[i] = fma(h, s.f[i], s.y[i]); });
        return select(system.outside(s.t + h, y), undefined, overflow);
    }

    // Ends motions of which cannot be said whether an event happens.
    HD static void end_where_missing(State& s, System const& system, mask here) {
        each_event([&](auto e) {
            if (rules[e].ranged && rules[e].acts) {
                mask undecided = here & system.active(e) & is_missing(e, system, s.t, s.y);
                s.ended = select(undecided & (s.ended == going), undefined, s.ended);
            }
        });
    }

    // Moves on to the end of the trial, in which signs may change if it `stirs`.
    HD static void pass(State& s, System const& system, Trial const& trial, real end, mask taken,
                        bool stirs) {
        if constexpr (n_watched > 0) {
            Ends<System> ends{system, s.t, end, s.y, s.f, trial.y, trial.f, false};
            auto value = system.all_when(end, trial.y);
            if (stirs) {
                Masks<n_seen> active = system.all_active();
                each_watched([&](auto e) { pass_watched(e, s, ends, value[e], active[e], taken); });
            } else {
                each_event([&](auto e) { widen(e, s, value[e], taken); });
            }
            s.turns_at_once = select(taken & (end > s.t), 0.0, s.turns_at_once);
            s.target = select(taken, -1.0, s.target);
        }
        s.t = select(taken, end, s.t);
        s.y = choose(taken, trial.y, s.y);
        s.f = choose(taken, trial.f, s.f);
        end_where_missing(s, system, taken);
        if constexpr (equations::hides_ranges)
            s.ended =
                select(taken & (s.ended == going) & system.outside(s.t, s.y), undefined, s.ended);
    }

    // Moves what is watched on to its value at the end of a step. Most of it stays on its side of zero.
    template <class E>
    HD static void pass_watched(E e, State& s, Ends<System> const& ends, real after, mask active,
                                mask taken) {
        mask landed = (s.target == (double)e) & (s.high == ends.t1);
        if (any(taken & (landed | ~keeps_side(e, s, after))))
            set_sign_at_end(e, s, ends, after, active, landed, taken);
        if (e < n_events) {
            widen(e, s, after, taken);
            if (!rules[e].acts) {
                mask asked = taken & active;
                forget_missing(e, s.sums, ends, asked & (ends.t1 >= ends.system.window().start));
            }
        }
    }

    // The sign of what is watched at the end of a step; 2 if it happens there, until it is taken.
    template <class E>
    SELDOM static void set_sign_at_end(E e, State& s, Ends<System> const& ends, real const& after,
                                       mask const& active, mask const& landed, mask const& taken) {
        System const& system = ends.system;
        real side = side_of(e, s, ends);
        side = select(landed, s.side_left, side);
        mask crossed = crossed_by_end(e, ends, after, side, s.sign[e]);
        if (rules[e].side >= 0) crossed = crossed | landed;
        mask happens = active & wants(e, side) & crossed;
        real sign = select(after == 0.0, select(crossed, -side, s.sign[e]), sign_of(after));
        mask was_zero = taken & (s.sign[e] == 0.0) & ~crossed;
        if (any(was_zero)) {
            // Still at zero, unless it has turned back by then.
            real rate = system.when_rate(e, ends.t1, ends.y1, ends.f1);
            real within = select(side * rate < 0.0, side, 0.0);
            mask stays = after == 0.0;
            if (any(was_zero & ~stays)) {
                real size = system.when_size(e, ends.t1, ends.y1);
                stays = stays | (abs(after) <= width_of(ends.t1, rate, size)) |
                        (after == system.when(e, ends.t0, ends.y0));
            }
            sign = select(was_zero & stays, within, sign);
        }
        s.sign[e] = select(taken, select(happens, 2.0, sign), s.sign[e]);
    }

    // Widens the excursion of an event to a value of its expression.
    template <class E> HD static void widen(E e, State& s, real value, mask taken) {
        s.excursion[e] = select(taken, greatest(s.excursion[e], abs(value)), s.excursion[e]);
    }

    HD static bool running(State const& s) { return any(s.going()); }

    SELDOM static Outputs finish(State const& s, Parameters const& p) {
        System system = system_of(s, p);
        Window window = system.window();
        window.end = select(s.ended == done, least(window.end, s.t), window.end);
        real length = window.end - window.start;
        Outputs out = system.outputs(s.sums, s.t, s.y, length);
        // A motion that stops at the start of the window may end after it by rounding.
        mask empty = (s.ended == done) & ~(length > 1e-12 * window.start);
        mask broken = (equations::holds > 0) & (s.ended >= violated);
        out.status = select((s.ended == undefined) | empty | broken, 3.0,
                            select(s.ended == done, 0.0, select(s.ended == overflow, 2.0, 1.0)));
        if constexpr (equations::names_hold) {
            out.status = select(broken, 0.0, out.status);
            system.name_hold(out, select(broken, s.ended - violated, -1.0));
        }
        return out;
    }

    HD static real time_of(State const& s, Parameters const&) { return s.t; }

    // The motion at `time`, in the step that the next unit of work takes.
    HD static Observables look(State const& s, Parameters const& p, real time) {
        System system = system_of(s, p);
        mask shortened;
        Window window = system.window();
        real end = end_of_trial(s, system, window, shortened);
        real h = select(shortened, end - s.t, s.h);
        mask moves = (s.ended == going) & (h > 0.0);
        Waves after;
        Trial trial = step_to(s, system, end, h, shortened, half_turn(system, p), after);
        auto dense = Scheme::dense(system, trial, s.t, s.y, h);
        Vector<n> y = choose(moves & (time > s.t), dense((time - s.t) / h), s.y);
        Observables seen = system.observables(time, y);
        seen.time = time;
        return seen;
    }
};

}  // namespace systems
