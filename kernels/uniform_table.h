// Tables that compilers compute and all lanes read at the same place, and loops over what is loaded.
#pragma once

#include "portable.h"

#ifdef SWEEP_GPU
// In constant memory, which has a cache of its own. One in a function would be filled by the first thread
// while others read it.
#define TABLE static __constant__ constexpr
#define UNROLLED _Pragma("unroll 4")  // the loads of four rounds are under way together
#else
#define TABLE static constexpr
#define UNROLLED
#endif
