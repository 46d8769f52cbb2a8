// Signals of models from files: tables over time. Beyond their samples they are NaN, so that a step that
// leads there is rejected.
#pragma once

#include "systems/functions.h"
#include "tables.h"

namespace functions {

// A step that ends at the last sample may do so up to rounding.
template <class Table> HD mask outside_signal(real t) {
    double first = Table::time(0), last = Table::time(Table::samples - 1);
    if (last == greatest_finite) last = Table::time(Table::samples - 2);  // of one that keeps it
    return ~((t >= first) & (t <= last * (1.0 + 1e-12)));
}
template <class Table> HD real signal_at(real t) {
    return within(outside_signal<Table>(t), table_at<Table>(t));
}
template <class Table> HD real signal_slope(real t) {
    return within(outside_signal<Table>(t), table_slope_at<Table>(t));
}

// The rate of the slope of a cubic spline: y'' = A y0'' + B y1''.
template <class Table> HD real signal_bend(real t) {
    real bend = at_each(t, [](double time) {
        Interpolated at = interpolated<Table>(time);
        double first = Table::bend(at.low);
        return fused(at.place, Table::bend(at.low + 1) - first, first);
    });
    return within(outside_signal<Table>(t), bend);
}

// The time of the first sample at this one or later.
template <class Table> HD real sample_from(real t) {
    return at_each(t, [](double time) {
        int64 low = interpolated<Table>(time).low;
        if (Table::time(low) >= time) return Table::time(low);
        return Table::time(low + 1) >= time ? Table::time(low + 1) : greatest_finite;
    });
}

// The time of the first sample after this one; after the last there is none.
template <class Table> HD real sample_after(real t) {
    return at_each(t, [](double time) {
        double next = Table::time(interpolated<Table>(time).low + 1);
        return next > time ? next : 1.7976931348623157e308;
    });
}

}  // namespace functions
