// Excitation by a table: a0 sin wt becomes table(t), for the methods that step through time.
//
// The generated struct `excitation` is the table. Parameters arrive with a0 = 1, w = 0 and without vertical
// shaking, so that a wave's sine is the value of the table and all else stays as it is.
#pragma once

#include "models/friction_oscillator/moreau.h"
#include "models/friction_oscillator/schemes.h"
#include "tables.h"

namespace friction_oscillator {

// A motion under the table.
template <class Inner> struct Tabulated : Inner {};

template <class Inner> struct DirectWave<Tabulated<Inner>> {
    real begin, values[Inner::nodes];

    HD DirectWave(Parameters const&, real time, real h) : begin(table_at<excitation>(time)) {
        fill<0>(time, h);
    }
    template <int node> HD void fill(real time, real h) {
        if constexpr (node < Inner::nodes) {
            values[node] = table_at<excitation>(time + Inner::fraction(node) * h);
            fill<node + 1>(time, h);
        }
    }
    template <int node> HD real sine() const {
        if constexpr (node < 0)
            return begin;
        else
            return values[node];
    }
    template <int node> HD real cosine() const { return 0.0; }
};

// Step by step: there is no phase to turn.
template <class Inner> struct ConstantStep<Tabulated<Inner>> : ConstantStep<Inner> {
    using Base = ConstantStep<Inner>;
    using State = typename Base::State;
    using Wave = DirectWave<Tabulated<Inner>>;

    HD static State start(Parameters const& p, mask asked) {
        State s = Base::start(p, asked);
        auto o = Base::setup_of(p);
        typename Inner::Constants constants(o.h, p.damping / p.mass);
        s.motion = s.kept = Inner::start(o.law, Wave(p, 0.0, o.h), constants);
        return s;
    }
    HD static int64 advance(State& s, Parameters const& p, int64 budget) {
        auto o = Base::setup_of(p);
        int64 used = 0;
        for (; used < budget && Base::running(s); ++used) {
            Base::mind_blocks(s, o);
            Base::land(s, o);
            if (!Base::running(s)) break;
            Stretch const& stretch = o.stretches[s.window];
            real steps = (double)s.steps;
            real h = select(steps == stretch.steps - 1.0, stretch.last, o.h);
            Wave wave(p, stretch.begin + steps * o.h, h);
            typename Inner::Constants constants(h, p.damping / p.mass);
            auto done = Inner::step(s.motion, o.law, wave, constants);
            add(s.sums, done.interval, done.counts, done.sample, Part{h / o.h}, Everywhere{});
            ++s.steps;
        }
        return used;
    }
};

// A method under the table; a table that is too short makes a point invalid.
template <class Run> struct Driven;
template <template <class> class Steps, class Inner>
struct Driven<Steps<Inner>> : Steps<Tabulated<Inner>> {
    using Base = Steps<Tabulated<Inner>>;
    using State = typename Base::State;

    HD static Outputs finish(State const& s, Parameters const& p) {
        Outputs out = Base::finish(s, p);
        real last = excitation::time(excitation::samples - 1);
        out.status = select(p.window_end <= last, out.status, 3.0);
        return out;
    }
    HD static auto const& motion_of(typename ConstantStep<Inner>::State const& s) {
        return s.motion;
    }
    template <class Both> HD static auto const& motion_of(Both const& s) {
        return any(s.constant) ? s.same.motion : s.other.motion;
    }
    HD static Observables look(State const& s, Parameters const& p, real) {
        real time = Base::time_of(s, p);
        auto law = Inner::law(p);
        typename Inner::State const& now = motion_of(s);
        Observables o;
        o.time = time;
        o.displacement = Inner::position(now);
        o.velocity = Inner::velocity(now);
        o.normal_force = p.mass * p.gravity;
        o.friction_force = p.mass * Inner::friction(now, law, table_at<excitation>(time), 0.0);
        o.wear_rate = select(Inner::stuck(now), 0.0, o.normal_force * abs(o.velocity));
        o.stuck = select(Inner::stuck(now), 1.0, 0.0);
        return o;
    }
};

}  // namespace friction_oscillator
