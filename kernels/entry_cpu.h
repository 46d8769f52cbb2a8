// The CPU entry: points in blocks of `lanes`, one block after another. If the method supports it, each
// lane takes the next point as soon as it has finished one.
//
// A call computes points from request.next to request.stop, or until `budget` units of work are done.
// Unfinished work then stays in request.state, and the next call resumes it.
#pragma once

#include "block_cpu.h"
#include "refill_cpu.h"

template <class State> HD void run_blocks(Request& request) {
    while (request.next < request.stop && request.budget > 0) {
        int64 left = request.stop - request.next;
        Block block{request, request.next, left < lanes ? (int)left : lanes, 0.0};
        Parameters p = gather_parameters(block);
        State state;
        if (request.resuming)
            __builtin_memcpy((void*)&state, request.state, sizeof(state));
        else
            state = method::start(p);
        request.budget -= method::advance(state, p, request.budget);
        if (method::running(state)) {
            __builtin_memcpy(request.state, (void*)&state, sizeof(state));
            request.resuming = 1;
            return;
        }
        store(request, block, method::finish(state, p));
    }
}

template <class State> HD void run_points(Request& request) {
    if constexpr (Refills<State>::value)
        if (State::refills_always || of_many_kinds(request)) {
            Refilled<State>(request).run();
            return;
        }
    run_blocks<State>(request);
}

template <class State> HD constexpr int64 kept_bytes() {
    if constexpr (Refills<State>::value)
        return sizeof(Flight<State>);
    else
        return sizeof(State);
}

extern "C" int64 tribosweep_state_bytes() { return kept_bytes<method::State>(); }
extern "C" int64 tribosweep_request_bytes() { return sizeof(Request); }
extern "C" int64 tribosweep_lanes() { return lanes; }

extern "C" void tribosweep_run(Request* request) { run_points<method::State>(*request); }
