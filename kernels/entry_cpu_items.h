// The CPU entry for kernels whose points are sums over items: one point after another, with items of
// the point in the lanes.
//
// A call computes points from request.next to request.stop, or until `budget` units of work are done.
// The unfinished point then stays in request.state, and the next call resumes it. Starting a block of
// items counts as one unit of work.
#pragma once

#include "block_cpu.h"
#include "tree_sum.h"

// An unfinished point.
struct Progress {
    SumOf<method::Partial> sum;
    int64 item;   // first item of the next block
    int64 begun;  // whether `state` already holds that block
    method::State state;
};

// Computes the remaining items of a point; returns whether the budget was sufficient.
HD bool go_on(Progress& now, method::Shared const& shared, int64 items, int64& budget) {
    for (; now.item < items; now.item += lanes) {
        if (budget <= 0) return false;
        if (!now.begun) {
            now.state = method::start(shared, items_from(now.item, items));
            now.begun = 1;
            --budget;
        }
        budget -= method::advance(now.state, shared, budget);
        if (method::running(now.state)) return false;
        int64 left = items - now.item;
        add_lanes(now.sum, method::partial(now.state, shared), left < lanes ? left : lanes);
        now.begun = 0;
    }
    return true;
}

extern "C" int64 tribosweep_state_bytes() { return sizeof(Progress); }
extern "C" int64 tribosweep_request_bytes() { return sizeof(Request); }
extern "C" int64 tribosweep_lanes() { return lanes; }

extern "C" void tribosweep_run(Request* request) {
    while (request->next < request->stop && request->budget > 0) {
        Block point{*request, request->next, 1, 0.0};
        Parameters p = gather_parameters(point);
        method::Shared shared = method::shared(p);
        Progress now;
        if (request->resuming) {
            __builtin_memcpy(&now, request->state, sizeof(now));
        } else {
            now.item = now.begun = 0;
        }
        int64 items = (int64)lane(items_of(p), 0);
        if (!go_on(now, shared, items, request->budget)) {
            __builtin_memcpy(request->state, &now, sizeof(now));
            request->resuming = 1;
            return;
        }
        store(*request, point, method::finish(total_of_items<method::Partial>(now.sum), shared));
    }
}
