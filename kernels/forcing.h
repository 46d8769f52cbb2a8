// Realisations of stationary random signals as periodic cubic splines through evenly spaced samples.
//
//   x(t) = sum over k of A_k R_k cos(2 pi k t/T + phi_k),   phi_k uniform,   R_k = 1 or sqrt(-ln u)
//
// with the amplitudes A_k of the harmonics k/T. Phases and u come from the counter-based generator Philox4x32-10
// (Salmon et al. 2011, doi:10.1145/2063384.2063405). A fast Fourier transform (radix 2, decimation in time) gives
// two real sequences at once, as real and imaginary part: the samples x_j, and what the second derivatives of
// the spline are at the samples, times the square of the interval h between them. For a harmonic with the angle
// a = 2 pi k/N between samples these are, from m_(j-1) + 4 m_j + m_(j+1) = 6 (x_(j-1) - 2 x_j + x_(j+1)),
//
//   m_j = g x_j,   g = -6 (1 - cos a)/(2 + cos a).
//
// The work is cut into stages of independent units: 0 the table of sines and cosines, 1 zeros, 2 the harmonics,
// then one for each level of the transform. Processors do the units of a stage one after another, a GPU at once.
#pragma once

#include "elementary.h"

using uint32 = unsigned int;

struct Forcing {
    int64 stage;
    int64 samples;             // of a realisation: a power of two, 2 or more
    int64 harmonics;           // 1 to this; fewer than half of the samples
    int64 elements;            // of the signal: 1, or one for each value of its index
    int64 realisations;        // in the tables
    int64 signal, seed;        // the number of the signal in its model
    int64 normal;              // whether amplitudes are random, too
    double const* draws;       // of the realisations: whole numbers below 2^32
    double const* amplitudes;  // A_k: [harmonic, from 1][element]
    double const* factor;  // lower triangle: [element][element], rows of norm 1; null: independent
    double* turns;         // cos and sin of 2 pi i/samples: [i, below half][2]
    double* tables;        // [realisation][sample][element][2]
};

struct Random4 {
    uint32 word[4];
};

HD Random4 philox(Random4 counter, uint32 key0, uint32 key1) {
    for (int round = 0; round < 10; ++round) {
        unsigned long long a = 0xD2511F53ULL * counter.word[0];
        unsigned long long b = 0xCD9E8D57ULL * counter.word[2];
        counter = {{(uint32)(b >> 32) ^ counter.word[1] ^ key0, (uint32)b,
                    (uint32)(a >> 32) ^ counter.word[3] ^ key1, (uint32)a}};
        key0 += 0x9E3779B9U;
        key1 += 0xBB67AE85U;
    }
    return counter;
}

// A number of [0, 1) from the upper 53 of 64 bits.
HD double unit_of(uint32 high, uint32 low) {
    return (double)(int64)(((unsigned long long)high << 32 | low) >> 11) * 0x1p-53;
}

HD int64 reversed(int64 index, int64 samples) {
    int64 result = 0;
    for (int64 bit = 1; bit < samples; bit <<= 1) {
        result = result << 1 | (index & 1);
        index >>= 1;
    }
    return result;
}

// Where the two numbers of a sample begin.
HD double* place_of(Forcing const& f, int64 realisation, int64 sample) {
    return f.tables + 2 * f.elements * (realisation * f.samples + sample);
}

HD int64 blocks_of(int64 count) { return (count + lanes - 1) / lanes; }

HD void set_turns(Forcing const& f, int64 block) {
    real angles, sines, cosines;
    for (int i = 0; i < lanes; ++i)
        set_lane(angles, i, two_pi * (double)(block * lanes + i) / (double)f.samples);
    sincos(angles, sines, cosines);
    for (int i = 0; i < lanes; ++i) {
        int64 index = block * lanes + i;
        if (index >= f.samples / 2) return;
        f.turns[2 * index] = lane(cosines, i);
        f.turns[2 * index + 1] = lane(sines, i);
    }
}

// Independent complex numbers of mean square 1 for `lanes` harmonics of an element, at the places where the
// transform wants those harmonics.
HD void set_random(Forcing const& f, int64 realisation, int64 first, int64 element) {
    uint32 draw = (uint32)(int64)f.draws[realisation];
    real phases = 0.0, rests = 1.0, sines, cosines;
    for (int i = 0; i < lanes; ++i) {
        if (first + i > f.harmonics) break;
        Random4 counter = {{(uint32)f.signal, (uint32)element, (uint32)(first + i), 0}};
        Random4 drawn = philox(counter, (uint32)f.seed, draw);
        set_lane(phases, i, unit_of(drawn.word[0], drawn.word[1]));
        if (f.normal) set_lane(rests, i, 1.0 - unit_of(drawn.word[2], drawn.word[3]));
    }
    sincos(two_pi * phases, sines, cosines);
    if (f.normal) {
        real sizes = sqrt(abs(log(rests)));
        sines *= sizes;
        cosines *= sizes;
    }
    for (int i = 0; i < lanes; ++i) {
        if (first + i > f.harmonics) break;
        double* at = place_of(f, realisation, reversed(first + i, f.samples)) + 2 * element;
        at[0] = lane(cosines, i);
        at[1] = lane(sines, i);
    }
}

// In place of the random numbers of a harmonic, sums of them that are correlated. Each needs only those of
// elements before it, so the last comes first.
HD void correlate(Forcing const& f, double* at) {
    for (int64 element = f.elements - 1; element >= 0; --element) {
        double const* row = f.factor + element * f.elements;
        double cosine = 0.0, sine = 0.0;
        for (int64 other = 0; other <= element; ++other) {
            cosine = fused(row[other], at[2 * other], cosine);
            sine = fused(row[other], at[2 * other + 1], sine);
        }
        at[2 * element] = cosine;
        at[2 * element + 1] = sine;
    }
}

// Both sequences of a harmonic: half of it at k, and the conjugate half at -k, times 1 + i g.
HD void set_harmonic(Forcing const& f, int64 realisation, int64 harmonic) {
    double* at = place_of(f, realisation, reversed(harmonic, f.samples));
    double* mirrored = place_of(f, realisation, reversed(f.samples - harmonic, f.samples));
    double cosine = f.turns[2 * harmonic];
    double bend = -6.0 * (1.0 - cosine) / (2.0 + cosine);
    if (f.factor) correlate(f, at);
    for (int64 element = 0; element < f.elements; ++element) {
        double half = 0.5 * f.amplitudes[(harmonic - 1) * f.elements + element];
        double a = half * at[2 * element], b = half * at[2 * element + 1];
        at[2 * element] = fused(-bend, b, a);
        at[2 * element + 1] = fused(bend, a, b);
        mirrored[2 * element] = fused(bend, b, a);
        mirrored[2 * element + 1] = fused(bend, a, -b);
    }
}

HD void set_harmonics(Forcing const& f, int64 unit) {
    int64 blocks = blocks_of(f.harmonics);
    int64 realisation = unit / blocks, first = 1 + unit % blocks * lanes;
    for (int64 element = 0; element < f.elements; ++element)
        set_random(f, realisation, first, element);
    for (int64 k = first; k < first + lanes && k <= f.harmonics; ++k)
        set_harmonic(f, realisation, k);
}

// Of two samples.
HD void clear(Forcing const& f, int64 unit) {
    for (int64 i = 0; i < 4 * f.elements; ++i) f.tables[4 * f.elements * unit + i] = 0.0;
}

// One butterfly of a level, which joins parts of 2^level samples, for all elements. Whole tables stand one
// after another, so that the units need not be told apart.
HD void join(Forcing const& f, int64 level, int64 unit) {
    int64 span = (int64)1 << level, turn = unit & (span - 1);
    double* first = f.tables + 2 * f.elements * (2 * unit - turn);
    double* second = first + 2 * f.elements * span;
    double const* turns = f.turns + 2 * turn * (f.samples >> (level + 1));
    double cosine = turns[0], sine = turns[1];
    for (int64 i = 0; i < 2 * f.elements; i += 2) {
        double a = fused(cosine, second[i], -(sine * second[i + 1]));
        double b = fused(cosine, second[i + 1], sine * second[i]);
        second[i] = first[i] - a;
        second[i + 1] = first[i + 1] - b;
        first[i] += a;
        first[i + 1] += b;
    }
}

// The units of a stage, 0 after the last stage.
HD int64 units_of(Forcing const& f) {
    if (f.stage == 0) return blocks_of(f.samples / 2);
    if (f.stage == 2) return f.realisations * blocks_of(f.harmonics);
    if (f.stage > 2 && (int64)1 << (f.stage - 3) >= f.samples) return 0;
    return f.realisations * (f.samples / 2);
}

HD void do_unit(Forcing const& f, int64 unit) {
    if (f.stage == 0)
        set_turns(f, unit);
    else if (f.stage == 1)
        clear(f, unit);
    else if (f.stage == 2)
        set_harmonics(f, unit);
    else
        join(f, f.stage - 3, unit);
}
