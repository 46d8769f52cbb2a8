// The arguments of a CPU entry, and blocks of a request's points.
#pragma once

struct Column {
    double const* values;
    int64 repeat;
    int64 count;
};

struct Request {
    int64 next;      // first point that is not stored yet
    int64 stop;      // one past the last point
    int64 budget;    // units of work left in this call
    int64 resuming;  // whether `state` holds unfinished work at `next`
    void* state;
    uint8* status;
    Column columns[n_columns];
    void* outputs[n_outputs];
};

// A block of adjacent points of a request; lanes past the last point repeat it.
struct Block {
    Request const& request;
    int64 first;
    int count;
    real status;

    HD real gather(int i) const {
        Column const& column = request.columns[i];
        if (column.count == 1) return real(column.values[0]);
        real result;
        int64 index = (first / column.repeat) % column.count;
        int64 since = first % column.repeat;  // points that already had this value
        for (int k = 0; k < lanes; ++k) {
            set_lane(result, k, column.values[index]);
            if (k >= count - 1 || ++since < column.repeat) continue;
            since = 0;
            if (++index == column.count) index = 0;
        }
        return result;
    }

    template <class T> HD void scatter(int output, real const& values, T missing_value) const {
        T* stored = (T*)request.outputs[output] + first;
        for (int i = 0; i < count; ++i)
            stored[i] = stored_value(lane(status, i) == 0.0, lane(values, i), missing_value);
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

// Writes the outputs of a block and moves on to the next block.
HD void store(Request& request, Block& block, Outputs const& outputs) {
    block.status = outputs.status;
    scatter_outputs(block, outputs);
    for (int i = 0; i < block.count; ++i)
        request.status[block.first + i] = (uint8)lane(outputs.status, i);
    request.next += block.count;
    request.resuming = 0;
}
