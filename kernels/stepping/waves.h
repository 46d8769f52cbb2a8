// Sine and cosine of a phase w t at the beginning of a step (node -1) and at the scheme's nodes.
#pragma once

#include "elementary.h"

namespace stepping {

// Sine and cosine of w t to full accuracy: the rounding error of w t is included.
HD void sincos_at(real w, real time, real& sine, real& cosine) {
    real angle = w * time;
    real rest = fma(w, time, -angle);
    real n = quarters(angle);
    real s, c;
    sincos_core(past_quarters(angle, n) + rest, s, c);
    Quadrant turn = quadrant(n);
    sine = fma(turn.even, s, turn.odd * c);
    cosine = fma(turn.even, c, -(turn.odd * s));
}

// The same, cheaper if the cosine is not used; the cosine has an absolute error.
HD void sincos_folded_at(real w, real time, real& sine, real& cosine) {
    real angle = w * time;
    sincos_folded(angle, fma(w, time, -angle), sine, cosine);
}

// A number that all lanes share is kept once, as a double.
HD void give(real& n, real x) { n = x; }
HD void give(double& n, real x) { n = lane(x, 0); }
template <class Number> HD Number number(real x) {
    Number n;
    give(n, x);
    return n;
}

// In steps of one length, by rotation.
template <class Motion, class Number> struct TurningWave {
    Number start_sine, start_cosine;
    Number turn_sine[Motion::nodes], turn_cosine[Motion::nodes];

    // `angle` is that of a whole step.
    HD TurningWave(real sine, real cosine, real angle) {
        start_sine = number<Number>(sine);
        start_cosine = number<Number>(cosine);
        turn_by<0>(angle);
    }
    template <int node> HD void turn_by(real angle) {
        if constexpr (node < Motion::nodes) {
            real sine, cosine;
            sincos(angle * Motion::fraction(node), sine, cosine);
            turn_sine[node] = number<Number>(sine);
            turn_cosine[node] = number<Number>(cosine);
            turn_by<node + 1>(angle);
        }
    }
    template <int node> HD Number sine() const {
        if constexpr (node < 0)
            return start_sine;
        else
            return fma(start_sine, turn_cosine[node], start_cosine * turn_sine[node]);
    }
    template <int node> HD Number cosine() const {
        if constexpr (node < 0)
            return start_cosine;
        else
            return fma(start_cosine, turn_cosine[node], -(start_sine * turn_sine[node]));
    }
    HD void step_on() {
        Number sine_then = sine<Motion::nodes - 1>();
        start_cosine = cosine<Motion::nodes - 1>();
        start_sine = sine_then;
    }
};

// In one step of length h that begins at `time`, computed at each node.
template <class Motion> struct DirectWave {
    real start_sine, start_cosine;
    real sines[Motion::nodes], cosines[Motion::nodes];

    HD DirectWave(real w, real time, real h) {
        sincos_folded_at(w, time, start_sine, start_cosine);
        fill<0>(w, time, h);
    }
    template <int node> HD void fill(real w, real time, real h) {
        if constexpr (node < Motion::nodes) {
            real then = time + Motion::fraction(node) * h;
            sincos_folded_at(w, then, sines[node], cosines[node]);
            fill<node + 1>(w, time, h);
        }
    }
    template <int node> HD real sine() const {
        if constexpr (node < 0)
            return start_sine;
        else
            return sines[node];
    }
    template <int node> HD real cosine() const {
        if constexpr (node < 0)
            return start_cosine;
        else
            return cosines[node];
    }
};

}  // namespace stepping
