// Makes a way to compute points a method of a model, in the namespace in which it stands.
#pragma once

#define METHOD(...)                                                                      \
    using Run = __VA_ARGS__;                                                             \
    using State = Run::State;                                                            \
    HD State start(Parameters const& p) { return Run::start(p); }                        \
    HD int64 advance(State& s, Parameters const& p, int64 budget) {                      \
        return Run::advance(s, p, budget);                                               \
    }                                                                                    \
    HD bool running(State const& s) { return Run::running(s); }                          \
    HD Outputs finish(State const& s, Parameters const& p) { return Run::finish(s, p); } \
    HD real time_of(State const& s, Parameters const& p) { return Run::time_of(s, p); }  \
    HD Observables look(State const& s, Parameters const& p, real time) {                \
        return Run::look(s, p, time);                                                    \
    }
