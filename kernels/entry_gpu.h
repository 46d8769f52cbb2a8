// The GPU entry: one point per thread, with its state in registers.
//
// Threads side by side may compute points of any order; their results go to the places of the points.
// A launch advances every unfinished point of the batch by at most `budget` units of work. The state of
// a point that is still unfinished is saved in device memory until the next launch.
#pragma once

#include "block_gpu.h"

extern "C" __global__ void tribosweep_sizes(int64* sizes) {
    write_sizes(sizes, sizeof(method::State), 0);
}

extern "C" __global__ void tribosweep_run(Request const* request) {
    int64 thread = thread_index();
    if (thread >= request->points) return;
    Kept<method::State> kept{*request, thread};
    if (kept.done_before()) return;
    Parameters p = gather_parameters(BatchPoint{*request, point_of(*request, thread), true});
    method::State state;
    if (request->resuming)
        state = kept.state();
    else
        state = method::start(p);
    method::advance(state, p, request->budget);
    if (method::running(state)) {
        kept.keep(state);
    } else {
        kept.forget();
        // The order is read again: kept, it would cost registers while the point is computed.
        store(BatchPoint{*request, point_of(*request, thread), true}, method::finish(state, p));
    }
}
