// Signals of models from files: tables over time. Beyond their samples they are NaN, so that a step that
// leads there is rejected.
#pragma once

#include "systems/functions.h"
#include "tables.h"

namespace functions {

// A step that ends at the last sample may do so up to rounding.
template <class Table> HD mask outside_signal(real t) {
    double first = Table::time(0), last = Table::time(Table::samples - 1);
    return ~((t >= first) & (t <= last * (1.0 + 1e-12)));
}
template <class Table> HD real signal_at(real t) {
    return within(outside_signal<Table>(t), table_at<Table>(t));
}
template <class Table> HD real signal_slope(real t) {
    return within(outside_signal<Table>(t), table_slope_at<Table>(t));
}

// The time of the first sample after this one; after the last there is none.
template <class Table> HD real sample_after(real t) {
    return at_each(t, [](double time) {
        double next = Table::time(interpolated<Table>(time).low + 1);
        return next > time ? next : 1.7976931348623157e308;
    });
}

}  // namespace functions
