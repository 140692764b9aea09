// The only now() of the product.
#pragma once

#include <cstdint>

#include "queue_engine/time.hpp"

namespace rocem::daemon {

// CLOCK_MONOTONIC as the engine's time, and the way to the calendar for captures and logs.
class Clock {
 public:
    // Reads the distance between the two clocks once: a later step of the wall clock does not bend a capture.
    Clock();

    engine::Time now() const;

    // Nanoseconds to add to a Time's count to get nanoseconds since 1970.
    std::int64_t wall_clock_offset_ns() const { return wall_clock_offset_ns_; }

 private:
    std::int64_t wall_clock_offset_ns_ = 0;
};

}  // namespace rocem::daemon
