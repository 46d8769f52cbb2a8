// Excitation by a table: a0 sin wt becomes table(t), for the methods that step through time.
//
// The generated struct `excitation` is the table. Parameters arrive with a0 = 1, w = 0 and without vertical
// shaking, so that a wave's sine is the value of the table and all else stays as it is.
#pragma once

#include "models/friction_oscillator/moreau.h"
#include "models/friction_oscillator/schemes.h"
#include "tables.h"

namespace friction_oscillator {

// A motion under the table; one that is too short makes a point invalid.
template <class Inner> struct Tabulated : Inner {
    HD static Outputs outputs(stepping::Results<Sums> const& results, Parameters const& p) {
        Outputs out = outputs_of(results, p);
        real last = excitation::time(excitation::samples - 1);
        out.status = select(p.window_end <= last, out.status, 3.0);
        return out;
    }
    HD static Observables observables(typename Inner::State const& s, Parameters const& p,
                                      real time) {
        Observables o = observed<Inner>(s, p, time, table_at<excitation>(time), 0.0);
        o.base_velocity = missing();
        return o;
    }
};

template <class Run> struct Driven;
template <template <class> class Steps, class Inner>
struct Driven<Steps<Inner>> : Steps<Tabulated<Inner>> {};

}  // namespace friction_oscillator

namespace stepping {

using friction_oscillator::Tabulated;

template <class Inner> struct DirectWave<Tabulated<Inner>> {
    real begin, values[Inner::nodes];

    HD DirectWave(real, real time, real h) : begin(table_at<excitation>(time)) { fill<0>(time, h); }
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
        s.motion = s.kept = Inner::start(o.law, Wave(0.0, 0.0, o.h), Inner::constants(p, o.h));
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
            Wave wave(0.0, stretch.begin + steps * o.h, h);
            auto done = Inner::step(s.motion, o.law, wave, Inner::constants(p, h));
            Inner::add(s.sums, done, Part{h / o.h}, Everywhere{});
            ++s.steps;
        }
        return used;
    }
};

}  // namespace stepping
