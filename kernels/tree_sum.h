// The sum over the items of a point, in the same order on every backend, so that its bits are the same.
//
// Items are added in the order of their index, in groups of 64. Group sums are added pairwise: as soon as
// there are two sums over equally many groups, they are merged, older + newer (so level k is occupied if
// bit k of the number of groups is 1). At the end the remaining sums are added, from the newest and
// smallest up. Memory is needed for the levels only, however many items there are.
#pragma once

#include "portable.h"

constexpr int64 group_size = 64;
constexpr int tree_levels = 57;  // 2^63 items

// The sums of `fields` quantities side by side.
template <int fields> struct TreeSum {
    int64 count = 0;       // items added
    double group[fields];  // sum over the current group, if count is not a multiple of 64
    double levels[tree_levels][fields];  // sum over 2^k groups, if bit k of their number is 1
};

// Adds older + newer, and stores the result in newer.
template <int fields> HD void add_older(double (&newer)[fields], double const (&older)[fields]) {
    for (int i = 0; i < fields; ++i) newer[i] = older[i] + newer[i];
}

// Adds one more group, the last of `groups`.
template <int fields> HD void add_group(TreeSum<fields>& sum, int64 groups) {
    int level = 0;
    for (; ((groups - 1) >> level) & 1; ++level) add_older(sum.group, sum.levels[level]);
    for (int i = 0; i < fields; ++i) sum.levels[level][i] = sum.group[i];
}

template <int fields> HD void add_item(TreeSum<fields>& sum, double const (&item)[fields]) {
    bool begins = sum.count % group_size == 0;
    for (int i = 0; i < fields; ++i) sum.group[i] = begins ? item[i] : sum.group[i] + item[i];
    ++sum.count;
    if (sum.count % group_size == 0) add_group(sum, sum.count / group_size);
}

// The sum over all items so far, 0 if there are none.
template <int fields> HD void total_of(TreeSum<fields> const& sum, double (&total)[fields]) {
    bool empty = sum.count % group_size == 0;
    for (int i = 0; i < fields; ++i) total[i] = empty ? 0.0 : sum.group[i];
    int64 groups = sum.count / group_size;
    for (int level = 0; groups >> level; ++level) {
        if (!((groups >> level) & 1)) continue;
        if (empty)
            for (int i = 0; i < fields; ++i) total[i] = sum.levels[level][i];
        else
            add_older(total, sum.levels[level]);
        empty = false;
    }
}

// For items that are structs of reals, one item per lane.
template <class Item> constexpr int fields_of = sizeof(Item) / sizeof(real);
template <class Item> using SumOf = TreeSum<fields_of<Item>>;

// The indices of the items from `first` on; lanes past the last item repeat it.
HD real items_from(int64 first, int64 items) {
    real indices;
    for (int i = 0; i < lanes; ++i)
        set_lane(indices, i, (double)(first + i < items ? first + i : items - 1));
    return indices;
}

// Adds the items of the first `count` lanes.
template <class Item> HD void add_lanes(SumOf<Item>& sum, Item const& items, int64 count) {
    constexpr int fields = fields_of<Item>;
    auto const& quantities = reinterpret_cast<real const(&)[fields]>(items);
    double item[fields];
    for (int64 i = 0; i < count; ++i) {
        for (int k = 0; k < fields; ++k) item[k] = lane(quantities[k], (int)i);
        add_item(sum, item);
    }
}

// The total in every lane.
template <class Item> HD Item total_of_items(SumOf<Item> const& sum) {
    constexpr int fields = fields_of<Item>;
    double total[fields];
    total_of(sum, total);
    Item whole;
    auto& quantities = reinterpret_cast<real(&)[fields]>(whole);
    for (int k = 0; k < fields; ++k) quantities[k] = total[k];
    return whole;
}
