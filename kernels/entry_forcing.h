// The entry that fills the tables of realisations: on a processor all stages, on a GPU one of them.
#pragma once

#include "forcing.h"

#ifdef SWEEP_GPU
extern "C" __global__ void tribosweep_forcing(Forcing const* request) {
    int64 thread = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < units_of(*request)) do_unit(*request, thread);
}
#else
extern "C" int64 tribosweep_forcing_bytes() { return sizeof(Forcing); }

// One realisation after another, which then stays in the cache.
extern "C" void tribosweep_forcing(Forcing const* request) {
    Forcing one = *request;
    one.realisations = 1;
    one.stage = 0;
    for (int64 unit = 0; unit < units_of(one); ++unit) do_unit(one, unit);
    for (int64 i = 0; i < request->realisations; ++i) {
        for (one.stage = 1; int64 units = units_of(one); ++one.stage)
            for (int64 unit = 0; unit < units; ++unit) do_unit(one, unit);
        ++one.draws;
        one.tables += 2 * one.samples * one.elements;
    }
}
#endif
