// The events of the motion that a trace follows, in the order in which they happen.
//
// A trace takes steps back. Those that it takes again are the same, and their events are written again to
// the same places.
#pragma once

#include "portable.h"

struct EventLog {
    double* rows;  // per event: its time in s, then its number in the model
    int64 room;    // rows; later events are not written
};

static thread_local EventLog event_log = {nullptr, 0};

HD void log_event(real& count, real time, int event) {
    int64 place = (int64)lane(count, 0);
    count += 1.0;
    if (place >= event_log.room) return;
    event_log.rows[2 * place] = lane(time, 0);
    event_log.rows[2 * place + 1] = event;
}
