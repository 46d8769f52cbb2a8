// Values of points reduced on a device to what statistics/ keeps of them, with the bits of its NumPy code.
//
// A stream is the values of a cell, or of one scrambling of a cell. A launch reduces parts of every stream,
// each to a row of its own. Leaf i of a part is every `stride`-th point of a cell, or begins a row of as many
// points for Sobol' indices of `n_parameters` (0: none), which is defined before this text. Counts, extremes
// and bins are whole numbers, which atomic operations add in any order; sums follow the tree of tree.py.
#pragma once

#include "portable.h"

using uint64 = unsigned long long;

constexpr int warp = 32;  // threads side by side, which read leaves side by side
constexpr int leaves_of_a_thread =
    32;  // also the leaves of a group, so that a level takes 5 of the tree
constexpr int levels_at_once = 5;
constexpr double unit = 0x1p600, least_usual = 0x1p-400, largest_usual = 0x1p400;  // as in tree.py
constexpr double unit_exponent = 600.0;
constexpr int64 magnitude = 0x7fffffffffffffffLL, infinite = 0x7ff0000000000000LL;

enum Step {
    count_leaves,
    find_extremes,
    add_moments,
    add_indices,
    mark_bins,
    count_bins,
    number_bins,
    order_values,
    fill_histogram
};
enum Type { real_values, count_values, flag_values };
enum Kind { is_ok, is_above, is_below, has_code, has_status };  // of a condition

struct Range {    // a part of each stream
    int64 start;  // point of its first leaf, from the cell's first point in memory
    int64 first;  // index of its first leaf in the stream
    int64 count;  // leaves
    int64 nodes;  // of the tree that earlier parts have
};

struct Condition {
    int64 kind;
    double limit;
};

struct Reduction {
    int64 step;
    int64 threads;  // of the launch
    int64 groups;   // threads of a row
    int64 cells;
    int64 length;  // points of a cell in memory
    int64 stride;  // points of a leaf
    int64
        scramblings;  // streams of a cell: leaf i of stream s is leaf i scramblings + s of the cell
    int64 type;       // of the values
    int64 optional;   // whether NaN is no value
    int64 finite;     // whether only finite values have extremes
    int64 level;      // of the nodes that are joined
    int64 width;      // room in each row for nodes of that level, or for leaves
    int64 next_width;  // and for the nodes that are written
    int64 n;           // conditions, bins of a row, or bins of a histogram
    int64 shift;       // bits of a value that bins ignore
    int64 subnormal;   // what distinguishes the bins of subnormal values
    int64 middle;      // place of bin 0 in a table of all bins
    void const* values;
    uint8 const* status;
    Range const* ranges;
    void const* input;  // conditions, nodes, numbers of bins, or places of histograms
    void* output;       // nodes of level + levels_at_once, or results
    double* nodes;      // of the tree that no others join
};

// Leaves of one row.
struct Row {
    Reduction const& r;
    int64 cell, scrambling;
    Range range;

    HD int64 point(int64 leaf) const {
        return cell * r.length + range.start + (leaf * r.scramblings + scrambling) * r.stride;
    }
    HD double value(int64 point) const {
        if (r.type == real_values) return ((double const*)r.values)[point];
        if (r.type == count_values) return ((int32 const*)r.values)[point];
        return ((uint8 const*)r.values)[point];
    }
    HD bool ok(int64 point, double value) const {
        return r.status[point] == 0 && !(r.optional && value != value);
    }
    HD int64 streams() const { return r.cells * r.scramblings; }
    HD int64 stream() const { return cell * r.scramblings + scrambling; }
};

HD Row row_of(Reduction const& r, int64 number) {
    int64 streams = r.cells * r.scramblings, stream = number % streams;
    return Row{r, stream / r.scramblings, stream % r.scramblings, r.ranges[number / streams]};
}

// Counts, extremes and bins: a thread takes some leaves, side by side with those of its neighbours.

// Whole numbers in the order of the values; zeros are equal.
HD int64 ordered(double value) {
    int64 bits = bits_of(value + 0.0);
    return bits ^ ((bits >> 63) & magnitude);
}

// The number of a value's bin, as in quantiles.py.
HD int64 bin_of(Reduction const& r, double value) {
    int64 bin = ordered(value) >> r.shift, first_normal = 0x0010000000000000LL >> r.shift;
    if (bin >= first_normal || bin < -first_normal || value == 0.0) return bin;
    return (ordered(value * unit) >> r.shift) + (value < 0.0 ? -r.subnormal : r.subnormal);
}

// ⌊value/2^exponent⌋, in two steps, because the power itself may be infinite.
HD int64 place_of(double value, int64 exponent) {
    int64 half = exponent >> 1;
    double first = from_bits((1023 - half) << 52),
           second = from_bits((1023 + half - exponent) << 52);
    double scaled = value * first * second;
    return (int64)floor(scaled) - (value < 0.0 && scaled == 0.0);
}

HD bool holds(Row const& row, Condition const& condition, int64 point) {
    double value = row.value(point);
    if (condition.kind == has_status) return value == condition.limit;
    if (!row.ok(point, value)) return false;
    if (condition.kind == is_above) return value > condition.limit;
    if (condition.kind == is_below) return value < condition.limit;
    return condition.kind == is_ok || value == condition.limit;
}

HD void add(void* numbers, int64 place, int64 number) {
    if (number) atomicAdd((uint64*)numbers + place, (uint64)number);
}

// The leaves of a thread are from `first` on, a warp apart.
HD void count(Row const& row, int64 number, int64 first, int64 stop) {
    Reduction const& r = row.r;
    for (int64 k = 0; k < r.n; ++k) {
        Condition condition = ((Condition const*)r.input)[k];
        int64 found = 0;
        for (int64 i = first; i < stop; i += warp) found += holds(row, condition, row.point(i));
        add(r.output, number * r.n + k, found);
    }
}

// The least and the greatest value as numbers in their order; of a row with NaN, the ends of all numbers.
HD void extremes(Row const& row, int64 number, int64 first, int64 stop) {
    int64 least = magnitude, greatest = ~magnitude;
    for (int64 i = first; i < stop; i += warp) {
        int64 point = row.point(i);
        double value = row.value(point);
        int64 place = ordered(value);
        if (!row.ok(point, value)) continue;
        if (row.r.finite && (bits_of(value) & magnitude) >= infinite) continue;
        bool is_number = value == value;
        int64 low = is_number ? place : ~magnitude, high = is_number ? place : magnitude;
        if (low < least) least = low;
        if (high > greatest) greatest = high;
    }
    if (least > greatest) return;
    atomicMin((int64*)row.r.output + 2 * number, least);
    atomicMax((int64*)row.r.output + 2 * number + 1, greatest);
}

// Every value's bin: marked in a table of all bins, counted, or numbered over all rows.
HD void bins(Row const& row, int64 number, int64 first, int64 stop) {
    Reduction const& r = row.r;
    int64 waiting = -1, waiting_number = 0;  // equal bins of neighbours are added together
    for (int64 i = first; i < stop; i += warp) {
        int64 point = row.point(i);
        double value = row.value(point);
        if (!row.ok(point, value)) continue;
        int64 place = bin_of(r, value) + r.middle;
        if (r.step == mark_bins) {
            ((uint8*)r.output)[place] = 1;
            continue;
        }
        int64 bin = number * r.n + ((int32 const*)r.input)[place];
        if (r.step == number_bins) {
            ((int64*)r.output)[number * r.width + i] = bin;
            continue;
        }
        if (bin != waiting) {
            add(r.output, waiting, waiting_number);
            waiting = bin, waiting_number = 0;
        }
        ++waiting_number;
    }
    add(r.output, waiting, waiting_number);
}

// Numbers in the order of the values; what is no value comes last.
HD void order(Row const& row, int64 number, int64 first, int64 stop) {
    for (int64 i = first; i < stop; i += warp) {
        int64 point = row.point(i);
        double value = row.value(point);
        bool is_number = row.ok(point, value) && value == value;
        ((int64*)row.r.output)[number * row.range.count + i] =
            is_number ? ordered(value) : magnitude;
    }
}

// The input has the exponent of the width of each row's bins, and the place of the first one.
HD void fill(Row const& row, int64 number, int64 first, int64 stop) {
    int64 const* bins = (int64 const*)row.r.input + 2 * number;
    for (int64 i = first; i < stop; i += warp) {
        int64 point = row.point(i);
        double value = row.value(point);
        if (!row.ok(point, value) || (bits_of(value) & magnitude) >= infinite) continue;
        add(row.r.output, number * row.r.n + place_of(value, bins[0]) - bins[1], 1);
    }
}

// Sums by the tree. The last field of a node is the exponent of its unit, as in tree.py.

template <int n> struct Fields {
    static constexpr int size = n;
    double fields[n];
};

HD double exponent_of(double value) {
    double size = abs(value);
    double above = size < largest_usual ? 0.0 : unit_exponent;  // also of NaN
    return size < least_usual ? -unit_exponent : above;
}

HD double in_unit(double value, double exponent) {
    return value * (exponent > 0.0 ? 1.0 / unit : exponent < 0.0 ? unit : 1.0);
}

HD double between(double n, double m, double older_sum, double newer_sum) {
    double number = n + m;
    double difference = newer_sum / (m + (m == 0.0)) - older_sum / (n + (n == 0.0));
    difference = difference * (n > 0.0 && m > 0.0 ? 1.0 : 0.0);
    return difference * difference * (n * m / (number + (number == 0.0)));
}

struct Moments {
    using Node = Fields<4>;  // number, sum, deviations, exponent

    static HD int degree(int field) { return field; }
    static HD Node leaf(Row const& row, int64 i) {
        int64 point = row.point(i);
        double value = row.value(point);
        bool ok = row.ok(point, value);
        double summand = ok ? value : 0.0, exponent = exponent_of(summand);
        return Node{{ok ? 1.0 : 0.0, in_unit(summand, exponent), 0.0, exponent}};
    }
    static HD void add_between(Node& sum, Node const& older, Node const& newer) {
        double const *a = older.fields, *b = newer.fields;
        sum.fields[2] = sum.fields[2] + between(a[0], b[0], a[1], b[1]);
    }
};

struct Indices {
    static constexpr int n_fixed = 5;
    using Node = Fields<n_fixed + 3 * n_parameters + 1>;  // as in indices.py

    static HD int degree(int field) {
        if (field < n_fixed) return field < 3 ? field : field - 2;
        return field - n_fixed < n_parameters || field - n_fixed >= 2 * n_parameters ? 2 : 1;
    }
    static HD Node leaf(Row const& row, int64 i) {
        int64 point = row.point(i);
        bool complete = true;
        for (int k = 0; k < n_parameters + 2; ++k)
            complete = complete && row.ok(point + k, row.value(point + k));
        double largest = 0.0;
        for (int k = 0; k < n_parameters + 2; ++k) {
            double size = complete ? abs(row.value(point + k)) : 0.0;
            if (size > largest || size != size) largest = size;
        }
        double exponent = exponent_of(largest);
        double scale = in_unit(1.0, exponent);
        double a = complete ? row.value(point) * scale : 0.0;
        double b = complete ? row.value(point + 1) * scale : 0.0;
        Node node{{complete ? 1.0 : 0.0, a, 0.0, b, 0.0}};
        for (int k = 0; k < n_parameters; ++k) {
            double column = complete ? row.value(point + 2 + k) * scale : 0.0;
            double difference = column - a, *fields = node.fields + n_fixed + k;
            fields[0] = b * difference;
            fields[n_parameters] = difference;
            fields[2 * n_parameters] = difference * difference;
        }
        node.fields[Node::size - 1] = exponent;
        return node;
    }
    static HD void add_between(Node& sum, Node const& older, Node const& newer) {
        double const *a = older.fields, *b = newer.fields;
        for (int k = 1; k < n_fixed; k += 2)
            sum.fields[k + 1] = sum.fields[k + 1] + between(a[0], b[0], a[k], b[k]);
    }
};

template <class Sum> HD void scale(typename Sum::Node& node, double exponent) {
    constexpr int last = Sum::Node::size - 1;
    double steps = (exponent - node.fields[last]) / unit_exponent;
    if (steps == 0.0) return;
    double factor = steps == 1.0 ? 1.0 / unit : 0.0;
    for (int k = 0; k < last; ++k)
        for (int i = Sum::degree(k); i > 0; --i) node.fields[k] = node.fields[k] * factor;
}

template <class Sum>
HD typename Sum::Node joined(typename Sum::Node older, typename Sum::Node newer) {
    constexpr int last = Sum::Node::size - 1;
    double exponent =
        older.fields[last] > newer.fields[last] ? older.fields[last] : newer.fields[last];
    scale<Sum>(older, exponent);
    scale<Sum>(newer, exponent);
    typename Sum::Node sum;
    for (int k = 0; k < last; ++k) sum.fields[k] = older.fields[k] + newer.fields[k];
    Sum::add_between(sum, older, newer);
    sum.fields[last] = exponent;
    return sum;
}

// Where a node that is left is stored: behind those of lower levels, and behind an earlier one of its own.
HD int64 slot_of(Range const& range, int64 level, bool is_last) {
    int64 low = range.first, high = range.first + range.count, slot = 0;
    for (int64 k = 0; k < level; ++k) {
        slot += (low & 1) + ((high & 1) && high > low + (low & 1));
        low = (low + 1) >> 1, high = high >> 1;
    }
    return slot + (is_last && (low & 1) && low < high);
}

template <class Sum> HD void keep(Row const& row, int64 level, bool is_last,
                                  typename Sum::Node const& node) {
    constexpr int size = Sum::Node::size;
    int64 place = (row.range.nodes + slot_of(row.range, level, is_last)) * size;
    for (int k = 0; k < size; ++k)
        row.r.nodes[(place + k) * row.streams() + row.stream()] = node.fields[k];
}

// Joins the nodes of a group, 2^levels_at_once of a level or fewer at the ends of a part. Those that no
// others can join are kept; what all of them form is a node of the next stage.
template <class Sum> HD void join_group(Row const& row, int64 number, int64 group) {
    using Node = typename Sum::Node;
    Reduction const& r = row.r;
    int64 below = (1LL << r.level) - 1;
    int64 low = (row.range.first + below) >> r.level;
    int64 high = (row.range.first + row.range.count) >> r.level;
    group += low >> levels_at_once;
    int64 first = group << levels_at_once, stop = first + (1 << levels_at_once);
    if (first < low) first = low;
    if (stop > high) stop = high;
    Node waiting[levels_at_once];
    int are_waiting = 0;  // bit k: of level k above those that come in
    for (int64 j = first; j < stop; ++j) {
        Node node = r.level ? ((Node const*)r.input)[number * r.width + j - low]
                            : Sum::leaf(row, j - row.range.first);
        int level = 0;
        for (; level < levels_at_once && are_waiting >> level & 1; ++level)
            node = joined<Sum>(waiting[level], node);
        are_waiting &= ~((1 << level) - 1);
        if (level == levels_at_once) {
            int64 next_low = (low + (1 << levels_at_once) - 1) >> levels_at_once;
            ((Node*)r.output)[number * r.next_width + group - next_low] = node;
        } else if (j >> level & 1) {  // its older neighbour begins before the part
            keep<Sum>(row, r.level + level, false, node);
        } else {
            waiting[level] = node;
            are_waiting |= 1 << level;
        }
    }
    for (int level = 0; level < levels_at_once; ++level)
        if (are_waiting >> level & 1) keep<Sum>(row, r.level + level, true, waiting[level]);
}

extern "C" __global__ void tribosweep_reduce(Reduction const* request) {
    Reduction const& r = *request;
    int64 thread = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= r.threads) return;
    int64 number = thread / r.groups, group = thread % r.groups;
    Row row = row_of(r, number);
    int64 first = group / warp * warp * leaves_of_a_thread + group % warp;
    int64 stop = (group / warp + 1) * warp * leaves_of_a_thread;
    if (stop > row.range.count) stop = row.range.count;
    switch (r.step) {
        case count_leaves:
            count(row, number, first, stop);
            break;
        case find_extremes:
            extremes(row, number, first, stop);
            break;
        case add_moments:
            join_group<Moments>(row, number, group);
            break;
        case add_indices:
            if constexpr (n_parameters > 0) join_group<Indices>(row, number, group);
            break;
        case order_values:
            order(row, number, first, stop);
            break;
        case fill_histogram:
            fill(row, number, first, stop);
            break;
        default:
            bins(row, number, first, stop);
    }
}
