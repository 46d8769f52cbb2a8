// The springs of a contact in time: the common part of both time-stepping methods.
//
// In units of the tangential amplitude, over the phase t, the body is at U = cos(t + phi). The elongation
// of the spring at X = x/a0 is limited by the bound
//
//     b + beta cos t,    b = load (1 - X^n)
//
// and the spring is in contact where the bound is positive. Half of the contact has `springs` springs of
// width dX = (1 + delta)^(1/n)/springs, each evaluated at its middle; the other half is the same. Initially
// all are relaxed. From the second cycle on the motion is steady: a step clamps the foot U - q of a spring
// with elongation q, and therefore so does a cycle. The work is that of the last cycle.
//
// A spring with 2 b >= ra + rb never slips; it contributes nothing and is not computed. One unit of work
// is a segment of 64 steps.
#pragma once

#include "models/mdr_contact/motion.h"
#include "models/mdr_contact/scaled.h"

namespace mdr_contact {

struct Springs {
    real depth;       // 1 - X^n
    real elongation;  // q
    real work;        // twice the integral of q dU
    mask slips;       // slips at some time, for any step; other springs are not computed
    mask slipped;     // slipped in the last cycle
    Angle anchor;     // time at the beginning of the segment
    double place;     // U where the last segment ended
    int64 segment;    // within the cycle
    int64 cycles;     // left to compute
};

// Common to all springs of a point.
struct Row {
    Scaled scaled;
    Steps steps;
    real load;    // 0 without friction
    real width;   // dX
    real lowest;  // the lowest cos t at the end of a step
    int64 cycles;
};

HD Row row_of(Parameters const& p) {
    Row row;
    row.scaled = scaled(p);
    row.steps = steps_of(p.steps_per_cycle, {lane(row.scaled.cosine, 0), lane(row.scaled.sine, 0)});
    row.load = select(row.scaled.frictionless, 0.0, row.scaled.load);
    row.width = row.scaled.radius / p.springs;
    row.lowest = row.steps.count % 2 ? -row.steps.half.cosine : -1.0;
    row.cycles = (int64)lane(p.cycles, 0);
    return row;
}

HD Springs relaxed(Row const& row, real const& index) {
    Scaled const& o = row.scaled;
    Springs s;
    s.depth = depth_at(o, (index + 0.5) * row.width);
    s.slips = o.valid & ~o.frictionless & (2.0 * row.load * s.depth < o.ra + o.rb);
    s.elongation = s.work = 0.0;
    s.slipped = false;
    s.anchor = {1.0, 0.0};
    s.place = row.steps.lead.cosine;
    s.segment = 0;
    s.cycles = any(s.slips) ? row.cycles : 0;
    return s;
}

HD bool running(Springs const& s) { return s.cycles > 0; }

// The current segment. All but `middle` is the same for all springs.
struct Segment {
    Motion now;
    double jump;  // from the end of the last segment to the beginning of this one
    int64 step;   // the next step, counted from the start of the cycle
    int64 left;   // steps left to compute
    real beta;
    real middle;  // b
};

HD Segment segment_of(Springs const& s, Row const& row) {
    int64 step = s.segment * segment_steps, rest = row.steps.count - step;
    Motion now = motion_at(row.steps, s.anchor);
    int64 left = rest < segment_steps ? rest : segment_steps;
    return {now, now.place - s.place, step, left, row.scaled.beta, row.load * s.depth};
}

// The displacement of the body in the next step.
HD double next_shift(Segment const& segment) { return segment.now.shift + segment.jump; }

// Advances the segment by `steps` steps to the motion `then`.
HD void go_to(Segment& segment, Motion const& then, int64 steps) {
    segment.now = then;
    segment.jump = 0.0;
    segment.step += steps;
    segment.left -= steps;
}

// The bound at a moment, 0 out of contact.
HD real bound_at(Segment const& segment, Motion const& moment) {
    return positive(fma(segment.beta, real(moment.cosine), segment.middle));
}

// Moves on to the next segment or cycle.
HD void end_segment(Springs& s, Segment const& segment, Steps const& steps) {
    s.place = segment.now.place;
    ++s.segment;
    if (s.segment * segment_steps < steps.count) {
        s.anchor = next_anchor(steps, s.segment, s.anchor);
    } else {
        s.anchor = {1.0, 0.0};
        s.segment = 0;
        --s.cycles;
    }
}

// Computes segments. Method::run<counted> computes one; `counted` is true in the last cycle.
template <class Method> HD int64 advance_springs(Springs& s, Row const& row, int64 budget) {
    int64 used = 0;
    for (; used < budget && running(s); ++used) {
        Segment segment = segment_of(s, row);
        if (s.cycles == 1)
            Method::template run<true>(s, segment, row.steps);
        else
            Method::template run<false>(s, segment, row.steps);
        end_segment(s, segment, row.steps);
    }
    return used;
}

}  // namespace mdr_contact
