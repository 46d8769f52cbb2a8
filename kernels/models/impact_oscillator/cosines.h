// Sums of cosines at the samples of a period, and the cosines of sampled values.
//
//   u(phi) = a_0 + a_1 cos phi + ... + a_H cos H phi,   phi = 2 pi i/1024
//
// All values are even in phi, so samples 0 to 512 suffice. Samples i and 512 - i are computed together:
// cosines of even order are the same at both, those of odd order have the opposite sign. Every lane has
// the same samples and orders, so the table of cosines is one for all. Cosines of orders above a lane's
// own are 0 and change no bit.
#pragma once

#include "uniform_table.h"

namespace impact_oscillator {

constexpr int samples = 1024;  // per period
constexpr int half = samples / 2, quarter = samples / 4;
constexpr int most_harmonics = 60;
constexpr int together = 8;  // pairs of samples, so that sums are loaded and stored less often

// cos 2 pi i/1024 with an error of 1.3e-16.
struct CosineTable {
    double values[samples];
};

// For first = 0 the cosine, for first = 1 the sine over x, by Taylor's series up to x^20.
HD constexpr double series(double x, int first) {
    double sum = 1.0;
    for (int n = 20 - first; n > first; n -= 2) sum = 1.0 - x * x / ((n - 1) * n) * sum;
    return sum;
}

// Sets the four values of one magnitude, for i from 0 to a quarter.
HD constexpr void set_cosine(CosineTable& table, int i, double value) {
    table.values[i] = value;
    table.values[half - i] = -value;
    table.values[half + i] = -value;
    table.values[(samples - i) % samples] = value;
}

// Compilers compute the table, by IEEE operations that are never fused. It is no constructor, whose values
// NVRTC leaves out.
HD constexpr CosineTable table_of_cosines() {
    CosineTable table{};
    for (int i = 0; i <= samples / 8; ++i) {
        double angle = i * (two_pi / samples);
        set_cosine(table, i, series(angle, 0));
        set_cosine(table, quarter - i, angle * series(angle, 1));
    }
    return table;
}

TABLE CosineTable cosine_table = table_of_cosines();

HD double cosine_at(int sample) { return cosine_table.values[sample & (samples - 1)]; }

// Values at adjacent samples i, and at samples 512 - i.
struct Pairs {
    real early[together], late[together];
};

HD Pairs values_at(real const* cosines, int most, int first) {
    real even[together], odd[together];
    for (int t = 0; t < together; ++t) even[t] = odd[t] = 0.0;
    for (int order = 0; order <= most; order += 2) {
        real next = order < most ? cosines[order + 1] : real(0.0);
        for (int t = 0; t < together; ++t) {
            even[t] = fma(cosines[order], cosine_at((first + t) * order), even[t]);
            odd[t] = fma(next, cosine_at((first + t) * (order + 1)), odd[t]);
        }
    }
    Pairs values;
    for (int t = 0; t < together; ++t) {
        values.early[t] = even[t] + odd[t];
        values.late[t] = even[t] - odd[t];
    }
    return values;
}

// The share of a pair of samples in means over a period. Samples 0 and 512 have no mirror image beyond
// half the period, and sample 256 is its own partner; the pairs after it complete a group.
HD double share_of(int sample) {
    if (sample > quarter) return 0.0;
    return (sample == 0 || sample == quarter ? 1.0 : 2.0) / samples;
}

// Values as they are at a sample and its partner, for the means of even and of odd orders.
struct Parts {
    real even[together], odd[together];

    HD Parts(Pairs const& values, int first) {
        for (int t = 0; t < together; ++t) {
            even[t] = share_of(first + t) * (values.early[t] + values.late[t]);
            odd[t] = share_of(first + t) * (values.early[t] - values.late[t]);
        }
    }
};

// Adds these samples' part of the means of values times cos j phi, for j = 0 ... last.
HD void add_means(real* means, int last, Pairs const& values, int first) {
    Parts parts(values, first);
    for (int order = 0; order <= last; order += 2) {
        bool both = order < last;
        real mean = means[order], next = both ? means[order + 1] : real(0.0);
        for (int t = 0; t < together; ++t) {
            mean = fma(parts.even[t], cosine_at((first + t) * order), mean);
            next = fma(parts.odd[t], cosine_at((first + t) * (order + 1)), next);
        }
        means[order] = mean;
        if (both) means[order + 1] = next;
    }
}

}  // namespace impact_oscillator
