// A motion in steps of constant length, from rest to the start of the window and on to its end.
//
// Step q is at the time T + q h, in two stretches: before the window (T = 0) and in it (T is its start).
// The last step of a stretch is shortened to land on the end. All lanes go through a stretch together.
// Lanes that have reached the end keep their state there; what they compute after it is ignored.
//
// The phase advances by w h per step; it is recomputed from the time every 64 steps.
#pragma once

#include "stepping/motion.h"
#include "stepping/stretches.h"
#include "stepping/waves.h"

namespace stepping {

constexpr int64 turns_between_anchors = 64;

template <bool first, class A, class B> struct Either {
    using Type = A;
};
template <class A, class B> struct Either<false, A, B> {
    using Type = B;
};

template <class Motion> struct ConstantStep {
    struct State {
        typename Motion::State motion, kept;
        typename Motion::Sums sums, kept_sums;
        int64 steps;   // completed in this stretch
        int64 window;  // 1 in the window, 0 before
        real phase_sine, phase_cosine;
        real block, power;  // completed blocks; the sum of their means
        mask going, asked, valid, stable, few;
    };

    static constexpr int plain_steps = Motion::plain_steps;

    // A phase that all lanes share is rotated only once.
    using Number = typename Either<variant::shared_clock, double, real>::Type;
    using Wave = TurningWave<Motion, Number>;

    // Derived from the parameters.
    struct Setup {
        typename Motion::Law law;
        real h;
        Stretch stretches[2];
        Blocks blocks;
    };

    HD static Setup setup_of(Parameters const& p) {
        Setup o;
        o.law = Motion::law(p);
        o.h = p.step;
        auto window = Motion::window(p);
        o.stretches[0] = stretch_of(0.0, window.start, o.h);
        o.stretches[1] = stretch_of(window.start, window.end - window.start, o.h);
        o.blocks = blocks_of(Motion::blocks(p), o.stretches[1].steps + 1.0);
        return o;
    }

    template <class Number>
    HD static TurningWave<Motion, Number> wave_of(State const& s, Parameters const& p, real h) {
        return {s.phase_sine, s.phase_cosine, Motion::frequency(p) * h};
    }

    HD static void anchor(State& s, Setup const& o, Parameters const& p) {
        real time = o.stretches[s.window].begin + (double)s.steps * o.h;
        sincos_at(Motion::frequency(p), time, s.phase_sine, s.phase_cosine);
    }

    HD static State start(Parameters const& p, mask asked) {
        Setup o = setup_of(p);
        State s;
        s.valid = Motion::valid(p, Motion::window(p)) & (o.blocks.samples >= 2.0);
        s.asked = asked & s.valid;
        s.stable = true;
        if (any(s.asked)) s.stable = Motion::stable(o.law, o.h);
        s.valid = s.valid & (Motion::sees_enough(p, o.h) | ~s.stable);
        s.asked = s.asked & s.valid;
        s.few = Motion::few_enough(p, o.stretches[0].steps + o.stretches[1].steps);
        s.going = s.asked & s.stable & s.few;
        s.steps = s.window = 0;
        s.block = s.power = 0.0;
        anchor(s, o, p);
        auto wave = wave_of<real>(s, p, o.h);
        s.motion = s.kept = Motion::start(o.law, wave, Motion::constants(p, o.h));
        s.sums = s.kept_sums = Motion::no_sums();
        return s;
    }

    HD static bool running(State const& s) { return any(s.going); }

    // Lanes at the end of the stretch save their state. Once all lanes are there, the next one begins.
    HD static void land(State& s, Setup const& o) {
        mask ends = s.going & (real((double)s.steps) >= o.stretches[s.window].steps);
        if (!any(ends)) return;
        s.kept = Motion::choose(ends, s.motion, s.kept);
        s.kept_sums = Motion::choose_sums(ends, s.sums, s.kept_sums);
        s.going = s.going & ~ends;
        if (any(s.going) || s.window == 1) return;
        s.window = 1;
        s.steps = 0;
        s.motion = s.kept;
        s.sums = s.kept_sums = Motion::at_window(s.kept_sums, s.kept);
        s.going = s.asked & s.stable & s.few;
    }

    // Adds the mean of a block at its last sample. The next block begins at the next sample.
    HD static void mind_blocks(State& s, Setup const& o) {
        if (s.window == 0) return;
        real& sum = Motion::of_block(s.sums);
        real within = (double)s.steps - s.block * o.blocks.samples;
        mask inside = s.going & (s.block < o.blocks.count);
        mask ends = inside & (within == o.blocks.samples - 1.0);
        if (any(ends)) {
            Stretch const& stretch = o.stretches[1];
            mask last = real((double)s.steps) == stretch.steps;
            real length = o.blocks.samples - 1.0 - select(last, 1.0 - stretch.last / o.h, 0.0);
            mask empty = length <= 0.0;
            real mean = select(empty, 0.0, sum / select(empty, 1.0, length));
            s.power = select(ends, s.power + mean, s.power);
        }
        mask begins = inside & (within == o.blocks.samples);
        s.block = select(begins, s.block + 1.0, s.block);
        sum = select(begins, 0.0, sum);
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
        auto constants = Motion::constants(p, h);
        auto done = Motion::step(s.motion, o.law, wave, constants);
        Motion::add(s.sums, done, Part{h / o.h}, Everywhere{});
        keep_phase(s, wave_of<real>(s, p, o.h));
    }

    template <class Wave> HD static void keep_phase(State& s, Wave wave) {
        wave.step_on();
        s.phase_sine = wave.start_sine;
        s.phase_cosine = wave.start_cosine;
    }

    // What steps that all lanes take alike advance.
    struct Moving {
        typename Motion::State motion;
        typename Motion::Sums sums;
        Wave wave;
    };

    template <class... Plain>
    HD static void take(Moving& m, Setup const& o, typename Motion::Constants const& constants,
                        Plain&... plain) {
        auto done = Motion::step(m.motion, o.law, m.wave, constants, plain...);
        Motion::add(m.sums, done, Whole{}, Everywhere{});
        m.wave.step_on();
    }

    // After tries in vain, there are none for up to three times as many steps.
    struct Tries {
        int vain = 0, pause = 0;

        HD void count(bool done) {
            vain = done ? 0 : vain < 4 ? vain + 1 : 4;
            pause = done ? 0 : vain - 1;
        }
    };

    HD static bool may_be_plain(Moving const& m) { return !any(~Motion::may_be_plain(m.motion)); }

    // A few steps, if all of them are plain; otherwise none, and false.
    HD static bool take_plain(Moving& m, Setup const& o,
                              typename Motion::Constants const& constants) {
        Moving then = m;
        auto plain = Motion::plain(then.motion);
#pragma unroll
        for (int i = 0; i < plain_steps; ++i) take(then, o, constants, plain);
        if (any(~plain.holds)) return false;
        m = then;
        return true;
    }

    // Plain steps until one is not, then any until they may be plain again; `left` are still to be taken.
    HD static void try_plain(Moving& m, Setup const& o, typename Motion::Constants const& constants,
                             Tries& tries, int& left) {
        if (tries.pause == 0) {
            while (left >= plain_steps && may_be_plain(m) && take_plain(m, o, constants))
                left -= plain_steps;
            tries.count(left < plain_steps);
        }
        while (left > 0) {
            int some = left < plain_steps ? left : plain_steps;
            for (int i = 0; i < some; ++i) take(m, o, constants);
            left -= some;
            if (tries.pause > 0)
                --tries.pause;
            else if (may_be_plain(m))
                return;
        }
    }

    // At least one step, and `run` at most: their number. Plain ones are tried if steps are so short that few
    // tries are in vain; all lanes then have the same frequency and step.
    HD static int64 steps_alike(State& s, Setup const& o, Parameters const& p, Wave const& wave,
                                Tries& tries, int64 run) {
        auto constants = Motion::constants(p, o.h);
        Moving m{s.motion, s.sums, wave};
        m.wave.start_sine = number<Number>(s.phase_sine);
        m.wave.start_cosine = number<Number>(s.phase_cosine);
        int left = (int)run;
        bool tried = false;
        if constexpr (plain_steps > 0) {
            tried = lane(Motion::frequency(p) * o.h, 0) < Motion::plain_angle;
            if (tried) try_plain(m, o, constants, tries, left);
        }
        if (!tried) {
            for (int i = 0; i < left; ++i) take(m, o, constants);
            left = 0;
        }
        s.motion = m.motion;
        s.sums = m.sums;
        s.phase_sine = m.wave.start_sine;
        s.phase_cosine = m.wave.start_cosine;
        return run - left;
    }

    // Times in the sums are in steps.
    HD static Results<typename Motion::Sums> results(State const& s, Parameters const& p) {
        Setup o = setup_of(p);
        Stretch const& stretch = o.stretches[1];
        // A motion that has overflowed adds nothing to the sums, so they cannot show it.
        mask finite = abs(Motion::position(s.kept)) < 1e308;
        real status = select(s.few, select(s.stable & finite, 0.0, 2.0), 1.0);
        status = select(s.valid, status, 3.0);
        return {s.power / o.blocks.count, s.kept_sums, o.h,
                stretch.steps - 1.0 + stretch.last / o.h, status};
    }

    HD static real time_of(State const& s, Parameters const& p) {
        Setup o = setup_of(p);
        Stretch const& stretch = o.stretches[s.window];
        real steps = (double)s.steps;
        return stretch.begin + select(steps >= stretch.steps, stretch.length, steps * o.h);
    }

    HD static int64 advance(State& s, Parameters const& p, int64 budget) {
        Setup o = setup_of(p);
        Wave wave = wave_of<Number>(s, p, o.h);  // how far it turns in a step
        Tries tries;
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
                run = steps_alike(s, o, p, wave, tries, alike(s, o, budget - used));
            s.steps += run;
            used += run;
        }
        return used;
    }
};

}  // namespace stepping
