// The equations of harmonic balance and their derivatives.
//
// Lengths are in sqrt(2E/k), times in sqrt(m/k), energies in 2E. With the cosines a_j of the displacement,
// f_j of the stop's force and lambda = omega^2,
//
//   (1 - j^2 lambda) a_j + f_j = 0 for j = 0 ... H,   energy = 1/2.
//
// The energy is its mean over the period, or that at one instant. A product of two cosines is half the
// sum of two, so derivatives of f_j are sums of two cosines of the slope of the force.
#pragma once

#include "models/impact_oscillator/cosines.h"
#include "models/impact_oscillator/point.h"

namespace impact_oscillator {

// The stop: F = (K/2) [w + sqrt(w^2 + c)] with w = u - e and c = 4 eta e^2 k/K; for c = 0 the exact law.
struct Stop {
    real wall;  // K/k
    real gap;
    real corner;   // c
    mask rounded;  // whether c matters: it is far above the roundings of w^2

    HD Stop(Parameters const& p, real scaled_gap) {
        wall = p.wall_stiffness / p.stiffness;
        gap = scaled_gap;
        real scale = fma(gap, gap, 1.0);
        corner = 4.0 * p.regularization * (gap * gap) / select(wall > 0.0, wall, 1.0);
        rounded = (p.regularization > 0.0) & (wall > 0.0) & (corner > 1e-32 * scale);
    }

    // The force, and its slope.
    HD void press(real place, real& force, real& slope) const {
        real beyond = place - gap;
        force = wall * positive(beyond);
        slope = select(beyond > 0.0, wall, 0.0);
        if (!any(rounded)) return;
        // With r = sqrt(w^2 + c), w + r is c/(r - w) for w < 0, and the slope is F/r.
        real root = sqrt(fma(beyond, beyond, corner));
        real sum = root + abs(beyond);
        real inverse = 1.0 / (root * sum);
        real reach = select(beyond >= 0.0, sum, corner * (root * inverse));
        real smooth = 0.5 * wall * reach;
        force = select(rounded, smooth, force);
        slope = select(rounded, smooth * (sum * inverse), slope);
    }

    // The potential of two forces, but for a constant that is 0 for the exact law. The logarithm is that
    // of asinh(w/sqrt(c)) for each, which have the arguments 2F/(K sqrt(c)).
    HD real potential(real place_a, real force_a, real place_b, real force_b) const {
        real sum = 0.5 * fma(place_a - gap, force_a, (place_b - gap) * force_b);
        if (!any(rounded)) return sum;
        real per_corner = 4.0 / (wall * wall * corner);
        real logarithm = log(per_corner * force_a * force_b);
        return select(rounded, fma(0.25 * wall * corner, logarithm, sum), sum);
    }
};

constexpr double latest = 1.7976931348623157e308;  // instant of an energy; infinity means its mean

struct Unknowns {
    real cosines[most_harmonics + 1];
    real square;  // lambda
};

// The equations, which are to be 0, and their derivatives. The equation of order 0 is doubled, so that
// its matrix is symmetric: S_|i-j| + S_i+j, with 1 - j^2 lambda added on the diagonal.
struct Equations {
    real residual[most_harmonics + 1];
    real by_square[most_harmonics + 1];   // derivative of the residual
    real energy_by[most_harmonics + 1];   // derivative of the energy by each cosine
    real slopes[2 * most_harmonics + 1];  // S_j: means of slope times cos j phi
    real energy;                          // less 1/2
    real energy_by_square;
};

// The mean potential; sets the means of the force, in `residual`, and of its slope.
HD real sample_stop(Equations& e, Unknowns const& x, Stop const& stop, int most) {
    for (int order = 0; order <= most; ++order) e.residual[order] = 0.0;
    for (int order = 0; order <= 2 * most; ++order) e.slopes[order] = 0.0;
    real potential = 0.0;
    for (int first = 0; first <= quarter; first += together) {
        Pairs places = values_at(x.cosines, most, first), forces, slopes;
        for (int t = 0; t < together; ++t) {
            stop.press(places.early[t], forces.early[t], slopes.early[t]);
            stop.press(places.late[t], forces.late[t], slopes.late[t]);
            real pair =
                stop.potential(places.early[t], forces.early[t], places.late[t], forces.late[t]);
            potential = fma(share_of(first + t), pair, potential);
        }
        add_means(e.residual, most, forces, first);
        add_means(e.slopes, 2 * most, slopes, first);
    }
    return potential;
}

// Twice the potential of the stop at rest, which `Stop::potential` counts for a pair.
HD real twice_at_rest(Stop const& stop) {
    real force, slope;
    stop.press(0.0, force, slope);
    return stop.potential(0.0, force, 0.0, force);
}

// Replaces the mean energy by that at an instant, in periods, in lanes that have one.
HD void take_instant(Equations& e, Unknowns const& x, Stop const& stop, real instant, int most) {
    mask named = instant <= latest;
    if (!any(named)) return;
    real phase = two_pi * (instant - nearest(instant));
    real place = 0.0, speed = 0.0, sine, cosine;
    for (int order = 0; order <= most; ++order) {
        sincos((double)order * phase, sine, cosine);
        place = fma(x.cosines[order], cosine, place);
        speed = fma(-(double)order * x.cosines[order], sine, speed);
    }
    real force, slope;
    stop.press(place, force, slope);
    real potential = 0.5 * (stop.potential(place, force, place, force) - twice_at_rest(stop));
    real energy = fma(0.5 * x.square, speed * speed, fma(0.5 * place, place, potential));
    e.energy = select(named, energy - 0.5, e.energy);
    e.energy_by_square = select(named, 0.5 * (speed * speed), e.energy_by_square);
    for (int order = 0; order <= most; ++order) {
        sincos((double)order * phase, sine, cosine);
        real by = fma(-(double)order * (x.square * speed), sine, (place + force) * cosine);
        e.energy_by[order] = select(named, by, e.energy_by[order]);
    }
}

HD void balance(Equations& e, Unknowns const& x, Stop const& stop, Parameters const& p, int most) {
    real potential = sample_stop(e, x, stop, most) - 0.5 * twice_at_rest(stop);
    real moving = 0.0, stretched = 0.0;
    for (int order = 0; order <= most; ++order) {
        mask own = order <= p.harmonics;
        real cosine = x.cosines[order], order_squared = (double)order * order;
        real mean = e.residual[order];
        real weight = order == 0 ? 1.0 : 0.5;  // mean square of the cosine
        moving = fma(0.5 * order_squared * cosine, cosine, moving);
        stretched = fma(weight * cosine, cosine, stretched);
        real inertia = order_squared * x.square;
        real residual = fma(1.0 - inertia, cosine, mean + mean);
        e.residual[order] = select(own, order == 0 ? residual + cosine : residual, 0.0);
        e.by_square[order] = -(order_squared * cosine);
        e.energy_by[order] = select(own, fma(weight * (1.0 + inertia), cosine, mean), 0.0);
    }
    e.energy_by_square = 0.5 * moving;
    e.energy = fma(0.5, fma(x.square, moving, stretched), potential) - 0.5;
    take_instant(e, x, stop, p.energy_instant, most);
}

}  // namespace impact_oscillator
