// Makes a motion in steps a method of its model.
#pragma once

#include "method.h"
#include "stepping/constant_step.h"
#include "stepping/variable_step.h"

namespace stepping {

// Steps of constant length only.
template <class Motion> struct Constant {
    using Steps = ConstantStep<Motion>;
    using State = typename Steps::State;

    HD static State start(Parameters const& p) { return Steps::start(p, true); }
    HD static int64 advance(State& s, Parameters const& p, int64 budget) {
        return Steps::advance(s, p, budget);
    }
    HD static bool running(State const& s) { return Steps::running(s); }
    HD static Outputs finish(State const& s, Parameters const& p) {
        return Motion::outputs(Steps::results(s, p), p);
    }
    HD static real time_of(State const& s, Parameters const& p) { return Steps::time_of(s, p); }
    HD static Observables look(State const& s, Parameters const& p, real) {
        return Motion::observables(s.motion, p, time_of(s, p));
    }
};

// Steps of constant length if the tolerance is infinite, otherwise of variable length. Lanes with
// constant steps are computed first.
template <class Motion> struct Controlled {
    using Same = ConstantStep<Motion>;
    using Other = VariableStep<Motion>;
    struct State {
        static constexpr int64 refills_every = variant::constant_step ? 0 : 64;  // see refill_cpu.h
        static constexpr bool refills_always = true;

        typename Same::State same;
        typename Other::State other;
        mask constant;

        // With constant steps all lanes go through a stretch together.
        HD mask going() const { return other.going | (constant & mask(Same::running(same))); }
        HD bool alike() const { return !any(constant); }
        HD static State mix(mask m, State const& a, State const& b) {
            State s = b;
            s.other = Other::mix(m, a.other, b.other);
            s.constant = (a.constant & m) | (b.constant & ~m);
            return s;
        }
    };

    HD static State start(Parameters const& p) {
        State s;
        s.constant = p.tolerance >= 1e300;
        s.same = Same::start(p, s.constant);
        if constexpr (!variant::constant_step) s.other = Other::start(p, ~s.constant);
        return s;
    }
    HD static int64 advance(State& s, Parameters const& p, int64 budget) {
        int64 used = Same::advance(s.same, p, budget);
        if constexpr (!variant::constant_step)
            if (used < budget) used += Other::advance(s.other, p, budget - used);
        return used;
    }
    HD static bool running(State const& s) {
        if constexpr (variant::constant_step) return Same::running(s.same);
        return Same::running(s.same) || Other::running(s.other);
    }
    HD static Outputs finish(State const& s, Parameters const& p) {
        auto results = Same::results(s.same, p);
        if constexpr (!variant::constant_step)
            results = choose<Motion>(s.constant, results, Other::results(s.other, p));
        return Motion::outputs(results, p);
    }
    HD static real time_of(State const& s, Parameters const& p) {
        if constexpr (variant::constant_step) return Same::time_of(s.same, p);
        return select(s.constant, Same::time_of(s.same, p), Other::time_of(s.other, p));
    }
    HD static Observables look(State const& s, Parameters const& p, real) {
        bool constant = any(s.constant);  // a trace is of one point
        return Motion::observables(constant ? s.same.motion : s.other.motion, p, time_of(s, p));
    }
};

}  // namespace stepping
