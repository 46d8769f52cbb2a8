// How fast this machine does one kind of vector operation and nothing else: twice SWEEP_PACK vectors
// that do not wait for one another, `rounds` times over. Each returns how many operations it did.
//
// `numbers` holds doubles that the compiler cannot know, other ones for each lane, so that it finds
// no two vectors equal; the result goes to the first.

extern "C" int tribosweep_width() { return SWEEP_WIDTH; }

inline real load(double const*& numbers) {
    real loaded;
    for (int i = 0; i < lanes; ++i) set_lane(loaded, i, *numbers++);
    return loaded;
}

#define RATE(name, ...)                                             \
    extern "C" int64 name(double* numbers, int64 rounds) {          \
        double const* next = numbers;                               \
        real a = load(next), b = load(next), x = load(next);        \
        for (int64 round = 0; round < rounds; ++round) {            \
            __VA_ARGS__                                             \
        }                                                           \
        real all = a + b;                                           \
        for (int i = 0; i < lanes; ++i) numbers[0] += lane(all, i); \
        return 2 * SWEEP_PACK * rounds;                             \
    }

RATE(fused, a = fma(a, x, x); b = fma(b, x, x);)
RATE(mixed, a = fma(a, x, x); b = b + x;)
RATE(quotient, a = x / a; b = x / b;)
RATE(root, a = sqrt(a); b = sqrt(b);)
