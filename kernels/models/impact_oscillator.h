// Mass on a spring that strikes an elastic stop: all methods.
//
//   m u'' + k u = -K max(u - e, 0),   E = m u'^2/2 + k u^2/2 + K max(u - e, 0)^2/2
//
// SI units in Parameters and Outputs. Time starts at the greatest displacement, where u' = 0.
#pragma once

#include "elementary.h"
#include "models/impact_oscillator/exact.h"
#include "models/impact_oscillator/harmonic_balance.h"
#include "models/impact_oscillator/newmark.h"
