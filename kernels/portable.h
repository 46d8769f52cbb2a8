// Where a kernel runs, and on how many points at once: the only file that depends on it.
//
// A kernel is written for one point, on `real` and `mask`. Each holds SWEEP_PACK vectors of SWEEP_WIDTH
// doubles, so that several vectors are in flight at once; on a GPU a vector is one double. Every
// operation is one correctly rounded IEEE operation per lane, so the result of a point depends neither
// on the width nor on its neighbours.
//
// Use select(mask, a, b) instead of ?: on a real or `if` on a mask, and any(mask) to leave a loop.
#pragma once

using int64 = long long;
using int32 = int;
using uint8 = unsigned char;

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define HD __device__ __forceinline__
#define SELDOM HD  // rarely called, and long: no part of what calls it
#define SWEEP_GPU
#define SWEEP_WIDTH 1
#ifndef SWEEP_PACK
#define SWEEP_PACK 1
#endif

HD long long bits_of(double a) { return __double_as_longlong(a); }
HD double from_bits(long long a) { return __longlong_as_double(a); }
HD double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
HD double root(double a) { return __dsqrt_rn(a); }
HD double missing() { return from_bits(0x7ff8000000000000LL); }  // an output that is not written

#else

// Functions are written out where they are called, so that values stay in registers. Without optimization
// each of their values would have a place of its own on the stack: megabytes, more than a thread has.
#ifdef __OPTIMIZE__
#define HD inline __attribute__((always_inline))
#else
#define HD inline
#endif
#define SELDOM static __attribute__((noinline))

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

#if SWEEP_WIDTH == 1
HD long long bits_of(double a) { return __builtin_bit_cast(long long, a); }
HD double from_bits(long long a) { return __builtin_bit_cast(double, a); }
#endif
HD double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
HD double root(double a) { return __builtin_sqrt(a); }
HD double missing() { return __builtin_nan(""); }  // an output that is not written
HD double fma(double a, double b, double c) { return fused(a, b, c); }  // CUDA has its own

#endif

// The stored value of an output. NaN has no integer value; it is stored as missing.
template <class T> HD T stored_value(bool ok, double value, T missing_value) {
    return ok && value == value ? (T)value : missing_value;
}

constexpr int lanes = SWEEP_WIDTH * SWEEP_PACK;

#if SWEEP_WIDTH == 1
using vec = double;
using vec_mask = bool;
using vec_bits = long long;
using vec_unsigned = unsigned long long;
HD vec vec_of(double a) { return a; }
HD bool vec_any(vec_mask m) { return m; }
HD vec_mask vec_not(vec_mask m) { return !m; }
HD double vec_lane(vec const& a, int) { return a; }
#else
typedef double vec __attribute__((vector_size(SWEEP_WIDTH * 8)));
typedef long long vec_bits __attribute__((vector_size(SWEEP_WIDTH * 8)));
typedef unsigned long long vec_unsigned __attribute__((vector_size(SWEEP_WIDTH * 8)));
#if SWEEP_WIDTH == 8 && defined(__AVX512F__)
#define SWEEP_MASK_REGISTERS  // otherwise g++ keeps masks as vectors of numbers
using vec_mask = __mmask8;
#else
using vec_mask = decltype(vec{} < vec{});
#endif
HD vec vec_of(double a) { return a - vec{}; }
HD bool vec_any(vec_mask m) {
#if SWEEP_WIDTH == 8 && defined(__AVX512F__)
    return m != 0;
#elif SWEEP_WIDTH == 4 && defined(__AVX__)
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#else
    long long found = 0;
    for (int i = 0; i < SWEEP_WIDTH; ++i) found |= (long long)m[i];
    return found != 0;
#endif
}
HD vec_mask vec_not(vec_mask m) { return (vec_mask)~m; }
HD double vec_lane(vec const& a, int i) { return a[i]; }
HD vec_bits bits_of(vec a) { return (vec_bits)a; }
HD vec from_bits(vec_bits a) { return (vec)a; }
#endif

// Without the sign, whose bits C++17 does not shift out.
HD vec_bits shifted_left(vec_bits a, int bits) { return (vec_bits)((vec_unsigned)a << bits); }

HD vec_mask vec_all(bool all) {
#ifdef SWEEP_MASK_REGISTERS
    return all ? 0xff : 0;
#else
    return all ? vec{} == vec{} : vec{} != vec{};
#endif
}
HD vec vec_select(vec_mask m, vec a, vec b) {
#ifdef SWEEP_MASK_REGISTERS
    return _mm512_mask_blend_pd(m, b, a);
#else
    return m ? a : b;
#endif
}

// g++ emits a fused multiply-add or square root of a whole vector only for an intrinsic.
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
    return fused(a, b, c);
#else
    vec result = c;
    for (int i = 0; i < SWEEP_WIDTH; ++i) result[i] = fused(a[i], b[i], c[i]);
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
    return root(a);
#else
    vec result = a;
    for (int i = 0; i < SWEEP_WIDTH; ++i) result[i] = root(a[i]);
    return result;
#endif
}

constexpr long long sign_bit = (long long)0x8000000000000000ULL;

// A GPU's instructions take the absolute value of an operand at no cost, if it is written as such.
HD vec vec_abs(vec a) {
#ifdef SWEEP_GPU
    return abs(a);
#else
    return from_bits(bits_of(a) & ~sign_bit);
#endif
}

// a if it is smaller (or greater), otherwise b, as the machine instruction does. g++ recognizes the
// comparison as that instruction only in some places.
HD vec vec_least(vec a, vec b) {
#if SWEEP_WIDTH == 8 && defined(__AVX512F__)
    return _mm512_min_pd(a, b);
#elif SWEEP_WIDTH == 4 && defined(__AVX__)
    return _mm256_min_pd(a, b);
#elif SWEEP_WIDTH == 2 && defined(__AVX__)
    return _mm_min_pd(a, b);
#else
    return a < b ? a : b;
#endif
}
HD vec vec_greatest(vec a, vec b) {
#if SWEEP_WIDTH == 8 && defined(__AVX512F__)
    return _mm512_max_pd(a, b);
#elif SWEEP_WIDTH == 4 && defined(__AVX__)
    return _mm256_max_pd(a, b);
#elif SWEEP_WIDTH == 2 && defined(__AVX__)
    return _mm_max_pd(a, b);
#else
    return a > b ? a : b;
#endif
}

// a, or where it is outside -limit to limit the nearer one of them. For limit < 0 a GPU gives other bits.
HD vec vec_clamped(vec a, vec limit) {
#ifdef SWEEP_GPU  // which has no instruction for the lesser or greater of two doubles
    return vec_abs(a) > limit ? from_bits(bits_of(limit) ^ (bits_of(a) & sign_bit)) : a;
#else
    return vec_greatest(-limit, vec_least(limit, a));
#endif
}

// a where it is above 0, otherwise 0. What a GPU has in place of a maximum takes twice as many
// instructions as a comparison with the least double above 0.
HD vec vec_positive(vec a) {
#ifdef SWEEP_GPU
    return a >= 4.9406564584124654e-324 ? a : 0.0;
#else
    return vec_greatest(a, vec{});
#endif
}

// The statement for each vector i of a pack, written out, because g++ keeps a pack in registers only if
// no loop indexes it.
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
    HD mask(mask const& a) { EACH(part[i] = a.part[i]) }
    HD mask& operator=(mask const& a) {
        EACH(part[i] = a.part[i])
        return *this;
    }
    HD mask(bool all) { EACH(part[i] = vec_all(all)) }
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
    // Written out, because g++ copies large structs of plain fields by memcpy.
    HD real(real const& a) { EACH(part[i] = a.part[i]) }
    HD real& operator=(real const& a) {
        EACH(part[i] = a.part[i])
        return *this;
    }
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

#ifdef SWEEP_MASK_REGISTERS
#define COMPARE(a, op, b, predicate) _mm512_cmp_pd_mask(a, b, predicate)
#else
#define COMPARE(a, op, b, predicate) (a) op(b)
#endif
#define COMPARISON(op, predicate)                                      \
    HD friend mask operator op(real a, real b) {                       \
        mask m;                                                        \
        EACH(m.part[i] = COMPARE(a.part[i], op, b.part[i], predicate)) \
        return m;                                                      \
    }
    COMPARISON(<, _CMP_LT_OQ)
    COMPARISON(<=, _CMP_LE_OQ)
    COMPARISON(>, _CMP_GT_OQ)
    COMPARISON(>=, _CMP_GE_OQ)
    COMPARISON(==, _CMP_EQ_OQ)
    COMPARISON(!=, _CMP_NEQ_UQ)
#undef COMPARE
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
// a with its sign flipped where b is negative.
HD real times_sign(real a, real b) {
    EACH(a.part[i] = from_bits(bits_of(a.part[i]) ^ (bits_of(b.part[i]) & sign_bit)))
    return a;
}
// a, or -a where the last bit of b is set: b = 1.5 * 2^52 + n with an odd integer n.
HD real negate_if_odd(real a, real b) {
    EACH(a.part[i] = from_bits(bits_of(a.part[i]) ^ shifted_left(bits_of(b.part[i]), 63)))
    return a;
}
HD real abs(real a) {
    EACH(a.part[i] = vec_abs(a.part[i]))
    return a;
}
HD real least(real a, real b) {
    EACH(b.part[i] = vec_least(a.part[i], b.part[i]))
    return b;
}
HD real greatest(real a, real b) {
    EACH(b.part[i] = vec_greatest(a.part[i], b.part[i]))
    return b;
}
HD real positive(real a) {
    EACH(a.part[i] = vec_positive(a.part[i]))
    return a;
}
HD real clamped(real a, real limit) {
    EACH(a.part[i] = vec_clamped(a.part[i], limit.part[i]))
    return a;
}
HD real select(mask m, real a, real b) {
    EACH(b.part[i] = vec_select(m.part[i], a.part[i], b.part[i]))
    return b;
}
HD bool any(mask m) {
    vec_mask found = m.part[0];
    EACH(found = (vec_mask)(found | m.part[i]))
    return vec_any(found);
}
// One vector of a pack. The others are zero, so compilers leave out what is computed of them.
constexpr int vectors = SWEEP_PACK;
template <int k> HD real vector_of(real a) {
    EACH(a.part[i] = i == k ? a.part[i] : vec_of(0.0))
    return a;
}
template <int k> HD void set_vector(real& a, real b) { a.part[k] = b.part[k]; }
// Work that only the lanes of `wanted` need, for one vector of a pack at a time, and not for vectors that
// have no such lane: in `work`, set(a, b) copies the vector of b to a.
template <int k> struct SetVector {
    HD void operator()(real& a, real const& b) const { a.part[k] = b.part[k]; }
};
template <int k = 0, class Work> HD void where_any(mask wanted, Work const& work) {
    if (vec_any(wanted.part[k])) work(SetVector<k>{});
    if constexpr (k + 1 < vectors) where_any<k + 1>(wanted, work);
}
HD double lane(real const& a, int i) { return vec_lane(a.part[i / SWEEP_WIDTH], i % SWEEP_WIDTH); }
HD void set_lane(real& a, int i, double value) {
#if SWEEP_WIDTH == 1
    a.part[i] = value;
#else
    a.part[i / SWEEP_WIDTH][i % SWEEP_WIDTH] = value;
#endif
}
// 2^k for integer k from -1022 to 1023: adding 2^52 + 1023 leaves k + 1023 in the low bits.
HD real exp2_whole(real k) {
    EACH(k.part[i] =
             from_bits(shifted_left(bits_of(k.part[i] + (4503599627370496.0 + 1023.0)), 52)))
    return k;
}
// For normal a = 2^k m > 0: the integer k, from the bits of 2^52 + k + 1023, and m in [1, 2).
HD real exponent(real a) {
    EACH(a.part[i] = from_bits((bits_of(a.part[i]) >> 52) | 0x4330000000000000LL) -
                     (4503599627370496.0 + 1023.0))
    return a;
}
HD real significand(real a) {
    EACH(a.part[i] = from_bits((bits_of(a.part[i]) & 0x000fffffffffffffLL) | 0x3ff0000000000000LL))
    return a;
}

#undef EACH
#undef FOR

// The nearest integer (ties to even) for |a| < 2^51.
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
