// A whole slip of a mass without spring or damper, in closed form.
//
// u is the phase since the slip began, speed(u) the slip speed (in a0/w, positive until the end):
//
//   speed(u) = rate sin u - friction (u - sin u) + swing (1 - cos u),
//
// with rate = speed'(0) >= 0 (0 for a slip out of stick). Divided by 1 - cos u, the speed decreases
// monotonically on (0, 2 pi), so the slip has exactly one end there for all parameters.
#pragma once

#include "elementary.h"
#include "quadrature.h"

namespace friction_oscillator {

struct FreeSlip {
    real rate;   // speed'(0)
    real swing;  // speed''(0)
    real friction;
};

// sin u, cos u, 1 - cos u and u - sin u, each to full relative accuracy.
struct Circular {
    real sine, cosine, versine, defect;

    HD explicit Circular(real u) { circular(u, sine, cosine, versine, defect); }
};

// The same at u + step, for a step of at most about 1e-6 u.
HD Circular beside(Circular const& at, real step) {
    Circular next = at;
    real half = 0.5 * step;
    next.sine = fma(step, fma(-half, at.sine, at.cosine), at.sine);
    next.cosine = fma(-step, fma(half, at.cosine, at.sine), at.cosine);
    next.versine = fma(step, fma(half, at.cosine, at.sine), at.versine);
    next.defect = fma(step, fma(half, at.sine, at.versine), at.defect);
    return next;
}

HD Circular choose(mask m, Circular const& a, Circular const& b) {
    Circular c = b;
    c.sine = select(m, a.sine, b.sine);
    c.cosine = select(m, a.cosine, b.cosine);
    c.versine = select(m, a.versine, b.versine);
    c.defect = select(m, a.defect, b.defect);
    return c;
}

HD real speed(FreeSlip const& slip, Circular const& at) {
    return fma(slip.rate, at.sine, fma(-slip.friction, at.defect, slip.swing * at.versine));
}

// u^2/2 - (1 - cos u) for 0 <= u < 1, where the plain difference cancels.
HD real short_quartic(real u) {
    real x = u * u;
    real sum = 1.0 / 1307674368000.0 / 16.0;  // 1/16!
    sum = fma(-x, sum, 1.0 / 87178291200.0);
    sum = fma(-x, sum, 1.0 / 479001600.0);
    sum = fma(-x, sum, 1.0 / 3628800.0);
    sum = fma(-x, sum, 1.0 / 40320.0);
    sum = fma(-x, sum, 1.0 / 720.0);
    sum = fma(-x, sum, 1.0 / 24.0);
    return x * x * sum;
}

// The distance slipped up to u, in a0/w^2: the integral of the speed.
HD real distance(FreeSlip const& slip, real u, Circular const& at) {
    real quartic = fma(0.5 * u, u, -at.versine);
    mask brief = u < 1.0;
    if (any(brief)) quartic = select(brief, short_quartic(u), quartic);
    return fma(slip.rate, at.versine, fma(-slip.friction, quartic, slip.swing * at.defect));
}

// A first guess of the end: from the leading terms of a short slip, from those of a slip that ends just
// before u = 2 pi, or from a parabola about u = pi. Three iterations of end_of() then suffice everywhere.
HD real guess_end(FreeSlip const& slip) {
    // A short slip ends at a u^2 - swing u - 2 rate = 0. Is that before 1.7?
    real a = (2.0 * slip.friction + slip.rate) * (1.0 / 6.0);
    mask brief = (1.7 * a - slip.swing) * 1.7 > 2.0 * slip.rate;
    // A long slip ends at rest v^2 - 2 rate v - 4 pi friction = 0, v = 2 pi - u. Is v < 2.2?
    real rest = slip.swing - (pi / 3.0) * slip.friction;
    mask late = (2.2 * rest - 2.0 * slip.rate) * 2.2 > 4.0 * pi * slip.friction;
    real guess = 0.0;
    if (any(~(brief | late))) {
        real value = slip.swing - (0.5 * pi) * slip.friction;
        real first = -(0.5 * slip.rate + slip.friction);
        real second = -(0.25 * pi) * slip.friction;
        guess = pi - 2.0 * value * first / (2.0 * first * first - value * second);
        guess = least(greatest(guess, 1.0), 5.5);
    }
    if (any(late)) {
        real root = sqrt(fma(slip.rate, slip.rate, 4.0 * pi * slip.friction * rest));
        guess = select(late, two_pi - (slip.rate + root) / rest, guess);
    }
    if (any(brief)) {
        real root = sqrt(fma(slip.swing, slip.swing, 8.0 * slip.rate * a));
        mask rising = slip.swing > 0.0;
        real end = select(rising, slip.swing + root, 4.0 * slip.rate) /
                   select(rising, 2.0 * a, root - slip.swing);
        guess = select(brief, end, guess);
    }
    return guess;
}

// The end of a slip: the u in (0, 2 pi] at which its speed is 0 again.
struct End {
    real u;
    Circular at;
};

// A step of Halley's method towards the zero of speed / (1 - cos u), and the sign of the speed.
struct Halley {
    real step;
    mask before_end;  // the speed is positive
};

HD Halley halley(FreeSlip const& slip, Circular const& at) {
    real inverse = 1.0 / at.versine;
    real cotangent = at.sine * inverse;
    real ratio = at.defect * inverse;
    real slope = fma(-ratio, cotangent, 1.0);
    real bend = fma(ratio, inverse, -(slope * cotangent));
    // value, first and second derivative of speed / (1 - cos u)
    real value = fma(slip.rate, cotangent, fma(-slip.friction, ratio, slip.swing));
    real first = -fma(slip.rate, inverse, slip.friction * slope);
    real second = fma(slip.rate * cotangent, inverse, -(slip.friction * bend));
    real twice = first + first;
    return {value * twice / fma(twice, first, -(value * second)), value > 0.0};
}

// The last step is so short that the sine is updated by its Taylor series.
HD mask is_last(real step, real u) { return abs(step) <= 1e-6 * least(u, two_pi - u); }

// Halley's method in a bracket, for what the method alone does not find.
HD End end_in_bracket(FreeSlip const& slip, mask wanted) {
    real low = 0.0;
    real high = two_pi;
    real u = guess_end(slip);
    Circular at(u);
    real step = 0.0;
    mask open = wanted;
    for (int i = 0; i < 100; ++i) {
        Halley move = halley(slip, at);
        low = select(move.before_end, u, low);
        high = select(move.before_end, high, u);
        real next = u - move.step;
        mask near = is_last(move.step, u);
        mask inside = (next > low) & (next < high);
        next = select(near | inside, next, 0.5 * (low + high));
        step = select(open, next - u, step);
        u = select(open, next, u);
        open = open & ~(near | (high - low <= 2.3e-16 * high));
        if (!any(open)) break;
        at = choose(open, Circular(u), at);
    }
    return {u, beside(at, step)};
}

HD End end_of(FreeSlip const& slip, mask wanted) {
    real u = guess_end(slip);
    for (int i = 0; i < 4; ++i) {
        Circular at(u);
        real step = halley(slip, at).step;
        real next = u - step;
        mask near = is_last(step, u);
        if (!any(wanted & ~near)) return {next, beside(at, next - u)};
        u = select(near, u, next);
    }
    return end_in_bracket(slip, wanted);
}

// The u of the greatest speed: the only zero of its derivative before the end.
HD real fastest(FreeSlip const& slip) {
    real sine = slip.rate + slip.friction;  // of the force that drives the slip
    real square = fma(sine, sine, slip.swing * slip.swing);
    real excess = slip.rate * (slip.rate + 2.0 * slip.friction) + slip.swing * slip.swing;
    return atan2(slip.swing, sine) + select(square > 0.0, atan2(sqrt(excess), slip.friction), 0.0);
}

// An antiderivative of sin(u + angle) speed(u), from the sine and cosine of `angle`.
HD real shaken_closed(FreeSlip const& slip, real u, Circular const& at, real sine, real cosine) {
    real turned_sine = sine * at.cosine + cosine * at.sine;
    real turned_cosine = cosine * at.cosine - sine * at.sine;
    real double_sine = turned_sine * at.cosine + turned_cosine * at.sine;
    real double_cosine = turned_cosine * at.cosine - turned_sine * at.sine;
    real with_sine = 0.5 * u * cosine - 0.25 * (double_sine - sine);
    real with_one = cosine - turned_cosine;
    real with_cosine = 0.5 * u * sine - 0.25 * (double_cosine - cosine);
    real with_u = turned_sine - sine - u * turned_cosine;
    return (slip.rate + slip.friction) * with_sine + slip.swing * (with_one - with_cosine) -
           slip.friction * with_u;
}

// The distance slipped over [from, from + width]: in closed form, or by quadrature if the width is so
// small that the closed form would cancel.
HD real distance_over(FreeSlip const& slip, real from, real width, mask asked) {
    real to = from + width;
    real total = distance(slip, to, Circular(to)) - distance(slip, from, Circular(from));
    mask brief = asked & (width < 0.05 * to);
    if (any(brief)) {
        real sum = 0.0;
        for (int i = 0; i < gauss_points; ++i) {
            GaussPoint at = gauss_point(i);
            sum += at.weight * speed(slip, Circular(fma(width, at.place, from)));
        }
        total = select(brief, width * sum, total);
    }
    return total;
}

// The integral of sin(u + angle) speed(u) over [from, from + width]: in closed form, or by quadrature if
// the width is so small that the closed form would cancel.
HD real shaken_distance(FreeSlip const& slip, real from, real width, real sine, real cosine) {
    real to = from + width;
    real total = shaken_closed(slip, to, Circular(to), sine, cosine) -
                 shaken_closed(slip, from, Circular(from), sine, cosine);
    mask brief = width < 1.0;
    if (any(brief)) {
        real sum = 0.0;
        for (int i = 0; i < gauss_points; ++i) {
            GaussPoint point = gauss_point(i);
            Circular at(fma(width, point.place, from));
            sum += point.weight * (fma(sine, at.cosine, cosine * at.sine) * speed(slip, at));
        }
        total = select(brief, width * sum, total);
    }
    return total;
}

}  // namespace friction_oscillator
