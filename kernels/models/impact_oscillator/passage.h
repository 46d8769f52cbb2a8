// Extremes, contact and the monodromy matrix of a motion given at the samples of half its period.
//
// In each cell between two samples the stiffness of the stop is its mean dF/du, which is exact if u is
// linear in the cell, even at the kink. A disturbance is a sinusoid there.
#pragma once

#include "models/impact_oscillator/balance.h"

namespace impact_oscillator {

constexpr double straight =
    1e-10;  // below, relative to the amplitude, the slopes at the ends are averaged

// The mean of dvalue/dplace over a cell.
HD real mean_slope(real change, real rise, real slopes) {
    mask steep = abs(change) > straight;
    return select(steep, rise / select(steep, change, 1.0), 0.5 * slopes);
}

// A passage through half a period from both ends, in scaled units.
struct Passage {
    struct Sample {
        real place, force, slope;
    };

    Stop stop;
    real length;  // of a cell, in time
    real lowest, highest;
    real contact;  // cells in contact
    Sample early, late;
    Matrix ahead, behind;  // from sample 0 to `early`, and from `late` to sample 512

    HD Passage(Stop const& of_motion, real duration, real first, real last)
        : stop(of_motion), length(duration), lowest(first), highest(first), contact(0.0) {
        early = sample(first);
        late = sample(last);
        ahead = behind = {1.0, 0.0, 0.0, 1.0};
    }

    // Moves on to the next sample from the first end, and to the one before from the last end.
    HD void move(real next_place, real previous_place) {
        Sample next = sample(next_place), previous = sample(previous_place);
        ahead = cell(early, next) * ahead;
        behind = behind * cell(previous, late);
        early = next;
        late = previous;
    }

    HD Sample sample(real place) {
        lowest = least(place, lowest);
        highest = greatest(place, highest);
        Sample taken;
        taken.place = place;
        stop.press(place, taken.force, taken.slope);
        return taken;
    }

    // The transfer matrix of a cell, whose contact is counted.
    HD Matrix cell(Sample const& from, Sample const& to) {
        real change = to.place - from.place;
        real before = from.place - stop.gap, after = to.place - stop.gap;
        real sides = select(after > 0.0, 1.0, 0.0) + select(before > 0.0, 1.0, 0.0);
        contact += mean_slope(change, positive(after) - positive(before), sides);
        real pressed = mean_slope(change, to.force - from.force, to.slope + from.slope);
        real rate = sqrt(1.0 + pressed), sine, cosine;
        sincos(rate * length, sine, cosine);
        return {cosine, sine / rate, -(rate * sine), cosine};
    }

    // The trace of the monodromy matrix, once both ends have met. The second half of the period is the
    // time reversal of the first half.
    HD real trace() const {
        Matrix whole = behind * ahead;
        return 2.0 * fma(whole.xx, whole.vv, whole.xv * whole.vx);
    }
};

}  // namespace impact_oscillator
