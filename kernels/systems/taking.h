// What happens at an event: its `set`, the next mode, an end of the motion, and what is counted of it.
#pragma once

#include "systems/events.h"

namespace systems {

// Whether an event that is due happens: its mode holds, and so does its condition.
template <class E, class State>
HD mask judge(E e, State& s, System const& system, Window const& window, mask due) {
    mask fires = due & (s.ended == going) & system.active(e);
    if (rules[e].ranged_action) {
        mask outside = fires & system.outside_action(e, s.t, s.y);
        if (rules[e].acts)
            s.ended = select(outside, undefined, s.ended);
        else
            system.forget(e, s.sums, outside & (s.t >= window.start));
        fires = fires & ~outside;
    }
    if (rules[e].conditional) fires = fires & system.condition(e, s.t, s.y);
    return fires;
}

// Whether each event happens: 1, 0, or -1 while that has not been judged.
HD Vector<n_events> unjudged() {
    Vector<n_events> happens;
    each_event([&](auto e) { happens[e] = -1.0; });
    return happens;
}

// Ends the motions in which a hold is violated, of several the first.
template <class State> HD void check_holds(State& s, System const& system, real t,
                                           Vector<n> const& y, Vector<n> const& f, mask here) {
    if (equations::holds == 0 || !any(here)) return;
    real broken = system.violated_hold(t, y, f);
    s.ended = select(here & (s.ended == going) & (broken >= 0.0), violated + broken, s.ended);
}
template <class State> HD void check_holds(State& s, System const& system, mask here) {
    check_holds(s, system, s.t, s.y, s.f, here);
}

// Judges an event and those after it that are due and have the same expression, before any of their `set`s.
template <class E, class State, class Due>
HD void judge_same(E e, State& s, System const& system, Window const& window,
                   Vector<n_events>& happens, Due const& due, mask here) {
    if constexpr (is_constant<E>) {
        mask fires = judge(e, s, system, window, here & due(e));
        happens[e] = select(here, flag(fires), happens[e]);
        if constexpr (rules[E::value].next_same >= 0)
            judge_same(Index<rules[E::value].next_same>{}, s, system, window, happens, due, here);
    } else {
        for (int k = e; k >= 0; k = rules[k].next_same) {
            mask fires = judge(k, s, system, window, here & due(k));
            happens[k] = select(here, flag(fires), happens[k]);
        }
    }
}

// Judges an event, unless it has been judged together with one before it. Returns the lanes in which it happens.
template <class E, class State, class Due>
HD mask happening(E e, State& s, System const& system, Window const& window,
                  Vector<n_events>& happens, Due const& due) {
    mask first = due(e) & (happens[e] < 0.0);
    if (any(first)) judge_same(e, s, system, window, happens, due, first);
    return happens[e] > 0.0;
}

// Whether occurrences accumulate: 20 intervals in a row shrink by one ratio to a rest that is nothing beside
// the time, or the expression has not left zero by more than roundings of its terms since the last.
template <class E, class State> HD mask accumulates(E e, State& s, System const& system,
                                                    mask fires) {
    real interval = s.t - s.last[e], ratio = interval / s.interval[e];
    mask before = fires & (s.last[e] >= 0.0);
    mask steady = before & (ratio < 1.0) & (abs(ratio - s.ratio[e]) < 0.01 * ratio);
    s.steady[e] = select(fires, select(steady, s.steady[e] + 1.0, 0.0), s.steady[e]);
    s.ratio[e] = select(before, ratio, s.ratio[e]);
    s.interval[e] = select(before, interval, s.interval[e]);
    mask ends = steady & (s.steady[e] >= 20.0) & (interval * ratio < 1e-12 * s.t * (1.0 - ratio));
    real rate = system.when_rate(e, s.t, s.y, s.f);
    real excursion = greatest(s.excursion[e], 0.25 * interval * abs(rate));
    mask still = before & (excursion <= roundings * system.when_size(e, s.t, s.y));
    return ends | still;
}

// Takes the states to the limit of their values after the last occurrences, and time to that of the occurrences:
// their differences shrink by the ratio of the intervals. The expression of the event is then zero. Outputs have
// the limit from the last occurrence on.
template <class E, class State>
SELDOM void come_to_rest(E e, State& s, System& system, Window const& window,
                         Vector<n> const& before, mask rests) {
    if (!any(rests)) return;
    real ratio = select(s.ratio[e] < 1.0, s.ratio[e], 0.0);
    real more = ratio / (1.0 - ratio);
    real t = least(fma(more, s.interval[e], s.t), greatest(window.end, s.t));
    Vector<n> y;
    each_state<n>([&](auto i) { y[i] = fma(more, s.y[i] - before[i], s.y[i]); });
    for (int i = 0; i < 2; ++i) y = system.at_zero(e, t, y);  // Newton's method
    s.y = choose(rests, y, s.y);
    s.mode = choose(rests, system.rested(e, t, y), s.mode);
    system.mode = s.mode;
    real part = greatest(t - greatest(s.t, window.start), 0.0);
    each<equations::integrals>([&](auto k) {
        real more = fma(part, system.integrand(k, t, s.y), s.sums.integral[k]);
        s.sums.integral[k] = select(rests, more, s.sums.integral[k]);
    });
    s.t = select(rests, t, s.t);
    s.last[e] = select(rests, -1.0, s.last[e]);
    s.interval[e] = select(rests, -1.0, s.interval[e]);
    s.steady[e] = select(rests, 0.0, s.steady[e]);
}

// Lets an event happen. `changes` gains the lanes whose states it sets.
template <class E, class State>
SELDOM void fire(E e, State& s, System& system, Parameters const& p, Window const& window,
                 mask const& due, mask& changes) {
    mask fires = due & (s.ended == going);
    if (!any(fires)) return;
    // Closer than the width to which events are located, two occurrences are at one time.
    mask again = fires & (s.last[e] >= 0.0) & (s.t - s.last[e] <= 8e-15 * s.t), rests = false;
    if (rules[e].rest >= 0) {
        rests = accumulates(e, s, system, fires) | (again & (s.steady[e] >= 20.0));
        again = again & ~rests;
    } else if (rules[e].sets || rules[e].switches)
        again = again | accumulates(e, s, system, fires);
    else
        fires = fires & ~again;  // what does not change the motion is counted once
    if (rules[e].acts) {
        s.taken[0] = select(fires, s.taken[0] + 1.0, s.taken[0]);
        again = (fires & again) | (fires & (s.taken[0] > p.maximum_events));
        s.ended = select(again, chattering, s.ended);
    }
    s.last[e] = select(fires, s.t, s.last[e]);
    s.excursion[e] = select(fires, 0.0, s.excursion[e]);
    s.occurred[e] = select(fires, s.occurred[e] + 1.0, s.occurred[e]);
    mask counts = fires & (fma(2e-15, s.t, s.t) >= window.start);
    system.record(e, s.sums, s.t, s.y, counts);
    if (rules[e].stop_after > 0)
        s.ended = select(fires & (s.occurred[e] >= rules[e].stop_after), done, s.ended);
    if (rules[e].switches) s.mode = choose(fires, system.switched(e, s.t, s.y), s.mode);
    if (rules[e].sets) {
        s.y = choose(fires, system.after(e, s.t, s.y), s.y);
        changes = changes | fires;
    }
    system.mode = s.mode;
    if (rules[e].rest >= 0) {
        int first = n * rules[e].rest;
        Vector<n> before;
        each_state<n>([&](auto i) {
            before[i] = s.after[first + i];
            s.after[first + i] = select(fires, s.y[i], before[i]);
        });
        come_to_rest(e, s, system, window, before, rests & (s.ended == going));
        changes = changes | rests;
    }
}

// Signs of all that is watched, as the state is now.
template <class State>
HD void set_signs(State& s, System const& system, Vector<n_watched> const& width, mask here) {
    auto value = system.all_when(s.t, s.y);
    each_watched([&](auto e) {
        real sign = select(abs(value[e]) <= width[e], 0.0, sign_of(value[e]));
        s.sign[e] = select(here, sign, s.sign[e]);
    });
}

// Sets the sides anew where the mode has changed or states were set, then all rates and signs. Zero becomes as
// wide there as by the rates before and after, of which the location of the event has made an error.
template <class State>
SELDOM void begin_anew(State& s, System& system, Vector<n_watched>& width, mask anew, mask here) {
    set_sides(s, system, width, anew);
    s.f = choose(here, system.rates(s.t, s.y), s.f);
    Vector<n_watched> now = zero_widths(s, system);
    each_watched([&](auto e) { width[e] = select(here, greatest(width[e], now[e]), width[e]); });
    if constexpr (equations::sides > 0)
        if (any(anew)) {
            set_sides(s, system, width, anew);
            s.f = choose(here, system.rates(s.t, s.y), s.f);
        }
    set_signs(s, system, width, here);
}

// Whether an event at entry is still to be judged.
template <class State> HD mask enters(State const& s) {
    mask enters = false;
    each<equations::entries>([&](auto k) { enters = enters | is_set(s.entering[k]); });
    return enters;
}

// Whether each event at entry is let happen by the switches.
HD Vector<equations::entries> active_entries(System const& system) {
    Vector<equations::entries> active;
    Masks<n_seen> now = system.all_active();
    each_event([&](auto e) {
        if (rules[e].at_entry) active[rules[e].entry] = flag(now[e]);
    });
    return active;
}

// Marks the events at entry that are entered where switches have changed. Of the modes, each is entered for itself.
template <class State>
HD void mark_entries(State& s, System const& system, Vector<equations::entries> const& before,
                     Switches const& mode, mask switched) {
    Masks<n_seen> active = system.all_active();
    each_event([&](auto e) {
        if (rules[e].at_entry) {
            real& entering = s.entering[rules[e].entry];
            mask outside = ~is_set(before[rules[e].entry]);
            if (rules[e].by_mode) outside = s.mode[0] != mode[0];
            mask enters = active[e] & (outside | is_set(entering));
            entering = select(switched, flag(enters), entering);
        }
    });
}

// Where events that are zero at entry lead, by rates. Returns the lanes where that is clear of all of them; in the
// others the next step tells, and the events wait for it.
template <class State>
SELDOM mask lead_at_entry(State& s, System const& system, Vector<n_events>& lead, mask entered) {
    entered = entered & enters(s);
    if (!any(entered)) return entered;
    mask unclear = false;
    each_event([&](auto e) {
        if (rules[e].at_entry) {
            mask entering = is_set(s.entering[rules[e].entry]);
            lead[e] = 0.0;
            if (!any(entering)) return;
            lead[e] = sign_of(clear_rate(e, system, s.t, s.y, s.f));
            unclear = unclear | (entering & (s.sign[e] == 0.0) & (lead[e] == 0.0));
        }
    });
    // Each side of a relation at its zero is still to be found, too.
    each_side([&](auto e) { unclear = unclear | (system.active(e) & (held_sign(e, s) == 0.0)); });
    return entered & ~unclear;
}

// Lets the events happen that are entered with their expression past zero already, or zero and led there. Once one
// has changed a switch, the others wait until all has begun anew. Returns the lanes in which something has happened.
template <class State>
SELDOM mask enter(State& s, System& system, Parameters const& p, Window const& window,
                  Vector<n_watched>& width, mask entered, Vector<n_events>& lead) {
    mask changed = false;
    while (any(entered)) {
        Switches mode = s.mode;
        Vector<equations::entries> before = active_entries(system);
        mask sets = false;
        auto waits = [&] { return entered & ~differ(s.mode, mode); };
        auto due = [&](auto e) -> mask {
            if (!rules[e].at_entry) return false;
            real side = select(s.sign[e] == 0.0, lead[e], s.sign[e]);
            return waits() & is_set(s.entering[rules[e].entry]) & wants(e, -side);
        };
        Vector<n_events> happens = unjudged();
        each_event([&](auto e) {
            if (rules[e].at_entry) {
                mask judged = waits();
                mask fires = happening(e, s, system, window, happens, due);
                judged = judged | (entered & (happens[e] >= 0.0));
                real& entering = s.entering[rules[e].entry];
                entering = select(judged, 0.0, entering);
                if (any(fires)) fire(e, s, system, p, window, fires, sets);
                if (rules[e].sets) set_signs(s, system, width, fires);
            }
        });
        entered = entered & differ(s.mode, mode);
        mask now = sets | entered;
        changed = changed | now;
        begin_anew(s, system, width, now, now);
        mark_entries(s, system, before, mode, entered);
        entered = lead_at_entry(s, system, lead, entered);
    }
    check_holds(s, system, changed);
    return changed;
}

// Lets the events happen, and the sides change, that are due where a step has ended: those marked by 2, and
// all that are zero there and go on to the other side.
template <class State>
SELDOM void take_events(State& s, System& system, Parameters const& p, Window const& window,
                        mask taken) {
    mask some = false;
    each_watched([&](auto e) { some = some | (taken & (s.sign[e] == 2.0)); });
    some = some | (taken & (s.t >= window.end) & (n_events > 0));
    if (!any(some)) return;
    Vector<n_watched> width = zero_widths(s, system), was_due, at_zero;
    auto before = system.all_when(s.t, s.y), rate = system.all_when_rate(s.t, s.y, s.f);
    Masks<n_seen> reached = system.all_active();
    mask moved = false;  // lanes in which anything is due
    each_watched([&](auto e) {
        mask zero = abs(before[e]) <= width[e];
        mask passes = zero & (s.sign[e] * rate[e] < 0.0) & wants(e, s.sign[e]);
        if (e < n_events) {
            // Where it has left its side in the step unasked, it comes back: not where it only touches zero.
            mask back = some & zero & (s.sign[e] * rate[e] > 0.0) & wants(e, -s.sign[e]);
            if (any(back)) {
                real ago = 1e3 * width[e] / abs(select(back, rate[e], 1.0));
                Vector<n> y;
                each_state<n>([&](auto i) { y[i] = fma(-ago, s.f[i], s.y[i]); });
                back = back & (ago < 1e-6 * s.t);
                passes = passes | (back & (s.sign[e] * system.when(e, s.t - ago, y) < 0.0));
            }
        }
        mask due = some & ((s.sign[e] == 2.0) | (passes & reached[e]));
        was_due[e] = flag(due);
        mask there = due & reached[e];
        if (e < n_events) there = there & (abs(before[e]) <= width[e]);  // no jump over it
        at_zero[e] = flag(there | (s.sign[e] == 0.0));
        moved = moved | due;
    });
    some = some & moved;
    Switches mode = s.mode;
    Vector<equations::entries> active = active_entries(system);
    mask sets = false;
    Vector<n_events> happens = unjudged();
    auto due = [&](auto e) -> mask { return is_set(was_due[e]); };
    each_event([&](auto e) {
        mask fires = happening(e, s, system, window, happens, due);
        if (any(fires)) fire(e, s, system, p, window, fires, sets);
    });
    mask switched = some & differ(s.mode, mode), anew = sets | switched;
    change_sides(s, system, width, was_due, some & ~anew,
                 [&](auto e) { return turned_side(e, s, system); });
    begin_anew(s, system, width, anew, some);
    auto after = system.all_when(s.t, s.y);
    each_watched([&](auto e) {
        real now = after[e];
        mask stays =
            is_set(at_zero[e]) & (now == before[e]);  // at zero, and not moved away from it
        s.sign[e] = select(some & stays, 0.0, s.sign[e]);
        if (e < n_events)
            s.excursion[e] = select(some, greatest(s.excursion[e], abs(now)), s.excursion[e]);
    });
    if constexpr (equations::entries) {
        mark_entries(s, system, active, mode, switched);
        Vector<n_events> lead;
        mask entered = lead_at_entry(s, system, lead, switched);
        enter(s, system, p, window, width, entered, lead);
    }
    check_holds(s, system, some);
}

}  // namespace systems
