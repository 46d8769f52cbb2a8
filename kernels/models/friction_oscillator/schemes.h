// The penalised law with each scheme. With a finite tolerance, a scheme controls its own step length.
#pragma once

#include "models/friction_oscillator/penalised.h"
#include "models/friction_oscillator/stepping.h"
#include "schemes/adapt_ordre2.h"
#include "schemes/devogelaere.h"
#include "schemes/euler.h"
#include "schemes/rk32.h"
#include "schemes/rk54.h"

namespace euler {
METHOD(friction_oscillator::Constant<penalised::Motion<schemes::Euler>>)
}
namespace devogelaere {
METHOD(friction_oscillator::Constant<penalised::Motion<schemes::DeVogelaere>>)
}
namespace adapt_ordre2 {
METHOD(friction_oscillator::Controlled<penalised::Motion<schemes::AdaptOrdre2>>)
}
namespace rk54 {
METHOD(friction_oscillator::Controlled<penalised::Motion<schemes::Rk54>>)
}
namespace rk32 {
METHOD(friction_oscillator::Controlled<penalised::Motion<schemes::Rk32>>)
}
