// The penalised friction law of Code_Aster as a right-hand side for the schemes.
//
// During stick, the contact is a spring and a damper anchored at the point of sticking,
//   F = F_stuck - K_T (y - y_stuck) - C_T v,
// until |F| exceeds the limit mu N; during slip, F = -mu N sgn v. The law has a memory, which every
// evaluation of the force updates. All forces are per unit of mass.
#pragma once

#include "models/friction_oscillator/samples.h"
#include "schemes/scheme.h"

namespace penalised {

using namespace friction_oscillator;

constexpr double least_speed = 1e-6;  // m/s; a slower slip does not continue by itself
constexpr double no_speed = 2.2e-16;  // m/s; a slip this slow has no direction

struct Memory {
    mask stuck;
    real force, position;  // since the last slip
    real velocity;         // at the last evaluation
};

HD Memory at_rest() { return {true, 0.0, 0.0, 0.0}; }

HD Memory choose(mask m, Memory const& a, Memory const& b) {
    return {(a.stuck & m) | (b.stuck & ~m), select(m, a.force, b.force),
            select(m, a.position, b.position), select(m, a.velocity, b.velocity)};
}

struct Law {
    Shaking shaking;
    real stiffness, damping;  // K_T / m, C_T / m
    real spring, damper;      // k / m, c / m
};

HD Law law_of(Parameters const& p) {
    Law law;
    law.shaking = shaking_of(p);
    real per_mass = 1.0 / p.mass;
    law.stiffness = p.tangential_stiffness * per_mass;
    law.spring = p.stiffness * per_mass;
    law.damper = p.damping * per_mass;
    // NaN is the default: critical damping.
    real stiffness = p.stiffness + p.tangential_stiffness;
    real product = p.mass * stiffness;
    mask lost = ~((product > 1e-290) & (product < 1e290));  // by underflow or overflow
    real critical = 2.0 * sqrt(product);
    if (any(lost)) critical = select(lost, 2.0 * sqrt(p.mass) * sqrt(stiffness), critical);
    mask given = p.tangential_damping == p.tangential_damping;
    law.damping = select(given, p.tangential_damping, critical) * per_mass;
    return law;
}

// The friction force at a moment with the friction limit `limit`. A slip that goes on needs no more than
// its direction, and most steps are such.
struct Friction {
    HD real force(Law const& law, Memory& memory, real limit, real y, real v) const {
        real speed = abs(v);
        mask goes_on = ~memory.stuck & (v * memory.velocity >= 0.0) & (speed > least_speed);
        memory.velocity = v;
        real opposing = times_sign(-limit, v), force = opposing;
        if (any(~goes_on)) {
            real holding =
                fma(-law.damping, v, fma(-law.stiffness, y - memory.position, memory.force));
            memory.stuck = ~(goes_on | (abs(holding) > limit));
            opposing = select(speed > no_speed, opposing, 0.0);
            force = select(memory.stuck, holding, opposing);
            memory.force = select(memory.stuck, memory.force, opposing);
            memory.position = select(memory.stuck, memory.position, y);
        } else {
            memory.force = opposing;
            memory.position = y;
        }
        return force;
    }
};

// The same bits for a slip that goes on, in the direction of an earlier velocity above `least_speed`: the
// product of two such velocities has their signs. Where it does not go on, `holds` becomes false, and all
// that was computed is wrong.
struct SlipOn {
    real direction;
    mask holds = true;

    HD real force(Law const&, Memory& memory, real limit, real y, real v) {
        holds = holds & (times_sign(v, direction) > least_speed);
        real opposing = times_sign(-limit, direction);
        memory = {false, opposing, y, v};
        return opposing;
    }
};

// f(t, y, v) of y'' = f - (c/m) v; `Wave` gives the sine and cosine of the phase at a node of the step.
template <class Wave, class AnyFriction> struct Force {
    static constexpr bool damped = !variant::no_damping;

    Law const& law;
    Memory& memory;
    Wave const& wave;
    AnyFriction& friction;
    real damping;

    template <int node> HD real force(real y, real v) {
        auto sine = wave.template sine<node>();
        real limit = law.shaking.limit;
        if constexpr (!variant::no_shaking)
            limit = limit_at(law.shaking, sine, wave.template cosine<node>());
        real f = friction.force(law, memory, limit, y, v);
        f = fma(-law.shaking.amplitude, real(sine), f);
        if constexpr (!variant::no_spring) f = fma(-law.spring, y, f);
        return f;
    }
};

template <class Wave, class AnyFriction>
HD Force<Wave, AnyFriction> force_of(Law const& law, Memory& memory, Wave const& wave,
                                     AnyFriction& friction) {
    return {law, memory, wave, friction, law.damper};
}

// The mass under this law, advanced by a scheme.
template <class AnyScheme> struct Motion : Shaken {
    using Scheme = AnyScheme;
    using Law = penalised::Law;
    using Constants = typename Scheme::Constants;
    static constexpr int nodes = Scheme::nodes;
    HD static constexpr double fraction(int node) { return Scheme::fraction(node); }
    HD static Law law(Parameters const& p) { return law_of(p); }
    HD static Constants constants(Parameters const& p, real h) {
        return Constants(h, p.damping / p.mass);
    }

    struct State {
        typename Scheme::State scheme;
        Memory memory;
        real rate;  // |v| N / (m g)
    };

    // The result of a step; `change` is for the step control of the scheme.
    template <class Change> struct Step {
        Interval interval;
        mask counts;
        Sample sample;
        Change change;
    };

    template <class Wave>
    HD static State start(Law const& law, Wave const& wave, Constants const& constants) {
        State s;
        s.memory = at_rest();
        Friction friction;
        auto rhs = force_of(law, s.memory, wave, friction);
        s.scheme = Scheme::start(rhs, 0.0, 0.0, constants);
        s.rate = 0.0;
        return s;
    }

    // An interval counts if the mass is not stuck at its beginning.
    template <class Wave, class AnyFriction>
    HD static auto step(State& s, Law const& law, Wave const& wave, Constants const& constants,
                        AnyFriction& friction) {
        mask slipped = ~s.memory.stuck;
        real speed_before = abs(s.scheme.v), rate_before = s.rate;
        // Fewer numbers to carry from step to step.
        if constexpr (Scheme::ends_with_evaluation) s.memory.velocity = s.scheme.v;
        if constexpr (variant::no_shaking) rate_before = speed_before;
        auto rhs = force_of(law, s.memory, wave, friction);
        auto change = Scheme::step(s.scheme, rhs, constants);
        real speed = abs(s.scheme.v);
        s.rate = speed;
        if constexpr (!variant::no_shaking)
            s.rate *= load_at(law.shaking, wave.template sine<nodes - 1>(),
                              wave.template cosine<nodes - 1>());
        Interval interval{rate_before + s.rate, speed_before + speed};
        Sample sample{s.scheme.v, s.memory.velocity, s.memory.stuck, rests(s, law, wave)};
        return Step<decltype(change)>{interval, slipped, sample, change};
    }

    template <class Wave>
    HD static auto step(State& s, Law const& law, Wave const& wave, Constants const& constants) {
        Friction friction;
        return step(s, law, wave, constants, friction);
    }

    // Masses under one clock turn round at about the same time. Others would hardly ever slip on together.
    static constexpr int plain_steps = variant::shared_clock ? 16 : 0;
    static constexpr double plain_angle = two_pi / (nodes > 1 ? 500 : 1000);
    HD static mask may_be_plain(State const& s) {
        return ~s.memory.stuck & (abs(heading(s)) > least_speed);
    }
    HD static SlipOn plain(State& s) {
        s.memory.stuck = false;
        return {heading(s)};
    }
    // The velocity at which friction was evaluated last.
    HD static real heading(State const& s) {
        if constexpr (Scheme::ends_with_evaluation) return s.scheme.v;
        return s.memory.velocity;
    }

    // Sets what a step ignores, so that it is not carried from step to step.
    HD static void settle(State& s) {
        if constexpr (Scheme::ends_with_evaluation) s.memory.velocity = s.scheme.v;
        if constexpr (variant::no_shaking) s.rate = abs(s.scheme.v);
    }

    // The penalty spring holds the mass for a while at each reversal. The mass is at rest only if the
    // friction limit could hold it as well.
    template <class Wave> HD static mask rests(State const& s, Law const& law, Wave const& wave) {
        if constexpr (nodes <= 3)  // where the branch is worth it: steps of few evaluations
            if (!any(s.memory.stuck)) return false;
        real limit = law.shaking.limit;
        if constexpr (!variant::no_shaking)
            limit = limit_at(law.shaking, wave.template sine<nodes - 1>(),
                             wave.template cosine<nodes - 1>());
        real asked = law.shaking.amplitude * real(wave.template sine<nodes - 1>());
        if constexpr (!variant::no_spring) asked = fma(law.spring, s.scheme.y, asked);
        return s.memory.stuck & (abs(asked) <= limit);
    }

    HD static State choose(mask m, State const& a, State const& b) {
        State s = b;
        for (int i = 0; i < Scheme::numbers; ++i)
            Scheme::number(s.scheme, i) =
                select(m, Scheme::number(const_cast<typename Scheme::State&>(a.scheme), i),
                       Scheme::number(s.scheme, i));
        s.memory = penalised::choose(m, a.memory, b.memory);
        s.rate = select(m, a.rate, b.rate);
        return s;
    }

    HD static real blocks(Parameters const& p) { return p.blocks; }
    HD static mask few_enough(Parameters const& p, real steps) { return steps <= p.maximum_steps; }

    // Whether steps of length h are stable, both for a stuck and for a slipping mass.
    HD static mask stable(Law const& law, real h) {
        real damper = law.damper * h;
        return schemes::stable<Scheme>((law.stiffness + law.spring) * h * h, law.damping * h,
                                       damper) &
               schemes::stable<Scheme>(law.spring * h * h, 0.0, damper);
    }

    HD static real position(State const& s) { return s.scheme.y; }
    HD static real velocity(State const& s) { return s.scheme.v; }
    HD static Sums at_window(Sums const& before, State const& s) {
        return friction_oscillator::at_window(before, velocity(s));
    }
    HD static Observables observables(State const& s, Parameters const& p, real time) {
        return observed<Motion>(s, p, time);
    }
    HD static mask stuck(State const& s) { return s.memory.stuck; }
    // The friction of the plane on the mass, per unit of mass: y'' less the other forces.
    HD static real friction(State const& s, Law const& law, real sine, real) {
        real others =
            law.shaking.amplitude * sine + law.spring * position(s) + law.damper * velocity(s);
        return Scheme::acceleration(s.scheme, law.damper) + others;
    }
};

}  // namespace penalised
