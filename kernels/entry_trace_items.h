// The entry for traces of kernels whose points are sums over items: every item is observed at each of a
// list of times within the last cycle, and the point through the sums over its items, in the order of a
// run.
//
// A call continues until `status` is set, or until `budget` units of work are done. Its progress then
// stays in trace.trail and trace.sums, and the next call resumes it. The budget changes no bit.
#pragma once

#include "tree_sum.h"

struct Trace {
    int64 samples;
    int64 budget;              // units of work left in this call
    int64 resuming;            // whether `trail` holds the progress of the last call
    int64 status;              // of the point once the trace is complete, negative before
    double const* parameters;  // one value per parameter
    double const* times;       // of the samples, ascending
    double* places;            // per item
    double* items;             // per sample and item: the item's observables
    double* rows;              // per sample: its actual time, then the observables
    void* sums;                // per sample, initially zero
    void* trail;
};

struct Point {
    double const* parameters;

    HD real gather(int i) const { return parameters[i]; }
};

// A block of items, with the sample's time between its two states.
struct Trail {
    method::State before;  // before that time
    method::State after;   // one unit of work later, if `bracketed`
    int64 bracketed;
    int64 item;    // first item of the block
    int64 sample;  // the next sample
    int64 begun;
};

// Advances until one unit of work leads to `time` or past it; returns whether the budget sufficed.
HD bool bracket(Trail& trail, method::Shared const& shared, double time, int64& budget) {
    for (;;) {
        if (!trail.bracketed) {
            if (budget <= 0) return false;
            trail.after = trail.before;
            method::advance(trail.after, shared, 1);
            trail.bracketed = 1;
            --budget;
        }
        if (!method::running(trail.after) || method::time_of(trail.after, shared) >= time)
            return true;
        trail.before = trail.after;
        trail.bracketed = 0;
    }
}

// Observes a block at one time.
HD void sample_block(Trail const& trail, Trace& trace, method::Shared const& shared, int64 items) {
    int64 left = items - trail.item, count = left < lanes ? left : lanes;
    method::Seen seen = method::see(trail.before, shared, trace.times[trail.sample]);
    add_lanes(((SumOf<method::Seen>*)trace.sums)[trail.sample], seen, count);
    ItemObservables shown = method::look_at_item(seen);
    double* items_row = trace.items + (trail.sample * items + trail.item) * item_row_size;
    for (int i = 0; i < count; ++i) write_item_row(items_row + i * item_row_size, shown, i);
}

// Computes the remaining blocks; returns whether the budget was sufficient.
HD bool go_on(Trail& trail, Trace& trace, method::Shared const& shared, int64 items) {
    for (; trail.item < items; trail.item += lanes) {
        if (!trail.begun) {
            trail.before = method::start_seen(shared, items_from(trail.item, items));
            trail.bracketed = trail.sample = 0;
            trail.begun = 1;
        }
        for (; trail.sample < trace.samples; ++trail.sample) {
            if (!bracket(trail, shared, trace.times[trail.sample], trace.budget)) return false;
            if (--trace.budget < 0) return false;
            sample_block(trail, trace, shared, items);
        }
        trail.begun = 0;
    }
    return true;
}

extern "C" int64 tribosweep_trace_bytes() { return sizeof(Trace); }
extern "C" int64 tribosweep_trail_bytes() { return sizeof(Trail); }
extern "C" int64 tribosweep_sum_bytes() { return sizeof(SumOf<method::Seen>); }
extern "C" int64 tribosweep_row_size() { return row_size; }
extern "C" int64 tribosweep_item_row_size() { return item_row_size; }

// The start time of the point and the span of its trace: three times.
extern "C" void tribosweep_span(double const* parameters, double* times) {
    Span span = method::span(method::shared(gather_parameters(Point{parameters})));
    times[0] = times[1] = lane(span.first, 0);
    times[2] = lane(span.last, 0);
}

// The rows of the trace, from the sums. The status depends on the parameters alone, so its sum is empty.
HD void end(Trace& trace, method::Shared const& shared, Parameters const& p, int64 items) {
    for (int64 i = 0; i < items; ++i)
        trace.places[i] = lane(method::place_of(shared, p, (double)i), 0);
    for (int64 k = 0; k < trace.samples; ++k) {
        auto sum = total_of_items<method::Seen>(((SumOf<method::Seen>*)trace.sums)[k]);
        write_row(trace.rows + k * row_size, method::look(sum, shared, p, trace.times[k]));
    }
    SumOf<method::Partial> nothing;
    auto outputs = method::finish(total_of_items<method::Partial>(nothing), shared);
    trace.status = (int64)lane(outputs.status, 0);
}

extern "C" void tribosweep_trace(Trace* trace) {
    Parameters p = gather_parameters(Point{trace->parameters});
    method::Shared shared = method::shared(p);
    int64 items = (int64)lane(items_of(p), 0);
    Trail trail;
    if (trace->resuming) {
        __builtin_memcpy(&trail, trace->trail, sizeof(trail));
    } else {
        trail.item = trail.begun = 0;
    }
    if (go_on(trail, *trace, shared, items)) end(*trace, shared, p, items);
    __builtin_memcpy(trace->trail, &trail, sizeof(trail));
    trace->resuming = 1;
}
