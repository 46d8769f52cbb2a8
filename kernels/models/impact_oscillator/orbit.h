// The periodic motion in closed form: one sinusoid away from the stop and another one in contact.
//
// From the least displacement to the stop, the phase advances by pi - free; in contact, up to the greatest
// displacement, by `pressed`. Here tan(free) = sqrt(2E - k e^2) / (e sqrt(k)), and tan(pressed) is
// rho = sqrt(1 + K/k) times that. There is no cancellation, neither for grazing motion (the excess
// 2E - k e^2 is formed exactly) nor for a nearly rigid stop (an angle near pi/2 is computed from its
// complement).
#pragma once

#include "elementary.h"

namespace impact_oscillator {

// An angle in the first quadrant. Its sine and cosine are accurate at both ends of the quadrant.
struct Angle {
    real value, sine, cosine;
};

// The angle of the point (x, y), x and y >= 0.
HD Angle angle_of(real y, real x) {
    mask high = y > x;
    real low = atan2(select(high, x, y), select(high, y, x));
    real sine, cosine;
    sincos_core(low, sine, cosine);
    return {select(high, (half_pi_high - low) + half_pi_low, low), select(high, cosine, sine),
            select(high, sine, cosine)};
}

struct Orbit {
    real rate, wall_rate;  // sqrt(k/m) and sqrt((k+K)/m), 1/s
    real ratio;            // rho = wall_rate / rate
    real amplitude;        // magnitude of the least displacement, m
    real swing;            // amplitude of the sinusoid in contact, m
    real depth;            // greatest displacement past the gap, m; 0 without contact
    real greatest;         // displacement, m
    Angle free, pressed;
    mask contact;
    real period;        // s
    real pressed_time;  // contact time per period, s

    HD Orbit(real mass, real stiffness, real wall_stiffness, real gap, real energy) {
        real square = gap * gap;
        real square_rest = fma(gap, gap, -square);
        real grazing = stiffness * square;
        real grazing_rest = fma(stiffness, square, -grazing) + stiffness * square_rest;
        real excess = (2.0 * energy - grazing) - grazing_rest;  // 2E - k e^2
        contact = excess > 0.0;                                 // false if k e^2 overflows
        excess = select(contact, excess, 0.0);
        rate = sqrt(stiffness / mass);
        ratio = sqrt(1.0 + wall_stiffness / stiffness);
        wall_rate = ratio * rate;
        amplitude = sqrt(2.0 * energy / stiffness);

        real across = sqrt(excess / stiffness);
        real along = select(contact, gap, 1.0);
        free = angle_of(across, along);
        pressed = angle_of(ratio * across, along);
        real reach = along * along + (ratio * across) * (ratio * across);
        swing = sqrt(reach) / (ratio * ratio);
        depth = select(contact, across * across / (sqrt(reach) + along), 0.0);
        greatest = select(contact, gap + depth, amplitude);

        real pressed_angle = pressed.value / ratio;
        period = 2.0 * ((2.0 * half_pi_high - free.value) + pressed_angle) / rate;
        pressed_time = 2.0 * pressed_angle / rate;
    }
};

// Transfer matrix of a disturbance (position, velocity/rate), both of which are lengths.
struct Matrix {
    real xx, xv, vx, vv;
};

HD Matrix operator*(Matrix const& a, Matrix const& b) {
    return {fma(a.xx, b.xx, a.xv * b.vx), fma(a.xx, b.xv, a.xv * b.vv),
            fma(a.vx, b.xx, a.vv * b.vx), fma(a.vx, b.xv, a.vv * b.vv)};
}

// Over one period, from the least displacement. From the greatest displacement the factors are swapped.
// The second half is the time reversal of the first.
HD Matrix monodromy(Orbit const& o) {
    Matrix free = {-o.free.cosine, o.free.sine, -o.free.sine, -o.free.cosine};  // by pi - angle
    Matrix pressed = {o.pressed.cosine, o.pressed.sine / o.ratio, -(o.ratio * o.pressed.sine),
                      o.pressed.cosine};
    Matrix half = pressed * free;
    Matrix back = {half.vv, half.xv, half.vx, half.xx};
    return back * half;
}

// The larger modulus of the eigenvalues of a matrix with determinant 1.
HD real greatest_multiplier(real trace) {
    real half = 0.5 * abs(trace);
    return greatest(half, 1.0) + sqrt(greatest((half - 1.0) * (half + 1.0), 0.0));
}

constexpr double stable_below = 1.01;  // Code_Aster's CALC_STABILITE

}  // namespace impact_oscillator
