// The state of method `exact`, how two states are mixed by lane, and its position in the window.
#pragma once

#include "models/friction_oscillator/scaled.h"

namespace exact {

using namespace friction_oscillator;

constexpr double rounding = 1e-15;  // in a phase, and in a force

// Without spring and damper a whole slip is one stretch, so the state of a piece is not needed.
constexpr bool only_free = variant::no_spring && variant::no_damping;

struct State {
    static constexpr int64 refills_every = only_free ? 0 : 8;  // see refill_cpu.h
    static constexpr bool refills_always = false;

    Moment now;
    real to_start, to_end;  // phase from now to the start and end of the window
    real position;          // Y
    real sign;              // of the side that pushes; the mass slides towards -sign
    real push, swing;       // sine and cosine parts of the driving sinusoid, relative to now
    real speed, rate;       // slip speed and its derivative, now
    real age;               // phase since the slip began
    mask slipping;
    mask first;         // the slip starts now, so its speed is 0
    mask out_of_stick;  // ... and so is the rate
    mask active;        // before the end of the window

    real wear;      // integral of (1 + shaking sin(tau + phi)) |Y'| over the window
    real distance;  // of |Y'|
    real stuck;     // phase spent stuck in the window
    real peak;
    real slips;
    real transitions;
    mask ever_stuck, ever_slipped;

    HD mask going() const { return active; }
    HD bool alike() const { return true; }
    HD static State mix(mask m, State const& a, State const& b) {
        auto either = [&](mask x, mask y) { return (x & m) | (y & ~m); };
        State s;
        s.now = {select(m, a.now.cycle, b.now.cycle), select(m, a.now.phase, b.now.phase)};
        s.to_start = select(m, a.to_start, b.to_start);
        s.to_end = select(m, a.to_end, b.to_end);
        s.position = select(m, a.position, b.position);
        s.sign = select(m, a.sign, b.sign);
        s.push = select(m, a.push, b.push);
        s.swing = select(m, a.swing, b.swing);
        s.speed = select(m, a.speed, b.speed);
        s.rate = select(m, a.rate, b.rate);
        s.age = select(m, a.age, b.age);
        s.slipping = either(a.slipping, b.slipping);
        s.first = either(a.first, b.first);
        s.out_of_stick = either(a.out_of_stick, b.out_of_stick);
        s.active = either(a.active, b.active);
        s.wear = select(m, a.wear, b.wear);
        s.distance = select(m, a.distance, b.distance);
        s.stuck = select(m, a.stuck, b.stuck);
        s.peak = select(m, a.peak, b.peak);
        s.slips = select(m, a.slips, b.slips);
        s.transitions = select(m, a.transitions, b.transitions);
        s.ever_stuck = either(a.ever_stuck, b.ever_stuck);
        s.ever_slipped = either(a.ever_slipped, b.ever_slipped);
        return s;
    }
};

HD void move_to(State& s, Scaled const& o, Moment const& moment) {
    s.now = moment;
    s.to_start = between(moment, o.window_start);
    s.to_end = between(moment, o.window_end);
}

// The part [from, to] of the next `length` of phase that lies in the window.
struct Overlap {
    real from, to;
};

HD Overlap overlap(State const& s, real length) {
    return {least(greatest(s.to_start, 0.0), length), least(greatest(s.to_end, 0.0), length)};
}

// The width of the overlap. If the whole window lies in it, this is the window's own width, because
// to - from loses digits if the window is narrow.
HD real width_of(Overlap const& inside, State const& s, Scaled const& o) {
    mask whole = (inside.from == s.to_start) & (inside.to == s.to_end);
    return select(whole, o.window, inside.to - inside.from);
}

}  // namespace exact
