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

// A first guess of the end, from which two steps of end_of() suffice everywhere. With x = cot(u/2), a slip
// ends at
//
//   rate x + swing = friction ((1 + x^2) acot x - x).
//
// The right-hand side falls from infinity to 0 and is convex. About u = pi, it is used with its derivatives
// at x = 0; close to 2 pi, it is replaced by a parabola. For short slips, it is proportional to
// y = tan(u/4), and x = 1/(2 y) - y/2. The decimal numbers are fits that make the error after one step
// least: at most 5e-7 of min(u, 2 pi - u).
HD real guess_brief(FreeSlip const& slip) {
    real half = 0.5 * slip.rate;
    real a = fma(slip.friction, 1.3575, half);
    real root = sqrt(fma(slip.swing, slip.swing, 4.0 * (a * half)));
    mask rising = slip.swing > 0.0;
    // y = up / across
    real up = select(rising, slip.swing + root, slip.rate);
    real across = select(rising, a + a, root - slip.swing);
    real square = up * up, other = across * across;
    return up * fma(0.406, square, 4.0 * other) / (across * fma(0.4697, square, other));
}

HD real guess_middle(FreeSlip const& slip) {
    real ahead = fma(-0.5 * pi, slip.friction, slip.swing);
    real slope = fma(2.0, slip.friction, slip.rate);
    real bent = pi * slip.friction * ahead;
    real square = slope * slope;
    real above = ahead * fma(2.0, square, bent);
    real below = fma(2.0 * slope, square + bent, 1.4246 * slip.friction * (ahead * ahead));
    real z = above / below;  // -x
    return fma(z, fma(-0.54058, z * z, 2.0), pi);
}

HD real guess_late(FreeSlip const& slip) {
    real ahead = fma(-2.4293, slip.friction, slip.swing);
    real root = sqrt(greatest(fma(slip.rate, slip.rate, 12.709 * slip.friction * ahead), 0.0));
    // -1/x = up / across
    real up = slip.rate + root;
    real across = ahead + ahead;
    real square = up * up, other = across * across;
    return two_pi -
           up * fma(0.22984, square, other + other) / (across * fma(0.4131, square, other));
}

HD real guess_end(FreeSlip const& slip) {
    mask brief =
        fma(slip.rate, 0.71511, slip.swing) < 0.7207 * slip.friction;  // the end is before 1.9
    mask late = fma(slip.rate, -0.65403, slip.swing) > 3.7237 * slip.friction;  // ... after 4.3
    real guess = 0.0;
    if (any(~(brief | late))) guess = guess_middle(slip);
    if (any(late)) guess = select(late, guess_late(slip), guess);
    if (any(brief)) guess = select(brief, guess_brief(slip), guess);
    return guess;
}

// The end of a slip: the u in (0, 2 pi] at which its speed is 0 again.
struct End {
    real u;
    Circular at;
};

// The step of Halley's method from u to the zero of speed / (1 - cos u).
HD real halley_step(FreeSlip const& slip, Circular const& at) {
    real square = at.versine * at.versine;
    real less = fma(-at.defect, at.sine, square);
    real bend = fma(at.defect, at.versine, -(less * at.sine));
    real value = speed(slip, at);
    // With d = 1 - cos u: minus the first derivative times d^2, and the second one times d^3.
    real first = fma(slip.rate, at.versine, slip.friction * less);
    real second = fma(slip.rate, at.sine * at.versine, -(slip.friction * bend));
    real twice = first + first;
    return (value * at.versine) * twice / fma(value, second, -(twice * first));
}

// By halving a bracket, for forces of which powers underflow.
HD End end_in_bracket(FreeSlip const& slip, mask wanted) {
    real low = 0.0;
    real high = two_pi;
    for (int i = 0; i < 200 && any(wanted & (high - low > 2.3e-16 * high)); ++i) {
        real middle = 0.5 * (low + high);
        mask before = speed(slip, Circular(middle)) > 0.0;
        low = select(before, middle, low);
        high = select(before, high, middle);
    }
    return {high, Circular(high)};
}

// By Halley's method. Lanes that have arrived stay where they are; their last step is so short that the
// sine is updated by its Taylor series.
HD End end_of(FreeSlip const& slip, mask wanted) {
    real u = guess_end(slip);
    for (int i = 0;; ++i) {
        Circular at(u);
        real step = halley_step(slip, at);
        real end = u - step;
        mask near = abs(step) <= 1e-6 * least(u, two_pi - u);
        mask far = wanted & ~near;
        bool found = !any(far);
        if (found || i == 3) {
            End stop{end, beside(at, end - u)};
            if (found) return stop;
            End other = end_in_bracket(slip, far);
            return {select(far, other.u, end), choose(far, other.at, stop.at)};
        }
        u = select(near, u, end);
    }
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
