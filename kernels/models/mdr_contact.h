// Rubbing contact of a round body by the method of dimensionality reduction: all methods.
//
//   u_z = d0 + Delta_z cos(w t),  u_x = Delta_x cos(w t + phi),  springs E* dx, G* dx at x,
//   elongation u follows u_x while |u| <= mu kappa (u_z - g(x)), g(x) = kappa_n A |x|^n
//
// Parameters and Outputs are in SI units; internal units are those of scaled.h.
#pragma once

#include "elementary.h"
#include "models/mdr_contact/exact.h"
#include "models/mdr_contact/time_stepping.h"
#include "models/mdr_contact/time_stepping_2.h"

#undef SPRING_METHOD
