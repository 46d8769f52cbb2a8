// `real` and `mask` as in kernels/portable.h, but slow, and every operation counts itself: once for
// each vector of a pack, as the machine would carry it out.
#pragma once

using int64 = long long;
using int32 = int;
using uint8 = unsigned char;

#define HD inline

HD double missing() { return __builtin_nan(""); }
template <class T> HD T stored_value(bool ok, double value, T missing_value) {
    return ok && value == value ? (T)value : missing_value;
}

constexpr int lanes = SWEEP_WIDTH * SWEEP_PACK;

enum Kind { sum, product, fused, quotient, root, comparison, choice, logic, kinds };
static int64 counts[kinds];
extern "C" int64* tribosweep_counts() { return counts; }
static int counted = SWEEP_PACK;  // vectors that an operation is carried out for
inline void count(Kind kind) { counts[kind] += counted; }
// With AVX-512 masks have registers of their own, and most are joined by the comparisons themselves.
inline void count_of_masks() {
    if (SWEEP_WIDTH < 8) count(logic);
}

#define LANES(statement) \
    for (int i = 0; i < lanes; ++i) statement;

struct mask {
    bool on[lanes];
    mask() = default;
    mask(bool all) { LANES(on[i] = all) }
};

struct real {
    double at[lanes];
    real() = default;
    real(double value) { LANES(at[i] = value) }
};

#define BINARY(result, argument, kind, op, field)       \
    inline result operator op(argument a, argument b) { \
        count(kind);                                    \
        result c;                                       \
        LANES(c.field[i] = a.at[i] op b.at[i])          \
        return c;                                       \
    }
BINARY(real, real, sum, +, at)
BINARY(real, real, sum, -, at)
BINARY(real, real, product, *, at)
BINARY(real, real, quotient, /, at)
BINARY(mask, real, comparison, <, on)
BINARY(mask, real, comparison, <=, on)
BINARY(mask, real, comparison, >, on)
BINARY(mask, real, comparison, >=, on)
BINARY(mask, real, comparison, ==, on)
BINARY(mask, real, comparison, !=, on)
#undef BINARY

inline real operator-(real a) {
    count(logic);
    LANES(a.at[i] = -a.at[i])
    return a;
}
inline real& operator+=(real& a, real b) { return a = a + b; }
inline real& operator-=(real& a, real b) { return a = a - b; }
inline real& operator*=(real& a, real b) { return a = a * b; }

inline mask operator&(mask a, mask b) {
    count_of_masks();
    LANES(a.on[i] = a.on[i] & b.on[i])
    return a;
}
inline mask operator|(mask a, mask b) {
    count_of_masks();
    LANES(a.on[i] = a.on[i] | b.on[i])
    return a;
}
inline mask operator~(mask a) {
    count_of_masks();
    LANES(a.on[i] = !a.on[i])
    return a;
}
inline real fma(real a, real b, real c) {
    count(fused);
    LANES(c.at[i] = __builtin_fma(a.at[i], b.at[i], c.at[i]))
    return c;
}
inline real sqrt(real a) {
    count(root);
    LANES(a.at[i] = __builtin_sqrt(a.at[i]))
    return a;
}
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline real times_sign(real a, real b) {
    count(logic);
    LANES(a.at[i] = __builtin_signbit(b.at[i]) ? -a.at[i] : a.at[i])
    return a;
}
inline real negate_if_odd(real a, real b) {
    count(logic);
    count(logic);
    LANES(a.at[i] = (__builtin_bit_cast(unsigned long long, b.at[i]) & 1) ? -a.at[i] : a.at[i])
    return a;
}
inline real abs(real a) {
    count(logic);
    LANES(a.at[i] = __builtin_fabs(a.at[i]))
    return a;
}
inline real select(mask m, real a, real b) {
    count(choice);
    LANES(b.at[i] = m.on[i] ? a.at[i] : b.at[i])
    return b;
}
inline real least(real a, real b) {
    count(choice);
    LANES(b.at[i] = a.at[i] < b.at[i] ? a.at[i] : b.at[i])
    return b;
}
inline real greatest(real a, real b) {
    count(choice);
    LANES(b.at[i] = a.at[i] > b.at[i] ? a.at[i] : b.at[i])
    return b;
}
inline real positive(real a) {
    count(choice);
    LANES(a.at[i] = a.at[i] > 0.0 ? a.at[i] : 0.0)
    return a;
}
inline real clamped(real a, real limit) {
    count(choice);
    count(choice);
    LANES(a.at[i] = a.at[i] > limit.at[i]    ? limit.at[i]
                    : a.at[i] < -limit.at[i] ? -limit.at[i]
                                             : a.at[i])
    return a;
}
inline bool any(mask m) {
    count(logic);
    bool found = false;
    LANES(found |= m.on[i])
    return found;
}
// A pack counts as one vector here: what is computed of one for all vectors would count as often as
// there are.
constexpr int vectors = 1;
template <int k> real vector_of(real a) { return a; }
template <int k> void set_vector(real& a, real b) { a = b; }
struct SetAll {
    void operator()(real& a, real const& b) const { a = b; }
};
template <class Work> void where_any(mask wanted, Work const& work) {
    count(logic);
    counted = 0;
    for (int k = 0; k < SWEEP_PACK; ++k) {
        bool found = false;
        for (int i = 0; i < SWEEP_WIDTH; ++i) found |= wanted.on[k * SWEEP_WIDTH + i];
        counted += found;
    }
    if (counted) work(SetAll{});
    counted = SWEEP_PACK;
}
inline double lane(real const& a, int i) { return a.at[i]; }
inline void set_lane(real& a, int i, double value) { a.at[i] = value; }
inline real exp2_whole(real k) {
    count(sum);
    count(logic);
    LANES(k.at[i] = __builtin_ldexp(1.0, (int)k.at[i]))
    return k;
}
inline real exponent(real a) {
    count(logic);
    count(sum);
    LANES(a.at[i] = __builtin_ilogb(a.at[i]))
    return a;
}
inline real significand(real a) {
    count(logic);
    LANES(a.at[i] = __builtin_ldexp(a.at[i], -__builtin_ilogb(a.at[i])))
    return a;
}
#undef LANES
