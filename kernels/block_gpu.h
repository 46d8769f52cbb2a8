// The arguments of a GPU entry, and blocks of `lanes` points or items.
#pragma once

struct Column {
    double const* values;
    int64 repeat;
    int64 count;
};

// A batch of points in device memory, and the threads that compute it.
struct Request {
    int64 first;         // index in the columns of the batch's first point
    int64 points;        // in the batch
    int64 budget;        // units of work per thread in this launch
    int64 resuming;      // whether `under_way` and `states` are from an earlier launch
    uint8* unfinished;   // set to 1 by every thread that has not finished
    uint8* under_way;    // per thread: whether its state is saved
    void* states;        // per thread
    uint8* status;       // per point
    int64 const* order;  // the point that each thread computes; null: as they come
    // For kernels that sum over items; a group is 64 items of one point.
    int64 first_group;        // of this launch, counted over the batch
    int64 groups;             // in this launch
    int64 groups_of_a_point;  // the number that the point with the most items needs
    double* parts;            // contribution of each item: [field][item in the group][group]
    double* sums;             // over each group of the batch: [field][group]
    Column columns[n_columns];
    void* outputs[n_outputs];
};

HD int64 thread_index() { return (int64)blockIdx.x * blockDim.x + threadIdx.x; }

// The point of a thread, as an index in the batch.
HD int64 point_of(Request const& request, int64 thread) {
    return request.order ? request.order[thread] : thread;
}

// One point of a request, the same in every lane.
struct BatchPoint {
    Request const& request;
    int64 index;  // in the batch
    bool ok;

    HD real gather(int i) const {
        Column const& column = request.columns[i];
        if (column.count == 1) return column.values[0];
        return column.values[(request.first + index) / column.repeat % column.count];
    }

    template <class T> HD void scatter(int output, real const& values, T missing_value) const {
        ((T*)request.outputs[output])[index] = stored_value(ok, lane(values, 0), missing_value);
    }
    HD void scatter_real(int output, real const& values) const {
        scatter<double>(output, values, missing());
    }
    HD void scatter_count(int output, real const& values) const {
        scatter<int32>(output, values, -1);
    }
    HD void scatter_flag(int output, real const& values) const {
        scatter<uint8>(output, values, 255);
    }
};

// Writes the outputs of a point.
HD void store(BatchPoint point, Outputs const& outputs) {
    point.ok = lane(outputs.status, 0) == 0.0;
    scatter_outputs(point, outputs);
    point.request.status[point.index] = (uint8)lane(outputs.status, 0);
}

// The state of a thread, saved between launches only if the budget runs out before the work ends.
template <class State> struct Kept {
    Request const& request;
    int64 thread;

    HD bool done_before() const { return request.resuming && !request.under_way[thread]; }
    HD State& state() const { return ((State*)request.states)[thread]; }
    HD void keep(State const& now) const {
        state() = now;
        request.under_way[thread] = 1;
        *request.unfinished = 1;
    }
    HD void forget() const { request.under_way[thread] = 0; }
};

// What the host needs to know about the kernel: bytes per state and per request, lanes per thread,
// fields per sum.
HD void write_sizes(int64* sizes, int64 state_bytes, int64 fields) {
    sizes[0] = state_bytes;
    sizes[1] = sizeof(Request);
    sizes[2] = lanes;
    sizes[3] = fields;
}
