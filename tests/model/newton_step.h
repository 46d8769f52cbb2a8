// The equations of harmonic balance and a step of Newton's method, from columns of numbers.
#pragma once

#include "portable.h"

struct Parameters {
    real mass, stiffness, wall_stiffness, gap, energy, harmonics, regularization, energy_instant;
};
struct Outputs {
    real floquet_trace, floquet_modulus, stable, status;
};
struct Span {
    real first, last;
};

#include "models/impact_oscillator/newton.h"

namespace stepped {

using namespace impact_oscillator;

constexpr int most = 12;         // harmonics
constexpr int count = most + 2;  // unknowns: the cosines and lambda

// In: wall stiffness, gap, harmonics, regularization, instant, unknowns, in scaled units.
// Out: residuals and changes of the unknowns; the energy's and lambda's are last.
HD void step(real const* in, real* out) {
    Parameters p = {1.0, 1.0, in[0], in[1], 0.5, in[2], in[3], in[4]};
    Unknowns x, change;
    for (int order = 0; order <= most; ++order) x.cosines[order] = in[5 + order];
    x.square = in[5 + most + 1];
    Equations e;
    balance(e, x, Stop(p, p.gap), p, most);
    for (int order = 0; order <= most; ++order) out[order] = e.residual[order];
    out[most + 1] = e.energy;
    solve(change, e, x.square, p.harmonics, most);
    for (int order = 0; order <= most; ++order) out[count + order] = change.cosines[order];
    out[count + most + 1] = change.square;
}

}  // namespace stepped
