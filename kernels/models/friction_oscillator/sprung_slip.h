// A piece of a slip of a mass with spring and damper: the exact flow as a power series.
//
// Seen from the side that pushes, with u the phase since the piece began, the slip speed obeys
//
//   speed'' + damping speed' + spring speed = swing cos u - push sin u,
//
// where push and swing are the sine and cosine parts of the driving sinusoid. Over a length of
// 1/max(1, sqrt(spring), damping), the series of the solution converges to rounding within `terms` terms
// for any damping. So under-, over- and critically damped, resonant and free motion need only one
// formula, and even the shortest slip is a polynomial that keeps its relative accuracy.
//
// Heavy damping or a stiff spring makes that length short, but the free motions then decay quickly. Once
// the fast one has decayed, the flow obeys a first-order equation; once both have, it is the sinusoid of
// the steady response. Pieces are then as long as the remaining motion allows.
#pragma once

#include "elementary.h"
#include "quadrature.h"

namespace friction_oscillator {

constexpr int terms = 20;
constexpr double dead = 45.0;  // e-folds until a motion counts as decayed; exp(-45) is 3e-20

// The free motions exp(-slow u), exp(-fast u). If underdamped, both decay at the rate `slow`.
struct Modes {
    real spring, damping;
    real slow, fast;
    mask apart;  // the rates are real and differ, and damping is heavy
    mask stiff;  // pieces are short until the free motions have decayed
};

HD Modes modes_of(real spring, real damping) {
    Modes m;
    real half = 0.5 * damping;
    real split = half * half - spring;
    mask real_roots = split >= 0.0;
    m.spring = spring;
    m.damping = damping;
    m.fast = half + select(real_roots, sqrt(greatest(split, 0.0)), 0.0);
    m.slow = select(real_roots & (m.fast > 0.0), spring / m.fast, half);
    m.stiff = greatest(sqrt(spring), damping) > 8.0;
    m.apart = m.stiff & (split > 0.25 * half * half);
    return m;
}

// Which free motions have decayed at the phase `age` since the slip began.
struct Dead {
    mask fast, both;
};

HD Dead dead_after(Modes const& m, real age) {
    mask both = m.stiff & (age * m.slow > dead);
    return {m.apart & (age * m.fast > dead) & ~both, both};
}

// A piece in x = u/length on [0, 1]: speed = sum of coefficient[n] x^n.
struct Piece {
    real length;
    real coefficient[terms];
};

HD real shortest_piece(Modes const& m) {
    return 1.0 / greatest(greatest(sqrt(m.spring), m.damping), 1.0);
}

HD Piece piece_of_all(Modes const& m, real push, real swing, real speed, real rate) {
    Piece p;
    real length = shortest_piece(m);
    real square = length * length;
    real even = square * swing;  // terms of the driving force, with their powers of length
    real odd = -(square * length) * push;
    real drag = m.damping * length;
    real pull = m.spring * square;
    p.length = length;
    p.coefficient[0] = speed;
    p.coefficient[1] = rate * length;
    for (int n = 0; n + 2 < terms; ++n) {
        real drive = n % 2 ? odd : even;
        real sum = fma(-pull, p.coefficient[n], drive);
        sum = fma(-(drag * double(n + 1)), p.coefficient[n + 1], sum);
        p.coefficient[n + 2] = sum * (1.0 / ((n + 1) * (n + 2)));
        drive = -(drive * square) * (1.0 / ((n + 1) * (n + 2)));
        (n % 2 ? odd : even) = drive;
    }
    return p;
}

// The fast motion has decayed: speed' = -slow speed + g, where g is the response to the driving force of
// (d/du + fast) g.
HD Piece piece_of_slow(Modes const& m, real push, real swing, real speed) {
    Piece p;
    real length = 1.0 / greatest(m.slow, 1.0);
    real share = length / fma(m.fast, m.fast, 1.0);
    real even = share * fma(swing, m.fast, push);
    real odd = -(share * length) * fma(push, m.fast, -swing);
    real decay = m.slow * length;
    p.length = length;
    p.coefficient[0] = speed;
    for (int n = 0; n + 1 < terms; ++n) {
        real drive = n % 2 ? odd : even;
        p.coefficient[n + 1] = fma(-decay, p.coefficient[n], drive) * (1.0 / (n + 1));
        (n % 2 ? odd : even) = -(drive * (length * length)) * (1.0 / ((n + 1) * (n + 2)));
    }
    return p;
}

// Both motions have decayed: the steady response to the driving sinusoid.
HD Piece piece_of_none(Modes const& m, real push, real swing) {
    Piece p;
    real stiffness = m.spring - 1.0;
    real share = 1.0 / fma(stiffness, stiffness, m.damping * m.damping);
    real even = share * fma(swing, stiffness, push * m.damping);
    real odd = share * fma(swing, m.damping, -(push * stiffness));
    p.length = 1.0;
    for (int n = 0; n < terms; ++n) {
        p.coefficient[n] = n % 2 ? odd : even;
        (n % 2 ? odd : even) = -p.coefficient[n] * (1.0 / ((n + 1) * (n + 2)));
    }
    return p;
}

HD Piece choose(mask m, Piece const& a, Piece const& b) {
    Piece p;
    p.length = select(m, a.length, b.length);
    for (int n = 0; n < terms; ++n)
        p.coefficient[n] = select(m, a.coefficient[n], b.coefficient[n]);
    return p;
}

HD Piece piece(Modes const& m, real age, real push, real swing, real speed, real rate) {
    Piece p = piece_of_all(m, push, swing, speed, rate);
    Dead gone = dead_after(m, age);
    if (any(gone.fast)) p = choose(gone.fast, piece_of_slow(m, push, swing, speed), p);
    if (any(gone.both)) p = choose(gone.both, piece_of_none(m, push, swing), p);
    return p;
}

HD real speed(Piece const& p, real x) {
    real sum = p.coefficient[terms - 1];
    for (int n = terms - 2; n >= 0; --n) sum = fma(sum, x, p.coefficient[n]);
    return sum;
}

// d speed / dx.
HD real slope(Piece const& p, real x) {
    real sum = (terms - 1) * p.coefficient[terms - 1];
    for (int n = terms - 2; n >= 1; --n) sum = fma(sum, x, n * p.coefficient[n]);
    return sum;
}

// The same at x = 1, with the same bits: sums need less than fused products.
HD real speed_at_end(Piece const& p) {
    real sum = p.coefficient[terms - 1];
    for (int n = terms - 2; n >= 0; --n) sum = sum + p.coefficient[n];
    return sum;
}

HD real slope_at_end(Piece const& p) {
    real sum = (terms - 1) * p.coefficient[terms - 1];
    for (int n = terms - 2; n >= 1; --n) sum = sum + n * p.coefficient[n];
    return sum;
}

// The distance slipped from the piece's start to x.
HD real distance(Piece const& p, real x) {
    real sum = p.coefficient[terms - 1] * (1.0 / terms);
    for (int n = terms - 2; n >= 0; --n) sum = fma(sum, x, p.coefficient[n] * (1.0 / (n + 1)));
    return p.length * x * sum;
}

// The first zero of the speed in (0, 1], or 2 if there is none. `first` marks a slip that starts here:
// its speed is 0 at x = 0, and so is its rate if it comes `out_of_stick`; these zeros are divided out.
// Each step is that of a parabola below the polynomial (the second derivative is bounded on [0, 1] by the
// sum of the absolute values of its terms), so it never passes the zero, and the steps converge
// quadratically. No zero is missed, however close two of them lie.
HD real first_zero(Piece const& p, mask first, mask out_of_stick, mask wanted) {
    real c[terms];
    real bound = 1e-300;
    for (int n = 0; n < terms; ++n) {
        real one = n + 1 < terms ? p.coefficient[n + 1 < terms ? n + 1 : 0] : real(0.0);
        real two = n + 2 < terms ? p.coefficient[n + 2 < terms ? n + 2 : 0] : real(0.0);
        c[n] = select(first, select(out_of_stick, two, one), p.coefficient[n]);
        if (n > 1) bound = fma(double(n * (n - 1)), abs(c[n]), bound);
    }
    real x = 0.0;
    real value = c[0];
    real rise = c[1];
    real zero = select(value > 0.0, 2.0, 0.0);
    mask open = wanted & (value > 0.0);
    for (int i = 0; i < 200 && any(open); ++i) {
        real root = sqrt(fma(rise, rise, 2.0 * bound * value));
        mask rises = rise >= 0.0;
        real step = select(rises, rise + root, 2.0 * value) / select(rises, bound, root - rise);
        real next = x + step;
        mask beyond = next > 1.0;
        open = open & ~beyond;
        real new_value = 0.0, new_rise = 0.0;
        where_any(open, [&](auto set) {
            real slope = c[terms - 1];
            real sum = fma(slope, next, c[terms - 2]);
            for (int n = terms - 3; n >= 0; --n) {
                slope = fma(slope, next, sum);
                sum = fma(sum, next, c[n]);
            }
            set(new_value, sum);
            set(new_rise, slope);
        });
        mask there = open & ((new_value <= 0.0) | (step <= 4e-16 * next));
        zero = select(there, next, zero);
        open = open & ~there;
        x = select(open, next, x);
        value = select(open, new_value, value);
        rise = select(open, new_rise, rise);
    }
    return select(open, x, zero);
}

// The greatest speed on [from, to]: the best of nine samples, refined to the zero of the slope nearby.
HD real greatest_speed(Piece const& p, real from, real to) {
    real width = 0.125 * (to - from);
    real best = speed(p, from);
    real place = from;
    for (int i = 1; i <= 8; ++i) {
        real x = from + double(i) * width;
        real value = speed(p, x);
        place = select(value > best, x, place);
        best = greatest(value, best);
    }
    real low = greatest(place - width, from);
    real high = least(place + width, to);
    for (int i = 0; i < 40; ++i) {
        real middle = 0.5 * (low + high);
        mask rising = slope(p, middle) > 0.0;
        low = select(rising, middle, low);
        high = select(rising, high, middle);
    }
    return greatest(best, speed(p, low));
}

// The distance slipped over [from, from + width] in x, for any width.
HD real distance_over(Piece const& p, real from, real width) {
    real sum = 0.0;
    for (int i = 0; i < gauss_points; ++i) {
        GaussPoint at = gauss_point(i);
        sum += at.weight * speed(p, fma(width, at.place, from));
    }
    return p.length * width * sum;
}

// The integral of sin(u + angle) speed over [from, from + width] in x, from the sine and cosine of
// `angle`.
HD real shaken_distance(Piece const& p, real from, real width, real sine, real cosine) {
    real sum = 0.0;
    for (int i = 0; i < gauss_points; ++i) {
        GaussPoint at = gauss_point(i);
        real x = fma(width, at.place, from);
        real turned_sine, turned_cosine;
        sincos_short(p.length * x, turned_sine, turned_cosine);
        real load = fma(sine, turned_cosine, cosine * turned_sine);
        sum += at.weight * (load * speed(p, x));
    }
    return p.length * width * sum;
}

}  // namespace friction_oscillator
