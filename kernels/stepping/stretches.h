// Time in steps of constant length: stretches that end where asked, and blocks of samples.
#pragma once

#include "portable.h"

namespace stepping {

constexpr double same_length = 1e-9;  // relative difference of steps that differ by rounding only

// A stretch of `steps` steps, the last one of length `last`.
struct Stretch {
    real begin, length;
    real steps, last;
};

HD Stretch stretch_of(real begin, real length, real h) {
    real steps = greatest(-floor(-(length / h - same_length)), 1.0);
    real last = length - (steps - 1.0) * h;
    last = select(abs(last - h) <= same_length * h, h, last);
    mask empty = length <= 0.0;
    return {begin, length, select(empty, 0.0, steps), last};
}

// The window's samples in `count` blocks of `samples` each, without the intervals between blocks.
struct Blocks {
    real count, samples;
};

HD Blocks blocks_of(real count, real samples) { return {count, floor(samples / count)}; }

// The length of an interval, in the unit of the sums: 1, or a number.
struct Whole {
    HD real of(real x) const { return x; }
};
struct Part {
    real length;
    HD real of(real x) const { return length * x; }
};

// The lanes that take a step: all, or some.
struct Everywhere {
    HD friend mask operator&(mask m, Everywhere) { return m; }
    HD real choose(real a, real) const { return a; }
    HD mask choose(mask a, mask) const { return a; }
};
struct Here {
    mask on;
    HD friend mask operator&(mask m, Here here) { return m & here.on; }
    HD real choose(real a, real b) const { return select(on, a, b); }
    HD mask choose(mask a, mask b) const { return (a & on) | (b & ~on); }
};

}  // namespace stepping
