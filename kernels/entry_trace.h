// A trace's way into a kernel: one point, looked at at each of a list of times while it advances.
//
// A call goes on until `status` is that of the point at its end, or until `budget` units of work are
// done; where it was then stays in trace.trail, and the next call goes on there. The units of work
// are those of a run, so that what is seen is what a run computes, and the budget changes no bit.
#pragma once

struct Trace {
    int64 next;                // first sample not yet taken
    int64 stop;                // one past the last
    int64 budget;              // units of work left to this call
    int64 resuming;            // whether `trail` holds where the last call was
    int64 status;              // of the point once it has ended, below 0 until then
    double const* parameters;  // one value each
    double const* times;       // of the samples, in s, ascending
    double* rows;              // of each sample: the moment that it is of, then the observables
    void* trail;
};

struct Point {
    double const* parameters;

    HD real gather(int i) const { return parameters[i]; }
};

// Two states with the moment asked for between them.
struct Trail {
    method::State before;  // stands at or before it
    method::State after;   // one unit of work later, where `bracketed`
    int64 bracketed;
    int64 stride;     // units of work to try next
    int64 narrowing;  // whether a stride has led too far
};

HD bool at_or_before(method::State const& state, Parameters const& p, real time) {
    return any(method::time_of(state, p) <= time);
}

// Whether nothing that comes after `state` matters at `time`.
HD bool passes(method::State const& state, Parameters const& p, real time) {
    return !method::running(state) || !at_or_before(state, p, time);
}

// Advance until one unit of work leads past `time`: by strides that double until one leads too far,
// and is taken back, then by halves of it. Whether the budget was enough.
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

// One sample, taken between the two states; at the end of the run, from its last state. False where
// the point has ended before in a status other than ok.
HD bool sample(Trail const& trail, Parameters const& p, real time, double* row) {
    bool ended = !method::running(trail.after) && at_or_before(trail.after, p, time);
    if (ended && any(method::finish(trail.after, p).status != 0.0)) return false;
    write_row(row, method::look(ended ? trail.after : trail.before, p, time));
    return true;
}

extern "C" int64 tribosweep_trace_bytes() { return sizeof(Trace); }
extern "C" int64 tribosweep_trail_bytes() { return sizeof(Trail); }
extern "C" int64 tribosweep_row_size() { return row_size; }

// When the point begins, and the span of its trace: three times in s.
extern "C" void tribosweep_span(double const* parameters, double* times) {
    Parameters p = gather_parameters(Point{parameters});
    Span span = model::span(p);
    times[0] = lane(method::time_of(method::start(p), p), 0);
    times[1] = lane(span.first, 0);
    times[2] = lane(span.last, 0);
}

extern "C" void tribosweep_trace(Trace* trace) {
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
}
