// Moreau-Jean time stepping: friction as an impulse, implicit in the velocity at the end of the step.
//
//   M v_free = M v0 + h f - h c v0 - h k (y0 + h theta v0),   M = m + h theta c + h^2 theta^2 k
//   v1 = 0 if M |v_free| <= h mu N, otherwise v_free - sgn(v_free) h mu N / M
//   y1 = y0 + h (theta v1 + (1 - theta) v0)
//
// where f = -m a0 sin wt and N are means of both ends of the step with the weights theta and 1 - theta,
// so that a mass that never slips sticks exactly, for any step.
#pragma once

#include "models/friction_oscillator/samples.h"
#include "stepping/methods.h"

namespace moreau_jean {

using namespace friction_oscillator;

// Above 1/2, so that oscillations from the start of a slip die out and the error falls smoothly with the
// step; close to 1/2, so that the error is small: a tenth of that with theta = 1.
constexpr double theta = 0.55;

struct Law {
    Shaking shaking;
    real spring, damper;  // k / m, c / m
};

struct Motion : Shaken {
    using Law = moreau_jean::Law;
    static constexpr int nodes = 1;
    HD static constexpr double fraction(int) { return 1.0; }

    struct Constants {
        real h, h_theta;
    };
    HD static Constants constants(Parameters const&, real h) { return {h, h * theta}; }

    struct State {
        real y, v;
        real sine, load;  // of the phase, N / (m g)
    };

    struct Step {
        Interval interval;
        mask counts;
        Sample sample;
    };

    HD static Law law(Parameters const& p) {
        real per_mass = 1.0 / p.mass;
        return {shaking_of(p), p.stiffness * per_mass, p.damping * per_mass};
    }

    template <class Wave> HD static State start(Law const& law, Wave const& wave,
                                                Constants const&) {
        real sine = wave.template sine<-1>();
        return {0.0, 0.0, sine, load_at(law.shaking, sine, wave.template cosine<-1>())};
    }

    template <class Wave>
    HD static Step step(State& s, Law const& law, Wave const& wave, Constants const& k) {
        real sine = wave.template sine<0>();
        real load = 1.0;
        if constexpr (!variant::no_shaking)
            load = load_at(law.shaking, sine, wave.template cosine<0>());
        real mean_load = fma(theta, load, (1.0 - theta) * s.load);
        real push = -(law.shaking.amplitude * fma(theta, sine, (1.0 - theta) * s.sine));
        real inertia = 1.0;
        if constexpr (!variant::no_spring) {
            push -= law.spring * fma(k.h_theta, s.v, s.y);
            inertia = fma(k.h_theta * k.h_theta, law.spring, inertia);
        }
        if constexpr (!variant::no_damping) {
            push -= law.damper * s.v;
            inertia = fma(k.h_theta, law.damper, inertia);
        }
        real most = k.h * law.shaking.limit * mean_load;
        real momentum = fma(inertia, s.v, k.h * push);
        real left = abs(momentum) - most;
        mask sticks = left <= 0.0;
        if constexpr (!(variant::no_spring && variant::no_damping)) left = left / inertia;
        real v = select(sticks, 0.0, times_sign(left, momentum));
        real mean_velocity = fma(theta, v, (1.0 - theta) * s.v);
        s.y = fma(k.h, mean_velocity, s.y);
        s.v = v;
        s.sine = sine;
        s.load = load;
        real distance = 2.0 * abs(mean_velocity);
        return {{distance * mean_load, distance}, distance > 0.0, {v, v, sticks, sticks}};
    }

    HD static State choose(mask m, State const& a, State const& b) {
        return {select(m, a.y, b.y), select(m, a.v, b.v), select(m, a.sine, b.sine),
                select(m, a.load, b.load)};
    }

    HD static mask stable(Law const&, real) { return true; }
    HD static real blocks(Parameters const&) { return 1.0; }
    HD static mask few_enough(Parameters const&, real steps) { return steps <= 1e9; }

    HD static real position(State const& s) { return s.y; }
    HD static real velocity(State const& s) { return s.v; }
    HD static Sums at_window(Sums const& before, State const& s) {
        return friction_oscillator::at_window(before, velocity(s));
    }
    HD static Observables observables(State const& s, Parameters const& p, real time) {
        return observed<Motion>(s, p, time);
    }
    HD static mask stuck(State const& s) { return s.v == 0.0; }
    // The friction of the plane on the mass, per unit of mass.
    HD static real friction(State const& s, Law const& law, real sine, real cosine) {
        real limit = limit_at(law.shaking, sine, cosine);
        real holding = fma(law.shaking.amplitude, sine, law.spring * s.y);
        holding = greatest(least(holding, limit), -limit);
        return select(stuck(s), holding, times_sign(-limit, s.v));
    }
};

}  // namespace moreau_jean

namespace moreau {
METHOD(stepping::Constant<moreau_jean::Motion>)
}
