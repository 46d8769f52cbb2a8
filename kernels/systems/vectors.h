// Vectors of states. Short loops are unrolled, because g++ keeps vectors in registers only then. Of which lengths
// these are, FEW and LONG, the model's text says.
#pragma once

#include "portable.h"

#ifdef SWEEP_GPU
#define TABLE __device__ constexpr  // constants that are looked up by number
#define UNROLLED _Pragma("unroll")  // so that arrays stay in registers
#ifdef CALLS_EVENTS  // where NVRTC would take minutes; calls make lanes that wait slower
#undef SELDOM
#define SELDOM __device__ __noinline__
#endif
#else
#define TABLE constexpr
#define UNROLLED
#undef SELDOM  // that of portable.h is not for members
#define SELDOM inline __attribute__((noinline, visibility("hidden")))
#endif
#if defined(SWEEP_GPU) || !defined(__OPTIMIZE__)
#define INLINED
#else
#define INLINED __attribute__((always_inline))  // of a short lambda in a long function
#endif
#ifndef SHARED
#define SHARED HD  // long, and called in many places: see portable_wasm.h
#endif

namespace systems {

template <int i> struct Index {
    static constexpr int value = i;
    HD constexpr operator int() const { return i; }
};

// f(Index<i>), f(Index<i + 1>), ... f(Index<n - 1>).
template <int n, int i = 0, class F> HD void each(F const& f) {
    if constexpr (i < n) {
        f(Index<i>{});
        each<n, i + 1>(f);
    }
}

// f(first), ... f(end - 1): of few, with a constant for each, otherwise in a loop over plain numbers, so that
// compilers read f once.
template <int first, int end, bool few, class F> HD void each_between(F const& f) {
    if constexpr (few)
        each<end, first>(f);
    else
        for (int k = first; k < end; ++k) f(k);
}

// A number of which compilers know the value, and one that a loop counts.
template <class Number> constexpr bool is_constant = true;
template <> constexpr bool is_constant<int> = false;

template <int more, int i> HD constexpr Index<more + i> plus(Index<i>) { return {}; }
template <int more> HD constexpr int plus(int i) { return more + i; }

// f(i) for each number of a vector. Where there are more than registers hold, a loop is as fast.
template <int n, class F> HD void each_state(F const& f) { each_between<0, n, (n <= LONG)>(f); }

template <int n> struct Vector {
    real at[n];

    HD real& operator[](int i) { return at[i]; }
    HD real const& operator[](int i) const { return at[i]; }
};
// Has no numbers, but the size of one: states are mixed number by number. What is never set is not copied,
// so that on a GPU it takes no registers.
template <> struct Vector<0> : Vector<1> {
    Vector() = default;
    HD Vector(Vector const&) {}
    HD Vector& operator=(Vector const&) { return *this; }
};

template <int n> struct Masks {
    mask at[n > 0 ? n : 1];

    HD mask& operator[](int i) { return at[i]; }
    HD mask const& operator[](int i) const { return at[i]; }
};

template <int n> HD Vector<n> choose(mask m, Vector<n> const& a, Vector<n> const& b) {
    Vector<n> chosen;
    each_state<n>([&](auto i) { chosen[i] = select(m, a[i], b[i]); });
    return chosen;
}

template <int k, int n> HD Vector<n> vector_of(Vector<n> const& a) {
    Vector<n> one;
    each_state<n>([&](auto i) { one[i] = ::vector_of<k>(a[i]); });
    return one;
}
template <int k, int n> HD void set_vector(Vector<n>& a, Vector<n> const& b) {
    each_state<n>([&](auto i) { ::set_vector<k>(a[i], b[i]); });
}

// c1 x1 + c2 x2 + ... in this order: a scheme gives its slopes in the order in which they become known,
// so that little is left to do when the last of them is.
HD real more(real sum) { return sum; }
template <class... Rest> HD real more(real sum, double c, real x, Rest... rest) {
    return more(fma(c, x, sum), rest...);
}
template <class... Rest> HD real combined(double c, real x, Rest... rest) {
    return more(c * x, rest...);
}

constexpr double largest = 1.7976931348623157e308;

HD real flag(mask m) { return select(m, 1.0, 0.0); }
HD mask is_set(real flag) { return flag != 0.0; }

}  // namespace systems
