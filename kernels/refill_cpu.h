// Lanes that take the next point as soon as they have finished theirs. This is for methods whose points
// need very different amounts of work; a block would wait for its slowest point.
//
// The State of such a method has
//
//   static constexpr int64 refills_every;   // units of work between two checks of the lanes; 0: never
//   static constexpr bool refills_always;   // false: only if the points of a block vary strongly
//   mask going() const;                              // lanes that are not finished
//   bool alike() const;                              // whether all lanes are of a kind that can be mixed
//   static State mix(mask, State const& a, State const& b);   // a where the mask is set, otherwise b
//
// The request's `next` then counts the points that are stored, in whatever order.
#pragma once

#include "block_cpu.h"

template <class State, class = void> struct Refills {
    static constexpr bool value = false;
};
template <class State> struct Refills<State, decltype((void)State::refills_every)> {
    static constexpr bool value = State::refills_every > 0;
};

// Whether the points of a block differ in two or more parameters, as in a sample or in a grid whose last
// axis is short.
HD bool of_many_kinds(Request const& request) {
    int varying = 0;
    for (Column const& column : request.columns)
        varying += column.count > 1 && column.repeat < lanes;
    return varying > 1;
}

constexpr int least_idle = (lanes + 7) / 8;  // lanes that make a refill worthwhile

template <class State> struct Flight {
    State state;
    int64 points[lanes];  // per lane; -1: none, the lane repeats the last point of the request
    int64 upcoming;       // the next point to start
    int64 waits;          // 1: until all lanes finish, because the next points are of another kind
};

// Gathers the parameters of the points in flight, and scatters the outputs where `lands` is set.
struct Passengers {
    Request const& request;
    int64 const* points;
    bool const* lands;
    real status;

    HD real gather(int i) const {
        Column const& column = request.columns[i];
        if (column.count == 1) return real(column.values[0]);
        return gather_each(column);
    }
    // Called, not written out for each parameter.
    __attribute__((noinline)) real gather_each(Column const& column) const {
        real result;
        for (int k = 0; k < lanes; ++k) {
            int64 at = points[k] < 0 ? request.stop - 1 : points[k];
            if (column.repeat > 1) at /= column.repeat;  // divisions are slow
            if (at >= column.count) at %= column.count;
            set_lane(result, k, column.values[at]);
        }
        return result;
    }

    template <class T> HD void scatter(int output, real const& values, T missing_value) const {
        T* stored = (T*)request.outputs[output];
        for (int k = 0; k < lanes; ++k)
            if (lands[k])
                stored[points[k]] =
                    stored_value(lane(status, k) == 0.0, lane(values, k), missing_value);
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

template <class State> struct Refilled {
    Request& request;
    Flight<State> flight;
    Parameters p;
    bool lands[lanes];

    HD explicit Refilled(Request& asked) : request(asked) {
        if (request.resuming) {
            __builtin_memcpy((void*)&flight, request.state, sizeof(flight));
            p = gather_parameters(passengers());
        } else {
            flight.upcoming = request.next;
            begin();
        }
    }

    HD Passengers passengers() const { return {request, flight.points, lands, 0.0}; }
    HD int64 take() { return flight.upcoming < request.stop ? flight.upcoming++ : -1; }

    // Fills all lanes.
    HD void begin() {
        for (int k = 0; k < lanes; ++k) flight.points[k] = take();
        p = gather_parameters(passengers());
        flight.state = method::start(p);
        flight.waits = 0;
    }

    HD void run() {
        while (request.next < request.stop && request.budget > 0) {
            int64 units =
                request.budget < State::refills_every ? request.budget : State::refills_every;
            request.budget -= method::advance(flight.state, p, units);
            look();
        }
        request.resuming = request.next < request.stop;
        if (request.resuming) __builtin_memcpy(request.state, (void*)&flight, sizeof(flight));
    }

    // Stores finished points and refills their lanes if there are enough of them.
    HD void look() {
        mask going = flight.state.going();
        real on = select(going, 1.0, 0.0);
        int idle = 0;
        for (int k = 0; k < lanes; ++k) {
            lands[k] = lane(on, k) == 0.0 && flight.points[k] >= 0;
            idle += lands[k];
        }
        bool rest = any(going);
        if (rest && (flight.waits || idle < least_idle || flight.upcoming == request.stop)) return;
        store();
        if (!rest)
            begin();
        else
            refill();
    }

    HD void store() {
        Outputs outputs = method::finish(flight.state, p);
        Passengers landing = passengers();
        landing.status = outputs.status;
        scatter_outputs(landing, outputs);
        for (int k = 0; k < lanes; ++k) {
            if (!lands[k]) continue;
            request.status[flight.points[k]] = (uint8)lane(outputs.status, k);
            flight.points[k] = -1;
            ++request.next;
        }
    }

    HD void refill() {
        int64 first = flight.upcoming;
        real fresh = 0.0;
        for (int k = 0; k < lanes; ++k)
            if (flight.points[k] < 0) {
                flight.points[k] = take();
                set_lane(fresh, k, 1.0);
            }
        Parameters others = gather_parameters(passengers());
        State state = method::start(others);
        if (state.alike()) {
            flight.state = State::mix(fresh == 1.0, state, flight.state);
            p = others;
            return;
        }
        flight.upcoming = first;
        flight.waits = 1;
        for (int k = 0; k < lanes; ++k)
            if (lane(fresh, k) == 1.0) flight.points[k] = -1;
    }
};
