// A motion in steps whose length the scheme controls, from rest to the end of the window.
//
// One unit of work is one attempted step in every lane. A rejected step is undone, including the memory
// of the motion. A step that would pass the start or end of the window is shortened to land on it.
// Several blocks require the number of samples in advance, so such lanes run twice.
#pragma once

#include "stepping/motion.h"
#include "stepping/stretches.h"
#include "stepping/waves.h"

namespace stepping {

constexpr int64 count_every = 64;  // steps from one count of the tries to the next

template <class Motion> struct VariableStep {
    using Control = typename Motion::Scheme::Control;
    using Demand = typename Control::Demand;
    using Window = typename Motion::Window;

    struct State {
        typename Motion::State motion;
        Control control;
        typename Motion::Sums sums;
        real time;
        real tries;      // up to the last count
        real samples;    // in the window, without the one at its start; only for several blocks
        real per_block;  // samples per block; 0 during the counting run
        real block, block_start, power;
        mask in_window, going, valid, few;
    };

    HD static State mix(mask m, State const& a, State const& b) {
        State s;
        s.motion = Motion::choose(m, a.motion, b.motion);
        s.control = Control::choose(m, a.control, b.control);
        s.sums = Motion::choose_sums(m, a.sums, b.sums);
        s.time = select(m, a.time, b.time);
        s.tries = select(m, a.tries, b.tries);
        s.samples = select(m, a.samples, b.samples);
        s.per_block = select(m, a.per_block, b.per_block);
        s.block = select(m, a.block, b.block);
        s.block_start = select(m, a.block_start, b.block_start);
        s.power = select(m, a.power, b.power);
        auto either = [&](mask x, mask y) { return (x & m) | (y & ~m); };
        s.in_window = either(a.in_window, b.in_window);
        s.going = either(a.going, b.going);
        s.valid = either(a.valid, b.valid);
        s.few = either(a.few, b.few);
        return s;
    }

    // A step too long to resolve the wave would look like one in which nothing happens.
    HD static real longest(Parameters const& p) {
        return least(p.maximum_step, (two_pi / 50.0) / Motion::frequency(p));
    }

    // `tries` are those since the last count.
    HD static void begin(State& s, Parameters const& p, Window const& window, mask here,
                         double tries) {
        real h = least(p.step, longest(p));
        DirectWave<Motion> wave(Motion::frequency(p), 0.0, h);
        auto motion = Motion::start(Motion::law(p), wave, Motion::constants(p, h));
        s.motion = Motion::choose(here, motion, s.motion);
        s.control = Control::choose(here, Control(h), s.control);
        s.sums = Motion::choose_sums(here, Motion::no_sums(), s.sums);
        mask at_once = window.start <= 0.0;
        s.in_window = (at_once & here) | (s.in_window & ~here);
        s.time = select(here, 0.0, s.time);
        s.tries = select(here, -tries, s.tries);
        s.samples = select(here, 0.0, s.samples);
        s.block = select(here, 0.0, s.block);
        s.block_start = select(here, 0.0, s.block_start);
        s.power = select(here, 0.0, s.power);
    }

    HD static State start(Parameters const& p, mask asked) {
        Window window = Motion::window(p);
        State s;
        s.motion = {};
        s.sums = Motion::no_sums();
        s.control = Control(p.step);
        s.time = s.tries = s.samples = s.block = s.block_start = s.power = 0.0;
        s.in_window = false;
        begin(s, p, window, true, 0.0);
        s.per_block = select(p.blocks > 1.0, 0.0, 1e300);  // a single block has no end of its own
        s.valid = Motion::valid(p, window);
        s.few = true;
        s.going = s.valid & asked;
        return s;
    }

    HD static bool running(State const& s) { return any(s.going); }

    // `tries` counts this step and those since the last count.
    HD static void advance_once(State& s, Parameters const& p, typename Motion::Law const& law,
                                Demand const& demand, Window const& window, double tries) {
        real end = select(s.in_window, window.end, window.start);
        real h = s.control.h, then = s.time + h;
        mask lands = s.going & (s.time + h * (1.0 + 1e-9) >= end);
        if (any(lands)) {  // rare; without it, the step does not wait for the comparison
            h = select(lands, end - s.time, h);
            then = select(lands, end, s.time + h);
        }

        typename Motion::State after = s.motion;
        Control control = s.control;
        DirectWave<Motion> wave(Motion::frequency(p), s.time, h);
        auto constants = Motion::constants(p, h);
        auto done = Motion::step(after, law, wave, constants);
        mask fits = control.accepts(s.motion.scheme, after.scheme, done.change, h, lands, demand);
        mask taken = s.going & fits;
        if (any(~taken)) {  // rare; without it, whole states can be copied
            s.control = Control::choose(s.going, control, s.control);
            s.motion = Motion::choose(taken, after, s.motion);
        } else {
            s.control = control;
            s.motion = after;
        }
        Motion::add(s.sums, done, Part{h}, Here{taken});
        s.time = select(taken, then, s.time);
        mask arrives = taken & lands;
        if (any(arrives | (p.blocks > 1.0))) mind_blocks(s, p, taken & s.in_window, arrives);
        land(s, p, window, arrives, tries);
    }

    // Adds the mean of a block at its last sample. The next block begins at the next sample.
    HD static void mind_blocks(State& s, Parameters const& p, mask here, mask arrives) {
        s.samples = select(here, s.samples + 1.0, s.samples);
        real& sum = Motion::of_block(s.sums);
        real within = s.samples - s.block * s.per_block;
        mask single = s.per_block >= 1e299;
        mask ends = here & (s.per_block > 0.0) & (s.block < p.blocks) &
                    ((within == s.per_block - 1.0) | (single & arrives));
        real length = select(ends, s.time - s.block_start, 1.0);
        s.power = select(ends, s.power + sum / length, s.power);
        mask begins = here & (s.per_block > 0.0) & (within == s.per_block);
        s.block = select(begins, s.block + 1.0, s.block);
        s.block_start = select(begins, s.time, s.block_start);
        sum = select(begins, 0.0, sum);
    }

    // Handles arrival at the start and at the end of the window.
    HD static void land(State& s, Parameters const& p, Window const& window, mask arrives,
                        double tries) {
        if (!any(arrives)) return;
        mask late = arrives & (s.tries + tries > p.maximum_steps);
        s.few = s.few & ~late;
        s.going = s.going & ~late;
        mask enters = arrives & ~s.in_window;
        mask leaves = arrives & s.in_window;
        s.sums = Motion::choose_sums(enters, Motion::at_window(s.sums, s.motion), s.sums);
        s.block_start = select(enters, s.time, s.block_start);
        s.in_window = s.in_window | enters;
        mask counted = leaves & (s.per_block == 0.0);
        s.going = s.going & ~leaves;
        if (!any(counted)) return;
        real per_block = floor((s.samples + 1.0) / p.blocks);
        s.valid = s.valid & ~(counted & (per_block < 2.0));
        s.per_block = select(counted, per_block, s.per_block);
        begin(s, p, window, counted, tries);
        s.going = s.going | (counted & s.valid);
    }

    HD static int64 advance(State& s, Parameters const& p, int64 budget) {
        auto law = Motion::law(p);
        Demand demand(p.tolerance, longest(p));
        Window window = Motion::window(p);
        int64 used = 0;
        State now = s;
        while (used < budget && running(now)) {
            int64 since = used, stop = budget - used < count_every ? budget : used + count_every;
            for (; used < stop && running(now); ++used)
                advance_once(now, p, law, demand, window, (double)(used - since + 1));
            now.tries += (double)(used - since);
            now.few = now.few & ((now.tries <= p.maximum_steps) | ~now.going);
            now.going = now.going & now.few;
        }
        Motion::settle(now.motion);
        s = now;
        return used;
    }

    // Times in the sums are in seconds.
    HD static Results<typename Motion::Sums> results(State const& s, Parameters const& p) {
        Window window = Motion::window(p);
        real status = select(s.few, 0.0, 1.0);
        status = select(s.valid, status, 3.0);
        return {s.power / p.blocks, s.sums, 1.0, window.end - window.start, status};
    }

    HD static real time_of(State const& s, Parameters const&) { return s.time; }
};

}  // namespace stepping
