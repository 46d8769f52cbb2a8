// The penalised law with each scheme. With a finite tolerance, a scheme controls its own step length.
#pragma once

#include "models/friction_oscillator/penalised.h"
#include "schemes/adapt_ordre2.h"
#include "schemes/devogelaere.h"
#include "schemes/euler.h"
#include "schemes/rk32.h"
#include "schemes/rk54.h"
#include "stepping/methods.h"

namespace euler {
METHOD(stepping::Constant<penalised::Motion<schemes::Euler>>)
}
namespace devogelaere {
METHOD(stepping::Constant<penalised::Motion<schemes::DeVogelaere>>)
}
namespace adapt_ordre2 {
METHOD(stepping::Controlled<penalised::Motion<schemes::AdaptOrdre2>>)
}
namespace rk54 {
METHOD(stepping::Controlled<penalised::Motion<schemes::Rk54>>)
}
namespace rk32 {
METHOD(stepping::Controlled<penalised::Motion<schemes::Rk32>>)
}
