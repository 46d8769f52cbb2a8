// The motion of the body in units of its amplitudes, step by step: cos t and U = cos(t + phi).
//
// All springs of a point share it, so it is computed on plain doubles. With h = 2 pi/steps and
// chord = 2 sin(h/2), the following holds exactly, for cos t and for U,
//
//     cos(t + h) = cos t - chord sin(t + h/2),   sin(t + 3h/2) = sin(t + h/2) + chord cos(t + h)
//
// so that a step of either takes two operations. The recurrence restarts after 64 steps from an anchor.
// Anchors are rotated by 64 steps at once, and after 64 rotations recomputed from a sine and a cosine.
// Error: at most 2e-14 in comparisons with mpmath.
#pragma once

#include "elementary.h"

namespace mdr_contact {

constexpr int64 segment_steps = 64;
constexpr int64 segments_of_an_anchor = 64;

struct Angle {
    double cosine, sine;
};

HD Angle angle_of(real radians) {
    real sine, cosine;
    sincos(radians, sine, cosine);
    return {lane(cosine, 0), lane(sine, 0)};
}

// The sum of two angles. The fma is explicit, because g++ 12 fuses such pairs of products in some places
// even with contraction switched off.
HD Angle operator+(Angle a, Angle b) {
    return {fma(a.cosine, b.cosine, -(a.sine * b.sine)), fma(a.sine, b.cosine, a.cosine * b.sine)};
}

// The steps of a cycle.
struct Steps {
    int64 count;
    Angle half, segment;  // half a step, 64 steps
    Angle lead;           // phi
    double chord;         // 2 sin(h/2)
    double square;        // of the chord
};

HD Steps steps_of(real count, Angle lead) {
    Steps steps;
    steps.count = (int64)lane(count, 0);
    steps.half = angle_of(pi / count);
    steps.segment = angle_of((double)segment_steps * two_pi / count);
    steps.lead = lead;
    steps.chord = 2.0 * steps.half.sine;
    steps.square = steps.chord * steps.chord;
    return steps;
}

// The end of one step and the beginning of the next.
struct Motion {
    double cosine;  // cos t
    double sine;    // sin(t + h/2)
    double place;   // U(t)
    double shift;   // U(t + h) - U(t)
};

HD Motion motion_at(Steps const& steps, Angle time) {
    Angle middle = time + steps.half;
    return {time.cosine, middle.sine, (time + steps.lead).cosine,
            -(steps.chord * (middle + steps.lead).sine)};
}

HD Motion after(Motion const& now, Steps const& steps) {
    Motion next;
    next.cosine = fma(-steps.chord, now.sine, now.cosine);
    next.sine = fma(steps.chord, next.cosine, now.sine);
    next.place = now.place + now.shift;
    next.shift = fma(-steps.square, next.place, now.shift);
    return next;
}

// The time at the beginning of a segment, from that of the previous one.
HD Angle next_anchor(Steps const& steps, int64 segment, Angle before) {
    if (segment % segments_of_an_anchor) return before + steps.segment;
    real part = (double)(segment * segment_steps) / real((double)steps.count);
    return angle_of(part * two_pi);
}

}  // namespace mdr_contact
