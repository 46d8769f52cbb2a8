// The CPU's way into a kernel: points in blocks of `lanes`, one block after another.
//
// A call computes points from request.next on until request.stop, or until `budget` units of work
// are done; the block it was in then stays in request.state, and the next call goes on there.
#pragma once

#include "block_cpu.h"

extern "C" int64 tribosweep_state_bytes() { return sizeof(method::State); }
extern "C" int64 tribosweep_request_bytes() { return sizeof(Request); }
extern "C" int64 tribosweep_lanes() { return lanes; }

extern "C" void tribosweep_run(Request* request) {
    while (request->next < request->stop && request->budget > 0) {
        int64 left = request->stop - request->next;
        Block block{*request, request->next, left < lanes ? (int)left : lanes, 0.0};
        Parameters p = gather_parameters(block);
        method::State state;
        if (request->resuming)
            __builtin_memcpy(&state, request->state, sizeof(state));
        else
            state = method::start(p);
        request->budget -= method::advance(state, p, request->budget);
        if (method::running(state)) {
            __builtin_memcpy(request->state, &state, sizeof(state));
            request->resuming = 1;
            return;
        }
        store(*request, block, method::finish(state, p));
    }
}
