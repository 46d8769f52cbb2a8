// What happens at an event: its `set`, the next mode, an end of the motion, and what is counted of it.
#pragma once

#include "systems/events.h"

namespace systems {

// Lets an event happen where it is due, its mode holds and so does its condition.
template <int e, class State>
HD void fire(State& s, System& system, Parameters const& p, Window const& window, mask due) {
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
    if (!any(fires)) return;
    // Closer than the width to which events are located, two occurrences are at one time.
    mask again = fires & (s.last[e] >= 0.0) & (s.t - s.last[e] <= 8e-15 * s.t);
    if constexpr (Rule<e>::acts) {
        s.taken = select(fires, s.taken + 1.0, s.taken);
        again = again | (fires & (s.taken > p.maximum_events));
        s.ended = select(again, chattering, s.ended);
    } else {
        fires = fires & ~again;  // what changes nothing is counted once
    }
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

// Where an expression that is zero leaves it in its direction: by its rate or, where that is
// zero, too, by its rate a moment later.
template <int e, class State>
HD mask leaves_zero(State const& s, System const& system, Window const& window) {
    Vector<n> f = system.rates(s.t, s.y), y;
    real rate = system.template when_rate<e>(s.t, s.y, f);
    real moment = 1e-8 * window.end, t = s.t + moment;
    each<n>([&](auto i) { y[i] = fma(moment, f[i], s.y[i]); });
    real later = system.template when_rate<e>(t, y, system.rates(t, y));
    rate = select(rate == 0.0, later, rate);
    return wants<e>(-rate);
}

// Lets the events happen whose mode is entered with their expression already past zero, or leaving it.
template <class State>
HD void enter(State& s, System& system, Parameters const& p, Window const& window, mask here,
              mask entered) {
    for (int round = 0; round < n_events; ++round) {
        if (!any(entered)) return;
        real mode = s.mode;
        each<n_events>([&](auto e) {
            if constexpr (Rule<e>::at_entry) {
                real value = system.template when<e>(s.t, s.y);
                mask past = wants<e>(-value);
                mask asked = entered & (s.mode == mode), at_zero = asked & (value == 0.0);
                if (any(at_zero)) past = past | (at_zero & leaves_zero<e>(s, system, window));
                fire<e>(s, system, p, window, asked & past);
            }
        });
        each<n_events>([&](auto e) {
            real now = sign_of(system.template when<e>(s.t, s.y));
            s.sign[e] = select(here & (s.mode != mode), now, s.sign[e]);
        });
        entered = entered & (s.mode != mode);
    }
}

template <class State>
HD void take_events(State& s, System& system, Parameters const& p, Window const& window,
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

}  // namespace systems
