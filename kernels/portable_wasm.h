// What stands before portable.h in WebAssembly: its instructions under the names that portable.h uses, so
// that the text of other machines, and its digest, does not depend on this one.
//
// WebAssembly has no fused multiply-add but that of relaxed SIMD, which an engine may round twice. A
// module with it may be used only where tribosweep_fma gives fused results. Without it, __builtin_fma is
// a function that zig adds, which is exact and slow.
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
#define __builtin_fma wasm_fma
#endif

extern "C" double tribosweep_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
