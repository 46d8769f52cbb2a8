// How fast the speed falls.
#pragma once

HD real braking(Parameters const& p) { return p.friction * p.gravity; }

HD real stopping_time(Parameters const& p) { return p.initial_speed / braking(p); }
