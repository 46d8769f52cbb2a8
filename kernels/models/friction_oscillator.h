// Mass rubbing on a shaken plane: all methods.
//
//   m y'' = -c y' - k y - m a0 sin(w t) + F,  |F| <= mu N(t),  F = -mu N sgn(y') while slipping
//   N(t) = m (g + a_v sin(w t + phi)),        y(0) = y'(0) = 0, stuck
//
// Parameters and Outputs are in SI units; internally, lengths are in a0/w^2, speeds in a0/w, and time is
// the phase w t.
#pragma once

#include "elementary.h"
#include "models/friction_oscillator/exact.h"
#include "models/friction_oscillator/moreau.h"
#include "models/friction_oscillator/schemes.h"

#undef METHOD
