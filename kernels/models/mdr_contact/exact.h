// Method `exact`: quadrature over the moving edge of the stick area, accurate to rounding.
//
//   W = 2 G* a0 Delta_x^2 (integral of K dB backward + integral of K dA forward)
//
// over half a cycle; the other half is its mirror image. K is that of slip_work.h. All terms are positive.
// The formula holds for any exponent, phase, beta and delta, even if contact is lost in part of the cycle
// or there is no stick area. One unit of work is one piece of the cycle.
#pragma once

#include "models/mdr_contact/cycle.h"
#include "models/mdr_contact/rules.h"
#include "models/mdr_contact/slip_work.h"

namespace exact {

using namespace mdr_contact;

// Part of the contact sticks in the first `edges` pieces.
constexpr int edges = entering_levels + 3, pieces = edges + 3;

struct State {
    real work;  // integral of load K
    int64 piece;
};

HD State start(Parameters const&) { return {0.0, 0}; }

HD bool running(State const& s) { return s.piece < pieces; }

// The integral over a piece during which part of the contact sticks.
template <bool general> HD real edge_integral(Scaled const& o, Piece const& q, real inverse_load) {
    real sum = 0.0;
    real half = 0.5 * q.length;
    for (int i = 0; i < rule_points; ++i) {
        RulePoint point = crowded_at_zero(i);
        Turn x = short_turn(half * point.place);
        real r = fma(q.rate * sine_of_sum(q.first, x), sine_of_sum(q.second, x), q.least);
        real advance = sine_of_sum(q.start, twice(x));
        real lag = sine_of_sum(q.lag, x);
        real m = fma(q.square * lag, lag, q.linear * advance);
        r = greatest(r, 0.0);
        m = greatest(m, 0.0);
        sum = fma(edge_work<general>(o.profile, r, m, inverse_load), point.weight * advance, sum);
    }
    return sum;
}

// The integral over a piece during which the whole contact slips.
template <bool general> HD real whole_integral(Scaled const& o, Piece const& q) {
    real sum = 0.0;
    real half = 0.5 * q.length;
    for (int i = 0; i < rule_points; ++i) {
        RulePoint point = crowded_at_ends(i);
        Turn x = short_turn(half * point.place);
        real depth = fma(q.rate * sine_of_sum(q.first, x), sine_of_sum(q.second, x), q.least);
        real advance = sine_of_sum(q.start, twice(x));
        depth = greatest(depth, 0.0);
        sum = fma(whole_work<general>(o.profile, depth), point.weight * advance, sum);
    }
    return sum * (o.load * o.load);
}

HD Piece piece_of(Scaled const& o, Cycle const& c, int64 number) {
    if (number < entering_levels) return entering(o, c, entering_levels - 1 - (int)number);
    switch (number - entering_levels) {
        case 0:
            return falling(o, c);
        case 1:
            return rising(o, c, true);
        case 2:
            return rising(o, c, false);
        case 3:
            return whole_falling(o, c);
        case 4:
            return whole_rising(o, c, true);
        default:
            return whole_rising(o, c, false);
    }
}

template <bool general> HD void add_piece(State& s, Scaled const& o, Cycle const& c) {
    Piece q = piece_of(o, c, s.piece);
    mask some = o.valid & (q.length > 0.0);
    if (!any(some)) return;
    real inverse_load = select(o.held, 0.0, o.inverse_load);
    real integral;
    if (s.piece < edges)
        integral = edge_integral<general>(o, q, inverse_load);
    else
        integral = whole_integral<general>(o, q);
    s.work = select(some, fma(q.swing * q.length, integral, s.work), s.work);
}

HD int64 advance(State& s, Parameters const& p, int64 budget) {
    Scaled o = scaled(p);
    Cycle c = cycle_of(o);
    bool general = any(o.profile.general);
    int64 used = 0;
    for (; used < budget && running(s); ++used, ++s.piece) {
        if (general)
            add_piece<true>(s, o, c);
        else
            add_piece<false>(s, o, c);
    }
    return used;
}

// The energy with infinite friction and loss of contact: 3/4 sin^2 phi times the integral of
// (1 - c^2) (1 + delta c)^(b - 1) over c from -1/delta to 1.
HD real energy_of_jumps(Scaled const& o) {
    real b = o.profile.inverse, delta = o.delta;
    real square = (delta - 1.0) * (delta + 1.0) / b;
    real reach = 1.0 + delta;
    real sum = square + reach * (2.0 / (b + 1.0) - reach / (b + 2.0));
    return 0.75 * (o.sine * o.sine) * (o.radius * sum) / (delta * delta * delta);
}

HD Outputs finish(State const& s, Parameters const& p) {
    Scaled o = scaled(p);
    real share = select(o.delta == 0.0, 1.0, o.delta);
    real energy = 0.375 * o.profile.exponent * (s.work * o.inverse_load / share);
    energy = select(o.held & (o.delta >= 1.0), energy_of_jumps(o), energy);
    return outputs_of(o, energy);
}

}  // namespace exact
