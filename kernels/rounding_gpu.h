// Doubles as float32, the nearest and of two the even one, as a CPU rounds them.
//
// By their bits, because CuPy compiles every text with -ftz=true: a conversion then gives 0 in place of
// numbers below 2^-126.
#pragma once

#include "portable.h"

struct Rounding {
    int64 const* doubles;  // their bits
    int32* floats;         // their bits
    int64 count;
};

// value/2^shift, for a shift from 1 to 54, as the nearest whole number and of two the even one.
HD int64 nearest_shifted(int64 value, int shift) {
    int64 odd = (value >> shift) & 1;
    return (value + (1LL << (shift - 1)) - 1 + odd) >> shift;
}

// The bits of a float32, from those of a double. NaN has the bits of missing().
HD int32 float32_bits(int64 bits) {
    int64 magnitude = bits & 0x7fffffffffffffffLL;
    if (magnitude > 0x7ff0000000000000LL) return 0x7fc00000;
    int64 const infinite = 0x7f800000, hidden = 1LL << 52;
    int exponent = (int)(magnitude >> 52) - 896;  // biased as that of a float32
    int64 rounded;
    if (exponent > 0) {
        rounded = nearest_shifted(magnitude - 896 * hidden, 29);
        if (rounded > infinite) rounded = infinite;
    } else if (exponent > -25) {
        rounded = nearest_shifted((magnitude & (hidden - 1)) | hidden, 30 - exponent);
    } else {
        rounded = 0;
    }
    return (int32)(rounded | (bits < 0 ? 0x80000000LL : 0));
}

extern "C" __global__ void tribosweep_round(Rounding const* request) {
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < request->count) request->floats[i] = float32_bits(request->doubles[i]);
}
