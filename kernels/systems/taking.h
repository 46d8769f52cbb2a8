// What happens at an event: its `set`, the next mode, an end of the motion, and what is counted of it.
#pragma once

#include "systems/events.h"

namespace systems {

// Whether an event that is due happens: its mode holds, and so does its condition.
template <int e, class State>
HD mask judge(State& s, System const& system, Window const& window, mask due) {
    mask fires = due & (s.ended == going) & system.template active<e>();
    if constexpr (Rule<e>::ranged_action) {
        mask outside = fires & system.template outside_action<e>(s.t, s.y);
        if constexpr (Rule<e>::acts)
            s.ended = select(outside, undefined, s.ended);
        else
            system.template forget<e>(s.sums, outside & (s.t >= window.start));
        fires = fires & ~outside;
    }
    if constexpr (Rule<e>::conditional) fires = fires & system.template condition<e>(s.t, s.y);
    return fires;
}

// Whether each event happens: 1, 0, or -1 while that has not been judged.
HD Vector<n_events> unjudged() {
    Vector<n_events> happens;
    each<n_events>([&](auto e) { happens[e] = -1.0; });
    return happens;
}

// Ends the motions in which a hold is violated at the present state.
template <class State> HD void check_holds(State& s, System const& system, mask here) {
    each<equations::holds>([&](auto index) {
        constexpr int k = decltype(index)::value;
        mask broken = here & (s.ended == going) & ~system.template keeps<k>(s.t, s.y, s.f);
        s.ended = select(broken, violated + k, s.ended);
    });
}

// Judges an event and those after it that are due and have the same expression, before any of their `set`s.
template <int e, class State, class Due>
HD void judge_same(State& s, System const& system, Window const& window, Vector<n_events>& happens,
                   Due const& due, mask here) {
    mask fires = judge<e>(s, system, window, here & due(Index<e>{}));
    happens[e] = select(here, flag(fires), happens[e]);
    if constexpr (Rule<e>::next_same >= 0)
        judge_same<Rule<e>::next_same>(s, system, window, happens, due, here);
}

// Judges an event, unless it has been judged together with one before it. Returns the lanes in which it happens.
template <int e, class State, class Due>
HD mask happening(State& s, System const& system, Window const& window, Vector<n_events>& happens,
                  Due const& due) {
    mask first = due(Index<e>{}) & (happens[e] < 0.0);
    if (any(first)) judge_same<e>(s, system, window, happens, due, first);
    return happens[e] > 0.0;
}

// Whether occurrences accumulate: 20 intervals in a row shrink by one ratio to a rest that is nothing beside
// the time, or the expression has not left zero by more than roundings of its terms since the last.
template <int e, class State> HD mask accumulates(State& s, System const& system, mask fires) {
    real interval = s.t - s.last[e], ratio = interval / s.interval[e];
    mask before = fires & (s.last[e] >= 0.0);
    mask steady = before & (ratio < 1.0) & (abs(ratio - s.ratio[e]) < 0.01 * ratio);
    s.steady[e] = select(fires, select(steady, s.steady[e] + 1.0, 0.0), s.steady[e]);
    s.ratio[e] = select(before, ratio, s.ratio[e]);
    s.interval[e] = select(before, interval, s.interval[e]);
    mask ends = steady & (s.steady[e] >= 20.0) & (interval * ratio < 1e-12 * s.t * (1.0 - ratio));
    real rate = system.template when_rate<e>(s.t, s.y, s.f);
    real excursion = greatest(s.excursion[e], 0.25 * interval * abs(rate));
    mask still = before & (excursion <= roundings * system.template when_size<e>(s.t, s.y));
    return ends | still;
}

// Takes the states to the limit of their values after the last occurrences, and time to that of the occurrences:
// their differences shrink by the ratio of the intervals. The expression of the event is then zero. Outputs have
// the limit from the last occurrence on.
template <int e, class State>
HD void come_to_rest(State& s, System& system, Window const& window, Vector<n> const& before,
                     mask rests) {
    if (!any(rests)) return;
    real ratio = select(s.ratio[e] < 1.0, s.ratio[e], 0.0);
    real more = ratio / (1.0 - ratio);
    real t = least(fma(more, s.interval[e], s.t), greatest(window.end, s.t));
    Vector<n> y;
    each<n>([&](auto i) { y[i] = fma(more, s.y[i] - before[i], s.y[i]); });
    for (int i = 0; i < 2; ++i) y = system.template at_zero<e>(t, y);  // Newton's method
    s.y = choose(rests, y, s.y);
    s.mode = choose(rests, system.template rested<e>(t, y), s.mode);
    system.mode = s.mode;
    real part = greatest(t - greatest(s.t, window.start), 0.0);
    each<equations::integrals>([&](auto index) {
        constexpr int k = decltype(index)::value;
        real more = fma(part, system.template integrand<k>(t, s.y), s.sums.integral[k]);
        s.sums.integral[k] = select(rests, more, s.sums.integral[k]);
    });
    s.t = select(rests, t, s.t);
    s.last[e] = select(rests, -1.0, s.last[e]);
    s.interval[e] = select(rests, -1.0, s.interval[e]);
    s.steady[e] = select(rests, 0.0, s.steady[e]);
}

// Lets an event happen. `changes` gains the lanes whose states it sets.
template <int e, class State>
HD void fire(State& s, System& system, Parameters const& p, Window const& window, mask fires,
             mask& changes) {
    fires = fires & (s.ended == going);
    if (!any(fires)) return;
    // Closer than the width to which events are located, two occurrences are at one time.
    mask again = fires & (s.last[e] >= 0.0) & (s.t - s.last[e] <= 8e-15 * s.t), rests = false;
    if constexpr (Rule<e>::rest >= 0) {
        rests = accumulates<e>(s, system, fires) | (again & (s.steady[e] >= 20.0));
        again = again & ~rests;
    } else if constexpr (Rule<e>::sets || Rule<e>::switches)
        again = again | accumulates<e>(s, system, fires);
    else
        fires = fires & ~again;  // what does not change the motion is counted once
    if constexpr (Rule<e>::acts) {
        s.taken[0] = select(fires, s.taken[0] + 1.0, s.taken[0]);
        again = (fires & again) | (fires & (s.taken[0] > p.maximum_events));
        s.ended = select(again, chattering, s.ended);
    }
    s.last[e] = select(fires, s.t, s.last[e]);
    s.excursion[e] = select(fires, 0.0, s.excursion[e]);
    s.occurred[e] = select(fires, s.occurred[e] + 1.0, s.occurred[e]);
    mask counts = fires & (fma(2e-15, s.t, s.t) >= window.start);
    system.template record<e>(s.sums, s.t, s.y, counts);
    if constexpr (Rule<e>::stop_after > 0)
        s.ended = select(fires & (s.occurred[e] >= Rule<e>::stop_after), done, s.ended);
    if constexpr (Rule<e>::switches)
        s.mode = choose(fires, system.template switched<e>(s.t, s.y), s.mode);
    if constexpr (Rule<e>::sets) {
        s.y = choose(fires, system.template after<e>(s.t, s.y), s.y);
        changes = changes | fires;
    }
    system.mode = s.mode;
    if constexpr (Rule<e>::rest >= 0) {
        constexpr int first = n * Rule<e>::rest;
        Vector<n> before;
        each<n>([&](auto i) {
            before[i] = s.after[first + i];
            s.after[first + i] = select(fires, s.y[i], before[i]);
        });
        come_to_rest<e>(s, system, window, before, rests & (s.ended == going));
        changes = changes | rests;
    }
}

// Signs of all that is watched, as the state is now.
template <class State>
HD void set_signs(State& s, System const& system, Vector<n_watched> const& width, mask here) {
    each<n_watched>([&](auto index) {
        constexpr int e = decltype(index)::value;
        real value = system.template when<e>(s.t, s.y);
        real sign = select(abs(value) <= width[e], 0.0, sign_of(value));
        s.sign[e] = select(here, sign, s.sign[e]);
    });
}

// Sets the sides anew where the mode has changed or states were set, then all rates and signs. Zero becomes as
// wide there as by the rates before and after, of which the location of the event has made an error.
template <class State>
HD void begin_anew(State& s, System& system, Vector<n_watched>& width, mask anew, mask here) {
    set_sides(s, system, width, anew);
    s.f = choose(here, system.rates(s.t, s.y), s.f);
    Vector<n_watched> now = zero_widths(s, system);
    each<n_watched>([&](auto e) { width[e] = select(here, greatest(width[e], now[e]), width[e]); });
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
    each<n_events>([&](auto index) {
        constexpr int e = decltype(index)::value;
        if constexpr (Rule<e>::at_entry) active[Rule<e>::entry] = flag(system.template active<e>());
    });
    return active;
}

// Marks the events at entry that are entered where switches have changed. Of the modes, each is entered for itself.
template <class State>
HD void mark_entries(State& s, System const& system, Vector<equations::entries> const& before,
                     Switches const& mode, mask switched) {
    each<n_events>([&](auto index) {
        constexpr int e = decltype(index)::value;
        if constexpr (Rule<e>::at_entry) {
            real& entering = s.entering[Rule<e>::entry];
            mask outside = ~is_set(before[Rule<e>::entry]);
            if constexpr (Rule<e>::by_mode) outside = s.mode[0] != mode[0];
            mask enters = system.template active<e>() & (outside | is_set(entering));
            entering = select(switched, flag(enters), entering);
        }
    });
}

// Where events that are zero at entry lead, by rates. Returns the lanes where that is clear of all of them; in the
// others the next step tells, and the events wait for it.
template <class State>
HD mask lead_at_entry(State& s, System const& system, Vector<n_events>& lead, mask entered) {
    entered = entered & enters(s);
    if (!any(entered)) return entered;
    mask unclear = false;
    each<n_events>([&](auto index) {
        constexpr int e = decltype(index)::value;
        if constexpr (Rule<e>::at_entry) {
            lead[e] = sign_of(clear_rate<e>(system, s.t, s.y, s.f));
            unclear = unclear |
                      (is_set(s.entering[Rule<e>::entry]) & (s.sign[e] == 0.0) & (lead[e] == 0.0));
        }
    });
    // Each side of a relation at its zero is still to be found, too.
    each<equations::sides>([&](auto index) {
        constexpr int e = n_events + decltype(index)::value;
        unclear = unclear | (system.template active<e>() & (held_sign<e>(s) == 0.0));
    });
    return entered & ~unclear;
}

// Lets the events happen that are entered with their expression past zero already, or zero and led there. Once one
// has changed a switch, the others wait until all has begun anew. Returns the lanes in which something has happened.
template <class State>
HD mask enter(State& s, System& system, Parameters const& p, Window const& window,
              Vector<n_watched>& width, mask entered, Vector<n_events>& lead) {
    mask changed = false;
    while (any(entered)) {
        Switches mode = s.mode;
        Vector<equations::entries> before = active_entries(system);
        mask sets = false;
        auto waits = [&] { return entered & ~differ(s.mode, mode); };
        auto due = [&](auto index) -> mask {
            constexpr int e = decltype(index)::value;
            if constexpr (!Rule<e>::at_entry) {
                return false;
            } else {
                real side = select(s.sign[e] == 0.0, lead[e], s.sign[e]);
                return waits() & is_set(s.entering[Rule<e>::entry]) & wants<e>(-side);
            }
        };
        Vector<n_events> happens = unjudged();
        each<n_events>([&](auto index) {
            constexpr int e = decltype(index)::value;
            if constexpr (Rule<e>::at_entry) {
                mask judged = waits();
                mask fires = happening<e>(s, system, window, happens, due);
                judged = judged | (entered & (happens[e] >= 0.0));
                real& entering = s.entering[Rule<e>::entry];
                entering = select(judged, 0.0, entering);
                fire<e>(s, system, p, window, fires, sets);
                if constexpr (Rule<e>::sets) set_signs(s, system, width, fires);
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
HD void take_events(State& s, System& system, Parameters const& p, Window const& window,
                    mask taken) {
    mask some = false;
    each<n_watched>([&](auto e) { some = some | (taken & (s.sign[e] == 2.0)); });
    some = some | (taken & (s.t >= window.end) & (n_events > 0));
    if (!any(some)) return;
    Vector<n_watched> before, width = zero_widths(s, system), was_due, at_zero;
    mask moved = false;  // lanes in which anything is due
    each<n_watched>([&](auto index) {
        constexpr int e = decltype(index)::value;
        before[e] = system.template when<e>(s.t, s.y);
        real rate = system.template when_rate<e>(s.t, s.y, s.f);
        mask passes = (abs(before[e]) <= width[e]) & (s.sign[e] * rate < 0.0);
        mask due = some & ((s.sign[e] == 2.0) |
                           (passes & system.template active<e>() & wants<e>(s.sign[e])));
        was_due[e] = flag(due);
        mask there = due & system.template active<e>();
        if constexpr (e < n_events)
            there = there & (abs(before[e]) <= width[e]);  // no jump over it
        at_zero[e] = flag(there | (s.sign[e] == 0.0));
        moved = moved | due;
    });
    some = some & moved;
    Switches mode = s.mode;
    Vector<equations::entries> active = active_entries(system);
    mask sets = false;
    Vector<n_events> happens = unjudged();
    auto due = [&](auto index) -> mask { return is_set(was_due[decltype(index)::value]); };
    each<n_events>([&](auto index) {
        constexpr int e = decltype(index)::value;
        fire<e>(s, system, p, window, happening<e>(s, system, window, happens, due), sets);
    });
    mask switched = some & differ(s.mode, mode), anew = sets | switched;
    each<equations::sides>([&](auto index) {
        constexpr int e = n_events + decltype(index)::value;
        turn_side<e>(s, system, is_set(was_due[e]) & ~anew);
    });
    follow_jumps(s, system, width, was_due, some & ~anew);
    begin_anew(s, system, width, anew, some);
    each<n_watched>([&](auto index) {
        constexpr int e = decltype(index)::value;
        real now = system.template when<e>(s.t, s.y);
        mask stays =
            is_set(at_zero[e]) & (now == before[e]);  // at zero, and not moved away from it
        s.sign[e] = select(some & stays, 0.0, s.sign[e]);
        if constexpr (e < n_events)
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
