// One half of a cycle, cut into pieces in which the work is smooth except at an end.
//
// At phase s of the half cycle, the foot B = rb cos s of a backward slip descends (s from 0 to pi), then
// the foot A = ra cos(s + Omega) of a forward slip rises (s from pi to 2 pi - Omega). The normal motion is
// p = beta cos(s - alpha). The springs that slip at s are in contact and lie below
//
//   H = -p(-s)                          0 < s < Omega:       in contact only since -s
//   H = (ra - rb cos s)/2               Omega < s < pi:      held since the end of the forward slip
//   H = (ra cos(s + Omega) + rb)/2      pi < s < 2 pi - Omega
//
// Pieces end where H reaches the load (beyond that the whole contact slips), where the normal motion is
// lowest, and where contact is lost. In each piece, with x from 0 to half its length,
//
//   r or P = least + rate sin(first + x) sin(second + x),   advance = swing sin(start +- 2x),
//   m = linear sin(start +- 2x) + square sin^2(lag +- x).
#pragma once

#include "models/mdr_contact/scaled.h"

namespace mdr_contact {

struct Turn {
    real sine, cosine;
};

HD Turn turn(real angle) {
    Turn result;
    sincos(angle, result.sine, result.cosine);
    return result;
}
// For angles up to pi/2.
HD Turn short_turn(real angle) {
    real s, c;
    sincos_core(0.5 * angle, s, c);
    return {2.0 * (s * c), fma(-2.0 * s, s, 1.0)};
}
HD Turn twice(Turn const& a) {
    return {2.0 * (a.sine * a.cosine), fma(-2.0 * a.sine, a.sine, 1.0)};
}
HD Turn backward(Turn const& a) { return {a.sine, -a.cosine}; }
HD real sine_of_sum(Turn const& a, Turn const& b) {
    return fma(a.sine, b.cosine, a.cosine * b.sine);
}

struct Cycle {
    real span;   // Omega
    real rest;   // pi - Omega
    real alpha;  // s at which the normal motion is highest
    real lag;    // rest - alpha: from the lowest point of the normal motion to the end
    real lost;   // half the phase without contact, 0 if there is none
    real fall;  // y = pi - s at which the whole contact begins to slip backward, 0 if it never does
    real rise;  // z = 2 pi - Omega - s, likewise forward
    mask early;  // the whole contact slips even before Omega
};

// 2 asin(sqrt(excess/range)), from 0 to pi.
HD real opening(real excess, real range) {
    return 2.0 * atan2(sqrt(greatest(excess, 0.0)), sqrt(greatest(range - excess, 0.0)));
}

HD Cycle cycle_of(Scaled const& o) {
    Cycle c;
    real up = 2.0 * o.beta * o.sine;
    real across = (o.beta - 1.0) * (o.beta + 1.0);
    c.span = atan2(up, -across);
    c.rest = atan2(up, across);
    c.alpha = atan2(o.sine, o.cosine + o.beta);
    c.lag = atan2(o.sine, o.beta - o.cosine);
    c.lost = atan2(sqrt(greatest((o.delta - 1.0) * (o.delta + 1.0), 0.0)), 1.0);
    c.early = c.lost > c.lag;
    real excess = select(o.core > 0.0, 0.0, 0.5 * (o.ra + o.rb) - o.load);
    c.fall = opening(excess, o.rb);
    c.rise = opening(excess, o.ra);
    return c;
}

struct Piece {
    real length;
    real least, rate;
    Turn first, second;
    real swing;
    Turn start;
    real linear, square;
    Turn lag;
};

// Springs that came into contact during the last half cycle; s from its end down to 0. If contact is
// lost in part of the cycle, the integrand grows as r^(b - 1), with r about delta x, down to r = m/load,
// so down to x = m/beta. The piece is therefore cut into levels: level k covers the part from
// entering_ratio^(k + 1) to entering_ratio^k, and the deepest level that beta/m requires extends to 0.
// This resolves beta/m up to 1e27.
constexpr int entering_levels = 9;
constexpr double entering_ratio = 1e-3;

HD Piece entering(Scaled const& o, Cycle const& c, int level) {
    mask jumps = o.delta > 1.0;
    real from = select(c.early, (pi - c.lost) - c.alpha, c.span);
    from = greatest(from, 0.0);
    real linear = 2.0 * o.beta * o.sine / select(o.rb == 0.0, 1.0, o.rb);
    real needs = select(linear > 0.0, o.beta / linear, 0.0);
    double share = 1.0, resolved = 1e3;  // largest beta/m for which this level can extend to 0
    for (int i = 0; i < level; ++i) {
        share *= entering_ratio;
        resolved *= 1.0 / entering_ratio;
    }
    mask needed = true, ends = ~jumps;
    if (level > 0) {
        needed = jumps & (mask(level == 1) | (needs > resolved * entering_ratio));
        ends = (needs <= resolved) | mask(level == entering_levels - 1);
    }
    real begin = select(ends, 0.0, share * entering_ratio * from);
    real stop = share * from;
    real bend = select(c.early, c.lost, c.lag);
    Piece q;
    q.length = select(needed, stop - begin, 0.0);
    q.least = greatest(1.0 - o.delta, 0.0) +
              2.0 * o.delta * turn(0.5 * (bend - c.lost)).sine * turn(0.5 * (bend + c.lost)).sine;
    q.rate = 2.0 * o.delta;
    q.first = turn(0.5 * begin);
    q.second = turn(0.5 * begin + bend);
    q.swing = o.rb;
    q.start = backward(turn(from - begin));
    q.linear = linear;
    q.square = 0.0;
    q.lag = {0.0, 1.0};
    return q;
}

// Springs held since their forward slip; y = pi - s.
HD Piece falling(Scaled const& o, Cycle const& c) {
    Piece q;
    q.length = select(c.early, 0.0, c.rest - c.fall);
    q.least = greatest(o.core, 0.0);
    q.rate = o.rb * o.inverse_load;
    q.first = {0.0, 1.0};
    q.second = turn(c.fall);
    q.swing = o.rb;
    q.start = q.second;
    q.linear = 0.0;
    q.square = o.ra;
    q.lag = turn(0.5 * (c.rest + c.fall));
    return q;
}

// Springs held since their backward slip; z = 2 pi - Omega - s, before and after the lowest point.
HD Piece rising(Scaled const& o, Cycle const& c, bool after) {
    real from = select(after, c.rise, greatest(c.rise, c.lag));
    real to = select(after, c.lag, c.rest);
    Piece q;
    q.length = to - from;
    q.least = greatest(o.core, 0.0);
    q.rate = o.ra * o.inverse_load;
    q.first = turn(0.5 * (from - c.rise));
    q.second = turn(0.5 * (from + c.rise));
    q.swing = o.ra;
    q.start = turn(from);
    q.linear = 0.0;
    q.square = o.rb;
    q.lag = backward(turn(0.5 * (c.rest - from)));
    return q;
}

// The whole contact slips, beginning at `from`. `since` is the phase from the loss of contact to `from`,
// given separately because the difference of two phases would cancel.
HD Piece whole(Scaled const& o, Cycle const& c, real from, real length, real since, real swing) {
    Piece q;
    q.length = length;
    q.least = greatest(1.0 - o.delta, 0.0);
    q.rate = 2.0 * o.delta;
    q.first = turn(0.5 * since);
    q.second = turn(0.5 * since + c.lost);
    q.swing = swing;
    q.start = turn(from);
    q.linear = q.square = 0.0;
    q.lag = {0.0, 1.0};
    return q;
}

// ... backward, in y. It may begin before Omega, and contact may be made only after s = 0. With strong
// friction it lasts for 2 alpha, which is far below the rounding error of lost + alpha.
HD Piece whole_falling(Scaled const& o, Cycle const& c) {
    mask at_loss = c.lost >= c.alpha;
    real from = greatest(c.lost - c.alpha, 0.0);
    real early = select(at_loss, c.alpha + c.alpha, c.lost + c.alpha);
    real length = select(c.early, least(early, pi - from), least(c.fall, c.rest) - from);
    real made = select(at_loss, 2.0 * (pi - c.lost), (two_pi - c.lost) - c.alpha);
    length = select(o.delta > 1.0, least(length, made), length);
    return whole(o, c, from, length, greatest(c.alpha - c.lost, 0.0), o.rb);
}

// ... forward, in z, after and before contact is lost.
HD Piece whole_rising(Scaled const& o, Cycle const& c, bool after) {
    real all = least(c.rise, c.rest);
    real from = select(after, 0.0, c.lag + c.lost);
    real to = select(after, least(all, c.lag - c.lost), all);
    real since = select(after, -(c.lag + c.lost), 0.0);
    return whole(o, c, from, to - from, since, o.ra);
}

}  // namespace mdr_contact
