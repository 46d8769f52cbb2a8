// The GPU entry for kernels whose points are sums over items: `lanes` items of a point per thread.
//
// tribosweep_run advances the items of some groups of 64 by at most `budget` units of work; it is
// launched until all of them are finished. tribosweep_sum then adds the items of each of these groups.
// After the last group of the batch, tribosweep_finish adds the groups of each point. The order is that
// of tree_sum.h.
#pragma once

#include "block_gpu.h"
#include "tree_sum.h"

constexpr int fields = fields_of<method::Partial>;
constexpr int64 threads_of_a_group = group_size / lanes;

// One group of items of a point.
struct Group {
    int64 place;        // index in the batch
    int64 point;        // index in the batch
    int64 first, stop;  // items; none if the point has fewer groups than others
};

HD Group group_of(Request const& request, int64 place, Parameters const& p) {
    int64 items = (int64)lane(items_of(p), 0);
    Group group;
    group.place = place;
    group.point = place / request.groups_of_a_point;
    group.first = place % request.groups_of_a_point * group_size;
    group.stop = group.first + group_size < items ? group.first + group_size : items;
    return group;
}

HD double* part_of(Request const& request, int field, int64 item, int64 group) {
    return request.parts + ((field * group_size + item) * request.groups + group);
}

HD double* sum_of(Request const& request, int field, int64 place) {
    return request.sums + (field * request.points * request.groups_of_a_point + place);
}

// Stores the contributions of a thread's items, as far as there are items.
HD void store_parts(Request const& request, Group const& group, int64 first,
                    method::Partial const& partial) {
    auto const& quantities = reinterpret_cast<real const(&)[fields]>(partial);
#pragma unroll
    for (int k = 0; k < fields; ++k) {
#pragma unroll
        for (int i = 0; i < lanes; ++i)
            if (first + i < group.stop)
                *part_of(request, k, first + i - group.first, group.place - request.first_group) =
                    lane(quantities[k], i);
    }
}

extern "C" __global__ void tribosweep_sizes(int64* sizes) {
    write_sizes(sizes, sizeof(method::State), fields);
}

extern "C" __global__ void tribosweep_run(Request const* request) {
    int64 thread = thread_index();
    int64 place = request->first_group + thread / threads_of_a_group;
    if (place >= request->first_group + request->groups) return;
    Kept<method::State> kept{*request, thread};
    if (kept.done_before()) return;
    Parameters p =
        gather_parameters(BatchPoint{*request, place / request->groups_of_a_point, true});
    Group group = group_of(*request, place, p);
    int64 first = group.first + thread % threads_of_a_group * lanes;
    if (first >= group.stop) {
        kept.forget();
        return;
    }
    method::Shared shared = method::shared(p);
    method::State state;
    if (request->resuming)
        state = kept.state();
    else
        state = method::start(shared, items_from(first, group.stop));
    method::advance(state, shared, request->budget);
    if (method::running(state)) {
        kept.keep(state);
    } else {
        kept.forget();
        store_parts(*request, group, first, method::partial(state, shared));
    }
}

// One group per thread.
extern "C" __global__ void tribosweep_sum(Request const* request) {
    int64 thread = thread_index();
    if (thread >= request->groups) return;
    int64 place = request->first_group + thread;
    Parameters p =
        gather_parameters(BatchPoint{*request, place / request->groups_of_a_point, true});
    Group group = group_of(*request, place, p);
    int64 items = group.stop - group.first;
    for (int k = 0; k < fields; ++k) {
        double sum = items > 0 ? *part_of(*request, k, 0, thread) : 0.0;
        for (int64 i = 1; i < items; ++i) sum = sum + *part_of(*request, k, i, thread);
        *sum_of(*request, k, place) = sum;
    }
}

// One point per thread.
extern "C" __global__ void tribosweep_finish(Request const* request) {
    int64 thread = thread_index();
    if (thread >= request->points) return;
    BatchPoint point{*request, thread, true};
    Parameters p = gather_parameters(point);
    int64 items = (int64)lane(items_of(p), 0);
    SumOf<method::Partial> sum;
    for (int64 first = 0; first < items; first += group_size) {
        int64 place = thread * request->groups_of_a_point + first / group_size;
        for (int k = 0; k < fields; ++k) sum.group[k] = *sum_of(*request, k, place);
        bool whole = items - first >= group_size;
        sum.count = whole ? first + group_size : items;
        if (whole) add_group(sum, sum.count / group_size);
    }
    method::Shared shared = method::shared(p);
    store(point, method::finish(total_of_items<method::Partial>(sum), shared));
}
