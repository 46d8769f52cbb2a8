// The Dormand-Prince method of order 8 with error estimates of orders 5 and 3, and its continuous
// extension of order 7 (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.5,
// II.6 and II.10, code DOP853). The first evaluation of a step is the derivative at its beginning.
#pragma once

#include "systems/control.h"
#include "systems/dense.h"

namespace systems {

namespace dop853_table {

constexpr int stages = 12,
              extended = 16;  // 12: at the end of the step, then three of the dense motion

// Moments of the stages, as shares of the step.
constexpr double moment[extended] = {0.0,
                                     0.05260015195876773,
                                     0.0789002279381516,
                                     0.1183503419072274,
                                     0.2816496580927726,
                                     0.3333333333333333,
                                     0.25,
                                     0.3076923076923077,
                                     0.6512820512820513,
                                     0.6,
                                     0.8571428571428571,
                                     1.0,
                                     1.0,
                                     0.1,
                                     0.2,
                                     0.7777777777777778};

// Weights of the earlier slopes in each stage; row 12 has those of the result.
constexpr double weight[extended][extended] = {
    {0.0},
    {0.05260015195876773},
    {0.0197250569845379, 0.0591751709536137},
    {0.02958758547680685, 0.0, 0.08876275643042054},
    {0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792},
    {0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242},
    {0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125},
    {0.03709200011850479, 0.0, 0.0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
     0.008273789163814023},
    {0.6241109587160757, 0.0, 0.0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
     20.154067550477894, -43.48988418106996},
    {0.47766253643826434, 0.0, 0.0, -2.4881146199716677, -0.590290826836843, 21.230051448181193,
     15.279233632882423, -33.28821096898486, -0.020331201708508627},
    {-0.9371424300859873, 0.0, 0.0, 5.186372428844064, 1.0914373489967295, -8.149787010746927,
     -18.52006565999696, 22.739487099350505, 2.4936055526796523, -3.0467644718982196},
    {2.273310147516538, 0.0, 0.0, -10.53449546673725, -2.0008720582248625, -17.9589318631188,
     27.94888452941996, -2.8589982771350235, -8.87285693353063, 12.360567175794303,
     0.6433927460157636},
    {0.054293734116568765, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003,
     -5.801203960010585, 0.3111643669578199, -0.1521609496625161, 0.20136540080403034,
     0.04471061572777259},
    {0.056167502283047954, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25350021021662483, -0.2462390374708025,
     -0.12419142326381637, 0.15329179827876568, 0.00820105229563469, 0.007567897660545699,
     -0.008298},
    {0.03183464816350214, 0.0, 0.0, 0.0, 0.0, 0.028300909672366776, 0.053541988307438566,
     -0.05492374857139099, 0.0, 0.0, -0.00010834732869724932, 0.0003825710908356584,
     -0.00034046500868740456, 0.1413124436746325},
    {-0.42889630158379194, 0.0, 0.0, 0.0, 0.0, -4.697621415361164, 7.683421196062599,
     4.06898981839711, 0.3567271874552811, 0.0, 0.0, 0.0, -0.0013990241651590145,
     2.9475147891527724, -9.15095847217987},
};

constexpr double error_3[stages + 1] = {-0.18980075407240762,
                                        0.0,
                                        0.0,
                                        0.0,
                                        0.0,
                                        4.450312892752409,
                                        1.8915178993145003,
                                        -5.801203960010585,
                                        -0.4226823213237919,
                                        -0.1521609496625161,
                                        0.20136540080403034,
                                        0.02265179219836082,
                                        0.0};
constexpr double error_5[stages + 1] = {0.01312004499419488,
                                        0.0,
                                        0.0,
                                        0.0,
                                        0.0,
                                        -1.2251564463762044,
                                        -0.4957589496572502,
                                        1.6643771824549864,
                                        -0.35032884874997366,
                                        0.3341791187130175,
                                        0.08192320648511571,
                                        -0.022355307863886294,
                                        0.0};

// The last four terms of the dense motion.
constexpr double dense[4][extended] = {
    {-8.428938276109013, 0.0, 0.0, 0.0, 0.0, 0.5667149535193777, -3.0689499459498917,
     2.38466765651207, 2.117034582445028, -0.871391583777973, 2.2404374302607883,
     0.6315787787694688, -0.08899033645133331, 18.148505520854727, -9.194632392478356,
     -4.436036387594894},
    {10.427508642579134, 0.0, 0.0, 0.0, 0.0, 242.28349177525817, 165.20045171727028,
     -374.5467547226902, -22.113666853125306, 7.733432668472264, -30.674084731089398,
     -9.332130526430229, 15.697238121770845, -31.139403219565178, -9.35292435884448,
     35.81684148639408},
    {19.985053242002433, 0.0, 0.0, 0.0, 0.0, -387.0373087493518, -189.17813819516758,
     527.8081592054236, -11.57390253995963, 6.8812326946963, -1.0006050966910838,
     0.7777137798053443, -2.778205752353508, -60.19669523126412, 84.32040550667716,
     11.99229113618279},
    {-25.69393346270375, 0.0, 0.0, 0.0, 0.0, -154.18974869023643, -231.5293791760455,
     357.6391179106141, 93.40532418362432, -37.45832313645163, 104.0996495089623, 29.8402934266605,
     -43.53345659001114, 96.32455395918828, -39.17726167561544, -149.72683625798564},
};

}  // namespace dop853_table

struct Dop853 {
    static constexpr int order = 8;
    static constexpr bool controlled = true;
    static constexpr int error_order = 8;

    template <int n> struct Trial {
        Vector<n> y, f;  // at the end of the step
        Vector<n> k[12];
    };
    template <int n> using Output = Dense<n, 7>;

    // The sum of weight * slope over the slopes from `first` on, evaluated from the last to the first.
    template <class Weights, int first, int count, int n>
    HD static real mix(Vector<n> const* k, int i) {
        constexpr double weight = Weights::of(first);
        if constexpr (first == count - 1) {
            return weight * k[first][i];
        } else if constexpr (weight == 0.0) {
            return mix<Weights, first + 1, count>(k, i);
        } else {
            return fma(weight, k[first][i], mix<Weights, first + 1, count>(k, i));
        }
    }
    template <int stage> struct Stage {
        HD static constexpr double of(int j) { return dop853_table::weight[stage][j]; }
    };
    struct Error3 {
        HD static constexpr double of(int j) { return dop853_table::error_3[j]; }
    };
    struct Error5 {
        HD static constexpr double of(int j) { return dop853_table::error_5[j]; }
    };
    template <int term> struct Term {
        HD static constexpr double of(int j) { return dop853_table::dense[term][j]; }
    };

    template <int stage, int n>
    HD static Vector<n> at_stage(Vector<n> const* k, Vector<n> const& y0, real h) {
        Vector<n> y;
        each_state<n>([&](auto i) { y[i] = fma(h, mix<Stage<stage>, 0, stage>(k, i), y0[i]); });
        return y;
    }

    template <class System, int n>
    HD static Trial<n> step(System const& system, real t, Vector<n> const& y0, Vector<n> const& f0,
                            real h) {
        Trial<n> trial;
        trial.k[0] = f0;
        each<11>([&](auto before) {
            constexpr int stage = before + 1;
            constexpr double moment = dop853_table::moment[stage];
            trial.k[stage] = system.rates(fma(moment, h, t), at_stage<stage>(trial.k, y0, h));
        });
        trial.y = at_stage<12>(trial.k, y0, h);
        trial.f = system.rates(t + h, trial.y);
        return trial;
    }

    // The estimate of order 5, made smaller where that of order 3 is much larger.
    template <int n>
    HD static real error_square(Trial<n> const& trial, Vector<n> const& y0, Vector<n> const& scales,
                                real per_tolerance, real h) {
        Vector<n> fifth, third;
        each_state<n>([&](auto i) {
            fifth[i] = h * mix<Error5, 0, 12>(trial.k, i);
            third[i] = h * mix<Error3, 0, 12>(trial.k, i);
        });
        real square_5 = mean_square(fifth, y0, trial.y, scales, per_tolerance);
        real square_3 = mean_square(third, y0, trial.y, scales, per_tolerance);
        real sum = fma(0.01, square_3, square_5);
        return select(sum > 0.0, square_5 * (square_5 / select(sum > 0.0, sum, 1.0)), 0.0 * sum);
    }

    // Three more evaluations.
    template <class System, int n>
    SHARED static Output<n> dense(System const& system, Trial<n> const& trial, real const& t,
                                  Vector<n> const& y0, real const& h) {
        Vector<n> k[16];
        each<12>([&](auto stage) { k[stage] = trial.k[stage]; });
        k[12] = trial.f;
        each<3>([&](auto more) {
            constexpr int stage = more + 13;
            constexpr double moment = dop853_table::moment[stage];
            k[stage] = system.rates(fma(moment, h, t), at_stage<stage>(k, y0, h));
        });
        Output<n> dense{t, h};
        fit_ends(dense, y0, k[0], trial.y, trial.f, h);
        each<4>([&](auto number) {
            constexpr int term = decltype(number)::value;  // NVRTC takes no captured one
            each_state<n>([&](auto i) INLINED {
                dense.part[3 + term][i] = h * mix<Term<term>, 0, 16>(k, i);
            });
        });
        return dense;
    }
};

}  // namespace systems
