// Central differences with a step of variable length, of order 2 (Code_Aster's ADAPT_ORDRE2).
//
//   v(1/2) = v(-1/2) + a (h_before + h)/2,  y1 = y0 + h v(1/2),  v1 = v(1/2) + (h/2) a
//
// f at the end is evaluated with v1, which is also the result; a is the acceleration at the beginning.
// The step follows an apparent frequency, sqrt(|a1 - a0| / |y1 - y0|) / 2 pi, with at least 50 steps per
// period.
#pragma once

#include "schemes/scheme.h"

namespace schemes {

struct AdaptOrdre2 {
    static constexpr int order = 2;
    static constexpr int nodes = 1;
    static constexpr int numbers = 5;
    static constexpr int linear = 4;
    static constexpr bool ends_with_evaluation = true;
    HD static constexpr double fraction(int) { return 1.0; }

    struct State {
        real y, v, a;
        real v_half;    // half a step ago
        real h_before;  // that step's length
    };
    HD static real& number(State& s, int i) {
        return i == 0 ? s.y : i == 1 ? s.v : i == 2 ? s.a : i == 3 ? s.v_half : s.h_before;
    }
    HD static real acceleration(State const& s, real) { return s.a; }

    struct Constants {
        real h, half;
        HD Constants(real h, real) : h(h), half(0.5 * h) {}
    };

    template <class Rhs> HD static State start(Rhs& rhs, real y, real v, Constants const& k) {
        real a = schemes::acceleration<-1>(rhs, y, v);
        return {y, v, a, v - k.half * a, k.h};
    }

    // The input of the step control.
    struct Change {
        real acceleration, displacement, mean_velocity;
    };

    template <class Rhs> HD static Change step(State& s, Rhs& rhs, Constants const& k) {
        State before = s;
        s.v_half = fma(before.a, 0.5 * (before.h_before + k.h), before.v_half);
        s.y = fma(k.h, s.v_half, before.y);
        s.v = fma(k.half, before.a, s.v_half);
        s.a = schemes::acceleration<0>(rhs, s.y, s.v);
        s.h_before = k.h;
        return {s.a - before.a, s.y - before.y, s.v_half};
    }

    // Controls the length of the next steps.
    struct Control {
        real h;
        // Consecutive accepted steps that could have been longer or, negative, retries of a step.
        real quiet;

        // The required length of steps, as a fraction of 1/50 of the apparent period.
        struct Demand {
            real scale, longest;
            HD Demand(real tolerance, real longest)
                : scale(50.0 / two_pi / tolerance), longest(longest) {}
        };

        Control() = default;
        HD explicit Control(real h) : h(h), quiet(0.0) {}

        HD static Control choose(mask m, Control const& a, Control const& b) {
            Control c;
            c.h = select(m, a.h, b.h);
            c.quiet = select(m, a.quiet, b.quiet);
            return c;
        }

        // Whether a step of length `tried` is accepted. An accepted step that was shortened leaves h
        // unchanged. The error is 50 frequency h / tolerance; its square is compared with 1, as
        // |a1 - a0| (50 h / (2 pi tolerance))^2 < |y1 - y0|.
        HD mask accepts(State const&, State const&, Change const& change, real tried,
                        mask shortened, Demand const& demand) {
            real least_move = 0.01 * abs(change.mean_velocity) * tried;
            real move = greatest(abs(change.displacement), least_move);
            real length = demand.scale * tried;
            real bend = abs(change.acceleration) * (length * length);
            mask rests = move == 0.0;
            mask accepted = (bend < move) | rests | (quiet <= -16.0);
            mask smooth = (bend < 0.5625 * move) | rests;  // an error below 0.75
            mask still = accepted & smooth & ~shortened;
            real waited = greatest(quiet, 0.0);
            real after = select(still, waited + 1.0, select(shortened, waited, 0.0));
            mask longer = accepted & (after >= 5.0);
            real next = select(longer, least(h * 1.1, demand.longest), h);
            h = select(accepted, next, tried * (1.0 / 1.3333334));
            quiet = select(accepted, select(longer, 0.0, after), least(quiet, 0.0) - 1.0);
            return accepted;
        }
    };
};

}  // namespace schemes
