// Two quadrature rules of forty points on [0, 1], for functions that are smooth except at the ends.
//
// Both are the Gauss-Legendre rule after a change of variable that crowds the points at an end, which
// makes a power of the distance from that end smooth, or nearly so.
#pragma once

#include "portable.h"

namespace mdr_contact {

constexpr int rule_points = 40;

struct RulePoint {
    double place, weight;
};

// The Gauss-Legendre rule itself.
HD RulePoint gauss_40(int i) {
    static constexpr RulePoint lower_half[rule_points / 2] = {
        {0.0008811451447203998, 0.0022606385492665955},
        {0.004636880650271497, 0.005249142265576406},
        {0.011370025008112869, 0.008210529190953945},
        {0.021041590393104173, 0.01112292459708348},
        {0.03359359586066173, 0.0139685034900117},
        {0.04895059651556285, 0.016730097641273922},
        {0.06702024839387025, 0.019391083987236008},
        {0.08769388458334416, 0.021935454092836634},
        {0.1108471742867403, 0.024347903817536116},
        {0.13634087240503645, 0.02661392349196841},
        {0.16402165769291022, 0.028719884549695776},
        {0.19372305516600988, 0.03065312124646447},
        {0.2252664374524359, 0.03240200672830052},
        {0.25846209915691065, 0.03395602290761695},
        {0.2931103978141975, 0.03530582369564339},
        {0.32900295458712076, 0.03644329119790203},
        {0.36592390749637316, 0.03736158452898413},
        {0.40365120964931445, 0.03805518095031312},
        {0.4419579646623724, 0.038519909082123986},
        {0.48061379124697456, 0.0387529739892124}};
    if (i < rule_points / 2) return lower_half[i];
    RulePoint mirrored = lower_half[rule_points - 1 - i];
    return {1.0 - mirrored.place, mirrored.weight};
}

// Crowded at 0 by u = x^5, for functions that behave like a root there or bend sharply.
HD RulePoint crowded_at_zero(int i) {
    RulePoint gauss = gauss_40(i);
    double x = gauss.place, square = x * x;
    return {square * square * x, gauss.weight * 5.0 * (square * square)};
}

// Crowded at both ends by u = x^3 (10 - 15 x + 6 x^2).
HD RulePoint crowded_at_ends(int i) {
    RulePoint gauss = gauss_40(i);
    double x = gauss.place, rest = 1.0 - x;
    double slope = 30.0 * (x * rest) * (x * rest);
    return {x * x * x * (10.0 - x * (15.0 - 6.0 * x)), gauss.weight * slope};
}

}  // namespace mdr_contact
