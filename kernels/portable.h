// Where a kernel runs, and on how many points at once: the only file that asks.
//
// A kernel is written for one point with `real` and `mask`. On a GPU these are double and bool, one
// point a thread. On a CPU each holds SWEEP_PACK vectors of SWEEP_WIDTH doubles, so that several
// vectors are in flight at once. Every operation is one correctly rounded IEEE operation per lane,
// so a point's result depends neither on the width nor on its neighbours.
//
// Use select(mask, a, b), never ?: on a real and never `if` on a mask; any(mask) to leave a loop.
#pragma once

using int64 = long long;
using int32 = int;
using uint8 = unsigned char;

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define HD __device__ __forceinline__

constexpr int lanes = 1;
using real = double;
using mask = bool;

HD real fma(real a, real b, real c) { return __fma_rn(a, b, c); }
HD real sqrt(real a) { return __dsqrt_rn(a); }
HD real abs(real a) { return __longlong_as_double(__double_as_longlong(a) & 0x7fffffffffffffffLL); }
HD real select(mask m, real a, real b) { return m ? a : b; }
HD bool any(mask m) { return m; }
HD real lane(real a, int) { return a; }
HD void set_lane(real& a, int, double value) { a = value; }
// 2^k for a whole k from -1022 to 1023.
HD real exp2_whole(real k) { return __longlong_as_double(((long long)k + 1023) << 52); }

#else

#define HD inline __attribute__((always_inline))

#ifndef SWEEP_WIDTH
#if defined(__AVX512F__)
#define SWEEP_WIDTH 8
#elif defined(__AVX2__)
#define SWEEP_WIDTH 4
#else
#define SWEEP_WIDTH 2
#endif
#endif
#ifndef SWEEP_PACK
#define SWEEP_PACK 4
#endif

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

constexpr int lanes = SWEEP_WIDTH * SWEEP_PACK;

#if SWEEP_WIDTH == 1
using vec = double;
using vec_mask = bool;
using vec_bits = long long;
HD vec vec_of(double a) { return a; }
HD bool vec_any(vec_mask m) { return m; }
HD vec_mask vec_not(vec_mask m) { return !m; }
HD double vec_lane(vec const& a, int) { return a; }
HD vec_bits bits_of(vec a) { return __builtin_bit_cast(vec_bits, a); }
HD vec from_bits(vec_bits a) { return __builtin_bit_cast(vec, a); }
#else
typedef double vec __attribute__((vector_size(SWEEP_WIDTH * 8)));
typedef long long vec_bits __attribute__((vector_size(SWEEP_WIDTH * 8)));
using vec_mask = decltype(vec{} < vec{});
HD vec vec_of(double a) { return a - vec{}; }
HD bool vec_any(vec_mask m) {
#if SWEEP_WIDTH == 8 && defined(__AVX512F__)
    return _mm512_test_epi64_mask((__m512i)m, (__m512i)m) != 0;
#elif SWEEP_WIDTH == 4 && defined(__AVX__)
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#else
    long long found = 0;
    for (int i = 0; i < SWEEP_WIDTH; ++i) found |= (long long)m[i];
    return found != 0;
#endif
}
HD vec_mask vec_not(vec_mask m) { return ~m; }
HD double vec_lane(vec const& a, int i) { return a[i]; }
HD vec_bits bits_of(vec a) { return (vec_bits)a; }
HD vec from_bits(vec_bits a) { return (vec)a; }
#endif

// g++ takes a fused multiply-add or a root of a whole vector only as an intrinsic.
HD vec vec_fma(vec a, vec b, vec c) {
#if SWEEP_WIDTH == 8 && defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, c);
#elif SWEEP_WIDTH == 4 && defined(__FMA__)
    return _mm256_fmadd_pd(a, b, c);
#elif SWEEP_WIDTH == 2 && defined(__FMA__)
    return _mm_fmadd_pd(a, b, c);
#elif SWEEP_WIDTH == 2 && defined(__aarch64__)
    return (vec)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#elif SWEEP_WIDTH == 1
    return __builtin_fma(a, b, c);
#else
    vec result = c;
    for (int i = 0; i < SWEEP_WIDTH; ++i) result[i] = __builtin_fma(a[i], b[i], c[i]);
    return result;
#endif
}

HD vec vec_sqrt(vec a) {
#if SWEEP_WIDTH == 8 && defined(__AVX512F__)
    return _mm512_sqrt_pd(a);
#elif SWEEP_WIDTH == 4 && defined(__AVX__)
    return _mm256_sqrt_pd(a);
#elif SWEEP_WIDTH == 2 && defined(__AVX__)
    return _mm_sqrt_pd(a);
#elif SWEEP_WIDTH == 1
    return __builtin_sqrt(a);
#else
    vec result = a;
    for (int i = 0; i < SWEEP_WIDTH; ++i) result[i] = __builtin_sqrt(a[i]);
    return result;
#endif
}

// The statement for each vector i of a pack, written out: g++ keeps a pack in registers only where no
// loop indexes it.
#define FOR(k, ...)          \
    {                        \
        constexpr int i = k; \
        __VA_ARGS__;         \
    }
#if SWEEP_PACK == 1
#define EACH(...) FOR(0, __VA_ARGS__)
#elif SWEEP_PACK == 2
#define EACH(...) FOR(0, __VA_ARGS__) FOR(1, __VA_ARGS__)
#elif SWEEP_PACK == 3
#define EACH(...) FOR(0, __VA_ARGS__) FOR(1, __VA_ARGS__) FOR(2, __VA_ARGS__)
#elif SWEEP_PACK == 4
#define EACH(...) FOR(0, __VA_ARGS__) FOR(1, __VA_ARGS__) FOR(2, __VA_ARGS__) FOR(3, __VA_ARGS__)
#else
#error "SWEEP_PACK is 1, 2, 3 or 4"
#endif

struct mask {
    vec_mask part[SWEEP_PACK];

    mask() = default;
    HD mask(bool all) { EACH(part[i] = all ? vec{} == vec{} : vec{} != vec{}) }
    HD friend mask operator&(mask a, mask b) {
        EACH(a.part[i] = a.part[i] & b.part[i])
        return a;
    }
    HD friend mask operator|(mask a, mask b) {
        EACH(a.part[i] = a.part[i] | b.part[i])
        return a;
    }
    HD friend mask operator~(mask a) {
        EACH(a.part[i] = vec_not(a.part[i]))
        return a;
    }
};

struct real {
    vec part[SWEEP_PACK];

    real() = default;
    HD real(double value) { EACH(part[i] = vec_of(value)) }

    HD friend real operator-(real a) {
        EACH(a.part[i] = -a.part[i])
        return a;
    }
    HD friend real operator+(real a, real b) {
        EACH(a.part[i] = a.part[i] + b.part[i])
        return a;
    }
    HD friend real operator-(real a, real b) {
        EACH(a.part[i] = a.part[i] - b.part[i])
        return a;
    }
    HD friend real operator*(real a, real b) {
        EACH(a.part[i] = a.part[i] * b.part[i])
        return a;
    }
    HD friend real operator/(real a, real b) {
        EACH(a.part[i] = a.part[i] / b.part[i])
        return a;
    }
    HD real& operator+=(real b) { return *this = *this + b; }
    HD real& operator-=(real b) { return *this = *this - b; }
    HD real& operator*=(real b) { return *this = *this * b; }

#define COMPARISON(op)                           \
    HD friend mask operator op(real a, real b) { \
        mask m;                                  \
        EACH(m.part[i] = a.part[i] op b.part[i]) \
        return m;                                \
    }
    COMPARISON(<)
    COMPARISON(<=)
    COMPARISON(>)
    COMPARISON(>=)
    COMPARISON(==)
    COMPARISON(!=)
#undef COMPARISON
};

HD real fma(real a, real b, real c) {
    EACH(c.part[i] = vec_fma(a.part[i], b.part[i], c.part[i]))
    return c;
}
HD real sqrt(real a) {
    EACH(a.part[i] = vec_sqrt(a.part[i]))
    return a;
}
HD real abs(real a) {
    EACH(a.part[i] = from_bits(bits_of(a.part[i]) & 0x7fffffffffffffffLL))
    return a;
}
HD real select(mask m, real a, real b) {
    EACH(b.part[i] = m.part[i] ? a.part[i] : b.part[i])
    return b;
}
HD bool any(mask m) {
    vec_mask found = m.part[0];
    EACH(found = found | m.part[i])
    return vec_any(found);
}
HD double lane(real const& a, int i) { return vec_lane(a.part[i / SWEEP_WIDTH], i % SWEEP_WIDTH); }
HD void set_lane(real& a, int i, double value) {
#if SWEEP_WIDTH == 1
    a.part[i] = value;
#else
    a.part[i / SWEEP_WIDTH][i % SWEEP_WIDTH] = value;
#endif
}
// 2^k for a whole k from -1022 to 1023: adding 2^52 + 1023 leaves k + 1023 in the low bits.
HD real exp2_whole(real k) {
    EACH(k.part[i] = from_bits(bits_of(k.part[i] + (4503599627370496.0 + 1023.0)) << 52))
    return k;
}

#undef EACH
#undef FOR

#endif

// a where it is the smaller, else b; a NaN in b wins.
HD real least(real a, real b) { return select(a < b, a, b); }
HD real greatest(real a, real b) { return select(a > b, a, b); }

// The nearest whole number (ties to even) for |a| < 2^51.
HD real nearest(real a) {
    real shifted = a + 6755399441055744.0;
    return shifted - 6755399441055744.0;
}
HD real floor(real a) {
    real whole = nearest(a);
    return select(whole > a, whole - 1.0, whole);
}

constexpr double pi = 3.141592653589793116;
constexpr double two_pi = 6.283185307179586232;
