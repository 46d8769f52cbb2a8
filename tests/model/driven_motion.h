// y'' = -stiffness y - (inner + damping) y' + sin t, `inner` being part of the force: moved by any of
// the schemes, which are told the time of each node. For tests of orders and of step control.
#pragma once

#include "elementary.h"
#include "schemes/adapt_ordre2.h"
#include "schemes/devogelaere.h"
#include "schemes/euler.h"
#include "schemes/rk32.h"
#include "schemes/rk54.h"

namespace driven {

template <class Scheme, bool is_damped> struct Force {
    static constexpr bool damped = is_damped;
    real stiffness, inner, damping;
    real time, h;  // of the step under way

    template <int node> HD real force(real y, real v) const {
        real sine, cosine;
        if constexpr (node < 0)
            sincos(time, sine, cosine);
        else
            sincos(time + Scheme::fraction(node) * h, sine, cosine);
        return sine - stiffness * y - inner * v;
    }
};

template <class Scheme, bool damped> struct Motion {
    Force<Scheme, damped> rhs;
    typename Scheme::State state;

    HD Motion(real const* in, real h) {
        rhs = {in[0], in[1], in[2], 0.0, h};
        state = Scheme::start(rhs, in[3], in[4], typename Scheme::Constants(h, rhs.damping));
    }
    HD auto step(real h) {
        rhs.h = h;
        return Scheme::step(state, rhs, typename Scheme::Constants(h, rhs.damping));
    }
};

// in: stiffness, inner, damping, y, v, end, steps. out: y, v at the end.
template <class Scheme, bool damped> HD void constant(real const* in, real* out) {
    real h = in[5] / in[6];
    Motion<Scheme, damped> motion(in, h);
    for (int i = 0; i < (int)lane(in[6], 0); ++i) {
        motion.rhs.time = (double)i * h;
        motion.step(h);
    }
    out[0] = motion.state.y;
    out[1] = motion.state.v;
}

// in: stiffness, inner, damping, y, v, end, first step, tolerance, longest step; one point at a
// time. out: y, v at the end, steps tried, steps taken, the last length asked for, the longest taken.
template <class Scheme> HD void controlled(real const* in, real* out) {
    using Control = typename Scheme::Control;
    typename Control::Demand demand(in[7], in[8]);
    Control control(in[6]);
    Motion<Scheme, true> motion(in, in[6]);
    real end = in[5], tried = 0.0, taken = 0.0, longest = 0.0;
    while (any(motion.rhs.time < end) && !any(tried > 1e6)) {
        mask shortened = motion.rhs.time + control.h >= end;
        real h = select(shortened, end - motion.rhs.time, control.h);
        auto after = motion;
        auto change = after.step(h);
        mask fits = control.accepts(motion.state, after.state, change, h, shortened, demand);
        tried += 1.0;
        if (!any(fits)) continue;
        taken += 1.0;
        longest = greatest(longest, h);
        motion.state = after.state;
        motion.rhs.time = select(shortened, end, motion.rhs.time + h);
    }
    out[0] = motion.state.y;
    out[1] = motion.state.v;
    out[2] = tried;
    out[3] = taken;
    out[4] = control.h;
    out[5] = longest;
}

// in: stiffness, inner, damping, y, v, h. out: the difference of the pair's results over one step.
template <class Scheme> HD void difference(real const* in, real* out) {
    Motion<Scheme, true> motion(in, in[5]);
    schemes::Difference found = motion.step(in[5]);
    out[0] = found.y;
    out[1] = found.v;
}

// A step from y = v = 1 to the same, told to have been wrong by a share of it.
// in: share, tolerance, length, longest, 1 if shortened. out: 1 if it will do, the next length.
template <class Scheme> HD void verdict(real const* in, real* out) {
    using Control = typename Scheme::Control;
    typename Control::Demand demand(in[1], in[3]);
    Control control(in[2]);
    typename Scheme::State state{1.0, 1.0, 0.0};
    schemes::Difference wrong{in[0], in[0]};
    mask fits = control.accepts(state, state, wrong, in[2], in[4] > 0.0, demand);
    out[0] = select(fits, 1.0, 0.0);
    out[1] = control.h;
}

}  // namespace driven
