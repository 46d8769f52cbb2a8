// Method `harmonic_balance`: u(t) = a_0 + a_1 cos wt + ... + a_H cos H wt.
//
// The motion is symmetric about the time t = 0 of its greatest displacement, so cosines suffice.
#pragma once

#include "models/impact_oscillator/continuation.h"
#include "models/impact_oscillator/passage.h"

namespace harmonic_balance {

HD Passage passage_of(State const& s, Parameters const& p) {
    int most = most_of(s, p);
    Pairs places = values_at(s.now.cosines, most, 0);
    Passage passage(stop_of(s, p), two_pi / samples / sqrt(s.now.square), places.early[0],
                    places.late[0]);
    for (int first = 0; first <= quarter; first += together) {
        places = values_at(s.now.cosines, most, first);
        for (int t = 0; t < together; ++t)
            if (first + t > 0 && first + t <= quarter)
                passage.move(places.early[t], places.late[t]);
    }
    return passage;
}

HD Outputs finish(State const& s, Parameters const& p) {
    Passage passage = passage_of(s, p);
    real amplitude = amplitude_of(p);
    Outputs out;
    out.frequency = sqrt(s.now.square) / two_pi * sqrt(p.stiffness / p.mass);
    out.minimum = passage.lowest * amplitude;
    out.maximum = passage.highest * amplitude;
    out.contact_fraction = passage.contact / half;
    set_stability(out, passage.trace());
    mask counted = (p.harmonics >= 1.0) & (p.harmonics <= most_harmonics);
    out.status = select(counted, status_of(p, s.found), 3.0);
    return out;
}

// The whole period is known at once, when the work ends.
HD real time_of(State const&, Parameters const&) { return 0.0; }

// The motion at exactly `time`, in any period, of a state whose work has ended.
HD Observables look(State const& s, Parameters const& p, real time) {
    int most = most_of(s, p);
    real amplitude = amplitude_of(p);
    real rate = sqrt(s.now.square) * sqrt(p.stiffness / p.mass);
    real turns = time * (rate / two_pi);
    real phase = two_pi * (turns - nearest(turns));
    real place = 0.0, speed = 0.0, force, slope;
    for (int order = 0; order <= most; ++order) {
        real sine, cosine;
        sincos((double)order * phase, sine, cosine);
        place = fma(s.now.cosines[order], cosine, place);
        speed = fma(-(double)order * s.now.cosines[order], sine, speed);
    }
    stop_of(s, p).press(place, force, slope);
    Observables seen;
    seen.time = time;
    seen.displacement = place * amplitude;
    seen.velocity = speed * (amplitude * rate);
    seen.wall_force = force * (amplitude * p.stiffness);
    return seen;
}

}  // namespace harmonic_balance
