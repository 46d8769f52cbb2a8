// A table over time: samples, between which it is linear or a cubic spline.
//
// A generated struct has the samples: time(i), value(i) and, if it is cubic, the second derivative bend(i).
#pragma once

#include "portable.h"

// The interval of a table that a time lies in, and its place there: 0 at the beginning, 1 at the end. Beyond
// the table its first and last interval go on.
struct Interpolated {
    int64 low;
    double length, place;
};

template <class Table> HD Interpolated interpolated(double time) {
    int64 low = 0, high = Table::samples - 1;
    while (high - low > 1) {
        int64 middle = (low + high) / 2;
        if (Table::time(middle) <= time)
            low = middle;
        else
            high = middle;
    }
    double length = Table::time(high) - Table::time(low);
    return {low, length, (time - Table::time(low)) / length};
}

// y = A y0 + B y1 + ((A^3 - A) y0'' + (B^3 - B) y1'') h^2/6 with B the place and A = 1 - B.
template <class Table> HD double value_at(double time) {
    Interpolated at = interpolated<Table>(time);
    double first = Table::value(at.low), b = at.place, a = 1.0 - b;
    double value = fused(b, Table::value(at.low + 1) - first, first);
    if constexpr (Table::cubic) {
        double sum = fused(2.0 - b, Table::bend(at.low), (1.0 + b) * Table::bend(at.low + 1));
        value = fused(at.length * at.length / 6.0, -(b * a) * sum, value);
    }
    return value;
}

// dy/dt = (y1 - y0)/h + ((3 B^2 - 1) y1'' - (3 A^2 - 1) y0'') h/6.
template <class Table> HD double slope_at(double time) {
    Interpolated at = interpolated<Table>(time);
    double b = at.place, a = 1.0 - b;
    double slope = (Table::value(at.low + 1) - Table::value(at.low)) / at.length;
    if constexpr (Table::cubic) {
        double first = fused(3.0 * a, a, -1.0), last = fused(3.0 * b, b, -1.0);
        double bend = fused(last, Table::bend(at.low + 1), -(first * Table::bend(at.low)));
        slope = fused(at.length / 6.0, bend, slope);
    }
    return slope;
}

// Lanes at one time share its search.
template <class Function> HD real at_each(real const& times, Function function) {
    double first = lane(times, 0);
    real values = function(first);
    if (!any(times != real(first))) return values;
    for (int i = 1; i < lanes; ++i) set_lane(values, i, function(lane(times, i)));
    return values;
}
template <class Table> HD real table_at(real const& times) {
    return at_each(times, [](double time) { return value_at<Table>(time); });
}
template <class Table> HD real table_slope_at(real const& times) {
    return at_each(times, [](double time) { return slope_at<Table>(time); });
}
