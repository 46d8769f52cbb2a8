// The ten-point Gauss-Legendre rule on [0, 1]: exact for polynomials up to degree 19, and accurate to
// rounding for sinusoids and power series over a phase of at most 1.
#pragma once

#include "portable.h"

struct GaussPoint {
    double place, weight;
};

constexpr int gauss_points = 10;

HD GaussPoint gauss_point(int i) {
    constexpr GaussPoint points[gauss_points] = {
        {0.013046735741414128, 0.03333567215434407}, {0.06746831665550773, 0.0747256745752902},
        {0.16029521585048778, 0.109543181257991},    {0.2833023029353764, 0.13463335965499826},
        {0.4255628305091844, 0.1477621123573764},    {0.5744371694908156, 0.1477621123573764},
        {0.7166976970646236, 0.13463335965499826},   {0.8397047841495122, 0.109543181257991},
        {0.9325316833444923, 0.0747256745752902},    {0.9869532642585859, 0.03333567215434407}};
    return points[i];
}
