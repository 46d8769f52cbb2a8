// Steps that end where an event happens or a side changes. A step in which an event happens is taken back, and
// trials of other lengths follow until one ends there. One in which a side changes is taken up to there.
#pragma once

#include "systems/taking.h"

namespace systems {

template <class Scheme> HD mask is_precise(Parameters const& p) {
    if constexpr (Scheme::controlled)
        return p.relative_tolerance <= 1e-4;
    else
        return false;
}

// The first crossing of anything watched in a step, as the state keeps it while it aims.
struct Aim {
    real width;  // to which the share is located
    real reach;  // the share at which the next step ends
    mask found = false;
    real share = 2.0, target = 0.0, side = 0.0, low = 0.0, high = 0.0;
    real next = 3.0;  // the share at which a side changes in the next step; 3: none does
};

template <class State> HD mask aims_at_event(State const& s) {
    return (s.aims > 0.0) & (s.target >= 0.0) & (s.target < (double)n_events);
}

// What a step tolerates as an error of a time, as a share of the step.
template <class Scheme> HD real tolerated_share(Parameters const& p) {
    if constexpr (Scheme::controlled)
        return p.relative_tolerance;
    else
        return 1e-10;
}

// The crossing of one expression, if it is earlier.
template <class E, class Shape, class Dense>
HD void aim_at(E e, Aim& aim, Ends<System> const& ends, Shape const& shape, Dense const& dense,
               real side, mask at_zero, mask asked) {
    asked = asked & shape.may_change(side);
    if (!any(asked)) return;
    Change change = next_wanted(rules[e].direction, shape, ends.system, dense, 0.0, side, asked);
    if (!any(change.found)) return;
    real share;
    if constexpr (Shape::is_straight)
        share = root_of(shape.curve, change, at_zero);
    else
        share = crossing(Watched<E>{e}, ends.system, dense, change, at_zero,
                         equations::sides > 0 ? aim.width : real(1e-7));
    // What is located to this width is no order: an event comes first, and its trial tells.
    real margin = 0.0;
    if (rules[e].side >= 0) margin = select(aim.target < (double)n_events, 2.0 * aim.width, 0.0);
    mask earlier = change.found & (share < aim.share - margin);
    real low = dense.time(change.low);
    real high = select(change.high == 1.0, ends.t1, dense.time(change.high));
    aim.found = aim.found | earlier;
    aim.share = select(earlier, share, aim.share);
    aim.target = select(earlier, (double)e, aim.target);
    aim.side = select(earlier, change.side, aim.side);
    aim.low = select(earlier, low, aim.low);
    aim.high = select(earlier, high, aim.high);
}

// Aims at the first crossing where the trial cannot be taken up to it, and at one that comes in the next step.
// Returns the lanes whose trial cannot be taken. The dense motion is less exact than the end of a step, so that one
// with a change inside is tried again with an end just beyond that.
template <bool controlled, class State, class Dense>
SELDOM mask keep_aim(State& s, Aim const& aim, Ends<System> const& ends, Dense const& dense,
                     mask here, real& taken_to) {
    mask side = here & aim.found & (aim.target >= (double)n_events);
    mask again = side & (aim.share < 0.96) & (dense.length > 1e-13 * s.t);
    mask cut = side & ~again, comes = here & ~aim.found & (aim.next < aim.reach);
    mask aims = here & aim.found & ~cut;
    real share = select(again, 1.001 * aim.share, aim.share);
    // Just past the change, as far as it is located.
    share = select(cut, least(aim.share + 1e-12, 1.0), share);
    taken_to = select(cut, share, taken_to);
    share = select(comes, fma(0.02, aim.next - 1.0, aim.next), share);
    real at = dense.time(share);
    at = select(side | comes, at, least(greatest(at, aim.low), aim.high));
    // The time of an occurrence differs from the beginning of the step.
    auto after = [](real t) { return fma(2.3e-16, t, t) + 1e-300; };
    real soonest = after(s.t);
    at = greatest(at, select(comes, after(ends.t1), soonest));
    s.aim = select(here, at, s.aim);
    if constexpr (controlled) {
        // A change that a shorter step has not was an error of the dense motion of a step too long.
        mask none = here & ~aim.found & (s.aims > 0.0) & (s.target >= (double)n_events);
        s.h = select(none, 0.2 * s.h, s.h);
        s.h = select(again & (s.aims == 0.0), least(s.h, dense.length), s.h);
    }
    s.aims = select(here, select(aims, s.aims + 1.0, flag(comes)), s.aims);
    s.target = select(aims | cut, aim.target, s.target);
    s.side_left = select(aims | cut, aim.side, s.side_left);
    s.low = select(here, aim.low, s.low);  // without a meaning where no trial aims
    s.high = select(aims | cut, select(cut, at, greatest(aim.high, soonest)), s.high);
    return aims;
}

// The lanes whose trial cannot be taken: an event happens in it, at which they aim from now on; something
// could change unseen, so that they take a shorter step; or a side is held although the motion leaves
// zero to the other one, so that they try again with that. Where a side changes before any event, `taken_to`
// becomes the share up to which the trial is taken.
template <class Scheme, class State, class Dense>
SELDOM mask begin_aim(State& s, System& system, Parameters const& p, Window const& window,
                      Ends<System> const& ends, Dense const& dense, mask here, real& taken_to) {
    real h = dense.length;
    Aim aim{greatest(1e-4 * tolerated_share<Scheme>(p), 1e-12), 1.0 + least(s.h / (1.02 * h), 1.0)};
    mask blurred = false, turned = false;
    Vector<n_held> side = s.side;
    Vector<n_watched> wrong;  // sides to whose other side the motion leads
    Vector<n_events> lead;
    SeenStep<Dense> step(ends, dense);
    Masks<n_seen> active = system.all_active();
    each_watched([&](auto e) {
        if (rules[e].at_entry) lead[e] = s.sign[e];
        wrong[e] = 0.0;
        mask asked = here & active[e];
        if (!any(asked)) return;
        along(Watched<decltype(e)>{e}, step, asked, [&](auto& shape, auto straight) {
            constexpr bool is_straight = decltype(straight)::value;
            auto noise = [&] { return roundings * system.when_size(e, s.t, s.y); };
            if (Scheme::controlled && !is_straight && rules[e].acts)
                blurred = blurred | (asked & ~shape.resolved(noise()));
            decide_end(shape, 0.0, asked);
            mask at_zero = asked & (s.sign[e] == 0.0);
            real from = s.sign[e];
            if (any(at_zero)) {
                from = select(at_zero, lead_of(e, ends, shape, at_zero), from);
                // What begins level stays as near to zero as it begins, on either side, for a while.
                shape.settle(fma(2.0, abs(shape.first()), noise()), at_zero);
            }
            if (rules[e].at_entry) lead[e] = from;
            if (rules[e].side >= 0) {
                real held = held_sign(e, s);
                mask turns = at_zero & (from != 0.0) & (from != held);
                real other = rules[e].own == 0 ? from : side[rules[e].side] - rules[e].own;
                side[rules[e].side] = select(turns, other, side[rules[e].side]);
                wrong[e] = flag(turns);
                turned = turned | turns;
                if constexpr (is_straight) {
                    // What goes less to the other side and back than a step tolerates may be its error.
                    real tolerated = 0.01 * tolerated_share<Scheme>(p) * system.when_scale(e);
                    mask returns = (from * shape.last() > 0.0) & (shape.beyond(from) < tolerated);
                    asked = asked & ~returns;
                }
            }
            aim_at(e, aim, ends, shape, dense, from, at_zero, asked);
            if constexpr (Scheme::controlled && is_straight)
                if (rules[e].side >= 0)
                    aim.next =
                        least(aim.next, next_of(shape.curve, from, aim.reach, here & active[e]));
        });
    });
    if constexpr (Scheme::controlled) {
        blurred = blurred & (s.refused < 20.0) & (h > 2.4e-15 * s.t);
        s.refused = select(here, select(blurred, s.refused + 1.0, 0.0), s.refused);
        s.h = select(blurred, 0.5 * h, s.h);
    }
    turned = turned & ~blurred;
    if (any(turned)) {
        // Sides that the motion leaves at once, again and again, hold it at their zero.
        s.turns_at_once = select(turned, s.turns_at_once + 1.0, s.turns_at_once);
        s.ended =
            select(turned & (s.turns_at_once > 2.0 * equations::sides + 2.0), sliding, s.ended);
        Vector<n_watched> width = zero_widths(s, system);
        Vector<n_watched> set = change_sides(s, system, width, wrong, turned,
                                             [&](auto e) { return side[rules[e].side]; });
        each_side([&](auto e) {
            real value = system.when(e, s.t, s.y), zero = width[e];
            if (rules[e].nested) zero = greatest(zero, zero_width(e, system, s.t, s.y, s.f));
            mask stays = mask(rules[e].own == 0) & (s.sign[e] == 0.0) & ~is_set(set[e]);
            real sign = select(stays | (abs(value) <= zero), 0.0, sign_of(value));
            s.sign[e] = select(turned, sign, s.sign[e]);
        });
        s.f = choose(turned, system.rates(s.t, s.y), s.f);
    }
    mask untaken = blurred | turned;
    if constexpr (equations::entries) {
        mask entered = here & ~untaken & enters(s);
        if (any(entered)) {
            Vector<n_watched> width = zero_widths(s, system);
            untaken = untaken | enter(s, system, p, window, width, entered, lead);
        }
    }
    s.aims = select(here & untaken, flag(turned), s.aims);
    s.aim = select(turned, ends.t1, s.aim);  // the same trial again
    s.target = select(turned, -1.0, s.target);
    return untaken | keep_aim<Scheme::controlled>(s, aim, ends, dense, here & ~untaken, taken_to);
}

// The lanes whose trial ends at the event; the others get another aim. `anew` gains those in which a side changes
// before the end.
template <class Scheme, class State>
SELDOM mask go_on(State& s, Parameters const& p, Ends<System> const& ends, mask here, mask& anew) {
    anew = here & ~aims_at_event(s);
    auto value = ends.system.all_when(ends.t1, ends.y1);
    Masks<n_seen> active = ends.system.all_active();
    each_side([&](auto e) {
        real after = value[e];
        if (!any(here & active[e] & ~keeps_side(e, s, after))) return;
        mask crossed =
            here & active[e] & crossed_by_end(e, ends, after, side_of(e, s, ends), s.sign[e]);
        if (!any(crossed)) return;
        real rate = ends.system.when_rate(e, ends.t1, ends.y1, ends.f1);
        mask at_end = abs(after) <= 3.0 * tolerated_share<Scheme>(p) * s.h * abs(rate);
        mask at_zero = abs(after) <= zero_width(e, ends.system, ends.t1, ends.y1, ends.f1);
        anew = anew | (crossed & ~at_end & ~at_zero & (s.aims < 20.0));
    });
    here = here & ~anew;
    mask crossed = false;
    real guess = largest;  // where the first crossing is, seen from the end of the trial
    real target = s.target, side = s.side_left;
    each_event([&](auto e) {
        mask aimed = s.target == (double)e;
        real after = value[e];
        if (!any(here & active[e] & (aimed | ~keeps_side(e, s, after)))) return;
        real from = select(aimed, s.side_left, side_of(e, s, ends));
        mask over =
            here & active[e] & wants(e, from) & crossed_by_end(e, ends, after, from, s.sign[e]);
        if (!any(over)) return;
        real root = ends.t1 - after / ends.system.when_rate(e, ends.t1, ends.y1, ends.f1);
        mask nearer = over & (~crossed | (root < guess));
        guess = select(nearer, root, guess);
        target = select(nearer, (double)e, target);
        side = select(nearer, from, side);
        crossed = crossed | nearer;
    });
    each_event([&](auto e) {  // nothing crossed: the target's own root
        mask own = here & ~crossed & (s.target == (double)e);
        if (!any(own)) return;
        real rate = ends.system.when_rate(e, ends.t1, ends.y1, ends.f1);
        guess = select(own, ends.t1 - value[e] / rate, guess);
    });
    s.target = select(here, target, s.target);
    s.side_left = select(here, side, s.side_left);
    s.low = select(here & ~crossed, ends.t1, s.low);
    s.high = select(here & crossed, ends.t1, s.high);
    // Within this much of time, an expression is zero to rounding.
    real width = 1e-15 * greatest(s.high, 1e-6 * ends.system.window().end);
    // A guess beyond the end is that of an expression that has jumped, or turned since it crossed.
    mask near = (guess >= s.high - width) & (guess <= s.high + width);
    mask close = (s.high - s.low <= width) | near;
    // At an extreme that only touches zero, no trial may cross it: then nothing happens.
    mask lands = here & ((crossed & close) | (~crossed & (ends.t1 >= s.high)));
    // The next aim: the guess and a rounding of it, so that the trial ends only just past the root.
    real middle = 0.5 * (s.low + s.high);
    real aim = guess + 0.125 * width;
    mask inside = (aim > s.low) & (aim < s.high);
    aim = select(inside & ~(s.aims >= 20.0), aim, middle);
    aim = select((aim > s.low) & (aim < s.high), aim, s.high);
    aim = select(s.high - s.low <= width, s.high, aim);
    s.aim = select(here, aim, s.aim);
    s.aims = select(here, select(lands, 0.0, s.aims + 1.0), s.aims);
    return lands;
}

// Whether it is quick to tell that nothing watched happens in a step: of expressions that are affine, in a motion
// without modes, in which something stays at zero, and without sides, which are also planned ahead.
constexpr bool tells_quickly() {
    for (int e = 0; e < n_watched; ++e)
        if (!rules[e].straight || rules[e].side >= 0 || rules[e].switches) return false;
    return n_watched > 0;
}

// Whether anything watched may cross zero or leave it in a trial, or is aimed at. Otherwise the trial is taken as it
// is, and what is watched keeps its signs.
template <class State, class Dense>
HD bool may_happen(State const& s, Window const& window, Ends<System> const& ends,
                   Dense const& dense, mask here) {
    mask may = (s.aims > 0.0) | (ends.t1 >= window.end);
    SeenStep<Dense> step(ends, dense);
    each_watched([&](auto e) INLINED {
        along(Watched<decltype(e)>{e}, step, here, [&](auto& shape, auto) INLINED {
            may = may | shape.may_change(s.sign[e]) | ~(s.sign[e] * shape.last() > 0.0);
        });
    });
    return any(here & may);
}

// The lanes whose trial may be taken: nothing happens in it, it ends where something does, or it is taken up to
// the share `taken_to` of it, where a side changes.
template <class Scheme, class State, class Dense>
HD mask look_for_events(State& s, System& system, Parameters const& p, Window const& window,
                        Ends<System> const& ends, Dense const& dense, mask accepted,
                        real& taken_to) {
    mask taken = accepted, fresh = accepted;
    if constexpr (n_watched > 0) {
        mask aiming = accepted & (s.aims > 0.0), anew = false;
        if (any(aiming)) taken = taken & (~aiming | go_on<Scheme>(s, p, ends, aiming, anew));
        fresh = (accepted & ~aiming) | anew;
    }
    if (any(fresh))
        taken = (taken | fresh) &
                ~begin_aim<Scheme>(s, system, p, window, ends, dense, fresh, taken_to);
    return taken;
}

}  // namespace systems
