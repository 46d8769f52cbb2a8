// The entry for traces: one point, observed at each of a list of times while it advances.
//
// A call continues until `status` is set to the final status of the point, or until `budget` units of
// work are done. Its progress then stays in trace.trail, and the next call resumes it. The units of work
// are the same as in a run, so a trace shows what a run computes, and the budget changes no bit.
#pragma once

#include "event_log.h"

struct Trace {
    int64 next;                // first sample that is not taken yet
    int64 stop;                // one past the last
    int64 budget;              // units of work left in this call
    int64 resuming;            // whether `trail` holds the progress of the last call
    int64 status;              // of the point once it has ended, negative before
    double const* parameters;  // one value per parameter
    double const* times;       // of the samples, in s, ascending
    double* rows;              // per sample: its actual time, then the observables
    void* trail;
    double* events;  // see event_log.h
    int64 event_room;
};

struct Point {
    double const* parameters;

    HD real gather(int i) const { return parameters[i]; }
};

// Two states, before and after the sample's time.
struct Trail {
    method::State before;  // at or before that time
    method::State after;   // one unit of work later, if `bracketed`
    int64 bracketed;
    int64 stride;     // units of work to try next
    int64 narrowing;  // whether a stride has gone too far
};

HD bool at_or_before(method::State const& state, Parameters const& p, real time) {
    return any(method::time_of(state, p) <= time);
}

// Whether no later state than `state` matters at `time`.
HD bool passes(method::State const& state, Parameters const& p, real time) {
    return !method::running(state) || !at_or_before(state, p, time);
}

// Advances until one unit of work leads past `time`. Strides double until one goes too far and is taken
// back; then they are halved. Returns whether the budget was sufficient.
HD bool bracket(Trail& trail, Parameters const& p, real time, int64& budget) {
    if (trail.bracketed && passes(trail.after, p, time)) return true;
    if (trail.bracketed) {
        trail.before = trail.after;
        trail.bracketed = trail.narrowing = 0;
    }
    while (budget > 0) {
        int64 stride = trail.stride < budget ? trail.stride : budget;
        trail.after = trail.before;
        method::advance(trail.after, p, stride);
        budget -= stride;
        bool far = passes(trail.after, p, time);
        if (!far) trail.before = trail.after;
        trail.bracketed = far && stride == 1;
        trail.narrowing = trail.narrowing || far;
        trail.stride = !trail.narrowing ? 2 * stride : stride > 1 ? stride / 2 : 1;
        if (trail.bracketed) return true;
    }
    return false;
}

// Takes one sample between the two states, or from the last state at the end of the run. Returns false
// if the point has ended earlier with a status other than ok.
HD bool sample(Trail const& trail, Parameters const& p, real time, double* row) {
    bool ended = !method::running(trail.after) && at_or_before(trail.after, p, time);
    if (ended && any(method::finish(trail.after, p).status != 0.0)) return false;
    write_row(row, method::look(ended ? trail.after : trail.before, p, time));
    return true;
}

extern "C" int64 tribosweep_trace_bytes() { return sizeof(Trace); }
extern "C" int64 tribosweep_trail_bytes() { return sizeof(Trail); }
extern "C" int64 tribosweep_row_size() { return row_size; }

// The start time of the point and the span of its trace: three times in s.
extern "C" void tribosweep_span(double const* parameters, double* times) {
    Parameters p = gather_parameters(Point{parameters});
    Span span = model::span(p);
    times[0] = lane(method::time_of(method::start(p), p), 0);
    times[1] = lane(span.first, 0);
    times[2] = lane(span.last, 0);
}

extern "C" void tribosweep_trace(Trace* trace) {
    event_log = {trace->events, trace->event_room};
    Parameters p = gather_parameters(Point{trace->parameters});
    Trail trail;
    if (trace->resuming) {
        __builtin_memcpy(&trail, trace->trail, sizeof(trail));
    } else {
        trail.before = trail.after = method::start(p);
        trail.stride = 1;
        trail.bracketed = trail.narrowing = 0;
    }
    while (trace->next < trace->stop && trace->budget > 0) {
        real time = trace->times[trace->next];
        if (!bracket(trail, p, time, trace->budget)) break;
        bool seen = sample(trail, p, time, trace->rows + trace->next * row_size);
        if (seen)
            ++trace->next;
        else
            trace->stop = trace->next;
        --trace->budget;
    }
    if (trace->next >= trace->stop) {
        method::advance(trail.after, p, trace->budget);
        if (!method::running(trail.after))
            trace->status = (int64)lane(method::finish(trail.after, p).status, 0);
    }
    __builtin_memcpy(trace->trail, &trail, sizeof(trail));
    trace->resuming = 1;
    event_log = {nullptr, 0};
}
