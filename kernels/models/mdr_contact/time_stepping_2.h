// Method `time_stepping_2`: like `time_stepping`, but of second order in the step.
//
// Within a step, the body and the bound move linearly in time. A step is cut at the exact moment at which
// a spring enters or leaves contact (there cos t = -b/beta, so U is known). The elongation follows the
// body until it meets the bound, and then the bound; the work is that of this bent path. Over a steady
// cycle this is the slip work: each slip times the mean of the forces at the bound and at the end.
#pragma once

#include "models/mdr_contact/spring_method.h"

namespace time_stepping_2 {

using namespace mdr_contact;

// Whether all or none of a block's springs are in contact, from the innermost and the outermost one.
struct Touch {
    double beta, inner, outer;

    HD bool all(double cosine) const { return fma(beta, cosine, outer) > 0.0; }
    HD bool none(double cosine) const { return !(fma(beta, cosine, inner) > 0.0); }
};

// U at which springs leave and enter contact.
struct Edges {
    real exit, entry;
};

HD Edges edges_of(Segment const& segment, Angle lead) {
    real cosine = -(segment.middle / segment.beta);
    real sine = sqrt(greatest(fma(-cosine, cosine, 1.0), 0.0));
    real common = cosine * lead.cosine, rest = sine * lead.sine;
    return {common - rest, common + rest};
}

// A step or a part of one: the body moves by `shift` while the bound changes from `begin` to `end`.
struct Path {
    real q;        // elongation at the end
    real doubled;  // twice the work
    mask bends;    // the bound is met on the way
};

HD Path path(real q, real shift, real begin, real end) {
    real trial = q + shift;
    real reached = clamped(trial, end);
    real inside = begin - times_sign(q, trial), outside = abs(trial) - end;
    mask bends = (inside > 0.0) & (outside > 0.0);
    real part = inside / select(bends, inside + outside, 1.0);
    real bend = fma(part, shift, q);  // the elongation where the bound is met
    real bulge = fma(1.0 - part, bend - q, part * (bend - reached));
    return {reached, shift * ((q + reached) + select(bends, bulge, 0.0)), bends};
}

struct Cut {
    // One step with all possible events. If it contains the lowest point of the body (`lowest`), springs
    // may leave contact and enter it again.
    template <bool counted>
    HD static void careful(Springs& s, Segment& segment, Steps const& steps, bool lowest) {
        Motion next = after(segment.now, steps);
        real begin = bound_at(segment, segment.now), end = bound_at(segment, next);
        mask touched = begin > 0.0, touches = end > 0.0;
        mask both = touched & touches;
        mask dips = both & mask(lowest) & (segment.middle < segment.beta);
        mask leaves = (touched & ~touches) | dips, enters = (touches & ~touched) | dips;
        mask cut = leaves | enters;
        real whole = next_shift(segment);
        real q = s.elongation, shift = whole;
        Edges edges;
        if (any(cut)) {
            edges = edges_of(segment, steps.lead);
            shift = select(enters, next.place - edges.entry, shift);
            shift = select(leaves, edges.exit - (segment.now.place - segment.jump), shift);
        }
        Path first = path(q, shift, begin, select(dips, 0.0, end));
        real reached = first.q, doubled = first.doubled;
        if (any(dips)) {
            Path second = path(0.0, next.place - edges.entry, 0.0, end);
            reached = select(dips, second.q, reached);
            doubled = select(dips, doubled + second.doubled, doubled);
        }
        if constexpr (counted) {
            real even = fma(reached, whole + next.shift, s.work);  // without any event
            real more = doubled - whole * (q + reached);
            s.work = select(cut | first.bends, even + more, even);
            s.slipped = s.slipped | first.bends;
        }
        s.elongation = reached;
        go_to(segment, next, 1);
    }

    // At most `most` steps, until one in which a spring enters or leaves contact or begins to slip.
    template <bool counted>
    HD static void smooth(Springs& s, Segment& segment, Steps const& steps, Touch const& touch,
                          int64 most) {
        Motion now = segment.now;
        bool all = touch.all(now.cosine);
        if (!all && !touch.none(now.cosine)) return;
        double decisive = all ? touch.outer : touch.inner;
        real q = s.elongation, work = s.work;
        real bound = bound_at(segment, now);
        double shift = next_shift(segment);
        int64 done = 0;
        for (; done < most; ++done) {
            Motion next = after(now, steps);
            if ((fma(touch.beta, next.cosine, decisive) > 0.0) != all) break;
            real end = bound_at(segment, next);
            real trial = q + real(shift);
            real reached = clamped(trial, end);
            if constexpr (counted) {
                if (any((reached != trial) & (times_sign(q, trial) < bound))) break;
                work = fma(reached, real(shift + next.shift), work);
                bound = end;
            }
            q = reached;
            now = next;
            shift = next.shift;
        }
        if (!done) return;
        s.elongation = q;
        s.work = work;
        go_to(segment, now, done);
    }

    template <bool counted>
    HD static void run(Springs& s, Segment& segment, Steps const& steps) {
        double beta = lane(segment.beta, 0);
        Touch touch{beta, lane(segment.middle, 0), lane(segment.middle, lanes - 1)};
        // The step through the lowest point, if it matters; otherwise a number that no step has.
        int64 lowest = steps.count % 2 && touch.outer < beta ? steps.count / 2 : steps.count;
        while (segment.left) {
            int64 ahead = lowest - segment.step;
            bool near = ahead >= 0 && ahead < segment.left;
            smooth<counted>(s, segment, steps, touch, near ? ahead : segment.left);
            if (segment.left) careful<counted>(s, segment, steps, segment.step == lowest);
        }
    }
};

SPRING_METHOD(Cut)

}  // namespace time_stepping_2
