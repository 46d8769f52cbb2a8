// How fast this machine does one kind of vector operation and nothing else: twice SWEEP_PACK vectors
// that do not wait for one another, or four times with AVX-512, which has the registers, `rounds` times
// over. Each returns how many operations it did.
//
// `numbers` holds doubles that the compiler cannot know, other ones for each lane, so that it finds
// no two vectors equal; the result goes to the first.

extern "C" int tribosweep_width() { return SWEEP_WIDTH; }

inline real load(double const*& numbers) {
    real loaded;
    for (int i = 0; i < lanes; ++i) set_lane(loaded, i, *numbers++);
    return loaded;
}

#if SWEEP_WIDTH == 8
constexpr int groups = 2;
#else
constexpr int groups = 1;
#endif

#define RATE(name, ...)                                                     \
    extern "C" int64 name(double* numbers, int64 rounds) {                  \
        double const* next = numbers;                                       \
        real first[groups], second[groups], x = load(next);                 \
        for (int i = 0; i < groups; ++i) {                                  \
            first[i] = x + (double)i, second[i] = x - (double)i;            \
        }                                                                   \
        for (int64 round = 0; round < rounds; ++round)                      \
            _Pragma("GCC unroll 2") for (int i = 0; i < groups; ++i) {      \
                real &a = first[i], &b = second[i];                         \
                __VA_ARGS__                                                 \
            }                                                               \
        real all = first[0] + second[0];                                    \
        if (groups > 1) all = all + first[groups - 1] + second[groups - 1]; \
        for (int i = 0; i < lanes; ++i) numbers[0] += lane(all, i);         \
        return 2 * groups * SWEEP_PACK * rounds;                            \
    }

RATE(fused, a = fma(a, x, x); b = fma(b, x, x);)
RATE(mixed, a = fma(a, x, x); b = b + x;)
RATE(quotient, a = x / a; b = x / b;)
RATE(root, a = sqrt(a); b = sqrt(b);)
