// Random points of a sample: numbers of the generator PCG64, and what a distribution makes of them.
//
// The operations of theory/elementary.py and distributions.py in the same order, so the bits are those that
// NumPy gives; the coefficients come from there. The generator is O'Neill's PCG XSL RR 128/64 (2014), as in
// numpy.random.PCG64: its state s becomes a s + c, modulo 2^128, and gives one number.
#pragma once

#include "portable.h"

using uint64 = unsigned long long;

constexpr int n_jumps = 18;  // a launch has fewer than 2^n_jumps threads

struct Word {  // of 128 bits
    uint64 high, low;
};
struct Jump {  // over some numbers of the generator: s becomes factor s + summand
    Word factor, summand;
};

struct Drawing {
    double* values;  // of the points that are drawn
    int64 count;
    int64 threads;           // of the launch: each draws every threads-th point
    int64 form;              // of the distribution, in the order of DISTRIBUTIONS
    int64 whole;             // 1: whole numbers that are cut, 2: that are rounded
    int64 bounded;           // whether values are kept between `least` and `greatest`
    double lowest, highest;  // between which numbers of the unit interval are kept
    double least, greatest;
    double constants[7];  // of the distribution
    Word state;           // of the generator, from which it gave the first point's number
    Jump turn;            // from a point of a thread to its next
    Jump jumps[n_jumps];  // over 2^i points
};

HD uint64 high_half(uint64 a, uint64 b) {
    uint64 a_low = a & 0xffffffffULL, a_high = a >> 32, b_low = b & 0xffffffffULL, b_high = b >> 32;
    uint64 middle = a_high * b_low + (a_low * b_low >> 32);
    uint64 other = a_low * b_high + (middle & 0xffffffffULL);
    return a_high * b_high + (middle >> 32) + (other >> 32);
}

HD Word jumped(Word s, Jump const& jump) {
    Word const& a = jump.factor;
    uint64 low = a.low * s.low;
    uint64 high = high_half(a.low, s.low) + a.high * s.low + a.low * s.high;
    Word sum{high + jump.summand.high, low + jump.summand.low};
    sum.high += sum.low < low;
    return sum;
}

// The number of a state, of which the upper 53 bits are those of a double.
HD double unit_number(Word s) {
    uint64 folded = s.high ^ s.low;
    int turns = (int)(s.high >> 58);
    uint64 number = (folded >> turns) | (folded << (-turns & 63));
    return (double)(int64)(number >> 11) * 0x1p-53;
}

template <int n> HD double polynomial(double const (&coefficients)[n], double x) {
    double value = coefficients[n - 1];
    for (int i = n - 2; i >= 0; --i) {
        value *= x;
        value += coefficients[i];
    }
    return value;
}

// The nearest whole number, of two the even one.
HD double rounded(double x) {
    double const large = 4503599627370496.0;
    double size = abs(x);
    if (!(size < large)) return x;
    size = (size + large) - large;
    return x < 0.0 ? -size : size;
}

HD double power_of_two(int k) {
    return from_bits((int64)(k + 1023) << 52);
}  // k from -1022 to 1023

HD double natural_log(double x) {  // of a normal number
    int64 bits = bits_of(x);
    double k = (double)((bits >> 52) - 1022);
    double fraction = from_bits((bits & 0x000fffffffffffffLL) | 0x3fe0000000000000LL);
    if (fraction < 0.70710678118654752) {
        fraction = 2 * fraction;
        k -= 1.0;
    }
    double f = fraction - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    double rest = z * polynomial(LOG, z);
    double half = 0.5 * f * f;
    return k * LN2_HIGH - ((half - (s * (half + rest) + k * LN2_LOW)) - f);
}

HD double exponential(double x) {
    x = x < -800.0 ? -800.0 : x > 800.0 ? 800.0 : x;
    double k = rounded(x * LOG2_E);
    double high = x - k * LN2_HIGH, low = k * LN2_LOW;
    double r = high - low;
    double t = r * r;
    double c = r - t * polynomial(EXP, t);
    double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    int whole = (int)k, half = whole / 2;  // two factors, of which only the second may round
    return (y * power_of_two(half)) * power_of_two(whole - half);
}

HD double log_of_rest(double x) {
    double rest = 1.0 - x;
    return natural_log(rest) + ((1.0 - rest) - x) / rest;
}

HD double normal_quantile(double p) {
    double from_middle = p - 0.5;
    if (!(abs(from_middle) > HALF_CENTRE)) {
        double z = HALF_CENTRE * HALF_CENTRE - from_middle * from_middle;
        return from_middle * (polynomial(CENTRE_0, z) / polynomial(CENTRE_1, z));
    }
    double r = root(-natural_log(1.0 - p < p ? 1.0 - p : p));
    double far = r > FAR ? polynomial(FAR_TAIL_0, r - FAR) / polynomial(FAR_TAIL_1, r - FAR)
                         : polynomial(TAIL_0, r - 1.6) / polynomial(TAIL_1, r - 1.6);
    return p < 0.5 ? -far : far;
}

HD double within(double x, double least, double greatest) {
    double raised = x < least ? least : x;
    return raised > greatest ? greatest : raised;
}

HD double truncated_normal(double unit, double const* c) {
    double low = c[0] + c[1] * unit, high = c[2] + c[1] * (1.0 - unit);
    bool is_low = low <= 0.5;
    double tail = is_low ? low : high;
    if (tail > 0.5) tail = 0.5;
    if (tail < 0x1p-1022) tail = 0x1p-1022;
    double z = normal_quantile(tail);
    return within(c[3] + c[4] * (is_low ? z : -z), c[5], c[6]);
}

HD double triangular(double unit, double const* c) {
    double width = c[2] - c[0], left = (c[1] - c[0]) / width, right = (c[2] - c[1]) / width;
    return unit < left ? c[0] + width * root(unit * left)
                       : c[2] - width * root((1.0 - unit) * right);
}

HD double quantile(int64 form, double unit, double const* c) {
    switch (form) {
        case 0:
            return c[0] + (c[1] - c[0]) * unit;
        case 1:
            return exponential(c[0] + (c[1] - c[0]) * unit);
        case 2:
            return c[0] + c[1] * normal_quantile(unit);
        case 3:
            return c[0] * exponential(c[1] * normal_quantile(unit));
        case 4:
            return truncated_normal(unit, c);
        case 5:
            return triangular(unit, c);
        default:
            return c[0] * exponential(natural_log(-log_of_rest(unit)) / c[1]);
    }
}

extern "C" __global__ void tribosweep_draw(Drawing const* request) {
    int64 thread = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    int64 threads = request->threads;
    if (thread >= threads) return;
    Word state = request->state;
    for (int i = 0; i < n_jumps; ++i)
        if (thread >> i & 1) state = jumped(state, request->jumps[i]);
    for (int64 point = thread; point < request->count; point += threads) {
        double unit = within(unit_number(state), request->lowest, request->highest);
        double value = quantile(request->form, unit, request->constants);
        if (request->whole) value = request->whole == 1 ? floor(value) : rounded(value);
        if (request->bounded) value = within(value, request->least, request->greatest);
        request->values[point] = value + 0.0;
        state = jumped(state, request->turn);
    }
}
