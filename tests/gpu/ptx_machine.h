// The instructions of PTX that the kernels use, after NVIDIA's "PTX ISA", chapter 9.
//
// A register holds its bits, those above its width 0; a predicate is a bool. An instruction that is
// not here does not compile. Where x86 and a GPU differ this is the GPU: shifts by more than a
// register has bits, conversions out of range, NaN.

#ifdef __clang__  // optimizing is most of the time that thousands of lines take
#pragma clang optimize off
#else
#pragma GCC optimize("O0")
#endif

#include <cmath>
#include <cstdint>
#include <cstring>

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

struct Index {
    u32 x;
};
static thread_local Index blockIdx, blockDim, threadIdx;

static inline double f(u64 bits) { return __builtin_bit_cast(double, bits); }
// What arithmetic gives. A GPU's NaN has a payload that comes from operands; here all become one that
// x86 never makes, so that a kernel to which sign or payload mattered would differ from the CPU's.
static inline u64 result(double value) {
    return std::isnan(value) ? 0x7fffffffffffffff : __builtin_bit_cast(u64, value);
}

// Doubles.

static inline u64 add_rn_f64(u64 a, u64 b) { return result(f(a) + f(b)); }
static inline u64 sub_rn_f64(u64 a, u64 b) { return result(f(a) - f(b)); }
static inline u64 mul_rn_f64(u64 a, u64 b) { return result(f(a) * f(b)); }
static inline u64 div_rn_f64(u64 a, u64 b) { return result(f(a) / f(b)); }
static inline u64 rcp_rn_f64(u64 a) { return result(1.0 / f(a)); }
static inline u64 sqrt_rn_f64(u64 a) { return result(__builtin_sqrt(f(a))); }
static inline u64 fma_rn_f64(u64 a, u64 b, u64 c) {
    return result(__builtin_fma(f(a), f(b), f(c)));
}
static inline u64 neg_f64(u64 a) { return a ^ 0x8000000000000000; }
static inline u64 abs_f64(u64 a) { return a & 0x7fffffffffffffff; }

// The lesser of -0 and +0 is -0; of a number and NaN both have the number.
static inline u64 min_f64(u64 a, u64 b) {
    if (std::isnan(f(a))) return result(f(b));
    if (std::isnan(f(b))) return a;
    if (f(a) == f(b)) return a | b;
    return f(a) < f(b) ? a : b;
}
static inline u64 max_f64(u64 a, u64 b) {
    if (std::isnan(f(a))) return result(f(b));
    if (std::isnan(f(b))) return a;
    if (f(a) == f(b)) return a & b;
    return f(a) < f(b) ? b : a;
}

// Comparisons: eq, ne, lt, le, gt, ge are false of NaN, and their twins with u are true of it.

static inline bool setp_num_f64(u64 a, u64 b) { return !std::isnan(f(a)) && !std::isnan(f(b)); }
static inline bool setp_nan_f64(u64 a, u64 b) { return !setp_num_f64(a, b); }
#define OF_DOUBLES(name, op)                              \
    static inline bool setp_##name##_f64(u64 a, u64 b) {  \
        return setp_num_f64(a, b) && f(a) op f(b);        \
    }                                                     \
    static inline bool setp_##name##u_f64(u64 a, u64 b) { \
        return setp_nan_f64(a, b) || f(a) op f(b);        \
    }
OF_DOUBLES(eq, ==)
OF_DOUBLES(ne, !=)
OF_DOUBLES(lt, <)
OF_DOUBLES(le, <=)
OF_DOUBLES(gt, >)
OF_DOUBLES(ge, >=)

#define COMPARED(name, op, kind, type) \
    static inline bool setp_##name##_##kind(u64 a, u64 b) { return (type)a op(type) b; }
#define COMPARISONS(kind, type)  \
    COMPARED(eq, ==, kind, type) \
    COMPARED(ne, !=, kind, type) \
    COMPARED(lt, <, kind, type)  \
    COMPARED(le, <=, kind, type) \
    COMPARED(gt, >, kind, type)  \
    COMPARED(ge, >=, kind, type)
COMPARISONS(s16, i16)
COMPARISONS(u16, u16)
COMPARISONS(b16, u16)
COMPARISONS(s32, i32)
COMPARISONS(u32, u32)
COMPARISONS(b32, u32)
COMPARISONS(s64, i64)
COMPARISONS(u64, u64)
COMPARISONS(b64, u64)

// Integers: what does not fit wraps around. What a division by zero gives is left open.

#define INTEGERS(width, u, i)                                                                  \
    static inline u64 add_s##width(u64 a, u64 b) { return (u)(a + b); }                        \
    static inline u64 add_u##width(u64 a, u64 b) { return (u)(a + b); }                        \
    static inline u64 sub_s##width(u64 a, u64 b) { return (u)(a - b); }                        \
    static inline u64 mul_lo_s##width(u64 a, u64 b) { return (u)(a * b); }                     \
    static inline u64 mad_lo_s##width(u64 a, u64 b, u64 c) { return (u)(a * b + c); }          \
    static inline u64 div_u##width(u64 a, u64 b) { return (u)a / (u)b; }                       \
    static inline u64 rem_u##width(u64 a, u64 b) { return (u)a % (u)b; }                       \
    static inline u64 div_s##width(u64 a, u64 b) {                                             \
        return (i)b == -1 ? (u)(0 - a) : (u)((i)a / (i)b);                                     \
    }                                                                                          \
    static inline u64 rem_s##width(u64 a, u64 b) { return (i)b == -1 ? 0 : (u)((i)a % (i)b); } \
    static inline u64 min_s##width(u64 a, u64 b) { return (i)a < (i)b ? (u)a : (u)b; }         \
    static inline u64 max_s##width(u64 a, u64 b) { return (i)a < (i)b ? (u)b : (u)a; }         \
    static inline u64 min_u##width(u64 a, u64 b) { return (u)a < (u)b ? (u)a : (u)b; }         \
    static inline u64 max_u##width(u64 a, u64 b) { return (u)a < (u)b ? (u)b : (u)a; }         \
    static inline u64 neg_s##width(u64 a) { return (u)(0 - a); }                               \
    static inline u64 not_b##width(u64 a) { return (u)~a; }                                    \
    static inline u64 and_b##width(u64 a, u64 b) { return (u)(a & b); }                        \
    static inline u64 or_b##width(u64 a, u64 b) { return (u)(a | b); }                         \
    static inline u64 xor_b##width(u64 a, u64 b) { return (u)(a ^ b); }                        \
    static inline u64 shl_b##width(u64 a, u64 n) { return (u32)n < width ? (u)(a << n) : 0; }  \
    static inline u64 shr_u##width(u64 a, u64 n) { return (u32)n < width ? (u)a >> n : 0; }    \
    static inline u64 shr_s##width(u64 a, u64 n) {                                             \
        return (u)((i)a >> ((u32)n < width ? (u32)n : width - 1));                             \
    }
INTEGERS(16, u16, i16)
INTEGERS(32, u32, i32)
INTEGERS(64, u64, i64)
static inline u64 mul_hi_s64(u64 a, u64 b) { return (u64)((__int128)(i64)a * (i64)b >> 64); }
static inline u64 mul_hi_u64(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
static inline u64 mul_wide_u32(u64 a, u64 b) { return (u64)(u32)a * (u32)b; }
static inline u64 mul_wide_s32(u64 a, u64 b) { return (u64)((i64)(i32)a * (i32)b); }

// So many bits from a place on, 0 beyond the last; of both numbers a byte counts.
static inline u64 bfe_u32(u64 a, u64 place, u64 length) {
    u64 first = place & 255, bits = length & 255;
    u64 field = first < 32 ? (u32)a >> first : 0;
    return bits < 32 ? field & ((1ULL << bits) - 1) : field;
}

// Each nibble of `choice` takes one of the eight bytes of b and a; its top bit spreads that's sign.
static inline u64 prmt_b32(u64 a, u64 b, u64 choice) {
    u64 bytes = (u32)a | b << 32, made = 0;
    for (int i = 0; i < 4; ++i) {
        u64 nibble = choice >> 4 * i & 15, byte = bytes >> 8 * (nibble & 7) & 255;
        if (nibble & 8) byte = byte & 128 ? 255 : 0;
        made |= byte << 8 * i;
    }
    return made;
}

// Conversions. A double goes toward zero and to the nearest that the integer has.

static inline u64 cvt_rn_f64_s64(u64 a) { return result((double)(i64)a); }
static inline u64 cvt_rn_f64_u64(u64 a) { return result((double)a); }
static inline u64 cvt_rn_f64_s32(u64 a) { return result((double)(i32)a); }
static inline u64 cvt_rn_f64_u32(u64 a) { return result((double)(u32)a); }
static inline u64 cvt_rzi_s64_f64(u64 a) {
    if (std::isnan(f(a))) return 0x8000000000000000;
    if (f(a) >= 0x1p63) return 0x7fffffffffffffff;
    return f(a) <= -0x1p63 ? 0x8000000000000000 : (u64)(i64)f(a);
}
static inline u64 cvt_rzi_s32_f64(u64 a) {
    if (std::isnan(f(a))) return 0x80000000;
    if (f(a) >= 0x1p31) return 0x7fffffff;
    return f(a) <= -0x1p31 ? 0x80000000 : (u32)(i32)f(a);
}
static inline u64 cvt_rzi_u32_f64(u64 a) {
    if (std::isnan(f(a))) return 0x80000000;
    if (f(a) >= 0x1p32) return 0xffffffff;
    return f(a) <= 0 ? 0 : (u64)f(a);
}
static inline u64 cvt_rmi_f64_f64(u64 a) { return result(__builtin_floor(f(a))); }
static inline u64 cvt_s64_s32(u64 a) { return (u64)(i64)(i32)a; }
static inline u64 cvt_u16_u32(u64 a) { return (u16)a; }
static inline u64 cvt_u16_u64(u64 a) { return (u16)a; }
static inline u64 cvt_u32_u16(u64 a) { return (u16)a; }
static inline u64 cvt_u32_u64(u64 a) { return (u32)a; }
static inline u64 cvt_u64_u16(u64 a) { return (u16)a; }
static inline u64 cvt_u64_u32(u64 a) { return (u32)a; }

// Moves and selections.

#define MOVED(kind, type)                                   \
    static inline u64 mov_##kind(u64 a) { return (type)a; } \
    static inline u64 selp_##kind(u64 a, u64 b, bool chosen) { return (type)(chosen ? a : b); }
MOVED(b16, u16)
MOVED(u16, u16)
MOVED(b32, u32)
MOVED(u32, u32)
MOVED(b64, u64)
MOVED(u64, u64)
MOVED(f64, u64)
static inline bool mov_pred(bool a) { return a; }
static inline bool not_pred(bool a) { return !a; }
static inline bool and_pred(bool a, bool b) { return a && b; }
static inline bool or_pred(bool a, bool b) { return a || b; }
static inline bool xor_pred(bool a, bool b) { return a != b; }
static inline u64 cvta_to_global_u64(u64 a) { return a; }
static inline u64 cvta_to_local_u64(u64 a) { return a; }
static inline u64 cvta_local_u64(u64 a) { return a; }

// Memory: one for all spaces.

template <typename T> static inline u64 loaded(u64 address) {
    T value;
    std::memcpy(&value, (void const*)address, sizeof value);
    return value;
}
template <typename T> static inline void store(u64 address, u64 bits) {
    T value = (T)bits;
    std::memcpy((void*)address, &value, sizeof value);
}
