// From the exact motion to the balance of its cosines, by Newton's method; a unit of work is an iteration.
//
// Where Newton's method does not converge, or far from the exact motion, the motion is continued from the
// linear mode: the gap in units of the amplitude is lowered from grazing to its value, that is, the
// energy is raised. Steps double where Newton's method converges and are halved where it does not.
#pragma once

#include "models/impact_oscillator/newton.h"

namespace harmonic_balance {

using namespace impact_oscillator;

constexpr int most_iterations = 20;  // of one attempt
constexpr double settled = 1e-11;    // last change of the unknowns; the error is its square
constexpr double wild = 1e3;         // a change from which no attempt recovers
constexpr double first_step = 1.0 / 256.0, least_step = 1.0 / 16384.0;  // of the whole way
constexpr double most_distance =
    0.1;  // from the guess; a solution farther away can lie on another branch

// What an attempt starts from: the exact motion, the linear mode, what earlier attempts have reached.
constexpr double from_exact = 0.0, from_linear = 1.0, from_reached = 2.0;

struct State {
    Unknowns now;      // of Newton's method
    Unknowns reached;  // by the last successful attempt; at first the exact motion
    Unknowns earlier;  // by the one before
    real origin;
    real place, goal;  // of `reached` and of this attempt: 0 at grazing, 1 at the point's own gap
    real step, taken;  // the next step and the last one; 0 without a last one
    real iterations;   // of this attempt
    mask active, found;

    // For refill_cpu.h: continued points take far more work than the others.
    static constexpr int64 refills_every = 4;
    static constexpr bool refills_always = false;
    HD mask going() const { return active; }
    HD bool alike() const { return true; }
    HD static State mix(mask here, State const& a, State const& b);
};

HD mask possible(Parameters const& p) {
    return valid(p) & resolved(p) & (p.harmonics >= 1.0) & (p.harmonics <= most_harmonics);
}

// The most harmonics that a lane has.
HD int most_of(State const& s, Parameters const& p) {
    real own = select(s.active | s.found, p.harmonics, 1.0);
    int most = 1;
    for (int i = 0; i < lanes; ++i)
        if (lane(own, i) > most) most = (int)lane(own, i);
    return most;
}

HD real amplitude_of(Parameters const& p) { return sqrt(2.0 * p.energy / p.stiffness); }

// The stop at the gap of this attempt.
HD Stop stop_of(State const& s, Parameters const& p) {
    real gap = p.gap / amplitude_of(p);
    return Stop(p, select(s.goal < 1.0, fma(s.goal, gap - 1.0, 1.0), gap));
}

// The displacement of the exact motion, over its amplitude, at a time after the greatest displacement.
HD real exact_place(Orbit const& o, real gap, real since) {
    mask pressed = o.contact & (since + since <= o.pressed_time);
    real angle = select(pressed, o.wall_rate * since, o.rate * (0.5 * o.period - since));
    real sine, cosine, versine, defect;
    circular(angle, sine, cosine, versine, defect);
    real place = gap + fma(-o.swing, versine, o.depth);
    return select(pressed, place, -(o.amplitude * cosine)) / o.amplitude;
}

// The cosines of the exact motion, and the square of its frequency.
HD Unknowns exact_unknowns(Parameters const& p, int most) {
    Unknowns x;
    Orbit o = orbit_of(p);
    for (real& cosine : x.cosines) cosine = 0.0;
    for (int first = 0; first <= quarter; first += together) {
        Pairs places;
        for (int t = 0; t < together; ++t) {
            real since = (double)(first + t) / samples * o.period;
            places.early[t] = exact_place(o, p.gap, since);
            places.late[t] = exact_place(o, p.gap, 0.5 * o.period - since);
        }
        add_means(x.cosines, most, places, first);
    }
    for (int order = 1; order <= most; ++order)
        x.cosines[order] = select(order <= p.harmonics, 2.0 * x.cosines[order], 0.0);
    real frequency = two_pi / (o.period * o.rate);
    x.square = frequency * frequency;
    return x;
}

HD State start(Parameters const& p) {
    State s;
    s.active = possible(p);
    s.found = false;
    s.now = s.reached = s.earlier = exact_unknowns(p, most_of(s, p));
    s.origin = from_exact;
    s.place = s.taken = s.iterations = 0.0;
    s.goal = 1.0;
    s.step = first_step;
    return s;
}

HD bool running(State const& s) { return any(s.active); }

HD void set_where(mask here, Unknowns& x, Unknowns const& to, int most) {
    for (int order = 0; order <= most; ++order)
        x.cosines[order] = select(here, to.cosines[order], x.cosines[order]);
    x.square = select(here, to.square, x.square);
}

HD State State::mix(mask here, State const& a, State const& b) {
    State s = b;
    set_where(here, s.now, a.now, most_harmonics);
    set_where(here, s.reached, a.reached, most_harmonics);
    set_where(here, s.earlier, a.earlier, most_harmonics);
    s.origin = select(here, a.origin, b.origin);
    s.place = select(here, a.place, b.place);
    s.goal = select(here, a.goal, b.goal);
    s.step = select(here, a.step, b.step);
    s.taken = select(here, a.taken, b.taken);
    s.iterations = select(here, a.iterations, b.iterations);
    s.active = (here & a.active) | (~here & b.active);
    s.found = (here & a.found) | (~here & b.found);
    return s;
}

// How far an attempt goes beyond what was reached, in units of the last step.
HD real steps_ahead(State const& s) {
    mask moved = s.taken > 0.0;
    return select(moved, (s.goal - s.place) / select(moved, s.taken, 1.0), 0.0);
}

HD real guess(real reached, real earlier, real ahead) {
    return fma(ahead, reached - earlier, reached);
}

// Goes back to the linear mode: at grazing, or at the point's own gap if the motion does not touch the stop.
HD void begin_linear(State& s, Parameters const& p, mask here, int most) {
    for (int order = 0; order <= most; ++order) {
        real linear = order == 1 ? 1.0 : 0.0;
        s.reached.cosines[order] = select(here, linear, s.reached.cosines[order]);
        s.earlier.cosines[order] = select(here, linear, s.earlier.cosines[order]);
    }
    s.reached.square = select(here, 1.0, s.reached.square);
    s.earlier.square = select(here, 1.0, s.earlier.square);
    mask touches = p.gap < amplitude_of(p);
    s.origin = select(here, from_linear, s.origin);
    s.place = select(here, select(touches, 0.0, 1.0), s.place);
    s.goal = select(here, s.place, s.goal);
}

// Keeps what a successful attempt has reached.
HD void accept(State& s, mask here, int most) {
    set_where(here, s.earlier, s.reached, most);
    set_where(here, s.reached, s.now, most);
    s.taken = select(here, s.goal - s.place, s.taken);
    s.place = select(here, s.goal, s.place);
    s.found = s.found | (here & (s.place >= 1.0));
    s.step = select(here & (s.origin == from_reached), s.step + s.step, s.step);
    s.origin = select(here, from_reached, s.origin);
}

// Prepares another attempt after one that has failed, or gives the point up.
HD void retreat(State& s, Parameters const& p, mask here, int most) {
    mask continued = here & (s.origin == from_reached);
    s.step = select(continued, 0.5 * s.step, s.step);
    mask lost = (here & (s.origin == from_linear)) | (continued & (s.step < least_step));
    s.active = s.active & ~lost;
    begin_linear(s, p, here & (s.origin == from_exact), most);
}

// Begins the next attempt: with a guess that is extrapolated from what was reached.
HD void try_next(State& s, mask here, int most) {
    real goal = select(s.origin == from_reached, least(s.place + s.step, 1.0), s.goal);
    s.goal = select(here, goal, s.goal);
    s.iterations = select(here, 0.0, s.iterations);
    real ahead = steps_ahead(s);
    for (int order = 0; order <= most; ++order) {
        real cosine = guess(s.reached.cosines[order], s.earlier.cosines[order], ahead);
        s.now.cosines[order] = select(here, cosine, s.now.cosines[order]);
    }
    real square = guess(s.reached.square, s.earlier.square, ahead);
    s.now.square = select(here, square, s.now.square);
}

// What the changes of an iteration mean for the attempt.
struct Judgement {
    mask small, bounded;  // the changes
    mask near;            // the unknowns after them, to the guess

    HD void judge(real change, real now, real guess) {
        small = small & (abs(change) <= settled);
        bounded = bounded & (abs(change) < wild);  // false for NaN
        near = near & (abs(now - guess) <= most_distance);
    }
};

// Changes the unknowns of lanes that are active.
HD Judgement apply(State& s, Unknowns const& change, int most) {
    Judgement judgement{true, true, true};
    real ahead = steps_ahead(s);
    for (int order = 0; order <= most; ++order) {
        real now = s.now.cosines[order] + change.cosines[order];
        s.now.cosines[order] = select(s.active, now, s.now.cosines[order]);
        judgement.judge(change.cosines[order], now,
                        guess(s.reached.cosines[order], s.earlier.cosines[order], ahead));
    }
    real square = s.now.square + change.square;
    s.now.square = select(s.active, square, s.now.square);
    judgement.judge(change.square, square, guess(s.reached.square, s.earlier.square, ahead));
    return judgement;
}

HD void iterate(State& s, Parameters const& p, int most) {
    Equations e;
    balance(e, s.now, stop_of(s, p), p, most);
    Unknowns change;
    solve(change, e, s.now.square, p.harmonics, most);
    Judgement judgement = apply(s, change, most);
    s.iterations += 1.0;
    mask ended = judgement.small | ~judgement.bounded | (s.iterations >= most_iterations);
    ended = ended & s.active;
    if (!any(ended)) return;
    // The branch of the linear mode has a positive first cosine and a positive squared frequency.
    mask good = judgement.small & (s.now.cosines[1] > 0.0) & (s.now.square > 0.0) &
                (judgement.near | (s.origin == from_linear));
    retreat(s, p, ended & ~good, most);
    accept(s, ended & good, most);
    s.active = s.active & ~s.found;
    try_next(s, ended & s.active, most);
}

HD int64 advance(State& s, Parameters const& p, int64 budget) {
    int most = most_of(s, p);
    int64 used = 0;
    for (; used < budget && running(s); ++used) iterate(s, p, most);
    return used;
}

}  // namespace harmonic_balance
