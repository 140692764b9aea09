// The engine's time: a clock type without now(). Who drives the engine passes the time in.
#pragma once

#include <chrono>
#include <cstdint>

namespace rocem::engine {

struct EngineClock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<EngineClock>;
    static constexpr bool is_steady = true;
};

using Duration = EngineClock::duration;
using Time = EngineClock::time_point;

// A deadline that never comes.
inline constexpr Time never = Time::max();

}  // namespace rocem::engine
