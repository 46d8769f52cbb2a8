// Sines and cosines of phases that grow evenly with time, at the nodes of steps of constant length: turned
// from one node to the next by the addition theorems, and computed anew after every 32 steps, so that they
// are wrong by less than 2e-14.
#pragma once

#include "systems/functions.h"

namespace systems {

using equations::Waves;
using equations::waves;

constexpr double most_turns = 32.0;

HD Waves waves_of(Vector<waves> const& phases) {
    Waves found;
    each<waves>([&](auto k) { functions::sincos(phases[k], found.sine[k], found.cosine[k]); });
    return found;
}

HD Waves turned(Waves const& from, Waves const& by) {
    Waves next;
    each<waves>([&](auto k) {
        next.sine[k] = fma(from.sine[k], by.cosine[k], from.cosine[k] * by.sine[k]);
        next.cosine[k] = fma(from.cosine[k], by.cosine[k], -(from.sine[k] * by.sine[k]));
    });
    return next;
}

HD Waves choose(mask m, Waves const& a, Waves const& b) {
    return {choose(m, a.sine, b.sine), choose(m, a.cosine, b.cosine)};
}

// What a motion keeps of them.
template <int n> struct Turning {
    Waves now;   // at the end of the last step
    real turns;  // steps since they were computed
};
template <> struct Turning<0> {};

}  // namespace systems
