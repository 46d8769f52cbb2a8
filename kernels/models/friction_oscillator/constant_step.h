// A motion in steps of constant length, from rest to the start of the window and on to its end.
//
// Step q is at the time T + q h, in two stretches: before the window (T = 0) and in it (T is its start).
// The last step of a stretch is shortened to land on the end. All lanes go through a stretch together.
// Lanes that have reached the end keep their state there; what they compute after it is ignored.
//
// The phase advances by w h per step; it is recomputed from the time every 64 steps.
#pragma once

#include "models/friction_oscillator/samples.h"

namespace friction_oscillator {

constexpr int64 turns_between_anchors = 64;
constexpr double same_length = 1e-9;  // relative difference of steps that differ by rounding only

template <bool first, class A, class B> struct Either {
    using Type = A;
};
template <class A, class B> struct Either<false, A, B> {
    using Type = B;
};

// Sine and cosine of the phase at the beginning of a step and, by rotation, at its nodes.
template <class Motion, class Number> struct TurningWave {
    Number start_sine, start_cosine;
    Number turn_sine[Motion::nodes], turn_cosine[Motion::nodes];

    template <int node> HD Number sine() const {
        if constexpr (node < 0)
            return start_sine;
        else
            return fma(start_sine, turn_cosine[node], start_cosine * turn_sine[node]);
    }
    template <int node> HD Number cosine() const {
        if constexpr (node < 0)
            return start_cosine;
        else
            return fma(start_cosine, turn_cosine[node], -(start_sine * turn_sine[node]));
    }
    HD void step_on() {
        Number sine_then = sine<Motion::nodes - 1>();
        start_cosine = cosine<Motion::nodes - 1>();
        start_sine = sine_then;
    }
};

// A stretch of `steps` steps, the last one of length `last`.
struct Stretch {
    real begin, length;
    real steps, last;
};

HD Stretch stretch_of(real begin, real length, real h) {
    real steps = greatest(-floor(-(length / h - same_length)), 1.0);
    real last = length - (steps - 1.0) * h;
    last = select(abs(last - h) <= same_length * h, h, last);
    mask empty = length <= 0.0;
    return {begin, length, select(empty, 0.0, steps), last};
}

// The window's samples in `count` blocks of `samples` each, without the intervals between blocks.
struct Blocks {
    real count, samples;
};

HD Blocks blocks_of(real count, real samples) { return {count, floor(samples / count)}; }

template <class Motion> struct ConstantStep {
    struct State {
        typename Motion::State motion, kept;
        Sums sums, kept_sums;
        int64 steps;   // completed in this stretch
        int64 window;  // 1 in the window, 0 before
        real phase_sine, phase_cosine;
        real block, power;  // completed blocks; the sum of their mean wear rates
        mask going, asked, valid, stable, few;
    };

    // Derived from the parameters.
    struct Setup {
        typename Motion::Law law;
        real h;
        Window window;
        Stretch stretches[2];
        Blocks blocks;
    };

    HD static Setup setup_of(Parameters const& p) {
        Setup o;
        o.law = Motion::law(p);
        o.h = p.step;
        o.window = window_of(p);
        o.stretches[0] = stretch_of(0.0, o.window.start, o.h);
        o.stretches[1] = stretch_of(o.window.start, o.window.end - o.window.start, o.h);
        o.blocks = blocks_of(Motion::blocks(p), o.stretches[1].steps + 1.0);
        return o;
    }

    template <class Number>
    HD static TurningWave<Motion, Number> wave_of(State const& s, Parameters const& p, real h) {
        TurningWave<Motion, Number> wave;
        wave.start_sine = number<Number>(s.phase_sine);
        wave.start_cosine = number<Number>(s.phase_cosine);
        turn_by<0>(wave, p.angular_frequency * h);
        return wave;
    }
    template <int node, class Number>
    HD static void turn_by(TurningWave<Motion, Number>& wave, real angle) {
        if constexpr (node < Motion::nodes) {
            real sine, cosine;
            sincos(angle * Motion::fraction(node), sine, cosine);
            wave.turn_sine[node] = number<Number>(sine);
            wave.turn_cosine[node] = number<Number>(cosine);
            turn_by<node + 1>(wave, angle);
        }
    }
    // A number that all lanes share is kept once.
    template <class Number> HD static Number number(real x) {
        Number n;
        give(n, x);
        return n;
    }
    HD static void give(real& n, real x) { n = x; }
    HD static void give(double& n, real x) { n = lane(x, 0); }

    HD static void anchor(State& s, Setup const& o, Parameters const& p) {
        real time = o.stretches[s.window].begin + (double)s.steps * o.h;
        sincos_at(p, time, s.phase_sine, s.phase_cosine);
    }

    HD static State start(Parameters const& p, mask asked) {
        Setup o = setup_of(p);
        State s;
        s.valid = friction_oscillator::valid(p, o.window) & (o.blocks.samples >= 2.0);
        s.asked = asked & s.valid;
        s.stable = true;
        if (any(s.asked)) s.stable = Motion::stable(o.law, o.h);
        s.valid = s.valid & (sees_enough(p, shaking_of(p), o.h) | ~s.stable);
        s.asked = s.asked & s.valid;
        s.few = Motion::few_enough(p, o.stretches[0].steps + o.stretches[1].steps);
        s.going = s.asked & s.stable & s.few;
        s.steps = s.window = 0;
        s.block = s.power = 0.0;
        anchor(s, o, p);
        auto wave = wave_of<real>(s, p, o.h);
        s.motion = s.kept =
            Motion::start(o.law, wave, typename Motion::Constants(o.h, p.damping / p.mass));
        s.sums = s.kept_sums = no_sums();
        return s;
    }

    HD static bool running(State const& s) { return any(s.going); }

    // Lanes at the end of the stretch save their state. Once all lanes are there, the next one begins.
    HD static void land(State& s, Setup const& o) {
        mask ends = s.going & (real((double)s.steps) >= o.stretches[s.window].steps);
        if (!any(ends)) return;
        s.kept = Motion::choose(ends, s.motion, s.kept);
        s.kept_sums = choose(ends, s.sums, s.kept_sums);
        s.going = s.going & ~ends;
        if (any(s.going) || s.window == 1) return;
        s.window = 1;
        s.steps = 0;
        s.motion = s.kept;
        s.sums = s.kept_sums = at_window(s.kept_sums, Motion::velocity(s.kept));
        s.going = s.asked & s.stable & s.few;
    }

    // Adds the mean wear rate of a block at its last sample. The next block begins at the next sample.
    HD static void mind_blocks(State& s, Setup const& o) {
        if (s.window == 0) return;
        real within = (double)s.steps - s.block * o.blocks.samples;
        mask inside = s.going & (s.block < o.blocks.count);
        mask ends = inside & (within == o.blocks.samples - 1.0);
        if (any(ends)) {
            Stretch const& stretch = o.stretches[1];
            mask last = real((double)s.steps) == stretch.steps;
            real length = o.blocks.samples - 1.0 - select(last, 1.0 - stretch.last / o.h, 0.0);
            mask empty = length <= 0.0;
            real mean = select(empty, 0.0, s.sums.wear / select(empty, 1.0, length));
            s.power = select(ends, s.power + mean, s.power);
        }
        mask begins = inside & (within == o.blocks.samples);
        s.block = select(begins, s.block + 1.0, s.block);
        s.sums.wear = select(begins, 0.0, s.sums.wear);
    }

    // The number of steps that all lanes can take alike: up to the next anchor, end of a block or last
    // step.
    HD static int64 alike(State const& s, Setup const& o, int64 budget) {
        int64 run = turns_between_anchors - s.steps % turns_between_anchors;
        run = run < budget ? run : budget;
        real done = (double)s.steps;
        real next = o.stretches[s.window].steps - 1.0;
        next = select(next > done, next, next + 1.0);
        if (s.window == 1) {
            real block_end = (s.block + 1.0) * o.blocks.samples - 1.0;
            block_end = select(block_end > done, block_end, block_end + 1.0);
            next = select(s.block < o.blocks.count, least(next, block_end), next);
        }
        real left = select(s.going, next - done, 1e9);
        if (!any(left < (double)run)) return run;
        for (int i = 0; i < lanes; ++i) {
            int64 own = (int64)lane(left, i);
            run = own < run ? own : run;
        }
        return run > 1 ? run : 1;
    }

    // One step, shortened in lanes that take the last step of the stretch.
    HD static void step_to_end(State& s, Setup const& o, Parameters const& p) {
        Stretch const& stretch = o.stretches[s.window];
        mask last = real((double)s.steps) == stretch.steps - 1.0;
        real h = select(last, stretch.last, o.h);
        auto wave = wave_of<real>(s, p, h);
        typename Motion::Constants constants(h, p.damping / p.mass);
        auto done = Motion::step(s.motion, o.law, wave, constants);
        add(s.sums, done.interval, done.counts, done.sample, Part{h / o.h}, Everywhere{});
        keep_phase(s, wave_of<real>(s, p, o.h));
    }

    template <class Wave> HD static void keep_phase(State& s, Wave wave) {
        wave.step_on();
        s.phase_sine = wave.start_sine;
        s.phase_cosine = wave.start_cosine;
    }

    // A phase that all lanes share is rotated only once.
    using Number = typename Either<variant::shared_clock, double, real>::Type;

    HD static void steps_alike(State& s, Setup const& o, Parameters const& p, int64 run) {
        auto wave = wave_of<Number>(s, p, o.h);
        typename Motion::Constants constants(o.h, p.damping / p.mass);
        typename Motion::State motion = s.motion;
        Sums sums = s.sums;
        for (int64 i = 0; i < run; ++i) {
            auto done = Motion::step(motion, o.law, wave, constants);
            add(sums, done.interval, done.counts, done.sample, Whole{}, Everywhere{});
            wave.step_on();
        }
        s.motion = motion;
        s.sums = sums;
        s.phase_sine = wave.start_sine;
        s.phase_cosine = wave.start_cosine;
    }

    // Mean rates over the window and the other sums; times are in steps.
    HD static Results results(State const& s, Parameters const& p) {
        Setup o = setup_of(p);
        Stretch const& stretch = o.stretches[1];
        Results r;
        r.wear = 0.5 * (s.power / o.blocks.count);
        r.distance = 0.5 * o.h * s.kept_sums.distance;
        r.stuck = s.kept_sums.stuck / (stretch.steps - 1.0 + stretch.last / o.h);
        r.sums = s.kept_sums;
        // A motion that has overflowed adds nothing to the sums, so they cannot show it.
        mask finite = abs(Motion::position(s.kept)) < 1e308;
        r.status = select(s.few, select(s.stable & finite, 0.0, 2.0), 1.0);
        r.status = select(s.valid, r.status, 3.0);
        return r;
    }

    HD static real time_of(State const& s, Parameters const& p) {
        Setup o = setup_of(p);
        Stretch const& stretch = o.stretches[s.window];
        real steps = (double)s.steps;
        return stretch.begin + select(steps >= stretch.steps, stretch.length, steps * o.h);
    }

    HD static int64 advance(State& s, Parameters const& p, int64 budget) {
        Setup o = setup_of(p);
        int64 used = 0;
        while (used < budget && running(s)) {
            mind_blocks(s, o);
            land(s, o);
            if (!running(s)) break;
            if (s.steps % turns_between_anchors == 0) anchor(s, o, p);
            mask last = s.going & (real((double)s.steps) == o.stretches[s.window].steps - 1.0);
            int64 run = 1;
            if (any(last))
                step_to_end(s, o, p);
            else
                steps_alike(s, o, p, run = alike(s, o, budget - used));
            s.steps += run;
            used += run;
        }
        return used;
    }
};

}  // namespace friction_oscillator
