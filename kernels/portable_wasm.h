// What stands before portable.h in WebAssembly: its instructions under the names that portable.h uses, so
// that the text of other machines, and its digest, does not depend on this one.
//
// WebAssembly has no fused multiply-add but that of relaxed SIMD, which an engine may round twice. A
// module with it may be used only where tribosweep_fma gives fused results. Without it, __builtin_fma is
// a function that zig adds, which is slow, and exact but for one case (FreeBSD's s_fma.c has it too): it
// returns c where |ab| is below 2^-53 |c| by exponents alone. Below a power of two, numbers are twice as
// dense, and |ab| may exceed half of their distance, 2^-54 |c|: then the number before c is nearer.
#pragma once

#if defined(__wasm_relaxed_simd__)
typedef double wasm_pair __attribute__((vector_size(16)));

#define __FMA__ 1
inline
    __attribute__((always_inline)) wasm_pair _mm_fmadd_pd(wasm_pair a, wasm_pair b, wasm_pair c) {
    return __builtin_wasm_relaxed_madd_f64x2(a, b, c);
}
inline __attribute__((always_inline)) double wasm_fma(double a, double b, double c) {
    return _mm_fmadd_pd(wasm_pair{a, a}, wasm_pair{b, b}, wasm_pair{c, c})[0];
}
#else
inline __attribute__((noinline)) double wasm_fma(double a, double b, double c) {
    double const sum = __builtin_fma(a, b, c), half = c * 0x1p-54;
    unsigned long long bits;
    __builtin_memcpy(&bits, &c, sizeof bits);
    if (sum != c || bits << 12 != 0) return sum;  // c is a power of two
    double const excess = __builtin_fma(a, b, half);
    return (c > 0.0 ? excess < 0.0 : excess > 0.0) ? c - 2.0 * half : sum;
}
#endif
#define __builtin_fma wasm_fma

// A page has to be small: what is long and called in many places is written out once.
#define SHARED inline __attribute__((noinline))

extern "C" double tribosweep_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
